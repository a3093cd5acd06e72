#include "base/memory.h"
#include "facts/facts.h"
#include "facts/rollups.h"
#include "ledger/billing.h"
#include "ledger/cube.h"
#include "month/bills.h"
#include "month/services.h"
#include "site/account.h"
#include "usage/billable.h"

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    billing_t *billing = arg;

    (void)error;
    billing_add (billing, fact->segment, fact->suspensions,
                 fact->suspension_count, fact->project);
    billing_measure (billing, fact->segment, fact->project, fact->evidence);
    return 0;
}

static int take_rollup (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    billing_t *billing = arg;

    (void)error;
    billing_add_rollup (billing, rollup);
    return 0;
}

/* Other segments come as well: those that an outage affects have their turn. */
static int take_ended (const fact_t *fact, void *arg, gl_error_t *error)
{
    billing_t *billing = arg;

    (void)error;
    if (billable_is_credited (billing_query (billing)->site, fact->segment))
        billing_add_ended (billing, fact->segment, fact->suspensions,
                           fact->suspension_count, fact->project);
    return 0;
}

int bills_give_events (store_t *store, billing_t *billing, gl_error_t *error)
{
    outages_t *outages = billing_outages (billing);
    store_query_t query
        = {.start = billing_period (billing).start, .end = SITE_ALWAYS_END};
    store_iter_t *iter;
    node_event_t event;
    int more = -1;

    if (!outages_want_events (outages))
        return 0;
    iter = store_iter_open (store, STORE_EVENTS, &query, error);
    while (iter && (more = store_iter_next (iter, &event, error)) > 0)
        outages_add_event (outages, &event);
    store_iter_close (iter);
    return more;
}

/* Segments of the periods of outages, each once. */
struct affected {
    billing_t *billing;
    const period_t *periods;
    size_t at; /* whose segments come; those before had theirs */
};

static bool lies_in (const segment_t *s, period_t period)
{
    return s->time_start < period.end
           && (s->time_end == 0 || s->time_end > period.start);
}

/* Other segments of its jobs come as well. */
static int take_affected (const fact_t *fact, void *arg, gl_error_t *error)
{
    const struct affected *a = arg;

    (void)error;
    if (!lies_in (fact->segment, a->periods[a->at]))
        return 0;
    if (billing_wants_ended (a->billing)
        && billable_is_credited (billing_query (a->billing)->site,
                                 fact->segment))
        return 0;
    for (size_t i = 0; i < a->at; i++)
        if (lies_in (fact->segment, a->periods[i]))
            return 0;
    billing_add_ended (a->billing, fact->segment, fact->suspensions,
                       fact->suspension_count, fact->project);
    return 0;
}

static int add_affected (store_t *store, const site_t *site, billing_t *billing,
                         gl_error_t *error)
{
    outages_t *outages = billing_outages (billing);
    size_t count;
    const period_t *periods = outages_periods (outages, &count);
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++) {
        struct affected a = {billing, periods, i};
        store_query_t query = {
            .start = periods[i].start, .end = periods[i].end, .gpu_only = true};
        rc = facts_each (store, site, &query, take_affected, &a, error);
    }
    return rc;
}

int bills_add_ended (store_t *store, const site_t *site, billing_t *billing,
                     gl_error_t *error)
{
    period_t period = billing_period (billing);
    store_query_t query = {.start = period.start,
                           .end = period.end,
                           .gpu_only = true,
                           .ended = billing_wants_ended (billing)};

    if (query.ended != 0
        && facts_each (store, site, &query, take_ended, billing, error) < 0)
        return -1;
    return add_affected (store, site, billing, error);
}

int bills_finish (store_t *store, billing_t *billing, billing_pool_f each,
                  void *arg, gl_error_t *error)
{
    meter_reading_t *readings = NULL;
    size_t count = 0;
    int rc;

    if (billing_wants_meters (billing)
        && store_meters (store, billing_period (billing), &readings, &count,
                         error)
               < 0)
        return -1;
    billing_meters (billing, readings, count);
    rc = billing_compute (billing, each, arg, error);
    billing_meters (billing, NULL, 0);
    store_meters_free (readings, count);
    return rc;
}

/* Days, and no facts, where these have all that is wanted. */
static bool of_rollups (const billing_t *billing, period_t period,
                        rollups_query_t *ret_query)
{
    *ret_query = (rollups_query_t){
        .query = billing_query (billing),
        .period = period,
        .unit = billing_wants_days (billing) ? ROLLUPS_DAYS : ROLLUPS_MONTHS};
    ret_query->cuts = billing_cuts (billing, &ret_query->cut_count);
    return !billing_wants_segments (billing) && rollups_answer (ret_query);
}

