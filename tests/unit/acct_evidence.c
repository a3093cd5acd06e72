#include "support/acct_site.h"

#include <stdio.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "evidence/evidence.h"

#define T0 INT64_C (1790000000)
#define YEAR (365 * INT64_C (86400))

/* --- a job, by hand ---------------------------------------------------- */

static node_fact_t fact (node_fact_kind_t kind, const char *node, int64_t stamp,
                         const char *project)
{
    static uint8_t serial;
    node_fact_t f = {.kind = kind,
                     .stamp_ns = stamp * 1000000000,
                     .worth = DEVICES_LAST_TYPE,
                     .seen = {.cluster = "lab",
                              .id_job = 7,
                              .uid = 1000,
                              .node = node,
                              .stamp = stamp,
                              .project = project,
                              .source = TAG_OPTION}};

    f.key[0] = ++serial;
    return f;
}

static device_usage_t stretch (const char *node, int64_t begin, int64_t end)
{
    device_usage_t u;

    memset (&u, 0xff, sizeof (u)); /* every number unknown */
    u.cluster = "lab";
    u.node = node;
    u.id_job = 7;
    u.gpu = "GPU-1";
    u.slice = NULL;
    u.utilization_histogram = NULL;
    u.begin_ms = begin * 1000;
    u.end_ms = end * 1000;
    u.energy_mj = 1000001;
    u.samples = 7;
    return u;
}

struct job {
    segment_t segment[8];
    node_fact_t fact[32];
    device_usage_t usage[8];
    retag_t retag[4];
    node_skew_t skew[2];
    evidence_input_t in;
};

static evidence_join_t *join_job (struct job *job)
{
    job->in.segments = job->segment;
    job->in.facts = job->fact;
    job->in.usage = job->usage;
    job->in.retags = job->retag;
    job->in.skews = job->skew;
    return evidence_join (&job->in);
}

static void add_fact (struct job *job, node_fact_t f)
{
    job->fact[job->in.fact_count++] = f;
}

static segment_t *add_segment (struct job *job, int64_t start, int64_t end,
                               const char *nodes)
{
    segment_t *s = &job->segment[job->in.segment_count++];

    *s = test_segment (7, start, end, "gpu=1", nodes);
    s->uid = 1000;
    return s;
}

static const char *tag_of (const evidence_join_t *join, size_t segment)
{
    const evidence_t *record = join->segment[segment].record;

    return record && record->project ? record->project : "-";
}

TEST_CASE (evidence_join__requeue_resize_and_reuse__the_right_record)
{
    struct job job = {.in = {0}};
    evidence_join_t *join;

    add_segment (&job, T0, T0 + 400, "g1");
    add_segment (&job, T0 + 500, T0 + 900, "g1")->state = SEGMENT_RESIZING;
    add_segment (&job, T0 + 900, T0 + 1900, "g1");
    add_segment (&job, T0 - YEAR, T0 - YEAR + 100, "g1")->uid = 2000;
    add_segment (&job, T0 - 9000, T0 - 8000, "g1");
    add_fact (&job, fact (NODE_FACT_START, "g1", T0 + 1, "first"));
    add_fact (&job, fact (NODE_FACT_END, "g1", T0 + 402, NULL));
    add_fact (&job, fact (NODE_FACT_START, "g1", T0 + 501, "second"));
    add_fact (&job, fact (NODE_FACT_END, "g1", T0 + 1903, NULL));
    join = join_job (&job);
    assert_string_equal (tag_of (join, 0), "first");
    assert_string_equal (tag_of (join, 1), "second");
    assert_string_equal (tag_of (join, 2), "second");
    assert_true (join->segment[2].recorded);
    assert_string_equal (tag_of (join, 3), "-");
    assert_string_equal (tag_of (join, 4), "-");
    assert_int_equal (join->attempt_count, 2);
    assert_int_equal (join->attempt[1].problems, 0);
    assert_ptr_equal (join->segment[1].attempt[0], join->segment[2].attempt[0]);
    evidence_free (join);
}

TEST_CASE (evidence_join__lost_record__tag_of_the_earlier_segment)
{
    struct job job = {.in = {0}};
    evidence_join_t *join;

    add_segment (&job, T0, T0 + 400, "g1");
    add_segment (&job, T0 + 700, T0 + 1000, "g2");
    add_segment (&job, T0 + 2 * YEAR, T0 + 2 * YEAR + 10, "g1");
    add_fact (&job, fact (NODE_FACT_START, "g1", T0 + 1, "first"));
    join = join_job (&job);
    assert_string_equal (tag_of (join, 1), "first");
    assert_false (join->segment[1].recorded);
    assert_string_equal (tag_of (join, 2), "-");
    assert_int_equal (join->attempt[0].problems, ATTEMPT_END_MISSING);
    evidence_free (join);
}

static node_fact_t fact_at_ms (node_fact_kind_t kind, int64_t at_ms)
{
    node_fact_t f = fact (kind, "g1", T0, NULL);

    f.stamp_ns = (T0 * 1000 + at_ms) * 1000000;
    return f;
}

