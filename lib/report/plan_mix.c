/* The section of the plan that says how many GPUs to own and to reserve. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "planning/offers.h"
#include "report/plan_private.h"

/* More points than this are too many for a chart: then some are left out. */
#define CURVE_POINTS 40

/* A provider with what it makes cheapest. */
typedef struct {
    offers_t offers;
    mix_prices_t prices;
    mix_t best;
    mix_t rented; /* nothing owned */
} side_t;

/* A mix as a row of the report. */
typedef struct {
    char *name;
    const side_t *side; /* NULL: of no provider */
    mix_t mix;
} row_t;

typedef struct {
    row_t *row;
    size_t count;
    unsigned has; /* HAS_... */
} rows_t;

typedef struct {
    plan_view_t *v;
    curve_t demand;
    mpq_t owned;     /* an hour of an owned GPU */
    mpq_t available; /* share of the time that it is up */
    mpq_t interruptible;
    mpq_t one;
    mix_prices_t now; /* the GPUs of today, which did the work as they were */
    mix_t today;      /* works: there was a cost, and they are enough */
    side_t *side;
    size_t count;
    size_t best; /* the side that costs least */
} choice_t;

/* ---- numbers ---- */

static void per_year (const choice_t *c, mpq_srcptr per_hour, mpq_t ret_amount)
{
    mpq_t q;

    mpq_init (q);
    exact_add_scaled (q, per_hour, c->v->pool->cost.hours, 1);
    mpq_swap (ret_amount, q);
    mpq_clear (q);
}

void plan_interruptible (const plan_view_t *v, mpq_t ret_share)
{
    const breakeven_t *cost = &v->pool->cost;

    mpq_set (ret_share,
             site_pool_at (v->site, cost->pool, cost->at)->interruptible);
    if (v->asked->interruptible)
        exact_parse_ratio (v->asked->interruptible, ret_share, NULL);
}

static void take_shares (choice_t *c)
{
    const plan_view_t *v = c->v;
    const breakeven_t *cost = &v->pool->cost;

    mpq_set_ui (c->one, 1, 1);
    exact_add_scaled (c->owned, cost->per_gpu_year, 1, cost->hours);
    if (v->asked->downtime)
        exact_parse_ratio (v->asked->downtime, c->available, NULL);
    mpq_sub (c->available, c->one, c->available);
    plan_interruptible (v, c->interruptible);
}

static void make_side (const choice_t *c, const offers_t *offers, side_t *side)
{
    side->offers = *offers;
    side->prices = c->now;
    side->prices.owned = c->owned;
    side->prices.available = c->available;
    offers_prices (offers, &side->prices);
    mix_init (&side->best);
    mix_init (&side->rented);
    mix_best (&c->demand, &side->prices, &side->best);
    mix_owning (&c->demand, &side->prices, 0, &side->rented);
}

static bool cheaper (const mix_t *a, const mix_t *b)
{
    return a->works && (!b->works || mpq_cmp (a->per_hour, b->per_hour) < 0);
}

static void choice_make (choice_t *c, plan_view_t *v)
{
    const plan_pool_t *p = v->pool;
    size_t count;
    offers_t *offers = offers_by_provider (&p->cost, &count);

    *c = (choice_t){.v = v, .count = count};
    mpq_inits (c->owned, c->available, c->interruptible, c->one, NULL);
    mix_init (&c->today);
    curve_init (&c->demand, (const mpq_t *)p->demand, p->hours);
    take_shares (c);
    c->now = (mix_prices_t){.owned = c->owned,
                            .available = c->one,
                            .interruptible = c->interruptible,
                            .step = (uint64_t)p->cost.gpus_per_node};
    mix_at (&c->demand, &c->now, p->cost.gpus, 0, &c->today);
    c->side = xcalloc (count, sizeof (*c->side));
    for (size_t i = 0; i < count; i++) {
        make_side (c, &offers[i], &c->side[i]);
        if (cheaper (&c->side[i].best, &c->side[c->best].best))
            c->best = i;
    }
    free (offers);
}

