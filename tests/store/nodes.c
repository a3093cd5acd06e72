/* What nodes and people say of jobs, in and out: device usage, retags, records
 * by kind, summaries. On SQLite, and by tests/store/nodes_mariadb.sh on
 * MariaDB. */
#include <inttypes.h>
#include <stdio.h>

#include "suite.h"

static const uint8_t *key_of (unsigned n)
{
    static uint8_t key[STORE_KEY_SIZE];

    memset (key, 0, sizeof (key));
    key[0] = (uint8_t)n;
    key[1] = (uint8_t)(n >> 8);
    return key;
}

static store_counts_t put (const char *url, unsigned key,
                           const device_usage_t *usage)
{
    store_t *store = fixture_open (url);
    store_counts_t counts = {0};

    OK (store_begin (store, &error));
    OK (store_put_usage (store, key_of (key), usage, &counts, &error));
    OK (store_commit (store, &error));
    store_close (store);
    return counts;
}

TEST_CASE (put_usage__everything_known__comes_out_the_same)
{
    const char *url = fixture_store_url ();
    device_usage_t u = fixture_usage (7, 1700000000);
    GL_AUTOFREE char *dump = NULL;

    u.slice = "MIG-1";
    assert_int_equal (put (url, 1, &u).inserted, 1);
    assert_int_equal (put (url, 1, &u).unchanged, 1);
    dump = fixture_dump (url);
    assert_string_equal (
        dump,
        "cluster lab 0\n"
        "usage lab 7 01000000000000000000000000000000: 3 1700000000000 "
        "1700003600000 360 360 2304567891 3600000 1 0 33123456789 3600000 "
        "10000 261234567890 3600000 79123 81559 2304567891234 3600000 702345 "
        "7012345678 3600000 120345 3600000 4 3600000 1 0 0 0 0 1 \"g001\" "
        "\"GPU-6b1f5f4c-6c1d-4e4b-9a58-0d3ab1d1a0f1\" \"MIG-1\" "
        "\"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,610000,2990000\"\n"
        "node lab g001 4: 1 1700003600 01000000000000000000000000000000 0\n");
}

TEST_CASE (put_usage__nothing_known__stays_unknown)
{
    const char *url = fixture_store_url ();
    device_usage_t u;
    GL_AUTOFREE char *dump = NULL;

    memset (&u, 0xff, sizeof (u)); /* MEASURE_UNKNOWN is -1 */
    u.cluster = "lab";
    u.node = u.gpu = u.slice = u.utilization_histogram = NULL;
    u.id_job = 0;
    u.begin_ms = u.end_ms = 5000;
    put (url, 1, &u);
    dump = fixture_dump (url);
    assert_string_equal (
        dump, "cluster lab 0\n"
              "usage lab 0 01000000000000000000000000000000: -1 5000 5000 -1 "
              "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 "
              "-1 -1 -1 -1 -1 -1 - - - -\n");
}

TEST_CASE (put_usage__hostile_text__comes_out_the_same)
{
    static const char *const texts[] = {
        "",
        "'; DROP TABLE device; --",
        "\"",
        "\\",
        "%s%n",
        "a\nb\tc\r",
        "\x1b[31m",
        "\xff\xfe",
        " ",
        "a ",
        "A",
        "a",
        "0,0,0",
        "00,1",
        "-1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
        "1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,",
        "99999999999999999999,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
        "9223372036854775807,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
        "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
    };
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    store_iter_t *iter;
    store_usage_t out;

    OK (store_begin (store, &error));
    for (unsigned i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        device_usage_t u = fixture_usage (i + 1, 1000);
        u.node = u.gpu = u.slice = u.utilization_histogram = texts[i];
        OK (store_put_usage (store, key_of (i), &u, NULL, &error));
    }
    OK (store_commit (store, &error));
    iter = store_iter_open (store, STORE_USAGE, NULL, &error);
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        assert_int_equal (store_iter_next (iter, &out, &error), 1);
        assert_string_equal (out.usage.node, texts[i]);
        assert_string_equal (out.usage.gpu, texts[i]);
        assert_string_equal (out.usage.slice, texts[i]);
        assert_string_equal (out.usage.utilization_histogram, texts[i]);
    }
    assert_int_equal (store_iter_next (iter, &out, &error), 0);
    store_iter_close (iter);
    store_close (store);
}

