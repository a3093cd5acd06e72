/* The walk that every iterator is, and the list of clusters. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "store/store_private.h"

static int compare_names (const void *a, const void *b)
{
    return strcmp (((const struct walk_cluster *)a)->name,
                   ((const struct walk_cluster *)b)->name);
}

static void free_clusters (struct walk_cluster *clusters, size_t count)
{
    GL_FREE_EACH (clusters, count, it, free (it->name));
}

/* The clusters, or the one of that name, sorted. */
static int read_clusters (db_t *db, const char *only,
                          struct walk_cluster **ret_clusters, size_t *ret_count,
                          gl_error_t *error)
{
    db_statement_t *st = db_prepare (
        db, "SELECT id, name, as_of, longest FROM cluster", error);
    struct walk_cluster *clusters = NULL;
    size_t count = 0;
    int rc = -1;

    while (st && (rc = db_step (st, error)) == 1) {
        if (only && strcmp (only, db_column_text (st, 1)) != 0)
            continue;
        *GL_APPEND (clusters, count) = (struct walk_cluster){
            .id = db_column_u64 (st, 0),
            .name = xstrdup (db_column_text (st, 1)),
            .as_of = db_column_i64 (st, 2),
            .longest = db_column_i64 (st, 3),
        };
    }
    db_finalize (st);
    if (rc < 0) {
        free_clusters (clusters, count);
        return -1;
    }
    if (count > 1)
        qsort (clusters, count, sizeof (*clusters), compare_names);
    *ret_clusters = clusters;
    *ret_count = count;
    return 0;
}

int store_clusters (store_t *store, store_cluster_t **ret_clusters,
                    size_t *ret_count, gl_error_t *error)
{
    struct walk_cluster *found;
    store_cluster_t *clusters;
    size_t count;

    if (read_clusters (store->db, NULL, &found, &count, error) < 0)
        return -1;
    clusters = xcalloc (count + 1, sizeof (*clusters));
    for (size_t i = 0; i < count; i++) {
        clusters[i].name = GL_TAKE (found[i].name);
        clusters[i].as_of = found[i].as_of;
    }
    free_clusters (found, count);
    *ret_clusters = clusters;
    *ret_count = count;
    return 0;
}

void store_clusters_free (store_cluster_t *clusters, size_t count)
{
    for (size_t i = 0; clusters && i < count; i++)
        free (clusters[i].name);
    free (clusters);
}

/* SELECT ... FROM ... of the plan. */
static void add_select (db_engine_t engine, const struct walk_plan *plan,
                        buffer_t *sql)
{
    const char *index = plan->index[engine];
    BUFFER_AUTO columns = BUFFER_INIT;
    BUFFER_AUTO joins = BUFFER_INIT;

    row_select (plan->rows, plan->hidden, plan->ids, &columns, &joins);
    buffer_printf (sql, "SELECT %s FROM %s t %s%s %s", buffer_text (&columns),
                   plan->from ? plan->from : plan->rows->table,
                   index ? index : "", buffer_text (&joins),
                   plan->joins ? plan->joins : "");
}

/* The cluster and what else every row has to be; its parameters are `binds`. */
static void add_where (const walk_t *walk, const struct walk_plan *plan,
                       buffer_t *sql, buffer_t *binds)
{
    buffer_add_text (sql, " WHERE t.cluster = ?");
    buffer_add_char (binds, 'c');
    if (plan->jobs) {
        buffer_printf (sql, " AND %s BETWEEN ? AND ?", plan->jobs);
        buffer_add_text (binds, "lh");
    }
    if (plan->where)
        buffer_printf (sql, " AND %s", plan->where);
    if (walk->query.kind && plan->has_kind) {
        buffer_add_text (sql, " AND t.kind = ?");
        buffer_add_char (binds, 'k');
    }
    if (walk->has_period && plan->period) {
        buffer_printf (sql, " AND %s", plan->period);
        buffer_add_text (binds, plan->period_binds);
    }
}

