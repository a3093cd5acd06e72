/* What goes wrong around a store, and what it then says and holds: on SQLite,
 * and by tests/store/failures_mariadb.sh on MariaDB. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "suite.h"

TEST_CASE (open__never_initialised__says_run_init)
{
    const char *url = fixture_url ();

    assert_refused (url, "run gpuledger init");
    run_sql (url, "SELECT 1");
    assert_refused (url, "run gpuledger init");
}

TEST_CASE (init__twice__second_changes_nothing)
{
    const char *url = fixture_store_url ();
    segment_t s = fixture_segment (1);
    store_t *store = fixture_open (url);
    GL_AUTOFREE char *before = NULL, *after = NULL;
    bool made = true;

    OK (store_begin (store, &error));
    OK (store_put_segment (store, &s, NULL, &error));
    OK (store_commit (store, &error));
    store_close (store);
    before = fixture_dump (url);
    OK (store_init (url, &made, &error));
    assert_false (made);
    after = fixture_dump (url);
    assert_string_equal (after, before);
}

TEST_CASE (open__other_schema__is_refused)
{
    const char *url = fixture_store_url ();

    run_sql (url, "UPDATE meta SET value = '9999' "
                  "WHERE name = 'gpuledger.schema'");
    assert_refused (url, "has schema 9999, this gpuledger has schema 1");
    assert_init_refused (url, "has schema 9999, this gpuledger has schema 1");
    run_sql (url, "UPDATE meta SET value = 'nonsense' "
                  "WHERE name = 'gpuledger.schema'");
    assert_refused (url, "damaged");
}

TEST_CASE (open__of_another_program__is_refused)
{
    const char *url = fixture_url ();

    run_sql (url, "CREATE TABLE cluster_table (name INTEGER)");
    assert_refused (url, "another program");
    assert_init_refused (url, "another program");
}

static int init_one (const char *url, int arg)
{
    (void)arg;
    return store_init (url, NULL, &error) < 0;
}

TEST_CASE (init__by_several_at_once__all_succeed)
{
    const char *url = fixture_url ();
    pid_t pids[4];
    int status;

    for (size_t i = 0; i < GL_ARRAY_SIZE (pids); i++) {
        pids[i] = fork ();
        if (pids[i] == 0)
            _exit (init_one (url, 0));
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (pids); i++) {
        assert_int_equal (waitpid (pids[i], &status, 0), pids[i]);
        assert_int_equal (status, 0);
    }
    store_close (fixture_open (url));
}

TEST_CASE (url__that_makes_no_sense__is_refused)
{
    static const struct {
        const char *url;
        const char *words;
    } cases[] = {
        {"", "names no database"},
        {"postgres://x", "names no database"},
        {"sqlite:", "names no file"},
        {"sqlite:/nonexistent/dir/x.db", "no store"},
        {"sqlite:/", "Is a directory"},
        {"mysql://host/db", "no user"},
        {"mysql://u:secret@host/db", "option file"},
        {"mysql://u@host", "no database"},
        {"mysql://u@host/db?passwd=x", "unknown parameter"},
        {"mysql://u@host:99999/db", "bad port"},
        {"mysql://u%@host/db", "hex"},
        {"mysql://u@localhost/db?socket=/nonexistent", "server"},
        {"mysql://u@host/db?option-file=/nonexistent", "option file"},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        assert_refused (cases[i].url, cases[i].words);
        assert_null (strstr (error.text, "secret"));
    }
    assert_init_refused ("sqlite:/nonexistent/dir/x.db",
                         "directory is missing");
}

TEST_CASE (open__read_only__refuses_to_write)
{
    const char *url = fixture_store_url ();
    store_t *store = store_open (url, STORE_READ_ONLY, &error);
    segment_t s = fixture_segment (1);
    int rc;

    assert_non_null (store);
    rc = store_begin (store, &error);
    if (rc == 0)
        rc = store_put_segment (store, &s, NULL, &error);
    assert_int_equal (rc, -1);
    store_close (store);
}

static int put_until_killed (const char *url, int fd)
{
    store_t *store = store_open (url, 0, &error);

    for (uint64_t first = 1; store; first += 100) {
        if (store_transaction (store, put_hundred, &first, &error) < 0)
            return 1;
        if (write (fd, "", 1) != 1) /* acknowledged */
            return 1;
    }
    return 1;
}

