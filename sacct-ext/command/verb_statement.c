/* gpuledger statement: one team's page of a month. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/query_options.h"
#include "command/verb.h"
#include "month/month.h"
#include "month/statements.h"
#include "site/site.h"

struct request {
    query_options_t options;
    output_t output;
    const char *team; /* as it was written: "(none)" is no team */
    const char *all;  /* folder of all teams' statements; NULL: one team */
    const char
        *institution; /* its page, of all of its teams; NULL: one team's */
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

static int print_institution (cli_t *cli, struct request *request)
{
    store_t *store = cli_site (cli) ? cli_store (cli, STORE_READ_ONLY) : NULL;
    const char *name
        = strcmp (request->institution, key_info (KEY_INSTITUTION)->absent)
              ? request->institution
              : NULL;
    report_query_t query;
    report_t *report = NULL;
    gl_error_t error;
    int rc;

    if (!store)
        return CLI_FAILED;
    rc = query_options_resolve (cli, &request->options, cli->site, store,
                                "pool", &query);
    if (rc == CLI_OK)
        rc = query_month_single (cli, &request->options, &query, "a statement");
    if (rc == CLI_OK)
        rc = statements_institution (store, &query, name, &report, &error) < 0
                 ? cli_fail (cli, &error)
                 : output_report (cli, &request->output, report);
    report_free (report);
    return rc;
}

/* --- all teams ---------------------------------------------------------- */

static int by_name (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* Teams with something due or a balance in the month, by name. */
static void list_teams (const bill_t *bill, text_list_t *ret_teams)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    const bill_balance_t *balances;

    for (size_t i = 0; i < count; i++)
        if (posting_is_due (&rows[i]))
            texts_add_new (ret_teams, rows[i].team
                                          ? rows[i].team
                                          : key_info (KEY_TEAM)->absent);
    balances = bill_balances (bill, &count);
    for (size_t i = 0; i < count; i++)
        if (balances[i].team)
            texts_add_new (ret_teams, balances[i].team);
    if (ret_teams->count > 1)
        qsort (ret_teams->item, ret_teams->count, sizeof (*ret_teams->item),
               by_name);
}

static int find_teams (cli_t *cli, const struct request *request,
                       text_list_t *ret_teams)
{
    query_options_t options
        = {.month = request->options.month, .of_bills = true};
    store_t *store = cli_site (cli) ? cli_store (cli, STORE_READ_ONLY) : NULL;
    report_query_t query;
    gl_error_t error;
    char name[MONTH_SIZE];
    month_t *month;
    int rc = CLI_FAILED;

    if (store)
        rc = query_options_resolve (cli, &options, cli->site, store, "pool",
                                    &query);
    if (rc == CLI_OK)
        rc = query_month_single (cli, &options, &query, "a statement");
    if (rc == CLI_OK) {
        periods_month_of (cli->site, query.period.start, name);
        if (month_read (store, cli->site, name, NULL, &month, &error) < 0)
            rc = cli_fail (cli, &error);
        else {
            list_teams (month->bill, ret_teams);
            month_free (month);
        }
    }
    query_options_done (&options);
    return rc;
}

/* A team's name as that of a file: other bytes than these as %2F. */
static void add_file_name (buffer_t *out, const char *team)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

    for (const char *c = team; *c; c++) {
        if (strchr (plain, *c) && (*c != '.' || c != team))
            buffer_add_char (out, *c);
        else
            buffer_printf (out, "%%%02X", (unsigned char)*c);
    }
}

static int write_one (cli_t *cli, const struct request *request,
                      const char *team, render_format_t format,
                      const char *ending)
{
    BUFFER_AUTO path = BUFFER_INIT;
    struct request one = {.options = {.month = request->options.month},
                          .output = request->output,
                          .team = team,
                          .jobs = request->jobs};
    int rc;

    buffer_printf (&path, "%s/", request->all);
    add_file_name (&path, team);
    buffer_add_text (&path, ending);
    one.output.format = format;
    one.output.file = buffer_text (&path);
    rc = print_statement (cli, &one);
    query_options_done (&one.options);
    return rc;
}

static int write_all (cli_t *cli, const struct request *request)
{
    static const struct {
        render_format_t format;
        const char *ending;
    } formats[] = {{RENDER_HTML, ".html"},
                   {RENDER_CSV, ".csv"},
                   {RENDER_JSON, ".json"},
                   {RENDER_PARSABLE2, ".txt"},
                   {RENDER_TABLE, ".txt"}};
    bool shows = isatty (STDERR_FILENO) && !cli->quiet;
    text_list_t teams = {.count = 0};
    int rc = find_teams (cli, request, &teams);

    if (rc == CLI_OK && mkdir (request->all, 0777) < 0 && errno != EEXIST)
        rc = cli_failf (cli, "cannot make the folder %s: %s", request->all,
                        strerror (errno));
    for (size_t i = 0; i < teams.count && rc == CLI_OK; i++) {
        if (shows)
            fprintf (stderr, "\rstatement %zu of %zu\033[K", i + 1,
                     teams.count);
        for (size_t k = 0; k < GL_ARRAY_SIZE (formats) && rc == CLI_OK; k++)
            if (request->output.format_given
                    ? formats[k].format == request->output.format
                    : k < 3)
                rc = write_one (cli, request, teams.item[i], formats[k].format,
                                formats[k].ending);
    }
    if (shows && teams.count)
        fprintf (stderr, "\r\033[K");
    if (rc == CLI_OK)
        cli_say (cli, "wrote statements of %zu teams to %s", teams.count,
                 request->all);
    texts_clear (&teams);
    return rc;
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};
    int rc;

    if (cli_options (cli, argc, argv, &request) < 0)
        rc = cli->exit_code;
    else if (request.all && request.institution)
        rc = cli_usage (cli, "--all and --institution exclude each other");
    else if (request.all && (optind < argc || request.output.file))
        rc = cli_usage (cli, "--all writes the statements of all teams: give "
                             "no team and no --output");
    else if (request.all && !*request.all)
        rc = cli_usage (cli, "--all needs the name of a folder");
    else if (request.all)
        rc = write_all (cli, &request);
    else if (request.institution && (optind < argc || request.jobs))
        rc = cli_usage (cli, "--institution is the sum of its teams: give no "
                             "team and no --jobs");
    else if (request.institution)
        rc = print_institution (cli, &request);
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
    {0, "all", "DIR",
     "those of all teams, into this folder: TEAM.html, TEAM.csv and\n"
     "TEAM.json, or the one format that is given",
     CLI_AT (struct request, all)},
    {0, "institution", "NAME",
     "what the teams of an institution have to pay, and the sum;\n"
     "'(none)': those of none",
     CLI_AT (struct request, institution)},
    {0, "jobs", NULL, "with the jobs that each line of the charges is made of",
     CLI_AT (struct request, jobs)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_statement = {
    .name = "statement",
    .run = run,
    .synopsis = "TEAM|--institution NAME|--all DIR [OPTION]...",
    .summary = "one team's page of a month",
    .help
    = "The team's GPU time, its price, the amount due, and the difference to "
      "last month:\ncharges, idle time, credits, corrections, taxes, budgets; "
      "projects, users, accounts.\nEach line names the command that shows its "
      "parts. '(none)' is the statement of\neverything without a team.",
    .options = options,
    .example = "gpuledger statement vision --month 2026-10 --html --output "
               "vision.html\n"
               "gpuledger statement --institution 'University of Oslo'\n"
               "gpuledger statement --all statements --month 2026-10",
};
