#include <stdbool.h>
#include <string.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "money/tariff.h"

/* 1970-01-01 was a Thursday; Monday is 0. */
static int weekday (int64_t day_number)
{
    return (int)(((day_number + 3) % 7 + 7) % 7);
}

static int64_t instant_of (const zone_t *zone, int64_t day, int minutes)
{
    civil_t civil = calendar_civil_of_day (day + minutes / (24 * 60));

    civil.hour = minutes / 60 % 24;
    civil.minute = minutes % 60;
    return zone_instant (zone, &civil);
}

/* When hours that begin on the day are. Empty: not on this day of the week. */
static period_t window (const zone_t *zone, const site_tariff_time_t *time,
                        int64_t day)
{
    int from = time->hours[0], to = time->hours[1];
    period_t window = {0, 0};

    if (!(time->days & 1u << weekday (day)))
        return window;
    if (to <= from)
        to += 24 * 60;
    window.start = instant_of (zone, day, from);
    window.end = instant_of (zone, day, to);
    return window;
}

/* The first of the times that holds at the instant, from 1 on; 0: none. */
static size_t price_at (const zone_t *zone, const site_tariff_t *tariff,
                        int64_t day, int64_t instant)
{
    for (size_t i = 0; i < tariff->time_count; i++) {
        for (int64_t d = day - 1; d <= day; d++) {
            period_t w = window (zone, &tariff->times[i], d);
            if (w.start <= instant && instant < w.end)
                return i + 1;
        }
    }
    return 0;
}

/* One local day: between two ends of windows one price holds. */
static void each_of_day (const zone_t *zone, const site_tariff_t *tariff,
                         int64_t day, period_t part, tariff_f callback,
                         void *arg)
{
    int64_t *cuts = xcalloc (4 * tariff->time_count + 2, sizeof (*cuts));
    size_t count = 0;

    cuts[count++] = part.start;
    cuts[count++] = part.end;
    for (size_t i = 0; i < tariff->time_count; i++) {
        for (int64_t d = day - 1; d <= day; d++) {
            period_t w = window (zone, &tariff->times[i], d);
            if (w.start > part.start && w.start < part.end)
                cuts[count++] = w.start;
            if (w.end > part.start && w.end < part.end)
                cuts[count++] = w.end;
        }
    }
    count = instants_sort (cuts, count);
    for (size_t i = 1; i < count; i++)
        callback ((period_t){cuts[i - 1], cuts[i]},
                  price_at (zone, tariff, day, cuts[i - 1]), arg);
    free (cuts);
}

void tariff_each (const site_t *site, const site_tariff_t *tariff,
                  period_t period, tariff_f callback, void *arg)
{
    const zone_t *zone = tariff->zone ? tariff->zone : site->zone;

    if (tariff->time_count == 0 && period_seconds (period) > 0) {
        callback (period, 0, arg);
        return;
    }
    for (int64_t at = period.start; at < period.end;) {
        period_t day = zone_unit (zone, CALENDAR_DAY, at);
        civil_t date = zone_civil (zone, day.start);
        period_t part = period_clip (period, (period_t){at, day.end});
        each_of_day (zone, tariff,
                     calendar_day_number (date.year, date.month, date.day),
                     part, callback, arg);
        at = day.end;
    }
}

static void count_seconds (period_t period, size_t price, void *arg)
{
    int64_t *seconds = arg;

    seconds[price] += period_seconds (period);
}

void tariff_seconds (const site_t *site, const site_tariff_t *tariff,
                     period_t period, int64_t *ret_seconds)
{
    memset (ret_seconds, 0, (tariff->time_count + 1) * sizeof (*ret_seconds));
    tariff_each (site, tariff, period, count_seconds, ret_seconds);
}

mpq_srcptr tariff_price (const site_tariff_t *tariff, size_t i)
{
    return i == 0 ? tariff->per_kwh : tariff->times[i - 1].per_kwh;
}

void tariff_mean_price (const site_t *site, const site_tariff_t *tariff,
                        period_t period, mpq_t ret_price)
{
    int64_t *seconds = xcalloc (tariff->time_count + 1, sizeof (*seconds));

    tariff_seconds (site, tariff, period, seconds);
    mpq_set_ui (ret_price, 0, 1);
    for (size_t i = 0; i <= tariff->time_count; i++)
        exact_add_scaled (ret_price, tariff_price (tariff, i), seconds[i],
                          period_seconds (period));
    free (seconds);
}