static void add_order (const struct walk_plan *plan, buffer_t *sql)
{
    const char *comma = " ORDER BY ";

    if (plan->order)
        buffer_printf (sql, " ORDER BY %s", plan->order);
    for (unsigned i = 1; !plan->order && i < plan->rows->count; i++) {
        const column_t *c = &plan->rows->columns[i];
        if (c->flags & COLUMN_KEY) {
            buffer_printf (sql, "%st.%s", comma, c->name);
            comma = ", ";
        }
    }
}

static int add_pass (walk_t *walk, const struct walk_plan *plan,
                     gl_error_t *error)
{
    struct walk_pass *pass = &walk->passes[walk->pass_count];
    BUFFER_AUTO sql = BUFFER_INIT;
    BUFFER_AUTO binds = BUFFER_INIT;

    add_select (db_engine (walk->db), plan, &sql);
    add_where (walk, plan, &sql, &binds);
    add_order (plan, &sql);
    pass->st = db_prepare (walk->db, buffer_text (&sql), error);
    if (!pass->st)
        return -1;
    pass->binds = buffer_take (&binds);
    walk->pass_count++;
    return 0;
}

static bool is_of_jobs (const store_query_t *query)
{
    return query->id_job != 0 || query->id_count > 0;
}

/* Up to two statements: for what belongs to no job, and for what does. */
static int add_passes (walk_t *walk, const struct walk_plan *plan,
                       gl_error_t *error)
{
    const store_query_t *q = &walk->query;

    if (plan->none && !is_of_jobs (q) && q->jobs != STORE_OF_JOBS
        && add_pass (walk, plan->none, error) < 0)
        return -1;
    if (plan->none && !is_of_jobs (q) && q->jobs == STORE_OF_NO_JOB)
        return 0;
    walk->first_job = plan->none ? 1 : 0;
    if (add_pass (walk, plan, error) < 0)
        return -1;
    walk->between = plan->between;
    walk->table = plan->sparse ? plan->rows->table : NULL;
    walk->by_job = plan->by_job && walk->has_period && !is_of_jobs (q);
    return 0;
}

size_t store_ids_add (uint64_t *ids, size_t count, uint64_t id_job)
{
    size_t at = count;

    while (at > 0 && ids[at - 1] > id_job)
        at--;
    if (at > 0 && ids[at - 1] == id_job)
        return count;
    memmove (ids + at + 1, ids + at, (count - at) * sizeof (*ids));
    ids[at] = id_job;
    return count + 1;
}

/* A range for each job of the list. */
static void list_ranges (walk_t *walk)
{
    const store_query_t *q = &walk->query;

    walk->found = xcalloc (q->id_count, sizeof (*walk->found));
    for (size_t i = 0; i < q->id_count; i++)
        walk->found[i] = (struct walk_range){q->ids[i], q->ids[i]};
}

static int walk_begin (walk_t *walk, const store_query_t *query,
                       const struct walk_plan *plan, gl_error_t *error)
{
    if (read_clusters (walk->db, query ? query->cluster : NULL,
                       &walk->clusters, &walk->count, error)
            < 0
        || add_passes (walk, plan, error) < 0)
        return -1;
    walk->st = walk->passes[0].st;
    if (walk->query.id_count > 0)
        list_ranges (walk);
    return 0;
}

/* With a snapshot of now: a connection that an earlier walk used, or a new one. A
 * server may have closed the earlier one. */
static db_t *take_reader (store_t *store, gl_error_t *error)
{
    db_t *db;

    while (store->reader_count > 0) {
        db = store->readers[--store->reader_count];
        if (db_begin_read (db, NULL) == 0)
            return db;
        db_close (db);
    }
    db = db_open (store->url, DB_READ_ONLY, error);
    if (db && db_begin_read (db, error) < 0) {
        db_close (db);
        return NULL;
    }
    return db;
}

static void give_reader (store_t *store, db_t *db)
{
    if (db_failure (db) != DB_FAILURE_NONE) {
        db_close (db);
        return;
    }
    db_rollback (db);
    db_shrink (db);
    *GL_APPEND (store->readers, store->reader_count) = db;
}

