/* Segments: iterate. */
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

struct store_segment_iter {
    walk_t walk;
    bool gpu_only;
};

/* The unary plus keeps SQLite on the primary key, whose order is wanted.
 * A segment of no length belongs to the period that it starts in. */
static const struct walk_plan plan = {
    .select = "SELECT " SEGMENT_COLUMNS "FROM segment s",
    .joins = SEGMENT_JOINS,
    .where = "s.cluster = ? AND s.id_job BETWEEN ? AND ?",
    .where_binds = "clh",
    .period = "+s.time_start > 0 AND +s.time_start < ? AND "
              "(CASE WHEN s.time_end = 0 THEN s.time_seen ELSE s.time_end END "
              "> ? OR +s.time_start >= ?)",
    .period_binds = "ess",
    .order = "s.id_job, s.time_submit",
    .by_job = true,
};
/* The few open ones of millions have an index of their own. */
static const struct walk_plan open_plan = {
    .select = "SELECT " SEGMENT_COLUMNS "FROM segment s",
    .index = {[DB_SQLITE] = "INDEXED BY segment_open",
              [DB_MYSQL] = "FORCE INDEX (segment_open)"},
    .joins = SEGMENT_JOINS,
    .where = "s.cluster = ? AND s.time_end = 0 AND +s.id_job BETWEEN ? AND ?",
    .where_binds = "clh",
    .period = "+s.time_start > 0 AND +s.time_start < ? AND "
              "(s.time_seen > ? OR +s.time_start >= ?)",
    .period_binds = "ess",
    .order = "s.id_job, s.time_submit",
};

store_segment_iter_t *store_segment_iter_open (store_t *store,
                                               const store_query_t *query,
                                               gl_error_t *error)
{
    store_segment_iter_t *iter = xcalloc (1, sizeof (*iter));
    bool open_only = query && query->open_only;

    iter->gpu_only = query && query->gpu_only;
    if (walk_open (&iter->walk, store, query, open_only ? &open_plan : &plan,
                   error)
        < 0) {
        free (iter);
        return NULL;
    }
    return iter;
}

static bool names_gpu (const segment_t *s)
{
    return s->gpu_asked || (s->gres && s->gres[0]);
}

int store_segment_iter_next (store_segment_iter_t *iter, segment_t *ret_segment,
                             gl_error_t *error)
{
    segment_t s;
    int rc;

    while ((rc = walk_next (&iter->walk, &s.cluster, error)) == 1) {
        store_segment_of_row (iter->walk.st, &s);
        if (!iter->gpu_only || names_gpu (&s)) {
            *ret_segment = s;
            return 1;
        }
    }
    return rc;
}

void store_segment_iter_close (store_segment_iter_t *iter)
{
    if (iter) {
        walk_close (&iter->walk);
        free (iter);
    }
}
