/* The lines of a statement, and those of its tables that have a line for each row of
 * the bill. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "carbon/carbon_page.h"
#include "ledger/bill_idle.h"
#include "ledger/correction.h"
#include "ledger/settlement.h"
#include "report/heading.h"
#include "statement/balances.h"
#include "statement/statement_private.h"

/* More stretches than this say how many rows follow. */
#define STRETCHES_SHOWN 4

/* --- commands ---------------------------------------------------------- */

bool statement_command (const page_t *page, const char *month, buffer_t *out)
{
    const char *team
        = page->s->team ? page->s->team : key_info (KEY_TEAM)->absent;

    if (strchr (team, ','))
        return false;
    buffer_printf (out, "gpuledger report chargeback --month %s --team", month);
    shell_word (out, team);
    return true;
}

/* The job of CLUSTER/JOBID/SUBMIT, and where the time begins; NULL: it is of another form. */
static const char *job_of (const char *reference, const char **ret_submit)
{
    const char *end = reference ? strrchr (reference, '/') : NULL;
    const char *job = end ? memrchr (reference, '/', end - reference) : NULL;

    if (!job || job + 1 == end || !end[1]
        || end[1 + strspn (end + 1, "0123456789")])
        return NULL;
    *ret_submit = end + 1;
    return job + 1;
}

static bool command_of_job (const char *reference, buffer_t *out)
{
    const char *submit, *job = job_of (reference, &submit);

    if (!job)
        return false;
    GL_AUTOFREE char *cluster = xstrndup (reference, job - 1 - reference);
    buffer_printf (out, "gpuledger explain %.*s -M", (int)(submit - 1 - job),
                   job);
    shell_word (out, cluster);
    return true;
}

void statement_put_command (page_t *page, const char *line, const char *command)
{
    if (page->s->linked)
        return;
    report_put_text (page->report, AT_SHOW, command);
    if (!page->commands)
        page->commands
            = report_list (page->report, "Commands that list the parts of a "
                                         "line");
    report_list_item (page->commands, line, command);
}

/* --- lines ------------------------------------------------------------- */

void statement_begin_line (page_t *page, const char *section, char letter,
                           size_t number, char line[16])
{
    report_row (page->report);
    snprintf (line, 16, "%c%zu", letter, number);
    report_put_text (page->report, AT_SECTION, section);
    report_put_text (page->report, AT_LINE, line);
    report_put_text (page->report, AT_CURRENCY, page->s->query->site->currency);
    /* a page may have a line for each of a million jobs */
    if (page->s->head && strcmp (section, "jobs") != 0)
        report_put_text (page->report, AT_HASH, page->s->head);
}

void statement_put_units (page_t *page, statement_at_t at, const mpz_t units)
{
    report_put_money (page->report, at, units, page->digits);
}

/* The last of the rows that follow one another from the first on. */
static size_t end_of (const size_t *row, size_t count, size_t first)
{
    size_t last = first;

    while (last + 1 < count && row[last + 1] == row[last] + 1)
        last++;
    return last;
}

void statement_put_rows (page_t *page, const size_t *row, size_t count)
{
    BUFFER_AUTO text = BUFFER_INIT;
    size_t at = 0;

    if (page->s->provisional || count == 0)
        return;
    buffer_printf (&text, "%s/", page->s->month);
    for (size_t shown = 0; at < count && shown < STRETCHES_SHOWN; shown++) {
        size_t last = end_of (row, count, at);
        buffer_printf (&text, "%s%zu", shown ? "," : "", row[at] + 1);
        if (last > at)
            buffer_printf (&text, "-%zu", row[last] + 1);
        at = last + 1;
    }
    if (at < count)
        buffer_printf (&text, " and %zu more", count - at);
    report_put_text (page->report, AT_ROW, buffer_text (&text));
}

/* --- rows of the bill, one line each ----------------------------------- */

static const struct single {
    bill_kind_t kind;
    const char *word;
    char letter;
    const char *title;
    const char *help;
} singles[] = {
    {BILL_PURCHASE, "purchases", 'E', "Prepaid",
     "The price of your entitlements, used or not. Hours that they cover are "
     "not due again. gpuledger report entitlements shows their use."},
    {BILL_SERVICE, "services", 'O', "Other services",
     "As billed by the systems that run them: quantity x unit price."},
    {BILL_IDLE, "idle", 'I', "Idle time shared out",
     "Idle time of the pools, shared out by the site's policy."},
    {BILL_SETTLEMENT, "settlement", 'S', "Settlement",
     "Grants, sponsors, prepaid money, fees and caps, by the site's rules."},
    {BILL_CREDIT, "credits", 'K', "Credits",
     "Amounts credited to you. The credited charge stays as it is."},
    {BILL_CORRECTION, "corrections", 'R', "Corrections of earlier months",
     "Closed months never change. Their corrections are listed here, with the "
     "cause of each."},
    {BILL_TAX, "taxes", 'T', "Taxes",
     "Taxes on the sum of the sections above, rounded once."},
};

/* Hours and price of what is bought; its list price where a surcharge is added. */
static void put_bought (page_t *page, const posting_t *row)
{
    mpq_t value;
    mpz_t added;

    if (row->kind != BILL_PURCHASE || mpq_sgn (row->price_seconds) <= 0)
        return;
    mpq_init (value);
    mpz_init (added);
    exact_add_scaled (value, row->price_seconds, 1, 3600);
    GL_AUTOFREE char *hours = exact_shortest (value);
    GL_AUTOFREE char *reason = xasprintf (
        "%s %s hours", hours,
        site_pool_of_cpus (page->s->query->site, row->pool) ? "CPU" : "GPU");
    report_put_text (page->report, AT_REASON, reason);
    mpq_div (value, row->exact, value);
    report_put_exact (page->report, AT_RATE, value, 4);
    mpz_sub (added, row->charge_units, row->list_units);
    if (mpz_sgn (added) != 0) {
        statement_put_units (page, AT_LIST, row->list_units);
        statement_put_units (page, AT_ADJUSTMENT, added);
    }
    mpq_clear (value);
    mpz_clear (added);
}

