/*
 * reserve.h: how many GPUs to reserve, given how many were wanted (F9).
 *
 * The k-th GPU pays while it is used for more than reserved price / price of
 * the alternative of the time. Its use is the mean over the samples of the part
 * of it that is wanted, min (1, max (0, demand - (k - 1))): with whole GPUs the
 * share of the samples in which at least k are wanted. The alternative is what
 * would be paid otherwise; for work that can restart, the effective price of
 * interruptible capacity (planning/formula.h, F8). Exact. Pure.
 */
#ifndef GL_PLANNING_RESERVE_H
#define GL_PLANNING_RESERVE_H

#include <gmp.h>
#include <stddef.h>
#include <stdint.h>

/* Samples of one length each: GPUs wanted, 0 and up. Borrowed. */
typedef struct {
    const mpq_t *gpus;
    size_t count; /* above 0 */
} reserve_demand_t;

/* The use of the k-th GPU, k from 1 on. */
void reserve_use (const reserve_demand_t *demand, uint64_t k, mpq_t ret_ratio);

/* How many pay. 0 if the reserved price is not below the alternative. */
uint64_t reserve_size (const reserve_demand_t *demand, mpq_srcptr reserved_per_hour,
                       mpq_srcptr alternative_per_hour);

/* What an hour costs on average with k reserved and the rest bought otherwise:
 * k x reserved + mean of max (0, demand - k) x alternative. */
void reserve_cost (const reserve_demand_t *demand, uint64_t k,
                   mpq_srcptr reserved_per_hour,
                   mpq_srcptr alternative_per_hour, mpq_t ret_per_hour);

/* Growth (F15): the straight line through `count` values at equal distances (least
 * squares), `ahead` distances after the last one. From 2 values on. */
void demand_trend (mpq_t ret_value, const mpq_t *values, size_t count,
                   uint32_t ahead);

#endif /* !GL_PLANNING_RESERVE_H */
