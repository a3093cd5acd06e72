/* The page: what to do first, then the figures: waits, demand, the week. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "demand/demand_private.h"

/* Waits below this part of the time that jobs had GPUs are nothing to act on. */
#define WAIT_PERCENT 5
/* GPUs are free in an hour in which this part of them, or more, was not in use. */
#define FREE_PERCENT 10
#define ROWS_SHOWN 12
#define CHART_POINTS 400

/* As Slurm writes times: "1-03:00:00". */
static char *wait_text (int64_t seconds)
{
    int64_t days = seconds / 86400, rest = seconds % 86400;
    GL_AUTOFREE char *clock
        = xasprintf ("%02d:%02d:%02d", (int)(rest / 3600),
                     (int)(rest / 60 % 60), (int)(rest % 60));

    return days > 0 ? xasprintf ("%lld-%s", (long long)days, clock)
                    : GL_TAKE (clock);
}

/* --- waits -------------------------------------------------------------------- */

static const struct {
    const char *section, *title, *what;
    const char *act; /* what to do for the one that waited most */
} waits[] = {
    [WAITS_BY_PARTITION] = {"partition", "How long jobs waited, by partition",
                            "partition", "Start with"},
    [WAITS_BY_SIZE] = {"size", "How long jobs waited, by size of the request",
                       "jobs with", "Look first at"},
    [WAITS_BY_TEAM] = {"team", "How long jobs waited, by team", "team",
                       "Talk first to"},
};

static int compare_groups (const void *a, const void *b)
{
    const wait_group_t *x = *(wait_group_t *const *)a;
    const wait_group_t *y = *(wait_group_t *const *)b;

    return x->part_seconds != y->part_seconds
               ? (x->part_seconds < y->part_seconds ? 1 : -1)
               : strcmp (x->name, y->name);
}

/* By the least request of each. */
static int compare_sizes (const void *a, const void *b)
{
    const wait_group_t *x = *(wait_group_t *const *)a;
    const wait_group_t *y = *(wait_group_t *const *)b;

    return (x->order > y->order) - (x->order < y->order);
}

/* The most waiting first. Yours to free. */
static wait_group_t **sorted (wait_group_t *groups, size_t *ret_count)
{
    wait_group_t **list = NULL;

    *ret_count = 0;
    for (wait_group_t *g = groups; g; g = g->hh.next)
        *GL_APPEND (list, *ret_count) = g;
    if (*ret_count > 1)
        qsort (list, *ret_count, sizeof (wait_group_t *), compare_groups);
    return list;
}

static void put_wait (const demand_page_t *p, size_t text_at, size_t seconds_at,
                      wait_group_t *g, unsigned percent)
{
    int64_t seconds = tally_quantile (&g->waits, percent, 100);

    if (g->jobs[WAIT_STARTED] + g->jobs[WAIT_WAITING] == 0)
        return;
    report_put_made (p->report, text_at, wait_text (seconds));
    report_put_count (p->report, seconds_at, (uint64_t)seconds);
}

static void put_group (const demand_page_t *p, wait_group_t *g,
                       unsigned __int128 whole)
{
    for (int i = 0; i < WAIT_COUNT; i++)
        report_put_count (p->report, AT_STARTED + (size_t)i, g->jobs[i]);
    put_wait (p, AT_MEDIAN, AT_MEDIAN_SECONDS, g, 50);
    put_wait (p, AT_P95, AT_P95_SECONDS, g, 95);
    demand_put_parts (p, AT_WAIT_HOURS, (__int128)g->part_seconds);
    report_put_made (p->report, AT_WAIT_SHARE,
                     demand_share_text (g->part_seconds, whole));
}

bool demand_waits_matter (const demand_t *d)
{
    return d->curve.waiting * 100 >= d->curve.running * WAIT_PERCENT
           && d->curve.waiting > 0;
}

/* Without teams, each account has a row. */
static const char *what_of (const demand_t *d, waits_by_t by)
{
    return by == WAITS_BY_TEAM && d->query.site->team_count == 0 ? "account"
                                                                 : waits[by].what;
}

static const char *title_of (const demand_t *d, waits_by_t by)
{
    return by == WAITS_BY_TEAM && d->query.site->team_count == 0
               ? "How long jobs waited, by account"
               : waits[by].title;
}

