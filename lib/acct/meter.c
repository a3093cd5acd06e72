#include <string.h>

#include "acct/cost_private.h"
#include "acct/meter.h"
#include "acct/tariff.h"
#include "base/exact.h"
#include "base/memory.h"

static void sum_init (meter_sum_t *sum)
{
    sum->known = false;
    mpq_inits (sum->kwh, sum->covered, NULL);
}

void meter_balance_init (meter_balance_t *b)
{
    memset (b, 0, sizeof (*b));
    mpq_inits (b->held, b->idle, b->loose, b->rest, b->residual, b->with_pue,
               b->bill, NULL);
    sum_init (&b->nodes);
    sum_init (&b->machines);
    sum_init (&b->facility);
}

void meter_balance_clear (meter_balance_t *b)
{
    mpq_clears (b->held, b->idle, b->loose, b->rest, b->residual, b->with_pue,
                b->bill, NULL);
    mpq_clears (b->nodes.kwh, b->nodes.covered, b->machines.kwh,
                b->machines.covered, b->facility.kwh, b->facility.covered,
                NULL);
}

/* ---- readings ---- */

static const site_meter_t *find_meter (const site_t *site, const char *name)
{
    for (size_t i = 0; i < site->meter_count; i++)
        if (!strcmp (site->meters[i].name, name))
            return &site->meters[i];
    return NULL;
}

static size_t meters_of (const site_t *site, meter_kind_t kind)
{
    size_t count = 0;

    for (size_t i = 0; i < site->meter_count; i++)
        count += site->meters[i].measures == kind;
    return count;
}

/* kWh of the part of a reading that lies in the period. */
static void add_part (const meter_reading_t *reading, int64_t seconds,
                      mpq_t kwh)
{
    mpq_t one;

    mpq_init (one);
    mpz_set_ui (mpq_numref (one), reading->energy_mwh);
    mpz_set_ui (mpq_denref (one), 1000000);
    mpq_canonicalize (one);
    exact_add_scaled (kwh, one, seconds, period_seconds (reading->period));
    mpq_clear (one);
}

static void sum_readings (const site_t *site, meter_kind_t kind,
                          period_t period, const meter_reading_t *readings,
                          size_t count, meter_sum_t *sum)
{
    int64_t covered = 0;
    size_t meters = meters_of (site, kind);

    for (size_t i = 0; i < count; i++) {
        const site_meter_t *meter = find_meter (site, readings[i].meter);
        int64_t seconds
            = period_seconds (period_clip (period, readings[i].period));
        if (!meter || meter->measures != kind || seconds == 0)
            continue;
        add_part (&readings[i], seconds, sum->kwh);
        covered += seconds;
        sum->known = true;
    }
    if (sum->known)
        exact_set_i64 (sum->covered, covered,
                       period_seconds (period) * (int64_t)meters);
}

/* ---- the rest of the nodes ---- */

/* As `power` has it: node_watts of every node. */
static int modelled_rest (const site_t *site, period_t period,
                          meter_balance_t *b, gl_error_t *error)
{
    uint64_t gpus, nodes;

    for (size_t i = 0; i < site->power_count; i++) {
        const site_power_t *power = &site->power[i];
        for (size_t k = 0; k < site->pool_count; k++) {
            const site_pool_t *pool = &site->pools[k];
            period_t part = period_clip (period_clip (period, power->valid),
                                         pool->valid);
            if (mpq_sgn (power->node_watts) == 0 || period_seconds (part) == 0
                || strcmp (pool->name, power->pool) != 0)
                continue;
            if (cost_entry_size (pool, &gpus, &nodes, error) < 0)
                return -1;
            b->rest_known = true;
            exact_add_scaled (b->rest, power->node_watts,
                              (int64_t)nodes * period_seconds (part),
                              INT64_C (3600) * 1000);
        }
    }
    return 0;
}

static void devices (const meter_balance_t *b, mpq_t ret_kwh)
{
    mpq_add (ret_kwh, b->held, b->idle);
    mpq_add (ret_kwh, ret_kwh, b->loose);
}

