#include "demand/demand.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "demand/demand_private.h"
#include "gres/tres.h"
#include "site/project.h"

/* --- what it is made of ------------------------------------------------------ */

/* Full days up to the end of the facts, so that a forecast begins with the first day that is
 * not known, whichever period is looked at. */
static period_t history_of (const report_query_t *query)
{
    const zone_t *zone = query->site->zone;
    int64_t known = 0;
    period_t h;

    for (size_t i = 0; i < query->cluster_count; i++)
        if (query->clusters[i].as_of > known)
            known = query->clusters[i].as_of;
    if (known == 0)
        known = query->period.end;
    h.end = zone_unit (zone, CALENDAR_DAY, known).start;

    h.start = h.end;
    for (int i = 0; i < SEASONAL_MAX && h.start > 0; i++)
        h.start = zone_unit (zone, CALENDAR_DAY, h.start - 1).start;
    return h;
}

demand_t *demand_new (const report_query_t *query, const plan_query_t *asked)
{
    demand_t *d = xcalloc (1, sizeof (*d));

    d->query = *query;
    d->query.period = report_full_hours (query);
    d->asked = asked;
    d->kinds = kinds_new (query->site);
    d->history = history_of (&d->query);
    d->weights_known = true;
    return d;
}

static void clear_groups (wait_group_t **groups)
{
    wait_group_t *group, *next;

    HASH_ITER (hh, *groups, group, next)
    {
        HASH_DEL (*groups, group);
        tally_clear (&group->waits);
        free (group->name);
        free (group);
    }
}

void demand_free (demand_t *d)
{
    if (!d)
        return;
    for (int i = 0; i < WAITS_COUNT; i++)
        clear_groups (&d->waits[i]);
    free (d->share);
    demand_curve_clear (&d->curve);
    for (size_t i = 0; i < d->pool_count; i++) {
        demand_pool_t *p = &d->pool[i];
        mpq_clears (p->capacity, p->gpus, p->all, p->down, NULL);
        changes_free (p->changes);
        demand_curve_clear (&p->curve);
        free (p->name);
        free (p->day);
    }
    free (d->pool);
    free (d->last_cluster);
    kinds_free (d->kinds);
    free (d);
}

period_t demand_period (const demand_t *d)
{
    return d->query.period;
}

/* From then on capacity that is down is counted. */
static int64_t down_since (const demand_t *d)
{
    return d->history.end - DOWN_DAYS * INT64_C (86400);
}

period_t demand_history (const demand_t *d, int64_t first)
{
    int64_t wanted = first < down_since (d) ? first : down_since (d);
    int64_t day = zone_unit (d->query.site->zone, CALENDAR_DAY, wanted).start;

    return (period_t){day > d->history.start ? day : d->history.start,
                      d->history.end};
}

/* 0: it is not asked for. */
static int64_t as_of_cluster (const demand_t *d, const char *name)
{
    for (size_t i = 0; i < d->query.cluster_count; i++)
        if (!strcmp (d->query.clusters[i].name, name))
            return d->query.clusters[i].as_of;
    return 0;
}

/* --- GPUs of a job -------------------------------------------------------------- */

static int64_t parts_of (demand_t *d, const device_kind_t *kind,
                         uint64_t devices)
{
    __int128 parts = (__int128)devices * GPU_PARTS;

    if (!kind || !kind->weight_known) {
        d->weights_known = d->weights_known && !kind;
        return (int64_t)parts;
    }
    d->slices = d->slices || kind->profile;
    return (int64_t)((2 * parts * kind->weight.num + kind->weight.den)
                     / (2 * kind->weight.den));
}

static demand_pool_t *pool_of (demand_t *d, const char *name)
{
    demand_pool_t *pool;

    if (name && !*name)
        name = NULL;
    pool = GL_FIND (d->pool, d->pool_count, it, text_same (it->name, name));
    if (!pool) {
        pool = GL_APPEND (d->pool, d->pool_count);
        *pool = (demand_pool_t){
            .name = name ? xstrdup (name) : NULL,
            .changes = changes_new (d->query.period.start),
            .day = xcalloc (SEASONAL_MAX, sizeof (*pool->day)),
            .first = SEASONAL_MAX,
        };
        mpq_inits (pool->capacity, pool->gpus, pool->all, pool->down, NULL);
    }
    return pool;
}

