/*
 * capacity.h: what every GPU of a pool was doing at every second.
 *
 * The identity (design, invariant 3), in GPU-seconds, exactly:
 *
 *   capacity = allocated + reserved_unused + idle + planned_down + down
 *              + unknown
 *
 * and "of which", never in that sum:
 *
 *   idle >= stranded + cpu_stranded          down >= drained + missing
 *
 * Definitions. A pool has G = gpus_per_node GPUs on each of its nodes in the
 * time for which the pool is valid; that is the capacity. (A pool without a list
 * of nodes has those that the cluster registered, as long as it did.) A pool of CPUs
 * has G = cpus_per_node CPUs, less those that jobs with GPUs hold where it does not
 * count these; all that follows is in CPU-seconds then. At each
 * second, of one pool on one node:
 *
 *   allocated  A: the devices that segments hold, each by its weight (kind.h:
 *              a slice its fraction, a shard 1 / shards per GPU), suspended or
 *              not; also on a node that is down. F = G - A are free. Where
 *              F < 0 `difference` is F, and everything below is 0.
 *   the class  of the free GPUs is the first of these that holds:
 *     unknown      some job's devices there have no known weight; or no
 *                  registration row, ended at as-of, names the node (one
 *                  without a list of nodes names all of the cluster)
 *     down         an event row of the node that is not planned; also while the
 *                  controller is away, which alone could have resumed the node
 *     planned_down an event row with MAINT or POWERED_DOWN (whatever the version
 *                  of Slurm says of nodes that are not CLOUD), or base state
 *                  FUTURE
 *     unknown      else, while the controller is away (a registration row with
 *                  base state DOWN): nobody knows what the nodes did
 *     planned_down a reservation with the flag MAINT
 *     reserved_unused  any other reservation that lists the node
 *     idle         else: also what the scheduler merely plans
 *   event rows and reservations end where they say; one without an end is open.
 *   Overlapping and adjacent rows are no more than one.
 *
 *   missing    of down: M = G - the pool's GPUs in the inventory that the node
 *              itself wrote and that stood then; where the class is idle or
 *              reserved_unused, min (M, F) are down and the class has the rest,
 *              which is F in what follows. No inventory says anything of its
 *              node while a GPU is in it that belongs to no pool, or to none
 *              for sure. One of more GPUs than G says nothing either: what is
 *              beyond G is `surplus`, and in no sum.
 *   drained    of down, without `missing`: the class is down, and each event
 *              row that makes it so has DRAIN and another base state than DOWN.
 *   stranded   of idle: min (R, F) where the class is idle, R being the
 *              remainder of cut GPUs (what the slices of the layout leave; the
 *              inventory's layout of that time, else the pool's `layout` on as
 *              few GPUs as it fits, or on all where no type of the pool is a
 *              whole GPU)
 *              plus that of opened GPUs: ceil (S) - S, where S is the part of A
 *              in shards and MPS. A GPU of which a shard is allocated cannot be
 *              given out as a GPU; at least ceil (S) are open. Also where the
 *              class is unknown only because no registration names the node
 *              and A > 0: a job tells that the cards are up, and this much of
 *              the unknown is idle then.
 *   cpu_stranded  of idle, in addition to `stranded`: GPUs that nobody can use because
 *              jobs took the node's CPUs or memory. Only where the pool tells
 *              cpus_per_node or memory_per_node. With N the GPUs of the node in
 *              all pools, B those of them that are allocated, and
 *                s = max (CPUs of all jobs there / cpus_per_node,
 *                         memory of all jobs there / memory_per_node), at most 1
 *              the share s stands for s x N GPUs, of which B are allocated, and
 *                cpu_stranded = min ((s x N - B) x G / N, idle - stranded),
 *              not below 0; and 0 while some device of the node has no known
 *              weight. A job's CPUs and MB are split evenly over its
 *              nodes, the rest to the first ones; unknown ones count none.
 *              Example: 8 GPUs, 128 CPUs; one job holds 2 GPUs and 96 CPUs, of
 *              6 free GPUs 96/128 x 8 - 2 = 4 are stranded.
 *
 * Without any pool the capacity is what the cluster registered, up to as-of, in
 * one sum; a node is distinguished by the GRES of its event rows only, and as long
 * as they last, so that parts of a period add up to it.
 *
 * reserved_unused is booked to a reservation: where several list the node, to
 * the one with the lowest id (then the earliest start). The parts add up to it
 * exactly.
 */
#ifndef GL_USAGE_CAPACITY_H
#define GL_USAGE_CAPACITY_H

#include "site/segment.h"
#include "site/site.h"
#include "usage/usage.h"

