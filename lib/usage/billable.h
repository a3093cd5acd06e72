/*
 * billable.h: the billable quantity of a segment where a policy makes it differ
 * from the allocation, and the part of it that is credited for how it ended.
 *
 * An allocation is devices x time (usage.h); no policy changes it. The billable
 * quantity (price_seconds of charge.h) is computed for each segment and pool:
 *
 *   units x seconds
 *
 *   units    GPUs by their price weight (pool's bill: gpus); or the number of
 *            GPUs that the job's CPUs or memory correspond to if that is more,
 *            rounded up (dominant; PLGrid Cyfronet); or of the weighted
 *            quantities the largest (max; MAX_TRES of Slurm's PriorityFlags), the
 *            sum (sum; what Slurm does without that flag), or the larger of GPUs
 *            and CPUs added and memory (sum-or-memory). Where the job has a rate
 *            that its line has not (by reservation or number of GPUs), x the
 *            price of that rate / the price of the line's.
 *            A job in several pools shares its CPUs and memory among them as it
 *            does its GPUs. No GPU pool bills a job without a GPU.
 *   seconds  allocated seconds, less suspended time that the policy leaves free.
 *            A segment that ended before policy.grace has none; else at least
 *            policy.minimum, and a whole number of policy.increment. The
 *            seconds that this adds are at the end of the segment, as is what
 *            rates.minimum and rates.round_hours add to units x seconds of the units at the end.
 *
 * So cutting a segment at any instants changes no sum. A segment that ended in
 * one of policy.credits is credited with its last billable seconds, at most
 * policy.credit_cap, in the months that contain them. A segment that an outage
 * affects (usage/outage.h) is credited with its seconds of the outage, or if that
 * killed it with all that it is billed. No second is credited twice: the policy
 * comes first, then outages that killed the segment, then others, by name.
 * Examples: docs/guides/billing.md. Pure.
 */
#ifndef GL_USAGE_BILLABLE_H
#define GL_USAGE_BILLABLE_H

#include <gmp.h>

#include "site/rate_card.h"
#include "usage/usage.h"

/* Whether a policy makes the billable quantity differ from the allocation. */
bool billable_otherwise (const site_t *site);

/* Days that are counted stay when a segment that is longer than this ends later
 * (store/store_forget.c). */
#define BILLABLE_GRACE_KEPT 3600
/* Whether charges need each segment: rollups (usage/rollup.h) cannot tell. */
bool billable_needs_segments (const site_t *site);

/* Whether policy.credits gives a segment something back. */
bool billable_is_credited (const site_t *site, const segment_t *segment);

/* GPUs (priced), CPUs and MB of memory in a pool -> units; NULL: not known. `rate`
 * may bring weights of its own. `all`: the GPUs of the job in all pools. */
void billable_units (const site_pool_t *pool, const site_rate_t *rate,
                     mpq_srcptr gpus, mpq_srcptr all, mpq_srcptr cpus,
                     mpq_srcptr memory_mb, mpq_ptr ret_units);

/* What a job has in a pool, and at which rates: that of its line, and its own; NULL:
 * full cost. */
typedef struct {
    const site_pool_t *pool;
    const site_rate_t *line, *rate;
    mpq_srcptr gpus; /* by price weight; CPUs of a pool of CPUs */
    mpq_srcptr all;  /* GPUs of the job in all pools */
    uint64_t cpus;   /* of the job; COUNT_UNKNOWN */
    uint64_t memory_mb;
} billable_part_t;

/* GPUs that it is billed for, at the price of its line. */
void billable_part_units (const billable_part_t *part, mpq_ptr ret_units);
/* What so many of them for so many seconds lack to rounded hours and to the smallest
 * charge, in price seconds. */
void billable_part_lack (const billable_part_t *part, mpq_srcptr units,
                         int64_t seconds, mpq_ptr ret_lack);

/* What is priced of a segment in a pool at an instant: as a line, or as the one job
 * that it is, which may have a rate by its reservation or its GPUs. */
rate_subject_t billable_line (const site_t *site, const accounts_t *accounts,
                              const segment_t *segment, const char *pool,
                              int64_t instant);
rate_subject_t billable_job (const site_t *site, const segment_t *segment,
                             rate_subject_t line);

/* Allocated seconds until the end -> seconds billed. */
int64_t billable_seconds (const site_policy_t *policy, int64_t allocated);

/* Of the seconds billed: the last ones, which are credited. */
int64_t billable_credit_seconds (const site_policy_t *policy, int64_t billed);

/* Of a piece of a segment on devices of one kind: the credits. */
typedef struct {
    /* Texts of the usage's keys, NULL: absent. The same text is the same
     * pointer, which lives as long as the usage. */
    const char *const *key;
    period_t period;
    const device_kind_t *kind;
    const char *what; /* the state of policy.credits, or the outage's name */
    mpq_srcptr price_seconds;
} billable_credit_t;

/* Of a segment as usage_add() takes it: its pieces that are credited, cut and
 * keyed as the cells of `usage`, to which nothing is added. Borrowed for the
 * call. */
typedef void (*billed_f) (const billable_credit_t *credit, void *arg);
void billable_each_credit (usage_t *usage, const segment_t *segment,
                           const suspension_t *suspensions, size_t count,
                           const project_t *project, billed_f callback,
                           void *arg);

/* A sum of what is billed beyond the time allocated (usage_part_t); NULL: nothing. */
void billable_more_add (mpq_t **to, mpq_srcptr more);
void billable_more_free (mpq_t **more);

#endif /* !GL_USAGE_BILLABLE_H */