static int find_rest (const site_t *site, period_t period, meter_balance_t *b,
                      gl_error_t *error)
{
    if (!b->nodes.known)
        return modelled_rest (site, period, b, error);
    if (!b->devices_known)
        return 0;
    b->rest_known = b->rest_metered = true;
    devices (b, b->rest);
    mpq_sub (b->rest, b->nodes.kwh, b->rest);
    return 0;
}

/* ---- the bill ---- */

/* The only entry of `power` by its PUE and tariff at an instant; NULL: none, or
 * they differ. */
static const site_power_t *power_at (const site_t *site, int64_t at)
{
    const site_power_t *found = NULL;

    for (size_t i = 0; i < site->power_count; i++) {
        const site_power_t *power = &site->power[i];
        if (at < power->valid.start || at >= power->valid.end)
            continue;
        if (found
            && (strcmp (found->tariff, power->tariff) != 0
                || !mpq_equal (found->pue, power->pue)))
            return NULL;
        found = power;
    }
    return found;
}

static const site_tariff_t *tariff_at (const site_t *site, const char *name,
                                       int64_t at)
{
    for (size_t i = 0; i < site->tariff_count; i++)
        if (!strcmp (site->tariffs[i].name, name)
            && at >= site->tariffs[i].valid.start
            && at < site->tariffs[i].valid.end)
            return &site->tariffs[i];
    return NULL;
}

static void earlier (int64_t *end, int64_t from, int64_t instant)
{
    if (instant > from && instant < *end)
        *end = instant;
}

/* Until when what holds at the instant does. */
static int64_t unchanged_until (const site_t *site, int64_t at, int64_t end)
{
    for (size_t i = 0; i < site->power_count; i++) {
        earlier (&end, at, site->power[i].valid.start);
        earlier (&end, at, site->power[i].valid.end);
    }
    for (size_t i = 0; i < site->tariff_count; i++) {
        earlier (&end, at, site->tariffs[i].valid.start);
        earlier (&end, at, site->tariffs[i].valid.end);
    }
    return end;
}

/* One reading: at the mean price of its interval. */
static bool price_reading (const site_t *site, period_t part,
                           const meter_reading_t *reading, meter_balance_t *b)
{
    mpq_t kwh, price;
    bool good = true;

    mpq_inits (kwh, price, NULL);
    for (period_t p = {part.start, 0}; p.start < part.end && good;
         p.start = p.end) {
        const site_power_t *power = power_at (site, p.start);
        const site_tariff_t *tariff
            = power ? tariff_at (site, power->tariff, p.start) : NULL;
        p.end = unchanged_until (site, p.start, part.end);
        good = tariff != NULL;
        if (!good)
            break;
        mpq_set_ui (kwh, 0, 1);
        add_part (reading, period_seconds (p), kwh);
        mpq_mul (kwh, kwh, power->pue);
        mpq_add (b->with_pue, b->with_pue, kwh);
        tariff_mean_price (site, tariff, p, price);
        mpq_mul (kwh, kwh, price);
        mpq_add (b->bill, b->bill, kwh);
    }
    mpq_clears (kwh, price, NULL);
    return good;
}

static void price (const site_t *site, period_t period,
                   const meter_reading_t *readings, size_t count,
                   meter_balance_t *b)
{
    b->priced = b->machines.known;
    for (size_t i = 0; i < count && b->priced; i++) {
        const site_meter_t *meter = find_meter (site, readings[i].meter);
        period_t part = period_clip (period, readings[i].period);
        if (meter && meter->measures == METER_MACHINES
            && period_seconds (part) > 0)
            b->priced = price_reading (site, part, &readings[i], b);
    }
}

int meter_balance (const site_t *site, period_t period,
                   const meter_reading_t *readings, size_t count,
                   meter_balance_t *b, gl_error_t *error)
{
    sum_readings (site, METER_NODES, period, readings, count, &b->nodes);
    sum_readings (site, METER_MACHINES, period, readings, count, &b->machines);
    sum_readings (site, METER_FACILITY, period, readings, count, &b->facility);
    if (find_rest (site, period, b, error) < 0)
        return -1;
    devices (b, b->residual);
    mpq_add (b->residual, b->residual, b->rest);
    mpq_sub (b->residual, b->machines.kwh, b->residual);
    price (site, period, readings, count, b);
    return 0;
}
