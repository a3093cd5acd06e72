/* Facts beside segments, in and out: on SQLite, and by
 * tests/store/facts_mariadb.sh on MariaDB. */
#include "suite.h"

TEST_CASE (records__of_any_bytes__known_by_their_key)
{
    static const uint8_t payload[] = {0, 1, 255, '\'', 0, 10};
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    evidence_t evidence = {.uid = 1000, .time_start = 90, .project = "alpha",
                           .source = TAG_OPTION, .labels = "k=v", .gpus = "0"};
    node_record_t r = {.kind = 1, .cluster = "lab", .node = "g001",
                       .id_job = 7, .stamp = 100, .payload = payload,
                       .payload_length = sizeof (payload),
                       .evidence = &evidence};
    store_counts_t counts = {0};
    GL_AUTOFREE char *dump = NULL;

    OK (store_begin (store, &error));
    for (int i = 0; i < 2; i++) {
        r.key[0] = 0xff;
        OK (store_put_record (store, &r, &counts, &error));
        r.key[0] = 0x01;
        OK (store_put_record (store, &r, &counts, &error));
    }
    r.kind = 77;
    r.id_job = 0;
    r.evidence = NULL;
    r.node = NULL;
    r.payload = NULL;
    r.payload_length = 0;
    OK (store_put_record (store, &r, &counts, &error));
    OK (store_commit (store, &error));
    store_close (store);
    assert_int_equal (counts.inserted, 3);
    assert_int_equal (counts.unchanged, 2);
    dump = fixture_dump (url);
    assert_string_equal (
        dump,
        "cluster lab 0\n"
        "evidence lab 7 100: 1000 90 1 \"g001\" \"alpha\" \"k=v\" \"0\"\n"
        "evidence lab 7 100: 1000 90 1 \"g001\" \"alpha\" \"k=v\" \"0\"\n"
        "record lab 0 100 01000000000000000000000000000000: 77 - \n"
        "record lab 7 100 01000000000000000000000000000000: 1 \"g001\" "
        "0001ff27000a\n"
        "record lab 7 100 ff000000000000000000000000000000: 1 \"g001\" "
        "0001ff27000a\n"
        "node lab g001 1: 2 100 ff000000000000000000000000000000 6\n");
}

TEST_CASE (suspensions__open_then_closed__longest_stands)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    suspension_t s = {"lab", 7, 100, 200, 0};
    static const int64_t ends[] = {0, 300, 0, 250, 300};
    store_counts_t counts = {0};
    GL_AUTOFREE char *dump = NULL;

    OK (store_begin (store, &error));
    for (size_t i = 0; i < GL_ARRAY_SIZE (ends); i++) {
        s.end = ends[i];
        OK (store_put_suspension (store, &s, &counts, &error));
    }
    OK (store_commit (store, &error));
    store_close (store);
    assert_int_equal (counts.inserted, 1);
    assert_int_equal (counts.changed, 1);
    assert_int_equal (counts.unchanged, 3);
    dump = fixture_dump (url);
    assert_string_equal (dump, "cluster lab 0\nsuspension lab 7 100: 200 300\n");
}

TEST_CASE (events__in_any_order__later_view_stands)
{
    static const struct {
        node_event_t event;
        int64_t seen;
    } views[] = {
        {{"lab", "g001", 100, 0, 1, NULL, NULL, "early"}, 1000},
        {{"lab", "g001", 100, 900, 1, NULL, NULL, "closed"}, 1000},
        {{"lab", "g001", 100, 800, 2, "gpu=4", NULL, "later"}, 2000},
        {{"lab", NULL, 100, 0, 0, "gpu=8", "g[001-002]", NULL}, 1000},
        {{"lab", "a", 50, 60, 0, "", "", ""}, 1000},
    };
    static const int orders[][5] = {
        {0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 1, 4, 3}, {1, 2, 0, 3, 4}};

    for (size_t o = 0; o < GL_ARRAY_SIZE (orders); o++) {
        const char *url = fixture_store_url ();
        store_t *store = fixture_open (url);
        GL_AUTOFREE char *dump = NULL;

        OK (store_begin (store, &error));
        for (int twice = 0; twice < 2; twice++)
            for (size_t i = 0; i < 5; i++)
                OK (store_put_event (store, &views[orders[o][i]].event,
                                     views[orders[o][i]].seen, NULL, &error));
        OK (store_commit (store, &error));
        store_close (store);
        dump = fixture_dump (url);
        assert_string_equal (
            dump, "cluster lab 2000\n"
                  "event lab 50: 60 0 \"a\" \"\" \"\" \"\"\n"
                  "event lab 100: 0 0 - \"gpu=8\" \"g[001-002]\" -\n"
                  "event lab 100: 800 2 \"g001\" \"gpu=4\" - \"later\"\n");
    }
}

