#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "carbon/carbon_page.h"
#include "ledger/bill_tax.h"
#include "statement/summary_private.h"

const char summary_usage_keys[] = "pool,team,project,qos";

/* --- small things ----------------------------------------------------------- */

char *summary_money (const page_t *page, const mpz_t units)
{
    return exact_units_text (units, page->digits);
}

void summary_put_money (page_t *page, size_t column, const mpz_t units)
{
    report_put_money (page->report, column, units, page->digits);
}

void summary_put_made (page_t *page, size_t column, char *text)
{
    if (text)
        report_put_text (page->report, column, text);
    free (text);
}

void summary_costs (const page_t *page, mpz_t ret)
{
    const summary_t *s = page->s;

    mpz_set (ret, s->trend[s->trend_count - 1].cost);
}

/* --- columns ---------------------------------------------------------------- */

static const column_info_t columns[AT_PART] = {
    {"section", "Section", COLUMN_TEXT, true, true,
     "Part of the page: cost, change, waste, unknown or action."},
    {"team", "Team", COLUMN_TEXT, true, true,
     "The team that the row is about."},
    {"pool", "Pool", COLUMN_TEXT, true, true,
     "The pool that the row is about."},
    {"name", "Name", COLUMN_TEXT, true, false,
     "The team, kind of cost or waste, who pays, or action."},
    {"before", "Last month", COLUMN_MONEY, false, false,
     "The amount due for last month, what the pools cost, or what was wasted "
     "in it."},
    {"after", "This month", COLUMN_MONEY, false, false,
     "The amount due for this month, or what the pools cost in it."},
    {"amount", "Amount", COLUMN_MONEY, false, false,
     "Waste: the price of the hours in jobs, or the cost of capacity without "
     "jobs. Actions: what they could save or recover at most."},
    {"change", "Change", COLUMN_MONEY, false, false,
     "The difference. Its parts follow and add up to it."},
    {"change_pct", "Change %", COLUMN_PERCENT, false, false,
     "The difference as a percentage of last month."},
};

static const column_info_t rest[] = {
    {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
     "Hours of physical GPUs that were wasted, or whose state is unknown."},
    {"due_share_pct", "Share of due %", COLUMN_PERCENT, false, false,
     "Waste in jobs as a percentage of the amount due by all teams."},
    {"cost_share_pct", "Share of cost %", COLUMN_PERCENT, false, false,
     "Capacity without jobs as a percentage of the cost of the pools."},
    {"command", "Command", COLUMN_TEXT, false, false,
     "The command that shows the figures behind it."},
};

static void add_columns (page_t *page)
{
    size_t rows;

    report_columns (page->report, columns, GL_ARRAY_SIZE (columns));
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const change_info_t *info = change_info ((change_id_t)i);
        size_t at = report_column (page->report, info->word, info->title,
                                   COLUMN_MONEY, false);
        report_column_help (page->report, at, info->help);
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (rest); i++) {
        size_t at = report_column (page->report, rest[i].name, rest[i].title,
                                   rest[i].type, false);
        report_column_help (page->report, at, rest[i].help);
    }
    bill_carbon (page->s->bill, &rows);
    if (rows > 0)
        page->energy = carbon_columns (page->report);
}

/* --- figures and quality ---------------------------------------------------- */

static void figure_change (page_t *page)
{
    GL_AUTOFREE char *title
        = xasprintf ("Due, since %s", page->s->before_month);
    GL_AUTOFREE char *before = summary_money (page, page->all.before);
    GL_AUTOFREE char *text = NULL, *percent = NULL, *hint = NULL;
    mpz_t change;

    if (page->s->goes_on || !page->s->before)
        return;
    mpz_init (change);
    mpz_sub (change, page->all.after, page->all.before);
    text = report_signed_text (summary_money (page, change));
    percent = report_signed_text (
        report_units_percent_text (change, page->all.before));
    hint = percent ? xasprintf ("%s, %s %% from %s", page->currency, percent,
                                before)
                   : xasprintf ("%s, from %s", page->currency, before);
    report_figure (page->report, title, text, hint, COLUMN_MONEY);
    mpz_clear (change);
}

