#include <string.h>

#include "base/memory.h"
#include "cli/query_options.h"
#include "command/export_focus.h"
#include "command/exports.h"
#include "command/verb_report.h"
#include "render/render_journal.h"
#include "render/render_opencost.h"
#include "statement/journal.h"

struct export
{
    const char *name; /* of the option */
    /* One of them: all of it, or as it comes, told why when it is not CLI_OK. */
    int (*make) (cli_t *cli, const report_query_t *query, buffer_t *out,
                 gl_error_t *error);
    int (*stream) (cli_t *cli, const report_query_t *query,
                   const export_options_t *options, output_stream_t *out);
};

/* --- the journal ------------------------------------------------------- */

static int add_to_journal (month_t *m, void *arg, gl_error_t *error)
{
    const site_t *site
        = month_is_uncharged (m) ? m->paper : month_site (m, error);

    return site ? journal_add_month (arg, site, m->name, m->bill, m->disputed,
                                     *m->hash ? m->hash : NULL, error)
                : -1;
}

static void head_journal (journal_t *journal, const report_query_t *query)
{
    const site_t *site = query->site;
    GL_AUTOFREE char *period = report_period_text (site->zone, query->period);
    char stamp[ZONE_STAMP_SIZE];

    journal_remark (journal, "GPU chargeback of %s, double entry, for ledger "
                    "and hledger", period);
    journal_remark (journal, "months of the zone %s, amounts in %s",
                    zone_name (site->zone), site->currency);
    for (size_t i = 0; i < query->cluster_count; i++)
        journal_remark (
            journal, "cluster %s as of %s", query->clusters[i].name,
            zone_stamp (site->zone, query->clusters[i].as_of, stamp));
    journal_remark (journal, "made by gpuledger report chargeback --journal");
}

static int make_journal (cli_t *cli, const report_query_t *query, buffer_t *out,
                         gl_error_t *error)
{
    report_query_t as_of = *query;
    report_cluster_t *clusters;
    journal_t *journal;
    int rc;

    if (months_as_of (cli->store, &as_of, &clusters, error) < 0)
        return -1;
    journal = journal_new (query->site);
    head_journal (journal, &as_of);
    closed_clusters_free (clusters, as_of.cluster_count);
    rc = months_each (cli->store, query->site, query->period, NULL,
                      add_to_journal, journal, error);
    if (rc == 0)
        render_journal (journal, out);
    journal_free (journal);
    return rc;
}

/* --- OpenCost ---------------------------------------------------------- */

struct opencost {
    cli_t *cli;
    const report_query_t *query;
    json_t json;
};

/* The month's cells at the grain of the bill. */
static int cells_of_month (struct opencost *o, opencost_month_t *month,
                           report_query_t *query, evidence_counts_t *counts,
                           usage_report_t **ret_usage)
{
    gl_error_t error;
    char *label;

    *query = *o->query;
    query->period = month->period;
    if (report_keys_parse (bill_keys, &query->by, &label, &error) < 0)
        return cli_fail (o->cli, &error);
    free (label);
    return usage_of_query (o->cli, query, counts, ret_usage);
}

static int add_to_opencost (month_t *m, void *arg, gl_error_t *error)
{
    struct opencost *o = arg;
    const site_t *site = o->query->site;
    opencost_month_t month
        = {.site = site, .bill = m->bill, .period = m->period};
    usage_report_t *usage = NULL;
    report_query_t query;
    evidence_counts_t counts;
    int rc;

    rc = cells_of_month (o, &month, &query, &counts, &usage);
    if (rc == CLI_OK) {
        month.cells = usage_report_cells (usage, &month.cell_count);
        render_opencost_month (&o->json, &month);
    }
    usage_report_free (usage);
    return rc == CLI_OK ? 0 : gl_error (error, "no usage of %s", m->name);
}

static int make_opencost (cli_t *cli, const report_query_t *query,
                          buffer_t *out, gl_error_t *error)
{
    struct opencost o = {cli, query, JSON_INIT (out)};
    int rc;

    render_opencost_begin (&o.json, query->site);
    rc = months_each (cli->store, query->site, query->period, NULL,
                      add_to_opencost, &o, error);
    render_opencost_end (&o.json);
    return rc;
}

/* --- the list ---------------------------------------------------------- */

enum { EXPORT_JOURNAL, EXPORT_OPENCOST, EXPORT_FOCUS };

static const export_t exports[] = {
    [EXPORT_JOURNAL] = {"--journal", make_journal, NULL},
    [EXPORT_OPENCOST] = {"--opencost", make_opencost, NULL},
    [EXPORT_FOCUS] = {"--focus", NULL, export_focus},
};

static int take_export (cli_t *cli, void *into, const cli_option_t *option,
                        const char *value)
{
    export_options_t *options = into;
    const export_t *export = &exports[option->code];

    if (options->export && options->export != export)
        return cli_refuse (cli, "%s and another form exclude each other",
                           options->export->name);
    options->export = export;
    options->version = value;
    return 0;
}

const cli_option_t export_options[] = {
    {0, "journal", NULL,
     "chargeback of full months as a double-entry journal for\n"
     "ledger and hledger",
     .take = take_export, .code = EXPORT_JOURNAL},
    {0, "opencost", NULL,
     "chargeback of full months in the shape of OpenCost's\n"
     "allocations (JSON)",
     .take = take_export, .code = EXPORT_OPENCOST},
    {0, "focus", "[=VERSION]",
     "chargeback of full months as FOCUS billing data by job\n"
     "and day: 1.2 (default), 1.3 or 1.4",
     .take = take_export, .code = EXPORT_FOCUS},
    {0, "focus-dataset", "NAME",
     "with --focus: cost-and-usage (default), invoice-detail,\n"
     "billing-period, contract-commitment or owner-cost",
     CLI_AT (export_options_t, dataset)},
    {0},
};

const char *export_name (const export_t *export)
{
    return export->name;
}

static int make_whole (cli_t *cli, const export_t *export,
                       const report_query_t *query, output_stream_t *out)
{
    BUFFER_AUTO text = BUFFER_INIT;
    gl_error_t error;

    if (export->make (cli, query, &text, &error) < 0)
        return cli_fail (cli, &error);
    return output_write (cli, out, text.data, text.length) < 0 ? CLI_FAILED
                                                               : CLI_OK;
}

int export_make (cli_t *cli, const export_options_t *options,
                 const report_query_t *query, const output_t *output)
{
    const export_t *export = options->export;
    output_stream_t *out;
    int rc, closed;

    if (options->dataset && export != &exports[EXPORT_FOCUS])
        return cli_usage (cli, "%s has no datasets: --focus-dataset goes with "
                          "--focus", export->name);
    /* what is booked in the end */
    rc = query_months_over (cli, query, export->name);
    if (rc != CLI_OK)
        return rc;
    if (!(out = output_open (cli, output)))
        return CLI_FAILED;
    rc = export->stream ? export->stream (cli, query, options, out)
                        : make_whole (cli, export, query, out);
    closed = output_close (cli, out, rc == CLI_OK);
    return rc == CLI_OK ? closed : rc;
}
