#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "planning/curve.h"
#include "report/plan_private.h"

/* Spare share of the time that is planned for; usual are 5 to 10 %. */
#define SPARE "10%"
/* A pool that is used less is a reason to look again at how much is owned. */
#define LOOK_AGAIN "50%"
/* Full months from which on a trend is drawn; how far ahead one has to order.
 */
#define TREND_MONTHS 6
static const uint32_t lead_months[] = {12, 18};
/* With a chosen growth. */
#define GROWTH_YEARS 3
/* Of the cumulative cash. */
static const int cash_years[] = {1, 3, 5};

static const column_info_t columns[] = {
    {"analysis", "Analysis", COLUMN_TEXT, true, true,
     "mix, options, sensitivity, egress, use, breakeven, cash, capacity."},
    {"pool", "Pool", COLUMN_TEXT, true, false, ""},
    {"item", "Item", COLUMN_TEXT, true, false, ""},
    {"percent", "%", COLUMN_PERCENT, false, false,
     "A share of the time; for a price, the break-even; for a mix, how much "
     "less it costs than today's GPUs."},
    {"measured_pct", "Measured %", COLUMN_PERCENT, false, false,
     "The allocated share of the capacity."},
    {"per_gpu_hour", "Per GPU hour", COLUMN_RATE, false, false,
     "A price; for a mix, the cost of an hour of a GPU at work."},
    {"gpus_needed", "GPUs needed", COLUMN_RATE, false, false,
     "Demand / (24 x target x (1 - downtime)), before spares and rounding."},
    {"gpus_with_spares", "With spares", COLUMN_RATE, false, false,
     "The same x (1 + spares)."},
    {"gpus", "GPUs", COLUMN_COUNT, false, false,
     "GPUs that are owned, in use or planned, as the row says."},
    {"nodes", "Nodes", COLUMN_COUNT, false, false,
     "Full nodes that have so many GPUs."},
    {"reserved_gpus", "Reserved", COLUMN_COUNT, false, false,
     "GPUs that are rented for a term, and paid at all hours."},
    {"gpu_hours_per_day", "GPU hours a day", COLUMN_HOURS, false, false, ""},
    {"owned_hours", "Owned, GPU hours", COLUMN_HOURS, false, true,
     "Work of the period that owned GPUs do."},
    {"reserved_hours", "Reserved, GPU hours", COLUMN_HOURS, false, true,
     "Work of the period that reserved GPUs do."},
    {"spot_hours", "Spot, GPU hours", COLUMN_HOURS, false, true,
     "Work of the period that interruptible GPUs do."},
    {"on_demand_hours", "On demand, GPU hours", COLUMN_HOURS, false, true,
     "Work of the period that GPUs rented by the hour do."},
    {"gpu_hours", "Work of the period, GPU hours", COLUMN_HOURS, false, false,
     "All work of the period, not of a year: the same in every row."},
    {"months", "Months", COLUMN_RATE, false, false,
     "From the purchase on; for a mix, until it is paid back against renting "
     "everything."},
    {"life_months", "Life, months", COLUMN_RATE, false, false,
     "Of the hardware, weighted by its price."},
    {"paid_back", "Paid back", COLUMN_TEXT, false, false,
     "Whether the purchase is paid back: yes, never, or never within the life "
     "of the hardware."},
    {"own", "Owning", COLUMN_MONEY, false, false,
     "What the owned GPUs cost in a year; in cumulative cash, until then."},
    {"rent", "Renting", COLUMN_MONEY, false, false,
     "What the rented GPUs cost in a year; in cumulative cash, until then."},
    {"saving", "Saving", COLUMN_MONEY, false, false,
     "Renting less owning; for a mix, the cost of today's GPUs less that of "
     "the mix. In a year; in cumulative cash, until then."},
    {"depends_on", "What it depends on", COLUMN_WORDS, false, false, ""},
    {"as_of", "Price of", COLUMN_DATE, false, false,
     "When the price was read; of several, the oldest."},
    {"age_days", "Age, days", COLUMN_COUNT, false, false,
     "The age of the price at the end of the facts."},
    {"source", "Source", COLUMN_TEXT, false, true, "Where the price was read."},
};

