/*
 * services.h: charges of other services (site/service.h), from the store onto the bills
 * of months (ledger/bill.h), as postings of kind service. -1: the store cannot be read.
 */
#ifndef GL_SERVICES_H
#define GL_SERVICES_H

#include "ledger/bill.h"
#include "month/periods.h"
#include "site/site.h"
#include "store/store.h"

/* Those in force of the months that the period touches, onto the bill; rows of these
 * months that lie outside the period are marked so. A row of an account is owed by the
 * team that owns the account on its day. Months before go-live have none. */
int services_add (store_t *store, const site_t *site, period_t period,
                  bill_t *bill, gl_error_t *error);

/* The begin of the first month that the ledger bills: closed with charges, or open. Of
 * an earlier one no page would show a row. */
int services_since (store_t *store, const site_t *site, int64_t *ret_start,
                    gl_error_t *error);

/* How many rows of this import are, or were before it, of closed months, and the month
 * in which they are corrections. `was`: the day that each row had; NULL: the same, or
 * none. */
int services_late (store_t *store, const site_t *site, uint64_t import,
                   const service_t *rows, char *const *was, size_t count,
                   size_t *ret_late, char ret_open[MONTH_SIZE],
                   gl_error_t *error);

#endif /* !GL_SERVICES_H */
