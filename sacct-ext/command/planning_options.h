/*
 * planning_options.h: the reports that need the configuration alone, decide and
 * breakeven; the options of these, and of plan and recharge; recharge and entitlements.
 */
#ifndef GL_PLANNING_OPTIONS_H
#define GL_PLANNING_OPTIONS_H

#include "cli/cli.h"
#include "cli/query_options.h"
#include "report/breakeven_report.h"
#include "report/plan.h"

/* As they stand on the command line; NULL: not given. */
typedef struct {
    const char *year;
    const char *next_cost;
    const char *next_hours;
} recharge_options_t;

typedef struct {
    breakeven_query_t breakeven;
    const char *max_age; /* as it was given */
    plan_query_t plan;   /* but for `against` and `max_age` */
    const char *check;   /* a file of published figures */
    recharge_options_t recharge;
} planning_options_t;

/* Options, as a CLI_GROUP for a planning_options_t. */
extern const cli_option_t planning_options[];

/* CLI_OK, or wrong use that has been told: an option of ours for report `name`,
 * which it is not for, or an age that is none. */
int planning_check (cli_t *cli, planning_options_t *options, const char *name);

/* CLI_OK and the report, or what to exit with after the reason has been told.
 */
int planning_decide (cli_t *cli, const query_options_t *query,
                     report_t **ret_report);
int planning_breakeven (cli_t *cli, const query_options_t *query,
                        const planning_options_t *options,
                        report_t **ret_report);
int recharge_report (cli_t *cli, query_options_t *query,
                     const recharge_options_t *options, report_t **ret_report);

/* From the store: of closed months what was closed, of others what facts and
 * configuration make of them now; of the months that the period touches; without one of
 * the fiscal year, up to as-of. */
int entitlements_report (cli_t *cli, query_options_t *options,
                         report_t **ret_report);

#endif /* !GL_PLANNING_OPTIONS_H */
