#include <string.h>

#include <uthash.h>

#include "base/memory.h"
#include "facts/facts.h"
#include "facts/rollups.h"
#include "ledger/bill_tax.h"
#include "ledger/billing.h"
#include "month/bills.h"
#include "month/closed_site.h"
#include "month/corrections.h"
#include "month/periods.h"
#include "site/account.h"

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    billing_t *billing = arg;

    (void)error;
    billing_add (billing, fact->segment, fact->suspensions,
                 fact->suspension_count, fact->project);
    billing_measure (billing, fact->segment, fact->project, fact->evidence);
    return 0;
}

static int take_rollup (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    billing_t *billing = arg;

    (void)error;
    billing_add_rollup (billing, rollup);
    return 0;
}

static int take_ended (const fact_t *fact, void *arg, gl_error_t *error)
{
    billing_t *billing = arg;

    (void)error;
    billing_add_ended (billing, fact->segment, fact->suspensions,
                       fact->suspension_count, fact->project);
    return 0;
}

int bills_add_ended (store_t *store, const site_t *site, billing_t *billing,
                     gl_error_t *error)
{
    period_t period = billing_period (billing);
    store_query_t query = {.start = period.start,
                           .end = period.end,
                           .gpu_only = true,
                           .ended = billing_wants_ended (billing)};

    if (query.ended == 0)
        return 0;
    return facts_each (store, site, &query, take_ended, billing, error);
}

int bills_finish (store_t *store, billing_t *billing, gl_error_t *error)
{
    meter_reading_t *readings = NULL;
    size_t count = 0;
    int rc;

    if (billing_wants_meters (billing)
        && store_meters (store, billing_period (billing), &readings, &count,
                         error)
               < 0)
        return -1;
    billing_meters (billing, readings, count);
    rc = billing_compute (billing, error);
    billing_meters (billing, NULL, 0);
    store_meters_free (readings, count);
    return rc;
}

int bills_give_facts (store_t *store, billing_t *billing, gl_error_t *error)
{
    const report_query_t *query = billing_query (billing);
    period_t period = billing_period (billing);
    rollups_query_t days = {.query = query, .period = period};
    store_query_t facts
        = {.start = period.start, .end = period.end, .gpu_only = true};

    days.cuts = billing_cuts (billing, &days.cut_count);
    if (!billing_wants_segments (billing) && rollups_answer (&days))
        return rollups_each (store, &days, take_rollup, billing, error) < 0
                   ? -1
                   : bills_add_ended (store, query->site, billing, error);
    if (period.end <= period.start)
        return 0;
    if (facts_each (store, query->site, &facts, take_fact, billing, error) < 0)
        return -1;
    return facts_capacity (store, &facts, billing_capacity (billing), error);
}

static int compute (store_t *store, const report_query_t *query,
                    bills_billing_f callback, void *arg, gl_error_t *error)
{
    billing_t *billing = billing_new (query);
    int rc;

    if (query->filter_count > 0)
        billing_only_passing (billing);
    rc = bills_give_facts (store, billing, error);
    if (rc == 0)
        rc = bills_finish (store, billing, error);
    if (rc == 0)
        rc = callback (billing, arg, error);
    billing_free (billing);
    return rc;
}

static bool carries (const site_t *site)
{
    bool any = false;

    for (size_t i = 0; i < site->entitlement_count; i++)
        any = any || site->entitlements[i].unused == UNUSED_CARRIED;
    return any && site->go_live.year == 0;
}

int bills_cluster (store_t *store, const site_t *site,
                   const store_cluster_t *from, report_cluster_t *ret_cluster,
                   gl_error_t *error)
{
    int64_t as_of;

    *ret_cluster = (report_cluster_t){.name = from->name, .as_of = from->as_of};
    return carries (site) ? store_extent (store, from->name, &ret_cluster->first,
                                          &as_of, error)
                          : 0;
}

int bills_billing (store_t *store, const site_t *site, const char *by,
                   const usage_filter_t *filter, period_t period,
                   bills_billing_f callback, void *arg, gl_error_t *error)
{
    report_query_t query = {.site = site,
                            .period = period,
                            .filters = filter,
                            .filter_count = filter != NULL};
    report_cluster_t *clusters;
    store_cluster_t *stored;
    accounts_t *accounts;
    size_t count;
    char *label;
    int rc = 0;

    if (report_keys_parse (by, &query.by, &label, error) < 0
        || store_clusters (store, &stored, &count, error) < 0)
        return -1;
    clusters = xcalloc (count + 1, sizeof (*clusters));
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = bills_cluster (store, site, &stored[i], &clusters[i], error);
    query.clusters = clusters;
    query.cluster_count = count;
    accounts = rc == 0 ? facts_accounts (store, error) : NULL;
    query.accounts = accounts;
    rc = accounts ? compute (store, &query, callback, arg, error) : -1;
    accounts_free (accounts);
    free (clusters);
    store_clusters_free (stored, count);
    return rc;
}

