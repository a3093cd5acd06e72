/* Facts in, facts out: on SQLite, and by tests/store/facts_mariadb.sh on
 * MariaDB. */
#include <inttypes.h>
#include <stdio.h>

#include "suite.h"

/* One segment into a store, in a transaction of its own. */
static store_counts_t put (const char *url, const segment_t *segment)
{
    store_t *store = fixture_open (url);
    store_counts_t counts = {0};

    OK (store_begin (store, &error));
    OK (store_put_segment (store, segment, &counts, &error));
    OK (store_commit (store, &error));
    store_close (store);
    return counts;
}

static void put_segment__everything_known__comes_out_the_same (void **state)
{
    const char *url = fixture_store_url ();
    segment_t s = fixture_segment (7), out;
    store_segment_iter_t *iter;
    store_t *store;

    (void)state;
    s.wckey = "wc";
    s.reservation = "";
    s.admin_comment = "project=x";
    s.job_db_inx = UINT64_MAX - 1;
    s.cpus = UINT64_MAX - 1;
    s.array_job = UINT64_C (1) << 63;
    s.array_task = 0;
    s.restart_count = 3;
    s.sluid = UINT64_MAX - 1;
    assert_int_equal (put (url, &s).inserted, 1);
    store = fixture_open (url);
    iter = store_segment_iter_open (store, NULL, &error);
    assert_non_null (iter);
    assert_int_equal (store_segment_iter_next (iter, &out, &error), 1);
    assert_true (out.job_db_inx == UINT64_MAX - 1);
    assert_true (out.cpus == UINT64_MAX - 1);
    assert_true (out.array_job == UINT64_C (1) << 63);
    assert_int_equal (out.array_task, 0);
    assert_int_equal (out.het_offset, TASK_NONE);
    assert_int_equal (out.restart_count, 3);
    assert_true (out.sluid == UINT64_MAX - 1);
    assert_string_equal (out.cluster, "lab");
    assert_string_equal (out.reservation, "");
    assert_string_equal (out.wckey, "wc");
    assert_string_equal (out.nodelist, "g[001-002]");
    assert_string_equal (out.gres, "gpu=4,gpu:a100=4");
    assert_int_equal (store_segment_iter_next (iter, &out, &error), 0);
    store_segment_iter_close (iter);
    store_close (store);
}

static void put_segment__nothing_known__stays_unknown (void **state)
{
    const char *url = fixture_store_url ();
    segment_t s = {
        .cluster = "lab", .id_job = 1, .time_submit = 5,
        .suspended = SECONDS_UNKNOWN, .time_limit = SECONDS_UNKNOWN,
        .uid = UINT32_MAX, .cpus = COUNT_UNKNOWN, .memory_mb = COUNT_UNKNOWN,
        .nodes = COUNT_UNKNOWN, .array_task = TASK_NONE,
        .het_offset = TASK_NONE, .restart_count = -1,
        .source = SOURCE_SACCT_TEXT,
    };
    GL_AUTOFREE char *dump = NULL;

    (void)state;
    put (url, &s);
    dump = fixture_dump (url);
    assert_string_equal (
        dump, "cluster lab 0\n"
              "segment lab 1 5: 0 0 0 -9223372036854775808 "
              "-9223372036854775808 0 1 4294967295 0 18446744073709551615 "
              "18446744073709551615 18446744073709551615 0 4294967295 0 "
              "4294967295 0 -1 - - - - - - - - - - -\n");
}

static void put_segment__twice__second_is_unchanged (void **state)
{
    const char *url = fixture_store_url ();
    segment_t s = fixture_segment (7);
    GL_AUTOFREE char *first = NULL, *second = NULL;
    store_counts_t counts;

    (void)state;
    counts = put (url, &s);
    assert_int_equal (counts.inserted, 1);
    first = fixture_dump (url);
    counts = put (url, &s);
    assert_int_equal (counts.inserted + counts.changed, 0);
    assert_int_equal (counts.unchanged, 1);
    s.time_seen += 3600;
    assert_int_equal (put (url, &s).unchanged, 1);
    s.time_seen -= 3600;
    second = fixture_dump (url);
    /* it was seen once more: nothing else may differ */
    assert_int_equal (strlen (first), strlen (second));
}

