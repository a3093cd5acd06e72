#include "support/book.h"

#include "money/cost.h"

#define HOUR 3600

static void check_amount (const site_t *site, period_t period, int digits,
                          const char *expected)
{
    mpq_t amount;

    mpq_init (amount);
    cost_of_asset (site, &site->assets[0], period, NULL, amount);
    book_check (amount, digits, expected);
    mpq_clear (amount);
}

/* Cost-model, section 5. */
TEST_CASE (cost_of_asset__five_years_by_day__as_published)
{
    site_t *site = book_new ("America/New_York");
    period_t life;

    book_asset (site, "p", "1", "53125", "5312.50",
                (civil_t){2026, 3, 10, 0, 0, 0}, 60);
    check_amount (site, book_month (site, 2026, 2), 2, "0.00");
    check_amount (site, book_month (site, 2026, 3), 2, "576.05");
    check_amount (site, book_month (site, 2026, 4), 2, "785.53");
    check_amount (site, book_month (site, 2026, 5), 2, "811.71");
    /* its clock shows 02:00 twice in this month */
    check_amount (site, book_month (site, 2026, 11), 2, "785.53");
    /* 9 of 1,826 days in the last month */
    check_amount (site, book_month (site, 2031, 3), 2, "235.66");
    check_amount (site, book_month (site, 2031, 4), 2, "0.00");
    life = (period_t){book_instant (site, 2020, 1, 1, 0),
                      book_instant (site, 2040, 1, 1, 0)};
    check_amount (site, life, 6, "47812.500000");
    site_free (site);
}

TEST_CASE (cost_of_asset__days_of_23_and_25_hours__bear_one_day)
{
    site_t *site = book_new ("Europe/Oslo");
    period_t day;

    /* 366 a day */
    book_asset (site, "p", "2", "66795", "0", (civil_t){2026, 1, 1, 0, 0, 0},
                12);
    day = zone_unit (site->zone, CALENDAR_DAY,
                     book_instant (site, 2026, 3, 29, 12));
    assert_int_equal (period_seconds (day), 23 * HOUR);
    check_amount (site, day, 4, "366.0000");
    day.end = day.start + 23 * HOUR / 2;
    check_amount (site, day, 4, "183.0000");
    day = zone_unit (site->zone, CALENDAR_DAY,
                     book_instant (site, 2026, 10, 25, 12));
    assert_int_equal (period_seconds (day), 25 * HOUR);
    check_amount (site, day, 4, "366.0000");
    day.start += 5 * HOUR;
    check_amount (site, day, 4, "292.8000");
    site_free (site);
}

/* Clocks go from 24:00 to 01:00: the day has no midnight. */
TEST_CASE (cost_of_asset__a_day_without_midnight__bears_one_day)
{
    site_t *site = book_new ("America/Santiago");
    period_t day = zone_unit (site->zone, CALENDAR_DAY,
                              book_instant (site, 2026, 9, 6, 12));

    book_asset (site, "p", "2", "66795", "0", (civil_t){2026, 1, 1, 0, 0, 0},
                12);
    assert_int_equal (zone_civil (site->zone, day.start).hour, 1);
    assert_int_equal (period_seconds (day), 23 * HOUR);
    check_amount (site, day, 4, "366.0000");
    day = zone_unit (site->zone, CALENDAR_DAY, day.start - 1);
    check_amount (site, day, 4, "366.0000");
    site_free (site);
}

static void check_line (const cost_t *cost, size_t i, cost_kind_t kind,
                        const char *name, int digits, const char *expected)
{
    assert_in_range (i, 0, cost->count - 1);
    assert_int_equal (cost->line[i].kind, kind);
    assert_string_equal (cost->line[i].name, name);
    book_check (cost->line[i].amount, digits, expected);
}

