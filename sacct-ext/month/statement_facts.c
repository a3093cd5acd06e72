/* Statements: jobs and days of a month that is not closed. */
#include <string.h>

#include "base/memory.h"
#include "facts/facts.h"
#include "facts/rollups.h"
#include "month/detail.h"
#include "month/statements_private.h"

/* --- jobs -------------------------------------------------------------- */

static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    (void)error;
    for (size_t i = 0; i < STATEMENT_COUNTS; i++)
        usage_add (m->usage[i], fact->segment, fact->suspensions,
                   fact->suspension_count, fact->project);
    usage_add (m->whole, fact->segment, fact->suspensions,
               fact->suspension_count, fact->project);
    return 0;
}

static int take_rollup (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    struct making *m = arg;

    (void)error;
    for (size_t i = 0; i < STATEMENT_COUNTS; i++)
        usage_add_rollup (m->usage[i], rollup, ROLLUP_COUNTED);
    usage_add_rollup (m->whole, rollup, ROLLUP_COUNTED);
    return 0;
}

static usage_query_t usage_query_of (const report_query_t *query)
{
    return (usage_query_t){.site = query->site,
                           .period = query->period,
                           .filters = query->filters,
                           .filter_count = query->filter_count,
                           .accounts = query->accounts};
}

static int begin_usage (struct making *m, gl_error_t *error)
{
    char *label;

    m->whole_query = usage_query_of (&m->query);
    m->whole = usage_new (&m->whole_query);
    for (size_t i = 0; i < STATEMENT_COUNTS; i++) {
        m->usage_query[i] = usage_query_of (&m->query);
        if (report_keys_parse (statement_keys ((statement_by_t)i),
                               &m->usage_query[i].by, &label, error)
            < 0)
            return -1;
        m->usage[i] = usage_new (&m->usage_query[i]);
    }
    return 0;
}

static statement_counts_t counts_of (struct making *m, statement_by_t by)
{
    size_t count, keys = m->usage_query[by].by.count;
    const usage_cell_t *cells = usage_cells (m->usage[by], &count);

    m->counts[by] = xcalloc (count + 1, sizeof (*m->counts[by]));
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < keys; k++)
            m->counts[by][i].key[k] = cells[i].key[k];
        m->counts[by][i].jobs = cells[i].jobs;
    }
    return (statement_counts_t){m->counts[by], count};
}

static int count_jobs (struct making *m, gl_error_t *error)
{
    const rollups_query_t days = {.query = &m->query,
                                  .period = m->query.period};
    store_query_t facts = {.start = m->query.period.start,
                           .end = m->query.period.end,
                           .gpu_only = true};
    const usage_cell_t *whole;
    size_t count;

    if (begin_usage (m, error) < 0
        || (rollups_answer (&days)
                ? rollups_each (m->store, &days, take_rollup, m, error)
                : facts_each (m->store, m->query.site, &facts, take_fact, m,
                              error))
               < 0)
        return -1;
    for (size_t i = 0; i < STATEMENT_COUNTS; i++)
        m->s.counts[i] = counts_of (m, (statement_by_t)i);
    whole = usage_cells (m->whole, &count);
    m->s.jobs = count ? whole->jobs : 0;
    return 0;
}

/* --- days -------------------------------------------------------------- */

/* By day and team. */
static void take_line (const billing_line_t *line, void *arg)
{
    struct making *m = arg;
    const char *team = line->keys[1];
    civil_t civil;
    int64_t start;

    if (!line->in_period || line->line->kind == CHARGE_CREDIT
        || line->line->kind == CHARGE_PURCHASE || !line->keys[0]
        || (team && m->s.team ? strcmp (team, m->s.team) != 0
                              : team != m->s.team)
        || calendar_parse_date (line->keys[0], strlen (line->keys[0]), &civil)
               < 0)
        return;
    start = zone_instant (m->query.site->zone, &civil);
    for (size_t i = m->day_count; i-- > 0;) {
        if (m->days[i].start != start)
            continue;
        mpz_add (m->days[i].units, m->days[i].units, line->line->charge_units);
        return;
    }
}

static int take_billing (const billing_t *billing, void *arg,
                         gl_error_t *error)
{
    (void)error;
    billing_each (billing, take_line, arg);
    return 0;
}

/* All days up to as-of, so that a day without charges is seen. */
static int sum_days (struct making *m, gl_error_t *error)
{
    statement_begin_days (m, report_as_of (&m->query));
    return m->day_count == 0
               ? 0
               : bills_billing (m->store, m->query.site, "day,team",
                                m->query.filters, m->query.period,
                                take_billing, m, error);
}

/* --- one by one -------------------------------------------------------- */

static int take_row (const detail_row_t *row, void *arg, gl_error_t *error)
{
    (void)error;
    statement_jobs_add (arg, row);
    return 0;
}

static int list_jobs (struct making *m, const bills_month_t *month,
                      gl_error_t *error)
{
    detail_result_t result;

    if (!m->list)
        return 0;
    m->s.list = m->jobs = statement_jobs_new (m->s.team, m->query.site->zone);
    return detail_of_month (m->store, m->query.site, month, take_row, m->jobs,
                            &result, error);
}

int statement_from_facts (struct making *m, const bills_month_t *month,
                          gl_error_t *error)
{
    if (count_jobs (m, error) < 0 || sum_days (m, error) < 0)
        return -1;
    return list_jobs (m, month, error);
}

void statement_facts_done (struct making *m)
{
    for (size_t i = 0; i < STATEMENT_COUNTS; i++) {
        usage_free (m->usage[i]);
        free (m->counts[i]);
    }
    usage_free (m->whole);
}
