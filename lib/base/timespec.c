#include <string.h>
#include <strings.h>

#include "base/calendar.h"
#include "base/instant.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/timespec.h"

/* What a word says about the day of `now`; -1: the moment itself. */
static const struct {
    const char *word;
    int hour;
    int days;
} words[] = {
    {"now", -1, 0},  {"today", 0, 0},    {"midnight", 0, 0}, {"noon", 12, 0},
    {"fika", 15, 0}, {"teatime", 16, 0}, {"tomorrow", 0, 1},
};

static const struct {
    const char *name;
    int64_t seconds;
} units[] = {
    {"seconds", 1},  {"minutes", 60},   {"hours", 3600},
    {"days", 86400}, {"weeks", 604800},
};

/* "", "+2hours", "-7days". Counts up to a century of seconds. */
static int parse_delta (const char *text, int64_t *ret_seconds)
{
    size_t digits;
    uint64_t count;
    const char *unit;

    *ret_seconds = 0;
    if (!*text)
        return 0;
    if (*text != '+' && *text != '-')
        return -1;
    digits = strspn (text + 1, "0123456789");
    if (number_u64 (text + 1, digits, &count) < 0 || count > UINT32_MAX)
        return -1;
    unit = text + 1 + digits;
    for (size_t i = 0; i < GL_ARRAY_SIZE (units); i++) {
        if (strncasecmp (unit, units[i].name, strlen (unit)) == 0) {
            *ret_seconds
                = (int64_t)count * units[i].seconds * (*text == '-' ? -1 : 1);
            return 0;
        }
    }
    return -1;
}

static int parse_word (const char *text, const zone_t *zone, int64_t now,
                       int64_t *ret_instant)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (words); i++) {
        size_t length = strlen (words[i].word);
        civil_t civil = zone_civil (zone, now);
        int64_t delta;
        if (strncasecmp (text, words[i].word, length) != 0)
            continue;
        if (parse_delta (text + length, &delta) < 0)
            return -1;
        if (words[i].hour >= 0) {
            civil = calendar_civil_of_day (
                calendar_day_number (civil.year, civil.month, civil.day)
                + words[i].days);
            civil.hour = words[i].hour;
            now = zone_instant (zone, &civil);
        }
        *ret_instant = now + delta;
        return 0;
    }
    return -1;
}

static int digits_value (const char *text, size_t length, int *ret_value)
{
    uint64_t value;

    if (strspn (text, "0123456789") < length
        || number_u64 (text, length, &value) < 0)
        return -1;
    *ret_value = (int)value;
    return 0;
}

/* "HH:MM[:SS]", one or two digits each, then " AM", "pm" or nothing. */
static int parse_clock (const char *text, civil_t *civil)
{
    int *const field[] = {&civil->hour, &civil->minute, &civil->second};
    size_t n = 0, length;

    civil->hour = civil->minute = civil->second = 0;
    for (; n < 3; n++) {
        length = strspn (text, "0123456789");
        if (length < 1 || length > 2
            || digits_value (text, length, field[n]) < 0)
            return -1;
        text += length;
        if (*text != ':' || n == 2)
            break;
        text++;
    }
    if (n < 1)
        return -1;
    while (*text == ' ')
        text++;
    if (!strcasecmp (text, "am") || !strcasecmp (text, "pm")) {
        if (civil->hour < 1 || civil->hour > 12)
            return -1;
        civil->hour = civil->hour % 12 + (*text == 'p' || *text == 'P') * 12;
        text += 2;
    }
    return *text ? -1 : 0;
}

/* A year of two digits is in this century; none: the last such month. */
static int set_year (civil_t *civil, const char *text, size_t length,
                     const civil_t *now)
{
    if (length == 0)
        civil->year = now->year - (civil->month > now->month);
    else if ((length != 2 && length != 4)
             || digits_value (text, length, &civil->year) < 0)
        return -1;
    else if (length == 2)
        civil->year += 2000;
    return 0;
}

/* "MM/DD", "MM/DD/YY", "MMDD", "MMDDYY"; moves behind it. */
static int parse_day (const char **text, const civil_t *now, civil_t *civil)
{
    const char *p = *text;
    size_t length = strspn (p, "0123456789"), year;
    char separator = p[length];

    if (length == 4 || length == 6) {
        if (digits_value (p, 2, &civil->month) < 0
            || digits_value (p + 2, 2, &civil->day) < 0
            || set_year (civil, p + 4, length - 4, now) < 0)
            return -1;
        *text = p + length;
        return 0;
    }
    if (length < 1 || length > 2 || (separator != '/' && separator != '.')
        || digits_value (p, length, &civil->month) < 0)
        return -1;
    p += length + 1;
    length = strspn (p, "0123456789");
    if (length < 1 || length > 2 || digits_value (p, length, &civil->day) < 0)
        return -1;
    p += length;
    year = *p == separator ? strspn (p + 1, "0123456789") : 0;
    if (*p == separator && year == 0)
        return -1;
    if (set_year (civil, p + 1, year, now) < 0)
        return -1;
    *text = p + (year ? year + 1 : 0);
    return 0;
}

static int parse_civil (const char *text, const zone_t *zone, int64_t now,
                        int64_t *ret_instant)
{
    civil_t today = zone_civil (zone, now), civil = today;

    if (parse_clock (text, &civil) < 0) {
        civil = (civil_t){0};
        if (parse_day (&text, &today, &civil) < 0)
            return -1;
        if (*text && (*text != '-' || parse_clock (text + 1, &civil) < 0))
            return -1;
    }
    if (!civil_valid (&civil))
        return -1;
    *ret_instant = zone_instant (zone, &civil);
    return 0;
}

int timespec_parse (const char *text, const zone_t *zone, int64_t now,
                    int64_t *ret_instant, gl_error_t *error)
{
    int64_t instant;

    if (parse_word (text, zone, now, &instant) < 0
        && parse_civil (text, zone, now, &instant) < 0)
        return instant_parse (text, zone, ret_instant, error);
    if (instant < 0)
        return gl_error (error, "the time '%s' lies before 1970", text);
    *ret_instant = instant;
    return 0;
}
