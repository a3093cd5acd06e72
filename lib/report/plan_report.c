#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "planning/formula.h"
#include "planning/reserve.h"
#include "report/plan_private.h"

/* Spare share of the time that is planned for; usual are 5 to 10 %. */
#define SPARE "10%"
/* Full months from which on a trend is drawn; how far ahead one has to order.
 */
#define TREND_MONTHS 6
static const uint32_t lead_months[] = {12, 18};
/* Of the cumulative cash. */
static const int cash_years[] = {1, 3, 5};

enum {
    C_ANALYSIS,
    C_POOL,
    C_ITEM,
    C_PERCENT,
    C_MEASURED,
    C_RATE,
    C_GPUS,
    C_NODES,
    C_DEMAND,
    C_MONTHS,
    C_OWN,
    C_RENT,
    C_SAVING,
    C_AS_OF,
    C_AGE,
    C_SOURCE,
};

static const column_info_t columns[] = {
    {"analysis", "Analysis", COLUMN_TEXT, true, true,
     "use, breakeven, cash, mix, capacity."},
    {"pool", "Pool", COLUMN_TEXT, true, false, ""},
    {"item", "Item", COLUMN_TEXT, true, false, ""},
    {"percent", "%", COLUMN_PERCENT, false, false,
     "A share of the time; for a price, the break-even."},
    {"measured_pct", "Measured %", COLUMN_PERCENT, false, false,
     "The allocated share of the capacity."},
    {"per_gpu_hour", "Per GPU hour", COLUMN_RATE, false, false,
     "A price; for a mix, the average cost of an hour of all GPUs."},
    {"gpus", "GPUs", COLUMN_COUNT, false, false, ""},
    {"nodes", "Nodes", COLUMN_COUNT, false, false, ""},
    {"gpu_hours_per_day", "GPU hours a day", COLUMN_HOURS, false, false, ""},
    {"months", "Months", COLUMN_RATE, false, false, "From the purchase on."},
    {"own", "Owning", COLUMN_MONEY, false, false, ""},
    {"rent", "Renting", COLUMN_MONEY, false, false, ""},
    {"saving", "Saving", COLUMN_MONEY, false, false, "Renting less owning."},
    {"as_of", "Price of", COLUMN_DATE, false, false,
     "When the price was read."},
    {"age_days", "Age, days", COLUMN_COUNT, false, false,
     "The age of the price at the end of the facts."},
    {"source", "Source", COLUMN_TEXT, false, true, "Where the price was read."},
};

/* What a section is made from. */
struct plan_view {
    report_t *report;
    const site_t *site;
    const plan_pool_t *pool;
    const char *analysis;
    values_t values; /* of the pool: what was measured, and formulas of it */
    const step_t *made[FORMULA_STEPS]; /* of the formula of use */
    size_t made_count;
    mpq_srcptr
        used;      /* the share allocated to jobs; NULL: there is no capacity */
    bool measured; /* and it is above 0 */
};

static void begin_row (const struct plan_view *v, const char *item)
{
    report_row (v->report);
    report_put_text (v->report, C_ANALYSIS, v->analysis);
    report_put_text (v->report, C_POOL, v->pool->pool->name);
    report_put_text (v->report, C_ITEM, item);
}

/* A number as the column has it, NULL being none: a share, hours, money ... */
static void put (const struct plan_view *v, size_t at, mpq_srcptr number)
{
    column_type_t type = columns[at].type;
    mpq_t q;

    if (!number)
        return;
    mpq_init (q);
    exact_add_scaled (q, number, type == COLUMN_PERCENT ? 100 : 1, 1);
    if (type == COLUMN_HOURS) {
        exact_add_scaled (q, number, 3599, 1);
        report_put_hours (v->report, at, q);
    } else
        report_put_exact (v->report, at, q,
                          type == COLUMN_COUNT   ? 0
                          : type == COLUMN_MONEY ? v->site->currency_digits
                          : at == C_RATE         ? 4
                                                 : 2);
    mpq_clear (q);
}

static void put_value (const struct plan_view *v, size_t at, const char *name)
{
    put (v, at, values_get (&v->values, name));
}

