/*
 * layout.h: which devices a node had, and when: the reading side of inventory
 * records.
 *
 * Records of kind inventory go in, in any order and any number of times; out
 * comes, for a node and a moment, the snapshot in force then: the last
 * complete one at or before it. That answers what accounting hides: that index
 * 3 of node m1 was a 1g.10gb slice in May.
 *
 * Bounded: LAYOUT_SNAPSHOTS_MAX snapshots and 512 devices in each. One thread.
 */
#ifndef GL_RECORD_LAYOUT_H
#define GL_RECORD_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/record.h"

#define LAYOUT_DEVICES_MAX 512
#define LAYOUT_SNAPSHOTS_MAX 1000000
/* Absent numbers. */
#define LAYOUT_UNKNOWN INT64_MIN

typedef struct layout layout_t;

/* One device of a snapshot; texts are "" and numbers LAYOUT_UNKNOWN where they
 * are not known. Texts live as long as the layout_t. */
typedef struct {
    const char *gpu;   /* UUID of the physical GPU */
    const char *slice; /* UUID; "" for a whole GPU */
    const char *model;
    const char *profile;
    const char *gres_type;
    const char *device_file;
    const char *problem;
    const char *pci;
    const char *device_source; /* "nvml", "amdgpu", "level_zero", "replay" */
    const char *driver;
    int64_t gres_index; /* Slurm's; unknown: not allocatable, or `problem` */
    int64_t minor;
    int64_t memory_total;
    int64_t partitioned;
    int64_t gpu_instance;
    int64_t compute_instance;
    int64_t compute_slices;
    int64_t memory_slices;
    int64_t placement_start;
    int64_t placement_size;
    int64_t power_limit;
    int64_t shards;
} layout_device_t;

/* The devices are borrowed until the next layout_add or layout_close. */
typedef struct {
    const char *cluster;
    const char *node;
    const char *boot_id;
    int64_t snapshot; /* nanoseconds since 1970 */
    const layout_device_t *device;
    size_t count; /* 0: the node said that it has none */
} layout_snapshot_t;

layout_t *layout_open (void);
void layout_close (layout_t *layout); /* accepts NULL */

/* Take one record; those of other kinds are ignored, and so is a part that
 * contradicts its snapshot. -1: a bound was reached. */
int layout_add (layout_t *layout, const record_t *record, gl_error_t *error);

/* The snapshot in force at `instant` (nanoseconds since 1970). False: none
 * complete is known up to then. */
bool layout_at (layout_t *layout, const char *cluster, const char *node,
                int64_t instant, layout_snapshot_t *ret_snapshot);

/* Until when it was in force: the next complete snapshot of the node, INT64_MAX
 * when there is none. */
int64_t layout_until (layout_t *layout, const layout_snapshot_t *snapshot);

/* The device of Slurm's index in a snapshot; NULL if it is not known. */
const layout_device_t *layout_device (const layout_snapshot_t *snapshot,
                                      int64_t gres_index);

/* Every snapshot, by cluster, node and time: start with *cursor = 0; false at
 * the end. */
bool layout_next (layout_t *layout, size_t *cursor,
                  layout_snapshot_t *ret_snapshot);

#endif /* !GL_RECORD_LAYOUT_H */
