/* Segments against what the nodes recorded of them. */
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "evidence/reconcile_private.h"
#include "evidence/runaway.h"
#include "gres/nodelist.h"
#include "gres/tres.h"

#define TOLERANCE (EVIDENCE_TOLERANCE_MS / 1000)

struct looking {
    reconcile_t *reconcile;
    const reconcile_cluster_t *cluster;
    const segment_t *segment;
    const suspension_t *suspensions;
    size_t suspension_count;
    const segment_evidence_t *evidence;
    fraction_t shared;
    unsigned revised;
    reconcile_cause_t worst;
};

/* GPU seconds of shards and MPS on so many of the segment's nodes, rounded
 * down. */
static unsigned __int128 shared_seconds (const struct looking *l,
                                         uint64_t on_nodes, int64_t start,
                                         int64_t end)
{
    nodelist_t *list = nodelist_open (l->segment->nodelist, NULL);
    uint64_t nodes = list ? nodelist_count (list) : 0;

    nodelist_close (list);
    if (nodes == 0)
        nodes = 1;
    if (on_nodes > nodes)
        on_nodes = nodes;
    return device_seconds (on_nodes, start, end, l->cluster->period)
           * (uint64_t)l->shared.num / ((uint64_t)l->shared.den * nodes);
}

static unsigned __int128 held_seconds (const struct looking *l)
{
    const segment_t *s = l->segment;

    return segment_device_seconds (s, l->cluster->period)
           + shared_seconds (l, UINT64_MAX, s->time_start, segment_end (s));
}

/* Of all devices that nodes show, or of one node's. */
static unsigned __int128 shown_seconds (const struct looking *l,
                                        const char *node, int64_t start,
                                        int64_t end)
{
    uint64_t devices = 0, nodes = 0;

    for (size_t i = 0; i < l->evidence->node_count; i++) {
        if (node && strcmp (l->evidence->node[i].node, node) != 0)
            continue;
        devices += l->evidence->node[i].count;
        nodes += l->evidence->node[i].count > 0;
    }
    return l->shared.num
               ? shared_seconds (l, nodes, start, end)
               : device_seconds (devices, start, end, l->cluster->period);
}

static reconcile_row_t row_of (const struct looking *l, const char *what)
{
    return (reconcile_row_t){.side = SIDE_EVIDENCE,
                             .cluster = l->cluster->cluster,
                             .id_job = l->segment->id_job,
                             .time_submit = l->segment->time_submit,
                             .what = what};
}

static void add (struct looking *l, const reconcile_row_t *row)
{
    if (l->worst == CAUSE_COUNT || row->cause > l->worst)
        l->worst = row->cause; /* CAUSE_UNEXPLAINED is the last */
    reconcile_add (l->reconcile, row);
}

/* --- devices ----------------------------------------------------------- */

/* A resized job's records are of its first part. */
static bool is_of_first_part (const struct looking *l)
{
    const segment_t *s = l->segment;

    return GL_ANY (l->evidence->attempt, l->evidence->attempt_count, it,
                   (*it)->start
                       && (*it)->begin_ms / 1000 < s->time_start - TOLERANCE)
           || s->state == SEGMENT_RESIZING;
}

/* Parts of a GPU are shown by the node as the whole of it. */
static bool has_parts (const char *gres)
{
    const char *cursor = gres;
    gres_item_t item;

    while (gres && gres_next (&cursor, &item))
        if (item.name_length != 3 || memcmp (item.name, "gpu", 3) != 0)
            return true;
    return false;
}

/* A node has a record of the job after its submission and before the start in its
 * row: slurmctld forgot that start. Ends are of other attempts. */
static bool started_again (const struct looking *l)
{
    const segment_t *s = l->segment;

    for (size_t i = 0; i < l->evidence->attempt_count; i++) {
        const attempt_t *a = l->evidence->attempt[i];
        for (size_t k = 0; k < a->fact_count; k++) {
            int64_t at = a->fact[k]->seen.stamp;
            if (a->fact[k]->kind != NODE_FACT_END && at >= s->time_submit
                && at < s->time_start)
                return true;
        }
    }
    return false;
}

/* slurmdbd makes this of messages about a job whose start slurmctld never
 * reported: a row without a partition and without TRES. */
static bool is_remnant (const segment_t *s)
{
    return s->gpu_shown && (!s->partition || !s->partition[0]);
}

static uint64_t count_devices (const char *gpus)
{
    uint64_t count = gpus && gpus[0];

    for (; gpus && *gpus; gpus++)
        count += *gpus == ',';
    return count;
}

