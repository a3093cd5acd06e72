/*
 * billable.h: what is billed of a segment, where that is not what it held; and
 * what of it is given back for how it ended.
 *
 * Held is what devices were allocated, for as long (usage.h): no policy changes
 * that. Billed is a price of it (price_seconds of charge.h), for each segment
 * by itself and in each pool:
 *
 *   units x seconds
 *
 *   units    GPUs by their price weight (pool's bill: gpus), or as many as the
 *            job's CPUs or memory stand for where these are more: rounded up
 *            (dominant; PLGrid Cyfronet), or as the largest of the weighted
 *            (weighted; MAX_TRES of Slurm's PriorityFlags). A job in several
 * pools has its CPUs and memory in them as its GPUs. A job without a GPU is
 * billed by no GPU pool. seconds  held, less suspended time that the policy
 * leaves free; of a segment that has ended none if they are fewer than
 * policy.grace, else at least policy.minimum, and a whole number of
 * policy.increment. What that adds lies where the segment ends.
 *
 * So cutting a segment at any instants changes no sum. A segment that ended in
 * one of policy.credits is given back what it was billed for its last
 * policy.credit_cap, in the months in which that lies. Examples:
 * docs/guides/billing.md. Pure.
 */
#ifndef GL_USAGE_BILLABLE_H
#define GL_USAGE_BILLABLE_H

#include <gmp.h>

#include "usage/usage.h"

/* Whether a policy bills anything else than what is held. Then charges need
 * each segment. */
bool billable_otherwise (const site_t *site);

/* Whether a segment is given something back. */
bool billable_is_credited (const site_t *site, const segment_t *segment);

/* GPUs (priced), CPUs and MB of memory in a pool -> units; NULL: not known. */
void billable_units (const site_pool_t *pool, mpq_srcptr gpus, mpq_srcptr cpus,
                     mpq_srcptr memory_mb, mpq_ptr ret_units);

/* Seconds held until the end -> seconds billed. */
int64_t billable_seconds (const site_policy_t *policy, int64_t held);

/* Of the seconds billed: the last ones, which are given back. */
int64_t billable_credit_seconds (const site_policy_t *policy, int64_t billed);

/* Of a piece of a segment on devices of one kind: what is given back. */
typedef struct {
    /* Texts of the usage's keys, NULL: absent. The same text is the same
     * pointer, which lives as long as the usage. */
    const char *const *key;
    period_t period;
    const device_kind_t *kind;
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

#endif /* !GL_USAGE_BILLABLE_H */
