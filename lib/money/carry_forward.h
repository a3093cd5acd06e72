/*
 * carry_forward.h: what a published rate recovered of a year's cost, and the rate
 * that takes the difference into the next year.
 *
 *   balance   = revenue - cost                 negative: a deficit
 *   share     = |balance| / cost               within the band, or the rate is to
 *                                              be changed within the year
 *   next rate = (cost next year - balance) / units next year
 *
 * docs/guides/recharge.md; 2 CFR 200.468 asks for it at least every two
 * years. Exact: a rate is rounded by decision, when it is published. Pure.
 */
#ifndef GL_MONEY_CARRY_FORWARD_H
#define GL_MONEY_CARRY_FORWARD_H

#include <gmp.h>
#include <stdbool.h>

#include "base/error.h"

/* What one year tells the next. */
typedef struct {
    mpq_t cost;       /* of the year; above 0 */
    mpq_t revenue;    /* charged in it */
    mpq_t band;       /* 1/10: a share of the cost */
    mpq_t next_cost;  /* expected */
    mpq_t next_units; /* expected: GPU-hours billed; above 0 */
} carry_year_t;

typedef struct {
    mpq_t balance;
    mpq_t share;
    bool within;     /* share <= band */
    mpq_t next_rate; /* per unit; 0 where the surplus pays for all of the year */
    mpq_t left;      /* of a surplus, what next_rate does not give back */
} carry_forward_t;

void carry_year_init (carry_year_t *year);
void carry_year_clear (carry_year_t *year);
void carry_forward_init (carry_forward_t *carry);
void carry_forward_clear (carry_forward_t *carry);

/* -1 if the year has no cost, or the next one no units. */
int carry_forward (const carry_year_t *year, carry_forward_t *ret_carry,
                   gl_error_t *error);

#endif /* !GL_MONEY_CARRY_FORWARD_H */
