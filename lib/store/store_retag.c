/* Audited changes of project: put and iterate. */
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

/* NULL before "" before everything else. */
static int compare_texts (const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp (a, b);
}

static void bind_key (db_statement_t *st, uint64_t cluster, const retag_t *r)
{
    db_bind_u64 (st, 0, cluster);
    db_bind_u64 (st, 1, r->id_job);
    db_bind_i64 (st, 2, r->time_submit);
    db_bind_i64 (st, 3, r->stamp);
    db_bind_text (st, 4, r->who);
}

/* How `fresh` compares with the row that stands. */
static int compare_row (const db_statement_t *row, const retag_t *fresh)
{
    int order = compare_texts (fresh->project, db_column_text (row, 0));

    if (order == 0)
        order = compare_texts (fresh->previous, db_column_text (row, 1));
    return order ? order
                 : compare_texts (fresh->labels, db_column_text (row, 2));
}

static int check_retag (const retag_t *r, gl_error_t *error)
{
    if (r->id_job == 0 || r->id_job > INT64_MAX)
        return gl_error (error, "job id %llu is not possible",
                         (unsigned long long)r->id_job);
    if (store_check_name ("user", r->who, error) < 0
        || store_check_name ("project", r->project, error) < 0
        || (r->previous
            && store_check_name ("project", r->previous, error) < 0))
        return -1;
    if (r->labels && strnlen (r->labels, 1025) > 1024)
        return gl_error (error, "labels of more than 1024 bytes");
    return 0;
}

static int write_retag (store_t *store, uint64_t cluster, const retag_t *r,
                        gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_RETAG_PUT, error);

    if (!st)
        return -1;
    bind_key (st, cluster, r);
    db_bind_text (st, 5, r->project);
    db_bind_text (st, 6, r->previous);
    db_bind_text (st, 7, r->labels);
    return db_run (st, error);
}

int store_put_retag (store_t *store, const retag_t *r, store_counts_t *counts,
                     gl_error_t *error)
{
    db_statement_t *get = store_statement (store, SQL_RETAG_GET, error);
    struct cluster_entry *cluster;
    bool wins;
    int rc;

    if (!get || check_retag (r, error) < 0)
        return -1;
    cluster = store_cluster (store, r->cluster, error);
    if (!cluster)
        return -1;
    bind_key (get, cluster->id, r);
    rc = db_step (get, error);
    wins = rc == 0 || (rc == 1 && compare_row (get, r) > 0);
    db_reset (get);
    if (rc < 0
        || (wins
            && (write_retag (store, cluster->id, r, error) < 0
                || forget_job (store, cluster, r->id_job, error) < 0)))
        return -1;
    store_count (counts, rc == 0, wins);
    return 0;
}

struct store_retag_iter {
    walk_t walk;
};

static const struct walk_plan plan = {
    .select = "SELECT id_job, time_submit, stamp, who, project, previous, "
              "labels FROM retag",
    .where = "cluster = ? AND id_job BETWEEN ? AND ?",
    .where_binds = "clh",
    .order = "id_job, time_submit, stamp, who",
    .by_job = true,
    .table = "retag",
};

store_retag_iter_t *store_retag_iter_open (store_t *store,
                                           const store_query_t *query,
                                           gl_error_t *error)
{
    store_retag_iter_t *iter = xcalloc (1, sizeof (*iter));

    if (walk_open (&iter->walk, store, query, &plan, error) < 0) {
        free (iter);
        return NULL;
    }
    return iter;
}

int store_retag_iter_next (store_retag_iter_t *iter, retag_t *ret,
                           gl_error_t *error)
{
    const db_statement_t *st = iter->walk.st;
    const char *cluster;
    int rc = walk_next (&iter->walk, &cluster, error);

    if (rc == 1)
        *ret = (retag_t){
            .cluster = cluster,
            .id_job = db_column_u64 (st, 0),
            .time_submit = db_column_i64 (st, 1),
            .stamp = db_column_i64 (st, 2),
            .who = db_column_text (st, 3),
            .project = db_column_text (st, 4),
            .previous = db_column_text (st, 5),
            .labels = db_column_text (st, 6),
        };
    return rc;
}

void store_retag_iter_close (store_retag_iter_t *iter)
{
    if (iter) {
        walk_close (&iter->walk);
        free (iter);
    }
}
