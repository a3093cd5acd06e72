/* What to do with a pool that has no price to compare with: the action first, then what a
 * year costs or saves. And how sure the verdict on any pool is. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "money/cost.h"
#include "money/depreciation.h"
#include "report/plan_private.h"

/* How sure a decision is: the first of these whose conditions hold (docs/glossary.md). */
static const struct {
    const char *word;
    size_t months;            /* that say the same, at least */
    unsigned unknown_percent; /* of the capacity, at most */
    bool priced;              /* renting has to be compared with */
} sure_rules[] = {
    {"Sure", 3, 10, true},
    {"Fairly sure", 2, 50, false},
    {"Not sure", 0, 100, false},
};
/* Months that have to agree before anything is given up for good. */
#define MONTHS_ENOUGH sure_rules[0].months

const char *plan_sure_word (const report_decision_t *d)
{
    size_t i = 0;

    while (i + 1 < GL_ARRAY_SIZE (sure_rules)
           && (d->months < sure_rules[i].months
               || d->unknown_percent > sure_rules[i].unknown_percent
               || (sure_rules[i].priced && !d->priced)))
        i++;
    return sure_rules[i].word;
}

char *plan_sure_text (const report_decision_t *d, const char *others)
{
    const char *word = plan_sure_word (d);
    report_decision_t enough = *d;

    if (enough.months < MONTHS_ENOUGH)
        enough.months = MONTHS_ENOUGH;
    return xasprintf ("%s.%s%s%s%s%s", word, *others ? " " : "", others,
                      strcmp (plan_sure_word (&enough), word) != 0
                          ? " Three months that say the same would make it "
                            "surer."
                          : "",
                      *d->grounds ? " " : "", d->grounds);
}

/* "One month only (2026-10)", "12 months", "13 days only" */
static char *measured_words (const plan_view_t *v, const plan_pool_t *pool)
{
    size_t months = pool->months, days = pool->hours / 24;
    char month[ZONE_STAMP_SIZE];

    if (months > 1)
        return xasprintf ("%zu months", months);
    if (months == 1
        && zone_unit (v->site->zone, CALENDAR_MONTH, v->period.start).start
               == v->period.start
        && zone_unit (v->site->zone, CALENDAR_MONTH, v->period.start).end
               == v->period.end)
        return xasprintf ("One month only (%s)",
                          zone_unit_name (v->site->zone, CALENDAR_MONTH,
                                          v->period.start, month));
    return xasprintf ("%zu day%s only", days, days == 1 ? "" : "s");
}

/* Above this part of the capacity, time of an unknown state is worth a word. */
#define UNKNOWN_PERCENT 1

static unsigned unknown_percent (const capacity_sum_t *c)
{
    mpq_t percent;
    unsigned rounded;

    if (mpq_sgn (c->capacity) == 0)
        return 0;
    mpq_init (percent);
    mpq_div (percent, c->unknown, c->capacity);
    mpz_mul_ui (mpq_numref (percent), mpq_numref (percent), 100);
    rounded = (unsigned)plan_whole_gpus (percent);
    mpq_clear (percent);
    return rounded;
}

/* Of this pool; plan_rests_on() has what holds for all. */
static char *grounds_text (const plan_pool_t *pool)
{
    const capacity_sum_t *c = &pool->capacity;

    if (unknown_percent (c) <= UNKNOWN_PERCENT)
        return xstrdup ("");
    GL_AUTOFREE char *percent = report_percent_text (c->unknown, c->capacity);
    return xasprintf ("No source says whether %s %% of the capacity was up: "
                      "where it was down, jobs had fewer GPUs than are counted "
                      "here.",
                      percent);
}

/* By how much is known of the hours without jobs, among which all unknown ones are: prices to rent
 * and other months change nothing of it. */
