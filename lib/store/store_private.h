/*
 * store_private.h: what the files of the store share: the connection, its
 * statements, interning, and the walk that every iterator is.
 */
#ifndef GL_STORE_STORE_PRIVATE_H
#define GL_STORE_STORE_PRIVATE_H

#include "base/buffer.h"
#include "store/chain.h"
#include "store/db.h"
#include "store/row.h"
#include "store/store.h"

struct cluster_entry {
    char *name;
    uint64_t id;
    int64_t as_of;   /* seen in this transaction */
    int64_t longest;
    bool dirty;
    bool last_known; /* whether last_job was looked up in this transaction */
    uint64_t last_job; /* no segment has a greater id */
    int64_t last_submit; /* and none of that id was submitted later */
    struct forgetting *forgetting; /* NULL: not asked in this transaction */
    bool settled; /* in this transaction: nothing is taken as seen */
    /* in this transaction: what slurmdbd said as of then is said anew; 0: none */
    int64_t reread;
};

struct intern_cache;
struct segment_batch;
struct node_entry;

struct store {
    db_t *db;
    /* whose connection has the chain: on SQLite one of the ledger file, else
     * the store itself */
    struct store *ledger;
    char *url;
    struct cached_statement {
        const void *key; /* the text of the SQL, or the row type */
        unsigned verb;
        db_statement_t *st;
        bool was_new; /* of ROW_ADD_NEW: the last row that was put was not there */
    } * statements;
    size_t statement_count;
    struct cluster_entry *clusters;
    size_t cluster_count;
    db_t **readers; /* connections of walks that are closed */
    size_t reader_count;
    struct intern_cache *caches; /* one for each type of shared rows */
    struct node_entry *nodes; /* seen in this transaction */
    struct segment_batch *batch; /* new segments that are not written yet */
    buffer_t key; /* scratch for interning */
    bool known;   /* the last segment put was there already */
    bool wrote_facts; /* in this transaction */
    bool wrote_chain;
    bool quiet; /* in this transaction: no revisions are made */
    int64_t changed_from; /* in this transaction: what is kept of stretches that
                             end later is wrong (store/cached.h) */
};

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

/* Ids of what many rows share, written where it is new: a text (0 for NULL), or
 * the columns of a row type, of a struct that has more. */
int intern_text (store_t *store, const char *text, uint64_t *ret_id,
                 gl_error_t *error);
int intern_part (store_t *store, const row_type_t *part, const void *row,
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
/* When the segments of a JobId began, ended, were seen and submitted. */
#define JOB_TIMES_SQL                                                     \
    "SELECT time_start, time_end, observed_at, time_submit FROM segment " \
    "WHERE cluster = ? AND id_job = ?"
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
/* Of cached.h: what changes in this transaction; done at the commit. */
void cached_forget (store_t *store, int64_t from);
int kept_flush (store_t *store, gl_error_t *error);
/* 1: before *ret_first no segment and no event of the cluster began, as of what is
 * committed. 0: nobody kept it. */
int kept_first (db_t *db, const char *cluster, int64_t *ret_first,
                gl_error_t *error);

/* The transaction is over. */
void forget_nothing (struct cluster_entry *cluster);

struct revision_row {
    revision_t revision;
    int64_t number; /* of those seen at the same moment */
};
extern const row_type_t revision_rows;
/* Write a revision. before, after: NULL, or yours during the call. */
int revision_add (store_t *store, uint64_t cluster, const revision_t *revision,
                  gl_error_t *error);

/* Delete the rollups of the cluster that overlap [start, end): of one unit, or
 * (-1) of days and months. */
int rollup_forget (store_t *store, uint64_t cluster, int unit, int64_t start,
                   int64_t end, gl_error_t *error);

/* Segments that were put may wait for others, to be written together: before a
 * statement that looks at the table, and at the commit, they are written. */
int segments_flush (store_t *store, gl_error_t *error);
void segments_forget (store_t *store);

/*
 * A walk: one statement, or two, run for one cluster after the other, clusters
 * in bytewise order, on a connection that no other uses meanwhile. `period_binds` lists the
 * parameters of the period in their order: s, e its start and end, S, E the
 * same in milliseconds; B where a stretch that reaches into it can begin; a the
 * cluster's as-of.
 */
struct walk_plan {
    const row_type_t *rows; /* t in the SQL; its first column is the cluster */
    const char *from;       /* instead of the table; may be NULL */
    const char *index[2];   /* of db_engine_t: the index to take; may be NULL */
    const char *joins;      /* more of them; may be NULL */
    const char
        *jobs; /* the id of the job, where rows are of jobs; may be NULL */
    const char *where;  /* further conditions; may be NULL */
    const char *period; /* if the query has a period; may be NULL */
    const char *period_binds;
    const char *order; /* NULL: by the key */
    bool hidden;       /* read hidden columns, too */
    bool ids;          /* read what is shared as its id */
    bool has_kind;     /* the query's kind chooses rows */
    bool by_job; /* limit the jobs to those of the period's segments */
    /* by_job: not every job has a row; finding the jobs is spared where there
     * are none */
    bool sparse;
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
    store_t *store;
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
    const char *table; /* of the plan, where it is sparse */
    bool between;
    struct walk_range {
        uint64_t low;
        uint64_t high;
    } all;                    /* the job of the query, or all jobs */
    struct walk_range *found; /* those of a period, or of the query's list;
                                 ascending */
    const struct walk_range *ranges; /* one or the other, of the pass */
    size_t range_count;
    size_t range_at;
    struct walk_cluster *clusters;
    size_t count;
    size_t at; /* the next cluster to begin */
    bool inside;
} walk_t;

/* 1: walk->st holds a row, of the cluster named walk_cluster(). */
int walk_next (walk_t *walk, gl_error_t *error);
const char *walk_cluster (const walk_t *walk);
void walk_close (walk_t *walk);
/* Sets walk->found and range_count: of the jobs with a segment of this cluster in the period. */
int walk_find_ranges (walk_t *walk, const struct walk_cluster *cluster,
                      gl_error_t *error);

/*
 * What an iterator of a kind of facts does beyond walking: all may be NULL but
 * the plan or choose(), which chooses one.
 */
struct iter_class {
    size_t fact_size; /* of the struct that callers have */
    const struct walk_plan *plan;
    const struct walk_plan *(*choose) (store_t *store,
                                       const store_query_t *query);
    size_t size; /* of the iterator; 0: store_iter_t */
    int (*open) (store_iter_t *iter, const store_query_t *query,
                 gl_error_t *error);
    /* 1: the row that the walk stands on is in ret_fact, with its cluster; 0:
     * it is not wanted; -1. NULL: row_read() */
    int (*read) (store_iter_t *iter, void *ret_fact, gl_error_t *error);
    void (*close) (store_iter_t *iter);
};
struct store_iter {
    walk_t walk;
    const struct iter_class *class;
    const row_type_t *rows;
};
extern const struct iter_class segment_iter, evidence_iter, suspension_iter,
    event_iter, reservation_iter, record_iter, account_iter, usage_iter,
    retag_iter, units_iter, node_iter, revision_iter, day_iter, month_iter;

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
