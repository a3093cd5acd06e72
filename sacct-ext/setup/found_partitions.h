/*
 * found_partitions.h: which partitions of slurm.conf the nodes of a pool are in.
 *
 * Partitions share nodes, so they make no pools. But an administrator who sees that some
 * nodes of a pool are only in the partition of the group that bought them can divide it.
 */
#ifndef GL_SETUP_FOUND_PARTITIONS_H
#define GL_SETUP_FOUND_PARTITIONS_H

#include "base/error.h"
#include "setup/found_pools.h"
#include "setup/slurm_conf.h"

/* Adds to `partitions` of each pool a text for each partition with nodes of it, in the
 * order of the file: "partition gpu: all nodes", "partition smith: 2 of 8 nodes,
 * AllowAccounts=smith"; and "1 of 8 nodes in no partition". An error names the line of
 * slurm.conf. */
int found_partitions_add (const slurm_conf_t *conf, found_pools_t *found,
                          gl_error_t *error);

#endif /* !GL_SETUP_FOUND_PARTITIONS_H */
