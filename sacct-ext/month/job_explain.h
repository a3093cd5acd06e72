/*
 * job_explain.h: how the charges of jobs came about (report/explain.h), from the store.
 */
#ifndef GL_MONTH_JOB_EXPLAIN_H
#define GL_MONTH_JOB_EXPLAIN_H

#include "base/error.h"
#include "report/explain.h"
#include "site/site.h"
#include "store/store.h"

/* Which job: JOBID, JOBID_TASK, JOBID+OFFSET. */
typedef struct {
    const char *text;    /* borrowed */
    const char *cluster; /* NULL: any */
    char mark;           /* '_', '+' or 0 */
    uint64_t id;
    uint64_t part;
} job_name_t;

/* All but the cluster. -1: the text is no job. */
int job_name_parse (const char *text, job_name_t *ret_job);

/* An explanation for each job, which is the caller's, explain_free(). Jobs that ran in the
 * same months share the computation of their charges. -1 with an error, and nothing to free,
 * also where the store does not know one of them. */
int jobs_explain (store_t *store, const site_t *site, const job_name_t *jobs,
                  size_t count, explain_t **ret_explain, gl_error_t *error);

#endif /* !GL_MONTH_JOB_EXPLAIN_H */