/* The devices of each node's last record of this start. */
static uint64_t devices_since_start (const struct looking *l)
{
    const segment_evidence_t *e = l->evidence;
    uint64_t sum = 0, last = 0;

    for (size_t i = 0; i < e->attempt_count; i++) { /* by node, then time */
        const attempt_t *a = e->attempt[i];
        if (i > 0 && strcmp (e->attempt[i - 1]->node, a->node) != 0) {
            sum += last;
            last = 0;
        }
        for (size_t k = 0; k < a->fact_count; k++)
            if (a->fact[k]->kind != NODE_FACT_END && a->fact[k]->seen.gpus
                && a->fact[k]->seen.stamp >= l->segment->time_start)
                last = count_devices (a->fact[k]->seen.gpus);
    }
    return sum + last;
}

static void look_at_devices (struct looking *l)
{
    const segment_t *s = l->segment;
    uint64_t counted = segment_devices (s), shown = l->evidence->device_count;
    char ours[RECONCILE_NUMBER], theirs[RECONCILE_NUMBER];
    reconcile_row_t row = row_of (l, "devices");

    if (shown == counted || has_parts (s->gres) || is_of_first_part (l)
        || (shown < counted
            && (shown == 0 || !evidence_tells_all (l->evidence))))
        return;
    row.ours = counted || !s->gpu_asked
                   ? reconcile_number ((__int128)counted, ours)
                   : NULL;
    row.theirs = reconcile_number ((__int128)shown, theirs);
    row.difference
        = (__int128)device_seconds (counted, s->time_start, segment_end (s),
                                    l->cluster->period)
          - (__int128)device_seconds (shown, s->time_start, segment_end (s),
                                      l->cluster->period);
    row.cause = l->revised & REVISED_GRES ? CAUSE_TRES_EDITED
                : counted == 0 && s->gpu_asked && !s->gpu_shown
                    ? CAUSE_UNKNOWN_GPU
                : is_remnant (s)
                        || (shown > counted && started_again (l)
                            && (segment_end (s) == s->time_start
                                || devices_since_start (l) <= counted))
                    ? CAUSE_STARTED_AGAIN
                    : CAUSE_UNEXPLAINED;
    add (l, &row);
}

/* --- ends -------------------------------------------------------------- */

static bool began_suspension_at (const struct looking *l, int64_t instant)
{
    return GL_ANY (l->suspensions, l->suspension_count, it,
                   it->start == instant);
}

static bool has_no_time (const segment_t *s)
{
    return s->time_end <= s->time_start || s->time_end <= s->time_submit;
}

static reconcile_cause_t judge_late (const struct looking *l)
{
    const segment_t *s = l->segment;

    if (s->state == SEGMENT_NODE_FAIL)
        return CAUSE_NODE_FAILED;
    if (began_suspension_at (l, s->time_end))
        return CAUSE_ENDED_SUSPENDED;
    if (has_no_time (s)
        && (s->state == SEGMENT_COMPLETED || s->state == SEGMENT_FAILED))
        return CAUSE_RUNAWAY_FIXED;
    return CAUSE_EPILOG_LATE;
}

/* slurmctld was away at some moment between the two ends. */
static bool was_away (const struct looking *l, int64_t from, int64_t to)
{
    const period_t between = {from - TOLERANCE, to};

    return GL_ANY (l->cluster->outages, l->cluster->outage_count, it,
                   period_seconds (period_clip (between, *it)) > 0);
}

static reconcile_cause_t judge_early (const struct looking *l)
{
    const segment_t *s = l->segment;
    int64_t ended = runaway_epilog (s, l->evidence);

    if (s->state == SEGMENT_NODE_FAIL)
        return CAUSE_NODE_FAILED;
    return ended != 0 && ended < segment_end (s) - TOLERANCE
                   && was_away (l, ended, segment_end (s))
               ? CAUSE_ENDED_ON_NODE
               : CAUSE_UNEXPLAINED;
}

static void add_end (struct looking *l, const attempt_t *a,
                     reconcile_cause_t cause)
{
    const segment_t *s = l->segment;
    int64_t end = segment_end (s), recorded = a->end_ms / 1000;
    char ours[ZONE_STAMP_SIZE], theirs[ZONE_STAMP_SIZE];
    GL_AUTOFREE char *what = xasprintf ("end on %s", a->node);
    reconcile_row_t row = row_of (l, what);

    row.ours = zone_stamp (reconcile_zone (l->reconcile), end, ours);
    row.theirs = zone_stamp (reconcile_zone (l->reconcile), recorded, theirs);
    row.difference = (__int128)shown_seconds (l, a->node, recorded, end)
                     - (__int128)shown_seconds (l, a->node, end, recorded);
    row.cause = cause;
    add (l, &row);
}

