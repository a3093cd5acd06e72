#include <string.h>

#include <zlib.h>

#include "base/memory.h"
#include "facts/pieces.h"
#include "store/chain.h"

/* What zlib cannot compress grows by little more than 0.03 %: it stays below
 * CHAIN_BODY_MAX. */
#define PIECE_TEXT ((size_t)1000000)

struct pieces {
    pieces_put_f put;
    void *arg;
    buffer_t text; /* not compressed yet */
    buffer_t piece;
    uint64_t lines;
};

pieces_t *pieces_new (pieces_put_f put, void *arg)
{
    pieces_t *p = xcalloc (1, sizeof (*p));

    p->put = put;
    p->arg = arg;
    return p;
}

void pieces_free (pieces_t *p)
{
    if (!p)
        return;
    buffer_done (&p->text);
    buffer_done (&p->piece);
    free (p);
}

static int put_piece (pieces_t *p, gl_error_t *error)
{
    uLongf size = compressBound (p->text.length);

    buffer_clear (&p->piece);
    if (compress2 ((Bytef *)buffer_reserve (&p->piece, size), &size,
                   (const Bytef *)p->text.data, p->text.length,
                   Z_DEFAULT_COMPRESSION)
        != Z_OK)
        return gl_error (error, "zlib cannot compress the detail");
    p->piece.length = size;
    buffer_clear (&p->text);
    return p->put (&p->piece, p->arg, error);
}

int pieces_add (pieces_t *p, const char *line, size_t length, gl_error_t *error)
{
    if (length + 1 > PIECE_TEXT)
        return gl_error (error, "a line of the detail has %zu bytes", length);
    if (p->text.length + length + 1 > PIECE_TEXT && put_piece (p, error) < 0)
        return -1;
    buffer_add (&p->text, line, length);
    buffer_add_char (&p->text, '\n');
    p->lines++;
    return 0;
}

int pieces_end (pieces_t *p, gl_error_t *error)
{
    return p->text.length ? put_piece (p, error) : 0;
}

uint64_t pieces_lines (const pieces_t *p)
{
    return p->lines;
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