static void put_service (page_t *page, const posting_t *row)
{
    mpq_t price;

    if (row->kind != BILL_SERVICE)
        return;
    GL_AUTOFREE char *quantity = exact_shortest (row->quantity);
    report_put_text (page->report, page->quantity, quantity);
    report_put_text (page->report, page->unit, row->unit);
    report_put_text (page->report, AT_REASON, row->description);
    if (mpq_sgn (row->quantity) == 0)
        return;
    mpq_init (price);
    mpq_div (price, row->exact, row->quantity);
    GL_AUTOFREE char *text = exact_shortest (price);
    report_put_text (page->report, page->unit_price, text);
    mpq_clear (price);
}

static char *money (const page_t *page, const mpz_t units)
{
    return exact_units_text (units, page->digits);
}

/* Idle time that is shared by accounts: whose part it is. */
static void put_idle_account (page_t *page, const posting_t *row)
{
    if (row->kind != BILL_IDLE || !row->key[0])
        return;
    GL_AUTOFREE char *reason = xasprintf ("account %s", row->key[0]);
    report_put_text (page->report, AT_REASON, reason);
}

/* Of a rule or balance for each user. */
static void put_user (page_t *page, const char *user)
{
    if (page->user)
        report_put_text (page->report, page->user, user);
}

/* A row of a rule, or the correction of one. */
static bool settles (const posting_t *row)
{
    static const char word[] = "settlement:";

    return row->kind == BILL_SETTLEMENT
           || (row->origin && !strncmp (row->origin, word, strlen (word)));
}

/* Of a rule: what it does, who has the other side, and why. */
static void put_settlement (page_t *page, const posting_t *row)
{
    const site_settlement_t *rule
        = balances_rule (page->s->site, row->reference);
    const char *note = rule ? rule->note : NULL;
    BUFFER_AUTO reason = BUFFER_INIT;

    if (settles (row))
        put_user (page, posting_key (row, KEY_USER));
    if (row->kind != BILL_SETTLEMENT)
        return;
    report_put_text (page->report, AT_NAME, settle_kind_title (row->what));
    if (row->counterparty)
        buffer_printf (&reason, "%s %s",
                       mpz_sgn (row->charge_units) < 0 ? "paid by" : "for",
                       row->counterparty);
    else if (row->cost_object)
        buffer_printf (&reason, "cost object %s", row->cost_object);
    else if (!strcmp (row->what, "split"))
        buffer_add_text (&reason, "shared by cost object");
    else if (!strcmp (row->what, "prepaid"))
        buffer_add_text (&reason, mpz_sgn (row->charge_units) < 0
                                      ? "paid from the balance"
                                      : "deposit");
    if (note)
        buffer_printf (&reason, "%s%s", reason.length ? "; " : "", note);
    if (reason.length)
        report_put_text (page->report, AT_REASON, buffer_text (&reason));
}

/* Of an outage: what happened, where its name is that of one entry. */
static void put_outage (page_t *page, const posting_t *row)
{
    const site_t *site = page->s->site;
    const char *note = NULL;
    size_t count = 0;

    for (size_t i = 0; row->kind == BILL_CREDIT && i < site->outage_count; i++)
        if (row->what && !strcmp (site->outages[i].name, row->what)) {
            note = site->outages[i].note;
            count++;
        }
    if (count == 1 && note)
        report_put_text (page->report, AT_REASON, note);
}

/* Of a tax: "25 % of 1256.38". The base is all that is due before taxes. */
static void put_tax (page_t *page, const posting_t *row)
{
    mpq_t percent;
    mpz_t base;

    mpz_init (base);
    mpz_sub (base, page->sum.charge, statement_due_of (page, BILL_TAX));
    if (row->kind == BILL_TAX && mpz_sgn (base) != 0) {
        GL_AUTOFREE char *amount = money (page, base);
        mpq_init (percent);
        mpz_ui_pow_ui (mpq_numref (percent), 10,
                       (unsigned long)page->digits + 2);
        mpz_set (mpq_denref (percent), base);
        mpq_canonicalize (percent);
        mpq_mul (percent, percent, row->exact);
        GL_AUTOFREE char *rate = exact_shortest (percent);
        GL_AUTOFREE char *reason = xasprintf ("%s %% of %s", rate, amount);
        report_put_text (page->report, AT_REASON, reason);
        mpq_clear (percent);
    }
    mpz_clear (base);
}

/* What the row goes back to: "CLUSTER/JOBID/SUBMIT" as a job and a time. */
static void put_reference (page_t *page, const posting_t *row)
{
    const char *reference = row->reference;
    GL_AUTOFREE char *cluster = NULL;
    GL_AUTOFREE char *words = NULL;
    char stamp[ZONE_STAMP_SIZE];
    const char *submit, *job;

    report_put_text (page->report, AT_REFERENCE, reference);
    job = row->kind == BILL_SERVICE ? NULL : job_of (reference, &submit);
    if (!job) {
        report_put_text (page->report, AT_REFERS, reference);
        return;
    }
    cluster = xstrndup (reference, (size_t)(job - 1 - reference));
    words = xasprintf ("job %.*s of %s, submitted %s", (int)(submit - 1 - job),
                       job, cluster,
                       zone_stamp (page->s->query->site->zone,
                                   strtoll (submit, NULL, 10), stamp));
    report_put_text (page->report, AT_REFERS, words);
}

