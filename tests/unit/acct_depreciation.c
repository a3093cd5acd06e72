#include "support/book.h"

#include "money/cost.h"
#include "money/depreciation.h"

#define SEEDS 3000

/* The asset of docs/guides/cost-book.md: 53,125, salvage 10 %, 5 years. */
static site_asset_t *worked (site_t *site, depreciation_t method)
{
    site_asset_t *asset
        = book_asset (site, "p", "1", "53125", "5312.50",
                      (civil_t){2026, 3, 10, 0, 0, 0}, 60);

    asset->method = method;
    return asset;
}

static site_asset_change_t *add_change (site_asset_t *asset, civil_t from)
{
    site_asset_change_t *change
        = BOOK_NEW (asset->changes, asset->change_count);

    mpq_inits (change->salvage, change->expected_gpu_hours, NULL);
    change->from = from;
    return change;
}

static period_t days (const site_t *site, civil_t from, civil_t to)
{
    return (period_t){zone_instant (site->zone, &from),
                      zone_instant (site->zone, &to)};
}

static void check_cost (const site_t *site, period_t period, int digits,
                        const char *expected)
{
    mpq_t amount;

    mpq_init (amount);
    cost_of_asset (site, &site->assets[0], period, NULL, amount);
    book_check (amount, digits, expected);
    mpq_clear (amount);
}

static void check_plan (const site_asset_t *asset, civil_t day,
                        const char *yearly, const char *value)
{
    mpq_t a, b;

    mpq_inits (a, b, NULL);
    depreciation_plan (asset, &day, a, b);
    book_check (a, 2, yearly);
    book_check (b, 2, value);
    mpq_clears (a, b, NULL);
}

/* The published table; life-years run from 10 March to 10 March. */
TEST_CASE (depreciation__three_methods__as_published)
{
    static const struct {
        depreciation_t method;
        const char *year[5];
        const char *value[5];
    } table[] = {
        {DEPRECIATION_STRAIGHT_LINE,
         {"9562.50", "9562.50", "9562.50", "9562.50", "9562.50"},
         {"53125.00", "43562.50", "34000.00", "24437.50", "14875.00"}},
        {DEPRECIATION_DECLINING,
         {"21250.00", "12750.00", "7650.00", "4590.00", "1572.50"},
         {"53125.00", "31875.00", "19125.00", "11475.00", "6885.00"}},
        {DEPRECIATION_SUM_OF_YEARS,
         {"15937.50", "12750.00", "9562.50", "6375.00", "3187.50"},
         {"53125.00", "37187.50", "24437.50", "14875.00", "8500.00"}},
    };

    for (size_t m = 0; m < GL_ARRAY_SIZE (table); m++) {
        site_t *site = book_new ("America/New_York");
        site_asset_t *asset = worked (site, table[m].method);
        for (int t = 0; t < 5; t++) {
            civil_t from = {2026 + t, 3, 10, 0, 0, 0};
            civil_t to = {2027 + t, 3, 10, 0, 0, 0};
            check_plan (asset, from, table[m].year[t], table[m].value[t]);
            if (table[m].method != DEPRECIATION_STRAIGHT_LINE)
                check_cost (site, days (site, from, to), 2, table[m].year[t]);
        }
        check_plan (asset, (civil_t){2031, 3, 10, 0, 0, 0}, "0.00", "5312.50");
        check_plan (asset, (civil_t){2026, 3, 9, 0, 0, 0}, "0.00", "53125.00");
        check_cost (site,
                    days (site, (civil_t){2020, 1, 1, 0, 0, 0},
                          (civil_t){2040, 1, 1, 0, 0, 0}),
                    6, "47812.500000");
        site_free (site);
    }
}

/* Within a life-year each day bears the same: 21250 / 365 x 22. */
TEST_CASE (depreciation__declining__is_by_day_in_a_life_year)
{
    site_t *site = book_new ("America/New_York");

    worked (site, DEPRECIATION_DECLINING);
    check_cost (site, book_month (site, 2026, 3), 2, "1280.82");
    /* 9 days of the first life-year, 22 of the second, which has 366 */
    check_cost (site, book_month (site, 2027, 3), 2, "1290.37");
    site_free (site);
}

