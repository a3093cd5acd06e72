/* What was wasted in a month, and what to look at first. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "carbon/carbon_page.h"
#include "ledger/bill_idle.h"
#include "statement/summary_private.h"

/* Hours with one decimal. */
static char *tenths (const mpq_t seconds)
{
    mpq_t hours, second;
    char *text;

    mpq_inits (hours, second, NULL);
    mpq_set_ui (second, 1, 3600);
    mpq_mul (hours, seconds, second);
    text = exact_text (hours, 1);
    mpq_clears (hours, second, NULL);
    return text;
}

/* --- waste ------------------------------------------------------------------ */

/* Of jobs by what prices their time, and team; the amounts follow. */
cube_t *summary_waste_of (const bill_t *bill, const usage_cell_t *usage,
                          size_t count)
{
    cube_t *waste = cube_new (&waste_rows, "what,pool,team");
    cube_t *seconds = cube_new (&waste_rows, WASTE_PRICED ",team");
    cube_t *prices = bill_time_prices (bill);
    waste_t keys;

    fields_init (&waste_rows, &keys);
    for (size_t i = 0; i < count; i++) {
        const usage_cell_t *cell = &usage[i];
        keys.keys.pool = cell->key[KEY_AT_POOL];
        keys.keys.team = cell->key[KEY_AT_TEAM];
        keys.keys.qos = cell->key[KEY_AT_QOS];
        for (size_t k = 0; keys.keys.pool && k < cell->part_count; k++)
            waste_take_part (seconds, &keys, &cell->part[k], WASTE_IDLE_AS_ONE);
    }
    waste_add_priced (waste, seconds, prices);
    waste_take_capacity (waste, bill);
    fields_clear (&waste_rows, &keys);
    cube_free (prices);
    cube_free (seconds);
    return waste;
}

void summary_month_waste (summary_month_t *month, cube_t *waste,
                          const usage_cell_t *usage, size_t count)
{
    cube_t *allocated = cube_new (&waste_rows, "");
    waste_t none;

    if (month->waste_known) {
        cube_free (allocated);
        return;
    }
    month->waste_known = true;
    for (size_t i = 0; i < cube_count (waste); i++) {
        const waste_t *row = cube_row (waste, i);
        mpz_ptr sum = month->waste[waste_info (row->what)->group];
        mpz_add (sum, sum, row->units);
    }
    fields_init (&waste_rows, &none);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < usage[i].part_count; k++)
            waste_take_allocated (allocated, &none, &usage[i].part[k]);
    cube_sum (allocated, 0, cube_count (allocated), &month->allocated);
    fields_clear (&waste_rows, &none);
    cube_free (allocated);
}

/* What is unknown is no waste. */
void summary_wasted (const summary_month_t *month, mpz_t ret_sum)
{
    mpz_add (ret_sum, month->waste[WASTE_OF_JOBS],
             month->waste[WASTE_OF_CAPACITY]);
}

/* Whether more or less was wasted than in the month before. */
enum comparison {
    COMPARED,
    COMPARED_NOT_MEASURED, /* a share of the time that differs much */
    COMPARED_NOT_COUNTED,  /* it may be the other way round */
};

/* `ret_change`: the change of the waste; `ret_other`: the change of the amounts that are not
 * counted as waste. */
static enum comparison compare_waste (const summary_month_t *month,
                                      const summary_month_t *before,
                                      mpz_t ret_change, mpz_t ret_other)
{
    mpz_t then;

    mpz_init (then);
    summary_wasted (month, ret_change);
    summary_wasted (before, then);
    mpz_sub (ret_change, ret_change, then);
    mpz_set_ui (ret_other, 0);
    for (size_t i = 0; i < WASTE_GROUP_COUNT; i++)
        if (i == WASTE_UNKNOWN || i == WASTE_NOT_COUNTED) {
            mpz_add (ret_other, ret_other, month->waste[i]);
            mpz_sub (ret_other, ret_other, before->waste[i]);
        }
    mpz_clear (then);
    if (!waste_comparable (&month->allocated, &before->allocated))
        return COMPARED_NOT_MEASURED;
    return mpz_sgn (ret_change) * mpz_sgn (ret_other) < 0
                   && mpz_cmpabs (ret_other, ret_change) >= 0
               ? COMPARED_NOT_COUNTED
               : COMPARED;
}