int bills_give_facts (store_t *store, billing_t *billing, gl_error_t *error)
{
    const site_t *site = billing_query (billing)->site;
    period_t period = billing_period (billing);
    rollups_query_t days;
    store_query_t facts
        = {.start = period.start, .end = period.end, .gpu_only = true};

    if (bills_give_events (store, billing, error) < 0)
        return -1;
    if (of_rollups (billing, period, &days))
        return rollups_each (store, &days, take_rollup, billing, error) < 0
                   ? -1
                   : bills_add_ended (store, site, billing, error);
    if (period.end <= period.start)
        return 0;
    if (facts_each (store, site, &facts, take_fact, billing, error) < 0)
        return -1;
    return facts_capacity (store, &facts, billing_capacity (billing), error);
}

static bool carries (const site_t *site)
{
    bool any = false;

    for (size_t i = 0; i < site->entitlement_count; i++)
        any = any || site->entitlements[i].unused == UNUSED_CARRIED;
    return any && site->go_live.year == 0;
}

int bills_cluster (store_t *store, const site_t *site,
                   const store_cluster_t *from, report_cluster_t *ret_cluster,
                   gl_error_t *error)
{
    int64_t as_of;

    *ret_cluster = (report_cluster_t){.name = from->name, .as_of = from->as_of};
    return carries (site) ? store_extent (store, from->name,
                                          &ret_cluster->first, &as_of, error)
                          : 0;
}

void bills_query_clear (bills_query_t *of)
{
    accounts_free (of->accounts);
    free (of->clusters);
    store_clusters_free (of->stored, of->query.cluster_count);
}

int bills_query (store_t *store, const site_t *site, const char *by,
                 period_t period, bills_query_t *ret, gl_error_t *error)
{
    report_query_t *query = &ret->query;
    char *label;
    int rc = 0;

    *ret = (bills_query_t){.query = {.site = site, .period = period}};
    if (report_keys_parse (by, &query->by, &label, error) < 0
        || store_clusters (store, &ret->stored, &query->cluster_count, error)
               < 0)
        return -1;
    ret->clusters = xcalloc (query->cluster_count + 1, sizeof (*ret->clusters));
    for (size_t i = 0; i < query->cluster_count && rc == 0; i++)
        rc = bills_cluster (store, site, &ret->stored[i], &ret->clusters[i],
                            error);
    query->clusters = ret->clusters;
    ret->accounts = rc == 0 ? facts_accounts (store, error) : NULL;
    query->accounts = ret->accounts;
    return ret->accounts ? 0 : -1;
}

/* A billing with all facts, not yet computed. */
typedef int (*use_f) (store_t *store, billing_t *billing, void *arg,
                      gl_error_t *error);
static int with_billing (store_t *store, const site_t *site, const char *by,
                         period_t period, const bills_how_t *how, use_f use,
                         void *arg, gl_error_t *error)
{
    bills_query_t asked;
    billing_t *billing = NULL;
    int rc = bills_query (store, site, by, period, &asked, error);

    if (rc == 0) {
        billing = billing_new (&asked.query);
        if (how->days)
            billing_days_apart (billing, how->filter);
        rc = bills_give_facts (store, billing, error);
    }
    if (rc == 0)
        rc = use (store, billing, arg, error);
    billing_free (billing);
    bills_query_clear (&asked);
    return rc;
}

/* --- the bill ------------------------------------------------------------ */

/* The keys of bill_day_t. */
static const char day_keys[] = "day,team,account,project,pool";
static const char team_day_keys[] = "day,team";

/* Their places among bill_keys, and the day behind these. */
enum { AT_POOL = 1, AT_TEAM = 2, AT_ACCOUNT = 3, AT_PROJECT = 6, AT_DAY = 12 };

struct making {
    const site_t *site;
    const bills_how_t *how;
    bill_taking_t taking;
    billing_days_t *of; /* NULL: without days */
    cube_t *days;
    int64_t first;
};