/* A life of 18 months: L = 1.5, 2/L x K = 4/3 K is capped at K - V. */
TEST_CASE (depreciation__part_of_a_year__is_shorter)
{
    site_t *site = book_new ("UTC");
    site_asset_t *asset = book_asset (site, "p", "1", "1500", "0",
                                      (civil_t){2026, 1, 1, 0, 0, 0}, 18);

    asset->method = DEPRECIATION_SUM_OF_YEARS;
    /* weights 1.5 x 1 and 0.5 x 0.5 */
    check_cost (site, days (site, (civil_t){2026, 1, 1, 0, 0, 0},
                            (civil_t){2027, 1, 1, 0, 0, 0}),
                4, "1285.7143");
    check_cost (site, days (site, (civil_t){2027, 1, 1, 0, 0, 0},
                            (civil_t){2028, 1, 1, 0, 0, 0}),
                4, "214.2857");
    asset->method = DEPRECIATION_DECLINING;
    check_cost (site, days (site, (civil_t){2026, 1, 1, 0, 0, 0},
                            (civil_t){2027, 1, 1, 0, 0, 0}),
                4, "1500.0000");
    site_free (site);
}

/* Cost-model, section 5: book value 34,000 after two years; extended to six
 * years in all, 7,171.88 a year from then on. */
TEST_CASE (depreciation__a_longer_life__is_prospective)
{
    site_t *site = book_new ("America/New_York");
    site_asset_t *asset = worked (site, DEPRECIATION_STRAIGHT_LINE);
    civil_t change = {2028, 3, 10, 0, 0, 0};

    check_cost (site, book_month (site, 2026, 3), 2, "576.05");
    check_cost (site, book_month (site, 2026, 5), 2, "811.71");
    add_change (asset, change)->life_months = 72;
    check_plan (asset, (civil_t){2028, 3, 9, 0, 0, 0}, "9562.50", "34027.48");
    check_plan (asset, change, "7171.88", "34000.00");
    check_plan (asset, (civil_t){2032, 3, 9, 0, 0, 0}, "7171.88", "5333.11");
    check_plan (asset, (civil_t){2032, 3, 10, 0, 0, 0}, "0.00", "5312.50");
    /* what was before has not moved */
    check_cost (site, book_month (site, 2026, 3), 2, "576.05");
    check_cost (site, book_month (site, 2026, 5), 2, "811.71");
    /* by day: 53125 - 47812.50 x 731 / 1826 - 5312.50, over 1,461 days */
    check_cost (site, book_month (site, 2028, 5), 4, "608.3679");
    check_cost (site,
                days (site, (civil_t){2020, 1, 1, 0, 0, 0},
                      (civil_t){2040, 1, 1, 0, 0, 0}),
                6, "47812.500000");
    site_free (site);
}

/* The costs of a pool; the hours of the period are 0. */
static void compute (const site_t *site, const char *pool, period_t period,
                     const cost_inputs_t *inputs, cost_t *cost)
{
    gl_error_t error;

    if (cost_of_pool (site, pool, period, inputs, cost, &error) < 0)
        fail_msg ("%s", error.text);
}

/* Sold after four years for 6,000 at a book value of 14,875: loss 8,875. By day
 * the book value is 53125 - 47812.50 x 1461 / 1826 = 14,869.76. */
