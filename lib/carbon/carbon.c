#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "carbon/carbon.h"

#define MJ_PER_KWH 3600000000UL
#define WATT_SECONDS_PER_KWH 3600000UL
#define HOURS_PER_YEAR 8766

static const size_t members[] = {
    offsetof (carbon_t, gpu_seconds),    offsetof (carbon_t, known_seconds),
    offsetof (carbon_t, measured_kwh),   offsetof (carbon_t, modelled_kwh),
    offsetof (carbon_t, facility_kwh),   offsetof (carbon_t, grams),
    offsetof (carbon_t, series_kwh),     offsetof (carbon_t, unknown_kwh),
    offsetof (carbon_t, embodied_grams),
};

static mpq_ptr member (carbon_t *carbon, size_t i)
{
    return *(mpq_t *)((char *)carbon + members[i]);
}

void carbon_init (carbon_t *carbon)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (members); i++)
        mpq_init (member (carbon, i));
}

void carbon_clear (carbon_t *carbon)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (members); i++)
        mpq_clear (member (carbon, i));
}

/* --- what the configuration says --------------------------------------------------- */

const site_grid_t *carbon_grid (const site_t *site, const char *cluster,
                                int64_t instant)
{
    for (size_t i = 0; i < site->grid_count; i++) {
        const site_grid_t *g = &site->grid[i];
        if (period_has (g->valid, instant)
            && (!g->cluster || (cluster && !strcmp (g->cluster, cluster))))
            return g;
    }
    return NULL;
}

const site_power_t *carbon_power (const site_t *site, const char *pool,
                                  int64_t instant)
{
    for (size_t i = 0; i < site->power_count; i++)
        if (pool && !strcmp (site->power[i].pool, pool)
            && period_has (site->power[i].valid, instant))
            return &site->power[i];
    return NULL;
}

const site_embodied_t *carbon_embodied (const site_t *site, const char *pool,
                                        int64_t instant)
{
    for (size_t i = 0; i < site->embodied_count; i++)
        if (pool && !strcmp (site->embodied[i].pool, pool)
            && period_has (site->embodied[i].valid, instant))
            return &site->embodied[i];
    return NULL;
}

static void add_cut (int64_t *cut, size_t *count, period_t period, int64_t at)
{
    if (at > period.start && at < period.end)
        cut[(*count)++] = at;
}

int64_t *carbon_cuts (const site_t *site, period_t period, size_t *ret_count)
{
    size_t all = site->power_count + site->grid_count + site->embodied_count;
    int64_t *cut = xcalloc (2 * all + 1, sizeof (*cut));
    size_t count = 0;

    for (size_t i = 0; i < all; i++) {
        size_t k = i;
        period_t valid;
        if (k < site->power_count)
            valid = site->power[k].valid;
        else if ((k -= site->power_count) < site->grid_count)
            valid = site->grid[k].valid;
        else
            valid = site->embodied[k - site->grid_count].valid;
        add_cut (cut, &count, period, valid.start);
        add_cut (cut, &count, period, valid.end);
    }
    *ret_count = instants_sort (cut, count);
    return cut;
}

bool carbon_intensity (const site_grid_t *grid, period_t period,
                       carbon_series_f series, void *arg, mpq_t ret,
                       mpq_t ret_series_share)
{
    const series_t *values = grid ? series (grid, arg) : NULL;
    mpq_t rest;
    int64_t known;

    mpq_set_ui (ret, 0, 1);
    mpq_set_ui (ret_series_share, 0, 1);
    if (!grid)
        return false;
    if (!values || period_seconds (period) <= 0) {
        mpq_set (ret, grid->g_per_kwh);
        return true;
    }
    mpq_init (rest);
    known = series_mean (values, period, ret);
    exact_set_i64 (ret_series_share, known, period_seconds (period));
    mpq_mul (ret, ret, ret_series_share);
    mpq_set_ui (rest, 1, 1);
    mpq_sub (rest, rest, ret_series_share);
    mpq_mul (rest, rest, grid->g_per_kwh);
    mpq_add (ret, ret, rest);
    mpq_clear (rest);
    return true;
}

/* --- a slice ------------------------------------------------------------------------ */

