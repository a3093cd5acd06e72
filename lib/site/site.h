/*
 * site.h: what a site has told us: its pools, teams, projects, cost book and
 * rate card. Plain data, filled by lib/config from YAML (every key is
 * documented there, in one table) and read by the rooms above.
 *
 * Every entry that can change over time carries `valid`, the half-open period
 * in which it holds, as instants of the ledger's zone; an entry without dates
 * holds from SITE_ALWAYS_START to SITE_ALWAYS_END. One name may stand several
 * times with periods that do not overlap. Texts are owned by the site. Money is
 * in the ledger's currency, exact. Pointers are NULL and counts 0 where the
 * file says nothing.
 */
#ifndef GL_SITE_SITE_H
#define GL_SITE_SITE_H

#include <gmp.h>

#include "base/buffer.h"
#include "base/calendar.h"
#include "base/exact.h"
#include "base/text.h"
#include "base/zone.h"
#include "gres/mig.h"

#define SITE_ALWAYS_START INT64_MIN
#define SITE_ALWAYS_END INT64_MAX

/* Where an entry stands, for messages: "gpuledger.yaml:12". */
typedef struct {
    const char *file; /* shared by all entries of the file */
    int line;
} place_t;

typedef struct {
    char *name;
    zone_t *zone;  /* of naive times in its sacct text; NULL: the ledger's */
    char *slurmdb; /* mysql:// URL of slurmdbd's database */
    place_t place;
} site_cluster_t;

/* By what a job is billed in a pool. */
typedef enum {
    BILL_GPUS,     /* what it holds of GPUs */
    BILL_DOMINANT, /* or the GPUs that its CPUs or memory stand for, rounded up */
    BILL_MAX,      /* the largest of what GPUs, CPUs and memory weigh: Slurm's
                      MAX_TRES */
    BILL_SUM,      /* these added: Slurm's default */
    BILL_SUM_OR_MEMORY, /* GPUs and CPUs added, or memory if that is more */
} bill_basis_t;

/* What happens to the cost of GPU time that no job held. */
typedef enum {
    IDLE_AS_POLICY,    /* of a pool: as the policy of the site */
    IDLE_EXPLICIT,     /* stated beside the charges; the platform pays */
    IDLE_IN_RATE,      /* in the rate: the billed hours carry the whole cost */
    IDLE_PRACTICAL,    /* in the rate as far as it was planned: cost / (capacity
                       x policy.utilization); the rest is stated */
    IDLE_PROPORTIONAL, /* lines of accounts, by the GPU time that they held */
    IDLE_UNIFORM,      /* lines of teams, equal parts */
    IDLE_ENTITLEMENT,  /* lines of teams, by their entitlements in the pool */
    IDLE_NONE,         /* stated, and nobody pays it (showback) */
} idle_policy_t;

/* What a pool counts: its hours are GPU-hours or CPU-hours, and are never added to
 * those of the other. */
typedef enum {
    RESOURCE_GPU,
    RESOURCE_CPU,
} resource_t;

/* Whose CPUs a pool of CPUs counts. */
typedef enum {
    CPUS_WITHOUT_GPUS, /* of jobs without GPUs */
    CPUS_OF_ALL,       /* of every job: a CPU-hour in addition to a GPU-hour */
} cpu_jobs_t;

/* A set of nodes x GRES types that share a cost; or the CPUs of nodes. */
typedef struct {
    char *name;
    int resource;          /* resource_t */
    int cpu_jobs;          /* cpu_jobs_t, of a pool of CPUs */
    char *cluster;         /* NULL: every cluster */
    char *nodes;           /* Slurm's bracketed form */
    text_list_t gres;      /* Slurm's type strings; "gpu" is the untyped device.
                              Empty: every type on these nodes */
    char *gpu;             /* model, e.g. H100-SXM5-80GB */
    int64_t gpus_per_node; /* physical GPUs; of a pool of CPUs its CPUs */
    mig_basis_t mig_weight; /* of the quantity: compute or memory */
    char *layout; /* MIG slices that the pool's GPUs of one node are cut
                     into, "1g.10gb:4,3g.40gb:1"; NULL: not cut, or not
                     known (capacity.h) */
    int64_t shards_per_gpu;  /* gres/shard of one GPU; 0: not told */
    int64_t mps_per_gpu;     /* gres/mps of one GPU; 0: 100 */
    int64_t cpus_per_node;   /* of a whole node, as Slurm counts; 0: not told */
    int64_t memory_per_node; /* of a whole node, MB; 0: not told */
    int bill; /* bill_basis_t: what is billed of a job (money/billed.h) */
    int64_t cpus_per_gpu; /* of dominant: so many stand for a GPU; 0: no CPUs */
    int64_t memory_per_gpu; /* the same, MB; 0: no memory */
    mpq_t gpu_weight; /* of max and sum: as TRESBillingWeights has them, of a */
    mpq_t cpu_weight; /* GPU, a CPU and a GiB of memory */
    mpq_t memory_weight;
    mpq_t interruptible; /* share of its work that may be interrupted, 0..1 */
    idle_policy_t idle;
    period_t valid;
    place_t place;
} site_pool_t;

