/* Segments: put. */
#include <string.h>

#include "base/memory.h"
#include "store/merge.h"
#include "store/revise.h"
#include "store/segment_row.h"
#include "store/span.h"
#include "store/store_private.h"

static int check_segment (const segment_t *s, gl_error_t *error)
{
    if (s->id_job == 0 || s->id_job > INT64_MAX)
        return gl_error (error, "job id %llu is not possible",
                         (unsigned long long)s->id_job);
    return 0;
}

/* The row of a segment as values; what it shares with others is written. */
struct values {
    value_t value[SEGMENT_OWN];
};

/* fill: of several sources; length 0: one alone told it. */
static int values_of (store_t *store, uint64_t cluster, const segment_t *s,
                      const uint8_t *fill, size_t length, int64_t gone,
                      struct values *ret, gl_error_t *error)
{
    const struct segment_row row
        = {.segment = *s,
           .span = span_of (s->time_start, s->time_end),
           .fill = length > 0 ? fill : NULL,
           .fill_length = length,
           .gone = gone};

    return row_values (store, &segment_rows, cluster, &row, ret->value, error);
}

static int write_rows (store_t *store, row_verb_t verb,
                       const struct values *values, size_t count,
                       gl_error_t *error)
{
    db_statement_t *st = row_statement (store, &segment_rows, verb, error);

    if (!st)
        return -1;
    for (unsigned i = 0; i < count; i++)
        bind_values (st, i * SEGMENT_OWN, values[i].value, SEGMENT_OWN);
    return db_run (st, error);
}

static int replace_segment (store_t *store, uint64_t cluster,
                            const observation_t *o, int64_t gone,
                            gl_error_t *error)
{
    uint8_t fill[MERGE_FILL_MAX];
    size_t length = merge_pack (o, fill);
    struct values values;

    if (values_of (store, cluster, &o->segment, fill, length, gone, &values,
                   error)
        < 0)
        return -1;
    return write_rows (store, ROW_PUT, &values, 1, error);
}

/* --- the same again ------------------------------------------------------- */

/* Whether touching compares the column. */
static bool is_fact (unsigned i)
{
    return i != SEGMENT_GRES_LOST
           && !(segment_columns[i].flags & COLUMN_HIDDEN);
}

static char *touch_sql (db_engine_t engine)
{
    /* equal, or both NULL */
    const char *same = engine == DB_SQLITE ? "IS" : "<=>";
    buffer_t sql = BUFFER_INIT;

    buffer_add_text (&sql, "UPDATE segment SET observed_at = ? WHERE ");
    for (unsigned i = 0; i < SEGMENT_OWN; i++) {
        const column_t *c = &segment_columns[i];
        bool nullable = c->type == COLUMN_TEXT || c->flags & COLUMN_NULLABLE;
        if (is_fact (i))
            buffer_printf (&sql, "%s %s ? AND ", c->name,
                           i == SEGMENT_TIME_SEEN ? "<"
                           : nullable             ? same
                                                  : "=");
    }
    buffer_add_text (&sql, "fill IS NULL AND gone IS NULL");
    return buffer_take (&sql);
}

/*
 * Most of what is put a second time is as it was: the same source says the same
 * at a later moment, and nothing else is known of the segment. Merging then
 * comes to a later observed_at, which one statement does without reading the
 * row. 1 if it was so, 0 if not.
 */
static int touch_segment (store_t *store, const struct values *values,
                          gl_error_t *error)
{
    db_statement_t **st = store_statement (store, segment_columns, 0);
    unsigned at = 1;

    if (!*st) {
        GL_AUTOFREE char *sql = touch_sql (db_engine (store->db));
        *st = db_prepare (store->db, sql, error);
    }
    if (!*st)
        return -1;
    bind_values (*st, 0, &values->value[SEGMENT_TIME_SEEN], 1);
    for (unsigned i = 0; i < SEGMENT_OWN; i++)
        if (is_fact (i))
            bind_values (*st, at++, &values->value[i], 1);
    if (db_run (*st, error) < 0)
        return -1;
    return db_affected (store->db) == 1;
}

