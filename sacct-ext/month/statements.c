/* A statement, from the month: its page, jobs and days. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/text.h"
#include "ledger/bill_idle.h"
#include "ledger/cube.h"
#include "month/bills.h"
#include "month/budgets.h"
#include "month/month.h"
#include "month/statements.h"
#include "statement/institution.h"
#include "statement/statement.h"
#include "usage/usage.h"

/* What the pages of a month are made of. */
struct statements {
    store_t *store;
    report_query_t query; /* the month; of one team filtered by it */
    bool one;             /* team alone: it is read for it */
    bool linked;
    const char *(*user_name) (const char *user, void *arg);
    void *arg;
    const periods_t *periods; /* NULL: they are read */
    month_t *now, *before;    /* before NULL: set aside */
    bool comparable;          /* something was billed in the month before */
    variances_t
        *variances;     /* of teams, since the month before; NULL: not made */
    const site_t *site; /* the configuration of the month */
    char *state;
    cube_t *days; /* what is charged, by team and day; NULL: not asked yet */
    statement_day_t
        *day; /* of the month, with what the page's team is charged */
    size_t day_count;
    char head[MONTH_HASH_SIZE]; /* "": nothing was closed */
    bool counted;
    usage_t
        *usage[STATEMENT_COUNTS + 1]; /* by team; the last by nothing else */
    const usage_cell_t *cells[STATEMENT_COUNTS + 1];
    size_t cell_count[STATEMENT_COUNTS + 1];
    usage_query_t usage_query[STATEMENT_COUNTS + 1];
    budget_cache_t *cache; /* NULL: they are of no series */
    bool budgeted;
    budget_t **budgets; /* of all teams, or of the one */
    size_t budget_count;
    cube_t *prices; /* of pools; NULL: not asked yet */
};

/* --- jobs -------------------------------------------------------------- */

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    statements_t *s = arg;

    (void)error;
    for (size_t i = 0; i <= STATEMENT_COUNTS; i++)
        usage_add (s->usage[i], fact->segment, fact->suspensions,
                   fact->suspension_count, fact->project);
    usage_measure (s->usage[STATEMENT_PRICED], fact->segment, fact->project,
                   fact->evidence);
    return 0;
}

static int take_rollup (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    statements_t *s = arg;

    (void)error;
    for (size_t i = 0; i <= STATEMENT_COUNTS; i++)
        usage_add_rollup (s->usage[i], rollup, ROLLUP_COUNTED);
    return 0;
}

static int begin_usage (statements_t *s, const report_query_t *query,
                        gl_error_t *error)
{
    char *label;

    for (size_t i = 0; i <= STATEMENT_COUNTS; i++) {
        usage_query_t *q = &s->usage_query[i];
        GL_AUTOFREE char *by
            = i < STATEMENT_COUNTS
                  ? xasprintf ("team,%s", statement_keys ((statement_by_t)i))
                  : xstrdup ("team");
        *q = (usage_query_t){.site = query->site,
                             .period = query->period,
                             .filters = query->filters,
                             .filter_count = query->filter_count,
                             .accounts = query->accounts,
                             .jobs_alone = i != STATEMENT_PRICED};
        if (report_keys_parse (by, &q->by, &label, error) < 0)
            return -1;
        s->usage[i] = usage_new (q);
    }
    return 0;
}

/* Once, when the first page wants them. */
static int count_jobs (statements_t *s, gl_error_t *error)
{
    const month_usage_t to = {take_rollup, take_fact, s};
    report_query_t query = s->query;

    if (s->counted)
        return 0;
    if (month_query (s->now, &query, error) < 0
        || begin_usage (s, &query, error) < 0
        || month_usage (s->now, &query, &to, error) < 0)
        return -1;
    s->counted = true;
    for (size_t i = 0; i <= STATEMENT_COUNTS; i++)
        s->cells[i] = usage_cells (s->usage[i], &s->cell_count[i]);
    return 0;
}

