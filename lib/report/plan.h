/*
 * plan.h: what was measured, in addition to what owning and renting cost: utilization,
 * break-even, cumulative cash, how many GPUs to own, how many will be needed
 * (docs/guides/decisions.md, F6, F9, F11, F15, F16).
 *
 * Measured are hours in which jobs had GPUs, from the store; a demand that had
 * to wait, or went elsewhere, is in no figure. What a section assumes and leaves
 * out stands in its help and in the notes. Pure.
 */
#ifndef GL_REPORT_PLAN_H
#define GL_REPORT_PLAN_H

#include "ledger/bill.h"
#include "report/heading.h"
#include "usage/capacity.h"

typedef struct plan plan_t;

/* What is planned with, where it differs from what was measured or configured.
 * Shares are texts of exact_parse_ratio(); NULL: not chosen. */
typedef struct {
    const char *against; /* these two as in breakeven_query_t */
    int max_age;
    const char *downtime; /* of owned GPUs, below 1; else as measured */
    const char *spares;   /* in addition to what is needed; else a tenth */
    const char *target;   /* utilization, above 0; else policy.utilization */
    const char *interruptible; /* of the work; else that of the pool */
    const char
        *vary; /* each input of the sensitivity, above 0 and below 1; else
                         a fifth */
    const char
        *egress; /* GB (10^9 bytes) a day that leave a rented cloud; NULL: not
                           shown */
    const char *growth; /* of the demand a year; NULL: not shown */
} plan_query_t;

/* -1: a share that is none, or out of its range. The error names the option. */
int plan_check (const plan_query_t *asked, gl_error_t *error);

/* What to plan with: `down` as measured unless it is chosen; above 0 is the target. */
void plan_shares (const plan_query_t *asked, const site_t *site,
                  mpq_srcptr down, mpq_t ret_down, mpq_t ret_spares,
                  mpq_t ret_target);
/* As parameters of the report. */
void plan_put_choices (report_t *report, const site_t *site,
                       const plan_query_t *asked);

/* The query and what is asked must outlive it; the query filters by pool and
 * cluster alone. Looked at are whole hours of its period, up to as-of. `asked`
 * has passed plan_check(). */
plan_t *plan_new (const report_query_t *query, const plan_query_t *asked);
/* Accepts NULL. */
void plan_free (plan_t *plan);

/* The time of which facts are wanted. */
period_t plan_period (const plan_t *plan);
void plan_add (plan_t *plan, const segment_t *segment,
               const suspension_t *suspensions, size_t count,
               const project_t *project, const segment_evidence_t *evidence);
/* For node events and reservations, unless rows were taken. */
capacity_t *plan_capacity (plan_t *plan);

/* Instead of facts: what closing retained of the month that the plan is of, as BILL_DEMAND of a bill
 * (ledger/bill.h). False: rows of other pools or hours than the plan has, or some of the work alone
 * is asked for; then facts are wanted. */
bool plan_take_rows (plan_t *plan, const bill_t *rows);
bool plan_has_rows (const plan_t *plan);
/* Such rows of the month `name`, after its last fact. */
void plan_rows (plan_t *plan, const char *name, bill_t *out);

/* After the last fact. -1 as breakeven_report_make(). Each figure is the decision on a pool. */
int plan_make (plan_t *plan, report_t **ret_report, gl_error_t *error);

/* "Sure", "Fairly sure" or "Not sure" (docs/glossary.md), by the months that say so, by how much of
 * the capacity is unknown, and by whether renting was compared with. */
const char *plan_sure_word (const report_decision_t *decision);
/* The word, then why: what other months say ("": nothing is compared), and what the decision rests
 * on. Yours to free. */
char *plan_sure_text (const report_decision_t *decision, const char *others);

#endif /* !GL_REPORT_PLAN_H */
