/* Prior-period adjustments in the chargeback of a month; and how it
 * comes about: lib/ledger/correction.c. */

#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "ledger/correction.h"
#include "statement/adjustments.h"
#include "support/book.h"

/* --- bills -------------------------------------------------------------- */

static void add (bill_t *bill, const char *text)
{
    gl_error_t error;

    if (posting_parse (text, strlen (text), bill_add (bill), &error) < 0)
        fail_msg ("%s: %s", text, error.text);
}

static bill_t *bill_of (const char *const *rows, size_t count)
{
    bill_t *bill = bill_new ();

    for (size_t i = 0; i < count; i++)
        add (bill, rows[i]);
    bill_sort (bill);
    return bill;
}

#define BILL(...)                                \
    bill_of ((const char *const[]){__VA_ARGS__}, \
             sizeof ((const char *const[]){__VA_ARGS__}) / sizeof (char *))

/* --- the column --------------------------------------------------------- */

enum { AT_TEAM, AT_CORRECTION, AT_CURRENCY };

/* Of a team that has a row, and its totals. */
static report_t *report_of (const report_query_t *query)
{
    report_t *report = report_new ("chargeback", "GPU chargeback");

    report_key_columns (report, query);
    report_measure (report, MEASURE_CORRECTION, true);
    report_measure (report, MEASURE_CURRENCY, false);
    report_row (report);
    report_put_text (report, AT_TEAM, "vision");
    report_totals (report);
    return report;
}

static report_query_t query_of (const site_t *site, key_id_t key)
{
    report_query_t query = {.site = site};

    query.by.id[query.by.count++] = key;
    return query;
}

static report_t *put (const report_query_t *query, const bill_t *bill)
{
    report_t *report = report_of (query);
    adjustments_t *adjustments = adjustments_new (query);

    adjustments_add (adjustments, bill, "2026-11");
    adjustments_put (adjustments, report, AT_CORRECTION, AT_CURRENCY);
    adjustments_free (adjustments);
    report_sort (report);
    return report;
}

static void check_row (const report_t *report, size_t row, const char *key,
                       const char *money)
{
    assert_string_equal (report_cell (report, row, AT_TEAM), key);
    assert_string_equal (report_cell (report, row, AT_CORRECTION), money);
    assert_string_equal (report_cell (report, row, AT_CURRENCY), "USD");
}

static void check_line (const report_t *report, size_t line, const char *label,
                        const char *money)
{
    assert_string_equal (report->proof[0].line[line][0], label);
    assert_string_equal (report->proof[0].line[line][1], money);
}

static bill_t *november (void)
{
    return BILL (
        "kind=charge\tmonth=2026-11\tpool=p\tteam=vision\tcharge=90000",
        "kind=credit\tmonth=2026-11\tpool=p\tteam=vision\twhat=NODE_FAIL\t"
        "reference=lab/1/2\tcharge=-1000",
        "kind=correction\tmonth=2026-10\tpool=p\tteam=vision\twhat=price\t"
        "charge=350\torigin=charge\tbefore_units=700\tafter_units=1050",
        "kind=correction\tmonth=2026-09\tpool=p\tteam=vision\twhat=price\t"
        "charge=50\torigin=charge\tbefore_units=700\tafter_units=750",
        "kind=correction\tmonth=2026-10\tpool=p\twhat=price\tcharge=-350\t"
        "origin=remainder:idle",
        "kind=correction\tmonth=2026-10\tteam=vision\twhat=manual\tcharge=-"
        "125\t"
        "reason=paid twice",
        "kind=credit\tmonth=2026-11\tteam=language\twhat=manual\tcharge=-2000\t"
        "reason=fabric failed",
        "kind=credit\tmonth=2026-10\tpool=p\tteam=language\taccount=nlp\t"
        "what=dispute\treference=2026-10/1\tcharge=-300\treason=right",
        "kind=tax\tmonth=2026-11\tteam=vision\twhat=vat\tcharge=77");
}

