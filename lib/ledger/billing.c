#include <string.h>

#include "base/memory.h"
#include "ledger/billing_inputs.h"
#include "ledger/billing_private.h"
#include "usage/billable.h"
#include "usage/rollup.h"

/* What a line may be split by beyond CHARGE_PATH and the team, in this order. GPU
 * model and profile follow from the path unless they change within the month. Time
 * comes before the rest, so that a day is charged the same as a row of a month
 * and as a period of its own. */
static const key_id_t dated[] = {KEY_GPU, KEY_PROFILE};
static const key_id_t units_of_time[] = {KEY_DAY, KEY_HOUR};
static const key_id_t further[] = {KEY_STATE, KEY_LABEL, KEY_NODE};

/* --- what to ask ------------------------------------------------------- */

static bool wanted (const report_query_t *q, key_id_t key)
{
    for (size_t i = 0; i < q->by.count; i++)
        if (q->by.id[i] == key)
            return true;
    for (size_t i = 0; i < q->filter_count; i++)
        if (q->filters[i].key == key)
            return true;
    return false;
}

static void add_level (billing_t *b, key_id_t key)
{
    b->path[b->path_length++] = key;
    b->levels[b->level_count++] = b->path_length;
}

/* The period begins or ends within the time that is billed. */
static bool is_cut (const billing_t *b)
{
    return b->query->period.start > b->asked.start
           || b->query->period.end < b->asked.end;
}

/* Some team or pool begins or ends in the time that is billed. */
static bool has_changes (const billing_t *b)
{
    size_t count;

    free (site_changes (b->query->site, b->whole, &count));
    return count > 0;
}

/* All in one level, in the order of time. */
static void add_time (billing_t *b)
{
    size_t before = b->path_length;

    if (is_cut (b))
        b->path[b->path_length++] = KEY_COUNT;
    for (size_t i = 0; i < GL_ARRAY_SIZE (units_of_time); i++)
        if (wanted (b->query, units_of_time[i]))
            b->path[b->path_length++] = units_of_time[i];
    if (b->path_length > before)
        b->levels[b->level_count++] = b->path_length;
}

static void make_path (billing_t *b)
{
    bool changes = has_changes (b);

    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++)
        b->path[b->path_length++] = CHARGE_PATH[i];
    b->levels[b->level_count++] = 1;
    b->levels[b->level_count++] = CHARGE_PATH_COUNT;
    add_level (b, KEY_TEAM);
    for (size_t i = 0; i < GL_ARRAY_SIZE (dated); i++)
        if (changes || wanted (b->query, dated[i]))
            add_level (b, dated[i]);
    add_time (b);
    for (size_t i = 0; i < GL_ARRAY_SIZE (further); i++)
        if (wanted (b->query, further[i]))
            add_level (b, further[i]);
}

/* Where a rate changes, and where the period begins and ends. */
static void make_cuts (billing_t *b)
{
    const int64_t ends[] = {b->query->period.start, b->query->period.end};

    b->cut_count = rate_card_cuts (b->query->site, b->whole, &b->cuts);
    b->cuts = xreallocarray (b->cuts, b->cut_count + GL_ARRAY_SIZE (ends) + 1,
                             sizeof (*b->cuts));
    for (size_t i = 0; i < GL_ARRAY_SIZE (ends); i++)
        if (ends[i] > b->whole.start && ends[i] < b->whole.end)
            b->cuts[b->cut_count++] = ends[i];
    b->cut_count = instants_sort (b->cuts, b->cut_count);
}

/* Cells by pool, month and the path. */
static void make_usage (billing_t *b)
{
    usage_query_t *u = &b->usage_query;

    u->site = b->query->site;
    u->accounts = b->query->accounts;
    u->period = b->whole;
    u->outages = b->outages;
    u->cuts = b->cuts;
    u->cut_count = b->cut_count;
    u->without_jobs = true;
    u->by.label = b->query->by.label;
    u->by.id[u->by.count++] = KEY_POOL;
    u->by.id[u->by.count++] = KEY_MONTH;
    for (size_t i = 0; i < b->path_length; i++)
        if (b->path[i] != KEY_COUNT)
            u->by.id[u->by.count++] = b->path[i];
    b->usage = usage_new (u);
}