static void put_price (const struct plan_view *v,
                       const breakeven_cloud_t *cloud)
{
    report_put_text (v->report, C_AS_OF, cloud->cloud->as_of);
    if (cloud->age_days != BREAKEVEN_NO_AGE)
        report_put_count (v->report, C_AGE, (uint64_t)cloud->age_days);
    report_put_text (v->report, C_SOURCE, cloud->cloud->source);
}

/* ---- use ---- */

static void take_values (struct plan_view *v)
{
    const plan_pool_t *p = v->pool;
    mpq_t down;

    mpq_init (down);
    mpq_add (down, p->capacity.down, p->capacity.planned_down);
    values_set (&v->values, "capacity", p->capacity.capacity);
    values_set (&v->values, "down", down);
    values_set (&v->values, "allocated", p->allocated);
    values_set (&v->values, "active", p->active);
    values_set (&v->values, "known", p->known);
    mpq_clear (down);
}

static void add_use (struct plan_view *v)
{
    const plan_pool_t *p = v->pool;

    if (mpq_sgn (p->capacity.capacity) == 0)
        report_note (v->report, NOTE_WARNING,
                     "Pool %s: the capacity in the period is unknown.",
                     p->pool->name);
    for (size_t i = 0; i < v->made_count; i++) {
        mpq_srcptr value = values_get (&v->values, v->made[i]->id);
        if (!value)
            continue;
        begin_row (v, v->made[i]->title);
        put (v, C_PERCENT, value);
    }
    if (!p->weights_known)
        report_note (v->report, NOTE_WARNING,
                     "Pool %s: some devices have no known weight; their time "
                     "is not in these figures.",
                     p->pool->name);
}

/* ---- break-even ---- */

/* A price with a term is paid for hours that were not allocated, too: what an hour
 * allocated to jobs cost at it, next to what one cost that is owned. */
static void add_price (struct plan_view *v, const breakeven_cloud_t *cloud)
{
    GL_AUTOFREE char *item
        = xasprintf ("%s, at the measured share", cloud->cloud->name);
    mpq_srcptr held = v->measured ? v->used : NULL;
    mpq_t q;

    begin_row (v, cloud->cloud->name);
    put (v, C_PERCENT, cloud->committed ? NULL : cloud->utilization);
    put (v, C_MEASURED, held);
    put (v, C_RATE, cloud->cloud->per_gpu_hour);
    put_price (v, cloud);
    if (!cloud->committed || !held)
        return;
    mpq_init (q);
    mpq_div (q, cloud->cloud->per_gpu_hour, held);
    begin_row (v, item);
    put (v, C_MEASURED, held);
    put (v, C_RATE, q);
    put_price (v, cloud);
    mpq_clear (q);
}

static void add_breakeven (struct plan_view *v)
{
    const plan_pool_t *p = v->pool;
    mpq_t q;

    if (!p->has_cost)
        return;
    if (v->measured) {
        mpq_init (q);
        breakeven_cost_at (&p->cost, v->used, q);
        begin_row (v, "own, at the measured share");
        put (v, C_MEASURED, v->used);
        put (v, C_RATE, q);
        mpq_clear (q);
    }
    for (size_t i = 0; i < p->cost.cloud_count; i++)
        if (!p->cost.cloud[i].old)
            add_price (v, &p->cost.cloud[i]);
}

/* ---- cash ---- */

/* All but the hardware, of all GPUs; and what is rented instead: the hours that
 * jobs held, or around the clock. */
static void yearly (struct plan_view *v)
{
    const breakeven_t *b = &v->pool->cost;
    const breakeven_cloud_t *cloud = v->pool->cloud;
    int64_t gpus = (int64_t)b->gpus;
    mpq_t q;

    mpq_init (q);
    for (size_t i = 0; i < b->part_count; i++)
        if (b->part[i].kind != COST_HARDWARE)
            exact_add_scaled (q, b->part[i].per_gpu_year, gpus, 1);
    values_set (&v->values, "per_year", q);
    exact_set_i64 (q, b->hours * gpus, 1);
    mpq_mul (q, q, cloud->cloud->per_gpu_hour);
    if (!cloud->committed)
        mpq_mul (q, q, v->used);
    values_set (&v->values, "rent_per_year", q);
    mpq_clear (q);
}

