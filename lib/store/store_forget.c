/*
 * Changes in a transaction delete the rollups that they affect. They are
 * collected in memory, as time intervals and as jobs, and applied at the
 * commit: a sync of millions of rows deletes in a few statements. Where the
 * cluster has no rollup, as at the first sync, nothing is collected at all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

/* Stretches that are kept apart; above it the nearest two become one. */
#define STRETCHES 256
/* No rollup lies in a gap that is shorter: days have 23 hours or more. */
#define GAP_SECONDS (20 * 3600)
/* Jobs that are kept before their segments are looked up. */
#define JOBS 4096
/* How far a record may lie from the segment that it is of. */
#define RECORD_MARGIN 3600
/* How long a job may run that is free for that (BILLABLE_GRACE_KEPT). */
#define GRACE_MAX 3600

struct forgetting {
    bool any;                          /* rollups of the cluster */
    period_t stretches[STRETCHES + 1]; /* ascending, apart */
    size_t count;
    size_t last; /* the one that was touched last */
    uint64_t jobs[JOBS];
    size_t job_count;
};

static int find_any (store_t *store, struct cluster_entry *cluster,
                     gl_error_t *error)
{
    int64_t one;
    int rc
        = store_number (store, "SELECT 1 FROM rollup WHERE cluster = ? LIMIT 1",
                        ARGS (as_u64 (cluster->id)), &one, error);

    if (rc < 0)
        return -1;
    cluster->forgetting = xcalloc (1, sizeof (*cluster->forgetting));
    cluster->forgetting->any = rc == 1;
    if (rc == 0) /* what changes is not looked at */
        cached_forget (store, INT64_MIN);
    return 0;
}

int forget_any (store_t *store, struct cluster_entry *cluster,
                gl_error_t *error)
{
    if (!cluster->forgetting && find_any (store, cluster, error) < 0)
        return -1;
    return cluster->forgetting->any;
}

/* a - b, saturated: ends may be the ends of time. */
static int64_t distance (int64_t a, int64_t b)
{
    int64_t result;

    if (__builtin_sub_overflow (a, b, &result))
        return INT64_MAX;
    return result;
}

/* Stretch `at` takes in those behind it that it reaches. */
static void join_behind (struct forgetting *f, size_t at)
{
    period_t *s = f->stretches;
    size_t next = at + 1;

    while (next < f->count
           && distance (s[next].start, s[at].end) < GAP_SECONDS) {
        if (s[next].end > s[at].end)
            s[at].end = s[next].end;
        next++;
    }
    memmove (s + at + 1, s + next, (f->count - next) * sizeof (*s));
    f->count -= next - at - 1;
}

static void join_nearest (struct forgetting *f)
{
    size_t best = 0;

    for (size_t i = 1; i + 1 < f->count; i++) {
        const period_t *s = f->stretches + i;
        if (distance (s[1].start, s[0].end)
            < distance (f->stretches[best + 1].start, f->stretches[best].end))
            best = i;
    }
    f->stretches[best].end = f->stretches[best + 1].end;
    memmove (f->stretches + best + 1, f->stretches + best + 2,
             (f->count - best - 2) * sizeof (*f->stretches));
    f->count--;
}

static void add_stretch (struct forgetting *f, int64_t start, int64_t end)
{
    period_t *s = f->stretches;
    size_t at = 0;

    /* the first one that [start, end) does not lie well behind */
    while (at < f->count && distance (start, s[at].end) >= GAP_SECONDS)
        at++;
    if (at == f->count || distance (s[at].start, end) >= GAP_SECONDS) {
        memmove (s + at + 1, s + at, (f->count - at) * sizeof (*s));
        s[at] = (period_t){start, end};
        f->count++;
    }
    if (start < s[at].start)
        s[at].start = start;
    if (end > s[at].end)
        s[at].end = end;
    join_behind (f, at);
    if (f->count > STRETCHES)
        join_nearest (f);
    f->last = at < f->count ? at : 0;
}

int forget_time (store_t *store, struct cluster_entry *cluster, int64_t start,
                 int64_t end, gl_error_t *error)
{
    struct forgetting *f;
    const period_t *last;
    int rc = forget_any (store, cluster, error);

    if (start < end)
        cached_forget (store, start);
    if (rc != 1 || start >= end)
        return rc < 0 ? -1 : 0;
    f = cluster->forgetting;
    last = &f->stretches[f->last];
    if (f->count == 0 || start < last->start || end > last->end)
        add_stretch (f, start, end);
    return 0;
}

static int forget_segment_time (store_t *store, struct cluster_entry *cluster,
                                const segment_t *s, gl_error_t *error)
{
    int64_t end = segment_end (s);

    if (s->time_start == 0)
        return 0;
    /* one without length belongs to the moment of its start */
    return forget_time (store, cluster, s->time_start,
                        end > s->time_start ? end : s->time_start + 1, error);
}

static int look_up (store_t *store, struct cluster_entry *cluster, uint64_t job,
                    gl_error_t *error)
{
    db_statement_t *st = store_ask (
        store, JOB_TIMES_SQL, ARGS (as_u64 (cluster->id), as_u64 (job)), error);
    int rc;

    if (!st)
        return -1;
    while ((rc = db_step (st, error)) == 1) {
        segment_t s = {.time_start = db_column_i64 (st, 0),
                       .time_end = db_column_i64 (st, 1),
                       .observed_at = db_column_i64 (st, 2)};
        forget_segment_time (store, cluster, &s, NULL);
    }
    db_reset (st);
    return rc;
}

