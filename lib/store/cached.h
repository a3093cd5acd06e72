/*
 * cached.h: what was computed of a stretch of time from its facts and from
 * those before it, of all clusters, kept until one of these changes.
 *
 * A cache as rollups are (store.h), and beside them in their table: it may be
 * emptied at any time. The body is the caller's; so is the digest, which says
 * of what it was made beside facts. A put that changes what counts forgets, in
 * its own transaction, all that is kept of stretches that end after the
 * earliest moment concerned: for rollups the changed time is looked at, here
 * all that follows from it. Beside what forgets a rollup that are
 *   - the end of an open segment: from its start on, since what it comes to may
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
