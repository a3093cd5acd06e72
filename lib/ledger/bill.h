/*
 * bill.h: the bill of calendar months: every charge, credit and remainder as a
 * row, at the grain of the charge line, and the cost book's lines in addition to them.
 *
 * It is what a statement, a journal and a closed period are made of. Of each
 * pool and month
 *
 *   sum of the costs = sum of the rows' charges, remainders included
 *
 * in smallest units of the currency, corrections and taxes left out, which are
 * of other months or no cost. A row is data: it owns its texts and numbers, has
 * one canonical text (what hashes are made over), and comes back from it.
 * Rows are ordered bytewise by month, pool, kind, team, keys, what, reference,
 * origin, absent first. Pure. An object belongs to one thread.
 */
#ifndef GL_LEDGER_BILL_H
#define GL_LEDGER_BILL_H

#include <gmp.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "ledger/billing.h"
#include "ledger/fields.h"
#include "money/charge.h"
#include "site/service.h"
#include "usage/capacity.h"

typedef enum {
    BILL_CHARGE,     /* time allocated to jobs */
    BILL_IDLE,       /* a part of time that was not allocated, by policy */
    BILL_CREDIT,     /* credited, by policy or manually; negative */
    BILL_CORRECTION, /* a change of a closed month, either sign */
    BILL_TAX,
    BILL_REMAINDER, /* of a pool: what nobody is charged */
    BILL_PURCHASE,  /* paid by a team for what it is entitled to in a pool */
    BILL_SETTLEMENT, /* of a rule that says who pays (ledger/settlement.h); either
                        sign */
    BILL_SERVICE,   /* of another service, imported (site/service.h); of no pool */
    BILL_KIND_COUNT,
} bill_kind_t;

/* "charge", "idle", "credit", "correction", "tax", "remainder", "purchase",
 * "settlement", "service". */
const char *bill_kind_word (bill_kind_t kind);
/* For people: "GPU time", "credits", "taxes". */
const char *bill_kind_title (bill_kind_t kind);
/* For people, of a credit by the state of its job: "node failure" of NODE_FAIL; other texts
 * as they are. */
const char *bill_credit_title (const char *what);

/* What few rows have. */
typedef struct {
    mpz_t before_units; /* of a correction made by comparing: what was due of
                           the line */
    mpz_t after_units;  /* and what is */
    mpz_t adjustment_units[ADJUSTMENT_COUNT]; /* list + these = charge, of all
                    kinds but remainders and their corrections, which have no
                    price; without adjustments the list is the charge */
    mpq_t
        consumed_seconds; /* GPU-seconds that the team's entitlement in the pool
                          covers, for which the adjustment of that name is not
                          due; of a charge, or of idle time of a reservation */
    /* What else the query of its billing distinguished; NULL: it did not, or
     * absent. A closed month has none of these. */
    char *day;
    char *hour;
    char *node;
    char *state;
    char *label;
    mpq_t quantity; /* of a service */
} posting_extra_t;

typedef struct {
    bill_kind_t kind;
    bool outside;  /* of the month, and not in the query's period */
    char *month;   /* 2026-10: of the time that it is for */
    char *pool;    /* NULL: of none */
    char *team;    /* NULL: of none */
    char *gpu;     /* model; NULL: not known */
    char *profile; /* of a MIG slice; NULL: a whole GPU */
    char *key[CHARGE_PATH_COUNT]; /* texts of CHARGE_PATH; NULL: absent */
    char *what;      /* a word: class of a remainder or of idle time, reason of a
                        credit, cause of a correction (ledger/correction.h);
                        NULL: none */
    char *reference; /* what it goes back to: CLUSTER/JOBID/SUBMIT, the number
                        of a row, or of a purchase TEAM/POOL; NULL: none */
    mpq_t gpu_seconds;
    mpq_t price_seconds; /* by price weights, in the unit of the pool; of a
                            purchase: bought */
    mpq_t exact;         /* the charge before rounding */
    mpz_t list_units;    /* before tiers, entitlements, subsidies, surcharges */
    mpz_t cost_units;    /* of the time, at the owned rate */
    mpz_t charge_units;  /* what is due */
    char *origin; /* of a correction made by comparing: which line it corrects,
                     "KIND" or "KIND:WHAT" of it; else NULL */
    char *reason; /* in words, of a manual row; else NULL */
    char *counterparty; /* of a settlement: the other team; NULL: the site */
    char *cost_object; /* of a settlement or a service: what of the team pays; NULL: its cost
                           center */
    mpq_t cpu_seconds; /* of a pool of CPUs, instead of gpu_seconds */
    /* Of a service: `what` is its name, `reference` "SOURCE:REFERENCE", `exact`
     * extra->quantity times the price of a unit. */
    char *unit;
    char *description;
    char *service_category; /* as FOCUS has it; NULL: Other */
    char *service_charge;   /* service_t.charge; NULL: usage */
    posting_extra_t *extra; /* NULL: nothing of it */
} posting_t;

