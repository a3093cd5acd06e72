/*
 * planning_report.h: the questions of the configuration (`analyses`), each with
 * the inputs that were taken, when and where their prices were read, the
 * figures that follow with their formulas, and what is left out.
 *
 * Needs the configuration, and until when facts tell. Pure.
 */
#ifndef GL_REPORT_PLANNING_REPORT_H
#define GL_REPORT_PLANNING_REPORT_H

#include "report/report.h"
#include "site/site.h"

/* Rows by analysis, in file order: input, then result. NULL with an error where
 * there are no analyses, or a price cannot be found. `known`: as
 * breakeven_instant() has it. */
report_t *planning_report_make (const site_t *site, int64_t known,
                                gl_error_t *error);

#endif /* !GL_REPORT_PLANNING_REPORT_H */
