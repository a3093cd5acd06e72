/*
 * charge.h: usage x cost -> charges, for one pool in one calendar month.
 *
 * Everything that is billed is computed per pool and calendar month (of the
 * ledger's zone, which the caller clips at as-of): this is the unit in which
 * the parts add up. With
 *
 *   C  cost of the pool-month (cost.h)      K  capacity in GPU-seconds
 *   U  of C what follows use (by_use)       A  of K what was allocated to jobs; where A is
 *                                              0, U is 0
 *   q  GPU-seconds of a line (quantity)     p  q priced: the same devices,
 *                                              each by its price weight
 *   r = (C - U) / K, what an owned second cost; u = U / A, what a second of use
 *   cost on top of it. The rate of full cost, f and for time used f + v, is by the
 *   idle policy of the pool (site_idle_policy):
 *     in-rate    v = U / (sum of p of time used),
 *                f = (C - U) / (that, and the reserved time that holders pay)
 *     practical  f = r / planned utilization, v = u
 *     else       f = r, v = u
 *
 * The list price of a line is  rate x p  where a published rate is in force, else
 * (f + v) x p, of time not used f x p. What is due is the list price and its
 * adjustments, in this order, each by what the former ones left:
 *
 *   qos          x multiplier of the QOS
 *   subsidy      x (1 - subsidy of the QOS)
 *   entitlement  x (1 - e),  e = min (1, (entitled + rollover in) / asked)  of who
 *                pays, where asked is what it is billed, the sum of p x
 *                multiplier x (1 - subsidy), and by policy the reserved time
 *                that it is to pay
 *   tier         x t,  t = mean marginal price of what is billed and not entitled
 *                / rate, for who pays (docs/decisions/blended-tiers.md)
 *   surcharge    x (1 + surcharge) x (1 + overhead) of an external team
 *
 * Factors e and t hold for all that somebody uses of the pool in the month, so
 * that how lines are split changes nothing. Who pays is the team, or the account
 * where it has none (charge_payer_t).
 *
 * Time that was not allocated is one of the remainders, unless the policies give it to
 * somebody: then it is a line of kind CHARGE_IDLE of an account or a team, with
 * the class as `what`, the GPU-seconds and their cost; spread evenly over the
 * stretches of the month. Reserved time is paid at the rate of a GPU without
 * QOS, the other classes at r, and of these only the part that falls to time
 * under no published rate (by q): a published rate is all there is to pay. An
 * external team pays its surcharge on them, too. See docs/guides/rates.md.
 *
 * What is entitled and not drawn is unused. When the month is over it expires, or
 * by the entitlement goes to the next month of the fiscal year, capped, so that
 *
 *   entitled + rollover in = drawn + drawn by reservations + unused
 *   unused = rollover out + expired              of a month that is over
 *
 * exactly; the rollover out of a month is the rollover into the next.
 *
 * What is paid for an entitlement is a line of kind CHARGE_PURCHASE of its team,
 * without GPU-seconds and cost: the price of each hour entitled, drawn or not, or
 * a fee for the month, up to as-of, spread evenly over the time that the entry
 * holds; an external team pays its surcharge on it. It is money for time that
 * other lines are not charged for, so the remainder "prepaid" has it with
 * the other sign. All hours of the month have the same value,
 *
 *   (value of the rollover + fee) / (entitled + rollover in)
 *
 * where the fee is what is due for the purchase, so that
 *
 *   value of the rollover + fee = value drawn + drawn by reservations + unused
 *   value unused = rollover out + expired        of a month that is over
 *
 * exactly.
 *
 * A credit gives back what was due for so much of p, at the same factors.
 *
 * The cost of a line is (r + u) x q whatever the policy, of time not used r x q,
 * so that charge - cost says how much of a charge is idle time, surcharge or
 * subsidy. What the lines do not carry is stated as remainders, by class
 * (allocated time in them at r + u), so that twice
 *
 *   C = sum of the lines' cost   + sum of the remainders' cost
 *   C = sum of the lines' charge + sum of the remainders' charge
 *
 * exactly, and after rounding to the smallest unit of the currency (to which
 * "rounding" has no exact amount). Each
 * adjustment, too, is a remainder: what it takes from the list price is not
 * recovered. Where the policy says `suspended: free`, q and p are without the
 * time in which the job was suspended, which is a remainder of its own; only time
 * whose place is known is free, so that no cut of a month changes what it costs.
 * If nothing was billed, in-rate is as explicit. Formulas and
 * examples: docs/guides/rates.md, docs/guides/billing.md.
 *
 * Postings are rounded here and nowhere else. A published price is a promise: a line
 * of which every price is published (a rate, a purchase; not a part of a cost, and
 * not both in one month) is rounded by itself, half to even, its list price and
 * what each adjustment leaves of it. Hours x rate is its charge, whatever others
 * do. What this moves is the remainder "rounding" (docs/decisions/rounding.md).
 * Everything else is rounded once, as a cascade of the
 * largest-remainder method (exact_share): the pool-month, half to even -> all
 * lines that share cost together, all remainders together, and the list prices of
 * published lines together -> the groups of the first level
 * -> the groups of the next level inside each -> ... -> the lines. Below a line
 * that is published, too, its integer is shared so. The first two levels must be
 * the same
 * for every report, so that whatever is asked by, filtered or grouped, the
 * same month gives the same integers:
 *
 *   level 1: CHARGE_PATH[0]                  who pays
 *   level 2: the rest of CHARGE_PATH, kind, what, reference: the charge line
 *   level 3: the team (CHARGE_TEAM); published lines are lines of one team
 *   then one level for each further key: GPU model, profile; time, all of
 *   it in one level and in its order: the cuts of a period that is not whole
 *   months, day, hour; state, label, node
 *
 * From the third level on parts are shared in their order (exact_share_in_order)
 * so that the parts of a month, however it is cut, add up to it, and a day is
 * the same as a row and as a period of its own. Adjustments are shared in the same
 * way, each from its remainder, and  list = charge - sum of the adjustments  in
 * integers.
 *
 * So: always add all lines of the pool-month, unfiltered, by CHARGE_PATH and
 * whatever more is asked; compute; then filter and group by adding integers.
 *
 * Pure. An object belongs to one thread.
 */
