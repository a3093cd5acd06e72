#include <config.h>

#include "record/record.h"

#include "idle.h"

#define MILLION 1000000

bool idle_below (const idle_rule_t *rule, int64_t utilization)
{
    /* hundredths of a percent to millionths */
    return utilization >= 0 && utilization * 100 < rule->utilization;
}

static bool memory_held (const idle_rule_t *rule, int64_t used, int64_t total)
{
    return used >= 0 && total > 0
           && (__int128)used * MILLION >= (__int128)total * rule->memory;
}

static void lengthen (int64_t *run, bool goes_on, int64_t ms)
{
    *run = goes_on ? *run + ms : 0;
}

unsigned idle_advance (idle_run_t *run, const idle_rule_t *rule,
                       const sample_t *sample, int64_t memory_total, int64_t ms)
{
    bool below = sample && idle_below (rule, sample->utilization);
    bool held = sample && memory_held (rule, sample->memory_used, memory_total);
    unsigned found = 0;

    lengthen (&run->below, below, ms);
    lengthen (&run->below_held, below && held, ms);
    lengthen (&run->no_process, sample && sample->processes == 0, ms);
    if (run->below_held >= rule->limit_ms)
        found |= RECORD_IDLE_UTILIZATION;
    if (run->no_process >= rule->limit_ms)
        found |= RECORD_IDLE_NO_PROCESS;
    return found;
}