static void add_single (page_t *page, const struct single *kind,
                        const posting_t *row, size_t index, size_t number)
{
    BUFFER_AUTO command = BUFFER_INIT;
    char line[16];

    statement_begin_line (page, kind->word, kind->letter, number, line);
    report_put_text (page->report, AT_NAME,
                     row->kind == BILL_CREDIT ? bill_credit_title (row->what)
                                              : row->what);
    report_put_text (page->report, AT_POOL, row->pool);
    if (row->month && strcmp (row->month, page->s->month) != 0)
        report_put_text (page->report, AT_MONTH, row->month);
    if (mpq_sgn (posting_seconds (row)) != 0)
        statement_put_hours (page, row->gpu_seconds, row->cpu_seconds);
    statement_put_units (page, AT_CHARGE, row->charge_units);
    report_put_text (page->report, AT_REASON,
                     row->reason ? row->reason
                                 : correction_cause_text (row->what));
    put_bought (page, row);
    put_idle_account (page, row);
    put_service (page, row);
    put_settlement (page, row);
    put_outage (page, row);
    put_tax (page, row);
    if (row->origin) {
        statement_put_units (page, AT_BEFORE, row->before_units);
        statement_put_units (page, AT_AFTER, row->after_units);
    }
    if (page->s->disputed && page->s->disputed[index])
        report_put_text (page->report, AT_DISPUTED, "yes");
    put_reference (page, row);
    statement_put_rows (page, &index, 1);
    if (row->kind != BILL_SERVICE && command_of_job (row->reference, &command))
        statement_put_command (page, line, buffer_text (&command));
    else if (kind->kind == BILL_CORRECTION && row->month
             && statement_command (page, row->month, &command))
        statement_put_command (page, line, buffer_text (&command));
}

static void add_singles (page_t *page, const struct single *kind)
{
    size_t count, number = 0;
    const posting_t *rows = postings (page->s->bill, &count);
    bill_rows_t of = bill_rows_of (page->s->bill, page->s->team);

    for (size_t i = 0; i < of.count; i++) {
        const posting_t *row = &rows[of.index[i]];
        if (row->kind != kind->kind)
            continue;
        if (number == 0)
            report_section (page->report, kind->title, kind->help);
        add_single (page, kind, row, of.index[i], ++number);
    }
    if (number > 0) {
        report_section_totals (page->report);
        statement_put_units (page, AT_CHARGE,
                             statement_due_of (page, kind->kind));
    }
}

/* --- what changed ------------------------------------------------------ */

static void add_changes (page_t *page)
{
    GL_AUTOFREE char *title
        = xasprintf ("What changed since %s", page->s->before_month);
    mpz_t difference;

    if (!page->s->before || !page->priced)
        return;
    report_section (page->report, title,
                    "The difference from last month's amount due, in parts "
                    "that add up to it.");
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const change_info_t *info = change_info ((change_id_t)i);
        char line[16];
        if (!variance_is_said (&page->variance, (change_id_t)i))
            continue;
        statement_begin_line (page, "changes", 'D', i + 1, line);
        report_put_text (page->report, AT_NAME, info->word);
        statement_put_units (page, AT_CHARGE, page->variance.part[i]);
        report_put_text (page->report, AT_REASON, info->help);
    }
    mpz_init (difference);
    mpz_sub (difference, page->variance.after, page->variance.before);
    report_section_totals (page->report);
    statement_put_units (page, AT_CHARGE, difference);
    mpz_clear (difference);
}

/* --- waste --------------------------------------------------------------- */

static void sum_waste (const page_t *page, waste_group_t group, waste_t *sum)
{
    for (size_t i = 0; i < cube_count (page->s->waste); i++) {
        const waste_t *row = cube_row (page->s->waste, i);
        if (waste_info (row->what)->group == group)
            fields_add (&waste_rows, sum, row, 1);
    }
}

static void put_waste (page_t *page, const waste_t *row)
{
    report_put_hours (page->report, AT_GPU_HOURS, row->seconds);
    if (mpz_sgn (row->units) != 0)
        statement_put_units (page, AT_AMOUNT, row->units);
}

static void add_waste (page_t *page, waste_group_t group, char letter,
                       const char *word, const char *title, const char *help)
{
    size_t number = 0;
    waste_t sum;

    for (size_t i = 0; i < cube_count (page->s->waste); i++) {
        const waste_t *row = cube_row (page->s->waste, i);
        const waste_info_t *info = waste_info (row->what);
        char line[16];
        if (info->group != group)
            continue;
        if (number == 0)
            report_section (page->report, title, help);
        statement_begin_line (page, word, letter, ++number, line);
        report_put_text (page->report, AT_NAME, info->title);
        put_waste (page, row);
        if (group == WASTE_OF_JOBS) /* the others' are for administrators */
            report_put_text (page->report, AT_REASON, info->remedy);
    }
    if (number == 0)
        return;
    fields_init (&waste_rows, &sum);
    sum_waste (page, group, &sum);
    report_section_totals (page->report);
    put_waste (page, &sum);
    fields_clear (&waste_rows, &sum);
}

void statement_lines (page_t *page)
{
    statement_charge_table (page);
    for (size_t i = 0; i < GL_ARRAY_SIZE (singles); i++)
        add_singles (page, &singles[i]);
    add_changes (page);
    add_waste (page, WASTE_OF_JOBS, 'W', "waste", "What was wasted",
               "Idle GPUs in your jobs, and the rest of the time of jobs that "
               "ended badly. The charges include this time, even if a credit "
               "returns it. Reason is what would have prevented it.");
    add_waste (page, WASTE_NOT_COUNTED, 'N', "not_counted",
               "Not counted as waste",
               "Jobs that were cancelled, perhaps because they were done.");
    statement_split_tables (page);
}

