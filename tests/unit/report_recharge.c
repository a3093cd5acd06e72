/* The pack of a recharge centre, on figures that can be done by hand. */
#include <stdio.h>

#include "support/book.h"

#include "statement/recharge.h"

/* 12 rows of a twelfth of the revenue and the hours each, and a tax that is
 * none of the centre's. */
static bill_t *bill_of (int first_month, int64_t cents, int64_t seconds)
{
    bill_t *bill = bill_new ();

    for (int i = 0; i < 12; i++) {
        int month = (first_month - 1 + i) % 12 + 1;
        int year = 2025 + (first_month - 1 + i) / 12;
        for (int kind = BILL_CHARGE; kind < BILL_KIND_COUNT; kind++) {
            posting_t *row;
            if (kind != BILL_CHARGE && kind != BILL_TAX
                && kind != BILL_REMAINDER)
                continue;
            row = bill_add (bill);
            row->kind = (bill_kind_t)kind;
            row->month = xasprintf ("%04d-%02d", year, month);
            row->pool = xstrdup ("p");
            mpz_set_si (row->charge_units,
                        (i + 1) * cents / 12 - i * cents / 12);
            exact_set_i64 (row->price_seconds, seconds, 12);
        }
    }
    return bill;
}

static const char *cell_of (const report_t *report, const char *section,
                            const char *item, const char *column)
{
    size_t at = 0, of_section = 0, of_item = 0;

    for (size_t i = 0; i < report->column_count; i++) {
        if (!strcmp (report->column[i].name, column))
            at = i;
        if (!strcmp (report->column[i].name, "section"))
            of_section = i;
        if (!strcmp (report->column[i].name, "item"))
            of_item = i;
    }
    for (size_t row = 0; row < report->row_count; row++) {
        if (!strcmp (report_cell (report, row, of_section), section)
            && !strcmp (report_cell (report, row, of_item), item)) {
            const char *text = report_cell (report, row, at);
            return text ? text : "";
        }
    }
    fail_msg ("no row %s, %s", section, item);
    return NULL;
}

static void check_cell (const report_t *report, const char *section,
                        const char *item, const char *column,
                        const char *expected)
{
    assert_string_equal (cell_of (report, section, item, column), expected);
}

static size_t count_notes (const report_t *report, const char *text)
{
    size_t count = 0;

    for (size_t i = 0; i < report->note_count; i++)
        count += strstr (report->note[i].text, text) != NULL;
    return count;
}

/* What the i-th month of a year has of an amount, in whole cents. */
static void part_of_year (int64_t amount, int month, mpq_t ret_part)
{
    int64_t cents = amount * 100;

    exact_set_i64 (ret_part,
                   cents * (month + 1) / 12 - cents * month / 12, 100);
}

/* The twelve months of the year from 2025-07 on. */
static void add_costs (recharge_t *recharge, int64_t full, int64_t recoverable)
{
    mpq_t a, b;

    mpq_inits (a, b, NULL);
    for (int i = 0; i < 12; i++) {
        char *month = xasprintf ("%04d-%02d", 2025 + (6 + i) / 12,
                                 (6 + i) % 12 + 1);
        part_of_year (full, i, a);
        part_of_year (recoverable, i, b);
        recharge_add_cost (recharge, "p", month, a, b);
        free (month);
    }
    mpq_clears (a, b, NULL);
}

/* A year that begins in July: 12 months from 2025-07 are the year 2026. */
static report_t *make (site_t *site, int64_t revenue, int64_t full,
                       int64_t recoverable, const char *next_cost,
                       const char *next_hours)
{
    report_cluster_t cluster
        = {.name = "lab", .as_of = book_instant (site, 2026, 8, 1, 0)};
    report_query_t query
        = {.site = site, .clusters = &cluster, .cluster_count = 1};
    recharge_forecast_t forecast = {NULL, NULL};
    bill_t *bill = bill_of (7, revenue * 100, INT64_C (200000) * 3600);
    recharge_t *recharge;
    report_t *report;
    mpq_t cost, hours;

    query.period = recharge_year_period (site, 2026);
    if (next_cost) {
        book_number (cost, next_cost);
        book_number (hours, next_hours);
        forecast = (recharge_forecast_t){cost, hours};
    }
    recharge = recharge_new (&query, &forecast);
    recharge_add_bill (recharge, bill, NULL);
    add_costs (recharge, full, recoverable);
    report = recharge_make (recharge);
    recharge_free (recharge);
    bill_free (bill);
    if (next_cost)
        mpq_clears (cost, hours, NULL);
    return report;
}

