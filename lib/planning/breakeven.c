#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/calendar.h"
#include "base/exact.h"
#include "base/memory.h"
#include "money/depreciation.h"
#include "money/tariff.h"
#include "planning/breakeven.h"
#include "planning/formula.h"

/* The shortest life, in years, that hardware is usually written off in. */
#define LIFE_USUAL 3

/* ---- which instant ---- */

static void later (int64_t *latest, bool counts, int64_t instant)
{
    if (counts && instant != SITE_ALWAYS_START && instant > *latest)
        *latest = instant;
}

static bool shares_pool (const site_staff_t *staff, const char *pool)
{
    return GL_ANY (staff->pools.item, staff->pools.count, it,
                   strcmp (it->name, pool) == 0);
}

static int64_t day_of (const civil_t *civil)
{
    return calendar_day_number (civil->year, civil->month, civil->day);
}

static void later_asset (const site_t *site, const site_asset_t *asset,
                         const char *pool, int64_t *latest)
{
    asset_stay_t stay;

    for (size_t i = 0; asset_stay (asset, i, &stay); i++) {
        civil_t first = calendar_civil_of_day (stay.first);
        later (latest, !strcmp (stay.pool, pool),
               zone_instant (site->zone, &first));
    }
    for (size_t i = 0; i < asset->change_count; i++) {
        const civil_t *from = &asset->changes[i].from;
        later (latest, !strcmp (asset_pool (asset, day_of (from)), pool),
               zone_instant (site->zone, from));
    }
}

static void later_power (const site_t *site, const site_power_t *power,
                         int64_t *latest)
{
    later (latest, true, power->valid.start);
    for (size_t i = 0; i < site->tariff_count; i++)
        later (latest, !strcmp (site->tariffs[i].name, power->tariff),
               site->tariffs[i].valid.start);
}

/* The latest beginning of anything that the pool's cost is made of. */
static int64_t latest_beginning (const site_t *site, const char *pool)
{
    int64_t latest = 0;

    for (size_t i = 0; i < site->pool_count; i++)
        later (&latest, !strcmp (site->pools[i].name, pool),
               site->pools[i].valid.start);
    for (size_t i = 0; i < site->asset_count; i++)
        later_asset (site, &site->assets[i], pool, &latest);
    for (size_t i = 0; i < site->staff_count; i++)
        later (&latest, shares_pool (&site->staff[i], pool),
               site->staff[i].valid.start);
    for (size_t i = 0; i < site->power_count; i++)
        if (!strcmp (site->power[i].pool, pool))
            later_power (site, &site->power[i], &latest);
    for (size_t i = 0; i < site->cost_count; i++)
        later (&latest, cost_bears (&site->costs[i], pool),
               site->costs[i].valid.start);
    return latest;
}

int64_t breakeven_instant (const site_t *site, const char *pool, int64_t known)
{
    return known >= latest_beginning (site, pool) ? known : BREAKEVEN_UNDATED;
}

static int hours_of_year (const site_t *site, int64_t at)
{
    return calendar_leap_year (zone_civil (site->zone, at).year) ? 8784 : 8760;
}

/* ---- parts ---- */

/* A pool whose parts are added: formulas over these values. */
struct book {
    const site_t *site;
    int64_t at;
    const breakeven_change_t *change;
    breakeven_t *b;
    values_t values;
};

/* One step of a formula: the part `name` of the pool, divided among its GPUs; 0
 * makes none. Its explanation is between `before` and `after`. */
static void add_part (struct book *k, cost_kind_t kind, const char *name,
                      const step_t *step, const char *before, const char *after)
{
    breakeven_t *b = k->b;
    breakeven_part_t *part;

    if (!values_true (&k->values, step->id))
        return;
    part = GL_APPEND (b->part, b->part_count);
    *part = (breakeven_part_t){.kind = kind, .name = xstrdup (name)};
    GL_AUTOFREE char *how = values_text (&k->values, step->how);
    part->how = xasprintf ("%s%s%s", before, how, after);
    mpq_inits (part->per_gpu_year, part->per_hour, NULL);
    mpq_div (part->per_gpu_year, values_get (&k->values, step->id),
             values_get (&k->values, "gpus"));
    mpq_div (part->per_hour, part->per_gpu_year, b->productive_hours);
    mpq_add (b->per_gpu_year, b->per_gpu_year, part->per_gpu_year);
}

