#include "support/acct_site.h"

#include "base/memory.h"
#include "evidence/runaway.h"

#define T0 INT64_C (1790000000)
#define HOUR INT64_C (3600)
#define GRACE HOUR

/* Open, with a limit of two hours, looked at ten hours after its start. */
static segment_t open_segment (void)
{
    segment_t s = test_segment (7, T0, 0, "gpu=2", "g[001-002]");

    s.observed_at = T0 + 10 * HOUR;
    s.time_limit = 2 * HOUR;
    s.suspended = 0;
    s.state = SEGMENT_RUNNING;
    return s;
}

static runaway_t judge (const segment_t *s, const suspension_t *suspensions,
                        size_t count)
{
    return runaway_judge (s, suspensions, count, NULL, GRACE);
}

static void check (runaway_t found, runaway_reason_t reason, int64_t end)
{
    assert_int_equal (found.reason, reason);
    assert_int_equal (found.end, end);
}

TEST_CASE (runaway_judge__limit_and_grace_passed__ends_there)
{
    segment_t s = open_segment ();

    check (judge (&s, NULL, 0), RUNAWAY_LIMIT, T0 + 3 * HOUR);
    s.observed_at = T0 + 3 * HOUR;
    check (judge (&s, NULL, 0), RUNAWAY_NONE, 0);
    s.observed_at++;
    check (judge (&s, NULL, 0), RUNAWAY_LIMIT, T0 + 3 * HOUR);
}

TEST_CASE (runaway_judge__nothing_to_doubt__is_believed)
{
    segment_t s = open_segment ();

    s.time_limit = SECONDS_UNKNOWN;
    check (judge (&s, NULL, 0), RUNAWAY_NONE, 0);
    s = open_segment ();
    s.time_end = T0 + 9 * HOUR;
    check (judge (&s, NULL, 0), RUNAWAY_NONE, 0);
    s = open_segment ();
    s.time_start = 0;
    check (judge (&s, NULL, 0), RUNAWAY_NONE, 0);
}

TEST_CASE (runaway_judge__suspended__runs_later)
{
    segment_t s = open_segment ();
    suspension_t x[] = {
        {.start = T0 + HOUR, .end = T0 + 2 * HOUR},
        {.start = T0 + 3 * HOUR + 1800, .end = T0 + 4 * HOUR},
        {.start = T0 + 5 * HOUR, .end = T0 + 9 * HOUR}, /* after the end */
    };

    check (judge (&s, x, 3), RUNAWAY_LIMIT, T0 + 4 * HOUR + 1800);
    x[1].end = 0; /* it still is */
    s.state = SEGMENT_SUSPENDED;
    check (judge (&s, x, 2), RUNAWAY_NONE, 0);
    s.suspended = SECONDS_UNKNOWN;
    check (judge (&s, NULL, 0), RUNAWAY_NONE, 0);
    s.state = SEGMENT_RUNNING;
    s.suspended = HOUR; /* a total, nobody knows when */
    check (judge (&s, NULL, 0), RUNAWAY_LIMIT, T0 + 4 * HOUR);
}

/* --- what the nodes saw ------------------------------------------------ */

struct seen {
    segment_t segment;
    node_fact_t fact[8];
    device_usage_t usage[1];
    evidence_input_t in;
};

static void add_fact (struct seen *seen, node_fact_kind_t kind,
                      const char *node, int64_t stamp)
{
    node_fact_t *fact = &seen->fact[seen->in.fact_count];

    *fact = (node_fact_t){.kind = kind,
                          .stamp_ns = stamp * 1000000000,
                          .worth = DEVICES_COMPLETE,
                          .seen = {.cluster = "lab",
                                   .id_job = 7,
                                   .uid = UINT32_MAX,
                                   .node = node,
                                   .stamp = stamp}};
    fact->key[0] = (uint8_t)++seen->in.fact_count;
}

static runaway_t judge_seen (struct seen *seen)
{
    evidence_join_t *join;
    runaway_t found;

    seen->in.segments = &seen->segment;
    seen->in.segment_count = 1;
    seen->in.facts = seen->fact;
    seen->in.usage = seen->usage;
    join = evidence_join (&seen->in);
    found = runaway_judge (&seen->segment, NULL, 0, &join->segment[0], GRACE);
    evidence_free (join);
    return found;
}

