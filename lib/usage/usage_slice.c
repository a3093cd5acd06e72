/* A segment's own cells, handed on instead of being collected. */
#include <string.h>

#include "base/memory.h"
#include "usage/billable.h"
#include "usage/usage_private.h"

/* One of the last interval; those of earlier intervals are complete. */
static usage_slice_t *find_slice (usage_t *u, period_t period,
                                  const device_kind_t *kind)
{
    for (size_t i = u->slice_count; i-- > 0;) {
        usage_slice_t *slice = &u->slices[i];
        if (slice->period.start == period.start && slice->part.kind == kind)
            return slice;
    }
    return NULL;
}

static usage_slice_t *add_slice (usage_t *u, const usage_subject_t *s,
                                 period_t period)
{
    usage_slice_t *slice;
    uint32_t text[KEYS_MAX];

    if (u->slice_count == u->slice_size) {
        u->slice_size = u->slice_size * 2 + 8;
        u->slices
            = xreallocarray (u->slices, u->slice_size, sizeof (*u->slices));
    }
    slice = &u->slices[u->slice_count++];
    memset (slice, 0, sizeof (*slice));
    usage_key_ids (u, s, text);
    for (size_t i = 0; i < u->query->by.count; i++)
        slice->key[i] = u->text_of[text[i]];
    slice->cut = usage_cut (u, s->instant);
    slice->period = period;
    slice->part.kind = s->kind;
    return slice;
}

static void take_held (const usage_interval_t *p, const holding_t *h, void *arg)
{
    usage_t *u = arg;
    usage_subject_t s = usage_subject_of (p, h);
    usage_slice_t *slice;

    if (!usage_passes (u, &s))
        return;
    slice = find_slice (u, p->period, h->kind);
    if (!slice)
        slice = add_slice (u, &s, p->period);
    slice->devices += h->devices;
    usage_part_hold (&slice->part, p, h);
}

static void take_billed (const usage_interval_t *p, const holding_t *h,
                         mpq_srcptr more, void *arg)
{
    usage_slice_t *slice = find_slice (arg, p->period, h->kind);

    if (slice && mpq_sgn (more) != 0)
        billable_more_add (&slice->part.more, more);
}

/* No device: nothing of which a slice could tell. */
static void take_unknown (const usage_interval_t *p, void *arg)
{
    (void)p;
    (void)arg;
}

static measured_t *take_measured (const usage_interval_t *p, const holding_t *h,
                                  bool known, void *arg)
{
    usage_slice_t *slice = find_slice (arg, p->period, h->kind);

    return known && slice ? usage_part_measure (&slice->part) : NULL;
}

static void forget_slices (usage_t *u)
{
    for (size_t i = 0; i < u->slice_count; i++) {
        billable_more_free (&u->slices[i].part.more);
        free (u->slices[i].part.measured);
    }
    u->slice_count = 0;
}

void usage_free_slices (usage_t *u)
{
    forget_slices (u);
    free (u->slices);
}

int usage_each_slice (usage_t *u, const segment_t *s,
                      const suspension_t *suspensions, size_t count,
                      const project_t *project,
                      const segment_evidence_t *evidence,
                      usage_slice_f callback, void *arg, gl_error_t *error)
{
    const usage_interval_sink_t sink = {.unknown = take_unknown,
                                        .allocated = take_held,
                                        .measured = take_measured,
                                        .arg = u};

    forget_slices (u);
    usage_interval_each (&u->cuts, &sink, s, suspensions, count, project);
    if (u->billable_otherwise)
        billable_each (usage_billable_terms (u), s, suspensions, count, project,
                       take_billed, u);
    usage_interval_measure (&u->cuts, &sink, s, project, evidence);
    for (size_t i = 0; i < u->slice_count; i++)
        if (callback (&u->slices[i], arg, error) < 0)
            return -1;
    return 0;
}
