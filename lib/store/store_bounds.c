/*
 * Which jobs to look at for a period: ranges of job ids that hold all which
 * have a segment in it, and few others. Rows are then read in the order of
 * their key, unsorted and in constant memory, whatever else ran for months.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/span.h"
#include "store/store_private.h"

/* 128 KiB. */
#define RANGES 8192
/* Rows that are passed over sooner than another range is begun. */
#define GAP_SQLITE 32
#define GAP_MYSQL 1000
/* A period of at least this part of all time is read as one range: finding
 * the jobs one by one would cost more than passing over the others. */
#define WIDE_PART 4

static const char ids_sql[] = "SELECT id_job FROM segment WHERE cluster = ? "
                              "AND span = ? AND time_end >= ? AND time_end < ?";
static const char ends_sql[]
    = "SELECT min(id_job), max(id_job) FROM segment WHERE cluster = ? "
      "AND span = ? AND time_end >= ? AND time_end < ?";
static const char first_sql[]
    = "SELECT min(time_end) FROM segment WHERE cluster = ? AND span = ?";

/* Of ends that have an index, in its own words (sql/ENGINE.sql), and of
 * others. */
#define ENDED_INDEXED "(state = 7 OR state = 8 OR state = 9)"
static const char ended_sql[]
    = "SELECT id_job FROM segment WHERE cluster = ? AND state = ? "
      "AND " ENDED_INDEXED " AND time_end >= ? AND time_end < ?";
static const char ended_scan_sql[]
    = "SELECT id_job FROM segment WHERE cluster = ? AND span = ? "
      "AND time_end >= ? AND time_end < ? AND state = ?";

struct ranges {
    struct walk_range *range;
    size_t count;
    size_t sorted; /* of these: the first ones, by their low ends */
    uint64_t gap;
};

static int compare_ranges (const void *a, const void *b)
{
    const struct walk_range *x = a, *y = b;

    return (x->low > y->low) - (x->low < y->low);
}

/* Sorted, and one where the gap is small. */
static void join (struct ranges *r)
{
    size_t count = 0;

    if (r->count == 0)
        return;
    qsort (r->range, r->count, sizeof (*r->range), compare_ranges);
    for (size_t i = 1; i < r->count; i++) {
        struct walk_range *last = &r->range[count];
        const struct walk_range *next = &r->range[i];
        if (next->low > last->high && next->low - last->high > r->gap)
            r->range[++count] = *next;
        else if (next->high > last->high)
            last->high = next->high;
    }
    r->count = count + 1;
    r->sorted = r->count;
}

/* The sorted range that the other one lies in or just behind; NULL: none. */
static struct walk_range *find_range (const struct ranges *r, uint64_t low)
{
    size_t first = 0, end = r->sorted;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (r->range[middle].low <= low)
            first = middle + 1;
        else
            end = middle;
    }
    if (first == 0 || low > r->range[first - 1].high + r->gap)
        return NULL;
    return &r->range[first - 1];
}

static void add_range (struct ranges *r, uint64_t low, uint64_t high)
{
    struct walk_range *near = r->count ? &r->range[r->count - 1] : NULL;

    if (!near || low < near->low || low > near->high + r->gap)
        near = find_range (r, low);
    if (near) {
        if (high > near->high)
            near->high = high;
        return;
    }
    if (r->count == RANGES) {
        join (r);
        while (r->count > RANGES / 2) {
            r->gap *= 2;
            join (r);
        }
    }
    r->range[r->count++] = (struct walk_range){low, high};
}

/* INT64_MAX rather than beyond it. */
static int64_t later (int64_t instant, int64_t seconds)
{
    return instant > INT64_MAX - seconds ? INT64_MAX : instant + seconds;
}

/* The ends of those of a class that overlap the period. What has no length
 * ends where the period begins. */
static period_t ends_of (const walk_t *walk, const struct walk_cluster *c,
                         unsigned span)
{
    const store_query_t *q = &walk->query;

    if (span == SPAN_OPEN)
        return (period_t){INT64_MIN, INT64_MAX};
    return (period_t){
        q->start,
        later (q->end, span < SPAN_LONGEST ? span_most (span) : c->longest)};
}

static void bind_class (db_statement_t *st, const walk_t *walk,
                        const struct walk_cluster *c, unsigned span)
{
    period_t ends = ends_of (walk, c, span);

    db_bind_u64 (st, 0, c->id);
    db_bind_u64 (st, 1, span);
    db_bind_i64 (st, 2, ends.start);
    db_bind_i64 (st, 3, ends.end);
}

static int add_found (db_statement_t *st, struct ranges *r, gl_error_t *error)
{
    int rc;

    while ((rc = db_step (st, error)) == 1) {
        uint64_t id = db_column_u64 (st, 0);
        add_range (r, id, id);
    }
    db_reset (st);
    return rc;
}

