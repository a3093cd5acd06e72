/* Rollups into cells. */
#include <string.h>

#include "base/memory.h"
#include "usage/billable.h"
#include "usage/rollup_private.h"
#include "usage/usage_private.h"

/* Packed JobIds in one cell above which they are put together, so that memory
 * grows with the different ids, not with the rollups. */
#define PACKED_MAX (2 * 1024 * 1024)

/* A suspension of which some rollups tell the ends. */
struct half_key {
    struct cell *cell;
    const device_kind_t *kind;
    int64_t interval; /* where the cell's interval of time begins */
    uint64_t cluster;
    uint64_t id_job;
    int64_t time_submit;
};

struct halves {
    struct half_key key;
    unsigned ends;
    uint64_t gres_seconds;
    UT_hash_handle hh;
};

/* A rollup on its way. */
struct adding {
    usage_t *usage;
    const rollup_t *rollup;
    const device_kind_t **kind; /* of its kinds; NULL: unnamed */
    int64_t interval; /* the interval of time that it lies in begins */
    uint32_t cluster;
    rollup_part_t part;
    jobids_work_t *work;
};

/* --- values ------------------------------------------------------------ */

static const device_kind_t *kind_of (usage_t *u, const rollup_t *r,
                                     const struct rollup_kind *k)
{
    if (k->sort == ROLLUP_UNNAMED)
        return NULL;
    if (k->sort == ROLLUP_UNTOLD)
        return &usage_interval_unknown;
    return kinds_by_value (u->cuts.kinds, k->pool, r->period.start, k->type,
                           k->unsure, k->seen, k->model);
}

static void resolve_kinds (struct adding *a)
{
    const rollup_t *r = a->rollup;

    a->kind = xcalloc (r->kind_count + 1, sizeof (*a->kind));
    for (size_t i = 0; i < r->kind_count; i++)
        a->kind[i] = kind_of (a->usage, r, &r->kind[i]);
}

static usage_subject_t subject_of (const struct adding *a, size_t who,
                                   size_t kind)
{
    const char *const *text = a->rollup->who[who].text;

    return (usage_subject_t){
        .cluster = a->rollup->cluster,
        .account = text[WHO_ACCOUNT],
        .user = text[WHO_USER],
        .project = text[WHO_PROJECT],
        .qos = text[WHO_QOS],
        .partition = text[WHO_PARTITION],
        .kind = a->kind[kind],
        .instant = a->rollup->period.start,
    };
}

/* Where the interval of time that holds the instant begins. */
static int64_t usage_interval_start (const usage_t *u, int64_t instant)
{
    int64_t start = u->cuts.period.start;

    for (size_t i = 0; i < u->cuts.change_count; i++)
        if (u->cuts.changes[i] > start && u->cuts.changes[i] <= instant)
            start = u->cuts.changes[i];
    for (size_t i = 0; i < GL_ARRAY_SIZE (u->cuts.units); i++) {
        period_t unit;
        if (!u->cuts.units[i])
            continue;
        unit = zone_unit (u->cuts.zone, (calendar_unit_t)i, instant);
        if (unit.start > start)
            start = unit.start;
    }
    return start;
}

/* --- jobs -------------------------------------------------------------- */

/* JobIds of a rollup's cell, still packed (usage/jobids.h). */
struct job_ids {
    uint32_t cluster; /* interned */
    bool unknown;     /* of GPU jobs without a GPU in accounting */
    jobids_t set;
};

/* Most sets have few ids: a cell holds them behind one another, each with its members before its
 * bytes, since these would be most of the memory. */
static void add_ids (struct cell *c, uint32_t cluster, bool unknown,
                     const jobids_t *set)
{
    varint_add (&c->packed, (uint64_t)cluster << 1 | unknown);
    varint_add (&c->packed, set->count);
    varint_add (&c->packed, set->last);
    varint_add (&c->packed, set->length);
    buffer_add (&c->packed, set->bytes, set->length);
    c->id_count++;
}

/* Of the cell's bytes, which stay where they are; yours to free. */
static struct job_ids *list_ids (const struct cell *c)
{
    struct job_ids *list = xcalloc (c->id_count + 1, sizeof (*list));
    const uint8_t *at = (const uint8_t *)c->packed.data,
                  *end = at + c->packed.length;

    for (size_t i = 0; i < c->id_count; i++) {
        struct job_ids *ids = &list[i];
        uint64_t of, length;
        at = varint_read (at, end, &of);
        at = varint_read (at, end, &ids->set.count);
        at = varint_read (at, end, &ids->set.last);
        at = varint_read (at, end, &length);
        ids->cluster = (uint32_t)(of >> 1);
        ids->unknown = of & 1;
        ids->set.bytes = at;
        ids->set.length = (size_t)length;
        at += length;
    }
    return list;
}

static int by_cluster (const void *a, const void *b)
{
    const struct job_ids *x = a, *y = b;
    int order = (x->cluster > y->cluster) - (x->cluster < y->cluster);

    if (order == 0)
        order = x->unknown - y->unknown;
    return order
               ? order
               : (x->set.bytes > y->set.bytes) - (x->set.bytes < y->set.bytes);
}

