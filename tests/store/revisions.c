/* Revisions: what a later view changes of what had been counted, on the engine
 * that the fixture chooses. */
#include <string.h>

#include "suite.h"

#include "base/buffer.h"

#define SEEN 1800000000 /* when the fixture's segments were seen */

static void put (store_t *store, const segment_t *s)
{
    OK (store_begin (store, &error));
    OK (store_put_segment (store, s, NULL, &error));
    OK (store_commit (store, &error));
}

/* "JOB KIND SEEN-relative SOURCE [before -> after];" of each; a line ends with
 * a comma here. */
static char *revisions (store_t *store, const store_query_t *query)
{
    static const char *const kinds[] = {"?", "changed", "gone", "back"};
    store_iter_t *iter
        = store_iter_open (store, STORE_REVISIONS, query, &error);
    buffer_t text = BUFFER_INIT;
    revision_t r;
    int rc;

    assert_non_null (iter);
    while ((rc = store_iter_next (iter, &r, &error)) == 1) {
        buffer_printf (&text, "%llu %s %lld %d", (unsigned long long)r.id_job,
                       kinds[r.kind], (long long)(r.seen - SEEN),
                       (int)r.source);
        if (r.before)
            buffer_printf (&text, " [%s-> %s]", r.before, r.after);
        buffer_add_char (&text, ';');
    }
    OK (rc);
    store_iter_close (iter);
    buffer_add_text (&text, "");
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] == '\n')
            text.data[i] = ',';
    return buffer_take (&text);
}

static void assert_revisions (store_t *store, const char *expected)
{
    GL_AUTOFREE char *found = revisions (store, NULL);

    assert_string_equal (found ? found : "", expected);
}

/* The view of the same source, `later` seconds later. */
static segment_t view (int64_t later)
{
    segment_t s = fixture_segment (7);

    s.observed_at = SEEN + later;
    return s;
}

static segment_t running (int64_t later)
{
    segment_t s = view (later);

    s.time_start = SEEN - 5000;
    s.time_end = 0;
    s.state = SEGMENT_RUNNING;
    return s;
}

/* What putting one and then the other leaves. */
static void assert_revised (const segment_t *first, const segment_t *second,
                            const char *expected)
{
    store_t *store = fixture_open (fixture_store_url ());

    put (store, first);
    put (store, second);
    assert_revisions (store, expected);
    put (store, second);
    put (store, first);
    assert_revisions (store, expected);
    store_close (store);
}

TEST_CASE (normal_end__none)
{
    segment_t open = running (0), closed = running (100);

    closed.time_end = SEEN + 50;
    closed.state = SEGMENT_COMPLETED;
    closed.suspended = 17;
    assert_revised (&open, &closed, "");
    /* at the very moment up to which it had been counted */
    closed.time_end = SEEN;
    assert_revised (&open, &closed, "");
}

TEST_CASE (seen_again__none)
{
    segment_t open = running (0), later = running (100);
    segment_t closed = view (0), again = view (100);

    assert_revised (&open, &later, "");
    assert_revised (&closed, &again, "");
}

TEST_CASE (late_end__ended_before_it_was_counted)
{
    segment_t open = running (0), closed = running (3600);

    closed.time_end = SEEN - 1000;
    closed.state = SEGMENT_NODE_FAIL;
    assert_revised (
        &open, &closed,
        "7 changed 3600 3 [time_end=0,observed_at=1800000000,"
        "state=RUNNING,-> time_end=1799999000,observed_at=1800003600,"
        "state=NODE_FAIL,];");
}

TEST_CASE (fix_runaway__no_hours_are_left)
{
    segment_t open = running (0), closed = running (3600);

    closed.time_end = closed.time_start;
    closed.state = SEGMENT_COMPLETED;
    assert_revised (
        &open, &closed,
        "7 changed 3600 3 [time_end=0,observed_at=1800000000,"
        "state=RUNNING,-> time_end=1799995000,observed_at=1800003600,"
        "state=COMPLETED,];");
}

