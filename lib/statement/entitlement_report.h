/*
 * entitlement_report.h: report entitlements: what each team has bought of a
 * pool, what it used of it and what became of the rest, month by month and to
 * date.
 *
 * Of each row, in GPU-seconds exactly,
 *
 *   bought + rollover_in = used + used_reserved + unused
 *
 * and unused is rolled over, expired, or, while the month lasts, left. In money,
 * used is what was not due because of it, as on the bill, and unused its hours
 * at the pool's price without QOS. Below the rows a block for each entitlement
 * adds its months up. Pure.
 */
#ifndef GL_STATEMENT_ENTITLEMENT_REPORT_H
#define GL_STATEMENT_ENTITLEMENT_REPORT_H

#include "ledger/bill.h"
#include "report/heading.h"

typedef struct entitlement_report entitlement_report_t;

/* The query's period is whole months; it filters by team and pool alone, and must
 * outlive the report. */
entitlement_report_t *entitlement_report_new (const report_query_t *query);
/* Accepts NULL. */
void entitlement_report_free (entitlement_report_t *report);

/* Months in their order. `state`: "closed", "open", ...; borrowed. */
void entitlement_report_add (entitlement_report_t *report, const bill_t *bill,
                             const char *state);

report_t *entitlement_report_make (entitlement_report_t *report);

#endif /* !GL_STATEMENT_ENTITLEMENT_REPORT_H */
