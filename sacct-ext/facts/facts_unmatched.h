/*
 * facts_unmatched.h: what came of the join, by calendar day: above all what
 * nodes saw and accounting does not have.
 *
 * A day's counts depend on the facts of that day alone, so that the days of any
 * period add up to it: usage without a segment in its day counts where its id
 * lies between the least and the greatest JobId that held a GPU in that day;
 * attempts count on days on which their job held one.
 */
#ifndef GL_FACTS_UNMATCHED_H
#define GL_FACTS_UNMATCHED_H

#include "base/zone.h"
#include "evidence/evidence.h"

typedef struct loose unmatched_t;

/* Of the period, cut into days of the zone; as one day if `zone` is NULL. */
unmatched_t *unmatched_new (const zone_t *zone, period_t period);
/* Accepts NULL. */
void unmatched_free (unmatched_t *unmatched);

/* Everything in the order of (cluster, JobId). The segments of the job that the
 * evidence is of; none: the store has none. */
void unmatched_segment (unmatched_t *unmatched, const segment_t *segment,
                        bool recorded);
void unmatched_usage (unmatched_t *unmatched, const segment_t *segments,
                      size_t count, const device_usage_t *usage,
                      int64_t from_ms, int64_t to_ms, evidence_reason_t reason);
void unmatched_attempt (unmatched_t *unmatched, const segment_t *segments,
                        size_t count, const attempt_t *attempt);

/* After the last of them. */
void unmatched_sum (const unmatched_t *unmatched, evidence_counts_t *counts);
typedef void (*unmatched_f) (int64_t instant, const evidence_counts_t *counts,
                             void *arg);
void unmatched_each (const unmatched_t *unmatched, unmatched_f callback,
                     void *arg);

#endif /* !GL_FACTS_UNMATCHED_H */