static void compute (const site_t *site, period_t period, const char *hours,
                     cost_t *cost)
{
    cost_inputs_t inputs = {.count = 0};
    cost_use_t *use = cost_inputs_add (&inputs, "p", period);
    gl_error_t error;

    mpq_clear (use->allocated);
    book_number (use->allocated, hours);
    exact_add_scaled (use->allocated, use->allocated, 3599, 1);
    if (cost_of_pool (site, "p", period, &inputs, cost, &error) < 0)
        fail_msg ("%s", error.text);
    cost_inputs_clear (&inputs);
}

TEST_CASE (cost_of_pool__staff__is_a_twelfth_a_month)
{
    site_t *site = book_new ("America/New_York");
    period_t march;
    cost_t cost;

    cost_init (&cost);
    book_pool (site, "p", "n[1-8]", 8);
    book_staff (site, "p", "1.5", "250000", "100%");
    book_staff (site, "p", "1", "120000", "25%");
    book_staff (site, "other", "9", "900000", "100%");
    /* 1.5 x 250000 / 12 + 0.25 x 120000 / 12, in short and long months */
    compute (site, book_month (site, 2026, 2), "0", &cost);
    check_line (&cost, 0, COST_STAFF, "staff", 2, "33750.00");
    march = book_month (site, 2026, 3);
    compute (site, march, "0", &cost);
    check_line (&cost, 0, COST_STAFF, "staff", 2, "33750.00");
    /* the first 24 hours of a month of 743: 1090.1750, booked in whole cents */
    march.end = march.start + 24 * HOUR;
    compute (site, march, "0", &cost);
    check_line (&cost, 0, COST_STAFF, "staff", 4, "1090.1700");
    /* leaves at the middle of February */
    site->staff[0].valid.end = book_instant (site, 2026, 2, 15, 0);
    compute (site, book_month (site, 2026, 2), "0", &cost);
    check_line (&cost, 0, COST_STAFF, "staff", 2, "18125.00");
    cost_clear (&cost);
    site_free (site);
}

/* By hand, June 2026 of 720 hours: 120,000 / 12, half of it federal, and 60,000 / 12 of
 * whom it is not told; 8 x 500 W x 1.25 = 5 kW: 3,600 kWh x 0.10, 5 x 4 of demand and
 * a fee of 100, a quarter of each federal. */
TEST_CASE (cost_of_pool__funds__pay_staff_and_power)
{
    static const struct {
        const char *name;
        const char *fund;
        const char *amount;
    } rates[] = {{"staff", NULL, "5000.00"},
                 {"staff", "inst", "5000.00"},
                 {"power", "inst", "270.00"},
                 {"power demand", "inst", "15.00"},
                 {"power fee", "inst", "75.00"}},
      apart[] = {{"staff", "federal", "5000.00"},
                 {"power", "federal", "90.00"},
                 {"power demand", "federal", "5.00"},
                 {"power fee", "federal", "25.00"}};
    site_t *site = book_new ("UTC");
    site_tariff_t *tariff;
    cost_t cost;

    cost_init (&cost);
    book_pool (site, "p", "n1", 8);
    book_fund (site, "federal", "0");
    book_fund (site, "inst", "1");
    book_funding (&book_staff (site, "p", "1", "120000", "100%")->funding,
                  "federal", "50%");
    book_funding (&site->staff[0].funding, "inst", "50%");
    book_staff (site, "p", "0.5", "120000", "100%");
    book_power (site, "p", "500", "1.25", "grid");
    tariff = book_tariff (site, "grid", "0.10");
    mpq_set_ui (tariff->demand_per_kw, 4, 1);
    mpq_set_ui (tariff->fixed_per_month, 100, 1);
    book_funding (&tariff->funding, "federal", "25%");
    book_funding (&tariff->funding, "inst", "75%");
    site->policy.book = BOOK_RECOVERABLE;
    compute (site, book_month (site, 2026, 6), "0", &cost);
    assert_int_equal (cost.count, GL_ARRAY_SIZE (rates));
    for (size_t i = 0; i < cost.count; i++) {
        check_line (&cost, i, i < 2 ? COST_STAFF : COST_POWER, rates[i].name,
                    2, rates[i].amount);
        if (rates[i].fund)
            assert_string_equal (cost.line[i].fund, rates[i].fund);
        else
            assert_null (cost.line[i].fund);
    }
    assert_int_equal (cost.apart_count, GL_ARRAY_SIZE (apart));
    for (size_t i = 0; i < cost.apart_count; i++) {
        assert_string_equal (cost.apart[i].name, apart[i].name);
        assert_string_equal (cost.apart[i].fund, apart[i].fund);
        book_check (cost.apart[i].amount, 2, apart[i].amount);
    }
    assert_int_equal (cost.line[0].entry, cost.line[1].entry);
    assert_int_not_equal (cost.line[1].entry, cost.line[2].entry);
    book_check (cost.full, 2, "15480.00");
    book_check (cost.recoverable, 2, "10360.00");
    cost_clear (&cost);
    site_free (site);
}