/* Of the jobs whose waits are known. */
static bool nobody_waited (wait_group_t *all)
{
    return all->part_seconds == 0 && tally_total (&all->waits) > 0
           && tally_quantile (&all->waits, 1, 1) == 0;
}

static char *waits_answer (const demand_t *d, waits_by_t by, wait_group_t *most,
                           wait_group_t *all)
{
    GL_AUTOFREE char *median
        = wait_text (tally_quantile (&most->waits, 50, 100));
    GL_AUTOFREE char *p95
        = wait_text (tally_quantile (&most->waits, 95, 100));
    GL_AUTOFREE char *hours = demand_hours_text ((__int128)most->part_seconds);
    GL_AUTOFREE char *whole = demand_hours_text ((__int128)all->part_seconds);
    GL_AUTOFREE char *share = demand_share_text ((unsigned __int128)d->curve.waiting,
                                          (unsigned __int128)d->curve.running);

    if (nobody_waited (all))
        return xasprintf ("Nothing to do: no job waited%s.",
                          d->unplaced ? ", as far as is known" : "");
    if (!demand_waits_matter (d))
        return xasprintf ("Nothing to do: jobs waited for %s GPU hours, %s %% of "
                          "the GPU hours that jobs had.",
                          whole, share ? share : "0.00");
    return xasprintf ("%s %s %s: %s of all %s GPU hours waiting. Half of these jobs "
                      "waited at most %s, 95 of 100 at most %s.",
                      waits[by].act, what_of (d, by), most->name, hours, whole,
                      median, p95);
}

static void add_waits (demand_page_t *p, waits_by_t by)
{
    demand_t *d = p->d;
    size_t count;
    wait_group_t **list = sorted (d->waits[by], &count);
    wait_group_t *all = d->waits[WAITS_OF_ALL], *most = count ? list[0] : NULL;

    if (count > 0) {
        GL_AUTOFREE char *answer = waits_answer (d, by, most, all);
        p->section = waits[by].section;
        report_section (p->report, title_of (d, by),
                        "A job waits from when it could start: time that it was "
                        "on hold, or waited for another job, does not count. Jobs that "
                        "still wait count up to the end of the period.");
        if (by == WAITS_BY_PARTITION || demand_waits_matter (d))
            report_section_answer (p->report, answer);
        if (by == WAITS_BY_SIZE)
            qsort (list, count, sizeof (*list), compare_sizes);
        for (size_t i = 0; i < count; i++) {
            demand_row (p, list[i]->name);
            put_group (p, list[i], all->part_seconds);
        }
        report_section_totals (p->report);
        put_group (p, all, all->part_seconds);
    }
    free (list);
}

/* --- demand --------------------------------------------------------------------- */

/* GPUs that there are at the end, as parts; 0: not known. */
static int64_t gpus_there (const demand_pool_t *pool)
{
    int64_t parts;
    mpq_t q;
    mpz_t z;

    mpq_init (q);
    mpz_init (z);
    exact_add_scaled (q, pool->gpus, GPU_PARTS, 1);
    exact_round (z, q, 0);
    parts = mpz_get_si (z);
    mpz_clear (z);
    mpq_clear (q);
    return parts;
}

/* Jobs had GPUs of the pool in the period, or waited for some. */
static bool had_jobs (const demand_pool_t *pool)
{
    return pool->curve.running > 0 || pool->curve.waiting > 0;
}

/* Hours in which all GPUs of the pool were in use. */
static size_t hours_full (const demand_pool_t *pool)
{
    const demand_curve_t *c = &pool->curve;
    int64_t parts = gpus_there (pool);
    size_t count = 0;

    for (size_t i = 0; i < c->count; i++)
        count += c->hour[i].part_seconds[DEMAND_RUNNING]
                 >= parts * c->hour[i].seconds;
    return count;
}

static size_t hours_above (const demand_curve_t *c, int64_t parts)
{
    size_t count = 0;

    for (size_t i = 0; i < c->count; i++)
        count += c->hour[i].part_seconds[DEMAND_SUM]
                 > parts * c->hour[i].seconds;
    return count;
}