static void put_segment__open_then_closed__is_closed (void **state)
{
    const char *url = fixture_store_url ();
    segment_t closed = fixture_segment (7), open = closed;
    GL_AUTOFREE char *expected = NULL, *dump = NULL;
    const char *alone = fixture_store_url ();

    (void)state;
    open.time_end = 0;
    open.state = SEGMENT_RUNNING;
    put (alone, &closed);
    expected = fixture_dump (alone);
    assert_int_equal (put (url, &open).inserted, 1);
    assert_int_equal (put (url, &closed).changed, 1);
    /* the same moment, so closed stands against open */
    assert_int_equal (put (url, &open).unchanged, 1);
    dump = fixture_dump (url);
    assert_string_equal (dump, expected);
}

/* Which of two views of one segment stands; the other order says the same. */
static void put_segment__two_views__the_higher_rank_stands (void **state)
{
    static const struct {
        int64_t seen[2];
        bool closed[2];
        segment_source_t source[2];
        int stands;
    } cases[] = {
        /* later beats everything */
        {{2, 1}, {false, true}, {SOURCE_SACCT_TEXT, SOURCE_SLURMDBD}, 0},
        /* at the same moment closed beats the better source */
        {{1, 1}, {true, false}, {SOURCE_SACCT_TEXT, SOURCE_SLURMDBD}, 0},
        {{1, 1}, {true, true}, {SOURCE_SACCT_TEXT, SOURCE_SLURMDBD}, 1},
        {{1, 1}, {true, true}, {SOURCE_JSON, SOURCE_SACCT_TEXT}, 0},
        /* all the same: the greater value */
        {{1, 1}, {true, true}, {SOURCE_JSON, SOURCE_JSON}, 1},
    };

    (void)state;
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        for (int swap = 0; swap < 2; swap++) {
            const char *url = fixture_store_url ();
            GL_AUTOFREE char *dump = NULL;

            for (int k = 0; k < 2; k++) {
                int view = k ^ swap;
                segment_t s = fixture_segment (1);
                s.time_seen += cases[i].seen[view];
                s.time_end = cases[i].closed[view] ? s.time_end + view : 0;
                s.source = cases[i].source[view];
                s.account = view ? "view-1" : "view-0";
                put (url, &s);
            }
            dump = fixture_dump (url);
            if (!strstr (dump, cases[i].stands ? "\"view-1\"" : "\"view-0\""))
                fail_msg ("case %zu, swap %d: %s", i, swap, dump);
        }
    }
}

static void put_segment__winner_does_not_know__loser_fills_in (void **state)
{
    const char *url = fixture_store_url ();
    segment_t old = fixture_segment (7), new = old, out;
    store_segment_iter_t *iter;
    store_t *store;

    (void)state;
    old.source = SOURCE_SACCT_TEXT;
    old.time_seen -= 1000;
    old.job_name = "from the old one";
    old.account = "loses";
    new.job_name = NULL;
    put (url, &new);
    assert_int_equal (put (url, &old).changed, 1);
    store = fixture_open (url);
    iter = store_segment_iter_open (store, NULL, &error);
    assert_int_equal (store_segment_iter_next (iter, &out, &error), 1);
    assert_string_equal (out.job_name, "from the old one");
    assert_string_equal (out.account, "vision");
    assert_int_equal (out.source, SOURCE_SLURMDBD);
    store_segment_iter_close (iter);
    store_close (store);
}

/* A small generator of our own, so that a seed means the same everywhere. */
static uint64_t seed;
static unsigned dice (unsigned sides)
{
    seed = seed * UINT64_C (6364136223846793005) + 1442695040888963407;
    return (unsigned)(seed >> 33) % sides;
}

static segment_t random_observation (void)
{
    static const char *const words[] = {NULL, "", "a", "b", "c"};
    segment_t s = fixture_segment (1 + dice (2));

    s.time_seen = 1800000000 + dice (3);
    s.source = SOURCE_SACCT_TEXT + dice (3);
    s.time_end = dice (2) ? s.time_end + dice (2) : 0;
    s.state = s.time_end ? SEGMENT_COMPLETED + dice (3) : SEGMENT_RUNNING;
    s.suspended = dice (2) ? SECONDS_UNKNOWN : dice (3);
    s.user = words[dice (5)];
    s.uid = dice (2) ? UINT32_MAX : dice (3);
    s.account = words[dice (5)];
    s.wckey = words[dice (5)];
    s.nodelist = words[dice (5)];
    s.job_name = words[dice (5)];
    s.admin_comment = words[dice (5)];
    s.gres = words[dice (5)];
    s.gpu_asked = dice (2);
    s.cpus = dice (2) ? COUNT_UNKNOWN : dice (3);
    s.array_job = dice (3);
    s.array_task = dice (2) ? TASK_NONE : dice (3);
    s.job_db_inx = dice (3);
    s.restart_count = (int)dice (3) - 1;
    return s;
}