static period_t whole_months (const report_query_t *q)
{
    const zone_t *zone = q->site->zone;
    int64_t as_of = report_as_of (q);
    period_t whole = {0, 0};

    if (q->period.end <= q->period.start)
        return whole;
    whole.start = zone_unit (zone, CALENDAR_MONTH, q->period.start).start;
    whole.end = zone_unit (zone, CALENDAR_MONTH, q->period.end - 1).end;
    if (whole.end > as_of)
        whole.end = as_of;
    if (whole.end < whole.start)
        whole.end = whole.start;
    return whole;
}

/* Some rate has tiers: what came before in the fiscal year counts. */
static bool has_tiers (const site_t *site, period_t period)
{
    for (size_t i = 0; i < site->rate_count; i++)
        if (site->rates[i].tier_count > 0
            && site->rates[i].valid.start < period.end
            && site->rates[i].valid.end > period.start)
            return true;
    return false;
}

/* What is unused of some entitlement is carried: the same. */
static bool has_carried (const site_t *site, period_t period)
{
    for (size_t i = 0; i < site->entitlement_count; i++)
        if (site->entitlements[i].unused == UNUSED_CARRIED
            && site->entitlements[i].valid.start < period.end)
            return true;
    return false;
}

static int64_t fiscal_start (const site_t *site, int64_t instant)
{
    civil_t civil = zone_civil (site->zone, instant);
    civil_t first = {civil.year, site->fiscal_month, 1, 0, 0, 0};

    if (civil.month < site->fiscal_month)
        first.year--;
    return zone_instant (site->zone, &first);
}

static period_t with_earlier (const report_query_t *q, period_t asked)
{
    period_t whole = asked;

    if (asked.end > asked.start
        && (has_tiers (q->site, asked) || has_carried (q->site, asked)))
        whole.start = fiscal_start (q->site, asked.start);
    return whole;
}

/* --- pool-months ------------------------------------------------------- */

/* The first entry of its name; later ones are other times of the same pool. */
static bool is_first_entry (const site_t *site, size_t pool)
{
    for (size_t i = 0; i < pool; i++)
        if (!strcmp (site->pools[i].name, site->pools[pool].name))
            return false;
    return true;
}

static bool pool_exists (const site_t *site, const char *name, period_t month)
{
    for (size_t i = 0; i < site->pool_count; i++)
        if (!strcmp (site->pools[i].name, name)
            && period_overlaps (site->pools[i].valid, month))
            return true;
    return false;
}

static bool has_rate (const site_t *site, const char *pool, period_t month)
{
    for (size_t i = 0; i < site->rate_count; i++)
        if (!strcmp (site->rates[i].pool, pool)
            && period_overlaps (site->rates[i].valid, month))
            return true;
    return false;
}

static void add_pool_month (billing_t *b, const char *pool, period_t month)
{
    pool_month_t *pm;

    b->pool_months = xreallocarray (b->pool_months, b->pool_month_count + 1,
                                    sizeof (*b->pool_months));
    pm = &b->pool_months[b->pool_month_count++];
    memset (pm, 0, sizeof (*pm));
    pm->pool = pool;
    pm->month = month;
    zone_unit_name (b->query->site->zone, CALENDAR_MONTH, month.start,
                    pm->name);
    pm->has_rate = has_rate (b->query->site, pool, month);
    pm->idle = site_idle_policy (b->query->site, pool, month);
    capacity_sum_init (&pm->capacity);
}

