#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/number.h"
#include "report/breakeven_report.h"
#include "report/plan_private.h"

#define HOUR 3600

/* Devices of a kind that jobs had, by hour. */
struct hours {
    const device_kind_t *kind;
    int64_t *change; /* of device seconds, from one hour to the next */
};

struct plan {
    report_query_t query; /* the caller's, of whole hours up to as-of */
    const plan_query_t *asked;
    kinds_t *kinds;
    capacity_t *capacity;
    usage_filter_t
        *filters; /* the query's without pools, which may take work */
    usage_query_t usage_query;
    usage_t *usage;
    int64_t *cuts; /* ends of months within the period */
    size_t cut_count;
    plan_pool_t *pools;
    size_t count;
    struct hours *hours;
    size_t hours_count;
    bool of_rows; /* pools have what was retained of the month */
};

/* ---- the period ---- */

static void cut_months (plan_t *plan)
{
    period_t p = plan->query.period;

    for (int64_t at = p.start; at < p.end;) {
        at = zone_unit (plan->query.site->zone, CALENDAR_MONTH, at).end;
        *GL_APPEND (plan->cuts, plan->cut_count) = at;
    }
}

/* ---- pools ---- */

static bool passes (const plan_t *plan, key_id_t key, const char *name)
{
    for (size_t i = 0; i < plan->query.filter_count; i++) {
        const usage_filter_t *f = &plan->query.filters[i];
        bool found = f->key != key;
        for (size_t k = 0; k < f->values.count; k++)
            found = found || !strcmp (f->values.item[k], name);
        if (!found)
            return false;
    }
    return true;
}

static plan_pool_t *find_pool (plan_t *plan, const char *name)
{
    return name ? GL_FIND (plan->pools, plan->count, it,
                           strcmp (it->pool->name, name) == 0)
                : NULL;
}

/* A pool of every cluster has work of those that the query leaves out. */
static bool has_all (const plan_t *plan, const site_pool_t *pool)
{
    return pool->cluster
               ? passes (plan, KEY_CLUSTER, pool->cluster)
               : !GL_ANY (plan->query.filters, plan->query.filter_count, it,
                          it->key == KEY_CLUSTER);
}

static void add_pools (plan_t *plan)
{
    const site_t *site = plan->query.site;

    for (size_t i = 0; i < site->pool_count; i++) {
        plan_pool_t *pool;
        const site_pool_t *of = &site->pools[i];
        if (of->resource == RESOURCE_CPU || find_pool (plan, of->name))
            continue;
        pool = GL_APPEND (plan->pools, plan->count);
        *pool = (plan_pool_t){.pool = of,
                              .asked = passes (plan, KEY_POOL, of->name),
                              .complete = has_all (plan, of),
                              .slices = of->layout != NULL,
                              .weights_known = true};
        capacity_sum_init (&pool->capacity);
        mpq_inits (pool->allocated, pool->active, pool->known, pool->planned,
                   pool->off, NULL);
    }
}

int plan_check (const plan_query_t *asked, gl_error_t *error)
{
    const struct {
        const char *option, *text;
        bool none, all; /* whether 0 and 1 can be planned with */
    } shares[] = {{"--downtime", asked->downtime, true, false},
                  {"--spares", asked->spares, true, true},
                  {"--target", asked->target, false, true},
                  {"--interruptible", asked->interruptible, true, true},
                  {"--vary", asked->vary, false, false},
                  {"--growth", asked->growth, false, true}};
    int rc = 0;
    mpq_t q;

    mpq_init (q);
    if (asked->egress
        && (exact_parse (asked->egress, q, error) < 0 || mpq_sgn (q) <= 0))
        rc = gl_error (error, "--egress: '%s' is no number of GB a day above 0",
                       asked->egress);
    for (size_t i = 0; i < GL_ARRAY_SIZE (shares) && rc == 0; i++) {
        if (!shares[i].text)
            continue;
        if (exact_parse_ratio (shares[i].text, q, error) < 0)
            rc = gl_error_prefix (error, "%s", shares[i].option);
        else if (mpq_sgn (q) < !shares[i].none
                 || mpq_cmp_ui (q, 1, 1) > (shares[i].all ? 0 : -1))
            rc = gl_error (error, "%s: '%s' must be %s and %s 100%%",
                           shares[i].option, shares[i].text,
                           shares[i].none ? "0% or more" : "above 0%",
                           shares[i].all ? "at most" : "below");
    }
    mpq_clear (q);
    return rc;
}

static size_t count_hours (const plan_t *plan)
{
    return (size_t)(period_seconds (plan->query.period) / HOUR);
}

