/*
 * idle.h: when an allocated device counts as idle.
 *
 * Two kinds, both for as long as the rule says, without a break: utilization
 * below the threshold while memory is in use (RECORD_IDLE_UTILIZATION), and no
 * process at all (RECORD_IDLE_NO_PROCESS). An unknown value ends an idle
 * period, so it never causes an alert. Pure.
 */
#ifndef GL_AGENT_IDLE_H
#define GL_AGENT_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "devices/device.h"

typedef struct {
    int64_t utilization; /* below this, millionths of full use, it is idle */
    int64_t memory;      /* memory in use from this share, in millionths */
    int64_t limit_ms;    /* for so long */
} idle_rule_t;

/* How long each has lasted up to now, milliseconds. Numbers only (state.c). */
typedef struct {
    int64_t below;      /* the threshold */
    int64_t below_held; /* below the threshold, with memory in use */
    int64_t no_process;
} idle_run_t;

bool idle_below (const idle_rule_t *rule, int64_t utilization);

/* Adds `ms` with this sample (NULL: unknown). Returns the RECORD_IDLE_* bits
 * that are set at the end. `memory_total` in MiB. */
unsigned idle_advance (idle_run_t *run, const idle_rule_t *rule,
                       const sample_t *sample, int64_t memory_total,
                       int64_t ms);

#endif /* !GL_AGENT_IDLE_H */
