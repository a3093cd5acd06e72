/*
 * cut.h: where stretches of time are cut: at the UTC hour, half hour or
 * quarter, so that they fall into hours and days of the zones that have such
 * offsets. Pure; milliseconds since 1970.
 */
#ifndef GL_AGENT_CUT_H
#define GL_AGENT_CUT_H

#include <stdbool.h>
#include <stdint.h>

bool cut_at (int64_t ms, int64_t cut_ms);
/* The first cut after `ms`. */
int64_t cut_next (int64_t ms, int64_t cut_ms);
/* How many looks are due in (begin, end], at the multiples of the interval. */
int64_t cut_looks (int64_t begin, int64_t end, int64_t interval_ms);

#endif /* !GL_AGENT_CUT_H */
