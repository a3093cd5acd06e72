/*
 * facts.h: one pass over the store: each segment with what belongs to it.
 *
 * Segments, suspensions, the nodes' records, usage of devices and retags come
 * in the same order and are joined as they stream by (evidence/evidence.h); memory
 * holds one job at a time, and of a job of which no node saw anything, nothing.
 */
#ifndef GL_FACTS_H
#define GL_FACTS_H

#include "base/buffer.h"
#include "base/error.h"
#include "evidence/evidence.h"
#include "evidence/measure.h"
#include "facts/facts_unmatched.h"
#include "site/account.h"
#include "site/project.h"
#include "site/segment.h"
#include "site/site.h"
#include "store/store.h"
#include "usage/capacity.h"

/* Borrowed for the call. */
typedef struct {
    const segment_t *segment;
    const suspension_t *suspensions;
    size_t suspension_count;
    const evidence_t *record;           /* that tags it; NULL: none */
    const segment_evidence_t *evidence; /* all that the nodes saw of it; NULL:
                                           of its job nothing at all */
    const project_t *project;
} fact_t;

/* Returns 0, or -1 with an error to end the pass. */
typedef int (*fact_f) (const fact_t *fact, void *arg, gl_error_t *error);

/* The segments of `query`, in the order (cluster, id_job, time_submit). */
int facts_each (store_t *store, const site_t *site, const store_query_t *query,
                fact_f callback, void *arg, gl_error_t *error);

/* At least those of the jobs with a segment that is wanted: where these are few, the
 * others cost no join. */
typedef bool (*facts_wanted_f) (const segment_t *segment, void *arg);
int facts_each_wanted (store_t *store, const site_t *site,
                       const store_query_t *query, facts_wanted_f wanted,
                       fact_f callback, void *arg, gl_error_t *error);

/* The same, and what came of the join. Usage of ids that are not among the
 * store's JobIds of the period is not looked at. */
int facts_each_unmatched (store_t *store, const site_t *site,
                          const store_query_t *query, fact_f callback,
                          void *arg, evidence_counts_t *ret_unmatched,
                          gl_error_t *error);

/* The same; and each attempt of a node that was recorded in the period and belongs
 * to no segment of its job. Borrowed for the call. */
typedef void (*facts_attempt_f) (const attempt_t *attempt, void *arg);
int facts_each_attempt (store_t *store, const site_t *site,
                        const store_query_t *query, fact_f callback,
                        facts_attempt_f attempt, void *arg, gl_error_t *error);

/* The same; what came of the join day by day of the ledger's zone, after the last
 * fact. */
int facts_each_by_day (store_t *store, const site_t *site,
                       const store_query_t *query, fact_f callback,
                       unmatched_f unmatched, void *arg, gl_error_t *error);

/* The clocks of the nodes (cluster NULL: of all clusters), as last measured: the
 * largest difference, into ret_counts; and those that are far enough off to
 * change the join, one line each. Either may be NULL. */
int facts_clocks (store_t *store, const char *cluster,
                  evidence_counts_t *ret_counts, buffer_t *text,
                  gl_error_t *error);

/* --- beside segments ----------------------------------------------------- */

/* What capacity needs beside the segments that facts_each() hands over for a
 * query with gpu_only: node events and reservations of the query's period, the
 * nodes' inventories, and segments without GPUs where the site asks for them. */
int facts_capacity (store_t *store, const store_query_t *query,
                    capacity_t *capacity, gl_error_t *error);

/* What agents measured in the period, which the query has, while no job held the
 * device. */
int facts_unheld (store_t *store, const site_t *site, const store_query_t *query,
                  measured_t *ret_measured, gl_error_t *error);

/* A stretch whose energy no device of that node can have used; the usage is as it was
 * sent but for the energy, which is in energy_refused_mj. `watts`: the limit. */
typedef void (*facts_refused_f) (const device_usage_t *usage, unsigned watts,
                                 void *arg);
int facts_each_refused (store_t *store, const site_t *site,
                        const store_query_t *query, facts_refused_f callback,
                        void *arg, gl_error_t *error);

/* The first fact of any cluster (store_extent()); 0: there is none. */
int facts_first (store_t *store, int64_t *ret_first, gl_error_t *error);

/* The account trees of the clusters, for teams that own a subtree. NULL with an
 * error; free with accounts_free(). */
accounts_t *facts_accounts (store_t *store, gl_error_t *error);
/* The same into a tree. */
int facts_add_accounts (store_t *store, accounts_t *accounts,
                        gl_error_t *error);

#endif /* !GL_FACTS_H */
