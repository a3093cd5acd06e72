/*
 * collector_origin.h: checks whether a credential made at this address may send
 * for this node of this cluster.
 *
 * `networks` of the configuration has the addresses of nodes. A node without an
 * entry is looked up by name (hosts file and DNS), without blocking; the result
 * is cached for ORIGIN_KEEP_SECONDS, a failure for a shorter time.
 *
 * An entry with a `cluster` says more: its network is that cluster's, and nothing
 * from there speaks for another one, be it that two clusters have nodes of the
 * same name, or that a node says it is elsewhere.
 */
#ifndef GL_COLLECTOR_ORIGIN_H
#define GL_COLLECTOR_ORIGIN_H

#include <netinet/in.h>
#include <stdbool.h>

#include "base/error.h"
#include "site/site.h"

struct event_base;

#define ORIGIN_KEEP_SECONDS 300
#define ORIGIN_KEEP_FAILURE_SECONDS 20
/* Names that are remembered; beyond, the one found first is forgotten. */
#define ORIGIN_NAMES_MAX 32768

typedef struct origins origins_t;

typedef enum {
    ORIGIN_ITS_OWN,
    ORIGIN_ANOTHER,       /* the node has another address */
    ORIGIN_OTHER_CLUSTER, /* the address belongs to another cluster */
    ORIGIN_UNRESOLVED,    /* the name has no address, now */
} origin_t;
typedef void (*origin_f) (void *arg, origin_t answer);

/* NULL with an error: an entry of `networks` that is none. */
origins_t *origins_new (struct event_base *base, const site_t *site,
                        gl_error_t *error);
/* Answers what still waits. Accepts NULL. */
void origins_free (origins_t *origins);

/* `cluster`: for which it speaks; "" where that is unspecified: then for that
 * of its network, if for any. `answer` may be called before this returns. */
void origins_ask (origins_t *origins, const char *cluster, const char *node,
                  struct in_addr origin, origin_f answer, void *arg);

/* May a node that may speak, do so for this cluster, too? */
bool origins_allow_cluster (const origins_t *origins, const char *cluster,
                            const char *node, struct in_addr origin);
/* The one cluster that `networks` leaves it; NULL: they leave several. */
const char *origins_cluster (const origins_t *origins, const char *node,
                             struct in_addr origin);

#endif /* !GL_COLLECTOR_ORIGIN_H */
