/* What the files of the plan share: what was measured of a pool, and how a row of
 * it is written. */
#ifndef GL_REPORT_PLAN_PRIVATE_H
#define GL_REPORT_PLAN_PRIVATE_H

#include "base/buffer.h"
#include "planning/formula.h"
#include "report/breakeven_report.h"
#include "report/plan.h"

/* What to do with a pool. */
typedef struct {
    char *action; /* NULL: nothing is said of it */
    char *why;
    char *reason;  /* why all stays, a sentence; NULL: `why` alone says it */
    uint64_t kept; /* GPUs that the pool then has */
    bool alone;    /* there is no price to rent GPUs to compare with */
    /* The pool is given up if others have room for its work (plan_move.c). */
    bool moves;
    char *load;                 /* what jobs used of it */
    char *saving;               /* a sentence: what giving it up saves */
    char *saved;                /* the amount of a year in it */
    char *least, *most, *needs; /* as report_decision_t has them */
    bool waits;
} plan_verdict_t;

typedef struct {
    const site_pool_t *pool; /* its first entry; borrowed */
    bool
        asked; /* rows and figures are of it; else it is one that may take work */
    bool complete; /* the query has all of its work */
    bool slices;   /* it is cut into slices, or jobs had parts of its GPUs */
    plan_verdict_t verdict;
    capacity_sum_t capacity;
    mpq_t allocated; /* GPU-seconds */
    mpq_t active;    /* of these: the devices' activity x time */
    mpq_t known;     /* and for how long it is known */
    mpq_t *
        demand; /* GPUs allocated, of each hour of the period, in their order */
    size_t hours;
    mpq_t *month; /* GPU-hours a day, of each whole month of the period */
    size_t months;
    mpq_t off; /* what switching its GPUs off while no job has them saves in a
                  year; 0: that is not known, or nothing */
    mpq_t planned;      /* GPUs for a GPU hour a day, with target and spares */
    bool weights_known; /* of all devices that were allocated */
    bool has_cost;
    breakeven_t cost;               /* where it has */
    const breakeven_cloud_t *cloud; /* compared with; NULL: none */
} plan_pool_t;

/* The columns, in order; plan_report.c has their table. */
enum {
    PLAN_ANALYSIS,
    PLAN_POOL,
    PLAN_ITEM,
    PLAN_PERCENT,
    PLAN_MEASURED,
    PLAN_RATE,
    PLAN_NEEDED,
    PLAN_WITH_SPARES,
    PLAN_GPUS,
    PLAN_NODES,
    PLAN_RESERVED,
    PLAN_DEMAND,
    PLAN_OWNED_HOURS, /* in the order of mix_kind_t */
    PLAN_RESERVED_HOURS,
    PLAN_SPOT_HOURS,
    PLAN_RENTED_HOURS,
    PLAN_HOURS,
    PLAN_MONTHS,
    PLAN_LIFE,
    PLAN_PAID_BACK,
    PLAN_OWN,
    PLAN_RENT,
    PLAN_SAVING,
    PLAN_DEPENDS,
    PLAN_AS_OF,
    PLAN_AGE,
    PLAN_SOURCE,
};

/* What the rows of a section have, for the words above them. */
enum {
    HAS_CHEAPEST = 1 << 0,
    HAS_LESS = 1 << 1,
    HAS_MORE = 1 << 2,
    HAS_OTHERS = 1 << 3, /* providers */
    HAS_TODAY = 1 << 4,
    HAS_ALL_OWNED = 1 << 5,
    HAS_ALL_RENTED = 1 << 6,
    HAS_RESERVED = 1 << 7,
    HAS_PAYBACK = 1 << 8,
    HAS_OWNED = 1 << 9, /* the hour of an owned GPU */
    HAS_SUNK = 1 << 10,
    HAS_SWITCHED_OFF = 1 << 11,
    HAS_RENT = 1 << 12, /* a price by the hour */
    HAS_TERM = 1 << 13,
    HAS_NEXT = 1 << 14,
};

/* What a section is made from. */
typedef struct {
    report_t *report;
    const site_t *site;
    period_t period;
    const plan_query_t *asked;
    plan_pool_t *pool;
    const char *analysis;
    values_t values; /* of the pool: what was measured, and formulas of it */
    const step_t *made[FORMULA_STEPS]; /* of the formula of use */
    size_t made_count;
    mpq_srcptr
        used;      /* the share allocated to jobs; NULL: there is no capacity */
    bool measured; /* and it is above 0 */
    unsigned *has; /* of the section: HAS_... */
} plan_view_t;

/* plan_report.c: the columns and sections of all pools. */
void plan_fill (report_t *report, const report_query_t *query,
                const plan_query_t *asked, plan_pool_t *pools, size_t count);

/* The words above a section, of what its rows have. */
void plan_mix_help (buffer_t *out, unsigned has);
void plan_prices_help (buffer_t *out, unsigned has);