TEST_CASE (edited_tres__of_a_closed_job)
{
    segment_t closed = view (0), edited = view (100);

    edited.gres = "gpu=2,gpu:a100=2";
    edited.cpus = 8;
    assert_revised (&closed, &edited,
                    "7 changed 100 3 [cpus=16,gres=gpu=4,gpu:a100=4,-> "
                    "cpus=8,gres=gpu=2,gpu:a100=2,];");
}

TEST_CASE (changed_account__closed_and_running)
{
    segment_t closed = view (0), edited = view (100);
    segment_t open = running (0), moved = running (100);

    edited.account = "new\nline\\";
    assert_revised (&closed, &edited,
                    "7 changed 100 3 [account=vision,-> "
                    "account=new\\x0aline\\x5c,];");
    moved.account = "physics";
    assert_revised (&open, &moved,
                    "7 changed 100 3 [account=vision,-> account=physics,];");
}

TEST_CASE (ended_and_changed__all_that_differs)
{
    segment_t open = running (0), closed = running (100);

    closed.time_end = SEEN + 50;
    closed.state = SEGMENT_FAILED;
    closed.account = "physics";
    assert_revised (&open, &closed,
                    "7 changed 100 3 [time_end=0,observed_at=1800000000,"
                    "state=RUNNING,account=vision,-> time_end=1800000050,"
                    "observed_at=1800000100,state=FAILED,account=physics,];");
}

TEST_CASE (nothing_was_counted__none)
{
    segment_t pending = view (0), started = view (100);

    pending.time_start = pending.time_end = 0;
    pending.state = SEGMENT_PENDING;
    started.account = "physics";
    assert_revised (&pending, &started, "");
}

TEST_CASE (value_where_none_was_known__none)
{
    segment_t less = view (0), more = view (100);

    less.account = less.nodelist = NULL;
    less.cpus = COUNT_UNKNOWN;
    less.suspended = SECONDS_UNKNOWN;
    assert_revised (&less, &more, "");
    assert_revised (&more, &less, "");
}

TEST_CASE (name_that_nobody_counts_by__none)
{
    segment_t closed = view (0), renamed = view (100);

    renamed.job_name = "test";
    renamed.job_db_inx = 99;
    assert_revised (&closed, &renamed, "");
}

TEST_CASE (older_view__none)
{
    segment_t closed = view (0), older = view (-100);

    older.account = "physics";
    older.time_end--;
    assert_revised (&closed, &older, "");
}

TEST_CASE (changed_twice__both_in_order)
{
    store_t *store = fixture_open (fixture_store_url ());
    store_query_t query
        = {.cluster = "lab", .start = SEEN + 1, .end = SEEN + 6};
    GL_AUTOFREE char *found = NULL;
    segment_t s = view (0);

    put (store, &s);
    s.account = "a";
    s.observed_at += 5;
    put (store, &s);
    s.account = "b";
    put (store, &s);
    s.observed_at++;
    s.account = "c";
    put (store, &s);
    assert_revisions (store, "7 changed 5 3 [account=vision,-> account=a,];"
                             "7 changed 5 3 [account=a,-> account=b,];"
                             "7 changed 6 3 [account=b,-> account=c,];");
    found = revisions (store, &query);
    assert_string_equal (found, "7 changed 5 3 [account=vision,-> account=a,];"
                                "7 changed 5 3 [account=a,-> account=b,];");
    store_close (store);
}

/* Jobs 1 to 6: 1 and 2 are seen by the second reading, 4 ended long ago, 5 is
 * open, 6 only sacct told. */
static store_t *store_of_two_readings (void)
{
    store_t *store = fixture_open (fixture_store_url ());

    OK (store_begin (store, &error));
    for (uint64_t id = 1; id <= 6; id++) {
        segment_t s = fixture_segment (id);
        s.time_start = SEEN - (id == 4 ? 900000 : 9000);
        s.time_end = id == 5 ? 0 : s.time_start + 1000;
        s.source = id == 6 ? SOURCE_SACCT_TEXT : SOURCE_SLURMDBD;
        OK (store_put_segment (store, &s, NULL, &error));
        s.observed_at = SEEN + 100;
        if (id <= 2)
            OK (store_put_segment (store, &s, NULL, &error));
    }
    OK (store_commit (store, &error));
    return store;
}

