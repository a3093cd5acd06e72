#include "base/exact.h"
#include "planning/decision.h"

/* a / (b c), whatever ret is. */
static void quotient (mpq_t ret, mpq_srcptr a, mpq_srcptr b, mpq_srcptr c)
{
    mpq_t below;

    mpq_init (below);
    mpq_mul (below, b, c);
    mpq_div (ret, a, below);
    mpq_clear (below);
}

void decision_per_hour (mpq_t ret_per_hour, mpq_srcptr per_year,
                        mpq_srcptr hours_of_year, mpq_srcptr utilization)
{
    quotient (ret_per_hour, per_year, hours_of_year, utilization);
}

int decision_breakeven (mpq_t ret_utilization, mpq_srcptr per_year,
                        mpq_srcptr variable_per_hour, mpq_srcptr price_per_hour,
                        mpq_srcptr hours_of_year)
{
    mpq_t margin;
    int rc = 0;

    mpq_init (margin);
    mpq_set (margin, price_per_hour);
    if (variable_per_hour)
        mpq_sub (margin, margin, variable_per_hour);
    if (mpq_sgn (margin) > 0)
        quotient (ret_utilization, per_year, margin, hours_of_year);
    else {
        mpq_set_ui (ret_utilization, 0, 1);
        rc = -1;
    }
    mpq_clear (margin);
    return rc;
}

void decision_overhead_cost (mpq_t ret_per_year, mpq_srcptr price,
                             mpq_srcptr life_years,
                             mpq_srcptr overhead_per_year)
{
    mpq_t share;

    mpq_init (share);
    mpq_inv (share, life_years);
    mpq_add (share, share, overhead_per_year);
    mpq_mul (ret_per_year, price, share);
    mpq_clear (share);
}

void decision_interruption_loss (mpq_t ret_ratio,
                                 mpq_srcptr interruptions_per_hour,
                                 mpq_srcptr checkpoint_hours,
                                 mpq_srcptr restart_hours, bool at_worst)
{
    mpq_t lost;

    mpq_init (lost);
    mpq_set (lost, checkpoint_hours);
    if (!at_worst)
        mpq_div_2exp (lost, lost, 1);
    mpq_add (lost, lost, restart_hours);
    mpq_mul (ret_ratio, interruptions_per_hour, lost);
    mpq_clear (lost);
}

void decision_effective_price (mpq_t ret_per_hour, mpq_srcptr price_per_hour,
                               mpq_srcptr loss_ratio)
{
    mpq_t more;

    mpq_init (more);
    mpq_mul (more, price_per_hour, loss_ratio);
    mpq_add (ret_per_hour, price_per_hour, more);
    mpq_clear (more);
}

static void less_one (mpq_t value)
{
    mpz_sub (mpq_numref (value), mpq_numref (value), mpq_denref (value));
}

static void plus_one (mpq_t value)
{
    mpz_add (mpq_numref (value), mpq_numref (value), mpq_denref (value));
}

void decision_breakeven_loss (mpq_t ret_ratio, mpq_srcptr price_per_hour,
                              mpq_srcptr alternative_per_hour)
{
    mpq_div (ret_ratio, alternative_per_hour, price_per_hour);
    less_one (ret_ratio);
}

void decision_egress (mpq_t ret_cost, mpq_srcptr gb_per_day, mpq_srcptr days,
                      mpq_srcptr price_per_gb)
{
    mpq_t gb;

    mpq_init (gb);
    mpq_mul (gb, gb_per_day, days);
    mpq_mul (ret_cost, gb, price_per_gb);
    mpq_clear (gb);
}

void decision_effective_utilization (mpq_t ret_ratio,
                                     mpq_srcptr allocated_ratio,
                                     mpq_srcptr activity_ratio)
{
    mpq_mul (ret_ratio, allocated_ratio, activity_ratio);
}

void decision_scaling_efficiency (mpq_t ret_ratio, mpq_srcptr speed_up,
                                  mpq_srcptr gpus)
{
    mpq_div (ret_ratio, speed_up, gpus);
}

bool decision_scaling_is_poor (mpq_srcptr efficiency)
{
    return mpq_cmp_ui (efficiency, 3, 5) < 0;
}

