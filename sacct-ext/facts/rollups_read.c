#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "facts/facts.h"
#include "facts/rollups_private.h"

/* What a cell tells of a job. */
static const key_id_t cell_keys[] = {
    KEY_CLUSTER,     KEY_TEAM,      KEY_INSTITUTION, KEY_CLASS,
    KEY_COST_CENTER, KEY_ACCOUNT,   KEY_USER,        KEY_PROJECT,
    KEY_QOS,         KEY_PARTITION, KEY_POOL,        KEY_GPU,
    KEY_GRES_TYPE,   KEY_PROFILE,   KEY_MONTH,       KEY_DAY,
};

static bool is_cell_key (key_id_t key)
{
    return GL_ANY (cell_keys, GL_ARRAY_SIZE (cell_keys), it, *it == key);
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
    rollups_basis_t basis;
    int64_t as_of;
    rollup_f callback;
    void *arg;
};

/* NULL: it is of another configuration, or damaged, and so is not there. */
static rollup_t *take_right (const struct reading *r,
                             const store_rollup_t *stored, period_t within)
{
    if (!rollups_is_usable (&r->basis, stored) || stored->start < within.start
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
        if (rollups_compute (&r->basis, r->as_of, some, r->callback, r->arg,
                             error)
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
        b = rollup_builder_new (r->site, NULL, r->cluster, rest);
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
    return period_has (rest, stored->start) && stored->end > rest.end;
}

static int read_by_days (struct reading *r, period_t period, gl_error_t *error)
{
    store_query_t query
        = {.cluster = r->cluster, .start = period.start, .end = period.end};
    store_iter_t *iter = store_iter_open (r->store, STORE_DAYS, &query, error);
    period_t rest = period;
    store_rollup_t stored;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &stored, error)) > 0) {
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
    store_iter_close (iter);
    return more >= 0 ? compute_missing (r, rest, error) : -1;
}

/* Nothing that the query tells apart changes within the month. */
static bool is_uncut (const rollups_query_t *q, period_t month)
{
    const int64_t ends[] = {q->query->period.start, q->query->period.end};

    for (size_t i = 0; i < GL_ARRAY_SIZE (ends); i++)
        if (ends[i] > month.start && ends[i] < month.end)
            return false;
    return !GL_ANY (q->cuts, q->cut_count, it,
                    *it > month.start && *it < month.end);
}

static int read_by_months (struct reading *r, gl_error_t *error)
{
    period_t period = r->query->period;
    store_query_t query
        = {.cluster = r->cluster, .start = period.start, .end = period.end};
    store_iter_t *iter
        = store_iter_open (r->store, STORE_MONTHS, &query, error);
    store_rollup_t stored;
    int64_t at = period.start;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &stored, error)) > 0) {
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
    store_iter_close (iter);
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
    return GL_ANY (q->filters, q->filter_count, it, it->key == KEY_DAY);
}

int rollups_each (store_t *store, const rollups_query_t *query,
                  rollup_f callback, void *arg, gl_error_t *error)
{
    const report_query_t *q = query->query;
    bool days = query->unit == ROLLUPS_DAYS
                || (query->unit == ROLLUPS_AS_ASKED && wants_days (q));

    for (size_t i = 0; i < q->cluster_count; i++) {
        struct reading r = {.store = store,
                            .query = query,
                            .site = q->site,
                            .cluster = q->clusters[i].name,
                            .as_of = q->clusters[i].as_of,
                            .callback = callback,
                            .arg = arg};
        int rc = rollups_basis (store, q->site, r.cluster, &r.basis, error);
        if (rc == 0)
            rc = days ? read_by_days (&r, query->period, error)
                      : read_by_months (&r, error);
        rollups_basis_clear (&r.basis);
        if (rc < 0)
            return -1;
    }
    return 0;
}
