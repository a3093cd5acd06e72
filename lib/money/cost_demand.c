/*
 * What a tariff has in addition to the price of energy: a demand charge and a fee.
 *
 * Demand is billed for the highest load in the month (in an interval of 15, 30 or
 * 60 minutes: US EIA glossary, "Demand interval"), and shared by coincident load:
 * what each pool drew just then (NARUC Electric Utility Cost Allocation Manual
 * 1992, chapter 4: coincident peak).
 */
#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "money/cost_peak.h"

bool cost_pays_by (const site_t *site, const char *pool, const char *tariff,
                   period_t period)
{
    for (size_t i = 0; i < site->power_count; i++)
        if (!strcmp (site->power[i].pool, pool)
            && !strcmp (site->power[i].tariff, tariff)
            && period_seconds (period_clip (period, site->power[i].valid)) > 0)
            return true;
    return false;
}

/* ---- the pool's part ---- */

/* The pool's part [low, high) of the energy of all that pay by the tariff in the
 * month. */
static int energy_bounds (const struct demand *d, const char *pool,
                          mpq_t ret_low, mpq_t ret_high, gl_error_t *error)
{
    mpq_t all, one;
    int rc = 0;

    mpq_inits (all, one, NULL);
    mpq_set_ui (ret_low, 0, 1);
    mpq_set_ui (ret_high, 0, 1);
    for (size_t i = 0; i < d->site->pool_count && rc == 0; i++) {
        const char *name = d->site->pools[i].name;
        if (!demand_payer (d, i))
            continue;
        rc = cost_energy (d->site, name, d->month, d->inputs, one, error);
        if (!strcmp (name, pool)) {
            mpq_set (ret_low, all);
            mpq_add (ret_high, all, one);
        }
        mpq_add (all, all, one);
    }
    if (mpq_sgn (all) > 0) {
        mpq_div (ret_low, ret_low, all);
        mpq_div (ret_high, ret_high, all);
    }
    mpq_clears (all, one, NULL);
    return rc;
}

static int energy_share (const struct demand *d, const char *pool,
                         mpq_t ret_share, gl_error_t *error)
{
    mpq_t low;
    int rc;

    mpq_init (low);
    rc = energy_bounds (d, pool, low, ret_share, error);
    mpq_sub (ret_share, ret_share, low);
    mpq_clear (low);
    return rc;
}

/* Of the peak: by what it drew then; by energy where nobody is known to have drawn
 * anything. */
static int peak_part (const struct demand *d, const struct peak *peak,
                      const char *pool, mpq_t ret_kw, gl_error_t *error)
{
    period_t quarters = demand_quarters (peak->period);
    mpq_t all;
    int rc = 0;

    mpq_init (all);
    demand_kw (d, NULL, quarters, all);
    demand_kw (d, pool, quarters, ret_kw);
    if (mpq_sgn (all) > 0)
        mpq_div (ret_kw, ret_kw, all);
    else
        rc = energy_share (d, pool, ret_kw, error);
    mpq_mul (ret_kw, ret_kw, peak->kw);
    mpq_clear (all);
    return rc;
}

/* ---- the lines ---- */

/* `booking`: of a fee; NULL: it follows use. */
static void add_named (const site_t *site, const site_tariff_t *tariff,
                       const char *name, mpq_srcptr amount,
                       const struct booking *booking, const char *how,
                       cost_t *cost)
{
    struct item item = {.kind = COST_POWER, .name = name, .amount = amount,
                        .booking = booking,
                        .recoverable = tariff->recoverable,
                        .funding = &tariff->funding, .how = how,
                        .place = tariff->place};

    cost_add_line (site, cost, &item);
}

/* "of 41.25 kW that meters showed in 900 s from 2026-05-12T14:15:00Z on". */
static char *peak_text (const struct demand *d, const struct peak *peak)
{
    GL_AUTOFREE char *all = exact_shortest (peak->kw);
    BUFFER_AUTO text = BUFFER_INIT;
    char stamp[ZONE_STAMP_SIZE];

    zone_stamp (d->site->zone, peak->period.start, stamp);
    if (peak->by_meters)
        buffer_printf (&text, "metered: of %s kW in %lld s from %s on, by load "
                       "then", all, (long long)period_seconds (peak->period),
                       stamp);
    else if (d->metered_count > 0)
        buffer_printf (&text, "modelled, with what GPUs measured: from %s on",
                       stamp);
    else
        buffer_add_text (&text, "modelled");
    if (peak->read > 0 && peak->read < period_seconds (demand_known (d))) {
        mpq_t percent;
        mpq_init (percent);
        exact_set_i64 (percent, 100 * peak->read,
                       period_seconds (demand_known (d)));
        GL_AUTOFREE char *share = exact_text (percent, 2);
        mpq_clear (percent);
        buffer_printf (&text, "; meters tell of %s %% of the month", share);
    }
    return xstrdup (buffer_text (&text));
}

