/*
 * detail_sums.h: the job rows of a month's detail (report/detail.h), added up by
 * day and by what budgets and statements are of: what a closed month's charges
 * are by day, whatever is configured later. Pure.
 */
#ifndef GL_REPORT_DETAIL_SUMS_H
#define GL_REPORT_DETAIL_SUMS_H

#include <gmp.h>
#include <stddef.h>

#include "base/zone.h"
#include "report/detail.h"

typedef struct {
    char *day;   /* 2026-10-05, of the zone that the month was closed in */
    char *team;  /* NULL: none, as of all below */
    char *account;
    char *project;
    char *pool;
    char *user;
    mpq_t gpu_seconds;
    mpz_t billed; /* in units of 10^-DETAIL_DIGITS */
} detail_sum_t;

typedef struct detail_sums detail_sums_t;

/* `zone`, that of the rows' days, must outlive the last detail_sums_add(). */
detail_sums_t *detail_sums_new (const zone_t *zone);
/* Accepts NULL. */
void detail_sums_free (detail_sums_t *sums);

/* Rows of other kinds than jobs are passed over. */
void detail_sums_add (detail_sums_t *sums, const detail_row_t *row);

/* In the order in which they came first; borrowed until the next is added. */
const detail_sum_t *detail_sums (const detail_sums_t *sums, size_t *ret_count);

#endif /* !GL_REPORT_DETAIL_SUMS_H */
