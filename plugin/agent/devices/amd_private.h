/*
 * amd_private.h: the source of AMD GPUs, shared by scanning and sampling.
 *
 * It reads files of the amdgpu driver; docs/decisions/amd-sysfs.md says which,
 * and why no library. Names of files and of their values: the kernel's
 * Documentation/gpu/amdgpu (thermal.rst, driver-misc.rst), amdkfd/kfd_topology.c
 * (nodes, links and their properties) and amdkfd/kfd_process.c (processes).
 */
#ifndef GL_AGENT_AMD_PRIVATE_H
#define GL_AGENT_AMD_PRIVATE_H

#include <stdbool.h>

#include "amd_metrics.h"
#include "source.h"
#include "sysfs.h"

#define AMD_TOPOLOGY "class/kfd/kfd/topology"
#define AMD_PROCESSES "class/kfd/kfd/proc"
#define AMD_NONE SIZE_MAX

/* gfx_target_version of those GPUs whose energy has a known unit. */
#define AMD_GFX90A 90010 /* MI200 series: of two dies or of one */

/* A physical GPU: a PCI function. */
typedef struct {
    size_t device;  /* of the inventory */
    char path[64];  /* "bus/pci/devices/0000:c1:00.0" */
    char hwmon[96]; /* directory below that, "" without */
    int64_t target; /* gfx_target_version */
    int64_t node;   /* of the topology; of its first partition */
    int64_t limit;  /* of its power, milliwatts; of a package for both dies */
    /* The die that counts the energy of both, of two in one package: its own
     * index, the other's, or AMD_NONE if nobody can tell. */
    size_t counter;
    bool paired; /* the counter is that of two dies */
    bool lost;
    amd_metrics_t metrics; /* of the last look */
    amd_metrics_t before;  /* of the one before that */
} amd_card_t;

/* Of a device of the inventory. */
typedef struct {
    size_t card; /* AMD_NONE: it was lost */
    int64_t id;  /* gpu_id: its name among processes */
    int64_t partition;
} amd_slot_t;

typedef struct {
    source_t source;
    char sys[256];
    char proc[256];
    inventory_t inventory; /* result of the last scan */
    amd_slot_t *slot;      /* of each of its devices */
    amd_card_t *card;
    size_t card_count;
    int64_t generation; /* of the topology, at the scan */
    int64_t scanned;
} amd_t;

int amd_scan (source_t *source, int64_t now, inventory_t *ret_inventory,
              gl_error_t *error);
void amd_forget (amd_t *amd);

/* Reads the measurements of a card. False: it does not answer. */
bool amd_card_look (const amd_t *amd, amd_card_t *card);

/* Sets memory_used of partitions, and processes of all devices. */
void amd_look_at_processes (const amd_t *amd, sample_t *samples);

#endif /* !GL_AGENT_AMD_PRIVATE_H */
