#include <getopt.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/number.h"
#include "cli/output.h"
#include "cli/query_options.h"
#include "command/planning_options.h"
#include "command/exports.h"
#include "command/verb.h"
#include "command/verb_report.h"
#include "facts/facts.h"
#include "facts/rollups.h"
#include "import/catalogue_files.h"
#include "month/bills.h"
#include "month/carbons.h"
#include "month/chargebacks.h"
#include "analysis/demands.h"
#include "analysis/plans.h"
#include "analysis/results.h"
#include "month/summaries.h"
#include "analysis/wastes.h"
#include "report/energy_report.h"
#include "report/idle_report.h"
#include "report/reconcile_report.h"
#include "report/usage_report.h"
#include "report/utilization.h"
#include "site/site.h"
#include "sync/reconcile.h"

/* What the command line asks for. */
struct request {
    query_options_t options;
    output_t output;
    export_options_t export; /* instead of a report */
    const char *slurmdb;     /* of reconcile: URL, or NULL */
    const char *within;      /* of carbon: hours, or NULL */
    planning_options_t decision;
    bool look; /* the report is made, and should be looked at */
};

static const key_id_t demand_keys[] = {KEY_CLUSTER};
static const key_id_t plan_keys[] = {KEY_POOL, KEY_CLUSTER};

/* --- the pass over the facts ------------------------------------------- */

/* A report in the making, as far as it is asked for. */
struct collector {
    usage_report_t *usage;
    utilization_t *utilization;
    energy_report_t *energy;
    idle_report_t *idle;
    evidence_counts_t counts;
};

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct collector *c = arg;

    (void)error;
    if (c->usage)
        usage_report_add (c->usage, fact->segment, fact->suspensions,
                          fact->suspension_count, fact->project,
                          fact->evidence);
    if (c->utilization)
        utilization_add (c->utilization, fact->segment, fact->suspensions,
                         fact->suspension_count, fact->project, fact->evidence);
    if (c->idle)
        idle_report_add (c->idle, fact->segment, fact->project, fact->evidence);
    if (c->energy)
        energy_report_add (c->energy, fact->segment, fact->project,
                           fact->evidence);
    return 0;
}

/* All facts of the period; `capacity` NULL: segments alone. */
static int collect (cli_t *cli, struct collector *collector, period_t period,
                    capacity_t *capacity)
{
    store_query_t query
        = {.start = period.start, .end = period.end, .gpu_only = true};
    gl_error_t error;

    if (facts_each_unmatched (cli->store, cli->site, &query, take_fact,
                              collector, &collector->counts, &error)
            < 0
        || (capacity
            && facts_capacity (cli->store, &query, capacity, &error) < 0))
        return cli_fail (cli, &error);
    return CLI_OK;
}

/* --- the rollups instead ----------------------------------------------- */

/* The same collector, of rollups. */
struct summing {
    struct collector *collector;
    period_t period; /* of the query */
};

static void add_unmatched (evidence_counts_t *to, const evidence_counts_t *from)
{
    for (size_t i = 0; i < EVIDENCE_REASON_COUNT; i++) {
        to->attempts[i] += from->attempts[i];
        to->usage_ms[i] += from->usage_ms[i];
    }
}

static int take_rollup (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    struct summing *s = arg;
    struct collector *c = s->collector;
    period_t span = rollup_period (rollup);
    bool asked = span.start >= s->period.start && span.end <= s->period.end;

    (void)error;
    if (c->usage && asked) {
        usage_report_add_rollup (c->usage, rollup);
        add_unmatched (&c->counts, rollup_evidence (rollup));
    }
    if (c->utilization)
        utilization_add_rollup (c->utilization, rollup);
    return 0;
}

static int collect_rollups (cli_t *cli, struct collector *collector,
                            const rollups_query_t *query)
{
    struct summing s = {collector, query->query->period};
    gl_error_t error;

    if (rollups_each (cli->store, query, take_rollup, &s, &error) < 0
        || facts_clocks (cli->store, NULL, &collector->counts, NULL, &error)
               < 0)
        return cli_fail (cli, &error);
    return CLI_OK;
}

