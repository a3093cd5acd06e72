/*
 * plans.h: report plan (report/plan.h) from the store, in a pass over the facts of its own or
 * of another analysis:
 *
 *   plan_t *plan = plan_new (&query, &asked);
 *   plans_read (store, query.site, plan, &error); or plans_take() each of these facts
 *   plans_finish (store, plan, &report, &error);
 */
#ifndef GL_ANALYSIS_PLANS_H
#define GL_ANALYSIS_PLANS_H

#include "facts/facts.h"
#include "report/plan.h"
#include "report/report.h"
#include "store/store.h"

/* Both as plan_new() wants them; the prices of clouds are in the site. report_free() the report. */
int plans_make (store_t *store, const report_query_t *asked,
                const plan_query_t *chosen, report_t **ret_report,
                gl_error_t *error);

/* From what closing retained of the month, if the plan is of one that was closed with the configuration
 * of the site (*ret_retained); else each fact is to be taken. */
int plans_retained (store_t *store, const site_t *site, plan_t *plan,
                bool *ret_retained, gl_error_t *error);
/* Either. */
int plans_read (store_t *store, const site_t *site, plan_t *plan,
                gl_error_t *error);
/* A fact_f; `plan` is a plan_t. */
int plans_take (const fact_t *fact, void *plan, gl_error_t *error);
/* After the last fact; plan_free() remains the caller's. */
int plans_finish (store_t *store, plan_t *plan, report_t **ret_report,
                  gl_error_t *error);

#endif /* !GL_ANALYSIS_PLANS_H */
