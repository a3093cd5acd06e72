/* Which facts a query finds, and in which order: on SQLite, and by
 * tests/store/queries_mariadb.sh on MariaDB. */
#include <inttypes.h>
#include <stdio.h>

#include "suite.h"

static uint64_t count_segments (const char *url, const store_query_t *query,
                                uint64_t *ret_sum)
{
    store_t *store = fixture_open (url);
    store_iter_t *iter = store_iter_open (store, STORE_SEGMENTS, query, &error);
    uint64_t count = 0, sum = 0;
    segment_t s;
    int rc = -1;

    while (iter && (rc = store_iter_next (iter, &s, &error)) == 1) {
        count++;
        sum += s.id_job;
    }
    if (rc < 0)
        fail_msg ("%s", error.text);
    store_iter_close (iter);
    store_close (store);
    if (ret_sum)
        *ret_sum = sum;
    return count;
}

TEST_CASE (segments__by_query__those_that_overlap)
{
    static const struct {
        uint64_t id;
        int64_t start, end, seen;
        const char *gres;
        bool asked;
    } rows[] = {
        {1, 100, 200, 900, "gpu=1", true},    /* before */
        {2, 100, 201, 900, "gpu=1", true},    /* reaches in by a second */
        {4, 200, 300, 900, "", false},        /* no GPU */
        {8, 299, 900, 900, "", true},         /* unknown GPUs */
        {16, 300, 400, 900, "gpu=1", true},   /* begins when it ends */
        {32, 150, 0, 250, "gpu=1", true},     /* open, seen inside */
        {64, 150, 0, 200, "gpu=1", true},     /* open, last seen at the start */
        {128, 200, 200, 900, "gpu=1", true},  /* no length, at the start */
        {256, 0, 0, 900, "gpu=1", true},      /* pending */
        {512, 0, 250, 900, "gpu=1", true},    /* cancelled while pending */
        {1024, 50, 800, 900, "gpu=1", true},  /* all of it */
        {2048, 300, 300, 900, "gpu=1", true}, /* no length, at the end */
    };
    static const uint64_t listed[] = {2, 3, 64, 1024};
    const struct {
        store_query_t query;
        uint64_t sum;
    } cases[] = {
        {{.start = 200, .end = 300}, 2 + 4 + 8 + 32 + 128 + 1024},
        {{.start = 200, .end = 300, .gpu_only = true},
         2 + 8 + 32 + 128 + 1024},
        {{.start = 200, .end = 300, .open_only = true}, 32},
        {{.open_only = true}, 32 + 64 + 256},
        {{0}, 4095},
        {{.cluster = "lab"}, 4095},
        {{.cluster = "la"}, 0},
        {{.id_job = 64}, 64},
        {{.id_job = 3}, 0},
        {{.start = 200, .end = 300, .id_job = 8}, 8},
        {{.start = 200, .end = 300, .id_job = 1}, 0},
        {{.ids = listed, .id_count = 4}, 2 + 64 + 1024},
        {{.ids = listed, .id_count = 2}, 2},
        {{.start = 200, .end = 300, .ids = listed, .id_count = 4}, 2 + 1024},
        {{.cluster = "la", .ids = listed, .id_count = 4}, 0},
        {{.start = 5000, .end = 6000}, 0},
    };
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    uint64_t sum;

    OK (store_begin (store, &error));
    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        segment_t s = fixture_segment (rows[i].id);
        s.time_submit = 10;
        s.time_start = rows[i].start;
        s.time_end = rows[i].end;
        s.observed_at = rows[i].seen;
        s.gres = rows[i].gres;
        s.gpu_asked = rows[i].asked;
        OK (store_put_segment (store, &s, NULL, &error));
    }
    OK (store_commit (store, &error));
    store_close (store);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        count_segments (url, &cases[i].query, &sum);
        if (sum != cases[i].sum)
            fail_msg ("case %zu: %" PRIu64 " and not %" PRIu64, i, sum,
                      cases[i].sum);
    }
}

TEST_CASE (list_of_jobs__in_any_order__is_ascending_and_each_once)
{
    static const uint64_t added[] = {7, 3, 9, 3, 7, 1, 9};
    static const uint64_t wanted[] = {1, 3, 7, 9};
    uint64_t ids[GL_ARRAY_SIZE (added)];
    size_t count = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (added); i++)
        count = store_ids_add (ids, count, added[i]);
    assert_int_equal (count, GL_ARRAY_SIZE (wanted));
    assert_memory_equal (ids, wanted, sizeof (wanted));
}