/* --- balances of rules of settlement ----------------------------------- */

static void put_balance (page_t *page, const bill_balance_t *b, size_t number)
{
    const site_t *site = page->s->site;
    const site_settlement_t *rule = balances_rule (site, b->rule);
    GL_AUTOFREE char *until = balances_until (b, rule);
    char line[16];

    statement_begin_line (page, "balances", 'L', number, line);
    report_put_text (page->report, AT_NAME, b->rule);
    put_user (page, b->user);
    report_put_text (page->report, AT_MONTH, until);
    report_put_text (page->report, AT_UNIT, balances_unit (site, b));
    balances_put (page->report, page->balances, site, b);
    if (balances_low (site, b, rule, page->s->query->period.end))
        report_put_text (page->report, AT_REASON, "low balance");
    else if (!b->team)
        report_put_text (page->report, AT_REASON, "shared by its teams");
}

void statement_balance_lines (page_t *page)
{
    size_t count, number = 0;
    const bill_balance_t *list = bill_balances (page->s->bill, &count);
    text_list_t users = {NULL, 0};

    if (page->user && page->s->team)
        balances_users (page->s->bill, page->s->month, page->s->team, &users);
    for (size_t i = 0; i < count && page->balances && page->s->team; i++) {
        if (!balances_are_of (page->s->site, &list[i], page->s->month,
                              page->s->team, &users))
            continue;
        if (number == 0)
            report_section (page->report, "Balances",
                            "Your balance in each rule of settlement. Month "
                            "is the last month of the period.");
        put_balance (page, &list[i], ++number);
    }
    texts_clear (&users);
}

/* --- budgets ----------------------------------------------------------- */

static void put_budget_percent (page_t *page, const budget_t *b,
                                statement_at_t at, mpq_srcptr value)
{
    GL_AUTOFREE char *percent = report_percent_text (value, b->amount);

    report_put_text (page->report, at, percent);
}

static void put_budget (page_t *page, const budget_t *b, size_t number)
{
    GL_AUTOFREE char *amount = budget_text (b, b->amount);
    GL_AUTOFREE char *spent = b->known ? budget_text (b, b->spent) : NULL;
    GL_AUTOFREE char *forecast
        = b->run_rate.known ? budget_text (b, b->run_rate.value) : NULL;
    BUFFER_AUTO command = BUFFER_INIT;
    char line[16];

    statement_begin_line (page, "budgets", 'B', number, line);
    report_put_text (page->report, AT_NAME, b->budget->name);
    report_put_text (page->report, AT_MONTH, b->period_name);
    report_put_text (page->report, AT_BUDGET, amount);
    report_put_text (page->report, AT_SPENT, spent);
    if (b->known)
        put_budget_percent (page, b, AT_SPENT_PCT, b->spent);
    report_put_text (page->report, AT_FORECAST, forecast);
    report_put_text (page->report, AT_UNIT,
                     budget_unit (b, page->s->query->site));
    if (b->run_rate.known)
        put_budget_percent (page, b, AT_FORECAST_PCT, b->run_rate.value);
    buffer_add_text (&command, "gpuledger budget");
    shell_word (&command, b->budget->name);
    statement_put_command (page, line, buffer_text (&command));
}

void statement_budget_lines (page_t *page)
{
    if (page->s->budget_count > 0)
        report_section (page->report, "Budgets",
                        "As of the end of the month, or of the latest facts.");
    for (size_t i = 0; i < page->s->budget_count; i++)
        put_budget (page, page->s->budgets[i], i + 1);
}

/* --- energy and carbon -------------------------------------------------- */

bool statement_has_carbon (const page_t *page)
{
    const statement_t *s = page->s;
    size_t count;
    const bill_carbon_t *rows = bill_carbon (s->bill, &count);
    bool now = GL_ANY (rows, count, it, text_same (it->team, s->team));

    if (now || !s->before)
        return now;
    rows = bill_carbon (s->before, &count);
    return GL_ANY (rows, count, it, text_same (it->team, s->team));
}

/* The team's rows by what they were computed with. */
static cube_t *carbon_of (const page_t *page, const bill_t *bill)
{
    cube_t *cube = carbon_by_factor ();
    size_t count;
    const bill_carbon_t *rows = bill_carbon (bill, &count);

    for (size_t i = 0; i < count; i++)
        if (text_same (rows[i].team, page->s->team))
            cube_add (cube, &rows[i]);
    return cube;
}

static void put_carbon (page_t *page, const bill_carbon_t *row, size_t number)
{
    char line[16];

    statement_begin_line (page, "carbon", 'G', number, line);
    report_put_text (page->report, AT_NAME,
                     row->grid ? row->grid : "(no grid)");
    report_put_text (page->report, AT_MONTH, row->month);
    carbon_put (page->report, page->energy, row);
    carbon_put_factor (page->report, page->energy + CARBON_COLUMNS, row);
}

/* Lines from `number` on; the next one. */
static size_t put_carbons (page_t *page, const bill_t *bill, size_t number)
{
    cube_t *rows = carbon_of (page, bill);

    for (size_t i = 0; i < cube_count (rows); i++)
        put_carbon (page, cube_row (rows, i), number++);
    cube_free (rows);
    return number;
}

