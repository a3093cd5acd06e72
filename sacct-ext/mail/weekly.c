#include "mail/weekly.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "facts/facts.h"
#include "ledger/bill_idle.h"
#include "ledger/cube.h"
#include "month/budgets.h"
#include "month/month.h"
#include "report/heading.h"
#include "site/project.h"
#include "usage/usage.h"

/* --- rows ----------------------------------------------------------------- */

enum { WEEK, BEFORE, MONTH, PERIODS };
static const char *const words[PERIODS]
    = {[WEEK] = "week", [BEFORE] = "week before", [MONTH] = "month to date"};

/* What a team spent in one of the periods on a pool. */
struct spent {
    const char *period; /* of words */
    char *team;
    char *pool;
    mpz_t units;
    mpq_t billed;    /* GPU-seconds that the amount is of */
    mpq_t allocated; /* GPU-seconds, with those that have no price */
    mpq_t known;     /* of them, measured */
    mpq_t idle;      /* of these, idle */
    mpq_t priced;    /* of the idle ones, with a list price; */
    mpq_t lost;      /* which is this, in smallest units */
};
static const field_t spent_fields[] = {
    FIELD ("period", NAME, struct spent, period),
    FIELD ("team", TEXT, struct spent, team),
    FIELD ("pool", TEXT, struct spent, pool),
    FIELD ("units", UNITS, struct spent, units),
    FIELD ("billed", EXACT, struct spent, billed),
    FIELD ("allocated", EXACT, struct spent, allocated),
    FIELD ("known", EXACT, struct spent, known),
    FIELD ("idle", EXACT, struct spent, idle),
    FIELD ("priced", EXACT, struct spent, priced),
    FIELD ("lost", EXACT, struct spent, lost),
};
static const fields_t spent_rows = FIELDS ("week", struct spent, spent_fields);

/* Keys of usage cells: all that the price of an hour depends on. */
static const char cell_keys[] = "pool,team,qos,profile,month";
enum { KEY_AT_POOL, KEY_AT_TEAM, KEY_AT_QOS, KEY_AT_PROFILE, KEY_AT_MONTH };

struct prices {
    char month[MONTH_SIZE];
    cube_t *list; /* bill_time_prices() */
};

struct weekly {
    store_t *store;
    const report_query_t *query;
    period_t period[PERIODS];
    cube_t *spent; /* by period, team, pool */
    cube_t *teams; /* by period, team */
    struct prices *prices;
    size_t price_count;
    usage_query_t usage_query[PERIODS];
    usage_t *usage[PERIODS];
    budget_t **budget; /* of all teams */
    size_t budget_count;
};

/* --- periods -------------------------------------------------------------- */

/* The first instant of the day that is `days` before or after the one of `instant`. */
static int64_t day_at (const zone_t *zone, int64_t instant, int days)
{
    civil_t civil = zone_civil (zone, instant);
    civil_t other = calendar_civil_of_day (
        calendar_day_number (civil.year, civil.month, civil.day) + days);

    return zone_instant (zone, &other);
}

period_t weekly_period (const zone_t *zone, int64_t instant)
{
    civil_t civil = zone_civil (zone, instant);
    /* day 0, 1970-01-01, was a Thursday */
    int past
        = (int)((calendar_day_number (civil.year, civil.month, civil.day) + 3)
                % 7);

    return (period_t){day_at (zone, instant, -past),
                      day_at (zone, instant, 7 - past)};
}

static void set_periods (weekly_t *w)
{
    const zone_t *zone = w->query->site->zone;

    w->period[WEEK] = w->query->period;
    w->period[BEFORE] = weekly_period (zone, w->period[WEEK].start - 1);
    w->period[MONTH] = (period_t){
        zone_unit (zone, CALENDAR_MONTH, w->period[WEEK].end - 1).start,
        w->period[WEEK].end};
}

/* All of them. */
static period_t span_of (const weekly_t *w)
{
    period_t span = w->period[BEFORE];

    if (w->period[MONTH].start < span.start)
        span.start = w->period[MONTH].start;
    span.end = w->period[WEEK].end;
    return span;
}

/* --- money ---------------------------------------------------------------- */