static char *off_sure_text (const capacity_sum_t *c)
{
    char *text;
    mpq_t without, limit;

    mpq_inits (without, limit, NULL);
    mpq_sub (without, c->capacity, c->allocated);
    mpq_set_ui (limit, sure_rules[0].unknown_percent, 100);
    mpq_canonicalize (limit);
    mpq_mul (limit, limit, without);
    if (mpq_cmp (c->unknown, limit) > 0) {
        GL_AUTOFREE char *percent = report_percent_text (c->unknown, without);
        text = xasprintf ("Not sure. No source says whether GPUs were up in "
                          "%s %% of the hours without jobs.",
                          percent);
    } else {
        mpq_sub (limit, without, c->unknown);
        GL_AUTOFREE char *percent = report_percent_text (limit, without);
        text = xasprintf ("Fairly sure. It is known of %s %% of the hours "
                          "without jobs whether GPUs were up.",
                          percent);
    }
    mpq_clears (without, limit, NULL);
    return text;
}

static char *copy_of (const char *text)
{
    return text ? xstrdup (text) : NULL;
}

static void take_answers (const plan_view_t *v, const plan_pool_t *pool,
                          report_decision_t *decision)
{
    const plan_verdict_t *verdict = &pool->verdict;

    decision->needs = xstrdup (verdict->needs ? verdict->needs : "");
    decision->waits = verdict->waits;
    if (verdict->kept < pool->cost.gpus) {
        decision->least = copy_of (verdict->least);
        decision->most = copy_of (verdict->most);
    }
    if (mpq_sgn (pool->off) > 0) {
        decision->off = exact_text (pool->off, v->site->currency_digits);
        decision->off_sure = off_sure_text (&pool->capacity);
    }
}

void plan_verdict_figure (const plan_view_t *v, const plan_pool_t *pool)
{
    const plan_verdict_t *verdict = &pool->verdict;
    bool changes = verdict->kept < pool->cost.gpus;
    report_decision_t *decision = xcalloc (1, sizeof (*decision));
    report_figure_t *figure;
    GL_AUTOFREE char *careful
        = changes && pool->months < MONTHS_ENOUGH
              ? xasprintf ("%.*s, if other months agree.",
                           (int)strlen (verdict->action) - 1, verdict->action)
              : xstrdup (verdict->action);

    *decision = (report_decision_t){
        .action = xstrdup (verdict->action),
        .reason = verdict->reason ? xstrdup (verdict->reason) : NULL,
        .grounds = grounds_text (pool),
        .kept = verdict->kept,
        .months = pool->months,
        .unknown_percent = unknown_percent (&pool->capacity),
        .priced = !verdict->alone};
    take_answers (v, pool, decision);
    report_figure (v->report, pool->pool->name, careful, verdict->why,
                   COLUMN_WORDS);
    figure = &v->report->figure[v->report->figure_count - 1];
    figure->sure = plan_sure_text (decision, "");
    figure->changes = changes;
    figure->decision = decision;
}

/* Pools whose GPUs are compared with no rented ones, "h100 and slices"; "": none. */
static void unpriced_pools (const plan_pool_t *pools, size_t count,
                            buffer_t *out)
{
    const char **name = xcalloc (count + 1, sizeof (*name));
    size_t unpriced = 0;

    for (size_t i = 0; i < count; i++)
        if (pools[i].asked && pools[i].verdict.alone)
            name[unpriced++] = pools[i].pool->name;
    plan_listed (out, name, unpriced);
    free (name);
}

void plan_off_figure (const plan_view_t *v, const plan_pool_t *pools,
                      size_t count)
{
    BUFFER_AUTO parts = BUFFER_INIT;
    BUFFER_AUTO either = BUFFER_INIT;
    int digits = v->site->currency_digits;
    mpz_t all, saved;

    mpz_inits (all, saved, NULL);
    for (size_t i = 0; i < count; i++) {
        if (!pools[i].asked || mpq_sgn (pools[i].off) == 0)
            continue;
        exact_round (saved, pools[i].off, digits);
        mpz_add (all, all, saved);
        GL_AUTOFREE char *amount = exact_units_text (saved, digits);
        buffer_printf (&parts, "%s%s %s", parts.length ? ", " : "",
                       pools[i].pool->name, amount);
        if (pools[i].verdict.action
            && pools[i].verdict.kept < pools[i].cost.gpus)
            buffer_printf (&either,
                           " The %s of %s are not in addition to what giving "
                           "GPUs of it up saves.",
                           amount, pools[i].pool->name);
    }
    if (parts.length) {
        GL_AUTOFREE char *sum = exact_units_text (all, digits);
        GL_AUTOFREE char *value
            = xasprintf ("Saves up to %s %s a year.", sum, v->site->currency);
        GL_AUTOFREE char *hint = xasprintf (
            "The power that GPUs draw while no job has them: %s.%s It is less "
            "as far as they were down. Slurm's power saving switches full "
            "nodes "
            "off (SuspendProgram): in how many of these hours a full node had "
            "no job is not computed.",
            buffer_text (&parts), buffer_text (&either));
        report_figure (v->report, "Switch idle GPUs off", value, hint,
                       COLUMN_WORDS);
    }
    mpz_clears (all, saved, NULL);
}