/* An entry is split where a rule of `institutions` begins or ends, so that
 * institution, class and address are those that are in force. */
typedef struct {
    char *name;
    text_list_t aliases;  /* other names of it */
    text_list_t accounts; /* "vision", or "subtree:cv" */
    char *cost_center;
    char *class; /* of customers; rates may be for one. NULL: none */
    char *plan;  /* the same, as the team has chosen it */
    char *pi;    /* who answers for it; NULL here and below: not given */
    char *email;
    text_list_t mail;  /* to whom its mail goes; empty: `email` */
    char *institution; /* that it belongs to */
    char *billing_address;
    text_list_t
        readers; /* groups of the web server that see its pages; empty: the one
                            with its name */
    /* The team pays internal x (1 + surcharge) x (1 + overhead). */
    mpq_t surcharge;
    mpq_t overhead;
    period_t valid;
    place_t place;
} site_team_t;

/* A rule: which teams belong to an institution, and what holds for those of them
 * that say nothing else themselves. A team belongs to it that one of the lists
 * finds. */
typedef struct {
    char *name;
    text_list_t teams;
    text_list_t accounts; /* patterns for those that a team lists */
    text_list_t email_domains;
    char *billing_address; /* NULL: not given */
    char *class;           /* the same */
    period_t valid;
    place_t place;
} site_institution_t;

/* The allow-list of project tags: a tag counts if its user or its account may
 * charge it. Both lists empty: everybody may. */
typedef struct {
    char *name;
    text_list_t users;
    text_list_t accounts;
    text_list_t default_for; /* accounts whose untagged jobs belong here */
    period_t valid;
    place_t place;
} site_project_t;

typedef struct {
    char *name;  /* of a pool, or of a fund */
    mpq_t share; /* 0..1 */
} site_share_t;

typedef struct {
    site_share_t *item;
    size_t count;
} share_list_t;

/* Who pays for a part of the cost book. */
typedef struct {
    char *name;
    mpq_t recoverable; /* the share that rates may recover, 0..1 */
    place_t place;
} site_fund_t;

typedef enum {
    DEPRECIATION_STRAIGHT_LINE,
    DEPRECIATION_DECLINING,
    DEPRECIATION_SUM_OF_YEARS,
    DEPRECIATION_UNITS_OF_USE,
} depreciation_t;

typedef enum {
    SALVAGE_AS_BEFORE,
    SALVAGE_AMOUNT,
    SALVAGE_SHARE, /* of the price */
} salvage_t;

/* What is otherwise of an asset from a day on; what came before stays. */
typedef struct {
    civil_t from;
    char *pool;      /* it moves there; NULL: stays */
    int life_months; /* in all, from the day in service; 0: as before */
    salvage_t salvage_is;
    mpq_t salvage;
    mpq_t expected_gpu_hours; /* in all; 0: as before */
    place_t place;
} site_asset_change_t;

typedef struct {
    char *name;
    char *pool; /* on the day in service */
    mpq_t units;
    mpq_t price;        /* of one unit */
    mpq_t salvage;      /* of one unit, as an amount */
    civil_t in_service; /* the first day that bears cost */
    civil_t retired; /* the first day that no longer does; year 0: none known */
    mpq_t proceeds;  /* of one unit, when it was retired */
    int life_months;
    depreciation_t method;
    mpq_t
        expected_gpu_hours; /* of units of use: of all units, in all; else 0 */
    share_list_t funding;   /* by fund, 1 in all; empty: not told */
    mpq_t recoverable;      /* the share that rates may recover, 0..1 */
    site_asset_change_t *changes; /* by date */
    size_t change_count;
    place_t place;
} site_asset_t;

typedef struct {
    char *name;
    mpq_t fte;
    mpq_t loaded_salary;  /* of one full-time equivalent and year */
    mpq_t recoverable;    /* the share that rates may recover, 0..1 */
    share_list_t funding; /* as of an asset */
    share_list_t pools;
    period_t valid;
    place_t place;
} site_staff_t;

typedef struct {
    char *pool;
    mpq_t watts_per_gpu; /* average over busy and idle time, with the GPU's
                            share of its node; with idle_watts and node_watts:
                            of a GPU that a job holds, without its node */
    mpq_t idle_watts;    /* of a GPU that no job holds; 0: as any other */
    mpq_t node_watts;    /* of the rest of a node */
    int measured; /* held GPUs by their own counters, as far as they tell */
    mpq_t pue;    /* facility energy / IT energy, >= 1 */
    char *tariff;
    period_t valid;
    place_t place;
} site_power_t;

