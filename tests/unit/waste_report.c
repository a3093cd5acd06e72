/* Amounts of waste next to last month's: what has no price has no amount, and no change.
 * Rows that a closing kept: as they were, and the largest jobs of some months. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "ledger/bill.h"
#include "support/book.h"
#include "waste/waste_report.h"

#define NO_PRICE (-1)

/* An hour of a pool's capacity that no job had, at its cost in cents. */
static bill_t *month_of (const char *month, int cents)
{
    bill_t *bill = bill_new ();
    bill_pool_t *pool = bill_append (bill, BILL_POOLS);
    char text[160];
    gl_error_t error;
    int length = snprintf (text, sizeof (text),
                           "kind=remainder\tmonth=%s\tpool=p\twhat=stranded\t"
                           "gpu_seconds=3600",
                           month);

    pool->month = xstrdup (month);
    pool->pool = xstrdup ("p");
    pool->has_cost = cents != NO_PRICE;
    if (cents > 0)
        snprintf (text + length, sizeof (text) - (size_t)length,
                  "\tcost=%d\tcharge=%d", cents, cents);
    if (posting_parse (text, strlen (text), bill_add (bill), &error) < 0)
        fail_msg ("%s: %s", text, error.text);
    bill_sort (bill);
    return bill;
}

static waste_report_t *waste_of (const report_query_t *query, const char *month,
                                 const bill_t *bill)
{
    waste_report_t *waste = waste_report_new (query);

    waste_report_begin_month (waste, query, month, bill);
    waste_report_end_month (waste);
    return waste;
}

/* What the row of the capacity has in a column; NULL: nothing. */
static const char *cell (const report_t *report, const char *name)
{
    size_t section = SIZE_MAX, column = SIZE_MAX;

    for (size_t i = 0; i < report->column_count; i++) {
        if (!strcmp (report->column[i].name, "section"))
            section = i;
        if (!strcmp (report->column[i].name, name))
            column = i;
    }
    assert_true (section != SIZE_MAX && column != SIZE_MAX);
    for (size_t i = 0; i < report->row_count; i++)
        if (!strcmp (report_cell (report, i, section), "capacity"))
            return report_cell (report, i, column);
    fail_msg ("no row of capacity");
    return NULL;
}

/* The amounts of a month, next to those of the one before. */
static void check (int before, int now, const char *const want[3])
{
    static const char *const names[] = {"before", "amount", "change"};
    site_t *site = book_new ("UTC");
    report_query_t query = {.site = site};
    bill_t *earlier = month_of ("2026-09", before),
           *later = month_of ("2026-10", now);
    waste_report_t *first = waste_of (&query, "2026-09", earlier),
                   *second = waste_of (&query, "2026-10", later);
    cube_t *sums = waste_report_sums (first);
    report_t *report = waste_report_make (second, sums, "2026-09");

    for (size_t i = 0; i < 3; i++) {
        const char *got = cell (report, names[i]);
        if (want[i])
            assert_string_equal (got ? got : "(nothing)", want[i]);
        else
            assert_null (got);
    }
    report_free (report);
    cube_free (sums);
    waste_report_free (first);
    waste_report_free (second);
    bill_free (earlier);
    bill_free (later);
    site_free (site);
}

TEST_CASE (before__both_have_prices__the_change)
{
    check (250, 700, (const char *const[]){"2.50", "7.00", "4.50"});
}

TEST_CASE (before__a_pool_lost_its_price__no_amount)
{
    check (250, NO_PRICE, (const char *const[]){"2.50", NULL, NULL});
}

TEST_CASE (before__a_pool_got_a_price__nothing_of_the_month_before)
{
    check (NO_PRICE, 700, (const char *const[]){NULL, "7.00", NULL});
}

TEST_CASE (before__never_a_price__nothing)
{
    check (NO_PRICE, NO_PRICE, (const char *const[]){NULL, NULL, NULL});
}

TEST_CASE (before__a_price_of_0__is_a_price)
{
    check (250, 0, (const char *const[]){"2.50", "0.00", "-2.50"});
    check (0, 700, (const char *const[]){"0.00", "7.00", "7.00"});
}

/* --- rows of closings ------------------------------------------------------------- */

static void add_row (bill_t *rows, const char *cause, const char *team,
                     unsigned hours, unsigned units)
{
    bill_waste_t *row = bill_append (rows, BILL_WASTE);

    row->month = xstrdup ("2026-10");
    row->cause = cause ? xstrdup (cause) : NULL;
    row->pool = xstrdup ("p");
    row->team = xstrdup (team);
    mpq_set_ui (row->seconds, hours * 3600, 1);
    mpq_set (row->priced, row->seconds);
    mpz_set_ui (row->units, units);
}

static void add_job (bill_t *rows, const char *list, unsigned id,
                     unsigned units, const char *others)
{
    bill_wasteful_job_t *row = bill_append (rows, BILL_WASTEFUL_JOBS);

    row->month = xstrdup ("2026-10");
    row->list = list ? xstrdup (list) : NULL;
    row->cause = xstrdup ("failed");
    row->cluster = xstrdup ("lab");
    row->job = xasprintf ("%u", id);
    row->others = others ? xstrdup (others) : NULL;
    mpq_set_ui (row->seconds, 3600, 1);
    mpz_set_ui (row->units, units);
}