static void choice_clear (choice_t *c)
{
    GL_FREE_EACH (c->side, c->count, it, mix_clear (&it->best);
                  mix_clear (&it->rented));
    mix_clear (&c->today);
    curve_clear (&c->demand);
    mpq_clears (c->owned, c->available, c->interruptible, c->one, NULL);
}

/* ---- payback ---- */

/* Against renting everything from the same provider; NULL: never. The purchase of
 * what is owned is paid on the first day, so its part of the yearly cost is not. */
static mpq_srcptr payback (const choice_t *c, const side_t *side,
                           const mix_t *mix, values_t *values)
{
    const breakeven_t *cost = &c->v->pool->cost;
    int64_t owned = (int64_t)mix->owned;
    mpq_t q;

    mpq_init (q);
    values_init (values);
    exact_add_scaled (q, cost->purchase, owned, (int64_t)cost->gpus);
    values_set (values, "purchase", q);
    per_year (c, side->rented.per_hour, q);
    values_set (values, "rent_per_year", q);
    per_year (c, mix->per_hour, q);
    for (size_t i = 0; i < cost->part_count; i++)
        if (cost->part[i].kind == COST_HARDWARE)
            exact_add_scaled (q, cost->part[i].per_gpu_year, -owned, 1);
    values_set (values, "per_year", q);
    values_set_i64 (values, "years", 1);
    formula_solve (formula_named ("cash"), values, NULL);
    mpq_clear (q);
    return values_get (values, "payback");
}

/* There is a purchase, and something to compare it with. */
static bool has_payback (const choice_t *c, const side_t *side,
                         const mix_t *mix)
{
    return side && side->rented.works && mix->owned > 0
           && mpq_sgn (c->v->pool->cost.purchase) > 0;
}

/* ---- words ---- */

/* "own 96, reserve 16 at X, rent the rest at Y" */
static char *mix_words (const side_t *side, const mix_t *mix)
{
    static const char *const rents[MIX_KINDS]
        = {[MIX_SPOT] = "rent interruptible work at",
           [MIX_RENTED] = "rent the rest at"};
    bool all = mpq_cmp (mix->per_hour, mix->cost[MIX_RENTED]) == 0;
    BUFFER_AUTO out = BUFFER_INIT;

    if (mix->owned > 0)
        buffer_printf (&out, "own %llu", (unsigned long long)mix->owned);
    if (mix->reserved > 0)
        buffer_printf (&out, "%sreserve %llu at %s", out.length ? ", " : "",
                       (unsigned long long)mix->reserved,
                       side->offers.offer[MIX_RESERVED]->cloud->name);
    for (size_t i = MIX_SPOT; i < MIX_KINDS; i++)
        if (mpq_sgn (mix->work[i]) > 0)
            buffer_printf (&out, "%s%s %s", out.length ? ", " : "",
                           all ? "rent everything at" : rents[i],
                           side->offers.offer[i]->cloud->name);
    return out.length ? buffer_take (&out) : xstrdup ("own none");
}

/* Of the prices that the mix pays, the oldest. */
static const breakeven_cloud_t *oldest_price (const side_t *side,
                                              const mix_t *mix)
{
    const breakeven_cloud_t *oldest = NULL;

    for (size_t i = MIX_RESERVED; side && i < MIX_KINDS; i++) {
        const breakeven_cloud_t *offer = side->offers.offer[i];
        if (mpq_sgn (mix->cost[i]) > 0
            && (!oldest || offer->age_days > oldest->age_days))
            oldest = offer;
    }
    return oldest;
}

/* ---- rows ---- */

static void put_payback (const choice_t *c, const side_t *side,
                         const mix_t *mix)
{
    values_t values;

    if (!has_payback (c, side, mix))
        return;
    *c->v->has |= HAS_PAYBACK;
    plan_put_payback (c->v, payback (c, side, mix, &values));
    values_clear (&values);
}

