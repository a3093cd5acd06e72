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
