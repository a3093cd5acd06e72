/* Why a month differs from the one before, and its charts. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "statement/summary_private.h"

static const char *team_of (const page_t *page, size_t i)
{
    return *page->teams.item[i] ? page->teams.item[i] : NULL;
}

static const char *team_text (const page_t *page, size_t i)
{
    return *page->teams.item[i] ? page->teams.item[i]
                                : key_info (KEY_TEAM)->absent;
}

/* Nothing where it is 0: there was no such cause. */
static void put_part (page_t *page, size_t column, const mpz_t units)
{
    if (mpz_sgn (units) != 0)
        summary_put_money (page, column, units);
}

/* Of which a sentence names the amounts. */
#define POOLS_NAMED 4

/* --- why it changed --------------------------------------------------------- */

static void take_teams (page_t *page, const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    const char *last = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *team = rows[i].team ? rows[i].team : "";
        if (posting_is_due (&rows[i]) && !text_same (last, team))
            texts_add_new (&page->teams, last = team);
    }
}

static void variance_add (variance_t *to, const variance_t *from)
{
    mpz_add (to->before, to->before, from->before);
    mpz_add (to->after, to->after, from->after);
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        mpz_add (to->part[i], to->part[i], from->part[i]);
}

int summary_split (page_t *page, gl_error_t *error)
{
    take_teams (page, page->s->bill);
    if (page->s->before)
        take_teams (page, page->s->before);
    page->variance = xcalloc (page->teams.count + 1, sizeof (*page->variance));
    for (size_t i = 0; i < page->teams.count; i++) {
        page->variance[i]
            = variances_of (page->s->variances, team_of (page, i), error);
        if (!page->variance[i])
            return -1;
        variance_add (&page->all, page->variance[i]);
    }
    return 0;
}

static void put_change (page_t *page, const variance_t *variance)
{
    mpz_t change;

    mpz_init (change);
    mpz_sub (change, variance->after, variance->before);
    summary_put_money (page, AT_BEFORE, variance->before);
    summary_put_money (page, AT_AFTER, variance->after);
    summary_put_money (page, AT_CHANGE, change);
    summary_put_made (page, AT_CHANGE_PCT,
                      report_units_percent_text (change, variance->before));
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        put_part (page, AT_PART + i, variance->part[i]);
    mpz_clear (change);
}

/* By the size of the change, the largest first; ties by name. */
static int by_change (const void *a, const void *b, void *arg)
{
    const page_t *page = arg;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    mpz_t of_x, of_y;
    int order;

    mpz_inits (of_x, of_y, NULL);
    mpz_sub (of_x, page->variance[x]->after, page->variance[x]->before);
    mpz_sub (of_y, page->variance[y]->after, page->variance[y]->before);
    order = mpz_cmpabs (of_y, of_x);
    mpz_clears (of_x, of_y, NULL);
    return order ? order : strcmp (page->teams.item[x], page->teams.item[y]);
}

void summary_changes (page_t *page)
{
    GL_AUTOFREE char *title = xasprintf ("Why the amount due changed since %s",
                                         page->s->before_month);
    size_t *order = xcalloc (page->teams.count + 1, sizeof (*order));

    for (size_t i = 0; i < page->teams.count; i++)
        order[i] = i;
    qsort_r (order, page->teams.count, sizeof (*order), by_change, page);
    report_section (page->report, title,
                    "The difference from last month for each team, in parts "
                    "that add up to it.");
    for (size_t i = 0; i < page->teams.count; i++) {
        report_row (page->report);
        report_put_text (page->report, AT_SECTION, "change");
        report_put_text (page->report, AT_TEAM, team_text (page, order[i]));
        report_put_text (page->report, AT_NAME, team_text (page, order[i]));
        put_change (page, page->variance[order[i]]);
    }
    report_section_totals (page->report);
    put_change (page, &page->all);
    free (order);
}