/* A tariff that somebody else pays from the 16th on: two lines, by whom. */
TEST_CASE (cost_of_pool__a_tariff_with_another_payer__two_lines)
{
    site_t *site = book_new ("UTC");
    int64_t change = book_instant (site, 2026, 6, 16, 0);
    cost_t cost;

    cost_init (&cost);
    book_pool (site, "p", "n1", 8);
    book_power (site, "p", "500", "1.25", "grid");
    book_tariff (site, "grid", "0.10")->valid.end = change;
    book_tariff (site, "grid", "0.20")->valid.start = change;
    compute (site, book_month (site, 2026, 6), "0", &cost);
    assert_int_equal (cost.count, 1);
    check_line (&cost, 0, COST_POWER, "power", 2, "540.00");
    book_funding (&site->tariffs[1].funding, "federal", "100%");
    compute (site, book_month (site, 2026, 6), "0", &cost);
    assert_int_equal (cost.count, 2);
    check_line (&cost, 0, COST_POWER, "power", 2, "180.00");
    check_line (&cost, 1, COST_POWER, "power", 2, "360.00");
    assert_string_equal (cost.line[1].fund, "federal");
    cost_clear (&cost);
    site_free (site);
}

TEST_CASE (cost_of_pool__staff__shows_neither_name_nor_pay)
{
    site_t *site = book_new ("UTC");
    cost_t cost;

    cost_init (&cost);
    book_pool (site, "p", "n1", 8);
    book_staff (site, "p", "1.5", "251234", "100%");
    compute (site, book_month (site, 2026, 2), "0", &cost);
    assert_int_equal (cost.count, 1);
    assert_null (strstr (cost.line[0].how, "Ada"));
    assert_null (strstr (cost.line[0].how, "251234"));
    assert_null (strstr (cost.line[0].how, "1.5"));
    cost_clear (&cost);
    site_free (site);
}

/* docs/guides/cost-book.md: 0.56 kW x PUE 1.3, 2 h at 0.18 and 2 h at 0.08. */
TEST_CASE (cost_of_pool__power__is_cut_at_every_change)
{
    site_t *site = book_new ("UTC");
    int64_t t = book_instant (site, 2026, 5, 4, 0);
    period_t four = {t, t + 4 * HOUR};
    site_pool_t *more;
    cost_t cost;

    cost_init (&cost);
    book_pool (site, "p", "n1", 1);
    book_power (site, "p", "560", "1.3", "k");
    book_tariff (site, "k", "0.18")->valid.end = t + 2 * HOUR;
    book_tariff (site, "k", "0.08")->valid.start = t + 2 * HOUR;
    compute (site, four, "0", &cost);
    check_line (&cost, 0, COST_POWER, "power", 4, "0.3786");
    assert_string_equal (cost.line[0].how,
                         "560 W x 1 GPUs x 7200 s x PUE 1.3 x 0.18 per kWh; "
                         "560 W x 1 GPUs x 7200 s x PUE 1.3 x 0.08 per kWh");
    /* a better PUE for the last hour: 0.728 kW at 0.18 for 2 h and at 0.08 for
     * 1 h, 0.616 kW at 0.08 for 1 h */
    site->power[0].valid.end = t + 3 * HOUR;
    book_power (site, "p", "560", "1.1", "k")->valid.start = t + 3 * HOUR;
    compute (site, four, "0", &cost);
    check_line (&cost, 0, COST_POWER, "power", 4, "0.3696");
    /* and three GPUs instead of one in that hour */
    site->pools[0].valid.end = t + 3 * HOUR;
    more = book_pool (site, "p", "n[1-3]", 1);
    more->valid.start = t + 3 * HOUR;
    compute (site, four, "0", &cost);
    check_line (&cost, 0, COST_POWER, "power", 4, "0.4682");
    cost_clear (&cost);
    site_free (site);
}

