/*
 * What power costs in a year that is planned: energy, and what a tariff has beside
 * its price. The load is even, as charges model it without meters and measurement
 * (cost_demand.c): a demand charge is for the mean load, PUE included, and a fee is
 * shared by the energy of the pools that pay by the tariff.
 */
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/cost_private.h"
#include "money/tariff.h"
#include "planning/breakeven_private.h"

static const site_tariff_t *tariff_in_force (const site_t *site,
                                             const char *name, int64_t at)
{
    for (size_t i = 0; i < site->tariff_count; i++) {
        const site_tariff_t *tariff = &site->tariffs[i];
        if (!strcmp (tariff->name, name)
            && breakeven_in_force (tariff->valid, at))
            return tariff;
    }
    return NULL;
}

/* Of one GPU: held for u of the time where idle ones draw less. */
static void gpu_watts (const site_power_t *power, mpq_srcptr utilization,
                       mpq_t ret_watts)
{
    mpq_t idle;

    mpq_set (ret_watts, power->watts_per_gpu);
    if (mpq_sgn (power->idle_watts) == 0)
        return;
    mpq_init (idle);
    mpq_set_ui (idle, 1, 1);
    mpq_sub (idle, idle, utilization);
    mpq_mul (idle, idle, power->idle_watts);
    mpq_mul (ret_watts, ret_watts, utilization);
    mpq_add (ret_watts, ret_watts, idle);
    mpq_clear (idle);
}

/* Of all GPUs and nodes of the entry's pool. */
static int planned_watts (const site_t *site, const site_power_t *power,
                          int64_t at, mpq_srcptr utilization, mpq_t ret_watts,
                          gl_error_t *error)
{
    uint64_t gpus, nodes;
    mpq_t each;
    int rc = 0;

    mpq_init (each);
    gpu_watts (power, utilization, each);
    mpq_set_ui (ret_watts, 0, 1);
    for (size_t i = 0; i < site->pool_count && rc == 0; i++) {
        const site_pool_t *entry = &site->pools[i];
        if (strcmp (entry->name, power->pool) != 0
            || !breakeven_in_force (entry->valid, at))
            continue;
        rc = cost_entry_size (entry, &gpus, &nodes, error);
        if (rc == 0) {
            exact_add_scaled (ret_watts, each, (int64_t)gpus, 1);
            exact_add_scaled (ret_watts, power->node_watts, (int64_t)nodes, 1);
        }
    }
    mpq_clear (each);
    return rc;
}

int breakeven_kwh (const site_t *site, const char *pool, int64_t at,
                   const breakeven_t *b, mpq_t ret_kwh, gl_error_t *error)
{
    mpq_t watts;
    int rc = 0;

    mpq_init (watts);
    mpq_set_ui (ret_kwh, 0, 1);
    for (size_t i = 0; i < site->power_count && rc == 0; i++) {
        const site_power_t *power = &site->power[i];
        if (strcmp (power->pool, pool) != 0
            || !breakeven_in_force (power->valid, at))
            continue;
        rc = planned_watts (site, power, at, b->utilization, watts, error);
        exact_add_scaled (ret_kwh, watts, b->hours, 1000);
    }
    mpq_clear (watts);
    return rc;
}

/* ---- one entry of power, by one tariff ---- */

struct planned {
    const site_t *site;
    const site_power_t *power;
    const site_tariff_t *tariff;
    int64_t at;
    breakeven_t *b;
    mpq_t watts; /* of all machines, without PUE */
    mpq_t pue;
    mpq_t yearly;
};

/* Over the year from `at` on, of even load. */
static void planned_price (const struct planned *p, mpq_t ret_price)
{
    period_t year = {p->at, p->at + INT64_C (365) * 86400};

    if (p->tariff->time_count == 0)
        mpq_set (ret_price, p->tariff->per_kwh);
    else
        tariff_mean_price (p->site, p->tariff,
                           period_clip (year, p->tariff->valid), ret_price);
}