/* What is refused says so beforehand too, and leaves the transaction usable. */
TEST_CASE (put_usage__no_stretch__is_refused)
{
    static char long_text[600];
    device_usage_t bad[6];
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    device_usage_t good = fixture_usage (7, 1000);
    GL_AUTOFREE char *count = NULL;

    memset (long_text, '1', sizeof (long_text) - 1);
    for (size_t i = 0; i < GL_ARRAY_SIZE (bad); i++)
        bad[i] = good;
    bad[0].end_ms = bad[0].begin_ms - 1;
    bad[1].end_ms = bad[1].begin_ms + STORE_STRETCH_MAX_MS + 1;
    bad[2].begin_ms = -1;
    bad[3].idle_ms = -2;
    bad[4].id_job = UINT64_C (1) << 63;
    bad[5].utilization_histogram = long_text;
    OK (store_begin (store, &error));
    for (size_t i = 0; i < GL_ARRAY_SIZE (bad); i++) {
        error.text[0] = '\0';
        assert_int_equal (store_check_usage (&bad[i], &error), -1);
        assert_true (error.text[0] != '\0');
        assert_int_equal (
            store_put_usage (store, key_of (1), &bad[i], NULL, &error), -1);
    }
    OK (store_check_usage (&good, &error));
    OK (store_put_usage (store, key_of (1), &good, NULL, &error));
    OK (store_commit (store, &error));
    store_close (store);
    count = fixture_counts (url, "SELECT count(*) FROM device_usage");
    assert_string_equal (count, "1");
}

#define VIEWS 8
struct view {
    unsigned key;
    device_usage_t usage;
};

/* Two keys of two jobs, so that most views are of the same stretch. */
static struct view random_view (void)
{
    static const char *const words[] = {NULL, "", "a", "b"};
    static const char *const bins[]
        = {NULL, "", "odd", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
           "1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,5"};
    struct view v = {dice (2), fixture_usage (dice (2), 1000)};
    device_usage_t *u = &v.usage;

    u->end_ms += dice (2);
    u->gpu = words[dice (4)];
    u->slice = words[dice (4)];
    u->utilization_histogram = bins[dice (5)];
    u->gres_index = (int64_t)dice (3) - 1;
    u->energy_mj = (int64_t)dice (3) - 1;
    u->idle_ms = (int64_t)dice (3) - 1;
    return v;
}

static void put_shuffled (store_t *store, const char *cluster,
                          const struct view *views)
{
    unsigned done = 0, all = (1u << VIEWS) - 1;

    while (done != all) {
        unsigned i = dice (VIEWS);
        device_usage_t u = views[i].usage;
        u.cluster = cluster;
        OK (store_put_usage (store, key_of (views[i].key), &u, NULL, &error));
        done |= 1u << i;
        if (dice (6) == 0) {
            OK (store_commit (store, &error));
            OK (store_begin (store, &error));
        }
    }
}

/* The lines of one cluster, without its name and its own line. */
static char *lines_of (const char *dump, const char *cluster)
{
    GL_AUTOFREE char *mark = xasprintf (" %s ", cluster);
    char *lines = xstrdup ("");

    for (const char *line = dump; *line;) {
        const char *end = strchr (line, '\n') + 1;
        const char *at = strchr (line, ' ');
        if (strncmp (line, "cluster", 7)
            && !strncmp (at, mark, strlen (mark))) {
            char *longer = xasprintf ("%s%.*s%.*s", lines, (int)(at - line),
                                      line, (int)(end - at - strlen (mark)),
                                      at + strlen (mark));
            free (lines);
            lines = longer;
        }
        line = end;
    }
    return lines;
}

