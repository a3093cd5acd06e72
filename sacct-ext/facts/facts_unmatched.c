#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "facts/facts_unmatched.h"

struct day {
    period_t period;
    bool any; /* some job of the cluster in hand held a GPU in it */
    evidence_counts_t counts;
    /* of ids above all JobIds so far: counts if a greater one comes */
    uint64_t waiting_ms;
    uint64_t waiting_mj;
};

struct loose {
    struct day *day;
    size_t count;
    char *cluster; /* in hand */
};

unmatched_t *unmatched_new (const zone_t *zone, period_t period)
{
    unmatched_t *l = xcalloc (1, sizeof (*l));

    for (int64_t at = period.start; at < period.end;) {
        period_t day = zone ? zone_unit (zone, CALENDAR_DAY, at) : period;
        *GL_APPEND (l->day, l->count)
            = (struct day){.period = period_clip (day, period)};
        at = day.end;
    }
    return l;
}

void unmatched_free (unmatched_t *l)
{
    if (!l)
        return;
    free (l->cluster);
    free (l->day);
    free (l);
}

/* The first day that ends after the instant. */
static size_t day_from (const unmatched_t *l, int64_t instant)
{
    size_t low = 0, high = l->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->day[middle].period.end <= instant)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void enter_cluster (unmatched_t *l, const char *cluster)
{
    if (l->cluster && !strcmp (l->cluster, cluster))
        return;
    free (l->cluster);
    l->cluster = xstrdup (cluster);
    for (size_t i = 0; i < l->count; i++) {
        l->day[i].any = false;
        l->day[i].waiting_ms = l->day[i].waiting_mj = 0;
    }
}

static void settle (struct day *day)
{
    day->any = true;
    day->counts.usage_ms[EVIDENCE_NO_SEGMENT] += day->waiting_ms;
    day->counts.energy_mj[EVIDENCE_NO_SEGMENT] += day->waiting_mj;
    day->waiting_ms = day->waiting_mj = 0;
}

static bool is_gpu (const segment_t *s)
{
    return s->time_start > 0 && ((s->gres && s->gres[0]) || s->gpu_asked);
}

void unmatched_segment (unmatched_t *l, const segment_t *s, bool recorded)
{
    int64_t end = segment_end (s);
    size_t i = day_from (l, s->time_start);

    if (!is_gpu (s))
        return;
    enter_cluster (l, s->cluster);
    if (i < l->count) {
        l->day[i].counts.segments++;
        l->day[i].counts.recorded += recorded;
    }
    for (; i < l->count && l->day[i].period.start < end; i++)
        settle (&l->day[i]);
}

static bool holds (const segment_t *segments, size_t count,
                   const struct day *day)
{
    return GL_ANY (segments, count, it,
                   is_gpu (it) && it->time_start < day->period.end
                       && segment_end (it) > day->period.start);
}

static void count_usage (struct day *day, bool held, evidence_reason_t reason,
                         uint64_t ms, int64_t energy_mj)
{
    uint64_t mj = energy_mj > 0 ? (uint64_t)energy_mj : 0;

    if (held || reason == EVIDENCE_MATCHED) {
        day->counts.usage_ms[reason] += ms;
        day->counts.energy_mj[reason] += mj;
    } else if (day->any) {
        day->waiting_ms += ms;
        day->waiting_mj += mj;
    }
}

void unmatched_usage (unmatched_t *l, const segment_t *segments, size_t count,
                      const device_usage_t *usage, int64_t from_ms,
                      int64_t to_ms, evidence_reason_t reason)
{
    device_usage_t share;

    enter_cluster (l, usage->cluster);
    for (size_t i = day_from (l, from_ms / 1000);
         i < l->count && l->day[i].period.start * 1000 < to_ms; i++) {
        struct day *day = &l->day[i];
        int64_t from = day->period.start * 1000;
        int64_t to = day->period.end * 1000;
        from = from > from_ms ? from : from_ms;
        to = to < to_ms ? to : to_ms;
        if (from >= to)
            continue;
        usage_share (usage, from, to, &share, NULL);
        count_usage (day, holds (segments, count, day), reason,
                     (uint64_t)(to - from), share.energy_mj);
    }
}

void unmatched_attempt (unmatched_t *l, const segment_t *segments, size_t count,
                        const attempt_t *a)
{
    int64_t at = a->fact[0]->seen.stamp;
    size_t i = day_from (l, at);
    struct day *day = &l->day[i];

    if (i == l->count || at < day->period.start
        || !holds (segments, count, day))
        return;
    day->counts.attempts[a->reason]++;
    for (size_t k = 0; k < ATTEMPT_PROBLEMS; k++)
        day->counts.problems[k] += a->problems >> k & 1;
}

static void add_counts (evidence_counts_t *to, const evidence_counts_t *from)
{
    to->segments += from->segments;
    to->recorded += from->recorded;
    for (size_t i = 0; i < EVIDENCE_REASON_COUNT; i++) {
        to->attempts[i] += from->attempts[i];
        to->usage_ms[i] += from->usage_ms[i];
        to->energy_mj[i] += from->energy_mj[i];
    }
    for (size_t i = 0; i < ATTEMPT_PROBLEMS; i++)
        to->problems[i] += from->problems[i];
}

void unmatched_sum (const unmatched_t *l, evidence_counts_t *counts)
{
    for (size_t i = 0; i < l->count; i++)
        add_counts (counts, &l->day[i].counts);
}

void unmatched_each (const unmatched_t *l, unmatched_f callback, void *arg)
{
    for (size_t i = 0; i < l->count; i++)
        callback (l->day[i].period.start, &l->day[i].counts, arg);
}
