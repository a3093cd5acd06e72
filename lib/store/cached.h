/*
 * cached.h: results computed from the facts of a period and of the time before
 * it, of all clusters, cached until one of these facts changes.
 *
 * The cache is in the table of the rollups (store.h) and may be emptied at any
 * time. The caller owns the format of the body, and a digest that names every
 * input other than facts. A write that changes a fact deletes, in its own
 * transaction, all cached results of periods that end after the earliest moment
 * concerned. For rollups that is the changed time itself; here these changes
 * count as well:
 *   - the end of an open segment: from its start on, since the result may
 *     depend on how it ended;
 *   - a segment that slurmdbd has again: from its start on;
 *   - a reading of a meter: from its start on.
 */
#ifndef GL_STORE_CACHED_H
#define GL_STORE_CACHED_H

#include "base/buffer.h"
#include "store/store.h"

/* In a transaction. Replaces what is kept of stretches that this one overlaps;
 * `length` is not 0. */
int store_put_cached (store_t *store, period_t stretch,
                      const uint8_t digest[STORE_DIGEST_SIZE], const void *body,
                      size_t length, gl_error_t *error);

/* 1 with the body onto `ret_body`; 0: nothing is kept of exactly this stretch
 * under this digest. */
int store_get_cached (store_t *store, period_t stretch,
                      const uint8_t digest[STORE_DIGEST_SIZE],
                      buffer_t *ret_body, gl_error_t *error);

#endif /* !GL_STORE_CACHED_H */
