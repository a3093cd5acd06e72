/* A job's segments, their months' charges, and the steps between. */
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "facts/facts.h"
#include "ledger/settlement.h"
#include "month/bills.h"
#include "month/job_charge.h"
#include "month/job_explain.h"
#include "month/month.h"

/* A month that jobs ran in, computed once. */
struct priced {
    explain_month_t month;
    site_t *then; /* the configuration of the closing; NULL: today's holds */
    report_query_t charges;
    billing_t *billing;
    bill_t *settled;
};

/* Of all jobs. */
struct explaining {
    store_t *store;
    const site_t *today;
    period_t only; /* months that are explained; 0 to 0: all */
    accounts_t *accounts;
    periods_t *periods; /* what was decided */
    store_cluster_t *stored;
    report_cluster_t *clusters;
    size_t cluster_count;
    usage_filter_t
        users;        /* of all jobs: of the lines of a month theirs are kept */
    job_rows_t *rows; /* of all jobs on closed bills */
    period_t life;    /* of all jobs */
    struct priced **priced; /* in the order of their months */
    size_t priced_count;
};

struct search {
    struct explaining *of;
    const job_name_t *name;
    store_query_t query;
    period_t life; /* of all its segments */
    size_t found;
    bool parted;      /* one of them is a task or a component */
    job_rows_t *rows; /* of closed bills */
    explain_t *explain;
};

int job_name_parse (const char *text, job_name_t *job)
{
    size_t length = strcspn (text, "_+");

    job->text = text;
    job->mark = text[length];
    return number_u64 (text, length, &job->id) < 0 || job->id == 0
                   || (job->mark
                       && number_u64_text (text + length + 1, &job->part) < 0)
               ? -1
               : 0;
}

static bool matches (const job_name_t *job, const segment_t *s)
{
    if (job->cluster && strcmp (job->cluster, s->cluster))
        return false;
    if (job->mark == '_')
        return s->array_job == job->id && s->array_task == job->part;
    if (job->mark == '+')
        return s->het_job == job->id && s->het_offset == job->part;
    return s->id_job == job->id || s->array_job == job->id
           || s->het_job == job->id;
}

/* --- first pass: which segments, and when ------------------------------ */

static int find_segment (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct search *search = arg;
    const segment_t *s = fact->segment;

    (void)error;
    if (!matches (search->name, s))
        return 0;
    search->found++;
    texts_add_new (&search->of->users.values,
                   s->user ? s->user : key_info (KEY_USER)->absent);
    job_rows_add (search->of->rows, s);
    search->parted = search->parted || s->array_job || s->het_job;
    if (s->time_start == 0)
        return 0;
    if (search->life.start == 0 || s->time_start < search->life.start)
        search->life.start = s->time_start;
    if (segment_end (s) > search->life.end)
        search->life.end = segment_end (s);
    return 0;
}

static int find_segments (struct search *search, gl_error_t *error)
{
    return facts_each (search->of->store, search->of->today, &search->query,
                       find_segment, search, error);
}

/* Tasks and components have JobIds of their own, which only a look at all
 * segments finds. */
static int find_job (struct search *search, gl_error_t *error)
{
    const job_name_t *name = search->name;

    search->query.cluster = name->cluster;
    search->query.id_job = name->mark ? 0 : name->id;
    if (find_segments (search, error) < 0)
        return -1;
    if (search->query.id_job && (search->found == 0 || search->parted)) {
        search->query.id_job = 0;
        search->found = 0;
        if (find_segments (search, error) < 0)
            return -1;
    }
    return search->found > 0
               ? 0
               : gl_error (error, "the store has no job %s%s%s", name->text,
                           name->cluster ? " of cluster " : "",
                           name->cluster ? name->cluster : "");
}

/* --- the charges of its months ----------------------------------------- */

