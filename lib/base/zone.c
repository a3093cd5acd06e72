#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/zone.h"
#include "base/zone_table.h"

/* Ten times what the largest one takes. */
#define FILE_BYTES_MAX ((size_t)64 << 10)

struct zone {
    char *name;
    zone_table_t table; /* its first change is at 1970-01-01 */
};

/* --- opening ----------------------------------------------------------- */

/* NULL: there is no such name. No path leads out of the database. */
static FILE *open_file (const char *name)
{
    const char *dir = getenv ("TZDIR");
    GL_AUTOFREE char *path = NULL;

    if (name[0] == '/' || strstr (name, ".."))
        return NULL;
    path = xasprintf ("%s/%s", dir ? dir : "/usr/share/zoneinfo", name);
    return fopen (path, "re");
}

/* 1: read, 0: there is no such file. */
static int read_file (zone_t *zone, gl_error_t *error)
{
    GL_AUTOFREE char *bytes = NULL;
    FILE *file = open_file (zone->name);
    size_t length;

    if (!file)
        return 0;
    bytes = xmalloc (FILE_BYTES_MAX);
    length = fread (bytes, 1, FILE_BYTES_MAX, file);
    fclose (file);
    if (length < 4 || memcmp (bytes, "TZif", 4) != 0)
        return 0;
    if (length < FILE_BYTES_MAX
        && zone_table_add_file (&zone->table, bytes, length) == 0)
        return 1;
    return gl_error (error,
                     "the file of the time zone '%s' is damaged: install the "
                     "package tzdata again",
                     zone->name);
}

static int read_zone (zone_t *zone, gl_error_t *error)
{
    const char *name = zone->name;
    int rc = strcmp (name, "UTC")
                 ? 0
                 : zone_table_add_rule (&zone->table, "UTC0", 0) + 1;

    if (rc == 0 && name[0] && strlen (name) <= 128)
        rc = read_file (zone, error);
    if (rc == 0 && zone_table_add_rule (&zone->table, name, 0) == 0)
        rc = 1;
    if (rc == 0)
        return gl_error (error,
                         "unknown time zone '%s'; use a name such as "
                         "Europe/Oslo or UTC (is the package tzdata "
                         "installed?)",
                         name);
    return rc < 0 ? -1 : 0;
}

zone_t *zone_open (const char *name, gl_error_t *error)
{
    zone_t *zone = xcalloc (1, sizeof (*zone));

    zone->name = xstrdup (name);
    if (read_zone (zone, error) < 0) {
        zone_close (zone);
        return NULL;
    }
    return zone;
}

void zone_close (zone_t *zone)
{
    if (zone) {
        free (zone->table.change);
        free (zone->name);
        free (zone);
    }
}

const char *zone_name (const zone_t *zone)
{
    return zone->name;
}

int zone_parse_offset (const char *text, bool bare, int *ret_seconds)
{
    const char *minutes = text + 3;
    int h, m;

    if (!strcmp (text, "Z")) {
        *ret_seconds = 0;
        return 0;
    }
    if ((*text != '+' && *text != '-') || calendar_two_digits (text + 1, &h) < 0
        || (!bare && *minutes != ':'))
        return -1;
    minutes += *minutes == ':';
    if (calendar_two_digits (minutes, &m) < 0 || minutes[2] != '\0' || h > 14
        || m > 59)
        return -1;
    *ret_seconds = (h * 60 + m) * (*text == '-' ? -60 : 60);
    return 0;
}

