#include <string.h>

#include "acct/cost.h"
#include "base/buffer.h"
#include "base/calendar.h"
#include "base/exact.h"
#include "base/memory.h"
#include "gres/nodelist.h"

static const char *const kind_names[COST_KIND_COUNT] = {
    [COST_HARDWARE] = "hardware",
    [COST_STAFF] = "staff",
    [COST_POWER] = "power",
    [COST_OTHER] = "other",
};

const char *cost_kind_name (cost_kind_t kind)
{
    return kind_names[kind];
}

void cost_init (cost_t *cost)
{
    memset (cost, 0, sizeof (*cost));
    mpq_init (cost->total);
}

void cost_clear (cost_t *cost)
{
    for (size_t i = 0; i < cost->count; i++) {
        free (cost->line[i].name);
        free (cost->line[i].how);
        mpq_clear (cost->line[i].amount);
    }
    free (cost->line);
    mpq_clear (cost->total);
}

static void empty (cost_t *cost)
{
    cost_clear (cost);
    cost_init (cost);
}

/* Takes `how`; an amount of 0 makes no line. */
static void add_line (cost_t *cost, cost_kind_t kind, const char *name,
                      const mpq_t amount, char *how, place_t place)
{
    cost_line_t *line;

    if (mpq_sgn (amount) == 0) {
        free (how);
        return;
    }
    cost->line =
        xreallocarray (cost->line, cost->count + 1, sizeof (*cost->line));
    line = &cost->line[cost->count++];
    *line = (cost_line_t){.kind = kind, .place = place};
    line->name = xstrdup (name);
    line->how = how;
    mpq_init (line->amount);
    mpq_set (line->amount, amount);
    mpq_add (cost->total, cost->total, amount);
}

/* "%s x %s" with exact numbers: the texts of `count` values, freed by
 * free_texts. */
static void make_texts (mpq_srcptr const *values, size_t count, char **texts)
{
    for (size_t i = 0; i < count; i++)
        texts[i] = exact_shortest (values[i]);
}

static void free_texts (char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free (texts[i]);
}

/*
 * Where an instant stands on the zone's count of days or months, with its
 * fraction of that unit. Differences of positions are additive, which is what
 * makes every cost additive.
 */
static void position (const zone_t *zone, calendar_unit_t unit, int64_t instant,
                      mpq_t ret_position)
{
    period_t p = zone_unit (zone, unit, instant);
    civil_t c = zone_civil (zone, p.start);
    mpq_t part;

    mpq_init (part);
    exact_set_i64 (part, instant - p.start, p.end - p.start);
    exact_set_i64 (ret_position,
                   unit == CALENDAR_MONTH
                       ? c.year * INT64_C (12) + c.month
                       : calendar_day_number (c.year, c.month, c.day),
                   1);
    mpq_add (ret_position, ret_position, part);
    mpq_clear (part);
}

void cost_months (const zone_t *zone, period_t period, mpq_t ret_months)
{
    mpq_t start;

    if (period_seconds (period) == 0) {
        mpq_set_ui (ret_months, 0, 1);
        return;
    }
    mpq_init (start);
    position (zone, CALENDAR_MONTH, period.start, start);
    position (zone, CALENDAR_MONTH, period.end, ret_months);
    mpq_sub (ret_months, ret_months, start);
    mpq_clear (start);
}

/* The asset's life in day numbers, [first, end). */
static void asset_life (const site_asset_t *asset, int64_t *ret_first,
                        int64_t *ret_end)
{
    civil_t first = asset->in_service;
    civil_t end = civil_add_months (first, asset->life_months);

    *ret_first = calendar_day_number (first.year, first.month, first.day);
    *ret_end = calendar_day_number (end.year, end.month, end.day);
}

/* Days of the asset's life in the period, with parts of days. */
static void asset_days (const zone_t *zone, const site_asset_t *asset,
                        period_t period, mpq_t ret_days)
{
    int64_t first, end;
    mpq_t start, limit;

    mpq_inits (start, limit, NULL);
    asset_life (asset, &first, &end);
    position (zone, CALENDAR_DAY, period.start, start);
    position (zone, CALENDAR_DAY, period.end, ret_days);
    exact_set_i64 (limit, first, 1);
    if (mpq_cmp (start, limit) < 0)
        mpq_set (start, limit);
    exact_set_i64 (limit, end, 1);
    if (mpq_cmp (ret_days, limit) > 0)
        mpq_set (ret_days, limit);
    mpq_sub (ret_days, ret_days, start);
    if (mpq_sgn (ret_days) < 0)
        mpq_set_ui (ret_days, 0, 1);
    mpq_clears (start, limit, NULL);
}

void cost_of_asset (const site_t *site, const site_asset_t *asset,
                    period_t period, mpq_t ret_amount)
{
    int64_t first, end;
    mpq_t days;

    mpq_init (days);
    asset_life (asset, &first, &end);
    asset_days (site->zone, asset, period, days);
    mpq_sub (ret_amount, asset->price, asset->salvage);
    mpq_mul (ret_amount, ret_amount, asset->units);
    mpq_mul (ret_amount, ret_amount, days);
    exact_set_i64 (days, end - first, 1);
    mpq_div (ret_amount, ret_amount, days);
    mpq_clear (days);
}

