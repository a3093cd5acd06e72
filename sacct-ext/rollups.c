#include <string.h>

#include <openssl/evp.h>

#include "base/memory.h"
#include "facts.h"
#include "rollups.h"

/* Segments of one chunk of days: each takes some 40 bytes for every node that
 * it holds devices of (acct/capacity.h), for the time of the chunk. */
#define CHUNK_SEGMENTS 75000
#define CHUNK_DAYS_MAX 31

/* Days that are longer ago are computed when they are asked for. */
#define DAYS_KEPT (20 * 366)

/* --- the digest -------------------------------------------------------- */

int rollups_digest (store_t *store, const site_t *site, const char *cluster,
                    uint8_t ret_digest[STORE_DIGEST_SIZE], gl_error_t *error)
{
    BUFFER_AUTO text = BUFFER_INIT;

    site_usage_text (site, &text);
    if (facts_clocks (store, cluster, NULL, &text, error) < 0)
        return -1;
    if (EVP_Digest (text.data, text.length, ret_digest, NULL, EVP_sha256 (),
                    NULL)
        != 1)
        return gl_error (error, "SHA-256 is not available");
    return 0;
}

/* --- from facts -------------------------------------------------------- */

/* More segments than a chunk may have: take fewer days. */
#define TOO_MANY 1

struct computing {
    rollup_builder_t *builder;
    uint64_t segments;
    uint64_t most; /* segments; more are too many at once */
};

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct computing *c = arg;

    if (c->segments++ == c->most)
        return gl_error (error, "too many segments at once");
    rollup_builder_add (c->builder, fact->segment, fact->suspensions,
                        fact->suspension_count, fact->project, fact->evidence);
    return 0;
}

static void take_loose (int64_t instant, const evidence_counts_t *counts,
                        void *arg)
{
    struct computing *c = arg;

    rollup_builder_loose (c->builder, instant, counts);
}

/* One day may have any number; -1, or TOO_MANY of several days. */
static int compute (store_t *store, const site_t *site, const char *cluster,
                    int64_t as_of, period_t days, rollup_f callback, void *arg,
                    uint64_t *ret_segments, gl_error_t *error)
{
    bool one = zone_unit (site->zone, CALENDAR_DAY, days.start).end >= days.end;
    struct computing c = {rollup_builder_new (site, cluster, days), 0,
                          one ? UINT64_MAX : 2 * CHUNK_SEGMENTS};
    capacity_t *capacity = rollup_builder_capacity (c.builder);
    store_query_t query = {.cluster = cluster,
                           .start = days.start,
                           .end = days.end,
                           .gpu_only = !capacity_wants_cpus (capacity)};
    int rc = -1;

    capacity_set_as_of (capacity, cluster, as_of);
    if (facts_each_by_day (store, site, &query, take_fact, take_loose, &c,
                           error)
            == 0
        && facts_capacity (store, &query, capacity, error) == 0)
        rc = rollup_builder_each (c.builder, callback, arg, error);
    rollup_builder_free (c.builder);
    *ret_segments = c.segments;
    return c.segments > c.most ? TOO_MANY : rc;
}

/* Of days that are too many at once, one after the other. */
static int compute_each (store_t *store, const site_t *site,
                         const char *cluster, int64_t as_of, period_t days,
                         rollup_f callback, void *arg, gl_error_t *error)
{
    while (days.start < days.end) {
        period_t day = period_clip (
            zone_unit (site->zone, CALENDAR_DAY, days.start), days);
        uint64_t segments;
        if (compute (store, site, cluster, as_of, day, callback, arg, &segments,
                     error)
            < 0)
            return -1;
        days.start = day.end;
    }
    return 0;
}

