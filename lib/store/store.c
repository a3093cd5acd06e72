#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory.h"
#include "store/schema.h"
#include "store/store_private.h"

/* Enough for writers that take turns; more is a store under siege. The pauses
 * double, up to the longest: 6 seconds in all. */
#define ATTEMPTS 8
#define FIRST_PAUSE_MS 50
#define LONGEST_PAUSE_MS 2000

char *store_file (const char *url)
{
    return db_file (url, 0);
}

char *store_ledger_file (const char *url)
{
    return db_file (url, DB_LEDGER);
}

int store_check_url (const char *url, gl_error_t *error)
{
    return db_check_url (url, error);
}

/* 1: SQLite, which has two files. */
static int init_file (const char *url, unsigned flags, bool *made,
                      gl_error_t *error)
{
    db_t *db = db_open (url, flags, error);
    bool now = false;
    int rc = db ? schema_make (db, &now, error) : -1;

    if (rc == 0)
        rc = db_engine (db) == DB_SQLITE;
    *made = *made || now;
    db_settle (db);
    db_close (db);
    return rc;
}

int store_init (const char *url, bool *ret_made, gl_error_t *error)
{
    bool made = false;
    int rc = init_file (url, DB_CREATE, &made, error);

    if (rc == 1)
        rc = init_file (url, DB_CREATE | DB_LEDGER, &made, error);
    if (ret_made)
        *ret_made = made;
    return rc < 0 ? -1 : 0;
}

int store_init_views (const char *url, bool *ret_made, gl_error_t *error)
{
    GL_AUTOFREE char *file = store_file (url);
    db_t *db = db_open (url, file ? DB_LEDGER : 0, error);
    int rc = db ? schema_make_views (db, ret_made, error) : -1;

    db_close (db);
    return rc;
}

static store_t *open_file (const char *url, unsigned flags, gl_error_t *error)
{
    db_t *db = db_open (url, flags, error);
    store_t *store;

    if (!db)
        return NULL;
    if (schema_expect (db, error) < 0) {
        db_close (db);
        return NULL;
    }
    store = xcalloc (1, sizeof (*store));
    store->changed_from = INT64_MAX;
    store->db = db;
    store->url = xstrdup (url);
    store->ledger = store;
    return store;
}

store_t *store_open (const char *url, unsigned flags, gl_error_t *error)
{
    GL_AUTOFREE char *file = store_file (url);
    unsigned facts = flags & STORE_READ_ONLY ? DB_READ_ONLY : 0;
    unsigned ledger
        = flags & STORE_LEDGER ? DB_LEDGER : DB_LEDGER | DB_READ_ONLY;
    store_t *store = open_file (
        url, !file && flags & STORE_LEDGER ? DB_LEDGER : facts, error);

    if (!store || !file)
        return store;
    store->ledger = open_file (url, ledger, error);
    if (!store->ledger) {
        store->ledger = store;
        store_close (store);
        return NULL;
    }
    return store;
}

static void forget_clusters (store_t *store)
{
    for (size_t i = 0; i < store->cluster_count; i++) {
        forget_nothing (&store->clusters[i]);
        free (store->clusters[i].name);
    }
    free (store->clusters);
    store->clusters = NULL;
    store->cluster_count = 0;
}

void store_close (store_t *store)
{
    if (!store)
        return;
    store_rollback (store);
    if (store->ledger != store)
        store_close (store->ledger);
    GL_FREE_EACH (store->statements, store->statement_count, it,
                  db_finalize (it->st));
    GL_FREE_EACH (store->readers, store->reader_count, it, db_close (*it));
    db_settle (store->db);
    db_close (store->db);
    forget_clusters (store);
    intern_forget (store);
    segments_forget (store);
    buffer_done (&store->key);
    free (store->url);
    free (store);
}

static int copy_file (store_t *store, const char *url, unsigned flags,
                      gl_error_t *error)
{
    db_t *to = db_open (url, flags, error);
    int rc = to ? db_copy (store->db, to, error) : -1;

    db_settle (to);
    db_close (to);
    return rc;
}

/* The ledger first: it never speaks of facts that came later. */
int store_copy (store_t *store, const char *url, gl_error_t *error)
{
    if (store->ledger != store
        && copy_file (store->ledger, url, DB_CREATE | DB_LEDGER, error) < 0)
        return -1;
    return copy_file (store, url, DB_CREATE, error);
}

const char *store_url (const store_t *store)
{
    return store->url;
}

bool store_is_lost (const store_t *store)
{
    db_failure_t failure = db_failure (store->db);

    /* a node without its cluster may stay so; the next connection may find
     * another one */
    return failure == DB_FAILURE_LOST || failure == DB_FAILURE_NOT_READY;
}

