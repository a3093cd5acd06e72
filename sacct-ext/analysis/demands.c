#include "demand/demand.h"
#include "facts/facts.h"
#include "facts/rollups.h"
#include "analysis/demands.h"

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    (void)error;
    /* those that never started come in a pass of their own */
    if (fact->segment->time_start != 0)
        demand_add (arg, fact->segment);
    return 0;
}

/* Later ones, too: they may have waited in the period. */
static int add_started (store_t *store, const report_query_t *query,
                        demand_t *demand, gl_error_t *error)
{
    const store_query_t segments = {.start = demand_period (demand).start,
                                    .end = INSTANT_END,
                                    .gpu_only = true};

    return facts_each (store, query->site, &segments, take_fact, demand, error);
}

static int add_unstarted (store_t *store, demand_t *demand, gl_error_t *error)
{
    period_t period = demand_period (demand);
    const store_query_t query = {.start = period.start,
                                 .end = period.end,
                                 .gpu_only = true,
                                 .unstarted_only = true};
    store_iter_t *iter = store_iter_open (store, STORE_SEGMENTS, &query, error);
    segment_t segment;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &segment, error)) > 0)
        demand_add (demand, &segment);
    store_iter_close (iter);
    return more;
}

static int take_day (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    (void)error;
    demand_add_day (arg, rollup);
    return 0;
}

static int add_days (store_t *store, const report_query_t *query,
                     demand_t *demand, gl_error_t *error)
{
    report_query_t days = *query;
    rollups_query_t rollups = {.query = &days, .unit = ROLLUPS_DAYS};
    int64_t first;

    if (facts_first (store, &first, error) < 0)
        return -1;
    days.period = rollups.period = demand_history (demand, first);
    return rollups_each (store, &rollups, take_day, demand, error);
}

int demands_make (store_t *store, const report_query_t *query,
                  const plan_query_t *asked, report_t **ret_report,
                  gl_error_t *error)
{
    demand_t *demand = demand_new (query, asked);
    int rc = add_started (store, query, demand, error);

    if (rc == 0)
        rc = add_unstarted (store, demand, error);
    if (rc == 0)
        rc = add_days (store, query, demand, error);
    if (rc == 0)
        *ret_report = demand_make (demand);
    demand_free (demand);
    return rc;
}