/* Of the sums of the two months. */
static void carbon_figure (page_t *page)
{
    bill_carbon_t now, before;
    cube_t *rows = carbon_of (page, page->s->bill);

    fields_init (&bill_fields[BILL_CARBON], &now);
    fields_init (&bill_fields[BILL_CARBON], &before);
    cube_sum (rows, 0, cube_count (rows), &now);
    cube_free (rows);
    if (page->s->before) {
        rows = carbon_of (page, page->s->before);
        cube_sum (rows, 0, cube_count (rows), &before);
        cube_free (rows);
    }
    if (mpq_sgn (now.gpu_seconds) > 0)
        carbon_emissions_figure (page->report, &now, &before,
                                 page->s->before_month);
    fields_clear (&bill_fields[BILL_CARBON], &now);
    fields_clear (&bill_fields[BILL_CARBON], &before);
}

static void carbon_notes_of_team (page_t *page)
{
    size_t count, own = 0;
    const bill_carbon_t *rows = bill_carbon (page->s->bill, &count);
    bill_carbon_t *row = xcalloc (count + 1, sizeof (*row));

    for (size_t i = 0; i < count; i++)
        if (text_same (rows[i].team, page->s->team))
            row[own++] = rows[i];
    carbon_notes (page->report, row, own, CARBON_LINES);
    free (row);
}

void statement_carbon_lines (page_t *page)
{
    size_t next;

    if (!page->energy)
        return;
    carbon_figure (page);
    report_section (page->report, "Energy and carbon",
                    "The energy of your jobs and the CO2e that it caused "
                    "(location-based). Embodied emissions, from making the "
                    "GPUs, are not added to it. Neither changes the amount "
                    "due.");
    next = put_carbons (page, page->s->bill, 1);
    if (page->s->before)
        put_carbons (page, page->s->before, next);
    carbon_notes_of_team (page);
}

mpz_srcptr statement_due_of (const page_t *page, bill_kind_t kind)
{
    static const mpz_t none;
    const group_t *group = cube_find (page->kinds, &(group_t){.kind = kind});

    return group ? group->charge : none;
}

void statement_disputed (const page_t *page, mpz_t ret_units)
{
    size_t count;
    const posting_t *rows = postings (page->s->bill, &count);
    bill_rows_t of = bill_rows_of (page->s->bill, page->s->team);

    mpz_set_ui (ret_units, 0);
    for (size_t i = 0; i < of.count && page->s->disputed; i++)
        if (page->s->disputed[of.index[i]])
            mpz_add (ret_units, ret_units, rows[of.index[i]].charge_units);
}

/* --- figures on top ---------------------------------------------------- */

/* What each part says where it is below 0, and above. */
static const char *const causes[CHANGE_COUNT][2] = {
    [CHANGE_VOLUME] = {"fewer hours", "more hours"},
    [CHANGE_MIX] = {"a cheaper mix of pools, QOS and slices",
                    "a more expensive mix of pools, QOS and slices"},
    [CHANGE_PRICE] = {"lower prices", "higher prices"},
    [CHANGE_IDLE] = {"less idle time charged", "more idle time charged"},
    [CHANGE_CREDIT] = {"more credits", "fewer credits"},
    [CHANGE_CORRECTION]
    = {"corrections of earlier months", "corrections of earlier months"},
    [CHANGE_TAX] = {"lower taxes", "higher taxes"},
    [CHANGE_PURCHASE]
    = {"fewer purchases of entitlements", "more purchases of entitlements"},
    [CHANGE_SETTLEMENT]
    = {"the rules of settlement", "the rules of settlement"},
    [CHANGE_SERVICE]
    = {"less charged for other services", "more charged for other services"},
    [CHANGE_ENTITLEMENT]
    = {"more covered by entitlements", "less covered by entitlements"},
};

/* The largest part that goes the way of the difference; CHANGE_COUNT: none. */
static size_t largest_cause (const variance_t *v, int sign)
{
    size_t largest = CHANGE_COUNT;

    for (size_t i = 0; i < CHANGE_COUNT; i++)
        if (mpz_sgn (v->part[i]) == sign
            && (largest == CHANGE_COUNT
                || mpz_cmpabs (v->part[i], v->part[largest]) > 0))
            largest = i;
    return largest;
}

static void add_change_figure (page_t *page)
{
    GL_AUTOFREE char *title = xasprintf ("Since %s", page->s->before_month);
    GL_AUTOFREE char *before = money (page, page->variance.before);
    GL_AUTOFREE char *percent = NULL;
    GL_AUTOFREE char *hint = NULL;
    GL_AUTOFREE char *text = NULL;
    GL_AUTOFREE char *part = NULL;
    mpz_t difference;
    size_t cause;
    int sign;

    if (!page->s->before || !page->priced)
        return;
    mpz_init (difference);
    mpz_sub (difference, page->variance.after, page->variance.before);
    text = report_signed_text (money (page, difference));
    percent = report_signed_text (
        report_units_percent_text (difference, page->variance.before));
    sign = mpz_sgn (difference);
    cause = largest_cause (&page->variance, sign);
    if (sign)
        part = report_signed_text (money (page, page->variance.part[cause]));
    hint = xasprintf ("%s%sfrom %s%s%s%s%s", percent ? percent : "",
                      percent ? " %, " : "", before,
                      sign ? "; the largest cause: " : "",
                      sign ? causes[cause][sign > 0] : "", sign ? ", " : "",
                      sign ? part : "");
    report_figure (page->report, title, text, hint, COLUMN_MONEY);
    mpz_clear (difference);
}

