#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "usage/billable.h"
#include "usage/usage_private.h"

usage_subject_t usage_subject_of (const usage_interval_t *p, const holding_t *h)
{
    const segment_t *s = p->segment;

    return (usage_subject_t){
        .cluster = s->cluster,
        .account = s->account,
        .user = s->user,
        .project = p->project ? p->project->project : NULL,
        .labels = p->project ? p->project->labels : NULL,
        .qos = s->qos,
        .partition = s->partition,
        .state = segment_state_name (s->state),
        .node = h ? h->node : NULL,
        .kind = h ? h->kind : NULL,
        .instant = p->period.start,
    };
}

/* --- cells ------------------------------------------------------------- */

size_t usage_cut (const usage_t *u, int64_t instant)
{
    const usage_query_t *q = u->query;
    size_t i = 0;

    while (i < q->cut_count && q->cuts[i] <= instant)
        i++;
    return i;
}

struct cell *usage_cell_get (usage_t *u, const usage_subject_t *s)
{
    struct cell_key key = {.cut = (uint32_t)usage_cut (u, s->instant)};
    /* most queries have few keys, and hashing takes its time */
    const size_t length = offsetof (struct cell_key, text[u->query->by.count]);
    struct cell *cell;

    usage_key_ids (u, s, key.text);
    HASH_FIND (hh, u->cells, &key, length, cell);
    if (!cell) {
        cell = xcalloc (1, offsetof (struct cell, key) + length);
        memcpy (&cell->key, &key, length);
        cell->cell.cut = key.cut;
        cell->cell.first = s->instant;
        cell->cell.suspended_known = true;
        HASH_ADD (hh, u->cells, key, length, cell);
    }
    if (s->instant < cell->cell.first)
        cell->cell.first = s->instant;
    return cell;
}

/* Segments come in the order of their keys, so that a job or segment that is
 * new to a cell differs from the last one there. */
static void count_job (usage_t *u, struct cell *c, const usage_interval_t *p,
                       bool unknown)
{
    const segment_t *s = p->segment;
    bool first = c->cell.segments == 0;
    bool new_job
        = first || c->last_cluster != u->cluster || c->last_job != s->id_job;

    if (new_job || c->last_submit != s->time_submit)
        c->cell.segments++;
    if (new_job) {
        c->cell.jobs++;
        c->last_job_unknown = false;
    }
    if (unknown && !c->last_job_unknown) {
        c->cell.unknown_jobs++;
        c->last_job_unknown = true;
    }
    c->last_cluster = u->cluster;
    c->last_job = s->id_job;
    c->last_submit = s->time_submit;
}

usage_part_t *usage_part_get (usage_cell_t *cell, const device_kind_t *kind)
{
    for (size_t i = 0; i < cell->part_count; i++) {
        if (cell->part[i].kind == kind)
            return &cell->part[i];
    }
    cell->part = xreallocarray (cell->part, cell->part_count + 1,
                                sizeof (*cell->part));
    cell->part[cell->part_count] = (usage_part_t){.kind = kind};
    return &cell->part[cell->part_count++];
}

measured_t *usage_part_measure (usage_part_t *part)
{
    if (!part->measured) {
        part->measured = xmalloc (sizeof (*part->measured));
        measured_init (part->measured);
    }
    return part->measured;
}

/* Seconds of the interval within known suspensions, which come by their start;
 * none counts twice. */
int64_t usage_placed_seconds (const usage_interval_t *p)
{
    int64_t sum = 0, until = p->period.start;

    for (size_t i = 0; i < p->suspension_count; i++) {
        int64_t start = p->suspensions[i].start, end = p->suspensions[i].end;
        if (end == 0 || end > p->period.end)
            end = p->period.end;
        if (start < until)
            start = until;
        if (start >= end)
            continue;
        sum += end - start;
        until = end;
    }
    return sum;
}

bool usage_part_hold (usage_part_t *part, const usage_interval_t *p,
                      const holding_t *h)
{
    int64_t suspended;

    uint64_t seconds = h->devices * (uint64_t)period_seconds (p->period);
    segment_loss_t loss = segment_loss (p->segment);

    part->gres_seconds += seconds;
    if (loss != LOSS_NONE)
        part->lost_gres_seconds[loss] += seconds;
    part->placed_gres_seconds
        += h->devices * (uint64_t)usage_placed_seconds (p);
    if (usage_interval_suspended (p, &suspended) != SUSPENDED_KNOWN)
        return false;
    part->suspended_gres_seconds += h->devices * (uint64_t)suspended;
    return true;
}

