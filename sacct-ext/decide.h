/*
 * decide.h: what correct, credit, dispute and reopen share: who decides, and what
 * a row by hand says. Amounts are in smallest units of the currency.
 */
#ifndef GL_DECIDE_H
#define GL_DECIDE_H

#include "cli.h"
#include "close.h"

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

/* What was billed of the time of `month` and is due today: rows of the month
 * itself, corrections and credits of it wherever they stand, those of the open
 * month included. Rows that `match` wants, by their charge. */
typedef bool (*decide_match_f) (const bill_row_t *row, const void *arg);
int decide_due (store_t *store, const site_t *site, const periods_t *periods,
                const char *month, decide_match_f match, const void *arg,
                mpz_t ret_units, gl_error_t *error);

#endif /* !GL_DECIDE_H */
