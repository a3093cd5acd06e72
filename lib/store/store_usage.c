/* Device usage: put and iterate. */
#include <string.h>

#include "base/memory.h"
#include "record/record.h"
#include "store/store_private.h"
#include "store/usage.h"

int store_check_usage (const device_usage_t *usage, gl_error_t *error)
{
    return usage_check (usage, error);
}

static void bind_key (db_statement_t *st, uint64_t cluster, const uint8_t *key,
                      const device_usage_t *u)
{
    db_bind_u64 (st, 0, cluster);
    db_bind_u64 (st, 1, u->id_job);
    db_bind_i64 (st, 2, u->begin_ms);
    db_bind_blob (st, 3, key, STORE_KEY_SIZE);
}

/* Run SQL_USAGE_ADD, SQL_USAGE_PUT or SQL_USAGE_SAME; the last one gives 1 for
 * a row. */
static int run_usage (store_t *store, sql_t sql, uint64_t cluster,
                      const uint8_t *key, const device_usage_t *u,
                      gl_error_t *error)
{
    db_statement_t *st = store_statement (store, sql, error);
    uint8_t measures[USAGE_PACKED_MAX];
    uint64_t device;
    int rc;

    if (!st || intern_device (store, u, &device, error) < 0)
        return -1;
    bind_key (st, cluster, key, u);
    db_bind_i64 (st, 4, u->end_ms - u->begin_ms);
    db_bind_u64 (st, 5, device);
    db_bind_blob (st, 6, measures, usage_pack (u, measures));
    rc = db_step (st, error);
    db_reset (st);
    return rc;
}

/* In the order of USAGE_COLUMNS; not the cluster. */
static int usage_of_row (const db_statement_t *st, uint8_t key[STORE_KEY_SIZE],
                         device_usage_t *u,
                         char histogram[USAGE_HISTOGRAM_MAX + 1],
                         gl_error_t *error)
{
    u->id_job = db_column_u64 (st, 0);
    u->begin_ms = db_column_i64 (st, 1);
    u->end_ms = u->begin_ms + db_column_i64 (st, 3);
    u->node = db_column_text (st, 5);
    u->gpu = db_column_text (st, 6);
    u->slice = db_column_text (st, 7);
    u->gres_index = store_column_i64 (st, 8, MEASURE_UNKNOWN);
    u->memory_total = store_column_i64 (st, 9, MEASURE_UNKNOWN);
    if (db_column_length (st, 2) != STORE_KEY_SIZE
        || usage_unpack (u, db_column_text (st, 4), db_column_length (st, 4),
                         histogram)
               < 0)
        return gl_error (error, "device usage of job %llu: a row is damaged",
                         (unsigned long long)u->id_job);
    memcpy (key, db_column_text (st, 2), STORE_KEY_SIZE);
    return 0;
}

/* There is a row under this key. 1: `fresh` is to stand, 0: the row does. */
static int wins (store_t *store, uint64_t cluster, const uint8_t *key,
                 const device_usage_t *fresh, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_USAGE_GET, error);
    char histogram[USAGE_HISTOGRAM_MAX + 1];
    uint8_t found[STORE_KEY_SIZE];
    device_usage_t stands;
    int rc;

    if (!st)
        return -1;
    bind_key (st, cluster, key, fresh);
    rc = db_step (st, error);
    if (rc == 0)
        rc = gl_error (error, "a stretch of usage vanished while it was "
                              "written");
    if (rc == 1)
        rc = usage_of_row (st, found, &stands, histogram, error);
    if (rc == 0)
        rc = usage_compare (fresh, &stands) > 0;
    db_reset (st);
    return rc;
}

/* What a put came to. */
enum { USAGE_KEPT, USAGE_ADDED, USAGE_REPLACED };

