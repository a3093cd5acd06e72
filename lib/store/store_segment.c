/* Segments: put. */
#include <string.h>

#include "base/memory.h"
#include "store/merge.h"
#include "store/revise.h"
#include "store/span.h"
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
    store_bind_u64 (st, at++, s->sluid, 0);
}

/* What a row has of a segment that one source alone told; from parameter `at`
 * on. */
#define BOUND 22
static void bind_segment (db_statement_t *st, unsigned at, uint64_t cluster,
                          const segment_t *s, const struct shared *shared)
{
    db_bind_u64 (st, at, cluster);
    db_bind_u64 (st, at + 1, s->id_job);
    db_bind_i64 (st, at + 2, s->time_submit);
    db_bind_i64 (st, at + 3, s->time_seen);
    bind_facts (st, at + 4, s, shared);
    db_bind_u64 (st, at + 21, span_of (s->time_start, s->time_end));
}

/* Run SQL_SEGMENT_ADD or SQL_SEGMENT_PUT. */
static int write_segment (store_t *store, sql_t sql, uint64_t cluster,
                          const observation_t *o, const struct shared *shared,
                          int64_t gone, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, sql, error);
    uint8_t fill[MERGE_FILL_MAX];
    /* one view alone has no exceptions */
    size_t length = sql == SQL_SEGMENT_ADD ? 0 : merge_pack (o, fill);

    if (!st)
        return -1;
    bind_segment (st, 0, cluster, &o->segment, shared);
    if (length > 0)
        db_bind_blob (st, BOUND, fill, length);
    store_bind_i64 (st, BOUND + 1, gone, 0);
    store_bind_i64 (st, BOUND + 2, o->segment.gres_lost, 0);
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
    ret->gpu_shown = false;
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
    ret->sluid = db_column_u64 (st, i++);
    ret->gres_lost = db_column_i64 (st, i++);
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

/* A row with what belongs to it. */
struct stored {
    observation_t observation;
    int64_t gone; /* 0: it is not */
    char *owned[STRINGS];
};

static int read_stored (db_statement_t *st, const segment_t *key,
                        struct stored *ret, gl_error_t *error)
{
    segment_t row = {.cluster = key->cluster};

    store_segment_of_row (st, &row);
    own_strings (&row, ret->owned);
    ret->gone = db_column_i64 (st, SEGMENT_GONE_COLUMN);
    if (merge_unpack (&ret->observation, &row,
                      db_column_text (st, SEGMENT_FILL_COLUMN),
                      db_column_length (st, SEGMENT_FILL_COLUMN))
        < 0)
        return gl_error (error, "job %llu of %s: its row is damaged",
                         (unsigned long long)key->id_job, key->cluster);
    return 0;
}

static int add_revision (store_t *store, uint64_t cluster,
                         const segment_t *fresh, revision_kind_t kind,
                         int64_t seen, const buffer_t *texts, gl_error_t *error)
{
    revision_t revision = {.id_job = fresh->id_job,
                           .time_submit = fresh->time_submit,
                           .seen = seen,
                           .kind = kind,
                           .source = fresh->source};

    if (texts) {
        revision.before = buffer_text (&texts[0]);
        revision.after = buffer_text (&texts[1]);
    }
    return revision_add (store, cluster, &revision, error);
}

/* It was gone and slurmdbd shows it again: from now on both are history. */
static int come_back (store_t *store, uint64_t cluster, struct stored *stored,
                      const segment_t *fresh, bool *ret_back,
                      gl_error_t *error)
{
    *ret_back = stored->gone && !store->quiet && fresh->source == SOURCE_SLURMDBD
                && fresh->time_seen >= stored->gone;
    if (!*ret_back)
        return 0;
    if (add_revision (store, cluster, fresh, REVISION_GONE, stored->gone, NULL,
                      error)
            < 0
        || add_revision (store, cluster, fresh, REVISION_BACK, fresh->time_seen,
                         NULL, error)
               < 0)
        return -1;
    kept_forget (store, stored->observation.segment.time_start);
    stored->gone = 0;
    return 0;
}

/* Nothing but time_seen of an open segment moved. */
static bool only_seen (const segment_t *before, const segment_t *after)
{
    return before->time_end == 0 && after->time_end == 0
           && before->time_start == after->time_start
           && before->state == after->state
           && merge_same_fields (before, after);
}

/* An open segment came to its end, and had been counted up to it at most. */
static bool only_ended (const segment_t *before, const segment_t *after)
{
    return before->time_start > 0 && before->time_end == 0
           && after->time_end != 0 && before->time_start == after->time_start
           && segment_end (after) >= segment_end (before)
           && merge_same_fields (before, after);
}