void plan_row (const plan_view_t *v, const char *item)
{
    report_row (v->report);
    report_put_text (v->report, PLAN_ANALYSIS, v->analysis);
    report_put_text (v->report, PLAN_POOL, v->pool->pool->name);
    report_put_text (v->report, PLAN_ITEM, item);
}

void plan_put (const plan_view_t *v, size_t at, mpq_srcptr number)
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
                          : at == PLAN_RATE      ? 4
                                                 : 2);
    mpq_clear (q);
}

static void put_value (const plan_view_t *v, size_t at, const char *name)
{
    plan_put (v, at, values_get (&v->values, name));
}

void plan_put_price (const plan_view_t *v, const breakeven_cloud_t *cloud)
{
    report_put_text (v->report, PLAN_AS_OF, cloud->cloud->as_of);
    if (cloud->age_days != BREAKEVEN_NO_AGE)
        report_put_count (v->report, PLAN_AGE, (uint64_t)cloud->age_days);
    report_put_text (v->report, PLAN_SOURCE, cloud->cloud->source);
}

/* ---- use ---- */

static void take_values (plan_view_t *v)
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

static bool below (mpq_srcptr value, const char *share)
{
    mpq_t q;
    bool less;

    mpq_init (q);
    exact_parse_ratio (share, q, NULL);
    less = mpq_cmp (value, q) < 0;
    mpq_clear (q);
    return less;
}

bool plan_little_used (const plan_view_t *v)
{
    return v->used && below (v->used, LOOK_AGAIN);
}

/* Below half, owning so much is questioned before anything is bought. Where the cost is
 * known, the verdict says what to do. */
static void note_band (const plan_view_t *v)
{
    mpq_srcptr effective = values_get (&v->values, "effective");
    bool unused = plan_little_used (v);

    if (unused ? v->pool->has_cost
               : !effective || !below (effective, LOOK_AGAIN))
        return;
    report_note_pool (v->report, NOTE_INFORMATION, v->pool->pool->name,
                      unused ? "jobs had less than half of the capacity: look "
                               "again at how much to own before you buy."
                             : "by activity less than half of the capacity was "
                               "used: look at which jobs left GPUs idle before "
                               "you buy.");
    if (!unused)
        report_note_pool (v->report, NOTE_COMMAND, v->pool->pool->name,
                          "'gpuledger report rightsize' and 'gpuledger report "
                          "waste' list jobs that left GPUs idle.");
}

/* Free capacity that nobody knows to have been up is not counted as down. */
static void note_unknown (const plan_view_t *v)
{
    const capacity_sum_t *c = &v->pool->capacity;

    if (mpq_sgn (c->unknown) <= 0)
        return;
    GL_AUTOFREE char *percent = report_percent_text (c->unknown, c->capacity);
    report_note_pool (v->report, NOTE_WARNING, v->pool->pool->name,
                      "no source says of %s %% of the capacity whether it was "
                      "up. It is counted neither as idle nor as down: both may "
                      "be more.",
                      percent);
    report_note_pool (v->report, NOTE_COMMAND, v->pool->pool->name,
                      "'gpuledger sync' reads the downtime of nodes from "
                      "slurmdbd; --downtime sets it where no source knows it.");
}

static void add_share_of (const plan_view_t *v, const char *item,
                          mpq_srcptr seconds)
{
    mpq_t q;

    if (mpq_sgn (seconds) == 0)
        return;
    mpq_init (q);
    mpq_div (q, seconds, v->pool->capacity.capacity);
    plan_row (v, item);
    plan_put (v, PLAN_PERCENT, q);
    mpq_clear (q);
}

/* With these the shares of the capacity add up. */
static void add_rest (const plan_view_t *v)
{
    const capacity_sum_t *c = &v->pool->capacity;

    add_share_of (v, "reserved, not used", c->reserved_unused);
    add_share_of (v, "idle", c->idle);
    add_share_of (v, "unknown: no source says whether it was up", c->unknown);
}