/* The cells of a team, which follow one another, in the order of teams. */
static const usage_cell_t *cells_of (const statements_t *s, size_t by,
                                     const char *team, size_t *ret_count)
{
    size_t count = s->cell_count[by], first = 0, end = count;
    const usage_cell_t *cells = s->cells[by];

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (text_compare (cells[middle].key[0], team) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    for (end = first; end < count && text_same (cells[end].key[0], team); end++)
        ;
    *ret_count = end - first;
    return cells + first;
}

static statement_counts_t counts_of (const statements_t *s, statement_by_t by,
                                     const char *team)
{
    size_t count, keys = s->usage_query[by].by.count - 1;
    const usage_cell_t *cells = cells_of (s, by, team, &count);
    statement_count_t *counts = xcalloc (count + 1, sizeof (*counts));

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < keys; k++)
            counts[i].key[k] = cells[i].key[k + 1];
        counts[i].jobs = cells[i].jobs;
    }
    return (statement_counts_t){counts, count};
}

static uint64_t jobs_of (const statements_t *s, const char *team)
{
    size_t count;
    const usage_cell_t *cells = cells_of (s, STATEMENT_COUNTS, team, &count);

    return count ? cells->jobs : 0;
}

/* Idle GPUs of the team's jobs by pool; idle_free() them. */
static statement_idle_t *idle_of (const statements_t *s, const char *team,
                                  size_t *ret_count)
{
    size_t count, at = 0;
    const usage_cell_t *cells = cells_of (s, STATEMENT_PRICED, team, &count);
    statement_idle_t *idle = NULL;
    mpq_t seconds;

    *ret_count = 0;
    mpq_init (seconds);
    for (size_t i = 0; i < count; i++) {
        const char *pool = cells[i].key[1];
        mpq_set_ui (seconds, 0, 1);
        if (!pool || !usage_cell_idle_seconds (&cells[i], seconds)
            || mpq_sgn (seconds) <= 0)
            continue;
        for (at = 0; at < *ret_count && strcmp (idle[at].pool, pool); at++)
            ;
        if (at == *ret_count) {
            *GL_APPEND (idle, *ret_count) = (statement_idle_t){.pool = pool};
            mpq_init (idle[at].gpu_seconds);
            mpz_init (idle[at].units);
        }
        mpq_add (idle[at].gpu_seconds, idle[at].gpu_seconds, seconds);
    }
    mpq_clear (seconds);
    return idle;
}

/* Those that have a price. */
static void price_idle (const statements_t *s, const char *team,
                        statement_idle_t *idle, size_t idle_count)
{
    size_t count;
    const usage_cell_t *cells = cells_of (s, STATEMENT_PRICED, team, &count);
    mpq_t seconds, value, sum;

    mpq_inits (seconds, value, sum, NULL);
    for (size_t k = 0; k < idle_count; k++) {
        mpq_set_ui (sum, 0, 1);
        for (size_t i = 0; i < count; i++) {
            const bill_time_t of
                = {cells[i].key[1], cells[i].key[2], cells[i].key[3]};
            mpq_set_ui (seconds, 0, 1);
            if (!text_same (of.pool, idle[k].pool)
                || !usage_cell_idle_seconds (&cells[i], seconds))
                continue;
            bill_time_exact (s->prices, &of, seconds, value);
            mpq_add (sum, sum, value);
        }
        exact_round (idle[k].units, sum, 0);
    }
    mpq_clears (seconds, value, sum, NULL);
}

static void idle_free (statement_idle_t *idle, size_t count)
{
    GL_FREE_EACH (idle, count, it,
                  (mpq_clear (it->gpu_seconds), mpz_clear (it->units)));
}

/* What of it has no price, by cause. cube_free() it. */
static cube_t *unpriced_of (const statements_t *s, cube_t *seconds)
{
    cube_t *unpriced = cube_new (&waste_rows, "what");
    mpz_t units;

    mpz_init (units);
    for (size_t i = 0; i < cube_count (seconds); i++) {
        const waste_t *row = cube_row (seconds, i);
        const bill_time_t of = waste_time (row);
        if (!bill_time_value (s->prices, &of, row->seconds, units))
            cube_add (unpriced, row);
    }
    mpz_clear (units);
    return unpriced;
}

