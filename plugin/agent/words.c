#include <config.h>

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"

#include "words.h"

static const char digits[] = "0123456789abcdef";

static bool is_plain (unsigned char c)
{
    return c < 0x80 && (isalnum (c) || (c && strchr ("._:/-+,", c)));
}

void words_add_text (buffer_t *out, const char *text)
{
    buffer_add_char (out, ' ');
    if (!*text)
        buffer_add_char (out, '%');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (is_plain (c))
            buffer_add_char (out, (char)c);
        else
            buffer_printf (out, "%%%02x", c);
    }
}

void words_add_number (buffer_t *out, int64_t number)
{
    buffer_printf (out, " %" PRId64, number);
}

void words_add_numbers (buffer_t *out, const int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words_add_number (out, numbers[i]);
}

void words_add_fields (buffer_t *out, const void *of,
                       const words_field_t *fields, size_t count)
{
    for (const words_field_t *f = fields; f < fields + count; f++) {
        const void *at = (const char *)of + f->offset;

        if (f->size)
            words_add_text (out, at);
        else
            words_add_number (out, *(const int64_t *)at);
    }
}

void words_add_bytes (buffer_t *out, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;

    buffer_add_char (out, ' ');
    for (size_t i = 0; i < size; i++) {
        buffer_add_char (out, digits[byte[i] >> 4]);
        buffer_add_char (out, digits[byte[i] & 15]);
    }
}

/* The next word and its length, 0 when there is none. */
static size_t next_word (const char **cursor, const char **ret_word)
{
    size_t length;

    *cursor += strspn (*cursor, " ");
    length = strcspn (*cursor, " \n");
    *ret_word = *cursor;
    *cursor += length;
    return length;
}

static int hex_value (char c)
{
    const char *at = c ? strchr (digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

static bool hex_byte (const char *text, unsigned char *ret_byte)
{
    int high = hex_value (text[0]), low = high < 0 ? -1 : hex_value (text[1]);

    if (low < 0)
        return false;
    *ret_byte = (unsigned char)(high << 4 | low);
    return true;
}

bool words_text (const char **cursor, char *ret_text, size_t size)
{
    const char *word;
    size_t length = next_word (cursor, &word), n = 0;
    unsigned char byte;

    if (length == 0 || size == 0)
        return false;
    if (length == 1 && *word == '%')
        length = 0;
    for (size_t i = 0; i < length; i++) {
        byte = (unsigned char)word[i];
        if (word[i] == '%') {
            if (i + 2 >= length || !hex_byte (word + i + 1, &byte) || !byte)
                return false;
            i += 2;
        }
        if (n + 1 >= size)
            return false;
        ret_text[n++] = (char)byte;
    }
    ret_text[n] = '\0';
    return true;
}

bool words_number (const char **cursor, int64_t *ret_number)
{
    const char *word;
    size_t length = next_word (cursor, &word);

    return number_i64 (word, length, ret_number) == 0;
}

bool words_numbers (const char **cursor, int64_t *ret_numbers, size_t count)
{
    return !GL_ANY (ret_numbers, count, it, !words_number (cursor, it));
}

bool words_fields (const char **cursor, void *of, const words_field_t *fields,
                   size_t count)
{
    bool read = true;

    for (size_t i = 0; read && i < count; i++) {
        void *at = (char *)of + fields[i].offset;

        read = fields[i].size ? words_text (cursor, at, fields[i].size)
                              : words_number (cursor, at);
    }
    return read;
}

size_t words_some_bytes (const char **cursor, void *ret_bytes, size_t max)
{
    const char *word;
    size_t length = next_word (cursor, &word);
    unsigned char *byte = ret_bytes;

    if (length % 2 != 0 || length / 2 > max)
        return 0;
    for (size_t i = 0; i < length; i += 2) {
        if (!hex_byte (word + i, byte + i / 2))
            return 0;
    }
    return length / 2;
}

bool words_bytes (const char **cursor, void *ret_bytes, size_t size)
{
    return words_some_bytes (cursor, ret_bytes, size) == size;
}

bool words_is (const char **cursor, const char *word)
{
    const char *at = *cursor, *found;
    size_t length = next_word (&at, &found);

    if (length != strlen (word) || strncmp (found, word, length) != 0)
        return false;
    *cursor = at;
    return true;
}

bool words_end (const char *cursor)
{
    return cursor[strspn (cursor, " \n")] == '\0';
}
