/* gpuledger close: a month is checked, and closed for good. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "command/manual.h"
#include "command/month_set.h"
#include "cli/rollups_keep.h"
#include "command/user_verb.h"
#include "command/verb.h"
#include "command/verb_report.h"
#include "import/catalogue_files.h"
#include "month/close.h"
#include "month/closed_lists.h"
#include "publish/publish.h"
#include "site/site.h"

struct request {
    const char *month;
    const char *accept;
    const char *export; /* folder for the files of the month; NULL: none */
    bool check;
    bool list;
    output_t output;
};

/* --- closing ----------------------------------------------------------- */

/* The same in another format. */
static int report_checks (cli_t *cli, const struct request *request,
                          const checks_t *checks)
{
    report_t *report = checks_report (checks, request->month, false);
    int rc = output_report (cli, &request->output, report);

    report_free (report);
    return rc;
}

static void print_checks (const checks_t *checks)
{
    progress_pause ();
    for (size_t i = 0; i < checks->count; i++) {
        const check_t *c = &checks->item[i];
        printf ("%-8s %-10s %s\n", check_state_word (c->state), c->name,
                c->figure);
    }
    fflush (stdout); /* before what is said of them */
    progress_resume ();
}

static int refuse (cli_t *cli, const struct request *request,
                   const checks_t *checks)
{
    if (checks_in (checks, CHECK_ERROR) > 0)
        cli_failf (cli, "%s is not closed", request->month);
    else
        cli_failf (
            cli,
            "%s is not closed: %zu finding%s; look, or close with --accept and "
            "the reason",
            request->month, checks_in (checks, CHECK_FINDING),
            checks_in (checks, CHECK_FINDING) == 1 ? "" : "s");
    return CLI_LOOK;
}

static void say_done (cli_t *cli, const struct request *request,
                      const close_done_t *done)
{
    char stamp[ZONE_STAMP_SIZE];

    zone_stamp (cli->site->zone, done->handover, stamp);
    progress_pause ();
    if (done->imported)
        printf ("%zu months before go-live are closed without charges\n",
                done->imported);
    printf ("%s is closed: version %u, %zu rows, %zu of them "
            "corrections\nhash %s\ncan be handed over from %s on\n",
            request->month, done->version, done->rows, done->corrections,
            done->hash, stamp);
    fflush (stdout);
    progress_resume ();
}

/* A month is never opened again because its files could not be written. */
static int write_set (cli_t *cli, const struct request *request)
{
    if (month_set_write (cli, request->month, request->export) == CLI_OK)
        return CLI_OK;
    return cli_failf (cli,
                      "%s stays closed; write its files with: gpuledger export "
                      "--set %s --month %s",
                      request->month, request->export, request->month);
}

/* Neither because the site could not. */
static int write_site (cli_t *cli, const struct request *request)
{
    const publish_t publish = {.dir = cli->site->publish.directory,
                               .report = report_for_site,
                               .prices = catalogue_price_clouds};

    if (!cli->site->publish.at_close || publish_site (cli, &publish) == CLI_OK)
        return CLI_OK;
    return cli_failf (cli,
                      "%s stays closed; write the site with: gpuledger publish "
                      "%s",
                      request->month, publish.dir);
}

static int close_it (cli_t *cli, const struct request *request, int64_t now,
                     const checks_t *checks)
{
    close_request_t r = {.month = request->month,
                         .now = now,
                         .accept = request->accept,
                         .checks = checks};
    close_done_t done;
    anchor_t anchor;
    gl_error_t error;
    uid_t uid;
    int rc;

    r.who = user_verb_person (cli, NULL, &uid);
    if (!r.who)
        return CLI_FAILED;
    if (close_month (cli->store, cli->site, &r, &done, &error) < 0)
        return cli_fail (cli, &error);
    say_done (cli, request, &done);
    fflush (stdout);
    rollups_keep (cli);
    anchor = (anchor_t){done.head,    "close", request->month,
                        done.version, r.who,   now};
    rc = manual_anchor (cli, &anchor);
    if (request->export && write_set (cli, request) != CLI_OK)
        rc = CLI_FAILED;
    if (write_site (cli, request) != CLI_OK || rc == CLI_FAILED)
        return CLI_FAILED;
    return checks_in (checks, CHECK_FINDING) > 0 ? CLI_LOOK : rc;
}

