#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "report/utilization_private.h"
#include "usage/rollup.h"

/* The keys that time without a job has too. */
static const key_id_t capacity_keys[] = {
    KEY_POOL, KEY_GPU, KEY_CLUSTER, KEY_NODE, KEY_MONTH, KEY_DAY, KEY_HOUR,
};

bool utilization_has_key (key_id_t key)
{
    return GL_ANY (capacity_keys, GL_ARRAY_SIZE (capacity_keys), it,
                   *it == key);
}

bool utilization_of_capacity (const report_query_t *q)
{
    for (size_t i = 0; i < q->by.count; i++)
        if (!utilization_has_key (q->by.id[i]))
            return false;
    return report_filters_within (q, capacity_keys,
                                  GL_ARRAY_SIZE (capacity_keys));
}

/* It names pools, and all of them count CPUs. */
static bool asks_for_cpus (const report_query_t *q)
{
    bool all = false;

    for (size_t i = 0; i < q->filter_count; i++)
        for (size_t k = 0;
             q->filters[i].key == KEY_POOL && k < q->filters[i].values.count;
             k++) {
            if (!site_pool_of_cpus (q->site, q->filters[i].values.item[k]))
                return false;
            all = true;
        }
    return all;
}

static void end_with_facts (utilization_t *u)
{
    int64_t as_of = report_as_of (u->query);

    u->goes_on = as_of > u->asked.period.start && as_of < u->asked.period.end;
    if (u->goes_on)
        u->asked.period.end = as_of;
}

utilization_t *utilization_new (const report_query_t *query)
{
    utilization_t *u = xcalloc (1, sizeof (*u));

    u->asked = *query;
    u->query = &u->asked;
    end_with_facts (u);
    u->kinds = kinds_new (query->site);
    u->capacity = capacity_new (query->site, u->kinds, u->asked.period);
    for (size_t i = 0; i < query->cluster_count; i++)
        capacity_set_as_of (u->capacity, query->clusters[i].name,
                            query->clusters[i].as_of);
    u->usage_query = report_usage_query (u->query);
    u->usage = usage_new (&u->usage_query);
    u->of_cpus = asks_for_cpus (query);
    for (size_t i = 0; i < query->by.count; i++)
        if (utilization_has_key (query->by.id[i]))
            u->by.id[u->by.count++] = query->by.id[i];
    return u;
}

static void free_groups (struct group **groups)
{
    struct group *group, *next;

    HASH_ITER (hh, *groups, group, next)
    {
        HASH_DEL (*groups, group);
        for (size_t i = 0; i < KEYS_MAX; i++)
            free (group->key[i]);
        capacity_sum_clear (&group->sum);
        free (group->id);
        free (group);
    }
}

static void free_kept (struct kept **all)
{
    struct kept *kept, *next;

    HASH_ITER (hh, *all, kept, next)
    {
        HASH_DEL (*all, kept);
        mpq_clear (kept->gpu_seconds);
        free (kept->id);
        free (kept->name);
        free (kept->accounts);
        free (kept);
    }
}

void utilization_free (utilization_t *u)
{
    if (!u)
        return;
    free_groups (&u->groups);
    free_groups (&u->pools);
    free_kept (&u->kept);
    usage_free (u->usage);
    capacity_free (u->capacity);
    kinds_free (u->kinds);
    free (u);
}

void utilization_add (utilization_t *u, const segment_t *segment,
                      const suspension_t *suspensions, size_t count,
                      const project_t *project,
                      const segment_evidence_t *evidence)
{
    usage_add (u->usage, segment, suspensions, count, project);
    usage_measure (u->usage, segment, project, evidence);
    capacity_add_segment (u->capacity, segment);
}

const report_query_t *utilization_query (const utilization_t *u)
{
    return u->query;
}

capacity_t *utilization_capacity (utilization_t *u)
{
    return u->capacity;
}

/* --- grouping ---------------------------------------------------------- */

static const char *slice_key (const utilization_t *u,
                              const capacity_slice_t *slice, key_id_t key,
                              char buf[ZONE_STAMP_SIZE])
{
    const zone_t *zone = u->query->site->zone;

    switch (key) {
    case KEY_POOL:
        return slice->pool ? slice->pool->name : NULL;
    case KEY_GPU:
        return slice->pool ? slice->pool->gpu : NULL;
    case KEY_CLUSTER:
        return slice->cluster;
    case KEY_NODE:
        return slice->node;
    case KEY_MONTH:
        return zone_unit_name (zone, CALENDAR_MONTH, slice->interval.start,
                               buf);
    case KEY_DAY:
        return zone_unit_name (zone, CALENDAR_DAY, slice->interval.start, buf);
    case KEY_HOUR:
        return zone_unit_name (zone, CALENDAR_HOUR, slice->interval.start, buf);
    default:
        return NULL;
    }
}

/* Filters by what time without a job does not have are the usage's alone. What
 * counts in another unit is in no sum. */
static bool slice_passes (const utilization_t *u, const capacity_slice_t *slice)
{
    char buf[ZONE_STAMP_SIZE];

    if (slice->pool && (slice->pool->resource == RESOURCE_CPU) != u->of_cpus)
        return false;
    for (size_t i = 0; i < u->query->filter_count; i++) {
        const usage_filter_t *f = &u->query->filters[i];
        const char *text = slice_key (u, slice, f->key, buf);
        bool found = !utilization_has_key (f->key);
        if (!text)
            text = key_info (f->key)->absent;
        for (size_t k = 0; k < f->values.count; k++)
            found = found || !strcmp (f->values.item[k], text);
        if (!found)
            return false;
    }
    return true;
}

