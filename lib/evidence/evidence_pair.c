#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "evidence/evidence.h"
#include "evidence/evidence_private.h"
#include "gres/tres.h"

/* --- which allocation -------------------------------------------------- */

/* How far `at` is outside the span; 0 inside. */
static int64_t distance (const struct span *span, int64_t at)
{
    if (at < span->start_ms)
        return span->start_ms - at;
    return at < span->end_ms ? 0 : at - span->end_ms + 1;
}

/* The allocation at a moment: the one that holds it, else the nearest one;
 * CHAIN_NONE if the node has none. */
static size_t chain_at (const struct node_view *view, int64_t at_ms)
{
    const struct span *best = NULL;

    for (size_t i = 0; i < view->count; i++) {
        const struct span *span = view->span[i];
        if (!best || distance (span, at_ms) <= distance (best, at_ms))
            best = span;
    }
    return best ? best->chain : CHAIN_NONE;
}

/* slurmctld lost a start that was recorded here at that moment: a segment that
 * this node never held, so far as accounting knows, was waiting then. */
static bool was_lost (const struct node_view *view, int64_t at_ms)
{
    return GL_ANY (view->wait, view->wait_count, it, wait_has (*it, at_ms));
}

static int64_t submit_ms (const struct span *span)
{
    return span->segment->time_submit * 1000;
}

static bool same_user (const segment_t *s, uint32_t uid)
{
    return s->uid == UINT32_MAX || uid == UINT32_MAX || s->uid == uid;
}

/* The controller itself names the attempt: by SLUID, else by its start. */
static const struct span *span_named (const struct node_view *view,
                                      const struct quest *q)
{
    for (size_t i = 0; q->sluid && i < view->count; i++)
        if (segment_sluid (view->span[i]->segment) == q->sluid
            && same_user (view->span[i]->segment, q->uid))
            return view->span[i];
    for (size_t i = 0; q->time_start && i < view->count; i++)
        if (view->span[i]->segment->time_start == q->time_start
            && same_user (view->span[i]->segment, q->uid))
            return view->span[i];
    return NULL;
}

/* What an allocation and a quest have in common. */
struct fit {
    size_t chain;
    int64_t distance; /* of the anchor */
    int64_t overlap;
};

static int64_t overlap (const struct span *span, const struct quest *q)
{
    int64_t from = span->start_ms > q->begin_ms ? span->start_ms : q->begin_ms;
    int64_t to = span->end_ms < q->end_ms ? span->end_ms : q->end_ms;

    return to > from ? to - from : 0;
}

/* A start that slurmctld lost is of no segment that was submitted later. */
static bool may_be_of (const struct span *span, const struct quest *q,
                       bool lost)
{
    return same_user (span->segment, q->uid)
           && !(lost && submit_ms (span) > q->anchor_ms);
}

/* The fit of the allocation whose spans begin at *at, which moves on. */
static struct fit fit_next (const struct node_view *view, const struct quest *q,
                            bool lost, size_t *at)
{
    struct fit fit = {.chain = view->span[*at]->chain, .distance = INT64_MAX};

    while (*at < view->count && view->span[*at]->chain == fit.chain) {
        const struct span *span = view->span[(*at)++];
        int64_t d = distance (span, q->anchor_ms);
        if (!may_be_of (span, q, lost))
            continue;
        if (d < fit.distance)
            fit.distance = d;
        fit.overlap += overlap (span, q);
    }
    return fit;
}

/* Both ends known: the larger overlap tells, even with clocks apart. Else what
 * is nearest to the moment that is known, and of two the later one. */
static bool fits_better (const struct fit *a, const struct fit *b, bool bounded)
{
    if (bounded && a->overlap != b->overlap)
        return a->overlap > b->overlap;
    return bounded ? a->distance < b->distance : a->distance <= b->distance;
}

size_t chain_of (const struct node_view *view, const struct quest *q)
{
    const struct span *named = span_named (view, q);
    bool closed = q->begun && q->closed, lost = was_lost (view, q->anchor_ms);
    struct fit near = {.chain = CHAIN_NONE}, far = {.chain = CHAIN_NONE};

    if (named)
        return named->chain;
    for (size_t at = 0; at < view->count;) {
        struct fit fit = fit_next (view, q, lost, &at);
        if (fit.distance <= view->tolerance_ms
            && (near.chain == CHAIN_NONE
                || fits_better (&fit, &near, q->begun)))
            near = fit;
        /* clocks further apart than tolerated: an interval that is known at
         * both ends may still tell */
        if (closed && fit.overlap > 0
            && (far.chain == CHAIN_NONE || fits_better (&fit, &far, true)))
            far = fit;
    }
    return near.chain != CHAIN_NONE ? near.chain : far.chain;
}

