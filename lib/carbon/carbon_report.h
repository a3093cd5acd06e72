/*
 * carbon_report.h: report carbon: rows of energy and CO2e of jobs (carbon/carbon_rows.h)
 * by the keys of the query; and at most how much less the jobs would have caused at
 * other hours. Pure.
 */
#ifndef GL_CARBON_CARBON_REPORT_H
#define GL_CARBON_CARBON_REPORT_H

#include "carbon/carbon_rows.h"
#include "report/heading.h"

/* Groups by keys of carbon_keys; -1 with an error that names them. */
int carbon_report_check (const report_query_t *query, gl_error_t *error);

/* The report of BILL_CARBON of the bill: of the rows that pass those filters of the query
 * whose keys they have. `within`: the hours of carbon_query_t. */
report_t *carbon_report_make (const report_query_t *query, const bill_t *bill,
                              int64_t within);

#endif /* !GL_CARBON_CARBON_REPORT_H */
