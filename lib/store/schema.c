#include "store/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "store/store.h"

static const struct {
    db_engine_t engine;
    bool ledger; /* of SQLite's ledger file */
    bool view;   /* makes a view, which a store need not have */
    const char *sql;
} statements[] = {
#include "store/schema.inc"
};

/* The name of the schema's number in the table `meta`: a file of facts is no
 * ledger. */
static const char *number_name (const db_t *db)
{
    return db_is_ledger (db) ? "gpuledger.ledger" : "gpuledger.schema";
}

/* How each engine lists tables: the number of all, and of ours. */
static const char *const table_counts[] = {
    [DB_SQLITE] = "SELECT count(*), sum(name = 'meta') FROM sqlite_schema "
                  "WHERE type = 'table'",
    [DB_MYSQL] = "SELECT count(*), sum(table_name = 'meta') "
                 "FROM information_schema.tables "
                 "WHERE table_schema = DATABASE()",
};

static int each (const db_t *db, bool views, schema_statement_f callback,
                 void *arg, gl_error_t *error)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (statements); i++)
        if (statements[i].engine == db_engine (db)
            && statements[i].ledger == db_is_ledger (db)
            && statements[i].view == views
            && callback (statements[i].sql, arg, error) < 0)
            return -1;
    return 0;
}

int schema_each (const db_t *db, schema_statement_f callback, void *arg,
                 gl_error_t *error)
{
    return each (db, false, callback, arg, error);
}

/* What a database is to us. */
typedef enum {
    EMPTY,
    PARTIAL, /* MySQL: a script was cut short */
    READY,
} schema_state_t;

static int refuse_foreign (db_t *db, gl_error_t *error)
{
    return gl_error (error,
                     "%s holds the tables of another program; give gpuledger "
                     "a database of its own",
                     db_url (db));
}

static int check_number (db_t *db, const db_statement_t *row, gl_error_t *error)
{
    const char *text = db_column_text (row, 0);
    uint64_t number;

    if (number_u64 (text, db_column_length (row, 0), &number) < 0)
        return gl_error (error, "%s: its schema number '%.20s' is damaged",
                         db_url (db), text);
    if (number != STORE_SCHEMA)
        return gl_error (
            error,
            "%s has schema %llu, this gpuledger has schema %u; nothing "
            "was changed: install the gpuledger again that made the store "
            "(docs/guides/admin.md)",
            db_url (db), (unsigned long long)number, STORE_SCHEMA);
    return READY;
}

/* A table `meta` is there; what does it say? */
static int read_meta (db_t *db, gl_error_t *error)
{
    db_statement_t *st
        = db_prepare (db, "SELECT value FROM meta WHERE name = ?", error);
    int rc = -1;

    if (st) {
        db_bind_text (st, 0, number_name (db));
        rc = db_step (st, error);
    }
    if (rc == 1)
        rc = check_number (db, st, error);
    else if (rc == 0)
        rc = db_engine (db) == DB_SQLITE ? refuse_foreign (db, error) : PARTIAL;
    db_finalize (st);
    return rc;
}

/* A schema_state_t or -1. */
static int read_state (db_t *db, gl_error_t *error)
{
    db_statement_t *st = db_prepare (db, table_counts[db_engine (db)], error);
    int rc = st ? db_step (st, error) : -1;
    uint64_t all = rc == 1 ? db_column_u64 (st, 0) : 0;
    uint64_t meta = rc == 1 ? db_column_u64 (st, 1) : 0;

    db_finalize (st);
    if (rc < 0)
        return -1;
    if (meta > 0)
        return read_meta (db, error);
    return all > 0 ? refuse_foreign (db, error) : EMPTY;
}

static int run_statement (const char *sql, void *arg, gl_error_t *error)
{
    return db_exec (arg, sql, error);
}

static int make (db_t *db, gl_error_t *error)
{
    /* inside the transaction: somebody else may have been quicker */
    int state = read_state (db, error);
    char sql[128];

    if (state < 0 || state == READY)
        return state < 0 ? -1 : 0;
    snprintf (sql, sizeof (sql),
              "REPLACE INTO meta (name, value) VALUES ('%s', '%u')",
              number_name (db), STORE_SCHEMA);
    if (schema_each (db, run_statement, db, error) < 0)
        return -1;
    return db_exec (db, sql, error);
}

