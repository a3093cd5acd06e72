/*
 * waste.h: GPU time that was paid for and did no useful work, by cause, in hours and
 * money: the one list of causes for `report summary` and `report waste`.
 *
 * Time of jobs counts once. Idle time, which agents measured, comes first, by its
 * causes (idle_cause_t of evidence/evidence.h); the rest of the time of a job that ended
 * badly counts by how it ended (segment_loss_t of site/segment.h). Its price is the list
 * price of its pool, QOS and MIG profile in the month, bill_time_value(): before what QOS,
 * subsidies, tiers, surcharges and entitlements change in the charge. Time that was not
 * measured is not idle.
 *
 * Capacity that no job had counts by the class of its time (money/charge.h), at its
 * cost.
 *
 * Jobs that an operator or Slurm cancelled count as those that ended badly. Jobs that
 * their users cancelled are shown but not counted, because interactive sessions end so;
 * nor are jobs of which it is not known who cancelled them. Capacity of which no source
 * says whether it was up is unknown, and not counted either. What is not counted and what
 * is not measured may change from month to month, so that a page that compares the waste
 * of two months says how much of either there was in both. Pure.
 */
#ifndef GL_WASTE_WASTE_H
#define GL_WASTE_WASTE_H

#include <gmp.h>
#include <stdbool.h>

#include "ledger/bill.h"
#include "ledger/bill_idle.h"
#include "ledger/cube.h"
#include "ledger/slice_keys.h"
#include "usage/usage.h"

typedef enum {
    WASTE_OF_JOBS,
    WASTE_OF_CAPACITY,
    WASTE_UNKNOWN,     /* of capacity; not counted */
    WASTE_NOT_COUNTED, /* of jobs */
    WASTE_GROUP_COUNT,
} waste_group_t;

typedef struct {
    const char *word;  /* machine name: "idle_in_jobs", "failed", "stranded" */
    const char *title; /* "Idle GPUs in jobs" */
    waste_group_t group;
    const char *remedy; /* what would have prevented it, a sentence or two */
} waste_info_t;

/* Of jobs that ended so; NULL: not badly. Not all of these count as waste: see `group`. */
const waste_info_t *waste_of_loss (segment_loss_t loss);
/* By `what` of a row, whose words are all known. */
const waste_info_t *waste_info (const char *word);
/* By so many bytes of a text; NULL: there is no such cause. */
const waste_info_t *waste_named (const char *text, size_t length);

/* Which causes of idle time are told apart: */
typedef enum {
    WASTE_IDLE_AS_ONE, /* none: all of it is "idle_in_jobs" */
    WASTE_IDLE_CAUSES, /* usage that was asked for with idle_causes */
} waste_idle_t;

/* Texts are borrowed. A key that nobody asks for is absent. */
typedef struct {
    const char *what; /* a word; NULL: all allocated time */
    slice_keys_t keys;
    const char *profile; /* of a MIG slice */
    mpq_t seconds;       /* of physical GPUs */
    mpq_t known;  /* of all allocated time: for which it is known whether GPUs
                      were idle */
    mpq_t priced; /* of the seconds: those that have a price, which may be 0 */
    mpz_t units;  /* the value of the priced time, in smallest units */
} waste_t;
extern const fields_t waste_rows;

/* Causes of wasted time of jobs, from 0 on: those of idle time, then the ends of jobs. */
#define WASTE_CAUSES (IDLE_CAUSES + LOSS_COUNT)
const waste_info_t *waste_cause (size_t cause);
/* Time of the part can be wasted: that of GPUs, whose weight is known. */
bool waste_counts (const usage_part_t *part);
/* What such a part of usage, asked for with idle_causes, wastes by cause, in milliseconds of
 * its devices. */
void waste_ms (const usage_part_t *part, uint64_t ret_ms[WASTE_CAUSES]);
/* Adds what the part wastes to a cube, a row for each cause with the keys of `keys`, which has
 * a pool; without its price. */
void waste_take_part (cube_t *waste, const waste_t *keys,
                      const usage_part_t *part, waste_idle_t idle);
/* Adds all time of the part, and how much of it is known. */
void waste_take_allocated (cube_t *allocated, const waste_t *keys,
                           const usage_part_t *part);
/* Of a job whose state has that text, such as TIMEOUT; NULL: it did not end badly. */
const waste_info_t *waste_of_state (const char *state);
/* The first keys of a cube of time that is to be priced. */
#define WASTE_PRICED "what,pool,qos,profile"
#define WASTE_PRICED_KEYS 4
/* What is wasted in two months can be compared: for about the same share of the time that jobs
 * had (waste_take_allocated()) it is known whether GPUs were idle. The shares differ by no more
 * than WASTE_POINTS percentage points, or a month has no such time. */
#define WASTE_POINTS 10
bool waste_comparable (const waste_t *allocated, const waste_t *before);
/* Of all of the time it is known whether GPUs were idle. */
bool waste_measured (const waste_t *allocated);
/* What the row is priced by. */
bill_time_t waste_time (const waste_t *row);
/* Adds the groups of `seconds`, whose first keys are WASTE_PRICED, of one month, with their
 * prices. The amount of a cause at a price is rounded once and shared by hours, so that sums
 * are the same however they are grouped. `prices`: bill_time_prices() of the month. */
void waste_add_priced (cube_t *waste, cube_t *seconds, cube_t *prices);
/* Adds the capacity of the bill that no job had. */
void waste_take_capacity (cube_t *waste, const bill_t *bill);

/* The amount of the row is known: its time has a price, or it has no time. Of NULL it is 0. */
bool waste_is_priced (const waste_t *row);

#endif /* !GL_WASTE_WASTE_H */
