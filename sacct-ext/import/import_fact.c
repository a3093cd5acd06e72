#include <string.h>

#include "base/array.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "base/number.h"
#include "site/segment.h"
#include "import/import_fact.h"

bool fact_none (const char *text)
{
    static const char *const words[] = {
        "", "Unknown", "None", "None assigned", "(null)", "N/A",
    };

    return GL_ANY (words, GL_ARRAY_SIZE (words), it, strcmp (*it, text) == 0);
}

bool fact_printable (const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7f)
            return false;
    }
    return true;
}

/* The date and the clock; *ret_rest: what follows. */
static int parse_civil (const char *text, civil_t *civil, const char **ret_rest)
{
    if (strnlen (text, 19) < 19 || calendar_parse_date (text, 10, civil) < 0
        || (text[10] != 'T' && text[10] != ' ')
        || calendar_two_digits (text + 11, &civil->hour) < 0 || text[13] != ':'
        || calendar_two_digits (text + 14, &civil->minute) < 0
        || text[16] != ':'
        || calendar_two_digits (text + 17, &civil->second) < 0
        || !civil_valid (civil))
        return -1;
    *ret_rest = text + 19;
    return 0;
}

/* A clock that is set back shows the same times again: the second moment. The
 * clock of no zone is moved by more than three hours. */
static int64_t later_reading (const zone_t *zone, const civil_t *civil,
                              int64_t first)
{
    int64_t local = civil_seconds (civil);
    int64_t second = local - zone_offset (zone, first + 3 * 3600);
    civil_t shown;

    if (second <= first)
        return first;
    shown = zone_civil (zone, second);
    return civil_seconds (&shown) == local ? second : first;
}

static int zone_time (const char *text, const civil_t *civil,
                      const zone_t *zone, int64_t *ret_time, int64_t *ret_later,
                      gl_error_t *error)
{
    int64_t instant = zone_instant (zone, civil);
    civil_t shown = zone_civil (zone, instant);

    if (civil_seconds (&shown) != civil_seconds (civil))
        return gl_error (error,
                         "the clock of %s skips the time '%s'; does --tz name "
                         "the zone in which sacct ran?",
                         zone_name (zone), text);
    *ret_time = instant;
    *ret_later = later_reading (zone, civil, instant);
    return 0;
}

static int parse_time (const char *text, const zone_t *zone, int64_t *ret_time,
                       int64_t *ret_later, gl_error_t *error)
{
    civil_t civil;
    const char *rest;
    int offset;

    if (number_i64_text (text, ret_time) == 0) {
        *ret_later = *ret_time;
        return 0;
    }
    if (parse_civil (text, &civil, &rest) < 0)
        return gl_error (error,
                         "'%.40s' is not a valid time (as 2026-10-05T14:30:00)",
                         text);
    if (*rest == '\0')
        return zone_time (text, &civil, zone, ret_time, ret_later, error);
    if (zone_parse_offset (rest, true, &offset) < 0)
        return gl_error (error,
                         "'%.20s' after the time '%.19s' is not an offset",
                         rest, text);
    *ret_time = *ret_later = civil_seconds (&civil) - offset;
    return 0;
}

int fact_time (const char *text, const zone_t *zone, int64_t *ret_time,
               int64_t *ret_later, gl_error_t *error)
{
    int64_t time = 0, later = 0;

    if (!fact_none (text) && strcmp (text, "0") != 0) {
        if (parse_time (text, zone, &time, &later, error) < 0)
            return -1;
        if (time <= 0 || later >= INSTANT_END)
            return gl_error (error,
                             "the time '%.40s' is not between 1970 and "
                             "2099",
                             text);
    }
    *ret_time = time;
    if (ret_later)
        *ret_later = later;
    return 0;
}

/* Up to three numbers between colons, the last ones of h:m:s. */
static int parse_clock (const char *text, size_t length, int64_t *ret_seconds)
{
    int64_t seconds = 0, part;
    int parts = 0;

    for (const char *p = text, *end = text + length; p <= end; parts++) {
        const char *colon = memchr (p, ':', end - p);
        size_t n = (colon ? colon : end) - p;
        if (parts == 3 || n > 6 || number_i64 (p, n, &part) < 0 || part < 0
            || (parts > 0 && part > 59))
            return -1;
        seconds = seconds * 60 + part;
        p += n + 1;
    }
    *ret_seconds = seconds;
    return parts < 2 ? -1 : 0;
}

int fact_duration (const char *text, int64_t *ret_seconds, gl_error_t *error)
{
    const char *dash = strchr (text, '-');
    const char *clock = dash ? dash + 1 : text;
    int64_t days = 0, seconds;

    if ((dash
         && (dash - text > 7 || number_i64 (text, dash - text, &days) < 0
             || days < 0))
        || parse_clock (clock, strcspn (clock, "."), &seconds) < 0)
        return gl_error (error, "'%.40s' is not a duration ([DAYS-]HH:MM:SS)",
                         text);
    *ret_seconds = days * 86400 + seconds;
    return 0;
}

/* A number at *text, which moves behind it. */
static bool take_number (const char **text, uint64_t *ret_value)
{
    size_t digits = strspn (*text, "0123456789");

    if (digits == 0 || digits > 9 || number_u64 (*text, digits, ret_value) < 0)
        return false;
    *text += digits;
    return true;
}

/* "12", "1-9" or "1-9:2": how many; 0: it is none of these. */
static uint64_t take_tasks (const char **text)
{
    uint64_t first, last, step = 1;

    if (!take_number (text, &first))
        return 0;
    last = first;
    if (**text == '-' && (++*text, !take_number (text, &last)))
        return 0;
    if (**text == ':' && (++*text, !take_number (text, &step)))
        return 0;
    return last < first || step == 0 ? 0 : (last - first) / step + 1;
}

uint32_t fact_waiting_tasks (const char *text)
{
    uint64_t tasks = 0, more;

    if (!text)
        return 0;
    text += *text == '[';
    while ((more = take_tasks (&text)) > 0) {
        tasks += more;
        if (*text != ',')
            break;
        text++;
    }
    return tasks < TASK_NONE ? (uint32_t)tasks : TASK_NONE - 1;
}