static char *since_text (const summary_month_t *month,
                         const summary_month_t *before, int digits)
{
    mpz_t now, then;
    char *text;

    if (!before || !before->waste_known)
        return xstrdup ("");
    mpz_inits (now, then, NULL);
    switch (compare_waste (month, before, now, then)) {
    case COMPARED:
        summary_wasted (month, now);
        summary_wasted (before, then);
        text = summary_since_text (now, then, before->name, digits);
        break;
    case COMPARED_NOT_MEASURED:
        text = xasprintf ("; not comparable with %s", before->name);
        break;
    default:
        text = xasprintf ("; whether %s was wasted than in %s is unknown",
                          mpz_sgn (now) > 0 ? "more" : "less", before->name);
    }
    mpz_clears (now, then, NULL);
    return text;
}

/* What is not counted: what it is of, after its amount. */
static const struct {
    waste_group_t group;
    const char *of;
} not_counted[] = {
    {WASTE_NOT_COUNTED, "jobs that were cancelled"},
    {WASTE_UNKNOWN, "capacity without jobs that may have been idle or down"},
};

/* Their sum. */
static void not_counted_units (const summary_month_t *month, mpz_t ret)
{
    mpz_set_ui (ret, 0);
    for (size_t i = 0; i < GL_ARRAY_SIZE (not_counted); i++)
        mpz_add (ret, ret, month->waste[not_counted[i].group]);
}

char *summary_waste_value (const summary_month_t *month, int digits)
{
    GL_AUTOFREE char *least = NULL, *most = NULL;
    char *text;
    mpz_t sum, more;

    mpz_inits (sum, more, NULL);
    summary_wasted (month, sum);
    not_counted_units (month, more);
    least = exact_units_text (sum, digits);
    mpz_add (sum, sum, more);
    most = exact_units_text (sum, digits);
    text = xasprintf ("%s%s%s%s", least, mpz_sgn (more) > 0 ? " to " : "",
                      mpz_sgn (more) > 0 ? most : "",
                      waste_measured (&month->allocated) ? "" : " or more");
    mpz_clears (sum, more, NULL);
    return text;
}

/* "12.50 %"; no jobs: "none". Yours to free. */
static char *measured_text (const summary_month_t *month)
{
    GL_AUTOFREE char *percent = report_coverage_text (month->allocated.known,
                                                      month->allocated.seconds);

    return percent ? xasprintf ("%s %%", percent) : xstrdup ("none");
}

char *summary_waste_text (const summary_month_t *month,
                          const summary_month_t *before, const char *currency,
                          int digits)
{
    GL_AUTOFREE char *jobs
        = exact_units_text (month->waste[WASTE_OF_JOBS], digits);
    GL_AUTOFREE char *capacity
        = exact_units_text (month->waste[WASTE_OF_CAPACITY], digits);
    GL_AUTOFREE char *since = since_text (month, before, digits);
    GL_AUTOFREE char *measured = measured_text (month);
    buffer_t out = BUFFER_INIT;
    const char *join = "";
    mpz_t sum;

    mpz_init (sum);
    summary_wasted (month, sum);
    GL_AUTOFREE char *known = exact_units_text (sum, digits);
    buffer_printf (&out, "%s: %s known (%s in jobs, %s without jobs)%s",
                   currency, known, jobs, capacity, since);
    not_counted_units (month, sum);
    if (mpz_sgn (sum) > 0) {
        GL_AUTOFREE char *more = exact_units_text (sum, digits);
        buffer_printf (&out, "; up to %s more may be: ", more);
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (not_counted); i++) {
        if (mpz_sgn (month->waste[not_counted[i].group]) == 0)
            continue;
        buffer_printf (&out, "%s%s", join, not_counted[i].of);
        join = ", ";
    }
    if (!waste_measured (&month->allocated))
        buffer_printf (&out,
                       "; idle GPUs in jobs were measured for %s of the GPU "
                       "hours, and come on top for the others",
                       measured);
    mpz_clear (sum);
    return buffer_take (&out);
}

