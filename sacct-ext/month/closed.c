#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/correction.h"
#include "month/closed.h"
#include "month/closed_site.h"
#include "month/periods.h"
#include "statement/closed_report.h"

struct reading {
    store_t *store;
    const report_query_t *query;
    periods_t *periods;
    closed_month_t *months;
    const closing_t **closings;
    size_t count;
};

static void clear (struct reading *r)
{
    for (size_t i = 0; i < r->count; i++) {
        bill_free ((bill_t *)r->months[i].bill);
        free ((char *)r->months[i].note);
    }
    free (r->months);
    free (r->closings);
    periods_free (r->periods);
}

static int add_month (struct reading *r, const closing_t *closing,
                      gl_error_t *error)
{
    bill_t *bill;

    if (periods_bill (r->store, closing, &bill, error) < 0)
        return -1;
    r->months = xreallocarray (r->months, r->count + 1, sizeof (*r->months));
    r->closings
        = xreallocarray (r->closings, r->count + 1, sizeof (*r->closings));
    r->closings[r->count] = closing;
    r->months[r->count++] = (closed_month_t){
        .month = closing->month,
        .bill = bill,
        .note = xasprintf ("%s is %s: version %u, hash %s.", closing->month,
                           closing->imported ? "before go-live, and closed "
                                               "without charges"
                                             : "closed",
                           closing->version, closing->hash)};
    return 0;
}

/* The closed months of the period; *ret_all: it is made of nothing else. */
static int read_months (struct reading *r, bool *ret_all, gl_error_t *error)
{
    const site_t *site = r->query->site;
    period_t period = r->query->period;

    if (periods_read (r->store, &r->periods, error) < 0)
        return -1;
    *ret_all = period.end > period.start;
    for (int64_t at = period.start;
         at < period.end && r->periods->closing_count > 0;) {
        period_t month = zone_unit (site->zone, CALENDAR_MONTH, at);
        char name[BILLS_MONTH_SIZE];
        const closing_t *closing;
        periods_month_of (site, at, name);
        closing = periods_closing (r->periods, name);
        if (closing && add_month (r, closing, error) < 0)
            return -1;
        if (!closing || month.start < period.start || month.end > period.end)
            *ret_all = false;
        at = month.end;
    }
    *ret_all = *ret_all && r->count > 0;
    return 0;
}

/* Currency and as-of as they were closed with: a report must not move. */
static report_t *make (const struct reading *r)
{
    const char *body = r->closings[r->count - 1]->body;
    report_query_t query = *r->query;
    site_t site = *r->query->site;
    report_cluster_t *clusters;
    report_t *report;

    closed_site_currency (body, &site);
    query.site = &site;
    query.cluster_count = closed_clusters (r->closings[r->count - 1], &clusters);
    query.clusters = clusters;
    report = closed_report_make (&query, r->months, r->count);
    closed_clusters_free (clusters, query.cluster_count);
    return report;
}

int closed_charges (store_t *store, const report_query_t *query,
                    report_t **ret_report, gl_error_t *error)
{
    struct reading r = {.store = store, .query = query};
    bool all = false;
    int rc = 0;

    if (!closed_report_answers (query))
        return 0;
    rc = read_months (&r, &all, error);
    if (rc == 0 && all) {
        *ret_report = make (&r);
        rc = 1;
    }
    clear (&r);
    return rc;
}

/* --- what today's facts make of it ------------------------------------- */

static void sum_charges (const bill_t *bill, const char *month, int sign,
                         mpz_t units)
{
    size_t count;
    const bill_row_t *rows = bill_rows (bill, &count);

    for (size_t i = 0; i < count; i++)
        if (rows[i].kind != BILL_REMAINDER && correction_compares (&rows[i])
            && !strcmp (rows[i].month, month))
            (sign < 0 ? mpz_sub : mpz_add) (units, units, rows[i].charge_units);
}

static int note_month (struct reading *r, const closed_month_t *month,
                       report_t *report, gl_error_t *error)
{
    const site_t *site = r->query->site;
    GL_AUTOFREE char *text = NULL;
    period_t period;
    bill_t *now;
    mpz_t units;

    if (periods_month (site, month->month, &period, error) < 0
        || bills_compute (r->store, site, period, &now, error) < 0)
        return -1;
    mpz_init (units);
    sum_charges (now, month->month, 1, units);
    sum_charges (month->bill, month->month, -1, units);
    text = exact_units_text (units, site->currency_digits);
    report_note (report, NOTE_WARNING,
                 "%s is closed, and its rows do not have what is asked for: "
                 "these figures are computed from today's facts, and of that "
                 "whole month are %s %s away from what was billed.",
                 month->month, text, site->currency);
    mpz_clear (units);
    bill_free (now);
    return 0;
}

