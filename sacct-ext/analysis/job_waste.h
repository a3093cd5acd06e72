/*
 * job_waste.h: what jobs wasted, and what would fit them, as steps of their
 * explanations (waste/waste_explain.h, waste/rightsize.h), from the store.
 */
#ifndef GL_ANALYSIS_JOB_WASTE_H
#define GL_ANALYSIS_JOB_WASTE_H

#include "report/explain.h"
#include "store/store.h"

/* Of each segment of the explanation, in the months that it ran in. The sizes are those
 * of report rightsize of these months. */
int job_waste_explain (store_t *store, const site_t *site, explain_t *explain,
                       gl_error_t *error);

#endif /* !GL_ANALYSIS_JOB_WASTE_H */
