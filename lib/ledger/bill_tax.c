#include <stdbool.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill_idle.h"
#include "ledger/bill_tax.h"

static bool is_for (const site_tax_t *tax, const char *team)
{
    for (size_t i = 0; i < tax->teams.count; i++) {
        if (strcmp (tax->teams.item[i], team) == 0)
            return true;
    }
    return tax->teams.count == 0;
}

static void due_of (const bill_t *bill, const char *team, mpz_t ret_units)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    mpz_set_ui (ret_units, 0);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind != BILL_TAX && posting_of (&rows[i], team))
            mpz_add (ret_units, ret_units, rows[i].charge_units);
    }
}

/* `exact` of a row is an amount, its units are smallest ones. */
static void add_tax (bill_t *bill, const site_t *site, const site_tax_t *tax,
                     const char *team, const char *month)
{
    posting_t *row;
    mpz_t due, scale;

    mpz_inits (due, scale, NULL);
    due_of (bill, team, due);
    mpz_ui_pow_ui (scale, 10, (unsigned long)site->currency_digits);
    row = bill_add (bill);
    row->kind = BILL_TAX;
    row->month = xstrdup (month);
    row->team = xstrdup (team);
    row->what = xstrdup (tax->name);
    mpq_set_z (row->exact, due);
    mpz_mul (mpq_denref (row->exact), mpq_denref (row->exact), scale);
    mpq_canonicalize (row->exact);
    mpq_mul (row->exact, row->exact, tax->percent);
    exact_round (row->charge_units, row->exact, site->currency_digits);
    mpz_set (row->list_units, row->charge_units);
    mpz_clears (due, scale, NULL);
}

static void tax_team (bill_t *bill, const site_t *site, const char *team,
                      const char *month, int64_t instant)
{
    for (size_t i = 0; i < site->tax_count; i++) {
        const site_tax_t *tax = &site->taxes[i];
        if (instant >= tax->valid.start && instant < tax->valid.end
            && is_for (tax, team))
            add_tax (bill, site, tax, team, month);
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

static bool has_rows (const bill_t *bill, const char *team)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++) {
        if (posting_of (&rows[i], team))
            return true;
    }
    return false;
}

void bill_add_taxes (bill_t *bill, const site_t *site, const char *month,
                     int64_t instant)
{
    if (has_taxes (bill))
        return;
    for (size_t i = 0; i < site->team_count; i++) {
        const char *team = site->teams[i].name;
        if (!stands_before (site, i) && has_rows (bill, team))
            tax_team (bill, site, team, month, instant);
    }
    bill_sort (bill);
}
