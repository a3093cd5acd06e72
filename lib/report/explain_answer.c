/* What a job is charged, in a sentence before the steps: "8 GPUs x 132.5 h x 3.60 USD =
 * 3816.00 USD". Numbers are shown with as many decimals as it takes for a reader who
 * multiplies them to get the amount that follows. */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "gres/tres.h"
#include "report/explain_private.h"

/* No more decimals than these; a rate has as many as in reports. */
#define DECIMALS_MAX 10
#define RATE_DECIMALS 4

/* --- the devices ---------------------------------------------------------- */

struct counting {
    const char *type; /* NULL: untyped */
    uint64_t devices;
};

static void count_devices (const char *type, size_t length, uint64_t count,
                           void *arg)
{
    struct counting *c = arg;

    if (type && c->type
            ? strlen (c->type) == length && !strncmp (c->type, type, length)
            : (type && length) == (c->type != NULL))
        c->devices += count;
}

/* How many of the kind the segment holds; 0: unknown. */
static uint64_t devices_of (const segment_t *s, const device_kind_t *kind)
{
    struct counting c = {.type = kind->type};

    if (kind->cpu)
        return s->cpus == COUNT_UNKNOWN ? 0 : s->cpus;
    if (s->gres && !kind->part)
        gres_devices (s->gres, count_devices, &c, NULL);
    return c.devices;
}

static char *device_text (const device_kind_t *kind, uint64_t devices)
{
    const char *plural = devices == 1 ? "" : "s";

    if (kind->cpu)
        return xasprintf ("CPU%s", plural);
    return kind->profile ? xasprintf ("%s slice%s", kind->profile, plural)
                         : xasprintf ("GPU%s", plural);
}

/* --- the product ---------------------------------------------------------- */

/* The value of a text with decimals. */
static void read_text (const char *text, mpq_t ret)
{
    GL_AUTOFREE char *digits = xstrdup (text);
    char *point = strchr (digits, '.');
    size_t decimals = point ? strlen (point + 1) : 0;

    if (point)
        memmove (point, point + 1, decimals + 1);
    mpz_set_str (mpq_numref (ret), digits, 10);
    mpz_ui_pow_ui (mpq_denref (ret), 10, decimals);
    mpq_canonicalize (ret);
}

/* Zeros at the end go, but for the first `least` decimals. */
static char *decimals_text (mpq_srcptr value, int decimals, int least)
{
    char *text = exact_text (value, decimals > least ? decimals : least);
    char *point = strchr (text, '.');
    size_t length = strlen (text);

    while (point && text[length - 1] == '0'
           && text + length - 1 > point + least)
        text[--length] = '\0';
    if (point && text + length - 1 == point)
        text[--length] = '\0';
    return text;
}

static bool gives (const char *hours, const char *rate, mpq_srcptr factor,
                   mpq_srcptr list, int digits)
{
    mpq_t product, part;
    mpz_t shown, wanted;
    bool same;

    mpq_inits (product, part, NULL);
    mpz_inits (shown, wanted, NULL);
    read_text (hours, product);
    read_text (rate, part);
    mpq_mul (product, product, part);
    mpq_mul (product, product, factor);
    exact_round (shown, product, digits);
    exact_round (wanted, list, digits);
    same = mpz_cmp (shown, wanted) == 0;
    mpz_clears (shown, wanted, NULL);
    mpq_clears (product, part, NULL);
    return same;
}

/* The hours and the rate, so that factor x hours x rate is the amount. */
static void choose_decimals (const explain_product_t *product, mpq_srcptr hours,
                             mpq_srcptr factor, char **ret_hours,
                             char **ret_rate)
{
    for (int decimals = 1; decimals <= DECIMALS_MAX; decimals++) {
        *ret_hours = decimals_text (hours, decimals, 1);
        *ret_rate = decimals_text (
            product->rate, decimals > RATE_DECIMALS ? decimals : RATE_DECIMALS,
            product->digits);
        if (decimals == DECIMALS_MAX
            || gives (*ret_hours, *ret_rate, factor, product->list,
                      product->digits))
            return;
        free (*ret_hours);
        free (*ret_rate);
    }
}

