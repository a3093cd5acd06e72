/*
 * usage_report.h: which devices were allocated to whom and for how long, and how much of that
 * the nodes have seen.
 *
 * Collects segments, then makes the report. Pure. Give segments in the order
 * (cluster, id_job, time_submit).
 */
#ifndef GL_REPORT_USAGE_REPORT_H
#define GL_REPORT_USAGE_REPORT_H

#include "report/heading.h"
#include "usage/usage.h"

typedef struct usage_report usage_report_t;

/* The query must outlive it. */
usage_report_t *usage_report_new (const report_query_t *query);
/* Accepts NULL. */
void usage_report_free (usage_report_t *usage);

/* `evidence`: what the nodes saw of it, or NULL. */
void usage_report_add (usage_report_t *usage, const segment_t *segment,
                       const suspension_t *suspensions, size_t count,
                       const project_t *project,
                       const segment_evidence_t *evidence);

/* Instead of segments: all of some days. */
void usage_report_add_rollup (usage_report_t *usage, const rollup_t *rollup);

/* What came of the join, to be told in notes; stays the caller's. */
void usage_report_unmatched (usage_report_t *usage,
                             const evidence_counts_t *counts);

/* The rows' cells, with the query's keys, filters and period; borrowed. */
const usage_cell_t *usage_report_cells (usage_report_t *usage,
                                        size_t *ret_count);

/* The usage columns in addition to the keys; with money (chargeback), which fills the
 * rest itself, they are fewer by default. */
typedef struct {
    size_t first; /* column of MEASURE_JOBS; the others follow in order */
    size_t cpu_hours; /* 0: the site counts none */
} usage_columns_t;
usage_columns_t usage_report_columns (report_t *report, const site_t *site,
                                      bool with_money);
void usage_report_put (usage_report_t *usage, report_t *report,
                       usage_columns_t columns, const usage_cell_t *cell);
/* Fills the line of totals, adds notes about what is unknown, coverage. */
void usage_report_finish (usage_report_t *usage, report_t *report,
                          usage_columns_t columns);

/* The one cell of everything that passes the filters; borrowed. */
const usage_cell_t *usage_report_whole (usage_report_t *usage);

report_t *usage_report_make (usage_report_t *usage);

#endif /* !GL_REPORT_USAGE_REPORT_H */
