/*
 * capacity_private.h: between capacity.c (facts in), capacity_place.c (what
 * each node's part of a pool was, when) and capacity_sweep.c (adding it up).
 */
#ifndef GL_ACCT_CAPACITY_PRIVATE_H
#define GL_ACCT_CAPACITY_PRIVATE_H

#include <stddef.h>

#include <uthash.h>

#include "acct/capacity.h"

/* What an edge switches: an amount of GPUs, or a state of the node. */
typedef enum {
    EDGE_CAPACITY,
    EDGE_ALLOCATED,
    EDGE_KNOWN, /* some source speaks of the node */
    EDGE_BLIND, /* it does not: controller away, weight not known */
    EDGE_DOWN,
    EDGE_PLANNED,
    EDGE_RESERVED,
    EDGE_COUNT,
} edge_kind_t;

struct interval {
    period_t period;
    edge_kind_t kind;
    fraction_t amount; /* GPUs; 1 for a state */
};

/* A node's part of a pool. */
struct place {
    char *key;
    const site_pool_t *pool; /* NULL: the cluster as it registered */
    char *cluster;
    char *node;           /* NULL: all other nodes of a cluster without pools */
    fraction_t remainder; /* GPUs that no slice of the layout can use */
    struct interval *interval;
    size_t count, size;
    UT_hash_handle hh;
};

struct registration {
    period_t period;
    bool disconnected;
    char *gres;
    char *nodelist;
};

struct outage {
    char *node;
    period_t period;
    edge_kind_t kind;
    char *gres;
};

struct booking {
    period_t period;
    edge_kind_t kind;
    char *nodelist;
};

struct cluster {
    char *name;
    int64_t as_of;
    struct registration *registration;
    size_t registration_count;
    struct outage *outage;
    size_t outage_count;
    struct booking *booking;
    size_t booking_count;
    UT_hash_handle hh;
};

struct capacity {
    const site_t *site;
    kinds_t *kinds;
    period_t period;
    int64_t *changes;
    size_t change_count;
    struct cluster *clusters;
    struct place *places;
    bool laid_out;
};

struct place *capacity_place_get (capacity_t *capacity, const site_pool_t *pool,
                                  const char *cluster, const char *node);
/* The part of the period that lies in the capacity's own. */
void capacity_place_add (const capacity_t *capacity, struct place *place,
                         edge_kind_t kind, period_t period, fraction_t amount);
/* After the last fact: give every place its capacity and its states. */
void capacity_lay_out (capacity_t *capacity);
void capacity_sweep (const capacity_t *capacity, const struct place *place,
                     const int64_t *cuts, size_t cut_count, capacity_f callback,
                     void *arg);

#endif /* !GL_ACCT_CAPACITY_PRIVATE_H */
