#include <string.h>

#include "base/buffer.h"
#include "base/calendar.h"
#include "base/exact.h"
#include "base/memory.h"
#include "gres/nodelist.h"
#include "money/cost_private.h"
#include "money/depreciation.h"

static const char *const kind_names[COST_KIND_COUNT] = {
    [COST_HARDWARE] = "hardware",
    [COST_STAFF] = "staff",
    [COST_POWER] = "power",
    [COST_OTHER] = "other",
    [COST_DISPOSAL] = "disposal",
};

const char *cost_kind_name (cost_kind_t kind)
{
    return kind_names[kind];
}

void cost_init (cost_t *cost)
{
    memset (cost, 0, sizeof (*cost));
    mpq_inits (cost->total, cost->by_use, cost->full, cost->recoverable,
               cost->disposal, NULL);
}

static void clear_lines (cost_line_t *line, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free (line[i].name);
        free (line[i].fund);
        free (line[i].how);
        mpq_clear (line[i].amount);
    }
    free (line);
}

void cost_clear (cost_t *cost)
{
    clear_lines (cost->line, cost->count);
    clear_lines (cost->apart, cost->apart_count);
    mpq_clears (cost->total, cost->by_use, cost->full, cost->recoverable,
                cost->disposal, NULL);
}

static void empty (cost_t *cost)
{
    cost_clear (cost);
    cost_init (cost);
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
 * makes every cost additive. Months count from a January on, so that twelve times a
 * whole number of them are calendar years.
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
                       ? c.year * INT64_C (12) + c.month - 1
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

void cost_months_since (const zone_t *zone, period_t valid, int64_t instant,
                        mpq_t ret_months)
{
    mpq_t start;

    mpq_set_ui (ret_months, 0, 1);
    if (instant <= valid.start)
        return;
    if (instant > valid.end)
        instant = valid.end;
    position (zone, CALENDAR_MONTH, instant, ret_months);
    if (valid.start == SITE_ALWAYS_START)
        return;
    mpq_init (start);
    position (zone, CALENDAR_MONTH, valid.start, start);
    mpq_sub (ret_months, ret_months, start);
    mpq_clear (start);
}

/* From one date to the same date of a later month: how many months; else 0. */
static int whole_months (const zone_t *zone, period_t valid)
{
    civil_t start, end;
    int months;

    if (valid.start == SITE_ALWAYS_START || valid.end == SITE_ALWAYS_END)
        return 0;
    start = zone_civil (zone, valid.start);
    end = zone_civil (zone, valid.end);
    months = (end.year - start.year) * 12 + end.month - start.month;
    start = civil_add_months (start, months);
    return zone_instant (zone, &start) == valid.end ? months : 0;
}

void cost_months_agreed (const zone_t *zone, period_t valid, int64_t instant,
                         mpq_t ret_months)
{
    int whole = whole_months (zone, valid);
    mpq_t first, left, part;
    period_t last;

    if (whole > 0)
        last = period_clip (zone_unit (zone, CALENDAR_MONTH, valid.end - 1),
                            valid);
    if (whole == 0 || instant <= last.start) {
        cost_months_since (zone, valid, instant, ret_months);
        return;
    }
    mpq_inits (first, left, part, NULL);
    cost_months_since (zone, valid, last.start, first);
    exact_set_i64 (left, whole, 1);
    mpq_sub (left, left, first);
    cost_months_since (zone, last, instant, ret_months);
    cost_months_since (zone, last, last.end, part);
    mpq_div (ret_months, ret_months, part);
    mpq_mul (ret_months, ret_months, left);
    mpq_add (ret_months, ret_months, first);
    mpq_clears (first, left, part, NULL);
}

/* ---- hardware ---- */

/* A stay's instants; an asset that is not retired stays for ever. */
static period_t stay_period (const zone_t *zone, const asset_stay_t *stay)
{
    civil_t first = calendar_civil_of_day (stay->first), end;
    period_t period = {zone_instant (zone, &first), SITE_ALWAYS_END};

    if (stay->end != INT64_MAX) {
        end = calendar_civil_of_day (stay->end);
        period.end = zone_instant (zone, &end);
    }
    return period;
}

void cost_of_asset (const site_t *site, const site_asset_t *asset,
                    period_t period, const cost_inputs_t *inputs,
                    mpq_t ret_amount)
{
    mpq_t before;

    mpq_init (before);
    mpq_set_ui (ret_amount, 0, 1);
    if (period_seconds (period) > 0) {
        depreciation_until (site, asset, period.end, inputs, ret_amount);
        depreciation_until (site, asset, period.start, inputs, before);
        mpq_sub (ret_amount, ret_amount, before);
        mpq_mul (ret_amount, ret_amount, asset->units);
    }
    mpq_clear (before);
}

/* What all units have lost until the beginning and the end of the period. */
static void book_asset (const site_t *site, const site_asset_t *asset,
                        period_t period, const cost_inputs_t *inputs,
                        struct booking *booking)
{
    depreciation_until (site, asset, period.start, inputs, booking->before);
    mpq_mul (booking->before, booking->before, asset->units);
    depreciation_until (site, asset, period.end, inputs, booking->after);
    mpq_mul (booking->after, booking->after, asset->units);
}

bool cost_of_asset_in (const site_t *site, const site_asset_t *asset,
                       const char *pool, period_t period,
                       const cost_inputs_t *inputs, size_t index,
                       const char **ret_fund, mpq_t ret_amount,
                       mpq_t ret_recoverable)
{
    struct booking booking;
    struct item item = {.amount = booking.after, .booking = &booking,
                        .recoverable = asset->recoverable,
                        .funding = &asset->funding};
    struct part part;
    asset_stay_t stay;
    bool found;

    cost_booking_init (&booking);
    cost_part_init (&part);
    mpq_set_ui (ret_amount, 0, 1);
    mpq_set_ui (ret_recoverable, 0, 1);
    found = cost_part (site, &item, index, &part);
    for (size_t i = 0; found && asset_stay (asset, i, &stay); i++) {
        period_t there
            = period_clip (period, stay_period (site->zone, &stay));
        if (strcmp (stay.pool, pool) != 0 || period_seconds (there) == 0)
            continue;
        book_asset (site, asset, there, inputs, &booking);
        cost_part (site, &item, index, &part);
        mpq_add (ret_amount, ret_amount, part.booked);
        mpq_add (ret_recoverable, ret_recoverable, part.booked_recoverable);
    }
    *ret_fund = part.fund;
    cost_part_clear (&part);
    cost_booking_clear (&booking);
    return found;
}

/* Days of the asset's life in the period, with parts of days. */
static void asset_days (const zone_t *zone, int64_t first, int64_t end,
                        period_t period, mpq_t ret_days)
{
    mpq_t start, limit;

    mpq_inits (start, limit, NULL);
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

/* Straight line without a change of estimate. */
static char *straight_how (const site_t *site, const site_asset_t *asset,
                           period_t period)
{
    mpq_srcptr const values[] = {asset->units, asset->price, asset->salvage};
    char *text[GL_ARRAY_SIZE (values) + 1], *how;
    civil_t limit = civil_add_months (asset->in_service, asset->life_months);
    int64_t first = calendar_day_number (
        asset->in_service.year, asset->in_service.month, asset->in_service.day);
    int64_t end = calendar_day_number (limit.year, limit.month, limit.day);
    mpq_t days;

    mpq_init (days);
    asset_days (site->zone, first, end, period, days);
    make_texts (values, GL_ARRAY_SIZE (values), text);
    text[3] = exact_shortest (days);
    how = xasprintf ("%s x (%s - %s) / %lld days x %s days", text[0], text[1],
                     text[2], (long long)(end - first), text[3]);
    free_texts (text, GL_ARRAY_SIZE (text));
    mpq_clear (days);
    return how;
}

/* Any other: what the books had it at before and after. */
static char *book_how (const site_t *site, const site_asset_t *asset,
                       period_t period, const cost_inputs_t *inputs)
{
    static const char *const methods[] = {
        [DEPRECIATION_STRAIGHT_LINE] = "straight-line",
        [DEPRECIATION_DECLINING] = "declining-balance",
        [DEPRECIATION_SUM_OF_YEARS] = "sum-of-years",
        [DEPRECIATION_UNITS_OF_USE] = "units-of-use",
    };
    mpq_t value;
    char *how;

    mpq_init (value);
    depreciation_until (site, asset, period.start, inputs, value);
    mpq_sub (value, asset->price, value);
    GL_AUTOFREE char *before = exact_shortest (value);
    depreciation_until (site, asset, period.end, inputs, value);
    mpq_sub (value, asset->price, value);
    GL_AUTOFREE char *after = exact_shortest (value);
    GL_AUTOFREE char *units = exact_shortest (asset->units);
    how = xasprintf ("%s x (%s - %s), book values of one before and after, %s",
                     units, before, after, methods[asset->method]);
    mpq_clear (value);
    return how;
}

static char *asset_how (const site_t *site, const site_asset_t *asset,
                        period_t period, const cost_inputs_t *inputs)
{
    bool plain = asset->method == DEPRECIATION_STRAIGHT_LINE;

    for (size_t i = 0; i < asset->change_count; i++)
        plain = plain && !asset->changes[i].life_months
                && asset->changes[i].salvage_is == SALVAGE_AS_BEFORE;
    return plain ? straight_how (site, asset, period)
                 : book_how (site, asset, period, inputs);
}

static void add_asset_line (const site_t *site, const site_asset_t *asset,
                            cost_kind_t kind, const struct booking *booking,
                            const char *how, cost_t *cost)
{
    bool by_use = kind == COST_HARDWARE
                  && asset->method == DEPRECIATION_UNITS_OF_USE;
    struct item item = {.kind = kind, .name = asset->name, .booking = booking,
                        .recoverable = asset->recoverable,
                        .funding = &asset->funding, .how = how,
                        .place = asset->place};
    mpq_t amount, all;

    mpq_inits (amount, all, NULL);
    mpq_set_ui (all, 1, 1);
    mpq_sub (amount, booking->after, booking->before);
    item.amount = amount;
    item.by_use = by_use ? all : NULL;
    cost_add_line (site, cost, &item);
    mpq_clears (amount, all, NULL);
}

/* What the books still had it at, less what it was sold for: on the first
 * instant on which it no longer serves. Booked is what is left, so that all its
 * months and this are its price less the proceeds. */
static void add_disposal (const site_t *site, const site_asset_t *asset,
                          const cost_inputs_t *inputs, cost_t *cost)
{
    struct booking booking;
    mpq_t value;

    cost_booking_init (&booking);
    mpq_init (value);
    depreciation_book_value (site, asset, &asset->retired, inputs, value);
    mpq_sub (booking.before, asset->price, value);
    mpq_mul (booking.before, booking.before, asset->units);
    mpq_sub (booking.after, asset->price, asset->proceeds);
    mpq_mul (booking.after, booking.after, asset->units);
    GL_AUTOFREE char *units = exact_shortest (asset->units);
    GL_AUTOFREE char *book = exact_shortest (value);
    GL_AUTOFREE char *proceeds = exact_shortest (asset->proceeds);
    GL_AUTOFREE char *how = xasprintf (
        "%s x (book value %s - proceeds %s), %s", units, book, proceeds,
        mpq_cmp (booking.after, booking.before) < 0 ? "a gain" : "a loss");
    add_asset_line (site, asset, COST_DISPOSAL, &booking, how, cost);
    mpq_clear (value);
    cost_booking_clear (&booking);
}

static void add_asset (const site_t *site, const site_asset_t *asset,
                       const char *pool, period_t period,
                       const cost_inputs_t *inputs, cost_t *cost)
{
    struct booking booking;
    asset_stay_t stay;

    cost_booking_init (&booking);
    for (size_t i = 0; asset_stay (asset, i, &stay); i++) {
        period_t there = stay_period (site->zone, &stay);
        period_t part = period_clip (period, there);
        if (strcmp (stay.pool, pool) != 0)
            continue;
        if (period_seconds (part) > 0) {
            GL_AUTOFREE char *how = asset_how (site, asset, part, inputs);
            book_asset (site, asset, part, inputs, &booking);
            add_asset_line (site, asset, COST_HARDWARE, &booking, how, cost);
        }
        if (asset->retired.year && there.end >= period.start
            && there.end < period.end
            && there.end == zone_instant (site->zone, &asset->retired))
            add_disposal (site, asset, inputs, cost);
    }
    cost_booking_clear (&booking);
}

int cost_entry_size (const site_pool_t *pool, uint64_t *ret_gpus,
                     uint64_t *ret_nodes, gl_error_t *error)
{
    nodelist_t *list = nodelist_open (pool->nodes, error);

    if (!list)
        return gl_error_prefix (error, "nodes of pool '%s'", pool->name);
    *ret_nodes = nodelist_count (list);
    *ret_gpus = *ret_nodes * (uint64_t)pool->gpus_per_node;
    nodelist_close (list);
    return 0;
}

int cost_pool_gpus (const site_t *site, const char *pool, int64_t instant,
                    uint64_t *ret_gpus, gl_error_t *error)
{
    uint64_t gpus = 0, nodes, total = 0;

    for (size_t i = 0; i < site->pool_count; i++) {
        const site_pool_t *entry = &site->pools[i];
        if (strcmp (entry->name, pool) != 0 || instant < entry->valid.start ||
            instant >= entry->valid.end)
            continue;
        if (cost_entry_size (entry, &gpus, &nodes, error) < 0)
            return -1;
        total += gpus;
    }
    *ret_gpus = total;
    return 0;
}

bool cost_wants_usage (const site_t *site)
{
    for (size_t i = 0; i < site->power_count; i++)
        if (site->power[i].measured)
            return true;
    for (size_t i = 0; i < site->cost_count; i++)
        if (site->costs[i].driver == COST_PER_JOB
            || site->costs[i].share_by == SHARE_BY_JOBS)
            return true;
    return false;
}

bool cost_wants_meters (const site_t *site, period_t period)
{
    for (size_t i = 0; i < site->tariff_count && site->meter_count > 0; i++)
        if (mpq_sgn (site->tariffs[i].demand_per_kw) > 0
            && period_seconds (period_clip (period, site->tariffs[i].valid))
                   > 0)
            return true;
    return false;
}

int cost_of_pool (const site_t *site, const char *pool, period_t period,
                  const cost_inputs_t *inputs, cost_t *cost, gl_error_t *error)
{
    empty (cost);
    if (period_seconds (period) == 0)
        return 0;
    for (size_t i = 0; i < site->asset_count; i++)
        add_asset (site, &site->assets[i], pool, period, inputs, cost);
    cost_add_staff (site, pool, period, cost);
    if (cost_add_power (site, pool, period, inputs, cost, error) < 0
        || cost_add_other (site, pool, period, inputs, cost, error) < 0) {
        empty (cost);
        return -1;
    }
    return 0;
}
