#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/zone.h"
#include "facts/facts_inventory.h"
#include "facts/facts_shards.h"
#include "gres/nodelist.h"
#include "gres/tres.h"
#include "site/kind.h"

#define SECOND_NS INT64_C (1000000000)

/* An event row. */
struct row {
    char *cluster;
    char
        *node; /* "": the cluster registered; it is of one node or of several */
    period_t period;
    char *only_node; /* of a registration of one node */
    uint64_t shards;
    uint64_t gpus;
};

struct facts_shards {
    struct row *row; /* by cluster, node, start */
    size_t count, size;
    layout_t *layout;    /* the nodes' inventories */
    node_shards_t *told; /* of the segment in hand */
    size_t told_size;
};

/* The total of a name, or of its types where no total is there. */
static uint64_t total_of (const char *gres, const char *name)
{
    uint64_t total = 0, typed = 0;
    const char *cursor = gres;
    gres_item_t item;

    while (gres_next (&cursor, &item)) {
        if (item.name_length != strlen (name)
            || memcmp (item.name, name, item.name_length) != 0)
            continue;
        if (item.type)
            typed += item.count;
        else
            total += item.count;
    }
    return total ? total : typed;
}

static char *only_node (const char *text)
{
    nodelist_t *list = nodelist_open (text, NULL);
    char *only = NULL;

    if (list && nodelist_count (list) == 1)
        only = xstrdup (nodelist_next (list));
    nodelist_close (list);
    return only;
}

static void take_event (facts_shards_t *f, const node_event_t *e)
{
    const char *gres = e->gres ? e->gres : "";
    uint64_t shards = total_of (gres, "shard"), gpus = total_of (gres, "gpu");

    if (e->node ? shards == 0 || gpus == 0
                : (e->state & NODE_STATE_BASE) == NODE_STATE_DOWN)
        return;
    if (f->count == f->size) {
        f->size = f->size ? f->size * 2 : 16;
        f->row = xreallocarray (f->row, f->size, sizeof (*f->row));
    }
    f->row[f->count++] = (struct row){xstrdup (e->cluster),
                                      xstrdup (e->node ? e->node : ""),
                                      {e->start, e->end ? e->end : INT64_MAX},
                                      e->node ? NULL : only_node (e->nodelist),
                                      shards,
                                      gpus};
}

static int compare (const struct row *row, const char *cluster,
                    const char *node, int64_t start)
{
    int order = strcmp (row->cluster, cluster);

    if (order == 0)
        order = strcmp (row->node, node);
    return order ? order
                 : (row->period.start > start) - (row->period.start < start);
}

static int by_key (const void *a, const void *b)
{
    const struct row *y = b;

    return compare (a, y->cluster, y->node, y->period.start);
}

facts_shards_t *facts_shards_open (store_t *store, const char *cluster,
                                   gl_error_t *error)
{
    facts_shards_t *f = xcalloc (1, sizeof (*f));
    store_query_t query = {.cluster = cluster};
    store_iter_t *iter = store_iter_open (store, STORE_EVENTS, &query, error);
    node_event_t event;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &event, error)) > 0)
        take_event (f, &event);
    store_iter_close (iter);
    if (more == 0)
        f->layout = facts_inventory (store, cluster, error);
    if (!f->layout) {
        facts_shards_close (f);
        return NULL;
    }
    if (f->count > 1)
        qsort (f->row, f->count, sizeof (*f->row), by_key);
    return f;
}

void facts_shards_close (facts_shards_t *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++) {
        free (f->row[i].cluster);
        free (f->row[i].node);
        free (f->row[i].only_node);
    }
    layout_close (f->layout);
    free (f->row);
    free (f->told);
    free (f);
}

/* The node's latest row that began at `instant` or before. */
static const struct row *latest (const facts_shards_t *f, const char *cluster,
                                 const char *node, int64_t instant)
{
    size_t low = 0, high = f->count;
    const struct row *row;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare (&f->row[middle], cluster, node, instant) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    row = low > 0 ? &f->row[low - 1] : NULL;
    return row && !strcmp (row->cluster, cluster) && !strcmp (row->node, node)
               ? row
               : NULL;
}

static const struct row *row_of (const facts_shards_t *f,
                                 const struct row *registration,
                                 const char *cluster, const char *node,
                                 int64_t instant)
{
    const struct row *row = latest (f, cluster, node, instant);

    if (row && row->period.start >= registration->period.start)
        return row;
    return registration->only_node && !strcmp (registration->only_node, node)
                   && registration->shards && registration->gpus
               ? registration
               : NULL;
}

/* By accounting. */
static bool told_by_row (const facts_shards_t *f, const char *cluster,
                         const char *node, int64_t instant, node_shards_t *ret)
{
    const struct row *registration = latest (f, cluster, "", instant);
    const struct row *row;

    if (!registration || instant >= registration->period.end
        || !(row = row_of (f, registration, cluster, node, instant)))
        return false;
    *ret = (node_shards_t){row == registration ? row->only_node : row->node,
                           row->shards, row->gpus};
    return true;
}