/* --- the reports ------------------------------------------------------- */

int usage_of_query (cli_t *cli, const report_query_t *query,
                    evidence_counts_t *ret_counts, usage_report_t **ret_usage)
{
    struct collector c = {.usage = usage_report_new (query)};
    const rollups_query_t days = {.query = query, .period = query->period};
    int rc = rollups_answer (&days) ? collect_rollups (cli, &c, &days)
                                    : collect (cli, &c, query->period, NULL);

    *ret_counts = c.counts;
    usage_report_unmatched (c.usage, ret_counts);
    *ret_usage = c.usage;
    return rc;
}

static int report_of_usage (cli_t *cli, const report_query_t *query,
                            report_t **ret_report)
{
    evidence_counts_t counts;
    usage_report_t *usage;
    int rc = usage_of_query (cli, query, &counts, &usage);

    if (rc == CLI_OK)
        *ret_report = usage_report_make (usage);
    usage_report_free (usage);
    return rc;
}

int report_of_charges (cli_t *cli, const report_query_t *query,
                       report_t **ret_report)
{
    gl_error_t error;

    return chargebacks_make (cli->store, query, NULL, ret_report, &error) < 0
               ? cli_fail (cli, &error)
               : CLI_OK;
}

/* make_of_facts() has resolved the query: a month, which is whole. */
static int report_of_summary (cli_t *cli, const report_query_t *query,
                              report_t **ret_report)
{
    period_t month
        = zone_unit (query->site->zone, CALENDAR_MONTH, query->period.start);
    gl_error_t error;

    if (query->filter_count > 0 || query->period.start != month.start
        || query->period.end != month.end)
        return cli_usage (cli, "report summary covers a full calendar month: "
                               "give --month YYYY-MM, and no filters");
    return summaries_make (cli->store, query, NULL, ret_report, &error) < 0
               ? cli_fail (cli, &error)
               : CLI_OK;
}

/* Prices and capacity are those of calendar months. */
static int check_full_months (cli_t *cli, const report_query_t *query,
                              const char *name)
{
    return query_full_months (query)
               ? CLI_OK
               : cli_usage (cli,
                            "report %s covers full calendar months: give "
                            "--month YYYY-MM or --month YYYY-MM..YYYY-MM",
                            name);
}

static int report_of_waste (cli_t *cli, const report_query_t *query,
                            report_t **ret_report)
{
    gl_error_t error;
    int rc = check_full_months (cli, query, "waste");

    if (rc == CLI_OK
        && wastes_make (cli->store, query, NULL, ret_report, &error) < 0)
        rc = cli_fail (cli, &error);
    return rc;
}

static int report_of_tags (cli_t *cli, const report_query_t *query,
                           report_t **ret_report)
{
    gl_error_t error;
    int rc = check_full_months (cli, query, "tags");

    if (rc == CLI_OK && tags_make (cli->store, query, ret_report, &error) < 0)
        rc = cli_fail (cli, &error);
    return rc;
}

static int report_of_results (cli_t *cli, const report_query_t *query,
                              report_t **ret_report)
{
    gl_error_t error;
    int rc = check_full_months (cli, query, "results");

    if (rc == CLI_OK
        && results_make (cli->store, query, ret_report, &error) < 0)
        rc = cli_fail (cli, &error);
    return rc;
}

static int report_of_rightsize (cli_t *cli, const report_query_t *query,
                                report_t **ret_report)
{
    report_query_t by_family = *query;
    gl_error_t error;
    int rc = check_full_months (cli, query, "rightsize");

    if (query->by.count != 1 || query->by.id[0] != KEY_USER)
        return cli_usage (cli, "report rightsize has a row for each user, "
                               "account, name of jobs, pool and number of "
                               "GPUs: it takes no --by");
    by_family.by.count = 0;
    if (rc == CLI_OK
        && rightsizes_make (cli->store, &by_family, ret_report, &error) < 0)
        rc = cli_fail (cli, &error);
    return rc;
}