static int add_ids (const walk_t *walk, const struct walk_cluster *c,
                    db_statement_t *st, struct ranges *r, gl_error_t *error)
{
    int rc = 0;

    for (unsigned span = 0; rc == 0 && span <= SPAN_OPEN; span++) {
        bind_class (st, walk, c, span);
        rc = add_found (st, r, error);
    }
    return rc;
}

static int add_ends (const walk_t *walk, const struct walk_cluster *c,
                     db_statement_t *st, struct ranges *r, gl_error_t *error)
{
    int rc = 0;

    r->gap = INT64_MAX;
    for (unsigned span = 0; rc == 0 && span <= SPAN_OPEN; span++) {
        bind_class (st, walk, c, span);
        rc = db_step (st, error);
        if (rc == 1 && !db_column_is_null (st, 0))
            add_range (r, db_column_u64 (st, 0), db_column_u64 (st, 1));
        db_reset (st);
        rc = rc < 0 ? -1 : 0;
    }
    return rc;
}

static int add_indexed (const walk_t *walk, const struct walk_cluster *c,
                        segment_state_t state, struct ranges *r,
                        gl_error_t *error)
{
    db_statement_t *st = db_prepare (walk->db, ended_sql, error);
    int rc = -1;

    if (st) {
        db_bind_u64 (st, 0, c->id);
        db_bind_u64 (st, 1, state);
        db_bind_i64 (st, 2, walk->query.start);
        db_bind_i64 (st, 3, later (walk->query.end, c->longest));
        rc = add_found (st, r, error);
    }
    db_finalize (st);
    return rc;
}

static int add_scanned (const walk_t *walk, const struct walk_cluster *c,
                        segment_state_t state, struct ranges *r,
                        gl_error_t *error)
{
    db_statement_t *st = db_prepare (walk->db, ended_scan_sql, error);
    int rc = st ? 0 : -1;

    for (unsigned span = 0; rc == 0 && span < SPAN_OPEN; span++) {
        bind_class (st, walk, c, span);
        db_bind_u64 (st, 4, state);
        rc = add_found (st, r, error);
    }
    db_finalize (st);
    return rc;
}

/* The jobs that the query wants for how they ended. */
static int add_ended (const walk_t *walk, const struct walk_cluster *c,
                      struct ranges *r, gl_error_t *error)
{
    segment_state_t state;
    int rc = 0;

    for (size_t i = 0; rc == 0 && segment_state_at (i, &state); i++) {
        if (!(walk->query.ended & segment_state_bit (state)))
            continue;
        rc = state >= SEGMENT_NODE_FAIL && state <= SEGMENT_BOOT_FAIL
                 ? add_indexed (walk, c, state, r, error)
                 : add_scanned (walk, c, state, r, error);
    }
    return rc;
}

/* 1: the period is a good part of all the time that there is. */
static int is_wide (const walk_t *walk, const struct walk_cluster *c,
                    gl_error_t *error)
{
    db_statement_t *st = db_prepare (walk->db, first_sql, error);
    period_t all = {c->as_of, c->as_of}, part;
    int rc = st ? 0 : -1;

    for (unsigned span = 0; rc == 0 && span <= SPAN_LONGEST; span++) {
        db_bind_u64 (st, 0, c->id);
        db_bind_u64 (st, 1, span);
        rc = db_step (st, error);
        if (rc == 1 && !db_column_is_null (st, 0)
            && db_column_i64 (st, 0) < all.start)
            all.start = db_column_i64 (st, 0);
        db_reset (st);
        rc = rc < 0 ? -1 : 0;
    }
    db_finalize (st);
    if (rc < 0)
        return -1;
    part = period_clip ((period_t){walk->query.start, walk->query.end}, all);
    return period_seconds (part) > period_seconds (all) / WIDE_PART;
}

/* The jobs that have a segment in the period. */
static int add_jobs (const walk_t *walk, const struct walk_cluster *c,
                     struct ranges *r, gl_error_t *error)
{
    int wide = walk->between ? 1 : is_wide (walk, c, error), rc = -1;
    db_statement_t *st;

    if (wide < 0)
        return -1;
    st = db_prepare (walk->db, wide ? ends_sql : ids_sql, error);
    if (st)
        rc = wide ? add_ends (walk, c, st, r, error)
                  : add_ids (walk, c, st, r, error);
    db_finalize (st);
    return rc;
}

int walk_find_ranges (walk_t *walk, const struct walk_cluster *c,
                      gl_error_t *error)
{
    struct ranges r = {
        .range = walk->found,
        .gap = db_engine (walk->db) == DB_MYSQL ? GAP_MYSQL : GAP_SQLITE,
    };
    int64_t first;
    int rc = kept_first (walk->db, c->name, &first, error);

    walk->range_count = 0;
    if (rc < 0 || (rc == 1 && walk->query.end <= first))
        return rc < 0 ? -1 : 0;
    if (!r.range)
        r.range = walk->found = xcalloc (RANGES, sizeof (*walk->found));
    rc = walk->query.ended ? add_ended (walk, c, &r, error)
                           : add_jobs (walk, c, &r, error);
    join (&r);
    walk->range_count = r.count;
    return rc;
}
