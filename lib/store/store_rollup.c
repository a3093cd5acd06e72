/* Rollups: put, forget and iterate; and what time a store knows of. */
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

/* Far below max_allowed_packet. */
#define PART_BYTES ((size_t)1 << 20)

static int check_rollup (const store_rollup_t *r, gl_error_t *error)
{
    if (r->unit != CALENDAR_DAY && r->unit != CALENDAR_MONTH)
        return gl_error (error, "a rollup is of a day or a month");
    if (r->start >= r->end || r->length == 0)
        return gl_error (error, "a rollup without time or without a body");
    return 0;
}

int rollup_forget (store_t *store, uint64_t cluster, int unit, int64_t start,
                   int64_t end, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_ROLLUP_FORGET, error);

    if (!st)
        return -1;
    db_bind_u64 (st, 0, cluster);
    db_bind_i64 (st, 1, unit < 0 ? CALENDAR_DAY : unit);
    db_bind_i64 (st, 2, unit < 0 ? CALENDAR_MONTH : unit);
    db_bind_i64 (st, 3, end);
    db_bind_i64 (st, 4, start);
    return db_run (st, error);
}

static int put_part (store_t *store, uint64_t cluster, const store_rollup_t *r,
                     uint64_t part, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_ROLLUP_ADD, error);
    size_t at = part * PART_BYTES;
    size_t left = r->length - at;

    if (!st)
        return -1;
    db_bind_u64 (st, 0, cluster);
    db_bind_u64 (st, 1, r->unit);
    db_bind_i64 (st, 2, r->start);
    db_bind_u64 (st, 3, part);
    db_bind_i64 (st, 4, r->end);
    db_bind_u64 (st, 5, r->length);
    db_bind_blob (st, 6, r->digest, sizeof (r->digest));
    db_bind_blob (st, 7, (const char *)r->body + at,
                  left < PART_BYTES ? left : PART_BYTES);
    return db_run (st, error);
}

int rollup_add (store_t *store, uint64_t cluster, const store_rollup_t *r,
                gl_error_t *error)
{
    for (uint64_t part = 0; part * PART_BYTES < r->length; part++) {
        if (put_part (store, cluster, r, part, error) < 0)
            return -1;
    }
    return 0;
}

int store_put_rollup (store_t *store, const store_rollup_t *r,
                      gl_error_t *error)
{
    struct cluster_entry *cluster;

    if (check_rollup (r, error) < 0)
        return -1;
    cluster = store_cluster_find (store, r->cluster, error);
    if (!cluster || forget_before (store, cluster, error) < 0
        || rollup_forget (store, cluster->id, (int)r->unit, r->start, r->end,
                          error)
               < 0)
        return -1;
    return rollup_add (store, cluster->id, r, error);
}

static int forget_of (store_t *store, const char *name, int64_t start,
                      int64_t end, gl_error_t *error)
{
    struct cluster_entry *cluster = store_cluster_find (store, name, error);

    return cluster ? rollup_forget (store, cluster->id, -1, start, end, error)
                   : -1;
}