static void put_work (const choice_t *c, const mix_t *mix)
{
    int64_t hours = (int64_t)c->demand.count;
    mpq_t work, all;

    mpq_inits (work, all, NULL);
    for (size_t i = 0; i < MIX_KINDS; i++) {
        mpq_set_ui (work, 0, 1);
        exact_add_scaled (work, mix->work[i], hours, 1);
        mpq_add (all, all, work);
        plan_put (c->v, PLAN_OWNED_HOURS + i, work);
    }
    plan_put (c->v, PLAN_HOURS, all);
    mpq_clears (work, all, NULL);
}

/* Whether the side has a price to rent at. */
static bool has_offers (const side_t *side)
{
    for (size_t i = MIX_RESERVED; i < MIX_KINDS; i++)
        if (side->offers.offer[i])
            return true;
    return false;
}

/* What it costs in a year, and how that differs from today. */
static void put_costs (const choice_t *c, const mix_t *mix)
{
    mpq_t q;

    mpq_init (q);
    mpq_div (q, mix->per_hour, c->demand.mean);
    plan_put (c->v, PLAN_RATE, q);
    per_year (c, mix->cost[MIX_OWNED], q);
    plan_put (c->v, PLAN_OWN, q);
    if (!has_offers (
            &c->side
                 [c->best])) { /* nothing to compare with is no saving of 0 */
        mpq_clear (q);
        return;
    }
    mpq_sub (q, mix->per_hour, mix->cost[MIX_OWNED]);
    per_year (c, q, q);
    plan_put (c->v, PLAN_RENT, q);
    if (c->today.works) {
        mpq_sub (q, c->today.per_hour, mix->per_hour);
        mpq_div (q, q, c->today.per_hour);
        plan_put (c->v, PLAN_PERCENT, q);
        mpq_sub (q, c->today.per_hour, mix->per_hour);
        per_year (c, q, q);
        plan_put (c->v, PLAN_SAVING, q);
    }
    mpq_clear (q);
}

static void add_row (const choice_t *c, const row_t *row)
{
    const breakeven_cloud_t *price = oldest_price (row->side, &row->mix);
    GL_AUTOFREE char *words = mix_words (row->side, &row->mix);
    GL_AUTOFREE char *item = xasprintf ("%s: %s", row->name, words);

    plan_row (c->v, item);
    report_put_count (c->v->report, PLAN_GPUS, row->mix.owned);
    report_put_count (c->v->report, PLAN_NODES, row->mix.owned / c->now.step);
    if (plan_reserves (c->v))
        report_put_count (c->v->report, PLAN_RESERVED, row->mix.reserved);
    *c->v->has |= row->mix.reserved > 0 ? HAS_RESERVED : 0;
    put_costs (c, &row->mix);
    put_work (c, &row->mix);
    put_payback (c, row->side, &row->mix);
    if (price)
        plan_put_price (c->v, price);
}

/* The same GPUs from the same provider, or nothing but owned ones. */
static bool same_mix (const row_t *row, const side_t *side, const mix_t *mix)
{
    bool rents = mpq_cmp (mix->per_hour, mix->cost[MIX_OWNED]) != 0;

    return row->mix.owned == mix->owned && row->mix.reserved == mix->reserved
           && mpq_equal (row->mix.per_hour, mix->per_hour)
           && (row->side == side || !rents);
}

/* A mix that is there already has the name, too; nothing where something that the mix
 * needs is not on offer. */
static void take_row (rows_t *rows, unsigned has, const char *name,
                      const side_t *side, const mix_t *mix)
{
    row_t *row = GL_FIND (rows->row, rows->count, it, same_mix (it, side, mix));
    char *names;

    if (!mix->works)
        return;
    rows->has |= has;
    if (row) {
        names = xasprintf ("%s, %s", row->name, name);
        free (row->name);
        row->name = names;
        row->side = row->side ? row->side : side;
        return;
    }
    row = GL_APPEND (rows->row, rows->count);
    *row = (row_t){.name = xstrdup (name), .side = side};
    mix_init (&row->mix);
    mix_set (&row->mix, mix);
}

