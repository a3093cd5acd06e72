/*
 * price.h: what a request of sbatch's words would cost. Pure: the site and the
 * instant are given.
 */
#ifndef GL_PRICE_H
#define GL_PRICE_H

#include <stddef.h>
#include <stdint.h>

#include "acct/site.h"
#include "base/error.h"
#include "report/report.h"

/* The words as they stand on the command line; NULL: not given. */
typedef struct {
    const char *partition;
    const char *gres;          /* gpu:h100:4, per node */
    const char *gpus;          /* [TYPE:]N, of the job */
    const char *gpus_per_node; /* [TYPE:]N */
    const char *time;          /* Slurm's time grammar */
    const char *nodes;         /* N, or MIN-MAX */
    const char *qos;
    const char *account;
    const char *cluster;
} price_words_t;

#define PRICE_SECONDS_MAX (INT64_C (366) * 100 * 86400)
/* Slurm's time: MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS, DAYS-HOURS,
 * DAYS-HOURS:MINUTES, DAYS-HOURS:MINUTES:SECONDS. -1 for anything else, and for
 * UNLIMITED, which has no price. */
int price_time (const char *text, int64_t *ret_seconds, gl_error_t *error);

/* A table: one row for each pool that could serve the request, price per hour,
 * total, basis. Currency rounding happens here, half to even, once for each
 * figure. NULL with an error that says what to write. Yours: report_free(). */
report_t *price_report (const site_t *site, const price_words_t *words,
                        int64_t now, gl_error_t *error);

#endif /* !GL_PRICE_H */