/* --- merging with what is there ------------------------------------------- */

/* A row with what belongs to it. */
struct stored {
    observation_t observation;
    struct segment_row row; /* owns the texts that were read */
};

static void free_stored (struct stored *stored)
{
    row_disown (&segment_rows, &stored->row);
}

/* 1: there is such a segment. End with free_stored(). */
static int get_stored (store_t *store, uint64_t cluster, const segment_t *key,
                       struct stored *ret, gl_error_t *error)
{
    int rc;

    ret->row = (struct segment_row){.segment = {.cluster = key->cluster}};
    if (segments_flush (store, error) < 0)
        return -1;
    rc = row_get (store, &segment_rows, cluster, key, &ret->row, error);
    if (rc == 1) {
        row_own (&segment_rows, &ret->row);
        if (merge_unpack (&ret->observation, &ret->row.segment, ret->row.fill,
                          ret->row.fill_length)
            < 0)
            rc = gl_error (error, "job %llu of %s: its row is damaged",
                           (unsigned long long)key->id_job, key->cluster);
    } else /* owns nothing */
        ret->row = (struct segment_row){.gone = 0};
    row_release (store, &segment_rows);
    return rc;
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
                      const segment_t *fresh, bool *ret_back, gl_error_t *error)
{
    *ret_back = stored->row.gone && !store->quiet
                && fresh->source == SOURCE_SLURMDBD
                && fresh->observed_at >= stored->row.gone;
    if (!*ret_back)
        return 0;
    if (add_revision (store, cluster, fresh, REVISION_GONE, stored->row.gone,
                      NULL, error)
            < 0
        || add_revision (store, cluster, fresh, REVISION_BACK,
                         fresh->observed_at, NULL, error)
               < 0)
        return -1;
    cached_forget (store, stored->observation.segment.time_start);
    stored->row.gone = 0;
    return 0;
}

/* Nothing but observed_at of an open segment moved. */
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
    return before->observed_at == after->observed_at
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
                           fresh->observed_at, texts, error);
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

    if (s->source != SOURCE_SLURMDBD || s->observed_at != cluster->reread)
        return merge_observations (o, fresh);
    merge_reread (o, s->observed_at);
    change = merge_observations (o, fresh);
    return only_seen_again (&before, &o->segment) ? MERGE_SAME : change;
}

/* A segment that has begun keeps its start, and one that has ended stays so:
 * where a source says otherwise, whichever of the two is believed, its reader
 * should know. */
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
        && replace_segment (store, cluster->id, o, stored->row.gone, error) < 0)
        return -1;
    store_count (counts, false, change == MERGE_FACTS);
    return 0;
}

/* There is a row: merge with it. */
static int put_again (store_t *store, struct cluster_entry *cluster,
                      const segment_t *s, store_counts_t *counts,
                      gl_error_t *error)
{
    observation_t fresh;
    struct stored stored;
    int rc = get_stored (store, cluster->id, s, &stored, error);

    if (rc == 0)
        rc = gl_error (error, "job %llu vanished while it was written",
                       (unsigned long long)s->id_job);
    if (rc == 1) {
        merge_observe (&fresh, s);
        rc = merge_stored (store, cluster, &stored, &fresh, counts, error);
    }
    free_stored (&stored);
    return rc;
}

/* 1: the row was there and only its observed_at moved. */
static int put_unchanged (store_t *store, struct cluster_entry *cluster,
                          const segment_t *s, const struct values *values,
                          store_counts_t *counts, gl_error_t *error)
{
    int rc = 0;

    /* until when an open one was counted, only its row knows */
    if (s->time_end == 0)
        rc = forget_any (store, cluster, error);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    rc = touch_segment (store, values, error);
    /* an open segment ends where it was last seen: that is a change */
    if (rc == 1)
        store_count (counts, false, s->time_end == 0);
    return rc;
}

/* New segments and known ones come in runs: what the last one was is tried
 * first. Returns like put_unchanged(). */
