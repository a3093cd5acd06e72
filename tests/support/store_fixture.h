/*
 * store_fixture.h: fresh stores for tests, and a canonical text of all that a
 * store holds.
 *
 * Stores are SQLite files in a directory of their own, unless
 * $GPULEDGER_TEST_MYSQL names a throw-away server (tests/support/mariadb.sh),
 * as "mysql://root@localhost/%s?socket=...": then they are databases there.
 */
#ifndef GL_TESTS_STORE_FIXTURE_H
#define GL_TESTS_STORE_FIXTURE_H

#include <stdbool.h>

#include "store/store.h"

bool fixture_on_mysql (void);
/* Somewhere to put a store, with nothing there yet. Lives until
 * fixture_done(). */
const char *fixture_url (void);
/* An initialised store; aborts the test where that fails. */
const char *fixture_store_url (void);
/* The directory of the SQLite files. */
const char *fixture_dir (void);
/* Remove all of it. */
void fixture_done (void);

/* Opened for writing; aborts the test on an error. */
store_t *fixture_open (const char *url);

/* Every fact of the store as text, in the order of the iterators; yours. */
char *fixture_dump (const char *url);

/* The first row of a statement, columns separated by blanks; yours. */
char *fixture_counts (const char *url, const char *sql);

/* A closed segment of cluster "lab" with everything known. */
segment_t fixture_segment (uint64_t id_job);

/* An hour of a busy GPU of node "g001" of cluster "lab", from `begin` (seconds)
 * on. */
device_usage_t fixture_usage (uint64_t id_job, int64_t begin);

#endif /* !GL_TESTS_STORE_FIXTURE_H */
