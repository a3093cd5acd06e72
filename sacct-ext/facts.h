/*
 * facts.h: one pass over the store: each segment with what belongs to it.
 *
 * Segments, suspensions and the nodes' records come in the same order and are
 * joined as they stream by; memory holds one job at a time.
 */
#ifndef GL_FACTS_H
#define GL_FACTS_H

#include "acct/account.h"
#include "acct/capacity.h"
#include "acct/project.h"
#include "acct/segment.h"
#include "acct/site.h"
#include "base/error.h"
#include "store/store.h"

/* Borrowed for the call. */
typedef struct {
    const segment_t *segment;
    const suspension_t *suspensions;
    size_t suspension_count;
    const evidence_t *record; /* what a node saw of it; NULL: nothing */
    const project_t *project;
} fact_t;

/* Returns 0, or -1 with an error to end the pass. */
typedef int (*fact_f) (const fact_t *fact, void *arg, gl_error_t *error);

/* The segments of `query`, in the order (cluster, id_job, time_submit). */
int facts_each (store_t *store, const site_t *site, const store_query_t *query,
                fact_f callback, void *arg, gl_error_t *error);

/* Node events and reservations of the query's period. */
int facts_capacity (store_t *store, const store_query_t *query,
                    capacity_t *capacity, gl_error_t *error);

/* The account trees of the clusters, for teams that own a subtree. NULL with an
 * error; free with accounts_free(). */
accounts_t *facts_accounts (store_t *store, gl_error_t *error);

#endif /* !GL_FACTS_H */
