/* Records of nodes, and the evidence among them. */
#include <string.h>

#include "base/memory.h"
#include "evidence/evidence.h"
#include "record/record.h"
#include "store/store_private.h"

struct record_row {
    node_record_t record;
    evidence_t evidence; /* its source is unknown where there is none */
};
#define NO_EVIDENCE UINT32_MAX

static const column_t record_columns[] = {
    COLUMN (CLUSTER, node_record_t, cluster, KEY),
    COLUMN (U64, node_record_t, id_job, KEY),
    COLUMN (I64, node_record_t, stamp, KEY),
    COLUMN_AS ("record_key", BYTES, node_record_t, key, KEY,
               .size = STORE_KEY_SIZE),
    COLUMN (U32, node_record_t, kind),
    COLUMN (TEXT, node_record_t, node),
    COLUMN (BLOB, node_record_t, payload),
#define OF_EVIDENCE(UNKNOWN) \
    .flags = COLUMN_HIDDEN | COLUMN_NULLABLE, .unknown = (int64_t)(UNKNOWN)
    COLUMN_AS ("uid", U32, struct record_row, evidence.uid,
               OF_EVIDENCE (UINT32_MAX)),
    COLUMN_AS ("time_start", I64, struct record_row, evidence.time_start,
               OF_EVIDENCE (0)),
    COLUMN_AS ("tag_source", U32, struct record_row, evidence.source,
               OF_EVIDENCE (NO_EVIDENCE)),
    COLUMN_AS ("project", TEXT, struct record_row, evidence.project, HIDDEN),
    COLUMN_AS ("labels", TEXT, struct record_row, evidence.labels, HIDDEN),
    COLUMN_AS ("gpus", TEXT, struct record_row, evidence.gpus, HIDDEN),
};
static const row_type_t record_rows
    = ROW_TYPE ("node_record", record_columns, struct record_row);

/* The same rows, as evidence. */
static const column_t evidence_columns[] = {
    COLUMN (CLUSTER, evidence_t, cluster),
    COLUMN (U64, evidence_t, id_job),
    COLUMN (I64, evidence_t, stamp),
    COLUMN (TEXT, evidence_t, node),
    COLUMN (U32, evidence_t, uid, MAYBE (UINT32_MAX)),
    COLUMN (I64, evidence_t, time_start, MAYBE (0)),
    COLUMN_AS ("tag_source", U32, evidence_t, source),
    COLUMN (TEXT, evidence_t, project),
    COLUMN (TEXT, evidence_t, labels),
    COLUMN (TEXT, evidence_t, gpus),
};
static const row_type_t evidence_rows
    = ROW_TYPE ("node_record", evidence_columns, evidence_t);

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
    struct node_record_id id = {r->stamp, {0}, r->id_job};
    struct record_row row = {.record = *r};
    int fresh;

    if (!cluster)
        return -1;
    if (r->id_job > INT64_MAX)
        return gl_error (error, "job id %llu is not possible",
                         (unsigned long long)r->id_job);
    if (r->evidence)
        row.evidence = *r->evidence;
    else {
        row.evidence.uid = UINT32_MAX;
        row.evidence.source = (tag_source_t)NO_EVIDENCE;
    }
    fresh = row_add_new (store, &record_rows, cluster->id, &row, error);
    if (fresh < 0)
        return -1;
    store_count (counts, fresh, false);
    memcpy (id.key, r->key, sizeof (id.key));
    if (!fresh)
        return 0;
    if (forget (store, cluster, r, error) < 0)
        return -1;
    return node_seen (store, cluster->id, r->node, r->kind, 1, &id, error);
}

static const struct walk_plan evidence_plan = {
    .rows = &evidence_rows,
    .jobs = "t.id_job",
    .where = "t.tag_source IS NOT NULL",
    .order = "t.id_job, t.stamp, t.record_key",
    .by_job = true,
    .sparse = true,
};
const struct iter_class evidence_iter
    = {.fact_size = sizeof (evidence_t), .plan = &evidence_plan};

#define OF_NO_JOB                                                    \
    .rows = &record_rows, .where = "t.id_job = 0", .has_kind = true, \
    .period = "t.stamp >= ? AND t.stamp < ?", .period_binds = "se"
#define OF_JOBS(NONE)                                               \
    {                                                               \
        .rows = &record_rows, .jobs = "t.id_job", .has_kind = true, \
        .by_job = true, .sparse = true, .none = NONE                \
    }

static const struct walk_plan none_plan = {OF_NO_JOB};
/* Those of one kind have an index of their own. */
static const struct walk_plan none_of_kind_plan = {
    OF_NO_JOB,
    .index = {[DB_SQLITE] = "INDEXED BY node_record_kind",
              [DB_MYSQL] = "FORCE INDEX (node_record_kind)"},
    .order = "t.stamp, t.record_key",
};
static const struct walk_plan record_plan = OF_JOBS (&none_plan);
static const struct walk_plan record_of_kind_plan
    = OF_JOBS (&none_of_kind_plan);

static const struct walk_plan *choose (store_t *store,
                                       const store_query_t *query)
{
    (void)store;
    return query && query->kind ? &record_of_kind_plan : &record_plan;
}
const struct iter_class record_iter
    = {.fact_size = sizeof (node_record_t), .choose = choose};
