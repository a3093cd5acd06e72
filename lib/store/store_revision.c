/* Revisions: what was counted otherwise before. */
#include "base/memory.h"
#include "store/span.h"
#include "store/store_private.h"

/* Of slurmdbd's segments those that ended in the window and have not been seen
 * since: each class has its place in the index. */
#define UNSEEN                                                               \
    "WHERE cluster = ? AND source = 3 AND gone IS NULL AND observed_at < ? " \
    "AND span IN " SPAN_ALL " AND time_end >= ? "                            \
    "AND time_end < CASE WHEN ? = 0 THEN 9223372036854775807 ELSE ? END "
#define UNSEEN_ARGS \
    as_u64 (c->id), as_i64 (as_of), as_i64 (from), as_i64 (to), as_i64 (to)

int store_unseen (store_t *store, const char *cluster, int64_t from,
                  int64_t to, int64_t as_of, uint64_t *at, uint64_t *ret_ids,
                  size_t size, size_t *ret_count, gl_error_t *error)
{
    struct cluster_entry *c = store_cluster_find (store, cluster, error);
    db_statement_t *st;
    size_t count = 0;
    int rc = 0;

    if (!c || segments_flush (store, error) < 0)
        return -1;
    st = store_ask (store,
                    "SELECT DISTINCT id_job FROM segment " UNSEEN
                    "AND id_job > ? ORDER BY id_job",
                    ARGS (UNSEEN_ARGS, as_u64 (*at)), error);
    if (!st)
        return -1;
    while (count < size && (rc = db_step (st, error)) == 1)
        ret_ids[count++] = *at = db_column_u64 (st, 0);
    db_reset (st);
    *ret_count = count;
    return rc < 0 ? -1 : 0;
}

int store_put_deleted (store_t *store, const char *cluster, int64_t from,
                       int64_t to, int64_t as_of, uint64_t *ret_count,
                       gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, cluster, error);

    if (!c || segments_flush (store, error) < 0
        || store_run (store, "UPDATE segment SET gone = ? " UNSEEN,
                      ARGS (as_i64 (as_of), UNSEEN_ARGS), error)
               < 0)
        return -1;
    *ret_count = db_affected (store->db);
    return 0;
}

static const column_t columns[] = {
    COLUMN (CLUSTER, revision_t, cluster, KEY),
    COLUMN (U64, revision_t, id_job, KEY),
    COLUMN (I64, revision_t, time_submit, KEY),
    COLUMN (I64, revision_t, seen, KEY),
    COLUMN (I64, struct revision_row, number,
            .flags = COLUMN_KEY | COLUMN_HIDDEN),
    COLUMN (U32, revision_t, kind),
    COLUMN (U32, revision_t, source),
    COLUMN_AS ("value_before", NAME, revision_t, before),
    COLUMN_AS ("value_after", NAME, revision_t, after),
};
const row_type_t revision_rows = ROW_TYPE ("revision", columns, revision_t);

int revision_add (store_t *store, uint64_t cluster, const revision_t *r,
                  gl_error_t *error)
{
    struct revision_row row = {*r, 0};

    if (store_number (store,
                      "SELECT max(number) FROM revision WHERE cluster = ? "
                      "AND id_job = ? AND time_submit = ? AND seen = ?",
                      ARGS (as_u64 (cluster), as_u64 (r->id_job),
                            as_i64 (r->time_submit), as_i64 (r->seen)),
                      &row.number, error)
        < 0)
        return -1;
    row.number++;
    return row_add (store, &revision_rows, cluster, &row, error);
}

/* What is gone now is a column of the segment: it becomes a row between these.
 */
static const struct walk_plan plan = {
    .rows = &revision_rows,
    .from = "(SELECT cluster, id_job, time_submit, seen, number, kind, source, "
            "value_before, value_after FROM revision UNION ALL "
            "SELECT cluster, id_job, time_submit, gone, 0, 2, 3, NULL, NULL "
            "FROM segment WHERE gone IS NOT NULL)",
    .jobs = "t.id_job",
    .period = "t.seen >= ? AND t.seen < ?",
    .period_binds = "se",
};
const struct iter_class revision_iter
    = {.fact_size = sizeof (revision_t), .plan = &plan};
