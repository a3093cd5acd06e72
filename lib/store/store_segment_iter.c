/* Segments: iterate. */
#include <string.h>

#include "base/memory.h"
#include "store/store_lookup.h"

/* What a segment shares with others. Each column of texts has a lookup of its
 * own: what one gave stays until the next row. */
enum { PARTY, SHAPE, NODELIST, JOB_NAME, ADMIN_COMMENT, LOOKUP_COUNT };

#define TEXT_SQL "SELECT value FROM text WHERE id = ?"
static const struct {
    const char *sql;
    unsigned texts;
} lookups[LOOKUP_COUNT] = {
    [PARTY] = {"SELECT user_name, account, partition_name, qos, wckey, "
               "reservation, uid FROM party WHERE id = ?",
               6},
    [SHAPE] = {"SELECT gres, gres_requested, gpu_asked, cpus, memory_mb, "
               "nodes, time_limit FROM shape WHERE id = ?",
               2},
    [NODELIST] = {TEXT_SQL, 1},
    [JOB_NAME] = {TEXT_SQL, 1},
    [ADMIN_COMMENT] = {TEXT_SQL, 1},
};

struct store_segment_iter {
    walk_t walk;
    bool gpu_only;
    store_query_t query; /* whom to ask for more */
    /* Of SQLite, where a lookup is a call; a server joins. */
    lookup_t *lookups[LOOKUP_COUNT];
};

/* The row itself, as segment_of_row() reads it. */
#define ROW_COLUMNS                                                         \
    "s.shape, s.party, s.nodelist, s.job_name, s.admin_comment, s.id_job, " \
    "s.time_submit, s.time_start, s.time_end, s.time_seen, s.state, "       \
    "s.source, s.suspended, s.array_job, s.array_task, s.het_job, "         \
    "s.het_offset, s.job_db_inx, s.restart_count, s.sluid, s.gres_lost "

#define ID_JOB_COLUMN 5 /* behind what is shared */

/* The unary plus keeps SQLite on the primary key, whose order is wanted.
 * A segment of no length belongs to the period that it starts in. */
#define PLAN(COLUMNS, JOINS)                                          \
    {                                                                 \
        .select = "SELECT " COLUMNS "FROM segment s", .joins = JOINS, \
        .where = "s.cluster = ? AND s.id_job BETWEEN ? AND ?",        \
        .where_binds = "clh",                                         \
        .period = "+s.time_start > 0 AND +s.time_start < ? AND "      \
                  "(CASE WHEN s.time_end = 0 THEN s.time_seen "       \
                  "ELSE s.time_end END > ? OR +s.time_start >= ?)",   \
        .period_binds = "ess", .order = "s.id_job, s.time_submit",    \
        .by_job = true,                                               \
    }
/* The few open ones of millions are a class of their own in the index. */
#define OPEN_PLAN(COLUMNS, JOINS)                                   \
    {                                                               \
        .select = "SELECT " COLUMNS "FROM segment s",               \
        .index = {[DB_SQLITE] = "INDEXED BY segment_span",          \
                  [DB_MYSQL] = "FORCE INDEX (segment_span)"},       \
        .joins = JOINS,                                             \
        .where = "s.cluster = ? AND s.span = 6 AND s.time_end = 0 " \
                 "AND +s.id_job BETWEEN ? AND ?",                   \
        .where_binds = "clh",                                       \
        .period = "+s.time_start > 0 AND +s.time_start < ? AND "    \
                  "(s.time_seen > ? OR +s.time_start >= ?)",        \
        .period_binds = "ess", .order = "s.id_job, s.time_submit",  \
    }

static const struct walk_plan plans[][2] = {
    [DB_SQLITE] = {PLAN (ROW_COLUMNS, NULL), OPEN_PLAN (ROW_COLUMNS, NULL)},
    [DB_MYSQL] = {PLAN (SEGMENT_COLUMNS, SEGMENT_JOINS),
                  OPEN_PLAN (SEGMENT_COLUMNS, SEGMENT_JOINS)},
};

static int open_lookups (store_segment_iter_t *iter, gl_error_t *error)
{
    for (size_t i = 0; i < LOOKUP_COUNT; i++) {
        iter->lookups[i] = lookup_open (iter->walk.db, lookups[i].sql,
                                        lookups[i].texts, error);
        if (!iter->lookups[i])
            return -1;
    }
    return 0;
}

store_segment_iter_t *store_segment_iter_open (store_t *store,
                                               const store_query_t *query,
                                               gl_error_t *error)
{
    store_segment_iter_t *iter = xcalloc (1, sizeof (*iter));
    db_engine_t engine = db_engine (store->db);
    bool open_only = query && query->open_only;

    iter->gpu_only = query && query->gpu_only;
    if (query)
        iter->query = *query;
    if (walk_open (&iter->walk, store, query, &plans[engine][open_only], error)
        < 0) {
        free (iter);
        return NULL;
    }
    if (engine == DB_SQLITE && open_lookups (iter, error) < 0) {
        store_segment_iter_close (iter);
        return NULL;
    }
    return iter;
}

/* The shared row of column `i` of the walk's row. */
static const lookup_row_t *shared (store_segment_iter_t *iter, unsigned i,
                                   unsigned lookup, gl_error_t *error)
{
    return lookup_get (iter->lookups[lookup], db_column_u64 (iter->walk.st, i),
                       error);
}

