/* What the files of the break-even share. */
#ifndef GL_ACCT_BREAKEVEN_PRIVATE_H
#define GL_ACCT_BREAKEVEN_PRIVATE_H

#include "acct/breakeven.h"

bool breakeven_in_force (period_t valid, int64_t instant);

/* The text of a change as a number; `fallback` without one. */
void breakeven_input (const char *text, mpq_srcptr fallback, mpq_t ret_value);

/* Takes `how`. `yearly`: of the whole pool; becomes a part per GPU. 0 makes
 * none. */
void breakeven_add_part (breakeven_t *b, cost_kind_t kind, const char *name,
                         const mpq_t yearly, char *how);

/* ---- breakeven_power.c ---- */

int breakeven_add_power (const site_t *site, int64_t at,
                         const breakeven_change_t *change, breakeven_t *b,
                         gl_error_t *error);

/* What the machines of any pool draw in the year at the utilization of *b, without
 * PUE. */
int breakeven_kwh (const site_t *site, const char *pool, int64_t at,
                   const breakeven_t *b, mpq_t ret_kwh, gl_error_t *error);

#endif /* !GL_ACCT_BREAKEVEN_PRIVATE_H */