TEST_CASE (writer__killed_at_any_moment__keeps_what_it_acknowledged)
{
    for (int round = 0; round < 12; round++) {
        const char *url = fixture_store_url ();
        uint64_t count, last, acknowledged = 0;
        struct timespec pause = {0, 20000000 + round * 7300000};
        int pipes[2], status;
        char byte;
        pid_t pid;

        assert_int_equal (pipe (pipes), 0);
        pid = fork ();
        if (pid == 0)
            _exit (put_until_killed (url, pipes[1]));
        close (pipes[1]);
        nanosleep (&pause, NULL);
        kill (pid, SIGKILL);
        waitpid (pid, &status, 0);
        assert_true (WIFSIGNALED (status));
        while (read (pipes[0], &byte, 1) == 1)
            acknowledged++;
        close (pipes[0]);
        count = count_all (url, &last);
        assert_int_equal (count % 100, 0);
        assert_true (last == count);
        assert_in_range (count / 100, acknowledged, acknowledged + 1);
        if (!fixture_on_mysql ()) {
            GL_AUTOFREE char *check
                = fixture_counts (url, "PRAGMA integrity_check");
            assert_string_equal (check, "ok");
        }
        fixture_done ();
    }
}

/* What nodes and people say of job `id`; in every view something else. */
static int put_view_of_nodes (store_t *store, uint64_t id, int view,
                              gl_error_t *reterr)
{
    static const char *const names[] = {"g001", "g002", "g003"};
    device_usage_t u = fixture_usage (id % 4, 1000);
    retag_t retag = {"lab", id, 100, 200, "ann", NULL, names[view % 3], NULL};
    node_record_t r = {.key = {(uint8_t)(id + 40 * (unsigned)(view % 4))},
                       .kind = 5, .cluster = "lab", .node = names[id % 3],
                       .stamp = view % 4, .payload = ""};

    u.node = names[view % 3];
    u.energy_mj = view % 5;
    if (store_put_usage (store, r.key, &u, NULL, reterr) < 0
        || store_put_record (store, &r, NULL, reterr) < 0)
        return -1;
    return store_put_retag (store, &retag, NULL, reterr);
}

/* A view of segments 1 to 40 that differs from that of the other writer. */
static int put_view (store_t *store, void *arg, gl_error_t *reterr)
{
    int view = *(int *)arg;

    for (uint64_t id = 1; id <= 40; id++) {
        segment_t s = fixture_segment (id);
        s.observed_at += view % 7;
        s.source = SOURCE_SACCT_TEXT + (unsigned)view % 3;
        s.job_name = view % 2 ? "odd" : NULL;
        s.account = view % 3 ? NULL : "third";
        s.cpus = view % 5 ? (uint64_t)view : COUNT_UNKNOWN;
        if (store_put_segment (store, &s, NULL, reterr) < 0
            || put_view_of_nodes (store, id, view, reterr) < 0)
            return -1;
    }
    return 0;
}

static int put_views (const char *url, int first)
{
    store_t *store = store_open (url, 0, &error);

    for (int view = first; store && view < first + 12; view++) {
        if (store_transaction (store, put_view, &view, &error) < 0) {
            fprintf (stderr, "# %s\n", error.text);
            return 1;
        }
    }
    store_close (store);
    return store == NULL;
}

TEST_CASE (writers__two_at_once__as_if_one_after_the_other)
{
    const char *url = fixture_store_url (), *alone = fixture_store_url ();
    GL_AUTOFREE char *expected = NULL, *dump = NULL;
    pid_t pids[3];
    int status;

    for (int i = 0; i < 3; i++) {
        assert_int_equal (put_views (alone, 12 * i), 0);
        pids[i] = fork ();
        if (pids[i] == 0)
            _exit (put_views (url, 12 * i));
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal (waitpid (pids[i], &status, 0), pids[i]);
        assert_int_equal (status, 0);
    }
    expected = fixture_dump (alone);
    dump = fixture_dump (url);
    assert_string_equal (dump, expected);
}

static int fail_after_puts (store_t *store, void *arg, gl_error_t *reterr)
{
    if (put_hundred (store, arg, reterr) < 0)
        return -1;
    return gl_error (reterr, "line 101 is nonsense");
}

TEST_CASE (transaction__function_fails__nothing_happened)
{
    const char *url = fixture_store_url ();
    store_t *store = fixture_open (url);
    uint64_t first = 1, last;

    assert_int_equal (store_transaction (store, fail_after_puts, &first,
                                         &error),
                      -1);
    assert_string_equal (error.text, "line 101 is nonsense");
    OK (store_transaction (store, put_hundred, &first, &error));
    first = 1001;
    assert_int_equal (store_transaction (store, fail_after_puts, &first,
                                         &error),
                      -1);
    store_close (store);
    assert_int_equal (count_all (url, &last), 100);
}

TEST_MAIN_EACH (NULL, teardown)