TEST_CASE (cost_of_pool__a_gap_in_the_tariff__is_an_error)
{
    site_t *site = book_new ("UTC");
    period_t month = book_month (site, 2026, 5);
    gl_error_t error;
    cost_t cost;

    cost_init (&cost);
    book_pool (site, "p", "n1", 1);
    book_cost (site, "p", "x", "5", COST_PER_MONTH);
    book_power (site, "p", "560", "1.3", "k");
    book_tariff (site, "k", "0.18")->valid.end = month.end - 1;
    assert_int_equal (cost_of_pool (site, "p", month, NULL, &cost, &error), -1);
    assert_non_null (strstr (error.text, "tariff 'k' does not hold"));
    assert_int_equal (cost.count, 0);
    site->tariffs[0].valid.end = month.end;
    assert_int_equal (cost_of_pool (site, "p", month, NULL, &cost, &error), 0);
    assert_int_equal (cost.count, 2);
    cost_clear (&cost);
    site_free (site);
}

TEST_CASE (cost_of_pool__other_costs__follow_their_driver)
{
    site_t *site = book_new ("UTC");
    cost_t cost;

    cost_init (&cost);
    book_pool (site, "p", "n[1-8]", 8);
    book_cost (site, "p", "fabric", "0.10", COST_PER_GPU_HOUR);
    book_cost (site, "p", "room", "450", COST_PER_MONTH);
    book_cost (site, "p", "support", "6000", COST_PER_YEAR);
    book_cost (site, "q", "elsewhere", "1", COST_PER_YEAR);
    compute (site, book_month (site, 2026, 2), "32256", &cost);
    assert_int_equal (cost.count, 3);
    check_line (&cost, 0, COST_OTHER, "fabric", 2, "3225.60");
    check_line (&cost, 1, COST_OTHER, "room", 2, "450.00");
    check_line (&cost, 2, COST_OTHER, "support", 2, "500.00");
    book_check (cost.total, 2, "4175.60");
    assert_string_equal (cost.line[0].how, "0.1 x 32256 allocated GPU-hours");
    assert_string_equal (cost.line[2].how, "6000 a year / 12 x 1 months");
    /* introduced in the middle of the month: half of its GPU-hours */
    site->costs[0].valid.start = book_instant (site, 2026, 2, 15, 0);
    compute (site, book_month (site, 2026, 2), "32256", &cost);
    check_line (&cost, 0, COST_OTHER, "fabric", 2, "1612.80");
    cost_clear (&cost);
    site_free (site);
}

TEST_CASE (cost_pool_gpus__dated_entries__add_up_when_in_force)
{
    site_t *site = book_new ("UTC");
    uint64_t gpus;

    book_pool (site, "p", "g[001-008]", 8);
    book_pool (site, "p", "x[1-2]", 4)->valid.start = 1000;
    assert_int_equal (cost_pool_gpus (site, "p", 999, &gpus, NULL), 0);
    assert_int_equal (gpus, 64);
    assert_int_equal (cost_pool_gpus (site, "p", 1000, &gpus, NULL), 0);
    assert_int_equal (gpus, 72);
    assert_int_equal (cost_pool_gpus (site, "q", 1000, &gpus, NULL), 0);
    assert_int_equal (gpus, 0);
    site_free (site);
}

