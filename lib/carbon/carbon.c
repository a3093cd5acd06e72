#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "carbon/carbon.h"

#define MJ_PER_KWH 3600000000UL
#define WATT_SECONDS_PER_KWH 3600000UL
#define HOURS_PER_YEAR 8766

/* --- what the configuration says --------------------------------------------------- */

bool carbon_is_configured (const site_t *site)
{
    return site->power_count + site->grid_count + site->embodied_count > 0;
}

bool carbon_has_series (const site_t *site)
{
    return GL_ANY (site->grid, site->grid_count, it, it->series);
}

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

void carbon_intensity (const site_grid_t *grid, period_t period,
                       carbon_series_f series, void *arg, mpq_t ret,
                       mpq_t ret_series_share)
{
    const series_t *values = series (grid, arg);
    mpq_t rest;
    int64_t known;

    mpq_set_ui (ret_series_share, 0, 1);
    if (!values || period_seconds (period) <= 0) {
        mpq_set (ret, grid->g_per_kwh);
        return;
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

static void model (const usage_part_t *part, const site_power_t *power,
                   bill_carbon_t *ret)
{
    mpq_t rest, node;

    mpq_inits (rest, node, NULL);
    mpq_sub (rest, ret->gpu_seconds, ret->known_seconds);
    if (mpq_sgn (rest) > 0)
        add_watts (ret->modelled_kwh, power->watts_per_gpu, rest);
    node_watts (power, part->kind->pool, node);
    add_watts (ret->modelled_kwh, node, ret->gpu_seconds);
    mpq_clears (rest, node, NULL);
}

static void take_energy (const usage_part_t *part, const site_power_t *power,
                         bill_carbon_t *ret)
{
    const measured_t *m = usage_part_measured (part);

    exact_weighted (ret->gpu_seconds, part->kind->weight, part->gres_seconds,
                    1);
    exact_weighted (ret->known_seconds, part->kind->weight, m->energy_ms, 1000);
    mpz_set_ui (mpq_numref (ret->measured_kwh), m->energy_mj);
    mpz_set_ui (mpq_denref (ret->measured_kwh), MJ_PER_KWH);
    mpq_canonicalize (ret->measured_kwh);
    if (power)
        model (part, power, ret);
    else if (mpq_cmp (ret->gpu_seconds, ret->known_seconds) > 0)
        mpq_sub (ret->unknown_seconds, ret->gpu_seconds, ret->known_seconds);
    mpq_add (ret->facility_kwh, ret->measured_kwh, ret->modelled_kwh);
    if (power)
        mpq_mul (ret->facility_kwh, ret->facility_kwh, power->pue);
}

static void take_emissions (const site_grid_t *grid, period_t period,
                            carbon_series_f series, void *arg,
                            bill_carbon_t *ret)
{
    mpq_t intensity, share;

    if (!grid) {
        mpq_set (ret->unknown_kwh, ret->facility_kwh);
        return;
    }
    mpq_inits (intensity, share, NULL);
    carbon_intensity (grid, period, series, arg, intensity, share);
    mpq_mul (ret->grams, ret->facility_kwh, intensity);
    mpq_mul (ret->series_kwh, ret->facility_kwh, share);
    mpq_clears (intensity, share, NULL);
}

static void take_embodied (const site_embodied_t *embodied, bill_carbon_t *ret)
{
    if (!embodied)
        return;
    mpq_set (ret->embodied_seconds, ret->gpu_seconds);
    /* kg x 1000 x 12 / (months x 8766 h x 3600 s) x seconds */
    mpq_set_ui (ret->embodied_grams, 1000 * 12, 1);
    mpq_mul (ret->embodied_grams, ret->embodied_grams, embodied->kg_per_gpu);
    mpq_mul (ret->embodied_grams, ret->embodied_grams, ret->gpu_seconds);
    mpz_mul_ui (mpq_denref (ret->embodied_grams),
                mpq_denref (ret->embodied_grams),
                (unsigned long)embodied->life_months * HOURS_PER_YEAR * 3600);
    mpq_canonicalize (ret->embodied_grams);
}

static void forget_measures (bill_carbon_t *row)
{
    const fields_t *fields = &bill_fields[BILL_CARBON];

    for (size_t i = 0; i < fields->count; i++)
        if (field_is_measure (&fields->field[i]))
            field_reset (&fields->field[i], row);
}

void carbon_of_part (const site_t *site, const usage_part_t *part,
                     period_t period, const char *cluster, const char *pool,
                     carbon_series_f series, void *arg, bill_carbon_t *ret)
{
    forget_measures (ret);
    if (part->kind->cpu || !part->kind->weight_known)
        return;
    take_energy (part, carbon_power (site, pool, period.start), ret);
    take_emissions (carbon_grid (site, cluster, period.start), period, series,
                    arg, ret);
    take_embodied (carbon_embodied (site, pool, period.start), ret);
}