void plan_rests_on (const plan_view_t *v, const plan_pool_t *pools,
                    size_t count)
{
    const plan_pool_t *pool
        = GL_FIND (pools, count, it, it->asked && it->verdict.action != NULL);
    BUFFER_AUTO unpriced = BUFFER_INIT;
    BUFFER_AUTO more = BUFFER_INIT;

    if (!pool)
        return;
    GL_AUTOFREE char *measured = measured_words (v, pool);
    GL_AUTOFREE char *ahead = plan_ahead_text (pool);
    buffer_printf (&more,
                   "of the hours that jobs had, and the cost of a year by the "
                   "configuration.%s",
                   ahead);
    unpriced_pools (pools, count, &unpriced);
    if (unpriced.length)
        buffer_printf (&more,
                       " Renting may cost less than %s: there is no current "
                       "price to compare with.",
                       buffer_text (&unpriced));
    if (GL_ANY (pools, count, it,
                it->asked && it->verdict.action
                    && unknown_percent (&it->capacity) > UNKNOWN_PERCENT))
        buffer_add_text (&more, " Whether free GPUs were up becomes known "
                                "once an administrator reads the downtime of "
                                "nodes from slurmdbd.");
    report_figure (v->report, "What the answers rest on", measured,
                   buffer_text (&more), COLUMN_WORDS);
}

void plan_year (const breakeven_t *cost, uint64_t gpus, bool avoidable,
                mpq_t ret_year)
{
    mpq_t sunk;

    mpq_init (sunk);
    if (avoidable)
        plan_sunk (cost, sunk);
    mpq_sub (sunk, cost->per_gpu_year, sunk);
    mpq_set_ui (ret_year, 0, 1);
    exact_add_scaled (ret_year, sunk, (int64_t)gpus, 1);
    mpq_clear (sunk);
}

void plan_staff (const breakeven_t *cost, uint64_t gpus, mpq_t ret_year)
{
    mpq_set_ui (ret_year, 0, 1);
    for (size_t i = 0; i < cost->part_count; i++)
        if (cost->part[i].kind == COST_STAFF)
            exact_add_scaled (ret_year, cost->part[i].per_gpu_year,
                              (int64_t)gpus, 1);
}

/* A year in the currency. */
static char *year_text (const plan_view_t *v, uint64_t gpus, bool avoidable)
{
    char *text;
    mpq_t year;

    mpq_init (year);
    plan_year (&v->pool->cost, gpus, avoidable, year);
    GL_AUTOFREE char *amount = exact_text (year, v->site->currency_digits);
    text = xasprintf ("%s %s", amount, v->site->currency);
    mpq_clear (year);
    return text;
}

/* " (at 70.0 % utilization; jobs used 16.5 %)": power is computed for the planned use. */
static char *planned_words (const plan_view_t *v)
{
    if (!v->used)
        return xstrdup ("");
    GL_AUTOFREE char *planned
        = breakeven_percent_text (v->pool->cost.utilization);
    GL_AUTOFREE char *used = breakeven_percent_text (v->used);

    return xasprintf (" (at %s %% utilization; jobs used %s %%)", planned,
                      used);
}

/* "staff 18000.00, power 2068.97, colocation 4800.00": all but hardware of a year of so many
 * GPUs, which add up to year_text(). Yours to free. */