static int walk_open (walk_t *walk, store_t *store, const store_query_t *query,
                      const struct walk_plan *plan, gl_error_t *error)
{
    memset (walk, 0, sizeof (*walk));
    if (db_in_transaction (store->db) && store->wrote_facts)
        return gl_error (error, "facts are read outside a transaction that puts "
                                "some: commit first");
    if (query) {
        walk->query = *query;
        walk->has_period = query->start != 0 || query->end != 0;
    }
    walk->store = store;
    walk->db = take_reader (store, error);
    if (!walk->db || walk_begin (walk, query, plan, error) < 0) {
        walk_close (walk);
        return -1;
    }
    return 0;
}

/* 1: the cluster has rows of a job at all. */
static int has_rows (walk_t *walk, const struct walk_cluster *c,
                     gl_error_t *error)
{
    BUFFER_AUTO sql = BUFFER_INIT;
    db_statement_t *st;
    int rc;

    if (!walk->table)
        return 1;
    buffer_printf (&sql,
                   "SELECT 1 FROM %s WHERE cluster = ? AND id_job > 0 LIMIT 1",
                   walk->table);
    st = db_prepare (walk->db, buffer_text (&sql), error);
    if (!st)
        return -1;
    db_bind_u64 (st, 0, c->id);
    rc = db_step (st, error);
    db_finalize (st);
    return rc;
}

/* The jobs of the cluster to look at. */
static int find_ranges (walk_t *walk, const struct walk_cluster *c,
                        gl_error_t *error)
{
    uint64_t job = walk->query.id_job;
    bool has_job = strchr (walk->passes[walk->pass].binds, 'l') != NULL;

    walk->range_at = 0;
    if (has_job && walk->query.id_count > 0) {
        walk->ranges = walk->found;
        walk->range_count = walk->query.id_count;
        return 0;
    }
    if (has_job && walk->by_job) {
        int rc = has_rows (walk, c, error);
        walk->range_count = 0;
        if (rc == 1)
            rc = walk_find_ranges (walk, c, error);
        walk->ranges = walk->found;
        return rc < 0 ? -1 : 0;
    }
    walk->all = (struct walk_range){job ? job : walk->first_job,
                                    job ? job : INT64_MAX};
    walk->ranges = &walk->all;
    walk->range_count = 1;
    return 0;
}

/* Saturated: a period may be meant to have no end. */
static int64_t milliseconds (int64_t seconds)
{
    const int64_t most = INT64_MAX / 1000 - STORE_STRETCH_MAX_MS;

    if (seconds > most)
        seconds = most;
    if (seconds < -most)
        seconds = -most;
    return seconds * 1000;
}

/* Run the pass for the jobs of the range that it is at. */
static void enter_range (walk_t *walk)
{
    const struct walk_cluster *c = &walk->clusters[walk->at];
    const struct walk_pass *pass = &walk->passes[walk->pass];
    const store_query_t *q = &walk->query;
    const struct walk_range *range = &walk->ranges[walk->range_at];

    walk->st = pass->st;
    for (unsigned i = 0; pass->binds[i]; i++) {
        switch (pass->binds[i]) {
        case 'c':
            db_bind_u64 (pass->st, i, c->id);
            break;
        case 'l':
            db_bind_u64 (pass->st, i, range->low);
            break;
        case 'h':
            db_bind_u64 (pass->st, i, range->high);
            break;
        case 's':
            db_bind_i64 (pass->st, i, q->start);
            break;
        case 'e':
            db_bind_i64 (pass->st, i, q->end);
            break;
        case 'S':
            db_bind_i64 (pass->st, i, milliseconds (q->start));
            break;
        case 'E':
            db_bind_i64 (pass->st, i, milliseconds (q->end));
            break;
        case 'B':
            db_bind_i64 (pass->st, i,
                         milliseconds (q->start) - STORE_STRETCH_MAX_MS);
            break;
        case 'k':
            db_bind_u64 (pass->st, i, q->kind);
            break;
        case 'a':
            db_bind_i64 (pass->st, i, c->as_of);
            break;
        }
    }
    walk->inside = true;
}

