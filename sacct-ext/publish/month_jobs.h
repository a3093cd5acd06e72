/*
 * month_jobs.h: of the jobs of a month on a published site those that have pages of their own,
 * and those that the statement of their team lists. Pure. An object belongs to one thread.
 */
#ifndef GL_PUBLISH_MONTH_JOBS_H
#define GL_PUBLISH_MONTH_JOBS_H

#include "pages/job_shares.h"
#include "publish/page.h"

/* A job that is explained. */
typedef struct {
    char *cluster;
    char *team; /* its name, or "(none)" */
    char *user; /* NULL: unknown */
    uint64_t id_job;
} explained_job_t;

#define TOP_JOBS 5

/* Jobs, CLUSTER/JOBID, and what each is in words. Begins as zeros; top_list_clear() frees it. */
typedef struct {
    char *(item[TOP_JOBS])[2];
    const char *bad[TOP_JOBS]; /* how it ended, as a cause of waste; NULL: not
                                  badly */
    char *team[TOP_JOBS]; /* in whose folder its page is; NULL: it has none */
    size_t count;
} top_list_t;

/* Begins as zeros; month_jobs_clear() frees it. */
typedef struct {
    explained_job_t *job;
    size_t count;
    struct top_jobs *top; /* the largest ones of each team */
    size_t top_count;
    top_list_t untagged; /* the largest ones without a project, of all teams */
} month_jobs_t;

/* At most publish.jobs are explained: the largest job at each price, then the largest of each
 * team that ended in each bad way, then the largest of the others. Names of users are those of
 * the pages. -1: one could not be made. */
int month_jobs_choose (month_jobs_t *jobs, const page_site_t *pages,
                       const site_t *site, job_shares_t *shares,
                       gl_error_t *error);
/* Adds the lists of the team (NULL: of none) to its statement of the month: the largest jobs, those
 * that ended badly, and those that were cancelled or whose nodes failed. Causes of waste lead to the
 * list that has a job of theirs, until page_forget(). */
void month_jobs_list (const month_jobs_t *jobs, page_site_t *pages,
                      const char *month, const char *team, report_t *report);
/* Adds a list, if there are any jobs; behind the tables. */
void top_list_put (const top_list_t *jobs, const char *title, report_t *report);
/* Its jobs lead to their pages of the month, until page_forget(). */
void top_list_know (const top_list_t *jobs, page_site_t *pages,
                    const char *month);
void top_list_clear (top_list_t *jobs);
void month_jobs_clear (month_jobs_t *jobs);

#endif /* !GL_PUBLISH_MONTH_JOBS_H */
