/* A job's segments, their months' charges, and the steps between. */
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
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
    bool computed;
    report_query_t charges;
    billing_t *billing;
    bill_t *settled;
};

/* Whose lines of a month are kept, and the pools that are computed. */
enum { BY_USER, BY_POOL, FILTERS };

/* Of all jobs. */
struct explaining {
    store_t *store;
    struct search *search;
    size_t count;
    const site_t *today;
    period_t only; /* months that are explained; 0 to 0: all */
    accounts_t *accounts;
    periods_t *periods; /* what was decided */
    store_cluster_t *stored;
    report_cluster_t *clusters;
    size_t cluster_count;
    usage_filter_t filter[FILTERS]; /* of all jobs */
    usage_query_t by_pool;
    usage_t *pools;         /* of one month alone; NULL: all are computed */
    const site_t *then;     /* of that month; else of today */
    job_rows_t *rows;       /* of all jobs on closed bills */
    struct priced **priced; /* in the order of their months */
    size_t priced_count;
};

/* Of one of them. */
struct search {
    struct explaining *of;
    const job_name_t *name;
    bool whole;    /* looked for among all segments, not by its JobId */
    period_t life; /* of all its segments */
    size_t found;
    bool parted;                   /* one of them is a task or a component */
    const explain_month_t **month; /* that it ran in */
    size_t month_count;
    const site_t *site; /* of the last one; at first as it is looked for */
    explain_t *explain;
    bool explained;
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

/* --- a pass over their segments ----------------------------------------- */

typedef void (*take_f) (struct search *search, const fact_t *fact);

/* Of the jobs that are looked for alike. */
struct pass {
    const struct explaining *of;
    bool whole;
    const site_t *site;
    take_f take;
};

static bool takes_part (const struct pass *pass, const struct search *search)
{
    return search->whole == pass->whole && search->site == pass->site;
}

/* A segment with the JobId of one job may be a task of another. */
static int take_fact (const fact_t *fact, void *arg, gl_error_t *error)
{
    const struct pass *pass = arg;

    (void)error;
    for (size_t i = 0; i < pass->of->count; i++) {
        struct search *search = &pass->of->search[i];
        if (takes_part (pass, search) && matches (search->name, fact->segment)
            && (pass->whole || fact->segment->id_job == search->name->id))
            pass->take (search, fact);
    }
    return 0;
}

static int run_pass (struct pass *pass, gl_error_t *error)
{
    const struct explaining *of = pass->of;
    GL_AUTOFREE uint64_t *ids = xcalloc (of->count + 1, sizeof (*ids));
    store_query_t query = {.ids = ids};
    size_t count = 0;

    for (size_t i = 0; i < of->count; i++) {
        const job_name_t *name = of->search[i].name;
        if (!takes_part (pass, &of->search[i]))
            continue;
        if (count++ == 0)
            query.cluster = name->cluster;
        else if (!text_same (query.cluster, name->cluster))
            query.cluster = NULL;
        if (!pass->whole)
            query.id_count = store_ids_add (ids, query.id_count, name->id);
    }
    return count > 0 ? facts_each (of->store, pass->site, &query, take_fact,
                                   pass, error)
                     : 0;
}

/* --- first: which segments, and when ------------------------------------ */

static void find_segment (struct search *search, const fact_t *fact)
{
    const segment_t *s = fact->segment;

    search->found++;
    texts_add_new (&search->of->filter[BY_USER].values,
                   s->user ? s->user : key_info (KEY_USER)->absent);
    if (search->of->pools)
        usage_add (search->of->pools, s, fact->suspensions,
                   fact->suspension_count, fact->project);
    job_rows_add (search->of->rows, s);
    search->parted = search->parted || s->array_job || s->het_job;
    if (s->time_start == 0)
        return;
    if (search->life.start == 0 || s->time_start < search->life.start)
        search->life.start = s->time_start;
    if (segment_end (s) > search->life.end)
        search->life.end = segment_end (s);
}

static int find_segments (struct explaining *of, bool whole, gl_error_t *error)
{
    struct pass pass = {of, whole, of->then, find_segment};

    return run_pass (&pass, error);
}

/* Tasks and components have JobIds of their own, which only a look at all
 * segments finds. */
static int find_jobs (struct explaining *of, gl_error_t *error)
{
    if (find_segments (of, false, error) < 0)
        return -1;
    for (size_t i = 0; i < of->count; i++) {
        struct search *search = &of->search[i];
        if (search->found > 0 && !search->parted)
            continue;
        search->whole = true;
        search->found = 0;
    }
    return find_segments (of, true, error);
}

static void find_pools (struct explaining *of)
{
    size_t count = 0;
    const usage_cell_t *cells
        = of->pools ? usage_cells (of->pools, &count) : NULL;

    for (size_t i = 0; i < count; i++)
        if (cells[i].key[0])
            texts_add_new (&of->filter[BY_POOL].values, cells[i].key[0]);
}

static int check_found (const struct explaining *of, gl_error_t *error)
{
    for (size_t i = 0; i < of->count; i++) {
        const job_name_t *name = of->search[i].name;
        if (of->search[i].found == 0)
            return gl_error (error, "the store has no job %s%s%s", name->text,
                             name->cluster ? " of cluster " : "",
                             name->cluster ? name->cluster : "");
    }
    return 0;
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

    priced->computed = true;
    if (month->site->pool_count == 0)
        return 0;
    explain_query (month->site, month->period, &priced->charges);
    priced->charges.clusters = of->clusters;
    priced->charges.cluster_count = of->cluster_count;
    priced->charges.accounts = of->accounts;
    priced->charges.filters = of->filter;
    priced->charges.filter_count = of->pools ? FILTERS : BY_USER + 1;
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

/* With its configuration, not yet computed; NULL with an error. */
static struct priced *priced_at (struct explaining *of, period_t month,
                                 gl_error_t *error)
{
    size_t at = of->priced_count;
    struct priced **known = GL_FIND (of->priced, of->priced_count, it,
                                     (*it)->month.period.start == month.start);
    struct priced *priced;

    if (known)
        return *known;
    priced = xcalloc (1, sizeof (*priced));
    priced->month.period = month;
    if (months_site (of->store, of->today, month, &priced->then, error) < 0) {
        priced_free (priced);
        return NULL;
    }
    priced->month.site = priced->then ? priced->then : of->today;
    GL_APPEND (of->priced, of->priced_count);
    for (; at > 0 && of->priced[at - 1]->month.period.start > month.start; at--)
        of->priced[at] = of->priced[at - 1];
    of->priced[at] = priced;
    return priced;
}

static int month_at (struct explaining *of, period_t month, gl_error_t *error)
{
    struct priced *priced = priced_at (of, month, error);

    return priced && (priced->computed || compute (of, priced, error) == 0)
               ? 0
               : -1;
}

static bool is_asked (const struct explaining *of, period_t month)
{
    return of->only.end == 0
           || (month.start >= of->only.start && month.start < of->only.end);
}

/* Those that the job ran in, in their order. */
static int find_months (struct search *search, gl_error_t *error)
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
    search->month = xcalloc (of->priced_count + 1, sizeof (*search->month));
    for (size_t i = 0; i < of->priced_count; i++) {
        const explain_month_t *month = &of->priced[i]->month;
        if (month->period.start < life.end && month->period.end > life.start)
            search->month[search->month_count++] = month;
    }
    search->site = search->month_count > 0
                       ? search->month[search->month_count - 1]->site
                       : of->today;
    return 0;
}

/* --- then: the explanations --------------------------------------------- */

static void explain_month (const job_month_t *month, void *arg)
{
    const struct search *search = arg;
    const month_t *m = month->month;

    if (is_asked (search->of, m->period))
        explain_billable (search->explain, m->name, m->bill, month->row,
                          month->count, m->paper->currency_digits);
}

static void explain_segment (struct search *search, const fact_t *fact)
{
    const struct explaining *of = search->of;

    explain_add (search->explain, search->site, of->accounts, fact->segment,
                 fact->suspensions, fact->suspension_count, fact->evidence,
                 fact->project, search->month, search->month_count);
    if (of->only.end)
        explain_only (search->explain, search->site, of->only);
    job_rows_each (of->rows, fact->segment, explain_month, search);
    for (size_t i = 0; i < of->periods->decision_count; i++) {
        const decision_t *d = &of->periods->decisions[i];
        if (d->row)
            explain_decided (search->explain, search->site, fact->segment,
                             d->row, d->who, d->when);
    }
}

/* Those of months with one configuration together. */
static int explain_jobs (struct explaining *of, gl_error_t *error)
{
    for (size_t i = 0; i < of->count; i++) {
        if (find_months (&of->search[i], error) < 0)
            return -1;
        of->search[i].explain = explain_new ("job", of->search[i].name->text);
    }
    for (size_t i = 0; i < of->count; i++) {
        struct pass pass
            = {of, of->search[i].whole, of->search[i].site, explain_segment};
        if (of->search[i].explained)
            continue;
        if (run_pass (&pass, error) < 0)
            return -1;
        for (size_t k = i; k < of->count; k++)
            of->search[k].explained
                = of->search[k].explained || takes_part (&pass, &of->search[k]);
    }
    return 0;
}

/* --- all of them ---------------------------------------------------------- */

/* Of one month the pools that the jobs ran in are found with them: no other is computed. */
static int begin_pools (struct explaining *of, gl_error_t *error)
{
    period_t month
        = zone_unit (of->today->zone, CALENDAR_MONTH, of->only.start);
    const struct priced *priced;

    if (of->only.end <= of->only.start || of->only.end > month.end)
        return 0;
    priced = priced_at (of, month, error);
    if (!priced)
        return -1;
    of->then = priced->month.site;
    of->by_pool = (usage_query_t){.site = of->then,
                                  .period = month,
                                  .by = {.id = {KEY_POOL}, .count = 1},
                                  .without_jobs = true};
    of->pools = usage_new (&of->by_pool);
    return 0;
}

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
    return begin_pools (of, error);
}

