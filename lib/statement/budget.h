/*
 * budget.h: what became of a budget so far, and what will.
 *
 * With B the budget (with what was carried over), s what is spent of it and d
 * what was spent on a day of the ledger's zone, days being whole ones before
 * as-of's but where said otherwise:
 *
 *   daily rate          sum of d over the window / days of the window; the window
 *                       is the last 7 or 28 days, or the period so far
 *   run-rate forecast   s + daily rate x days left
 *   seasonal forecast   s + sum over the days left of the mean of their weekday
 *                       in the last 4 times seven days (2 or 3 where facts
 *                       begin later; not known before 2)
 *   band                the seasonal forecast with what is still to come scaled
 *                       by the lowest and the highest of these weeks / their mean
 *   encumbrance         sum over running jobs of what they hold x its price x
 *                       the time to their limit, or to the period's end if that
 *                       comes first: an upper bound
 *   exhausted on        the first day with s + encumbrance + rate x days >= B
 *   error (MAPE)        mean over the last 6 months of |F - A| / A, F what the
 *                       same method would have said at as many days into the
 *                       month, A what it came to; months of 0 left out
 *
 * Days left count from as-of on, today by the part of it that is left. All exact
 * rationals, in smallest units or GPU-seconds; rounded only when shown. What is
 * not known stays so: no forecast without days, no alert without a forecast.
 * docs/guides/budgets.md has an example. Pure.
 */
#ifndef GL_STATEMENT_BUDGET_H
#define GL_STATEMENT_BUDGET_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"
#include "ledger/bill.h"
#include "site/site.h"

/* Over which days the daily rate is a mean. */
typedef enum {
    BUDGET_LAST_7,
    BUDGET_LAST_28,
    BUDGET_SO_FAR, /* the period */
} budget_window_t;

/* Percents of it at which people are told; and the forecast beyond it. */
#define BUDGET_THRESHOLDS 4
extern const int budget_thresholds[BUDGET_THRESHOLDS]; /* 50 75 90 100 */

/* A figure that need not be known. */
typedef struct {
    bool known;
    mpq_t value;
} budget_figure_t;

/* Who spent it. */
typedef struct {
    char *name;
    mpq_t value;
} budget_part_t;

typedef struct budget budget_t;
struct budget {
    const site_budget_t *budget;
    period_t period;
    char *period_name; /* "2026-10", "2027-Q1", "2027": fiscal */
    int64_t as_of;
    bool of_money;   /* else GPU-seconds, */
    bool of_cpus;    /* or CPU-seconds, of a pool of CPUs */
    bool known;      /* false: of some of it the price is not known */
    mpq_t carried;   /* from the period before */
    mpq_t amount;    /* B */
    mpq_t spent;     /* s */
    mpq_t encumbered;
    budget_figure_t rate;
    budget_figure_t run_rate;
    budget_figure_t seasonal;
    budget_figure_t low; /* the band */
    budget_figure_t high;
    budget_figure_t run_rate_error; /* as a ratio */
    budget_figure_t seasonal_error;
    int64_t exhausted; /* the first instant of the day; 0: not in sight */
    int threshold;     /* the highest that is reached; 0: none */
    bool over;         /* the forecast (run-rate) is beyond 100 % */
    budget_part_t *part; /* who spent it in the period; largest first */
    size_t part_count;
    struct budget_days *days; /* of budget.c */
};

/* The period of the budget that holds `instant`: a month, or a quarter or year of
 * the site's fiscal year; clipped by nothing. */
period_t budget_period (const site_t *site, budget_period_t period,
                        int64_t instant);

/* From when on charges are wanted for it: the period, the one before where that is
 * carried over, and the months that forecasts are measured on. */
int64_t budget_since (const site_t *site, const site_budget_t *budget,
                      int64_t as_of);

/* `site` and `entry` must outlive it. */
budget_t *budget_new (const site_t *site, const site_budget_t *entry,
                      int64_t as_of);
/* Accepts NULL. */
void budget_free (budget_t *budget);

/* Whether a charge with these keys counts (NULL: absent). */
bool budget_takes (const budget_t *budget, const char *team,
                   const char *project, const char *account, const char *pool);

/* Spent on the local day that begins at `day`, by `who` (NULL: nobody's); `known`
 * false: it has no price. Smallest units, or GPU-seconds. Any order. */
void budget_add (budget_t *budget, int64_t day, const char *who,
                 mpq_srcptr value, bool known);
/* Of a month, but of none of its days: a credit or a correction. */
void budget_add_month (budget_t *budget, int64_t month, mpq_srcptr value);

/*
 * All that is charged in a month, from its bill with its days (BILL_DAYS):
 *
 *   sum over its days = what its rows charge for the month itself
 *
 * Corrections, and manual rows, are of the month and none of its days; taxes
 * are not spent. `period`: what the days cover; of the day of as-of counts the
 * part that has passed.
 */
void budget_add_bill (budget_t *budget, period_t period, const bill_t *bill);

/*
 * The same in two steps, for budgets of the same scope, unit and zone whose as-of is the end of
 * the month or later: what is spent of one of them in the month is spent of the others. The
 * month keeps neither the budget nor the bill.
 */
typedef struct budget_month budget_month_t;
budget_month_t *budget_month_new (const budget_t *budget, period_t period,
                                  const bill_t *bill);
void budget_take_month (budget_t *budget, const budget_month_t *month);
/* Accepts NULL. */
void budget_month_free (budget_month_t *month);

/* What a running job may still spend within the period. */
void budget_encumber (budget_t *budget, mpq_srcptr value);

/* After the last: fills the rest. `first`: the first day with a charge of anybody,
 * before which nothing is known; 0: there is none. */
void budget_compute (budget_t *budget, budget_window_t window, int64_t first);

/* A figure as money, or hours with two decimals; yours to free. */
/* "USD", "GPU hours" or "CPU hours". */
const char *budget_unit (const budget_t *budget, const site_t *site);
char *budget_text (const budget_t *budget, mpq_srcptr value);

#endif /* !GL_STATEMENT_BUDGET_H */