/* What its jobs wasted, by cause; adds all their time to `allocated`. cube_free() both. */
static cube_t *waste_of (const statements_t *s, const char *team,
                         waste_t *allocated, cube_t **ret_unpriced)
{
    cube_t *seconds = cube_new (&waste_rows, WASTE_PRICED);
    cube_t *all = cube_new (&waste_rows, "");
    cube_t *waste = cube_new (&waste_rows, "what");
    size_t count;
    const usage_cell_t *cells = cells_of (s, STATEMENT_PRICED, team, &count);
    waste_t keys;

    fields_init (&waste_rows, &keys);
    for (size_t i = 0; i < count; i++) {
        keys.keys.pool = cells[i].key[1];
        keys.keys.qos = cells[i].key[2];
        for (size_t k = 0; keys.keys.pool && k < cells[i].part_count; k++) {
            const usage_part_t *part = &cells[i].part[k];
            waste_take_part (seconds, &keys, part, WASTE_IDLE_AS_ONE);
            waste_take_allocated (all, &keys, part);
        }
    }
    fields_clear (&waste_rows, &keys);
    waste_add_priced (waste, seconds, s->prices);
    *ret_unpriced = unpriced_of (s, seconds);
    cube_sort (waste, "-units,-seconds");
    cube_sum (all, 0, cube_count (all), allocated);
    cube_free (all);
    cube_free (seconds);
    return waste;
}

/* --- days -------------------------------------------------------------- */

/* All days up to what is known, so that a day without charges is seen. */
static void list_days (statements_t *s)
{
    const zone_t *zone = s->now->paper->zone;
    period_t known = period_clip (s->query.period,
                                  (period_t){0, report_as_of (&s->query)});

    for (int64_t at = known.start; at < known.end;
         at = zone_unit (zone, CALENDAR_DAY, at).end) {
        statement_day_t *day = GL_APPEND (s->day, s->day_count);
        zone_unit_name (zone, CALENDAR_DAY, at, day->name);
        mpz_init (day->units);
    }
}

static void sum_days (statements_t *s)
{
    size_t count;
    const bill_day_t *days = bill_days (s->now->bill, &count);

    s->days = cube_new (&bill_fields[BILL_DAYS], "team,day");
    cube_add_list (s->days, days, count);
}

static void take_days (statements_t *s, const char *team)
{
    if (!s->days)
        sum_days (s);
    for (size_t i = 0; i < s->day_count; i++) {
        const bill_day_t *had
            = cube_find (s->days, &(bill_day_t){.day = s->day[i].name,
                                                .team = (char *)team});
        mpz_set_ui (s->day[i].units, 0);
        if (had)
            mpz_set (s->day[i].units, had->units);
    }
}

/* --- one by one -------------------------------------------------------- */

static int take_row (const line_item_t *row, void *arg, gl_error_t *error)
{
    (void)error;
    statement_jobs_add (arg, row);
    return 0;
}

static int list_jobs (statements_t *s, const char *team,
                      statement_jobs_t **ret_jobs, gl_error_t *error)
{
    *ret_jobs = statement_jobs_new (team, s->now->paper->zone);
    return month_line_items (s->now, &statement_jobs_want, take_row, *ret_jobs,
                             NULL, error);
}

/* --- the months --------------------------------------------------------- */

static int month_at (statements_t *s, int64_t instant, const month_how_t *how,
                     month_t **ret, gl_error_t *error)
{
    char month[ZONE_STAMP_SIZE];

    zone_unit_name (s->query.site->zone, CALENDAR_MONTH, instant, month);
    return month_read (s->store, s->query.site, month, how, ret, error);
}

/* A month that the facts have not reached, and without manual rows:
 * its zeros would look like a team that used nothing. */
static int check_reached (const statements_t *s, gl_error_t *error)
{
    int64_t as_of = report_as_of (&s->query);
    char stamp[ZONE_STAMP_SIZE];
    size_t rows;

    postings (s->now->bill, &rows);
    if (!month_is_provisional (s->now) || rows > 0
        || s->now->period.start < as_of)
        return 0;
    return as_of == 0
               ? gl_error (error,
                           "the store has no facts, so that there is "
                           "nothing to say of %s",
                           s->now->name)
               : gl_error (error,
                           "nothing is known of %s yet: the facts end at %s",
                           s->now->name,
                           zone_stamp (s->query.site->zone, as_of, stamp));
}