/* BEGIN IMMEDIATE has SQLite's write lock already. On Galera a lock holds on
 * its own node; of two nodes that change a row one loses at its commit, so the
 * row is changed and not only locked. */
static const char *const lock_sql[] = {
    [DB_SQLITE] = "SELECT 1",
    [DB_MYSQL] = "UPDATE meta SET value = value + 1 WHERE name = 'writer'",
};

int store_begin (store_t *store, gl_error_t *error)
{
    db_statement_t *lock
        = store_prepare (store, lock_sql[db_engine (store->db)], error);

    if (!lock || db_begin (store->db, error) < 0)
        return -1;
    if (db_step (lock, error) < 0) {
        db_rollback (store->db);
        return -1;
    }
    db_reset (lock);
    store->wrote_facts = false;
    store->wrote_chain = false;
    store->quiet = false;
    store->changed_from = INT64_MAX;
    for (size_t i = 0; i < store->cluster_count; i++) {
        store->clusters[i].settled = false;
        store->clusters[i].reread = 0;
    }
    return 0;
}

/* Others may make rollups before the next transaction. */
static void forget_forgetting (store_t *store)
{
    for (size_t i = 0; i < store->cluster_count; i++)
        forget_nothing (&store->clusters[i]);
}

static int flush_clusters (store_t *store, gl_error_t *error)
{
    for (size_t i = 0; i < store->cluster_count; i++) {
        struct cluster_entry *c = &store->clusters[i];
        if (c->dirty
            && store_run (
                   store,
                   "UPDATE cluster SET "
                   "as_of = CASE WHEN as_of < ? THEN ? ELSE as_of END, longest "
                   "= CASE WHEN longest < ? THEN ? ELSE longest END WHERE id = "
                   "?",
                   ARGS (as_i64 (c->as_of), as_i64 (c->as_of),
                         as_i64 (c->longest), as_i64 (c->longest),
                         as_u64 (c->id)),
                   error)
                   < 0)
            return -1;
        c->dirty = false;
    }
    return 0;
}

static int flush_forgetting (store_t *store, gl_error_t *error)
{
    for (size_t i = 0; i < store->cluster_count; i++) {
        if (forget_flush (store, &store->clusters[i], error) < 0)
            return -1;
    }
    return kept_flush (store, error);
}

int store_commit (store_t *store, gl_error_t *error)
{
    if (segments_flush (store, error) < 0 || flush_forgetting (store, error) < 0
        || flush_clusters (store, error) < 0 || node_flush (store, error) < 0
        || db_commit (store->db, error) < 0) {
        store_rollback (store);
        return -1;
    }
    forget_forgetting (store);
    return 0;
}

void store_rollback (store_t *store)
{
    db_rollback (store->db);
    forget_clusters (store);
    intern_forget (store);
    segments_forget (store);
    node_forget (store);
}

void store_shrink (store_t *store)
{
    intern_forget (store);
    db_shrink (store->db);
    memory_trim ();
}

/* Half of it by chance, so that two writers on two nodes do not meet again. */
static void pause_before (int attempt)
{
    long ms = FIRST_PAUSE_MS << attempt;
    unsigned chance = 0;
    struct timespec pause;

    if (ms > LONGEST_PAUSE_MS)
        ms = LONGEST_PAUSE_MS;
    if (getrandom (&chance, sizeof (chance), 0) < 0)
        chance = (unsigned)getpid ();
    ms = ms / 2 + (long)(chance % (unsigned long)ms);
    pause = (struct timespec){ms / 1000, ms % 1000 * 1000000};
    nanosleep (&pause, NULL);
}

static int attempt (store_t *store, store_transaction_f fn, void *arg,
                    gl_error_t *error)
{
    if (fn (store, arg, error) < 0) {
        store_rollback (store);
        return -1;
    }
    return store_commit (store, error);
}

/* begin, and `run`, which calls fn and commits: again while others are in the
 * way. */
static int repeat (store_t *store,
                   int (*run) (store_t *store, store_transaction_f fn,
                               void *arg, gl_error_t *error),
                   store_transaction_f fn, void *arg, gl_error_t *error)
{
    for (int i = 0;; i++) {
        bool begun = store_begin (store, error) == 0;

        if (begun && run (store, fn, arg, error) == 0)
            return 0;
        /* who waited for the lock of writers has waited long enough */
        if (i + 1 == ATTEMPTS || !db_retryable (store->db)
            || (!begun && db_failure (store->db) == DB_FAILURE_BUSY))
            return -1;
        pause_before (i);
    }
}

int store_transaction (store_t *store, store_transaction_f fn, void *arg,
                       gl_error_t *error)
{
    return repeat (store, attempt, fn, arg, error);
}