static int report_of_utilization (cli_t *cli, const report_query_t *query,
                                  report_t **ret_report)
{
    struct collector c = {.utilization = utilization_new (query)};
    const report_query_t *known = utilization_query (c.utilization);
    const rollups_query_t days = {.query = known, .period = known->period};
    bool pooled = query->site->pool_count > 0; /* else nodes are told apart by
                                                  all of their events */
    int rc = pooled && rollups_answer (&days)
                 ? collect_rollups (cli, &c, &days)
                 : collect (cli, &c, known->period,
                            utilization_capacity (c.utilization));

    if (rc == CLI_OK)
        *ret_report = utilization_make (c.utilization);
    utilization_free (c.utilization);
    return rc;
}

/* Against the site's meters, if it has some and all jobs are asked for. */
static int add_balance (cli_t *cli, const report_query_t *query,
                        const struct collector *c, const measured_t *unheld,
                        report_t *report)
{
    meter_reading_t *readings;
    meter_balance_t balance;
    gl_error_t error;
    size_t count;
    int rc = CLI_OK;

    if (query->filter_count > 0 || cli->site->meter_count == 0)
        return CLI_OK;
    if (store_meters (cli->store, query->period, &readings, &count, &error) < 0)
        return cli_fail (cli, &error);
    meter_balance_init (&balance);
    energy_report_devices (c->energy, &c->counts, unheld, &balance);
    if (meter_balance (cli->site, query->period, readings, count, &balance,
                       &error)
        < 0)
        rc = cli_fail (cli, &error);
    else {
        meter_prices_t prices;
        meter_prices (cli->site, query->period, readings, count, &prices);
        energy_balance_put (report, query, &balance, &prices);
        meter_prices_free (&prices);
    }
    meter_balance_clear (&balance);
    store_meters_free (readings, count);
    return rc;
}

static int report_of_energy (cli_t *cli, const report_query_t *query,
                             report_t **ret_report)
{
    struct collector c = {.energy = energy_report_new (query)};
    store_query_t period
        = {.start = query->period.start, .end = query->period.end};
    measured_t unheld;
    gl_error_t error;
    int rc = collect (cli, &c, query->period, NULL);

    if (rc == CLI_OK
        && facts_unheld (cli->store, cli->site, &period, &unheld, &error) < 0)
        rc = cli_fail (cli, &error);
    if (rc == CLI_OK) {
        *ret_report = energy_report_make (c.energy, &c.counts, &unheld);
        rc = add_balance (cli, query, &c, &unheld, *ret_report);
    }
    energy_report_free (c.energy);
    return rc;
}

static int report_of_idle (cli_t *cli, const report_query_t *query,
                           report_t **ret_report)
{
    struct collector c = {.idle = idle_report_new (query)};
    int rc = collect (cli, &c, query->period, NULL);

    if (rc == CLI_OK)
        *ret_report = idle_report_make (c.idle);
    idle_report_free (c.idle);
    return rc;
}

/* Of whole hours of the period, up to as-of. */
static int report_of_plan (cli_t *cli, const report_query_t *query,
                           const plan_query_t *asked, report_t **ret_report)
{
    gl_error_t error;

    return catalogue_price_clouds (cli->site, report_as_of (query), &error) < 0
                   || plans_make (cli->store, query, asked, ret_report, &error)
                          < 0
               ? cli_fail (cli, &error)
               : CLI_OK;
}

static bool filters_within (const query_options_t *o, const key_id_t *keys,
                            size_t count)
{
    const report_query_t asked
        = {.filters = o->filters, .filter_count = o->filter_count};

    return report_filters_within (&asked, keys, count);
}

static int make_plan (cli_t *cli, struct request *request,
                      report_t **ret_report)
{
    store_t *store = cli_store (cli, STORE_READ_ONLY);
    report_query_t query;
    int rc;

    if (request->options.by
        || !filters_within (&request->options, plan_keys,
                            GL_ARRAY_SIZE (plan_keys)))
        return cli_usage (cli, "report plan covers entire pools: of filters "
                               "and keys it takes --pool and --clusters");
    if (!store)
        return CLI_FAILED;
    rc = query_options_resolve (cli, &request->options, cli->site, store,
                                "pool", &query);
    request->decision.plan.against = request->decision.breakeven.against;
    request->decision.plan.max_age = request->decision.breakeven.max_age;
    return rc == CLI_OK ? report_of_plan (cli, &query, &request->decision.plan,
                                          ret_report)
                        : rc;
}