TEST_CASE (put_usage__any_order_and_repetition__same_facts)
{
    int sets = fixture_on_mysql () ? 10 : 60, orders = 12;

    seed = 20261121;
    for (int set = 0; set < sets; set++) {
        const char *url = fixture_store_url ();
        store_t *store = fixture_open (url);
        struct view views[VIEWS];
        GL_AUTOFREE char *dump = NULL, *expected = NULL;

        for (int i = 0; i < VIEWS; i++)
            views[i] = random_view ();
        OK (store_begin (store, &error));
        for (int order = 0; order < orders; order++) {
            GL_AUTOFREE char *cluster = xasprintf ("c%d", order);
            put_shuffled (store, cluster, views);
        }
        OK (store_commit (store, &error));
        store_close (store);
        dump = fixture_dump (url);
        expected = lines_of (dump, "c0");
        assert_non_null (strstr (expected, "usage"));
        for (int order = 1; order < orders; order++) {
            GL_AUTOFREE char *cluster = xasprintf ("c%d", order);
            GL_AUTOFREE char *lines = lines_of (dump, cluster);
            assert_string_equal (lines, expected);
        }
        fixture_done ();
    }
}

TEST_CASE (put_usage__another_content__later_end_then_greater)
{
    const char *url = fixture_store_url ();
    device_usage_t u = fixture_usage (7, 1000);
    store_t *store;
    store_iter_t *iter;
    store_usage_t out;

    u.energy_mj = 5;
    assert_int_equal (put (url, 1, &u).inserted, 1);
    u.energy_mj = 6;
    assert_int_equal (put (url, 1, &u).changed, 1);
    u.energy_mj = MEASURE_UNKNOWN;
    assert_int_equal (put (url, 1, &u).unchanged, 1);
    u.end_ms++;
    assert_int_equal (put (url, 1, &u).changed, 1);
    store = fixture_open (url);
    iter = store_iter_open (store, STORE_USAGE, NULL, &error);
    assert_int_equal (store_iter_next (iter, &out, &error), 1);
    assert_true (out.usage.energy_mj == MEASURE_UNKNOWN);
    assert_true (out.usage.end_ms == u.end_ms);
    assert_int_equal (store_iter_next (iter, &out, &error), 0);
    store_iter_close (iter);
    store_close (store);
}

/* The keys of what a query gives, as bits. */
static unsigned usage_keys (const char *url, const store_query_t *query)
{
    store_t *store = fixture_open (url);
    store_iter_t *iter = store_iter_open (store, STORE_USAGE, query, &error);
    unsigned keys = 0;
    store_usage_t out;
    int rc = -1;

    while (iter && (rc = store_iter_next (iter, &out, &error)) == 1)
        keys |= 1u << out.key[0];
    if (rc < 0)
        fail_msg ("%s", error.text);
    store_iter_close (iter);
    store_close (store);
    return keys;
}