/* As the team is called today; NULL: of no team. */
static const char *name_of (const weekly_t *w, const char *team)
{
    const char *current
        = team ? team_current_name (w->query->site, team) : NULL;

    return current ? current : team;
}

static void take_day (weekly_t *w, const bill_day_t *day)
{
    const char *team = name_of (w, day->team);
    civil_t civil;
    int64_t at;

    if (!team || calendar_parse_date (day->day, strlen (day->day), &civil) < 0)
        return;
    at = zone_instant (w->query->site->zone, &civil);
    for (size_t i = 0; i < PERIODS; i++) {
        struct spent row;
        if (!period_has (w->period[i], at))
            continue;
        fields_init (&spent_rows, &row);
        row.period = words[i];
        row.team = xstrdup (team);
        row.pool = day->pool ? xstrdup (day->pool) : NULL;
        mpz_add (row.units, day->units, day->other_units);
        mpq_set (row.billed, day->gpu_seconds);
        cube_add (w->spent, &row);
        fields_clear (&spent_rows, &row);
    }
}

static int take_month (month_t *month, void *arg, gl_error_t *error)
{
    weekly_t *w = arg;
    struct prices *prices = GL_APPEND (w->prices, w->price_count);
    size_t count;
    const bill_day_t *days = bill_days (month->bill, &count);

    (void)error;
    memcpy (prices->month, month->name, sizeof (prices->month));
    prices->list = bill_time_prices (month->bill);
    for (size_t i = 0; i < count; i++)
        take_day (w, &days[i]);
    return 0;
}

/* --- idle GPUs ------------------------------------------------------------ */

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    weekly_t *w = arg;

    (void)error;
    for (size_t i = 0; i < PERIODS; i++) {
        usage_add (w->usage[i], fact->segment, fact->suspensions,
                   fact->suspension_count, fact->project);
        usage_measure (w->usage[i], fact->segment, fact->project,
                       fact->evidence);
    }
    return 0;
}

static int read_usage (weekly_t *w, gl_error_t *error)
{
    period_t span = span_of (w);
    const store_query_t query
        = {.start = span.start, .end = span.end, .gpu_only = true};
    char *label;

    for (size_t i = 0; i < PERIODS; i++) {
        usage_query_t *q = &w->usage_query[i];
        *q = (usage_query_t){.site = w->query->site,
                             .period = w->period[i],
                             .accounts = w->query->accounts,
                             .without_jobs = true};
        if (report_keys_parse (cell_keys, &q->by, &label, error) < 0)
            return -1;
        w->usage[i] = usage_new (q);
    }
    return facts_each (w->store, w->query->site, &query, take_fact, w, error);
}

static void value_idle (const weekly_t *w, const usage_cell_t *cell,
                        struct spent *row)
{
    const bill_time_t of = {cell->key[KEY_AT_POOL], cell->key[KEY_AT_QOS],
                            cell->key[KEY_AT_PROFILE]};

    for (size_t i = 0; i < w->price_count && of.pool; i++)
        if (text_same (w->prices[i].month, cell->key[KEY_AT_MONTH])
            && bill_time_exact (w->prices[i].list, &of, row->idle, row->lost))
            mpq_set (row->priced, row->idle);
}

static void take_cell (weekly_t *w, const char *period,
                       const usage_cell_t *cell)
{
    const char *team = name_of (w, cell->key[KEY_AT_TEAM]);
    struct spent row;

    if (!team)
        return;
    fields_init (&spent_rows, &row);
    row.period = period;
    row.team = xstrdup (team);
    row.pool = cell->key[KEY_AT_POOL] ? xstrdup (cell->key[KEY_AT_POOL]) : NULL;
    usage_cell_gpu_seconds (cell, row.allocated);
    if (usage_cell_known_seconds (cell, row.known)
        && usage_cell_idle_seconds (cell, row.idle))
        value_idle (w, cell, &row);
    else {
        mpq_set_ui (row.known, 0, 1);
        mpq_set_ui (row.idle, 0, 1);
    }
    cube_add (w->spent, &row);
    fields_clear (&spent_rows, &row);
}

