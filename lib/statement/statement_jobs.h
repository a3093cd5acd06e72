/*
 * statement_jobs.h: the jobs of a team's statement, from the rows by job and
 * day of its month (ledger/line_items.h), of a closed month those of its
 * closing. Pure.
 */
#ifndef GL_STATEMENT_STATEMENT_JOBS_H
#define GL_STATEMENT_STATEMENT_JOBS_H

#include <gmp.h>
#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"
#include "ledger/line_items.h"

/* The keys of a number of jobs, at most. */
#define STATEMENT_KEYS 3

/* By what jobs are counted, in this order. */
typedef enum {
    STATEMENT_PRICED, /* pool,qos,profile */
    STATEMENT_ACCOUNTS,
    STATEMENT_PROJECTS,
    STATEMENT_USERS,
    STATEMENT_COUNTS,
} statement_by_t;

/* The --by of each. */
const char *statement_keys (statement_by_t by);

typedef struct {
    const char *key[STATEMENT_KEYS]; /* NULL: absent, and behind the last */
    uint64_t jobs;                   /* distinct JobIds */
} statement_count_t;

typedef struct {
    const statement_count_t *item;
    size_t count;
} statement_counts_t;

/* Texts of a job, in the order of the keys above. */
typedef enum {
    JOB_POOL,
    JOB_QOS,
    JOB_PROFILE,
    JOB_ACCOUNT,
    JOB_PROJECT,
    JOB_USER,
    JOB_TEAM,
    JOB_TEXTS,
} statement_job_text_t;

/* What jobs that are charged as one have in common. Each is kept once: equal ones are the same
 * pointer. */
typedef struct {
    const char *text[JOB_TEXTS]; /* NULL: absent */
    const char *cluster;
} statement_job_group_t;

/* A job, with all that it has in one group. */
typedef struct {
    const statement_job_group_t *group;
    uint64_t id_job;  /* these tell it from others */
    uint32_t days;    /* bit N: on the Nth of the month */
    uint32_t devices; /* at most at a time */
    const char
        *state; /* in which it ended, "FAILED"; of one that was requeued that of
                          its last run */
    mpq_t gpu_seconds;
    mpz_t billed; /* in units of 10^-LINE_ITEM_DIGITS */
} statement_job_t;

typedef struct statement_jobs statement_jobs_t;

/* `team` NULL: what is of none. `zone`: that of the rows' days. Both must outlive
 * it. */
statement_jobs_t *statement_jobs_new (const char *team, const zone_t *zone);
/* The same of all teams. */
statement_jobs_t *statement_jobs_all (const zone_t *zone);
/* Accepts NULL. */
void statement_jobs_free (statement_jobs_t *jobs);

/* Rows of other teams, and of other kinds, are passed over: of a kept detail these
 * are all that need be read, with the jobs as `arg`. */
extern const line_item_want_t statement_jobs_want;
void statement_jobs_add (statement_jobs_t *jobs, const line_item_t *row);

/* After the last row, by which the index of jobs is freed. */
void statement_jobs_end (statement_jobs_t *jobs);
/* Borrowed: all of them. */
const statement_job_t *statement_jobs_list (const statement_jobs_t *jobs,
                                            size_t *ret_count);

/* The group with these texts, which need not be the kept ones. NULL: no job is of it. Texts
 * too are kept once, so that equal ones of two groups are the same pointer. */
const statement_job_group_t *
statement_jobs_group (const statement_jobs_t *jobs,
                      const statement_job_group_t *like);

/* Of a total each job's part, initialised, in smallest units: in proportion to what was
 * billed of it, or where that is nothing to its time. The parts add up to the total; -1
 * is a defect. */
int statement_jobs_share (const mpz_t total, const statement_job_t *const *jobs,
                          size_t count, mpz_t *ret_units, gl_error_t *error);

#endif /* !GL_STATEMENT_STATEMENT_JOBS_H */
