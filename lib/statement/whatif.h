/*
 * whatif.h: what past months would have been charged under another
 * configuration: each team's charge before and after, and what the charges
 * recover of each pool's cost.
 *
 * Both bills are of the same facts and months: `before` as the site's
 * configuration makes it now, whatever was closed, `after` as the other one does.
 * So that they differ by configuration alone. Every figure is a sum of a bill's
 * integers. Of a bill its sums are enough: one is freed before the other is
 * computed. Pure.
 */
#ifndef GL_STATEMENT_WHATIF_H
#define GL_STATEMENT_WHATIF_H

#include <gmp.h>

#include "ledger/bill.h"
#include "report/heading.h"
#include "site/site.h"

/* What the report says of one side. */
typedef struct whatif_sums whatif_sums_t;

/* Of the bill nothing is borrowed. `by_team`: of both sides the same, see
 * whatif_by_team(). Yours: whatif_sums_free(), which accepts NULL. */
whatif_sums_t *whatif_sums_new (const bill_t *bill, bool by_team);
void whatif_sums_free (whatif_sums_t *sums);
/* What the bill brings: charges, idle time and credits, before rounding. */
mpq_srcptr whatif_revenue (const whatif_sums_t *sums);

/* Teams are compared; else accounts, as neither site has teams. */
bool whatif_by_team (const site_t *before, const site_t *after);

typedef struct {
    const report_query_t *query; /* its site is the one before */
    const site_t *site_after;    /* rates scaled already */
    const char *file;            /* where it differs, for people */
    const whatif_sums_t *before;
    const whatif_sums_t *after;
    mpq_srcptr
        factor; /* by which the published rates after were scaled so that the
                          charges stay; NULL: they were not */
} whatif_t;

/* Every published price of the site times `factor`. */
void whatif_scale (site_t *site, mpq_srcptr factor);

/* Rows by section: team (or account, where no team is configured), pool, and
 * with a factor the rates. Yours: report_free(). */
report_t *whatif_report_make (const whatif_t *whatif);

#endif /* !GL_STATEMENT_WHATIF_H */