static void take_usage (weekly_t *w)
{
    for (size_t i = 0; i < PERIODS; i++) {
        size_t count;
        const usage_cell_t *cells = usage_cells (w->usage[i], &count);
        for (size_t k = 0; k < count; k++)
            take_cell (w, words[i], &cells[k]);
    }
}

/* --- the object ----------------------------------------------------------- */

static int read_budgets (weekly_t *w, gl_error_t *error)
{
    const budgets_query_t query
        = {.site = w->query->site, .as_of = w->period[WEEK].end};

    return query.site->budget_count > 0 ? budgets_compute (
               w->store, &query, &w->budget, &w->budget_count, error)
                                        : 0;
}

weekly_t *weekly_new (store_t *store, const report_query_t *query,
                      gl_error_t *error)
{
    const month_how_t how = {.days = true};
    weekly_t *w = xcalloc (1, sizeof (*w));

    w->store = store;
    w->query = query;
    set_periods (w);
    w->spent = cube_new (&spent_rows, "period,team,pool");
    w->teams = cube_new (&spent_rows, "period,team");
    if (months_each (store, query->site, span_of (w), &how, take_month, w,
                     error)
            < 0
        || read_usage (w, error) < 0 || read_budgets (w, error) < 0) {
        weekly_free (w);
        return NULL;
    }
    take_usage (w);
    cube_add_cube (w->teams, w->spent);
    return w;
}

void weekly_free (weekly_t *w)
{
    if (!w)
        return;
    cube_free (w->spent);
    cube_free (w->teams);
    for (size_t i = 0; i < w->price_count; i++)
        cube_free (w->prices[i].list);
    free (w->prices);
    for (size_t i = 0; i < PERIODS; i++)
        usage_free (w->usage[i]);
    budgets_free (w->budget, w->budget_count);
    free (w);
}