#define OBSERVATIONS 6

/* All of them in a random order, some twice, into a cluster of its own. */
static void put_shuffled (store_t *store, const char *cluster,
                          const segment_t *observations)
{
    unsigned done = 0, all = (1u << OBSERVATIONS) - 1;

    while (done != all) {
        unsigned i = dice (OBSERVATIONS);
        segment_t s = observations[i];
        s.cluster = cluster;
        OK (store_put_segment (store, &s, NULL, &error));
        done |= 1u << i;
    }
}

/* The dump of one cluster without its name. */
static char *facts_of (const char *dump, const char *cluster)
{
    GL_AUTOFREE char *mark = xasprintf ("segment %s ", cluster);
    const char *first = strstr (dump, mark);
    const char *second = strstr (first + 1, mark);
    const char *end = strchr (second ? second : first, '\n');
    size_t length = strlen (mark);

    return second ? xasprintf ("%.*s%.*s", (int)(second - first - length),
                               first + length,
                               (int)(end - second - length), second + length)
                  : xasprintf ("%.*s", (int)(end - first - length),
                               first + length);
}

static void put_segment__any_order_and_repetition__same_facts (void **state)
{
    /* 16 orders each of 125 sets on SQLite; a server needs longer */
    int sets = fixture_on_mysql () ? 25 : 125;
    int orders = 16;

    (void)state;
    seed = 20261120;
    for (int set = 0; set < sets; set++) {
        const char *url = set % 25 == 0 ? fixture_store_url () : NULL;
        static const char *current;
        segment_t observations[OBSERVATIONS];
        GL_AUTOFREE char *dump = NULL, *expected = NULL;
        store_t *store;

        if (url)
            current = url;
        for (int i = 0; i < OBSERVATIONS; i++)
            observations[i] = random_observation ();
        store = fixture_open (current);
        OK (store_begin (store, &error));
        for (int order = 0; order < orders; order++) {
            GL_AUTOFREE char *cluster = xasprintf ("c%d-%d", set, order);
            put_shuffled (store, cluster, observations);
        }
        OK (store_commit (store, &error));
        store_close (store);
        dump = fixture_dump (current);
        for (int order = 0; order < orders; order++) {
            GL_AUTOFREE char *cluster = xasprintf ("c%d-%d", set, order);
            GL_AUTOFREE char *facts = facts_of (dump, cluster);
            if (!expected)
                expected = xstrdup (facts);
            assert_string_equal (facts, expected);
        }
        if (set % 25 == 24)
            fixture_done ();
    }
}

static void put_segment__hostile_text__comes_out_the_same (void **state)
{
    static const char *const texts[] = {
        "'; DROP TABLE segment; --", "\"", "`", "\\", "%s%n", "a\nb\tc\r",
        "\x1b[31m", "\xff\xfe", "\xc3\xa9", "=cmd|' /C calc'!A0", " ", "a ",
        "A", "a", "\xe2\x80\xae", "-- ", "/*", "\x01\x7f",
    };
    const char *url = fixture_store_url ();
    size_t count = GL_ARRAY_SIZE (texts);
    store_segment_iter_t *iter;
    store_t *store = fixture_open (url);
    segment_t s, out;

    (void)state;
    OK (store_begin (store, &error));
    for (size_t i = 0; i < count; i++) {
        s = fixture_segment (i + 1);
        s.cluster = texts[3];
        s.user = s.job_name = s.gres = s.nodelist = texts[i];
        OK (store_put_segment (store, &s, NULL, &error));
    }
    OK (store_commit (store, &error));
    iter = store_segment_iter_open (store, NULL, &error);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal (store_segment_iter_next (iter, &out, &error), 1);
        assert_string_equal (out.user, texts[i]);
        assert_string_equal (out.job_name, texts[i]);
        assert_string_equal (out.gres, texts[i]);
        assert_string_equal (out.nodelist, texts[i]);
        assert_string_equal (out.cluster, "\\");
    }
    store_segment_iter_close (iter);
    store_close (store);
}

/* A closing names clusters in lines NAME=VALUE, a credit its job as
 * CLUSTER/JOBID. */
