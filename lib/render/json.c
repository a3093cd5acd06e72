#include "render/escape.h"
#include "render/json.h"

#define DEPTH_OF_LINES 2

static void begin_line (json_t *json)
{
    buffer_add_char (json->out, '\n');
    for (int i = 0; i < json->depth; i++)
        buffer_add (json->out, "  ", 2);
}

static void separate (json_t *json)
{
    bool lines = json->depth > 0 && json->depth <= DEPTH_OF_LINES;

    if (!json->first)
        buffer_add (json->out, ", ", lines ? 1 : 2);
    if (lines)
        begin_line (json);
    json->first = false;
}

static void begin_value (json_t *json, const char *key)
{
    if (!json->keyed)
        separate (json);
    json->keyed = false;
    if (key)
        json_quote (json->out, key);
}

void json_quote (buffer_t *out, const char *key)
{
    escape_json (out, key);
    buffer_add_text (out, ": ");
}

void json_key (json_t *json, const buffer_t *quoted)
{
    separate (json);
    buffer_add (json->out, quoted->data, quoted->length);
    json->keyed = true;
}

static void open_value (json_t *json, const char *key, char bracket)
{
    begin_value (json, key);
    buffer_add_char (json->out, bracket);
    json->depth++;
    json->first = true;
}

static void close_value (json_t *json, char bracket)
{
    json->depth--;
    if (json->depth < DEPTH_OF_LINES && !json->first)
        begin_line (json);
    buffer_add_char (json->out, bracket);
    json->first = false;
    if (json->depth == 0)
        buffer_add_char (json->out, '\n');
}

void json_object (json_t *json, const char *key)
{
    open_value (json, key, '{');
}

void json_array (json_t *json, const char *key)
{
    open_value (json, key, '[');
}

void json_end_object (json_t *json)
{
    close_value (json, '}');
}

void json_end_array (json_t *json)
{
    close_value (json, ']');
}

void json_string (json_t *json, const char *key, const char *value)
{
    begin_value (json, key);
    if (value)
        escape_json (json->out, value);
    else
        buffer_add_text (json->out, "null");
}

void json_number (json_t *json, const char *key, const char *value)
{
    begin_value (json, key);
    buffer_add_text (json->out, value ? value : "null");
}

void json_u64 (json_t *json, const char *key, uint64_t value)
{
    begin_value (json, key);
    buffer_add_number (json->out, value);
}

void json_bool (json_t *json, const char *key, bool value)
{
    begin_value (json, key);
    buffer_add_text (json->out, value ? "true" : "false");
}
