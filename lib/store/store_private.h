/*
 * store_private.h: what the files of the store share: the connection, its
 * statements, interning, and the walk that every iterator is.
 */
#ifndef GL_STORE_STORE_PRIVATE_H
#define GL_STORE_STORE_PRIVATE_H

#include "base/buffer.h"
#include "store/db.h"
#include "store/store.h"

/* Every statement of a put, by name; store_sql.c has their text. */
typedef enum {
    SQL_LOCK,
    SQL_CLUSTER_FIND,
    SQL_CLUSTER_ADD,
    SQL_CLUSTER_UPDATE,
    SQL_MARK_GET,
    SQL_MARK_PUT,
    SQL_TEXT_FIND,
    SQL_TEXT_ADD,
    SQL_PARTY_FIND,
    SQL_PARTY_ADD,
    SQL_SHAPE_FIND,
    SQL_SHAPE_ADD,
    SQL_SEGMENT_ADD,
    SQL_SEGMENT_ADD_MANY,
    SQL_SEGMENT_LAST,
    SQL_SEGMENT_GET,
    SQL_SEGMENT_PUT,
    SQL_SEGMENT_TOUCH,
    SQL_SUSPENSION_GET,
    SQL_SUSPENSION_PUT,
    SQL_EVENT_GET,
    SQL_EVENT_PUT,
    SQL_RESERVATION_GET,
    SQL_RESERVATION_PUT,
    SQL_RECORD_ADD,
    SQL_ACCOUNT_GET,
    SQL_ACCOUNT_PUT,
    SQL_ACCOUNT_NAMES,
    SQL_USER_NAMES,
    SQL_DEVICE_FIND,
    SQL_DEVICE_ADD,
    SQL_USAGE_ADD,
    SQL_USAGE_SAME,
    SQL_USAGE_GET,
    SQL_USAGE_PUT,
    SQL_NODE_GET,
    SQL_NODE_PUT,
    SQL_RETAG_GET,
    SQL_RETAG_PUT,
    SQL_ROLLUP_ADD,
    SQL_ROLLUP_FORGET,
    SQL_KEPT_GET,
    SQL_EXTENT_SEGMENT,
    SQL_EXTENT_EVENT,
    SQL_EXTENT_AS_OF,
    SQL_SEEN_GET,
    SQL_SEEN_PUT,
    SQL_SEEN_FORGET,
    SQL_SEEN_SETTLE,
    SQL_IMPORT_ADD,
    SQL_IMPORT_EACH,
    SQL_IMPORT_UNDO,
    SQL_IMPORT_PART_ADD,
    SQL_IMPORT_PART_GET,
    SQL_IMPORT_PART_FORGET,
    SQL_SEGMENT_DELETE,
    SQL_REVISION_TAKE_BACK,
    SQL_BACK_CLUSTER,
    SQL_BACK_SEGMENTS,
    SQL_BACK_FILLS,
    SQL_BACK_FILL,
    SQL_BACK_EVENTS,
    SQL_BACK_RESERVATIONS,
    SQL_BACK_ACCOUNTS,
    SQL_BACK_REVISIONS,
    SQL_BACK_FORGET,
    SQL_SEGMENT_UNSEEN,
    SQL_SEGMENT_GONE,
    SQL_REVISION_ADD,
    SQL_ROLLUP_ANY,
    SQL_JOB_TIMES,
    SQL_JOB_RECORDED,
    SQL_NODE_OLDER,
    SQL_CHAIN_HEAD,
    SQL_CHAIN_ADD,
    SQL_CHAIN_HASH,
    SQL_SNAPSHOT_GET,
    SQL_SNAPSHOT_ADD,
    SQL_METER_GET,
    SQL_METER_DROP,
    SQL_METER_PUT,
    SQL_METER_EACH,
    SQL_COUNT,
} sql_t;

const char *store_sql (db_engine_t engine, sql_t name);

/* The columns and joins of a whole segment, in the order that
 * store_segment_of_row() reads. */
