#include <string.h>

#include "base/exact.h"
#include "money/cost_private.h"

#define MJ_PER_KWH INT64_C (3600000000)

/* ---- what was measured ---- */

const pool_load_t *cost_measured_load (const site_power_t *power,
                                       const cost_inputs_t *inputs)
{
    return power->measured && inputs
               ? load_profile_pool (&inputs->load, power->pool)
               : NULL;
}

/* Of the energy of a pool in a month: what is charged when it was used. */
static uint64_t placed_mj (const site_power_t *power, period_t month,
                           const cost_inputs_t *inputs)
{
    const pool_load_t *load = cost_measured_load (power, inputs);

    return load ? pool_load_sum (load, month) : 0;
}

/* ---- what is drawn evenly ---- */

/* Joules of the pool's GPUs in the month at unknown times: allocated ones
 * as measured, else modelled; free ones modelled. */
static void even_joules (const site_power_t *power, const cost_use_t *use,
                         const cost_inputs_t *inputs, mpq_t ret_joules)
{
    uint64_t placed = placed_mj (power, use->period, inputs);
    mpq_t seconds;

    mpq_init (seconds);
    mpq_set (seconds, use->allocated);
    mpq_set_ui (ret_joules, 0, 1);
    if (power->measured) {
        if (use->energy_mj > placed)
            exact_set_i64 (ret_joules, (int64_t)(use->energy_mj - placed),
                           1000);
        mpq_sub (seconds, seconds, use->energy_seconds);
    }
    if (mpq_sgn (seconds) > 0) {
        mpq_mul (seconds, seconds, power->watts_per_gpu);
        mpq_add (ret_joules, ret_joules, seconds);
    }
    mpq_sub (seconds, use->capacity, use->allocated);
    if (mpq_sgn (seconds) > 0) {
        mpq_mul (seconds, seconds, power->idle_watts);
        mpq_add (ret_joules, ret_joules, seconds);
    }
    mpq_clear (seconds);
}

/* That of the month, over the GPU-seconds in service; as if all were allocated where
 * nothing is known of it. */
static void average_watts (const site_power_t *power, const char *pool,
                           period_t month, const cost_inputs_t *inputs,
                           mpq_t ret_watts)
{
    mpq_set (ret_watts, power->watts_per_gpu);
    if (mpq_sgn (power->idle_watts) == 0)
        return;
    for (size_t i = 0; inputs && i < inputs->count; i++) {
        const cost_use_t *use = &inputs->use[i];
        if (strcmp (use->pool, pool) != 0 || mpq_sgn (use->capacity) == 0
            || period_seconds (period_clip (use->period, month)) == 0)
            continue;
        even_joules (power, use, inputs, ret_watts);
        mpq_div (ret_watts, ret_watts, use->capacity);
    }
}

static int one_load (struct load *load, const char *pool, period_t month,
                     const cost_inputs_t *inputs, load_f callback, void *arg,
                     gl_error_t *error)
{
    mpq_t nodes;

    mpq_init (nodes);
    average_watts (load->power, pool, month, inputs, load->watts);
    exact_set_i64 (load->all, (int64_t)load->gpus, 1);
    mpq_mul (load->all, load->all, load->watts);
    exact_set_i64 (nodes, (int64_t)load->nodes, 1);
    mpq_mul (nodes, nodes, load->power->node_watts);
    mpq_add (load->all, load->all, nodes);
    mpq_clear (nodes);
    return callback (load, arg, error);
}