void statement_change_note (page_t *page)
{
    const variance_t *v = &page->variance;
    const char *currency = page->s->query->site->currency;
    mpz_t difference;
    size_t cause;
    int sign;

    if (!page->s->before || !page->priced)
        return;
    mpz_init (difference);
    mpz_sub (difference, v->after, v->before);
    sign = mpz_sgn (difference);
    mpz_abs (difference, difference);
    cause = largest_cause (v, sign ? sign : 1); /* at 0: any */
    GL_AUTOFREE char *text = money (page, difference);
    GL_AUTOFREE char *part
        = cause < CHANGE_COUNT
              ? report_signed_text (money (page, v->part[cause]))
              : NULL;
    mpz_clear (difference);
    if (sign == 0)
        report_note (page->report, NOTE_INFORMATION,
                     "The amount due is that of %s.%s", page->s->before_month,
                     part ? " Its parts changed: see the table What changed."
                          : "");
    else
        report_note (page->report, NOTE_INFORMATION,
                     "The amount due is %s %s %s than for %s. The largest "
                     "cause is %s: %s %s %s. The table What changed has all "
                     "causes; By project and By user have last month's "
                     "amounts.",
                     text, currency, sign < 0 ? "less" : "more",
                     page->s->before_month, causes[cause][sign > 0],
                     change_info ((change_id_t)cause)->word, part, currency);
}

/* Where it is not all that is due. */
static void add_payable_figure (page_t *page)
{
    mpz_t units;

    if (page->s->disputed_count == 0 || !page->priced)
        return;
    mpz_init (units);
    statement_disputed (page, units);
    mpz_sub (units, page->sum.charge, units);
    GL_AUTOFREE char *text = money (page, units);
    report_figure (page->report, "Payable now", text,
                   "without the rows in dispute", COLUMN_MONEY);
    mpz_clear (units);
}

static char *percent_of (mpq_srcptr part, const mpz_t whole_units)
{
    char *text;
    mpq_t whole;

    mpq_init (whole);
    mpq_set_z (whole, whole_units);
    text = report_percent_text (part, whole);
    mpq_clear (whole);
    return text;
}

/* Of charges and idle rows together. */
char *statement_margin_percent (const group_t *group)
{
    return !group->margin_unknown && mpz_sgn (group->charged) > 0
               ? percent_of (group->margin, group->charged)
               : NULL;
}

/* As in the column of that name; credits and taxes change the amount, no rate. */
static void add_rate_figure (page_t *page, const char *rate, const char *unit)
{
    GL_AUTOFREE char *hint
        = xasprintf ("%s per %s hour, average before credits and taxes",
                     page->s->query->site->currency, unit);

    report_figure (page->report, "Rate", rate, hint, COLUMN_RATE);
}

/* The largest cause; NULL: none. */
static const waste_t *largest_waste (const page_t *page)
{
    for (size_t i = 0; i < cube_count (page->s->waste); i++) {
        const waste_t *row = cube_row (page->s->waste, i);
        if (waste_info (row->what)->group == WASTE_OF_JOBS)
            return row;
    }
    return NULL;
}

/* "; the largest cause: Jobs out of time, 171.39". Yours to free. */
static char *largest_waste_text (const page_t *page)
{
    const waste_t *row = largest_waste (page);
    GL_AUTOFREE char *amount = row ? money (page, row->units) : NULL;
    const char *title = row ? waste_info (row->what)->title : NULL;

    return !row ? xstrdup ("")
           : mpz_sgn (row->units) == 0
               ? xasprintf ("; the largest cause: %s", title)
               : xasprintf ("; the largest cause: %s, %s", title, amount);
}

/* Paid for and of no use; what was not measured is not known to be idle. */
static void add_waste_figure (page_t *page)
{
    const waste_t *all = page->s->allocated;
    GL_AUTOFREE char *known = NULL;
    waste_t sum;

    if (mpq_sgn (all->seconds) == 0)
        return;
    fields_init (&waste_rows, &sum);
    sum_waste (page, WASTE_OF_JOBS, &sum);
    known = report_coverage_text (all->known, all->seconds);
    GL_AUTOFREE char *share = report_percent_text (sum.seconds, all->seconds);
    GL_AUTOFREE char *amount
        = mpq_sgn (sum.seconds) != 0 && mpz_sgn (sum.units) == 0
              ? NULL
              : money (page, sum.units);
    GL_AUTOFREE char *hours = report_hours_text (sum.seconds);
    GL_AUTOFREE char *largest = largest_waste_text (page);
    GL_AUTOFREE char *what
        = mpq_sgn (sum.seconds) == 0
              ? xstrdup ("no job is known to have left GPUs idle or to have "
                         "ended badly")
              : xasprintf ("%s at the average price of the pool: %s GPU "
                           "hours, %s %% of yours%s",
                           page->s->query->site->currency, hours, share,
                           largest);
    GL_AUTOFREE char *hint
        = xasprintf ("%s. Agents measured %s %% of your GPU hours", what,
                     known ? known : "0.00");
    report_figure (page->report, "Wasted", amount, hint, COLUMN_MONEY);
    fields_clear (&waste_rows, &sum);
}

/* By pool. */
void statement_idle_list (page_t *page)
{
    report_list_t *list;

    if (page->s->idle_count == 0)
        return;
    list = report_list (page->report, "Idle GPUs in your jobs");
    for (size_t i = 0; i < page->s->idle_count; i++) {
        const statement_idle_t *idle = &page->s->idle[i];
        GL_AUTOFREE char *amount = money (page, idle->units);
        GL_AUTOFREE char *hours = report_hours_text (idle->gpu_seconds);
        GL_AUTOFREE char *text = xasprintf (
            "%s GPU hours, %s %s at the average price of the pool, as far as "
            "agents measured. The charges include them.",
            hours, amount, page->s->query->site->currency);
        report_list_item (list, idle->pool, text);
    }
}

