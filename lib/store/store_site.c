/* Suspensions, node events and reservations: put and iterate. */
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* NULL before "" before everything else. */
static int compare_texts (const char *a, const char *b)
{
    if (!a || !b)
        return COMPARE (a != NULL, b != NULL);
    return strcmp (a, b);
}

/* Of two rows with the same key: later seen, then closed, then greater. Events
 * and reservations share it; `number` is the state or the flags. */
struct version {
    int64_t seen;
    int64_t end;
    uint64_t number;
    const char *texts[3];
};

static int compare_facts (const struct version *a, const struct version *b)
{
    int order = COMPARE (a->end, b->end);

    if (order == 0)
        order = COMPARE (a->number, b->number);
    for (size_t i = 0; order == 0 && i < GL_ARRAY_SIZE (a->texts); i++)
        order = compare_texts (a->texts[i], b->texts[i]);
    return order;
}

static void version_of_row (const db_statement_t *st, struct version *ret)
{
    ret->seen = db_column_i64 (st, 0);
    ret->end = db_column_i64 (st, 1);
    ret->number = db_column_u64 (st, 2);
    for (unsigned i = 0; i < GL_ARRAY_SIZE (ret->texts); i++)
        ret->texts[i] = db_column_text (st, 3 + i);
}

/* What to do with `fresh`, given the row that `st` finds, if any. An end of 0
 * is open, and smaller than every other. */
enum verdict { FAILED = -1, KEEP, SEEN, REPLACE, INSERT };

/* Where two versions differ; what is open has no end. */
static period_t difference (int64_t start, const struct version *a,
                            const struct version *b)
{
    int64_t first = a->end ? a->end : INT64_MAX;
    int64_t second = b->end ? b->end : INT64_MAX;
    struct version same = *a;

    same.end = b->end;
    if (compare_facts (&same, b) != 0)
        return (period_t){start, first > second ? first : second};
    return first < second ? (period_t){first, second}
                          : (period_t){second, first};
}

/* `reread`: as in struct cluster_entry. */
static enum verdict judge (db_statement_t *st, int64_t start, int64_t reread,
                           const struct version *fresh, period_t *ret_changed,
                           gl_error_t *error)
{
    enum verdict verdict;
    struct version old;
    int facts, order;
    int rc = db_step (st, error);

    *ret_changed = (period_t){start, fresh->end ? fresh->end : INT64_MAX};
    if (rc != 1) {
        db_reset (st);
        return rc == 0 ? INSERT : FAILED;
    }
    version_of_row (st, &old);
    facts = compare_facts (fresh, &old);
    order = COMPARE (fresh->seen, old.seen);
    if (order == 0)
        order = facts && fresh->seen == reread ? 1 : facts;
    verdict = order <= 0 ? KEEP : facts ? REPLACE : SEEN;
    *ret_changed = verdict == REPLACE ? difference (start, fresh, &old)
                                      : (period_t){0, 0};
    db_reset (st);
    return verdict;
}

/* Write the row if it is to be written, and count. `key` and `version` are in
 * the order of the PUT statement: key columns, end, seen, number, texts. */
static int settle (store_t *store, enum verdict verdict, db_statement_t *put,
                   unsigned at, const struct version *v, store_counts_t *counts,
                   gl_error_t *error)
{
    if (verdict == KEEP) {
        db_reset (put);
        store_count (counts, false, false);
        return 0;
    }
    db_bind_i64 (put, at, v->end);
    db_bind_i64 (put, at + 1, v->seen);
    db_bind_u64 (put, at + 2, v->number);
    for (unsigned i = 0; i < GL_ARRAY_SIZE (v->texts); i++) {
        if (intern_bind (store, put, at + 3 + i, v->texts[i], error) < 0)
            return -1;
    }
    if (db_run (put, error) < 0)
        return -1;
    store_count (counts, verdict == INSERT, verdict == REPLACE);
    return 0;
}

/* What a node's row tells of its shards holds for segments that begin later
 * too. */
static bool tells_shards (const node_event_t *event)
{
    return event->node && event->gres && strstr (event->gres, "shard");
}

