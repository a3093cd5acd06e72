/*
 * counting.h: reads the counters of `units` from the servers of jobs on
 * agent.counter_ports, a few times a minute, and adds what they counted (produced.h).
 * Without ports it does nothing.
 */
#ifndef GL_AGENT_COUNTING_H
#define GL_AGENT_COUNTING_H

#include "site/site.h"

#include "holders.h"
#include "produced.h"

/* So often, and so long does a look take at most. */
#define COUNTING_INTERVAL_MS 10000
#define COUNTING_TIMEOUT_MS 500

typedef struct {
    listeners_t listeners;
    produced_t produced;
} counting_t;

/* Servers that were asked and gave no answer are counted in *ret_failed; `error` says
 * why the last one did not. */
void counting_look (counting_t *counting, const site_t *site,
                    const holders_t *holders, int64_t now_ms,
                    unsigned *ret_failed, gl_error_t *error);

#endif /* !GL_AGENT_COUNTING_H */