TEST_CASE (by_team__corrections_and_rows_by_hand__stand_in_its_rows)
{
    site_t *site = book_new ("UTC");
    report_query_t query = query_of (site, KEY_TEAM);
    bill_t *bill = november ();
    report_t *report = put (&query, bill);

    assert_int_equal (report->row_count, 2);
    check_row (report, 0, "language", "-23.00");
    check_row (report, 1, "vision", "2.75");
    assert_string_equal (report->total[AT_CORRECTION], "-20.25");
    assert_false (report->column[AT_CORRECTION].detail);
    report_free (report);
    bill_free (bill);
    site_free (site);
}

TEST_CASE (block__each_cause__a_line_and_their_sum)
{
    site_t *site = book_new ("UTC");
    report_query_t query = query_of (site, KEY_TEAM);
    bill_t *bill = november ();
    report_t *report = put (&query, bill);

    assert_int_equal (report->proof_count, 1);
    assert_true (report->proof[0].holds);
    assert_int_equal (report->proof[0].line_count, 6);
    check_line (report, 0, "language: credit of a dispute, of 2026-10",
                "-3.00");
    check_line (report, 1, "language: manual credit, of 2026-11", "-20.00");
    check_line (report, 2, "vision: another price, of 2026-09", "0.50");
    check_line (report, 3, "vision: another price, of 2026-10", "3.50");
    check_line (report, 4, "vision: manual correction, of 2026-10", "-1.25");
    check_line (report, 5, "together", "-20.25");
    report_free (report);
    bill_free (bill);
    site_free (site);
}

TEST_CASE (by_day__rows_of_a_bill_have_none__the_block_alone)
{
    site_t *site = book_new ("UTC");
    report_query_t query = query_of (site, KEY_DAY);
    bill_t *bill = november ();
    report_t *report = put (&query, bill);

    assert_int_equal (report->row_count, 1);
    assert_null (report_cell (report, 0, AT_CORRECTION));
    assert_null (report->total[AT_CORRECTION]);
    assert_true (report->column[AT_CORRECTION].detail);
    assert_string_equal (report->named_total[0].value, "-20.25");
    report_free (report);
    bill_free (bill);
    site_free (site);
}

TEST_CASE (filter__other_teams__are_left_out)
{
    char *names[] = {(char *)"language"};
    usage_filter_t filter = {.key = KEY_TEAM, .values = {names, 1}};
    site_t *site = book_new ("UTC");
    report_query_t query = query_of (site, KEY_MONTH);
    bill_t *bill = november ();
    report_t *report;

    query.filters = &filter;
    query.filter_count = 1;
    report = put (&query, bill);
    check_row (report, 0, "2026-11", "-23.00");
    report_free (report);
    bill_free (bill);
    site_free (site);
}

TEST_CASE (nothing__is_brought__no_column_and_no_block)
{
    site_t *site = book_new ("UTC");
    report_query_t query = query_of (site, KEY_TEAM);
    bill_t *bill = BILL ("kind=charge\tmonth=2026-11\tteam=vision\tcharge=9",
                         "kind=credit\tmonth=2026-11\tteam=vision\t"
                         "what=NODE_FAIL\treference=lab/1/2\tcharge=-1");
    report_t *report = put (&query, bill);

    assert_int_equal (report->proof_count, 0);
    assert_int_equal (report->named_total_count, 0);
    assert_true (report->column[AT_CORRECTION].detail);
    report_free (report);
    bill_free (bill);
    site_free (site);
}

/* --- corrections -------------------------------------------------------- */

static correction_cause_t price_changed (const posting_t *change, void *arg)
{
    (void)change;
    ++*(size_t *)arg;
    return CAUSE_PRICE;
}