int store_put_event (store_t *store, const node_event_t *event,
                     int64_t time_seen, store_counts_t *counts,
                     gl_error_t *error)
{
    struct cluster_entry *cluster = store_cluster (store, event->cluster, error);
    db_statement_t *get = store_statement (store, SQL_EVENT_GET, error);
    db_statement_t *put = store_statement (store, SQL_EVENT_PUT, error);
    const char *node = event->node ? event->node : "";
    struct version fresh = {
        time_seen, event->end, event->state,
        {event->gres, event->nodelist, event->reason}};
    enum verdict verdict;
    period_t changed;

    if (!cluster || !get || !put
        || (event->node && store_check_name ("node", node, error) < 0))
        return -1;
    db_bind_u64 (get, 0, cluster->id);
    db_bind_i64 (get, 1, event->start);
    db_bind_text (get, 2, node);
    verdict = judge (get, event->start, cluster->reread, &fresh, &changed, error);
    if (changed.start < changed.end && tells_shards (event))
        changed = (period_t){event->start, INT64_MAX};
    if (verdict == FAILED
        || forget_time (store, cluster, changed.start, changed.end, error) < 0)
        return -1;
    if (verdict == INSERT) /* one without length is a first moment, too */
        kept_forget (store, event->start);
    store_cluster_seen (cluster, time_seen, 0);
    db_bind_u64 (put, 0, cluster->id);
    db_bind_i64 (put, 1, event->start);
    db_bind_text (put, 2, node);
    return settle (store, verdict, put, 3, &fresh, counts, error);
}

int store_put_reservation (store_t *store, const reservation_t *r,
                           int64_t time_seen, store_counts_t *counts,
                           gl_error_t *error)
{
    struct cluster_entry *cluster = store_cluster (store, r->cluster, error);
    db_statement_t *get = store_statement (store, SQL_RESERVATION_GET, error);
    db_statement_t *put = store_statement (store, SQL_RESERVATION_PUT, error);
    struct version fresh = {
        time_seen, r->end, r->flags, {r->name, r->nodelist, r->accounts}};
    enum verdict verdict;
    period_t changed;

    if (!cluster || !get || !put)
        return -1;
    db_bind_u64 (get, 0, cluster->id);
    db_bind_i64 (get, 1, r->start);
    db_bind_u64 (get, 2, r->id);
    verdict = judge (get, r->start, cluster->reread, &fresh, &changed, error);
    if (verdict == FAILED
        || forget_time (store, cluster, changed.start, changed.end, error) < 0)
        return -1;
    store_cluster_seen (cluster, time_seen, 0);
    db_bind_u64 (put, 0, cluster->id);
    db_bind_i64 (put, 1, r->start);
    db_bind_u64 (put, 2, r->id);
    return settle (store, verdict, put, 3, &fresh, counts, error);
}

static void bind_suspension_key (db_statement_t *st, uint64_t cluster,
                                 const suspension_t *s)
{
    db_bind_u64 (st, 0, cluster);
    db_bind_u64 (st, 1, s->id_job);
    db_bind_i64 (st, 2, s->time_submit);
    db_bind_i64 (st, 3, s->start);
}

int store_put_suspension (store_t *store, const suspension_t *s,
                          store_counts_t *counts, gl_error_t *error)
{
    struct cluster_entry *cluster = store_cluster (store, s->cluster, error);
    db_statement_t *get = store_statement (store, SQL_SUSPENSION_GET, error);
    db_statement_t *put = store_statement (store, SQL_SUSPENSION_PUT, error);
    int64_t end = -1;
    int rc;

    if (!cluster || !get || !put)
        return -1;
    bind_suspension_key (get, cluster->id, s);
    rc = db_step (get, error);
    if (rc == 1)
        end = db_column_i64 (get, 0);
    db_reset (get);
    if (rc < 0)
        return -1;
    if (rc == 1 && s->end <= end) {
        store_count (counts, false, false);
        return 0;
    }
    bind_suspension_key (put, cluster->id, s);
    db_bind_i64 (put, 4, s->end);
    if (db_run (put, error) < 0
        || forget_job (store, cluster, s->id_job, error) < 0)
        return -1;
    store_count (counts, rc == 0, true);
    return 0;
}

/* Iterators: a walk and nothing more. */
struct store_suspension_iter {
    walk_t walk;
};
struct store_event_iter {
    walk_t walk;
};
struct store_reservation_iter {
    walk_t walk;
};

static const struct walk_plan suspension_plan = {
    .select = "SELECT id_job, time_submit, time_start, time_end "
              "FROM suspension",
    .where = "cluster = ? AND id_job BETWEEN ? AND ?",
    .where_binds = "clh",
    .order = "id_job, time_submit, time_start",
    .by_job = true,
    .table = "suspension",
};