static void make_pool_months (billing_t *b, period_t period)
{
    const site_t *site = b->query->site;

    for (size_t i = 0; i < site->pool_count; i++) {
        const char *name = site->pools[i].name;
        period_t month;
        if (!is_first_entry (site, i))
            continue;
        for (int64_t at = period.start; at < period.end; at = month.end) {
            month = zone_unit (site->zone, CALENDAR_MONTH, at);
            if (pool_exists (site, name, period_clip (month, period)))
                add_pool_month (b, name, period_clip (month, period));
        }
    }
}

static pool_month_t *find_pool_month (const billing_t *b, const char *pool,
                                      int64_t instant)
{
    for (size_t i = 0; pool && i < b->pool_month_count; i++) {
        pool_month_t *pm = &b->pool_months[i];
        if (!strcmp (pm->pool, pool) && pm->month.start <= instant
            && instant < pm->month.end)
            return pm;
    }
    return NULL;
}

/* --- life -------------------------------------------------------------- */

billing_t *billing_new (const report_query_t *query)
{
    billing_t *b = xcalloc (1, sizeof (*b));

    b->query = query;
    b->asked = whole_months (query);
    b->whole = with_earlier (query, b->asked);
    b->outages = outages_new (query->site, b->whole);
    make_path (b);
    make_cuts (b);
    make_usage (b);
    make_pool_months (b, b->asked);
    b->asked_count = b->pool_month_count;
    make_pool_months (b, (period_t){b->whole.start, b->asked.start});
    b->idle = billing_idle_new (query);
    b->kinds = kinds_new (query->site);
    b->inputs = billing_inputs_new (query->site, b->whole);
    b->capacity = capacity_new (query->site, b->kinds,
                                billing_inputs_period (b->inputs));
    for (size_t i = 0; i < query->cluster_count; i++)
        capacity_set_as_of (b->capacity, query->clusters[i].name,
                            query->clusters[i].as_of);
    return b;
}

void billing_free (billing_t *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->pool_month_count; i++) {
        capacity_sum_clear (&b->pool_months[i].capacity);
        charge_free (b->pool_months[i].charge);
    }
    for (size_t i = 0; i < b->credit_count; i++) {
        free (b->credits[i].reference);
        mpq_clear (b->credits[i].price_seconds);
    }
    free (b->credits);
    free (b->pool_months);
    usage_free (b->usage);
    usage_free (b->line_usage);
    capacity_free (b->capacity);
    outages_free (b->outages);
    billing_inputs_free (b->inputs);
    billing_idle_free (b->idle);
    kinds_free (b->kinds);
    free (b->cuts);
    free (b);
}

const report_query_t *billing_query (const billing_t *b)
{
    return b->query;
}

period_t billing_period (const billing_t *b)
{
    return billing_inputs_period (b->inputs);
}

void billing_days_apart (billing_t *b, const usage_filter_t *filter)
{
    key_list_t *by = &b->line_query.by;

    b->days_filter = filter;
    b->line_query = b->usage_query;
    by->count = 0;
    for (size_t i = 0; i < b->usage_query.by.count; i++)
        if (b->usage_query.by.id[i] != KEY_DAY)
            by->id[by->count++] = b->usage_query.by.id[i];
    b->line_usage = usage_new (&b->line_query);
}

static usage_t *held_usage (const billing_t *b)
{
    return b->line_usage ? b->line_usage : b->usage;
}

bool billing_has_days_apart (const billing_t *b)
{
    return b->line_query.site != NULL;
}

bool billing_wants_days (const billing_t *b)
{
    return !billing_has_days_apart (b) && wanted (b->query, KEY_DAY);
}

void billing_add (billing_t *b, const segment_t *segment,
                  const suspension_t *suspensions, size_t count,
                  const project_t *project)
{
    usage_add (held_usage (b), segment, suspensions, count, project);
    billing_inputs_add (b->inputs, segment, suspensions, count, project);
    billing_add_ended (b, segment, suspensions, count, project);
    capacity_add_segment (b->capacity, segment);
}