static int64_t *hours_of (plan_t *plan, const device_kind_t *kind)
{
    struct hours *hours
        = GL_FIND (plan->hours, plan->hours_count, it, it->kind == kind);

    if (!hours) {
        hours = GL_APPEND (plan->hours, plan->hours_count);
        hours->kind = kind;
        hours->change = xcalloc (count_hours (plan) + 2, sizeof (int64_t));
    }
    return hours->change;
}

/* Device seconds of each of the hours [first, end). */
static void add_seconds (int64_t *change, int64_t first, int64_t end,
                         int64_t seconds)
{
    change[first] += seconds;
    change[end] -= seconds;
}

/* No job is cut by hours: a month has hundreds. */
static void take_allocated (const device_kind_t *kind, uint64_t devices,
                            period_t period, void *arg)
{
    plan_t *plan = arg;
    int64_t from = period.start - plan->query.period.start;
    int64_t to = period.end - plan->query.period.start;
    int64_t first = from / HOUR, last = to / HOUR, count = (int64_t)devices;
    int64_t *change;

    if (!kind->pool || kind->cpu || !kind->weight_known)
        return;
    change = hours_of (plan, kind);
    add_seconds (change, first, last, count * HOUR);
    add_seconds (change, first, first + 1, -count * (from % HOUR));
    add_seconds (change, last, last + 1, count * (to % HOUR));
}

plan_t *plan_new (const report_query_t *query, const plan_query_t *asked)
{
    static const key_list_t by = {.id = {KEY_POOL}, .count = 1};
    plan_t *plan = xcalloc (1, sizeof (*plan));
    size_t filters = 0;

    plan->query = *query;
    plan->query.period = report_full_hours (query);
    plan->query.by = (key_list_t){.id = {KEY_POOL}, .count = 1};
    plan->asked = asked;
    plan->kinds = kinds_new (query->site);
    plan->capacity
        = capacity_new (query->site, plan->kinds, plan->query.period);
    for (size_t i = 0; i < query->cluster_count; i++)
        capacity_set_as_of (plan->capacity, query->clusters[i].name,
                            query->clusters[i].as_of);
    cut_months (plan);
    plan->filters = xcalloc (query->filter_count + 1, sizeof (*plan->filters));
    for (size_t i = 0; i < query->filter_count; i++)
        if (query->filters[i].key != KEY_POOL)
            plan->filters[filters++] = query->filters[i];
    plan->usage_query = (usage_query_t){.site = query->site,
                                        .period = plan->query.period,
                                        .by = by,
                                        .filters = plan->filters,
                                        .filter_count = filters,
                                        .cuts = plan->cuts,
                                        .cut_count = plan->cut_count,
                                        .accounts = query->accounts,
                                        .kinds = plan->kinds,
                                        .allocated = take_allocated,
                                        .allocated_arg = plan,
                                        .without_jobs = true};
    plan->usage = usage_new (&plan->usage_query);
    add_pools (plan);
    return plan;
}

static void clear_numbers (mpq_t *values, size_t count)
{
    GL_FREE_EACH (values, count, it, mpq_clear (*it));
}

void plan_free (plan_t *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->count; i++) {
        plan_pool_t *pool = &plan->pools[i];
        capacity_sum_clear (&pool->capacity);
        mpq_clears (pool->allocated, pool->active, pool->known, pool->planned,
                    pool->off, NULL);
        clear_numbers (pool->demand, pool->hours);
        clear_numbers (pool->month, pool->months);
        plan_verdict_clear (&pool->verdict);
        breakeven_clear (&pool->cost);
    }
    free (plan->pools);
    GL_FREE_EACH (plan->hours, plan->hours_count, it, free (it->change));
    free (plan->cuts);
    free (plan->filters);
    usage_free (plan->usage);
    capacity_free (plan->capacity);
    kinds_free (plan->kinds);
    free (plan);
}

period_t plan_period (const plan_t *plan)
{
    return plan->query.period;
}

void plan_add (plan_t *plan, const segment_t *segment,
               const suspension_t *suspensions, size_t count,
               const project_t *project, const segment_evidence_t *evidence)
{
    usage_add (plan->usage, segment, suspensions, count, project);
    usage_measure (plan->usage, segment, project, evidence);
    capacity_add_segment (plan->capacity, segment);
}

capacity_t *plan_capacity (plan_t *plan)
{
    return plan->capacity;
}

/* ---- what was measured ---- */

static void take_slice (const capacity_slice_t *slice, void *arg)
{
    plan_t *plan = arg;
    plan_pool_t *pool
        = slice->pool ? find_pool (plan, slice->pool->name) : NULL;

    if (pool && passes (plan, KEY_CLUSTER, slice->cluster))
        capacity_sum_add (&pool->capacity, slice->sum);
}

