#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/cost_peak.h"

/* A reading of a longer interval shows no demand. */
#define DEMAND_SECONDS_MAX 3600

bool demand_payer (const struct demand *d, size_t pool)
{
    const site_pool_t *pools = d->site->pools;

    for (size_t i = 0; i < pool; i++)
        if (!strcmp (pools[i].name, pools[pool].name))
            return false;
    return cost_pays_by (d->site, pools[pool].name, d->tariff, d->month);
}

/* ---- what is drawn at once ---- */

static int take_drawn (const struct load *load, void *arg, gl_error_t *error)
{
    struct demand *d = arg;
    struct drawn *one;

    (void)error;
    if (strcmp (load->power->tariff, d->tariff) != 0)
        return 0;
    d->drawn
        = xreallocarray (d->drawn, d->consumed_count + 1, sizeof (*d->drawn));
    one = &d->drawn[d->consumed_count++];
    one->pool = load->power->pool;
    one->period = load->period;
    mpq_init (one->kw);
    exact_add_scaled (one->kw, load->all, 1, 1000);
    mpq_mul (one->kw, one->kw, load->power->pue);
    return 0;
}

static void add_metered (struct demand *d, const site_power_t *power)
{
    const pool_load_t *load = cost_measured_load (power, d->inputs);
    struct metered *one;

    if (!load || strcmp (power->tariff, d->tariff) != 0)
        return;
    d->metered = xreallocarray (d->metered, d->metered_count + 1,
                                sizeof (*d->metered));
    one = &d->metered[d->metered_count++];
    one->power = power;
    one->load = load;
    mpz_init (one->weight);
    mpz_lcm (d->scale, d->scale, mpq_denref (power->pue));
}

static void weigh (struct demand *d)
{
    for (size_t i = 0; i < d->metered_count; i++) {
        struct metered *one = &d->metered[i];
        mpz_divexact (one->weight, d->scale, mpq_denref (one->power->pue));
        mpz_mul (one->weight, one->weight, mpq_numref (one->power->pue));
    }
}

int demand_init (struct demand *d, gl_error_t *error)
{
    mpz_init_set_ui (d->scale, 1);
    for (size_t i = 0; i < d->site->pool_count; i++)
        if (demand_payer (d, i)
            && cost_each_load (d->site, d->site->pools[i].name, d->month,
                               d->inputs, take_drawn, d, error)
                   < 0)
            return -1;
    for (size_t i = 0; i < d->site->power_count; i++)
        add_metered (d, &d->site->power[i]);
    weigh (d);
    return 0;
}

void demand_clear (struct demand *d)
{
    for (size_t i = 0; i < d->consumed_count; i++)
        mpq_clear (d->drawn[i].kw);
    for (size_t i = 0; i < d->metered_count; i++)
        mpz_clear (d->metered[i].weight);
    mpz_clear (d->scale);
    free (d->drawn);
    free (d->metered);
}

static bool holds (period_t period, int64_t instant)
{
    return period.start <= instant && instant < period.end;
}

/* What GPUs measured in the quarters that begin in the period: millijoules x
 * `scale`, with PUE; of one pool, or of all (NULL). */
static void measured_in (const struct demand *d, const char *pool,
                         period_t period, mpz_t ret_scaled)
{
    mpz_t energy;

    mpz_init (energy);
    mpz_set_ui (ret_scaled, 0);
    for (size_t i = 0; i < d->metered_count; i++) {
        const struct metered *one = &d->metered[i];
        if (!holds (one->power->valid, period.start)
            || (pool && strcmp (pool, one->power->pool) != 0))
            continue;
        exact_set_u128 (energy, pool_load_sum (one->load, period));
        mpz_addmul (ret_scaled, energy, one->weight);
    }
    mpz_clear (energy);
}

void demand_kw (const struct demand *d, const char *pool, period_t period,
                mpq_t ret_kw)
{
    mpq_t measured;

    mpq_init (measured);
    measured_in (d, pool, period, mpq_numref (measured));
    mpz_set (mpq_denref (measured), d->scale);
    mpq_canonicalize (measured);
    mpq_set_ui (ret_kw, 0, 1);
    exact_add_scaled (ret_kw, measured, 1,
                      period_seconds (period) * INT64_C (1000000));
    for (size_t i = 0; i < d->consumed_count; i++)
        if (holds (d->drawn[i].period, period.start)
            && (!pool || !strcmp (pool, d->drawn[i].pool)))
            mpq_add (ret_kw, ret_kw, d->drawn[i].kw);
    mpq_clear (measured);
}