void billing_measure (billing_t *b, const segment_t *segment,
                      const project_t *project,
                      const segment_evidence_t *evidence)
{
    billing_inputs_measure (b->inputs, segment, project, evidence);
}

bool billing_wants_segments (const billing_t *b)
{
    return billable_needs_segments (b->query->site);
}

capacity_t *billing_capacity (billing_t *b)
{
    return b->capacity;
}

/* --- capacity ---------------------------------------------------------- */

static void take_slice (const capacity_slice_t *slice, void *arg)
{
    billing_t *b = arg;
    pool_month_t *pm = find_pool_month (
        b, slice->pool ? slice->pool->name : NULL, slice->interval.start);

    if (pm) {
        capacity_sum_add (&pm->capacity, slice->sum);
        billing_idle_reserved (b->idle, pm->pool, slice->cluster,
                               slice->interval.start, slice->reserved,
                               slice->reserved_count);
    }
    if (slice->pool)
        billing_inputs_capacity (b->inputs, slice->pool->name,
                                 slice->interval.start, slice->sum);
}

static void measure_capacity (billing_t *b)
{
    period_t facts = billing_inputs_period (b->inputs);
    int64_t *boundaries = NULL;
    size_t count = 0;

    for (int64_t at = facts.start; at < facts.end;
         at = zone_unit (b->query->site->zone, CALENDAR_MONTH, at).end) {
        boundaries
            = xreallocarray (boundaries, count + 1, sizeof (*boundaries));
        boundaries[count++] = at;
    }
    capacity_each (b->capacity, boundaries, count, take_slice, b);
    free (boundaries);
}

/* --- lines ------------------------------------------------------------- */

const int64_t *billing_cuts (const billing_t *b, size_t *ret_count)
{
    *ret_count = b->cut_count;
    return b->cuts;
}

void billing_add_rollup (billing_t *b, const rollup_t *rollup)
{
    size_t count;
    const rollup_capacity_t *capacity = rollup_capacity (rollup, &count);

    b->of_rollups = true;
    billing_inputs_add_rollup (b->inputs, rollup);
    if (rollup_period (rollup).start < b->whole.start)
        return;
    usage_add_rollup (held_usage (b), rollup, ROLLUP_COUNTED);
    for (size_t i = 0; i < count; i++) {
        pool_month_t *pm = find_pool_month (b, capacity[i].pool,
                                            rollup_period (rollup).start);
        if (!pm)
            continue;
        capacity_sum_add (&pm->capacity, capacity[i].sum);
        billing_idle_reserved (b->idle, pm->pool, rollup_cluster (rollup),
                               rollup_period (rollup).start,
                               capacity[i].reserved,
                               capacity[i].reserved_count);
    }
}

static int64_t cut_start (const billing_t *b, size_t cut)
{
    return cut == 0 ? b->whole.start : b->cuts[cut - 1];
}

/* The pool-month of a cell: its pool is the first key, its month the second. */
static pool_month_t *pool_month_of_cell (const billing_t *b,
                                         const usage_cell_t *cell)
{
    for (size_t i = 0; cell->key[0] && i < b->pool_month_count; i++) {
        pool_month_t *pm = &b->pool_months[i];
        if (!strcmp (pm->pool, cell->key[0])
            && !strcmp (pm->name, cell->key[1]))
            return pm;
    }
    return NULL;
}

static bool passes (const usage_filter_t *f, const char *text)
{
    if (!text)
        text = key_info (f->key)->absent;
    for (size_t i = 0; i < f->values.count; i++)
        if (!strcmp (f->values.item[i], text))
            return true;
    return false;
}

const char *billing_path_text (const billing_t *b, const char *const *path,
                               key_id_t key)
{
    for (size_t i = 0; i < b->path_length; i++)
        if (b->path[i] == key)
            return path[i];
    return NULL;
}