static void add_comparison (buffer_t *out, const summary_month_t *month,
                            const summary_month_t *before, const char *currency,
                            int digits)
{
    GL_AUTOFREE char *change = NULL, *other = NULL;
    enum comparison is;
    mpz_t counted, rest;

    mpz_inits (counted, rest, NULL);
    is = compare_waste (month, before, counted, rest);
    change = report_signed_text (exact_units_text (counted, digits));
    other = report_signed_text (exact_units_text (rest, digits));
    if (is == COMPARED_NOT_MEASURED)
        buffer_printf (out,
                       "What was wasted cannot be compared with %s: agents "
                       "measured a different share of the GPU hours in the "
                       "two months.",
                       before->name);
    else if (is == COMPARED_NOT_COUNTED)
        buffer_printf (out,
                       "It is unknown whether more or less was wasted than in "
                       "%s: the waste changed by %s %s, what is not counted "
                       "by %s %s.",
                       before->name, change, currency, other, currency);
    else if (mpz_sgn (counted) == 0)
        buffer_printf (out, "As much was wasted as in %s.", before->name);
    else
        buffer_printf (out, "%s %s %s was wasted than in %s.", change + 1,
                       currency, mpz_sgn (counted) > 0 ? "more" : "less",
                       before->name);
    mpz_clears (counted, rest, NULL);
}

char *summary_waste_compared (const summary_month_t *month,
                              const summary_month_t *before,
                              const char *currency, int digits)
{
    buffer_t out = BUFFER_INIT;
    bool any = false;

    if (!before || !before->waste_known)
        return NULL;
    add_comparison (&out, month, before, currency, digits);
    for (size_t i = 0; i < GL_ARRAY_SIZE (not_counted); i++) {
        mpz_srcptr now = month->waste[not_counted[i].group],
                   then = before->waste[not_counted[i].group];
        GL_AUTOFREE char *amount = exact_units_text (now, digits);
        GL_AUTOFREE char *old = exact_units_text (then, digits);
        if (mpz_sgn (now) == 0 && mpz_sgn (then) == 0)
            continue;
        buffer_printf (&out, "%s%s %s of %s (%s in %s)",
                       any ? ", and " : " Not counted: ", amount, currency,
                       not_counted[i].of, old, before->name);
        any = true;
    }
    if (any)
        buffer_add_char (&out, '.');
    GL_AUTOFREE char *share = measured_text (month);
    GL_AUTOFREE char *share_then = measured_text (before);
    buffer_printf (&out,
                   " Whether GPUs were idle was measured for %s of the GPU "
                   "hours that jobs had (%s in %s); the others count as not "
                   "idle.",
                   share, share_then, before->name);
    return buffer_take (&out);
}

/* Next to those of the month before (NULL: none), where the two are compared. */
static void put_amounts (page_t *page, const waste_t *row, const waste_t *old)
{
    mpz_t then, change;
    bool is_known = waste_is_priced (row), was_known = waste_is_priced (old);

    if (is_known)
        summary_put_money (page, AT_AMOUNT, row->units);
    if (!page->s->waste_before)
        return;
    mpz_inits (then, change, NULL);
    if (old)
        mpz_set (then, old->units);
    mpz_sub (change, row->units, then);
    if (was_known)
        summary_put_money (page, AT_BEFORE, then);
    if (is_known && was_known)
        summary_put_money (page, AT_CHANGE, change);
    mpz_clears (then, change, NULL);
}

static void put_waste (page_t *page, const waste_t *row, const waste_t *old)
{
    const waste_info_t *info = waste_info (row->what);
    bool of_jobs
        = info->group == WASTE_OF_JOBS || info->group == WASTE_NOT_COUNTED;
    mpz_t whole;

    mpz_init (whole);
    report_row (page->report);
    report_put_text (page->report, AT_SECTION,
                     info->group == WASTE_UNKNOWN       ? "unknown"
                     : info->group == WASTE_NOT_COUNTED ? "not_counted"
                                                        : "waste");
    report_put_text (page->report, AT_NAME, info->title);
    if (mpq_sgn (row->seconds) != 0)
        report_put_hours (page->report, AT_GPU_HOURS, row->seconds);
    put_amounts (page, row, old);
    if (of_jobs)
        mpz_set (whole, page->all.after);
    else
        summary_costs (page, whole);
    summary_put_made (page, of_jobs ? AT_DUE_SHARE : AT_COST_SHARE,
                      report_units_percent_text (row->units, whole));
    mpz_clear (whole);
}

/* Adds to the two sums. */
static void put_group (page_t *page, cube_t *classes, const cube_t *before,
                       waste_group_t group, waste_t sums[2])
{
    for (size_t i = 0; i < cube_count (classes); i++) {
        const waste_t *row = cube_row (classes, i);
        const waste_t *old = cube_find (before, row);
        if (waste_info (row->what)->group != group
            || ((group == WASTE_OF_JOBS || group == WASTE_NOT_COUNTED)
                && mpz_sgn (row->units) == 0 && !(old && mpz_sgn (old->units))))
            continue;
        put_waste (page, row, old);
        fields_add (&waste_rows, &sums[0], row, 1);
        if (old)
            fields_add (&waste_rows, &sums[1], old, 1);
    }
}