static void add_use (plan_view_t *v)
{
    const plan_pool_t *p = v->pool;

    if (mpq_sgn (p->capacity.capacity) == 0)
        report_note_pool (v->report, NOTE_WARNING, p->pool->name,
                          "the capacity in the period is unknown.");
    for (size_t i = 0; i < v->made_count; i++) {
        mpq_srcptr value = values_get (&v->values, v->made[i]->id);
        bool unused = strcmp (v->made[i]->id, "unused") == 0;
        bool unknown = unused && mpq_sgn (p->capacity.unknown) > 0;
        GL_AUTOFREE char *title = xasprintf (
            "%s%s", v->made[i]->title, unknown ? ", as far as known" : "");
        if (!value)
            continue;
        plan_row (v, title);
        plan_put (v, PLAN_PERCENT, value);
        if (unused)
            add_rest (v);
    }
    if (!p->weights_known)
        report_note_pool (v->report, NOTE_WARNING, p->pool->name,
                          "some devices have no known weight; their time is "
                          "not in these figures.");
    note_unknown (v);
    note_band (v);
}

/* ---- cash ---- */

/* All but the hardware, of all GPUs; and what is rented instead: the hours that
 * jobs held, or around the clock. */
static void yearly (plan_view_t *v)
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
static void note_rent (plan_view_t *v)
{
    const breakeven_cloud_t *cloud = v->pool->cloud;

    *v->has |= cloud->committed ? HAS_TERM : 0;
    if (cloud->committed)
        report_note (
            v->report, NOTE_INFORMATION,
            "Pool %s: %s has a term (%s): owning is compared with %llu "
            "GPUs that are paid around the clock, used or not.",
            v->pool->pool->name, cloud->cloud->name, cloud->cloud->term,
            (unsigned long long)v->pool->cost.gpus);
}

bool plan_outlives (mpq_srcptr months, mpq_srcptr life)
{
    return mpq_sgn (life) > 0 && mpq_cmp (months, life) > 0;
}

char *plan_payback_words (mpq_srcptr months, mpq_srcptr life)
{
    GL_AUTOFREE char *taken = months ? exact_text (months, 1) : NULL;
    GL_AUTOFREE char *lasts = exact_text (life, 0);
    bool known = mpq_sgn (life) > 0;

    if (!months)
        return xstrdup ("is never paid back");
    if (plan_outlives (months, life))
        return xasprintf ("is never paid back within its life of %s months: "
                          "that takes %s months",
                          lasts, taken);
    return known ? xasprintf ("is paid back in %s months of its life of %s",
                              taken, lasts)
                 : xasprintf ("is paid back in %s months", taken);
}

/* Later than the end of its life is never: the hardware is gone by then. */
void plan_put_payback (const plan_view_t *v, mpq_srcptr months)
{
    mpq_srcptr life = v->pool->cost.life_months;

    plan_put (v, PLAN_MONTHS, months);
    plan_put (v, PLAN_LIFE, mpq_sgn (life) > 0 ? life : NULL);
    report_put_text (v->report, PLAN_PAID_BACK,
                     !months                        ? "never"
                     : plan_outlives (months, life) ? "never within its life"
                                                    : "yes");
}

static void add_payback (plan_view_t *v)
{
    mpq_srcptr months = values_get (&v->values, "payback");
    mpq_srcptr life = v->pool->cost.life_months;
    GL_AUTOFREE char *words = plan_payback_words (months, life);

    plan_row (v, "paid back");
    plan_put_payback (v, months);
    if (!months || plan_outlives (months, life))
        report_note_pool (v->report, NOTE_INFORMATION, v->pool->pool->name,
                          "against %s at the measured use the purchase %s.",
                          v->pool->cloud->cloud->name, words);
}

static void add_cash (plan_view_t *v)
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
        plan_row (v, item);
        put_value (v, PLAN_OWN, "owned");
        put_value (v, PLAN_RENT, "rented");
        put_value (v, PLAN_SAVING, "saving");
        plan_put_price (v, p->cloud);
    }
}

