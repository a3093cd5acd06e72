#include <string.h>

#include "facts/facts.h"
#include "month/month.h"
#include "analysis/results.h"
#include "record/record.h"
#include "results/results_report.h"

/* An interval of an agent is no longer. */
#define INTERVAL_MAX_MS STORE_STRETCH_MAX_MS

struct making {
    store_t *store;
    const report_query_t *query;
    results_report_t *report;
    period_t period; /* of the month */
    produced_units_t *units;
    statement_jobs_t *jobs;
};

/* --- what jobs produced ------------------------------------------------------------ */

static int read_reports (struct making *m, gl_error_t *error)
{
    const store_query_t jobs = {.start = m->period.start, .end = m->period.end};
    store_iter_t *iter = store_iter_open (m->store, STORE_UNITS, &jobs, error);
    job_units_t row;
    int rc = -1;

    while (iter && (rc = store_iter_next (iter, &row, error)) > 0)
        produced_units_report (m->units, &row);
    store_iter_close (iter);
    return rc;
}

/* A record of a node, which may say anything. */
static void take_record (struct making *m, const node_record_t *fact)
{
    record_t r;

    if (!fact->node
        || record_decode (fact->payload, fact->payload_length, &r, NULL) != 0
        || r.kind != RECORD_JOB_UNITS || r.begin_ms >= r.end_ms
        || r.begin_ms < m->period.start * 1000
        || r.begin_ms >= m->period.end * 1000
        || r.end_ms - r.begin_ms > INTERVAL_MAX_MS)
        return;
    produced_units_count (m->units, fact->cluster, fact->id_job, fact->node,
                          r.unit, r.quantity);
}

static int read_counts (struct making *m, gl_error_t *error)
{
    const store_query_t query = {.start = m->period.start,
                                 .end = m->period.end,
                                 .jobs = STORE_OF_JOBS,
                                 .kind = RECORD_JOB_UNITS};
    store_iter_t *iter
        = store_iter_open (m->store, STORE_RECORDS, &query, error);
    node_record_t fact;
    int rc = -1;

    while (iter && (rc = store_iter_next (iter, &fact, error)) > 0)
        take_record (m, &fact);
    store_iter_close (iter);
    return rc;
}

static int64_t as_of (const report_query_t *query, const char *cluster)
{
    for (size_t i = 0; i < query->cluster_count; i++)
        if (!strcmp (query->clusters[i].name, cluster))
            return query->clusters[i].as_of;
    return 0;
}

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    (void)error;
    produced_units_segment (m->units, fact->segment, fact->project->labels,
                            as_of (m->query, fact->segment->cluster));
    return 0;
}

static int read_units (struct making *m, gl_error_t *error)
{
    const store_query_t segments
        = {.start = m->period.start,
           .end = m->period.end,
           .gpu_only = !site_counts_cpus (m->query->site)};

    if (read_reports (m, error) < 0 || read_counts (m, error) < 0)
        return -1;
    return facts_each (m->store, m->query->site, &segments, take_fact, m,
                       error);
}

/* --- what they are charged ------------------------------------------------------------ */

static int take_row (const line_item_t *row, void *arg, gl_error_t *error)
{
    (void)error;
    statement_jobs_add (arg, row);
    return 0;
}

static int add_month (struct making *m, month_t *month, gl_error_t *error)
{
    job_shares_t *shares;

    if (month_line_items (month, &statement_jobs_want, take_row, m->jobs, NULL,
                          error)
            < 0
        || !(shares = job_shares_new (month->bill, m->jobs, error)))
        return -1;
    results_report_month (m->report, month->name, month->bill, shares,
                          m->units);
    job_shares_free (shares);
    return 0;
}

static int take_month (month_t *month, void *arg, gl_error_t *error)
{
    struct making *m = arg;
    int rc;

    if (month_is_uncharged (month))
        return 0;
    m->period = month->period;
    m->units
        = produced_units_new (m->query->site, month->period, month->closed);
    m->jobs = statement_jobs_all (month->paper->zone);
    rc = read_units (m, error);
    if (rc == 0)
        rc = add_month (m, month, error);
    statement_jobs_free (m->jobs);
    produced_units_free (m->units);
    return rc;
}

int results_make (store_t *store, const report_query_t *query,
                  report_t **ret_report, gl_error_t *error)
{
    static const month_how_t as_it_is = {.days = false};
    struct making m = {.store = store, .query = query};
    int rc = results_report_check (query, error);

    if (rc < 0)
        return -1;
    m.report = results_report_new (query);
    rc = months_each (store, query->site, query->period, &as_it_is, take_month,
                      &m, error);
    if (rc == 0)
        *ret_report = results_report_make (m.report);
    results_report_free (m.report);
    return rc;
}
