#include "export_focus.h"
#include "base/memory.h"
#include "closed_site.h"
#include "detail.h"
#include "periods.h"
#include "render/focus.h"

#define CHUNK (64 * 1024)

struct writer {
    cli_t *cli;
    const site_t *site;
    focus_version_t version;
    focus_t *focus; /* of the month in hand */
    output_stream_t *out;
    buffer_t text;
    bool begun;  /* the header is written */
    bool failed; /* to write, told already */
};

static int flush (struct writer *w)
{
    int rc = output_write (w->cli, w->out, w->text.data, w->text.length);

    buffer_clear (&w->text);
    w->failed = w->failed || rc < 0;
    return rc;
}

static void begin (struct writer *w, const site_t *site, period_t month,
                   bool provisional)
{
    w->focus = focus_new (site, month, provisional, w->version);
    if (!w->begun)
        focus_render_header (w->focus, &w->text);
    w->begun = true;
}

static int take_row (const detail_row_t *row, void *arg, gl_error_t *error)
{
    struct writer *w = arg;

    focus_render_row (w->focus, row, &w->text);
    if (w->text.length < CHUNK || flush (w) == 0)
        return 0;
    return gl_error (error, "the export is not complete");
}

/* As facts and configuration have it now. */
static int write_open (struct writer *w, const bills_month_t *month,
                       gl_error_t *error)
{
    detail_result_t result;

    begin (w, w->site, month->period, true);
    if (detail_of_month (w->cli->store, w->site, month, take_row, w, &result,
                         error)
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
    rc = closed_site_get (closing, w->site, &then, &period, error);
    if (rc == 0)
        begin (w, then, period, false);
    if (rc == 0 && month->state == BILLS_CLOSED)
        rc = periods_detail (w->cli->store, closing, take_row, w, error);
    focus_free (GL_TAKE (w->focus));
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

    zone_unit_name (w->site->zone, CALENDAR_MONTH, period.start, name);
    if (bills_of_month (w->cli->store, w->site, name, &month, &error) < 0)
        return cli_fail (w->cli, &error);
    if (month->state == BILLS_IMPORTED)
        cli_warn (w->cli, "%s is closed without charges: it has no rows", name);
    rc = month->state == BILLS_CLOSED || month->state == BILLS_IMPORTED
             ? write_closed (w, month, &error)
             : write_open (w, month, &error);
    focus_free (GL_TAKE (w->focus));
    bills_month_free (month);
    if (rc < 0)
        return w->failed ? CLI_FAILED : cli_fail (w->cli, &error);
    return flush (w) < 0 ? CLI_FAILED : CLI_OK;
}

int export_focus (cli_t *cli, const report_query_t *query, const char *version,
                  output_stream_t *out)
{
    struct writer w = {.cli = cli, .site = query->site, .out = out};
    int rc = CLI_OK;

    if (focus_version_parse (version, &w.version) < 0)
        return cli_usage (cli, "there is no FOCUS %s here; there are: 1.2 1.3 "
                               "1.4", version);
    for (int64_t at = query->period.start;
         at < query->period.end && rc == CLI_OK;) {
        period_t month = zone_unit (query->site->zone, CALENDAR_MONTH, at);
        rc = write_month (&w, month);
        at = month.end;
    }
    buffer_done (&w.text);
    return rc;
}