typedef struct {
    mpq_t capacity;
    mpq_t allocated;
    mpq_t reserved_unused;
    mpq_t idle;
    mpq_t planned_down;
    mpq_t down;
    mpq_t unknown;
    mpq_t stranded;     /* of idle: the remainder of cut and of opened GPUs */
    mpq_t cpu_stranded; /* of idle: CPUs or memory are taken */
    mpq_t drained;      /* of down */
    mpq_t missing;      /* of down: the node's inventory lacks them */
    mpq_t surplus;      /* of nothing: GPUs that inventories have beyond G */
    mpq_t listed;       /* capacity at times that an inventory speaks of */
    mpq_t difference;   /* capacity - the identity's sum */
} capacity_sum_t;

/* Every member, so that no one who adds, stores or compares forgets one. */
typedef struct {
    const char *name; /* "reserved_unused" */
    const char *of;   /* the member that it is a part of: "capacity" for the
                         terms of the identity, "idle", "down"; NULL: none */
    size_t offset;    /* of an mpq_t in capacity_sum_t */
} capacity_member_t;

/* The order stays; new members come last. */
const capacity_member_t *capacity_sum_members (size_t *ret_count);
/* The value of the i-th of them; NULL beyond the last. */
mpq_t *capacity_sum_member (capacity_sum_t *sum, size_t i);

void capacity_sum_init (capacity_sum_t *sum);
void capacity_sum_clear (capacity_sum_t *sum);
void capacity_sum_add (capacity_sum_t *sum, const capacity_sum_t *more);

/* A physical GPU in a node's inventory. Borrowed. */
typedef struct {
    const char *gres_type;       /* of it or of one of its slices; NULL: unknown */
    const char *model;           /* NULL: unknown */
    const char *const *profiles; /* of its slices; an entry NULL: unknown */
    size_t profile_count;        /* 0 and `cut`: cut, and no slice was made */
    bool cut;                    /* into slices */
} inventory_gpu_t;

/* What a node said that it had, [start, end); those of one node do not
 * overlap. */
typedef struct {
    const char *cluster;
    const char *node;
    period_t period;
    const inventory_gpu_t *gpu;
    size_t gpu_count;
} node_inventory_t;

typedef struct capacity capacity_t;

/* A node event of this state is `down`: not planned, not drained. */
bool capacity_state_is_down (uint32_t state);

/* Everything about `period`. `as_of` of each cluster is given with
 * capacity_set_as_of; a cluster never named is unknown throughout. */
capacity_t *capacity_new (const site_t *site, kinds_t *kinds, period_t period);
void capacity_free (capacity_t *capacity);
const site_t *capacity_site (const capacity_t *capacity);
void capacity_set_as_of (capacity_t *capacity, const char *cluster,
                         int64_t as_of);
/* Facts, in any order, each once. Segments without GPUs only matter where
 * capacity_wants_cpus(): some pool tells the CPUs or the memory of its nodes. */
bool capacity_wants_cpus (const capacity_t *capacity);
void capacity_add_segment (capacity_t *capacity, const segment_t *segment);
void capacity_add_event (capacity_t *capacity, const node_event_t *event);
void capacity_add_reservation (capacity_t *capacity,
                               const reservation_t *reservation);
void capacity_add_inventory (capacity_t *capacity,
                             const node_inventory_t *inventory);

/* What one reservation kept and no job used. */
typedef struct {
    uint64_t id;
    const char *name;     /* NULL: not known */
    const char *accounts; /* comma-separated, sorted; NULL: not known */
    mpq_t gpu_seconds;
} capacity_reserved_t;

/* A pool x node x interval, for grouping by pool, node and time. Intervals are
 * cut at the `cuts`, ascending instants, and nowhere else. */
typedef struct {
    const site_pool_t *pool;
    const char *cluster;
    const char *node;
    period_t interval;
    const capacity_sum_t *sum;
    const capacity_reserved_t *reserved; /* these add up to reserved_unused */
    size_t reserved_count;
} capacity_slice_t;
/* There was something: capacity, or a job. */
static inline bool capacity_slice_counts (const capacity_slice_t *slice)
{
    return mpq_sgn (slice->sum->capacity) != 0
           || mpq_sgn (slice->sum->allocated) != 0;
}
typedef void (*capacity_f) (const capacity_slice_t *slice, void *arg);
/* By cluster, pool, node and time. May be called again, with other cuts, but no
 * fact may come after the first call. */
void capacity_each (capacity_t *capacity, const int64_t *cuts, size_t cut_count,
                    capacity_f callback, void *arg);

#endif /* !GL_USAGE_CAPACITY_H */
