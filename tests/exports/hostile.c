/*
 * hostile SEED COUNT CURRENCY DIGITS: a journal of COUNT rows whose names are
 * made to break it, on standard output; on standard error how many accounts of
 * charges it has and what they add up to. Names are drawn from pieces that mean
 * something to ledger or hledger, and from any bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "render/render_journal.h"
#include "export/journal.h"

static const char *const pieces[] = {
    "  ",    "\t",     "\n",     "\r\n", ";",        "=",      "==",
    "@",     "{1 USD}", "[2026-13-45]", "(", ")",    "<",      ">",
    ":",     "::",     ",",      "|",    "*",        "!",      "#",
    "\"",    "'",      "%",      "%20",  "\\",       "~",      "include x",
    "\n2026-01-01 x\n  a  1 USD\n  b\n", "date:2026-99-99", "~ monthly",
    " ",     "a",      "B7",     "-",    "_",        ".",      "/",
    "\xc3\xbc", "\xc2\xa0", "\xe3\x80\x80", "\xe2\x80\x8b", "\xe2\x80\xae",
    "\xff",  "\xc3",   "\x01",   "\x7f", "(none)",   "$1",     "1.5 EUR",
    "0",     "-1",     "\xf0\x9f\x98\x80", "expr", "}", "]", "&", "^", "`",
};

static uint64_t state;

static uint64_t chance (uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static char *name (void)
{
    buffer_t text = BUFFER_INIT;
    uint64_t most = chance (12) ? 5 : 150; /* one in a while is long */

    for (uint64_t n = chance (most); n-- > 0;) {
        if (chance (8) == 0)
            buffer_add_char (&text, (char)(1 + chance (255)));
        else
            buffer_add_text (&text, pieces[chance (GL_ARRAY_SIZE (pieces))]);
    }
    return chance (20) ? buffer_take (&text) : (buffer_done (&text), NULL);
}

/* Equal rows are of one account. */
static int by_account (const void *a, const void *b)
{
    const posting_t *x = *(const posting_t *const *)a,
                    *y = *(const posting_t *const *)b;
    const char *const left[] = {x->team, x->key[0], x->pool},
                      *const right[] = {y->team, y->key[0], y->pool};
    int order = (int)x->kind - (int)y->kind;

    for (size_t i = 0; i < GL_ARRAY_SIZE (left) && order == 0; i++)
        order = left[i] && right[i] ? strcmp (left[i], right[i])
                                    : (left[i] != NULL) - (right[i] != NULL);
    return order;
}

static size_t count_accounts (const bill_t *bill)
{
    size_t count, accounts = 0;
    const posting_t *rows = postings (bill, &count);
    const posting_t **list = xcalloc (count + 1, sizeof (*list));

    for (size_t i = 0; i < count; i++)
        list[i] = &rows[i];
    qsort (list, count, sizeof (*list), by_account);
    for (size_t i = 0; i < count; i++)
        accounts += i == 0 || by_account (&list[i - 1], &list[i]) != 0;
    free (list);
    return accounts;
}

int main (int argc, char **argv)
{
    site_t *site = site_default ();
    journal_t *journal = journal_new (site);
    bill_t *bill = bill_new ();
    BUFFER_AUTO out = BUFFER_INIT;
    gl_error_t error;
    long sum = 0;

    if (argc != 5)
        return 2;
    state = strtoull (argv[1], NULL, 10) * 2654435761u + 1;
    snprintf (site->currency, sizeof (site->currency), "%s", argv[3]);
    site->currency_digits = atoi (argv[4]);
    for (int i = atoi (argv[2]); i-- > 0;) {
        posting_t *row = bill_add (bill);
        long units = (long)chance (2000001) - 1000000;
        row->kind = chance (2) ? BILL_CORRECTION : BILL_TAX;
        row->month = xstrdup ("2026-09");
        row->pool = name ();
        row->team = name ();
        row->key[0] = name ();
        row->what = name ();
        row->reference = name ();
        units += units == 0;
        mpz_set_si (row->charge_units, units);
        sum += units;
    }
    bill_sort (bill);
    journal_remark (journal, "%s", "hostile\n2026-01-01 x ; [2026-13-45]");
    if (journal_add_month (journal, journal->site, "2026-10", bill, NULL, NULL,
                           &error)
        < 0) {
        fprintf (stderr, "%s\n", error.text);
        return 1;
    }
    render_journal (journal, &out);
    fwrite (out.data, 1, out.length, stdout);
    fprintf (stderr, "%zu %ld\n", count_accounts (bill), sum);
    journal_free (journal);
    bill_free (bill);
    site_free (site);
    return 0;
}
