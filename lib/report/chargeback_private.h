/*
 * chargeback_private.h: parts of the chargeback report that stand alone.
 */
#ifndef GL_REPORT_CHARGEBACK_PRIVATE_H
#define GL_REPORT_CHARGEBACK_PRIVATE_H

#include "report/billing.h"
#include "report/report.h"

/* A block that says what each team pays of the pools' months, and what it would
 * under other idle policies. -1: a defect. */
int chargeback_other (report_t *report, const report_query_t *query,
                      const billing_t *billing);

#endif /* !GL_REPORT_CHARGEBACK_PRIVATE_H */