TEST_CASE (usage__by_query__what_overlaps)
{
    /* each is one bit; seconds */
    static const struct {
        uint64_t id_job;
        int64_t begin;
        int64_t end;
    } rows[] = {
        {0, 1000, 2000}, /* 0 */
        {0, 2000, 3000}, /* 1 */
        {0, 3000, 4000}, /* 2 */
        {7, 1000, 2000}, /* 3 */
        {7, 2000, 3000}, /* 4 */
        {7, 3000, 4000}, /* 5 */
        {9, 1500, 2500}, /* 6 */
        {9, 2500, 3500}, /* 7 */
        {900, 1, 2},     /* 8: its job has no segment in the period */
    };
    static const struct {
        store_query_t query;
        unsigned keys;
    } cases[] = {
        {{0}, 0777},
        {{.jobs = STORE_OF_JOBS}, 0770},
        {{.jobs = STORE_OF_NO_JOB}, 0007},
        {{.start = 2000, .end = 3000}, 0322},
        {{.start = 2000, .end = 3000, .jobs = STORE_OF_JOBS}, 0320},
        {{.start = 2000, .end = 3000, .jobs = STORE_OF_NO_JOB}, 0002},
        {{.start = 2000, .end = 3000, .id_job = 7}, 0020},
        {{.start = 2999, .end = 3001}, 0266},
        {{.start = 1, .end = INT64_MAX}, 0377},
        {{.start = 1, .end = INT64_MAX, .jobs = STORE_OF_NO_JOB}, 0007},
        {{.start = 5000, .end = 6000}, 0},
        {{.id_job = 9}, 0300},
        {{.id_job = 9, .jobs = STORE_OF_NO_JOB}, 0300},
        {{.id_job = 8}, 0},
        {{.cluster = "other"}, 0},
    };
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);

    OK (store_begin (store, &error));
    for (unsigned i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        device_usage_t u = fixture_usage (rows[i].id_job, rows[i].begin);
        u.end_ms = rows[i].end * 1000;
        OK (store_put_usage (store, key_of (i), &u, NULL, &error));
    }
    for (uint64_t id = 7; id <= 9; id += 2) {
        segment_t s = fixture_segment (id);
        s.time_submit = 900;
        s.time_start = 1000;
        s.time_end = 4000;
        OK (store_put_segment (store, &s, NULL, &error));
    }
    OK (store_commit (store, &error));
    store_close (store);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        unsigned keys = usage_keys (url, &cases[i].query);
        if (keys != cases[i].keys)
            fail_msg ("case %zu: %03o and not %03o", i, keys, cases[i].keys);
    }
}

TEST_CASE (usage__of_clusters_and_jobs__in_the_order_of_the_key)
{
    static const char *const clusters[] = {"b", "B", "a"};
    static const uint64_t ids[] = {1000, 0, 9};
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    GL_AUTOFREE char *order = xstrdup ("");
    store_iter_t *iter;
    store_usage_t out;

    OK (store_begin (store, &error));
    for (size_t c = 0; c < 3; c++) {
        for (size_t i = 0; i < 3; i++) {
            for (unsigned k = 0; k < 4; k++) {
                device_usage_t u = fixture_usage (ids[i], 20 - k / 2 * 10);
                u.cluster = clusters[c];
                OK (store_put_usage (store, key_of (200 - k % 2 * 100), &u,
                                     NULL, &error));
            }
        }
    }
    OK (store_commit (store, &error));
    iter = store_iter_open (store, STORE_USAGE, NULL, &error);
    while (store_iter_next (iter, &out, &error) == 1) {
        char *longer = xasprintf ("%s %s%" PRIu64 "-%" PRId64 "-%u", order,
                                  out.usage.cluster, out.usage.id_job,
                                  out.usage.begin_ms / 1000, out.key[0]);
        free (order);
        order = longer;
    }
    store_iter_close (iter);
    store_close (store);
    assert_ptr_equal (strstr (order, " B0-10-100 B0-10-200 B0-20-100 B0-20-200 "
                                     "B9-10-100 B9-10-200 B9-20-100 B9-20-200 "
                                     "B1000-10-100 "),
                      order);
    assert_non_null (strstr (order, " B1000-20-200 a0-10-100 "));
    assert_non_null (strstr (order, " a1000-20-200 b0-10-100 "));
}

static unsigned record_keys (const char *url, const store_query_t *query)
{
    store_t *store = fixture_open (url);
    store_iter_t *iter = store_iter_open (store, STORE_RECORDS, query, &error);
    int64_t stamp = 0;
    uint64_t job = 0;
    unsigned keys = 0;
    node_record_t out;
    int rc = -1;

    while (iter && (rc = store_iter_next (iter, &out, &error)) == 1) {
        keys |= 1u << out.key[0];
        assert_true (out.id_job > job || out.stamp >= stamp);
        job = out.id_job;
        stamp = out.stamp;
    }
    if (rc < 0)
        fail_msg ("%s", error.text);
    store_iter_close (iter);
    store_close (store);
    return keys;
}

