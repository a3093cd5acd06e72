/*
 * balances.h: balances of rules of settlement (ledger/bill.h) as columns of a
 * report: what a rule had for a team in a month, and what is left of it. Money is in
 * the ledger's currency, GPU-seconds are shown as hours. Pure.
 */
#ifndef GL_STATEMENT_BALANCES_H
#define GL_STATEMENT_BALANCES_H

#include <stdbool.h>

#include "ledger/bill.h"
#include "report/report.h"
#include "site/site.h"

/* The rule of that name; NULL: there is none. */
const site_settlement_t *balances_rule (const site_t *site, const char *name);

/* A rule of the site has a balance for each user. */
bool balances_by_user (const site_t *site);
/* The users with rows of the team in the month, sorted, for texts_clear(). */
void balances_users (const bill_t *bill, const char *month, const char *team,
                     text_list_t *ret_users);
/* The balance is the team's, or one that it shares: fees have none. `users`: sorted;
 * of balances that teams share, one of another user is not the team's. NULL: any
 * user. */
bool balances_are_of (const site_t *site, const bill_balance_t *balance,
                      const char *month, const char *team,
                      const text_list_t *users);

/* Adds the columns opening, added, used, expired and left; returns the first. */
size_t balances_columns (report_t *report);
/* Into the last row: money, or hours. */
void balances_put (report_t *report, size_t first, const site_t *site,
                   const bill_balance_t *balance);
/* "GPU hours", or the currency. */
const char *balances_unit (const site_t *site, const bill_balance_t *balance);

/* The last month in which it can be used, "2026-12", yours to free; NULL: there is
 * no such month. */
char *balances_until (const bill_balance_t *balance,
                      const site_settlement_t *rule);
/* Less is left than the rule's share of the deposits that were paid in before
 * `end`. */
bool balances_low (const site_t *site, const bill_balance_t *balance,
                   const site_settlement_t *rule, int64_t end);

/* Adds to the sum what was paid in under the rule before `end`. */
void balances_deposits (const site_t *site, const char *rule, int64_t end,
                        mpq_t sum);

#endif /* !GL_STATEMENT_BALANCES_H */
