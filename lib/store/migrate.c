#include <stdio.h>

#include "base/memory.h"
#include "base/number.h"
#include "store/migrate.h"

static const struct migration {
    db_engine_t engine;
    unsigned schema;
    const char *sql;
} migrations[] = {
#include "store/migrations.inc"
};

/* How each engine lists tables: the number of all, and of ours. */
static const char *const table_counts[] = {
    [DB_SQLITE] = "SELECT count(*), sum(name = 'meta') FROM sqlite_schema "
                  "WHERE type = 'table'",
    [DB_MYSQL] = "SELECT count(*), sum(table_name = 'meta') "
                 "FROM information_schema.tables "
                 "WHERE table_schema = DATABASE()",
};

static const char read_schema[]
    = "SELECT value FROM meta WHERE name = 'gpuledger.schema'";

unsigned migrate_newest (void)
{
    unsigned newest = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (migrations); i++) {
        if (migrations[i].schema > newest)
            newest = migrations[i].schema;
    }
    return newest;
}

int migrate_each (db_engine_t engine, migrate_f callback, void *arg,
                  gl_error_t *error)
{
    for (unsigned schema = 1; schema <= migrate_newest (); schema++)
        for (size_t i = 0; i < GL_ARRAY_SIZE (migrations); i++)
            if (migrations[i].engine == engine
                && migrations[i].schema == schema
                && callback (migrations[i].sql, arg, error) < 0)
                return -1;
    return 0;
}

static int count_tables (db_t *db, uint64_t *ret_all, uint64_t *ret_meta,
                         gl_error_t *error)
{
    db_statement_t *st = db_prepare (db, table_counts[db_engine (db)], error);
    int rc = st ? db_step (st, error) : -1;

    if (rc == 1) {
        *ret_all = db_column_u64 (st, 0);
        *ret_meta = db_column_u64 (st, 1);
    }
    db_finalize (st);
    return rc < 0 ? -1 : 0;
}

static int refuse_foreign (db_t *db, gl_error_t *error)
{
    return gl_error (error,
                     "%s holds the tables of another program; give gpuledger "
                     "a database of its own",
                     db_url (db));
}

/* A table `meta` is there; what does it say? */
static int read_meta (db_t *db, unsigned *ret_schema, bool *ret_partial,
                      gl_error_t *error)
{
    db_statement_t *st = db_prepare (db, read_schema, error);
    int rc = st ? db_step (st, error) : -1;
    uint64_t schema = 0;

    if (rc == 1
        && (number_u64 (db_column_text (st, 0), db_column_length (st, 0),
                        &schema)
                < 0
            || schema == 0 || schema > 9999))
        rc = gl_error (error, "%s: its schema number '%.20s' is damaged",
                       db_url (db), db_column_text (st, 0));
    db_finalize (st);
    if (rc < 0)
        return -1;
    /* SQLite makes all tables or none */
    if (rc == 0 && db_engine (db) == DB_SQLITE)
        return refuse_foreign (db, error);
    *ret_schema = (unsigned)schema;
    *ret_partial = rc == 0;
    return 0;
}

int migrate_schema (db_t *db, unsigned *ret_schema, bool *ret_partial,
                    gl_error_t *error)
{
    uint64_t all = 0, meta = 0;

    if (count_tables (db, &all, &meta, error) < 0)
        return -1;
    if (meta > 0)
        return read_meta (db, ret_schema, ret_partial, error);
    if (all > 0)
        return refuse_foreign (db, error);
    *ret_schema = 0;
    *ret_partial = false;
    return 0;
}

static int write_schema (db_t *db, unsigned schema, gl_error_t *error)
{
    char sql[128];

    snprintf (sql, sizeof (sql),
              "REPLACE INTO meta (name, value) VALUES ('gpuledger.schema', "
              "'%u')",
              schema);
    return db_exec (db, sql, error);
}

static int apply_all (db_t *db, gl_error_t *error)
{
    unsigned from;
    bool partial;

    /* inside the transaction: somebody else may have been quicker */
    if (migrate_schema (db, &from, &partial, error) < 0)
        return -1;
    for (unsigned schema = from + 1; schema <= migrate_newest (); schema++) {
        for (size_t i = 0; i < GL_ARRAY_SIZE (migrations); i++) {
            const struct migration *m = &migrations[i];
            if (m->engine == db_engine (db) && m->schema == schema
                && db_exec (db, m->sql, error) < 0)
                return gl_error_prefix (error, "schema %u", schema);
        }
        if (write_schema (db, schema, error) < 0)
            return -1;
    }
    return 0;
}

int migrate_apply (db_t *db, gl_error_t *error)
{
    if (db_begin (db, error) < 0)
        return -1;
    if (apply_all (db, error) < 0) {
        db_rollback (db);
        return -1;
    }
    return db_commit (db, error);
}
