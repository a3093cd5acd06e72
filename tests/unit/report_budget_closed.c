/* Budgets: months that are closed. What is spent is what their rows charge, to the
 * smallest unit, over made-up months; and where the days of it lie. */
#include "support/test.h"

#include "base/exact.h"
#include "base/memory.h"
#include "statement/budget.h"

#define ROWS 40
#define WORLDS 300

static uint64_t state_of_dice;

static unsigned roll (unsigned sides)
{
    state_of_dice = state_of_dice * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state_of_dice >> 33) % sides;
}

/* NULL at times. */
static char *name_of (const char *what)
{
    unsigned n = roll (4);

    return n == 3 ? NULL : xasprintf ("%s%u", what, n);
}

/* A month's rows, and what lies below its charges. */
struct world {
    site_t site;
    period_t month;
    bill_t *bill;
    line_item_sum_t days[ROWS * 3];
    size_t day_count;
};

static int64_t at (const site_t *site, int month, int day)
{
    civil_t civil = {.year = 2026, .month = month, .day = day};

    return zone_instant (site->zone, &civil);
}

/* Part of a charge on one of the month's days, fractions of a cent included. */
static void add_day (struct world *w, const posting_t *row, long fine,
                     mpq_srcptr seconds)
{
    line_item_sum_t *sum = &w->days[w->day_count++];

    sum->day = xasprintf ("2026-10-%02u", 1 + roll (31));
    sum->team = xstrdup (row->team);
    sum->account = xstrdup (row->key[0]);
    sum->project = xstrdup (row->key[3]);
    sum->pool = xstrdup (row->pool);
    mpq_init (sum->gpu_seconds);
    mpq_set (sum->gpu_seconds, seconds);
    mpz_init_set_si (sum->billed, fine);
}

static void add_days (struct world *w, const posting_t *row)
{
    long fine = mpz_get_si (row->charge_units) * 100000000L
                + (long)roll (99999999) - 50000000L;
    unsigned parts = 1 + roll (3);
    mpq_t seconds;

    mpq_init (seconds);
    exact_add_scaled (seconds, row->gpu_seconds, 1, parts);
    for (unsigned i = 0; i < parts; i++)
        add_day (w, row,
                 fine / (long)parts + (i == 0 ? fine % (long)parts : 0),
                 seconds);
    mpq_clear (seconds);
}

static void add_row (struct world *w, bool detail)
{
    posting_t *row = bill_add (w->bill);

    row->kind = (bill_kind_t)roll (BILL_KIND_COUNT);
    row->month = xstrdup (roll (5) ? "2026-10" : "2026-09");
    row->pool = name_of ("pool");
    row->team = name_of ("team");
    row->key[0] = name_of ("account");
    row->key[2] = name_of ("user");
    row->key[3] = name_of ("project");
    mpz_set_si (row->charge_units, (long)roll (1000000) - 300000);
    mpq_set_ui (row->gpu_seconds, roll (1000000), 1 + roll (7));
    mpq_canonicalize (row->gpu_seconds);
    if (row->kind == BILL_CORRECTION && roll (3))
        row->origin = xstrdup (roll (3) ? "charge" : "remainder:idle");
    else if (row->kind == BILL_CREDIT && roll (2))
        row->reason = xstrdup ("fabric failed");
    if (row->kind == BILL_CHARGE && detail)
        add_days (w, row);
}

static void make (struct world *w, bool detail)
{
    memset (w, 0, sizeof (*w));
    w->site.zone = zone_open ("Europe/Oslo", NULL);
    strcpy (w->site.currency, "EUR");
    w->site.currency_digits = 2;
    w->site.fiscal_month = 1;
    w->month = (period_t){at (&w->site, 10, 1), at (&w->site, 11, 1)};
    w->bill = bill_new ();
    for (int i = 0; i < ROWS; i++)
        add_row (w, detail);
    bill_sort (w->bill);
}

