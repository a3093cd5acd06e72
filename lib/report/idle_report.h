/*
 * idle_report.h: who had GPUs that the agent's idle rule spoke of: long below
 * the threshold with memory in use, or long without any process.
 *
 * Only what was measured: a device of which nothing is known is not in it.
 * Collects segments, then makes the report. Pure.
 */
#ifndef GL_REPORT_IDLE_REPORT_H
#define GL_REPORT_IDLE_REPORT_H

#include "report/heading.h"
#include "usage/usage.h"

typedef struct idle_report idle_report_t;

/* The query must outlive it. */
idle_report_t *idle_report_new (const report_query_t *query);
void idle_report_free (idle_report_t *idle); /* accepts NULL */

/* In the order (cluster, id_job, time_submit). */
void idle_report_add (idle_report_t *idle, const segment_t *segment,
                      const project_t *project,
                      const segment_evidence_t *evidence);

report_t *idle_report_make (idle_report_t *idle);

#endif /* !GL_REPORT_IDLE_REPORT_H */