/* --- records -> attempts ----------------------------------------------- */

static void keep_fact (attempt_t *a, const node_fact_t *fact)
{
    *GL_APPEND (a->fact, a->fact_count) = fact;
}

/* 1: the controller's words for both are the same; -1: they differ; 0: one of
 * them does not say. */
static int agreement (const attempt_t *a, const node_fact_t *fact)
{
    for (size_t i = 0; i < a->fact_count; i++) {
        const node_fact_t *of = a->fact[i];
        if (of->sluid && fact->sluid)
            return of->sluid == fact->sluid ? 1 : -1;
    }
    for (size_t i = 0; i < a->fact_count; i++) {
        const evidence_t *of = &a->fact[i]->seen;
        if (of->time_start && fact->seen.time_start)
            return of->time_start == fact->seen.time_start ? 1 : -1;
    }
    return 0;
}

/* The allocation submitted after a start that slurmctld lost, the attempt's,
 * and before the record; NULL: the record may be of that attempt. An epilog may
 * be late. */
static const struct span *span_after_lost (const struct node_view *view,
                                           const attempt_t *a,
                                           const node_fact_t *fact)
{
    int64_t lost = fact_ms (a->fact[0]), at = fact_ms (fact);

    if (!was_lost (view, lost) || agreement (a, fact) > 0)
        return NULL;
    for (size_t i = 0; i < view->count; i++) {
        const struct span *span = view->span[i];
        int64_t from
            = fact->kind == NODE_FACT_END ? span->start_ms : submit_ms (span);
        if (submit_ms (span) > lost && at >= from)
            return span;
    }
    return NULL;
}

static bool same_attempt (const struct node_view *view, const attempt_t *a,
                          const node_fact_t *last, const node_fact_t *fact)
{
    int agree = agreement (a, fact);

    if (agree)
        return agree > 0;
    if (span_after_lost (view, a, fact))
        return false;
    return chain_at (view, fact_ms (last)) == chain_at (view, fact_ms (fact));
}

struct pairing {
    const struct node_view *view;
    attempt_t **attempts;
    size_t *count;
    size_t open; /* index of the open attempt, or SIZE_MAX */
    size_t last; /* the last one that was closed, or SIZE_MAX */
};

static attempt_t *add_attempt (struct pairing *p, const node_fact_t *fact)
{
    attempt_t *a = GL_APPEND (*p->attempts, *p->count);

    *a = (attempt_t){.node = p->view->node,
                     .begin_ms = EVIDENCE_ALWAYS_START,
                     .end_ms = EVIDENCE_ALWAYS_END};
    keep_fact (a, fact);
    return a;
}

static attempt_t *attempt_at (struct pairing *p, size_t index)
{
    return index == SIZE_MAX ? NULL : &(*p->attempts)[index];
}

static void set_start (attempt_t *a, const node_fact_t *fact)
{
    a->start = fact;
    a->start_count = 1;
    a->begin_ms = fact_ms (a->fact[0]);
}

static void pair_start (struct pairing *p, const node_fact_t *fact)
{
    attempt_t *a = attempt_at (p, p->open);

    if (a && same_attempt (p->view, a, a->fact[0], fact)) {
        keep_fact (a, fact);
        if (!a->start)
            set_start (a, fact);
        else
            a->start_count++;
        return;
    }
    if (a) { /* its end is lost: it was over before this one began */
        a->end_ms = fact_ms (fact);
        p->last = p->open;
    }
    set_start (add_attempt (p, fact), fact);
    p->open = *p->count - 1;
}

static void close_attempt (attempt_t *a, const node_fact_t *fact)
{
    a->end = fact;
    a->end_count = 1;
    a->end_ms = fact_ms (fact);
}

static void pair_end (struct pairing *p, const node_fact_t *fact)
{
    attempt_t *a = attempt_at (p, p->open), *last = attempt_at (p, p->last);

    if (a && agreement (a, fact) >= 0) {
        keep_fact (a, fact);
        close_attempt (a, fact);
        p->last = p->open;
        p->open = SIZE_MAX;
    } else if (!a && last && last->end
               && same_attempt (p->view, last, last->end, fact)) {
        keep_fact (last, fact);
        last->end_count++;
    } else {
        close_attempt (add_attempt (p, fact), fact);
        if (!a)
            p->last = *p->count - 1;
    }
}

