#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/exact.h"
#include "planning/expression.h"

#define TEXT_MAX 1000
#define DEPTH_MAX 32
#define EXPONENT_MAX 64   /* of ** */
#define SCALE_MAX 64      /* of 1e9 */
#define DIGITS_MAX 40
#define BITS_MAX 65536    /* of a numerator or denominator */
#define NONE SIZE_MAX

struct parser {
    const char *text;
    const char *at;
    const expression_scope_t *scope;
    gl_error_t *error;
    int depth;
    size_t decimals; /* numbers with a point, so far */
    size_t shifted;  /* the one of them that is to be shifted; NONE */
    int shift;       /* -1 or 1: by half a unit of its last digit */
};

static int fail (struct parser *p, const char *what)
{
    return gl_error (p->error, "'%.200s': %s at character %zu", p->text, what,
                     (size_t)(p->at - p->text) + 1);
}

static void skip_blanks (struct parser *p)
{
    p->at += strspn (p->at, " \t");
}

/* The text stands next; "*" does not where "**" does. */
static bool take (struct parser *p, const char *text)
{
    size_t length = strlen (text);

    skip_blanks (p);
    if (strncmp (p->at, text, length) != 0
        || (!strcmp (text, "*") && p->at[1] == '*'))
        return false;
    p->at += length;
    return true;
}

static int bounded (struct parser *p, mpq_srcptr value)
{
    if (mpz_sizeinbase (mpq_numref (value), 2) > BITS_MAX
        || mpz_sizeinbase (mpq_denref (value), 2) > BITS_MAX)
        return fail (p, "the number grows too large");
    return 0;
}

static int comparison (struct parser *p, mpq_t value);

/* ---- numbers ---- */

static void scale_by_ten (mpq_t value, int64_t exponent)
{
    mpz_t power;

    mpz_init (power);
    mpz_ui_pow_ui (power, 10, exponent < 0 ? -exponent : exponent);
    if (exponent < 0)
        mpz_mul (mpq_denref (value), mpq_denref (value), power);
    else
        mpz_mul (mpq_numref (value), mpq_numref (value), power);
    mpq_canonicalize (value);
    mpz_clear (power);
}

/* After its digits: "e9", "e-3"; none is 0. */
static int take_scale (struct parser *p, int64_t *ret_exponent)
{
    bool negative = false;
    int64_t exponent = 0;

    *ret_exponent = 0;
    if (*p->at != 'e' && *p->at != 'E')
        return 0;
    p->at++;
    if (*p->at == '-' || *p->at == '+')
        negative = *p->at++ == '-';
    if (!isdigit ((unsigned char)*p->at))
        return fail (p, "an exponent has no digits");
    for (; isdigit ((unsigned char)*p->at) && exponent <= SCALE_MAX; p->at++)
        exponent = exponent * 10 + (*p->at - '0');
    if (exponent > SCALE_MAX)
        return fail (p, "the exponent is too large");
    *ret_exponent = negative ? -exponent : exponent;
    return 0;
}

static void shift (struct parser *p, mpq_t value, int64_t last_digit)
{
    mpq_t half;

    if (p->decimals++ != p->shifted)
        return;
    mpq_init (half);
    mpq_set_si (half, p->shift, 2);
    scale_by_ten (half, last_digit);
    mpq_add (value, value, half);
    mpq_clear (half);
}

static int number (struct parser *p, mpq_t value)
{
    char digits[DIGITS_MAX + 1];
    size_t n = 0, decimals = 0;
    bool point = false;
    int64_t exponent;

    for (; isdigit ((unsigned char)*p->at) || (*p->at == '.' && !point);
         p->at++) {
        if (*p->at == '.') {
            point = true;
            continue;
        }
        if (n == DIGITS_MAX)
            return fail (p, "a number has too many digits");
        digits[n++] = *p->at;
        decimals += point;
    }
    if (n == 0)
        return fail (p, "a number is expected");
    digits[n] = '\0';
    if (take_scale (p, &exponent) < 0)
        return -1;
    mpz_set_str (mpq_numref (value), digits, 10);
    mpz_set_ui (mpq_denref (value), 1);
    exponent -= (int64_t)decimals;
    scale_by_ten (value, exponent);
    if (decimals > 0)
        shift (p, value, exponent);
    return 0;
}

