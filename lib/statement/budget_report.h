/* budget_report.h: budgets as a report, and their alerts in words. Pure. */
#ifndef GL_STATEMENT_BUDGET_REPORT_H
#define GL_STATEMENT_BUDGET_REPORT_H

#include "base/buffer.h"
#include "report/heading.h"
#include "report/report.h"
#include "statement/budget.h"

/* What is new about a budget. */
typedef struct {
    int threshold; /* percent that is reached; 0: nothing new */
    bool over;     /* the forecast is beyond it */
} budget_alert_t;

static inline bool budget_alerts (const budget_alert_t *alert)
{
    return alert->threshold > 0 || alert->over;
}

/* All that there is to tell of it. */
budget_alert_t budget_alert (const budget_t *budget);

/* One row a budget; `alert[i]` is told of budget i. `unlimited`: running jobs
 * without a known limit. Yours: report_free(). */
report_t *budget_report_make (const report_query_t *query,
                              budget_t *const *budgets,
                              const budget_alert_t *alerts, size_t count,
                              uint64_t unlimited);

/* "team language", "pool h100". Yours to free. */
char *budget_scope (const site_budget_t *entry);
/* "92.3 % spent, forecast 135.0 %": in one line, for mail and limits. Yours to
 * free. */
char *budget_summary (const budget_t *budget);

/* "50 % spent, forecast above 100 %"; NULL: no alert. Yours to free. */
char *budget_alert_text (const budget_alert_t *alert);
/* The value as a percentage of the budget, with one decimal; "?" of a budget of 0.
 * Yours to free. */
char *budget_percent (const budget_t *budget, mpq_srcptr value);
/* How many of those who spent the most are named. */
#define BUDGET_CONTRIBUTORS 3

#endif /* !GL_STATEMENT_BUDGET_REPORT_H */
