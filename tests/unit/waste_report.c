/* Amounts of waste next to last month's: what has no price has no amount, and no change. */
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

TEST_MAIN (NULL, NULL)