static bool is_formed (const output_t *output)
{
    return output_formed (output) || output->file;
}

static int show_checks (cli_t *cli, const struct request *request,
                        const checks_t *checks)
{
    if (is_formed (&request->output))
        return report_checks (cli, request, checks);
    print_checks (checks);
    return CLI_OK;
}

static int check_and_close (cli_t *cli, const struct request *request)
{
    int64_t now = time (NULL);
    checks_t checks;
    gl_error_t error;
    int rc;

    if (close_check (cli->store, cli->site, request->month, now, NULL,
                     &checks, &error)
        < 0)
        return cli_fail (cli, &error);
    rc = show_checks (cli, request, &checks);
    if (rc == CLI_OK && request->check)
        rc = checks_in (&checks, CHECK_ERROR) + checks_in (&checks, CHECK_FINDING)
                     > 0
                 ? CLI_LOOK
                 : CLI_OK;
    else if (rc == CLI_OK
             && (checks_in (&checks, CHECK_ERROR) > 0
                 || (checks_in (&checks, CHECK_FINDING) > 0 && !request->accept)))
        rc = refuse (cli, request, &checks);
    else if (rc == CLI_OK)
        rc = close_it (cli, request, now, &checks);
    checks_clear (&checks);
    return rc;
}

static int make_closing (cli_t *cli, const struct request *request)
{
    gl_error_t error;
    period_t period;
    periods_t *periods;
    const closing_t *closing;
    int rc = CLI_OK;

    if (periods_month (cli->site, request->month, &period, &error) < 0)
        return cli_usage (cli, "%s", error.text);
    if (periods_read (cli->store, &periods, &error) < 0)
        return cli_fail (cli, &error);
    closing = periods_closing (periods, request->month);
    if (closing)
        rc = cli_failf (cli, "%s is already closed: version %u, by %s, hash %s",
                        closing->month, closing->version,
                        closing->who ? closing->who : "?", closing->hash);
    periods_free (periods);
    if (rc == CLI_OK && request->export)
        rc = month_set_check (cli, request->month, request->export);
    return rc == CLI_OK ? check_and_close (cli, request) : rc;
}

/* --- the list ---------------------------------------------------------- */

enum {
    AT_MONTH,
    AT_VERSION,
    AT_STATE,
    AT_ROWS,
    AT_CLOSED,
    AT_WHO,
    AT_HANDOVER,
    AT_HASH
};

static const column_info_t columns[] = {
    {"month", "Month", COLUMN_DATE, true, false, ""},
    {"version", "Version", COLUMN_TEXT, true, false, ""},
    {"state", "State", COLUMN_TEXT, false, false, ""},
    {"rows", "Rows", COLUMN_COUNT, false, false, ""},
    {"closed", "Closed", COLUMN_DATE, false, false, ""},
    {"by", "By", COLUMN_TEXT, false, false, ""},
    {"handover", "Handover from", COLUMN_DATE, false, false, ""},
    {"hash", "Hash", COLUMN_TEXT, false, false, ""},
};

static void put_closing (report_t *report, const site_t *site,
                         const closing_t *closing)
{
    char version[16], stamp[ZONE_STAMP_SIZE];
    int64_t handover = body_get_number (closing->body, "handover");

    snprintf (version, sizeof (version), "%u", closing->version);
    report_row (report);
    report_put_text (report, AT_MONTH, closing->month);
    report_put_text (report, AT_VERSION, version);
    report_put_text (report, AT_STATE,
                     closing->reopened   ? "reopened"
                     : closing->imported ? "imported"
                                         : "closed");
    report_put_count (report, AT_ROWS, closed_postings (closing));
    report_put_text (report, AT_CLOSED,
                     zone_stamp (site->zone, closing->when, stamp));
    report_put_text (report, AT_WHO, closing->who ? closing->who : "");
    report_put_text (report, AT_HANDOVER,
                     zone_stamp (site->zone, handover, stamp));
    report_put_text (report, AT_HASH, closing->hash);
}

