/*
 * rightsize.h: report rightsize: which jobs would do with fewer or smaller GPUs.
 *
 * Jobs are judged by families: those of one user and account with one name (digits in
 * it are '#'), of one pool, kind of device and number of devices. Only jobs that
 * completed are judged. Of a family the agents must have measured at least half of the
 * GPU hours, of three jobs or more, or of ten GPU hours.
 *
 * The first advice that applies:
 *
 *   fewer_gpus     no job was ever busy on more than k of its n devices, all of which
 *                  were measured: k are enough
 *   half_gpus      several devices, active for less than 30 % of the time: half of them
 *   fewer_scaling  the same work ran on fewer devices, too, and this number has less
 *                  than 60 % of their efficiency: eff = T(m) m / (T(n) n), with T the
 *                  mean run time and m the smallest number
 *   slice          one whole GPU, of which the peak of memory and the activity, each
 *                  with a quarter more, fit into a MIG slice
 *   smaller_gpu    the peak of memory is below 70 % of the GPU's, and with a quarter
 *                  more fits into a GPU of another pool with a lower price
 *   pipeline       active for less than 60 % of the time: look at how data is fed
 *
 * Thresholds: 70 % of memory, 60 % and 30 % of activity, 60 % of efficiency are the
 * field's rules of thumb (docs/guides/rightsize.md). What a family could save is a
 * range: its share of the GPU hours that were measured, and of all of them; in money by
 * bill_pool_time_exact(). A smaller GPU may be slower: then less is saved.
 *
 * Give it month after month, as waste_report.h says. Memory holds the families, of
 * which 20,000 have names of their own; further ones are not judged. Pure.
 */
#ifndef GL_WASTE_RIGHTSIZE_H
#define GL_WASTE_RIGHTSIZE_H

#include "ledger/bill.h"
#include "report/explain.h"
#include "report/heading.h"

typedef struct rightsize rightsize_t;

/* The query, which has no keys, must outlive it. */
rightsize_t *rightsize_new (const report_query_t *query);
void rightsize_free (rightsize_t *rightsize); /* accepts NULL */

/* `query`: that of the report, put to the month; it must outlive the report, the bill the
 * month. */
void rightsize_begin_month (rightsize_t *rightsize, const report_query_t *query,
                            const bill_t *bill);
/* In the order (cluster, id_job, time_submit). */
int rightsize_add (rightsize_t *rightsize, const segment_t *segment,
                   const project_t *project, const segment_evidence_t *evidence,
                   gl_error_t *error);
void rightsize_end_month (rightsize_t *rightsize);

/* After the last month. Yours: report_free(). */
report_t *rightsize_make (rightsize_t *rightsize);

/* Instead of a page: the advice to the families of some jobs, as steps of their
 * explanations. First, in a month that has begun, the keys of the families that the
 * segment is of, whatever its end; after the last month a step for each key of which
 * some job completed and was measured. */
int rightsize_keys (rightsize_t *rightsize, const segment_t *segment,
                    const project_t *project, text_list_t *ret_keys,
                    gl_error_t *error);
void rightsize_end (rightsize_t *rightsize);
void rightsize_explain (const rightsize_t *rightsize, const char *key,
                        explain_segment_t *to);

/* "train_#.#_#" of "train_0.01_17"; yours to free. NULL: "". */
char *rightsize_family_name (const char *job_name);

#endif /* !GL_WASTE_RIGHTSIZE_H */