/* The last change at or before the instant. */
static size_t change_index (const zone_t *zone, int64_t instant)
{
    size_t low = 0, high = zone->table.count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (zone->table.change[middle].instant <= instant)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int zone_offset (const zone_t *zone, int64_t instant)
{
    return zone->table.change[change_index (zone, instant)].offset;
}

civil_t zone_civil (const zone_t *zone, int64_t instant)
{
    return civil_of_seconds (instant + zone_offset (zone, instant));
}

int64_t zone_instant (const zone_t *zone, const civil_t *civil)
{
    int64_t local = civil_seconds (civil);
    /* offsets are within 26 hours of UTC, so that the answer lies here */
    size_t first = change_index (zone, local - 26 * 3600);
    size_t last = change_index (zone, local + 26 * 3600);

    for (size_t i = first; i <= last; i++) {
        int64_t instant = local - zone->table.change[i].offset;
        if (change_index (zone, instant) == i)
            return instant;
    }
    /* skipped: the jump whose old clock is before it and whose new is after */
    for (size_t i = first + 1; i <= last; i++) {
        int64_t jump = zone->table.change[i].instant;
        if (local - zone->table.change[i - 1].offset >= jump
            && local - zone->table.change[i].offset < jump)
            return jump;
    }
    return local - zone->table.change[last].offset;
}

static period_t unit_of_hour (const zone_t *zone, int64_t instant)
{
    size_t i = change_index (zone, instant);
    int64_t local = instant + zone->table.change[i].offset;
    int64_t floor = local - ((local % 3600) + 3600) % 3600;
    period_t hour = {floor - zone->table.change[i].offset,
                     floor - zone->table.change[i].offset + 3600};

    if (hour.start < zone->table.change[i].instant)
        hour.start = zone->table.change[i].instant;
    if (i + 1 < zone->table.count && hour.end > zone->table.change[i + 1].instant)
        hour.end = zone->table.change[i + 1].instant;
    return hour;
}

static civil_t unit_begin (calendar_unit_t unit, civil_t c, int steps)
{
    c.hour = c.minute = c.second = 0;
    if (unit == CALENDAR_MONTH) {
        c.day = 1;
        return civil_add_months (c, steps);
    }
    return calendar_civil_of_day (calendar_day_number (c.year, c.month, c.day)
                                  + steps);
}

period_t zone_unit (const zone_t *zone, calendar_unit_t unit, int64_t instant)
{
    civil_t here, next;
    period_t p;

    if (unit == CALENDAR_HOUR)
        return unit_of_hour (zone, instant);
    here = unit_begin (unit, zone_civil (zone, instant), 0);
    next = unit_begin (unit, here, 1);
    p.start = zone_instant (zone, &here);
    p.end = zone_instant (zone, &next);
    /* a clock set back over midnight shows the old date once more: the new
     * unit has begun all the same */
    if (p.end <= instant) {
        next = unit_begin (unit, next, 1);
        p.start = p.end;
        p.end = zone_instant (zone, &next);
    }
    return p;
}

period_t period_clip (period_t p, period_t within)
{
    if (p.start < within.start)
        p.start = within.start;
    if (p.end > within.end)
        p.end = within.end;
    if (p.end < p.start)
        p.end = p.start;
    return p;
}

static int by_instant (const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

size_t instants_sort (int64_t *instants, size_t count)
{
    size_t unique = 0;

    if (count > 1)
        qsort (instants, count, sizeof (*instants), by_instant);
    for (size_t i = 0; i < count; i++)
        if (unique == 0 || instants[unique - 1] != instants[i])
            instants[unique++] = instants[i];
    return unique;
}

static void offset_text (int offset, char buf[8])
{
    int minutes = (offset < 0 ? -offset : offset) / 60;

    snprintf (buf, 8, "%c%02d:%02d", offset < 0 ? '-' : '+',
              minutes / 60 % 100, minutes % 60);
}

const char *zone_stamp (const zone_t *zone, int64_t instant,
                        char buf[ZONE_STAMP_SIZE])
{
    civil_t c = zone_civil (zone, instant);
    char offset[8] = "Z";

    if (strcmp (zone->name, "UTC") != 0)
        offset_text (zone_offset (zone, instant), offset);
    snprintf (buf, ZONE_STAMP_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u%s",
              (unsigned)c.year % 10000, (unsigned)c.month % 100,
              (unsigned)c.day % 100, (unsigned)c.hour % 100,
              (unsigned)c.minute % 100, (unsigned)c.second % 100, offset);
    return buf;
}

/* "2026-10-31", or "2026-10"; its length. Printf takes its time, and a month's days are
 * named for each row. */
static size_t date_text (const civil_t *c, bool day, char *to)
{
    size_t at = number_write (to, (unsigned)c->year % 10000, 4);

    to[at++] = '-';
    at += number_write (to + at, (unsigned)c->month % 100, 2);
    if (day) {
        to[at++] = '-';
        at += number_write (to + at, (unsigned)c->day % 100, 2);
    }
    to[at] = '\0';
    return at;
}

const char *zone_unit_name (const zone_t *zone, calendar_unit_t unit,
                            int64_t instant, char buf[ZONE_STAMP_SIZE])
{
    period_t p = zone_unit (zone, unit, instant);
    civil_t c = zone_civil (zone, p.start);
    size_t length = date_text (&c, unit != CALENDAR_MONTH, buf);
    char offset[8];

    if (unit != CALENDAR_MONTH && unit != CALENDAR_DAY) {
        offset_text (zone_offset (zone, p.start), offset);
        snprintf (buf + length, ZONE_STAMP_SIZE - length, "T%02u:00%s",
                  (unsigned)c.hour % 100, offset);
    }
    return buf;
}
