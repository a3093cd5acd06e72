/*
 * adjustments.h: prior-period adjustments in the chargeback of a month:
 * corrections of closed months, and manual credits and corrections.
 *
 * None of it is part of what the month's pools cost, so it is in neither charge
 * nor credit, but in a column of its own, `correction`, so that of each month
 *
 *   charge + credit + correction = what statements say before taxes
 *
 * in every row, and below the rows a block says what it is for. Charges of other
 * services (BILL_SERVICE) are the same in a column of their own, `service`. Pure.
 */
#ifndef GL_STATEMENT_ADJUSTMENTS_H
#define GL_STATEMENT_ADJUSTMENTS_H

#include <stdbool.h>

#include "ledger/bill.h"
#include "report/heading.h"

typedef struct adjustments adjustments_t;

/* The query must outlive it, and the bills that are added. */
adjustments_t *adjustments_new (const report_query_t *query);
adjustments_t *adjustments_of_services (const report_query_t *query);
/* Accepts NULL. */
void adjustments_free (adjustments_t *adjustments);
/* The bill of `month` (NULL: each row's own): its adjustments that pass the
 * filters. */
void adjustments_add (adjustments_t *adjustments, const bill_t *bill, const char *month);

/* There is none. */
bool adjustments_are_none (const adjustments_t *adjustments);

/* To a report whose rows and totals are made: their amounts in `column`, rows for
 * who has none yet, and the block; nothing where there is none. Where rows of
 * a bill do not have the query's keys, the block alone. The rows want to be
 * sorted then. */
void adjustments_put (const adjustments_t *adjustments, report_t *report, size_t column,
                  size_t currency);

#endif /* !GL_STATEMENT_ADJUSTMENTS_H */