TEST_CASE (segments__several_clusters__in_the_order_of_bytes)
{
    static const char *const clusters[] = {"b", "B", "a", "\xc3\xa4", "aa"};
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    GL_AUTOFREE char *order = xstrdup ("");
    store_iter_t *iter;
    segment_t s;

    OK (store_begin (store, &error));
    for (size_t i = 0; i < GL_ARRAY_SIZE (clusters); i++) {
        static const uint64_t ids[] = {1000, 9, 10};
        for (size_t k = 0; k < 3; k++) {
            s = fixture_segment (ids[k]);
            s.cluster = clusters[i];
            OK (store_put_segment (store, &s, NULL, &error));
        }
    }
    OK (store_commit (store, &error));
    iter = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
    while (store_iter_next (iter, &s, &error) == 1) {
        char *longer = xasprintf ("%s %s%" PRIu64, order, s.cluster, s.id_job);
        free (order);
        order = longer;
    }
    store_iter_close (iter);
    store_close (store);
    assert_string_equal (order, " B9 B10 B1000 a9 a10 a1000 aa9 aa10 aa1000 "
                                "b9 b10 b1000 \xc3\xa4" "9 \xc3\xa4"
                                "10 \xc3\xa4" "1000");
}

/* Against a second opinion that looks at all of them: segments of all lengths,
 * some open, some without length or start, ids in no order. */
TEST_CASE (iterator__any_period__as_by_looking_at_all)
{
    enum { COUNT = 600 };
    static const int64_t lengths[]
        = {0,      1,      3599,    3600,    3601,    14400,  14401, 86400,
           86401,  345600, 345601,  1382400, 1382401, 4000000};
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    segment_t all[COUNT];

    seed = 1;
    OK (store_begin (store, &error));
    for (int i = 0; i < COUNT; i++) {
        segment_t *s = &all[i];
        *s = fixture_segment ((uint64_t)(i * 7919 % 5000 + 1));
        s->time_start = 1790000000 + dice (5000000);
        s->time_end = s->time_start + lengths[i % GL_ARRAY_SIZE (lengths)];
        s->observed_at = 1796000000;
        if (i % 37 == 0)
            s->time_end = 0;
        if (i % 41 == 0)
            s->time_start = 0;
        OK (store_put_segment (store, s, NULL, &error));
    }
    OK (store_commit (store, &error));
    for (int i = 0; i < 60; i++) {
        store_query_t q = {.cluster = "lab"};
        store_iter_t *iter;
        segment_t s;
        size_t found = 0, expected = 0;
        uint64_t last = 0;
        int64_t anywhere = 1790000000 + dice (6000000);
        q.start = i < 20 ? all[i * 3 + 1].time_end : anywhere;
        q.end = q.start + (i % 3 ? 86400 : i % 2 ? 1 : 2000000);
        for (int j = 0; j < COUNT; j++) {
            int64_t end
                = all[j].time_end ? all[j].time_end : all[j].observed_at;
            expected += all[j].time_start > 0 && all[j].time_start < q.end
                        && (end > q.start || all[j].time_start >= q.start);
        }
        iter = store_iter_open (store, STORE_SEGMENTS, &q, &error);
        while (store_iter_next (iter, &s, &error) == 1) {
            assert_true (s.id_job > last);
            last = s.id_job;
            found++;
        }
        store_iter_close (iter);
        assert_int_equal (found, expected);
    }
    store_close (store);
}

TEST_CASE (evidence__of_a_period__covers_its_segments)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    store_query_t query = {.start = 1000000, .end = 2000000};
    evidence_t evidence = {.uid = 1, .source = TAG_NONE}, out;
    store_iter_t *iter;
    node_record_t record;
    uint64_t seen = 0, of_list = 0;

    OK (store_begin (store, &error));
    for (uint64_t id = 1; id <= 64; id *= 2) {
        node_record_t r = {.kind = 1, .cluster = "lab", .id_job = id,
                           .stamp = 1, .payload = "", .evidence = &evidence};
        segment_t s = fixture_segment (id);
        s.time_submit = 1;
        s.time_start = (int64_t)id * 100000;
        s.time_end = s.time_start + 300000;
        r.key[0] = (uint8_t)id;
        OK (store_put_segment (store, &s, NULL, &error));
        OK (store_put_record (store, &r, NULL, &error));
    }
    OK (store_commit (store, &error));
    iter = store_iter_open (store, STORE_EVIDENCE, &query, &error);
    while (store_iter_next (iter, &out, &error) == 1)
        seen |= out.id_job;
    store_iter_close (iter);
    query = (store_query_t){.ids = (const uint64_t[]){4, 32}, .id_count = 2};
    iter = store_iter_open (store, STORE_RECORDS, &query, &error);
    while (store_iter_next (iter, &record, &error) == 1)
        of_list += record.id_job;
    store_iter_close (iter);
    assert_int_equal (of_list, 4 + 32);
    store_close (store);
    /* 8 runs over the start, 16 inside; not those far away */
    assert_int_equal (seen & (8 | 16), 8 | 16);
    assert_int_equal (seen & (1 | 2 | 32 | 64), 0);
}

TEST_MAIN_EACH (NULL, teardown)
