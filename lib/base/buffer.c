#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/number.h"

static void grow (buffer_t *b, size_t need)
{
    size_t size = b->size ? b->size : 64;

    while (size < need)
        size *= 2;
    b->data = xrealloc (b->data, size);
    b->size = size;
    b->data[b->length] = '\0';
}

char *buffer_reserve (buffer_t *b, size_t extra)
{
    size_t need = b->length + extra + 1;

    if (need > b->size)
        grow (b, need);
    return b->data + b->length;
}

/* A function of its own, so that the usual way needs no stack. */
static __attribute__ ((noinline)) void
grow_and_add (buffer_t *b, const void *data, size_t length)
{
    grow (b, b->length + length + 1);
    buffer_add (b, data, length);
}

void buffer_add (buffer_t *b, const void *data, size_t length)
{
    char *p;

    if (length >= b->size - b->length) {
        grow_and_add (b, data, length);
        return;
    }
    p = b->data + b->length;
    b->length += length;
    p[length] = '\0';
    if (length)
        memcpy (p, data, length);
}

void buffer_add_number (buffer_t *b, uint64_t value)
{
    b->length += number_write (buffer_reserve (b, NUMBER_MAX), value, 1);
    b->data[b->length] = '\0';
}

void buffer_add_escaped (buffer_t *b, const char *text, size_t length)
{
    const char *end = text + length;

    for (const char *at = text; at < end; at++) {
        /* \t and \n are neighbours */
        if (*at != '\\' && (*at > '\n' || *at < '\t'))
            continue;
        buffer_add (b, text, (size_t)(at - text));
        buffer_add_char (b, '\\');
        buffer_add_char (b, *at == '\t' ? 't' : *at == '\n' ? 'n' : '\\');
        text = at + 1;
    }
    buffer_add (b, text, (size_t)(end - text));
}

void buffer_printf (buffer_t *b, const char *fmt, ...)
{
    size_t room = b->size - b->length;
    va_list ap;
    int n;

    /* mostly there is room for it */
    va_start (ap, fmt);
    n = vsnprintf (b->data ? b->data + b->length : NULL, room, fmt, ap);
    va_end (ap);
    if (n > 0 && (size_t)n >= room) {
        buffer_reserve (b, (size_t)n);
        va_start (ap, fmt);
        vsnprintf (b->data + b->length, (size_t)n + 1, fmt, ap);
        va_end (ap);
    }
    if (n > 0)
        b->length += (size_t)n;
    else if (b->data)
        b->data[b->length] = '\0';
}

void buffer_clear (buffer_t *b)
{
    b->length = 0;
    if (b->data)
        b->data[0] = '\0';
}

void buffer_done (buffer_t *b)
{
    free (b->data);
    *b = (buffer_t)BUFFER_INIT;
}

const char *buffer_text (const buffer_t *b)
{
    return b->data ? b->data : "";
}

char *buffer_take (buffer_t *b)
{
    char *text = b->data ? b->data : xstrdup ("");

    *b = (buffer_t)BUFFER_INIT;
    return text;
}
