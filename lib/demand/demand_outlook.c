/* When the limits are reached, what to expect of the next days, and how far to trust
 * it. */
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "demand/demand_private.h"

/* GPUs are ordered this long before they are used. */
#define LEAD_MONTHS 18
/* The mean length of a month is 487 / 16 days. */
#define MONTH_DAYS 487
#define MONTHS_OF_DAYS 16
/* Days before the forecast that its chart shows. */
#define CHART_DAYS 56

/* --- limits --------------------------------------------------------------------------- */

/* GPU-seconds a day that can be used: GPUs x 86400 x (1 - downtime) / (1 + spares);
 * and the target. */
static void take_usable (const demand_t *d, const demand_pool_t *pool,
                         mpq_t ret_usable, mpq_t ret_target)
{
    mpq_t down, spares, one;

    mpq_inits (down, spares, one, NULL);
    mpq_set_ui (one, 1, 1);
    if (mpq_sgn (pool->all) > 0)
        mpq_div (down, pool->down, pool->all);
    plan_shares (d->asked, d->query.site, down, down, spares, ret_target);
    mpq_set_ui (ret_usable, 86400, 1);
    mpq_mul (ret_usable, ret_usable, pool->gpus);
    mpq_sub (down, one, down);
    mpq_mul (ret_usable, ret_usable, down);
    mpq_add (spares, spares, one);
    mpq_div (ret_usable, ret_usable, spares);
    mpq_clears (down, spares, one, NULL);
}

/* The first day ahead on which the limit is reached; 0: not within YEARS_AHEAD. */
static size_t days_until (const demand_pool_t *pool, const mpq_t limit)
{
    int64_t ms;
    mpz_t z;

    mpz_init (z);
    exact_round (z, limit, 3);
    ms = mpz_cmp_si (z, SEASONAL_VALUE_MAX) < 0 ? mpz_get_si (z)
                                                : SEASONAL_VALUE_MAX;
    mpz_clear (z);
    return seasonal_reaches (&pool->fit, ms, YEARS_AHEAD * 366);
}

/* The beginning of a day, 1 being the first one ahead. */
static int64_t day_ahead (const demand_t *d, const demand_pool_t *pool,
                          int64_t ahead)
{
    int64_t noon = d->history.start + 43200
                   + ((int64_t)pool->end + ahead - 1) * 86400;

    return zone_unit (d->query.site->zone, CALENDAR_DAY, noon).start;
}

static void put_reached (const demand_page_t *p, const demand_pool_t *pool, size_t days)
{
    char name[ZONE_STAMP_SIZE];
    mpq_t q;

    if (days == 0) {
        report_put_made (p->report, AT_REACHED,
                         xasprintf ("not within %d years", YEARS_AHEAD));
        return;
    }
    mpq_init (q);
    exact_set_i64 (q, days > 1 ? (int64_t)days * MONTHS_OF_DAYS : 0, MONTH_DAYS);
    report_put_exact (p->report, AT_MONTHS, q, 1);
    mpq_clear (q);
    report_put_text (p->report, AT_REACHED,
                     days == 1 ? "already"
                               : zone_unit_name (p->d->query.site->zone,
                                                 CALENDAR_MONTH,
                                                 day_ahead (p->d, pool, (int64_t)days),
                                                 name));
}

static void pool_row (const demand_page_t *p, const demand_pool_t *pool,
                      const char *item)
{
    demand_row (p, item);
    report_put_text (p->report, AT_POOL, demand_pool_name (pool));
}

static void add_level (const demand_page_t *p, const demand_pool_t *pool,
                       const mpq_t usable, const mpq_t level, bool target)
{
    mpq_t q;

    mpq_init (q);
    pool_row (p, pool, target ? "target" : NULL);
    mpq_set_ui (q, 100, 1);
    mpq_mul (q, q, level);
    report_put_exact (p->report, AT_LEVEL, q, 2);
    mpq_mul (q, usable, level);
    report_put_hours (p->report, AT_LIMIT, q);
    demand_put_ms (p, AT_PER_DAY,
                   (unsigned __int128)seasonal_mean (&pool->fit, 1), 1);
    put_reached (p, pool, days_until (pool, q));
    mpq_clear (q);
}