/* Hours of some days at another price. */
typedef struct {
    unsigned days; /* bit 0: Monday; on which it begins */
    int hours[2]; /* minutes of the local day, [from, to); to <= from: until the
                      next day */
    mpq_t per_kwh;
    place_t place;
} site_tariff_time_t;

typedef struct {
    char *name;
    mpq_t per_kwh;
    site_tariff_time_t *times; /* the first that holds counts */
    size_t time_count;
    zone_t *zone;          /* of these hours; NULL: the ledger's */
    mpq_t demand_per_kw;   /* and month, of the highest load in it */
    mpq_t fixed_per_month; /* shared by energy */
    share_list_t funding;  /* of all that is paid by it, as of an asset */
    mpq_t recoverable;
    period_t valid;
    place_t place;
} site_tariff_t;

typedef enum {
    METER_MACHINES, /* all machines: PDUs */
    METER_NODES,    /* the GPU nodes as a whole: BMCs */
    METER_FACILITY, /* with cooling and losses: the utility's */
} meter_kind_t;

/* A meter whose readings are imported. */
typedef struct {
    char *name;
    meter_kind_t measures;
    char *tariff; /* by which what it measures is paid; NULL: the only one */
    place_t place;
} site_meter_t;

/* How much CO2e a kilowatt-hour of electricity causes. */
typedef struct {
    char *name;
    char *cluster; /* NULL: every cluster */
    mpq_t g_per_kwh;
    char *series; /* file of intervals, where these tell it better (carbon/series.h);
                     NULL: none */
    char *source;
    period_t valid;
    place_t place;
} site_grid_t;

/* What it caused to make a GPU, with its share of the node if the source says so. */
typedef struct {
    char *pool;
    mpq_t kg_per_gpu;
    int64_t life_months; /* over which it is spread evenly */
    char *source;
    period_t valid;
    place_t place;
} site_embodied_t;

typedef enum {
    COST_PER_GPU_HOUR, /* driver: gpu_hours: amount for each allocated one */
    COST_PER_MONTH,    /* driver: month */
    COST_PER_YEAR,     /* driver: year: 1/12 of it each month */
    COST_PER_CAPACITY, /* driver: capacity: each GPU-hour in service */
    COST_PER_KWH,      /* driver: energy: each kWh of the machines */
    COST_PER_JOB,      /* driver: jobs */
} cost_driver_t;

/* How pools share an amount of a month or year. */
typedef enum {
    SHARE_FIXED,
    SHARE_BY_CAPACITY,
    SHARE_BY_GPU_HOURS,
    SHARE_BY_ENERGY,
    SHARE_BY_JOBS,
} cost_share_t;

typedef enum {
    COST_OF_OTHER,
    COST_OF_NETWORK,
    COST_OF_STORAGE,
    COST_OF_INSTALLATION,
    COST_OF_RACK,
    COST_OF_LICENCE,
    COST_OF_MAINTENANCE,
} cost_category_t;

typedef enum {
    COST_STATUS_UNTOLD,
    COST_ACTUAL,
    COST_ACCRUED,
    COST_PLANNED,
} cost_status_t;

typedef struct {
    char *name;
    char *pool; /* NULL: `pools` share it */
    share_list_t pools;
    cost_share_t share_by;
    cost_category_t category;
    mpq_t amount;
    cost_driver_t driver;
    char *evidence; /* an invoice, a contract, an estimate */
    cost_status_t status;
    share_list_t funding; /* as of an asset */
    mpq_t recoverable;    /* the share that rates may recover, 0..1 */
    period_t valid;
    place_t place;
} site_cost_t;

/* The price of what a team takes beyond a threshold within the fiscal year; or of a
 * CPU or GB of a job that has more than so many of them (steps_by_t). */
typedef struct {
    mpq_t above;        /* in units of the rate's tiers_by; or CPUs, or GB */
    mpq_t per_gpu_hour; /* or of a CPU, or of a GB */
    place_t place;
} site_tier_t;

typedef enum {
    TIERS_BY_GPU_HOURS, /* billed, after entitlements */
    TIERS_BY_SPEND,     /* what was due for them, before surcharges */
} tiers_by_t;

/* Whose hours are rounded up. */
typedef enum {
    ROUND_BY_JOB,     /* of each ended job */
    ROUND_BY_ACCOUNT, /* of all its jobs in a pool and month at the rate */
    ROUND_BY_MONTH,   /* of the team's likewise; of an account without one */
} round_by_t;

/* What a GB of memory is in a price. */
typedef enum {
    GB_BINARY,  /* 2^30 bytes, as Slurm's G */
    GB_DECIMAL, /* 10^9 bytes */
} gb_t;

/* What steps of CPUs and memory count. */
typedef enum {
    STEPS_BY_UNIT, /* for each GPU, or CPU of a pool of CPUs */
    STEPS_BY_JOB,  /* of the job, beyond what is included */
} steps_by_t;