static int put_new (store_t *store, struct cluster_entry *cluster,
                    const segment_t *s, const struct values *values,
                    store_counts_t *counts, gl_error_t *error)
{
    if (write_rows (store, ROW_ADD_NEW, values, 1, error) < 0)
        return -1;
    store->known = db_affected (store->db) == 0;
    if (store->known)
        return 0;
    store_count (counts, true, true);
    if (forget_segment (store, cluster, NULL, s, false, error) < 0)
        return -1;
    return 1;
}

/*
 * Job ids grow: nearly all that a first sync puts is new for sure, because no
 * segment has so great an id, or was submitted so late under it. These wait until
 * there are enough of them to be written by one statement. Those that wait are of
 * one cluster.
 */
struct segment_batch {
    size_t count;
    uint64_t cluster;
    uint64_t first_job;
    struct values waiting[ROWS_AT_ONCE];
};

int segments_flush (store_t *store, gl_error_t *error)
{
    static const struct {
        row_verb_t verb;
        size_t rows;
    } statements[] = {{ROW_ADD_MANY, ROWS_AT_ONCE},
                      {ROW_ADD_SOME, ROWS_OF_REST},
                      {ROW_ADD_NEW, 1}};
    struct segment_batch *batch = store->batch;
    size_t written = 0;
    int rc = 0;

    if (!batch)
        return 0;
    for (size_t i = 0; i < GL_ARRAY_SIZE (statements); i++)
        for (; rc == 0 && batch->count - written >= statements[i].rows;
             written += statements[i].rows)
            rc = write_rows (store, statements[i].verb,
                             batch->waiting + written, statements[i].rows,
                             error);
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
    int64_t last;

    if (segments_flush (store, error) < 0
        || store_number (store,
                         "SELECT max(id_job) FROM segment WHERE cluster = ?",
                         ARGS (as_u64 (cluster->id)), &last, error)
               < 0)
        return -1;
    cluster->last_job = (uint64_t)last;
    cluster->last_submit = INT64_MAX;
    cluster->last_known = true;
    return 0;
}

static bool is_behind (const struct cluster_entry *cluster, const segment_t *s)
{
    return s->id_job > cluster->last_job
           || (s->id_job == cluster->last_job
               && s->time_submit > cluster->last_submit);
}

/* 1: it waits to be written. */
static int put_behind (store_t *store, struct cluster_entry *cluster,
                       const segment_t *s, const struct values *values,
                       store_counts_t *counts, gl_error_t *error)
{
    struct segment_batch *batch;

    if (!cluster->last_known && find_last (store, cluster, error) < 0)
        return -1;
    if (!is_behind (cluster, s))
        return 0;
    if (!store->batch)
        store->batch = xcalloc (1, sizeof (*store->batch));
    batch = store->batch;
    if (batch->count > 0 && batch->cluster != cluster->id
        && segments_flush (store, error) < 0)
        return -1;
    if (batch->count == 0) {
        batch->cluster = cluster->id;
        batch->first_job = s->id_job;
    }
    batch->waiting[batch->count++] = *values;
    cluster->last_job = s->id_job;
    cluster->last_submit = s->time_submit;
    store->known = false;
    store_count (counts, true, true);
    if (forget_segment (store, cluster, NULL, s, false, error) < 0
        || (batch->count == ROWS_AT_ONCE && segments_flush (store, error) < 0))
        return -1;
    return 1;
}

/* Whether a segment of that id may wait. */
static bool may_wait (const store_t *store, const struct cluster_entry *cluster,
                      uint64_t id_job)
{
    const struct segment_batch *batch = store->batch;

    return batch && batch->count > 0 && batch->cluster == cluster->id
           && id_job >= batch->first_job;
}

