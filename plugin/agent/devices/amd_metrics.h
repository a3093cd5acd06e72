/*
 * amd_metrics.h: the table of measurements that the amdgpu driver gives for a
 * GPU in the file `gpu_metrics`.
 *
 * Sources: the kernel's drivers/gpu/drm/amd/include/kgd_pp_interface.h (layouts
 * of versions 1.0 to 1.9, units), pm/swsmu/smu13/aldebaran_ppt.c (the second die
 * of an MI200), pm/swsmu/smu_cmn.h (1.9 is packed; an attribute is a 64-bit
 * encoding and then its values), and docs.kernel.org/gpu/amdgpu/thermal.html.
 * Only numbers are taken from there: offsets, sizes, bits.
 *
 * The table begins with its size and its version. The agent reads 1.1 to 1.9;
 * versions 2 and 3 belong to graphics inside processors. All bits of a value set
 * means that the GPU does not have it. Pure.
 */
#ifndef GL_AGENT_AMD_METRICS_H
#define GL_AGENT_AMD_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's files have at most a page. */
#define AMD_METRICS_SIZE 8192
#define AMD_PARTITIONS_MAX 8
#define AMD_RESIDENCIES 5

/* DEVICE_UNKNOWN: the table does not have it. */
typedef struct {
    unsigned format; /* 0: no table, or one that is broken */
    unsigned content;
    int64_t energy;   /* millijoules */
    int64_t activity; /* hundredths of a percent */
    int64_t power;    /* milliwatts */
    int64_t clock;    /* MHz, the mean of its dies */
    int64_t throttle; /* RECORD_THROTTLE_*; up to version 1.5 */
    /* from 1.6 on: counters that grow while a limit lowers the clock */
    uint64_t residency[AMD_RESIDENCIES];
    bool residency_known;
    int64_t
        partition_activity[AMD_PARTITIONS_MAX]; /* as activity; 1.6 to 1.8 */
} amd_metrics_t;

/* Reads a table; `bytes` may be anything. */
void amd_metrics_read (const void *bytes, size_t size, amd_metrics_t *ret);

/* Why the clock was lowered between two tables of one GPU, RECORD_THROTTLE_*;
 * for versions with counters. DEVICE_UNKNOWN if one has none. */
int64_t amd_metrics_throttle (const amd_metrics_t *before,
                              const amd_metrics_t *now);

#endif /* !GL_AGENT_AMD_METRICS_H */
