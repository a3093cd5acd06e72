#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "money/cost_private.h"

/* By cost_driver_t. */
static const struct {
    const char *each;
    const char *times;
    int64_t divisor;
} drivers[] = {
    [COST_PER_GPU_HOUR] = {"", "allocated GPU-hours", 1},
    [COST_PER_CAPACITY] = {"", "GPU-hours in service", 1},
    [COST_PER_KWH] = {"", "kWh", 1},
    [COST_PER_JOB] = {"", "jobs", 1},
    [COST_PER_MONTH] = {" a month", "months", 1},
    [COST_PER_YEAR] = {" a year / 12", "months", 12},
};

/* ---- quantities ---- */

/* GPU-seconds in service: as measured, else as the pool's entries have it. */
static int capacity (const site_t *site, const char *pool, period_t period,
                     const cost_inputs_t *inputs, mpq_t ret_seconds,
                     gl_error_t *error)
{
    uint64_t gpus = 0, nodes;

    cost_inputs_sum (inputs, pool, period, USE_CAPACITY, ret_seconds);
    if (mpq_sgn (ret_seconds) > 0)
        return 0;
    for (size_t i = 0; i < site->pool_count; i++) {
        const site_pool_t *entry = &site->pools[i];
        period_t part = period_clip (period, entry->valid);
        mpq_t one;
        if (strcmp (entry->name, pool) != 0 || period_seconds (part) == 0)
            continue;
        if (cost_entry_size (entry, &gpus, &nodes, error) < 0)
            return -1;
        mpq_init (one);
        exact_set_i64 (one, (int64_t)gpus, 1);
        exact_add_scaled (ret_seconds, one, period_seconds (part), 1);
        mpq_clear (one);
    }
    return 0;
}

static void to_hours (mpq_t seconds)
{
    mpq_t hour;

    mpq_init (hour);
    mpq_set_ui (hour, 3600, 1);
    mpq_div (seconds, seconds, hour);
    mpq_clear (hour);
}

static int quantity (const site_t *site, cost_driver_t driver, const char *pool,
                     period_t period, const cost_inputs_t *inputs,
                     mpq_t ret_quantity, gl_error_t *error)
{
    int rc = 0;

    switch (driver) {
    case COST_PER_GPU_HOUR:
        cost_inputs_sum (inputs, pool, period, USE_ALLOCATED, ret_quantity);
        to_hours (ret_quantity);
        break;
    case COST_PER_CAPACITY:
        rc = capacity (site, pool, period, inputs, ret_quantity, error);
        to_hours (ret_quantity);
        break;
    case COST_PER_KWH:
        rc = cost_energy (site, pool, period, inputs, ret_quantity, error);
        break;
    case COST_PER_JOB:
        cost_inputs_sum (inputs, pool, period, USE_JOBS, ret_quantity);
        break;
    case COST_PER_MONTH:
    case COST_PER_YEAR:
        break; /* add_agreed() */
    }
    return rc;
}

/* ---- shares ---- */

/* Where the pool is among those of the entry; their number where it is not. */
static size_t find_share (const site_cost_t *entry, const char *pool)
{
    size_t i = 0;

    while (i < entry->pools.count
           && strcmp (entry->pools.item[i].name, pool) != 0)
        i++;
    return i;
}

bool cost_bears (const site_cost_t *entry, const char *pool)
{
    return entry->pool ? !strcmp (entry->pool, pool)
                       : find_share (entry, pool) < entry->pools.count;
}

static cost_driver_t driver_of_share (cost_share_t share)
{
    return share == SHARE_BY_GPU_HOURS ? COST_PER_GPU_HOUR
           : share == SHARE_BY_ENERGY  ? COST_PER_KWH
           : share == SHARE_BY_JOBS    ? COST_PER_JOB
                                       : COST_PER_CAPACITY;
}

/* The pool's part of what all of them have; 0 if none has any, else 1. */
static int part_of (const site_t *site, const site_cost_t *entry,
                    cost_driver_t driver, size_t index, period_t month,
                    const cost_inputs_t *inputs, mpq_t ret_low, mpq_t ret_high,
                    gl_error_t *error)
{
    mpq_t all, one;
    int rc = 0;

    mpq_inits (all, one, NULL);
    for (size_t i = 0; i < entry->pools.count && rc == 0; i++) {
        rc = quantity (site, driver, entry->pools.item[i].name, month, inputs,
                       one, error);
        if (i == index)
            mpq_set (ret_low, all);
        mpq_add (all, all, one);
        if (i == index)
            mpq_set (ret_high, all);
    }
    if (rc == 0 && mpq_sgn (all) > 0) {
        mpq_div (ret_low, ret_low, all);
        mpq_div (ret_high, ret_high, all);
        rc = 1;
    }
    mpq_clears (all, one, NULL);
    return rc;
}

