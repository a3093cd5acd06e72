/* gpuledger statement: one team's page of a month. */
#include <getopt.h>

#include "cli/output.h"
#include "cli/query_options.h"
#include "command/verb.h"
#include "month/statements.h"
#include "site/site.h"

struct request {
    query_options_t options;
    output_t output;
    const char *team; /* as it was written: "(none)" is no team */
    bool jobs;
};

static int print_statement (cli_t *cli, struct request *request)
{
    statements_query_t statement = {.jobs = request->jobs};
    report_query_t query;
    report_t *report = NULL;
    gl_error_t error;
    int rc;

    if (!cli_site (cli)
        || !(statement.store = cli_store (cli, STORE_READ_ONLY)))
        return CLI_FAILED;
    rc = query_team_billed (cli, statement.store, request->team,
                            &statement.team);
    if (rc != CLI_OK)
        return rc;
    query_option_name (&request->options, KEY_TEAM, request->team);
    request->options.of_bills = true;
    rc = query_options_resolve (cli, &request->options, cli->site, cli->store,
                                "pool", &query);
    if (rc == CLI_OK)
        rc = query_month_single (cli, &request->options, &query, "a statement");
    if (rc != CLI_OK)
        return rc;
    statement.query = &query;
    rc = statements_make (&statement, &report, &error) == 0
             ? output_report (cli, &request->output, report)
             : cli_fail (cli, &error);
    report_free (report);
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};
    int rc;

    if (cli_options (cli, argc, argv, &request) < 0)
        rc = cli->exit_code;
    else if (optind != argc - 1)
        rc = cli_usage (cli, "give the name of one team, or '%s'",
                        key_info (KEY_TEAM)->absent);
    else {
        request.team = argv[optind];
        rc = print_statement (cli, &request);
    }
    query_options_done (&request.options);
    return rc;
}

static const cli_option_t options[] = {
    {0, "month", "YYYY-MM",
     "a calendar month, or last (default: last, the last one that is\n"
     "complete)",
     CLI_AT (struct request, options.month)},
    {0, "jobs", NULL, "with the jobs that each line of the charges is made of",
     CLI_AT (struct request, jobs)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_statement = {
    .name = "statement",
    .run = run,
    .synopsis = "TEAM [OPTION]...",
    .summary = "one team's page of a month",
    .help
    = "The team's GPU time, its price, the amount due, and the difference to "
      "last month:\ncharges, idle time, credits, corrections, taxes, budgets; "
      "projects, users, accounts.\nEach line names the command that shows its "
      "parts. '(none)' is the statement of\neverything without a team.",
    .options = options,
    .example = "gpuledger statement vision --month 2026-10 --html --output "
               "vision.html",
};