static int by_name (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

void weekly_teams (weekly_t *w, text_list_t *ret_teams)
{
    for (size_t i = 0; i < cube_count (w->teams); i++) {
        const struct spent *row = cube_row (w->teams, i);
        texts_add_new (ret_teams, row->team);
    }
    for (size_t i = 0; i < w->budget_count; i++)
        if (w->budget[i]->budget->team)
            texts_add_new (ret_teams, name_of (w, w->budget[i]->budget->team));
    if (ret_teams->count > 1)
        qsort (ret_teams->item, ret_teams->count, sizeof (*ret_teams->item),
               by_name);
}

/* --- the page ------------------------------------------------------------- */

enum {
    AT_SECTION,
    AT_NAME,
    AT_START,
    AT_END,
    AT_GPU_HOURS,
    AT_SPENT,
    AT_IDLE_HOURS,
    AT_IDLE,
    AT_IDLE_PCT,
    AT_BUDGET,
    AT_SPENT_PCT,
    AT_FORECAST,
    AT_FORECAST_PCT,
    AT_UNIT,
    AT_COUNT,
};
static const column_info_t columns[AT_COUNT] = {
    [AT_SECTION] = {"section", "Section", COLUMN_TEXT, true, true,
                    "Part of the page: spending or budgets."},
    [AT_NAME]
    = {"name", "Name", COLUMN_TEXT, true, false, "The week, or the budget."},
    [AT_START] = {"start", "From", COLUMN_DATE, false, false, ""},
    [AT_END] = {"end", "To", COLUMN_DATE, false, false, "The last day."},
    [AT_GPU_HOURS] = {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
                      "Hours of physical GPUs allocated to jobs."},
    [AT_SPENT] = {"spent", "Spent", COLUMN_MONEY, false, false,
                  "Charges, idle time, credits by policy and purchases of the "
                  "days, before settlement, manual credits, corrections and "
                  "taxes. Of a budget: spent in its period so far."},
    [AT_IDLE_HOURS]
    = {"idle_gpu_hours", "Idle GPU hours", COLUMN_HOURS, false, false,
       "Allocated GPU hours that agents measured as idle. "
       "Empty: not measured."},
    [AT_IDLE] = {"idle", "Idle at list price", COLUMN_MONEY, false, false,
                 "The idle GPU hours at their list price in the month, before "
                 "subsidies and discounts. Empty: they have no price."},
    [AT_IDLE_PCT] = {"idle_pct", "Idle time %", COLUMN_PERCENT, false, false,
                     "Idle time as a percentage of the measured GPU time."},
    [AT_BUDGET] = {"budget", "Budget", COLUMN_MONEY, false, false,
                   "The budget of the period with its rollover."},
    [AT_SPENT_PCT] = {"spent_pct", "Spent %", COLUMN_PERCENT, false, false,
                      "As a percentage of the budget."},
    [AT_FORECAST] = {"forecast", "Forecast", COLUMN_MONEY, false, false,
                     "The amount spent by the end of the period if the daily "
                     "rate of the last 28 days continues."},
    [AT_FORECAST_PCT] = {"forecast_pct", "Forecast %", COLUMN_PERCENT, false,
                         false, "As a percentage of the budget."},
    [AT_UNIT] = {"unit", "Unit", COLUMN_TEXT, false, false,
                 "The unit of the amounts in the row."},
};

static const struct spent *spent_of (const weekly_t *w, size_t period,
                                     const char *team)
{
    return cube_find (w->teams, &(struct spent){.period = words[period],
                                                .team = (char *)team});
}

/* NULL: none of the idle time has a price. Yours to free. */
static char *idle_text (const site_t *site, const struct spent *row)
{
    mpz_t units;
    char *text;

    if (mpq_sgn (row->idle) > 0 && mpq_sgn (row->priced) == 0)
        return NULL;
    mpz_init (units);
    exact_round (units, row->lost, 0);
    text = exact_units_text (units, site->currency_digits);
    mpz_clear (units);
    return text;
}

static void put_idle (report_t *report, const site_t *site,
                      const struct spent *row)
{
    GL_AUTOFREE char *percent = report_percent_text (row->idle, row->known);
    GL_AUTOFREE char *idle = idle_text (site, row);

    report_put_hours (report, AT_IDLE_HOURS, row->idle);
    report_put_text (report, AT_IDLE, idle);
    report_put_text (report, AT_IDLE_PCT, percent);
}

static void put_period (weekly_t *w, report_t *report, size_t period,
                        const char *team)
{
    const site_t *site = w->query->site;
    const struct spent *row = spent_of (w, period, team);
    char day[ZONE_STAMP_SIZE], first[ZONE_STAMP_SIZE];
    mpz_t none;

    report_row (report);
    report_put_text (report, AT_SECTION, "spending");
    report_put_text (report, AT_NAME,
                     period == WEEK     ? "This week"
                     : period == BEFORE ? "The week before"
                                        : "Month to date");
    report_put_text (report, AT_START,
                     zone_unit_name (site->zone, CALENDAR_DAY,
                                     w->period[period].start, first));
    report_put_text (report, AT_END,
                     zone_unit_name (site->zone, CALENDAR_DAY,
                                     w->period[period].end - 1, day));
    report_put_text (report, AT_UNIT, site->currency);
    mpz_init (none);
    report_put_money (report, AT_SPENT, row ? row->units : none,
                      site->currency_digits);
    mpz_clear (none);
    if (row)
        report_put_hours (report, AT_GPU_HOURS, row->allocated);
    if (row && mpq_sgn (row->known) > 0)
        put_idle (report, site, row);
}

static void put_amount (report_t *report, size_t at, const budget_t *b,
                        mpq_srcptr value)
{
    GL_AUTOFREE char *text = budget_text (b, value);

    report_put_text (report, at, text);
}

static void put_percent (report_t *report, size_t at, const budget_t *b,
                         mpq_srcptr value)
{
    GL_AUTOFREE char *text = report_percent_text (value, b->amount);

    report_put_text (report, at, text);
}

static void put_budget (report_t *report, const site_t *site, const budget_t *b)
{
    char day[ZONE_STAMP_SIZE];

    report_row (report);
    report_put_text (report, AT_SECTION, "budgets");
    report_put_text (report, AT_NAME, b->budget->name);
    report_put_text (
        report, AT_START,
        zone_unit_name (site->zone, CALENDAR_DAY, b->period.start, day));
    report_put_text (
        report, AT_END,
        zone_unit_name (site->zone, CALENDAR_DAY, b->period.end - 1, day));
    report_put_text (report, AT_UNIT, budget_unit (b, site));
    put_amount (report, AT_BUDGET, b, b->amount);
    if (b->known) {
        put_amount (report, AT_SPENT, b, b->spent);
        put_percent (report, AT_SPENT_PCT, b, b->spent);
    }
    if (b->run_rate.known) {
        put_amount (report, AT_FORECAST, b, b->run_rate.value);
        put_percent (report, AT_FORECAST_PCT, b, b->run_rate.value);
    }
}

static bool is_of_team (const weekly_t *w, const budget_t *b, const char *team)
{
    return b->budget->team && text_same (name_of (w, b->budget->team), team);
}

static void put_budgets (const weekly_t *w, report_t *report, const char *team)
{
    bool any = false;

    for (size_t i = 0; i < w->budget_count; i++) {
        if (!is_of_team (w, w->budget[i], team))
            continue;
        if (!any)
            report_section (report, "Budgets", "");
        any = true;
        put_budget (report, w->query->site, w->budget[i]);
    }
}

static char *money_of (const weekly_t *w, const struct spent *row)
{
    mpz_t none;
    char *text;

    mpz_init (none);
    text = exact_units_text (row ? row->units : none,
                             w->query->site->currency_digits);
    mpz_clear (none);
    return text;
}

static void put_figures (const weekly_t *w, report_t *report, const char *team)
{
    const site_t *site = w->query->site;
    const struct spent *week = spent_of (w, WEEK, team);
    GL_AUTOFREE char *now = money_of (w, week);
    GL_AUTOFREE char *before = money_of (w, spent_of (w, BEFORE, team));
    GL_AUTOFREE char *month = money_of (w, spent_of (w, MONTH, team));
    GL_AUTOFREE char *hint
        = xasprintf ("%s, %s in the week before", site->currency, before);
    bool measured = week && mpq_sgn (week->known) > 0;
    GL_AUTOFREE char *idle = measured ? idle_text (site, week) : NULL;

    report_figure (report, "This week", now, hint, COLUMN_MONEY);
    report_figure (report, "Month to date", month, site->currency,
                   COLUMN_MONEY);
    report_figure (report, "Idle GPUs this week", idle,
                   idle       ? site->currency
                   : measured ? "they have no price"
                              : "not measured",
                   COLUMN_MONEY);
}

/* GPU time of the team in pools that have neither a cost nor a rate. */
static void note_unpriced (weekly_t *w, report_t *report, const char *team)
{
    mpq_t seconds;
    GL_AUTOFREE char *hours = NULL;

    mpq_init (seconds);
    for (size_t i = 0; i < cube_count (w->spent); i++) {
        const struct spent *row = cube_row (w->spent, i);
        if (row->period == words[WEEK] && !strcmp (row->team, team)
            && mpq_sgn (row->billed) == 0 && mpz_sgn (row->units) == 0)
            mpq_add (seconds, seconds, row->allocated);
    }
    hours = report_hours_text (seconds);
    if (mpq_sgn (seconds) > 0)
        report_note (report, NOTE_WARNING,
                     "%s GPU hours of this week have no price, because their "
                     "pool has neither a cost nor a rate: they are not in the "
                     "amounts.",
                     hours);
    mpq_clear (seconds);
}

report_t *weekly_report (weekly_t *w, const char *team)
{
    const usage_filter_t filter
        = {.key = KEY_TEAM, .values = {(char **)&team, 1}};
    report_query_t query = *w->query;
    GL_AUTOFREE char *title = xasprintf ("GPU week of %s", team);
    report_t *report;

    query.filters = &filter;
    query.filter_count = 1;
    query.by.count = 0;
    report = report_begin (&query, "weekly", title);
    report_columns (report, columns, AT_COUNT);
    put_figures (w, report, team);
    report_section (report, "Spending", "");
    for (size_t i = 0; i < PERIODS; i++)
        put_period (w, report, i, team);
    put_budgets (w, report, team);
    note_unpriced (w, report, team);
    return report;
}