/* What makes the adjustments of the charges. */
void statement_adjustment_list (page_t *page)
{
    size_t count;
    const posting_t *rows = postings (page->s->bill, &count);
    bill_rows_t of = bill_rows_of (page->s->bill, page->s->team);
    report_list_t *list = NULL;
    mpz_t sum;

    mpz_init (sum);
    for (size_t k = 0; k < ADJUSTMENT_COUNT; k++) {
        mpz_set_ui (sum, 0);
        for (size_t i = 0; i < of.count; i++)
            if (rows[of.index[i]].kind == BILL_CHARGE)
                mpz_add (sum, sum, rows[of.index[i]].adjustment_units[k]);
        if (mpz_sgn (sum) == 0)
            continue;
        if (!list)
            list = report_list (page->report, "What the adjustments are");
        GL_AUTOFREE char *amount = money (page, sum);
        GL_AUTOFREE char *text
            = xasprintf ("%s %s", amount, page->s->query->site->currency);
        report_list_item (list, adjustment_info (k)->title, text);
    }
    mpz_clear (sum);
}

/* "in 7 jobs; 3213.3 in 2026-09", where the month before has some. Yours to
 * free. */
static char *gpu_hours_hint (const page_t *page, const char *jobs)
{
    const statement_t *s = page->s;
    GL_AUTOFREE char *before = NULL;
    bill_rows_t of;
    mpq_t seconds;
    size_t count;
    bool any;

    if (!s->before)
        return xstrdup (jobs);
    mpq_init (seconds);
    of = bill_rows_of (s->before, s->team);
    for (size_t i = 0; i < of.count; i++) {
        const posting_t *row = &postings (s->before, &count)[of.index[i]];
        if (row->kind == BILL_CHARGE)
            exact_add (seconds, row->gpu_seconds);
    }
    any = mpq_sgn (seconds) != 0;
    mpz_mul_ui (mpq_denref (seconds), mpq_denref (seconds), 3600);
    mpq_canonicalize (seconds);
    before = exact_text (seconds, 1);
    mpq_clear (seconds);
    return any ? xasprintf ("%s; %s in %s", jobs, before, s->before_month)
               : xstrdup (jobs);
}

void statement_figures (page_t *page)
{
    const char *currency = page->s->query->site->currency;
    GL_AUTOFREE char *due
        = page->priced ? money (page, page->sum.charge) : NULL;
    GL_AUTOFREE char *hours = report_hours_text (page->sum.gpu_seconds);
    GL_AUTOFREE char *jobs
        = xasprintf ("in %llu job%s", (unsigned long long)page->s->jobs,
                     page->s->jobs == 1 ? "" : "s");
    GL_AUTOFREE char *gpu_hint = gpu_hours_hint (page, jobs);
    GL_AUTOFREE char *rate
        = page->priced ? report_rate_of (page->sum.exact, page->sum.gpu_seconds,
                                         page->sum.cpu_seconds)
                       : NULL;
    bool of_cpus = mpq_sgn (page->sum.cpu_seconds) != 0;
    bool of_gpus = mpq_sgn (page->sum.gpu_seconds) != 0 || !of_cpus;
    GL_AUTOFREE char *margin
        = page->priced ? statement_margin_percent (&page->sum) : NULL;
    GL_AUTOFREE char *hint = xasprintf (
        "%s, %s", currency, page->s->provisional ? "provisional" : "closed");

    report_figure (page->report, "Due", due, hint, COLUMN_MONEY);
    add_change_figure (page);
    add_payable_figure (page);
    if (of_gpus)
        report_figure (page->report, "GPU hours", hours, gpu_hint,
                       COLUMN_HOURS);
    if (of_cpus) {
        GL_AUTOFREE char *cpu_hours = report_hours_text (page->sum.cpu_seconds);
        report_figure (page->report, "CPU hours", cpu_hours, jobs,
                       COLUMN_HOURS);
    }
    if (!of_gpus || !of_cpus)
        add_rate_figure (page, rate, of_cpus ? "CPU" : "GPU");
    add_waste_figure (page);
    report_figure (page->report, "Margin over cost", margin,
                   mpq_sgn (page->sum.margin) < 0
                       ? "percent of the charges, before credits: they do not "
                         "cover the cost"
                       : "percent of the charges, before credits, above the "
                         "cost of these hours, without that of hours that no "
                         "job used",
                   COLUMN_PERCENT);
}

/* --- charts ------------------------------------------------------------ */

static void add_day_chart (page_t *page)
{
    const zone_t *zone = page->s->query->site->zone;
    size_t count = page->s->day_count;
    mpq_t *value = xcalloc (count + 1, sizeof (*value));
    char **day = xcalloc (count + 1, sizeof (*day));
    plot_series_t charges = {.title = "Charges", .value = (const mpq_t *)value};

    for (size_t i = 0; i < count; i++) {
        mpq_init (value[i]);
        mpq_set_z (value[i], page->s->days[i].units);
        day[i] = xcalloc (1, ZONE_STAMP_SIZE);
        zone_unit_name (zone, CALENDAR_DAY, page->s->days[i].start, day[i]);
    }
    report_plot (page->report,
                 &(plot_t){.kind = CHART_COLUMNS,
                           .title = "Day by day",
                           .description = "Charges for the GPU time of each "
                                          "day, before credits, corrections "
                                          "and taxes.",
                           .type = COLUMN_MONEY,
                           .digits = page->digits,
                           .unit = page->s->query->site->currency,
                           .point = (const char *const *)day,
                           .point_count = count,
                           .series = &charges,
                           .series_count = 1});
    GL_FREE_EACH (value, count, it, mpq_clear (*it));
    GL_FREE_EACH (day, count, it, free (*it));
}

