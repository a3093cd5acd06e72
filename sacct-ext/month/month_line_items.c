#include "base/memory.h"
#include "facts/facts.h"
#include "month/month_line_items.h"

struct pass {
    line_items_t *detail;
    line_item_f callback;
    void *arg;
    uint64_t rows;
};

static int count_row (const line_item_t *row, void *arg, gl_error_t *error)
{
    struct pass *p = arg;

    p->rows++;
    return p->callback (row, p->arg, error);
}

/* --- the segments, once more -----------------------------------------------
 */

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct pass *p = arg;

    return line_items_add_segment (p->detail, fact->segment, fact->suspensions,
                                   fact->suspension_count, fact->project,
                                   fact->evidence, count_row, p, error);
}

static int add_segments (struct pass *p, store_t *store, const site_t *site,
                         period_t period, gl_error_t *error)
{
    store_query_t query
        = {.start = period.start, .end = period.end, .gpu_only = true};

    return facts_each (store, site, &query, take_fact, p, error);
}

static int add_reservations (struct pass *p, store_t *store, period_t period,
                             gl_error_t *error)
{
    store_query_t query = {.start = period.start, .end = period.end};
    store_iter_t *iter
        = store_iter_open (store, STORE_RESERVATIONS, &query, error);
    reservation_t reservation;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &reservation, error)) > 0)
        line_items_add_reservation (p->detail, &reservation);
    store_iter_close (iter);
    return more;
}

/* --- capacity, day by day --------------------------------------------------
 */

static void take_slice (const capacity_slice_t *slice, void *arg)
{
    line_items_add_capacity (arg, slice);
}

static int take_held (const fact_t *fact, void *arg, gl_error_t *error)
{
    (void)error;
    capacity_add_segment (arg, fact->segment);
    return 0;
}

static int add_day (struct pass *p, store_t *store,
                    const report_query_t *report, period_t day,
                    gl_error_t *error)
{
    store_query_t query
        = {.start = day.start, .end = day.end, .gpu_only = true};
    kinds_t *kinds = kinds_new (report->site);
    capacity_t *capacity = capacity_new (report->site, kinds, day);
    int rc = 0;

    for (size_t i = 0; i < report->cluster_count; i++)
        capacity_set_as_of (capacity, report->clusters[i].name,
                            report->clusters[i].as_of);
    if (facts_each (store, report->site, &query, take_held, capacity, error) < 0
        || facts_capacity (store, &query, capacity, error) < 0)
        rc = -1;
    else
        capacity_each (capacity, NULL, 0, take_slice, p->detail);
    capacity_free (capacity);
    kinds_free (kinds);
    return rc;
}

static int add_capacity (struct pass *p, store_t *store,
                         const report_query_t *report, period_t period,
                         gl_error_t *error)
{
    const zone_t *zone = report->site->zone;

    for (int64_t at = period.start; at < period.end;) {
        period_t day = period_clip (zone_unit (zone, CALENDAR_DAY, at), period);
        if (add_day (p, store, report, day, error) < 0)
            return -1;
        at = day.end;
    }
    return 0;
}

/* --- the bill ------------------------------------------------------------- */

static void add_rows (struct pass *p, const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    const bill_entitlement_t *entitlements;

    for (size_t i = 0; i < count; i++)
        if (rows[i].kind != BILL_CHARGE)
            line_items_add_row (p->detail, &rows[i]);
    entitlements = bill_entitlements (bill, &count);
    for (size_t i = 0; i < count; i++)
        line_items_add_entitlement (p->detail, &entitlements[i]);
}

/* --- all of it ---------------------------------------------------------------
 */

struct month {
    store_t *store;
    const bills_month_t *of;
    period_t period;
    struct pass pass;
    line_item_result_t *result;
};

static int run (struct month *m, const billing_t *billing, gl_error_t *error)
{
    const report_query_t *query = billing_query (billing);
    period_t period = period_clip (billing_period (billing), m->period);
    struct pass *p = &m->pass;

    add_rows (p, m->of->bill);
    if (period.start < period.end
        && (add_reservations (p, m->store, period, error) < 0
            || add_segments (p, m->store, query->site, period, error) < 0
            || add_capacity (p, m->store, query, period, error) < 0))
        return -1;
    return line_items_finish (p->detail, count_row, p, error);
}

static int take_billing (const billing_t *billing, void *arg, gl_error_t *error)
{
    struct month *m = arg;
    int rc;

    m->pass.detail = line_items_new (billing);
    rc = run (m, billing, error);
    *m->result = (line_item_result_t){
        .rows = m->pass.rows,
        .poolless_gres_seconds = line_items_poolless (m->pass.detail),
    };
    line_items_free (m->pass.detail);
    return rc;
}

int line_items_of_month (store_t *store, const site_t *site,
                         const bills_month_t *month, line_item_f callback,
                         void *arg, line_item_result_t *ret_result,
                         gl_error_t *error)
{
    struct month m = {
        .store = store,
        .of = month,
        .period = month->period,
        .pass = {.callback = callback, .arg = arg},
        .result = ret_result,
    };

    return bills_billing (store, site, line_items_keys (site, m.period), NULL,
                          m.period, take_billing, &m, error);
}
