/*
 * db_engine.h: what an engine of db.h implements. Seen by db.c and the two
 * engines alone.
 */
#ifndef GL_STORE_DB_ENGINE_H
#define GL_STORE_DB_ENGINE_H

#include "store/db.h"

/* The head of each engine's connection. */
struct db {
    const struct db_engine *engine;
    char *url;
    db_failure_t failure;
    bool in_transaction;
    bool ledger; /* SQLite's ledger file */
};

/* The head of each engine's statement. */
struct db_statement {
    db_t *db;
};

/* Everything but begin and commit is as its db_*() namesake says. */
struct db_engine {
    db_engine_t id;
    const char *scheme; /* "sqlite:" */
    const char *begin;  /* SQL, statements separated by ';' */
    const char *begin_read;
    char quote;

    db_t *(*open) (const char *url, unsigned flags, gl_error_t *error);
    int (*copy) (db_t *from, db_t *to, gl_error_t *error); /* NULL: cannot */
    char *(*file) (const char *url, unsigned flags); /* NULL: is in a server */
    void (*settle) (db_t *db); /* NULL: a commit has done all */
    void (*close) (db_t *db);
    int (*exec) (db_t *db, const char *sql, gl_error_t *error);
    uint64_t (*affected) (const db_t *db);
    uint64_t (*last_id) (const db_t *db);
    void (*shrink) (db_t *db); /* NULL: there is nothing to give back */

    db_statement_t *(*prepare) (db_t *db, const char *sql, gl_error_t *error);
    db_statement_t *(*query) (db_t *db, const char *sql, gl_error_t *error);
    void (*finalize) (db_statement_t *statement);
    void (*bind_integer) (db_statement_t *statement, unsigned at,
                          uint64_t bits, bool is_unsigned);
    /* data NULL: SQL NULL */
    void (*bind_bytes) (db_statement_t *statement, unsigned at,
                        const void *data, size_t length, bool is_text);
    int (*step) (db_statement_t *statement, gl_error_t *error);
    void (*reset) (db_statement_t *statement);

    unsigned (*column_count) (const db_statement_t *statement);
    char *(*column_name) (const db_statement_t *statement, unsigned at);
    bool (*column_is_null) (const db_statement_t *statement, unsigned at);
    uint64_t (*column_integer) (const db_statement_t *statement, unsigned at);
    const char *(*column_text) (const db_statement_t *statement, unsigned at);
    size_t (*column_length) (const db_statement_t *statement, unsigned at);
};

extern const struct db_engine db_sqlite_engine;
extern const struct db_engine db_mysql_engine;

/* What a person can do about a failure, the same for both engines: "; ..." or
 * "" where nothing general is to be said. */
const char *db_failure_advice (db_failure_t failure);

#endif /* !GL_STORE_DB_ENGINE_H */
