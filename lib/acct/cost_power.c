#include <stdbool.h>
#include <string.h>

#include "acct/cost_private.h"
#include "acct/tariff.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"

/* The load of a pool for as long as nothing changes: one entry of `power`, one
 * of `pools`, and where the load follows what jobs hold, one calendar month. */
struct load {
    const site_power_t *power;
    period_t period;
    uint64_t gpus;
    uint64_t nodes;
    mpq_t watts; /* of one GPU, on average */
    mpq_t all;   /* watts of all GPUs and nodes */
};

typedef int (*load_f) (const struct load *load, void *arg, gl_error_t *error);

/* ---- what is drawn ---- */

/* Joules of the pool's GPUs in the month: held ones as measured, else modelled;
 * free ones modelled. */
static void gpu_joules (const site_power_t *power, const cost_use_t *use,
                        mpq_t ret_joules)
{
    mpq_t seconds;

    mpq_init (seconds);
    mpq_set (seconds, use->allocated);
    mpq_set_ui (ret_joules, 0, 1);
    if (power->measured) {
        exact_set_i64 (ret_joules, (int64_t)use->energy_mj, 1000);
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

/* That of the month, over the GPU-seconds in service; as if all were held where
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
        gpu_joules (power, use, ret_watts);
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

/* In the order of `power`, then of `pools`. */
static int each_load (const site_t *site, const char *pool, period_t period,
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

int cost_energy (const site_t *site, const char *pool, period_t period,
                 const cost_inputs_t *inputs, mpq_t ret_kwh, gl_error_t *error)
{
    mpq_set_ui (ret_kwh, 0, 1);
    return each_load (site, pool, period, inputs, sum_kwh, ret_kwh, error);
}

/* ---- its price ---- */

struct bill {
    const site_t *site;
    mpq_t amount;
    buffer_t *how;
};

/* "560 W x 8 GPUs", or with the nodes beside it. */
static char *load_text (const struct load *load)
{
    GL_AUTOFREE char *watts = exact_shortest (load->watts);
    GL_AUTOFREE char *node = exact_shortest (load->power->node_watts);

    if (mpq_sgn (load->power->node_watts) == 0)
        return xasprintf ("%s W x %llu GPUs", watts,
                          (unsigned long long)load->gpus);
    return xasprintf ("(%s W x %llu GPUs + %s W x %llu nodes)", watts,
                      (unsigned long long)load->gpus, node,
                      (unsigned long long)load->nodes);
}

static void add_price (struct bill *bill, const struct load *load,
                       mpq_srcptr price, int64_t seconds)
{
    GL_AUTOFREE char *drawn = load_text (load);
    GL_AUTOFREE char *pue = exact_shortest (load->power->pue);
    GL_AUTOFREE char *per_kwh = exact_shortest (price);
    mpq_t one;

    mpq_init (one);
    mpq_mul (one, load->all, load->power->pue);
    mpq_mul (one, one, price);
    exact_add_scaled (bill->amount, one, seconds, INT64_C (3600) * 1000);
    mpq_clear (one);
    buffer_printf (bill->how, "%s%s x %lld s x PUE %s x %s per kWh",
                   bill->how->length ? "; " : "", drawn, (long long)seconds,
                   pue, per_kwh);
}

static void add_tariff (struct bill *bill, const struct load *load,
                        const site_tariff_t *tariff, period_t part)
{
    int64_t *seconds = xcalloc (tariff->time_count + 1, sizeof (*seconds));

    tariff_seconds (bill->site, tariff, part, seconds);
    for (size_t i = 0; i <= tariff->time_count; i++)
        if (seconds[i] > 0)
            add_price (bill, load, tariff_price (tariff, i), seconds[i]);
    free (seconds);
}

static int price_load (const struct load *load, void *arg, gl_error_t *error)
{
    struct bill *bill = arg;
    char stamp[ZONE_STAMP_SIZE];
    int64_t covered = 0;

    for (size_t i = 0; i < bill->site->tariff_count; i++) {
        const site_tariff_t *tariff = &bill->site->tariffs[i];
        period_t part = period_clip (load->period, tariff->valid);
        if (period_seconds (part) == 0
            || strcmp (tariff->name, load->power->tariff) != 0)
            continue;
        add_tariff (bill, load, tariff, part);
        covered += period_seconds (part);
    }
    if (covered != period_seconds (load->period))
        return gl_error (error,
                         "tariff '%s' does not hold in the whole period from "
                         "%s on, in which pool '%s' needs it; give its dates "
                         "without a gap",
                         load->power->tariff,
                         zone_stamp (bill->site->zone, load->period.start,
                                     stamp),
                         load->power->pool);
    return 0;
}

/* ---- what else a tariff has ---- */

static bool pays_by (const site_t *site, const char *pool, const char *tariff,
                     period_t period)
{
    for (size_t i = 0; i < site->power_count; i++)
        if (!strcmp (site->power[i].pool, pool)
            && !strcmp (site->power[i].tariff, tariff)
            && period_seconds (period_clip (period, site->power[i].valid)) > 0)
            return true;
    return false;
}

/* Loads that are drawn at once add up: the entries of a pool that hold on one
 * day. The highest sum over the beginnings of loads. */
struct peaks {
    struct peak_load {
        period_t period;
        mpq_t kw; /* with PUE */
    } *load;
    size_t count;
    const char *tariff;
};

static int take_peak (const struct load *load, void *arg, gl_error_t *error)
{
    struct peaks *peaks = arg;
    struct peak_load *one;

    (void)error;
    if (strcmp (load->power->tariff, peaks->tariff) != 0)
        return 0;
    peaks->load = xreallocarray (peaks->load, peaks->count + 1,
                                 sizeof (*peaks->load));
    one = &peaks->load[peaks->count++];
    one->period = load->period;
    mpq_init (one->kw);
    exact_add_scaled (one->kw, load->all, 1, 1000);
    mpq_mul (one->kw, one->kw, load->power->pue);
    return 0;
}

static void highest (const struct peaks *peaks, mpq_t ret_kw)
{
    mpq_t sum;

    mpq_init (sum);
    mpq_set_ui (ret_kw, 0, 1);
    for (size_t i = 0; i < peaks->count; i++) {
        int64_t at = peaks->load[i].period.start;
        mpq_set_ui (sum, 0, 1);
        for (size_t k = 0; k < peaks->count; k++)
            if (peaks->load[k].period.start <= at
                && at < peaks->load[k].period.end)
                mpq_add (sum, sum, peaks->load[k].kw);
        if (mpq_cmp (sum, ret_kw) > 0)
            mpq_set (ret_kw, sum);
    }
    mpq_clear (sum);
}

static int peak_kw (const site_t *site, const char *pool, const char *tariff,
                    period_t month, const cost_inputs_t *inputs, mpq_t ret_kw,
                    gl_error_t *error)
{
    struct peaks peaks = {.tariff = tariff};
    int rc = each_load (site, pool, month, inputs, take_peak, &peaks, error);

    highest (&peaks, ret_kw);
    for (size_t i = 0; i < peaks.count; i++)
        mpq_clear (peaks.load[i].kw);
    free (peaks.load);
    return rc;
}

/* The pool's part of the energy of all that pay by the tariff in the month. */
static int energy_share (const site_t *site, const char *pool,
                         const char *tariff, period_t month,
                         const cost_inputs_t *inputs, mpq_t ret_share,
                         gl_error_t *error)
{
    mpq_t all, one;
    int rc = 0;

    mpq_inits (all, one, NULL);
    mpq_set_ui (ret_share, 0, 1);
    for (size_t i = 0; i < site->pool_count && rc == 0; i++) {
        const char *name = site->pools[i].name;
        bool seen = !pays_by (site, name, tariff, month);
        for (size_t k = 0; k < i && !seen; k++)
            seen = !strcmp (site->pools[k].name, name);
        if (seen)
            continue;
        rc = cost_energy (site, name, month, inputs, one, error);
        mpq_add (all, all, one);
        if (!strcmp (name, pool))
            mpq_set (ret_share, one);
    }
    if (mpq_sgn (all) > 0)
        mpq_div (ret_share, ret_share, all);
    mpq_clears (all, one, NULL);
    return rc;
}

static void add_named (const site_t *site, const site_tariff_t *tariff,
                       const char *name, mpq_srcptr amount, mpq_srcptr each,
                       mpq_srcptr times, const char *what, cost_t *cost)
{
    GL_AUTOFREE char *price = exact_shortest (each);
    GL_AUTOFREE char *factor = exact_shortest (times);
    GL_AUTOFREE char *how
        = xasprintf ("%s a month x %s %s", price, factor, what);
    struct item item = {.kind = COST_POWER, .name = name, .amount = amount,
                        .how = how, .place = tariff->place};

    cost_add_line (site, cost, &item);
}

/* Both for one calendar month, of which `part` is asked: what the month has is
 * the same whatever part is. */
static int add_monthly (const site_t *site, const site_tariff_t *tariff,
                        const char *pool, period_t month, period_t part,
                        const cost_inputs_t *inputs, cost_t *cost,
                        gl_error_t *error)
{
    mpq_t months, value, amount;
    int rc;

    mpq_inits (months, value, amount, NULL);
    cost_months (site->zone, part, months);
    rc = peak_kw (site, pool, tariff->name, month, inputs, value, error);
    if (rc == 0 && mpq_sgn (tariff->demand_per_kw) > 0) {
        mpq_mul (amount, tariff->demand_per_kw, value);
        mpq_mul (amount, amount, months);
        add_named (site, tariff, "power demand", amount, tariff->demand_per_kw,
                   value, "kW of the highest load", cost);
    }
    if (rc == 0)
        rc = energy_share (site, pool, tariff->name, month, inputs, value,
                           error);
    if (rc == 0 && mpq_sgn (tariff->fixed_per_month) > 0) {
        mpq_mul (amount, tariff->fixed_per_month, value);
        mpq_mul (amount, amount, months);
        add_named (site, tariff, "power fee", amount, tariff->fixed_per_month,
                   value, "of the energy that pays by the tariff", cost);
    }
    mpq_clears (months, value, amount, NULL);
    return rc;
}

static int add_fees (const site_t *site, const char *pool, period_t period,
                     const cost_inputs_t *inputs, cost_t *cost,
                     gl_error_t *error)
{
    for (size_t i = 0; i < site->tariff_count; i++) {
        const site_tariff_t *tariff = &site->tariffs[i];
        period_t held = period_clip (period, tariff->valid), month;
        if (mpq_sgn (tariff->demand_per_kw) == 0
            && mpq_sgn (tariff->fixed_per_month) == 0)
            continue;
        for (int64_t at = held.start; at < held.end; at = month.end) {
            month = zone_unit (site->zone, CALENDAR_MONTH, at);
            if (pays_by (site, pool, tariff->name, month)
                && add_monthly (site, tariff, pool, month,
                                period_clip (held, month), inputs, cost, error)
                       < 0)
                return -1;
        }
    }
    return 0;
}

/* ---- the lines ---- */

static place_t first_place (const site_t *site, const char *pool)
{
    for (size_t i = 0; i < site->power_count; i++)
        if (!strcmp (site->power[i].pool, pool))
            return site->power[i].place;
    return (place_t){NULL, 0};
}

int cost_add_power (const site_t *site, const char *pool, period_t period,
                    const cost_inputs_t *inputs, cost_t *cost,
                    gl_error_t *error)
{
    BUFFER_AUTO how = BUFFER_INIT;
    struct bill bill = {.site = site, .how = &how};
    struct item item = {.kind = COST_POWER, .name = "power",
                        .amount = bill.amount,
                        .place = first_place (site, pool)};
    int rc;

    mpq_init (bill.amount);
    rc = each_load (site, pool, period, inputs, price_load, &bill, error);
    item.how = buffer_text (&how);
    if (rc == 0)
        cost_add_line (site, cost, &item);
    mpq_clear (bill.amount);
    return rc == 0 ? add_fees (site, pool, period, inputs, cost, error) : rc;
}