static void figure_budget (page_t *page)
{
    mpq_t spent, amount;
    size_t count = 0, last = 0;

    mpq_inits (spent, amount, NULL);
    for (size_t i = 0; i < page->s->budget_count; i++) {
        const budget_t *b = page->s->budgets[i];
        if (!b->of_money || !b->known || !b->budget->team)
            continue;
        mpq_add (spent, spent, b->spent);
        mpq_add (amount, amount, b->amount);
        count++;
        last = i;
    }
    if (count > 0) {
        GL_AUTOFREE char *percent = report_percent_text (spent, amount);
        GL_AUTOFREE char *text = percent ? xasprintf ("%s %%", percent) : NULL;
        GL_AUTOFREE char *used = budget_text (page->s->budgets[last], spent);
        GL_AUTOFREE char *all = budget_text (page->s->budgets[last], amount);
        GL_AUTOFREE char *of
            = count == 1
                  ? xstrdup (page->s->budgets[last]->period_name)
                  : xasprintf ("%zu budgets of teams, each for its period",
                               count);
        GL_AUTOFREE char *hint = xasprintf ("spent: %s of %s %s in %s", used,
                                            all, page->currency, of);
        GL_AUTOFREE char *title
            = count > 1 ? xstrdup ("Budgets of teams")
                        : xasprintf ("Budget of %s",
                                     page->s->budgets[last]->budget->team);
        report_figure (page->report, title, text, hint, COLUMN_TEXT);
    }
    mpq_clears (spent, amount, NULL);
}

/* The sums of what was wasted in the month before; NULL: it is not compared. */
static const summary_month_t *wasted_before (const page_t *page)
{
    const summary_t *s = page->s;

    return s->waste_before && s->trend_count > 1 ? &s->trend[s->trend_count - 2]
                                                 : NULL;
}

/* What is unknown is no waste, and is named apart. */
static void figure_waste (page_t *page)
{
    const summary_month_t *month = &page->s->trend[page->s->trend_count - 1];
    GL_AUTOFREE char *hint = summary_waste_text (month, wasted_before (page),
                                                 page->currency, page->digits);
    GL_AUTOFREE char *text = summary_waste_value (month, page->digits);

    report_figure (page->report, "Wasted", text, hint, COLUMN_WORDS);
}

static void note_waste (page_t *page)
{
    GL_AUTOFREE char *text = summary_waste_compared (
        &page->s->trend[page->s->trend_count - 1], wasted_before (page),
        page->currency, page->digits);

    if (text)
        report_note (page->report, NOTE_INFORMATION, "%s", text);
}

const char *summary_payer (const site_t *paper)
{
    const site_issuer_t *issuer = &paper->issuer;

    return issuer->owner ? issuer->owner
                         : issuer->operator
               ? issuer->operator: "the site";
}

const char *summary_uncovered_title (const mpz_t uncovered)
{
    return mpz_sgn (uncovered) < 0 ? "Surplus over cost"
                                   : "Not charged to teams";
}

/* The month before, where the two are compared. */
static const summary_month_t *earlier_month (const page_t *page)
{
    const summary_t *s = page->s;
    const summary_month_t *before
        = s->trend_count > 1 ? &s->trend[s->trend_count - 2] : NULL;

    return before && before->known && mpz_sgn (before->cost) && !s->goes_on
               ? before
               : NULL;
}

char *summary_since_text (const mpz_t now, const mpz_t then, const char *since,
                          int digits)
{
    GL_AUTOFREE char *amount = NULL, *percent = NULL;
    mpz_t change;

    mpz_init (change);
    mpz_sub (change, now, then);
    amount = report_signed_text (exact_units_text (change, digits));
    percent = report_signed_text (report_units_percent_text (change, then));
    mpz_clear (change);
    return percent ? xasprintf ("; %s (%s %%) since %s", amount, percent, since)
                   : xasprintf ("; %s since %s", amount, since);
}

/* Of amounts of the same sign. */
static char *since_earlier (const page_t *page, const mpz_t now,
                            const mpz_t then)
{
    const summary_month_t *before = earlier_month (page);

    return before && mpz_sgn (now) * mpz_sgn (then) > 0
               ? summary_since_text (now, then, before->name, page->digits)
               : xstrdup ("");
}