/* Returns the parts, which the job that is added has in the pool. */
static int64_t take_parts (demand_t *d, const char *pool, int64_t parts)
{
    size_t at = (size_t)(pool_of (d, pool) - d->pool);
    demand_share_t *share
        = GL_FIND (d->share, d->share_count, it, it->pool == at);

    if (share)
        share->parts += parts;
    else
        *GL_APPEND (d->share, d->share_count)
            = (demand_share_t){.pool = at, .parts = parts};
    return parts;
}

static int64_t allocated_parts (demand_t *d, const segment_t *s)
{
    size_t count;
    const holding_t *h
        = kinds_of_segment (d->kinds, s, s->time_start, false, &count);
    int64_t parts = 0;

    for (size_t i = 0; i < count; i++)
        if (!h[i].kind->cpu)
            parts += take_parts (d,
                                 h[i].kind->pool ? h[i].kind->pool->name : NULL,
                                 parts_of (d, h[i].kind, h[i].devices));
    return parts;
}

/* A request, device type by type. */
struct asking {
    demand_t *demand;
    const segment_t *segment;
    int64_t parts;
};

/* A type of a pool of the cluster; NULL: no pool lists it. */
static const device_kind_t *kind_of_type (const struct asking *a,
                                          const char *type)
{
    const site_t *site = a->demand->query.site;
    int64_t at = a->segment->time_submit;

    for (size_t i = 0; i < site->pool_count; i++) {
        const site_pool_t *p = &site->pools[i];
        if (p->resource == RESOURCE_GPU
            && (!p->cluster || text_same (p->cluster, a->segment->cluster))
            && period_has (p->valid, at) && site_pool_lists (p, type))
            return kinds_by_value (a->demand->kinds, p->name, at, type, false,
                                   NULL, NULL);
    }
    return NULL;
}

/* Where the cluster has one pool, jobs that name no type wait for its GPUs. */
static const char *only_pool (const struct asking *a)
{
    const site_t *site = a->demand->query.site;
    const char *name = NULL;

    for (size_t i = 0; i < site->pool_count; i++) {
        const site_pool_t *p = &site->pools[i];
        if (p->resource != RESOURCE_GPU
            || (p->cluster && !text_same (p->cluster, a->segment->cluster))
            || !period_has (p->valid, a->segment->time_submit)
            || text_same (p->name, name))
            continue;
        if (name)
            return NULL;
        name = p->name;
    }
    return name;
}

static void take_asked (const char *type, size_t length, uint64_t count,
                        void *arg)
{
    struct asking *a = arg;
    GL_AUTOFREE char *name
        = type ? xasprintf ("%.*s", (int)length, type) : NULL;
    const device_kind_t *kind = name ? kind_of_type (a, name) : NULL;

    a->parts += take_parts (
        a->demand, kind && kind->pool ? kind->pool->name : only_pool (a),
        parts_of (a->demand, kind, count));
}

static int64_t requested_parts (demand_t *d, const segment_t *s)
{
    struct asking a = {d, s, 0};

    gres_devices (s->gres_requested, take_asked, &a, NULL);
    return a.parts;
}

/* Devices as they are written in a request. */
static uint64_t devices_of (const segment_t *s)
{
    uint64_t asked
        = s->gres_requested ? gres_devices (s->gres_requested, NULL, NULL, NULL)
                            : 0;

    return asked || !s->gres ? asked : gres_devices (s->gres, NULL, NULL, NULL);
}

/* --- waits ------------------------------------------------------------------------ */

static const struct {
    uint64_t most; /* devices */
    const char *name;
} sizes[] = {{0, "part of a GPU"}, {1, "1 GPU"},      {4, "2-4 GPUs"},
             {8, "5-8 GPUs"},      {32, "9-32 GPUs"}, {UINT64_MAX, "33 GPUs or more"}};

static size_t size_of (const segment_t *s)
{
    uint64_t devices = devices_of (s);
    size_t i = 0;

    while (sizes[i].most < devices)
        i++;
    return i;
}

static const char *team_of (const demand_t *d, const segment_t *s)
{
    const site_team_t *team;

    if (d->query.site->team_count == 0)
        return s->account ? s->account : key_info (KEY_ACCOUNT)->absent;
    team = team_of_account (d->query.site, d->query.accounts, s->cluster,
                            s->account,
                            s->time_start ? s->time_start : s->time_submit);
    return team ? team->name : key_info (KEY_TEAM)->absent;
}

