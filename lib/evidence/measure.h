/*
 * measure.h: what agents measured, added up: energy and activity of devices.
 *
 * Integers throughout. Each sum has the time for which it was known;
 * a sum whose known time is 0 was never measured: show nothing, not 0.
 */
#ifndef GL_EVIDENCE_MEASURE_H
#define GL_EVIDENCE_MEASURE_H

#include "base/exact.h"
#include "base/zone.h"
#include "evidence/evidence.h"

typedef struct {
    uint64_t watched_ms; /* device time that stretches speak of */
    uint64_t sampled_ms; /* of it: as far as the samples came that were due */
    uint64_t energy_mj;
    uint64_t energy_ms;        /* device time that it speaks of */
    uint64_t energy_stretches; /* that know their energy */
    uint64_t utilization_sum;  /* hundredths of a percent x ms */
    uint64_t utilization_ms;
    uint64_t idle_ms;
    uint64_t idle_known_ms;
    uint64_t idle_by[IDLE_OTHER]; /* of idle_ms, by cause; the rest is IDLE_OTHER.
                                     IDLE_SPARE and IDLE_AFTER where they are
                                     asked for: usage_query_t */
    uint64_t idle_lost_ms[LOSS_COUNT]; /* of idle_ms, in segments that ended so;
                                          [LOSS_NONE] is not counted */
    uint64_t no_process_ms;
    uint64_t processes_ms; /* for which the number of processes was known */
    uint64_t counter_resets;
    uint64_t idle_rule_ms;   /* watched in stretches in which the rule spoke */
    int64_t utilization_max; /* -1: not known */
    int64_t memory_max;      /* MiB; -1 */
    int64_t memory_total;    /* MiB; -1 */
    int64_t idle_longest_ms; /* -1 */
    unsigned idle_rule;      /* bits that some stretch has */
    unsigned energy_rules;   /* bit n: rule n of record_energy_t occurs */
} measured_t;

void measured_init (measured_t *measured);
extern const measured_t measured_nothing; /* as it is then */

/*
 * Add what `usage` measured in [from_ms, to_ms) of it. Energy counts in whole:
 * it was used, whatever the clocks say. The rest counts for the time that lies
 * `within` (seconds, of the same clock), so that no device is watched for
 * longer than it was held.
 *
 * `devices`: for how many devices, as accounting counts them, the measured one
 * stands. 1, but for a GPU of which a job holds four shards 4: all times are of
 * so many devices, and the weight of a shard makes GPU time of them again.
 *
 * `why`: how its segment ended, and why it was idle, as far as it was; IDLE_OTHER: time
 * without a process is IDLE_NO_PROCESS.
 */
typedef struct {
    idle_cause_t idle;
    segment_loss_t loss;
} measured_why_t;
void measured_add (measured_t *measured, const device_usage_t *usage,
                   int64_t from_ms, int64_t to_ms, period_t within,
                   fraction_t devices, measured_why_t why);

/* Idle time of that cause. */
uint64_t measured_idle_ms (const measured_t *measured, idle_cause_t cause);

void measured_sum (measured_t *measured, const measured_t *other);

#endif /* !GL_EVIDENCE_MEASURE_H */
