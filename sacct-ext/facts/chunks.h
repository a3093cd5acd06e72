/*
 * chunks.h: lines of text in compressed chunks, each of which is a zlib stream
 * of its own and holds whole lines: how the detail of a closed month is kept.
 * Memory holds one chunk.
 */
#ifndef GL_CHUNKS_H
#define GL_CHUNKS_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

/* --- writing ------------------------------------------------------------- */

/* A whole chunk; its bytes are borrowed for the call. -1 with an error to end.
 */
typedef int (*chunks_put_f) (const buffer_t *chunk, void *arg,
                             gl_error_t *error);

typedef struct chunks chunks_t;

chunks_t *chunks_new (chunks_put_f put, void *arg);
/* Accepts NULL; what was not ended is lost. */
void chunks_free (chunks_t *chunks);

/* A line without its end, shorter than a chunk. */
int chunks_add (chunks_t *chunks, const char *line, size_t length,
                gl_error_t *error);
/* After the last line. */
int chunks_end (chunks_t *chunks, gl_error_t *error);
/* How many lines there are. */
uint64_t chunks_lines (const chunks_t *chunks);

/* --- reading ------------------------------------------------------------- */

/* The lines of one chunk; a line is the callback's to change. */
typedef int (*chunks_f) (char *line, void *arg, gl_error_t *error);
int chunks_each (const void *chunk, size_t length, chunks_f callback, void *arg,
                 gl_error_t *error);

#endif /* !GL_CHUNKS_H */
