/*
 * detail.h: the rows that the bill of a month is made of (report/detail.h), from
 * the store.
 */
#ifndef GL_DETAIL_H
#define GL_DETAIL_H

#include "acct/site.h"
#include "base/error.h"
#include "report/detail.h"
#include "store/store.h"

/* What came of it. */
typedef struct {
    uint64_t rows;
    uint64_t poolless_gres_seconds; /* held on devices of no pool: in no row */
    bool complete; /* as-of lies at or beyond the month's end */
} detail_result_t;

/*
 * The rows of the calendar month of the ledger's zone that begins at
 * month.start, up to the latest as-of; as the facts in the store and the
 * configuration have it now. Two passes over the month's segments and one over
 * those of each day; memory holds the bill's lines and the segments of a day.
 */
int detail_each (store_t *store, const site_t *site, period_t month,
                 detail_f callback, void *arg, detail_result_t *ret_result,
                 gl_error_t *error);

#endif /* !GL_DETAIL_H */
