/* Segments: put and iterate. */
#include <string.h>

#include "base/memory.h"
#include "store/merge.h"
#include "store/store_private.h"

static int check_segment (const segment_t *s, gl_error_t *error)
{
    if (s->id_job == 0 || s->id_job > INT64_MAX)
        return gl_error (error, "job id %llu is not possible",
                         (unsigned long long)s->id_job);
    return 0;
}

/* The ids of what a segment shares with others; 0: not known. */
struct shared {
    uint64_t party;
    uint64_t shape;
    uint64_t nodelist;
    uint64_t job_name;
    uint64_t admin_comment;
};

static int intern_shared (store_t *store, const segment_t *s,
                          struct shared *ret, gl_error_t *error)
{
    if (intern_party (store, s, &ret->party, error) < 0
        || intern_shape (store, s, &ret->shape, error) < 0
        || intern_text (store, s->nodelist, &ret->nodelist, error) < 0
        || intern_text (store, s->job_name, &ret->job_name, error) < 0)
        return -1;
    return intern_text (store, s->admin_comment, &ret->admin_comment, error);
}

/* From parameter `at` on, in the order of the table behind time_seen. */
static void bind_facts (db_statement_t *st, unsigned at, const segment_t *s,
                        const struct shared *shared)
{
    db_bind_i64 (st, at++, s->time_start);
    db_bind_i64 (st, at++, s->time_end);
    db_bind_u64 (st, at++, s->state);
    db_bind_u64 (st, at++, s->source);
    db_bind_u64 (st, at++, shared->party);
    db_bind_u64 (st, at++, shared->shape);
    store_bind_i64 (st, at++, s->suspended, SECONDS_UNKNOWN);
    store_bind_u64 (st, at++, shared->nodelist, 0);
    store_bind_u64 (st, at++, shared->job_name, 0);
    store_bind_u64 (st, at++, shared->admin_comment, 0);
    store_bind_u64 (st, at++, s->array_job, 0);
    store_bind_u64 (st, at++, s->array_task, TASK_NONE);
    store_bind_u64 (st, at++, s->het_job, 0);
    store_bind_u64 (st, at++, s->het_offset, TASK_NONE);
    store_bind_u64 (st, at++, s->job_db_inx, 0);
    store_bind_i64 (st, at++, s->restart_count, -1);
}

/* Run SQL_SEGMENT_ADD or SQL_SEGMENT_PUT. */
static int write_segment (store_t *store, sql_t sql, uint64_t cluster,
                          const observation_t *o, const struct shared *shared,
                          gl_error_t *error)
{
    const segment_t *s = &o->segment;
    db_statement_t *st = store_statement (store, sql, error);
    uint8_t fill[MERGE_FILL_MAX];
    /* one view alone has no exceptions */
    size_t length = sql == SQL_SEGMENT_ADD ? 0 : merge_pack (o, fill);

    if (!st)
        return -1;
    db_bind_u64 (st, 0, cluster);
    db_bind_u64 (st, 1, s->id_job);
    db_bind_i64 (st, 2, s->time_submit);
    db_bind_i64 (st, 3, s->time_seen);
    bind_facts (st, 4, s, shared);
    if (length > 0)
        db_bind_blob (st, 20, fill, length);
    return db_run (st, error);
}

/*
 * Most of what is put a second time is as it was: the same source says the same
 * at a later moment, and nothing else is known of the segment. Merging then
 * comes to a later time_seen, which one statement does without reading the row.
 * 1 if it was so, 0 if not.
 */
static int touch_segment (store_t *store, uint64_t cluster, const segment_t *s,
                          const struct shared *shared, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SEGMENT_TOUCH, error);

    if (!st)
        return -1;
    db_bind_i64 (st, 0, s->time_seen);
    db_bind_u64 (st, 1, cluster);
    db_bind_u64 (st, 2, s->id_job);
    db_bind_i64 (st, 3, s->time_submit);
    db_bind_i64 (st, 4, s->time_seen);
    bind_facts (st, 5, s, shared);
    if (db_run (st, error) < 0)
        return -1;
    return db_affected (store->db) == 1;
}

void store_segment_of_row (const db_statement_t *st, segment_t *ret)
{
    unsigned i = 0;

    ret->held = NULL;
    ret->held_count = 0;
    ret->shards = NULL;
    ret->shards_count = 0;
    ret->believed_end = 0;
    ret->sluid = 0;
    ret->id_job = db_column_u64 (st, i++);
    ret->time_submit = db_column_i64 (st, i++);
    ret->time_start = db_column_i64 (st, i++);
    ret->time_end = db_column_i64 (st, i++);
    ret->time_seen = db_column_i64 (st, i++);
    ret->state = (segment_state_t)db_column_u64 (st, i++);
    ret->source = (segment_source_t)db_column_u64 (st, i++);
    ret->suspended = store_column_i64 (st, i++, SECONDS_UNKNOWN);
    ret->time_limit = store_column_i64 (st, i++, SECONDS_UNKNOWN);
    ret->user = db_column_text (st, i++);
    ret->uid = (uint32_t)store_column_u64 (st, i++, UINT32_MAX);
    ret->account = db_column_text (st, i++);
    ret->partition = db_column_text (st, i++);
    ret->qos = db_column_text (st, i++);
    ret->wckey = db_column_text (st, i++);
    ret->reservation = db_column_text (st, i++);
    ret->nodelist = db_column_text (st, i++);
    ret->job_name = db_column_text (st, i++);
    ret->admin_comment = db_column_text (st, i++);
    ret->gres = db_column_text (st, i++);
    ret->gres_requested = db_column_text (st, i++);
    ret->gpu_asked = db_column_u64 (st, i++) != 0;
    ret->cpus = store_column_u64 (st, i++, COUNT_UNKNOWN);
    ret->memory_mb = store_column_u64 (st, i++, COUNT_UNKNOWN);
    ret->nodes = store_column_u64 (st, i++, COUNT_UNKNOWN);
    ret->array_job = db_column_u64 (st, i++);
    ret->array_task = (uint32_t)store_column_u64 (st, i++, TASK_NONE);
    ret->het_job = db_column_u64 (st, i++);
    ret->het_offset = (uint32_t)store_column_u64 (st, i++, TASK_NONE);
    ret->job_db_inx = db_column_u64 (st, i++);
    ret->restart_count = (int32_t)store_column_i64 (st, i++, -1);
}

