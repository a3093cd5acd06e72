/*
 * output.h: the output options that every report has, and writing it out.
 */
#ifndef GL_OUTPUT_H
#define GL_OUTPUT_H

#include <sys/types.h>

#include "cli/cli.h"
#include "render/render.h"
#include "report/report.h"

/* Options, as a CLI_GROUP for an output_t. */
extern const cli_option_t output_options[];
/* --json and --output alone. */
extern const cli_option_t output_file_options[];

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

/* Takes --output, for an output_t. */
cli_take_t output_take_file;

/* Selects the fields, renders and writes; prints warnings if the format has no
 * place for them. Returns an exit code. */
int output_report (cli_t *cli, const output_t *output, report_t *report);
/* The same for a report whose fields are selected: `fields` is not read. Rows
 * are ordered and limited here. */
int output_selected (cli_t *cli, const output_t *output, report_t *report);
/* Opens output that is written in parts. NULL: it cannot be opened; the reason
 * was printed. */
typedef struct output_stream output_stream_t;
output_stream_t *output_open (cli_t *cli, const output_t *output);
/* -1: it cannot be written; the reason was printed. */
int output_write (cli_t *cli, output_stream_t *stream, const void *data,
                  size_t length);
/* Only a complete one replaces a file. Returns an exit code. Accepts NULL. */
int output_close (cli_t *cli, output_stream_t *stream, bool complete);
/* Writes what is rendered already. */
int output_bytes (cli_t *cli, const output_t *output, const void *data,
                  size_t length);
/* An option that selects another output format was used. */
bool output_formed (const output_t *output);

#endif /* !GL_OUTPUT_H */
