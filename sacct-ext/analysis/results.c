#include <stdlib.h>
#include <string.h>

#include "analysis/results.h"
#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "facts/facts.h"
#include "month/bills.h"
#include "record/record.h"
#include "site/units.h"

/* An interval of an agent is no longer. */
#define INTERVAL_MAX_MS STORE_STRETCH_MAX_MS

struct making {
    store_t *store;
    const report_query_t *query;
    const char *cluster; /* of one job; NULL: of all */
    uint64_t id_job;     /* likewise; 0 */
    bool lines;          /* jobs without units are of no interest */
    results_report_t *report;
    period_t period; /* of the month */
    produced_units_t *units;
    statement_jobs_t *jobs;
};

/* --- what jobs produced ------------------------------------------------------------ */

static int read_reports (struct making *m, gl_error_t *error)
{
    const store_query_t jobs = {.cluster = m->cluster,
                                .id_job = m->id_job,
                                .start = m->period.start,
                                .end = m->period.end};
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
    const store_query_t query = {.cluster = m->cluster,
                                 .id_job = m->id_job,
                                 .start = m->period.start,
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

int results_labelled (store_t *store, bool *ret_labelled, gl_error_t *error)
{
    return store_has_text (store, UNIT_LABEL_PREFIX, ret_labelled, error);
}

void results_fact (produced_units_t *units, const report_query_t *query,
                   const fact_t *fact)
{
    produced_units_segment (units, fact->segment, fact->project->labels,
                            as_of (query, fact->segment->cluster));
}

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    (void)error;
    results_fact (m->units, m->query, fact);
    return 0;
}

/* Of jobs of others nothing is read. */
static bool is_wanted (const segment_t *s, void *arg)
{
    const struct making *m = arg;

    return report_passes_user (m->query, s->user);
}

static int read_facts (struct making *m, gl_error_t *error)
{
    const store_query_t segments
        = {.cluster = m->cluster,
           .id_job = m->id_job,
           .start = m->period.start,
           .end = m->period.end,
           .gpu_only = !site_counts_cpus (m->query->site)};

    return GL_ANY (m->query->filters, m->query->filter_count, it,
                   it->key == KEY_USER)
               ? facts_each_wanted (m->store, m->query->site, &segments,
                                    is_wanted, take_fact, m, error)
               : facts_each (m->store, m->query->site, &segments, take_fact, m,
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

static int begin_units (struct making *m, const month_t *month,
                        gl_error_t *error)
{
    m->period = month->period;
    m->units
        = produced_units_new (m->query->site, month->period, month->closed);
    return read_reports (m, error) < 0 || read_counts (m, error) < 0 ? -1 : 0;
}

int results_units (store_t *store, const report_query_t *query,
                   const month_t *month, produced_units_t **ret_units,
                   gl_error_t *error)
{
    struct making m = {.store = store, .query = query};

    if (begin_units (&m, month, error) < 0) {
        produced_units_free (m.units);
        return -1;
    }
    *ret_units = m.units;
    return 0;
}

/* What all jobs are charged need not be read where nothing was produced. */
static bool is_without (const struct making *m)
{
    produced_unit_t unit;
    size_t cursor = 0;

    if (!m->id_job)
        return m->lines && !produced_units_any (m->units);
    return !produced_units_next (m->units, m->cluster, m->id_job, &cursor,
                                 &unit);
}

static int take_month (month_t *month, void *arg, gl_error_t *error)
{
    struct making *m = arg;
    int rc;

    if (month_is_uncharged (month))
        return 0;
    m->jobs = statement_jobs_all (month->paper->zone);
    rc = begin_units (m, month, error) < 0 || read_facts (m, error) < 0 ? -1
                                                                        : 0;
    if (rc == 0 && !is_without (m))
        rc = add_month (m, month, error);
    statement_jobs_free (m->jobs);
    produced_units_free (m->units);
    return rc;
}

static int make (struct making *m, gl_error_t *error)
{
    static const month_how_t as_it_is = {.days = false};

    if (results_report_check (m->query, error) < 0)
        return -1;
    m->report = results_report_new (m->query);
    return months_each (m->store, m->query->site, m->query->period, &as_it_is,
                        take_month, m, error);
}

int results_make (store_t *store, const report_query_t *query,
                  report_t **ret_report, gl_error_t *error)
{
    struct making m = {.store = store, .query = query};
    int rc = make (&m, error);

    if (rc == 0)
        *ret_report = results_report_make (m.report);
    results_report_free (m.report);
    return rc;
}

int results_lines (store_t *store, const report_query_t *query,
                   results_line_f callback, void *arg, gl_error_t *error)
{
    struct making m = {.store = store, .query = query, .lines = true};
    int rc = make (&m, error);

    if (rc == 0)
        results_report_lines (m.report, callback, arg);
    results_report_free (m.report);
    return rc;
}

/* --- of one job ---------------------------------------------------------------------- */

/* Steps of a segment: one for each month. */
struct explaining {
    explain_segment_t *segment;
    const site_t *site;
};

static void add_line (const results_line_t *line, void *arg)
{
    struct explaining *e = arg;
    explain_step_t *step = explain_step (
        e->segment, "units", xasprintf ("Produced in %s", line->month));
    GL_AUTOFREE char *title
        = xasprintf ("charged for the job, %s", e->site->currency);
    GL_AUTOFREE char *price
        = xasprintf ("cost per %s, %s", line->per, e->site->currency);

    explain_text (step, "unit", "unit", line->unit);
    explain_line (step, COLUMN_COUNT, "produced", "how many",
                  xstrdup (line->quantity));
    explain_line (step, COLUMN_MONEY, "amount", title, xstrdup (line->amount));
    explain_line (step, COLUMN_RATE, "unit_cost", price,
                  line->price ? xstrdup (line->price) : NULL);
}

/* "CLUSTER/JOBID/SUBMIT" */
static bool read_reference (const explain_segment_t *segment,
                            char **ret_cluster, uint64_t *ret_id)
{
    const char *submit
        = segment->reference ? strrchr (segment->reference, '/') : NULL;
    const char *id = submit;

    while (id && id > segment->reference && id[-1] != '/')
        id--;
    if (!id || id == segment->reference
        || number_u64 (id, (size_t)(submit - id), ret_id) < 0)
        return false;
    *ret_cluster
        = xstrndup (segment->reference, (size_t)(id - 1 - segment->reference));
    return true;
}

static int explain_one (struct making *m, explain_segment_t *segment,
                        gl_error_t *error)
{
    report_query_t query = *m->query;
    struct explaining e = {.segment = segment, .site = query.site};
    struct making one = *m;
    GL_AUTOFREE char *cluster = NULL;
    int rc;

    if (segment->life.end <= segment->life.start
        || !read_reference (segment, &cluster, &one.id_job))
        return 0;
    one.cluster = cluster;
    query.period = segment->life;
    query.by = (key_list_t){.id = {KEY_MONTH}, .count = 1};
    one.query = &query;
    rc = make (&one, error);
    if (rc == 0)
        results_report_lines (one.report, add_line, &e);
    results_report_free (one.report);
    return rc;
}

int results_explain (store_t *store, const site_t *site, explain_t *explain,
                     gl_error_t *error)
{
    store_cluster_t *stored;
    report_cluster_t *clusters;
    report_query_t query = {.site = site};
    struct making m = {.store = store, .query = &query};
    size_t count;
    int rc = 0;

    if (store_clusters (store, &stored, &count, error) < 0)
        return -1;
    clusters = xcalloc (count + 1, sizeof (*clusters));
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = bills_cluster (store, site, &stored[i], &clusters[i], error);
    query.clusters = clusters;
    query.cluster_count = count;
    for (size_t i = 0; i < explain->segment_count && rc == 0; i++)
        rc = explain_one (&m, &explain->segment[i], error);
    free (clusters);
    store_clusters_free (stored, count);
    return rc;
}
