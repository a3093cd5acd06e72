/*
 * capacity_private.h: between capacity.c (facts in), capacity_place.c (what
 * each node's part of a pool was, when), capacity_node.c (what concerns all of
 * a node) and capacity_sweep.c (adding it up).
 */
#ifndef GL_USAGE_CAPACITY_PRIVATE_H
#define GL_USAGE_CAPACITY_PRIVATE_H

#include <stddef.h>

#include <uthash.h>

#include "base/buffer.h"
#include "usage/capacity.h"

/* What an edge switches: an amount of GPUs, CPUs or MB, a state of the node, or
 * a reservation. */
typedef enum {
    EDGE_CAPACITY,
    EDGE_ALLOCATED,
    EDGE_PARTS,     /* of the allocated: in shards and MPS */
    EDGE_REMAINDER, /* of cut GPUs */
    EDGE_MISSING,
    EDGE_SURPLUS,
    EDGE_OTHER_CAPACITY,  /* in other pools of the node */
    EDGE_OTHER_ALLOCATED, /* the same */
    EDGE_CPUS,
    EDGE_GPU_CPUS, /* of jobs with GPUs: of no pool of CPUs */
    EDGE_MEMORY,
    EDGE_LISTED,      /* an inventory speaks of it */
    EDGE_KNOWN,       /* some source speaks of the node */
    EDGE_BLIND,       /* it does not: weight not known */
    EDGE_OTHER_BLIND, /* a weight in another pool of the node is not known */
    EDGE_DOWN,
    EDGE_DRAINED,
    EDGE_PLANNED,     /* by an event row of the node */
    EDGE_AWAY,        /* the controller */
    EDGE_MAINTENANCE, /* a reservation with MAINT */
    EDGE_RESERVED,    /* the amount is the number of the booking */
    EDGE_COUNT,
} edge_kind_t;

/* Amounts of GPUs, which may be fractions. */
#define EDGE_GPUS_LAST EDGE_OTHER_ALLOCATED

struct interval {
    period_t period;
    edge_kind_t kind;
    fraction_t amount; /* 1 for a state */
};

/* A node's part of a pool. */
struct place {
    char *key;
    size_t key_length;
    const site_pool_t *pool; /* NULL: the cluster as it registered */
    char *cluster;
    char *node; /* NULL: all other nodes of a cluster without pools */
    int64_t apart_until; /* without pools: how far it is distinguished */
    struct interval *interval;
    size_t count, size;
    struct place *same_node; /* the next one */
    UT_hash_handle hh;
};

/* A node with its places, and what jobs took of its CPUs and memory. */
struct node {
    char *key;
    struct place *places;
    struct interval *load;
    size_t load_count, load_size;
    UT_hash_handle hh;
};

/* A node whose pool tells CPUs or memory. */
struct known_node {
    char *name;
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
    uint64_t id;
    char *name;
    char *accounts;
    char *nodelist;
};

struct listing {
    char *node;
    period_t period;
    inventory_gpu_t *gpu;
    size_t gpu_count;
};

struct cluster {
    char *name;
    int64_t as_of;
    struct registration *registration;
    size_t registration_count;
    struct outage *outage;
    size_t outage_count;
    struct booking *booking; /* the first one of a moment has its time */
    size_t booking_count;
    struct listing *listing;
    size_t listing_count;
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
    struct node *nodes;
    struct known_node *known;
    bool laid_out;
    buffer_t key; /* of the place that is looked for */
};

struct place *capacity_place_get (capacity_t *capacity, const site_pool_t *pool,
                                  const char *cluster, const char *node);
/* The part of the period that lies in the capacity's own. */
void capacity_place_add (const capacity_t *capacity, struct place *place,
                         edge_kind_t kind, period_t period, fraction_t amount);
/* GPUs of a node that no slice of the pool's own `layout` can use. */
fraction_t capacity_known_remainder (const capacity_t *capacity,
                                    const site_pool_t *pool);
/* After the last fact: give every place its capacity and its states. */
void capacity_place_out (capacity_t *capacity);

/* The nodes of pools that tell CPUs or memory; and what a segment takes of
 * them. */
void capacity_tell_nodes (capacity_t *capacity);
void capacity_node_load (capacity_t *capacity, const segment_t *segment,
                         period_t period);
/* All places of a node; NULL: none. After capacity_index_nodes(). */
void capacity_index_nodes (capacity_t *capacity);
struct place *capacity_node_places (const capacity_t *capacity,
                                    const char *cluster, const char *node);
/* What the nodes' inventories, CPUs and memory say of their places. */
void capacity_place_listings (capacity_t *capacity,
                              const struct cluster *cluster);
void capacity_place_loads (capacity_t *capacity);
void capacity_nodes_free (capacity_t *capacity);

void capacity_sweep (const capacity_t *capacity, const struct place *place,
                     const int64_t *cuts, size_t cut_count, capacity_f callback,
                     void *arg);

#endif /* !GL_USAGE_CAPACITY_PRIVATE_H */
