/* A summary, from the months: its page, trend, usage and budgets. */
#include <string.h>

#include "base/memory.h"
#include "month/budgets.h"
#include "month/chargebacks.h"
#include "month/month.h"
#include "month/summaries.h"
#include "statement/summary.h"

/* Months of the trend, the one of the page included: a year, and the same month of
 * the year before. */
#define TREND_MONTHS 13

/* What the page is made of. */
struct making {
    store_t *store;
    report_query_t query;
    const summaries_how_t *how;
    periods_t *own; /* read here */
    const periods_t *periods;
    summary_month_t trend[TREND_MONTHS];
    summary_t s;
    usage_query_t usage_query[2];
    usage_t *usage[2];  /* by keys, and all of it; NULL: not wanted */
    cube_t *own_before; /* waste of the month before that was made here */
};

/* --- months ------------------------------------------------------------------- */

/* The instant in the month that is `back` months before the query's. */
static int64_t month_before (const report_query_t *query, size_t back)
{
    int64_t at = query->period.start;

    for (; back > 0; back--)
        at = zone_unit (query->site->zone, CALENDAR_MONTH, at - 1).start;
    return at;
}

static int read_month (struct making *m, int64_t instant, month_how_t how,
                       month_t **ret, gl_error_t *error)
{
    char name[MONTH_SIZE];

    how.periods = m->periods;
    periods_month_of (m->query.site, instant, name);
    return month_read (m->store, m->query.site, name, &how, ret, error);
}

/* A month before the ledger begins is not shown, and so not computed. */
static const month_how_t of_ledger = {.billed = true};

static void add_trend (struct making *m, const month_t *month)
{
    summary_month_t *trend = &m->trend[m->s.trend_count];

    if (month->state == MONTH_BEFORE)
        return;
    free (trend->name); /* of a month before it that is not known */
    trend->name = xstrdup (month->name);
    summary_month_take (trend, m->query.site, month->bill);
    if (trend->known || m->s.trend_count > 0)
        m->s.trend_count++;
}

/* The last ones of those that the caller has. */
static void copy_earlier (struct making *m)
{
    const summaries_how_t *how = m->how;
    size_t first = how->earlier_count > TREND_MONTHS - 1
                       ? how->earlier_count - (TREND_MONTHS - 1)
                       : 0;

    for (size_t i = first; i < how->earlier_count; i++) {
        summary_month_t *trend = &m->trend[m->s.trend_count];
        if (!how->earlier[i].known && m->s.trend_count == 0)
            continue;
        summary_month_copy (trend, &how->earlier[i]);
        m->s.trend_count++;
    }
}

/* One month after the other, of which memory holds one. */
static int add_earlier (struct making *m, gl_error_t *error)
{
    if (m->how->now) {
        copy_earlier (m);
        return 0;
    }
    for (size_t back = TREND_MONTHS - 1; back > 1; back--) {
        month_t *month;
        if (read_month (m, month_before (&m->query, back), of_ledger, &month,
                        error)
            < 0)
            return -1;
        add_trend (m, month);
        month_free (month);
    }
    return 0;
}

/* --- usage --------------------------------------------------------------------- */

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    (void)error;
    for (size_t i = 0; i < 2 && m->usage[i]; i++) {
        usage_add (m->usage[i], fact->segment, fact->suspensions,
                   fact->suspension_count, fact->project);
        usage_measure (m->usage[i], fact->segment, fact->project,
                       fact->evidence);
    }
    return 0;
}

static int take_rollup (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    (void)error;
    for (size_t i = 0; i < 2 && m->usage[i]; i++)
        usage_add_rollup (m->usage[i], rollup, ROLLUP_COUNTED);
    return 0;
}

static int begin_usage (struct making *m, report_query_t *query, bool whole,
                        gl_error_t *error)
{
    char *label = NULL;

    if (report_keys_parse (summary_usage_keys, &query->by, &label, error) < 0)
        return -1;
    for (size_t i = 0; i < (whole ? 2 : 1); i++) {
        m->usage_query[i] = (usage_query_t){.site = query->site,
                                            .period = query->period,
                                            .accounts = query->accounts};
        if (i == 0)
            m->usage_query[i].by = query->by;
        m->usage[i] = usage_new (&m->usage_query[i]);
    }
    return 0;
}

/* `query`: the month's, which becomes that of its closing. `whole`: all of it, too. */
static int read_usage (struct making *m, month_t *month, report_query_t *query,
                       bool whole, gl_error_t *error)
{
    const month_usage_t to = {take_rollup, take_fact, m};

    return month_query (month, query, error) < 0
                   || begin_usage (m, query, whole, error) < 0
                   || month_usage (month, query, &to, error) < 0
               ? -1
               : 0;
}

