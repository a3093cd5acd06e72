/* Jobs by how a segment of theirs ended (store_query_t.ended): on SQLite, and by
 * tests/store/ended_mariadb.sh on MariaDB. */
#include "suite.h"

#define HOUR 3600
#define DAYS 40
#define FIRST INT64_C (1790000000)
#define COUNT 600

static const segment_state_t states[]
    = {SEGMENT_COMPLETED, SEGMENT_COMPLETED, SEGMENT_COMPLETED,
       SEGMENT_COMPLETED, SEGMENT_FAILED,    SEGMENT_TIMEOUT,
       SEGMENT_NODE_FAIL, SEGMENT_PREEMPTED, SEGMENT_BOOT_FAIL};

static struct made {
    const char *cluster;
    uint64_t id_job;
    int64_t submit, start, end; /* end 0: it runs on */
    segment_state_t state;
} made[COUNT];

/* A third of the segments are a job's second or third. */
static void make (size_t i)
{
    static const char *const clusters[] = {"a", "b"};
    struct made *m = &made[i];

    m->cluster = clusters[i >= COUNT / 2];
    m->id_job = i % (COUNT / 2) > 0 && dice (3) == 0 ? made[i - 1].id_job
                                                     : 1000 + 7 * i;
    m->submit = FIRST + (int64_t)i;
    m->start = FIRST + dice (DAYS * 24) * HOUR;
    m->end = m->start + 1 + dice (dice (4) ? 6 * HOUR : 9 * 24 * HOUR);
    m->state = states[dice (GL_ARRAY_SIZE (states))];
    if (dice (30) == 0) {
        m->end = 0;
        m->state = SEGMENT_RUNNING;
    }
}

static store_t *fill (void)
{
    store_t *store = fixture_open (fixture_store_url ());

    OK (store_begin (store, &error));
    for (size_t i = 0; i < COUNT; i++) {
        segment_t s = fixture_segment (7);
        make (i);
        s.cluster = made[i].cluster;
        s.id_job = made[i].id_job;
        s.time_submit = made[i].submit;
        s.time_start = made[i].start;
        s.time_end = made[i].end;
        s.observed_at = FIRST + 100 * 24 * HOUR;
        s.state = made[i].state;
        OK (store_put_segment (store, &s, NULL, &error));
    }
    OK (store_commit (store, &error));
    return store;
}

static bool overlaps (const struct made *m, const store_query_t *q)
{
    return m->start < q->end && (m->end == 0 || m->end > q->start);
}

/* By looking at all. */
static bool wanted (const struct made *m, const store_query_t *q)
{
    for (size_t i = 0; i < COUNT; i++)
        if (made[i].id_job == m->id_job
            && !strcmp (made[i].cluster, m->cluster) && made[i].end != 0
            && (q->ended & segment_state_bit (made[i].state))
            && overlaps (&made[i], q))
            return true;
    return false;
}

/* How many are wanted, and how many came. */
static void check (store_t *store, const store_query_t *q, size_t *ret_wanted,
                   size_t *ret_found)
{
    store_iter_t *iter = store_iter_open (store, STORE_SEGMENTS, q, &error);
    bool seen[COUNT] = {false};
    segment_t s;
    int rc;

    if (!iter)
        fail_msg ("%s", error.text);
    while ((rc = store_iter_next (iter, &s, &error)) == 1) {
        size_t i = (size_t)(s.time_submit - FIRST);
        assert_false (seen[i]);
        assert_true (s.id_job == made[i].id_job);
        assert_true (overlaps (&made[i], q));
        seen[i] = true;
        ++*ret_found;
    }
    assert_int_equal (rc, 0);
    store_iter_close (iter);
    for (size_t i = 0; i < COUNT; i++) {
        bool is = overlaps (&made[i], q) && wanted (&made[i], q);
        *ret_wanted += is;
        if (is && !seen[i])
            fail_msg ("job %llu of %s did not come",
                      (unsigned long long)made[i].id_job, made[i].cluster);
    }
}

static store_query_t any_period (void)
{
    int64_t start = FIRST + dice (DAYS * 24) * HOUR;

    return (store_query_t){.start = start,
                           .end = start + 1 + dice (6 * 24 * HOUR)};
}

TEST_CASE (ended__any_states_and_period__all_of_these_jobs)
{
    store_t *store = fill ();
    size_t count = 0, found = 0;

    for (int round = 0; round < 120; round++) {
        store_query_t q = any_period ();
        for (unsigned n = 1 + dice (3); n > 0; n--)
            q.ended |= segment_state_bit (states[dice (GL_ARRAY_SIZE (states))]);
        check (store, &q, &count, &found);
    }
    store_close (store);
    assert_true (count > 1000);
    assert_true (found >= count);
}

TEST_CASE (ended__a_state_that_none_ended_in__nothing)
{
    store_t *store = fill ();
    size_t count = 0, found = 0;

    for (int round = 0; round < 20; round++) {
        store_query_t q = any_period ();
        q.ended = segment_state_bit (SEGMENT_DEADLINE);
        check (store, &q, &count, &found);
    }
    store_close (store);
    assert_int_equal (found, 0);
}

TEST_CASE (ended__of_one_job__few_others)
{
    store_t *store = fill ();
    store_query_t q = {.start = FIRST, .end = FIRST + DAYS * 24 * HOUR,
                       .ended = segment_state_bit (SEGMENT_OUT_OF_MEMORY)};
    segment_t s = fixture_segment (7);
    size_t count = 0, found = 0;

    made[200].state = SEGMENT_OUT_OF_MEMORY;
    made[200].end = made[200].start + HOUR;
    s.cluster = made[200].cluster;
    s.id_job = made[200].id_job;
    s.time_submit = made[200].submit;
    s.time_start = made[200].start;
    s.time_end = made[200].end;
    s.observed_at = FIRST + 101 * 24 * HOUR;
    s.state = SEGMENT_OUT_OF_MEMORY;
    OK (store_begin (store, &error));
    OK (store_put_segment (store, &s, NULL, &error));
    OK (store_commit (store, &error));
    check (store, &q, &count, &found);
    store_close (store);
    assert_in_range (count, 1, 10);
    assert_in_range (found, count, 50);
}

TEST_MAIN_EACH (NULL, teardown)
