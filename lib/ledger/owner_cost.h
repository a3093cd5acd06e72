/*
 * owner_cost.h: the rows of a month as the organisation that owns the cluster
 * pays for them. They are made of the rows by job and day (ledger/line_items.h)
 * and of the cost book's lines in the month's bill:
 *
 *   job, capacity  nothing is billed; `prepaid` is the hardware cost of the pool
 *                  and month that belongs to its GPU time
 *   cost           every other line of the cost book, once a month; disposals
 *                  that are in no charge are left out
 *   purchase       an asset in the month in which it comes into service: billed
 *                  units x price, and the same amount negative in `prepaid`; one
 *                  row for each of its funds, with that fund's share of the units
 *
 *   sum of billed + prepaid in a month and pool = the cost of the pool
 *   sum of billed of purchases = the prices of the assets
 *
 * Amounts have 10 decimals. Rows of statements (idle, credits, corrections,
 * taxes, rounding) are left out. Pure.
 */
#ifndef GL_LEDGER_OWNER_COST_H
#define GL_LEDGER_OWNER_COST_H

#include "ledger/line_items.h"

typedef struct owner_cost owner_cost_t;

/* `bill`: the month's, for its costs and pools. `site`: zone, and the assets.
 * Both must outlive it. */
owner_cost_t *owner_cost_new (const site_t *site, const bill_t *bill,
                              period_t month);
/* Accepts NULL. */
void owner_cost_free (owner_cost_t *owner_cost);

/* All rows of the month's detail. */
int owner_cost_add (owner_cost_t *owner_cost, const line_item_t *row,
                    line_item_f callback, void *arg, gl_error_t *error);
/* Then costs and purchases, by pool. */
int owner_cost_finish (owner_cost_t *owner_cost, line_item_f callback,
                       void *arg, gl_error_t *error);

#endif /* !GL_LEDGER_OWNER_COST_H */