static void end (struct explaining *of)
{
    job_rows_free (of->rows);
    usage_free (of->pools);
    for (size_t i = 0; i < FILTERS; i++)
        texts_clear (&of->filter[i].values);
    GL_FREE_EACH (of->priced, of->priced_count, it, priced_free (*it));
    free (of->search);
    free (of->clusters);
    store_clusters_free (of->stored, of->cluster_count);
    periods_free (of->periods);
    accounts_free (of->accounts);
}

/* Of all jobs, in which closed months have rows of theirs. */
static period_t life_of (const struct explaining *of)
{
    period_t all = {0, 0};

    for (size_t i = 0; i < of->count; i++) {
        period_t life = of->search[i].life;
        if (all.end == 0 || (life.start && life.start < all.start))
            all.start = life.start;
        if (life.end > all.end)
            all.end = life.end;
    }
    return of->only.end ? period_clip (all, of->only) : all;
}

int jobs_explain (store_t *store, const site_t *site, const job_name_t *jobs,
                  size_t count, const period_t *only, month_t *had,
                  explain_t **ret_explain, gl_error_t *error)
{
    struct explaining of
        = {.store = store,
           .search = xcalloc (count + 1, sizeof (*of.search)),
           .count = count,
           .today = site,
           .then = site,
           .filter
           = {[BY_USER] = {.key = KEY_USER}, [BY_POOL] = {.key = KEY_POOL}},
           .rows = job_rows_new (),
           .only = only ? *only : (period_t){0, 0}};
    int rc = begin (&of, error);

    for (size_t i = 0; i < count; i++)
        of.search[i] = (struct search){.of = &of,
                                       .name = &jobs[i],
                                       .whole = jobs[i].mark != 0,
                                       .site = of.then};
    if (rc == 0
        && (find_jobs (&of, error) < 0 || check_found (&of, error) < 0
            || job_rows_read (of.rows, store, site, of.periods, had,
                              life_of (&of), error)
                   < 0))
        rc = -1;
    find_pools (&of);
    if (rc == 0)
        rc = explain_jobs (&of, error);
    for (size_t i = 0; i < count; i++) {
        free (of.search[i].month);
        if (rc == 0)
            ret_explain[i] = of.search[i].explain;
        else
            explain_free (of.search[i].explain);
    }
    end (&of);
    return rc;
}
