/* What is kept until a fact before its end changes, on the engine that the
 * fixture chooses. What forgets a rollup forgets it, too:
 * tests/store/rollups.c. */
#include <string.h>

#include "suite.h"

#include "base/buffer.h"
#include "store/cached.h"

#define DAY 86400
#define FIRST 1793000000 /* any instant */
#define AT(day) (FIRST + (day)*DAY)
#define DAYS 5

static const uint8_t digest[STORE_DIGEST_SIZE] = {7};

static period_t day_of (int day)
{
    return (period_t){AT (day), AT (day + 1)};
}

static void keep (store_t *store)
{
    OK (store_begin (store, &error));
    for (int i = 0; i < DAYS; i++)
        OK (store_put_cached (store, day_of (i), digest, "day", 3, &error));
    OK (store_commit (store, &error));
}

/* With a rollup of the cluster, as a store has them that counted its facts. */
static const char *url; /* of the store */

static store_t *store_that_keeps (void)
{
    store_t *store = fixture_open (url = fixture_store_url ());
    store_rollup_t r = {.cluster = "lab",
                        .unit = CALENDAR_DAY,
                        .start = AT (-9),
                        .end = AT (-8),
                        .body = "x",
                        .length = 1};

    OK (store_begin (store, &error));
    OK (store_put_as_of (store, "lab", AT (DAYS), &error));
    OK (store_commit (store, &error));
    OK (store_begin (store, &error));
    OK (store_put_rollup (store, &r, &error));
    OK (store_commit (store, &error));
    keep (store);
    return store;
}

static bool is_kept (store_t *store, period_t stretch, const uint8_t *of)
{
    BUFFER_AUTO body = BUFFER_INIT;
    int rc = store_get_cached (store, stretch, of, &body, &error);

    OK (rc);
    return rc == 1;
}

/* The first `count` days, and no other. */
static void assert_kept (store_t *store, int count)
{
    for (int i = 0; i < DAYS; i++)
        assert_int_equal (is_kept (store, day_of (i), digest), i < count);
}

static segment_t segment_of (uint64_t id_job, int64_t start, int64_t end)
{
    segment_t s = fixture_segment (id_job);

    s.time_submit = AT (-1);
    s.time_start = start;
    s.time_end = end;
    s.observed_at = AT (DAYS);
    s.time_limit = SECONDS_UNKNOWN;
    s.state = end ? SEGMENT_COMPLETED : SEGMENT_RUNNING;
    return s;
}

#define PUT(CALL)                          \
    do {                                   \
        OK (store_begin (store, &error));  \
        OK (CALL);                         \
        OK (store_commit (store, &error)); \
    } while (0)
#define PUT_SEGMENT(S) PUT (store_put_segment (store, &(S), NULL, &error))

TEST_CASE (get_kept__other_stretch_or_digest__none)
{
    store_t *store = store_that_keeps ();
    uint8_t other[STORE_DIGEST_SIZE] = {8};

    assert_kept (store, DAYS);
    assert_false (is_kept (store, day_of (1), other));
    assert_false (is_kept (store, (period_t){AT (1), AT (2) - 1}, digest));
    assert_false (is_kept (store, (period_t){AT (1) + 1, AT (2)}, digest));
    store_close (store);
}

TEST_CASE (put_kept__overlaps_others__replaces_them)
{
    store_t *store = store_that_keeps ();
    uint8_t other[STORE_DIGEST_SIZE] = {8};

    PUT (store_put_cached (store, (period_t){AT (1) + 1, AT (2) + 1}, other,
                           "x", 1, &error));
    assert_true (is_kept (store, day_of (0), digest));
    assert_false (is_kept (store, day_of (1), digest));
    assert_false (is_kept (store, day_of (2), digest));
    assert_true (is_kept (store, day_of (3), digest));
    assert_true (is_kept (store, (period_t){AT (1) + 1, AT (2) + 1}, other));
    store_close (store);
}

TEST_CASE (put_kept__long_body__comes_out_the_same)
{
    store_t *store = store_that_keeps ();
    size_t length = (3 << 20) + 7;
    char *bytes = xmalloc (length);
    BUFFER_AUTO body = BUFFER_INIT;

    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)(i * 7 + (i >> 11));
    PUT (store_put_cached (store, day_of (1), digest, bytes, length, &error));
    assert_int_equal (
        store_get_cached (store, day_of (1), digest, &body, &error), 1);
    assert_int_equal (body.length, length);
    assert_memory_equal (body.data, bytes, length);
    free (bytes);
    store_close (store);
}