/* Nothing is other than it was. */
static bool only_seen_again (const segment_t *before, const segment_t *after)
{
    return before->time_seen == after->time_seen
           && before->time_start == after->time_start
           && before->time_end == after->time_end
           && before->state == after->state && before->source == after->source
           && before->gres_lost == after->gres_lost
           && merge_same_fields (before, after);
}

/* What the merge changed is noted, and what was counted of it is forgotten. */
static int note_change (store_t *store, struct cluster_entry *cluster,
                        const segment_t *before, const segment_t *after,
                        const segment_t *fresh, store_counts_t *counts,
                        gl_error_t *error)
{
    buffer_t texts[2] = {BUFFER_INIT, BUFFER_INIT};
    bool revised = revise (before, after, &texts[0], &texts[1]);
    int rc = 0;

    if (revised && !store->quiet)
        rc = add_revision (store, cluster->id, fresh, REVISION_CHANGED,
                           fresh->time_seen, texts, error);
    if (counts) {
        counts->revised += revised;
        if (after->gres_lost && !before->gres_lost && counts->lost++ == 0)
            counts->lost_job = after->id_job;
    }
    buffer_done (&texts[0]);
    buffer_done (&texts[1]);
    if (rc < 0)
        return -1;
    if (only_ended (before, after))
        return forget_ended (store, cluster, before, after, error);
    return forget_segment (store, cluster, before, after,
                           only_seen (before, after), error);
}

/* What slurmdbd says again as of the same moment replaces what it said. */
static merge_change_t merge (const struct cluster_entry *cluster,
                             observation_t *o, const observation_t *fresh)
{
    const segment_t before = o->segment;
    const segment_t *s = &fresh->segment;
    merge_change_t change;

    if (s->source != SOURCE_SLURMDBD || s->time_seen != cluster->reread)
        return merge_observations (o, fresh);
    merge_reread (o, s->time_seen);
    change = merge_observations (o, fresh);
    return only_seen_again (&before, &o->segment) ? MERGE_SAME : change;
}

/* A segment that has begun keeps its start, and one that has ended stays so: where a
 * source says otherwise, whichever of the two is believed, its reader should know. */
static void count_times (store_counts_t *counts, const segment_t *before,
                         const segment_t *after, const segment_t *fresh)
{
    if (!counts)
        return;
    if (before->time_start && fresh->time_start
        && before->time_start != fresh->time_start) {
        counts->moved++;
        counts->moved_job = fresh->id_job;
        counts->moved_from = before->time_start;
        counts->moved_to = fresh->time_start;
    }
    if (before->time_end && !after->time_end && counts->reopened++ == 0)
        counts->reopened_job = fresh->id_job;
}

static int merge_stored (store_t *store, struct cluster_entry *cluster,
                         struct stored *stored, const observation_t *fresh,
                         store_counts_t *counts, gl_error_t *error)
{
    observation_t *o = &stored->observation;
    segment_t before = o->segment;
    merge_change_t change = merge (cluster, o, fresh);
    struct shared shared;
    bool back;

    count_times (counts, &before, &o->segment, &fresh->segment);
    if (come_back (store, cluster->id, stored, &fresh->segment, &back, error)
            < 0
        || (change == MERGE_FACTS
            && note_change (store, cluster, &before, &o->segment,
                            &fresh->segment, counts, error)
                   < 0))
        return -1;
    if ((change != MERGE_SAME || back)
        && (intern_shared (store, &o->segment, &shared, error) < 0
            || write_segment (store, SQL_SEGMENT_PUT, cluster->id, o, &shared,
                              stored->gone, error)
                   < 0))
        return -1;
    store_count (counts, false, change == MERGE_FACTS);
    return 0;
}

/* There is a row: merge with it. */
static int put_again (store_t *store, struct cluster_entry *cluster,
                      const observation_t *fresh, store_counts_t *counts,
                      gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SEGMENT_GET, error);
    struct stored stored = {.owned = {NULL}};
    int rc;

    if (!st)
        return -1;
    db_bind_u64 (st, 0, cluster->id);
    db_bind_u64 (st, 1, fresh->segment.id_job);
    db_bind_i64 (st, 2, fresh->segment.time_submit);
    rc = db_step (st, error);
    if (rc == 0)
        rc = gl_error (error, "job %llu vanished while it was written",
                       (unsigned long long)fresh->segment.id_job);
    if (rc == 1)
        rc = read_stored (st, &fresh->segment, &stored, error);
    db_reset (st);
    if (rc == 0)
        rc = merge_stored (store, cluster, &stored, fresh, counts, error);
    for (size_t i = 0; i < STRINGS; i++)
        free (stored.owned[i]);
    return rc;
}

