/*
 * rollups_private.h: shared by the files of the rollups:
 *
 *   rollups.c          what they are computed of, for both sides
 *   rollups_refresh.c  the writer's side: days, then months, are kept
 *   rollups_read.c     the reader's side: what is kept, and what is not, in order
 */
#ifndef GL_ROLLUPS_PRIVATE_H
#define GL_ROLLUPS_PRIVATE_H

#include "facts/rollups.h"

/* Segments of one chunk of days: each takes some 40 bytes for every node that
 * it holds devices of (usage/capacity.h), for the time of the chunk. */
#define CHUNK_SEGMENTS 75000
#define CHUNK_DAYS_MAX 31

/* More segments than a chunk may have: take fewer days. */
#define ROLLUPS_TOO_MANY 1

/* One chunk of days of a cluster up to its as-of, in their order; how many segments
 * it had is told in any case. One day may have any number; -1, or ROLLUPS_TOO_MANY
 * of several days. */
int rollups_compute_chunk (const rollups_basis_t *basis, int64_t as_of,
                           period_t days, rollup_f callback, void *arg,
                           uint64_t *ret_segments, gl_error_t *error);

#endif /* !GL_ROLLUPS_PRIVATE_H */
