#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "store/db.h"
#include "store/db_engine.h"
#include "store/db_url.h"

static const struct db_engine *const engines[] = {
    &db_sqlite_engine,
    &db_mysql_engine,
};

const char *db_failure_advice (db_failure_t failure)
{
    switch (failure) {
    case DB_FAILURE_BUSY:
    case DB_FAILURE_CONFLICT:
        return "; another process is writing, try again";
    case DB_FAILURE_NOT_READY:
        return "; this node is not in its cluster's primary component: check "
               "wsrep_cluster_status there, or name more hosts in the URL";
    case DB_FAILURE_FULL:
        return "; make room on that file system, nothing was written";
    case DB_FAILURE_CORRUPT:
        return "; check the path, or restore the file from a backup";
    case DB_FAILURE_LOST:
        return "; check that the server runs and can be reached";
    default:
        return "";
    }
}

static const struct db_engine *find_engine (const char *url, gl_error_t *error)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (engines); i++) {
        const char *scheme = engines[i]->scheme;
        if (strncmp (url, scheme, strlen (scheme)) == 0)
            return engines[i];
    }
    gl_error (error,
              "'%s' names no database; write sqlite:PATH or "
              "mysql://USER@HOST/DB",
              url);
    return NULL;
}

int db_check_url (const char *url, gl_error_t *error)
{
    const struct db_engine *engine = find_engine (url, error);
    db_url_t parts;

    if (!engine)
        return -1;
    if (engine->id != DB_MYSQL)
        return 0;
    if (db_url_parse (url, &parts, error) < 0)
        return -1;
    db_url_done (&parts);
    return 0;
}

char *db_file (const char *url, unsigned flags)
{
    const struct db_engine *engine = find_engine (url, NULL);

    return engine && engine->file ? engine->file (url, flags) : NULL;
}

db_t *db_open (const char *url, unsigned flags, gl_error_t *error)
{
    const struct db_engine *engine = find_engine (url, error);
    db_t *db = engine ? engine->open (url, flags, error) : NULL;

    if (db)
        db->url = xstrdup (url);
    return db;
}

void db_close (db_t *db)
{
    if (db) {
        char *url = db->url;

        db_rollback (db);
        db->engine->close (db);
        free (url);
    }
}

int db_copy (db_t *from, db_t *to, gl_error_t *error)
{
    if (from->engine != to->engine || !from->engine->copy)
        return gl_error (error, "%s cannot be copied to %s: both have to be "
                                "SQLite files",
                         from->url, to->url);
    return from->engine->copy (from, to, error);
}

void db_settle (db_t *db)
{
    if (db && db->engine->settle)
        db->engine->settle (db);
}

db_engine_t db_engine (const db_t *db)
{
    return db->engine->id;
}

bool db_is_ledger (const db_t *db)
{
    return db->ledger;
}

const char *db_url (const db_t *db)
{
    return db->url;
}

db_failure_t db_failure (const db_t *db)
{
    return db->failure;
}

bool db_retryable (const db_t *db)
{
    switch (db->failure) {
    case DB_FAILURE_BUSY:
    case DB_FAILURE_CONFLICT:
    case DB_FAILURE_NOT_READY:
        return true;
    case DB_FAILURE_DUPLICATE:
        /* another node inserted the same between our look and our INSERT; an
         * SQLite writer is alone */
        return db->engine->id == DB_MYSQL;
    default:
        return false;
    }
}

int db_exec (db_t *db, const char *sql, gl_error_t *error)
{
    return db->engine->exec (db, sql, error);
}

void db_shrink (db_t *db)
{
    if (db->engine->shrink)
        db->engine->shrink (db);
}

uint64_t db_affected (const db_t *db)
{
    return db->engine->affected (db);
}

uint64_t db_last_id (const db_t *db)
{
    return db->engine->last_id (db);
}

