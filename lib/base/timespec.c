#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/timespec.h"

/* --- without regard to the clock ---------------------------------------- */

/* "HH:MM[:SS]" at *text; moves behind it. */
static int parse_exact_clock (const char **text, civil_t *civil)
{
    const char *p = *text;

    if (calendar_two_digits (p, &civil->hour) < 0 || p[2] != ':'
        || calendar_two_digits (p + 3, &civil->minute) < 0)
        return -1;
    p += 5;
    if (*p == ':') {
        if (calendar_two_digits (p + 1, &civil->second) < 0)
            return -1;
        p += 3;
    }
    *text = p;
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
        if (parse_exact_clock (&text, &civil) < 0)
            return -1;
    }
    if (!civil_valid (&civil))
        return -1;
    if (!*text) {
        *ret = zone_instant (zone, &civil);
        return 0;
    }
    if (zone_parse_offset (text, false, &offset) < 0)
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
                         "'%s' is not a time: write 2026-10-05, "
                         "2026-10-05T14:30[:00], either with Z or +02:00 at "
                         "its end, or @SECONDS since 1970",
                         text);
    if (instant < 0 || instant >= INSTANT_END)
        return gl_error (error, "the time '%s' is not between 1970 and 2099",
                         text);
    *ret_instant = instant;
    return 0;
}

/* --- as sacct has it ------------------------------------------------------ */

/* What has been read of a text so far. */
struct reading {
    const char *text; /* what is left */
    civil_t now;
    civil_t civil;
    bool day;
    bool clock;
};

/* A word says a day, counted from today, or a time of day; now says both. */
#define NO_HOUR -1
#define NO_DAY -1
static const struct word {
    const char *word;
    int hour;
    int day;
} words[] = {
    {"now", NO_HOUR, NO_DAY}, {"today", NO_HOUR, 0},
    {"tomorrow", NO_HOUR, 1}, {"midnight", 0, NO_DAY},
    {"noon", 12, NO_DAY},     {"elevenses", 11, NO_DAY},
    {"fika", 15, NO_DAY},     {"teatime", 16, NO_DAY},
};

static const struct {
    const char *name;
    int64_t seconds;
} units[] = {
    {"seconds", 1},  {"minutes", 60},   {"hours", 3600},
    {"days", 86400}, {"weeks", 604800},
};

static const struct word *find_word (const char *text)
{
    return GL_FIND (words, GL_ARRAY_SIZE (words), it,
                    strncasecmp (text, it->word, strlen (it->word)) == 0);
}

static bool is_now (const struct word *word)
{
    return word->day == NO_DAY && word->hour == NO_HOUR;
}

static const char *skip_blanks (const char *text)
{
    return text + strspn (text, " \t");
}

/* "", "+2hours", "-7days", "- 7 days"; seconds without a unit, if it may be
 * missing. Counts up to a century of seconds. */
static int parse_delta (const char *text, bool unit_needed,
                        int64_t *ret_seconds)
{
    const char *sign = skip_blanks (text), *digits, *unit;
    size_t length;
    uint64_t count;

    *ret_seconds = 0;
    if (!*sign)
        return 0;
    if (*sign != '+' && *sign != '-')
        return -1;
    digits = skip_blanks (sign + 1);
    length = strspn (digits, "0123456789");
    if (number_u64 (digits, length, &count) < 0 || count > UINT32_MAX)
        return -1;
    unit = skip_blanks (digits + length);
    if (unit_needed && !*unit)
        return -1;
    for (size_t i = 0; i < GL_ARRAY_SIZE (units); i++) {
        if (strncasecmp (unit, units[i].name, strlen (unit)) == 0) {
            *ret_seconds
                = (int64_t)count * units[i].seconds * (*sign == '-' ? -1 : 1);
            return 0;
        }
    }
    return -1;
}

static void set_day (struct reading *r, int days)
{
    civil_t day = calendar_civil_of_day (
        calendar_day_number (r->now.year, r->now.month, r->now.day) + days);

    r->civil.year = day.year;
    r->civil.month = day.month;
    r->civil.day = day.day;
    r->day = true;
}

static void set_hour (struct reading *r, int hour)
{
    r->civil.hour = hour;
    r->civil.minute = r->civil.second = 0;
    r->clock = true;
}

