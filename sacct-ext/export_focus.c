#include <string.h>

#include "base/memory.h"
#include "closed_site.h"
#include "detail.h"
#include "export_focus.h"
#include "periods.h"
#include "render/focus.h"
#include "render/focus_invoice.h"

#define CHUNK (64 * 1024)

struct writer {
    cli_t *cli;
    const report_query_t *query;
    const struct dataset *dataset;
    focus_version_t version;
    output_stream_t *out;
    buffer_t text;
    bool begun;  /* the header is written */
    bool failed; /* to write, told already */
    /* the month in hand */
    focus_t *focus;
    int64_t updated; /* when it was closed; else up to when the facts speak */
    focus_invoices_t *invoices;
};

/* --- the datasets ------------------------------------------------------------ */

static void begin_charges (struct writer *w)
{
    if (!w->begun)
        focus_render_header (w->focus, &w->text);
}

static void take_charge (struct writer *w, const detail_row_t *row)
{
    focus_render_row (w->focus, row, &w->text);
}

static void begin_invoices (struct writer *w)
{
    if (!w->begun)
        focus_render_invoice_header (&w->text);
    w->invoices = focus_invoices_new (w->focus, w->updated);
}

static void take_invoiced (struct writer *w, const detail_row_t *row)
{
    focus_invoices_add (w->invoices, row);
}

static void end_invoices (struct writer *w)
{
    focus_render_invoices (w->invoices, &w->text);
    focus_invoices_free (GL_TAKE (w->invoices));
}

static void begin_period (struct writer *w)
{
    if (!w->begun)
        focus_render_period_header (&w->text);
    focus_render_period (w->focus, w->updated, &w->text);
}

static const struct dataset {
    const char *name;
    focus_version_t since;
    void (*begin) (struct writer *w); /* of each month */
    void (*take) (struct writer *w, const detail_row_t *row); /* NULL: no rows */
    void (*end) (struct writer *w); /* after the last one; or NULL */
} datasets[] = {
    {"cost-and-usage", FOCUS_1_2, begin_charges, take_charge, NULL},
    {"invoice-detail", FOCUS_1_4, begin_invoices, take_invoiced, end_invoices},
    {"billing-period", FOCUS_1_4, begin_period, NULL, NULL},
};

static const struct dataset *find_dataset (const char *name)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (datasets); i++)
        if (!name || !strcmp (name, datasets[i].name))
            return &datasets[i];
    return NULL;
}

/* --- rows --------------------------------------------------------------------- */

static int flush (struct writer *w)
{
    int rc = output_write (w->cli, w->out, w->text.data, w->text.length);

    buffer_clear (&w->text);
    w->failed = w->failed || rc < 0;
    return rc;
}

static void begin (struct writer *w, const site_t *site, period_t month,
                   bool provisional, int64_t updated)
{
    w->focus = focus_new (site, month, provisional, w->version);
    w->updated = updated;
    w->dataset->begin (w);
    w->begun = true;
}

static int take_row (const detail_row_t *row, void *arg, gl_error_t *error)
{
    struct writer *w = arg;

    w->dataset->take (w, row);
    if (w->text.length < CHUNK || flush (w) == 0)
        return 0;
    return gl_error (error, "the export is not complete");
}

static void end (struct writer *w, int rc)
{
    if (rc == 0 && w->dataset->end)
        w->dataset->end (w);
    focus_invoices_free (GL_TAKE (w->invoices));
    focus_free (GL_TAKE (w->focus));
}

/* --- months ------------------------------------------------------------------- */

/* As facts and configuration have it now. */
static int write_open (struct writer *w, const bills_month_t *month,
                       gl_error_t *error)
{
    detail_result_t result = {0};
    int rc = 0;

    begin (w, w->query->site, month->period, true, report_as_of (w->query));
    if (w->dataset->take)
        rc = detail_of_month (w->cli->store, w->query->site, month, take_row, w,
                              &result, error);
    end (w, rc);
    if (result.poolless_gres_seconds > 0)
        cli_warn (w->cli,
                  "%llu GRES hours were held on devices that belong to no "
                  "pool and are in no row: report usage --by "
                  "node,gres_type,pool shows which",
                  (unsigned long long)(result.poolless_gres_seconds / 3600));
    return rc;
}

/* As it was closed; of one without charges the header alone. */
static int write_closed (struct writer *w, const bills_month_t *month,
                         gl_error_t *error)
{
    const closing_t *closing;
    periods_t *periods;
    site_t *then = NULL;
    period_t period;
    int rc;

    if (periods_read (w->cli->store, &periods, error) < 0)
        return -1;
    closing = periods_closing (periods, month->month);
    rc = closed_site_get (closing, w->query->site, &then, &period, error);
    if (rc == 0) {
        begin (w, then, period, false, closing->when);
        if (month->state == BILLS_CLOSED && w->dataset->take)
            rc = periods_detail (w->cli->store, closing, take_row, w, error);
        end (w, rc);
    }
    site_free (then);
    periods_free (periods);
    return rc;
}

static int write_month (struct writer *w, period_t period)
{
    char name[ZONE_STAMP_SIZE];
    bills_month_t *month;
    gl_error_t error;
    int rc;

    zone_unit_name (w->query->site->zone, CALENDAR_MONTH, period.start, name);
    if (bills_of_month (w->cli->store, w->query->site, name, &month, &error) < 0)
        return cli_fail (w->cli, &error);
    if (month->state == BILLS_IMPORTED)
        cli_warn (w->cli, "%s is closed without charges: it has no rows", name);
    rc = month->state == BILLS_CLOSED || month->state == BILLS_IMPORTED
             ? write_closed (w, month, &error)
             : write_open (w, month, &error);
    bills_month_free (month);
    if (rc < 0)
        return w->failed ? CLI_FAILED : cli_fail (w->cli, &error);
    return flush (w) < 0 ? CLI_FAILED : CLI_OK;
}

/* --- what is asked for ----------------------------------------------------------- */

static int choose (struct writer *w, const export_options_t *options)
{
    w->dataset = find_dataset (options->dataset);
    if (!w->dataset)
        return cli_usage (w->cli,
                          "there is no dataset '%s' here; there are: "
                          "cost-and-usage invoice-detail billing-period",
                          options->dataset);
    w->version = w->dataset->since;
    if (options->version
        && focus_version_parse (options->version, &w->version) < 0)
        return cli_usage (w->cli,
                          "there is no FOCUS %s here; there are: 1.2 1.3 1.4",
                          options->version);
    if (w->version < w->dataset->since)
        return cli_usage (w->cli, "FOCUS %s has no dataset %s: give --focus "
                          "without a version, or a later one",
                          options->version, w->dataset->name);
    return CLI_OK;
}

int export_focus (cli_t *cli, const report_query_t *query,
                  const export_options_t *options, output_stream_t *out)
{
    struct writer w = {.cli = cli, .query = query, .out = out};
    int rc = choose (&w, options);

    for (int64_t at = query->period.start;
         at < query->period.end && rc == CLI_OK;) {
        period_t month = zone_unit (query->site->zone, CALENDAR_MONTH, at);
        rc = write_month (&w, month);
        at = month.end;
    }
    buffer_done (&w.text);
    return rc;
}