static void put_segment__name_of_a_cluster__cannot_end_what_holds_it (void **state)
{
    static const struct {
        const char *name;
        int rc;
    } cases[] = {{"lab", 0},     {"lab 2", 0},   {"l\xc3\xa5" "b", 0},
                 {"lab/7", -1},  {"as_of=1", -1}, {"lab\nstate", -1},
                 {"\x1b[31m", -1}, {"lab\x7f", -1}};
    store_t *store = fixture_open (fixture_store_url ());

    (void)state;
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

static void put_segment__long_texts__kept_or_refused (void **state)
{
    static const struct {
        size_t size;
        int rc;
    } cases[] = {{255, 0}, {256, 0}, {257, 0}, {70000, 0}, {1 << 20, 0},
                 {(1 << 20) + 1, -1}};
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);

    (void)state;
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        segment_t s = fixture_segment (i + 1), out;
        char *text = xmalloc (cases[i].size + 1);
        store_segment_iter_t *iter;

        memset (text, 'x', cases[i].size);
        text[cases[i].size] = '\0';
        s.admin_comment = s.wckey = text;
        OK (store_begin (store, &error));
        assert_int_equal (store_put_segment (store, &s, NULL, &error),
                          cases[i].rc);
        if (cases[i].rc == 0) {
            OK (store_commit (store, &error));
            iter = store_segment_iter_open (
                store, &(store_query_t){.id_job = i + 1}, &error);
            assert_int_equal (store_segment_iter_next (iter, &out, &error), 1);
            assert_string_equal (out.admin_comment, text);
            assert_string_equal (out.wckey, text);
            store_segment_iter_close (iter);
        }
        else
            store_rollback (store);
        free (text);
    }
    store_close (store);
}

static void put_segment__impossible_keys__are_refused (void **state)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    char long_name[300];
    segment_t s;

    (void)state;
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

static void text__shared_by_segments__is_stored_once (void **state)
{
    const char *url = fixture_store_url ();
    GL_AUTOFREE char *sql = NULL;
    store_t *store = fixture_open (url);

    (void)state;
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

static uint64_t count_segments (const char *url, const store_query_t *query,
                                uint64_t *ret_sum)
{
    store_t *store = fixture_open (url);
    store_segment_iter_t *iter = store_segment_iter_open (store, query, &error);
    uint64_t count = 0, sum = 0;
    segment_t s;
    int rc = -1;

    while (iter && (rc = store_segment_iter_next (iter, &s, &error)) == 1) {
        count++;
        sum += s.id_job;
    }
    if (rc < 0)
        fail_msg ("%s", error.text);
    store_segment_iter_close (iter);
    store_close (store);
    if (ret_sum)
        *ret_sum = sum;
    return count;
}

static void segments__by_query__those_that_overlap (void **state)
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
        {{.start = 5000, .end = 6000}, 0},
    };
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    uint64_t sum;

    (void)state;
    OK (store_begin (store, &error));
    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        segment_t s = fixture_segment (rows[i].id);
        s.time_submit = 10;
        s.time_start = rows[i].start;
        s.time_end = rows[i].end;
        s.time_seen = rows[i].seen;
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

static void segments__several_clusters__in_the_order_of_bytes (void **state)
{
    static const char *const clusters[] = {"b", "B", "a", "\xc3\xa4", "aa"};
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    GL_AUTOFREE char *order = xstrdup ("");
    store_segment_iter_t *iter;
    segment_t s;

    (void)state;
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
    iter = store_segment_iter_open (store, NULL, &error);
    while (store_segment_iter_next (iter, &s, &error) == 1) {
        char *longer = xasprintf ("%s %s%" PRIu64, order, s.cluster, s.id_job);
        free (order);
        order = longer;
    }
    store_segment_iter_close (iter);
    store_close (store);
    assert_string_equal (order, " B9 B10 B1000 a9 a10 a1000 aa9 aa10 aa1000 "
                                "b9 b10 b1000 \xc3\xa4" "9 \xc3\xa4"
                                "10 \xc3\xa4" "1000");
}

static void records__of_any_bytes__known_by_their_key (void **state)
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

    (void)state;
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

static void evidence__of_a_period__covers_its_segments (void **state)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    store_query_t query = {.start = 1000000, .end = 2000000};
    evidence_t evidence = {.uid = 1, .source = TAG_NONE}, out;
    store_evidence_iter_t *iter;
    uint64_t seen = 0;

    (void)state;
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
    iter = store_evidence_iter_open (store, &query, &error);
    while (store_evidence_iter_next (iter, &out, &error) == 1)
        seen |= out.id_job;
    store_evidence_iter_close (iter);
    store_close (store);
    /* 8 runs over the start, 16 inside; not those far away */
    assert_int_equal (seen & (8 | 16), 8 | 16);
    assert_int_equal (seen & (1 | 2 | 32 | 64), 0);
}

