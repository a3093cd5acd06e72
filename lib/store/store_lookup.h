/*
 * store_lookup.h: rows that others share, by id, kept in memory.
 *
 * A walk over millions of segments finds the same few parties, shapes and texts
 * again and again: if a lookup in memory is cheaper than a join, they are read
 * once. Each lookup is a table of fixed size; a new entry replaces an old one.
 */
#ifndef GL_STORE_LOOKUP_H
#define GL_STORE_LOOKUP_H

#include "store/row.h"

/* Of a column that is a text or a part. Close it before the connection. NULL
 * with an error. */
lookup_t *lookup_open (db_t *db, const column_t *column, gl_error_t *error);
/* Accepts NULL. */
void lookup_close (lookup_t *lookup);

/* Sets in `row` what the id stands for; texts are borrowed until the next call.
 * Unknown for the id 0. -1 with an error, also where there is no such row. */
int lookup_set (lookup_t *lookup, uint64_t id, void *row, gl_error_t *error);

#endif /* !GL_STORE_LOOKUP_H */
