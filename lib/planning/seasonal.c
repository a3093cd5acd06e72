#include <string.h>

#include "base/array.h"
#include "planning/seasonal.h"

#define MILLE 1000
#define ORIGINS_MIN 4
#define ORIGINS_MAX 26

const char *seasonal_word (seasonal_method_t method)
{
    return method == SEASONAL_NAIVE ? "naive" : "holt_winters";
}

/* n / d, to the nearest integer, a half up; d above 0. */
static int64_t nearest (__int128 n, int64_t d)
{
    __int128 twice = 2 * n + d, divisor = 2 * (__int128)d;

    return (int64_t)(twice / divisor - (twice % divisor < 0));
}

/* --- Holt-Winters ---------------------------------------------------------- */

/* Candidates, per mille; beta is a part of alpha. */
static const unsigned alphas[] = {50, 100, 200, 300, 500, 700};
static const unsigned betas[] = {0, 10, 50, 100, 200};
static const unsigned gammas[] = {0, 50, 100, 200, 300};

static __int128 sum (const int64_t *value, size_t count)
{
    __int128 total = 0;

    for (size_t i = 0; i < count; i++)
        total += value[i];
    return total;
}

/* Before the first day of `weeks` full weeks. */
static void begin (const int64_t *value, size_t weeks, seasonal_t *s)
{
    size_t half = weeks / 2, days = weeks * SEASON_DAYS;
    int64_t first = nearest (sum (value, half * SEASON_DAYS),
                             (int64_t)half * SEASON_DAYS);
    int64_t last = nearest (sum (value + days - half * SEASON_DAYS,
                                 half * SEASON_DAYS),
                            (int64_t)half * SEASON_DAYS);
    __int128 rest[SEASON_DAYS] = {0};

    s->trend = nearest (last - first, (int64_t)(weeks - half) * SEASON_DAYS);
    /* the line passes the mean of all days in their middle */
    s->level = nearest (2 * sum (value, days)
                            - (__int128)s->trend * (int64_t)(days * (days + 1)),
                        2 * (int64_t)days);
    for (size_t i = 0; i < days; i++)
        rest[i % SEASON_DAYS]
            += value[i] - (s->level + s->trend * ((int64_t)i + 1));
    for (size_t i = 0; i < SEASON_DAYS; i++)
        s->season[i] = nearest (rest[i], (int64_t)weeks);
}

/* The error of the next day; then that day is the last one. season[0] is that of the
 * weekday of `at` 0. */
static int64_t step (seasonal_t *s, int64_t value, size_t at)
{
    int64_t *season = &s->season[at % SEASON_DAYS];
    int64_t error = value - (s->level + s->trend + *season);

    s->level += s->trend + nearest ((__int128)error * s->alpha, MILLE);
    s->trend += nearest ((__int128)error * s->alpha * s->beta, MILLE * MILLE);
    *season += nearest ((__int128)error * s->gamma, MILLE);
    return error;
}

/* The sum of squared errors of one day ahead; where it reaches `most`, only so far. */
static unsigned __int128 run (seasonal_t *s, const int64_t *value, size_t count,
                              unsigned __int128 most)
{
    unsigned __int128 squares = 0;

    for (size_t i = 0; i < count && squares < most; i++) {
        __int128 error = step (s, value[i], i);
        squares += (unsigned __int128)(error * error);
    }
    return squares;
}

static void fit_holt_winters (const int64_t *value, size_t weeks,
                              seasonal_t *ret_fit)
{
    seasonal_t start = {.method = SEASONAL_HOLT_WINTERS};
    unsigned __int128 least = ~(unsigned __int128)0;

    begin (value, weeks, &start);
    for (size_t i = 0; i < GL_ARRAY_SIZE (alphas); i++)
        for (size_t k = 0; k < GL_ARRAY_SIZE (betas); k++)
            for (size_t g = 0; g < GL_ARRAY_SIZE (gammas); g++) {
                seasonal_t s = start;
                unsigned __int128 squares;
                s.alpha = alphas[i];
                s.beta = betas[k];
                s.gamma = gammas[g];
                squares = run (&s, value, weeks * SEASON_DAYS, least);
                if (squares >= least)
                    continue;
                least = squares;
                *ret_fit = s;
            }
}

/* --- both -------------------------------------------------------------------- */

static void fit_naive (const int64_t *last_week, seasonal_t *ret_fit)
{
    *ret_fit = (seasonal_t){.method = SEASONAL_NAIVE,
                            .level
                            = nearest (sum (last_week, SEASON_DAYS), SEASON_DAYS)};
    for (size_t i = 0; i < SEASON_DAYS; i++)
        ret_fit->season[i] = last_week[i] - ret_fit->level;
}

