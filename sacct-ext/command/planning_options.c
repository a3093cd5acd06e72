#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/exact.h"
#include "base/memory.h"
#include "base/number.h"
#include "import/catalogue_files.h"
#include "import/claims.h"
#include "command/planning_options.h"
#include "config/value.h"
#include "month/month.h"
#include "report/planning_report.h"
#include "statement/entitlement_report.h"
#include "statement/recharge.h"
#include "store/store.h"

const cli_option_t planning_options[] = {
    {0, "against", "NAME",
     "breakeven, plan: compare with this price of `clouds`\n"
     "(default: the lowest that owning can still beat)",
     CLI_AT (planning_options_t, breakeven.against)},
    {0, "max-age", "AGE",
     "breakeven, plan: leave older prices out: 18m, 3y, or any\n"
     "(default: 1y)",
     CLI_AT (planning_options_t, max_age)},
    {0, "downtime", "SHARE",
     "plan, demand: owned GPUs are down for this share of the time, 4%\n"
     "(default: as measured)",
     CLI_AT (planning_options_t, plan.downtime)},
    {0, "spares", "SHARE",
     "plan, demand: GPUs in addition to those that are needed\n"
     "(default: 10%)",
     CLI_AT (planning_options_t, plan.spares)},
    {0, "target", "SHARE",
     "plan, demand: the utilization that is planned for\n"
     "(default: policy.utilization)",
     CLI_AT (planning_options_t, plan.target)},
    {0, "interruptible", "SHARE",
     "plan: share of the work that may be interrupted\n"
     "(default: pools[].interruptible)",
     CLI_AT (planning_options_t, plan.interruptible)},
    {0, "vary", "SHARE",
     "plan: change each input of the sensitivity by this share\n"
     "(default: 20%)",
     CLI_AT (planning_options_t, plan.vary)},
    {0, "egress", "GB",
     "plan: GB a day that leave a rented cloud: what they cost",
     CLI_AT (planning_options_t, plan.egress)},
    {0, "growth", "SHARE", "plan: growth of the demand a year",
     CLI_AT (planning_options_t, plan.growth)},
    {0, "printed", "FIGURE",
     "breakeven: explain a published one, 40.5% or 18628 a year",
     CLI_AT (planning_options_t, breakeven.printed)},
    {0, "check", "FILE", "breakeven: check a file of published figures instead",
     CLI_AT (planning_options_t, check)},
    {0, "year", "YYYY",
     "recharge: a fiscal year (default: the one that the last\n"
     "complete month is in)",
     CLI_AT (planning_options_t, recharge.year)},
    {0, "next-cost", "AMOUNT",
     "recharge: expected cost of the next year, of one --pool",
     CLI_AT (planning_options_t, recharge.next_cost)},
    {0, "next-hours", "HOURS",
     "recharge: GPU hours expected to be billed in it",
     CLI_AT (planning_options_t, recharge.next_hours)},
    {0},
};

/* "18m", "3y" or "any". */
static int read_max_age (cli_t *cli, planning_options_t *options)
{
    gl_error_t error;

    if (!options->max_age)
        return CLI_OK;
    if (strcmp (options->max_age, "any") == 0)
        options->breakeven.max_age = BREAKEVEN_ANY_AGE;
    else if (value_span (options->max_age, &options->breakeven.max_age, &error)
             < 0)
        return cli_usage (cli, "--max-age: %s, or any", error.text);
    return CLI_OK;
}

int planning_check (cli_t *cli, planning_options_t *options, const char *name)
{
    bool breakeven = strcmp (name, "breakeven") == 0;
    bool plan = strcmp (name, "plan") == 0;
    bool demand = strcmp (name, "demand") == 0;
    bool compares = breakeven || plan;
    const plan_query_t *chosen = &options->plan;
    gl_error_t error;

    if (!breakeven && (options->check || options->breakeven.printed))
        return cli_usage (cli, "--printed and --check are for report "
                               "breakeven");
    if (!compares && (options->breakeven.against || options->max_age))
        return cli_usage (cli, "--against and --max-age are for the reports "
                               "breakeven and plan");
    if ((options->recharge.year || options->recharge.next_cost
         || options->recharge.next_hours)
        && strcmp (name, "recharge") != 0)
        return cli_usage (cli, "--year, --next-cost and --next-hours are for "
                               "report recharge");
    if (!plan && !demand
        && (chosen->downtime || chosen->spares || chosen->target))
        return cli_usage (cli, "--downtime, --spares and --target are for the "
                               "reports plan and demand");
    if (!plan
        && (chosen->interruptible || chosen->vary || chosen->growth
            || chosen->egress))
        return cli_usage (cli, "--interruptible, --vary, --egress and --growth "
                               "are for report plan");
    if (plan_check (chosen, &error) < 0)
        return cli_usage (cli, "%s", error.text);
    return read_max_age (cli, options);
}