static mpq_t *numbers (size_t count)
{
    mpq_t *values = xcalloc (count + 1, sizeof (*values));

    for (size_t i = 0; i < count; i++)
        mpq_init (values[i]);
    return values;
}

static void take_hours (plan_pool_t *pool, const struct hours *hours)
{
    int64_t seconds = 0;
    mpq_t gpus;

    mpq_init (gpus);
    for (size_t i = 0; i < pool->hours; i++) {
        seconds += hours->change[i];
        if (seconds == 0)
            continue;
        exact_weighted (gpus, hours->kind->weight, (uint64_t)seconds, HOUR);
        exact_add (pool->demand[i], gpus);
    }
    mpq_clear (gpus);
}

static void take_cell (plan_pool_t *pool, const usage_cell_t *cell)
{
    mpq_t q;

    mpq_init (q);
    pool->slices = pool->slices
                   || GL_ANY (cell->part, cell->part_count, it,
                              it->kind->profile || it->kind->part);
    pool->weights_known
        = usage_cell_gpu_seconds (cell, q) && pool->weights_known;
    exact_add (pool->allocated, q);
    exact_add (pool->month[cell->cut], q);
    usage_cell_active_seconds (cell, q);
    exact_add (pool->active, q);
    usage_cell_known_seconds (cell, q);
    exact_add (pool->known, q);
    mpq_clear (q);
}

/* GPU-seconds of a month to GPU-hours a day; what is no whole month goes. */
static void finish_months (const plan_t *plan, plan_pool_t *pool)
{
    period_t p = plan->query.period;
    size_t whole = 0;

    for (size_t i = 0; i < plan->cut_count; i++) {
        period_t month = zone_unit (plan->query.site->zone, CALENDAR_MONTH,
                                    plan->cuts[i] - 1);
        mpq_t days;
        if (month.start < p.start || month.end > p.end)
            continue;
        mpq_init (days);
        exact_set_i64 (days, month.end - month.start, 86400 / HOUR);
        mpq_div (pool->month[whole++], pool->month[i], days);
        mpq_clear (days);
    }
    for (size_t i = whole; i < pool->months; i++)
        mpq_clear (pool->month[i]);
    pool->months = whole;
}

static void make_room (const plan_t *plan, plan_pool_t *pool)
{
    pool->hours = count_hours (plan);
    pool->demand = numbers (pool->hours);
    pool->months = plan->cut_count;
    pool->month = numbers (pool->months);
}

static void measure (plan_t *plan)
{
    size_t count;
    const usage_cell_t *cells = usage_cells (plan->usage, &count);

    for (size_t i = 0; i < plan->count; i++) {
        plan_pool_t *pool = &plan->pools[i];
        make_room (plan, pool);
        for (size_t k = 0; k < count; k++)
            if (cells[k].key[0]
                && strcmp (cells[k].key[0], pool->pool->name) == 0)
                take_cell (pool, &cells[k]);
        for (size_t k = 0; k < plan->hours_count; k++)
            if (find_pool (plan, plan->hours[k].kind->pool->name) == pool)
                take_hours (pool, &plan->hours[k]);
        finish_months (plan, pool);
    }
    capacity_each (plan->capacity, NULL, 0, take_slice, plan);
}

/* ---- rows that closing retains ---- */

/* One of BILL_DEMAND.gpus. */
static const field_t gpus_field = {.name = "gpus", .type = FIELD_EXACT};

static char *hours_text (const plan_pool_t *pool)
{
    buffer_t text = BUFFER_INIT;

    for (size_t i = 0, end; i < pool->hours; i = end) {
        GL_AUTOFREE char *gpus = exact_fraction_text (pool->demand[i]);
        for (end = i + 1; end < pool->hours; end++)
            if (!mpq_equal (pool->demand[end], pool->demand[i]))
                break;
        buffer_printf (&text, "%s%s", text.length ? "," : "", gpus);
        if (end > i + 1)
            buffer_printf (&text, "*%zu", end - i);
    }
    return buffer_take (&text);
}

/* False: it is not of as many hours as the demand. */
static bool read_hours (const char *text, mpq_t *demand, size_t hours)
{
    size_t at = 0;

    while (text && *text) {
        const size_t length = strcspn (text, ",*"), all = strcspn (text, ",");
        const bool none = length == 1 && *text == '0'; /* no value of a field */
        uint64_t count = 1;
        if (length < all
            && number_u64 (text + length + 1, all - length - 1, &count) < 0)
            return false;
        for (; count > 0; count--, at++)
            if (at == hours
                || (!none
                    && !field_set (&gpus_field, &demand[at], text, length)))
                return false;
        text += all + (text[all] == ',');
    }
    return at == hours;
}

