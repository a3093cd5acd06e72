#include "replay_word.h"

#include <string.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "base/number.h"

#define SECOND INT64_C (1000000000)

/* -------------------------------------------------------------------- words */

bool word_is (word_t word, const char *text)
{
    return word.length == strlen (text)
           && !memcmp (word.text, text, word.length);
}

static bool is_blank (char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit (char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter (char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool word_is_name (word_t word, size_t longest)
{
    if (word.length == 0 || word.length > longest)
        return false;
    for (size_t i = 0; i < word.length; i++) {
        char c = word.text[i];

        if (!is_digit (c) && !is_letter (c) && c != '.' && c != '_' && c != '-')
            return false;
    }
    return true;
}

/* Where a word ends: at a blank, but not at one within "...". */
static size_t word_length (word_t line)
{
    bool quoted = false;
    size_t i;

    for (i = 0; i < line.length; i++) {
        if (line.text[i] == '"')
            quoted = !quoted;
        else if (!quoted && is_blank (line.text[i]))
            break;
    }
    return i;
}

bool word_next (word_t *line, word_t *ret_word)
{
    while (line->length && is_blank (*line->text)) {
        line->text++;
        line->length--;
    }
    if (!line->length || *line->text == '#')
        return false;
    *ret_word = (word_t){line->text, word_length (*line)};
    line->text += ret_word->length;
    line->length -= ret_word->length;
    return true;
}

void word_split (word_t word, word_t *ret_key, word_t *ret_value)
{
    const char *equals = memchr (word.text, '=', word.length);

    *ret_key = word;
    *ret_value = (word_t){NULL, 0};
    if (equals) {
        ret_key->length = equals - word.text;
        *ret_value = (word_t){equals + 1, word.length - ret_key->length - 1};
    }
}

word_t word_unquoted (word_t word)
{
    if (word.length >= 2 && word.text[0] == '"'
        && word.text[word.length - 1] == '"')
        return (word_t){word.text + 1, word.length - 2};
    return word;
}

/* ------------------------------------------------------------------ numbers */

static int64_t clipped (uint64_t number)
{
    return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

bool word_count (word_t word, int64_t *ret)
{
    uint64_t number;

    if (number_u64 (word.text, word.length, &number) < 0)
        return false;
    *ret = clipped (number);
    return true;
}

static bool hexadecimal (word_t word, int64_t *ret)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t number = 0;

    if (word.length < 1 || word.length > 16)
        return false;
    for (size_t i = 0; i < word.length; i++) {
        const char *digit = memchr (digits, word.text[i] | 0x20, 16);

        if (!digit)
            return false;
        number = number << 4 | (uint64_t)(digit - digits);
    }
    *ret = clipped (number);
    return true;
}

bool word_bits (word_t word, int64_t *ret)
{
    if (word.length > 1 && word.text[0] == '0' && word.text[1] == 'x')
        return hexadecimal ((word_t){word.text + 2, word.length - 2}, ret);
    return word_count (word, ret);
}

/* N[.F...] in units of 10^-places. */
static bool decimal (word_t word, unsigned places, uint64_t most, int64_t *ret)
{
    const char *point = memchr (word.text, '.', word.length);
    size_t whole_length = point ? (size_t)(point - word.text) : word.length;
    size_t length = point ? word.length - whole_length - 1 : 0;
    uint64_t whole, part = 0;

    if (number_u64 (word.text, whole_length, &whole) < 0 || whole > most)
        return false;
    if (point
        && (length == 0 || length > places
            || number_u64 (point + 1, length, &part) < 0))
        return false;
    for (size_t i = 0; i < places; i++) {
        whole *= 10;
        if (i >= length)
            part *= 10;
    }
    *ret = (int64_t)(whole + part);
    return true;
}

bool word_percent (word_t word, int64_t *ret)
{
    /* what a driver can say: 32 bits */
    return decimal (word, 2, UINT32_MAX, ret);
}

/* -------------------------------------------------------------------- times */

static const struct {
    const char *name;
    int64_t nanoseconds;
} units[] = {
    {"ms", SECOND / 1000}, {"s", SECOND},         {"m", 60 * SECOND},
    {"h", 3600 * SECOND},  {"d", 86400 * SECOND},
};

static int64_t unit_of (word_t word)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (units); i++)
        if (word_is (word, units[i].name))
            return units[i].nanoseconds;
    return 0;
}

bool word_duration (word_t word, int64_t *ret)
{
    size_t number = 0;
    int64_t unit, thousandths;

    while (number < word.length
           && (is_digit (word.text[number]) || word.text[number] == '.'))
        number++;
    unit = unit_of ((word_t){word.text + number, word.length - number});
    if (!unit
        || !decimal ((word_t){word.text, number}, 3, UINT32_MAX, &thousandths)
        || thousandths > INT64_MAX / 4 / unit * 1000)
        return false;
    *ret = thousandths / 1000 * unit + thousandths % 1000 * (unit / 1000);
    return true;
}

/* Two digits, the first of the text. */
static int two_digits (const char *text)
{
    return is_digit (text[0]) && is_digit (text[1])
               ? (text[0] - '0') * 10 + (text[1] - '0')
               : -1;
}

/* .5 and the like, in nanoseconds. */
static bool fraction_of (word_t word, int64_t *ret)
{
    char text[12] = "0";

    if (*word.text != '.' || word.length > 10)
        return false;
    memcpy (text + 1, word.text, word.length);
    return decimal ((word_t){text, word.length + 1}, 9, 0, ret);
}

bool word_instant (word_t word, int64_t *ret)
{
    static const char form[] = "yyyy-mm-ddThh:mm:ss";
    size_t length = sizeof (form) - 1;
    int64_t fraction = 0;
    civil_t civil;

    if (word.length <= length || word.text[word.length - 1] != 'Z'
        || word.text[10] != 'T' || word.text[13] != ':' || word.text[16] != ':'
        || calendar_parse_date (word.text, 10, &civil) < 0)
        return false;
    civil.hour = two_digits (word.text + 11);
    civil.minute = two_digits (word.text + 14);
    civil.second = two_digits (word.text + 17);
    if (!civil_valid (&civil) || civil.year < 1970 || civil.year > 2099)
        return false;
    if (word.length > length + 1
        && !fraction_of ((word_t){word.text + length, word.length - length - 1},
                         &fraction))
        return false;
    *ret = civil_seconds (&civil) * SECOND + fraction;
    return true;
}
