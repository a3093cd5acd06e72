/*
 * bills.h: the bill of a month (report/bill.h), computed from the store.
 */
#ifndef GL_BILLS_H
#define GL_BILLS_H

#include "acct/site.h"
#include "base/error.h"
#include "report/bill.h"
#include "store/store.h"

/*
 * The bill of the calendar months that `period` touches, all clusters and pools,
 * the last month up to the latest as-of; as the facts in the store and the
 * configuration have it now, whatever was closed. Rollups answer where they can.
 */
int bills_compute (store_t *store, const site_t *site, period_t period,
                   bill_t **ret_bill, gl_error_t *error);

#endif /* !GL_BILLS_H */
