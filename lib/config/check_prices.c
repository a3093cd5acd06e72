/* Rates, tiers, QOS and entitlements of a configuration. */
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "config/check.h"
#include "site/rate_card.h"

static int rate_error (const site_rate_t *rate, gl_error_t *error,
                       const char *text)
{
    return gl_error (error, "%s:%d: %s", rate->place.file, rate->place.line,
                     text);
}

static bool same_pools (const site_rate_t *a, const site_rate_t *b)
{
    bool same = a->tiers_pools.count == b->tiers_pools.count;

    for (size_t i = 0; i < a->tiers_pools.count && same; i++)
        same = texts_have (&b->tiers_pools, a->tiers_pools.item[i]);
    return same;
}

/* a / b is c / d */
static bool in_proportion (mpq_srcptr a, mpq_srcptr b, mpq_srcptr c,
                           mpq_srcptr d)
{
    mpq_t left, right;
    bool same;

    mpq_inits (left, right, NULL);
    mpq_mul (left, a, d);
    mpq_mul (right, c, b);
    same = mpq_equal (left, right);
    mpq_clears (left, right, NULL);
    return same;
}

static bool same_tiers (const site_rate_t *a, const site_rate_t *b)
{
    bool same = a->tiers_by == b->tiers_by && a->tier_count == b->tier_count
                && same_pools (a, b);

    for (size_t i = 0; i < a->tier_count && same; i++)
        same = mpq_equal (a->tiers[i].above, b->tiers[i].above)
               && in_proportion (a->tiers[i].per_gpu_hour, rate_list_price (a),
                                 b->tiers[i].per_gpu_hour, rate_list_price (b));
    return same
           && in_proportion (a->per_gpu_hour, rate_list_price (a),
                             b->per_gpu_hour, rate_list_price (b));
}

/* One threshold over several pools: each has a rate with these tiers. */
static int check_shared_pool (const site_t *site, const site_rate_t *rate,
                              const char *pool, gl_error_t *error)
{
    bool found = false;

    if (rate->tiers_by == TIERS_BY_GPU_HOURS
        && site_pool_of_cpus (site, pool)
               != site_pool_of_cpus (site, rate->pool))
        return rate_error (rate, error,
                           "`tiers_pools`: CPU-hours and GPU-hours are never "
                           "added up; use `tiers_by: spend`");
    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *other = &site->rates[i];
        if (strcmp (other->pool, pool) != 0 || other->tier_count == 0
            || !period_overlaps (other->valid, rate->valid))
            continue;
        found = true;
        if (!same_tiers (rate, other))
            return gl_error (
                error,
                "%s:%d: `tiers_pools`: the rate at %s:%d must have "
                "the same `tiers_pools`, `tiers_by`, thresholds "
                "and, in proportion, prices",
                rate->place.file, rate->place.line, other->place.file,
                other->place.line);
    }
    return found ? 0
                 : gl_error (error,
                             "%s:%d: `tiers_pools`: pool '%s' has no rate with "
                             "tiers then",
                             rate->place.file, rate->place.line, pool);
}

static int check_shared_tiers (const site_t *site, const site_rate_t *rate,
                               gl_error_t *error)
{
    if (rate->tiers_pools.count == 0)
        return 0;
    if (rate->tier_count == 0 || !texts_have (&rate->tiers_pools, rate->pool))
        return rate_error (rate, error,
                           "`tiers_pools` is for a rate with `tiers`, and its "
                           "own pool is one of these");
    for (size_t i = 0; i < rate->tiers_pools.count; i++)
        if (check_shared_pool (site, rate, rate->tiers_pools.item[i], error)
            < 0)
            return -1;
    return 0;
}

static int check_rising (const site_tier_t *tiers, size_t count,
                         const char *what, gl_error_t *error)
{
    for (size_t k = 1; k < count; k++)
        if (mpq_cmp (tiers[k - 1].above, tiers[k].above) >= 0)
            return gl_error (error,
                             "%s:%d: `above`: not above the threshold "
                             "before it; write %s in rising order",
                             tiers[k].place.file, tiers[k].place.line, what);
    return 0;
}

static int check_tiers (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *rate = &site->rates[i];
        if (check_rising (rate->tiers, rate->tier_count, "tiers", error) < 0
            || check_rising (rate->cpu_steps, rate->cpu_step_count, "steps",
                             error)
                   < 0
            || check_rising (rate->gb_steps, rate->gb_step_count, "steps",
                             error)
                   < 0)
            return -1;
        if (rate->tier_count > 0 && rate->tiers_by == TIERS_BY_SPEND
            && mpq_sgn (rate->per_gpu_hour) <= 0
            && mpq_sgn (rate->tiers[0].above) > 0)
            return gl_error (error,
                             "%s:%d: `per_gpu_hour` is 0, so nobody spends "
                             "anything and reaches a tier; give it a price, or "
                             "count gpu_hours in `tiers_by`",
                             rate->place.file, rate->place.line);
        if (check_shared_tiers (site, rate, error) < 0)
            return -1;
    }
    return 0;
}

