/*
 * cost_inputs.h: what the pools did, month by month: the quantities that costs
 * follow. Filled by whoever knows (lib/ledger/billing.c); read by cost.h.
 */
#ifndef GL_MONEY_COST_INPUTS_H
#define GL_MONEY_COST_INPUTS_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/zone.h"
#include "evidence/load_profile.h"
#include "money/meter.h"

/* One pool in one calendar month, or in the part of it up to as-of. */
typedef struct {
    const char *pool; /* borrowed */
    period_t period;
    mpq_t allocated; /* GPU-seconds allocated to jobs */
    mpq_t capacity;  /* GPU-seconds in service */
    uint64_t jobs;   /* distinct JobIds */
    uint64_t energy_mj; /* of GPUs allocated to jobs, by their own counters */
    mpq_t energy_seconds; /* GPU-seconds that this energy speaks of */
} cost_use_t;

typedef struct {
    cost_use_t *use; /* any order; no two of one pool overlap */
    size_t count;
    load_profile_t load; /* when measured energy was used: of all energy_mj, or of
                            less */
    /* What meters read in the months, by meter and time; borrowed. For demand
     * charges (cost_wants_meters). */
    const meter_reading_t *meters;
    size_t meter_count;
} cost_inputs_t;

/* Zeroed before use. A further entry, all quantities 0; borrowed until the next
 * call. */
cost_use_t *cost_inputs_add (cost_inputs_t *inputs, const char *pool,
                             period_t period);
void cost_inputs_clear (cost_inputs_t *inputs);

/* What a driver counts. */
typedef enum {
    USE_ALLOCATED, /* GPU-seconds */
    USE_CAPACITY,  /* GPU-seconds */
    USE_JOBS,
} use_t;

/* That of the pool in `period`, added up. Quantities are known by month: a part
 * of one has that part of them, by time. `inputs` may be NULL: 0. */
void cost_inputs_sum (const cost_inputs_t *inputs, const char *pool,
                      period_t period, use_t what, mpq_t ret_sum);

#endif /* !GL_MONEY_COST_INPUTS_H */
