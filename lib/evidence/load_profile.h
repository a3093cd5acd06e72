/*
 * load_profile.h: when energy was used: that of a pool's held GPUs, by their own
 * counters, for each quarter of an hour.
 *
 * A quarter of an hour is the interval in which energy is metered and settled
 * (Regulation (EU) 2019/943, article 8 (4); the demand interval of most US
 * tariffs), and every zone's hours of today begin and end with one. It is the
 * finest that is kept: within one, energy was used evenly, whether it is told by
 * segments or by rollups. Millijoules, whole: the quarters of a stretch add up to
 * it, however it is cut. Quarters are those of UTC. Pure.
 */
#ifndef GL_EVIDENCE_LOAD_PROFILE_H
#define GL_EVIDENCE_LOAD_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/zone.h"
#include "site/segment.h"

#define LOAD_SECONDS 900

/* One pool's. Quarters that follow one another; the first and last are not 0. */
typedef struct {
    char *pool;
    int64_t start;       /* of the first */
    uint64_t *energy_mj; /* one for each; 0: nothing was measured in it */
    size_t count;
} pool_load_t;

/* Zeroed before use; load_profile_clear after. */
typedef struct {
    pool_load_t *pool; /* by name */
    size_t pool_count;
} load_profile_t;

void load_profile_clear (load_profile_t *profile);

/* The pool's; NULL: nothing was measured. Borrowed until the next change. */
const pool_load_t *load_profile_pool (const load_profile_t *profile,
                                      const char *pool);

/* To the quarter that holds the instant. */
void load_profile_add (load_profile_t *profile, const char *pool,
                       int64_t instant, uint64_t energy_mj);
/* What `usage` measured in [from_ms, to_ms) of it; what lies outside of `within`
 * counts with its first or last moment. */
void load_profile_stretch (load_profile_t *profile, const char *pool,
                           const device_usage_t *usage, int64_t from_ms,
                           int64_t to_ms, period_t within);
void load_profile_join (load_profile_t *profile, const load_profile_t *other);

/* Of the quarters that begin in the period. */
uint64_t pool_load_sum (const pool_load_t *load, period_t period);
/* The index of the first quarter that begins at the instant or later; at most
 * count. */
size_t pool_load_index (const pool_load_t *load, int64_t instant);

#endif /* !GL_EVIDENCE_LOAD_PROFILE_H */