/* A line of the cost book in a pool and month. */
typedef struct {
    char *month;
    char *pool;
    cost_kind_t kind;
    char *name;
    char *how;
    mpq_t amount; /* as cost_line_t has it */
    mpz_t units;  /* rounded: the lines of a pool and month add up */
    char *fund;   /* that pays for it; NULL: unspecified. The lines of an entry by its
                     funds add up to what the entry is without them */
} bill_cost_t;

/* A pool in a month. */
typedef struct {
    char *month;
    char *pool;
    bool has_cost;
    bool has_rate;
    mpq_t capacity;  /* GPU-seconds in service */
    mpq_t owned_rate; /* per GPU-hour, as charge_owned_rate() */
    mpq_t full_rate;  /* as charge_full_rate() */
    mpz_t cost_units; /* what charges are made of: all lines but disposals apart */
    char *idle; /* idle_policy_word() of the month */
    mpq_t full_cost; /* exact, of the two books (money/cost.h) */
    mpq_t recoverable_cost;
    mpq_t use_rate; /* as charge_use_rate() */
    mpq_t allocated; /* GPU-seconds that jobs had of the capacity */
    mpz_t full_units; /* the two books in smallest units */
    mpz_t recoverable_units;
} bill_pool_t;

/*
 * What a team is entitled to in a pool, in a month: its entitlement is named by
 * the two. With the fields' names,
 *
 *   bought + rollover_in = used + used_reserved + unused
 *   unused = rollover_out + expired       of a month that is over
 *   used + used_reserved = sum of consumed_seconds of the rows of team and pool
 *   amount = sum of their adjustments by entitlement, with the other sign
 *
 *   fee + value_in = value_used + value_reserved + value unused
 *   value unused = value_out + value_expired       of a month that is over
 *
 * exactly (charge.h).
 */
typedef struct {
    char *month;
    char *pool;
    char *team;
    mpq_t bought;        /* GPU-seconds, as all of these: of this month */
    mpq_t rollover_in;   /* unused of the month before */
    mpq_t used;          /* drawn by jobs */
    mpq_t used_reserved; /* drawn by reservations that no job used */
    mpq_t unused;
    mpq_t rollover_out; /* into the next month */
    mpq_t expired;
    mpq_t price; /* of a GPU-hour of the pool without QOS, on average over the
                    month: the value of unused time */
    mpz_t amount_units; /* what was not due for what was used */
    mpq_t fee;           /* due for what is bought, before rounding */
    mpz_t fee_units;     /* and on the bill: its purchases */
    mpq_t value_in; /* of rollover_in, of what was paid for it; and so on */
    mpq_t value_used;
    mpq_t value_reserved;
    mpq_t value_out;
    mpq_t value_expired;
} bill_entitlement_t;

/* What a team pays of a month's pools under an idle policy, before credits. */
typedef struct {
    char *month;
    char *idle; /* word of the policy; NULL: as billed */
    char *team; /* NULL: of none */
    bool unallocated; /* charged to nobody, and of no team */
    mpz_t units;
} bill_comparison_t;

/* What is charged for a day: of each kind of row the part that is of the month
 * itself. */
typedef struct {
    char *day;  /* 2026-10-05, of the ledger's zone */
    char *team; /* NULL: of none, as of all below */
    char *account;
    char *project;
    char *pool;
    mpz_t units;       /* for time, used or idle */
    mpz_t other_units; /* credits by policy, and purchases */
    mpq_t gpu_seconds; /* that jobs used */
    mpq_t cpu_seconds; /* of a pool of CPUs, instead */
} bill_day_t;

/*
 * What a rule of settlement had for a team in a month, and what is left of it:
 *
 *   opening + added = used + expired + closing
 */