/* One part after the other, and what they come to. */
static void chart_changes (page_t *page)
{
    const char *label[CHANGE_COUNT];
    mpq_t value[CHANGE_COUNT];
    plot_series_t series = {.title = "Change", .value = (const mpq_t *)value};
    size_t count = 0;

    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        if (mpz_sgn (page->all.part[i]) == 0)
            continue;
        label[count] = change_info ((change_id_t)i)->title;
        mpq_init (value[count]);
        mpq_set_z (value[count++], page->all.part[i]);
    }
    report_plot (page->report,
                 &(plot_t){.kind = CHART_CHANGES,
                           .title = "Parts of the change of the amount due",
                           .description
                           = "All teams together. Bars to the right are more "
                             "than last month, bars to the left less.",
                           .type = COLUMN_MONEY,
                           .digits = page->digits,
                           .unit = page->currency,
                           .point = label,
                           .point_count = count,
                           .series = &series,
                           .series_count = 1});
    for (size_t i = 0; i < count; i++)
        mpq_clear (value[i]);
}

/* "fewer hours (volume) -21680.46, higher prices (price) +13645.54" */
static char *parts_of_change (const page_t *page)
{
    buffer_t out = BUFFER_INIT;

    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        GL_AUTOFREE char *part = NULL;
        const change_info_t *info;
        const char *cause;
        if (mpz_sgn (page->all.part[i]) == 0)
            continue;
        part = report_signed_text (summary_money (page, page->all.part[i]));
        info = change_info ((change_id_t)i);
        cause = info->cause[mpz_sgn (page->all.part[i]) > 0];
        if (strstr (cause, info->word))
            buffer_printf (&out, "%s%s %s", out.length ? "; " : "", cause,
                           part);
        else
            buffer_printf (&out, "%s%s (%s) %s", out.length ? "; " : "", cause,
                           info->word, part);
    }
    return buffer_take (&out);
}

/* --- the cost of the pools --------------------------------------------------- */

/* What the pools of a month cost, and what of it charges do not cover. */
struct costs {
    summary_month_t sum;
    cube_t *by_pool, *by_class; /* `charge` is what is not covered */
};

static void costs_init (struct costs *costs)
{
    summary_month_init (&costs->sum);
    costs->by_pool = cube_new (&bill_fields[BILL_POSTINGS], "pool");
    costs->by_class = cube_new (&bill_fields[BILL_POSTINGS], "what");
}

static void costs_clear (struct costs *costs)
{
    summary_month_clear (&costs->sum);
    cube_free (costs->by_pool);
    cube_free (costs->by_class);
}

static void costs_of (const page_t *page, const bill_t *bill, const char *month,
                      struct costs *ret)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    ret->sum.name = xstrdup (month);
    summary_month_take (&ret->sum, page->s->query->site, bill);
    for (size_t i = 0; i < count; i++)
        if (summary_is_uncovered (month, &rows[i])) {
            cube_add (ret->by_pool, &rows[i]);
            cube_add (ret->by_class, &rows[i]);
        }
}

/* later - before, as text; NULL: there is no difference. */
static char *difference_text (const mpz_t later, const mpz_t before, int digits)
{
    char *text;
    mpz_t change;

    mpz_init (change);
    mpz_sub (change, later, before);
    text = mpz_sgn (change)
               ? report_signed_text (exact_units_text (change, digits))
               : NULL;
    mpz_clear (change);
    return text;
}

char *summary_kinds_text (const summary_month_t *now,
                          const summary_month_t *before, int digits)
{
    buffer_t out = BUFFER_INIT;

    for (size_t i = 0; i < COST_KIND_COUNT; i++) {
        GL_AUTOFREE char *part
            = difference_text (now->kind[i], before->kind[i], digits);
        if (part)
            buffer_printf (&out, "%s%s %s", out.length ? ", " : "",
                           cost_kind_name ((cost_kind_t)i), part);
    }
    return buffer_take (&out);
}

char *summary_days_text (const zone_t *zone, const char *month,
                         const char *before)
{
    gl_error_t error;
    period_t now, then;
    long long days;

    if (report_month_parse (zone, month, &now, &error) < 0
        || report_month_parse (zone, before, &then, &error) < 0)
        return xstrdup ("");
    /* to the nearest day: summer time begins or ends in some */
    days = ((now.end - now.start) + 43200) / 86400
           - ((then.end - then.start) + 43200) / 86400;
    if (days == 0)
        return xstrdup ("");
    if (llabs (days) == 1)
        return xasprintf ("%s has one day %s than %s", month,
                          days > 0 ? "more" : "less", before);
    return xasprintf ("%s has %lld days %s than %s", month, llabs (days),
                      days > 0 ? "more" : "fewer", before);
}

