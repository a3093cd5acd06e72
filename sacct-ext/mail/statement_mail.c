#include "mail/statement_mail.h"

#include <string.h>

#include "base/memory.h"
#include "mail/mail_month.h"
#include "mail/mail_words.h"
#include "month/statements.h"
#include "site/project.h"

/* --- one team ------------------------------------------------------------- */

struct sending {
    cli_t *cli;
    outbox_t *outbox;
    const mail_month_t *month;
    statements_t *statements;
    bool jobs;
};

/* The id is that of its rows. */
static const char *statement_id (const report_t *report)
{
    for (size_t i = 0; i < report->parameter_count; i++)
        if (!strcmp (report->parameter[i][0], "statement"))
            return report->parameter[i][1];
    return "";
}

/* `name`: that of the team in the month; today it may be called otherwise. */
static void send_report (const struct sending *s, const char *name,
                         report_t *report)
{
    const char *current = team_current_name (s->cli->site, name);
    const char *team = current ? current : name;
    GL_AUTOFREE char *month = mail_month_text (s->month->name);
    GL_AUTOFREE char *what
        = xasprintf ("the statement of %s for %s", team, s->month->name);
    const char *id = statement_id (report);
    bool other = outbox_sent_other (s->outbox, team, id);
    GL_AUTOFREE char *subject
        = xasprintf ("GPU statement for %s, %s%s", team, month,
                     !s->month->closed ? " (provisional)"
                     : other           ? " (replaces an earlier one)"
                                       : "");
    GL_AUTOFREE char *file = mail_file_name ("statement", s->month->name, team);
    text_list_t to = {.count = 0};
    const letter_t letter = {.name = team,
                             .content = id,
                             .what = what,
                             .to = &to,
                             .subject = subject,
                             .file = file,
                             .date = s->month->date,
                             .report = report};

    mail_team_addresses (s->cli->site, team, &to);
    outbox_send (s->outbox, &letter);
    texts_clear (&to);
}

/* A statement that cannot be made does not keep the others back. */
static void send_team (const struct sending *s, const char *team)
{
    report_t *report = NULL;
    gl_error_t error;

    if (!strcmp (team, key_info (KEY_TEAM)->absent)) {
        cli_detail (s->cli, "what belongs to no team is mailed to nobody");
        return;
    }
    if (statements_team (s->statements, team, s->jobs, &report, &error) == 0)
        send_report (s, team, report);
    else {
        cli_fail (s->cli, &error);
        outbox_fail (s->outbox);
    }
    report_free (report);
}

/* --- all of them ---------------------------------------------------------- */

static void send_teams (const struct sending *s)
{
    text_list_t teams = {.count = 0};

    if (s->month->team)
        texts_add (&teams, s->month->team);
    else
        statements_teams (s->statements, &teams);
    for (size_t i = 0; i < teams.count; i++)
        send_team (s, teams.item[i]);
    texts_clear (&teams);
}

static int send_month (struct sending *s, const mail_options_t *options,
                       const output_t *output)
{
    gl_error_t error;

    s->outbox = outbox_open (s->cli, options, output,
                             s->month->closed ? "statement" : "draft",
                             s->month->name);
    if (!s->outbox)
        return CLI_FAILED;
    if (statements_open (s->cli->store, &s->month->query, NULL, &s->statements,
                         &error)
        < 0) {
        cli_fail (s->cli, &error);
        outbox_fail (s->outbox);
    } else
        send_teams (s);
    statements_close (s->statements);
    return outbox_close (s->outbox);
}

int statement_mail (cli_t *cli, const mail_options_t *options,
                    const output_t *output, const char *name, const char *team,
                    bool jobs)
{
    mail_month_t month;
    struct sending s = {.cli = cli, .month = &month, .jobs = jobs};
    int rc = mail_month (cli, options, name, team, "its statements", &month);

    if (rc == CLI_OK && !month.skipped)
        rc = send_month (&s, options, output);
    mail_month_done (&month);
    return rc;
}
