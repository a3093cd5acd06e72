/* The way back from a moment that nobody can know of yet. */
#include <string.h>

#include "base/memory.h"
#include "store/merge.h"
#include "store/store_private.h"

/* --- exceptions of segments: read all, then write ------------------------- */

struct fill {
    uint64_t id_job;
    int64_t time_submit;
    uint8_t bytes[MERGE_FILL_MAX];
    size_t length;
};

struct fills {
    struct fill *fill;
    size_t count;
    size_t size;
};

static void take_fill (struct fills *fills, const db_statement_t *row,
                       int64_t as_of)
{
    struct fill fill = {.id_job = db_column_u64 (row, 0),
                        .time_submit = db_column_i64 (row, 1),
                        .length = db_column_length (row, 2)};

    /* a longer one is damaged, as whoever reads the segment will say */
    if (fill.length > sizeof (fill.bytes))
        return;
    memcpy (fill.bytes, db_column_text (row, 2), fill.length);
    if (!merge_fill_set_back (fill.bytes, fill.length, as_of))
        return;
    if (fills->count == fills->size) {
        fills->size = fills->size ? 2 * fills->size : 64;
        fills->fill
            = xreallocarray (fills->fill, fills->size, sizeof (*fills->fill));
    }
    fills->fill[fills->count++] = fill;
}

static int read_fills (store_t *store, uint64_t cluster, int64_t as_of,
                       struct fills *fills, gl_error_t *error)
{
    db_statement_t *st
        = store_ask (store,
                     "SELECT id_job, time_submit, fill FROM segment "
                     "WHERE cluster = ? AND fill IS NOT NULL",
                     ARGS (as_u64 (cluster)), error);
    int rc;

    if (!st)
        return -1;
    while ((rc = db_step (st, error)) == 1)
        take_fill (fills, st, as_of);
    db_reset (st);
    return rc;
}

static int write_fills (store_t *store, uint64_t cluster,
                        const struct fills *fills, gl_error_t *error)
{
    for (size_t i = 0; i < fills->count; i++) {
        const struct fill *f = &fills->fill[i];
        if (store_run (store,
                       "UPDATE segment SET fill = ? WHERE cluster = ? "
                       "AND id_job = ? AND time_submit = ?",
                       ARGS (as_blob (f->bytes, f->length), as_u64 (cluster),
                             as_u64 (f->id_job), as_i64 (f->time_submit)),
                       error)
            < 0)
            return -1;
    }
    return 0;
}

static int set_back_segments (store_t *store, uint64_t cluster, int64_t as_of,
                              gl_error_t *error)
{
    int64_t before = as_of - MERGE_SET_BACK;
    struct fills fills = {NULL, 0, 0};
    /* an open one counts up to when it was seen: nobody knows until when */
    int rc = store_run (
        store,
        "UPDATE segment SET gres_lost = CASE WHEN gres_lost > ? THEN ? ELSE "
        "gres_lost END, gone = CASE WHEN gone > ? THEN NULL ELSE gone END, "
        "observed_at = CASE WHEN observed_at <= ? THEN observed_at "
        "WHEN time_end = 0 AND time_start BETWEEN 1 AND ? THEN time_start "
        "ELSE ? END WHERE cluster = ? "
        "AND (observed_at > ? OR gres_lost > ? OR gone > ?)",
        ARGS (as_i64 (as_of), as_i64 (before + 1), as_i64 (as_of),
              as_i64 (as_of), as_i64 (before), as_i64 (before),
              as_u64 (cluster), as_i64 (as_of), as_i64 (as_of), as_i64 (as_of)),
        error);

    if (rc == 0)
        rc = read_fills (store, cluster, as_of, &fills, error);
    if (rc == 0)
        rc = write_fills (store, cluster, &fills, error);
    free (fills.fill);
    return rc;
}

/* --- revisions ------------------------------------------------------------ */

static int set_back_revisions (store_t *store, uint64_t cluster, int64_t as_of,
                               gl_error_t *error)
{
    struct revision_row *later;
    size_t count;
    int rc = row_list (store, &revision_rows,
                       "WHERE t.cluster = ? AND t.seen > ? "
                       "ORDER BY t.id_job, t.time_submit, t.seen, t.number",
                       ARGS (as_u64 (cluster), as_i64 (as_of)), &later, &count,
                       error);

    if (rc == 0)
        rc = store_run (store,
                        "DELETE FROM revision WHERE cluster = ? AND seen > ?",
                        ARGS (as_u64 (cluster), as_i64 (as_of)), error);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        later[i].revision.seen = as_of;
        rc = revision_add (store, cluster, &later[i].revision, error);
    }
    row_list_free (&revision_rows, later, count);
    return rc;
}

/* --- the cluster ------------------------------------------------------------ */

static int set_back_cluster (store_t *store, struct cluster_entry *c,
                             int64_t as_of, gl_error_t *error)
{
    c->as_of = as_of;
    c->dirty = false;
    return store_run (
        store, "UPDATE cluster SET as_of = ? WHERE id = ? AND as_of > ?",
        ARGS (as_i64 (as_of), as_u64 (c->id), as_i64 (as_of)), error);
}

int store_set_back (store_t *store, const char *cluster, int64_t as_of,
                    gl_error_t *error)
{
#define BACK(TABLE)                                                           \
    "UPDATE " TABLE " SET observed_at = ? WHERE cluster = ? AND observed_at " \
                    "> ?"
    static const char *const others[]
        = {BACK ("event"), BACK ("reservation"), BACK ("account")};
    struct cluster_entry *c = store_cluster (store, cluster, error);
    int64_t known;

    if (!c || store_as_of (store, cluster, &known, error) < 0)
        return -1;
    c->reread = as_of;
    if (known <= as_of)
        return 0;
    if (segments_flush (store, error) < 0
        || store_settle_digest (store, cluster, error) < 0
        || store_forget_rollups (store, cluster, 0, 0, error) < 0
        || set_back_segments (store, c->id, as_of, error) < 0
        || set_back_revisions (store, c->id, as_of, error) < 0)
        return -1;
    for (size_t i = 0; i < GL_ARRAY_SIZE (others); i++)
        if (store_run (store, others[i],
                       ARGS (as_i64 (as_of - MERGE_SET_BACK), as_u64 (c->id),
                             as_i64 (as_of)),
                       error)
            < 0)
            return -1;
    return set_back_cluster (store, c, as_of, error);
}

int store_lower_as_of (store_t *store, const char *cluster, int64_t as_of,
                       gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, cluster, error);

    if (!c || store_forget_rollups (store, cluster, 0, 0, error) < 0)
        return -1;
    return set_back_cluster (store, c, as_of, error);
}