/* One statement after the other of a text separated by ';'. */
static int begin (db_t *db, const char *script, gl_error_t *error)
{
    if (db->in_transaction)
        return gl_error (error, "%s: a transaction is open already", db->url);
    db->failure = DB_FAILURE_NONE;
    while (*script) {
        size_t length = strcspn (script, ";");
        GL_AUTOFREE char *sql = xstrndup (script, length);
        if (db_exec (db, sql, error) < 0)
            return -1;
        script += length + (script[length] == ';');
    }
    db->in_transaction = true;
    return 0;
}

int db_begin (db_t *db, gl_error_t *error)
{
    return begin (db, db->engine->begin, error);
}

int db_begin_read (db_t *db, gl_error_t *error)
{
    return begin (db, db->engine->begin_read, error);
}

int db_commit (db_t *db, gl_error_t *error)
{
    if (!db->in_transaction)
        return gl_error (error, "%s: no transaction is open", db->url);
    if (db_exec (db, "COMMIT", error) < 0) {
        db_rollback (db);
        return -1;
    }
    db->in_transaction = false;
    return 0;
}

void db_rollback (db_t *db)
{
    db_failure_t failure = db->failure;

    if (db->in_transaction) {
        db->in_transaction = false;
        db_exec (db, "ROLLBACK", NULL);
        db->failure = failure;
    }
}

bool db_in_transaction (const db_t *db)
{
    return db->in_transaction;
}

db_statement_t *db_prepare (db_t *db, const char *sql, gl_error_t *error)
{
    return db->engine->prepare (db, sql, error);
}

db_statement_t *db_query (db_t *db, const char *sql, gl_error_t *error)
{
    return db->engine->query (db, sql, error);
}

void db_finalize (db_statement_t *statement)
{
    if (statement)
        statement->db->engine->finalize (statement);
}

void db_bind_i64 (db_statement_t *statement, unsigned at, int64_t value)
{
    statement->db->engine->bind_integer (statement, at, (uint64_t)value, false);
}

void db_bind_u64 (db_statement_t *statement, unsigned at, uint64_t value)
{
    statement->db->engine->bind_integer (statement, at, value, true);
}

void db_bind_text (db_statement_t *statement, unsigned at, const char *text)
{
    statement->db->engine->bind_bytes (statement, at, text,
                                       text ? strlen (text) : 0, true);
}

void db_bind_blob (db_statement_t *statement, unsigned at, const void *data,
                   size_t length)
{
    statement->db->engine->bind_bytes (statement, at, data ? data : "", length,
                                       false);
}

int db_step (db_statement_t *statement, gl_error_t *error)
{
    return statement->db->engine->step (statement, error);
}

void db_reset (db_statement_t *statement)
{
    if (statement)
        statement->db->engine->reset (statement);
}

int db_run (db_statement_t *statement, gl_error_t *error)
{
    int rc = db_step (statement, error);

    db_reset (statement);
    return rc < 0 ? -1 : 0;
}

unsigned db_column_count (const db_statement_t *statement)
{
    return statement->db->engine->column_count (statement);
}

char *db_column_name (const db_statement_t *statement, unsigned at)
{
    return statement->db->engine->column_name (statement, at);
}

bool db_column_is_null (const db_statement_t *statement, unsigned at)
{
    return statement->db->engine->column_is_null (statement, at);
}

int64_t db_column_i64 (const db_statement_t *statement, unsigned at)
{
    return (int64_t)statement->db->engine->column_integer (statement, at);
}

uint64_t db_column_u64 (const db_statement_t *statement, unsigned at)
{
    return statement->db->engine->column_integer (statement, at);
}

const char *db_column_text (const db_statement_t *statement, unsigned at)
{
    return statement->db->engine->column_text (statement, at);
}

size_t db_column_length (const db_statement_t *statement, unsigned at)
{
    return statement->db->engine->column_length (statement, at);
}

char *db_quote_identifier (const db_t *db, const char *name)
{
    BUFFER_AUTO b = BUFFER_INIT;
    char quote = db->engine->quote;

    buffer_add_char (&b, quote);
    for (; *name; name++) {
        if (*name == quote)
            buffer_add_char (&b, quote);
        buffer_add_char (&b, *name);
    }
    buffer_add_char (&b, quote);
    return buffer_take (&b);
}
