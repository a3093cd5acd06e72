/*
 * results_report.h: report results: what a unit of what jobs produced costs.
 *
 * The cost of a job is its share of the charges of the statement (pages/job_shares.h), so
 * that jobs with units, jobs without and what else is due add up to the statements, to
 * the smallest unit of the currency. Give it month after month. Pure.
 */
#ifndef GL_RESULTS_RESULTS_REPORT_H
#define GL_RESULTS_RESULTS_REPORT_H

#include "ledger/bill.h"
#include "pages/job_shares.h"
#include "report/heading.h"
#include "results/produced_units.h"

typedef struct results_report results_report_t;

/* Groups and filters by keys that a share of a job has; -1 with an error that names
 * them. */
int results_report_check (const report_query_t *query, gl_error_t *error);

/* The query, which has been checked, must outlive it. */
results_report_t *results_report_new (const report_query_t *query);
void results_report_free (results_report_t *results); /* accepts NULL */

/* A month: all jobs that it charges, and the units of them. */
void results_report_month (results_report_t *results, const char *month,
                           const bill_t *bill, job_shares_t *shares,
                           const produced_units_t *units);

/* No job of the months has units. */
bool results_report_empty (const results_report_t *results);
/* A page that is written once for a closed month: it says as of when units count,
 * and nothing of what came later. */
void results_report_as_closed (results_report_t *results);

/* After the last month. Yours: report_free(). */
report_t *results_report_make (results_report_t *results);

/* A unit of the months, by the keys of the query; texts are borrowed for the call. */
typedef struct {
    const char *month; /* NULL: the query is not by month */
    const char *unit;
    uint64_t jobs;
    const char *quantity;
    const char *amount; /* what the jobs are charged */
    const char *price;  /* for so many as `per` says; NULL: there is none */
    const char *per;    /* "million tokens" */
} results_line_t;
typedef void (*results_line_f) (const results_line_t *line, void *arg);
/* What results_report_make() has, in lines: the largest amounts of a unit first. */
void results_report_lines (results_report_t *results, results_line_f callback,
                           void *arg);
/* "4300001 output-tokens of 2 jobs: 12.34 USD, 2.87 per million tokens"; yours to free. */
char *results_line_text (const results_line_t *line, const char *currency);

#endif /* !GL_RESULTS_RESULTS_REPORT_H */