/* CPUs and memory have prices where the pool bills them by weights. */
static int check_weights (const site_t *site, const site_rate_t *rate,
                          gl_error_t *error)
{
    bool own = rate_has_weights (rate);

    if (rate->steps_by == STEPS_BY_JOB && rate->cpu_step_count == 0
        && rate->gb_step_count == 0)
        return rate_error (rate, error,
                           "`steps_by` is for a rate with `cpu_steps` or "
                           "`gb_steps`; remove it");
    if (rate->cpu_step_count > 0 && site_pool_of_cpus (site, rate->pool))
        return rate_error (rate, error,
                           "`cpu_steps`: the pool counts CPUs; give larger "
                           "jobs a rate with `cpus: 48+`");
    if (own && mpq_sgn (rate->per_gpu_hour) == 0)
        return rate_error (rate, error,
                           "`per_gpu_hour` is 0: CPUs and memory are billed in "
                           "GPU-hours; give GPUs a price too");
    for (size_t i = 0; i < site->pool_count && own; i++) {
        const site_pool_t *pool = &site->pools[i];
        if (strcmp (pool->name, rate->pool) == 0 && pool->bill < BILL_MAX
            && period_overlaps (pool->valid, rate->valid))
            return gl_error (
                error,
                "%s:%d: %s`per_gb_hour` need%s "
                "`bill: sum`, `max` or `sum-or-memory` in pool '%s' "
                "(%s:%d)",
                rate->place.file, rate->place.line,
                pool->resource == RESOURCE_CPU ? "" : "`per_cpu_hour` and ",
                pool->resource == RESOURCE_CPU ? "s" : "", pool->name,
                pool->place.file, pool->place.line);
    }
    return 0;
}

static bool has_price (const site_rate_t *rate)
{
    return mpq_sgn (rate_list_price (rate)) > 0;
}

/* The price of a job is a multiple of that of its line: of each line that it may be
 * in. */
static int check_job_rate (const site_t *site, const site_rate_t *rate,
                           gl_error_t *error)
{
    bool found = false;

    if (rate->tier_count > 0)
        return rate_error (rate, error,
                           "a rate by `reservation` or `gpus` has the tiers of "
                           "the rate without; leave `tiers` out");
    if (rate->round_hours > 0 && rate->round_hours_by != ROUND_BY_JOB)
        return rate_error (rate, error,
                           "`round_hours_by`: hours of accounts and months are "
                           "rounded by the rate without `reservation` and "
                           "`gpus`; write it there, or `job`");
    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *line = &site->rates[i];
        rate_fit_t fit
            = rate_of_jobs (line) ? RATE_FITS_NEVER : rate_fits (rate, line);
        if (fit == RATE_FITS_NEVER
            || !period_overlaps (line->valid, rate->valid))
            continue;
        found = found
                || (fit == RATE_FITS_ALWAYS
                    && line->valid.start <= rate->valid.start
                    && line->valid.end >= rate->valid.end);
        if (has_price (rate) && !has_price (line)
            && rate_rank (rate) > rate_rank (line))
            return gl_error (
                error,
                "%s:%d: jobs of this rate may be under the one at "
                "%s:%d, which is 0, and their price is a multiple of "
                "it; give that one a price, and `subsidy: 100%%` in "
                "`qos` if it is free",
                rate->place.file, rate->place.line, line->place.file,
                line->place.line);
    }
    return found ? 0
                 : rate_error (rate, error,
                               "a rate by `reservation` or `gpus` needs one of "
                               "the pool without these, for the same time or "
                               "longer");
}

/* Numbers of GPUs that are written differently may begin at the same one. */
static int check_numbers (const site_t *site, size_t at, gl_error_t *error)
{
    const site_rate_t *rate = &site->rates[at];

    for (size_t i = 0; i < at && rate->gpus[0] > 0; i++) {
        const site_rate_t *other = &site->rates[i];
        if (other->gpus[0] == rate->gpus[0]
            && rate_fits (rate, other) == RATE_FITS_ALWAYS
            && rate_fits (other, rate) == RATE_FITS_ALWAYS
            && period_overlaps (other->valid, rate->valid))
            return gl_error (error,
                             "%s:%d: jobs with %lld GPUs fit this rate and the "
                             "one at %s:%d; let one of them begin at another "
                             "number",
                             rate->place.file, rate->place.line,
                             (long long)rate->gpus[0], other->place.file,
                             other->place.line);
    }
    return 0;
}

