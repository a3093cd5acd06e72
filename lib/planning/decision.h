/*
 * decision.h: the planning formulas: one function for each, exact, with its
 * units in the names of what it takes. Cash flow is planning/cash.h, the size of a
 * reservation planning/reserve.h, the cost of a pool planning/breakeven.h.
 *
 * The numbers F5 to F15 are those of docs/guides/decisions.md, where each has
 * a worked example. A ratio is a part of 1. Divisors must not be 0; callers
 * check what comes from outside. `ret` may be one of the arguments. Pure.
 */
#ifndef GL_PLANNING_DECISION_H
#define GL_PLANNING_DECISION_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* F5: what a productive hour costs: per_year / (hours_of_year u). */
void decision_per_hour (mpq_t ret_per_hour, mpq_srcptr per_year,
                        mpq_srcptr hours_of_year, mpq_srcptr utilization);

/* F6: the utilization from which on owning is cheaper than `price_per_hour`:
 * per_year / ((price_per_hour - variable_per_hour) hours_of_year), where
 * per_year holds what does not depend on use. `variable_per_hour` may be NULL:
 * 0. Above 1: never; -1 and 0 where the price does not even cover what varies:
 * never, too. */
int decision_breakeven (mpq_t ret_utilization, mpq_srcptr per_year,
                        mpq_srcptr variable_per_hour, mpq_srcptr price_per_hour,
                        mpq_srcptr hours_of_year);

/* F7: yearly cost of a machine of which only the price is known:
 * price (1 / life_years + overhead_per_year), the overhead being a share of the
 * price each year. Where an overhead is a share of one year's depreciation,
 * divide it by life_years first: the two readings differ by a factor. */
void decision_overhead_cost (mpq_t ret_per_year, mpq_srcptr price,
                             mpq_srcptr life_years,
                             mpq_srcptr overhead_per_year);

/* F8: hours lost for each hour bought on capacity that may be taken away:
 * p (checkpoint / 2 + restart), at worst p (checkpoint + restart), with p
 * interruptions per hour. */
void decision_interruption_loss (mpq_t ret_ratio, mpq_srcptr interruptions_per_hour,
                                 mpq_srcptr checkpoint_hours,
                                 mpq_srcptr restart_hours, bool at_worst);
/* F8: price x (1 + loss): the lost hours were bought at the same price. */
void decision_effective_price (mpq_t ret_per_hour, mpq_srcptr price_per_hour,
                               mpq_srcptr loss_ratio);
/* F8: the loss at which an interruptible price is no longer cheaper:
 * alternative / price - 1. */
void decision_breakeven_loss (mpq_t ret_ratio, mpq_srcptr price_per_hour,
                              mpq_srcptr alternative_per_hour);

/* F10: of decimal gigabytes. */
void decision_egress (mpq_t ret_cost, mpq_srcptr gb_per_day, mpq_srcptr days,
                      mpq_srcptr price_per_gb);

/* F11: the product of the allocated share of the time and of what the device
 * did while it was allocated. */
void decision_effective_utilization (mpq_t ret_ratio, mpq_srcptr allocated_ratio,
                                     mpq_srcptr activity_ratio);

/* F12: speed-up / GPUs. The cost of a unit of work grows by its inverse. */
void decision_scaling_efficiency (mpq_t ret_ratio, mpq_srcptr speed_up,
                                  mpq_srcptr gpus);
/* F12: below 0.60 most of what is added is wasted. */
bool decision_scaling_is_poor (mpq_srcptr efficiency);

/* F13: (new / old) / speed: what a run costs on another GPU for each 1 that it
 * costs now. Speed 1: the speed ratio above which the new one pays. */
void decision_run_cost (mpq_t ret_ratio, mpq_srcptr new_per_hour,
                        mpq_srcptr old_per_hour, mpq_srcptr speed_ratio);

/* F14: decimal gigabytes: parameters (billions) x bytes x cache factor. */
void decision_serving_memory (mpq_t ret_gb, mpq_srcptr parameters_billion,
                              mpq_srcptr bytes_per_parameter,
                              mpq_srcptr cache_factor);
/* F14: weights and gradients, and 8 bytes for two 32-bit moments of the
 * optimizer; activations aside. */
void decision_training_memory (mpq_t ret_gb, mpq_srcptr parameters_billion,
                               mpq_srcptr bytes_per_parameter);
/* GB (10^9 bytes) to GiB (2^30 bytes). */
void decision_gib (mpq_t ret_gib, mpq_srcptr gb);

/* F15 */
typedef struct {
    mpq_t gpu_hours_per_day; /* demand */
    mpq_t utilization;       /* target average, above 0 */
    mpq_t down_ratio;        /* share of the time, below 1 */
    mpq_t spare_ratio;
    uint64_t gpus_per_node;
} decision_demand_t;

typedef struct {
    mpq_t gpus;         /* D / (24 u (1 - d)) */
    mpq_t gpus_spare;   /* with spares: x (1 + s) */
    uint64_t nodes;     /* whole ones for that */
} decision_capacity_t;

void decision_demand_init (decision_demand_t *demand);
void decision_demand_clear (decision_demand_t *demand);
/* Into a struct that need not be initialised; clear it. */
void decision_capacity (const decision_demand_t *demand,
                        decision_capacity_t *ret_capacity);
void decision_capacity_clear (decision_capacity_t *capacity);

/* F15, growth: the straight line through `count` values at equal distances (least
 * squares), `ahead` distances after the last one. From 2 values on. */
void decision_trend (mpq_t ret_value, const mpq_t *values, size_t count,
                     uint32_t ahead);

#endif /* !GL_PLANNING_DECISION_H */