static void pair_step (struct pairing *p, const node_fact_t *fact)
{
    attempt_t *a = attempt_at (p, p->open);

    if (a)
        keep_fact (a, fact);
    else {
        add_attempt (p, fact);
        p->open = *p->count - 1;
    }
}

/* slurmd does not run the prolog again of a job that it still knows: the
 * records of the second start begin with a step. */
static void leave_lost (struct pairing *p, const node_fact_t *fact)
{
    attempt_t *a = attempt_at (p, p->open);
    const struct span *span = a ? span_after_lost (p->view, a, fact) : NULL;

    if (!span)
        return;
    a->end_ms
        = span->start_ms < fact_ms (fact) ? span->start_ms : fact_ms (fact);
    p->last = p->open;
    p->open = SIZE_MAX;
}

/* Bounds that a missing end leaves open: the neighbour on this node. */
static void bound_attempts (attempt_t *a, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (a[i].begin_ms == EVIDENCE_ALWAYS_START
            && a[i - 1].end_ms <= fact_ms (a[i].fact[0]))
            a[i].begin_ms = a[i - 1].end_ms;
}

static void note_problems (attempt_t *a)
{
    if (!a->start)
        a->problems |= ATTEMPT_START_MISSING;
    if (a->start_count > 1)
        a->problems |= ATTEMPT_START_REPEATED;
    if (a->end_count > 1)
        a->problems |= ATTEMPT_END_REPEATED;
}

void pair_records (const struct node_view *view, const node_fact_t **fact,
                   size_t count, attempt_t **attempts, size_t *attempt_count)
{
    static void (*const pair[]) (struct pairing *, const node_fact_t *) = {
        [NODE_FACT_START] = pair_start,
        [NODE_FACT_END] = pair_end,
        [NODE_FACT_STEP] = pair_step,
    };
    size_t first = *attempt_count;
    struct pairing p = {view, attempts, attempt_count, SIZE_MAX, SIZE_MAX};

    for (size_t i = 0; i < count; i++) {
        leave_lost (&p, fact[i]);
        pair[fact[i]->kind](&p, fact[i]);
    }
    bound_attempts (*attempts + first, *attempt_count - first);
    for (size_t i = first; i < *attempt_count; i++)
        note_problems (&(*attempts)[i]);
}

/* --- what was allocated ------------------------------------------------- */

/* What accounting counts of one type. */
struct counted {
    char *type; /* NULL: untyped */
    uint64_t count;
};

struct counts {
    struct counted *of;
    size_t count;
};

static void count_type (const char *type, size_t length, uint64_t count,
                        void *arg)
{
    struct counts *c = arg;

    *GL_APPEND (c->of, c->count)
        = (struct counted){type ? xstrndup (type, length) : NULL, count};
}

static void free_counts (struct counts *c)
{
    GL_FREE_EACH (c->of, c->count, it, free (it->type));
}

/* `type`, which is copied behind the list, is that of all; NULL: the inventory
 * is asked. */
static allocated_device_t *list_devices (const segment_evidence_t *e,
                                         const char *type,
                                         device_lookup_f lookup, void *arg)
{
    size_t size = e->device_count * sizeof (allocated_device_t);
    allocated_device_t *held
        = xcalloc (1, size + (type ? strlen (type) + 1 : 0));
    char *copy = type ? strcpy ((char *)held + size, type) : NULL;
    size_t n = 0;

    for (size_t i = 0; i < e->node_count; i++) {
        for (size_t k = 0; k < e->node[i].count; k++) {
            allocated_device_t *d = &held[n++];
            const char *text = e->node[i].device[k];
            *d = (allocated_device_t){
                .node = e->node[i].node, .gres_index = -1, .type = copy};
            if (number_i64_text (text, &d->gres_index) < 0 || d->gres_index < 0)
                d->gres_index = -1;
            if (!type)
                lookup (e->segment, d->node, d->gres_index, text, d, arg);
        }
    }
    return held;
}

/* Of several types: the inventory tells which is which, if it agrees with the
 * counts. */
static bool take_types (allocated_device_t *held, size_t allocated_count,
                        struct counts *c)
{
    for (size_t i = 0; i < allocated_count; i++) {
        size_t k = 0;
        while (k < c->count
               && (!held[i].gres_type || !c->of[k].type
                   || strcmp (c->of[k].type, held[i].gres_type)))
            k++;
        if (k == c->count || c->of[k].count == 0)
            return false;
        c->of[k].count--;
        held[i].type = held[i].gres_type;
    }
    return true;
}

