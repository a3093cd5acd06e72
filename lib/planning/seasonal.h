/*
 * seasonal.h: the demand of the next days, from that of the days before: two methods
 * with a season of a week, and a back-test that says which of them to use.
 *
 *   naive         each day is as the same weekday of the last week
 *   holt_winters  level + trend x days + the weekday's own part (additive
 *                 Holt-Winters, in error-correction form)
 *
 *                   e = y - (level + trend + season[weekday])
 *                   level += trend + alpha e;  trend += alpha beta e
 *                   season[weekday] += gamma e
 *
 *   Fitted are the last full weeks, 52 at most. It begins with the straight line
 *   through the means of their first and last halves (of w weeks the first and the last
 *   w / 2; they lie w - w / 2 weeks apart), and each weekday's mean distance from that
 *   line. alpha, beta and gamma are those of a table with the least sum of squared
 *   errors of the next day; of equals the first.
 *
 * Values, level, trend and season are integers, so that every machine computes the
 * same: pass them in a small unit, such as milliseconds. Each quotient is rounded to
 * the nearest integer, a half up: floor ((2 n + d) / (2 d)). A forecast is not below 0.
 * Pure.
 */
#ifndef GL_PLANNING_SEASONAL_H
#define GL_PLANNING_SEASONAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEASON_DAYS 7
/* Days that a forecast needs, and days that are looked at, at most. */
#define SEASONAL_MIN (4 * SEASON_DAYS)
#define SEASONAL_MAX (52 * SEASON_DAYS)
/* A value must not be above this: a million GPUs in milliseconds of a day. */
#define SEASONAL_VALUE_MAX INT64_C (100000000000000)

typedef enum {
    SEASONAL_NAIVE,
    SEASONAL_HOLT_WINTERS,
    SEASONAL_METHODS,
} seasonal_method_t;
/* "naive", "holt_winters" */
const char *seasonal_word (seasonal_method_t method);

/* Behind the last day. */
typedef struct {
    seasonal_method_t method;
    int64_t level;
    int64_t trend; /* of a day; 0 of the naive one */
    int64_t season[SEASON_DAYS]; /* of the first day ahead, of the second, ... */
    unsigned alpha, beta, gamma; /* per mille */
} seasonal_t;

/* From `count` values, SEASONAL_MIN or more. */
void seasonal_fit (seasonal_method_t method, const int64_t *value, size_t count,
                   seasonal_t *ret_fit);
/* The day `ahead` days after the last one, from 1 on. */
int64_t seasonal_ahead (const seasonal_t *fit, size_t ahead);
/* The mean of a week's days that is at the end of day `ahead`, without its season: a
 * straight line. */
int64_t seasonal_mean (const seasonal_t *fit, size_t ahead);
/* The first day ahead, 1 or later, on which seasonal_mean() is `limit` or more; 0: not
 * within `days`. */
size_t seasonal_reaches (const seasonal_t *fit, int64_t limit, size_t days);

#define SEASONAL_TESTS_MIN 8

/*
 * The back-test with a rolling origin: from each origin, the next `horizon` days are
 * forecast from nothing but the days before, and compared with what came. Origins lie 7
 * days apart, the last one `horizon` days before the end, the first one 28 days or more
 * after the beginning, 26 at most. The horizon is `horizon` days; with 0 it is 30 days
 * where there are 4 origins or more, else 14 on the same condition, else 7.
 */
typedef struct {
    size_t horizon;
    size_t origins;
    unsigned __int128 actual; /* sum of what came, over all origins and days */
    struct {
        unsigned __int128 of_days;   /* sum of |forecast - actual| of a day */
        unsigned __int128 of_totals; /* the same of the days of an origin together */
    } error[SEASONAL_METHODS];
    seasonal_method_t best; /* the model only where it has SEASONAL_TESTS_MIN origins, less
                             * of_days and no more of_totals */
} seasonal_test_t;
/* False: there are too few days, less than 35; with a horizon, for 4 origins. */
bool seasonal_backtest (const int64_t *value, size_t count, size_t horizon,
                        seasonal_test_t *ret_test);
/* The days that a back-test of that horizon takes. */
size_t seasonal_backtest_days (size_t horizon);

#endif /* !GL_PLANNING_SEASONAL_H */
