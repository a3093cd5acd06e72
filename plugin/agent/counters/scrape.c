#include <config.h>

#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "scrape.h"

/* --- Prometheus' text format ------------------------------------------------- */

static bool is_blank (char c)
{
    return c == ' ' || c == '\t';
}

static bool is_of_name (char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

/* The end of "{label="value",...}" at `at`; `length` if it has none. In a value a
 * backslash takes the next byte with it. */
static size_t labels_end (const char *line, size_t at, size_t length)
{
    bool quoted = false;

    for (; at < length; at++) {
        if (quoted && line[at] == '\\')
            at++;
        else if (line[at] == '"')
            quoted = !quoted;
        else if (!quoted && line[at] == '}')
            return at + 1;
    }
    return length;
}

static void add_sample (scrape_counter_t *counter, const char *value,
                        size_t length)
{
    uint64_t whole;
    bool exact;

    counter->seen = true;
    if (number_decimal (value, length, &whole, &exact) < 0
        || __builtin_add_overflow (counter->value, whole, &counter->value)
        || counter->value > INT64_MAX)
        counter->broken = true;
}

void scrape_line (scrape_counter_t *counter, size_t count, const char *line,
                  size_t length)
{
    size_t name = 0, at, end;

    while (name < length && is_of_name (line[name]))
        name++;
    at = name < length && line[name] == '{' ? labels_end (line, name, length)
                                            : name;
    while (at < length && is_blank (line[at]))
        at++;
    for (end = at; end < length && !is_blank (line[end]); end++)
        ;
    if (end == at)
        return;
    for (size_t i = 0; i < count; i++)
        if (strlen (counter[i].name) == name
            && !memcmp (counter[i].name, line, name))
            add_sample (&counter[i], line + at, end - at);
}

/* --- HTTP ---------------------------------------------------------------------- */

void scrape_begin (scrape_t *s, scrape_counter_t *counter, size_t count)
{
    memset (s, 0, sizeof (*s));
    s->counter = counter;
    s->count = count;
    for (size_t i = 0; i < count; i++)
        counter[i] = (scrape_counter_t){.name = counter[i].name};
}

static int take_status (scrape_t *s, gl_error_t *error)
{
    if (s->head_length < 12 || strncmp (s->head, "HTTP/1.", 7) != 0
        || s->head[8] != ' ')
        return gl_error (error, "the answer is not HTTP");
    if (strncmp (s->head + 9, "200", 3) != 0
        || (s->head_length > 12 && s->head[12] != ' '))
        return gl_error (error, "the answer is status %.3s, not 200",
                         s->head + 9);
    s->state = SCRAPE_HEADER;
    return 0;
}

/* The value of the header, if it is of this name. */
static const char *header (const scrape_t *s, const char *name)
{
    size_t length = strlen (name);
    const char *value = s->head + length + 1;

    if (strncasecmp (s->head, name, length) != 0 || s->head[length] != ':')
        return NULL;
    while (is_blank (*value))
        value++;
    return value;
}

static int take_header (scrape_t *s, gl_error_t *error)
{
    const char *value;

    if (s->head_length == 0) {
        s->state = s->chunked ? SCRAPE_CHUNK : SCRAPE_BODY;
        if (s->state == SCRAPE_BODY && s->sized && s->left == 0)
            s->state = SCRAPE_DONE;
        return 0;
    }
    if ((value = header (s, "Transfer-Encoding"))) {
        if (strcasecmp (value, "chunked") != 0)
            return gl_error (error, "the answer has an unknown encoding");
        s->chunked = true;
    }
    if ((value = header (s, "Content-Encoding"))
        && strcasecmp (value, "identity") != 0)
        return gl_error (error, "the answer has an unknown encoding");
    if ((value = header (s, "Content-Length"))) {
        if (number_u64_text (value, &s->left) < 0)
            return gl_error (error, "the answer has no valid length");
        s->sized = true;
    }
    return 0;
}

static int digit_of (char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* "1f4;extension" */
static int take_chunk (scrape_t *s, gl_error_t *error)
{
    size_t i = 0;

    s->left = 0;
    for (; i < s->head_length && i < 8 && digit_of (s->head[i]) >= 0; i++)
        s->left = s->left * 16 + (uint64_t)digit_of (s->head[i]);
    if (i == 0
        || (i < s->head_length && s->head[i] != ';' && s->head[i] != ' '))
        return gl_error (error, "a part of the answer has no valid length");
    s->sized = true;
    s->state = s->left > 0 ? SCRAPE_BODY : SCRAPE_DONE;
    return 0;
}

static void take_text (scrape_t *s)
{
    if (!s->too_long)
        scrape_line (s->counter, s->count, s->line, s->length);
    s->length = 0;
    s->too_long = false;
}

static void take_body (scrape_t *s, char byte)
{
    if (byte == '\n')
        take_text (s);
    else if (s->length < sizeof (s->line))
        s->line[s->length++] = byte;
    else
        s->too_long = true;
    if (s->sized && --s->left == 0)
        s->state = s->chunked ? SCRAPE_CHUNK_END : SCRAPE_DONE;
}

/* A line of HTTP is complete. */
static int take_head (scrape_t *s, gl_error_t *error)
{
    static int (*const takes[]) (scrape_t * s, gl_error_t * error)
        = {[SCRAPE_STATUS] = take_status,
           [SCRAPE_HEADER] = take_header,
           [SCRAPE_CHUNK] = take_chunk};
    int rc = 0;

    if (s->head_length > 0 && s->head[s->head_length - 1] == '\r')
        s->head_length--;
    s->head[s->head_length] = '\0';
    if (s->state == SCRAPE_CHUNK_END)
        s->state = SCRAPE_CHUNK;
    else
        rc = takes[s->state](s, error);
    s->head_length = 0;
    return rc;
}

static int take_byte (scrape_t *s, char byte, gl_error_t *error)
{
    if (s->state == SCRAPE_BODY) {
        take_body (s, byte);
        return 0;
    }
    if (byte == '\n')
        return take_head (s, error);
    if (s->head_length == sizeof (s->head) - 1)
        return gl_error (error, "the answer has a header of %d bytes and more",
                         SCRAPE_HEAD_MAX);
    s->head[s->head_length++] = byte;
    return 0;
}

static int finish (scrape_t *s)
{
    if (s->length > 0)
        take_text (s);
    s->state = SCRAPE_DONE;
    return 1;
}

int scrape_feed (scrape_t *s, const char *bytes, size_t size, gl_error_t *error)
{
    for (size_t i = 0; i < size && s->state != SCRAPE_DONE; i++) {
        if (++s->bytes > SCRAPE_BYTES_MAX)
            return gl_error (error, "the answer has more than %d bytes",
                             SCRAPE_BYTES_MAX);
        if (take_byte (s, bytes[i], error) < 0)
            return -1;
    }
    return s->state == SCRAPE_DONE ? finish (s) : 0;
}

int scrape_end (scrape_t *s, gl_error_t *error)
{
    if (s->state == SCRAPE_DONE || (s->state == SCRAPE_BODY && !s->sized)) {
        finish (s);
        return 0;
    }
    return gl_error (error, "the answer is cut off");
}
