#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/query_options.h"
#include "command/exports.h"
#include "command/verb_report.h"
#include "config/config.h"
#include "ledger/owner_cost.h"
#include "month/month.h"
#include "render/focus.h"
#include "render/focus_contract.h"
#include "render/focus_invoice.h"
#include "render/render_export.h"
#include "render/render_journal.h"
#include "render/render_opencost.h"
#include "export/journal.h"
#include "usage/query.h"

/* --- FOCUS -------------------------------------------------------------- */

#define CHUNK (64 * 1024)

struct writer {
    cli_t *cli;
    const report_query_t *query;
    const struct dataset *dataset;
    focus_version_t version;
    output_stream_t *out;
    buffer_t text;
    bool begun;  /* the header is written */
    bool failed; /* to write, already reported */
    /* the month in hand */
    const bill_t *bill;
    const site_t *book; /* with the assets that it was priced by */
    period_t period;
    focus_t *focus;
    int64_t updated; /* when it was closed; else up to when the facts speak */
    focus_invoices_t *invoices;
    owner_cost_t *owner_cost;
};

/* --- the datasets ------------------------------------------------------------ */

static void begin_charges (struct writer *w)
{
    if (!w->begun)
        focus_render_header (w->focus, &w->text);
}

static int take_charge (const line_item_t *row, void *arg, gl_error_t *error)
{
    struct writer *w = arg;

    (void)error;
    focus_render_row (w->focus, row, &w->text);
    return 0;
}

static void begin_owner_cost (struct writer *w)
{
    begin_charges (w);
    w->owner_cost = owner_cost_new (w->book, w->bill, w->period);
}

static int take_owned (const line_item_t *row, void *arg, gl_error_t *error)
{
    struct writer *w = arg;

    return owner_cost_add (w->owner_cost, row, take_charge, w, error);
}

static int end_owner_cost (struct writer *w, gl_error_t *error)
{
    return owner_cost_finish (w->owner_cost, take_charge, w, error);
}

static void begin_invoices (struct writer *w)
{
    if (!w->begun)
        focus_render_invoice_header (&w->text);
    w->invoices = focus_invoices_new (w->focus, w->updated);
}

static int take_invoiced (const line_item_t *row, void *arg, gl_error_t *error)
{
    struct writer *w = arg;

    (void)error;
    focus_invoices_add (w->invoices, row);
    return 0;
}

static int end_invoices (struct writer *w, gl_error_t *error)
{
    (void)error;
    focus_render_invoices (w->invoices, &w->text);
    return 0;
}

static void begin_period (struct writer *w)
{
    if (!w->begun)
        focus_render_period_header (&w->text);
    focus_render_period (w->focus, w->updated, &w->text);
}

static void begin_contracts (struct writer *w)
{
    size_t count;
    const bill_entitlement_t *e = bill_entitlements (w->bill, &count);

    if (!w->begun)
        focus_render_contract_header (&w->text);
    for (size_t i = 0; i < count; i++)
        focus_render_contract (w->focus, &e[i], &w->text);
}

static const struct dataset {
    const char *name;
    focus_version_t since;
    focus_version_t
        last; /* later versions need data that the ledger does not have */
    focus_customer_t customer;
    void (*begin) (struct writer *w); /* of each month */
    line_item_f take; /* of each row, with the writer; NULL: not made of rows */
    int (*end) (struct writer *w, gl_error_t *error); /* or NULL */
} datasets[] = {
    {"cost-and-usage", FOCUS_1_2, FOCUS_1_4, FOCUS_TEAMS, begin_charges,
     take_charge, NULL},
    {"invoice-detail", FOCUS_1_4, FOCUS_1_4, FOCUS_TEAMS, begin_invoices,
     take_invoiced, end_invoices},
    {"billing-period", FOCUS_1_4, FOCUS_1_4, FOCUS_TEAMS, begin_period, NULL,
     NULL},
    {"contract-commitment", FOCUS_1_3, FOCUS_1_3, FOCUS_TEAMS, begin_contracts,
     NULL, NULL},
    {"owner-cost", FOCUS_1_2, FOCUS_1_4, FOCUS_ORGANISATION, begin_owner_cost,
     take_owned, end_owner_cost},
};