typedef struct {
    char *month;
    char *rule;   /* its name */
    char *team;   /* NULL: one balance for all teams */
    char *unit;   /* "money", "gpu_seconds" or "cpu_seconds" */
    char *period; /* the first month of the period that the amount is for */
    char *since; /* the month of the first use under the rule; NULL: none yet */
    mpq_t opening;
    mpq_t added;
    mpq_t used;
    mpq_t expired; /* or paid back */
    mpq_t closing;
    mpq_t rolled_over; /* of closing: left from the period before */
    char *
        user; /* of the team, or of all of them; NULL: it is not for each user */
} bill_balance_t;

/*
 * The energy of jobs of a month, by what is the same of them, and the CO2e that it and the
 * making of the GPUs caused (carbon/carbon.h). With `factor` and its source a row says
 * itself what it was computed with. Energy has 6 decimals, grams have 3: rows of any
 * grouping add up.
 *
 *   facility_kwh = (measured_kwh + modelled_kwh) x PUE
 *   grams = facility_kwh x intensity, of the series or else of the factor
 */
typedef struct {
    char *month;
    char *cluster;
    char *team; /* NULL: of none, as of all below */
    char *account;
    char *user;
    char *project;
    char *qos;
    char *partition;
    char *pool;
    char *grid;   /* name of the entry of `grid`; NULL: none applies, and the emissions
                     of its energy are unknown */
    char *factor; /* "335.4", g/kWh */
    char *source; /* of the factor, with its year */
    char *series; /* file of intervals; NULL: none */
    char *series_hours; /* "700": of the month, as far as it is known, for which the
                           series has a value */
    char *gap_hours;    /* and for which it has none: these have the factor */
    char *embodied;     /* "164 kg over 48 months"; NULL: unknown */
    char *embodied_source;
    mpq_t gpu_seconds;
    mpq_t known_seconds;   /* of them: counters measured their energy */
    mpq_t unknown_seconds; /* of them: neither counters nor `power` have it */
    mpq_t measured_kwh;
    mpq_t modelled_kwh;
    mpq_t facility_kwh;
    mpq_t series_kwh;  /* of facility_kwh: at the intensity of the series */
    mpq_t unknown_kwh; /* of facility_kwh: without a `grid` */
    mpq_t grams;       /* of the energy */
    mpq_t least_grams; /* if each job had begun at the best full hour of the next
                          CARBON_WITHIN hours; with a series only */
    mpq_t embodied_seconds; /* of gpu_seconds: the making is known */
    mpq_t embodied_grams;   /* in addition to grams */
} bill_carbon_t;

/*
 * GPU time of jobs that did no useful work (waste/waste.h), by cause, pool and team; and
 * all time that jobs had, without a cause.
 */
typedef struct {
    char *month;
    char *cause; /* a word of waste/waste.h; NULL: all time that jobs had */
    char *pool;
    char *team;
    mpq_t seconds; /* of physical GPUs */
    mpq_t known;   /* of all time: agents measured whether GPUs were idle */
    mpq_t priced;  /* of the seconds: they have a price, which may be 0 */
    mpz_t units;   /* their value at list price */
} bill_waste_t;

/* A job among those that wasted most by a cause, or by all of them. */
typedef struct {
    char *month;
    char *list;  /* the cause; NULL: all causes */
    char *cause; /* the largest one of the job, or that of the list */
    char *cluster;
    char *job; /* its number */
    char *team;
    char *user;
    char *others; /* "failed=5400,idle_spare=1/2": seconds of its other causes, in the list
                     of all causes of each one */
    uint64_t gpus; /* devices, at most at a time */
    mpq_t seconds;
    mpz_t units;
} bill_wasteful_job_t;

/* What jobs had of a pool's GPUs, hour by hour: what decisions are made of (report/plan.h).
 * Times are GPU-seconds. */
typedef struct {
    char *month;
    char *pool;
    bool slices;         /* it is cut into slices, or jobs had parts of its GPUs */
    bool weight_unknown; /* of some device that jobs had */
    mpq_t allocated;
    mpq_t active; /* of these: the devices' activity x time, */
    mpq_t known;  /* and for how long it is known */
    capacity_sum_t of;
    char *gpus; /* that jobs had in each hour of the month: "0*5,3,7/2", a value and for
                   how many hours it is the same */
} bill_demand_t;

/* It has a price: its hours have the value of what was paid. */
bool bill_entitlement_is_paid (const bill_entitlement_t *entitlement);
/* Of fee and value_in what is not used. */
void bill_entitlement_value_unused (const bill_entitlement_t *entitlement,
                                    mpq_t ret_value);

/* The class of the remainder that gains (below 0) and losses of disposals are where
 * policy.disposal leaves them out of the charges: of the bill alone, with a line of
 * the cost book of the same amount, and not in the pool's cost_units. */