static const char *path_key (const billing_t *b, const pool_month_t *pm,
                             const char *const *path, key_id_t key)
{
    if (key == KEY_POOL)
        return pm->pool;
    if (key == KEY_MONTH)
        return pm->name;
    return billing_path_text (b, path, key);
}

void billing_line_keys (const billing_t *b, const pool_month_t *pm,
                        const char *const *path, const char *ret_keys[KEYS_MAX])
{
    for (size_t i = 0; i < b->query->by.count; i++)
        ret_keys[i] = path_key (b, pm, path, b->query->by.id[i]);
}

bool billing_path_passes (const billing_t *b, const usage_filter_t *filters,
                          size_t count, const pool_month_t *pm,
                          const char *const *path)
{
    for (size_t i = 0; i < count; i++)
        if (!passes (&filters[i], path_key (b, pm, path, filters[i].key)))
            return false;
    return true;
}

void billing_take_first (billing_t *b, const usage_cell_t *cell)
{
    period_t period = b->query->period;

    if (cell->part_count > 0 && cell->first >= period.start
        && cell->first < period.end
        && (b->first == 0 || cell->first < b->first))
        b->first = cell->first;
}

int64_t billing_first (const billing_t *b)
{
    return b->first;
}

/* Of the keys of such usage, at an instant. */
static void path_of (const billing_t *b, const usage_query_t *query,
                     const char *const *keys, int64_t instant,
                     const char *path[PATH_MAX_LENGTH])
{
    for (size_t i = 0; i < b->path_length; i++) {
        path[i]
            = b->path[i] == KEY_COUNT ? billing_part (b->query, instant) : NULL;
        for (size_t k = 0; k < query->by.count && b->path[i] != KEY_COUNT; k++)
            if (query->by.id[k] == b->path[i])
                path[i] = keys[k];
    }
}

rate_subject_t billing_subject (const billing_t *b, const char *const *path,
                                int64_t instant)
{
    return (rate_subject_t){
        .qos = billing_path_text (b, path, KEY_QOS),
        .partition = billing_path_text (b, path, KEY_PARTITION),
        .team = path[CHARGE_TEAM],
        .instant = instant,
    };
}

pool_month_t *billing_cell (const billing_t *b, const usage_query_t *query,
                            const usage_cell_t *cell,
                            const char *ret_path[PATH_MAX_LENGTH],
                            int64_t *ret_instant)
{
    pool_month_t *pm = pool_month_of_cell (b, cell);

    if (!pm)
        return NULL;
    *ret_instant = cut_start (b, cell->cut);
    if (*ret_instant < pm->month.start)
        *ret_instant = pm->month.start;
    path_of (b, query, cell->key, *ret_instant, ret_path);
    return pm;
}

static int add_cell (billing_t *b, const usage_cell_t *cell, gl_error_t *error)
{
    const char *path[PATH_MAX_LENGTH];
    int64_t instant;
    pool_month_t *pm = billing_cell (
        b, b->line_usage ? &b->line_query : &b->usage_query, cell, path, &instant);

    if (!b->line_usage)
        billing_take_first (b, cell);
    for (size_t i = 0; i < cell->part_count; i++) {
        if (charge_add_part (pm->charge, path,
                             billing_subject (b, path, instant), &cell->part[i],
                             error)
            < 0)
            return -1;
    }
    return 0;
}

/* The pool-month of a cell before (<0), at or behind (>0) this one in the order of
 * cells: by pool, then by month. */
static int compare_cell (const usage_cell_t *cell, const pool_month_t *pm)
{
    int order = cell->key[0] ? strcmp (cell->key[0], pm->pool) : -1;

    return order ? order : strcmp (cell->key[1], pm->name);
}

static int add_cells (billing_t *b, const pool_month_t *pm, gl_error_t *error)
{
    size_t low = 0, high = b->cell_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_cell (&b->cells[middle], pm) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < b->cell_count && compare_cell (&b->cells[low], pm) == 0; low++)
        if (add_cell (b, &b->cells[low], error) < 0)
            return -1;
    return 0;
}

