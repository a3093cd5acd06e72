#include <string.h>

#include <uthash.h>

#include "acct/rollup.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "report/utilization.h"

/* The keys that time without a job has too. */
static const key_id_t capacity_keys[] = {
    KEY_POOL, KEY_GPU, KEY_CLUSTER, KEY_NODE, KEY_MONTH, KEY_DAY, KEY_HOUR,
};

/* The classes of time: one list for columns, proof and chart. */
enum { CLASS_COUNT = 11 };
static const struct {
    const char *name; /* of a member of capacity_sum_t */
    const char *title;
    const char *words; /* in proof and chart */
    const char *help;
    bool is_part; /* of the identity */
    bool detail;
    int shade;
} classes[CLASS_COUNT] = {
    {"capacity", "Capacity", "capacity",
     "GPU hours that the pool's GPUs were in service.", false, false, 0},
    {"allocated", "Allocated", "held by jobs",
     "GPU hours held by jobs, busy or not.", true, false, 0},
    {"reserved_unused", "Reserved", "reserved, not used",
     "Kept by a reservation and held by no job.", true, false, 1},
    {"idle", "Idle", "idle",
     "Healthy and held by nobody; includes what the scheduler merely plans.",
     true, false, 2},
    {"stranded", "Stranded", "of idle: the rest of cut or shared GPUs",
     "Of the idle hours: the part of cut GPUs that no slice can use, and the "
     "rest of GPUs of which shards are held.",
     false, true, 0},
    {"cpu_stranded", "CPU-stranded", "of idle: jobs took the CPUs or memory",
     "Of the idle hours, beside the stranded: GPUs that nobody can use because "
     "jobs took the CPUs or the memory of their node. Needs cpus_per_node or "
     "memory_per_node of the pool.",
     false, true, 0},
    {"planned_down", "Planned down", "planned down",
     "Maintenance and power saving.", true, false, 3},
    {"down", "Down", "down", "Down or drained.", true, false, 4},
    {"drained", "Drained", "of down: drained",
     "Of the down hours: the node was up and took no jobs.", false, true, 0},
    {"missing", "Missing", "of down: not in the node's inventory",
     "Of the down hours: the node was up, and its own inventory had fewer GPUs "
     "than gpus_per_node.",
     false, true, 0},
    {"unknown", "Unknown", "unknown",
     "No source tells what the node was doing.", true, false, 5},
};

static mpq_srcptr class_value (const capacity_sum_t *sum, size_t class)
{
    size_t count;
    const capacity_member_t *members = capacity_sum_members (&count);

    for (size_t i = 0; i < count; i++)
        if (!strcmp (members[i].name, classes[class].name))
            return *capacity_sum_member ((capacity_sum_t *)sum, i);
    return NULL; /* every class is a member */
}

/* What nobody told is no 0: of CPUs the configuration, of what is missing an
 * inventory. */
static bool class_known (const capacity_sum_t *sum, bool cpus_told, size_t class)
{
    if (!strcmp (classes[class].name, "cpu_stranded"))
        return cpus_told;
    if (!strcmp (classes[class].name, "missing"))
        return mpq_sgn (sum->listed) > 0;
    return true;
}

/* Capacity by the texts of some keys. */
struct group {
    char *id;            /* the texts, joined */
    char *key[KEYS_MAX]; /* NULL: absent */
    capacity_sum_t sum;
    bool cpus_told; /* some pool tells the CPUs or memory of its nodes */
    UT_hash_handle hh;
};

/* What one reservation kept and no job used. */
struct kept {
    char *id; /* its number, name and accounts, joined */
    char *name;
    char *accounts;
    mpq_t gpu_seconds;
    UT_hash_handle hh;
};

struct utilization {
    const report_query_t *query;
    kinds_t *kinds;
    capacity_t *capacity;
    usage_query_t usage_query;
    usage_t *usage;
    key_list_t by;        /* the query's keys that capacity has */
    struct group *groups; /* by these */
    struct group *pools;  /* by pool */
    struct kept *kept;
    bool of_rollups;      /* which bring the capacity */
};

static bool is_capacity_key (key_id_t key)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (capacity_keys); i++)
        if (capacity_keys[i] == key)
            return true;
    return false;
}