/* By the node's slurmd: of each device that Slurm can allocate. */
static bool told_by_node (const facts_shards_t *f, const char *cluster,
                          const char *node, int64_t instant, node_shards_t *ret)
{
    layout_snapshot_t snapshot;
    node_shards_t sum = {.node = NULL};

    if (!layout_at (f->layout, cluster, node, instant * SECOND_NS, &snapshot))
        return false;
    for (size_t i = 0; i < snapshot.count; i++) {
        const layout_device_t *device = &snapshot.device[i];
        if (device->gres_index < 0 || device->shards < 0)
            continue;
        sum.gpus++;
        sum.shards += (uint64_t)device->shards;
    }
    sum.node = snapshot.node;
    *ret = sum;
    return sum.shards > 0;
}

static bool told_of (const facts_shards_t *f, const char *cluster,
                     const char *node, int64_t instant, node_shards_t *ret)
{
    return told_by_row (f, cluster, node, instant, ret)
           || told_by_node (f, cluster, node, instant, ret);
}

void facts_shards_tell (facts_shards_t *f, segment_t *s)
{
    nodelist_t *list = nodelist_open (s->nodelist, NULL);
    node_shards_t told;
    const char *node;

    s->shards_count = 0;
    while (list && (node = nodelist_next (list))) {
        if (!told_of (f, s->cluster, node, s->time_start, &told))
            continue;
        if (s->shards_count == f->told_size) {
            f->told_size = f->told_size ? f->told_size * 2 : 4;
            f->told = xreallocarray (f->told, f->told_size, sizeof (*f->told));
        }
        f->told[s->shards_count++] = told;
    }
    s->shards = f->told;
    nodelist_close (list);
}

/* ----------------------------------------------------------------- differences */

struct comparing {
    const facts_shards_t *shards;
    kinds_t *kinds;
    int64_t instant;
    void (*each) (const shards_difference_t *found, void *arg);
    void *arg;
};

static void compare_node (const struct comparing *c, const char *cluster,
                          const char *node)
{
    const site_pool_t *pool
        = kinds_pool (c->kinds, cluster, node, "shard", c->instant);
    shards_difference_t found = {cluster, node, pool, 0, 0};
    node_shards_t told;

    if (!pool || pool->shards_per_gpu == 0
        || !told_of (c->shards, cluster, node, c->instant, &told)
        || told.shards == told.gpus * (uint64_t)pool->shards_per_gpu)
        return;
    found.shards = told.shards;
    found.gpus = told.gpus;
    c->each (&found, c->arg);
}

/* Of those nodes of which a row speaks; rows are sorted by node. */
static void compare_rows (const struct comparing *c)
{
    const facts_shards_t *f = c->shards;
    node_shards_t told;

    for (size_t i = 0; i < f->count; i++) {
        const struct row *row = &f->row[i], *next = row + 1;
        const char *node = row->node[0] ? row->node : row->only_node;
        bool again = i + 1 < f->count && !strcmp (next->cluster, row->cluster)
                     && !strcmp (next->node, row->node);
        if (node && !again
            && told_by_row (f, row->cluster, node, c->instant, &told))
            compare_node (c, row->cluster, node);
    }
}

/* And of those that only their inventory tells of, by the snapshot in force. */
static void compare_inventories (const struct comparing *c)
{
    const facts_shards_t *f = c->shards;
    layout_snapshot_t snapshot;
    node_shards_t told;
    size_t cursor = 0;

    while (layout_next (f->layout, &cursor, &snapshot))
        if (snapshot.snapshot <= c->instant * SECOND_NS
            && layout_until (f->layout, &snapshot) > c->instant * SECOND_NS
            && !told_by_row (f, snapshot.cluster, snapshot.node, c->instant,
                             &told))
            compare_node (c, snapshot.cluster, snapshot.node);
}

int facts_shards_differences (store_t *store, const site_t *site,
                              int64_t instant,
                              void (*each) (const shards_difference_t *found,
                                            void *arg),
                              void *arg, gl_error_t *error)
{
    struct comparing c = {.instant = instant, .each = each, .arg = arg};
    facts_shards_t *shards;

    if (!GL_ANY (site->pools, site->pool_count, it, it->shards_per_gpu > 0))
        return 0;
    shards = facts_shards_open (store, NULL, error);
    if (!shards)
        return -1;
    c.shards = shards;
    c.kinds = kinds_new (site);
    compare_rows (&c);
    compare_inventories (&c);
    kinds_free (c.kinds);
    facts_shards_close (shards);
    return 0;
}

char *facts_shards_difference_text (const shards_difference_t *found)
{
    return xasprintf ("%s: Slurm has %" PRIu64 " shards for %" PRIu64
                      " GPU%s, `shards_per_gpu` of pool %s says %" PRId64,
                      found->node, found->shards, found->gpus,
                      found->gpus == 1 ? "" : "s", found->pool->name,
                      found->pool->shards_per_gpu);
}
