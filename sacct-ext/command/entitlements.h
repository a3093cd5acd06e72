/*
 * entitlements.h: report entitlements from the store: of closed months what was
 * closed, of others what facts and configuration make of them now.
 */
#ifndef GL_ENTITLEMENTS_H
#define GL_ENTITLEMENTS_H

#include "cli/cli.h"
#include "cli/query_options.h"
#include "report/report.h"

/* Of the months that the period touches; without one of the fiscal year, up to
 * as-of. CLI_OK and the report, or what to exit with after the reason was told. */
int entitlements_report (cli_t *cli, query_options_t *options,
                         report_t **ret_report);

#endif /* !GL_ENTITLEMENTS_H */