void seasonal_fit (seasonal_method_t method, const int64_t *value, size_t count,
                   seasonal_t *ret_fit)
{
    size_t days = count < SEASONAL_MAX ? count : SEASONAL_MAX;
    size_t weeks = days / SEASON_DAYS;

    if (method == SEASONAL_NAIVE)
        fit_naive (value + count - SEASON_DAYS, ret_fit);
    else
        fit_holt_winters (value + count - weeks * SEASON_DAYS, weeks, ret_fit);
}

static int64_t line (const seasonal_t *fit, size_t ahead)
{
    return fit->level + fit->trend * (int64_t)ahead;
}

int64_t seasonal_ahead (const seasonal_t *fit, size_t ahead)
{
    int64_t value
        = line (fit, ahead) + fit->season[(ahead - 1) % SEASON_DAYS];

    return value > 0 ? value : 0;
}

static int64_t mean_line (const seasonal_t *fit, size_t ahead)
{
    return line (fit, ahead) + nearest (sum (fit->season, SEASON_DAYS), SEASON_DAYS);
}

int64_t seasonal_mean (const seasonal_t *fit, size_t ahead)
{
    int64_t value = mean_line (fit, ahead);

    return value > 0 ? value : 0;
}

size_t seasonal_reaches (const seasonal_t *fit, int64_t limit, size_t days)
{
    int64_t missing = limit - mean_line (fit, 1), ahead;

    if (missing <= 0)
        return 1;
    if (fit->trend <= 0)
        return 0;
    ahead = (missing + fit->trend - 1) / fit->trend + 1;
    return (uint64_t)ahead <= days ? (size_t)ahead : 0;
}

/* --- the back-test ------------------------------------------------------------ */

static size_t origins_of (size_t count, size_t horizon)
{
    size_t origins;

    if (count < SEASONAL_MIN + horizon)
        return 0;
    origins = (count - SEASONAL_MIN - horizon) / SEASON_DAYS + 1;
    return origins < ORIGINS_MAX ? origins : ORIGINS_MAX;
}

size_t seasonal_backtest_days (size_t horizon)
{
    return SEASONAL_MIN + horizon + (ORIGINS_MIN - 1) * SEASON_DAYS;
}

static bool choose_horizon (size_t count, size_t horizon, seasonal_test_t *t)
{
    static const size_t horizons[] = {30, 14, SEASON_DAYS};

    if (horizon) {
        t->horizon = horizon;
        t->origins = origins_of (count, horizon);
        return t->origins >= ORIGINS_MIN;
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (horizons); i++) {
        t->horizon = horizons[i];
        t->origins = origins_of (count, t->horizon);
        if (t->origins >= ORIGINS_MIN)
            return true;
    }
    return t->origins > 0;
}

static unsigned __int128 distance (__int128 a, __int128 b)
{
    return (unsigned __int128)(a > b ? a - b : b - a);
}

static void test_method (const int64_t *value, size_t origin,
                         seasonal_method_t method, seasonal_test_t *t)
{
    __int128 forecast = 0;
    seasonal_t fit;

    seasonal_fit (method, value, origin, &fit);
    for (size_t i = 1; i <= t->horizon; i++) {
        int64_t ahead = seasonal_ahead (&fit, i);
        forecast += ahead;
        t->error[method].of_days += distance (ahead, value[origin + i - 1]);
    }
    t->error[method].of_totals
        += distance (forecast, sum (value + origin, t->horizon));
}

/* A few forecasts are won by chance. */
static bool wins (const seasonal_test_t *t)
{
    return t->origins >= SEASONAL_TESTS_MIN
           && t->error[SEASONAL_HOLT_WINTERS].of_days
                  < t->error[SEASONAL_NAIVE].of_days
           && t->error[SEASONAL_HOLT_WINTERS].of_totals
                  <= t->error[SEASONAL_NAIVE].of_totals;
}

bool seasonal_backtest (const int64_t *value, size_t count, size_t horizon,
                        seasonal_test_t *ret_test)
{
    seasonal_test_t *t = ret_test;

    memset (t, 0, sizeof (*t));
    if (!choose_horizon (count, horizon, t))
        return false;
    for (size_t i = 0; i < t->origins; i++) {
        size_t origin = count - t->horizon - i * SEASON_DAYS;
        t->actual
            += (unsigned __int128)sum (value + origin, t->horizon);
        for (int m = 0; m < SEASONAL_METHODS; m++)
            test_method (value, origin, m, t);
    }
    t->best = wins (t) ? SEASONAL_HOLT_WINTERS : SEASONAL_NAIVE;
    return true;
}