/* The months differ in their days alone: as many GPUs were in service. */
static bool same_gpus (const page_t *page, const struct costs *later,
                       const struct costs *before)
{
    const zone_t *zone = page->s->query->site->zone;
    gl_error_t error;
    period_t now, earlier;
    mpq_t a, b;
    bool same;

    if (report_month_parse (zone, page->s->month, &now, &error) < 0
        || report_month_parse (zone, page->s->before_month, &earlier, &error)
               < 0)
        return false;
    mpq_inits (a, b, NULL);
    exact_set_i64 (a, earlier.end - earlier.start, 1);
    exact_set_i64 (b, now.end - now.start, 1);
    mpq_mul (a, a, later->sum.capacity);
    mpq_mul (b, b, before->sum.capacity);
    same = mpq_equal (a, b);
    mpq_clears (a, b, NULL);
    return same;
}

/* "4704.000000 GPU hours more capacity, 145824.000000 GPU hours in all" */
static char *capacity_text (const page_t *page, const struct costs *later,
                            const struct costs *before)
{
    GL_AUTOFREE char *by = NULL, *to = NULL;
    char *text;
    mpq_t change;

    mpq_init (change);
    mpq_sub (change, later->sum.capacity, before->sum.capacity);
    by = report_hours_text (change);
    to = report_hours_text (later->sum.capacity);
    text = mpq_sgn (change) == 0
               ? xasprintf ("the same capacity, %s GPU hours", to)
               : xasprintf (
                   "%s GPU hours %s capacity%s, %s GPU hours in all",
                   *by == '-' ? by + 1 : by, *by == '-' ? "less" : "more",
                   !same_gpus (page, later, before) ? ""
                   : *by == '-' ? " by the same GPUs in a month of fewer days"
                                : " by the same GPUs in a month of more days",
                   to);
    mpq_clear (change);
    return text;
}

/* What a part of the cost that is not covered is, in this month or else in the one before.
 * Yours to free. */
static char *class_label (cube_t *classes, size_t index)
{
    const posting_t *now = cube_later (classes, index),
                    *row = now && mpz_sgn (now->charge_units)
                               ? now
                               : cube_earlier (classes, index);
    const remainder_info_t *info = row ? remainder_named (row->what) : NULL;

    return info  ? remainder_label (info->id, mpz_sgn (row->charge_units))
           : row ? xstrdup (row->what)
                 : xstrdup (now->what);
}

/* The same in a sentence: what is unallocated in plain words. */
static char *class_words (cube_t *classes, size_t index)
{
    const posting_t *row = cube_row (classes, index);
    const remainder_info_t *info = remainder_named (row->what);

    return info && info->unallocated
               ? xasprintf ("the cost of capacity that nobody is charged for "
                            "(%s)",
                            info->title)
               : class_label (classes, index);
}

/* The pools in which what is not covered changed, if they are few: " By pool: h100 +3743.90,
 * slices -395.11." */
static char *uncovered_pools (const page_t *page, const struct costs *later,
                              const struct costs *before)
{
    cube_t *pools = cube_difference (later->by_pool, before->by_pool, false);
    size_t count = cube_count (pools);
    buffer_t out = BUFFER_INIT;

    for (size_t i = 0; i < count && count <= POOLS_NAMED; i++) {
        const posting_t *row = cube_row (pools, i);
        if (mpz_sgn (row->charge_units) == 0)
            continue;
        GL_AUTOFREE char *amount
            = report_signed_text (summary_money (page, row->charge_units));
        buffer_printf (&out, "%s%s %s", out.length ? ", " : " By pool: ",
                       row->pool ? row->pool : key_info (KEY_POOL)->absent,
                       amount);
    }
    cube_free (pools);
    if (out.length > 0)
        buffer_add_char (&out, '.');
    return buffer_take (&out);
}

/* Of the cost that charges do not cover, the part that changed most, as a sentence that follows
 * another one; "": nothing changed. Yours to free. */
