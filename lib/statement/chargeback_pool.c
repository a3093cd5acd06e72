/*
 * How the cost was recovered of a pool, over all its months.
 */
#include <string.h>

#include "base/memory.h"
#include "statement/chargeback_private.h"

void pool_sum_init (struct pool_sum *sum, const char *pool)
{
    *sum = (struct pool_sum){.pool = pool, .complete = true, .silent = true};
    mpz_inits (sum->cost, sum->full, sum->recoverable, sum->disposal,
               sum->in_period, sum->outside, sum->credited_outside,
               sum->purchased, NULL);
    mpq_init (sum->excess);
    sum->credits = cube_new (&bill_fields[BILL_POSTINGS], "what");
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_inits (sum->remainder[i], sum->idle[i], NULL);
}

void pool_sum_clear (struct pool_sum *sum)
{
    mpz_clears (sum->cost, sum->full, sum->recoverable, sum->disposal,
                sum->in_period, sum->outside, sum->credited_outside,
                sum->purchased, NULL);
    mpq_clear (sum->excess);
    cube_free (sum->credits);
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_clears (sum->remainder[i], sum->idle[i], NULL);
}

struct pool_sum *chargeback_pool (struct chargeback *c, const char *pool)
{
    struct pool_sum *sum;

    for (size_t i = 0; i < c->pool_count; i++)
        if (!strcmp (c->pools[i].pool, pool))
            return &c->pools[i];
    c->pools = xreallocarray (c->pools, c->pool_count + 1, sizeof (*c->pools));
    sum = &c->pools[c->pool_count++];
    pool_sum_init (sum, pool);
    return sum;
}

void pool_sum_credits (const struct pool_sum *sum, mpz_t ret_units)
{
    posting_t all;

    posting_init (&all);
    cube_sum (sum->credits, 0, cube_count (sum->credits), &all);
    mpz_set (ret_units, all.charge_units);
    posting_clear (&all);
}

/* Adds to the class of that name. */
static void add_class (mpz_t *of_class, const char *what, const mpz_t units)
{
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        if (!strcmp (remainder_info ((remainder_id_t)i)->word, what))
            mpz_add (of_class[i], of_class[i], units);
}

static void add_remainder (struct pool_sum *sum, const posting_t *row)
{
    if (!strcmp (row->what, BILL_DISPOSAL))
        mpz_add (sum->disposal, sum->disposal, row->charge_units);
    else
        add_class (sum->remainder, row->what, row->charge_units);
    if (!strcmp (row->what, remainder_info (REMAINDER_EXCESS)->word))
        mpq_add (sum->excess, sum->excess, row->gpu_seconds);
}

void chargeback_pool_row (struct chargeback *c, const posting_t *row)
{
    struct pool_sum *sum = chargeback_pool (c, row->pool);
    mpz_ptr to = row->kind == BILL_CREDIT ? sum->credited_outside
                                          : sum->outside;

    if (row->kind == BILL_REMAINDER)
        add_remainder (sum, row);
    else if (row->outside)
        mpz_add (to, to, row->charge_units);
    else if (row->kind == BILL_CREDIT)
        cube_add (sum->credits, row);
    else
        mpz_add (sum->in_period, sum->in_period, row->charge_units);
    if (!row->outside && row->kind == BILL_IDLE)
        add_class (sum->idle, row->what, row->charge_units);
    if (!row->outside && row->kind == BILL_PURCHASE)
        mpz_add (sum->purchased, sum->purchased, row->charge_units);
}

void pool_sum_add (struct pool_sum *to, const struct pool_sum *from)
{
    mpz_add (to->cost, to->cost, from->cost);
    mpz_add (to->full, to->full, from->full);
    mpz_add (to->recoverable, to->recoverable, from->recoverable);
    mpz_add (to->disposal, to->disposal, from->disposal);
    mpz_add (to->in_period, to->in_period, from->in_period);
    mpz_add (to->outside, to->outside, from->outside);
    mpz_add (to->credited_outside, to->credited_outside,
             from->credited_outside);
    mpz_add (to->purchased, to->purchased, from->purchased);
    mpq_add (to->excess, to->excess, from->excess);
    cube_add_cube (to->credits, from->credits);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        mpz_add (to->remainder[i], to->remainder[i], from->remainder[i]);
        mpz_add (to->idle[i], to->idle[i], from->idle[i]);
    }
}

void chargeback_pool_months (struct chargeback *c, const bill_t *bill)
{
    size_t count;
    const bill_pool_t *pool = bill_pools (bill, &count);

    for (size_t i = 0; i < count; i++) {
        struct pool_sum *sum = chargeback_pool (c, pool[i].pool);
        sum->complete = sum->complete && pool[i].has_cost;
        sum->silent = sum->silent && !pool[i].has_cost && !pool[i].has_rate;
        mpz_add (sum->cost, sum->cost, pool[i].cost_units);
        mpz_add (sum->full, sum->full, pool[i].full_units);
        mpz_add (sum->recoverable, sum->recoverable, pool[i].recoverable_units);
    }
}
