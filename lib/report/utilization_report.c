#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "report/utilization_private.h"

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
    {"allocated", "Allocated", "allocated to jobs",
     "GPU hours allocated to jobs, busy or not.", true, false, 0},
    {"reserved_unused", "Reserved", "reserved, not used",
     "Reserved, but not allocated to a job.", true, false, 1},
    {"idle", "Idle", "idle",
     "Healthy, but not allocated to a job; includes time that the scheduler "
     "merely plans.",
     true, false, 2},
    {"stranded", "Stranded",
     "of idle: unusable parts of partitioned or "
     "shared GPUs",
     "The part of the idle hours in which no job could use the capacity: "
     "parts of MIG GPUs that no slice can use, and free shards of GPUs in "
     "use.",
     false, true, 0},
    {"cpu_stranded", "CPU-stranded", "of idle: jobs took the CPUs or memory",
     "The part of the idle hours, in addition to the stranded hours, in which "
     "jobs had taken the CPUs or the memory of the node. Needs cpus_per_node "
     "or memory_per_node of the pool.",
     false, true, 0},
    {"planned_down", "Planned down", "planned down",
     "Maintenance and power saving.", true, false, 3},
    {"down", "Down", "down", "Down or drained.", true, false, 4},
    {"drained", "Drained", "of down: drained",
     "The part of the down hours in which the node was up but took no jobs.",
     false, true, 0},
    {"missing", "Missing", "of down: not in the node's inventory",
     "The part of the down hours in which the node was up but its inventory "
     "had fewer GPUs than gpus_per_node.",
     false, true, 0},
    {"unknown", "Unknown", "unknown",
     "No source reports the state of the node.", true, false, 5},
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
static bool class_known (const capacity_sum_t *sum, bool cpus_told,
                         size_t class)
{
    if (!strcmp (classes[class].name, "cpu_stranded"))
        return cpus_told;
    if (!strcmp (classes[class].name, "missing"))
        return mpq_sgn (sum->listed) > 0;
    return true;
}

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
        report->column[columns.percent[i]].keep = KEEP_MONEY; /* the answer */
    }
    columns.utilization
        = report_column (report, "utilization_pct", "Measured utilization %",
                         COLUMN_PERCENT, false);
    report_column_help (report, columns.utilization,
                        "The mean of how busy the allocated GPUs were, as "
                        "agents measured it, over the "
                        "time for which it is known. Empty: not measured.");
    columns.coverage = report_column (report, "coverage_pct", "Measured %",
                                      COLUMN_PERCENT, false);
    report_column_help (report, columns.coverage,
                        "The share of the allocated device time whose measured "
                        "utilization is known.");
    report->column[columns.utilization].detail = true;
    report->column[columns.coverage].detail = true;
    return columns;
}

/* What agents measured, in addition to what was allocated. */
static void put_measured (report_t *report, const struct columns *columns,
                          const usage_cell_t *cell)
{
    GL_AUTOFREE char *coverage = NULL;
    mpq_t active, known;

    mpq_inits (active, known, NULL);
    if (usage_cell_active_seconds (cell, active)
        && usage_cell_known_seconds (cell, known)) {
        GL_AUTOFREE char *text = report_percent_text (active, known);
        report_put_text (report, columns->utilization, text);
    }
    usage_cell_covered (cell, offsetof (measured_t, utilization_ms), active,
                        known);
    coverage = report_coverage_text (active, known);
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
        order = strcmp (cell->key[i] ? cell->key[i] : "", key[i] ? key[i] : "");
    return order;
}

/* What was allocated to jobs of the group's capacity; the cells are ordered by key. */
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

/* The capacity that a row's allocated time is a share of: that of its pool, node
 * and time, as far as these are among the keys. */
static struct group *group_of_cell (utilization_t *u, const usage_cell_t *cell)
{
    const char *key[KEYS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < u->query->by.count; i++)
        if (utilization_has_key (u->query->by.id[i]))
            key[count++] = cell->key[i];
    return utilization_find (u, key, count);
}