TEST_CASE (records__by_kind_and_job__those_asked_for)
{
    static const struct {
        uint64_t id_job;
        uint32_t kind;
        int64_t stamp;
    } rows[] = {
        {0, 5, 3000}, /* 0 */
        {0, 5, 1000}, /* 1 */
        {0, 6, 2000}, /* 2 */
        {0, 5, 2000}, /* 3 */
        {7, 1, 2000}, /* 4 */
        {7, 5, 2000}, /* 5: of a kind that mostly has no job */
        {9, 2, 2500}, /* 6 */
    };
    static const struct {
        store_query_t query;
        unsigned keys;
    } cases[] = {
        {{0}, 0177},
        {{.kind = 5}, 0053},
        {{.kind = 5, .jobs = STORE_OF_NO_JOB}, 0013},
        {{.kind = 5, .jobs = STORE_OF_JOBS}, 0040},
        {{.kind = 6, .jobs = STORE_OF_NO_JOB}, 0004},
        {{.kind = 7}, 0},
        {{.jobs = STORE_OF_NO_JOB}, 0017},
        {{.jobs = STORE_OF_JOBS}, 0160},
        {{.kind = 5, .jobs = STORE_OF_NO_JOB, .start = 2000, .end = 3000},
         0010},
        {{.kind = 5, .jobs = STORE_OF_NO_JOB, .start = 1, .end = 3000}, 0012},
        {{.jobs = STORE_OF_NO_JOB, .start = 2000, .end = 3000}, 0014},
        {{.start = 2000, .end = 3000}, 0174},
        {{.kind = 1, .start = 2000, .end = 3000}, 0020},
        {{.id_job = 7, .kind = 5}, 0040},
        {{.id_job = 7}, 0060},
    };
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);

    OK (store_begin (store, &error));
    for (unsigned i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        node_record_t r = {.kind = rows[i].kind,
                           .cluster = "lab",
                           .node = "g001",
                           .id_job = rows[i].id_job,
                           .stamp = rows[i].stamp,
                           .payload = ""};
        memcpy (r.key, key_of (i), sizeof (r.key));
        OK (store_put_record (store, &r, NULL, &error));
    }
    for (uint64_t id = 7; id <= 9; id += 2) {
        segment_t s = fixture_segment (id);
        s.time_start = 1000;
        s.time_end = 4000;
        OK (store_put_segment (store, &s, NULL, &error));
    }
    OK (store_commit (store, &error));
    store_close (store);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        unsigned keys = record_keys (url, &cases[i].query);
        if (keys != cases[i].keys)
            fail_msg ("case %zu: %03o and not %03o", i, keys, cases[i].keys);
    }
}

static void put_record (store_t *store, unsigned key, uint32_t kind,
                        const char *node, int64_t stamp, const char *payload)
{
    node_record_t r = {.kind = kind,
                       .cluster = "lab",
                       .node = node,
                       .stamp = stamp,
                       .payload = payload,
                       .payload_length = strlen (payload)};

    memcpy (r.key, key_of (key), sizeof (r.key));
    OK (store_put_record (store, &r, NULL, &error));
}

/* Per node and kind the number and the newest, whatever the order, repetition
 * and transactions. */