static site_t *new_site (void)
{
    site_t *site = book_new ("America/New_York");

    book_pool (site, "p", "n1", 8);
    site->fiscal_month = 7;
    return site;
}

TEST_CASE (recharge_year__from_july__is_named_after_its_end)
{
    site_t *site = new_site ();
    period_t year = recharge_year_period (site, 2026);

    assert_int_equal (year.start, book_instant (site, 2025, 7, 1, 0));
    assert_int_equal (year.end, book_instant (site, 2026, 7, 1, 0));
    assert_int_equal (recharge_year_of (site, year.start - 1), 2025);
    assert_int_equal (recharge_year_of (site, year.start), 2026);
    assert_int_equal (recharge_year_of (site, year.end - 1), 2026);
    site->fiscal_month = 1;
    assert_int_equal (recharge_year_of (site, year.start), 2025);
    site_free (site);
}

/* The worked example: expense 800,000, revenue 776,000, next year 820,000 for
 * 220,000 hours. */
TEST_CASE (recharge__a_deficit__is_carried_into_the_next_rate)
{
    site_t *site = new_site ();
    report_t *report
        = make (site, 776000, 800000, 800000, "820000", "220000");

    check_cell (report, "balance", "balance", "year", "2026");
    check_cell (report, "balance", "balance", "months", "12");
    check_cell (report, "balance", "balance", "revenue", "776000.00");
    check_cell (report, "balance", "balance", "recoverable_cost", "800000.00");
    check_cell (report, "balance", "balance", "balance", "-24000.00");
    check_cell (report, "balance", "balance", "percent", "-3.00");
    check_cell (report, "balance", "balance", "finding", "in the band");
    check_cell (report, "balance", "balance", "gpu_hours", "200000.000000");
    check_cell (report, "next", "rate with the balance", "per_gpu_hour",
                "3.8364");
    check_cell (report, "next", "rate with the balance", "note",
                "3.836364; cost as given, hours as given");
    check_cell (report, "next", "rate with the balance", "year", "2027");
    report_free (report);
    site_free (site);
}

/* What others paid for is no expense of the rates: the same revenue is then a
 * surplus, beyond the band, that lowers the rate. */
TEST_CASE (recharge__a_federal_share__is_excluded)
{
    site_t *site = new_site ();
    report_t *report = make (site, 776000, 800000, 600000, NULL, NULL);

    check_cell (report, "balance", "balance", "full_cost", "800000.00");
    check_cell (report, "balance", "balance", "excluded", "200000.00");
    check_cell (report, "balance", "balance", "balance", "176000.00");
    check_cell (report, "balance", "balance", "percent", "29.33");
    check_cell (report, "balance", "balance", "finding", "outside the band");
    check_cell (report, "check", "recovery stays in the band", "finding",
                "look");
    check_cell (report, "check", "charges are made of recoverable cost",
                "finding", "look");
    check_cell (report, "next", "rate with the balance", "per_gpu_hour",
                "2.1200");
    report_free (report);
    site_free (site);
}

/* Nothing is charged in the two last months of the year; they cost as much as any
 * other: (240,000 - 0) / 100,000 hours if revenue is 240,000, of which ten months
 * are 200,000. */
TEST_CASE (recharge__months_without_jobs__count_with_their_cost)
{
    site_t *site = new_site ();
    report_cluster_t cluster
        = {.name = "lab", .as_of = book_instant (site, 2026, 8, 1, 0)};
    report_query_t query
        = {.site = site, .clusters = &cluster, .cluster_count = 1,
           .period = recharge_year_period (site, 2026)};
    recharge_forecast_t forecast = {NULL, NULL};
    recharge_t *recharge = recharge_new (&query, &forecast);
    bill_t *bill = bill_new ();
    report_t *report;
    mpq_t cost, none;

    mpq_inits (cost, none, NULL);
    mpq_set_ui (cost, 20000, 1);
    for (int i = 0; i < 10; i++) {
        posting_t *row = bill_add (bill);
        row->kind = BILL_CHARGE;
        row->month = xasprintf ("%04d-%02d", 2025 + (6 + i) / 12,
                                (6 + i) % 12 + 1);
        row->pool = xstrdup ("p");
        mpz_set_ui (row->charge_units, 2400000);
        mpq_set_ui (row->price_seconds, 36000000, 1);
    }
    recharge_add_bill (recharge, bill, NULL);
    add_costs (recharge, 240000, 240000);
    recharge_add_cost (recharge, "bare", "2026-06", none, none);
    report = recharge_make (recharge);
    check_cell (report, "balance", "balance", "pool", "p");
    check_cell (report, "balance", "balance", "months", "12");
    check_cell (report, "balance", "balance", "full_cost", "240000.00");
    check_cell (report, "balance", "balance", "balance", "0.00");
    check_cell (report, "next", "rate with the balance", "per_gpu_hour",
                "2.4000");
    report_free (report);
    recharge_free (recharge);
    bill_free (bill);
    mpq_clears (cost, none, NULL);
    site_free (site);
}

