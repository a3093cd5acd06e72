/*
 * manual.h: what correct, credit, dispute and reopen share: who decides, and
 * what a manual row says. Amounts are in smallest units of the currency.
 */
#ifndef GL_MANUAL_H
#define GL_MANUAL_H

#include "cli/cli.h"
#include "month/anchor.h"
#include "month/close.h"

/* --for, which may be NULL, is a month: CLI_OK; or CLI_USAGE, already told. */
int manual_month (cli_t *cli, const char *month);

/* "12.50" as units; at most the currency's digits. `negative`: may be below 0.
 */
int manual_amount (const site_t *site, const char *text, bool negative,
                   mpz_t ret_units, gl_error_t *error);

/* A manual row of the kind, with its charge, into an initialised row. */
void manual_row (posting_t *row, bill_kind_t kind, const char *what,
                 const char *month, const char *reason, const mpz_t units,
                 int digits);

/* Anchors the entry (anchor.h): CLI_OK; or CLI_LOOK, already reported: the
 * entry stays. */
int manual_anchor (cli_t *cli, const anchor_t *anchor);

/* Opens site and store, fills who and when, decides and frees what the decision
 * owns. `said`: what was done, a sentence with a %s for the decision's month;
 * it is printed with the number. */
int decide (cli_t *cli, decision_t *decision, close_check_f check, void *arg,
            const char *said);

#endif /* !GL_MANUAL_H */