#define BILL_DISPOSAL "disposal"

/* The lists that a bill is made of; `bill_fields` describes their rows. */
typedef enum {
    BILL_POSTINGS,
    BILL_COSTS,
    BILL_POOLS,
    BILL_ENTITLEMENTS, /* by pool and team */
    BILL_COMPARISONS,  /* by policy and team; of bill_compare_policies() */
    BILL_DAYS,         /* of a computed month where asked for */
    BILL_BALANCES,     /* of bill_settle() */
    BILL_TEAM_DAYS,    /* of a month to be closed: BILL_DAYS by day and team */
    BILL_CARBON,       /* of month_carbon() */
    BILL_WASTE,        /* this and what follows: of a month to be closed, month_retained() */
    BILL_WASTEFUL_JOBS, /* the largest of each list first */
    BILL_DEMAND,
    BILL_LIST_COUNT,
} bill_list_t;
extern const fields_t bill_fields[BILL_LIST_COUNT];

typedef struct bill bill_t;

/* What the billing's query has to group by for bill_take_pool(); more may follow. */
extern const char bill_keys[];

bill_t *bill_new (void);
/* Accepts NULL. */
void bill_free (bill_t *bill);

typedef struct {
    bill_t *bill;  /* to which it is added; bill_sort() it in the end */
    bool compared; /* with what the month would be under other idle policies */
} bill_taking_t;
/* For billing_compute(), which has a bill_taking_t handed on: of a billing whose query
 * groups by bill_keys first, and has no filters; of whole months (the last one up to
 * as-of) unless rows are to be `outside`. -1 is a defect. */
int bill_take_pool (const billing_t *billing, const pool_month_t *pool_month,
                    void *taking, gl_error_t *error);
/* It alone, where the cost of the pool is known. */
int bill_compare_policies (bill_t *bill, const site_t *site,
                           const pool_month_t *pool_month, gl_error_t *error);

/* A row of a service, whose import checked it: of the month of its day. `team`: who
 * pays; NULL: no team. */
posting_t *bill_add_service (bill_t *bill, const service_t *service,
                             const char *team);

/* A row of zeros and NULLs at the end of a list, to be filled; valid until the
 * next. Lists keep the order in which rows are added, until bill_sort(). */
void *bill_append (bill_t *bill, bill_list_t list);
/* The same with the values of the first `count` fields (bill_fields; of another list's rows
 * those that `fields` describes), NULL: absent. Rows share texts, which are the bill's. False: a value is not as field_set() wants it. */
bool bill_append_values (bill_t *bill, bill_list_t list, const fields_t *fields,
                         const char *const *value, size_t count);
/* Room for so many rows more, where their number is known. */
void bill_reserve (bill_t *bill, bill_list_t list, size_t count);
/* Borrowed until the next bill_append() or bill_sort(). */
const void *bill_list (const bill_t *bill, bill_list_t list, size_t *ret_count);

static inline posting_t *bill_add (bill_t *bill)
{
    return bill_append (bill, BILL_POSTINGS);
}

/* Rows of one team that somebody pays for or that correct such rows: all but remainders, in
 * their order. Borrowed until the next bill_append() or bill_sort(). */
typedef struct {
    const size_t *index; /* into postings() */
    size_t count;
} bill_rows_t;
/* `team` NULL: of no team. The first call sorts the rows of the bill by team. */
bill_rows_t bill_rows_of (const bill_t *bill, const char *team);

/* Takes a copy. */
void bill_add_copy (bill_t *bill, const posting_t *row);
/* Frees the rows of a list that nobody reads any more. */
void bill_forget (bill_t *bill, bill_list_t list);
/* Frees the rows of BILL_CHARGE, which are most of a month. */
void bill_forget_charges (bill_t *bill);
/* The rows into the order above. */
void bill_sort (bill_t *bill);

static inline const posting_t *postings (const bill_t *bill, size_t *ret_count)
{
    return bill_list (bill, BILL_POSTINGS, ret_count);
}

static inline const bill_cost_t *bill_costs (const bill_t *bill,
                                             size_t *ret_count)
{
    return bill_list (bill, BILL_COSTS, ret_count);
}

static inline const bill_pool_t *bill_pools (const bill_t *bill,
                                             size_t *ret_count)
{
    return bill_list (bill, BILL_POOLS, ret_count);
}

