/*
 * schema_check.h: whether a database has the schema that gpuledger makes, and
 * nothing else.
 *
 * A trigger, a view or an index that somebody added, a table whose CHECK was
 * taken away or a column of another type can change what is read or written
 * while every row looks right. What is to be there is computed from the same
 * scripts (sql/ENGINE) that made it: SQLite runs them in memory, and for MySQL,
 * where that wants rights that gpuledger does not have, their text is read.
 */
#ifndef GL_STORE_SCHEMA_CHECK_H
#define GL_STORE_SCHEMA_CHECK_H

#include "base/error.h"
#include "store/db.h"

/* A sentence for each difference. */
typedef void (*schema_check_f) (const char *text, void *arg);
/* -1: it could not be compared. Also runs the engine's own check of its files.
 */
int schema_check (db_t *db, schema_check_f callback, void *arg,
                  gl_error_t *error);

#endif /* !GL_STORE_SCHEMA_CHECK_H */
