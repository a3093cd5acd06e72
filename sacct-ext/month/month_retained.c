#include "base/memory.h"
#include "facts/facts.h"
#include "month/bills.h"
#include "month/closed_lists.h"
#include "month/month_retained.h"
#include "month/periods.h"
#include "report/plan.h"
#include "waste/waste_report.h"

/* --- computed ------------------------------------------------------------------- */

struct making {
    waste_report_t *waste;
    plan_t *plan;
};

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    plan_add (m->plan, fact->segment, fact->suspensions, fact->suspension_count,
              fact->project, fact->evidence);
    return waste_report_add (m->waste, fact->segment, fact->suspensions,
                             fact->suspension_count, fact->project,
                             fact->evidence, error);
}

static int compute (store_t *store, const report_query_t *query,
                    const char *name, const bill_t *bill, bill_t *out,
                    gl_error_t *error)
{
    static const plan_query_t nothing_chosen = {.against = NULL};
    const store_query_t segments = {.start = query->period.start,
                                    .end = query->period.end,
                                    .gpu_only = true};
    struct making m = {waste_report_new (query),
                       plan_new (query, &nothing_chosen)};
    int rc;

    waste_report_begin_month (m.waste, query, name, bill);
    rc = facts_each (store, query->site, &segments, take_fact, &m, error);
    waste_report_end_month (m.waste);
    if (rc == 0)
        rc = facts_capacity (store, &segments, plan_capacity (m.plan), error);
    if (rc == 0) {
        waste_report_rows (m.waste, out);
        plan_rows (m.plan, name, out);
    }
    waste_report_free (m.waste);
    plan_free (m.plan);
    return rc;
}

int month_retained_compute (store_t *store, const site_t *site, period_t month,
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

/* --- read ------------------------------------------------------------------------ */

/* 1: the month was closed with that configuration; 0; -1. */
static int is_same (const closing_t *closing, const site_t *site,
                    gl_error_t *error)
{
    GL_AUTOFREE char *said = body_get (closing->body, "snapshot");
    uint8_t digest[STORE_DIGEST_SIZE];

    if (!said || !site->book)
        return 0;
    return hash_parse (said, digest) < 0
               ? 0
               : chain_snapshot_is (site->book, digest, error);
}

int month_retained_same (store_t *store, const site_t *site, period_t period,
                     bill_list_t list, bill_t *out, bool *ret_retained,
                     gl_error_t *error)
{
    const closing_t *closing;
    char name[MONTH_SIZE];
    periods_t *periods;
    int rc;

    *ret_retained = false;
    periods_month_of (site, period.start, name);
    if (periods_read (store, &periods, error) < 0)
        return -1;
    closing = periods_closing (periods, name);
    rc = closing && body_get_number (closing->body, "start") == period.start
                 && body_get_number (closing->body, "end") >= period.end
             ? is_same (closing, site, error)
             : 0;
    *ret_retained = rc == 1;
    if (rc == 1)
        rc = closed_list_read (store, closing, list, out, error);
    periods_free (periods);
    return rc;
}
