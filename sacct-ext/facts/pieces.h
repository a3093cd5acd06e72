/*
 * pieces.h: lines of text in compressed pieces, each of which is a zlib stream of
 * its own and holds whole lines: how the detail of a closed month is kept. Memory
 * holds one piece.
 */
#ifndef GL_PIECES_H
#define GL_PIECES_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

/* --- writing ------------------------------------------------------------- */

/* A whole piece; its bytes are borrowed for the call. -1 with an error to end. */
typedef int (*pieces_put_f) (const buffer_t *piece, void *arg,
                             gl_error_t *error);

typedef struct pieces pieces_t;

pieces_t *pieces_new (pieces_put_f put, void *arg);
/* Accepts NULL; what was not ended is lost. */
void pieces_free (pieces_t *pieces);

/* A line without its end, shorter than a piece. */
int pieces_add (pieces_t *pieces, const char *line, size_t length,
                gl_error_t *error);
/* After the last line. */
int pieces_end (pieces_t *pieces, gl_error_t *error);
/* How many lines there are. */
uint64_t pieces_lines (const pieces_t *pieces);

/* --- reading ------------------------------------------------------------- */

/* The lines of one piece; a line is the callback's to change. */
typedef int (*pieces_f) (char *line, void *arg, gl_error_t *error);
int pieces_each (const void *piece, size_t length, pieces_f callback, void *arg,
                 gl_error_t *error);

#endif /* !GL_PIECES_H */
