#include "base/exact.h"
#include "planning/reserve.h"

/* The mean of max (0, demand - level); at most `most` of each, NULL: all. */
static void mean_above (const reserve_demand_t *demand, uint64_t level,
                        mpq_srcptr most, mpq_t ret_mean)
{
    mpq_t above, floor, count;

    mpq_inits (above, floor, count, NULL);
    mpq_set_ui (floor, level, 1);
    mpq_set_ui (count, demand->count, 1);
    mpq_set_ui (ret_mean, 0, 1);
    for (size_t i = 0; i < demand->count; i++) {
        mpq_sub (above, demand->gpus[i], floor);
        if (mpq_sgn (above) <= 0)
            continue;
        if (most && mpq_cmp (above, most) > 0)
            mpq_set (above, most);
        mpq_add (ret_mean, ret_mean, above);
    }
    mpq_div (ret_mean, ret_mean, count);
    mpq_clears (above, floor, count, NULL);
}

void reserve_use (const reserve_demand_t *demand, uint64_t k, mpq_t ret_ratio)
{
    mpq_t one;

    mpq_init (one);
    mpq_set_ui (one, 1, 1);
    mean_above (demand, k - 1, one, ret_ratio);
    mpq_clear (one);
}

static uint64_t largest (const reserve_demand_t *demand)
{
    mpz_t whole;
    uint64_t most = 0;

    mpz_init (whole);
    for (size_t i = 0; i < demand->count; i++) {
        mpz_cdiv_q (whole, mpq_numref (demand->gpus[i]),
                    mpq_denref (demand->gpus[i]));
        if (mpz_cmp_ui (whole, most) > 0)
            most = mpz_get_ui (whole);
    }
    mpz_clear (whole);
    return most;
}

/* The use falls with k, so the last one that pays is found by halving. */
uint64_t reserve_size (const reserve_demand_t *demand,
                       mpq_srcptr reserved_per_hour,
                       mpq_srcptr alternative_per_hour)
{
    uint64_t pays = 0, not_any_more = largest (demand) + 1;
    mpq_t use, worth;

    mpq_inits (use, worth, NULL);
    while (pays + 1 < not_any_more) {
        uint64_t k = pays + (not_any_more - pays) / 2;
        reserve_use (demand, k, use);
        mpq_mul (worth, use, alternative_per_hour);
        if (mpq_cmp (worth, reserved_per_hour) > 0)
            pays = k;
        else
            not_any_more = k;
    }
    mpq_clears (use, worth, NULL);
    return pays;
}

void reserve_cost (const reserve_demand_t *demand, uint64_t k,
                   mpq_srcptr reserved_per_hour,
                   mpq_srcptr alternative_per_hour, mpq_t ret_per_hour)
{
    mpq_t reserved;

    mpq_init (reserved);
    mpq_set_ui (reserved, k, 1);
    mpq_mul (reserved, reserved, reserved_per_hour);
    mean_above (demand, k, NULL, ret_per_hour);
    mpq_mul (ret_per_hour, ret_per_hour, alternative_per_hour);
    mpq_add (ret_per_hour, ret_per_hour, reserved);
    mpq_clear (reserved);
}

/* With x counted from the middle, in halves: x = 2 i - (count - 1). */
void demand_trend (mpq_t ret_value, const mpq_t *values, size_t count,
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
