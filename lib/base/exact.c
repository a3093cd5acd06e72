#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/number.h"

static int not_a_number (const char *text, gl_error_t *error)
{
    return gl_error (error,
                     "'%.60s' is not a number; write digits with at most one "
                     "point, e.g. 1250.50",
                     text);
}

static int parse_digits (const char *text, size_t length, mpq_t value)
{
    char digits[EXACT_TEXT_MAX + 1];
    size_t n = 0, start = length > 0 && text[0] == '-', point = length;

    if (length - start < 1 || length > EXACT_TEXT_MAX)
        return -1;
    for (size_t i = start; i < length; i++) {
        if (text[i] == '.' && point == length && i > start && i + 1 < length)
            point = i;
        else if (text[i] >= '0' && text[i] <= '9')
            digits[n++] = text[i];
        else
            return -1;
    }
    digits[n] = '\0';
    mpz_set_str (mpq_numref (value), digits, 10);
    mpz_ui_pow_ui (mpq_denref (value), 10,
                   point < length ? length - point - 1 : 0);
    if (start)
        mpq_neg (value, value);
    mpq_canonicalize (value);
    return 0;
}

int exact_parse (const char *text, mpq_t value, gl_error_t *error)
{
    if (parse_digits (text, strlen (text), value) < 0)
        return not_a_number (text, error);
    return 0;
}

int exact_parse_ratio (const char *text, mpq_t value, gl_error_t *error)
{
    size_t length = strlen (text);
    bool percent = length > 0 && text[length - 1] == '%';

    if (parse_digits (text, length - percent, value) < 0)
        return gl_error (
            error, "'%.60s' is not a share; write e.g. 10%% or 0.1", text);
    if (percent) {
        mpz_mul_ui (mpq_denref (value), mpq_denref (value), 100);
        mpq_canonicalize (value);
    }
    return 0;
}

static void set_i64 (mpz_t value, int64_t number)
{
    uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    if (number >= LONG_MIN && number <= LONG_MAX) {
        mpz_set_si (value, (long)number);
        return;
    }
    mpz_import (value, 1, 1, sizeof (magnitude), 0, 0, &magnitude);
    if (number < 0)
        mpz_neg (value, value);
}

bool exact_is_storable (const mpz_t units)
{
    mpz_t most;
    bool is;

    mpz_init (most);
    mpz_ui_pow_ui (most, 10, EXACT_UNITS_DIGITS);
    is = mpz_cmpabs (units, most) < 0;
    mpz_clear (most);
    return is;
}

void exact_set_i64 (mpq_t value, int64_t numerator, int64_t denominator)
{
    set_i64 (mpq_numref (value), numerator);
    set_i64 (mpq_denref (value), denominator);
    if (denominator != 1)
        mpq_canonicalize (value);
}

void exact_set_u128 (mpz_t value, unsigned __int128 number)
{
    uint64_t words[2] = {(uint64_t)(number >> 64), (uint64_t)number};

    if (number <= ULONG_MAX) {
        mpz_set_ui (value, (unsigned long)number);
        return;
    }
    mpz_import (value, 2, 1, sizeof (words[0]), 0, 0, words);
}

void exact_add_scaled (mpq_t value, const mpq_t a, int64_t numerator,
                       int64_t denominator)
{
    mpq_t factor;

    mpq_init (factor);
    exact_set_i64 (factor, numerator, denominator);
    mpq_mul (factor, factor, a);
    exact_add (value, factor);
    mpq_clear (factor);
}

/* Adds an integer: a fraction in lowest terms stays one. */
static void add_integer (mpq_t to, mpz_srcptr value, bool subtract)
{
    if (exact_is_integer (to))
        (subtract ? mpz_sub : mpz_add) (mpq_numref (to), mpq_numref (to),
                                        value);
    else
        (subtract ? mpz_submul : mpz_addmul) (mpq_numref (to), value,
                                              mpq_denref (to));
}

void exact_add (mpq_t to, const mpq_t value)
{
    if (exact_is_integer (value))
        add_integer (to, mpq_numref (value), false);
    else if (mpq_sgn (to) == 0)
        mpq_set (to, value);
    else if (mpz_cmp (mpq_denref (to), mpq_denref (value)) == 0) {
        mpz_add (mpq_numref (to), mpq_numref (to), mpq_numref (value));
        mpq_canonicalize (to);
    } else
        mpq_add (to, to, value);
}

void exact_subtract (mpq_t from, const mpq_t value)
{
    if (exact_is_integer (value))
        add_integer (from, mpq_numref (value), true);
    else
        mpq_sub (from, from, value);
}