static void take_owning (const choice_t *c, rows_t *rows, unsigned has,
                         const char *name, const side_t *side, uint64_t owned,
                         bool reserves)
{
    mix_t mix;

    mix_init (&mix);
    if (reserves)
        mix_owning (&c->demand, &side->prices, owned, &mix);
    else
        mix_at (&c->demand, &side->prices, owned, 0, &mix);
    take_row (rows, has, name, side, &mix);
    mix_clear (&mix);
}

/* The cheapest, and one node less and one more. */
static void take_cheapest (const choice_t *c, rows_t *rows)
{
    const side_t *side = &c->side[c->best];

    take_row (rows, HAS_CHEAPEST, "cheapest", side, &side->best);
    if (side->best.owned >= c->now.step)
        take_owning (c, rows, HAS_LESS, "one node less", side,
                     side->best.owned - c->now.step, true);
    take_owning (c, rows, HAS_MORE, "one node more", side,
                 side->best.owned + c->now.step, true);
}

static char *with_provider (const char *words, const side_t *side)
{
    return side->offers.provider
               ? xasprintf ("%s from %s", words, side->offers.provider)
               : xstrdup (words);
}

/* Whether there are any. */
static bool add_rows (const choice_t *c)
{
    const side_t *best = &c->side[c->best];
    rows_t rows = {.count = 0};
    bool compared;

    if (has_offers (best))
        take_cheapest (c, &rows);
    for (size_t i = 0; i < c->count; i++) {
        GL_AUTOFREE char *name = with_provider ("cheapest", &c->side[i]);
        if (i != c->best)
            take_row (&rows, HAS_OTHERS, name, &c->side[i], &c->side[i].best);
    }
    take_row (&rows, HAS_TODAY, "today", NULL, &c->today);
    take_owning (c, &rows, HAS_ALL_OWNED, "all owned", best,
                 mix_all_owned (&c->demand, &best->prices), false);
    for (size_t i = 0; i < c->count; i++) {
        GL_AUTOFREE char *name = with_provider ("all rented", &c->side[i]);
        take_row (&rows, HAS_ALL_RENTED, name, &c->side[i], &c->side[i].rented);
    }
    compared = rows.count > 1; /* one row has nothing to be compared with */
    if (compared)
        *c->v->has |= rows.has;
    for (size_t i = 0; compared && i < rows.count; i++)
        add_row (c, &rows.row[i]);
    GL_FREE_EACH (rows.row, rows.count, it, free (it->name);
                  mix_clear (&it->mix));
    return compared;
}

void plan_listed (buffer_t *out, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buffer_printf (out, "%s%s",
                       i == 0          ? ""
                       : i + 1 < count ? ", "
                                       : " and ",
                       words[i]);
}

void plan_mix_help (buffer_t *out, unsigned has)
{
    static const struct {
        unsigned has;
        const char *words;
    } rows[]
        = {{HAS_LESS, "one node less"},     {HAS_MORE, "one node more"},
           {HAS_OTHERS, "other providers"}, {HAS_TODAY, "today's GPUs"},
           {HAS_ALL_OWNED, "all owned"},    {HAS_ALL_RENTED, "all rented"}};
    const char *words[GL_ARRAY_SIZE (rows)];
    size_t count = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++)
        if (has & rows[i].has)
            words[count++] = rows[i].words;
    if (has & HAS_CHEAPEST)
        buffer_printf (out,
                       "The mix of owned%s and rented GPUs that costs the "
                       "least for the measured demand of each hour, next to ",
                       has & HAS_RESERVED ? ", reserved" : "");
    else
        buffer_add_text (out, "What the measured demand of each hour costs: ");
    plan_listed (out, words, count);
    buffer_printf (out,
                   ". Every row does the same work (GPU hours). %s. Per GPU "
                   "hour is the full cost of an hour of a GPU at work, its "
                   "hardware included.",
                   has & HAS_RESERVED
                       ? "Owned and reserved GPUs are paid at all hours; owned "
                         "ones come in full nodes"
                       : "Owned GPUs are paid at all hours and come in full "
                         "nodes");
    if (has & HAS_PAYBACK)
        buffer_add_text (out, " Months are those until the purchase is paid "
                              "back against renting everything from the same "
                              "provider.");
}