static wait_group_t *group_of (wait_group_t **groups, const char *name)
{
    wait_group_t *group;

    HASH_FIND_STR (*groups, name, group);
    if (!group) {
        group = xcalloc (1, sizeof (*group));
        group->name = xstrdup (name);
        HASH_ADD_KEYPTR (hh, *groups, group->name, strlen (group->name), group);
    }
    return group;
}

/* A job that waited, as far as the period goes. */
struct wait {
    period_t whole;
    period_t within;
    wait_end_t end;
    uint64_t jobs;
    int64_t parts; /* of all of them */
};

static wait_group_t *add_to (wait_group_t **groups, const char *name,
                             const struct wait *w)
{
    wait_group_t *g = group_of (groups, name);

    g->jobs[w->end] += w->jobs;
    g->part_seconds += (unsigned __int128)w->parts
                       * (uint64_t)period_seconds (w->within);
    if (w->end != WAIT_CANCELLED)
        tally_add (&g->waits, period_seconds (w->whole), w->jobs);
    return g;
}

/* So many jobs as the one that is added. */
static void add_change (demand_t *d, unsigned which, period_t span,
                        uint64_t jobs)
{
    for (size_t i = 0; i < d->share_count && span.start < span.end; i++) {
        changes_t *changes = d->pool[d->share[i].pool].changes;
        int64_t parts = d->share[i].parts * (int64_t)jobs;
        if (parts == 0)
            continue;
        changes_add (changes, span.start, which, parts);
        changes_add (changes, span.end, which, -parts);
    }
}

static void add_wait (demand_t *d, const segment_t *s, const struct wait *w)
{
    size_t size = size_of (s);

    add_to (&d->waits[WAITS_BY_PARTITION],
            s->partition ? s->partition : key_info (KEY_PARTITION)->absent, w);
    add_to (&d->waits[WAITS_BY_SIZE], sizes[size].name, w)->order = size;
    add_to (&d->waits[WAITS_BY_TEAM], team_of (d, s), w);
    add_to (&d->waits[WAITS_OF_ALL], "all", w);
    add_change (d, DEMAND_WAITING, w->within, w->jobs);
}

/* Its wait ended in the period, or goes on at the end, or when the cluster was last
 * seen. */
static bool ends_here (const demand_t *d, const segment_t *s, struct wait *w)
{
    period_t p = d->query.period;
    bool started = segment_started (s);
    bool left = started || s->time_end != 0;

    w->end = started ? WAIT_STARTED : WAIT_CANCELLED;
    if (!left || w->whole.end >= p.end)
        w->end = WAIT_WAITING;
    if (w->whole.end > p.end)
        w->whole.end = p.end;
    w->within = period_clip (w->whole, p);
    return w->whole.end >= p.start
           && (w->end != WAIT_WAITING || w->whole.start < p.end);
}

/* Where the time from which it could start is not known, or lies ahead. */
static void take_unplaced (demand_t *d, const segment_t *s)
{
    period_t p = d->query.period;

    if (segment_started (s))
        d->unplaced += s->time_eligible == ELIGIBLE_NOT
                       && period_has (p, s->time_start);
    else if (s->time_end == 0 && s->time_submit < p.end)
        d->on_hold += s->array_waiting ? s->array_waiting : 1;
}

/* Slurm goes on with a resized job in a new row, which did not wait. */
static bool was_resized (demand_t *d, const segment_t *s)
{
    bool same = s->id_job == d->last_job && d->last_cluster
                && strcmp (s->cluster, d->last_cluster) == 0;
    bool resized = same && d->resized && d->resized == s->time_submit;

    if (!d->last_cluster || strcmp (s->cluster, d->last_cluster) != 0) {
        free (d->last_cluster);
        d->last_cluster = xstrdup (s->cluster);
    }
    d->last_job = s->id_job;
    d->resized = s->state == SEGMENT_RESIZING ? s->time_end : 0;
    return resized;
}

static void take_wait (demand_t *d, const segment_t *s, int64_t parts)
{
    struct wait w
        = {.jobs = !segment_started (s) && s->array_waiting ? s->array_waiting
                                                            : 1};
    bool known, waited = segment_wait (s, &w.whole, &known);

    w.parts = parts * (int64_t)w.jobs;
    if (!waited)
        take_unplaced (d, s);
    else if (ends_here (d, s, &w)) {
        d->from_submission += known ? 0 : w.jobs;
        add_wait (d, s, &w);
    }
}

