#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cli/output.h"
#include "command/explain_charge.h"
#include "command/verb.h"
#include "facts/facts.h"
#include "ledger/settlement.h"
#include "month/bills.h"
#include "month/job_charge.h"
#include "month/month.h"
#include "render/render_explain.h"
#include "report/explain.h"
#include "site/site.h"

/* Which job: JOBID, JOBID_TASK, JOBID+OFFSET. */
struct job {
    const char *text;
    const char *cluster; /* NULL: any */
    char mark;           /* '_', '+' or 0 */
    uint64_t id;
    uint64_t part;
};

struct search {
    const struct job *job;
    period_t life; /* of all its segments */
    size_t found;
    bool parted; /* one of them is a task or a component */
    job_rows_t *rows; /* of closed bills */
    /* second pass */
    const site_t *site;
    explain_t *explain;
    const billing_t *billing;
    const accounts_t *accounts;
    const periods_t *periods; /* what was decided */
    bill_t *settled; /* of months that are not closed; NULL: no settlement */
};

static int parse_job (cli_t *cli, const char *text, struct job *job)
{
    size_t length = strcspn (text, "_+");

    job->text = text;
    job->mark = text[length];
    if (number_u64 (text, length, &job->id) < 0 || job->id == 0
        || (job->mark && number_u64_text (text + length + 1, &job->part) < 0))
        return cli_usage (cli,
                          "'%s' is no job: write JOBID, JOBID_TASK or "
                          "JOBID+OFFSET; a charge of another service is "
                          "SOURCE:REFERENCE",
                          text);
    return CLI_OK;
}

static bool matches (const struct job *job, const segment_t *s)
{
    if (job->cluster && strcmp (job->cluster, s->cluster))
        return false;
    if (job->mark == '_')
        return s->array_job == job->id && s->array_task == job->part;
    if (job->mark == '+')
        return s->het_job == job->id && s->het_offset == job->part;
    return s->id_job == job->id || s->array_job == job->id
           || s->het_job == job->id;
}

/* --- first pass: which segments, and when ------------------------------ */

static int find_segment (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct search *search = arg;
    const segment_t *s = fact->segment;

    (void)error;
    if (!matches (search->job, s))
        return 0;
    search->found++;
    job_rows_add (search->rows, s);
    search->parted = search->parted || s->array_job || s->het_job;
    if (s->time_start == 0)
        return 0;
    if (search->life.start == 0 || s->time_start < search->life.start)
        search->life.start = s->time_start;
    if (segment_end (s) > search->life.end)
        search->life.end = segment_end (s);
    return 0;
}

/* Tasks and components have JobIds of their own, which only a look at all
 * segments finds. */
static int find_job (cli_t *cli, struct search *search, store_query_t *query)
{
    gl_error_t error;

    query->cluster = search->job->cluster;
    query->id_job = search->job->mark ? 0 : search->job->id;
    if (facts_each (cli->store, cli->site, query, find_segment, search, &error)
        < 0)
        return cli_fail (cli, &error);
    if (query->id_job && (search->found == 0 || search->parted)) {
        query->id_job = 0;
        search->found = 0;
        job_rows_clear (search->rows);
        if (facts_each (cli->store, cli->site, query, find_segment, search,
                        &error)
            < 0)
            return cli_fail (cli, &error);
    }
    if (search->found == 0)
        return cli_failf (cli, "the store knows no job %s%s%s",
                          search->job->text,
                          search->job->cluster ? " of cluster " : "",
                          search->job->cluster ? search->job->cluster : "");
    return CLI_OK;
}

/* --- the charges of its months ----------------------------------------- */

static int fill_billing (cli_t *cli, billing_t *billing)
{
    gl_error_t error;

    if (bills_give_facts (cli->store, billing, &error) < 0
        || bills_finish (cli->store, billing, NULL, NULL, &error) < 0)
        return cli_fail (cli, &error);
    return CLI_OK;
}

/* Rows of closed months come with the job's own. */
static int take_settlement (month_t *m, void *arg, gl_error_t *error)
{
    struct search *search = arg;
    size_t count;
    const posting_t *rows = postings (m->bill, &count);

    (void)error;
    for (size_t i = 0; i < count && month_is_provisional (m); i++)
        if (rows[i].kind == BILL_CHARGE || rows[i].kind == BILL_SETTLEMENT)
            bill_add_copy (search->settled, &rows[i]);
    return 0;
}

static int read_settled (cli_t *cli, struct search *search,
                         const periods_t *periods)
{
    const month_how_t how = {.periods = periods, .billed = true};
    gl_error_t error;

    if (!settlement_applies (search->site, search->life))
        return CLI_OK;
    search->settled = bill_new ();
    return months_each (cli->store, search->site, search->life, &how,
                        take_settlement, search, &error)
                   < 0
               ? cli_fail (cli, &error)
               : CLI_OK;
}

/* --- second pass: the explanation -------------------------------------- */

static void explain_month (const job_month_t *month, void *arg)
{
    struct search *search = arg;
    const month_t *m = month->month;

    explain_billable (search->explain, m->name, m->bill, month->row,
                      month->count, m->paper->currency_digits);
}