static void put_total (page_t *page, const waste_t sums[2])
{
    if (mpz_sgn (sums[0].units) == 0 && mpz_sgn (sums[1].units) == 0)
        return;
    report_section_totals (page->report);
    report_put_hours (page->report, AT_GPU_HOURS, sums[0].seconds);
    put_amounts (page, &sums[0], &sums[1]);
}

/* By cause; of a cause of the month before alone with zeros. */
static cube_t *causes_of (const page_t *page, cube_t *before)
{
    cube_t *classes = cube_new (&waste_rows, "what");
    waste_t none;

    cube_add_cube (classes, page->s->waste);
    if (page->s->waste_before)
        cube_add_cube (before, page->s->waste_before);
    fields_init (&waste_rows, &none);
    for (size_t i = 0; i < cube_count (before); i++) {
        none.what = ((const waste_t *)cube_row (before, i))->what;
        cube_add (classes, &none);
    }
    none.what = NULL;
    fields_clear (&waste_rows, &none);
    cube_sort (classes, "-units");
    return classes;
}

void summary_waste (page_t *page)
{
    cube_t *before = cube_new (&waste_rows, "what");
    cube_t *classes = causes_of (page, before);
    waste_t sums[2];

    for (size_t i = 0; i < GL_ARRAY_SIZE (sums); i++)
        fields_init (&waste_rows, &sums[i]);
    report_section (page->report, "What was wasted",
                    "Idle GPUs in jobs, and the rest of the time of jobs that "
                    "ended badly: at list price. Capacity: the cost of time "
                    "that no job had, whoever pays for it.");
    put_group (page, classes, before, WASTE_OF_JOBS, sums);
    put_group (page, classes, before, WASTE_OF_CAPACITY, sums);
    put_total (page, sums);
    report_section (page->report, "Not counted as waste",
                    "The cost of capacity without jobs for which no source "
                    "says whether the nodes were up, and the list price of "
                    "jobs that were cancelled by their users or by someone "
                    "unknown: perhaps their work was done.");
    put_group (page, classes, before, WASTE_UNKNOWN, sums);
    put_group (page, classes, before, WASTE_NOT_COUNTED, sums);
    for (size_t i = 0; i < GL_ARRAY_SIZE (sums); i++)
        fields_clear (&waste_rows, &sums[i]);
    cube_free (classes);
    cube_free (before);
}

/* --- energy ----------------------------------------------------------------- */

void summary_carbon (page_t *page)
{
    const fields_t *fields = &bill_fields[BILL_CARBON];
    size_t count;
    const bill_carbon_t *rows = bill_carbon (page->s->bill, &count);
    cube_t *teams = cube_new (fields, "team");
    bill_carbon_t all;

    fields_init (fields, &all);
    cube_add_list (teams, rows, count);
    cube_sort (teams, "-facility_kwh");
    if (count > 0)
        report_section (page->report, "Energy and carbon",
                        "The energy of jobs and the CO2e that it caused "
                        "(location-based). Embodied emissions, from making the "
                        "GPUs, are not added to it.");
    for (size_t i = 0; i < cube_count (teams); i++) {
        const bill_carbon_t *row = cube_row (teams, i);
        const char *team = row->team ? row->team : key_info (KEY_TEAM)->absent;
        report_row (page->report);
        report_put_text (page->report, AT_SECTION, "carbon");
        report_put_text (page->report, AT_TEAM, team);
        report_put_text (page->report, AT_NAME, team);
        carbon_put (page->report, page->energy, row);
    }
    if (count > 0) {
        cube_sum (teams, 0, cube_count (teams), &all);
        report_section_totals (page->report);
        carbon_put (page->report, page->energy, &all);
        carbon_notes (page->report, rows, count, CARBON_PAGE);
    }
    fields_clear (fields, &all);
    cube_free (teams);
}

/* --- what to do ------------------------------------------------------------- */

#define ACTIONS 3

struct action {
    char *text;
    char *command;
    const char *team; /* that it is about; NULL: none */
    const char *pool; /* likewise */
    bool decided;     /* it repeats a decision */
    mpz_t units;
};

