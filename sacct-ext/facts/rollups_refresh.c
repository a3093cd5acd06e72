#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "facts/rollups_private.h"

/* Days that are longer ago are computed when they are asked for. */
#define DAYS_KEPT (20 * 366)

/* --- keeping ----------------------------------------------------------- */

/* One cluster's refresh. */
struct refresh {
    store_t *store;
    const site_t *site;
    const char *cluster;
    rollups_basis_t basis;
    int64_t as_of;
    period_t extent; /* whole days with facts */
    rollups_progress_f progress;
    void *arg;
    rollups_result_t *result;

    int64_t *kept; /* starts of the unit's rollups that are right */
    size_t kept_count;
    uint64_t wanted; /* missing days */

    period_t chunk; /* in work */
    uint64_t chunk_segments;
    uint64_t chunk_days;
    bool too_many;
};

static int put (struct refresh *r, calendar_unit_t unit, const rollup_t *rollup,
                gl_error_t *error)
{
    BUFFER_AUTO body = BUFFER_INIT;
    store_rollup_t stored = {.cluster = r->cluster,
                             .unit = unit,
                             .start = rollup_period (rollup).start,
                             .end = rollup_period (rollup).end};

    rollup_encode (rollup, &body);
    rollups_digest (&r->basis, rollup_period (rollup), stored.digest);
    stored.body = body.data;
    stored.length = body.length;
    return store_put_rollup (r->store, &stored, error);
}

static bool is_kept (const struct refresh *r, int64_t start)
{
    size_t low = 0, high = r->kept_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->kept[middle] == start)
            return true;
        if (r->kept[middle] < start)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Which are there and made of today's configuration. */
static int list_kept (struct refresh *r, calendar_unit_t unit,
                      gl_error_t *error)
{
    store_query_t query = {.cluster = r->cluster, .heads_only = true};
    store_iter_t *iter
        = store_iter_open (r->store, STORE_ROLLUPS (unit), &query, error);
    store_rollup_t stored;
    size_t size = 0;
    int more = -1;

    r->kept_count = 0;
    while (iter && (more = store_iter_next (iter, &stored, error)) > 0) {
        if (!rollups_is_right (&r->basis, &stored))
            continue;
        if (r->kept_count == size || !r->kept) {
            size = size * 2 + 64;
            r->kept = xreallocarray (r->kept, size, sizeof (*r->kept));
        }
        r->kept[r->kept_count++] = stored.start;
    }
    store_iter_close (iter);
    return more;
}

static int put_day (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    struct refresh *r = arg;

    r->chunk_days++;
    return put (r, CALENDAR_DAY, rollup, error);
}

/* Nobody can write meanwhile, so that what is kept is what the facts say. */
static int keep_chunk (store_t *store, void *arg, gl_error_t *error)
{
    struct refresh *r = arg;
    int rc;

    r->chunk_days = 0;
    r->too_many = false;
    if (store_as_of (store, r->cluster, &r->as_of, error) < 0)
        return -1;
    rc = rollups_compute_chunk (&r->basis, r->as_of, r->chunk, put_day, r,
                                &r->chunk_segments, error);
    r->too_many = rc == ROLLUPS_TOO_MANY;
    return rc == 0 ? 0 : -1;
}

/* Days for the next chunk, by how many segments the last one had. */
static size_t chunk_size (const struct refresh *r, size_t last)
{
    size_t most = last * 4 < CHUNK_DAYS_MAX ? last * 4 : CHUNK_DAYS_MAX;
    uint64_t a_day = r->chunk_segments / (last ? last : 1);

    if (last == 0)
        return 1;
    if (a_day * most > CHUNK_SEGMENTS)
        most = (size_t)(CHUNK_SEGMENTS / a_day);
    return most ? most : 1;
}

/* From the first missing day at or after `at`; empty at the end. */
static period_t missing_from (const struct refresh *r, int64_t at, size_t days)
{
    period_t missing, day;

    while (at < r->extent.end && is_kept (r, at))
        at = zone_unit (r->site->zone, CALENDAR_DAY, at).end;
    missing = (period_t){at, at};
    while (days-- > 0 && missing.end < r->extent.end
           && !is_kept (r, missing.end)) {
        day = zone_unit (r->site->zone, CALENDAR_DAY, missing.end);
        missing.end = day.end;
    }
    return missing;
}

static uint64_t count_missing (const struct refresh *r)
{
    uint64_t count = 0;

    for (int64_t at = r->extent.start; at < r->extent.end;
         at = zone_unit (r->site->zone, CALENDAR_DAY, at).end)
        count += !is_kept (r, at);
    return count;
}

static int keep_days (struct refresh *r, gl_error_t *error)
{
    size_t last = 0, size = 1;
    uint64_t done = 0, all;

    if (list_kept (r, CALENDAR_DAY, error) < 0)
        return -1;
    all = count_missing (r);
    for (r->chunk.end = r->extent.start;;) {
        int64_t at = r->chunk.end;
        r->chunk = missing_from (r, at, size);
        if (r->chunk.start == r->chunk.end)
            return 0;
        if (store_transaction (r->store, keep_chunk, r, error) < 0) {
            if (!r->too_many)
                return -1;
            r->chunk.end = at;
            size = size > 8 ? size / 8 : 1;
            continue;
        }
        last = (size_t)r->chunk_days;
        size = chunk_size (r, last);
        done += r->chunk_days;
        r->result->days += r->chunk_days;
        if (r->progress)
            r->progress (done, all, r->arg);
    }
}