/* Rows of closed months come with the job's own. */
static int take_settlement (month_t *m, void *arg, gl_error_t *error)
{
    struct priced *priced = arg;
    size_t count;
    const posting_t *rows = postings (m->bill, &count);

    (void)error;
    for (size_t i = 0; i < count && month_is_provisional (m); i++)
        if (rows[i].kind == BILL_CHARGE || rows[i].kind == BILL_SETTLEMENT)
            bill_add_copy (priced->settled, &rows[i]);
    return 0;
}

static int read_settled (const struct explaining *of, struct priced *priced,
                         gl_error_t *error)
{
    const month_how_t how = {.periods = of->periods, .billed = true};

    if (!settlement_applies (priced->month.site, priced->month.period))
        return 0;
    priced->month.settled = priced->settled = bill_new ();
    return months_each (of->store, priced->month.site, priced->month.period,
                        &how, take_settlement, priced, error);
}

static int compute (const struct explaining *of, struct priced *priced,
                    gl_error_t *error)
{
    explain_month_t *month = &priced->month;

    if (months_site (of->store, of->today, month->period, &priced->then, error)
        < 0)
        return -1;
    month->site = priced->then ? priced->then : of->today;
    if (month->site->pool_count == 0)
        return 0;
    explain_query (month->site, month->period, &priced->charges);
    priced->charges.clusters = of->clusters;
    priced->charges.cluster_count = of->cluster_count;
    priced->charges.accounts = of->accounts;
    priced->charges.filters = &of->users;
    priced->charges.filter_count = 1;
    month->billing = priced->billing = billing_new (&priced->charges);
    return bills_give_facts (of->store, priced->billing, error) < 0
                   || bills_finish (of->store, priced->billing, NULL, NULL,
                                    error)
                          < 0
               ? -1
               : read_settled (of, priced, error);
}

static void priced_free (struct priced *priced)
{
    bill_free (priced->settled);
    billing_free (priced->billing);
    site_free (priced->then);
    free (priced);
}

static int month_at (struct explaining *of, period_t month, gl_error_t *error)
{
    size_t at = of->priced_count;
    struct priced *priced;

    if (GL_ANY (of->priced, of->priced_count, it,
                (*it)->month.period.start == month.start))
        return 0;
    priced = xcalloc (1, sizeof (*priced));
    priced->month.period = month;
    if (compute (of, priced, error) < 0) {
        priced_free (priced);
        return -1;
    }
    GL_APPEND (of->priced, of->priced_count);
    for (; at > 0 && of->priced[at - 1]->month.period.start > month.start; at--)
        of->priced[at] = of->priced[at - 1];
    of->priced[at] = priced;
    return 0;
}

static bool is_asked (const struct explaining *of, period_t month)
{
    return of->only.end == 0
           || (month.start >= of->only.start && month.start < of->only.end);
}

/* Those that the job ran in, in their order; the caller frees the array. */
static int months_of (struct search *search, const explain_month_t ***ret,
                      size_t *ret_count, gl_error_t *error)
{
    struct explaining *of = search->of;
    const zone_t *zone = of->today->zone;
    period_t life = search->life;

    if (life.start != 0 && life.end <= life.start)
        life.end = life.start + 1;
    for (int64_t at = life.start; at < life.end;) {
        period_t month = zone_unit (zone, CALENDAR_MONTH, at);
        if (is_asked (of, month) && month_at (of, month, error) < 0)
            return -1;
        at = month.end;
    }
    *ret = xcalloc (of->priced_count + 1, sizeof (**ret));
    *ret_count = 0;
    for (size_t i = 0; i < of->priced_count; i++) {
        const explain_month_t *month = &of->priced[i]->month;
        if (month->period.start < life.end && month->period.end > life.start)
            (*ret)[(*ret_count)++] = month;
    }
    return 0;
}

/* --- second pass: the explanation -------------------------------------- */

/* What the segments of a job are explained with. */
struct second_pass {
    struct search *search;
    const explain_month_t **month;
    size_t month_count;
    const site_t *site; /* of the last month */
};