static void action_clear (struct action *action)
{
    free (action->text);
    free (action->command);
    mpz_clear (action->units);
}

/* Keeps the actions with the largest amounts, the largest first. Takes the texts of the new
 * one. */
static void offer (struct action *action, struct action new, const mpz_t units)
{
    size_t at = ACTIONS;

    while (at > 0 && mpz_cmp (units, action[at - 1].units) > 0)
        at--;
    mpz_init_set (new.units, units);
    if (at == ACTIONS || mpz_sgn (units) <= 0) {
        action_clear (&new);
        return;
    }
    action_clear (&action[ACTIONS - 1]);
    memmove (&action[at + 1], &action[at],
             (ACTIONS - 1 - at) * sizeof (*action));
    action[at] = new;
}

static char *command_of (const page_t *page, const char *begin,
                         const char *option, const char *value)
{
    buffer_t command = BUFFER_INIT;

    buffer_printf (&command, "gpuledger %s --month %s", begin, page->s->month);
    if (value) {
        buffer_printf (&command, " %s", option);
        shell_word (&command, value);
    }
    return buffer_take (&command);
}

/* What to do about capacity of a pool that nobody is charged for. */
static const struct {
    remainder_id_t id;
    const char *before; /* the pool's name */
    const char *after;
    const char *report;
} remedies[] = {
    {REMAINDER_IDLE, "Fill ", ", which had no jobs", "plan"},
    {REMAINDER_STRANDED, "Change the MIG layout of ",
     ", whose free parts were too small for another job", "utilization"},
    {REMAINDER_CPU_STRANDED, "Look at jobs that take all CPUs or memory of ",
     " and leave GPUs free", "utilization"},
    {REMAINDER_RESERVED_UNUSED, "Release reservations of ", " that no job uses",
     "utilization"},
    {REMAINDER_PLANNED_DOWN, "Shorten maintenance of ",
     ", which was down as planned", "utilization"},
    {REMAINDER_DOWN, "Repair nodes of ", ", which was down", "utilization"},
};

/* What the page of decisions says of the pool; NULL: nothing. */
static const report_figure_t *decision_on (const page_t *page, const char *pool)
{
    const report_t *decisions = page->s->decisions;

    return decisions && pool
               ? GL_FIND (decisions->figure, decisions->figure_count, it,
                          !strcmp (it->title, pool))
               : NULL;
}

/* All capacity without jobs of a pool of which something is to be given up: what the decision
 * says, and no second advice for each cause. */
static void offer_decisions (page_t *page, struct action *action)
{
    cube_t *pools = cube_new (&waste_rows, "pool,what");
    size_t end;

    cube_add_cube (pools, page->s->waste);
    for (size_t i = 0; i < cube_count (pools); i = end) {
        const char *pool = ((const waste_t *)cube_row (pools, i))->keys.pool;
        const report_figure_t *decision = decision_on (page, pool);
        waste_t sum;
        fields_init (&waste_rows, &sum);
        for (end = i; end < cube_count (pools); end++) {
            const waste_t *row = cube_row (pools, end);
            if (!text_same (row->keys.pool, pool))
                break;
            if (waste_info (row->what)->group == WASTE_OF_CAPACITY)
                fields_add (&waste_rows, &sum, row, 1);
        }
        if (decision && decision->changes) {
            GL_AUTOFREE char *hours = tenths (sum.seconds);
            bool now = !strcmp (page->s->decided_month, page->s->month);
            offer (
                action,
                (struct action){
                    .text = xasprintf (
                        "%s: %s Decisions%s says why, and what a year "
                        "saves. In this month at least %s GPU hours were idle",
                        pool, decision->value,
                        now ? "" : " of the last full month", hours),
                    .pool = decision->title,
                    .decided = true},
                sum.units);
        }
        fields_clear (&waste_rows, &sum);
    }
    cube_free (pools);
}

static void offer_capacity (page_t *page, struct action *action,
                            const waste_t *row, const char *hours)
{
    const report_figure_t *decision = decision_on (page, row->keys.pool);

    if (decision && decision->changes)
        return;
    for (size_t i = 0; i < GL_ARRAY_SIZE (remedies); i++) {
        GL_AUTOFREE char *report = xasprintf ("report %s", remedies[i].report);
        if (strcmp (remainder_info (remedies[i].id)->word, row->what) != 0)
            continue;
        offer (
            action,
            (struct action){
                .text = xasprintf ("%s%s%s: %s GPU hours", remedies[i].before,
                                   row->keys.pool, remedies[i].after, hours),
                .command = command_of (page, report, "--pool", row->keys.pool),
                .pool = row->keys.pool},
            row->units);
    }
}

