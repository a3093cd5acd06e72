/*
 * line_item_sums.h: the job rows of a month's detail (ledger/line_items.h),
 * added up by day and by what budgets are of: what a closed month's charges are
 * by day, whatever is configured later. Pure.
 */
#ifndef GL_LEDGER_DETAIL_SUMS_H
#define GL_LEDGER_DETAIL_SUMS_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/zone.h"
#include "ledger/line_items.h"

typedef struct {
    char *day;  /* 2026-10-05, of the zone that the month was closed in */
    char *team; /* NULL: none, as of all below */
    char *account;
    char *project;
    char *pool;
    mpq_t gpu_seconds;
    mpz_t billed; /* in units of 10^-LINE_ITEM_DIGITS */
} line_item_sum_t;

/* Whether somebody wants what is charged with these keys (NULL: absent). */
typedef bool (*line_item_sums_f) (const char *team, const char *project,
                                  const char *account, const char *pool,
                                  void *arg);

typedef struct line_item_sums line_item_sums_t;

/* `zone`, that of the rows' days, must outlive the last line_item_sums_add().
 */
line_item_sums_t *line_item_sums_new (const zone_t *zone,
                                      line_item_sums_f wants, void *arg);
/* Accepts NULL. */
void line_item_sums_free (line_item_sums_t *sums);

/* Rows of other kinds than jobs, and what nobody wants, are passed over. Of a
 * kept detail this is all that need be read, with the sums as `arg`. */
void line_item_sums_add (line_item_sums_t *sums, const line_item_t *row);
extern const line_item_want_t line_item_sums_want;

/* In the order in which they came first; borrowed until the next is added. */
const line_item_sum_t *line_item_sums (const line_item_sums_t *sums,
                                       size_t *ret_count);
/* The first day with a job, wanted or not; NULL: there is none. */
const char *line_item_sums_first (const line_item_sums_t *sums);

#endif /* !GL_LEDGER_DETAIL_SUMS_H */
