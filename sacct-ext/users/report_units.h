/*
 * report_units.h: what a job has produced, as its owner or root reports it: added to
 * the ledger with user and time. The one place that decides who may; the collector
 * calls it for users, the command for root next to a store.
 *
 * A report says how many units the job made in all. Of several segments (attempts,
 * tasks of an array) each gets its part by its time. Rows are never changed: a later
 * report counts instead.
 */
#ifndef GL_REPORT_UNITS_H
#define GL_REPORT_UNITS_H

#include "site/units.h"
#include "users/job_choice.h"

/* Units in one report. */
#define REPORT_UNITS_MAX 16

typedef struct {
    job_request_t of;
    unit_count_t unit[REPORT_UNITS_MAX];
    size_t count;
} report_units_request_t;

typedef struct {
    char cluster[129];
    size_t segments;                  /* that have a new row */
    int64_t before[REPORT_UNITS_MAX]; /* what the job had of each unit; -1: none
                                         was reported */
} report_units_done_t;

/* "tokens=1.2e9" at the end of the request. */
int report_units_add (const site_t *site, const char *text,
                      report_units_request_t *request, gl_error_t *error);

/* In one transaction. `now`: seconds, for the audit. -1 with a text for the person
 * who asked: no such job of theirs, it has not run yet, or all of it is in closed
 * months, whose pages would not count it. */
int report_units (store_t *store, const site_t *site,
                  const job_person_t *person,
                  const report_units_request_t *request, int64_t now,
                  report_units_done_t *ret_done, gl_error_t *error);

#endif /* !GL_REPORT_UNITS_H */
