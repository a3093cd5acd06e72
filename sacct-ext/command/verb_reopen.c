/* gpuledger reopen: a closed month is open again; what was closed is kept. */
#include <getopt.h>
#include <string.h>

#include "base/memory.h"
#include "command/manual.h"
#include "command/verb.h"
#include "site/site.h"

struct request {
    const char *month;
    const char *approval;
};

/* Only the last one: what is later rests on it. */
static int check (store_t *store, const site_t *site, const periods_t *periods,
                  decision_t *d, void *arg, gl_error_t *error)
{
    const closing_t *last = periods_last (periods);
    const closing_t *closing = periods_closing (periods, d->month);

    (void)store;
    (void)site;
    (void)arg;
    if (!closing)
        return gl_error (error, "%s is not closed", d->month);
    if (closing->imported)
        return gl_error (error, "%s is before go-live and has no charges",
                         d->month);
    if (closing != last)
        return gl_error (error,
                         "%s was closed after %s and depends on it: reopen %s "
                         "first, or make a correction in the open month",
                         last->month, d->month, last->month);
    return 0;
}

static int run (cli_t *cli, int argc, char **argv)
{
    decision_t d = {.kind = CHAIN_REOPEN};
    struct request r = {NULL};
    gl_error_t error;
    period_t period;

    if (cli_options (cli, argc, argv, &r) < 0)
        return cli->exit_code;
    if (optind != argc || !r.month || !r.approval || !*r.approval)
        return cli_usage (cli, "give --month, and --approval: who agreed, and "
                               "why");
    if (!cli_site (cli))
        return CLI_FAILED;
    if (periods_month (cli->site, r.month, &period, &error) < 0)
        return cli_usage (cli, "%s", error.text);
    memcpy (d.month, r.month, MONTH_SIZE);
    d.reason = xstrdup (r.approval);
    return decide (cli, &d, check, NULL, "open again");
}

static const cli_option_t options[] = {
    {0, "month", "YYYY-MM", "the last closed month",
     CLI_AT (struct request, month)},
    {0, "approval", "TEXT", "who agreed to it, and why",
     CLI_AT (struct request, approval)},
    {0},
};

const verb_t verb_reopen = {
    .name = "reopen",
    .run = run,
    .synopsis = "--month YYYY-MM --approval TEXT",
    .summary = "open the last closed month again",
    .help = "Use it only for statements that are not sent yet; otherwise make "
            "a correction. The\nclosed version is retained, and the month is "
            "closed again as a new version.",
    .options = options,
    .example
    = "gpuledger reopen --month 2026-10 --approval 'A. Lovelace: not sent'",
};
