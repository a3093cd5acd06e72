/*
 * render.h: a report as bytes: a table for people, separated values, JSON, a
 * page. Nothing here computes, asks the clock, the locale or the terminal: the
 * same report and options give the same bytes.
 */
#ifndef GL_RENDER_RENDER_H
#define GL_RENDER_RENDER_H

#include <stdbool.h>

#include "base/buffer.h"
#include "report/report.h"

typedef enum {
    RENDER_TABLE,
    RENDER_PARSABLE2, /* '|' between fields */
    RENDER_CSV,       /* RFC 4180 */
    RENDER_JSON,
    RENDER_HTML, /* one self-contained page */
    RENDER_FORMAT_COUNT,
} render_format_t;

/* --- pages of a site ---------------------------------------------------------- */

typedef struct {
    const char *text;
    const char *href; /* NULL: the page itself */
} render_link_t;

/* Where a cell leads, relative to its page, appended to the buffer; false: nowhere. */
typedef bool (*render_href_f) (const void *arg, const report_t *report,
                               size_t row, size_t column, buffer_t *href);

/* The same of a word of a list. */
typedef bool (*render_word_f) (const void *arg, list_words_t is,
                               const char *word, buffer_t *href);

/* What surrounds an HTML page of a site. Everything is borrowed; NULL and 0: none. */
typedef struct {
    const char *site;           /* the name of the site, on top of its pages */
    const char *logo;           /* a data: URI of an image */
    const char *colour;         /* of the site, as CSS has it: "#1f5fa8" */
    const render_link_t *trail; /* from the index to this page */
    size_t trail_count;
    const render_link_t *near; /* pages next to it, and its data */
    size_t near_count;
    const char *definitions; /* the page that explains the words */
    render_href_f href;
    render_word_f word;
    const void *arg;
} render_frame_t;

typedef struct {
    const render_frame_t *frame; /* HTML: NULL: a page on its own */
    bool no_header;              /* table, parsable2, csv: the rows alone */
    bool colour;                 /* table: for a terminal that shows it */
    size_t width; /* table: of the terminal that it has to fit; 0: as wide as it
                     is */
    /* Called to write out and empty the buffer when it is large, for reports
     * with many rows. NULL: everything stays in the buffer. */
    void (*drain) (buffer_t *out, void *arg);
    void *arg;
} render_options_t;

void render_report (const report_t *report, render_format_t format,
                    const render_options_t *options, buffer_t *out);

/* An HTML page of render_report() as WeasyPrint can make a PDF of it: with a style sheet for what
 * that does not know, and rules of their own in all drawings. The same page gives the same text. */
void render_paper (const char *page, buffer_t *out);

/* The JSON Schema of RENDER_JSON and of explanations: the text of
 * docs/formats/report.schema.json, from which the build makes it. */
extern const char render_json_schema[];

/* The format has a place for notes; otherwise the caller prints them. */
bool render_shows_notes (render_format_t format);

/* A title, sentence or mail in the form for people: a month as "October 2026",
 * `brief` "Oct 2026", a day as "1 Oct 2026", a time as "1 Oct 2026 00:00
 * UTC-4", and hours and kWh with one decimal. The arguments of a command in it
 * stay as they are typed. `blank` is between the words of a date. */
void render_readable_text (buffer_t *out, const char *text, bool brief,
                           const char *blank);

#endif /* !GL_RENDER_RENDER_H */
