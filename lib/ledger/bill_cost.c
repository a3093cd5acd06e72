/* The cost book of a pool and month in a bill: its lines, in smallest units. */
#include <stdlib.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/bill.h"
#include "ledger/bill_private.h"

/* A pool and month, and lines of its book: at last those of one entry, by its
 * funds. */
struct lines {
    bill_t *bill;
    const pool_month_t *pm;
    const char *month;
    int digits;
    const cost_line_t *line;
    size_t count;
};

/* Those of the entry that line `from` is of. */
static struct lines entry_at (const struct lines *all, size_t from)
{
    struct lines entry = *all;

    entry.line = all->line + from;
    entry.count = 1;
    while (from + entry.count < all->count
           && entry.line[entry.count].entry == entry.line[0].entry)
        entry.count++;
    return entry;
}

/* In smallest units, exactly. */
static void to_units (const struct lines *lines, mpq_t amount)
{
    for (int d = 0; d < lines->digits; d++)
        mpz_mul_ui (mpq_numref (amount), mpq_numref (amount), 10);
    mpq_canonicalize (amount);
}

static void sum_lines (const struct lines *lines, mpq_t ret_sum)
{
    mpq_set_ui (ret_sum, 0, 1);
    for (size_t i = 0; i < lines->count; i++)
        mpq_add (ret_sum, ret_sum, lines->line[i].amount);
}

static void take_line (const struct lines *lines, size_t index,
                       const mpz_t units)
{
    const cost_line_t *line = &lines->line[index];
    bill_cost_t *to = bill_append (lines->bill, BILL_COSTS);

    to->month = xstrdup (lines->month);
    to->pool = xstrdup (lines->pm->pool);
    to->kind = line->kind;
    to->name = xstrdup (line->name);
    to->how = xstrdup (line->how);
    mpq_set (to->amount, line->amount);
    mpz_set (to->units, units);
    to->fund = xstrdup (line->fund);
}

/* The units of an entry, to its lines. */
static int take_entry (const struct lines *entry, const mpz_t total,
                       gl_error_t *error)
{
    mpq_t *parts = xcalloc (entry->count, sizeof (*parts));
    mpz_t *units = xcalloc (entry->count, sizeof (*units));
    int rc;

    for (size_t i = 0; i < entry->count; i++) {
        mpq_init (parts[i]);
        mpz_init (units[i]);
        mpq_set (parts[i], entry->line[i].amount);
        to_units (entry, parts[i]);
    }
    rc = exact_share (total, (const mpq_t *)parts, entry->count, units, error);
    for (size_t i = 0; i < entry->count; i++) {
        take_line (entry, i, units[i]);
        mpq_clear (parts[i]);
        mpz_clear (units[i]);
    }
    free (parts);
    free (units);
    return rc;
}

/* Rounded so that they add up to what the pool cost, which charge_compute() has
 * rounded, and the lines of an entry to what it is without funds. */
static int take_book (const struct lines *book, gl_error_t *error)
{
    mpq_t *parts = xcalloc (book->count + 1, sizeof (*parts));
    mpz_t *units = xcalloc (book->count + 1, sizeof (*units));
    struct lines entry;
    size_t count = 0;
    int rc = 0;

    for (size_t i = 0; i < book->count; i += entry.count, count++) {
        entry = entry_at (book, i);
        mpz_init (units[count]);
        mpq_init (parts[count]);
        sum_lines (&entry, parts[count]);
        to_units (book, parts[count]);
    }
    if (count > 0)
        rc = exact_share (charge_total (book->pm->charge),
                          (const mpq_t *)parts, count, units, error);
    for (size_t i = 0, k = 0; k < count; i += entry.count, k++) {
        entry = entry_at (book, i);
        if (rc == 0)
            rc = take_entry (&entry, units[k], error);
        mpq_clear (parts[k]);
        mpz_clear (units[k]);
    }
    free (parts);
    free (units);
    return rc;
}

/* Gains and losses of disposals that are in no charge: lines of their own in the
 * cost book, and a remainder, so that costs and rows still add up. */
static int take_disposals (const struct lines *apart, mpq_srcptr disposal,
                           gl_error_t *error)
{
    struct lines entry;
    posting_t *row;
    mpq_t sum;
    mpz_t units;
    int rc = 0;

    if (mpq_sgn (disposal) == 0)
        return 0;
    row = bill_add (apart->bill);
    row->kind = BILL_REMAINDER;
    row->month = xstrdup (apart->month);
    row->pool = xstrdup (apart->pm->pool);
    row->what = xstrdup (BILL_DISPOSAL);
    mpq_set (row->exact, disposal);
    mpq_init (sum);
    mpz_init (units);
    for (size_t i = 0; i < apart->count && rc == 0; i += entry.count) {
        entry = entry_at (apart, i);
        if (entry.line[0].kind != COST_DISPOSAL)
            continue;
        sum_lines (&entry, sum);
        exact_round (units, sum, apart->digits);
        mpz_add (row->charge_units, row->charge_units, units);
        rc = take_entry (&entry, units, error);
    }
    mpq_clear (sum);
    mpz_clear (units);
    return rc;
}

int bill_take_costs (bill_t *bill, const pool_month_t *pm, const char *month,
                     int digits, gl_error_t *error)
{
    const cost_t *cost = charge_cost (pm->charge);
    const struct lines book = {bill, pm, month, digits, cost->line, cost->count};
    const struct lines apart
        = {bill, pm, month, digits, cost->apart, cost->apart_count};

    return take_disposals (&apart, cost->disposal, error) < 0
                   || take_book (&book, error) < 0
               ? -1
               : 0;
}