static void fixed_part (const site_cost_t *entry, size_t index, mpq_t ret_low,
                        mpq_t ret_high)
{
    mpq_set_ui (ret_low, 0, 1);
    for (size_t i = 0; i < index; i++)
        mpq_add (ret_low, ret_low, entry->pools.item[i].share);
    mpq_add (ret_high, ret_low, entry->pools.item[index].share);
}

/* In a calendar month. What nobody drives is shared by capacity, and without
 * any, evenly: nothing is lost. */
int cost_share_bounds (const site_t *site, const site_cost_t *entry,
                       const char *pool, period_t month,
                       const cost_inputs_t *inputs, mpq_t ret_low,
                       mpq_t ret_high, gl_error_t *error)
{
    size_t index = find_share (entry, pool);
    int rc;

    mpq_set_ui (ret_low, 0, 1);
    mpq_set_ui (ret_high, 1, 1);
    if (entry->pool)
        return 0;
    if (entry->share_by == SHARE_FIXED) {
        fixed_part (entry, index, ret_low, ret_high);
        return 0;
    }
    rc = part_of (site, entry, driver_of_share (entry->share_by), index, month,
                  inputs, ret_low, ret_high, error);
    if (rc == 0)
        rc = part_of (site, entry, COST_PER_CAPACITY, index, month, inputs,
                      ret_low, ret_high, error);
    if (rc == 0) {
        exact_set_i64 (ret_low, (int64_t)index, (int64_t)entry->pools.count);
        exact_set_i64 (ret_high, (int64_t)index + 1,
                       (int64_t)entry->pools.count);
    }
    return rc < 0 ? -1 : 0;
}

int cost_share (const site_t *site, const site_cost_t *entry, const char *pool,
                period_t month, const cost_inputs_t *inputs, mpq_t ret_share,
                gl_error_t *error)
{
    mpq_t low;
    int rc;

    mpq_init (low);
    rc = cost_share_bounds (site, entry, pool, month, inputs, low, ret_share,
                            error);
    mpq_sub (ret_share, ret_share, low);
    mpq_clear (low);
    return rc;
}

/* ---- lines ---- */

/* " (network; contract 4711; accrued)"; empty if nothing is known. */
static void add_evidence (const site_cost_t *entry, buffer_t *how)
{
    static const char *const categories[] = {
        [COST_OF_OTHER] = NULL,
        [COST_OF_NETWORK] = "network",
        [COST_OF_STORAGE] = "storage",
        [COST_OF_INSTALLATION] = "installation",
        [COST_OF_RACK] = "rack",
        [COST_OF_LICENCE] = "licence",
        [COST_OF_MAINTENANCE] = "maintenance",
    };
    static const char *const statuses[] = {
        [COST_STATUS_UNTOLD] = NULL,
        [COST_ACTUAL] = "actual",
        [COST_ACCRUED] = "accrued",
        [COST_PLANNED] = "planned",
    };
    const char *const words[] = {categories[entry->category], entry->evidence,
                                 statuses[entry->status]};
    bool any = false;

    for (size_t i = 0; i < GL_ARRAY_SIZE (words); i++) {
        if (!words[i])
            continue;
        buffer_printf (how, "%s%s", any ? "; " : " (", words[i]);
        any = true;
    }
    if (any)
        buffer_add_char (how, ')');
}

/* A line of quantity x share. `share` NULL: all of it. `by_use`, `booking`: as of an
 * item. */
static void add_amount (const site_t *site, const site_cost_t *entry,
                        mpq_srcptr times, mpq_srcptr share, mpq_srcptr by_use,
                        const struct booking *booking, cost_t *cost)
{
    BUFFER_AUTO how = BUFFER_INIT;
    struct item item = {.kind = COST_OTHER, .name = entry->name,
                        .booking = booking, .recoverable = entry->recoverable,
                        .by_use = by_use,
                        .funding = &entry->funding, .place = entry->place};
    GL_AUTOFREE char *each = exact_shortest (entry->amount);
    GL_AUTOFREE char *count = exact_shortest (times);
    mpq_t amount, all;

    mpq_inits (amount, all, NULL);
    mpq_mul (all, entry->amount, times);
    exact_add_scaled (amount, all, 1, drivers[entry->driver].divisor);
    buffer_printf (&how, "%s%s x %s %s", each, drivers[entry->driver].each,
                   count, drivers[entry->driver].times);
    if (share) {
        GL_AUTOFREE char *part = exact_shortest (share);
        mpq_mul (amount, amount, share);
        buffer_printf (&how, " x %s of it", part);
    }
    add_evidence (entry, &how);
    item.amount = amount;
    item.how = buffer_text (&how);
    cost_add_line (site, cost, &item);
    mpq_clears (amount, all, NULL);
}

