#include "base/exact.h"
#include "base/memory.h"
#include "statement/budget_private.h"

#define WEEK 7
#define WEEKS_MAX 4
#define WEEKS_MIN 2

/* Where a forecast stands: at `at` within `period`, of what was spent on days. */
struct stand {
    const budget_t *budget;
    budget_window_t window;
    int64_t first; /* day before which nothing is known */
    period_t period;
    int64_t at;
};

/* What it says; in the unit of the budget. */
struct outlook {
    budget_figure_t rate;
    budget_figure_t run_rate;
    budget_figure_t seasonal;
    budget_figure_t low;
    budget_figure_t high;
};

static void outlook_init (struct outlook *o)
{
    *o = (struct outlook){.rate = {.known = false}};
    mpq_inits (o->rate.value, o->run_rate.value, o->seasonal.value,
               o->low.value, o->high.value, NULL);
}

static void outlook_clear (struct outlook *o)
{
    mpq_clears (o->rate.value, o->run_rate.value, o->seasonal.value,
                o->low.value, o->high.value, NULL);
}

static void set_figure (budget_figure_t *figure, mpq_srcptr value)
{
    figure->known = true;
    mpq_set (figure->value, value);
}

/* --- days -------------------------------------------------------------- */

static period_t day_of (const struct stand *s, int64_t instant)
{
    return zone_unit (s->budget->days->site->zone, CALENDAR_DAY, instant);
}

static int64_t day_number (const struct stand *s, int64_t instant)
{
    civil_t civil = zone_civil (s->budget->days->site->zone, instant);

    return calendar_day_number (civil.year, civil.month, civil.day);
}

/* 1970-01-01 was a Thursday. */
static int weekday_of (const struct stand *s, int64_t instant)
{
    return (int)((day_number (s, instant) + 4) % WEEK);
}

/* Spent on whole days from `from` up to `to`. */
static void spent_on_days (const struct stand *s, int64_t from, int64_t to,
                           mpq_t ret)
{
    const struct budget_days *d = s->budget->days;

    mpq_set_ui (ret, 0, 1);
    for (size_t i = 0; i < d->count; i++)
        if (d->day[i].start >= from && d->day[i].start < to)
            mpq_add (ret, ret, d->day[i].value);
}

/* Whole days from `from`, the start of one, to the day of the stand. */
static int64_t days_since (const struct stand *s, int64_t from)
{
    return day_number (s, s->at) - day_number (s, from);
}

/* The start of the day that lies `days` before that of the stand. */
static int64_t days_back (const struct stand *s, int64_t days)
{
    int64_t at = day_of (s, s->at).start;

    while (days-- > 0)
        at = day_of (s, at - 1).start;
    return at;
}

/* How many days are left, today by the part of it that is left. */
static void days_left (const struct stand *s, mpq_t ret)
{
    period_t today = day_of (s, s->at);
    mpq_t whole;

    mpq_set_ui (ret, 0, 1);
    if (s->at >= s->period.end)
        return;
    mpq_init (whole);
    exact_set_i64 (ret, today.end - s->at, today.end - today.start);
    exact_set_i64 (whole,
                   day_number (s, s->period.end - 1) - day_number (s, s->at),
                   1);
    mpq_add (ret, ret, whole);
    mpq_clear (whole);
}

/* --- the run rate ------------------------------------------------------ */

static int64_t days_of_window (const struct stand *s)
{
    static const int64_t lengths[]
        = {[BUDGET_LAST_7] = 7, [BUDGET_LAST_28] = 28};
    int64_t known = days_since (s, s->first);
    int64_t wanted = s->window == BUDGET_SO_FAR
                         ? days_since (s, s->period.start)
                         : lengths[s->window];

    return wanted < known ? wanted : known;
}

static void look_at_rate (const struct stand *s, const mpq_t spent,
                          struct outlook *o)
{
    int64_t days = days_of_window (s);
    mpq_t left, value;

