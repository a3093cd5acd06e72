/* Segments, in and out, and which of several views of one stands: on SQLite, and
 * by tests/store/segments_mariadb.sh on MariaDB. */
#include <inttypes.h>

#include "suite.h"

TEST_CASE (put_segment__everything_known__comes_out_the_same)
{
    const char *url = fixture_store_url ();
    segment_t s = fixture_segment (7), out;
    store_iter_t *iter;
    store_t *store;

    s.wckey = "wc";
    s.reservation = "";
    s.admin_comment = "project=x";
    s.job_db_inx = UINT64_MAX - 1;
    s.cpus = UINT64_MAX - 1;
    s.array_job = UINT64_C (1) << 63;
    s.array_task = 0;
    s.restart_count = 3;
    s.cancelled_by = CANCELLED_BY_OTHER;
    s.sluid = UINT64_MAX - 1;
    assert_int_equal (put_alone (url, &s).inserted, 1);
    store = fixture_open (url);
    iter = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
    assert_non_null (iter);
    assert_int_equal (store_iter_next (iter, &out, &error), 1);
    assert_true (out.job_db_inx == UINT64_MAX - 1);
    assert_true (out.cpus == UINT64_MAX - 1);
    assert_true (out.array_job == UINT64_C (1) << 63);
    assert_int_equal (out.array_task, 0);
    assert_int_equal (out.het_offset, TASK_NONE);
    assert_int_equal (out.restart_count, 3);
    assert_int_equal (out.cancelled_by, CANCELLED_BY_OTHER);
    assert_true (out.sluid == UINT64_MAX - 1);
    assert_string_equal (out.cluster, "lab");
    assert_string_equal (out.reservation, "");
    assert_string_equal (out.wckey, "wc");
    assert_string_equal (out.nodelist, "g[001-002]");
    assert_string_equal (out.gres, "gpu=4,gpu:a100=4");
    assert_int_equal (store_iter_next (iter, &out, &error), 0);
    store_iter_close (iter);
    store_close (store);
}

TEST_CASE (put_segment__nothing_known__stays_unknown)
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

    put_alone (url, &s);
    dump = fixture_dump (url);
    assert_string_equal (
        dump, "cluster lab 0\n"
              "segment lab 1 5: 0 0 0 -9223372036854775808 "
              "-9223372036854775808 0 1 4294967295 0 18446744073709551615 "
              "18446744073709551615 18446744073709551615 0 4294967295 0 "
              "4294967295 0 -1 - - - - - - - - - - -\n");
}

TEST_CASE (put_segment__twice__second_is_unchanged)
{
    const char *url = fixture_store_url ();
    segment_t s = fixture_segment (7);
    GL_AUTOFREE char *first = NULL, *second = NULL;
    store_counts_t counts;

    counts = put_alone (url, &s);
    assert_int_equal (counts.inserted, 1);
    first = fixture_dump (url);
    counts = put_alone (url, &s);
    assert_int_equal (counts.inserted + counts.changed, 0);
    assert_int_equal (counts.unchanged, 1);
    s.observed_at += 3600;
    assert_int_equal (put_alone (url, &s).unchanged, 1);
    s.observed_at -= 3600;
    second = fixture_dump (url);
    /* it was seen once more: nothing else may differ */
    assert_int_equal (strlen (first), strlen (second));
}

TEST_CASE (put_segment__open_then_closed__is_closed)
{
    const char *url = fixture_store_url ();
    segment_t closed = fixture_segment (7), open = closed;
    GL_AUTOFREE char *expected = NULL, *dump = NULL;
    const char *alone = fixture_store_url ();

    open.time_end = 0;
    open.state = SEGMENT_RUNNING;
    put_alone (alone, &closed);
    expected = fixture_dump (alone);
    assert_int_equal (put_alone (url, &open).inserted, 1);
    assert_int_equal (put_alone (url, &closed).changed, 1);
    /* the same moment, so closed stands against open */
    assert_int_equal (put_alone (url, &open).unchanged, 1);
    dump = fixture_dump (url);
    assert_string_equal (dump, expected);
}

/* Which of two views of one segment stands; the other order says the same. */
TEST_CASE (put_segment__two_views__the_higher_rank_stands)
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

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        for (int swap = 0; swap < 2; swap++) {
            const char *url = fixture_store_url ();
            GL_AUTOFREE char *dump = NULL;

            for (int k = 0; k < 2; k++) {
                int view = k ^ swap;
                segment_t s = fixture_segment (1);
                s.observed_at += cases[i].seen[view];
                s.time_end = cases[i].closed[view] ? s.time_end + view : 0;
                s.source = cases[i].source[view];
                s.account = view ? "view-1" : "view-0";
                put_alone (url, &s);
            }
            dump = fixture_dump (url);
            if (!strstr (dump, cases[i].stands ? "\"view-1\"" : "\"view-0\""))
                fail_msg ("case %zu, swap %d: %s", i, swap, dump);
        }
    }
}