/* F4: over all hours of the year, since the watts are an average. */
static void add_energy (struct planned *p, const breakeven_change_t *change)
{
    mpq_t price, each;

    mpq_inits (price, each, NULL);
    planned_price (p, each);
    breakeven_input (change->per_kwh, each, price);
    mpq_mul (each, p->watts, p->pue);
    mpq_mul (each, each, price);
    mpq_set_ui (p->yearly, 0, 1);
    exact_add_scaled (p->yearly, each, p->b->hours, 1000);
    exact_set_i64 (each, (int64_t)p->b->gpus, 1);
    mpq_div (each, p->watts, each);
    GL_AUTOFREE char *watts = exact_shortest (each);
    GL_AUTOFREE char *pue = exact_shortest (p->pue);
    GL_AUTOFREE char *per_kwh = exact_shortest (price);
    breakeven_add_part (p->b, COST_POWER, "power", p->yearly,
                        xasprintf ("%s W x %d h x PUE %s x %s per kWh", watts,
                                   p->b->hours, pue, per_kwh));
    mpq_clears (price, each, NULL);
}

static void add_demand (struct planned *p)
{
    mpq_t kw, one;

    mpq_inits (kw, one, NULL);
    mpq_mul (one, p->watts, p->pue);
    exact_add_scaled (kw, one, 1, 1000);
    mpq_mul (one, kw, p->tariff->demand_per_kw);
    mpq_set_ui (p->yearly, 0, 1);
    exact_add_scaled (p->yearly, one, 12, 1);
    GL_AUTOFREE char *each = exact_shortest (p->tariff->demand_per_kw);
    GL_AUTOFREE char *load = exact_shortest (kw);
    breakeven_add_part (p->b, COST_POWER, "power demand", p->yearly,
                        xasprintf ("%s a month x 12 x %s kW of even load, over "
                                   "the pool's GPUs",
                                   each, load));
    mpq_clears (kw, one, NULL);
}

/* The pool's part of the energy of all that pay by the tariff. */
static int fee_share (const struct planned *p, mpq_t ret_share,
                      gl_error_t *error)
{
    mpq_t all, one;
    int rc = 0;

    mpq_inits (all, one, NULL);
    for (size_t i = 0; i < p->site->power_count && rc == 0; i++) {
        const site_power_t *power = &p->site->power[i];
        if (strcmp (power->tariff, p->tariff->name) != 0
            || !breakeven_in_force (power->valid, p->at))
            continue;
        rc = planned_watts (p->site, power, p->at, p->b->utilization, one,
                            error);
        mpq_add (all, all, one);
    }
    mpq_set_ui (ret_share, 0, 1);
    if (mpq_sgn (all) > 0)
        mpq_div (ret_share, p->watts, all);
    mpq_clears (all, one, NULL);
    return rc;
}

static int add_fee (struct planned *p, gl_error_t *error)
{
    mpq_t share;
    int rc;

    mpq_init (share);
    rc = fee_share (p, share, error);
    mpq_set_ui (p->yearly, 0, 1);
    exact_add_scaled (p->yearly, p->tariff->fixed_per_month, 12, 1);
    mpq_mul (p->yearly, p->yearly, share);
    GL_AUTOFREE char *each = exact_shortest (p->tariff->fixed_per_month);
    GL_AUTOFREE char *part = exact_shortest (share);
    if (rc == 0)
        breakeven_add_part (p->b, COST_POWER, "power fee", p->yearly,
                            xasprintf ("%s a month x 12 x %s of the energy that "
                                       "pays by the tariff, over the pool's "
                                       "GPUs",
                                       each, part));
    mpq_clear (share);
    return rc;
}

static int add_entry (struct planned *p, const breakeven_change_t *change,
                      gl_error_t *error)
{
    char stamp[ZONE_STAMP_SIZE];

    p->tariff = tariff_in_force (p->site, p->power->tariff, p->at);
    if (!p->tariff)
        return gl_error (error, "no tariff '%s' holds on %s", p->power->tariff,
                         zone_stamp (p->site->zone, p->at, stamp));
    breakeven_input (change->pue, p->power->pue, p->pue);
    if (planned_watts (p->site, p->power, p->at, p->b->utilization, p->watts,
                       error)
        < 0)
        return -1;
    add_energy (p, change);
    add_demand (p);
    return add_fee (p, error);
}

int breakeven_add_power (const site_t *site, int64_t at,
                         const breakeven_change_t *change, breakeven_t *b,
                         gl_error_t *error)
{
    struct planned p = {.site = site, .at = at, .b = b};
    int rc = 0;

    mpq_inits (p.watts, p.pue, p.yearly, NULL);
    for (size_t i = 0; i < site->power_count && rc == 0; i++) {
        p.power = &site->power[i];
        if (!strcmp (p.power->pool, b->pool)
            && breakeven_in_force (p.power->valid, at))
            rc = add_entry (&p, change, error);
    }
    mpq_clears (p.watts, p.pue, p.yearly, NULL);
    return rc;
}