size_t evidence_allocated (const segment_evidence_t *e, device_lookup_f lookup,
                           void *arg, allocated_device_t **ret_allocated)
{
    const segment_t *s = e->segment;
    struct counts c = {0};
    allocated_device_t *held = NULL;
    uint64_t total = s->gres ? gres_devices (s->gres, count_type, &c, NULL) : 0;
    bool typed = c.count == 1 && c.of[0].type;
    bool known = total > 0 && total == e->device_count
                 && !(typed && e->node_count == 1);

    if (known)
        held
            = list_devices (e, c.count == 1 ? c.of[0].type : NULL, lookup, arg);
    if (known && c.count > 1)
        known = take_types (held, total, &c);
    free_counts (&c);
    if (!known) {
        free (held);
        held = NULL;
    }
    *ret_allocated = held;
    return known ? total : 0;
}

/* --- what is shared ----------------------------------------------------- */

/* What grows with time. The others are maxima, bits, or constant. */
static const size_t sums[] = {
    offsetof (device_usage_t, samples),
    offsetof (device_usage_t, samples_expected),
    offsetof (device_usage_t, energy_mj),
    offsetof (device_usage_t, energy_ms),
    offsetof (device_usage_t, counter_resets),
    offsetof (device_usage_t, utilization_sum),
    offsetof (device_usage_t, utilization_ms),
    offsetof (device_usage_t, memory_sum),
    offsetof (device_usage_t, memory_ms),
    offsetof (device_usage_t, power_sum),
    offsetof (device_usage_t, power_ms),
    offsetof (device_usage_t, clock_sum),
    offsetof (device_usage_t, clock_ms),
    offsetof (device_usage_t, throttled_ms),
    offsetof (device_usage_t, throttle_ms),
    offsetof (device_usage_t, processes_ms),
    offsetof (device_usage_t, no_process_ms),
    offsetof (device_usage_t, idle_ms),
};

struct window {
    int64_t from; /* since the beginning of the stretch */
    int64_t to;
    int64_t whole;
};

/* The running sum at `at`, rounded down. */
static int64_t running (int64_t value, int64_t at, int64_t whole)
{
    return (int64_t)((__int128)value * at / whole);
}

static int64_t share (int64_t value, const struct window *w)
{
    if (value < 0)
        return MEASURE_UNKNOWN;
    return running (value, w->to, w->whole)
           - running (value, w->from, w->whole);
}

static void share_histogram (const char *text, const struct window *w,
                             char histogram[USAGE_HISTOGRAM_SIZE])
{
    size_t used = 0;

    histogram[0] = '\0';
    for (size_t i = 0; i < USAGE_HISTOGRAM_STEPS; i++) {
        int64_t value = 0;
        while (*text >= '0' && *text <= '9' && value < INT64_MAX / 20)
            value = value * 10 + (*text++ - '0');
        if (*text == ',')
            text++;
        used += (size_t)snprintf (histogram + used, USAGE_HISTOGRAM_SIZE - used,
                                  "%s%" PRId64, i ? "," : "", share (value, w));
    }
}

int64_t usage_share_number (const device_usage_t *usage, int64_t value,
                            int64_t from_ms, int64_t to_ms)
{
    struct window w = {from_ms - usage->begin_ms, to_ms - usage->begin_ms,
                       usage->end_ms - usage->begin_ms};

    return share (value, &w);
}

void usage_share (const device_usage_t *usage, int64_t from_ms, int64_t to_ms,
                  device_usage_t *ret, char histogram[USAGE_HISTOGRAM_SIZE])
{
    struct window w = {from_ms - usage->begin_ms, to_ms - usage->begin_ms,
                       usage->end_ms - usage->begin_ms};

    *ret = *usage;
    ret->begin_ms = from_ms;
    ret->end_ms = to_ms;
    if (w.from == 0 && w.to == w.whole)
        return;
    ret->utilization_histogram = NULL;
    for (size_t i = 0; i < GL_ARRAY_SIZE (sums); i++) {
        int64_t *value = (int64_t *)((char *)ret + sums[i]);
        *value = share (*value, &w);
    }
    if (usage->utilization_histogram && histogram) {
        share_histogram (usage->utilization_histogram, &w, histogram);
        ret->utilization_histogram = histogram;
    }
}
