/* What was wasted in a month, and what to look at first. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
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

static const field_t waste_fields[] = {
    FIELD ("what", TEXT, struct waste, what),
    FIELD ("pool", TEXT, struct waste, pool),
    FIELD ("team", TEXT, struct waste, team),
    FIELD ("seconds", EXACT, struct waste, seconds),
    FIELD ("units", UNITS, struct waste, units),
};
const fields_t summary_waste_rows
    = FIELDS ("waste", struct waste, waste_fields);

const char summary_idle_in_jobs[] = "summary_idle_in_jobs";

static void add_waste (cube_t *waste, const char *what, const char *pool,
                       const char *team, const mpq_t seconds, const mpz_t units)
{
    struct waste row;

    fields_init (&summary_waste_rows, &row);
    row.what = xstrdup (what);
    row.pool = pool ? xstrdup (pool) : NULL;
    row.team = team ? xstrdup (team) : NULL;
    mpq_set (row.seconds, seconds);
    mpz_set (row.units, units);
    cube_add (waste, &row);
    fields_clear (&summary_waste_rows, &row);
}

/* Idle GPUs in jobs, by pool and team; the amounts follow, once for each. */
static void take_idle (cube_t *idle, const usage_cell_t *cell)
{
    const char *pool = cell->key[KEY_AT_POOL];
    mpq_t seconds;
    mpz_t none;

    mpq_init (seconds);
    mpz_init (none);
    if (pool && usage_cell_idle_seconds (cell, seconds)
        && mpq_sgn (seconds) > 0)
        add_waste (idle, summary_idle_in_jobs, pool, cell->key[KEY_AT_TEAM],
                   seconds, none);
    mpz_clear (none);
    mpq_clear (seconds);
}

static void price_idle (page_t *page, cube_t *idle)
{
    cube_t *prices = bill_pool_prices (page->s->bill);
    mpz_t units;

    mpz_init (units);
    for (size_t i = 0; i < cube_count (idle); i++) {
        const struct waste *row = cube_row (idle, i);
        if (bill_idle_in_jobs (prices, row->pool, row->seconds, units))
            add_waste (page->waste, row->what, row->pool, row->team,
                       row->seconds, units);
    }
    mpz_clear (units);
    cube_free (prices);
}

/* A part of the capacity that no job had. */
static bool is_unallocated (const posting_t *row)
{
    for (remainder_id_t id = 0; id < REMAINDER_COUNT; id++)
        if (row->what && !strcmp (remainder_info (id)->word, row->what))
            return remainder_info (id)->unallocated;
    return false;
}

bool summary_is_unknown (const struct waste *row)
{
    return !strcmp (row->what, remainder_info (REMAINDER_UNKNOWN)->word);
}

static void take_usage (page_t *page)
{
    cube_t *idle = cube_new (&summary_waste_rows, "what,pool,team");

    for (size_t i = 0; i < page->s->usage_count; i++)
        take_idle (idle, &page->s->usage[i]);
    price_idle (page, idle);
    cube_free (idle);
}

void summary_take_waste (page_t *page)
{
    size_t count;
    const posting_t *rows = postings (page->s->bill, &count);

    take_usage (page);
    for (size_t i = 0; i < count; i++)
        if (rows[i].kind == BILL_REMAINDER && is_unallocated (&rows[i]))
            add_waste (page->waste, rows[i].what, rows[i].pool, NULL,
                       rows[i].gpu_seconds, rows[i].cost_units);
}

/* "idle": "Not allocated: idle" */
static char *waste_title (const struct waste *row)
{
    for (remainder_id_t id = 0; id < REMAINDER_COUNT; id++)
        if (!strcmp (remainder_info (id)->word, row->what))
            return xasprintf ("Capacity: %s", remainder_info (id)->title);
    return xstrdup ("Idle GPUs in jobs");
}

static void put_waste (page_t *page, const struct waste *row)
{
    GL_AUTOFREE char *name = waste_title (row);
    bool in_jobs = !strcmp (row->what, summary_idle_in_jobs);
    mpz_t whole;

    mpz_init (whole);
    report_row (page->report);
    report_put_text (page->report, AT_SECTION,
                     summary_is_unknown (row) ? "unknown" : "waste");
    report_put_text (page->report, AT_NAME, name);
    if (mpq_sgn (row->seconds) != 0)
        report_put_hours (page->report, AT_GPU_HOURS, row->seconds);
    summary_put_money (page, AT_AMOUNT, row->units);
    if (in_jobs)
        mpz_set (whole, page->all.after);
    else
        summary_costs (page, whole);
    summary_put_made (page, AT_SHARE,
                      report_units_percent_text (row->units, whole));
    mpz_clear (whole);
}