static void forget_usage (struct making *m)
{
    for (size_t i = 0; i < 2; i++) {
        usage_free (m->usage[i]);
        m->usage[i] = NULL;
    }
}

/* What was wasted, by cause alone: other keys are borrowed of the usage. cube_free() it. */
static cube_t *by_cause (cube_t *waste)
{
    cube_t *causes = cube_new (&waste_rows, "what");

    cube_add_cube (causes, waste);
    return causes;
}

/* By cause; cube_free() it. Its sums are added to `to`, and to `also`, which may be NULL. */
static int read_waste (struct making *m, month_t *month, summary_month_t *to,
                       summary_month_t *also, cube_t **ret_waste,
                       gl_error_t *error)
{
    report_query_t query = m->query;
    const usage_cell_t *cells;
    cube_t *waste;
    size_t count;
    int rc;

    query.period = month->period;
    rc = read_usage (m, month, &query, false, error);
    if (rc == 0) {
        cells = usage_cells (m->usage[0], &count);
        waste = summary_waste_of (month->bill, cells, count);
        summary_month_waste (to, waste, cells, count);
        if (also)
            summary_month_waste (also, waste, cells, count);
        *ret_waste = by_cause (waste);
        cube_free (waste);
    }
    forget_usage (m);
    return rc;
}

static int add_usage (struct making *m, month_t *month, gl_error_t *error)
{
    report_query_t query = m->query;
    size_t count;
    const usage_cell_t *whole;

    if (read_usage (m, month, &query, true, error) < 0)
        return -1;
    m->s.usage = usage_cells (m->usage[0], &m->s.usage_count);
    m->s.waste = summary_waste_of (month->bill, m->s.usage, m->s.usage_count);
    summary_month_waste (&m->trend[m->s.trend_count - 1], m->s.waste,
                         m->s.usage, m->s.usage_count);
    if (m->how->sums)
        summary_month_waste (m->how->sums, m->s.waste, m->s.usage,
                             m->s.usage_count);
    whole = usage_cells (m->usage[1], &count);
    m->s.whole = count ? whole : NULL;
    /* as of when the facts speak; the period and its names stay as asked for */
    m->query.clusters = query.clusters;
    m->query.cluster_count = query.cluster_count;
    return 0;
}

/* --- the page ------------------------------------------------------------------ */

/* As of the end of the month, or of what is known of it. */
static int64_t as_of (const report_query_t *query)
{
    int64_t known = report_as_of (query);

    return known < query->period.end ? known : query->period.end;
}

static budgets_query_t ask_budgets (const struct making *m)
{
    return (budgets_query_t){.site = m->query.site, .as_of = as_of (&m->query)};
}

/* Of a month that is not closed its budgets are made, too, so that it is computed
 * once: with their days. */
static int read_now (struct making *m, month_t **ret, gl_error_t *error)
{
    const budgets_query_t asked = ask_budgets (m);
    month_how_t how = {.days = asked.site->budget_count > 0};
    usage_filter_t filter;
    char name[MONTH_SIZE];
    int rc;

    periods_month_of (asked.site, m->query.period.start, name);
    how.days = how.days && !periods_closing (m->periods, name);
    if (budgets_filter (&asked, &filter))
        how.filter = &filter;
    rc = read_month (m, m->query.period.start, how, ret, error);
    free (filter.values.item);
    return rc;
}

/* Budgets are those of the closing. */
static int make_page (struct making *m, month_t *now, const month_t *before,
                      report_t **ret_report, gl_error_t *error)
{
    GL_AUTOFREE char *state = month_state_text (now, m->query.site->zone);
    const site_t *site = month_site (now, error);
    variances_t *variances = NULL;
    budget_t **own = NULL;
    size_t count = 0;

    if (!site)
        return -1;
    m->query.site = site;
    m->s.budgets = m->how->budgets;
    m->s.budget_count = m->how->budget_count;
    if (!m->how->now) {
        const budgets_query_t of
            = {.site = site, .month = month_is_provisional (now) ? now : NULL};
        if (budgets_of_period (m->store, &m->query, &of, &own, &count, error)
            < 0)
            return -1;
        m->s.budgets = own;
        m->s.budget_count = count;
        variances = variances_new (m->s.before, now->bill,
                                   m->query.site->currency_digits);
    }
    m->s.variances = variances ? variances : m->how->variances;
    m->s.query = &m->query;
    m->s.month = now->name;
    m->s.before_month = before->name;
    m->s.state = state;
    m->s.bill = now->bill;
    m->s.paper = now->paper;
    m->s.trend = m->trend;
    *ret_report = summary_make (&m->s, error);
    budgets_free (own, count);
    variances_free (variances);
    return *ret_report ? 0 : -1;
}

