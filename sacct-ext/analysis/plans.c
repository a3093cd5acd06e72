#include "analysis/plans.h"
#include "base/array.h"
#include "month/closed_site.h"
#include "month/month.h"
#include "month/month_retained.h"

static store_query_t segments_of (const plan_t *plan)
{
    period_t period = plan_period (plan);

    return (store_query_t){
        .start = period.start, .end = period.end, .gpu_only = true};
}

int plans_take (const fact_t *fact, void *plan, gl_error_t *error)
{
    (void)error;
    plan_add (plan, fact->segment, fact->suspensions, fact->suspension_count,
              fact->project, fact->evidence);
    return 0;
}

int plans_retained (store_t *store, const site_t *site, plan_t *plan,
                    bool *ret_retained, gl_error_t *error)
{
    bill_t *rows = bill_new ();
    int rc = month_retained_same (store, site, plan_period (plan), BILL_DEMAND,
                                  rows, ret_retained, error);

    *ret_retained = rc == 0 && *ret_retained && plan_take_rows (plan, rows);
    bill_free (rows);
    return rc;
}

int plans_read (store_t *store, const site_t *site, plan_t *plan,
                gl_error_t *error)
{
    const store_query_t segments = segments_of (plan);
    bool retained;

    if (plans_retained (store, site, plan, &retained, error) < 0)
        return -1;
    return retained
               ? 0
               : facts_each (store, site, &segments, plans_take, plan, error);
}

int plans_finish (store_t *store, plan_t *plan, report_t **ret_report,
                  gl_error_t *error)
{
    const store_query_t segments = segments_of (plan);

    return (!plan_has_rows (plan)
            && facts_capacity (store, &segments, plan_capacity (plan), error)
                   < 0)
               ? -1
               : plan_make (plan, ret_report, error);
}

int plans_make (store_t *store, const report_query_t *asked,
                const plan_query_t *chosen, report_t **ret_report,
                gl_error_t *error)
{
    report_query_t query = *asked;
    report_cluster_t *clusters = NULL;
    plan_t *plan;
    int rc;

    if (!GL_ANY (query.filters, query.filter_count, it, it->key != KEY_POOL)
        && months_as_of (store, &query, &clusters, error) < 0)
        return -1;
    plan = plan_new (&query, chosen);
    rc = plans_read (store, query.site, plan, error) < 0
                 || plans_finish (store, plan, ret_report, error) < 0
             ? -1
             : 0;
    plan_free (plan);
    if (clusters)
        closed_clusters_free (clusters, query.cluster_count);
    return rc;
}