/* The fixed levels, and the target in its place among them. */
static void add_levels (const demand_page_t *p, const demand_pool_t *pool)
{
    static const unsigned percents[] = {75, 80, 90};
    bool placed = false;
    mpq_t usable, target, level;

    mpq_inits (usable, target, level, NULL);
    take_usable (p->d, pool, usable, target);
    for (size_t i = 0; i < GL_ARRAY_SIZE (percents); i++) {
        mpq_set_ui (level, percents[i], 100);
        mpq_canonicalize (level);
        if (!placed && mpq_cmp (target, level) < 0)
            add_level (p, pool, usable, target, true);
        placed = placed || mpq_cmp (target, level) <= 0;
        add_level (p, pool, usable, level, mpq_equal (target, level));
    }
    if (!placed)
        add_level (p, pool, usable, target, true);
    mpq_clears (usable, target, level, NULL);
}

/* It can be told when its limits are reached. */
static bool has_limits (const demand_pool_t *pool)
{
    return pool->tested && mpq_sgn (pool->gpus) > 0;
}

static size_t days_until_target (const demand_t *d, const demand_pool_t *pool)
{
    size_t days;
    mpq_t usable, target;

    mpq_inits (usable, target, NULL);
    take_usable (d, pool, usable, target);
    mpq_mul (usable, usable, target);
    days = days_until (pool, usable);
    mpq_clears (usable, target, NULL);
    return days;
}

/* The pool that reaches its target first; NULL: none does. */
static const demand_pool_t *first_full (const demand_t *d, size_t *ret_days)
{
    const demand_pool_t *first = NULL;

    for (size_t i = 0; i < d->pool_count; i++) {
        const demand_pool_t *pool = &d->pool[i];
        size_t days = has_limits (pool) ? days_until_target (d, pool) : 0;
        if (days == 0 || (first && days >= *ret_days))
            continue;
        first = pool;
        *ret_days = days;
    }
    return first;
}

static char *limit_answer (const demand_t *d)
{
    size_t days = 0;
    const demand_pool_t *pool = first_full (d, &days);
    size_t months = days * MONTHS_OF_DAYS / MONTH_DAYS, known = 0;

    if (pool)
        demand_pool_days (pool, &known);
    if (!pool)
        return xasprintf ("Order nothing: at this trend no pool reaches its "
                          "target within %d years.",
                          YEARS_AHEAD);
    if (days == 1)
        return xasprintf ("Order GPUs for pool %s, or lower its demand: it is "
                          "above its target already.",
                          demand_pool_name (pool));
    if (months < LEAD_MONTHS && days > known)
        return xasprintf ("Order nothing yet, and look again each month: pool %s "
                          "would be the first to reach its target, in %zu months, "
                          "but that continues the trend of only %zu days.",
                          demand_pool_name (pool), months, known);
    if (months < LEAD_MONTHS)
        return xasprintf ("Decide on more GPUs for pool %s now: its demand reaches "
                          "the target in %zu months, and GPUs take up to %d months "
                          "from the decision to the first job.",
                          demand_pool_name (pool), months, LEAD_MONTHS);
    return xasprintf ("Order nothing yet: pool %s is the first to reach its "
                      "target, in %zu months; GPUs take up to %d months from the "
                      "decision to the first job.",
                      demand_pool_name (pool), months, LEAD_MONTHS);
}

static void add_limits (demand_page_t *p)
{
    GL_AUTOFREE char *answer = limit_answer (p->d);
    bool begun = false;

    p->section = "limit";
    for (size_t i = 0; i < p->d->pool_count; i++) {
        if (!has_limits (&p->d->pool[i]))
            continue;
        if (!begun) {
            report_section (p->report, "When the GPUs are full",
                            "The level and trend of the forecast are continued as a "
                            "straight line, which is no promise for years.");
            report_section_answer (p->report, answer);
        }
        begun = true;
        add_levels (p, &p->d->pool[i]);
    }
}

/* --- the next days ---------------------------------------------------------------- */

static unsigned __int128 expected (const demand_pool_t *pool, size_t days)
{
    unsigned __int128 sum = 0;

    for (size_t i = 1; i <= days; i++)
        sum += (unsigned __int128)seasonal_ahead (&pool->fit, i);
    return sum;
}

