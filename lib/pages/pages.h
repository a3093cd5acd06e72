/*
 * pages.h: pages of a published site that go over all of its months: the index, the history of a
 * team, a pool, and the hashes of closed months. Other pages are reports that verbs print, too.
 *
 *   pages_t *pages = pages_new (&query);
 *   ... pages_add (pages, &month) for each month, the earliest first ...
 *   report_t *report = pages_index (pages);
 *
 * Amounts are those of the bills, in smallest units, added up. Pure. An object belongs to one
 * thread; reports are the caller's, report_free().
 */
#ifndef GL_PAGES_PAGES_H
#define GL_PAGES_PAGES_H

#include "base/text.h"
#include "ledger/bill.h"
#include "report/report.h"
#include "statement/summary.h"
#include "usage/query.h"

typedef struct pages pages_t;

/* A month as it is read; borrowed for the call. */
typedef struct {
    const char *name;  /* "2026-10" */
    const char *state; /* "closed 2026-11-05, version 1", "not closed" */
    const char *hash;  /* of its closing; NULL: it is not closed */
    const bill_t *bill;
} pages_month_t;

/* `query`: of all months, without keys and filters; it must outlive the object. */
pages_t *pages_new (const report_query_t *query);
/* Accepts NULL. */
void pages_free (pages_t *pages);
void pages_add (pages_t *pages, const pages_month_t *month);

/* The sums of a month, to which summary_month_waste() may add: else the page of all months has no
 * waste of it. NULL: it was not added. */
summary_month_t *pages_month (pages_t *pages, const char *month);
/* The sums of the months so far, as the summary of a month wants those before it. */
const summary_month_t *pages_months (const pages_t *pages, size_t *ret_count);
/* The team has a statement in the month: something is due, or it has a balance. */
bool pages_has (const pages_t *pages, const char *month, const char *team);
/* Of all months, by name; a team without name is "(none)". Borrowed. */
const text_list_t *pages_teams (pages_t *pages);
const text_list_t *pages_pools (pages_t *pages);

/* The site: its months, and the teams and pools of the last one that has charges. */
report_t *pages_index (pages_t *pages);
/* What a team had to pay in each month. */
report_t *pages_team (pages_t *pages, const char *team);
/* What a pool cost and recovered in each month, and from whom in the last one. */
report_t *pages_pool (pages_t *pages, const char *pool);
/* Each closed month with its hash. `head`: the latest hash of the chain; NULL: nothing is
 * closed. */
report_t *pages_verify (pages_t *pages, const char *head);

#endif /* !GL_PAGES_PAGES_H */
