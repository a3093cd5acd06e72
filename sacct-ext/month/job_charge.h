/*
 * job_charge.h: what one job is charged in a month: the sum of its rows in the
 * detail that lies below the bill (ledger/line_items.h), as facts and
 * configuration have it now: of a closed month what was closed, with all
 * corrections since, those of the open month included (balance_due.h).
 */
#ifndef GL_JOB_CHARGE_H
#define GL_JOB_CHARGE_H

#include "month/periods.h"

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

/* The texts of the line of the bill that a row of a job by day lies below, into an
 * initialised row. */
void job_charge_line (const char *month, const line_item_t *row,
                      posting_t *ret_line);

/* What its last seconds of the month were charged, in smallest units, rounded half
 * to even. Of all of them it is the job's part of what its line is billed, so that a
 * job that is alone on a line is charged what stands there. */
void job_charge_last (const site_t *site, const job_charge_t *charge,
                      int64_t seconds, mpz_t ret_units);

#endif /* !GL_JOB_CHARGE_H */