/* The sets of a cell, ordered by cluster, those that are unknown last; the
 * first of one cluster is at `from`, returns the end of them. */
static size_t end_of_cluster (const struct job_ids *ids, size_t count,
                              size_t from, size_t *ret_unknown)
{
    size_t end = from;

    while (end < count && ids[end].cluster == ids[from].cluster
           && !ids[end].unknown)
        end++;
    *ret_unknown = end;
    while (end < count && ids[end].cluster == ids[from].cluster)
        end++;
    return end;
}

/* In that order; both are yours to free. */
static jobids_t *sets_of (const struct cell *c, struct job_ids **ret_ids)
{
    jobids_t *sets = xcalloc (c->id_count + 1, sizeof (*sets));
    struct job_ids *ids = list_ids (c);

    if (c->id_count > 1)
        qsort (ids, c->id_count, sizeof (*ids), by_cluster);
    for (size_t i = 0; i < c->id_count; i++)
        sets[i] = ids[i].set;
    *ret_ids = ids;
    return sets;
}

static void count_jobs (jobids_work_t *work, struct cell *c)
{
    struct job_ids *ids;
    jobids_t *sets;
    size_t end, unknown;

    if (c->id_count == 0)
        return;
    sets = sets_of (c, &ids);
    c->cell.jobs = c->cell.unknown_jobs = 0;
    for (size_t i = 0; i < c->id_count; i = end) {
        end = end_of_cluster (ids, c->id_count, i, &unknown);
        c->cell.jobs += jobids_count (work, sets + i, end - i);
        c->cell.unknown_jobs
            += jobids_count (work, sets + unknown, end - unknown);
    }
    free (sets);
    free (ids);
}

/* The union of each cluster's, known and unknown apart. */
static void fold_ids (jobids_work_t *work, struct cell *c)
{
    struct job_ids *ids;
    jobids_t *sets = sets_of (c, &ids);
    struct cell fresh = {.packed = BUFFER_INIT};
    size_t end;

    for (size_t i = 0; i < c->id_count; i = end) {
        jobids_list_t list = {BUFFER_INIT, 0, 0};
        jobids_t whole;
        for (end = i + 1;
             end < c->id_count && ids[end].cluster == ids[i].cluster
             && ids[end].unknown == ids[i].unknown;
             end++)
            continue;
        jobids_union (work, sets + i, end - i, &list);
        whole = jobids_of_list (&list);
        add_ids (&fresh, ids[i].cluster, ids[i].unknown, &whole);
        jobids_list_done (&list);
    }
    free (sets);
    free (ids);
    usage_cell_forget (c);
    c->id_count = fresh.id_count;
    c->packed = fresh.packed;
    c->folded = c->packed.length;
}

static void add_jobs (struct adding *a, struct cell *to,
                      const struct rollup_cell *from)
{
    if (a->usage->query->without_jobs || from->jobs.count == 0)
        return;
    add_ids (to, a->cluster, a->rollup->kind[from->kind].sort == ROLLUP_UNNAMED,
             &from->jobs);
    if (to->packed.length > PACKED_MAX + 2 * to->folded) {
        if (!a->work)
            a->work = jobids_work_new ();
        fold_ids (a->work, to);
    }
}

/* --- suspensions ------------------------------------------------------- */

static void add_half (struct adding *a, const struct rollup_half *h)
{
    const struct rollup_cell *from = &a->rollup->cell[h->cell];
    usage_subject_t s = subject_of (a, from->who, from->kind);
    struct half_key key;
    struct halves *half;

    if (!usage_passes (a->usage, &s))
        return;
    memset (&key, 0, sizeof (key));
    key.cell = usage_cell_get (a->usage, &s);
    key.kind = s.kind;
    key.interval = a->interval;
    key.cluster = a->cluster;
    key.id_job = h->id_job;
    key.time_submit = h->time_submit;
    HASH_FIND (hh, a->usage->halves, &key, sizeof (key), half);
    if (!half) {
        half = xcalloc (1, sizeof (*half));
        half->key = key;
        HASH_ADD (hh, a->usage->halves, key, sizeof (half->key), half);
    }
    half->ends |= h->ends;
    half->gres_seconds += h->gres_seconds;
}

/* With both ends the segment lies in the cell, and its total counts there. */
static void settle_halves (usage_t *u)
{
    struct halves *half, *next;

    HASH_ITER (hh, u->halves, half, next)
    {
        usage_cell_t *cell = &half->key.cell->cell;
        if (half->ends == (HALF_BEGIN | HALF_END))
            usage_part_get (cell, half->key.kind)->suspended_gres_seconds
                += half->gres_seconds;
        else
            cell->suspended_known = false;
        HASH_DEL (u->halves, half);
        free (half);
    }
}

/* --- cells and segments ------------------------------------------------ */

