#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "ledger/bill_tax.h"
#include "ledger/cube.h"
#include "site/project.h"
#include "statement/institution.h"
#include "statement/summary.h"

enum {
    AT_TEAM,
    AT_PI,
    AT_COST_CENTER,
    AT_HOURS,
    AT_CHARGES,
    AT_CREDITS,
    AT_SETTLEMENT,
    AT_SERVICES,
    AT_CORRECTIONS,
    AT_NET,
    AT_TAX,
    AT_TAXES,
    AT_DUE,
    AT_CURRENCY,
    AT_STATEMENT,
    AT_INSTITUTION_COUNT,
    /* of all teams alone */
    AT_DISPUTED = AT_INSTITUTION_COUNT,
    AT_SECTION,
    AT_COUNT,
};

/* Details are shown where a team has something there. */
static const column_info_t columns[AT_COUNT] = {
    [AT_TEAM] = {"team", "Team", COLUMN_TEXT, true, false, ""},
    [AT_PI] = {"pi", "PI", COLUMN_TEXT, false, true, ""},
    [AT_COST_CENTER]
    = {"cost_center", "Cost center", COLUMN_TEXT, false, true, ""},
    [AT_HOURS] = {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
                  "Hours of physical GPUs allocated to jobs, busy or not."},
    [AT_CHARGES] = {"charges", "Charges", COLUMN_MONEY, false, false,
                    "For time allocated to jobs, idle time by policy, and "
                    "entitlements."},
    [AT_CREDITS] = {"credits", "Credits", COLUMN_MONEY, false, true,
                    "By policy and manual."},
    [AT_SETTLEMENT] = {"settlement", "Settlement", COLUMN_MONEY, false, true,
                       "Grants, sponsors, prepaid money, fees and caps, by "
                       "the site's rules."},
    [AT_SERVICES]
    = {"services", "Other services", COLUMN_MONEY, false, true, ""},
    [AT_CORRECTIONS] = {"corrections", "Corrections", COLUMN_MONEY, false, true,
                        "Corrections of earlier months."},
    [AT_NET]
    = {"net", "Net", COLUMN_MONEY, false, true, "The amount before taxes."},
    [AT_TAX] = {"tax", "Tax rate", COLUMN_TEXT, false, true,
                "Name and rate of the tax; of several each one's amount."},
    [AT_TAXES] = {"taxes", "Taxes", COLUMN_MONEY, false, true, ""},
    [AT_DUE] = {"due", "Due", COLUMN_MONEY, false, false,
                "The amount to be paid, as on the team's statement."},
    [AT_CURRENCY] = {"currency", "Currency", COLUMN_TEXT, false, true, ""},
    [AT_STATEMENT] = {"statement", "Statement", COLUMN_TEXT, false, true,
                      "The team's statement: gpuledger statement TEAM."},
    [AT_DISPUTED] = {"in_dispute", "Disputed", COLUMN_MONEY, false, true,
                     "The part of the amount that is in dispute: do not "
                     "collect it before the dispute is resolved."},
    [AT_SECTION] = {"section", "Section", COLUMN_TEXT, true, true, ""},
};

/* In place of those above: the site has no amount due, and no cost center. */
static const column_info_t center
    = {"cost_center",
       "Cost center",
       COLUMN_TEXT,
       false,
       true,
       "Of the team, or of a rule of settlement. (none): the team has none in "
       "the configuration, such as a customer who gets an invoice. What the "
       "site pays has none: the journal has it by pool and class."};
static const column_info_t total
    = {"total",
       "Total",
       COLUMN_MONEY,
       false,
       false,
       "The net amount and taxes: of a team the amount due, as on its "
       "statement."};

static const int column_of[BILL_KIND_COUNT]
    = {[BILL_CHARGE] = AT_CHARGES,         [BILL_IDLE] = AT_CHARGES,
       [BILL_PURCHASE] = AT_CHARGES,       [BILL_CREDIT] = AT_CREDITS,
       [BILL_CORRECTION] = AT_CORRECTIONS, [BILL_TAX] = AT_TAXES,
       [BILL_SETTLEMENT] = AT_SETTLEMENT,  [BILL_SERVICE] = AT_SERVICES};

