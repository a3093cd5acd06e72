#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "ledger/cube.h"
#include "site/project.h"
#include "statement/institution.h"

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
    AT_TAXES,
    AT_DUE,
    AT_CURRENCY,
    AT_STATEMENT,
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
    [AT_TAXES] = {"taxes", "Taxes", COLUMN_MONEY, false, true, ""},
    [AT_DUE] = {"due", "Due", COLUMN_MONEY, false, false,
                "The amount to be paid, as on the team's statement."},
    [AT_CURRENCY] = {"currency", "Currency", COLUMN_TEXT, false, true, ""},
    [AT_STATEMENT] = {"statement", "Statement", COLUMN_TEXT, false, true,
                      "The team's statement: gpuledger statement TEAM."},
};

static const int column_of[BILL_KIND_COUNT]
    = {[BILL_CHARGE] = AT_CHARGES,         [BILL_IDLE] = AT_CHARGES,
       [BILL_PURCHASE] = AT_CHARGES,       [BILL_CREDIT] = AT_CREDITS,
       [BILL_CORRECTION] = AT_CORRECTIONS, [BILL_TAX] = AT_TAXES,
       [BILL_SETTLEMENT] = AT_SETTLEMENT,  [BILL_SERVICE] = AT_SERVICES};

struct page {
    const institution_t *of;
    report_t *report;
    cube_t *rows;     /* by team and kind */
    bool *unpriced;   /* by team */
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

static void take_rows (struct page *p, const text_list_t *teams)
{
    size_t count;
    const posting_t *rows = postings (p->of->bill, &count);

    p->rows = cube_new (&bill_fields[BILL_POSTINGS], "team,kind");
    p->unpriced = xcalloc (teams->count + 1, sizeof (*p->unpriced));
    for (size_t i = 0; i < count; i++) {
        char **team = GL_FIND (teams->item, teams->count, it,
                               posting_of (&rows[i], team_of (*it)));
        if (!team)
            continue;
        cube_add (p->rows, &rows[i]);
        if (!posting_priced (p->of->bill, &rows[i]))
            p->unpriced[team - teams->item] = true;
    }
}

/* --- a row ---------------------------------------------------------------- */

/* Of the rows [first, end) of the cube, into the line of the report. */
static void put_amounts (struct page *p, size_t first, size_t end,
                         bool unpriced)
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
    any[AT_DUE] = true;
    for (size_t k = AT_CHARGES; k <= AT_DUE; k++) {
        if (!any[k] || unpriced)
            continue;
        report_put_money (p->report, k, sum[k], p->digits);
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

static void put_team (struct page *p, const char *text, const char *id,
                      bool unpriced)
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
    put_amounts (p, first, end, unpriced);
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

static void add_notes (const struct page *p, bool unpriced)
{
    report_note (p->report, NOTE_INFORMATION,
                 "The statement of each team shows how its amount is computed: "
                 "gpuledger statement TEAM --month %s.",
                 p->of->month);
    if (p->of->provisional)
        report_note (
            p->report, NOTE_INFORMATION,
            "Provisional: the month is not closed, and its figures may "
            "still change.");
    if (unpriced)
        report_note (p->report, NOTE_WARNING,
                     "Some of the GPU time has no price, because its pool has "
                     "neither a cost nor a rate: the amount due is unknown.");
}

report_t *institution_make (const institution_t *of, const text_list_t *teams,
                            const text_list_t *ids)
{
    struct page p = {.of = of, .digits = of->query->site->currency_digits};
    GL_AUTOFREE char *hint
        = xasprintf ("%s, %s", of->query->site->currency,
                     of->provisional ? "provisional" : "closed");
    bool unpriced = false;

    take_rows (&p, teams);
    p.report = begin (of);
    report_columns (p.report, columns, AT_COUNT);
    if (site_counts_cpus (of->query->site))
        p.cpu_hours = report_measure (p.report, MEASURE_CPU_HOURS, false);
    for (size_t i = 0; i < teams->count; i++) {
        put_team (&p, teams->item[i], ids->item[i], p.unpriced[i]);
        unpriced = unpriced || p.unpriced[i];
    }
    report_totals (p.report);
    put_amounts (&p, 0, cube_count (p.rows), unpriced);
    report_figure (p.report, "Due", p.report->total[AT_DUE], hint,
                   COLUMN_MONEY);
    add_notes (&p, unpriced);
    cube_free (p.rows);
    free (p.unpriced);
    return p.report;
}