/* Of those that ended from then on, and the open ones. */
static uint64_t put_deleted (store_t *store, int64_t since, int64_t as_of)
{
    uint64_t count, open = 0;

    OK (store_begin (store, &error));
    OK (store_put_deleted (store, "lab", since, 0, as_of, &count, &error));
    OK (store_put_deleted (store, "lab", 0, 1, as_of, &open, &error));
    OK (store_commit (store, &error));
    return count + open;
}

TEST_CASE (unseen__window__what_the_reading_did_not_show)
{
    store_t *store = store_of_two_readings ();
    uint64_t ids[2], at = 0;
    size_t count;

    OK (store_begin (store, &error));
    OK (store_unseen (store, "lab", SEEN - 20000, 0, SEEN + 100, &at, ids, 2,
                      &count, &error));
    assert_int_equal (count, 1);
    assert_int_equal (ids[0], 3);
    OK (store_unseen (store, "lab", SEEN - 20000, 0, SEEN + 100, &at, ids, 2,
                      &count, &error));
    assert_int_equal (count, 0);
    at = 0;
    OK (store_unseen (store, "lab", 0, 0, SEEN + 100, &at, ids, 2, &count,
                      &error));
    assert_int_equal (count, 2);
    assert_int_equal (ids[1], 4);
    OK (store_unseen (store, "lab", 0, 0, SEEN + 100, &at, ids, 2, &count,
                      &error));
    assert_int_equal (count, 1);
    assert_int_equal (ids[0], 5);
    store_close (store);
}

TEST_CASE (put_gone__each_once)
{
    store_t *store = store_of_two_readings ();

    assert_int_equal (put_deleted (store, SEEN - 20000, SEEN + 100), 2);
    assert_revisions (store, "3 gone 100 3;5 gone 100 3;");
    assert_int_equal (put_deleted (store, SEEN - 20000, SEEN + 100), 0);
    assert_int_equal (put_deleted (store, 0, SEEN + 100), 1);
    assert_revisions (store, "3 gone 100 3;4 gone 100 3;5 gone 100 3;");
    store_close (store);
}

TEST_CASE (put_segment__was_gone__is_back)
{
    store_t *store = store_of_two_readings ();
    segment_t s = fixture_segment (3);

    s.time_start = SEEN - 9000;
    s.time_end = s.time_start + 1000;
    put_deleted (store, SEEN - 20000, SEEN + 100);
    /* a copy from before, and another source, do not know better */
    s.observed_at = SEEN + 50;
    put (store, &s);
    s.source = SOURCE_JSON;
    s.observed_at = SEEN + 150;
    put (store, &s);
    assert_revisions (store, "3 gone 100 3;5 gone 100 3;");
    s.source = SOURCE_SLURMDBD;
    s.observed_at = SEEN + 200;
    put (store, &s);
    assert_revisions (store, "3 gone 100 3;3 back 200 3;5 gone 100 3;");
    put (store, &s);
    assert_revisions (store, "3 gone 100 3;3 back 200 3;5 gone 100 3;");
    /* and once more */
    assert_int_equal (put_deleted (store, 0, SEEN + 300), 4);
    s.observed_at = SEEN + 400;
    s.account = "physics";
    put (store, &s);
    assert_revisions (store,
                      "1 gone 300 3;2 gone 300 3;3 gone 100 3;3 back 200 3;"
                      "3 gone 300 3;3 back 400 3;3 changed 400 3 "
                      "[account=vision,-> account=physics,];4 gone 300 3;"
                      "5 gone 100 3;");
    store_close (store);
}

/* What is gone stays counted. */
TEST_CASE (put_gone__facts_stay_as_they_were)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    GL_AUTOFREE char *before = NULL;
    GL_AUTOFREE char *after = NULL;
    segment_t s = view (0);

    put (store, &s);
    before = fixture_dump (url);
    assert_int_equal (put_deleted (store, 0, SEEN + 100), 1);
    after = fixture_dump (url);
    assert_string_equal (before, after);
    store_close (store);
}

TEST_MAIN_EACH (NULL, teardown)
