/*
 * store_lookup.h: rows of what is interned, by id, kept in memory.
 *
 * A walk over millions of segments finds the same few parties, shapes and texts
 * again and again: where a look into memory is cheaper than a join, they are
 * read once. Each lookup is a table of fixed size; what was read last stands.
 */
#ifndef GL_STORE_LOOKUP_H
#define GL_STORE_LOOKUP_H

#include "store/store_private.h"

/* A row: its texts, then its numbers. Borrowed until the next call. */
#define LOOKUP_TEXTS 6
#define LOOKUP_NUMBERS 5
typedef struct {
    const char *text[LOOKUP_TEXTS]; /* NULL: unknown */
    uint64_t number[LOOKUP_NUMBERS];
    bool known[LOOKUP_NUMBERS];
} lookup_row_t;

typedef struct lookup lookup_t;

/* `sql` selects the row of one id, texts first. Close it before the
 * connection. NULL with an error. */
lookup_t *lookup_open (db_t *db, const char *sql, unsigned texts,
                       gl_error_t *error);
/* Accepts NULL. */
void lookup_close (lookup_t *lookup);

/* All NULL and unknown for the id 0. NULL with an error, also where there is no
 * such row. */
const lookup_row_t *lookup_get (lookup_t *lookup, uint64_t id,
                                gl_error_t *error);

#endif /* !GL_STORE_LOOKUP_H */
