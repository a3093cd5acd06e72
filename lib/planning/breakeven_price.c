/*
 * Prices against the cost of owning: what they cost in a year, and how old they
 * are.
 */
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/calendar.h"
#include "base/exact.h"
#include "base/memory.h"
#include "planning/breakeven.h"

/* More than a century is no age of a price. */
#define YEARS_MAX 100

/* Terms by which only hours that are used are billed. Any other word binds one
 * for a time: 1y, 36 months, reserved. */
static const char *const by_use[]
    = {"spot",      "preemptible", "",       "none",         "on-demand",
       "on demand", "ondemand",    "hourly", "pay-as-you-go"};
#define SPOT_TERMS 2 /* the first of them */

static bool is_one_of (const char *term, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp (term, by_use[i]) == 0)
            return true;
    return false;
}

bool breakeven_has_term (const site_cloud_t *cloud)
{
    return cloud->term && !is_one_of (cloud->term, GL_ARRAY_SIZE (by_use));
}

bool breakeven_is_spot (const site_cloud_t *cloud)
{
    return cloud->term && is_one_of (cloud->term, SPOT_TERMS);
}

/* --- ages ---------------------------------------------------------------- */

/* The first day of what `as_of` says. */
static bool day_of (const char *as_of, int64_t *ret_day)
{
    civil_t civil;

    if (!as_of || calendar_first_day (as_of, &civil) < 0)
        return false;
    *ret_day = calendar_day_number (civil.year, civil.month, civil.day);
    return true;
}

static bool first_day (const site_cloud_t *cloud, int64_t *ret_day)
{
    return day_of (cloud->as_of, ret_day);
}

static int64_t newest_day (const site_t *site)
{
    int64_t newest = INT64_MIN, day;

    for (size_t i = 0; i < site->cloud_count; i++)
        if (first_day (&site->clouds[i], &day) && day > newest)
            newest = day;
    return newest;
}

static bool is_old (int64_t read, int months, int64_t day)
{
    return months > 0 && calendar_is_past (read, months, day);
}

void breakeven_set_ages (breakeven_t *b, const site_t *site, int64_t known,
                         int max_months)
{
    int64_t day = newest_day (site);

    if (known != BREAKEVEN_UNDATED) {
        civil_t today = zone_civil (site->zone, known);
        day = calendar_day_number (today.year, today.month, today.day);
    }
    for (size_t i = 0; i < b->cloud_count; i++) {
        breakeven_cloud_t *cloud = &b->cloud[i];
        int64_t read;
        if (!first_day (cloud->cloud, &read))
            continue;
        cloud->age_days = day > read ? day - read : 0;
        cloud->old = is_old (read, max_months, day);
    }
    b->price_day = day;
}

bool breakeven_price_old (const breakeven_t *b, const char *as_of,
                          int max_months, int64_t *ret_age_days)
{
    int64_t read;

    *ret_age_days = BREAKEVEN_NO_AGE;
    if (!day_of (as_of, &read))
        return false;
    *ret_age_days = b->price_day > read ? b->price_day - read : 0;
    return is_old (read, max_months, b->price_day);
}

int breakeven_age_years (const breakeven_t *b, const breakeven_cloud_t *cloud)
{
    int64_t read;
    int years = 1;

    if (first_day (cloud->cloud, &read))
        while (years < YEARS_MAX && is_old (read, years * 12, b->price_day))
            years++;
    return years;
}

/* --- which one ----------------------------------------------------------- */

static int no_such_cloud (const breakeven_t *b, const char *name,
                          gl_error_t *error)
{
    BUFFER_AUTO names = BUFFER_INIT;

    for (size_t i = 0; i < b->cloud_count; i++) {
        const breakeven_cloud_t *cloud = &b->cloud[i];
        if (cloud->old && strcmp (cloud->cloud->name, name) == 0)
            return gl_error (error,
                             "the price '%s' is of %s, %lld days old: "
                             "--max-age %dy compares pool '%s' with it",
                             name, cloud->cloud->as_of,
                             (long long)cloud->age_days,
                             breakeven_age_years (b, cloud), b->pool);
        buffer_printf (&names, "%s%s%s", names.length ? ", " : "",
                       cloud->cloud->name, cloud->old ? " (too old)" : "");
    }
    return gl_error (error,
                     "`clouds` has no price '%s' for the GPUs of pool '%s'; it "
                     "has: %s",
                     name, b->pool,
                     names.length ? buffer_text (&names) : "none");
}

int breakeven_against (const breakeven_t *b, const char *name,
                       const breakeven_cloud_t **ret_cloud, gl_error_t *error)
{
    const breakeven_cloud_t *found = NULL;

    for (size_t i = 0; i < b->cloud_count; i++) {
        const breakeven_cloud_t *cloud = &b->cloud[i];
        bool lower
            = !found || mpq_cmp (cloud->per_gpu_year, found->per_gpu_year) < 0;
        if (cloud->old)
            continue;
        if (name ? strcmp (cloud->cloud->name, name) == 0
                 : !cloud->never && lower)
            found = cloud;
    }
    if (name && !found)
        return no_such_cloud (b, name, error);
    *ret_cloud = found;
    return 0;
}
