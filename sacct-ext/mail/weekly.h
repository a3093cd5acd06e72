/*
 * weekly.h: a week of each team on one page, from the store: what it spent in the week,
 * in the week before and in the month so far, what of it went for idle GPUs, and its
 * budgets.
 *
 *   spent  charges, idle time, credits by policy and purchases of the days (BILL_DAYS):
 *          before settlement, manual credits, corrections and taxes, which belong to no
 *          day
 *   idle   GPU time of the team's jobs that agents measured as idle, at its list price in
 *          the month (bill_time_prices()), as everywhere; unknown without agents
 *
 * A week begins on Monday, in the zone of the ledger, and the month so far is that of
 * its last day, up to the end of the week.
 */
#ifndef GL_MAIL_WEEKLY_H
#define GL_MAIL_WEEKLY_H

#include "base/text.h"
#include "report/report.h"
#include "store/store.h"
#include "usage/query.h"

/* The week that contains the instant. */
period_t weekly_period (const zone_t *zone, int64_t instant);

typedef struct weekly weekly_t;

/* `query` has no filters, and its period is the week; it and the store must outlive
 * the object. One pass over months and facts for all teams. NULL with an error. */
weekly_t *weekly_new (store_t *store, const report_query_t *query,
                      gl_error_t *error);
void weekly_free (weekly_t *weekly); /* accepts NULL */

/* The teams with anything on the page, by today's names, sorted. Appended. */
void weekly_teams (weekly_t *weekly, text_list_t *ret_teams);
/* Yours: report_free(). */
report_t *weekly_report (weekly_t *weekly, const char *team);

#endif /* !GL_MAIL_WEEKLY_H */
