#include "base/exact.h"
#include "planning/mix.h"

void mix_init (mix_t *mix)
{
    *mix = (mix_t){.works = false};
    mpq_init (mix->per_hour);
    for (size_t i = 0; i < MIX_KINDS; i++)
        mpq_inits (mix->work[i], mix->cost[i], NULL);
}

void mix_clear (mix_t *mix)
{
    mpq_clear (mix->per_hour);
    for (size_t i = 0; i < MIX_KINDS; i++)
        mpq_clears (mix->work[i], mix->cost[i], NULL);
}

void mix_set (mix_t *mix, const mix_t *from)
{
    mix->works = from->works;
    mix->owned = from->owned;
    mix->reserved = from->reserved;
    mpq_set (mix->per_hour, from->per_hour);
    for (size_t i = 0; i < MIX_KINDS; i++) {
        mpq_set (mix->work[i], from->work[i]);
        mpq_set (mix->cost[i], from->cost[i]);
    }
}

/* ---- what is left to rent by the hour ---- */

static bool uses_spot (const mix_prices_t *prices)
{
    return prices->spot && mpq_sgn (prices->interruptible) > 0
           && (!prices->rented || mpq_cmp (prices->spot, prices->rented) < 0);
}

/* The share of the demand that spot cannot take. */
static void firm_share (const mix_prices_t *prices, mpq_t ret_share)
{
    mpq_set_ui (ret_share, 1, 1);
    if (uses_spot (prices))
        mpq_sub (ret_share, ret_share, prices->interruptible);
}

/* mean max (0, f D - level) = f x mean max (0, D - level / f) */
static void firm_above (const curve_t *demand, const mix_prices_t *prices,
                        mpq_srcptr level, mpq_t ret_mean)
{
    mpq_t share, q;

    mpq_inits (share, q, NULL);
    firm_share (prices, share);
    if (mpq_sgn (share) > 0) {
        mpq_div (q, level, share);
        curve_above (demand, q, q);
        mpq_mul (q, q, share);
    }
    mpq_swap (ret_mean, q);
    mpq_clears (share, q, NULL);
}

static void add_cost (mix_t *mix, mix_kind_t kind, mpq_srcptr hours,
                      mpq_srcptr price)
{
    if (price)
        mpq_mul (mix->cost[kind], hours, price);
    else
        mpq_set_ui (mix->cost[kind], 0, 1);
    mpq_add (mix->per_hour, mix->per_hour, mix->cost[kind]);
    mix->works = mix->works && (price || mpq_sgn (hours) == 0);
}

/* `level` GPUs are there at all hours: the work that they leave and what it
 * costs. */
static void rent_rest (const curve_t *demand, const mix_prices_t *prices,
                       mpq_srcptr level, mix_t *mix)
{
    mpq_ptr spot = mix->work[MIX_SPOT], rented = mix->work[MIX_RENTED];

    firm_above (demand, prices, level, rented);
    curve_above (demand, level, spot);
    mpq_sub (spot, spot, rented);
    add_cost (mix, MIX_SPOT, spot, prices->spot);
    add_cost (mix, MIX_RENTED, rented, prices->rented);
}

/* ---- one mix ---- */

static void supply (const mix_prices_t *prices, uint64_t owned, mpq_t ret_gpus)
{
    mpq_set_ui (ret_gpus, owned, 1);
    mpq_mul (ret_gpus, ret_gpus, prices->available);
}

void mix_at (const curve_t *demand, const mix_prices_t *prices, uint64_t owned,
             uint64_t reserved, mix_t *mix)
{
    mpq_t level, count, left;

    mpq_inits (level, count, left, NULL);
    mpq_set_ui (mix->per_hour, 0, 1);
    mix->works = true;
    mix->owned = owned;
    mix->reserved = reserved;
    mpq_set_ui (count, owned, 1);
    add_cost (mix, MIX_OWNED, count, prices->owned);
    mpq_set_ui (count, reserved, 1);
    add_cost (mix, MIX_RESERVED, count, prices->reserved);
    supply (prices, owned, level);
    curve_above (demand, level, left);
    mpq_sub (mix->work[MIX_OWNED], demand->mean, left);
    mpq_add (level, level, count);
    rent_rest (demand, prices, level, mix);
    mpq_sub (left, left, mix->work[MIX_SPOT]);
    mpq_sub (mix->work[MIX_RESERVED], left, mix->work[MIX_RENTED]);
    mpq_clears (level, count, left, NULL);
}

/* ---- how many to reserve ---- */

/* One more saves more by the hour than it costs at all hours. */
static bool one_more_pays (const curve_t *demand, const mix_prices_t *prices,
                           uint64_t owned, uint64_t reserved, mix_t *mix)
{
    bool pays;
    mpq_t before;

    mpq_init (before);
    mix_at (demand, prices, owned, reserved, mix);
    mpq_set (before, mix->per_hour);
    mix_at (demand, prices, owned, reserved + 1, mix);
    pays = mpq_cmp (mix->per_hour, before) < 0;
    mpq_clear (before);
    return pays;
}

/* Without a price by the hour, what spot cannot take has to be reserved. */
static uint64_t must_reserve (const curve_t *demand, const mix_prices_t *prices,
                              mpq_srcptr owned)
{
    uint64_t gpus = 0;
    mpq_t share;

    mpq_init (share);
    firm_share (prices, share);
    if (!prices->rented)
        gpus = curve_gpus_above (demand, share, owned);
    mpq_clear (share);
    return gpus;
}

void mix_owning (const curve_t *demand, const mix_prices_t *prices,
                 uint64_t owned, mix_t *mix)
{
    uint64_t pays = 0, end = 0;
    mpq_t level, all;

    mpq_inits (level, all, NULL);
    supply (prices, owned, level);
    mpq_set_ui (all, 1, 1);
    if (prices->reserved) {
        pays = must_reserve (demand, prices, level);
        end = curve_gpus_above (demand, all, level);
    }
    while (pays < end) {
        uint64_t middle = pays + (end - pays) / 2;
        if (one_more_pays (demand, prices, owned, middle, mix))
            pays = middle + 1;
        else
            end = middle;
    }
    mix_at (demand, prices, owned, pays, mix);
    mpq_clears (level, all, NULL);
}

/* ---- how many to own ---- */

uint64_t mix_all_owned (const curve_t *demand, const mix_prices_t *prices)
{
    uint64_t nodes = 0;
    mpq_t none, share;

    if (!prices->owned)
        return 0;
    mpq_inits (none, share, NULL);
    mpq_set_ui (share, prices->step, 1);
    mpq_mul (share, share, prices->available);
    mpq_inv (share, share);
    nodes = curve_gpus_above (demand, share, none);
    mpq_clears (none, share, NULL);
    return nodes * prices->step;
}

void mix_best (const curve_t *demand, const mix_prices_t *prices, mix_t *mix)
{
    uint64_t most = mix_all_owned (demand, prices);
    mix_t other;

    mix_init (&other);
    mix_owning (demand, prices, 0, mix);
    for (uint64_t owned = prices->step; owned <= most; owned += prices->step) {
        mix_owning (demand, prices, owned, &other);
        if (other.works
            && (!mix->works || mpq_cmp (other.per_hour, mix->per_hour) < 0))
            mix_set (mix, &other);
    }
    mix_clear (&other);
}