static int compare_jobs (const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The jobs' segments as they are now become stretches. */
static int look_up_all (store_t *store, struct cluster_entry *cluster,
                        gl_error_t *error)
{
    struct forgetting *f = cluster->forgetting;

    if (f->job_count > 0 && segments_flush (store, error) < 0)
        return -1;
    qsort (f->jobs, f->job_count, sizeof (*f->jobs), compare_jobs);
    for (size_t i = 0; i < f->job_count; i++) {
        if ((i == 0 || f->jobs[i] != f->jobs[i - 1])
            && look_up (store, cluster, f->jobs[i], error) < 0)
            return -1;
    }
    f->job_count = 0;
    return 0;
}

int forget_job (store_t *store, struct cluster_entry *cluster, uint64_t id_job,
                gl_error_t *error)
{
    struct forgetting *f;
    int rc = forget_any (store, cluster, error);

    if (rc != 1 || id_job == 0)
        return rc < 0 ? -1 : 0;
    f = cluster->forgetting;
    if (f->job_count > 0 && f->jobs[f->job_count - 1] == id_job)
        return 0;
    f->jobs[f->job_count++] = id_job;
    return f->job_count < JOBS ? 0 : look_up_all (store, cluster, error);
}

int forget_record (store_t *store, struct cluster_entry *cluster,
                   uint64_t id_job, int64_t start, int64_t end,
                   gl_error_t *error)
{
    if (forget_job (store, cluster, id_job, error) < 0)
        return -1;
    return forget_time (store, cluster, start - RECORD_MARGIN,
                        end + RECORD_MARGIN, error);
}

/* A segment is `after` what it was `before`; observed_at of an open one is its
 * end. */
int forget_segment (store_t *store, struct cluster_entry *cluster,
                    const segment_t *before, const segment_t *after,
                    bool only_seen, gl_error_t *error)
{
    if (only_seen && before->time_start == 0)
        return 0;
    if (only_seen)
        return forget_time (store, cluster, segment_end (before),
                            segment_end (after), error);
    if ((before && forget_segment_time (store, cluster, before, error) < 0)
        || forget_segment_time (store, cluster, after, error) < 0)
        return -1;
    return forget_job (store, cluster, after->id_job, error);
}

/* 1: nodes saw something of the job, 0: nothing. */
static int is_recorded (store_t *store, uint64_t cluster, uint64_t id_job,
                        gl_error_t *error)
{
    int64_t one;

    return store_number (
        store,
        "SELECT 1 FROM node_record WHERE cluster = ? AND id_job = ? UNION ALL "
        "SELECT 1 FROM device_usage WHERE cluster = ? AND id_job = ? LIMIT 1",
        ARGS (as_u64 (cluster), as_u64 (id_job), as_u64 (cluster),
              as_u64 (id_job)),
        &one, error);
}

/*
 * The days before stay as they are, so that the end of a long job does not cost
 * them all: unless it ended badly, and all its time is lost; or what nodes saw is
 * shared by other bounds now; or it had been
 * doubted whether the job still ran (evidence/runaway.h), or it was so short that it
 * may be free. What a job is billed at its end belongs to its last day, even if that
 * had been counted up to the same moment.
 */
int forget_ended (store_t *store, struct cluster_entry *cluster,
                  const segment_t *before, const segment_t *after,
                  gl_error_t *error)
{
    int64_t end = segment_end (after), from = segment_end (before);
    int rc = forget_any (store, cluster, error);

    cached_forget (store, after->time_start);
    if (rc == 1 && segment_loss (after) == LOSS_NONE)
        rc = is_recorded (store, cluster->id, after->id_job, error);
    else if (rc == 0)
        return 0;
    if (rc != 0)
        return rc < 0 ? -1
                      : forget_segment (store, cluster, before, after, false,
                                        error);
    if (before->time_limit != SECONDS_UNKNOWN
        && from - before->time_start > before->time_limit)
        from = before->time_start + before->time_limit;
    if (end - after->time_start <= GRACE_MAX)
        from = after->time_start;
    else if (from >= end)
        from = end - 1;
    return forget_time (store, cluster, from, end, error);
}

/* The as-of that stands, before it is moved. */
static int forget_as_of (store_t *store, struct cluster_entry *cluster,
                         gl_error_t *error)
{
    int64_t as_of;

    if (store_as_of (store, cluster->name, &as_of, error) < 0)
        return -1;
    return forget_time (store, cluster, as_of ? as_of : INT64_MIN,
                        cluster->as_of, error);
}

int forget_flush (store_t *store, struct cluster_entry *cluster,
                  gl_error_t *error)
{
    struct forgetting *f;
    int rc = 0;

    if (cluster->dirty)
        rc = forget_any (store, cluster, error);
    f = cluster->forgetting;
    if (rc < 0 || !f || !f->any)
        return rc < 0 ? -1 : 0;
    if ((cluster->dirty && forget_as_of (store, cluster, error) < 0)
        || look_up_all (store, cluster, error) < 0)
        return -1;
    for (size_t i = 0; i < f->count; i++) {
        if (rollup_forget (store, cluster->id, -1, f->stretches[i].start,
                           f->stretches[i].end, error)
            < 0)
            return -1;
    }
    f->count = 0;
    return 0;
}

int forget_before (store_t *store, struct cluster_entry *cluster,
                   gl_error_t *error)
{
    if (forget_flush (store, cluster, error) < 0)
        return -1;
    if (cluster->forgetting)
        cluster->forgetting->any = true;
    return 0;
}

void forget_nothing (struct cluster_entry *cluster)
{
    cluster->last_known = false;
    free (cluster->forgetting);
    cluster->forgetting = NULL;
}
