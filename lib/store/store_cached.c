/* What is kept until a fact before its end changes: put, get, forget. And since
 * when a cluster is known, which is kept likewise. */
#include <string.h>

#include "base/memory.h"
#include "store/cached.h"
#include "store/store_private.h"

/* Its place in the table of rollups: no cluster, and a unit behind theirs. */
#define KEPT_CLUSTER 0
#define KEPT_UNIT 3
/* The first moment of a cluster, beside its rollups: the time of the row. */
#define FIRST_UNIT 4
_Static_assert(KEPT_UNIT > CALENDAR_MONTH, "rollups have units of their own");

static int forget (store_t *store, int64_t start, int64_t end,
                   gl_error_t *error)
{
    return rollup_forget (store, KEPT_CLUSTER, KEPT_UNIT, start, end, error);
}

int kept_flush (store_t *store, gl_error_t *error)
{
    int64_t from = store->changed_from;

    store->changed_from = INT64_MAX;
    if (from == INT64_MAX)
        return 0;
    for (size_t i = 0; i < store->cluster_count; i++)
        if (rollup_forget (store, store->clusters[i].id, FIRST_UNIT, from,
                           INT64_MAX, error)
            < 0)
            return -1;
    return forget (store, from, INT64_MAX, error);
}

void cached_forget (store_t *store, int64_t from)
{
    if (from < store->changed_from)
        store->changed_from = from;
}

int store_put_cached (store_t *store, period_t stretch,
                      const uint8_t digest[STORE_DIGEST_SIZE], const void *body,
                      size_t length, gl_error_t *error)
{
    store_rollup_t r = {.unit = KEPT_UNIT,
                        .start = stretch.start,
                        .end = stretch.end,
                        .body = body,
                        .length = length};

    memcpy (r.digest, digest, sizeof (r.digest));
    if (stretch.start >= stretch.end || length == 0)
        return gl_error (error, "a cached entry needs a time and a body");
    for (size_t i = 0; i < store->cluster_count; i++)
        if (forget_before (store, &store->clusters[i], error) < 0)
            return -1;
    if (kept_flush (store, error) < 0
        || forget (store, stretch.start, stretch.end, error) < 0)
        return -1;
    return rollup_add (store, KEPT_CLUSTER, &r, error);
}

int store_get_cached (store_t *store, period_t stretch,
                      const uint8_t digest[STORE_DIGEST_SIZE],
                      buffer_t *ret_body, gl_error_t *error)
{
    db_statement_t *st = store_ask (
        store,
        "SELECT length, body FROM rollup WHERE cluster = ? AND unit = ? "
        "AND time_start = ? AND time_end = ? AND digest = ? ORDER BY part",
        ARGS (as_u64 (KEPT_CLUSTER), as_u64 (KEPT_UNIT), as_i64 (stretch.start),
              as_i64 (stretch.end), as_blob (digest, STORE_DIGEST_SIZE)),
        error);
    size_t length = 0, before = ret_body->length;
    int rc;

    if (!st)
        return -1;
    while ((rc = db_step (st, error)) == 1) {
        length = (size_t)db_column_u64 (st, 0);
        buffer_add (ret_body, db_column_text (st, 1), db_column_length (st, 1));
    }
    db_reset (st);
    if (rc < 0)
        return -1;
    return length > 0 && ret_body->length - before == length;
}

/* --- the first moment -------------------------------------------------- */

int kept_first (db_t *db, const char *cluster, int64_t *ret_first,
                gl_error_t *error)
{
    db_statement_t *st
        = db_prepare (db,
                      "SELECT time_start FROM rollup WHERE cluster = "
                      "(SELECT id FROM cluster WHERE name = ?) "
                      "AND unit = ? LIMIT 1",
                      error);
    int rc = -1;

    if (st) {
        bind_values (st, 0, ARGS (as_text (cluster), as_u64 (FIRST_UNIT)));
        rc = db_step (st, error);
        if (rc == 1)
            *ret_first = db_column_i64 (st, 0);
    }
    db_finalize (st);
    return rc;
}

int store_keep_extent (store_t *store, const char *cluster, gl_error_t *error)
{
    struct cluster_entry *c = store_cluster_find (store, cluster, error);
    store_rollup_t r = {.unit = FIRST_UNIT, .body = "", .length = 1};
    int64_t as_of;
    int rc;

    if (!c || forget_before (store, c, error) < 0
        || kept_flush (store, error) < 0)
        return -1;
    rc = kept_first (store->db, cluster, &r.start, error);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    if (store_extent (store, cluster, &r.start, &as_of, error) < 0)
        return -1;
    r.end = r.start + 1;
    return r.start > 0 ? rollup_add (store, c->id, &r, error) : 0;
}
