#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "ledger/bill_idle.h"

bool posting_of (const posting_t *row, const char *team)
{
    return posting_is_due (row)
           && (row->team && team ? strcmp (row->team, team) == 0
                                 : row->team == team);
}

static const bill_pool_t *pool_of (const bill_t *bill, const posting_t *row)
{
    size_t count;
    const bill_pool_t *pools = bill_pools (bill, &count);

    for (size_t i = 0; i < count && row->pool && row->month; i++) {
        if (strcmp (pools[i].pool, row->pool) == 0
            && strcmp (pools[i].month, row->month) == 0)
            return &pools[i];
    }
    return NULL;
}

bool posting_priced (const bill_t *bill, const posting_t *row)
{
    const bill_pool_t *pool = pool_of (bill, row);

    return row->kind == BILL_PURCHASE || row->kind == BILL_SETTLEMENT || !pool
           || pool->has_cost || pool->has_rate;
}

bool posting_has_cost (const bill_t *bill, const posting_t *row)
{
    const bill_pool_t *pool = pool_of (bill, row);

    return !pool || pool->has_cost;
}

bool posting_rated (const bill_t *bill, const posting_t *row)
{
    const bill_pool_t *pool = pool_of (bill, row);

    return pool && pool->has_rate;
}

/* The list price before rounding, where that is kept, in smallest units. */
static void list_price (const posting_t *row, mpq_srcptr scale, mpq_t ret)
{
    if (mpz_cmp (row->list_units, row->charge_units) != 0)
        mpq_set_z (ret, row->list_units);
    else
        mpq_mul (ret, scale, row->exact);
}

/* amount x (1 - used / list), not below 0. */
static void idle_part (const bill_pool_t *pool, const posting_t *row,
                       mpq_t scale, mpq_srcptr amount, mpq_t ret)
{
    mpq_t used, list;

    mpq_inits (used, list, NULL);
    list_price (row, scale, list);
    mpq_set (used, pool->owned_rate);
    exact_add (used, pool->use_rate);
    mpq_mul (used, used, row->price_seconds);
    mpz_set_ui (mpq_denref (scale), 3600);
    mpq_canonicalize (scale);
    mpq_mul (used, used, scale);
    mpq_sub (ret, list, used);
    if (mpq_sgn (list) <= 0 || mpq_sgn (ret) < 0)
        mpq_set_ui (ret, 0, 1);
    else if (!mpq_equal (amount, list)) {
        mpq_div (ret, ret, list);
        mpq_mul (ret, ret, amount);
    }
    mpq_clears (used, list, NULL);
}

bool bill_idle (const bill_t *bill, const posting_t *row, int digits,
                mpq_srcptr amount, mpq_t ret_units)
{
    const bill_pool_t *pool = pool_of (bill, row);
    mpq_t scale;

    mpq_set_ui (ret_units, 0, 1);
    if (row->kind == BILL_IDLE)
        mpq_set (ret_units, amount);
    if (row->kind != BILL_CHARGE)
        return true;
    if (!pool || !pool->has_cost)
        return false;
    mpq_init (scale);
    mpz_ui_pow_ui (mpq_numref (scale), 10, (unsigned long)digits);
    idle_part (pool, row, scale, amount, ret_units);
    mpq_clear (scale);
    return true;
}

/* The part of the price that the team's entitlement covers: it is taken off
 * what the QOS and its subsidy leave of the list price. */
static void covered_share (const posting_t *row, mpq_t ret_share)
{
    static const adjustment_id_t before[]
        = {ADJUSTMENT_QOS, ADJUSTMENT_SUBSIDY};
    const mpz_t *units = posting_extra (row)->adjustment_units;
    mpz_t price;

    mpq_set_ui (ret_share, 0, 1);
    if (mpz_sgn (units[ADJUSTMENT_ENTITLEMENT]) >= 0)
        return;
    mpz_init_set (price, row->list_units);
    for (size_t i = 0; i < GL_ARRAY_SIZE (before); i++)
        mpz_add (price, price, units[before[i]]);
    if (mpz_sgn (price) > 0) {
        mpz_neg (mpq_numref (ret_share), units[ADJUSTMENT_ENTITLEMENT]);
        mpz_set (mpq_denref (ret_share), price);
        mpq_canonicalize (ret_share);
    }
    mpz_clear (price);
}

