/*
 * analysis_lists.h: the inputs of `analyses` that are lists: the tiers of a price, and a demand
 * (planning/analysis.h). Exact. Pure.
 */
#ifndef GL_PLANNING_ANALYSIS_LISTS_H
#define GL_PLANNING_ANALYSIS_LISTS_H

#include "base/error.h"
#include "base/text.h"
#include "planning/formula.h"

/* Pairs of GB and price: from 0 on and rising, each price not below 0. */
int analysis_check_tiers (const text_list_t *tiers, gl_error_t *error);
/* GPUs, not below 0, and not all 0. */
int analysis_check_demand (const text_list_t *demand, gl_error_t *error);

/* `tiered_cost`: each GB of `gb_per_day` x `days` at the price of its tier. */
void analysis_take_tiers (const text_list_t *tiers, values_t *values);
/* From `price` (of a reserved GPU), `against`, `spot`, `interruptible` and `reserved`: the GPUs
 * reserved (`floor_gpus`; without `reserved` as many as cost the least), those in use on
 * average (`mean_gpus`, `spot_gpus`, `on_demand_gpus`) and the cost of an hour with one less
 * and one more (`cost_less`, `cost_more`). */
void analysis_take_demand (const text_list_t *demand, values_t *values);

#endif /* !GL_PLANNING_ANALYSIS_LISTS_H */