/* to += watts x seconds, in kWh */
static void add_watts (mpq_t to, mpq_srcptr watts, mpq_srcptr seconds)
{
    mpq_t kwh;

    mpq_init (kwh);
    mpq_mul (kwh, watts, seconds);
    mpz_mul_ui (mpq_denref (kwh), mpq_denref (kwh), WATT_SECONDS_PER_KWH);
    mpq_canonicalize (kwh);
    mpq_add (to, to, kwh);
    mpq_clear (kwh);
}

/* The GPU's share of the rest of its node. */
static void node_watts (const site_power_t *power, const site_pool_t *pool,
                        mpq_t ret)
{
    mpq_set (ret, power->node_watts);
    if (pool && pool->gpus_per_node > 0) {
        mpz_mul_si (mpq_denref (ret), mpq_denref (ret), pool->gpus_per_node);
        mpq_canonicalize (ret);
    }
}

static void model (const usage_slice_t *slice, const site_power_t *power,
                   carbon_t *ret)
{
    mpq_t rest, node;

    mpq_inits (rest, node, NULL);
    mpq_sub (rest, ret->gpu_seconds, ret->known_seconds);
    if (mpq_sgn (rest) > 0)
        add_watts (ret->modelled_kwh, power->watts_per_gpu, rest);
    node_watts (power, slice->part.kind->pool, node);
    add_watts (ret->modelled_kwh, node, ret->gpu_seconds);
    mpq_clears (rest, node, NULL);
}

static void take_energy (const site_t *site, const usage_slice_t *slice,
                         const char *pool, carbon_t *ret)
{
    const site_power_t *power = carbon_power (site, pool, slice->period.start);
    const measured_t *m = &slice->part.measured;

    exact_weighted (ret->gpu_seconds, slice->part.kind->weight,
                    slice->part.gres_seconds, 1);
    exact_weighted (ret->known_seconds, slice->part.kind->weight, m->energy_ms,
                    1000);
    mpz_set_ui (mpq_numref (ret->measured_kwh), m->energy_mj);
    mpz_set_ui (mpq_denref (ret->measured_kwh), MJ_PER_KWH);
    mpq_canonicalize (ret->measured_kwh);
    if (power)
        model (slice, power, ret);
    mpq_add (ret->facility_kwh, ret->measured_kwh, ret->modelled_kwh);
    if (power)
        mpq_mul (ret->facility_kwh, ret->facility_kwh, power->pue);
}

static void take_embodied (const site_embodied_t *embodied, carbon_t *ret)
{
    if (!embodied)
        return;
    /* kg x 1000 x 12 / (months x 8766 h x 3600 s) x seconds */
    mpq_set_ui (ret->embodied_grams, 1000 * 12, 1);
    mpq_mul (ret->embodied_grams, ret->embodied_grams, embodied->kg_per_gpu);
    mpq_mul (ret->embodied_grams, ret->embodied_grams, ret->gpu_seconds);
    mpz_mul_ui (mpq_denref (ret->embodied_grams),
                mpq_denref (ret->embodied_grams),
                (unsigned long)embodied->life_months * HOURS_PER_YEAR * 3600);
    mpq_canonicalize (ret->embodied_grams);
}

void carbon_of_slice (const site_t *site, const usage_slice_t *slice,
                      const char *cluster, const char *pool,
                      carbon_series_f series, void *arg, carbon_t *ret)
{
    mpq_t intensity, share;

    for (size_t i = 0; i < GL_ARRAY_SIZE (members); i++)
        mpq_set_ui (member (ret, i), 0, 1);
    if (slice->part.kind->cpu || !slice->part.kind->weight_known)
        return;
    mpq_inits (intensity, share, NULL);
    take_energy (site, slice, pool, ret);
    if (carbon_intensity (carbon_grid (site, cluster, slice->period.start),
                          slice->period, series, arg, intensity, share)) {
        mpq_mul (ret->grams, ret->facility_kwh, intensity);
        mpq_mul (ret->series_kwh, ret->facility_kwh, share);
    } else
        mpq_set (ret->unknown_kwh, ret->facility_kwh);
    take_embodied (carbon_embodied (site, pool, slice->period.start), ret);
    mpq_clears (intensity, share, NULL);
}