    mpq_inits (left, value, NULL);
    days_left (s, left);
    if (days > 0) {
        spent_on_days (s, days_back (s, days), day_of (s, s->at).start, value);
        exact_add_scaled (o->rate.value, value, 1, days);
        o->rate.known = true;
        mpq_mul (value, left, o->rate.value);
    }
    mpq_add (value, value, spent);
    if (days > 0 || mpq_sgn (left) == 0)
        set_figure (&o->run_rate, value);
    mpq_clears (left, value, NULL);
}

/* --- the weekday pattern ----------------------------------------------- */

struct pattern {
    mpq_t mean[WEEK]; /* by weekday */
    mpq_t least;      /* of the weeks' sums */
    mpq_t most;
    mpq_t average;
};

static void pattern_init (struct pattern *p)
{
    for (int i = 0; i < WEEK; i++)
        mpq_init (p->mean[i]);
    mpq_inits (p->least, p->most, p->average, NULL);
}

static void pattern_clear (struct pattern *p)
{
    for (int i = 0; i < WEEK; i++)
        mpq_clear (p->mean[i]);
    mpq_clears (p->least, p->most, p->average, NULL);
}

/* The week that ends `weeks_ago` before the stand's day. */
static void take_week (const struct stand *s, int64_t weeks_ago, int64_t weeks,
                       struct pattern *p)
{
    int64_t at = days_back (s, (weeks_ago + 1) * WEEK);
    mpq_t day, sum;

    mpq_inits (day, sum, NULL);
    for (int i = 0; i < WEEK; i++) {
        int64_t end = day_of (s, at).end;
        mpq_ptr mean = p->mean[weekday_of (s, at)];
        spent_on_days (s, at, end, day);
        mpq_add (sum, sum, day);
        exact_add_scaled (mean, day, 1, weeks);
        at = end;
    }
    if (weeks_ago == 0 || mpq_cmp (sum, p->least) < 0)
        mpq_set (p->least, sum);
    if (weeks_ago == 0 || mpq_cmp (sum, p->most) > 0)
        mpq_set (p->most, sum);
    exact_add_scaled (p->average, sum, 1, weeks);
    mpq_clears (day, sum, NULL);
}

/* What the days left bring by the pattern. */
static void still_to_come (const struct stand *s, const struct pattern *p,
                           mpq_t ret)
{
    mpq_t part;

    mpq_init (part);
    mpq_set_ui (ret, 0, 1);
    for (int64_t at = s->at; at < s->period.end;) {
        period_t day = day_of (s, at);
        exact_set_i64 (part, day.end - at, day.end - day.start);
        mpq_mul (part, part, p->mean[weekday_of (s, at)]);
        mpq_add (ret, ret, part);
        at = day.end;
    }
    mpq_clear (part);
}

/* spent + to come x week / average */
static void set_edge (budget_figure_t *edge, const struct pattern *p,
                      const mpq_t spent, const mpq_t to_come, mpq_srcptr week)
{
    mpq_t value;

    mpq_init (value);
    if (mpq_sgn (p->average) != 0) {
        mpq_div (value, week, p->average);
        mpq_mul (value, value, to_come);
    }
    mpq_add (value, value, spent);
    set_figure (edge, value);
    mpq_clear (value);
}

static void look_at_weeks (const struct stand *s, const mpq_t spent,
                           struct outlook *o)
{
    int64_t weeks = days_since (s, s->first) / WEEK;
    struct pattern p;
    mpq_t to_come;

    if (weeks > WEEKS_MAX)
        weeks = WEEKS_MAX;
    if (weeks < WEEKS_MIN)
        return;
    pattern_init (&p);
    mpq_init (to_come);
    for (int64_t i = 0; i < weeks; i++)
        take_week (s, i, weeks, &p);
    still_to_come (s, &p, to_come);
    mpq_add (o->seasonal.value, spent, to_come);
    o->seasonal.known = true;
    set_edge (&o->low, &p, spent, to_come, p.least);
    set_edge (&o->high, &p, spent, to_come, p.most);
    pattern_clear (&p);
    mpq_clear (to_come);
}

