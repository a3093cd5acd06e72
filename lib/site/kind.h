/*
 * kind.h: device kinds: the one place that reads a segment's GRES, finds the
 * pool of each device and weighs it.
 *
 * A device's pool is found by cluster, node and Slurm type at an instant
 * (pools are dated). An untyped device belongs to a pool that lists "gpu", or
 * to the only pool of its node; where that pool has a single GRES type, the
 * device is of that type (a node whose accounting hides its MIG slices). Where
 * it may be a slice or a whole GPU, or one of slices that weigh differently, its
 * weight is not known: it is never taken for a whole GPU.
 *
 * Shards and MPS are devices of type "shard" and "mps" ("shard:TYPE" where
 * accounting tells the GPU's type) of segments that hold no gpu: never besides
 * one. Their pool is one that lists them so, else that of the GPU. A shard is
 * 1 / shards_per_gpu of its pool at that time, else what accounting told of its
 * node then, by segment->shards; nobody told: not known, never a GPU. A
 * unit of MPS is 1 / mps_per_gpu of its pool, else 1/100.
 *
 * Where the site has pools of CPUs, a segment holds CPUs there, as devices of type
 * "cpu" and weight 1: its CPUs, split evenly over all its nodes, on those nodes
 * that such a pool covers. With cpu_jobs: without_gpus only segments that neither
 * hold nor asked for GPUs; their CPUs are part of what GPUs cost.
 */
#ifndef GL_SITE_KIND_H
#define GL_SITE_KIND_H

#include "site/segment.h"
#include "site/site.h"

/* What has one weight and one price. Lives as long as its kinds_t. */
typedef struct {
    const site_pool_t *pool; /* NULL: no pool covers it */
    const char *type;        /* Slurm's type string; NULL: untyped */
    const char *seen;        /* untyped: the profile that its node tells, "" for
                                a whole GPU; NULL: it does not. A shard: "2/8",
                                GPUs / shards of its node, where its pool does
                                not tell */
    const char *model;       /* the node's word for it, beside `seen` */
    bool unsure; /* untyped, on a node of several pools that has slices */
    const char *profile; /* of a slice; NULL: a whole GPU, or not known */
    bool cpu;            /* a CPU, in a pool of CPUs: never a device */
    bool part;           /* a shard or a unit of MPS: several hold one GPU */
    bool weight_known;   /* else the next is 0/1 and gpu_hours unknown */
    fraction_t weight;   /* of the quantity, in physical GPUs */
    fraction_t price_weight[MIG_BASIS_COUNT]; /* rate_card_weight() by each
                                basis; 0/0: to be looked up */
    const char *problem;                      /* why the weight is not known */
} device_kind_t;

typedef struct {
    const device_kind_t *kind;
    const char *node; /* NULL unless split by node */
    uint64_t devices;
} holding_t;

typedef struct kinds kinds_t;

/* One per command; `site` must outlive it. Not for two threads at once. */
kinds_t *kinds_new (const site_t *site);
void kinds_free (kinds_t *kinds);

/*
 * What the segment holds at `instant`. With `by_node`, devices are split over
 * the segment's nodes that have such devices (in some pool, at whatever time):
 * evenly, the rest to the first nodes, because Slurm's accounting stores totals
 * only; exact for one node. The same even split decides when the nodes lie in
 * different pools. Where the records of the nodes tell which devices the
 * segment held (segment->allocated), they decide instead, and for untyped
 * devices what the inventory says they are. Returns an array that is valid
 * until the next call; *ret_count may be 0. A list of nodes that does not parse
 * counts as no nodes.
 */
const holding_t *kinds_of_segment (kinds_t *kinds, const segment_t *segment,
                                   int64_t instant, bool by_node,
                                   size_t *ret_count);

/* What a segment holds at `instant` it holds up to here: where pools change next, or
 * INT64_MAX. */
int64_t kinds_until (const kinds_t *kinds, int64_t instant);

/* It may hold something: it names or asked for GPUs, or the site counts CPUs. */
bool kinds_count (const kinds_t *kinds, const segment_t *segment);

/* The kind of one of the segment's devices; NULL where the node has several of
 * its kinds and nobody tells which one this is. gres_index < 0: not known. */
const device_kind_t *kinds_of_device (kinds_t *kinds, const segment_t *segment,
                                      int64_t instant, const char *node,
                                      int64_t gres_index);

/* The pool of such devices (NULL: untyped) of a node at an instant; NULL: none,
 * or nobody tells. */
const site_pool_t *kinds_pool (const kinds_t *kinds, const char *cluster,
                               const char *node, const char *type,
                               int64_t instant);

/* The kind that has these members; the pool is the one of that name at the
 * instant. */
const device_kind_t *kinds_by_value (kinds_t *kinds, const char *pool,
                                     int64_t instant, const char *type,
                                     bool unsure, const char *seen,
                                     const char *model);

/* The weight of the kind's price under another basis. -1 if not known. */
int kind_weight (const site_t *site, const device_kind_t *kind,
                 mig_basis_t basis, fraction_t *ret_weight, gl_error_t *error);

/* The ascending instants inside `period` at which a pool or a team begins or
 * ends: what holds before need not hold after. Yours to free. */
int64_t *site_changes (const site_t *site, period_t period, size_t *ret_count);

#endif /* !GL_SITE_KIND_H */
