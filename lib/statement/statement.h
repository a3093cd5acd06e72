/*
 * statement.h: one team's page of a month, for somebody who was not in the room:
 * what was allocated, at which price, what is due, why it is not last month's sum, and
 * what was wasted.
 *
 * Everything on it is made of the rows of the month's bill (ledger/bill.h) that
 * are the team's, so that its sums are those of `report chargeback --team`, and
 * the statements of all teams and of (none) add up to the whole. Nothing of
 * other teams, of the cost book or of people's pay is on it; of a pool it says
 * what part of a price is idle time. Each line has an id and a command that
 * shows what it is made of. Pure.
 */
#ifndef GL_STATEMENT_STATEMENT_H
#define GL_STATEMENT_STATEMENT_H

#include "base/error.h"
#include "ledger/bill.h"
#include "ledger/variance.h"
#include "report/heading.h"
#include "report/report.h"
#include "statement/budget.h"
#include "statement/statement_jobs.h"
#include "waste/waste.h"

/* Charged for a local day. */
typedef struct {
    char name[ZONE_STAMP_SIZE];
    mpz_t units;
} statement_day_t;

/* GPUs of a pool that jobs left idle, as far as agents measured. */
typedef struct {
    const char *pool;
    mpq_t gpu_seconds;
    mpz_t units; /* their value, bill_time_value() */
} statement_idle_t;

/* Everything is borrowed. */
typedef struct {
    const report_query_t *query; /* the month, filtered by the team */
    const char *team;            /* NULL: what is of no team */
    const char *month;           /* 2026-10 */
    const bill_t *bill;          /* of the month, taxes included */
    const char *before_month;
    const bill_t *before;   /* of the month before; NULL: it has no rows, or
                             this one is closed and it is not */
    variances_t *variances; /* from `before` to `bill`, where there is one */
    bool goes_on;     /* the month is not over: `before` is NULL, as a part is
                     compared with no full month */
    const char *id;   /* of the statement */
    bool provisional; /* it is not closed: its figures may still change */
    bool linked; /* a page of a site: links lead to what lines are made of, not
                    commands */
    const char *(*user_name) (const char *user, void *arg); /* as the page shows
                                   it; NULL: as it is */
    void *arg;
    const char *state;   /* "closed 2026-11-05, version 1", "not closed" */
    const site_t *site;  /* the configuration of the month */
    const site_t *paper; /* who issues it; of a closed month as it was then */
    const char *hash; /* of the closed period: the head of the chain; or NULL */
    const char
        *head; /* the latest hash of the chain; NULL: nothing was closed */
    const bool *disputed;  /* row by row of the bill; NULL: none */
    size_t disputed_count; /* of the team */
    int64_t handover; /* when the review of the closed month ends; 0: open */
    statement_counts_t counts[STATEMENT_COUNTS]; /* of jobs */
    uint64_t jobs;                               /* of the team in the month */
    const statement_jobs_t *list; /* each is to be a line; NULL: none */
    const statement_day_t *days;
    size_t day_count;
    budget_t *const *budgets; /* of the team */
    size_t budget_count;
    const statement_idle_t *idle; /* by pool */
    size_t idle_count;
    cube_t *waste; /* of its jobs, with prices, by cause, the largest first */
    const cube_t *unpriced;   /* of it: in pools without a price, by cause */
    const waste_t *allocated; /* all time of its jobs, and how much of it agents
                                 measured */
} statement_t;

/* The canonical text of the team's rows, a line each: what the statement's id is
 * made of. */
void statement_text (const bill_t *bill, const char *team, buffer_t *out);

/* Yours: report_free(). NULL is a defect. */
report_t *statement_make (const statement_t *statement, gl_error_t *error);

#endif /* !GL_STATEMENT_STATEMENT_H */
