#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "acct/site.h"
#include "base/exact.h"
#include "base/memory.h"
#include "decide.h"
#include "report/bill_idle.h"
#include "user_verb.h"

int decide_month (cli_t *cli, const char *month)
{
    period_t period;
    gl_error_t error;

    return month && periods_month (cli->site, month, &period, &error) < 0
               ? cli_usage (cli, "--for: %s", error.text)
               : CLI_OK;
}

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

static void tell (const site_t *site, const decision_t *d, const char *said,
                  uint64_t number)
{
    GL_AUTOFREE char *amount
        = d->row ? exact_units_text (d->row->charge_units,
                                     site->currency_digits)
                 : NULL;

    if (d->kind == CHAIN_DISPUTE)
        printf ("%s: %s, as dispute %" PRIu64, d->reference, said, number);
    else
        printf ("%s: %s, entry %" PRIu64, d->month, said, number);
    if (amount)
        printf (": %s %s", amount, site->currency);
    putchar ('\n');
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
            tell (cli->site, d, said, number);
            rc = CLI_OK;
        }
    }
    clear (d);
    return rc;
}

/* --- sets of rows ------------------------------------------------------ */

static bool same (const char *a, const char *b)
{
    return a && b ? strcmp (a, b) == 0 : a == b;
}

bool decide_of_team (const bill_row_t *row, const void *arg)
{
    const bill_row_t *line = arg;

    return bill_row_of (row, line->team);
}

bool decide_of_pool (const bill_row_t *row, const void *arg)
{
    const bill_row_t *line = arg;

    return decide_of_team (row, arg) && same (row->pool, line->pool);
}

bool decide_of_line (const bill_row_t *row, const void *arg)
{
    const bill_row_t *line = arg;
    bool is = decide_of_pool (row, arg) && same (row->gpu, line->gpu)
              && same (row->profile, line->profile);

    for (size_t i = 0; i < CHARGE_PATH_COUNT && is; i++)
        is = same (row->key[i], line->key[i]);
    return is;
}

bool decide_of_reference (const bill_row_t *row, const void *arg)
{
    const bill_row_t *line = arg;

    return bill_row_is_due (row) && line->reference
           && same (row->reference, line->reference);
}

/* --- what is due ------------------------------------------------------- */

static void add_due (const bill_t *bill, const char *month,
                     decide_level_t *levels, size_t level_count)
{
    size_t count;
    const bill_row_t *rows = bill_rows (bill, &count);

    for (size_t i = 0; i < count; i++) {
        if (!bill_row_is_due (&rows[i]) || rows[i].kind == BILL_TAX
            || !rows[i].month || strcmp (rows[i].month, month) != 0)
            continue;
        for (size_t k = 0; k < level_count; k++)
            if (levels[k].match (&rows[i], levels[k].arg))
                mpz_add (levels[k].due, levels[k].due, rows[i].charge_units);
    }
}

static int add_month (store_t *store, const site_t *site, const char *billed,
                      const char *month, decide_level_t *levels, size_t count,
                      gl_error_t *error)
{
    bills_month_t *m;

    if (bills_of_month (store, site, billed, &m, error) < 0)
        return -1;
    add_due (m->bill, month, levels, count);
    bills_month_free (m);
    return 0;
}

/* Of the remainders nothing is due, nor of corrections of them. */
int decide_due (store_t *store, const site_t *site, const periods_t *periods,
                const char *month, decide_level_t *levels, size_t count,
                gl_error_t *error)
{
    char open[BILLS_MONTH_SIZE];

    if (periods_open_month (store, site, periods, open, error) < 0)
        return -1;
    for (size_t i = 0; i < periods->closing_count; i++) {
        const closing_t *c = &periods->closings[i];
        if (!c->reopened && strcmp (c->month, month) >= 0
            && add_month (store, site, c->month, month, levels, count, error)
                   < 0)
            return -1;
    }
    return add_month (store, site, open, month, levels, count, error);
}

int decide_check_due (const site_t *site, const char *month,
                      const decide_level_t *levels, size_t count,
                      const mpz_t units, gl_error_t *error)
{
    int digits = site->currency_digits;
    GL_AUTOFREE char *text = exact_units_text (units, digits);

    for (size_t i = 0; i < count; i++) {
        GL_AUTOFREE char *due = exact_units_text (levels[i].due, digits);
        if (mpz_cmp (units, levels[i].due) > 0)
            return gl_error (error,
                             "%s %s is more than %s %s, which %s is charged for "
                             "%s, credits taken off",
                             text, site->currency, due, site->currency,
                             levels[i].of, month);
    }
    return 0;
}
