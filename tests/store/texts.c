/* Texts and keys of segments, whatever is in them: on SQLite, and by
 * tests/store/texts_mariadb.sh on MariaDB. */
#include "suite.h"

TEST_CASE (put_segment__hostile_text__comes_out_the_same)
{
    static const char *const texts[] = {
        "'; DROP TABLE segment; --", "\"", "`", "\\", "%s%n", "a\nb\tc\r",
        "\x1b[31m", "\xff\xfe", "\xc3\xa9", "=cmd|' /C calc'!A0", " ", "a ",
        "A", "a", "\xe2\x80\xae", "-- ", "/*", "\x01\x7f",
    };
    const char *url = fixture_store_url ();
    size_t count = GL_ARRAY_SIZE (texts);
    store_iter_t *iter;
    store_t *store = fixture_open (url);
    segment_t s, out;

    OK (store_begin (store, &error));
    for (size_t i = 0; i < count; i++) {
        s = fixture_segment (i + 1);
        s.cluster = texts[3];
        s.user = s.job_name = s.gres = s.nodelist = texts[i];
        OK (store_put_segment (store, &s, NULL, &error));
    }
    OK (store_commit (store, &error));
    iter = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal (store_iter_next (iter, &out, &error), 1);
        assert_string_equal (out.user, texts[i]);
        assert_string_equal (out.job_name, texts[i]);
        assert_string_equal (out.gres, texts[i]);
        assert_string_equal (out.nodelist, texts[i]);
        assert_string_equal (out.cluster, "\\");
    }
    store_iter_close (iter);
    store_close (store);
}

/* A closing names clusters in lines NAME=VALUE, a credit its job as
 * CLUSTER/JOBID. */
TEST_CASE (put_segment__name_of_a_cluster__cannot_end_what_holds_it)
{
    static const struct {
        const char *name;
        int rc;
    } cases[] = {{"lab", 0},     {"lab 2", 0},   {"l\xc3\xa5" "b", 0},
                 {"lab/7", -1},  {"as_of=1", -1}, {"lab\nstate", -1},
                 {"\x1b[31m", -1}, {"lab\x7f", -1}};
    store_t *store = fixture_open (fixture_store_url ());

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        segment_t s = fixture_segment (i + 1);
        s.cluster = cases[i].name;
        OK (store_begin (store, &error));
        assert_int_equal (store_put_segment (store, &s, NULL, &error),
                          cases[i].rc);
        store_rollback (store);
    }
    store_close (store);
}

TEST_CASE (put_segment__long_texts__kept_or_refused)
{
    static const struct {
        size_t size;
        int rc;
    } cases[] = {{255, 0}, {256, 0}, {257, 0}, {70000, 0}, {1 << 20, 0},
                 {(1 << 20) + 1, -1}};
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        segment_t s = fixture_segment (i + 1), out;
        char *text = xmalloc (cases[i].size + 1);
        store_iter_t *iter;

        memset (text, 'x', cases[i].size);
        text[cases[i].size] = '\0';
        s.admin_comment = s.wckey = text;
        OK (store_begin (store, &error));
        assert_int_equal (store_put_segment (store, &s, NULL, &error),
                          cases[i].rc);
        if (cases[i].rc == 0) {
            OK (store_commit (store, &error));
            iter = store_iter_open (store, STORE_SEGMENTS,
                                    &(store_query_t){.id_job = i + 1}, &error);
            assert_int_equal (store_iter_next (iter, &out, &error), 1);
            assert_string_equal (out.admin_comment, text);
            assert_string_equal (out.wckey, text);
            store_iter_close (iter);
        }
        else
            store_rollback (store);
        free (text);
    }
    store_close (store);
}

TEST_CASE (put_segment__impossible_keys__are_refused)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    char long_name[300];
    segment_t s;

    memset (long_name, 'n', sizeof (long_name) - 1);
    long_name[sizeof (long_name) - 1] = '\0';
    OK (store_begin (store, &error));
    s = fixture_segment (0);
    assert_int_equal (store_put_segment (store, &s, NULL, &error), -1);
    s = fixture_segment (UINT64_MAX - 1);
    assert_int_equal (store_put_segment (store, &s, NULL, &error), -1);
    assert_non_null (strstr (error.text, "18446744073709551614"));
    s = fixture_segment (1);
    s.cluster = "";
    assert_int_equal (store_put_segment (store, &s, NULL, &error), -1);
    s.cluster = long_name;
    assert_int_equal (store_put_segment (store, &s, NULL, &error), -1);
    s.cluster = NULL;
    assert_int_equal (store_put_segment (store, &s, NULL, &error), -1);
    store_close (store);
}

TEST_CASE (text__shared_by_segments__is_stored_once)
{
    const char *url = fixture_store_url ();
    GL_AUTOFREE char *sql = NULL;
    store_t *store = fixture_open (url);

    for (int round = 0; round < 2; round++) {
        OK (store_begin (store, &error));
        for (uint64_t id = 1; id <= 50; id++) {
            segment_t s = fixture_segment (id + 50 * (uint64_t)round);
            OK (store_put_segment (store, &s, NULL, &error));
        }
        OK (store_commit (store, &error));
        /* a new process has an empty cache */
        store_close (store);
        store = fixture_open (url);
    }
    store_close (store);
    sql = fixture_counts (url, "SELECT (SELECT count(*) FROM text), "
                               "(SELECT count(*) FROM party), "
                               "(SELECT count(*) FROM shape)");
    /* node list and job name; one party; one shape */
    assert_string_equal (sql, "2 1 1");
}

TEST_MAIN_EACH (NULL, teardown)
