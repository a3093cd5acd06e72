/* The account trees: put and iterate. */
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

/* Is what stands there (seen then, under that parent) older or lesser? `reread`: as
 * in struct cluster_entry. */
static bool newer (const db_statement_t *row, int64_t time_seen, int64_t reread,
                   const char *parent)
{
    int64_t seen = db_column_i64 (row, 0);
    const char *stands = db_column_text (row, 1);

    if (seen != time_seen)
        return seen < time_seen;
    return seen == reread
           || strcmp (stands ? stands : "", parent ? parent : "") < 0;
}

static bool same_parent (const db_statement_t *row, const char *parent)
{
    const char *stands = db_column_text (row, 1);

    if (!stands || !parent)
        return stands == parent;
    return !strcmp (stands, parent);
}

static int write_account (store_t *store, uint64_t cluster, const char *account,
                          const char *parent, int64_t time_seen,
                          gl_error_t *error)
{
    db_statement_t *put = store_statement (store, SQL_ACCOUNT_PUT, error);

    if (!put)
        return -1;
    db_bind_u64 (put, 0, cluster);
    db_bind_text (put, 1, account);
    if (intern_bind (store, put, 2, parent, error) < 0)
        return -1;
    db_bind_i64 (put, 3, time_seen);
    return db_run (put, error);
}

int store_put_account (store_t *store, const store_account_t *a,
                       int64_t time_seen, store_counts_t *counts,
                       gl_error_t *error)
{
    struct cluster_entry *cluster = store_cluster (store, a->cluster, error);
    db_statement_t *get = store_statement (store, SQL_ACCOUNT_GET, error);
    bool write, same;
    int rc;

    if (!cluster || !get || store_check_name ("account", a->name, error) < 0)
        return -1;
    db_bind_u64 (get, 0, cluster->id);
    db_bind_text (get, 1, a->name);
    rc = db_step (get, error);
    write = rc == 0 || (rc == 1 && newer (get, time_seen, cluster->reread,
                                            a->parent));
    same = rc == 1 && same_parent (get, a->parent);
    db_reset (get);
    if (rc < 0)
        return -1;
    if (write
        && write_account (store, cluster->id, a->name, a->parent, time_seen,
                          error)
               < 0)
        return -1;
    store_count (counts, rc == 0, write && !same);
    return 0;
}

static int each_name (store_t *store, sql_t sql, store_name_f callback,
                      void *arg, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, sql, error);
    int rc = -1;

    while (st && (rc = db_step (st, error)) == 1)
        callback (db_column_text (st, 0), arg);
    db_reset (st);
    return rc;
}

int store_each_account (store_t *store, store_name_f callback, void *arg,
                        gl_error_t *error)
{
    return each_name (store, SQL_ACCOUNT_NAMES, callback, arg, error);
}

int store_each_user (store_t *store, store_name_f callback, void *arg,
                     gl_error_t *error)
{
    return each_name (store, SQL_USER_NAMES, callback, arg, error);
}

struct store_account_iter {
    walk_t walk;
};

static const struct walk_plan plan = {
    .select = "SELECT a.name, p.value FROM account a "
              "LEFT JOIN text p ON p.id = a.parent",
    .where = "a.cluster = ?",
    .where_binds = "c",
    .order = "a.name",
};

store_account_iter_t *store_account_iter_open (store_t *store,
                                               const store_query_t *query,
                                               gl_error_t *error)
{
    store_account_iter_t *iter = xcalloc (1, sizeof (*iter));

    if (walk_open (&iter->walk, store, query, &plan, error) < 0) {
        free (iter);
        return NULL;
    }
    return iter;
}

int store_account_iter_next (store_account_iter_t *iter, store_account_t *ret,
                             gl_error_t *error)
{
    const char *cluster;
    int rc = walk_next (&iter->walk, &cluster, error);

    if (rc == 1)
        *ret = (store_account_t){
            .cluster = cluster,
            .name = db_column_text (iter->walk.st, 0),
            .parent = db_column_text (iter->walk.st, 1),
        };
    return rc;
}

void store_account_iter_close (store_account_iter_t *iter)
{
    if (iter) {
        walk_close (&iter->walk);
        free (iter);
    }
}
