/* verb_report.h: reports, and what they are made of, that others need as well. */
#ifndef GL_VERB_REPORT_H
#define GL_VERB_REPORT_H

#include "cli/cli.h"
#include "report/usage_report.h"
#include "usage/query.h"

/* What was held and measured, from the command's store, which is open.
 * *ret_usage is yours in any case, and points to *ret_counts. Returns an exit
 * code, the reason told. */
int usage_of_query (cli_t *cli, const report_query_t *query,
                    evidence_counts_t *ret_counts, usage_report_t **ret_usage);

/* Usage and charges of the query, from the command's store, which is open.
 * Returns an exit code, the reason told. */
int report_of_charges (cli_t *cli, const report_query_t *query,
                       report_t **ret_report);

/* The reports of a published site (publish/publish.h): "utilization" by pool and month, "plan"
 * by pool. */
int report_for_site (cli_t *cli, const char *name, const report_query_t *query,
                     report_t **ret_report);

#endif /* !GL_VERB_REPORT_H */
