/* Budgets: what was charged, closed months from their rows and others from facts
 * and configuration. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ledger/billing.h"
#include "money/charge.h"
#include "month/bills.h"
#include "month/budgets_private.h"
#include "month/closed_site.h"
#include "month/closed_sums.h"
#include "month/corrections.h"

static void add_first (struct filling *f, int64_t day)
{
    if (f->first == 0 || day < f->first)
        f->first = day;
}

static bool is_as_of_month (const struct filling *f, period_t month)
{
    return f->query->as_of - 1 >= month.start && f->query->as_of - 1 < month.end;
}

static void add_rate (struct filling *f, const char *pool, bool known,
                      mpq_srcptr per_hour)
{
    struct pool_rate *rate;

    f->rate = xreallocarray (f->rate, f->rate_count + 1, sizeof (*f->rate));
    rate = &f->rate[f->rate_count++];
    rate->pool = xstrdup (pool);
    rate->known = known;
    mpq_init (rate->per_hour);
    mpq_set (rate->per_hour, per_hour);
}

/* --- months that are not closed ---------------------------------------- */

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

    if (!line->in_period || !key[BY_DAY]) /* nobody's budget */
        return;
    add_first (f, day);
    mpq_init (units);
    mpq_set_z (units, line->line->charge_units);
    for (size_t i = 0; i < f->count; i++) {
        budget_t *b = f->budget[i];
        if ((b->of_money || line->line->kind == CHARGE_USED)
            && budget_takes (b, key[BY_TEAM], key[BY_PROJECT],
                             key[BY_ACCOUNT], key[BY_POOL]))
            budget_add (b, day, key[BY_USER],
                        b->of_money ? units : line->line->gpu_seconds,
                        priced || !b->of_money);
    }
    mpq_clear (units);
}

/* The day on which jobs held something first, whoever that was. */
static void take_first_used (struct filling *f, int64_t first)
{
    char day[ZONE_STAMP_SIZE];

    if (first > 0)
        add_first (f, start_of_day (f->query->site,
                                    zone_unit_name (f->query->site->zone,
                                                    CALENDAR_DAY, first, day)));
}

static int take_billing (const billing_t *billing, void *arg,
                         gl_error_t *error)
{
    struct filling *f = arg;
    size_t count;
    const pool_month_t *pm = billing_pool_months (billing, &count);

    (void)error;
    billing_each (billing, take_line, f);
    take_first_used (f, billing_first (billing));
    for (size_t i = 0; i < count; i++)
        if (is_as_of_month (f, pm[i].month))
            add_rate (f, pm[i].pool, pm[i].has_cost,
                      charge_full_rate (pm[i].charge));
    return 0;
}

/* What budgets may be of; one has one of them. */
static const struct {
    key_id_t key;
    size_t name; /* in site_budget_t */
} scopes[] = {
    {KEY_TEAM, offsetof (site_budget_t, team)},
    {KEY_PROJECT, offsetof (site_budget_t, project)},
    {KEY_ACCOUNT, offsetof (site_budget_t, account)},
    {KEY_POOL, offsetof (site_budget_t, pool)},
};

/* Passes what some budget is of; days of all else need not be told apart, which is
 * most of the lines. False: budgets are of this and that. */
static bool make_filter (const struct filling *f, usage_filter_t *filter)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (scopes); i++) {
        filter->key = scopes[i].key;
        filter->values.count = 0;
        for (size_t k = 0; k < f->count; k++) {
            const site_budget_t *entry = f->budget[k]->budget;
            char *name = *(char *const *)((const char *)entry + scopes[i].name);
            if (name)
                filter->values.item[filter->values.count++] = name;
        }
        if (filter->values.count == f->count)
            return true;
    }
    return false;
}

static int add_computed (store_t *store, struct filling *f, period_t period,
                         gl_error_t *error)
{
    usage_filter_t filter = {.label = NULL};
    bool filtered;
    int rc;

    if (period.start >= period.end)
        return 0;
    filter.values.item = xcalloc (f->count + 1, sizeof (*filter.values.item));
    filtered = make_filter (f, &filter);
    rc = bills_billing (store, f->query->site, charge_keys,
                        filtered ? &filter : NULL, period, take_billing, f,
                        error);
    free (filter.values.item);
    return rc;
}