/* Grants lower the revenue; prepaid money moves it to where it is charged. */
TEST_CASE (recharge__settlement__revenue_is_what_is_charged)
{
    static const struct {
        bill_kind_t kind;
        const char *pool, *what, *origin;
        long units;
    } rows[] = {
        {BILL_CHARGE, "p", NULL, NULL, 10000},
        {BILL_SETTLEMENT, "p", "grant", NULL, -1000},
        {BILL_REMAINDER, "p", "granted", NULL, 1000},
        {BILL_SETTLEMENT, "p", "prepaid", NULL, -4000},
        {BILL_CORRECTION, "p", "late_job", "settlement:prepaid", -50},
        {BILL_SETTLEMENT, NULL, "prepaid", NULL, 20000},
        {BILL_SETTLEMENT, NULL, "fee", NULL, 4000},
        {BILL_SERVICE, NULL, "storage", NULL, 700},
    };
    site_t *site = new_site ();
    report_cluster_t cluster
        = {.name = "lab", .as_of = book_instant (site, 2026, 8, 1, 0)};
    report_query_t query = {.site = site,
                            .clusters = &cluster,
                            .cluster_count = 1,
                            .period = recharge_year_period (site, 2026)};
    recharge_forecast_t forecast = {NULL, NULL};
    recharge_t *recharge = recharge_new (&query, &forecast);
    bill_t *bill = bill_new ();
    report_t *report;

    for (size_t i = 0; i < GL_ARRAY_SIZE (rows); i++) {
        posting_t *row = bill_add (bill);
        row->kind = rows[i].kind;
        row->month = xstrdup ("2025-07");
        row->pool = xstrdup (rows[i].pool);
        row->what = xstrdup (rows[i].what);
        row->origin = xstrdup (rows[i].origin);
        mpz_set_si (row->charge_units, rows[i].units);
    }
    recharge_add_bill (recharge, bill, NULL);
    add_costs (recharge, 240000, 240000);
    report = recharge_make (recharge);
    check_cell (report, "balance", "balance", "revenue", "90.00");
    assert_int_equal (count_notes (report, "no pool"), 1);
    assert_int_equal (
        count_notes (report, "40.00 USD of fees and minimum charges"), 1);
    report_free (report);
    recharge_free (recharge);
    bill_free (bill);
    site_free (site);
}

TEST_CASE (recharge__a_band_of_ten_percent__is_in_it)
{
    site_t *site = new_site ();
    report_t *report = make (site, 880000, 800000, 800000, NULL, NULL);

    check_cell (report, "balance", "balance", "finding", "in the band");
    report_free (report);
    report = make (site, 880012, 800000, 800000, NULL, NULL);
    check_cell (report, "balance", "balance", "finding", "outside the band");
    report_free (report);
    site_free (site);
}

/* ---- checks ---- */

static void check_finding (site_t *site, const char *check,
                           const char *expected)
{
    report_t *report = make (site, 800000, 800000, 800000, NULL, NULL);

    check_cell (report, "check", check, "finding", expected);
    report_free (report);
}

/* What it says is to be looked at. */
static void check_note (site_t *site, const char *check, const char *expected)
{
    report_t *report = make (site, 800000, 800000, 800000, NULL, NULL);

    check_cell (report, "check", check, "note", expected);
    report_free (report);
}