static const struct dataset *find_dataset (const char *name)
{
    return GL_FIND (datasets, GL_ARRAY_SIZE (datasets), it,
                    !name || !strcmp (name, it->name));
}

/* --- rows --------------------------------------------------------------------- */

static int flush (struct writer *w)
{
    int rc = output_write (w->cli, w->out, w->text.data, w->text.length);

    buffer_clear (&w->text);
    w->failed = w->failed || rc < 0;
    return rc;
}

static int take_row (const line_item_t *row, void *arg, gl_error_t *error)
{
    struct writer *w = arg;

    if (w->dataset->take (row, w, error) < 0)
        return -1;
    if (w->text.length < CHUNK || flush (w) == 0)
        return 0;
    return gl_error (error, "the export is not complete");
}

/* --- months ------------------------------------------------------------------- */

static int write_rows (struct writer *w, month_t *month, gl_error_t *error)
{
    uint64_t poolless = 0;

    if (w->dataset->take
        && month_line_items (month, NULL, take_row, w, &poolless, error) < 0)
        return -1;
    if (poolless > 0)
        cli_warn (
            w->cli,
            "%llu GRES hours are on devices that belong to no pool and are in "
            "no row: find them with report usage --by node,gres_type,pool",
            (unsigned long long)(poolless / 3600));
    return w->dataset->end ? w->dataset->end (w, error) : 0;
}

/* Of one without charges the header alone. */
static int write_dataset (struct writer *w, month_t *month, gl_error_t *error)
{
    int rc = 0;

    w->bill = month->bill;
    w->period = month->paper_period;
    w->updated = month_updated (month, w->query);
    w->book = month_site (month, error);
    if (!w->book && w->dataset->customer == FOCUS_ORGANISATION)
        return -1;
    w->focus = focus_new (month->paper, w->book ? w->book : month->paper,
                          month->paper_period, month_is_provisional (month),
                          w->version, w->dataset->customer);
    w->dataset->begin (w);
    w->begun = true;
    if (!month_is_uncharged (month))
        rc = write_rows (w, month, error);
    focus_invoices_free (GL_TAKE (w->invoices));
    owner_cost_free (GL_TAKE (w->owner_cost));
    focus_free (GL_TAKE (w->focus));
    return rc;
}

static int write_month (month_t *month, void *arg, gl_error_t *error)
{
    struct writer *w = arg;

    if (month_is_uncharged (month))
        cli_warn (w->cli, "%s is closed without charges: it has no rows",
                  month->name);
    return write_dataset (w, month, error) < 0 || flush (w) < 0 ? -1 : 0;
}

/* --- what is asked for ----------------------------------------------------------- */

static int no_dataset (cli_t *cli, const char *name)
{
    BUFFER_AUTO names = BUFFER_INIT;

    for (size_t i = 0; i < GL_ARRAY_SIZE (datasets); i++)
        buffer_printf (&names, " %s", datasets[i].name);
    return cli_usage (cli, "unknown dataset '%s'; the datasets are:%s", name,
                      buffer_text (&names));
}

static int choose (struct writer *w, const export_options_t *options)
{
    w->dataset = find_dataset (options->dataset);
    if (!w->dataset)
        return no_dataset (w->cli, options->dataset);
    w->version = w->dataset->since;
    if (options->version
        && focus_version_parse (options->version, &w->version) < 0)
        return cli_usage (w->cli,
                          "unknown FOCUS version %s; the versions are: 1.2 "
                          "1.3 1.4",
                          options->version);
    if (w->version < w->dataset->since)
        return cli_usage (w->cli,
                          "FOCUS %s has no dataset %s: give --focus "
                          "without a version, or a later one",
                          options->version, w->dataset->name);
    if (w->version > w->dataset->last)
        return cli_usage (w->cli,
                          "the dataset %s is not available in FOCUS "
                          "%s: give --focus without a version",
                          w->dataset->name, options->version);
    return CLI_OK;
}

