/*
 * truth_nodes.c: what the GPUs of each node did, quarter by quarter of an hour.
 *
 * Every clock of the world shows a multiple of 15 minutes when UTC does, so
 * that hours, days and months of any zone are made of such quarters.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "truth.h"

#define QUARTER 900
#define GPU 28 /* so many units: halves, quarters and sevenths */
#define LATE 2 /* the pool that begins within the month */

static struct {
    const char *name;
    unsigned first, last; /* nodes */
    unsigned gpus;        /* of a node */
    int64_t from;
    unsigned types;     /* bits of the types it lists */
    unsigned remainder; /* units that no slice can use */
    unsigned shards;    /* of a GPU; 0: nobody knows */
    const char *yaml;
} pools[POOLS] = {
    {"a100", 41, 80, 8, 0, 1 << A100 | 1 << UNTYPED, 0, 2,
     "gres: [a100-sxm4_80, gpu], gpu: A100-SXM4-80GB, shards_per_gpu: 2"},
    {"h100", 1, 60, 8, 0, 1 << H100, 0, 4,
     "gres: [h100], gpu: H100-SXM5-80GB, shards_per_gpu: 4"},
    {"late", 61, 70, 4, 0, 1 << H100, 0, 0,
     "gres: [h100], gpu: H100-SXM5-80GB, from: 2025-10-15"},
    {"mig", 81, 90, 2, 0, 1 << SLICE, 4 * GPU / 7, 0,
     "gres: [1g.10gb+me], gpu: H100-SXM5-80GB,"
     " layout: \"1g.10gb+me:2,1g.10gb:8\""},
};

void nodes_write_pools (const char *dir)
{
    char path[4096];
    FILE *file;

    snprintf (path, sizeof (path), "%s/pools.yaml", dir);
    file = fopen (path, "w");
    if (!file)
        err (1, "%s", path);
    fprintf (file, "pools:\n");
    for (unsigned i = 0; i < POOLS; i++)
        fprintf (file,
                 "  - {name: %s, cluster: lab, nodes: \"g[%u-%u]\","
                 " gpus_per_node: %u, %s}\n",
                 pools[i].name, pools[i].first, pools[i].last, pools[i].gpus,
                 pools[i].yaml);
    fclose (file);
}

const char *nodes_pool_name (unsigned pool)
{
    return pool < POOLS ? pools[pool].name : "(none)";
}

int64_t nodes_pool_from (unsigned pool)
{
    return pools[pool].from;
}

/* --- whose device it is ------------------------------------------------- */

static bool covers (unsigned pool, unsigned node, int64_t at)
{
    return node >= pools[pool].first && node <= pools[pool].last
           && at >= pools[pool].from;
}

/* By its type; a shard as a GPU of no type; an untyped one belongs to the pool
 * that lists those, or to the only one of its node. */
unsigned nodes_pool (unsigned node, type_t type, int64_t at)
{
    unsigned only = POOLS, covering = 0;

    if (type == SHARD)
        type = UNTYPED;
    for (unsigned i = 0; i < POOLS; i++) {
        if (!covers (i, node, at))
            continue;
        if (pools[i].types >> type & 1)
            return i;
        only = i;
        covering++;
    }
    return type == UNTYPED && covering == 1 ? only : POOLS;
}

/* Now or at another time. */
static bool has (unsigned node, type_t type)
{
    return nodes_pool (node, type, 0) < POOLS
           || nodes_pool (node, type, INT64_MAX) < POOLS;
}

/* Evenly over the nodes that have such devices, over all of them if none has;
 * what is left goes to the first ones. */
uint64_t nodes_share (const stay_t *stay, type_t type, unsigned index)
{
    unsigned among = 0, before = 0;
    bool mine = has (stay->node + index, type);

    for (unsigned i = 0; i < stay->nodes; i++) {
        bool theirs = has (stay->node + i, type);
        among += theirs;
        before += theirs && i < index;
    }
    if (among == 0) {
        among = stay->nodes;
        before = index;
    } else if (!mine)
        return 0;
    return stay->devices[type] / among
           + (before < stay->devices[type] % among ? 1 : 0);
}

/* In units: an untyped device of a pool of slices alone is a slice. 0: nobody
 * knows. */
static unsigned weight (unsigned pool, type_t type)
{
    bool slice
        = type == SLICE || (pool < POOLS && pools[pool].types == 1 << SLICE);

    if (type == SHARD)
        return pool < POOLS && pools[pool].shards ? GPU / pools[pool].shards
                                                  : 0;
    return slice ? GPU / 7 : GPU;
}

