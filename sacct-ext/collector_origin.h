/*
 * collector_origin.h: may a credential that was made at this address speak for
 * this node?
 *
 * `networks` of the configuration says where nodes speak from. A node that no
 * entry holds is looked up by name (hosts file and DNS), without blocking; what
 * was found is remembered for ORIGIN_KEEP_SECONDS, a failure for a shorter
 * time.
 */
#ifndef GL_COLLECTOR_ORIGIN_H
#define GL_COLLECTOR_ORIGIN_H

#include <netinet/in.h>

#include "acct/site.h"
#include "base/error.h"

struct event_base;

#define ORIGIN_KEEP_SECONDS 300
#define ORIGIN_KEEP_FAILURE_SECONDS 20
/* Names that are remembered; beyond, the one found first is forgotten. */
#define ORIGIN_NAMES_MAX 32768

typedef struct origins origins_t;

typedef enum {
    ORIGIN_ITS_OWN,
    ORIGIN_ANOTHER,
    ORIGIN_UNRESOLVED, /* the name has no address, now */
} origin_t;
typedef void (*origin_f) (void *arg, origin_t answer);

/* NULL with an error: an entry of `networks` that is none. */
origins_t *origins_new (struct event_base *base, const site_t *site,
                        gl_error_t *error);
/* Answers what still waits. Accepts NULL. */
void origins_free (origins_t *origins);

/* `answer` may be called before this returns. */
void origins_ask (origins_t *origins, const char *node, struct in_addr origin,
                  origin_f answer, void *arg);

#endif /* !GL_COLLECTOR_ORIGIN_H */
