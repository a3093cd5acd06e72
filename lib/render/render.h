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

typedef struct {
    bool no_header; /* table, parsable2, csv: the rows alone */
    bool colour;    /* table: for a terminal that shows it */
    size_t width; /* table: of the terminal that it has to fit; 0: as wide as it
                     is */
    /* Takes the bytes that there are, and empties the buffer, whenever it holds
     * much of a report with many rows. NULL: all of them stay in it. */
    void (*drain) (buffer_t *out, void *arg);
    void *arg;
} render_options_t;

void render_report (const report_t *report, render_format_t format,
                    const render_options_t *options, buffer_t *out);

/* The JSON Schema of RENDER_JSON and of explanations: the text of
 * docs/formats/report.schema.json, from which the build makes it. */
extern const char render_json_schema[];

/* The format has a place for notes; else the caller tells them. */
bool render_shows_notes (render_format_t format);

/* A title, sentence or mail of ours as people read it: a month as "October
 * 2026", `brief` "Oct 2026", a day as "1 Oct 2026", a time as "1 Oct 2026 00:00
 * UTC-4", and hours and kWh with one decimal. The
 * arguments of a command in it stay as they are typed. `blank` is between the
 * words of a date. */
void render_readable_text (buffer_t *out, const char *text, bool brief,
                           const char *blank);

#endif /* !GL_RENDER_RENDER_H */