static int report_of_demand (cli_t *cli, const report_query_t *query,
                             const plan_query_t *asked, report_t **ret_report)
{
    gl_error_t error;

    return demands_make (cli->store, query, asked, ret_report, &error) < 0
               ? cli_fail (cli, &error)
               : CLI_OK;
}

static int make_demand (cli_t *cli, struct request *request,
                        report_t **ret_report)
{
    store_t *store = cli_store (cli, STORE_READ_ONLY);
    report_query_t query;
    int rc;

    if (request->options.by
        || !filters_within (&request->options, demand_keys,
                            GL_ARRAY_SIZE (demand_keys)))
        return cli_usage (cli,
                          "report demand has partitions, sizes, teams and "
                          "pools in sections of its own: of filters and keys "
                          "it takes --clusters");
    if (!store)
        return CLI_FAILED;
    rc = query_options_resolve (cli, &request->options, cli->site, store,
                                "cluster", &query);
    query.by.count = 0;
    return rc == CLI_OK ? report_of_demand (cli, &query,
                                            &request->decision.plan, ret_report)
                        : rc;
}

static const plan_query_t nothing_chosen = {.against = NULL};

static int demand_for_site (cli_t *cli, const report_query_t *query,
                            report_t **ret_report)
{
    return report_of_demand (cli, query, &nothing_chosen, ret_report);
}

int report_for_site (cli_t *cli, const char *name, const report_query_t *query,
                     report_t **ret_report)
{
    static const struct {
        const char *name, *by;
        int (*make) (cli_t *cli, const report_query_t *query, report_t **ret);
    } pages[] = {{"utilization", "pool,month", report_of_utilization},
                 {"demand", NULL, demand_for_site}};
    report_query_t by = *query;
    char *label = NULL;
    gl_error_t error;
    size_t at = 0;

    while (strcmp (pages[at].name, name) != 0)
        at++;
    by.by.count = 0;
    if (pages[at].by
        && report_keys_parse (pages[at].by, &by.by, &label, &error) < 0)
        return cli_fail (cli, &error);
    return pages[at].make (cli, &by, ret_report);
}

/* --- slurmdbd's account of it ------------------------------------------ */

static const char *database_of (const cli_t *cli, const struct request *request,
                                const char *cluster)
{
    const site_cluster_t *c = site_cluster (cli->site, cluster);

    return request->slurmdb ? request->slurmdb : c ? c->slurmdb : NULL;
}

static int reconcile_one (cli_t *cli, const struct request *request,
                          const report_query_t *query,
                          const report_cluster_t *cluster,
                          reconcile_t *reconcile, bool *ret_without)
{
    const char *url = database_of (cli, request, cluster->name);
    slurmdbd_t *dbd = NULL;
    gl_error_t error;
    int rc;

    if (url && !(dbd = slurmdbd_open (url, &error)))
        return cli_fail (cli, &error);
    *ret_without = *ret_without || !url;
    rc = reconcile_cluster (cli->store, query, cluster, dbd, reconcile, &error);
    slurmdbd_close (dbd);
    return rc < 0 ? cli_failf (cli, "%s: %s", cluster->name, error.text)
                  : CLI_OK;
}

static bool filters_by_cluster_alone (const query_options_t *o)
{
    return o->filter_count == 0
           || (o->filter_count == 1 && o->filters[0].key == KEY_CLUSTER);
}

static const char without_database[]
    = "Without slurmdbd's database, segments are compared with the nodes' "
      "records and cached rollups only: give --slurmdb, or clusters[].slurmdb "
      "in the configuration.";

