#include "facts/facts.h"
#include "month/bills.h"
#include "month/month_waste.h"
#include "waste/waste_report.h"

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    return waste_report_add (arg, fact->segment, fact->suspensions,
                             fact->suspension_count, fact->project,
                             fact->evidence, error);
}

static int compute (store_t *store, const report_query_t *query,
                    const char *name, const bill_t *bill, bill_t *out,
                    gl_error_t *error)
{
    const store_query_t segments = {.start = query->period.start,
                                    .end = query->period.end,
                                    .gpu_only = true};
    waste_report_t *waste = waste_report_new (query);
    int rc;

    waste_report_begin_month (waste, query, name, bill);
    rc = facts_each (store, query->site, &segments, take_fact, waste, error);
    waste_report_end_month (waste);
    if (rc == 0)
        waste_report_rows (waste, out);
    waste_report_free (waste);
    return rc;
}

int month_waste_compute (store_t *store, const site_t *site, period_t month,
                         const char *name, const bill_t *bill, bill_t *out,
                         gl_error_t *error)
{
    bill_t *none = bill ? NULL : bill_new ();
    bills_query_t of;
    int rc = bills_query (store, site, waste_row_keys, month, &of, error);

    if (rc == 0)
        rc = compute (store, &of.query, name, bill ? bill : none, out, error);
    bills_query_clear (&of);
    bill_free (none);
    return rc;
}
