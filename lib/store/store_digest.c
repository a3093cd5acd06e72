/* Unchanged rows of slurmdbd's database, which a reader need not write again.
 */
#include "base/memory.h"
#include "store/span.h"
#include "store/store_private.h"

struct seen_row {
    store_digest_t seen;
    int64_t as_of;
};

static const column_t columns[] = {
    COLUMN_AS ("cluster", CLUSTER, struct seen_row, seen, KEY),
    COLUMN_AS ("time_start", I64, store_digest_t, start, KEY),
    COLUMN_AS ("time_end", I64, store_digest_t, end),
    COLUMN (U64, store_digest_t, segments),
    COLUMN_AS ("key_sum", U64, store_digest_t, keys),
    COLUMN_AS ("fact_sum", U64, store_digest_t, facts),
    COLUMN_AS ("observed_at", I64, struct seen_row, as_of, HIDDEN),
};
static const row_type_t seen_rows = ROW_TYPE ("seen", columns, store_digest_t);

int store_get_digest (store_t *store, const char *cluster, int64_t *ret_as_of,
                      store_digest_t **ret_seen, size_t *ret_count,
                      gl_error_t *error)
{
    *ret_seen = NULL;
    *ret_count = 0;
    if (store_number (store,
                      "SELECT max(s.observed_at) FROM seen s JOIN cluster c "
                      "ON c.id = s.cluster WHERE c.name = ?",
                      ARGS (as_text (cluster)), ret_as_of, error)
        < 0)
        return -1;
    return row_list (store, &seen_rows,
                     "JOIN cluster c ON c.id = t.cluster WHERE c.name = ? "
                     "ORDER BY t.time_start",
                     ARGS (as_text (cluster)), ret_seen, ret_count, error);
}

static int forget_seen (store_t *store, const struct cluster_entry *c,
                        gl_error_t *error)
{
    return store_run (store, "DELETE FROM seen WHERE cluster = ?",
                      ARGS (as_u64 (c->id)), error);
}

int store_put_digest (store_t *store, const char *cluster, int64_t as_of,
                      const store_digest_t *seen, size_t count,
                      gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, cluster, error);

    if (!c || forget_seen (store, c, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct seen_row row = {seen[i], as_of};
        if (row_add (store, &seen_rows, c->id, &row, error) < 0)
            return -1;
    }
    c->settled = false;
    return 0;
}

/* One statement for each run of adjacent stretches: it looks at all rows. */
static int settle (store_t *store, const struct cluster_entry *c, int64_t as_of,
                   int64_t start, int64_t end, gl_error_t *error)
{
    if (segments_flush (store, error) < 0)
        return -1;
    /* a row that had lost its GRES has still lost them */
    return store_run (
        store,
        "UPDATE segment SET observed_at = ?, gres_lost = CASE WHEN "
        "gres_lost IS NULL THEN NULL ELSE ? END WHERE cluster = ? "
        "AND source = 3 AND gone IS NULL AND observed_at < ? "
        "AND span IN " SPAN_ALL " AND time_end >= ? "
        "AND time_end < ?",
        ARGS (as_i64 (as_of), as_i64 (as_of), as_u64 (c->id), as_i64 (as_of),
              as_i64 (start), as_i64 (end)),
        error);
}

static int settle_runs (store_t *store, const struct cluster_entry *c,
                        int64_t as_of, const store_digest_t *seen, size_t count,
                        gl_error_t *error)
{
    size_t first = 0;

    for (size_t i = 1; i <= count; i++) {
        if (i < count && seen[i].start == seen[i - 1].end)
            continue;
        if (settle (store, c, as_of, seen[first].start, seen[i - 1].end, error)
            < 0)
            return -1;
        first = i;
    }
    return forget_seen (store, c, error);
}

int store_settle_digest (store_t *store, const char *cluster, gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, cluster, error);
    store_digest_t *seen;
    int64_t as_of;
    size_t count;
    int rc;

    if (!c)
        return -1;
    if (c->settled)
        return 0;
    if (store_get_digest (store, cluster, &as_of, &seen, &count, error) < 0)
        return -1;
    rc = count ? settle_runs (store, c, as_of, seen, count, error) : 0;
    free (seen);
    c->settled = rc == 0;
    return rc;
}