static char *parts_text (const plan_view_t *v, uint64_t gpus)
{
    const breakeven_t *cost = &v->pool->cost;
    int digits = v->site->currency_digits;
    mpq_t *part = xcalloc (cost->part_count + 1, sizeof (*part));
    mpz_t *units = xcalloc (cost->part_count + 1, sizeof (*units)), total;
    buffer_t out = BUFFER_INIT;
    gl_error_t ignored; /* the total is that of the parts */
    int64_t scale = (int64_t)gpus;
    mpq_t sum;

    mpq_init (sum);
    mpz_init (total);
    for (int i = 0; i < digits; i++)
        scale *= 10;
    for (size_t i = 0; i < cost->part_count; i++) {
        mpz_init (units[i]);
        mpq_init (part[i]);
        if (cost->part[i].kind == COST_HARDWARE)
            continue;
        exact_add_scaled (part[i], cost->part[i].per_gpu_year, scale, 1);
        mpq_add (sum, sum, part[i]);
    }
    exact_round (total, sum, 0);
    exact_share (total, part, cost->part_count, units, &ignored);
    for (size_t i = 0; i < cost->part_count; i++) {
        GL_AUTOFREE char *amount = exact_units_text (units[i], digits);
        GL_AUTOFREE char *planned = cost->part[i].kind == COST_POWER
                                        ? planned_words (v)
                                        : xstrdup ("");
        if (mpz_sgn (units[i]) != 0)
            buffer_printf (&out, "%s%s %s%s", out.length ? ", " : "",
                           cost->part[i].name, amount, planned);
        mpq_clear (part[i]);
        mpz_clear (units[i]);
    }
    free (part);
    free (units);
    mpq_clear (sum);
    mpz_clear (total);
    return buffer_take (&out);
}

/* What giving up so many GPUs saves in a year, without and with the part that is staff. */
static void take_saving (const plan_view_t *v, uint64_t gpus)
{
    plan_verdict_t *verdict = &v->pool->verdict;
    int digits = v->site->currency_digits;
    mpq_t year, staff;

    mpq_inits (year, staff, NULL);
    plan_year (&v->pool->cost, gpus, true, year);
    plan_staff (&v->pool->cost, gpus, staff);
    if (mpq_sgn (staff) > 0)
        verdict->most = exact_text (year, digits);
    mpq_sub (year, year, staff);
    verdict->least = exact_text (year, digits);
    mpq_clears (year, staff, NULL);
}

/* "6868.97 USD a year, with staff up to 24868.97"; without staff "27560.00 USD a year" */
static char *saved_words (const plan_view_t *v, uint64_t gpus)
{
    plan_verdict_t *verdict = &v->pool->verdict;
    const char *currency = v->site->currency;

    take_saving (v, gpus);
    return verdict->most ? xasprintf ("%s %s a year, with staff up to %s",
                                      verdict->least, currency, verdict->most)
                         : xasprintf ("%s %s a year", verdict->least, currency);
}

/* "This saves up to X of the Y a year that the pool costs; the rest is hardware ..." */
static char *saving_words (const plan_view_t *v, uint64_t gpus)
{
    GL_AUTOFREE char *saved = saved_words (v, gpus);
    GL_AUTOFREE char *all = year_text (v, gpus, false);
    GL_AUTOFREE char *parts = parts_text (v, gpus);
    const char *cost
        = gpus < v->pool->cost.gpus ? "these nodes cost" : "the pool costs";
    char *text;
    mpq_t sunk;

    mpq_init (sunk);
    plan_sunk (&v->pool->cost, sunk);
    if (mpq_sgn (sunk) == 0 && v->pool->verdict.most
        && strspn (v->pool->verdict.least, "0.")
               == strlen (v->pool->verdict.least))
        text = xasprintf ("This saves nothing unless the site pays less for "
                          "staff: then up to %s %s a year.",
                          v->pool->verdict.most, v->site->currency);
    else if (mpq_sgn (sunk) == 0)
        text = xasprintf ("This saves up to %s.", saved);
    else if (!*parts)
        text = xasprintf ("This saves nothing: all of the %s a year that %s is "
                          "hardware, which is bought.",
                          all, cost);
    else
        text = xasprintf ("This saves up to %s%s of the %s that %s: %s, as "
                          "far as these end; the rest is hardware, which is "
                          "bought.",
                          saved, v->pool->verdict.most ? "," : "", all, cost,
                          parts);
    mpq_clear (sunk);
    return text;
}

