/* Rollups: put, forget and iterate; and what time a store knows of. */
#include <string.h>

#include "base/memory.h"
#include "store/cached.h"
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

/* A part of the body, with the head of all. */
struct rollup_row {
    store_rollup_t rollup;
    uint64_t part;
    const void *body;
    size_t length;
};

static const column_t columns[] = {
    COLUMN (CLUSTER, store_rollup_t, cluster, KEY),
    COLUMN (U32, store_rollup_t, unit, .flags = COLUMN_KEY | COLUMN_HIDDEN),
    COLUMN_AS ("time_start", I64, store_rollup_t, start, KEY),
    COLUMN (U64, struct rollup_row, part, .flags = COLUMN_KEY | COLUMN_HIDDEN),
    COLUMN_AS ("time_end", I64, store_rollup_t, end),
    COLUMN_AS ("length", U64, store_rollup_t, length),
    COLUMN (BYTES, store_rollup_t, digest, .size = STORE_DIGEST_SIZE),
    COLUMN (BLOB, struct rollup_row, body, HIDDEN),
};
static const row_type_t rollup_rows
    = ROW_TYPE ("rollup", columns, struct rollup_row);

int rollup_forget (store_t *store, uint64_t cluster, int unit, int64_t start,
                   int64_t end, gl_error_t *error)
{
    return store_run (store,
                      "DELETE FROM rollup WHERE cluster = ? AND unit BETWEEN ? "
                      "AND ? AND time_start < ? AND time_end > ?",
                      ARGS (as_u64 (cluster),
                            as_i64 (unit < 0 ? CALENDAR_DAY : unit),
                            as_i64 (unit < 0 ? CALENDAR_MONTH : unit),
                            as_i64 (end), as_i64 (start)),
                      error);
}

