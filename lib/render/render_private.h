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

/* An HTML page up to its heading, and its end. `style` is added to the
 * style sheet; `frame` NULL: a page on its own. */
void render_page_begin (buffer_t *out, const char *title, const char *style,
                        const render_frame_t *frame);
void render_page_near (buffer_t *out, const render_frame_t *frame);
void render_page_end (buffer_t *out);
/* A text of the report's own as people read it, escaped. */
void render_page_text (buffer_t *out, const char *text);

/* After a row. */
void render_drain (const render_options_t *options, buffer_t *out);

/* A chart as a <figure>: its bars are drawings, its words are text. */
void render_svg (const report_chart_t *chart, buffer_t *out);

/* A number alone, as below without the element; false and nothing for another text. */
bool render_number (buffer_t *out, const char *text);
/* A number is grouped by threes with narrow no-break spaces, 46080.5 as
 * 46 080.5, and of six decimals the last four are faint, in an element `tag` of
 * class f: none is lost, and the eye finds the size. Other texts as they are,
 * escaped. */
void render_value (buffer_t *out, const char *text, const char *tag);

/* The name of a parameter in words: "planned utilization %". */
void render_parameter_name (buffer_t *out, const char *name);
/* As people read it: dates as render_readable_text() has them, a month "Oct
 * 2026"; hours and energy with one decimal; other types as they are. */
void render_readable_value (buffer_t *out, const char *text, column_type_t type,
                            const char *blank);

/* The style sheet of the page, and definitions that its charts refer to. */
extern const char render_style[];
extern const char
    render_frame_style[]; /* of the pages of a site, in addition */
extern const char render_svg_patterns[];
/* What render_paper() adds to the head of a page, and to each drawing. */
extern const char render_paper_style[];
extern const char render_paper_drawing[];
bool render_shade_is_hatched (int shade);

/* One table for people: all rows, or those of a section, with the columns that say
 * something there. */
typedef struct {
    size_t first;
    size_t shown;       /* rows */
    size_t more;        /* rows that are not shown */
    char *const *total; /* or NULL */
    char *const *rest;  /* of the rows that are not shown; or NULL */
    size_t *order;      /* columns */
    size_t order_count;
    size_t *limit; /* of each: texts are broken there; 0: none. Or NULL */
    size_t *left;  /* columns left out, in their order */
    size_t left_count;
} render_rows_t;

/* How many there are; at least one. */
size_t render_tables (const report_t *report);
/* A section without rows: it has no table and no heading, unless no section has any. */
bool render_table_is_empty (const report_t *report, size_t table);
/* Made for reading; render_rows_done() frees it. */
render_rows_t render_rows (const report_t *report, size_t table);
void render_rows_done (render_rows_t *rows);
/* A sentence for a table whose rounded quantities do not add up to their rounded
 * total; NULL: they do. */
const char *render_rounding (const report_t *report, const render_rows_t *rows);
/* Breaks titles and long texts and leaves out columns (column_keep_t) until a
 * table with two blanks between its columns is no wider than `width`. */
void render_fit (const report_t *report, render_rows_t *rows, size_t width);
/* Cells of a terminal that an escaped text takes. */
size_t render_text_width (const char *text);
/* The length in bytes of the first line of an escaped text that is broken at
 * `limit`, 0: not at all. *ret_next is what follows, NULL: nothing. */
size_t render_text_break (const char *text, size_t limit,
                          const char **ret_next);

#endif /* !GL_RENDER_PRIVATE_H */
