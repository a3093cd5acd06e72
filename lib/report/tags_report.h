/*
 * tags_report.h: report tags: GPU time without a project, or without the labels that the
 * site asks for (`policy.labels`), what it cost, and the tags that were changed.
 *
 * The amount is the time at the list price of its pool, QOS and slice, bill_time_exact(). Give
 * it month after month: the month's bill, then all segments that touch it. Pure.
 */
#ifndef GL_REPORT_TAGS_REPORT_H
#define GL_REPORT_TAGS_REPORT_H

#include "ledger/bill.h"
#include "report/heading.h"

typedef struct tags_report tags_report_t;

/* Groups by keys of ledger/slice_keys.h; -1 with an error that names them. */
int tags_report_check (const report_query_t *query, gl_error_t *error);

/* The query, which has been checked, must outlive it. */
tags_report_t *tags_report_new (const report_query_t *query);
void tags_report_free (tags_report_t *tags); /* accepts NULL */

/* `query`: that of the report, put to the month; it must outlive the report, the bill
 * the month. */
void tags_report_begin_month (tags_report_t *tags, const report_query_t *query,
                              const bill_t *bill);
/* In the order (cluster, id_job, time_submit). */
int tags_report_add (tags_report_t *tags, const segment_t *segment,
                     const project_t *project, gl_error_t *error);
void tags_report_end_month (tags_report_t *tags);
/* A tag that somebody changed, in the order of clusters and jobs. */
void tags_report_retag (tags_report_t *tags, const retag_t *retag);

report_t *tags_report_make (tags_report_t *tags);

#endif /* !GL_REPORT_TAGS_REPORT_H */
