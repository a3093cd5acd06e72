/*
 * slurmdbd_ids.h: what the numbers in slurmdbd's rows stand for: a dictionary
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
    size_t size;
    buffer_t texts;
} ids_t;

#define IDS_INIT                \
    {                           \
        NULL, 0, 0, BUFFER_INIT \
    }

/* Read a query of (id, text[, text]) that is ordered by id. Of several rows of
 * one id the last one stands. */
int ids_load (ids_t *ids, db_t *db, const char *sql, gl_error_t *error);
/* False if there is no such id. Either result may be NULL; texts are borrowed
 * until ids_done() and are NULL where the database has NULL. */
bool ids_find (const ids_t *ids, uint64_t id, const char **ret_first,
               const char **ret_second);
void ids_done (ids_t *ids);

#endif /* !GL_SLURMDBD_IDS_H */
