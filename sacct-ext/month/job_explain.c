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

/* Of all jobs. */
struct explaining {
    store_t *store;
    const site_t *today;
    accounts_t *accounts;
    periods_t *periods; /* what was decided */
    store_cluster_t *stored;
    report_cluster_t *clusters;
    size_t cluster_count;
};

struct search {
    const struct explaining *of;
    const job_name_t *name;
    store_query_t query;
    period_t life; /* of all its segments */
    size_t found;
    bool parted;      /* one of them is a task or a component */
    job_rows_t *rows; /* of closed bills */
    struct group *group;
    explain_t *explain;
};

/* Jobs of the same months, which are computed once. */
struct group {
    period_t months;
    site_t *then;       /* the configuration of the closing */
    const site_t *site; /* it, or today's */
    report_query_t charges;
    billing_t *billing;
    bill_t *settled; /* of months that are not closed; NULL: no settlement */
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
    job_rows_add (search->rows, s);
    search->parted = search->parted || s->array_job || s->het_job;
    if (s->time_start == 0)
        return 0;
    if (search->life.start == 0 || s->time_start < search->life.start)
        search->life.start = s->time_start;
    if (segment_end (s) > search->life.end)
        search->life.end = segment_end (s);
    return 0;
}

static int each_segment (struct search *search, const site_t *site,
                         fact_f callback, gl_error_t *error)
{
    return facts_each (search->of->store, site, &search->query, callback,
                       search, error);
}

/* Tasks and components have JobIds of their own, which only a look at all
 * segments finds. */
static int find_job (struct search *search, gl_error_t *error)
{
    const job_name_t *name = search->name;

    search->query.cluster = name->cluster;
    search->query.id_job = name->mark ? 0 : name->id;
    if (each_segment (search, search->of->today, find_segment, error) < 0)
        return -1;
    if (search->query.id_job && (search->found == 0 || search->parted)) {
        search->query.id_job = 0;
        search->found = 0;
        job_rows_clear (search->rows);
        if (each_segment (search, search->of->today, find_segment, error) < 0)
            return -1;
    }
    return search->found > 0
               ? 0
               : gl_error (error, "the store knows no job %s%s%s", name->text,
                           name->cluster ? " of cluster " : "",
                           name->cluster ? name->cluster : "");
}

/* --- the charges of its months ----------------------------------------- */

/* Rows of closed months come with the job's own. */
static int take_settlement (month_t *m, void *arg, gl_error_t *error)
{
    struct group *group = arg;
    size_t count;
    const posting_t *rows = postings (m->bill, &count);

    (void)error;
    for (size_t i = 0; i < count && month_is_provisional (m); i++)
        if (rows[i].kind == BILL_CHARGE || rows[i].kind == BILL_SETTLEMENT)
            bill_add_copy (group->settled, &rows[i]);
    return 0;
}

static int read_settled (const struct explaining *of, struct group *group,
                         gl_error_t *error)
{
    const month_how_t how = {.periods = of->periods, .billed = true};

    if (!settlement_applies (group->site, group->months))
        return 0;
    group->settled = bill_new ();
    return months_each (of->store, group->site, group->months, &how,
                        take_settlement, group, error);
}

static int compute (const struct explaining *of, struct group *group,
                    gl_error_t *error)
{
    if (months_site (of->store, of->today, group->months, &group->then, error)
        < 0)
        return -1;
    group->site = group->then ? group->then : of->today;
    if (group->site->pool_count == 0 || group->months.start == 0)
        return 0;
    explain_query (group->site, group->months, &group->charges);
    group->charges.clusters = of->clusters;
    group->charges.cluster_count = of->cluster_count;
    group->charges.accounts = of->accounts;
    group->billing = billing_new (&group->charges);
    return bills_give_facts (of->store, group->billing, error) < 0
                   || bills_finish (of->store, group->billing, NULL, NULL,
                                    error)
                          < 0
               ? -1
               : read_settled (of, group, error);
}

/* The months that the job ran in; 0 to 0: it has not begun. */
static period_t months_of (const struct explaining *of, period_t life)
{
    const zone_t *zone = of->today->zone;

    if (life.start == 0)
        return life;
    return (period_t){
        zone_unit (zone, CALENDAR_MONTH, life.start).start,
        zone_unit (zone, CALENDAR_MONTH,
                   life.end > life.start ? life.end - 1 : life.start)
            .end};
}

/* --- second pass: the explanation -------------------------------------- */

static void explain_month (const job_month_t *month, void *arg)
{
    struct search *search = arg;
    const month_t *m = month->month;

    explain_billable (search->explain, m->name, m->bill, month->row,
                      month->count, m->paper->currency_digits);
}

static int explain_segment (const fact_t *fact, void *arg, gl_error_t *error)
{
    struct search *search = arg;
    const struct explaining *of = search->of;
    const struct group *group = search->group;

    (void)error;
    if (!matches (search->name, fact->segment))
        return 0;
    explain_add (search->explain, group->site, of->accounts, fact->segment,
                 fact->suspensions, fact->suspension_count, fact->evidence,
                 fact->project, group->billing, group->settled);
    job_rows_each (search->rows, fact->segment, explain_month, search);
    for (size_t i = 0; i < of->periods->decision_count; i++) {
        const decision_t *d = &of->periods->decisions[i];
        if (d->row)
            explain_decided (search->explain, group->site, fact->segment,
                             d->row, d->who, d->when);
    }
    return 0;
}

static int explain_one (struct search *search, gl_error_t *error)
{
    const struct explaining *of = search->of;

    search->explain = explain_new ("job", search->name->text);
    return job_rows_read (search->rows, of->store, of->today, of->periods,
                          search->life, error)
                   < 0
               ? -1
               : each_segment (search, search->group->site, explain_segment,
                               error);
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
    free (of->clusters);
    store_clusters_free (of->stored, of->cluster_count);
    periods_free (of->periods);
    accounts_free (of->accounts);
}

static void group_done (struct group *group)
{
    bill_free (group->settled);
    billing_free (group->billing);
    site_free (group->then);
}

/* The first search of the same months computes them; the last one frees them. */
static int explain_group (struct search *search, size_t count, size_t first,
                          gl_error_t *error)
{
    struct group group = {.months = months_of (search->of, search[first].life)};
    int rc = compute (search->of, &group, error);

    for (size_t i = first; i < count && rc == 0; i++) {
        period_t months = months_of (search->of, search[i].life);
        if (search[i].explain || months.start != group.months.start
            || months.end != group.months.end)
            continue;
        search[i].group = &group;
        rc = explain_one (&search[i], error);
    }
    group_done (&group);
    return rc;
}

int jobs_explain (store_t *store, const site_t *site, const job_name_t *jobs,
                  size_t count, explain_t **ret_explain, gl_error_t *error)
{
    struct explaining of = {.store = store, .today = site};
    struct search *search = xcalloc (count + 1, sizeof (*search));
    int rc = begin (&of, error);

    for (size_t i = 0; i < count; i++) {
        search[i].of = &of;
        search[i].name = &jobs[i];
        search[i].rows = job_rows_new ();
        if (rc == 0)
            rc = find_job (&search[i], error);
    }
    for (size_t i = 0; i < count && rc == 0; i++)
        if (!search[i].explain)
            rc = explain_group (search, count, i, error);
    for (size_t i = 0; i < count; i++) {
        if (rc == 0)
            ret_explain[i] = search[i].explain;
        else
            explain_free (search[i].explain);
        job_rows_free (search[i].rows);
    }
    free (search);
    end (&of);
    return rc;
}
