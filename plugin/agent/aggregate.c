#include <config.h>

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/memory.h"

#include "aggregate.h"

#define UTILIZATION_FULL 10000

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
    if (reasons & ~(int64_t)RECORD_THROTTLE_IDLE)
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

/* A field, and the sum that says whether its value is known. */
#define FILL(field, known)                                   \
    {                                                        \
        RECORD_FIELD_##field, offsetof (aggregate_t, field), \
            offsetof (aggregate_t, known)                    \
    }
static const struct fill {
    record_field_t field;
    size_t value, known;
} fills[] = {
    FILL (energy_mj, energy_ms),
    FILL (energy_ms, energy_ms),
    FILL (counter_resets, counter_resets),
    FILL (power_sum, power_ms),
    FILL (power_ms, power_ms),
    FILL (power_max, power_ms),
    FILL (clock_sum, clock_ms),
    FILL (clock_ms, clock_ms),
    FILL (throttled_ms, throttle_ms),
    FILL (throttle_ms, throttle_ms),
    FILL (throttle_reasons, throttle_ms),
    FILL (utilization_sum, utilization_ms),
    FILL (utilization_ms, utilization_ms),
    FILL (utilization_max, utilization_ms),
    FILL (idle_ms, utilization_ms),
    FILL (idle_longest_ms, utilization_ms),
    FILL (memory_sum, memory_ms),
    FILL (memory_ms, memory_ms),
    FILL (memory_max, memory_ms),
    FILL (processes_ms, processes_ms),
    FILL (processes_max, processes_ms),
    FILL (no_process_ms, processes_ms),
};

static int64_t sum_at (const aggregate_t *sum, size_t offset)
{
    return *(const int64_t *)(const void *)((const char *)sum + offset);
}

void aggregate_fill (const aggregate_t *sum, record_t *record)
{
    record_set_number (record, RECORD_FIELD_begin_ms, sum->begin_ms);
    record_set_number (record, RECORD_FIELD_samples, sum->samples);
    for (const struct fill *f = fills; f < fills + GL_ARRAY_SIZE (fills); f++)
        if (sum_at (sum, f->known) > 0)
            record_set_number (record, f->field, sum_at (sum, f->value));
    if (sum->utilization_ms > 0)
        fill_histogram (sum, record);
}
