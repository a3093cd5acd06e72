/*
 * carbons.h: energy and CO2e of jobs (carbon/carbon_rows.h) from the store and the files
 * of `grid`: as rows of a month, and as report carbon.
 *
 * A closed month has the rows of its closing, which no configuration and no file changes
 * any more.
 */
#ifndef GL_MONTH_CARBONS_H
#define GL_MONTH_CARBONS_H

#include "ledger/bill.h"
#include "report/report.h"
#include "store/store.h"
#include "usage/query.h"

/* Computes the rows of a month from facts and configuration, as BILL_CARBON of the bill:
 * none, and nothing is read, where the configuration says nothing of energy. Rollups
 * answer where they can. -1 also if a file of `grid` cannot be read. */
int carbons_compute (store_t *store, const site_t *site, period_t month,
                     bill_t *bill, gl_error_t *error);

/* `within`: how many hours later jobs are tried; 0: CARBON_WITHIN, which closed months
 * have. Another one, part of a month, and filters by keys that rows do not have are
 * computed from the facts, of closed months with the configuration of their closing.
 * Yours: report_free(). */
int carbons_make (store_t *store, const report_query_t *query, int64_t within,
                  report_t **ret_report, gl_error_t *error);

#endif /* !GL_MONTH_CARBONS_H */
