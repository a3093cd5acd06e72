/*
 * variance.h: why a team has to pay more or less than in the month before.
 *
 * With, of each pool, QOS and MIG profile i in the earlier (0) and the later
 * (1) month,
 *
 *   q_i  GPU time used         a_i  charged for it, before rounding, without the
 *   Q    sum of the q_i             part for idle time (bill_idle.h; all of it in a
 *                                 pool that has a published rate), and before what
 *                                 an entitlement covers is taken off
 *   A    sum of the a_i
 *   z    charged where no time was allocated (q_i = 0), which is in no a_i
 *
 * the difference of the two months is split into
 *
 *   volume       (Q1 - Q0) x A0/Q0           more or fewer GPU hours, at the
 *                                            price that an hour had on average
 *   mix          sum q1_i p_i - Q1 x A0/Q0   other pools, QOS or slices; p_i is
 *                                            a0_i/q0_i, where nothing was allocated
 *                                            before a1_i/q1_i
 *   price        sum a1_i - q1_i p_i         the same hours at other prices
 *                + z1 - z0
 *   idle         what idle time was charged, in prices at full cost and in rows
 *                of its own
 *   entitlement  what entitlements cover, now less before: hours beyond one are
 *                more volume, not a higher price
 *   credits, corrections, taxes, purchases, settlement   as they stand on the statements
 *
 * Where no time was allocated in the earlier month, all of A1 - A0 is volume. What
 * the rounding of the charges adds is no cause: it goes to the largest of the first
 * four, or to the price where all of them are 0. These are exact rationals whose
 * sum is an integer; they are rounded by largest remainder (exact_share), so that
 * all of them add up to the difference to the smallest unit.
 * docs/guides/statements.md has an example. Pure.
 */
#ifndef GL_LEDGER_VARIANCE_H
#define GL_LEDGER_VARIANCE_H

#include <gmp.h>

#include "base/error.h"
#include "ledger/bill.h"

typedef enum {
    CHANGE_VOLUME,
    CHANGE_MIX,
    CHANGE_PRICE,
    CHANGE_IDLE,
    CHANGE_CREDIT,
    CHANGE_CORRECTION,
    CHANGE_TAX,
    CHANGE_PURCHASE,
    CHANGE_SETTLEMENT,
    CHANGE_SERVICE,
    CHANGE_ENTITLEMENT,
    CHANGE_COUNT,
} change_id_t;

typedef struct {
    const char *word;
    const char *title;
    const char *help;
    const char *cause[2]; /* in words, of an amount below 0 and above */
} change_info_t;

const change_info_t *change_info (change_id_t id);

typedef struct {
    mpz_t before; /* what was due */
    mpz_t after;
    mpz_t part[CHANGE_COUNT];
    /* Of the pool, QOS and profile with the largest part of the mix, "h100, QOS scavenge:
     * 9.69 % of the GPU hours, 13.85 % before"; NULL: there is no mix. */
    char *mix;
} variance_t;

/* Statements show this part: volume, mix and price, and what is not 0. */
bool variance_is_said (const variance_t *variance, change_id_t id);

void variance_init (variance_t *variance);
void variance_clear (variance_t *variance);

/* The rows of `team` (NULL: of none) in the bills of two months (`before` NULL: nothing was
 * billed), into what was initialised; `digits` of the currency. -1 is a defect of this module. */
int variance_split (const bill_t *before, const bill_t *after, const char *team,
                    int digits, variance_t *variance, gl_error_t *error);

/* The same of each team, for the pages of a month: computed when it is asked for first. Borrows
 * the bills. */
typedef struct variances variances_t;

variances_t *variances_new (const bill_t *before, const bill_t *after,
                            int digits);
/* Accepts NULL. */
void variances_free (variances_t *variances);
/* Borrowed. NULL with an error as variance_split(). */
const variance_t *variances_of (variances_t *variances, const char *team,
                                gl_error_t *error);

#endif /* !GL_LEDGER_VARIANCE_H */
