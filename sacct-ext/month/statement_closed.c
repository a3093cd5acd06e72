/* Statements: jobs, days and configuration of a month as it was closed. */
#include <string.h>

#include "base/memory.h"
#include "month/closed_site.h"
#include "month/periods.h"
#include "month/statements_private.h"

/* --- what it says of itself -------------------------------------------- */

static int take_closing (struct making *m, const closing_t *closing,
                         gl_error_t *error)
{
    GL_AUTOFREE char *zone = body_get (closing->body, "timezone");
    GL_AUTOFREE char *book = NULL;

    m->zone = zone_open (zone ? zone : zone_name (m->query.site->zone), error);
    if (!m->zone)
        return gl_error_prefix (error, "%s", closing->month);
    if (closed_site_then (m->store, closing, &m->then, &book, error) < 0)
        return -1;
    if (!m->then)
        return gl_error (error,
                         "%s: this program cannot read the configuration that "
                         "the month was closed with",
                         closing->month);
    m->s.then = m->then;
    m->query.cluster_count = closed_clusters (closing, &m->clusters);
    m->query.clusters = m->clusters;
    return 0;
}

/* --- jobs -------------------------------------------------------------- */

static int take_row (const line_item_t *row, void *arg, gl_error_t *error)
{
    (void)error;
    statement_jobs_add (arg, row);
    return 0;
}

/* Where each of them is to be a line. */
static int list_jobs (struct making *m, const closing_t *closing,
                      gl_error_t *error)
{
    if (!m->list)
        return 0;
    m->s.list = m->jobs = statement_jobs_new (m->s.team, m->zone);
    return periods_line_items (m->store, closing, &statement_jobs_want,
                               take_row, m->jobs, error);
}

/* --- all of it --------------------------------------------------------- */

int statement_from_closing (struct making *m, const bills_month_t *month,
                            gl_error_t *error)
{
    periods_t *periods;
    const closing_t *closing;
    int rc;

    if (periods_read (m->store, &periods, error) < 0)
        return -1;
    closing = periods_closing (periods, month->month);
    rc = take_closing (m, closing, error);
    if (rc == 0 && closing->imported) {
        periods_free (periods);
        return statement_from_facts (m, month, error);
    }
    if (rc == 0)
        rc = statement_count_closed (m, closing, error);
    if (rc == 0)
        rc = list_jobs (m, closing, error);
    if (rc == 0)
        statement_take_days (m, m->zone, m->query.period.end, month->bill);
    periods_free (periods);
    return rc;
}

void statement_closing_done (struct making *m)
{
    statement_jobs_free (m->jobs);
    if (m->clusters)
        closed_clusters_free (m->clusters, m->query.cluster_count);
    site_free (m->then);
    zone_close (m->zone);
}
