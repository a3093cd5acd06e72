#include <string.h>

#include "base/memory.h"
#include "command/export_focus.h"
#include "ledger/owner_cost.h"
#include "month/closed_site.h"
#include "month/month_line_items.h"
#include "month/periods.h"
#include "render/focus.h"
#include "render/focus_contract.h"
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
    focus_version_t last; /* later ones ask for what the ledger is not told */
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
    {"estate", FOCUS_1_2, FOCUS_1_4, FOCUS_ORGANISATION, begin_owner_cost,
     take_owned, end_owner_cost},
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

/* A month: how it is signed, what priced it, and its rows. */
struct source {
    const site_t *site;
    const site_t *book;
    period_t period;
    bool closed;
    int64_t updated;
    int (*rows) (struct writer *w, const void *of, gl_error_t *error);
    const void *of;
};

static int write_source (struct writer *w, const bills_month_t *month,
                         const struct source *s, gl_error_t *error)
{
    int rc = 0;

    w->bill = month->bill;
    w->book = s->book;
    w->period = s->period;
    w->updated = s->updated;
    w->focus = focus_new (s->site, s->period, !s->closed, w->version,
                          w->dataset->customer);
    w->dataset->begin (w);
    w->begun = true;
    if (w->dataset->take && month->state != BILLS_IMPORTED)
        rc = s->rows (w, s->of, error);
    if (rc == 0 && w->dataset->end && month->state != BILLS_IMPORTED)
        rc = w->dataset->end (w, error);
    focus_invoices_free (GL_TAKE (w->invoices));
    owner_cost_free (GL_TAKE (w->owner_cost));
    focus_free (GL_TAKE (w->focus));
    return rc;
}

static int open_rows (struct writer *w, const void *of, gl_error_t *error)
{
    line_item_result_t result = {0};

    if (line_items_of_month (w->cli->store, w->query->site, of, take_row, w,
                             &result, error)
        < 0)
        return -1;
    if (result.poolless_gres_seconds > 0)
        cli_warn (w->cli,
                  "%llu GRES hours were held on devices that belong to no "
                  "pool and are in no row: report usage --by "
                  "node,gres_type,pool shows which",
                  (unsigned long long)(result.poolless_gres_seconds / 3600));
    return 0;
}

/* As facts and configuration have it now. */
static int write_open (struct writer *w, const bills_month_t *month,
                       gl_error_t *error)
{
    const struct source source = {.site = w->query->site,
                                  .book = w->query->site,
                                  .period = month->period,
                                  .updated = report_as_of (w->query),
                                  .rows = open_rows,
                                  .of = month};

    return write_source (w, month, &source, error);
}

static int closed_rows (struct writer *w, const void *of, gl_error_t *error)
{
    return periods_line_items (w->cli->store, of, NULL, take_row, w, error);
}

/* As it was closed; of one without charges the header alone. */
static int write_closing (struct writer *w, const bills_month_t *month,
                          const closing_t *closing, gl_error_t *error)
{
    struct source source = {.closed = true,
                            .updated = closing->when,
                            .rows = closed_rows,
                            .of = closing};
    GL_AUTOFREE char *text = NULL;
    site_t *site = NULL, *book = NULL;
    int rc = closed_site_get (closing, &site, &source.period, error);

    if (rc == 0 && w->dataset->customer == FOCUS_ORGANISATION) {
        rc = closed_site_then (w->cli->store, closing, &book, &text, error);
        if (rc == 0 && !book)
            rc = gl_error (error,
                           "%s was closed with a configuration that this "
                           "version cannot read: what was bought then is not "
                           "known",
                           month->month);
    }
    source.site = site;
    source.book = book;
    if (rc == 0)
        rc = write_source (w, month, &source, error);
    site_free (site);
    site_free (book);
    return rc;
}

static int write_closed (struct writer *w, const bills_month_t *month,
                         gl_error_t *error)
{
    periods_t *periods;
    int rc;

    if (periods_read (w->cli->store, &periods, error) < 0)
        return -1;
    rc = write_closing (w, month, periods_closing (periods, month->month),
                        error);
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
    if (bills_as_closed (w->cli->store, w->query->site, name, &month, &error) < 0)
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

static int no_dataset (cli_t *cli, const char *name)
{
    BUFFER_AUTO names = BUFFER_INIT;

    for (size_t i = 0; i < GL_ARRAY_SIZE (datasets); i++)
        buffer_printf (&names, " %s", datasets[i].name);
    return cli_usage (cli, "there is no dataset '%s' here; there are:%s", name,
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
                          "there is no FOCUS %s here; there are: 1.2 1.3 1.4",
                          options->version);
    if (w->version < w->dataset->since)
        return cli_usage (w->cli, "FOCUS %s has no dataset %s: give --focus "
                          "without a version, or a later one",
                          options->version, w->dataset->name);
    if (w->version > w->dataset->last)
        return cli_usage (w->cli, "the dataset %s is not made in FOCUS %s: "
                          "give --focus without a version",
                          w->dataset->name, options->version);
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