/* What is brought by hand is billed with a month as a whole, and has no time in
 * it. */
static void note_by_hand (const struct reading *r, report_t *report)
{
    const site_t *site = r->query->site;
    char first[BILLS_MONTH_SIZE], last[BILLS_MONTH_SIZE];
    GL_AUTOFREE char *text = NULL;
    size_t count = 0;
    mpz_t units;

    mpz_init (units);
    periods_month_of (site, r->query->period.start, first);
    periods_month_of (site, r->query->period.end - 1, last);
    for (size_t i = 0; i < r->periods->decision_count; i++) {
        const decision_t *d = &r->periods->decisions[i];
        if (!d->row || strcmp (d->month, first) < 0
            || strcmp (d->month, last) > 0)
            continue;
        mpz_add (units, units, d->row->charge_units);
        count++;
    }
    text = exact_units_text (units, site->currency_digits);
    if (count > 0)
        report_note (report, NOTE_WARNING,
                     "%zu credits and corrections by hand, of all teams %s %s, "
                     "are billed from %s to %s and not in these figures: ask for "
                     "one month, or months that are closed.",
                     count, text, site->currency, first, last);
    mpz_clear (units);
}

/* The bill of the month brings more than what facts make of it: corrections of
 * closed months, or what was decided in it by hand, also before a month that is
 * earlier was opened again. */
static bool is_brought (const periods_t *periods, const char *month,
                        const char *open)
{
    for (size_t i = 0; i < periods->decision_count; i++)
        if (periods->decisions[i].row
            && !strcmp (periods->decisions[i].month, month))
            return true;
    return !strcmp (month, open);
}

struct brought_months {
    bills_month_t **bills;
    closed_month_t *months;
    size_t count;
};

static int read_brought (const struct reading *r, const char *open,
                         struct brought_months *b, gl_error_t *error)
{
    const report_query_t *query = r->query;
    const zone_t *zone = query->site->zone;
    period_t month;

    for (int64_t at = query->period.start; at < query->period.end;
         at = month.end) {
        char name[BILLS_MONTH_SIZE];
        month = zone_unit (zone, CALENDAR_MONTH, at);
        periods_month_of (query->site, at, name);
        if (month.start < query->period.start || month.end > query->period.end
            || !is_brought (r->periods, name, open))
            continue;
        b->bills = xreallocarray (b->bills, b->count + 1, sizeof (*b->bills));
        b->months = xreallocarray (b->months, b->count + 1, sizeof (*b->months));
        if (bills_of_month (r->store, query->site, name, &b->bills[b->count],
                            error)
            < 0)
            return -1;
        b->months[b->count] = (closed_month_t){
            .month = b->bills[b->count]->month, .bill = b->bills[b->count]->bill};
        b->count++;
    }
    return 0;
}

/* Of the whole months of a period without closed ones. */
static int add_corrections (struct reading *r, report_t *report,
                            gl_error_t *error)
{
    struct brought_months b = {NULL};
    char open[BILLS_MONTH_SIZE];
    int rc;

    if (r->periods->closing_count == 0 && r->periods->decision_count == 0)
        return 0;
    if (r->count > 0) {
        note_by_hand (r, report);
        return 0;
    }
    rc = periods_open_month (r->store, r->query->site, r->periods, open, error);
    if (rc == 0)
        rc = read_brought (r, open, &b, error);
    if (rc == 0 && b.count > 0)
        closed_report_corrections (report, r->query, b.months, b.count);
    else if (rc == 0)
        note_by_hand (r, report);
    for (size_t i = 0; i < b.count; i++)
        bills_month_free (b.bills[i]);
    free (b.bills);
    free (b.months);
    return rc;
}

int closed_note (store_t *store, const report_query_t *query, report_t *report,
                 gl_error_t *error)
{
    struct reading r = {.store = store, .query = query};
    bool all;
    int rc = read_months (&r, &all, error);

    for (size_t i = 0; i < r.count && rc == 0; i++)
        rc = note_month (&r, &r.months[i], report, error);
    if (rc == 0)
        rc = add_corrections (&r, report, error);
    clear (&r);
    return rc;
}