/* The strings of a segment, copied; they outlive their row. */
#define STRINGS 11
static void own_strings (segment_t *s, char *owned[STRINGS])
{
    const char **strings[STRINGS] = {
        &s->user,        &s->account,  &s->partition, &s->qos,
        &s->wckey,       &s->nodelist, &s->job_name,  &s->admin_comment,
        &s->reservation, &s->gres,     &s->gres_requested};

    for (size_t i = 0; i < STRINGS; i++)
        *strings[i] = owned[i] = xstrdup (*strings[i]);
}

static int read_stored (db_statement_t *st, const segment_t *key,
                        observation_t *ret_stored, char *owned[STRINGS],
                        gl_error_t *error)
{
    segment_t row = {.cluster = key->cluster};

    store_segment_of_row (st, &row);
    own_strings (&row, owned);
    if (merge_unpack (ret_stored, &row,
                      db_column_text (st, SEGMENT_FILL_COLUMN),
                      db_column_length (st, SEGMENT_FILL_COLUMN))
        < 0)
        return gl_error (error, "job %llu of %s: its row is damaged",
                         (unsigned long long)key->id_job, key->cluster);
    return 0;
}

static int merge_stored (store_t *store, uint64_t cluster,
                         observation_t *stored, const observation_t *fresh,
                         store_counts_t *counts, gl_error_t *error)
{
    merge_change_t change = merge_observations (stored, fresh);
    struct shared shared;

    if (change != MERGE_SAME
        && (intern_shared (store, &stored->segment, &shared, error) < 0
            || write_segment (store, SQL_SEGMENT_PUT, cluster, stored, &shared,
                              error)
                   < 0))
        return -1;
    store_count (counts, false, change == MERGE_FACTS);
    return 0;
}

/* There is a row: merge with it. */
static int put_again (store_t *store, uint64_t cluster,
                      const observation_t *fresh, store_counts_t *counts,
                      gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SEGMENT_GET, error);
    char *owned[STRINGS] = {NULL};
    observation_t stored;
    int rc;

    if (!st)
        return -1;
    db_bind_u64 (st, 0, cluster);
    db_bind_u64 (st, 1, fresh->segment.id_job);
    db_bind_i64 (st, 2, fresh->segment.time_submit);
    rc = db_step (st, error);
    if (rc == 0)
        rc = gl_error (error, "job %llu vanished while it was written",
                       (unsigned long long)fresh->segment.id_job);
    if (rc == 1)
        rc = read_stored (st, &fresh->segment, &stored, owned, error);
    db_reset (st);
    if (rc == 0)
        rc = merge_stored (store, cluster, &stored, fresh, counts, error);
    for (size_t i = 0; i < STRINGS; i++)
        free (owned[i]);
    return rc;
}

/* 1: the row was there and only its time_seen moved. */
static int put_unchanged (store_t *store, uint64_t cluster, const segment_t *s,
                          const struct shared *shared, store_counts_t *counts,
                          gl_error_t *error)
{
    int rc = touch_segment (store, cluster, s, shared, error);

    /* an open segment ends where it was last seen: that is a change */
    if (rc == 1)
        store_count (counts, false, s->time_end == 0);
    return rc;
}

/* New segments and known ones come in runs: what the last one was is tried
 * first. Returns like put_unchanged(). */
static int put_new (store_t *store, uint64_t cluster,
                    const observation_t *fresh, const struct shared *shared,
                    store_counts_t *counts, gl_error_t *error)
{
    if (write_segment (store, SQL_SEGMENT_ADD, cluster, fresh, shared, error)
        < 0)
        return -1;
    store->known = db_affected (store->db) == 0;
    if (store->known)
        return 0;
    store_count (counts, true, true);
    return 1;
}

static int put_segment (store_t *store, uint64_t cluster,
                        const observation_t *fresh, const struct shared *shared,
                        store_counts_t *counts, gl_error_t *error)
{
    const segment_t *s = &fresh->segment;
    bool tried = store->known;
    int rc = 0;

    if (tried)
        rc = put_unchanged (store, cluster, s, shared, counts, error);
    if (rc == 0)
        rc = put_new (store, cluster, fresh, shared, counts, error);
    if (rc == 0 && !tried)
        rc = put_unchanged (store, cluster, s, shared, counts, error);
    if (rc == 0)
        rc = put_again (store, cluster, fresh, counts, error);
    return rc < 0 ? -1 : 0;
}

int store_put_segment (store_t *store, const segment_t *segment,
                       store_counts_t *counts, gl_error_t *error)
{
    struct cluster_entry *cluster;
    observation_t fresh;
    struct shared shared;

    if (check_segment (segment, error) < 0)
        return -1;
    cluster = store_cluster (store, segment->cluster, error);
    if (!cluster || intern_shared (store, segment, &shared, error) < 0)
        return -1;
    merge_observe (&fresh, segment);
    if (put_segment (store, cluster->id, &fresh, &shared, counts, error) < 0)
        return -1;
    store_cluster_seen (cluster, segment->time_seen,
                        segment_end (segment) - segment->time_start);
    return 0;
}

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