static int make_bill (const billing_t *billing, void *arg, gl_error_t *error)
{
    return bill_of_billing (billing, arg, error);
}

/* With the months under other idle policies. */
static int make_compared (const billing_t *billing, void *arg, gl_error_t *error)
{
    bill_t **bill = arg;

    if (bill_of_billing (billing, bill, error) < 0)
        return -1;
    if (bill_compare_policies (*bill, billing, error) == 0)
        return 0;
    bill_free (*bill);
    return -1;
}

static int compute_months (store_t *store, const site_t *site, period_t period,
                           bills_billing_f make, bill_t **ret_bill,
                           gl_error_t *error)
{
    period_t months = {.start = zone_unit (site->zone, CALENDAR_MONTH,
                                           period.start)
                                    .start};

    months.end = period.end > period.start
                     ? zone_unit (site->zone, CALENDAR_MONTH, period.end - 1).end
                     : months.start;
    return bills_billing (store, site, bill_keys, NULL, months, make, ret_bill,
                          error);
}

int bills_compute (store_t *store, const site_t *site, period_t period,
                   bill_t **ret_bill, gl_error_t *error)
{
    return compute_months (store, site, period, make_bill, ret_bill, error);
}

/* --- days --------------------------------------------------------------- */

struct day {
    char *key; /* the day, a line end, the team */
    bill_day_t *of;
    UT_hash_handle hh;
};

struct summing_days {
    bill_t *bill;
    struct day *days;
};

/* Days are few: each is in the hash by its place in the list. */
static mpz_ptr units_of_day (struct summing_days *s, const char *day,
                             const char *team)
{
    GL_AUTOFREE char *key = xasprintf ("%s\n%s", day, team ? team : "\n");
    struct day *found;

    HASH_FIND_STR (s->days, key, found);
    if (!found) {
        found = xcalloc (1, sizeof (*found));
        found->key = GL_TAKE (key);
        found->of = xcalloc (1, sizeof (*found->of));
        fields_init (&bill_fields[BILL_DAYS], found->of);
        found->of->day = xstrdup (day);
        found->of->team = xstrdup (team);
        HASH_ADD_KEYPTR (hh, s->days, found->key, strlen (found->key), found);
    }
    return found->of->units;
}

/* By day and team: time, used or idle. */
static void take_day (const billing_line_t *line, void *arg)
{
    mpz_ptr units;

    if (!line->in_period || !line->passes || !line->keys[0]
        || line->line->kind == CHARGE_CREDIT
        || line->line->kind == CHARGE_PURCHASE)
        return;
    units = units_of_day (arg, line->keys[0], line->keys[1]);
    mpz_add (units, units, line->line->charge_units);
}

static int by_day (const struct day *a, const struct day *b)
{
    return strcmp (a->key, b->key);
}

static int sum_days (const billing_t *billing, void *arg, gl_error_t *error)
{
    struct summing_days s = {arg, NULL};
    struct day *day, *next;

    (void)error;
    billing_each (billing, take_day, &s);
    HASH_SORT (s.days, by_day);
    HASH_ITER (hh, s.days, day, next)
    {
        fields_copy (&bill_fields[BILL_DAYS], bill_append (s.bill, BILL_DAYS),
                     day->of);
        HASH_DEL (s.days, day);
        fields_clear (&bill_fields[BILL_DAYS], day->of);
        free (day->of);
        free (day->key);
        free (day);
    }
    return 0;
}

int bills_add_days (store_t *store, const site_t *site,
                    const usage_filter_t *filter, period_t period, bill_t *bill,
                    gl_error_t *error)
{
    return bills_billing (store, site, "day,team", filter, period, sum_days,
                          bill, error);
}

/* --- the bill of a month, closed or open ------------------------------- */

/* How a month is read. */
enum {
    BILLS_ANY_CURRENCY = 1, /* whatever the ledger's is today */
    BILLS_COMPARED = 2,     /* an open one with other idle policies */
};

const char *bills_state_word (bills_state_t state)
{
    static const char *const words[] = {[BILLS_BEFORE] = "before",
                                        [BILLS_LATER] = "later",
                                        [BILLS_OPEN] = "open",
                                        [BILLS_CLOSED] = "closed",
                                        [BILLS_IMPORTED] = "imported"};

    return words[state];
}