/* "72", or "71.3" */
static char *gpus_text (int64_t parts)
{
    return parts % GPU_PARTS == 0
               ? xasprintf ("%lld", (long long)(parts / GPU_PARTS))
               : demand_hours_text ((__int128)parts * 3600);
}

/* Of the GPU hours waiting for the pool, those in hours in which FREE_PERCENT of its GPUs
 * or more were not in use. */
static __int128 waiting_while_free (const demand_pool_t *pool)
{
    const demand_curve_t *c = &pool->curve;
    int64_t parts = gpus_there (pool);
    __int128 sum = 0;

    for (size_t i = 0; i < c->count; i++)
        if ((__int128)c->hour[i].part_seconds[DEMAND_RUNNING] * 100
            < (__int128)parts * c->hour[i].seconds * (100 - FREE_PERCENT))
            sum += c->hour[i].part_seconds[DEMAND_WAITING];
    return sum;
}

/* "Pool h100: all 16 GPUs were in use in 120 of 744 hours." */
static void add_full (const demand_pool_t *pool, buffer_t *out)
{
    GL_AUTOFREE char *gpus = gpus_text (gpus_there (pool));

    if (gpus_there (pool) > 0)
        buffer_printf (out, " Pool %s: all %s GPUs were in use in %zu of %zu hours.",
                       demand_pool_name (pool), gpus, hours_full (pool),
                       pool->curve.count);
    else
        buffer_printf (out, " Pool %s: how many GPUs it has is unknown.",
                       demand_pool_name (pool));
}

/* Without these, GPUs in use cannot be compared with GPUs that there are. */
static bool any_there (const demand_t *d)
{
    return GL_ANY (d->pool, d->pool_count, it, gpus_there (it) > 0);
}

static char *demand_answer (const demand_t *d)
{
    const demand_curve_t *c = &d->curve;
    size_t above = 0;
    __int128 free_waiting = 0;
    BUFFER_AUTO pools = BUFFER_INIT;
    const demand_pool_t *most = NULL;

    if (!any_there (d))
        return xstrdup ("Enter the GPUs of each pool (`pools`): their number is "
                        "unknown, so demand cannot be compared with it.");
    for (size_t i = 0; i < d->pool_count; i++) {
        const demand_pool_t *pool = &d->pool[i];
        if (!had_jobs (pool))
            continue;
        add_full (pool, &pools);
        free_waiting += waiting_while_free (pool);
        if (!most || pool->curve.waiting > most->curve.waiting)
            most = pool;
    }
    GL_AUTOFREE char *share
        = demand_share_text ((unsigned __int128)free_waiting,
                             (unsigned __int128)c->waiting);
    if (!demand_waits_matter (d))
        return xasprintf ("Jobs waited little.%s", buffer_text (&pools));
    if (2 * free_waiting >= c->waiting)
        return xasprintf ("Look at limits before you buy: %s %% of the GPU hours "
                          "waiting were in hours in which %d %% or more of the "
                          "GPUs of the pool were free. Check limits (QOS, "
                          "associations), time limits, reservations and the "
                          "sizes of requests.%s",
                          share, FREE_PERCENT, buffer_text (&pools));
    above = hours_above (&most->curve, gpus_there (most));
    return xasprintf ("Add GPUs to pool %s, or move work to quiet hours: in %zu "
                      "of %zu hours jobs had or waited for more than its GPUs, "
                      "and %s %% of the GPU hours waiting were while %d %% or "
                      "more were free.%s",
                      demand_pool_name (most), above, c->count, share,
                      FREE_PERCENT, buffer_text (&pools));
}

static const struct {
    unsigned percent;
    const char *item;
} quantiles[] = {{0, "quietest hour"},
                 {50, "half of the hours: at most"},
                 {75, "75 % of the hours: at most"},
                 {90, "90 % of the hours: at most"},
                 {95, "95 % of the hours: at most"},
                 {99, "99 % of the hours: at most"},
                 {100, "busiest hour"}};

static void put_gpus (const demand_page_t *p, const int64_t *part_seconds)
{
    for (size_t i = 0; i < DEMAND_COUNT; i++)
        demand_put_parts (p, AT_GPUS + i, part_seconds[i]);
}

