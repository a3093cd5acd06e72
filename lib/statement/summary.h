/*
 * summary.h: report summary: a month of the site on one page, for who answers for it:
 * what was spent, why it changed, how the cost was recovered, what was wasted, what
 * to do about it.
 *
 * The change of each team is split as on its statement (ledger/variance.h), and the
 * parts of all teams add up. Waste is an amount of money:
 *
 *   of jobs      GPU time that agents measured as idle, and the rest of the time of jobs
 *                that ended badly, at its list price (waste/waste.h)
 *   of capacity  the cost, at the owned rate, of time that no job had, by class,
 *                whoever pays for it (an idle policy may charge teams)
 *
 * Both are known only as far as agents measure and pools have a cost. Pure.
 */
#ifndef GL_STATEMENT_SUMMARY_H
#define GL_STATEMENT_SUMMARY_H

#include "ledger/bill.h"
#include "ledger/variance.h"
#include "money/cost.h"
#include "report/heading.h"
#include "report/report.h"
#include "statement/budget.h"
#include "usage/usage.h"
#include "waste/waste.h"

/* A month of the trend. */
typedef struct {
    char *name;  /* "2026-10" */
    bool known;  /* false: nothing is billed in it */
    mpz_t due;   /* of all teams, in smallest units */
    mpz_t taxes; /* part of it */
    mpz_t cost;  /* of the pools; 0: none has one */
    mpz_t others; /* part of it: others, such as an award, paid for it */
    mpz_t kind
        [COST_KIND_COUNT]; /* the cost, by kind: disposals are what the lines of
                                    other kinds leave of it */
    mpq_t used;            /* GPU-seconds of jobs */
    mpq_t capacity;        /* of the pools of GPUs */
    mpz_t
        uncovered; /* the cost less charges and credits: the site pays it; below 0:
                        a surplus */
    bool waste_known; /* what follows is 0 until summary_month_waste() */
    mpz_t waste[WASTE_GROUP_COUNT];
    waste_t
        allocated; /* the time that jobs had, and for how much of it is known whether
                          GPUs were idle */
} summary_month_t;

/* Zeros, without a name; and what it owns is freed. */
void summary_month_init (summary_month_t *month);
void summary_month_clear (summary_month_t *month);
/* All of it, into a month of zeros. */
void summary_month_copy (summary_month_t *to, const summary_month_t *from);

/* Keys of its usage cells. */
extern const char summary_usage_keys[];

/* What was wasted in the month of the bill and of its usage, by what, pool and team.
 * cube_free() it. */
cube_t *summary_waste_of (const bill_t *bill, const usage_cell_t *usage,
                          size_t count);
/* Adds these amounts, and the time of the usage, to the month; a second call changes nothing. */
void summary_month_waste (summary_month_t *month, cube_t *waste,
                          const usage_cell_t *usage, size_t count);
/* What counts as waste, in smallest units. */
void summary_wasted (const summary_month_t *month, mpz_t ret_sum);
/* "471.05 to 15049.37": that, and with all that is not counted; "471.05": nothing is. Yours to
 * free. */
char *summary_waste_value (const summary_month_t *month, int digits);
/* "USD: 471.05 known to be wasted, 340.07 in jobs and ...": the parts of the sum, its change since
 * the month before (NULL, or its waste not known: no change is given), and what is not counted. There is no change where it would mislead: the months are not waste_comparable(), or
 * what is not counted changed as much or more in the other direction. Yours to free. */
char *summary_waste_text (const summary_month_t *month,
                          const summary_month_t *before, const char *currency,
                          int digits);
/* "643.28 USD less was wasted than in September 2026. Not counted: ...". Says whether more or less
 * was wasted, or that this is unknown, with the reason. It then gives two figures of both months:
 * the amount that is not counted as waste, and the share of the jobs' GPU hours in which idle GPUs
 * were measured. NULL: `before` is NULL, or its waste is not known. Yours to free. */
char *summary_waste_compared (const summary_month_t *month,
                              const summary_month_t *before,
                              const char *currency, int digits);