static int waste_before (struct making *m, month_t *before, gl_error_t *error)
{
    summary_month_t *trend = &m->trend[m->s.trend_count - 2];

    m->s.waste_before = trend->waste_known ? m->how->waste_before : NULL;
    if (m->s.waste_before)
        return 0;
    if (read_waste (m, before, trend, m->how->sums_before, &m->own_before,
                    error)
        < 0)
        return -1;
    m->s.waste_before = m->own_before;
    return 0;
}

/* With the month before, if that is to be compared. */
static int compare (struct making *m, const month_t *now, month_t *before,
                    gl_error_t *error)
{
    size_t rows;

    postings (before->bill, &rows);
    m->s.goes_on = m->how->linked && month_goes_on (now, &m->query);
    m->s.before = rows > 0 && before->state != MONTH_BEFORE && !m->s.goes_on
                      ? before->bill
                      : NULL;
    return m->s.before && m->s.trend_count > 1 ? waste_before (m, before, error)
                                               : 0;
}

static int make_of (struct making *m, month_t *now, month_t *before,
                    report_t **ret_report, gl_error_t *error)
{
    int rc;

    if (!m->how->now)
        add_trend (m, before);
    add_trend (m, now);
    if (m->s.trend_count == 0) { /* nothing is known of any */
        free (m->trend[0].name);
        m->trend[0].name = xstrdup (now->name);
        m->s.trend_count = 1;
    }
    rc = compare (m, now, before, error);
    if (rc == 0)
        rc = add_usage (m, now, error);
    if (rc == 0)
        rc = month_carbon (now, error);
    if (rc == 0)
        rc = make_page (m, now, before, ret_report, error);
    if (rc == 0 && m->how->ret_waste)
        *m->how->ret_waste = by_cause (m->s.waste);
    forget_usage (m); /* of the month's configuration */
    cube_free (m->s.waste);
    cube_free (m->own_before);
    return rc;
}

static int make_of_months (struct making *m, report_t **ret_report,
                           gl_error_t *error)
{
    month_t *now = NULL, *before = NULL;
    int rc = -1;

    if (m->how->now)
        return make_of (m, m->how->now, m->how->before, ret_report, error);
    if (read_now (m, &now, error) == 0
        && read_month (m, month_before (&m->query, 1), of_ledger, &before,
                       error)
               == 0)
        rc = make_of (m, now, before, ret_report, error);
    month_free (now);
    month_free (before);
    return rc;
}

static int prepare (struct making *m, gl_error_t *error)
{
    report_query_t by_team = m->query;
    char *label = NULL;

    m->periods = m->how->periods;
    m->s.linked = m->how->linked;
    m->s.decisions = m->how->decisions;
    m->s.decided_month = m->how->decided_month;
    m->s.chargeback = m->how->chargeback;
    if (!m->periods) {
        if (periods_read (m->store, &m->own, error) < 0)
            return -1;
        m->periods = m->own;
    }
    if (!m->s.chargeback
        && (report_keys_parse ("team", &by_team.by, &label, error) < 0
            || chargebacks_make (m->store, &by_team, NULL, &m->s.chargeback,
                                 error)
                   < 0))
        return -1;
    return add_earlier (m, error);
}

int summaries_waste (store_t *store, const report_query_t *query,
                     month_t *month, summary_month_t *to, gl_error_t *error)
{
    struct making m = {.store = store, .query = *query};
    cube_t *waste = NULL;

    m.query.by.count = 0;
    if (read_waste (&m, month, to, NULL, &waste, error) < 0)
        return -1;
    cube_free (waste);
    return 0;
}

int summaries_make (store_t *store, const report_query_t *query,
                    const summaries_how_t *how, report_t **ret_report,
                    gl_error_t *error)
{
    static const summaries_how_t as_it_is = {.now = NULL};
    struct making m
        = {.store = store, .query = *query, .how = how ? how : &as_it_is};
    int rc;

    for (size_t i = 0; i < TREND_MONTHS; i++)
        summary_month_init (&m.trend[i]);
    m.query.by.count = 0;
    rc = prepare (&m, error);
    if (rc == 0)
        rc = make_of_months (&m, ret_report, error);
    for (size_t i = 0; i < TREND_MONTHS; i++)
        summary_month_clear (&m.trend[i]);
    if (!m.how->chargeback)
        report_free (m.s.chargeback);
    periods_free (m.own);
    return rc;
}
