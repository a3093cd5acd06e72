/* From facts to the rollups of some days. */
#include <string.h>

#include "base/memory.h"
#include "evidence/runaway.h"
#include "usage/usage_interval.h"
#include "usage/billable.h"
#include "usage/rollup_private.h"
#include "usage/usage_private.h"

#define NO_DAY SIZE_MAX

struct rollup_builder {
    char *cluster;
    usage_interval_cuts_t cuts;
    billable_terms_t terms; /* site NULL: what is billed is what is allocated */
    period_t *day;
    size_t day_count;
    int64_t *changes; /* where days begin, and pools */
    assembly_t *assembly;
    capacity_t *capacity;

    /* a kind of the kinds_t, and its number in the assembly */
    struct {
        const device_kind_t *kind; /* NULL: a job without a device */
        bool quarantined;
        size_t number;
    } *kind;
    size_t kind_count;

    /* the current segment, in its day */
    size_t who;
    int64_t start;    /* of it, or of what is quarantined of it */
    bool quarantined; /* that is what intervals are of */
    bool recorded;
    size_t today;
    bool begun;
    size_t *allocated; /* numbers of kinds, each once */
    size_t allocated_count, held_size;
};

/* --- days -------------------------------------------------------------- */

static void make_days (rollup_builder_t *b, const zone_t *zone, period_t days)
{
    for (int64_t at = days.start; at < days.end;) {
        period_t day = zone_unit (zone, CALENDAR_DAY, at);
        b->day = xreallocarray (b->day, b->day_count + 1, sizeof (*b->day));
        b->day[b->day_count++] = period_clip (day, days);
        at = day.end;
    }
}