static void take_day (const billing_line_t *line, void *arg)
{
    const struct making *m = arg;
    bill_day_t *to, keys = {.day = (char *)line->keys[AT_DAY],
                            .team = (char *)line->keys[AT_TEAM],
                            .account = (char *)line->keys[AT_ACCOUNT],
                            .project = (char *)line->keys[AT_PROJECT],
                            .pool = (char *)line->keys[AT_POOL]};
    charge_kind_t kind = line->line->kind;
    mpz_ptr units;
    mpq_ptr seconds;

    if (!line->in_period || !keys.day)
        return;
    mpz_inits (keys.units, keys.other_units, NULL);
    mpq_inits (keys.gpu_seconds, keys.cpu_seconds, NULL);
    to = cube_add (m->days, &keys);
    units = kind == CHARGE_CREDIT || kind == CHARGE_PURCHASE ? to->other_units
                                                             : to->units;
    mpz_add (units, units, line->line->charge_units);
    seconds = site_pool_of_cpus (m->site, keys.pool) ? to->cpu_seconds
                                                     : to->gpu_seconds;
    if (kind == CHARGE_USED)
        mpq_add (seconds, seconds, line->line->gpu_seconds);
    mpz_clears (keys.units, keys.other_units, NULL);
    mpq_clears (keys.gpu_seconds, keys.cpu_seconds, NULL);
}

static int take_pool (const billing_t *billing, const pool_month_t *pm,
                      void *arg, gl_error_t *error)
{
    struct making *m = arg;

    if (m->of)
        billing_days_add_pool (m->of, pm);
    return m->how->days_alone ? 0
                              : bill_take_pool (billing, pm, &m->taking, error);
}

static int take_rollup_days (const rollup_t *rollup, void *arg,
                             gl_error_t *error)
{
    return billing_days_add_rollup (arg, rollup, error);
}

static int take_fact_days (const fact_t *fact, void *arg, gl_error_t *error)
{
    (void)error;
    billing_days_add (arg, fact->segment, fact->suspensions,
                      fact->suspension_count, fact->project);
    return 0;
}

static int give_days (store_t *store, const billing_t *billing,
                      billing_days_t *of, gl_error_t *error)
{
    period_t period = billing_days_period (of);
    store_query_t facts
        = {.start = period.start, .end = period.end, .gpu_only = true};
    rollups_query_t days;

    if (period.end <= period.start)
        return 0;
    if (!of_rollups (billing, period, &days))
        return facts_each (store, billing_query (billing)->site, &facts,
                           take_fact_days, of, error);
    days.unit = ROLLUPS_DAYS;
    return rollups_each (store, &days, take_rollup_days, of, error);
}

static int add_days (store_t *store, billing_t *billing, struct making *m,
                     gl_error_t *error)
{
    if (give_days (store, billing, m->of, error) < 0
        || billing_days_finish (m->of, error) < 0)
        return -1;
    billing_days_free (GL_TAKE (m->of));
    for (size_t i = 0; i < cube_count (m->days); i++)
        cube_hand_over (m->days, i, bill_append (m->taking.bill, BILL_DAYS));
    m->first = billing_first (billing);
    return 0;
}

static int make_bill (store_t *store, billing_t *billing, void *arg,
                      gl_error_t *error)
{
    struct making *m = arg;
    int rc;

    if (m->how->days) {
        m->days = cube_new (&bill_fields[BILL_DAYS],
                            m->how->by_team ? team_day_keys : day_keys);
        m->of = billing_days_new (billing, take_day, m);
    }
    rc = bills_finish (store, billing, take_pool, m, error);
    if (rc == 0 && m->of)
        rc = add_days (store, billing, m, error);
    bill_sort (m->taking.bill);
    billing_days_free (m->of);
    cube_free (m->days);
    return rc;
}

int bills_compute_part (store_t *store, const site_t *site, period_t period,
                        const bills_how_t *how, bill_t **ret_bill,
                        int64_t *ret_first, gl_error_t *error)
{
    GL_AUTOFREE char *keys
        = xasprintf ("%s%s", bill_keys, how->days ? ",day" : "");
    struct making m
        = {.site = site,
           .how = how,
           .taking = {.bill = bill_new (), .compared = how->compared}};

    if (with_billing (store, site, keys, period, how, make_bill, &m, error) < 0
        || (!how->days_alone
            && services_add (store, site, period, m.taking.bill, error) < 0)) {
        bill_free (m.taking.bill);
        return -1;
    }
    *ret_bill = m.taking.bill;
    *ret_first = m.first;
    return 0;
}

int bills_compute (store_t *store, const site_t *site, period_t period,
                   bill_t **ret_bill, gl_error_t *error)
{
    const bills_how_t how = {.days = false};
    period_t months
        = {.start = zone_unit (site->zone, CALENDAR_MONTH, period.start).start};
    int64_t first;

    months.end
        = period.end > period.start
              ? zone_unit (site->zone, CALENDAR_MONTH, period.end - 1).end
              : months.start;
    return bills_compute_part (store, site, months, &how, ret_bill, &first,
                               error);
}

