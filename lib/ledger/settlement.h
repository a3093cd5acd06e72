/*
 * settlement.h: who pays for the charges of a month: the rules of `settlement`
 * (site/site.h), applied to a computed bill after its charges and before taxes.
 *
 * Rules apply by rising step, then by name. Each works on what the rules before
 * it left unpaid of the month's own charges (kinds charge, idle and credit
 * together, purchases, services, and fees of earlier rules; not prior-period
 * adjustments and taxes) and writes rows of kind settlement in pairs that add up to 0:
 *
 *   rule      the team               the other side
 *   waiver    - what is not billed   remainder "waived"
 *   fee       + the fee              remainder "fees", negative
 *   minimum   + up to the minimum    remainder "fees", negative
 *   cap       - what is above it     remainder "capped"
 *   grant     - what it pays         remainder "granted"
 *   sponsor   - what it pays         + to the paying team
 *   prepaid   - what it pays         remainder "prepaid_balance"; a deposit is
 *                                    + to the team that pays it in, and the
 *                                    remainder with the other sign
 *   split     - all of it            + by cost object, of the same team
 *
 * so that the sum of all rows of the bill stays what it was. Each row names the
 * rule (`reference`), what kind it is (`what`), and the other side
 * (`counterparty`: a team, a cost object, or absent: the site).
 *
 * A rule with an amount for a period has a balance for each team (or one for all
 * teams together; with `each: user` one for each user, too), in the list
 * BILL_BALANCES:
 *
 *   opening + added = used + expired + closing
 *
 * where the opening balance is the closing balance of the month before. What is
 * paid of a charge is rounded once for each team, half to even, and shared so that
 * the parts add up.
 *
 * A team that was renamed (site/project.h) is one team: its balance goes on under the
 * name that it has last in the month.
 *
 * A rule that begins or ends within the month is for the charges of its days, and a
 * rule with classes for the days on which a team has one of them: the caller
 * computes them. Pure.
 */
#ifndef GL_LEDGER_SETTLEMENT_H
#define GL_LEDGER_SETTLEMENT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/zone.h"
#include "ledger/bill.h"
#include "site/site.h"

/* The bill of a part of the month, whose rows of other days are marked `outside`.
 * Yours to free. */
typedef int (*settlement_part_f) (period_t part, bill_t **ret_bill, void *arg,
                                  gl_error_t *error);

typedef struct {
    const site_t *site;
    const char *month; /* "2026-10" */
    period_t period;   /* the calendar month */
    bool ended;        /* facts reach to its end: minimums are due */
    const bill_t
        *before; /* has the balances of the month before, and perhaps of
                             others; NULL: there are none. May be the bill */
    settlement_part_f part;
    void *arg;
} settlement_t;

/* Some rule is in force in the period. */
bool settlement_applies (const site_t *site, period_t period);
/* Some of these are for projects: amounts depend on the tags of jobs. */
bool settlement_by_project (const site_t *site, period_t period);
/* The balances of the month before `period` matter to a rule in force in it. */
bool settlement_remembers (const site_t *site, period_t period);

/* Adds the rows and balances of the month, whose bill may have other months too,
 * and sorts it. Once for each month. -1: a part of the month could not be computed;
 * the bill is then of no use. */
int bill_settle (bill_t *bill, const settlement_t *settlement,
                 gl_error_t *error);

/* The rule treats each user of a team by itself. */
bool settle_by_user (const site_settlement_t *rule);

/* "grant" of SETTLE_GRANT: `what` of its rows. NULL past the last. */
const char *settle_kind_word (unsigned kind);
/* For people: "Grant". NULL for another word. */
const char *settle_kind_title (const char *word);

/* "granted" of "grant": the class of the site's side. NULL: it has none. */
const char *settle_remainder_word (const char *word);

#endif /* !GL_LEDGER_SETTLEMENT_H */
