/*
 * closed_sums.h: charges by day of a closed month (ledger/line_item_sums.h), as
 * they were when it was closed.
 */
#ifndef GL_CLOSED_SUMS_H
#define GL_CLOSED_SUMS_H

#include "ledger/line_item_sums.h"
#include "month/periods.h"

/* Of what is wanted (line_item_sums_new()). line_item_sums_free() them. */
int closed_sums (store_t *store, const closing_t *closing,
                 line_item_sums_f wants, void *arg, line_item_sums_t **ret_sums,
                 gl_error_t *error);

#endif /* !GL_CLOSED_SUMS_H */