#ifndef GL_MONEY_CHARGE_H
#define GL_MONEY_CHARGE_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "money/cost.h"
#include "site/rate_card.h"
#include "site/site.h"
#include "usage/capacity.h"
#include "usage/key.h"
#include "usage/usage.h"

/* The keys of a charge line: CHARGE_PATH_COUNT of them, account first. Team,
 * GPU model and profile follow from these. */
#define CHARGE_PATH_COUNT 7
extern const key_id_t CHARGE_PATH[CHARGE_PATH_COUNT];
/* Where the team stands in a path that is longer. */
#define CHARGE_TEAM CHARGE_PATH_COUNT

/* Where the cost of time goes that no line bears. */
typedef enum {
    REMAINDER_IDLE,         /* free, without what is stranded */
    REMAINDER_STRANDED,     /* free, and no slice can use it */
    REMAINDER_CPU_STRANDED, /* free, and the node's CPUs or memory taken */
    REMAINDER_RESERVED_UNUSED,
    REMAINDER_PLANNED_DOWN,
    REMAINDER_DOWN,
    REMAINDER_UNKNOWN,
    REMAINDER_SUSPENDED, /* allocated to suspended jobs, and free by policy */
    REMAINDER_UNBILLED, /* allocated, but on no line: devices without a weight */
    REMAINDER_MIG,      /* time counted by one weight and priced by another, a
                            slice or a job that is billed otherwise than allocated
                            (billable.h); negative: a credit to the pool */
    REMAINDER_RECOVERY, /* published rates: cost less list prices; negative:
                            over-  recovery */
    REMAINDER_CARRIED,  /* negative: idle time in the practical rate */
    REMAINDER_QOS, /* these five: what the adjustments of the same names take
                      from list prices; negative: what they add */
    REMAINDER_SUBSIDY,
    REMAINDER_ENTITLEMENT,
    REMAINDER_TIER,
    REMAINDER_SURCHARGE,
    REMAINDER_EXCESS, /* negative: more is allocated to jobs than the pool has */
    REMAINDER_NO_CAPACITY, /* cost of a period in which the pool has no GPU */
    REMAINDER_CREDITED,    /* the credits, with the other sign */
    REMAINDER_PREPAID,     /* negative: list prices of purchases */
    REMAINDER_ROUNDING, /* no amount before rounding: what published lines, each
                           rounded by itself, make less than their sum rounded;
                           negative: more */
    REMAINDER_WAIVED,   /* these five: the site's side of settlement
                         (ledger/settlement.h); never of a charge run */
    REMAINDER_CAPPED,
    REMAINDER_GRANTED,
    REMAINDER_PREPAID_BALANCE, /* negative: deposits */
    REMAINDER_FEES,            /* negative: fees and minimums */
    REMAINDER_COUNT,
} remainder_id_t;

