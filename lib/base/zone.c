#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/zone.h"

/* The span of the table: from the epoch to 2100-01-01. */
#define FIRST_INSTANT 0
#define LAST_INSTANT INT64_C (4102444800)
/* No zone has had two changes within a week that cancel each other, so a
 * probe a week finds each. */
#define PROBE_STEP (7 * 86400)

struct change {
    int64_t instant; /* from here on ... */
    int offset;      /* ... this offset holds */
};

struct zone {
    char *name;
    struct change *changes; /* ascending; the first at FIRST_INSTANT */
    size_t count;
};

static int libc_offset (int64_t instant)
{
    time_t t = instant;
    struct tm tm;

    localtime_r (&t, &tm);
    return tm.tm_gmtoff;
}

static void add_change (zone_t *zone, int64_t instant, int offset)
{
    zone->changes = xreallocarray (zone->changes, zone->count + 1,
                                   sizeof (*zone->changes));
    zone->changes[zone->count++] = (struct change){instant, offset};
}

/* Between `low` and `high` the offset changes from `before`: find where. */
static int64_t find_change (int64_t low, int64_t high, int before)
{
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (libc_offset (middle) == before)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static void read_changes (zone_t *zone)
{
    int64_t at = FIRST_INSTANT;
    int offset = libc_offset (at);

    add_change (zone, at, offset);
    while (at < LAST_INSTANT) {
        int64_t next = at + PROBE_STEP;
        if (libc_offset (next) != offset) {
            next = find_change (at, next, offset);
            offset = libc_offset (next);
            add_change (zone, next, offset);
        }
        at = next;
    }
}

/* The C library takes any text for a zone and quietly means UTC. */
static bool zone_known (const char *name)
{
    GL_AUTOFREE char *path = NULL;
    const char *dir = getenv ("TZDIR");
    size_t letters = 0;

    if (name[0] == '\0' || strlen (name) > 128)
        return false;
    if (!strcmp (name, "UTC"))
        return true;
    if (name[0] != '/' && !strstr (name, "..")) {
        path = xasprintf ("%s/%s", dir ? dir : "/usr/share/zoneinfo", name);
        FILE *fp = fopen (path, "re");
        char magic[4] = "";
        bool found = fp && fread (magic, 1, 4, fp) == 4
                     && memcmp (magic, "TZif", 4) == 0;
        if (fp)
            fclose (fp);
        if (found)
            return true;
    }
    /* a POSIX rule: a name of letters or <...>, then an offset */
    if (name[0] == '<')
        letters = strcspn (name, ">") + 1;
    else
        while (isalpha ((unsigned char)name[letters]))
            letters++;
    if (letters < 3 || letters >= strlen (name))
        return false;
    return strchr ("+-0123456789", name[letters]) != NULL
           && strspn (name + letters + 1,
                      "0123456789:+-,./MJABCDEFGHIKLNOPQRSTUVWXYZ"
                      "abcdefghijklmnopqrstuvwxyz<>")
                  == strlen (name + letters + 1);
}

zone_t *zone_open (const char *name, gl_error_t *error)
{
    GL_AUTOFREE char *saved = NULL;
    zone_t *zone;

    if (!zone_known (name)) {
        gl_error (error,
                  "unknown time zone '%s'; use a name such as Europe/Oslo or "
                  "UTC (is the package tzdata installed?)",
                  name);
        return NULL;
    }
    saved = xstrdup (getenv ("TZ"));
    setenv ("TZ", strcmp (name, "UTC") ? name : "UTC0", 1);
    tzset ();
    zone = xcalloc (1, sizeof (*zone));
    zone->name = xstrdup (name);
    read_changes (zone);
    if (saved)
        setenv ("TZ", saved, 1);
    else
        unsetenv ("TZ");
    tzset ();
    return zone;
}

void zone_close (zone_t *zone)
{
    if (zone) {
        free (zone->changes);
        free (zone->name);
        free (zone);
    }
}

const char *zone_name (const zone_t *zone)
{
    return zone->name;
}

/* The last change at or before the instant. */
static size_t change_index (const zone_t *zone, int64_t instant)
{
    size_t low = 0, high = zone->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (zone->changes[middle].instant <= instant)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int zone_offset (const zone_t *zone, int64_t instant)
{
    return zone->changes[change_index (zone, instant)].offset;
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
        int64_t instant = local - zone->changes[i].offset;
        if (change_index (zone, instant) == i)
            return instant;
    }
    /* skipped: the jump whose old clock is before it and whose new is after */
    for (size_t i = first + 1; i <= last; i++) {
        int64_t jump = zone->changes[i].instant;
        if (local - zone->changes[i - 1].offset >= jump
            && local - zone->changes[i].offset < jump)
            return jump;
    }
    return local - zone->changes[last].offset;
}

static period_t unit_of_hour (const zone_t *zone, int64_t instant)
{
    size_t i = change_index (zone, instant);
    int64_t local = instant + zone->changes[i].offset;
    int64_t floor = local - ((local % 3600) + 3600) % 3600;
    period_t hour = {floor - zone->changes[i].offset,
                     floor - zone->changes[i].offset + 3600};

    if (hour.start < zone->changes[i].instant)
        hour.start = zone->changes[i].instant;
    if (i + 1 < zone->count && hour.end > zone->changes[i + 1].instant)
        hour.end = zone->changes[i + 1].instant;
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

const char *zone_unit_name (const zone_t *zone, calendar_unit_t unit,
                            int64_t instant, char buf[ZONE_STAMP_SIZE])
{
    period_t p = zone_unit (zone, unit, instant);
    civil_t c = zone_civil (zone, p.start);
    char offset[8];

    if (unit == CALENDAR_MONTH)
        snprintf (buf, ZONE_STAMP_SIZE, "%04u-%02u", (unsigned)c.year % 10000,
                  (unsigned)c.month % 100);
    else if (unit == CALENDAR_DAY)
        snprintf (buf, ZONE_STAMP_SIZE, "%04u-%02u-%02u",
                  (unsigned)c.year % 10000, (unsigned)c.month % 100,
                  (unsigned)c.day % 100);
    else {
        offset_text (zone_offset (zone, p.start), offset);
        snprintf (buf, ZONE_STAMP_SIZE, "%04u-%02u-%02uT%02u:00%s",
                  (unsigned)c.year % 10000, (unsigned)c.month % 100,
                  (unsigned)c.day % 100, (unsigned)c.hour % 100, offset);
    }
    return buf;
}
