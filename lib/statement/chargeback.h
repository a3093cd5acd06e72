/*
 * chargeback.h: who pays what, and how the charges and what nobody is charged
 * for add up to the cost of the pools.
 *
 * Pure: made of the bills of the period's months and of the usage of the period.
 * Whether a month is closed makes no difference but for the note that says so.
 */
#ifndef GL_STATEMENT_CHARGEBACK_H
#define GL_STATEMENT_CHARGEBACK_H

#include "ledger/bill.h"
#include "report/usage_report.h"

typedef struct {
    const char *month; /* in which corrections and manual credits of the bill are
                          billed; NULL: it has none */
    const bill_t *bill;
    const char *note; /* of a closed month: a sentence that says which closing it is;
                         else NULL */
} chargeback_bill_t;

/* Rows of closed months have these keys and filters. */
bool chargeback_of_bills (const report_query_t *query);

/* What bill_take_pool() has to group by for this query: bill_keys and the query's
 * keys and filters. Yours to free. */
char *chargeback_keys (const report_query_t *query);

/* What is given is borrowed for the call. NULL with an error is a defect of the
 * calculation. */
report_t *chargeback_make (const report_query_t *query,
                           const chargeback_bill_t *bills, size_t count,
                           usage_report_t *usage, gl_error_t *error);

#endif /* !GL_STATEMENT_CHARGEBACK_H */
