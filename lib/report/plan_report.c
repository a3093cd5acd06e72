#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "money/cost.h"
#include "money/depreciation.h"
#include "planning/cash.h"
#include "planning/decision.h"
#include "planning/reserve.h"
#include "report/plan_private.h"

/* Spare share of the time that is planned for; usual are 5 to 10 %. */
#define SPARE_PERCENT 10
/* Whole months from which on a trend is drawn; how far ahead one has to order. */
#define TREND_MONTHS 6
static const uint32_t lead_months[] = {12, 18};
/* Of the cumulative cash. */
static const uint32_t cash_years[] = {1, 3, 5};

struct columns {
    size_t analysis;
    size_t pool;
    size_t item;
    size_t percent;
    size_t measured;
    size_t rate;
    size_t gpus;
    size_t nodes;
    size_t demand;
    size_t months;
    size_t own;
    size_t rent;
    size_t saving;
    size_t as_of;
    size_t age;
    size_t source;
};

/* What a section is made from. */
struct plan_view {
    report_t *report;
    struct columns c;
    const site_t *site;
    int64_t at;
    const plan_pool_t *pool;
    const char *analysis;
};

static size_t column (report_t *report, const char *name, const char *title,
                      column_type_t type, bool is_key, const char *help)
{
    size_t index = report_column (report, name, title, type, is_key);

    report_column_help (report, index, help);
    return index;
}

static struct columns add_columns (report_t *r)
{
    struct columns c;

    c.analysis = column (r, "analysis", "Analysis", COLUMN_TEXT, true,
                         "use, breakeven, cash, mix, capacity.");
    r->column[c.analysis].detail = true;
    c.pool = column (r, "pool", "Pool", COLUMN_TEXT, true, "");
    c.item = column (r, "item", "Item", COLUMN_TEXT, true, "");
    c.percent = column (r, "percent", "%", COLUMN_PERCENT, false,
                        "A share of the time; of a price the break-even.");
    c.measured = column (r, "measured_pct", "Measured %", COLUMN_PERCENT, false,
                         "The share of the capacity that jobs held.");
    c.rate = column (r, "per_gpu_hour", "Per GPU hour", COLUMN_RATE, false,
                     "A price; of a mix what an hour of all GPUs costs on "
                     "average.");
    c.gpus = column (r, "gpus", "GPUs", COLUMN_COUNT, false, "");
    c.nodes = column (r, "nodes", "Nodes", COLUMN_COUNT, false, "");
    c.demand = column (r, "gpu_hours_per_day", "GPU hours a day", COLUMN_HOURS,
                       false, "");
    c.months = column (r, "months", "Months", COLUMN_RATE, false,
                       "From the purchase on.");
    c.own = column (r, "own", "Owning", COLUMN_MONEY, false, "");
    c.rent = column (r, "rent", "Renting", COLUMN_MONEY, false, "");
    c.saving = column (r, "saving", "Saving", COLUMN_MONEY, false,
                       "Renting less owning.");
    c.as_of = column (r, "as_of", "Price of", COLUMN_TEXT, false,
                      "When the price was read.");
    c.age = column (r, "age_days", "Age, days", COLUMN_COUNT, false,
                    "How old the price is at the end of the facts.");
    c.source = column (r, "source", "Source", COLUMN_TEXT, false,
                       "Where the price was read.");
    r->column[c.source].detail = true;
    return c;
}

static void begin_row (const struct plan_view *v, const char *item)
{
    report_row (v->report);
    report_put_text (v->report, v->c.analysis, v->analysis);
    report_put_text (v->report, v->c.pool, v->pool->pool->name);
    report_put_text (v->report, v->c.item, item);
}

static void put_percent (const struct plan_view *v, size_t at,
                         mpq_srcptr ratio)
{
    mpq_t percent;

    mpq_init (percent);
    mpq_set_ui (percent, 100, 1);
    mpq_mul (percent, percent, ratio);
    report_put_exact (v->report, at, percent, 2);
    mpq_clear (percent);
}

static void put_price (const struct plan_view *v,
                       const breakeven_cloud_t *cloud)
{
    report_put_text (v->report, v->c.as_of, cloud->cloud->as_of);
    if (cloud->age_days != BREAKEVEN_NO_AGE)
        report_put_count (v->report, v->c.age, (uint64_t)cloud->age_days);
    report_put_text (v->report, v->c.source, cloud->cloud->source);
}

/* ---- use ---- */