static void add_peaks (demand_page_t *p)
{
    static const char *const names[]
        = {"most in use at a time", "most waited for at a time",
           "most of both at a time"};
    const demand_curve_t *c = &p->d->curve;

    p->section = "peak";
    for (size_t i = 0; i < DEMAND_COUNT; i++) {
        char when[ZONE_STAMP_SIZE];
        if (c->most[i] == 0)
            continue;
        demand_row (p, names[i]);
        demand_put_parts (p, AT_GPUS + i, (__int128)c->most[i] * 3600);
        report_put_text (p->report, AT_TIME,
                         zone_stamp (p->d->query.site->zone, c->when[i], when));
    }
}

/* Of each pool, where there are several. */
static void add_pool_peaks (demand_page_t *p)
{
    const demand_t *d = p->d;

    if (d->pool_count < 2)
        return;
    report_section (p->report, "Most GPUs in use at a time, by pool",
                    "The largest number at one moment, and its first time.");
    for (size_t i = 0; i < d->pool_count; i++) {
        const demand_pool_t *pool = &d->pool[i];
        char when[ZONE_STAMP_SIZE];
        if (pool->curve.most[DEMAND_RUNNING] == 0)
            continue;
        demand_pool_row (p, pool, "most in use at a time");
        demand_put_parts (p, AT_GPUS,
                          (__int128)pool->curve.most[DEMAND_RUNNING] * 3600);
        report_put_text (p->report, AT_TIME,
                         zone_stamp (d->query.site->zone,
                                     pool->curve.when[DEMAND_RUNNING], when));
    }
    report_section_drop_empty (p->report);
}

static void add_demand (demand_page_t *p)
{
    demand_curve_t *c = &p->d->curve;
    GL_AUTOFREE char *answer = demand_answer (p->d);

    if (c->count == 0)
        return;
    p->section = "hours";
    report_section (p->report, "GPUs in use and waited for, by hour",
                    "Averages of the full hours of the period. Each column is "
                    "sorted by itself: a row is no hour of its own. A job that waits "
                    "counts in each hour until it starts, so fewer GPUs than both "
                    "would do.");
    report_section_answer (p->report, answer);
    for (size_t k = 0; k < GL_ARRAY_SIZE (quantiles); k++) {
        int64_t value[DEMAND_COUNT];
        for (unsigned i = 0; i < DEMAND_COUNT; i++)
            value[i] = demand_curve_quantile (c, i, quantiles[k].percent);
        demand_row (p, quantiles[k].item);
        put_gpus (p, value);
    }
    demand_row (p, "mean");
    {
        int64_t mean[DEMAND_COUNT]
            = {(int64_t)(c->running / (int64_t)c->count),
               (int64_t)(c->waiting / (int64_t)c->count)};
        mean[DEMAND_SUM] = (int64_t)((c->running + c->waiting)
                                     / (int64_t)c->count);
        put_gpus (p, mean);
    }
    add_peaks (p);
    add_pool_peaks (p);
}

/* --- the week ---------------------------------------------------------------------- */

/* Part-seconds and seconds of each hour of a week. */
typedef struct {
    int64_t parts[REPORT_WEEK_HOURS];
    int64_t seconds[REPORT_WEEK_HOURS];
} week_t;

static void take_week (const demand_t *d, week_t *week)
{
    const zone_t *zone = d->query.site->zone;

    for (size_t i = 0; i < d->curve.count; i++) {
        const demand_hour_t *h = &d->curve.hour[i];
        char name[ZONE_STAMP_SIZE];
        size_t at = report_hour_of_week (
            zone_unit_name (zone, CALENDAR_HOUR, h->start, name));
        week->parts[at] += h->part_seconds[DEMAND_SUM];
        week->seconds[at] += h->seconds;
    }
}

/* GPUs on average, in parts x seconds of an hour; -1: the period has none of them. */
static __int128 block_mean (const week_t *w, size_t first, size_t hours)
{
    __int128 parts = 0, seconds = 0;

    for (size_t i = first; i < first + hours; i++) {
        parts += w->parts[i];
        seconds += w->seconds[i];
    }
    return seconds > 0 ? parts * 3600 / seconds : -1;
}

