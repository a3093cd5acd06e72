#include <string.h>

#include <zlib.h>

#include "base/memory.h"
#include "pieces.h"
#include "store/chain.h"

/* What zlib cannot compress grows by little more than 0.03 %: it stays below
 * CHAIN_BODY_MAX. */
#define PIECE_TEXT ((size_t)1000000)

static int compress_piece (pieces_t *p, gl_error_t *error)
{
    uLongf size = compressBound (p->text.length);
    buffer_t *piece;

    p->item = xreallocarray (p->item, p->count + 1, sizeof (*p->item));
    piece = &p->item[p->count++];
    *piece = (buffer_t)BUFFER_INIT;
    if (compress2 ((Bytef *)buffer_reserve (piece, size), &size,
                   (const Bytef *)p->text.data, p->text.length,
                   Z_BEST_COMPRESSION)
        != Z_OK)
        return gl_error (error, "zlib cannot compress the detail");
    piece->length = size;
    buffer_clear (&p->text);
    return 0;
}

int pieces_add (pieces_t *p, const char *line, size_t length, gl_error_t *error)
{
    if (length + 1 > PIECE_TEXT)
        return gl_error (error, "a line of the detail has %zu bytes", length);
    if (p->text.length + length + 1 > PIECE_TEXT
        && compress_piece (p, error) < 0)
        return -1;
    buffer_add (&p->text, line, length);
    buffer_add_char (&p->text, '\n');
    p->lines++;
    return 0;
}

int pieces_end (pieces_t *p, gl_error_t *error)
{
    return p->text.length ? compress_piece (p, error) : 0;
}

void pieces_clear (pieces_t *p)
{
    for (size_t i = 0; i < p->count; i++)
        buffer_done (&p->item[i]);
    free (p->item);
    buffer_done (&p->text);
    *p = (pieces_t)PIECES_INIT;
}

int pieces_each (const void *piece, size_t length, pieces_f callback, void *arg,
                 gl_error_t *error)
{
    GL_AUTOFREE char *text = xmalloc (PIECE_TEXT + 1);
    uLongf size = PIECE_TEXT;
    int rc = 0;

    if (uncompress ((Bytef *)text, &size, piece, length) != Z_OK)
        return gl_error (error, "a piece of the detail is damaged: run gpuledger "
                                "verify");
    text[size] = '\0';
    for (char *line = text, *end; rc == 0 && (end = strchr (line, '\n'));
         line = end + 1) {
        *end = '\0';
        rc = callback (line, arg, error);
    }
    return rc;
}
