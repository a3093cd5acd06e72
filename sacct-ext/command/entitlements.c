#include "base/memory.h"
#include "command/entitlements.h"
#include "month/month.h"
#include "statement/entitlement_report.h"
#include "statement/recharge.h"

static const key_id_t filters[] = {KEY_TEAM, KEY_POOL};

static int add_month (month_t *m, void *arg, gl_error_t *error)
{
    (void)error;
    entitlement_report_add (arg, m->bill, month_state_word (m->state));
    return 0;
}

static int make (cli_t *cli, const report_query_t *query, report_t **ret_report)
{
    const month_how_t how = {.billed = true};
    entitlement_report_t *report = entitlement_report_new (query);
    gl_error_t error;
    int rc = CLI_OK;

    if (months_each (cli->store, query->site, query->period, &how, add_month,
                     report, &error)
        < 0)
        rc = cli_fail (cli, &error);
    else
        *ret_report = entitlement_report_make (report);
    entitlement_report_free (report);
    return rc;
}

/* As of when: of closed months as they were closed. */
static int make_as_closed (cli_t *cli, report_query_t *query,
                           report_t **ret_report)
{
    report_cluster_t *clusters;
    gl_error_t error;
    int rc;

    if (months_as_of (cli->store, query, &clusters, &error) < 0)
        return cli_fail (cli, &error);
    rc = make (cli, query, ret_report);
    closed_clusters_free (clusters, query->cluster_count);
    return rc;
}

/* Whole months; the default is the fiscal year so far. */
static void set_period (const query_options_t *options, report_query_t *query)
{
    const site_t *site = query->site;
    int64_t as_of = report_as_of (query);

    if (!options->month && !options->start && !options->end && as_of > 0) {
        int year = recharge_year_of (site, as_of - 1);
        query->period.start = recharge_year_period (site, year).start;
        query->period.end = as_of;
    }
    query->period.start
        = zone_unit (site->zone, CALENDAR_MONTH, query->period.start).start;
    if (query->period.end > query->period.start)
        query->period.end
            = zone_unit (site->zone, CALENDAR_MONTH, query->period.end - 1).end;
}

int entitlements_report (cli_t *cli, query_options_t *options,
                         report_t **ret_report)
{
    const report_query_t asked = {.filters = options->filters,
                                  .filter_count = options->filter_count};
    store_t *store;
    report_query_t query;
    int rc;

    if (options->by
        || !report_filters_within (&asked, filters, GL_ARRAY_SIZE (filters)))
        return cli_usage (cli, "report entitlements has a row for each team, "
                               "pool and month: of filters and keys it takes "
                               "--team and --pool");
    store = cli_store (cli, STORE_READ_ONLY);
    if (!store)
        return CLI_FAILED;
    rc = query_options_resolve (cli, options, cli->site, store, "team", &query);
    if (rc != CLI_OK)
        return rc;
    query.by.count = 0;
    set_period (options, &query);
    return make_as_closed (cli, &query, ret_report);
}
