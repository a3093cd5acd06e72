/*
 * summaries.h: report summary (statement/summary.h) from the store: the month, the
 * twelve months before it, budgets and usage. A closed month's page is made of
 * what was closed.
 */
#ifndef GL_MONTH_SUMMARIES_H
#define GL_MONTH_SUMMARIES_H

#include "report/report.h"
#include "store/store.h"
#include "usage/query.h"

/* The query is a calendar month without filters. Yours: report_free(). */
int summaries_make (store_t *store, const report_query_t *query,
                    report_t **ret_report, gl_error_t *error);

#endif /* !GL_MONTH_SUMMARIES_H */