/* "0-400 500-900r": segments on g1 by their seconds; r: resized at the end. */
static void add_segments (struct job *job, const char *text)
{
    for (int start, end, n; sscanf (text, "%d-%d%n", &start, &end, &n) == 2;) {
        segment_t *s = add_segment (job, T0 + start, T0 + end, "g1");
        text += n;
        if (*text == 'r')
            s->state = SEGMENT_RESIZING;
        text += *text == 'r';
        text += *text == ' ';
    }
}

/* "s1000@0 e401000": records of g1 (start, end, step) by their milliseconds, and the
 * start of the segment that they tell. */
static void add_facts (struct job *job, const char *text)
{
    char kind;
    long long at_ms;

    for (int n; sscanf (text, " %c%lld%n", &kind, &at_ms, &n) == 2;) {
        node_fact_t f = fact_at_ms (kind == 's'   ? NODE_FACT_START
                                    : kind == 'e' ? NODE_FACT_END
                                                  : NODE_FACT_STEP,
                                    at_ms);
        text += n;
        if (*text == '@')
            f.seen.time_start = T0 + strtol (text + 1, (char **)&text, 10);
        add_fact (job, f);
    }
}

/* "0; 0,1 end late": each attempt's segments, or why it has none, and its problems. */
static void describe (const evidence_join_t *join, size_t segments,
                      buffer_t *out)
{
    static const struct {
        unsigned bit;
        const char *word;
    } problems[] = {{ATTEMPT_START_MISSING, " start missing"},
                    {ATTEMPT_START_REPEATED, " start repeated"},
                    {ATTEMPT_END_MISSING, " end missing"},
                    {ATTEMPT_END_REPEATED, " end repeated"},
                    {ATTEMPT_END_EARLY, " end early"},
                    {ATTEMPT_END_LATE, " end late"}};

    for (size_t i = 0; i < join->attempt_count; i++) {
        const attempt_t *a = &join->attempt[i];
        const char *comma = "";
        buffer_add_text (out, i ? "; " : "");
        for (size_t k = 0; k < segments; k++)
            for (size_t n = 0; n < join->segment[k].attempt_count; n++)
                if (join->segment[k].attempt[n] == a) {
                    buffer_printf (out, "%s%zu", comma, k);
                    comma = ",";
                }
        if (a->reason != EVIDENCE_MATCHED)
            buffer_add_text (out, evidence_reason_name (a->reason));
        for (size_t k = 0; k < GL_ARRAY_SIZE (problems); k++)
            if (a->problems & problems[k].bit)
                buffer_add_text (out, problems[k].word);
    }
}

#define OTHER_TIME "the job ran at another time"