TEST_CASE (cost_of_pool__sold__the_loss_stands_apart)
{
    site_t *site = book_new ("America/New_York");
    site_asset_t *asset = worked (site, DEPRECIATION_STRAIGHT_LINE);
    civil_t sold = {2030, 3, 10, 0, 0, 0};
    mpq_t value;
    cost_t cost;

    cost_init (&cost);
    mpq_init (value);
    asset->retired = sold;
    mpq_set_ui (asset->proceeds, 6000, 1);
    depreciation_plan (asset, &sold, NULL, value);
    mpq_sub (value, value, asset->proceeds);
    book_check (value, 2, "8875.00");
    /* nothing is written off from the day of the sale on */
    check_plan (asset, sold, "0.00", "14875.00");
    check_plan (asset, (civil_t){2030, 3, 11, 0, 0, 0}, "0.00", "14875.00");
    depreciation_plan (asset, &(civil_t){2030, 3, 9, 0, 0, 0}, value, NULL);
    book_check (value, 2, "9562.50");
    compute (site, "p", book_month (site, 2030, 3), NULL, &cost);
    assert_int_equal (cost.count, 1);
    /* 9 days */
    book_check (cost.total, 2, "235.66");
    assert_int_equal (cost.apart_count, 1);
    assert_int_equal (cost.apart[0].kind, COST_DISPOSAL);
    book_check (cost.apart[0].amount, 2, "8869.76");
    book_check (cost.disposal, 2, "8869.76");
    book_check (cost.full, 2, "235.66");
    /* policy says so */
    site->policy.disposal = DISPOSAL_IN_RATE;
    compute (site, "p", book_month (site, 2030, 3), NULL, &cost);
    assert_int_equal (cost.count, 2);
    assert_int_equal (cost.apart_count, 0);
    book_check (cost.total, 2, "9105.42");
    /* not in any other month */
    compute (site, "p", book_month (site, 2030, 4), NULL, &cost);
    assert_int_equal (cost.count, 0);
    compute (site, "p", book_month (site, 2030, 2), NULL, &cost);
    assert_int_equal (cost.count, 1);
    mpq_clear (value);
    cost_clear (&cost);
    site_free (site);
}

TEST_CASE (cost_of_pool__a_gain__is_negative)
{
    site_t *site = book_new ("UTC");
    site_asset_t *asset = book_asset (site, "p", "2", "1000", "100",
                                      (civil_t){2024, 1, 1, 0, 0, 0}, 12);
    cost_t cost;

    cost_init (&cost);
    asset->retired = (civil_t){2026, 5, 17, 0, 0, 0};
    mpq_set_ui (asset->proceeds, 250, 1);
    compute (site, "p", book_month (site, 2026, 5), NULL, &cost);
    assert_int_equal (cost.count, 0);
    book_check (cost.disposal, 2, "-300.00");
    cost_clear (&cost);
    site_free (site);
}

/* Moved on the 11th: ten of thirty days in one pool, twenty in the other. */
TEST_CASE (cost_of_pool__moved_in_mid_month__is_by_day)
{
    site_t *site = book_new ("UTC");
    site_asset_t *asset = book_asset (site, "p", "1", "36500", "0",
                                      (civil_t){2025, 1, 1, 0, 0, 0}, 24);
    cost_t cost;

    cost_init (&cost);
    add_change (asset, (civil_t){2026, 6, 11, 0, 0, 0})->pool = xstrdup ("q");
    compute (site, "p", book_month (site, 2026, 6), NULL, &cost);
    book_check (cost.total, 2, "500.00");
    compute (site, "q", book_month (site, 2026, 6), NULL, &cost);
    book_check (cost.total, 2, "1000.00");
    assert_string_equal (cost.line[0].how,
                         "1 x (36500 - 0) / 730 days x 20 days");
    compute (site, "p", book_month (site, 2026, 7), NULL, &cost);
    assert_int_equal (cost.count, 0);
    cost_clear (&cost);
    site_free (site);
}

/* 90,000 over 100,000 expected hours is 0.90 an hour, until it is written
 * down to the salvage: whatever is used after that bears nothing. */
