/* What the files of `gpuledger price` share: the request, and which pool can
 * run it. */
#ifndef GL_PRICE_PRIVATE_H
#define GL_PRICE_PRIVATE_H

#include <stdbool.h>

#include "site/segment.h"
#include "users/price.h"

/* One GPU type of a request. */
typedef struct {
    char *type;        /* NULL: any */
    uint64_t devices;  /* of the whole job */
    uint64_t per_node; /* 0: spread over its nodes as they are free */
} price_item_t;

typedef struct {
    price_item_t *item;
    size_t count;
    uint64_t nodes;      /* the fewest; 1 where nothing was said */
    uint64_t nodes_most; /* 0: nothing was said */
    int64_t seconds;     /* 0: not given */
    uint64_t cpus;       /* of the job; COUNT_UNKNOWN */
    uint64_t memory_mb;
    bool parts;          /* shards or MPS were asked for */
} price_request_t;

/* price_request.c. Whatever is returned: price_request_clear(). */
int price_request_read (price_request_t *request, const price_words_t *words,
                        gl_error_t *error);
void price_request_clear (price_request_t *request);

/* price_fit.c: why `pool` cannot run `item` with devices of `type` (NULL:
 * untyped), "its nodes have 4 of them"; NULL: it can. Yours to free. */
char *price_misfit (const site_t *site, const price_request_t *request,
                    const price_item_t *item, const site_pool_t *pool,
                    const char *type);
/* The same of the CPUs of the request in a pool of CPUs. */
char *price_cpus_misfit (const price_request_t *request,
                         const site_pool_t *pool);
/* The pool has GPUs that sbatch would give for `type`; `listed`: some pool
 * names the type. */
bool price_pool_serves (const site_pool_t *pool, const char *type, bool listed);
bool price_type_is_listed (const site_t *site, const char *type, int64_t now);
/* How many nodes are in both pools. */
uint64_t price_common_nodes (const site_pool_t *a, const site_pool_t *b);

#endif /* !GL_PRICE_PRIVATE_H */