static int check_rates (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->rate_count; i++) {
        const site_rate_t *rate = &site->rates[i];
        if (rate->after_end != AFTER_END_OTHER_RATES
            && rate->valid.end == SITE_ALWAYS_END)
            return rate_error (rate, error,
                               "`after_end` needs `to`, the day on which the "
                               "rate ends");
        if (check_weights (site, rate, error) < 0
            || check_numbers (site, i, error) < 0
            || (rate_of_jobs (rate) && check_job_rate (site, rate, error) < 0))
            return -1;
    }
    return 0;
}

/* A QOS is priced by a rate of its own or by a multiplier, not by both. */
static int check_qos (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->qos_count; i++) {
        const site_qos_t *qos = &site->qos[i];
        for (size_t k = 0; k < site->rate_count; k++) {
            const site_rate_t *rate = &site->rates[k];
            if (mpq_cmp_ui (qos->multiplier, 1, 1) == 0 || !rate->qos
                || strcmp (rate->qos, qos->name) != 0
                || (qos->pool && strcmp (qos->pool, rate->pool) != 0)
                || !period_overlaps (qos->valid, rate->valid))
                continue;
            return gl_error (error,
                             "%s:%d: QOS '%s' has a `multiplier` and, in pool "
                             "'%s', a rate of its own (%s:%d); keep one",
                             qos->place.file, qos->place.line, qos->name,
                             rate->pool, rate->place.file, rate->place.line);
        }
    }
    return 0;
}

static int check_entitlements (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->entitlement_count; i++) {
        const site_entitlement_t *e = &site->entitlements[i];
        int amounts = (mpq_sgn (e->gpus) > 0) + (mpq_sgn (e->share) > 0)
                      + (mpq_sgn (e->gpu_hours) > 0);
        if (amounts != 1)
            return gl_error (error,
                             "%s:%d: the entitlement of team '%s' has %s; give "
                             "one of `gpus`, `share` and `gpu_hours`",
                             e->place.file, e->place.line, e->team,
                             amounts ? "several amounts" : "no amount");
        if (mpq_sgn (e->per_gpu_hour) > 0 && mpq_sgn (e->per_month) > 0)
            return gl_error (error,
                             "%s:%d: the entitlement of team '%s' has two "
                             "prices; give one of `per_gpu_hour` and "
                             "`per_month`, or none",
                             e->place.file, e->place.line, e->team);
        if (mpq_sgn (e->carry_cap) > 0 && e->unused != UNUSED_CARRIED)
            return gl_error (error,
                             "%s:%d: the entitlement of team '%s' has a "
                             "`carry_cap`, and what is unused expires; add "
                             "`unused: carry`, or take the cap away",
                             e->place.file, e->place.line, e->team);
    }
    return 0;
}

/* --- rates that have ended -------------------------------------------------- */

/* The price of 0 for what the rate was for. */
static void add_ended (site_t *site, size_t at, period_t valid)
{
    site_rate_t *to;
    const site_rate_t *from;

    site->rates = xreallocarray (site->rates, site->rate_count + 1,
                                 sizeof (*site->rates));
    to = &site->rates[site->rate_count++];
    from = &site->rates[at];
    *to = (site_rate_t){.pool = xstrdup (from->pool),
                        .plan = xstrdup (from->plan),
                        .class = xstrdup (from->class),
                        .partition = xstrdup (from->partition),
                        .qos = xstrdup (from->qos),
                        .reservation = xstrdup (from->reservation),
                        .gpus = {from->gpus[0], from->gpus[1]},
                        .mig_price = from->mig_price,
                        .approved_by = xstrdup (from->approved_by),
                        .note = xstrdup ("not billed: the rate has ended"),
                        .ended = true,
                        .valid = valid,
                        .place = from->place};
    mpq_inits (to->per_gpu_hour, to->per_cpu_hour, to->per_gb_hour,
               to->included_cpus, to->included_gb, to->minimum,
               to->minimum_gpu_hours, NULL);
}

void rates_apply (site_t *site)
{
    size_t count = site->rate_count;

    for (size_t i = 0; i < count; i++) {
        const site_rate_t *rate = &site->rates[i];
        int64_t next = rate_next_start (site, rate);
        period_t gap = {rate->valid.end, next ? next : SITE_ALWAYS_END};
        if (rate->after_end == AFTER_END_NOT_BILLED && gap.start < gap.end)
            add_ended (site, i, gap);
    }
}

int check_prices (const site_t *site, gl_error_t *error)
{
    return check_tiers (site, error) < 0 || check_rates (site, error) < 0
                   || check_qos (site, error) < 0
                   || check_entitlements (site, error) < 0
               ? -1
               : 0;
}
