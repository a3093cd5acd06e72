#include <string.h>

#include "base/memory.h"
#include "facts/facts_inventory.h"
#include "record/record.h"

#define SECOND_NS INT64_C (1000000000)

static int add_record (layout_t *layout, const node_record_t *stored,
                       gl_error_t *error)
{
    record_t r;

    if (record_decode (stored->payload, stored->payload_length, &r, NULL) != 0)
        return 0;
    record_set_text (&r, RECORD_FIELD_cluster, stored->cluster);
    if (stored->node)
        record_set_text (&r, RECORD_FIELD_node, stored->node);
    return layout_add (layout, &r, error);
}

layout_t *facts_inventory (store_t *store, const char *cluster,
                           gl_error_t *error)
{
    store_query_t query = {
        .cluster = cluster, .jobs = STORE_OF_NO_JOB, .kind = RECORD_INVENTORY};
    layout_t *layout = layout_open ();
    store_iter_t *iter = NULL;
    node_record_t stored;
    int more = -1;

    if (layout)
        iter = store_iter_open (store, STORE_RECORDS, &query, error);
    while (iter && (more = store_iter_next (iter, &stored, error)) > 0) {
        if (add_record (layout, &stored, error) < 0) {
            more = -1;
            break;
        }
    }
    store_iter_close (iter);
    if (more == 0)
        return layout;
    layout_close (layout);
    return NULL;
}

/* --- physical GPUs ----------------------------------------------------- */

/* The GPUs of one snapshot; texts are the layout's. */
struct gpus {
    inventory_gpu_t gpu[LAYOUT_DEVICES_MAX];
    const char *uuid[LAYOUT_DEVICES_MAX];
    const char *profile[LAYOUT_DEVICES_MAX]; /* those of one GPU in a row */
    size_t count;
};

static const char *known (const char *text)
{
    return text[0] ? text : NULL;
}

/* Its devices are it alone, or its slices. */
static void take_gpu (struct gpus *gpus, const layout_snapshot_t *snapshot,
                      const char *uuid, size_t *profiles)
{
    inventory_gpu_t *gpu = &gpus->gpu[gpus->count];

    *gpu = (inventory_gpu_t){.profiles = &gpus->profile[*profiles]};
    gpus->uuid[gpus->count++] = uuid;
    for (size_t i = 0; i < snapshot->count; i++) {
        const layout_device_t *d = &snapshot->device[i];
        if (strcmp (d->gpu, uuid))
            continue;
        if (!gpu->gres_type)
            gpu->gres_type = known (d->gres_type);
        if (!gpu->model)
            gpu->model = known (d->model);
        gpu->cut = gpu->cut || d->slice[0] || d->partitioned == 1;
        if (d->slice[0]) {
            gpus->profile[(*profiles)++] = known (d->profile);
            gpu->profile_count++;
        }
    }
}

/* False: some device does not tell its GPU, so that nobody can count them. */
static bool take_gpus (struct gpus *gpus, const layout_snapshot_t *snapshot)
{
    size_t profiles = 0;

    gpus->count = 0;
    for (size_t i = 0; i < snapshot->count; i++) {
        const char *uuid = snapshot->device[i].gpu;
        size_t k = 0;
        if (!uuid[0])
            return false;
        while (k < gpus->count && strcmp (gpus->uuid[k], uuid))
            k++;
        if (k == gpus->count)
            take_gpu (gpus, snapshot, uuid, &profiles);
    }
    return true;
}

static int64_t seconds_of (int64_t ns)
{
    return ns == INT64_MAX ? SITE_ALWAYS_END : ns / SECOND_NS;
}

int facts_add_inventory (store_t *store, const char *cluster,
                         capacity_t *capacity, gl_error_t *error)
{
    layout_t *layout = facts_inventory (store, cluster, error);
    struct gpus *gpus;
    layout_snapshot_t snapshot;
    size_t cursor = 0;

    if (!layout)
        return -1;
    gpus = xcalloc (1, sizeof (*gpus));
    while (layout_next (layout, &cursor, &snapshot)) {
        node_inventory_t inventory
            = {.cluster = snapshot.cluster,
               .node = snapshot.node,
               .period = {seconds_of (snapshot.snapshot),
                          seconds_of (layout_until (layout, &snapshot))},
               .gpu = gpus->gpu};
        if (!take_gpus (gpus, &snapshot))
            continue;
        inventory.gpu_count = gpus->count;
        capacity_add_inventory (capacity, &inventory);
    }
    free (gpus);
    layout_close (layout);
    return 0;
}

/* --- one device of a segment --------------------------------------------- */

static const layout_device_t *find_device (const layout_snapshot_t *snapshot,
                                           int64_t gres_index, const char *uuid)
{
    if (gres_index >= 0)
        return layout_device (snapshot, gres_index);
    for (size_t i = 0; i < snapshot->count; i++) {
        const layout_device_t *d = &snapshot->device[i];
        if (!strcmp (d->slice[0] ? d->slice : d->gpu, uuid))
            return d;
    }
    return NULL;
}

/* A whole GPU is only what says so: one that is cut into slices is none. */
static const char *profile_of (const layout_device_t *d)
{
    if (d->profile[0])
        return d->profile;
    return !d->slice[0] && d->partitioned == 0 ? "" : NULL;
}

/* Slices that are held cannot be cut anew: a snapshot of the segment's start
 * tells, or one that came a little late. Not any later one: what a day was
 * counted as must not depend on what comes days after it. */
void facts_inventory_tell (layout_t *layout, const segment_t *s,
                           const char *node, int64_t gres_index,
                           const char *uuid, allocated_device_t *held)
{
    const int64_t last = segment_end (s) - 1;
    const int64_t late = s->time_start + INVENTORY_LATE_SECONDS;
    const int64_t moments[] = {s->time_start, late < last ? late : last};
    const layout_device_t *d = NULL;
    layout_snapshot_t snapshot;

    for (size_t i = 0; i < GL_ARRAY_SIZE (moments) && !d; i++)
        if (layout_at (layout, s->cluster, node, moments[i] * SECOND_NS,
                       &snapshot))
            d = find_device (&snapshot, gres_index, uuid);
    if (!d)
        return;
    held->gres_type = known (d->gres_type);
    held->profile = profile_of (d);
    held->model = known (d->model);
}