/* The rows of `before` and the corrections are `after`; how many these are. */
static size_t compare (const bill_t *before, const bill_t *after, bill_t *out)
{
    bill_t *all = bill_new (), *none = bill_new ();
    size_t asked = 0, count, more;
    const posting_t *rows;

    correction_compare (before, after, price_changed, &asked, out);
    rows = postings (before, &count);
    for (size_t i = 0; i < count; i++)
        bill_add_copy (all, &rows[i]);
    rows = postings (out, &count);
    for (size_t i = 0; i < count; i++)
        bill_add_copy (all, &rows[i]);
    bill_sort (all);
    correction_compare (all, after, price_changed, &asked, none);
    postings (none, &more);
    assert_int_equal (more, 0);
    assert_int_equal (asked, count);
    bill_free (all);
    bill_free (none);
    return count;
}

TEST_CASE (compare__a_line_changed_gone_and_new__three_corrections)
{
    bill_t *before = BILL (
        "kind=charge\tmonth=2026-10\tpool=p\tteam=a\taccount=x\texact=7\t"
        "list=700\tcharge=700",
        "kind=charge\tmonth=2026-10\tpool=p\tteam=a\taccount=y\texact=2\t"
        "list=200\tcharge=200",
        "kind=tax\tmonth=2026-10\tteam=a\tcharge=9",
        "kind=credit\tmonth=2026-10\tteam=a\tcharge=-5\treason=by hand");
    bill_t *after = BILL (
        "kind=charge\tmonth=2026-10\tpool=p\tteam=a\taccount=x\texact=21/2\t"
        "list=1050\tcharge=1050",
        "kind=charge\tmonth=2026-10\tpool=p\tteam=b\taccount=y\texact=2\t"
        "list=200\tcharge=200");
    bill_t *out = bill_new ();
    size_t count;
    const posting_t *rows;

    assert_int_equal (compare (before, after, out), 3);
    bill_sort (out);
    rows = postings (out, &count);
    assert_int_equal (mpz_cmp_si (rows[0].charge_units, 350), 0);
    assert_int_equal (mpz_cmp_si (posting_extra (&rows[0])->before_units, 700),
                      0);
    assert_int_equal (mpz_cmp_si (posting_extra (&rows[0])->after_units, 1050),
                      0);
    assert_int_equal (mpq_cmp_si (rows[0].exact, 7, 2), 0);
    assert_string_equal (rows[0].origin, "charge");
    assert_string_equal (rows[0].what, "price");
    assert_string_equal (rows[1].key[0], "y");
    assert_int_equal (mpz_cmp_si (rows[1].charge_units, -200), 0);
    assert_string_equal (rows[2].team, "b");
    assert_int_equal (mpz_cmp_si (rows[2].charge_units, 200), 0);
    bill_free (before);
    bill_free (after);
    bill_free (out);
}

/* A credit is corrected as what it was. */
TEST_CASE (compare__a_credit_that_is_gone__its_origin_says_so)
{
    bill_t *before
        = BILL ("kind=credit\tmonth=2026-10\tpool=p\tteam=a\twhat=NODE_FAIL\t"
                "reference=lab/1/2\tprice_seconds=-9\tlist=-30\tcharge=-30");
    bill_t *after = bill_new (), *out = bill_new ();
    posting_t line;
    size_t count;

    assert_int_equal (compare (before, after, out), 1);
    assert_string_equal (postings (out, &count)->origin, "credit:NODE_FAIL");
    posting_init (&line);
    correction_line (postings (out, &count), &line);
    assert_int_equal (line.kind, BILL_CREDIT);
    assert_string_equal (line.what, "NODE_FAIL");
    assert_null (line.origin);
    posting_clear (&line);
    bill_free (before);
    bill_free (after);
    bill_free (out);
}

/* Closed before drawn seconds were kept: that is no change; another amount is. */
TEST_CASE (cause__each_word__has_a_text)
{
    for (int i = 0; i < CAUSE_COUNT; i++)
        assert_non_null (correction_cause_text (
            correction_cause_word ((correction_cause_t)i)));
    assert_null (correction_cause_text ("bribe"));
    assert_null (correction_cause_text (NULL));
}

TEST_MAIN (NULL, NULL)