static inline const bill_entitlement_t *
bill_entitlements (const bill_t *bill, size_t *ret_count)
{
    return bill_list (bill, BILL_ENTITLEMENTS, ret_count);
}

static inline const bill_comparison_t *
bill_comparisons (const bill_t *bill, size_t *ret_count)
{
    return bill_list (bill, BILL_COMPARISONS, ret_count);
}

static inline const bill_balance_t *bill_balances (const bill_t *bill,
                                                   size_t *ret_count)
{
    return bill_list (bill, BILL_BALANCES, ret_count);
}
/* BILL_TEAM_DAYS of BILL_DAYS. */
void bill_add_team_days (bill_t *bill);

static inline const bill_day_t *bill_days (const bill_t *bill, size_t *ret_count)
{
    return bill_list (bill, BILL_DAYS, ret_count);
}

static inline const bill_carbon_t *bill_carbon (const bill_t *bill,
                                                size_t *ret_count)
{
    return bill_list (bill, BILL_CARBON, ret_count);
}

static inline const bill_waste_t *bill_waste (const bill_t *bill,
                                              size_t *ret_count)
{
    return bill_list (bill, BILL_WASTE, ret_count);
}

static inline const bill_wasteful_job_t *
bill_wasteful_jobs (const bill_t *bill, size_t *ret_count)
{
    return bill_list (bill, BILL_WASTEFUL_JOBS, ret_count);
}

static inline const bill_demand_t *bill_demand (const bill_t *bill,
                                                size_t *ret_count)
{
    return bill_list (bill, BILL_DEMAND, ret_count);
}

/* posting_t.extra. */
extern const fields_apart_t posting_apart;

/* To read it: all zeros and NULLs of a row that has nothing of it. */
static inline const posting_extra_t *posting_extra (const posting_t *row)
{
    return row->extra ? row->extra : posting_apart.absent;
}

/* To write it: the row's own. */
static inline posting_extra_t *posting_own_extra (posting_t *row)
{
    return fields_block (&posting_apart, row);
}

static inline void posting_init (posting_t *row)
{
    fields_init (&bill_fields[BILL_POSTINGS], row);
}

static inline void posting_clear (posting_t *row)
{
    fields_clear (&bill_fields[BILL_POSTINGS], row);
}

/* Into an initialised row. */
static inline void posting_copy (posting_t *to, const posting_t *from)
{
    fields_copy (&bill_fields[BILL_POSTINGS], to, from);
}

/* Its numbers, by sign: to += from, or to -= from. */
static inline void posting_add (posting_t *to, const posting_t *from, int sign)
{
    fields_add (&bill_fields[BILL_POSTINGS], to, from, sign);
}

/* Its time in the unit of its pool: only where rows are of one pool. */
static inline mpq_srcptr posting_seconds (const posting_t *row)
{
    return mpq_sgn (row->cpu_seconds) != 0 ? row->cpu_seconds
                                           : row->gpu_seconds;
}

/* All of its numbers are. */
static inline bool posting_is_zero (const posting_t *row)
{
    return fields_are_zero (&bill_fields[BILL_POSTINGS], row);
}

/* The canonical text of a row (fields.h). Field names never change; new fields come
 * last. */
static inline void posting_text (const posting_t *row, buffer_t *out)
{
    fields_text (&bill_fields[BILL_POSTINGS], row, out);
}

/* Into an initialised row; -1 with what is wrong in it. */
static inline int posting_parse (const char *text, size_t length,
                                 posting_t *row, gl_error_t *error)
{
    return fields_parse (&bill_fields[BILL_POSTINGS], text, length, row, error);
}

/* Every bill has it: not only one whose billing was asked to tell it apart. */
bool bill_has_key (key_id_t key);
/* The text of a key of the row; NULL: absent. The second knows what the configuration
 * says of its team, too, in the month in which it is billed: `month`, NULL: its own. */
const char *posting_key (const posting_t *row, key_id_t key);
const char *posting_key_billed (const posting_t *row, const site_t *site,
                                const char *month, key_id_t key);
char **posting_key_at (posting_t *row, key_id_t key);

/* Somebody pays for it: it is neither what nobody is charged, nor a correction of
 * that. */
bool posting_is_due (const posting_t *row);
/* It was not computed of the month's own time: somebody pays or gets it for an
 * earlier month, or it is manual. */
bool posting_is_adjustment (const posting_t *row);
/* The order above: <0, 0, >0. Equal rows are of the same line. */
int posting_compare (const posting_t *a, const posting_t *b);

#endif /* !GL_LEDGER_BILL_H */
