#include <string.h>

#include "base/memory.h"
#include "ledger/billing_inputs.h"
#include "money/cost.h"

struct billing_inputs {
    const site_t *site;
    period_t whole;
    period_t facts; /* whole, or longer */
    cost_inputs_t inputs;
    usage_query_t query; /* by pool and month */
    usage_t *usage;      /* NULL: no cost follows jobs or energy */
};

/* Units of use are written off by all that was allocated since the first day. */
static int64_t facts_start (const site_t *site, int64_t start)
{
    int64_t first = start;

    for (size_t i = 0; i < site->asset_count; i++) {
        int64_t at = zone_instant (site->zone, &site->assets[i].in_service);
        if (site->assets[i].method == DEPRECIATION_UNITS_OF_USE && at < first)
            first = zone_unit (site->zone, CALENDAR_MONTH, at).start;
    }
    return first;
}

billing_inputs_t *billing_inputs_new (const site_t *site, period_t whole)
{
    billing_inputs_t *b = xcalloc (1, sizeof (*b));

    b->site = site;
    b->whole = whole;
    b->facts = whole;
    if (period_seconds (whole) > 0)
        b->facts.start = facts_start (site, whole.start);
    b->query.site = site;
    b->query.period = whole;
    b->query.by.id[b->query.by.count++] = KEY_POOL;
    b->query.by.id[b->query.by.count++] = KEY_MONTH;
    if (cost_wants_usage (site)) {
        b->query.load = &b->inputs.load;
        b->usage = usage_new (&b->query);
    }
    return b;
}

void billing_inputs_free (billing_inputs_t *b)
{
    if (!b)
        return;
    cost_inputs_clear (&b->inputs);
    usage_free (b->usage);
    free (b);
}

period_t billing_inputs_period (const billing_inputs_t *b)
{
    return b->facts;
}

void billing_inputs_add (billing_inputs_t *b, const segment_t *segment,
                         const suspension_t *suspensions, size_t count,
                         const project_t *project)
{
    if (b->usage)
        usage_add (b->usage, segment, suspensions, count, project);
}

void billing_inputs_measure (billing_inputs_t *b, const segment_t *segment,
                             const project_t *project,
                             const segment_evidence_t *evidence)
{
    if (b->usage)
        usage_measure (b->usage, segment, project, evidence);
}

void billing_inputs_meters (billing_inputs_t *b,
                            const meter_reading_t *readings, size_t count)
{
    b->inputs.meters = readings;
    b->inputs.meter_count = count;
}

static cost_use_t *find_use (billing_inputs_t *b, const char *pool,
                             int64_t instant)
{
    period_t month;

    for (size_t i = b->inputs.count; i-- > 0;) {
        cost_use_t *use = &b->inputs.use[i];
        if (instant >= use->period.start && instant < use->period.end
            && !strcmp (use->pool, pool))
            return use;
    }
    month = zone_unit (b->site->zone, CALENDAR_MONTH, instant);
    return cost_inputs_add (&b->inputs, pool, period_clip (month, b->facts));
}

/* The site's own text of the name: a slice's or a rollup's does not stay. */
static const char *site_pool (const site_t *site, const char *name)
{
    for (size_t i = 0; name && i < site->pool_count; i++)
        if (!strcmp (site->pools[i].name, name))
            return site->pools[i].name;
    return NULL;
}

void billing_inputs_capacity (billing_inputs_t *b, const char *name,
                              int64_t instant, const capacity_sum_t *sum)
{
    const char *pool = site_pool (b->site, name);
    cost_use_t *use;

    if (!pool || instant < b->facts.start || instant >= b->facts.end)
        return;
    use = find_use (b, pool, instant);
    exact_add (use->allocated, sum->allocated);
    exact_add (use->capacity, sum->capacity);
}

void billing_inputs_add_rollup (billing_inputs_t *b, const rollup_t *rollup)
{
    int64_t start = rollup_period (rollup).start;
    size_t count;
    const rollup_capacity_t *capacity = rollup_capacity (rollup, &count);

    if (b->usage && start >= b->whole.start)
        usage_add_rollup (b->usage, rollup, ROLLUP_COUNTED);
    for (size_t i = 0; i < count; i++)
        billing_inputs_capacity (b, capacity[i].pool, start, capacity[i].sum);
}

/* GPU-seconds that the measured energy speaks of, by weight. */
static void take_energy (cost_use_t *use, const usage_part_t *part)
{
    mpq_t weight;

    if (!part->kind->weight_known)
        return;
    mpq_init (weight);
    exact_set_fraction (weight, part->kind->weight);
    exact_add_scaled (use->energy_seconds, weight,
                      (int64_t)usage_part_measured (part)->energy_ms, 1000);
    use->energy_mj += usage_part_measured (part)->energy_mj;
    mpq_clear (weight);
}

static void take_cell (billing_inputs_t *b, const usage_cell_t *cell)
{
    const char *pool = site_pool (b->site, cell->key[0]);
    char name[ZONE_STAMP_SIZE];

    for (int64_t at = b->whole.start; pool && at < b->whole.end;
         at = zone_unit (b->site->zone, CALENDAR_MONTH, at).end) {
        cost_use_t *use;
        zone_unit_name (b->site->zone, CALENDAR_MONTH, at, name);
        if (strcmp (name, cell->key[1]) != 0)
            continue;
        use = find_use (b, pool, at);
        use->jobs += cell->jobs;
        for (size_t i = 0; i < cell->part_count; i++)
            take_energy (use, &cell->part[i]);
    }
}

const cost_inputs_t *billing_inputs_done (billing_inputs_t *b)
{
    size_t count = 0;
    const usage_cell_t *cells
        = b->usage ? usage_cells (b->usage, &count) : NULL;

    for (size_t i = 0; i < count; i++)
        take_cell (b, &cells[i]);
    return &b->inputs;
}
