/* bill_private.h: what bill.c and bill_cost.c share. */
#ifndef GL_LEDGER_BILL_PRIVATE_H
#define GL_LEDGER_BILL_PRIVATE_H

#include "ledger/bill.h"

/* The lines of the pool's cost book, and the remainder of its disposals. */
int bill_take_costs (bill_t *bill, const pool_month_t *pm, const char *month,
                     int digits, gl_error_t *error);

#endif /* !GL_LEDGER_BILL_PRIVATE_H */