/* What the list price is for: the cost of the time as far as it is charged, the margin
 * above it, and what was deducted from the list price. */
static void add_cost_chart (page_t *page)
{
    static const char *const label[]
        = {"cost of the GPU time", "margin over cost",
           "subsidies, discounts and entitlements"};
    static const int shade[] = {0, 2, 3};
    enum { COST, MARGIN, TAKEN_OFF, PARTS };
    mpz_t part[PARTS], whole;
    report_chart_t *chart;
    bool below_cost = mpq_sgn (page->sum.margin) < 0;

    if (page->sum.margin_unknown || !page->priced
        || mpz_sgn (page->sum.list) <= 0)
        return;
    mpz_inits (part[COST], part[MARGIN], part[TAKEN_OFF], whole, NULL);
    if (!below_cost)
        exact_round (part[MARGIN], page->sum.margin, 0);
    mpz_sub (part[COST], page->sum.charged, part[MARGIN]);
    mpz_sub (part[TAKEN_OFF], page->sum.list,
             statement_due_of (page, BILL_CHARGE));
    mpz_set (whole, page->sum.charged);
    if (mpz_sgn (part[TAKEN_OFF]) > 0)
        mpz_add (whole, whole, part[TAKEN_OFF]);
    chart = report_chart (page->report, CHART_STACK, "What the charges cover",
                          "List prices and shared idle time, before credits "
                          "and taxes, divided into cost, margin over cost, and "
                          "the amount that subsidies, discounts and "
                          "entitlements cover.");
    for (size_t i = 0; i < PARTS; i++) {
        if (mpz_sgn (part[i]) > 0)
            report_chart_money (chart,
                                i == COST && below_cost
                                    ? "part of the cost of the GPU time"
                                    : label[i],
                                part[i], whole, page->digits, shade[i]);
        mpz_clear (part[i]);
    }
    mpz_clear (whole);
}

void statement_charts (page_t *page)
{
    add_cost_chart (page);
    add_day_chart (page);
}

/* --- how it adds up ---------------------------------------------------- */

static const struct {
    bill_kind_t kind;
    const char *name;
} parts[] = {
    {BILL_CHARGE, "charges"},         {BILL_IDLE, "idle"},
    {BILL_PURCHASE, "purchases"},     {BILL_SETTLEMENT, "settlement"},
    {BILL_SERVICE, "services"},       {BILL_CREDIT, "credits"},
    {BILL_CORRECTION, "corrections"}, {BILL_TAX, "taxes"},
};

static void prove_due (page_t *page)
{
    GL_AUTOFREE char *title
        = xasprintf ("Amount due, %s", page->s->query->site->currency);
    report_proof_t *proof = report_proof (page->report, title);
    mpz_t sum;

    mpz_init (sum);
    for (size_t i = 0; i < GL_ARRAY_SIZE (parts); i++) {
        mpz_srcptr units = statement_due_of (page, parts[i].kind);
        bool cpus = parts[i].kind == BILL_CHARGE
                    && mpq_sgn (page->sum.cpu_seconds) != 0;
        const char *part
            = cpus ? "time of GPUs and CPUs" : bill_kind_title (parts[i].kind);
        mpz_add (sum, sum, units);
        if (mpz_sgn (units) != 0 || parts[i].kind == BILL_CHARGE)
            report_proof_money (proof, part, units, page->digits);
        if (mpz_sgn (units) != 0
            || (parts[i].kind != BILL_PURCHASE
                && parts[i].kind != BILL_SETTLEMENT
                && parts[i].kind != BILL_SERVICE))
            report_named_money (page->report, parts[i].name, part, units,
                                page->digits);
    }
    report_proof_money (proof, "due", page->sum.charge, page->digits);
    proof->holds = mpz_cmp (sum, page->sum.charge) == 0;
    mpz_sub (sum, page->sum.charge, statement_due_of (page, BILL_TAX));
    report_named_money (page->report, "net", "before taxes", sum, page->digits);
    report_named_money (page->report, "due", "due", page->sum.charge,
                        page->digits);
    exact_round (sum, page->sum.margin, 0);
    if (!page->sum.margin_unknown)
        report_named_money (page->report, "margin_over_cost",
                            "charges and idle time less their cost", sum,
                            page->digits);
    mpz_clear (sum);
}

static void prove_change (page_t *page)
{
    GL_AUTOFREE char *title
        = xasprintf ("From %s to %s, %s", page->s->before_month, page->s->month,
                     page->s->query->site->currency);
    report_proof_t *proof = report_proof (page->report, title);
    mpz_t sum;

    mpz_init_set (sum, page->variance.before);
    report_proof_money (proof, page->s->before_month, page->variance.before,
                        page->digits);
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const change_info_t *info = change_info ((change_id_t)i);
        GL_AUTOFREE char *name = xasprintf ("change_%s", info->word);
        if (!variance_is_said (&page->variance, (change_id_t)i))
            continue;
        mpz_add (sum, sum, page->variance.part[i]);
        report_proof_money (proof, info->word, page->variance.part[i],
                            page->digits);
        report_named_money (page->report, name, info->title,
                            page->variance.part[i], page->digits);
    }
    report_proof_money (proof, page->s->month, page->variance.after,
                        page->digits);
    report_named_money (page->report, "due_before", "due last month",
                        page->variance.before, page->digits);
    proof->holds = mpz_cmp (sum, page->variance.after) == 0;
    mpz_clear (sum);
}

void statement_proofs (page_t *page)
{
    if (!page->priced)
        return;
    prove_due (page);
    if (page->s->before)
        prove_change (page);
}
