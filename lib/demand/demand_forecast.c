/* The days of a pool, and what is to be expected of the next ones. */
#include <stdlib.h>

#include "base/exact.h"
#include "base/memory.h"
#include "demand/demand_private.h"

#define MILLISECOND_DIGITS 3

void demand_pool_add (demand_pool_t *pool, size_t at, const mpq_t gpu_seconds)
{
    mpz_t units;
    int64_t value;

    mpz_init (units);
    exact_round (units, gpu_seconds, MILLISECOND_DIGITS);
    value = mpz_cmp_si (units, SEASONAL_VALUE_MAX) < 0 ? mpz_get_si (units)
                                                       : SEASONAL_VALUE_MAX;
    mpz_clear (units);
    pool->day[at] += value;
    if (pool->day[at] > SEASONAL_VALUE_MAX)
        pool->day[at] = SEASONAL_VALUE_MAX;
    if (value > 0 && at < pool->first)
        pool->first = at;
}

/* Several clusters may have a pool of one name: those of the last day add up. */
void demand_pool_capacity (demand_pool_t *pool, period_t day, bool recent,
                           const capacity_sum_t *sum)
{
    mpq_t q;

    if (mpq_sgn (sum->capacity) > 0 && day.start >= pool->last_day) {
        if (day.start > pool->last_day)
            mpq_set_ui (pool->capacity, 0, 1);
        pool->last_day = day.start;
        exact_add (pool->capacity, sum->capacity);
        mpq_init (q);
        exact_set_i64 (q, period_seconds (day), 1);
        mpq_div (pool->gpus, pool->capacity, q);
        mpq_clear (q);
    }
    if (!recent)
        return;
    exact_add (pool->all, sum->capacity);
    exact_add (pool->down, sum->down);
    exact_add (pool->down, sum->planned_down);
}

void demand_pool_test (demand_pool_t *pool)
{
    size_t count;
    const int64_t *day = demand_pool_days (pool, &count);

    pool->tested = seasonal_backtest (day, count, 0, &pool->test);
    pool->tested_ahead
        = seasonal_backtest (day, count, FORECAST_DAYS, &pool->test_ahead);
    if (pool->tested)
        seasonal_fit (pool->test.best, day, count, &pool->fit);
}
