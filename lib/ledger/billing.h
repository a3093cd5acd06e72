/*
 * billing.h: every charge of the calendar months that a period touches.
 *
 * Charges are computed for whole calendar months of the ledger's zone (the last
 * one up to as-of), for all pools, from all segments, at the grain of the
 * charge line plus what the query groups and filters by; the query's period,
 * filters and grouping are applied to the finished integers. So a filtered
 * total is the filtered part of the total.
 *
 * Use: new; give all facts of billing_period(); compute; read. Pure.
 */
#ifndef GL_LEDGER_BILLING_H
#define GL_LEDGER_BILLING_H

#include "money/charge.h"
#include "money/meter.h"
#include "usage/capacity.h"
#include "usage/query.h"

/* A pool in a month. */
typedef struct {
    const char *pool;
    period_t month; /* clipped at as-of */
    char name[ZONE_STAMP_SIZE]; /* of the month: "2026-10" */
    capacity_sum_t capacity;
    charge_t *charge; /* NULL: none was asked for, see billing_compute() */
    bool has_cost; /* the book has a cost for it */
    bool has_rate; /* a published rate is in force in it */
    idle_policy_t idle;
} pool_month_t;

typedef struct billing billing_t;

/* The query must outlive it. */
billing_t *billing_new (const report_query_t *query);
/* Accepts NULL. */
void billing_free (billing_t *billing);

/* Before the first fact, of a query by day: lines of time allocated to jobs then have no
 * day. Their days come from billing_days_new(), of what passes the filter (NULL:
 * all), which must outlive it. */
void billing_days_apart (billing_t *billing, const usage_filter_t *filter);
bool billing_has_days_apart (const billing_t *billing);
/* Rollups are wanted by day. */
bool billing_wants_days (const billing_t *billing);

/* Borrowed. */
const report_query_t *billing_query (const billing_t *billing);

/* The time of which all facts are wanted: the months, and where an asset is
 * written off by use, those since it came into service. Empty: before any
 * fact. */
period_t billing_period (const billing_t *billing);
void billing_add (billing_t *billing, const segment_t *segment,
                  const suspension_t *suspensions, size_t count,
                  const project_t *project);
/* After billing_add() of the same segment: what agents measured of it; for power
 * that is charged by measured energy. */
void billing_measure (billing_t *billing, const segment_t *segment,
                      const project_t *project,
                      const segment_evidence_t *evidence);
/* What the policy asks no rollup tells (billable_needs_segments()): charges are then
 * made of segments alone. */
bool billing_wants_segments (const billing_t *billing);
/* For node events and reservations. */
capacity_t *billing_capacity (billing_t *billing);
/* Where pieces of billed time end within it, ascending: no rollup may lie on both
 * sides of one. Borrowed. */
const int64_t *billing_cuts (const billing_t *billing, size_t *ret_count);
/* Instead of all segments, events and reservations: all of some days. */
void billing_add_rollup (billing_t *billing, const rollup_t *rollup);
/* Then, too: of the segments that overlap billing_period() and ended in one of
 * these states (segment_state_bit (); 0: none), the credits. Others, and
 * other segments of theirs, change nothing. billing_add() does it itself. */
uint32_t billing_wants_ended (const billing_t *billing);
void billing_add_ended (billing_t *billing, const segment_t *segment,
                        const suspension_t *suspensions, size_t count,
                        const project_t *project);

/* What jobs are credited for, with the node events that it wants before the first
 * segment; of rollups, billing_add_ended() of each segment in its periods, once.
 * NULL: nothing. */
outages_t *billing_outages (const billing_t *billing);

/* Demand is charged that meters may tell: then what they read in billing_period(),
 * by meter and time. Borrowed until billing_compute(). */
bool billing_wants_meters (const billing_t *billing);
void billing_meters (billing_t *billing, const meter_reading_t *readings,
                     size_t count);

/* Once, after the last fact. `each`: gets each pool-month that is asked for as soon as
 * it is computed, for billing_each_of(); its lines are then forgotten. NULL: the
 * lines that pass the query's filters stay, and pools that these leave out need no charge.
 * -1: the cost book cannot be applied, or `each` said so. */
typedef int (*billing_pool_f) (const billing_t *billing,
                               const pool_month_t *pool_month, void *arg,
                               gl_error_t *error);
int billing_compute (billing_t *billing, billing_pool_f each, void *arg,
                     gl_error_t *error);

/* An instant of the first time allocated to jobs in the period, on lines that pass or not;
 * 0: there is none. On which day it is holds where days are distinguished. */
int64_t billing_first (const billing_t *billing);

/* By pool in the order of the configuration, then by month. */
const pool_month_t *billing_pool_months (const billing_t *billing,
                                         size_t *ret_count);

/* The lines of all pool-months. `keys`: the texts of the query's keys, NULL
 * where absent. */
typedef struct {
    const pool_month_t *pool_month;
    const char *const *keys;
    const charge_line_t *line;
    bool in_period;
    bool passes; /* the filters */
} billing_line_t;
typedef void (*billing_f) (const billing_line_t *line, void *arg);
void billing_each (const billing_t *billing, billing_f callback, void *arg);
/* Of one of them. */
void billing_each_of (const billing_t *billing, const pool_month_t *pool_month,
                      billing_f callback, void *arg);

/* --- days ----------------------------------------------------------------- */

/*
 * What passes the filter of billing_days_apart(), by day. First, while it is
 * computed, the lines of each pool-month; then the facts once more: rollups of days
 * in the order of time, or all segments. The integer of a line of allocated time is
 * shared over its days in their order (charge.h), as they pass by, so that memory
 * holds the lines. Lines of idle time and of purchases in a month in which nothing changes are
 * shared evenly. The callback gets parts of days; of lines that are shared
 * charge_units alone, and gpu_seconds of allocated time.
 */
typedef struct billing_days billing_days_t;
billing_days_t *billing_days_new (billing_t *billing, billing_f callback,
                                  void *arg);
/* Accepts NULL. */
void billing_days_free (billing_days_t *days);
void billing_days_add_pool (billing_days_t *days,
                            const pool_month_t *pool_month);
/* The time of which facts are wanted. */
period_t billing_days_period (const billing_days_t *days);
int billing_days_add_rollup (billing_days_t *days, const rollup_t *rollup,
                             gl_error_t *error);
void billing_days_add (billing_days_t *days, const segment_t *segment,
                       const suspension_t *suspensions, size_t count,
                       const project_t *project);
/* -1: the days do not add up to their lines, a defect. */
int billing_days_finish (billing_days_t *days, gl_error_t *error);

#endif /* !GL_LEDGER_BILLING_H */
