/*
 * statement_private.h: shared by statement.c (the page), statement_lines.c (its
 * tables) and statement_sums.c (figures, proofs and charts).
 */
#ifndef GL_REPORT_STATEMENT_PRIVATE_H
#define GL_REPORT_STATEMENT_PRIVATE_H

#include "report/change.h"
#include "report/statement.h"

/* Columns, in their order. */
typedef enum {
    AT_SECTION,
    AT_LINE,
    AT_NAME,
    AT_POOL,
    AT_QOS,
    AT_PROFILE,
    AT_MONTH,
    AT_JOBS,
    AT_GPU_HOURS,
    AT_RATE,
    AT_LIST,
    AT_ADJUSTMENT,
    AT_BEFORE,
    AT_AFTER,
    AT_CHARGE,
    AT_IDLE,
    AT_IDLE_PCT,
    AT_BUDGET,
    AT_SPENT,
    AT_SPENT_PCT,
    AT_FORECAST,
    AT_FORECAST_PCT,
    AT_UNIT,
    AT_REASON,
    AT_REFERENCE,
    AT_ROW,
    AT_DISPUTED,
    AT_CURRENCY,
    AT_SHOW,
    AT_COUNT,
} statement_at_t;

/* What is due, kind by kind. */
typedef struct {
    mpz_t kind[BILL_KIND_COUNT];
    mpz_t list; /* of charges */
    mpz_t net;  /* before taxes */
    mpz_t due;
    mpq_t gpu_seconds;
    mpq_t exact; /* of charges, before rounding */
    mpq_t idle;  /* in charges and idle rows */
    bool idle_known;
    bool priced; /* all of it has a price */
} statement_sum_t;

typedef struct {
    const statement_t *s;
    report_t *report;
    report_list_t *commands; /* NULL until the first */
    int digits;
    statement_sum_t sum;
    change_t change;
} page_t;

void statement_columns (page_t *page);
/* The tables of charges, credits, projects and so on. */
void statement_lines (page_t *page);
void statement_budget_lines (page_t *page);

/* Adds up the team's rows. */
void statement_sum (page_t *page);
void statement_sum_clear (statement_sum_t *sum);
/* Figures on top, charts, proofs and totals. */
void statement_figures (page_t *page);
void statement_charts (page_t *page);
void statement_proofs (page_t *page);

#endif /* !GL_REPORT_STATEMENT_PRIVATE_H */
