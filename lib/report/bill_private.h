/* bill_private.h: what bill.c and bill_text.c share: members of rows and
 * their likes by their tables. */
#ifndef GL_REPORT_BILL_PRIVATE_H
#define GL_REPORT_BILL_PRIVATE_H

#include "report/bill.h"

void bill_cost_init (bill_cost_t *cost);
void bill_cost_clear (bill_cost_t *cost);
void bill_pool_init (bill_pool_t *pool);
void bill_pool_clear (bill_pool_t *pool);
void bill_entitlement_init (bill_entitlement_t *entitlement);
void bill_entitlement_clear (bill_entitlement_t *entitlement);

#endif /* !GL_REPORT_BILL_PRIVATE_H */