static void done (struct world *w)
{
    for (size_t i = 0; i < w->day_count; i++) {
        line_item_sum_t *sum = &w->days[i];
        free (sum->day);
        free (sum->team);
        free (sum->account);
        free (sum->project);
        free (sum->pool);
        mpq_clear (sum->gpu_seconds);
        mpz_clear (sum->billed);
    }
    bill_free (w->bill);
    zone_close (w->site.zone);
}

/* --- budgets ----------------------------------------------------------- */

static const struct {
    const char *team, *project, *account, *pool;
} scopes[] = {
    {"team0", NULL, NULL, NULL},
    {NULL, "project1", NULL, NULL},
    {NULL, NULL, "account2", NULL},
    {NULL, NULL, NULL, "pool0"},
};

static bool fits (const char *wanted, const char *text)
{
    return !wanted || (text && strcmp (wanted, text) == 0);
}

/* Added up here by hand: what is due, before taxes. */
static void wanted (const struct world *w, size_t scope, bool money, mpq_t ret)
{
    size_t count;
    const posting_t *rows = postings (w->bill, &count);
    mpq_t value;

    mpq_init (value);
    mpq_set_ui (ret, 0, 1);
    for (size_t i = 0; i < count; i++) {
        const posting_t *r = &rows[i];
        bool held = r->kind == BILL_CHARGE
                    || (r->origin && strcmp (r->origin, "charge") == 0);
        if (r->kind == BILL_TAX || r->kind == BILL_REMAINDER
            || (r->origin && strncmp (r->origin, "remainder", 9) == 0)
            || !fits (scopes[scope].team, r->team)
            || !fits (scopes[scope].project, r->key[3])
            || !fits (scopes[scope].account, r->key[0])
            || !fits (scopes[scope].pool, r->pool) || (!money && !held))
            continue;
        if (money)
            mpq_set_z (value, r->charge_units);
        else
            mpq_set (value, r->gpu_seconds);
        mpq_add (ret, ret, value);
    }
    mpq_clear (value);
}

static budget_t *spend (struct world *w, site_budget_t *entry, size_t scope,
                        bool money, int64_t as_of)
{
    const budget_month_t month
        = {w->month, w->bill, w->days, w->day_count};
    budget_t *b;

    memset (entry, 0, sizeof (*entry));
    entry->name = (char *)"b";
    entry->team = (char *)scopes[scope].team;
    entry->project = (char *)scopes[scope].project;
    entry->account = (char *)scopes[scope].account;
    entry->pool = (char *)scopes[scope].pool;
    entry->valid = (period_t){SITE_ALWAYS_START, SITE_ALWAYS_END};
    mpq_inits (entry->amount, entry->gpu_hours, entry->soft, entry->hard, NULL);
    mpq_set_ui (money ? entry->amount : entry->gpu_hours, 1000000, 1);
    b = budget_new (&w->site, entry, as_of);
    budget_add_closed (b, &month);
    budget_compute (b, BUDGET_LAST_28, w->month.start);
    return b;
}

static void forget (budget_t *b, site_budget_t *entry)
{
    budget_free (b);
    mpq_clears (entry->amount, entry->gpu_hours, entry->soft, entry->hard,
                NULL);
}

/* --- the tests --------------------------------------------------------- */

static void closed__any_month__spent_is_what_its_rows_charge (void **state)
{
    struct world w;
    site_budget_t entry;
    mpq_t sum, parts;

    (void)state;
    mpq_inits (sum, parts, NULL);
    for (unsigned seed = 0; seed < WORLDS; seed++) {
        state_of_dice = seed;
        make (&w, seed % 4 != 0);
        for (size_t i = 0; i < 2 * GL_ARRAY_SIZE (scopes); i++) {
            bool money = i % 2 == 0;
            budget_t *b = spend (&w, &entry, i / 2, money, w.month.end);
            wanted (&w, i / 2, money, sum);
            assert_true (mpq_equal (b->spent, sum));
            mpq_set_ui (parts, 0, 1);
            for (size_t k = 0; k < b->part_count; k++)
                mpq_add (parts, parts, b->part[k].value);
            assert_true (mpq_equal (parts, sum));
            forget (b, &entry);
        }
        done (&w);
    }
    mpq_clears (sum, parts, NULL);
}