void demand_add (demand_t *d, const segment_t *s)
{
    bool started = segment_started (s);
    int64_t parts;

    if (as_of_cluster (d, s->cluster) == 0)
        return;
    d->share_count = 0;
    parts = started ? allocated_parts (d, s) : requested_parts (d, s);
    if (parts == 0) {
        d->nameless += !started && s->time_end == 0 && s->gpu_asked;
        return;
    }
    if (!was_resized (d, s))
        take_wait (d, s, parts);
    if (started)
        add_change (d, DEMAND_RUNNING,
                    period_clip ((period_t){s->time_start, segment_end (s)},
                                 d->query.period),
                    1);
}

/* --- history ------------------------------------------------------------------------ */

/* Days may have 23 or 25 hours: the middle of one lies in it by any count. */
static size_t day_index (const demand_t *d, period_t day)
{
    return (size_t)((day.start - d->history.start + 43200) / 86400);
}

static bool of_cpus (const demand_t *d, const char *name, int64_t at)
{
    const site_pool_t *pool = site_pool_at (d->query.site, name, at);

    return pool && pool->resource == RESOURCE_CPU;
}

static void take_usage (demand_t *d, const rollup_t *day, size_t at)
{
    usage_query_t query = {.site = d->query.site,
                           .period = rollup_period (day),
                           .by = {.id = {KEY_POOL}, .count = 1},
                           .accounts = d->query.accounts,
                           .without_jobs = true};
    usage_t *usage = usage_new (&query);
    const usage_cell_t *cell;
    size_t count;
    mpq_t seconds;

    mpq_init (seconds);
    usage_add_rollup (usage, day, ROLLUP_COUNTED);
    cell = usage_cells (usage, &count);
    for (size_t i = 0; i < count; i++) {
        if (of_cpus (d, cell[i].key[0], query.period.start))
            continue;
        if (!usage_cell_gpu_seconds (&cell[i], seconds))
            d->weights_known = false;
        demand_pool_add (pool_of (d, cell[i].key[0]), at, seconds);
    }
    mpq_clear (seconds);
    usage_free (usage);
}

static void take_capacity (demand_t *d, const rollup_t *day)
{
    period_t period = rollup_period (day);
    bool recent = period.end > down_since (d);
    size_t count;
    const rollup_capacity_t *c = rollup_capacity (day, &count);

    for (size_t i = 0; i < count; i++)
        if (!of_cpus (d, c[i].pool, period.start))
            demand_pool_capacity (pool_of (d, c[i].pool), period, recent,
                                  c[i].sum);
}

/* Its days are those of the cluster. */
static bool is_of_cluster (const demand_t *d, const demand_pool_t *pool,
                           const char *cluster)
{
    return !pool->name
           || GL_ANY (d->query.site->pools, d->query.site->pool_count, it,
                      text_same (it->name, pool->name)
                          && (!it->cluster || text_same (it->cluster, cluster)));
}

void demand_add_day (demand_t *d, const rollup_t *day)
{
    period_t period = rollup_period (day);
    size_t at = day_index (d, period);

    if (period.start < d->history.start || at >= SEASONAL_MAX
        || period.end > as_of_cluster (d, rollup_cluster (day)))
        return;
    take_usage (d, day, at);
    take_capacity (d, day);
    for (size_t i = 0; i < d->pool_count; i++)
        if (d->pool[i].end < at + 1
            && is_of_cluster (d, &d->pool[i], rollup_cluster (day)))
            d->pool[i].end = at + 1;
}

/* --- the report ------------------------------------------------------------------------ */

static int compare_pools (const void *a, const void *b)
{
    return text_compare (((const demand_pool_t *)a)->name,
                         ((const demand_pool_t *)b)->name);
}

report_t *demand_make (demand_t *d)
{
    if (d->pool_count > 1)
        qsort (d->pool, d->pool_count, sizeof (*d->pool), compare_pools);
    demand_curves_make (d);
    for (size_t i = 0; i < d->pool_count; i++)
        demand_pool_test (&d->pool[i]);
    return demand_report (d);
}
