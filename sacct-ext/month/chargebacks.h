/*
 * chargebacks.h: report chargeback from the store. Months that are closed come from
 * their closings, with the configuration that they were closed with, others from facts
 * and today's configuration; each month's own integers are added up.
 */
#ifndef GL_MONTH_CHARGEBACKS_H
#define GL_MONTH_CHARGEBACKS_H

#include "month/month.h"
#include "report/heading.h"
#include "store/store.h"

/* By team first, and where teams have institutions by institution before it. `had`: a month of
 * it that was read before (NULL: none), an open one with month_how_t.compared: its bill is
 * taken where it is all of the period. Yours: report_free(). */
int chargebacks_make (store_t *store, const report_query_t *query,
                      month_t *had, report_t **ret_report,
                      gl_error_t *error);

#endif /* !GL_MONTH_CHARGEBACKS_H */
