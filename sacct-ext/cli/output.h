/*
 * output.h: the output options that every report has, and writing it out.
 */
#ifndef GL_OUTPUT_H
#define GL_OUTPUT_H

#include <sys/types.h>

#include "cli/cli.h"
#include "render/render.h"
#include "report/report.h"

enum {
    OUTPUT_CSV = CLI_LONG + 500,
    OUTPUT_JSON,
    OUTPUT_HTML,
    OUTPUT_FILE,
    OUTPUT_SORT,
    OUTPUT_LIMIT,
};

/* Rows of a verb's option table. */
#define OUTPUT_OPTIONS                                                         \
    {'P', "parsable2", NULL, "fields separated by '|', with a header"},        \
        {OUTPUT_CSV, "csv", NULL, "comma-separated values (RFC 4180)"},        \
        {OUTPUT_JSON, "json", NULL, "JSON; money and 64-bit ids are strings"}, \
        {OUTPUT_HTML, "html", NULL, "one self-contained page, fit for print"}, \
        {'o', "format", "FIELDS",                                              \
         "these fields, in this order, separated by commas"},                  \
        {'w', "wide", NULL, "all columns, however narrow the terminal is"},    \
        {OUTPUT_SORT, "sort", "FIELDS",                                        \
         "order the rows by these fields, -FIELD from the largest down:\n"     \
         "--sort -charge,account"},                                            \
        {OUTPUT_LIMIT, "limit", "N",                                           \
         "the first N rows; totals stay those of all rows"},                   \
        {'n', "noheader", NULL, "rows alone: no header, no totals, no notes"}, \
    {                                                                          \
        OUTPUT_FILE, "output", "FILE",                                         \
            "write to FILE, which is replaced once it is complete"             \
    }

typedef struct {
    render_format_t format;
    bool format_given;
    bool no_header;
    bool wide;          /* -w */
    const char *fields; /* -o */
    const char *sort;   /* --sort */
    size_t limit;       /* --limit; 0: all rows */
    const char *file;   /* NULL: standard output */
    mode_t mode;        /* of the file; 0: 0666 less the umask */
} output_t;

/* Into an output_t, as a cli_group_t. */
int output_option (cli_t *cli, void *into, int option, const char *value);

/* Selects the fields, renders and writes; tells warnings that the format has no
 * place for. Returns an exit code. */
int output_report (cli_t *cli, const output_t *output, report_t *report);
/* The same for a report whose fields are selected: `fields` is not read. Rows
 * are ordered and limited here. */
int output_selected (cli_t *cli, const output_t *output, report_t *report);
/* Content that comes bit by bit. NULL: it cannot be opened, already told. */
typedef struct output_stream output_stream_t;
output_stream_t *output_open (cli_t *cli, const output_t *output);
/* -1: it cannot be written, already told. */
int output_write (cli_t *cli, output_stream_t *stream, const void *data,
                  size_t length);
/* Only a complete one replaces a file. Returns an exit code. Accepts NULL. */
int output_close (cli_t *cli, output_stream_t *stream, bool complete);
/* Writes what is rendered already. */
int output_bytes (cli_t *cli, const output_t *output, const void *data,
                  size_t length);
/* An option that gives a report another form than its own was used. */
bool output_formed (const output_t *output);
/* Colours are for a terminal that wants them. */
bool output_colour (const output_t *output);

#endif /* !GL_OUTPUT_H */
