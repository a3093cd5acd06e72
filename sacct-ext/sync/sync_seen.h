/*
 * sync_seen.h: tells which stretches of time slurmdbd shows just as it did at
 * the last reading, so that the rows in them need not be put again.
 *
 * Closed segments fall by their end into stretches of ten minutes. Of each
 * stretch a reading makes a number and two sums: of hashes of the keys, and of
 * hashes of all that a row says, after ids have become names, so that a renamed
 * account or user counts as a change. Sums do not depend on the order of rows.
 *
 * Memory: 56 bytes a stretch. Pure.
 */
#ifndef GL_SYNC_SEEN_H
#define GL_SYNC_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site/segment.h"
#include "store/store.h"

#define SYNC_SEEN_SECONDS 600
/* No more than that are remembered: four weeks. */
#define SYNC_SEEN_MAX 4032

typedef struct sync_seen sync_seen_t;

/* The stretches that have a part of [from, to); the latest of them, should they
 * be too many. */
sync_seen_t *sync_seen_new (int64_t from, int64_t to);
/* Accepts NULL. */
void sync_seen_free (sync_seen_t *seen);
/* The time that they cover. */
int64_t sync_seen_start (const sync_seen_t *seen);
int64_t sync_seen_end (const sync_seen_t *seen);

/* Nothing has been added yet. */
void sync_seen_rewind (sync_seen_t *seen);
/* A segment of the reading; one that did not end in the time covered is left
 * alone. */
void sync_seen_add (sync_seen_t *seen, const segment_t *segment);
/* A segment that the last reading did not have in its stretch. */
void sync_seen_fresh (sync_seen_t *seen, const segment_t *segment);

/* What the reading made of the stretch that begins at `start`. */
store_seen_t sync_seen_of (const sync_seen_t *seen, int64_t start);
/* Whether it is as `before`. */
bool sync_seen_same (const sync_seen_t *seen, const store_seen_t *before);
/* Whether all keys of `before` are there still, besides the fresh ones. */
bool sync_seen_kept (const sync_seen_t *seen, const store_seen_t *before);

#endif /* !GL_SYNC_SEEN_H */