/* Held time on the pools' devices; false if a weight is not known. */
static bool pooled_seconds (const utilization_t *u, const usage_cell_t *cell,
                            mpq_t ret_seconds)
{
    const site_t *site = u->query->site;
    bool known = true;
    mpq_t weight;

    mpq_init (weight);
    for (size_t i = 0; i < cell->part_count; i++) {
        const usage_part_t *part = &cell->part[i];
        mpq_t seconds;
        if ((!part->kind->pool && site->pool_count > 0)
            || part->kind->cpu != u->of_cpus)
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
static bool is_pooled (const utilization_t *u, const usage_cell_t *cell)
{
    return GL_ANY (cell->part, cell->part_count, it,
                   it->kind->pool && it->kind->cpu == u->of_cpus)
           || u->query->site->pool_count == 0;
}

static void add_usage_rows (utilization_t *u, report_t *report,
                            const struct columns *columns, mpq_t total)
{
    size_t count;
    const usage_cell_t *cells = usage_cells (u->usage, &count);

    for (size_t i = 0; i < count; i++) {
        struct group *group = group_of_cell (u, &cells[i]);
        mpq_t seconds, zero;
        if (!is_pooled (u, &cells[i]))
            continue;
        mpq_inits (seconds, zero, NULL);
        report_row (report);
        report_put_keys (report, u->query, cells[i].key);
        if (group && capacity_known (u, &group->sum))
            put_class (report, columns, 0, group->sum.capacity, zero);
        if (pooled_seconds (u, &cells[i], seconds))
            put_class (report, columns, 1, seconds,
                       group ? group->sum.capacity : zero);
        put_measured (report, columns, &cells[i]);
        mpq_add (total, total, seconds);
        mpq_clears (seconds, zero, NULL);
    }
}

static void prove_pool (report_t *report, const struct group *group,
                        bool of_cpus)
{
    GL_AUTOFREE char *title
        = group->key[0] ? xasprintf ("Pool %s, %s hours", group->key[0],
                                     of_cpus ? "CPU" : "GPU")
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
        report_note (
            report, NOTE_WARNING,
            "%s: more is allocated than the pool has. Compare %s of the pool "
            "with slurm.conf.",
            title,
            of_cpus ? "'nodes' and 'cpus_per_node'"
                    : "'nodes', 'gres' and 'gpus_per_node'");
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
        {pool->sum.missing, "fewer GPUs than gpus_per_node: the missing ones "
                            "count as down"},
        {pool->sum.surplus, "more GPUs than gpus_per_node: the additional "
                            "ones are not counted"},
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

static void note_end (report_t *report, const utilization_t *u)
{
    char stamp[ZONE_STAMP_SIZE];

    if (u->goes_on)
        report_note (
            report, NOTE_INFORMATION,
            "The period is not over: the capacity is that up to %s, "
            "where the facts end.",
            zone_stamp (u->query->site->zone, u->query->period.end, stamp));
}

static void note_unknown (report_t *report, const utilization_t *u,
                          const capacity_sum_t *sum)
{
    if (u->query->site->pool_count == 0)
        report_note (
            report, NOTE_WARNING,
            "No pool is configured: the capacity is the one that the cluster "
            "registered, if known. List the GPU nodes under 'pools' in the "
            "configuration.");
    if (mpq_sgn (sum->unknown) > 0) {
        report_note (
            report, NOTE_WARNING,
            "For some of the time no source reports whether the "
            "nodes were up: it is unknown, neither idle nor down. Both "
            "may be more than is shown.");
        report_note (report, NOTE_COMMAND,
                     "'gpuledger sync' reads node events from slurmdbd's "
                     "database; sacct's output has none.");
    }
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
                            const mpq_t value, const mpq_t whole, bool at_least,
                            const char *hint)
{
    GL_AUTOFREE char *percent = report_percent_text (value, whole);
    GL_AUTOFREE char *text
        = percent ? xasprintf ("%s%s %%", at_least ? "at least " : "", percent)
                  : NULL;

    report_figure (report, title, text, hint, COLUMN_TEXT);
}

static void add_figures (report_t *report, const capacity_sum_t *sum,
                         bool of_cpus)
{
    GL_AUTOFREE char *hours = report_hours_text (sum->capacity);
    bool unknown = mpq_sgn (sum->unknown) > 0;
    mpq_t out;

    figure_percent (report, "Allocated", sum->allocated, sum->capacity, false,
                    "of the capacity");
    figure_percent (report, "Idle", sum->idle, sum->capacity, unknown,
                    "healthy, not allocated to a job");
    mpq_init (out);
    mpq_add (out, sum->down, sum->planned_down);
    figure_percent (report, "Out of service", out, sum->capacity, unknown,
                    "down or in maintenance");
    mpq_clear (out);
    if (unknown)
        figure_percent (report, "Unknown", sum->unknown, sum->capacity, false,
                        "not allocated; no source says whether it was up");
    report_figure (report, "Capacity", hours,
                   of_cpus ? "CPU hours" : "GPU hours", COLUMN_HOURS);
}

static void note_cpus (report_t *report, const utilization_t *u)
{
    if (u->of_cpus)
        report_note (report, NOTE_INFORMATION,
                     "The pools count CPUs: all hours of this report are CPU "
                     "hours.");
    else if (site_counts_cpus (u->query->site))
        report_note (report, NOTE_INFORMATION,
                     "This report does not include pools of CPUs. For a "
                     "report of these, give only their names with --pool.");
}

static void finish (utilization_t *u, report_t *report,
                    const struct columns *columns, bool all,
                    mpq_srcptr allocated)
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
            prove_pool (report, group, u->of_cpus);
        note_inventory (report, group);
    }
    prove_reserved (u, report, &sum);
    GL_AUTOFREE char *difference = report_hours_text (sum.difference);
    report_named_total (report, "difference", "Difference", COLUMN_HOURS,
                        difference);
    report_totals (report);
    if (!capacity_known (u, &sum))
        put_class (report, columns, 1, all ? sum.allocated : allocated, zero);
    else if (all)
        put_sum (report, columns, &sum, cpus_told);
    else {
        put_class (report, columns, 0, sum.capacity, zero);
        put_class (report, columns, 1, allocated, sum.capacity);
    }
    note_end (report, u);
    note_unknown (report, u, &sum);
    note_cpus (report, u);
    if (mpq_sgn (sum.capacity) > 0) {
        add_figures (report, &sum, u->of_cpus);
        add_stack (report, &sum);
    }
    capacity_sum_clear (&sum);
    mpq_clear (zero);
}

report_t *utilization_make (utilization_t *u)
{
    report_t *report
        = report_begin (u->query, "utilization", "GPU utilization");
    bool all = utilization_of_capacity (u->query);
    struct columns columns;
    mpq_t allocated;

    mpq_init (allocated);
    report_key_columns (report, u->query);
    columns = add_columns (report, all);
    if (!u->of_rollups)
        utilization_group (u);
    if (all)
        add_group_rows (u, report, &columns);
    else
        add_usage_rows (u, report, &columns, allocated);
    finish (u, report, &columns, all, allocated);
    report_sort (report);
    mpq_clear (allocated);
    return report;
}
