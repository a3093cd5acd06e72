#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "render/escape.h"

static bool is_control (int32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* Marks that reorder what stands around them, and line separators. */
static bool is_deceptive (int32_t code)
{
    return code == 0x061c || code == 0x200e || code == 0x200f
           || (code >= 0x2028 && code <= 0x202e)
           || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

static void add_hex (buffer_t *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        buffer_printf (out, "\\x%02x", (unsigned char)bytes[i]);
}

/* The formats that take a byte as it is. */
enum { AS_CSV = 1, AS_JSON = 2, AS_HTML = 4, AS_ASCII = 8 };
#define AS_ALL (AS_CSV | AS_JSON | AS_HTML | AS_ASCII)
static const unsigned char plain[256] = {
    [' ' ... '!'] = AS_ALL, ['"'] = AS_ASCII,
    ['#' ... '%'] = AS_ALL, ['&' ... '\''] = AS_ALL & ~AS_HTML,
    ['(' ... '+'] = AS_ALL, [','] = AS_ALL & ~AS_CSV,
    ['-' ... ';'] = AS_ALL, ['<'] = AS_ALL & ~AS_HTML,
    ['='] = AS_ALL,         ['>'] = AS_ALL & ~AS_HTML,
    ['?' ... '['] = AS_ALL, ['\\'] = AS_ALL & ~AS_JSON,
    [']' ... '~'] = AS_ALL,
};

static const char *plain_end (const char *text, unsigned format)
{
    while (plain[(unsigned char)*text] & format)
        text++;
    return text;
}

/* Nearly all text is ASCII that every format takes as it is: its run at the
 * beginning, copied at once. */
static const char *add_plain (buffer_t *out, const char *text, unsigned format)
{
    const char *end = plain_end (text, format);

    buffer_add (out, text, (size_t)(end - text));
    return end;
}

static void visible (buffer_t *out, const char *text, const char *also)
{
    int32_t code;

    for (size_t n; *text; text += n) {
        n = utf8_decode (text, &code);
        if (code < 0 || is_control (code) || is_deceptive (code)
            || (n == 1 && strchr (also, *text)))
            add_hex (out, text, n);
        else
            buffer_add (out, text, n);
    }
}

void escape_visible (buffer_t *out, const char *text)
{
    visible (out, text, "");
}

void escape_ascii (buffer_t *out, const char *text)
{
    int32_t code;

    for (size_t n; *(text = add_plain (out, text, AS_ASCII)); text += n) {
        n = utf8_decode (text, &code);
        if (code < 0x80)
            add_hex (out, text, n);
        else
            buffer_printf (out, code > 0xffff ? "\\U%08x" : "\\u%04x",
                           (unsigned)code);
    }
}

void escape_parsable (buffer_t *out, const char *text)
{
    visible (out, text, "|\\");
}

void escape_csv (buffer_t *out, const char *text, int guard)
{
    const char *end = plain_end (text, AS_CSV);
    bool formula = guard && *text && strchr ("=+-@\t\r", *text);
    bool quoted;
    int32_t code;

    if (!*end && !formula) { /* most texts */
        buffer_add (out, text, (size_t)(end - text));
        return;
    }
    quoted = strpbrk (text, ",\"\r\n") != NULL;
    if (quoted)
        buffer_add_char (out, '"');
    if (formula)
        buffer_add_char (out, '\'');
    for (size_t n; *(text = add_plain (out, text, AS_CSV)); text += n) {
        n = utf8_decode (text, &code);
        if (code < 0 || (is_control (code) && !strchr ("\t\r\n", code)))
            buffer_add_text (out, UTF8_REPLACEMENT);
        else
            buffer_add (out, text, n);
        if (code == '"')
            buffer_add_char (out, '"');
    }
    if (quoted)
        buffer_add_char (out, '"');
}

void escape_json (buffer_t *out, const char *text)
{
    int32_t code;

    buffer_add_char (out, '"');
    for (size_t n; *(text = add_plain (out, text, AS_JSON)); text += n) {
        n = utf8_decode (text, &code);
        if (code < 0)
            buffer_add_text (out, UTF8_REPLACEMENT);
        else if (code == '"' || code == '\\')
            buffer_printf (out, "\\%c", (char)code);
        else if (is_control (code) || is_deceptive (code))
            buffer_printf (out, "\\u%04x", (unsigned)code);
        else
            buffer_add (out, text, n);
    }
    buffer_add_char (out, '"');
}

static const char *html_entity (int32_t code)
{
    switch (code) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void escape_html (buffer_t *out, const char *text)
{
    int32_t code;

    for (size_t n; *(text = add_plain (out, text, AS_HTML)); text += n) {
        const char *entity;
        n = utf8_decode (text, &code);
        entity = html_entity (code);
        if (entity)
            buffer_add_text (out, entity);
        else if (code < 0 || is_deceptive (code) || is_control (code))
            buffer_add_text (out, UTF8_REPLACEMENT);
        else
            buffer_add (out, text, n);
    }
}

/* Takes room and shows nothing, or may end a name. */
static bool is_blank (int32_t code)
{
    return code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200f)
           || code == 0x202f || code == 0x205f || code == 0x2060
           || code == 0x3000;
}

static bool stays_in_journal (const char *text, bool first, int32_t code)
{
    if (code >= 0x80)
        return !is_control (code) && !is_deceptive (code) && !is_blank (code);
    if (code == ' ') /* two, or one at an end, would end the name */
        return !first && text[-1] != ' ' && text[1] && text[1] != ' ';
    return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z')
           || (code >= 'a' && code <= 'z') || code == '-' || code == '_'
           || code == '.' || code == '/';
}

void escape_journal (buffer_t *out, const char *text)
{
    const char *start = text;
    int32_t code;

    if (!*text)
        buffer_add_char (out, '%');
    for (size_t n; *text; text += n) {
        n = utf8_decode (text, &code);
        if (stays_in_journal (text, text == start, code))
            buffer_add (out, text, n);
        else
            for (size_t i = 0; i < n; i++)
                buffer_printf (out, "%%%02X", (unsigned char)text[i]);
    }
}

size_t escape_length (const char *text)
{
    size_t length = 0;
    int32_t code;

    for (; *text; length++)
        text += utf8_decode (text, &code);
    return length;
}
