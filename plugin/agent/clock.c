#include <config.h>

#include <time.h>

#include "clock.h"

void clock_real (agent_clock_t *clock)
{
    *clock = (agent_clock_t){.through = false};
}

void clock_through (agent_clock_t *clock, int64_t first, int64_t last)
{
    *clock = (agent_clock_t){.through = true, .now = first, .last = last};
}

int64_t clock_now (const agent_clock_t *clock)
{
    struct timespec now;

    if (clock->through)
        return clock->now;
    clock_gettime (CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

int64_t clock_next (const agent_clock_t *clock, int64_t interval_ns)
{
    return (clock_now (clock) / interval_ns + 1) * interval_ns;
}

bool clock_advance (agent_clock_t *clock, int64_t to)
{
    if (clock->now >= clock->last)
        return false;
    clock->now = to < clock->last ? to : clock->last;
    return true;
}
