#include <string.h>

#include "base/calendar.h"
#include "base/instant.h"
#include "base/number.h"

#define LAST_INSTANT INT64_C (4102444800) /* 2100-01-01 */

/* Exactly two digits. */
static int two_digits (const char *text, int *ret_value)
{
    uint64_t value;

    if (strnlen (text, 2) < 2 || number_u64 (text, 2, &value) < 0)
        return -1;
    *ret_value = value;
    return 0;
}

/* "HH:MM[:SS]" at *text; moves behind it. */
static int parse_clock (const char **text, civil_t *civil)
{
    const char *p = *text;

    if (two_digits (p, &civil->hour) < 0 || p[2] != ':'
        || two_digits (p + 3, &civil->minute) < 0)
        return -1;
    p += 5;
    if (*p == ':') {
        if (two_digits (p + 1, &civil->second) < 0)
            return -1;
        p += 3;
    }
    *text = p;
    return 0;
}

/* "Z", "+HH:MM", "-HH:MM": all that is left. */
static int parse_offset (const char *text, int *ret_seconds)
{
    int hours, minutes;

    if (!strcmp (text, "Z")) {
        *ret_seconds = 0;
        return 0;
    }
    if ((*text != '+' && *text != '-') || two_digits (text + 1, &hours) < 0
        || text[3] != ':' || two_digits (text + 4, &minutes) < 0 || text[6]
        || hours > 14 || minutes > 59)
        return -1;
    *ret_seconds = (hours * 60 + minutes) * (*text == '-' ? -60 : 60);
    return 0;
}

static int parse_date (const char **text, civil_t *civil)
{
    size_t length = strcspn (*text, "TZ+");

    /* the '-' of an offset is not one of the date's */
    if (length > 10)
        length = 10;
    if (calendar_parse_date (*text, length, civil) < 0
        && calendar_parse_month (*text, length > 7 ? length = 7 : length, civil)
               < 0)
        return -1;
    *text += length;
    return 0;
}

static int parse_text (const char *text, const zone_t *zone, int64_t *ret)
{
    civil_t civil = {0};
    int offset;

    if (*text == '@')
        return number_i64_text (text + 1, ret);
    if (parse_date (&text, &civil) < 0)
        return -1;
    if (*text == 'T') {
        text++;
        if (parse_clock (&text, &civil) < 0)
            return -1;
    }
    if (!civil_valid (&civil))
        return -1;
    if (!*text) {
        *ret = zone_instant (zone, &civil);
        return 0;
    }
    if (parse_offset (text, &offset) < 0)
        return -1;
    *ret = civil_seconds (&civil) - offset;
    return 0;
}

int instant_parse (const char *text, const zone_t *zone, int64_t *ret_instant,
                   gl_error_t *error)
{
    int64_t instant;

    if (parse_text (text, zone, &instant) < 0)
        return gl_error (error,
                         "'%s' is no time: write 2026-10-05, "
                         "2026-10-05T14:30[:00], either with Z or +02:00 at "
                         "its end, or @SECONDS since 1970",
                         text);
    if (instant < 0 || instant >= LAST_INSTANT)
        return gl_error (error, "the time '%s' is not between 1970 and 2099",
                         text);
    *ret_instant = instant;
    return 0;
}