static const char *no_price (const plan_view_t *v)
{
    return v->pool->cost.cloud_count > 0
               ? "every price to rent a GPU is too old"
               : "no price to rent a GPU is entered";
}

void plan_verdict_say (const plan_view_t *v, const char *action,
                       const char *why, uint64_t kept)
{
    plan_verdict_t *verdict = &v->pool->verdict;

    verdict->action = xstrdup (action);
    verdict->why = xstrdup (why);
    verdict->kept = kept;
}

void plan_verdict_clear (plan_verdict_t *verdict)
{
    free (verdict->action);
    free (verdict->why);
    free (verdict->reason);
    free (verdict->load);
    free (verdict->saving);
    free (verdict->saved);
    free (verdict->least);
    free (verdict->most);
    free (verdict->needs);
}

void plan_verdict_needs (plan_verdict_t *verdict, const char *paid,
                         const char *others)
{
    free (verdict->needs);
    verdict->needs = xasprintf ("%s%s%s", paid + (*paid == ' '),
                                *paid && *others ? " " : "", others);
}

/* Nothing is given up for what was seen on some days. */
static bool is_short (const plan_view_t *v)
{
    return v->pool->months == 0;
}

/* ---- who paid for the hardware ---- */

/* Of its price: all, the part that charges may not recover, and by whom that is paid. */
struct paid {
    mpq_t all, by_others;
    text_list_t names;
};

static void take_paid (const plan_view_t *v, const site_asset_t *asset,
                       const char *fund, mpq_srcptr share, struct paid *paid)
{
    mpq_t amount, part;

    mpq_inits (amount, part, NULL);
    mpq_mul (amount, asset->units, asset->price);
    mpq_mul (amount, amount, share);
    mpq_add (paid->all, paid->all, amount);
    cost_recoverable (v->site, asset->recoverable, fund, part);
    mpq_mul (part, part, amount);
    mpq_sub (part, amount, part);
    mpq_add (paid->by_others, paid->by_others, part);
    if (mpq_sgn (part) > 0 && fund)
        texts_add_new (&paid->names, fund);
    mpq_clears (amount, part, NULL);
}

/* On the last day of the period. */
static bool is_owned (const plan_view_t *v, const site_asset_t *asset)
{
    civil_t last = zone_civil (v->site->zone, v->period.end - 1);
    int64_t day = calendar_day_number (last.year, last.month, last.day);
    asset_stay_t stay;

    for (size_t i = 0; asset_stay (asset, i, &stay); i++)
        if (stay.first <= day && day < stay.end)
            return !strcmp (stay.pool, v->pool->pool->name);
    return false;
}

char *plan_paid_by_others (const plan_view_t *v)
{
    struct paid paid = {.names = {.item = NULL}};
    BUFFER_AUTO names = BUFFER_INIT;
    char *text = NULL;
    mpq_t one;

    mpq_inits (one, paid.all, paid.by_others, NULL);
    mpq_set_ui (one, 1, 1);
    for (size_t i = 0; i < v->site->asset_count; i++) {
        const site_asset_t *asset = &v->site->assets[i];
        if (!is_owned (v, asset))
            continue;
        if (asset->funding.count == 0)
            take_paid (v, asset, NULL, one, &paid);
        for (size_t k = 0; k < asset->funding.count; k++)
            take_paid (v, asset, asset->funding.item[k].name,
                       asset->funding.item[k].share, &paid);
    }
    if (mpq_sgn (paid.by_others) > 0) {
        GL_AUTOFREE char *percent
            = report_percent_text (paid.by_others, paid.all);
        plan_listed (&names, (const char *const *)paid.names.item,
                     paid.names.count);
        text = xasprintf (
            " Others paid for %s %% of the price of its hardware%s%s%s: ask "
            "them before you give it up.",
            percent, names.length ? " (" : "", buffer_text (&names),
            names.length ? ")" : "");
    }
    texts_clear (&paid.names);
    mpq_clears (one, paid.all, paid.by_others, NULL);
    return text ? text : xstrdup ("");
}

/* ---- what to do ---- */