TEST_CASE (cost_of_pool__units_of_use__never_below_salvage)
{
    site_t *site = book_new ("UTC");
    site_asset_t *asset = book_asset (site, "p", "1", "100000", "10000",
                                      (civil_t){2026, 1, 1, 0, 0, 0}, 60);
    cost_inputs_t inputs = {.count = 0};
    cost_t cost;

    cost_init (&cost);
    asset->method = DEPRECIATION_UNITS_OF_USE;
    mpq_set_ui (asset->expected_gpu_hours, 100000, 1);
    for (int month = 1; month <= 4; month++) {
        cost_use_t *use
            = cost_inputs_add (&inputs, "p", book_month (site, 2026, month));
        mpq_set_ui (use->allocated, 30000u * 3600u, 1);
    }
    compute (site, "p", book_month (site, 2026, 1), &inputs, &cost);
    book_check (cost.total, 2, "27000.00");
    book_check (cost.by_use, 2, "27000.00");
    compute (site, "p", book_month (site, 2026, 3), &inputs, &cost);
    book_check (cost.total, 2, "27000.00");
    compute (site, "p", book_month (site, 2026, 4), &inputs, &cost);
    book_check (cost.total, 2, "9000.00");
    compute (site, "p", book_month (site, 2026, 5), &inputs, &cost);
    assert_int_equal (cost.count, 0);
    /* 200,000 hours after all, told from March on: 36,000 for 140,000 */
    mpq_set_ui (add_change (asset, (civil_t){2026, 3, 1, 0, 0, 0})
                    ->expected_gpu_hours,
                200000, 1);
    compute (site, "p", book_month (site, 2026, 2), &inputs, &cost);
    book_check (cost.total, 2, "27000.00");
    compute (site, "p", book_month (site, 2026, 3), &inputs, &cost);
    book_check (cost.total, 2, "7714.29");
    cost_inputs_clear (&inputs);
    cost_clear (&cost);
    site_free (site);
}

/* ---- two books ---- */

/* 60 % of the nodes and all of the staff are the institution's. */
TEST_CASE (cost_of_pool__two_books__charge_one_and_state_the_rest)
{
    site_t *site = book_new ("UTC");
    site_asset_t *asset = book_asset (site, "p", "1", "36500", "0",
                                      (civil_t){2025, 1, 1, 0, 0, 0}, 24);
    mpq_t sum;
    cost_t cost;

    cost_init (&cost);
    mpq_init (sum);
    mpq_set_ui (asset->recoverable, 3, 5);
    book_staff (site, "p", "1", "120000", "100%");
    compute (site, "p", book_month (site, 2026, 6), NULL, &cost);
    book_check (cost.total, 2, "11500.00");
    book_check (cost.full, 2, "11500.00");
    book_check (cost.recoverable, 2, "10900.00");
    assert_int_equal (cost.apart_count, 0);
    site->policy.book = BOOK_RECOVERABLE;
    compute (site, "p", book_month (site, 2026, 6), NULL, &cost);
    book_check (cost.total, 2, "10900.00");
    book_check (cost.full, 2, "11500.00");
    book_check (cost.line[0].amount, 2, "900.00");
    assert_int_equal (cost.apart_count, 1);
    assert_string_equal (cost.apart[0].name, "asset");
    book_check (cost.apart[0].amount, 2, "600.00");
    /* nothing is lost */
    mpq_add (sum, cost.total, cost.apart[0].amount);
    assert_true (mpq_equal (sum, cost.full));
    mpq_clear (sum);
    cost_clear (&cost);
    site_free (site);
}

/* 36,500 over two years of 365 days, 1,500 in June, 60 % of it by a federal award;
 * a fabric of 100 a month, 25 % by it; 90 % of what a gift paid for is recoverable. */
TEST_CASE (cost_of_pool__funds__have_lines_of_their_own)
{
    site_t *site = book_new ("UTC");
    site_asset_t *asset = book_asset (site, "p", "1", "36500", "0",
                                      (civil_t){2025, 1, 1, 0, 0, 0}, 24);
    site_cost_t *fabric
        = book_cost (site, "p", "fabric", "100", COST_PER_MONTH);
    cost_t cost;

    cost_init (&cost);
    book_fund (site, "federal", "0");
    book_fund (site, "gift", "0.9");
    book_funding (&asset->funding, "federal", "60%");
    book_funding (&asset->funding, "institutional", "40%");
    book_funding (&fabric->funding, "gift", "75%");
    book_funding (&fabric->funding, "federal", "25%");
    compute (site, "p", book_month (site, 2026, 6), NULL, &cost);
    assert_int_equal (cost.count, 4);
    assert_string_equal (cost.line[0].fund, "federal");
    book_check (cost.line[0].amount, 2, "900.00");
    assert_string_equal (cost.line[0].how,
                         "0.6 x 1 x (36500 - 0) / 730 days x 30 days");
    assert_string_equal (cost.line[1].fund, "institutional");
    book_check (cost.line[1].amount, 2, "600.00");
    assert_int_equal (cost.line[1].entry, cost.line[0].entry);
    assert_string_equal (cost.line[2].fund, "gift");
    book_check (cost.line[2].amount, 2, "75.00");
    assert_true (cost.line[2].entry != cost.line[1].entry);
    book_check (cost.full, 2, "1600.00");
    book_check (cost.recoverable, 2, "667.50"); /* 600 + 75 x 0.9 */
    site->policy.book = BOOK_RECOVERABLE;
    compute (site, "p", book_month (site, 2026, 6), NULL, &cost);
    book_check (cost.total, 2, "667.50");
    assert_int_equal (cost.count, 2);
    assert_string_equal (cost.line[0].fund, "institutional");
    assert_string_equal (cost.line[1].fund, "gift");
    assert_int_equal (cost.apart_count, 3);
    assert_string_equal (cost.apart[0].fund, "federal");
    book_check (cost.apart[0].amount, 2, "900.00");
    book_check (cost.apart[1].amount, 2, "7.50");
    book_check (cost.apart[2].amount, 2, "25.00");
    cost_clear (&cost);
    site_free (site);
}

