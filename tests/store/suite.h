/* suite.h: what the programs of this suite share; each includes it once. */
#ifndef GL_TESTS_STORE_SUITE_H
#define GL_TESTS_STORE_SUITE_H

#include <sys/wait.h>
#include <unistd.h>

#include "support/store_fixture.h"
#include "support/test.h"

#include "base/memory.h"
#include "store/db.h"

static gl_error_t error;

#define OK(call)                                                               \
    do {                                                                       \
        if ((call) < 0)                                                        \
            fail_msg ("%s: %s", #call, error.text);                            \
    } while (0)

static inline int teardown (void **state)
{
    (void)state;
    fixture_done ();
    return 0;
}

/* Opening fails and says so. */
static inline void assert_refused (const char *url, const char *words)
{
    store_t *store = store_open (url, 0, &error);

    if (store)
        fail_msg ("%s opened", url);
    if (!strstr (error.text, words))
        fail_msg ("'%s' does not say '%s'", error.text, words);
}

static inline void assert_init_refused (const char *url, const char *words)
{
    assert_int_equal (store_init (url, NULL, &error), -1);
    if (!strstr (error.text, words))
        fail_msg ("'%s' does not say '%s'", error.text, words);
}

static inline void run_sql (const char *url, const char *sql)
{
    db_t *db = db_open (url, DB_CREATE, &error);

    if (!db || db_exec (db, sql, &error) < 0)
        fail_msg ("%s", error.text);
    db_close (db);
}

/* Run in a child; its exit status. The child leaves without cleaning up what
 * the parent owns. */
static inline int in_child (int (*fn) (const char *url, int arg), const char *url,
                            int arg)
{
    pid_t pid = fork ();
    int status;

    if (pid == 0)
        _exit (fn (url, arg));
    assert_true (pid > 0);
    assert_int_equal (waitpid (pid, &status, 0), pid);
    return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}

/* A small generator of our own, so that a seed means the same everywhere. */
static uint64_t seed = 1;
static inline unsigned dice (unsigned sides)
{
    seed = seed * UINT64_C (6364136223846793005) + 1442695040888963407;
    return (unsigned)(seed >> 33) % sides;
}

/* One segment into a store, in a transaction of its own. */
static inline store_counts_t put_alone (const char *url,
                                        const segment_t *segment)
{
    store_t *store = fixture_open (url);
    store_counts_t counts = {0};

    OK (store_begin (store, &error));
    OK (store_put_segment (store, segment, &counts, &error));
    OK (store_commit (store, &error));
    store_close (store);
    return counts;
}

/* Segments first to first + 99, one transaction. */
static inline int put_hundred (store_t *store, void *arg, gl_error_t *reterr)
{
    uint64_t first = *(uint64_t *)arg;

    for (uint64_t id = first; id < first + 100; id++) {
        segment_t s = fixture_segment (id);
        if (store_put_segment (store, &s, NULL, reterr) < 0)
            return -1;
    }
    return 0;
}

static inline uint64_t count_all (const char *url, uint64_t *ret_last)
{
    store_t *store = fixture_open (url);
    store_iter_t *iter = store_iter_open (store, STORE_SEGMENTS, NULL, &error);
    uint64_t count = 0;
    segment_t s = {0};

    while (store_iter_next (iter, &s, &error) == 1)
        count++;
    store_iter_close (iter);
    store_close (store);
    *ret_last = s.id_job;
    return count;
}

#endif /* !GL_TESTS_STORE_SUITE_H */