/* ---- capacity ---- */

void plan_shares (const plan_query_t *asked, const site_t *site,
                  mpq_srcptr down, mpq_t ret_down, mpq_t ret_spares,
                  mpq_t ret_target)
{
    mpq_set (ret_down, down);
    if (asked->downtime)
        exact_parse_ratio (asked->downtime, ret_down, NULL);
    exact_parse_ratio (asked->spares ? asked->spares : SPARE, ret_spares, NULL);
    mpq_set (ret_target, site->policy.utilization);
    if (asked->target)
        exact_parse_ratio (asked->target, ret_target, NULL);
}

static void take_target (const plan_view_t *v, values_t *need)
{
    mpq_t none, down, spares, target;

    mpq_inits (none, down, spares, target, NULL);
    plan_shares (v->asked, v->site,
                 v->used ? values_get (&v->values, "unused") : none, down,
                 spares, target);
    values_set (need, "downtime", down);
    values_set (need, "utilization", target);
    values_set (need, "spares", spares);
    mpq_clears (none, down, spares, target, NULL);
}

/* Why more GPUs are needed than there are, which did the work all the same. */
static void note_need (const plan_view_t *v, const values_t *need)
{
    mpq_srcptr gpus = values_get (need, "gpus");

    if (!gpus || mpq_cmp_ui (gpus, v->pool->cost.gpus, 1) <= 0)
        return;
    GL_AUTOFREE char *needed = exact_text (gpus, 0);
    GL_AUTOFREE char *target
        = breakeven_percent_text (values_get (need, "utilization"));
    GL_AUTOFREE char *spare
        = breakeven_percent_text (values_get (need, "spares"));
    GL_AUTOFREE char *down
        = breakeven_percent_text (values_get (need, "downtime"));
    report_note_pool (
        v->report, NOTE_INFORMATION, v->pool->pool->name,
        "%llu GPUs did this work. Planned with %s %% utilization, "
        "%s %% spares and %s %% downtime, it takes %s: the pool "
        "has less reserve than planned. The report of demand says "
        "whether jobs waited.",
        (unsigned long long)v->pool->cost.gpus, target, spare, down, needed);
}

void plan_need (const plan_view_t *v, mpq_srcptr per_day, values_t *ret_need)
{
    values_init (ret_need);
    take_target (v, ret_need);
    values_set (ret_need, "gpu_hours_per_day", per_day);
    values_set_i64 (ret_need, "gpus_per_node", v->pool->pool->gpus_per_node);
    formula_solve (formula_named ("capacity"), ret_need, NULL);
}

void plan_per_day (const plan_view_t *v, mpq_t ret_per_day)
{
    mpq_set_ui (ret_per_day, 0, 1);
    exact_add_scaled (ret_per_day, v->pool->allocated, 24,
                      (int64_t)v->pool->hours * 3600);
}

/* By the formula, which is a multiple of the demand. */
static void take_planned (const plan_view_t *v)
{
    mpq_t one;
    values_t need;

    mpq_init (one);
    mpq_set_ui (one, 1, 1);
    plan_need (v, one, &need);
    mpq_srcptr gpus = values_get (&need, "exact_spare");
    if (gpus)
        mpq_set (v->pool->planned, gpus);
    values_clear (&need);
    mpq_clear (one);
}

static void take_off (const plan_view_t *v)
{
    mpq_t saved;

    mpq_init (saved);
    mpq_set_ui (v->pool->off, 0, 1);
    if (v->pool->has_cost && v->measured && plan_switched_off (v, saved))
        exact_add_scaled (v->pool->off, saved, (int64_t)v->pool->cost.gpus, 1);
    mpq_clear (saved);
}

