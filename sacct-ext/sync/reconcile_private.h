/* reconcile_private.h: the sides of reconcile.c that have a file of their own.
 */
#ifndef GL_RECONCILE_PRIVATE_H
#define GL_RECONCILE_PRIVATE_H

#include "sync/reconcile.h"

/* Every kept rollup of the period that today's configuration would use: days
 * against the facts, months against their days, byte by byte. */
int reconcile_rollups (store_t *store, const report_query_t *query,
                       const report_cluster_t *cluster, reconcile_t *reconcile,
                       gl_error_t *error);

#endif /* !GL_RECONCILE_PRIVATE_H */
