/*
 * corrections.h: the corrections of all closed months (ledger/correction.h), as
 * facts and configuration have them now.
 *
 * A closed month is computed afresh twice: with the configuration of the last
 * closing, in which it was corrected last, and with that of today. What differs
 * already in the first is due to facts, what differs between the two to the
 * configuration. Of facts the cause is what the store knows to have changed since
 * that closing: revisions, retags, new jobs.
 */
#ifndef GL_CORRECTIONS_H
#define GL_CORRECTIONS_H

#include "ledger/bill.h"
#include "month/periods.h"
#include "month/settled.h"
#include "site/site.h"
#include "store/store.h"

/* Of months closed before `month` ("2026-11") that still hold, onto `out`: as they
 * are kept, or computed afresh, which are the same rows. Imported months have
 * none. *ret_balances (may be NULL; for balances_clear()): those of these months
 * as they are corrected. */
int corrections_compute (store_t *store, const site_t *site,
                         const periods_t *periods, const char *month,
                         bill_t *out, balances_t *ret_balances,
                         gl_error_t *error);

/* The prior-period adjustments of a month that is not closed, onto
 * `out`: manual rows, and, if it is the open one, corrections, with the balances
 * of closed months, as above. */
int corrections_adjustments (store_t *store, const site_t *site,
                         const periods_t *periods, const char *month,
                         bill_t *out, balances_t *ret_balances,
                         gl_error_t *error);

/* Outside a transaction, where facts were written: computes those of the month
 * that is open now, where they are not kept or of something that changed since,
 * and keeps them, so that corrections_compute() has them. Safe to interrupt and to
 * repeat; never needed for a report to be right. */
int corrections_keep (store_t *store, const site_t *site, gl_error_t *error);

/* Of what retained corrections depend on in addition to facts that the store
 * looks at: today's configuration, the closings that they follow, the clusters,
 * their accounts and the clocks of their nodes, and this program. Of those that
 * the bill of `before`
 * ("2026-11") has. */
int corrections_digest (store_t *store, const site_t *site,
                        const periods_t *periods, const char *before,
                        uint8_t ret_digest[STORE_DIGEST_SIZE],
                        gl_error_t *error);

#endif /* !GL_CORRECTIONS_H */
