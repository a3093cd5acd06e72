/* Facts that are put together: what is seen of them before, when they are given
 * up, and by who reads meanwhile. On SQLite, and by
 * tests/store/transactions_mariadb.sh on MariaDB. */
#include "suite.h"

TEST_CASE (rollback__after_puts__leaves_the_store_as_it_was)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    segment_t s = fixture_segment (1);
    GL_AUTOFREE char *before = NULL, *after = NULL, *again = NULL;

    put_alone (url, &s);
    before = fixture_dump (url);
    OK (store_begin (store, &error));
    s = fixture_segment (2);
    s.cluster = "new";
    s.user = s.job_name = "only here";
    OK (store_put_segment (store, &s, NULL, &error));
    store_rollback (store);
    after = fixture_dump (url);
    assert_string_equal (after, before);
    /* what was cached of it is forgotten: the same facts can come again */
    OK (store_begin (store, &error));
    OK (store_put_segment (store, &s, NULL, &error));
    OK (store_commit (store, &error));
    store_close (store);
    again = fixture_dump (url);
    assert_non_null (strstr (again, "segment new 2 "));
    assert_non_null (strstr (again, "\"only here\""));
}

TEST_CASE (iterator__while_others_write__keeps_its_view)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    store_iter_t *iter;
    segment_t s;
    uint64_t last;
    int count = 0;

    for (uint64_t id = 1; id <= 3; id++) {
        s = fixture_segment (id);
        put_alone (url, &s);
    }
    iter = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
    assert_non_null (iter);
    while (store_iter_next (iter, &s, &error) == 1) {
        segment_t more = fixture_segment (100 + (uint64_t)count);
        OK (store_begin (store, &error));
        OK (store_put_segment (store, &more, NULL, &error));
        OK (store_commit (store, &error));
        count++;
    }
    store_iter_close (iter);
    assert_int_equal (count, 3);
    /* inside a transaction only as long as it shows all that is put */
    OK (store_begin (store, &error));
    iter = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
    assert_non_null (iter);
    store_iter_close (iter);
    s = fixture_segment (200);
    OK (store_put_segment (store, &s, NULL, &error));
    assert_null (store_iter_open (store, STORE_SEGMENTS, NULL, &error));
    store_close (store);
    assert_int_equal (count_all (url, &last), 6);
}

static uint64_t count_from (store_iter_t *iter)
{
    uint64_t count = 0;
    segment_t s;

    assert_non_null (iter);
    while (store_iter_next (iter, &s, &error) == 1)
        count++;
    store_iter_close (iter);
    return count;
}

/* A connection that one iterator has left serves the next. */
TEST_CASE (iterators__one_after_the_other__show_what_is_committed_by_then)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    store_iter_t *iter[2];
    segment_t s;

    for (uint64_t id = 1; id <= 200; id++) {
        s = fixture_segment (id);
        s.account = id % 2 ? "physics" : NULL;
        put_alone (url, &s);
        if (id % 40)
            continue;
        iter[0] = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
        s = fixture_segment (1000 + id);
        put_alone (url, &s);
        iter[1] = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
        assert_int_equal (count_from (iter[1]), id + id / 40);
        assert_int_equal (count_from (iter[0]), id + id / 40 - 1);
        /* given up half way */
        iter[0] = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
        assert_int_equal (store_iter_next (iter[0], &s, &error), 1);
        store_iter_close (iter[0]);
    }
    store_close (store);
}

static void kill_connections (const char *url)
{
    db_t *db = db_open (url, 0, &error);
    db_statement_t *st
        = db_prepare (db,
                      "SELECT id FROM information_schema.processlist "
                      "WHERE db = DATABASE() AND id <> CONNECTION_ID()",
                      &error);
    uint64_t id[8];
    size_t count = 0;

    while (count < GL_ARRAY_SIZE (id) && db_step (st, &error) == 1)
        id[count++] = db_column_u64 (st, 0);
    db_finalize (st);
    assert_true (count >= 2); /* the store's own, and one that is left */
    while (count-- > 0) {
        GL_AUTOFREE char *sql
            = xasprintf ("KILL %llu", (unsigned long long)id[count]);
        OK (db_exec (db, sql, &error));
    }
    db_close (db);
}