/* The month has 745 hours; on the 25th there are 25. */
static void closed__no_detail__evenly_over_the_month (void **state)
{
    struct world w;
    site_budget_t entry;
    posting_t *row;
    budget_t *b;
    mpq_t share;

    (void)state;
    make (&w, false);
    bill_free (w.bill);
    w.bill = bill_new ();
    row = bill_add (w.bill);
    row->month = xstrdup ("2026-10");
    row->team = xstrdup ("team0");
    mpz_set_ui (row->charge_units, 74500);
    mpq_init (share);
    b = spend (&w, &entry, 0, true, at (&w.site, 10, 25));
    mpq_set_ui (share, 24 * 24 * 100, 1);
    assert_true (mpq_equal (b->spent, share));
    forget (b, &entry);
    b = spend (&w, &entry, 0, true, at (&w.site, 10, 26));
    mpq_set_ui (share, (24 * 24 + 25) * 100, 1);
    assert_true (mpq_equal (b->spent, share));
    forget (b, &entry);
    /* half of the 26th */
    b = spend (&w, &entry, 0, true, at (&w.site, 10, 26) + 43200);
    mpq_set_ui (share, (24 * 24 + 25 + 12) * 100, 1);
    assert_true (mpq_equal (b->spent, share));
    forget (b, &entry);
    mpq_clear (share);
    done (&w);
}

/* 10.00 on the 3rd and 5.004 on the 9th of 15.01 in all: what is left of a cent is
 * of the whole month. Corrections are of no day. */
static void closed__detail__days_are_its_days (void **state)
{
    struct world w;
    site_budget_t entry;
    posting_t *row;
    budget_t *b;
    mpq_t sum, rest;

    (void)state;
    make (&w, false);
    bill_free (w.bill);
    w.bill = bill_new ();
    row = bill_add (w.bill);
    row->month = xstrdup ("2026-10");
    row->team = xstrdup ("team0");
    mpz_set_ui (row->charge_units, 1501);
    mpq_inits (sum, rest, NULL);
    add_day (&w, row, 100000000000, sum);
    add_day (&w, row, 50040000000, sum);
    strcpy (w.days[0].day, "2026-10-03");
    strcpy (w.days[1].day, "2026-10-09");
    row = bill_add (w.bill);
    row->kind = BILL_CORRECTION;
    row->month = xstrdup ("2026-09");
    row->team = xstrdup ("team0");
    mpz_set_ui (row->charge_units, 700);

    b = spend (&w, &entry, 0, true, at (&w.site, 10, 3));
    mpq_set_ui (sum, 700, 1);
    exact_set_i64 (rest, 6 * 48, 10 * 745); /* 0.6 cents x 48 of 745 hours */
    mpq_add (sum, sum, rest);
    assert_true (mpq_equal (b->spent, sum));
    forget (b, &entry);
    b = spend (&w, &entry, 0, true, at (&w.site, 10, 4));
    mpq_set_ui (sum, 1700, 1);
    exact_set_i64 (rest, 6 * 72, 10 * 745);
    mpq_add (sum, sum, rest);
    assert_true (mpq_equal (b->spent, sum));
    forget (b, &entry);
    b = spend (&w, &entry, 0, true, w.month.end);
    mpq_set_ui (sum, 2201, 1);
    assert_true (mpq_equal (b->spent, sum));
    forget (b, &entry);
    mpq_clears (sum, rest, NULL);
    done (&w);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (closed__any_month__spent_is_what_its_rows_charge),
        cmocka_unit_test (closed__no_detail__evenly_over_the_month),
        cmocka_unit_test (closed__detail__days_are_its_days),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
