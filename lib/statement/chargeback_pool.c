/*
 * What became of the cost of a pool, over all its months.
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
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        mpz_inits (sum->remainder[i], sum->idle[i], NULL);
}

void pool_sum_clear (struct pool_sum *sum)
{
    mpz_clears (sum->cost, sum->full, sum->recoverable, sum->disposal,
                sum->in_period, sum->outside, sum->credited_outside,
                sum->purchased, NULL);
    mpq_clear (sum->excess);
    for (size_t i = 0; i < sum->credit_count; i++)
        mpz_clear (sum->credits[i].units);
    free (sum->credits);
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

void pool_sum_credit (struct pool_sum *sum, const char *what,
                      const mpz_t units)
{
    size_t i = 0;

    while (i < sum->credit_count && strcmp (sum->credits[i].what, what) < 0)
        i++;
    if (i == sum->credit_count || strcmp (sum->credits[i].what, what)) {
        sum->credits = xreallocarray (sum->credits, sum->credit_count + 1,
                                      sizeof (*sum->credits));
        memmove (&sum->credits[i + 1], &sum->credits[i],
                 (sum->credit_count++ - i) * sizeof (*sum->credits));
        sum->credits[i].what = what;
        mpz_init (sum->credits[i].units);
    }
    mpz_add (sum->credits[i].units, sum->credits[i].units, units);
}

void pool_sum_credits (const struct pool_sum *sum, mpz_t ret_units)
{
    mpz_set_ui (ret_units, 0);
    for (size_t i = 0; i < sum->credit_count; i++)
        mpz_add (ret_units, ret_units, sum->credits[i].units);
}

static void add_to_pool (struct pool_sum *sum, const billing_line_t *line)
{
    bool credit = line->line->kind == CHARGE_CREDIT;
    mpz_ptr to = line->in_period ? sum->in_period
                 : credit        ? sum->credited_outside
                                 : sum->outside;

    if (credit && line->in_period)
        pool_sum_credit (sum, line->line->what, line->line->charge_units);
    else
        mpz_add (to, to, line->line->charge_units);
}

static void take_idle (struct pool_sum *sum, const charge_line_t *line)
{
    for (size_t i = 0; i < REMAINDER_COUNT; i++)
        if (!strcmp (remainder_info ((remainder_id_t)i)->word, line->what))
            mpz_add (sum->idle[i], sum->idle[i], line->charge_units);
}

void pool_sum_line (struct pool_sum *sum, const billing_line_t *line)
{
    add_to_pool (sum, line);
    if (line->in_period && line->line->kind == CHARGE_IDLE)
        take_idle (sum, line->line);
    if (line->in_period && line->line->kind == CHARGE_PURCHASE)
        mpz_add (sum->purchased, sum->purchased, line->line->charge_units);
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
    for (size_t i = 0; i < from->credit_count; i++)
        pool_sum_credit (to, from->credits[i].what, from->credits[i].units);
    for (size_t i = 0; i < REMAINDER_COUNT; i++) {
        mpz_add (to->remainder[i], to->remainder[i], from->remainder[i]);
        mpz_add (to->idle[i], to->idle[i], from->idle[i]);
    }
}

static void add_rounded (mpz_t sum, const mpq_t value, int digits)
{
    mpz_t units;

    mpz_init (units);
    exact_round (units, value, digits);
    mpz_add (sum, sum, units);
    mpz_clear (units);
}

/* Both books, and what is in neither. What charges are made of is rounded
 * already. */
static void take_books (struct pool_sum *sum, const charge_t *charge,
                        int digits)
{
    const cost_t *cost = charge_cost (charge);

    if (mpq_equal (cost->total, cost->full))
        mpz_add (sum->full, sum->full, charge_total (charge));
    else
        add_rounded (sum->full, cost->full, digits);
    if (mpq_equal (cost->total, cost->recoverable))
        mpz_add (sum->recoverable, sum->recoverable, charge_total (charge));
    else
        add_rounded (sum->recoverable, cost->recoverable, digits);
    add_rounded (sum->disposal, cost->disposal, digits);
}

void chargeback_pool_months (struct chargeback *c)
{
    size_t count;
    const pool_month_t *pm = billing_pool_months (c->billing, &count);

    for (size_t i = 0; i < count; i++) {
        struct pool_sum *sum = chargeback_pool (c, pm[i].pool);
        const charge_remainder_t *rest = charge_remainders (pm[i].charge);
        sum->complete = sum->complete && pm[i].has_cost;
        sum->silent = sum->silent && !pm[i].has_cost && !pm[i].has_rate;
        mpz_add (sum->cost, sum->cost, charge_total (pm[i].charge));
        take_books (sum, pm[i].charge, c->digits);
        mpq_add (sum->excess, sum->excess, rest[REMAINDER_EXCESS].gpu_seconds);
        for (size_t k = 0; k < REMAINDER_COUNT; k++)
            mpz_add (sum->remainder[k], sum->remainder[k],
                     rest[k].charge_units);
    }
}
