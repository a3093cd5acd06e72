/*
 * balance_due.h: the balance due today of a month's charges, and how much of it
 * may be credited: one rule for credits to teams, to jobs and from disputes.
 *
 * Rows of the month belong to sets, each of which contains the next: a team; the
 * team in a pool; a line of the bill; and the part of that line which a credit
 * is for, such as a job or a disputed row. The balance due of a set is its
 * charges and all their corrections, those of the open month included, less all
 * credits: by policy, manual, and from disputes. A credit is at most the balance
 * due of every set that it belongs to. Nothing is due of unallocated cost, and
 * taxes follow the amounts that they are on. Amounts are in smallest units.
 */
#ifndef GL_BALANCE_DUE_H
#define GL_BALANCE_DUE_H

#include "month/month.h"

typedef enum {
    BALANCE_DUE_TEAM,
    BALANCE_DUE_POOL,
    BALANCE_DUE_LINE,
    BALANCE_DUE_PART,
    BALANCE_DUE_SET_COUNT
} balance_due_set_t;

typedef struct {
    balance_due_set_t set;
    const posting_t *row; /* has the team, pool, keys, GPU and profile of the
                             set's rows; borrowed, as is: */
    const char *reference; /* of rows that refer to the part; NULL: none */
    mpz_t units; /* smallest units; the caller initialises it, and it is added
                    to */
} balance_due_t;

/* What a credit is for. */
typedef struct {
    const char *month;
    balance_due_set_t set; /* the smallest that contains it */
    const posting_t *row;
    const char *part; /* "the job", for people; and of a part: */
    const char *reference;
    mpz_srcptr charged; /* what it is charged today */
} balance_due_of_t;

/* `units`: the amount wanted, or 0 for all that is due; on return the amount
 * credited. -1 if that is more than is due of one of the sets, or if nothing is
 * due. */
int balance_due_give (store_t *store, const site_t *site,
                      const periods_t *periods, const balance_due_of_t *of,
                      mpz_t units, gl_error_t *error);

/* Teams, and teams in pools, with a negative balance due for a month that has
 * manual rows (without these no balance is negative). Only those with rows in
 * the bill of `billed`, so that a balance which was accepted once is not
 * reported again. A team whose pools explain its balance is left out. */
typedef void (*balance_due_below_f) (const balance_due_t *due, void *arg);
int balance_due_each_below (store_t *store, const site_t *site,
                            const periods_t *periods, const month_t *billed,
                            balance_due_below_f callback, void *arg,
                            gl_error_t *error);

#endif /* !GL_BALANCE_DUE_H */
