/* The section of the plan that says which input the answer depends on. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "planning/analysis.h"
#include "planning/offers.h"
#include "report/plan_private.h"

/* By how much an input is changed, down and up. */
#define VARY "20%"

/* Of these, a factor that is applied. RESIDUAL needs the cost book again; NEXT is
 * the speed of a GPU that can be rented later, of a question of kind generation. */
enum {
    RENT,
    DEMAND,
    HARDWARE,
    LIFE,
    STAFF,
    POWER,
    RESIDUAL,
    INPUTS,
    NEXT = INPUTS
};
static const char *const titles[INPUTS] = {
    [RENT] = "rental prices",
    [DEMAND] = "demand",
    [HARDWARE] = "hardware price",
    [LIFE] = "life of the hardware",
    [STAFF] = "staff",
    [POWER] = "power price",
    [RESIDUAL] = "residual value of the hardware",
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
    const site_analysis_t *question; /* of NEXT */
    char *title;
    outcome_t side[2]; /* with less of the input, and with more */
    mpq_t range;
} swing_t;

/* What is changed: an input, by a factor. */
typedef struct {
    int input;
    const site_analysis_t *question;
    mpq_srcptr factor;
} change_t;

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

/* The year of an owned GPU with another residual value; the book could be read
 * before. */
static void residual_year (const plan_view_t *v, mpq_srcptr factor,
                           mpq_t ret_year)
{
    const breakeven_t *cost = &v->pool->cost;
    const breakeven_change_t change = {.residual = factor};
    gl_error_t ignored;
    breakeven_t b;

    mpq_set (ret_year, cost->per_gpu_year);
    if (breakeven_changed (v->site, cost->pool, cost->at, cost->utilization,
                           &change, &b, &ignored)
        < 0)
        return;
    mpq_set (ret_year, b.per_gpu_year);
    breakeven_clear (&b);
}

static bool is_part (int input, cost_kind_t kind)
{
    return input >= HARDWARE && input <= POWER && kind == kinds[input];
}

/* An hour of an owned GPU: the parts of its year, one of them changed. */
static void owned_hour (const plan_view_t *v, const change_t *change,
                        mpq_t ret_hour)
{
    const breakeven_t *cost = &v->pool->cost;
    mpq_t year, part;

    mpq_inits (year, part, NULL);
    if (change->input == RESIDUAL)
        residual_year (v, change->factor, year);
    for (size_t i = 0; change->input != RESIDUAL && i < cost->part_count; i++) {
        mpq_set (part, cost->part[i].per_gpu_year);
        if (is_part (change->input, cost->part[i].kind)) {
            if (change->input == LIFE)
                mpq_div (part, part, change->factor);
            else
                mpq_mul (part, part, change->factor);
        }
        mpq_add (year, year, part);
    }
    mpq_set_ui (ret_hour, 0, 1);
    exact_add_scaled (ret_hour, year, 1, cost->hours);
    mpq_clears (year, part, NULL);
}

/* What renting costs on average over the life that the question has, for each 1
 * of it today, at the speed x factor. False: it has no answer. */
static bool next_factor (const plan_view_t *v, const site_analysis_t *question,
                         mpq_srcptr factor, mpq_t ret_factor, gl_error_t *error)
{
    analysis_t a;
    mpq_t speed;
    bool known;

    if (analysis_make (v->site, question, v->pool->cost.at, &a, error) < 0)
        return false;
    mpq_init (speed);
    mpq_mul (speed, a.input[INPUT_SPEED].value, factor);
    values_set (&a.values, "speed", speed);
    formula_solve (a.formula, &a.values, NULL);
    known = values_compute (&a.values, "rented / against", ret_factor);
    if (!known)
        gl_error (error, "question '%s' has no answer", question->name);
    mpq_clear (speed);
    analysis_clear (&a);
    return known;
}