/* The share of an entry's quantity that jobs cause; the rest comes with capacity. */
static int share_by_use (const site_t *site, const site_cost_t *entry,
                         period_t period, const cost_inputs_t *inputs,
                         mpq_srcptr times, mpq_t ret_share, gl_error_t *error)
{
    bool all = entry->driver == COST_PER_GPU_HOUR
               || entry->driver == COST_PER_JOB;

    mpq_set_ui (ret_share, all, 1);
    if (entry->driver != COST_PER_KWH || mpq_sgn (times) == 0)
        return 0;
    if (cost_energy_by_use (site, entry->pool, period, inputs, ret_share, error)
        < 0)
        return -1;
    mpq_div (ret_share, ret_share, times);
    return 0;
}

/* What the amount of a month or year has come to until the instant. */
static void amount_until (const site_t *site, const site_cost_t *entry,
                          int64_t instant, mpq_t ret_amount)
{
    mpq_t months;

    mpq_init (months);
    cost_months_agreed (site->zone, entry->valid, instant, months);
    mpq_mul (months, months, entry->amount);
    mpq_set_ui (ret_amount, 0, 1);
    exact_add_scaled (ret_amount, months, 1, drivers[entry->driver].divisor);
    mpq_clear (months);
}

/* Months of a cost by month or year, in a period of its time. */
static void agreed_months (const site_t *site, const site_cost_t *entry,
                           period_t period, mpq_t ret_months)
{
    mpq_t before;

    mpq_init (before);
    cost_months_agreed (site->zone, entry->valid, period.start, before);
    cost_months_agreed (site->zone, entry->valid, period.end, ret_months);
    mpq_sub (ret_months, ret_months, before);
    mpq_clear (before);
}

/* By month or year. */
static void add_agreed (const site_t *site, const site_cost_t *entry,
                        period_t period, struct booking *booking, cost_t *cost)
{
    mpq_t times, share;

    mpq_inits (times, share, NULL);
    agreed_months (site, entry, period, times);
    amount_until (site, entry, period.start, booking->before);
    amount_until (site, entry, period.end, booking->after);
    mpq_sub (share, booking->high, booking->low);
    add_amount (site, entry, times, entry->pool ? NULL : share, NULL, booking,
                cost);
    mpq_clears (times, share, NULL);
}

static int add_own (const site_t *site, const site_cost_t *entry,
                    period_t period, const cost_inputs_t *inputs, cost_t *cost,
                    gl_error_t *error)
{
    period_t valid = period_clip (period, entry->valid);
    struct booking booking;
    mpq_t times, by_use;
    int rc;

    if (entry->driver == COST_PER_MONTH || entry->driver == COST_PER_YEAR) {
        cost_booking_init (&booking);
        if (period_seconds (valid) > 0)
            add_agreed (site, entry, valid, &booking, cost);
        cost_booking_clear (&booking);
        return 0;
    }
    mpq_inits (times, by_use, NULL);
    rc = quantity (site, entry->driver, entry->pool, valid, inputs, times,
                   error);
    if (rc == 0)
        rc = share_by_use (site, entry, valid, inputs, times, by_use, error);
    if (rc == 0)
        add_amount (site, entry, times, NULL, by_use, NULL, cost);
    mpq_clears (times, by_use, NULL);
    return rc;
}

/* Month by month: the shares are those of whole months, so that parts of one
 * add up. */
static int add_shared (const site_t *site, const site_cost_t *entry,
                       const char *pool, period_t period,
                       const cost_inputs_t *inputs, cost_t *cost,
                       gl_error_t *error)
{
    period_t valid = period_clip (period, entry->valid), month;
    struct booking booking;
    int rc = 0;

    cost_booking_init (&booking);
    booking.monthly = entry->share_by != SHARE_FIXED;
    for (int64_t at = valid.start; at < valid.end && rc == 0; at = month.end) {
        month = zone_unit (site->zone, CALENDAR_MONTH, at);
        amount_until (site, entry, month.start, booking.month);
        rc = cost_share_bounds (site, entry, pool, month, inputs, booking.low,
                                booking.high, error);
        if (rc == 0)
            add_agreed (site, entry, period_clip (valid, month), &booking, cost);
    }
    cost_booking_clear (&booking);
    return rc;
}

int cost_add_other (const site_t *site, const char *pool, period_t period,
                    const cost_inputs_t *inputs, cost_t *cost,
                    gl_error_t *error)
{
    int rc = 0;

    for (size_t i = 0; i < site->cost_count && rc == 0; i++) {
        const site_cost_t *entry = &site->costs[i];
        if (!cost_bears (entry, pool))
            continue;
        if (entry->pool)
            rc = add_own (site, entry, period, inputs, cost, error);
        else
            rc = add_shared (site, entry, pool, period, inputs, cost, error);
    }
    return rc;
}
