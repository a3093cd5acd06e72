#include <string.h>

#include "base/memory.h"
#include "facts.h"

/* The records of one job id, copied: the iterator's strings do not stay. */
struct records {
    char *cluster;
    uint64_t id_job;
    evidence_t *record;
    size_t count;
    size_t size;
};

struct pass {
    const site_t *site;
    store_segment_iter_t *segments;
    store_evidence_iter_t *evidence;
    store_suspension_iter_t *suspensions;
    evidence_t next_record; /* valid while more_records */
    suspension_t next_suspension;
    int more_records;
    int more_suspensions;
    struct records records;
    suspension_t *suspension; /* of the segment in hand */
    size_t suspension_count;
    size_t suspension_size;
};

static int compare_id (const char *cluster, uint64_t id_job,
                       const char *other_cluster, uint64_t other_id)
{
    int order = strcmp (cluster, other_cluster);

    return order ? order : (id_job > other_id) - (id_job < other_id);
}

static void clear_records (struct records *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free ((char *)r->record[i].node);
        free ((char *)r->record[i].project);
        free ((char *)r->record[i].labels);
        free ((char *)r->record[i].gpus);
    }
    r->count = 0;
    free (r->cluster);
    r->cluster = NULL;
}

static void keep_record (struct records *r, const evidence_t *e)
{
    evidence_t copy = *e;

    copy.cluster = r->cluster;
    copy.node = xstrdup (e->node);
    copy.project = xstrdup (e->project);
    copy.labels = xstrdup (e->labels);
    copy.gpus = xstrdup (e->gpus);
    if (r->count == r->size) {
        r->size = r->size ? r->size * 2 : 8;
        r->record = xreallocarray (r->record, r->size, sizeof (*r->record));
    }
    r->record[r->count++] = copy;
}

static int next_record (struct pass *p, gl_error_t *error)
{
    p->more_records
        = store_evidence_iter_next (p->evidence, &p->next_record, error);
    return p->more_records < 0 ? -1 : 0;
}

/* All records of the segment's job id; those of ids before it are skipped. */
static int take_records (struct pass *p, const segment_t *s, gl_error_t *error)
{
    struct records *r = &p->records;
    int order;

    if (r->cluster
        && compare_id (r->cluster, r->id_job, s->cluster, s->id_job) == 0)
        return 0;
    clear_records (r);
    r->cluster = xstrdup (s->cluster);
    r->id_job = s->id_job;
    while (p->more_records) {
        order = compare_id (p->next_record.cluster, p->next_record.id_job,
                            s->cluster, s->id_job);
        if (order > 0)
            break;
        if (order == 0)
            keep_record (r, &p->next_record);
        if (next_record (p, error) < 0)
            return -1;
    }
    return 0;
}

static int next_suspension (struct pass *p, gl_error_t *error)
{
    p->more_suspensions = store_suspension_iter_next (
        p->suspensions, &p->next_suspension, error);
    return p->more_suspensions < 0 ? -1 : 0;
}

static int compare_segment (const suspension_t *x, const segment_t *s)
{
    int order = compare_id (x->cluster, x->id_job, s->cluster, s->id_job);

    if (order)
        return order;
    return (x->time_submit > s->time_submit)
           - (x->time_submit < s->time_submit);
}

static int take_suspensions (struct pass *p, const segment_t *s,
                             gl_error_t *error)
{
    p->suspension_count = 0;
    while (p->more_suspensions) {
        int order = compare_segment (&p->next_suspension, s);
        if (order > 0)
            break;
        if (order == 0) {
            if (p->suspension_count == p->suspension_size) {
                p->suspension_size = p->suspension_size * 2 + 8;
                p->suspension = xreallocarray (
                    p->suspension, p->suspension_size, sizeof (*p->suspension));
            }
            p->suspension[p->suspension_count] = p->next_suspension;
            p->suspension[p->suspension_count++].cluster = s->cluster;
        }
        if (next_suspension (p, error) < 0)
            return -1;
    }
    return 0;
}

static int hand_over (struct pass *p, const segment_t *s, fact_f callback,
                      void *arg, gl_error_t *error)
{
    project_t project;
    fact_t fact = {.segment = s, .project = &project};

    if (take_records (p, s, error) < 0 || take_suspensions (p, s, error) < 0)
        return -1;
    fact.suspensions = p->suspension_count ? p->suspension : NULL;
    fact.suspension_count = p->suspension_count;
    fact.record = project_record (s, p->records.record, p->records.count);
    project_resolve (p->site, s, fact.record, NULL, &project);
    return callback (&fact, arg, error);
}

static int run (struct pass *p, fact_f callback, void *arg, gl_error_t *error)
{
    segment_t segment;
    int more;

    if (next_record (p, error) < 0 || next_suspension (p, error) < 0)
        return -1;
    while ((more = store_segment_iter_next (p->segments, &segment, error))
           > 0) {
        if (hand_over (p, &segment, callback, arg, error) < 0)
            return -1;
    }
    return more;
}

int facts_each (store_t *store, const site_t *site, const store_query_t *query,
                fact_f callback, void *arg, gl_error_t *error)
{
    struct pass p = {.site = site};
    int rc = -1;

    if ((p.segments = store_segment_iter_open (store, query, error))
        && (p.evidence = store_evidence_iter_open (store, query, error))
        && (p.suspensions = store_suspension_iter_open (store, query, error)))
        rc = run (&p, callback, arg, error);
    store_suspension_iter_close (p.suspensions);
    store_evidence_iter_close (p.evidence);
    store_segment_iter_close (p.segments);
    clear_records (&p.records);
    free (p.records.record);
    free (p.suspension);
    return rc;
}

static int add_events (store_t *store, const store_query_t *query,
                       capacity_t *capacity, gl_error_t *error)
{
    store_event_iter_t *iter = store_event_iter_open (store, query, error);
    node_event_t event;
    int more = -1;

    while (iter && (more = store_event_iter_next (iter, &event, error)) > 0)
        capacity_add_event (capacity, &event);
    store_event_iter_close (iter);
    return more;
}

static int add_reservations (store_t *store, const store_query_t *query,
                             capacity_t *capacity, gl_error_t *error)
{
    store_reservation_iter_t *iter
        = store_reservation_iter_open (store, query, error);
    reservation_t reservation;
    int more = -1;

    while (iter
           && (more = store_reservation_iter_next (iter, &reservation, error))
                  > 0)
        capacity_add_reservation (capacity, &reservation);
    store_reservation_iter_close (iter);
    return more;
}

int facts_capacity (store_t *store, const store_query_t *query,
                    capacity_t *capacity, gl_error_t *error)
{
    if (add_events (store, query, capacity, error) < 0)
        return -1;
    return add_reservations (store, query, capacity, error);
}

accounts_t *facts_accounts (store_t *store, gl_error_t *error)
{
    store_account_iter_t *iter = store_account_iter_open (store, NULL, error);
    accounts_t *accounts = accounts_new ();
    store_account_t account;
    int more = -1;

    while (iter && (more = store_account_iter_next (iter, &account, error)) > 0)
        accounts_add (accounts, account.cluster, account.name, account.parent);
    store_account_iter_close (iter);
    if (more == 0)
        return accounts;
    accounts_free (accounts);
    return NULL;
}
