/*
 * collector_rate.h: rate limits: a token bucket for each name, filled at a
 * steady rate up to its size. Pure: the time is given.
 */
#ifndef GL_COLLECTOR_RATE_H
#define GL_COLLECTOR_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rates rates_t;

typedef struct {
    double per_second;
    double burst;
} rate_t;

/* At most `max` names are remembered; the one that asked longest ago is
 * forgotten first. */
rates_t *rates_new (size_t max);
void rates_free (rates_t *rates);

/* Take `amount` out of the bucket of `name`; false: it holds less. */
bool rates_take (rates_t *rates, const char *name, const rate_t *rate,
                 double amount, int64_t now_ms);

#endif /* !GL_COLLECTOR_RATE_H */
