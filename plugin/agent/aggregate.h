/*
 * aggregate.h: the measurements of one device in one interval of time, as
 * running sums. Integers only; the units are those of docs/formats/record.md.
 * Pure.
 */
#ifndef GL_AGENT_AGGREGATE_H
#define GL_AGENT_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

#include "devices/device.h"
#include "idle.h"

#define AGGREGATE_STEPS 20 /* of the histogram, 5 % each */

/* Numbers only: state.c keeps it as an array. */
typedef struct {
    int64_t begin_ms;
    int64_t samples;
    int64_t energy_mj;
    int64_t energy_ms;
    int64_t counter_resets;
    int64_t utilization_sum;
    int64_t utilization_ms;
    int64_t utilization_max;
    int64_t utilization_step[AGGREGATE_STEPS];
    int64_t memory_sum;
    int64_t memory_ms;
    int64_t memory_max;
    int64_t power_sum;
    int64_t power_ms;
    int64_t power_max;
    int64_t clock_sum;
    int64_t clock_ms;
    int64_t throttled_ms;
    int64_t throttle_ms;
    int64_t throttle_reasons;
    int64_t processes_ms;
    int64_t processes_max;
    int64_t no_process_ms;
    int64_t idle_ms;
    int64_t idle_longest_ms;
    int64_t idle_rule;
    int64_t unnamed; /* jobs had unnamed devices on this node */
} aggregate_t;

void aggregate_begin (aggregate_t *sum, int64_t begin_ms);

/* Adds `sample` for another `ms`. `run`, which already includes these `ms`,
 * gives the longest idle period; `found` are RECORD_IDLE_* bits. */
void aggregate_add (aggregate_t *sum, const idle_rule_t *rule,
                    const sample_t *sample, int64_t ms);
void aggregate_add_idle (aggregate_t *sum, const idle_run_t *run,
                         unsigned found);
void aggregate_add_energy (aggregate_t *sum, int64_t energy_mj, int64_t ms);

/* Nothing at all was seen. */
bool aggregate_empty (const aggregate_t *sum);

/* Writes the fields of a job-usage record; a value that was never known stays
 * absent. The caller sets identity, holders and other times. */
void aggregate_fill (const aggregate_t *sum, record_t *record);

#endif /* !GL_AGENT_AGGREGATE_H */