static char *block_name (size_t first)
{
    return xasprintf ("%s %zu-%zu h", report_weekdays[first / 24], first % 24,
                      first % 24 + BLOCK_HOURS);
}

static char *week_answer (const demand_t *d, const week_t *w)
{
    size_t least = 0, most = 0;
    __int128 low, high;

    for (size_t i = 0; i < REPORT_WEEK_HOURS; i += BLOCK_HOURS) {
        __int128 mean = block_mean (w, i, BLOCK_HOURS);
        if (mean >= 0 && mean < block_mean (w, least, BLOCK_HOURS))
            least = i;
        if (mean > block_mean (w, most, BLOCK_HOURS))
            most = i;
    }
    low = block_mean (w, least, BLOCK_HOURS);
    high = block_mean (w, most, BLOCK_HOURS);
    GL_AUTOFREE char *quiet = block_name (least), *busy = block_name (most);
    GL_AUTOFREE char *low_text = demand_hours_text (low), *high_text = demand_hours_text (high);
    if (high * 100 <= low * 110)
        return xasprintf ("Nothing to move: no part of the week is much quieter "
                          "than another (%s to %s GPUs).",
                          low_text, high_text);
    return xasprintf ("%s: %s has the least demand, %s GPUs on average; "
                      "%s the most, %s.",
                      demand_waits_matter (d) ? "Move work that can wait to quiet hours"
                                       : "Plan maintenance for quiet hours",
                      quiet, low_text, busy, high_text);
}

static void chart_week (const demand_page_t *p, const week_t *w)
{
    plot_t like = {.type = COLUMN_HOURS, .unit = "GPUs"};
    mpq_t mean[REPORT_WEEK_HOURS];

    for (size_t i = 0; i < REPORT_WEEK_HOURS; i++) {
        __int128 value = block_mean (w, i, 1);
        mpq_init (mean[i]);
        demand_set_parts (mean[i], value > 0 ? value : 0);
    }
    report_chart_week (p->report, &like, "GPUs in use or waited for, by weekday "
                                         "and hour",
                       "The average of each hour of the week: the darker, the "
                       "more.",
                       (const mpq_t *)mean);
    for (size_t i = 0; i < REPORT_WEEK_HOURS; i++)
        mpq_clear (mean[i]);
}

static void add_week (demand_page_t *p)
{
    week_t week = {{0}, {0}};

    take_week (p->d, &week);
    if (p->d->curve.count < REPORT_WEEK_HOURS)
        return;
    GL_AUTOFREE char *answer = week_answer (p->d, &week);
    p->section = "week";
    report_section (p->report, "GPUs in use or waited for, by weekday and hour",
                    "Averages of the period.");
    report_section_answer (p->report, answer);
    for (size_t day = 0; day < REPORT_WEEK_HOURS / 24; day++) {
        demand_row (p, report_weekdays[day]);
        for (size_t i = 0; i < BLOCKS; i++) {
            __int128 mean
                = block_mean (&week, day * 24 + i * BLOCK_HOURS, BLOCK_HOURS);
            if (mean >= 0)
                demand_put_parts (p, AT_BLOCK + i, mean);
        }
    }
    chart_week (p, &week);
}

/* --- each hour ---------------------------------------------------------------------- */

static int compare_hours (const void *a, const void *b)
{
    const demand_hour_t *x = *(demand_hour_t *const *)a;
    const demand_hour_t *y = *(demand_hour_t *const *)b;
    int64_t more = y->part_seconds[DEMAND_SUM] - x->part_seconds[DEMAND_SUM];

    return more ? (more > 0) - (more < 0)
                : (x->start > y->start) - (x->start < y->start);
}

