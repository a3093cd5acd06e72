#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/cost_private.h"
#include "money/meter_price.h"
#include "money/tariff.h"

static void sum_init (meter_sum_t *sum)
{
    sum->known = false;
    mpq_inits (sum->kwh, sum->covered, NULL);
}

void meter_balance_init (meter_balance_t *b)
{
    memset (b, 0, sizeof (*b));
    mpq_inits (b->allocated, b->idle, b->unmatched, b->rest, b->residual,
               b->with_pue, b->bill, NULL);
    sum_init (&b->nodes);
    sum_init (&b->machines);
    sum_init (&b->facility);
}

void meter_balance_clear (meter_balance_t *b)
{
    mpq_clears (b->allocated, b->idle, b->unmatched, b->rest, b->residual,
                b->with_pue, b->bill, NULL);
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
    uint64_t gpus, nodes = 0;

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
    mpq_add (ret_kwh, b->allocated, b->idle);
    mpq_add (ret_kwh, ret_kwh, b->unmatched);
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

/* Energy with PUE at a price. */
typedef void (*priced_f) (mpq_srcptr per_kwh, mpq_srcptr kwh, void *arg);

/* A time in which one tariff holds: what falls on each of its prices. */
static void price_part (const site_t *site, const site_power_t *power,
                        const site_tariff_t *tariff, period_t part,
                        const meter_reading_t *reading, priced_f callback,
                        void *arg)
{
    int64_t *seconds = xcalloc (tariff->time_count + 1, sizeof (*seconds));
    mpq_t kwh;

    mpq_init (kwh);
    tariff_seconds (site, tariff, part, seconds);
    for (size_t i = 0; i <= tariff->time_count; i++) {
        if (seconds[i] == 0)
            continue;
        mpq_set_ui (kwh, 0, 1);
        add_part (reading, seconds[i], kwh);
        mpq_mul (kwh, kwh, power->pue);
        callback (tariff_price (tariff, i), kwh, arg);
    }
    mpq_clear (kwh);
    free (seconds);
}

/* One reading; false: no one tariff holds. */
static bool price_reading (const site_t *site, period_t part,
                           const meter_reading_t *reading, priced_f callback,
                           void *arg)
{
    for (period_t p = {part.start, 0}; p.start < part.end; p.start = p.end) {
        const site_power_t *power = power_at (site, p.start);
        const site_tariff_t *tariff
            = power ? tariff_at (site, power->tariff, p.start) : NULL;
        p.end = unchanged_until (site, p.start, part.end);
        if (!tariff)
            return false;
        price_part (site, power, tariff, p, reading, callback, arg);
    }
    return true;
}

static bool price_machines (const site_t *site, period_t period,
                            const meter_reading_t *readings, size_t count,
                            priced_f callback, void *arg)
{
    for (size_t i = 0; i < count; i++) {
        const site_meter_t *meter = find_meter (site, readings[i].meter);
        period_t part = period_clip (period, readings[i].period);
        if (meter && meter->measures == METER_MACHINES
            && period_seconds (part) > 0
            && !price_reading (site, part, &readings[i], callback, arg))
            return false;
    }
    return true;
}

static void add_to_bill (mpq_srcptr per_kwh, mpq_srcptr kwh, void *arg)
{
    meter_balance_t *b = arg;
    mpq_t amount;

    mpq_init (amount);
    mpq_mul (amount, kwh, per_kwh);
    mpq_add (b->with_pue, b->with_pue, kwh);
    mpq_add (b->bill, b->bill, amount);
    mpq_clear (amount);
}

/* Where its price stands, or belongs: the dearest first. */
static void add_to_prices (mpq_srcptr per_kwh, mpq_srcptr kwh, void *arg)
{
    meter_prices_t *prices = arg;
    size_t i = 0;

    while (i < prices->count
           && mpq_cmp (prices->price[i].per_kwh, per_kwh) > 0)
        i++;
    if (i == prices->count || !mpq_equal (prices->price[i].per_kwh, per_kwh)) {
        prices->price = xreallocarray (prices->price, prices->count + 1,
                                       sizeof (*prices->price));
        memmove (&prices->price[i + 1], &prices->price[i],
                 (prices->count++ - i) * sizeof (*prices->price));
        mpq_inits (prices->price[i].per_kwh, prices->price[i].kwh, NULL);
        mpq_set (prices->price[i].per_kwh, per_kwh);
    }
    mpq_add (prices->price[i].kwh, prices->price[i].kwh, kwh);
}

void meter_prices (const site_t *site, period_t period,
                   const meter_reading_t *readings, size_t count,
                   meter_prices_t *ret_prices)
{
    *ret_prices = (meter_prices_t){NULL, 0};
    price_machines (site, period, readings, count, add_to_prices, ret_prices);
}

void meter_prices_free (meter_prices_t *prices)
{
    for (size_t i = 0; i < prices->count; i++)
        mpq_clears (prices->price[i].per_kwh, prices->price[i].kwh, NULL);
    free (prices->price);
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
    b->priced = b->machines.known
                && price_machines (site, period, readings, count, add_to_bill,
                                   b);
    return 0;
}
