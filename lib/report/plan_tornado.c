/* The section of the plan that says which input the answer depends on. */
#include <stdlib.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "planning/offers.h"
#include "report/plan_private.h"

/* By how much an input is changed, down and up. */
#define VARY "20%"

/* Of these, a factor that is applied. */
enum { RENT, DEMAND, HARDWARE, LIFE, STAFF, POWER, INPUTS };
static const char *const titles[INPUTS] = {
    [RENT] = "rental prices",
    [DEMAND] = "demand",
    [HARDWARE] = "hardware price",
    [LIFE] = "life of the hardware",
    [STAFF] = "staff",
    [POWER] = "power price",
};
static const cost_kind_t kinds[INPUTS] = {
    [HARDWARE] = COST_HARDWARE,
    [LIFE] = COST_HARDWARE,
    [STAFF] = COST_STAFF,
    [POWER] = COST_POWER,
};

/* The least cost of an hour, on average, by each way. */
typedef struct {
    bool works; /* what is not owned can be rented */
    mix_t cheapest;
    mpq_t owned;  /* today's GPUs, and what they leave is rented */
    mpq_t rented; /* everything */
    mpq_t saving; /* rented - owned */
} outcome_t;

typedef struct {
    int input;
    outcome_t side[2]; /* with less of the input, and with more */
    mpq_t range;
} swing_t;

/* ---- one set of inputs ---- */

static void outcome_init (outcome_t *o)
{
    o->works = false;
    mix_init (&o->cheapest);
    mpq_inits (o->owned, o->rented, o->saving, NULL);
}

static void outcome_clear (outcome_t *o)
{
    mix_clear (&o->cheapest);
    mpq_clears (o->owned, o->rented, o->saving, NULL);
}

/* An hour of an owned GPU: the parts of its year, one of them changed. */
static void owned_hour (const breakeven_t *cost, int input, mpq_srcptr factor,
                        mpq_t ret_hour)
{
    mpq_t part;

    mpq_init (part);
    mpq_set_ui (ret_hour, 0, 1);
    for (size_t i = 0; i < cost->part_count; i++) {
        mpq_set (part, cost->part[i].per_gpu_year);
        if (input >= HARDWARE && cost->part[i].kind == kinds[input]) {
            if (input == LIFE)
                mpq_div (part, part, factor);
            else
                mpq_mul (part, part, factor);
        }
        exact_add_scaled (ret_hour, part, 1, cost->hours);
    }
    mpq_clear (part);
}

static void scaled_demand (const plan_pool_t *p, mpq_srcptr factor,
                           curve_t *ret_curve)
{
    mpq_t *demand = xcalloc (p->hours + 1, sizeof (*demand));

    for (size_t i = 0; i < p->hours; i++) {
        mpq_init (demand[i]);
        mpq_mul (demand[i], p->demand[i], factor);
    }
    curve_init (ret_curve, (const mpq_t *)demand, p->hours);
    GL_FREE_EACH (demand, p->hours, it, mpq_clear (*it));
}

/* The prices of renting, all of them times the factor. */
typedef struct {
    mpq_t price[MIX_KINDS];
} rents_t;

static mpq_srcptr scaled_rent (rents_t *rents, mix_kind_t kind,
                               mpq_srcptr price, mpq_srcptr factor)
{
    if (price)
        mpq_mul (rents->price[kind], price, factor);
    return price ? rents->price[kind] : NULL;
}

static void scale_rents (rents_t *rents, mpq_srcptr factor,
                         mix_prices_t *prices)
{
    prices->reserved
        = scaled_rent (rents, MIX_RESERVED, prices->reserved, factor);
    prices->spot = scaled_rent (rents, MIX_SPOT, prices->spot, factor);
    prices->rented = scaled_rent (rents, MIX_RENTED, prices->rented, factor);
}

static void take_less (mpq_t least, bool first, const mix_t *mix)
{
    if (first || mpq_cmp (mix->per_hour, least) < 0)
        mpq_set (least, mix->per_hour);
}

