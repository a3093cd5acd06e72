/*
 * facts_shards.h: how many shards a GPU of a node had, as Slurm's event rows
 * tell it: gres/shard and gres/gpu of the node in its latest row that began
 * before and within the registration that was in force, or in that
 * registration, if it is of one node. Totals of several nodes tell nothing of
 * one of them.
 */
#ifndef GL_FACTS_SHARDS_H
#define GL_FACTS_SHARDS_H

#include "base/error.h"
#include "site/segment.h"
#include "store/store.h"

typedef struct facts_shards facts_shards_t;

/* Of a cluster, or (NULL) of all. NULL with an error. */
facts_shards_t *facts_shards_open (store_t *store, const char *cluster,
                                   gl_error_t *error);
void facts_shards_close (facts_shards_t *shards); /* accepts NULL */

/* For a segment that holds shards and no GPU: sets segment->shards, which is
 * valid until the next call. Others are left alone. */
void facts_shards_tell (facts_shards_t *shards, segment_t *segment);

#endif /* !GL_FACTS_SHARDS_H */