bool posting_margin (const bill_t *bill, const posting_t *row, mpq_t ret_units)
{
    mpq_t cost, covered;

    mpq_set_ui (ret_units, 0, 1);
    if (row->kind != BILL_CHARGE && row->kind != BILL_IDLE)
        return true;
    if (!posting_has_cost (bill, row)) /* its idle time is charged to nobody */
        return row->kind == BILL_IDLE;
    mpz_sub (mpq_numref (ret_units), row->charge_units, row->cost_units);
    mpq_inits (cost, covered, NULL);
    covered_share (row, covered);
    if (mpq_sgn (covered) != 0) {
        mpq_set_z (cost, row->cost_units);
        mpq_mul (covered, covered, cost);
        exact_add (ret_units, covered);
    }
    mpq_clears (cost, covered, NULL);
    return true;
}

/* --- the value of time ---------------------------------------------------- */

static bool is_charge (const void *row, void *arg)
{
    const posting_t *posting = row;

    (void)arg;
    return posting->kind == BILL_CHARGE && posting->pool;
}

static cube_t *prices_by (const bill_t *bill, const char *keys)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    cube_t *prices = cube_new (&bill_fields[BILL_POSTINGS], keys);

    cube_measures (prices, "list,gpu_seconds");
    cube_where_wanted (prices, is_charge, NULL);
    cube_add_list (prices, rows, count);
    return prices;
}

cube_t *bill_time_prices (const bill_t *bill)
{
    return prices_by (bill, "pool,qos,profile");
}

cube_t *bill_pool_prices (const bill_t *bill)
{
    return prices_by (bill, "pool");
}

/* `sum`: charges of priced time; may be NULL. */
static bool value_at (const posting_t *sum, mpq_srcptr gpu_seconds,
                      mpq_t ret_units)
{
    mpq_set_ui (ret_units, 0, 1);
    if (!sum || mpq_sgn (sum->gpu_seconds) <= 0
        || mpz_sgn (sum->list_units) <= 0)
        return false;
    mpq_set_z (ret_units, sum->list_units);
    mpq_div (ret_units, ret_units, sum->gpu_seconds);
    mpq_mul (ret_units, ret_units, gpu_seconds);
    return true;
}

bool bill_pool_time_exact (const cube_t *prices, const char *pool,
                           mpq_srcptr gpu_seconds, mpq_t ret_units)
{
    return value_at (cube_find (prices, &(posting_t){.pool = (char *)pool}),
                     gpu_seconds, ret_units);
}

/* Of all prices of the pool. */
static bool value_on_average (cube_t *prices, const char *pool,
                              mpq_srcptr gpu_seconds, mpq_t ret_units)
{
    bool is_priced;
    posting_t all;

    posting_init (&all);
    for (size_t i = 0; i < cube_count (prices); i++) {
        const posting_t *row = cube_row (prices, i);
        if (!text_same (row->pool, pool))
            continue;
        mpz_add (all.list_units, all.list_units, row->list_units);
        exact_add (all.gpu_seconds, row->gpu_seconds);
    }
    is_priced = value_at (&all, gpu_seconds, ret_units);
    posting_clear (&all);
    return is_priced;
}

bool bill_time_exact (cube_t *prices, const bill_time_t *of,
                      mpq_srcptr gpu_seconds, mpq_t ret_units)
{
    posting_t like = {.pool = (char *)of->pool, .profile = (char *)of->profile};
    const posting_t *sum;
    bool is_priced;

    *posting_key_at (&like, KEY_QOS) = (char *)of->qos;
    sum = cube_find (prices, &like);
    if (value_at (sum, gpu_seconds, ret_units))
        return true;
    is_priced = value_on_average (prices, of->pool, gpu_seconds, ret_units);
    if (sum && mpq_sgn (sum->gpu_seconds) > 0) /* it is free */
        mpq_set_ui (ret_units, 0, 1);
    return is_priced;
}

bool bill_time_value (cube_t *prices, const bill_time_t *of,
                      mpq_srcptr gpu_seconds, mpz_t ret_units)
{
    bool is_priced;
    mpq_t value;

    mpq_init (value);
    is_priced = bill_time_exact (prices, of, gpu_seconds, value);
    exact_round (ret_units, value, 0);
    mpq_clear (value);
    return is_priced;
}
