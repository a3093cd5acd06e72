/* gpuledger correct: a manual row in the month that is open. */
#include <getopt.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "cli/query_options.h"
#include "command/manual.h"
#include "command/verb.h"
#include "ledger/correction.h"
#include "month/bills.h"
#include "month/settled.h"
#include "site/site.h"

struct request {
    const char *word; /* of the team, as it was written */
    const char *team; /* NULL: (none) */
    const char *amount;
    const char *reason;
    const char *month; /* --for */
    const char *pool;
};

/* --- how much -------------------------------------------------------- */

/* What the month was charged to all teams, or what it cost, if that is more. */
static void raise_to (const bill_t *bill, mpz_t most)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    const bill_pool_t *pools;
    mpz_t charged, cost;

    mpz_inits (charged, cost, NULL);
    for (size_t i = 0; i < count; i++)
        if (rows[i].kind == BILL_CHARGE || rows[i].kind == BILL_IDLE
            || rows[i].kind == BILL_PURCHASE)
            mpz_add (charged, charged, rows[i].charge_units);
    pools = bill_pools (bill, &count);
    for (size_t i = 0; i < count; i++)
        mpz_add (cost, cost, pools[i].cost_units);
    if (mpz_cmp (charged, most) > 0)
        mpz_set (most, charged);
    if (mpz_cmp (cost, most) > 0)
        mpz_set (most, cost);
    mpz_clears (charged, cost, NULL);
}

/* Months before go-live have no rows, but facts and costs. */
static int raise_to_month (store_t *store, const site_t *site,
                           const char *month, mpz_t most, gl_error_t *error)
{
    month_t *m;
    bill_t *computed = NULL;
    int rc;

    if (month_read (store, site, month, NULL, &m, error) < 0)
        return -1;
    rc = month_is_uncharged (m)
             ? settled_bill (store, site, m->period, NULL, &computed, error)
             : 0;
    if (rc == 0)
        raise_to (computed ? computed : m->bill, most);
    bill_free (computed);
    month_free (m);
    return rc;
}

/* A slip of the finger, not a correction: more than the whole month, or the last one
 * that was closed, where that is larger, as early in a month. */
static int check_size (store_t *store, const site_t *site,
                       const periods_t *periods, const char *month,
                       const mpz_t units, gl_error_t *error)
{
    const closing_t *last = periods_last (periods);
    mpz_t most;
    int rc;

    mpz_init (most);
    rc = raise_to_month (store, site, month, most, error);
    if (rc == 0 && last && strcmp (last->month, month) != 0)
        rc = raise_to_month (store, site, last->month, most, error);
    if (rc == 0 && mpz_cmpabs (units, most) > 0) {
        GL_AUTOFREE char *text
            = exact_units_text (units, site->currency_digits);
        GL_AUTOFREE char *limit
            = exact_units_text (most, site->currency_digits);
        rc = gl_error (error,
                       "%s %s is more than %s %s, the total cost or charges "
                       "of %s%s%s: correct other months with --for",
                       text, site->currency, limit, site->currency, month,
                       last && strcmp (last->month, month) ? " or " : "",
                       last && strcmp (last->month, month) ? last->month : "");
    }
    mpz_clear (most);
    return rc;
}

/* The month that it is for must not lie behind the open one. */
static int check (store_t *store, const site_t *site, const periods_t *periods,
                  decision_t *d, void *arg, gl_error_t *error)
{
    const struct request *r = arg;
    const char *month = r->month ? r->month : d->month;
    period_t period;
    mpz_t units;
    int rc;

    if (periods_month (site, month, &period, error) < 0)
        return -1;
    if (strcmp (month, d->month) > 0)
        return gl_error (error, "%s is later than %s, the open month", month,
                         d->month);
    mpz_init (units);
    rc = manual_amount (site, r->amount, true, units, error);
    if (rc == 0)
        rc = check_size (store, site, periods, month, units, error);
    if (rc == 0)
        manual_row (d->row, BILL_CORRECTION,
                    correction_cause_word (CAUSE_MANUAL), month, r->reason,
                    units, site->currency_digits);
    mpz_clear (units);
    return rc;
}

static int correct (cli_t *cli, struct request *r)
{
    decision_t d = {.kind = CHAIN_CORRECT};
    int rc;

    if (!cli_site (cli) || !cli_store (cli, STORE_LEDGER))
        return CLI_FAILED;
    if ((rc = manual_month (cli, r->month)) != CLI_OK
        || (rc = query_team_current (cli, cli->store, r->word, &r->team))
               != CLI_OK
        || (r->pool
            && (rc = query_pool_billed (cli, cli->store, r->pool)) != CLI_OK))
        return rc;
    d.reason = xstrdup (r->reason);
    d.row = xcalloc (1, sizeof (*d.row));
    posting_init (d.row);
    d.row->team = xstrdup (r->team);
    d.row->pool = xstrdup (r->pool);
    return decide (cli, &d, check, r, "corrected");
}

static int run (cli_t *cli, int argc, char **argv)
{
    struct request r = {NULL};

    if (cli_options (cli, argc, argv, &r) < 0)
        return cli->exit_code;
    if (optind != argc - 3 || !*argv[argc - 1])
        return cli_usage (cli, "give a team, an amount and a reason");
    r.word = argv[optind];
    r.amount = argv[optind + 1];
    r.reason = argv[optind + 2];
    return correct (cli, &r);
}

static const cli_option_t options[] = {
    {0, "for", "YYYY-MM", "the month to correct (default: the open one)",
     CLI_AT (struct request, month)},
    {0, "pool", "NAME", "the pool to correct", CLI_AT (struct request, pool)},
    {0},
};

const verb_t verb_correct = {
    .name = "correct",
    .run = run,
    .synopsis = "[OPTION]... [--] TEAM AMOUNT REASON",
    .summary = "a manual correction in the open month",
    .help
    = "Corrects an error in a closed month that later facts or prices cannot "
      "correct. The team owes AMOUNT more, or less if it is negative; never "
      "by more than the cost or the charges of that month. The correction is "
      "a new entry of the chain and is billed in the open month.",
    .options = options,
    .example = "gpuledger correct --for 2026-10 -- vision -12.50 'paid twice'",
};