static char *largest_class (const page_t *page, const struct costs *later,
                            const struct costs *before)
{
    cube_t *classes
        = cube_difference (later->by_class, before->by_class, false);
    const posting_t *largest = NULL;
    size_t at = 0;
    char *text;

    for (size_t i = 0; i < cube_count (classes); i++) {
        const posting_t *row = cube_row (classes, i);
        if (!largest
            || mpz_cmpabs (row->charge_units, largest->charge_units) > 0)
            largest = cube_row (classes, at = i);
    }
    if (largest && mpz_sgn (largest->charge_units)) {
        GL_AUTOFREE char *label = class_words (classes, at);
        GL_AUTOFREE char *amount
            = report_signed_text (summary_money (page, largest->charge_units));
        text = xasprintf (" The largest change is in %s, %s.", label, amount);
    } else
        text = xstrdup ("");
    cube_free (classes);
    return text;
}

/* "rose by 687.65 USD", "2661.14 USD less": the size of the change between two texts, of which
 * it has one for each sign; `same`: there is no change. */
static char *change_text (const mpz_t change, int digits, const char *currency,
                          const char *const more[2], const char *const less[2],
                          const char *same)
{
    const char *const *around = mpz_sgn (change) > 0 ? more : less;
    GL_AUTOFREE char *amount = NULL;
    mpz_t size;

    if (mpz_sgn (change) == 0)
        return xstrdup (same);
    mpz_init (size);
    mpz_abs (size, change);
    amount = exact_units_text (size, digits);
    mpz_clear (size);
    return xasprintf ("%s%s %s%s", around[0], amount, currency, around[1]);
}

char *summary_payers_text (const site_t *paper, const char *currency,
                           int digits, const summary_month_t *now,
                           const summary_month_t *before)
{
    GL_AUTOFREE char *owner = NULL, *cost = NULL, *teams = NULL, *taxes = NULL;
    char *text;
    mpz_t change, of_cost;

    if (!before->known || mpz_sgn (now->cost) == 0
        || mpz_sgn (before->cost) == 0 || mpz_sgn (now->uncovered) < 0
        || mpz_sgn (before->uncovered) < 0)
        return NULL;
    mpz_init (change);
    mpz_init (of_cost);
    mpz_sub (change, now->uncovered, before->uncovered);
    mpz_sub (of_cost, now->cost, before->cost);
    owner = change_text (
        change, digits, currency, (const char *const[2]){"", " more than"},
        (const char *const[2]){"", " less than"}, "as much as");
    cost = change_text (
        of_cost, digits, currency, (const char *const[2]){"rose by ", ""},
        (const char *const[2]){"fell by ", ""}, "did not change");
    mpz_sub (change, of_cost, change);
    teams = change_text (
        change, digits, currency, (const char *const[2]){"", " more of it"},
        (const char *const[2]){"", " less of it"}, "as much of it as then");
    mpz_sub (change, now->taxes, before->taxes);
    taxes = change_text (change, digits, currency,
                         (const char *const[2]){", which rose by ", ""},
                         (const char *const[2]){", which fell by ", ""}, "");
    mpz_clear (change);
    mpz_clear (of_cost);
    text = xasprintf ("%s pays %s in %s: the cost of the pools %s, and teams "
                      "pay %s, before taxes%s.",
                      summary_payer (paper), owner, before->name, cost, teams,
                      taxes);
    if (!strncmp (text, "the ", 4)) /* a name stays as it is */
        *text = 'T';
    return text;
}

/* A surplus is in the tables alone. */
static void note_payers (page_t *page, const struct costs *later,
                         const struct costs *before)
{
    const summary_month_t *now = &page->s->trend[page->s->trend_count - 1];
    GL_AUTOFREE char *text
        = page->s->trend_count < 2
              ? NULL
              : summary_payers_text (page->s->paper, page->currency,
                                     page->digits, now, now - 1);
    GL_AUTOFREE char *class = largest_class (page, later, before);
    GL_AUTOFREE char *pools = uncovered_pools (page, later, before);

    if (text)
        report_note (page->report, NOTE_INFORMATION, "%s%s%s", text, class,
                     pools);
}

