#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/exact.h"
#include "base/memory.h"
#include "cli/progress.h"
#include "command/manual.h"
#include "command/user_verb.h"
#include "site/site.h"

int manual_month (cli_t *cli, const char *month)
{
    period_t period;
    gl_error_t error;

    return month && periods_month (cli->site, month, &period, &error) < 0
               ? cli_usage (cli, "--for: %s", error.text)
               : CLI_OK;
}

int manual_amount (const site_t *site, const char *text, bool negative,
                   mpz_t ret_units, gl_error_t *error)
{
    int rc = 0;
    mpq_t value;
    mpz_t scale;

    mpq_init (value);
    mpz_init (scale);
    mpz_ui_pow_ui (scale, 10, (unsigned long)site->currency_digits);
    if (exact_parse (text, value, error) < 0)
        rc = -1;
    else {
        mpz_mul (mpq_numref (value), mpq_numref (value), scale);
        mpq_canonicalize (value);
        if (mpz_cmp_ui (mpq_denref (value), 1) != 0)
            rc = gl_error (error, "'%s' has more than the %d decimals of %s",
                           text, site->currency_digits, site->currency);
        else if (mpq_sgn (value) == 0 || (mpq_sgn (value) < 0 && !negative))
            rc = gl_error (error, "'%s' is not a positive amount", text);
        mpz_set (ret_units, mpq_numref (value));
    }
    mpz_clear (scale);
    mpq_clear (value);
    return rc;
}

void manual_row (posting_t *row, bill_kind_t kind, const char *what,
                 const char *month, const char *reason, const mpz_t units,
                 int digits)
{
    mpz_t scale;

    row->kind = kind;
    free (row->what);
    row->what = xstrdup (what);
    free (row->month);
    row->month = xstrdup (month);
    free (row->reason);
    row->reason = xstrdup (reason);
    mpz_set (row->charge_units, units);
    mpz_set (row->list_units, units);
    mpz_init (scale);
    mpz_ui_pow_ui (scale, 10, (unsigned long)digits);
    mpq_set_num (row->exact, units);
    mpz_set (mpq_denref (row->exact), scale);
    mpq_canonicalize (row->exact);
    mpz_clear (scale);
}

static void clear (decision_t *d)
{
    free (d->who);
    free (d->reason);
    free (d->reference);
    if (d->row)
        posting_clear (d->row);
    free (d->row);
}

static void tell (const site_t *site, const decision_t *d, const char *said,
                  uint64_t number)
{
    GL_AUTOFREE char *amount = d->row ? exact_units_text (d->row->charge_units,
                                                          site->currency_digits)
                                      : NULL;

    progress_end ();
    if (d->kind == CHAIN_DISPUTE)
        printf ("%s: %s, as dispute %" PRIu64, d->reference, said, number);
    else
        printf ("%s: %s, entry %" PRIu64, d->month, said, number);
    if (amount)
        printf (": %s %s", amount, site->currency);
    putchar ('\n');
}

int manual_anchor (cli_t *cli, const anchor_t *anchor)
{
    gl_error_t error;

    if (anchor_put (cli->store, &cli->site->close, anchor, &error) == 0)
        return CLI_OK;
    cli_warn (cli,
              "entry %" PRIu64
              " is written, but its anchor is not: %s; fix this, and run "
              "gpuledger verify --anchor",
              anchor->head.number, error.text);
    return CLI_LOOK;
}

int decide (cli_t *cli, decision_t *d, close_check_f check, void *arg,
            const char *said)
{
    const char *who;
    chain_head_t head;
    gl_error_t error;
    uid_t uid;
    int rc = CLI_FAILED;

    if (cli_site (cli) && cli_store (cli, STORE_LEDGER)
        && (who = user_verb_person (cli, NULL, &uid))) {
        d->who = xstrdup (who);
        d->when = time (NULL);
        if (close_decide (cli->store, cli->site, d, check, arg, &head, &error)
            < 0)
            rc = cli_fail (cli, &error);
        else {
            const anchor_t anchor = {
                head, chain_kind_word (d->kind), d->month, 0, d->who, d->when};
            tell (cli->site, d, said, head.number);
            rc = manual_anchor (cli, &anchor);
        }
    }
    clear (d);
    return rc;
}
