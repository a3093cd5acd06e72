#include <string.h>

#include "evidence/energy_bound.h"
#include "evidence/runaway.h"
#include "facts/facts.h"
#include "facts/facts_inventory.h"

static int add_events (store_t *store, const store_query_t *query,
                       capacity_t *capacity, gl_error_t *error)
{
    store_iter_t *iter = store_iter_open (store, STORE_EVENTS, query, error);
    node_event_t event;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &event, error)) > 0)
        capacity_add_event (capacity, &event);
    store_iter_close (iter);
    return more;
}

static int add_reservations (store_t *store, const store_query_t *query,
                             capacity_t *capacity, gl_error_t *error)
{
    store_iter_t *iter
        = store_iter_open (store, STORE_RESERVATIONS, query, error);
    reservation_t reservation;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &reservation, error)) > 0)
        capacity_add_reservation (capacity, &reservation);
    store_iter_close (iter);
    return more;
}

/* Those without a GPU take CPUs and memory of the nodes. */
static int add_others (store_t *store, const store_query_t *query,
                       capacity_t *capacity, gl_error_t *error)
{
    store_query_t all = *query;
    store_iter_t *iter;
    segment_t s;
    int more = -1;

    all.gpu_only = false;
    iter = store_iter_open (store, STORE_SEGMENTS, &all, error);
    while (iter && (more = store_iter_next (iter, &s, error)) > 0) {
        if (s.gpu_asked || (s.gres && s.gres[0]))
            continue;
        if (s.time_end == 0)
            s.believed_end
                = runaway_judge (&s, NULL, 0, NULL,
                                 capacity_site (capacity)->policy.runaway_grace)
                      .end;
        capacity_add_segment (capacity, &s);
    }
    store_iter_close (iter);
    return more;
}

int facts_capacity (store_t *store, const store_query_t *query,
                    capacity_t *capacity, gl_error_t *error)
{
    if (add_events (store, query, capacity, error) < 0
        || add_reservations (store, query, capacity, error) < 0
        || (capacity_site (capacity)->pool_count > 0
            && facts_add_inventory (store, query->cluster, capacity, error) < 0)
        || (capacity_wants_cpus (capacity) && query->gpu_only
            && !site_counts_cpus (capacity_site (capacity))
            && add_others (store, query, capacity, error) < 0))
        return -1;
    return 0;
}

int facts_add_accounts (store_t *store, accounts_t *accounts,
                        gl_error_t *error)
{
    store_iter_t *iter = store_iter_open (store, STORE_ACCOUNTS, NULL, error);
    store_account_t account;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &account, error)) > 0)
        accounts_add (accounts, account.cluster, account.name, account.parent);
    store_iter_close (iter);
    return more;
}

accounts_t *facts_accounts (store_t *store, gl_error_t *error)
{
    accounts_t *accounts = accounts_new ();

    if (facts_add_accounts (store, accounts, error) == 0)
        return accounts;
    accounts_free (accounts);
    return NULL;
}

int facts_each_refused (store_t *store, const site_t *site,
                        const store_query_t *query, facts_refused_f callback,
                        void *arg, gl_error_t *error)
{
    energy_bound_t *bound = energy_bound_new (site);
    store_iter_t *iter = store_iter_open (store, STORE_USAGE, query, error);
    store_usage_t u;
    int more = -1;

    while (iter && (more = store_iter_next (iter, &u, error)) > 0)
        if (energy_bound_apply (bound, &u.usage))
            callback (&u.usage, energy_bound_watts (bound, &u.usage), arg);
    store_iter_close (iter);
    energy_bound_free (bound);
    return more;
}

int facts_unheld (store_t *store, const site_t *site, const store_query_t *query,
                  measured_t *ret_measured, gl_error_t *error)
{
    store_query_t of_none = *query;
    const period_t period = {query->start, query->end};
    energy_bound_t *bound = energy_bound_new (site);
    store_iter_t *iter;
    store_usage_t u;
    int more = -1;

    of_none.jobs = STORE_OF_NO_JOB;
    measured_init (ret_measured);
    iter = store_iter_open (store, STORE_USAGE, &of_none, error);
    while (iter && (more = store_iter_next (iter, &u, error)) > 0) {
        int64_t from = u.usage.begin_ms, to = u.usage.end_ms;
        energy_bound_apply (bound, &u.usage);
        if (from < period.start * 1000)
            from = period.start * 1000;
        if (to > period.end * 1000)
            to = period.end * 1000;
        if (from < to)
            measured_add (ret_measured, &u.usage, from, to, period,
                          fraction (1, 1),
                          (measured_why_t){IDLE_OTHER, LOSS_NONE});
    }
    store_iter_close (iter);
    energy_bound_free (bound);
    return more;
}

int facts_first (store_t *store, int64_t *ret_first, gl_error_t *error)
{
    store_cluster_t *clusters;
    size_t count;
    int rc = 0;

    *ret_first = 0;
    if (store_clusters (store, &clusters, &count, error) < 0)
        return -1;
    for (size_t i = 0; i < count && rc == 0; i++) {
        int64_t start = 0, as_of;
        rc = store_extent (store, clusters[i].name, &start, &as_of, error);
        if (start > 0 && (*ret_first == 0 || start < *ret_first))
            *ret_first = start;
    }
    store_clusters_free (clusters, count);
    return rc;
}
