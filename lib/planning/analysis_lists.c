#include "base/exact.h"
#include "base/memory.h"
#include "planning/analysis_lists.h"
#include "planning/mix.h"

#define DEMAND_MAX 100000
#define GPUS_MAX 1000000

/* ---- tiers ---- */

int analysis_check_tiers (const text_list_t *tiers, gl_error_t *error)
{
    mpq_t above, price, last;
    int rc = 0;

    mpq_inits (above, price, last, NULL);
    for (size_t i = 0; i + 1 < tiers->count && rc == 0; i += 2) {
        const char *from = tiers->item[i], *per_gb = tiers->item[i + 1];
        if (exact_parse (from, above, error) < 0
            || exact_parse (per_gb, price, error) < 0 || mpq_sgn (price) < 0)
            rc = gl_error (error,
                           "`per_gb_above`: '%.40s: %.40s' is no number of GB "
                           "and a price",
                           from, per_gb);
        else if (i == 0 ? mpq_sgn (above) != 0 : mpq_cmp (above, last) <= 0)
            rc = gl_error (error,
                           i == 0 ? "`per_gb_above` must begin with 0, not "
                                    "'%.40s'"
                                  : "`per_gb_above`: '%.40s' is not more than "
                                    "the GB before it",
                           from);
        mpq_set (last, above);
    }
    mpq_clears (above, price, last, NULL);
    return rc;
}

void analysis_take_tiers (const text_list_t *tiers, values_t *values)
{
    mpq_t traffic, cost, above, price, last;

    mpq_inits (traffic, cost, above, price, last, NULL);
    if (values_compute (values, "gb_per_day * days", traffic))
        /* from the highest tier down: what is above it, at its price */
        for (size_t i = tiers->count; i >= 2; i -= 2) {
            exact_parse (tiers->item[i - 2], above, NULL);
            exact_parse (tiers->item[i - 1], price, NULL);
            if (mpq_cmp (traffic, above) <= 0)
                continue;
            mpq_sub (last, traffic, above);
            mpq_mul (last, last, price);
            mpq_add (cost, cost, last);
            mpq_set (traffic, above);
        }
    values_set (values, "tiered_cost", cost);
    mpq_clears (traffic, cost, above, price, last, NULL);
}

/* ---- demand ---- */

int analysis_check_demand (const text_list_t *demand, gl_error_t *error)
{
    bool any = demand->count == 0;
    int rc = 0;
    mpq_t q;

    mpq_init (q);
    if (demand->count > DEMAND_MAX)
        rc = gl_error (error, "`demand` has more than %d numbers", DEMAND_MAX);
    for (size_t i = 0; i < demand->count && rc == 0; i++) {
        gl_error_t none;
        if (exact_parse (demand->item[i], q, &none) < 0 || mpq_sgn (q) < 0
            || mpq_cmp_ui (q, GPUS_MAX, 1) > 0)
            rc = gl_error (error,
                           "`demand`: '%.40s' is no number of GPUs of 0 to %d",
                           demand->item[i], GPUS_MAX);
        any = any || mpq_sgn (q) > 0;
    }
    if (rc == 0 && !any)
        rc = gl_error (error, "`demand` has no GPU in use");
    mpq_clear (q);
    return rc;
}

static void take_curve (const text_list_t *demand, curve_t *ret_curve)
{
    mpq_t *gpus = xcalloc (demand->count, sizeof (*gpus));

    for (size_t i = 0; i < demand->count; i++) {
        mpq_init (gpus[i]);
        exact_parse (demand->item[i], gpus[i], NULL);
    }
    curve_init (ret_curve, (const mpq_t *)gpus, demand->count);
    for (size_t i = 0; i < demand->count; i++)
        mpq_clear (gpus[i]);
    free (gpus);
}

static void set_cost (const curve_t *demand, const mix_prices_t *prices,
                      uint64_t reserved, const char *name, values_t *values)
{
    mix_t mix;

    mix_init (&mix);
    mix_at (demand, prices, 0, reserved, &mix);
    values_set (values, name, mix.per_hour);
    mix_clear (&mix);
}

void analysis_take_demand (const text_list_t *list, values_t *values)
{
    mpq_srcptr spot = values_get (values, "spot");
    mpq_srcptr reserved = values_get (values, "reserved");
    mpq_srcptr may = values_get (values, "interruptible");
    mix_prices_t prices = {.step = 1};
    mpq_t none, one;
    curve_t demand;
    mix_t mix;

    mpq_inits (none, one, NULL);
    mpq_set_ui (one, 1, 1);
    prices.available = one;
    prices.reserved = values_get (values, "price");
    prices.rented = values_get (values, "against");
    prices.spot = spot && mpq_sgn (spot) > 0 ? spot : NULL;
    prices.interruptible = may ? may : none;
    take_curve (list, &demand);
    mix_init (&mix);
    if (reserved && mpq_sgn (reserved) > 0)
        mix_at (&demand, &prices, 0, mpz_get_ui (mpq_numref (reserved)), &mix);
    else
        mix_owning (&demand, &prices, 0, &mix);
    values_set_i64 (values, "floor_gpus", (int64_t)mix.reserved);
    values_set (values, "mean_gpus", demand.mean);
    values_set (values, "spot_gpus", mix.work[MIX_SPOT]);
    values_set (values, "on_demand_gpus", mix.work[MIX_RENTED]);
    set_cost (&demand, &prices, mix.reserved ? mix.reserved - 1 : 0,
              "cost_less", values);
    set_cost (&demand, &prices, mix.reserved + 1, "cost_more", values);
    mix_clear (&mix);
    curve_clear (&demand);
    mpq_clears (none, one, NULL);
}
