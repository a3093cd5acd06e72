/*
 * paid_by_others.h: hardware that others, such as an award, have paid for, and what of it teams
 * pay again: charges at full cost (policy.book: full) have the same part of it as the cost that they
 * are made of,
 *
 *   part of a pool = (full cost - recoverable cost) / full cost
 *
 * with both costs of the month's bill (bill_pool_t). The part of what all teams pay is rounded once
 * and shared by what each pays in each pool. Nothing here fails. Pure. One thread.
 */
#ifndef GL_LEDGER_PAID_BY_OTHERS_H
#define GL_LEDGER_PAID_BY_OTHERS_H

#include "ledger/bill.h"
#include "ledger/cube.h"

/* "others (federal award 1234)", who paid by the funds of the month's costs; "others, such as an
 * award," where these are not named. Yours to free. */
char *paid_by_others_names (const site_t *site, const bill_t *bill,
                            const char *month);

/* Into a cube of postings by team: in `charge`, in smallest units, what each pays of it, before taxes
 * and rules of settlement. Texts are borrowed of the bill. Not of pools with a published rate, which need not
 * follow the cost: the number of those that others paid for is returned. */
size_t paid_by_others_charged (const bill_t *bill, const char *month,
                               cube_t *ret_teams);

#endif /* !GL_LEDGER_PAID_BY_OTHERS_H */
