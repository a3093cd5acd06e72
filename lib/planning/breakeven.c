#include <string.h>

#include "base/buffer.h"
#include "base/calendar.h"
#include "base/exact.h"
#include "base/memory.h"
#include "money/cost_private.h"
#include "money/depreciation.h"
#include "planning/breakeven_private.h"
#include "planning/decision.h"

/* The shortest life, in years, that hardware is usually written off in. */
#define LIFE_USUAL 3

bool breakeven_in_force (period_t valid, int64_t instant)
{
    return instant >= valid.start && instant < valid.end;
}

static void later (int64_t *latest, int64_t instant)
{
    if (instant != SITE_ALWAYS_START && instant > *latest)
        *latest = instant;
}

static bool shares_pool (const site_staff_t *staff, const char *pool)
{
    for (size_t i = 0; i < staff->pools.count; i++) {
        if (strcmp (staff->pools.item[i].name, pool) == 0)
            return true;
    }
    return false;
}

static void later_asset (const site_t *site, const site_asset_t *asset,
                         const char *pool, int64_t *latest)
{
    asset_stay_t stay;

    for (size_t i = 0; asset_stay (asset, i, &stay); i++) {
        civil_t first = calendar_civil_of_day (stay.first);
        if (strcmp (stay.pool, pool) == 0)
            later (latest, zone_instant (site->zone, &first));
    }
    for (size_t i = 0; i < asset->change_count; i++)
        if (strcmp (asset_pool (asset, calendar_day_number (
                                           asset->changes[i].from.year,
                                           asset->changes[i].from.month,
                                           asset->changes[i].from.day)),
                    pool) == 0)
            later (latest, zone_instant (site->zone, &asset->changes[i].from));
}

/* The latest beginning of anything that the pool's cost is made of. */
static int64_t latest_beginning (const site_t *site, const char *pool)
{
    int64_t latest = 0;

    for (size_t i = 0; i < site->pool_count; i++) {
        if (strcmp (site->pools[i].name, pool) == 0)
            later (&latest, site->pools[i].valid.start);
    }
    for (size_t i = 0; i < site->asset_count; i++) {
        later_asset (site, &site->assets[i], pool, &latest);
    }
    for (size_t i = 0; i < site->staff_count; i++) {
        if (shares_pool (&site->staff[i], pool))
            later (&latest, site->staff[i].valid.start);
    }
    for (size_t i = 0; i < site->power_count; i++) {
        if (strcmp (site->power[i].pool, pool) != 0)
            continue;
        later (&latest, site->power[i].valid.start);
        for (size_t k = 0; k < site->tariff_count; k++) {
            if (strcmp (site->tariffs[k].name, site->power[i].tariff) == 0)
                later (&latest, site->tariffs[k].valid.start);
        }
    }
    for (size_t i = 0; i < site->cost_count; i++) {
        if (cost_bears (&site->costs[i], pool))
            later (&latest, site->costs[i].valid.start);
    }
    return latest;
}

static int hours_of_year (const site_t *site, int64_t at)
{
    return calendar_leap_year (zone_civil (site->zone, at).year) ? 8784 : 8760;
}

void breakeven_add_part (breakeven_t *b, cost_kind_t kind, const char *name,
                      const mpq_t yearly, char *how)
{
    breakeven_part_t *part;
    mpq_t gpus;

    if (mpq_sgn (yearly) == 0) {
        free (how);
        return;
    }
    b->part = xreallocarray (b->part, b->part_count + 1, sizeof (*b->part));
    part = &b->part[b->part_count++];
    *part = (breakeven_part_t){.kind = kind, .name = xstrdup (name)};
    part->how = how;
    mpq_inits (part->per_gpu_year, part->per_hour, gpus, NULL);
    exact_set_i64 (gpus, b->gpus, 1);
    mpq_div (part->per_gpu_year, yearly, gpus);
    mpq_div (part->per_hour, part->per_gpu_year, b->productive_hours);
    mpq_add (b->per_gpu_year, b->per_gpu_year, part->per_gpu_year);
    mpq_clear (gpus);
}

/* "8 x (425000 - 0) / 36 months x 12", or by what other rule it is. */
static void asset_how (const site_asset_t *asset, mpq_srcptr yearly,
                       buffer_t *how)
{
    GL_AUTOFREE char *units = exact_shortest (asset->units);
    GL_AUTOFREE char *price = exact_shortest (asset->price);
    GL_AUTOFREE char *salvage = exact_shortest (asset->salvage);
    GL_AUTOFREE char *amount = exact_shortest (yearly);

    if (how->length)
        buffer_add_text (how, " + ");
    if (asset->method == DEPRECIATION_STRAIGHT_LINE && !asset->change_count)
        buffer_printf (how, "%s x (%s - %s) / %d months x 12", units, price,
                       salvage, asset->life_months);
    else
        buffer_printf (how, "%s x %s a year, as it stands", units, amount);
}