/* Texts cannot hold a newline here: keys come from the configuration and from
 * Slurm's names. One that does only joins two groups' ids, which differ in the
 * number of parts. */
static char *join (const char *const *key, size_t count)
{
    buffer_t id = BUFFER_INIT;

    for (size_t i = 0; i < count; i++) {
        buffer_add_text (&id, key[i] ? key[i] : "");
        buffer_add_char (&id, '\n');
    }
    return buffer_take (&id);
}

static struct group *group_get (struct group **groups, const char *const *key,
                                size_t count)
{
    GL_AUTOFREE char *id = join (key, count);
    struct group *group;

    HASH_FIND_STR (*groups, id, group);
    if (!group) {
        group = xcalloc (1, sizeof (*group));
        group->id = GL_TAKE (id);
        for (size_t i = 0; i < count; i++)
            group->key[i] = xstrdup (key[i]);
        capacity_sum_init (&group->sum);
        HASH_ADD_KEYPTR (hh, *groups, group->id, strlen (group->id), group);
    }
    return group;
}

struct group *utilization_find (const utilization_t *u,
                                const char *const *key, size_t count)
{
    GL_AUTOFREE char *id = join (key, count);
    struct group *group;

    HASH_FIND_STR (u->groups, id, group);
    return group;
}

/* Ids come first in the key and in the order of the section. */
static void take_kept (utilization_t *u, const char *cluster,
                       const capacity_reserved_t *reserved)
{
    GL_AUTOFREE char *number
        = xasprintf ("%020llu", (unsigned long long)reserved->id);
    const char *const key[] = {cluster, number, reserved->name,
                               reserved->accounts};
    GL_AUTOFREE char *id = join (key, GL_ARRAY_SIZE (key));
    struct kept *kept;

    HASH_FIND_STR (u->kept, id, kept);
    if (!kept) {
        kept = xcalloc (1, sizeof (*kept));
        kept->id = GL_TAKE (id);
        kept->name = xstrdup (reserved->name);
        kept->accounts = xstrdup (reserved->accounts);
        mpq_init (kept->gpu_seconds);
        HASH_ADD_KEYPTR (hh, u->kept, kept->id, strlen (kept->id), kept);
    }
    mpq_add (kept->gpu_seconds, kept->gpu_seconds, reserved->gpu_seconds);
}

static void add_slice (struct group *group, const capacity_slice_t *slice)
{
    const site_pool_t *pool = slice->pool;

    capacity_sum_add (&group->sum, slice->sum);
    group->cpus_told = group->cpus_told
                       || (pool && pool->resource == RESOURCE_GPU
                           && (pool->cpus_per_node || pool->memory_per_node));
}

static void take_slice (const capacity_slice_t *slice, void *arg)
{
    utilization_t *u = arg;
    char buf[KEYS_MAX][ZONE_STAMP_SIZE];
    const char *key[KEYS_MAX];

    if (!capacity_slice_counts (slice) || !slice_passes (u, slice))
        return;
    for (size_t i = 0; i < u->by.count; i++)
        key[i] = slice_key (u, slice, u->by.id[i], buf[i]);
    add_slice (group_get (&u->groups, key, u->by.count), slice);
    key[0] = slice_key (u, slice, KEY_POOL, buf[0]);
    add_slice (group_get (&u->pools, key, 1), slice);
    for (size_t i = 0; i < slice->reserved_count; i++)
        take_kept (u, slice->cluster, &slice->reserved[i]);
}

void utilization_add_rollup (utilization_t *u, const rollup_t *rollup)
{
    size_t count;
    const rollup_capacity_t *capacity = rollup_capacity (rollup, &count);

    u->of_rollups = true;
    usage_add_rollup (u->usage, rollup, ROLLUP_COUNTED);
    for (size_t i = 0; i < count; i++) {
        capacity_slice_t slice
            = {.cluster = rollup_cluster (rollup),
               .interval = rollup_period (rollup),
               .sum = capacity[i].sum,
               .reserved = capacity[i].reserved,
               .reserved_count = capacity[i].reserved_count};
        slice.pool = site_pool_at (u->query->site, capacity[i].pool,
                                   slice.interval.start);
        take_slice (&slice, u);
    }
}

static calendar_unit_t finest_unit (const key_list_t *by, bool *ret_any)
{
    calendar_unit_t unit = CALENDAR_MONTH;

    *ret_any = false;
    for (size_t i = 0; i < by->count; i++) {
        if (by->id[i] == KEY_HOUR)
            unit = CALENDAR_HOUR;
        else if (by->id[i] == KEY_DAY && unit != CALENDAR_HOUR)
            unit = CALENDAR_DAY;
        *ret_any = *ret_any || by->id[i] == KEY_HOUR || by->id[i] == KEY_DAY
                   || by->id[i] == KEY_MONTH;
    }
    return unit;
}

void utilization_group (utilization_t *u)
{
    period_t p = u->query->period;
    int64_t *cuts = NULL;
    size_t count = 0;
    bool any;
    calendar_unit_t unit = finest_unit (&u->by, &any);

    for (int64_t at = p.start; any && at < p.end; count++) {
        at = zone_unit (u->query->site->zone, unit, at).end;
        cuts = xreallocarray (cuts, count + 1, sizeof (*cuts));
        cuts[count] = at;
    }
    capacity_each (u->capacity, cuts, count, take_slice, u);
    free (cuts);
}
