/*
 * results.h: report results, from the store: the charges of jobs as statements have them,
 * and the units that they produced (results/results_report.h).
 */
#ifndef GL_ANALYSIS_RESULTS_H
#define GL_ANALYSIS_RESULTS_H

#include "report/report.h"
#include "store/store.h"
#include "usage/query.h"

/* report_free() it. The query is of full months. */
int results_make (store_t *store, const report_query_t *query,
                  report_t **ret_report, gl_error_t *error);

#endif /* !GL_ANALYSIS_RESULTS_H */