/* Facts are locked, so that the month is of one moment; of them only caches are
 * written, and only after the ledger is. */
static int attempt_ledger (store_t *store, store_transaction_f fn, void *arg,
                           gl_error_t *error)
{
    store_t *ledger = store->ledger;
    int rc = ledger == store ? 0 : db_begin (ledger->db, error);

    if (rc == 0)
        rc = fn (store, arg, error);
    if (rc == 0 && store->wrote_facts)
        rc = gl_error (error, "a transaction of the ledger writes no facts");
    if (rc == 0 && ledger != store)
        rc = db_commit (ledger->db, error);
    if (rc < 0) {
        db_rollback (ledger->db);
        store_rollback (store);
        return -1;
    }
    return store_commit (store, error);
}

int store_ledger_transaction (store_t *store, store_transaction_f fn, void *arg,
                              gl_error_t *error)
{
    return repeat (store, attempt_ledger, fn, arg, error);
}

int store_check_name (const char *what, const char *name, gl_error_t *error)
{
    size_t length = name ? strnlen (name, 256) : 0;

    if (length == 0 || length > 255)
        return gl_error (error,
                         "%s%s%.40s%s has %s bytes; 1 to 255 are "
                         "possible",
                         what, length ? " '" : "", name ? name : "",
                         length ? "...'" : "", length ? "more than 255" : "0");
    return 0;
}

/* It stands in lines NAME=VALUE and in CLUSTER/JOBID. */
static int check_cluster (const char *name, gl_error_t *error)
{
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f || *p == '/' || *p == '=')
            return gl_error (error,
                             "the name of a cluster has byte 0x%02x; '/', '=' "
                             "and control characters are not possible",
                             (unsigned char)*p);
    return 0;
}

/* The cluster from the database, or a new one. */
static int fetch_cluster (store_t *store, const char *name, uint64_t *ret_id,
                          gl_error_t *error)
{
    int64_t id;
    int rc = store_number (store, "SELECT id FROM cluster WHERE name = ?",
                           ARGS (as_text (name)), &id, error);

    *ret_id = (uint64_t)id;
    if (rc != 0)
        return rc;
    if (check_cluster (name, error) < 0
        || store_run (
               store,
               "INSERT INTO cluster (name, as_of, longest) VALUES (?, 0, 0)",
               ARGS (as_text (name)), error)
               < 0)
        return -1;
    *ret_id = db_last_id (store->db);
    return 0;
}

struct cluster_entry *store_cluster (store_t *store, const char *name,
                                     gl_error_t *error)
{
    store->wrote_facts = true;
    return store_cluster_find (store, name, error);
}

struct cluster_entry *store_cluster_find (store_t *store, const char *name,
                                          gl_error_t *error)
{
    struct cluster_entry *c;
    uint64_t id = 0;

    /* few clusters; nearly always the one of the fact before */
    for (size_t i = 0; name && i < store->cluster_count; i++) {
        if (strcmp (store->clusters[i].name, name) == 0)
            return &store->clusters[i];
    }
    if (store_check_name ("cluster name", name, error) < 0
        || fetch_cluster (store, name, &id, error) < 0)
        return NULL;
    c = GL_APPEND (store->clusters, store->cluster_count);
    *c = (struct cluster_entry){.name = xstrdup (name), .id = id};
    return c;
}

void store_cluster_seen (struct cluster_entry *c, int64_t as_of,
                         int64_t longest)
{
    if (as_of > c->as_of) {
        c->as_of = as_of;
        c->dirty = true;
    }
    if (longest > c->longest) {
        c->longest = longest;
        c->dirty = true;
    }
}

int store_put_as_of (store_t *store, const char *cluster, int64_t as_of,
                     gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, cluster, error);

    if (!c)
        return -1;
    store_cluster_seen (c, as_of, 0);
    return 0;
}

int store_put_mark (store_t *store, const char *cluster, const char *name,
                    int64_t value, gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, cluster, error);

    if (!c || store_check_name ("mark", name, error) < 0)
        return -1;
    return store_run (
        store, "REPLACE INTO mark (cluster, name, value) VALUES (?, ?, ?)",
        ARGS (as_u64 (c->id), as_text (name), as_i64 (value)), error);
}

int store_get_mark (store_t *store, const char *cluster, const char *name,
                    int64_t *ret_value, gl_error_t *error)
{
    return store_number (store,
                         "SELECT m.value FROM mark m JOIN cluster c "
                         "ON c.id = m.cluster WHERE c.name = ? AND m.name = ?",
                         ARGS (as_text (cluster), as_text (name)), ret_value,
                         error)
                   < 0
               ? -1
               : 0;
}