static int reconcile_all (cli_t *cli, struct request *request,
                          const report_query_t *query, report_t **ret_report)
{
    reconcile_t *reconcile = reconcile_new (cli->site->zone);
    bool without = false;
    int rc = CLI_OK;

    for (size_t i = 0; i < query->cluster_count && rc == CLI_OK; i++)
        rc = reconcile_one (cli, request, query, &query->clusters[i], reconcile,
                            &without);
    if (rc == CLI_OK) {
        *ret_report = reconcile_report_make (query, reconcile,
                                             without ? without_database : NULL);
        request->look = reconcile_unexplained (reconcile) > 0;
    }
    reconcile_free (reconcile);
    return rc;
}

/* All of the clusters' jobs; what is unexplained makes the command say so. */
static int make_reconcile (cli_t *cli, struct request *request,
                           report_t **ret_report)
{
    store_t *store;
    report_query_t query;
    int rc;

    if (request->options.by || !filters_by_cluster_alone (&request->options))
        return cli_usage (cli, "report reconcile compares the entire cluster: "
                               "of filters and keys it takes --clusters");
    store = cli_store (cli, STORE_READ_ONLY);
    if (!store)
        return CLI_FAILED;
    rc = query_options_resolve (cli, &request->options, cli->site, store,
                                "cluster", &query);
    if (rc != CLI_OK)
        return rc;
    query.by.count = 0;
    return reconcile_all (cli, request, &query, ret_report);
}

static const char *default_user (const site_t *site)
{
    (void)site;
    return "user";
}

static const char *default_tags (const site_t *site)
{
    (void)site;
    return "account,user";
}

static const char *default_teams (const site_t *site)
{
    return site->team_count ? "team" : "account";
}

static const char *default_account (const site_t *site)
{
    (void)site;
    return "account";
}

static const char *default_pool (const site_t *site)
{
    (void)site;
    return "pool";
}

static int make_recharge (cli_t *cli, struct request *request,
                          report_t **ret_report)
{
    return recharge_report (cli, &request->options, &request->decision.recharge,
                            ret_report);
}

static int make_entitlements (cli_t *cli, struct request *request,
                              report_t **ret_report)
{
    return entitlements_report (cli, &request->options, ret_report);
}

static int make_breakeven (cli_t *cli, struct request *request,
                           report_t **ret_report)
{
    return planning_breakeven (cli, &request->options, &request->decision,
                               ret_report);
}

static int make_decide (cli_t *cli, struct request *request,
                        report_t **ret_report)
{
    return planning_decide (cli, &request->options, ret_report);
}

/* Hours later that jobs are tried: of a week at most. */
#define WITHIN_MOST 168

static int make_carbon (cli_t *cli, struct request *request,
                        report_t **ret_report)
{
    const char *within = request->within;
    report_query_t query;
    gl_error_t error;
    uint64_t hours = 0;
    int rc;

    if (within
        && (number_u64 (within, strlen (within), &hours) < 0 || hours == 0
            || hours > WITHIN_MOST))
        return cli_usage (cli,
                          "--within '%s' is no number of hours from 1 to %d",
                          within, WITHIN_MOST);
    if (!cli_store (cli, STORE_READ_ONLY))
        return CLI_FAILED;
    rc = query_options_resolve (cli, &request->options, cli->site, cli->store,
                                default_teams (cli->site), &query);
    if (rc != CLI_OK)
        return rc;
    return carbons_make (cli->store, &query, (int64_t)hours, ret_report, &error)
                   < 0
               ? cli_fail (cli, &error)
               : CLI_OK;
}

/* Of facts by keys, or made in a way of its own. */
static const struct {
    const char *name;
    int (*of_facts) (cli_t *cli, const report_query_t *query, report_t **ret);
    const char *(*default_by) (const site_t *site);
    int (*make) (cli_t *cli, struct request *request, report_t **ret);
} reports[] = {
    {"usage", report_of_usage, default_account, NULL},
    {"chargeback", report_of_charges, default_teams, NULL},
    {"summary", report_of_summary, default_teams, NULL},
    {"utilization", report_of_utilization, default_pool, NULL},
    {"energy", report_of_energy, default_account, NULL},
    {"carbon", NULL, NULL, make_carbon},
    {"idle", report_of_idle, default_user, NULL},
    {"waste", report_of_waste, default_teams, NULL},
    {"rightsize", report_of_rightsize, default_user, NULL},
    {"results", report_of_results, default_teams, NULL},
    {"tags", report_of_tags, default_tags, NULL},
    {"breakeven", NULL, NULL, make_breakeven},
    {"decide", NULL, NULL, make_decide},
    {"plan", NULL, NULL, make_plan},
    {"demand", NULL, NULL, make_demand},
    {"recharge", NULL, NULL, make_recharge},
    {"entitlements", NULL, NULL, make_entitlements},
    {"reconcile", NULL, NULL, make_reconcile},
};