/* ---- the verdict ---- */

/* ", 12.0 % less than today's 2.18 (own 128)" */
static char *against_today (const choice_t *c, const mix_t *mix)
{
    char *text;
    mpq_t q;

    if (!c->today.works)
        return xstrdup ("");
    mpq_init (q);
    mpq_div (q, c->today.per_hour, c->demand.mean);
    GL_AUTOFREE char *today = exact_text (q, 2);
    mpq_sub (q, c->today.per_hour, mix->per_hour);
    mpq_div (q, q, c->today.per_hour);
    GL_AUTOFREE char *percent = breakeven_percent_text (q);
    mpq_sub (q, c->today.per_hour, mix->per_hour);
    per_year (c, q, q);
    GL_AUTOFREE char *year = exact_text (q, c->v->site->currency_digits);
    text = mpq_sgn (q) == 0
               ? xstrdup (", as much as today")
               : xasprintf (
                   ", %s %% less than today's %s (own %llu): %s %s a year",
                   percent, today, (unsigned long long)c->today.owned, year,
                   c->v->site->currency);
    mpq_clear (q);
    return text;
}

static char *payback_sentence (const choice_t *c, const side_t *side,
                               const mix_t *mix)
{
    values_t values;
    char *text;
    mpq_srcptr life = c->v->pool->cost.life_months;
    bool late;

    if (!has_payback (c, side, mix))
        return xstrdup ("");
    mpq_srcptr months = payback (c, side, mix, &values);
    GL_AUTOFREE char *words = plan_payback_words (months, life);
    late = plan_outlives (months, life) && cheaper (mix, &side->rented);
    text = xasprintf (
        " Against renting everything, the purchase %s.%s", words,
        late ? " The cost of an hour is lower all the same: it counts what is "
               "written off, less salvage, and payback the full purchase."
             : "");
    values_clear (&values);
    return text;
}

/* The cheapest mix of at most today's GPUs, at their costs that can be avoided. */
static const side_t *without_sunk (const choice_t *c, mix_t *ret_mix)
{
    const breakeven_t *cost = &c->v->pool->cost;
    const side_t *best = NULL;
    mpq_t hour, sunk;
    mix_t mix;

    mix_init (&mix);
    mpq_inits (hour, sunk, NULL);
    plan_sunk (cost, sunk);
    mpq_sub (sunk, cost->per_gpu_year, sunk);
    exact_add_scaled (hour, sunk, 1, cost->hours);
    for (size_t i = 0; i < c->count; i++) {
        mix_prices_t prices = c->side[i].prices;
        prices.owned = hour;
        mix_best (&c->demand, &prices, &mix);
        if (mix.owned > cost->gpus)
            mix_owning (&c->demand, &prices, cost->gpus, &mix);
        if (mix.works && (!best || cheaper (&mix, ret_mix))) {
            best = &c->side[i];
            mix_set (ret_mix, &mix);
        }
    }
    mix_clear (&mix);
    mpq_clears (hour, sunk, NULL);
    return best;
}

/* What one hour of today's GPUs costs without their hardware. */
static void avoidable_hour (const choice_t *c, mpq_t ret_hour)
{
    const breakeven_t *cost = &c->v->pool->cost;
    mpq_t sunk;

    mpq_init (sunk);
    plan_sunk (cost, sunk);
    mpq_sub (sunk, cost->per_gpu_year, sunk);
    mpq_set_ui (ret_hour, 0, 1);
    exact_add_scaled (ret_hour, sunk, (int64_t)cost->gpus, cost->hours);
    mpq_clear (sunk);
}

/* Of the mixes that own nothing the cheapest; NULL: none works. */
static const side_t *cheapest_rent (const choice_t *c)
{
    const side_t *best = NULL;

    for (size_t i = 0; i < c->count; i++)
        if (!best ? c->side[i].rented.works
                  : cheaper (&c->side[i].rented, &best->rented))
            best = &c->side[i];
    return best;
}

