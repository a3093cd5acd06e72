/*
 * statement_private.h: shared by statement.c (the page), statement_columns.c,
 * statement_lines.c, statement_groups.c, statement_job_lines.c and
 * statement_rows.c (its tables)
 * and statement_sums.c (figures, proofs and charts).
 */
#ifndef GL_STATEMENT_STATEMENT_PRIVATE_H
#define GL_STATEMENT_STATEMENT_PRIVATE_H

#include "ledger/variance.h"
#include "statement/statement.h"

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
    AT_HASH,
    AT_OF, /* from here on: of jobs, where these are asked for */
    AT_JOB,
    AT_USER,
    AT_PROJECT,
    AT_DAYS,
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
    variance_t variance;
} page_t;

/* Rows of the bill, added up by some of their keys. */
typedef struct {
    const char *key[STATEMENT_KEYS];
    mpq_t gpu_seconds;
    mpq_t exact;
    mpq_t idle;
    mpz_t list;
    mpz_t charge;
    mpz_t charged; /* of it: charges and idle rows */
    size_t *row; /* of the bill, in their order */
    size_t row_count;
    size_t row_size;
    bool idle_known;
    bool priced;
} group_t;

typedef struct {
    group_t *group;
    size_t count;
} groups_t;

void statement_columns (page_t *page);

/* A line of the section: "C1". */
void statement_begin_line (page_t *page, const char *section, char letter,
                           size_t number, char line[16]);
void statement_put_units (page_t *page, statement_at_t at, const mpz_t units);
/* Of a closed month: the rows of the bill that it is made of, "2026-10/3-7,9", by
 * which they are disputed. */
void statement_put_rows (page_t *page, const size_t *row, size_t count);
/* What the line is made of. */
void statement_put_command (page_t *page, const char *line,
                            const char *command);
/* Begins such a command; false where the team cannot be asked for, because a comma
 * separates names. */
bool statement_command (const page_t *page, const char *month, buffer_t *out);

/* The tables, one after the other. */
void statement_lines (page_t *page);
void statement_charge_table (page_t *page);
void statement_split_tables (page_t *page);
void statement_budget_lines (page_t *page);

/* Of each line of the charges, where these are asked for. -1 is a defect. */
int statement_job_tables (page_t *page, gl_error_t *error);

/* The lines of the table of charges, in their order. */
groups_t statement_charge_groups (const page_t *page);
void statement_groups_done (groups_t *groups);

/* Adds up the team's rows. */
void statement_sum (page_t *page);
void statement_sum_clear (statement_sum_t *sum);
/* Figures on top, charts, proofs and totals. */
void statement_figures (page_t *page);
void statement_charts (page_t *page);
void statement_proofs (page_t *page);

/* The rows of a line of the charges in the order in which those of a job are found:
 * as many as the line has; yours to free. */
typedef struct {
    const posting_t *row;
    size_t index;
} statement_row_t;
statement_row_t *statement_rows_by_job (const page_t *page,
                                        const group_t *group);
/* As statement_put_rows(), of the rows that the job is in. */
void statement_put_job_rows (page_t *page, const statement_row_t *rows,
                             size_t count, const statement_job_t *job);

#endif /* !GL_STATEMENT_STATEMENT_PRIVATE_H */
