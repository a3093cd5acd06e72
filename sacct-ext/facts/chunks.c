#include <string.h>

#include <zlib.h>

#include "base/memory.h"
#include "facts/chunks.h"
#include "store/chain.h"

/* What zlib cannot compress grows by little more than 0.03 %: it stays below
 * CHAIN_BODY_MAX. */
#define PIECE_TEXT ((size_t)1000000)

struct chunks {
    chunks_put_f put;
    void *arg;
    buffer_t text; /* not compressed yet */
    buffer_t chunk;
    uint64_t lines;
};

chunks_t *chunks_new (chunks_put_f put, void *arg)
{
    chunks_t *p = xcalloc (1, sizeof (*p));

    p->put = put;
    p->arg = arg;
    return p;
}

void chunks_free (chunks_t *p)
{
    if (!p)
        return;
    buffer_done (&p->text);
    buffer_done (&p->chunk);
    free (p);
}

static int put_interval (chunks_t *p, gl_error_t *error)
{
    uLongf size = compressBound (p->text.length);

    buffer_clear (&p->chunk);
    if (compress2 ((Bytef *)buffer_reserve (&p->chunk, size), &size,
                   (const Bytef *)p->text.data, p->text.length,
                   Z_DEFAULT_COMPRESSION)
        != Z_OK)
        return gl_error (error, "zlib cannot compress the detail");
    p->chunk.length = size;
    buffer_clear (&p->text);
    return p->put (&p->chunk, p->arg, error);
}

int chunks_add (chunks_t *p, const char *line, size_t length, gl_error_t *error)
{
    if (length + 1 > PIECE_TEXT)
        return gl_error (error, "a line of the detail has %zu bytes", length);
    if (p->text.length + length + 1 > PIECE_TEXT && put_interval (p, error) < 0)
        return -1;
    buffer_add (&p->text, line, length);
    buffer_add_char (&p->text, '\n');
    p->lines++;
    return 0;
}

int chunks_end (chunks_t *p, gl_error_t *error)
{
    return p->text.length ? put_interval (p, error) : 0;
}

uint64_t chunks_lines (const chunks_t *p)
{
    return p->lines;
}

int chunks_each (const void *chunk, size_t length, chunks_f callback, void *arg,
                 gl_error_t *error)
{
    GL_AUTOFREE char *text = xmalloc (PIECE_TEXT + 1);
    uLongf size = PIECE_TEXT;
    int rc = 0;

    if (uncompress ((Bytef *)text, &size, chunk, length) != Z_OK)
        return gl_error (error,
                         "a chunk of the detail is damaged: run gpuledger "
                         "verify");
    text[size] = '\0';
    for (char *line = text, *end; rc == 0 && (end = strchr (line, '\n'));
         line = end + 1) {
        *end = '\0';
        rc = callback (line, arg, error);
    }
    return rc;
}
