/*
 * pieces.h: lines of text in compressed pieces, each of which is a zlib stream of
 * its own and holds whole lines: how the detail of a closed month is kept.
 */
#ifndef GL_PIECES_H
#define GL_PIECES_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

typedef struct {
    buffer_t text; /* not compressed yet */
    buffer_t *item;
    size_t count;
    uint64_t lines;
} pieces_t;

#define PIECES_INIT {BUFFER_INIT, NULL, 0, 0}

/* A line without its end, shorter than a piece. */
int pieces_add (pieces_t *pieces, const char *line, size_t length,
                gl_error_t *error);
/* After the last line. */
int pieces_end (pieces_t *pieces, gl_error_t *error);
void pieces_clear (pieces_t *pieces);

/* The lines of one piece; a line is the callback's to change. */
typedef int (*pieces_f) (char *line, void *arg, gl_error_t *error);
int pieces_each (const void *piece, size_t length, pieces_f callback, void *arg,
                 gl_error_t *error);

#endif /* !GL_PIECES_H */
