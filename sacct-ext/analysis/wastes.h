/*
 * wastes.h: report waste (waste/waste_report.h), report rightsize
 * (waste/rightsize.h) and report tags (report/tags_report.h) from the store: jobs as accounting and agents have them now,
 * prices and capacity of each month as it is billed.
 */
#ifndef GL_ANALYSIS_WASTES_H
#define GL_ANALYSIS_WASTES_H

#include "facts/facts.h"
#include "month/month.h"
#include "report/report.h"
#include "store/store.h"
#include "usage/query.h"
#include "waste/waste_report.h"

/* Another analysis, which takes each fact, too, so that these are read once. */
typedef struct {
    fact_f take;
    void *arg;
} wastes_also_t;

/* The query is of full calendar months, of which the last may go on. `had`: one of them
 * that was read before; NULL: none. Yours: report_free(). */
int wastes_make (store_t *store, const report_query_t *query, month_t *had,
                 const wastes_also_t *also, size_t also_count,
                 report_t **ret_report, gl_error_t *error);

/* What was wasted, in lines (waste_report_lines()). The query, of full months, has
 * filters. */
int wastes_lines (store_t *store, const report_query_t *query,
                  waste_line_f callback, void *arg, gl_error_t *error);

int rightsizes_make (store_t *store, const report_query_t *query,
                     report_t **ret_report, gl_error_t *error);

int tags_make (store_t *store, const report_query_t *query,
               report_t **ret_report, gl_error_t *error);

#endif /* !GL_ANALYSIS_WASTES_H */
