/* verb_report.h: reports that another verb makes as well. */
#ifndef GL_VERB_REPORT_H
#define GL_VERB_REPORT_H

#include "cli.h"
#include "report/query.h"

/* Usage and charges of the query, from the command's store, which is open.
 * Returns an exit code, the reason told. */
int report_of_charges (cli_t *cli, const report_query_t *query,
                       report_t **ret_report);

#endif /* !GL_VERB_REPORT_H */