/* Everything is borrowed for the call. */
typedef struct {
    const report_query_t *query; /* a month, without filters */
    const char *month;
    const char *state; /* "closed 2026-11-05, version 1", "not closed" */
    const char *before_month;
    bool linked; /* a page of a site: links lead to what lines are made of, not
                    commands */
    const report_t
        *decisions; /* its figures say what to do with pools; NULL: no
                                     page has that */
    const char
        *decided_month; /* of which it is; an earlier one, if this month is
                                     not over */
    const bill_t *bill;
    const site_t *paper; /* with the issuer of the month's papers */
    bool goes_on; /* the month is not over: `before` is NULL, as a part is
                     compared with no full month */
    const bill_t *before;         /* NULL: the month before has none */
    variances_t *variances;       /* from `before` to `bill` */
    const summary_month_t *trend; /* in their order; the last one is `month` */
    size_t trend_count;
    budget_t *const *budgets; /* in force at the end of the month */
    size_t budget_count;
    report_t
        *chargeback; /* of the month: its chart of recovered cost moves here */
    const usage_cell_t *usage; /* by summary_usage_keys */
    size_t usage_count;
    const usage_cell_t *whole; /* of all of it; NULL: no usage */
    cube_t
        *waste; /* summary_waste_of() the month, whose sums are in the trend, */
    cube_t *waste_before; /* by cause, of the month before, where `before` is
                             compared; else NULL */
} summary_t;

/* Who pays for the part of the cost that teams do not pay: the owner of the hardware, or who runs
 * the cluster. Borrowed. */
const char *summary_payer (const site_t *paper);

/* The row is a class of unallocated cost, of shortfall, or what is recovered above cost, whose sum
 * is the cost less charges and credits (money/charge.h). */
bool summary_is_uncovered (const char *month, const posting_t *row);
/* "Not charged to teams"; "Surplus over cost" of a month whose charges exceed the cost. */
const char *summary_uncovered_title (const mpz_t uncovered);
/* A proof: what teams owe, and what the owner pays, are the cost: taxes and what is billed of
 * other months or services left out. None where no pool has a cost. */
void summary_prove_payers (report_t *report, const site_t *paper,
                           const summary_month_t *month, const bill_t *bill,
                           int digits);

/* The sums of a month of the trend. */
void summary_month_take (summary_month_t *month, const site_t *site,
                         const bill_t *bill);
/* ": 27846.19 and taxes of 314.10", behind what is due; "": there are none. Yours to free. */
char *summary_taxes_text (const summary_month_t *month, int digits);
/* "; others, such as an award, paid for 475.36 of it", behind the cost; "": they did not. Yours to
 * free. */
char *summary_others_text (const summary_month_t *month, int digits);

/* "; +687.65 (+2.08 %) since September 2026". Yours to free. */
char *summary_since_text (const mpz_t now, const mpz_t then, const char *since,
                          int digits);
/* "Example University pays 3348.79 USD more than in September 2026: the cost of the pools rose by
 * ...": why what the owner pays differs from that of the month before. NULL: nothing is to be
 * compared, or charges exceed the cost of one of the two. Yours to free. */
char *summary_payers_text (const site_t *paper, const char *currency,
                           int digits, const summary_month_t *now,
                           const summary_month_t *before);

/* "October 2026 has one day more than September 2026": why costs of time differ; "": both have
 * as many days. Yours to free. */
char *summary_days_text (const zone_t *zone, const char *month,
                         const char *before);
/* "hardware +736.33, power -48.68": the change of the cost by kind; "": there is none. Yours to
 * free. */
char *summary_kinds_text (const summary_month_t *now,
                          const summary_month_t *before, int digits);

/* "Jobs used 8004.361905 GPU hours (59.77 % of the capacity; 67.94 % then): 800.619246 GPU hours
 * less." Yours to free. */
char *summary_use_text (const summary_month_t *now,
                        const summary_month_t *before);

/* NULL with an error is a defect of the calculation. Yours: report_free(). */
report_t *summary_make (const summary_t *summary, gl_error_t *error);

#endif /* !GL_STATEMENT_SUMMARY_H */
