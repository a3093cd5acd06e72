/*
 * billing_inputs.h: what the pools did, gathered for the cost book while a
 * billing reads its facts: GPU time by pool and month, and, where some cost of
 * the site follows them, jobs and measured energy. Units-of-use assets need the
 * months since they came into service too.
 */
#ifndef GL_LEDGER_BILLING_INPUTS_H
#define GL_LEDGER_BILLING_INPUTS_H

#include "money/cost_inputs.h"
#include "usage/capacity.h"
#include "usage/rollup.h"
#include "usage/usage.h"

typedef struct billing_inputs billing_inputs_t;

/* `whole`: the months that are billed. The site must outlive it. */
billing_inputs_t *billing_inputs_new (const site_t *site, period_t whole);
/* Accepts NULL. */
void billing_inputs_free (billing_inputs_t *inputs);

/* The time of which facts are wanted: `whole`, or from an earlier month on. */
period_t billing_inputs_period (const billing_inputs_t *inputs);

/* As usage_add, usage_measure and usage_add_rollup. */
void billing_inputs_add (billing_inputs_t *inputs, const segment_t *segment,
                         const suspension_t *suspensions, size_t count,
                         const project_t *project);
void billing_inputs_measure (billing_inputs_t *inputs, const segment_t *segment,
                             const project_t *project,
                             const segment_evidence_t *evidence);
void billing_inputs_add_rollup (billing_inputs_t *inputs,
                                const rollup_t *rollup);

/* Borrowed until the costs are computed. */
void billing_inputs_meters (billing_inputs_t *inputs,
                            const meter_reading_t *readings, size_t count);

/* GPU time of a pool at an instant (of `sum`, capacity and allocated). */
void billing_inputs_capacity (billing_inputs_t *inputs, const char *pool,
                              int64_t instant, const capacity_sum_t *sum);

/* After the last fact. Borrowed. */
const cost_inputs_t *billing_inputs_done (billing_inputs_t *inputs);

#endif /* !GL_LEDGER_BILLING_INPUTS_H */