/* They print no amount of money, and work before the cost book is complete. */
static bool is_without_prices (const char *name)
{
    static const char *const names[]
        = {"usage", "utilization", "idle", "reconcile", "carbon", "demand"};

    return GL_ANY (names, GL_ARRAY_SIZE (names), it, !strcmp (*it, name));
}

/* "usage chargeback ...", after what is wrong. */
static int refuse_name (cli_t *cli, const char *what)
{
    BUFFER_AUTO names = BUFFER_INIT;

    for (size_t i = 0; i < GL_ARRAY_SIZE (reports); i++)
        buffer_printf (&names, " %s", reports[i].name);
    return cli_usage (cli, "%s:%s", what, buffer_text (&names));
}

static int unknown_report (cli_t *cli, const char *name)
{
    GL_AUTOFREE char *what
        = xasprintf ("unknown report '%s'; the reports are", name);
    nearest_t nearest = {.word = name};

    for (size_t i = 0; i < GL_ARRAY_SIZE (reports); i++)
        nearest_offer (&nearest, reports[i].name);
    if (nearest.name)
        return cli_usage (cli, "unknown report '%s'; did you mean '%s'?", name,
                          nearest.name);
    return refuse_name (cli, what);
}

/* --- the verb ---------------------------------------------------------- */

static int make_of_facts (cli_t *cli, struct request *request, size_t at,
                          report_t **ret_report)
{
    store_t *store = cli_store (cli, STORE_READ_ONLY);
    report_query_t query;
    int rc;

    if (!store)
        return CLI_FAILED;
    request->options.of_bills = reports[at].of_facts == report_of_charges
                                || reports[at].of_facts == report_of_summary;
    rc = query_options_resolve (cli, &request->options, cli->site, store,
                                reports[at].default_by (cli->site), &query);
    return rc == CLI_OK ? reports[at].of_facts (cli, &query, ret_report) : rc;
}

/* What is left out of a file that has to add up would be missed there. */
static int check_export (cli_t *cli, const struct request *request,
                         const char *name)
{
    const output_t *output = &request->output;
    const query_options_t *o = &request->options;

    if (strcmp (name, "chargeback") != 0)
        return cli_usage (cli, "%s is for report chargeback",
                          export_name (request->export.export));
    if (o->by || o->filter_count > 0 || output_formed (output))
        return cli_usage (cli,
                          "%s is a format of its own, for all charges: it "
                          "takes a period and --output, but no filters, keys, "
                          "fields, order or other formats",
                          export_name (request->export.export));
    return CLI_OK;
}

static int make_export (cli_t *cli, struct request *request, const char *name)
{
    store_t *store;
    report_query_t query;
    int rc = check_export (cli, request, name);

    if (rc != CLI_OK)
        return rc;
    if (!cli_site (cli) || !(store = cli_store (cli, STORE_READ_ONLY)))
        return CLI_FAILED;
    rc = query_options_resolve (cli, &request->options, cli->site, store,
                                "team", &query);
    return rc == CLI_OK
               ? export_make (cli, &request->export, &query, &request->output)
               : rc;
}

