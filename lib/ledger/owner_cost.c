#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/line_items_private.h"
#include "ledger/owner_cost.h"

/* A pool, and how much of its hardware has been handed out. */
struct owner_cost_pool {
    const bill_pool_t *pool;
    mpz_t hardware; /* in units of 10^-10, as what is given */
    mpz_t rate;     /* of a GPU-hour */
    mpq_t seen;     /* GPU-seconds */
    mpz_t given;
};

struct owner_cost {
    const site_t *site;
    const bill_t *bill;
    period_t month;
    char month_name[ZONE_STAMP_SIZE];
    struct owner_cost_pool *pools;
    size_t pool_count;
    line_item_t row;
};

/* --- pools ---------------------------------------------------------------- */

static void find_hardware (const bill_t *bill, struct owner_cost_pool *p)
{
    size_t count;
    const bill_cost_t *costs = bill_costs (bill, &count);
    mpq_t sum;

    mpq_init (sum);
    for (size_t i = 0; i < count; i++)
        if (costs[i].kind == COST_HARDWARE
            && !strcmp (costs[i].pool, p->pool->pool))
            mpq_add (sum, sum, costs[i].amount);
    exact_round (p->hardware, sum, LINE_ITEM_DIGITS);
    line_items_hourly (p->rate, sum, p->pool->capacity);
    mpq_clear (sum);
}

owner_cost_t *owner_cost_new (const site_t *site, const bill_t *bill,
                              period_t month)
{
    owner_cost_t *e = xcalloc (1, sizeof (*e));
    const bill_pool_t *pools = bill_pools (bill, &e->pool_count);

    e->site = site;
    e->bill = bill;
    e->month = month;
    zone_unit_name (site->zone, CALENDAR_MONTH, month.start, e->month_name);
    e->pools = xcalloc (e->pool_count + 1, sizeof (*e->pools));
    for (size_t i = 0; i < e->pool_count; i++) {
        struct owner_cost_pool *p = &e->pools[i];
        p->pool = &pools[i];
        mpz_inits (p->hardware, p->rate, p->given, NULL);
        mpq_init (p->seen);
        find_hardware (bill, p);
    }
    line_item_init (&e->row);
    return e;
}

void owner_cost_free (owner_cost_t *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->pool_count; i++) {
        struct owner_cost_pool *p = &e->pools[i];
        mpz_clears (p->hardware, p->rate, p->given, NULL);
        mpq_clear (p->seen);
    }
    free (e->pools);
    line_item_clear (&e->row);
    free (e);
}

static struct owner_cost_pool *find_pool (const owner_cost_t *e,
                                          const char *pool)
{
    for (size_t i = 0; pool && i < e->pool_count; i++)
        if (!strcmp (e->pools[i].pool->pool, pool))
            return &e->pools[i];
    return NULL;
}

/* --- time ----------------------------------------------------------------- */

/* floor (S(i)) - floor (S(i-1)) of the hardware's cost by GPU-seconds. */
static void put_hardware (struct owner_cost_pool *p, line_item_t *row)
{
    mpq_t part;

    if (mpq_sgn (p->pool->capacity) == 0)
        return;
    mpq_init (part);
    mpq_add (p->seen, p->seen, row->gpu_seconds);
    mpq_set_z (part, p->hardware);
    mpq_mul (part, part, p->seen);
    mpq_div (part, part, p->pool->capacity);
    mpz_fdiv_q (row->prepaid, mpq_numref (part), mpq_denref (part));
    mpz_sub (row->prepaid, row->prepaid, p->given);
    mpz_add (p->given, p->given, row->prepaid);
    mpz_set (row->list_rate, p->rate);
    mpz_set (row->rate, p->rate);
    mpq_clear (part);
}

int owner_cost_add (owner_cost_t *e, const line_item_t *from,
                    line_item_f callback, void *arg, gl_error_t *error)
{
    struct owner_cost_pool *p = find_pool (e, from->pool);
    line_item_t *row = &e->row;

    if ((from->kind != LINE_ITEM_JOB && from->kind != LINE_ITEM_CAPACITY) || !p)
        return 0;
    line_item_copy (row, from);
    row->statement = NULL;
    row->rate_card = NULL;
    row->commitment = NULL;
    mpz_set_ui (row->consumed_hours, 0);
    mpz_set_ui (row->committed_hours, 0);
    mpz_set_ui (row->committed_rate, 0);
    mpz_set_ui (row->billed, 0);
    mpz_set_ui (row->list_rate, 0);
    mpz_set_ui (row->rate, 0);
    mpz_set_ui (row->prepaid, 0);
    mpz_set (row->price_hours, row->gpu_hours);
    put_hardware (p, row);
    return callback (row, arg, error);
}

/* --- costs and purchases -------------------------------------------------- */