static void look (const struct stand *s, const mpq_t spent, struct outlook *o)
{
    look_at_rate (s, spent, o);
    look_at_weeks (s, spent, o);
}

/* --- how well that went in months before ------------------------------- */

struct error_sum {
    mpq_t sum;
    int64_t count;
};

static void take_error (struct error_sum *e, const budget_figure_t *forecast,
                        const mpq_t actual)
{
    mpq_t error;

    if (!forecast->known || mpq_sgn (actual) <= 0)
        return;
    mpq_init (error);
    mpq_sub (error, forecast->value, actual);
    mpq_abs (error, error);
    mpq_div (error, error, actual);
    mpq_add (e->sum, e->sum, error);
    e->count++;
    mpq_clear (error);
}

/* The forecast for `month` after as many days as have passed of this one. */
static void measure_month (struct stand s, period_t month, int64_t days,
                           struct error_sum *run_rate,
                           struct error_sum *seasonal)
{
    struct outlook o;
    mpq_t spent, actual;
    int64_t at = month.start;

    while (days-- > 0 && day_of (&s, at).end < month.end)
        at = day_of (&s, at).end;
    s.period = month;
    s.at = at;
    mpq_inits (spent, actual, NULL);
    outlook_init (&o);
    spent_on_days (&s, month.start, at, spent);
    spent_on_days (&s, month.start, month.end, actual);
    look (&s, spent, &o);
    take_error (run_rate, &o.run_rate, actual);
    take_error (seasonal, &o.seasonal, actual);
    outlook_clear (&o);
    mpq_clears (spent, actual, NULL);
}

static void set_error (budget_figure_t *figure, const struct error_sum *e)
{
    mpq_t mean;

    if (e->count == 0)
        return;
    mpq_init (mean);
    exact_add_scaled (mean, e->sum, 1, e->count);
    set_figure (figure, mean);
    mpq_clear (mean);
}

static void measure (budget_t *b, const struct stand *s)
{
    const zone_t *zone = b->days->site->zone;
    period_t month = zone_unit (zone, CALENDAR_MONTH, b->as_of - 1);
    int64_t days = days_since (s, month.start);
    struct error_sum run_rate = {.count = 0}, seasonal = {.count = 0};

    mpq_inits (run_rate.sum, seasonal.sum, NULL);
    for (int i = 0; i < BUDGET_MONTHS_MEASURED; i++) {
        month = zone_unit (zone, CALENDAR_MONTH, month.start - 1);
        if (month.start < s->first)
            break;
        measure_month (*s, month, days, &run_rate, &seasonal);
    }
    set_error (&b->run_rate_error, &run_rate);
    set_error (&b->seasonal_error, &seasonal);
    mpq_clears (run_rate.sum, seasonal.sum, NULL);
}

void budget_forecast (budget_t *b, budget_window_t window, int64_t first)
{
    struct stand s = {.budget = b,
                      .window = window,
                      .first = first,
                      .period = b->period,
                      .at = b->as_of};
    struct outlook o;

    if (first == 0 || first >= b->as_of)
        return;
    outlook_init (&o);
    look (&s, b->spent, &o);
    const struct {
        budget_figure_t *to;
        const budget_figure_t *from;
    } pairs[] = {{&b->rate, &o.rate},
                 {&b->run_rate, &o.run_rate},
                 {&b->seasonal, &o.seasonal},
                 {&b->low, &o.low},
                 {&b->high, &o.high}};
    for (size_t i = 0; i < GL_ARRAY_SIZE (pairs); i++) {
        if (pairs[i].from->known)
            set_figure (pairs[i].to, pairs[i].from->value);
    }
    measure (b, &s);
    outlook_clear (&o);
}