/* --- credits ----------------------------------------------------------- */

/* Of the current segment. */
struct crediting {
    billing_t *billing;
    const segment_t *segment;
};

static void take_credit (const billable_credit_t *credit, void *arg)
{
    const struct crediting *c = arg;
    const segment_t *s = c->segment;
    billing_t *b = c->billing;
    pool_month_t *pm
        = find_pool_month (b, credit->key[0], credit->period.start);
    struct credit *to;

    if (!pm)
        return;
    if (b->credit_count == b->credit_size) {
        b->credit_size = b->credit_size * 2 + 16;
        b->credits = xreallocarray (b->credits, b->credit_size,
                                    sizeof (*b->credits));
    }
    to = &b->credits[b->credit_count++];
    *to = (struct credit){
        .pool_month = pm,
        .instant = credit->period.start,
        .what = credit->what,
        .reference
        = xasprintf ("%s/%llu/%lld", s->cluster, (unsigned long long)s->id_job,
                     (long long)s->time_submit),
    };
    mpq_init (to->price_seconds);
    mpq_set (to->price_seconds, credit->price_seconds);
    path_of (b, &b->usage_query, credit->key, credit->period.start, to->path);
}

void billing_add_ended (billing_t *b, const segment_t *segment,
                        const suspension_t *suspensions, size_t count,
                        const project_t *project)
{
    struct crediting c = {b, segment};

    billable_each_credit (b->usage, segment, suspensions, count, project,
                          take_credit, &c);
}

outages_t *billing_outages (const billing_t *b)
{
    return b->outages;
}

uint32_t billing_wants_ended (const billing_t *b)
{
    return b->of_rollups ? b->query->site->policy.credits : 0;
}

bool billing_wants_meters (const billing_t *b)
{
    return cost_wants_meters (b->query->site, billing_period (b));
}

void billing_meters (billing_t *b, const meter_reading_t *readings,
                     size_t count)
{
    billing_inputs_meters (b->inputs, readings, count);
}

static void add_credits (const billing_t *b, const pool_month_t *pm)
{
    for (size_t i = 0; i < b->credit_count; i++) {
        const struct credit *credit = &b->credits[i];
        if (credit->pool_month == pm)
            charge_add_credit (
                pm->charge, credit->path,
                billing_subject (b, credit->path, credit->instant),
                credit->price_seconds, credit->what, credit->reference);
    }
}

/* What payers had used of the pool in the fiscal year before this month, and what
 * the last one of these left them. */
static void give_before (const billing_t *b, pool_month_t *pm)
{
    int64_t start = fiscal_start (b->query->site, pm->month.start);

    for (size_t i = 0; i < b->pool_month_count; i++) {
        const pool_month_t *before = &b->pool_months[i];
        const charge_payer_t *payer;
        size_t count;
        if (strcmp (before->pool, pm->pool) != 0 || before->month.start < start
            || before->month.start >= pm->month.start)
            continue;
        payer = charge_payers (before->charge, &count);
        for (size_t k = 0; k < count; k++) {
            charge_add_before (pm->charge, &payer[k]);
            if (before->month.end == pm->month.start)
                charge_carry (pm->charge, &payer[k]);
        }
    }
}

static bool is_in_cluster (const site_t *site, const char *pool,
                           const char *cluster)
{
    for (size_t i = 0; i < site->pool_count; i++)
        if (!strcmp (site->pools[i].name, pool)
            && (!site->pools[i].cluster
                || !strcmp (site->pools[i].cluster, cluster)))
            return true;
    return false;
}

