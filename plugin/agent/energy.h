/*
 * energy.h: the arithmetic of energy (docs/decisions/energy-split.md): checks
 * the difference of a counter, and divides it so that the parts add up to it.
 * Pure; integers only: millijoules, milliseconds, milliwatts.
 */
#ifndef GL_AGENT_ENERGY_H
#define GL_AGENT_ENERGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Used if the device does not report its power limit: twice what the largest
 * GPU that is sold draws. */
#define ENERGY_LIMIT_UNKNOWN 2000000
/* Counters are refreshed some ten times a second, so a short time may show the
 * energy of a longer one. */
#define ENERGY_SLACK_MS 1000
/* Above it, a counter is not a number but a code for "none", such as DCGM's
 * blanks from 2^63 - 16. */
#define ENERGY_COUNTER_MAX (INT64_C (1) << 62)

/* The device can have used so much in that time: not negative, and at most one
 * and a half times its power limit (DEVICE_UNKNOWN: ENERGY_LIMIT_UNKNOWN). */
bool energy_plausible (int64_t difference, int64_t ms, int64_t power_limit);

/* The part of `total` that belongs to the first `elapsed` of `whole`, rounded
 * down: differences of it are the parts of consecutive times, and sum. */
int64_t energy_until (int64_t total, int64_t elapsed, int64_t whole);

/* Divide `total` by weights: each part its floor, the rest one by one to the
 * largest remainders, ties to the lower index. All weights 0: nothing is
 * divided and false comes back. */
bool energy_divide (int64_t total, const int64_t *weights, size_t count,
                    int64_t *ret_parts);

#endif /* !GL_AGENT_ENERGY_H */