TEST_CASE (evidence_join__records_of_one_node__by_the_rule)
{
    static const struct {
        const char *segments, *facts, *attempts;
    } cases[] = {
        /* repeated, missing and late */
        {"0-400 1000-1400", "s1000 e401000", "0"},
        {"0-400 1000-1400", "e401000", "0 start missing"},
        {"0-400 1000-1400", "p5000 e401000", "0 start missing"},
        {"0-400 1000-1400", "p5000 s6000 e401000", "0"},
        {"0-400 1000-1400", "s1000", "0 end missing"},
        {"0-400 1000-1400", "s1000 s60000 e401000", "0 start repeated"},
        {"0-400 1000-1400", "s1000 e401000 e420000", "0 end repeated"},
        /* the second begins another attempt, so the first one's end is lost */
        {"0-400 1000-1400", "s1000 s1001000 e1401000", "0 end missing; 1"},
        {"0-400 1000-1400", "s1000@0 s60000@50 e401000@50", "0 end missing; 0"},
        /* of another attempt than the open one */
        {"0-400 1000-1400", "s1000@0 e30000@1000 e401000@0",
         "0; 1 start missing end early"},
        {"0-400 1000-1400", "s1000 e401000 e1401000", "0; 1 start missing"},
        {"0-400 1000-1400", "s1000 e900000 s1001000 e1402000", "0 end late; 1"},
        {"0-400 1000-1400", "s1000 e200000", "0 end early"},
        /* Segments are half-open and the tolerance is 120 s, its last millisecond
         * included: the millisecond of a segment's end lies 1 ms outside of it. */
        {"0-400", "s-120000", "0 end missing"},
        {"0-400", "s-120001", OTHER_TIME " end missing"},
        {"0-400", "s519999", "0 end missing"},
        {"0-400", "s520000", OTHER_TIME " end missing"},
        /* known at both ends: any overlap tells, none does not */
        {"0-400", "s-120001 e1", "0 end early"},
        {"0-400", "s-130000 e-120001", OTHER_TIME},
        {"0-400", "s520000 e530000", OTHER_TIME},
        /* An attempt between two segments, known at both ends and overlapping
         * neither, is the nearer one's. The middle, 450 s, is 50,000 ms before the
         * second and, the end being outside already, 50,001 ms from the first. */
        {"0-400 500-900", "s400000 e400000", "0"},
        {"0-400 500-900", "s449999 e449999", "0"},
        {"0-400 500-900", "s450000 e450000", "1 end early"},
        {"0-400 500-900", "s499998 e499998", "1 end early"},
        /* the first one's end is the second's */
        {"0-400 400-900", "s400000 e400000", "1 end early"},
        /* Slurm's defects leave two rows of one job that overlap. Where both hold
         * the moment, a record alone is of the later one, and an attempt that lies
         * in both as a whole is of the earlier one. */
        {"0-400 300-1000", "e299999",
         "0 start missing"}, /* in the first alone */
        {"0-400 300-1000", "e300000", "1 start missing end early"},
        {"0-400 300-1000", "e350000", "1 start missing end early"},
        {"0-400 300-1000", "s310000 e390000", "0"},
        {"0-400 300-1000", "s310000 e400001",
         "1 end early"}, /* 1 ms more in the second */
        /* two prologs of one attempt, as the same segment is nearest to both */
        {"0-400 300-1000", "s350000 s500000", "1 start repeated end missing"},
        {"0-400 300-1000", "s299999 s500000", "1 end missing; 1 end missing"},
        /* A resized job's next segment begins within a second of the end of the last
         * one. */
        {"0-400r 400-500", "s1 e500000", "0,1"},
        {"0-400r 401-500", "s1 e500000", "0,1"},
        {"0-400r 402-500", "s1 e500000", "0"},
        /* of no length, at the moment of a resize: of the segment that begins then */
        {"0-400r 400-500", "s400000 e400000", "1"},
        /* 120 s before and after the end of the segment are tolerated */
        {"0-400", "s0 e279999", "0 end early"},
        {"0-400", "s0 e280000", "0"},
        {"0-400", "s0 e520000", "0"},
        {"0-400", "s0 e520001", "0 end late"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        struct job job = {.in = {0}};
        BUFFER_AUTO text = BUFFER_INIT;
        evidence_join_t *join;
        add_segments (&job, cases[i].segments);
        add_facts (&job, cases[i].facts);
        join = join_job (&job);
        describe (join, job.in.segment_count, &text);
        if (strcmp (buffer_text (&text), cases[i].attempts))
            fail_msg ("%s | %s: %s", cases[i].segments, cases[i].facts,
                      buffer_text (&text));
        evidence_free (join);
    }
}

/* The record of another node tags a segment that begins at its stamp or up to
 * 366 days later. */
TEST_CASE (evidence_join__earlier_record__at_most_a_year_before)
{
    static const struct {
        int64_t before_ms;
        const char *tag;
    } cases[] = {{-1, "-"},
                 {0, "tag"},
                 {366 * INT64_C (86400000), "tag"},
                 {366 * INT64_C (86400000) + 1, "-"}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        struct job job = {.in = {0}};
        evidence_join_t *join;
        node_fact_t f = fact_at_ms (NODE_FACT_START, -cases[i].before_ms);
        f.seen.node = "g2";
        f.seen.project = "tag";
        add_segment (&job, T0, T0 + 400, "g1");
        add_fact (&job, f);
        join = join_job (&job);
        assert_string_equal (tag_of (join, 0), cases[i].tag);
        evidence_free (join);
    }
}

/* Two prologs of one attempt that carry a tag: the first one's. */
TEST_CASE (evidence_join__two_tags__the_earlier)
{
    struct job job = {.in = {0}};
    evidence_join_t *join;

    add_segment (&job, T0, T0 + 400, "g1");
    add_fact (&job, fact (NODE_FACT_START, "g1", T0 + 60, "second"));
    add_fact (&job, fact (NODE_FACT_START, "g1", T0 + 1, "first"));
    join = join_job (&job);
    assert_string_equal (tag_of (join, 0), "first");
    evidence_free (join);
}

/* A stretch that lies to equal parts in two attempts goes the way of the first.
 */
TEST_CASE (evidence_join__usage_halfway__goes_with_the_first)
{
    static const struct {
        int64_t begin, end;
        size_t segment;
    } cases[] = {{300, 500, 0}, {300, 501, 0}, {300, 502, 1}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        struct job job = {.in = {0}};
        evidence_join_t *join;
        add_segments (&job, "0-400 400-900");
        add_facts (&job, "s0@0 e400000@0 s401000@400 e900000@400");
        job.usage[job.in.usage_count++]
            = stretch ("g1", T0 + cases[i].begin, T0 + cases[i].end);
        join = join_job (&job);
        if (join->segment[cases[i].segment].part_count != 1
            || join->segment[1 - cases[i].segment].part_count != 0)
            fail_msg ("case %zu", i);
        evidence_free (join);
    }
}

/* An epilog whose prolog is lost: the attempt began when the one before it on
 * the node ended, even in the same millisecond, and never before that. */
TEST_CASE (evidence_join__prolog_lost__begins_at_the_end_before)
{
    static const int64_t ends_ms[] = {401000, 401001, 950000};

    for (size_t i = 0; i < GL_ARRAY_SIZE (ends_ms); i++) {
        struct job job = {.in = {0}};
        evidence_join_t *join;
        add_segments (&job, "0-400 500-900");
        add_facts (&job, "s1000@0 e401000@0");
        add_fact (&job, fact_at_ms (NODE_FACT_END, ends_ms[i]));
        job.fact[2].seen.time_start = T0 + 500;
        join = join_job (&job);
        assert_int_equal (join->attempt_count, 2);
        assert_int_equal (join->attempt[0].end_ms, T0 * 1000 + 401000);
        assert_int_equal (join->attempt[1].begin_ms, T0 * 1000 + 401000);
        assert_int_equal (join->attempt[1].end_ms, T0 * 1000 + ends_ms[i]);
        evidence_free (join);
    }
}

TEST_CASE (evidence_join__no_segment__says_why)
{
    static const struct {
        const char *node;
        int at;
        uint32_t uid;
        evidence_reason_t reason;
    } cases[] = {
        {"g1", 10, 1000, EVIDENCE_MATCHED},
        {"g9", 10, 1000, EVIDENCE_OTHER_NODE},
        {"g1", 10, 2000, EVIDENCE_OTHER_USER},
        {"g1", 90000, 1000, EVIDENCE_OTHER_TIME},
        {"g1", -119, 1000, EVIDENCE_MATCHED},
        {"g1", -121, 1000, EVIDENCE_OTHER_TIME},
        {"g2", -300, 1000, EVIDENCE_MATCHED}, /* its clock is known to be off */
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        struct job job = {.in = {0}};
        node_fact_t f
            = fact (NODE_FACT_START, cases[i].node, T0 + cases[i].at, NULL);
        evidence_join_t *join;
        f.seen.uid = cases[i].uid;
        job.skew[job.in.skew_count++] = (node_skew_t){"g2", -310000, 5000};
        add_segment (&job, T0, T0 + 400, "g[1-2]");
        add_fact (&job, f);
        join = join_job (&job);
        assert_int_equal (join->attempt[0].reason, cases[i].reason);
        assert_int_equal (join->segment[0].attempt_count,
                          cases[i].reason == EVIDENCE_MATCHED);
        evidence_free (join);
        job.segment[0].time_start = 0;
        join = join_job (&job);
        assert_int_equal (join->attempt[0].reason, EVIDENCE_NO_SEGMENT);
        evidence_free (join);
    }
}

/* slurmctld was killed, forgot a job of user 2000 and gave its JobId to one of user
 * 1000, which was submitted at T0. */
TEST_CASE (evidence_join__job_id_given_again__is_of_the_forgotten_job)
{
    static const struct {
        const char *node;
        int at;
        uint32_t uid;
        evidence_reason_t reason;
    } cases[] = {
        {"g1", -14, 2000, EVIDENCE_GIVEN_AGAIN},
        {"g9", -14, 2000, EVIDENCE_GIVEN_AGAIN},
        {"g1", -86400, 2000, EVIDENCE_GIVEN_AGAIN},
        {"g1", -86401, 2000, EVIDENCE_OTHER_USER}, /* before JobIds came round? */
        {"g1", 0, 2000, EVIDENCE_FORGOTTEN},
        {"g9", -14, 1000, EVIDENCE_OTHER_NODE}, /* a row of it may be lost */
        {"g9", -14, UINT32_MAX, EVIDENCE_OTHER_NODE},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        struct job job = {.in = {0}};
        node_fact_t f
            = fact (NODE_FACT_START, cases[i].node, T0 + cases[i].at, NULL);
        evidence_join_t *join;
        f.seen.uid = cases[i].uid;
        add_segment (&job, T0 + 20, T0 + 400, "g1")->time_submit = T0;
        add_fact (&job, f);
        join = join_job (&job);
        assert_int_equal (join->attempt[0].reason, cases[i].reason);
        assert_int_equal (join->segment[0].attempt_count, 0);
        evidence_free (join);
    }
}

static node_fact_t device_fact (node_fact_kind_t kind, const char *node,
                                int64_t stamp, const char *gpus)
{
    node_fact_t f = fact (kind, node, stamp, NULL);

    f.seen.gpus = gpus;
    return f;
}

/* slurmctld was killed and forgot a start on g2, which lasted until the job was
 * requeued. The row of that time is of another node, or has no start at all.
 * slurmd knows the job still, so that the second start there has no prolog. */
TEST_CASE (evidence_join__start_forgotten_before_a_requeue__is_of_no_segment)
{
    static const struct {
        int start;           /* in the first row; 0: it has none */
        const char *nodes;   /* of the first row */
        int epilog;          /* of the forgotten start; 0: none */
        uint32_t uid;        /* whose it was */
        uint64_t time_start; /* told by its prolog; 0: none */
        bool forgotten;
    } cases[] = {
        {10, "g1", 0, 1000, 0, true},
        {10, "g1", 9, 1000, 0, true},
        {10, "g1", 75, 1000, 0, true}, /* killed after the requeue */
        {0, "g2", 0, 1000, 0, true},
        {0, "g2", 57, 1000, 0, true},
        {0, NULL, 0, 2000, 0, true},   /* the JobId was another job's then */
        {10, "g2", 0, 1000, 0, false}, /* the first row's, which held g2 */
        {10, "g1", 0, 1000, T0 + 77, false}, /* it is the second row's start */
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        struct job job = {.in = {0}};
        const segment_evidence_t *second;
        evidence_join_t *join;
        segment_t *s = add_segment (&job, T0 + 10, T0 + 55, cases[i].nodes);
        node_fact_t f = device_fact (NODE_FACT_START, "g2", T0 + 6, "7");
        s->time_submit = T0;
        s->time_start = cases[i].start ? T0 + cases[i].start : 0;
        add_segment (&job, T0 + 77, T0 + 82, "g2")->time_submit = T0 + 55;
        f.seen.uid = cases[i].uid;
        f.seen.time_start = (int64_t)cases[i].time_start;
        add_fact (&job, f);
        if (cases[i].epilog)
            add_fact (&job,
                      fact (NODE_FACT_END, "g2", T0 + cases[i].epilog, NULL));
        add_fact (&job, device_fact (NODE_FACT_STEP, "g2", T0 + 77, "0"));
        add_fact (&job, fact (NODE_FACT_END, "g2", T0 + 82, NULL));
        job.usage[job.in.usage_count++] = stretch (
            "g2", T0 + 6, T0 + (cases[i].epilog ? cases[i].epilog : 60));
        job.usage[job.in.usage_count++] = stretch ("g2", T0 + 77, T0 + 82);
        join = join_job (&job);
        second = &join->segment[1];
        assert_int_equal (join->attempt[0].reason, cases[i].forgotten
                                                       ? EVIDENCE_FORGOTTEN
                                                       : EVIDENCE_MATCHED);
        if (cases[i].forgotten) {
            assert_int_equal (join->attempt_count, 2);
            assert_int_equal (join->segment[0].attempt_count, 0);
            assert_int_equal (second->attempt_count, 1);
            assert_int_equal (second->device_count, 1);
            assert_string_equal (second->node[0].device[0], "0");
            assert_int_equal (second->part_count, 1);
            assert_int_equal (second->part[0]->from_ms, (T0 + 77) * 1000);
            assert_int_equal (join->part[0].reason, EVIDENCE_FORGOTTEN);
        }
        evidence_free (join);
    }
}

/* A job that waits, and was never started again: nobody knows what a record of
 * it is. */
TEST_CASE (evidence_join__never_started_since__is_not_forgotten)
{
    struct job job = {.in = {0}};
    evidence_join_t *join;
    segment_t *s;

    add_segment (&job, T0 + 100, T0 + 400, "g1");
    s = add_segment (&job, 0, T0 + 4000, "g1");
    s->time_submit = T0 + 400;
    add_fact (&job, fact (NODE_FACT_START, "g1", T0 + 1000, NULL));
    join = join_job (&job);
    assert_int_equal (join->attempt[0].reason, EVIDENCE_OTHER_TIME);
    evidence_free (join);
}

TEST_CASE (evidence_join__sluid_and_start_time__beat_the_clock)
{
    struct job job = {.in = {0}};
    evidence_join_t *join;
    node_fact_t f;

    add_segment (&job, T0, T0 + 400, "g1");
    add_segment (&job, T0 + 1000, T0 + 1400, "g1")->job_db_inx
        = UINT64_C (0xf000000000000001);
    f = fact (NODE_FACT_START, "g1", T0 + 100, "a"); /* its clock is wrong */
    f.seen.time_start = T0 + 1000;
    add_fact (&job, f);
    f = fact (NODE_FACT_START, "g1", T0 + 50, "b");
    f.seen.time_start = T0; /* the SLUID knows better */
    f.sluid = sluid_parse ("sF000000000001");
    assert_int_equal (f.sluid, sluid_parse ("sf00000000000l"));
    assert_int_equal (sluid_parse ("sF00000000000U"), 0);
    assert_int_equal (sluid_parse ("18446744073709551615"), UINT64_MAX);
    f.sluid = UINT64_C (0xf000000000000001);
    job.in.fact_count = 1;
    join = join_job (&job);
    assert_int_equal (join->segment[1].attempt_count, 1);
    evidence_free (join);
    job.fact[0] = f;
    join = join_job (&job);
    assert_int_equal (join->segment[1].attempt_count, 1);
    evidence_free (join);
    job.fact[0].sluid = 5; /* neither is any segment's: the stamp decides */
    job.fact[0].seen.time_start = T0 + 5;
    join = join_job (&job);
    assert_int_equal (join->segment[0].attempt_count, 1);
    evidence_free (join);
}

/* A clock 40 s behind: the second attempt seems to begin while the first one's
 * segment still runs, and lies in the second one's all the same. */
TEST_CASE (evidence_join__clock_behind__the_larger_overlap)
{
    struct job job = {.in = {0}};
    evidence_join_t *join;

    add_segment (&job, T0, T0 + 400, "g1");
    add_segment (&job, T0 + 430, T0 + 1000, "g1");
    add_fact (&job, fact (NODE_FACT_START, "g1", T0 + 395, "second"));
    add_fact (&job, fact (NODE_FACT_END, "g1", T0 + 962, NULL));
    job.usage[job.in.usage_count++] = stretch ("g1", T0 + 395, T0 + 962);
    join = join_job (&job);
    assert_int_equal (join->segment[0].attempt_count, 0);
    assert_int_equal (join->segment[1].attempt_count, 1);
    assert_int_equal (join->segment[1].part_count, 1);
    assert_int_equal (join->part_count, 1);
    evidence_free (join);
}

TEST_CASE (evidence_join__devices__union_of_records_by_node)
{
    struct job job = {.in = {0}};
    evidence_join_t *join;
    const segment_evidence_t *e;
    node_fact_t f;

    add_segment (&job, T0, T0 + 400, "g[1-2]");
    f = fact (NODE_FACT_STEP, "g2", T0 + 5, NULL);
    f.seen.gpus = "10,2,9";
    f.worth = DEVICES_COMPLETE;
    add_fact (&job, f);
    f = fact (NODE_FACT_START, "g2", T0 + 1, NULL);
    f.seen.gpus = "2";
    add_fact (&job, f);
    f = fact (NODE_FACT_START, "g1", T0 + 1, NULL);
    f.seen.gpus = "0,,0,MIG-1";
    add_fact (&job, f);
    join = join_job (&job);
    e = &join->segment[0];
    assert_int_equal (e->node_count, 2);
    assert_int_equal (e->device_count, 5);
    assert_string_equal (e->node[0].device[1], "MIG-1");
    assert_int_equal (e->node[0].worth, DEVICES_LAST_TYPE);
    assert_string_equal (e->node[1].device[0], "2");
    assert_string_equal (e->node[1].device[2], "10");
    assert_int_equal (e->node[1].worth, DEVICES_COMPLETE);
    evidence_free (join);
}

TEST_CASE (evidence_join__retags__the_last_one_of_the_segment)
{
    struct job job = {.in = {0}};
    evidence_join_t *join;
    int64_t submit;

    submit = add_segment (&job, T0, T0 + 400, "g1")->time_submit;
    job.retag[0] = (retag_t){
        .time_submit = submit, .stamp = 20, .who = "b", .project = "late"};
    job.retag[1] = (retag_t){
        .time_submit = submit, .stamp = 10, .who = "a", .project = "soon"};
    job.retag[2] = (retag_t){
        .time_submit = submit + 1, .stamp = 30, .who = "a", .project = "other"};
    job.in.retag_count = 3;
    join = join_job (&job);
    assert_int_equal (join->segment[0].retag_count, 2);
    assert_string_equal (join->segment[0].retag->project, "late");
    assert_string_equal (join->segment[0].retags[0]->project, "soon");
    evidence_free (join);
}

TEST_CASE (evidence_join__usage_over_a_resize__cut_in_time)
{
    struct job job = {.in = {0}};
    evidence_join_t *join;
    device_usage_t a, b;

    add_segment (&job, T0, T0 + 100, "g1")->state = SEGMENT_RESIZING;
    add_segment (&job, T0 + 100, T0 + 300, "g1");
    job.usage[0] = stretch ("g1", T0 + 2, T0 + 302);
    job.usage[1] = stretch ("g1", T0 + 350, T0 + 1000);
    job.in.usage_count = 2;
    join = join_job (&job);
    assert_int_equal (join->part_count, 4);
    assert_int_equal (join->segment[0].part_count, 1);
    assert_int_equal (join->segment[1].part_count, 2);
    assert_int_equal (join->part[3].reason, EVIDENCE_OTHER_TIME);
    assert_int_equal (join->part[3].from_ms, (T0 + 300) * 1000 + 120000);
    usage_share (join->part[0].usage, join->part[0].from_ms,
                 join->part[0].to_ms, &a, NULL);
    usage_share (join->part[1].usage, join->part[1].from_ms,
                 join->part[1].to_ms, &b, NULL);
    assert_int_equal (a.energy_mj, 1000001 * INT64_C (98) / 300);
    assert_int_equal (a.energy_mj + b.energy_mj, 1000001);
    assert_int_equal (a.samples + b.samples, 7);
    assert_int_equal (a.idle_ms, MEASURE_UNKNOWN);
    evidence_free (join);
}

TEST_CASE (usage_share__histogram__its_steps_add_up)
{
    device_usage_t u = stretch ("g1", T0, T0 + 7), share[2];
    char text[2][USAGE_HISTOGRAM_SIZE];

    u.utilization_histogram = "1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,6999";
    usage_share (&u, u.begin_ms, u.begin_ms + 3500, &share[0], text[0]);
    usage_share (&u, u.begin_ms + 3500, u.end_ms, &share[1], text[1]);
    assert_string_equal (share[0].utilization_histogram,
                         "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3499");
    assert_string_equal (share[1].utilization_histogram,
                         "1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3500");
    usage_share (&u, u.begin_ms, u.end_ms, &share[0], NULL);
    assert_ptr_equal (share[0].utilization_histogram, u.utilization_histogram);
}

/* --- many jobs, by chance ---------------------------------------------- */

static uint64_t seed;

static int64_t chance (int64_t below)
{
    seed = seed * UINT64_C (6364136223846793005)
           + UINT64_C (1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)below);
}

