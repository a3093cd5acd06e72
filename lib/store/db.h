/*
 * db.h: one small interface to two SQL engines.
 *
 * The store and the reader of slurmdbd's database use it. It handles
 * connections, statements, rows and transactions, and knows nothing about the
 * ledger. Statements are in the engine's own SQL; the caller handles the
 * differences between the engines (db_engine()).
 *
 * URLs
 *   sqlite:PATH[?ledger=FILE]
 *   mysql://USER@HOST[:PORT][,HOST[:PORT]]/DB[?socket=S&ssl-ca=F&option-file=F&group=G&ledger=F]
 * Parts of a mysql:// URL are percent-encoded; an IPv6 address stands in
 * brackets. A password never is part of a URL, which shows in `ps` and in logs:
 * it comes from the group (default "client") of an option file in the format
 * of MariaDB and MySQL. USER, HOST and DB of the URL win over that file. With
 * ssl-ca the server's certificate is verified. LOCAL INFILE is off whatever
 * the file or the server says. Several hosts are nodes of one Galera cluster: a
 * connection is made to the first that answers and is ready. Other servers are
 * refused there: a replica that lags behind would answer with old rows.
 *
 * Closed months have an owner of their own. On SQLite they are a file of their
 * own: `ledger`, else PATH-ledger. On MySQL their account is that of the option
 * file `ledger`, its user= and password=; without it, one account writes all.
 *
 * On Galera each read waits until its node has applied what the cluster has
 * acknowledged (wsrep_sync_wait), whichever node that was written to.
 *
 * Values are 64-bit integers and byte strings. An unsigned 64-bit number keeps
 * all its bits on both engines (SQLite stores its two's complement: compare for
 * equality there, do not order). Text is bytes: nothing is converted on its
 * way (a MySQL connection speaks the character set "binary").
 *
 * Errors are -1 (or NULL) and a text that says what to do. After an error on an
 * open connection db_failure() tells the kind, db_retryable() whether running
 * the whole transaction again can help. Lost connections are never reopened
 * silently: half a transaction would be missing.
 *
 * Statements belong to their connection and must be finalized before it is
 * closed. A connection and all that hangs on it belong to one thread.
 */
#ifndef GL_STORE_DB_H
#define GL_STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct db db_t;
typedef struct db_statement db_statement_t;

typedef enum {
    DB_SQLITE,
    DB_MYSQL,
} db_engine_t;

/* Flags of db_open(). */
#define DB_READ_ONLY 0x1 /* the connection refuses to write */
#define DB_CREATE 0x2    /* create the SQLite file if there is none */
#define DB_LEDGER \
    0x4 /* SQLite: the ledger file. MySQL, to write: its account */

/* The kind of the last failure. */
typedef enum {
    DB_FAILURE_NONE,
    DB_FAILURE_OTHER,    /* an error in SQL or in this program */
    DB_FAILURE_BUSY,     /* has waited for a lock up to the time limit */
    DB_FAILURE_CONFLICT, /* deadlock, or another node of a cluster was quicker */
    DB_FAILURE_NOT_READY, /* a node without its cluster */
    DB_FAILURE_DENIED,    /* no permission, wrong password, read-only */
    DB_FAILURE_FULL,      /* disk full, quota */
    DB_FAILURE_CORRUPT,   /* damaged, or not a database */
    DB_FAILURE_LOST,      /* server gone or unreachable */
    DB_FAILURE_MISSING,   /* no such file, database, table or column */
    DB_FAILURE_DUPLICATE, /* a unique key exists already */
} db_failure_t;

/* Whether the URL names a database in one of the forms above. */
int db_check_url (const char *url, gl_error_t *error);

/* The file of facts, or with DB_LEDGER of the ledger; yours. NULL: SQLite has
 * none. */
char *db_file (const char *url, unsigned flags);

db_t *db_open (const char *url, unsigned flags, gl_error_t *error);
/* Rolls an open transaction back. Accepts NULL. */
void db_close (db_t *db);

/* Replaces the content of `to` by a snapshot of `from`: both SQLite, outside a
 * transaction. All or nothing, while others read and write. */
int db_copy (db_t *from, db_t *to, gl_error_t *error);

/* Call it before db_close(), outside a transaction: it moves all committed data
 * into the SQLite file itself, so that a copy of the file is complete. It waits
 * up to a second for other connections, and is never an error. */
void db_settle (db_t *db);

