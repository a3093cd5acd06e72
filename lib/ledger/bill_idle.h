/*
 * bill_idle.h: how much of a charge pays for time that was not allocated.
 *
 * With idle time in the rate, a price above what the same time cost as an owned
 * hour (C / K, charge.h) pays for time that was not allocated:
 *
 *   share = 1 - owned rate x price_seconds / list price     (not below 0)
 *
 * of what is due, which is less than the list price where part of it is
 * subsidised. A row of idle time is idle time as a whole. What is above the cost
 * for whatever reason is posting_margin().
 *
 * In addition the questions about a row that this and its readers ask: what it is by,
 * whose it is, what its pool has. Bills and rows are borrowed. Pure.
 */
#ifndef GL_LEDGER_BILL_IDLE_H
#define GL_LEDGER_BILL_IDLE_H

#include <gmp.h>
#include <stdbool.h>

#include "ledger/bill.h"
#include "ledger/cube.h"

/* Of `amount`, which is due for the row, rounded or exact: in smallest units, exact; 0 for rows of
 * other kinds. False, and 0, where the cost of the row's pool is not known. */
bool bill_idle (const bill_t *bill, const posting_t *row, int digits,
                mpq_srcptr amount, mpq_t ret_units);

/*
 * Margin over cost of a charge, or of idle time shared out: the charge less what the
 * chargeback shows as its cost, below 0 where the price does not cover the cost.
 * Time that an entitlement covers was paid for by the purchase, which is another
 * row: its part of the cost is left out, as its price is. In smallest units, exact;
 * 0 for rows of other kinds. False, and 0, where the cost of the row's pool is not
 * known.
 */
bool posting_margin (const bill_t *bill, const posting_t *row, mpq_t ret_units);

/* Its pool has a cost or a rate in its month; of a pool that the bill does not
 * have, it does. */
bool posting_priced (const bill_t *bill, const posting_t *row);
/* It has a cost; the same of a pool that the bill does not have. */
bool posting_has_cost (const bill_t *bill, const posting_t *row);

/* Its pool has a published rate in its month. */
bool posting_rated (const bill_t *bill, const posting_t *row);

/*
 * The value of GPU time of jobs, such as idle time: the list prices of all time that is
 * charged alike, over its hours, times the hours. The charges contain this value already:
 * it is not a further charge.
 *
 * bill_time_prices() sums up the charges, for cube_free(). False and 0: the pool is not
 * charged, or all of it at 0; true and 0: such time is free in a pool that has a price. In
 * smallest units, exact or rounded, before all adjustments, of QOS too.
 */
cube_t *bill_time_prices (const bill_t *bill);

/* What time is priced by; NULL: absent. Time that no charge is like has the average of its
 * pool. */
typedef struct {
    const char *pool;
    const char *qos;
    const char *profile; /* of a MIG slice */
} bill_time_t;

bool bill_time_exact (cube_t *prices, const bill_time_t *of,
                      mpq_srcptr gpu_seconds, mpq_t ret_units);
bool bill_time_value (cube_t *prices, const bill_time_t *of,
                      mpq_srcptr gpu_seconds, mpz_t ret_units);
/* The same at the average of all time of the pool. */
cube_t *bill_pool_prices (const bill_t *bill);
bool bill_pool_time_exact (const cube_t *prices, const char *pool,
                           mpq_srcptr gpu_seconds, mpq_t ret_units);

/* The row is `team`'s (NULL: of no team), and no remainder. */
bool posting_of (const posting_t *row, const char *team);

#endif /* !GL_LEDGER_BILL_IDLE_H */
