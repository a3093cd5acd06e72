/*
 * utilization.h: what the pools' GPUs were doing: allocated, reserved and not used,
 * idle, planned down, down, unknown, and that these are all of it.
 *
 * By keys that capacity has (pool, gpu, cluster, node, month, day, hour) every
 * class is shown; by others (user, account, ...) or filtered by others only
 * what was allocated, in addition to the capacity that it is a share of. Time that
 * has not come has no capacity: a period that goes beyond the facts of all clusters
 * ends where they end. Pure.
 */
#ifndef GL_REPORT_UTILIZATION_H
#define GL_REPORT_UTILIZATION_H

#include "report/heading.h"
#include "usage/capacity.h"

typedef struct utilization utilization_t;

/* What the query borrows must outlive it. */
utilization_t *utilization_new (const report_query_t *query);
/* The query, with the period that is counted; borrowed. */
const report_query_t *utilization_query (const utilization_t *utilization);
/* Accepts NULL. */
void utilization_free (utilization_t *utilization);

void utilization_add (utilization_t *utilization, const segment_t *segment,
                      const suspension_t *suspensions, size_t count,
                      const project_t *project,
                      const segment_evidence_t *evidence);
/* For node events and reservations. */
capacity_t *utilization_capacity (utilization_t *utilization);
/* Instead of all facts: all of some days. */
void utilization_add_rollup (utilization_t *utilization,
                             const rollup_t *rollup);

/* After the last fact. */
report_t *utilization_make (utilization_t *utilization);

#endif /* !GL_REPORT_UTILIZATION_H */