/* ---- the grammar, from the tightest to the loosest ---- */

static void round_up (mpq_t value)
{
    mpz_cdiv_q (mpq_numref (value), mpq_numref (value), mpq_denref (value));
    mpz_set_ui (mpq_denref (value), 1);
}

static int in_parentheses (struct parser *p, mpq_t value)
{
    if (p->depth++ >= DEPTH_MAX)
        return fail (p, "too many parentheses");
    if (comparison (p, value) < 0)
        return -1;
    p->depth--;
    return take (p, ")") ? 0 : fail (p, "')' is expected");
}

static int name (struct parser *p, mpq_t value)
{
    const char *start = p->at;
    size_t length = 0;

    while (isalnum ((unsigned char)start[length]) || start[length] == '_')
        length++;
    for (size_t i = 0; i < p->scope->count; i++) {
        const expression_name_t *known = &p->scope->name[i];
        if (strlen (known->name) == length
            && strncmp (known->name, start, length) == 0) {
            mpq_set (value, known->value);
            p->at += length;
            return 0;
        }
    }
    p->at += length;
    if (length == 4 && strncmp (start, "ceil", 4) == 0 && take (p, "(")) {
        if (in_parentheses (p, value) < 0)
            return -1;
        round_up (value);
        return 0;
    }
    p->at = start;
    return fail (p, "an unknown name stands");
}

static int primary (struct parser *p, mpq_t value)
{
    skip_blanks (p);
    if (take (p, "("))
        return in_parentheses (p, value);
    if (isalpha ((unsigned char)*p->at) || *p->at == '_')
        return name (p, value);
    return number (p, value);
}

static int raise_to (struct parser *p, mpq_t value, mpq_srcptr exponent)
{
    int64_t n;

    if (mpz_cmp_ui (mpq_denref (exponent), 1) != 0
        || mpz_cmpabs_ui (mpq_numref (exponent), EXPONENT_MAX) > 0)
        return fail (p, "an exponent is a whole number of at most 64 before");
    n = mpz_get_si (mpq_numref (exponent));
    if (n < 0 && mpq_sgn (value) == 0)
        return fail (p, "a division by 0 ends");
    if (n < 0)
        mpq_inv (value, value);
    n = n < 0 ? -n : n;
    mpz_pow_ui (mpq_numref (value), mpq_numref (value), n);
    mpz_pow_ui (mpq_denref (value), mpq_denref (value), n);
    return bounded (p, value);
}

/* A sign before a power is applied after it; one in an exponent before. */
static int power (struct parser *p, mpq_t value)
{
    bool negative = false;
    int rc = 0;

    while (take (p, "-"))
        negative = !negative;
    if (primary (p, value) < 0)
        return -1;
    if (take (p, "**")) {
        mpq_t exponent;
        if (p->depth++ >= DEPTH_MAX)
            return fail (p, "too many powers");
        mpq_init (exponent);
        rc = power (p, exponent);
        if (rc == 0)
            rc = raise_to (p, value, exponent);
        mpq_clear (exponent);
        p->depth--;
    }
    if (negative)
        mpq_neg (value, value);
    return rc;
}

static int term (struct parser *p, mpq_t value)
{
    mpq_t factor;
    int rc = power (p, value);

    mpq_init (factor);
    while (rc == 0) {
        bool divides = take (p, "/");
        if (!divides && !take (p, "*"))
            break;
        rc = power (p, factor);
        if (rc == 0 && divides && mpq_sgn (factor) == 0)
            rc = fail (p, "a division by 0 ends");
        else if (rc == 0 && divides)
            mpq_div (value, value, factor);
        else if (rc == 0)
            mpq_mul (value, value, factor);
        if (rc == 0)
            rc = bounded (p, value);
    }
    mpq_clear (factor);
    return rc;
}