static void figure_uncovered (page_t *page, const mpz_t costs)
{
    const summary_month_t *month = &page->s->trend[page->s->trend_count - 1];
    const summary_month_t *before = earlier_month (page);
    GL_AUTOFREE char *since
        = before ? since_earlier (page, month->uncovered, before->uncovered)
                 : xstrdup ("");
    GL_AUTOFREE char *text = NULL, *percent = NULL, *hint = NULL;
    GL_AUTOFREE char *payer
        = mpz_sgn (month->uncovered) < 0
              ? xstrdup ("")
              : xasprintf (", paid by %s%s", summary_payer (page->s->paper),
                           mpz_sgn (month->others) > 0 ? " and others" : "");
    mpz_t units;

    mpz_init (units);
    mpz_abs (units, month->uncovered);
    text = summary_money (page, units);
    percent = report_units_percent_text (units, costs);
    hint = xasprintf (
        "%s%s: %s %% of the cost, which the teams' charges %s%s",
        page->currency, payer, percent,
        mpz_sgn (month->uncovered) < 0 ? "exceed" : "do not cover", since);
    report_figure (page->report, summary_uncovered_title (month->uncovered),
                   text, hint, COLUMN_MONEY);
    mpz_clear (units);
}

/* Due, but not for the pools in this month. */
static bool is_other (const char *month, const posting_t *row)
{
    switch (row->kind) {
    case BILL_CHARGE:
    case BILL_IDLE:
    case BILL_SETTLEMENT:
        return false;
    case BILL_PURCHASE:
        return !row->pool;
    case BILL_CREDIT:
        return row->reason || strcmp (row->month, month) != 0;
    default:
        return true;
    }
}

/* "less taxes (VAT 25 %)": what is taken off the amounts due. Yours to free. */
static char *less_text (const bill_t *bill, bill_kind_t kind, int digits)
{
    text_list_t names = {.count = 0};
    BUFFER_AUTO text = BUFFER_INIT;
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count && kind == BILL_TAX; i++) {
        GL_AUTOFREE char *name = rows[i].kind == BILL_TAX
                                     ? bill_tax_name (bill, &rows[i], digits)
                                     : NULL;
        if (name)
            texts_add_new (&names, name);
    }
    buffer_printf (&text, "less %s", bill_kind_title (kind));
    for (size_t i = 0; i < names.count; i++)
        buffer_printf (&text, "%s%s%s", i == 0 ? " (" : ", ", names.item[i],
                       i + 1 == names.count ? ")" : "");
    texts_clear (&names);
    return buffer_take (&text);
}

void summary_prove_payers (report_t *report, const site_t *paper,
                           const summary_month_t *month, const bill_t *bill,
                           int digits)
{
    GL_AUTOFREE char *title
        = xasprintf ("Who pays the cost, %s", paper->currency);
    size_t count;
    const posting_t *rows = postings (bill, &count);
    report_proof_t *proof;
    mpz_t other[BILL_KIND_COUNT], sum;

    if (mpz_sgn (month->cost) == 0)
        return;
    for (size_t kind = 0; kind < BILL_KIND_COUNT; kind++)
        mpz_init (other[kind]);
    for (size_t i = 0; i < count; i++)
        if (posting_is_due (&rows[i]) && is_other (month->name, &rows[i]))
            mpz_sub (other[rows[i].kind], other[rows[i].kind],
                     rows[i].charge_units);
    proof = report_proof (report, title);
    report_proof_money (proof, "due by all teams", month->due, digits);
    mpz_init_set (sum, month->due);
    for (size_t kind = 0; kind < BILL_KIND_COUNT; kind++) {
        GL_AUTOFREE char *label = less_text (bill, (bill_kind_t)kind, digits);
        if (mpz_sgn (other[kind]) != 0)
            report_proof_money (proof, label, other[kind], digits);
        mpz_add (sum, sum, other[kind]);
        mpz_clear (other[kind]);
    }
    report_proof_money (proof, summary_uncovered_title (month->uncovered),
                        month->uncovered, digits);
    mpz_add (sum, sum, month->uncovered);
    report_proof_money (proof, "cost of the pools", month->cost, digits);
    proof->holds = mpz_cmp (sum, month->cost) == 0;
    mpz_clear (sum);
}