static int put_segment (store_t *store, struct cluster_entry *cluster,
                        const segment_t *s, const struct values *values,
                        store_counts_t *counts, gl_error_t *error)
{
    bool tried = store->known;
    int rc = put_behind (store, cluster, s, values, counts, error);

    if (rc == 0 && may_wait (store, cluster, s->id_job))
        rc = segments_flush (store, error);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    if (tried)
        rc = put_unchanged (store, cluster, s, values, counts, error);
    if (rc == 0)
        rc = put_new (store, cluster, s, values, counts, error);
    if (rc == 0 && !tried)
        rc = put_unchanged (store, cluster, s, values, counts, error);
    if (rc == 0)
        rc = put_again (store, cluster, s, counts, error);
    return rc < 0 ? -1 : 0;
}

int store_put_segment (store_t *store, const segment_t *segment,
                       store_counts_t *counts, gl_error_t *error)
{
    struct cluster_entry *cluster;
    struct values values;

    if (check_segment (segment, error) < 0)
        return -1;
    cluster = store_cluster (store, segment->cluster, error);
    if (!cluster)
        return -1;
    if (values_of (store, cluster->id, segment, NULL, 0, 0, &values, error) < 0)
        return -1;
    if (segment->source != SOURCE_SLURMDBD && !cluster->settled
        && store_settle_digest (store, segment->cluster, error) < 0)
        return -1;
    if (put_segment (store, cluster, segment, &values, counts, error) < 0)
        return -1;
    store_cluster_seen (cluster, segment->observed_at,
                        segment_end (segment) - segment->time_start);
    return 0;
}

int store_job_times (store_t *store, const char *cluster, uint64_t id_job,
                     store_times_t *ret, size_t size, size_t *ret_count,
                     gl_error_t *error)
{
    struct cluster_entry *c = store_cluster_find (store, cluster, error);
    db_statement_t *st;
    size_t count = 0;
    int rc = 0;

    if (!c || segments_flush (store, error) < 0)
        return -1;
    st = store_ask (store, JOB_TIMES_SQL,
                    ARGS (as_u64 (c->id), as_u64 (id_job)), error);
    if (!st)
        return -1;
    while (count < size && (rc = db_step (st, error)) == 1)
        ret[count++] = (store_times_t){.submit = db_column_i64 (st, 3),
                                       .start = db_column_i64 (st, 0),
                                       .end = db_column_i64 (st, 1)};
    db_reset (st);
    *ret_count = count;
    return rc < 0 ? -1 : 0;
}

/* --- what slurmdbd alone said --------------------------------------------- */

int store_slurmdbd_view (store_t *store, const segment_t *key,
                         store_view_f callback, void *arg, gl_error_t *error)
{
    struct cluster_entry *c = store_cluster_find (store, key->cluster, error);
    struct stored stored;
    int rc;

    if (!c || store_settle_digest (store, key->cluster, error) < 0)
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

static int strip (store_t *store, uint64_t cluster, const segment_t *key,
                  struct stored *stored, gl_error_t *error)
{
    if (merge_keep_slurmdbd (&stored->observation))
        return replace_segment (store, cluster, &stored->observation,
                                stored->row.gone, error);
    return store_run (store,
                      "DELETE FROM segment WHERE cluster = ? AND id_job = ? "
                      "AND time_submit = ?",
                      ARGS (as_u64 (cluster), as_u64 (key->id_job),
                            as_i64 (key->time_submit)),
                      error);
}

int store_strip_segment (store_t *store, const segment_t *view,
                         gl_error_t *error)
{
    struct cluster_entry *c = store_cluster (store, view->cluster, error);
    struct stored stored;
    int rc;

    if (!c || store_settle_digest (store, view->cluster, error) < 0)
        return -1;
    store->quiet = true;
    rc = get_stored (store, c->id, view, &stored, error);
    if (rc == 1)
        rc = strip (store, c->id, view, &stored, error);
    free_stored (&stored);
    if (rc < 0)
        return -1;
    c->last_known = false;
    return store_run (store,
                      "DELETE FROM revision WHERE cluster = ? AND id_job = ? "
                      "AND time_submit = ? AND seen = ? AND source = ?",
                      ARGS (as_u64 (c->id), as_u64 (view->id_job),
                            as_i64 (view->time_submit),
                            as_i64 (view->observed_at), as_u64 (view->source)),
                      error);
}