/* Of what a query may say, --pool alone, if that. */
static bool asks_no_more (const query_options_t *query, bool pool)
{
    return !query->month && !query->start && !query->end && !query->by
           && (query->filter_count == 0
               || (pool && query->filter_count == 1
                   && query->filters[0].key == KEY_POOL));
}

/* A file that nobody has made yet: the book is looked at before there are
 * facts. */
static bool no_store_yet (const char *url)
{
    GL_AUTOFREE char *file = store_file (url);

    return file && access (file, F_OK) < 0 && errno == ENOENT;
}

/* Until when facts tell. Users who may not read the site's own store have the
 * book, too; one that was asked for has to be readable. */
static int facts_end (cli_t *cli, int64_t *ret_known)
{
    const char *url = cli_store_url (cli);
    store_cluster_t *clusters;
    gl_error_t error;
    size_t count;

    *ret_known = BREAKEVEN_UNDATED;
    if (!url)
        return CLI_FAILED;
    if (!cli->store && no_store_yet (url))
        return CLI_OK;
    if (!cli->store)
        cli->store = store_open (url, STORE_READ_ONLY, &error);
    if (!cli->store && cli->store_url)
        return cli_fail (cli, &error);
    if (!cli->store) {
        cli_detail (cli, "using the book as of its latest entries: %s",
                    error.text);
        return CLI_OK;
    }
    if (store_clusters (cli->store, &clusters, &count, &error) < 0)
        return cli_fail (cli, &error);
    for (size_t i = 0; i < count; i++)
        if (clusters[i].as_of > *ret_known)
            *ret_known = clusters[i].as_of;
    store_clusters_free (clusters, count);
    return CLI_OK;
}

int planning_decide (cli_t *cli, const query_options_t *query,
                     report_t **ret_report)
{
    gl_error_t error;
    int64_t known;
    int rc;

    if (!asks_no_more (query, false))
        return cli_usage (cli, "report decide reads only the configuration: "
                               "it takes no periods, filters or keys");
    if ((rc = facts_end (cli, &known)) != CLI_OK)
        return rc;
    if (catalogue_price_clouds (cli->site, known, &error) < 0)
        return cli_fail (cli, &error);
    *ret_report = planning_report_make (cli->site, known, &error);
    return *ret_report ? CLI_OK : cli_fail (cli, &error);
}

/* Of the cost book: periods, keys and most filters say nothing here.
 */
int planning_breakeven (cli_t *cli, const query_options_t *query,
                        const planning_options_t *options,
                        report_t **ret_report)
{
    breakeven_query_t asked = options->breakeven;
    gl_error_t error;
    int64_t known;
    int rc;

    if (!asks_no_more (query, true))
        return cli_usage (cli, "report breakeven reads only the "
                               "configuration: of periods, filters and keys "
                               "it takes --pool");
    if (options->check) {
        *ret_report = claims_report (options->check, &error);
        return *ret_report ? CLI_OK : cli_fail (cli, &error);
    }
    asked.pools = query_options_names (query, KEY_POOL);
    if ((rc = facts_end (cli, &known)) != CLI_OK)
        return rc;
    if (catalogue_price_clouds (cli->site, known, &error) < 0)
        return cli_fail (cli, &error);
    *ret_report = breakeven_report_make (cli->site, known, &asked, &error);
    return *ret_report ? CLI_OK : cli_fail (cli, &error);
}

/* --- recharge ----------------------------------------------------------- */

/* Years before the one that is asked for. */
#define EARLIER_YEARS 3

/* --- bills -------------------------------------------------------------- */

static int add_month (month_t *m, void *arg, gl_error_t *error)
{
    (void)error;
    recharge_add_bill (arg, m->bill, m->name);
    return 0;
}

/* What lies before the ledger begins has no charges. */
static int read_bills (store_t *store, const report_query_t *query,
                       recharge_t *recharge, gl_error_t *error)
{
    const month_how_t how = {.billed = true};
    period_t period = query->period;

    if (period.end > report_as_of (query))
        period.end = report_as_of (query);
    return months_each (store, query->site, period, &how, add_month, recharge,
                        error);
}

/* --- what is asked ------------------------------------------------------ */

/* The fiscal year, and those before it, up to as-of. */
static int take_years (cli_t *cli, const recharge_options_t *options,
                       report_query_t *query)
{
    const site_t *site = query->site;
    int64_t as_of = report_as_of (query);
    uint64_t year;

    if (options->year
        && (number_u64_text (options->year, &year) < 0 || year < 1975
            || year > 2098))
        return cli_usage (cli, "'%s' is not a fiscal year; write e.g. 2027",
                          options->year);
    if (!options->year)
        year = (uint64_t)recharge_year_of (site, query->period.end - 1);
    query->period.start
        = recharge_year_period (site, (int)year - EARLIER_YEARS).start;
    query->period.end = recharge_year_period (site, (int)year).end;
    if (as_of <= recharge_year_period (site, (int)year).start)
        return cli_usage (cli,
                          "fiscal year %llu begins after what the facts "
                          "speak of",
                          (unsigned long long)year);
    return CLI_OK;
}

