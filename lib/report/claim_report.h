/*
 * claim_report.h: which published figures follow from their inputs, and which do
 * not (planning/claim.h). Pure.
 */
#ifndef GL_REPORT_CLAIM_REPORT_H
#define GL_REPORT_CLAIM_REPORT_H

#include "planning/claim.h"
#include "report/report.h"

/* Of judged claims, in their order; a row for each figure, and one for a claim
 * without any. `name`: of the file, for people. */
report_t *claim_report_make (const claim_t *claims, size_t count,
                             const char *name);

#endif /* !GL_REPORT_CLAIM_REPORT_H */
