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

/* A curve that is followed, change by change. */
typedef struct {
    demand_curve_t *curve;
    size_t hour;
    int64_t level[DEMAND_COUNT];
    int64_t at;
} follower_t;

/* The level holds from the last change to this instant. */
static void follow (follower_t *f, int64_t until)
{
    while (f->at < until && f->hour < f->curve->count) {
        demand_hour_t *h = &f->curve->hour[f->hour];
        int64_t end = h->start + h->seconds;
        int64_t to = until < end ? until : end;
        for (int i = 0; i < DEMAND_COUNT; i++)
            h->part_seconds[i] += f->level[i] * (to - f->at);
        f->at = to;
        f->hour += to == end;
    }
    f->at = until;
}

static void change (follower_t *f, int64_t at, const int64_t *by)
{
    follow (f, at);
    f->level[DEMAND_RUNNING] += by[DEMAND_RUNNING];
    f->level[DEMAND_WAITING] += by[DEMAND_WAITING];
    f->level[DEMAND_SUM] = f->level[DEMAND_RUNNING] + f->level[DEMAND_WAITING];
    take_most (f->curve, f->level, at);
}

/* The changes of a pool, of which the next one waits to be taken. */
typedef struct {
    changes_t *changes;
    follower_t follower;
    bool more;
    int64_t at, by[CHANGES_KINDS];
} reader_t;

static void read_next (reader_t *r)
{
    r->more = changes_next (r->changes, &r->at, r->by);
}

static bool next_instant (const reader_t *readers, size_t count,
                          int64_t *ret_at)
{
    bool any = false;

    for (size_t i = 0; i < count; i++)
        if (readers[i].more && (!any || readers[i].at < *ret_at)) {
            *ret_at = readers[i].at;
            any = true;
        }
    return any;
}

static void add_up (demand_curve_t *c)
{
    for (size_t i = 0; i < c->count; i++) {
        c->running += c->hour[i].part_seconds[DEMAND_RUNNING];
        c->waiting += c->hour[i].part_seconds[DEMAND_WAITING];
    }
}

void demand_curves_make (demand_t *d)
{
    const zone_t *zone = d->query.site->zone;
    period_t period = d->query.period;
    reader_t *readers = xcalloc (d->pool_count + 1, sizeof (*readers));
    follower_t all = {.curve = &d->curve, .at = period.start};
    int64_t at = 0;

    add_hours (&d->curve, zone, period);
    for (size_t i = 0; i < d->pool_count; i++) {
        demand_pool_t *pool = &d->pool[i];
        add_hours (&pool->curve, zone, period);
        readers[i] = (reader_t){.changes = pool->changes,
                                .follower
                                = {.curve = &pool->curve, .at = period.start}};
        read_next (&readers[i]);
    }
    while (next_instant (readers, d->pool_count, &at)) {
        int64_t by[CHANGES_KINDS] = {0};
        for (size_t i = 0; i < d->pool_count; i++) {
            reader_t *r = &readers[i];
            if (!r->more || r->at != at)
                continue;
            for (int k = 0; k < CHANGES_KINDS; k++)
                by[k] += r->by[k];
            change (&r->follower, at, r->by);
            read_next (r);
        }
        change (&all, at, by);
    }
    add_up (&d->curve);
    for (size_t i = 0; i < d->pool_count; i++)
        add_up (&d->pool[i].curve);
    free (readers);
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
        values[i] = c->hour[i].part_seconds[which] * 3600 / c->hour[i].seconds;
    qsort (values, c->count, sizeof (*values), compare);
    value = c->count ? values[rank > 0 ? rank - 1 : 0] : 0;
    free (values);
    return value;
}