/* --- what happened ------------------------------------------------------ */

typedef struct {
    int64_t from, to;
    uint32_t devices;
    uint8_t type;
} hold_t;

/* Unit-seconds of a quarter; int64 holds a year of a large cluster. */
typedef struct {
    int64_t capacity, allocated, reserved_unused, idle, stranded, planned_down,
        down, unknown, drained;
} classes_t;
#define CLASSES (sizeof (classes_t) / sizeof (int64_t))

typedef struct {
    hold_t *hold;
    size_t holds, size;
    span_t *span[NODE_STATES];
    size_t spans[NODE_STATES];
    classes_t *quarter[POOLS]; /* NULL: not a node of the pool */
} node_t;

struct nodes_truth {
    span_t all;
    int64_t first; /* number of the first quarter */
    size_t quarters;
    node_t node[NODES + 1];
};

static void *more (void *list, size_t count, size_t size)
{
    void *longer = realloc (list, count * size);

    if (!longer)
        err (1, "memory");
    return longer;
}

nodes_truth_t *nodes_new (span_t all)
{
    nodes_truth_t *nodes = calloc (1, sizeof (*nodes));

    if (!nodes)
        err (1, "memory");
    nodes->all = all;
    nodes->first = all.from / QUARTER;
    nodes->quarters = (size_t)((all.to - 1) / QUARTER - nodes->first + 1);
    return nodes;
}

void nodes_free (nodes_truth_t *nodes)
{
    for (size_t i = 0; i <= NODES; i++) {
        free (nodes->node[i].hold);
        for (size_t k = 0; k < NODE_STATES; k++)
            free (nodes->node[i].span[k]);
        for (size_t k = 0; k < POOLS; k++)
            free (nodes->node[i].quarter[k]);
    }
    free (nodes);
}

void nodes_add_state (nodes_truth_t *nodes, unsigned number, node_state_t state,
                      span_t span)
{
    node_t *node = &nodes->node[number];

    node->span[state]
        = more (node->span[state], node->spans[state] + 1, sizeof (span_t));
    node->span[state][node->spans[state]++] = span;
}

void nodes_hold (nodes_truth_t *nodes, unsigned number, type_t type,
                 uint64_t devices, span_t held)
{
    node_t *node = &nodes->node[number];

    if (devices == 0 || held.from >= held.to)
        return;
    if (node->holds == node->size) {
        node->size = node->size ? node->size * 2 : 64;
        node->hold = more (node->hold, node->size, sizeof (hold_t));
    }
    node->hold[node->holds++]
        = (hold_t){held.from, held.to, (uint32_t)devices, (uint8_t)type};
}

/* --- counting ----------------------------------------------------------- */

/* Every moment at which something about the node changes, in order, and what
 * changes there: differences, to be added up. */
typedef struct {
    int64_t *at;
    size_t count;
    int64_t *allocated, *shards, *blind, *states[NODE_STATES];
} line_t;

