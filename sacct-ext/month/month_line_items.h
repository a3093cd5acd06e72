/*
 * line_items.h: the rows that the bill of a month is made of
 * (ledger/line_items.h), from the store.
 */
#ifndef GL_MONTH_LINE_ITEMS_H
#define GL_MONTH_LINE_ITEMS_H

#include "base/error.h"
#include "ledger/line_items.h"
#include "month/bills.h"
#include "site/site.h"
#include "store/store.h"

/* What came of it. */
typedef struct {
    uint64_t rows;
    uint64_t poolless_gres_seconds; /* held on devices of no pool: in no row */
} line_item_result_t;

/*
 * The rows of a month that bills_of_month() gave and that is not closed, as the
 * facts in the store and the configuration have it now; with the credits,
 * corrections and taxes of its bill. Those of a closed month are kept:
 * periods_line_items(). Two passes over the month's segments and one over those
 * of each day; memory holds the bill's lines and the segments of a day.
 */
int line_items_of_month (store_t *store, const site_t *site,
                         const bills_month_t *month, line_item_f callback,
                         void *arg, line_item_result_t *ret_result,
                         gl_error_t *error);

#endif /* !GL_MONTH_LINE_ITEMS_H */
