/*
 * csv.h: comma-separated values (RFC 4180) read record by record: quoted cells with
 * commas, line ends and "" in them, CRLF or LF, a byte order mark before the first.
 *
 * A record has at most CSV_MAX bytes, with one more for each cell; a longer one is an
 * error, so that memory is bounded for any stream. The stream stays the caller's;
 * csv_done() frees all else. An object belongs to one thread.
 */
#ifndef GL_BASE_CSV_H
#define GL_BASE_CSV_H

#include <stddef.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/error.h"

#define CSV_MAX ((size_t)1 << 20)

typedef struct {
    FILE *stream;
    char **cell; /* of the last record, valid until the next */
    size_t count;
    size_t line; /* where it begins, from 1 on */
    size_t next; /* the line behind it */
    buffer_t text;
} csv_t;

#define CSV_INIT(stream_)            \
    (csv_t)                          \
    {                                \
        .stream = stream_, .next = 1 \
    }

/* 1 with a record; empty lines are none. 0: the end. -1 with what is wrong in
 * `line`. */
int csv_next (csv_t *csv, gl_error_t *error);
void csv_done (csv_t *csv);

#endif /* !GL_BASE_CSV_H */
