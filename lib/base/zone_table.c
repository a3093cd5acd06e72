#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "base/zone.h"
#include "base/zone_table.h"

/* The span of a table: from the epoch to 2100-01-01. */
#define FIRST_INSTANT 0

/* From `instant` on; not before the last one that was added. */
static void zone_table_add (zone_table_t *t, int64_t instant, int offset)
{
    if (instant >= INSTANT_END)
        return;
    if (instant < FIRST_INSTANT)
        instant = FIRST_INSTANT;
    if (t->count > 0 && t->change[t->count - 1].instant >= instant)
        t->count--;
    if (t->count > 0 && t->change[t->count - 1].offset == offset)
        return;
    *GL_APPEND (t->change, t->count) = (zone_change_t){instant, offset};
}

/* --- a file of the zone database: RFC 9636 ------------------------------ */

#define HEADER_SIZE 44
#define TYPE_SIZE 6

struct reader {
    const uint8_t *bytes;
    size_t length;
};

/* A header and the offsets of its data block's parts. */
struct block {
    char version;
    size_t time_size; /* of an instant: 4 or 8 bytes */
    size_t times;     /* how many changes */
    size_t types;
    size_t time_at;
    size_t index_at;
    size_t type_at;
    size_t end;
};

static uint64_t big_endian (const uint8_t *at, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value << 8 | at[i];
    return value;
}

static int64_t instant_at (const struct reader *r, const struct block *b,
                           size_t i)
{
    uint64_t value
        = big_endian (r->bytes + b->time_at + i * b->time_size, b->time_size);

    return b->time_size == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
}

static int offset_of (const struct reader *r, const struct block *b,
                      size_t type)
{
    return (int32_t)(uint32_t)big_endian (
        r->bytes + b->type_at + type * TYPE_SIZE, 4);
}

static bool read_block (const struct reader *r, size_t at, size_t time_size,
                        struct block *ret)
{
    const uint8_t *header = r->bytes + at;
    size_t count[6]; /* UT and standard indicators, leaps, changes, types,
                        letters */

    if (r->length - at < HEADER_SIZE || memcmp (header, "TZif", 4) != 0)
        return false;
    for (size_t i = 0; i < 6; i++)
        count[i] = big_endian (header + 20 + 4 * i, 4);
    *ret = (struct block){.version = (char)header[4],
                          .time_size = time_size,
                          .times = count[3],
                          .types = count[4],
                          .time_at = at + HEADER_SIZE};
    ret->index_at = ret->time_at + ret->times * time_size;
    ret->type_at = ret->index_at + ret->times;
    ret->end = ret->type_at + ret->types * TYPE_SIZE + count[5]
               + count[2] * (time_size + 4) + count[1] + count[0];
    return ret->types > 0 && ret->end <= r->length;
}

/* 0: no instant lies before the one in front of it. */
static int add_changes (const struct reader *r, const struct block *b,
                        zone_table_t *table)
{
    zone_table_add (table, 0, offset_of (r, b, 0));
    for (size_t i = 0; i < b->times; i++) {
        size_t type = r->bytes[b->index_at + i];
        if (type >= b->types
            || (i > 0 && instant_at (r, b, i) < instant_at (r, b, i - 1)))
            return -1;
        zone_table_add (table, instant_at (r, b, i), offset_of (r, b, type));
    }
    return 0;
}

/* The line behind the data; empty: nobody knows what comes after. */
static int add_footer (const struct reader *r, const struct block *b,
                       zone_table_t *table)
{
    const char *line = (const char *)r->bytes + b->end;
    size_t left = r->length - b->end;
    const char *end = left > 1 ? memchr (line + 1, '\n', left - 1) : NULL;
    GL_AUTOFREE char *rule = NULL;

    if (!end || *line++ != '\n')
        return -1;
    rule = xstrndup (line, (size_t)(end - line));
    if (rule[0] == '\0')
        return 0;
    return zone_table_add_rule (table, rule,
                                b->times ? instant_at (r, b, b->times - 1) : 0);
}

int zone_table_add_file (zone_table_t *table, const void *bytes, size_t length)
{
    const struct reader r = {bytes, length};
    struct block b;

    if (!read_block (&r, 0, 4, &b))
        return -1;
    if (b.version < '2')
        return add_changes (&r, &b, table);
    if (!read_block (&r, b.end, 8, &b) || add_changes (&r, &b, table) < 0)
        return -1;
    return add_footer (&r, &b, table);
}

/* --- the rule of a zone: POSIX TZ, "CET-1CEST,M3.5.0,M10.5.0/3" --------- */

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
    int64_t first
        = calendar_day_number (year, d->kind == MONTHLY ? d->month : 1, 1);
    int64_t day;

    if (d->kind == ZERO_BASED)
        return first + d->day;
    if (d->kind == JULIAN) /* 29 February is not counted */
        return first + d->day - 1 + (calendar_leap_year (year) && d->day >= 60);
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
        zone_change_t c[2] = {change_of (&r.start, year, r.standard, r.summer),
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