TEST_CASE (reservations__flags_of_64_bits__come_out_the_same)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    reservation_t r = {"lab", 3, 100, 200, UINT64_MAX, "maint", "g1", "a,b"};
    store_query_t outside = {.start = 200, .end = 300};
    store_iter_t *iter;
    GL_AUTOFREE char *dump = NULL;

    OK (store_begin (store, &error));
    OK (store_put_reservation (store, &r, 1000, NULL, &error));
    OK (store_commit (store, &error));
    iter = store_iter_open (store, STORE_RESERVATIONS, &outside, &error);
    assert_int_equal (store_iter_next (iter, &r, &error), 0);
    store_iter_close (iter);
    store_close (store);
    dump = fixture_dump (url);
    assert_string_equal (dump, "cluster lab 1000\n"
                               "reservation lab 100 3: 200 "
                               "18446744073709551615 \"maint\" \"g1\" "
                               "\"a,b\"\n");
}

/* In any order the tree of the last moment stands. */
TEST_CASE (accounts__in_any_order__last_parent_stands)
{
    static const struct {
        int64_t seen;
        const char *parent;
    } views[] = {{1, "x"}, {3, "x"}, {2, "y"}, {3, NULL}};
    static const size_t orders[][4]
        = {{0, 1, 2, 3}, {2, 1, 0, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}};

    for (size_t o = 0; o < 4; o++) {
        const char *url = fixture_store_url ();
        store_t *store = fixture_open (url);
        store_iter_t *iter;
        store_account_t a = {"lab", "nlp", NULL};

        OK (store_begin (store, &error));
        for (size_t i = 0; i < 4; i++) {
            a.parent = views[orders[o][i]].parent;
            OK (store_put_account (store, &a, views[orders[o][i]].seen, NULL,
                                   &error));
        }
        a = (store_account_t){"lab", "root", NULL};
        OK (store_put_account (store, &a, 1, NULL, &error));
        OK (store_commit (store, &error));
        iter = store_iter_open (store, STORE_ACCOUNTS, NULL, &error);
        assert_int_equal (store_iter_next (iter, &a, &error), 1);
        assert_string_equal (a.name, "nlp");
        assert_string_equal (a.parent, "x");
        assert_int_equal (store_iter_next (iter, &a, &error), 1);
        assert_string_equal (a.name, "root");
        assert_null (a.parent);
        assert_int_equal (store_iter_next (iter, &a, &error), 0);
        store_iter_close (iter);
        store_close (store);
    }
}

TEST_CASE (marks__put_again__are_replaced)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    int64_t value = -1;

    OK (store_get_mark (store, "lab", "cursor", &value, &error));
    assert_int_equal (value, 0);
    OK (store_begin (store, &error));
    OK (store_put_mark (store, "lab", "cursor", 5, &error));
    OK (store_put_mark (store, "lab", "cursor", INT64_MAX, &error));
    OK (store_commit (store, &error));
    OK (store_get_mark (store, "lab", "cursor", &value, &error));
    assert_true (value == INT64_MAX);
    OK (store_get_mark (store, "other", "cursor", &value, &error));
    assert_int_equal (value, 0);
    store_close (store);
}

TEST_MAIN_EACH (NULL, teardown)
