/*
 * waste_explain.h: what a job wasted, as a step of its explanation (report/explain.h):
 * the causes, hours and prices of report waste (waste/waste.h). Pure.
 */
#ifndef GL_WASTE_WASTE_EXPLAIN_H
#define GL_WASTE_WASTE_EXPLAIN_H

#include "report/explain.h"
#include "report/heading.h"

/* A step for the time of the segment in the month of `query`. Amounts are at the average
 * list price of a GPU hour of the month's bill, each rounded by itself. Nothing where the
 * segment has no GPU then. */
int waste_explain (explain_segment_t *to, const report_query_t *query,
                   const char *month, const bill_t *bill,
                   const segment_t *segment, const suspension_t *suspensions,
                   size_t count, const project_t *project,
                   const segment_evidence_t *evidence, gl_error_t *error);

#endif /* !GL_WASTE_WASTE_EXPLAIN_H */