/* The latest hash of the chain, which holds whatever was closed and decided up to
 * now: later than the hash of the month's closing. */
static int take_head (statements_t *s, gl_error_t *error)
{
    chain_head_t head;

    if (store_chain_head (s->store, &head, error) < 0)
        return -1;
    if (head.number)
        hash_text (head.hash, s->head);
    return 0;
}

/* As of the end of the facts of the month; period and names stay as asked for. */
static int as_of_month (statements_t *s, gl_error_t *error)
{
    report_query_t query = s->query;

    if (month_query (s->now, &query, error) < 0)
        return -1;
    s->query.clusters = query.clusters;
    s->query.cluster_count = query.cluster_count;
    s->site = query.site;
    return 0;
}

/* That of the series, if it is that month. */
static void take_before (statements_t *s, statements_series_t *series)
{
    char name[MONTH_SIZE];

    periods_month_of (s->query.site, s->query.period.start - 1, name);
    if (series->month && !strcmp (series->month->name, name))
        s->before = GL_TAKE (series->month);
    else
        cube_free (GL_TAKE (series->waste));
}

/* A month before the ledger begins is billed to nobody, and may still move. */
static void compare (statements_t *s)
{
    size_t rows;

    postings (s->before->bill, &rows);
    s->comparable = rows > 0 && s->before->state != MONTH_BEFORE;
}

static int read_before (statements_t *s, gl_error_t *error)
{
    const month_how_t billed = {.billed = true, .periods = s->periods};

    if (s->before)
        return 0;
    if (month_at (s, s->query.period.start - 1, &billed, &s->before, error) < 0)
        return -1;
    compare (s);
    return 0;
}

/* With what is made of it. */
static void free_before (statements_t *s)
{
    variances_free (GL_TAKE (s->variances));
    month_free (GL_TAKE (s->before));
}

/* The month is computed, which needs much memory: that before it is read again. */
static void set_aside_before (statements_t *s)
{
    char name[MONTH_SIZE];

    periods_month_of (s->query.site, s->query.period.start, name);
    if (!periods_closing (s->periods, name)
        && !month_is_provisional (s->before))
        free_before (s);
}

static int read_months (statements_t *s, const month_how_t *how,
                        statements_series_t *series, gl_error_t *error)
{
    bool had;

    take_before (s, series);
    had = s->before != NULL;
    if (had) {
        compare (s);
        set_aside_before (s);
    }
    if (month_at (s, s->query.period.start, how, &s->now, error) < 0
        || check_reached (s, error) < 0
        || !(s->site = month_site (s->now, error))
        || (!had && read_before (s, error) < 0) || take_head (s, error) < 0)
        return -1;
    s->state = month_state_text (s->now, s->query.site->zone);
    if (as_of_month (s, error) < 0)
        return -1;
    list_days (s);
    return 0;
}

static int open_months (store_t *store, const report_query_t *query,
                        const month_how_t *how, statements_series_t *series,
                        statements_t **ret_statements, gl_error_t *error)
{
    statements_t *s = xcalloc (1, sizeof (*s));

    s->store = store;
    s->query = *query;
    s->query.by.count = 0;
    s->one = query->filter_count > 0;
    s->periods = how->periods;
    s->cache = series->budgets;
    if (read_months (s, how, series, error) < 0) {
        statements_close (s);
        return -1;
    }
    *ret_statements = s;
    return 0;
}

int statements_open (store_t *store, const report_query_t *query,
                     const periods_t *periods, statements_t **ret_statements,
                     gl_error_t *error)
{
    const month_how_t how
        = {.team_days = true,
           .filter = query->filter_count ? query->filters : NULL,
           .periods = periods};
    statements_series_t none = {.month = NULL};

    return open_months (store, query, &how, &none, ret_statements, error);
}

int statements_open_next (store_t *store, const report_query_t *query,
                          const periods_t *periods, statements_series_t *series,
                          statements_t **ret_statements, gl_error_t *error)
{
    const month_how_t how
        = {.team_days = true, .compared = true, .periods = periods};

    if (!series->budgets)
        series->budgets = budget_cache_new ();
    return open_months (store, query, &how, series, ret_statements, error);
}

