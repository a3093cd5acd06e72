#include "base/array.h"
#include "facts/facts.h"
#include "month/month.h"
#include "analysis/wastes.h"
#include "report/tags_report.h"
#include "waste/rightsize.h"
#include "waste/waste_report.h"

/* Of the reports one. */
struct making {
    store_t *store;
    const report_query_t *query;
    month_t *had; /* read before */
    bool known;   /* wanted of its months: that they have rows */
    bool
        some_now; /* closed ones of them, whose jobs are counted as they are now */
    bool retained; /* the month in the making has what its closing retained */
    waste_report_t *waste;
    const wastes_also_t *also;
    size_t also_count;
    rightsize_t *rightsize;
    tags_report_t *tags;
};

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    if (m->tags)
        return tags_report_add (m->tags, fact->segment, fact->project, error);
    if (m->rightsize)
        return rightsize_add (m->rightsize, fact->segment, fact->project,
                              fact->evidence, error);
    for (size_t i = 0; i < m->also_count; i++)
        if (m->also[i].take (fact, m->also[i].arg, error) < 0)
            return -1;
    if (m->retained)
        return 0;
    return waste_report_add (m->waste, fact->segment, fact->suspensions,
                             fact->suspension_count, fact->project,
                             fact->evidence, error);
}

/* By the names of users alone: those that a filter of users leaves out. */
static bool is_wanted (const segment_t *s, void *arg)
{
    const struct making *m = arg;

    return report_passes_user (m->query, s->user);
}

static int add_facts (struct making *m, period_t period, gl_error_t *error)
{
    const store_query_t segments
        = {.start = period.start, .end = period.end, .gpu_only = true};

    if (GL_ANY (m->query->filters, m->query->filter_count, it,
                it->key == KEY_USER))
        return facts_each_wanted (m->store, m->query->site, &segments,
                                  is_wanted, take_fact, m, error);

    return facts_each (m->store, m->query->site, &segments, take_fact, m,
                       error);
}

static void begin_month (struct making *m, const report_query_t *query,
                         const month_t *month)
{
    if (m->tags)
        tags_report_begin_month (m->tags, query, month->bill);
    else if (m->rightsize)
        rightsize_begin_month (m->rightsize, query, month->bill);
    else
        waste_report_begin_month (m->waste, query, month->name, month->bill);
}

static void end_month (struct making *m)
{
    if (m->tags)
        tags_report_end_month (m->tags);
    else if (m->rightsize)
        rightsize_end_month (m->rightsize);
    else
        waste_report_end_month (m->waste);
}

/* The report has the month as it was closed. */
static int take_retained (struct making *m, const report_query_t *query,
                          month_t *month, gl_error_t *error)
{
    bill_t *rows;

    m->retained = false;
    if (!m->waste || !waste_rows_answer (query)
        || query->period.start != month->period.start
        || query->period.end != month->period.end)
        return 0;
    rows = bill_new ();
    if (month_retained (month, BILL_WASTE, rows, &m->retained, error) == 0
        && month_retained (month, BILL_WASTEFUL_JOBS, rows, &m->retained, error)
               == 0
        && m->retained)
        return waste_report_take_rows (m->waste, rows, error);
    bill_free (rows);
    return m->retained ? -1 : 0;
}

static int take_month (month_t *month, void *arg, gl_error_t *error)
{
    struct making *m = arg;
    report_query_t query = *m->query;
    size_t rows;
    int rc;

    postings (month->bill, &rows);
    m->known |= rows > 0 && month->state != MONTH_BEFORE;
    query.period = period_clip (month->period, query.period);
    begin_month (m, &query, month);
    rc = take_retained (m, &query, month, error);
    m->some_now |= !m->retained && !month_is_provisional (month);
    if (rc == 0 && (!m->retained || m->also_count > 0))
        rc = add_facts (m, query.period, error);
    end_month (m);
    return rc;
}

static int each_month (struct making *m, gl_error_t *error)
{
    const month_how_t how = {.had = m->had};

    return months_each (m->store, m->query->site, m->query->period, &how,
                        take_month, m, error);
}

void wastes_sums_clear (wastes_sums_t *sums)
{
    cube_free (sums->sums);
    *sums = (wastes_sums_t){.sums = NULL};
}

int wastes_sums (store_t *store, const report_query_t *query, month_t *had,
                 wastes_sums_t *ret_sums, gl_error_t *error)
{
    report_query_t ungrouped = *query;
    struct making m = {.store = store, .query = &ungrouped, .had = had};
    int rc;

    wastes_sums_clear (ret_sums);
    ungrouped.by.count = 0;
    m.waste = waste_report_new (&ungrouped);
    rc = each_month (&m, error);
    if (rc == 0 && m.known) {
        periods_month_of (query->site, query->period.start, ret_sums->month);
        ret_sums->sums = waste_report_sums (m.waste);
    }
    waste_report_free (m.waste);
    return rc;
}