uint64_t plan_planned (const plan_pool_t *pool, const plan_pool_t *more)
{
    uint64_t gpus;
    int64_t seconds = (int64_t)pool->hours * 3600;
    mpq_t day;

    mpq_init (day);
    exact_add_scaled (day, pool->allocated, 24, seconds);
    if (more)
        exact_add_scaled (day, more->allocated, 24, seconds);
    mpq_mul (day, day, pool->planned);
    gpus = plan_whole_gpus (day);
    mpq_clear (day);
    return gpus;
}

bool plan_reserves (const plan_view_t *v)
{
    const breakeven_t *cost = &v->pool->cost;

    return GL_ANY (cost->cloud, cost->cloud_count, it,
                   it->committed && !it->old);
}

static void add_need (plan_view_t *v, const char *item, mpq_srcptr per_day,
                      bool now)
{
    values_t need;

    plan_need (v, per_day, &need);
    plan_row (v, item);
    plan_put (v, PLAN_DEMAND, per_day);
    plan_put (v, PLAN_NEEDED, values_get (&need, "exact"));
    plan_put (v, PLAN_WITH_SPARES, values_get (&need, "exact_spare"));
    plan_put (v, PLAN_GPUS, values_get (&need, "gpus"));
    plan_put (v, PLAN_NODES, values_get (&need, "nodes"));
    if (now)
        note_need (v, &need);
    values_clear (&need);
}

char *plan_ahead_text (const plan_pool_t *pool)
{
    return pool->months < TREND_MONTHS
               ? xasprintf (" What will be needed in %u or %u months is not "
                            "known: a trend "
                            "takes %d full months.",
                            (unsigned)lead_months[0], (unsigned)lead_months[1],
                            TREND_MONTHS)
               : xasprintf (
                   " What will be needed in %u or %u months by their trend is "
                   "under Capacity.",
                   (unsigned)lead_months[0], (unsigned)lead_months[1]);
}

static void add_trend (plan_view_t *v)
{
    const plan_pool_t *p = v->pool;
    mpq_t demand;

    if (p->months < TREND_MONTHS) {
        report_note_pool (v->report, NOTE_INFORMATION, p->pool->name,
                          "the demand in 12 and 18 months is not computed: a "
                          "trend needs %d full months or more, and the period "
                          "has %zu.",
                          TREND_MONTHS, p->months);
        return;
    }
    mpq_init (demand);
    for (size_t i = 0; i < GL_ARRAY_SIZE (lead_months); i++) {
        GL_AUTOFREE char *item = xasprintf ("in %u months, if the trend "
                                            "continues",
                                            (unsigned)lead_months[i]);
        curve_trend (demand, (const mpq_t *)p->month, p->months,
                     lead_months[i]);
        if (mpq_sgn (demand) < 0)
            mpq_set_ui (demand, 0, 1);
        add_need (v, item, demand, false);
    }
    mpq_clear (demand);
}

/* By a rate that was chosen: the demand of the period, a year or more from it. */
static void add_growth (plan_view_t *v, mpq_srcptr per_day)
{
    mpq_t rate, demand;

    if (!v->asked->growth)
        return;
    mpq_inits (rate, demand, NULL);
    exact_parse_ratio (v->asked->growth, rate, NULL);
    GL_AUTOFREE char *percent = breakeven_percent_text (rate);
    mpq_set (demand, per_day);
    for (int year = 1; year <= GROWTH_YEARS; year++) {
        GL_AUTOFREE char *item = xasprintf (
            "in %d months, with %s %% growth a year", 12 * year, percent);
        mpq_t more;
        mpq_init (more);
        mpq_mul (more, demand, rate);
        mpq_add (demand, demand, more);
        mpq_clear (more);
        add_need (v, item, demand, false);
    }
    mpq_clears (rate, demand, NULL);
}

static void add_gpus (const plan_view_t *v, const char *item, uint64_t gpus)
{
    uint64_t step = (uint64_t)v->pool->pool->gpus_per_node;

    plan_row (v, item);
    report_put_count (v->report, PLAN_GPUS, gpus);
    report_put_count (v->report, PLAN_NODES, (gpus + step - 1) / step);
}

