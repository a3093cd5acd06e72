#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "acct/site.h"
#include "base/exact.h"
#include "base/memory.h"
#include "decide.h"
#include "user_verb.h"

int decide_amount (const site_t *site, const char *text, bool negative,
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
            rc = gl_error (error, "'%s' is not an amount above 0", text);
        mpz_set (ret_units, mpq_numref (value));
    }
    mpz_clear (scale);
    mpq_clear (value);
    return rc;
}

void decide_row (bill_row_t *row, bill_kind_t kind, const char *what,
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
        bill_row_clear (d->row);
    free (d->row);
}

int decide (cli_t *cli, decision_t *d, close_check_f check, void *arg,
            const char *said)
{
    const char *who;
    uint64_t number;
    gl_error_t error;
    uid_t uid;
    int rc = CLI_FAILED;

    if (cli_site (cli) && cli_store (cli, 0)
        && (who = user_verb_person (cli, NULL, &uid))) {
        d->who = xstrdup (who);
        d->when = time (NULL);
        if (close_decide (cli->store, cli->site, d, check, arg, &number, &error)
            < 0)
            rc = cli_fail (cli, &error);
        else {
            printf ("%s: %s, entry %" PRIu64 "\n", d->month, said, number);
            rc = CLI_OK;
        }
    }
    clear (d);
    return rc;
}

/* --- what is due ------------------------------------------------------- */

static void add_due (const bill_t *bill, const char *month,
                     decide_match_f match, const void *arg, mpz_t units)
{
    size_t count;
    const bill_row_t *rows = bill_rows (bill, &count);

    for (size_t i = 0; i < count; i++)
        if (rows[i].kind != BILL_REMAINDER && rows[i].kind != BILL_TAX
            && rows[i].month && !strcmp (rows[i].month, month)
            && match (&rows[i], arg))
            mpz_add (units, units, rows[i].charge_units);
}

static int add_month (store_t *store, const site_t *site, const char *billed,
                      const char *month, decide_match_f match, const void *arg,
                      mpz_t units, gl_error_t *error)
{
    bills_month_t *m;

    if (bills_of_month (store, site, billed, &m, error) < 0)
        return -1;
    add_due (m->bill, month, match, arg, units);
    bills_month_free (m);
    return 0;
}

/* Of the remainders nothing is due, nor of corrections of them. */
int decide_due (store_t *store, const site_t *site, const periods_t *periods,
                const char *month, decide_match_f match, const void *arg,
                mpz_t ret_units, gl_error_t *error)
{
    char open[BILLS_MONTH_SIZE];

    mpz_set_ui (ret_units, 0);
    if (periods_open_month (store, site, periods, open, error) < 0)
        return -1;
    for (size_t i = 0; i < periods->closing_count; i++) {
        const closing_t *c = &periods->closings[i];
        if (!c->reopened && strcmp (c->month, month) >= 0
            && add_month (store, site, c->month, month, match, arg, ret_units,
                          error)
                   < 0)
            return -1;
    }
    return add_month (store, site, open, month, match, arg, ret_units, error);
}
