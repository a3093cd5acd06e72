/*
 * amd_tree.h: a tree of files as the amdgpu driver shows them below /sys, for
 * tests of its reader. The tables of measurements are the kernel's structs of
 * kgd_pp_interface.h, declared here on their own.
 */
#ifndef GL_TESTS_SUPPORT_AMD_TREE_H
#define GL_TESTS_SUPPORT_AMD_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AMD_TREE_UNKNOWN UINT64_MAX

/* What a table of measurements says; all of a member's bits set: not there. */
typedef struct {
    unsigned format, content; /* 1.1, 1.3, 1.4, ... */
    uint64_t energy;          /* 2^-16 J */
    uint16_t percent, watts, mhz;
    uint64_t throttle;     /* bits, as the version has them */
    uint32_t residency[5]; /* 1.6 and later */
    uint32_t partition[8]; /* percent of each; 1.6 to 1.8 */
} amd_table_t;

/* A GPU, or a partition of one: a node of the topology. */
typedef struct {
    unsigned node; /* number of the topology's node */
    unsigned id;   /* gpu_id */
    uint64_t unique;
    unsigned bus;       /* 0000:BUS:00.0 */
    unsigned partition; /* of the GPU at that place */
    unsigned device_id;
    unsigned target; /* gfx_target_version */
    unsigned render; /* N of renderDN; cardM is N - 128 */
    unsigned dies;
    uint64_t memory; /* bytes of the node's memory banks */
} amd_node_t;

/* Writes ROOT/PATH with the text; makes the directories. */
void amd_tree_text (const char *root, const char *text, const char *fmt, ...)
    __attribute__ ((format (printf, 3, 4)));
void amd_tree_bytes (const char *root, const void *bytes, size_t size,
                     const char *fmt, ...)
    __attribute__ ((format (printf, 4, 5)));
void amd_tree_remove (const char *root, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));

/* The node of a processor, number 0, and the generation of the topology. */
void amd_tree_begin (const char *root, unsigned generation);
/* The topology's node. */
void amd_tree_node (const char *root, const amd_node_t *node);
/* A link of the topology between two nodes, as wide as that (MB/s). */
void amd_tree_link (const char *root, unsigned from, unsigned to,
                    unsigned bandwidth);
/* The PCI function of a GPU, with a card and render file, hwmon and memory. */
void amd_tree_card (const char *root, const amd_node_t *node, unsigned percent,
                    uint64_t microwatts, uint64_t used, uint64_t total);
/* The platform device of a partition behind the first. */
void amd_tree_partition (const char *root, const amd_node_t *node);

/* The bytes of a table: how many. */
size_t amd_table_bytes (const amd_table_t *table, void *ret_bytes);
void amd_tree_table (const char *root, unsigned bus, const amd_table_t *table);

/* A process with so many bytes on a GPU, and a queue on it or none. */
void amd_tree_process (const char *root, unsigned pid, unsigned id,
                       uint64_t bytes, bool queue);

#endif /* !GL_TESTS_SUPPORT_AMD_TREE_H */
