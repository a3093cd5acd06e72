/* gpuledger credit: something is given back, in the month that is open. */
#include <getopt.h>
#include <string.h>

#include "acct/site.h"
#include "base/memory.h"
#include "decide.h"
#include "query_options.h"
#include "report/bill_idle.h"
#include "verb.h"

enum { CREDIT_FOR = CLI_LONG + 1 };

struct request {
    const char *word; /* of the team, as it was written */
    const char *team; /* NULL: (none) */
    const char *amount;
    const char *reason;
    const char *month; /* --for */
};

static bool of_team (const bill_row_t *row, const void *arg)
{
    const struct request *r = arg;

    return bill_row_of (row, r->team);
}

static int check_due (const struct request *r, const site_t *site,
                      const char *month, const mpz_t units, const mpz_t due,
                      gl_error_t *error)
{
    GL_AUTOFREE char *is = exact_units_text (due, site->currency_digits);

    if (mpz_cmp (units, due) <= 0)
        return 0;
    return gl_error (error,
                     "%s %s is more than %s %s, which '%s' is charged for %s, "
                     "credits taken off",
                     r->amount, site->currency, is, site->currency, r->word,
                     month);
}

static int check (store_t *store, const site_t *site, const periods_t *periods,
                  decision_t *d, void *arg, gl_error_t *error)
{
    const struct request *r = arg;
    const char *month = r->month ? r->month : d->month;
    period_t period;
    mpz_t units, due;
    int rc;

    if (periods_month (site, month, &period, error) < 0)
        return -1;
    mpz_inits (units, due, NULL);
    rc = decide_amount (site, r->amount, false, units, error);
    if (rc == 0)
        rc = decide_due (store, site, periods, month, of_team, r, due, error);
    if (rc == 0)
        rc = check_due (r, site, month, units, due, error);
    mpz_neg (units, units);
    if (rc == 0)
        decide_row (d->row, BILL_CREDIT, "manual", month, r->reason, units,
                    site->currency_digits);
    mpz_clears (units, due, NULL);
    return rc;
}

static int credit (cli_t *cli, struct request *r)
{
    decision_t d = {.kind = CHAIN_CREDIT};
    int rc;

    if (!cli_site (cli))
        return CLI_FAILED;
    if ((rc = query_team_named (cli, r->word, &r->team)) != CLI_OK)
        return rc;
    d.reason = xstrdup (r->reason);
    d.row = xcalloc (1, sizeof (*d.row));
    bill_row_init (d.row);
    d.row->team = xstrdup (r->team);
    return decide (cli, &d, check, r, "credited");
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request r = {NULL};
    const char *value;
    int option;

    while ((option = cli_option (cli, argc, argv, &value)) > 0)
        if (option == CREDIT_FOR)
            r.month = value;
    if (option < 0)
        return cli->exit_code;
    if (optind != argc - 3 || !*argv[argc - 1])
        return cli_usage (cli, "give a team, an amount and a reason");
    r.word = argv[optind];
    r.amount = argv[optind + 1];
    r.reason = argv[optind + 2];
    return credit (cli, &r);
}

static const cli_option_t options[] = {
    {CREDIT_FOR, "for", "YYYY-MM",
     "the month of the charge (default: the open one)"},
    {0},
};

const verb_t verb_credit = {
    .name = "credit",
    .run = run,
    .synopsis = "[OPTION]... TEAM AMOUNT REASON",
    .summary = "give something back, in the month that is open",
    .help = "The charge stays, and a credit stands beside it: never more than "
            "what the team is\ncharged for that month, credits taken off.",
    .options = options,
    .example = "gpuledger credit --for 2026-10 vision 113.73 'fabric failed'",
};