TEST_CASE (put_segment__winner_does_not_know__loser_fills_in)
{
    const char *url = fixture_store_url ();
    segment_t old = fixture_segment (7), new = old, out;
    store_iter_t *iter;
    store_t *store;

    old.source = SOURCE_SACCT_TEXT;
    old.observed_at -= 1000;
    old.job_name = "from the old one";
    old.account = "loses";
    new.job_name = NULL;
    put_alone (url, &new);
    assert_int_equal (put_alone (url, &old).changed, 1);
    store = fixture_open (url);
    iter = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
    assert_int_equal (store_iter_next (iter, &out, &error), 1);
    assert_string_equal (out.job_name, "from the old one");
    assert_string_equal (out.account, "vision");
    assert_int_equal (out.source, SOURCE_SLURMDBD);
    store_iter_close (iter);
    store_close (store);
}

/* GRES that were known stay, whichever view comes first, and the loss is told
 * until a later view names some again. */
TEST_CASE (put_segment__gres_lost__the_known_ones_stay)
{
    static const struct {
        const char *gres[3]; /* of three views, each later than the one before */
        int open;            /* view that is not over yet; -1: none */
        const char *stands;
        int lost; /* view that has lost them; -1: none */
    } cases[] = {
        {{"gpu=4", "", NULL}, -1, "gpu=4", 1},
        {{"gpu=4", "", ""}, -1, "gpu=4", 2},
        {{"gpu=4", "", ""}, 0, "gpu=4", 2},
        {{"", "gpu=4", ""}, -1, "gpu=4", 2},
        {{"gpu=4", "", "gpu=2"}, -1, "gpu=2", -1},
        {{"gpu=4", "gpu=2", ""}, -1, "gpu=2", 2},
        {{"", "", "gpu=4"}, 0, "gpu=4", -1},
        {{NULL, "", ""}, -1, "", -1},
    };
    static const int orders[][3]
        = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (size_t n = 0; n < GL_ARRAY_SIZE (cases) * 6; n++) {
        const char *url = fixture_store_url ();
        size_t i = n / 6;
        GL_AUTOFREE char *dump = NULL, *wanted = NULL;
        int64_t seen = fixture_segment (7).observed_at;

        for (int k = 0; k < 3; k++) {
            int view = orders[n % 6][k];
            segment_t s = fixture_segment (7);
            s.observed_at += view;
            s.gres = cases[i].gres[view];
            s.gres_requested = NULL;
            if (cases[i].open == view)
                s.time_end = 0;
            put_alone (url, &s);
        }
        dump = fixture_dump (url);
        wanted = cases[i].lost < 0
                     ? xasprintf (" \"%s\" -\n", cases[i].stands)
                     : xasprintf (" \"%s\" - lost=%" PRId64 "\n",
                                  cases[i].stands, seen + cases[i].lost);
        if (!strstr (dump, wanted))
            fail_msg ("case %zu, order %zu: no %s in %s", i, n % 6, wanted,
                      dump);
        fixture_done ();
    }
}

TEST_CASE (put_segment__gres_lost__counted_once)
{
    const char *url = fixture_store_url ();
    segment_t s = fixture_segment (7);
    store_counts_t counts;

    put_alone (url, &s);
    s.gres = "";
    s.observed_at++;
    counts = put_alone (url, &s);
    assert_int_equal (counts.lost, 1);
    assert_int_equal (counts.lost_job, s.id_job);
    assert_int_equal (counts.revised, 0);
    s.observed_at++;
    counts = put_alone (url, &s);
    assert_int_equal (counts.lost, 0);
    assert_int_equal (counts.unchanged, 1);
    s.gres = "gpu=2,gpu:a100=2";
    s.observed_at++;
    counts = put_alone (url, &s);
    assert_int_equal (counts.revised, 1); /* an edit */
}

static segment_t random_observation (void)
{
    static const char *const words[] = {NULL, "", "a", "b", "c"};
    segment_t s = fixture_segment (1 + dice (2));

    s.observed_at = 1800000000 + dice (3);
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

TEST_CASE (put_segment__any_order_and_repetition__same_facts)
{
    /* 16 orders each of 125 sets on SQLite; a server needs longer */
    int sets = fixture_on_mysql () ? 25 : 125;
    int orders = 16;

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

TEST_MAIN_EACH (NULL, teardown)
