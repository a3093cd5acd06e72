/*
 * carbon.h: the energy of a part of a job, and the CO2e that it and the making of the
 * GPUs cause.
 *
 *   measured   what the counters of the GPUs counted
 *   modelled   power.watts_per_gpu x the time that they did not tell, and the rest of
 *              the nodes: power.node_watts / gpus_per_node x all time
 *   facility   (measured + modelled) x PUE
 *   emissions  facility x the intensity of the grid: the series' mean over the time,
 *              as far as it has values, else g_per_kwh (location-based: GHG Protocol,
 *              Scope 2 Guidance)
 *   embodied   kg_per_gpu / life_months x 12 / 8766 h x the GPU hours; kept apart
 *
 * A pool without `power` has measured energy alone, and no PUE. Exact: kWh and grams.
 * Pure.
 */
#ifndef GL_CARBON_CARBON_H
#define GL_CARBON_CARBON_H

#include "carbon/series.h"
#include "ledger/bill.h"
#include "site/site.h"
#include "usage/usage.h"

/* It has an entry of power, grid or embodied. */
bool carbon_is_configured (const site_t *site);
/* Some grid has a series: hours matter. */
bool carbon_has_series (const site_t *site);

/* The series of an entry of `grid`; NULL: it has none. Borrowed. */
typedef const series_t *(*carbon_series_f) (const site_grid_t *grid, void *arg);

/* The `grid` of a cluster at an instant: the first that holds. NULL: none. */
const site_grid_t *carbon_grid (const site_t *site, const char *cluster,
                                int64_t instant);
/* Likewise of a pool; NULL: none. */
const site_power_t *carbon_power (const site_t *site, const char *pool,
                                  int64_t instant);
const site_embodied_t *carbon_embodied (const site_t *site, const char *pool,
                                        int64_t instant);

/* Instants within the period at which an entry of power, grid or embodied begins or
 * ends, ascending. Yours to free. */
int64_t *carbon_cuts (const site_t *site, period_t period, size_t *ret_count);

/* What a part of usage caused, as the measures of an initialised row; its texts stay as
 * they are. Of all entries those that hold when the period begins. */
void carbon_of_part (const site_t *site, const usage_part_t *part,
                     period_t period, const char *cluster, const char *pool,
                     carbon_series_f series, void *arg, bill_carbon_t *ret);

/* The intensity of the grid over the period, g/kWh, and the share of it that is of the
 * series. */
void carbon_intensity (const site_grid_t *grid, period_t period,
                       carbon_series_f series, void *arg, mpq_t ret,
                       mpq_t ret_series_share);

#endif /* !GL_CARBON_CARBON_H */
