#include <string.h>

#include "acct/charge.h"
#include "base/memory.h"
#include "bills.h"
#include "budgets.h"
#include "facts.h"
#include "report/billing.h"

/* Budgets in the making. */
struct filling {
    const budgets_query_t *query;
    budget_t **budget;
    size_t count;
    int64_t first; /* day with a charge of anybody; 0: none */
};

void budgets_free (budget_t **budgets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        budget_free (budgets[i]);
    free (budgets);
}

/* --- charges by day ---------------------------------------------------- */

static const char charge_keys[] = "day,team,project,account,pool,user";
enum { BY_DAY, BY_TEAM, BY_PROJECT, BY_ACCOUNT, BY_POOL, BY_USER };

static int64_t start_of_day (const site_t *site, const char *day)
{
    civil_t civil;

    if (!day || calendar_parse_date (day, strlen (day), &civil) < 0)
        return 0;
    return zone_instant (site->zone, &civil);
}

static void take_line (const billing_line_t *line, void *arg)
{
    struct filling *f = arg;
    const char *const *key = line->keys;
    const pool_month_t *pm = line->pool_month;
    int64_t day = start_of_day (f->query->site, key[BY_DAY]);
    bool priced = pm->has_cost || pm->has_rate;
    mpq_t units;

    if (!line->in_period)
        return;
    if (f->first == 0 || day < f->first)
        f->first = day;
    mpq_init (units);
    mpq_set_z (units, line->line->charge_units);
    for (size_t i = 0; i < f->count; i++) {
        budget_t *b = f->budget[i];
        if (budget_takes (b, key[BY_TEAM], key[BY_PROJECT], key[BY_ACCOUNT],
                          key[BY_POOL]))
            budget_add (b, day, key[BY_USER],
                        b->of_money ? units : line->line->gpu_seconds,
                        priced || !b->of_money);
    }
    mpq_clear (units);
}

static int take_billing (const billing_t *billing, void *arg,
                         gl_error_t *error)
{
    (void)error;
    billing_each (billing, take_line, arg);
    return 0;
}

static int add_charges (store_t *store, struct filling *f, gl_error_t *error)
{
    const budgets_query_t *q = f->query;
    period_t period = {q->as_of, q->as_of};

    for (size_t i = 0; i < f->count; i++) {
        int64_t since
            = budget_since (q->site, f->budget[i]->budget, q->as_of);
        if (since < period.start)
            period.start = since;
    }
    return bills_billing (store, q->site, charge_keys, period, take_billing, f,
                          error);
}

/* --- all together ------------------------------------------------------ */

static bool is_wanted (const budgets_query_t *q, const site_budget_t *entry)
{
    return q->as_of - 1 >= entry->valid.start
           && q->as_of - 1 < entry->valid.end
           && (!q->name || strcmp (q->name, entry->name) == 0)
           && (!q->team
               || (entry->team && strcmp (q->team, entry->team) == 0));
}

int budgets_compute (store_t *store, const budgets_query_t *query,
                     budget_t ***ret_budgets, size_t *ret_count,
                     gl_error_t *error)
{
    struct filling f = {.query = query};
    int rc = 0;

    f.budget = xcalloc (query->site->budget_count + 1, sizeof (*f.budget));
    for (size_t i = 0; i < query->site->budget_count; i++) {
        if (is_wanted (query, &query->site->budgets[i]))
            f.budget[f.count++] = budget_new (
                query->site, &query->site->budgets[i], query->as_of);
    }
    if (f.count > 0 && query->as_of > 0)
        rc = add_charges (store, &f, error);
    for (size_t i = 0; i < f.count && rc == 0; i++)
        budget_compute (f.budget[i], query->window, f.first);
    if (rc < 0) {
        budgets_free (f.budget, f.count);
        return -1;
    }
    *ret_budgets = f.budget;
    *ret_count = f.count;
    return 0;
}

int budgets_of_team (store_t *store, const site_t *site, const char *team,
                     const report_query_t *query, budget_t ***ret_budgets,
                     size_t *ret_count, gl_error_t *error)
{
    int64_t as_of = report_as_of (query);
    budgets_query_t q = {.site = site, .team = team, .window = BUDGET_LAST_28};

    *ret_budgets = NULL;
    *ret_count = 0;
    q.as_of = as_of < query->period.end ? as_of : query->period.end;
    if (!team || q.as_of <= query->period.start)
        return 0;
    return budgets_compute (store, &q, ret_budgets, ret_count, error);
}
