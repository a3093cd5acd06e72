/*
 * demands.h: report demand (demand/demand.h) of a store.
 */
#ifndef GL_DEMANDS_H
#define GL_DEMANDS_H

#include "base/error.h"
#include "report/plan.h"
#include "store/store.h"

/* As demand_new() and demand_make(). 0 or -1. */
int demands_make (store_t *store, const report_query_t *query,
                  const plan_query_t *asked, report_t **ret_report,
                  gl_error_t *error);

#endif /* !GL_DEMANDS_H */
