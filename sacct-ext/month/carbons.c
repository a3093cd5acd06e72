#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carbon/carbon_report.h"
#include "facts/facts.h"
#include "month/carbons.h"
#include "month/month.h"

/* The series of each entry of `grid`; NULL: it has none. */
struct making {
    const site_t *site;
    series_t **series;
    carbon_report_t *report;
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

static int read_all (struct making *m, gl_error_t *error)
{
    m->series = xcalloc (m->site->grid_count + 1, sizeof (series_t *));
    for (size_t i = 0; i < m->site->grid_count; i++)
        if (m->site->grid[i].series
            && read_series (m->site, &m->site->grid[i], &m->series[i], error)
                   < 0)
            return -1;
    return 0;
}

static const series_t *series_of (const site_grid_t *grid, void *arg)
{
    const struct making *m = arg;

    return m->series[grid - m->site->grid];
}

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    return carbon_report_add (arg, fact->segment, fact->suspensions,
                              fact->suspension_count, fact->project,
                              fact->evidence, error);
}

static int make (struct making *m, store_t *store, const report_query_t *query,
                 report_t **ret_report, gl_error_t *error)
{
    const store_query_t segments = {.start = query->period.start,
                                    .end = query->period.end,
                                    .gpu_only = true};
    int rc;

    if (read_all (m, error) < 0)
        return -1;
    m->report = carbon_report_new (query, series_of, m);
    rc = facts_each (store, query->site, &segments, take_fact, m->report,
                     error);
    if (rc == 0)
        *ret_report = carbon_report_make (m->report);
    return rc < 0 ? -1 : 0;
}

int carbons_make (store_t *store, const report_query_t *query,
                  report_t **ret_report, gl_error_t *error)
{
    report_query_t then = *query;
    struct making m = {.series = NULL};
    site_t *closed = NULL;
    int rc;

    if (carbon_report_check (query, error) < 0
        || months_site (store, query->site, query->period, &closed, error) < 0)
        return -1;
    m.site = then.site = closed ? closed : query->site;
    rc = make (&m, store, &then, ret_report, error);
    carbon_report_free (m.report);
    for (size_t i = 0; m.series && i < m.site->grid_count; i++)
        series_free (m.series[i]);
    free (m.series);
    site_free (closed);
    return rc;
}
