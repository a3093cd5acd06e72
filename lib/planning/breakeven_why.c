#include <string.h>

#include "base/exact.h"
#include "planning/breakeven_why.h"

void breakeven_why_hourly (const breakeven_t *b, size_t part,
                           mpq_t ret_per_hour)
{
    mpz_t cents;

    mpz_init (cents);
    exact_round (cents, b->part[part].per_hour, 2);
    mpq_set_z (ret_per_hour, cents);
    mpz_set_ui (cents, 100);
    mpz_mul (mpq_denref (ret_per_hour), mpq_denref (ret_per_hour), cents);
    mpq_canonicalize (ret_per_hour);
    mpz_clear (cents);
}

static void scale (mpq_t value, int64_t numerator, int64_t denominator)
{
    mpq_t factor;

    mpq_init (factor);
    exact_set_i64 (factor, numerator, denominator);
    mpq_mul (value, value, factor);
    mpq_clear (factor);
}

void breakeven_why_part (const breakeven_t *b, size_t part,
                         why_part_t treatment, mpq_t ret_per_gpu_year)
{
    mpq_set_ui (ret_per_gpu_year, 0, 1);
    if (treatment == WHY_WHOLE || treatment == WHY_DIVIDED)
        mpq_set (ret_per_gpu_year, b->part[part].per_gpu_year);
    if (treatment == WHY_DIVIDED)
        scale (ret_per_gpu_year, 1, b->gpus_per_node);
    if (treatment == WHY_DIVIDED_HOUR) {
        breakeven_why_hourly (b, part, ret_per_gpu_year);
        scale (ret_per_gpu_year, b->hours, b->gpus_per_node);
    }
}

/* One way to treat the parts, and how good an answer it is. */
struct attempt {
    why_part_t part[BREAKEVEN_WHY_PARTS];
    int divided;
    int left_out;
    mpq_t sum;
    mpq_t distance;
};

static int compare (const struct attempt *a, const struct attempt *b)
{
    if (a->divided != b->divided)
        return a->divided - b->divided;
    if (a->left_out != b->left_out)
        return a->left_out - b->left_out;
    return mpq_cmp (a->distance, b->distance);
}

/* The number in base WHY_COUNT, a digit for each part. */
static void set_attempt (struct attempt *a, const breakeven_t *b, size_t number,
                         mpq_srcptr wanted)
{
    mpq_t part;

    mpq_init (part);
    mpq_set_ui (a->sum, 0, 1);
    a->divided = a->left_out = 0;
    for (size_t i = 0; i < b->part_count; i++) {
        a->part[i] = (why_part_t)(number % WHY_COUNT);
        number /= WHY_COUNT;
        a->divided
            += a->part[i] == WHY_DIVIDED || a->part[i] == WHY_DIVIDED_HOUR;
        a->left_out += a->part[i] == WHY_LEFT_OUT;
        breakeven_why_part (b, i, a->part[i], part);
        mpq_add (a->sum, a->sum, part);
    }
    mpq_sub (a->distance, a->sum, wanted);
    mpq_abs (a->distance, a->distance);
    mpq_clear (part);
}

static void take_best (struct attempt *best, const struct attempt *a,
                       breakeven_why_t *why)
{
    if (why->found && compare (best, a) <= 0)
        return;
    why->found = true;
    why->follows = a->divided == 0 && a->left_out == 0;
    memcpy (why->part, a->part, sizeof (why->part));
    mpq_set (why->per_gpu_year, a->sum);
    best->divided = a->divided;
    best->left_out = a->left_out;
    mpq_set (best->distance, a->distance);
}

void breakeven_why (const breakeven_t *b, mpq_srcptr per_gpu_year,
                    mpq_srcptr tolerance, breakeven_why_t *ret_why)
{
    struct attempt a = {.divided = 0}, best = {.divided = 0};
    size_t count = 1;

    memset (ret_why, 0, sizeof (*ret_why));
    mpq_init (ret_why->per_gpu_year);
    if (b->part_count > BREAKEVEN_WHY_PARTS)
        return;
    mpq_inits (a.sum, a.distance, best.sum, best.distance, NULL);
    for (size_t i = 0; i < b->part_count; i++)
        count *= WHY_COUNT;
    for (size_t number = 0; number < count; number++) {
        set_attempt (&a, b, number, per_gpu_year);
        if (mpq_cmp (a.distance, tolerance) <= 0)
            take_best (&best, &a, ret_why);
    }
    mpq_clears (a.sum, a.distance, best.sum, best.distance, NULL);
}

void breakeven_why_clear (breakeven_why_t *why)
{
    mpq_clear (why->per_gpu_year);
}