typedef struct {
    remainder_id_t id;
    const char *word;  /* "reserved_unused": machine name */
    const char *title; /* "reserved, not used" */
    bool unallocated;  /* a class of time, not of prices */
} remainder_info_t;

const remainder_info_t *remainder_info (remainder_id_t id);
/* Of its word; NULL: there is none. */
const remainder_info_t *remainder_named (const char *word);

/* The site's side of settlement: signed, and not of the following. */
static inline bool remainder_is_settlement (remainder_id_t id)
{
    return id >= REMAINDER_WAIVED;
}

/* How reports name an amount of a class. Cost = charges + credits + unallocated
 * cost + shortfall - margin over cost (+ both sides of settlement, which add up to
 * 0 over all pools). */
typedef enum {
    RECOVERY_UNALLOCATED, /* the cost of time that nobody is charged for */
    RECOVERY_SHORTFALL,   /* rates below cost, and what adjustments and credits
                             take off the list price: under-recovery */
    RECOVERY_MARGIN,      /* any amount below 0: over-recovery, shown above 0 */
    RECOVERY_COUNT,
} recovery_t;

typedef struct {
    const char *total;  /* "unallocated_cost": the sum */
    const char *prefix; /* "unallocated_": before the word of the class */
    const char *title;  /* "unallocated cost" */
} recovery_info_t;

extern const recovery_info_t recovery_infos[RECOVERY_COUNT];
/* sign: of the amount. */
recovery_t remainder_recovery (remainder_id_t id, int sign);
/* Its title; of deposits and fees another one where the amount is below 0. */
const char *remainder_title (remainder_id_t id, int sign);
/* "shortfall: QOS subsidies", or of settlement "paid by grants". Yours to free. */
char *remainder_label (remainder_id_t id, int sign);

typedef struct {
    mpq_t gpu_seconds; /* 0 for classes of money only */
    mpq_t cost;        /* exact */
    mpq_t charge;      /* exact */
    mpz_t cost_units;  /* rounded, in smallest units */
    mpz_t charge_units;
} charge_remainder_t;

/* What makes the list price the price that is due: the header's list, in its
 * order. */
typedef enum {
    ADJUSTMENT_QOS,
    ADJUSTMENT_SUBSIDY,
    ADJUSTMENT_ENTITLEMENT,
    ADJUSTMENT_TIER,
    ADJUSTMENT_SURCHARGE,
    ADJUSTMENT_COUNT,
} adjustment_id_t;

typedef struct {
    adjustment_id_t id;
    const char *word;  /* "subsidy": machine name */
    const char *title; /* "subsidy of the QOS" */
    remainder_id_t remainder;
} adjustment_info_t;

const adjustment_info_t *adjustment_info (adjustment_id_t id);

/* `what` of a purchase. */
#define CHARGE_ENTITLEMENT "entitlement"

/* Why a line is there. */
typedef enum {
    CHARGE_USED, /* time allocated to jobs */
    CHARGE_IDLE, /* a part of time that was not allocated, by the idle policy */
    CHARGE_CREDIT,   /* negative: credited by policy; the charge stays */
    CHARGE_PURCHASE, /* paid for an entitlement, whatever is drawn */
    CHARGE_KIND_COUNT,
} charge_kind_t;

typedef struct {
    charge_kind_t kind;
    const char *const *path; /* as added; NULL: absent. Borrowed */
    const char *what;      /* a word: the class of idle time, the reason of the
                                credit, CHARGE_ENTITLEMENT; NULL: used.
                                Borrowed */
    const char *reference; /* of a credit: the job, CLUSTER/JOBID/SUBMIT; of a
                                purchase: the entitlement, TEAM/POOL; else NULL.
                                Borrowed */
    mpq_t gpu_seconds;
    mpq_t price_seconds; /* of a credit: of what it gives back, negative; of a
                            purchase: what is bought */
    mpq_t cost;
    mpq_t list; /* before the adjustments; of a credit as charge */
    mpq_t adjustment[ADJUSTMENT_COUNT];
    mpq_t charge; /* what is due: list + adjustments */
    mpq_t drawn;  /* GPU-seconds of billed time that an entitlement covers, for
                     which adjustment[ADJUSTMENT_ENTITLEMENT] is not due */
    mpz_t cost_units;
    mpz_t list_units;
    mpz_t adjustment_units[ADJUSTMENT_COUNT];
    mpz_t charge_units;
} charge_line_t;

