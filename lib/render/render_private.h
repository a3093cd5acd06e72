/* render_private.h: the renderers, one file each. */
#ifndef GL_RENDER_PRIVATE_H
#define GL_RENDER_PRIVATE_H

#include "render/render.h"

void render_table (const report_t *report, const render_options_t *options,
                   buffer_t *out);
void render_parsable2 (const report_t *report, const render_options_t *options,
                       buffer_t *out);
void render_csv (const report_t *report, const render_options_t *options,
                 buffer_t *out);
void render_json (const report_t *report, const render_options_t *options,
                  buffer_t *out);
void render_html (const report_t *report, const render_options_t *options,
                  buffer_t *out);

/* A chart as an <svg> element; `id` makes its ids unique within the page. */
void render_svg (const report_chart_t *chart, int id, buffer_t *out);

/* A plain number grouped by threes with narrow no-break spaces, 46080.5 as
 * 46 080.5; false and nothing for any other text. */
bool render_number (buffer_t *out, const char *text);

/* The style sheet of the page, and definitions that its charts refer to. */
extern const char render_style[];
extern const char render_svg_patterns[];

/* Digits and a point, not words. */
static inline bool render_is_number (column_type_t type)
{
    return type != COLUMN_TEXT;
}

#endif /* !GL_RENDER_PRIVATE_H */
