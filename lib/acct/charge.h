/*
 * charge.h: usage x cost -> charges, for one pool in one calendar month.
 *
 * Everything that is billed is computed per pool and calendar month (of the
 * ledger's zone, which the caller clips at as-of): this is the unit in which
 * the parts add up. With
 *
 *   C  cost of the pool-month (cost.h)      K  capacity in GPU-seconds
 *   q  GPU-seconds of a line (quantity)     p  q priced: the same devices,
 *                                              each by its price weight
 *   r = C / K                               f = r          (idle: explicit)
 *                                           f = C / sum p  (idle: in-rate)
 *
 * a line is charged  rate x p  where a published rate is in force, else f x p,
 * and its cost is r x q whatever the policy, so that charge - cost says how
 * much of a charge is idle time, surcharge or subsidy. What the lines do not
 * carry is stated as remainders, by class, so that twice
 *
 *   C = sum of the lines' cost   + sum of the remainders' cost
 *   C = sum of the lines' charge + sum of the remainders' charge
 *
 * exactly, and after rounding to the smallest unit of the currency. Where the
 * policy says `suspended: free`, q and p are without the time in which the job was
 * suspended, which is a remainder of its own; only time whose place is known is
 * free, so that no cut of a month changes what it costs.
 * If nothing was billed, in-rate is as explicit. Sources: cost-model, sections
 * 8 to 10, 13 and 17.
 *
 * Rounding happens here and nowhere else, once, as a cascade of the
 * largest-remainder method (exact_share): the pool-month, half to even -> all
 * lines together and all remainders together -> the groups of the first level
 * -> the groups of the next level inside each -> ... -> the lines. The first two levels must be the same
 * for every report, so that whatever is asked by, filtered or grouped, the
 * same month gives the same integers:
 *
 *   level 1: CHARGE_PATH[0]                  who pays
 *   level 2: the rest of CHARGE_PATH         the charge line
 *   then one level for each further key: team, GPU model, profile; time, all of
 *   it in one level and in its order: the cuts of a period that is not whole
 *   months, day, hour; state, label, node
 *
 * From the third level on parts are shared in their order (exact_share_in_order)
 * so that the parts of a month, however it is cut, add up to it, and a day is
 * the same as a row and as a period of its own.
 *
 * So: always add all lines of the pool-month, unfiltered, by CHARGE_PATH and
 * whatever more is asked; compute; then filter and group by adding integers.
 *
 * Pure. An object belongs to one thread.
 */
#ifndef GL_ACCT_CHARGE_H
#define GL_ACCT_CHARGE_H

#include <gmp.h>
#include <stddef.h>
#include <stdint.h>

#include "acct/capacity.h"
#include "acct/cost.h"
#include "acct/key.h"
#include "acct/site.h"
#include "acct/usage.h"
#include "base/error.h"

/* The keys of a charge line: CHARGE_PATH_COUNT of them, account first. Team,
 * GPU model and profile follow from these. */
#define CHARGE_PATH_COUNT 7
extern const key_id_t CHARGE_PATH[CHARGE_PATH_COUNT];

/* Where the cost of time goes that no line bears. */
typedef enum {
    REMAINDER_IDLE,            /* free, without what is stranded */
    REMAINDER_STRANDED,        /* free, and no slice can use it */
    REMAINDER_CPU_STRANDED,    /* free, and the node's CPUs or memory taken */
    REMAINDER_RESERVED_UNUSED,
    REMAINDER_PLANNED_DOWN,
    REMAINDER_DOWN,
    REMAINDER_UNKNOWN,
    REMAINDER_SUSPENDED, /* held by suspended jobs, and free by policy */
    REMAINDER_UNBILLED, /* held, but by no line: devices without a weight */
    REMAINDER_MIG,      /* time counted by one weight and priced by another, a
                           slice or a job that is billed otherwise than held
                           (billed.h); negative: a credit to the pool */
    REMAINDER_RECOVERY, /* published rates: cost less charges; negative: over-
                           recovery */
    REMAINDER_EXCESS,   /* negative: jobs held more than the pool has */
    REMAINDER_NO_CAPACITY, /* cost of a period in which the pool has no GPU */
    REMAINDER_CREDITED, /* given back: the credits, with the other sign */
    REMAINDER_COUNT,
} remainder_id_t;

typedef struct {
    remainder_id_t id;
    const char *word;  /* "reserved_unused": machine name */
    const char *title; /* "reserved, not used" */
} remainder_info_t;

const remainder_info_t *remainder_info (remainder_id_t id);

typedef struct {
    mpq_t gpu_seconds; /* 0 for classes of money only */
    mpq_t cost;        /* exact */
    mpq_t charge;      /* exact */
    mpz_t cost_units;  /* rounded, in smallest units */
    mpz_t charge_units;
} charge_remainder_t;

/* Why a line is there. */
typedef enum {
    CHARGE_USED,   /* time that jobs held */
    CHARGE_IDLE,   /* a part of time that nobody held, by the idle policy */
    CHARGE_CREDIT, /* negative: given back by policy; the charge stays */
} charge_kind_t;

