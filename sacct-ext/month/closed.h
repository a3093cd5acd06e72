/*
 * closed.h: report chargeback of closed months (statement/closed_report.h), where
 * the query can be answered from their rows.
 */
#ifndef GL_CLOSED_H
#define GL_CLOSED_H

#include "report/report.h"
#include "store/store.h"
#include "usage/query.h"

/* 1: the period is whole closed months, and *ret_report is made of their rows
 * alone; 0: it is not, or rows do not have what is asked for; -1. */
int closed_charges (store_t *store, const report_query_t *query,
                    report_t **ret_report, gl_error_t *error);

/* To a report that is made of today's facts: which months of its period are
 * closed, and by how much today's facts differ from what was closed; and
 * what the open month is charged for closed ones. */
int closed_note (store_t *store, const report_query_t *query, report_t *report,
                 gl_error_t *error);

#endif /* !GL_CLOSED_H */
