/* Records of nodes, and the evidence among them. */
#include <string.h>

#include "base/memory.h"
#include "evidence/evidence.h"
#include "record/record.h"
#include "store/store_private.h"

static int bind_evidence (store_t *store, db_statement_t *st,
                          const evidence_t *e, gl_error_t *error)
{
    store_bind_u64 (st, 6, e->uid, UINT32_MAX);
    store_bind_i64 (st, 7, e->time_start, 0);
    db_bind_u64 (st, 8, e->source);
    if (intern_bind (store, st, 9, e->project, error) < 0
        || intern_bind (store, st, 10, e->labels, error) < 0
        || intern_bind (store, st, 11, e->gpus, error) < 0)
        return -1;
    return 0;
}

/* What was counted without this record. What an inventory says holds until the next
 * one, also of jobs that began a little before it, and that of the first one of
 * all time before it. */
static int forget (store_t *store, struct cluster_entry *cluster,
                   const node_record_t *r, gl_error_t *error)
{
    int64_t from = r->stamp - INVENTORY_LATE_SECONDS;
    int older;

    if (r->id_job != 0)
        return forget_record (store, cluster, r->id_job, r->stamp, r->stamp,
                              error);
    if (r->kind != RECORD_INVENTORY)
        return 0;
    older = forget_any (store, cluster, error);
    if (older != 1)
        return older;
    older = node_has_older (store, cluster->id, r->node, r->kind, r->stamp,
                            error);
    if (older < 0)
        return -1;
    return forget_time (store, cluster, older ? from : INT64_MIN, INT64_MAX,
                        error);
}

int store_put_record (store_t *store, const node_record_t *r,
                      store_counts_t *counts, gl_error_t *error)
{
    struct cluster_entry *cluster = store_cluster (store, r->cluster, error);
    db_statement_t *st = store_statement (store, SQL_RECORD_ADD, error);
    struct node_record_id id = {r->stamp, {0}, r->id_job};
    bool fresh;

    if (!cluster || !st)
        return -1;
    if (r->id_job > INT64_MAX)
        return gl_error (error, "job id %llu is not possible",
                         (unsigned long long)r->id_job);
    if (intern_bind (store, st, 5, r->node, error) < 0
        || (r->evidence && bind_evidence (store, st, r->evidence, error) < 0)) {
        /* what is bound must not show up in the next record */
        db_reset (st);
        return -1;
    }
    db_bind_u64 (st, 0, cluster->id);
    db_bind_u64 (st, 1, r->id_job);
    db_bind_i64 (st, 2, r->stamp);
    db_bind_blob (st, 3, r->key, sizeof (r->key));
    db_bind_u64 (st, 4, r->kind);
    db_bind_blob (st, 12, r->payload, r->payload_length);
    if (db_run (st, error) < 0)
        return -1;
    fresh = db_affected (store->db) > 0;
    store_count (counts, fresh, false);
    memcpy (id.key, r->key, sizeof (id.key));
    if (!fresh)
        return 0;
    if (forget (store, cluster, r, error) < 0)
        return -1;
    return node_seen (store, cluster->id, r->node, r->kind, 1, &id, error);
}

struct store_evidence_iter {
    walk_t walk;
};
struct store_record_iter {
    walk_t walk;
};

static const struct walk_plan evidence_plan = {
    .select = "SELECT r.id_job, r.stamp, n.value, r.uid, r.time_start, "
              "r.tag_source, p.value, l.value, g.value FROM node_record r "
              "LEFT JOIN text n ON n.id = r.node "
              "LEFT JOIN text p ON p.id = r.project "
              "LEFT JOIN text l ON l.id = r.labels "
              "LEFT JOIN text g ON g.id = r.gpus",
    .where = "r.cluster = ? AND r.id_job BETWEEN ? AND ? "
             "AND r.tag_source IS NOT NULL",
    .where_binds = "clh",
    .order = "r.id_job, r.stamp, r.record_key",
    .by_job = true,
    .table = "node_record",
};

#define RECORD_SELECT                                                          \
    "SELECT r.id_job, r.stamp, r.record_key, r.kind, n.value, r.payload "      \
    "FROM node_record r"
#define RECORD_JOINS "LEFT JOIN text n ON n.id = r.node"