TEST_CASE (put__a_fact__forgets_what_ends_after_it)
{
    store_t *store = store_that_keeps ();
    segment_t behind = segment_of (1, AT (DAYS), AT (DAYS) + 60);
    segment_t within = segment_of (2, AT (3) - 1, AT (3));

    PUT_SEGMENT (behind);
    assert_kept (store, DAYS);
    PUT_SEGMENT (within);
    assert_kept (store, 2);
    store_close (store);
}

/* What it comes to may depend on how it ended. */
TEST_CASE (put_segment__ended__from_its_start_on)
{
    store_t *store = store_that_keeps ();
    segment_t s = segment_of (1, AT (2) + 1, 0);

    PUT_SEGMENT (s);
    keep (store);
    s.observed_at = AT (DAYS) + 60; /* it goes on */
    PUT_SEGMENT (s);
    assert_kept (store, DAYS);
    s.time_end = s.observed_at = AT (DAYS) + 60;
    s.state = SEGMENT_NODE_FAIL;
    PUT_SEGMENT (s);
    assert_kept (store, 2);
    store_close (store);
}

TEST_CASE (put_segment__back__from_its_start_on)
{
    store_t *store = store_that_keeps ();
    segment_t s = segment_of (1, AT (2) + 1, AT (2) + 60);
    uint64_t count;

    s.source = SOURCE_SLURMDBD;
    PUT_SEGMENT (s);
    PUT (store_put_deleted (store, "lab", AT (2), 0, AT (DAYS) + 9, &count,
                            &error));
    assert_int_equal (count, 1);
    keep (store);
    s.observed_at = AT (DAYS) + 10;
    PUT_SEGMENT (s);
    assert_kept (store, 2);
    store_close (store);
}

TEST_CASE (put_meter__a_reading__from_its_start_on)
{
    store_t *store = store_that_keeps ();
    meter_reading_t r
        = {.meter = "pdu", .period = {AT (3), AT (3) + 60}, .energy_mwh = 5};

    PUT (store_put_meter (store, &r, NULL, &error));
    assert_kept (store, 3);
    keep (store);
    PUT (store_put_meter (store, &r, NULL, &error));
    assert_kept (store, DAYS);
    store_close (store);
}

/* Without rollups nobody looks at where a fact lies. */
TEST_CASE (put__of_a_cluster_without_rollups__all)
{
    store_t *store = store_that_keeps ();
    retag_t retag = {"new", 7, AT (0), AT (DAYS), "ann", NULL, "corpus", NULL};

    PUT (store_put_retag (store, &retag, NULL, &error));
    assert_kept (store, 0);
    store_close (store);
}

TEST_CASE (put_retag__of_a_known_job__from_its_start_on)
{
    store_t *store = store_that_keeps ();
    segment_t s = segment_of (1, AT (2) + 1, AT (2) + 60);
    retag_t retag = {"lab", s.id_job, s.time_submit, AT (DAYS),
                     "ann", NULL,     "corpus",      NULL};

    PUT_SEGMENT (s);
    keep (store);
    PUT (store_put_retag (store, &retag, NULL, &error));
    assert_kept (store, 2);
    store_close (store);
}

TEST_CASE (forget_rollups__of_a_time__what_ends_after_its_start)
{
    store_t *store = store_that_keeps ();

    PUT (store_forget_rollups (store, "lab", AT (2) + 1, AT (3), &error));
    assert_kept (store, 2);
    PUT (store_forget_rollups (store, NULL, 0, 0, &error));
    assert_kept (store, 0);
    store_close (store);
}

TEST_CASE (rollback__of_a_fact__all_stays)
{
    store_t *store = store_that_keeps ();
    segment_t s = segment_of (2, AT (1), AT (3));

    OK (store_begin (store, &error));
    OK (store_put_segment (store, &s, NULL, &error));
    store_rollback (store);
    assert_kept (store, DAYS);
    PUT (store_put_as_of (store, "lab", AT (DAYS) + 1, &error));
    assert_kept (store, DAYS);
    store_close (store);
}

/* --- since when a cluster is known ------------------------------------- */

/* A number that no fact has, to see whether it is asked for. */
static void mark_first (void)
{
    run_sql (url, "UPDATE rollup SET time_start = 17, time_end = 18 "
                  "WHERE unit = 4");
}