void plan_verdict_unused (const plan_view_t *v)
{
    GL_AUTOFREE char *saving = saving_words (v, v->pool->cost.gpus);
    GL_AUTOFREE char *others = plan_paid_by_others (v);
    GL_AUTOFREE char *why
        = xasprintf ("No job used its %llu GPUs. %s%s",
                     (unsigned long long)v->pool->cost.gpus, saving, others);

    if (is_short (v))
        plan_verdict_say (v, "Look again after a full month.",
                          "No job used its GPUs.", v->pool->cost.gpus);
    else
        plan_verdict_say (v, "Give the pool up.", why, 0);
    plan_verdict_needs (&v->pool->verdict, others, "");
}

/* ---- the work was done ---- */

/* What the sentences are made of. */
typedef struct {
    const plan_view_t *v;
    values_t need;
    uint64_t nodes, spare_nodes; /* there are; of them not even peaks need */
    char *load;  /* "250.3 GPU hours a day, 65.2 % of the 16 GPUs" */
    char *limit; /* "244.4 a day, 63.6 % of them (70.0 % target / (1 + 10.0 %
                    spares))": the plan */
    bool over;   /* the load is above that */
} load_t;

static void take_limit (load_t *l)
{
    mpq_srcptr spare = values_get (&l->need, "exact_spare");
    mpq_srcptr downtime = values_get (&l->need, "downtime");
    uint64_t gpus = l->v->pool->cost.gpus;
    mpq_t limit, all;

    mpq_init (limit);
    mpq_init (all);
    plan_per_day (l->v, limit);
    exact_add_scaled (limit, limit, (int64_t)gpus - 1, 1);
    if (spare && mpq_sgn (spare) > 0)
        mpq_div (limit, limit, spare);
    GL_AUTOFREE char *hours = exact_text (limit, 1);
    GL_AUTOFREE char *target
        = breakeven_percent_text (values_get (&l->need, "utilization"));
    GL_AUTOFREE char *spares
        = breakeven_percent_text (values_get (&l->need, "spares"));
    GL_AUTOFREE char *down = breakeven_percent_text (downtime);
    GL_AUTOFREE char *up = mpq_sgn (downtime) > 0
                               ? xasprintf (" x (1 - %s %% downtime)", down)
                               : xstrdup ("");
    exact_add_scaled (all, limit, 1, 24 * (int64_t)gpus);
    GL_AUTOFREE char *percent = breakeven_percent_text (all);
    l->limit = xasprintf (
        "%s a day, %s %% of them (%s %% target%s / (1 + %s %% spares))", hours,
        percent, target, up, spares);
    l->over = spare && mpq_cmp_ui (spare, gpus, 1) > 0;
    mpq_clear (limit);
    mpq_clear (all);
}

static void load_make (load_t *l, const plan_view_t *v, uint64_t peak_gpus)
{
    uint64_t step = (uint64_t)v->pool->cost.gpus_per_node;
    uint64_t needed = (peak_gpus + step - 1) / step;
    mpq_t day;

    *l = (load_t){.v = v, .nodes = v->pool->cost.gpus / step};
    mpq_init (day);
    plan_per_day (v, day);
    plan_need (v, day, &l->need);
    GL_AUTOFREE char *hours = exact_text (day, 1);
    GL_AUTOFREE char *share = breakeven_percent_text (v->used);
    l->load = xasprintf ("%s GPU hours a day, %s %% of the %llu GPUs", hours,
                         share, (unsigned long long)v->pool->cost.gpus);
    take_limit (l);
    mpq_srcptr nodes = values_get (&l->need, "nodes");
    if (nodes && mpq_cmp_ui (nodes, needed, 1) > 0)
        needed = (uint64_t)mpq_get_d (nodes);
    l->spare_nodes = l->nodes > needed ? l->nodes - needed : 0;
    mpq_clear (day);
}

static void load_clear (load_t *l)
{
    values_clear (&l->need);
    free (l->load);
    free (l->limit);
}

static void say_spare (const load_t *l)
{
    const plan_view_t *v = l->v;
    uint64_t gpus = l->spare_nodes * (uint64_t)v->pool->cost.gpus_per_node;
    GL_AUTOFREE char *saving = saving_words (v, gpus);
    GL_AUTOFREE char *action = xasprintf ("Give %llu of %llu nodes up.",
                                          (unsigned long long)l->spare_nodes,
                                          (unsigned long long)l->nodes);
    GL_AUTOFREE char *others = plan_paid_by_others (v);
    GL_AUTOFREE char *why = xasprintf (
        "%s%s Jobs used %s; the other nodes had room for the busiest "
        "hour, too.",
        saving, others, l->load);

    plan_verdict_say (v, action, why, v->pool->cost.gpus - gpus);
    plan_verdict_needs (&v->pool->verdict, others, "");
}