int store_forget_rollups (store_t *store, const char *cluster, int64_t start,
                          int64_t end, gl_error_t *error)
{
    store_cluster_t *clusters;
    size_t count;
    int rc = 0;

    if (start == 0 && end == 0) {
        start = INT64_MIN;
        end = INT64_MAX;
    }
    kept_forget (store, start);
    if (cluster)
        return forget_of (store, cluster, start, end, error);
    if (store_clusters (store, &clusters, &count, error) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = forget_of (store, clusters[i].name, start, end, error);
    store_clusters_free (clusters, count);
    return rc;
}

struct store_rollup_iter {
    walk_t walk;
    calendar_unit_t unit;
    bool heads_only;
    buffer_t body;
};

#define ROLLUP_PLAN(UNIT, BODY, WHICH)                                         \
    {                                                                          \
        .select = "SELECT time_start, time_end, length, digest, " BODY         \
                  " FROM rollup",                                              \
        .where = "cluster = ? AND unit = " UNIT WHICH, .where_binds = "c",     \
        .period = "time_start < ? AND time_end > ?", .period_binds = "es",     \
        .order = "time_start, part",                                           \
    }
/* By unit, then whole and without the body. */
static const struct walk_plan rollup_plans[][2] = {
    [CALENDAR_DAY] = {ROLLUP_PLAN ("1", "body", ""),
                      ROLLUP_PLAN ("1", "NULL", " AND part = 0")},
    [CALENDAR_MONTH] = {ROLLUP_PLAN ("2", "body", ""),
                        ROLLUP_PLAN ("2", "NULL", " AND part = 0")},
};
_Static_assert(CALENDAR_DAY == 1 && CALENDAR_MONTH == 2,
               "units are numbers in the table");

store_rollup_iter_t *store_rollup_iter_open (store_t *store,
                                             const store_query_t *query,
                                             calendar_unit_t unit,
                                             gl_error_t *error)
{
    store_rollup_iter_t *iter = xcalloc (1, sizeof (*iter));

    iter->unit = unit;
    iter->heads_only = query && query->heads_only;
    if (walk_open (&iter->walk, store, query,
                   &rollup_plans[unit][iter->heads_only], error)
        < 0) {
        free (iter);
        return NULL;
    }
    return iter;
}

static int head_of_row (const db_statement_t *st, store_rollup_t *ret,
                        gl_error_t *error)
{
    ret->start = db_column_i64 (st, 0);
    ret->end = db_column_i64 (st, 1);
    ret->length = db_column_u64 (st, 2);
    if (db_column_length (st, 3) != sizeof (ret->digest))
        return gl_error (error, "a rollup has a damaged digest");
    memcpy (ret->digest, db_column_text (st, 3), sizeof (ret->digest));
    return 0;
}

/* The body from its first part on, which the walk stands on. */
static int read_body (store_rollup_iter_t *iter, const store_rollup_t *r,
                      gl_error_t *error)
{
    const db_statement_t *st = iter->walk.st;
    const char *cluster;
    int rc = 1;

    buffer_clear (&iter->body);
    for (;;) {
        buffer_add (&iter->body, db_column_text (st, 4),
                    db_column_length (st, 4));
        if (iter->body.length >= r->length)
            break;
        rc = walk_next (&iter->walk, &cluster, error);
        if (rc < 0)
            return -1;
        if (rc == 0 || db_column_i64 (st, 0) != r->start)
            break;
    }
    if (iter->body.length != r->length)
        return gl_error (error, "a rollup lacks a part of its body");
    return 1;
}

int store_rollup_iter_next (store_rollup_iter_t *iter, store_rollup_t *ret,
                            gl_error_t *error)
{
    int rc = walk_next (&iter->walk, &ret->cluster, error);

    if (rc != 1)
        return rc;
    ret->unit = iter->unit;
    if (head_of_row (iter->walk.st, ret, error) < 0
        || (!iter->heads_only && read_body (iter, ret, error) < 0))
        return -1;
    ret->body = iter->heads_only ? NULL : iter->body.data;
    return 1;
}

void store_rollup_iter_close (store_rollup_iter_t *iter)
{
    if (iter) {
        walk_close (&iter->walk);
        buffer_done (&iter->body);
        free (iter);
    }
}

/* The value of a statement whose parameters all are the cluster; 0 for NULL. */
static int get_number (store_t *store, sql_t sql, const char *cluster,
                       unsigned parameters, int64_t *ret_value,
                       gl_error_t *error)
{
    db_statement_t *st = store_statement (store, sql, error);
    int64_t value = 0;
    int rc;

    if (!st)
        return -1;
    for (unsigned i = 0; i < parameters; i++)
        db_bind_text (st, i, cluster);
    rc = db_step (st, error);
    if (rc == 1)
        value = db_column_i64 (st, 0);
    db_reset (st);
    if (rc < 0)
        return -1;
    *ret_value = value;
    return 0;
}

int store_as_of (store_t *store, const char *cluster, int64_t *ret_as_of,
                 gl_error_t *error)
{
    return get_number (store, SQL_EXTENT_AS_OF, cluster, 1, ret_as_of, error);
}

static int search_first (store_t *store, const char *cluster,
                         int64_t *ret_first, gl_error_t *error)
{
    int64_t segment, event;

    if (get_number (store, SQL_EXTENT_SEGMENT, cluster, 12, &segment,
                    error) < 0
        || get_number (store, SQL_EXTENT_EVENT, cluster, 1, &event, error) < 0)
        return -1;
    *ret_first = event && (segment == 0 || event < segment) ? event : segment;
    return 0;
}

int store_extent (store_t *store, const char *cluster, int64_t *ret_start,
                  int64_t *ret_as_of, gl_error_t *error)
{
    int rc = 0;

    if (store_as_of (store, cluster, ret_as_of, error) < 0)
        return -1;
    /* what this transaction changed is not forgotten yet */
    if (store->changed_from == INT64_MAX)
        rc = kept_first (store->db, cluster, ret_start, error);
    return rc == 0 ? search_first (store, cluster, ret_start, error)
                   : rc < 0 ? -1 : 0;
}