static void note_costs (page_t *page, const struct costs *later,
                        const struct costs *before)
{
    GL_AUTOFREE char *change
        = difference_text (later->sum.cost, before->sum.cost, page->digits);
    GL_AUTOFREE char *parts
        = summary_kinds_text (&later->sum, &before->sum, page->digits);
    GL_AUTOFREE char *capacity = capacity_text (page, later, before);
    GL_AUTOFREE char *percent = NULL;
    mpz_t units;

    mpz_init (units);
    mpz_sub (units, later->sum.cost, before->sum.cost);
    percent = report_signed_text (
        report_units_percent_text (units, before->sum.cost));
    if (change)
        report_note (page->report, NOTE_INFORMATION,
                     "The cost of the pools changed by %s %s (%s %%) since %s: "
                     "%s; by kind of cost: %s.",
                     change, page->currency, percent, page->s->before_month,
                     capacity, parts);
    else
        report_note (page->report, NOTE_INFORMATION,
                     "The cost of the pools is that of %s.",
                     page->s->before_month);
    mpz_clear (units);
}

/* " (59.77 % of the capacity; 67.94 % then)"; "": a month's capacity is not known. */
static char *load_text (const summary_month_t *now,
                        const summary_month_t *before)
{
    GL_AUTOFREE char *later = NULL, *then = NULL;

    if (mpq_sgn (now->capacity) <= 0 || mpq_sgn (before->capacity) <= 0)
        return xstrdup ("");
    later = report_percent_text (now->used, now->capacity);
    then = report_percent_text (before->used, before->capacity);
    return xasprintf (" (%s %% of the capacity; %s %% then)", later, then);
}

char *summary_use_text (const summary_month_t *now,
                        const summary_month_t *before)
{
    GL_AUTOFREE char *used = report_hours_text (now->used);
    GL_AUTOFREE char *load = load_text (now, before);
    GL_AUTOFREE char *hours = NULL;
    char *text;
    mpq_t change;

    mpq_init (change);
    mpq_sub (change, now->used, before->used);
    hours = report_hours_text (change);
    text = mpq_sgn (change) == 0
               ? xasprintf ("Jobs used %s GPU hours%s, as many as then.", used,
                            load)
               : xasprintf ("Jobs used %s GPU hours%s: %s GPU hours %s.", used,
                            load, *hours == '-' ? hours + 1 : hours,
                            *hours == '-' ? "less" : "more");
    mpq_clear (change);
    return text;
}

/* The team with the largest change comes first. */
static void note_change (page_t *page, size_t largest)
{
    const variance_t *v = page->variance[largest];
    GL_AUTOFREE char *parts = parts_of_change (page);
    const summary_month_t *now = &page->s->trend[page->s->trend_count - 1];
    GL_AUTOFREE char *hours = page->s->trend_count < 2
                                  ? xstrdup ("")
                                  : summary_use_text (now, now - 1);
    GL_AUTOFREE char *all = NULL, *most = NULL;
    mpz_t change;

    mpz_init (change);
    mpz_sub (change, v->after, v->before);
    most = report_signed_text (summary_money (page, change));
    mpz_sub (change, page->all.after, page->all.before);
    all = report_signed_text (summary_money (page, change));
    mpz_clear (change);
    if (*parts)
        report_note (page->report, NOTE_INFORMATION,
                     "The amount due changed by %s %s since %s: %s. %s The "
                     "largest change is that of %s, %s.",
                     all, page->currency, page->s->before_month, parts, hours,
                     team_text (page, largest), most);
}

static size_t largest_change (page_t *page)
{
    size_t largest = 0;

    for (size_t i = 1; i < page->teams.count; i++)
        if (by_change (&i, &largest, page) < 0)
            largest = i;
    return largest;
}

void summary_notes (page_t *page)
{
    struct costs later, before;

    costs_init (&later);
    costs_init (&before);
    costs_of (page, page->s->bill, page->s->month, &later);
    costs_of (page, page->s->before, page->s->before_month, &before);
    if (mpz_sgn (later.sum.cost) && mpz_sgn (before.sum.cost)) {
        note_costs (page, &later, &before);
        note_payers (page, &later, &before);
    }
    if (page->teams.count > 0)
        note_change (page, largest_change (page));
    costs_clear (&later);
    costs_clear (&before);
}

