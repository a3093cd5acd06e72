/*
 * move.h: whether the work of one pool fits into the unused GPUs of others, hour by hour.
 * Whole GPUs: part of one that is in use counts as one. Exact. Pure.
 */
#ifndef GL_PLANNING_MOVE_H
#define GL_PLANNING_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t gpus;  /* that the pool keeps */
    uint64_t *used; /* of them, in each hour; may be more than there are */
    bool takes;     /* move_put() gave it work */
} move_pool_t;

/* Which of `to` has room for `work` in every hour, and most of it in its fullest hour: of equal
 * ones the first. `count`: none has. *ret_left: so many of its GPUs, or more, stay unused in
 * every hour. */
size_t move_to_one (const uint64_t *work, size_t hours, move_pool_t *const *to,
                    size_t count, uint64_t *ret_left);
/* The hours in which all of `to` together have too little room; *ret_busiest: one of
 * them has as much work as any hour. */
size_t move_short_hours (const uint64_t *work, size_t hours,
                         move_pool_t *const *to, size_t count,
                         bool *ret_busiest);
/* The most work of any hour; *ret_hour: the first of such hours. */
uint64_t move_busiest (const uint64_t *work, size_t hours, size_t *ret_hour);
/* Each hour's work to the first of `to`, what has no room there to the next one. */
void move_put (const uint64_t *work, size_t hours, move_pool_t *const *to,
               size_t count);

#endif /* !GL_PLANNING_MOVE_H */