struct page {
    const institution_t *of;
    report_t *report;
    cube_t *rows;     /* by who pays and kind */
    cube_t *unpriced; /* by who pays */
    cube_t *disputed; /* likewise; of all teams alone */
    bool all; /* teams; who pays is a team and cost center, else a team */
    size_t cpu_hours; /* column; 0: the site counts none */
    int digits;
};

/* --- whose rows --------------------------------------------------------- */

static int by_name (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

void institution_teams (const site_t *site, const char *name, const char *month,
                        const bill_t *bill, text_list_t *ret_teams)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++)
        if (posting_is_due (&rows[i])
            && text_same (
                posting_key_billed (&rows[i], site, month, KEY_INSTITUTION),
                name))
            texts_add_new (ret_teams, rows[i].team
                                          ? rows[i].team
                                          : key_info (KEY_TEAM)->absent);
    if (ret_teams->count > 1)
        qsort (ret_teams->item, ret_teams->count, sizeof (*ret_teams->item),
               by_name);
}

static char *team_of (const char *text)
{
    return strcmp (text, key_info (KEY_TEAM)->absent) ? (char *)text : NULL;
}

static void begin_rows (struct page *p)
{
    const fields_t *fields = &bill_fields[BILL_POSTINGS];
    const char *who = p->all ? "team,cost_object" : "team";
    GL_AUTOFREE char *kinds = xasprintf ("%s,kind", who);

    p->rows = cube_new (fields, kinds);
    p->unpriced = cube_new (fields, who);
    p->disputed = cube_new (fields, who);
    cube_measures (p->rows, "charge,gpu_seconds,cpu_seconds");
    cube_measures (p->unpriced, "");
    cube_measures (p->disputed, "charge");
}

static void rows_done (struct page *p)
{
    cube_free (p->rows);
    cube_free (p->unpriced);
    cube_free (p->disputed);
}

/* `cost_center`: of the team. */
static void take_row (struct page *p, const posting_t *from,
                      const char *cost_center, bool disputed)
{
    posting_t row = *from; /* borrows all of it */

    if (!row.cost_object)
        row.cost_object = (char *)cost_center;
    cube_add (p->rows, &row);
    if (!posting_priced (p->of->bill, from))
        cube_add (p->unpriced, &row);
    if (disputed)
        cube_add (p->disputed, &row);
}

static void take_rows (struct page *p, const text_list_t *teams,
                       const bool *disputed)
{
    size_t count;
    const posting_t *rows = postings (p->of->bill, &count);

    for (size_t k = 0; k < teams->count; k++) {
        const posting_t any = {.team = team_of (teams->item[k])};
        const char *cost_center = posting_key_billed (
            &any, p->of->site, p->of->month, KEY_COST_CENTER);
        bill_rows_t of = bill_rows_of (p->of->bill, any.team);
        for (size_t i = 0; i < of.count; i++)
            take_row (p, &rows[of.index[i]], cost_center,
                      disputed && disputed[of.index[i]]);
    }
}

/* --- a row ---------------------------------------------------------------- */

/* Of the rows [first, end) of the cube and, in a total, what the site pays, into the line of
 * the report. */
static void put_amounts (struct page *p, size_t first, size_t end,
                         mpz_srcptr site, bool unpriced)
{
    mpz_t sum[AT_COUNT];
    bool any[AT_COUNT] = {false};
    posting_t all, time;

    posting_init (&all);
    posting_init (&time);
    for (size_t k = 0; k < AT_COUNT; k++)
        mpz_init (sum[k]);
    for (size_t i = first; i < end; i++) {
        const posting_t *row = cube_row (p->rows, i);
        mpz_add (sum[column_of[row->kind]], sum[column_of[row->kind]],
                 row->charge_units);
        any[column_of[row->kind]] = true;
        if (row->kind == BILL_CHARGE)
            posting_add (&time, row, 1);
    }
    cube_sum (p->rows, first, end, &all);
    mpz_set (sum[AT_DUE], all.charge_units);
    if (site)
        mpz_add (sum[AT_DUE], sum[AT_DUE], site);
    mpz_sub (sum[AT_NET], sum[AT_DUE], sum[AT_TAXES]);
    any[AT_DUE] = any[AT_NET] = true;
    for (size_t k = AT_CHARGES; k <= AT_DUE; k++) {
        if (!any[k] || unpriced)
            continue;
        report_put_money (p->report, k, sum[k], p->digits);
        if (k != AT_NET || any[AT_TAXES])
            p->report->column[k].detail = false;
    }
    report_put_hours (p->report, AT_HOURS, time.gpu_seconds);
    if (p->cpu_hours)
        report_put_hours (p->report, p->cpu_hours, time.cpu_seconds);
    report_put_text (p->report, AT_CURRENCY, p->of->query->site->currency);
    for (size_t k = 0; k < AT_COUNT; k++)
        mpz_clear (sum[k]);
    posting_clear (&all);
    posting_clear (&time);
}

