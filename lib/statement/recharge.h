/*
 * recharge.h: what an audit of a recharge centre asks for (2 CFR 200.468): the
 * history of the rates, over- and under-recovery by pool and fiscal year, what is
 * carried forward into the next rate, what rates must not recover, and whether anything
 * discriminates (docs/guides/recharge.md).
 *
 *   balance = revenue - recoverable cost, of the months that the ledger covers
 *   revenue = charges, idle time, purchases, credits and settlement of the pool, without
 *             prepaid money: it is revenue when it is charged, not when it is paid
 *   next rate = (cost of the next year - balance) / its billed GPU-hours
 *
 * A closed month is what was closed of it; a correction counts in the month that it
 * is billed in, with its revenue and with what the cost of its pool has changed by,
 * which is the same in both books. A fiscal year is named after the calendar year
 * that it ends in. Pure.
 */
#ifndef GL_STATEMENT_RECHARGE_H
#define GL_STATEMENT_RECHARGE_H

#include "ledger/bill.h"
#include "report/heading.h"

/* The fiscal year of an instant, and when a fiscal year is. */
int recharge_year_of (const site_t *site, int64_t instant);
period_t recharge_year_period (const site_t *site, int year);

/* Of the next year, of one pool; NULL: as in this one. */
typedef struct {
    mpq_srcptr cost;
    mpq_srcptr gpu_hours;
} recharge_forecast_t;

typedef struct recharge recharge_t;

/* The query's period ends with the year that is asked for; earlier years in it are
 * shown too. It filters by pool alone, and must outlive the object. */
recharge_t *recharge_new (const report_query_t *query,
                          const recharge_forecast_t *forecast);
/* Accepts NULL. */
void recharge_free (recharge_t *recharge);

/* Rows, and the costs of pools. `month`: all rows are of the bill of that month
 * ("2026-10"); NULL: each row's own month. In any portions, of which each has the
 * whole of a month. */
void recharge_add_bill (recharge_t *recharge, const bill_t *bill,
                        const char *month);
/* The cost of a pool and month, in both books: of every month that the ledger covers,
 * also one in which nobody used the pool, because its cost must be recovered too. */
void recharge_add_cost (recharge_t *recharge, const char *pool,
                        const char *month, mpq_srcptr full,
                        mpq_srcptr recoverable);

/* After these. */
report_t *recharge_make (recharge_t *recharge);

#endif /* !GL_STATEMENT_RECHARGE_H */
