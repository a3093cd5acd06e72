/*
 * chargeback.h: who pays what, and how the charges and what nobody is charged
 * for add up to the cost of the pools.
 *
 * Pure: made of a computed billing (all segments of its months) and of the
 * usage of the period (usage_report.h, the same query).
 */
#ifndef GL_STATEMENT_CHARGEBACK_H
#define GL_STATEMENT_CHARGEBACK_H

#include "ledger/billing.h"
#include "report/usage_report.h"

/* NULL with an error is a defect of the calculation. */
report_t *chargeback_make (const report_query_t *query,
                           const billing_t *billing, usage_report_t *usage,
                           gl_error_t *error);

#endif /* !GL_STATEMENT_CHARGEBACK_H */
