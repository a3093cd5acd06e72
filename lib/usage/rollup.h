/*
 * rollup.h: what one cluster's usage was in a calendar day, or in a month made
 * of its days: the cells of every report that asks for nothing finer.
 *
 * A rollup holds, for each (account, user, project, qos, partition) and device
 * kind by value, the sums that usage.h defines; the set of JobIds, so that the
 * jobs of any grouping and any range are counted exactly; segments as "present
 * in the span" and "begun in the span", so that those of a range are present
 * (its first span) + begun (all later ones); capacity by pool; and what of the
 * nodes' evidence belongs to no segment; the measured energy of each pool by quarter
 * of an hour. It depends on nothing but the facts
 * that touch its span and the part of the configuration that site_usage_text() and
 * site_billable_text() show: not on other spans, nor on teams, rates and costs, which
 * are applied when it is read. Only where single jobs decide how much is billed
 * (usage/billable.h), it holds what that is beyond the time allocated.
 *
 *   build:  rollup_builder_new; add all facts of some days; rollup_builder_each
 *   month:  rollup_merge of all its days
 *   keep:   rollup_encode, rollup_decode (docs/formats/rollup.md)
 *   read:   usage_add_rollup (usage/usage.h), rollup_capacity, rollup_evidence
 *
 * The same facts give the same bytes, however the days were grouped into
 * builders. Pure. An object belongs to one thread.
 */
#ifndef GL_USAGE_ROLLUP_H
#define GL_USAGE_ROLLUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/zone.h"
#include "evidence/evidence.h"
#include "site/segment.h"
#include "site/site.h"
#include "usage/capacity.h"
#include "usage/usage.h"

/* rollup_t is declared in usage/usage.h. */

/* Accepts NULL. */
void rollup_free (rollup_t *rollup);
const char *rollup_cluster (const rollup_t *rollup);
period_t rollup_period (const rollup_t *rollup);

/* --- building ---------------------------------------------------------- */

typedef struct rollup_builder rollup_builder_t;

/* Of whole days of the site's zone, one cluster. `site` and `accounts` (NULL where
 * site_prices_by_team() is false) must outlive it; rollups do not need them. */
rollup_builder_t *rollup_builder_new (const site_t *site,
                                      const accounts_t *accounts,
                                      const char *cluster, period_t days);
/* Accepts NULL. */
void rollup_builder_free (rollup_builder_t *builder);

/* In the order of (id_job, time_submit); segments that do not touch the days
 * change nothing. `suspensions` as for usage_add, `evidence` may be NULL. */
void rollup_builder_add (rollup_builder_t *builder, const segment_t *segment,
                         const suspension_t *suspensions, size_t count,
                         const project_t *project,
                         const segment_evidence_t *evidence);
/* For as-of, node events, reservations and inventories. */
capacity_t *rollup_builder_capacity (rollup_builder_t *builder);
/* Evidence without a segment, of the day that holds the instant: attempts and
 * usage_ms are taken. */
void rollup_builder_unmatched (rollup_builder_t *builder, int64_t instant,
                               const evidence_counts_t *counts);

/* After the last fact, once: one rollup for each day, in their order, those
 * without any usage included. Borrowed for the call; -1 ends it. */
typedef int (*rollup_f) (const rollup_t *rollup, void *arg, gl_error_t *error);
int rollup_builder_each (rollup_builder_t *builder, rollup_f callback,
                         void *arg, gl_error_t *error);

/* One of several that follow one another without a gap, of one cluster. NULL
 * with an error if they do not. Yours to free. */
rollup_t *rollup_merge (const rollup_t *const *parts, size_t count,
                        gl_error_t *error);

/* The rollup of a day becomes that of the part of it before `end`. Only where
 * nothing was allocated after that: rollup_held_until(). `rest`: that of the other
 * part, built without segments. */
int64_t rollup_held_until (const rollup_t *rollup);
void rollup_end_at (rollup_t *rollup, int64_t end, const rollup_t *rest);

/* --- keeping ----------------------------------------------------------- */

/* Changes whenever what a rollup holds, or how, changes. */
#define ROLLUP_VERSION 5

/* Appends to `out`. */
void rollup_encode (const rollup_t *rollup, buffer_t *out);
/* Of any bytes whatever: NULL with an error if they are no rollup. The bytes are
 * copied. Yours to free. */
rollup_t *rollup_decode (const void *bytes, size_t length, gl_error_t *error);

/* Everything in the configuration that a rollup depends on, as canonical text,
 * ROLLUP_VERSION included: two sites with the same text have the same rollups.
 * Appended. */
void site_usage_text (const site_t *site, buffer_t *out);

/* The same of what is billed beyond the time allocated, as far as it applies in the
 * span; nothing where that is nothing. */
void site_billable_text (const site_t *site, const accounts_t *accounts,
                         period_t span, buffer_t *out);
/* It depends on whose team an account is. */
bool site_prices_by_team (const site_t *site);

/* --- reading ----------------------------------------------------------- */

/* Capacity by pool, in the order of their names; only where there was any, or a
 * job. */
typedef struct {
    const char *pool;
    const capacity_sum_t *sum;
    const capacity_reserved_t *reserved; /* by id; add up to reserved_unused */
    size_t reserved_count;
} rollup_capacity_t;
const rollup_capacity_t *rollup_capacity (const rollup_t *rollup,
                                          size_t *ret_count);

/* attempts and usage_ms by reason, without EVIDENCE_MATCHED. */
const evidence_counts_t *rollup_evidence (const rollup_t *rollup);

#endif /* !GL_USAGE_ROLLUP_H */