/* Of any cluster that the pool may be in. */
static void give_first (const billing_t *b, pool_month_t *pm)
{
    const report_query_t *q = b->query;
    int64_t first = 0;

    for (size_t i = 0; i < q->cluster_count; i++) {
        int64_t of = q->clusters[i].first;
        if (of > 0 && (first == 0 || of < first)
            && is_in_cluster (q->site, pm->pool, q->clusters[i].name))
            first = of;
    }
    if (first > 0)
        charge_first_fact (pm->charge, first);
}

static int prepare_month (billing_t *b, pool_month_t *pm,
                          const cost_inputs_t *inputs, gl_error_t *error)
{
    billing_path_t path = {b->path, b->path_length};

    pm->charge = charge_new (b->query->site, pm->pool, pm->month, &pm->capacity,
                             inputs, b->levels, b->level_count, error);
    if (!pm->charge)
        return -1;
    pm->has_cost = charge_cost (pm->charge)->count > 0;
    if (add_cells (b, pm, error) < 0)
        return -1;
    add_credits (b, pm);
    give_first (b, pm);
    give_before (b, pm);
    billing_idle_give (b->idle, pm->pool, pm->month, path,
                       billing_has_days_apart (b), b->cuts, b->cut_count,
                       pm->charge);
    return 0;
}

/* --- tiers over several pools ------------------------------------------------- */

/* Some rate of the pool counts the use of other pools in the month; NULL: none. */
static const site_rate_t *shared_tiers (const billing_t *b,
                                        const pool_month_t *pm)
{
    const site_t *site = b->query->site;

    for (size_t i = 0; i < site->rate_count; i++)
        if (!strcmp (site->rates[i].pool, pm->pool)
            && site->rates[i].tiers_pools.count > 0
            && period_overlaps (site->rates[i].valid, pm->month))
            return &site->rates[i];
    return NULL;
}

static void give_others (const billing_t *b, pool_month_t *pm,
                         const site_rate_t *rate)
{
    int64_t start = fiscal_start (b->query->site, pm->month.start);

    for (size_t i = 0; i < b->pool_month_count; i++) {
        const pool_month_t *other = &b->pool_months[i];
        const charge_payer_t *payer;
        size_t count;
        if (!other->charge || !strcmp (other->pool, pm->pool)
            || other->month.start < start
            || other->month.start > pm->month.start
            || !texts_have (&rate->tiers_pools, other->pool))
            continue;
        payer = charge_payers (other->charge, &count);
        for (size_t k = 0; k < count; k++)
            charge_add_others (pm->charge, &payer[k], rate->tiers_by,
                               other->month.start < pm->month.start);
    }
}

/* All pools of the month that count together: then each knows of the others. */
static int prepare_shared (billing_t *b, const pool_month_t *of,
                           const cost_inputs_t *inputs, gl_error_t *error)
{
    for (size_t i = 0; i < b->pool_month_count; i++) {
        pool_month_t *pm = &b->pool_months[i];
        if (pm->month.start != of->month.start || !shared_tiers (b, pm))
            continue;
        if (prepare_month (b, pm, inputs, error) < 0)
            return -1;
        charge_prepare (pm->charge);
    }
    for (size_t i = 0; i < b->pool_month_count; i++) {
        pool_month_t *pm = &b->pool_months[i];
        const site_rate_t *rate = shared_tiers (b, pm);
        if (rate && pm->month.start == of->month.start)
            give_others (b, pm, rate);
    }
    return 0;
}

static int compute_month (billing_t *b, pool_month_t *pm,
                          const cost_inputs_t *inputs, gl_error_t *error)
{
    int rc = pm->charge             ? 0
             : shared_tiers (b, pm) ? prepare_shared (b, pm, inputs, error)
                                    : prepare_month (b, pm, inputs, error);

    return rc < 0 ? -1 : charge_compute (pm->charge, error);
}

static int by_month (const void *x, const void *y, void *arg)
{
    const billing_t *b = arg;
    size_t i = *(const size_t *)x, k = *(const size_t *)y;
    int64_t a = b->pool_months[i].month.start,
            c = b->pool_months[k].month.start;

    return a != c ? (a > c) - (a < c) : (i > k) - (i < k);
}