static void add_use (struct plan_view *v)
{
    const plan_pool_t *p = v->pool;
    mpq_t held, q;

    mpq_inits (held, q, NULL);
    if (plan_utilization (p, held)) {
        begin_row (v, "held by jobs");
        put_percent (v, v->c.percent, held);
        plan_down (p, q);
        begin_row (v, "down or planned down");
        put_percent (v, v->c.percent, q);
    } else
        report_note (v->report, NOTE_WARNING,
                     "Pool %s: no capacity is known in the period.",
                     p->pool->name);
    if (mpq_sgn (p->known) > 0) {
        mpq_div (q, p->active, p->known);
        begin_row (v, "activity of the GPUs while held");
        put_percent (v, v->c.percent, q);
        begin_row (v, "both: effective");
        decision_effective_utilization (q, held, q);
        put_percent (v, v->c.percent, q);
        mpq_div (q, p->known, p->held);
        begin_row (v, "held time whose activity is known");
        put_percent (v, v->c.percent, q);
    }
    if (!p->weights_known)
        report_note (v->report, NOTE_WARNING,
                     "Pool %s: some devices have no known weight; what they "
                     "held is not in these figures.",
                     p->pool->name);
    mpq_clears (held, q, NULL);
}

/* ---- break-even ---- */

/* A price with a term is paid for hours that nobody held, too: what an hour that
 * jobs held cost at it, next to what one cost that is owned. */
static void add_price (struct plan_view *v, const breakeven_cloud_t *cloud,
                       mpq_srcptr held)
{
    GL_AUTOFREE char *item
        = xasprintf ("%s, at the measured share", cloud->cloud->name);
    mpq_t q;

    begin_row (v, cloud->cloud->name);
    if (!cloud->committed)
        put_percent (v, v->c.percent, cloud->utilization);
    if (held)
        put_percent (v, v->c.measured, held);
    report_put_exact (v->report, v->c.rate, cloud->cloud->per_gpu_hour, 4);
    put_price (v, cloud);
    if (!cloud->committed || !held)
        return;
    mpq_init (q);
    mpq_div (q, cloud->cloud->per_gpu_hour, held);
    begin_row (v, item);
    put_percent (v, v->c.measured, held);
    report_put_exact (v->report, v->c.rate, q, 4);
    put_price (v, cloud);
    mpq_clear (q);
}

static void add_breakeven (struct plan_view *v)
{
    const plan_pool_t *p = v->pool;
    mpq_t held, hours, q;
    bool measured;

    mpq_inits (held, hours, q, NULL);
    measured = plan_utilization (p, held) && mpq_sgn (held) > 0;
    if (p->has_cost && measured) {
        exact_set_i64 (hours, p->cost.hours, 1);
        decision_per_hour (q, p->cost.per_gpu_year, hours, held);
        begin_row (v, "own, at the measured share");
        put_percent (v, v->c.measured, held);
        report_put_exact (v->report, v->c.rate, q, 4);
    }
    for (size_t i = 0; p->has_cost && i < p->cost.cloud_count; i++)
        if (!p->cost.cloud[i].old)
            add_price (v, &p->cost.cloud[i], measured ? held : NULL);
    mpq_clears (held, hours, q, NULL);
}

/* ---- cash ---- */

/* What was paid for the hardware that is written off today. */
static void purchases (const site_t *site, const char *pool, int64_t at,
                       mpq_t ret_total)
{
    civil_t today = zone_civil (site->zone, at);
    int64_t day = calendar_day_number (today.year, today.month, today.day);
    mpq_t one;

    mpq_init (one);
    mpq_set_ui (ret_total, 0, 1);
    for (size_t i = 0; i < site->asset_count; i++) {
        const site_asset_t *asset = &site->assets[i];
        if (strcmp (asset_pool (asset, day), pool) != 0)
            continue;
        depreciation_plan (asset, &today, one, NULL);
        if (mpq_sgn (one) == 0)
            continue;
        mpq_mul (one, asset->units, asset->price);
        mpq_add (ret_total, ret_total, one);
    }
    mpq_clear (one);
}

/* All but the hardware, of all GPUs, by the month. */
static void operation (const breakeven_t *b, mpq_t ret_per_month)
{
    mpq_set_ui (ret_per_month, 0, 1);
    for (size_t i = 0; i < b->part_count; i++)
        if (b->part[i].kind != COST_HARDWARE)
            exact_add_scaled (ret_per_month, b->part[i].per_gpu_year,
                              (int64_t)b->gpus, 12);
}

