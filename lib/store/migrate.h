/*
 * migrate.h: the schema of a store: sql/ENGINE/NNNN.sql, built in, applied in
 * order. SQLite applies them in one transaction; MySQL commits every statement
 * on its own, so its scripts can be run again from their start.
 */
#ifndef GL_STORE_MIGRATE_H
#define GL_STORE_MIGRATE_H

#include "base/error.h"
#include "store/db.h"

unsigned migrate_newest (void);

/* The schema of a database: 0 where there is no store (ret_partial: one was
 * begun). -1 also where it belongs to another program. */
int migrate_schema (db_t *db, unsigned *ret_schema, bool *ret_partial,
                    gl_error_t *error);

/* The statements that make the newest schema, in their order. */
typedef int (*migrate_f) (const char *sql, void *arg, gl_error_t *error);
int migrate_each (db_engine_t engine, migrate_f callback, void *arg,
                  gl_error_t *error);

/* Up to the newest schema. */
int migrate_apply (db_t *db, gl_error_t *error);

#endif /* !GL_STORE_MIGRATE_H */