/* Those of the month before, where the query is of one month that is over. */
static int sums_before (store_t *store, const report_query_t *query,
                        wastes_sums_t *ret_sums, gl_error_t *error)
{
    const zone_t *zone = query->site->zone;
    report_query_t before = *query;

    if (query->period.end
            != zone_unit (zone, CALENDAR_MONTH, query->period.start).end
        || query->period.end > report_as_of (query))
        return 0;
    before.period = zone_unit (zone, CALENDAR_MONTH, query->period.start - 1);
    return wastes_sums (store, &before, NULL, ret_sums, error);
}

static void make_page (struct making *m, const wastes_how_t *how,
                       const wastes_sums_t *before, report_t **ret_report)
{
    const report_query_t *query = m->query;

    *ret_report = waste_report_make (m->waste, before->sums, before->month);
    if (m->some_now)
        report_note (*ret_report, NOTE_INFORMATION,
                     "Jobs of closed months, too, are counted as accounting "
                     "and agents report them now: closing keeps waste by "
                     "team and pool, of entire months, alone. Prices and "
                     "capacity of a closed "
                     "month are those of its closing.");
    if (how && how->ret_sums) {
        wastes_sums_clear (how->ret_sums);
        periods_month_of (query->site, query->period.start,
                          how->ret_sums->month);
        how->ret_sums->sums = waste_report_sums (m->waste);
    }
}

int wastes_make (store_t *store, const report_query_t *asked,
                 const wastes_how_t *how, report_t **ret_report,
                 gl_error_t *error)
{
    report_query_t query = *asked;
    report_cluster_t *clusters = NULL;
    struct making m = {.store = store,
                       .query = &query,
                       .had = how ? how->had : NULL,
                       .also = how ? how->also : NULL,
                       .also_count = how ? how->also_count : 0};
    wastes_sums_t own = {.sums = NULL};
    int rc = waste_report_check (&query, error);

    if (rc == 0 && !how && waste_rows_answer (&query))
        rc = months_as_of (store, &query, &clusters, error);
    if (rc < 0)
        return -1;
    m.waste = waste_report_new (&query);
    if (!how)
        rc = sums_before (store, &query, &own, error);
    if (rc == 0)
        rc = each_month (&m, error);
    if (rc == 0)
        make_page (&m, how, how && how->before ? how->before : &own,
                   ret_report);
    waste_report_free (m.waste);
    wastes_sums_clear (&own);
    if (clusters)
        closed_clusters_free (clusters, query.cluster_count);
    return rc;
}

int wastes_lines (store_t *store, const report_query_t *query,
                  waste_line_f callback, void *arg, gl_error_t *error)
{
    report_query_t ungrouped = *query;
    struct making m = {.store = store, .query = &ungrouped};
    int rc;

    ungrouped.by.count = 0;
    m.waste = waste_report_new (&ungrouped);
    rc = each_month (&m, error);
    if (rc == 0)
        waste_report_lines (m.waste, WASTE_OWN_JOBS, callback, arg);
    waste_report_free (m.waste);
    return rc;
}

int rightsizes_make (store_t *store, const report_query_t *query,
                     report_t **ret_report, gl_error_t *error)
{
    struct making m = {.store = store, .query = query};
    int rc;

    m.rightsize = rightsize_new (query);
    rc = each_month (&m, error);
    if (rc == 0)
        *ret_report = rightsize_make (m.rightsize);
    rightsize_free (m.rightsize);
    return rc;
}

/* Those of the period, if the query is of all jobs. */
static int add_retags (struct making *m, gl_error_t *error)
{
    store_iter_t *iter = store_iter_open (m->store, STORE_RETAGS, NULL, error);
    retag_t retag;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &retag, error)) > 0)
        if (period_has (m->query->period, retag.stamp))
            tags_report_retag (m->tags, &retag);
    store_iter_close (iter);
    return more;
}

int tags_make (store_t *store, const report_query_t *query,
               report_t **ret_report, gl_error_t *error)
{
    struct making m = {.store = store, .query = query};
    int rc = tags_report_check (query, error);

    if (rc < 0)
        return -1;
    m.tags = tags_report_new (query);
    rc = each_month (&m, error);
    if (rc == 0 && query->filter_count == 0)
        rc = add_retags (&m, error);
    if (rc == 0)
        *ret_report = tags_report_make (m.tags);
    tags_report_free (m.tags);
    return rc;
}