static int open_month (store_t *store, const site_t *site,
                       const periods_t *periods, unsigned how, bills_month_t *m,
                       gl_error_t *error)
{
    char open[BILLS_MONTH_SIZE];
    int order;

    if (periods_open_month (store, site, periods, open, error) < 0
        || compute_months (store, site, m->period,
                           how & BILLS_COMPARED ? make_compared : make_bill,
                           &m->bill, error)
               < 0)
        return -1;
    order = strcmp (m->month, open);
    m->state = order < 0    ? BILLS_BEFORE
               : order == 0 ? BILLS_OPEN
                            : BILLS_LATER;
    if (corrections_adjustments (store, site, periods, m->month, m->bill, error)
        < 0)
        return -1;
    bill_sort (m->bill);
    bill_add_taxes (m->bill, site, m->month, m->period.start);
    return 0;
}

/* A dispute holds until it is decided, or the month is opened again. */
static void take_disputes (const periods_t *periods, const closing_t *closing,
                           bills_month_t *m)
{
    size_t count;

    postings (m->bill, &count);
    for (size_t i = 0; i < periods->decision_count; i++) {
        const decision_t *d = &periods->decisions[i];
        char month[BILLS_MONTH_SIZE];
        size_t row;
        if (d->kind != CHAIN_DISPUTE || d->number < closing->number
            || !d->reference
            || periods_row_parse (d->reference, month, &row, NULL) < 0
            || strcmp (month, m->month) != 0 || row > count
            || periods_dispute (periods, d, NULL) != DISPUTE_RAISED)
            continue;
        m->disputed_count += !m->disputed[row - 1];
        m->disputed[row - 1] = true;
    }
}

static int closed_month (store_t *store, const closing_t *closing,
                         bills_month_t *m, gl_error_t *error)
{
    m->state = closing->imported ? BILLS_IMPORTED : BILLS_CLOSED;
    m->version = closing->version;
    m->closed = closing->when;
    m->handover = body_get_number (closing->body, "handover");
    memcpy (m->hash, closing->hash, sizeof (m->hash));
    return periods_bill (store, closing, &m->bill, error);
}

static int fill_month (store_t *store, const site_t *site,
                       const periods_t *periods, unsigned how,
                       bills_month_t *m, gl_error_t *error)
{
    const closing_t *closing = periods_closing (periods, m->month);
    size_t count;

    if (closing && !(how & BILLS_ANY_CURRENCY)
        && closed_site_same_currency (closing, site, error) < 0)
        return -1;
    if ((closing ? closed_month (store, closing, m, error)
                 : open_month (store, site, periods, how, m, error))
        < 0)
        return -1;
    postings (m->bill, &count);
    m->disputed = xcalloc (count + 1, sizeof (*m->disputed));
    if (closing)
        take_disputes (periods, closing, m);
    return 0;
}

static int read_month (store_t *store, const site_t *site, const char *month,
                       unsigned how, bills_month_t **ret_month,
                       gl_error_t *error)
{
    bills_month_t *m = xcalloc (1, sizeof (*m));
    periods_t *periods = NULL;
    int rc = periods_month (site, month, &m->period, error);

    if (rc == 0)
        rc = periods_read (store, &periods, error);
    if (rc == 0) {
        periods_month_of (site, m->period.start, m->month);
        rc = fill_month (store, site, periods, how, m, error);
    }
    periods_free (periods);
    if (rc < 0)
        bills_month_free (m);
    else
        *ret_month = m;
    return rc;
}

int bills_of_month (store_t *store, const site_t *site, const char *month,
                    bills_month_t **ret_month, gl_error_t *error)
{
    return read_month (store, site, month, 0, ret_month, error);
}

int bills_as_closed (store_t *store, const site_t *site, const char *month,
                     bills_month_t **ret_month, gl_error_t *error)
{
    return read_month (store, site, month, BILLS_ANY_CURRENCY, ret_month, error);
}

int bills_to_close (store_t *store, const site_t *site, const char *month,
                    bills_month_t **ret_month, gl_error_t *error)
{
    if (read_month (store, site, month, BILLS_COMPARED, ret_month, error) < 0)
        return -1;
    if (bills_add_days (store, site, NULL, (*ret_month)->period,
                        (*ret_month)->bill, error)
        == 0)
        return 0;
    bills_month_free (*ret_month);
    *ret_month = NULL;
    return -1;
}

void bills_month_free (bills_month_t *m)
{
    if (!m)
        return;
    bill_free (m->bill);
    free (m->disputed);
    free (m);
}