period_t demand_quarters (period_t period)
{
    int64_t last = period.end + LOAD_SECONDS - 1;

    return (period_t){period.start - period.start % LOAD_SECONDS,
                      last - last % LOAD_SECONDS};
}

/* ---- the highest load, modelled ---- */

static void raise_peak (struct peak *peak, const mpq_t kw, period_t period,
                        bool by_meters)
{
    if (mpq_cmp (kw, peak->kw) <= 0)
        return;
    mpq_set (peak->kw, kw);
    peak->period = period;
    peak->by_meters = by_meters;
}

/* Within a time in which the even load stays the same. */
static void highest_quarter (const struct demand *d, period_t period,
                             struct peak *peak)
{
    period_t best = {period.start, period.start + LOAD_SECONDS};
    mpz_t most, one;
    mpq_t kw;

    mpz_inits (most, one, NULL);
    for (int64_t at = demand_quarters (period).start;
         at < period.end && d->metered_count > 0; at += LOAD_SECONDS) {
        period_t quarter = {at, at + LOAD_SECONDS};
        if (at < period.start)
            continue;
        measured_in (d, NULL, quarter, one);
        if (mpz_cmp (one, most) > 0) {
            mpz_set (most, one);
            best = quarter;
        }
    }
    mpq_init (kw);
    demand_kw (d, NULL, best, kw);
    raise_peak (peak, kw, best, false);
    mpq_clear (kw);
    mpz_clears (most, one, NULL);
}

static void modelled_peak (const struct demand *d, period_t period,
                           struct peak *peak)
{
    size_t count = 0;
    int64_t *cuts = xcalloc (2 * (d->consumed_count + d->metered_count) + 2,
                             sizeof (*cuts));

    cuts[count++] = period.start;
    cuts[count++] = period.end;
    for (size_t i = 0; i < d->consumed_count; i++) {
        cuts[count++] = period_clip (d->drawn[i].period, period).start;
        cuts[count++] = period_clip (d->drawn[i].period, period).end;
    }
    count = instants_sort (cuts, count);
    for (size_t i = 1; i < count; i++)
        if (cuts[i - 1] >= period.start && cuts[i] <= period.end)
            highest_quarter (d, (period_t){cuts[i - 1], cuts[i]}, peak);
    free (cuts);
}

/* ---- the highest load, by meters ---- */

/* Meters of one sort that tell the load: each has its place in the readings. */
struct meters {
    const struct demand *demand;
    meter_kind_t kind;
    const meter_reading_t *reading; /* by meter, then time */
    size_t count;
    struct meter_at {
        size_t at;
        size_t end;
    } *meter;
    size_t meter_count;
    struct peak *peak;
    period_t gap; /* the current one */
};

/* Every pool that pays for power in the month pays by this tariff. */
static bool is_only_tariff (const struct demand *d)
{
    for (size_t i = 0; i < d->site->power_count; i++) {
        const site_power_t *power = &d->site->power[i];
        if (period_seconds (period_clip (d->month, power->valid)) > 0
            && strcmp (power->tariff, d->tariff) != 0)
            return false;
    }
    return true;
}

static bool is_of (const struct demand *d, const site_meter_t *meter,
                   meter_kind_t kind)
{
    return meter->measures == kind
           && (meter->tariff ? !strcmp (meter->tariff, d->tariff)
                             : is_only_tariff (d));
}

static bool shows_demand (const struct demand *d,
                          const meter_reading_t *reading)
{
    return period_seconds (reading->period) <= DEMAND_SECONDS_MAX
           && period_seconds (period_clip (d->month, reading->period)) > 0;
}

/* Where the meter's readings lie; false: none of them shows a demand in the
 * month. */
static bool find_readings (struct meters *m, const char *name)
{
    struct meter_at at = {0, 0};
    bool found = false;

    while (at.at < m->count && strcmp (m->reading[at.at].meter, name) != 0)
        at.at++;
    at.end = at.at;
    while (at.end < m->count && !strcmp (m->reading[at.end].meter, name))
        found = shows_demand (m->demand, &m->reading[at.end++]) || found;
    m->meter[m->meter_count++] = at;
    return found;
}

static bool find_meters (struct meters *m, meter_kind_t kind)
{
    const site_t *site = m->demand->site;
    bool found = false;

    m->kind = kind;
    m->meter_count = 0;
    for (size_t i = 0; i < site->meter_count; i++)
        if (is_of (m->demand, &site->meters[i], kind))
            found = find_readings (m, site->meters[i].name) || found;
    return found;
}

