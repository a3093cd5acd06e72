/*
 * wastes.h: report waste (waste/waste_report.h), report rightsize
 * (waste/rightsize.h) and report tags (report/tags_report.h) from the store, prices and capacity of each
 * month as it is billed. A closed month has the waste of its closing where that has what is asked
 * for (waste_rows_answer()); else jobs are as accounting and agents have them now.
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

/* What a month wasted, by cause (waste_report_sums()): small, so that the page of the next month
 * has it. All zero: of none. */
typedef struct {
    char month[MONTH_SIZE];
    cube_t *sums;
} wastes_sums_t;

void wastes_sums_clear (wastes_sums_t *sums);
/* Of the month of the query; nothing where nothing is known of it. `had`: it was read before;
 * NULL: it was not. */
int wastes_sums (store_t *store, const report_query_t *query, month_t *had,
                 wastes_sums_t *ret_sums, gl_error_t *error);

/* How the page is made; NULL: with none of this, next to the month before where the query is of
 * one month that is over. Borrowed. */
typedef struct {
    month_t *had; /* a month of the query that was read before; NULL: none */
    const wastes_also_t *also;
    size_t also_count;
    const wastes_sums_t
        *before; /* the month before, with sums where it is compared */
    wastes_sums_t *ret_sums; /* gets those of the query's month */
} wastes_how_t;

/* The query is of full calendar months, of which the last may go on. Yours: report_free(). */
int wastes_make (store_t *store, const report_query_t *query,
                 const wastes_how_t *how, report_t **ret_report,
                 gl_error_t *error);

/* What was wasted, in lines (waste_report_lines()). The query, of full months, has
 * filters. */
int wastes_lines (store_t *store, const report_query_t *query,
                  waste_line_f callback, void *arg, gl_error_t *error);

int rightsizes_make (store_t *store, const report_query_t *query,
                     report_t **ret_report, gl_error_t *error);

int tags_make (store_t *store, const report_query_t *query,
               report_t **ret_report, gl_error_t *error);

#endif /* !GL_ANALYSIS_WASTES_H */
