/*
 * decide.h: what correct, credit, dispute and reopen share: who decides, and what
 * a row by hand says. Amounts are in smallest units of the currency.
 */
#ifndef GL_DECIDE_H
#define GL_DECIDE_H

#include "cli.h"
#include "close.h"

/* --for, which may be NULL, is a month: CLI_OK; or CLI_USAGE, already told. */
int decide_month (cli_t *cli, const char *month);

/* "12.50" as units; at most the currency's digits. `negative`: may be below 0. */
int decide_amount (const site_t *site, const char *text, bool negative,
                   mpz_t ret_units, gl_error_t *error);

/* A row by hand of the kind, with its charge, into an initialised row. */
void decide_row (bill_row_t *row, bill_kind_t kind, const char *what,
                 const char *month, const char *reason, const mpz_t units,
                 int digits);

/* Opens site and store, fills who and when, decides and frees what the decision
 * owns. `said`: what was done, a sentence with a %s for the decision's month; it
 * is printed with the number. */
int decide (cli_t *cli, decision_t *decision, close_check_f check, void *arg,
            const char *said);

/*
 * What was billed of the time of `month` and is due today, of several sets of
 * rows at once: rows of the month itself, corrections and credits of it wherever
 * they stand, those of the open month included; by their charge. Each set holds
 * the next: what is given back is at most what is due of every one.
 */
typedef bool (*decide_match_f) (const bill_row_t *row, const void *arg);
typedef struct {
    decide_match_f match;
    const void *arg;
    const char *of; /* what the rows are, "which %s is charged": for people */
    mpz_t due;      /* initialised by who asks */
} decide_level_t;
int decide_due (store_t *store, const site_t *site, const periods_t *periods,
                const char *month, decide_level_t *levels, size_t count,
                gl_error_t *error);
/* -1 if `units`, which people wrote as `text` or (NULL) which is the amount, is
 * more than is due of some level. */
int decide_check_due (const site_t *site, const char *month,
                      const decide_level_t *levels, size_t count,
                      const mpz_t units, gl_error_t *error);

/* Sets of rows: of the team of a row (the argument); of its pool, too; of its line;
 * of its reference. */
bool decide_of_team (const bill_row_t *row, const void *line);
bool decide_of_pool (const bill_row_t *row, const void *line);
bool decide_of_line (const bill_row_t *row, const void *line);
bool decide_of_reference (const bill_row_t *row, const void *line);

#endif /* !GL_DECIDE_H */
