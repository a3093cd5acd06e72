#include "planning/move.h"

static uint64_t unused (const move_pool_t *pool, size_t hour)
{
    return pool->used[hour] < pool->gpus ? pool->gpus - pool->used[hour] : 0;
}

/* False: in some hour there is too little room. */
static bool has_room (const uint64_t *work, size_t hours,
                      const move_pool_t *pool, uint64_t *ret_left)
{
    *ret_left = pool->gpus;
    for (size_t i = 0; i < hours; i++) {
        uint64_t room = unused (pool, i);
        if (room < work[i])
            return false;
        if (room - work[i] < *ret_left)
            *ret_left = room - work[i];
    }
    return true;
}

size_t move_to_one (const uint64_t *work, size_t hours, move_pool_t *const *to,
                    size_t count, uint64_t *ret_left)
{
    size_t best = count;

    for (size_t i = 0; i < count; i++) {
        uint64_t left;
        if (!has_room (work, hours, to[i], &left)
            || (best < count && left <= *ret_left))
            continue;
        best = i;
        *ret_left = left;
    }
    return best;
}

uint64_t move_busiest (const uint64_t *work, size_t hours, size_t *ret_hour)
{
    *ret_hour = 0;
    for (size_t i = 1; i < hours; i++)
        if (work[i] > work[*ret_hour])
            *ret_hour = i;
    return hours > 0 ? work[*ret_hour] : 0;
}

size_t move_short_hours (const uint64_t *work, size_t hours,
                         move_pool_t *const *to, size_t count,
                         bool *ret_busiest)
{
    size_t most, missing = 0;

    move_busiest (work, hours, &most);
    *ret_busiest = false;
    for (size_t i = 0; i < hours; i++) {
        uint64_t room = 0;
        for (size_t k = 0; k < count; k++)
            room += unused (to[k], i);
        if (room >= work[i])
            continue;
        missing++;
        *ret_busiest = *ret_busiest || work[i] == work[most];
    }
    return missing;
}

void move_put (const uint64_t *work, size_t hours, move_pool_t *const *to,
               size_t count)
{
    for (size_t i = 0; i < hours; i++) {
        uint64_t rest = work[i];
        for (size_t k = 0; k < count && rest > 0; k++) {
            uint64_t room = unused (to[k], i);
            uint64_t here = rest < room ? rest : room;
            to[k]->used[i] += here;
            to[k]->takes = to[k]->takes || here > 0;
            rest -= here;
        }
    }
}