/* What GPU time costs once a rate has ended and none for the same follows. */
typedef enum {
    AFTER_END_OTHER_RATES, /* what other rates of the pool say, else full cost */
    AFTER_END_NOT_BILLED,  /* nothing */
} after_end_t;

/* A published price. A pool without a rate in force is charged at full cost. Of
 * several that hold the one applies that rate_card_price() finds. */
typedef struct {
    char *pool;
    char
        *plan; /* of the team; NULL here and below: every one without its own */
    char *class;
    char *partition;
    char *qos;
    /* Of one job, and no key of a line: its price over that of the rate of the line
     * is a weight of its billable quantity (usage/billable.h). */
    char *reservation;
    int64_t gpus[2]; /* at least and at most so many; 0: any number */
    mpq_t per_gpu_hour;
    mpq_t
        per_cpu_hour; /* of pools that bill CPUs and memory by weights; both 0: */
    mpq_t per_gb_hour; /* by the weights of the pool */
    gb_t gb;
    mpq_t included_cpus; /* of each GPU, which cost nothing more */
    mpq_t included_gb;
    /* Instead of these prices, by rising threshold. */
    site_tier_t *cpu_steps;
    size_t cpu_step_count;
    site_tier_t *gb_steps;
    size_t gb_step_count;
    steps_by_t steps_by;
    mpq_t minimum; /* of an ended job, in money or GPU-hours; 0: none */
    mpq_t minimum_gpu_hours;
    int64_t
        round_hours; /* up to a multiple of so many seconds; 0: as they are */
    round_by_t round_hours_by;
    mig_basis_t mig_price; /* compute, memory or max */
    /* By rising threshold; below the first: per_gpu_hour. Where that is 0 the list
     * price is that of the dearest tier: rate_list_price(). */
    site_tier_t *tiers;
    size_t tier_count;
    tiers_by_t tiers_by;
    text_list_t
        tiers_pools;   /* whose use counts for the thresholds; empty: pool's */
    char *approved_by; /* of this version; NULL: not told */
    char *note;
    int after_end; /* after_end_t */
    bool ended; /* a price of 0, added by the configuration for `after_end` */
    period_t valid;
    place_t place;
} site_rate_t;

/* What a QOS does to the price. */
typedef struct {
    char *name;
    char *pool;       /* NULL: every pool without an entry of its own */
    mpq_t multiplier; /* 1: as it is */
    mpq_t subsidy;    /* share that the site pays: 1 is free */
    int preemptible;  /* 1: its jobs may be stopped for others */
    period_t valid;
    place_t place;
} site_qos_t;

/* What becomes of what is unused at the end of a month. */
typedef enum {
    UNUSED_EXPIRES,
    UNUSED_CARRIED, /* into the next month of the fiscal year */
} unused_policy_t;

/* What a team owns or has bought of a pool, and uses without paying again.
 * Exactly one of the three amounts is above 0, and at most one of the prices. */
typedef struct {
    char *team;
    char *pool;
    mpq_t gpus;      /* physical GPUs */
    mpq_t share;     /* of the capacity, 0..1 */
    mpq_t gpu_hours; /* in each calendar month */
    unused_policy_t unused;
    mpq_t carry_cap; /* GPU-hours that are carried at most; 0: no cap */
    mpq_t
        per_gpu_hour; /* paid for each GPU-hour, drawn or not; 0: not by hours */
    mpq_t per_month;  /* paid for a calendar month; 0: not by months */
    period_t valid;
    place_t place;
} site_entitlement_t;

/* What a month of traffic to the internet costs, by tiers. */
typedef struct {
    text_list_t tiers; /* above so many units, price of each; in pairs */
    bool binary;       /* units are GiB; else GB */
    char *as_of;       /* NULL: no price is known */
    char *source;
} site_egress_t;

typedef struct {
    char *name;
    char *gpu;
    char *catalogue; /* the offer PROVIDER/INSTANCE/REGION that has the price, and
                        from which the next three are filled
                        (prices/catalogue.h); NULL: they are in the file */
    mpq_t per_gpu_hour;
    char *as_of; /* "2026-09-25", "2026-09" or "2026" */
    char *source;
    char *term;
    char *provider; /* offers of one provider are used together; NULL: none named */
    mpq_t waste; /* share of the rented time that interruptions lose, below 1 */
    bool filled;
    char *catalogue_as_of; /* as_of of the file, if it is filled; NULL: none */
    site_egress_t egress;  /* of the offer's provider and region */
    place_t place;
} site_cloud_t;

/* What is to be decided (planning/analysis.h). */
typedef enum {
#define KIND(id, word) ANALYSIS_##id,
#include "site/analysis_kinds.h"
#undef KIND
    ANALYSIS_KINDS,
} analysis_kind_t;