db_engine_t db_engine (const db_t *db);
/* SQLite's ledger file. */
bool db_is_ledger (const db_t *db);
/* The URL it was opened with. */
const char *db_url (const db_t *db);
db_failure_t db_failure (const db_t *db);
bool db_retryable (const db_t *db);

/* One statement without a result. */
int db_exec (db_t *db, const char *sql, gl_error_t *error);
/* Rows that the last db_exec() or finished db_step() inserted, changed or
 * deleted; on MySQL a row that was set to what it was does not count. */
uint64_t db_affected (const db_t *db);
/* Frees memory that is only a cache. */
void db_shrink (db_t *db);
/* The key that the last INSERT made up. */
uint64_t db_last_id (const db_t *db);

/* Transactions do not nest. db_begin() takes SQLite's write lock at once
 * (waits up to 60 s for another writer), db_begin_read() fixes a snapshot. After
 * a failed commit the transaction is rolled back already. */
int db_begin (db_t *db, gl_error_t *error);
int db_begin_read (db_t *db, gl_error_t *error);
int db_commit (db_t *db, gl_error_t *error);
/* Accepts that no transaction is open. */
void db_rollback (db_t *db);
bool db_in_transaction (const db_t *db);

/*
 * Statements. Parameters are '?', numbered from 0; so are result columns. A
 * bound text or blob is not copied: it must stay until the next db_step() or
 * db_reset(). Unbound parameters are NULL. Typical use:
 *
 *     db_statement_t *st = db_prepare (db, "SELECT a FROM t WHERE b = ?", e);
 *     db_bind_u64 (st, 0, b);
 *     while ((rc = db_step (st, e)) == 1)
 *         use (db_column_text (st, 0));
 *     db_reset (st);
 *
 * Rows are streamed in constant memory. On MySQL a statement whose rows are
 * not read to the end occupies the connection until db_reset(): prepare and run
 * nothing else on it meanwhile, take a second connection.
 */
db_statement_t *db_prepare (db_t *db, const char *sql, gl_error_t *error);

/*
 * The same for a statement without parameters that is run once and returns
 * many rows. On MySQL it uses the text protocol, which reads rows fastest: the
 * columns lie in the network buffer and are not copied. Nothing is sent before
 * the first db_step().
 */
db_statement_t *db_query (db_t *db, const char *sql, gl_error_t *error);
/* Accepts NULL. */
void db_finalize (db_statement_t *statement);

void db_bind_i64 (db_statement_t *statement, unsigned at, int64_t value);
void db_bind_u64 (db_statement_t *statement, unsigned at, uint64_t value);
/* NULL binds NULL. */
void db_bind_text (db_statement_t *statement, unsigned at, const char *text);
void db_bind_blob (db_statement_t *statement, unsigned at, const void *data,
                   size_t length);

/* 1: a row is there; 0: no more rows (or none at all: INSERT and the like have
 * been done); -1: error. After 0 or -1 the statement is reset, and the next
 * db_step() runs it again with the parameters that are bound. */
int db_step (db_statement_t *statement, gl_error_t *error);
/* Give up the remaining rows and forget the parameters. Accepts NULL. */
void db_reset (db_statement_t *statement);
/* For an INSERT and the like: step, reset, 0 or -1. */
int db_run (db_statement_t *statement, gl_error_t *error);

/* The current row. Pointers are borrowed until the next db_step() or
 * db_reset() of this statement. A NULL column is 0, NULL, length 0. Text is
 * NUL-terminated; it may hold NULs of its own, so mind the length. A column
 * that is text reads as the integer that its digits spell, else as 0. */
unsigned db_column_count (const db_statement_t *statement);
/* Yours; of a db_query() once it has a row. */
char *db_column_name (const db_statement_t *statement, unsigned at);
bool db_column_is_null (const db_statement_t *statement, unsigned at);
int64_t db_column_i64 (const db_statement_t *statement, unsigned at);
uint64_t db_column_u64 (const db_statement_t *statement, unsigned at);
const char *db_column_text (const db_statement_t *statement, unsigned at);
size_t db_column_length (const db_statement_t *statement, unsigned at);

/* NAME as an identifier in SQL, quoted as the engine wants it, for names that
 * come from a database (slurmdbd's tables carry the cluster's name). Yours to
 * free. */
char *db_quote_identifier (const db_t *db, const char *name);

#endif /* !GL_STORE_DB_H */
