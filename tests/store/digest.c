/* What a reader need not put again, and what vanished, and readings of meters,
 * on the engine that the fixture chooses. */
#include <string.h>

#include "suite.h"

#define NOON 1790000000
#define HOUR 3600

/* One that ended half an hour after NOON, as `source` saw it. */
static segment_t ended (uint64_t id_job, segment_source_t source, int64_t seen,
                        const char *user)
{
    segment_t s = fixture_segment (id_job);

    s.time_submit = s.time_start = NOON;
    s.time_end = NOON + HOUR / 2;
    s.observed_at = seen;
    s.source = source;
    s.user = user;
    return s;
}

static void put (store_t *store, const segment_t *s)
{
    OK (store_begin (store, &error));
    OK (store_put_segment (store, s, NULL, &error));
    OK (store_commit (store, &error));
}

static void put_seen (store_t *store, int64_t as_of)
{
    const store_digest_t seen = {NOON, NOON + HOUR, 1, UINT64_MAX, 3};

    OK (store_begin (store, &error));
    OK (store_put_digest (store, "lab", as_of, &seen, 1, &error));
    OK (store_commit (store, &error));
}

static size_t count_seen (store_t *store)
{
    store_digest_t *seen;
    int64_t as_of;
    size_t count;

    OK (store_get_digest (store, "lab", &as_of, &seen, &count, &error));
    free (seen);
    return count;
}

static void assert_row (const char *url, const char *expected)
{
    GL_AUTOFREE char *row = fixture_counts (
        url, "SELECT p.user_name, s.observed_at FROM segment s "
             "LEFT JOIN party p ON p.id = s.party WHERE s.id_job = 1");

    assert_string_equal (row, expected);
}

TEST_CASE (put_seen__then_get__the_same_with_all_bits)
{
    store_t *store = fixture_open (fixture_store_url ());
    store_digest_t *seen;
    int64_t as_of;
    size_t count;

    assert_int_equal (count_seen (store), 0);
    put_seen (store, 5);
    put_seen (store, NOON + HOUR);
    OK (store_get_digest (store, "lab", &as_of, &seen, &count, &error));
    assert_int_equal (count, 1);
    assert_int_equal (as_of, NOON + HOUR);
    assert_int_equal (seen[0].start, NOON);
    assert_int_equal (seen[0].end, NOON + HOUR);
    assert_int_equal (seen[0].segments, 1);
    assert_true (seen[0].keys == UINT64_MAX);
    assert_int_equal (seen[0].facts, 3);
    free (seen);
    store_close (store);
}

/* An older view of another source comes after slurmdbd's was confirmed. */
TEST_CASE (put_segment__older_than_what_was_seen__does_not_win)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    segment_t first = ended (1, SOURCE_SLURMDBD, NOON + 1 * HOUR, "ada");
    segment_t other = ended (1, SOURCE_SACCT_TEXT, NOON + 2 * HOUR, "bob");

    put (store, &first);
    put_seen (store, NOON + 3 * HOUR);
    put (store, &other);
    assert_int_equal (count_seen (store), 0);
    store_close (store);
    assert_row (url, "ada 1790010800");
}

TEST_CASE (put_segment__later_than_what_was_seen__wins)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    segment_t first = ended (1, SOURCE_SLURMDBD, NOON + 1 * HOUR, "ada");
    segment_t other = ended (1, SOURCE_SACCT_TEXT, NOON + 4 * HOUR, "bob");

    put (store, &first);
    put_seen (store, NOON + 3 * HOUR);
    put (store, &other);
    store_close (store);
    assert_row (url, "bob 1790014400");
}

TEST_CASE (settle_seen__outside_the_stretch__is_not_touched)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    segment_t first = ended (1, SOURCE_SLURMDBD, NOON + 3 * HOUR, "ada");

    first.time_end = NOON + HOUR;
    put (store, &first);
    put_seen (store, NOON + 5 * HOUR);
    OK (store_begin (store, &error));
    OK (store_settle_digest (store, "lab", &error));
    OK (store_commit (store, &error));
    assert_int_equal (count_seen (store), 0);
    store_close (store);
    assert_row (url, "ada 1790010800");
}

TEST_CASE (put_gone__by_their_end__those_not_seen_since)
{
    store_t *store = fixture_open (fixture_store_url ());
    segment_t early = ended (1, SOURCE_SLURMDBD, NOON + HOUR, "ada");
    segment_t late = ended (2, SOURCE_SLURMDBD, NOON + HOUR, "ada");
    segment_t open = ended (3, SOURCE_SLURMDBD, NOON + HOUR, "ada");
    uint64_t at = 0, ids[4], count;
    size_t found;

    late.time_end = NOON + HOUR;
    open.time_end = 0;
    put (store, &early);
    put (store, &late);
    put (store, &open);
    OK (store_begin (store, &error));
    OK (store_unseen (store, "lab", 0, 0, NOON + 2 * HOUR, &at, ids, 4, &found,
                      &error));
    assert_int_equal (found, 3);
    at = 0;
    OK (store_unseen (store, "lab", 0, 1, NOON + 2 * HOUR, &at, ids, 4, &found,
                      &error));
    assert_int_equal (found, 1);
    assert_int_equal (ids[0], 3);
    OK (store_put_deleted (store, "lab", NOON, NOON + HOUR, NOON + 2 * HOUR,
                           &count, &error));
    assert_int_equal (count, 1);
    OK (store_put_deleted (store, "lab", NOON, 0, NOON + 2 * HOUR, &count,
                           &error));
    assert_int_equal (count, 1);
    OK (store_put_deleted (store, "lab", 0, 0, NOON + HOUR, &count, &error));
    assert_int_equal (count, 0);
    OK (store_put_deleted (store, "lab", 0, 0, NOON + 2 * HOUR, &count,
                           &error));
    assert_int_equal (count, 1);
    OK (store_commit (store, &error));
    store_close (store);
}

TEST_CASE (put_meter__again_and_otherwise__is_once_or_refused)
{
    const meter_reading_t first = {"pdu", {1000, 2000}, UINT64_C (5) << 40};
    const meter_reading_t next = {"pdu", {2000, 3000}, 0};
    const meter_reading_t other = {"pdu", {1999, 2001}, 1};
    store_t *store = fixture_open (fixture_store_url ());
    store_counts_t counts = {0};
    meter_reading_t *readings;
    size_t count;

    OK (store_begin (store, &error));
    OK (store_put_meter (store, &first, &counts, &error));
    OK (store_put_meter (store, &next, &counts, &error));
    OK (store_put_meter (store, &first, &counts, &error));
    OK (store_commit (store, &error));
    assert_int_equal (counts.inserted, 2);
    assert_int_equal (counts.unchanged, 1);
    OK (store_begin (store, &error));
    assert_int_equal (store_put_meter (store, &other, NULL, &error), -1);
    assert_non_null (strstr (error.text, "another reading of this time"));
    store_rollback (store);
    OK (store_meters (store, (period_t){1999, 2000}, &readings, &count,
                      &error));
    assert_int_equal (count, 1);
    assert_string_equal (readings[0].meter, "pdu");
    assert_true (readings[0].energy_mwh == first.energy_mwh);
    assert_true (readings[0].period.end == 2000);
    store_meters_free (readings, count);
    store_close (store);
}

TEST_MAIN_EACH (NULL, teardown)