int rollups_compute (store_t *store, const site_t *site, const char *cluster,
                     int64_t as_of, period_t days, rollup_f callback, void *arg,
                     gl_error_t *error)
{
    uint64_t segments;
    int rc = compute (store, site, cluster, as_of, days, callback, arg,
                      &segments, error);

    if (rc != TOO_MANY)
        return rc;
    return compute_each (store, site, cluster, as_of, days, callback, arg,
                         error);
}

/* --- keeping ----------------------------------------------------------- */

/* One cluster's refresh. */
struct refresh {
    store_t *store;
    const site_t *site;
    const char *cluster;
    uint8_t digest[STORE_DIGEST_SIZE];
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
    memcpy (stored.digest, r->digest, sizeof (stored.digest));
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

static bool is_unit (const site_t *site, const store_rollup_t *s)
{
    period_t unit = zone_unit (site->zone, s->unit, s->start);

    return unit.start == s->start && unit.end == s->end;
}

/* Which are there and made of today's configuration. */
static int list_kept (struct refresh *r, calendar_unit_t unit,
                      gl_error_t *error)
{
    store_query_t query = {.cluster = r->cluster, .heads_only = true};
    store_rollup_iter_t *iter
        = store_rollup_iter_open (r->store, &query, unit, error);
    store_rollup_t stored;
    size_t size = 0;
    int more = -1;

    r->kept_count = 0;
    while (iter && (more = store_rollup_iter_next (iter, &stored, error)) > 0) {
        if (memcmp (stored.digest, r->digest, sizeof (r->digest)) != 0
            || !is_unit (r->site, &stored))
            continue;
        if (r->kept_count == size || !r->kept) {
            size = size * 2 + 64;
            r->kept = xreallocarray (r->kept, size, sizeof (*r->kept));
        }
        r->kept[r->kept_count++] = stored.start;
    }
    store_rollup_iter_close (iter);
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
    rc = compute (store, r->site, r->cluster, r->as_of, r->chunk, put_day, r,
                  &r->chunk_segments, error);
    r->too_many = rc == TOO_MANY;
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
    list->rollup
        = xreallocarray (list->rollup, list->count + 1, sizeof (*list->rollup));
    list->rollup[list->count++] = rollup;
}

static void list_done (struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        rollup_free (list->rollup[i]);
    free (list->rollup);
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
    store_rollup_iter_t *iter
        = store_rollup_iter_open (r->store, &query, CALENDAR_DAY, error);
    store_rollup_t stored;
    int more = -1;

    while (iter && (more = store_rollup_iter_next (iter, &stored, error)) > 0) {
        rollup_t *day = NULL;
        if (stored.start == m->end
            && !memcmp (stored.digest, r->digest, sizeof (r->digest)))
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
    store_rollup_iter_close (iter);
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
        && rollups_digest (r->store, r->site, r->cluster, r->digest, error) == 0
        && keep_days (r, error) == 0) {
        /* a month is as large as all its days */
        store_shrink (r->store);
        rc = keep_months (r, error);
    }
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

/* --- reading ----------------------------------------------------------- */

/* What a cell tells of a job. */
static const key_id_t cell_keys[] = {
    KEY_CLUSTER, KEY_TEAM,      KEY_ACCOUNT, KEY_USER, KEY_PROJECT,
    KEY_QOS,     KEY_PARTITION, KEY_POOL,    KEY_GPU,  KEY_GRES_TYPE,
    KEY_PROFILE, KEY_MONTH,     KEY_DAY,
};

static bool is_cell_key (key_id_t key)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (cell_keys); i++)
        if (cell_keys[i] == key)
            return true;
    return false;
}

static bool begins_day (const zone_t *zone, int64_t instant)
{
    return zone_unit (zone, CALENDAR_DAY, instant).start == instant;
}

static bool has_cell_keys (const report_query_t *q)
{
    for (size_t i = 0; i < q->by.count; i++)
        if (!is_cell_key (q->by.id[i]))
            return false;
    return report_filters_within (q, cell_keys, GL_ARRAY_SIZE (cell_keys));
}