typedef enum {
#define INPUT(id, ...) INPUT_##id,
#include "site/analysis_inputs.h"
#undef INPUT
    ANALYSIS_NUMBERS,
    INPUT_PRICE = ANALYSIS_NUMBERS, /* of these two the entry has texts */
    INPUT_AGAINST,
    ANALYSIS_INPUTS,
} analysis_number_t;

typedef enum {
    OVERHEAD_UNTOLD,
    OVERHEAD_OF_PURCHASE,
    OVERHEAD_OF_DEPRECIATION, /* of one year */
} overhead_of_t;

typedef struct {
    char *name;
    int kind;                      /* analysis_kind_t */
    char *price;                   /* a number, a cloud or a pool; NULL: none */
    char *against;                 /* the same */
    int overhead_of;               /* overhead_of_t */
    text_list_t demand; /* GPUs in times of equal length */
    text_list_t tiers;  /* above so many GB, price of each; in pairs */
    mpq_t input[ANALYSIS_NUMBERS]; /* 0: not given */
    char *as_of;  /* of prices that are numbers; NULL: not told */
    char *source; /* the same */
    place_t place;
} site_analysis_t;

/* What is added to what a team has to pay in a month, on the sum of its charges,
 * credits and corrections; rounded once, half to even. */
typedef struct {
    char *name;
    mpq_t percent;     /* as a ratio: 25% is 1/4 */
    text_list_t teams; /* empty: every team */
    period_t valid;
    place_t place;
} site_tax_t;

/* What a rule of `settlement` does (ledger/settlement.h). */
typedef enum {
    SETTLE_WAIVER,  /* the site does not bill these charges */
    SETTLE_FEE,     /* a fixed amount, used or not */
    SETTLE_MINIMUM, /* charges of a period are at least so much */
    SETTLE_CAP,     /* and at most so much: the site pays the rest */
    SETTLE_GRANT,   /* the site pays charges up to an amount */
    SETTLE_SPONSOR, /* another team pays them */
    SETTLE_PREPAID, /* they are paid from what was deposited */
    SETTLE_SPLIT,   /* a team's charges, shared by its cost objects */
    SETTLE_KIND_COUNT,
} settle_kind_t;

typedef enum {
    SETTLE_MONTH,
    SETTLE_QUARTER, /* of the fiscal year */
    SETTLE_YEAR,    /* the fiscal year */
    SETTLE_ONCE,
} settle_period_t;

typedef enum {
    SETTLE_DEAREST, /* the charges with the highest price of a GPU-hour first */
    SETTLE_CHEAPEST,
    SETTLE_IN_PROPORTION, /* each charge in proportion to its amount */
} settle_order_t;

typedef enum {
    SETTLE_EXPIRES,
    SETTLE_CARRIED,        /* into the next period */
    SETTLE_CARRIED_ONCE,   /* likewise, and expires at its end */
    SETTLE_EXPIRES_EVENLY, /* of a year: at the end of each quarter, as much as
                              even use would have taken by then */
} settle_unused_t;

/* What a fee is paid for; of other rules, whom an amount is for: a team or a user. */
typedef enum {
    SETTLE_EACH_TEAM,
    SETTLE_EACH_USER,
    SETTLE_EACH_PROJECT,
    SETTLE_EACH_ACCOUNT,
    SETTLE_EACH_NODE, /* of its entitlements, in GPUs, on the first day */
} settle_each_t;

/* What a rule may be for: `of`. */
typedef enum {
    SETTLE_OF_CHARGES,   /* time, used or idle, and its credits */
    SETTLE_OF_PURCHASES, /* of entitlements */
    SETTLE_OF_SERVICES,
    SETTLE_OF_FEES,      /* of earlier rules, and minimum charges */
    SETTLE_OF_SPONSORED, /* what the team pays for others */
    SETTLE_OF_COUNT,
} settle_of_t;
extern const char *const settle_of_words[SETTLE_OF_COUNT];

typedef enum {
    OUTAGE_OF_SITE,     /* all of its time */
    OUTAGE_OF_SLURMDBD, /* the time in it in which slurmdbd has a node as down */
} outage_source_t;

/* Time for which jobs are credited their charge. */
typedef struct {
    char *name;
    text_list_t pools; /* empty: every pool */
    char *nodes;       /* NULL: every node */
    int source;        /* outage_source_t */
    uint32_t killed; /* a job that ended so (segment_state_bit ()) within it is
                          credited in full */
    char *note;
    period_t valid; /* its time, to the second */
    place_t place;
} site_outage_t;

/* Money paid in advance, on a day. */
typedef struct {
    civil_t on;
    mpq_t amount;
    char *team; /* that pays it */
    place_t place;
} site_deposit_t;

