/* Segments: iterate. */
#include "base/memory.h"
#include "store/segment_row.h"
#include "store/store_lookup.h"
#include "store/store_private.h"

struct segment_iter {
    store_iter_t iter;
    /* Of SQLite, where a lookup is a call; a server joins. Each column has its
     * own: what one gave stays until the next row. */
    lookup_t *lookups[SEGMENT_OWN];
    unsigned shape_at; /* the result column of its id */
};

/* The unary plus keeps SQLite on the primary key, whose order is wanted.
 * A segment of no length belongs to the period that it starts in. */
#define PLAN(IDS)                                                   \
    {                                                               \
        .rows = &segment_rows, .ids = IDS, .jobs = "t.id_job",      \
        .period = "+t.time_start > 0 AND +t.time_start < ? AND "    \
                  "(CASE WHEN t.time_end = 0 THEN t.observed_at "   \
                  "ELSE t.time_end END > ? OR +t.time_start >= ?)", \
        .period_binds = "ess", .by_job = true,                      \
    }
/* The few open ones of millions are a class of their own in the index. */
#define OPEN_PLAN(IDS)                                           \
    {                                                            \
        .rows = &segment_rows, .ids = IDS, .jobs = "+t.id_job",  \
        .index = {[DB_SQLITE] = "INDEXED BY segment_span",       \
                  [DB_MYSQL] = "FORCE INDEX (segment_span)"},    \
        .where = "t.span = 6 AND t.time_end = 0",                \
        .period = "+t.time_start > 0 AND +t.time_start < ? AND " \
                  "(t.observed_at > ? OR +t.time_start >= ?)",   \
        .period_binds = "ess",                                   \
    }
/* Those that wait, and those that left the queue, are two classes. */
#define UNSTARTED_PLAN(IDS)                                          \
    {                                                                \
        .rows = &segment_rows, .ids = IDS, .jobs = "+t.id_job",      \
        .index = {[DB_SQLITE] = "INDEXED BY segment_span",           \
                  [DB_MYSQL] = "FORCE INDEX (segment_span)"},        \
        .where = "t.span IN (6, 7) AND t.time_start = 0",            \
        .period = "+t.time_submit < ? AND "                          \
                  "(t.time_end = 0 OR t.time_end > ?)",              \
        .period_binds = "es",                                        \
    }

static const struct walk_plan plans[][3] = {
    [DB_SQLITE] = {PLAN (true), OPEN_PLAN (true), UNSTARTED_PLAN (true)},
    [DB_MYSQL] = {PLAN (false), OPEN_PLAN (false), UNSTARTED_PLAN (false)},
};

static const struct walk_plan *choose (store_t *store,
                                       const store_query_t *query)
{
    return &plans[db_engine (store->db)]
                 [query && query->unstarted_only ? 2 : query && query->open_only];
}

static int open_lookups (store_iter_t *base, const store_query_t *query,
                         gl_error_t *error)
{
    struct segment_iter *iter = (struct segment_iter *)base;
    unsigned at = 0;

    (void)query;
    for (unsigned i = 1;
         db_engine (base->walk.db) == DB_SQLITE && i < SEGMENT_OWN; i++) {
        const column_t *c = &segment_columns[i];
        if (i == SEGMENT_SHAPE)
            iter->shape_at = at;
        at += !(c->flags & COLUMN_HIDDEN);
        if (c->type != COLUMN_PART && c->type != COLUMN_TEXT)
            continue;
        iter->lookups[i] = lookup_open (base->walk.db, c, error);
        if (!iter->lookups[i])
            return -1;
    }
    return 0;
}

static void close_lookups (store_iter_t *base)
{
    struct segment_iter *iter = (struct segment_iter *)base;

    for (size_t i = 0; i < SEGMENT_OWN; i++)
        lookup_close (iter->lookups[i]);
}

static bool names_gpu (const segment_t *s)
{
    return s->gpu_asked || (s->gres && s->gres[0]);
}

/* Whether a segment with that shape is wanted: 1, 0 or -1. */
static int is_wanted (const store_iter_t *iter, const segment_t *s,
                      uint64_t id_job, gl_error_t *error)
{
    const store_query_t *q = &iter->walk.query;

    if (!q->gpu_only || names_gpu (s))
        return 1;
    return q->also ? q->also (s->cluster, id_job, q->also_arg, error) : 0;
}

static int read_segment (store_iter_t *base, void *ret_fact, gl_error_t *error)
{
    struct segment_iter *iter = (struct segment_iter *)base;
    const db_statement_t *st = base->walk.st;
    segment_t *s = ret_fact;
    int rc;

    if (!iter->lookups[SEGMENT_SHAPE]) {
        if (row_read (&segment_rows, false, st, s, error) < 0)
            return -1;
        return is_wanted (base, s, s->id_job, error);
    }
    if (base->walk.query.gpu_only) {
        if (lookup_set (iter->lookups[SEGMENT_SHAPE],
                        db_column_u64 (st, iter->shape_at), s, error)
            < 0)
            return -1;
        rc = is_wanted (base, s, db_column_u64 (st, 0), error);
        if (rc != 1)
            return rc;
    }
    return row_read_ids (&segment_rows, iter->lookups,
                         base->walk.query.gpu_only ? SEGMENT_SHAPE : 0, st, s,
                         error)
                   < 0
               ? -1
               : 1;
}

const struct iter_class segment_iter = {
    .fact_size = sizeof (segment_t),
    .choose = choose,
    .size = sizeof (struct segment_iter),
    .open = open_lookups,
    .read = read_segment,
    .close = close_lookups,
};