static void take_held (const usage_interval_t *p, const holding_t *h, void *arg)
{
    usage_t *u = arg;
    usage_subject_t s = usage_subject_of (p, h);
    struct cell *c;

    if (!usage_passes (u, &s))
        return;
    if (u->query->allocated)
        u->query->allocated (h->kind, h->devices, p->period,
                             u->query->allocated_arg);
    c = usage_cell_get (u, &s);
    count_job (u, c, p, false);
    if (!usage_part_hold (usage_part_get (&c->cell, h->kind), p, h))
        c->cell.suspended_known = false;
}

static void take_billed (const usage_interval_t *p, const holding_t *h,
                         mpq_srcptr more, void *arg)
{
    usage_t *u = arg;
    usage_subject_t s = usage_subject_of (p, h);

    if (mpq_sgn (more) != 0 && usage_passes (u, &s))
        billable_more_add (
            &usage_part_get (&usage_cell_get (u, &s)->cell, h->kind)->more,
            more);
}

static void take_unknown (const usage_interval_t *p, void *arg)
{
    usage_t *u = arg;
    usage_subject_t s = usage_subject_of (p, NULL);

    if (usage_passes (u, &s))
        count_job (u, usage_cell_get (u, &s), p, true);
}

/* --- what was measured ------------------------------------------------- */

static bool needs_kind (key_id_t key)
{
    return key == KEY_POOL || key == KEY_GPU || key == KEY_GRES_TYPE
           || key == KEY_PROFILE;
}

static bool asks_for_kind (const usage_query_t *q)
{
    for (size_t i = 0; i < q->by.count; i++)
        if (needs_kind (q->by.id[i]))
            return true;
    for (size_t i = 0; i < q->filter_count; i++)
        if (needs_kind (q->filters[i].key))
            return true;
    return false;
}

measured_t *usage_place (usage_t *u, const usage_subject_t *s, bool known)
{
    if (!known && u->asks_for_kind)
        return &u->unplaced;
    if (!usage_passes (u, s))
        return NULL;
    return usage_part_measure (
        usage_part_get (&usage_cell_get (u, s)->cell, s->kind));
}

static measured_t *take_measured (const usage_interval_t *p, const holding_t *h,
                                  bool known, void *arg)
{
    usage_subject_t s = usage_subject_of (p, h);

    return usage_place (arg, &s, known);
}

static void take_stretch (const usage_interval_t *p, const device_kind_t *kind,
                          const device_usage_t *usage, int64_t from_ms,
                          int64_t to_ms, void *arg)
{
    usage_t *u = arg;

    if (kind->pool && kind->weight_known)
        load_profile_stretch (u->query->load, kind->pool->name, usage, from_ms,
                              to_ms, p->period);
}

/* --- facts in ---------------------------------------------------------- */

static usage_interval_sink_t sink_of (usage_t *u)
{
    return (usage_interval_sink_t){.unknown = take_unknown,
                                   .allocated = take_held,
                                   .measured = take_measured,
                                   .stretch
                                   = u->query->load ? take_stretch : NULL,
                                   .arg = u};
}

void usage_add (usage_t *u, const segment_t *s, const suspension_t *suspensions,
                size_t count, const project_t *project)
{
    usage_interval_sink_t sink = sink_of (u);

    u->cluster = usage_intern_key (u, KEY_CLUSTER, s->cluster);
    usage_interval_each (&u->cuts, &sink, s, suspensions, count, project);
    if (u->billable_otherwise)
        billable_each (usage_billable_terms (u), s, suspensions, count, project,
                       take_billed, u);
}

void usage_measure (usage_t *u, const segment_t *s, const project_t *project,
                    const segment_evidence_t *evidence)
{
    usage_interval_sink_t sink = sink_of (u);

    usage_interval_measure (&u->cuts, &sink, s, project, evidence);
}

const measured_t *usage_unplaced (const usage_t *u)
{
    return &u->unplaced;
}

void usage_cell_measured (const usage_cell_t *cell, measured_t *ret)
{
    measured_init (ret);
    for (size_t i = 0; i < cell->part_count; i++)
        if (cell->part[i].measured)
            measured_sum (ret, cell->part[i].measured);
}

void usage_cell_covered (const usage_cell_t *cell, size_t known_ms,
                         mpq_t ret_covered, mpq_t ret_allocated)
{
    mpq_t weight, value;

    mpq_inits (weight, value, NULL);
    mpq_set_ui (ret_covered, 0, 1);
    mpq_set_ui (ret_allocated, 0, 1);
    for (size_t i = 0; i < cell->part_count; i++) {
        const usage_part_t *p = &cell->part[i];
        const char *measured = (const char *)usage_part_measured (p);
        bool shared = p->kind->part && p->kind->weight_known;
        if (p->kind->cpu)
            continue;
        exact_set_fraction (weight, shared ? p->kind->weight : fraction (1, 1));
        exact_set_u128 (mpq_numref (value),
                        *(const uint64_t *)(measured + known_ms));
        mpz_set_ui (mpq_denref (value), 1000);
        mpq_canonicalize (value);
        mpq_mul (value, value, weight);
        exact_add (ret_covered, value);
        mpq_set_ui (value, p->gres_seconds, 1);
        mpq_mul (value, value, weight);
        exact_add (ret_allocated, value);
    }
    mpq_clears (weight, value, NULL);
}

