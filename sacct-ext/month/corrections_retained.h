/*
 * corrections_retained.h: the corrections of a closed month, kept
 * (store/cached.h).
 *
 * The digest is of what they depend on beside facts that the store looks at:
 * today's configuration, the closings that they follow, the clusters, their
 * accounts and the clocks of their nodes, and this program.
 */
#ifndef GL_CORRECTIONS_RETAINED_H
#define GL_CORRECTIONS_RETAINED_H

#include "ledger/bill.h"
#include "month/periods.h"
#include "site/site.h"
#include "store/store.h"

/* Of the corrections that the bill of `before` ("2026-11") has. */
int corrections_digest (store_t *store, const site_t *site,
                        const periods_t *periods, const char *before,
                        uint8_t ret_digest[STORE_DIGEST_SIZE],
                        gl_error_t *error);

/* 1: those of the month `period`, onto `out`; 0: none are kept, or they are
 * damaged. */
int corrections_take (store_t *store, period_t period,
                      const uint8_t digest[STORE_DIGEST_SIZE], bill_t *out,
                      gl_error_t *error);

/* In a transaction. `corrections`: nothing else. */
int corrections_put (store_t *store, period_t period,
                     const uint8_t digest[STORE_DIGEST_SIZE],
                     const bill_t *corrections, gl_error_t *error);

#endif /* !GL_CORRECTIONS_RETAINED_H */