/* A rule that says who pays for charges once they are known. */
typedef struct {
    char *name;
    int rule; /* settle_kind_t */
    int64_t
        step; /* rules apply by rising step, then name; 0: that of the rule */
    text_list_t
        teams; /* all their names over time; these, and below: charges that
                          it is for; empty: all */
    text_list_t classes;
    text_list_t pools;
    text_list_t partitions;
    text_list_t qos;
    text_list_t projects;
    text_list_t accounts;
    text_list_t of;  /* settle_of_words; empty: all, of a grant charges alone */
    mpq_t amount;    /* money; 0: not given */
    mpq_t gpu_hours; /* 0: not given */
    mpq_t cpu_hours; /* of pools of CPUs; 0: not given */
    mpq_t share; /* of each charge, 0..1; 0: not given, which is all of it */
    int per;     /* settle_period_t */
    int64_t
        first_months; /* from the first use of a team, or user, on; 0: no end */
    int prorated;     /* the first period by the part of it that is left */
    int order;        /* settle_order_t */
    int unused;       /* settle_unused_t */
    int together;     /* one amount for all teams, instead of one for each */
    char *payer;      /* of a sponsor: the team that pays */
    share_list_t split; /* of a split: cost objects */
    int each;       /* settle_each_t; of other rules than a fee, team or user */
    mpq_t quantity; /* of a fee: so many of what it is paid for */
    site_deposit_t *deposits;
    size_t deposit_count;
    int refund; /* of deposits: what is left goes back when the rule ends */
    mpq_t low_balance; /* share of the deposits below which a balance is low */
    char *note;        /* for the statement: why */
    period_t valid;
    place_t place;
} site_settlement_t;

typedef enum {
    BUDGET_MONTH,
    BUDGET_QUARTER, /* of the fiscal year */
    BUDGET_YEAR,    /* the fiscal year */
} budget_period_t;

/* What may be spent in each period. Exactly one of the four scopes is given, and
 * one of amount and gpu_hours is above 0. */
typedef struct {
    char *name;
    char *team;             /* its last name */
    text_list_t team_names; /* all that it ever has */
    char *project;
    char *account;
    char *pool;
    mpq_t amount;
    mpq_t gpu_hours;
    budget_period_t period;
    mpq_t soft;  /* share of it from which a submission is warned; 0: never */
    mpq_t hard;  /* ... refused; 0: never */
    char *owner; /* whom mail is addressed to; NULL: nobody */
    int carry_over; /* what the period before left is added */
    period_t valid;
    place_t place;
} site_budget_t;

/* Whether a job pays for GPUs that it holds while it is suspended. */
typedef enum {
    SUSPENDED_CHARGED,
    SUSPENDED_FREE, /* a remainder of its own */
} suspended_policy_t;

/* Who pays for reserved time that no job used. */
typedef enum {
    RESERVED_STATED,      /* as other idle time that nobody is charged */
    RESERVED_HOLDER,      /* the accounts of the reservation, in equal parts */
    RESERVED_ENTITLEMENT, /* they too, from what their team is entitled to */
} reserved_policy_t;

/* Which cost charges are made of. */
typedef enum {
    BOOK_UNSTATED, /* as full; closing asks where some of it is not recoverable */
    BOOK_FULL,
    BOOK_RECOVERABLE, /* without what others have paid for */
} book_t;

/* What is done with the gain or loss of an asset that is sold or scrapped. */
typedef enum {
    DISPOSAL_APART,   /* stated beside the cost, in no charge */
    DISPOSAL_IN_RATE, /* a cost of its month */
} disposal_policy_t;

typedef struct {
    idle_policy_t idle;
    book_t book;
    disposal_policy_t disposal;
    reserved_policy_t reserved;
    suspended_policy_t suspended;
    int discounts;         /* 1: a team's surcharge may be below 0 */
    mig_basis_t mig_price; /* of full-cost pools */
    mpq_t utilization;     /* productive share, for planning reports */
    int wckey_is_project;  /* use Slurm's wckey as a project tag */
    int64_t runaway_grace; /* seconds that a job may run past its time limit */
    int64_t minimum;       /* seconds that a segment is billed at least */
    int64_t increment;     /* and in multiples of which; 1: as held */
    int64_t grace;         /* one that held for less is free; 0: none */
    text_list_t labels;    /* that every job should have */
    uint32_t credits;      /* segment_state_bit () of the ends that give back */
    int64_t credit_cap;    /* seconds, at most the last ones; 0: all */
} site_policy_t;

/* Who issues statements and runs the cluster: how it signs what leaves the ledger
 * (FOCUS). Never NULL once a configuration has been read. */
typedef struct {
    char *name;     /* whose statements they are */
    char *operator; /* who runs the cluster; NULL: the issuer */
    char *owner;    /* of the hardware; NULL: the operator */
    char *service;
    int category;      /* issuer_category_t */
    char *region;      /* id of the site */
    char *region_name; /* NULL: the id */
    char *invoice_prefix;
    char *contact; /* for questions and objections; NULL: none is given */
    char *payment; /* how, and to whom, to pay; NULL: nothing is said */
} site_issuer_t;

