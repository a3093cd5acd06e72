/*
 * sync_digest.h: says which stretches of time slurmdbd shows just as it did at
 * the last reading, so that the rows in them need not be put again.
 *
 * Closed segments fall by their end into stretches of ten minutes. Of each
 * stretch a reading makes a number and two sums: of hashes of the keys, and of
 * hashes of all that a row says, after ids have become names, so that a renamed
 * account or user counts as a change. Sums do not depend on the order of rows.
 *
 * Memory: 56 bytes a stretch. Pure.
 */
#ifndef GL_SYNC_DIGEST_H
#define GL_SYNC_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site/segment.h"
#include "store/store.h"

#define SYNC_SEEN_SECONDS 600
/* No more than that are remembered: four weeks. */
#define SYNC_SEEN_MAX 4032

typedef struct sync_digest sync_digest_t;

/* The stretches that have a part of [from, to); the latest of them, should they
 * be too many. */
sync_digest_t *sync_digest_new (int64_t from, int64_t to);
/* Accepts NULL. */
void sync_digest_free (sync_digest_t *seen);
/* The time that they cover. */
int64_t sync_digest_start (const sync_digest_t *seen);
int64_t sync_digest_end (const sync_digest_t *seen);

/* Nothing has been added yet. */
void sync_digest_rewind (sync_digest_t *seen);
/* A segment of the reading; one that did not end in the time covered is left
 * alone. */
void sync_digest_add (sync_digest_t *seen, const segment_t *segment);
/* A segment that the last reading did not have in its stretch. */
void sync_digest_fresh (sync_digest_t *seen, const segment_t *segment);

/* What the reading made of the stretch that begins at `start`. */
store_digest_t sync_digest_of (const sync_digest_t *seen, int64_t start);
/* Whether it is as `before`. */
bool sync_digest_same (const sync_digest_t *seen, const store_digest_t *before);
/* Whether all keys of `before` are there still, in addition to the fresh ones.
 */
bool sync_digest_kept (const sync_digest_t *seen, const store_digest_t *before);

#endif /* !GL_SYNC_DIGEST_H */