/* `before` NULL: no month is compared. */
static void put_cost (page_t *page, const char *name, const mpz_t later,
                      const mpz_t before)
{
    mpz_t change;

    summary_put_money (page, AT_AFTER, later);
    if (name) {
        report_put_text (page->report, AT_SECTION, "cost");
        report_put_text (page->report, AT_NAME, name);
    }
    if (!before)
        return;
    mpz_init (change);
    mpz_sub (change, later, before);
    summary_put_money (page, AT_BEFORE, before);
    summary_put_money (page, AT_CHANGE, change);
    summary_put_made (page, AT_CHANGE_PCT,
                      report_units_percent_text (change, before));
    mpz_clear (change);
}

static void list_kinds (page_t *page, const struct costs *later,
                        const struct costs *before)
{
    report_section (page->report, "What the pools cost", "");
    for (size_t i = 0; i < COST_KIND_COUNT; i++) {
        if (mpz_sgn (later->sum.kind[i]) == 0
            && (!before || mpz_sgn (before->sum.kind[i]) == 0))
            continue;
        report_row (page->report);
        put_cost (page, cost_kind_name ((cost_kind_t)i), later->sum.kind[i],
                  before ? before->sum.kind[i] : NULL);
    }
    report_section_totals (page->report);
    put_cost (page, NULL, later->sum.cost, before ? before->sum.cost : NULL);
}

static void list_payers (page_t *page, const struct costs *later,
                         const struct costs *before)
{
    GL_AUTOFREE char *owner
        = xasprintf ("The rest, paid by %s", summary_payer (page->s->paper));
    mpz_t now, then;

    mpz_init (now);
    mpz_init (then);
    mpz_sub (now, later->sum.cost, later->sum.uncovered);
    if (before)
        mpz_sub (then, before->sum.cost, before->sum.uncovered);
    report_section (page->report, "Who pays this cost",
                    "Below 0: charges are more than the cost.");
    report_row (page->report);
    put_cost (page, "Teams, by charges less credits, without taxes", now,
              before ? then : NULL);
    report_row (page->report);
    put_cost (page, owner, later->sum.uncovered,
              before ? before->sum.uncovered : NULL);
    report_section_totals (page->report);
    put_cost (page, NULL, later->sum.cost, before ? before->sum.cost : NULL);
    mpz_clear (now);
    mpz_clear (then);
}

/* Parts below 0 are what charges recover above the cost. */
static void list_uncovered (page_t *page, const struct costs *later,
                            const struct costs *before)
{
    GL_AUTOFREE char *title = xasprintf ("What the part paid by %s is",
                                         summary_payer (page->s->paper));
    cube_t *none = cube_new (&bill_fields[BILL_POSTINGS], "what");
    cube_t *classes = cube_difference (later->by_class,
                                       before ? before->by_class : none, true);
    mpz_t zero;

    mpz_init (zero);
    if (mpz_sgn (later->sum.uncovered))
        report_section (page->report, title,
                        "Unallocated cost is the cost of capacity that no "
                        "team is charged for. A shortfall lowers charges: "
                        "subsidies, credits, rates below cost. Recovered above "
                        "cost, below 0, is what rates and surcharges bring "
                        "above the cost of the hours charged: it pays for the "
                        "other parts.");
    for (size_t i = 0;
         i < cube_count (classes) && mpz_sgn (later->sum.uncovered); i++) {
        const posting_t *now = cube_later (classes, i),
                        *then = cube_earlier (classes, i);
        if ((!now || mpz_sgn (now->charge_units) == 0)
            && (!before || !then || mpz_sgn (then->charge_units) == 0))
            continue;
        GL_AUTOFREE char *label = class_label (classes, i);
        report_row (page->report);
        put_cost (page, label, now ? now->charge_units : zero,
                  !before ? NULL
                  : then  ? then->charge_units
                          : zero);
    }
    if (mpz_sgn (later->sum.uncovered)) {
        report_section_totals (page->report);
        put_cost (page, NULL, later->sum.uncovered,
                  before ? before->sum.uncovered : NULL);
    }
    mpz_clear (zero);
    cube_free (classes);
    cube_free (none);
}