typedef enum {
    ISSUER_COMPUTE, /* Compute, Virtual Machines */
    ISSUER_AI,      /* AI and Machine Learning, AI Platforms */
} issuer_category_t;

/* Months before ledger.go_live. */
typedef enum {
    BEFORE_GO_LIVE_SHOWN,    /* are in reports, and never closed */
    BEFORE_GO_LIVE_IMPORTED, /* are closed without charges by the first close */
} before_go_live_t;

/* The collector: where it is, who it is, whom it listens to. Read by itself, by
 * agents, and by the verbs that ask it. */
typedef struct {
    text_list_t hosts;      /* HOST or HOST:PORT, tried in this order */
    char *user;             /* whose munge credentials answer; NULL: root */
    char *munge_socket;     /* of the local munged; NULL: libmunge's default */
    text_list_t listen;     /* ADDRESS or ADDRESS:PORT; none: every address */
    text_list_t node_users; /* who may speak for a node; none: root */
    int64_t clients;        /* connections at once */
} site_collector_t;

/* From which network a node's credentials come; a node that no entry holds is
 * looked up by name. */
typedef struct {
    char *nodes;   /* Slurm's bracketed form */
    char *network; /* 10.1.0.0/16 */
    char *cluster; /* the only one that they may speak for; NULL: any */
    place_t place;
} site_network_t;

typedef struct {
    char *spool;
    char *node;    /* NULL: the host's name up to the first dot */
    char *cluster; /* NULL: as slurmd tells the plugin */
    int64_t interval_seconds;
    int cut_minutes; /* 60, 30 or 15 */
    mpq_t idle_utilization;
    int64_t idle_minutes;
    mpq_t idle_memory;
    int sharing;   /* 1: several jobs may hold one device at once */
    int64_t retain_days; /* acknowledged records stay in the spool */
    char *metrics; /* Prometheus textfile; NULL: none */
    char *replay;  /* file in place of the drivers; NULL */
    text_list_t counter_ports; /* "8000", "8100-8115": where servers of jobs show
                                  the counters of `units`; none: not read */
} site_agent_t;

/* What has to be looked at before a month is closed, and how long a closed one
 * is reviewed. */
typedef struct {
    int64_t review; /* seconds before it is handed over */
    int64_t fresh;  /* seconds that the facts may lie back at most */
    mpq_t untagged; /* share of GPU time without a project, at most */
    mpq_t unknown;  /* share of cost for capacity of unknown state, at most */
    mpq_t coverage; /* share of GPU time that the nodes saw, at least */
    /* where the latest hash is kept outside the store */
    char *anchor;               /* a file; NULL: none */
    text_list_t anchor_command; /* a program and its arguments; empty: none */
    text_list_t sign;           /* likewise, which signs the file */
} site_close_t;

/* How mail is sent, and what is sent to no team. Addresses as address_parse() takes
 * them (base/address.h). */
typedef struct {
    char *from;           /* NULL: none is given */
    char *reply_to;       /* NULL: the sender */
    text_list_t sendmail; /* a program and its arguments */
    text_list_t monthly;  /* to whom the summary of a month goes */
    char *domain; /* of users: mail goes to USER@DOMAIN. NULL: to no user */
} site_mail_t;

/* What is done about running jobs with idle GPUs. */
typedef struct {
    int64_t after;       /* seconds that they are idle */
    int64_t again;       /* a job is warned at most once in so many seconds */
    text_list_t command; /* a program and its arguments; none: there is none */
} site_idle_jobs_t;

/* A file of the month's set, in the form of a layout (site/export_layout.h). */
typedef struct {
    char *name;   /* of the file */
    char *layout; /* path */
    place_t place;
} site_export_t;

typedef enum {
    PUBLISH_NAMES,      /* users as they are */
    PUBLISH_PSEUDONYMS, /* under a key */
} publish_users_t;

typedef enum {
    PUBLISH_OPEN,   /* no rule: the web server's business */
    PUBLISH_NGINX,  /* a file to be included */
    PUBLISH_APACHE, /* likewise */
    PUBLISH_GROUPS, /* groups of the file system */
} publish_access_t;

/* Files with prices of clouds (prices/catalogue.h). */
typedef struct {
    char *shipped; /* that of the program; NULL: where it is installed */
    char *file;    /* the site's own, with more rows; NULL: none */
} site_prices_t;

/* The published site (gpuledger publish). */
typedef struct {
    char *directory;     /* in which it is; NULL: whoever publishes says it */
    int at_close;        /* it is written after each closing */
    int pdf;             /* months and statements have a PDF */
    int64_t jobs;        /* of a month that have a page of their own */
    int64_t job_rows;    /* of a user or project that are listed */
    char *logo;          /* a PNG or SVG file; NULL: none */
    char *colour;        /* "#1f5fa8"; NULL: none */
    int users;           /* publish_users_t */
    char *key_file;      /* of the pseudonyms; NULL: none */
    int access;          /* publish_access_t */
    char *access_file;   /* where the rule is written; NULL: nowhere */
    char *access_rule;   /* of Apache: "Require claim groups:%s" */
    text_list_t readers; /* groups that see all pages */
} site_publish_t;

