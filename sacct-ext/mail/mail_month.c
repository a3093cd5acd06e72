#include "mail/mail_month.h"

#include <string.h>

static int find_closing (cli_t *cli, mail_month_t *month)
{
    periods_t *periods = NULL;
    const closing_t *closing;
    gl_error_t error;

    if (periods_read (cli->store, &periods, &error) < 0)
        return cli_fail (cli, &error);
    periods_month_of (cli->site, month->query.period.start, month->name);
    closing = periods_closing (periods, month->name);
    month->closed = closing != NULL;
    month->date = closing ? closing->when : report_as_of (&month->query);
    if (closing)
        memcpy (month->hash, closing->hash, sizeof (month->hash));
    periods_free (periods);
    return CLI_OK;
}

static int choose_team (cli_t *cli, const char *team, mail_month_t *month)
{
    int rc = query_team_billed (cli, cli->store, team, &month->team);

    if (rc == CLI_OK && !month->team)
        rc = cli_usage (cli,
                        "what belongs to no team is mailed to nobody: give "
                        "the name of a team");
    if (rc == CLI_OK)
        query_option_name (&month->options, KEY_TEAM, team);
    return rc;
}

int mail_month (cli_t *cli, const mail_options_t *options, const char *name,
                const char *team, const char *what, mail_month_t *ret_month)
{
    mail_month_t *m = ret_month;
    int rc = CLI_OK;

    *m = (mail_month_t){.options = {.month = name, .of_bills = true}};
    if (!cli_site (cli)
        || !cli_store (cli, options->dry_run ? STORE_READ_ONLY : 0))
        return CLI_FAILED;
    if (team)
        rc = choose_team (cli, team, m);
    if (rc == CLI_OK)
        rc = query_options_resolve (cli, &m->options, cli->site, cli->store,
                                    "pool", &m->query);
    if (rc == CLI_OK)
        rc = query_month_single (cli, &m->options, &m->query, "mail");
    if (rc == CLI_OK)
        rc = find_closing (cli, m);
    if (rc != CLI_OK || m->closed || options->draft)
        return rc;
    if (options->if_closed) {
        m->skipped = true;
        cli_say (cli, "%s is not closed: nothing is sent", m->name);
        return CLI_OK;
    }
    return cli_failf (cli,
                      "%s is not closed, so that %s may still change: run "
                      "'gpuledger close --month %s' first, or give --draft to "
                      "send what is provisional",
                      m->name, what, m->name);
}

void mail_month_done (mail_month_t *month)
{
    query_options_done (&month->options);
}