#define NODES 3
static const char *const nodes[NODES] = {"g1", "g2", "g3"};
static const char *const lists[]
    = {"g1",  "g2", "g3", "g[1-2]", "g[1-3]", "g1,g3", NULL, "None assigned",
       "g[1-"};

struct world {
    segment_t segment[24];
    node_fact_t fact[200];
    device_usage_t usage[200];
    evidence_input_t in;
};

static bool holds (const segment_t *s, size_t node)
{
    const char *list = s->nodelist;

    if (!list || list[0] == 'N' || !strcmp (list, "g[1-"))
        return true;
    if (!strcmp (list, "g[1-2]"))
        return node < 2;
    return !strcmp (list, "g[1-3]") || strstr (list, nodes[node]);
}

static void make_fact (struct world *w, node_fact_kind_t kind, size_t node,
                       int64_t at_ms, const segment_t *s, bool named)
{
    node_fact_t *f = &w->fact[w->in.fact_count];

    *f = fact (kind, nodes[node], 0, NULL);
    f->stamp_ns = at_ms * 1000000 + chance (1000000);
    f->seen.uid = chance (8) ? s->uid : UINT32_MAX;
    f->seen.time_start = named && kind != NODE_FACT_STEP ? s->time_start : 0;
    memset (f->key, 0, sizeof (f->key));
    f->key[0] = (uint8_t)w->in.fact_count++;
}

