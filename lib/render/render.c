#include "render/render_private.h"

static const struct {
    void (*render) (const report_t *report, const render_options_t *options,
                    buffer_t *out);
    bool shows_notes;
} formats[RENDER_FORMAT_COUNT] = {
    [RENDER_TABLE] = {render_table, true},
    [RENDER_PARSABLE2] = {render_parsable2, false},
    [RENDER_CSV] = {render_csv, false},
    [RENDER_JSON] = {render_json, true},
    [RENDER_HTML] = {render_html, true},
};

void render_report (const report_t *report, render_format_t format,
                    const render_options_t *options, buffer_t *out)
{
    formats[format].render (report, options, out);
}

bool render_shows_notes (render_format_t format)
{
    return formats[format].shows_notes;
}