/* A figure for which the file says SITE_TODO: until it is filled in nothing can be
 * charged. `kind` and `help` are the schema's. */
#define SITE_TODO "TODO"
typedef struct {
    place_t place;
    const char *kind; /* "assets" */
    char *key;        /* "price" */
    const char *help; /* a sentence */
} site_figure_t;

/* What jobs produce, counted: tokens, images (site/units.h). */
typedef struct {
    char *name;
    int64_t per;          /* so many are priced; 0: unit_per() */
    text_list_t counters; /* of Prometheus that count them on a node */
    place_t place;
} site_unit_t;

typedef struct site {
    zone_t *zone;
    char currency[4];    /* ISO 4217 */
    int currency_digits; /* of its smallest unit: 2 for USD, 0 for JPY */
    int fiscal_month; /* with whose first day the fiscal year begins, 1..12 */
    site_policy_t policy;
    site_issuer_t issuer;
    site_collector_t collector;
    site_agent_t agent;
    site_close_t close;
    site_publish_t publish;
    site_prices_t prices;
    site_mail_t mail;
    site_idle_jobs_t idle_jobs;
    civil_t go_live; /* the first day of which the ledger bills; year 0: none */
    int before_go_live; /* BEFORE_GO_LIVE_... */
    char *book; /* what prices a month, as canonical text; NULL: no file */
    text_list_t files;      /* read, in order; what place_t.file points into */
    char *store;            /* URL of the ledger's store; NULL: the default */
    site_figure_t *figures; /* to be filled in, in the order of the files */
    size_t figure_count;

    site_cluster_t *clusters;
    size_t cluster_count;
    site_pool_t *pools;
    size_t pool_count;
    site_team_t *teams;
    size_t team_count;
    site_institution_t *institutions;
    size_t institution_count;
    site_project_t *projects;
    size_t project_count;
    site_fund_t *funds;
    size_t fund_count;
    site_asset_t *assets;
    size_t asset_count;
    site_staff_t *staff;
    size_t staff_count;
    site_power_t *power;
    size_t power_count;
    site_tariff_t *tariffs;
    size_t tariff_count;
    site_meter_t *meters;
    size_t meter_count;
    site_cost_t *costs;
    size_t cost_count;
    site_grid_t *grid;
    size_t grid_count;
    site_embodied_t *embodied;
    size_t embodied_count;
    site_rate_t *rates;
    size_t rate_count;
    site_qos_t *qos;
    size_t qos_count;
    site_entitlement_t *entitlements;
    size_t entitlement_count;
    site_cloud_t *clouds;
    size_t cloud_count;
    site_analysis_t *analyses;
    size_t analysis_count;
    site_export_t *exports;
    size_t export_count;
    site_tax_t *taxes;
    size_t tax_count;
    site_settlement_t *settlement;
    size_t settlement_count;
    site_outage_t *outages;
    size_t outage_count;
    site_budget_t *budgets;
    size_t budget_count;
    site_network_t *networks;
    size_t network_count;
    site_unit_t *units;
    size_t unit_count;
    mig_profile_t *profiles; /* site-defined profiles of slices */
    size_t profile_count;
} site_t;

/* One ledger in UTC and USD, no pools: what holds without a configuration
 * file. Never fails but for memory. Free with site_free(). */
site_t *site_default (void);
void site_free (site_t *site);
void site_entitlement_free (site_entitlement_t *entitlement);

/* All figures are filled in. -1: the error names the first that is not, by file and
 * line, and how many more there are. */
int site_check_figures (const site_t *site, gl_error_t *error);

/* The cluster; the pool of that name that holds at the instant. NULL: none; no
 * name has none. */
const site_cluster_t *site_cluster (const site_t *site, const char *name);
const site_pool_t *site_pool_at (const site_t *site, const char *name,
                                 int64_t instant);
/* The type, as Slurm writes it, is in the pool's list; "gpu" is that of untyped ones. */
bool site_pool_lists (const site_pool_t *pool, const char *type);

/* Some pool counts CPUs: segments without GPUs count. */
bool site_counts_cpus (const site_t *site);
/* The pool of that name does; no name and an unknown one do not. */
bool site_pool_of_cpus (const site_t *site, const char *pool);

/* The number of a team's invoice, as statements, FOCUS and exports have it:
 * "st-2026-10-vision", of a month that is not closed "...-provisional". `team` NULL:
 * of no team. */
void site_add_invoice (const site_t *site, const char *month, const char *team,
                       bool provisional, buffer_t *out);

#endif /* !GL_SITE_SITE_H */