static void make_usage (struct world *w, size_t node, int64_t begin_ms,
                        int64_t end_ms)
{
    while (begin_ms < end_ms && w->in.usage_count < 200) {
        int64_t cut = begin_ms - begin_ms % 3600000 + 3600000;
        device_usage_t *u = &w->usage[w->in.usage_count++];
        *u = stretch (nodes[node], 0, 0);
        u->begin_ms = begin_ms;
        u->end_ms = begin_ms = cut < end_ms ? cut : end_ms;
        u->energy_mj = chance (INT64_C (1000000000));
        u->samples = chance (400);
        u->utilization_sum = chance (2) ? chance (INT64_C (36000000000)) : -1;
        u->utilization_ms = u->utilization_sum < 0 ? -1 : chance (3600000);
    }
}

/* What one attempt leaves on one node; `loss` of 100: how often something of it
 * is lost, doubled or moved. */
static void live_through (struct world *w, const segment_t *first,
                          int64_t end_s, size_t node, int loss, bool named)
{
    int64_t skew = chance (21) - 10;
    int64_t begin = (first->time_start + skew) * 1000 + chance (3000);
    int64_t end = (end_s + skew) * 1000 + chance (5000);

    if (chance (100) >= loss)
        make_fact (w, NODE_FACT_START, node, begin, first, named);
    if (chance (100) < loss)
        make_fact (w, NODE_FACT_START, node, (begin + end) / 2, first, named);
    if (chance (2))
        make_fact (w, NODE_FACT_STEP, node, begin + 10, first, named);
    if (chance (100) < loss)
        end += chance (7200000);
    if (chance (100) >= loss)
        make_fact (w, NODE_FACT_END, node, end, first, named);
    if (chance (100) < loss)
        make_fact (w, NODE_FACT_END, node, end + 1000, first, named);
    make_usage (w, node, begin, end);
}

