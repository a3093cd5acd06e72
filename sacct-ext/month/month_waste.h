/*
 * month_waste.h: what a month that is closed keeps of waste (waste/waste_report.h), from the
 * store: so its page of waste never changes.
 */
#ifndef GL_MONTH_MONTH_WASTE_H
#define GL_MONTH_MONTH_WASTE_H

#include "ledger/bill.h"
#include "site/site.h"
#include "store/store.h"

/* From the facts of the month `name`, at the prices of `bill` (NULL: it has none), as BILL_WASTE
 * and BILL_WASTEFUL_JOBS of `out`. month_waste() reads them. */
int month_waste_compute (store_t *store, const site_t *site, period_t month,
                         const char *name, const bill_t *bill, bill_t *out,
                         gl_error_t *error);

#endif /* !GL_MONTH_MONTH_WASTE_H */