static char *year_words (const choice_t *c, mpq_srcptr per_hour)
{
    char *text;
    mpq_t q;

    mpq_init (q);
    per_year (c, per_hour, q);
    GL_AUTOFREE char *amount = exact_text (q, c->v->site->currency_digits);
    text = xasprintf ("%s %s", amount, c->v->site->currency);
    mpq_clear (q);
    return text;
}

/* Nothing costs less than today's GPUs, which did the work, without their hardware. */
static bool keeps_all (const choice_t *c, const mix_t *now)
{
    bool keeps;
    mpq_t hour;

    mpq_init (hour);
    avoidable_hour (c, hour);
    keeps = c->today.works && mpq_cmp (hour, now->per_hour) <= 0;
    mpq_clear (hour);
    return keeps;
}

/* "Keep 8 of 16 GPUs, rent the rest at X." */
static char *action_words (const choice_t *c, const side_t *side,
                           const mix_t *now)
{
    GL_AUTOFREE char *words = mix_words (side, now);
    const char *others = strchr (words, ',');

    if (keeps_all (c, now))
        return xstrdup ("Buy nothing.");
    if (now->owned == 0)
        return xasprintf ("Give the pool up: %s.", words);
    return xasprintf (
        "Keep %llu of %llu GPUs%s.", (unsigned long long)now->owned,
        (unsigned long long)c->v->pool->cost.gpus, others ? others : "");
}

/* "This saves up to 100.00 USD a year", of what ends in an hour with staff, for the verdict, too;
 * where staff stay that may be a loss. */
static char *saved_words (const choice_t *c, const mix_t *now,
                          mpq_srcptr per_hour)
{
    plan_verdict_t *verdict = &c->v->pool->verdict;
    const int digits = c->v->site->currency_digits;
    const char *currency = c->v->site->currency;
    mpq_t year, staff;
    char *text;

    mpq_inits (year, staff, NULL);
    per_year (c, per_hour, year);
    plan_staff (&c->v->pool->cost, c->v->pool->cost.gpus - now->owned, staff);
    if (mpq_sgn (staff) > 0)
        verdict->most = exact_text (year, digits);
    mpq_sub (year, year, staff);
    verdict->least = exact_text (year, digits);
    mpq_abs (staff, year);
    GL_AUTOFREE char *amount = exact_text (staff, digits);
    if (!verdict->most)
        text = xasprintf ("This saves %s %s a year", amount, currency);
    else if (mpq_sgn (year) < 0)
        text = xasprintf ("With staff this saves up to %s %s a year; while the "
                          "site pays as much for staff it costs %s %s more",
                          verdict->most, currency, amount, currency);
    else
        text = xasprintf ("This saves %s %s a year, with staff up to %s",
                          amount, currency, verdict->most);
    mpq_clears (year, staff, NULL);
    return text;
}

/* What the action saves in a year of what can still be saved. */
static char *saving_sentence (const choice_t *c, const mix_t *now)
{
    const side_t *rent = cheapest_rent (c);
    char *text = NULL;
    mpq_t hour;

    mpq_init (hour);
    avoidable_hour (c, hour);
    if (keeps_all (c, now) && rent) {
        mpq_sub (hour, rent->rented.per_hour, hour);
        GL_AUTOFREE char *more = year_words (c, hour);
        text = xasprintf ("Keep the %llu GPUs: renting for the same work costs "
                          "%s a year more than giving them up saves.",
                          (unsigned long long)c->today.owned, more);
    } else if (c->today.works && !keeps_all (c, now)) {
        mpq_sub (hour, hour, now->per_hour);
        GL_AUTOFREE char *saved = saved_words (c, now, hour);
        text = xasprintf ("%s: what ends with the GPUs that are given up, less "
                          "the rent.",
                          saved);
    }
    mpq_clear (hour);
    return text ? text : xstrdup ("No other way costs less.");
}

