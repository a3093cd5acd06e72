/*
 * statement_private.h: the parts of a statement: statement.c (the page),
 * statement_lines.c (lines, sections with a line for each row of the bill),
 * statement_figures.c (figures, proofs and charts), statement_waste.c, statement_prices.c (where
 * prices are from, what would be cheaper), statement_groups.c (sections of grouped rows) and
 * statement_job_lines.c (jobs).
 */
#ifndef GL_STATEMENT_STATEMENT_PRIVATE_H
#define GL_STATEMENT_STATEMENT_PRIVATE_H

#include "ledger/cube.h"
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
    AT_LIST,
    AT_ADJUSTMENT,
    AT_BEFORE,
    AT_AFTER,
    AT_CHARGE,
    AT_RATE,
    AT_LAST,
    AT_CHANGE,
    AT_AMOUNT,
    AT_MARGIN,
    AT_MARGIN_PCT,
    AT_BUDGET,
    AT_SPENT,
    AT_SPENT_PCT,
    AT_FORECAST,
    AT_FORECAST_PCT,
    AT_UNIT,
    AT_REASON,
    AT_REFERENCE,
    AT_REFERS,
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

/* Tables of rows of the bill, added up by some of their keys. */
enum {
    TABLE_CHARGES,
    TABLE_PROJECTS,
    TABLE_USERS,
    TABLE_ACCOUNTS,
    TABLE_COUNT,
};

/* A line of them; texts are those of the bills. */
typedef struct {
    bill_kind_t kind;
    const char *key[STATEMENT_KEYS];
    mpq_t gpu_seconds; /* of charges, as exact and list */
    mpq_t cpu_seconds; /* the same, of pools of CPUs */
    mpq_t exact;       /* before rounding */
    mpq_t margin;      /* over cost, of charges and idle rows */
    mpz_t list;
    mpz_t charge;
    mpz_t charged;           /* of it: charges and idle rows */
    mpz_t last;              /* charged last month */
    uint64_t margin_unknown; /* rows whose cost is unknown */
    uint64_t unpriced;       /* rows without a price */
    uint64_t last_unpriced;  /* likewise of last month */
} group_t;

typedef struct {
    const statement_t *s;
    report_t *report;
    report_list_t *commands; /* NULL until the first */
    int digits;
    cube_t *kinds;               /* what is due, by kind */
    group_t sum;                 /* all of it */
    cube_t *groups[TABLE_COUNT]; /* the lines of a table, with their rows */
    bool priced;
    size_t cpu_hours; /* their column; 0: the site counts no CPUs */
    size_t user;      /* the column of users; 0: there is none */
    size_t balances;  /* the first of their columns; 0: there are no rules */
    size_t energy; /* the first of carbon_columns(), and of the factor's behind
                      them; 0: the page has no energy */
    size_t
        quantity; /* columns of services, where the page has any: 0 is none */
    size_t unit;
    size_t unit_price;
    const variance_t *variance; /* NULL: there is no month before */
} page_t;

/* What is due of a kind. */
mpz_srcptr statement_due_of (const page_t *page, bill_kind_t kind);
/* The sum of the team's rows in dispute, which is part of what is due. */
void statement_disputed (const page_t *page, mpz_t ret_units);

/* --- statement_lines.c: a line of a section is "C1" ----------------------- */

void statement_begin_line (page_t *page, const char *section, char letter,
                           size_t number, char line[16]);
void statement_put_units (page_t *page, statement_at_t at, const mpz_t units);
/* Each in its column; no hours at all as GPU hours. */
void statement_put_hours (page_t *page, mpq_srcptr gpu_seconds,
                          mpq_srcptr cpu_seconds);
/* Of a closed month: the rows of the bill that it is made of, "2026-10/3-7,9", by
 * which they are disputed. */
void statement_put_rows (page_t *page, const size_t *row, size_t count);
/* What the line is made of. */
void statement_put_command (page_t *page, const char *line,
                            const char *command);
/* Begins such a command; false where the team cannot be asked for, because a comma
 * separates names. */
bool statement_command (const page_t *page, const char *month, buffer_t *out);

/* The sections, one after the other. */
void statement_lines (page_t *page);
/* Opening, added, used, expired, left. */
void statement_balance_lines (page_t *page);
void statement_budget_lines (page_t *page);
/* Rows of energy and CO2e of the team in a month's bill. */
bool statement_has_carbon (const page_t *page);
void statement_carbon_lines (page_t *page);

/* A text without its currency. Yours to free. */
char *statement_money (const page_t *page, const mpz_t units);

/* --- statement_waste.c ---------------------------------------------------- */

void statement_waste_lines (page_t *page);
void statement_waste_figure (page_t *page);

/* --- statement_prices.c --------------------------------------------------- */

/* Notes on rates that ended, after which time is not billed. */
void statement_ended_rates (page_t *page);
/* The team's published rates, and QOS that are cheaper than those that it used. */
void statement_price_lists (page_t *page);

/* --- statement_figures.c: figures on top, charts, proofs and totals ------- */

char *statement_margin_percent (const group_t *group);
void statement_figures (page_t *page);
/* Why the amount is not last month's, the largest cause first. */
void statement_change_note (page_t *page);
/* After the last command: a list is valid until the next is begun. */
void statement_idle_list (page_t *page);
void statement_adjustment_list (page_t *page);
void statement_charts (page_t *page);
void statement_proofs (page_t *page);

/* --- statement_groups.c --------------------------------------------------- */

/* The team's rows: kinds and groups of the page. */
void statement_group_rows (page_t *page);
void statement_groups_free (page_t *page);
/* All groups as one, which is to be cleared. */
void statement_group_sum (cube_t *groups, group_t *ret_sum);
void statement_group_clear (group_t *group);
void statement_charge_table (page_t *page);
void statement_split_tables (page_t *page);

/* --- statement_job_lines.c ------------------------------------------------ */

/* Of each line of the charges, where these are asked for. -1 is a defect. */
int statement_job_tables (page_t *page, gl_error_t *error);

#endif /* !GL_STATEMENT_STATEMENT_PRIVATE_H */