/* --- months ------------------------------------------------------------ */

/* Rollups in their order. */
struct list {
    rollup_t **rollup;
    size_t count;
};

static void list_add (struct list *list, rollup_t *rollup)
{
    *GL_APPEND (list->rollup, list->count) = rollup;
}

static void list_done (struct list *list)
{
    GL_FREE_EACH (list->rollup, list->count, it, rollup_free (*it));
}

/* A month in the making: days that follow one another from its start on. */
struct month {
    struct list days; /* not yet put together with the ones before */
    int64_t end;
};

/* Decoded, a day takes ten times its bytes. */
#define DAYS_AT_ONCE 4

static int put_together (struct month *m, gl_error_t *error)
{
    rollup_t *merged = rollup_merge ((const rollup_t *const *)m->days.rollup,
                                     m->days.count, error);

    if (!merged)
        return -1;
    list_done (&m->days);
    m->days = (struct list){NULL, 0};
    list_add (&m->days, merged);
    return 0;
}

/* The days of the month that are there and right, up to the first one that is
 * not. */
static int read_days (struct refresh *r, struct month *m, gl_error_t *error)
{
    store_query_t query
        = {.cluster = r->cluster, .start = r->chunk.start, .end = r->chunk.end};
    store_iter_t *iter = store_iter_open (r->store, STORE_DAYS, &query, error);
    store_rollup_t stored;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &stored, error)) > 0) {
        rollup_t *day = NULL;
        if (stored.start == m->end && rollups_is_right (&r->basis, &stored))
            day = rollup_decode (stored.body, stored.length, NULL);
        if (!day) {
            more = 0;
            break;
        }
        list_add (&m->days, day);
        m->end = stored.end;
        if (m->days.count == DAYS_AT_ONCE && put_together (m, error) < 0) {
            more = -1;
            break;
        }
    }
    store_iter_close (iter);
    return more;
}

/* Of days that are all there: another writer may have been faster. */
static int keep_month (store_t *store, void *arg, gl_error_t *error)
{
    struct refresh *r = arg;
    struct month m = {.end = r->chunk.start};
    int rc = read_days (r, &m, error);

    (void)store;
    if (rc == 0 && m.end == r->chunk.end) {
        rc = put_together (&m, error);
        if (rc == 0)
            rc = put (r, CALENDAR_MONTH, m.days.rollup[0], error);
        r->result->months += rc == 0;
    }
    list_done (&m.days);
    return rc;
}

/* Those that are over, and of which every day has facts or lies after some. */
static int keep_months (struct refresh *r, gl_error_t *error)
{
    if (list_kept (r, CALENDAR_MONTH, error) < 0)
        return -1;
    for (int64_t at = r->extent.start; at < r->extent.end; at = r->chunk.end) {
        r->chunk = zone_unit (r->site->zone, CALENDAR_MONTH, at);
        if (r->chunk.start < r->extent.start || r->chunk.end > r->as_of
            || is_kept (r, r->chunk.start))
            continue;
        if (store_transaction (r->store, keep_month, r, error) < 0)
            return -1;
    }
    return 0;
}

/* --- refresh ----------------------------------------------------------- */

static int keep_extent (store_t *store, void *arg, gl_error_t *error)
{
    const struct refresh *r = arg;

    return store_keep_extent (store, r->cluster, error);
}

/* From the month of the first fact to the day of the last. */
static int find_extent (struct refresh *r, gl_error_t *error)
{
    int64_t start, first;

    if (store_transaction (r->store, keep_extent, r, error) < 0
        || store_extent (r->store, r->cluster, &start, &r->as_of, error) < 0)
        return -1;
    r->extent = (period_t){0, 0};
    if (start == 0 || r->as_of <= start)
        return 0;
    first = r->as_of - (int64_t)DAYS_KEPT * 86400;
    r->extent.start = zone_unit (r->site->zone, CALENDAR_MONTH,
                                 start > first ? start : first)
                          .start;
    r->extent.end = zone_unit (r->site->zone, CALENDAR_DAY, r->as_of - 1).end;
    return 0;
}

static int refresh_cluster (struct refresh *r, gl_error_t *error)
{
    int rc = -1;

    if (find_extent (r, error) == 0
        && rollups_basis (r->store, r->site, r->cluster, &r->basis, error) == 0
        && keep_days (r, error) == 0) {
        /* a month is as large as all its days */
        store_shrink (r->store);
        rc = keep_months (r, error);
    }
    rollups_basis_clear (&r->basis);
    free (r->kept);
    return rc;
}

int rollups_refresh (store_t *store, const site_t *site,
                     rollups_progress_f progress, void *arg,
                     rollups_result_t *ret_result, gl_error_t *error)
{
    store_cluster_t *clusters;
    size_t count;
    int rc = 0;

    *ret_result = (rollups_result_t){0, 0};
    store_shrink (store);
    if (store_clusters (store, &clusters, &count, error) < 0)
        return -1;
    for (size_t i = 0; i < count && rc == 0; i++) {
        struct refresh r = {.store = store,
                            .site = site,
                            .cluster = clusters[i].name,
                            .progress = progress,
                            .arg = arg,
                            .result = ret_result};
        rc = refresh_cluster (&r, error);
    }
    store_clusters_free (clusters, count);
    return rc;
}