static bool changes_within (const rollups_query_t *q)
{
    size_t count;

    free (site_changes (q->query->site, q->period, &count));
    return count > 0;
}

bool rollups_answer (const rollups_query_t *q)
{
    const zone_t *zone = q->query->site->zone;
    period_t asked = q->query->period;

    if (!has_cell_keys (q->query) || !begins_day (zone, q->period.start)
        || !begins_day (zone, asked.start) || changes_within (q))
        return false;
    for (size_t i = 0; i < q->cut_count; i++)
        if (!begins_day (zone, q->cuts[i]))
            return false;
    return (begins_day (zone, asked.end) || asked.end >= q->period.end)
           && q->period.start < q->period.end;
}

/* A cluster's reading. */
struct reading {
    store_t *store;
    const rollups_query_t *query;
    const site_t *site;
    const char *cluster;
    int64_t as_of;
    uint8_t digest[STORE_DIGEST_SIZE];
    rollup_f callback;
    void *arg;
};

/* NULL: it is of another configuration, or damaged, and so is not there. */
static rollup_t *take_right (const struct reading *r,
                             const store_rollup_t *stored, period_t within)
{
    if (memcmp (stored->digest, r->digest, sizeof (r->digest)) != 0
        || !is_unit (r->site, stored) || stored->start < within.start
        || stored->end > within.end)
        return NULL;
    return rollup_decode (stored->body, stored->length, NULL);
}

/* A day of which only the beginning is wanted. */
struct cut_day {
    rollup_t *day;
    int64_t end;
};

/* Some days at a time, so that memory is bounded as in a refresh. */
static int compute_missing (struct reading *r, period_t missing,
                            gl_error_t *error)
{
    while (missing.start < missing.end) {
        period_t some = {missing.start, missing.start};
        for (size_t i = 0; i < CHUNK_DAYS_MAX && some.end < missing.end; i++)
            some.end = zone_unit (r->site->zone, CALENDAR_DAY, some.end).end;
        some = period_clip (some, missing);
        if (rollups_compute (r->store, r->site, r->cluster, r->as_of, some,
                             r->callback, r->arg, error)
            < 0)
            return -1;
        missing.start = some.end;
    }
    return 0;
}

static int take_rest (const rollup_t *rest, void *arg, gl_error_t *error)
{
    struct cut_day *cut = arg;

    (void)error;
    rollup_end_at (cut->day, cut->end, rest);
    return 0;
}

/* The last day, where the query ends within it: nobody held anything after
 * as-of, so that only the capacity has to be taken off. 1: done. */
static int read_last_day (struct reading *r, const store_rollup_t *stored,
                          gl_error_t *error)
{
    period_t rest = {r->query->period.end, stored->end};
    struct cut_day cut
        = {take_right (r, stored, (period_t){stored->start, stored->end}),
           rest.start};
    store_query_t query
        = {.cluster = r->cluster, .start = rest.start, .end = rest.end};
    rollup_builder_t *b;
    int rc = 0;

    if (cut.day && rollup_held_until (cut.day) <= cut.end
        && r->as_of <= cut.end) {
        b = rollup_builder_new (r->site, r->cluster, rest);
        capacity_set_as_of (rollup_builder_capacity (b), r->cluster, r->as_of);
        rc = facts_capacity (r->store, &query, rollup_builder_capacity (b),
                             error);
        if (rc == 0)
            rc = rollup_builder_each (b, take_rest, &cut, error);
        if (rc == 0)
            rc = r->callback (cut.day, r->arg, error);
        rollup_builder_free (b);
        rc = rc < 0 ? -1 : 1;
    }
    rollup_free (cut.day);
    return rc;
}

/* Begins within and ends behind. */
static bool reaches_out (const store_rollup_t *stored, period_t rest)
{
    return stored->start >= rest.start && stored->start < rest.end
           && stored->end > rest.end;
}

