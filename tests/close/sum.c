/*
 * sum URL CONFIG MONTH: of each closed month before MONTH, which is open: closed
 * rows and all corrections, those of MONTH included, against a computation from
 * all facts. Grouped by every key but the kind, in each number of a row; apart
 * from the product's own comparing. Prints what differs; 1 if anything does.
 *
 * sum URL CONFIG MONTH rows: the rows of the bill of MONTH, as text.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "ledger/bill.h"
#include "month/month.h"
#include "month/periods.h"
#include "month/settled.h"

static gl_error_t error;

static void fail (void)
{
    fprintf (stderr, "sum: %s\n", error.text);
    exit (2);
}

struct line {
    char *key;
    mpq_t number[6];
};

struct lines {
    struct line *item;
    size_t count;
};

static struct line *find (struct lines *lines, const char *key)
{
    struct line *line;

    for (size_t i = 0; i < lines->count; i++)
        if (!strcmp (lines->item[i].key, key))
            return &lines->item[i];
    lines->item = xreallocarray (lines->item, lines->count + 1, sizeof (*line));
    line = &lines->item[lines->count++];
    line->key = xstrdup (key);
    for (size_t i = 0; i < 6; i++)
        mpq_init (line->number[i]);
    return line;
}

static void add_units (mpq_t to, const mpz_t units, int sign)
{
    mpq_t value;

    mpq_init (value);
    mpq_set_z (value, units);
    (sign < 0 ? mpq_sub : mpq_add) (to, to, value);
    mpq_clear (value);
}

static void add (struct lines *lines, const posting_t *row, int sign)
{
    buffer_t key = BUFFER_INIT;
    const char *texts[] = {row->pool, row->team, row->gpu, row->profile};
    struct line *line;
    void (*sum) (mpq_t, const mpq_t, const mpq_t) = sign < 0 ? mpq_sub : mpq_add;

    for (size_t i = 0; i < 4; i++)
        buffer_printf (&key, "|%s", texts[i] ? texts[i] : "");
    for (size_t i = 0; i < CHARGE_PATH_COUNT; i++)
        buffer_printf (&key, "|%s", row->key[i] ? row->key[i] : "");
    line = find (lines, buffer_text (&key));
    sum (line->number[0], line->number[0], row->gpu_seconds);
    sum (line->number[1], line->number[1], row->price_seconds);
    sum (line->number[2], line->number[2], row->exact);
    add_units (line->number[3], row->list_units, sign);
    add_units (line->number[4], row->cost_units, sign);
    add_units (line->number[5], row->charge_units, sign);
    buffer_done (&key);
}

/* Manual rows are no computation's; what is taxed is another matter. */
static void add_month (struct lines *lines, const bill_t *bill,
                       const char *month, int sign)
{
    size_t count;
    const posting_t *rows = postings (bill, &count);

    for (size_t i = 0; i < count; i++)
        if (!strcmp (rows[i].month, month) && !rows[i].reason
            && rows[i].kind != BILL_TAX)
            add (lines, &rows[i], sign);
}

static bool compare (const struct lines *lines, const char *month)
{
    bool same = true;

    for (size_t i = 0; i < lines->count; i++) {
        for (size_t k = 0; k < 6; k++) {
            if (mpq_sgn (lines->item[i].number[k]) == 0)
                continue;
            gmp_printf ("%s %s: number %zu differs by %Qd\n", month,
                        lines->item[i].key, k, lines->item[i].number[k]);
            same = false;
        }
    }
    return same;
}

