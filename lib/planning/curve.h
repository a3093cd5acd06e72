/*
 * curve.h: the demand curve of a pool: how many GPUs were in use, hour by hour, and
 * its growth. Exact. Pure.
 */
#ifndef GL_PLANNING_CURVE_H
#define GL_PLANNING_CURVE_H

#include <gmp.h>
#include <stddef.h>
#include <stdint.h>

/* GPUs in use in hours of equal length, from the most to the least, and their
 * sums: sum[i] is the sum of the first i. */
typedef struct {
    mpq_t *gpus;
    mpq_t *sum; /* count + 1 */
    size_t count;
    mpq_t mean; /* 0 of no hours */
} curve_t;

/* `gpus`: 0 and up, in any order; copied. */
void curve_init (curve_t *demand, const mpq_t *gpus, size_t count);
void curve_clear (curve_t *demand);

/* The mean of max (0, demand - level): the GPU-hours in an hour, on average, that
 * `level` GPUs leave undone. */
void curve_above (const curve_t *demand, mpq_srcptr level, mpq_t ret_mean);

/* The largest demand x share, less `level`, as whole GPUs; 0 where it is not
 * above 0. */
uint64_t curve_gpus_above (const curve_t *demand, mpq_srcptr share,
                           mpq_srcptr level);

/* Growth (F15): the straight line through `count` values at equal distances (least
 * squares), `ahead` distances after the last one. From 2 values on. */
void curve_trend (mpq_t ret_value, const mpq_t *values, size_t count,
                  uint32_t ahead);

#endif /* !GL_PLANNING_CURVE_H */
