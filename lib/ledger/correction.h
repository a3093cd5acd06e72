/*
 * correction.h: what a closed month would be today, less what it is.
 *
 * A closed month never changes. What is learned of it later (an end that came
 * late, a project that was changed, a price) is a correction in the month that is
 * open: for each line of the bill the difference between a fresh computation and
 * the closed rows with all corrections so far, so that
 *
 *   closed rows + corrections = the fresh computation
 *
 * line by line, in every number of the row, exactly. A correction keeps the
 * texts of its line; its `origin` says which kind of line that was, its `what`
 * the cause. Manual rows and taxes are not compared: what is due of corrections
 * is taxed where they are billed. Pure.
 */
#ifndef GL_LEDGER_CORRECTION_H
#define GL_LEDGER_CORRECTION_H

#include "ledger/bill.h"

typedef enum {
    CAUSE_LATE_JOB, /* a job of which nothing was known */
    CAUSE_END,      /* a job's end, which came late or was set right */
    CAUSE_JOB,      /* anything else that accounting has otherwise now */
    CAUSE_BACK,     /* a job that accounting has again */
    CAUSE_RETAG,    /* a project that was changed */
    CAUSE_FACTS,    /* facts that left no trace of their own, such as records of
                       nodes, reservations and outages */
    CAUSE_PRICE,    /* rates */
    CAUSE_COST,     /* the cost book */
    CAUSE_POLICY,   /* policies */
    CAUSE_TEAM,     /* which accounts a team owns */
    CAUSE_POOL,     /* pools, MIG profiles */
    CAUSE_PROJECT,  /* the list of projects */
    CAUSE_CONFIGURATION, /* several of these, or something else in it */
    CAUSE_SHARE,         /* the line's part of what changed elsewhere */
    CAUSE_SERVICE,       /* rows of other services, imported or taken back */
    CAUSE_MANUAL,        /* manual */
    CAUSE_COUNT,
} correction_cause_t;

/* "late_job", "end", ...: `what` of the row. */
const char *correction_cause_word (correction_cause_t cause);
/* For people: "a job's end that came late". NULL for another word. */
const char *correction_cause_text (const char *word);

/* The row takes part: it was computed, and is no correction. */
bool correction_compares (const posting_t *row);
/* The row is a correction that was made here. */
bool correction_is_computed (const posting_t *row);
/* The line that a computed correction is of, into an initialised row: its own
 * kind and `what`, and the numbers of the correction. */
void correction_line (const posting_t *correction, posting_t *ret_line);

/* Why a line differs. `change`: the line's texts, and by how much. */
typedef correction_cause_t (*correction_f) (const posting_t *change, void *arg);

/* Corrections that lead from `before` to `after`, onto `out`. Of `before` and
 * `after` the rows that correction_compares(), and of `before` computed
 * corrections as well, count; all others are passed over. */
void correction_compare (const bill_t *before, const bill_t *after,
                         correction_f cause, void *arg, bill_t *out);

#endif /* !GL_LEDGER_CORRECTION_H */
