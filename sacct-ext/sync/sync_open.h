/*
 * sync_open.h: the segments of a cluster that the store has as open, so that a
 * sync can tell which of them slurmdbd did not mention.
 *
 * Memory: 24 bytes an open segment, pending ones included.
 */
#ifndef GL_SYNC_OPEN_H
#define GL_SYNC_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/store.h"

typedef struct sync_open sync_open_t;

/* Outside a transaction. */
sync_open_t *sync_open_load (store_t *store, const char *cluster,
                             gl_error_t *error);
/* Accepts NULL. */
void sync_open_free (sync_open_t *open);

/* Nothing has been mentioned yet. */
void sync_open_rewind (sync_open_t *open);
/* This segment has been mentioned; whether it is one of them. */
bool sync_open_seen (sync_open_t *open, uint64_t id_job, int64_t time_submit);
/* Job ids of up to `size` segments not mentioned so far, from *at on, which
 * moves; 0 at the end. Start with *at = 0. */
size_t sync_open_unseen (const sync_open_t *open, size_t *at, uint64_t *ret_ids,
                         size_t size);
/* How many have not been mentioned. */
size_t sync_open_count (const sync_open_t *open);

#endif /* !GL_SYNC_OPEN_H */
