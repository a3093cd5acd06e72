#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "base/memory.h"
#include "ledger/cube.h"
#include "pages/pages.h"
#include "report/heading.h"

/* Charts show so many months at most. */
#define MONTHS_CHARTED 24
/* Of waste: a year, and the same month of the year before. */
#define MONTHS_OF_WASTE 13

/* What the pages of all months read of a posting: 12 months have thousands of them. */
typedef struct {
    char *month;
    char *team; /* NULL: of none */
    char *pool; /* NULL: of none */
    mpz_t charge_units;
    mpq_t gpu_seconds;
    mpq_t cpu_seconds;
} amount_t;

#define AMOUNT(name, kind, member) FIELD (name, kind, amount_t, member)
static const field_t amount_fields[] = {
    AMOUNT ("month", TEXT, month),
    AMOUNT ("team", TEXT, team),
    AMOUNT ("pool", TEXT, pool),
    AMOUNT ("charge", UNITS, charge_units),
    AMOUNT ("gpu_seconds", EXACT, gpu_seconds),
    AMOUNT ("cpu_seconds", EXACT, cpu_seconds),
};
static const fields_t amounts = FIELDS ("amount", amount_t, amount_fields);

struct pages {
    const report_query_t *query;
    summary_month_t *month;
    char **state;
    char **hash; /* NULL: it is not closed */
    size_t count;
    cube_t
        *rows; /* what is due: by billed month, team and pool; of months before
                           the last one that is over nobody asks */
    cube_t *statements; /* the same by billed month and team */
    cube_t *of_pools;   /* by billed month and pool */
    cube_t *sums;       /* by billed month */
    cube_t *costs; /* of pools: by month and pool; `charge` is their cost */
    cube_t *capacities; /* likewise of GPUs; gpu_seconds are their capacity */
    cube_t *corrected;  /* by the month that rows of later ones correct */
    text_list_t teams, pools;
    bool sorted;
    int digits;
};

/* What the rows of months are of: all, a team, or a pool. */
typedef struct {
    bool is_team, is_pool;
    const char *name; /* NULL: no team */
} whose_t;

/* A page in the making. */
typedef struct {
    pages_t *pages;
    report_t *report;
    whose_t whose;
    amount_t *sums; /* of each month */
} page_t;

static const char *named (const char *text, key_id_t key)
{
    return text ? text : key_info (key)->absent;
}

static const char *unnamed (const char *text, key_id_t key)
{
    return strcmp (text, key_info (key)->absent) ? text : NULL;
}

/* --- months in ---------------------------------------------------------------- */

static cube_t *new_rows (void)
{
    return cube_new (&amounts, "month,team,pool");
}

pages_t *pages_new (const report_query_t *query)
{
    pages_t *pages = xcalloc (1, sizeof (*pages));

    pages->query = query;
    pages->digits = query->site->currency_digits;
    pages->rows = new_rows ();
    pages->statements = cube_new (&amounts, "month,team");
    pages->of_pools = cube_new (&amounts, "month,pool");
    pages->sums = cube_new (&amounts, "month");
    pages->costs = cube_new (&amounts, "month,pool");
    pages->capacities = cube_new (&amounts, "month,pool");
    pages->corrected = cube_new (&amounts, "month");
    return pages;
}

void pages_free (pages_t *pages)
{
    if (!pages)
        return;
    for (size_t i = 0; i < pages->count; i++) {
        summary_month_clear (&pages->month[i]);
        free (pages->state[i]);
        free (pages->hash[i]);
    }
    free (pages->month);
    free (pages->state);
    free (pages->hash);
    cube_free (pages->rows);
    cube_free (pages->statements);
    cube_free (pages->of_pools);
    cube_free (pages->sums);
    cube_free (pages->costs);
    cube_free (pages->capacities);
    cube_free (pages->corrected);
    texts_clear (&pages->teams);
    texts_clear (&pages->pools);
    free (pages);
}

/* A name of many rows is looked for once a month. */
static void add_row (pages_t *pages, const amount_t *row)
{
    size_t statements = cube_count (pages->statements),
           of_pools = cube_count (pages->of_pools);

    cube_add (pages->rows, row);
    cube_add (pages->sums, row);
    cube_add (pages->statements, row);
    cube_add (pages->of_pools, row);
    if (cube_count (pages->statements) > statements)
        texts_add_new (&pages->teams, named (row->team, KEY_TEAM));
    if (row->pool && cube_count (pages->of_pools) > of_pools)
        texts_add_new (&pages->pools, row->pool);
}

