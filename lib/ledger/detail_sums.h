/*
 * detail_sums.h: the job rows of a month's detail (ledger/detail.h), added up by
 * day and by what budgets are of: what a closed month's charges are by day,
 * whatever is configured later. Pure.
 */
#ifndef GL_LEDGER_DETAIL_SUMS_H
#define GL_LEDGER_DETAIL_SUMS_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/zone.h"
#include "ledger/detail.h"

typedef struct {
    char *day;   /* 2026-10-05, of the zone that the month was closed in */
    char *team;  /* NULL: none, as of all below */
    char *account;
    char *project;
    char *pool;
    mpq_t gpu_seconds;
    mpz_t billed; /* in units of 10^-DETAIL_DIGITS */
} detail_sum_t;

/* Whether somebody wants what is charged with these keys (NULL: absent). */
typedef bool (*detail_sums_f) (const char *team, const char *project,
                               const char *account, const char *pool,
                               void *arg);

typedef struct detail_sums detail_sums_t;

/* `zone`, that of the rows' days, must outlive the last detail_sums_add(). */
detail_sums_t *detail_sums_new (const zone_t *zone, detail_sums_f wants,
                                void *arg);
/* Accepts NULL. */
void detail_sums_free (detail_sums_t *sums);

/* Rows of other kinds than jobs, and what nobody wants, are passed over. Of a kept
 * detail this is all that need be read, with the sums as `arg`. */
void detail_sums_add (detail_sums_t *sums, const detail_row_t *row);
extern const detail_want_t detail_sums_want;

/* In the order in which they came first; borrowed until the next is added. */
const detail_sum_t *detail_sums (const detail_sums_t *sums, size_t *ret_count);
/* The first day with a job, wanted or not; NULL: there is none. */
const char *detail_sums_first (const detail_sums_t *sums);

#endif /* !GL_LEDGER_DETAIL_SUMS_H */
