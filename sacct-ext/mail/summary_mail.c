#include "mail/summary_mail.h"

#include <string.h>

#include "base/memory.h"
#include "mail/mail_month.h"
#include "mail/mail_words.h"
#include "mail/weekly.h"
#include "month/summaries.h"
#include "site/project.h"

/* --- weeks ---------------------------------------------------------------- */

/* The query becomes that of the week. */
static int choose_week (cli_t *cli, const char *day, report_query_t *query)
{
    const zone_t *zone = cli->site->zone;
    int64_t as_of = report_as_of (query);
    char stamp[ZONE_STAMP_SIZE], end[ZONE_STAMP_SIZE];
    civil_t civil;

    if (as_of == 0)
        return cli_failf (cli, "the store has no facts, so that there is "
                               "nothing to say of a week");
    if (!day) {
        query->period = weekly_period (zone, as_of);
        if (query->period.end > as_of)
            query->period = weekly_period (zone, query->period.start - 1);
        return CLI_OK;
    }
    if (calendar_parse_date (day, strlen (day), &civil) < 0
        || civil.year < REPORT_YEAR_MIN || civil.year > REPORT_YEAR_MAX)
        return cli_usage (cli, "'%s' is no date; write e.g. 2026-10-05", day);
    query->period = weekly_period (zone, zone_instant (zone, &civil));
    if (query->period.end > as_of)
        return cli_failf (cli,
                          "the facts speak up to %s, and the week ends at %s; "
                          "fill the store with 'gpuledger sync' first",
                          zone_stamp (zone, as_of, stamp),
                          zone_stamp (zone, query->period.end, end));
    return CLI_OK;
}

static void send_week (cli_t *cli, outbox_t *outbox, weekly_t *weekly,
                       const char *first, int64_t date, const char *team)
{
    GL_AUTOFREE char *day = mail_month_text (first);
    GL_AUTOFREE char *what
        = xasprintf ("the summary of %s for the week of %s", team, first);
    GL_AUTOFREE char *subject = xasprintf ("GPU week of %s for %s", day, team);
    GL_AUTOFREE char *file = mail_file_name ("week", first, team);
    text_list_t to = {.count = 0};
    letter_t letter = {.name = team,
                       .content = "",
                       .what = what,
                       .to = &to,
                       .subject = subject,
                       .file = file,
                       .date = date};

    mail_team_addresses (cli->site, team, &to);
    letter.report = weekly_report (weekly, team);
    outbox_send (outbox, &letter);
    report_free (letter.report);
    texts_clear (&to);
}

/* `team` NULL: all. */
static int send_weeks (cli_t *cli, const mail_options_t *options,
                       const output_t *output, const report_query_t *query,
                       const char *team)
{
    gl_error_t error;
    weekly_t *weekly = weekly_new (cli->store, query, &error);
    text_list_t teams = {.count = 0};
    char first[ZONE_STAMP_SIZE];
    outbox_t *outbox;

    if (!weekly)
        return cli_fail (cli, &error);
    zone_unit_name (cli->site->zone, CALENDAR_DAY, query->period.start, first);
    outbox = outbox_open (cli, options, output, "weekly", first);
    if (team)
        texts_add (&teams, team);
    else
        weekly_teams (weekly, &teams);
    for (size_t i = 0; outbox && i < teams.count; i++)
        send_week (cli, outbox, weekly, first, query->period.end,
                   teams.item[i]);
    texts_clear (&teams);
    weekly_free (weekly);
    return outbox_close (outbox);
}

int weekly_mail (cli_t *cli, const mail_options_t *options,
                 const output_t *output, const char *day, const char *team)
{
    query_options_t query_options = {.month = NULL};
    report_query_t query;
    int rc = CLI_OK;

    if (!cli_site (cli)
        || !cli_store (cli, options->dry_run ? STORE_READ_ONLY : 0))
        return CLI_FAILED;
    if (team)
        rc = query_team_current (cli, cli->store, team, &team);
    if (rc == CLI_OK && (options->draft || options->if_closed))
        rc = cli_usage (cli, "--draft and --if-closed are of months: a week is "
                             "sent when it is over");
    if (rc == CLI_OK)
        rc = query_options_resolve (cli, &query_options, cli->site, cli->store,
                                    "pool", &query);
    if (rc == CLI_OK)
        rc = choose_week (cli, day, &query);
    if (rc == CLI_OK)
        rc = send_weeks (cli, options, output, &query, team);
    query_options_done (&query_options);
    return rc;
}

/* --- months --------------------------------------------------------------- */

static void send_month (cli_t *cli, outbox_t *outbox, const mail_month_t *month)
{
    GL_AUTOFREE char *title = mail_month_text (month->name);
    GL_AUTOFREE char *what = xasprintf ("the summary of %s", month->name);
    GL_AUTOFREE char *file = mail_file_name ("summary", month->name, "");
    /* another closing, or other facts of an open month, is another summary */
    GL_AUTOFREE char *content
        = month->closed
              ? xasprintf ("%s-%.16s", month->name, month->hash)
              : xasprintf ("%s-%lld", month->name, (long long)month->date);
    GL_AUTOFREE char *subject = xasprintf (
        "GPU summary of %s%s", title,
        !month->closed                            ? " (provisional)"
        : outbox_sent_other (outbox, "", content) ? " (replaces an earlier one)"
                                                  : "");
    letter_t letter = {.name = "",
                       .content = content,
                       .what = what,
                       .to = &cli->site->mail.monthly,
                       .subject = subject,
                       .file = file,
                       .date = month->date};
    gl_error_t error;

    if (!outbox_wants (outbox, &letter))
        return;
    if (summaries_make (cli->store, &month->query, NULL, &letter.report, &error)
        < 0) {
        cli_fail (cli, &error);
        outbox_fail (outbox);
        return;
    }
    outbox_send (outbox, &letter);
    report_free (letter.report);
}

int monthly_mail (cli_t *cli, const mail_options_t *options,
                  const output_t *output, const char *name)
{
    mail_month_t month;
    outbox_t *outbox = NULL;
    int rc = mail_month (cli, options, name, NULL, "its summary", &month);

    if (rc == CLI_OK && !month.skipped) {
        outbox = outbox_open (cli, options, output,
                              month.closed ? "monthly" : "draft", month.name);
        if (outbox)
            send_month (cli, outbox, &month);
        rc = outbox_close (outbox);
    }
    mail_month_done (&month);
    return rc;
}
