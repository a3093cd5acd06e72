/* Kept rollups against the segments, once more. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "facts/rollups.h"
#include "sync/reconcile.h"

struct checking {
    store_t *store;
    const report_query_t *query;
    const report_cluster_t *cluster;
    reconcile_t *reconcile;
    rollups_basis_t basis;
    const store_rollup_t *kept; /* in hand */
    rollup_t **day;             /* of the month in hand */
    size_t day_count;
};

/* device-seconds of everything in it */
static unsigned __int128 seconds_of (const struct checking *c,
                                     const rollup_t *rollup)
{
    usage_query_t query = {.site = c->query->site,
                           .period = rollup_period (rollup),
                           .without_jobs = true};
    usage_t *usage = usage_new (&query);
    unsigned __int128 seconds = 0;
    const usage_cell_t *cells;
    size_t count;

    usage_add_rollup (usage, rollup, ROLLUP_COUNTED);
    cells = usage_cells (usage, &count);
    for (size_t i = 0; i < count; i++)
        seconds += usage_cell_gres_seconds (&cells[i]);
    usage_free (usage);
    return seconds;
}

/* What was kept is not what the facts (or, of a month, its days) come to. */
static void compare (const struct checking *c, const rollup_t *fresh)
{
    const store_rollup_t *kept = c->kept;
    rollup_t *decoded = rollup_decode (kept->body, kept->length, NULL);
    char span[ZONE_STAMP_SIZE];
    BUFFER_AUTO body = BUFFER_INIT;

    rollup_encode (fresh, &body);
    reconcile_rollup (
        c->reconcile, c->cluster->name,
        zone_unit_name (c->query->site->zone, kept->unit, kept->start, span),
        kept->unit == CALENDAR_DAY, decoded ? seconds_of (c, decoded) : 0,
        seconds_of (c, fresh),
        body.length == kept->length
            && memcmp (body.data, kept->body, body.length) == 0);
    rollup_free (decoded);
}

static int take_day (const rollup_t *fresh, void *arg, gl_error_t *error)
{
    struct checking *c = arg;

    (void)error;
    compare (c, fresh);
    return 0;
}

/* --- the days of a month ----------------------------------------------- */

static void forget_days (struct checking *c)
{
    GL_FREE_EACH (c->day, c->day_count, it, rollup_free (*it));
    c->day = NULL;
    c->day_count = 0;
}

static bool is_valid (const struct checking *c, const store_rollup_t *kept)
{
    return rollups_is_right (&c->basis, kept);
}

static int load_days (struct checking *c, gl_error_t *error)
{
    store_query_t query = {.cluster = c->cluster->name,
                           .start = c->kept->start,
                           .end = c->kept->end};
    store_iter_t *iter = store_iter_open (c->store, STORE_DAYS, &query, error);
    store_rollup_t kept;
    rollup_t *day;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &kept, error)) > 0) {
        if (!is_valid (c, &kept)
            || !(day = rollup_decode (kept.body, kept.length, NULL)))
            continue;
        *GL_APPEND (c->day, c->day_count) = day;
    }
    store_iter_close (iter);
    return more;
}

/* Where all its days are kept; else they cannot tell. */
static int check_month (struct checking *c, gl_error_t *error)
{
    rollup_t *fresh = NULL;

    if (load_days (c, error) < 0)
        return -1;
    if (c->day_count > 0)
        fresh = rollup_merge ((const rollup_t *const *)c->day, c->day_count,
                              NULL);
    if (fresh && rollup_period (fresh).start == c->kept->start
        && rollup_period (fresh).end == c->kept->end)
        compare (c, fresh);
    rollup_free (fresh);
    forget_days (c);
    return 0;
}

/* --- all of the period ------------------------------------------------- */

static int check_day (struct checking *c, gl_error_t *error)
{
    return rollups_compute (
        &c->basis, c->cluster->as_of,
        (period_t){c->kept->start, c->kept->end}, take_day, c, error);
}

static int check_unit (struct checking *c, calendar_unit_t unit,
                       int (*check) (struct checking *, gl_error_t *),
                       gl_error_t *error)
{
    store_query_t query = {.cluster = c->cluster->name,
                           .start = c->query->period.start,
                           .end = c->query->period.end};
    store_iter_t *iter
        = store_iter_open (c->store, STORE_ROLLUPS (unit), &query, error);
    store_rollup_t kept;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &kept, error)) > 0) {
        c->kept = &kept;
        if (is_valid (c, &kept) && check (c, error) < 0) {
            more = -1;
            break;
        }
    }
    store_iter_close (iter);
    return more;
}

int reconcile_rollups (store_t *store, const report_query_t *query,
                       const report_cluster_t *cluster, reconcile_t *reconcile,
                       gl_error_t *error)
{
    struct checking c = {.store = store,
                         .query = query,
                         .cluster = cluster,
                         .reconcile = reconcile};
    int rc
        = rollups_basis (store, query->site, cluster->name, &c.basis, error);

    reconcile_side (reconcile, SIDE_ROLLUPS);
    if (rc == 0)
        rc = check_unit (&c, CALENDAR_DAY, check_day, error);
    if (rc == 0)
        rc = check_unit (&c, CALENDAR_MONTH, check_month, error);
    rollups_basis_clear (&c.basis);
    return rc;
}
