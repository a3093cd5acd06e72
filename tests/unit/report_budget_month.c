/* Budgets: what is spent of a month is what its rows charge, to the smallest
 * unit, over made-up months; and where the days of it lie. */
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

struct world {
    site_t site;
    period_t month;
    bill_t *bill;
};

static int64_t at (const site_t *site, int month, int day)
{
    civil_t civil = {.year = 2026, .month = month, .day = day};

    return zone_instant (site->zone, &civil);
}

/* Part of a row on a day of the month. */
static void add_day (struct world *w, const posting_t *row, unsigned date,
                     long units, mpq_srcptr seconds)
{
    bill_day_t *day = bill_append (w->bill, BILL_DAYS);
    bool other = row->kind == BILL_CREDIT || row->kind == BILL_PURCHASE;

    day->day = xasprintf ("2026-10-%02u", date);
    day->team = xstrdup (row->team);
    day->account = xstrdup (row->key[0]);
    day->project = xstrdup (row->key[3]);
    day->pool = xstrdup (row->pool);
    mpz_set_si (other ? day->other_units : day->units, units);
    mpq_set (day->gpu_seconds, seconds);
}

static void add_days (struct world *w, const posting_t *row)
{
    long units = mpz_get_si (row->charge_units);
    unsigned parts = 1 + roll (3);
    mpq_t seconds;

    mpq_init (seconds);
    if (row->kind == BILL_CHARGE)
        exact_add_scaled (seconds, row->gpu_seconds, 1, parts);
    for (unsigned i = 0; i < parts; i++)
        add_day (w, row, 1 + roll (31),
                 units / (long)parts + (i == 0 ? units % (long)parts : 0),
                 seconds);
    mpq_clear (seconds);
}

static void add_row (struct world *w)
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
    if (posting_is_due (row) && !posting_is_adjustment (row)
        && row->kind != BILL_TAX && row->kind != BILL_SERVICE
        && row->kind != BILL_SETTLEMENT)
        add_days (w, row);
}

static void make (struct world *w)
{
    memset (w, 0, sizeof (*w));
    w->site.zone = zone_open ("Europe/Oslo", NULL);
    strcpy (w->site.currency, "EUR");
    w->site.currency_digits = 2;
    w->site.fiscal_month = 1;
    w->month = (period_t){at (&w->site, 10, 1), at (&w->site, 11, 1)};
    w->bill = bill_new ();
    for (int i = 0; i < ROWS; i++)
        add_row (w);
    bill_sort (w->bill);
}

static void done (struct world *w)
{
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
    budget_t *b;

    memset (entry, 0, sizeof (*entry));
    entry->name = (char *)"b";
    entry->team = (char *)scopes[scope].team;
    entry->team_names = (text_list_t){&entry->team, entry->team ? 1 : 0};
    entry->project = (char *)scopes[scope].project;
    entry->account = (char *)scopes[scope].account;
    entry->pool = (char *)scopes[scope].pool;
    entry->valid = (period_t){SITE_ALWAYS_START, SITE_ALWAYS_END};
    mpq_inits (entry->amount, entry->gpu_hours, entry->soft, entry->hard, NULL);
    mpq_set_ui (money ? entry->amount : entry->gpu_hours, 1000000, 1);
    b = budget_new (&w->site, entry, as_of);
    budget_add_bill (b, w->month, w->bill);
    budget_compute (b, BUDGET_LAST_28, w->month.start);
    return b;
}

static void forget (budget_t *b, site_budget_t *entry)
{
    budget_free (b);
    mpq_clears (entry->amount, entry->gpu_hours, entry->soft, entry->hard,
                NULL);
}

static void assert_figure (const budget_figure_t *a, const budget_figure_t *b)
{
    assert_int_equal (a->known, b->known);
    assert_true (mpq_equal (a->value, b->value));
}

