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
    db_statement_t *st = store_statement (store, SQL_BACK_FILLS, error);
    int rc;

    if (!st)
        return -1;
    db_bind_u64 (st, 0, cluster);
    while ((rc = db_step (st, error)) == 1)
        take_fill (fills, st, as_of);
    db_reset (st);
    return rc;
}

static int write_fills (store_t *store, uint64_t cluster,
                        const struct fills *fills, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_BACK_FILL, error);

    if (!st)
        return -1;
    for (size_t i = 0; i < fills->count; i++) {
        const struct fill *f = &fills->fill[i];
        db_bind_blob (st, 0, f->bytes, f->length);
        db_bind_u64 (st, 1, cluster);
        db_bind_u64 (st, 2, f->id_job);
        db_bind_i64 (st, 3, f->time_submit);
        if (db_run (st, error) < 0)
            return -1;
    }
    return 0;
}

static int set_back_segments (store_t *store, uint64_t cluster, int64_t as_of,
                              gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_BACK_SEGMENTS, error);
    int64_t before = as_of - MERGE_SET_BACK;
    struct fills fills = {NULL, 0, 0};
    int rc;

    if (!st)
        return -1;
    db_bind_i64 (st, 0, as_of);
    db_bind_i64 (st, 1, before + 1);
    db_bind_i64 (st, 2, as_of);
    db_bind_i64 (st, 3, as_of);
    db_bind_i64 (st, 4, before);
    db_bind_i64 (st, 5, before);
    db_bind_u64 (st, 6, cluster);
    db_bind_i64 (st, 7, as_of);
    db_bind_i64 (st, 8, as_of);
    db_bind_i64 (st, 9, as_of);
    rc = db_run (st, error);
    if (rc == 0)
        rc = read_fills (store, cluster, as_of, &fills, error);
    if (rc == 0)
        rc = write_fills (store, cluster, &fills, error);
    free (fills.fill);
    return rc;
}

/* --- revisions ------------------------------------------------------------ */

struct revisions {
    revision_t *revision; /* with texts of their own */
    size_t count;
};

static void take_revision (struct revisions *all, const db_statement_t *row,
                           int64_t as_of)
{
    const char *before = db_column_text (row, 4);
    const char *after = db_column_text (row, 5);

    all->revision = xreallocarray (all->revision, all->count + 1,
                                   sizeof (*all->revision));
    all->revision[all->count++] = (revision_t){
        .id_job = db_column_u64 (row, 0),
        .time_submit = db_column_i64 (row, 1),
        .seen = as_of,
        .kind = (revision_kind_t)db_column_u64 (row, 2),
        .source = (segment_source_t)db_column_u64 (row, 3),
        .before = before ? xstrdup (before) : NULL,
        .after = after ? xstrdup (after) : NULL,
    };
}

static int read_revisions (store_t *store, uint64_t cluster, int64_t as_of,
                           struct revisions *all, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_BACK_REVISIONS, error);
    int rc;

    if (!st)
        return -1;
    db_bind_u64 (st, 0, cluster);
    db_bind_i64 (st, 1, as_of);
    while ((rc = db_step (st, error)) == 1)
        take_revision (all, st, as_of);
    db_reset (st);
    return rc;
}

static int set_back_revisions (store_t *store, uint64_t cluster, int64_t as_of,
                               gl_error_t *error)
{
    db_statement_t *forget = store_statement (store, SQL_BACK_FORGET, error);
    struct revisions all = {NULL, 0};
    int rc = -1;

    if (forget)
        rc = read_revisions (store, cluster, as_of, &all, error);
    if (rc == 0) {
        db_bind_u64 (forget, 0, cluster);
        db_bind_i64 (forget, 1, as_of);
        rc = db_run (forget, error);
    }
    for (size_t i = 0; i < all.count; i++) {
        if (rc == 0)
            rc = revision_add (store, cluster, &all.revision[i], error);
        free ((char *)all.revision[i].before);
        free ((char *)all.revision[i].after);
    }
    free (all.revision);
    return rc;
}

/* --- the cluster ------------------------------------------------------------ */

static int set_back_seen (store_t *store, sql_t sql, uint64_t cluster,
                          int64_t as_of, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, sql, error);

    if (!st)
        return -1;
    db_bind_i64 (st, 0, as_of - MERGE_SET_BACK);
    db_bind_u64 (st, 1, cluster);
    db_bind_i64 (st, 2, as_of);
    return db_run (st, error);
}

static int set_back_cluster (store_t *store, struct cluster_entry *c,
                             int64_t as_of, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_BACK_CLUSTER, error);

    if (!st)
        return -1;
    db_bind_i64 (st, 0, as_of);
    db_bind_u64 (st, 1, c->id);
    db_bind_i64 (st, 2, as_of);
    c->as_of = as_of;
    c->dirty = false;
    return db_run (st, error);
}

int store_set_back (store_t *store, const char *cluster, int64_t as_of,
                    gl_error_t *error)
{
    static const sql_t others[]
        = {SQL_BACK_EVENTS, SQL_BACK_RESERVATIONS, SQL_BACK_ACCOUNTS};
    struct cluster_entry *c = store_cluster (store, cluster, error);
    int64_t known;
    int rc;

    if (!c || store_as_of (store, cluster, &known, error) < 0)
        return -1;
    c->reread = as_of;
    if (known <= as_of)
        return 0;
    if (segments_flush (store, error) < 0
        || store_settle_seen (store, cluster, error) < 0
        || store_forget_rollups (store, cluster, 0, 0, error) < 0
        || set_back_segments (store, c->id, as_of, error) < 0
        || set_back_revisions (store, c->id, as_of, error) < 0)
        return -1;
    for (size_t i = 0; i < GL_ARRAY_SIZE (others); i++) {
        rc = set_back_seen (store, others[i], c->id, as_of, error);
        if (rc < 0)
            return -1;
    }
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
