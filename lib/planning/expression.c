#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "planning/expression.h"

#define TEXT_MAX 1000
#define DEPTH_MAX 32
#define EXPONENT_MAX 64 /* of ** */
#define SCALE_MAX 64    /* of 1e9 */
#define DIGITS_MAX 40
#define BITS_MAX 65536 /* of a numerator or denominator */
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

static void round_down (mpq_t value)
{
    mpz_fdiv_q (mpq_numref (value), mpq_numref (value), mpq_denref (value));
    mpz_set_ui (mpq_denref (value), 1);
}

static void keep_less (mpq_t value, mpq_srcptr next)
{
    if (mpq_cmp (next, value) < 0)
        mpq_set (value, next);
}

static void keep_more (mpq_t value, mpq_srcptr next)
{
    if (mpq_cmp (next, value) > 0)
        mpq_set (value, next);
}

/* A function of one value, or of several that are folded into the first. */
static const struct function {
    const char *name;
    void (*round) (mpq_t value);
    void (*fold) (mpq_t value, mpq_srcptr next);
} functions[] = {
    {"ceil", round_up, NULL},
    {"floor", round_down, NULL},
    {"min", NULL, keep_less},
    {"max", NULL, keep_more},
};

static int in_parentheses (struct parser *p, mpq_t value)
{
    if (p->depth++ >= DEPTH_MAX)
        return fail (p, "too many parentheses");
    if (comparison (p, value) < 0)
        return -1;
    p->depth--;
    return take (p, ")") ? 0 : fail (p, "')' is expected");
}

/* The rest of its values, up to the parenthesis. */
static int fold_values (struct parser *p, const struct function *f, mpq_t value)
{
    mpq_t next;
    int rc = 0;

    mpq_init (next);
    while (rc == 0 && take (p, ",")) {
        rc = comparison (p, next);
        if (rc == 0)
            f->fold (value, next);
    }
    mpq_clear (next);
    return rc;
}

/* Behind its name and "(". */
static int call (struct parser *p, const struct function *f, mpq_t value)
{
    if (f->round) {
        if (in_parentheses (p, value) < 0)
            return -1;
        f->round (value);
        return 0;
    }
    if (p->depth++ >= DEPTH_MAX)
        return fail (p, "too many parentheses");
    if (comparison (p, value) < 0 || fold_values (p, f, value) < 0)
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
    for (size_t i = 0; i < GL_ARRAY_SIZE (functions); i++)
        if (strlen (functions[i].name) == length
            && strncmp (functions[i].name, start, length) == 0 && take (p, "("))
            return call (p, &functions[i], value);
    p->at = start;
    return fail (p, "unknown name");
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

/* From the loosest to the tightest; longer signs before their beginnings. A
 * comparison has the orders of a and b that make it true: bit 0 for less, 1 for
 * equal, 2 for more. */
enum { COMPARISON, SUM, TERM, POWER };
static const struct operator
{
    const char *sign;
    int level;
    int holds;
}
operators[] = {
    {"<=", COMPARISON, 3}, {">=", COMPARISON, 6}, {"==", COMPARISON, 2},
    {"!=", COMPARISON, 5}, {"<", COMPARISON, 1},  {">", COMPARISON, 4},
    {"-", SUM, 0},         {"+", SUM, 0},         {"/", TERM, 0},
    {"*", TERM, 0},
};

static const struct operator* take_operator (struct parser *p, int level)
{
    return GL_FIND (operators, GL_ARRAY_SIZE (operators), it,
                    it->level == level && take (p, it->sign));
}

static int apply (struct parser *p, char sign, mpq_t value, mpq_srcptr right)
{
    if (sign == '/' && mpq_sgn (right) == 0)
        return fail (p, "a division by 0 ends");
    if (sign == '-')
        mpq_sub (value, value, right);
    else if (sign == '+')
        mpq_add (value, value, right);
    else if (sign == '/')
        mpq_div (value, value, right);
    else
        mpq_mul (value, value, right);
    return bounded (p, value);
}

/* Comparisons are chained: each is of two neighbours, all have to hold. */
static int operation (struct parser *p, mpq_t value, int level)
{
    const struct operator* op;
    bool holds = true, compared = false;
    mpq_t right;
    int rc;

    if (level == POWER)
        return power (p, value);
    rc = operation (p, value, level + 1);
    mpq_init (right);
    while (rc == 0 && (op = take_operator (p, level)) != NULL) {
        rc = operation (p, right, level + 1);
        if (rc == 0 && level == COMPARISON) {
            int order = mpq_cmp (value, right);
            holds = holds && (op->holds & (order < 0 ? 1 : order == 0 ? 2 : 4));
            compared = true;
            mpq_set (value, right);
        } else if (rc == 0)
            rc = apply (p, op->sign[0], value, right);
    }
    if (rc == 0 && compared)
        mpq_set_ui (value, holds, 1);
    mpq_clear (right);
    return rc;
}

static int comparison (struct parser *p, mpq_t value)
{
    return operation (p, value, COMPARISON);
}

/* ---- a whole text ---- */

/* With one of its numbers shifted, if there is such a one. */
static int evaluate (struct parser *p, mpq_t value)
{
    p->at = p->text;
    p->depth = 0;
    p->decimals = 0;
    if (strlen (p->text) > TEXT_MAX)
        return gl_error (p->error, "an expression of more than %d characters",
                         TEXT_MAX);
    if (comparison (p, value) < 0)
        return -1;
    skip_blanks (p);
    return *p->at ? fail (p, "unexpected text") : 0;
}

int expression_value (const char *text, const expression_scope_t *scope,
                      mpq_t ret_value, gl_error_t *error)
{
    struct parser p
        = {.text = text, .scope = scope, .error = error, .shifted = NONE};

    return evaluate (&p, ret_value);
}

/* bound += how much the value changes at most when number p->shifted is
 * shifted. */
static int add_change (struct parser *p, mpq_srcptr value, mpq_t bound)
{
    mpq_t most, q;
    int rc = 0;

    mpq_inits (most, q, NULL);
    for (p->shift = -1; p->shift <= 1 && rc == 0; p->shift += 2) {
        rc = evaluate (p, q);
        mpq_sub (q, q, value);
        mpq_abs (q, q);
        if (mpq_cmp (q, most) > 0)
            mpq_set (most, q);
    }
    mpq_add (bound, bound, most);
    mpq_clears (most, q, NULL);
    return rc;
}

int expression_rounding (const char *text, const expression_scope_t *scope,
                         mpq_t ret_bound, gl_error_t *error)
{
    struct parser p
        = {.text = text, .scope = scope, .error = error, .shifted = NONE};
    mpq_t value;
    size_t count;
    int rc;

    mpq_init (value);
    mpq_set_ui (ret_bound, 0, 1);
    rc = evaluate (&p, value);
    count = p.decimals;
    for (p.shifted = 0; p.shifted < count && rc == 0; p.shifted++)
        rc = add_change (&p, value, ret_bound);
    mpq_clear (value);
    return rc;
}

int expression_number (const char *text, mpq_t ret_value, gl_error_t *error)
{
    bool negative = text[0] == '-';
    struct parser p = {.text = text, .at = text + negative, .shifted = NONE};

    if (number (&p, ret_value) < 0 || *p.at)
        return gl_error (error, "'%.60s' is not a number", text);
    if (negative)
        mpq_neg (ret_value, ret_value);
    return 0;
}