TEST_CASE (runaway_judge__epilogs_of_all_nodes__ends_at_the_last)
{
    struct seen seen = {.segment = open_segment ()};

    seen.segment.time_limit = SECONDS_UNKNOWN;
    add_fact (&seen, NODE_FACT_START, "g001", T0);
    add_fact (&seen, NODE_FACT_START, "g002", T0 + 1);
    add_fact (&seen, NODE_FACT_END, "g001", T0 + HOUR);
    check (judge_seen (&seen), RUNAWAY_NONE, 0); /* g002 may still hold it */
    add_fact (&seen, NODE_FACT_END, "g002", T0 + HOUR + 5);
    check (judge_seen (&seen), RUNAWAY_EPILOG, T0 + HOUR + 5);
    seen.segment.nodelist = NULL;
    check (judge_seen (&seen), RUNAWAY_NONE, 0);
}

TEST_CASE (runaway_judge__begun_again_after_epilog__is_believed)
{
    struct seen seen = {.segment = open_segment ()};

    seen.segment.time_limit = SECONDS_UNKNOWN;
    seen.segment.nodelist = "g001";
    add_fact (&seen, NODE_FACT_START, "g001", T0);
    add_fact (&seen, NODE_FACT_END, "g001", T0 + HOUR);
    add_fact (&seen, NODE_FACT_START, "g001", T0 + 2 * HOUR);
    check (judge_seen (&seen), RUNAWAY_NONE, 0);
}

TEST_CASE (runaway_judge__sign_of_life_after_the_limit__counts)
{
    struct seen seen = {.segment = open_segment ()};
    device_usage_t *u = &seen.usage[0];

    add_fact (&seen, NODE_FACT_START, "g001", T0);
    check (judge_seen (&seen), RUNAWAY_LIMIT, T0 + 3 * HOUR);
    add_fact (&seen, NODE_FACT_STEP, "g001", T0 + 4 * HOUR);
    check (judge_seen (&seen), RUNAWAY_LIMIT, T0 + 4 * HOUR);
    memset (u, 0xff, sizeof (*u)); /* every number unknown */
    u->cluster = "lab";
    u->node = "g001";
    u->id_job = 7;
    u->gpu = "GPU-1";
    u->slice = u->utilization_histogram = NULL;
    u->begin_ms = (T0 + 5 * HOUR) * 1000;
    u->end_ms = (T0 + 6 * HOUR) * 1000;
    seen.in.usage_count = 1;
    check (judge_seen (&seen), RUNAWAY_LIMIT, T0 + 6 * HOUR);
}

TEST_CASE (runaway_judge__epilog_before_the_limit__wins)
{
    struct seen seen = {.segment = open_segment ()};

    seen.segment.nodelist = "g001";
    add_fact (&seen, NODE_FACT_START, "g001", T0);
    add_fact (&seen, NODE_FACT_END, "g001", T0 + HOUR);
    check (judge_seen (&seen), RUNAWAY_EPILOG, T0 + HOUR);
}

/* --- what is counted --------------------------------------------------- */

TEST_CASE (segment_end__believed_end__is_counted_to)
{
    segment_t s = open_segment ();

    assert_int_equal (segment_end (&s), s.observed_at);
    s.believed_end = T0 + HOUR;
    assert_int_equal (segment_end (&s), T0 + HOUR);
    s.believed_end = T0 - HOUR;
    assert_int_equal (segment_end (&s), T0);
    s.believed_end = s.observed_at + HOUR;
    assert_int_equal (segment_end (&s), s.observed_at);
    s.time_end = T0 + 2 * HOUR;
    s.believed_end = T0 + HOUR;
    assert_int_equal (segment_end (&s), T0 + 2 * HOUR);
}

TEST_CASE (runaway_quarantined__period__is_the_rest_in_it)
{
    segment_t s = open_segment ();
    period_t all = {0, INT64_MAX}, some = {T0 + 2 * HOUR, T0 + 4 * HOUR};

    assert_int_equal (period_seconds (runaway_quarantined (&s, all)), 0);
    s.believed_end = T0 + 3 * HOUR;
    assert_int_equal (period_seconds (runaway_quarantined (&s, all)), 7 * HOUR);
    assert_int_equal (period_seconds (runaway_quarantined (&s, some)), HOUR);
}

TEST_MAIN (NULL, NULL)
