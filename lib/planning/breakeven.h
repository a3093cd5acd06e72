/*
 * breakeven.h: what a productive GPU-hour costs, and from which utilization on
 * owning is cheaper than a price per hour (docs/guides/decisions.md).
 *
 *   c(u) = A / (H u)     cost of a productive hour at utilization u
 *   u*   = A / (C H)     break-even against the price C; above 1: never
 *
 * A is the full yearly cost per GPU: hardware, staff, power and other costs of
 * the pool as they hold at one instant. A cost per GPU-hour is taken at the
 * planned utilization (amount x H x u) and counted as the same at other
 * utilizations, as everything else. All values are exact. Pure.
 */
#ifndef GL_PLANNING_BREAKEVEN_H
#define GL_PLANNING_BREAKEVEN_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "money/cost.h"
#include "site/site.h"

typedef struct {
    cost_kind_t kind;
    char *name;         /* "hardware", "staff", "power", "power demand", "power
                           fee", or the cost's name */
    mpq_t per_gpu_year; /* its part of A */
    mpq_t per_hour;     /* per_gpu_year / (H u) */
    char *how;          /* inputs and arithmetic, for people */
} breakeven_part_t;

/* The price of a cloud, and what it costs in a year instead of one owned GPU: the
 * hours that are billed x the price. */
typedef struct {
    const site_cloud_t *cloud; /* same GPU model as the pool; borrowed */
    bool committed; /* it has a term: every hour is billed, used or not */
    mpq_t billed_hours; /* of a year: H where committed, else H u */
    mpq_t per_gpu_year; /* C x the billed hours */
    mpq_t per_work_hour; /* C / (1 - waste): an hour of work, interruptions
                            counted */
    bool spot; /* for work that may be interrupted */
    mpq_t utilization;  /* A / (C H): u*. Of a committed price it is no
                           utilization, but what owning costs for each 1 of it */
    bool never; /* that is above 1: owning is dearer at any utilization */
    int64_t age_days; /* BREAKEVEN_NO_AGE: not known */
    bool old;         /* breakeven_set_ages(): not to be compared with */
} breakeven_cloud_t;

#define BREAKEVEN_NO_AGE INT64_MIN

/* The price is paid for every hour of a term, used or not. */
bool breakeven_has_term (const site_cloud_t *cloud);
/* Its term says that it may be interrupted: spot, preemptible. */
bool breakeven_is_spot (const site_cloud_t *cloud);

typedef struct {
    const char *pool;  /* borrowed from the site */
    const char *gpu;   /* model; NULL if the pool names none */
    int64_t at;        /* the instant whose entries count */
    uint64_t gpus;     /* G */
    int64_t gpus_per_node;
    int hours;         /* H: 8760, or 8784 in a leap year */
    mpq_t utilization; /* u */
    mpq_t productive_hours; /* H u */
    breakeven_part_t *part; /* hardware, staff, power (if there are any), then
                               other costs in file order */
    size_t part_count;
    mpq_t per_gpu_year; /* A */
    mpq_t per_hour;     /* c(u) */
    mpq_t purchase;     /* price of the hardware that is written off today, of the
                           pool, without changes */
    mpq_t life_months;  /* its life, weighted by the prices; 0: no hardware */
    breakeven_cloud_t *cloud; /* in file order */
    size_t cloud_count;
    int64_t price_day; /* by breakeven_set_ages() */
    bool beyond; /* a change takes more people than there are: down to none */
    bool hasty;  /* a change makes a life shorter than is worth a look: one or
                    two years, and less than half of the book's */
} breakeven_t;

/* No date: a year of 365 days, and the book as it stands at the latest
 * beginning of any entry of the pool. */
#define BREAKEVEN_UNDATED INT64_MIN

/* For a question that names no date: `known`, until when facts tell (or
 * BREAKEVEN_UNDATED), so that what had been retired or written off by then does not
 * count; undated where an entry of the pool begins later. */
int64_t breakeven_instant (const site_t *site, const char *pool, int64_t known);

/*
 * `at`: the instant whose entries and whose year (of the ledger's zone) count,
 * usually the store's as-of; or BREAKEVEN_UNDATED. `utilization`: 0 < u <= 1,
 * or NULL for policy.utilization. -1 if the pool is unknown or has no GPU then,
 * or a tariff is missing. breakeven_clear after success only; it accepts a
 * zeroed struct.
 */
int breakeven_of_pool (const site_t *site, const char *pool, int64_t at,
                       mpq_srcptr utilization, breakeven_t *ret_breakeven,
                       gl_error_t *error);
void breakeven_clear (breakeven_t *breakeven);

/* The most that a price may be old, where nobody says otherwise. */
#define BREAKEVEN_MAX_AGE 12

/*
 * The ages of the prices, from the day on which each was read (of a month or year
 * its first) to the day of `known`, or where that is BREAKEVEN_UNDATED to the
 * newest day of any price of the site. Those of `max_months` and more are old;
 * 0: none. The day's number (base/calendar.h) is kept in *breakeven; INT64_MIN:
 * there is none.
 */
void breakeven_set_ages (breakeven_t *breakeven, const site_t *site,
                         int64_t known, int max_months);
/* The same of another price of that day: whether it is old, and its age; of an unknown
 * day BREAKEVEN_NO_AGE. */
bool breakeven_price_old (const breakeven_t *breakeven, const char *as_of,
                          int max_months, int64_t *ret_age_days);
/* The whole years of `--max-age` with which the price would not be old. */
int breakeven_age_years (const breakeven_t *breakeven,
                         const breakeven_cloud_t *cloud);

/* The price of that name, or with NULL the one that costs the least in a year of
 * those that owning can still beat (NULL where there is none). Old ones do not
 * count. -1: the pool has no price of the name, or an old one. Borrowed. */
int breakeven_against (const breakeven_t *breakeven, const char *name,
                       const breakeven_cloud_t **ret_cloud, gl_error_t *error);

/* Inputs that are taken instead of those of the book: what if? A member of 0, or
 * NULL, changes nothing; numbers are texts of exact decimals. */
typedef struct {
    const char *label;       /* for people */
    int life_years;          /* of every asset */
    const char *salvage;     /* share of the price of every asset */
    mpq_srcptr residual;     /* factor of the salvage of every asset */
    const char *price;       /* factor of the price of every asset, salvage too */
    const char *staff;       /* full-time equivalents more, negative: less */
    const char *per_kwh;     /* tariff */
    const char *pue;
    bool idle_off;           /* idle GPUs draw nothing, where their draw is known */
} breakeven_change_t;

/* The same under a change. */
int breakeven_changed (const site_t *site, const char *pool, int64_t at,
                       mpq_srcptr utilization, const breakeven_change_t *change,
                       breakeven_t *ret_breakeven, gl_error_t *error);

/* The changes that are looked at by default: life, salvage, price, staff, tariff
 * and PUE, each by as much as it usually differs (docs/guides/decisions.md). */
const breakeven_change_t *breakeven_changes (size_t *ret_count);

/* c(u) of another utilization, u > 0. */
void breakeven_cost_at (const breakeven_t *breakeven, mpq_srcptr utilization,
                        mpq_t ret_per_hour);

#endif /* !GL_PLANNING_BREAKEVEN_H */