/* The cells of a column in rows of a section, with blanks between them. Yours. */
static char *cells (const report_t *report, const char *section,
                    const char *name)
{
    size_t kind = SIZE_MAX, column = SIZE_MAX;
    BUFFER_AUTO text = BUFFER_INIT;

    for (size_t i = 0; i < report->column_count; i++) {
        if (!strcmp (report->column[i].name, "section"))
            kind = i;
        if (!strcmp (report->column[i].name, name))
            column = i;
    }
    assert_true (kind != SIZE_MAX && column != SIZE_MAX);
    for (size_t i = 0; i < report->row_count; i++) {
        const char *cell = report_cell (report, i, column);
        if (!strcmp (report_cell (report, i, kind), section))
            buffer_printf (&text, "%s%s", text.length ? " " : "",
                           cell ? cell : "-");
    }
    return xstrdup (buffer_text (&text));
}

/* Two closed months, each with a part of the jobs. */
static report_t *report_of (const report_query_t *query, bill_t *first,
                            bill_t *second)
{
    waste_report_t *waste = waste_report_new (query);
    bill_t *bill = month_of ("2026-10", NO_PRICE);
    report_t *report;
    gl_error_t error;

    waste_report_begin_month (waste, query, "2026-10", bill);
    assert_int_equal (waste_report_take_rows (waste, first, &error), 0);
    waste_report_end_month (waste);
    waste_report_begin_month (waste, query, "2026-11", bill);
    assert_int_equal (waste_report_take_rows (waste, second, &error), 0);
    waste_report_end_month (waste);
    report = waste_report_make (waste, NULL, NULL);
    waste_report_free (waste);
    bill_free (bill);
    return report;
}

TEST_CASE (take_rows__two_closed_months__sums_and_the_largest_jobs_of_both)
{
    site_t *site = book_new ("UTC");
    report_query_t query = {.site = site, .by = {.id = {KEY_TEAM}, .count = 1}};
    bill_t *first = bill_new (), *second = bill_new ();
    report_t *report;

    add_row (first, NULL, "ann", 10, 0);
    add_row (first, "failed", "ann", 2, 500);
    add_row (first, "timeout", "bob", 1, 250);
    add_row (second, NULL, "ann", 6, 0);
    add_row (second, "failed", "ann", 2, 300);
    for (unsigned i = 1; i <= WASTE_JOBS; i++) {
        add_job (first, "failed", i, 10 * i, i == 9 ? "timeout=1800" : NULL);
        add_job (second, "failed", 20 + i, 10 * i + 5, NULL);
    }
    report = report_of (&query, first, second);
    {
        GL_AUTOFREE char *causes = cells (report, "jobs", "cause"),
                         *amounts = cells (report, "jobs", "amount"),
                         *hours = cells (report, "group", "wasted_gpu_hours"),
                         *all = cells (report, "group", "allocated_gpu_hours"),
                         *jobs = cells (report, "job", "job"),
                         *others = cells (report, "job", "other_causes");
        assert_string_equal (causes, "failed timeout");
        assert_string_equal (amounts, "8.00 2.50");
        assert_string_equal (hours, "4.000000 1.000000");
        assert_string_equal (all, "16.000000 -");
        assert_string_equal (jobs, "30 10 29 9 28 8 27 7 26 6");
        assert_string_equal (others, "- - - Jobs out of time: 0.50 hours "
                                     "- - - - - -");
    }
    report_free (report);
    site_free (site);
}

TEST_CASE (take_rows__cause_of_another_program__error)
{
    site_t *site = book_new ("UTC");
    report_query_t query = {.site = site};
    bill_t *bill = month_of ("2026-10", NO_PRICE), *rows = bill_new ();
    waste_report_t *waste = waste_report_new (&query);
    gl_error_t error;

    add_row (rows, "bored", "ann", 1, 1);
    waste_report_begin_month (waste, &query, "2026-10", bill);
    assert_int_equal (waste_report_take_rows (waste, rows, &error), -1);
    assert_non_null (strstr (error.text, "bored"));
    waste_report_free (waste);
    bill_free (bill);
    site_free (site);
}

TEST_CASE (rows__of_a_report_that_took_rows__the_same)
{
    site_t *site = book_new ("UTC");
    report_query_t query
        = {.site = site, .by = {.id = {KEY_TEAM, KEY_POOL}, .count = 2}};
    bill_t *bill = month_of ("2026-10", 100), *rows = bill_new (),
           *again = bill_new ();
    waste_report_t *waste = waste_report_new (&query);
    const bill_wasteful_job_t *job;
    const bill_waste_t *row;
    gl_error_t error;
    size_t count;

    add_row (rows, NULL, "ann", 10, 0);
    add_row (rows, "failed", "ann", 2, 500);
    add_job (rows, NULL, 7, 500, "failed=7200");
    add_job (rows, "failed", 7, 500, NULL);
    waste_report_begin_month (waste, &query, "2026-10", bill);
    assert_int_equal (waste_report_take_rows (waste, rows, &error), 0);
    waste_report_end_month (waste);
    waste_report_rows (waste, again);
    /* without the capacity of the bill */
    row = bill_waste (again, &count);
    assert_int_equal (count, 2);
    assert_null (row[0].cause);
    assert_string_equal (row[1].cause, "failed");
    assert_int_equal (mpz_get_ui (row[1].units), 500);
    job = bill_wasteful_jobs (again, &count);
    assert_int_equal (count, 2);
    assert_null (job[0].list);
    assert_string_equal (job[0].others, "failed=7200");
    assert_string_equal (job[1].list, "failed");
    waste_report_free (waste);
    bill_free (again);
    bill_free (bill);
    site_free (site);
}

TEST_MAIN (NULL, NULL)
