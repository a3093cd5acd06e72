/*
 * brought.h: what is billed in a month besides its own time, in its chargeback:
 * corrections of closed months, and manual credits and corrections.
 *
 * None of it is part of what the month's pools cost, so it is in neither charge
 * nor credit, but in a column of its own, `correction`, so that of each month
 *
 *   charge + credit + correction = what statements say before taxes
 *
 * in every row, and below the rows a block says what it is for. Pure.
 */
#ifndef GL_STATEMENT_BROUGHT_H
#define GL_STATEMENT_BROUGHT_H

#include <stdbool.h>

#include "ledger/bill.h"
#include "report/heading.h"

/* What a row of a bill says of a key; false: rows do not have it. Of the month it is
 * the one in which it is billed. */
bool brought_key (const bill_row_t *row, const char *month, key_id_t key,
                  const char **ret_text);
/* The row passes the filters of the query; those that rows do not have, none. */
bool brought_passes (const bill_row_t *row, const char *month,
                     const report_query_t *query);

typedef struct brought brought_t;

/* The query must outlive it, and the bills that are added. */
brought_t *brought_new (const report_query_t *query);
/* Accepts NULL. */
void brought_free (brought_t *brought);
/* The bill of `month`: its rows that are brought, and pass the filters. */
void brought_add (brought_t *brought, const bill_t *bill, const char *month);

/* To a report whose rows and totals are made: their amounts in `column`, rows for
 * who has none yet, and the block; nothing where nothing is brought. Where rows of
 * a bill do not have the query's keys, the block alone. The rows want to be
 * sorted then. */
void brought_put (const brought_t *brought, report_t *report, size_t column,
                  size_t currency);

#endif /* !GL_STATEMENT_BROUGHT_H */