static const struct walk_plan event_plan = {
    .select = "SELECT e.time_start, e.node, e.time_end, e.state, g.value, "
              "n.value, r.value FROM event e "
              "LEFT JOIN text g ON g.id = e.gres "
              "LEFT JOIN text n ON n.id = e.nodelist "
              "LEFT JOIN text r ON r.id = e.reason",
    .where = "e.cluster = ?",
    .where_binds = "c",
    .period = "e.time_start < ? AND "
              "CASE WHEN e.time_end = 0 THEN ? ELSE e.time_end END > ?",
    .period_binds = "eas",
    .order = "e.time_start, e.node",
};

static const struct walk_plan reservation_plan = {
    .select = "SELECT v.id, v.time_start, v.time_end, v.flags, m.value, "
              "n.value, a.value FROM reservation v "
              "LEFT JOIN text m ON m.id = v.name "
              "LEFT JOIN text n ON n.id = v.nodelist "
              "LEFT JOIN text a ON a.id = v.accounts",
    .where = "v.cluster = ?",
    .where_binds = "c",
    .period = "v.time_start < ? AND "
              "CASE WHEN v.time_end = 0 THEN ? ELSE v.time_end END > ?",
    .period_binds = "eas",
    .order = "v.time_start, v.id",
};

/* An iterator whose first member is its walk, or NULL. */
static void *open_iter (size_t size, store_t *store,
                        const store_query_t *query,
                        const struct walk_plan *plan, gl_error_t *error)
{
    walk_t *walk = xcalloc (1, size);

    if (walk_open (walk, store, query, plan, error) < 0) {
        free (walk);
        return NULL;
    }
    return walk;
}

store_suspension_iter_t *store_suspension_iter_open (store_t *store,
                                                     const store_query_t *query,
                                                     gl_error_t *error)
{
    return open_iter (sizeof (store_suspension_iter_t), store, query,
                      &suspension_plan, error);
}

int store_suspension_iter_next (store_suspension_iter_t *iter,
                                suspension_t *ret, gl_error_t *error)
{
    const db_statement_t *st = iter->walk.st;
    const char *cluster;
    int rc = walk_next (&iter->walk, &cluster, error);

    if (rc == 1)
        *ret = (suspension_t){
            .cluster = cluster,
            .id_job = db_column_u64 (st, 0),
            .time_submit = db_column_i64 (st, 1),
            .start = db_column_i64 (st, 2),
            .end = db_column_i64 (st, 3),
        };
    return rc;
}

void store_suspension_iter_close (store_suspension_iter_t *iter)
{
    if (iter) {
        walk_close (&iter->walk);
        free (iter);
    }
}

store_event_iter_t *store_event_iter_open (store_t *store,
                                           const store_query_t *query,
                                           gl_error_t *error)
{
    return open_iter (sizeof (store_event_iter_t), store, query, &event_plan,
                      error);
}

int store_event_iter_next (store_event_iter_t *iter, node_event_t *ret,
                           gl_error_t *error)
{
    const db_statement_t *st = iter->walk.st;
    const char *cluster;
    int rc = walk_next (&iter->walk, &cluster, error);

    if (rc == 1)
        *ret = (node_event_t){
            .cluster = cluster,
            .start = db_column_i64 (st, 0),
            .node = db_column_length (st, 1) ? db_column_text (st, 1) : NULL,
            .end = db_column_i64 (st, 2),
            .state = (uint32_t)db_column_u64 (st, 3),
            .gres = db_column_text (st, 4),
            .nodelist = db_column_text (st, 5),
            .reason = db_column_text (st, 6),
        };
    return rc;
}

void store_event_iter_close (store_event_iter_t *iter)
{
    if (iter) {
        walk_close (&iter->walk);
        free (iter);
    }
}

store_reservation_iter_t *
store_reservation_iter_open (store_t *store, const store_query_t *query,
                             gl_error_t *error)
{
    return open_iter (sizeof (store_reservation_iter_t), store, query,
                      &reservation_plan, error);
}

int store_reservation_iter_next (store_reservation_iter_t *iter,
                                 reservation_t *ret, gl_error_t *error)
{
    const db_statement_t *st = iter->walk.st;
    const char *cluster;
    int rc = walk_next (&iter->walk, &cluster, error);

    if (rc == 1)
        *ret = (reservation_t){
            .cluster = cluster,
            .id = db_column_u64 (st, 0),
            .start = db_column_i64 (st, 1),
            .end = db_column_i64 (st, 2),
            .flags = db_column_u64 (st, 3),
            .name = db_column_text (st, 4),
            .nodelist = db_column_text (st, 5),
            .accounts = db_column_text (st, 6),
        };
    return rc;
}

void store_reservation_iter_close (store_reservation_iter_t *iter)
{
    if (iter) {
        walk_close (&iter->walk);
        free (iter);
    }
}