static void assert_same (const budget_t *a, const budget_t *b)
{
    assert_int_equal (a->known, b->known);
    assert_true (mpq_equal (a->spent, b->spent));
    assert_figure (&a->rate, &b->rate);
    assert_figure (&a->run_rate, &b->run_rate);
    assert_figure (&a->seasonal, &b->seasonal);
    assert_figure (&a->run_rate_error, &b->run_rate_error);
    assert_int_equal (a->part_count, b->part_count);
    for (size_t i = 0; i < a->part_count; i++) {
        assert_string_equal (a->part[i].name, b->part[i].name);
        assert_true (mpq_equal (a->part[i].value, b->part[i].value));
    }
}

/* --- the tests --------------------------------------------------------- */

TEST_CASE (month__any__spent_is_what_its_rows_charge)
{
    struct world w;
    site_budget_t entry;
    mpq_t sum, parts;

    mpq_inits (sum, parts, NULL);
    for (unsigned seed = 0; seed < WORLDS; seed++) {
        state_of_dice = seed;
        make (&w);
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

/* What is spent of one budget of a scope in the month is spent of another one, whose period
 * is longer and whose as-of is later; and nothing of the bill is needed any more. */
TEST_CASE (month__taken__is_as_if_added)
{
    struct world w;
    site_budget_t entry;

    for (unsigned seed = 0; seed < WORLDS; seed++) {
        for (size_t i = 0; i < 2 * GL_ARRAY_SIZE (scopes); i++) {
            budget_t *first, *later, *wanted;
            budget_month_t *month;
            state_of_dice = seed;
            make (&w);
            first = spend (&w, &entry, i / 2, i % 2 == 0, w.month.end);
            month = budget_month_new (first, w.month, w.bill);
            budget_free (first);
            entry.period = roll (2) ? BUDGET_YEAR : BUDGET_MONTH;
            later = budget_new (&w.site, &entry, at (&w.site, 12, 9));
            wanted = budget_new (&w.site, &entry, at (&w.site, 12, 9));
            budget_add_bill (wanted, w.month, w.bill);
            bill_free (w.bill);
            w.bill = NULL;
            budget_take_month (later, month);
            budget_month_free (month);
            budget_compute (later, BUDGET_LAST_28, w.month.start);
            budget_compute (wanted, BUDGET_LAST_28, w.month.start);
            assert_same (later, wanted);
            budget_free (wanted);
            forget (later, &entry);
            done (&w);
        }
    }
}

/* 10.00 on the 3rd and 5.01 on the 9th. Corrections are of no day; of the day
 * of as-of counts the part that has passed, and of one that was cut there all
 * of it. */
TEST_CASE (month__days__are_its_days)
{
    struct world w;
    site_budget_t entry;
    posting_t *row;
    budget_t *b;
    mpq_t none;
    static const struct {
        unsigned day;
        int hour;
        bool cut;
        const char *spent;
    } cases[] = {
        {3, 0, false, "7.00"},  {4, 0, false, "17.00"}, {3, 12, false, "12.00"},
        {9, 0, false, "17.00"}, {9, 12, true, "22.01"}, {31, 0, false, "22.01"},
    };

    make (&w);
    bill_free (w.bill);
    w.bill = bill_new ();
    row = bill_add (w.bill);
    row->month = xstrdup ("2026-10");
    row->team = xstrdup ("team0");
    mpz_set_ui (row->charge_units, 1501);
    mpq_init (none);
    add_day (&w, row, 3, 1000, none);
    add_day (&w, row, 9, 501, none);
    row = bill_add (w.bill);
    row->kind = BILL_CORRECTION;
    row->month = xstrdup ("2026-09");
    row->team = xstrdup ("team0");
    mpz_set_ui (row->charge_units, 700);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        int64_t as_of
            = at (&w.site, 10, (int)cases[i].day) + cases[i].hour * 3600;
        period_t whole = w.month;
        char *text;
        if (cases[i].cut)
            w.month.end = as_of;
        b = spend (&w, &entry, 0, true, as_of);
        text = budget_text (b, b->spent);
        assert_string_equal (text, cases[i].spent);
        free (text);
        forget (b, &entry);
        w.month = whole;
    }
    mpq_clear (none);
    done (&w);
}

TEST_MAIN (NULL, NULL)
