/* The section of the plan that says what an hour costs: owned, of it what is sunk
 * and what can be avoided, and rented. */
#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "report/plan_private.h"

void plan_sunk (const breakeven_t *cost, mpq_t ret_per_year)
{
    mpq_set_ui (ret_per_year, 0, 1);
    for (size_t i = 0; i < cost->part_count; i++)
        if (cost->part[i].kind == COST_HARDWARE)
            mpq_add (ret_per_year, ret_per_year, cost->part[i].per_gpu_year);
}

/* ---- owned ---- */

/* A part of the year of a GPU, for each hour at work. */
static void add_owned (const plan_view_t *v, const char *item,
                       mpq_srcptr per_year)
{
    mpq_t q;

    mpq_init (q);
    exact_add_scaled (q, per_year, 1, v->pool->cost.hours);
    mpq_div (q, q, v->used);
    plan_row (v, item);
    plan_put (v, PLAN_MEASURED, v->used);
    plan_put (v, PLAN_RATE, q);
    mpq_set_ui (q, 0, 1);
    exact_add_scaled (q, per_year, (int64_t)v->pool->cost.gpus, 1);
    plan_put (v, PLAN_OWN, q);
    mpq_clear (q);
}

/* What a statement compares a rate with: jobs had the GPU in it or not. */
static void add_in_service (const plan_view_t *v)
{
    const breakeven_t *cost = &v->pool->cost;
    mpq_t q;

    mpq_init (q);
    exact_add_scaled (q, cost->per_gpu_year, 1, cost->hours);
    plan_row (v, "owned: cost of an hour in service, used or not");
    plan_put (v, PLAN_RATE, q);
    mpq_clear (q);
}

/* What the power of the pool is computed with. */
static void note_power (const plan_view_t *v)
{
    const breakeven_t *cost = &v->pool->cost;
    const breakeven_part_t *power
        = GL_FIND (cost->part, cost->part_count, it, it->kind == COST_POWER);

    if (!power)
        return;
    GL_AUTOFREE char *percent = breakeven_percent_text (cost->utilization);
    report_note_pool (v->report, NOTE_INFORMATION, v->pool->pool->name,
                      "power of a GPU in a year, idle time and PUE included, "
                      "at the planned utilization of %s %%: %s.",
                      percent, power->how);
}

/* A year of a GPU at the measured use; `off`: idle GPUs draw nothing. */
static bool year_of (const plan_view_t *v, bool off, mpq_t ret_year)
{
    const breakeven_t *cost = &v->pool->cost;
    const breakeven_change_t change = {.idle_off = off};
    gl_error_t ignored;
    breakeven_t b;

    if (mpq_cmp_ui (v->used, 1, 1) > 0
        || breakeven_changed (v->site, cost->pool, cost->at, v->used, &change,
                              &b, &ignored)
               < 0)
        return false;
    mpq_set (ret_year, b.per_gpu_year);
    breakeven_clear (&b);
    return true;
}

bool plan_switched_off (const plan_view_t *v, mpq_t ret_per_year)
{
    bool known;
    mpq_t off;

    mpq_init (off);
    known = year_of (v, false, ret_per_year) && year_of (v, true, off);
    if (known)
        mpq_sub (ret_per_year, ret_per_year, off);
    mpq_clear (off);
    return known && mpq_sgn (ret_per_year) > 0;
}

static void add_switched_off (const plan_view_t *v)
{
    mpq_t saved;

    mpq_init (saved);
    if (plan_switched_off (v, saved)) {
        add_owned (v, "of it avoidable if idle GPUs are switched off", saved);
        *v->has |= HAS_SWITCHED_OFF;
    }
    mpq_clear (saved);
}