/* 1: the row was there and only its time_seen moved. */
static int put_unchanged (store_t *store, struct cluster_entry *cluster,
                          const segment_t *s, const struct shared *shared,
                          store_counts_t *counts, gl_error_t *error)
{
    int rc = 0;

    /* until when an open one was counted, only its row knows */
    if (s->time_end == 0)
        rc = forget_any (store, cluster, error);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    rc = touch_segment (store, cluster->id, s, shared, error);
    /* an open segment ends where it was last seen: that is a change */
    if (rc == 1)
        store_count (counts, false, s->time_end == 0);
    return rc;
}

/* New segments and known ones come in runs: what the last one was is tried
 * first. Returns like put_unchanged(). */
static int put_new (store_t *store, struct cluster_entry *cluster,
                    const observation_t *fresh, const struct shared *shared,
                    store_counts_t *counts, gl_error_t *error)
{
    if (write_segment (store, SQL_SEGMENT_ADD, cluster->id, fresh, shared, 0,
                       error)
        < 0)
        return -1;
    store->known = db_affected (store->db) == 0;
    if (store->known)
        return 0;
    store_count (counts, true, true);
    if (forget_segment (store, cluster, NULL, &fresh->segment, false, error)
        < 0)
        return -1;
    return 1;
}

/*
 * Job ids grow: nearly all that a first sync puts is new for sure, because no
 * segment has so great an id. These wait until there are enough of them to be
 * written by one statement. Those that wait are of one cluster.
 */
struct segment_batch {
    size_t count;
    struct waiting {
        uint64_t cluster;
        segment_t segment; /* its strings are gone */
        struct shared shared;
    } waiting[SEGMENTS_AT_ONCE];
};

static int write_one (store_t *store, const struct waiting *w,
                      gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SEGMENT_ADD, error);

    if (!st)
        return -1;
    bind_segment (st, 0, w->cluster, &w->segment, &w->shared);
    return db_run (st, error);
}

static int write_all (store_t *store, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SEGMENT_ADD_MANY, error);

    if (!st)
        return -1;
    for (unsigned i = 0; i < SEGMENTS_AT_ONCE; i++) {
        const struct waiting *w = &store->batch->waiting[i];
        bind_segment (st, i * BOUND, w->cluster, &w->segment, &w->shared);
    }
    return db_run (st, error);
}

int segments_flush (store_t *store, gl_error_t *error)
{
    struct segment_batch *batch = store->batch;
    int rc = 0;

    if (!batch || batch->count == 0)
        return 0;
    if (batch->count == SEGMENTS_AT_ONCE)
        rc = write_all (store, error);
    for (size_t i = 0; batch->count < SEGMENTS_AT_ONCE && rc == 0
                       && i < batch->count; i++)
        rc = write_one (store, &batch->waiting[i], error);
    batch->count = 0;
    return rc;
}

void segments_forget (store_t *store)
{
    free (store->batch);
    store->batch = NULL;
}

static int find_last (store_t *store, struct cluster_entry *cluster,
                      gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SEGMENT_LAST, error);
    int rc;

    if (!st || segments_flush (store, error) < 0)
        return -1;
    db_bind_u64 (st, 0, cluster->id);
    rc = db_step (st, error);
    if (rc == 1)
        cluster->last_job = db_column_u64 (st, 0);
    db_reset (st);
    cluster->last_known = rc >= 0;
    return rc < 0 ? -1 : 0;
}

/* 1: it waits to be written. */
static int put_behind (store_t *store, struct cluster_entry *cluster,
                       const segment_t *s, const struct shared *shared,
                       store_counts_t *counts, gl_error_t *error)
{
    struct segment_batch *batch;

    if (!cluster->last_known && find_last (store, cluster, error) < 0)
        return -1;
    if (s->id_job <= cluster->last_job)
        return 0;
    if (!store->batch)
        store->batch = xcalloc (1, sizeof (*store->batch));
    batch = store->batch;
    if (batch->count > 0 && batch->waiting[0].cluster != cluster->id
        && segments_flush (store, error) < 0)
        return -1;
    batch->waiting[batch->count++]
        = (struct waiting){cluster->id, *s, *shared};
    cluster->last_job = s->id_job;
    store->known = false;
    store_count (counts, true, true);
    if (forget_segment (store, cluster, NULL, s, false, error) < 0
        || (batch->count == SEGMENTS_AT_ONCE
            && segments_flush (store, error) < 0))
        return -1;
    return 1;
}

/* Whether a segment of that id may wait. */
static bool may_wait (const store_t *store, const struct cluster_entry *cluster,
                      uint64_t id_job)
{
    const struct segment_batch *batch = store->batch;

    return batch && batch->count > 0
           && batch->waiting[0].cluster == cluster->id
           && id_job >= batch->waiting[0].segment.id_job;
}

