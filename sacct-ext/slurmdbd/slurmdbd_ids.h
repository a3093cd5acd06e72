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
#include "gres/tres.h"
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

/* --- TRES texts --------------------------------------------------------- */

/*
 * TRES texts of a database, parsed once: a month of a million
 * jobs has some thousand different ones.
 *
 * Memory: bounded by TRES_CACHE_SIZE texts of TRES_CACHED_MAX bytes each; a
 * longer one is parsed every time. One thread.
 */

#define TRES_CACHE_SIZE 4096
#define TRES_CACHED_MAX 512

typedef struct {
    const char *gres; /* canonical; "" where there is none */
    uint64_t cpus;    /* these three: or TRES_UNKNOWN */
    uint64_t memory_mb;
    uint64_t nodes;
    bool unreadable;        /* no TRES text: all of the above is unknown */
    bool unresolved;        /* it has an id that tres_table does not know */
    bool gpu_named;         /* by gpu, shard or mps, whatever the count */
    bool gpu_without_count; /* by one of these, with Slurm's "no value" */
    bool contradicting;     /* more GPUs by type than in total */
} tres_facts_t;

typedef struct {
    const ids_t *names; /* TRES id -> type, name */
    tres_t parser;
    struct tres_cached *slots;
    tres_facts_t last; /* of a text that is too long to keep */
    bool gpu_named;
} tres_cache_t;

/* `names` stays the caller's and must outlive the cache. */
void tres_cache_init (tres_cache_t *cache, const ids_t *names);
void tres_cache_done (tres_cache_t *cache);
/* NULL counts as "". Borrowed until the next call on this cache. */
const tres_facts_t *tres_cache_get (tres_cache_t *cache, const char *text);

#endif /* !GL_SLURMDBD_IDS_H */