void summary_list_costs (page_t *page)
{
    struct costs later, before;
    const struct costs *compared = NULL;

    costs_init (&later);
    costs_init (&before);
    costs_of (page, page->s->bill, page->s->month, &later);
    if (page->s->before) {
        costs_of (page, page->s->before, page->s->before_month, &before);
        compared = mpz_sgn (before.sum.cost) ? &before : NULL;
    }
    if (mpz_sgn (later.sum.cost)) {
        list_kinds (page, &later, compared);
        list_payers (page, &later, compared);
        list_uncovered (page, &later, compared);
    }
    costs_clear (&later);
    costs_clear (&before);
}

/* --- twelve months ---------------------------------------------------------- */

/* What teams may spend in a month that begins at `instant`: larger periods in equal
 * parts. False: no team has a budget of money. */
static bool budget_at (const site_t *site, int64_t instant, mpq_t ret_amount)
{
    static const unsigned long months[]
        = {[BUDGET_MONTH] = 1, [BUDGET_QUARTER] = 3, [BUDGET_YEAR] = 12};
    bool any = false;
    mpq_t part;

    mpq_init (part);
    mpq_set_ui (ret_amount, 0, 1);
    for (size_t i = 0; i < site->budget_count; i++) {
        const site_budget_t *budget = &site->budgets[i];
        if (!budget->team || mpq_sgn (budget->amount) == 0
            || instant < budget->valid.start || instant >= budget->valid.end)
            continue;
        mpq_set_ui (part, 1, months[budget->period]);
        mpq_mul (part, part, budget->amount);
        mpq_add (ret_amount, ret_amount, part);
        any = true;
    }
    mpq_clear (part);
    return any;
}

static void to_units (mpq_t value, int digits)
{
    mpz_t scale;

    mpz_init (scale);
    mpz_ui_pow_ui (scale, 10, (unsigned long)digits);
    mpz_mul (mpq_numref (value), mpq_numref (value), scale);
    mpq_canonicalize (value);
    mpz_clear (scale);
}

enum { TREND_DUE, TREND_COST, TREND_BUDGET, TREND_COUNT };

/* The values of the trend, by series and month. */
struct trend {
    mpq_t *value[TREND_COUNT];
    bool *unknown[TREND_COUNT];
    bool any[TREND_COUNT];
    const char **name;
};

static void take_month (struct trend *t, const page_t *page, size_t i)
{
    const summary_month_t *month = &page->s->trend[i];
    const site_t *site = page->s->query->site;
    gl_error_t error;
    period_t period;

    t->name[i] = month->name;
    mpq_set_z (t->value[TREND_DUE][i], month->due);
    mpq_set_z (t->value[TREND_COST][i], month->cost);
    t->unknown[TREND_DUE][i] = !month->known;
    t->unknown[TREND_COST][i] = mpz_sgn (month->cost) == 0;
    t->unknown[TREND_BUDGET][i]
        = report_month_parse (site->zone, month->name, &period, &error) < 0
          || !budget_at (site, period.start, t->value[TREND_BUDGET][i]);
    to_units (t->value[TREND_BUDGET][i], page->digits);
    for (size_t k = 0; k < TREND_COUNT; k++)
        t->any[k] = t->any[k] || !t->unknown[k][i];
}

static bool has_budget (const site_t *site, const char *team)
{
    for (size_t i = 0; i < site->budget_count; i++)
        if (site->budgets[i].team && !strcmp (site->budgets[i].team, team)
            && mpq_sgn (site->budgets[i].amount) != 0)
            return true;
    return false;
}

/* Else their sum is not to be compared with what all teams owe. */
static bool all_have_budgets (const page_t *page)
{
    for (size_t i = 0; i < page->teams.count; i++)
        if (mpz_sgn (page->variance[i]->after) != 0
            && !has_budget (page->s->query->site, page->teams.item[i]))
            return false;
    return true;
}

