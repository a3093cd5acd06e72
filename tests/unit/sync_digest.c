#include "support/test.h"

#include "sync/sync_digest.h"

#define START 1790000400 /* a stretch begins here */

static segment_t ended (uint64_t id_job, int64_t end)
{
    return (segment_t){
        .cluster = "lab",
        .id_job = id_job,
        .time_submit = START - 100,
        .time_start = START - 50,
        .time_end = end,
        .user = "ada",
        .gres = "gpu=2",
    };
}

/* What a reading of these makes of the stretch of START. */
static store_digest_t reading (const segment_t *segments, size_t count)
{
    sync_digest_t *seen = sync_digest_new (START, START + 1200);
    store_digest_t result;

    for (size_t i = 0; i < count; i++)
        sync_digest_add (seen, &segments[i]);
    result = sync_digest_of (seen, START);
    sync_digest_free (seen);
    return result;
}

static void assert_same (const segment_t *a, const segment_t *b, size_t count,
                         bool expected)
{
    store_digest_t before = reading (a, count);
    sync_digest_t *seen = sync_digest_new (START, START + 1200);

    for (size_t i = 0; i < count; i++)
        sync_digest_add (seen, &b[i]);
    assert_int_equal (sync_digest_same (seen, &before), expected);
    sync_digest_free (seen);
}

TEST_CASE (same__other_order_and_other_moment__it_is)
{
    segment_t a[] = {ended (1, START), ended (2, START + 599)};
    segment_t b[] = {a[1], a[0]};

    b[0].observed_at = 7;
    assert_same (a, b, 2, true);
}

TEST_CASE (same__any_fact_differs__it_is_not)
{
    segment_t a[] = {ended (1, START)}, b[1];

    b[0] = a[0], b[0].user = "adb";
    assert_same (a, b, 1, false);
    b[0] = a[0], b[0].user = NULL;
    assert_same (a, b, 1, false);
    b[0] = a[0], b[0].account = "";
    assert_same (a, b, 1, false);
    b[0] = a[0], b[0].user = NULL, b[0].account = "ada";
    assert_same (a, b, 1, false);
    b[0] = a[0], b[0].job_db_inx = 1;
    assert_same (a, b, 1, false);
    b[0] = a[0], b[0].time_end++;
    assert_same (a, b, 1, false);
    b[0] = a[0], b[0].time_end = START + 600; /* the next stretch */
    assert_same (a, b, 1, false);
}

TEST_CASE (kept__one_more_that_is_fresh__all_are_there)
{
    segment_t first = ended (1, START), more = ended (2, START);
    store_digest_t before = reading (&first, 1);
    sync_digest_t *seen = sync_digest_new (START, START + 1200);

    sync_digest_add (seen, &more);
    sync_digest_fresh (seen, &more);
    assert_false (sync_digest_kept (seen, &before)); /* the first is missing */
    sync_digest_add (seen, &first);
    assert_true (sync_digest_kept (seen, &before));
    assert_false (sync_digest_same (seen, &before));
    sync_digest_rewind (seen);
    sync_digest_add (seen, &more);
    assert_false (sync_digest_kept (seen, &before)); /* another in its place */
    sync_digest_free (seen);
}

TEST_CASE (new__long_time__the_latest_stretches)
{
    sync_digest_t *seen = sync_digest_new (START - 4000 * 86400 + 7, START + 1);
    segment_t old = ended (1, START - 3999 * 86400);
    store_digest_t strange = {.start = START + 7, .end = START + 9};

    assert_int_equal (sync_digest_end (seen), START + 600);
    assert_int_equal (sync_digest_start (seen),
                      START + 600 - SYNC_SEEN_MAX * SYNC_SEEN_SECONDS);
    sync_digest_add (seen, &old);
    assert_false (sync_digest_same (seen, &strange));
    sync_digest_free (seen);
}

TEST_MAIN (NULL, NULL)
