/*
 * settled.h: settlement (ledger/settlement.h) of computed months, with what it
 * needs of the store: balances of the months before, and the charges of a part of
 * a month. -1: the store cannot be read.
 */
#ifndef GL_MONTH_SETTLED_H
#define GL_MONTH_SETTLED_H

#include "base/error.h"
#include "ledger/bill.h"
#include "site/site.h"
#include "store/store.h"

/* Balances that are known already, of the same site: those of all months before
 * `end`. Zeros: none are. */
typedef struct {
    int64_t end;
    bill_t *bill; /* BILL_BALANCES; NULL: there are none */
} balances_t;

void balances_clear (balances_t *balances);
/* Those of a settled bill as well, whose last month ends so. */
void balances_add (balances_t *balances, const bill_t *bill, int64_t end);

/* To the computed bill of a period: the rows and balances of its months, each
 * once. A month of which the period lacks the beginning is left as it is; one of
 * which it lacks the end is settled up to there. Balances
 * that `known` (may be NULL) does not have are computed. */
int settle_months (store_t *store, const site_t *site, period_t period,
                   const balances_t *known, bill_t *bill, gl_error_t *error);

/* bills_compute(), settled: what today's facts and this configuration make of
 * the calendar months that the period touches, whatever was closed. */
int settled_bill (store_t *store, const site_t *site, period_t period,
                  const balances_t *known, bill_t **ret_bill,
                  gl_error_t *error);

#endif /* !GL_MONTH_SETTLED_H */