/* The loads of one entry of `power` on one of `pools`. */
static int entry_loads (const site_t *site, const site_power_t *power,
                        const site_pool_t *entry, period_t period,
                        const cost_inputs_t *inputs, load_f callback, void *arg,
                        gl_error_t *error)
{
    struct load load = {.power = power};
    int rc = 0;

    period = period_clip (period_clip (period, power->valid), entry->valid);
    if (period_seconds (period) == 0)
        return 0;
    if (cost_entry_size (entry, &load.gpus, &load.nodes, error) < 0)
        return -1;
    mpq_inits (load.watts, load.all, NULL);
    for (int64_t at = period.start; at < period.end && rc == 0;
         at = load.period.end) {
        period_t month = period;
        if (mpq_sgn (power->idle_watts) > 0)
            month = zone_unit (site->zone, CALENDAR_MONTH, at);
        load.period = period_clip (period, (period_t){at, month.end});
        rc = one_load (&load, power->pool, month, inputs, callback, arg, error);
    }
    mpq_clears (load.watts, load.all, NULL);
    return rc;
}

int cost_each_load (const site_t *site, const char *pool, period_t period,
                    const cost_inputs_t *inputs, load_f callback, void *arg,
                    gl_error_t *error)
{
    for (size_t i = 0; i < site->power_count; i++) {
        if (strcmp (site->power[i].pool, pool) != 0)
            continue;
        for (size_t k = 0; k < site->pool_count; k++) {
            if (strcmp (site->pools[k].name, pool) == 0
                && entry_loads (site, &site->power[i], &site->pools[k], period,
                                inputs, callback, arg, error)
                       < 0)
                return -1;
        }
    }
    return 0;
}

/* ---- energy ---- */

static int sum_kwh (const struct load *load, void *arg, gl_error_t *error)
{
    (void)error;
    exact_add_scaled (arg, load->all, period_seconds (load->period),
                      INT64_C (3600) * 1000);
    return 0;
}

static int sum_above_idle (const struct load *load, void *arg, gl_error_t *error)
{
    mpq_t watts, gpus;

    (void)error;
    if (mpq_sgn (load->power->idle_watts) == 0)
        return 0;
    mpq_inits (watts, gpus, NULL);
    mpq_sub (watts, load->watts, load->power->idle_watts);
    exact_set_i64 (gpus, (int64_t)load->gpus, 1);
    mpq_mul (watts, watts, gpus);
    exact_add_scaled (arg, watts, period_seconds (load->period),
                      INT64_C (3600) * 1000);
    mpq_clears (watts, gpus, NULL);
    return 0;
}

/* What was measured at its time, and what `even` adds of each even load. */
static int sum_energy (const site_t *site, const char *pool, period_t period,
                       const cost_inputs_t *inputs, load_f even, mpq_t ret_kwh,
                       gl_error_t *error)
{
    unsigned __int128 measured = 0;
    mpq_t kwh;

    for (size_t i = 0; i < site->power_count; i++) {
        const site_power_t *power = &site->power[i];
        if (!strcmp (power->pool, pool))
            measured += placed_mj (power, period_clip (period, power->valid),
                                   inputs);
    }
    mpq_init (kwh);
    exact_set_u128 (mpq_numref (kwh), measured);
    mpq_set_ui (ret_kwh, 0, 1);
    exact_add_scaled (ret_kwh, kwh, 1, MJ_PER_KWH);
    mpq_clear (kwh);
    return cost_each_load (site, pool, period, inputs, even, ret_kwh, error);
}

int cost_energy (const site_t *site, const char *pool, period_t period,
                 const cost_inputs_t *inputs, mpq_t ret_kwh, gl_error_t *error)
{
    return sum_energy (site, pool, period, inputs, sum_kwh, ret_kwh, error);
}

int cost_energy_by_use (const site_t *site, const char *pool, period_t period,
                        const cost_inputs_t *inputs, mpq_t ret_kwh,
                        gl_error_t *error)
{
    int rc = sum_energy (site, pool, period, inputs, sum_above_idle, ret_kwh,
                         error);

    /* GPUs that measured less than idle_watts cause nothing. */
    if (mpq_sgn (ret_kwh) < 0)
        mpq_set_ui (ret_kwh, 0, 1);
    return rc;
}
