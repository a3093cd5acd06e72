/* gpuledger mail: summaries of weeks and months, and what was sent. */
#include <getopt.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"
#include "command/verb.h"
#include "mail/summary_mail.h"

struct request {
    output_t output;
    mail_options_t send;
    const char *month; /* --month */
    const char *week;  /* --week */
    const char *team;  /* operand */
};

static int send_weekly (cli_t *cli, const struct request *request)
{
    return weekly_mail (cli, &request->send, &request->output, request->week,
                        request->team);
}

static int send_monthly (cli_t *cli, const struct request *request)
{
    return monthly_mail (cli, &request->send, &request->output, request->month);
}

static int list_sent (cli_t *cli, const struct request *request)
{
    return mail_list (cli, &request->output);
}

/* What it can do, and which options and operands it takes. */
static const struct kind {
    const char *word;
    int (*run) (cli_t *cli, const struct request *request);
    bool sends, week, month, team;
} kinds[] = {
    {"weekly", send_weekly, true, true, false, true},
    {"monthly", send_monthly, true, false, true, false},
    {"sent", list_sent, false, false, false, false},
};

/* That are mailed elsewhere. */
static const char statements[] = "statements";

static int unknown_kind (cli_t *cli, const char *word)
{
    nearest_t nearest = {.word = word};

    for (size_t i = 0; i < GL_ARRAY_SIZE (kinds); i++)
        nearest_offer (&nearest, kinds[i].word);
    nearest_offer (&nearest, statements);
    if (nearest.name == statements)
        return cli_usage (cli, "to mail statements, run 'gpuledger statement "
                               "--all --mail'");
    if (nearest.name)
        return cli_usage (cli, "there is no mail '%s'; did you mean '%s'?",
                          word, nearest.name);
    return cli_usage (cli,
                      "there is no mail '%s'; give weekly, monthly or "
                      "sent",
                      word);
}

static int check (cli_t *cli, const struct kind *kind,
                  const struct request *request, int operands)
{
    if (operands > (kind->team ? 1 : 0))
        return cli_usage (cli,
                          kind->team ? "give one team, or none for all"
                                     : "mail %s takes no team",
                          kind->word);
    if (request->week && !kind->week)
        return cli_usage (cli, "--week is of mail weekly");
    if (request->month && !kind->month)
        return cli_usage (cli, "--month is of mail monthly");
    return mail_options_check (cli, &request->send, kind->sends);
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request request = {.output = {.format = RENDER_TABLE}};
    const struct kind *kind;
    int rc;

    if (cli_options (cli, argc, argv, &request) < 0)
        return cli->exit_code;
    if (optind == argc)
        return cli_usage (cli, "give weekly, monthly or sent");
    kind = GL_FIND (kinds, GL_ARRAY_SIZE (kinds), it,
                    !strcmp (it->word, argv[optind]));
    if (!kind)
        return unknown_kind (cli, argv[optind]);
    request.team = optind + 1 < argc ? argv[optind + 1] : NULL;
    rc = check (cli, kind, &request, argc - optind - 1);
    return rc == CLI_OK ? kind->run (cli, &request) : rc;
}

static const cli_option_t options[] = {
    {0, "week", "YYYY-MM-DD",
     "weekly: the week of this day, from Monday to Sunday (default:\n"
     "the last one that the facts cover)",
     CLI_AT (struct request, week)},
    {0, "month", "YYYY-MM",
     "monthly: a calendar month, or last (default: last, the last one\n"
     "that is complete)",
     CLI_AT (struct request, month)},
    CLI_GROUP (mail_options, struct request, send),
    CLI_GROUP (output_options, struct request, output),
    {0},
};

const verb_t verb_mail = {
    .name = "mail",
    .run = run,
    .synopsis = "weekly [TEAM]|monthly|sent [OPTION]...",
    .summary = "summaries by mail, and what was sent",
    .help
    = "weekly sends each team what it spent in the last week and in the month "
      "so far, what\nof it went for idle GPUs, and its budgets. monthly sends "
      "the page of report summary to\nthe addresses of mail.monthly. Each is "
      "sent once. sent lists all mail that was sent,\nstatements included "
      "('gpuledger statement --all --mail').",
    .options = options,
    .example = "gpuledger mail weekly --dry-run\n"
               "gpuledger mail monthly --month 2026-10",
};
