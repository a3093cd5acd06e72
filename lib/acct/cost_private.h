/* cost_private.h: what the parts of cost.c share. */
#ifndef GL_ACCT_COST_PRIVATE_H
#define GL_ACCT_COST_PRIVATE_H

#include "acct/cost.h"

/* What becomes a line. */
struct item {
    cost_kind_t kind;
    const char *name;
    mpq_srcptr amount;
    mpq_srcptr recoverable; /* of it; NULL: all */
    const char *how;
    place_t place;
};

/* By the book that charges are made of: what is not in it stands apart. */
void cost_add_line (const site_t *site, cost_t *cost, const struct item *item);

/* GPUs and nodes of one entry of a pool. */
int cost_entry_size (const site_pool_t *pool, uint64_t *ret_gpus,
                     uint64_t *ret_nodes, gl_error_t *error);

/* cost_power.c: power, and what a tariff has beside the price of energy. */
int cost_add_power (const site_t *site, const char *pool, period_t period,
                    const cost_inputs_t *inputs, cost_t *cost,
                    gl_error_t *error);
/* kWh of the pool's machines in the period, without PUE. */
int cost_energy (const site_t *site, const char *pool, period_t period,
                 const cost_inputs_t *inputs, mpq_t ret_kwh, gl_error_t *error);

/* cost_other.c */
bool cost_bears (const site_cost_t *entry, const char *pool);
/* The pool's share of the entry in a calendar month; 1 for one with `pool`. */
int cost_share (const site_t *site, const site_cost_t *entry, const char *pool,
                period_t month, const cost_inputs_t *inputs, mpq_t ret_share,
                gl_error_t *error);
int cost_add_other (const site_t *site, const char *pool, period_t period,
                    const cost_inputs_t *inputs, cost_t *cost,
                    gl_error_t *error);

#endif /* !GL_ACCT_COST_PRIVATE_H */