/* So that a page stays small, a point of the chart may be several hours. */
static void chart_hours (const demand_page_t *p)
{
    const demand_curve_t *c = &p->d->curve;
    size_t step = c->count / CHART_POINTS + 1;
    size_t points = (c->count + step - 1) / step;
    char **name = xcalloc (points + 1, sizeof (*name));
    mpq_t *value[DEMAND_SUM];
    plot_series_t series[DEMAND_SUM]
        = {{.title = "In use"}, {.title = "Waited for", .shade = 2}};
    plot_t plot = {.kind = CHART_COLUMNS,
                   .title = "GPUs in use and waited for, over the period",
                   .description = "GPUs that jobs had, and on top of them those "
                                  "that waiting jobs had requested.",
                   .type = COLUMN_HOURS,
                   .unit = "GPUs",
                   .point = (const char *const *)name,
                   .point_count = points,
                   .series = series,
                   .series_count = DEMAND_SUM};

    for (size_t s = 0; s < DEMAND_SUM; s++) {
        value[s] = xcalloc (points + 1, sizeof (mpq_t));
        series[s].value = (const mpq_t *)value[s];
    }
    for (size_t i = 0; i < points; i++) {
        const demand_hour_t *first = &c->hour[i * step];
        size_t hours = c->count - i * step < step ? c->count - i * step : step;
        char text[ZONE_STAMP_SIZE];
        name[i] = xstrdup (zone_unit_name (p->d->query.site->zone, CALENDAR_HOUR,
                                           first->start, text));
        for (size_t s = 0; s < DEMAND_SUM; s++) {
            __int128 sum = 0;
            for (size_t k = 0; k < hours; k++)
                sum += first[k].part_seconds[s];
            mpq_init (value[s][i]);
            demand_set_parts (value[s][i], sum / (int64_t)hours);
        }
    }
    report_chart_t *chart = report_plot (p->report, &plot);
    if (chart)
        chart->in_table = true;
    for (size_t s = 0; s < DEMAND_SUM; s++)
        GL_FREE_EACH (value[s], points, it, mpq_clear (*it));
    GL_FREE_EACH (name, points, it, free (*it));
}

/* All of them, the busiest first: people see some, CSV and JSON have all. */
static void add_hours (demand_page_t *p)
{
    const demand_curve_t *c = &p->d->curve;
    demand_hour_t **list = xcalloc (c->count + 1, sizeof (demand_hour_t *));

    for (size_t i = 0; i < c->count; i++)
        list[i] = &c->hour[i];
    qsort (list, c->count, sizeof (demand_hour_t *), compare_hours);
    if (c->count > 0) {
        p->section = "hour";
        report_section (p->report, "The busiest hours",
                        "Look what ran then. CSV and JSON have all hours.");
        report_section_fold (p->report);
    }
    for (size_t i = 0; i < c->count; i++) {
        char name[ZONE_STAMP_SIZE];
        demand_row (p, NULL);
        report_put_text (p->report, AT_TIME,
                         zone_unit_name (p->d->query.site->zone, CALENDAR_HOUR,
                                         list[i]->start, name));
        put_gpus (p, list[i]->part_seconds);
    }
    free (list);
    chart_hours (p);
}

/* --- the report ------------------------------------------------------------------ */

static void add_peak_figure (const demand_page_t *p, const demand_pool_t *pool)
{
    GL_AUTOFREE char *title
        = xasprintf ("Most in use at a time, %s", demand_pool_name (pool));
    GL_AUTOFREE char *peak
        = demand_hours_text ((__int128)pool->curve.most[DEMAND_RUNNING] * 3600);
    GL_AUTOFREE char *there = gpus_text (gpus_there (pool));
    GL_AUTOFREE char *of
        = gpus_there (pool)
              ? xasprintf ("of %s GPUs; all of them in %zu of %zu hours", there,
                           hours_full (pool), pool->curve.count)
              : xstrdup ("GPUs; how many there are is unknown");

    report_figure (p->report, title, peak, of, COLUMN_TEXT);
}

static const char figure_half[] = "Half of the jobs waited at most";
static const char figure_hours[] = "GPU hours waiting";
static const char figure_none[] = "Jobs that waited";

