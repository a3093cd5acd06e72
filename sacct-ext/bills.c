#include "acct/account.h"
#include "base/memory.h"
#include "bills.h"
#include "facts.h"
#include "report/billing.h"
#include "rollups.h"

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

static int give_facts (store_t *store, const report_query_t *query,
                       billing_t *billing, gl_error_t *error)
{
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
    int rc = give_facts (store, query, billing, error);

    if (rc == 0)
        rc = billing_compute (billing, error);
    if (rc == 0)
        rc = callback (billing, arg, error);
    billing_free (billing);
    return rc;
}

int bills_billing (store_t *store, const site_t *site, const char *by,
                   period_t period, bills_billing_f callback, void *arg,
                   gl_error_t *error)
{
    report_query_t query = {.site = site, .period = period};
    report_cluster_t *clusters;
    store_cluster_t *stored;
    accounts_t *accounts;
    size_t count;
    char *label;
    int rc;

    if (report_keys_parse (by, &query.by, &label, error) < 0
        || store_clusters (store, &stored, &count, error) < 0)
        return -1;
    clusters = xcalloc (count + 1, sizeof (*clusters));
    for (size_t i = 0; i < count; i++)
        clusters[i] = (report_cluster_t){stored[i].name, stored[i].as_of};
    query.clusters = clusters;
    query.cluster_count = count;
    accounts = facts_accounts (store, error);
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

int bills_compute (store_t *store, const site_t *site, period_t period,
                   bill_t **ret_bill, gl_error_t *error)
{
    period_t months = {.start = zone_unit (site->zone, CALENDAR_MONTH,
                                           period.start)
                                    .start};

    months.end = period.end > period.start
                     ? zone_unit (site->zone, CALENDAR_MONTH, period.end - 1).end
                     : months.start;
    return bills_billing (store, site, bill_keys, months, make_bill, ret_bill,
                          error);
}
