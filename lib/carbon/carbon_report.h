/*
 * carbon_report.h: report carbon: energy and CO2e of jobs (carbon/carbon.h), by the keys
 * of the query; and what the same load would have caused some hours later.
 *
 * Collects segments, then makes the report. Memory holds the groups, and the energy of
 * each hour where the grid has a series. Pure.
 */
#ifndef GL_CARBON_CARBON_REPORT_H
#define GL_CARBON_CARBON_REPORT_H

#include "carbon/carbon.h"
#include "report/heading.h"

typedef struct carbon_report carbon_report_t;

/* Groups by keys of ledger/slice_keys.h; -1 with an error that names them. */
int carbon_report_check (const report_query_t *query, gl_error_t *error);

/* The query, which has been checked, and its site must outlive it. `series`: of entries
 * of `grid` that have one. */
carbon_report_t *carbon_report_new (const report_query_t *query,
                                    carbon_series_f series, void *arg);
void carbon_report_free (carbon_report_t *carbon); /* accepts NULL */

/* In the order (cluster, id_job, time_submit). */
int carbon_report_add (carbon_report_t *carbon, const segment_t *segment,
                       const suspension_t *suspensions, size_t count,
                       const project_t *project,
                       const segment_evidence_t *evidence, gl_error_t *error);

report_t *carbon_report_make (carbon_report_t *carbon);

#endif /* !GL_CARBON_CARBON_REPORT_H */