TEST_CASE (nodes__of_records_and_usage__newest_and_count)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    device_usage_t u = fixture_usage (7, 1000);
    GL_AUTOFREE char *dump = NULL, *of_kind = xstrdup ("");
    store_query_t skews = {.kind = 6};
    store_iter_t *iter;
    store_node_t n;

    for (int again = 0; again < 2; again++) {
        OK (store_begin (store, &error));
        put_record (store, 3, 6, "g002", 3000, "newest");
        put_record (store, 2, 6, "g002", 2000, "older");
        put_record (store, 9, 5, NULL, 9000, "of no node");
        OK (store_commit (store, &error));
        OK (store_begin (store, &error));
        put_record (store, 1, 6, "g002", 1000, "oldest");
        put_record (store, 4, 6, "B", 3000, "first");
        put_record (store, 5, 6, "B", 3000, "the greater key");
        put_record (store, 6, 5, "g002", 100, "");
        OK (store_put_usage (store, key_of (7), &u, NULL, &error));
        u.end_ms += 5000;
        OK (store_put_usage (store, key_of (7), &u, NULL, &error));
        u.end_ms -= 5000;
        OK (store_commit (store, &error));
    }
    OK (store_begin (store, &error));
    put_record (store, 8, 6, "g003", 1, "never happened");
    put_record (store, 8, 6, "g002", 99999, "nor this");
    store_rollback (store);
    OK (store_begin (store, &error));
    OK (store_commit (store, &error));
    iter = store_iter_open (store, STORE_NODES, &skews, &error);
    while (store_iter_next (iter, &n, &error) == 1) {
        char *longer
            = xasprintf ("%s%s=%.*s;", of_kind, n.node, (int)n.payload_length,
                         (const char *)n.payload);
        free (of_kind);
        of_kind = longer;
    }
    store_iter_close (iter);
    store_close (store);
    assert_string_equal (of_kind, "B=the greater key;g002=newest;");
    dump = fixture_dump (url);
    assert_string_equal (
        strstr (dump, "node "),
        "node lab B 6: 2 3000 05000000000000000000000000000000 15\n"
        "node lab g001 4: 1 4605 07000000000000000000000000000000 0\n"
        "node lab g002 5: 1 100 06000000000000000000000000000000 0\n"
        "node lab g002 6: 3 3000 03000000000000000000000000000000 6\n");
}

TEST_CASE (nodes__more_than_kept_in_memory__all_counted)
{
    const unsigned nodes = 5000;
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    GL_AUTOFREE char *count = NULL;

    OK (store_begin (store, &error));
    for (unsigned i = 0; i < 2 * nodes; i++) {
        GL_AUTOFREE char *name = xasprintf ("g%u", i % nodes);
        put_record (store, i, 6, name, i, "");
    }
    OK (store_commit (store, &error));
    store_close (store);
    count = fixture_counts (url, "SELECT count(*), sum(records), "
                                 "min(last_stamp) FROM node");
    assert_string_equal (count, "5000 10000 5000");
}

TEST_CASE (retags__in_any_order__all_of_them_in_order)
{
    static const retag_t retags[] = {
        {"lab", 7, 100, 2000, "ann", "first", "second", NULL},
        {"lab", 7, 100, 1000, "root", NULL, "first", "k=v"},
        {"lab", 7, 100, 1000, "ann", "w", "x", ""},
        {"lab", 7, 50, 9000, "ann", NULL, "other-segment", NULL},
        {"lab", 6, 100, 1000, "bob", NULL, "y", NULL},
        /* the same key once more: the greater one stands */
        {"lab", 6, 100, 1000, "bob", NULL, "z", NULL},
        {"lab", 6, 100, 1000, "bob", "was", "y", "a=b"},
    };

    seed = 7;
    for (int order = 0; order < 8; order++) {
        const char *url = fixture_store_url ();
        store_t *store = fixture_open (url);
        unsigned done = 0;
        GL_AUTOFREE char *dump = NULL;

        OK (store_begin (store, &error));
        while (done != (1u << GL_ARRAY_SIZE (retags)) - 1) {
            unsigned i = dice (GL_ARRAY_SIZE (retags));
            OK (store_put_retag (store, &retags[i], NULL, &error));
            done |= 1u << i;
        }
        OK (store_commit (store, &error));
        store_close (store);
        dump = fixture_dump (url);
        assert_string_equal (
            dump, "cluster lab 0\n"
                  "retag lab 6 100 1000: \"bob\" - \"z\" -\n"
                  "retag lab 7 50 9000: \"ann\" - \"other-segment\" -\n"
                  "retag lab 7 100 1000: \"ann\" \"w\" \"x\" \"\"\n"
                  "retag lab 7 100 1000: \"root\" - \"first\" \"k=v\"\n"
                  "retag lab 7 100 2000: \"ann\" \"first\" \"second\" -\n");
    }
}

