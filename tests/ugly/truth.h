/*
 * truth.h: what jobs held, counted a second time.
 *
 * Shares no code with the product: zones are those of the C library
 * (localtime_r), a cell is an element of an array, and time is told as it
 * happened, not as Slurm writes it down.
 */
#ifndef UGLY_TRUTH_H
#define UGLY_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACCOUNTS 30
#define NODES 100 /* g1 to g99; 0 is nobody's */

/* [from, to), seconds since 1970 UTC */
typedef struct {
    int64_t from, to;
} span_t;

/* What Slurm calls gres/gpu:TYPE, and gres/shard. A slice is a seventh of a
 * GPU. */
typedef enum {
    UNTYPED,
    H100,
    A100,
    SLICE,
    SHARD,
    TYPES,
} type_t;

/* Nobody speaks of a node that is not KNOWN. */
typedef enum {
    KNOWN,
    AWAY, /* slurmctld was */
    DOWN,
    DRAINED, /* and not down */
    PLANNED,
    MAINTENANCE, /* by a reservation */
    RESERVED,
    NODE_STATES,
} node_state_t;

/* One uninterrupted time for which a job held the same devices. */
typedef struct {
    uint64_t id;      /* JobId; stays of one id follow one another */
    unsigned user;    /* 0: nobody knows */
    unsigned account; /* below ACCOUNTS */
    const char *state;
    span_t allocated;
    uint64_t devices[TYPES];
    unsigned node, nodes; /* as Slurm names them: node, node + 1, ... */
    bool told; /* accounting has the devices; else the job is an unknown one */
    const span_t *pauses; /* when it was suspended */
    size_t pause_count;
    bool only_total; /* accounting has the sum of the pauses and not when */
} stay_t;

typedef struct truth truth_t;
typedef struct nodes_truth nodes_truth_t;

/* Jobs hold devices within `all` only. user_count: with user 0. */
truth_t *truth_new (span_t all, unsigned user_count);
void truth_free (truth_t *truth);
void truth_add (truth_t *truth, const stay_t *stay);
void truth_add_state (truth_t *truth, unsigned node, node_state_t state,
                      span_t span);

/* The midnight before `at` in one of the zones, by any number. */
int64_t truth_midnight (const truth_t *truth, uint64_t number, int64_t at);

/*
 * DIR/KEYS and DIR/ZONE.KEYS (New_York.user-month): a line for each cell with
 * time, KEY|...|jobs|segments|unknown_jobs|gres_seconds|
 * suspended_gres_seconds. DIR/ZONE.pool-hour and the like: what the GPUs of a
 * pool or of a node did, POOL|HOUR|capacity|allocated|reserved_unused|idle|
 * stranded|planned_down|down|unknown|drained, in hours. DIR/pools.yaml: the
 * pools.
 */
void truth_write (const truth_t *truth, const char *dir,
                  void (*user_name) (unsigned user, char name[32]),
                  void (*account_name) (unsigned account, char name[32]));

/* --- truth_nodes.c ------------------------------------------------------ */

#define POOLS 4 /* and one more for what no pool has */

nodes_truth_t *nodes_new (span_t all);
void nodes_free (nodes_truth_t *nodes);
void nodes_add_state (nodes_truth_t *nodes, unsigned node, node_state_t state,
                      span_t span);
void nodes_hold (nodes_truth_t *nodes, unsigned node, type_t type,
                 uint64_t devices, span_t held);
/* How many of so many devices are on the index-th node. */
uint64_t nodes_share (const stay_t *stay, type_t type, unsigned index);
/* POOLS: none has it. */
unsigned nodes_pool (unsigned node, type_t type, int64_t at);
/* When it begins to have nodes. */
int64_t nodes_pool_from (unsigned pool);
const char *nodes_pool_name (unsigned pool);

/* What all did, as far as it lies in units of the zone that is set. */
typedef struct {
    span_t span;
    char name[32];
} unit_t;
/* Pools begin with a day of the zone. */
void nodes_begin_late (int64_t at);
void nodes_count (nodes_truth_t *nodes);
void nodes_write (const nodes_truth_t *nodes, const char *dir, const char *zone,
                  const char *keys, const unit_t *unit, size_t count,
                  bool by_node);
void nodes_write_pools (const char *dir);

#endif /* !UGLY_TRUTH_H */
