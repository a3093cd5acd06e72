/*
 * exact.h: exact numbers: decimals, rationals, and the one place that rounds.
 *
 * Quantities and money inside a calculation are GMP rationals (mpq_t); no
 * floating point occurs anywhere. Money becomes an integer of the currency's
 * smallest unit in exact_share(), exact_share_in_order(), exact_round() or
 * exact_round_half_up(), and nowhere else; line items of 10 decimals also in
 * line_items_share().
 */
#ifndef GL_BASE_EXACT_H
#define GL_BASE_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gmp.h>

#include "base/error.h"

/* "12", "-0.10", "425000": digits with at most one point, at most
 * EXACT_TEXT_MAX characters; no blank, no exponent, no thousands separator. The error
 * names the text. */
#define EXACT_TEXT_MAX 40
int exact_parse (const char *text, mpq_t value, gl_error_t *error);
/* The same, or a percentage: "10%" is 1/10, and so is "0.1". */
int exact_parse_ratio (const char *text, mpq_t value, gl_error_t *error);

void exact_set_i64 (mpq_t value, int64_t numerator, int64_t denominator);
void exact_set_u128 (mpz_t value, unsigned __int128 number);
/* value += a * numerator / denominator */
void exact_add_scaled (mpq_t value, const mpq_t a, int64_t numerator,
                       int64_t denominator);

static inline bool exact_is_integer (mpq_srcptr value)
{
    return mpz_size (mpq_denref (value)) == 1
           && mpz_get_ui (mpq_denref (value)) == 1;
}

/* to += value and from -= value, as mpq_add() and mpq_sub() do, which take many times
 * as long for integers: most values are. */
void exact_add (mpq_t to, const mpq_t value);
void exact_subtract (mpq_t from, const mpq_t value);
/* The same for long sums, which need no common divisors of each: mpq_canonicalize()
 * of the sum behind the last. */
void exact_gather (mpq_t sum, const mpq_t value);

/* value * 10^digits, rounded half to even. */
void exact_round (mpz_t ret_units, const mpq_t value, int digits);
/* The same, rounded half up: floor (value * 10^digits + 1/2). For running totals:
 * two values that differ by whole units round to integers that differ by as many,
 * which half to even does not promise. */
void exact_round_half_up (mpz_t ret_units, const mpq_t value, int digits);
/* The value with exactly `digits` decimals, rounded half to even: "-0.50". A
 * zero has no sign. Yours to free. */
char *exact_text (const mpq_t value, int digits);
/* The shortest decimal that is exact, at most 12 decimals ("425000", "0.1"); a
 * value without one is rounded to 6. For explanations. Yours to free. */
char *exact_shortest (const mpq_t value);
/* "n/d" or "n", as it is. Yours to free. */
char *exact_fraction_text (const mpq_t value);
/* An integer of units of 10^-digits as text: 12345, 2 -> "123.45". */
char *exact_units_text (const mpz_t units, int digits);

/*
 * Share `total` (an integer of smallest units) among `count` parts whose exact
 * amounts are `parts` (in the same unit; they need not be in lowest terms): the
 * largest-remainder method. Each part gets its floor; what is left goes one unit
 * each to the largest remainders, ties to the lower index. For a negative total
 * the work is done on the negated numbers. Hamilton's method
 * (docs/decisions/exact-rationals.md).
 *
 * The sum of the parts must be within one unit of the total (the total being
 * that sum rounded), so that no part is off by a unit or more. -1 with an error
 * if not; ret_units, initialised by the caller, is then undefined.
 */
int exact_share (const mpz_t total, const mpq_t *parts, size_t count,
                 mpz_t *ret_units, gl_error_t *error);

/*
 * The same for parts in an order, such as days: part i gets
 * floor (S(i) + c) - floor (S(i-1) + c), where S are the running sums and
 * c = (1 + total - S(count)) / 2. However neighbours are put together (hours to
 * a day, days to a part of a month), the whole of them gets the same; and it,
 * too, is off by less than a unit.
 */
int exact_share_in_order (const mpz_t total, const mpq_t *parts, size_t count,
                          mpz_t *ret_units, gl_error_t *error);

/* An amount in smallest units that the ledger can store, with room for sums of many
 * such amounts in 64 bits: it has at most EXACT_UNITS_DIGITS digits. */
#define EXACT_UNITS_DIGITS 17
bool exact_is_storable (const mpz_t units);

/* A weight: a small exact fraction in lowest terms, den > 0. */
typedef struct {
    int64_t num;
    int64_t den;
} fraction_t;

fraction_t fraction (int64_t num, int64_t den);
int fraction_compare (fraction_t a, fraction_t b);
void exact_set_fraction (mpq_t value, fraction_t f);
/* ret = weight x value / scale */
void exact_weighted (mpq_t ret, fraction_t weight, uint64_t value,
                     unsigned long scale);

#endif /* !GL_BASE_EXACT_H */