/* One provider: whatever of it costs less counts. */
static void take_provider (const curve_t *demand, const mix_prices_t *prices,
                           uint64_t gpus, outcome_t *o)
{
    bool first = !o->works;
    mix_t mix;

    mix_init (&mix);
    mix_owning (demand, prices, 0, &mix);
    if (mix.works) {
        o->works = true;
        take_less (o->rented, first, &mix);
        mix_owning (demand, prices, gpus, &mix);
        take_less (o->owned, first, &mix);
        mix_best (demand, prices, &mix);
        if (first || mpq_cmp (mix.per_hour, o->cheapest.per_hour) < 0)
            mix_set (&o->cheapest, &mix);
    }
    mix_clear (&mix);
}

static void solve (const plan_view_t *v, int input, mpq_srcptr factor,
                   outcome_t *ret_outcome)
{
    const plan_pool_t *p = v->pool;
    size_t count;
    offers_t *offers = offers_by_provider (&p->cost, &count);
    mpq_t owned, one, may;
    curve_t demand;
    rents_t rents;

    mpq_inits (owned, one, may, NULL);
    for (size_t i = 0; i < MIX_KINDS; i++)
        mpq_init (rents.price[i]);
    mpq_set_ui (one, 1, 1);
    plan_interruptible (v, may);
    owned_hour (&p->cost, input, factor, owned);
    scaled_demand (p, input == DEMAND ? factor : one, &demand);
    for (size_t i = 0; i < count; i++) {
        mix_prices_t prices = {.owned = owned,
                               .available = one,
                               .interruptible = may,
                               .step = (uint64_t)p->cost.gpus_per_node};
        offers_prices (&offers[i], &prices);
        scale_rents (&rents, input == RENT ? factor : one, &prices);
        take_provider (&demand, &prices, p->cost.gpus, ret_outcome);
    }
    mpq_sub (ret_outcome->saving, ret_outcome->rented, ret_outcome->owned);
    curve_clear (&demand);
    free (offers);
    for (size_t i = 0; i < MIX_KINDS; i++)
        mpq_clear (rents.price[i]);
    mpq_clears (owned, one, may, NULL);
}

/* ---- all of them ---- */

static void take_share (const plan_view_t *v, mpq_t ret_share)
{
    exact_parse_ratio (v->asked->vary ? v->asked->vary : VARY, ret_share, NULL);
}

static void swing_make (const plan_view_t *v, int input, swing_t *swing)
{
    mpq_t share, factor;

    mpq_inits (share, factor, swing->range, NULL);
    take_share (v, share);
    swing->input = input;
    for (int up = 0; up < 2; up++) {
        outcome_init (&swing->side[up]);
        mpq_set_ui (factor, 1, 1);
        if (up)
            mpq_add (factor, factor, share);
        else
            mpq_sub (factor, factor, share);
        solve (v, input, factor, &swing->side[up]);
    }
    mpq_sub (swing->range, swing->side[1].saving, swing->side[0].saving);
    mpq_abs (swing->range, swing->range);
    mpq_clears (share, factor, NULL);
}

static int by_range (const void *a, const void *b)
{
    const swing_t *x = a, *y = b;
    int order = mpq_cmp (y->range, x->range);

    return order ? order : (x->input > y->input) - (x->input < y->input);
}

/* ---- the rows ---- */

static void put_per_year (const plan_view_t *v, size_t at, mpq_srcptr per_hour)
{
    mpq_t q;

    mpq_init (q);
    exact_add_scaled (q, per_hour, v->pool->cost.hours, 1);
    plan_put (v, at, q);
    mpq_clear (q);
}

static void add_row (const plan_view_t *v, const char *item, const outcome_t *o)
{
    plan_row (v, item);
    report_put_count (v->report, PLAN_GPUS, o->cheapest.owned);
    report_put_count (v->report, PLAN_RESERVED, o->cheapest.reserved);
    put_per_year (v, PLAN_OWN, o->owned);
    put_per_year (v, PLAN_RENT, o->rented);
    put_per_year (v, PLAN_SAVING, o->saving);
}

static void add_swing (const plan_view_t *v, const swing_t *swing,
                       const char *share)
{
    for (int up = 0; up < 2; up++) {
        GL_AUTOFREE char *item = xasprintf ("%s %c%s %%", titles[swing->input],
                                            up ? '+' : '-', share);
        add_row (v, item, &swing->side[up]);
    }
}

