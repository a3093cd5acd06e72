/*
 * job_charge.h: what one job is charged in a month: the sum of its rows in the
 * detail that lies below the bill (ledger/line_items.h), as facts and
 * configuration have it now: of a closed month what was closed, with all
 * corrections since, those of the open month included (balance_due.h).
 */
#ifndef GL_JOB_CHARGE_H
#define GL_JOB_CHARGE_H

#include "month/month.h"
#include "site/segment.h"

/* Which job: one submission of it. NULL and SECONDS_UNKNOWN: whichever there is,
 * if it is one. */
typedef struct {
    uint64_t id_job;
    const char *cluster;
    const char *pool;
    int64_t submit;
} job_key_t;

/* A stretch that it ran, and what that was charged, in units of 10^-10. */
typedef struct {
    int64_t start;
    int64_t end;
    mpz_t billed;
} job_stretch_t;

typedef struct {
    posting_t
        line; /* its line of the bill, by texts alone; reference: the job */
    mpq_t exact;     /* what that line is charged, all its jobs, before rounding */
    mpz_t units;     /* and as it is billed */
    job_stretch_t *stretch; /* in their order */
    size_t count;
    size_t size;
} job_charge_t;

/* -1 with what is missing: it is charged nothing in the month; it is several
 * submissions; it is on several lines. */
int job_charge_read (store_t *store, const site_t *site,
                     const periods_t *periods, const char *month,
                     const job_key_t *key, job_charge_t *ret_charge,
                     gl_error_t *error);
/* As 0 it need not be cleared. */
void job_charge_clear (job_charge_t *charge);

/* What its last seconds of the month were charged, in smallest units, rounded half
 * to even. Of all of them it is the job's part of what its line is billed, so that a
 * job that is alone on a line is charged what stands there. */
void job_charge_last (const site_t *site, const job_charge_t *charge,
                      int64_t seconds, mpz_t ret_units);

/*
 * The rows of closed months that jobs are in, by which they are disputed: of
 * each closed month the charge that a job's rows by day lie below, as they were
 * closed, whatever its account or project is now, and what goes back to the
 * job.
 */
typedef struct job_rows job_rows_t;

job_rows_t *job_rows_new (void);
/* Accepts NULL. */
void job_rows_free (job_rows_t *rows);

/* First: the segments whose rows are wanted, once or more. */
void job_rows_add (job_rows_t *rows, const segment_t *segment);

/* Then once: looks them up in all closed months that `life` touches. `had`: one that was read
 * before, and outlives the rows (NULL: none). */
int job_rows_read (job_rows_t *rows, store_t *store, const site_t *site,
                   const periods_t *periods, month_t *had, period_t life,
                   gl_error_t *error);

/* One closed month of a segment. */
typedef struct {
    const month_t *month;
    const size_t
        *row; /* of its bill, in their order; row i has the number i + 1 */
    size_t count;
} job_month_t;

typedef void (*job_rows_f) (const job_month_t *month, void *arg);
/* In the order of the months; those in which the job is in no row are left out.
 */
void job_rows_each (const job_rows_t *rows, const segment_t *segment,
                    job_rows_f callback, void *arg);

#endif /* !GL_JOB_CHARGE_H */