static int enter_pass (walk_t *walk, gl_error_t *error)
{
    if (find_ranges (walk, &walk->clusters[walk->at], error) < 0)
        return -1;
    if (walk->range_count > 0)
        enter_range (walk);
    return 0;
}

static void leave_range (walk_t *walk)
{
    walk->inside = false;
    if (++walk->range_at < walk->range_count) {
        enter_range (walk);
        return;
    }
    if (++walk->pass == walk->pass_count) {
        walk->pass = 0;
        walk->at++;
    }
}

const char *walk_cluster (const walk_t *walk)
{
    return walk->clusters[walk->at].name;
}

int walk_next (walk_t *walk, gl_error_t *error)
{
    while (walk->at < walk->count) {
        int rc = 0;

        if (!walk->inside && enter_pass (walk, error) < 0)
            return -1;
        if (walk->inside)
            rc = db_step (walk->st, error);
        if (rc != 0)
            return rc;
        leave_range (walk);
    }
    return 0;
}

void walk_close (walk_t *walk)
{
    for (size_t i = 0; i < walk->pass_count; i++) {
        db_finalize (walk->passes[i].st);
        free (walk->passes[i].binds);
    }
    free (walk->found);
    if (walk->db)
        give_reader (walk->store, walk->db);
    free_clusters (walk->clusters, walk->count);
    memset (walk, 0, sizeof (*walk));
}

/* --- iterators ------------------------------------------------------------ */

static const struct iter_class *const classes[] = {
    [STORE_SEGMENTS] = &segment_iter,
    [STORE_EVIDENCE] = &evidence_iter,
    [STORE_SUSPENSIONS] = &suspension_iter,
    [STORE_EVENTS] = &event_iter,
    [STORE_RESERVATIONS] = &reservation_iter,
    [STORE_RECORDS] = &record_iter,
    [STORE_ACCOUNTS] = &account_iter,
    [STORE_USAGE] = &usage_iter,
    [STORE_RETAGS] = &retag_iter,
    [STORE_UNITS] = &units_iter,
    [STORE_NODES] = &node_iter,
    [STORE_REVISIONS] = &revision_iter,
    [STORE_DAYS] = &day_iter,
    [STORE_MONTHS] = &month_iter,
};

store_iter_t *store_iter_open (store_t *store, store_kind_t kind,
                               const store_query_t *query, gl_error_t *error)
{
    const struct iter_class *class = classes[kind];
    const struct walk_plan *plan
        = class->choose ? class->choose (store, query) : class->plan;
    store_iter_t *iter
        = xcalloc (1, class->size ? class->size : sizeof (*iter));

    iter->class = class;
    iter->rows = plan->rows;
    if (walk_open (&iter->walk, store, query, plan, error) < 0
        || (class->open && class->open (iter, query, error) < 0)) {
        store_iter_close (iter);
        return NULL;
    }
    return iter;
}

static int read_fact (store_iter_t *iter, void *ret_fact, gl_error_t *error)
{
    memset (ret_fact, 0, iter->class->fact_size);
    *(const char **)((char *)ret_fact + iter->rows->columns[0].offset)
        = walk_cluster (&iter->walk);
    if (iter->class->read)
        return iter->class->read (iter, ret_fact, error);
    return row_read (iter->rows, false, iter->walk.st, ret_fact, error) < 0 ? -1
                                                                            : 1;
}

int store_iter_next (store_iter_t *iter, void *ret_fact, gl_error_t *error)
{
    int rc;

    while ((rc = walk_next (&iter->walk, error)) == 1) {
        rc = read_fact (iter, ret_fact, error);
        if (rc != 0)
            break;
    }
    return rc;
}

void store_iter_close (store_iter_t *iter)
{
    if (!iter)
        return;
    if (iter->class->close)
        iter->class->close (iter);
    walk_close (&iter->walk);
    free (iter);
}
