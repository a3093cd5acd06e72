/*
 * job_rows.h: the rows of closed bills that jobs are in, by which they are disputed:
 * of each closed month the charge that a job's rows by day lie below, as they were
 * closed, whatever its account or project is now, and what goes back to the job.
 */
#ifndef GL_JOB_ROWS_H
#define GL_JOB_ROWS_H

#include "month/periods.h"
#include "site/segment.h"

typedef struct job_rows job_rows_t;

job_rows_t *job_rows_new (void);
/* Accepts NULL. */
void job_rows_free (job_rows_t *rows);

/* First: the segments whose rows are wanted; and none of them. */
void job_rows_add (job_rows_t *rows, const segment_t *segment);
void job_rows_clear (job_rows_t *rows);

/* Then once: looks them up in all closed months that `life` touches. */
int job_rows_read (job_rows_t *rows, store_t *store, const site_t *site,
                   const periods_t *periods, period_t life,
                   gl_error_t *error);

/* One closed month of a segment. */
typedef struct {
    const closing_t *closing;
    const bill_t *bill; /* row i has the number i + 1 */
    const size_t *row;  /* in it, in their order */
    size_t count;
} job_month_t;

typedef void (*job_rows_f) (const job_month_t *month, void *arg);
/* In the order of the months; those in which the job is in no row are left out. */
void job_rows_each (const job_rows_t *rows, const segment_t *segment,
                    job_rows_f callback, void *arg);

#endif /* !GL_JOB_ROWS_H */