/* --- line items --------------------------------------------------------- */

struct pass {
    line_items_t *detail;
    const line_item_want_t *want;
    line_item_f callback;
    void *arg;
};

static int take_item (const line_item_t *row, void *arg, gl_error_t *error)
{
    const struct pass *p = arg;

    return p->want && p->want->wants && !p->want->wants (row, p->arg)
               ? 0
               : p->callback (row, p->arg, error);
}

static int take_segment (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct pass *p = arg;

    return line_items_add_segment (p->detail, fact->segment, fact->suspensions,
                                   fact->suspension_count, fact->project,
                                   fact->evidence, take_item, p, error);
}

static int add_segments (struct pass *p, store_t *store, const site_t *site,
                         period_t period, gl_error_t *error)
{
    store_query_t query
        = {.start = period.start, .end = period.end, .gpu_only = true};

    return facts_each (store, site, &query, take_segment, p, error);
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

static void take_slice (const capacity_slice_t *slice, void *arg)
{
    const rollup_capacity_t capacity
        = {.pool = slice->pool ? slice->pool->name : NULL,
           .sum = slice->sum,
           .reserved = slice->reserved,
           .reserved_count = slice->reserved_count};

    line_items_add_capacity (arg, slice->cluster, slice->interval.start,
                             &capacity);
}

static int take_capacity (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    size_t count;
    const rollup_capacity_t *capacity = rollup_capacity (rollup, &count);

    (void)error;
    for (size_t i = 0; i < count; i++)
        line_items_add_capacity (arg, rollup_cluster (rollup),
                                 rollup_period (rollup).start, &capacity[i]);
    return 0;
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

/* Days that are kept say what nobody used: to find it out again takes a second look
 * at every segment. */
static int add_capacity (struct pass *p, store_t *store,
                         const billing_t *billing, period_t period,
                         gl_error_t *error)
{
    const report_query_t *query = billing_query (billing);
    const zone_t *zone = query->site->zone;
    rollups_query_t days;

    if (of_rollups (billing, period, &days)) {
        days.unit = ROLLUPS_DAYS;
        return rollups_each (store, &days, take_capacity, p->detail, error);
    }
    for (int64_t at = period.start; at < period.end;) {
        period_t day = period_clip (zone_unit (zone, CALENDAR_DAY, at), period);
        if (add_day (p, store, query, day, error) < 0)
            return -1;
        at = day.end;
    }
    return 0;
}

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

struct itemizing {
    store_t *store;
    const bill_t *bill;
    period_t period;
    struct pass pass;
    uint64_t *ret_poolless;
};

static int run (struct itemizing *m, const billing_t *billing,
                gl_error_t *error)
{
    const report_query_t *query = billing_query (billing);
    period_t period = period_clip (billing_period (billing), m->period);
    struct pass *p = &m->pass;
    bool any = period.start < period.end;
    bool all = !line_items_wants_jobs (p->detail);

    if (all)
        add_rows (p, m->bill);
    if ((any && all && add_reservations (p, m->store, period, error) < 0)
        || (any && add_segments (p, m->store, query->site, period, error) < 0)
        || (any && all
            && add_capacity (p, m->store, billing, period, error) < 0))
        return -1;
    return line_items_finish (p->detail, take_item, p, error);
}

static int take_lines (const billing_t *billing, const pool_month_t *pm,
                       void *arg, gl_error_t *error)
{
    (void)billing;
    (void)error;
    line_items_add_pool (arg, pm);
    return 0;
}

static int itemize (store_t *store, billing_t *billing, void *arg,
                    gl_error_t *error)
{
    struct itemizing *m = arg;
    int rc;

    m->pass.detail = line_items_new (billing, m->pass.want, m->pass.arg);
    rc = bills_finish (store, billing, take_lines, m->pass.detail, error);
    if (rc == 0)
        rc = run (m, billing, error);
    if (m->ret_poolless)
        *m->ret_poolless = line_items_poolless (m->pass.detail);
    line_items_free (m->pass.detail);
    return rc;
}

int bills_line_items (store_t *store, const site_t *site, period_t month,
                      const bill_t *bill, const line_item_want_t *want,
                      line_item_f callback, void *arg, uint64_t *ret_poolless,
                      gl_error_t *error)
{
    struct itemizing m = {
        .store = store,
        .bill = bill,
        .period = month,
        .pass = {.want = want, .callback = callback, .arg = arg},
        .ret_poolless = ret_poolless,
    };

    return with_billing (store, site, line_items_keys (site, month), month,
                         &(bills_how_t){.days = false}, itemize, &m, error);
}