#define SEGMENT_COLUMNS                                                        \
    "s.id_job, s.time_submit, s.time_start, s.time_end, s.time_seen, "         \
    "s.state, s.source, s.suspended, h.time_limit, p.user_name, p.uid, "       \
    "p.account, p.partition_name, p.qos, p.wckey, p.reservation, n.value, "    \
    "j.value, c.value, h.gres, h.gres_requested, h.gpu_asked, h.cpus, "        \
    "h.memory_mb, h.nodes, s.array_job, s.array_task, s.het_job, "             \
    "s.het_offset, s.job_db_inx, s.restart_count, s.sluid, s.gres_lost, s.fill "
/* LEFT JOIN also where a row is always there: it fixes the order of the join
 * on both engines, and with it the order of the rows. */
#define SEGMENT_JOINS                                                          \
    "LEFT JOIN party p ON p.id = s.party "                                     \
    "LEFT JOIN shape h ON h.id = s.shape "                                     \
    "LEFT JOIN text n ON n.id = s.nodelist "                                   \
    "LEFT JOIN text j ON j.id = s.job_name "                                   \
    "LEFT JOIN text c ON c.id = s.admin_comment "
#define SEGMENT_FILL_COLUMN 33
#define SEGMENT_GONE_COLUMN 34

/* Likewise of a stretch of device usage, for store_usage_of_row(). */
#define USAGE_COLUMNS                                                          \
    "u.id_job, u.begin_ms, u.record_key, u.length_ms, u.measures, d.node, "    \
    "d.gpu, d.slice, d.gres_index, d.memory_total "
#define USAGE_JOINS "LEFT JOIN device d ON d.id = u.device "

struct cluster_entry {
    char *name;
    uint64_t id;
    int64_t as_of;   /* seen in this transaction */
    int64_t longest;
    bool dirty;
    bool last_known; /* whether last_job was looked up in this transaction */
    uint64_t last_job; /* no segment has a greater id */
    struct forgetting *forgetting; /* NULL: not asked in this transaction */
    bool settled; /* in this transaction: nothing is taken as seen */
    /* in this transaction: what slurmdbd said as of then is said anew; 0: none */
    int64_t reread;
};

/* What is interned, each with a table and a cache. */
typedef enum {
    INTERN_TEXT,
    INTERN_PARTY,
    INTERN_SHAPE,
    INTERN_DEVICE,
    INTERN_COUNT,
} intern_kind_t;

struct intern_cache;
struct segment_batch;
struct node_entry;

struct store {
    db_t *db;
    char *url;
    db_statement_t *statements[SQL_COUNT];
    struct cluster_entry *clusters;
    size_t cluster_count;
    struct intern_cache *caches[INTERN_COUNT];
    struct node_entry *nodes; /* seen in this transaction */
    struct segment_batch *batch; /* new segments that are not written yet */
    buffer_t key; /* scratch for interning */
    bool known;   /* the last segment put was there already */
    bool wrote_facts; /* in this transaction */
    bool wrote_chain;
    bool quiet; /* in this transaction: no revisions are made */
    int64_t changed_from; /* in this transaction: what is kept of stretches that
                             end later is wrong (store/kept.h) */
};

/* A prepared statement, made when first asked for; NULL with an error. */
db_statement_t *store_statement (store_t *store, sql_t name,
                                 gl_error_t *error);

/* The cluster of a fact, made known if it is new; NULL with an error. The
 * pointer is good until the next call. */
struct cluster_entry *store_cluster (store_t *store, const char *name,
                                     gl_error_t *error);
/* The same, of what is no fact. */
struct cluster_entry *store_cluster_find (store_t *store, const char *name,
                                          gl_error_t *error);
void store_cluster_seen (struct cluster_entry *cluster, int64_t as_of,
                         int64_t longest);

/* Refuse a name that is no key on both engines: 1 to 255 bytes. */
int store_check_name (const char *what, const char *name, gl_error_t *error);