/* Adds weight x value, in seconds, for the parts of which `known` is not 0. */
static bool add_weighted (const usage_cell_t *cell, size_t value, size_t known,
                          uint64_t scale, mpq_t ret)
{
    bool any = false, all = true;
    mpq_t part;

    mpq_init (part);
    mpq_set_ui (ret, 0, 1);
    for (size_t i = 0; i < cell->part_count; i++) {
        const usage_part_t *p = &cell->part[i];
        const char *measured = (const char *)usage_part_measured (p);
        if (*(const uint64_t *)(measured + known) == 0)
            continue;
        any = true;
        all = all && p->kind->weight_known;
        if (!p->kind->weight_known)
            continue;
        exact_set_fraction (part, p->kind->weight);
        mpz_mul_ui (mpq_numref (part), mpq_numref (part),
                    *(const uint64_t *)(measured + value));
        mpz_mul_ui (mpq_denref (part), mpq_denref (part), scale);
        mpq_canonicalize (part);
        exact_add (ret, part);
    }
    mpq_clear (part);
    return any && all;
}

bool usage_cell_active_seconds (const usage_cell_t *cell, mpq_t ret_value)
{
    return add_weighted (cell, offsetof (measured_t, utilization_sum),
                         offsetof (measured_t, utilization_ms), 10000 * 1000,
                         ret_value);
}

bool usage_cell_known_seconds (const usage_cell_t *cell, mpq_t ret_value)
{
    return add_weighted (cell, offsetof (measured_t, utilization_ms),
                         offsetof (measured_t, utilization_ms), 1000,
                         ret_value);
}

bool usage_cell_idle_seconds (const usage_cell_t *cell, mpq_t ret_value)
{
    return add_weighted (cell, offsetof (measured_t, idle_ms),
                         offsetof (measured_t, idle_known_ms), 1000, ret_value);
}

/* --- life ------------------------------------------------------------- */

/* Where pools and teams change, and the query's cuts. */
static void make_changes (usage_t *u)
{
    const usage_query_t *q = u->query;
    size_t count;

    u->changes = site_changes (q->site, q->period, &count);
    u->changes = xreallocarray (u->changes, count + q->cut_count + 1,
                                sizeof (*u->changes));
    for (size_t i = 0; i < q->cut_count; i++)
        u->changes[count++] = q->cuts[i];
    u->cuts.changes = u->changes;
    u->cuts.change_count = instants_sort (u->changes, count);
}

static void note_key (usage_t *u, key_id_t key)
{
    calendar_unit_t unit;

    if (key == KEY_NODE)
        u->cuts.by_node = true;
    if (usage_key_unit (key, &unit))
        u->cuts.units[unit] = true;
    if (key_is_of_team (key))
        u->cuts.units[CALENDAR_MONTH] = true;
}

/* A unit that holds the whole period cuts nothing: mostly the month. */
static void forget_whole_units (usage_t *u)
{
    const period_t period = u->query->period;

    for (size_t i = 0; i < GL_ARRAY_SIZE (u->cuts.units); i++)
        if (u->cuts.units[i]
            && zone_unit (u->cuts.zone, (calendar_unit_t)i, period.start).end
                   >= period.end)
            u->cuts.units[i] = false;
}

usage_t *usage_new (const usage_query_t *query)
{
    usage_t *u = xcalloc (1, sizeof (*u));

    u->query = query;
    measured_init (&u->unplaced);
    usage_new_keys (u);
    u->own_kinds = query->kinds ? NULL : kinds_new (query->site);
    u->cuts.kinds = query->kinds ? query->kinds : u->own_kinds;
    u->cuts.zone = query->site->zone;
    u->cuts.period = query->period;
    u->cuts.causes = query->idle_causes;
    u->asks_for_kind = asks_for_kind (query);
    u->billable_otherwise = billable_otherwise (query->site);
    make_changes (u);
    for (size_t i = 0; i < query->by.count; i++)
        note_key (u, query->by.id[i]);
    for (size_t i = 0; i < query->filter_count; i++)
        note_key (u, query->filters[i].key);
    forget_whole_units (u);
    return u;
}

