#include "base/exact.h"
#include "planning/cash.h"

void cash_plan_init (cash_plan_t *plan)
{
    mpq_inits (plan->first_day, plan->own_per_month, plan->rent_per_month,
               NULL);
    plan->prepaid_months = 0;
}

void cash_plan_clear (cash_plan_t *plan)
{
    mpq_clears (plan->first_day, plan->own_per_month, plan->rent_per_month,
                NULL);
}

void cash_own (const cash_plan_t *plan, uint32_t month, mpq_t ret_total)
{
    uint32_t paid
        = month > plan->prepaid_months ? month - plan->prepaid_months : 0;

    mpq_set (ret_total, plan->first_day);
    exact_add_scaled (ret_total, plan->own_per_month, paid, 1);
}

void cash_rent (const cash_plan_t *plan, uint32_t month, mpq_t ret_total)
{
    mpq_set_ui (ret_total, 0, 1);
    exact_add_scaled (ret_total, plan->rent_per_month, month, 1);
}

void cash_saving (const cash_plan_t *plan, uint32_t month, mpq_t ret_total)
{
    mpq_t own;

    mpq_init (own);
    cash_own (plan, month, own);
    cash_rent (plan, month, ret_total);
    mpq_sub (ret_total, ret_total, own);
    mpq_clear (own);
}

/* Until the operation of own hardware is paid by the month, only rent flows;
 * from then on the difference of the two. */
bool cash_payback (const cash_plan_t *plan, mpq_t ret_months)
{
    mpq_t prepaid, margin;
    bool pays = true;

    mpq_inits (prepaid, margin, NULL);
    mpq_set_ui (prepaid, plan->prepaid_months, 1);
    if (mpq_sgn (plan->rent_per_month) > 0)
        mpq_div (ret_months, plan->first_day, plan->rent_per_month);
    else
        pays = false;
    if (pays && mpq_cmp (ret_months, prepaid) > 0) {
        mpq_sub (margin, plan->rent_per_month, plan->own_per_month);
        pays = mpq_sgn (margin) > 0;
        if (pays) {
            mpq_mul (ret_months, prepaid, plan->own_per_month);
            mpq_sub (ret_months, plan->first_day, ret_months);
            mpq_div (ret_months, ret_months, margin);
        }
    }
    mpq_clears (prepaid, margin, NULL);
    return pays;
}

void cash_present_value (mpq_srcptr first_day, mpq_srcptr per_year,
                         mpq_srcptr discount_ratio, uint32_t years,
                         mpq_t ret_total)
{
    mpq_t worth, factor;

    mpq_inits (worth, factor, NULL);
    mpq_set_ui (factor, 1, 1);
    mpq_add (factor, factor, discount_ratio);
    mpq_inv (factor, factor);
    mpq_set (worth, per_year);
    mpq_set (ret_total, first_day);
    for (uint32_t year = 0; year < years; year++) {
        mpq_mul (worth, worth, factor);
        mpq_add (ret_total, ret_total, worth);
    }
    mpq_clears (worth, factor, NULL);
}
