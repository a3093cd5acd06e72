/*
 * device.h: what a node's devices are, and what one look at them shows.
 *
 * A device is what Slurm can allocate: a whole GPU, or a MIG slice (a compute
 * instance within a GPU instance). Plain data, owned by the inventory; an empty
 * text and DEVICE_UNKNOWN mean "not known", which is never 0.
 */
#ifndef GL_AGENT_DEVICE_H
#define GL_AGENT_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_UNKNOWN INT64_MIN
#define DEVICE_NONE SIZE_MAX
/* More GPUs and slices than any node has: a bound on what a driver or a file
 * can make us keep. */
#define DEVICES_MAX 512

typedef struct {
    /* identity */
    char uuid[96];     /* "GPU-..." or "MIG-...", as the driver writes it */
    char old_uuid[96]; /* of a slice: "MIG-GPU-<uuid>/gi/ci", as older drivers
                          and Slurm write it; else "" */
    size_t gpu;        /* index in the inventory of the physical GPU: its own
                          for a whole GPU */
    bool slice;

    /* of the physical GPU */
    char model[96];
    char pci[32];
    int64_t minor;        /* N of /dev/nvidiaN */
    int64_t memory_total; /* MiB, of the slice or GPU */
    int64_t mig_mode;     /* 1 on, 0 off */
    int64_t power_limit;  /* milliwatts; of the GPU */

    /* of a slice */
    int64_t gpu_instance;
    int64_t compute_instance;
    int64_t gpu_instance_minor;     /* nvidia-caps device of the instance */
    int64_t compute_instance_minor; /* the same of the compute instance */
    char profile[32];               /* "1g.10gb" */
    int64_t compute_slices;
    int64_t memory_slices;
    int64_t placement_start; /* in memory slices */
    int64_t placement_size;

    /* Slurm's name for it, filled by mapping.h */
    int64_t gres_index;
    char gres_type[64];
    char file[128];
    char problem[256]; /* why Slurm's name is not known; "" */
} device_t;

typedef struct {
    char source[16]; /* "nvml", "replay" */
    char driver[64];
    char boot_id[37];
    device_t *device; /* GPUs in the driver's order, each followed by its
                         slices */
    size_t count;
} inventory_t;

/* Frees the array; the struct is empty then. */
void inventory_clear (inventory_t *inventory);
/* The same devices, in the same places and with the same names. */
bool inventory_equal (const inventory_t *a, const inventory_t *b);

/* One look at one device. */
typedef struct {
    bool present;        /* false: fell off the bus, or went with its layout */
    int64_t utilization; /* hundredths of a percent, 0..10000 */
    int64_t memory_used; /* MiB */
    int64_t power;       /* milliwatts; physical GPUs only */
    int64_t energy;      /* millijoules since the driver was loaded; physical
                            GPUs only */
    int64_t clock;       /* MHz of the multiprocessors; physical GPUs only */
    int64_t throttle;    /* NVML's bits; physical GPUs only */
    int64_t processes;
} sample_t;

#endif /* !GL_AGENT_DEVICE_H */
