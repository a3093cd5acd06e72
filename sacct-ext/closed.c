#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "closed.h"
#include "closed_site.h"
#include "periods.h"
#include "report/closed_report.h"
#include "report/correction.h"

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

/* The open month, if it is the whole period. */
static int add_corrections (struct reading *r, report_t *report,
                            gl_error_t *error)
{
    const report_query_t *query = r->query;
    char open[BILLS_MONTH_SIZE];
    bills_month_t *month;
    period_t period;

    if ((r->periods->closing_count == 0 && r->periods->decision_count == 0)
        || r->count > 0)
        return 0;
    if (periods_open_month (r->store, query->site, r->periods, open, error) < 0
        || periods_month (query->site, open, &period, error) < 0)
        return -1;
    if (query->period.start > period.start || query->period.end < period.end)
        return 0;
    if (bills_of_month (r->store, query->site, open, &month, error) < 0)
        return -1;
    closed_report_corrections (report, query, month->bill, open);
    bills_month_free (month);
    return 0;
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