static void add_figures (page_t *page)
{
    GL_AUTOFREE char *due = summary_money (page, page->all.after);
    GL_AUTOFREE char *taxes = summary_taxes_text (
        &page->s->trend[page->s->trend_count - 1], page->digits);
    GL_AUTOFREE char *hint = xasprintf (
        "%s to be paid by %zu team%s%s; %s", page->currency, page->teams.count,
        page->teams.count == 1 ? "" : "s", taxes, page->s->state);
    GL_AUTOFREE char *cost = NULL, *of_cost = NULL, *since = NULL,
                     *others = NULL;
    const summary_month_t *before;
    mpz_t costs;

    mpz_init (costs);
    summary_costs (page, costs);
    cost = summary_money (page, costs);
    before = earlier_month (page);
    since = before ? since_earlier (page, costs, before->cost) : xstrdup ("");
    others = summary_others_text (&page->s->trend[page->s->trend_count - 1],
                                  page->digits);
    of_cost = xasprintf ("%s for all GPUs, used or not%s%s", page->currency,
                         others, since);
    report_figure (page->report, "Cost of the pools",
                   mpz_sgn (costs) ? cost : NULL, of_cost, COLUMN_MONEY);
    if (mpz_sgn (costs) > 0)
        figure_uncovered (page, costs);
    report_figure (page->report, "Due from teams", due, hint, COLUMN_MONEY);
    figure_change (page);
    figure_budget (page);
    figure_waste (page);
    mpz_clear (costs);
}

/* GPU-seconds of the cells that have no project. */
static void untagged_seconds (const page_t *page, mpq_t ret)
{
    mpq_t seconds;

    mpq_init (seconds);
    for (size_t i = 0; i < page->s->usage_count; i++)
        if (!page->s->usage[i].key[KEY_AT_PROJECT]
            && usage_cell_gpu_seconds (&page->s->usage[i], seconds))
            mpq_add (ret, ret, seconds);
    mpq_clear (seconds);
}

/* A larger part of the cost than this is unknown: the page begins with it. */
#define LEAD_PERCENT 10

/* Of capacity whose state no source has. */
static void unknown_units (const page_t *page, mpz_t ret)
{
    for (size_t i = 0; i < cube_count (page->s->waste); i++) {
        const waste_t *row = cube_row (page->s->waste, i);
        if (waste_info (row->what)->group == WASTE_UNKNOWN)
            mpz_add (ret, ret, row->units);
    }
}

static bool leads_unknown (const page_t *page)
{
    mpz_t unknown, cost;
    bool leads;

    mpz_inits (unknown, cost, NULL);
    unknown_units (page, unknown);
    summary_costs (page, cost);
    mpz_mul_ui (unknown, unknown, 100);
    mpz_mul_ui (cost, cost, LEAD_PERCENT);
    leads = mpz_sgn (cost) > 0 && mpz_cmp (unknown, cost) > 0;
    mpz_clears (unknown, cost, NULL);
    return leads;
}

static void note_unknown (page_t *page)
{
    GL_AUTOFREE char *text = NULL, *percent = NULL;
    mpz_t unknown, cost;

    if (!leads_unknown (page))
        return;
    mpz_inits (unknown, cost, NULL);
    unknown_units (page, unknown);
    summary_costs (page, cost);
    text = summary_money (page, unknown);
    percent = report_units_percent_text (unknown, cost);
    report_note (
        page->report, NOTE_LEAD,
        "%s %% of the cost of the pools, %s %s, is for capacity without "
        "jobs of which no source says whether it was up: it may have "
        "been idle or down.",
        percent, text, page->currency);
    mpz_clears (unknown, cost, NULL);
}

/* Of capacity: what is to be done about it saves nothing. */
static char *unknown_text (const page_t *page)
{
    GL_AUTOFREE char *hours = NULL;
    char *text;
    mpq_t seconds;

    mpq_init (seconds);
    for (size_t i = 0; i < cube_count (page->s->waste); i++) {
        const waste_t *row = cube_row (page->s->waste, i);
        if (waste_info (row->what)->group == WASTE_UNKNOWN)
            mpq_add (seconds, seconds, row->seconds);
    }
    hours = report_hours_text (seconds);
    text = mpq_sgn (seconds) == 0
               ? xstrdup ("")
               : xasprintf ("; no source says whether %s GPU hours of free "
                            "capacity were up",
                            hours);
    mpq_clear (seconds);
    return text;
}

