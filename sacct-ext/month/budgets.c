#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "facts/facts.h"
#include "money/charge.h"
#include "month/budgets.h"
#include "month/month.h"

/* Budgets in the making. */
struct filling {
    const budgets_query_t *query;
    budget_t **budget;
    size_t count;
    int64_t first;      /* day with a charge of anybody; 0: none */
    bill_t *rates;      /* the pools in the month of as-of */
    uint64_t unlimited; /* running jobs without a known time limit */
};

void budgets_free (budget_t **budgets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        budget_free (budgets[i]);
    free (budgets);
}

/* --- what was charged -------------------------------------------------- */

static bool is_as_of_month (const struct filling *f, period_t month)
{
    return f->query->as_of - 1 >= month.start
           && f->query->as_of - 1 < month.end;
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

static bool is_wanted (const budgets_query_t *q, const site_budget_t *entry)
{
    return q->as_of - 1 >= entry->valid.start && q->as_of - 1 < entry->valid.end
           && (!q->name || strcmp (q->name, entry->name) == 0)
           && (!q->team
               || (entry->team && texts_have (&entry->team_names, q->team)));
}

/* Of the budgets that are wanted all that are of such a thing, and of a team only if it has
 * one name; how many are wanted. */
static size_t take_names (const budgets_query_t *q, key_id_t key, size_t name,
                          text_list_t *ret_names)
{
    size_t wanted = 0;

    ret_names->count = 0;
    for (size_t i = 0; i < q->site->budget_count; i++) {
        const site_budget_t *entry = &q->site->budgets[i];
        char *of = *(char *const *)((const char *)entry + name);
        if (!is_wanted (q, entry))
            continue;
        wanted++;
        if (of && (key != KEY_TEAM || entry->team_names.count == 1))
            ret_names->item[ret_names->count++] = of;
    }
    return wanted;
}

/* Days of all else need not be told apart, which is most of the lines. False: budgets
 * are of this and that. */
bool budgets_filter (const budgets_query_t *q, usage_filter_t *ret)
{
    *ret = (usage_filter_t){.label = NULL};
    ret->values.item
        = xcalloc (q->site->budget_count + 1, sizeof (*ret->values.item));
    for (size_t i = 0; i < GL_ARRAY_SIZE (scopes); i++) {
        ret->key = scopes[i].key;
        if (take_names (q, scopes[i].key, scopes[i].name, &ret->values)
            == ret->values.count)
            return true;
    }
    return false;
}

static void take_first (struct filling *f, int64_t first)
{
    if (first > 0 && (f->first == 0 || first < f->first))
        f->first = zone_unit (f->query->site->zone, CALENDAR_DAY, first).start;
}

static int take_month (month_t *m, void *arg, gl_error_t *error)
{
    struct filling *f = arg;
    size_t count;
    const bill_pool_t *pool;
    period_t period = {m->period.start, f->query->as_of};

    (void)error;
    if (period.end > m->period.end || m->version > 0)
        period.end = m->period.end;
    take_first (f, m->first);
    budget_cache_add (f->query->cache, f->query->site, m, period, f->budget,
                      f->count);
    pool = bill_pools (m->bill, &count);
    for (size_t i = 0; i < count && is_as_of_month (f, period); i++)
        fields_copy (&bill_fields[BILL_POOLS],
                     bill_append (f->rates, BILL_POOLS), &pool[i]);
    return 0;
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

/* Moves *first back to where the month begins, if that is earlier. */
static int take_earlier (const site_t *site, const char *month, int64_t *first,
                         gl_error_t *error)
{
    period_t period;

    if (periods_month (site, month, &period, error) < 0)
        return -1;
    if (period.start < *first)
        *first = period.start;
    return 0;
}

/* Before the first fact, closing or decision nobody is charged, but for what is
 * bought. */
static int find_start (store_t *store, const struct filling *f,
                       const periods_t *p, int64_t *ret_start,
                       gl_error_t *error)
{
    const site_t *site = f->query->site;
    int64_t first;
    int rc = facts_first (store, &first, error);

    *ret_start = since (f);
    if (first == 0 || first > f->query->as_of)
        first = f->query->as_of;
    for (size_t i = 0; i < p->closing_count && rc == 0; i++)
        rc = take_earlier (site, p->closings[i].month, &first, error);
    for (size_t i = 0; i < p->decision_count && rc == 0; i++)
        rc = take_earlier (site, p->decisions[i].month, &first, error);
    if (first == f->query->as_of) /* nothing is known: the month before it */
        first--;
    first = zone_unit (site->zone, CALENDAR_MONTH, first).start;
    if (first > *ret_start && site->entitlement_count == 0)
        *ret_start = first;
    return rc;
}

/* Each month that the cache does not have. */
static int add_months (store_t *store, struct filling *f, int64_t start,
                       const month_how_t *how, gl_error_t *error)
{
    const budgets_query_t *q = f->query;
    int rc = 0;

    while (start < q->as_of && rc == 0) {
        period_t month = zone_unit (q->site->zone, CALENDAR_MONTH, start);
        period_t part = {start, month.end < q->as_of ? month.end : q->as_of};
        char name[MONTH_SIZE];
        int64_t first;
        periods_month_of (q->site, start, name);
        if (!is_as_of_month (f, month)
            && budget_cache_get (q->cache, q->site, how->periods, name,
                                 f->budget, f->count, &first))
            take_first (f, first);
        else
            rc = months_each (store, q->site, part, how, take_month, f, error);
        start = month.end;
    }
    return rc;
}

/* Up to as-of, and the rates of its month. */
static int add_charges (store_t *store, struct filling *f, gl_error_t *error)
{
    month_how_t how = {.until = f->query->as_of, .had = f->query->month};
    usage_filter_t filter;
    periods_t *periods;
    int64_t start;
    int rc;

    if (periods_read (store, &periods, error) < 0)
        return -1;
    how.periods = periods;
    how.filter = budgets_filter (f->query, &filter) ? &filter : NULL;
    how.days = GL_ANY (f->budget, f->count, it, !(*it)->budget->team);
    how.team_days = true;
    if (how.had && how.had->by_team && how.days)
        how.had = NULL;
    rc = find_start (store, f, periods, &start, error);
    if (rc == 0)
        rc = add_months (store, f, start, &how, error);
    budget_cache_forget (f->query->cache, start);
    periods_free (periods);
    free (filter.values.item);
    return rc;
}

/* --- running jobs ------------------------------------------------------ */

/* What running jobs may still hold: usage from as-of on, up to their limits. */
struct running {
    struct filling *f;
    usage_query_t query;
    usage_t *usage;
    int64_t *cuts; /* ends of the budgets' periods, ascending */
    size_t cut_count;
    char *label;
};

static const char running_keys[] = "team,project,account,pool,qos,partition";
enum { RUN_TEAM, RUN_PROJECT, RUN_ACCOUNT, RUN_POOL, RUN_QOS, RUN_PARTITION };

static int take_running (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct running *r = arg;
    int64_t as_of = r->f->query->as_of;
    segment_t rest = *fact->segment;

    (void)error;
    if (rest.time_start <= 0 || rest.time_start > as_of || rest.believed_end
        || (rest.time_end && rest.time_end <= as_of))
        return 0;
    if (rest.time_limit == SECONDS_UNKNOWN) {
        r->f->unlimited++;
        return 0;
    }
    rest.time_end = rest.time_start + rest.time_limit;
    rest.time_start = as_of;
    rest.suspended = 0;
    if (rest.time_end > as_of)
        usage_add (r->usage, &rest, NULL, 0, fact->project);
    return 0;
}

/* Per GPU-hour by price weights, in the currency; false: not known. */
static bool price_of (const struct filling *f, const char *pool,
                      const rate_card_price_t *price, mpq_t ret)
{
    size_t count;
    const bill_pool_t *full = NULL, *pools = bill_pools (f->rates, &count);
    mpq_t share;

    for (size_t i = 0; i < count; i++)
        if (strcmp (pools[i].pool, pool) == 0)
            full = &pools[i];
    if (!price->rate && (!full || !full->has_cost))
        return false;
    mpq_set (ret,
             price->rate ? rate_list_price (price->rate) : full->full_rate);
    if (!price->rule)
        return true;
    mpq_init (share);
    mpq_set_ui (share, 1, 1);
    mpq_sub (share, share, price->rule->subsidy);
    mpq_mul (ret, ret, share);
    mpq_mul (ret, ret, price->rule->multiplier);
    mpq_clear (share);
    return true;
}

static int encumber_part (const struct running *r, budget_t *b,
                          const usage_cell_t *cell, const usage_part_t *from,
                          gl_error_t *error)
{
    const site_t *site = r->f->query->site;
    charge_part_t part;
    mpq_t price;
    int rc = 0;

    charge_part_init (&part);
    mpq_init (price);
    if (charge_part_measure (
            site,
            (rate_subject_t){.qos = cell->key[RUN_QOS],
                             .partition = cell->key[RUN_PARTITION],
                             .team = cell->key[RUN_TEAM],
                             .instant = r->f->query->as_of},
            from, &part, error)
        < 0)
        rc = -1;
    else if (!b->of_money && b->of_cpus == from->kind->cpu)
        budget_encumber (b, part.gpu_seconds);
    else if (!b->of_money)
        rc = 0;
    else if (price_of (r->f, cell->key[RUN_POOL], &part.price, price)) {
        mpq_mul (price, price, part.price_seconds);
        mpz_mul_ui (mpq_denref (price), mpq_denref (price), 3600);
        for (int i = 0; i < site->currency_digits; i++)
            mpz_mul_ui (mpq_numref (price), mpq_numref (price), 10);
        mpq_canonicalize (price);
        budget_encumber (b, price);
    }
    mpq_clear (price);
    charge_part_clear (&part);
    return rc;
}

/* The cell lies before the period's end. */
static bool is_within (const struct running *r, const budget_t *b,
                       const usage_cell_t *cell)
{
    return cell->cut == 0 || r->cuts[cell->cut - 1] < b->period.end;
}

static int encumber (struct running *r, gl_error_t *error)
{
    size_t count;
    const usage_cell_t *cells = usage_cells (r->usage, &count);

    for (size_t i = 0; i < count; i++) {
        const char *const *key = cells[i].key;
        for (size_t k = 0; k < r->f->count && key[RUN_POOL]; k++) {
            budget_t *b = r->f->budget[k];
            if (!is_within (r, b, &cells[i])
                || !budget_takes (b, key[RUN_TEAM], key[RUN_PROJECT],
                                  key[RUN_ACCOUNT], key[RUN_POOL]))
                continue;
            for (size_t p = 0; p < cells[i].part_count; p++) {
                if (encumber_part (r, b, &cells[i], &cells[i].part[p], error)
                    < 0)
                    return -1;
            }
        }
    }
    return 0;
}

static int add_running (store_t *store, struct filling *f,
                        const accounts_t *accounts, gl_error_t *error)
{
    int64_t as_of = f->query->as_of;
    store_query_t facts
        = {.start = as_of - 1, .end = as_of + 1, .gpu_only = true};
    struct running r = {.f = f};
    int rc;

    r.cuts = xcalloc (f->count + 1, sizeof (*r.cuts));
    for (size_t i = 0; i < f->count; i++)
        r.cuts[i] = f->budget[i]->period.end;
    r.cut_count = instants_sort (r.cuts, f->count);
    r.query = (usage_query_t){.site = f->query->site,
                              .period = {as_of, r.cuts[r.cut_count - 1]},
                              .cuts = r.cuts,
                              .cut_count = r.cut_count,
                              .accounts = accounts,
                              .without_jobs = true};
    if (report_keys_parse (running_keys, &r.query.by, &r.label, error) < 0) {
        free (r.cuts);
        return -1;
    }
    r.usage = usage_new (&r.query);
    rc = facts_each (store, f->query->site, &facts, take_running, &r, error);
    if (rc == 0)
        rc = encumber (&r, error);
    usage_free (r.usage);
    free (r.cuts);
    return rc;
}

/* --- all together ------------------------------------------------------ */

static int fill (store_t *store, struct filling *f, gl_error_t *error)
{
    accounts_t *accounts = facts_accounts (store, error);
    int rc = accounts ? add_charges (store, f, error) : -1;

    if (rc == 0)
        rc = add_running (store, f, accounts, error);
    accounts_free (accounts);
    return rc;
}

int budgets_compute (store_t *store, const budgets_query_t *query,
                     budget_t ***ret_budgets, size_t *ret_count,
                     gl_error_t *error)
{
    struct filling f = {.query = query, .rates = bill_new ()};
    int rc = 0;

    f.budget = xcalloc (query->site->budget_count + 1, sizeof (*f.budget));
    for (size_t i = 0; i < query->site->budget_count; i++) {
        if (is_wanted (query, &query->site->budgets[i]))
            f.budget[f.count++] = budget_new (
                query->site, &query->site->budgets[i], query->as_of);
    }
    if (f.count > 0 && query->as_of > 0)
        rc = fill (store, &f, error);
    for (size_t i = 0; i < f.count && rc == 0; i++)
        budget_compute (f.budget[i], query->window, f.first);
    bill_free (f.rates);
    if (rc < 0) {
        budgets_free (f.budget, f.count);
        return -1;
    }
    if (query->ret_unlimited)
        *query->ret_unlimited = f.unlimited;
    *ret_budgets = f.budget;
    *ret_count = f.count;
    return 0;
}

int budgets_of_period (store_t *store, const report_query_t *query,
                       const budgets_query_t *of, budget_t ***ret_budgets,
                       size_t *ret_count, gl_error_t *error)
{
    int64_t as_of = report_as_of (query);
    budgets_query_t q = *of;

    *ret_budgets = NULL;
    *ret_count = 0;
    q.window = BUDGET_LAST_28;
    q.as_of = as_of < query->period.end ? as_of : query->period.end;
    if (q.as_of <= query->period.start)
        return 0;
    return budgets_compute (store, &q, ret_budgets, ret_count, error);
}