void usage_free (usage_t *u)
{
    struct cell *cell, *next_cell;

    if (!u)
        return;
    HASH_ITER (hh, u->cells, cell, next_cell)
    {
        HASH_DEL (u->cells, cell);
        usage_cell_forget (cell);
        for (size_t i = 0; i < cell->cell.part_count; i++) {
            billable_more_free (&cell->cell.part[i].more);
            free (cell->cell.part[i].measured);
        }
        free (cell->cell.part);
        free (cell);
    }
    usage_free_keys (u);
    usage_free_rollups (u);
    kinds_free (u->own_kinds);
    free (u->changes);
    usage_free_slices (u);
    free (u->sorted);
    free (u->sorted_key);
    free (u);
}

/* --- results ----------------------------------------------------------- */

static int by_text (const char *a, const char *b)
{
    return a == b ? 0 : strcmp (a ? a : "", b ? b : "");
}

static int by_key (const void *a, const void *b, void *arg)
{
    const usage_cell_t *x = a, *y = b;
    const key_list_t *by = arg;

    for (size_t i = 0; i < by->count; i++) {
        int order = by_text (x->key[i], y->key[i]);
        if (order)
            return order;
    }
    return (x->cut > y->cut) - (x->cut < y->cut);
}

static int by_kind (const void *a, const void *b)
{
    const device_kind_t *x = ((const usage_part_t *)a)->kind;
    const device_kind_t *y = ((const usage_part_t *)b)->kind;
    int order = by_text (x->pool ? x->pool->name : NULL,
                         y->pool ? y->pool->name : NULL);

    if (order == 0)
        order = by_text (x->type, y->type);
    if (order == 0)
        order = by_text (x->seen, y->seen);
    if (order == 0)
        order = by_text (x->model, y->model);
    if (order == 0)
        order = x->unsure - y->unsure;
    return order ? order : x->weight_known - y->weight_known;
}

const usage_cell_t *usage_cells (usage_t *u, size_t *ret_count)
{
    const key_list_t *by = &u->query->by;
    size_t count = 0;
    struct cell *cell, *next;

    usage_settle_rollups (u);
    free (u->sorted);
    free (u->sorted_key);
    u->sorted = xcalloc (HASH_COUNT (u->cells), sizeof (*u->sorted));
    u->sorted_key
        = xcalloc (HASH_COUNT (u->cells) * by->count, sizeof (*u->sorted_key));
    HASH_ITER (hh, u->cells, cell, next)
    {
        const char **key = &u->sorted_key[count * by->count];
        for (size_t i = 0; i < by->count; i++)
            key[i] = u->text_of[cell->key.text[i]];
        cell->cell.key = key;
        if (cell->cell.part_count > 1)
            qsort (cell->cell.part, cell->cell.part_count,
                   sizeof (*cell->cell.part), by_kind);
        u->sorted[count++] = cell->cell;
    }
    if (!u->query->in_any_order)
        qsort_r (u->sorted, count, sizeof (*u->sorted), by_key, (void *)by);
    *ret_count = count;
    return u->sorted;
}

static uint64_t seconds_of (const usage_cell_t *cell, bool cpu, size_t of)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < cell->part_count; i++)
        if (cell->part[i].kind->cpu == cpu)
            sum += *(const uint64_t *)((const char *)&cell->part[i] + of);
    return sum;
}

uint64_t usage_cell_gres_seconds (const usage_cell_t *cell)
{
    return seconds_of (cell, false, offsetof (usage_part_t, gres_seconds));
}

uint64_t usage_cell_cpu_seconds (const usage_cell_t *cell)
{
    return seconds_of (cell, true, offsetof (usage_part_t, gres_seconds));
}

uint64_t usage_cell_suspended (const usage_cell_t *cell)
{
    return seconds_of (cell, false,
                       offsetof (usage_part_t, suspended_gres_seconds));
}

bool usage_cell_gpu_seconds (const usage_cell_t *cell, mpq_t ret_value)
{
    bool known = true;
    mpq_t part;

    mpq_init (part);
    mpq_set_ui (ret_value, 0, 1);
    for (size_t i = 0; i < cell->part_count; i++) {
        const usage_part_t *p = &cell->part[i];
        if (p->gres_seconds == 0 || p->kind->cpu)
            continue;
        if (!p->kind->weight_known) {
            known = false;
            continue;
        }
        exact_set_fraction (part, p->kind->weight);
        mpz_mul_ui (mpq_numref (part), mpq_numref (part), p->gres_seconds);
        mpq_canonicalize (part);
        exact_add (ret_value, part);
    }
    mpq_clear (part);
    return known;
}
