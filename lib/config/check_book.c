#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/calendar.h"
#include "base/exact.h"
#include "base/memory.h"
#include "config/check.h"
#include "money/depreciation.h"

/* ---- assets ---- */

static int64_t day_of (const civil_t *date)
{
    return calendar_day_number (date->year, date->month, date->day);
}

static const char *date_text (const civil_t *date, char buf[ZONE_STAMP_SIZE])
{
    snprintf (buf, ZONE_STAMP_SIZE, "%04d-%02d-%02d", date->year, date->month,
              date->day);
    return buf;
}

static int fail (place_t place, gl_error_t *error)
{
    return gl_error_prefix (error, "%s:%d", place.file, place.line);
}

static int check_dates (const site_asset_t *asset, gl_error_t *error)
{
    bool retired = asset->retired.year != 0;
    char a[ZONE_STAMP_SIZE], b[ZONE_STAMP_SIZE];

    if (retired && day_of (&asset->retired) <= day_of (&asset->in_service)) {
        gl_error (error, "`retired`: asset '%s' is out of service on %s, not "
                         "after it came into service on %s",
                  asset->name, date_text (&asset->retired, a),
                  date_text (&asset->in_service, b));
        return fail (asset->place, error);
    }
    if (!retired && mpq_sgn (asset->proceeds) > 0) {
        gl_error (error, "`proceeds`: asset '%s' is not `retired`; give the "
                         "first day on which it no longer serves",
                  asset->name);
        return fail (asset->place, error);
    }
    return 0;
}

static int check_method (const site_asset_t *asset, gl_error_t *error)
{
    bool by_use = asset->method == DEPRECIATION_UNITS_OF_USE;
    bool expected = mpq_sgn (asset->expected_gpu_hours) > 0;

    if (by_use == expected)
        return 0;
    gl_error (error,
              by_use ? "`expected_gpu_hours`: asset '%s' is written off by "
                       "units-of-use and needs it"
                     : "`expected_gpu_hours`: asset '%s' is not written off by "
                       "units-of-use; remove it, or give that `method`",
              asset->name);
    return fail (asset->place, error);
}

/* In their order, in the asset's time, and each of them one. */
static int check_change (const site_asset_t *asset, size_t i, gl_error_t *error)
{
    const site_asset_change_t *change = &asset->changes[i];
    const civil_t *before
        = i > 0 ? &asset->changes[i - 1].from : &asset->in_service;
    char a[ZONE_STAMP_SIZE], b[ZONE_STAMP_SIZE];

    if (day_of (&change->from) <= day_of (before))
        return gl_error (error,
                         "`from`: %s is not after %s: list the changes of "
                         "asset '%s' by date, after the day in service",
                         date_text (&change->from, a), date_text (before, b),
                         asset->name);
    if (asset->retired.year && day_of (&change->from) >= day_of (&asset->retired))
        return gl_error (error, "`from`: asset '%s' is out of service from %s "
                                "on",
                         asset->name, date_text (&asset->retired, a));
    if (!change->pool && !change->life_months
        && change->salvage_is == SALVAGE_AS_BEFORE
        && mpq_sgn (change->expected_gpu_hours) == 0)
        return gl_error (error, "a change of asset '%s' says nothing: give "
                                "`pool`, `life`, `salvage` or "
                                "`expected_gpu_hours`",
                         asset->name);
    if (mpq_sgn (change->expected_gpu_hours) > 0
        && asset->method != DEPRECIATION_UNITS_OF_USE)
        return gl_error (error, "`expected_gpu_hours`: asset '%s' is not "
                                "written off by units-of-use",
                         asset->name);
    return 0;
}

/* The life in force from the i-th change on ends after it. */
static int check_life (const site_asset_t *asset, size_t i, int months,
                       gl_error_t *error)
{
    const site_asset_change_t *change = &asset->changes[i];
    civil_t end = civil_add_months (asset->in_service, months);
    char a[ZONE_STAMP_SIZE], b[ZONE_STAMP_SIZE];

    if (day_of (&end) > day_of (&change->from))
        return 0;
    return gl_error (error, "`life`: that of asset '%s' ends on %s, not after "
                            "the change on %s; give a longer one",
                     asset->name, date_text (&end, a),
                     date_text (&change->from, b));
}

