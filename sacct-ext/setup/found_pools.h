/*
 * found_pools.h: the pools of GPUs that slurm.conf suggests.
 *
 * Nodes with the same GPUs are one group. Each type of whole GPUs in a group is a pool,
 * and so are all slices of a group together: an administrator who has priced GPUs before
 * would begin like that. Names are those of the types.
 */
#ifndef GL_SETUP_FOUND_POOLS_H
#define GL_SETUP_FOUND_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "setup/slurm_conf.h"

typedef struct {
    char *name;
    char *nodes;            /* as Slurm writes them */
    text_list_t types;      /* of Slurm; "gpu": GPUs without a type */
    text_list_t partitions; /* setup/found_partitions.h */
    char *layout;           /* of the slices of a node; NULL: whole GPUs */
    const char *model;      /* of a table of models; NULL: unknown */
    bool
        needs_model; /* what its slices weigh depends on the model, which is unknown */
    int64_t gpus_per_node;
    int64_t cpus_per_node;   /* 0: unknown, or nodes differ */
    int64_t memory_per_node; /* MB; 0 likewise */
    uint64_t node_count;
} found_pool_t;

typedef struct {
    found_pool_t *pool;
    size_t count;
} found_pools_t;

/* *ret_found is yours to empty with found_pools_done(), also after an error, which names
 * the line of slurm.conf. */
int found_pools_read (const slurm_conf_t *conf, found_pools_t *ret_found,
                      gl_error_t *error);
void found_pools_done (found_pools_t *found);

#endif /* !GL_SETUP_FOUND_POOLS_H */
