/*
 * mix.h: how many GPUs to own and to reserve, and how to rent the rest, so that
 * the demand of every hour is met at the least cost (F9).
 *
 *   owned      paid at all hours; in full nodes; down for a share of the time
 *   reserved   rented for a term: paid at all hours
 *   spot       paid by the hour; for the part of each hour's demand that may be
 *              interrupted
 *   rented     paid by the hour, for everything else
 *
 * Owned GPUs work first, then reserved ones; of what is left, spot takes at most
 * the interruptible part of the hour's demand. Every mix does the same work: all
 * of the demand. The cost of what is left is convex in the GPUs that are paid at
 * all hours, so the last reserved GPU that pays is exact; full nodes are all
 * tried, because nodes that are down for a share of the time make the cost of
 * whole GPUs uneven. Exact. Pure.
 */
#ifndef GL_PLANNING_MIX_H
#define GL_PLANNING_MIX_H

#include <stdbool.h>

#include "planning/curve.h"

/* Prices of a GPU for an hour; NULL: not on offer. Borrowed. */
typedef struct {
    mpq_srcptr owned;
    mpq_srcptr
        available; /* share of the time that an owned GPU is up; above 0 */
    uint64_t step; /* GPUs of a node, above 0 */
    mpq_srcptr reserved;
    mpq_srcptr spot; /* of an hour that is not lost: price / (1 - waste) */
    mpq_srcptr rented;
    mpq_srcptr interruptible; /* share of each hour's demand, 0..1 */
} mix_prices_t;

typedef enum {
    MIX_OWNED,
    MIX_RESERVED,
    MIX_SPOT,
    MIX_RENTED,
    MIX_KINDS,
} mix_kind_t;

typedef struct {
    bool works; /* all work is done; if not, something is not on offer */
    uint64_t owned;
    uint64_t reserved;
    mpq_t work[MIX_KINDS]; /* GPU-hours in an hour, on average; their sum is the
                              mean of the demand */
    mpq_t cost[MIX_KINDS]; /* of an hour, on average */
    mpq_t per_hour;        /* their sum */
} mix_t;

void mix_init (mix_t *mix);
void mix_clear (mix_t *mix);
void mix_set (mix_t *mix, const mix_t *from);

/* With that many GPUs owned and reserved. */
void mix_at (const curve_t *demand, const mix_prices_t *prices, uint64_t owned,
             uint64_t reserved, mix_t *mix);
/* With that many owned, and as many reserved as cost least; of equal costs the
 * fewest. */
void mix_owning (const curve_t *demand, const mix_prices_t *prices,
                 uint64_t owned, mix_t *mix);
/* The one that costs least; of equal costs the one that owns the fewest. */
void mix_best (const curve_t *demand, const mix_prices_t *prices, mix_t *mix);

/* The full nodes' GPUs that do all of the work; 0 where none can be owned. */
uint64_t mix_all_owned (const curve_t *demand, const mix_prices_t *prices);

#endif /* !GL_PLANNING_MIX_H */
