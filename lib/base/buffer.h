/*
 * buffer.h: a growing string.
 *
 * Invariant: data is NUL-terminated at data[length] whenever it is not NULL.
 * `buffer_t b = BUFFER_INIT;` allocates nothing. Aborts on exhausted memory
 * (base/memory.h). Not for use by two threads at once.
 */
#ifndef GL_BASE_BUFFER_H
#define GL_BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    char *data;
    size_t length;
    size_t size;
} buffer_t;

#define BUFFER_INIT {NULL, 0, 0}

void buffer_add (buffer_t *b, const void *data, size_t length);
/* Inline: the length of a literal is a constant. */
static inline void buffer_add_text (buffer_t *b, const char *text)
{
    buffer_add (b, text, strlen (text));
}
/* Inline: called for single bytes of pages and rows. */
static inline void buffer_add_char (buffer_t *b, char c)
{
    if (b->length + 1 >= b->size) {
        buffer_add (b, &c, 1);
        return;
    }
    b->data[b->length++] = c;
    b->data[b->length] = '\0';
}
void buffer_add_number (buffer_t *b, uint64_t value);
/* With \ \t \n written as a backslash and a letter. */
void buffer_add_escaped (buffer_t *b, const char *text, size_t length);
void buffer_printf (buffer_t *b, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));
/* The same, with a value: return buffer_say (finding, DOCTOR_OK, "%s", file); */
#define buffer_say(b, value, ...) (buffer_printf ((b), __VA_ARGS__), (value))
/* Make room for `extra` more bytes; returns where they may be written. The
 * caller adds to length what it wrote. */
char *buffer_reserve (buffer_t *b, size_t extra);
/* Forget the content, keep the memory. */
void buffer_clear (buffer_t *b);
/* Free the memory; the buffer is usable again. */
void buffer_done (buffer_t *b);
/* The string, never NULL; borrowed. */
const char *buffer_text (const buffer_t *b);
/* The string, yours to free, never NULL; the buffer is empty afterwards. */
char *buffer_take (buffer_t *b);

#define BUFFER_AUTO __attribute__ ((cleanup (buffer_done))) buffer_t

#endif /* !GL_BASE_BUFFER_H */
