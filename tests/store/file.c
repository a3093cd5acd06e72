/* What only a file can suffer: stores in SQLite. */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "suite.h"

TEST_CASE (open__not_a_database__is_refused_and_untouched)
{
    static const char text[] = "Dear diary, this is 100 bytes or so of text "
                               "that SQLite shall not take for a header. .....";
    GL_AUTOFREE char *path = NULL, *url = NULL;
    char now[sizeof (text)] = "";
    int fd;

    path = xasprintf ("%s/diary", fixture_dir ());
    url = xasprintf ("sqlite:%s", path);
    fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal (write (fd, text, sizeof (text)), sizeof (text));
    assert_refused (url, "not a database");
    assert_init_refused (url, "not a database");
    assert_int_equal (pread (fd, now, sizeof (now), 0), sizeof (now));
    assert_memory_equal (now, text, sizeof (text));
    close (fd);
    unlink (path);
}

/* As somebody who is not root: 0 if it was said, in plain words. */
static int open_as_nobody (const char *url, int flags)
{
    store_t *store;

    if (geteuid () == 0
        && (setgroups (0, NULL) < 0 || setgid (65534) < 0
            || setuid (65534) < 0))
        return 3;
    store = store_open (url, (unsigned)flags, &error);
    if (store) {
        store_iter_t *iter
            = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
        segment_t s;
        int rc = iter ? store_iter_next (iter, &s, &error) : -1;

        store_iter_close (iter);
        store_close (store);
        return rc == 1 ? 10 : 4;
    }
    return strstr (error.text, "Permission denied") ? 0 : 5;
}

TEST_CASE (open__without_permission__says_so)
{
    const char *url = fixture_store_url ();
    const char *path = url + strlen ("sqlite:");
    segment_t s = fixture_segment (1);
    store_t *store;

    store = fixture_open (url);
    OK (store_begin (store, &error));
    OK (store_put_segment (store, &s, NULL, &error));
    OK (store_commit (store, &error));
    store_close (store);
    assert_int_equal (chmod (fixture_dir (), 0755), 0);
    assert_int_equal (chmod (path, 0600), 0);
    if (geteuid () == 0)
        assert_int_equal (in_child (open_as_nobody, url, STORE_READ_ONLY), 0);
    assert_int_equal (chmod (path, 0444), 0);
    if (geteuid () == 0)
        assert_int_equal (in_child (open_as_nobody, url, 0), 0);
}

/* Who may read the file but not write in its directory can read the store,
 * also when nobody else has it open. */
TEST_CASE (open__read_only_directory__reads)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-ledger"};
    const char *url = fixture_store_url ();
    segment_t s = fixture_segment (1);
    store_t *store;

    store = fixture_open (url);
    OK (store_begin (store, &error));
    OK (store_put_segment (store, &s, NULL, &error));
    OK (store_commit (store, &error));
    store_close (store);
    assert_int_equal (chmod (fixture_dir (), 0755), 0);
    for (size_t i = 0; i < GL_ARRAY_SIZE (ends); i++) {
        GL_AUTOFREE char *path
            = xasprintf ("%s%s", url + strlen ("sqlite:"), ends[i]);
        assert_int_equal (chmod (path, 0444), 0);
    }
    if (geteuid () == 0)
        assert_int_equal (in_child (open_as_nobody, url, STORE_READ_ONLY), 10);
}

/* No file may grow over 400 KiB: as a full disk, only sooner. */
static int put_over_limit (const char *url, int arg)
{
    struct rlimit limit = {400 << 10, 400 << 10};
    uint64_t first = 1001;
    store_t *store;

    (void)arg;
    signal (SIGXFSZ, SIG_IGN);
    setrlimit (RLIMIT_FSIZE, &limit);
    store = store_open (url, 0, &error);
    if (!store || store_begin (store, &error) < 0)
        return 3;
    for (; first < 100000; first += 100) {
        if (put_hundred (store, &first, &error) < 0)
            break;
    }
    if (first >= 100000 && store_commit (store, &error) == 0)
        return 4;
    store_close (store);
    return 0;
}

TEST_CASE (write__fails_half_way__nothing_happened)
{
    const char *url = fixture_store_url ();
    store_t *store;
    uint64_t first = 1;
    GL_AUTOFREE char *before = NULL, *after = NULL;

    store = fixture_open (url);
    OK (store_transaction (store, put_hundred, &first, &error));
    store_close (store);
    before = fixture_dump (url);
    assert_int_equal (in_child (put_over_limit, url, 0), 0);
    after = fixture_dump (url);
    assert_string_equal (after, before);
}

TEST_CASE (open__meta_table_of_others__is_refused)
{
    const char *url = fixture_url ();

    /* SQLite makes all tables or none: this one is not ours */
    run_sql (url, "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT)");
    assert_refused (url, "another program");
    assert_init_refused (url, "another program");
}

#define READ_SEGMENTS 3000

static int change_all (store_t *store, void *arg, gl_error_t *reterr)
{
    (void)arg;
    for (uint64_t id = 1; id <= READ_SEGMENTS; id++) {
        segment_t s = fixture_segment (id);
        s.time_end++;
        s.observed_at++;
        if (store_put_segment (store, &s, NULL, reterr) < 0)
            return -1;
    }
    return 0;
}

/* Another process, as the locks of one's own never stand in the way: once told
 * to by the pipe, it writes and leaves, as the last one that it can see. */
static int write_when_told (const char *url, int told)
{
    store_t *store;
    char byte;

    if (read (told, &byte, 1) != 1)
        return 3;
    store = store_open (url, 0, &error);
    if (!store || store_transaction (store, change_all, NULL, &error) < 0)
        return 4;
    store_close (store);
    return 0;
}

/* How many segments are as they were made; -1 if one is not, or is lost. */
static int count_unchanged (store_iter_t *iter)
{
    segment_t s;
    int rc, count = 0;

    while ((rc = store_iter_next (iter, &s, &error)) == 1) {
        if (s.time_end != fixture_segment (s.id_job).time_end)
            return -1;
        count++;
    }
    return rc < 0 ? -1 : count;
}

/* A process that opens a store twice still keeps the others from moving the
 * log into the file while it reads. */
TEST_CASE (read__writer_leaves_after_second_open__sees_one_state)
{
    const char *url = fixture_store_url ();
    store_iter_t *iter;
    store_t *store, *second;
    segment_t s;
    int told[2], status;
    pid_t pid;

    store = fixture_open (url);
    for (uint64_t first = 1; first < READ_SEGMENTS; first += 100)
        OK (store_transaction (store, put_hundred, &(uint64_t){first}, &error));
    store_close (store);
    assert_int_equal (pipe (told), 0);
    pid = fork ();
    if (pid == 0)
        _exit (write_when_told (url, told[0]));
    store = store_open (url, STORE_READ_ONLY, &error);
    assert_non_null (store);
    iter = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
    assert_non_null (iter);
    assert_int_equal (store_iter_next (iter, &s, &error), 1);
    second = store_open (url, STORE_READ_ONLY, &error);
    assert_non_null (second);
    assert_int_equal (write (told[1], "", 1), 1);
    assert_int_equal (waitpid (pid, &status, 0), pid);
    assert_int_equal (status, 0);
    assert_int_equal (count_unchanged (iter), READ_SEGMENTS - 1);
    store_iter_close (iter);
    store_close (second);
    store_close (store);
    close (told[0]);
    close (told[1]);
}

TEST_MAIN_EACH (NULL, teardown)
