/*
 * facts_clocks.h: how far off the clocks of nodes are, as last measured, for the
 * join of what they saw (evidence/evidence.h). Of a node the newest measurement counts.
 */
#ifndef GL_FACTS_CLOCKS_H
#define GL_FACTS_CLOCKS_H

#include "base/error.h"
#include "evidence/evidence.h"
#include "store/store.h"

/* Those far enough off to matter, by cluster; texts are its own. */
typedef struct {
    node_skew_t *skew;
    char **cluster;
    size_t count;
    bool known;         /* some node's was measured */
    int64_t largest_ms; /* of all nodes */
} clocks_t;

/* `cluster` NULL: all. Into zeroes; clocks_done() after success and failure. */
int clocks_read (clocks_t *clocks, store_t *store, const char *cluster,
                 gl_error_t *error);
/* How many are the cluster's, from *ret_first on, which is set if there are any. */
size_t clocks_of (const clocks_t *clocks, const char *cluster,
                  const node_skew_t **ret_first);
void clocks_done (clocks_t *clocks);

#endif /* !GL_FACTS_CLOCKS_H */