static bool all_capacity_keys (const report_query_t *q)
{
    for (size_t i = 0; i < q->by.count; i++)
        if (!is_capacity_key (q->by.id[i]))
            return false;
    return report_filters_within (q, capacity_keys,
                                  GL_ARRAY_SIZE (capacity_keys));
}

utilization_t *utilization_new (const report_query_t *query)
{
    utilization_t *u = xcalloc (1, sizeof (*u));

    u->query = query;
    u->kinds = kinds_new (query->site);
    u->capacity = capacity_new (query->site, u->kinds, query->period);
    for (size_t i = 0; i < query->cluster_count; i++)
        capacity_set_as_of (u->capacity, query->clusters[i].name,
                            query->clusters[i].as_of);
    u->usage_query = (usage_query_t){.site = query->site,
                                     .period = query->period,
                                     .by = query->by,
                                     .filters = query->filters,
                                     .filter_count = query->filter_count,
                                     .accounts = query->accounts};
    u->usage = usage_new (&u->usage_query);
    for (size_t i = 0; i < query->by.count; i++)
        if (is_capacity_key (query->by.id[i]))
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

/* Filters by what time without a job does not have are the usage's alone. */
static bool slice_passes (const utilization_t *u, const capacity_slice_t *slice)
{
    char buf[ZONE_STAMP_SIZE];

    for (size_t i = 0; i < u->query->filter_count; i++) {
        const usage_filter_t *f = &u->query->filters[i];
        const char *text = slice_key (u, slice, f->key, buf);
        bool found = !is_capacity_key (f->key);
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
                       || (pool
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

/* Of that name, at the instant. */
static const site_pool_t *pool_named (const site_t *site, const char *name,
                                      int64_t instant)
{
    for (size_t i = 0; i < site->pool_count; i++)
        if (!strcmp (site->pools[i].name, name)
            && site->pools[i].valid.start <= instant
            && instant < site->pools[i].valid.end)
            return &site->pools[i];
    return NULL;
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
        slice.pool = pool_named (u->query->site, capacity[i].pool,
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

static void group_capacity (utilization_t *u)
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

/* --- the report -------------------------------------------------------- */

struct columns {
    size_t hours[CLASS_COUNT];
    size_t percent[CLASS_COUNT]; /* not of capacity itself */
    size_t utilization;
    size_t coverage;
};

static struct columns add_columns (report_t *report, bool all)
{
    struct columns columns = {0};

    for (size_t i = 0; i < CLASS_COUNT && (all || i < 2); i++) {
        columns.hours[i] = report_column (
            report, classes[i].name, classes[i].title, COLUMN_HOURS, false);
        report_column_help (report, columns.hours[i], classes[i].help);
        report->column[columns.hours[i]].detail = classes[i].detail;
    }
    for (size_t i = 1; i < CLASS_COUNT && (all || i < 2); i++) {
        GL_AUTOFREE char *name = xasprintf ("%s_pct", classes[i].name);
        GL_AUTOFREE char *title = xasprintf ("%s %%", classes[i].title);
        columns.percent[i]
            = report_column (report, name, title, COLUMN_PERCENT, false);
        report_column_help (report, columns.percent[i],
                            "The same as a share of the capacity.");
        report->column[columns.percent[i]].detail = i != 1;
    }
    columns.utilization = report_column (report, "utilization_pct",
                                         "Utilization %", COLUMN_PERCENT, false);
    report_column_help (report, columns.utilization,
                        "Mean utilization that agents measured of the held "
                        "GPUs, over the time for which it is known. Empty: not "
                        "measured.");
    columns.coverage = report_column (report, "coverage_pct", "Measured %",
                                      COLUMN_PERCENT, false);
    report_column_help (report, columns.coverage,
                        "The share of the held device time of which the "
                        "utilization is known.");
    report->column[columns.utilization].detail = true;
    report->column[columns.coverage].detail = true;
    return columns;
}

/* What agents measured, beside what was held. */
static void put_measured (report_t *report, const struct columns *columns,
                          const usage_cell_t *cell)
{
    GL_AUTOFREE char *coverage = NULL;
    measured_t m;
    mpq_t active, known;

    usage_cell_measured (cell, &m);
    mpq_inits (active, known, NULL);
    if (usage_cell_active_seconds (cell, active)
        && usage_cell_known_seconds (cell, known)) {
        GL_AUTOFREE char *text = report_percent_text (active, known);
        report_put_text (report, columns->utilization, text);
    }
    exact_set_i64 (active, (int64_t)m.utilization_ms, 1000);
    exact_set_i64 (known, (int64_t)usage_cell_gres_seconds (cell), 1);
    coverage = report_percent_text (active, known);
    if (coverage)
        report_put_text (report, columns->coverage, coverage);
    mpq_clears (active, known, NULL);
}

static void put_class (report_t *report, const struct columns *columns,
                       size_t class, const mpq_t value, const mpq_t capacity)
{
    GL_AUTOFREE char *percent = report_percent_text (value, capacity);

    report_put_hours (report, columns->hours[class], value);
    if (class > 0 && percent)
        report_put_text (report, columns->percent[class], percent);
}

/* Without pools and registrations nobody knows how much there is. */
static bool capacity_known (const utilization_t *u, const capacity_sum_t *sum)
{
    return u->query->site->pool_count > 0 || mpq_sgn (sum->capacity) > 0;
}

static void put_sum (report_t *report, const struct columns *columns,
                     const capacity_sum_t *sum, bool cpus_told)
{
    for (size_t i = 0; i < CLASS_COUNT; i++)
        if (class_known (sum, cpus_told, i))
            put_class (report, columns, i, class_value (sum, i), sum->capacity);
}

static int compare_keys (const usage_cell_t *cell, char *const *key,
                         size_t count)
{
    int order = 0;

    for (size_t i = 0; i < count && order == 0; i++)
        order = strcmp (cell->key[i] ? cell->key[i] : "",
                        key[i] ? key[i] : "");
    return order;
}

/* What jobs held of the group's capacity; the cells are ordered by key. */
static const usage_cell_t *cell_of_group (const usage_cell_t *cells,
                                          size_t count, size_t keys,
                                          const struct group *group)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys (&cells[middle], group->key, keys);
        if (order == 0)
            return &cells[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void add_group_rows (utilization_t *u, report_t *report,
                            const struct columns *columns)
{
    struct group *group, *next;
    size_t count;
    const usage_cell_t *cells = usage_cells (u->usage, &count), *cell;

    HASH_ITER (hh, u->groups, group, next)
    {
        report_row (report);
        report_put_keys (report, u->query, (const char *const *)group->key);
        if (capacity_known (u, &group->sum))
            put_sum (report, columns, &group->sum, group->cpus_told);
        else
            put_class (report, columns, 1, group->sum.allocated,
                       group->sum.capacity);
        cell = cell_of_group (cells, count, u->query->by.count, group);
        if (cell)
            put_measured (report, columns, cell);
    }
}

/* The capacity that a row's held time is a share of: that of its pool, node
 * and time, as far as these are among the keys. */
static struct group *group_of_cell (utilization_t *u, const usage_cell_t *cell)
{
    const char *key[KEYS_MAX];
    size_t count = 0;
    struct group *group;

    for (size_t i = 0; i < u->query->by.count; i++)
        if (is_capacity_key (u->query->by.id[i]))
            key[count++] = cell->key[i];
    GL_AUTOFREE char *id = join (key, count);
    HASH_FIND_STR (u->groups, id, group);
    return group;
}

/* Held time on the pools' devices; false if a weight is not known. */
static bool pooled_seconds (const site_t *site, const usage_cell_t *cell,
                            mpq_t ret_seconds)
{
    bool known = true;
    mpq_t weight;

    mpq_init (weight);
    for (size_t i = 0; i < cell->part_count; i++) {
        const usage_part_t *part = &cell->part[i];
        mpq_t seconds;
        if (!part->kind->pool && site->pool_count > 0)
            continue;
        known = known && part->kind->weight_known;
        mpq_init (seconds);
        exact_set_u128 (mpq_numref (seconds), part->gres_seconds);
        exact_set_fraction (weight, part->kind->weight);
        mpq_mul (seconds, seconds, weight);
        mpq_add (ret_seconds, ret_seconds, seconds);
        mpq_clear (seconds);
    }
    mpq_clear (weight);
    return known;
}

/* Time on devices of no pool is no part of any capacity. */
static bool is_pooled (const site_t *site, const usage_cell_t *cell)
{
    for (size_t i = 0; i < cell->part_count; i++)
        if (cell->part[i].kind->pool)
            return true;
    return site->pool_count == 0;
}

static void add_usage_rows (utilization_t *u, report_t *report,
                            const struct columns *columns, mpq_t total)
{
    size_t count;
    const usage_cell_t *cells = usage_cells (u->usage, &count);

    for (size_t i = 0; i < count; i++) {
        struct group *group = group_of_cell (u, &cells[i]);
        mpq_t seconds, zero;
        if (!is_pooled (u->query->site, &cells[i]))
            continue;
        mpq_inits (seconds, zero, NULL);
        report_row (report);
        report_put_keys (report, u->query, cells[i].key);
        if (group && capacity_known (u, &group->sum))
            put_class (report, columns, 0, group->sum.capacity, zero);
        if (pooled_seconds (u->query->site, &cells[i], seconds))
            put_class (report, columns, 1, seconds,
                       group ? group->sum.capacity : zero);
        put_measured (report, columns, &cells[i]);
        mpq_add (total, total, seconds);
        mpq_clears (seconds, zero, NULL);
    }
}

static void prove_pool (report_t *report, const struct group *group)
{
    GL_AUTOFREE char *title
        = group->key[0] ? xasprintf ("Pool %s, GPU hours", group->key[0])
                        : xstrdup ("All nodes, GPU hours");
    report_proof_t *proof = report_proof (report, title);

    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (!class_known (&group->sum, group->cpus_told, i))
            continue;
        GL_AUTOFREE char *text
            = report_hours_text (class_value (&group->sum, i));
        report_proof_line (proof, classes[i].words, text);
    }
    GL_AUTOFREE char *difference = report_hours_text (group->sum.difference);
    report_proof_line (proof, "difference", difference);
    proof->holds = mpq_sgn (group->sum.difference) == 0;
    if (!proof->holds)
        report_note (report, NOTE_WARNING,
                     "%s: jobs held more devices than the pool has. Compare "
                     "'nodes', 'gres' and 'gpus_per_node' of the pool with "
                     "slurm.conf.",
                     title);
}

static int by_id (const struct kept *a, const struct kept *b)
{
    return strcmp (a->id, b->id);
}

/* Whose the reserved and unused time is; the parts are all of it. */
static void prove_reserved (utilization_t *u, report_t *report,
                            const capacity_sum_t *sum)
{
    report_proof_t *proof;
    struct kept *kept, *next;
    mpq_t all;

    if (!u->kept)
        return;
    proof = report_proof (report, "Reserved and not used, GPU hours, by "
                                  "reservation and its accounts");
    mpq_init (all);
    HASH_SORT (u->kept, by_id);
    HASH_ITER (hh, u->kept, kept, next)
    {
        GL_AUTOFREE char *hours = report_hours_text (kept->gpu_seconds);
        GL_AUTOFREE char *words
            = xasprintf ("%s, %s", kept->name ? kept->name : "(no name)",
                         kept->accounts ? kept->accounts : "(no account)");
        report_proof_line (proof, words, hours);
        mpq_add (all, all, kept->gpu_seconds);
    }
    GL_AUTOFREE char *hours = report_hours_text (all);
    report_proof_line (proof, "all of it", hours);
    proof->holds = mpq_equal (all, sum->reserved_unused);
    mpq_clear (all);
}

static int by_name (const struct group *a, const struct group *b)
{
    return strcmp (a->id, b->id);
}

/* What the nodes' own inventories say against the configuration. */
static void note_inventory (report_t *report, const struct group *pool)
{
    const struct {
        mpq_srcptr seconds;
        const char *words;
    } differences[] = {
        {pool->sum.missing, "fewer GPUs than gpus_per_node: what is not there "
                            "counts as down"},
        {pool->sum.surplus, "more GPUs than gpus_per_node: what is beyond is "
                            "in no figure"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (differences); i++) {
        GL_AUTOFREE char *hours = NULL;
        if (mpq_sgn (differences[i].seconds) == 0)
            continue;
        hours = report_hours_text (differences[i].seconds);
        report_note (report, NOTE_WARNING,
                     "Pool %s: in %s GPU hours the inventory of a node had %s.",
                     pool->key[0] ? pool->key[0] : "(none)", hours,
                     differences[i].words);
    }
}

static void note_unknown (report_t *report, const utilization_t *u,
                          const capacity_sum_t *sum)
{
    if (u->query->site->pool_count == 0)
        report_note (
            report, NOTE_WARNING,
            "No pool is configured: capacity is what the cluster itself "
            "registered, as far as that is known. List the GPU nodes "
            "under 'pools' in the configuration.");
    if (mpq_sgn (sum->unknown) > 0)
        report_note (report, NOTE_WARNING,
                     "For some of the time no source tells whether the nodes "
                     "were up: it is unknown, not idle. 'gpuledger sync' reads "
                     "the events of nodes from slurmdbd's database; sacct's "
                     "output has none.");
}

static void add_stack (report_t *report, const capacity_sum_t *sum)
{
    report_chart_t *chart = report_chart (
        report, CHART_STACK, "Where the capacity went",
        "All GPU hours of the capacity, divided by what the GPUs were doing.");

    for (size_t i = 0; i < CLASS_COUNT; i++) {
        mpq_srcptr value = class_value (sum, i);
        GL_AUTOFREE char *percent = report_percent_text (value, sum->capacity);
        if (!classes[i].is_part || !percent)
            continue;
        GL_AUTOFREE char *text = xasprintf ("%s %%", percent);
        report_chart_item (chart, classes[i].words, text, value, sum->capacity,
                           classes[i].shade);
    }
}

static void figure_percent (report_t *report, const char *title,
                            const mpq_t value, const mpq_t whole,
                            const char *hint)
{
    GL_AUTOFREE char *percent = report_percent_text (value, whole);
    GL_AUTOFREE char *text = percent ? xasprintf ("%s %%", percent) : NULL;

    report_figure (report, title, text, hint, COLUMN_TEXT);
}

static void add_figures (report_t *report, const capacity_sum_t *sum)
{
    GL_AUTOFREE char *hours = report_hours_text (sum->capacity);
    mpq_t out;

    figure_percent (report, "Held by jobs", sum->allocated, sum->capacity,
                    "of the capacity");
    figure_percent (report, "Idle", sum->idle, sum->capacity,
                    "healthy, held by nobody");
    mpq_init (out);
    mpq_add (out, sum->down, sum->planned_down);
    figure_percent (report, "Out of service", out, sum->capacity,
                    "down or in maintenance");
    mpq_clear (out);
    report_figure (report, "Capacity", hours, "GPU hours", COLUMN_HOURS);
}

static void finish (utilization_t *u, report_t *report,
                    const struct columns *columns, bool all, mpq_srcptr held)
{
    capacity_sum_t sum;
    struct group *group, *next;
    bool cpus_told = false;
    mpq_t zero;

    mpq_init (zero);
    capacity_sum_init (&sum);
    HASH_SORT (u->pools, by_name);
    HASH_ITER (hh, u->pools, group, next)
    {
        capacity_sum_add (&sum, &group->sum);
        cpus_told = cpus_told || group->cpus_told;
        if (capacity_known (u, &group->sum))
            prove_pool (report, group);
        note_inventory (report, group);
    }
    prove_reserved (u, report, &sum);
    GL_AUTOFREE char *difference = report_hours_text (sum.difference);
    report_named_total (report, "difference", "Difference", COLUMN_HOURS,
                        difference);
    report_totals (report);
    if (!capacity_known (u, &sum))
        put_class (report, columns, 1, all ? sum.allocated : held, zero);
    else if (all)
        put_sum (report, columns, &sum, cpus_told);
    else {
        put_class (report, columns, 0, sum.capacity, zero);
        put_class (report, columns, 1, held, sum.capacity);
    }
    note_unknown (report, u, &sum);
    if (mpq_sgn (sum.capacity) > 0) {
        add_figures (report, &sum);
        add_stack (report, &sum);
    }
    capacity_sum_clear (&sum);
    mpq_clear (zero);
}

report_t *utilization_make (utilization_t *u)
{
    report_t *report
        = report_begin (u->query, "utilization", "GPU utilization");
    bool all = all_capacity_keys (u->query);
    struct columns columns;
    mpq_t held;

    mpq_init (held);
    report_key_columns (report, u->query);
    columns = add_columns (report, all);
    if (!u->of_rollups)
        group_capacity (u);
    if (all)
        add_group_rows (u, report, &columns);
    else
        add_usage_rows (u, report, &columns, held);
    finish (u, report, &columns, all, held);
    report_sort (report);
    mpq_clear (held);
    return report;
}
