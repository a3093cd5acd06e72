/*
 * reconcile.h: gathers what `report reconcile` compares: the store's segments
 * with slurmdbd's job rows and usage tables, with the nodes' records, with the
 * rollups that are kept, and what the store has revised.
 *
 * Both sides stream in the order of (id_job, time_submit); memory holds what
 * differs, the associations and the reservations, never the segments.
 */
#ifndef GL_RECONCILE_H
#define GL_RECONCILE_H

#include "evidence/reconcile.h"
#include "site/site.h"
#include "slurmdbd/slurmdbd.h"
#include "store/store.h"
#include "usage/query.h"

/* One cluster of the query, up to its as-of. `dbd` NULL: without slurmdbd's
 * database, the other sides alone; else it must have the cluster. */
int reconcile_cluster (store_t *store, const report_query_t *query,
                       const report_cluster_t *cluster, slurmdbd_t *dbd,
                       reconcile_t *reconcile, gl_error_t *error);

/* One side of it: every kept rollup of the period that today's configuration
 * would use: days against the facts, months against their days, byte by byte.
 */
int reconcile_rollups (store_t *store, const report_query_t *query,
                       const report_cluster_t *cluster, reconcile_t *reconcile,
                       gl_error_t *error);

#endif /* !GL_RECONCILE_H */
