/* The section of the plan that says what the traffic of rented GPUs costs. */
#include <gmp.h>

#include "base/buffer.h"
#include "base/exact.h"
#include "planning/analysis_lists.h"
#include "report/plan_private.h"

/* A GB of 10^9 bytes in GiB. */
#define GB_BYTES 1000000000
#define GIB_BYTES 1073741824
#define MONTHS 12

/* Of a year: a month of average length by the tiers, times 12. */
static void cost_of_year (const plan_view_t *v, const site_egress_t *egress,
                          mpq_t ret_cost)
{
    values_t values;
    mpq_t q;

    mpq_init (q);
    values_init (&values);
    exact_parse (v->asked->egress, q, NULL);
    if (egress->binary)
        exact_add_scaled (q, q, GB_BYTES - GIB_BYTES, GIB_BYTES);
    values_set (&values, "gb_per_day", q);
    exact_set_i64 (q, v->pool->cost.hours, 24 * MONTHS);
    values_set (&values, "days", q);
    analysis_take_tiers (&egress->tiers, &values);
    mpq_set_ui (ret_cost, 0, 1);
    exact_add_scaled (ret_cost, values_get (&values, "tiered_cost"), MONTHS, 1);
    values_clear (&values);
    mpq_clear (q);
}

/* GPU-hours of a year at the demand of the period. */
static void work_of_year (const plan_view_t *v, mpq_t ret_hours)
{
    mpq_set_ui (ret_hours, 0, 1);
    exact_add_scaled (ret_hours, v->pool->allocated, v->pool->cost.hours,
                      (int64_t)v->pool->hours * 3600);
}

static void add_row (const plan_view_t *v, const breakeven_cloud_t *cloud,
                     int64_t age)
{
    const site_egress_t *egress = &cloud->cloud->egress;
    mpq_t cost, hours;

    mpq_inits (cost, hours, NULL);
    cost_of_year (v, egress, cost);
    work_of_year (v, hours);
    plan_row (v, cloud->cloud->name);
    plan_put (v, PLAN_RENT, cost);
    mpq_div (cost, cost, hours);
    plan_put (v, PLAN_RATE, cost);
    report_put_text (v->report, PLAN_AS_OF, egress->as_of);
    report_put_count (v->report, PLAN_AGE, (uint64_t)age);
    report_put_text (v->report, PLAN_SOURCE, egress->source);
    mpq_clears (cost, hours, NULL);
}

static void add_name (buffer_t *names, const char *name, const char *why)
{
    buffer_printf (names, "%s%s (%s)", names->length ? ", " : "", name, why);
}

void plan_egress (plan_view_t *v)
{
    const breakeven_t *cost = &v->pool->cost;
    BUFFER_AUTO without = BUFFER_INIT;

    if (!v->pool->has_cost || v->pool->hours == 0 || !v->measured)
        return;
    for (size_t i = 0; i < cost->cloud_count; i++) {
        const breakeven_cloud_t *cloud = &cost->cloud[i];
        const char *as_of = cloud->cloud->egress.as_of;
        int64_t age;
        if (cloud->old)
            continue;
        if (!as_of)
            add_name (&without, cloud->cloud->name, "no price");
        else if (breakeven_price_old (cost, as_of,
                                      breakeven_max_months (v->asked->max_age),
                                      &age))
            add_name (&without, cloud->cloud->name, as_of);
        else
            add_row (v, cloud, age);
    }
    if (without.length == 0)
        return;
    report_note_pool (v->report, NOTE_INFORMATION, v->pool->pool->name,
                      "no price of traffic that is young enough is known of: "
                      "%s.",
                      buffer_text (&without));
    report_note_pool (
        v->report, NOTE_COMMAND, v->pool->pool->name,
        "prices of traffic come from offers of `clouds` that name "
        "their region (catalogue: PROVIDER/INSTANCE/REGION; "
        "'gpuledger prices list --egress'); a question of kind "
        "egress takes your own.");
}