static void add_own (const plan_view_t *v)
{
    const breakeven_t *cost = &v->pool->cost;
    mpq_t sunk, rest;

    mpq_inits (sunk, rest, NULL);
    add_owned (v,
               "owned: full cost of an hour that jobs used, idle time included",
               cost->per_gpu_year);
    *v->has |= HAS_OWNED;
    plan_sunk (cost, sunk);
    mpq_sub (rest, cost->per_gpu_year, sunk);
    if (mpq_sgn (sunk) > 0) {
        add_owned (v, "of it sunk: the hardware is bought", sunk);
        add_owned (v, "of it avoidable if the GPUs are given up", rest);
        *v->has |= HAS_SUNK;
    }
    add_switched_off (v);
    add_in_service (v);
    note_power (v);
    mpq_clears (sunk, rest, NULL);
}

/* ---- rented ---- */

/* A price with a term is paid for hours that were not allocated, too: what an hour
 * allocated to jobs cost at it, next to what one cost that is owned. */
static void add_price (const plan_view_t *v, const breakeven_cloud_t *cloud)
{
    GL_AUTOFREE char *item = xasprintf ("%s: rented price", cloud->cloud->name);
    GL_AUTOFREE char *at_work
        = xasprintf ("%s: rented price of an hour at work", cloud->cloud->name);
    mpq_srcptr held = v->measured ? v->used : NULL;
    mpq_t q;

    plan_row (v, item);
    plan_put (v, PLAN_PERCENT, cloud->committed ? NULL : cloud->utilization);
    plan_put (v, PLAN_MEASURED, held);
    plan_put (v, PLAN_RATE, cloud->cloud->per_gpu_hour);
    plan_put_price (v, cloud);
    *v->has |= cloud->committed ? HAS_TERM : HAS_RENT;
    if (!cloud->committed || !held)
        return;
    mpq_init (q);
    mpq_div (q, cloud->cloud->per_gpu_hour, held);
    plan_row (v, at_work);
    plan_put (v, PLAN_MEASURED, held);
    plan_put (v, PLAN_RATE, q);
    plan_put_price (v, cloud);
    mpq_clear (q);
}

/* ---- the section ---- */

void plan_prices (plan_view_t *v)
{
    const plan_pool_t *p = v->pool;

    if (!p->has_cost)
        return;
    if (v->measured)
        add_own (v);
    for (size_t i = 0; i < p->cost.cloud_count; i++)
        if (!p->cost.cloud[i].old)
            add_price (v, &p->cost.cloud[i]);
}

void plan_prices_help (buffer_t *out, unsigned has)
{
    static const struct {
        unsigned has;
        unsigned with; /* and one of these; 0: whatever else there is */
        const char *text;
    } sentences[] = {
        {HAS_OWNED, 0,
         " Full cost: the cost of a year over the hours that jobs would use in "
         "it at the load of the period, so that they pay for idle hours, too. "
         "With more work, an hour costs less. An hour in service is the cost "
         "of "
         "the year over all its hours: a statement compares its rate with that "
         "one. Pages of a month divide the cost of that month, which differs a "
         "little."},
        {HAS_SUNK, 0,
         " The sunk cost is the part that is spent already: giving up the GPUs "
         "does "
         "not bring it back. Avoidable are staff, power and other costs, which "
         "end "
         "with the GPUs."},
        {HAS_SUNK, HAS_RENT | HAS_TERM,
         " Compare the rented price with the avoidable cost while the GPUs "
         "live, "
         "and with the full cost before you buy new ones."},
        {HAS_SWITCHED_OFF, 0,
         " Idle GPUs that are switched off save the power "
         "that they draw: at most so much, as all hours without jobs are "
         "counted, also those in which the GPUs may have been down."},
        {HAS_RENT, 0,
         " % is the share of the time at work above which the full "
         "cost of owning is less than the rented price."},
        {HAS_TERM, 0,
         " A price with a term is paid around the clock: it has no "
         "such share, and costs more for each hour at work."},
        {HAS_RENT | HAS_TERM, 0,
         " A rented price may not cover the same network and storage."},
    };
    bool first = true;

    for (size_t i = 0; i < GL_ARRAY_SIZE (sentences); i++)
        if ((has & sentences[i].has)
            && (!sentences[i].with || (has & sentences[i].with))) {
            buffer_add_text (out, sentences[i].text + first);
            first = false;
        }
}