void decision_run_cost (mpq_t ret_ratio, mpq_srcptr new_per_hour,
                        mpq_srcptr old_per_hour, mpq_srcptr speed_ratio)
{
    quotient (ret_ratio, new_per_hour, old_per_hour, speed_ratio);
}

void decision_serving_memory (mpq_t ret_gb, mpq_srcptr parameters_billion,
                              mpq_srcptr bytes_per_parameter,
                              mpq_srcptr cache_factor)
{
    mpq_t weights;

    mpq_init (weights);
    mpq_mul (weights, parameters_billion, bytes_per_parameter);
    mpq_mul (ret_gb, weights, cache_factor);
    mpq_clear (weights);
}

void decision_training_memory (mpq_t ret_gb, mpq_srcptr parameters_billion,
                               mpq_srcptr bytes_per_parameter)
{
    mpq_t bytes, moments;

    mpq_inits (bytes, moments, NULL);
    mpq_set_ui (moments, 8, 1);
    mpq_add (bytes, bytes_per_parameter, bytes_per_parameter);
    mpq_add (bytes, bytes, moments);
    mpq_mul (ret_gb, parameters_billion, bytes);
    mpq_clears (bytes, moments, NULL);
}

void decision_gib (mpq_t ret_gib, mpq_srcptr gb)
{
    mpq_t bytes;

    mpq_init (bytes);
    mpq_set_ui (bytes, 1000000000, 1);
    mpq_mul (bytes, bytes, gb);
    mpq_div_2exp (ret_gib, bytes, 30);
    mpq_clear (bytes);
}

void decision_demand_init (decision_demand_t *demand)
{
    mpq_inits (demand->gpu_hours_per_day, demand->utilization,
               demand->down_ratio, demand->spare_ratio, NULL);
    demand->gpus_per_node = 1;
}

void decision_demand_clear (decision_demand_t *demand)
{
    mpq_clears (demand->gpu_hours_per_day, demand->utilization,
                demand->down_ratio, demand->spare_ratio, NULL);
}

static uint64_t whole_nodes (mpq_srcptr gpus, uint64_t gpus_per_node)
{
    mpz_t nodes, per_node;
    uint64_t count;

    mpz_init (nodes);
    mpz_init_set_ui (per_node, gpus_per_node);
    mpz_mul (per_node, per_node, mpq_denref (gpus));
    mpz_cdiv_q (nodes, mpq_numref (gpus), per_node);
    count = mpz_get_ui (nodes);
    mpz_clears (nodes, per_node, NULL);
    return count;
}

void decision_capacity (const decision_demand_t *demand,
                        decision_capacity_t *ret_capacity)
{
    mpq_t day, factor;

    mpq_inits (ret_capacity->gpus, ret_capacity->gpus_spare, day, factor, NULL);
    mpq_set_ui (day, 24, 1);
    mpq_mul (day, day, demand->utilization);
    mpq_set_ui (factor, 1, 1);
    mpq_sub (factor, factor, demand->down_ratio);
    quotient (ret_capacity->gpus, demand->gpu_hours_per_day, day, factor);
    mpq_set (factor, demand->spare_ratio);
    plus_one (factor);
    mpq_mul (ret_capacity->gpus_spare, ret_capacity->gpus, factor);
    ret_capacity->nodes
        = whole_nodes (ret_capacity->gpus_spare, demand->gpus_per_node);
    mpq_clears (day, factor, NULL);
}

void decision_capacity_clear (decision_capacity_t *capacity)
{
    mpq_clears (capacity->gpus, capacity->gpus_spare, NULL);
}

/* With x counted from the middle, in halves: x = 2 i - (count - 1). */
void decision_trend (mpq_t ret_value, const mpq_t *values, size_t count,
                     uint32_t ahead)
{
    mpq_t mean, slope;
    int64_t squares = 0, n = (int64_t)count;

    mpq_inits (mean, slope, NULL);
    for (int64_t i = 0; i < n; i++) {
        int64_t x = 2 * i - (n - 1);
        squares += x * x;
        exact_add_scaled (mean, values[i], 1, n);
        exact_add_scaled (slope, values[i], x, 1);
    }
    exact_add_scaled (mean, slope, n - 1 + 2 * (int64_t)ahead, squares);
    mpq_set (ret_value, mean);
    mpq_clears (mean, slope, NULL);
}