/* Budgets of money that are exceeded. */
static void note_budgets (page_t *page)
{
    for (size_t i = 0; i < page->s->budget_count; i++) {
        const budget_t *b = page->s->budgets[i];
        mpq_t beyond;
        if (!b->of_money || !b->known || mpq_cmp (b->spent, b->amount) <= 0)
            continue;
        mpq_init (beyond);
        mpq_sub (beyond, b->spent, b->amount);
        GL_AUTOFREE char *text = budget_text (b, beyond);
        report_note (page->report, NOTE_INFORMATION,
                     "Budget '%s' is exceeded by %s %s: agree on another one "
                     "with its owner.",
                     b->budget->name, text, page->currency);
        mpq_clear (beyond);
    }
}

static void note_quality (page_t *page)
{
    const usage_cell_t *whole = page->s->whole;
    mpq_t covered, allocated, untagged, all;

    if (!whole)
        return;
    mpq_inits (covered, allocated, untagged, all, NULL);
    usage_cell_covered (whole, offsetof (measured_t, sampled_ms), covered,
                        allocated);
    untagged_seconds (page, untagged);
    if (usage_cell_gpu_seconds (whole, all) && mpq_sgn (all) > 0) {
        GL_AUTOFREE char *measured = report_coverage_text (covered, allocated);
        GL_AUTOFREE char *without = report_percent_text (untagged, all);
        GL_AUTOFREE char *unknown = unknown_text (page);
        GL_AUTOFREE char *gpus
            = whole->unknown_jobs == 0
                  ? xasprintf ("all %llu jobs are known",
                               (unsigned long long)whole->jobs)
                  : xasprintf ("%llu of %llu jobs are unknown",
                               (unsigned long long)whole->unknown_jobs,
                               (unsigned long long)whole->jobs);
        report_note (
            page->report, NOTE_INFORMATION,
            "Data quality: %s %% of the allocated GPU time was measured on the "
            "nodes (charges come from Slurm and do not need it); %s "
            "%% of it has no project; the GPUs of %s%s.",
            measured ? measured : "0.00", without, gpus, unknown);
        if (*unknown)
            report_note (page->report, NOTE_COMMAND,
                         "'gpuledger sync' reads the downtime of nodes from "
                         "slurmdbd, if slurmdbd recorded it and still has it "
                         "(PurgeEventAfter); a file of sacct has no such "
                         "events. A month keeps what was known when it was "
                         "closed.");
    }
    mpq_clears (covered, allocated, untagged, all, NULL);
}

/* --- the page --------------------------------------------------------------- */

void summary_month_init (summary_month_t *month)
{
    *month = (summary_month_t){.name = NULL};
    mpz_inits (month->due, month->taxes, month->cost, month->others,
               month->uncovered, NULL);
    mpq_inits (month->used, month->capacity, NULL);
    for (size_t i = 0; i < COST_KIND_COUNT; i++)
        mpz_init (month->kind[i]);
    for (size_t i = 0; i < WASTE_GROUP_COUNT; i++)
        mpz_init (month->waste[i]);
    fields_init (&waste_rows, &month->allocated);
}

void summary_month_clear (summary_month_t *month)
{
    free (month->name);
    mpz_clears (month->due, month->taxes, month->cost, month->others,
                month->uncovered, NULL);
    mpq_clears (month->used, month->capacity, NULL);
    for (size_t i = 0; i < COST_KIND_COUNT; i++)
        mpz_clear (month->kind[i]);
    for (size_t i = 0; i < WASTE_GROUP_COUNT; i++)
        mpz_clear (month->waste[i]);
    fields_clear (&waste_rows, &month->allocated);
}

void summary_month_copy (summary_month_t *to, const summary_month_t *from)
{
    to->name = xstrdup (from->name);
    to->known = from->known;
    mpz_set (to->due, from->due);
    mpz_set (to->taxes, from->taxes);
    mpz_set (to->cost, from->cost);
    mpz_set (to->others, from->others);
    for (size_t i = 0; i < COST_KIND_COUNT; i++)
        mpz_set (to->kind[i], from->kind[i]);
    mpq_set (to->used, from->used);
    mpq_set (to->capacity, from->capacity);
    mpz_set (to->uncovered, from->uncovered);
    to->waste_known = from->waste_known;
    for (size_t i = 0; i < WASTE_GROUP_COUNT; i++)
        mpz_set (to->waste[i], from->waste[i]);
    fields_copy (&waste_rows, &to->allocated, &from->allocated);
}