void breakeven_input (const char *text, mpq_srcptr fallback, mpq_t ret_value)
{
    if (text)
        exact_parse_ratio (text, ret_value, NULL);
    else
        mpq_set (ret_value, fallback);
}

/* One unit of the asset, with what changes; clear price and salvage of the
 * copy. A life counts from the day in service. */
static site_asset_t changed_asset (const site_asset_t *asset,
                                   const breakeven_change_t *change)
{
    site_asset_t other = *asset;
    mpq_t factor;

    mpq_inits (other.price, other.salvage, factor, NULL);
    mpq_set_ui (factor, 1, 1);
    breakeven_input (change->price, factor, factor);
    mpq_mul (other.price, asset->price, factor);
    mpq_mul (other.salvage, asset->salvage, factor);
    if (change->salvage) {
        breakeven_input (change->salvage, factor, factor);
        mpq_mul (other.salvage, other.price, factor);
    }
    if (change->life_years) {
        other.life_months = change->life_years * 12;
        other.change_count = 0;
    }
    mpq_clear (factor);
    return other;
}

/* The yearly amount of one unit on the day. Straight line is the same on each:
 * where a life has been made shorter than the asset is old, that of the first. */
static void add_asset (const site_asset_t *asset, const civil_t *day,
                       const breakeven_change_t *change, breakeven_t *b,
                       mpq_t total, buffer_t *how)
{
    site_asset_t other;
    mpq_t one;

    mpq_init (one);
    depreciation_plan (asset, day, one, NULL);
    if (mpq_sgn (one) != 0) {
        bool even = asset->method == DEPRECIATION_STRAIGHT_LINE;
        b->hasty = b->hasty
                   || (change->life_years && change->life_years < LIFE_USUAL
                       && change->life_years * 24 < asset->life_months);
        other = changed_asset (asset, change);
        depreciation_plan (&other,
                           even && change->life_years ? &other.in_service : day,
                           one, NULL);
        asset_how (&other, one, how);
        mpq_mul (one, one, asset->units);
        mpq_add (total, total, one);
        mpq_clears (other.price, other.salvage, NULL);
    }
    mpq_clear (one);
}

/* F2 for each asset in its life at the instant; its life counts in years, not
 * in days, as a planning figure does. */
static void add_hardware (const site_t *site, int64_t at,
                          const breakeven_change_t *change, breakeven_t *b)
{
    civil_t today = zone_civil (site->zone, at);
    int64_t day = calendar_day_number (today.year, today.month, today.day);
    BUFFER_AUTO how = BUFFER_INIT;
    mpq_t total;

    mpq_init (total);
    for (size_t i = 0; i < site->asset_count; i++)
        if (strcmp (asset_pool (&site->assets[i], day), b->pool) == 0)
            add_asset (&site->assets[i], &today, change, b, total, &how);
    buffer_printf (&how, ", over %llu GPUs", (unsigned long long)b->gpus);
    breakeven_add_part (b, COST_HARDWARE, "hardware", total, buffer_take (&how));
    mpq_clear (total);
}

/* People more or less, at the mean of what those there are cost; none where
 * there is nobody. False: fewer are there than are to go. */
static bool change_staff (const char *more, mpq_t fte, mpq_t total)
{
    mpq_t each, change;
    bool enough;

    if (!more || mpq_sgn (fte) == 0)
        return true;
    mpq_inits (each, change, NULL);
    breakeven_input (more, fte, change);
    mpq_div (each, total, fte);
    mpq_add (fte, fte, change);
    enough = mpq_sgn (fte) >= 0;
    if (!enough)
        mpq_set_ui (fte, 0, 1);
    mpq_mul (total, each, fte);
    mpq_clears (each, change, NULL);
    return enough;
}

