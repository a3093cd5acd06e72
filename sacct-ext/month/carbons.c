#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "carbon/carbon_report.h"
#include "facts/facts.h"
#include "facts/rollups.h"
#include "month/bills.h"
#include "month/carbons.h"
#include "month/closed_lists.h"
#include "month/month.h"

/* --- the files of `grid` ---------------------------------------------------- */

/* The series of each entry of `grid`; NULL: it has none. */
struct files {
    const site_t *site;
    series_t **series;
};

/* Relative to the file of the configuration that names it. */
static char *path_of (const site_grid_t *grid)
{
    const char *slash
        = grid->place.file ? strrchr (grid->place.file, '/') : NULL;

    return grid->series[0] == '/' || !slash
               ? xstrdup (grid->series)
               : xasprintf ("%.*s/%s", (int)(slash - grid->place.file),
                            grid->place.file, grid->series);
}

static int read_series (const site_t *site, const site_grid_t *grid,
                        series_t **ret, gl_error_t *error)
{
    GL_AUTOFREE char *path = path_of (grid);
    FILE *stream = fopen (path, "re");
    gl_error_t inner;

    if (!stream)
        return gl_error (error, "%s: %s; grid '%s' names it", path,
                         strerror (errno), grid->name);
    *ret = series_read (stream, site->zone, &inner);
    fclose (stream);
    return *ret ? 0 : gl_error (error, "%s: %s", path, inner.text);
}

static int files_read (struct files *files, const site_t *site,
                       gl_error_t *error)
{
    files->site = site;
    files->series = xcalloc (site->grid_count + 1, sizeof (series_t *));
    for (size_t i = 0; i < site->grid_count; i++)
        if (site->grid[i].series
            && read_series (site, &site->grid[i], &files->series[i], error) < 0)
            return -1;
    return 0;
}

static void files_done (struct files *files)
{
    GL_FREE_EACH (files->series, files->site->grid_count, it,
                  series_free (*it));
}

static const series_t *series_of (const site_grid_t *grid, void *arg)
{
    const struct files *files = arg;

    return files->series[grid - files->site->grid];
}

/* --- rows --------------------------------------------------------------------- */

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    return carbon_rows_add (arg, fact->segment, fact->suspensions,
                            fact->suspension_count, fact->project,
                            fact->evidence, error);
}

static int take_rollup (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    (void)error;
    carbon_rows_add_rollup (arg, rollup);
    return 0;
}

static int give (store_t *store, const report_query_t *query,
                 carbon_rows_t *rows, gl_error_t *error)
{
    const usage_query_t *usage = carbon_rows_usage (rows);
    report_query_t by = *query;
    const rollups_query_t days = {.query = &by,
                                  .period = query->period,
                                  .cuts = usage->cuts,
                                  .cut_count = usage->cut_count,
                                  .unit = ROLLUPS_MONTHS};
    const store_query_t facts = {.start = query->period.start,
                                 .end = query->period.end,
                                 .gpu_only = true};

    by.by = usage->by;
    return !carbon_has_series (query->site) && rollups_answer (&days)
               ? rollups_each (store, &days, take_rollup, rows, error)
               : facts_each (store, query->site, &facts, take_fact, rows,
                             error);
}

/* The query's site, period and filters. */
static int compute (store_t *store, const report_query_t *query, int64_t within,
                    bill_t *bill, gl_error_t *error)
{
    struct files files;
    const carbon_query_t of = {query, within, series_of, &files};
    carbon_rows_t *rows = NULL;
    int rc = files_read (&files, query->site, error);

    if (rc == 0) {
        rows = carbon_rows_new (&of);
        rc = give (store, query, rows, error);
    }
    if (rc == 0)
        carbon_rows_finish (rows, bill);
    carbon_rows_free (rows);
    files_done (&files);
    return rc < 0 ? -1 : 0;
}

int carbons_compute (store_t *store, const site_t *site, period_t month,
                     bill_t *bill, gl_error_t *error)
{
    bills_query_t of;
    int rc;

    if (!carbon_is_configured (site))
        return 0;
    rc = bills_query (store, site, "team", month, &of, error);
    if (rc == 0)
        rc = compute (store, &of.query, CARBON_WITHIN, bill, error);
    bills_query_clear (&of);
    return rc;
}

/* --- the report ---------------------------------------------------------------- */

struct making {
    store_t *store;
    const report_query_t *query;
    int64_t within;
    bill_t *bill;
};

/* `kept`: it is closed, and its closing has all rows that it made. */
static int make_of_facts (const struct making *m, period_t period, bool kept,
                          gl_error_t *error)
{
    report_query_t query = *m->query;
    site_t *closed = NULL;
    int rc = 0;

    query.period = period;
    if (months_site (m->store, query.site, period, &closed, error) < 0)
        return -1;
    if (closed)
        query.site = closed;
    if (!kept || !closed || !carbon_is_configured (closed))
        rc = compute (m->store, &query, m->within, m->bill, error);
    site_free (closed);
    return rc;
}

/* What was closed, if that had energy: a site may have configured nothing then. */
static int make_of_closing (const struct making *m, const closing_t *closing,
                            bool *ret_is, gl_error_t *error)
{
    size_t before, after;

    bill_carbon (m->bill, &before);
    if (closed_list_read (m->store, closing, BILL_CARBON, m->bill, error) < 0)
        return -1;
    bill_carbon (m->bill, &after);
    *ret_is = after > before;
    return 0;
}

static int make_of_months (const struct making *m, gl_error_t *error)
{
    const report_query_t *query = m->query;
    periods_t *periods;
    int rc = periods_read (m->store, &periods, error);

    if (rc < 0)
        return -1;
    for (int64_t at = query->period.start; at < query->period.end && rc == 0;) {
        period_t month = zone_unit (query->site->zone, CALENDAR_MONTH, at);
        char name[MONTH_SIZE];
        const closing_t *closing;
        bool is = false;
        periods_month_of (query->site, at, name);
        closing = periods_closing (periods, name);
        if (closing)
            rc = make_of_closing (m, closing, &is, error);
        if (rc == 0 && !is)
            rc = make_of_facts (m, month, closing != NULL, error);
        at = month.end;
    }
    periods_free (periods);
    return rc;
}

static bool is_of_months (const struct making *m)
{
    const report_query_t *query = m->query;
    const zone_t *zone = query->site->zone;

    return m->within == CARBON_WITHIN
           && report_filters_within (query, carbon_keys, carbon_key_count)
           && zone_unit (zone, CALENDAR_MONTH, query->period.start).start
                  == query->period.start
           && zone_unit (zone, CALENDAR_MONTH, query->period.end).start
                  == query->period.end;
}

int carbons_make (store_t *store, const report_query_t *asked, int64_t within,
                  report_t **ret_report, gl_error_t *error)
{
    report_query_t query = *asked;
    report_cluster_t *clusters = NULL;
    struct making m = {.store = store,
                       .query = &query,
                       .within = within ? within : CARBON_WITHIN};
    int rc;

    if (carbon_report_check (&query, error) < 0
        || (is_of_months (&m)
            && months_as_of (store, &query, &clusters, error) < 0))
        return -1;
    m.bill = bill_new ();
    rc = is_of_months (&m) ? make_of_months (&m, error)
                           : make_of_facts (&m, query.period, false, error);
    if (rc == 0)
        *ret_report = carbon_report_make (&query, m.bill, m.within);
    bill_free (m.bill);
    if (clusters)
        closed_clusters_free (clusters, query.cluster_count);
    return rc;
}
