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
    mpq_set_den (ret_per_hour, cents);
    mpq_canonicalize (ret_per_hour);
    mpz_clear (cents);
}

void breakeven_why_part (const breakeven_t *b, size_t part,
                         why_part_t treatment, mpq_t ret_per_gpu_year)
{
    mpq_t q;

    mpq_init (q);
    mpq_set_ui (ret_per_gpu_year, 0, 1);
    if (treatment == WHY_WHOLE)
        mpq_set (ret_per_gpu_year, b->part[part].per_gpu_year);
    if (treatment == WHY_DIVIDED)
        exact_add_scaled (ret_per_gpu_year, b->part[part].per_gpu_year, 1,
                          b->gpus_per_node);
    if (treatment == WHY_DIVIDED_HOUR) {
        breakeven_why_hourly (b, part, q);
        exact_add_scaled (ret_per_gpu_year, q, b->hours, b->gpus_per_node);
    }
    mpq_clear (q);
}

/* How part i is treated in the attempt of that number, whose digits in base
 * WHY_COUNT are the parts. */
static why_part_t treatment (size_t number, size_t i)
{
    while (i-- > 0)
        number /= WHY_COUNT;
    return (why_part_t)(number % WHY_COUNT);
}

static void attempt (const breakeven_t *b, size_t number, mpq_srcptr wanted,
                     mpq_srcptr tolerance, mpq_t best, breakeven_why_t *why)
{
    mpq_t sum, distance;
    int treated = 0;

    mpq_inits (sum, distance, NULL);
    for (size_t i = 0; i < b->part_count; i++) {
        why_part_t how = treatment (number, i);
        treated += how == WHY_WHOLE      ? 0
                   : how == WHY_LEFT_OUT ? 1
                                         : BREAKEVEN_WHY_PARTS + 1;
        breakeven_why_part (b, i, how, distance);
        mpq_add (sum, sum, distance);
    }
    mpq_sub (distance, sum, wanted);
    mpq_abs (distance, distance);
    if (mpq_cmp (distance, tolerance) <= 0
        && (!why->found || treated < why->treated
            || (treated == why->treated && mpq_cmp (distance, best) < 0))) {
        why->found = true;
        why->treated = treated;
        for (size_t i = 0; i < b->part_count; i++)
            why->part[i] = treatment (number, i);
        mpq_set (why->per_gpu_year, sum);
        mpq_set (best, distance);
    }
    mpq_clears (sum, distance, NULL);
}

void breakeven_why (const breakeven_t *b, mpq_srcptr per_gpu_year,
                    mpq_srcptr tolerance, breakeven_why_t *ret_why)
{
    size_t count = 1;
    mpq_t best;

    memset (ret_why, 0, sizeof (*ret_why));
    mpq_inits (ret_why->per_gpu_year, best, NULL);
    for (size_t i = 0; i < b->part_count; i++)
        count *= WHY_COUNT;
    for (size_t number = 0;
         number < count && b->part_count <= BREAKEVEN_WHY_PARTS; number++)
        attempt (b, number, per_gpu_year, tolerance, best, ret_why);
    mpq_clear (best);
}

void breakeven_why_clear (breakeven_why_t *why)
{
    mpq_clear (why->per_gpu_year);
}