void statements_close (statements_t *s)
{
    if (!s)
        return;
    for (size_t i = 0; i <= STATEMENT_COUNTS; i++)
        usage_free (s->usage[i]); /* of the month's configuration */
    budgets_free (s->budgets, s->budget_count);
    cube_free (s->days);
    GL_FREE_EACH (s->day, s->day_count, it, mpz_clear (it->units));
    cube_free (s->prices);
    variances_free (s->variances);
    month_free (s->now);
    month_free (s->before);
    free (s->state);
    free (s);
}

void statements_keep_month (statements_t *s, statements_series_t *series)
{
    month_free (series->month);
    series->month = GL_TAKE (s->now);
    bill_forget (series->month->bill, BILL_DAYS); /* the next has its own */
    statements_close (s);
}

void statements_series_clear (statements_series_t *series)
{
    month_free (series->month);
    cube_free (series->waste);
    budget_cache_free (series->budgets);
    *series = (statements_series_t){.month = NULL};
}

void statements_link (statements_t *s,
                      const char *(*user_name) (const char *user, void *arg),
                      void *arg)
{
    s->linked = true;
    s->user_name = user_name;
    s->arg = arg;
}

month_t *statements_month (statements_t *s)
{
    return s->now;
}

int statements_before (statements_t *s, month_t **ret_before, gl_error_t *error)
{
    int rc = read_before (s, error);

    *ret_before = s->before;
    return rc;
}

void statements_set_aside (statements_t *s)
{
    if (month_is_provisional (s->now) && s->before
        && !month_is_provisional (s->before))
        free_before (s);
}

static bool goes_on (const statements_t *s)
{
    return s->linked && month_goes_on (s->now, &s->query);
}

bool statements_compared (const statements_t *s)
{
    return s->comparable && !goes_on (s);
}

variances_t *statements_variances (statements_t *s)
{
    if (!s->variances)
        s->variances
            = variances_new (statements_compared (s) ? s->before->bill : NULL,
                             s->now->bill, s->query.site->currency_digits);
    return s->variances;
}

const report_query_t *statements_query (const statements_t *s)
{
    return &s->query;
}

static int by_name (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

void statements_teams (const statements_t *s, text_list_t *ret_teams)
{
    size_t count;
    const posting_t *rows = postings (s->now->bill, &count);
    const bill_balance_t *balances;
    const char *last = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *team
            = rows[i].team ? rows[i].team : key_info (KEY_TEAM)->absent;
        if (posting_is_due (&rows[i]) && !text_same (last, team))
            texts_add_new (ret_teams, last = team);
    }
    balances = bill_balances (s->now->bill, &count);
    for (size_t i = 0; i < count; i++)
        if (balances[i].team)
            texts_add_new (ret_teams, balances[i].team);
    if (ret_teams->count > 1)
        qsort (ret_teams->item, ret_teams->count, sizeof (*ret_teams->item),
               by_name);
}

/* --- a page ------------------------------------------------------------- */

/* How many of the team's rows are disputed. */
static size_t disputed_of (const month_t *month, const char *team)
{
    bill_rows_t of = bill_rows_of (month->bill, team);
    size_t disputed = 0;

    for (size_t i = 0; i < of.count; i++)
        disputed += month->disputed[of.index[i]];
    return disputed;
}

/* Of all teams once, unless one team alone is asked for. */
static int read_budgets (statements_t *s, const char *team, gl_error_t *error)
{
    const budgets_query_t of = {.site = s->site,
                                .team = s->one ? team : NULL,
                                .month = s->now,
                                .cache = s->cache};

    if (s->budgeted || (s->one && !team))
        return 0;
    s->budgeted = true;
    return budgets_of_period (s->store, &s->query, &of, &s->budgets,
                              &s->budget_count, error);
}

int statements_budgets (statements_t *s, budget_t *const **ret_budgets,
                        size_t *ret_count, gl_error_t *error)
{
    int rc = read_budgets (s, NULL, error);

    *ret_budgets = s->budgets;
    *ret_count = s->budget_count;
    return rc;
}

static void take_budgets (const statements_t *s, statement_t *page,
                          budget_t **into)
{
    page->budgets = into;
    for (size_t i = 0; i < s->budget_count && page->team; i++)
        if (texts_have (&s->budgets[i]->budget->team_names, page->team))
            into[page->budget_count++] = s->budgets[i];
}

