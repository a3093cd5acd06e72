#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/paid_by_others.h"
#include "money/cost.h"

char *paid_by_others_names (const site_t *site, const bill_t *bill,
                            const char *month)
{
    size_t count;
    const bill_cost_t *costs = bill_costs (bill, &count);
    text_list_t names = {.count = 0};
    BUFFER_AUTO out = BUFFER_INIT;
    mpq_t all, part;

    mpq_inits (all, part, NULL);
    mpq_set_ui (all, 1, 1);
    for (size_t i = 0; i < count; i++) {
        if (!costs[i].fund || strcmp (costs[i].month, month))
            continue;
        const site_asset_t *asset
            = GL_FIND (site->assets, site->asset_count, it,
                       !strcmp (it->name, costs[i].name));
        cost_recoverable (site, asset ? asset->recoverable : all,
                          costs[i].fund, part);
        if (mpq_cmp (part, all) < 0)
            texts_add_new (&names, costs[i].fund);
    }
    for (size_t i = 0; i < names.count; i++)
        buffer_printf (&out, "%s%s", i ? ", " : "", names.item[i]);
    texts_clear (&names);
    mpq_clears (all, part, NULL);
    return out.length ? xasprintf ("others (%s)", buffer_text (&out))
                      : xstrdup ("others, such as an award,");
}

/* Charges at full cost have the same part of what others paid as the cost that they are made of. */
static bool part_of_others (const bill_pool_t *pool, mpq_t ret_part)
{
    if (pool->has_rate || mpq_sgn (pool->full_cost) <= 0
        || mpz_cmp (pool->full_units, pool->cost_units) != 0)
        return false;
    mpq_sub (ret_part, pool->full_cost, pool->recoverable_cost);
    mpq_div (ret_part, ret_part, pool->full_cost);
    return true;
}

static bool is_at_cost (const char *month, const posting_t *row)
{
    return row->pool && !strcmp (row->month, month)
           && !posting_is_adjustment (row)
           && (row->kind == BILL_CHARGE || row->kind == BILL_IDLE
               || row->kind == BILL_CREDIT);
}

size_t paid_by_others_charged (const bill_t *bill, const char *month,
                               cube_t *ret_teams)
{
    size_t count, pool_count, left_out = 0;
    const posting_t *rows = postings (bill, &count);
    const bill_pool_t *pools = bill_pools (bill, &pool_count);
    cube_t *sums = cube_new (&bill_fields[BILL_POSTINGS], "pool,team");
    mpq_t part, all;
    mpz_t total;
    gl_error_t ignored; /* the total is that of the parts */

    mpq_inits (part, all, NULL);
    mpz_init (total);
    for (size_t i = 0; i < pool_count; i++)
        left_out
            += !strcmp (pools[i].month, month)
               && mpz_cmp (pools[i].full_units, pools[i].recoverable_units) != 0
               && !part_of_others (&pools[i], part);
    for (size_t i = 0; i < count; i++)
        if (is_at_cost (month, &rows[i]))
            cube_add (sums, &rows[i]);
    count = cube_count (sums);
    mpq_t *parts = xcalloc (count + 1, sizeof (*parts));
    mpz_t *units = xcalloc (count + 1, sizeof (*units));
    for (size_t i = 0; i < count; i++) {
        const posting_t *row = cube_row (sums, i);
        const bill_pool_t *pool = GL_FIND (
            pools, pool_count, it,
            !strcmp (it->month, month) && !strcmp (it->pool, row->pool));
        mpz_init (units[i]);
        mpq_init (parts[i]);
        if (!pool || !part_of_others (pool, part))
            continue;
        mpq_set_z (parts[i], row->charge_units);
        mpq_mul (parts[i], parts[i], part);
        mpq_add (all, all, parts[i]);
    }
    exact_round (total, all, 0);
    exact_share (total, (const mpq_t *)parts, count, units, &ignored);
    for (size_t i = 0; i < count; i++) {
        const posting_t *sum = cube_row (sums, i);
        posting_t row;
        posting_init (&row);
        row.team = sum->team;
        mpz_set (row.charge_units, units[i]);
        if (mpz_sgn (units[i]) != 0)
            cube_add (ret_teams, &row);
        row.team = NULL; /* borrowed */
        posting_clear (&row);
        mpz_clear (units[i]);
        mpq_clear (parts[i]);
    }
    free (parts);
    free (units);
    cube_free (sums);
    mpq_clears (part, all, NULL);
    mpz_clear (total);
    return left_out;
}