/* The GPUs of the rows and what the verdict makes of them, in a sentence each. */
static void answer_capacity (const plan_view_t *v, const plan_pool_t *pools,
                             size_t count)
{
    BUFFER_AUTO out = BUFFER_INIT;

    for (size_t i = 0; i < count; i++) {
        const plan_pool_t *p = &pools[i];
        if (!p->asked || !p->verdict.action || p->hours == 0)
            continue;
        unsigned long long used = plan_busiest (p), gpus = p->cost.gpus,
                           planned = plan_planned (p, NULL);
        buffer_printf (
            &out,
            "%s%s: the busiest hour took %llu of the %llu GPUs, and "
            "target and spares ask for %llu%s.",
            out.length ? " " : "", p->pool->name, used, gpus, planned,
            used > gpus      ? ": there were more GPUs than today"
            : planned > gpus ? ": the reserve is smaller than planned, "
                               "but the GPUs did all of this work"
                             : "");
    }
    if (out.length)
        report_section_answer (v->report, buffer_text (&out));
}

static void add_capacity (plan_view_t *v)
{
    const plan_pool_t *p = v->pool;
    mpq_t day;

    if (p->hours == 0)
        return;
    add_gpus (v, "there are", p->cost.gpus);
    add_gpus (v, "in use at the busiest hour", plan_busiest (p));
    mpq_init (day);
    plan_per_day (v, day);
    add_need (v, "planned for the demand of the period", day, true);
    add_trend (v);
    add_growth (v, day);
    mpq_clear (day);
}

/* ---- the report ---- */

static void next_help (buffer_t *out, unsigned has)
{
    if (has & HAS_NEXT)
        buffer_add_text (out, " A next GPU, which is faster and can be rented "
                              "later, is in its own rows alone.");
}

static void cash_help (buffer_t *out, unsigned has)
{
    buffer_add_text (out, has & HAS_TERM ? "as many GPUs around the clock."
                                         : "renting the measured hours.");
    buffer_add_text (out, " Without resale, replacement and discounting.");
}

static const struct {
    const char *analysis;
    const char *title;
    const char *help;
    void (*add) (plan_view_t *view);
    void (*more) (buffer_t *out, unsigned has); /* help of what rows have */
} sections[] = {
    {"mix", "How many to own, and how to rent the rest: cost of a year", "",
     plan_mix, plan_mix_help},
    {"options", "What could be done: cost of a year",
     "Next to each other, not one after the other. The saving is at most so "
     "much; below 0, a year costs more. Hardware is bought: giving it up does "
     "not bring its cost back.",
     plan_options, NULL},
    {"sensitivity", "What the answer depends on: cost of a year",
     "Each input less and more by the same share, the others as they are, the "
     "input with the largest effect first. Owning is the cost of today's GPUs, "
     "with what they leave undone rented; renting is everything rented; GPUs "
     "and reserved are those of the cheapest mix.",
     plan_tornado, next_help},
    {"egress", "Traffic out of the cloud: cost of a year",
     "The GB that leave the cloud each day, if all work is rented, by "
     "the tiers of a month; Per GPU hour is this divided by the hours of GPUs "
     "at "
     "work. It is in addition to the price of the hour, and not in the rows "
     "above.",
     plan_egress, NULL},
    {"use", "How the GPUs were used", "Shares of the capacity of the period.",
     add_use, NULL},
    {"breakeven", "Owning or renting: what an hour costs", "", plan_prices,
     plan_prices_help},
    {"cash", "Cumulative cash",
     "All hardware paid on the first day, the rest of the cost by the month, "
     "against ",
     add_cash, cash_help},
    {"capacity", "Capacity",
     "The busiest hour is what the work took, in whole GPUs. The plan adds a "
     "reserve: GPU hours a day / (24 x target x (1 - downtime)) x (1 + "
     "spares), "
     "then full nodes. The target is the planned utilization; downtime is as "
     "measured and spares are 10 %, unless others were chosen. So the plan may "
     "ask for more GPUs than there are, which did all work.",
     add_capacity, NULL},
};

/* The section of what to do is made of pools that are not asked for, too: `aside`, which
 * is dropped. */
