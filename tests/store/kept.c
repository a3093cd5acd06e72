/* What is kept until a fact before its end changes, on the engine that the fixture
 * chooses. What forgets a rollup forgets it, too: tests/store/rollups.c. */
#include <string.h>

#include "suite.h"

#include "base/buffer.h"
#include "store/kept.h"

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
        OK (store_put_kept (store, day_of (i), digest, "day", 3, &error));
    OK (store_commit (store, &error));
}

/* With a rollup of the cluster, as a store has them that counted its facts. */
static store_t *store_that_keeps (void)
{
    store_t *store = fixture_open (fixture_store_url ());
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
    int rc = store_get_kept (store, stretch, of, &body, &error);

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
    s.time_seen = AT (DAYS);
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

static void get_kept__other_stretch_or_digest__none (void **state)
{
    store_t *store = store_that_keeps ();
    uint8_t other[STORE_DIGEST_SIZE] = {8};

    (void)state;
    assert_kept (store, DAYS);
    assert_false (is_kept (store, day_of (1), other));
    assert_false (is_kept (store, (period_t){AT (1), AT (2) - 1}, digest));
    assert_false (is_kept (store, (period_t){AT (1) + 1, AT (2)}, digest));
    store_close (store);
}

static void put_kept__overlaps_others__replaces_them (void **state)
{
    store_t *store = store_that_keeps ();
    uint8_t other[STORE_DIGEST_SIZE] = {8};

    (void)state;
    PUT (store_put_kept (store, (period_t){AT (1) + 1, AT (2) + 1}, other, "x",
                         1, &error));
    assert_true (is_kept (store, day_of (0), digest));
    assert_false (is_kept (store, day_of (1), digest));
    assert_false (is_kept (store, day_of (2), digest));
    assert_true (is_kept (store, day_of (3), digest));
    assert_true (is_kept (store, (period_t){AT (1) + 1, AT (2) + 1}, other));
    store_close (store);
}

static void put_kept__long_body__comes_out_the_same (void **state)
{
    store_t *store = store_that_keeps ();
    size_t length = (3 << 20) + 7;
    char *bytes = xmalloc (length);
    BUFFER_AUTO body = BUFFER_INIT;

    (void)state;
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)(i * 7 + (i >> 11));
    PUT (store_put_kept (store, day_of (1), digest, bytes, length, &error));
    assert_int_equal (
        store_get_kept (store, day_of (1), digest, &body, &error), 1);
    assert_int_equal (body.length, length);
    assert_memory_equal (body.data, bytes, length);
    free (bytes);
    store_close (store);
}

static void put__a_fact__forgets_what_ends_after_it (void **state)
{
    store_t *store = store_that_keeps ();
    segment_t behind = segment_of (1, AT (DAYS), AT (DAYS) + 60);
    segment_t within = segment_of (2, AT (3) - 1, AT (3));

    (void)state;
    PUT_SEGMENT (behind);
    assert_kept (store, DAYS);
    PUT_SEGMENT (within);
    assert_kept (store, 2);
    store_close (store);
}

/* What it comes to may depend on how it ended. */
static void put_segment__ended__from_its_start_on (void **state)
{
    store_t *store = store_that_keeps ();
    segment_t s = segment_of (1, AT (2) + 1, 0);

    (void)state;
    PUT_SEGMENT (s);
    keep (store);
    s.time_seen = AT (DAYS) + 60; /* it goes on */
    PUT_SEGMENT (s);
    assert_kept (store, DAYS);
    s.time_end = s.time_seen = AT (DAYS) + 60;
    s.state = SEGMENT_NODE_FAIL;
    PUT_SEGMENT (s);
    assert_kept (store, 2);
    store_close (store);
}

static void put_segment__back__from_its_start_on (void **state)
{
    store_t *store = store_that_keeps ();
    segment_t s = segment_of (1, AT (2) + 1, AT (2) + 60);
    uint64_t count;

    (void)state;
    s.source = SOURCE_SLURMDBD;
    PUT_SEGMENT (s);
    PUT (store_put_gone (store, "lab", AT (2), 0, AT (DAYS) + 9, &count,
                         &error));
    assert_int_equal (count, 1);
    keep (store);
    s.time_seen = AT (DAYS) + 10;
    PUT_SEGMENT (s);
    assert_kept (store, 2);
    store_close (store);
}

static void put_meter__a_reading__from_its_start_on (void **state)
{
    store_t *store = store_that_keeps ();
    meter_reading_t r
        = {.meter = "pdu", .period = {AT (3), AT (3) + 60}, .energy_mwh = 5};

    (void)state;
    PUT (store_put_meter (store, &r, NULL, &error));
    assert_kept (store, 3);
    keep (store);
    PUT (store_put_meter (store, &r, NULL, &error));
    assert_kept (store, DAYS);
    store_close (store);
}

/* Without rollups nobody looks at where a fact lies. */
static void put__of_a_cluster_without_rollups__all (void **state)
{
    store_t *store = store_that_keeps ();
    retag_t retag
        = {"new", 7, AT (0), AT (DAYS), "ann", NULL, "corpus", NULL};

    (void)state;
    PUT (store_put_retag (store, &retag, NULL, &error));
    assert_kept (store, 0);
    store_close (store);
}

static void put_retag__of_a_known_job__from_its_start_on (void **state)
{
    store_t *store = store_that_keeps ();
    segment_t s = segment_of (1, AT (2) + 1, AT (2) + 60);
    retag_t retag = {"lab", s.id_job, s.time_submit, AT (DAYS), "ann",
                     NULL,  "corpus", NULL};

    (void)state;
    PUT_SEGMENT (s);
    keep (store);
    PUT (store_put_retag (store, &retag, NULL, &error));
    assert_kept (store, 2);
    store_close (store);
}

static void forget_rollups__of_a_time__what_ends_after_its_start (void **state)
{
    store_t *store = store_that_keeps ();

    (void)state;
    PUT (store_forget_rollups (store, "lab", AT (2) + 1, AT (3), &error));
    assert_kept (store, 2);
    PUT (store_forget_rollups (store, NULL, 0, 0, &error));
    assert_kept (store, 0);
    store_close (store);
}

static void rollback__of_a_fact__all_stays (void **state)
{
    store_t *store = store_that_keeps ();
    segment_t s = segment_of (2, AT (1), AT (3));

    (void)state;
    OK (store_begin (store, &error));
    OK (store_put_segment (store, &s, NULL, &error));
    store_rollback (store);
    assert_kept (store, DAYS);
    PUT (store_put_as_of (store, "lab", AT (DAYS) + 1, &error));
    assert_kept (store, DAYS);
    store_close (store);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (get_kept__other_stretch_or_digest__none),
        TEST (put_kept__overlaps_others__replaces_them),
        TEST (put_kept__long_body__comes_out_the_same),
        TEST (put__a_fact__forgets_what_ends_after_it),
        TEST (put_segment__ended__from_its_start_on),
        TEST (put_segment__back__from_its_start_on),
        TEST (put_meter__a_reading__from_its_start_on),
        TEST (put__of_a_cluster_without_rollups__all),
        TEST (put_retag__of_a_known_job__from_its_start_on),
        TEST (forget_rollups__of_a_time__what_ends_after_its_start),
        TEST (rollback__of_a_fact__all_stays),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