/* What all prices of renting are multiplied by. */
static void rent_factor (const plan_view_t *v, const change_t *change,
                         mpq_t ret_factor)
{
    gl_error_t ignored; /* add_next() has said it */

    mpq_set_ui (ret_factor, 1, 1);
    if (change->input == RENT)
        mpq_set (ret_factor, change->factor);
    if (change->input == NEXT
        && !next_factor (v, change->question, change->factor, ret_factor,
                         &ignored))
        mpq_set_ui (ret_factor, 1, 1);
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

static void solve (const plan_view_t *v, const change_t *change,
                   outcome_t *ret_outcome)
{
    const plan_pool_t *p = v->pool;
    size_t count;
    offers_t *offers = offers_by_provider (&p->cost, &count);
    mpq_t owned, one, may, rent;
    curve_t demand;
    rents_t rents;

    mpq_inits (owned, one, may, rent, NULL);
    for (size_t i = 0; i < MIX_KINDS; i++)
        mpq_init (rents.price[i]);
    mpq_set_ui (one, 1, 1);
    plan_interruptible (v, may);
    owned_hour (v, change, owned);
    rent_factor (v, change, rent);
    scaled_demand (p, change->input == DEMAND ? change->factor : one, &demand);
    for (size_t i = 0; i < count; i++) {
        mix_prices_t prices = {.owned = owned,
                               .available = one,
                               .interruptible = may,
                               .step = (uint64_t)p->cost.gpus_per_node};
        offers_prices (&offers[i], &prices);
        scale_rents (&rents, rent, &prices);
        take_provider (&demand, &prices, p->cost.gpus, ret_outcome);
    }
    mpq_sub (ret_outcome->saving, ret_outcome->rented, ret_outcome->owned);
    curve_clear (&demand);
    free (offers);
    for (size_t i = 0; i < MIX_KINDS; i++)
        mpq_clear (rents.price[i]);
    mpq_clears (owned, one, may, rent, NULL);
}

/* ---- all of them ---- */

static void take_share (const plan_view_t *v, mpq_t ret_share)
{
    exact_parse_ratio (v->asked->vary ? v->asked->vary : VARY, ret_share, NULL);
}

/* From the least to the most of both sides and of what it is. */
static void take_range (const outcome_t *base, swing_t *swing)
{
    mpq_srcptr least = base->saving, most = base->saving;

    for (int up = 0; up < 2; up++) {
        mpq_srcptr saving = swing->side[up].saving;
        least = mpq_cmp (saving, least) < 0 ? saving : least;
        most = mpq_cmp (saving, most) > 0 ? saving : most;
    }
    mpq_sub (swing->range, most, least);
}

static void swing_make (const plan_view_t *v, const outcome_t *base,
                        swing_t *swing)
{
    mpq_t share, factor;
    change_t change = {swing->input, swing->question, factor};

    mpq_inits (share, factor, swing->range, NULL);
    take_share (v, share);
    for (int up = 0; up < 2; up++) {
        outcome_init (&swing->side[up]);
        mpq_set_ui (factor, 1, 1);
        if (up)
            mpq_add (factor, factor, share);
        else
            mpq_sub (factor, factor, share);
        solve (v, &change, &swing->side[up]);
    }
    take_range (base, swing);
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
    if (plan_reserves (v))
        report_put_count (v->report, PLAN_RESERVED, o->cheapest.reserved);
    put_per_year (v, PLAN_OWN, o->owned);
    put_per_year (v, PLAN_RENT, o->rented);
    put_per_year (v, PLAN_SAVING, o->saving);
}

static void add_swing (const plan_view_t *v, const swing_t *swing,
                       const char *share)
{
    for (int up = 0; up < 2; up++) {
        GL_AUTOFREE char *item
            = xasprintf ("%s %c%s %%", swing->title, up ? '+' : '-', share);
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
                               swings[i].title, up ? '+' : '-', share);
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
    const char **label = xcalloc (count + 1, sizeof (*label));
    mpq_t *value[2] = {xcalloc (count + 1, sizeof (mpq_t)),
                       xcalloc (count + 1, sizeof (mpq_t))};
    const plot_series_t series[] = {{less, (const mpq_t *)value[0], NULL, 0},
                                    {more, (const mpq_t *)value[1], NULL, 2}};

    for (size_t i = 0; i < count; i++) {
        label[i] = swings[i].title;
        for (int up = 0; up < 2; up++)
            chart_value (v, base, &swings[i].side[up], value[up][i]);
    }
    report_plot (
        v->report,
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
    free (value[0]);
    free (value[1]);
    free (label);
}

/* ---- a next GPU ---- */

/* A question of kind generation whose `price` is the pool. */
static bool is_next_of (const plan_view_t *v, const site_analysis_t *question)
{
    return question->kind == ANALYSIS_GENERATION && question->price
           && strcmp (question->price, v->pool->pool->name) == 0;
}

/* NULL: the question has no answer. */
static char *next_name (const plan_view_t *v, const site_analysis_t *question,
                        gl_error_t *error)
{
    analysis_t a;
    mpq_t factor;
    char *name = NULL;

    mpq_init (factor);
    mpq_set_ui (factor, 1, 1);
    if (next_factor (v, question, factor, factor, error)
        && analysis_make (v->site, question, v->pool->cost.at, &a, error)
               == 0) {
        GL_AUTOFREE char *speed = exact_shortest (a.input[INPUT_SPEED].value);
        GL_AUTOFREE char *months = exact_shortest (a.input[INPUT_MONTHS].value);
        name = xasprintf ("next GPU (%s: %s times the speed in %s months)",
                          question->name, speed, months);
        analysis_clear (&a);
    }
    mpq_clear (factor);
    return name;
}

/* What the answer is with the next GPU as it is expected. */
static void note_next (const plan_view_t *v, const site_analysis_t *question,
                       const char *name)
{
    outcome_t with;
    mpq_t one, year;

    mpq_inits (one, year, NULL);
    mpq_set_ui (one, 1, 1);
    outcome_init (&with);
    solve (v, &(change_t){NEXT, question, one}, &with);
    exact_add_scaled (year, with.saving, v->pool->cost.hours, 1);
    mpq_abs (year, year);
    GL_AUTOFREE char *amount = exact_text (year, v->site->currency_digits);
    report_note_pool (v->report, NOTE_INFORMATION, v->pool->pool->name,
                      "with the %s, today's GPUs cost %s %s a year %s than "
                      "renting; without it as the row 'as it is' says.",
                      name, amount, v->site->currency,
                      mpq_sgn (with.saving) < 0 ? "more" : "less");
    outcome_clear (&with);
    mpq_clears (one, year, NULL);
}

static void add_next (const plan_view_t *v, const site_analysis_t *question,
                      swing_t **swings, size_t *count)
{
    gl_error_t error;
    GL_AUTOFREE char *name = next_name (v, question, &error);

    if (!name) {
        report_note_pool (v->report, NOTE_WARNING, v->pool->pool->name,
                          "the next GPU is left out: %s", error.text);
        return;
    }
    *GL_APPEND (*swings, *count)
        = (swing_t){.input = NEXT,
                    .question = question,
                    .title = xasprintf ("speed of the %s", name)};
    *v->has |= HAS_NEXT;
    note_next (v, question, name);
}

/* Those that make a difference, of what the configuration has. */
static void add_swings (const plan_view_t *v, const outcome_t *base)
{
    const site_t *site = v->site;
    swing_t *swings = NULL;
    size_t all = 0, count = 0;
    mpq_t share;

    mpq_init (share);
    take_share (v, share);
    GL_AUTOFREE char *percent = breakeven_percent_text (share);
    for (int i = 0; i < INPUTS; i++)
        *GL_APPEND (swings, all)
            = (swing_t){.input = i, .title = xstrdup (titles[i])};
    for (size_t i = 0; i < site->analysis_count; i++)
        if (is_next_of (v, &site->analyses[i]))
            add_next (v, &site->analyses[i], &swings, &all);
    for (size_t i = 0; i < all; i++)
        swing_make (v, base, &swings[i]);
    qsort (swings, all, sizeof (*swings), by_range);
    while (count < all && mpq_sgn (swings[count].range) != 0)
        count++;
    add_row (v, "as it is", base);
    for (size_t i = 0; i < count; i++)
        add_swing (v, &swings[i], percent);
    note_turns (v, base, swings, count, percent);
    add_chart (v, base, swings, count, percent);
    GL_FREE_EACH (swings, all, it, outcome_clear (&it->side[0]);
                  outcome_clear (&it->side[1]); mpq_clear (it->range);
                  free (it->title));
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
    solve (v, &(change_t){.input = RENT, .factor = one}, &base);
    if (base.works)
        add_swings (v, &base);
    outcome_clear (&base);
    mpq_clear (one);
}
