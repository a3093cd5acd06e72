#include "export_focus.h"
#include "detail.h"
#include "render/focus.h"

#define CHUNK (64 * 1024)

struct writer {
    cli_t *cli;
    focus_t *focus;
    output_stream_t *out;
    buffer_t text;
    bool failed; /* to write, told already */
};

static int flush (struct writer *w)
{
    int rc = output_write (w->cli, w->out, w->text.data, w->text.length);

    buffer_clear (&w->text);
    w->failed = w->failed || rc < 0;
    return rc;
}

static int take_row (const detail_row_t *row, void *arg, gl_error_t *error)
{
    struct writer *w = arg;

    focus_render_row (w->focus, row, &w->text);
    if (w->text.length < CHUNK || flush (w) == 0)
        return 0;
    return gl_error (error, "the export is not complete");
}

static int write_rows (struct writer *w, const site_t *site,
                       const bills_month_t *month)
{
    detail_result_t result;
    gl_error_t error;

    if (detail_of_month (w->cli->store, site, month, take_row, w, &result, &error)
        < 0)
        return w->failed ? CLI_FAILED : cli_fail (w->cli, &error);
    if (result.poolless_gres_seconds > 0)
        cli_warn (w->cli,
                  "%llu GRES hours were held on devices that belong to no "
                  "pool and are in no row: report usage --by "
                  "node,gres_type,pool shows which",
                  (unsigned long long)(result.poolless_gres_seconds / 3600));
    return flush (w) == 0 ? CLI_OK : CLI_FAILED;
}

static int write_month (struct writer *w, const site_t *site, period_t period,
                        focus_version_t version, bool first)
{
    char name[ZONE_STAMP_SIZE];
    bills_month_t *month;
    gl_error_t error;
    int rc;

    zone_unit_name (site->zone, CALENDAR_MONTH, period.start, name);
    if (bills_of_month (w->cli->store, site, name, &month, &error) < 0)
        return cli_fail (w->cli, &error);
    w->focus = focus_new (site, period, month->state != BILLS_CLOSED, version);
    if (first)
        focus_render_header (w->focus, &w->text);
    if (month->state == BILLS_IMPORTED)
        cli_warn (w->cli, "%s is closed without charges: it has no rows", name);
    rc = month->state == BILLS_IMPORTED ? CLI_OK : write_rows (w, site, month);
    focus_free (w->focus);
    bills_month_free (month);
    return rc == CLI_OK && flush (w) < 0 ? CLI_FAILED : rc;
}

int export_focus (cli_t *cli, const report_query_t *query, const char *version,
                  output_stream_t *out)
{
    struct writer w = {.cli = cli, .out = out};
    const zone_t *zone = query->site->zone;
    focus_version_t number;
    int rc = CLI_OK;

    if (focus_version_parse (version, &number) < 0)
        return cli_usage (cli, "there is no FOCUS %s here; there are: 1.2 1.3 "
                               "1.4", version);
    for (int64_t at = query->period.start;
         at < query->period.end && rc == CLI_OK;) {
        period_t month = zone_unit (zone, CALENDAR_MONTH, at);
        rc = write_month (&w, query->site, month, number,
                          at == query->period.start);
        at = month.end;
    }
    buffer_done (&w.text);
    return rc;
}