static void make_world (struct world *w, int loss)
{
    int64_t at = T0;
    size_t attempts = 1 + (size_t)chance (4);

    w->in = (evidence_input_t){w->segment, 0,    w->fact, 0,    w->usage,
                               0,          NULL, 0,       NULL, 0};
    for (size_t i = 0; i < attempts; i++) {
        const segment_t *first = &w->segment[w->in.segment_count];
        size_t parts = 1 + (size_t)(chance (3) == 0);
        const char *list = lists[chance (GL_ARRAY_SIZE (lists))];
        bool named = chance (2);
        for (size_t k = 0; k < parts; k++) {
            segment_t *s = &w->segment[w->in.segment_count++];
            int64_t length = 200 + chance (9000);
            *s = test_segment (7, at, at + length, "gpu=1", list);
            s->uid = i == 0 && attempts > 2 ? 2000 : 1000;
            s->state = k + 1 < parts ? SEGMENT_RESIZING : SEGMENT_COMPLETED;
            at += length;
        }
        for (size_t n = 0; n < NODES; n++)
            if (holds (first, n))
                live_through (w, first, at, n, loss, named);
        at += chance (4) ? 130 + chance (600) : YEAR;
    }
}

static void shuffle (void *array, size_t count, size_t size)
{
    char *bytes = array, spare[sizeof (device_usage_t) + sizeof (segment_t)];

    for (size_t i = count; i > 1; i--) {
        size_t k = (size_t)chance ((int64_t)i);
        memcpy (spare, bytes + (i - 1) * size, size);
        memmove (bytes + (i - 1) * size, bytes + k * size, size);
        memcpy (bytes + k * size, spare, size);
    }
}

