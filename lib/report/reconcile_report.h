/*
 * reconcile_report.h: what the store's segments differ in from slurmdbd, from the
 * nodes' records and from kept rollups, each difference with its cause and what
 * to do; and how the differences add up. Pure.
 */
#ifndef GL_REPORT_RECONCILE_REPORT_H
#define GL_REPORT_RECONCILE_REPORT_H

#include "evidence/reconcile.h"
#include "report/heading.h"

/* A table or a page shows so many rows; the other formats show all. */
#define RECONCILE_ROWS_SHOWN 50

/* `without_database`: why the sides of slurmdbd are left out, or NULL. */
report_t *reconcile_report_make (const report_query_t *query,
                                 reconcile_t *reconcile,
                                 const char *without_database);

#endif /* !GL_REPORT_RECONCILE_REPORT_H */