/* One of them, or -1. */
static int put_usage (store_t *store, uint64_t cluster, const uint8_t *key,
                      const device_usage_t *u, store_counts_t *counts,
                      gl_error_t *error)
{
    int rc;

    if (run_usage (store, SQL_USAGE_ADD, cluster, key, u, error) < 0)
        return -1;
    if (db_affected (store->db) > 0) {
        store_count (counts, true, true);
        return USAGE_ADDED;
    }
    rc = run_usage (store, SQL_USAGE_SAME, cluster, key, u, error);
    if (rc == 0)
        rc = wins (store, cluster, key, u, error);
    else if (rc == 1)
        rc = 0;
    if (rc < 0
        || (rc == 1
            && run_usage (store, SQL_USAGE_PUT, cluster, key, u, error) < 0))
        return -1;
    store_count (counts, false, rc == 1);
    return rc == 1 ? USAGE_REPLACED : USAGE_KEPT;
}

int store_put_usage (store_t *store, const uint8_t key[STORE_KEY_SIZE],
                     const device_usage_t *usage, store_counts_t *counts,
                     gl_error_t *error)
{
    struct node_record_id id = {usage->end_ms / 1000, {0}, usage->id_job};
    struct cluster_entry *cluster;
    int rc;

    if (usage_check (usage, error) < 0)
        return -1;
    cluster = store_cluster (store, usage->cluster, error);
    if (!cluster)
        return -1;
    rc = put_usage (store, cluster->id, key, usage, counts, error);
    if (rc < 0
        || (rc != USAGE_KEPT
            && forget_record (store, cluster, usage->id_job,
                              usage->begin_ms / 1000,
                              usage->end_ms / 1000 + 1, error)
                   < 0))
        return -1;
    memcpy (id.key, key, STORE_KEY_SIZE);
    return node_seen (store, cluster->id, usage->node, RECORD_JOB_USAGE,
                      rc == USAGE_ADDED, &id, error);
}

struct store_usage_iter {
    walk_t walk;
    char histogram[USAGE_HISTOGRAM_MAX + 1];
};

static const struct walk_plan none_plan = {
    .select = "SELECT " USAGE_COLUMNS "FROM device_usage u",
    .joins = USAGE_JOINS,
    .where = "u.cluster = ? AND u.id_job = 0",
    .where_binds = "c",
    .period = "u.begin_ms >= ? AND u.begin_ms < ? "
              "AND u.begin_ms + u.length_ms > ?",
    .period_binds = "BES",
    .order = "u.id_job, u.begin_ms, u.record_key",
};

static const struct walk_plan plan = {
    .select = "SELECT " USAGE_COLUMNS "FROM device_usage u",
    .joins = USAGE_JOINS,
    .where = "u.cluster = ? AND u.id_job BETWEEN ? AND ?",
    .where_binds = "clh",
    .period = "u.begin_ms < ? AND u.begin_ms + u.length_ms > ?",
    .period_binds = "ES",
    .order = "u.id_job, u.begin_ms, u.record_key",
    .by_job = true,
    .table = "device_usage",
    .between = true, /* what is of no job that accounting knows */
    .none = &none_plan,
};

store_usage_iter_t *store_usage_iter_open (store_t *store,
                                           const store_query_t *query,
                                           gl_error_t *error)
{
    store_usage_iter_t *iter = xcalloc (1, sizeof (*iter));

    if (walk_open (&iter->walk, store, query, &plan, error) < 0) {
        free (iter);
        return NULL;
    }
    return iter;
}

int store_usage_iter_next (store_usage_iter_t *iter, store_usage_t *ret,
                           gl_error_t *error)
{
    int rc = walk_next (&iter->walk, &ret->usage.cluster, error);

    if (rc == 1
        && usage_of_row (iter->walk.st, ret->key, &ret->usage, iter->histogram,
                         error)
               < 0)
        return -1;
    return rc;
}

void store_usage_iter_close (store_usage_iter_t *iter)
{
    if (iter) {
        walk_close (&iter->walk);
        free (iter);
    }
}