static void fill (statements_t *s, statement_t *page)
{
    page->query = &s->query;
    page->month = s->now->name;
    page->before_month = s->before->name;
    page->bill = s->now->bill;
    page->goes_on = goes_on (s);
    page->before = statements_compared (s) ? s->before->bill : NULL;
    page->variances = statements_variances (s);
    page->provisional = month_is_provisional (s->now);
    page->state = s->state;
    page->hash = *s->now->hash ? s->now->hash : NULL;
    /* the pages of a closed month stay as they are when others are closed */
    page->head = *s->head && !s->linked ? s->head : NULL;
    page->linked = s->linked;
    page->user_name = s->user_name;
    page->arg = s->arg;
    page->disputed = s->now->disputed;
    page->disputed_count = disputed_of (s->now, page->team);
    page->handover = s->now->handover;
    page->site = s->site;
    page->paper = s->now->paper;
}

/* With what it borrows from the month. */
static int make_page (statements_t *s, statement_t *page, report_t **ret_report,
                      gl_error_t *error)
{
    budget_t **budgets = xcalloc (s->budget_count + 1, sizeof (*budgets));
    statement_idle_t *idle = idle_of (s, page->team, &page->idle_count);
    cube_t *unpriced;
    waste_t allocated;
    int rc;

    fill (s, page);
    fields_init (&waste_rows, &allocated);
    if (!s->prices)
        s->prices = bill_time_prices (s->now->bill);
    price_idle (s, page->team, idle, page->idle_count);
    page->idle = idle;
    page->waste = waste_of (s, page->team, &allocated, &unpriced);
    page->unpriced = unpriced;
    page->allocated = &allocated;
    take_budgets (s, page, budgets);
    take_days (s, page->team);
    page->days = s->day;
    page->day_count = s->day_count;
    for (size_t i = 0; i < STATEMENT_COUNTS; i++)
        page->counts[i] = counts_of (s, (statement_by_t)i, page->team);
    page->jobs = jobs_of (s, page->team);
    page->id = month_statement (s->now, page->team, error);
    rc = page->id ? 0 : -1;
    if (rc == 0) {
        *ret_report = statement_make (page, error);
        rc = *ret_report ? 0 : -1;
    }
    for (size_t i = 0; i < STATEMENT_COUNTS; i++)
        free ((void *)page->counts[i].item);
    free (budgets);
    cube_free (page->waste);
    cube_free (unpriced);
    fields_clear (&waste_rows, &allocated);
    idle_free (idle, page->idle_count);
    return rc;
}

int statements_team (statements_t *s, const char *team, bool jobs,
                     report_t **ret_report, gl_error_t *error)
{
    const report_query_t all = s->query;
    statement_t page
        = {.team = month_team (s->now, s->site, s->query.site, team)};
    const char *name = page.team ? page.team : key_info (KEY_TEAM)->absent;
    usage_filter_t filter = {.key = KEY_TEAM, .values = {(char **)&name, 1}};
    statement_jobs_t *list = NULL;
    int rc = read_before (s, error);

    if (rc == 0 && !s->one)
        rc = count_jobs (s, error);
    s->query.filters = &filter;
    s->query.filter_count = 1;
    if (rc == 0)
        rc = count_jobs (s, error);
    if (rc == 0)
        rc = read_budgets (s, page.team, error);
    if (rc == 0 && jobs)
        rc = list_jobs (s, page.team, &list, error);
    if (rc == 0)
        rc = month_carbon (s->now, error);
    if (rc == 0 && statements_compared (s))
        rc = month_carbon (s->before, error);
    if (rc == 0) {
        page.list = list;
        rc = make_page (s, &page, ret_report, error);
    }
    statement_jobs_free (list);
    s->query.filters = all.filters;
    s->query.filter_count = all.filter_count;
    return rc;
}

/* --- institutions ---------------------------------------------------------- */

static bool is_institution (const site_t *site, const char *name)
{
    return !name
           || GL_ANY (site->teams, site->team_count, it,
                      text_same (it->institution, name))
           || GL_ANY (site->institutions, site->institution_count, it,
                      !strcmp (it->name, name));
}

