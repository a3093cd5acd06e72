/*
 * schema.h: the tables of a store, which sql/sqlite.sql, sql/sqlite-ledger.sql
 * and sql/mysql.sql describe and which are built in: creates them, and checks
 * whether a database has them. SQLite makes all of them in one transaction.
 * MySQL commits every statement on its own, so its script can be run again from
 * its start.
 *
 * Views of closed months (sql/sqlite_views.sql, sql/mysql_views.sql) are for
 * dashboards, and nothing of gpuledger reads them. A store has all of them or none.
 */
#ifndef GL_STORE_SCHEMA_H
#define GL_STORE_SCHEMA_H

#include "base/error.h"
#include "store/db.h"

/* The statements of the script of such a database, in their order. */
typedef int (*schema_statement_f) (const char *sql, void *arg,
                                   gl_error_t *error);
int schema_each (const db_t *db, schema_statement_f callback, void *arg,
                 gl_error_t *error);

/* Creates the tables; existing tables are not changed. ret_made may be NULL. -1
 * also if the database belongs to another program or has another schema. */
int schema_make (db_t *db, bool *ret_made, gl_error_t *error);

/* In a database that has the tables: make the views that are missing. *ret_made:
 * there were any. Of SQLite the ledger file. */
#define SCHEMA_VIEW_NAME 32
#define SCHEMA_VIEW_DIGEST "gpuledger.view." /* and its name, in `meta` */
int schema_make_views (db_t *db, bool *ret_made, gl_error_t *error);

/* The views that the database is to have, with their statements: if one is there,
 * all; else none. */
typedef void (*schema_view_f) (const char *name, const char *sql, void *arg);
int schema_each_view (db_t *db, schema_view_f callback, void *arg,
                      gl_error_t *error);

/* -1 unless the database has the schema of this program. */
int schema_expect (db_t *db, gl_error_t *error);

/*
 * Whether the database has these tables and nothing else, a sentence for each
 * difference; and the engine's own check of its files. A trigger, a view or an
 * index that somebody added, a table whose CHECK was taken away or a column of
 * another type can change what is read or written while every row looks right.
 * -1: it could not be compared.
 */
typedef void (*schema_problem_f) (const char *text, void *arg);
int schema_check (db_t *db, schema_problem_f callback, void *arg,
                  gl_error_t *error);

#endif /* !GL_STORE_SCHEMA_H */
