/*
 * idle_jobs.h: running jobs whose GPUs are all idle now: since when, from what agents
 * measured last. Pure.
 *
 * A GPU is idle from its last stretch of measurements backwards, as long as no sample of
 * a stretch was above the agent's threshold and at least nine tenths of its time were
 * sampled. An idle period that the agent counted within the last stretch begins as the
 * agent says. Missing measurements are never idle.
 */
#ifndef GL_WASTE_IDLE_JOBS_H
#define GL_WASTE_IDLE_JOBS_H

#include "evidence/evidence.h"

/* Older facts say nothing of now, seconds: agents send stretches of up to an hour, and sync
 * runs every hour. */
#define IDLE_JOB_FRESH (2 * 3600)

typedef enum {
    IDLE_JOB_NOT_RUNNING, /* or it has no GPU */
    IDLE_JOB_BUSY,        /* some GPU */
    IDLE_JOB_UNKNOWN,     /* some GPU was not measured, or too long ago */
    IDLE_JOB_IDLE,
} idle_job_state_t;

typedef struct {
    int64_t since; /* all its GPUs are idle */
    int64_t until; /* so far all were measured */
    uint64_t gpus; /* devices */
} idle_job_t;

/* Of a segment as of `now`. */
idle_job_state_t idle_job_of (const segment_t *segment,
                              const segment_evidence_t *evidence, int64_t now,
                              idle_job_t *ret);

#endif /* !GL_WASTE_IDLE_JOBS_H */
