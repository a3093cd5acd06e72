#include "facts/facts.h"
#include "month/month.h"
#include "month/wastes.h"
#include "waste/waste_report.h"

struct making {
    store_t *store;
    const report_query_t *query;
    waste_report_t *waste;
};

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    return waste_report_add (arg, fact->segment, fact->suspensions,
                             fact->suspension_count, fact->project,
                             fact->evidence, error);
}

static int take_month (month_t *month, void *arg, gl_error_t *error)
{
    struct making *m = arg;
    report_query_t query = *m->query;
    store_query_t segments = {.gpu_only = true};

    query.period = period_clip (month->period, query.period);
    segments.start = query.period.start;
    segments.end = query.period.end;
    waste_report_begin_month (m->waste, &query, month->name, month->bill);
    if (facts_each (m->store, query.site, &segments, take_fact, m->waste, error)
        < 0)
        return -1;
    waste_report_end_month (m->waste);
    return 0;
}

int wastes_make (store_t *store, const report_query_t *query,
                 report_t **ret_report, gl_error_t *error)
{
    static const month_how_t as_it_is = {.days = false};
    struct making m = {.store = store, .query = query};
    int rc = waste_report_check (query, error);

    if (rc < 0)
        return -1;
    m.waste = waste_report_new (query);
    rc = months_each (store, query->site, query->period, &as_it_is, take_month,
                      &m, error);
    if (rc == 0)
        *ret_report = waste_report_make (m.waste);
    waste_report_free (m.waste);
    return rc;
}
