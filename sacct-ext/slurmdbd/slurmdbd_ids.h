/*
 * slurmdbd_ids.h: what the ids in slurmdbd's rows mean: a dictionary
 * of id -> up to two texts, read at once and looked up often.
 *
 * Memory: 24 bytes and the texts for each id. One thread.
 */
#ifndef GL_SLURMDBD_IDS_H
#define GL_SLURMDBD_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "store/db.h"

typedef struct {
    struct ids_entry *entries; /* ascending by id */
    size_t count;
    buffer_t texts;
} ids_t;

#define IDS_INIT             \
    {                        \
        NULL, 0, BUFFER_INIT \
    }

/* Read rows of (id, text[, text]) that are ordered by id, and free them; NULL
 * is a query that failed. The last of several rows of one id counts. */
int ids_load (ids_t *ids, db_statement_t *rows, gl_error_t *error);
/* False if there is no such id. Either result may be NULL; texts are borrowed
 * until ids_done() and are NULL where the database has NULL. */
bool ids_find (const ids_t *ids, uint64_t id, const char **ret_first,
               const char **ret_second);
void ids_done (ids_t *ids);

#endif /* !GL_SLURMDBD_IDS_H */