int schema_make (db_t *db, bool *ret_made, gl_error_t *error)
{
    int state = read_state (db, error);

    if (ret_made)
        *ret_made = state != READY;
    if (state < 0 || state == READY)
        return state < 0 ? -1 : 0;
    if (db_begin (db, error) < 0)
        return -1;
    if (make (db, error) < 0) {
        db_rollback (db);
        return -1;
    }
    return db_commit (db, error);
}

/* --- views -------------------------------------------------------------- */

/* "CREATE ... VIEW months AS ..." */
static void view_name (const char *sql, char ret_name[SCHEMA_VIEW_NAME])
{
    const char *at = strstr (sql, " VIEW ");

    ret_name[0] = '\0';
    if (at)
        sscanf (at, " VIEW %31[a-z_]", ret_name);
}

/* How each engine lists its views. */
static const char *const view_counts[] = {
    [DB_SQLITE]
    = "SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name = ?",
    [DB_MYSQL] = "SELECT count(*) FROM information_schema.views "
                 "WHERE table_schema = DATABASE() AND table_name = ?",
};

/* 1: the view is there; 0; -1. */
static int has_view (db_t *db, const char *name, gl_error_t *error)
{
    db_statement_t *st = db_prepare (db, view_counts[db_engine (db)], error);
    int rc = -1;

    if (st) {
        db_bind_text (st, 0, name);
        rc = db_step (st, error);
    }
    if (rc == 1)
        rc = db_column_u64 (st, 0) > 0;
    db_finalize (st);
    return rc;
}

/* A server prints the text of a view in words of its own: what it prints now is kept
 * as a digest, with which schema_check() compares. */
static int keep_digest (db_t *db, const char *name, gl_error_t *error)
{
    db_statement_t *st;
    int rc = -1;

    if (db_engine (db) != DB_MYSQL)
        return 0;
    st = db_prepare (
        db,
        "REPLACE INTO meta (name, value) SELECT concat('" SCHEMA_VIEW_DIGEST
        "', table_name), sha2(view_definition, 256) FROM "
        "information_schema.views WHERE table_schema = DATABASE() "
        "AND table_name = ?",
        error);
    if (st) {
        db_bind_text (st, 0, name);
        rc = db_step (st, error) < 0 ? -1 : 0;
    }
    db_finalize (st);
    return rc;
}

struct making {
    db_t *db;
    bool made;
};

static int make_view (const char *sql, void *arg, gl_error_t *error)
{
    struct making *m = arg;
    char name[SCHEMA_VIEW_NAME];
    int rc;

    view_name (sql, name);
    rc = has_view (m->db, name, error);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    m->made = true;
    return db_exec (m->db, sql, error) < 0
                   || keep_digest (m->db, name, error) < 0
               ? -1
               : 0;
}

int schema_make_views (db_t *db, bool *ret_made, gl_error_t *error)
{
    struct making m = {db, false};
    int rc = schema_expect (db, error);

    if (rc == 0)
        rc = db_begin (db, error);
    if (rc < 0)
        return -1;
    rc = each (db, true, make_view, &m, error);
    *ret_made = m.made;
    if (rc == 0)
        return db_commit (db, error);
    db_rollback (db);
    return -1;
}

struct naming {
    db_t *db;
    schema_view_f callback;
    void *arg;
    bool any;
};

static int look_for_view (const char *sql, void *arg, gl_error_t *error)
{
    struct naming *n = arg;
    char name[SCHEMA_VIEW_NAME];
    int rc;

    view_name (sql, name);
    rc = has_view (n->db, name, error);
    n->any = n->any || rc > 0;
    return rc < 0 ? -1 : 0;
}

static int name_view (const char *sql, void *arg, gl_error_t *error)
{
    const struct naming *n = arg;
    char name[SCHEMA_VIEW_NAME];

    (void)error;
    view_name (sql, name);
    n->callback (name, sql, n->arg);
    return 0;
}

int schema_each_view (db_t *db, schema_view_f callback, void *arg,
                      gl_error_t *error)
{
    struct naming n = {db, callback, arg, false};

    if (each (db, true, look_for_view, &n, error) < 0)
        return -1;
    return n.any ? each (db, true, name_view, &n, error) : 0;
}

int schema_expect (db_t *db, gl_error_t *error)
{
    int state = read_state (db, error);

    if (state == PARTIAL)
        return gl_error (error,
                         "%s was not initialised completely; run gpuledger "
                         "init again",
                         db_url (db));
    if (state == EMPTY)
        return gl_error (error, "%s is not initialised; run gpuledger init",
                         db_url (db));
    return state == READY ? 0 : -1;
}