void exact_gather (mpq_t sum, const mpq_t value)
{
    mpz_ptr number = mpq_numref (sum), in = mpq_denref (sum);
    mpz_t common, times;

    if (mpq_sgn (value) == 0)
        return;
    if (mpq_sgn (sum) == 0) {
        mpq_set (sum, value);
        return;
    }
    if (mpz_cmp (in, mpq_denref (value)) == 0) {
        mpz_add (number, number, mpq_numref (value));
        return;
    }
    mpz_inits (common, times, NULL);
    if (!mpz_divisible_p (in, mpq_denref (value))) {
        mpz_lcm (common, in, mpq_denref (value));
        mpz_divexact (times, common, in);
        mpz_mul (number, number, times);
        mpz_swap (in, common);
    }
    mpz_divexact (times, in, mpq_denref (value));
    mpz_addmul (number, times, mpq_numref (value));
    mpz_clears (common, times, NULL);
}

/* value x 10^digits */
static void scale (mpz_t ret, mpz_srcptr value, int digits)
{
    unsigned long power = 1;

    mpz_set (ret, value);
    for (; digits > 0; digits--) {
        if (power > ULONG_MAX / 10) {
            mpz_mul_ui (ret, ret, power);
            power = 1;
        }
        power *= 10;
    }
    mpz_mul_ui (ret, ret, power);
}

/* Of a number of one limb, or none: a static 0 has no memory to read. */
static uint64_t magnitude (mpz_srcptr value)
{
    return mpz_sgn (value) != 0 ? mpz_get_ui (value) : 0;
}

/* Without its sign, for the division of integers: most values are small. False: it is too
 * large. */
static bool scale_small (mpq_srcptr value, int digits, uint64_t *ret)
{
    *ret = magnitude (mpq_numref (value));
    for (; digits > 0; digits--)
        if (__builtin_mul_overflow (*ret, UINT64_C (10), ret))
            return false;
    return mpz_size (mpq_numref (value)) <= 1
           && mpz_size (mpq_denref (value)) == 1;
}

static uint64_t divide_half_even (uint64_t number, uint64_t by)
{
    uint64_t whole = number / by, rest = number % by;

    return whole + (rest > by - rest || (rest == by - rest && whole % 2));
}

void exact_round (mpz_t ret_units, const mpq_t value, int digits)
{
    bool negative = mpq_sgn (value) < 0;
    mpz_t numerator, remainder;
    uint64_t small;
    int order;

    if (scale_small (value, digits, &small)) {
        mpz_set_ui (ret_units,
                    divide_half_even (small, mpz_get_ui (mpq_denref (value))));
        if (negative)
            mpz_neg (ret_units, ret_units);
        return;
    }
    mpz_inits (numerator, remainder, NULL);
    scale (numerator, mpq_numref (value), digits);
    mpz_fdiv_qr (ret_units, remainder, numerator, mpq_denref (value));
    mpz_mul_2exp (remainder, remainder, 1);
    order = mpz_cmp (remainder, mpq_denref (value));
    if (order > 0 || (order == 0 && mpz_odd_p (ret_units)))
        mpz_add_ui (ret_units, ret_units, 1);
    mpz_clears (numerator, remainder, NULL);
}

void exact_round_half_up (mpz_t ret_units, const mpq_t value, int digits)
{
    mpz_t divisor;

    mpz_init (divisor);
    scale (ret_units, mpq_numref (value), digits);
    mpz_mul_2exp (ret_units, ret_units, 1);
    mpz_add (ret_units, ret_units, mpq_denref (value));
    mpz_mul_2exp (divisor, mpq_denref (value), 1);
    mpz_fdiv_q (ret_units, ret_units, divisor);
    mpz_clear (divisor);
}

char *exact_units_text (const mpz_t units, int digits)
{
    /* sign, a 0, the point, and zeros where there are fewer digits than decimals */
    char *text = xmalloc (mpz_sizeinbase (units, 10) + (size_t)digits + 4);
    char *number = text + (mpz_sgn (units) < 0);
    size_t length, decimals = (size_t)digits;

    if (mpz_size (units) <= 1) {
        text[0] = '-';
        length = number_write (number, magnitude (units), 1);
        number[length] = '\0';
    } else {
        mpz_get_str (text, 10, units);
        length = strlen (number);
    }
    if (length <= decimals) {
        size_t zeros = decimals + 1 - length;
        memmove (number + zeros, number, length + 1);
        memset (number, '0', zeros);
        length += zeros;
    }
    if (decimals > 0) {
        char *point = number + length - decimals;
        memmove (point + 1, point, decimals + 1);
        *point = '.';
    }
    return text;
}

char *exact_text (const mpq_t value, int digits)
{
    mpz_t units;
    char *text;

    mpz_init (units);
    exact_round (units, value, digits);
    text = exact_units_text (units, digits);
    mpz_clear (units);
    return text;
}

char *exact_shortest (const mpq_t value)
{
    mpz_t power;
    int digits = 0;

    mpz_init_set_ui (power, 1);
    while (digits <= 12 && !mpz_divisible_p (power, mpq_denref (value))) {
        mpz_mul_ui (power, power, 10);
        digits++;
    }
    mpz_clear (power);
    return exact_text (value, digits <= 12 ? digits : 6);
}

char *exact_fraction_text (const mpq_t value)
{
    size_t digits = mpz_sizeinbase (mpq_numref (value), 10)
                    + mpz_sizeinbase (mpq_denref (value), 10);

    return mpq_get_str (xmalloc (digits + 3), 10, value);
}