/* PUE of what machines draw: of pools that have several, on average by load. */
static void pue_of (const struct demand *d, period_t interval, mpq_t ret_pue)
{
    mpq_t kw, all, machines;

    mpq_inits (kw, all, machines, NULL);
    for (size_t i = 0; i < d->site->power_count; i++) {
        const site_power_t *power = &d->site->power[i];
        if (strcmp (power->tariff, d->tariff) != 0
            || !holds (power->valid, interval.start))
            continue;
        demand_kw (d, power->pool, demand_quarters (interval), kw);
        mpq_set (ret_pue, power->pue);
        mpq_add (all, all, kw);
        mpq_div (kw, kw, power->pue);
        mpq_add (machines, machines, kw);
    }
    if (mpq_sgn (machines) > 0)
        mpq_div (ret_pue, all, machines);
    mpq_clears (kw, all, machines, NULL);
}

/* kW of all meters in an interval within which no reading begins or ends; false:
 * some tells nothing. */
static bool metered_kw (struct meters *m, period_t interval, mpq_t ret_kw)
{
    mpq_t one, pue;
    bool known = true;

    mpq_inits (one, pue, NULL);
    mpq_set_ui (ret_kw, 0, 1);
    mpq_set_ui (pue, 1, 1);
    for (size_t i = 0; i < m->meter_count && known; i++) {
        struct meter_at *at = &m->meter[i];
        const meter_reading_t *r;
        while (at->at < at->end
               && m->reading[at->at].period.end <= interval.start)
            at->at++;
        r = &m->reading[at->at];
        known = at->at < at->end && holds (r->period, interval.start)
               && shows_demand (m->demand, r);
        if (!known)
            break;
        /* mWh / 10^6 in kWh, over hours */
        exact_set_u128 (mpq_numref (one), r->energy_mwh);
        mpz_set_ui (mpq_denref (one), 1);
        exact_add_scaled (ret_kw, one, 3600,
                          period_seconds (r->period) * INT64_C (1000000));
    }
    if (known && m->kind == METER_MACHINES)
        pue_of (m->demand, interval, pue);
    mpq_mul (ret_kw, ret_kw, pue);
    mpq_clears (one, pue, NULL);
    return known;
}

/* What is not metered is modelled. */
static void end_gap (struct meters *m)
{
    if (period_seconds (m->gap) > 0)
        modelled_peak (m->demand, m->gap, m->peak);
    m->gap = (period_t){0, 0};
}

static void take_interval (struct meters *m, period_t interval)
{
    mpq_t kw;

    mpq_init (kw);
    if (metered_kw (m, interval, kw)) {
        end_gap (m);
        m->peak->read += period_seconds (interval);
        raise_peak (m->peak, kw, interval, true);
    } else {
        if (period_seconds (m->gap) == 0)
            m->gap.start = interval.start;
        m->gap.end = interval.end;
    }
    mpq_clear (kw);
}

static void take_intervals (struct meters *m, period_t known)
{
    int64_t *cuts = xcalloc (2 * m->count + 2, sizeof (*cuts));
    size_t count = 0;

    cuts[count++] = known.start;
    cuts[count++] = known.end;
    for (size_t i = 0; i < m->count; i++) {
        period_t p = m->reading[i].period;
        if (p.start > known.start && p.start < known.end)
            cuts[count++] = p.start;
        if (p.end > known.start && p.end < known.end)
            cuts[count++] = p.end;
    }
    count = instants_sort (cuts, count);
    for (size_t i = 1; i < count; i++)
        take_interval (m, (period_t){cuts[i - 1], cuts[i]});
    end_gap (m);
    free (cuts);
}

period_t demand_known (const struct demand *d)
{
    period_t known = {d->month.start, d->month.start};

    for (size_t i = 0; d->inputs && i < d->inputs->count; i++) {
        period_t use = period_clip (d->inputs->use[i].period, d->month);
        if (period_seconds (use) > 0 && use.end > known.end)
            known.end = use.end;
    }
    return known.end > known.start ? known : d->month;
}

void demand_peak (const struct demand *d, struct peak *peak)
{
    struct meters m = {.demand = d, .peak = peak};

    if (d->inputs) {
        m.reading = d->inputs->meters;
        m.count = d->inputs->meter_count;
    }
    m.meter = xcalloc (d->site->meter_count + 1, sizeof (*m.meter));
    if (find_meters (&m, METER_FACILITY) || find_meters (&m, METER_MACHINES))
        take_intervals (&m, demand_known (d));
    else
        modelled_peak (d, d->month, peak);
    free (m.meter);
}