/* What to ask a team about its jobs, between its name and the pool's. */
static const struct {
    const char *what;
    const char *about;
} questions[] = {
    {"idle_in_jobs", "GPUs that its jobs left idle on"},
    {"failed", "jobs that failed on"},
    {"timeout", "jobs that reached their time limit on"},
    {"out_of_memory", "jobs that ran out of memory on"},
    {"node_fail", "jobs whose node failed on"},
    {"requeued", "work that was preempted or requeued on"},
    {"cancelled_by_operator", "jobs that an operator cancelled on"},
    {"cancelled_by_slurm", "jobs that Slurm cancelled on"},
};

static void offer_jobs (page_t *page, struct action *action, const waste_t *row,
                        const char *hours)
{
    const char *team
        = row->keys.team ? row->keys.team : key_info (KEY_TEAM)->absent;

    for (size_t i = 0; i < GL_ARRAY_SIZE (questions); i++)
        if (!strcmp (questions[i].what, row->what))
            offer (action,
                   (struct action){
                       .text
                       = xasprintf ("Ask %s about %s %s: %s GPU hours", team,
                                    questions[i].about, row->keys.pool, hours),
                       .command
                       = command_of (page, "report waste", "--team", team),
                       .team = team},
                   row->units);
}

static void offer_waste (page_t *page, struct action *action)
{
    for (size_t i = 0; i < cube_count (page->s->waste); i++) {
        const waste_t *row = cube_row (page->s->waste, i);
        GL_AUTOFREE char *hours = tenths (row->seconds);
        offer_capacity (page, action, row, hours);
        offer_jobs (page, action, row, hours);
    }
}

/* Prices below cost, of all pools. */
static void offer_shortfall (page_t *page, struct action *action)
{
    size_t count;
    const posting_t *rows = postings (page->s->bill, &count);
    const char *word = remainder_info (REMAINDER_RECOVERY)->word;

    for (size_t i = 0; i < count; i++)
        if (rows[i].kind == BILL_REMAINDER && rows[i].what
            && !strcmp (rows[i].what, word) && rows[i].pool)
            offer (action,
                   (struct action){
                       .text = xasprintf ("Compare the published rate of %s "
                                          "with its cost, which it does not "
                                          "recover",
                                          rows[i].pool),
                       .command
                       = xasprintf ("gpuledger report breakeven --pool %s",
                                    rows[i].pool),
                       .pool = rows[i].pool},
                   rows[i].charge_units);
}

/* `decided`: one of them is a decision. Yours to free. */
static char *actions_help (const summary_t *s, bool decided)
{
    return xasprintf (
        "What could recover most%s: at most so much, and %s. Free hours save "
        "money only if other work uses them.%s%s",
        s->linked ? " in this month" : "",
        s->linked ? "where each amount comes from"
                  : "the command that shows where each amount comes from",
        s->decisions ? " Decisions has what to buy, rent or move, with the "
                       "amounts of a year."
                     : "",
        decided ? " A row that repeats a decision leads there." : "");
}

void summary_actions (page_t *page)
{
    struct action action[ACTIONS] = {{.text = NULL}};

    for (size_t i = 0; i < ACTIONS; i++)
        mpz_init (action[i].units);
    offer_waste (page, action);
    if (page->s->decisions)
        offer_decisions (page, action);
    offer_shortfall (page, action);
    GL_AUTOFREE char *help = actions_help (
        page->s, GL_ANY (action, ACTIONS, it, it->text && it->decided));
    report_section (page->report, "What to do first", help);
    for (size_t i = 0; i < ACTIONS; i++) {
        if (action[i].text) {
            report_row (page->report);
            report_put_text (page->report, AT_SECTION,
                             action[i].decided ? "decision" : "action");
            report_put_text (page->report, AT_TEAM, action[i].team);
            report_put_text (page->report, AT_POOL, action[i].pool);
            report_put_text (page->report, AT_NAME, action[i].text);
            summary_put_money (page, AT_AMOUNT, action[i].units);
            if (!page->s->linked)
                report_put_text (page->report, AT_COMMAND, action[i].command);
        }
        action_clear (&action[i]);
    }
}