static char *asset_how (const site_t *site, const site_asset_t *asset,
                        period_t period)
{
    mpq_srcptr const values[] = {asset->units, asset->price, asset->salvage};
    char *text[GL_ARRAY_SIZE (values) + 1], *how;
    int64_t first, end;
    mpq_t days;

    mpq_init (days);
    asset_life (asset, &first, &end);
    asset_days (site->zone, asset, period, days);
    make_texts (values, GL_ARRAY_SIZE (values), text);
    text[3] = exact_shortest (days);
    how = xasprintf ("%s x (%s - %s) / %lld days x %s days", text[0], text[1],
                     text[2], (long long)(end - first), text[3]);
    free_texts (text, GL_ARRAY_SIZE (text));
    mpq_clear (days);
    return how;
}

static void add_hardware (const site_t *site, const char *pool, period_t period,
                          cost_t *cost)
{
    mpq_t amount;

    mpq_init (amount);
    for (size_t i = 0; i < site->asset_count; i++) {
        const site_asset_t *asset = &site->assets[i];
        if (strcmp (asset->pool, pool) != 0)
            continue;
        cost_of_asset (site, asset, period, amount);
        add_line (cost, COST_HARDWARE, asset->name, amount,
                  asset_how (site, asset, period), asset->place);
    }
    mpq_clear (amount);
}

/* One line for all people, so that nobody's pay is on it. */
static void add_staff (const site_t *site, const char *pool, period_t period,
                       cost_t *cost)
{
    place_t place = {NULL, 0};
    mpq_t total, fte, one, months;

    mpq_inits (total, fte, one, months, NULL);
    for (size_t i = 0; i < site->staff_count; i++) {
        const site_staff_t *staff = &site->staff[i];
        cost_months (site->zone, period_clip (period, staff->valid), months);
        for (size_t k = 0; k < staff->pool_count; k++) {
            if (strcmp (staff->pools[k].pool, pool) != 0)
                continue;
            mpq_mul (one, staff->fte, staff->pools[k].share);
            mpq_mul (one, one, months);
            mpq_add (fte, fte, one);
            mpq_mul (one, one, staff->loaded_salary);
            exact_add_scaled (total, one, 1, 12);
            if (!place.file)
                place = staff->place;
        }
    }
    GL_AUTOFREE char *text = exact_shortest (fte);
    add_line (cost, COST_STAFF, "staff", total,
              xasprintf ("%s months of full-time equivalents x their loaded "
                         "salary / 12",
                         text),
              place);
    mpq_clears (total, fte, one, months, NULL);
}

/* Nodes of the entry x GPUs in each. */
static int entry_gpus (const site_pool_t *pool, uint64_t *ret_gpus,
                       gl_error_t *error)
{
    nodelist_t *list = nodelist_open (pool->nodes, error);

    if (!list)
        return gl_error_prefix (error, "nodes of pool '%s'", pool->name);
    *ret_gpus = nodelist_count (list) * (uint64_t)pool->gpus_per_node;
    nodelist_close (list);
    return 0;
}

int cost_pool_gpus (const site_t *site, const char *pool, int64_t instant,
                    uint64_t *ret_gpus, gl_error_t *error)
{
    uint64_t gpus = 0, total = 0;

    for (size_t i = 0; i < site->pool_count; i++) {
        const site_pool_t *entry = &site->pools[i];
        if (strcmp (entry->name, pool) != 0 || instant < entry->valid.start ||
            instant >= entry->valid.end)
            continue;
        if (entry_gpus (entry, &gpus, error) < 0)
            return -1;
        total += gpus;
    }
    *ret_gpus = total;
    return 0;
}

/* The power of one entry of `power`, over the pieces that tariffs and pool
 * entries cut it into. */
struct piece {
    const site_power_t *power;
    uint64_t gpus;
    int64_t seconds; /* that tariffs have covered */
    mpq_t amount;
    buffer_t *how;
};

static void add_piece (struct piece *piece, const site_tariff_t *tariff,
                       int64_t seconds)
{
    mpq_srcptr const values[] = {piece->power->watts_per_gpu, piece->power->pue,
                                 tariff->per_kwh};
    char *text[GL_ARRAY_SIZE (values)];
    mpq_t one;

    mpq_init (one);
    mpq_mul (one, piece->power->watts_per_gpu, piece->power->pue);
    mpq_mul (one, one, tariff->per_kwh);
    exact_add_scaled (piece->amount, one, piece->gpus * seconds,
                      INT64_C (3600) * 1000);
    mpq_clear (one);
    piece->seconds += seconds;
    make_texts (values, GL_ARRAY_SIZE (values), text);
    buffer_printf (
        piece->how, "%s%s W x %llu GPUs x %lld s x PUE %s x %s per kWh",
        piece->how->length ? "; " : "", text[0],
        (unsigned long long)piece->gpus, (long long)seconds, text[1], text[2]);
    free_texts (text, GL_ARRAY_SIZE (text));
}

