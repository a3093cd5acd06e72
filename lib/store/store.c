#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/schema.h"
#include "store/store_private.h"

/* Enough for writers that take turns; more is a store under siege. The pauses
 * double, up to the longest: 6 seconds in all. */
#define ATTEMPTS 8
#define FIRST_PAUSE_MS 50
#define LONGEST_PAUSE_MS 2000

int store_check_url (const char *url, gl_error_t *error)
{
    return db_check_url (url, error);
}

int store_init (const char *url, bool *ret_made, gl_error_t *error)
{
    db_t *db = db_open (url, DB_CREATE, error);
    int rc = db ? schema_make (db, ret_made, error) : -1;

    db_settle (db);
    db_close (db);
    return rc;
}

store_t *store_open (const char *url, unsigned flags, gl_error_t *error)
{
    db_t *db = db_open (url, flags & STORE_READ_ONLY ? DB_READ_ONLY : 0, error);
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
    for (size_t i = 0; i < store->statement_count; i++)
        db_finalize (store->statements[i].st);
    free (store->statements);
    db_settle (store->db);
    db_close (store->db);
    forget_clusters (store);
    intern_forget (store);
    segments_forget (store);
    buffer_done (&store->key);
    free (store->url);
    free (store);
}

int store_copy (store_t *store, const char *url, gl_error_t *error)
{
    db_t *to = db_open (url, DB_CREATE, error);
    int rc = to ? db_copy (store->db, to, error) : -1;

    db_settle (to);
    db_close (to);
    return rc;
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
    malloc_trim (0);
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

int store_transaction (store_t *store, store_transaction_f fn, void *arg,
                       gl_error_t *error)
{
    for (int i = 0;; i++) {
        bool begun = store_begin (store, error) == 0;

        if (begun && attempt (store, fn, arg, error) == 0)
            return 0;
        /* who waited for the lock of writers has waited long enough */
        if (i + 1 == ATTEMPTS || !db_retryable (store->db)
            || (!begun && db_failure (store->db) == DB_FAILURE_BUSY))
            return -1;
        pause_before (i);
    }
}

int store_check_name (const char *what, const char *name, gl_error_t *error)
{
    size_t length = name ? strnlen (name, 256) : 0;

    if (length == 0 || length > 255)
        return gl_error (error, "%s%s%.40s%s has %s bytes; 1 to 255 are "
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
    store->clusters = xreallocarray (store->clusters, store->cluster_count + 1,
                                     sizeof (*store->clusters));
    c = &store->clusters[store->cluster_count++];
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
