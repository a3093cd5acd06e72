/*
 * month_retained.h: what closing a month keeps of its facts, in addition to its bill, usage and rows
 * of jobs: waste (waste/waste_report.h) and the demand by hour (report/plan.h), so that these
 * pages of a closed month never change. month_retained() of month.h reads it.
 */
#ifndef GL_MONTH_MONTH_RETAINED_H
#define GL_MONTH_MONTH_RETAINED_H

#include "ledger/bill.h"
#include "site/site.h"
#include "store/store.h"

/* From the facts of the month `name`, at the prices of `bill` (NULL: it has none), as BILL_WASTE,
 * BILL_WASTEFUL_JOBS and BILL_DEMAND of `out`. One pass. */
int month_retained_compute (store_t *store, const site_t *site, period_t month,
                        const char *name, const bill_t *bill, bill_t *out,
                        gl_error_t *error);

/* A list of the closed month that the period is, up to where its facts went then, if that was closed
 * with the configuration of the site; else false in *ret_retained. */
int month_retained_same (store_t *store, const site_t *site, period_t period,
                     bill_list_t list, bill_t *out, bool *ret_retained,
                     gl_error_t *error);

#endif /* !GL_MONTH_MONTH_RETAINED_H */