static void put_classes (page_t *page, cube_t *classes, bool unknown)
{
    for (size_t i = 0; i < cube_count (classes); i++)
        if (summary_is_unknown (cube_row (classes, i)) == unknown)
            put_waste (page, cube_row (classes, i));
}

void summary_waste (page_t *page)
{
    cube_t *classes = cube_new (&summary_waste_rows, "what");

    cube_add_cube (classes, page->waste);
    report_section (page->report, "What was wasted",
                    "Idle GPUs in jobs: the average price of their time. "
                    "Capacity: the cost of time that no job had, whoever pays "
                    "for it.");
    put_classes (page, classes, false);
    report_section (page->report, "What is unknown",
                    "The cost of capacity without jobs for which no source "
                    "says whether the nodes were up. It is not counted as "
                    "waste.");
    put_classes (page, classes, true);
    cube_free (classes);
}

/* --- what to do ------------------------------------------------------------- */

#define ACTIONS 3

struct action {
    char *text;
    char *command;
    const char *team; /* that it is about; NULL: none */
    const char *pool; /* likewise */
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
    {REMAINDER_IDLE, "Fill or reduce ", ", which had no jobs", "plan"},
    {REMAINDER_STRANDED, "Change the MIG layout of ",
     ", where jobs did not fit into the free parts", "utilization"},
    {REMAINDER_CPU_STRANDED, "Look at jobs that take all CPUs or memory of ",
     " and leave GPUs free", "utilization"},
    {REMAINDER_RESERVED_UNUSED, "Release reservations of ", " that no job uses",
     "utilization"},
    {REMAINDER_PLANNED_DOWN, "Shorten maintenance of ",
     ", which was down as planned", "utilization"},
    {REMAINDER_DOWN, "Repair nodes of ", ", which was down", "utilization"},
};

static void offer_capacity (page_t *page, struct action *action,
                            const struct waste *row, const char *hours)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (remedies); i++) {
        GL_AUTOFREE char *report = xasprintf ("report %s", remedies[i].report);
        if (strcmp (remainder_info (remedies[i].id)->word, row->what) != 0)
            continue;
        offer (action,
               (struct action){.text = xasprintf ("%s%s%s: %s GPU hours",
                                                  remedies[i].before, row->pool,
                                                  remedies[i].after, hours),
                               .command
                               = command_of (page, report, "--pool", row->pool),
                               .pool = row->pool},
               row->units);
    }
}

static void offer_waste (page_t *page, struct action *action)
{
    for (size_t i = 0; i < cube_count (page->waste); i++) {
        const struct waste *row = cube_row (page->waste, i);
        GL_AUTOFREE char *hours = tenths (row->seconds);
        const char *team = row->team ? row->team : key_info (KEY_TEAM)->absent;
        if (strcmp (row->what, summary_idle_in_jobs) != 0)
            offer_capacity (page, action, row, hours);
        else
            offer (
                action,
                (struct action){
                    .text = xasprintf ("Ask %s about jobs that leave GPUs "
                                       "of %s idle: %s GPU hours",
                                       team, row->pool, hours),
                    .command = command_of (page, "report idle", "--team", team),
                    .team = team},
                row->units);
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

void summary_actions (page_t *page)
{
    struct action action[ACTIONS] = {{.text = NULL}};

    for (size_t i = 0; i < ACTIONS; i++)
        mpz_init (action[i].units);
    offer_waste (page, action);
    offer_shortfall (page, action);
    report_section (page->report, "What to do first",
                    page->s->linked
                        ? "What could save or recover most: at most so much, "
                          "and where each amount comes from."
                        : "What could save or recover most: at most so much, "
                          "and the command that shows where each amount comes "
                          "from.");
    for (size_t i = 0; i < ACTIONS; i++) {
        if (action[i].text) {
            report_row (page->report);
            report_put_text (page->report, AT_SECTION, "action");
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
