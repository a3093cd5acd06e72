/*
 * clock.h: the agent's time: the machine's clock, or the time of a replay that
 * is processed without waiting. Nanoseconds since 1970; one thread.
 */
#ifndef GL_AGENT_CLOCK_H
#define GL_AGENT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_NS_PER_MS INT64_C (1000000)

typedef struct {
    bool through; /* time passes only by clock_advance() */
    int64_t now;
    int64_t last; /* the replay's end */
} agent_clock_t;

void clock_real (agent_clock_t *clock);
void clock_through (agent_clock_t *clock, int64_t first, int64_t last);

int64_t clock_now (const agent_clock_t *clock);
/* The next multiple of `interval_ns` after now. */
int64_t clock_next (const agent_clock_t *clock, int64_t interval_ns);
/* Through a replay: go to that moment, at most to the end. False: the end had
 * been reached before. */
bool clock_advance (agent_clock_t *clock, int64_t to);

#endif /* !GL_AGENT_CLOCK_H */