static int read_by_days (struct reading *r, period_t period, gl_error_t *error)
{
    store_query_t query
        = {.cluster = r->cluster, .start = period.start, .end = period.end};
    store_rollup_iter_t *iter
        = store_rollup_iter_open (r->store, &query, CALENDAR_DAY, error);
    period_t rest = period;
    store_rollup_t stored;
    int more = -1;

    while (iter && (more = store_rollup_iter_next (iter, &stored, error)) > 0) {
        rollup_t *day = take_right (r, &stored, rest);
        if (!day && !reaches_out (&stored, rest))
            continue;
        more = compute_missing (r, (period_t){rest.start, stored.start}, error);
        rest.start = stored.start;
        if (more == 0 && day) {
            more = r->callback (day, r->arg, error);
            rest.start = stored.end;
        } else if (more == 0 && (more = read_last_day (r, &stored, error)) == 1)
            rest.start = rest.end;
        rollup_free (day);
        if (more < 0)
            break;
    }
    store_rollup_iter_close (iter);
    return more >= 0 ? compute_missing (r, rest, error) : -1;
}

/* Nothing that the query tells apart changes within the month. */
static bool is_uncut (const rollups_query_t *q, period_t month)
{
    const int64_t ends[] = {q->query->period.start, q->query->period.end};

    for (size_t i = 0; i < GL_ARRAY_SIZE (ends); i++)
        if (ends[i] > month.start && ends[i] < month.end)
            return false;
    for (size_t i = 0; i < q->cut_count; i++)
        if (q->cuts[i] > month.start && q->cuts[i] < month.end)
            return false;
    return true;
}

static int read_by_months (struct reading *r, gl_error_t *error)
{
    period_t period = r->query->period;
    store_query_t query
        = {.cluster = r->cluster, .start = period.start, .end = period.end};
    store_rollup_iter_t *iter
        = store_rollup_iter_open (r->store, &query, CALENDAR_MONTH, error);
    store_rollup_t stored;
    int64_t at = period.start;
    int more = -1;

    while (iter && (more = store_rollup_iter_next (iter, &stored, error)) > 0) {
        period_t before = {at, stored.start};
        rollup_t *month
            = is_uncut (r->query, (period_t){stored.start, stored.end})
                  ? take_right (r, &stored, (period_t){at, period.end})
                  : NULL;
        if (!month)
            continue;
        if ((before.start < before.end && read_by_days (r, before, error) < 0)
            || r->callback (month, r->arg, error) < 0)
            more = -1;
        rollup_free (month);
        if (more < 0)
            break;
        at = stored.end;
    }
    store_rollup_iter_close (iter);
    if (more < 0)
        return -1;
    return at < period.end ? read_by_days (r, (period_t){at, period.end}, error)
                           : 0;
}

static bool wants_days (const report_query_t *q)
{
    for (size_t i = 0; i < q->by.count; i++)
        if (q->by.id[i] == KEY_DAY)
            return true;
    for (size_t i = 0; i < q->filter_count; i++)
        if (q->filters[i].key == KEY_DAY)
            return true;
    return false;
}

int rollups_each (store_t *store, const rollups_query_t *query,
                  rollup_f callback, void *arg, gl_error_t *error)
{
    const report_query_t *q = query->query;
    bool days = wants_days (q);

    for (size_t i = 0; i < q->cluster_count; i++) {
        struct reading r = {.store = store,
                            .query = query,
                            .site = q->site,
                            .cluster = q->clusters[i].name,
                            .as_of = q->clusters[i].as_of,
                            .callback = callback,
                            .arg = arg};
        int rc;
        if (rollups_digest (store, q->site, r.cluster, r.digest, error) < 0)
            return -1;
        rc = days ? read_by_days (&r, query->period, error)
                  : read_by_months (&r, error);
        if (rc < 0)
            return -1;
    }
    return 0;
}