static int take_shape (store_segment_iter_t *iter, segment_t *s,
                       gl_error_t *error)
{
    const lookup_row_t *shape = shared (iter, 0, SHAPE, error);

    if (!shape)
        return -1;
    s->gres = shape->text[0];
    s->gres_requested = shape->text[1];
    s->gpu_asked = shape->number[0] != 0;
    s->cpus = shape->known[1] ? shape->number[1] : COUNT_UNKNOWN;
    s->memory_mb = shape->known[2] ? shape->number[2] : COUNT_UNKNOWN;
    s->nodes = shape->known[3] ? shape->number[3] : COUNT_UNKNOWN;
    s->time_limit
        = shape->known[4] ? (int64_t)shape->number[4] : SECONDS_UNKNOWN;
    return 0;
}

static int take_party (store_segment_iter_t *iter, segment_t *s,
                       gl_error_t *error)
{
    const lookup_row_t *party = shared (iter, 1, PARTY, error);

    if (!party)
        return -1;
    s->user = party->text[0];
    s->account = party->text[1];
    s->partition = party->text[2];
    s->qos = party->text[3];
    s->wckey = party->text[4];
    s->reservation = party->text[5];
    s->uid = party->known[0] ? (uint32_t)party->number[0] : UINT32_MAX;
    return 0;
}

static int take_texts (store_segment_iter_t *iter, segment_t *s,
                       gl_error_t *error)
{
    const lookup_row_t *nodelist = shared (iter, 2, NODELIST, error);
    const lookup_row_t *job_name = shared (iter, 3, JOB_NAME, error);
    const lookup_row_t *comment = shared (iter, 4, ADMIN_COMMENT, error);

    if (!nodelist || !job_name || !comment)
        return -1;
    s->nodelist = nodelist->text[0];
    s->job_name = job_name->text[0];
    s->admin_comment = comment->text[0];
    return 0;
}

/* In the order of ROW_COLUMNS, behind what is shared. */
static void take_row (const db_statement_t *st, segment_t *s)
{
    unsigned i = ID_JOB_COLUMN;

    s->held = NULL;
    s->held_count = 0;
    s->shards = NULL;
    s->shards_count = 0;
    s->believed_end = 0;
    s->gpu_shown = false;
    s->id_job = db_column_u64 (st, i++);
    s->time_submit = db_column_i64 (st, i++);
    s->time_start = db_column_i64 (st, i++);
    s->time_end = db_column_i64 (st, i++);
    s->time_seen = db_column_i64 (st, i++);
    s->state = (segment_state_t)db_column_u64 (st, i++);
    s->source = (segment_source_t)db_column_u64 (st, i++);
    s->suspended = store_column_i64 (st, i++, SECONDS_UNKNOWN);
    s->array_job = db_column_u64 (st, i++);
    s->array_task = (uint32_t)store_column_u64 (st, i++, TASK_NONE);
    s->het_job = db_column_u64 (st, i++);
    s->het_offset = (uint32_t)store_column_u64 (st, i++, TASK_NONE);
    s->job_db_inx = db_column_u64 (st, i++);
    s->restart_count = (int32_t)store_column_i64 (st, i++, -1);
    s->sluid = db_column_u64 (st, i++);
    s->gres_lost = db_column_i64 (st, i++);
}

static bool names_gpu (const segment_t *s)
{
    return s->gpu_asked || (s->gres && s->gres[0]);
}

/* Whether a segment with that shape is wanted: 1, 0 or -1. */
static int is_wanted (const store_segment_iter_t *iter, const segment_t *s,
                      uint64_t id_job, gl_error_t *error)
{
    const store_query_t *q = &iter->query;

    if (!iter->gpu_only || names_gpu (s))
        return 1;
    return q->also ? q->also (s->cluster, id_job, q->also_arg, error) : 0;
}

/* 1: taken, 0: not wanted. */
static int take (store_segment_iter_t *iter, segment_t *s, gl_error_t *error)
{
    int rc;

    if (!iter->lookups[0]) {
        store_segment_of_row (iter->walk.st, s);
        return is_wanted (iter, s, s->id_job, error);
    }
    if (take_shape (iter, s, error) < 0)
        return -1;
    rc = is_wanted (iter, s, db_column_u64 (iter->walk.st, ID_JOB_COLUMN),
                    error);
    if (rc != 1)
        return rc;
    if (take_party (iter, s, error) < 0 || take_texts (iter, s, error) < 0)
        return -1;
    take_row (iter->walk.st, s);
    return 1;
}

int store_segment_iter_next (store_segment_iter_t *iter, segment_t *ret_segment,
                             gl_error_t *error)
{
    segment_t s;
    int rc;

    while ((rc = walk_next (&iter->walk, &s.cluster, error)) == 1) {
        rc = take (iter, &s, error);
        if (rc == 1)
            *ret_segment = s;
        if (rc != 0)
            return rc;
    }
    return rc;
}

void store_segment_iter_close (store_segment_iter_t *iter)
{
    if (iter) {
        for (size_t i = 0; i < LOOKUP_COUNT; i++)
            lookup_close (iter->lookups[i]);
        walk_close (&iter->walk);
        free (iter);
    }
}