void plan_rows (plan_t *plan, const char *name, bill_t *out)
{
    measure (plan);
    for (size_t i = 0; i < plan->count; i++) {
        const plan_pool_t *pool = &plan->pools[i];
        bill_demand_t *row = bill_append (out, BILL_DEMAND);
        row->month = xstrdup (name);
        row->pool = xstrdup (pool->pool->name);
        row->slices = pool->slices;
        row->weight_unknown = !pool->weights_known;
        mpq_set (row->allocated, pool->allocated);
        mpq_set (row->active, pool->active);
        mpq_set (row->known, pool->known);
        capacity_sum_add (&row->of, &pool->capacity);
        row->gpus = hours_text (pool);
    }
}

static void take_row (plan_pool_t *pool, const bill_demand_t *row)
{
    pool->slices = row->slices;
    pool->weights_known = !row->weight_unknown;
    mpq_set (pool->allocated, row->allocated);
    mpq_set (pool->active, row->active);
    mpq_set (pool->known, row->known);
    capacity_sum_add (&pool->capacity, &row->of);
    mpq_set (pool->month[0], row->allocated);
}

/* The rows are those of the plan's pools, in their order, and hours. */
static bool are_of (plan_t *plan, const bill_demand_t *row, size_t count)
{
    if (count != plan->count || plan->cut_count != 1
        || plan->usage_query.filter_count > 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        plan_pool_t *pool = &plan->pools[i];
        if (!row[i].pool || strcmp (row[i].pool, pool->pool->name) != 0
            || !read_hours (row[i].gpus, pool->demand, pool->hours))
            return false;
    }
    return true;
}

bool plan_take_rows (plan_t *plan, const bill_t *rows)
{
    size_t count;
    const bill_demand_t *row = bill_demand (rows, &count);

    for (size_t i = 0; i < plan->count; i++)
        make_room (plan, &plan->pools[i]);
    plan->of_rows = are_of (plan, row, count);
    for (size_t i = 0; i < plan->count; i++) {
        plan_pool_t *pool = &plan->pools[i];
        if (plan->of_rows) {
            take_row (pool, &row[i]);
            finish_months (plan, pool);
            continue;
        }
        clear_numbers (pool->demand, pool->hours);
        clear_numbers (pool->month, pool->months);
        pool->demand = pool->month = NULL;
        pool->hours = pool->months = 0;
    }
    return plan->of_rows;
}

bool plan_has_rows (const plan_t *plan)
{
    return plan->of_rows;
}

/* ---- what it costs ---- */

static int add_cost (const plan_t *plan, plan_pool_t *pool, int64_t at,
                     report_t *report, gl_error_t *error)
{
    if (breakeven_of_pool (plan->query.site, pool->pool->name, at, NULL,
                           &pool->cost, error)
        < 0)
        return -1;
    pool->has_cost = pool->cost.part_count > 0;
    breakeven_leave_old (report, &pool->cost, plan->query.site, at,
                         plan->asked->max_age);
    pool->verdict.kept = pool->cost.gpus;
    return breakeven_against (&pool->cost, plan->asked->against, &pool->cloud,
                              error);
}

/* What is said of pools that are not asked for is dropped with `aside`; those whose cost cannot
 * be found have no GPUs then, and take no work. */
static int add_costs (plan_t *plan, int64_t at, report_t *report,
                      report_t *aside, gl_error_t *error)
{
    gl_error_t ignored;

    for (size_t i = 0; i < plan->count; i++) {
        plan_pool_t *pool = &plan->pools[i];
        if (pool->asked) {
            if (add_cost (plan, pool, at, report, error) < 0)
                return -1;
        } else if (add_cost (plan, pool, at, aside, &ignored) < 0)
            pool->cloud = NULL;
    }
    return 0;
}

int plan_make (plan_t *plan, report_t **ret_report, gl_error_t *error)
{
    int64_t at = report_as_of (&plan->query);
    report_t *report, *aside;
    int rc;

    if (!GL_ANY (plan->pools, plan->count, it, it->asked))
        return breakeven_no_pools (GL_ANY (plan->query.filters,
                                           plan->query.filter_count, it,
                                           it->key == KEY_POOL),
                                   error);
    report = report_begin (&plan->query, "plan", "Decisions");
    aside = report_new ("plan", "");
    rc = add_costs (plan, at, report, aside, error);
    report_free (aside);
    if (rc < 0) {
        report_free (report);
        return -1;
    }
    if (!plan->of_rows)
        measure (plan);
    plan_fill (report, &plan->query, plan->asked, plan->pools, plan->count);
    *ret_report = report;
    return 0;
}
