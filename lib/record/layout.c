#include "record/layout.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Of one node at one moment; complete when all its parts are there. */
typedef struct {
    layout_snapshot_t shown; /* count: parts */
    layout_device_t *device;
    bool *there;
    size_t have;
} snapshot_t;

struct layout {
    void *texts;     /* tree of texts, each once */
    void *snapshots; /* tree, by cluster, node and time */
    snapshot_t **list;
    size_t count;
    bool sorted;
};

/* -------------------------------------------------------------------- texts */

static int compare_texts (const void *a, const void *b)
{
    return strcmp (a, b);
}

/* The text, once for all. */
static const char *keep_text (layout_t *layout, const char *text)
{
    char **found = tsearch (text, &layout->texts, compare_texts);

    if (*found == text)
        *found = xstrdup (text);
    return *found;
}

/* ------------------------------------------------------------------ devices */

static const struct {
    record_field_t field;
    size_t from; /* in record_t */
    size_t to;   /* in layout_device_t */
} texts[] = {
#define TEXT(member)                                        \
    {                                                       \
        RECORD_FIELD_##member, offsetof (record_t, member), \
            offsetof (layout_device_t, member)              \
    }
    TEXT (gpu),       TEXT (slice),       TEXT (model),   TEXT (profile),
    TEXT (gres_type), TEXT (device_file), TEXT (problem), TEXT (pci),
    TEXT (device_source), TEXT (driver),
}, numbers[] = {
#define NUMBER(member) TEXT (member)
    NUMBER (gres_index),      NUMBER (minor),
    NUMBER (memory_total),    NUMBER (partitioned),
    NUMBER (gpu_instance),    NUMBER (compute_instance),
    NUMBER (compute_slices),  NUMBER (memory_slices),
    NUMBER (placement_start), NUMBER (placement_size),
    NUMBER (power_limit),     NUMBER (shards),
};

static void read_device (layout_t *layout, const record_t *record,
                         layout_device_t *device)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        const char *text
            = keep_text (layout, (const char *)record + texts[i].from);

        memcpy ((char *)device + texts[i].to, &text, sizeof (text));
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (numbers); i++) {
        int64_t number = LAYOUT_UNKNOWN;

        if (record_has_field (record, numbers[i].field))
            memcpy (&number, (const char *)record + numbers[i].from,
                    sizeof (number));
        memcpy ((char *)device + numbers[i].to, &number, sizeof (number));
    }
}

/* ---------------------------------------------------------------- snapshots */

static int compare_place (const char *cluster, const char *node, int64_t time,
                          const layout_snapshot_t *b)
{
    int by_cluster = strcmp (cluster, b->cluster);
    int by_node = by_cluster ? 0 : strcmp (node, b->node);

    return by_cluster ? by_cluster
           : by_node  ? by_node
                      : (time > b->snapshot) - (time < b->snapshot);
}

static int compare_snapshots (const void *a, const void *b)
{
    const snapshot_t *left = a, *right = b;

    return compare_place (left->shown.cluster, left->shown.node,
                          left->shown.snapshot, &right->shown);
}

static int compare_entries (const void *a, const void *b)
{
    return compare_snapshots (*(snapshot_t *const *)a, *(snapshot_t *const *)b);
}

static void free_snapshot (void *arg)
{
    snapshot_t *snapshot = arg;

    free (snapshot->device);
    free (snapshot->there);
    free (snapshot);
}

static snapshot_t *add_snapshot (layout_t *layout, const record_t *record)
{
    snapshot_t *snapshot = xcalloc (1, sizeof (*snapshot));
    size_t parts = (size_t)record->parts;

    snapshot->device = xcalloc (parts + 1, sizeof (*snapshot->device));
    snapshot->there = xcalloc (parts + 1, sizeof (*snapshot->there));
    snapshot->shown = (layout_snapshot_t){
        .cluster = keep_text (layout, record->cluster),
        .node = keep_text (layout, record->node),
        .boot_id = keep_text (layout, record->boot_id),
        .snapshot = record->snapshot,
        .device = snapshot->device,
        .count = parts,
    };
    tsearch (snapshot, &layout->snapshots, compare_snapshots);
    *GL_APPEND (layout->list, layout->count) = snapshot;
    layout->sorted = false;
    return snapshot;
}

