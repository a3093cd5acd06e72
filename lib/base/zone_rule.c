/* The rule of a zone: POSIX TZ, "CET-1CEST,M3.5.0,M10.5.0/3". */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/calendar.h"
#include "base/zone_table.h"

#define LAST_YEAR 2100
#define UNITED_STATES ",M3.2.0,M11.1.0"

/* A day of each year, and the time of that day. */
struct date {
    enum { JULIAN, ZERO_BASED, MONTHLY } kind;
    int month;
    int week; /* of the month; 5: the last */
    int day;
    int seconds; /* on the clock before the change */
};

struct rule {
    int standard; /* seconds east of UTC */
    int summer;
    bool changes;
    struct date start; /* of summer */
    struct date end;
};

/* --- reading ----------------------------------------------------------- */

static bool take (const char **at, char c)
{
    if (**at != c)
        return false;
    (*at)++;
    return true;
}

static bool take_number (const char **at, int least, int most, int *ret)
{
    int value = 0, digits = 0;

    for (; isdigit ((unsigned char)**at) && digits < 3; digits++)
        value = 10 * value + *(*at)++ - '0';
    *ret = value;
    return digits > 0 && value >= least && value <= most;
}

/* Letters, or <...>. */
static bool take_name (const char **at)
{
    bool quoted = take (at, '<');
    size_t length = 0;

    for (; isalpha ((unsigned char)**at)
           || (quoted && **at && strchr ("0123456789+-", **at));
         (*at)++)
        length++;
    return length >= 3 && (!quoted || take (at, '>'));
}

/* [+-]hh[:mm[:ss]] */
static bool take_time (const char **at, int most_hours, int *ret)
{
    bool negative = take (at, '-');
    int hours, minutes = 0, seconds = 0;

    if (!negative)
        take (at, '+');
    if (!take_number (at, 0, most_hours, &hours)
        || (take (at, ':')
            && (!take_number (at, 0, 59, &minutes)
                || (take (at, ':') && !take_number (at, 0, 59, &seconds)))))
        return false;
    *ret = hours * 3600 + minutes * 60 + seconds;
    if (negative)
        *ret = -*ret;
    return true;
}

/* ,Jn  ,n  ,Mm.w.d  each with /time or without. */
static bool take_date (const char **at, struct date *ret)
{
    struct date d = {.kind = ZERO_BASED, .seconds = 2 * 3600};
    bool right;

    if (!take (at, ','))
        return false;
    if (take (at, 'J')) {
        d.kind = JULIAN;
        right = take_number (at, 1, 365, &d.day);
    } else if (take (at, 'M')) {
        d.kind = MONTHLY;
        right = take_number (at, 1, 12, &d.month) && take (at, '.')
                && take_number (at, 1, 5, &d.week) && take (at, '.')
                && take_number (at, 0, 6, &d.day);
    } else
        right = take_number (at, 0, 365, &d.day);
    if (right && take (at, '/'))
        right = take_time (at, 167, &d.seconds);
    *ret = d;
    return right;
}

static bool take_dates (const char *at, struct rule *r)
{
    return take_date (&at, &r->start) && take_date (&at, &r->end)
           && *at == '\0';
}

/* Offsets are west of UTC in a rule. */
static bool read_rule (const char *text, struct rule *ret)
{
    const char *at = text;
    struct rule r = {.changes = false};

    if (!take_name (&at) || !take_time (&at, 24, &r.standard))
        return false;
    r.standard = -r.standard;
    r.changes = *at != '\0';
    if (r.changes) {
        if (!take_name (&at))
            return false;
        r.summer = r.standard + 3600;
        if (*at && *at != ',') {
            if (!take_time (&at, 24, &r.summer))
                return false;
            r.summer = -r.summer;
        }
        if (!take_dates (*at ? at : UNITED_STATES, &r))
            return false;
    }
    *ret = r;
    return true;
}

/* --- the changes of a year --------------------------------------------- */

static int64_t day_of (const struct date *d, int year)
{
    int64_t first = calendar_day_number (year, d->kind == MONTHLY ? d->month : 1,
                                         1);
    int64_t day;

    if (d->kind == ZERO_BASED)
        return first + d->day;
    if (d->kind == JULIAN) /* 29 February is not counted */
        return first + d->day - 1
               + (calendar_leap_year (year) && d->day >= 60);
    /* 1970-01-01 was a Thursday */
    day = first + (d->day - (first + 4) % 7 + 7) % 7 + 7 * (d->week - 1);
    while (day >= first + calendar_days_in_month (year, d->month))
        day -= 7;
    return day;
}

static zone_change_t change_of (const struct date *d, int year, int before,
                                int after)
{
    return (zone_change_t){day_of (d, year) * 86400 + d->seconds - before,
                           after};
}

int zone_table_add_rule (zone_table_t *table, const char *rule, int64_t from)
{
    int64_t begin = from > 0 ? from : 0;
    int year = civil_of_seconds (begin).year;
    struct rule r;

    if (!read_rule (rule, &r))
        return -1;
    zone_table_add (table, begin, r.standard);
    /* what began in the year before may hold yet */
    for (year = year > 1970 ? year - 1 : 1969; r.changes && year <= LAST_YEAR;
         year++) {
        zone_change_t c[2]
            = {change_of (&r.start, year, r.standard, r.summer),
               change_of (&r.end, year, r.summer, r.standard)};
        bool southern = c[1].instant < c[0].instant;
        for (int i = 0; i < 2; i++) {
            zone_change_t one = c[southern ? 1 - i : i];
            zone_table_add (table, one.instant > begin ? one.instant : begin,
                            one.offset);
        }
    }
    return 0;
}