static const struct walk_plan record_none_plan = {
    .select = RECORD_SELECT,
    .joins = RECORD_JOINS,
    .where = "r.cluster = ? AND r.id_job = 0",
    .where_binds = "c",
    .period = "r.stamp >= ? AND r.stamp < ?",
    .period_binds = "se",
    .order = "r.id_job, r.stamp, r.record_key",
};
/* Those of one kind have an index of their own. */
static const struct walk_plan record_none_of_kind_plan = {
    .select = RECORD_SELECT,
    .index = {[DB_SQLITE] = "INDEXED BY node_record_kind",
              [DB_MYSQL] = "FORCE INDEX (node_record_kind)"},
    .joins = RECORD_JOINS,
    .where = "r.cluster = ? AND r.id_job = 0",
    .where_binds = "c",
    .kind = "r.kind = ?",
    .period = "r.stamp >= ? AND r.stamp < ?",
    .period_binds = "se",
    .order = "r.stamp, r.record_key",
};
static const struct walk_plan record_plan = {
    .select = RECORD_SELECT,
    .joins = RECORD_JOINS,
    .where = "r.cluster = ? AND r.id_job BETWEEN ? AND ?",
    .where_binds = "clh",
    .kind = "r.kind = ?",
    .order = "r.id_job, r.stamp, r.record_key",
    .by_job = true,
    .table = "node_record",
    .none = &record_none_plan,
};
static const struct walk_plan record_of_kind_plan = {
    .select = RECORD_SELECT,
    .joins = RECORD_JOINS,
    .where = "r.cluster = ? AND r.id_job BETWEEN ? AND ?",
    .where_binds = "clh",
    .kind = "r.kind = ?",
    .order = "r.id_job, r.stamp, r.record_key",
    .by_job = true,
    .table = "node_record",
    .none = &record_none_of_kind_plan,
};

store_evidence_iter_t *store_evidence_iter_open (store_t *store,
                                                 const store_query_t *query,
                                                 gl_error_t *error)
{
    store_evidence_iter_t *iter = xcalloc (1, sizeof (*iter));

    if (walk_open (&iter->walk, store, query, &evidence_plan, error) < 0) {
        free (iter);
        return NULL;
    }
    return iter;
}

int store_evidence_iter_next (store_evidence_iter_t *iter, evidence_t *ret,
                              gl_error_t *error)
{
    const db_statement_t *st = iter->walk.st;
    const char *cluster;
    int rc = walk_next (&iter->walk, &cluster, error);

    if (rc == 1)
        *ret = (evidence_t){
            .cluster = cluster,
            .id_job = db_column_u64 (st, 0),
            .stamp = db_column_i64 (st, 1),
            .node = db_column_text (st, 2),
            .uid = (uint32_t)store_column_u64 (st, 3, UINT32_MAX),
            .time_start = db_column_i64 (st, 4),
            .source = (tag_source_t)db_column_u64 (st, 5),
            .project = db_column_text (st, 6),
            .labels = db_column_text (st, 7),
            .gpus = db_column_text (st, 8),
        };
    return rc;
}

void store_evidence_iter_close (store_evidence_iter_t *iter)
{
    if (iter) {
        walk_close (&iter->walk);
        free (iter);
    }
}

store_record_iter_t *store_record_iter_open (store_t *store,
                                             const store_query_t *query,
                                             gl_error_t *error)
{
    store_record_iter_t *iter = xcalloc (1, sizeof (*iter));
    const struct walk_plan *plan
        = query && query->kind ? &record_of_kind_plan : &record_plan;

    if (walk_open (&iter->walk, store, query, plan, error) < 0) {
        free (iter);
        return NULL;
    }
    return iter;
}

int store_record_iter_next (store_record_iter_t *iter, node_record_t *ret,
                            gl_error_t *error)
{
    const db_statement_t *st;
    const char *cluster;
    int rc = walk_next (&iter->walk, &cluster, error);

    if (rc != 1)
        return rc;
    st = iter->walk.st;
    *ret = (node_record_t){
        .cluster = cluster,
        .id_job = db_column_u64 (st, 0),
        .stamp = db_column_i64 (st, 1),
        .kind = (uint32_t)db_column_u64 (st, 3),
        .node = db_column_text (st, 4),
        .payload = db_column_text (st, 5),
        .payload_length = db_column_length (st, 5),
    };
    if (db_column_length (st, 2) != STORE_KEY_SIZE)
        return gl_error (error, "a record of job %llu has a damaged key",
                         (unsigned long long)ret->id_job);
    memcpy (ret->key, db_column_text (st, 2), STORE_KEY_SIZE);
    return 1;
}

void store_record_iter_close (store_record_iter_t *iter)
{
    if (iter) {
        walk_close (&iter->walk);
        free (iter);
    }
}