static void put_amount (const struct plan_view *v, size_t at, mpq_srcptr amount)
{
    report_put_exact (v->report, at, amount, v->site->currency_digits);
}

static void add_payback (struct plan_view *v, const cash_plan_t *plan)
{
    mpq_t months;

    mpq_init (months);
    if (cash_payback (plan, months)) {
        begin_row (v, "paid back");
        report_put_exact (v->report, v->c.months, months, 2);
    } else
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: against %s at the measured use the purchase is "
                     "never paid back.",
                     v->pool->pool->name, v->pool->cloud->cloud->name);
    mpq_clear (months);
}

static void add_years (struct plan_view *v, const cash_plan_t *plan)
{
    mpq_t q;

    mpq_init (q);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cash_years); i++) {
        uint32_t months = 12 * cash_years[i];
        GL_AUTOFREE char *item
            = xasprintf ("after %u year%s", (unsigned)cash_years[i],
                         cash_years[i] == 1 ? "" : "s");
        begin_row (v, item);
        cash_own (plan, months, q);
        put_amount (v, v->c.own, q);
        cash_rent (plan, months, q);
        put_amount (v, v->c.rent, q);
        cash_saving (plan, months, q);
        put_amount (v, v->c.saving, q);
        put_price (v, v->pool->cloud);
    }
    mpq_clear (q);
}

/* What is paid on the renting side: hours, or GPUs. */
static void note_rent (struct plan_view *v)
{
    const breakeven_cloud_t *cloud = v->pool->cloud;

    if (cloud->committed)
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: %s has a term (%s): owning is compared with %llu "
                     "GPUs that are paid around the clock, used or not.",
                     v->pool->pool->name, cloud->cloud->name,
                     cloud->cloud->term,
                     (unsigned long long)v->pool->cost.gpus);
    else
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: owning is compared with the hours that jobs "
                     "held, paid at the price of %s.",
                     v->pool->pool->name, cloud->cloud->name);
}

static void add_cash (struct plan_view *v)
{
    const plan_pool_t *p = v->pool;
    cash_plan_t plan;
    mpq_t held;

    mpq_init (held);
    cash_plan_init (&plan);
    if (p->has_cost && p->cloud && plan_utilization (p, held)
        && mpq_sgn (held) > 0) {
        purchases (v->site, p->pool->name, v->at, plan.first_day);
        operation (&p->cost, plan.own_per_month);
        if (p->cloud->committed)
            mpq_set_ui (held, 1, 1);
        mpq_mul (held, held, p->cloud->cloud->per_gpu_hour);
        exact_add_scaled (plan.rent_per_month, held,
                          p->cost.hours * (int64_t)p->cost.gpus, 12);
        note_rent (v);
        add_payback (v, &plan);
        add_years (v, &plan);
    }
    cash_plan_clear (&plan);
    mpq_clear (held);
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
    report_put_count (v->report, v->c.gpus, k);
    report_put_exact (v->report, v->c.rate, cost, 4);
    put_price (v, cloud);
    mpq_clear (cost);
}

/* Of the price that is compared with, one more and one less beside it. A price with
 * a term is no way to rent the rest of an hour. */