/* What is cheapest once hardware is bought anew. */
static char *purchase_sentence (const choice_t *c, const side_t *side,
                                const mix_t *mix)
{
    GL_AUTOFREE char *words = mix_words (side, mix);
    GL_AUTOFREE char *compared = against_today (c, mix);
    GL_AUTOFREE char *paid = payback_sentence (c, side, mix);
    char *text;
    mpq_t q;

    mpq_init (q);
    mpq_div (q, mix->per_hour, c->demand.mean);
    GL_AUTOFREE char *rate = exact_text (q, 2);
    text = xasprintf ("For the next purchase: %s%s, %s %s a GPU hour at full "
                      "cost%s.%s",
                      words, mix == &c->today ? " as today" : "", rate,
                      c->v->site->currency, mix == &c->today ? "" : compared,
                      paid);
    mpq_clear (q);
    return text;
}

/* What to do with the GPUs that are bought, then what to buy next. */
static void say_verdict (const choice_t *c, const side_t *side,
                         const mix_t *mix)
{
    uint64_t gpus = c->v->pool->cost.gpus;
    GL_AUTOFREE char *next = purchase_sentence (c, side, mix);
    const side_t *now_side;
    mix_t now;

    mix_init (&now);
    now_side = without_sunk (c, &now);
    if (now_side) {
        GL_AUTOFREE char *action = action_words (c, now_side, &now);
        GL_AUTOFREE char *saving = saving_sentence (c, &now);
        GL_AUTOFREE char *others
            = keeps_all (c, &now) ? xstrdup ("") : plan_paid_by_others (c->v);
        GL_AUTOFREE char *why = xasprintf ("%s%s %s", saving, others, next);
        plan_verdict_say (c->v, action, why,
                          keeps_all (c, &now) ? gpus : now.owned);
        plan_verdict_needs (&c->v->pool->verdict, others, "");
    } else
        plan_verdict_say (c->v, "Buy nothing yet.", next, gpus);
    mix_clear (&now);
}

/* ---- the curve and the work ---- */

static void plot_curve (const choice_t *c, const char *const *label,
                        mpq_t *amount, size_t count)
{
    GL_AUTOFREE char *title
        = xasprintf ("What %s costs a year, by the GPUs that are owned",
                     c->v->pool->pool->name);
    GL_AUTOFREE char *description = xasprintf (
        "The cost of a year if so many GPUs are owned and the others are "
        "reserved or rented as is cheapest: the least with %llu.",
        (unsigned long long)c->side[c->best].best.owned);
    const plot_series_t series
        = {"Cost of all work", (const mpq_t *)amount, NULL, 0};

    report_plot (c->v->report, &(plot_t){.kind = CHART_LINES,
                                         .title = title,
                                         .description = description,
                                         .type = COLUMN_MONEY,
                                         .digits = c->v->site->currency_digits,
                                         .unit = c->v->site->currency,
                                         .point = label,
                                         .point_count = count,
                                         .series = &series,
                                         .series_count = 1});
}

/* The amount in the currency's smallest units. */
static void curve_amount (const choice_t *c, const mix_t *mix, mpq_t ret_units)
{
    mpz_t units;

    mpz_init (units);
    per_year (c, mix->per_hour, ret_units);
    exact_round (units, ret_units, c->v->site->currency_digits);
    mpq_set_z (ret_units, units);
    mpz_clear (units);
}

static void add_curve (const choice_t *c)
{
    const side_t *side = &c->side[c->best];
    uint64_t nodes
        = mix_all_owned (&c->demand, &side->prices) / c->now.step + 1;
    uint64_t apart = nodes / CURVE_POINTS + 1;
    char **label = NULL;
    mpq_t *amount = xcalloc (nodes + 1, sizeof (*amount));
    size_t count = 0;
    mix_t mix;

    mix_init (&mix);
    for (uint64_t i = 0; i <= nodes; i += apart) {
        mix_owning (&c->demand, &side->prices, i * c->now.step, &mix);
        if (!mix.works)
            continue;
        mpq_init (amount[count]);
        curve_amount (c, &mix, amount[count]);
        *GL_APPEND (label, count)
            = xasprintf ("%llu", (unsigned long long)mix.owned);
    }
    plot_curve (c, (const char *const *)label, amount, count);
    mix_clear (&mix);
    GL_FREE_EACH (label, count, it, free (*it));
    GL_FREE_EACH (amount, count, it, mpq_clear (*it));
}

