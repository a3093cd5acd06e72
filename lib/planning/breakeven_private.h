/*
 * breakeven_private.h: what breakeven.c (the parts of the cost of owning),
 * breakeven_power.c (power) and breakeven_price.c (prices against it) share.
 *
 * Money is in the currency of the site, for a year, exact; `at` is the instant whose
 * entries of the book count. Of *b the pool, its GPUs, the hours of the year and the
 * utilization are set before anything is added; who made it clears it after -1. A
 * `ret_value` is initialised by the caller. Texts are borrowed, but for `how`.
 */
#ifndef GL_PLANNING_BREAKEVEN_PRIVATE_H
#define GL_PLANNING_BREAKEVEN_PRIVATE_H

#include "planning/breakeven.h"

/* The instant is in the period, whose end is not. */
bool breakeven_in_force (period_t valid, int64_t instant);

/* A member of breakeven_change_t, which is well-formed, as a number: "0.08", "10%";
 * for NULL `fallback`. */
void breakeven_input (const char *text, mpq_srcptr fallback, mpq_t ret_value);

/* Adds a part of the cost: `yearly`, of the whole pool, is divided among its GPUs,
 * and 0 makes no part. Takes `how`, which was allocated, whatever becomes of it. */
void breakeven_add_part (breakeven_t *b, cost_kind_t kind, const char *name,
                         const mpq_t yearly, char *how);

/* ---- breakeven_price.c ---- */

/* Adds a price; A, H and u of *b are known. */
void breakeven_add_cloud (const site_cloud_t *cloud, breakeven_t *b);
void breakeven_clear_cloud (breakeven_cloud_t *cloud);

/* ---- breakeven_power.c ---- */

/* Adds energy, and what a tariff has beside its price, of the entries of `power`
 * that hold. -1: no tariff holds at that instant, or a list of nodes cannot be read. */
int breakeven_add_power (const site_t *site, int64_t at,
                         const breakeven_change_t *change, breakeven_t *b,
                         gl_error_t *error);

/* kWh that the machines of any pool draw in the year at the utilization of *b,
 * without PUE. */
int breakeven_kwh (const site_t *site, const char *pool, int64_t at,
                   const breakeven_t *b, mpq_t ret_kwh, gl_error_t *error);

#endif /* !GL_PLANNING_BREAKEVEN_PRIVATE_H */
