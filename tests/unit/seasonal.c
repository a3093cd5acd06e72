/* The forecast of days: known answers, edges, and a back-test that no later day can
 * change. tests/cli/demand.py has all of its arithmetic a second time. */
#include "support/test.h"

#include "base/memory.h"
#include "planning/seasonal.h"

#define DAYS 400
#define WEEK {5, 6, 7, 6, 5, 2, 1}

static int64_t days[DAYS];

/* A season of a week on a straight line. */
static void make (int64_t scale, int64_t slope)
{
    static const int64_t week[SEASON_DAYS] = WEEK;

    for (int64_t i = 0; i < DAYS; i++)
        days[i] = scale * week[i % SEASON_DAYS] + slope * i;
}

TEST_CASE (holt_winters__a_line_and_a_season__is_continued)
{
    seasonal_t fit;

    make (1000000, 700);
    for (size_t count = SEASONAL_MIN; count + 30 < DAYS; count += 13) {
        seasonal_fit (SEASONAL_HOLT_WINTERS, days, count, &fit);
        assert_int_equal (fit.trend, 700);
        for (size_t k = 1; k <= 30; k++)
            assert_in_range (seasonal_ahead (&fit, k) - days[count + k - 1] + 10,
                             0, 20);
    }
}

TEST_CASE (naive__repeats_the_last_week)
{
    seasonal_t fit;

    make (1000, 7);
    seasonal_fit (SEASONAL_NAIVE, days, 100, &fit);
    for (size_t k = 1; k <= 90; k++)
        assert_int_equal (seasonal_ahead (&fit, k),
                          days[93 + (k - 1) % SEASON_DAYS]);
    assert_int_equal (seasonal_reaches (&fit, fit.level + 1, 100000), 0);
    assert_int_equal (seasonal_reaches (&fit, fit.level, 100000), 1);
}

TEST_CASE (backtest__too_few_days__is_none)
{
    static const struct {
        size_t count, horizon, origins;
    } cases[] = {{34, 0, 0}, {35, 7, 1}, {55, 7, 3}, {56, 7, 4}, {62, 7, 4},
                 {63, 14, 4}, {78, 14, 6}, {79, 30, 4}, {364, 30, 26}};
    seasonal_test_t test;

    make (1000, 7);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        bool any = seasonal_backtest (days, cases[i].count, 0, &test);
        assert_int_equal (any, cases[i].origins > 0);
        if (!any)
            continue;
        assert_int_equal (test.horizon, cases[i].horizon);
        assert_int_equal (test.origins, cases[i].origins);
    }
}

/* 30 days of a line of 7 a day, a week behind: 49 for days 1 to 7, 98, ... */
TEST_CASE (backtest__a_line__the_model_wins_and_the_naive_error_is_known)
{
    seasonal_test_t test;
    uint64_t naive = 7 * 49 + 7 * 98 + 7 * 147 + 7 * 196 + 2 * 245;

    make (100000, 7);
    assert_true (seasonal_backtest (days, 200, 0, &test));
    assert_int_equal (test.best, SEASONAL_HOLT_WINTERS);
    assert_true (test.error[SEASONAL_NAIVE].of_days
                 == (unsigned __int128)naive * test.origins);
    assert_true (test.error[SEASONAL_NAIVE].of_totals
                 == test.error[SEASONAL_NAIVE].of_days);
}

TEST_CASE (backtest__both_right__the_naive_one_is_used)
{
    seasonal_test_t test;

    make (100000, 0);
    assert_true (seasonal_backtest (days, 200, 0, &test));
    assert_true (test.error[SEASONAL_HOLT_WINTERS].of_days == 0);
    assert_int_equal (test.best, SEASONAL_NAIVE);
}

/* A forecast knows only the days before it: another end changes no earlier one. */
TEST_CASE (fit__of_the_days_before__knows_no_later_ones)
{
    seasonal_t before, after;

    make (5000, 3);
    seasonal_fit (SEASONAL_HOLT_WINTERS, days, 100, &before);
    for (size_t i = 100; i < DAYS; i++)
        days[i] = 9999999;
    seasonal_fit (SEASONAL_HOLT_WINTERS, days, 100, &after);
    for (size_t k = 1; k <= 90; k++)
        assert_int_equal (seasonal_ahead (&before, k), seasonal_ahead (&after, k));
}

TEST_CASE (reaches__the_first_day__by_trying_each)
{
    seasonal_t fit = {.method = SEASONAL_HOLT_WINTERS};

    for (int64_t level = -50; level <= 50; level += 7)
        for (int64_t trend = -2; trend <= 9; trend++)
            for (int64_t limit = 1; limit < 200; limit += 11) {
                size_t first = 0;
                fit.level = level;
                fit.trend = trend;
                for (size_t k = 1; k <= 60 && first == 0; k++)
                    if (seasonal_mean (&fit, k) >= limit)
                        first = k;
                assert_int_equal (seasonal_reaches (&fit, limit, 60), first);
            }
}

/* No sum leaves its type: the sanitizers of contrib/check look. */
TEST_CASE (all__the_largest_values__stay_in_range)
{
    seasonal_test_t test;
    seasonal_t fit;

    for (size_t i = 0; i < DAYS; i++)
        days[i] = i % 3 ? SEASONAL_VALUE_MAX : 0;
    assert_true (seasonal_backtest (days, DAYS, 0, &test));
    seasonal_fit (SEASONAL_HOLT_WINTERS, days, DAYS, &fit);
    for (size_t k = 1; k <= 3660; k++)
        assert_true (seasonal_ahead (&fit, k) >= 0);
    for (size_t i = 0; i < DAYS; i++)
        days[i] = 0;
    assert_true (seasonal_backtest (days, DAYS, 0, &test));
    assert_true (test.actual == 0 && test.error[SEASONAL_NAIVE].of_days == 0);
}

TEST_MAIN (NULL, NULL)