static void put_fact (struct page *p, size_t column, const char *text)
{
    report_put_text (p->report, column, text);
    if (text)
        p->report->column[column].detail = false;
}

/* "VAT 25 %", "VAT 25 %: 12.00, levy 2 %: 0.96". The rows [first, end) are of one team. */
static void put_taxes (struct page *p, size_t first, size_t end)
{
    const posting_t *who = cube_row (p->rows, first);
    bill_rows_t of = bill_rows_of (p->of->bill, who->team);
    bool taxed = false;
    size_t count, taxes = 0;
    const posting_t *rows = postings (p->of->bill, &count);
    BUFFER_AUTO several = BUFFER_INIT;
    GL_AUTOFREE char *one = NULL;

    for (size_t i = first; i < end; i++)
        taxed = taxed
                || ((const posting_t *)cube_row (p->rows, i))->kind == BILL_TAX;
    for (size_t i = 0; taxed && i < of.count; i++) {
        const posting_t *row = &rows[of.index[i]];
        if (row->kind != BILL_TAX)
            continue;
        GL_AUTOFREE char *amount
            = exact_units_text (row->charge_units, p->digits);
        free (one);
        one = bill_tax_name (p->of->bill, row, p->digits);
        buffer_printf (&several, "%s%s: %s", taxes++ ? ", " : "", one, amount);
    }
    put_fact (p, AT_TAX, taxes > 1 ? buffer_text (&several) : one);
}

static void put_team (struct page *p, const char *text, const char *id)
{
    const char *name = team_of (text);
    const site_team_t *team = team_in_month (p->of->site, name, p->of->month);
    size_t first = 0, end, count = cube_count (p->rows);

    while (first < count
           && !text_same (((const posting_t *)cube_row (p->rows, first))->team,
                          name))
        first++;
    end = first < count ? cube_same (p->rows, first, 1) : first;
    report_row (p->report);
    report_put_text (p->report, AT_TEAM, text);
    put_fact (p, AT_PI, team ? team->pi : NULL);
    put_fact (p, AT_COST_CENTER, team ? team->cost_center : NULL);
    report_put_text (p->report, AT_STATEMENT, id);
    if (first < end)
        put_taxes (p, first, end);
    put_amounts (p, first, end, NULL,
                 cube_find (p->unpriced, &(posting_t){.team = (char *)name}));
}

/* --- the page ------------------------------------------------------------- */

static report_t *begin (const institution_t *of)
{
    const char *none = key_info (KEY_INSTITUTION)->absent;
    const site_institution_t *rule = NULL;
    GL_AUTOFREE char *title = xasprintf (
        "Statement for %s", of->name ? of->name : "no institution");
    report_t *report = report_begin (of->query, "institution", title);

    for (size_t i = 0; of->name && i < of->site->institution_count; i++)
        if (strcmp (of->site->institutions[i].name, of->name) == 0
            && period_overlaps (of->site->institutions[i].valid,
                                of->query->period))
            rule = &of->site->institutions[i];
    report_parameter (report, "institution", of->name ? of->name : none);
    report_parameter (report, "state", of->state);
    if (rule && rule->billing_address)
        report_parameter (report, "bill to", rule->billing_address);
    if (of->hash)
        report_provenance (report, "period hash", of->hash);
    return report;
}

static void add_states (const struct page *p, bool unpriced)
{
    if (p->of->provisional)
        report_provisional (p->report, p->of->query, ".");
    if (unpriced)
        report_note (p->report, NOTE_WARNING,
                     "Some of the GPU time has no price, because its pool has "
                     "neither a cost nor a rate: the amount due is unknown.");
}

static void add_notes (const struct page *p, bool unpriced)
{
    report_note (p->report, NOTE_INFORMATION,
                 "The statement of each team shows how its amount is computed: "
                 "gpuledger statement TEAM --month %s.",
                 p->of->month);
    add_states (p, unpriced);
}

