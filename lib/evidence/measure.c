#include <stddef.h>

#include "base/memory.h"
#include "evidence/measure.h"

#define SECOND_MS 1000

const measured_t measured_nothing = {.utilization_max = MEASURE_UNKNOWN,
                                     .memory_max = MEASURE_UNKNOWN,
                                     .memory_total = MEASURE_UNKNOWN,
                                     .idle_longest_ms = MEASURE_UNKNOWN};

void measured_init (measured_t *m)
{
    *m = measured_nothing;
}

static int64_t max (int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min (int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of the stretch, as far as the samples came that were due. */
static int64_t sampled_ms (const device_usage_t *u)
{
    int64_t whole = u->end_ms - u->begin_ms;

    if (u->samples <= 0)
        return 0;
    if (u->samples_expected <= u->samples)
        return whole;
    return (int64_t)((__int128)whole * u->samples / u->samples_expected);
}

static void add_energy (measured_t *m, const device_usage_t *share)
{
    if (share->energy_mj < 0)
        return;
    m->energy_mj += (uint64_t)share->energy_mj;
    m->energy_stretches++;
    if (share->counter_resets > 0)
        m->counter_resets += (uint64_t)share->counter_resets;
    if (share->energy_rule > 0 && share->energy_rule < 32)
        m->energy_rules |= 1u << share->energy_rule;
}

/* `whole_ms`: of the stretch. However that is cut, its parts add up to it: one of
 * which rounding leaves no known time keeps its value. */
static void add_known (uint64_t *sum, uint64_t *known, int64_t value,
                       int64_t known_ms, int64_t whole_ms)
{
    if (value < 0 || whole_ms <= 0)
        return;
    *sum += (uint64_t)value;
    *known += (uint64_t)known_ms;
}

static void add_causes (measured_t *m, const device_usage_t *share,
                        measured_why_t why)
{
    int64_t none = min (share->no_process_ms, share->idle_ms);

    if (share->idle_ms <= 0)
        return;
    if (why.loss != LOSS_NONE)
        m->idle_lost_ms[why.loss] += (uint64_t)share->idle_ms;
    if (why.idle != IDLE_OTHER)
        m->idle_by[why.idle] += (uint64_t)share->idle_ms;
    else if (none > 0)
        m->idle_by[IDLE_NO_PROCESS] += (uint64_t)none;
}

uint64_t measured_idle_ms (const measured_t *m, idle_cause_t cause)
{
    uint64_t rest = m->idle_ms;

    if (cause < IDLE_OTHER)
        return m->idle_by[cause];
    for (size_t i = 0; i < IDLE_OTHER; i++)
        rest -= m->idle_by[i];
    return rest;
}

static void add_activity (measured_t *m, const device_usage_t *share,
                          const device_usage_t *whole, int64_t ms,
                          measured_why_t why)
{
    m->watched_ms += (uint64_t)ms;
    if (share->energy_mj >= 0 && share->energy_ms > 0)
        m->energy_ms += (uint64_t)share->energy_ms;
    add_known (&m->utilization_sum, &m->utilization_ms, share->utilization_sum,
               share->utilization_ms, whole->utilization_ms);
    add_known (&m->idle_ms, &m->idle_known_ms, share->idle_ms,
               share->utilization_ms, whole->utilization_ms);
    add_known (&m->no_process_ms, &m->processes_ms, share->no_process_ms,
               share->processes_ms, whole->processes_ms);
    m->utilization_max = max (m->utilization_max, share->utilization_max);
    m->memory_max = max (m->memory_max, share->memory_max);
    m->memory_total = max (m->memory_total, share->memory_total);
    m->idle_longest_ms = max (m->idle_longest_ms, share->idle_longest_ms);
    add_causes (m, share, why);
    if (share->idle_rule > 0) {
        m->idle_rule |= (unsigned)share->idle_rule;
        m->idle_rule_ms += (uint64_t)ms;
    }
}

static int64_t scaled (int64_t value, fraction_t by)
{
    return value > 0 ? (int64_t)((__int128)value * by.num / by.den) : value;
}

/* Of so many devices. Scaled before it is cut, so that the parts still add up. */
static device_usage_t of_devices (const device_usage_t *usage,
                                  fraction_t devices)
{
    static const size_t times[] = {
        offsetof (device_usage_t, energy_ms),
        offsetof (device_usage_t, utilization_sum),
        offsetof (device_usage_t, utilization_ms),
        offsetof (device_usage_t, idle_ms),
        offsetof (device_usage_t, no_process_ms),
        offsetof (device_usage_t, processes_ms),
    };
    device_usage_t ret = *usage;

    for (size_t i = 0; i < GL_ARRAY_SIZE (times); i++) {
        int64_t *value = (int64_t *)((char *)&ret + times[i]);
        *value = scaled (*value, devices);
    }
    return ret;
}

void measured_add (measured_t *m, const device_usage_t *measured,
                   int64_t from_ms, int64_t to_ms, period_t within,
                   fraction_t devices, measured_why_t why)
{
    const device_usage_t scaled_usage = of_devices (measured, devices),
                         *usage = &scaled_usage;
    int64_t whole_ms = scaled (usage->end_ms - usage->begin_ms, devices);
    device_usage_t share;

    usage_share (usage, from_ms, to_ms, &share, NULL);
    add_energy (m, &share);
    from_ms = max (from_ms, within.start * SECOND_MS);
    to_ms = min (to_ms, within.end * SECOND_MS);
    if (from_ms >= to_ms)
        return;
    usage_share (usage, from_ms, to_ms, &share, NULL);
    add_activity (m, &share, usage,
                  usage_share_number (usage, whole_ms, from_ms, to_ms), why);
    m->sampled_ms += (uint64_t)usage_share_number (
        usage, scaled (sampled_ms (usage), devices), from_ms, to_ms);
}

void measured_sum (measured_t *m, const measured_t *o)
{
    m->watched_ms += o->watched_ms;
    m->sampled_ms += o->sampled_ms;
    m->energy_mj += o->energy_mj;
    m->energy_ms += o->energy_ms;
    m->energy_stretches += o->energy_stretches;
    m->utilization_sum += o->utilization_sum;
    m->utilization_ms += o->utilization_ms;
    m->idle_ms += o->idle_ms;
    m->idle_known_ms += o->idle_known_ms;
    for (size_t i = 0; i < IDLE_OTHER; i++)
        m->idle_by[i] += o->idle_by[i];
    for (size_t i = 0; i < LOSS_COUNT; i++)
        m->idle_lost_ms[i] += o->idle_lost_ms[i];
    m->no_process_ms += o->no_process_ms;
    m->processes_ms += o->processes_ms;
    m->counter_resets += o->counter_resets;
    m->idle_rule_ms += o->idle_rule_ms;
    m->utilization_max = max (m->utilization_max, o->utilization_max);
    m->memory_max = max (m->memory_max, o->memory_max);
    m->memory_total = max (m->memory_total, o->memory_total);
    m->idle_longest_ms = max (m->idle_longest_ms, o->idle_longest_ms);
    m->idle_rule |= o->idle_rule;
    m->energy_rules |= o->energy_rules;
}
