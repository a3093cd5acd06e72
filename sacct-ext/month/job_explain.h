/*
 * job_explain.h: how the charges of jobs came about (report/explain.h), from the store.
 */
#ifndef GL_MONTH_JOB_EXPLAIN_H
#define GL_MONTH_JOB_EXPLAIN_H

#include "base/error.h"
#include "month/month.h"
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

/* An explanation for each job, which is the caller's, explain_free(): of each month that it ran
 * in, or of those months alone that begin in `only` (NULL: all), as the configuration of that
 * month prices it. A month is computed once for all jobs. `had`: one of the months that was read
 * before (NULL: none). -1 with an error, and nothing to free, also where the store does not know
 * one of them. */
int jobs_explain (store_t *store, const site_t *site, const job_name_t *jobs,
                  size_t count, const period_t *only, month_t *had,
                  explain_t **ret_explain, gl_error_t *error);

#endif /* !GL_MONTH_JOB_EXPLAIN_H */
