#include <config.h>

#include <inttypes.h>
#include <stdio.h>

#include "aggregate.h"

#define UTILIZATION_FULL 10000
/* NVML's bit for a GPU whose clocks are low because it has nothing to do. */
#define THROTTLE_IDLE 1

void aggregate_begin (aggregate_t *sum, int64_t begin_ms)
{
    *sum = (aggregate_t){.begin_ms = begin_ms};
}

static void keep_maximum (int64_t *maximum, int64_t value)
{
    if (value > *maximum)
        *maximum = value;
}

static void add_utilization (aggregate_t *sum, const idle_rule_t *rule,
                             int64_t value, int64_t ms)
{
    int64_t step = value * AGGREGATE_STEPS / UTILIZATION_FULL;

    if (value < 0 || value > UTILIZATION_FULL)
        return;
    sum->utilization_sum += value * ms;
    sum->utilization_ms += ms;
    keep_maximum (&sum->utilization_max, value);
    sum->utilization_step[step < AGGREGATE_STEPS ? step : AGGREGATE_STEPS - 1]
        += ms;
    if (idle_below (rule, value))
        sum->idle_ms += ms;
}

/* A sum that the value would overflow is that of a broken sensor. */
static bool add_value (int64_t *sum, int64_t *known_ms, int64_t value,
                       int64_t ms)
{
    int64_t product;

    if (value < 0 || __builtin_mul_overflow (value, ms, &product)
        || __builtin_add_overflow (*sum, product, &product))
        return false;
    *sum = product;
    *known_ms += ms;
    return true;
}

static void add_throttle (aggregate_t *sum, int64_t reasons, int64_t ms)
{
    if (reasons < 0)
        return;
    sum->throttle_ms += ms;
    sum->throttle_reasons |= reasons;
    if (reasons & ~(int64_t)THROTTLE_IDLE)
        sum->throttled_ms += ms;
}

static void add_processes (aggregate_t *sum, int64_t processes, int64_t ms)
{
    if (processes < 0)
        return;
    sum->processes_ms += ms;
    keep_maximum (&sum->processes_max, processes);
    if (processes == 0)
        sum->no_process_ms += ms;
}

void aggregate_add (aggregate_t *sum, const idle_rule_t *rule,
                    const sample_t *sample, int64_t ms)
{
    add_utilization (sum, rule, sample->utilization, ms);
    if (add_value (&sum->memory_sum, &sum->memory_ms, sample->memory_used, ms))
        keep_maximum (&sum->memory_max, sample->memory_used);
    if (add_value (&sum->power_sum, &sum->power_ms, sample->power, ms))
        keep_maximum (&sum->power_max, sample->power);
    add_value (&sum->clock_sum, &sum->clock_ms, sample->clock, ms);
    add_throttle (sum, sample->throttle, ms);
    add_processes (sum, sample->processes, ms);
}

void aggregate_add_idle (aggregate_t *sum, const idle_run_t *run,
                         unsigned found)
{
    keep_maximum (&sum->idle_longest_ms, run->below);
    sum->idle_rule |= found;
}

void aggregate_add_energy (aggregate_t *sum, int64_t energy_mj, int64_t ms)
{
    sum->energy_mj += energy_mj;
    sum->energy_ms += ms;
}

bool aggregate_empty (const aggregate_t *sum)
{
    return sum->samples == 0 && sum->energy_ms == 0 && sum->counter_resets == 0;
}

static void fill_histogram (const aggregate_t *sum, record_t *record)
{
    char text[sizeof (record->utilization_histogram)] = "";
    size_t at = 0;

    for (size_t i = 0; i < AGGREGATE_STEPS && at < sizeof (text); i++)
        at += (size_t)snprintf (text + at, sizeof (text) - at, "%s%" PRId64,
                                i ? "," : "", sum->utilization_step[i]);
    if (at < sizeof (text))
        record_set_text (record, RECORD_FIELD_utilization_histogram, text);
}

/* The fields of one group, written if it was known for some time. */
#define FILL(record, sum, member) \
    record_set_number (record, RECORD_FIELD_##member, (sum)->member)

static void fill_activity (const aggregate_t *sum, record_t *record)
{
    if (sum->utilization_ms > 0) {
        FILL (record, sum, utilization_sum);
        FILL (record, sum, utilization_ms);
        FILL (record, sum, utilization_max);
        FILL (record, sum, idle_ms);
        FILL (record, sum, idle_longest_ms);
        fill_histogram (sum, record);
    }
    if (sum->memory_ms > 0) {
        FILL (record, sum, memory_sum);
        FILL (record, sum, memory_ms);
        FILL (record, sum, memory_max);
    }
    if (sum->processes_ms > 0) {
        FILL (record, sum, processes_ms);
        FILL (record, sum, processes_max);
        FILL (record, sum, no_process_ms);
    }
}

static void fill_physical (const aggregate_t *sum, record_t *record)
{
    if (sum->energy_ms > 0) {
        FILL (record, sum, energy_mj);
        FILL (record, sum, energy_ms);
    }
    if (sum->counter_resets > 0)
        FILL (record, sum, counter_resets);
    if (sum->power_ms > 0) {
        FILL (record, sum, power_sum);
        FILL (record, sum, power_ms);
        FILL (record, sum, power_max);
    }
    if (sum->clock_ms > 0) {
        FILL (record, sum, clock_sum);
        FILL (record, sum, clock_ms);
    }
    if (sum->throttle_ms > 0) {
        FILL (record, sum, throttled_ms);
        FILL (record, sum, throttle_ms);
        FILL (record, sum, throttle_reasons);
    }
}

void aggregate_fill (const aggregate_t *sum, record_t *record)
{
    FILL (record, sum, begin_ms);
    FILL (record, sum, samples);
    fill_physical (sum, record);
    fill_activity (sum, record);
}