/* ---- invariant 13 ---- */

struct chance {
    uint64_t seed;
    site_t *site;
    site_asset_t *asset;
    cost_inputs_t inputs;
    mpq_t salvage; /* the last estimate */
};

static civil_t day (int64_t number)
{
    return calendar_civil_of_day (number);
}

static int64_t number_of (civil_t date)
{
    return calendar_day_number (date.year, date.month, date.day);
}

/* A change of any sort some days after the one before. */
static bool chance_change (struct chance *c, int64_t *at)
{
    site_asset_t *asset = c->asset;
    int64_t life_end = number_of (
        civil_add_months (asset->in_service, asset->life_months));
    site_asset_change_t *change;
    civil_t date;
    mpq_t value;

    *at += 1 + (int64_t)book_random (&c->seed, 700);
    date = day (*at);
    mpq_init (value);
    depreciation_book_value (c->site, asset, &date, &c->inputs, value);
    change = add_change (asset, date);
    if (book_random (&c->seed, 3) == 0)
        change->pool = xstrdup (book_random (&c->seed, 2) ? "p" : "q");
    if (book_random (&c->seed, 3) == 0) {
        /* at most the book value */
        change->salvage_is = SALVAGE_AMOUNT;
        exact_add_scaled (change->salvage, value,
                          (int64_t)book_random (&c->seed, 100), 100);
        mpq_set (c->salvage, change->salvage);
    }
    if (asset->method == DEPRECIATION_UNITS_OF_USE)
        mpq_set_ui (change->expected_gpu_hours,
                    1000 + book_random (&c->seed, 99999), 1);
    else if (change->salvage_is != SALVAGE_AS_BEFORE
             || book_random (&c->seed, 2) || *at >= life_end)
        change->life_months
            = (int)((*at - number_of (asset->in_service)) / 28)
              + 1 + (int)book_random (&c->seed, 60);
    mpq_clear (value);
    return true;
}

static void chance_inputs (struct chance *c)
{
    static const char *const pools[] = {"p", "q"};

    for (int month = 0; month < 12 * 22; month++) {
        civil_t first = {2010, 1, 1, 0, 0, 0};
        first = civil_add_months (first, month);
        for (size_t i = 0; i < GL_ARRAY_SIZE (pools); i++) {
            cost_use_t *use = cost_inputs_add (
                &c->inputs, pools[i],
                book_month (c->site, first.year, first.month));
            mpq_set_ui (use->allocated,
                        book_random (&c->seed, 4000) * 3600, 1);
        }
    }
}

static void chance_asset (struct chance *c, int i)
{
    static const char *const prices[] = {"1", "53125", "99999.99"};

    c->asset = book_asset (c->site, "p", "3", prices[i % 3], "0",
                           day (14610 + (int64_t)book_random (&c->seed, 1500)),
                           1 + (int)book_random (&c->seed, 90));
    c->asset->method = (depreciation_t)(i % 4);
    if (c->asset->method == DEPRECIATION_UNITS_OF_USE)
        mpq_set_ui (c->asset->expected_gpu_hours,
                    1000 + book_random (&c->seed, 99999), 1);
    exact_add_scaled (c->asset->salvage, c->asset->price,
                      (int64_t)book_random (&c->seed, 50), 100);
    mpq_set (c->salvage, c->asset->salvage);
}

