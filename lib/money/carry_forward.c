#include "money/carry_forward.h"

void carry_year_init (carry_year_t *year)
{
    mpq_inits (year->cost, year->revenue, year->band, year->next_cost,
               year->next_units, NULL);
}

void carry_year_clear (carry_year_t *year)
{
    mpq_clears (year->cost, year->revenue, year->band, year->next_cost,
                year->next_units, NULL);
}

void carry_forward_init (carry_forward_t *carry)
{
    mpq_inits (carry->balance, carry->share, carry->next_rate, carry->left,
               NULL);
}

void carry_forward_clear (carry_forward_t *carry)
{
    mpq_clears (carry->balance, carry->share, carry->next_rate, carry->left,
                NULL);
}

int carry_forward (const carry_year_t *year, carry_forward_t *ret_carry,
                   gl_error_t *error)
{
    carry_forward_t *c = ret_carry;

    if (mpq_sgn (year->cost) <= 0)
        return gl_error (error, "the year has no cost: there is nothing that a "
                                "rate could have recovered");
    if (mpq_sgn (year->next_units) <= 0)
        return gl_error (error, "no rate without units: how many GPU-hours are "
                                "expected to be billed in the next year?");
    mpq_sub (c->balance, year->revenue, year->cost);
    mpq_abs (c->share, c->balance);
    mpq_div (c->share, c->share, year->cost);
    c->within = mpq_cmp (c->share, year->band) <= 0;
    mpq_sub (c->next_rate, year->next_cost, c->balance);
    mpq_set_ui (c->left, 0, 1);
    if (mpq_sgn (c->next_rate) < 0) {
        mpq_neg (c->left, c->next_rate);
        mpq_set_ui (c->next_rate, 0, 1);
    }
    mpq_div (c->next_rate, c->next_rate, year->next_units);
    return 0;
}
