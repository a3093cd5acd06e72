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

static void add_waste (page_t *page, const char *what, const char *pool,
                       const char *team, const mpq_t seconds, const mpz_t units)
{
    struct waste row;

    fields_init (&summary_waste_rows, &row);
    row.what = xstrdup (what);
    row.pool = pool ? xstrdup (pool) : NULL;
    row.team = team ? xstrdup (team) : NULL;
    mpq_set (row.seconds, seconds);
    mpz_set (row.units, units);
    cube_add (page->waste, &row);
    fields_clear (&summary_waste_rows, &row);
}

/* Time and list prices of the charges of each pool. */
static cube_t *charges_of (const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    cube_t *charges = cube_new (&summary_waste_rows, "pool");

    for (size_t i = 0; i < count; i++) {
        struct waste row;
        if (rows[i].kind != BILL_CHARGE || !rows[i].pool)
            continue;
        fields_init (&summary_waste_rows, &row);
        row.pool = xstrdup (rows[i].pool);
        mpq_set (row.seconds, rows[i].gpu_seconds);
        mpz_set (row.units, rows[i].list_units);
        cube_add (charges, &row);
        fields_clear (&summary_waste_rows, &row);
    }
    return charges;
}

/* What a GPU-second of the pool is charged on average, in smallest units. False: it
 * is not charged. */
static bool average_charge (const cube_t *charges, const char *pool, mpq_t ret)
{
    const struct waste *sum
        = cube_find (charges, &(struct waste){.pool = (char *)pool});

    if (!sum || mpq_sgn (sum->seconds) <= 0 || mpz_sgn (sum->units) <= 0)
        return false;
    mpq_set_z (ret, sum->units);
    mpq_div (ret, ret, sum->seconds);
    return true;
}

static void take_idle (page_t *page, const cube_t *charges,
                       const usage_cell_t *cell)
{
    const char *pool = cell->key[KEY_AT_POOL];
    mpq_t seconds, value;
    mpz_t units;

    mpq_inits (seconds, value, NULL);
    mpz_init (units);
    if (pool && usage_cell_idle_seconds (cell, seconds) && mpq_sgn (seconds) > 0
        && average_charge (charges, pool, value)) {
        mpq_mul (value, value, seconds);
        exact_round (units, value, 0);
        add_waste (page, summary_idle_in_jobs, pool, cell->key[KEY_AT_TEAM],
                   seconds, units);
    }
    mpz_clear (units);
    mpq_clears (seconds, value, NULL);
}

static const remainder_info_t *wasted_class (const posting_t *row)
{
    for (remainder_id_t id = 0; id < REMAINDER_COUNT; id++)
        if (row->what && !strcmp (remainder_info (id)->word, row->what))
            return remainder_info (id)->unallocated ? remainder_info (id)
                                                    : NULL;
    return NULL;
}

void summary_take_waste (page_t *page)
{
    size_t count;
    const posting_t *rows = postings (page->s->bill, &count);
    cube_t *charges = charges_of (page->s->bill);

    for (size_t i = 0; i < page->s->usage_count; i++)
        take_idle (page, charges, &page->s->usage[i]);
    cube_free (charges);
    for (size_t i = 0; i < count; i++)
        if (rows[i].kind == BILL_REMAINDER && wasted_class (&rows[i]))
            add_waste (page, rows[i].what, rows[i].pool, NULL,
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

static void put_waste (page_t *page, const struct waste *row, const char *name,
                       bool in_jobs)
{
    mpz_t whole;

    mpz_init (whole);
    report_row (page->report);
    report_put_text (page->report, AT_SECTION, "waste");
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

void summary_waste (page_t *page)
{
    cube_t *classes = cube_new (&summary_waste_rows, "what");

    cube_add_cube (classes, page->waste);
    report_section (page->report, "What was wasted",
                    "Idle GPUs in jobs: the average price of their time. "
                    "Capacity: the cost of time that no job had, whoever pays "
                    "for it.");
    for (size_t i = 0; i < cube_count (classes); i++) {
        const struct waste *row = cube_row (classes, i);
        GL_AUTOFREE char *title = waste_title (row);
        put_waste (page, row, title, !strcmp (row->what, summary_idle_in_jobs));
    }
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
    {REMAINDER_UNKNOWN, "Run 'gpuledger sync' to read node events of ",
     ", whose state is unknown while they have no jobs", "utilization"},
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

static void offer_budgets (page_t *page, struct action *action)
{
    for (size_t i = 0; i < page->s->budget_count; i++) {
        const budget_t *b = page->s->budgets[i];
        mpz_t beyond;
        mpq_t difference;
        if (!b->of_money || !b->known || mpq_cmp (b->spent, b->amount) <= 0)
            continue;
        mpz_init (beyond);
        mpq_init (difference);
        mpq_sub (difference, b->spent, b->amount);
        exact_round (beyond, difference, 0);
        offer (action,
               (struct action){
                   .text = xasprintf ("Agree on a new budget with the owner of "
                                      "'%s', which is spent",
                                      b->budget->name),
                   .command = xstrdup ("gpuledger budget"),
                   .team = b->budget->team},
               beyond);
        mpq_clear (difference);
        mpz_clear (beyond);
    }
}

void summary_actions (page_t *page)
{
    struct action action[ACTIONS] = {{.text = NULL}};

    for (size_t i = 0; i < ACTIONS; i++)
        mpz_init (action[i].units);
    offer_waste (page, action);
    offer_shortfall (page, action);
    offer_budgets (page, action);
    report_section (page->report, "What to look at first",
                    page->s->linked
                        ? "The largest amounts above."
                        : "The largest amounts above, and the command that "
                          "shows where each comes from.");
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
