/*
 * cost_private.h: what the parts of cost.c share: a file for each kind of cost,
 * which adds the lines of one pool and period, and cost_line.c, which makes one.
 *
 * Amounts are exact, in the currency of the site; names, `how` and entries are
 * borrowed. A `ret_` number is initialised by the caller. -1 leaves what was added
 * in *cost, which its maker clears.
 */
#ifndef GL_MONEY_COST_PRIVATE_H
#define GL_MONEY_COST_PRIVATE_H

#include "money/cost.h"

/*
 * A cost that is known in advance (an asset, an amount a month or a year, a fee) is
 * booked from its start on: what it has cost by the end of a period, rounded, less
 * what it had cost by the beginning, rounded. So the months of its life add up to
 * what it costs in all (docs/decisions/booked-totals.md).
 *
 * A pool, a fund and a book have each a part [low, high) of the whole, and the bounds
 * are rounded, not the parts: parts that are neighbours add up as well.
 */
struct booking {
    mpq_t before; /* all of it from its start until the period begins, exact */
    mpq_t after;  /* and until it ends */
    mpq_t low;    /* the pool's part of it */
    mpq_t high;
    bool monthly; /* which is of one calendar month: the period lies in it */
    mpq_t month;  /* monthly: as `before`, until that month begins */
};

/* What lies between two bounds: how much it has grown between two instants, at which
 * the bounds are `before` and `after`. */
void cost_book (const site_t *site, const mpq_srcptr before[2],
                const mpq_srcptr after[2], mpq_t ret_amount);

/* All of it is the pool's. cost_booking_clear after use. */
void cost_booking_init (struct booking *booking);
void cost_booking_clear (struct booking *booking);

/* What becomes a line. */
struct item {
    cost_kind_t kind;
    const char *name;
    mpq_srcptr amount; /* exact */
    const struct booking *booking; /* NULL: it follows use, and is rounded with the
                                      pool's month */
    mpq_srcptr recoverable; /* share of it that rates may recover; NULL: all */
    mpq_srcptr by_use; /* share of it that follows use; NULL: none */
    const share_list_t *funding; /* NULL or empty: unspecified */
    const char *how;
    place_t place;
    bool goes_on; /* the next item is of the same entry */
};

/* What one fund pays of an item. */
struct part {
    const char *fund; /* NULL: unspecified */
    mpq_t share;      /* of the item */
    mpq_t amount;     /* exact */
    mpq_t recoverable; /* of it */
    mpq_t booked;      /* the same in whole units, or exact where it follows use */
    mpq_t booked_recoverable;
};

/* ---- cost_line.c ---- */

void cost_part_init (struct part *part);
void cost_part_clear (struct part *part);
/* That of the i-th fund, or of all for an item without; false beyond the last. */
bool cost_part (const site_t *site, const struct item *item, size_t i,
                struct part *part);
/* A line of the part, by the book that charges are made of: what is not in it
 * stands apart. `item`: of its kind, name, how and place. */
void cost_add_part (const site_t *site, cost_t *cost, const struct item *item,
                    const struct part *part);
/* Those of all its funds. */
void cost_add_line (const site_t *site, cost_t *cost, const struct item *item);

/* ---- cost.c ---- */

/* Calendar months from the beginning of `valid` (where it has none, of year 0) until
 * the instant, at most its end; parts by seconds. */
void cost_months_since (const zone_t *zone, period_t valid, int64_t instant,
                        mpq_t ret_months);
/* The same for an amount that was agreed for the time: from 10 February to 10
 * February is a year, whatever days and hours the Februaries have; its last month has
 * what is left. */
void cost_months_agreed (const zone_t *zone, period_t valid, int64_t instant,
                         mpq_t ret_months);

/* ---- cost_staff.c ---- */

void cost_add_staff (const site_t *site, const char *pool, period_t period,
                     cost_t *cost);

/* ---- cost_load.c: what is drawn ---- */

/* The even load of a pool for as long as nothing changes: one entry of `power`,
 * one of `pools`, and where the load follows what jobs hold, one calendar month.
 * In addition, the load that was measured, at its time. */
struct load {
    const site_power_t *power;
    period_t period;
    uint64_t gpus;
    uint64_t nodes;
    mpq_t watts; /* of one GPU, on average */
    mpq_t all;   /* watts of all GPUs and nodes */
};
typedef int (*load_f) (const struct load *load, void *arg, gl_error_t *error);

/* In the order of `power`, then of `pools`. */
int cost_each_load (const site_t *site, const char *pool, period_t period,
                    const cost_inputs_t *inputs, load_f callback, void *arg,
                    gl_error_t *error);

/* What was measured of the pool by time, and is charged by the entry so: NULL:
 * nothing. */
const pool_load_t *cost_measured_load (const site_power_t *power,
                                       const cost_inputs_t *inputs);

/* kWh of the pool's machines in the period, without PUE. */
int cost_energy (const site_t *site, const char *pool, period_t period,
                 const cost_inputs_t *inputs, mpq_t ret_kwh, gl_error_t *error);
/* The part of cost_energy() that jobs cause: what allocated GPUs consume beyond
 * `idle_watts`. 0 for a power entry without idle_watts, which says that a GPU
 * consumes the same whether it is allocated or not. */
int cost_energy_by_use (const site_t *site, const char *pool, period_t period,
                        const cost_inputs_t *inputs, mpq_t ret_kwh,
                        gl_error_t *error);

/* ---- cost_power.c, cost_demand.c: its price ---- */

int cost_add_power (const site_t *site, const char *pool, period_t period,
                    const cost_inputs_t *inputs, cost_t *cost,
                    gl_error_t *error);
/* Some entry of the pool's power in the period is paid by the tariff. */
bool cost_pays_by (const site_t *site, const char *pool, const char *tariff,
                   period_t period);
/* What a tariff has in addition to the price of energy. */
int cost_add_fees (const site_t *site, const char *pool, period_t period,
                   const cost_inputs_t *inputs, cost_t *cost,
                   gl_error_t *error);

/* ---- cost_other.c ---- */

/* The pool's share of the entry in a calendar month; 1 for one with `pool`. Shares
 * follow one another as pools do in the entry: [low, high). */
int cost_share_bounds (const site_t *site, const site_cost_t *entry,
                       const char *pool, period_t month,
                       const cost_inputs_t *inputs, mpq_t ret_low,
                       mpq_t ret_high, gl_error_t *error);
int cost_add_other (const site_t *site, const char *pool, period_t period,
                    const cost_inputs_t *inputs, cost_t *cost,
                    gl_error_t *error);

#endif /* !GL_MONEY_COST_PRIVATE_H */