/* The end of a start that slurmctld forgot: before the row's own. */
static void add_first_start (struct looking *l, const attempt_t *a)
{
    char ours[ZONE_STAMP_SIZE], theirs[ZONE_STAMP_SIZE];
    GL_AUTOFREE char *what = xasprintf ("start on %s", a->node);
    reconcile_row_t row = row_of (l, what);

    row.ours = zone_stamp (reconcile_zone (l->reconcile),
                           l->segment->time_start, ours);
    row.theirs = zone_stamp (reconcile_zone (l->reconcile),
                             a->fact[0]->seen.stamp, theirs);
    row.cause = CAUSE_STARTED_AGAIN;
    add (l, &row);
}

/* Of a job's last segment: the others end with a change, not with an epilog. */
static void look_at_ends (struct looking *l)
{
    const segment_t *s = l->segment;
    int64_t end = segment_end (s);

    if (s->state == SEGMENT_RESIZING || s->time_end == 0)
        return;
    for (size_t i = 0; i < l->evidence->attempt_count; i++) {
        const attempt_t *a = l->evidence->attempt[i];
        if (!a->end)
            continue;
        if ((a->problems & ATTEMPT_END_LATE) && a->end_ms / 1000 > end)
            add_end (l, a, judge_late (l));
        if (a->end_ms / 1000 < s->time_start && started_again (l))
            add_first_start (l, a);
        else if ((a->problems & ATTEMPT_END_EARLY) && a->end_ms / 1000 < end)
            add_end (l, a, judge_early (l));
    }
}

/* --- energy ------------------------------------------------------------ */

static bool same_device (const device_usage_t *a, const device_usage_t *b)
{
    return !strcmp (a->node, b->node)
           && !strcmp (a->gpu ? a->gpu : "", b->gpu ? b->gpu : "")
           && !strcmp (a->slice ? a->slice : "", b->slice ? b->slice : "");
}

static void add_energy (struct looking *l, const device_usage_t *u,
                        __int128 refused_mj)
{
    char number[RECONCILE_NUMBER];
    GL_AUTOFREE char *theirs
        = xasprintf ("%s mJ", reconcile_number (refused_mj, number));
    GL_AUTOFREE char *what = xasprintf ("energy of %s on %s",
                                        u->slice ? u->slice
                                        : u->gpu ? u->gpu
                                                 : "a device",
                                        u->node);
    reconcile_row_t row = row_of (l, what);

    row.theirs = theirs;
    row.cause = CAUSE_ENERGY_REFUSED;
    add (l, &row);
}

/* One row for each node and GPU, of all that was refused. */
static void look_at_energy (struct looking *l)
{
    const segment_evidence_t *e = l->evidence;

    for (size_t i = 0; i < e->part_count;) {
        const device_usage_t *u = e->part[i]->usage;
        __int128 refused = 0;
        for (; i < e->part_count && same_device (u, e->part[i]->usage); i++)
            if (e->part[i]->usage->energy_refused_mj > 0)
                refused += usage_share_number (
                    e->part[i]->usage, e->part[i]->usage->energy_refused_mj,
                    e->part[i]->from_ms, e->part[i]->to_ms);
        if (refused > 0)
            add_energy (l, u, refused);
    }
}

/* --- segments ---------------------------------------------------------- */

/* Nothing may be missing of a job that was over before its prolog was. */
static bool must_have_records (const segment_t *s)
{
    return s->state != SEGMENT_NODE_FAIL && s->state != SEGMENT_BOOT_FAIL
           && segment_end (s) - s->time_start > TOLERANCE;
}

static void look_at_missing (struct looking *l)
{
    reconcile_row_t row = row_of (l, "record");

    row.ours = "there";
    row.difference = (__int128)held_seconds (l);
    row.cause = CAUSE_UNEXPLAINED;
    add (l, &row);
}

/* --- the segments of one JobId ----------------------------------------- */

static bool is_same_job (const reconcile_before_t *before,
                         const struct looking *l)
{
    return before->cluster && before->id_job == l->segment->id_job
           && !strcmp (before->cluster, l->cluster->cluster);
}