static void add_figures (demand_page_t *p)
{
    demand_t *d = p->d;
    wait_group_t *all = d->waits[WAITS_OF_ALL];

    if (all && nobody_waited (all)) {
        GL_AUTOFREE char *of
            = xasprintf ("of %llu jobs whose waits are known",
                         (unsigned long long)tally_total (&all->waits));
        report_figure (p->report, figure_none, "0", of, COLUMN_COUNT);
    } else if (all) {
        GL_AUTOFREE char *median
            = wait_text (tally_quantile (&all->waits, 50, 100));
        GL_AUTOFREE char *p95
            = wait_text (tally_quantile (&all->waits, 95, 100));
        GL_AUTOFREE char *hint = xasprintf ("95 of 100 jobs: %s", p95);
        GL_AUTOFREE char *hours = demand_hours_text ((__int128)all->part_seconds);
        GL_AUTOFREE char *share
            = demand_share_text ((unsigned __int128)d->curve.waiting,
                          (unsigned __int128)d->curve.running);
        GL_AUTOFREE char *part
            = share ? xasprintf ("%s %% of the GPU hours that jobs had", share)
                    : xstrdup ("no job had any");
        report_figure (p->report, figure_half, median, hint, COLUMN_TEXT);
        report_figure (p->report, figure_hours, hours, part, COLUMN_TEXT);
    }
    for (size_t i = 0; i < d->pool_count; i++)
        if (d->pool[i].curve.running > 0)
            add_peak_figure (p, &d->pool[i]);
}

static const report_figure_t *figure_of (const report_t *report,
                                         const char *title)
{
    return GL_FIND (report->figure, report->figure_count, it,
                    !strcmp (it->title, title));
}

char *demand_waits_text (const report_t *report)
{
    const report_figure_t *half = figure_of (report, figure_half);
    const report_figure_t *hours = figure_of (report, figure_hours);
    const report_figure_t *none = figure_of (report, figure_none);

    if (none)
        return xasprintf ("None %s had to wait.", none->hint);
    return half && hours
               ? xasprintf ("Half of the jobs waited at most %s. Together, "
                            "jobs waited %s GPU hours: %s.",
                            half->value, hours->value, hours->hint)
               : NULL;
}

static void add_notes (const demand_page_t *p)
{
    const demand_t *d = p->d;
    report_t *r = p->report;

    if (d->waits[WAITS_OF_ALL])
        report_note (r, NOTE_INFORMATION,
                     "Waiting has no price here, nor in any decision: what it "
                     "costs the people whose jobs wait is unknown.");
    if (d->from_submission) {
        report_note (r, NOTE_WARNING,
                     "Jobs whose waits count from their submission, because the "
                     "source does not say from when they could start: %llu. Their "
                     "waits may include time that they were on hold.",
                     (unsigned long long)d->from_submission);
        report_note (r, NOTE_COMMAND,
                     "'gpuledger sync', JSON, and text with the column Eligible say "
                     "from when jobs could start.");
    }
    if (d->unplaced)
        report_note (r, NOTE_INFORMATION,
                     "Jobs that started without a time from which they could, "
                     "such as tasks that the limit of their array kept back: %llu. "
                     "Their waits are unknown and in no figure.",
                     (unsigned long long)d->unplaced);
    if (d->on_hold)
        report_note (r, NOTE_INFORMATION,
                     "Jobs that could not start yet (on hold, or waiting for another "
                     "job or a time): %llu. They are in no figure.",
                     (unsigned long long)d->on_hold);
    if (d->nameless)
        report_note (r, NOTE_WARNING,
                     "Jobs that asked for GPUs and waited, of which the source does "
                     "not say how many: %llu. They are in no figure.",
                     (unsigned long long)d->nameless);
    if (d->slices)
        report_note (r, NOTE_INFORMATION,
                     "A MIG slice counts as its part of a GPU; a requested one "
                     "whose type no pool names counts as a GPU.");
    if (!d->weights_known)
        report_note (r, NOTE_WARNING,
                     "Some devices have no known weight: each counts as a GPU in "
                     "waits and hours, and is not in the forecast.");
}

report_t *demand_report (demand_t *d)
{
    report_t *report
        = report_begin (&d->query, "demand", "Demand and queue waits");
    demand_page_t p = {.d = d, .report = report};

    plan_put_choices (report, d->query.site, d->asked);
    demand_columns (report);
    report->rows_shown = ROWS_SHOWN;
    add_figures (&p);
    for (int by = 0; by < WAITS_OF_ALL; by++)
        add_waits (&p, by);
    if (!d->waits[WAITS_OF_ALL])
        report_note (report, NOTE_INFORMATION,
                     "No job waited for GPUs in the period: nothing to do.");
    add_demand (&p);
    add_week (&p);
    demand_outlook (&p);
    add_hours (&p);
    add_notes (&p);
    return report;
}