/* value x multiplier x (1 - subsidy); by no rule it stays. */
void charge_apply_rule (mpq_t value, const site_qos_t *rule);
/* x (1 + surcharge) x (1 + overhead); NULL: nothing. */
void charge_apply_team (mpq_t value, const site_team_t *team);

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
/* After charge_compute(): of the results the lines are no more, */
void charge_forget_lines (charge_t *charge);
/* or those that are not wanted; no charge_under() from then on. */
typedef bool (*charge_wants_f) (const charge_line_t *line, void *arg);
void charge_keep_lines (charge_t *charge, charge_wants_f wants, void *arg);

/* Allocated time. Texts are copied. Lines with the same path are added up, so a
 * line may mix prices (after a change within the month). */
void charge_add (charge_t *charge, const char *const *path,
                 mpq_srcptr gpu_seconds, mpq_srcptr price_seconds,
                 const rate_card_price_t *price);

/* Reserved time that no job used, of which the account is to pay; `team` may be
 * NULL. It is of the capacity's reserved_unused. */
void charge_add_reserved (charge_t *charge, const char *cluster,
                          const char *account, const char *team,
                          mpq_srcptr gpu_seconds);

/* A stretch of the month as the paths have it, from `start` on, `seconds` long:
 * CHARGE_IDLE lines are spread over these. `path`: its texts; those of account,
 * cluster and team are NULL. Without any, the month is one, of NULLs. */
void charge_add_stretch (charge_t *charge, const char *const *path,
                         int64_t start, uint64_t seconds);

/* A part of a line's time that is credited for the reason `what`, `of` an
 * instant within it (its pool and team are the charge's and the path's): priced as it was charged, after all adjustments; a line of its own
 * (CHARGE_CREDIT). All credits of a line and price together at most its
 * price_seconds. Those of the same path, reason and reference are added up. A
 * credit changes no other line. Its integer is a part of the integer of its line
 * (CHARGE_PATH), so that credit and rest add up to it, and all of it back is all of
 * it. */
void charge_add_credit (charge_t *charge, const char *const *path,
                        rate_subject_t of, mpq_srcptr price_seconds,
                        const char *what, const char *reference);

/* Allocated time of no line, because the job was suspended. */
void charge_add_suspended (charge_t *charge, mpq_srcptr gpu_seconds);

/* Of the part's gres_seconds: what the policy leaves free. */
uint64_t charge_free_seconds (const site_t *site, const usage_part_t *part);

/* What a part of a usage cell brings to a line, whatever the line. */
typedef struct {
    mpq_t gpu_seconds;   /* q, without what is free */
    mpq_t price_seconds; /* p */
    mpq_t suspended;     /* GPU-seconds that the policy leaves free */
    rate_card_price_t price;
} charge_part_t;

void charge_part_init (charge_part_t *part);
void charge_part_clear (charge_part_t *part);
/* `of` any instant inside the cell; its pool is that of the kind. A kind without a
 * known weight brings 0. -1 if the kind has no price weight. */
int charge_part_measure (const site_t *site, rate_subject_t of,
                         const usage_part_t *from, charge_part_t *ret_part,
                         gl_error_t *error);

/* Allocated time, by charge_part_measure (); the team is that of the path. A kind without a known weight makes a line
 * of 0: its time stays in the remainder. */
int charge_add_part (charge_t *charge, const char *const *path,
                     rate_subject_t of, const usage_part_t *part,
                     gl_error_t *error);

/* After the last line, once, by charge_compute() where nobody has: the payers, and
 * what they are billed and have drawn. */
void charge_prepare (charge_t *charge);
/* After the last line, once. -1 is a defect of this module. */
int charge_compute (charge_t *charge, gl_error_t *error);

/* Results; borrowed. The lines are ordered bytewise by path, absent first, then by
 * kind, what and reference. */