static bool check (store_t *store, const site_t *site, const periods_t *periods,
                   const closing_t *closing, const char *open)
{
    struct lines lines = {NULL, 0};
    month_t *m;
    bill_t *fresh;
    period_t period;
    bool same;

    for (size_t i = 0; i < periods->closing_count; i++) {
        if (periods->closings[i].reopened)
            continue;
        if (month_read (store, site, periods->closings[i].month, NULL, &m,
                        &error)
            < 0)
            fail ();
        add_month (&lines, m->bill, closing->month, 1);
        month_free (m);
    }
    if (month_read (store, site, open, NULL, &m, &error) < 0
        || periods_month (site, closing->month, &period, &error) < 0
        || settled_bill (store, site, period, NULL, &fresh, &error) < 0)
        fail ();
    add_month (&lines, m->bill, closing->month, 1);
    add_month (&lines, fresh, closing->month, -1);
    month_free (m);
    bill_free (fresh);
    same = compare (&lines, closing->month);
    for (size_t i = 0; i < lines.count; i++) {
        for (size_t k = 0; k < 6; k++)
            mpq_clear (lines.item[i].number[k]);
        free (lines.item[i].key);
    }
    free (lines.item);
    return same;
}

/* The kept detail holds the GPU time of the closed charges. */
static int take_detail (const line_item_t *row, void *arg, gl_error_t *unused)
{
    mpq_ptr sum = arg;

    (void)unused;
    if (row->kind == LINE_ITEM_JOB)
        mpq_add (sum, sum, row->gpu_seconds);
    return 0;
}

static bool check_detail (store_t *store, const closing_t *closing)
{
    const posting_t *rows;
    size_t count;
    bill_t *bill;
    mpq_t sum;
    bool same;

    mpq_init (sum);
    if (periods_bill (store, closing, &bill, &error) < 0
        || periods_line_items (store, closing, NULL, take_detail, sum, &error)
               < 0)
        fail ();
    rows = postings (bill, &count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].kind == BILL_CHARGE)
            mpq_sub (sum, sum, rows[i].gpu_seconds);
    same = mpq_sgn (sum) == 0;
    if (!same)
        gmp_printf ("%s: the detail is %Qd seconds away\n", closing->month,
                    sum);
    mpq_clear (sum);
    bill_free (bill);
    return same;
}

static void print_corrections (store_t *store, const site_t *site,
                               const char *open)
{
    month_t *m;
    const posting_t *rows;
    size_t count;

    if (month_read (store, site, open, NULL, &m, &error) < 0)
        fail ();
    rows = postings (m->bill, &count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind == BILL_CORRECTION)
            gmp_printf ("%s %s %s %s %Zd\n", rows[i].month,
                        rows[i].what ? rows[i].what : "-",
                        rows[i].origin ? rows[i].origin : "-",
                        rows[i].key[0] ? rows[i].key[0] : "-",
                        rows[i].charge_units);
    }
    month_free (m);
}

static void print_rows (store_t *store, const site_t *site, const char *month)
{
    month_t *m;
    const posting_t *rows;
    size_t count;
    buffer_t text = BUFFER_INIT;

    if (month_read (store, site, month, NULL, &m, &error) < 0)
        fail ();
    rows = postings (m->bill, &count);
    for (size_t i = 0; i < count; i++) {
        buffer_clear (&text);
        posting_text (&rows[i], &text);
        puts (buffer_text (&text));
    }
    buffer_done (&text);
    month_free (m);
}

int main (int argc, char **argv)
{
    site_t *site;
    store_t *store;
    periods_t *periods;
    bool same = true;

    if (argc < 4 || argc > 5)
        return 2;
    if (config_load (argv[2], &site, &error) < 0
        || !(store = store_open (argv[1], STORE_READ_ONLY, &error))
        || periods_read (store, &periods, &error) < 0)
        fail ();
    for (size_t i = 0; argc == 4 && i < periods->closing_count; i++)
        if (!periods->closings[i].reopened && !periods->closings[i].imported)
            same = check (store, site, periods, &periods->closings[i], argv[3])
                   && check_detail (store, &periods->closings[i]) && same;
    (argc == 4 ? print_corrections : print_rows) (store, site, argv[3]);
    periods_free (periods);
    store_close (store);
    site_free (site);
    return same ? 0 : 1;
}
