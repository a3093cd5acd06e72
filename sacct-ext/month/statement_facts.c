/* Statements: jobs and days of a month. */
#include <string.h>

#include "base/memory.h"
#include "facts/facts.h"
#include "facts/rollups.h"
#include "month/closed_usage.h"
#include "month/month_line_items.h"
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

static int begin_usage (struct making *m, const report_query_t *query,
                        gl_error_t *error)
{
    char *label;

    m->whole_query = usage_query_of (query);
    m->whole = usage_new (&m->whole_query);
    for (size_t i = 0; i < STATEMENT_COUNTS; i++) {
        m->usage_query[i] = usage_query_of (query);
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

static void end_usage (struct making *m)
{
    const usage_cell_t *whole;
    size_t count;

    for (size_t i = 0; i < STATEMENT_COUNTS; i++)
        m->s.counts[i] = counts_of (m, (statement_by_t)i);
    whole = usage_cells (m->whole, &count);
    m->s.jobs = count ? whole->jobs : 0;
}

static int count_jobs (struct making *m, gl_error_t *error)
{
    const rollups_query_t days = {.query = &m->query,
                                  .period = m->query.period};
    store_query_t facts = {.start = m->query.period.start,
                           .end = m->query.period.end,
                           .gpu_only = true};

    if (begin_usage (m, &m->query, error) < 0
        || (rollups_answer (&days)
                ? rollups_each (m->store, &days, take_rollup, m, error)
                : facts_each (m->store, m->query.site, &facts, take_fact, m,
                              error))
               < 0)
        return -1;
    end_usage (m);
    return 0;
}

int statement_count_closed (struct making *m, const closing_t *closing,
                            gl_error_t *error)
{
    report_query_t query = m->query;
    const closed_usage_sink_t sink = {accounts_new (), take_rollup, m};
    int rc;

    query.site = m->then;
    query.accounts = sink.accounts;
    query.period = (period_t){body_get_number (closing->body, "start"),
                              body_get_number (closing->body, "end")};
    rc = begin_usage (m, &query, error);
    if (rc == 0)
        rc = periods_usage (m->store, closing, &sink, error);
    if (rc == 0)
        end_usage (m);
    accounts_free (sink.accounts);
    return rc;
}

/* --- days -------------------------------------------------------------- */

static bool is_of_team (const struct making *m, const bill_day_t *day)
{
    return day->team && m->s.team ? strcmp (day->team, m->s.team) == 0
                                  : day->team == m->s.team;
}

/* All days up to `end`, so that a day without charges is seen. */
void statement_take_days (struct making *m, const zone_t *zone, int64_t end,
                          const bill_t *bill)
{
    period_t known = period_clip (m->query.period, (period_t){0, end});
    size_t count;
    const bill_day_t *days = bill_days (bill, &count);

    for (int64_t at = known.start; at < known.end;) {
        char name[ZONE_STAMP_SIZE];
        statement_day_t *day;
        m->days = xreallocarray (m->days, m->day_count + 1, sizeof (*m->days));
        day = &m->days[m->day_count++];
        day->start = at;
        mpz_init (day->units);
        zone_unit_name (zone, CALENDAR_DAY, at, name);
        for (size_t i = 0; i < count; i++)
            if (is_of_team (m, &days[i]) && !strcmp (days[i].day, name))
                mpz_add (day->units, day->units, days[i].units);
        at = zone_unit (zone, CALENDAR_DAY, at).end;
    }
    m->s.days = m->days;
    m->s.day_count = m->day_count;
}

/* --- one by one -------------------------------------------------------- */

static int take_row (const line_item_t *row, void *arg, gl_error_t *error)
{
    (void)error;
    statement_jobs_add (arg, row);
    return 0;
}

static int list_jobs (struct making *m, const bills_month_t *month,
                      gl_error_t *error)
{
    line_item_result_t result;

    if (!m->list)
        return 0;
    m->s.list = m->jobs = statement_jobs_new (m->s.team, m->query.site->zone);
    return line_items_of_month (m->store, m->query.site, month, take_row,
                                m->jobs, &result, error);
}

int statement_from_facts (struct making *m, const bills_month_t *month,
                          gl_error_t *error)
{
    if (count_jobs (m, error) < 0
        || bills_add_days (m->store, m->query.site, m->query.filters,
                           m->query.period, month->bill, error)
               < 0)
        return -1;
    statement_take_days (m, m->query.site->zone, report_as_of (&m->query),
                         month->bill);
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