static void suspensions__open_then_closed__longest_stands (void **state)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    suspension_t s = {"lab", 7, 100, 200, 0};
    static const int64_t ends[] = {0, 300, 0, 250, 300};
    store_counts_t counts = {0};
    GL_AUTOFREE char *dump = NULL;

    (void)state;
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

static void events__in_any_order__later_view_stands (void **state)
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

    (void)state;
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

static void reservations__flags_of_64_bits__come_out_the_same (void **state)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    reservation_t r = {"lab", 3, 100, 200, UINT64_MAX, "maint", "g1", "a,b"};
    store_query_t outside = {.start = 200, .end = 300};
    store_reservation_iter_t *iter;
    GL_AUTOFREE char *dump = NULL;

    (void)state;
    OK (store_begin (store, &error));
    OK (store_put_reservation (store, &r, 1000, NULL, &error));
    OK (store_commit (store, &error));
    iter = store_reservation_iter_open (store, &outside, &error);
    assert_int_equal (store_reservation_iter_next (iter, &r, &error), 0);
    store_reservation_iter_close (iter);
    store_close (store);
    dump = fixture_dump (url);
    assert_string_equal (dump, "cluster lab 1000\n"
                               "reservation lab 100 3: 200 "
                               "18446744073709551615 \"maint\" \"g1\" "
                               "\"a,b\"\n");
}

/* In any order the tree of the last moment stands. */
static void accounts__in_any_order__last_parent_stands (void **state)
{
    static const struct {
        int64_t seen;
        const char *parent;
    } views[] = {{1, "x"}, {3, "x"}, {2, "y"}, {3, NULL}};
    static const size_t orders[][4]
        = {{0, 1, 2, 3}, {2, 1, 0, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}};

    (void)state;
    for (size_t o = 0; o < 4; o++) {
        const char *url = fixture_store_url ();
        store_t *store = fixture_open (url);
        store_account_iter_t *iter;
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
        iter = store_account_iter_open (store, NULL, &error);
        assert_int_equal (store_account_iter_next (iter, &a, &error), 1);
        assert_string_equal (a.name, "nlp");
        assert_string_equal (a.parent, "x");
        assert_int_equal (store_account_iter_next (iter, &a, &error), 1);
        assert_string_equal (a.name, "root");
        assert_null (a.parent);
        assert_int_equal (store_account_iter_next (iter, &a, &error), 0);
        store_account_iter_close (iter);
        store_close (store);
    }
}

static void marks__put_again__are_replaced (void **state)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    int64_t value = -1;

    (void)state;
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

static void rollback__after_puts__leaves_the_store_as_it_was (void **state)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    segment_t s = fixture_segment (1);
    GL_AUTOFREE char *before = NULL, *after = NULL, *again = NULL;

    (void)state;
    put (url, &s);
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

static void iterator__while_others_write__keeps_its_view (void **state)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    store_segment_iter_t *iter;
    segment_t s;
    int count = 0;

    (void)state;
    for (uint64_t id = 1; id <= 3; id++) {
        s = fixture_segment (id);
        put (url, &s);
    }
    iter = store_segment_iter_open (store, NULL, &error);
    assert_non_null (iter);
    while (store_segment_iter_next (iter, &s, &error) == 1) {
        segment_t more = fixture_segment (100 + (uint64_t)count);
        OK (store_begin (store, &error));
        OK (store_put_segment (store, &more, NULL, &error));
        OK (store_commit (store, &error));
        count++;
    }
    store_segment_iter_close (iter);
    assert_int_equal (count, 3);
    /* inside a transaction only as long as it shows all that is put */
    OK (store_begin (store, &error));
    iter = store_segment_iter_open (store, NULL, &error);
    assert_non_null (iter);
    store_segment_iter_close (iter);
    s = fixture_segment (200);
    OK (store_put_segment (store, &s, NULL, &error));
    assert_null (store_segment_iter_open (store, NULL, &error));
    store_close (store);
    assert_int_equal (count_segments (url, NULL, NULL), 6);
}