/* The titled steps of a formula. */
static void add_formula (struct book *k, cost_kind_t kind, const char *formula,
                         const char *before)
{
    const step_t *made[FORMULA_STEPS];
    size_t count = formula_solve (formula_named (formula), &k->values, made);

    for (size_t i = 0; i < count; i++)
        if (made[i]->title)
            add_part (k, kind, made[i]->title, made[i], before, "");
}

/* A member of breakeven_change_t, which is well-formed: "0.08", "10%"; for NULL
 * `fallback`. */
static void take_input (struct book *k, const char *name, const char *text,
                        mpq_srcptr fallback)
{
    if (text)
        values_set_text (&k->values, name, text);
    else
        values_set (&k->values, name, fallback);
}

/* ---- hardware ---- */

/* "8 x (425000 - 0) / 36 months x 12", or by what other rule it is. */
static void asset_how (struct book *k, const site_asset_t *asset,
                       mpq_srcptr yearly, buffer_t *how)
{
    bool even
        = asset->method == DEPRECIATION_STRAIGHT_LINE && !asset->change_count;

    values_set (&k->values, "units", asset->units);
    values_set (&k->values, "price", asset->price);
    values_set (&k->values, "salvage", asset->salvage);
    values_set_i64 (&k->values, "months", asset->life_months);
    values_set (&k->values, "yearly", yearly);
    GL_AUTOFREE char *text = values_text (
        &k->values,
        even ? "{units} x ({price} - {salvage}) / {months} months x 12"
             : "{units} x {yearly} a year, of the cost book");
    buffer_printf (how, "%s%s", how->length ? " + " : "", text);
}

/* One unit of the asset, with what changes; clear price and salvage of the
 * copy. A life counts from the day in service. */