static void put_open (report_t *report, const char *month)
{
    if (!month[0])
        return;
    report_row (report);
    report_put_text (report, AT_MONTH, month);
    report_put_text (report, AT_STATE, "open");
}

static int list (cli_t *cli, const struct request *request)
{
    report_t *report = report_new ("close", "Months");
    char open[MONTH_SIZE], head[MONTH_HASH_SIZE];
    periods_t *periods;
    gl_error_t error;
    int rc = CLI_FAILED;

    report_columns (report, columns, GL_ARRAY_SIZE (columns));
    if (periods_read (cli->store, &periods, &error) < 0)
        cli_fail (cli, &error);
    else {
        if (periods_open_month (cli->store, cli->site, periods, open, &error)
            < 0)
            cli_fail (cli, &error);
        else {
            for (size_t i = 0; i < periods->closing_count; i++)
                put_closing (report, cli->site, &periods->closings[i]);
            put_open (report, open);
            hash_text (periods->head.hash, head);
            report_parameter (report, "head", head);
            rc = output_report (cli, &request->output, report);
        }
        periods_free (periods);
    }
    report_free (report);
    return rc;
}

/* --- the verb ---------------------------------------------------------- */

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};

    if (cli_options (cli, argc, argv, &request) < 0)
        return cli->exit_code;
    if (optind != argc)
        return cli_usage (cli, "unexpected argument '%s'", argv[optind]);
    if (!request.list == !request.month)
        return cli_usage (cli, "give --month or --list%s",
                          request.list ? ", not both" : "");
    if (request.list && (request.accept || request.check))
        return cli_usage (cli, "--accept and --check need --month");
    if (request.export && (request.list || request.check || !*request.export))
        return cli_usage (cli, "--export DIR is for closing a month");
    if (!request.list && !request.check && is_formed (&request.output))
        return cli_usage (cli, "output options are for --check and --list");
    if (request.accept && request.check)
        return cli_usage (cli, "--check writes nothing, so that there is "
                               "nothing to --accept: give one of them");
    if (request.accept && !*request.accept)
        return cli_usage (cli, "--accept needs a reason");
    if (!cli_site (cli)
        || !cli_store (cli, request.list || request.check ? STORE_READ_ONLY
                                                          : STORE_LEDGER))
        return CLI_FAILED;
    return request.list ? list (cli, &request) : make_closing (cli, &request);
}

static const cli_option_t options[] = {
    {0, "month", "YYYY-MM", "the month to close",
     CLI_AT (struct request, month)},
    {0, "check", NULL, "check whether it could be closed, and write nothing",
     CLI_AT (struct request, check)},
    {0, "accept", "REASON",
     "close it in spite of the findings, and record the reason",
     CLI_AT (struct request, accept)},
    {0, "export", "DIR",
     "then write all files of the month into DIR/YYYY-MM, as export\n"
     "--set does",
     CLI_AT (struct request, export)},
    {0, "list", NULL, "list the months that were closed, and the hash",
     CLI_AT (struct request, list)},
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_close = {
    .name = "close",
    .run = run,
    .synopsis
    = "--month YYYY-MM [--accept REASON] [--export DIR] | --month YYYY-MM "
      "--check [OUTPUT] | --list [OUTPUT]",
    .summary = "check a month and close it for good",
    .help = "The rows of a closed month never change: later facts become "
            "corrections in the\nopen month. If a check finds something, "
            "nothing is written without --accept, and\nthe exit code is 3.",
    .options = options,
    .example = "gpuledger close --month 2026-10 --check\n"
               "gpuledger close --list",
};
