/*
 * capacity.h: what every GPU of a pool was doing at every second.
 *
 * The identity (design, invariant 3), in GPU-seconds, exactly:
 *
 *   capacity = allocated + reserved_unused + idle + planned_down + down
 *              + unknown
 *
 * capacity is gpus_per_node x the seconds in which the node belongs to the
 * pool. Where a job holds devices of a down node they count as allocated. Idle
 * includes what no slice can use (`stranded`, an "of which"), also where only a
 * job's hold on another slice tells that the card is up. `unknown` is time
 * for which no source spoke of the node's state (before the cluster's first
 * registration, after as-of, or a store without node events at all).
 * `difference` is capacity minus the sum: 0, or jobs held more than the pool
 * has (allocated is then more than capacity).
 */
#ifndef GL_ACCT_CAPACITY_H
#define GL_ACCT_CAPACITY_H

#include "acct/segment.h"
#include "acct/site.h"
#include "acct/usage.h"

typedef struct {
    mpq_t capacity;
    mpq_t allocated;
    mpq_t reserved_unused;
    mpq_t idle;
    mpq_t planned_down;
    mpq_t down;
    mpq_t unknown;
    mpq_t stranded;   /* of idle: the remainder of cut GPUs */
    mpq_t difference; /* capacity - the sum */
} capacity_sum_t;

void capacity_sum_init (capacity_sum_t *sum);
void capacity_sum_clear (capacity_sum_t *sum);
void capacity_sum_add (capacity_sum_t *sum, const capacity_sum_t *more);

typedef struct capacity capacity_t;

/* Everything about `period`. `as_of` of each cluster is given with
 * capacity_set_as_of; a cluster never named is unknown throughout. */
capacity_t *capacity_new (const site_t *site, kinds_t *kinds, period_t period);
void capacity_free (capacity_t *capacity);
void capacity_set_as_of (capacity_t *capacity, const char *cluster,
                         int64_t as_of);
void capacity_add_segment (capacity_t *capacity, const segment_t *segment);
void capacity_add_event (capacity_t *capacity, const node_event_t *event);
void capacity_add_reservation (capacity_t *capacity,
                               const reservation_t *reservation);

/* A pool x node x interval, for grouping by pool, node and time. Intervals are
 * cut at every change and at the `cuts`, ascending instants. */
typedef struct {
    const site_pool_t *pool;
    const char *cluster;
    const char *node;
    period_t interval;
    const capacity_sum_t *sum;
} capacity_slice_t;
typedef void (*capacity_f) (const capacity_slice_t *slice, void *arg);
void capacity_each (capacity_t *capacity, const int64_t *cuts, size_t cut_count,
                    capacity_f callback, void *arg);

#endif /* !GL_ACCT_CAPACITY_H */