static void remember (reconcile_before_t *before, const struct looking *l,
                      period_t held, uint64_t devices)
{
    bool same = is_same_job (before, l);

    if (same && before->allocated.end >= held.end)
        return;
    if (!same) {
        free (before->cluster);
        before->cluster = xstrdup (l->cluster->cluster);
        before->id_job = l->segment->id_job;
    }
    before->allocated = held;
    before->devices = devices;
}

/* Slurm's defects have left a requeued job with two rows of the same time. */
static void look_at_overlap (struct looking *l)
{
    const segment_t *s = l->segment;
    reconcile_before_t *before = reconcile_before (l->reconcile);
    period_t held = {s->time_start, segment_end (s)};
    uint64_t devices = segment_devices (s);
    period_t both = period_clip (held, before->allocated);
    char ours[ZONE_STAMP_SIZE], theirs[ZONE_STAMP_SIZE];
    reconcile_row_t row = row_of (l, "start");

    if (devices == 0 || held.start >= held.end)
        return;
    if (is_same_job (before, l)
        && period_seconds (period_clip (both, l->cluster->period)) > 0) {
        uint64_t twice = devices < before->devices ? devices : before->devices;
        row.ours = zone_stamp (reconcile_zone (l->reconcile), held.start, ours);
        row.theirs = zone_stamp (reconcile_zone (l->reconcile),
                                 before->allocated.end, theirs);
        row.difference = (__int128)device_seconds (twice, both.start, both.end,
                                                   l->cluster->period);
        row.cause = CAUSE_OVERLAP;
        add (l, &row);
    }
    remember (before, l, held, devices);
}

static void look_at_runaway (struct looking *l)
{
    const segment_t *s = l->segment;
    period_t rest = runaway_quarantined (s, l->cluster->period);
    char ours[ZONE_STAMP_SIZE];
    reconcile_row_t row = row_of (l, "counted_to");

    if (rest.start >= rest.end)
        return;
    row.ours
        = zone_stamp (reconcile_zone (l->reconcile), segment_end (s), ours);
    row.theirs = "open";
    row.difference = -(__int128)device_seconds (segment_devices (s), rest.start,
                                                rest.end, l->cluster->period);
    row.cause = CAUSE_RUNAWAY;
    add (l, &row);
}

void reconcile_evidence (reconcile_t *reconcile,
                         const reconcile_cluster_t *cluster,
                         const segment_t *segment,
                         const suspension_t *suspensions, size_t count,
                         const segment_evidence_t *evidence, bool watched,
                         fraction_t shared, unsigned revised)
{
    struct looking l = {reconcile, cluster, segment, suspensions, count,
                        evidence,  shared,  revised, CAUSE_COUNT};
    bool recorded = evidence && evidence->recorded;
    bool missing = !recorded && watched && must_have_records (segment);

    if (segment->time_start == 0)
        return;
    look_at_runaway (&l);
    look_at_overlap (&l);
    if (recorded) {
        look_at_devices (&l);
        look_at_ends (&l);
    }
    if (evidence)
        look_at_energy (&l);
    if (missing)
        look_at_missing (&l);
    if (recorded || missing || l.worst != CAUSE_COUNT)
        reconcile_compared (reconcile, SIDE_EVIDENCE, l.worst);
    if (recorded)
        reconcile_total (reconcile, SIDE_EVIDENCE, "", held_seconds (&l),
                         shown_seconds (&l, NULL, segment->time_start,
                                        segment_end (segment)));
}

void reconcile_unmatched (reconcile_t *reconcile,
                          const reconcile_cluster_t *cluster, const char *node,
                          uint64_t id_job, int64_t stamp,
                          evidence_reason_t reason)
{
    char theirs[ZONE_STAMP_SIZE];
    GL_AUTOFREE char *what
        = xasprintf ("record of %s: %s", node, evidence_reason_name (reason));
    reconcile_row_t row
        = {.side = SIDE_EVIDENCE,
           .cluster = cluster->cluster,
           .id_job = id_job,
           .what = what,
           .theirs = zone_stamp (reconcile_zone (reconcile), stamp, theirs),
           .cause = reason == EVIDENCE_FORGOTTEN
                            || reason == EVIDENCE_GIVEN_AGAIN
                        ? CAUSE_STARTED_AGAIN
                    : stamp >= cluster->as_of - TOLERANCE
                        ? CAUSE_AFTER_AS_OF
                        : CAUSE_UNEXPLAINED};

    reconcile_compared (reconcile, SIDE_EVIDENCE, row.cause);
    reconcile_add (reconcile, &row);
}