/* The dataset that the options name, in their version; NULL: the first one, in the
 * first version that has it. Row by row. Returns an exit code; the reason has been
 * told. */
static int export_focus (cli_t *cli, const report_query_t *query,
                         const export_options_t *options, output_stream_t *out)
{
    const month_how_t how = {.any_currency = true};
    struct writer w = {.cli = cli, .query = query, .out = out};
    gl_error_t error;
    int rc = choose (&w, options);

    if (rc == CLI_OK
        && months_each (cli->store, query->site, query->period, &how,
                        write_month, &w, &error)
               < 0)
        rc = w.failed ? CLI_FAILED : cli_fail (cli, &error);
    buffer_done (&w.text);
    return rc;
}

/* --- the other forms ---------------------------------------------------- */

struct export
{
    const char *name; /* of the option */
    /* One of them: all of it, or as it comes, told why when it is not CLI_OK. */
    int (*make) (cli_t * cli, const report_query_t *query, buffer_t *out,
                 gl_error_t *error);
    int (*stream) (cli_t * cli, const report_query_t *query,
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

    journal_remark (journal,
                    "GPU chargeback of %s, double entry, for ledger "
                    "and hledger",
                    period);
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
    return rc == CLI_OK ? 0
                        : gl_error (error, "there is no usage in %s", m->name);
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

/* --- layouts ----------------------------------------------------------- */

struct laid_out {
    cli_t *cli;
    const export_layout_t *layout;
    export_month_t of;
    export_t *export;
    output_stream_t *out;
    buffer_t text;
    bool failed; /* to write, already reported */
};

static int flush_layout (struct laid_out *w, gl_error_t *error)
{
    int rc = output_write (w->cli, w->out, w->text.data, w->text.length);

    buffer_clear (&w->text);
    w->failed = rc < 0;
    return rc < 0 ? gl_error (error, "the export is not complete") : 0;
}

static int take_export_row (const export_row_t *row, void *arg,
                            gl_error_t *error)
{
    struct laid_out *w = arg;

    if (render_export_row (w->export, row, &w->text, error) < 0)
        return -1;
    return w->text.length < CHUNK ? 0 : flush_layout (w, error);
}

static int take_item (const line_item_t *row, void *arg, gl_error_t *error)
{
    return export_add_item (((struct laid_out *)arg)->export, row, error);
}

static int add_journal (struct laid_out *w, month_t *month, gl_error_t *error)
{
    journal_t *journal = journal_new (w->of.site);
    int rc = add_to_journal (month, journal, error);

    if (rc == 0)
        rc = export_add_journal (w->export, journal, error);
    journal_free (journal);
    return rc;
}

static int add_export_rows (struct laid_out *w, month_t *month,
                            gl_error_t *error)
{
    if (w->layout->rows == EXPORT_JOURNAL)
        return add_journal (w, month, error);
    if (w->layout->rows == EXPORT_POSTINGS)
        return export_add_bill (w->export, month->bill, error);
    return month_line_items (month, NULL, take_item, w, NULL, error);
}

static int write_layout (struct laid_out *w, month_t *month, gl_error_t *error)
{
    w->export = export_new (w->layout, &w->of, take_export_row, w, error);
    if (!w->export || render_export_begin (w->export, &w->text, error) < 0)
        return -1;
    if (!month_is_uncharged (month) && add_export_rows (w, month, error) < 0)
        return -1;
    if (export_finish (w->export, error) < 0
        || render_export_end (w->export, &w->text, error) < 0)
        return -1;
    return flush_layout (w, error);
}

static int lay_out_month (month_t *month, void *arg, gl_error_t *error)
{
    struct laid_out *w = arg;
    char version[16], closed[ZONE_STAMP_SIZE];
    export_month_t *of = &w->of;
    int rc;

    of->site
        = month_is_uncharged (month) ? month->paper : month_site (month, error);
    if (!of->site)
        return -1;
    of->paper = month->paper;
    of->month = month->name;
    of->period = month->paper_period;
    of->disputed = month->disputed;
    of->state = month_is_provisional (month) ? "open" : "closed";
    if (!month_is_provisional (month)) {
        snprintf (version, sizeof (version), "%u", month->version);
        of->version = version;
        of->hash = month->hash;
        of->closed_on = month_closed_day (month, of->site->zone, closed);
    }
    rc = write_layout (w, month, error);
    export_free (w->export);
    return rc;
}

int export_check_layout (cli_t *cli, const char *path)
{
    export_month_t month = {
        .site = cli->site,
        .paper = cli->site,
        .month = "1970-01",
    };
    export_layout_t *layout = NULL;
    export_t *export = NULL;
    gl_error_t error;
    int rc = CLI_OK;

    if (config_load_layout (path, &layout, &error) < 0
        || !(export = export_new (layout, &month, NULL, NULL, &error)))
        rc = cli_fail (cli, &error);
    export_free (export);
    export_layout_free (layout);
    return rc;
}

int export_by_layout (cli_t *cli, const export_layout_t *layout,
                      const report_query_t *query, export_team_t team,
                      const output_t *output)
{
    struct laid_out w = {.cli = cli,
                         .layout = layout,
                         .of = {.team = team.name, .team_given = team.given}};
    gl_error_t error;
    int closed, rc = query_months_over (cli, query, "an export");

    if (rc != CLI_OK)
        return rc;
    if (!(w.out = output_open (cli, output)))
        return CLI_FAILED;
    if (months_each (cli->store, query->site, query->period,
                     &(month_how_t){.any_currency = true}, lay_out_month, &w,
                     &error)
        < 0)
        rc = w.failed ? CLI_FAILED : cli_fail (cli, &error);
    closed = output_close (cli, w.out, rc == CLI_OK);
    buffer_done (&w.text);
    return rc == CLI_OK ? closed : rc;
}

/* --- the list ---------------------------------------------------------- */

enum { FORM_JOURNAL, FORM_OPENCOST, FORM_FOCUS };

static const export_t exports[] = {
    [FORM_JOURNAL] = {"--journal", make_journal, NULL},
    [FORM_OPENCOST] = {"--opencost", make_opencost, NULL},
    [FORM_FOCUS] = {"--focus", NULL, export_focus},
};

static int take_export (cli_t *cli, void *into, const cli_option_t *option,
                        const char *value)
{
    export_options_t *options = into;
    const export_t *export = &exports[option->code];

    if (options->export && options->export != export)
        return cli_refuse (cli, "%s cannot be combined with another format",
                           options->export->name);
    options->export = export;
    options->version = value;
    return 0;
}

const cli_option_t export_options[] = {
    {0, "journal", NULL,
     "chargeback of full months as a double-entry journal for\n"
     "ledger and hledger",
     .take = take_export, .code = FORM_JOURNAL},
    {0, "opencost", NULL,
     "chargeback of full months in the form of OpenCost's\nallocations (JSON)",
     .take = take_export, .code = FORM_OPENCOST},
    {0, "focus", "[=VERSION]",
     "chargeback of full months as FOCUS billing data by job\n"
     "and day: 1.2 (default), 1.3 or 1.4",
     .take = take_export, .code = FORM_FOCUS},
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

    if (options->dataset && export != &exports[FORM_FOCUS])
        return cli_usage (cli,
                          "%s has no datasets: --focus-dataset goes with "
                          "--focus",
                          export->name);
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

int export_form (cli_t *cli, const char *name, const report_query_t *query,
                 const output_t *output)
{
    const export_options_t options
        = {.export = GL_FIND (exports, GL_ARRAY_SIZE (exports), it,
                              !strcmp (it->name, name))};

    return export_make (cli, &options, query, output);
}
