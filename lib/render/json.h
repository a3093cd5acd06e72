/*
 * json.h: a JSON writer that keeps numbers exact: a number is the text that is
 * given. Objects and arrays down to the second level have lines of their own,
 * deeper ones are on one line.
 */
#ifndef GL_RENDER_JSON_H
#define GL_RENDER_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

typedef struct {
    buffer_t *out;
    int depth;
    bool first; /* in the innermost object or array */
    bool keyed; /* the next value has its key */
} json_t;

#define JSON_INIT(buffer)        \
    {                            \
        (buffer), 0, true, false \
    }

/* `key` is NULL inside arrays and at the top. */
void json_object (json_t *json, const char *key);
void json_array (json_t *json, const char *key);
void json_end_object (json_t *json);
void json_end_array (json_t *json);
/* The key of the next value, whose own is NULL, as json_quote() made it: for keys that come
 * again and again. */
void json_key (json_t *json, const buffer_t *quoted);
void json_quote (buffer_t *out, const char *key);
/* A NULL value is null. */
void json_string (json_t *json, const char *key, const char *value);
void json_number (json_t *json, const char *key, const char *value);
void json_u64 (json_t *json, const char *key, uint64_t value);
void json_bool (json_t *json, const char *key, bool value);

#endif /* !GL_RENDER_JSON_H */
