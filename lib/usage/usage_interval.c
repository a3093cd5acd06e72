#include <string.h>

#include "base/memory.h"
#include "usage/usage_interval.h"

const device_kind_t usage_interval_unknown
    = {.problem = "its node does not tell which of its devices it was"};

/* --- suspended time ---------------------------------------------------- */

static int64_t placed_seconds (const usage_interval_t *p)
{
    int64_t sum = 0;

    for (size_t i = 0; i < p->suspension_count; i++) {
        period_t s = {p->suspensions[i].start, p->suspensions[i].end};
        if (s.end == 0)
            s.end = segment_end (p->segment);
        sum += period_seconds (period_clip (s, p->period));
    }
    return sum;
}

suspended_t usage_interval_suspended (const usage_interval_t *p,
                                      int64_t *ret_seconds)
{
    *ret_seconds = placed_seconds (p);
    if (p->suspension_count > 0 || p->segment->suspended == 0)
        return SUSPENDED_KNOWN;
    if (p->segment->suspended == SECONDS_UNKNOWN)
        return SUSPENDED_UNKNOWN;
    *ret_seconds = p->segment->suspended;
    return p->begins && p->ends ? SUSPENDED_KNOWN : SUSPENDED_TOTAL;
}

/* --- time -------------------------------------------------------------- */

int64_t usage_interval_end (const usage_interval_cuts_t *c, int64_t start,
                            int64_t end)
{
    for (size_t i = 0; i < c->change_count; i++) {
        if (c->changes[i] > start) {
            if (c->changes[i] < end)
                end = c->changes[i];
            break;
        }
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (c->units); i++) {
        period_t unit;
        if (!c->units[i])
            continue;
        unit = zone_unit (c->zone, (calendar_unit_t)i, start);
        if (unit.end < end)
            end = unit.end;
    }
    return end;
}

static void hand_over (const usage_interval_sink_t *sink,
                       const usage_interval_t *p, const holding_t *h,
                       size_t count)
{
    if (sink->all) {
        sink->all (p, h, count, sink->arg);
        return;
    }
    if ((count == 0 || h[0].kind->cpu) && p->segment->gpu_asked)
        sink->unknown (p, sink->arg);
    for (size_t i = 0; i < count; i++)
        sink->allocated (p, &h[i], sink->arg);
}

void usage_interval_each (const usage_interval_cuts_t *c,
                          const usage_interval_sink_t *sink, const segment_t *s,
                          const suspension_t *suspensions, size_t count,
                          const project_t *project)
{
    period_t whole = {s->time_start, segment_end (s)}, in;
    usage_interval_t p = {.segment = s,
                          .suspensions = suspensions,
                          .suspension_count = count,
                          .project = project};
    const holding_t *held = NULL;
    int64_t until = INT64_MIN; /* the segment holds the same */
    size_t held_count = 0;

    if (s->time_start == 0 || !kinds_count (c->kinds, s))
        return;
    in = period_clip (whole, c->period);
    while (in.start < in.end) {
        p.period
            = (period_t){in.start, usage_interval_end (c, in.start, in.end)};
        p.begins = p.period.start == whole.start;
        p.ends = p.period.end == whole.end && s->time_end != 0;
        if (in.start >= until) {
            held = kinds_of_segment (c->kinds, s, in.start, c->by_node,
                                     &held_count);
            until = kinds_until (c->kinds, in.start);
        }
        hand_over (sink, &p, held, held_count);
        in.start = p.period.end;
    }
}

/* --- what was measured ------------------------------------------------- */

/* Where the stretches of one segment go: those of one device follow one
 * another, so that the last answer mostly serves the next one. */
struct placing {
    usage_interval_t interval;
    period_t whole;     /* the segment, as far as it lies in the period */
    period_t allocated; /* the same; empty where accounting names no device */
    int64_t from_ms, to_ms; /* what counts as its time */
    const char *node;
    int64_t gres_index;
    measured_t *measured;      /* NULL: it is not wanted */
    const device_kind_t *kind; /* NULL: unknown */
    const segment_evidence_t *evidence;
    fraction_t
        devices; /* for how many of accounting's the measured one stands */
};

static bool same_text (const char *a, const char *b)
{
    return !strcmp (a ? a : "", b ? b : "");
}

/* Devices of the node that the segment had: those that its records show, or
 * those that were measured, whichever are more. */
static uint64_t devices_on (const segment_evidence_t *e, const char *node)
{
    const device_usage_t *last = NULL;
    uint64_t shown = 0, measured = 0;

    for (size_t i = 0; i < e->node_count; i++)
        if (!strcmp (e->node[i].node, node))
            shown = e->node[i].count;
    for (size_t i = 0; i < e->part_count; i++) { /* by node, then device */
        const device_usage_t *u = e->part[i]->usage;
        if (strcmp (u->node, node) != 0)
            continue;
        measured += !last || !same_text (last->gpu, u->gpu)
                    || !same_text (last->slice, u->slice);
        last = u;
    }
    return shown > measured ? shown : measured;
}