static int64_t first_of (store_t *store)
{
    int64_t start, as_of;

    OK (store_extent (store, "lab", &start, &as_of, &error));
    return start;
}

static void keep_first (store_t *store)
{
    OK (store_begin (store, &error));
    OK (store_keep_extent (store, "lab", &error));
    OK (store_commit (store, &error));
}

static void put_start (store_t *store, uint64_t id, int64_t start)
{
    static int64_t seen = AT (DAYS);
    segment_t s = fixture_segment (id);

    s.time_submit = AT (-8); /* whenever it starts, it is the same segment */
    s.time_start = start;
    s.time_end = AT (3);
    s.observed_at = seen++; /* the later word */
    PUT (store_put_segment (store, &s, NULL, &error));
}

static void put_event_at (store_t *store, int64_t start, int64_t end)
{
    node_event_t event
        = {.cluster = "lab", .start = start, .end = end, .state = 1};

    PUT (store_put_event (store, &event, AT (4), NULL, &error));
}

TEST_CASE (keep_extent__no_earlier_fact__is_not_searched_again)
{
    store_t *store = store_that_keeps ();

    keep_first (store); /* nothing is known: nothing to keep */
    put_start (store, 1, AT (0));
    assert_int_equal (first_of (store), AT (0));
    keep_first (store);
    assert_int_equal (first_of (store), AT (0));
    mark_first ();
    assert_int_equal (first_of (store), 17);
    put_start (store, 2, AT (0) + 1);
    assert_int_equal (first_of (store), 17);
    put_event_at (store, AT (1), AT (2));
    assert_int_equal (first_of (store), 17);
    store_close (store);
}

/* Whatever has a start: new, moved, with or without a length. */
TEST_CASE (keep_extent__fact_that_is_as_old__is_searched_again)
{
    store_t *store = store_that_keeps ();

    put_start (store, 1, AT (1));
    keep_first (store);
    put_start (store, 2, AT (0));
    assert_int_equal (first_of (store), AT (0));
    keep_first (store);
    put_event_at (store, AT (-1), AT (0));
    assert_int_equal (first_of (store), AT (-1));
    keep_first (store);
    put_event_at (store, AT (-2), AT (-2));
    assert_int_equal (first_of (store), AT (-2));
    keep_first (store);
    put_start (store, 3, AT (-3));
    keep_first (store);
    assert_int_equal (first_of (store), AT (-3));
    put_start (store, 3, AT (-4)); /* the same one, known better */
    assert_int_equal (first_of (store), AT (-4));
    keep_first (store);
    put_start (store, 3, AT (2)); /* and it is not the first one any more */
    assert_int_equal (first_of (store), AT (-2));
    store_close (store);
}

/* What a transaction put counts in it at once. */
TEST_CASE (keep_extent__within_a_transaction__what_is_put_counts)
{
    store_t *store = store_that_keeps ();
    node_event_t event = {.cluster = "lab", .start = AT (-1), .state = 1};

    put_start (store, 1, AT (1));
    keep_first (store);
    OK (store_begin (store, &error));
    OK (store_put_event (store, &event, AT (4), NULL, &error));
    assert_int_equal (first_of (store), AT (-1));
    OK (store_keep_extent (store, "lab", &error));
    assert_int_equal (first_of (store), AT (-1));
    store_rollback (store);
    assert_int_equal (first_of (store), AT (1));
    store_close (store);
}

static int count_segments (store_t *store, int64_t start, int64_t end)
{
    store_query_t query = {.start = start, .end = end};
    store_iter_t *iter
        = store_iter_open (store, STORE_SEGMENTS, &query, &error);
    segment_t s;
    int count = 0, more;

    assert_non_null (iter);
    while ((more = store_iter_next (iter, &s, &error)) > 0)
        count++;
    OK (more);
    store_iter_close (iter);
    return count;
}

TEST_CASE (keep_extent__period_that_ends_there__has_no_segments)
{
    store_t *store = store_that_keeps ();

    put_start (store, 1, AT (1));
    keep_first (store);
    assert_int_equal (count_segments (store, AT (0), AT (1)), 0);
    assert_int_equal (count_segments (store, AT (0), AT (1) + 1), 1);
    put_start (store, 2, AT (0));
    assert_int_equal (count_segments (store, AT (0), AT (1)), 1);
    store_close (store);
}

TEST_MAIN_EACH (NULL, teardown)