/* F3 */
static void add_staff (const site_t *site, int64_t at,
                       const breakeven_change_t *change, breakeven_t *b)
{
    mpq_t total, fte, one;

    mpq_inits (total, fte, one, NULL);
    for (size_t i = 0; i < site->staff_count; i++) {
        const site_staff_t *staff = &site->staff[i];
        for (size_t k = 0; k < staff->pools.count; k++) {
            if (!breakeven_in_force (staff->valid, at) ||
                strcmp (staff->pools.item[k].name, b->pool) != 0)
                continue;
            mpq_mul (one, staff->fte, staff->pools.item[k].share);
            mpq_add (fte, fte, one);
            mpq_mul (one, one, staff->loaded_salary);
            mpq_add (total, total, one);
        }
    }
    b->beyond = !change_staff (change->staff, fte, total);
    breakeven_add_part (b, COST_STAFF, "staff", total,
              xasprintf ("full-time equivalents x their loaded salary, over "
                         "%llu GPUs",
                         (unsigned long long)b->gpus));
    mpq_clears (total, fte, one, NULL);
}

/* One item's amount for the pool and year. */
static int add_other (const site_t *site, const site_cost_t *item, int64_t at,
                      breakeven_t *b, gl_error_t *error)
{
    static const char *const how[] = {
        [COST_PER_GPU_HOUR] = "for each productive hour",
        [COST_PER_MONTH] = "x 12 months, over the pool's GPUs",
        [COST_PER_YEAR] = "a year, over the pool's GPUs",
        [COST_PER_CAPACITY] = "for each hour of the year",
        [COST_PER_KWH] = "for each kWh, over the pool's GPUs",
        [COST_PER_JOB] = NULL, /* planning knows of no jobs */
    };
    const period_t month = zone_unit (site->zone, CALENDAR_MONTH, at);
    mpq_t yearly, times, share;
    int rc = 0;

    if (!how[item->driver])
        return 0;
    mpq_inits (yearly, times, share, NULL);
    exact_set_i64 (times, item->driver == COST_PER_MONTH ? 12 : 1, 1);
    if (item->driver == COST_PER_GPU_HOUR) {
        exact_set_i64 (times, b->gpus, 1);
        mpq_mul (times, times, b->productive_hours);
    } else if (item->driver == COST_PER_CAPACITY) {
        exact_set_i64 (times, (int64_t)b->gpus * b->hours, 1);
    } else if (item->driver == COST_PER_KWH) {
        rc = breakeven_kwh (site, b->pool, at, b, times, error);
    }
    if (rc == 0)
        rc = cost_share (site, item, b->pool, month, NULL, share, error);
    mpq_mul (yearly, item->amount, times);
    mpq_mul (yearly, yearly, share);
    GL_AUTOFREE char *amount = exact_shortest (item->amount);
    GL_AUTOFREE char *part = exact_shortest (share);
    if (rc == 0)
        breakeven_add_part (b, COST_OTHER, item->name, yearly,
                  item->pool ? xasprintf ("%s %s", amount, how[item->driver])
                             : xasprintf ("%s %s, x %s of it", amount,
                                          how[item->driver], part));
    mpq_clears (yearly, times, share, NULL);
    return rc;
}

static const site_pool_t *find_pool (const site_t *site, const char *name,
                                     int64_t at)
{
    for (size_t i = 0; i < site->pool_count; i++) {
        if (strcmp (site->pools[i].name, name) == 0 &&
            breakeven_in_force (site->pools[i].valid, at))
            return &site->pools[i];
    }
    return NULL;
}

static void init (breakeven_t *b, const site_pool_t *pool, int hours,
                  mpq_srcptr utilization)
{
    memset (b, 0, sizeof (*b));
    b->pool = pool->name;
    b->gpu = pool->gpu;
    b->gpus_per_node = pool->gpus_per_node;
    b->hours = hours;
    mpq_inits (b->utilization, b->productive_hours, b->per_gpu_year,
               b->per_hour, NULL);
    mpq_set (b->utilization, utilization);
    exact_set_i64 (b->productive_hours, hours, 1);
    mpq_mul (b->productive_hours, b->productive_hours, utilization);
}

/* All parts, then the sums and the comparisons. */
static int fill (const site_t *site, int64_t at,
                 const breakeven_change_t *change, breakeven_t *b,
                 gl_error_t *error)
{
    if (cost_pool_gpus (site, b->pool, at, &b->gpus, error) < 0)
        return -1;
    if (b->gpus == 0)
        return gl_error (error, "pool '%s' has no nodes", b->pool);
    add_hardware (site, at, change, b);
    add_staff (site, at, change, b);
    if (breakeven_add_power (site, at, change, b, error) < 0)
        return -1;
    for (size_t i = 0; i < site->cost_count; i++) {
        const site_cost_t *item = &site->costs[i];
        if (cost_bears (item, b->pool) && breakeven_in_force (item->valid, at)
            && add_other (site, item, at, b, error) < 0)
            return -1;
    }
    mpq_div (b->per_hour, b->per_gpu_year, b->productive_hours);
    for (size_t i = 0; i < site->cloud_count; i++) {
        const site_cloud_t *cloud = &site->clouds[i];
        if (b->gpu && strcmp (cloud->gpu, b->gpu) == 0 &&
            mpq_sgn (cloud->per_gpu_hour) > 0)
            breakeven_add_cloud (cloud, b);
    }
    return 0;
}

