/*
 * waste_report.h: report waste: what was wasted in some months (waste/waste.h), by
 * cause, by the keys of the query, and the jobs that wasted most.
 *
 * Give it month after month: the month's bill, then all segments that touch it, or the rows
 * that its closing retained. Memory holds the groups and a few jobs, not the segments. Pure.
 */
#ifndef GL_WASTE_WASTE_REPORT_H
#define GL_WASTE_WASTE_REPORT_H

#include "report/heading.h"
#include "waste/waste.h"

typedef struct waste_report waste_report_t;

/* Jobs that are listed for each cause. */
#define WASTE_JOBS 10

/* Groups by keys that a waste_t has; -1 with an error that names them. */
int waste_report_check (const report_query_t *query, gl_error_t *error);

/* The query, which has been checked, must outlive it. */
waste_report_t *waste_report_new (const report_query_t *query);
void waste_report_free (waste_report_t *waste); /* accepts NULL */

/* `query`: that of the report, put to the month: its site and its part of the period. It
 * must outlive the report, the bill the month. */
void waste_report_begin_month (waste_report_t *waste,
                               const report_query_t *query, const char *month,
                               const bill_t *bill);
/* In the order (cluster, id_job, time_submit). */
int waste_report_add (waste_report_t *waste, const segment_t *segment,
                      const suspension_t *suspensions, size_t count,
                      const project_t *project,
                      const segment_evidence_t *evidence, gl_error_t *error);
void waste_report_end_month (waste_report_t *waste);

/* A month as rows that its closing keeps: BILL_WASTE, without capacity, and BILL_WASTEFUL_JOBS of
 * `out`. Of a report of one month by waste_row_keys, without filters, after its end. */
extern const char waste_row_keys[];
void waste_report_rows (waste_report_t *waste, bill_t *out);
/* Such rows have all that the report asks for: groups of teams, pools and months, no filter. */
bool waste_rows_answer (const report_query_t *query);
/* Instead of the segments of the month; takes the bill, whatever is returned. */
int waste_report_take_rows (waste_report_t *waste, bill_t *rows,
                            gl_error_t *error);

/* After the last month: what was wasted by cause, and as a row without a cause all the time that
 * jobs had. Its texts are words of waste.h. cube_free() it. */
cube_t *waste_report_sums (waste_report_t *waste);

/* After the last month. Yours: report_free(). `before`: such sums of the month before, with its
 * name, next to which the report shows its own; NULL: none is compared. */
report_t *waste_report_make (waste_report_t *waste, cube_t *before,
                             const char *before_month);

/* The same for whoever wasted it, in lines: all of it, each cause with what would have
 * prevented it, and the jobs that wasted most by all causes, at most `jobs`. No lines
 * where nothing is known to be wasted. Texts are for the call. */
#define WASTE_OWN_JOBS 3
typedef void (*waste_line_f) (const char *title, const char *text, void *arg);
void waste_report_lines (waste_report_t *waste, size_t jobs,
                         waste_line_f callback, void *arg);

#endif /* !GL_WASTE_WASTE_REPORT_H */
