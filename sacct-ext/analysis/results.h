/*
 * results.h: report results, from the store: the charges of jobs as statements have them,
 * and the units that they produced (results/results_report.h).
 */
#ifndef GL_ANALYSIS_RESULTS_H
#define GL_ANALYSIS_RESULTS_H

#include "facts/facts.h"
#include "month/month.h"
#include "report/explain.h"
#include "report/report.h"
#include "results/results_report.h"
#include "store/store.h"
#include "usage/query.h"

/* report_free() it. The query is of full months. */
int results_make (store_t *store, const report_query_t *query,
                  report_t **ret_report, gl_error_t *error);

/* The same in lines. */
int results_lines (store_t *store, const report_query_t *query,
                   results_line_f callback, void *arg, gl_error_t *error);

/* The units of the jobs of a month, for who has their shares of its charges already: what
 * was reported and counted, which each fact of the month adds to jobs with results_fact().
 * produced_units_free() them. The query's site must outlive them. */
int results_units (store_t *store, const report_query_t *query,
                   const month_t *month, produced_units_t **ret_units,
                   gl_error_t *error);
/* Some job may say units in a label; else those of jobs with reports and counters are all
 * (produced_units_any()), and without these no fact is needed. */
int results_labelled (store_t *store, bool *ret_labelled, gl_error_t *error);
void results_fact (produced_units_t *units, const report_query_t *query,
                   const fact_t *fact);

/* Adds what the job of each segment produced in each month, and what a unit cost, as
 * the report has it; nothing where it has no units. */
int results_explain (store_t *store, const site_t *site, explain_t *explain,
                     gl_error_t *error);

#endif /* !GL_ANALYSIS_RESULTS_H */