/* A word with a distance: "now-7days", "today-1day"; "noon-1005" is a day. */
static int parse_distance (const char *text, const zone_t *zone, int64_t now,
                           int64_t *ret_instant)
{
    const struct word *word = find_word (text);
    struct reading r = {.now = zone_civil (zone, now)};
    int64_t delta;

    if (!word
        || parse_delta (text + strlen (word->word), !is_now (word), &delta) < 0)
        return -1;
    if (!is_now (word)) {
        set_day (&r, word->day == NO_DAY ? 0 : word->day);
        set_hour (&r, word->hour == NO_HOUR ? 0 : word->hour);
        now = zone_instant (zone, &r.civil);
    }
    *ret_instant = now + delta;
    return 0;
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

/* The items of a text. Each moves behind itself, or leaves all as it was. */

static int read_word (struct reading *r)
{
    const struct word *word = find_word (r->text);

    if (!word || is_now (word) || (word->day == NO_DAY ? r->clock : r->day))
        return -1;
    if (word->day != NO_DAY)
        set_day (r, word->day);
    else
        set_hour (r, word->hour);
    r->text += strlen (word->word);
    return 0;
}

/* " AM", "pm" or nothing, as Slurm has them: 0:15 pm is 12:15. */
static int read_half_day (const char **text, int *hour)
{
    const char *p = *text + strspn (*text, " \t");
    bool pm = !strncasecmp (p, "pm", 2);

    if (!pm && strncasecmp (p, "am", 2) != 0)
        return 0;
    if (*hour > 12)
        return -1;
    *hour = *hour % 12 + (pm ? 12 : 0);
    *text = p + 2;
    return 0;
}

/* "HH:MM[:SS]", the hour of one or two digits. */
static int read_clock (struct reading *r)
{
    size_t length = strspn (r->text, "0123456789");
    const char *p = r->text + length;
    civil_t clock = {0};

    if (r->clock || length < 1 || length > 2 || *p != ':'
        || digits_value (r->text, length, &clock.hour) < 0
        || digits_value (p + 1, 2, &clock.minute) < 0)
        return -1;
    p += 3;
    if (*p == ':') {
        if (digits_value (p + 1, 2, &clock.second) < 0)
            return -1;
        p += 3;
    }
    if (isdigit ((unsigned char)*p) || read_half_day (&p, &clock.hour) < 0)
        return -1;
    r->civil.hour = clock.hour;
    r->civil.minute = clock.minute;
    r->civil.second = clock.second;
    r->clock = true;
    r->text = p;
    return 0;
}

/* "2026-10-05" */
static int read_date (struct reading *r)
{
    civil_t date;

    if (r->day || strnlen (r->text, 10) < 10
        || calendar_parse_date (r->text, 10, &date) < 0
        || isdigit ((unsigned char)r->text[10]))
        return -1;
    r->civil.year = date.year;
    r->civil.month = date.month;
    r->civil.day = date.day;
    r->day = true;
    r->text += 10;
    return 0;
}

/* A year of two digits is in this century; none: the last such month. */
static int set_year (struct reading *r, const char *text, size_t length)
{
    int *year = &r->civil.year;

    if (length == 0)
        *year = r->now.year - (r->civil.month > r->now.month);
    else if ((length != 2 && length != 4)
             || digits_value (text, length, year) < 0)
        return -1;
    else if (length == 2)
        *year += 2000;
    return 0;
}

/* "MMDD", "MMDDYY" */
static int read_packed_day (struct reading *r)
{
    size_t length = strspn (r->text, "0123456789");

    if (r->day || (length != 4 && length != 6)
        || digits_value (r->text, 2, &r->civil.month) < 0
        || digits_value (r->text + 2, 2, &r->civil.day) < 0
        || set_year (r, r->text + 4, length - 4) < 0)
        return -1;
    r->text += length;
    r->day = true;
    return 0;
}

/* "MM/DD", "MM/DD/YY", "MM.DD.YYYY" */
static int read_parted_day (struct reading *r)
{
    const char *p = r->text;
    size_t length = strspn (p, "0123456789"), year;
    char separator = p[length];

    if (r->day || length < 1 || length > 2
        || (separator != '/' && separator != '.')
        || digits_value (p, length, &r->civil.month) < 0)
        return -1;
    p += length + 1;
    length = strspn (p, "0123456789");
    if (length < 1 || length > 2 || digits_value (p, length, &r->civil.day) < 0)
        return -1;
    p += length;
    year = *p == separator ? strspn (p + 1, "0123456789") : 0;
    if ((*p == separator && year == 0) || set_year (r, p + 1, year) < 0)
        return -1;
    r->text = p + (year ? year + 1 : 0);
    r->day = true;
    return 0;
}

static int (*const items[]) (struct reading *r)
    = {read_word, read_clock, read_date, read_packed_day, read_parted_day};

static int read_item (struct reading *r)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (items); i++) {
        if (items[i](r) == 0)
            return 0;
    }
    return -1;
}

/* A day and a time of day, in either order, or one of them. Behind
 * "2026-10-05" a '-' and a time would be an offset from UTC for us and a time
 * of day for Slurm. */
static int parse_items (const char *text, const zone_t *zone, int64_t now,
                        int64_t *ret_instant, bool *ret_ambiguous)
{
    struct reading r = {.text = text, .now = zone_civil (zone, now)};
    bool dated = read_date (&r) == 0;

    *ret_ambiguous = dated && *r.text == '-'
                     && read_clock (&(struct reading){.text = r.text + 1}) == 0;
    if (*ret_ambiguous || (!dated && read_item (&r) < 0))
        return -1;
    while (*r.text) {
        size_t separators = strspn (r.text, " \t-T");
        if (separators == 0)
            return -1;
        r.text += separators;
        if (!*r.text && !strpbrk (r.text - separators, "-T"))
            break;
        if (read_item (&r) < 0)
            return -1;
    }
    if (!r.day)
        set_day (&r, 0);
    if (!civil_valid (&r.civil))
        return -1;
    *ret_instant = zone_instant (zone, &r.civil);
    return 0;
}

/* "uts1790000000", Slurm's "@1790000000" */
static int parse_seconds (const char *text, int64_t *ret_instant)
{
    return strncasecmp (text, "uts", 3) == 0
               ? number_i64_text (text + 3, ret_instant)
               : -1;
}

int timespec_parse (const char *text, const zone_t *zone, int64_t now,
                    int64_t *ret_instant, gl_error_t *error)
{
    bool ambiguous = false;
    int64_t instant;

    if (parse_seconds (text, &instant) < 0
        && parse_distance (text, zone, now, &instant) < 0
        && parse_items (text, zone, now, &instant, &ambiguous) < 0) {
        if (!ambiguous)
            return instant_parse (text, zone, ret_instant, error);
        return gl_error (error,
                         "'%s' could be a time of day or an offset from UTC: "
                         "write DATETHH:MM or DATET00:00-HH:MM",
                         text);
    }
    if (instant < 0 || instant >= INSTANT_END)
        return gl_error (error, "the time '%s' is not between 1970 and 2099",
                         text);
    *ret_instant = instant;
    return 0;
}
