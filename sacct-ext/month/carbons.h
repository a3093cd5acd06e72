/*
 * carbons.h: report carbon (carbon/carbon_report.h) from the store and the files of
 * `grid`. Full closed months have the configuration of their closing, and so its
 * factors.
 */
#ifndef GL_MONTH_CARBONS_H
#define GL_MONTH_CARBONS_H

#include "report/report.h"
#include "store/store.h"
#include "usage/query.h"

/* Yours: report_free(). */
int carbons_make (store_t *store, const report_query_t *query,
                  report_t **ret_report, gl_error_t *error);

#endif /* !GL_MONTH_CARBONS_H */
