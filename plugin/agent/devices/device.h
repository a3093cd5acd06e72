/*
 * device.h: the devices of a node, and one sample of them, whoever made them.
 *
 * A device is what Slurm can allocate: a whole GPU, or a slice of one: a MIG
 * slice (a compute instance within a GPU instance) or a compute partition of an
 * AMD Instinct. Plain data, owned by the inventory; an empty text and
 * DEVICE_UNKNOWN mean "unknown", which is never 0. What a vendor does not have
 * is unknown, too.
 */
#ifndef GL_AGENT_DEVICE_H
#define GL_AGENT_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/record.h"

#define DEVICE_UNKNOWN INT64_MIN
#define DEVICE_NONE SIZE_MAX
/* More GPUs and slices than any node has: a limit for the memory that a driver
 * or a file can use. */
#define DEVICES_MAX 512

typedef struct {
    /* identity */
    char uuid[96];     /* "GPU-..." or "MIG-...", as the driver writes it */
    char old_uuid[96]; /* of a MIG slice: "MIG-GPU-<uuid>/gi/ci", as older
                          drivers and Slurm write it; else "" */
    char source[16];   /* who reads it: "nvml", "amdgpu", "level_zero",
                          "replay" */
    char driver[64];   /* its version */
    size_t gpu;        /* index in the inventory of the physical GPU: its own
                          for a whole GPU */
    bool slice;

    /* of the physical GPU */
    char model[96];
    char pci[32];
    int64_t minor;        /* of its device file: N of /dev/nvidiaN, renderDN */
    int64_t memory_total; /* MiB, of the slice or GPU */
    int64_t partitioned;  /* 1: cut into slices, even if none is there; 0 */
    int64_t power_limit;  /* milliwatts; of the GPU */

    /* of a slice; the first four of MIG alone */
    int64_t gpu_instance;
    int64_t compute_instance;
    int64_t gpu_instance_minor;     /* nvidia-caps device of the instance */
    int64_t compute_instance_minor; /* the same of the compute instance */
    char profile[32];               /* "1g.10gb", "cpx" */
    int64_t compute_slices;
    int64_t memory_slices;
    int64_t placement_start; /* in memory slices */
    int64_t placement_size;

    /* Slurm's name for it, filled by mapping.h */
    int64_t gres_index;
    int64_t shards; /* gres/shard of it; unknown without an index */
    char gres_type[64];
    char file[128];
    char card[128]; /* another file that means the device, "/dev/dri/card0" */
    char problem[256]; /* why Slurm's name is not known; "" */
} device_t;

typedef struct {
    char boot_id[37];
    device_t *device; /* GPUs in the drivers' order, each followed by its
                         slices */
    size_t count;
} inventory_t;

/*
 * The members of a device but `gpu` and `slice`, in the order in which a replay
 * file has them: one table for comparing, for records and for replay files.
 */
typedef enum {
    DEVICE_TEXT,
    DEVICE_NUMBER,
    DEVICE_YES_NO,    /* 1, 0 */
    DEVICE_PLACEMENT, /* the start; the next member is the size */
} device_form_t;

enum { DEVICE_OF_GPU = 1, DEVICE_OF_SLICE = 2 };

typedef struct {
    const char *word; /* its key in a replay file; NULL: none */
    unsigned where;   /* DEVICE_OF_*: which lines there may have the key */
    device_form_t form;
    size_t offset;
    size_t size;           /* of a text */
    record_field_t record; /* 0: not in records, or by a rule of its own */
} device_field_t;

extern const device_field_t device_fields[];
extern const size_t device_field_count;

/* Room for one more at the end, unknown; NULL at DEVICES_MAX. Pointers into
 * the inventory move. */
device_t *inventory_add (inventory_t *inventory);
/* A device without any known value. */
void device_unknown (device_t *device);
/* Copies the properties that a slice shares with its GPU: model, PCI address,
 * driver and others. */
void device_inherit (device_t *slice, const device_t *gpu);
/* "MIG-GPU-<uuid>/gi/ci"; "" when a part is unknown. */
void device_form_old_uuid (device_t *slice, const device_t *gpu);
/* Yours to clear; not for inventory_add(). */
inventory_t inventory_copy (const inventory_t *inventory);
/* Frees the array; the struct is empty then. */
void inventory_clear (inventory_t *inventory);
/* The same devices, in the same places and with the same names. */
bool inventory_equal (const inventory_t *a, const inventory_t *b);
/* A GPU that does not answer is still in the node, and a job may have it:
 * appends the GPUs of `last`, with their slices, that the inventory lacks.
 * Returns how many devices they are. */
size_t inventory_keep_lost (inventory_t *inventory, const inventory_t *last);

/*
 * An inventory as records: one for each device, sharing the snapshot's number
 * (the moment it was taken), part 1..parts. A node without devices is one
 * record with parts 0. lib/record/layout.h reads them.
 */
/* How many records an inventory is: at least 1. */
size_t inventory_record_count (const inventory_t *inventory);
/* Fill record `part` (0 .. count - 1): kind, key, stamp = snapshot and all
 * fields but cluster and node, which the caller sets. -1 when the system gives
 * no random key. */
int inventory_record (const inventory_t *inventory, size_t part,
                      int64_t snapshot, record_t *ret_record,
                      gl_error_t *error);

/* One sample of one device. */
typedef struct {
    bool present;        /* false: fell off the bus, or went with its layout */
    int64_t utilization; /* hundredths of a percent, 0..10000 */
    int64_t memory_used; /* MiB */
    int64_t power;       /* milliwatts; physical GPUs only */
    int64_t energy;      /* a counter of millijoules; physical GPUs only */
    int64_t clock;       /* MHz of the processors; physical GPUs only */
    int64_t throttle;    /* RECORD_THROTTLE_*; physical GPUs only */
    int64_t processes;
} sample_t;

/* A sample without any value, of a device that is present or not. */
static inline sample_t sample_unknown (bool present)
{
    return (sample_t){.present = present,
                      .utilization = DEVICE_UNKNOWN,
                      .memory_used = DEVICE_UNKNOWN,
                      .power = DEVICE_UNKNOWN,
                      .energy = DEVICE_UNKNOWN,
                      .clock = DEVICE_UNKNOWN,
                      .throttle = DEVICE_UNKNOWN,
                      .processes = DEVICE_UNKNOWN};
}

#endif /* !GL_AGENT_DEVICE_H */