/* What is paid on the renting side: hours, or GPUs. */
static void note_rent (struct plan_view *v)
{
    const breakeven_cloud_t *cloud = v->pool->cloud;

    if (cloud->committed)
        report_note (
            v->report, NOTE_INFORMATION,
            "Pool %s: %s has a term (%s): owning is compared with %llu "
            "GPUs that are paid around the clock, used or not.",
            v->pool->pool->name, cloud->cloud->name, cloud->cloud->term,
            (unsigned long long)v->pool->cost.gpus);
    else
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: owning is compared with the allocated hours, "
                     "paid at the price of %s.",
                     v->pool->pool->name, cloud->cloud->name);
}

static void add_payback (struct plan_view *v)
{
    if (values_get (&v->values, "payback")) {
        begin_row (v, "paid back");
        put_value (v, C_MONTHS, "payback");
    } else
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: against %s at the measured use the purchase is "
                     "never paid back.",
                     v->pool->pool->name, v->pool->cloud->cloud->name);
}

static void add_cash (struct plan_view *v)
{
    const plan_pool_t *p = v->pool;

    if (!p->has_cost || !p->cloud || !v->measured)
        return;
    values_set (&v->values, "purchase", p->cost.purchase);
    yearly (v);
    note_rent (v);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cash_years); i++) {
        int years = cash_years[i];
        GL_AUTOFREE char *item
            = xasprintf ("after %d year%s", years, years == 1 ? "" : "s");
        values_set_i64 (&v->values, "years", years);
        formula_solve (formula_named ("cash"), &v->values, NULL);
        if (i == 0)
            add_payback (v);
        begin_row (v, item);
        put_value (v, C_OWN, "owned");
        put_value (v, C_RENT, "rented");
        put_value (v, C_SAVING, "saving");
        put_price (v, p->cloud);
    }
}

/* ---- the mix ---- */

static void add_mix_row (struct plan_view *v, const reserve_demand_t *demand,
                         uint64_t k, mpq_srcptr owned,
                         const breakeven_cloud_t *cloud)
{
    GL_AUTOFREE char *item = xasprintf ("rest from %s", cloud->cloud->name);
    mpq_t cost;

    mpq_init (cost);
    reserve_cost (demand, k, owned, cloud->cloud->per_gpu_hour, cost);
    begin_row (v, item);
    report_put_count (v->report, C_GPUS, k);
    put (v, C_RATE, cost);
    put_price (v, cloud);
    mpq_clear (cost);
}

/* Of the price that is compared with, also one more and one less. A price with
 * a term is no way to rent the rest of an hour. */
static void add_mix (struct plan_view *v)
{
    const plan_pool_t *p = v->pool;
    const reserve_demand_t demand = {(const mpq_t *)p->demand, p->hours};
    mpq_t owned;

    if (!p->has_cost || p->hours == 0)
        return;
    mpq_init (owned);
    exact_add_scaled (owned, p->cost.per_gpu_year, 1, p->cost.hours);
    for (size_t i = 0; i < p->cost.cloud_count; i++) {
        const breakeven_cloud_t *cloud = &p->cost.cloud[i];
        bool near = cloud == p->cloud;
        uint64_t k;
        if (cloud->old || cloud->committed)
            continue;
        k = reserve_size (&demand, owned, cloud->cloud->per_gpu_hour);
        if (near && k > 0)
            add_mix_row (v, &demand, k - 1, owned, cloud);
        add_mix_row (v, &demand, k, owned, cloud);
        if (near)
            add_mix_row (v, &demand, k + 1, owned, cloud);
    }
    mpq_clear (owned);
}

/* ---- capacity ---- */

static void add_need (struct plan_view *v, const char *item, mpq_srcptr per_day)
{
    const plan_pool_t *p = v->pool;
    values_t need;

    values_init (&need);
    values_set (&need, "gpu_hours_per_day", per_day);
    values_set (&need, "utilization", v->site->policy.utilization);
    values_set_i64 (&need, "down", 0);
    if (v->used)
        values_set (&need, "down", values_get (&v->values, "unused"));
    values_set_text (&need, "spare", SPARE);
    values_set_i64 (&need, "gpus_per_node", p->pool->gpus_per_node);
    formula_solve (formula_named ("capacity"), &need, NULL);
    begin_row (v, item);
    put (v, C_DEMAND, per_day);
    put (v, C_GPUS, values_get (&need, "gpus"));
    put (v, C_NODES, values_get (&need, "nodes"));
    values_clear (&need);
}

