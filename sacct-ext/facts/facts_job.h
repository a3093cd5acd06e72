/*
 * facts_job.h: everything that the store has of one job id, copied out of the
 * iterators, and the join of it. Reused from job to job.
 */
#ifndef GL_FACTS_JOB_H
#define GL_FACTS_JOB_H

#include "evidence/evidence.h"
#include "store/store.h"

typedef struct facts_job facts_job_t;

facts_job_t *facts_job_new (void);
void facts_job_free (facts_job_t *job); /* accepts NULL */

/* Forget everything; the next job is this one. */
void facts_job_begin (facts_job_t *job, const char *cluster, uint64_t id_job);
/* Nothing was begun, or it was forgotten. */
/* NULL: none. */
const char *facts_job_cluster (const facts_job_t *job);
uint64_t facts_job_id (const facts_job_t *job);
bool facts_job_none (const facts_job_t *job);
bool facts_job_is (const facts_job_t *job, const char *cluster,
                   uint64_t id_job);
void facts_job_forget (facts_job_t *job);

void facts_job_add_segment (facts_job_t *job, const segment_t *segment);
/* Records that say nothing of a job, or that are damaged, are left out. */
void facts_job_add_record (facts_job_t *job, const node_record_t *record);
/* It shows GPUs that the job held. */
bool facts_record_shows_gpu (const node_record_t *record);
void facts_job_add_usage (facts_job_t *job, const device_usage_t *usage);
void facts_job_add_retag (facts_job_t *job, const retag_t *retag);

/* Every record lies in the time of one of the segments, as near as clocks are, and
 * after its submission. If not, the job has more segments than these. */
bool facts_job_is_whole (const facts_job_t *job);
void facts_job_forget_segments (facts_job_t *job);

/* Valid until the next begin or forget. `skews`: of the job's cluster. */
const evidence_join_t *facts_job_join (facts_job_t *job,
                                       const node_skew_t *skews, size_t count);

#endif /* !GL_FACTS_JOB_H */