/* Corrections, and manual rows. */
static int add_brought (store_t *store, struct filling *f,
                        const periods_t *periods, const char *month,
                        int64_t start, gl_error_t *error)
{
    bill_t *bill = bill_new ();
    int rc = corrections_adjustments (store, f->query->site, periods, month, bill,
                                  error);
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count && rc == 0; i++)
        for (size_t k = 0; k < f->count; k++)
            budget_add_brought (f->budget[k], &rows[i], start);
    bill_free (bill);
    return rc;
}

/* --- months that are --------------------------------------------------- */

/* `first`: its first day with a charge; of all days where none were kept. */
static void take_first (struct filling *f, const budget_month_t *month,
                        const char *first)
{
    size_t count;
    const posting_t *rows = postings (month->bill, &count);

    if (first)
        add_first (f, start_of_day (f->query->site, first));
    for (size_t i = 0; i < count && !first; i++)
        if (rows[i].kind == BILL_CHARGE)
            add_first (f, month->period.start);
}

static bool is_budgeted (const char *team, const char *project,
                         const char *account, const char *pool, void *arg)
{
    const struct filling *f = arg;

    for (size_t i = 0; i < f->count; i++)
        if (budget_takes (f->budget[i], team, project, account, pool))
            return true;
    return false;
}

static void take_closed (struct filling *f, const budget_month_t *month,
                         const char *first)
{
    size_t pools;
    const bill_pool_t *pool = bill_pools (month->bill, &pools);

    take_first (f, month, first);
    for (size_t i = 0; i < f->count; i++)
        budget_add_closed (f->budget[i], month);
    for (size_t i = 0; i < pools && is_as_of_month (f, month->period); i++)
        add_rate (f, pool[i].pool, pool[i].has_cost, pool[i].full_rate);
}

static int add_closed (store_t *store, struct filling *f,
                       const closing_t *closing, period_t period,
                       gl_error_t *error)
{
    budget_month_t month = {.period = period};
    line_item_sums_t *sums = NULL;
    bill_t *bill = NULL;
    int rc = closed_site_same_currency (closing, f->query->site, error);

    if (rc == 0)
        rc = periods_bill (store, closing, &bill, error);
    if (rc == 0)
        rc = closed_sums (store, closing, is_budgeted, f, &sums, error);
    if (rc == 0) {
        month.bill = bill;
        month.days = line_item_sums (sums, &month.day_count);
        take_closed (f, &month, line_item_sums_first (sums));
    }
    line_item_sums_free (sums);
    bill_free (bill);
    return rc;
}

/* --- all of them ------------------------------------------------------- */

/* `computed`: the months before it that are not closed and wait. */
static int add_month (store_t *store, struct filling *f,
                      const periods_t *periods, period_t month,
                      period_t *computed, gl_error_t *error)
{
    char name[MONTH_SIZE];
    const closing_t *closing;
    int rc;

    periods_month_of (f->query->site, month.start, name);
    closing = periods_closing (periods, name);
    if (!closing) {
        computed->end
            = month.end < f->query->as_of ? month.end : f->query->as_of;
        return add_brought (store, f, periods, name, month.start, error);
    }
    rc = add_computed (store, f, *computed, error);
    if (rc == 0)
        rc = add_closed (store, f, closing, month, error);
    *computed = (period_t){month.end, month.end};
    return rc;
}

static int64_t since (const struct filling *f)
{
    const budgets_query_t *q = f->query;
    int64_t earliest = q->as_of;

    for (size_t i = 0; i < f->count; i++) {
        int64_t at = budget_since (q->site, f->budget[i]->budget, q->as_of);
        if (at < earliest)
            earliest = at;
    }
    return earliest;
}

int budgets_add_charges (store_t *store, struct filling *f, gl_error_t *error)
{
    int64_t at = since (f);
    period_t computed = {at, at};
    periods_t *periods;
    int rc;

    if (periods_read (store, &periods, error) < 0)
        return -1;
    for (rc = 0; rc == 0 && at < f->query->as_of;) {
        period_t month = zone_unit (f->query->site->zone, CALENDAR_MONTH, at);
        rc = add_month (store, f, periods, month, &computed, error);
        at = month.end;
    }
    if (rc == 0)
        rc = add_computed (store, f, computed, error);
    periods_free (periods);
    return rc;
}