struct keeping {
    const billing_t *billing;
    const pool_month_t *pool_month;
};

static bool is_kept (const charge_line_t *line, void *arg)
{
    const struct keeping *k = arg;
    const report_query_t *query = k->billing->query;

    return billing_path_passes (k->billing, query->filters, query->filter_count,
                                k->pool_month, line->path);
}

/* Lines of the pool may pass the query's filters. */
static bool is_asked (const billing_t *b, const char *pool)
{
    for (size_t i = 0; i < b->query->filter_count; i++)
        if (b->query->filters[i].key == KEY_POOL
            && !passes (&b->query->filters[i], pool))
            return false;
    return true;
}

/* Earlier months first: what is due depends on them. Of these payers are asked
 * alone. Where tiers are of several pools, what is due depends on all of them. */
static int compute_months (billing_t *b, const cost_inputs_t *inputs,
                           billing_pool_f each, void *arg, gl_error_t *error)
{
    GL_AUTOFREE size_t *order
        = xcalloc (b->pool_month_count + 1, sizeof (*order));
    bool shared = false;

    for (size_t i = 0; i < b->pool_month_count; i++) {
        order[i] = (b->asked_count + i) % b->pool_month_count;
        shared = shared || shared_tiers (b, &b->pool_months[i]);
    }
    if (shared)
        qsort_r (order, b->pool_month_count, sizeof (*order), by_month, b);
    for (size_t i = 0; i < b->pool_month_count; i++) {
        size_t at = order[i];
        pool_month_t *pm = &b->pool_months[at];
        if (!each && !shared && !is_asked (b, pm->pool))
            continue;
        if (compute_month (b, pm, inputs, error) < 0
            || (each && at < b->asked_count && each (b, pm, arg, error) < 0))
            return -1;
        if (each || at >= b->asked_count)
            charge_forget_lines (pm->charge);
        else if (b->query->filter_count > 0)
            charge_keep_lines (pm->charge, is_kept,
                               &(struct keeping){b, pm});
    }
    return 0;
}

int billing_compute (billing_t *b, billing_pool_f each, void *arg,
                     gl_error_t *error)
{
    int rc;

    if (!b->of_rollups)
        measure_capacity (b);
    b->cells = usage_cells (held_usage (b), &b->cell_count);
    rc = compute_months (b, billing_inputs_done (b->inputs), each, arg, error);
    usage_free (GL_TAKE (b->usage));
    usage_free (GL_TAKE (b->line_usage));
    return rc;
}

const pool_month_t *billing_pool_months (const billing_t *b, size_t *ret_count)
{
    *ret_count = b->asked_count;
    return b->pool_months;
}

/* --- reading ----------------------------------------------------------- */

bool billing_line_in_period (const billing_t *b, const char *const *path)
{
    for (size_t i = 0; i < b->path_length; i++)
        if (b->path[i] == KEY_COUNT)
            return !strcmp (path[i], "in");
    return true;
}

void billing_each_of (const billing_t *b, const pool_month_t *pm,
                      billing_f callback, void *arg)
{
    const char *keys[KEYS_MAX];
    size_t count = 0;
    const charge_line_t *lines
        = pm->charge ? charge_lines (pm->charge, &count) : NULL;

    for (size_t i = 0; i < count; i++) {
        billing_line_t line
            = {pm, keys, &lines[i], billing_line_in_period (b, lines[i].path),
               billing_path_passes (b, b->query->filters,
                                    b->query->filter_count, pm, lines[i].path)};
        billing_line_keys (b, pm, lines[i].path, keys);
        callback (&line, arg);
    }
}

void billing_each (const billing_t *b, billing_f callback, void *arg)
{
    for (size_t i = 0; i < b->asked_count; i++)
        billing_each_of (b, &b->pool_months[i], callback, arg);
}
