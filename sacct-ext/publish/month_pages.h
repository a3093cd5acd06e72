/*
 * month_pages.h: the pages of a month on a published site: the summary, the chargeback by team,
 * the amounts to post, the waste, what jobs produced, each team's statement, the jobs of its
 * users and projects, and explanations of the most expensive jobs.
 */
#ifndef GL_PUBLISH_MONTH_PAGES_H
#define GL_PUBLISH_MONTH_PAGES_H

#include "analysis/wastes.h"
#include "month/periods.h"
#include "month/statements.h"
#include "publish/month_jobs.h"
#include "publish/page.h"
#include "report/plan.h"
#include "store/store.h"
#include "usage/query.h"

/* Whose files the pages of a team are, before the first of them is written; NULL: of the
 * site. */
typedef int (*month_pages_owner_f) (void *arg, const char *team,
                                    gl_error_t *error);
/* After the facts were read: the decisions, borrowed. `planned`: the plan has taken them. The
 * plan ends with the call. */
typedef int (*month_pages_decide_f) (void *arg, bool planned,
                                     const report_t **ret_decisions,
                                     gl_error_t *error);
/* After each page, for who watches. */
typedef void (*month_pages_f) (void *arg, const char *month, size_t done);

typedef struct {
    page_site_t *site;
    store_t *store;
    const periods_t *periods;
    const report_query_t *query; /* the month */
    const char *month;
    const char *before; /* months next to it; NULL: there are none */
    const char *after;
    bool closable; /* "closing" says whether the month can be closed */
    bool labelled; /* some job may say in a label what it produced */
    bool decided;  /* there is a page of its decisions (publish.h) */
    plan_t
        *plan; /* of its decisions, which takes the facts of the month where the
                     configuration is the same; NULL: they are known */
    const char *
        decided_month; /* of which decide() has the decisions: it, or the last that has
                                  some; NULL: none has */
    const summary_month_t *earlier; /* sums of the months before it */
    size_t earlier_count;
    top_list_t *untagged; /* gets the largest jobs without a project; NULL:
                             nobody wants them */
    statements_series_t *series; /* of the months that are written */
    wastes_sums_t *wasted; /* what the month before wasted, and then this one */
    month_pages_decide_f decide;
    month_pages_owner_f owner;
    month_pages_f progress;
    void *arg;
} month_pages_t;

int month_pages_write (const month_pages_t *pages, gl_error_t *error);

#endif /* !GL_PUBLISH_MONTH_PAGES_H */