report_t *institution_make (const institution_t *of, const text_list_t *teams,
                            const text_list_t *ids)
{
    struct page p = {.of = of, .digits = of->query->site->currency_digits};
    GL_AUTOFREE char *hint
        = xasprintf ("%s, %s", of->query->site->currency,
                     of->provisional ? "provisional" : "closed");
    bool unpriced;

    begin_rows (&p);
    take_rows (&p, teams, NULL);
    unpriced = cube_count (p.unpriced) > 0;
    p.report = begin (of);
    report_columns (p.report, columns, AT_INSTITUTION_COUNT);
    if (site_counts_cpus (of->query->site))
        p.cpu_hours = report_measure (p.report, MEASURE_CPU_HOURS, false);
    for (size_t i = 0; i < teams->count; i++)
        put_team (&p, teams->item[i], ids->item[i]);
    report_totals (p.report);
    put_amounts (&p, 0, cube_count (p.rows), NULL, unpriced);
    report_figure (p.report, "Due", p.report->total[AT_DUE], hint,
                   COLUMN_MONEY);
    add_notes (&p, unpriced);
    rows_done (&p);
    return p.report;
}

/* --- all teams, and the site ---------------------------------------------- */

static void put_disputed (struct page *p, const posting_t *disputed)
{
    if (!disputed || mpz_sgn (disputed->charge_units) == 0)
        return;
    report_put_money (p->report, AT_DISPUTED, disputed->charge_units,
                      p->digits);
    p->report->column[AT_DISPUTED].detail = false;
}

/* The rows [first, end) of a team and cost center. */
static void put_payer (struct page *p, size_t first, size_t end,
                       const text_list_t *teams, const text_list_t *ids)
{
    const posting_t *row = cube_row (p->rows, first);
    const posting_t who = {.team = row->team, .cost_object = row->cost_object};
    const char *text = who.team ? who.team : key_info (KEY_TEAM)->absent;
    const site_team_t *team
        = team_in_month (p->of->site, who.team, p->of->month);
    char **found = GL_FIND (teams->item, teams->count, it, !strcmp (*it, text));

    report_row (p->report);
    report_put_text (p->report, AT_SECTION, "team");
    report_put_text (p->report, AT_TEAM, text);
    report_put_text (p->report, AT_PI, team ? team->pi : NULL);
    put_fact (p, AT_COST_CENTER, who.cost_object);
    if (!who.cost_object)
        report_put_text (p->report, AT_COST_CENTER,
                         key_info (KEY_COST_CENTER)->absent);
    put_taxes (p, first, end);
    if (found)
        report_put_text (p->report, AT_STATEMENT,
                         ids->item[found - teams->item]);
    put_amounts (p, first, end, NULL, cube_find (p->unpriced, &who));
    put_disputed (p, cube_find (p->disputed, &who));
}

static void put_site_row (struct page *p, const char *title, const mpz_t units)
{
    report_row (p->report);
    report_put_text (p->report, AT_SECTION, "site");
    report_put_text (p->report, AT_TEAM, title);
    report_put_text (p->report, AT_CURRENCY, p->of->query->site->currency);
    report_put_money (p->report, AT_NET, units, p->digits);
    report_put_money (p->report, AT_DUE, units, p->digits);
}

/* Sums of the site's side of settlement that are no cost of it: prepaid money is owed to teams,
 * and fees are income. */
static void sum_class (const institution_t *of, remainder_id_t id, mpz_t ret)
{
    size_t count;
    const posting_t *rows = postings (of->bill, &count);

    for (size_t i = 0; i < count; i++)
        if (summary_is_uncovered (of->month, &rows[i])
            && !strcmp (rows[i].what, remainder_info (id)->word))
            mpz_add (ret, ret, rows[i].charge_units);
}