/* Amounts by who pays them and where; hours are those of jobs alone. A month has many rows of
 * a team and pool: these are added up once, and their sums to what the pages are made of. */
static void add_rows (pages_t *pages, const char *month, const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    cube_t *sums = new_rows ();
    amount_t zero;

    fields_init (&amounts, &zero);
    for (size_t i = 0; i < count; i++) {
        amount_t row = zero; /* borrows all of it */
        if (!posting_is_due (&rows[i]))
            continue;
        memcpy (row.charge_units, rows[i].charge_units, sizeof (mpz_t));
        if (posting_is_adjustment (&rows[i]) && strcmp (rows[i].month, month)) {
            row.month = rows[i].month;
            cube_add (pages->corrected, &row);
        }
        row.month = (char *)month;
        row.team = rows[i].team;
        row.pool = rows[i].pool;
        if (rows[i].kind == BILL_CHARGE) {
            memcpy (row.gpu_seconds, rows[i].gpu_seconds, sizeof (mpq_t));
            memcpy (row.cpu_seconds, rows[i].cpu_seconds, sizeof (mpq_t));
        }
        cube_add (sums, &row);
    }
    for (size_t i = 0; i < cube_count (sums); i++)
        add_row (pages, cube_row (sums, i));
    cube_free (sums);
    fields_clear (&amounts, &zero);
}

/* A team may have a balance, and nothing to pay. */
static void add_balances (pages_t *pages, const char *month, const bill_t *bill)
{
    size_t count;
    const bill_balance_t *balances = bill_balances (bill, &count);
    amount_t zero;

    fields_init (&amounts, &zero);
    for (size_t i = 0; i < count; i++) {
        amount_t row = zero;
        if (!balances[i].team)
            continue;
        row.month = (char *)month;
        row.team = balances[i].team;
        cube_add (pages->statements, &row);
        texts_add_new (&pages->teams, row.team);
    }
    fields_clear (&amounts, &zero);
}

static void add_costs (pages_t *pages, const char *month, const bill_t *bill)
{
    size_t count;
    const bill_pool_t *pools = bill_pools (bill, &count);
    amount_t zero;

    fields_init (&amounts, &zero);
    for (size_t i = 0; i < count; i++) {
        amount_t row = zero;
        if (strcmp (pools[i].month, month) != 0)
            continue;
        row.month = (char *)month;
        row.pool = pools[i].pool;
        memcpy (row.gpu_seconds, pools[i].capacity, sizeof (mpq_t));
        if (!site_pool_of_cpus (pages->query->site, row.pool))
            cube_add (pages->capacities, &row);
        if (!pools[i].has_cost)
            continue;
        memcpy (row.charge_units, pools[i].cost_units, sizeof (mpz_t));
        cube_add (pages->costs, &row);
        texts_add_new (&pages->pools, pools[i].pool);
    }
    fields_clear (&amounts, &zero);
}

/* The facts go beyond its end: else less time than a month's is compared. */
static bool is_complete (const pages_t *pages, size_t index)
{
    period_t period;
    gl_error_t ignored;

    return report_month_parse (pages->query->site->zone,
                               pages->month[index].name, &period, &ignored)
               == 0
           && period.end <= report_as_of (pages->query);
}

void pages_add (pages_t *pages, const pages_month_t *month)
{
    size_t states = pages->count, hashes = pages->count;
    summary_month_t *sum = GL_APPEND (pages->month, pages->count);

    summary_month_init (sum);
    sum->name = xstrdup (month->name);
    summary_month_take (sum, pages->query->site, month->bill);
    *GL_APPEND (pages->state, states) = xstrdup (month->state);
    *GL_APPEND (pages->hash, hashes)
        = month->hash ? xstrdup (month->hash) : NULL;
    if (sum->known && is_complete (pages, pages->count - 1)) {
        cube_free (pages->rows);
        pages->rows = new_rows ();
    }
    add_rows (pages, month->name, month->bill);
    add_balances (pages, month->name, month->bill);
    add_costs (pages, month->name, month->bill);
    pages->sorted = false;
}

/* --- what there is -------------------------------------------------------------- */