bool summary_is_uncovered (const char *month, const posting_t *row)
{
    return row->kind == BILL_REMAINDER && !strcmp (row->month, month)
           && strcmp (row->what, BILL_DISPOSAL) != 0;
}

char *summary_others_text (const summary_month_t *month, int digits)
{
    GL_AUTOFREE char *others = exact_units_text (month->others, digits);

    return mpz_sgn (month->others) > 0
               ? xasprintf ("; others, such as an award, paid for %s of it",
                            others)
               : xstrdup ("");
}

char *summary_taxes_text (const summary_month_t *month, int digits)
{
    GL_AUTOFREE char *taxes = exact_units_text (month->taxes, digits);
    GL_AUTOFREE char *net = NULL;
    mpz_t before;

    mpz_init (before);
    mpz_sub (before, month->due, month->taxes);
    net = exact_units_text (before, digits);
    mpz_clear (before);
    return mpz_sgn (month->taxes)
               ? xasprintf (": %s and taxes of %s", net, taxes)
               : xstrdup ("");
}

static void take_kinds (summary_month_t *month, const bill_t *bill)
{
    size_t count;
    const bill_cost_t *lines = bill_costs (bill, &count);

    mpz_set (month->kind[COST_DISPOSAL], month->cost);
    for (size_t i = 0; i < count; i++) {
        if (strcmp (lines[i].month, month->name) != 0
            || lines[i].kind == COST_DISPOSAL)
            continue;
        mpz_add (month->kind[lines[i].kind], month->kind[lines[i].kind],
                 lines[i].units);
        mpz_sub (month->kind[COST_DISPOSAL], month->kind[COST_DISPOSAL],
                 lines[i].units);
    }
}

/* The cost of the full book has what charges cannot recover. */
static void take_others (summary_month_t *month, const bill_pool_t *pool)
{
    if (!pool->has_cost || mpz_cmp (pool->cost_units, pool->full_units) != 0)
        return;
    mpz_add (month->others, month->others, pool->full_units);
    mpz_sub (month->others, month->others, pool->recoverable_units);
}

void summary_month_take (summary_month_t *month, const site_t *site,
                         const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    const bill_pool_t *pools;

    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind == BILL_CHARGE)
            exact_add (month->used, rows[i].gpu_seconds);
        if (posting_is_due (&rows[i])) {
            mpz_add (month->due, month->due, rows[i].charge_units);
            if (rows[i].kind == BILL_TAX)
                mpz_add (month->taxes, month->taxes, rows[i].charge_units);
        } else if (summary_is_uncovered (month->name, &rows[i]))
            mpz_add (month->uncovered, month->uncovered, rows[i].charge_units);
    }
    month->known = count > 0;
    pools = bill_pools (bill, &count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp (pools[i].month, month->name)) {
            if (pools[i].has_cost)
                mpz_add (month->cost, month->cost, pools[i].cost_units);
            take_others (month, &pools[i]);
            if (!site_pool_of_cpus (site, pools[i].pool))
                mpq_add (month->capacity, month->capacity, pools[i].capacity);
        }
    take_kinds (month, bill);
}

static void fill (page_t *page)
{
    add_columns (page);
    note_unknown (page);
    add_figures (page);
    if (page->s->before)
        summary_notes (page);
    note_waste (page);
    note_budgets (page);
    note_quality (page);
    summary_charts (page);
    summary_list_costs (page);
    summary_actions (page);
    if (page->s->before)
        summary_changes (page);
    else if (page->s->goes_on)
        report_note (page->report, NOTE_INFORMATION,
                     "%s is not over: it is compared with %s when it is.",
                     page->s->month, page->s->before_month);
    summary_waste (page);
    summary_carbon (page);
    summary_prove_payers (page->report, page->s->paper,
                          &page->s->trend[page->s->trend_count - 1],
                          page->s->bill, page->digits);
}

report_t *summary_make (const summary_t *summary, gl_error_t *error)
{
    page_t page
        = {.s = summary,
           .report = report_begin (summary->query, "summary", "GPU summary"),
           .digits = summary->query->site->currency_digits,
           .currency = summary->query->site->currency};
    report_t *report = page.report;

    variance_init (&page.all);
    if (summary_split (&page, error) == 0)
        fill (&page);
    else {
        report_free (report);
        report = NULL;
    }
    free (page.variance);
    texts_clear (&page.teams);
    variance_clear (&page.all);
    return report;
}