static unsigned __int128 measured (const demand_pool_t *pool, size_t days)
{
    unsigned __int128 sum = 0;
    size_t count;
    const int64_t *day = demand_pool_days (pool, &count);

    for (size_t i = count > days ? count - days : 0; i < count; i++)
        sum += (unsigned __int128)day[i];
    return sum;
}

/* GPU hours as a share of what all GPUs have in so many days. */
static void put_capacity (const demand_page_t *p, const demand_pool_t *pool,
                          unsigned __int128 ms, size_t days)
{
    mpq_t part, whole;

    mpq_inits (part, whole, NULL);
    exact_set_u128 (mpq_numref (part), ms);
    mpq_set_ui (whole, 86400000, 1);
    mpq_mul (whole, whole, pool->gpus);
    mpz_mul_ui (mpq_numref (whole), mpq_numref (whole), days);
    mpq_canonicalize (whole);
    report_put_made (p->report, AT_CAPACITY, report_percent_text (part, whole));
    mpq_clears (part, whole, NULL);
}

static void add_sum (const demand_page_t *p, const demand_pool_t *pool,
                     const char *item, unsigned __int128 ms, size_t days)
{
    pool_row (p, pool, item);
    demand_put_ms (p, AT_HOURS, ms, 1);
    demand_put_ms (p, AT_PER_DAY, ms, days);
    put_capacity (p, pool, ms, days);
}

/* The sum of the next days, with the error that the back-test of so many days found. */
static void add_expected (const demand_page_t *p, const demand_pool_t *pool,
                          const char *item, size_t days)
{
    const seasonal_test_t *t = pool->test.horizon == days ? &pool->test
                               : pool->tested_ahead ? &pool->test_ahead
                                                    : NULL;

    add_sum (p, pool, item, expected (pool, days), days);
    if (t && t->horizon == days)
        report_put_made (p->report, AT_TOTAL_SHARE,
                         demand_share_text (t->error[pool->test.best].of_totals,
                                            t->actual));
}

static char *forecast_answer (const demand_t *d)
{
    unsigned __int128 next = 0, last = 0;

    for (size_t i = 0; i < d->pool_count; i++)
        if (d->pool[i].tested) {
            next += expected (&d->pool[i], 30);
            last += measured (&d->pool[i], 30);
        }
    GL_AUTOFREE char *hours = demand_ms_text (next, 1);
    GL_AUTOFREE char *change
        = demand_share_text (next > last ? next - last : last - next, last);
    return xasprintf ("Plan for %s GPU hours in the next 30 days, %s %% %s than in "
                      "the last 30.",
                      hours, change ? change : "0.00",
                      next >= last ? "more" : "less");
}

static void add_forecast (demand_page_t *p)
{
    GL_AUTOFREE char *answer = forecast_answer (p->d);
    bool begun = false;

    p->section = "forecast";
    for (size_t i = 0; i < p->d->pool_count; i++) {
        const demand_pool_t *pool = &p->d->pool[i];
        if (!pool->tested)
            continue;
        if (!begun) {
            report_section (p->report, "What to expect",
                            "GPU hours that jobs had, and those of the forecast, "
                            "with the error of such forecasts in the past.");
            report_section_answer (p->report, answer);
        }
        begun = true;
        add_sum (p, pool, "last 30 days", measured (pool, 30), 30);
        add_expected (p, pool, "next 30 days", 30);
        add_expected (p, pool, "next 90 days", FORECAST_DAYS);
    }
}

/* --- the back-test ------------------------------------------------------------------ */

static const char *const methods[SEASONAL_METHODS]
    = {"as the same weekday last week (naive)",
       "season of a week and trend (Holt-Winters)"};