/* A row is never changed: of one key the first stays. */
TEST_CASE (units__in_any_order__are_added_and_stay)
{
    static const job_units_t units[] = {
        {"lab", 7, 100, 2000, "ann", "tokens", 5},
        {"lab", 7, 100, 1000, "ann", "tokens", 1000000000000000000},
        {"lab", 7, 100, 1000, "ann", "images", 0},
        {"lab", 6, 50, 1000, "root", "tokens", 9},
    };
    const job_units_t good = {"lab", 8, 100, 1000, "ann", "tokens", 7};
    store_counts_t counts = {0};
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    store_query_t query = {.cluster = "lab"};
    store_iter_t *iter;
    job_units_t got, bad[6];
    BUFFER_AUTO text = BUFFER_INIT;

    for (size_t i = 0; i < GL_ARRAY_SIZE (bad); i++)
        bad[i] = good;
    bad[0].id_job = 0;
    bad[1].who = NULL;
    bad[2].unit = "";
    bad[3].quantity = -1;
    bad[4].quantity = 1000000000000000001;
    bad[5].cluster = NULL;
    OK (store_begin (store, &error));
    for (size_t i = 0; i < GL_ARRAY_SIZE (units); i++)
        OK (store_put_units (store, &units[i], &counts, &error));
    for (size_t i = 0; i < GL_ARRAY_SIZE (bad); i++)
        assert_int_equal (store_put_units (store, &bad[i], &counts, &error),
                          -1);
    got = units[0];
    got.quantity = 6;
    OK (store_put_units (store, &got, &counts, &error));
    OK (store_commit (store, &error));
    assert_int_equal (counts.inserted, 4);
    assert_int_equal (counts.unchanged, 1);
    iter = store_iter_open (store, STORE_UNITS, &query, &error);
    assert_non_null (iter);
    while (store_iter_next (iter, &got, &error) > 0)
        buffer_printf (&text, "%s %d %d %d %s %s %lld\n", got.cluster,
                       (int)got.id_job, (int)got.time_submit, (int)got.stamp,
                       got.who, got.unit, (long long)got.quantity);
    store_iter_close (iter);
    assert_string_equal (buffer_text (&text),
                         "lab 6 50 1000 root tokens 9\n"
                         "lab 7 100 1000 ann images 0\n"
                         "lab 7 100 1000 ann tokens 1000000000000000000\n"
                         "lab 7 100 2000 ann tokens 5\n");
    store_close (store);
}

TEST_CASE (put_retag__impossible__is_refused)
{
    static char long_text[1100];
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    const retag_t good = {"lab", 7, 100, 1000, "ann", NULL, "x", NULL};
    store_counts_t counts = {0};
    retag_t bad[6];

    memset (long_text, 'n', sizeof (long_text) - 1);
    for (size_t i = 0; i < GL_ARRAY_SIZE (bad); i++)
        bad[i] = good;
    bad[0].id_job = 0;
    bad[1].who = NULL;
    bad[2].project = "";
    bad[3].previous = long_text;
    bad[4].labels = long_text;
    bad[5].cluster = NULL;
    OK (store_begin (store, &error));
    for (size_t i = 0; i < GL_ARRAY_SIZE (bad); i++)
        assert_int_equal (store_put_retag (store, &bad[i], &counts, &error),
                          -1);
    OK (store_put_retag (store, &good, &counts, &error));
    OK (store_put_retag (store, &good, &counts, &error));
    OK (store_commit (store, &error));
    store_close (store);
    assert_int_equal (counts.inserted, 1);
    assert_int_equal (counts.unchanged, 1);
}

TEST_MAIN_EACH (NULL, teardown)
