#include "export_focus.h"
#include "detail.h"
#include "render/focus.h"

#define CHUNK (64 * 1024)

struct writer {
    cli_t *cli;
    focus_t *focus;
    output_stream_t *out;
    buffer_t text;
};

static int flush (struct writer *w)
{
    int rc = output_write (w->cli, w->out, w->text.data, w->text.length);

    buffer_clear (&w->text);
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

static int write_month (struct writer *w, const site_t *site, period_t month,
                        focus_version_t version, bool first)
{
    detail_result_t result;
    gl_error_t error;
    int rc;

    w->focus = focus_new (site, month, true, version);
    if (first)
        focus_render_header (w->focus, &w->text);
    rc = detail_each (w->cli->store, site, month, take_row, w, &result, &error);
    if (rc < 0)
        cli_fail (w->cli, &error);
    else
        rc = flush (w);
    focus_free (w->focus);
    if (rc == 0 && result.poolless_gres_seconds > 0)
        cli_warn (w->cli,
                  "%llu GRES hours were held on devices that belong to no "
                  "pool and are in no row: report usage --by "
                  "node,gres_type,pool shows which",
                  (unsigned long long)(result.poolless_gres_seconds / 3600));
    return rc < 0 ? CLI_FAILED : CLI_OK;
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
