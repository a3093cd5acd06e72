/*
 * closed_report.h: report chargeback of months that are closed: from their rows
 * alone, so that it gives the same bytes whatever is learned or configured later.
 *
 * Rows have no jobs and nothing that was measured: these cells are empty.
 * Corrections of other months that are billed in them are no charges of their
 * time: they have a column of their own (brought.h). What is given is borrowed for
 * the call; the report is the caller's to free. Nothing here fails. Pure.
 */
#ifndef GL_STATEMENT_CLOSED_REPORT_H
#define GL_STATEMENT_CLOSED_REPORT_H

#include "ledger/bill.h"
#include "report/heading.h"

typedef struct {
    const char *month;
    const bill_t *bill;
    const char *note; /* which closing it is, a sentence */
} closed_month_t;

/* Keys and filters that rows have. */
bool closed_report_answers (const report_query_t *query);

/* The query's period is these months, which are whole; its clusters and its
 * currency are those of the closings. */
report_t *closed_report_make (const report_query_t *query,
                              const closed_month_t *months, size_t count);

/* To a report of months that are not closed, which is made of facts: what their
 * bills bring besides (brought.h). Nothing where there is nothing, or where the query
 * filters by what rows of a bill do not have. */
void closed_report_corrections (report_t *report, const report_query_t *query,
                                const closed_month_t *months, size_t count);

#endif /* !GL_STATEMENT_CLOSED_REPORT_H */