static void add_section (plan_view_t *v, size_t at, plan_pool_t *pools,
                         size_t count, report_t *aside)
{
    report_t *report = v->report;
    BUFFER_AUTO help = BUFFER_INIT;
    unsigned has = 0, not_shown = 0;

    report_section (v->report, sections[at].title, "");
    v->analysis = sections[at].analysis;
    for (size_t i = 0; i < count; i++) {
        if (!pools[i].asked && sections[at].add != plan_mix)
            continue;
        v->pool = &pools[i];
        v->report = pools[i].asked ? report : aside;
        v->has = pools[i].asked ? &has : &not_shown;
        values_init (&v->values);
        take_values (v);
        v->made_count
            = formula_solve (formula_named ("use"), &v->values, v->made);
        v->used = values_get (&v->values, "used");
        v->measured = values_true (&v->values, "used");
        if (sections[at].add == plan_mix) {
            take_planned (v);
            take_off (v);
        }
        sections[at].add (v);
        values_clear (&v->values);
    }
    v->report = report;
    if (sections[at].add == plan_mix)
        plan_say_verdicts (v, pools, count);
    if (sections[at].add == add_capacity)
        answer_capacity (v, pools, count);
    buffer_add_text (&help, sections[at].help);
    if (sections[at].more)
        sections[at].more (&help, has);
    report_section_help (v->report, buffer_text (&help));
    report_section_drop_empty (v->report);
}

static void add_share (report_t *report, const char *name, const char *share)
{
    mpq_t q;

    mpq_init (q);
    exact_parse_ratio (share, q, NULL);
    GL_AUTOFREE char *text = breakeven_percent_text (q);
    report_parameter (report, name, text);
    mpq_clear (q);
}

void plan_put_choices (report_t *report, const site_t *site,
                       const plan_query_t *asked)
{
    GL_AUTOFREE char *target
        = breakeven_percent_text (site->policy.utilization);

    if (asked->target)
        add_share (report, "planned_utilization_pct", asked->target);
    else
        report_parameter (report, "planned_utilization_pct", target);
    add_share (report, "spares_pct", asked->spares ? asked->spares : SPARE);
    if (asked->downtime)
        add_share (report, "downtime_pct", asked->downtime);
    if (asked->interruptible)
        add_share (report, "interruptible_pct", asked->interruptible);
}

void plan_fill (report_t *report, const report_query_t *query,
                const plan_query_t *asked, plan_pool_t *pools, size_t count)
{
    report_t *aside = report_new ("plan", "");
    plan_view_t view = {.report = report,
                        .site = query->site,
                        .period = query->period,
                        .asked = asked};

    report_parameter (report, "currency", query->site->currency);
    plan_put_choices (report, query->site, asked);
    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    report_columns (aside, columns, GL_ARRAY_SIZE (columns));
    report->notes_last = true;
    for (size_t i = 0; i < GL_ARRAY_SIZE (sections); i++)
        if (asked->egress || sections[i].add != plan_egress)
            add_section (&view, i, pools, count, aside);
    report_free (aside);
    for (size_t i = 0; i < count; i++)
        if (pools[i].asked && !pools[i].has_cost) {
            report_note_pool (report, NOTE_WARNING, pools[i].pool->name,
                              "the cost is unknown.");
            report_note_pool (report, NOTE_COMMAND, pools[i].pool->name,
                              "enter the cost under 'assets', 'staff', 'power' "
                              "and 'costs' of the configuration.");
        }
    report_note (
        report, NOTE_INFORMATION,
        "Not considered: demand that waited in the queue (the report of "
        "demand has it) or went elsewhere, %sstorage of rented "
        "capacity, price increases. No amount includes what waiting costs "
        "the people whose jobs wait.",
        asked->egress ? "" : "egress and ");
    report_note (report, NOTE_COMMAND,
                 "Other inputs are chosen with --target, --spares, --downtime, "
                 "--interruptible, --vary, --growth and --egress of 'gpuledger "
                 "report plan'.");
}