const charge_line_t *charge_lines (const charge_t *charge, size_t *ret_count);
/* REMAINDER_COUNT of them, by remainder_id_t. */
const charge_remainder_t *charge_remainders (const charge_t *charge);
/* A team, or an account that no team owns, and what it did in the pool-month. */
typedef struct {
    const char *team;    /* NULL: none */
    const char *account; /* NULL: of a team */
    mpq_t billed;        /* GPU-seconds: p x multiplier x (1 - subsidy) */
    mpq_t reserved;      /* reserved, unused GPU-seconds that draw as well */
    mpq_t entitled;      /* GPU-seconds that it need not pay, of this month */
    mpq_t rollover_in;   /* and of the month before */
    mpq_t drawn;         /* of billed: within entitled and rollover_in */
    mpq_t consumed_reserved; /* of reserved: the same */
    mpq_t unused;            /* of entitled and rollover_in */
    mpq_t rollover_out;      /* of unused: goes to the next month */
    mpq_t expired; /* of unused: has expired; 0 while the month lasts */
    mpq_t fee;     /* due for what is bought; and of money, as above: */
    mpq_t value_in;
    mpq_t value_consumed;
    mpq_t value_reserved;
    mpq_t value_out;
    mpq_t value_expired;
    mpq_t before_billed; /* charge_add_before() */
    mpq_t before_spent;
    mpq_t
        listed; /* billed - drawn at list prices, where tiers are of several pools */
    mpq_t others; /* charge_add_others(): of this month, and of earlier ones */
    mpq_t others_before;
    mpq_t spent; /* due before surcharges, for billed - drawn */
} charge_payer_t;
/* A team that was renamed is one payer, by the name that it has last in the month. */
const char *charge_payer_name (const charge_t *charge, const char *team);
/* NULL: the team used and has nothing. */
const charge_payer_t *charge_payer_of (const charge_t *charge,
                                       const char *team);
/* By team, then account, absent first. */
const charge_payer_t *charge_payers (const charge_t *charge, size_t *ret_count);
/* Before charge_compute(): when the first fact of the pool is. Without ledger.go_live the
 * ledger begins with it, and nothing is carried out of a month before it: what was
 * drawn then nobody knows. */
void charge_first_fact (charge_t *charge, int64_t instant);
/* Before charge_compute(), for tiers: what somebody used of the pool in an earlier
 * month of the fiscal year; billed - drawn and spent of that month count. */
void charge_add_before (charge_t *charge, const charge_payer_t *earlier);
/* For tiers over several pools, between charge_prepare() and charge_compute(): what
 * somebody used of another pool, in the same month or in an earlier one. */
void charge_add_others (charge_t *charge, const charge_payer_t *other,
                        tiers_by_t by, bool earlier);
/* Likewise: of the month before this one, the rollover out of it and its
 * value. */
void charge_carry (charge_t *charge, const charge_payer_t *last);
/* What a GPU-hour of the pool is priced without QOS, on average over the month;
 * after charge_compute(). */
void charge_pool_price (const charge_t *charge, mpq_t ret_price);

/* What each adjustment is, for each unit of list price: of time used at this
 * price by somebody. After charge_compute(). */
void charge_factors (const charge_t *charge, const rate_card_price_t *price,
                     const char *team, const char *account,
                     mpq_t ret_factor[ADJUSTMENT_COUNT]);

/* What a list price is multiplied by because hours are rounded up with others; false:
 * they are not. */
bool charge_rounding (const charge_t *charge, const rate_card_price_t *price,
                      const char *team, const char *account, mpq_t ret_factor);

/* What a second of time used at this price, as price_seconds count it, is charged
 * to somebody, after all adjustments. */
void charge_per_second (const charge_t *charge, const rate_card_price_t *price,
                        const char *team, const char *account,
                        mpq_t ret_amount);

/* The same pool-month under another idle policy, computed: lines by account,
 * cluster and team, under a published rate by charge line and team, over the whole
 * month, without credits. Yours to free. After
 * charge_compute(). NULL: a defect. */
charge_t *charge_under (const charge_t *charge, idle_policy_t policy,
                        gl_error_t *error);
/* All that is charged has a published price: the same under any idle policy. */
bool charge_is_published (const charge_t *charge);

const cost_t *charge_cost (const charge_t *charge);
const capacity_sum_t *charge_capacity (const charge_t *charge);
/* The cost of the pool-month in smallest units: what everything adds up to. */
mpz_srcptr charge_total (const charge_t *charge);
/* r, u and f + v, per GPU-hour: the cost of an owned hour; the cost of use that an
 * allocated hour has in addition; what such an hour without a published rate is charged.
 * r is 0 without capacity, u without use. */
mpq_srcptr charge_owned_rate (const charge_t *charge);
mpq_srcptr charge_use_rate (const charge_t *charge);
mpq_srcptr charge_full_rate (const charge_t *charge);

#endif /* !GL_MONEY_CHARGE_H */
