/* Revisions: what was counted otherwise before. */
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

/* Rows of the cluster with a time_seen before as_of, of slurmdbd, in the
 * window: the parameters of the statements that say so. */
static unsigned bind_window (db_statement_t *st, unsigned at, uint64_t cluster,
                             int64_t from, int64_t to, int64_t as_of)
{
    db_bind_u64 (st, at++, cluster);
    db_bind_i64 (st, at++, as_of);
    db_bind_i64 (st, at++, from);
    db_bind_i64 (st, at++, to);
    db_bind_i64 (st, at++, to);
    return at;
}

int store_unseen (store_t *store, const char *cluster, int64_t from,
                  int64_t to, int64_t as_of, uint64_t *at, uint64_t *ret_ids,
                  size_t size, size_t *ret_count, gl_error_t *error)
{
    struct cluster_entry *c = store_cluster_find (store, cluster, error);
    db_statement_t *st = store_statement (store, SQL_SEGMENT_UNSEEN, error);
    size_t count = 0;
    int rc = 0;

    if (!c || !st || segments_flush (store, error) < 0)
        return -1;
    bind_window (st, 0, c->id, from, to, as_of);
    db_bind_u64 (st, 5, *at);
    while (count < size && (rc = db_step (st, error)) == 1)
        ret_ids[count++] = *at = db_column_u64 (st, 0);
    db_reset (st);
    *ret_count = count;
    return rc < 0 ? -1 : 0;
}

int store_put_gone (store_t *store, const char *cluster, int64_t from,
                    int64_t to, int64_t as_of, uint64_t *ret_count,
                    gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, cluster, error);
    db_statement_t *st = store_statement (store, SQL_SEGMENT_GONE, error);

    if (!c || !st || segments_flush (store, error) < 0)
        return -1;
    db_bind_i64 (st, 0, as_of);
    bind_window (st, 1, c->id, from, to, as_of);
    if (db_run (st, error) < 0)
        return -1;
    *ret_count = db_affected (store->db);
    return 0;
}

int revision_add (store_t *store, uint64_t cluster, const revision_t *r,
                  gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_REVISION_ADD, error);

    if (!st)
        return -1;
    db_bind_u64 (st, 0, cluster);
    db_bind_u64 (st, 1, r->id_job);
    db_bind_i64 (st, 2, r->time_submit);
    db_bind_i64 (st, 3, r->seen);
    db_bind_u64 (st, 4, r->kind);
    db_bind_u64 (st, 5, r->source);
    db_bind_text (st, 6, r->before);
    db_bind_text (st, 7, r->after);
    db_bind_u64 (st, 8, cluster);
    db_bind_u64 (st, 9, r->id_job);
    db_bind_i64 (st, 10, r->time_submit);
    db_bind_i64 (st, 11, r->seen);
    return db_run (st, error);
}

struct store_revision_iter {
    walk_t walk;
};

/* What is gone now stands beside the segment, and is put in its place. */
static const struct walk_plan plan = {
    .select = "SELECT id_job, time_submit, seen, kind, source, value_before, "
              "value_after FROM (SELECT cluster, id_job, time_submit, seen, "
              "number, kind, source, value_before, value_after FROM revision "
              "UNION ALL SELECT cluster, id_job, time_submit, gone, 0, 2, 3, "
              "NULL, NULL FROM segment WHERE gone IS NOT NULL) AS revisions",
    .where = "cluster = ? AND id_job BETWEEN ? AND ?",
    .where_binds = "clh",
    .period = "seen >= ? AND seen < ?",
    .period_binds = "se",
    .order = "id_job, time_submit, seen, number",
};

store_revision_iter_t *store_revision_iter_open (store_t *store,
                                                 const store_query_t *query,
                                                 gl_error_t *error)
{
    store_revision_iter_t *iter = xcalloc (1, sizeof (*iter));

    if (walk_open (&iter->walk, store, query, &plan, error) < 0) {
        free (iter);
        return NULL;
    }
    return iter;
}

int store_revision_iter_next (store_revision_iter_t *iter, revision_t *ret,
                              gl_error_t *error)
{
    const db_statement_t *st = iter->walk.st;
    const char *cluster;
    int rc = walk_next (&iter->walk, &cluster, error);

    if (rc == 1)
        *ret = (revision_t){
            .cluster = cluster,
            .id_job = db_column_u64 (st, 0),
            .time_submit = db_column_i64 (st, 1),
            .seen = db_column_i64 (st, 2),
            .kind = (revision_kind_t)db_column_u64 (st, 3),
            .source = (segment_source_t)db_column_u64 (st, 4),
            .before = db_column_text (st, 5),
            .after = db_column_text (st, 6),
        };
    return rc;
}

void store_revision_iter_close (store_revision_iter_t *iter)
{
    if (iter) {
        walk_close (&iter->walk);
        free (iter);
    }
}