static int explain_segment (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct search *search = arg;
    (void)error;
    if (!matches (search->job, fact->segment))
        return 0;
    explain_add (search->explain, search->site, search->accounts, fact->segment,
                 fact->suspensions, fact->suspension_count, fact->evidence,
                 fact->project, search->billing, search->settled);
    job_rows_each (search->rows, fact->segment, explain_month, search);
    for (size_t i = 0; i < search->periods->decision_count; i++) {
        const decision_t *d = &search->periods->decisions[i];
        if (d->row)
            explain_decided (search->explain, search->site, fact->segment,
                             d->row, d->who, d->when);
    }
    return 0;
}

int write_explanation (cli_t *cli, const output_t *output,
                       const explain_t *explain)
{
    BUFFER_AUTO out = BUFFER_INIT;

    if (output->format == RENDER_JSON)
        render_explain_json (explain, &out);
    else
        render_explain_text (explain, &out);
    return output_bytes (cli, output, out.data, out.length);
}

static int explain_job (cli_t *cli, struct search *search,
                        const output_t *output, const report_query_t *charges,
                        const store_query_t *query)
{
    billing_t *billing = NULL;
    periods_t *periods;
    gl_error_t error;
    int rc = CLI_OK;

    if (periods_read (cli->store, &periods, &error) < 0)
        return cli_fail (cli, &error);
    if (search->site->pool_count > 0 && search->life.start > 0) {
        billing = billing_new (charges);
        rc = fill_billing (cli, billing);
        if (rc == CLI_OK)
            rc = read_settled (cli, search, periods);
    }
    search->billing = billing;
    search->periods = periods;
    search->explain = explain_new ("job", search->job->text);
    if (rc == CLI_OK
        && (job_rows_read (search->rows, cli->store, cli->site, periods,
                           search->life, &error)
                < 0
            || facts_each (cli->store, search->site, query, explain_segment,
                           search, &error)
                   < 0))
        rc = cli_fail (cli, &error);
    if (rc == CLI_OK)
        rc = write_explanation (cli, output, search->explain);
    explain_free (search->explain);
    bill_free (search->settled);
    billing_free (billing);
    periods_free (periods);
    return rc;
}

static int explain (cli_t *cli, const struct job *job, const output_t *output)
{
    struct search search = {.job = job};
    store_query_t query = {0};
    store_cluster_t *stored = NULL;
    report_cluster_t *clusters;
    accounts_t *accounts;
    report_query_t charges;
    site_t *then = NULL; /* the configuration of the closing */
    size_t count = 0;
    gl_error_t error;
    int rc = CLI_OK;

    if (!cli_site (cli) || !cli_store (cli, STORE_READ_ONLY))
        return CLI_FAILED;
    accounts = facts_accounts (cli->store, &error);
    if (!accounts)
        return cli_fail (cli, &error);
    if (store_clusters (cli->store, &stored, &count, &error) < 0) {
        accounts_free (accounts);
        return cli_fail (cli, &error);
    }
    clusters = xcalloc (count + 1, sizeof (*clusters));
    for (size_t i = 0; i < count && rc == CLI_OK; i++)
        if (bills_cluster (cli->store, cli->site, &stored[i], &clusters[i],
                           &error)
            < 0)
            rc = cli_fail (cli, &error);
    search.rows = job_rows_new ();
    if (rc == CLI_OK)
        rc = find_job (cli, &search, &query);
    if (rc == CLI_OK
        && months_site (cli->store, cli->site, search.life, &then, &error) < 0)
        rc = cli_fail (cli, &error);
    if (rc == CLI_OK) {
        search.site = then ? then : cli->site;
        explain_query (search.site,
                       search.life.start ? search.life : (period_t){0, 1},
                       &charges);
        charges.clusters = clusters;
        charges.cluster_count = count;
        charges.accounts = accounts;
        search.accounts = accounts;
        rc = explain_job (cli, &search, output, &charges, &query);
    }
    job_rows_free (search.rows);
    site_free (then);
    free (clusters);
    accounts_free (accounts);
    store_clusters_free (stored, count);
    return rc;
}

struct request {
    struct job job;
    output_t output;
};

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};
    int rc;

    if (cli_options (cli, argc, argv, &request) < 0)
        return cli->exit_code;
    if (optind != argc - 1)
        return cli_usage (cli, "give one job (JOBID, JOBID_TASK or "
                               "JOBID+OFFSET), or one charge of another "
                               "service (SOURCE:REFERENCE)");
    if (strchr (argv[optind], ':'))
        return request.job.cluster
                   ? cli_usage (cli, "-M is for jobs: leave it out")
                   : explain_charge (cli, argv[optind], &request.output);
    rc = parse_job (cli, argv[optind], &request.job);
    return rc == CLI_OK ? explain (cli, &request.job, &request.output) : rc;
}

static const cli_option_t options[] = {
    {'M', "clusters", "NAME", "the job of this cluster only",
     CLI_AT (struct request, job.cluster)},
    CLI_GROUP (output_file_options, struct request, output),
    {0},
};

const verb_t verb_explain = {
    .name = "explain",
    .run = run,
    .synopsis = "{JOBID[_TASK|+OFFSET] | SOURCE:REFERENCE} [OPTION]...",
    .summary = "how the charge of a job or another service is computed",
    .help = "Shows where a charge comes from and how it is computed, and the "
            "lines and rows that bill it. A job is named by its JobId, a "
            "charge of another service as statements name it.",
    .options = options,
    .example = "gpuledger explain 4711\n"
               "gpuledger explain netapp:vision/2026-10",
};
