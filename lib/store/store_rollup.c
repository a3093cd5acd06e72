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

int rollup_add (store_t *store, uint64_t cluster, const store_rollup_t *r,
                gl_error_t *error)
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