static int add_demand (const struct demand *d, const site_tariff_t *tariff,
                       const char *pool, const mpq_t months, cost_t *cost,
                       gl_error_t *error)
{
    struct peak peak = {.period = d->month};
    mpq_t kw, amount;
    int rc;

    mpq_inits (peak.kw, kw, amount, NULL);
    demand_peak (d, &peak);
    rc = peak_part (d, &peak, pool, kw, error);
    mpq_mul (amount, tariff->demand_per_kw, kw);
    mpq_mul (amount, amount, months);
    GL_AUTOFREE char *each = exact_shortest (tariff->demand_per_kw);
    GL_AUTOFREE char *part = exact_shortest (kw);
    GL_AUTOFREE char *which = peak_text (d, &peak);
    GL_AUTOFREE char *how = xasprintf (
        "%s a month x %s kW of the highest load, %s", each, part, which);
    if (rc == 0)
        add_named (d->site, tariff, "power demand", amount, NULL, how, cost);
    mpq_clears (peak.kw, kw, amount, NULL);
    return rc;
}

/* What the tariff has cost since its beginning, in fees. */
static void fee_until (const site_t *site, const site_tariff_t *tariff,
                       int64_t instant, mpq_t ret_amount)
{
    cost_months_agreed (site->zone, tariff->valid, instant, ret_amount);
    mpq_mul (ret_amount, ret_amount, tariff->fixed_per_month);
}

static int add_fee (const struct demand *d, const site_tariff_t *tariff,
                    const char *pool, period_t period, cost_t *cost,
                    gl_error_t *error)
{
    struct booking booking;
    mpq_t share, amount;
    int rc;

    cost_booking_init (&booking);
    booking.monthly = true;
    fee_until (d->site, tariff, d->month.start, booking.month);
    fee_until (d->site, tariff, period.start, booking.before);
    fee_until (d->site, tariff, period.end, booking.after);
    mpq_inits (share, amount, NULL);
    rc = energy_bounds (d, pool, booking.low, booking.high, error);
    mpq_sub (share, booking.high, booking.low);
    mpq_sub (amount, booking.after, booking.before);
    mpq_mul (amount, amount, share);
    GL_AUTOFREE char *each = exact_shortest (tariff->fixed_per_month);
    GL_AUTOFREE char *part = exact_shortest (share);
    GL_AUTOFREE char *how = xasprintf (
        "%s a month x %s of the energy that pays by the tariff", each, part);
    if (rc == 0)
        add_named (d->site, tariff, "power fee", amount, &booking, how, cost);
    mpq_clears (share, amount, NULL);
    cost_booking_clear (&booking);
    return rc;
}

/* Both for one calendar month, of which `part` is asked: what the month has is
 * the same whatever part is. */
static int add_monthly (const site_t *site, const site_tariff_t *tariff,
                        const char *pool, period_t month, period_t part,
                        const cost_inputs_t *inputs, cost_t *cost,
                        gl_error_t *error)
{
    struct demand d = {.site = site,
                       .inputs = inputs,
                       .tariff = tariff->name,
                       .month = month};
    mpq_t months;
    int rc = demand_init (&d, error);

    mpq_init (months);
    cost_months (site->zone, part, months);
    if (rc == 0 && mpq_sgn (tariff->demand_per_kw) > 0)
        rc = add_demand (&d, tariff, pool, months, cost, error);
    if (rc == 0 && mpq_sgn (tariff->fixed_per_month) > 0)
        rc = add_fee (&d, tariff, pool, part, cost, error);
    mpq_clear (months);
    demand_clear (&d);
    return rc;
}

int cost_add_fees (const site_t *site, const char *pool, period_t period,
                   const cost_inputs_t *inputs, cost_t *cost,
                   gl_error_t *error)
{
    for (size_t i = 0; i < site->tariff_count; i++) {
        const site_tariff_t *tariff = &site->tariffs[i];
        period_t valid = period_clip (period, tariff->valid), month;
        if (mpq_sgn (tariff->demand_per_kw) == 0
            && mpq_sgn (tariff->fixed_per_month) == 0)
            continue;
        for (int64_t at = valid.start; at < valid.end; at = month.end) {
            month = zone_unit (site->zone, CALENDAR_MONTH, at);
            if (cost_pays_by (site, pool, tariff->name, month)
                && add_monthly (site, tariff, pool, month,
                                period_clip (valid, month), inputs, cost, error)
                       < 0)
                return -1;
        }
    }
    return 0;
}