static int by_name (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static void sort (text_list_t *list)
{
    if (list->count > 1)
        qsort (list->item, list->count, sizeof (*list->item), by_name);
}

static void sort_names (pages_t *pages)
{
    if (pages->sorted)
        return;
    sort (&pages->teams);
    sort (&pages->pools);
    pages->sorted = true;
}

const text_list_t *pages_teams (pages_t *pages)
{
    sort_names (pages);
    return &pages->teams;
}

const text_list_t *pages_pools (pages_t *pages)
{
    sort_names (pages);
    return &pages->pools;
}

summary_month_t *pages_month (pages_t *pages, const char *month)
{
    return GL_FIND (pages->month, pages->count, it, !strcmp (it->name, month));
}

const summary_month_t *pages_months (const pages_t *pages, size_t *ret_count)
{
    *ret_count = pages->count;
    return pages->month;
}

bool pages_has (const pages_t *pages, const char *month, const char *team)
{
    const amount_t key
        = {.month = (char *)month, .team = (char *)unnamed (team, KEY_TEAM)};

    return cube_find (pages->statements, &key) != NULL;
}

/* The last month in which somebody pays something; NULL: there is none. */
static const summary_month_t *last_billed (const pages_t *pages)
{
    for (size_t i = pages->count; i-- > 0;)
        if (pages->month[i].known)
            return &pages->month[i];
    return NULL;
}

/* --- columns -------------------------------------------------------------------- */

enum {
    AT_SECTION,
    AT_TEAM,
    AT_POOL,
    AT_MONTH,
    AT_STATE,
    AT_DUE,
    AT_CHANGE,
    AT_CHANGE_PCT,
    AT_COST,
    AT_UNCOVERED,
    AT_HOURS,
    AT_CAPACITY,
    AT_ALLOCATED_PCT,
    AT_RATE,
    AT_SHARE,
    AT_WASTED,
    AT_NOT_COUNTED,
    AT_MEASURED,
    AT_CORRECTED,
    AT_HASH,
    AT_CURRENCY,
    AT_COUNT,
};

static const column_info_t columns[AT_COUNT] = {
    {"section", "Section", COLUMN_TEXT, true, true, ""},
    {"team", "Team", COLUMN_TEXT, true, false, ""},
    {"pool", "Pool", COLUMN_TEXT, true, false, ""},
    {"month", "Month", COLUMN_DATE, true, false, ""},
    {"state", "State", COLUMN_WORDS, false, false,
     "The figures of a closed month are final; others may still change."},
    {"due", "Due", COLUMN_MONEY, false, false,
     "The amount to be paid, with credits, corrections and taxes."},
    {"change", "Change", COLUMN_MONEY, false, false,
     "The difference from the month before, once the month is over."},
    {"change_pct", "Change %", COLUMN_PERCENT, false, false,
     "The difference as a percentage of the month before."},
    {"cost", "Cost", COLUMN_MONEY, false, false,
     "What the pools cost in the month, used or not."},
    {"uncovered", "Not charged to teams", COLUMN_MONEY, false, false,
     "The cost less charges and credits, without taxes. Below 0: a surplus."},
    {"gpu_hours", "GPU hours", COLUMN_HOURS, false, false,
     "Hours of physical GPUs allocated to jobs, busy or not."},
    {"capacity", "Capacity", COLUMN_HOURS, false, false,
     "GPU hours in service in the month; of a month that is not over, those "
     "so far."},
    {"allocated_pct", "Allocated %", COLUMN_PERCENT, false, false,
     "GPU hours as a percentage of the capacity."},
    {"rate", "Due per GPU hour", COLUMN_RATE, false, false,
     "The amount due, with credits, corrections and taxes, divided by the GPU "
     "hours."},
    {"due_share_pct", "Share of due %", COLUMN_PERCENT, false, false,
     "Percentage of the amounts due in the table."},
    {"wasted", "Wasted", COLUMN_MONEY, false, false,
     "GPU time of jobs that did no useful work, at list price, and the cost of "
     "capacity that no job had, as far as it is known. The page of the month "
     "has its causes."},
    {"not_counted", "Not counted", COLUMN_MONEY, false, false,
     "Jobs that were cancelled by their users or by someone unknown, and "
     "capacity without jobs that may have been idle or down."},
    {"idle_known_pct", "Idle measured %", COLUMN_PERCENT, false, false,
     "The share of the jobs' GPU hours for which it was measured whether GPUs "
     "were idle. Waste of months that differ much in it cannot be compared."},
    {"corrected", "Corrected since", COLUMN_MONEY, false, false,
     "Corrections and credits of this month that are in later months, closed "
     "or not, before taxes: their statements have the rows."},
    {"hash", "Hash", COLUMN_TEXT, false, false,
     "The hash of the closing: gpuledger verify checks it."},
    {"currency", "Currency", COLUMN_TEXT, false, true, ""},
};

/* Of each month the sum of its rows. */
static amount_t *month_sums (const pages_t *pages, const whose_t *whose)
{
    const cube_t *cube = whose->is_team   ? pages->statements
                         : whose->is_pool ? pages->of_pools
                                          : pages->sums;
    amount_t *sums = xcalloc (pages->count + 1, sizeof (*sums));

    for (size_t i = 0; i < pages->count; i++) {
        const amount_t key = {.month = pages->month[i].name,
                              .team = (char *)whose->name,
                              .pool = (char *)whose->name};
        const amount_t *sum = cube_find (cube, &key);
        fields_init (&amounts, &sums[i]);
        if (sum)
            fields_copy (&amounts, &sums[i], sum);
    }
    return sums;
}

static page_t begin (pages_t *pages, const char *name, const char *title,
                     const whose_t *whose)
{
    page_t page = {pages, report_begin (pages->query, name, title), *whose,
                   month_sums (pages, whose)};

    report_columns (page.report, columns, AT_COUNT);
    /* one of them is that of the page */
    page.report->column[AT_TEAM].detail = whose->is_team;
    page.report->column[AT_POOL].detail = whose->is_pool;
    if (whose->is_pool) { /* taxes are of no pool */
        report_column_help (page.report, AT_DUE,
                            "The amount to be paid for the pool, with credits "
                            "and corrections, before taxes.");
        report_column_help (page.report, AT_RATE,
                            "The amount due for the pool, with credits and "
                            "corrections, before taxes, divided by the GPU "
                            "hours.");
    }
    return page;
}

static report_t *end (page_t *page)
{
    GL_FREE_EACH (page->sums, page->pages->count, it,
                  fields_clear (&amounts, it));
    return page->report;
}

static void put_money (page_t *page, size_t at, const mpz_t units)
{
    report_put_money (page->report, at, units, page->pages->digits);
}

static void begin_row (page_t *page, const char *section)
{
    report_row (page->report);
    report_put_text (page->report, AT_SECTION, section);
    report_put_text (page->report, AT_CURRENCY,
                     page->pages->query->site->currency);
}

static void put_time (page_t *page, const amount_t *row)
{
    mpq_t money;

    if (mpq_sgn (row->gpu_seconds) == 0)
        return;
    report_put_hours (page->report, AT_HOURS, row->gpu_seconds);
    if (mpq_sgn (row->cpu_seconds) != 0)
        return;
    mpq_init (money);
    mpq_set_z (money, row->charge_units);
    for (int i = 0; i < page->pages->digits; i++) {
        mpz_mul_ui (mpq_denref (money), mpq_denref (money), 10);
    }
    mpq_canonicalize (money);
    GL_AUTOFREE char *rate = report_rate_text (money, row->gpu_seconds);
    report_put_text (page->report, AT_RATE, rate);
    mpq_clear (money);
}

static void put_change (page_t *page, const mpz_t now, const mpz_t before)
{
    mpz_t change;

    mpz_init (change);
    mpz_sub (change, now, before);
    GL_AUTOFREE char *percent = report_units_percent_text (change, before);
    put_money (page, AT_CHANGE, change);
    report_put_text (page->report, AT_CHANGE_PCT, percent);
    mpz_clear (change);
}

/* --- months, the latest first ------------------------------------------------------ */

static const amount_t *cost_of (const pages_t *pages, const char *month,
                                const char *pool)
{
    const amount_t key = {.month = (char *)month, .pool = (char *)pool};

    return cube_find (pages->costs, &key);
}

static void put_cost (page_t *page, size_t index)
{
    const whose_t *whose = &page->whose;
    const summary_month_t *month = &page->pages->month[index];
    const amount_t *cost = whose->is_pool
                               ? cost_of (page->pages, month->name, whose->name)
                               : NULL;

    if (cost)
        put_money (page, AT_COST, cost->charge_units);
    else if (!whose->is_pool && !whose->is_team && mpz_sgn (month->cost) != 0) {
        put_money (page, AT_COST, month->cost);
        put_money (page, AT_UNCOVERED, month->uncovered);
    }
}

/* Of all GPUs, or of those of the pool; a team has none of its own. */
static void put_capacity (page_t *page, size_t index)
{
    const whose_t *whose = &page->whose;
    const summary_month_t *month = &page->pages->month[index];
    const amount_t key = {.month = month->name, .pool = (char *)whose->name};
    const amount_t *pool
        = whose->is_pool ? cube_find (page->pages->capacities, &key) : NULL;
    mpq_srcptr capacity = pool ? pool->gpu_seconds : month->capacity;

    if (whose->is_team || (whose->is_pool && !pool) || mpq_sgn (capacity) == 0)
        return;
    GL_AUTOFREE char *used
        = report_percent_text (page->sums[index].gpu_seconds, capacity);
    report_put_hours (page->report, AT_CAPACITY, capacity);
    report_put_text (page->report, AT_ALLOCATED_PCT, used);
}

static void put_month (page_t *page, size_t index)
{
    const pages_t *pages = page->pages;
    const amount_t *sums = page->sums;

    begin_row (page, "months");
    report_put_text (page->report, AT_MONTH, pages->month[index].name);
    if (page->whose.is_team)
        report_put_text (page->report, AT_TEAM,
                         named (page->whose.name, KEY_TEAM));
    if (page->whose.is_pool)
        report_put_text (page->report, AT_POOL, page->whose.name);
    report_put_text (page->report, AT_STATE, pages->state[index]);
    put_cost (page, index);
    if (!pages->month[index].known)
        return;
    put_money (page, AT_DUE, sums[index].charge_units);
    put_time (page, &sums[index]);
    put_capacity (page, index);
    if (index > 0 && pages->month[index - 1].known
        && is_complete (pages, index))
        put_change (page, sums[index].charge_units,
                    sums[index - 1].charge_units);
}

/* The last month that is over and in which somebody pays something, as a few days of the
 * next one say little; else the last one. */
static const summary_month_t *last_shown (const pages_t *pages)
{
    for (size_t i = pages->count; i-- > 0;)
        if (pages->month[i].known && is_complete (pages, i))
            return &pages->month[i];
    return last_billed (pages);
}

enum { SERIES_DUE, SERIES_COST, SERIES_COUNT };

/* What is due in each month, and of all pools together what they cost: then without months that
 * are not over, to which the lines would fall. */
static void chart_months (page_t *page)
{
    const pages_t *pages = page->pages;
    bool all = !page->whose.is_team && !page->whose.is_pool;
    size_t first
        = pages->count > MONTHS_CHARTED ? pages->count - MONTHS_CHARTED : 0;
    size_t count = pages->count - first;
    const char **point;
    mpq_t *value[SERIES_COUNT];
    bool *unknown[SERIES_COUNT];
    plot_series_t series[SERIES_COUNT];

    while (all && count > 2 && !is_complete (pages, first + count - 1))
        count--;
    point = xcalloc (count + 1, sizeof (*point));
    for (size_t k = 0; k < SERIES_COUNT; k++) {
        value[k] = xcalloc (count + 1, sizeof (**value));
        unknown[k] = xcalloc (count + 1, sizeof (**unknown));
        series[k]
            = (plot_series_t){k == SERIES_DUE ? "Due" : "Cost of the pools",
                              (const mpq_t *)value[k], unknown[k], (int)k};
    }
    for (size_t i = 0; i < count; i++) {
        const summary_month_t *month = &pages->month[first + i];
        mpq_init (value[SERIES_DUE][i]);
        mpq_init (value[SERIES_COST][i]);
        mpq_set_z (value[SERIES_DUE][i], page->sums[first + i].charge_units);
        mpq_set_z (value[SERIES_COST][i], month->cost);
        unknown[SERIES_DUE][i] = !month->known;
        unknown[SERIES_COST][i] = mpz_sgn (month->cost) == 0;
        all = all && !unknown[SERIES_COST][i];
        point[i] = month->name;
    }
    report_plot (page->report,
                 &(plot_t){.kind = all ? CHART_LINES : CHART_COLUMNS,
                           .title = "Month by month",
                           .description
                           = all ? "Amounts due, and cost of the pools in "
                                   "months that are over."
                             : page->whose.is_pool
                                 ? "What teams pay for the pool in each month."
                                 : "The amount due in each month.",
                           .type = COLUMN_MONEY,
                           .digits = pages->digits,
                           .unit = pages->query->site->currency,
                           .point = point,
                           .point_count = count,
                           .series = series,
                           .series_count = all ? SERIES_COUNT : 1});
    for (size_t k = 0; k < SERIES_COUNT; k++) {
        GL_FREE_EACH (value[k], count, it, mpq_clear (*it));
        free (unknown[k]);
    }
    free (point);
}

static void add_months (page_t *page)
{
    chart_months (page);
    report_section (page->report, "Months", "The latest month first.");
    for (size_t i = page->pages->count; i-- > 0;)
        put_month (page, i);
}

/* A month whose waste nobody asked for has no row, nor one that goes on. */
static void add_waste (page_t *page)
{
    const pages_t *pages = page->pages;
    bool begun = false;
    mpz_t sum;

    mpz_init (sum);
    for (size_t i = pages->count;
         i-- > 0 && i + MONTHS_OF_WASTE >= pages->count;) {
        const summary_month_t *month = &pages->month[i];
        GL_AUTOFREE char *measured = report_coverage_text (
            month->allocated.known, month->allocated.seconds);
        if (!month->waste_known || !is_complete (pages, i))
            continue;
        if (!begun)
            report_section (page->report, "Waste by month", "");
        begun = true;
        begin_row (page, "waste");
        report_put_text (page->report, AT_MONTH, month->name);
        summary_wasted (month, sum);
        put_money (page, AT_WASTED, sum);
        mpz_add (sum, month->waste[WASTE_UNKNOWN],
                 month->waste[WASTE_NOT_COUNTED]);
        put_money (page, AT_NOT_COUNTED, sum);
        report_put_text (page->report, AT_MEASURED, measured);
    }
    mpz_clear (sum);
}

/* --- teams and pools of a month -------------------------------------------------- */

static bool has_poolless (cube_t *pools)
{
    for (size_t i = 0; i < cube_count (pools); i++)
        if (!((const amount_t *)cube_row (pools, i))->pool)
            return true;
    return false;
}

/* The rows of a month by team or by pool, largest first, and their total. */
static void add_shares (page_t *page, const summary_month_t *month,
                        const char *by, const char *pool)
{
    bool teams = strcmp (by, "team") == 0;
    GL_AUTOFREE char *title
        = xasprintf ("%s, %s", teams ? "Teams" : "Pools", month->name);
    cube_t *cube = cube_new (&amounts, by);
    amount_t total;

    cube_where (cube, "month", month->name);
    if (pool)
        cube_where (cube, "pool", pool);
    cube_add_cube (cube, page->pages->rows);
    cube_sort (cube, "-charge");
    fields_init (&amounts, &total);
    cube_sum (cube, 0, cube_count (cube), &total);
    if (cube_count (cube) > 0)
        report_section (page->report, title,
                        teams || !has_poolless (cube)
                            ? ""
                            : "(none) has amounts of no pool, such as taxes "
                              "and other services.");
    for (size_t i = 0; i < cube_count (cube); i++) {
        const amount_t *row = cube_row (cube, i);
        const amount_t *cost
            = teams ? NULL : cost_of (page->pages, month->name, row->pool);
        GL_AUTOFREE char *share
            = report_units_percent_text (row->charge_units, total.charge_units);
        begin_row (page, teams ? "teams" : "pools");
        report_put_text (page->report, AT_MONTH, month->name);
        report_put_text (page->report, teams ? AT_TEAM : AT_POOL,
                         teams ? named (row->team, KEY_TEAM)
                               : named (row->pool, KEY_POOL));
        put_money (page, AT_DUE, row->charge_units);
        put_time (page, row);
        report_put_text (page->report, AT_SHARE, share);
        if (cost)
            put_money (page, AT_COST, cost->charge_units);
    }
    if (cube_count (cube) > 0) {
        report_section_totals (page->report);
        put_money (page, AT_DUE, total.charge_units);
        if (mpq_sgn (total.gpu_seconds) != 0)
            report_put_hours (page->report, AT_HOURS, total.gpu_seconds);
    }
    fields_clear (&amounts, &total);
    cube_free (cube);
}

/* --- figures ------------------------------------------------------------------------ */

/* "": the two are not compared. */
static char *since_text (const page_t *page, const mpz_t now, const mpz_t then,
                         size_t index)
{
    const pages_t *pages = page->pages;

    return index > 0 && pages->month[index - 1].known
                   && is_complete (pages, index) && mpz_sgn (then) != 0
               ? summary_since_text (now, then, pages->month[index - 1].name,
                                     pages->digits)
               : xstrdup ("");
}

static void put_figure (page_t *page, const char *what, size_t index,
                        const mpz_t units, char *hint)
{
    const pages_t *pages = page->pages;
    GL_AUTOFREE char *title
        = xasprintf ("%s in %s%s", what, pages->month[index].name,
                     is_complete (pages, index) ? "" : " so far");
    GL_AUTOFREE char *text = exact_units_text (units, pages->digits);

    report_figure (page->report, title, pages->month[index].known ? text : NULL,
                   hint, COLUMN_MONEY);
    free (hint);
}

static void figure_due (page_t *page, size_t index)
{
    const pages_t *pages = page->pages;
    const amount_t *sum = &page->sums[index];
    bool all = !page->whose.is_team && !page->whose.is_pool;
    GL_AUTOFREE char *taxes
        = all ? summary_taxes_text (&pages->month[index], pages->digits)
              : xstrdup ("");
    GL_AUTOFREE char *since = since_text (
        page, sum->charge_units,
        index > 0 ? sum[-1].charge_units : sum->charge_units, index);

    put_figure (page, all ? "Due from teams" : "Due", index, sum->charge_units,
                xasprintf ("%s%s%s; %s", pages->query->site->currency, taxes,
                           since, pages->state[index]));
}

/* What the GPUs cost, and the part that charges do not cover. */
static void figure_cost (page_t *page, size_t index)
{
    const pages_t *pages = page->pages;
    const summary_month_t *month = &pages->month[index],
                          *before = index > 0 ? month - 1 : month;
    const char *currency = pages->query->site->currency;

    if (mpz_sgn (month->cost) == 0 || page->whose.is_team
        || page->whose.is_pool)
        return;
    GL_AUTOFREE char *cost_since
        = since_text (page, month->cost, before->cost, index);
    GL_AUTOFREE char *paid_since
        = since_text (page, month->uncovered, before->uncovered, index);
    GL_AUTOFREE char *others = summary_others_text (month, pages->digits);
    put_figure (page, "Cost", index, month->cost,
                xasprintf ("%s for all GPUs, used or not%s%s", currency, others,
                           cost_since));
    put_figure (page, "Not charged to teams", index, month->uncovered,
                xasprintf ("%s, paid by %s%s: the cost less what teams pay "
                           "before taxes%s",
                           currency, summary_payer (pages->query->site),
                           *others ? " and others" : "", paid_since));
}

/* In jobs, and of capacity without jobs. */
static void figure_waste (page_t *page, size_t index)
{
    const pages_t *pages = page->pages;
    const summary_month_t *month = &pages->month[index];

    if (!month->waste_known || page->whose.is_team || page->whose.is_pool)
        return;
    mpz_t sum;

    mpz_init (sum);
    summary_wasted (month, sum);
    GL_AUTOFREE char *known = exact_units_text (sum, pages->digits);
    GL_AUTOFREE char *title = xasprintf ("Wasted in %s", month->name);
    GL_AUTOFREE char *text = summary_waste_value (month, pages->digits);
    GL_AUTOFREE char *hint
        = summary_waste_text (month, index > 0 ? month - 1 : NULL,
                              pages->query->site->currency, pages->digits);
    /* what may be, and why, is in sentences on this page and on that of the month */
    GL_AUTOFREE char *brief
        = strcmp (text, known) != 0
              ? xasprintf ("%.*s; the rest is unknown, and no saving",
                           (int)strcspn (hint, ";"), hint)
              : xstrdup (hint);
    report_figure (page->report, title, text, brief, COLUMN_WORDS);
    mpz_clear (sum);
}

static void add_why (page_t *page, const char *title, const char *month,
                     const char *text)
{
    report_list_t *list = report_list (page->report, title);

    list->place = LIST_FIRST;
    list->words = LIST_MONTHS;
    report_list_item (list, month, text);
}

/* Why the cost and the waste are not those of the month before. */
static void add_changes (page_t *page, const summary_month_t *month,
                         const summary_month_t *before)
{
    const pages_t *pages = page->pages;
    const site_t *site = pages->query->site;
    GL_AUTOFREE char *why = summary_payers_text (site, site->currency,
                                                 pages->digits, month, before);
    GL_AUTOFREE char *waste
        = summary_waste_compared (month, month->waste_known ? before : NULL,
                                  site->currency, pages->digits);

    if (why) {
        GL_AUTOFREE char *use = summary_use_text (month, before);
        GL_AUTOFREE char *kinds
            = summary_kinds_text (month, before, pages->digits);
        GL_AUTOFREE char *days
            = summary_days_text (site->zone, month->name, before->name);
        GL_AUTOFREE char *text
            = xasprintf ("%s%s%s%s%s%s %s", why, *kinds && *days ? " " : "",
                         *kinds ? days : "",
                         !*kinds ? ""
                         : *days ? "; by kind, the cost changed so: "
                                 : " By kind, the cost changed so: ",
                         kinds, *kinds ? "." : "", use);
        add_why (page, "Why the cost, and who pays it, changed", month->name,
                 text);
    }
    if (waste)
        add_why (page, "Was more or less wasted?", month->name, waste);
}

/* The last month that is over, then those that go on. */
static void add_figures (page_t *page)
{
    const pages_t *pages = page->pages;
    size_t count = pages->count, over = count;

    while (over > 0 && !is_complete (pages, over - 1))
        over--;
    if (over > 0) {
        figure_cost (page, over - 1);
        figure_due (page, over - 1);
        figure_waste (page, over - 1);
    }
    for (size_t i = over; i < count && i < over + 2; i++)
        figure_due (page, i);
    if (over < 2 || page->whose.is_team || page->whose.is_pool)
        return;
    add_changes (page, &pages->month[over - 1], &pages->month[over - 2]);
}

/* --- the pages ------------------------------------------------------------------------ */

report_t *pages_index (pages_t *pages)
{
    const whose_t all = {.name = NULL};
    page_t page = begin (pages, "index", "GPU chargeback", &all);
    const summary_month_t *last = last_shown (pages);

    add_figures (&page);
    add_months (&page);
    add_waste (&page);
    if (last) {
        add_shares (&page, last, "team", NULL);
        add_shares (&page, last, "pool", NULL);
    }
    return end (&page);
}

report_t *pages_team (pages_t *pages, const char *team)
{
    const whose_t whose = {.is_team = true, .name = unnamed (team, KEY_TEAM)};
    GL_AUTOFREE char *title
        = xasprintf ("Statements of %s", whose.name ? team : "no team");
    page_t page = begin (pages, "team", title, &whose);

    add_figures (&page);
    add_months (&page);
    return end (&page);
}

report_t *pages_pool (pages_t *pages, const char *pool)
{
    const whose_t whose = {.is_pool = true, .name = pool};
    GL_AUTOFREE char *title = xasprintf ("Pool %s", pool);
    page_t page = begin (pages, "pool", title, &whose);
    const summary_month_t *last = last_shown (pages);

    add_figures (&page);
    add_months (&page);
    if (last)
        add_shares (&page, last, "team", pool);
    return end (&page);
}

static void put_corrected (page_t *page, size_t index)
{
    const pages_t *pages = page->pages;
    const amount_t key = {.month = pages->month[index].name};
    const amount_t *sum = cube_find (pages->corrected, &key);
    mpz_t none;

    mpz_init (none);
    put_money (page, AT_CORRECTED, sum ? sum->charge_units : none);
    mpz_clear (none);
}

report_t *pages_verify (pages_t *pages, const char *head)
{
    const whose_t all = {.name = NULL};
    page_t page = begin (pages, "verify",
                         "Closed months, corrections and hashes", &all);
    report_list_t *list;

    if (head)
        report_parameter (page.report, "latest hash", head);
    report_section (page.report, "Closed months",
                    "What becomes known after a month was closed is a "
                    "correction, a row of a later month. Each hash covers all "
                    "rows of its month and the hash before it: whoever changes "
                    "a row changes this hash and all later ones. Keep the "
                    "hashes elsewhere, as they are on statements and in the "
                    "message of the closing.");
    for (size_t i = pages->count; i-- > 0;) {
        if (!pages->hash[i])
            continue;
        begin_row (&page, "months");
        report_put_text (page.report, AT_MONTH, pages->month[i].name);
        report_put_text (page.report, AT_STATE, pages->state[i]);
        put_money (&page, AT_DUE, pages->month[i].due);
        put_corrected (&page, i);
        report_put_text (page.report, AT_HASH, pages->hash[i]);
    }
    list = report_list (page.report, "How to check them");
    report_list_item (list, "gpuledger verify",
                      "An administrator runs it on the accounting host. It "
                      "reads all closed months again, and says whether they "
                      "are as they were written.");
    if (head) {
        GL_AUTOFREE char *command
            = xasprintf ("gpuledger verify --head %s", head);
        report_list_item (list, command,
                          "Put the hash that you kept in place of this one: "
                          "the ledger must still have it.");
    }
    return end (&page);
}