TEST_CASE (iterator__after_the_server_closed_idle_connections__opens_another)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    segment_t s = fixture_segment (1);

    put_alone (url, &s);
    assert_int_equal (
        count_from (store_iter_open (store, STORE_SEGMENTS, NULL, &error)), 1);
    if (fixture_on_mysql ()) /* SQLite has no server */
        kill_connections (url);
    assert_int_equal (
        count_from (store_iter_open (store, STORE_SEGMENTS, NULL, &error)), 1);
    store_close (store);
}

/* New ones wait to be written together: what comes between finds them. */
TEST_CASE (put_segment__many_at_once__as_one_by_one)
{
    const char *urls[] = {fixture_store_url (), fixture_store_url ()};
    store_counts_t counts[2] = {{0}, {0}};
    char *dumps[2];

    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        store_t *store = fixture_open (urls[one_by_one]);
        OK (store_begin (store, &error));
        for (int i = 0; i < 300; i++) {
            /* up, with repetitions, requeues, and some far behind */
            segment_t s = fixture_segment ((uint64_t)(100 + i - i % 7 % 3));
            s.time_submit += i % 5 == 0;
            s.account = i % 11 == 0 ? "physics" : "vision";
            if (i % 29 == 0)
                s.id_job = (uint64_t)(i + 1);
            if (i % 50 == 49)
                s.cluster = "annex";
            OK (store_put_segment (store, &s, &counts[one_by_one], &error));
            if (one_by_one) {
                OK (store_commit (store, &error));
                OK (store_begin (store, &error));
            }
        }
        OK (store_commit (store, &error));
        store_close (store);
        dumps[one_by_one] = fixture_dump (urls[one_by_one]);
    }
    assert_string_equal (dumps[0], dumps[1]);
    assert_memory_equal (&counts[0], &counts[1], sizeof (counts[0]));
    assert_true (counts[0].inserted > 100 && counts[0].unchanged > 0);
    free (dumps[0]);
    free (dumps[1]);
}

/* The rows of two clusters in turns, as a file of both has them: what waits of
 * one is found although the other's ids are higher. */
TEST_CASE (put_segment__two_clusters_in_turns__as_one_by_one)
{
    static const struct {
        const char *cluster;
        uint64_t id_job;
        int64_t later;
    } puts[] = {{"annex", 1, 0}, {"lab", 900, 0}, {"lab", 900, 0},
                {"lab", 901, 0}, {"annex", 2, 9}, {"annex", 2, 0}};
    const char *urls[] = {fixture_store_url (), fixture_store_url ()};
    store_counts_t counts[2] = {{0}, {0}};
    char *dumps[2];

    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        store_t *store = fixture_open (urls[one_by_one]);
        OK (store_begin (store, &error));
        for (size_t i = 0; i < GL_ARRAY_SIZE (puts); i++) {
            segment_t s = fixture_segment (puts[i].id_job);
            s.cluster = puts[i].cluster;
            s.observed_at += puts[i].later;
            s.time_end += puts[i].later;
            OK (store_put_segment (store, &s, &counts[one_by_one], &error));
            if (one_by_one) {
                OK (store_commit (store, &error));
                OK (store_begin (store, &error));
            }
        }
        OK (store_commit (store, &error));
        store_close (store);
        dumps[one_by_one] = fixture_dump (urls[one_by_one]);
    }
    assert_string_equal (dumps[0], dumps[1]);
    assert_memory_equal (&counts[0], &counts[1], sizeof (counts[0]));
    free (dumps[0]);
    free (dumps[1]);
}

TEST_MAIN_EACH (NULL, teardown)