typedef struct {
    charge_kind_t kind;
    const char *const *path; /* as added; NULL: absent. Borrowed */
    const char *what;        /* a word: the class of idle time, the reason of the
                                credit; NULL: used. Borrowed */
    const char *reference;   /* of a credit: the job, CLUSTER/JOBID/SUBMIT; else
                                NULL. Borrowed */
    mpq_t gpu_seconds;
    mpq_t price_seconds;
    mpq_t cost;
    mpq_t list;   /* the price before tiers, entitlements, subsidies, surcharges */
    mpq_t charge; /* after them: what is due */
    mpz_t cost_units;
    mpz_t list_units;
    mpz_t charge_units;
} charge_line_t;

/* How GPU time of a pool is priced at an instant. */
typedef struct {
    const site_rate_t *rate; /* published; NULL: full cost */
    mig_basis_t mig_price;
} charge_price_t;

/* The rate of the QOS, else the one without QOS, else full cost and the
 * policy's mig_price. `qos` may be NULL. */
charge_price_t charge_price (const site_t *site, const char *pool,
                             const char *qos, int64_t instant);

/* The instants inside `period` at which any published rate begins or ends,
 * ascending, each once: give them to usage as cuts, so that a cell lies under
 * one rate. *ret_cuts is yours to free; returns how many. */
size_t charge_cuts (const site_t *site, period_t period, int64_t **ret_cuts);

typedef struct charge charge_t;

/*
 * `month`: the calendar month or the part of it that is billed. `capacity`: the
 * pool's sums over exactly that period; copied. `inputs`: what cost_of_pool asks,
 * of all pools; NULL: what `capacity` tells of this one. `levels`: ends of the levels in
 * a path, ascending, the last being the length of every path; the first two
 * are 1 and CHARGE_PATH_COUNT. Computes the cost. NULL with an error as
 * cost_of_pool.
 */
charge_t *charge_new (const site_t *site, const char *pool, period_t month,
                      const capacity_sum_t *capacity,
                      const cost_inputs_t *inputs, const size_t *levels,
                      size_t level_count, gl_error_t *error);
/* Accepts NULL. */
void charge_free (charge_t *charge);

/* Time held. Texts are copied. Lines with the same path are added up, so a
 * line may mix rates (after a change within the month). Without gpu_seconds:
 * what is billed beyond the time held; below 0: what of it is not (billed.h),
 * never more than the path has. */
void charge_add (charge_t *charge, const char *const *path,
                 mpq_srcptr gpu_seconds, mpq_srcptr price_seconds,
                 const site_rate_t *rate);

/* A part of a line's time that is given back for the reason `what`: priced as it
 * was charged, scaled by what of the line's list price is due, a line of its own
 * (CHARGE_CREDIT). All credits of a line together at most its price_seconds. Those
 * of the same path, reason and reference are added up. A credit changes no other
 * line. Its integer is a part of the integer of its line (CHARGE_PATH), so that
 * credit and rest add up to it, and all of it back is all of it. */
void charge_add_credit (charge_t *charge, const char *const *path,
                        mpq_srcptr price_seconds, const site_rate_t *rate,
                        const char *what, const char *reference);

/* Time held, and no line's, because the job was suspended. */
void charge_add_suspended (charge_t *charge, mpq_srcptr gpu_seconds);

/* Of the part's gres_seconds: what the policy leaves free. */
uint64_t charge_free_seconds (const site_t *site, const usage_part_t *part);

/* What a part of a usage cell brings to a line, whatever the line. */
typedef struct {
    mpq_t gpu_seconds;       /* q, without what is free */
    mpq_t price_seconds;     /* p */
    mpq_t suspended;         /* GPU-seconds that the policy leaves free */
    const site_rate_t *rate; /* published; NULL: full cost */
} charge_part_t;

void charge_part_init (charge_part_t *part);
void charge_part_clear (charge_part_t *part);
/* `instant`: any inside the cell. A kind without a known weight brings 0. -1 if
 * the kind has no price weight. */
int charge_part_measure (const site_t *site, const char *qos, int64_t instant,
                         const usage_part_t *from, charge_part_t *ret_part,
                         gl_error_t *error);

/* Time held, by charge_part_measure (). A kind without a known weight makes a line
 * of 0: its time stays in the remainder. */
int charge_add_part (charge_t *charge, const char *const *path,
                     const char *qos, int64_t instant,
                     const usage_part_t *part, gl_error_t *error);

/* After the last line, once. -1 is a defect of this module. */
int charge_compute (charge_t *charge, gl_error_t *error);

/* Results; borrowed. The lines are ordered bytewise by path, absent first, then by
 * kind, what and reference. */
const charge_line_t *charge_lines (const charge_t *charge, size_t *ret_count);
/* REMAINDER_COUNT of them, by remainder_id_t. */
const charge_remainder_t *charge_remainders (const charge_t *charge);
const cost_t *charge_cost (const charge_t *charge);
const capacity_sum_t *charge_capacity (const charge_t *charge);
/* The cost of the pool-month in smallest units: what everything adds up to. */
mpz_srcptr charge_total (const charge_t *charge);
/* r and f, per GPU-hour: what an owned hour cost; what an hour without a
 * published rate is charged. 0 without capacity. */
mpq_srcptr charge_owned_rate (const charge_t *charge);
mpq_srcptr charge_full_rate (const charge_t *charge);

#endif /* !GL_ACCT_CHARGE_H */
