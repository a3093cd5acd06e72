/* bill_private.h: what bill.c, bill_cost.c and bill_text.c share: members of rows
 * and their likes by their tables, and the lines of the cost book. */
#ifndef GL_LEDGER_BILL_PRIVATE_H
#define GL_LEDGER_BILL_PRIVATE_H

#include "ledger/bill.h"

void bill_cost_init (bill_cost_t *cost);
void bill_cost_clear (bill_cost_t *cost);
void bill_pool_init (bill_pool_t *pool);
void bill_pool_clear (bill_pool_t *pool);
void bill_entitlement_init (bill_entitlement_t *entitlement);
void bill_entitlement_clear (bill_entitlement_t *entitlement);

/* The lines of the pool's cost book, and the remainder of its disposals. */
int bill_take_costs (bill_t *bill, const pool_month_t *pm, const char *month,
                     int digits, gl_error_t *error);

#endif /* !GL_LEDGER_BILL_PRIVATE_H */