/* New ones wait to be written together: what comes between finds them. */
static void put_segment__many_at_once__as_one_by_one (void **state)
{
    const char *urls[] = {fixture_store_url (), fixture_store_url ()};
    store_counts_t counts[2] = {{0}, {0}};
    char *dumps[2];

    (void)state;
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
static void put_segment__two_clusters_in_turns__as_one_by_one (void **state)
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

    (void)state;
    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        store_t *store = fixture_open (urls[one_by_one]);
        OK (store_begin (store, &error));
        for (size_t i = 0; i < GL_ARRAY_SIZE (puts); i++) {
            segment_t s = fixture_segment (puts[i].id_job);
            s.cluster = puts[i].cluster;
            s.time_seen += puts[i].later;
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

/* Against a second opinion that looks at all of them: segments of all lengths,
 * some open, some without length or start, ids in no order. */
static void iterator__any_period__as_by_looking_at_all (void **state)
{
    enum { COUNT = 600 };
    static const int64_t lengths[]
        = {0,      1,      3599,    3600,    3601,    14400,  14401, 86400,
           86401,  345600, 345601,  1382400, 1382401, 4000000};
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    segment_t all[COUNT];
    uint64_t random = 1;

    (void)state;
    OK (store_begin (store, &error));
    for (int i = 0; i < COUNT; i++) {
        segment_t *s = &all[i];
        random = random * UINT64_C (6364136223846793005) + 1442695040888963407;
        *s = fixture_segment ((uint64_t)(i * 7919 % 5000 + 1));
        s->time_start = 1790000000 + (int64_t)(random >> 33) % 5000000;
        s->time_end = s->time_start + lengths[i % GL_ARRAY_SIZE (lengths)];
        s->time_seen = 1796000000;
        if (i % 37 == 0)
            s->time_end = 0;
        if (i % 41 == 0)
            s->time_start = 0;
        OK (store_put_segment (store, s, NULL, &error));
    }
    OK (store_commit (store, &error));
    for (int i = 0; i < 60; i++) {
        store_query_t q = {.cluster = "lab"};
        store_segment_iter_t *iter;
        segment_t s;
        size_t found = 0, expected = 0;
        uint64_t last = 0;
        random = random * UINT64_C (6364136223846793005) + 1442695040888963407;
        q.start = i < 20 ? all[i * 3 + 1].time_end
                         : 1790000000 + (int64_t)(random >> 33) % 6000000;
        q.end = q.start + (i % 3 ? 86400 : i % 2 ? 1 : 2000000);
        for (int j = 0; j < COUNT; j++) {
            int64_t end = all[j].time_end ? all[j].time_end : all[j].time_seen;
            expected += all[j].time_start > 0 && all[j].time_start < q.end
                        && (end > q.start || all[j].time_start >= q.start);
        }
        iter = store_segment_iter_open (store, &q, &error);
        while (store_segment_iter_next (iter, &s, &error) == 1) {
            assert_true (s.id_job > last);
            last = s.id_job;
            found++;
        }
        store_segment_iter_close (iter);
        assert_int_equal (found, expected);
    }
    store_close (store);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (put_segment__everything_known__comes_out_the_same),
        TEST (put_segment__nothing_known__stays_unknown),
        TEST (put_segment__twice__second_is_unchanged),
        TEST (put_segment__open_then_closed__is_closed),
        TEST (put_segment__two_views__the_higher_rank_stands),
        TEST (put_segment__winner_does_not_know__loser_fills_in),
        TEST (put_segment__any_order_and_repetition__same_facts),
        TEST (put_segment__hostile_text__comes_out_the_same),
        TEST (put_segment__name_of_a_cluster__cannot_end_what_holds_it),
        TEST (put_segment__long_texts__kept_or_refused),
        TEST (put_segment__impossible_keys__are_refused),
        TEST (text__shared_by_segments__is_stored_once),
        TEST (segments__by_query__those_that_overlap),
        TEST (segments__several_clusters__in_the_order_of_bytes),
        TEST (records__of_any_bytes__known_by_their_key),
        TEST (evidence__of_a_period__covers_its_segments),
        TEST (suspensions__open_then_closed__longest_stands),
        TEST (events__in_any_order__later_view_stands),
        TEST (reservations__flags_of_64_bits__come_out_the_same),
        TEST (accounts__in_any_order__last_parent_stands),
        TEST (marks__put_again__are_replaced),
        TEST (rollback__after_puts__leaves_the_store_as_it_was),
        TEST (put_segment__many_at_once__as_one_by_one),
        TEST (put_segment__two_clusters_in_turns__as_one_by_one),
        TEST (iterator__any_period__as_by_looking_at_all),
        TEST (iterator__while_others_write__keeps_its_view),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