int64_t breakeven_instant (const site_t *site, const char *pool, int64_t known)
{
    return known >= latest_beginning (site, pool) ? known : BREAKEVEN_UNDATED;
}

int breakeven_changed (const site_t *site, const char *pool, int64_t at,
                       mpq_srcptr utilization, const breakeven_change_t *change,
                       breakeven_t *ret_breakeven, gl_error_t *error)
{
    bool dated = at != BREAKEVEN_UNDATED;
    int64_t instant = dated ? at : latest_beginning (site, pool);
    const site_pool_t *found = find_pool (site, pool, instant);
    char stamp[ZONE_STAMP_SIZE];
    breakeven_t b;

    if (!utilization)
        utilization = site->policy.utilization;
    if (!found)
        return gl_error (error, "no pool '%s' is configured that holds on %s",
                         pool, zone_stamp (site->zone, instant, stamp));
    if (mpq_sgn (utilization) <= 0 || mpq_cmp_ui (utilization, 1, 1) > 0)
        return gl_error (error, "a utilization must be above 0 and at most "
                                "100%%");
    init (&b, found, dated ? hours_of_year (site, instant) : 8760, utilization);
    b.at = instant;
    if (fill (site, instant, change, &b, error) < 0) {
        breakeven_clear (&b);
        return -1;
    }
    *ret_breakeven = b;
    return 0;
}

int breakeven_of_pool (const site_t *site, const char *pool, int64_t at,
                       mpq_srcptr utilization, breakeven_t *ret_breakeven,
                       gl_error_t *error)
{
    static const breakeven_change_t none;

    return breakeven_changed (site, pool, at, utilization, &none, ret_breakeven,
                              error);
}

/* Lives that companies write off in, and shorter ones, since a book of three years
 * has to be looked at with less, too; the salvage that is hoped for; the range of
 * tariffs and PUE that is quoted (docs/guides/decisions.md). */
const breakeven_change_t *breakeven_changes (size_t *ret_count)
{
    static const breakeven_change_t changes[] = {
        {.label = "life 1 year", .life_years = 1},
        {.label = "life 2 years", .life_years = 2},
        {.label = "life 3 years", .life_years = 3},
        {.label = "life 4 years", .life_years = 4},
        {.label = "life 5 years", .life_years = 5},
        {.label = "life 6 years", .life_years = 6},
        {.label = "life 5 years, 10 % salvage", .life_years = 5, .salvage = "10%"},
        {.label = "purchase price -10 %", .price = "0.9"},
        {.label = "purchase price +10 %", .price = "1.1"},
        {.label = "staff -0.5 FTE", .staff = "-0.5"},
        {.label = "staff +0.5 FTE", .staff = "0.5"},
        {.label = "tariff 0.08 per kWh", .per_kwh = "0.08"},
        {.label = "tariff 0.15 per kWh", .per_kwh = "0.15"},
        {.label = "PUE 1.1", .pue = "1.1"},
        {.label = "PUE 1.6", .pue = "1.6"},
    };

    *ret_count = GL_ARRAY_SIZE (changes);
    return changes;
}

void breakeven_clear (breakeven_t *b)
{
    if (!b->pool)
        return;
    for (size_t i = 0; i < b->part_count; i++) {
        free (b->part[i].name);
        free (b->part[i].how);
        mpq_clears (b->part[i].per_gpu_year, b->part[i].per_hour, NULL);
    }
    for (size_t i = 0; i < b->cloud_count; i++)
        breakeven_clear_cloud (&b->cloud[i]);
    free (b->part);
    free (b->cloud);
    mpq_clears (b->utilization, b->productive_hours, b->per_gpu_year,
                b->per_hour, NULL);
    memset (b, 0, sizeof (*b));
}

void breakeven_cost_at (const breakeven_t *b, const mpq_t utilization,
                        mpq_t ret_per_hour)
{
    mpq_t hours;

    mpq_init (hours);
    exact_set_i64 (hours, b->hours, 1);
    decision_per_hour (ret_per_hour, b->per_gpu_year, hours, utilization);
    mpq_clear (hours);
}
