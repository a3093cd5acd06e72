#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/zone.h"
#include "facts/facts_shards.h"
#include "gres/nodelist.h"
#include "gres/tres.h"

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
    if (more < 0) {
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

void facts_shards_tell (facts_shards_t *f, segment_t *s)
{
    const struct row *registration = latest (f, s->cluster, "", s->time_start);
    nodelist_t *list = NULL;
    const char *node;

    if (registration && s->time_start < registration->period.end)
        list = nodelist_open (s->nodelist, NULL);
    s->shards_count = 0;
    while (list && (node = nodelist_next (list))) {
        const struct row *row
            = row_of (f, registration, s->cluster, node, s->time_start);
        if (!row)
            continue;
        if (s->shards_count == f->told_size) {
            f->told_size = f->told_size ? f->told_size * 2 : 4;
            f->told = xreallocarray (f->told, f->told_size, sizeof (*f->told));
        }
        f->told[s->shards_count++]
            = (node_shards_t){row == registration ? row->only_node : row->node,
                              row->shards, row->gpus};
    }
    s->shards = f->told;
    nodelist_close (list);
}