static void explain_month (const job_month_t *month, void *arg)
{
    struct second_pass *pass = arg;
    const month_t *m = month->month;

    if (is_asked (pass->search->of, m->period))
        explain_billable (pass->search->explain, m->name, m->bill, month->row,
                          month->count, m->paper->currency_digits);
}

static int explain_segment (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct second_pass *pass = arg;
    struct search *search = pass->search;
    const struct explaining *of = search->of;

    (void)error;
    if (!matches (search->name, fact->segment))
        return 0;
    explain_add (search->explain, pass->site, of->accounts, fact->segment,
                 fact->suspensions, fact->suspension_count, fact->evidence,
                 fact->project, pass->month, pass->month_count);
    if (of->only.end)
        explain_only (search->explain, pass->site, of->only);
    job_rows_each (of->rows, fact->segment, explain_month, pass);
    for (size_t i = 0; i < of->periods->decision_count; i++) {
        const decision_t *d = &of->periods->decisions[i];
        if (d->row)
            explain_decided (search->explain, pass->site, fact->segment, d->row,
                             d->who, d->when);
    }
    return 0;
}

static int explain_one (struct search *search, gl_error_t *error)
{
    const struct explaining *of = search->of;
    struct second_pass pass = {.search = search};
    int rc = months_of (search, &pass.month, &pass.month_count, error);

    pass.site
        = pass.month_count ? pass.month[pass.month_count - 1]->site : of->today;
    search->explain = explain_new ("job", search->name->text);
    if (rc == 0)
        rc = facts_each (of->store, pass.site, &search->query, explain_segment,
                         &pass, error);
    free (pass.month);
    return rc;
}

/* --- all of them ---------------------------------------------------------- */

static int begin (struct explaining *of, gl_error_t *error)
{
    of->accounts = facts_accounts (of->store, error);
    if (!of->accounts || periods_read (of->store, &of->periods, error) < 0
        || store_clusters (of->store, &of->stored, &of->cluster_count, error)
               < 0)
        return -1;
    of->clusters = xcalloc (of->cluster_count + 1, sizeof (*of->clusters));
    for (size_t i = 0; i < of->cluster_count; i++)
        if (bills_cluster (of->store, of->today, &of->stored[i],
                           &of->clusters[i], error)
            < 0)
            return -1;
    return 0;
}

static void end (struct explaining *of)
{
    job_rows_free (of->rows);
    texts_clear (&of->users.values);
    GL_FREE_EACH (of->priced, of->priced_count, it, priced_free (*it));
    free (of->clusters);
    store_clusters_free (of->stored, of->cluster_count);
    periods_free (of->periods);
    accounts_free (of->accounts);
}

static void add_life (period_t *all, period_t life)
{
    if (all->end == 0 || (life.start && life.start < all->start))
        all->start = life.start;
    if (life.end > all->end)
        all->end = life.end;
}

int jobs_explain (store_t *store, const site_t *site, const job_name_t *jobs,
                  size_t count, const period_t *only, month_t *had,
                  explain_t **ret_explain, gl_error_t *error)
{
    struct explaining of = {.store = store,
                            .today = site,
                            .users = {.key = KEY_USER},
                            .rows = job_rows_new (),
                            .only = only ? *only : (period_t){0, 0}};
    struct search *search = xcalloc (count + 1, sizeof (*search));
    int rc = begin (&of, error);

    for (size_t i = 0; i < count; i++) {
        search[i].of = &of;
        search[i].name = &jobs[i];
        if (rc == 0)
            rc = find_job (&search[i], error);
        add_life (&of.life, search[i].life);
    }
    if (rc == 0)
        rc = job_rows_read (of.rows, store, site, of.periods, had,
                            only ? period_clip (of.life, *only) : of.life,
                            error);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = explain_one (&search[i], error);
    for (size_t i = 0; i < count; i++) {
        if (rc == 0)
            ret_explain[i] = search[i].explain;
        else
            explain_free (search[i].explain);
    }
    free (search);
    end (&of);
    return rc;
}