static void add_segments (const struct adding *a, struct cell *to,
                          uint64_t present, uint64_t begun)
{
    to->cell.segments
        += a->interval == a->rollup->period.start ? present : begun;
}

static void add_part (const usage_t *u, struct cell *to,
                      const device_kind_t *kind, const struct rollup_cell *from)
{
    usage_part_t *part = usage_part_get (&to->cell, kind);

    part->gres_seconds += from->gres_seconds;
    part->suspended_gres_seconds += from->suspended_gres_seconds;
    for (size_t i = 0; i < LOSS_COUNT; i++)
        part->lost_gres_seconds[i] += from->lost_gres_seconds[i];
    if (from->more && u->billable_otherwise)
        billable_more_add (&part->more, *from->more);
    if (from->suspended_unknown)
        to->cell.suspended_known = false;
}

static void add_measured (struct adding *a, const usage_subject_t *s,
                          const struct rollup_cell *from)
{
    measured_t *to
        = usage_place (a->usage, s, s->kind != &usage_interval_unknown);

    if (to)
        measured_sum (to, from->measured);
}

/* A cell that only was measured has no jobs, and its kind may be unknown. */
static void add_cell (struct adding *a, const struct rollup_cell *from)
{
    usage_subject_t s = subject_of (a, from->who, from->kind);

    if (a->rollup->kind[from->kind].quarantined
        != (a->part == ROLLUP_QUARANTINED))
        return;
    if (from->jobs.count > 0 && usage_passes (a->usage, &s)) {
        struct cell *to = usage_cell_get (a->usage, &s);
        if (s.kind && !a->usage->query->jobs_alone)
            add_part (a->usage, to, s.kind, from);
        add_segments (a, to, from->present, from->begun);
        add_jobs (a, to, from);
    }
    if (from->measured && !a->usage->query->jobs_alone)
        add_measured (a, &s, from);
}

static void add_recorded (struct adding *a, const struct rollup_cell *from)
{
    usage_subject_t s = subject_of (a, from->who, from->kind);

    if (s.kind && from->recorded_gres_seconds > 0
        && usage_passes (a->usage, &s))
        usage_part_get (&usage_cell_get (a->usage, &s)->cell, s.kind)
            ->gres_seconds
            += from->recorded_gres_seconds;
}

/* Once in every cell that one of its kinds leads to. */
static void add_row (struct adding *a, const struct rollup_row *row)
{
    struct cell **to = xcalloc (row->kind_count, sizeof (struct cell *));
    size_t count = 0;

    for (size_t i = 0; i < row->kind_count; i++) {
        const struct rollup_kind *kind = &a->rollup->kind[row->kind[i]];
        usage_subject_t s = subject_of (a, row->who, row->kind[i]);
        struct cell *cell;
        size_t k = 0;
        if (kind->quarantined != (a->part == ROLLUP_QUARANTINED)
            || !usage_passes (a->usage, &s))
            continue;
        cell = usage_cell_get (a->usage, &s);
        while (k < count && to[k] != cell)
            k++;
        if (k < count)
            continue;
        to[count++] = cell;
        add_segments (a, cell, row->present, row->begun);
    }
    free (to);
}

/* --- the door ---------------------------------------------------------- */

void usage_add_rollup (usage_t *u, const rollup_t *r, rollup_part_t part)
{
    struct adding a = {.usage = u, .rollup = r, .part = part};
    struct recent_text recent[RECENT_TEXTS] = {{NULL, 0}};

    u->recent = recent;
    resolve_kinds (&a);
    a.interval = usage_interval_start (u, r->period.start);
    a.cluster = usage_intern (u, r->cluster);
    for (size_t i = 0; i < r->cell_count; i++) {
        if (part == ROLLUP_RECORDED)
            add_recorded (&a, &r->cell[i]);
        else
            add_cell (&a, &r->cell[i]);
    }
    for (size_t i = 0; i < r->row_count && part != ROLLUP_RECORDED; i++)
        add_row (&a, &r->row[i]);
    for (size_t i = 0; i < r->half_count && part == ROLLUP_COUNTED; i++)
        add_half (&a, &r->half[i]);
    if (part == ROLLUP_COUNTED && u->query->load)
        load_profile_join (u->query->load, &r->load);
    u->recent = NULL;
    jobids_work_free (a.work);
    free (a.kind);
}

void usage_settle_rollups (usage_t *u)
{
    jobids_work_t *work = jobids_work_new ();
    struct cell *cell, *next;

    HASH_ITER (hh, u->cells, cell, next)
    {
        count_jobs (work, cell);
        usage_cell_forget (cell);
    }
    jobids_work_free (work);
    settle_halves (u);
}

void usage_cell_forget (struct cell *c)
{
    c->id_count = 0;
    buffer_done (&c->packed);
}

void usage_free_rollups (usage_t *u)
{
    struct halves *half, *next;

    HASH_ITER (hh, u->halves, half, next)
    {
        HASH_DEL (u->halves, half);
        free (half);
    }
}
