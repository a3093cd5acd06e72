/*
 * facts_shards.h: how many shards a GPU of a node had. First as Slurm's event rows
 * tell it: gres/shard and gres/gpu of the node in its latest row that began
 * before and within the registration that was in force, or in that
 * registration, if it is of one node. Totals of several nodes tell nothing of
 * one of them. Otherwise as the node's inventory tells it, which has the lines of
 * its slurmd.
 */
#ifndef GL_FACTS_SHARDS_H
#define GL_FACTS_SHARDS_H

#include "base/error.h"
#include "site/segment.h"
#include "site/site.h"
#include "store/store.h"

typedef struct facts_shards facts_shards_t;

/* Of a cluster, or (NULL) of all. NULL with an error. */
facts_shards_t *facts_shards_open (store_t *store, const char *cluster,
                                   gl_error_t *error);
void facts_shards_close (facts_shards_t *shards); /* accepts NULL */

/* For a segment that holds shards and no GPU: sets segment->shards, which is
 * valid until the next call. Others are left alone. */
void facts_shards_tell (facts_shards_t *shards, segment_t *segment);

/* A node of which accounting and the configuration do not say the same. */
typedef struct {
    const char *cluster;
    const char *node;
    const site_pool_t *pool; /* its shards_per_gpu is in force */
    uint64_t shards;         /* gres/shard and gres/gpu of the node */
    uint64_t gpus;
} shards_difference_t;

/* Calls back for each such node, as of `instant`. Reads events only if a pool has
 * shards_per_gpu. */
int facts_shards_differences (store_t *store, const site_t *site,
                              int64_t instant,
                              void (*each) (const shards_difference_t *found,
                                            void *arg),
                              void *arg, gl_error_t *error);

/* "g1: Slurm has 8 shards for 2 GPUs, `shards_per_gpu` of pool a says 3". Yours
 * to free. */
char *facts_shards_difference_text (const shards_difference_t *found);

#endif /* !GL_FACTS_SHARDS_H */