static int by_number (const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int64_t within (const nodes_truth_t *nodes, int64_t at)
{
    if (at < nodes->all.from)
        return nodes->all.from;
    return at > nodes->all.to ? nodes->all.to : at;
}

static size_t list_moments (const nodes_truth_t *nodes, const node_t *node,
                            int64_t *at)
{
    size_t n = 0;

    for (size_t i = 0; i < nodes->quarters; i++)
        at[n++] = within (nodes, (nodes->first + (int64_t)i) * QUARTER);
    for (size_t i = 0; i < node->holds; i++) {
        at[n++] = within (nodes, node->hold[i].from);
        at[n++] = within (nodes, node->hold[i].to);
    }
    for (size_t k = 0; k < NODE_STATES; k++)
        for (size_t i = 0; i < node->spans[k]; i++) {
            at[n++] = within (nodes, node->span[k][i].from);
            at[n++] = within (nodes, node->span[k][i].to);
        }
    for (size_t i = 0; i < POOLS; i++)
        at[n++] = within (nodes, pools[i].from);
    at[n++] = nodes->all.to;
    return n;
}

static line_t make_line (const nodes_truth_t *nodes, const node_t *node)
{
    size_t n = nodes->quarters + 2 * node->holds + POOLS + 1, unique = 0;
    line_t line = {0};

    for (size_t k = 0; k < NODE_STATES; k++)
        n += 2 * node->spans[k];
    line.at = more (NULL, n, sizeof (*line.at));
    n = list_moments (nodes, node, line.at);
    qsort (line.at, n, sizeof (*line.at), by_number);
    for (size_t i = 0; i < n; i++)
        if (unique == 0 || line.at[i] != line.at[unique - 1])
            line.at[unique++] = line.at[i];
    line.count = unique;
    line.allocated = calloc (unique, sizeof (int64_t));
    line.shards = calloc (unique, sizeof (int64_t));
    line.blind = calloc (unique, sizeof (int64_t));
    for (size_t k = 0; k < NODE_STATES; k++)
        line.states[k] = calloc (unique, sizeof (int64_t));
    return line;
}

static void free_line (line_t *line)
{
    free (line->at);
    free (line->allocated);
    free (line->shards);
    free (line->blind);
    for (size_t k = 0; k < NODE_STATES; k++)
        free (line->states[k]);
}

static size_t index_of (const line_t *line, int64_t at)
{
    const int64_t *found
        = bsearch (&at, line->at, line->count, sizeof (*line->at), by_number);

    if (!found)
        errx (1, "a moment is missing");
    return (size_t)(found - line->at);
}

static void differ (const nodes_truth_t *nodes, const line_t *line,
                    int64_t *differences, span_t span, int64_t amount)
{
    int64_t from = within (nodes, span.from), to = within (nodes, span.to);

    if (from >= to)
        return;
    differences[index_of (line, from)] += amount;
    differences[index_of (line, to)] -= amount;
}

/* A device may come into a pool while it is held: the pool begins. */
static void differ_hold (const nodes_truth_t *nodes, const line_t *line,
                         unsigned number, unsigned pool, const hold_t *hold)
{
    span_t held = {hold->from, hold->to};
    int64_t units;

    if (held.from < pools[pool].from)
        held.from = pools[pool].from;
    if (held.from >= held.to
        || nodes_pool (number, hold->type, held.from) != pool)
        return;
    units = (int64_t)hold->devices * weight (pool, hold->type);
    differ (nodes, line, units ? line->allocated : line->blind, held,
            units ? units : 1);
    if (hold->type == SHARD)
        differ (nodes, line, line->shards, held, units);
}

/* What holds at a moment. */
typedef struct {
    int64_t allocated, shards; /* units; of shards, these too */
    int64_t blind;             /* jobs that hold nobody knows how much */
    int64_t state[NODE_STATES];
} now_t;

static bool nobody_names_it (const now_t *now)
{
    return !now->state[KNOWN] && !now->blind && !now->state[AWAY];
}

static int64_t *free_class (classes_t *c, const now_t *now)
{
    if (!now->state[KNOWN] || now->blind)
        return &c->unknown;
    if (now->state[DOWN] || now->state[DRAINED])
        return &c->down;
    if (now->state[PLANNED])
        return &c->planned_down;
    if (now->state[AWAY])
        return &c->unknown;
    if (now->state[MAINTENANCE])
        return &c->planned_down;
    return now->state[RESERVED] ? &c->reserved_unused : &c->idle;
}

/* Cards that are cut have a rest that nobody can use, and so has the last one
 * of which shards are held; it is idle as long as the cards are known to be up,
 * which a job on another slice tells, too. */
static int64_t stranded_units (const classes_t *c, const int64_t *class,
                               unsigned pool, int64_t rest, const now_t *now)
{
    int64_t stranded = pools[pool].remainder + (GPU - now->shards % GPU) % GPU;
    bool up
        = class == &c->idle || (now->allocated > 0 && nobody_names_it (now));

    if (!up)
        return 0;
    return stranded < rest ? stranded : rest;
}

static void classify (classes_t *c, unsigned pool, bool in_service,
                      const now_t *now, int64_t seconds)
{
    int64_t capacity = in_service ? pools[pool].gpus * GPU : 0;
    int64_t rest = capacity - now->allocated, stranded;
    int64_t *class = free_class (c, now);

    c->capacity += capacity * seconds;
    c->allocated += now->allocated * seconds;
    if (rest <= 0)
        return;
    stranded = stranded_units (c, class, pool, rest, now);
    c->stranded += stranded * seconds;
    c->idle += stranded * seconds;
    *class += (rest - stranded) * seconds;
    if (class == &c->down && !now->state[DOWN])
        c->drained += rest * seconds;
}

static void differ_all (const nodes_truth_t *nodes, const line_t *line,
                        unsigned number, unsigned pool)
{
    const node_t *node = &nodes->node[number];

    for (size_t i = 0; i < node->holds; i++)
        differ_hold (nodes, line, number, pool, &node->hold[i]);
    for (size_t k = 0; k < NODE_STATES; k++)
        for (size_t i = 0; i < node->spans[k]; i++)
            differ (nodes, line, line->states[k], node->span[k][i], 1);
}

static void count_node (nodes_truth_t *nodes, unsigned number, unsigned pool)
{
    node_t *node = &nodes->node[number];
    line_t line = make_line (nodes, node);
    now_t now = {0};

    free (node->quarter[pool]);
    node->quarter[pool] = calloc (nodes->quarters, sizeof (classes_t));
    differ_all (nodes, &line, number, pool);
    for (size_t i = 0; i + 1 < line.count; i++) {
        int64_t at = line.at[i];
        now.allocated += line.allocated[i];
        now.shards += line.shards[i];
        now.blind += line.blind[i];
        for (size_t k = 0; k < NODE_STATES; k++)
            now.state[k] += line.states[k][i];
        classify (&node->quarter[pool][at / QUARTER - nodes->first], pool,
                  at >= pools[pool].from, &now, line.at[i + 1] - at);
    }
    free_line (&line);
}

void nodes_begin_late (int64_t at)
{
    pools[LATE].from = at;
}

void nodes_count (nodes_truth_t *nodes)
{
    for (unsigned p = 0; p < POOLS; p++)
        for (unsigned n = pools[p].first; n <= pools[p].last; n++)
            count_node (nodes, n, p);
}

/* --- files -------------------------------------------------------------- */

/* Unit-seconds as hours with 6 digits, half to even. */
static void print_hours (FILE *file, int64_t value)
{
    unsigned __int128 number = (unsigned __int128)value * 1000000;
    unsigned whole = GPU * 3600;
    uint64_t digits = (uint64_t)(number / whole);
    unsigned left = (unsigned)(number % whole);

    if (left * 2 > whole || (left * 2 == whole && digits % 2))
        digits++;
    fprintf (file, "|%" PRIu64 ".%06u", digits / 1000000,
             (unsigned)(digits % 1000000));
}

static classes_t sum_unit (const nodes_truth_t *nodes, unsigned first,
                           unsigned last, unsigned pool, span_t span)
{
    classes_t sum = {0};

    for (unsigned n = first; n <= last; n++) {
        const classes_t *quarter = nodes->node[n].quarter[pool];
        for (int64_t at = span.from; quarter && at < span.to;
             at = (at / QUARTER + 1) * QUARTER) {
            const int64_t *from
                = (const int64_t *)&quarter[at / QUARTER - nodes->first];
            for (size_t k = 0; k < CLASSES; k++)
                ((int64_t *)&sum)[k] += from[k];
        }
    }
    return sum;
}

static bool any (const classes_t *sum)
{
    const int64_t *value = (const int64_t *)sum;

    for (size_t k = 0; k < CLASSES; k++)
        if (value[k])
            return true;
    return false;
}

static void write_unit (FILE *file, const char *name, const unit_t *unit,
                        const classes_t *sum)
{
    if (!any (sum))
        return;
    fprintf (file, "%s|%s", name, unit->name);
    for (size_t k = 0; k < CLASSES; k++)
        print_hours (file, ((const int64_t *)sum)[k]);
    fputc ('\n', file);
}

/* A node may have parts in two pools. */
static void write_by_node (const nodes_truth_t *nodes, FILE *file,
                           const unit_t *unit)
{
    char name[16];

    for (unsigned n = 1; n < NODES; n++) {
        classes_t sum = {0};
        for (unsigned p = 0; p < POOLS; p++) {
            classes_t part = sum_unit (nodes, n, n, p, unit->span);
            for (size_t k = 0; k < CLASSES; k++)
                ((int64_t *)&sum)[k] += ((int64_t *)&part)[k];
        }
        snprintf (name, sizeof (name), "g%u", n);
        write_unit (file, name, unit, &sum);
    }
}

void nodes_write (const nodes_truth_t *nodes, const char *dir, const char *zone,
                  const char *keys, const unit_t *unit, size_t count,
                  bool by_node)
{
    char path[4096];
    FILE *file;

    snprintf (path, sizeof (path), "%s/%s.%s", dir, zone, keys);
    file = fopen (path, "w");
    if (!file)
        err (1, "%s", path);
    for (size_t i = 0; i < count; i++) {
        if (by_node)
            write_by_node (nodes, file, &unit[i]);
        for (unsigned p = 0; p < POOLS && !by_node; p++) {
            classes_t sum = sum_unit (nodes, pools[p].first, pools[p].last, p,
                                      unit[i].span);
            write_unit (file, pools[p].name, &unit[i], &sum);
        }
    }
    if (fflush (file) != 0 || ferror (file))
        err (1, "writing");
    fclose (file);
}