static int sum (struct parser *p, mpq_t value)
{
    mpq_t more;
    int rc = term (p, value);

    mpq_init (more);
    while (rc == 0) {
        bool minus = take (p, "-");
        if (!minus && !take (p, "+"))
            break;
        rc = term (p, more);
        if (rc == 0 && minus)
            mpq_sub (value, value, more);
        else if (rc == 0)
            mpq_add (value, value, more);
        if (rc == 0)
            rc = bounded (p, value);
    }
    mpq_clear (more);
    return rc;
}

/* Longer signs first. The order of a and b that makes it true: bit 0 for less,
 * bit 1 for equal, bit 2 for more. */
static const struct {
    const char *sign;
    unsigned holds;
} comparisons[] = {{"<=", 3}, {">=", 6}, {"==", 2}, {"!=", 5}, {"<", 1}, {">", 4}};

static int take_comparison (struct parser *p)
{
    for (size_t i = 0; i < sizeof (comparisons) / sizeof (*comparisons); i++)
        if (take (p, comparisons[i].sign))
            return (int)comparisons[i].holds;
    return 0;
}

static int comparison (struct parser *p, mpq_t value)
{
    mpq_t right;
    bool holds = true, any = false;
    int rc = sum (p, value), wanted;

    mpq_init (right);
    while (rc == 0 && (wanted = take_comparison (p)) != 0) {
        int order;
        rc = sum (p, right);
        if (rc < 0)
            break;
        order = mpq_cmp (value, right);
        holds = holds && (wanted & (order < 0 ? 1 : order == 0 ? 2 : 4));
        any = true;
        mpq_set (value, right);
    }
    if (rc == 0 && any)
        mpq_set_ui (value, holds, 1);
    mpq_clear (right);
    return rc;
}

static int whole (struct parser *p, mpq_t value)
{
    if (strlen (p->text) > TEXT_MAX)
        return gl_error (p->error, "an expression of more than %d characters",
                         TEXT_MAX);
    if (comparison (p, value) < 0)
        return -1;
    skip_blanks (p);
    return *p->at ? fail (p, "something else stands") : 0;
}

int expression_value (const char *text, const expression_scope_t *scope,
                      mpq_t ret_value, gl_error_t *error)
{
    struct parser p = {.text = text,
                       .at = text,
                       .scope = scope,
                       .error = error,
                       .shifted = NONE};

    return whole (&p, ret_value);
}

/* |value with one number shifted - value|, and how many numbers there are. */
static int change (const char *text, const expression_scope_t *scope,
                   size_t which, int direction, mpq_srcptr value,
                   mpq_t ret_change, size_t *ret_count, gl_error_t *error)
{
    struct parser p = {.text = text,
                       .at = text,
                       .scope = scope,
                       .error = error,
                       .shifted = which,
                       .shift = direction};

    if (whole (&p, ret_change) < 0)
        return -1;
    mpq_sub (ret_change, ret_change, value);
    mpq_abs (ret_change, ret_change);
    *ret_count = p.decimals;
    return 0;
}

int expression_rounding (const char *text, const expression_scope_t *scope,
                         mpq_t ret_bound, gl_error_t *error)
{
    mpq_t value, up, down;
    size_t count = 1;
    int rc;

    mpq_inits (value, up, down, NULL);
    mpq_set_ui (ret_bound, 0, 1);
    rc = expression_value (text, scope, value, error);
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = change (text, scope, i, 1, value, up, &count, error);
        if (rc == 0)
            rc = change (text, scope, i, -1, value, down, &count, error);
        if (rc == 0)
            mpq_add (ret_bound, ret_bound, mpq_cmp (up, down) > 0 ? up : down);
    }
    mpq_clears (value, up, down, NULL);
    return rc;
}

int expression_number (const char *text, mpq_t ret_value, gl_error_t *error)
{
    bool negative = text[0] == '-';
    struct parser p
        = {.text = text, .at = text + negative, .shifted = NONE};

    if (number (&p, ret_value) < 0 || *p.at)
        return gl_error (error, "'%.60s' is not a number", text);
    if (negative)
        mpq_neg (ret_value, ret_value);
    return 0;
}
