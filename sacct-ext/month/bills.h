/*
 * bills.h: charges computed from the facts in the store: bills (ledger/bill.h),
 * and billings (ledger/billing.h) for any other purpose.
 */
#ifndef GL_BILLS_H
#define GL_BILLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ledger/bill.h"
#include "ledger/line_items.h"
#include "site/site.h"
#include "store/store.h"

/*
 * The bill of the calendar months that `period` touches, all clusters and pools,
 * the last month up to the latest as-of; as the facts in the store and the
 * configuration have it now, whatever was closed. Rollups answer where they can.
 */
int bills_compute (store_t *store, const site_t *site, period_t period,
                   bill_t **ret_bill, gl_error_t *error);
typedef struct {
    bool compared; /* with what its months would be under other idle policies */
    bool days;     /* with what is charged by day (BILL_DAYS) of what passes: */
    bool by_team;  /* and by team alone */
    const usage_filter_t *filter; /* NULL: all */
    bool days_alone;              /* and no other list */
} bills_how_t;
/* The same of a period: rows of its months that lie outside it are marked so.
 * *ret_first: with days, an instant of the first time that jobs held, whoever's that
 * was; 0: there is none. */
int bills_compute_part (store_t *store, const site_t *site, period_t period,
                        const bills_how_t *how, bill_t **ret_bill,
                        int64_t *ret_first, gl_error_t *error);

/* A cluster as billing asks for it: with the first of its facts where that says out of
 * which month something is carried of an entitlement. */
int bills_cluster (store_t *store, const site_t *site,
                   const store_cluster_t *from, report_cluster_t *ret_cluster,
                   gl_error_t *error);

/* The query of all that is known of a period, by keys ("team,pool"), as of the facts of
 * each cluster. Clear it, whatever is returned. */
typedef struct {
    report_query_t query;
    store_cluster_t *stored;
    report_cluster_t *clusters;
    accounts_t *accounts;
} bills_query_t;
int bills_query (store_t *store, const site_t *site, const char *by,
                 period_t period, bills_query_t *ret, gl_error_t *error);
void bills_query_clear (bills_query_t *query);

/* Before all facts: node events that outages are made of. */
int bills_give_events (store_t *store, billing_t *billing, gl_error_t *error);

/* All that the billing is made of: rollups where they can tell it. */
int bills_give_facts (store_t *store, billing_t *billing, gl_error_t *error);

/* After the last fact: with what meters read, where demand is charged; then as
 * billing_compute(). */
int bills_finish (store_t *store, billing_t *billing, billing_pool_f each,
                  void *arg, gl_error_t *error);

/* To a billing of rollups, after the last one: what jobs are given back for how
 * they ended and for outages, which no rollup tells. */
int bills_add_ended (store_t *store, const site_t *site, billing_t *billing,
                     gl_error_t *error);

/* The rows by job and day of a month whose bill is computed, with the credits,
 * corrections and taxes of the bill. `ret_poolless` may be NULL. */
int bills_line_items (store_t *store, const site_t *site, period_t month,
                      const bill_t *bill, const line_item_want_t *want,
                      line_item_f callback, void *arg, uint64_t *ret_poolless,
                      gl_error_t *error);

#endif /* !GL_BILLS_H */
