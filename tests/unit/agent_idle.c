/* agent_idle.c: when a device counts as idle, and what a stretch remembers. */
#include <config.h>

#include "support/test.h"

#include "aggregate.h"
#include "idle.h"

/* 5 %, 10 % of the memory, 30 minutes. */
static const idle_rule_t rule = {50000, 100000, 1800000};

static sample_t look (int64_t utilization, int64_t memory, int64_t processes)
{
    return (sample_t){.present = true,
                      .utilization = utilization,
                      .memory_used = memory,
                      .power = DEVICE_UNKNOWN,
                      .energy = DEVICE_UNKNOWN,
                      .clock = DEVICE_UNKNOWN,
                      .throttle = DEVICE_UNKNOWN,
                      .processes = processes};
}

/* So many minutes of the same, one at a time; what holds at the end. */
static unsigned minutes (idle_run_t *run, int count, const sample_t *sample)
{
    unsigned found = 0;

    for (int i = 0; i < count; i++)
        found = idle_advance (run, &rule, sample, 1000, 60000);
    return found;
}

TEST_CASE (idle_advance__memory_held__after_the_time)
{
    sample_t idle = look (499, 100, 1);
    idle_run_t run = {0};

    assert_int_equal (minutes (&run, 29, &idle), 0);
    assert_int_equal (minutes (&run, 1, &idle), RECORD_IDLE_UTILIZATION);
    assert_int_equal (run.below, 1800000);
}

TEST_CASE (idle_advance__little_memory__no_alert)
{
    sample_t idle = look (0, 99, 1);
    idle_run_t run = {0};

    assert_int_equal (minutes (&run, 60, &idle), 0);
    assert_int_equal (run.below, 3600000);
}

TEST_CASE (idle_advance__at_the_threshold__not_idle)
{
    sample_t busy = look (500, 500, 1);
    idle_run_t run = {0};

    assert_int_equal (minutes (&run, 60, &busy), 0);
    assert_int_equal (run.below, 0);
}

TEST_CASE (idle_advance__no_process__its_own_alert)
{
    sample_t empty = look (DEVICE_UNKNOWN, DEVICE_UNKNOWN, 0);
    idle_run_t run = {0};

    assert_int_equal (minutes (&run, 30, &empty), RECORD_IDLE_NO_PROCESS);
}

TEST_CASE (idle_advance__unknown_in_between__begins_anew)
{
    sample_t idle = look (0, 500, 0);
    sample_t unknown = look (DEVICE_UNKNOWN, 500, DEVICE_UNKNOWN);
    idle_run_t run = {0};

    minutes (&run, 29, &idle);
    assert_int_equal (minutes (&run, 1, &unknown), 0);
    assert_int_equal (minutes (&run, 29, &idle), 0);
    assert_int_equal (minutes (&run, 1, NULL), 0);
    assert_int_equal (minutes (&run, 29, &idle), 0);
    assert_int_equal (minutes (&run, 1, &idle),
                      RECORD_IDLE_UTILIZATION | RECORD_IDLE_NO_PROCESS);
}

TEST_CASE (aggregate_add__values__sums_and_steps)
{
    sample_t full = look (10000, 40, 2), low = look (499, 60, 0);
    aggregate_t sum;

    aggregate_begin (&sum, 5);
    aggregate_add (&sum, &rule, &full, 1000);
    aggregate_add (&sum, &rule, &low, 500);
    assert_int_equal (sum.utilization_sum, 10000 * 1000 + 499 * 500);
    assert_int_equal (sum.utilization_ms, 1500);
    assert_int_equal (sum.utilization_max, 10000);
    assert_int_equal (sum.utilization_step[19], 1000);
    assert_int_equal (sum.utilization_step[0], 500);
    assert_int_equal (sum.idle_ms, 500);
    assert_int_equal (sum.memory_sum, 40 * 1000 + 60 * 500);
    assert_int_equal (sum.memory_max, 60);
    assert_int_equal (sum.processes_max, 2);
    assert_int_equal (sum.no_process_ms, 500);
    assert_int_equal (sum.power_ms, 0);
}

TEST_CASE (aggregate_add__impossible_values__unknown)
{
    sample_t broken = look (10001, INT64_MAX, DEVICE_UNKNOWN);
    aggregate_t sum;

    aggregate_begin (&sum, 0);
    aggregate_add (&sum, &rule, &broken, 1000);
    assert_int_equal (sum.utilization_ms, 0);
    assert_int_equal (sum.memory_ms, 0);
    assert_int_equal (sum.processes_ms, 0);
}

TEST_CASE (aggregate_fill__never_known__fields_absent)
{
    sample_t unknown = look (DEVICE_UNKNOWN, DEVICE_UNKNOWN, DEVICE_UNKNOWN);
    aggregate_t sum;
    record_t record;

    assert_int_equal (record_begin (&record, RECORD_JOB_USAGE, NULL), 0);
    aggregate_begin (&sum, 7);
    aggregate_add (&sum, &rule, &unknown, 1000);
    aggregate_fill (&sum, &record);
    assert_int_equal (record.begin_ms, 7);
    assert_true (record_has (&record, samples));
    assert_false (record_has (&record, utilization_sum));
    assert_false (record_has (&record, idle_ms));
    assert_false (record_has (&record, energy_mj));
    assert_false (record_has (&record, memory_sum));
    assert_false (record_has (&record, no_process_ms));
}

TEST_CASE (aggregate_fill__histogram__twenty_numbers)
{
    sample_t half = look (5000, 1, 1);
    aggregate_t sum;
    record_t record;

    assert_int_equal (record_begin (&record, RECORD_JOB_USAGE, NULL), 0);
    aggregate_begin (&sum, 0);
    aggregate_add (&sum, &rule, &half, 3600000);
    aggregate_fill (&sum, &record);
    assert_string_equal (record.utilization_histogram,
                         "0,0,0,0,0,0,0,0,0,0,3600000,0,0,0,0,0,0,0,0,0");
}

TEST_MAIN (NULL, NULL)
