/*
 * summaries.h: report summary (statement/summary.h) from the store: the month, the
 * twelve months before it, budgets and usage. A closed month's page is made of
 * what was closed.
 */
#ifndef GL_MONTH_SUMMARIES_H
#define GL_MONTH_SUMMARIES_H

#include "month/month.h"
#include "report/report.h"
#include "statement/summary.h"
#include "store/store.h"
#include "usage/query.h"

/* What was read already, and how the page is made; NULL and zeros: it is read. All borrowed,
 * but for `chargeback`. */
typedef struct {
    month_t *now;           /* the month */
    month_t *before;        /* and the one before it; both or none */
    variances_t *variances; /* with `now`: from one to the other */
    const summary_month_t
        *earlier; /* sums of the months before it, the earliest first */
    size_t earlier_count;
    summary_month_t
        *sums; /* of the month and of the one before it, which get what was
                              wasted; NULL: nobody asks */
    summary_month_t *sums_before;
    cube_t *
        waste_before; /* what the month before wasted, by cause, if its sums have
                             that; NULL: it is made */
    cube_t *
        *ret_waste; /* gets the same of the month, for cube_free(); NULL: nobody
                             asks */
    report_t *
        chargeback; /* of the month by team: its chart of recovered cost moves to the
                             page */
    budget_t *const *budgets; /* with `now`: of all teams, of the month */
    size_t budget_count;
    const periods_t *periods;
    bool linked; /* these three as in summary_t */
    const report_t *decisions;
    const char *decided_month;
} summaries_how_t;

/* The query is a calendar month without filters. `how` may be NULL. Yours:
 * report_free(). */
int summaries_make (store_t *store, const report_query_t *query,
                    const summaries_how_t *how, report_t **ret_report,
                    gl_error_t *error);

/* What was wasted in the month, as summary_month_waste() adds it; of the query only what is the
 * same for all months. */
int summaries_waste (store_t *store, const report_query_t *query,
                     month_t *month, summary_month_t *to, gl_error_t *error);

#endif /* !GL_MONTH_SUMMARIES_H */
