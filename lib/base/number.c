#include <string.h>

#include "base/number.h"

int number_u64 (const char *text, size_t length, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (length == 0)
        return -1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        if (__builtin_mul_overflow (value, 10, &value)
            || __builtin_add_overflow (value, text[i] - '0', &value))
            return -1;
    }
    *ret_value = value;
    return 0;
}

int number_i64 (const char *text, size_t length, int64_t *ret_value)
{
    uint64_t magnitude;
    int negative = length > 0 && text[0] == '-';

    if (number_u64 (text + negative, length - negative, &magnitude) < 0)
        return -1;
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return -1;
    *ret_value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return 0;
}

int number_u64_text (const char *text, uint64_t *ret_value)
{
    return number_u64 (text, strlen (text), ret_value);
}

int number_i64_text (const char *text, int64_t *ret_value)
{
    return number_i64 (text, strlen (text), ret_value);
}

/* --- decimals ------------------------------------------------------------------ */

/* An exponent of more digits is no number that anybody means. */
#define EXPONENT_DIGITS 4

/* What a text is made of. */
struct decimal {
    const char *digits; /* of which one may be the point */
    size_t length;
    int64_t point; /* so many digits are before it */
};

static int read_exponent (const char *text, size_t length, int64_t *ret_value)
{
    bool minus = length > 0 && text[0] == '-';
    bool sign = minus || (length > 0 && text[0] == '+');
    uint64_t value;

    if (length - sign > EXPONENT_DIGITS
        || number_u64 (text + sign, length - sign, &value) < 0)
        return -1;
    *ret_value = minus ? -(int64_t)value : (int64_t)value;
    return 0;
}

static int read_decimal (const char *text, size_t length, struct decimal *d)
{
    size_t end = 0, point = length, digits = 0;
    int64_t exponent = 0;

    for (; end < length && text[end] != 'e' && text[end] != 'E'; end++) {
        if (text[end] == '.' && point == length)
            point = end;
        else if (text[end] < '0' || text[end] > '9')
            return -1;
        else
            digits++;
    }
    if (digits == 0
        || (end < length
            && read_exponent (text + end + 1, length - end - 1, &exponent) < 0))
        return -1;
    *d = (struct decimal){text, end,
                          (int64_t)(point < end ? point : end) + exponent};
    return 0;
}

static int add_digit (uint64_t *value, unsigned digit)
{
    return __builtin_mul_overflow (*value, 10, value)
                   || __builtin_add_overflow (*value, digit, value)
               ? -1
               : 0;
}

int number_decimal (const char *text, size_t length, uint64_t *ret_whole,
                    bool *ret_exact)
{
    struct decimal d;
    uint64_t whole = 0;
    int64_t at = 0;
    bool exact = true;

    if (read_decimal (text, length, &d) < 0)
        return -1;
    for (size_t i = 0; i < d.length; i++) {
        if (d.digits[i] == '.')
            continue;
        if (at++ >= d.point)
            exact = exact && d.digits[i] == '0';
        else if (add_digit (&whole, (unsigned)(d.digits[i] - '0')) < 0)
            return -1;
    }
    for (; at < d.point && whole > 0; at++)
        if (add_digit (&whole, 0) < 0)
            return -1;
    *ret_whole = whole;
    *ret_exact = exact;
    return 0;
}

size_t number_write (char *to, uint64_t value, size_t digits)
{
    size_t length = 1;

    for (uint64_t rest = value; rest >= 10; rest /= 10)
        length++;
    if (length < digits)
        length = digits;
    for (size_t at = length; at > 0; value /= 10)
        to[--at] = (char)('0' + value % 10);
    return length;
}
