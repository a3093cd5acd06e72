/*
 * plan.h: what was measured, in addition to what owning and renting cost: utilization,
 * break-even, cumulative cash, how many GPUs to own, how many will be needed
 * (docs/guides/decisions.md, F6, F9, F11, F15, F16).
 *
 * Measured are hours in which jobs had GPUs, from the store; a demand that had
 * to wait, or went elsewhere, is in no figure. What a section assumes and leaves
 * out stands in its help and in the notes. Pure.
 */
#ifndef GL_REPORT_PLAN_H
#define GL_REPORT_PLAN_H

#include "report/heading.h"
#include "usage/capacity.h"

typedef struct plan plan_t;

/* The query must outlive it; it filters by pool and cluster alone. Looked at are
 * whole hours of its period, up to as-of. `against`, `max_age`: as in
 * breakeven_query_t. */
plan_t *plan_new (const report_query_t *query, const char *against,
                  int max_age);
/* Accepts NULL. */
void plan_free (plan_t *plan);

/* The time of which facts are wanted. */
period_t plan_period (const plan_t *plan);
void plan_add (plan_t *plan, const segment_t *segment,
               const suspension_t *suspensions, size_t count,
               const project_t *project, const segment_evidence_t *evidence);
/* For node events and reservations. */
capacity_t *plan_capacity (plan_t *plan);

/* After the last fact. -1 as breakeven_report_make(). */
int plan_make (plan_t *plan, report_t **ret_report, gl_error_t *error);

#endif /* !GL_REPORT_PLAN_H */