static site_t *full_book (const char *zone)
{
    site_t *site = book_new (zone);
    int64_t change = book_instant (site, 2026, 3, 17, 11);

    book_pool (site, "p", "n[1-3]", 8)->valid.end = change;
    book_pool (site, "p", "n[1-5]", 8)->valid.start = change;
    book_asset (site, "p", "3", "425000", "17.01",
                (civil_t){2026, 2, 11, 0, 0, 0}, 36);
    book_staff (site, "p", "0.7", "123456.78", "33.3%")->valid.start =
        change + 7;
    book_power (site, "p", "561", "1.37", "k")->valid.end = change + 99999;
    book_tariff (site, "k", "0.1234")->valid.end = change - 5;
    book_tariff (site, "k", "0.4321")->valid.start = change - 5;
    book_cost (site, "p", "room", "450.01", COST_PER_MONTH);
    book_cost (site, "p", "support", "6001", COST_PER_YEAR)->valid.start =
        change + 3;
    return site;
}

/* Wherever a period is cut, the parts cost what the whole costs, exactly. */
TEST_CASE (cost_of_pool__parts_of_a_period__add_up)
{
    static const char *const zones[] = {
        "UTC", "America/New_York", "Australia/Lord_Howe", "America/Santiago"};
    uint64_t seed = 88172645463325252ull;
    cost_t whole, part;

    cost_init (&whole);
    cost_init (&part);
    for (size_t z = 0; z < GL_ARRAY_SIZE (zones); z++) {
        site_t *site = full_book (zones[z]);
        int64_t t = book_instant (site, 2026, 1, 1, 0);
        for (int i = 0; i < 200; i++) {
            period_t all = {t + (int64_t)book_random (&seed, 20000000), 0};
            mpq_t sum;
            all.end = all.start + (int64_t)book_random (&seed, 9000000);
            compute (site, all, "0", &whole);
            mpq_init (sum);
            for (int64_t at = all.start; at < all.end;) {
                period_t piece = {
                    at, at + 1 + (int64_t)book_random (&seed, 3000000)};
                piece = period_clip (piece, all);
                compute (site, piece, "0", &part);
                mpq_add (sum, sum, part.total);
                at = piece.end;
            }
            assert_true (mpq_equal (sum, whole.total));
            mpq_clear (sum);
        }
        site_free (site);
    }
    cost_clear (&whole);
    cost_clear (&part);
}

/* Cost-model, invariant 13: whatever price, life and day. */
TEST_CASE (cost_of_asset__its_whole_life__is_price_less_salvage)
{
    uint64_t seed = 1442695040888963407ull;
    site_t *site = book_new ("Europe/Oslo");
    period_t ever = {book_instant (site, 1980, 1, 1, 0),
                     book_instant (site, 2099, 1, 1, 0)};
    mpq_t amount, expected;

    mpq_inits (amount, expected, NULL);
    book_asset (site, "p", "3", "1", "0", (civil_t){2024, 2, 29, 0, 0, 0}, 12);
    for (int i = 0; i < 300; i++) {
        site_asset_t *asset = &site->assets[0];
        asset->in_service =
            calendar_civil_of_day (5000 + (int64_t)book_random (&seed, 20000));
        asset->life_months = 1 + (int)book_random (&seed, 120);
        exact_set_i64 (asset->price, 1000 + (int64_t)book_random (&seed, 99999),
                       100);
        exact_set_i64 (asset->salvage, (int64_t)book_random (&seed, 1000), 100);
        cost_of_asset (site, asset, ever, NULL, amount);
        mpq_sub (expected, asset->price, asset->salvage);
        mpq_mul (expected, expected, asset->units);
        assert_true (mpq_equal (amount, expected));
    }
    mpq_clears (amount, expected, NULL);
    site_free (site);
}

TEST_MAIN (NULL, NULL)
