/*
 * check DATA FILE ["POOL=GPUS ..."] [COLUMN=VALUE[@CATEGORY]...]: checks a FOCUS
 * file against the published rules and the invariants, after setting cells of the
 * first row of that category (of Usage), "*": of every row. "+": the first row
 * stands twice. Exit 1 if something is wrong. "sums FILE": billed cost by team, in
 * hundredths. "priced FILE": pool and category of the price of each job.
 * "periods FILE [...]", "invoices FILE CHARGES [...]" and "contracts
 * FILE CHARGES [...]": the datasets beside the charges, after the same changes, of
 * their first row. "total FILE COLUMN KINDS", "commitment FILE ID STATUS".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/focus/check.h"

/* A cell of a table that has no categories. */
static void set_first (table_t *t, const char *text)
{
    char *column = strdup (text), *value = strchr (column, '=');

    *value++ = '\0';
    table_set (t, 0, column, value);
}

static int check_dataset (int argc, char **argv)
{
    bool joined = strcmp (argv[1], "periods") != 0;
    table_t *t = table_read (argv[2]);

    for (int i = 3 + joined; i < argc; i++)
        set_first (t, argv[i]);
    if (!joined)
        return check_periods_file (t) > 0;
    return (!strcmp (argv[1], "contracts")
                ? check_contracts_file (t, table_read (argv[3]))
                : check_invoices_file (t, table_read (argv[3])))
           > 0;
}

static void set (table_t *t, const char *text)
{
    char *column = strdup (text), *value = strchr (column, '='), *category;
    bool all;

    if (!strcmp (text, "+")) {
        t->row = realloc (t->row, (t->rows + 1) * sizeof (*t->row));
        t->row[t->rows] = t->row[0];
        t->rows++;
        return;
    }
    *value++ = '\0';
    category = strrchr (value, '@');
    if (category)
        *category++ = '\0';
    all = category && !strcmp (category, "*");
    for (size_t row = 0; row < t->rows; row++) {
        if (!all
            && strcmp (table_cell (t, row, "ChargeCategory"),
                       category ? category : "Usage")
                   != 0)
            continue;
        table_set (t, row, column, value);
        if (!all)
            return;
    }
    if (!all) {
        fprintf (stderr, "no row for %s\n", text);
        exit (2);
    }
}

int main (int argc, char **argv)
{
    char model[4096], codes[4096], pairs[4096];
    table_t *t;
    size_t wrong;

    if (argc == 3 && !strcmp (argv[1], "sums")) {
        print_sums (table_read (argv[2]));
        return 0;
    }
    if (argc == 3 && !strcmp (argv[1], "priced")) {
        print_priced (table_read (argv[2]));
        return 0;
    }
    if (argc == 5 && !strcmp (argv[1], "commitment")) {
        print_commitment (table_read (argv[2]), argv[3], argv[4]);
        return 0;
    }
    if (argc == 5 && !strcmp (argv[1], "total")) {
        print_total (table_read (argv[2]), argv[3], argv[4]);
        return 0;
    }
    if ((argc >= 3 && !strcmp (argv[1], "periods"))
        || (argc >= 4
            && (!strcmp (argv[1], "invoices")
                || !strcmp (argv[1], "contracts"))))
        return check_dataset (argc, argv);
    if (argc < 4)
        return 2;
    snprintf (model, sizeof (model), "%s/model-1.2.json", argv[1]);
    snprintf (codes, sizeof (codes), "%s/currency_codes.csv", argv[1]);
    snprintf (pairs, sizeof (pairs), "%s/service_subcategories_1.2.csv",
              argv[1]);
    t = table_read (argv[2]);
    for (int i = 4; i < argc; i++)
        set (t, argv[i]);
    wrong = check_rules (t, model, codes);
    wrong += check_invariants (t, pairs, argv[3]);
    wrong += check_later (t);
    wrong += check_commitments (t);
    return wrong > 0;
}

/* It ends at once: what it holds is freed with it. */
const char *__asan_default_options (void);
const char *__asan_default_options (void)
{
    return "detect_leaks=0";
}
