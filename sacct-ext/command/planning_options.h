/*
 * planning_options.h: the reports that need the configuration alone, decide and
 * breakeven; the options of these, and of plan and recharge.
 */
#ifndef GL_PLANNING_OPTIONS_H
#define GL_PLANNING_OPTIONS_H

#include "cli/cli.h"
#include "cli/query_options.h"
#include "command/recharge.h"
#include "report/breakeven_report.h"

enum {
    DECISION_AGAINST = CLI_LONG + 800,
    DECISION_MAX_AGE,
    DECISION_PRINTED,
    DECISION_CHECK,
    DECISION_YEAR,
    DECISION_NEXT_COST,
    DECISION_NEXT_HOURS,
};

/* Rows of a verb's option table. */
#define DECISION_OPTIONS                                               \
    {DECISION_AGAINST, "against", "NAME",                              \
     "breakeven, plan: compare with this price of `clouds`\n"          \
     "(default: the lowest that owning can still beat)"},              \
        {DECISION_MAX_AGE, "max-age", "AGE",                           \
         "breakeven, plan: leave older prices out: 18m, 3y, or any\n"  \
         "(default: 1y)"},                                             \
        {DECISION_PRINTED, "printed", "FIGURE",                        \
         "breakeven: explain a published one, 40.5% or 18628 a year"}, \
        {DECISION_CHECK, "check", "FILE",                              \
         "breakeven: judge a file of published figures instead"},      \
        {DECISION_YEAR, "year", "YYYY",                                \
         "recharge: a fiscal year (default: the one that the last\n"   \
         "complete month is in)"},                                     \
        {DECISION_NEXT_COST, "next-cost", "AMOUNT",                    \
         "recharge: expected cost of the next year, of one --pool"},   \
    {                                                                  \
        DECISION_NEXT_HOURS, "next-hours", "HOURS",                    \
            "recharge: GPU hours expected to be billed in it"          \
    }

typedef struct {
    breakeven_query_t breakeven;
    const char *max_age; /* as it was given */
    const char *check;   /* a file of published figures */
    recharge_options_t recharge;
} planning_options_t;

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

#endif /* !GL_PLANNING_OPTIONS_H */