static int make_report (cli_t *cli, struct request *request, const char *name)
{
    report_t *report = NULL;
    size_t at = 0;
    int rc;

    if (request->export.export)
        return make_export (cli, request, name);
    if (request->export.dataset)
        return cli_usage (cli, "--focus-dataset needs --focus");
    while (at < GL_ARRAY_SIZE (reports) && strcmp (reports[at].name, name))
        at++;
    if (at == GL_ARRAY_SIZE (reports)) {
        return unknown_report (cli, name);
    }
    cli->without_prices = is_without_prices (name);
    if (!cli_site (cli))
        return CLI_FAILED;
    if (request->slurmdb && strcmp (name, "reconcile") != 0)
        return cli_usage (cli, "--slurmdb is for report reconcile");
    if (request->within && strcmp (name, "carbon") != 0)
        return cli_usage (cli, "--within is for report carbon");
    rc = planning_check (cli, &request->decision, name);
    if (rc != CLI_OK)
        return rc;
    rc = reports[at].make ? reports[at].make (cli, request, &report)
                          : make_of_facts (cli, request, at, &report);
    if (rc == CLI_OK)
        rc = output_report (cli, &request->output, report);
    if (rc == CLI_OK && request->look)
        rc = CLI_LOOK;
    report_free (report);
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};
    int rc;

    if (cli_options (cli, argc, argv, &request) < 0)
        rc = cli->exit_code;
    else if (optind != argc - 1)
        rc = refuse_name (cli, "give the name of one report");
    else
        rc = make_report (cli, &request, argv[optind]);
    query_options_done (&request.options);
    return rc;
}

static const cli_option_t options[] = {
    CLI_GROUP (query_period_options, struct request, options),
    CLI_GROUP (query_filter_options, struct request, options),
    {0, "by", "KEYS",
     "group by these, separated by commas: cluster team\n"
     "institution class cost_center account user project label:KEY\n"
     "qos partition pool gpu gres_type profile node state month day\n"
     "hour",
     CLI_AT (struct request, options.by)},
    {0, "slurmdb", "URL",
     "reconcile: slurmdbd's database, mysql://USER@HOST[:PORT]/DB[?...]\n"
     "(default: clusters[].slurmdb of the configuration)",
     CLI_AT (struct request, slurmdb)},
    {0, "within", "HOURS",
     "carbon: how many hours later jobs are tried against the series of\n"
     "the grid (default: 24)",
     CLI_AT (struct request, within)},
    CLI_GROUP (planning_options, struct request, decision),
    CLI_GROUP (export_options, struct request, export),
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_report = {
    .name = "report",
    .run = run,
    .synopsis = "NAME [OPTION]...",
    .summary = "usage, chargeback, utilization, energy, break-even and others",
    .help
    = "NAME is one of\n  usage        GPU time by account, user, project and "
      "more\n  chargeback   charges, and how they add up to the cost\n  "
      "summary      a month of the site on one page: what was spent, why "
      "it\n               changed, what was wasted, what to look at first\n  "
      "utilization  what the GPUs were doing, to the second\n  energy       "
      "energy by the GPUs' own counters\n  carbon       energy with PUE, "
      "measured and modelled, and its CO2e\n  idle         allocated GPUs that "
      "agents found idle\n  waste        GPU time that did no useful work, by "
      "cause, in money, and the\n               jobs that wasted most\n  "
      "rightsize    which jobs would do with "
      "fewer or smaller GPUs, and what that\n               saves\n  results   "
      "   what a "
      "million tokens, an image or a training run costs, by what\n             "
      "  "
      "jobs reported (gpuledger units)\n  tags         "
      "GPU time without a project, by account and user, and tags that "
      "were\n               changed\n  breakeven    what a GPU hour costs, "
      "owned and "
      "rented\n  decide       the questions of the configuration: what a run "
      "costs, whether\n               interruptible capacity pays, cash over "
      "the years and others\n  plan         measured use, the cost of owning "
      "and renting, and how\n               many GPUs to own\n  demand       "
      "queue waits, GPUs wanted by hour, forecast, and when the "
      "GPUs\n               are full\n  recharge     "
      "rates, recovery and checks of a fiscal year (2 CFR 200.468)\n  "
      "entitlements hours that teams have bought, used and not used, by "
      "month\n  reconcile    differences from slurmdbd and the nodes, with "
      "their cause:\n               exit code 3 if a cause is unknown",
    .options = options,
    .example = "gpuledger report usage --month 2025-09 --by account,user",
};