/* The result as text, without pointers and input positions. */
static char *print_join (const evidence_join_t *join)
{
    buffer_t out = BUFFER_INIT;

    for (size_t i = 0; i < join->attempt_count; i++) {
        const attempt_t *a = &join->attempt[i];
        buffer_printf (&out, "%s %lld %lld %x %d:", a->node,
                       (long long)a->begin_ms, (long long)a->end_ms,
                       a->problems, a->reason);
        for (size_t k = 0; k < a->fact_count; k++)
            buffer_printf (&out, " %d", a->fact[k]->key[0]);
        buffer_add_char (&out, '\n');
    }
    for (int64_t at = INT64_MIN;;) { /* the segments, by their key */
        const segment_evidence_t *next = NULL;
        for (size_t s = 0; s < join->segment_count; s++) {
            const segment_evidence_t *e = &join->segment[s];
            if (e->segment->time_submit > at
                && (!next
                    || e->segment->time_submit < next->segment->time_submit))
                next = e;
        }
        if (!next)
            break;
        at = next->segment->time_submit;
        buffer_printf (&out, "%lld %d:", (long long)at,
                       next->record ? (int)next->record->stamp : -1);
        for (size_t k = 0; k < next->attempt_count; k++)
            buffer_printf (&out, " %s %lld", next->attempt[k]->node,
                           (long long)next->attempt[k]->begin_ms);
        for (size_t k = 0; k < next->part_count; k++)
            buffer_printf (&out, " %s %lld-%lld", next->part[k]->usage->node,
                           (long long)next->part[k]->from_ms,
                           (long long)next->part[k]->to_ms);
        buffer_add_char (&out, '\n');
    }
    return buffer_take (&out);
}