/* Ids of interned values; 0 is never one. intern_text() gives 0 for NULL. */
int intern_text (store_t *store, const char *text, uint64_t *ret_id,
                 gl_error_t *error);
/* Bind the id of a text, or NULL for NULL. */
int intern_bind (store_t *store, db_statement_t *st, unsigned at,
                 const char *text, gl_error_t *error);
int intern_party (store_t *store, const segment_t *segment, uint64_t *ret_id,
                  gl_error_t *error);
int intern_shape (store_t *store, const segment_t *segment, uint64_t *ret_id,
                  gl_error_t *error);
/* node, gpu, slice, gres_index and memory_total of a usage */
int intern_device (store_t *store, const device_usage_t *usage,
                   uint64_t *ret_id, gl_error_t *error);
/* After a rollback: what was cached may never have happened. */
void intern_forget (store_t *store);

/* A record of a node was put: `records` of them are new (0: it only changed).
 * Written at the commit. Nothing where the node has no name. */
struct node_record_id {
    int64_t stamp;
    uint8_t key[STORE_KEY_SIZE];
    uint64_t id_job;
};
int node_seen (store_t *store, uint64_t cluster, const char *node,
               uint32_t kind, unsigned records,
               const struct node_record_id *record, gl_error_t *error);
int node_flush (store_t *store, gl_error_t *error);
/* 1 if the node's newest record of the kind is not newer than `stamp`, 0 if it is
 * or if there is none, -1. */
int node_has_older (store_t *store, uint64_t cluster, const char *node,
                    uint32_t kind, int64_t stamp, gl_error_t *error);
void node_forget (store_t *store);

/*
 * What of the cluster changes in this transaction; its rollups are forgotten at
 * the commit. forget_any(): 1 if there are rollups at all, 0 if not, -1.
 */
int forget_any (store_t *store, struct cluster_entry *cluster,
                gl_error_t *error);
int forget_time (store_t *store, struct cluster_entry *cluster, int64_t start,
                 int64_t end, gl_error_t *error);
int forget_segment_time (store_t *store, struct cluster_entry *cluster,
                         const segment_t *segment, gl_error_t *error);
/* All segments of the JobId. */
int forget_job (store_t *store, struct cluster_entry *cluster, uint64_t id_job,
                gl_error_t *error);
/* What a node says of [start, end), of a job or of none (0). */
int forget_record (store_t *store, struct cluster_entry *cluster,
                   uint64_t id_job, int64_t start, int64_t end,
                   gl_error_t *error);
/* `before` NULL: it is new. only_seen: an open one that is open still. */
int forget_segment (store_t *store, struct cluster_entry *cluster,
                    const segment_t *before, const segment_t *after,
                    bool only_seen, gl_error_t *error);
/* It ended, and nothing else of it changed. */
int forget_ended (store_t *store, struct cluster_entry *cluster,
                  const segment_t *before, const segment_t *after,
                  gl_error_t *error);
int forget_flush (store_t *store, struct cluster_entry *cluster,
                  gl_error_t *error);
/* A rollup is put: only what is changed from now on forgets it. */
int forget_before (store_t *store, struct cluster_entry *cluster,
                   gl_error_t *error);
/* Of kept.h: what changes in this transaction; done at the commit. */
void kept_forget (store_t *store, int64_t from);
int kept_flush (store_t *store, gl_error_t *error);
/* 1: before *ret_first no segment and no event of the cluster began, as of what is
 * committed. 0: nobody kept it. */
int kept_first (db_t *db, const char *cluster, int64_t *ret_first,
                gl_error_t *error);

/* The transaction is over. */
void forget_nothing (struct cluster_entry *cluster);

/* Write a revision. before, after: NULL, or yours during the call. */
int revision_add (store_t *store, uint64_t cluster, const revision_t *revision,
                  gl_error_t *error);

/* Delete the rollups of the cluster that overlap [start, end): of one unit, or
 * (-1) of days and months. */
int rollup_forget (store_t *store, uint64_t cluster, int unit, int64_t start,
                   int64_t end, gl_error_t *error);