struct remainder {
    size_t index;
    mpq_t value;
};

static int by_remainder (const void *a, const void *b)
{
    const struct remainder *x = a, *y = b;
    /* mostly parts of one sum */
    int order = mpz_cmp (mpq_denref (y->value), mpq_denref (x->value)) == 0
                    ? mpz_cmp (mpq_numref (y->value), mpq_numref (x->value))
                    : mpq_cmp (y->value, x->value);

    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Floor of each part; its remainder; the sum of the floors. */
static void take_floors (const mpq_t *parts, size_t count, bool negate,
                         mpz_t *units, struct remainder *rest, mpz_t sum)
{
    for (size_t i = 0; i < count; i++) {
        mpq_ptr left = rest[i].value;
        mpq_init (left);
        if (negate)
            mpq_neg (left, parts[i]);
        else
            mpq_set (left, parts[i]);
        mpz_fdiv_qr (units[i], mpq_numref (left), mpq_numref (left),
                     mpq_denref (left));
        mpz_add (sum, sum, units[i]);
        rest[i].index = i;
    }
}

int exact_share (const mpz_t total, const mpq_t *parts, size_t count,
                 mpz_t *ret_units, gl_error_t *error)
{
    struct remainder *rest = xcalloc (count, sizeof (*rest));
    bool negate = mpz_sgn (total) < 0;
    mpz_t left;
    int rc = 0;

    mpz_init (left);
    take_floors (parts, count, negate, ret_units, rest, left);
    if (negate)
        mpz_neg (left, left);
    mpz_sub (left, total, left);
    if (negate)
        mpz_neg (left, left);
    if (mpz_sgn (left) < 0 || mpz_cmp_ui (left, count) > 0)
        rc = gl_error (error, "the parts do not add up to the total to be "
                              "shared (this is a defect, please report it)");
    else if (mpz_sgn (left) > 0) {
        qsort (rest, count, sizeof (*rest), by_remainder);
        for (size_t i = 0; i < mpz_get_ui (left); i++)
            mpz_add_ui (ret_units[rest[i].index], ret_units[rest[i].index], 1);
    }
    for (size_t i = 0; i < count; i++) {
        if (negate)
            mpz_neg (ret_units[i], ret_units[i]);
        mpq_clear (rest[i].value);
    }
    mpz_clear (left);
    free (rest);
    return rc;
}

/* c, and whether the parts are within one unit of the total. */
static bool order_offset (const mpz_t total, const mpq_t *parts, size_t count,
                          mpq_t ret_offset)
{
    bool near;

    mpq_set_z (ret_offset, total);
    for (size_t i = 0; i < count; i++)
        mpq_sub (ret_offset, ret_offset, parts[i]);
    near = mpq_cmp_si (ret_offset, 1, 1) < 0
           && mpq_cmp_si (ret_offset, -1, 1) > 0;
    mpz_add (mpq_numref (ret_offset), mpq_numref (ret_offset),
             mpq_denref (ret_offset));
    mpq_div_2exp (ret_offset, ret_offset, 1);
    return near;
}

int exact_share_in_order (const mpz_t total, const mpq_t *parts, size_t count,
                          mpz_t *ret_units, gl_error_t *error)
{
    mpq_t sum;
    mpz_t given, until;
    int rc = 0;

    mpq_init (sum);
    mpz_inits (given, until, NULL);
    if (!order_offset (total, parts, count, sum))
        rc = gl_error (error, "the parts do not add up to the total to be "
                              "shared (this is a defect, please report it)");
    for (size_t i = 0; i < count && rc == 0; i++) {
        mpq_add (sum, sum, parts[i]);
        mpz_fdiv_q (until, mpq_numref (sum), mpq_denref (sum));
        mpz_sub (ret_units[i], until, given);
        mpz_set (given, until);
    }
    mpz_clears (given, until, NULL);
    mpq_clear (sum);
    return rc;
}

fraction_t fraction (int64_t num, int64_t den)
{
    int64_t a = num < 0 ? -num : num, b = den;

    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a ? (fraction_t){num / a, den / a} : (fraction_t){0, 1};
}

int fraction_compare (fraction_t a, fraction_t b)
{
    __int128 left = (__int128)a.num * b.den, right = (__int128)b.num * a.den;

    return (left > right) - (left < right);
}

void exact_set_fraction (mpq_t value, fraction_t f)
{
    set_i64 (mpq_numref (value), f.num);
    set_i64 (mpq_denref (value), f.den);
}

void exact_weighted (mpq_t ret, fraction_t weight, uint64_t value,
                     unsigned long scale)
{
    if (value == 0) {
        mpq_set_ui (ret, 0, 1);
        return;
    }
    exact_set_fraction (ret, weight);
    mpz_mul_ui (mpq_numref (ret), mpq_numref (ret), value);
    mpz_mul_ui (mpq_denref (ret), mpq_denref (ret), scale);
    if (!exact_is_integer (ret))
        mpq_canonicalize (ret);
}
