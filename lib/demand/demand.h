/*
 * demand.h: report demand: how long jobs waited for GPUs, how many GPUs were in use and
 * waited for in each hour, and how much will be wanted in the next 30 and 90 days.
 *
 *   waits     A job waits from the time from which it could start (segment_wait()) to its
 *             start, or to its leaving the queue; one that still waits counts up to the
 *             end of the period. So time that it was on hold, or that it waited for another
 *             job, is no wait. Median and 95th percentile (nearest rank) are of the full
 *             waits of the jobs that started in the period or wait at its end; GPU hours
 *             waiting are GPUs x the part of the wait within the period, cancelled jobs
 *             included. Tasks of an array are jobs of their own.
 *   demand    GPUs that jobs had or waited for, in each full hour of the period, of all
 *             pools and by pool. A request without a type waits for the cluster's pool,
 *             where there is only one.
 *   forecast  GPU hours that jobs had, by pool and day (planning/seasonal.h), from the first
 *             day on of which the facts do not have all.
 *
 * GPUs are physical ones: a slice counts its weight, at the start of the job; a device of
 * unknown weight, and a requested one whose type no pool names, counts as a GPU. Pure.
 */
#ifndef GL_DEMAND_DEMAND_H
#define GL_DEMAND_DEMAND_H

#include "report/plan.h"
#include "usage/rollup.h"

typedef struct demand demand_t;

/* The query filters by cluster alone. Both must outlive it; `asked` has passed
 * plan_check(). */
demand_t *demand_new (const report_query_t *query, const plan_query_t *asked);
/* Accepts NULL. */
void demand_free (demand_t *demand);

/* The full hours that are looked at, up to as-of. */
period_t demand_period (const demand_t *demand);
/* All segments that had GPUs in the period or started later, and all that never
 * started; those of one job by submission. */
void demand_add (demand_t *demand, const segment_t *segment);

/* The full days of which usage and capacity are wanted: up to the end of the facts, 52
 * weeks at most; and of those before `first`, the first fact, only the last ones, of which
 * capacity that was down is counted. */
period_t demand_history (const demand_t *demand, int64_t first);
void demand_add_day (demand_t *demand, const rollup_t *day);

/* After the last fact. Yours: report_free(). */
report_t *demand_make (demand_t *demand);
/* How long jobs waited, of such a report, in a sentence: for another page. NULL: there were no
 * jobs. Yours to free. */
char *demand_waits_text (const report_t *report);

#endif /* !GL_DEMAND_DEMAND_H */
