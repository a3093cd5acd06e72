/*
 * cost.h: what a pool cost in a period, line by line, exactly.
 *
 * docs/guides/cost-book.md has the formulas of depreciation, power and staff,
 * with worked figures. A line's share of a period:
 *
 *   hardware  depreciation (depreciation.h) of the days that the asset stands in
 *             the pool; a part of a day by its seconds (a day of 23 or 25 hours
 *             bears the same amount as any other)
 *   disposal  units x (book value - proceeds), in the month of the first day on
 *             which the asset no longer serves
 *   staff     FTE x share x loaded salary / 12 for each calendar month of the
 *             ledger's zone; a part of a month by its seconds
 *   power     watts x seconds x PUE x price per kWh, cut at every change of
 *             power, tariff, its times of use and pool. Watts: of all GPUs, as
 *             the entry says on average; or with idle_watts, in each month, the
 *             energy of allocated GPUs (watts x allocated time) and of free ones (idle
 *             watts x free time) over the time in service; and of all nodes.
 *             What was measured of allocated GPUs takes the place of its time, at the
 *             price of the quarter of an hour in which it was used
 *             (load_profile.h). Demand: price x the highest load of the month, by
 *             meters or modelled, shared by what pools drew then (cost_peak.h).
 *             Fee: by energy, to the pools that pay by the tariff
 *   other     amount x what its driver counts in the period; a month: as staff; a
 *             year: 1/12 for each calendar month. Shared ones: by fixed shares,
 *             or by the pools' quantities of the calendar month; where none has
 *             any, by capacity, then evenly
 *
 * A part of the total follows use (`by_use`): the amounts per GPU hour and per job,
 * those per kWh as far as allocated GPUs consume more than idle ones, and hardware
 * written off by units of use. Everything else, `power` included, is the cost of
 * capacity. charge.h says who pays which.
 *
 * Every share is additive: the lines of adjacent periods add up to those of
 * the whole, and hardware over its life to price - salvage. What is known in advance
 * (hardware, disposals, staff, amounts by month and year, fees) is booked in whole
 * smallest units: the rounded total since the entry began less that at the beginning of
 * the period (docs/decisions/booked-totals.md). What follows use is exact, and rounded
 * by charge_compute() with the pool's month. Pure; any number of threads may read one
 * site.
 */
#ifndef GL_MONEY_COST_H
#define GL_MONEY_COST_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"
#include "money/cost_inputs.h"
#include "site/site.h"

typedef enum {
    COST_HARDWARE,
    COST_STAFF,
    COST_POWER,
    COST_OTHER,
    COST_DISPOSAL, /* gain (below 0) or loss of an asset that is retired */
    COST_KIND_COUNT,
} cost_kind_t;

/* "hardware", "staff", "power", "other", "disposal". */
const char *cost_kind_name (cost_kind_t kind);

typedef struct {
    cost_kind_t kind;
    char *name;    /* of the entry; "staff" and "power" for these kinds: people
                      and their pay never show, only what a pool's cost in all,
                      by fund */
    mpq_t amount;  /* of the ledger's currency: as booked, or exact where it
                      follows use */
    char *fund;    /* that pays for it; NULL: unspecified */
    size_t entry;  /* lines of one entry, by its funds, have the same */
    char *how;     /* the inputs and the arithmetic, for people */
    place_t place; /* of the first entry in it */
} cost_line_t;

/*
 * Two books. The full cost is for decisions; the recoverable one leaves out what
 * others have paid for, which rates must not recover (2 CFR 200.468): an entry's
 * own `recoverable` share, and of each of its funds that of the fund. An entry with
 * funds gives one line for each, which add up to what it costs.
 * policy.book says which of them charges are made of:
 *
 *   total = full, or recoverable
 *   full + disposal = total + sum of `apart`
 */
typedef struct {
    cost_line_t *line; /* hardware (and disposals), staff, power, other; each in
                          file order: what charges are made of */
    size_t count;
    mpq_t total; /* the sum of the lines */
    mpq_t by_use; /* the part of total that follows use: costs per GPU hour and per
                     job, energy of jobs, hardware written off by units of use */
    cost_line_t *apart; /* what is in no charge: disposals, and in the recoverable
                           book what is not recoverable */
    size_t apart_count;
    size_t entry_count; /* that the lines are of */
    mpq_t full;
    mpq_t recoverable; /* of it */
    mpq_t disposal;    /* of `apart`, and in neither book */
} cost_t;

/* cost_init before use, cost_clear after. */
void cost_init (cost_t *cost);
void cost_clear (cost_t *cost);

/*
 * The cost of the pool named `pool` in `period`. `inputs`: what the pools did (may
 * be NULL: nothing), for units of use from the day in service on. Entries that
 * bear nothing in the period give no line. -1 if a node list of the pool cannot be
 * read or no tariff holds for a part of the period with power (a checked
 * configuration has neither); *cost is then empty. What was in it is freed.
 */
int cost_of_pool (const site_t *site, const char *pool, period_t period,
                  const cost_inputs_t *inputs, cost_t *cost, gl_error_t *error);

/* Some cost follows jobs or measured energy, which cost_inputs_t must then
 * have. */
bool cost_wants_usage (const site_t *site);

/* Some demand is charged, which meters may tell, in the period. */
bool cost_wants_meters (const site_t *site, period_t period);

/* Physical GPUs of the pool at that instant: nodes x gpus_per_node over its
 * entries in force; 0 for a pool that does not exist then. */
int cost_pool_gpus (const site_t *site, const char *pool, int64_t instant,
                    uint64_t *ret_gpus, gl_error_t *error);

/* GPUs and nodes of one entry of a pool. */
int cost_entry_size (const site_pool_t *pool, uint64_t *ret_gpus,
                     uint64_t *ret_nodes, gl_error_t *error);

/* The pool bears the entry of `costs`, alone or with others; and its share of it in
 * a calendar month, 1 for one of its own. `inputs` as of cost_of_pool(). */
bool cost_bears (const site_cost_t *entry, const char *pool);
int cost_share (const site_t *site, const site_cost_t *entry, const char *pool,
                period_t month, const cost_inputs_t *inputs, mpq_t ret_share,
                gl_error_t *error);

/* The share that rates may recover of what `fund` (NULL: unspecified) pays of an
 * entry, of which they may recover `entry`; 0..1. */
void cost_recoverable (const site_t *site, mpq_srcptr entry, const char *fund,
                       mpq_t ret_share);

/* From NULL, those of whom it is unspecified, to each of the funds that pay staff,
 * bytewise; false after the last. */
bool cost_next_staff_fund (const site_t *site, const char **fund);
/* What share of the entry the fund (NULL: unspecified) pays. */
void cost_staff_share (const site_staff_t *staff, const char *fund,
                       mpq_t ret_share);

/* Depreciation alone, exact: what one asset bears in the period, in all pools. */
void cost_of_asset (const site_t *site, const site_asset_t *asset,
                    period_t period, const cost_inputs_t *inputs,
                    mpq_t ret_amount);

/* What the cost book has of it in the pool, and how much of that is recoverable: of
 * its i-th fund, or all of an asset without. False beyond the last. */
bool cost_of_asset_in (const site_t *site, const site_asset_t *asset,
                       const char *pool, period_t period,
                       const cost_inputs_t *inputs, size_t index,
                       const char **ret_fund, mpq_t ret_amount,
                       mpq_t ret_recoverable);

/* Calendar months of the zone in `period`, parts by seconds: exact. */
void cost_months (const zone_t *zone, period_t period, mpq_t ret_months);

#endif /* !GL_MONEY_COST_H */