static void add_mix (struct plan_view *v)
{
    const plan_pool_t *p = v->pool;
    const reserve_demand_t demand = {(const mpq_t *)p->demand, p->hours};
    mpq_t owned;

    if (!p->has_cost || p->hours == 0)
        return;
    mpq_init (owned);
    exact_set_i64 (owned, 1, p->cost.hours);
    mpq_mul (owned, owned, p->cost.per_gpu_year);
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

static void ceiling (mpq_srcptr value, uint64_t *ret_count)
{
    mpz_t whole;

    mpz_init (whole);
    mpz_cdiv_q (whole, mpq_numref (value), mpq_denref (value));
    *ret_count = mpz_get_ui (whole);
    mpz_clear (whole);
}

static void add_need (struct plan_view *v, const char *item,
                      mpq_srcptr gpu_hours_per_day)
{
    decision_demand_t demand;
    decision_capacity_t need;
    uint64_t gpus;
    mpq_t seconds;

    decision_demand_init (&demand);
    mpq_init (seconds);
    mpq_set (demand.gpu_hours_per_day, gpu_hours_per_day);
    mpq_set (demand.utilization, v->site->policy.utilization);
    plan_down (v->pool, demand.down_ratio);
    exact_set_i64 (demand.spare_ratio, SPARE_PERCENT, 100);
    demand.gpus_per_node = (uint64_t)v->pool->pool->gpus_per_node;
    begin_row (v, item);
    exact_add_scaled (seconds, gpu_hours_per_day, 3600, 1);
    report_put_hours (v->report, v->c.demand, seconds);
    if (mpq_cmp_ui (demand.down_ratio, 1, 1) < 0) {
        decision_capacity (&demand, &need);
        ceiling (need.gpus_spare, &gpus);
        report_put_count (v->report, v->c.gpus, gpus);
        report_put_count (v->report, v->c.nodes, need.nodes);
        decision_capacity_clear (&need);
    }
    decision_demand_clear (&demand);
    mpq_clear (seconds);
}

static void add_trend (struct plan_view *v)
{
    const plan_pool_t *p = v->pool;
    mpq_t demand;

    if (p->months < TREND_MONTHS) {
        report_note (v->report, NOTE_INFORMATION,
                     "Pool %s: the period has %zu whole months; a trend is "
                     "drawn from %d on.",
                     p->pool->name, p->months, TREND_MONTHS);
        return;
    }
    mpq_init (demand);
    for (size_t i = 0; i < GL_ARRAY_SIZE (lead_months); i++) {
        GL_AUTOFREE char *item
            = xasprintf ("in %u months, if it goes on so",
                         (unsigned)lead_months[i]);
        decision_trend (demand, (const mpq_t *)p->month, p->months,
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
    report_put_count (v->report, v->c.gpus, p->cost.gpus);
    report_put_count (v->report, v->c.nodes,
                      p->cost.gpus / (uint64_t)p->pool->gpus_per_node);
    mpq_init (day);
    exact_add_scaled (day, p->held, 24, (int64_t)p->hours * 3600);
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
    {"use", "What the GPUs did",
     "Shares of the capacity of the period.", add_use},
    {"breakeven", "Owning or renting",
     "% is the share above which owning is cheaper than the price; the owned "
     "hour is the yearly cost over the hours that jobs held. A price with a "
     "term is paid around the clock: it has no such share, and costs more for "
     "each hour that jobs held. A price does not tell whether it covers the "
     "same network and storage.",
     add_breakeven},
    {"cash", "Cumulative cash",
     "All hardware paid on the first day, the rest of the cost by the month, "
     "against renting the measured hours, or where the price has a term as many "
     "GPUs around the clock. Without resale, replacement and discounting.",
     add_cash},
    {"mix", "How many to own",
     "GPUs that are cheapest owned, if what is wanted beyond them in an hour is "
     "rented; what the mix costs an hour, and with one GPU less and more. "
     "Prices with a term are no way to rent an hour.",
     add_mix},
    {"capacity", "Capacity",
     "GPUs and whole nodes for a demand at the planned utilization and the "
     "measured share down, with a tenth spare.",
     add_capacity},
};

static void note_left_out (report_t *report)
{
    report_note (report, NOTE_INFORMATION,
                 "Left out: demand that waited in the queue or went "
                 "elsewhere, egress and storage of rented capacity, resale, "
                 "growth of prices.");
}

static void add_section (report_t *report, struct plan_view *view, size_t at,
                         const plan_pool_t *pools, size_t count)
{
    report_section (report, sections[at].title, sections[at].help);
    view->analysis = sections[at].analysis;
    for (size_t i = 0; i < count; i++) {
        view->pool = &pools[i];
        sections[at].add (view);
    }
}

void plan_fill (report_t *report, const site_t *site, int64_t at,
                const plan_pool_t *pools, size_t count)
{
    struct plan_view view = {.report = report, .site = site, .at = at};
    GL_AUTOFREE char *target = NULL;
    mpq_t percent;

    mpq_init (percent);
    mpq_set_ui (percent, 100, 1);
    mpq_mul (percent, percent, site->policy.utilization);
    target = exact_text (percent, 1);
    report_parameter (report, "planned_utilization_pct", target);
    mpq_clear (percent);
    view.c = add_columns (report);
    for (size_t i = 0; i < GL_ARRAY_SIZE (sections); i++)
        add_section (report, &view, i, pools, count);
    for (size_t i = 0; i < count; i++)
        if (!pools[i].has_cost)
            report_note (report, NOTE_WARNING,
                         "Pool %s: no cost is known. Enter it under 'assets', "
                         "'staff', 'power' and 'costs'.",
                         pools[i].pool->name);
    note_left_out (report);
}
