/*
 * detail.h: the rows that the bill of a month is made of (ledger/detail.h), from
 * the store.
 */
#ifndef GL_DETAIL_H
#define GL_DETAIL_H

#include "base/error.h"
#include "ledger/detail.h"
#include "month/bills.h"
#include "site/site.h"
#include "store/store.h"

/* What came of it. */
typedef struct {
    uint64_t rows;
    uint64_t poolless_gres_seconds; /* held on devices of no pool: in no row */
} detail_result_t;

/*
 * The rows of a month that bills_of_month() gave and that is not closed, as the
 * facts in the store and the configuration have it now; with the credits,
 * corrections and taxes of its bill. Those of a closed month are kept:
 * periods_detail(). Two passes over the month's segments and one over those of
 * each day; memory holds the bill's lines and the segments of a day.
 */
int detail_of_month (store_t *store, const site_t *site,
                     const bills_month_t *month, detail_f callback,
                     void *arg, detail_result_t *ret_result, gl_error_t *error);

#endif /* !GL_DETAIL_H */