static int take_forecast (cli_t *cli, const query_options_t *query,
                          const recharge_options_t *options, mpq_t cost,
                          mpq_t hours, recharge_forecast_t *forecast)
{
    const text_list_t *pools = query_options_names (query, KEY_POOL);
    gl_error_t error;

    if ((options->next_cost || options->next_hours)
        && (!pools || pools->count != 1))
        return cli_usage (cli, "--next-cost and --next-hours need one pool: "
                               "give --pool");
    if ((options->next_cost
         && exact_parse (options->next_cost, cost, &error) < 0)
        || (options->next_hours
            && exact_parse (options->next_hours, hours, &error) < 0))
        return cli_usage (cli, "%s", error.text);
    if (options->next_cost && mpq_sgn (cost) < 0)
        return cli_usage (cli, "--next-cost must not be negative");
    if (options->next_hours && mpq_sgn (hours) <= 0)
        return cli_usage (cli, "--next-hours must be positive");
    *forecast = (recharge_forecast_t){options->next_cost ? cost : NULL,
                                      options->next_hours ? hours : NULL};
    return CLI_OK;
}

static int make (cli_t *cli, const report_query_t *query,
                 const recharge_forecast_t *forecast, report_t **ret_report)
{
    recharge_t *recharge = recharge_new (query, forecast);
    gl_error_t error;
    int rc = CLI_OK;

    if (read_bills (cli->store, query, recharge, &error) < 0)
        rc = cli_fail (cli, &error);
    else
        *ret_report = recharge_make (recharge);
    recharge_free (recharge);
    return rc;
}

int recharge_report (cli_t *cli, query_options_t *options,
                     const recharge_options_t *recharge, report_t **ret_report)
{
    store_t *store = cli_store (cli, STORE_READ_ONLY);
    recharge_forecast_t forecast;
    report_query_t query;
    mpq_t cost, hours;
    int rc;

    if (options->month || options->start || options->end || options->by
        || options->filter_count > 1
        || (options->filter_count == 1 && options->filters[0].key != KEY_POOL))
        return cli_usage (cli, "report recharge covers a fiscal year: of "
                               "periods, filters and keys it takes --year and "
                               "--pool");
    if (!store)
        return CLI_FAILED;
    rc = query_options_resolve (cli, options, cli->site, store, "pool", &query);
    if (rc != CLI_OK)
        return rc;
    query.by.count = 0;
    mpq_inits (cost, hours, NULL);
    rc = take_years (cli, recharge, &query);
    if (rc == CLI_OK)
        rc = take_forecast (cli, options, recharge, cost, hours, &forecast);
    if (rc == CLI_OK)
        rc = make (cli, &query, &forecast, ret_report);
    mpq_clears (cost, hours, NULL);
    return rc;
}

/* --- entitlements --------------------------------------------------------- */

static const key_id_t entitlement_filters[] = {KEY_TEAM, KEY_POOL};

static int add_entitlements (month_t *m, void *arg, gl_error_t *error)
{
    (void)error;
    entitlement_report_add (arg, m->bill, month_state_word (m->state));
    return 0;
}

static int make_entitlements (cli_t *cli, const report_query_t *query,
                              report_t **ret_report)
{
    const month_how_t how = {.billed = true};
    entitlement_report_t *report = entitlement_report_new (query);
    gl_error_t error;
    int rc = CLI_OK;

    if (months_each (cli->store, query->site, query->period, &how,
                     add_entitlements, report, &error)
        < 0)
        rc = cli_fail (cli, &error);
    else
        *ret_report = entitlement_report_make (report);
    entitlement_report_free (report);
    return rc;
}

/* As of when: of closed months as they were closed. */
static int make_entitlements_as_closed (cli_t *cli, report_query_t *query,
                                        report_t **ret_report)
{
    report_cluster_t *clusters;
    gl_error_t error;
    int rc;

    if (months_as_of (cli->store, query, &clusters, &error) < 0)
        return cli_fail (cli, &error);
    rc = make_entitlements (cli, query, ret_report);
    closed_clusters_free (clusters, query->cluster_count);
    return rc;
}

/* Whole months; the default is the fiscal year so far. */
static void set_entitlements_period (const query_options_t *options,
                                     report_query_t *query)
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
    const report_query_t asked
        = {.filters = options->filters, .filter_count = options->filter_count};
    store_t *store;
    report_query_t query;
    int rc;

    if (options->by
        || !report_filters_within (&asked, entitlement_filters,
                                   GL_ARRAY_SIZE (entitlement_filters)))
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
    set_entitlements_period (options, &query);
    return make_entitlements_as_closed (cli, &query, ret_report);
}
