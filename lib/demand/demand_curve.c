/* GPUs in use and waited for, hour by hour. */
#include <stdlib.h>

#include "base/array.h"
#include "base/memory.h"
#include "demand/demand_private.h"

static void add_hours (demand_curve_t *c, const zone_t *zone, period_t period)
{
    for (int64_t at = period.start; at < period.end;) {
        period_t hour = zone_unit (zone, CALENDAR_HOUR, at);
        *GL_APPEND (c->hour, c->count) = (demand_hour_t){
            .start = hour.start, .seconds = period_seconds (hour)};
        at = hour.end;
    }
}

static void take_most (demand_curve_t *c, const int64_t *level, int64_t at)
{
    for (int i = 0; i < DEMAND_COUNT; i++)
        if (level[i] > c->most[i]) {
            c->most[i] = level[i];
            c->when[i] = at;
        }
}

/* The level holds in the span; *hour moves to the one in which the span ends. */
static void take_span (demand_curve_t *c, size_t *hour, const int64_t *level,
                       period_t span)
{
    while (span.start < span.end && *hour < c->count) {
        demand_hour_t *h = &c->hour[*hour];
        int64_t end = h->start + h->seconds;
        int64_t to = span.end < end ? span.end : end;
        for (int i = 0; i < DEMAND_COUNT; i++)
            h->part_seconds[i] += level[i] * (to - span.start);
        span.start = to;
        *hour += to == end;
    }
}

void demand_curve_make (demand_curve_t *c, const zone_t *zone, period_t period,
                        changes_t *changes)
{
    size_t hour = 0;
    int64_t level[DEMAND_COUNT] = {0}, by[CHANGES_KINDS];
    int64_t at = period.start, next;

    add_hours (c, zone, period);
    while (changes_next (changes, &next, by)) {
        take_span (c, &hour, level, (period_t){at, next});
        level[DEMAND_RUNNING] += by[DEMAND_RUNNING];
        level[DEMAND_WAITING] += by[DEMAND_WAITING];
        level[DEMAND_SUM] = level[DEMAND_RUNNING] + level[DEMAND_WAITING];
        at = next;
        take_most (c, level, at);
    }
    for (size_t i = 0; i < c->count; i++) {
        c->running += c->hour[i].part_seconds[DEMAND_RUNNING];
        c->waiting += c->hour[i].part_seconds[DEMAND_WAITING];
    }
}

void demand_curve_clear (demand_curve_t *c)
{
    free (c->hour);
    *c = (demand_curve_t){0};
}

static int compare (const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int64_t demand_curve_quantile (const demand_curve_t *c, unsigned which,
                               unsigned percent)
{
    int64_t *values = xcalloc (c->count + 1, sizeof (*values)), value;
    size_t rank = (c->count * percent + 99) / 100;

    for (size_t i = 0; i < c->count; i++)
        values[i]
            = c->hour[i].part_seconds[which] * 3600 / c->hour[i].seconds;
    qsort (values, c->count, sizeof (*values), compare);
    value = c->count ? values[rank > 0 ? rank - 1 : 0] : 0;
    free (values);
    return value;
}
