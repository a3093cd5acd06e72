/* What a reader of slurmdbd's database need not put again. */
#include "base/memory.h"
#include "store/store_private.h"

static int read_seen (db_statement_t *st, int64_t *ret_as_of,
                      store_seen_t **ret_seen, size_t *ret_count,
                      gl_error_t *error)
{
    size_t size = 0;
    int rc;

    while ((rc = db_step (st, error)) == 1) {
        if (*ret_count == size) {
            size = size ? 2 * size : 1024;
            *ret_seen = xreallocarray (*ret_seen, size, sizeof (**ret_seen));
        }
        (*ret_seen)[(*ret_count)++] = (store_seen_t){
            .start = db_column_i64 (st, 0),
            .end = db_column_i64 (st, 1),
            .segments = db_column_u64 (st, 3),
            .keys = db_column_u64 (st, 4),
            .facts = db_column_u64 (st, 5),
        };
        *ret_as_of = db_column_i64 (st, 2);
    }
    db_reset (st);
    return rc;
}

int store_get_seen (store_t *store, const char *cluster, int64_t *ret_as_of,
                    store_seen_t **ret_seen, size_t *ret_count,
                    gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SEEN_GET, error);

    *ret_as_of = 0;
    *ret_seen = NULL;
    *ret_count = 0;
    if (!st)
        return -1;
    db_bind_text (st, 0, cluster);
    if (read_seen (st, ret_as_of, ret_seen, ret_count, error) == 0)
        return 0;
    free (*ret_seen);
    *ret_seen = NULL;
    return -1;
}

static int forget_seen (store_t *store, const struct cluster_entry *c,
                        gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SEEN_FORGET, error);

    if (!st)
        return -1;
    db_bind_u64 (st, 0, c->id);
    return db_run (st, error);
}

int store_put_seen (store_t *store, const char *cluster, int64_t as_of,
                    const store_seen_t *seen, size_t count, gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, cluster, error);
    db_statement_t *st = store_statement (store, SQL_SEEN_PUT, error);

    if (!c || !st || forget_seen (store, c, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        db_bind_u64 (st, 0, c->id);
        db_bind_i64 (st, 1, seen[i].start);
        db_bind_i64 (st, 2, seen[i].end);
        db_bind_i64 (st, 3, as_of);
        db_bind_u64 (st, 4, seen[i].segments);
        db_bind_u64 (st, 5, seen[i].keys);
        db_bind_u64 (st, 6, seen[i].facts);
        if (db_run (st, error) < 0)
            return -1;
    }
    c->settled = false;
    return 0;
}

/* One statement for each run of adjacent stretches: it looks at all rows. */
static int settle (store_t *store, const struct cluster_entry *c, int64_t as_of,
                   int64_t start, int64_t end, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SEEN_SETTLE, error);

    if (!st || segments_flush (store, error) < 0)
        return -1;
    db_bind_i64 (st, 0, as_of);
    db_bind_i64 (st, 1, as_of);
    db_bind_u64 (st, 2, c->id);
    db_bind_i64 (st, 3, as_of);
    db_bind_i64 (st, 4, start);
    db_bind_i64 (st, 5, end);
    return db_run (st, error);
}

static int settle_runs (store_t *store, const struct cluster_entry *c,
                        int64_t as_of, const store_seen_t *seen, size_t count,
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

int store_settle_seen (store_t *store, const char *cluster, gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, cluster, error);
    store_seen_t *seen;
    int64_t as_of;
    size_t count;
    int rc;

    if (!c)
        return -1;
    if (c->settled)
        return 0;
    if (store_get_seen (store, cluster, &as_of, &seen, &count, error) < 0)
        return -1;
    rc = count ? settle_runs (store, c, as_of, seen, count, error) : 0;
    free (seen);
    c->settled = rc == 0;
    return rc;
}
