/*
 * job_shares.h: the jobs of a month's bill, each with its share of what is charged: the jobs of
 * a group of charges (cluster, team, account, user, project, pool, QOS and MIG profile) add up
 * to the charges of the group, to the smallest unit, so that the jobs of a user and those of a
 * project add up to theirs.
 *
 * Pure. An object belongs to one thread.
 */
#ifndef GL_PAGES_JOB_SHARES_H
#define GL_PAGES_JOB_SHARES_H

#include <gmp.h>

#include "base/error.h"
#include "ledger/bill.h"
#include "report/report.h"
#include "statement/statement_jobs.h"
#include "usage/query.h"

typedef struct {
    const statement_job_t *job;         /* borrowed */
    const statement_job_group_t *group; /* of the job */
    mpz_t units;
} job_share_t;

typedef struct job_shares job_shares_t;

/* `jobs`: of all teams (statement_jobs_all()); it must outlive the object. NULL with an error
 * is a defect. */
job_shares_t *job_shares_new (const bill_t *bill, const statement_jobs_t *jobs,
                              gl_error_t *error);
/* Accepts NULL. */
void job_shares_free (job_shares_t *shares);

/* In the order of the team, then of `by` (JOB_USER, JOB_PROJECT), then the largest first.
 * Borrowed until the next call. */
const job_share_t *const *job_shares_by (job_shares_t *shares,
                                         statement_job_text_t by,
                                         size_t *ret_count);
/* The largest first. Borrowed. */
const job_share_t *job_shares_largest (const job_shares_t *shares,
                                       size_t *ret_count);

/* The end of the shares from `first` on that have the team in common, and with `by` the user or
 * project, too (JOB_TEXTS: the team alone). */
size_t job_shares_end (const job_share_t *const *share, size_t count,
                       size_t first, statement_job_text_t by);

/* Which jobs of a month have a page. */
#define JOBS_WITH_PAGES                                                    \
    "Jobs with a link have a page that explains their charge: the most "   \
    "expensive of the month at each price, of each way to end badly, and " \
    "of all others."

/* A page: the jobs of a team in a month by user or project (`by`), as they follow one another in
 * job_shares_by(). The section of a user lists the largest `rows` jobs, or fewer where there are
 * many sections, and the others as one row; that of a project has a row
 * for each user, likewise. With what else is due of it, the sum of a section is that of its line on
 * the statement. */
typedef struct {
    const report_query_t *query; /* the month */
    const bill_t *bill;          /* of it */
    const char *state;
    statement_job_text_t by;
    const char *(*name) (const char *text,
                         void *arg); /* of a user or project, as the page
                            calls it; NULL: as it is */
    void *arg;
    const job_share_t *const *share;
    size_t count;
    size_t rows;
} job_page_t;

/* report_free() it. */
report_t *job_page_make (const job_page_t *page);

#endif /* !GL_PAGES_JOB_SHARES_H */