static void add_trend (struct plan_view *v)
{
    const plan_pool_t *p = v->pool;
    mpq_t demand;

    if (p->months < TREND_MONTHS) {
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: full months in the period: %zu; a trend needs "
                     "at least %d.",
                     p->pool->name, p->months, TREND_MONTHS);
        return;
    }
    mpq_init (demand);
    for (size_t i = 0; i < GL_ARRAY_SIZE (lead_months); i++) {
        GL_AUTOFREE char *item = xasprintf ("in %u months, if the trend "
                                            "continues",
                                            (unsigned)lead_months[i]);
        demand_trend (demand, (const mpq_t *)p->month, p->months,
                      lead_months[i]);
        if (mpq_sgn (demand) < 0)
            mpq_set_ui (demand, 0, 1);
        add_need (v, item, demand);
    }
    mpq_clear (demand);
}

static void add_capacity (struct plan_view *v)
{
    const plan_pool_t *p = v->pool;
    mpq_t day;

    if (p->hours == 0)
        return;
    begin_row (v, "there are");
    report_put_count (v->report, C_GPUS, p->cost.gpus);
    report_put_count (v->report, C_NODES,
                      p->cost.gpus / (uint64_t)p->pool->gpus_per_node);
    mpq_init (day);
    exact_add_scaled (day, p->allocated, 24, (int64_t)p->hours * 3600);
    add_need (v, "for the demand of the period", day);
    add_trend (v);
    mpq_clear (day);
}

/* ---- the report ---- */

static const struct {
    const char *analysis;
    const char *title;
    const char *help;
    void (*add) (struct plan_view *view);
} sections[] = {
    {"use", "How the GPUs were used", "Shares of the capacity of the period.",
     add_use},
    {"breakeven", "Owning or renting",
     "% is the share above which owning is cheaper than the price; the owned "
     "hour is the yearly cost over the allocated hours. A price with a term is "
     "paid around the clock: it has no such share, and costs more for each "
     "allocated hour. A price may not cover the same network and storage.",
     add_breakeven},
    {"cash", "Cumulative cash",
     "All hardware paid on the first day, the rest of the cost by the month, "
     "against renting the measured hours, or, if the price has a term, as "
     "many GPUs around the clock. Without resale, replacement and discounting.",
     add_cash},
    {"mix", "How many to own",
     "The number of GPUs that is cheapest to own, if additional demand is "
     "rented by the hour, and the hourly cost of this mix; also with one GPU "
     "less and one more. Prices with a term are left out, because single "
     "hours cannot be rented at them.",
     add_mix},
    {"capacity", "Capacity",
     "GPUs and full nodes for the demand at the planned utilization and the "
     "measured share down, with a tenth spare.",
     add_capacity},
};

static void add_section (struct plan_view *v, size_t at,
                         const plan_pool_t *pools, size_t count)
{
    report_section (v->report, sections[at].title, sections[at].help);
    v->analysis = sections[at].analysis;
    for (size_t i = 0; i < count; i++) {
        v->pool = &pools[i];
        values_init (&v->values);
        take_values (v);
        v->made_count
            = formula_solve (formula_named ("use"), &v->values, v->made);
        v->used = values_get (&v->values, "used");
        v->measured = values_true (&v->values, "used");
        sections[at].add (v);
        values_clear (&v->values);
    }
}

void plan_fill (report_t *report, const site_t *site, const plan_pool_t *pools,
                size_t count)
{
    struct plan_view view = {.report = report, .site = site};
    GL_AUTOFREE char *target
        = breakeven_percent_text (site->policy.utilization);

    report_parameter (report, "planned_utilization_pct", target);
    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    for (size_t i = 0; i < GL_ARRAY_SIZE (sections); i++)
        add_section (&view, i, pools, count);
    for (size_t i = 0; i < count; i++)
        if (!pools[i].has_cost)
            report_note (report, NOTE_WARNING,
                         "Pool %s: the cost is unknown. Enter it under "
                         "'assets', 'staff', 'power' and 'costs'.",
                         pools[i].pool->name);
    report_note (report, NOTE_INFORMATION,
                 "Not considered: demand that waited in the queue or went "
                 "elsewhere, egress and storage of rented capacity, resale, "
                 "price increases.");
}
