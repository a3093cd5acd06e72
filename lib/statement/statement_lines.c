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
#include "ledger/bill_tax.h"
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
    buffer_add_text (&text, page->s->month);
    for (size_t shown = 0; at < count && shown < STRETCHES_SHOWN; shown++) {
        size_t last = end_of (row, count, at);
        buffer_add_char (&text, shown ? ',' : '/');
        buffer_add_number (&text, row[at] + 1);
        if (last > at) {
            buffer_add_char (&text, '-');
            buffer_add_number (&text, row[last] + 1);
        }
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
    GL_AUTOFREE char *quantity = exact_shortest (posting_extra (row)->quantity);
    report_put_text (page->report, page->quantity, quantity);
    report_put_text (page->report, page->unit, row->unit);
    report_put_text (page->report, AT_REASON, row->description);
    if (mpq_sgn (posting_extra (row)->quantity) == 0)
        return;
    mpq_init (price);
    mpq_div (price, row->exact, posting_extra (row)->quantity);
    GL_AUTOFREE char *text = exact_shortest (price);
    report_put_text (page->report, page->unit_price, text);
    mpq_clear (price);
}

char *statement_money (const page_t *page, const mpz_t units)
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
    mpz_t base;

    if (row->kind != BILL_TAX)
        return;
    mpz_init (base);
    mpz_sub (base, page->sum.charge, statement_due_of (page, BILL_TAX));
    GL_AUTOFREE char *amount = statement_money (page, base);
    GL_AUTOFREE char *rate
        = bill_tax_percent (page->s->bill, row, page->digits);
    GL_AUTOFREE char *reason
        = rate ? xasprintf ("%s %% of %s", rate, amount) : NULL;
    if (reason)
        report_put_text (page->report, AT_REASON, reason);
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
        statement_put_units (page, AT_BEFORE,
                             posting_extra (row)->before_units);
        statement_put_units (page, AT_AFTER, posting_extra (row)->after_units);
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

static void put_cause (page_t *page, change_id_t id)
{
    const char *mix = id == CHANGE_MIX ? page->variance->mix : NULL;
    GL_AUTOFREE char *text
        = mix ? xasprintf ("Other pools, QOS or slices, mostly %s.", mix)
              : xstrdup (change_info (id)->help);

    report_put_text (page->report, AT_REASON, text);
}

static void add_changes (page_t *page)
{
    GL_AUTOFREE char *title
        = xasprintf ("What changed since %s", page->s->before_month);
    size_t number = 0;
    mpz_t difference;

    if (!page->s->before || !page->priced)
        return;
    report_section (page->report, title,
                    "The difference from last month's amount due, in parts "
                    "that add up to it.");
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const change_info_t *info = change_info ((change_id_t)i);
        char line[16];
        if (!variance_is_said (page->variance, (change_id_t)i))
            continue;
        statement_begin_line (page, "changes", 'D', ++number, line);
        report_put_text (page->report, AT_NAME, info->word);
        statement_put_units (page, AT_CHARGE, page->variance->part[i]);
        put_cause (page, (change_id_t)i);
    }
    mpz_init (difference);
    mpz_sub (difference, page->variance->after, page->variance->before);
    report_section_totals (page->report);
    statement_put_units (page, AT_CHARGE, difference);
    mpz_clear (difference);
}

void statement_lines (page_t *page)
{
    statement_charge_table (page);
    for (size_t i = 0; i < GL_ARRAY_SIZE (singles); i++)
        add_singles (page, &singles[i]);
    add_changes (page);
    statement_waste_lines (page);
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