static char *weight_text (fraction_t weight)
{
    return weight.num == weight.den
               ? xstrdup ("")
               : xasprintf (" x %lld/%lld", (long long)weight.num,
                            (long long)weight.den);
}

/* devices x hours x weight x rate is the list price; else hours were added or taken
 * off. */
static bool is_product (const explain_product_t *product, uint64_t devices,
                        mpq_t ret_hours, mpq_t ret_factor)
{
    mpq_t list;
    bool same;

    if (devices == 0)
        return false;
    mpq_init (list);
    exact_set_fraction (ret_factor, product->weight);
    exact_set_i64 (list, (int64_t)devices, 1);
    mpq_mul (ret_factor, ret_factor, list);
    exact_set_u128 (mpq_numref (ret_hours), product->gres_seconds);
    mpz_set_ui (mpq_denref (ret_hours), 3600);
    mpz_mul_ui (mpq_denref (ret_hours), mpq_denref (ret_hours), devices);
    mpq_canonicalize (ret_hours);
    mpq_mul (list, ret_hours, product->rate);
    mpq_mul (list, list, ret_factor);
    same = mpq_equal (list, product->list);
    mpq_clear (list);
    return same;
}

/* "8 GPUs x 132.5 h x 3.60", "12.5 GPU hours billed x 3.60" */
static char *product_text (const explain_product_t *product, const segment_t *s)
{
    uint64_t devices = devices_of (s, product->kind);
    GL_AUTOFREE char *of = device_text (product->kind, devices);
    GL_AUTOFREE char *weight = weight_text (product->weight);
    GL_AUTOFREE char *hours = NULL, *rate = NULL;
    mpq_t each, factor;
    char *text;

    mpq_inits (each, factor, NULL);
    if (is_product (product, devices, each, factor)) {
        choose_decimals (product, each, factor, &hours, &rate);
        text = xasprintf ("%llu %s x %s h%s x %s", (unsigned long long)devices,
                          of, hours, weight, rate);
    } else {
        mpq_set_ui (factor, 1, 1);
        if (mpq_sgn (product->rate) > 0)
            mpq_div (each, product->list, product->rate);
        choose_decimals (product, each, factor, &hours, &rate);
        text = xasprintf ("%s billed %s hours x %s", hours,
                          product->kind->cpu ? "CPU" : "GPU", rate);
    }
    mpq_clears (each, factor, NULL);
    return text;
}

/* --- the sentences -------------------------------------------------------- */

static char *rounded (mpq_srcptr value, int digits)
{
    char *text;
    mpz_t units;

    mpz_init (units);
    exact_round (units, value, digits);
    text = exact_units_text (units, digits);
    mpz_clear (units);
    return text;
}

void explain_answer_product (explain_segment_t *segment, const segment_t *s,
                             const explain_product_t *product, mpz_t sum)
{
    GL_AUTOFREE char *factors = product_text (product, s);
    GL_AUTOFREE char *list = rounded (product->list, product->digits);
    GL_AUTOFREE char *due = exact_units_text (product->units, product->digits);
    GL_AUTOFREE char *text
        = *product->adjustments
              ? xasprintf ("%s: %s %s = %s %s; %s: %s %s", product->month,
                           factors, product->currency, list, product->currency,
                           product->adjustments, due, product->currency)
              : xasprintf ("%s: %s %s = %s %s", product->month, factors,
                           product->currency, due, product->currency);
    mpz_add (sum, sum, product->units);
    texts_add (&segment->answer, text);
}

void explain_answer_amount (explain_segment_t *segment, const char *month,
                            const char *what, const mpz_t units, int digits,
                            const char *currency, mpz_t sum)
{
    GL_AUTOFREE char *amount = exact_units_text (units, digits);
    GL_AUTOFREE char *text
        = xasprintf ("%s: %s: %s %s", month, what, amount, currency);

    mpz_add (sum, sum, units);
    texts_add (&segment->answer, text);
}

void explain_answer_total (explain_segment_t *segment, const mpz_t sum,
                           int digits, const char *currency)
{
    GL_AUTOFREE char *amount = exact_units_text (sum, digits);
    GL_AUTOFREE char *text = xasprintf ("In all: %s %s", amount, currency);

    if (segment->answer.count > 1)
        texts_add (&segment->answer, text);
}