/* What to do depends on the other pools. Until they have room for the work it stays. */
static void say_little (const load_t *l)
{
    const plan_view_t *v = l->v;
    plan_verdict_t *verdict = &v->pool->verdict;
    uint64_t gpus = v->pool->cost.gpus;

    plan_verdict_say (v,
                      l->nodes == 1
                          ? "Keep the pool."
                          : "Buy nothing, and move peaks to quiet hours.",
                      "", gpus);
    verdict->moves = true;
    verdict->load = xasprintf ("%s%s", l->load,
                               l->nodes == 1 ? ""
                                             : ", and the busiest hours needed "
                                               "all nodes");
    verdict->saving = saving_words (v, gpus);
    verdict->saved = year_text (v, gpus, true);
}

static void say_short (const load_t *l)
{
    GL_AUTOFREE char *why = xasprintf ("Jobs used %s.", l->load);

    plan_verdict_say (l->v, "Look again after a full month.", why,
                      l->v->pool->cost.gpus);
}

static void say_well_used (const load_t *l)
{
    const plan_view_t *v = l->v;
    GL_AUTOFREE char *cost = year_text (v, v->pool->cost.gpus, false);
    GL_AUTOFREE char *node
        = year_text (v, (uint64_t)v->pool->cost.gpus_per_node, false);
    GL_AUTOFREE char *why
        = l->over ? xasprintf (
              "The GPUs were enough for all jobs, which used %s. The plan "
              "allows %s, so there is less reserve than planned, which alone "
              "is "
              "no reason to buy. Another node costs %s a year: buy it only if "
              "jobs wait, "
              "which the report Demand shows.",
              l->load, l->limit, node)
                  : xasprintf ("Jobs used %s; the plan allows %s. The GPUs "
                               "cost %s a year. Whether renting saves "
                               "some of it is unknown: %s.",
                               l->load, l->limit, cost, no_price (v));

    plan_verdict_say (v, l->over ? "Buy nothing." : "Nothing to do.", why,
                      v->pool->cost.gpus);
    v->pool->verdict.reason = xasprintf ("Jobs used %s.", l->load);
    v->pool->verdict.waits = l->over;
    GL_AUTOFREE char *needs
        = l->over
              ? xasprintf ("Another node, for %s a year, helps only if jobs "
                           "wait.",
                           node)
              : xasprintf ("Whether renting costs less is unknown: %s.",
                           no_price (v));
    plan_verdict_needs (&v->pool->verdict, "", needs);
}

void plan_verdict_alone (const plan_view_t *v, bool done, uint64_t peak_gpus)
{
    const site_pool_t *pool = v->pool->pool;
    uint64_t pool_gpus = v->pool->cost.gpus;
    load_t load;

    v->pool->verdict.alone = true;
    load_make (&load, v, peak_gpus);
    if (!done)
        plan_verdict_say (v, "Find out what became of the GPUs.",
                          "More GPUs were in use than there are today.",
                          pool_gpus);
    else if (plan_little_used (v) && is_short (v))
        say_short (&load);
    else if (plan_little_used (v) && load.spare_nodes > 0)
        say_spare (&load);
    else if (plan_little_used (v))
        say_little (&load);
    else
        say_well_used (&load);
    load_clear (&load);
    report_note_pool (v->report, NOTE_INFORMATION, pool->name,
                      "%s, so owning is compared with nothing.", no_price (v));
    report_note_pool (
        v->report, NOTE_COMMAND, pool->name,
        "'gpuledger prices list%s%s' shows offers; enter one under "
        "'clouds' with `gpu: %s` and `catalogue: PROVIDER/INSTANCE/REGION`.",
        pool->gpu ? " --gpu " : "", pool->gpu ? pool->gpu : "",
        pool->gpu ? pool->gpu : "MODEL");
}