/* Of shards and MPS accounting counts several to a device. */
static fraction_t devices_of (const usage_interval_cuts_t *c,
                              const struct placing *at)
{
    uint64_t there, allocated = 0;
    const holding_t *h;
    size_t count;

    if (!at->kind || !at->kind->part)
        return fraction (1, 1);
    there = devices_on (at->evidence, at->node);
    h = kinds_of_segment (c->kinds, at->interval.segment,
                          at->interval.period.start, true, &count);
    for (size_t i = 0; i < count; i++)
        if (h[i].kind == at->kind && h[i].node && !strcmp (h[i].node, at->node))
            allocated += h[i].devices;
    return allocated && there ? fraction ((int64_t)allocated, (int64_t)there)
                              : fraction (1, 1);
}

static void place (const usage_interval_cuts_t *c,
                   const usage_interval_sink_t *sink, struct placing *at)
{
    const usage_interval_t *p = &at->interval;
    const device_kind_t *kind = kinds_of_device (
        c->kinds, p->segment, p->period.start, at->node, at->gres_index);
    holding_t h
        = {.kind = kind ? kind : &usage_interval_unknown, .node = at->node};

    at->kind = kind;
    at->devices = devices_of (c, at);
    at->measured = sink->measured (p, &h, kind != NULL, sink->arg);
}

static void move_to (const usage_interval_cuts_t *c,
                     const usage_interval_sink_t *sink, struct placing *at,
                     const device_usage_t *usage, int64_t instant)
{
    bool same_interval = at->interval.period.start <= instant
                         && instant < at->interval.period.end;

    if (same_interval && at->node && at->gres_index == usage->gres_index
        && !strcmp (at->node, usage->node))
        return;
    at->node = usage->node;
    at->gres_index = usage->gres_index;
    if (!same_interval) {
        /* from its beginning, not from where this stretch begins in it */
        int64_t start = at->interval.period.end <= instant
                            ? at->interval.period.end
                            : at->whole.start;
        int64_t end = usage_interval_end (c, start, at->whole.end);
        while (end <= instant) {
            start = end;
            end = usage_interval_end (c, start, at->whole.end);
        }
        at->interval.period = (period_t){start, end};
    }
    place (c, sink, at);
}

static measured_why_t why (const usage_interval_cuts_t *c,
                           const struct placing *at,
                           const usage_part_of_t *part)
{
    return (measured_why_t){c->causes ? part->idle : IDLE_OTHER,
                            segment_loss (at->interval.segment)};
}

/* A part of a stretch, cut where intervals are. What lies a little outside of
 * the segment counts with its first or last moment. */
static void measure_part (const usage_interval_cuts_t *c,
                          const usage_interval_sink_t *sink, struct placing *at,
                          const usage_part_of_t *part)
{
    int64_t from = part->from_ms > at->from_ms ? part->from_ms : at->from_ms;
    int64_t to = part->to_ms < at->to_ms ? part->to_ms : at->to_ms;

    while (from < to) {
        int64_t instant = from / 1000, next = to;
        if (instant < at->whole.start)
            instant = at->whole.start;
        if (instant >= at->whole.end)
            instant = at->whole.end - 1;
        move_to (c, sink, at, part->usage, instant);
        if (at->interval.period.end < at->whole.end
            && at->interval.period.end * 1000 < to)
            next = at->interval.period.end * 1000;
        if (at->measured)
            measured_add (at->measured, part->usage, from, next, at->allocated,
                          at->devices, why (c, at, part));
        if (sink->stretch && at->kind)
            sink->stretch (&at->interval, at->kind, part->usage, from, next,
                           sink->arg);
        from = next;
    }
}

void usage_interval_measure (const usage_interval_cuts_t *c,
                             const usage_interval_sink_t *sink,
                             const segment_t *s, const project_t *project,
                             const segment_evidence_t *evidence)
{
    period_t whole = {s->time_start, segment_end (s)};
    struct placing at = {.interval = {.segment = s, .project = project},
                         .whole = period_clip (whole, c->period),
                         .from_ms = INT64_MIN,
                         .to_ms = INT64_MAX,
                         .evidence = evidence};

    if (!evidence || evidence->part_count == 0 || s->time_start == 0
        || at.whole.start >= at.whole.end)
        return;
    if (at.whole.start > whole.start)
        at.from_ms = at.whole.start * 1000;
    if (at.whole.end < whole.end)
        at.to_ms = at.whole.end * 1000;
    at.interval.period = (period_t){at.whole.start, at.whole.start};
    /* what nobody counts as allocated cannot be a share of allocated time */
    at.allocated = s->gres && s->gres[0] ? at.whole : at.interval.period;
    for (size_t i = 0; i < evidence->part_count; i++)
        measure_part (c, sink, &at, evidence->part[i]);
}
