/*
 * chargeback_private.h: the parts of the chargeback report:
 *
 *   chargeback.c        rows and notes, the order of the whole
 *   chargeback_cost.c   how the cost was recovered, charts and figures
 *   chargeback_other.c  the same months under other idle policies
 *
 * Money is in smallest units of the currency, of which the site has `digits`;
 * time in GPU-seconds. The names of pools and of reasons are those of the
 * bills, which outlive all of it. `lost` is a defect of the program, never of
 * the input.
 */
#ifndef GL_STATEMENT_CHARGEBACK_PRIVATE_H
#define GL_STATEMENT_CHARGEBACK_PRIVATE_H

#include <stdbool.h>

#include "ledger/cube.h"
#include "statement/adjustments.h"
#include "statement/chargeback.h"

/* Money of the rows of a bill that have the same keys of the query. */
struct money {
    char *key[KEYS_MAX];
    mpz_t cost;
    mpz_t charge;
    mpz_t credit; /* below 0 */
    mpz_t settled;
    mpq_t charged_seconds; /* GPU-seconds that the charge is for */
    mpq_t cpu_seconds;     /* and CPU-seconds: a rate is of one of them */
    mpq_t exact; /* the charge before rounding: a rate is not made of rounded
                    money */
    uint64_t costs; /* rows of the bill that have a cost, and so on */
    uint64_t charges;
    uint64_t credits;
    uint64_t settlements;
    uint64_t cells; /* 1: jobs have such a row; 0: charged for time that no job
                       held, or for an entitlement */
};

/* What became of a pool's cost, over all its months. */
struct pool_sum {
    const char *pool; /* "(none)": fees and deposits are of no pool */
    mpz_t cost;      /* of the pool */
    mpz_t full;      /* of it, with what others have paid for */
    mpz_t recoverable;
    mpz_t disposal; /* gains and losses that are in no charge */
    mpz_t in_period; /* charged for time in the period */
    mpz_t outside;   /* charged for time of the same months outside it */
    mpz_t idle[REMAINDER_COUNT]; /* of in_period: for time that was not allocated */
    mpz_t purchased;             /* the same: for entitlements */
    cube_t *credits; /* of time in the period, by reason: postings */
    mpz_t credited_outside;
    mpz_t settled; /* by rules of settlement */
    mpz_t remainder[REMAINDER_COUNT];
    mpq_t
        excess[2]; /* GPU-seconds, and CPU-seconds, allocated to jobs beyond the
                        capacity; at most 0 */
    bool complete; /* every month has a cost */
    bool silent;   /* no month has a cost or a rate */
};

struct chargeback {
    const report_query_t *query;
    report_t *report;
    int digits;
    const usage_cell_t *cells; /* ordered by key */
    size_t cell_count;
    cube_t *rows; /* of money */
    struct money whole;
    mpq_t *charge; /* of the rows of the report, as they are made */
    size_t charge_count;
    adjustments_t *adjustments;
    adjustments_t *services;
    struct pool_sum *pools;
    size_t pool_count;
    size_t lost; /* lines without a row: a defect */
};

struct columns {
    usage_columns_t usage;
    size_t cost;
    size_t rate;
    size_t charge;
    size_t credit;
    size_t settlement;
    size_t service;    /* of adjustments.h, where there is one */
    size_t correction; /* likewise, in any case */
    size_t currency;
};

/* --- chargeback_cost.c --- */

void pool_sum_clear (struct pool_sum *sum);
/* A row of a month's own time, remainders included. */
void chargeback_pool_row (struct chargeback *c, const posting_t *row);
void chargeback_pool_months (struct chargeback *c, const bill_t *bill);
/* A proof of each pool and of all together, the totals that add up, and their
 * chart and figures. */
void chargeback_prove (struct chargeback *c, const struct columns *columns);
void chargeback_row_chart (struct chargeback *c, const struct columns *columns);

/* --- chargeback_other.c --- */

/* A block that says what each team pays of the months, and what it would under other
 * idle policies. */
void chargeback_other (struct chargeback *c, const chargeback_bill_t *bills,
                       size_t count);

#endif /* !GL_STATEMENT_CHARGEBACK_PRIVATE_H */