/* Where owning would be dearer instead of cheaper, or the other way round. */
static void note_turns (const plan_view_t *v, const outcome_t *base,
                        const swing_t *swings, size_t count, const char *share)
{
    BUFFER_AUTO list = BUFFER_INIT;
    int sign = mpq_sgn (base->saving);

    for (size_t i = 0; i < count; i++)
        for (int up = 0; up < 2; up++)
            if (mpq_sgn (swings[i].side[up].saving) * sign < 0)
                buffer_printf (&list, "%s%s %c%s %%", list.length ? ", " : "",
                               titles[swings[i].input], up ? '+' : '-', share);
    report_note_pool (v->report, NOTE_INFORMATION, v->pool->pool->name,
                      "today's GPUs cost %s than renting the same work%s%s.",
                      sign < 0 ? "more" : "less",
                      list.length ? "; this turns round with "
                                  : ", whichever input changes",
                      buffer_text (&list));
}

/* ---- the chart ---- */

static void chart_value (const plan_view_t *v, const outcome_t *base,
                         const outcome_t *o, mpq_t ret_units)
{
    mpq_t q;
    mpz_t units;

    mpq_init (q);
    mpz_init (units);
    mpq_init (ret_units);
    mpq_sub (q, o->saving, base->saving);
    exact_add_scaled (q, q, v->pool->cost.hours - 1, 1);
    exact_round (units, q, v->site->currency_digits);
    mpq_set_z (ret_units, units);
    mpz_clear (units);
    mpq_clear (q);
}

static void add_chart (const plan_view_t *v, const outcome_t *base,
                       const swing_t *swings, size_t count, const char *share)
{
    GL_AUTOFREE char *title = xasprintf (
        "What owning %s saves against renting, a year: change by each input",
        v->pool->pool->name);
    GL_AUTOFREE char *less = xasprintf ("-%s %%", share);
    GL_AUTOFREE char *more = xasprintf ("+%s %%", share);
    const char *label[INPUTS];
    mpq_t value[2][INPUTS];
    const plot_series_t series[] = {{less, (const mpq_t *)value[0], NULL, 0},
                                    {more, (const mpq_t *)value[1], NULL, 2}};

    for (size_t i = 0; i < count; i++) {
        label[i] = titles[swings[i].input];
        for (int up = 0; up < 2; up++)
            chart_value (v, base, &swings[i].side[up], value[up][i]);
    }
    report_plot (v->report,
                 &(plot_t){.kind = CHART_CHANGES,
                           .title = title,
                           .description
                           = "To the left owning saves less than it does now, "
                             "to the right more. The upper number is with less of "
                             "the input, the lower one with more; the input "
                             "with the largest effect comes first.",
                           .type = COLUMN_MONEY,
                           .digits = v->site->currency_digits,
                           .unit = v->site->currency,
                           .point = label,
                           .point_count = count,
                           .series = series,
                           .series_count = 2});
    for (size_t i = 0; i < count; i++)
        mpq_clears (value[0][i], value[1][i], NULL);
}

/* Those that make a difference, of what the pool's book has. */
static void add_swings (const plan_view_t *v, const outcome_t *base)
{
    swing_t swings[INPUTS];
    size_t count = 0;
    mpq_t share;

    mpq_init (share);
    take_share (v, share);
    GL_AUTOFREE char *percent = breakeven_percent_text (share);
    for (int i = 0; i < INPUTS; i++)
        swing_make (v, i, &swings[i]);
    qsort (swings, INPUTS, sizeof (*swings), by_range);
    while (count < INPUTS && mpq_sgn (swings[count].range) != 0)
        count++;
    add_row (v, "as it is", base);
    for (size_t i = 0; i < count; i++)
        add_swing (v, &swings[i], percent);
    note_turns (v, base, swings, count, percent);
    add_chart (v, base, swings, count, percent);
    for (size_t i = 0; i < INPUTS; i++) {
        outcome_clear (&swings[i].side[0]);
        outcome_clear (&swings[i].side[1]);
        mpq_clear (swings[i].range);
    }
    mpq_clear (share);
}

void plan_tornado (plan_view_t *v)
{
    outcome_t base;
    mpq_t one;

    if (!v->pool->has_cost || v->pool->hours == 0 || !v->measured)
        return;
    mpq_init (one);
    mpq_set_ui (one, 1, 1);
    outcome_init (&base);
    solve (v, RENT, one, &base);
    if (base.works)
        add_swings (v, &base);
    outcome_clear (&base);
    mpq_clear (one);
}