static void put_site (struct page *p, const summary_month_t *month)
{
    static const remainder_id_t apart[]
        = {REMAINDER_PREPAID_BALANCE, REMAINDER_FEES};
    mpz_t rest, units[GL_ARRAY_SIZE (apart)];
    bool any = false;

    mpz_init_set (rest, month->uncovered);
    for (size_t i = 0; i < GL_ARRAY_SIZE (apart); i++) {
        mpz_init (units[i]);
        sum_class (p->of, apart[i], units[i]);
        mpz_sub (rest, rest, units[i]);
        any = any || mpz_sgn (units[i]) != 0;
    }
    const char *title = summary_uncovered_title (rest);
    GL_AUTOFREE char *without
        = xasprintf ("%s, without prepaid money and fees", title);
    put_site_row (p, any ? without : title, rest);
    for (size_t i = 0; i < GL_ARRAY_SIZE (apart); i++) {
        if (mpz_sgn (units[i]) != 0)
            put_site_row (p, remainder_title (apart[i], mpz_sgn (units[i])),
                          units[i]);
        mpz_clear (units[i]);
    }
    mpz_clear (rest);
}

/* What all of them have to pay, before what the site pays. */
static void put_teams (struct page *p, const posting_t *disputed)
{
    report_subtotals (p->report);
    report_put_text (p->report, AT_TEAM, "All teams");
    put_amounts (p, 0, cube_count (p->rows), NULL,
                 cube_count (p->unpriced) > 0);
    put_disputed (p, disputed);
}

static void put_all (struct page *p, const summary_month_t *month,
                     const text_list_t *teams, const text_list_t *ids)
{
    bool cost = mpz_sgn (month->cost) != 0;
    size_t count = cube_count (p->rows);
    posting_t disputed;

    for (size_t first = 0, end; first < count; first = end) {
        end = cube_same (p->rows, first, 2);
        put_payer (p, first, end, teams, ids);
    }
    posting_init (&disputed);
    cube_sum (p->disputed, 0, cube_count (p->disputed), &disputed);
    if (cost && p->report->row_count > 0)
        put_teams (p, &disputed);
    if (cost)
        put_site (p, month);
    report_totals (p->report);
    put_amounts (p, 0, count, cost ? month->uncovered : NULL,
                 cube_count (p->unpriced) > 0);
    put_disputed (p, &disputed);
    posting_clear (&disputed);
    if (cost)
        p->report->column[AT_NET].detail = false;
}

static void figures_all (struct page *p, const summary_month_t *month)
{
    const char *currency = p->of->query->site->currency;
    GL_AUTOFREE char *taxes = summary_taxes_text (month, p->digits);
    GL_AUTOFREE char *hint
        = xasprintf ("%s%s; %s", currency, taxes, p->of->state);
    GL_AUTOFREE char *due = exact_units_text (month->due, p->digits);
    GL_AUTOFREE char *cost = exact_units_text (month->cost, p->digits);

    report_figure (p->report, "Due from teams",
                   cube_count (p->unpriced) > 0 ? NULL : due, hint,
                   COLUMN_MONEY);
    if (mpz_sgn (month->cost) != 0)
        report_figure (p->report, "Cost of the pools", cost, currency,
                       COLUMN_MONEY);
}

static void fill_all (struct page *p, const text_list_t *teams,
                      const text_list_t *ids)
{
    const institution_t *of = p->of;
    summary_month_t month;

    summary_month_init (&month);
    month.name = xstrdup (of->month);
    summary_month_take (&month, of->query->site, of->bill);
    figures_all (p, &month);
    put_all (p, &month, teams, ids);
    summary_prove_payers (p->report, of->paper, &month, of->bill, p->digits);
    summary_month_clear (&month);
}

report_t *institution_all (const institution_t *of, const bool *disputed,
                           const text_list_t *teams, const text_list_t *ids)
{
    struct page p
        = {.of = of, .digits = of->query->site->currency_digits, .all = true};
    column_info_t all[AT_COUNT];
    bool unpriced;

    memcpy (all, columns, sizeof (all));
    all[AT_COST_CENTER] = center;
    all[AT_DUE] = total;
    begin_rows (&p);
    take_rows (&p, teams, disputed);
    unpriced = cube_count (p.unpriced) > 0;
    p.report = report_begin (of->query, "amounts", "Amounts to post");
    report_parameter (p.report, "state", of->state);
    if (of->hash)
        report_provenance (p.report, "period hash", of->hash);
    report_columns (p.report, all, AT_COUNT);
    if (site_counts_cpus (of->query->site))
        p.cpu_hours = report_measure (p.report, MEASURE_CPU_HOURS, false);
    fill_all (&p, teams, ids);
    add_states (&p, unpriced);
    rows_done (&p);
    return p.report;
}