static int put_segment (store_t *store, struct cluster_entry *cluster,
                        const observation_t *fresh, const struct shared *shared,
                        store_counts_t *counts, gl_error_t *error)
{
    const segment_t *s = &fresh->segment;
    bool tried = store->known;
    int rc = put_behind (store, cluster, s, shared, counts, error);

    if (rc == 0 && may_wait (store, cluster, s->id_job))
        rc = segments_flush (store, error);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
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
    if (segment->source != SOURCE_SLURMDBD && !cluster->settled
        && store_settle_seen (store, segment->cluster, error) < 0)
        return -1;
    merge_observe (&fresh, segment);
    if (put_segment (store, cluster, &fresh, &shared, counts, error) < 0)
        return -1;
    store_cluster_seen (cluster, segment->time_seen,
                        segment_end (segment) - segment->time_start);
    return 0;
}

int store_job_times (store_t *store, const char *cluster, uint64_t id_job,
                     store_times_t *ret, size_t size, size_t *ret_count,
                     gl_error_t *error)
{
    struct cluster_entry *c = store_cluster_find (store, cluster, error);
    db_statement_t *st = store_statement (store, SQL_JOB_TIMES, error);
    size_t count = 0;
    int rc = 0;

    if (!c || !st || segments_flush (store, error) < 0)
        return -1;
    db_bind_u64 (st, 0, c->id);
    db_bind_u64 (st, 1, id_job);
    while (count < size && (rc = db_step (st, error)) == 1)
        ret[count++] = (store_times_t){.submit = db_column_i64 (st, 3),
                                       .start = db_column_i64 (st, 0),
                                       .end = db_column_i64 (st, 1)};
    db_reset (st);
    *ret_count = count;
    return rc < 0 ? -1 : 0;
}

/* --- what slurmdbd alone said ---------------------------------------------- */

/* 1: there is such a segment. End with free_stored(). */
static int get_stored (store_t *store, uint64_t cluster, const segment_t *key,
                       struct stored *ret, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SEGMENT_GET, error);
    int rc;

    *ret = (struct stored){.owned = {NULL}};
    if (!st || segments_flush (store, error) < 0)
        return -1;
    db_bind_u64 (st, 0, cluster);
    db_bind_u64 (st, 1, key->id_job);
    db_bind_i64 (st, 2, key->time_submit);
    rc = db_step (st, error);
    if (rc == 1 && read_stored (st, key, ret, error) < 0)
        rc = -1;
    db_reset (st);
    return rc;
}

static void free_stored (struct stored *stored)
{
    for (size_t i = 0; i < STRINGS; i++)
        free (stored->owned[i]);
}

int store_slurmdbd_view (store_t *store, const segment_t *key,
                         store_view_f callback, void *arg, gl_error_t *error)
{
    struct cluster_entry *c = store_cluster_find (store, key->cluster, error);
    struct stored stored;
    int rc;

    if (!c || store_settle_seen (store, key->cluster, error) < 0)
        return -1;
    rc = get_stored (store, c->id, key, &stored, error);
    if (rc == 1) {
        rc = 0;
        if (merge_keep_slurmdbd (&stored.observation)) {
            stored.observation.segment.gres_lost = 0;
            rc = callback (&stored.observation.segment, arg, error);
        }
    }
    free_stored (&stored);
    return rc;
}

static int delete_segment (store_t *store, uint64_t cluster,
                           const segment_t *key, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_SEGMENT_DELETE, error);

    if (!st)
        return -1;
    db_bind_u64 (st, 0, cluster);
    db_bind_u64 (st, 1, key->id_job);
    db_bind_i64 (st, 2, key->time_submit);
    return db_run (st, error);
}

static int strip (store_t *store, uint64_t cluster, const segment_t *key,
                  struct stored *stored, gl_error_t *error)
{
    struct shared shared;

    if (!merge_keep_slurmdbd (&stored->observation))
        return delete_segment (store, cluster, key, error);
    if (intern_shared (store, &stored->observation.segment, &shared, error) < 0)
        return -1;
    return write_segment (store, SQL_SEGMENT_PUT, cluster, &stored->observation,
                          &shared, stored->gone, error);
}

int store_strip_segment (store_t *store, const segment_t *view,
                         gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, view->cluster, error);
    db_statement_t *forget
        = store_statement (store, SQL_REVISION_TAKE_BACK, error);
    struct stored stored;
    int rc;

    if (!c || !forget || store_settle_seen (store, view->cluster, error) < 0)
        return -1;
    store->quiet = true;
    rc = get_stored (store, c->id, view, &stored, error);
    if (rc == 1)
        rc = strip (store, c->id, view, &stored, error);
    free_stored (&stored);
    if (rc < 0)
        return -1;
    c->last_known = false;
    db_bind_u64 (forget, 0, c->id);
    db_bind_u64 (forget, 1, view->id_job);
    db_bind_i64 (forget, 2, view->time_submit);
    db_bind_i64 (forget, 3, view->time_seen);
    db_bind_u64 (forget, 4, view->source);
    return db_run (forget, error);
}
