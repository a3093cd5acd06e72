/*
 * balance_due.h: what is due today of what was billed for a month, and how much
 * of it may be given back: one rule for credits to teams, of jobs and of
 * disputes.
 *
 * Rows of the month lie in sets, each of which holds the next: those of a team;
 * in a pool; of a line of the bill; and of the line a part, a job or a disputed
 * row. Due of a set is what its charge is, with the corrections of it wherever
 * they stand, those of the open month included, less what was given back of it
 * by policy, by hand or by disputes. What is given back is at most what is due
 * of every set that it lies in. Nothing is due of remainders, and taxes follow
 * what they are on.
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
    const posting_t *row; /* whose team, pool, keys, GPU and profile the rows of
                             the set have; borrowed, as */
    const char *reference; /* of rows that go back to a part; NULL: none do */
    mpz_t units; /* smallest ones; initialised by who asks, and added to */
} balance_due_t;

/* What something is given back of. */
typedef struct {
    const char *month;
    balance_due_set_t set; /* the narrowest that it lies in */
    const posting_t *row;
    const char *part; /* "the job", for people; and of a part: */
    const char *reference;
    mpz_srcptr charged; /* what it is charged today */
} balance_due_of_t;

/* `units`: what is wanted, or 0, for all that is due; then what is given back.
 * -1 if that is more than is due of one of the sets, or nothing is. */
int balance_due_give (store_t *store, const site_t *site,
                      const periods_t *periods, const balance_due_of_t *of,
                      mpz_t units, gl_error_t *error);

/* Teams, and teams in pools, of which less than nothing is due of a month that
 * people brought rows of: where the bill of the month `billed` has rows of
 * them, so that what was accepted once is not told again. Without manual rows
 * nothing is due below 0. A team of which its pools tell all is left out. */
typedef void (*balance_due_below_f) (const balance_due_t *due, void *arg);
int balance_due_each_below (store_t *store, const site_t *site,
                            const periods_t *periods, const month_t *billed,
                            balance_due_below_f callback, void *arg,
                            gl_error_t *error);

#endif /* !GL_BALANCE_DUE_H */