/* All parts of one that overlaps none. */
static int rollup_add (store_t *store, uint64_t cluster,
                       const store_rollup_t *r, gl_error_t *error)
{
    struct rollup_row row = {.rollup = *r};

    for (size_t at = 0; at < r->length; at += PART_BYTES, row.part++) {
        size_t left = r->length - at;
        row.body = (const char *)r->body + at;
        row.length = left < PART_BYTES ? left : PART_BYTES;
        if (row_add (store, &rollup_rows, cluster, &row, error) < 0)
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
    cached_forget (store, start);
    if (cluster)
        return forget_of (store, cluster, start, end, error);
    if (store_clusters (store, &clusters, &count, error) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = forget_of (store, clusters[i].name, start, end, error);
    store_clusters_free (clusters, count);
    return rc;
}

/* --- iterators ------------------------------------------------------------ */

struct rollup_iter {
    store_iter_t iter;
    buffer_t body;
};

#define PLAN(UNIT, WHOLE, PART)                                                \
    {                                                                          \
        .rows = &rollup_rows, .where = "t.unit = " UNIT PART,                  \
        .period = "t.time_start < ? AND t.time_end > ?", .period_binds = "es", \
        .order = "t.time_start, t.part", .hidden = WHOLE,                      \
    }
#define PLANS(UNIT)                                                  \
    {                                                                \
        PLAN (UNIT, true, ""), PLAN (UNIT, false, " AND t.part = 0") \
    }
/* Whole, and without the body. */
static const struct walk_plan day_plans[2] = PLANS ("1");
static const struct walk_plan month_plans[2] = PLANS ("2");
_Static_assert(CALENDAR_DAY == 1 && CALENDAR_MONTH == 2,
               "units are numbers in the table");

static const struct walk_plan *choose_days (store_t *store,
                                            const store_query_t *query)
{
    (void)store;
    return &day_plans[query && query->heads_only];
}

static const struct walk_plan *choose_months (store_t *store,
                                              const store_query_t *query)
{
    (void)store;
    return &month_plans[query && query->heads_only];
}

/* The body from its first part on, which `row` is. */
static int read_body (struct rollup_iter *iter, struct rollup_row *row,
                      gl_error_t *error)
{
    const store_rollup_t first = row->rollup;
    int rc = 1;

    buffer_clear (&iter->body);
    for (;;) {
        buffer_add (&iter->body, row->body, row->length);
        if (iter->body.length >= first.length)
            break;
        rc = walk_next (&iter->iter.walk, error);
        if (rc == 1
            && row_read (&rollup_rows, true, iter->iter.walk.st, row, error)
                   < 0)
            rc = -1;
        if (rc < 0)
            return -1;
        if (rc == 0 || row->rollup.start != first.start)
            break;
    }
    if (iter->body.length != first.length)
        return gl_error (error, "a rollup lacks a part of its body");
    row->rollup = first;
    row->rollup.body = iter->body.data;
    return 1;
}

static int read_rollup (store_iter_t *base, void *ret_fact, gl_error_t *error)
{
    struct rollup_iter *iter = (struct rollup_iter *)base;
    bool whole = !base->walk.query.heads_only;
    store_rollup_t *ret = ret_fact;
    struct rollup_row row = {.rollup = *ret};

    if (row_read (&rollup_rows, whole, base->walk.st, &row, error) < 0
        || (whole && read_body (iter, &row, error) < 0))
        return -1;
    if (!whole)
        row.rollup.unit
            = base->class == &day_iter ? CALENDAR_DAY : CALENDAR_MONTH;
    *ret = row.rollup;
    return 1;
}

static void close_rollups (store_iter_t *iter)
{
    buffer_done (&((struct rollup_iter *)iter)->body);
}

#define ROLLUP_ITER(CHOOSE)                                                 \
    {                                                                       \
        sizeof (store_rollup_t), NULL, CHOOSE, sizeof (struct rollup_iter), \
            NULL, read_rollup, close_rollups                                \
    }
const struct iter_class day_iter = ROLLUP_ITER (choose_days);
const struct iter_class month_iter = ROLLUP_ITER (choose_months);

/* --- what time a store knows of ------------------------------------------- */

int store_as_of (store_t *store, const char *cluster, int64_t *ret_as_of,
                 gl_error_t *error)
{
    return store_number (store, "SELECT as_of FROM cluster WHERE name = ?",
                         ARGS (as_text (cluster)), ret_as_of, error)
                   < 0
               ? -1
               : 0;
}

/* The first start is among the first ends: of a class without its longest one
 * no other ends later than it lasts. */
#define FIRST_START(SPAN, MOST)                                     \
    "SELECT min(time_start) AS first FROM segment WHERE cluster = " \
    "(SELECT id FROM cluster WHERE name = ?) AND span = " #SPAN     \
    " AND time_start > 0 AND time_end <= " MOST
#define FIRST_END(SPAN, MOST)                                         \
    "(SELECT min(time_end) + " #MOST " FROM segment WHERE cluster = " \
    "(SELECT id FROM cluster WHERE name = ?) AND span = " #SPAN ")"
#define FIRST_OF(SPAN, MOST) FIRST_START (SPAN, FIRST_END (SPAN, MOST))
#define FIRST_OF_ALL(SPAN) FIRST_START (SPAN, "9223372036854775807")
static const char first_segment[]
    = "SELECT min(first) FROM (" FIRST_OF (0, 3600) " UNION ALL " FIRST_OF (1, 14400) " UNION ALL " FIRST_OF (2, 86400) " UNION ALL " FIRST_OF (
        3, 345600) " UNION ALL " FIRST_OF (4, 1382400) " UNION "
                                                       "ALL " FIRST_OF_ALL (5) " UNION ALL " FIRST_OF_ALL (6) ") AS firsts";
#define FIRST_SEGMENT_ARGS 12

static int search_first (store_t *store, const char *cluster,
                         int64_t *ret_first, gl_error_t *error)
{
    value_t names[FIRST_SEGMENT_ARGS];
    int64_t segment, event;

    for (size_t i = 0; i < FIRST_SEGMENT_ARGS; i++)
        names[i] = as_text (cluster);
    if (store_number (store, first_segment, names, FIRST_SEGMENT_ARGS, &segment,
                      error)
            < 0
        || store_number (
               store,
               "SELECT min(time_start) FROM event WHERE cluster = "
               "(SELECT id FROM cluster WHERE name = ?) AND time_start > 0",
               ARGS (as_text (cluster)), &event, error)
               < 0)
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

/* --- what is cached ----------------------------------------------------- */

/* What is kept until a fact before its end changes: put, get, forget. And since
 * when a cluster is known, which is kept likewise. */

/* Its place in the table of rollups: no cluster, and a unit behind theirs. */
#define KEPT_CLUSTER 0
#define KEPT_UNIT 3
/* A row in the same table whose time is the first moment of a cluster. */
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
