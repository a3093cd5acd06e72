/*
 * explain.h: how a job's charge came about, step by step: its source and times, its
 * devices and their weights, its project and team, its price, the line of the statement
 * that has it, and the rows of closed months; and likewise a charge of another service.
 *
 * An explanation is data, as a report is: steps of lines with final texts.
 * Pure.
 */
#ifndef GL_REPORT_EXPLAIN_H
#define GL_REPORT_EXPLAIN_H

#include "evidence/evidence.h"
#include "ledger/bill.h"
#include "ledger/billing.h"
#include "report/heading.h"
#include "site/project.h"

typedef struct {
    char *name;  /* machine name */
    char *title; /* for people */
    char *value; /* NULL: not known */
    column_type_t type;
} explain_line_t;

typedef struct {
    const char
        *name; /* segment, project, devices, measured, charge, settlement, cost,
                         billed, decided, units, waste, rightsize; of another service: service, import */
    char *title;
    explain_line_t *line;
    size_t line_count;
    bool of_cpus; /* it counts CPUs: "GPU" in names and titles is "CPU" */
} explain_step_t;

typedef struct {
    char *title; /* "Job 4711_3, cluster lab" */
    char
        *reference; /* explain_reference(); NULL: a charge of another service */
    period_t life;  /* of the segment; 0 to 0: it never started */
    char *user, *job_name; /* NULL: unknown */
    text_list_t
        answer; /* what it is charged, in sentences; none: nothing is known */
    explain_step_t *step;
    size_t step_count;
} explain_segment_t;

typedef struct {
    const char *what; /* "job", or "charge" of another service; for good */
    char *name;       /* as asked for */
    explain_segment_t *segment;
    size_t segment_count;
} explain_t;

explain_t *explain_new (const char *what, const char *name);
/* Accepts NULL. */
void explain_free (explain_t *explain);

/* Wherever `word` stands as a word of its own in a value, `other` takes its place: of a user
 * whose name is not shown. */
void explain_replace (explain_t *explain, const char *word, const char *other);

/* The query of the billing of a month that explain_add() wants: by the keys of a charge
 * line. */
void explain_query (const site_t *site, period_t period,
                    report_query_t *ret_query);

/* How a month's charges are made; borrowed. */
typedef struct {
    period_t period;
    const site_t *site;       /* the configuration that priced it */
    const billing_t *billing; /* computed; NULL without pools */
    const bill_t
        *settled; /* of a month that is not closed its bill, whose rows of
                              settlement are explained; NULL: there are none */
} explain_month_t;

/* One segment of the job, and its charges in these months. `site` names its project and
 * team. `evidence`: what the nodes saw of it, or NULL. `accounts` may be NULL. */
void explain_add (explain_t *explain, const site_t *site,
                  const accounts_t *accounts, const segment_t *segment,
                  const suspension_t *suspensions, size_t suspension_count,
                  const segment_evidence_t *evidence, const project_t *project,
                  const explain_month_t *const *months, size_t month_count);

/* Of the segment that was added last: it was explained in the months of this period alone, which
 * its answer says if it ran in others. */
void explain_only (explain_t *explain, const site_t *site, period_t only);

/* Of the segment that was added last: the rows of a closed month that it is in, by
 * which they are disputed, 2026-10/17; row i of the bill has the number i + 1; and
 * the rows of settlement of its charges.
 * `digits` of the currency then. */
void explain_billable (explain_t *explain, const char *month,
                       const bill_t *bill, const size_t *row, size_t count,
                       int digits);

/* Of the segment that was added last: a row that somebody decided, who and when,
 * if it goes back to that segment. */
void explain_decided (explain_t *explain, const site_t *site,
                      const segment_t *segment, const posting_t *row,
                      const char *who, int64_t when);

/* "CLUSTER/JOBID/SUBMIT": what rows that go back to the segment refer to. Yours. */
char *explain_reference (const segment_t *s);

/* --- more steps, of other rooms ---------------------------------------------- */

/* Names of steps are borrowed for good, those of lines and texts are copied. */

/* Takes the title over. Valid until the next step. */
explain_step_t *explain_step (explain_segment_t *segment, const char *name,
                              char *title);
/* Takes the value over; NULL: not known. */
void explain_line (explain_step_t *step, column_type_t type, const char *name,
                   const char *title, char *value);
void explain_text (explain_step_t *step, const char *name, const char *title,
                   const char *value);
void explain_format (explain_step_t *step, const char *name, const char *title,
                     const char *fmt, ...)
    __attribute__ ((format (printf, 4, 5)));
void explain_stamp (explain_step_t *step, const site_t *site, const char *name,
                    const char *title, int64_t instant);
void explain_exact (explain_step_t *step, column_type_t type, const char *name,
                    const char *title, const mpq_t value, int digits);

/* An import that had a charge of another service. */
typedef struct {
    const service_t *service;
    int64_t time;
    const char *who;
    int64_t undone; /* when it was taken back; 0: it is in force */
    const char *undone_by;
} explain_import_t;

/* A charge of another service as its imports had it, the oldest one first; at least one. */
void explain_service (explain_t *explain, const site_t *site,
                      const explain_import_t *imports, size_t count);

/* A month's bill. */
typedef struct {
    const bill_t *bill;
    const char *month;
    const char *state; /* "closed", "not closed" */
    bool numbered;     /* its rows have numbers */
    int digits;        /* of its currency */
    const explain_import_t
        *import; /* that the month's row is of; NULL: unknown */
} explain_bill_t;

/* Of the charge that was added last: its rows on the bill, and those of settlement.
 * `reference`: "SOURCE:REFERENCE". */
void explain_service_billed (explain_t *explain, const explain_bill_t *bill,
                             const char *reference);

#endif /* !GL_REPORT_EXPLAIN_H */