static int no_institution (const site_t *site, const char *name,
                           gl_error_t *error)
{
    nearest_t nearest = {.word = name};

    for (size_t i = 0; i < site->institution_count; i++)
        nearest_offer (&nearest, site->institutions[i].name);
    for (size_t i = 0; i < site->team_count; i++)
        if (site->teams[i].institution)
            nearest_offer (&nearest, site->teams[i].institution);
    if (nearest.name)
        return gl_error (error,
                         "there is no institution '%s'; did you mean '%s'?",
                         name, nearest.name);
    return gl_error (error,
                     "there is no institution '%s': 'gpuledger report "
                     "chargeback --by institution' lists them",
                     name);
}

/* Of each of the teams. */
static int name_statements (month_t *month, const text_list_t *teams,
                            text_list_t *ret_ids, gl_error_t *error)
{
    for (size_t i = 0; i < teams->count; i++) {
        bool none = !strcmp (teams->item[i], key_info (KEY_TEAM)->absent);
        const char *id
            = month_statement (month, none ? NULL : teams->item[i], error);
        if (!id)
            return -1;
        texts_add (ret_ids, id);
    }
    return 0;
}

static int make_institution (const institution_t *of, month_t *month,
                             report_t **ret_report, gl_error_t *error)
{
    text_list_t teams = {.count = 0}, ids = {.count = 0};
    int rc;

    institution_teams (of->site, of->name, of->month, of->bill, &teams);
    rc = name_statements (month, &teams, &ids, error);
    if (rc == 0)
        *ret_report = institution_make (of, &teams, &ids);
    texts_clear (&teams);
    texts_clear (&ids);
    return rc;
}

int statements_institution (statements_t *s, const char *name,
                            report_t **ret_report, gl_error_t *error)
{
    report_query_t query = s->query, closed = s->query;
    institution_t of = {.query = &query,
                        .name = name,
                        .site = s->site,
                        .month = s->now->name,
                        .bill = s->now->bill,
                        .provisional = month_is_provisional (s->now),
                        .state = s->state,
                        .hash = *s->now->hash ? s->now->hash : NULL};

    /* as the statements of a closed month: the facts up to its closing */
    if (month_query (s->now, &closed, error) < 0)
        return -1;
    query.clusters = closed.clusters;
    query.cluster_count = closed.cluster_count;
    return is_institution (s->site, name)
                   || is_institution (s->query.site, name)
               ? make_institution (&of, s->now, ret_report, error)
               : no_institution (s->site, name, error);
}

/* --- all teams --------------------------------------------------------------- */

static int make_all (const institution_t *of, month_t *month,
                     report_t **ret_report, gl_error_t *error)
{
    text_list_t teams = {.count = 0}, ids = {.count = 0};
    size_t count;
    const posting_t *rows = postings (of->bill, &count);
    const char *last = NULL;
    int rc;

    for (size_t i = 0; i < count; i++) {
        const char *team
            = rows[i].team ? rows[i].team : key_info (KEY_TEAM)->absent;
        if (posting_is_due (&rows[i]) && !text_same (last, team))
            texts_add_new (&teams, last = team);
    }
    rc = name_statements (month, &teams, &ids, error);
    if (rc == 0)
        *ret_report = institution_all (of, month->disputed, &teams, &ids);
    texts_clear (&teams);
    texts_clear (&ids);
    return rc;
}

int month_amounts (month_t *month, const report_query_t *query,
                   report_t **ret_report, gl_error_t *error)
{
    GL_AUTOFREE char *state = month_state_text (month, query->site->zone);
    report_query_t own = *query, closed = *query;
    const site_t *site = month_site (month, error);
    const institution_t of = {.query = &own,
                              .site = site,
                              .month = month->name,
                              .bill = month->bill,
                              .provisional = month_is_provisional (month),
                              .state = state,
                              .hash = *month->hash ? month->hash : NULL,
                              .paper = month->paper};

    if (!site || month_query (month, &closed, error) < 0)
        return -1;
    own.clusters = closed.clusters;
    own.cluster_count = closed.cluster_count;
    return make_all (&of, month, ret_report, error);
}
