#include <string.h>

#include "gres/tres.h"
#include "waste/idle_jobs.h"

static bool same_text (const char *a, const char *b)
{
    return !strcmp (a ? a : "", b ? b : "");
}

static bool same_device (const device_usage_t *a, const device_usage_t *b)
{
    return same_text (a->node, b->node) && same_text (a->gpu, b->gpu)
           && same_text (a->slice, b->slice);
}

/* No sample was busy, and nine tenths of it were sampled. */
static bool is_idle (const device_usage_t *u)
{
    return u->utilization_ms > 0 && u->idle_ms >= u->utilization_ms
           && u->utilization_ms >= (u->end_ms - u->begin_ms) / 10 * 9;
}

static int64_t later (int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier (int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of the parts of one device, in the order of time. False: its last one was busy. */
static bool idle_tail (usage_part_of_t *const *part, size_t count,
                       int64_t start_ms, int64_t *ret_since)
{
    const usage_part_of_t *last = part[count - 1];
    int64_t since = last->to_ms;

    if (!is_idle (last->usage))
        return false;
    for (size_t i = count; i-- > 0;) {
        if (!is_idle (part[i]->usage) || part[i]->to_ms < since)
            break;
        since = part[i]->from_ms;
    }
    if (last->usage->idle_longest_ms > 0)
        since = earlier (since,
                         last->usage->end_ms - last->usage->idle_longest_ms);
    *ret_since = later (since, start_ms);
    return true;
}

static size_t device_end (const segment_evidence_t *e, size_t first)
{
    size_t end = first + 1;

    while (end < e->part_count
           && same_device (e->part[first]->usage, e->part[end]->usage))
        end++;
    return end;
}

static bool is_fresh (int64_t moment, int64_t now)
{
    return moment >= now - IDLE_JOB_FRESH;
}

idle_job_state_t idle_job_of (const segment_t *s, const segment_evidence_t *e,
                              int64_t now, idle_job_t *ret)
{
    uint64_t measured = 0;
    int64_t since = INT64_MIN, until = INT64_MAX, of_device;
    bool busy = false;

    if (s->state != SEGMENT_RUNNING || s->time_end != 0 || s->believed_end != 0
        || s->time_start == 0 || !s->gres || !s->gres[0])
        return IDLE_JOB_NOT_RUNNING;
    *ret = (idle_job_t){.gpus = gres_devices (s->gres, NULL, NULL, NULL)};
    for (size_t i = 0, end; e && i < e->part_count; i = end, measured++) {
        end = device_end (e, i);
        until = earlier (until, e->part[end - 1]->to_ms);
        if (!idle_tail (e->part + i, end - i, s->time_start * 1000, &of_device))
            busy = true;
        else
            since = later (since, of_device);
    }
    if (busy)
        return IDLE_JOB_BUSY;
    if (ret->gpus == 0 || measured < ret->gpus || !is_fresh (until / 1000, now)
        || !is_fresh (s->observed_at, now))
        return IDLE_JOB_UNKNOWN;
    ret->since = (since + 999) / 1000;
    ret->until = until / 1000;
    return IDLE_JOB_IDLE;
}
