#include <stdbool.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_tax.h"
#include "ledger/cube.h"

static bool is_for (const site_tax_t *tax, const char *team)
{
    for (size_t i = 0; i < tax->teams.count; i++) {
        if (strcmp (tax->teams.item[i], team) == 0)
            return true;
    }
    return tax->teams.count == 0;
}

/* `exact` of a row is an amount, its units are smallest ones. */
static void add_tax (bill_t *bill, const site_t *site, const site_tax_t *tax,
                     const posting_t *due, const char *month)
{
    posting_t *row;
    mpz_t scale;

    mpz_init (scale);
    mpz_ui_pow_ui (scale, 10, (unsigned long)site->currency_digits);
    row = bill_add (bill);
    row->kind = BILL_TAX;
    row->month = xstrdup (month);
    row->team = xstrdup (due->team);
    row->what = xstrdup (tax->name);
    mpq_set_z (row->exact, due->charge_units);
    mpz_mul (mpq_denref (row->exact), mpq_denref (row->exact), scale);
    mpq_canonicalize (row->exact);
    mpq_mul (row->exact, row->exact, tax->percent);
    exact_round (row->charge_units, row->exact, site->currency_digits);
    mpz_set (row->list_units, row->charge_units);
    mpz_clear (scale);
}

/* `due`: by the team, before taxes. */
static void tax_team (bill_t *bill, const site_t *site, const posting_t *due,
                      const char *month, int64_t instant)
{
    for (size_t i = 0; i < site->tax_count; i++) {
        const site_tax_t *tax = &site->taxes[i];
        if (instant >= tax->valid.start && instant < tax->valid.end
            && is_for (tax, due->team))
            add_tax (bill, site, tax, due, month);
    }
}

static bool has_taxes (const bill_t *bill)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind == BILL_TAX)
            return true;
    }
    return false;
}

/* The site's teams may recur with other dates; each is taxed once. */
static bool stands_before (const site_t *site, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp (site->teams[i].name, site->teams[at].name) == 0)
            return true;
    }
    return false;
}

static cube_t *due_by_team (const bill_t *bill)
{
    cube_t *cube = cube_new (&bill_fields[BILL_POSTINGS], "team");
    size_t count;
    const posting_t *rows = postings (bill, &count);

    cube_measures (cube, "charge");
    for (size_t i = 0; i < count; i++)
        if (posting_is_due (&rows[i]))
            cube_add (cube, &rows[i]);
    return cube;
}

void bill_add_taxes (bill_t *bill, const site_t *site, const char *month,
                     int64_t instant)
{
    cube_t *due;

    if (has_taxes (bill))
        return;
    due = due_by_team (bill);
    for (size_t i = 0; i < site->team_count; i++) {
        const posting_t *of
            = cube_find (due, &(posting_t){.team = site->teams[i].name});
        if (of && !stands_before (site, i))
            tax_team (bill, site, of, month, instant);
    }
    cube_free (due);
    bill_sort (bill);
}

/* --- in words ------------------------------------------------------------ */

/* What the team owes before taxes. */
static void sum_net (const bill_t *bill, const char *team, mpz_t ret)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);
    bill_rows_t of = bill_rows_of (bill, team);

    for (size_t i = 0; i < of.count; i++) {
        const posting_t *row = &rows[of.index[i]];
        if (posting_is_due (row) && row->kind != BILL_TAX)
            mpz_add (ret, ret, row->charge_units);
    }
}

char *bill_tax_percent (const bill_t *bill, const posting_t *tax, int digits)
{
    char *text = NULL;
    mpq_t percent;
    mpz_t net;

    mpq_init (percent);
    mpz_init (net);
    sum_net (bill, tax->team, net);
    if (mpz_sgn (net) != 0) {
        mpz_ui_pow_ui (mpq_numref (percent), 10, (unsigned long)digits + 2);
        mpz_set (mpq_denref (percent), net);
        mpq_canonicalize (percent);
        mpq_mul (percent, percent, tax->exact);
        text = exact_shortest (percent);
    }
    mpz_clear (net);
    mpq_clear (percent);
    return text;
}

char *bill_tax_name (const bill_t *bill, const posting_t *tax, int digits)
{
    GL_AUTOFREE char *percent = bill_tax_percent (bill, tax, digits);

    return percent ? xasprintf ("%s %s %%", tax->what, percent)
                   : xstrdup (tax->what);
}