/* All parts of one that overlaps none. */
int rollup_add (store_t *store, uint64_t cluster, const store_rollup_t *rollup,
                gl_error_t *error);

/* Bind a value, or NULL where it is `unknown`. */
void store_bind_u64 (db_statement_t *st, unsigned at, uint64_t value,
                     uint64_t unknown);
void store_bind_i64 (db_statement_t *st, unsigned at, int64_t value,
                     int64_t unknown);
uint64_t store_column_u64 (const db_statement_t *st, unsigned at,
                           uint64_t unknown);
int64_t store_column_i64 (const db_statement_t *st, unsigned at,
                          int64_t unknown);

/* Segments that were put may wait for others, to be written together: before a
 * statement that looks at the table, and at the commit, they are written. */
#define SEGMENTS_AT_ONCE 32
int segments_flush (store_t *store, gl_error_t *error);
void segments_forget (store_t *store);

/* Everything but the cluster. Strings are the row's. */
void store_segment_of_row (const db_statement_t *st, segment_t *ret_segment);

/*
 * A walk: one statement, or two, run for one cluster after the other, clusters
 * in bytewise order, on a connection of its own. `binds` lists the parameters of
 * the SQL in their order: c cluster; l, h first and last job; s, e the period, S,
 * E the same in milliseconds; B where a stretch that reaches into it can begin;
 * k the kind; a the cluster's as-of.
 */
struct walk_plan {
    const char *select; /* up to and with the first table */
    const char *index[2]; /* of db_engine_t: the index to take; may be NULL */
    const char *joins;    /* may be NULL */
    const char *where;  /* always */
    const char *where_binds;
    const char *period; /* if the query has a period; may be NULL */
    const char *period_binds;
    const char *kind; /* if the query has a kind; may be NULL; binds k */
    const char *order;
    bool by_job; /* limit the jobs to those of the period's segments */
    /* by_job: where the rows are, if not every job has one; finding the jobs is
     * spared where there are none. May be NULL */
    const char *table;
    bool between; /* and all ids between them */
    /* how to read what belongs to no job, which comes first; may be NULL */
    const struct walk_plan *none;
};

struct walk_cluster {
    char *name;
    uint64_t id;
    int64_t as_of;
    int64_t longest;
};

typedef struct {
    db_t *db;
    store_query_t query; /* its cluster is not used any more */
    bool has_period;
    db_statement_t *st; /* the one that gave the row */
    struct walk_pass {
        db_statement_t *st;
        char *binds;
    } passes[2];
    size_t pass_count;
    size_t pass; /* the next or current one in the cluster */
    uint64_t first_job; /* the least id of a job */
    bool by_job; /* only the jobs of the period's segments */
    const char *table; /* of the plan */
    bool between;
    struct walk_range {
        uint64_t low;
        uint64_t high;
    } all;                    /* the job of the query, or all jobs */
    struct walk_range *found; /* those of a period, ascending */
    const struct walk_range *ranges; /* one or the other, of the pass */
    size_t range_count;
    size_t range_at;
    struct walk_cluster *clusters;
    size_t count;
    size_t at; /* the next cluster to begin */
    bool inside;
} walk_t;

int walk_open (walk_t *walk, store_t *store, const store_query_t *query,
               const struct walk_plan *plan, gl_error_t *error);
/* 1: walk->st holds a row, of the cluster named *ret_cluster. */
int walk_next (walk_t *walk, const char **ret_cluster, gl_error_t *error);
void walk_close (walk_t *walk);
/* Sets walk->found and range_count: of the jobs with a segment of this cluster in the period. */
int walk_find_ranges (walk_t *walk, const struct walk_cluster *cluster,
                      gl_error_t *error);

/* Count a put. */
static inline void store_count (store_counts_t *counts, bool inserted,
                                bool changed)
{
    if (counts && inserted)
        counts->inserted++;
    else if (counts && changed)
        counts->changed++;
    else if (counts)
        counts->unchanged++;
}

#endif /* !GL_STORE_STORE_PRIVATE_H */