static void trend_make (struct trend *t, const page_t *page)
{
    size_t count = page->s->trend_count;

    t->name = xcalloc (count + 1, sizeof (*t->name));
    for (size_t k = 0; k < TREND_COUNT; k++) {
        t->value[k] = xcalloc (count + 1, sizeof (*t->value[k]));
        t->unknown[k] = xcalloc (count + 1, sizeof (*t->unknown[k]));
        for (size_t i = 0; i < count; i++)
            mpq_init (t->value[k][i]);
    }
    for (size_t i = 0; i < count; i++)
        take_month (t, page, i);
}

static void trend_clear (struct trend *t, size_t count)
{
    for (size_t k = 0; k < TREND_COUNT; k++) {
        GL_FREE_EACH (t->value[k], count, it, mpq_clear (*it));
        free (t->unknown[k]);
    }
    free (t->name);
}

static void chart_trend (page_t *page)
{
    static const char *const titles[TREND_COUNT]
        = {"Amount due, all teams", "Cost of the pools", "Budgets of teams"};
    struct trend t = {.name = NULL};
    plot_series_t series[TREND_COUNT];
    size_t count = 0;

    if (page->s->trend_count < 2)
        return;
    trend_make (&t, page);
    for (size_t k = 0; k < TREND_COUNT; k++)
        if (t.any[k] && (k != TREND_BUDGET || all_have_budgets (page)))
            series[count++] = (plot_series_t){
                titles[k], (const mpq_t *)t.value[k], t.unknown[k], (int)k};
    report_plot (page->report,
                 &(plot_t){.kind = CHART_LINES,
                           .title = "Month by month",
                           .description
                           = count == TREND_COUNT
                                 ? "Amounts due, cost of the pools, and "
                                   "budgets of teams; budgets of a quarter or "
                                   "year in equal parts."
                                 : "Amounts due, and cost of the pools.",
                           .type = COLUMN_MONEY,
                           .digits = page->digits,
                           .unit = page->currency,
                           .point = t.name,
                           .point_count = page->s->trend_count,
                           .series = series,
                           .series_count = count});
    trend_clear (&t, page->s->trend_count);
}

/* --- shares and recovery ---------------------------------------------------- */

static int by_due (const void *a, const void *b, void *arg)
{
    const page_t *page = arg;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = mpz_cmp (page->variance[y]->after, page->variance[x]->after);

    return order ? order : strcmp (page->teams.item[x], page->teams.item[y]);
}

/* "vision (35.30 %)" */
static void share_item (page_t *page, report_chart_t *chart, const char *label,
                        const mpz_t units, const mpz_t largest)
{
    GL_AUTOFREE char *percent
        = report_units_percent_text (units, page->all.after);
    GL_AUTOFREE char *text
        = percent ? xasprintf ("%s (%s %%)", label, percent) : xstrdup (label);

    report_chart_money (chart, text, units, largest, page->digits, 0);
}

/* The largest teams, and the others together; amounts below 0 with the others. */
static void chart_shares (page_t *page)
{
    size_t count = page->teams.count;
    size_t *order = xcalloc (count + 1, sizeof (*order));
    size_t shown = count <= REPORT_CHART_ROWS ? count : REPORT_CHART_ROWS - 1;
    report_chart_t *chart = report_chart (
        page->report, CHART_BARS, "Share by team",
        "The amount due of each team, and its share of the total.");
    mpz_t others;

    for (size_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r (order, count, sizeof (*order), by_due, page);
    mpz_init_set (others, page->all.after);
    for (size_t i = 0; i < shown; i++) {
        const variance_t *v = page->variance[order[i]];
        share_item (page, chart, team_text (page, order[i]), v->after,
                    page->variance[order[0]]->after);
        mpz_sub (others, others, v->after);
    }
    if (shown < count)
        share_item (page, chart, "all others", others,
                    page->variance[order[0]]->after);
    mpz_clear (others);
    free (order);
}

/* The chargeback's own: one computation, two pages. */
static void chart_recovery (page_t *page)
{
    report_t *from = page->s->chargeback;

    for (size_t i = 0; i < from->chart_count; i++)
        if (from->chart[i].kind == CHART_STACK) {
            report_take_chart (page->report, from, i);
            return;
        }
}

void summary_charts (page_t *page)
{
    chart_recovery (page);
    chart_trend (page);
    if (page->s->before)
        chart_changes (page);
    chart_shares (page);
}