/* Nothing is written up. */
static int check_salvage (const site_t *site, const site_asset_t *asset,
                          const site_asset_change_t *change, gl_error_t *error)
{
    char stamp[ZONE_STAMP_SIZE];
    mpq_t book, salvage;
    int rc = 0;

    mpq_inits (book, salvage, NULL);
    depreciation_book_value (site, asset, &change->from, NULL, book);
    mpq_set (salvage, change->salvage);
    if (change->salvage_is == SALVAGE_SHARE)
        mpq_mul (salvage, salvage, asset->price);
    if (mpq_cmp (salvage, book) > 0) {
        GL_AUTOFREE char *have = exact_text (book, 2);
        GL_AUTOFREE char *want = exact_shortest (salvage);
        rc = gl_error (error, "`salvage`: %s is more than the book value of "
                              "asset '%s' on %s, %s: an asset is not written "
                              "up",
                       want, asset->name, date_text (&change->from, stamp),
                       have);
    }
    mpq_clears (book, salvage, NULL);
    return rc;
}

static int check_changes (const site_t *site, const site_asset_t *asset,
                          gl_error_t *error)
{
    int months = asset->life_months;

    for (size_t i = 0; i < asset->change_count; i++) {
        const site_asset_change_t *change = &asset->changes[i];
        bool estimate = change->life_months
                        || change->salvage_is != SALVAGE_AS_BEFORE;
        if (change->life_months)
            months = change->life_months;
        if (check_change (asset, i, error) < 0
            || (estimate && asset->method != DEPRECIATION_UNITS_OF_USE
                && check_life (asset, i, months, error) < 0)
            || (change->salvage_is != SALVAGE_AS_BEFORE
                && check_salvage (site, asset, change, error) < 0))
            return fail (change->place, error);
    }
    return 0;
}

/* ---- funding ---- */

static const site_fund_t *find_fund (const site_t *site, const char *name)
{
    return GL_FIND (site->funds, site->fund_count, it,
                    !strcmp (it->name, name));
}

static bool add_up_to (const share_list_t *shares, unsigned long total)
{
    mpq_t sum;
    bool same;

    mpq_init (sum);
    for (size_t i = 0; i < shares->count; i++)
        mpq_add (sum, sum, shares->item[i].share);
    same = mpq_cmp_ui (sum, total, 1) == 0;
    mpq_clear (sum);
    return same;
}

/* What is not recoverable is said once: of the entry, or of its fund. */
static int check_funding (const site_t *site, const char *name,
                          const share_list_t *funding, mpq_srcptr recoverable,
                          gl_error_t *error)
{
    if (funding->count > 0 && !add_up_to (funding, 1))
        return gl_error (error, "`funding`: the shares of '%s' must be 100%% in "
                                "all, so that nothing of it is lost",
                         name);
    if (mpq_cmp_ui (recoverable, 1, 1) == 0)
        return 0;
    for (size_t i = 0; i < funding->count; i++) {
        const site_fund_t *fund = find_fund (site, funding->item[i].name);
        if (fund && mpq_cmp_ui (fund->recoverable, 1, 1) < 0)
            return gl_error (error, "`recoverable` of '%s' is below 100%%, and "
                                    "so is that of its fund '%s' (%s:%d); leave "
                                    "it out here",
                             name, fund->name, fund->place.file,
                             fund->place.line);
    }
    return 0;
}

static int check_assets (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->asset_count; i++) {
        const site_asset_t *asset = &site->assets[i];
        if (check_dates (asset, error) < 0 || check_method (asset, error) < 0
            || check_changes (site, asset, error) < 0)
            return -1;
        if (check_funding (site, asset->name, &asset->funding,
                           asset->recoverable, error)
            < 0)
            return fail (asset->place, error);
    }
    return 0;
}

/* ---- power ---- */

/* The first instant of `period` at which no entry of the tariff holds; its end
 * or later if there is none. */
static int64_t first_gap (const site_t *site, const char *tariff,
                          period_t period)
{
    int64_t at = period.start;
    bool moved = true;

    while (moved && at < period.end) {
        moved = false;
        for (size_t i = 0; i < site->tariff_count; i++) {
            const site_tariff_t *t = &site->tariffs[i];
            if (strcmp (t->name, tariff) == 0 && period_has (t->valid, at)) {
                at = t->valid.end;
                moved = true;
            }
        }
    }
    return at;
}

static int check_tariff (const site_t *site, const site_power_t *power,
                         period_t period, gl_error_t *error)
{
    char stamp[ZONE_STAMP_SIZE] = "the beginning";
    int64_t gap;

    period = period_clip (period, power->valid);
    gap = first_gap (site, power->tariff, period);
    if (period.start >= period.end || gap >= period.end)
        return 0;
    if (gap != SITE_ALWAYS_START)
        zone_stamp (site->zone, gap, stamp);
    return gl_error (error,
                     "%s:%d: tariff '%s' does not hold from %s on, when pool "
                     "'%s' needs it; give the tariff, or the power, other "
                     "dates",
                     power->place.file, power->place.line, power->tariff, stamp,
                     power->pool);
}

