/*
 * recharge.h: report recharge from the store.
 */
#ifndef GL_RECHARGE_H
#define GL_RECHARGE_H

#include "cli/cli.h"
#include "cli/query_options.h"
#include "report/report.h"

/* As they stand on the command line; NULL: not given. */
typedef struct {
    const char *year;
    const char *next_cost;
    const char *next_hours;
} recharge_options_t;

/* CLI_OK and the report, or what to exit with after the reason has been told. */
int recharge_report (cli_t *cli, query_options_t *query,
                     const recharge_options_t *options, report_t **ret_report);

#endif /* !GL_RECHARGE_H */