static char *test_answer (const demand_pool_t *pool)
{
    const seasonal_test_t *t = &pool->test;
    GL_AUTOFREE char *naive
        = demand_share_text (t->error[SEASONAL_NAIVE].of_days, t->actual);
    GL_AUTOFREE char *model
        = demand_share_text (t->error[SEASONAL_HOLT_WINTERS].of_days, t->actual);

    if (t->origins < SEASONAL_TESTS_MIN)
        return xasprintf ("Do not trust a trend yet: pool %s has days for %zu "
                          "forecasts of the past, and %d are needed. The forecast "
                          "repeats the last week, which was off by %s %% a day.",
                          demand_pool_name (pool), t->origins, SEASONAL_TESTS_MIN,
                          naive ? naive : "-");
    if (t->best == SEASONAL_NAIVE)
        return xasprintf ("Do not trust a trend: in pool %s the seasonal model did "
                          "not win (off by %s %% a day, last week's values by "
                          "%s %%), so the forecast repeats the last week.",
                          demand_pool_name (pool), model ? model : "-",
                          naive ? naive : "-");
    return xasprintf ("Use the forecast, but leave room for its error: in pool %s "
                      "the seasonal model was off by %s %% a day, last week's "
                      "values by %s %%.",
                      demand_pool_name (pool), model ? model : "-",
                      naive ? naive : "-");
}

/* " 90 days ahead this was off by 9.10 % a day, and by 4.00 % for all days together." */
static char *ahead_answer (const demand_pool_t *pool)
{
    const seasonal_test_t *t = &pool->test_ahead;
    seasonal_method_t used = pool->test.best;

    if (!pool->tested_ahead)
        return xstrdup ("");
    GL_AUTOFREE char *days = demand_share_text (t->error[used].of_days, t->actual);
    GL_AUTOFREE char *all = demand_share_text (t->error[used].of_totals, t->actual);
    return xasprintf (" Forecasts of %d days were off by %s %% a day, and by %s %% "
                      "for all days together.",
                      FORECAST_DAYS, days ? days : "-", all ? all : "-");
}

static void add_method (const demand_page_t *p, const demand_pool_t *pool,
                        const seasonal_test_t *t, seasonal_method_t method)
{

    pool_row (p, pool, methods[method]);
    report_put_count (p->report, AT_HORIZON, t->horizon);
    report_put_count (p->report, AT_ORIGINS, t->origins);
    demand_put_ms (p, AT_ERROR, t->error[method].of_days,
                   t->origins * t->horizon);
    report_put_made (p->report, AT_ERROR_SHARE,
                     demand_share_text (t->error[method].of_days, t->actual));
    report_put_made (p->report, AT_TOTAL_SHARE,
                     demand_share_text (t->error[method].of_totals, t->actual));
    report_put_text (p->report, AT_USED,
                     pool->test.best == method ? "yes" : "no");
}

/* That with the most GPU hours; NULL: none was tested. */
static const demand_pool_t *largest (const demand_t *d)
{
    const demand_pool_t *found = NULL;

    for (size_t i = 0; i < d->pool_count; i++)
        if (d->pool[i].tested
            && (!found || d->pool[i].test.actual > found->test.actual))
            found = &d->pool[i];
    return found;
}

static void add_tests (demand_page_t *p)
{
    const demand_pool_t *most = largest (p->d);

    if (!most)
        return;
    GL_AUTOFREE char *near = test_answer (most);
    GL_AUTOFREE char *ahead = ahead_answer (most);
    GL_AUTOFREE char *answer = xasprintf ("%s%s", near, ahead);
    p->section = "backtest";
    report_section (p->report, "How far to trust the forecast: back-test",
                    "From days of the past, the days that followed are forecast as "
                    "if they were unknown, and compared with what came.");
    report_section_answer (p->report, answer);
    for (size_t i = 0; i < p->d->pool_count; i++) {
        const demand_pool_t *pool = &p->d->pool[i];
        for (int m = 0; pool->tested && m < SEASONAL_METHODS; m++)
            add_method (p, pool, &pool->test, m);
        for (int m = 0; pool->tested_ahead && m < SEASONAL_METHODS; m++)
            add_method (p, pool, &pool->test_ahead, m);
    }
}

/* --- day by day ---------------------------------------------------------------------- */

static const char *day_name (const demand_t *d, const demand_pool_t *pool,
                             int64_t ahead, char name[ZONE_STAMP_SIZE])
{
    return zone_unit_name (d->query.site->zone, CALENDAR_DAY,
                           day_ahead (d, pool, ahead), name);
}