static size_t day_of (const rollup_builder_t *b, int64_t instant)
{
    size_t low = 0, high = b->day_count;

    if (high == 0 || instant < b->day[0].start
        || instant >= b->day[high - 1].end)
        return NO_DAY;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (b->day[middle].start <= instant)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void make_cuts (rollup_builder_t *b, const site_t *site, period_t days)
{
    size_t count;

    b->changes = site_changes (site, days, &count);
    b->changes = xreallocarray (b->changes, count + b->day_count + 1,
                                sizeof (*b->changes));
    for (size_t i = 0; i < b->day_count; i++)
        b->changes[count++] = b->day[i].start;
    b->cuts = (usage_interval_cuts_t){.kinds = kinds_new (site),
                                      .zone = site->zone,
                                      .period = days,
                                      .changes = b->changes,
                                      .change_count
                                      = instants_sort (b->changes, count)};
}

/* --- values ------------------------------------------------------------ */

static struct rollup_kind value_of_kind (const device_kind_t *kind)
{
    if (!kind)
        return (struct rollup_kind){.sort = ROLLUP_UNNAMED};
    if (kind == &usage_interval_unknown)
        return (struct rollup_kind){.sort = ROLLUP_UNTOLD};
    return (struct rollup_kind){.sort = ROLLUP_TOLD,
                                .unsure = kind->unsure,
                                .pool = kind->pool ? kind->pool->name : NULL,
                                .type = kind->type,
                                .seen = kind->seen,
                                .model = kind->model};
}

static size_t number_of_kind (rollup_builder_t *b, const device_kind_t *kind)
{
    struct rollup_kind value;

    for (size_t i = 0; i < b->kind_count; i++)
        if (b->kind[i].kind == kind
            && b->kind[i].quarantined == b->quarantined)
            return b->kind[i].number;
    value = value_of_kind (kind);
    value.quarantined = b->quarantined;
    b->kind
        = xreallocarray (b->kind, b->kind_count + 1, sizeof (*b->kind));
    b->kind[b->kind_count].kind = kind;
    b->kind[b->kind_count].quarantined = b->quarantined;
    b->kind[b->kind_count].number = assembly_kind (b->assembly, &value);
    return b->kind[b->kind_count++].number;
}

static size_t number_of_who (rollup_builder_t *b, const segment_t *s,
                             const project_t *project)
{
    const char *text[WHO_TEXTS] = {
        [WHO_ACCOUNT] = s->account,
        [WHO_USER] = s->user,
        [WHO_PROJECT] = project ? project->project : NULL,
        [WHO_QOS] = s->qos,
        [WHO_PARTITION] = s->partition,
    };

    return assembly_who (b->assembly, text);
}

/* --- intervals ------------------------------------------------------------ */

/* Counts the current segment in its day, with all that was allocated to it there. */
static void leave_day (rollup_builder_t *b)
{
    uint64_t begun = b->begun ? 1 : 0;

    if (b->allocated_count == 1) {
        struct rollup_cell *cell
            = &assembly_cell (b->assembly, b->today, b->who, b->allocated[0])
                   ->sum;
        cell->present++;
        cell->begun += begun;
    } else if (b->allocated_count > 1)
        assembly_row (b->assembly, b->today, b->who, b->allocated,
                      b->allocated_count, 1, begun);
    b->allocated_count = 0;
}

static void enter_day (rollup_builder_t *b, const usage_interval_t *p)
{
    size_t day = day_of (b, p->period.start);

    if (day == b->today)
        return;
    leave_day (b);
    b->today = day;
    b->begun = b->start >= b->day[day].start;
}

static void note_held (rollup_builder_t *b, size_t kind)
{
    for (size_t i = 0; i < b->allocated_count; i++)
        if (b->allocated[i] == kind)
            return;
    if (b->allocated_count == b->held_size) {
        b->held_size = b->held_size * 2 + 8;
        b->allocated = xreallocarray (b->allocated, b->held_size,
                                      sizeof (*b->allocated));
    }
    b->allocated[b->allocated_count++] = kind;
}

static struct assembly_cell *take_job (rollup_builder_t *b,
                                       const usage_interval_t *p, size_t kind)
{
    struct assembly_cell *cell;

    enter_day (b, p);
    note_held (b, kind);
    assembly_held (b->assembly, b->today, p->period.end);
    cell = assembly_cell (b->assembly, b->today, b->who, kind);
    jobids_append (&cell->ids, p->segment->id_job);
    return cell;
}

static void take_unknown (const usage_interval_t *p, void *arg)
{
    rollup_builder_t *b = arg;

    take_job (b, p, number_of_kind (b, NULL));
}

static void take_suspended (rollup_builder_t *b, const usage_interval_t *p,
                            uint64_t devices, struct assembly_cell *cell)
{
    int64_t seconds;
    suspended_t known = usage_interval_suspended (p, &seconds);
    unsigned ends
        = (p->begins ? HALF_BEGIN : 0) | (p->ends ? HALF_END : 0);

    if (known == SUSPENDED_KNOWN)
        cell->sum.suspended_gres_seconds += devices * (uint64_t)seconds;
    else if (known == SUSPENDED_TOTAL)
        assembly_half (b->assembly, b->today, cell, p->segment->id_job,
                       p->segment->time_submit, ends,
                       p->ends ? devices * (uint64_t)seconds : 0);
    else
        cell->sum.suspended_unknown = true;
}

static void take_held (const usage_interval_t *p, const holding_t *h, void *arg)
{
    rollup_builder_t *b = arg;
    struct assembly_cell *cell
        = take_job (b, p, number_of_kind (b, h->kind));
    uint64_t seconds = h->devices * (uint64_t)period_seconds (p->period);
    segment_loss_t loss = segment_loss (p->segment);

    cell->sum.gres_seconds += seconds;
    if (b->quarantined)
        return;
    if (loss != LOSS_NONE)
        cell->sum.lost_gres_seconds[loss] += seconds;
    if (b->recorded)
        cell->sum.recorded_gres_seconds += seconds;
    take_suspended (b, p, h->devices, cell);
}

static measured_t *take_measured (const usage_interval_t *p, const holding_t *h,
                                  bool known, void *arg)
{
    rollup_builder_t *b = arg;
    struct assembly_cell *cell = assembly_cell (
        b->assembly, day_of (b, p->period.start), b->who,
        number_of_kind (b, h->kind));

    (void)known;
    return assembly_measured (cell);
}

static void take_stretch (const usage_interval_t *p, const device_kind_t *kind,
                          const device_usage_t *usage, int64_t from_ms,
                          int64_t to_ms, void *arg)
{
    rollup_builder_t *b = arg;

    if (kind->pool && kind->weight_known)
        load_profile_stretch (
            assembly_load (b->assembly, day_of (b, p->period.start)),
            kind->pool->name, usage, from_ms, to_ms, p->period);
}

static void take_billed (const usage_interval_t *p, const holding_t *h,
                         mpq_srcptr more, void *arg)
{
    rollup_builder_t *b = arg;

    if (mpq_sgn (more) != 0)
        billable_more_add (&assembly_cell (b->assembly,
                                           day_of (b, p->period.start), b->who,
                                           number_of_kind (b, h->kind))
                                ->sum.more,
                           more);
}

/* --- facts in ---------------------------------------------------------- */

/* As far as it lies in the days. */
static void add_chunks (rollup_builder_t *b, const segment_t *s,
                        const suspension_t *suspensions, size_t count,
                        const project_t *project, bool quarantined)
{
    const usage_interval_sink_t sink = {.unknown = take_unknown,
                                        .allocated = take_held,
                                        .measured = take_measured,
                                        .stretch = take_stretch,
                                        .arg = b};

    b->quarantined = quarantined;
    b->start = s->time_start;
    b->today = NO_DAY;
    usage_interval_each (&b->cuts, &sink, s, suspensions, count, project);
    leave_day (b);
    b->quarantined = false;
}

/* Of a runaway: what lies after the end that is believed. */
static void add_quarantined (rollup_builder_t *b, const segment_t *segment,
                             const project_t *project)
{
    const period_t always = {SITE_ALWAYS_START, SITE_ALWAYS_END};
    period_t rest = runaway_quarantined (segment, always);
    segment_t s = *segment;

    if (rest.start >= rest.end)
        return;
    s.time_start = rest.start;
    s.time_end = rest.end;
    add_chunks (b, &s, NULL, 0, project, true);
}

void rollup_builder_add (rollup_builder_t *b, const segment_t *s,
                         const suspension_t *suspensions, size_t count,
                         const project_t *project,
                         const segment_evidence_t *evidence)
{
    const usage_interval_sink_t sink = {.unknown = take_unknown,
                                        .allocated = take_held,
                                        .measured = take_measured,
                                        .stretch = take_stretch,
                                        .arg = b};

    capacity_add_segment (b->capacity, s);
    if (s->time_start == 0 || s->time_start >= b->cuts.period.end)
        return;
    b->who = number_of_who (b, s, project);
    b->recorded = evidence && evidence->recorded;
    add_chunks (b, s, suspensions, count, project, false);
    if (b->terms.site)
        billable_each (b->terms, s, suspensions, count, project, take_billed,
                       b);
    if (s->believed_end)
        add_quarantined (b, s, project);
    if (evidence)
        usage_interval_measure (&b->cuts, &sink, s, project, evidence);
}

capacity_t *rollup_builder_capacity (rollup_builder_t *b)
{
    return b->capacity;
}

void rollup_builder_unmatched (rollup_builder_t *b, int64_t instant,
                               const evidence_counts_t *counts)
{
    size_t day = day_of (b, instant);
    evidence_counts_t *to;

    if (day == NO_DAY)
        return;
    to = assembly_evidence (b->assembly, day);
    for (size_t i = EVIDENCE_MATCHED + 1; i < EVIDENCE_REASON_COUNT; i++) {
        to->attempts[i] += counts->attempts[i];
        to->usage_ms[i] += counts->usage_ms[i];
    }
}

/* --- rollups out ------------------------------------------------------- */

static void take_slice (const capacity_slice_t *slice, void *arg)
{
    rollup_builder_t *b = arg;

    if (slice->pool && capacity_slice_counts (slice))
        assembly_capacity (b->assembly, day_of (b, slice->interval.start),
                           &(rollup_capacity_t){slice->pool->name, slice->sum,
                                                slice->reserved,
                                                slice->reserved_count});
}

static void measure_capacity (rollup_builder_t *b)
{
    int64_t *starts = xcalloc (b->day_count + 1, sizeof (*starts));

    for (size_t i = 0; i < b->day_count; i++)
        starts[i] = b->day[i].start;
    capacity_each (b->capacity, starts, b->day_count, take_slice, b);
    free (starts);
}

int rollup_builder_each (rollup_builder_t *b, rollup_f callback, void *arg,
                         gl_error_t *error)
{
    int rc = 0;

    measure_capacity (b);
    for (size_t i = 0; i < b->day_count && rc == 0; i++) {
        rollup_t *day = assembly_take (b->assembly, i, b->cluster, b->day[i]);
        rc = callback (day, arg, error);
        rollup_free (day);
    }
    return rc;
}

/* --- life -------------------------------------------------------------- */

rollup_builder_t *rollup_builder_new (const site_t *site,
                                      const accounts_t *accounts,
                                      const char *cluster, period_t days)
{
    rollup_builder_t *b = xcalloc (1, sizeof (*b));

    b->cluster = xstrdup (cluster);
    make_days (b, site->zone, days);
    make_cuts (b, site, days);
    if (billable_otherwise (site))
        b->terms = (billable_terms_t){site, accounts, &b->cuts};
    b->assembly = assembly_new (b->day_count);
    b->capacity = capacity_new (site, b->cuts.kinds, days);
    return b;
}

void rollup_builder_free (rollup_builder_t *b)
{
    if (!b)
        return;
    capacity_free (b->capacity);
    kinds_free (b->cuts.kinds);
    assembly_free (b->assembly);
    free (b->kind);
    free (b->allocated);
    free (b->changes);
    free (b->day);
    free (b->cluster);
    free (b);
}