/* The snapshot that a record is a part of, made when it is the first one. */
static snapshot_t *find_snapshot (layout_t *layout, const record_t *record,
                                  gl_error_t *error)
{
    snapshot_t key = {.shown = {.cluster = record->cluster,
                                .node = record->node,
                                .snapshot = record->snapshot}};
    snapshot_t **found = tfind (&key, &layout->snapshots, compare_snapshots);

    if (found)
        return *found;
    if (layout->count == LAYOUT_SNAPSHOTS_MAX) {
        gl_error (error, "inventory: more than %d snapshots",
                  LAYOUT_SNAPSHOTS_MAX);
        return NULL;
    }
    return add_snapshot (layout, record);
}

int layout_add (layout_t *layout, const record_t *record, gl_error_t *error)
{
    snapshot_t *snapshot;
    size_t part;

    if (record->kind != RECORD_INVENTORY || !record_has (record, snapshot)
        || !record_has (record, parts) || record->parts < 0
        || record->parts > LAYOUT_DEVICES_MAX
        || (record->parts
            && (record->part < 1 || record->part > record->parts)))
        return 0;
    snapshot = find_snapshot (layout, record, error);
    if (!snapshot)
        return -1;
    part = (size_t)record->part - 1;
    if (snapshot->shown.count != (size_t)record->parts || !record->parts
        || snapshot->there[part])
        return 0;
    read_device (layout, record, &snapshot->device[part]);
    snapshot->there[part] = true;
    snapshot->have++;
    return 0;
}

/* ---------------------------------------------------------------- questions */

static bool is_complete (const snapshot_t *snapshot)
{
    return snapshot->have == snapshot->shown.count;
}

static void sort (layout_t *layout)
{
    if (!layout->sorted && layout->count)
        qsort (layout->list, layout->count, sizeof (*layout->list),
               compare_entries);
    layout->sorted = true;
}

/* How many are before or at the place. */
static size_t place (layout_t *layout, const char *cluster, const char *node,
                     int64_t instant)
{
    size_t low = 0, high = layout->count;

    sort (layout);
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_place (cluster, node, instant, &layout->list[middle]->shown)
            >= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_of (const snapshot_t *snapshot, const char *cluster,
                   const char *node)
{
    return !strcmp (snapshot->shown.node, node)
           && !strcmp (snapshot->shown.cluster, cluster);
}

bool layout_at (layout_t *layout, const char *cluster, const char *node,
                int64_t instant, layout_snapshot_t *ret_snapshot)
{
    for (size_t i = place (layout, cluster, node, instant); i-- > 0;) {
        if (!is_of (layout->list[i], cluster, node))
            return false;
        if (is_complete (layout->list[i])) {
            *ret_snapshot = layout->list[i]->shown;
            return true;
        }
    }
    return false;
}

int64_t layout_until (layout_t *layout, const layout_snapshot_t *snapshot)
{
    const char *cluster = snapshot->cluster, *node = snapshot->node;

    for (size_t i = place (layout, cluster, node, snapshot->snapshot);
         i < layout->count && is_of (layout->list[i], cluster, node); i++)
        if (is_complete (layout->list[i]))
            return layout->list[i]->shown.snapshot;
    return INT64_MAX;
}

const layout_device_t *layout_device (const layout_snapshot_t *snapshot,
                                      int64_t gres_index)
{
    return GL_FIND (snapshot->device, snapshot->count, it,
                    gres_index != LAYOUT_UNKNOWN
                        && it->gres_index == gres_index);
}

bool layout_next (layout_t *layout, size_t *cursor,
                  layout_snapshot_t *ret_snapshot)
{
    sort (layout);
    while (*cursor < layout->count) {
        const snapshot_t *snapshot = layout->list[(*cursor)++];

        if (is_complete (snapshot)) {
            *ret_snapshot = snapshot->shown;
            return true;
        }
    }
    return false;
}

/* ----------------------------------------------------------- open and close */

layout_t *layout_open (void)
{
    return xcalloc (1, sizeof (layout_t));
}

static void keep (void *unused)
{
    (void)unused;
}

void layout_close (layout_t *layout)
{
    if (!layout)
        return;
    /* the tree and the list hold the same snapshots */
    tdestroy (layout->snapshots, keep);
    for (size_t i = 0; i < layout->count; i++)
        free_snapshot (layout->list[i]);
    tdestroy (layout->texts, free);
    free (layout->list);
    free (layout);
}