static void check_attempts (const struct world *w, const evidence_join_t *join)
{
    size_t facts = 0;
    uint8_t met[256] = {0};

    for (size_t i = 0; i < join->attempt_count; i++) {
        const attempt_t *a = &join->attempt[i];
        size_t served = 0;
        for (size_t k = 0; k < a->fact_count; k++, facts++)
            assert_int_equal (met[a->fact[k]->key[0]]++, 0);
        for (size_t s = 0; s < join->segment_count; s++)
            for (size_t k = 0; k < join->segment[s].attempt_count; k++)
                if (join->segment[s].attempt[k] == a) {
                    served++;
                    assert_true (holds (join->segment[s].segment,
                                        (size_t)(a->node[1] - '1')));
                }
        assert_int_equal (served > 0, a->reason == EVIDENCE_MATCHED);
    }
    assert_int_equal (facts, w->in.fact_count);
}

static void check_parts (const struct world *w, const evidence_join_t *join)
{
    size_t owned = 0, matched = 0;

    for (size_t i = 0; i < w->in.usage_count; i++) {
        const device_usage_t *u = &w->usage[i];
        int64_t ms = 0, energy = 0, samples = 0, sum = 0;
        for (size_t k = 0; k < join->part_count; k++) {
            device_usage_t share;
            if (join->part[k].usage != u)
                continue;
            usage_share (u, join->part[k].from_ms, join->part[k].to_ms, &share,
                         NULL);
            assert_true (share.end_ms > share.begin_ms);
            ms += share.end_ms - share.begin_ms;
            energy += share.energy_mj;
            samples += share.samples;
            sum += share.utilization_sum;
            if (u->utilization_sum < 0)
                sum = -1;
        }
        assert_int_equal (ms, u->end_ms - u->begin_ms);
        assert_int_equal (energy, u->energy_mj);
        assert_int_equal (samples, u->samples);
        assert_int_equal (sum, u->utilization_sum);
    }
    for (size_t k = 0; k < join->part_count; k++)
        matched += join->part[k].reason == EVIDENCE_MATCHED;
    for (size_t s = 0; s < join->segment_count; s++)
        owned += join->segment[s].part_count;
    assert_int_equal (owned, matched);
}

TEST_CASE (evidence_join__by_chance__all_is_attributed_once)
{
    static struct world w;

    for (int round = 0; round < 4000; round++) {
        GL_AUTOFREE char *before = NULL, *after = NULL;
        evidence_join_t *join;
        seed = (uint64_t)round * 2654435761u + 1;
        make_world (&w, round % 4 * 15);
        join = evidence_join (&w.in);
        check_attempts (&w, join);
        check_parts (&w, join);
        before = print_join (join);
        evidence_free (join);
        shuffle (w.segment, w.in.segment_count, sizeof (w.segment[0]));
        shuffle (w.fact, w.in.fact_count, sizeof (w.fact[0]));
        shuffle (w.usage, w.in.usage_count, sizeof (w.usage[0]));
        join = evidence_join (&w.in);
        after = print_join (join);
        evidence_free (join);
        if (strcmp (before, after))
            fail_msg ("round %d:\n%s\n%s", round, before, after);
    }
}

/* Nothing lost, clocks some seconds apart: every node that a segment held has
 * exactly one attempt of it, without problems, and usage for all of its time
 * but seconds. */
TEST_CASE (evidence_join__nothing_lost__all_is_found)
{
    static struct world w;

    for (int round = 0; round < 2000; round++) {
        evidence_join_t *join;
        seed = (uint64_t)round * 40503 + 7;
        make_world (&w, 0);
        join = evidence_join (&w.in);
        for (size_t i = 0; i < join->attempt_count; i++)
            if (join->attempt[i].problems || join->attempt[i].reason)
                fail_msg ("round %d, attempt %zu: %x %d", round, i,
                          join->attempt[i].problems, join->attempt[i].reason);
        for (size_t s = 0; s < join->segment_count; s++) {
            const segment_evidence_t *e = &join->segment[s];
            size_t held = 0;
            int64_t ms = 0, want;
            for (size_t n = 0; n < NODES; n++)
                held += holds (e->segment, n);
            assert_int_equal (e->attempt_count, held);
            assert_true (e->recorded);
            for (size_t k = 0; k < e->part_count; k++)
                ms += e->part[k]->to_ms - e->part[k]->from_ms;
            want = (e->segment->time_end - e->segment->time_start) * 1000
                   * (int64_t)held;
            assert_true (ms > want - 20000 * (int64_t)held);
            assert_true (ms < want + 20000 * (int64_t)held);
        }
        for (size_t k = 0; k < join->part_count; k++)
            assert_int_equal (join->part[k].reason, EVIDENCE_MATCHED);
        evidence_free (join);
    }
}

TEST_MAIN (NULL, NULL)
