/*
 * words.h: the lines of the agent's state file: words separated by one blank.
 * A text is written with %XX for all but letters, digits and a few signs, an
 * empty one as "%"; bytes as hexadecimal digits.
 */
#ifndef GL_AGENT_WORDS_H
#define GL_AGENT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

void words_add_text (buffer_t *out, const char *text);
void words_add_number (buffer_t *out, int64_t number);
void words_add_numbers (buffer_t *out, const int64_t *numbers, size_t count);
void words_add_bytes (buffer_t *out, const void *bytes, size_t size);

/* Members of a struct, a word each. */
typedef struct {
    size_t offset;
    size_t size; /* of a text; 0: an int64_t */
} words_field_t;
#define WORDS_NUMBER(type, member) \
    {                              \
        offsetof (type, member), 0 \
    }
#define WORDS_TEXT(type, member)                              \
    {                                                         \
        offsetof (type, member), sizeof (((type *)0)->member) \
    }
void words_add_fields (buffer_t *out, const void *of,
                       const words_field_t *fields, size_t count);

/* Reading: each takes the next word of *cursor. False when there is none or it
 * is not one of its kind; the result is then undefined. */
bool words_text (const char **cursor, char *ret_text, size_t size);
bool words_number (const char **cursor, int64_t *ret_number);
bool words_numbers (const char **cursor, int64_t *ret_numbers, size_t count);
bool words_fields (const char **cursor, void *of, const words_field_t *fields,
                   size_t count);
/* Exactly `size` bytes. */
bool words_bytes (const char **cursor, void *ret_bytes, size_t size);
/* At most `max` bytes; returns how many, 0 on failure. */
size_t words_some_bytes (const char **cursor, void *ret_bytes, size_t max);
/* The next word is this one. Does not take it otherwise. */
bool words_is (const char **cursor, const char *word);
/* Nothing is left. */
bool words_end (const char *cursor);

#endif /* !GL_AGENT_WORDS_H */