static void chart_days (const demand_page_t *p, const demand_pool_t *pool)
{
    size_t count, shown, points;
    const int64_t *day = demand_pool_days (pool, &count);
    GL_AUTOFREE char *title = xasprintf (
        "Pool %s: GPU hours a day, and the forecast", demand_pool_name (pool));

    shown = count < CHART_DAYS ? count : CHART_DAYS;
    points = shown + FORECAST_DAYS;
    char (*name)[ZONE_STAMP_SIZE] = xcalloc (points, sizeof (*name));
    const char **point = xcalloc (points, sizeof (*point));
    bool *ahead = xcalloc (points, sizeof (*ahead));
    bool *behind = xcalloc (points, sizeof (*behind));
    mpq_t *value = xcalloc (points, sizeof (*value));
    for (size_t i = 0; i < points; i++) {
        int64_t ms = i < shown ? day[count - shown + i]
                               : seasonal_ahead (&pool->fit, i - shown + 1);
        point[i] = day_name (p->d, pool, (int64_t)i - (int64_t)shown + 1, name[i]);
        ahead[i] = i >= shown;
        behind[i] = !ahead[i];
        mpq_init (value[i]);
        exact_set_i64 (value[i], ms, 1000);
    }
    plot_series_t series[]
        = {{.title = "Measured", .value = (const mpq_t *)value, .unknown = ahead},
           {.title = "Forecast",
            .value = (const mpq_t *)value,
            .unknown = behind,
            .shade = 2}};
    plot_t plot = {.kind = CHART_LINES,
                   .title = title,
                   .description = "Days that were measured, and the days to come.",
                   .type = COLUMN_HOURS,
                   .unit = "GPU hours",
                   .point = point,
                   .point_count = points,
                   .series = series,
                   .series_count = GL_ARRAY_SIZE (series)};
    report_plot (p->report, &plot);
    for (size_t i = 0; i < points; i++)
        mpq_clear (value[i]);
    free (value);
    free (behind);
    free (ahead);
    free (point);
    free (name);
}

static void add_days (demand_page_t *p)
{
    bool begun = false;

    p->section = "day";
    for (size_t i = 0; i < p->d->pool_count; i++) {
        const demand_pool_t *pool = &p->d->pool[i];
        if (!pool->tested)
            continue;
        if (!begun) {
            report_section (p->report, "The next days, one by one",
                            "Compare with them what comes. CSV and JSON have all "
                            "90 days.");
            report_section_fold (p->report);
        }
        begun = true;
        for (size_t k = 1; k <= FORECAST_DAYS; k++) {
            char name[ZONE_STAMP_SIZE];
            pool_row (p, pool, NULL);
            report_put_text (p->report, AT_TIME,
                             day_name (p->d, pool, (int64_t)k, name));
            demand_put_ms (p, AT_HOURS,
                           (unsigned __int128)seasonal_ahead (&pool->fit, k), 1);
        }
        chart_days (p, pool);
    }
}

/* --- all -------------------------------------------------------------------------------- */

static void note_pools (const demand_page_t *p)
{
    for (size_t i = 0; i < p->d->pool_count; i++) {
        const demand_pool_t *pool = &p->d->pool[i];
        size_t count;
        demand_pool_days (pool, &count);
        if (!pool->tested)
            report_note (p->report, NOTE_INFORMATION,
                         "Pool %s: full days since the first usage: %zu; a forecast "
                         "needs at least %d.",
                         demand_pool_name (pool), count,
                         SEASONAL_MIN + SEASON_DAYS);
        else if (!pool->tested_ahead)
            report_note_pool (p->report, NOTE_INFORMATION, demand_pool_name (pool),
                              "the error of forecasts of %d days is not known: "
                              "it takes %zu full days.",
                              FORECAST_DAYS,
                              seasonal_backtest_days (FORECAST_DAYS));
        if (pool->tested && mpq_sgn (pool->gpus) == 0)
            report_note (p->report, NOTE_WARNING,
                         "Pool %s: the number of its GPUs is unknown, so no limits "
                         "are shown.",
                         demand_pool_name (pool));
    }
    if (largest (p->d))
        report_note (p->report, NOTE_INFORMATION,
                     "The forecast is of GPU hours that jobs had, which cannot be "
                     "above the capacity: where jobs wait long, more is wanted.");
}

void demand_outlook (demand_page_t *p)
{
    add_limits (p);
    add_forecast (p);
    add_tests (p);
    add_days (p);
    note_pools (p);
}