static int power_of_entry (const site_t *site, const site_power_t *power,
                           const site_pool_t *entry, period_t period,
                           mpq_t total, buffer_t *how, gl_error_t *error)
{
    struct piece piece = {.power = power, .how = how};
    char stamp[ZONE_STAMP_SIZE];

    period = period_clip (period_clip (period, power->valid), entry->valid);
    if (period_seconds (period) == 0)
        return 0;
    if (entry_gpus (entry, &piece.gpus, error) < 0)
        return -1;
    mpq_init (piece.amount);
    for (size_t i = 0; i < site->tariff_count; i++) {
        const site_tariff_t *tariff = &site->tariffs[i];
        int64_t seconds = period_seconds (period_clip (period, tariff->valid));
        if (seconds > 0 && strcmp (tariff->name, power->tariff) == 0)
            add_piece (&piece, tariff, seconds);
    }
    mpq_add (total, total, piece.amount);
    mpq_clear (piece.amount);
    if (piece.seconds != period_seconds (period))
        return gl_error (error,
                         "tariff '%s' does not hold in the whole period from "
                         "%s on, in which pool '%s' needs it; give its dates "
                         "without a gap",
                         power->tariff,
                         zone_stamp (site->zone, period.start, stamp),
                         power->pool);
    return 0;
}

static int add_power (const site_t *site, const char *pool, period_t period,
                      cost_t *cost, gl_error_t *error)
{
    BUFFER_AUTO how = BUFFER_INIT;
    place_t place = {NULL, 0};
    mpq_t total;
    int rc = 0;

    mpq_init (total);
    for (size_t i = 0; i < site->power_count && rc == 0; i++) {
        const site_power_t *power = &site->power[i];
        if (strcmp (power->pool, pool) != 0)
            continue;
        if (!place.file)
            place = power->place;
        for (size_t k = 0; k < site->pool_count && rc == 0; k++) {
            if (strcmp (site->pools[k].name, pool) == 0)
                rc = power_of_entry (site, power, &site->pools[k], period,
                                     total, &how, error);
        }
    }
    if (rc == 0)
        add_line (cost, COST_POWER, "power", total, buffer_take (&how), place);
    mpq_clear (total);
    return rc;
}

/* Allocated GPU-seconds are known for the whole period only: a cost that holds
 * in a part of it bears that part of them, by time. */
static void cost_quantity (const site_t *site, const site_cost_t *item,
                           period_t period, mpq_srcptr allocated,
                           mpq_t ret_quantity)
{
    period_t part = period_clip (period, item->valid);

    if (item->driver != COST_PER_GPU_HOUR) {
        cost_months (site->zone, part, ret_quantity);
        return;
    }
    mpq_set_ui (ret_quantity, 0, 1);
    if (allocated && period_seconds (period) > 0) {
        exact_set_i64 (ret_quantity, period_seconds (part),
                       period_seconds (period) * 3600);
        mpq_mul (ret_quantity, ret_quantity, allocated);
    }
}

static void add_other (const site_t *site, const site_cost_t *item,
                       period_t period, mpq_srcptr allocated, cost_t *cost)
{
    static const struct {
        const char *each;
        const char *times;
        int64_t divisor;
    } driver[] = {
        [COST_PER_GPU_HOUR] = {"", "allocated GPU-hours", 1},
        [COST_PER_MONTH] = {" a month", "months", 1},
        [COST_PER_YEAR] = {" a year / 12", "months", 12},
    };
    mpq_t amount, product, quantity;
    char *how;

    mpq_inits (amount, product, quantity, NULL);
    cost_quantity (site, item, period, allocated, quantity);
    mpq_mul (product, item->amount, quantity);
    exact_add_scaled (amount, product, 1, driver[item->driver].divisor);
    GL_AUTOFREE char *each = exact_shortest (item->amount);
    GL_AUTOFREE char *times = exact_shortest (quantity);
    how = xasprintf ("%s%s x %s %s", each, driver[item->driver].each, times,
                     driver[item->driver].times);
    add_line (cost, COST_OTHER, item->name, amount, how, item->place);
    mpq_clears (amount, product, quantity, NULL);
}

int cost_of_pool (const site_t *site, const char *pool, period_t period,
                  mpq_srcptr allocated, cost_t *cost, gl_error_t *error)
{
    empty (cost);
    if (period_seconds (period) == 0)
        return 0;
    add_hardware (site, pool, period, cost);
    add_staff (site, pool, period, cost);
    if (add_power (site, pool, period, cost, error) < 0) {
        empty (cost);
        return -1;
    }
    for (size_t i = 0; i < site->cost_count; i++) {
        if (strcmp (site->costs[i].pool, pool) == 0)
            add_other (site, &site->costs[i], period, allocated, cost);
    }
    return 0;
}