static site_asset_t changed_asset (const site_asset_t *asset,
                                   const breakeven_change_t *change)
{
    site_asset_t other = *asset;
    mpq_t factor;

    mpq_inits (other.price, other.salvage, factor, NULL);
    exact_parse_ratio (change->price ? change->price : "1", factor, NULL);
    mpq_mul (other.price, asset->price, factor);
    mpq_mul (other.salvage, asset->salvage, factor);
    if (change->residual)
        mpq_mul (other.salvage, other.salvage, change->residual);
    if (change->salvage) {
        exact_parse_ratio (change->salvage, factor, NULL);
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
 * where a life has been made shorter than the asset is old, that of the first.
 */
static void add_asset (struct book *k, const site_asset_t *asset,
                       const civil_t *day, mpq_t total, buffer_t *how)
{
    bool even = asset->method == DEPRECIATION_STRAIGHT_LINE;
    int life = k->change->life_years;
    site_asset_t other;
    mpq_t one;

    mpq_init (one);
    depreciation_plan (asset, day, one, NULL);
    if (mpq_sgn (one) != 0) {
        k->b->hasty
            = k->b->hasty
              || (life && life < LIFE_USUAL && life * 24 < asset->life_months);
        other = changed_asset (asset, k->change);
        depreciation_plan (&other, even && life ? &other.in_service : day, one,
                           NULL);
        asset_how (k, &other, one, how);
        mpq_mul (one, one, asset->units);
        mpq_add (total, total, one);
        mpq_mul (one, asset->units, asset->price);
        mpq_add (k->b->purchase, k->b->purchase, one);
        exact_add_scaled (k->b->life_months, one, other.life_months, 1);
        mpq_clears (other.price, other.salvage, NULL);
    }
    mpq_clear (one);
}

/* Each asset in its life at the instant; its life counts in years, not in days,
 * as a planning figure does. */
static void add_hardware (struct book *k)
{
    civil_t today = zone_civil (k->site->zone, k->at);
    BUFFER_AUTO how = BUFFER_INIT;
    mpq_t total;

    mpq_init (total);
    for (size_t i = 0; i < k->site->asset_count; i++)
        if (!strcmp (asset_pool (&k->site->assets[i], day_of (&today)),
                     k->b->pool))
            add_asset (k, &k->site->assets[i], &today, total, &how);
    if (mpq_sgn (k->b->purchase) > 0)
        mpq_div (k->b->life_months, k->b->life_months, k->b->purchase);
    values_set (&k->values, "written_off", total);
    add_formula (k, COST_HARDWARE, "hardware", buffer_text (&how));
    mpq_clear (total);
}

/* ---- staff ---- */

/* People more or less, at the mean of what those there are cost; none where
 * there is nobody. False: fewer are there than are to go. */
static bool change_staff (const char *more, mpq_t fte)
{
    mpq_t change;
    bool enough;

    if (!more || mpq_sgn (fte) == 0)
        return true;
    mpq_init (change);
    exact_parse_ratio (more, change, NULL);
    mpq_add (fte, fte, change);
    enough = mpq_sgn (fte) >= 0;
    if (!enough)
        mpq_set_ui (fte, 0, 1);
    mpq_clear (change);
    return enough;
}

static void sum_staff (const struct book *k, mpq_t fte, mpq_t total)
{
    mpq_t one;

    mpq_init (one);
    for (size_t i = 0; i < k->site->staff_count; i++) {
        const site_staff_t *staff = &k->site->staff[i];
        for (size_t s = 0; s < staff->pools.count; s++) {
            if (!period_has (staff->valid, k->at)
                || strcmp (staff->pools.item[s].name, k->b->pool) != 0)
                continue;
            mpq_mul (one, staff->fte, staff->pools.item[s].share);
            mpq_add (fte, fte, one);
            mpq_mul (one, one, staff->loaded_salary);
            mpq_add (total, total, one);
        }
    }
    mpq_clear (one);
}

static void add_staff (struct book *k)
{
    mpq_t fte, salary;

    mpq_inits (fte, salary, NULL);
    sum_staff (k, fte, salary);
    if (mpq_sgn (fte) != 0)
        mpq_div (salary, salary, fte);
    k->b->beyond = !change_staff (k->change->staff, fte);
    values_set (&k->values, "fte", fte);
    values_set (&k->values, "salary", salary);
    add_formula (k, COST_STAFF, "staff", "");
    mpq_clears (fte, salary, NULL);
}

/* ---- power ----
 *
 * The load is even, as charges model it without meters and measurement
 * (money/cost_demand.c): a demand charge is for the mean load, PUE included,
 * and a fee is shared by the energy of the pools that pay by the tariff. */

static const site_tariff_t *tariff_in_force (const site_t *site,
                                             const char *name, int64_t at)
{
    for (size_t i = 0; i < site->tariff_count; i++) {
        const site_tariff_t *tariff = &site->tariffs[i];
        if (!strcmp (tariff->name, name) && period_has (tariff->valid, at))
            return tariff;
    }
    return NULL;
}

/* Of all GPUs and nodes of the entry's pool. Where idle GPUs draw less, they
 * are held for u of the time. */
static int add_watts (const struct book *k, const site_power_t *power,
                      mpq_t watts, gl_error_t *error)
{
    uint64_t gpus = 0, nodes = 0;
    mpq_t each;
    int rc = 0;

    mpq_init (each);
    mpq_set (each, power->watts_per_gpu);
    if (mpq_sgn (power->idle_watts) != 0 && k->change->idle_off)
        mpq_mul (each, each, k->b->utilization);
    else if (mpq_sgn (power->idle_watts) != 0) {
        mpq_sub (each, each, power->idle_watts);
        mpq_mul (each, each, k->b->utilization);
        mpq_add (each, each, power->idle_watts);
    }
    for (size_t i = 0; i < k->site->pool_count && rc == 0; i++) {
        const site_pool_t *entry = &k->site->pools[i];
        if (strcmp (entry->name, power->pool) != 0
            || !period_has (entry->valid, k->at))
            continue;
        rc = cost_entry_size (entry, &gpus, &nodes, error);
        if (rc == 0) {
            exact_add_scaled (watts, each, (int64_t)gpus, 1);
            exact_add_scaled (watts, power->node_watts, (int64_t)nodes, 1);
        }
    }
    mpq_clear (each);
    return rc;
}

/* Those of a pool, or of all that pay by a tariff; the other is NULL. */
static int sum_watts (const struct book *k, const char *pool,
                      const char *tariff, mpq_t watts, gl_error_t *error)
{
    int rc = 0;

    for (size_t i = 0; i < k->site->power_count && rc == 0; i++) {
        const site_power_t *power = &k->site->power[i];
        if ((!pool || !strcmp (power->pool, pool))
            && (!tariff || !strcmp (power->tariff, tariff))
            && period_has (power->valid, k->at))
            rc = add_watts (k, power, watts, error);
    }
    return rc;
}

/* Over the year from the instant on. */
static void take_tariff (struct book *k, const site_tariff_t *tariff)
{
    period_t year = {k->at, k->at + INT64_C (365) * 86400};
    mpq_t price;

    mpq_init (price);
    mpq_set (price, tariff->per_kwh);
    if (tariff->time_count > 0)
        tariff_mean_price (k->site, tariff, period_clip (year, tariff->valid),
                           price);
    take_input (k, "per_kwh", k->change->per_kwh, price);
    values_set (&k->values, "demand_per_kw", tariff->demand_per_kw);
    values_set (&k->values, "fixed_per_month", tariff->fixed_per_month);
    mpq_clear (price);
}

static int add_entry (struct book *k, const site_power_t *power,
                      gl_error_t *error)
{
    const site_tariff_t *tariff
        = tariff_in_force (k->site, power->tariff, k->at);
    char stamp[ZONE_STAMP_SIZE];
    mpq_t watts, all;
    int rc;

    if (!tariff)
        return gl_error (error, "no tariff '%s' holds on %s", power->tariff,
                         zone_stamp (k->site->zone, k->at, stamp));
    mpq_inits (watts, all, NULL);
    rc = add_watts (k, power, watts, error);
    if (rc == 0)
        rc = sum_watts (k, NULL, tariff->name, all, error);
    if (rc == 0) {
        values_set (&k->values, "watts", watts);
        if (mpq_sgn (all) > 0)
            mpq_div (all, watts, all);
        values_set (&k->values, "share", all);
        take_input (k, "pue", k->change->pue, power->pue);
        take_tariff (k, tariff);
        add_formula (k, COST_POWER, "energy", "");
    }
    mpq_clears (watts, all, NULL);
    return rc;
}

static int add_power (struct book *k, gl_error_t *error)
{
    for (size_t i = 0; i < k->site->power_count; i++) {
        const site_power_t *power = &k->site->power[i];
        if (!strcmp (power->pool, k->b->pool)
            && period_has (power->valid, k->at)
            && add_entry (k, power, error) < 0)
            return -1;
    }
    return 0;
}

/* ---- other costs ---- */

static int take_kwh (struct book *k, gl_error_t *error)
{
    mpq_t watts, kwh;
    int rc;

    mpq_inits (watts, kwh, NULL);
    rc = sum_watts (k, k->b->pool, NULL, watts, error);
    exact_add_scaled (kwh, watts, k->b->hours, 1000);
    values_set (&k->values, "kwh", kwh);
    mpq_clears (watts, kwh, NULL);
    return rc;
}

/* The step of the formula that its driver asks for; planning knows of no jobs.
 */
static const char *step_of (cost_driver_t driver)
{
    static const char *const steps[] = {
        [COST_PER_GPU_HOUR] = "used_hours", [COST_PER_MONTH] = "months",
        [COST_PER_YEAR] = "year",           [COST_PER_CAPACITY] = "all_hours",
        [COST_PER_KWH] = "energy",          [COST_PER_JOB] = "",
    };

    return steps[driver];
}

static int add_other (struct book *k, const site_cost_t *item,
                      gl_error_t *error)
{
    const period_t month = zone_unit (k->site->zone, CALENDAR_MONTH, k->at);
    const step_t *made[FORMULA_STEPS];
    size_t count;
    mpq_t share;
    int rc;

    mpq_init (share);
    rc = cost_share (k->site, item, k->b->pool, month, NULL, share, error);
    values_set (&k->values, "amount", item->amount);
    values_set (&k->values, "share", share);
    mpq_clear (share);
    if (rc < 0)
        return -1;
    count = formula_solve (formula_named ("other"), &k->values, made);
    GL_AUTOFREE char *part = values_text (&k->values, ", x {share} of it");
    for (size_t i = 0; i < count; i++)
        if (strcmp (made[i]->id, step_of (item->driver)) == 0)
            add_part (k, COST_OTHER, item->name, made[i], "",
                      item->pool ? "" : part);
    return 0;
}

static int add_others (struct book *k, gl_error_t *error)
{
    if (take_kwh (k, error) < 0)
        return -1;
    for (size_t i = 0; i < k->site->cost_count; i++) {
        const site_cost_t *item = &k->site->costs[i];
        if (cost_bears (item, k->b->pool) && period_has (item->valid, k->at)
            && add_other (k, item, error) < 0)
            return -1;
    }
    return 0;
}

/* ---- prices ---- */

static void add_cloud (struct book *k, const site_cloud_t *cloud)
{
    breakeven_t *b = k->b;
    breakeven_cloud_t *row;

    row = GL_APPEND (b->cloud, b->cloud_count);
    *row = (breakeven_cloud_t){.cloud = cloud,
                               .committed = breakeven_has_term (cloud),
                               .spot = breakeven_is_spot (cloud),
                               .age_days = BREAKEVEN_NO_AGE};
    values_set (&k->values, "price", cloud->per_gpu_hour);
    values_set_i64 (&k->values, "term", row->committed);
    values_set (&k->values, "waste", cloud->waste);
    formula_solve (formula_named ("breakeven"), &k->values, NULL);
    mpq_inits (row->utilization, row->billed_hours, row->per_gpu_year,
               row->per_work_hour, NULL);
    mpq_set (row->per_work_hour, values_get (&k->values, "work_hour"));
    mpq_set (row->billed_hours, values_get (&k->values, "billed_hours"));
    mpq_set (row->per_gpu_year, values_get (&k->values, "rent"));
    mpq_set (row->utilization, values_get (&k->values, "breakeven"));
    row->never = mpq_cmp_ui (row->utilization, 1, 1) > 0;
}

static void add_clouds (struct book *k)
{
    values_set (&k->values, "per_gpu_year", k->b->per_gpu_year);
    for (size_t i = 0; i < k->site->cloud_count; i++) {
        const site_cloud_t *cloud = &k->site->clouds[i];
        if (k->b->gpu && strcmp (cloud->gpu, k->b->gpu) == 0
            && mpq_sgn (cloud->per_gpu_hour) > 0)
            add_cloud (k, cloud);
    }
}

/* ---- a pool ---- */

static void init (breakeven_t *b, const site_pool_t *pool, int64_t at,
                  int hours, mpq_srcptr utilization)
{
    *b = (breakeven_t){.pool = pool->name,
                       .gpu = pool->gpu,
                       .gpus_per_node = pool->gpus_per_node,
                       .at = at,
                       .hours = hours};
    mpq_inits (b->utilization, b->productive_hours, b->per_gpu_year,
               b->per_hour, b->purchase, b->life_months, NULL);
    mpq_set (b->utilization, utilization);
    exact_add_scaled (b->productive_hours, utilization, hours, 1);
}

/* All parts, then the sums and the comparisons. */
static int fill (struct book *k, gl_error_t *error)
{
    breakeven_t *b = k->b;

    if (cost_pool_gpus (k->site, b->pool, k->at, &b->gpus, error) < 0)
        return -1;
    if (b->gpus == 0)
        return gl_error (error, "pool '%s' has no nodes", b->pool);
    values_set_i64 (&k->values, "gpus", (int64_t)b->gpus);
    values_set_i64 (&k->values, "hours", b->hours);
    values_set (&k->values, "utilization", b->utilization);
    add_hardware (k);
    add_staff (k);
    if (add_power (k, error) < 0 || add_others (k, error) < 0)
        return -1;
    breakeven_cost_at (b, b->utilization, b->per_hour);
    add_clouds (k);
    return 0;
}

int breakeven_changed (const site_t *site, const char *pool, int64_t at,
                       mpq_srcptr utilization, const breakeven_change_t *change,
                       breakeven_t *ret_breakeven, gl_error_t *error)
{
    bool dated = at != BREAKEVEN_UNDATED;
    int64_t instant = dated ? at : latest_beginning (site, pool);
    const site_pool_t *found = site_pool_at (site, pool, instant);
    struct book k
        = {.site = site, .at = instant, .change = change, .b = ret_breakeven};
    char stamp[ZONE_STAMP_SIZE];
    int rc;

    if (!utilization)
        utilization = site->policy.utilization;
    if (!found)
        return gl_error (error, "no pool '%s' is configured that holds on %s",
                         pool, zone_stamp (site->zone, instant, stamp));
    if (mpq_sgn (utilization) <= 0 || mpq_cmp_ui (utilization, 1, 1) > 0)
        return gl_error (error, "a utilization must be above 0 and at most "
                                "100%%");
    init (k.b, found, instant, dated ? hours_of_year (site, instant) : 8760,
          utilization);
    values_init (&k.values);
    rc = fill (&k, error);
    values_clear (&k.values);
    if (rc < 0)
        breakeven_clear (k.b);
    return rc;
}

int breakeven_of_pool (const site_t *site, const char *pool, int64_t at,
                       mpq_srcptr utilization, breakeven_t *ret_breakeven,
                       gl_error_t *error)
{
    static const breakeven_change_t none;

    return breakeven_changed (site, pool, at, utilization, &none, ret_breakeven,
                              error);
}

/* Lives that companies write off in, and shorter ones, since a book of three
 * years has to be looked at with less, too; the salvage that is hoped for; the
 * range of tariffs and PUE that is quoted (docs/guides/decisions.md). */
const breakeven_change_t *breakeven_changes (size_t *ret_count)
{
    static const breakeven_change_t changes[] = {
        {.label = "life 1 year", .life_years = 1},
        {.label = "life 2 years", .life_years = 2},
        {.label = "life 3 years", .life_years = 3},
        {.label = "life 4 years", .life_years = 4},
        {.label = "life 5 years", .life_years = 5},
        {.label = "life 6 years", .life_years = 6},
        {.label = "life 5 years, 10 % salvage",
         .life_years = 5,
         .salvage = "10%"},
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
        mpq_clears (b->cloud[i].utilization, b->cloud[i].billed_hours,
                    b->cloud[i].per_gpu_year, b->cloud[i].per_work_hour, NULL);
    free (b->part);
    free (b->cloud);
    mpq_clears (b->utilization, b->productive_hours, b->per_gpu_year,
                b->per_hour, b->purchase, b->life_months, NULL);
    memset (b, 0, sizeof (*b));
}

void breakeven_cost_at (const breakeven_t *b, mpq_srcptr utilization,
                        mpq_t ret_per_hour)
{
    values_t values;

    values_init (&values);
    values_set (&values, "per_gpu_year", b->per_gpu_year);
    values_set_i64 (&values, "hours", b->hours);
    values_set (&values, "utilization", utilization);
    formula_solve (formula_named ("hour"), &values, NULL);
    mpq_set (ret_per_hour, values_get (&values, "hour"));
    values_clear (&values);
}
