#include <stdlib.h>

#include "base/exact.h"
#include "base/memory.h"
#include "planning/curve.h"

static int by_size_down (const void *a, const void *b)
{
    return mpq_cmp (*(const mpq_t *)b, *(const mpq_t *)a);
}

void curve_init (curve_t *demand, const mpq_t *gpus, size_t count)
{
    *demand = (curve_t){.gpus = xcalloc (count + 1, sizeof (mpq_t)),
                        .sum = xcalloc (count + 1, sizeof (mpq_t)),
                        .count = count};
    for (size_t i = 0; i < count; i++) {
        mpq_init (demand->gpus[i]);
        mpq_set (demand->gpus[i], gpus[i]);
    }
    qsort (demand->gpus, count, sizeof (mpq_t), by_size_down);
    mpq_init (demand->sum[0]);
    for (size_t i = 0; i < count; i++) {
        mpq_init (demand->sum[i + 1]);
        mpq_add (demand->sum[i + 1], demand->sum[i], demand->gpus[i]);
    }
    mpq_init (demand->mean);
    if (count > 0)
        exact_add_scaled (demand->mean, demand->sum[count], 1, (int64_t)count);
}

void curve_clear (curve_t *demand)
{
    for (size_t i = 0; i < demand->count; i++)
        mpq_clears (demand->gpus[i], demand->sum[i + 1], NULL);
    mpq_clears (demand->sum[0], demand->mean, NULL);
    free (demand->gpus);
    free (demand->sum);
}

/* How many hours need more than `level`. */
static size_t hours_above (const curve_t *demand, mpq_srcptr level)
{
    size_t above = 0, end = demand->count;

    while (above < end) {
        size_t middle = above + (end - above) / 2;
        if (mpq_cmp (demand->gpus[middle], level) > 0)
            above = middle + 1;
        else
            end = middle;
    }
    return above;
}

void curve_above (const curve_t *demand, mpq_srcptr level, mpq_t ret_mean)
{
    size_t hours = hours_above (demand, level);
    mpq_t q;

    mpq_init (q);
    if (hours > 0) {
        exact_add_scaled (q, level, -(int64_t)hours, (int64_t)demand->count);
        exact_add_scaled (q, demand->sum[hours], 1, (int64_t)demand->count);
    }
    mpq_swap (ret_mean, q);
    mpq_clear (q);
}

uint64_t curve_gpus_above (const curve_t *demand, mpq_srcptr share,
                           mpq_srcptr level)
{
    uint64_t gpus = 0;
    mpz_t whole;
    mpq_t most;

    mpz_init (whole);
    mpq_init (most);
    if (demand->count > 0)
        mpq_mul (most, demand->gpus[0], share);
    mpq_sub (most, most, level);
    mpz_cdiv_q (whole, mpq_numref (most), mpq_denref (most));
    if (mpz_sgn (whole) > 0)
        gpus = mpz_get_ui (whole);
    mpz_clear (whole);
    mpq_clear (most);
    return gpus;
}

/* With x counted from the middle, in halves: x = 2 i - (count - 1). */
void curve_trend (mpq_t ret_value, const mpq_t *values, size_t count,
                  uint32_t ahead)
{
    mpq_t mean, slope;
    int64_t squares = 0, n = (int64_t)count;

    mpq_inits (mean, slope, NULL);
    for (int64_t i = 0; i < n; i++) {
        int64_t x = 2 * i - (n - 1);
        squares += x * x;
        exact_add_scaled (mean, values[i], 1, n);
        exact_add_scaled (slope, values[i], x, 1);
    }
    exact_add_scaled (mean, slope, n - 1 + 2 * (int64_t)ahead, squares);
    mpq_set (ret_value, mean);
    mpq_clears (mean, slope, NULL);
}
