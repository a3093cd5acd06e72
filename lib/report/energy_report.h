/*
 * energy_report.h: the energy that the GPUs' own counters measured: whose it
 * was, how much of it nobody used, and how much of the allocated time it speaks of.
 *
 * IT energy of the GPUs alone: not the rest of their nodes, not the cooling.
 * Collects segments, then makes the report. Pure.
 */
#ifndef GL_REPORT_ENERGY_REPORT_H
#define GL_REPORT_ENERGY_REPORT_H

#include "money/meter.h"
#include "money/meter_price.h"
#include "report/heading.h"
#include "usage/usage.h"

typedef struct energy_report energy_report_t;

/* The query must outlive it. */
energy_report_t *energy_report_new (const report_query_t *query);
void energy_report_free (energy_report_t *energy); /* accepts NULL */

/* In the order (cluster, id_job, time_submit). */
void energy_report_add (energy_report_t *energy, const segment_t *segment,
                        const project_t *project,
                        const segment_evidence_t *evidence);

/* What the GPUs counted, for a balance with the site's meters: of all jobs, so the
 * query must have no filter. */
void energy_report_devices (energy_report_t *energy,
                            const evidence_counts_t *counts,
                            const measured_t *unheld, meter_balance_t *balance);

/* `counts`: what came of the join; `unheld`: what was measured while no job
 * had the device. Both of the query's period. */
report_t *energy_report_make (energy_report_t *energy,
                              const evidence_counts_t *counts,
                              const measured_t *unheld);

/* --- the balance with the meters ---------------------------------------- */

/*
 * How what the GPUs counted, the rest of the nodes and a stated
 * residual add up to what the site's meters counted, and that to the utility's
 * bill: a block of the energy report.
 */

/* Adds the block, and its figures as named totals, if some meter of machines or
 * of the facility was read in the period; of a bill at several prices, what falls on
 * each. */
void energy_balance_put (report_t *report, const report_query_t *query,
                         const meter_balance_t *balance,
                         const meter_prices_t *prices);

#endif /* !GL_REPORT_ENERGY_REPORT_H */