static void take_asset_away (site_t *site)
{
    site_asset_t *asset = &site->assets[0];

    for (size_t i = 0; i < asset->change_count; i++) {
        free (asset->changes[i].pool);
        mpq_clears (asset->changes[i].salvage,
                    asset->changes[i].expected_gpu_hours, NULL);
    }
    free (asset->changes);
    free (asset->name);
    free (asset->pool);
    mpq_clears (asset->units, asset->price, asset->salvage, asset->proceeds,
                asset->expected_gpu_hours, asset->recoverable, NULL);
    site->asset_count = 0;
}

/* Both pools, hardware and disposals, over the whole of time in a few cuts. */
static void sum_of_all (struct chance *c, mpq_t ret_sum)
{
    int64_t at = book_instant (c->site, 2009, 1, 1, 0);
    int64_t end = book_instant (c->site, 2032, 1, 1, 0);
    cost_t cost;

    cost_init (&cost);
    mpq_set_ui (ret_sum, 0, 1);
    while (at < end) {
        period_t part
            = {at, at + 1 + (int64_t)book_random (&c->seed, 300000000)};
        if (part.end > end)
            part.end = end;
        compute (c->site, "p", part, &c->inputs, &cost);
        mpq_add (ret_sum, ret_sum, cost.total);
        compute (c->site, "q", part, &c->inputs, &cost);
        mpq_add (ret_sum, ret_sum, cost.total);
        at = part.end;
    }
    cost_clear (&cost);
}

/* Whatever is changed later, what lies before it stays as it was. */
static void check_past (struct chance *c, int64_t *at)
{
    civil_t limit = day (*at + 1);
    period_t past = {book_instant (c->site, 2010, 1, 1, 0),
                     zone_instant (c->site->zone, &limit)};
    mpq_t before, after;

    mpq_inits (before, after, NULL);
    cost_of_asset (c->site, c->asset, past, &c->inputs, before);
    chance_change (c, at);
    cost_of_asset (c->site, c->asset, past, &c->inputs, after);
    assert_true (mpq_equal (before, after));
    assert_true (mpq_sgn (after) >= 0);
    mpq_clears (before, after, NULL);
}

TEST_CASE (cost_of_asset__any_life__sums_to_price_less_salvage)
{
    struct chance c = {.seed = 2862933555777941757ull};
    mpq_t sum, expected;

    c.site = book_new ("Europe/Oslo");
    c.site->policy.disposal = DISPOSAL_IN_RATE;
    mpq_inits (sum, expected, c.salvage, NULL);
    chance_inputs (&c);
    for (int i = 0; i < SEEDS; i++) {
        int64_t at;
        chance_asset (&c, i);
        at = number_of (c.asset->in_service);
        for (uint64_t n = book_random (&c.seed, 4); n > 0; n--)
            check_past (&c, &at);
        mpq_sub (expected, c.asset->price, c.salvage);
        if (book_random (&c.seed, 3) == 0) {
            c.asset->retired = day (at + 1 + (int64_t)book_random (&c.seed, 900));
            exact_add_scaled (c.asset->proceeds, c.asset->price,
                              (int64_t)book_random (&c.seed, 40), 100);
            mpq_sub (expected, c.asset->price, c.asset->proceeds);
        }
        mpq_mul (expected, expected, c.asset->units);
        book_cents (expected);
        sum_of_all (&c, sum);
        if (!mpq_equal (sum, expected))
            fail_msg ("seed %d, method %d: %s, not %s", i,
                      (int)c.asset->method, exact_text (sum, 6),
                      exact_text (expected, 6));
        take_asset_away (c.site);
    }
    mpq_clears (sum, expected, c.salvage, NULL);
    cost_inputs_clear (&c.inputs);
    site_free (c.site);
}

TEST_MAIN (NULL, NULL)