static void begin (owner_cost_t *e, line_item_kind_t kind, const char *pool,
                   const char *what, const char *name)
{
    line_item_t *row = &e->row;

    line_item_reset (row);
    row->kind = kind;
    row->month = e->month_name;
    row->start = e->month.start;
    row->end = e->month.end;
    row->pool = pool;
    row->what = what;
    row->reference = name;
}

/* `count` pieces at `price` each. */
static void put_chunks (line_item_t *row, mpq_srcptr count, mpq_srcptr price)
{
    mpq_t amount;

    mpq_init (amount);
    mpq_mul (amount, count, price);
    exact_round (row->price_hours, count, LINE_ITEM_DIGITS);
    exact_round (row->rate, price, LINE_ITEM_DIGITS);
    exact_round (row->billed, amount, LINE_ITEM_DIGITS);
    mpz_set (row->list_rate, row->rate);
    mpz_set (row->device_hours, row->price_hours);
    mpq_clear (amount);
}

/* A gain or loss of what is sold was paid with its price. */
static int emit_cost (owner_cost_t *e, const bill_cost_t *cost,
                      line_item_f callback, void *arg, gl_error_t *error)
{
    line_item_t *row = &e->row;
    mpq_t one;

    begin (e, LINE_ITEM_COST, cost->pool, cost_kind_name (cost->kind),
           cost->name);
    row->fund = cost->fund;
    mpq_init (one);
    mpq_set_ui (one, 1, 1);
    put_chunks (row, one, cost->amount);
    mpq_clear (one);
    if (cost->kind == COST_DISPOSAL) {
        mpz_set (row->prepaid, row->billed);
        mpz_set_ui (row->billed, 0);
    }
    return callback (row, arg, error);
}

/* Hardware of a pool that has no GPU in the month. */
static int emit_rest (owner_cost_t *e, struct owner_cost_pool *p,
                      line_item_f callback, void *arg, gl_error_t *error)
{
    if (mpz_cmp (p->hardware, p->given) == 0)
        return 0;
    begin (e, LINE_ITEM_COST, p->pool->pool, cost_kind_name (COST_HARDWARE),
           NULL);
    mpz_sub (e->row.prepaid, p->hardware, p->given);
    return callback (&e->row, arg, error);
}

/* What one fund pays of it, so many of the pieces. */
static int emit_chunks (owner_cost_t *e, const site_asset_t *asset,
                        const char *fund, mpq_srcptr count,
                        line_item_f callback, void *arg, gl_error_t *error)
{
    int64_t day = zone_instant (e->site->zone, &asset->in_service);
    line_item_t *row = &e->row;

    begin (e, LINE_ITEM_PURCHASE, asset->pool, NULL, asset->name);
    row->fund = fund;
    row->start = day;
    row->end = zone_unit (e->site->zone, CALENDAR_DAY, day).end;
    put_chunks (row, count, asset->price);
    mpz_neg (row->prepaid, row->billed);
    return callback (row, arg, error);
}

static int emit_purchase (owner_cost_t *e, const site_asset_t *asset,
                          line_item_f callback, void *arg, gl_error_t *error)
{
    int64_t day = zone_instant (e->site->zone, &asset->in_service);
    const share_list_t *funding = &asset->funding;
    mpq_t count;
    int rc = 0;

    if (day < e->month.start || day >= e->month.end)
        return 0;
    if (funding->count == 0)
        return emit_chunks (e, asset, NULL, asset->units, callback, arg, error);
    mpq_init (count);
    for (size_t i = 0; i < funding->count && rc == 0; i++) {
        mpq_mul (count, asset->units, funding->item[i].share);
        if (mpq_sgn (count) > 0)
            rc = emit_chunks (e, asset, funding->item[i].name, count, callback,
                              arg, error);
    }
    mpq_clear (count);
    return rc;
}

/* Time has the hardware; a disposal that is in no charge is in no cost. */
static bool is_cost (const owner_cost_t *e, const bill_cost_t *cost)
{
    return cost->kind != COST_HARDWARE
           && !(cost->kind == COST_DISPOSAL
                && e->site->policy.disposal == DISPOSAL_APART);
}

int owner_cost_finish (owner_cost_t *e, line_item_f callback, void *arg,
                       gl_error_t *error)
{
    size_t count;
    const bill_cost_t *costs = bill_costs (e->bill, &count);

    for (size_t i = 0; i < count; i++)
        if (is_cost (e, &costs[i])
            && emit_cost (e, &costs[i], callback, arg, error) < 0)
            return -1;
    for (size_t i = 0; i < e->pool_count; i++)
        if (emit_rest (e, &e->pools[i], callback, arg, error) < 0)
            return -1;
    for (size_t i = 0; i < e->site->asset_count; i++)
        if (emit_purchase (e, &e->site->assets[i], callback, arg, error) < 0)
            return -1;
    return 0;
}
