/*
 * cash.h: cumulative cash of owning and of renting, and when the one has paid
 * for itself (F16).
 *
 * Amounts are those at the end of month m, counted from the purchase:
 *
 *   own (m)  = first_day + own_per_month x (m - prepaid_months), not before
 *   rent (m) = rent_per_month x m
 *
 * Whether the operation of the first year is paid on day one (prepaid_months
 * 12, and in first_day) or by the month is a convention that moves the
 * payback: a report says which. Exact. Pure.
 */
#ifndef GL_PLANNING_CASH_H
#define GL_PLANNING_CASH_H

#include <gmp.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    mpq_t first_day;
    mpq_t own_per_month;
    uint32_t prepaid_months;
    mpq_t rent_per_month;
} cash_plan_t;

void cash_plan_init (cash_plan_t *plan);
void cash_plan_clear (cash_plan_t *plan);

void cash_own (const cash_plan_t *plan, uint32_t month, mpq_t ret_total);
void cash_rent (const cash_plan_t *plan, uint32_t month, mpq_t ret_total);
/* rent - own: what owning has saved by then; negative before the payback. */
void cash_saving (const cash_plan_t *plan, uint32_t month, mpq_t ret_total);

/* When rent has caught up with own, in months, as if money flowed evenly within
 * a month; the month in which it does is this rounded up. false: never. */
bool cash_payback (const cash_plan_t *plan, mpq_t ret_months);

/* Present value of first_day and of `per_year` at the end of each of `years`. */
void cash_present_value (mpq_srcptr first_day, mpq_srcptr per_year,
                         mpq_srcptr discount_ratio, uint32_t years,
                         mpq_t ret_total);

#endif /* !GL_PLANNING_CASH_H */
