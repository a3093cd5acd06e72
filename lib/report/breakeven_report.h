/*
 * breakeven_report.h: what a productive GPU hour of each pool costs, and from
 * which utilization on owning is cheaper than renting (cost-model, F1 to F6).
 *
 * Needs the configuration only. Pure.
 */
#ifndef GL_REPORT_BREAKEVEN_REPORT_H
#define GL_REPORT_BREAKEVEN_REPORT_H

#include "acct/breakeven.h"
#include "report/report.h"

/* `at`: see breakeven_of_pool(). `pools`: these only; NULL: all. NULL with an
 * error where the book cannot be applied, or names none of the pools. */
report_t *breakeven_report_make (const site_t *site, int64_t at,
                                 const text_list_t *pools, gl_error_t *error);

#endif /* !GL_REPORT_BREAKEVEN_REPORT_H */