/* Power is drawn where both the entry and its pool hold. */
static int check_power (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->power_count; i++) {
        const site_power_t *power = &site->power[i];
        for (size_t k = 0; k < site->pool_count; k++) {
            if (strcmp (site->pools[k].name, power->pool) == 0 &&
                check_tariff (site, power, site->pools[k].valid, error) < 0)
                return -1;
        }
    }
    return 0;
}

/* Measured energy speaks of held GPUs alone: free ones must be modelled. */
static int check_measured (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->power_count; i++) {
        const site_power_t *power = &site->power[i];
        if (!power->measured || mpq_sgn (power->idle_watts) > 0)
            continue;
        gl_error (error, "`energy`: pool '%s' is to pay for measured energy, "
                         "which speaks of GPUs that jobs hold: give "
                         "`idle_watts` for the others",
                  power->pool);
        return fail (power->place, error);
    }
    return 0;
}

/* ---- other costs ---- */

/* What is shared by hours or capacity adds them up over the pools. */
static bool is_mixed (const site_t *site, const site_cost_t *cost)
{
    size_t of_cpus = 0;

    for (size_t i = 0; i < cost->pools.count; i++)
        of_cpus += site_pool_of_cpus (site, cost->pools.item[i].name);
    return of_cpus > 0 && of_cpus < cost->pools.count;
}

static int check_shares (const site_t *site, const site_cost_t *cost,
                         gl_error_t *error)
{
    bool fixed = cost->share_by == SHARE_FIXED;
    bool by_time = cost->driver == COST_PER_MONTH
                   || cost->driver == COST_PER_YEAR;

    if (!by_time)
        return gl_error (error, "`pools`: only an amount a month or year is "
                                "shared; for driver gpu_hours, capacity, energy "
                                "or jobs give one entry for each `pool`");
    if ((cost->share_by == SHARE_BY_GPU_HOURS
         || cost->share_by == SHARE_BY_CAPACITY)
        && is_mixed (site, cost))
        return gl_error (error,
                         "`share_by`: CPU-hours and GPU-hours are never "
                         "added up: give the pools of '%s' shares",
                         cost->name);
    if (add_up_to (&cost->pools, fixed ? 1 : 0))
        return 0;
    return gl_error (error,
                     fixed ? "`pools`: the shares of '%s' must be 100%% in all, "
                             "so that nothing of it is lost; or give `share_by`"
                           : "`pools`: '%s' has shares and `share_by`; write "
                             "the pools as a list, or leave `share_by` out",
                     cost->name);
}

static int check_costs (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->cost_count; i++) {
        const site_cost_t *cost = &site->costs[i];
        int rc = 0;
        if ((cost->pool != NULL) == (cost->pools.count > 0))
            rc = gl_error (error, "'%s' must have either `pool` or `pools`",
                           cost->name);
        else if (cost->pool && cost->share_by != SHARE_FIXED)
            rc = gl_error (error, "`share_by`: '%s' has one pool alone; give "
                                  "`pools`",
                           cost->name);
        else if (!cost->pool)
            rc = check_shares (site, cost, error);
        if (rc == 0)
            rc = check_funding (site, cost->name, &cost->funding,
                                cost->recoverable, error);
        if (rc < 0)
            return fail (cost->place, error);
    }
    return 0;
}

static int check_payers (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->staff_count; i++) {
        const site_staff_t *staff = &site->staff[i];
        if (check_funding (site, staff->name, &staff->funding,
                           staff->recoverable, error)
            < 0)
            return fail (staff->place, error);
    }
    for (size_t i = 0; i < site->tariff_count; i++) {
        const site_tariff_t *tariff = &site->tariffs[i];
        if (check_funding (site, tariff->name, &tariff->funding,
                           tariff->recoverable, error)
            < 0)
            return fail (tariff->place, error);
    }
    return 0;
}

/* ---- prices ---- */

/* A price whose hours are all lost buys no work. */
static int check_clouds (const site_t *site, gl_error_t *error)
{
    for (size_t i = 0; i < site->cloud_count; i++) {
        const site_cloud_t *cloud = &site->clouds[i];
        if (mpq_cmp_ui (cloud->waste, 1, 1) < 0)
            continue;
        gl_error (error, "`waste`: all hours of '%s' are lost; write a share "
                         "below 100%%",
                  cloud->name);
        return fail (cloud->place, error);
    }
    return 0;
}

int check_book (const site_t *site, gl_error_t *error)
{
    if (check_payers (site, error) < 0 || check_clouds (site, error) < 0)
        return -1;
    if (check_assets (site, error) < 0 || check_power (site, error) < 0
        || check_measured (site, error) < 0 || check_costs (site, error) < 0)
        return -1;
    return 0;
}