/* plan_prices.c: what an hour costs, owned and rented, each price by its name. */
void plan_prices (plan_view_t *view);
/* The part of the yearly cost of a GPU that is paid already: its hardware. */
void plan_sunk (const breakeven_t *cost, mpq_t ret_per_year);
/* What a GPU saves in a year if it is switched off while no job has it; false: that is not known,
 * or nothing. */
bool plan_switched_off (const plan_view_t *view, mpq_t ret_per_year);

/* plan_report.c: a row of the section, its cells and prices. A number as the
 * column has it, NULL being none: a share, hours, money ... */
void plan_row (const plan_view_t *view, const char *item);
void plan_put (const plan_view_t *view, size_t column, mpq_srcptr number);
void plan_put_price (const plan_view_t *view, const breakeven_cloud_t *cloud);

/* The months until the purchase of the pool's hardware is paid back, next to its
 * life; NULL: never. */
void plan_put_payback (const plan_view_t *view, mpq_srcptr months);
/* Known to end before that month; such a purchase is never paid back. */
bool plan_outlives (mpq_srcptr months, mpq_srcptr life);
/* The words that follow "the purchase": "is paid back in ..."; yours to free. */
char *plan_payback_words (mpq_srcptr months, mpq_srcptr life);

/* plan_report.c: for how long the demand to come is known, a sentence that follows another one;
 * yours to free. */
char *plan_ahead_text (const plan_pool_t *pool);
/* plan_report.c: jobs had less than half of the capacity. */
bool plan_little_used (const plan_view_t *view);
/* There is a price with a term, which is not old. */
bool plan_reserves (const plan_view_t *view);
/* GPU hours a day of the period. */
void plan_per_day (const plan_view_t *view, mpq_t ret_per_day);
/* GPUs planned for the work of the pool and, unless it is NULL, that of another, with the
 * pool's target and spares. */
uint64_t plan_planned (const plan_pool_t *pool, const plan_pool_t *more);
/* What the formula of capacity has for that demand, and its inputs; clear it. */
void plan_need (const plan_view_t *view, mpq_srcptr per_day,
                values_t *ret_need);

/* plan_move.c: the verdicts of all pools as figures, once it is known which pools have room for
 * the work of others: what a pool gives up is no room, nor is what another pool's work takes. */
void plan_say_verdicts (const plan_view_t *view, plan_pool_t *pools,
                        size_t count);
void plan_verdict_clear (plan_verdict_t *verdict);

/* plan_verdict.c: what to do with the pool, and what a year of it costs or saves. */
void plan_verdict_say (const plan_view_t *view, const char *action,
                       const char *why, uint64_t kept);
void plan_verdict_unused (const plan_view_t *view);
/* What the verdict depends on, in sentences: those about who paid, as plan_paid_by_others() has
 * them, then others. Either may be "". */
void plan_verdict_needs (plan_verdict_t *verdict, const char *paid,
                         const char *others);
/* Of a pool whose work was done by today's GPUs, or was not, with so many in use at most; there
 * is no price to compare with. */
void plan_verdict_alone (const plan_view_t *view, bool done,
                         uint64_t peak_gpus);
/* The verdict on the pool as the figure of a report. */
void plan_verdict_figure (const plan_view_t *view, const plan_pool_t *pool);
/* After these one with what switching idle GPUs off saves, if that is known of any, */
void plan_off_figure (const plan_view_t *view, const plan_pool_t *pools,
                      size_t count);
/* and one with what holds for the verdicts of all pools. */
void plan_rests_on (const plan_view_t *view, const plan_pool_t *pools,
                    size_t count);
/* So many GPUs in a year: all of their cost, or what ends with them. */
void plan_year (const breakeven_t *cost, uint64_t gpus, bool avoidable,
                mpq_t ret_year);
/* Of the cost of so many GPUs in a year the part that is staff. */
void plan_staff (const breakeven_t *cost, uint64_t gpus, mpq_t ret_year);
/* Who paid for hardware of the pool whose price charges may not recover, a sentence that follows
 * another one; "": nobody did. Yours to free. */
char *plan_paid_by_others (const plan_view_t *view);
/* Part of a GPU counts as one. */
uint64_t plan_whole_gpus (mpq_srcptr gpus);
/* Whole GPUs of the busiest hour. */
uint64_t plan_busiest (const plan_pool_t *pool);
/* "a, b and c" */
void plan_listed (buffer_t *out, const char *const *words, size_t count);

/* plan_options.c: what could be done with a pool, and what a year then costs. */
void plan_options (plan_view_t *view);

/* plan_mix.c: how many to own and to reserve, and how to rent the rest. */
void plan_mix (plan_view_t *view);

/* The share of the work that may be interrupted: as asked, or that of the pool. */
void plan_interruptible (const plan_view_t *view, mpq_t ret_share);

/* plan_egress.c: what the traffic costs that leaves a rented cloud. */
void plan_egress (plan_view_t *view);

/* plan_tornado.c: what owning saves, with each input changed down and up. */
void plan_tornado (plan_view_t *view);

#endif /* !GL_REPORT_PLAN_PRIVATE_H */