static void prove_line (const choice_t *c, report_proof_t *proof,
                        const char *name, const mix_t *mix)
{
    mpq_t sum;

    if (!mix->works)
        return;
    mpq_init (sum);
    for (size_t i = 0; i < MIX_KINDS; i++)
        exact_add_scaled (sum, mix->work[i], (int64_t)c->demand.count, 1);
    GL_AUTOFREE char *text = exact_text (sum, 2);
    report_proof_line (proof, name, text);
    exact_add_scaled (sum, c->demand.sum[c->demand.count], -1, 1);
    proof->holds = proof->holds && mpq_sgn (sum) == 0;
    mpq_clear (sum);
}

static void prove_work (const choice_t *c)
{
    GL_AUTOFREE char *title = xasprintf (
        "Pool %s: every mix does the same work, in GPU hours of the period",
        c->v->pool->pool->name);
    GL_AUTOFREE char *used = exact_text (c->demand.sum[c->demand.count], 2);
    report_proof_t *proof = report_proof (c->v->report, title);

    proof->holds = true;
    report_proof_line (proof, "measured", used);
    prove_line (c, proof,
                has_offers (&c->side[c->best]) ? "cheapest" : "all owned",
                &c->side[c->best].best);
    prove_line (c, proof, "today", &c->today);
    prove_line (c, proof, "all rented", &c->side[c->best].rented);
}

/* ---- a pool ---- */

static void note_shares (const choice_t *c)
{
    mpq_t down;

    mpq_init (down);
    mpq_sub (down, c->one, c->available);
    if (mpq_sgn (down) == 0 && mpq_sgn (c->interruptible) == 0) {
        mpq_clear (down);
        return;
    }
    GL_AUTOFREE char *downtime = breakeven_percent_text (down);
    GL_AUTOFREE char *may = breakeven_percent_text (c->interruptible);
    report_note_pool (
        c->v->report, NOTE_INFORMATION, c->v->pool->pool->name,
        "the mix plans with owned GPUs that are down %s %% of the time, and "
        "%s %% of the work may be interrupted.",
        downtime, may);
    mpq_clear (down);
}

/* GPUs have gone since the period, or are of no known weight. */
static void note_today (const choice_t *c)
{
    if (c->today.works)
        return;
    GL_AUTOFREE char *most = exact_text (c->demand.gpus[0], 1);
    report_note (c->v->report, NOTE_WARNING,
                 "Pool %s: up to %s GPUs were in use, and today there are "
                 "%llu: the mix cannot be compared with today.",
                 c->v->pool->pool->name, most,
                 (unsigned long long)c->today.owned);
}

/* Today's GPUs were down for some of the time and did the work all the same; with
 * another downtime than theirs, no mix may be as cheap. */
static void add_choice (choice_t *c)
{
    const side_t *side = &c->side[c->best];
    bool keep = cheaper (&c->today, &side->best);

    if (has_offers (side))
        say_verdict (c, keep ? NULL : side, keep ? &c->today : &side->best);
    else
        plan_verdict_alone (c->v, c->today.works, side->best.owned);
    note_today (c);
    if (add_rows (c))
        prove_work (c);
    if (has_offers (side))
        add_curve (c);
    note_shares (c);
}

void plan_mix (plan_view_t *v)
{
    choice_t choice;

    if (!v->pool->has_cost || v->pool->hours == 0 || !v->used)
        return;
    if (!v->measured) {
        plan_verdict_unused (v);
        return;
    }
    choice_make (&choice, v);
    add_choice (&choice);
    choice_clear (&choice);
}