static site_rate_t *add_rate (site_t *site, const char *qos, const char *price,
                              int year)
{
    site_rate_t *rate = book_rate (site, "p", qos, price, MIG_MAX);

    rate->approved_by = xstrdup ("board");
    rate->note = xstrdup ("yearly review");
    rate->valid.start = book_instant (site, year, 7, 1, 0);
    return rate;
}

TEST_CASE (recharge_checks__of_rates__find_what_differs)
{
    site_t *site = new_site ();

    add_rate (site, NULL, "4", 2025);
    check_finding (site, "one rate for every QOS", "holds");
    check_finding (site, "rates are looked at every two years", "holds");
    check_finding (site, "each rate has an approver and a reason", "holds");
    check_finding (site, "no discount by volume", "holds");
    add_rate (site, "same", "4", 2025);
    check_finding (site, "one rate for every QOS", "holds");
    add_rate (site, "urgent", "6", 2025);
    check_finding (site, "one rate for every QOS", "look");
    check_note (site, "one rate for every QOS",
                "p: a rate of its own for QOS same; "
                "p: a rate of its own for QOS urgent");
    free (site->rates[2].note);
    site->rates[2].note = NULL;
    check_finding (site, "each rate has an approver and a reason", "look");
    site_free (site);
}

static void add_qos (site_t *site, const char *name, const char *multiplier,
                     const char *subsidy)
{
    site_qos_t *qos = BOOK_NEW (site->qos, site->qos_count);

    qos->name = xstrdup (name);
    book_number (qos->multiplier, multiplier);
    book_number (qos->subsidy, subsidy);
    qos->valid = book_always;
}

TEST_CASE (recharge_checks__of_qos__name_who_pays_otherwise)
{
    static const char check[] = "no premium or discount by QOS";
    site_t *site = new_site ();

    add_rate (site, NULL, "4", 2025);
    add_qos (site, "normal", "1", "0");
    check_finding (site, check, "holds");
    add_qos (site, "high", "1.5", "0");
    add_qos (site, "scavenge", "1", "0.5");
    check_note (site, check, "QOS high costs more; QOS scavenge costs less");
    site_free (site);
}

/* 24 months on the last day of the year are enough, a day more is too old. */
TEST_CASE (recharge_checks__of_old_rates__count_24_months)
{
    site_t *site = new_site ();
    site_rate_t *rate = add_rate (site, NULL, "4", 2024);

    check_finding (site, "rates are looked at every two years", "holds");
    rate->valid.start -= 86400;
    check_finding (site, "rates are looked at every two years", "look");
    rate->valid.end = book_instant (site, 2026, 1, 1, 0);
    check_finding (site, "rates are looked at every two years", "holds");
    site_free (site);
}

TEST_CASE (recharge_checks__of_funding__want_the_federal_part_out)
{
    site_t *site = new_site ();
    site_asset_t *asset = book_asset (site, "p", "1", "800000", "0",
                                      (civil_t){2025, 7, 1, 0, 0, 0}, 60);

    book_funding (&asset->funding, "Federal award 1234", "100%");
    mpq_set_ui (asset->recoverable, 1, 1);
    check_finding (site, "what others paid for is in no rate", "look");
    mpq_set_ui (asset->recoverable, 0, 1);
    check_finding (site, "what others paid for is in no rate", "holds");
    site_free (site);
}

/* 60 % of an asset and all of a cost are of a federal award. */
TEST_CASE (recharge__funds__exclude_what_the_federal_one_pays)
{
    static const char check[] = "what others paid for is in no rate";
    site_t *site = new_site ();
    site_asset_t *asset = book_asset (site, "p", "1", "800000", "0",
                                      (civil_t){2025, 7, 1, 0, 0, 0}, 60);
    site_cost_t *cost = book_cost (site, "p", "fabric", "5", COST_PER_MONTH);
    report_t *report;

    book_funding (&asset->funding, "federal", "60%");
    book_funding (&asset->funding, "institutional", "40%");
    book_funding (&cost->funding, "federal", "100%");
    check_finding (site, check, "look");
    book_fund (site, "federal", "0");
    report = make (site, 800000, 800000, 800000, NULL, NULL);
    check_cell (report, "check", check, "finding", "holds");
    check_cell (report, "excluded", "asset", "percent", "0.00");
    check_cell (report, "excluded", "asset", "note", "60 % federal");
    check_cell (report, "excluded", "fabric", "note", "federal");
    report_free (report);
    site_free (site);
}

TEST_MAIN (NULL, NULL)
