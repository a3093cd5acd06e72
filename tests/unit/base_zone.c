#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "support/test.h"

#include "base/zone.h"
#include "base/zone_table.h"

static zone_t *open_zone (const char *name)
{
    gl_error_t error;
    zone_t *zone = zone_open (name, &error);

    if (!zone)
        fail_msg ("%s", error.text);
    return zone;
}

TEST_CASE (zone__unknown_names__are_refused)
{
    static const char *const names[]
        = {"", "Mars/Olympus", "../etc/passwd", "/etc/localtime", "X", "12"};
    gl_error_t error;

    for (size_t i = 0; i < sizeof (names) / sizeof (names[0]); i++)
        assert_null (zone_open (names[i], &error));
}

TEST_CASE (zone__posix_rule__needs_no_tzdata)
{
    zone_t *zone = open_zone ("CET-1CEST,M3.5.0,M10.5.0/3");
    civil_t c = {2026, 7, 1, 12, 0, 0};

    assert_int_equal (zone_offset (zone, zone_instant (zone, &c)), 7200);
    zone_close (zone);
}

/* --- against the C library --------------------------------------------- */

#define LAST_INSTANT INT64_C (4102444800)
/* Shorter than any season of a clock. */
#define PROBE_STEP (20 * 86400)

static int libc_offset (int64_t instant)
{
    time_t t = instant;
    struct tm tm;

    localtime_r (&t, &tm);
    return (int)tm.tm_gmtoff;
}

static void compare_at (const zone_t *zone, int64_t at)
{
    if (zone_offset (zone, at) != libc_offset (at))
        fail_msg ("%s: %d at %lld, of the C library %d", zone_name (zone),
                  zone_offset (zone, at), (long long)at, libc_offset (at));
}

/* On both sides of the changes between. */
static void compare_between (const zone_t *zone, int64_t at, int64_t end)
{
    while (at < end) {
        int64_t low = at, high = end;
        while (high - low > 1) {
            int64_t middle = low + (high - low) / 2;
            if (libc_offset (middle) == libc_offset (at))
                low = middle;
            else
                high = middle;
        }
        compare_at (zone, low);
        compare_at (zone, high);
        at = high;
    }
}

static void compare_with_libc (const char *name)
{
    zone_t *zone = open_zone (name);

    setenv ("TZ", strcmp (name, "UTC") ? name : "UTC0", 1);
    tzset ();
    for (int64_t at = 0; at < LAST_INSTANT; at += PROBE_STEP) {
        int64_t next = at + PROBE_STEP;
        compare_at (zone, at);
        if (libc_offset (next) != libc_offset (at))
            compare_between (zone, at, next);
    }
    unsetenv ("TZ");
    tzset ();
    zone_close (zone);
}

TEST_CASE (zone_open__zones_of_the_database__are_what_libc_has)
{
    const char *dir = getenv ("TZDIR");
    char path[4096], line[512], name[256];
    FILE *file;
    size_t count = 0;

    snprintf (path, sizeof (path), "%s/zone1970.tab",
              dir ? dir : "/usr/share/zoneinfo");
    file = fopen (path, "re");
    if (!file)
        skip ();
    while (fgets (line, sizeof (line), file)) {
        if (line[0] == '#'
            || sscanf (line, "%*s %*s %255[A-Za-z0-9_/+-]", name) != 1)
            continue;
        compare_with_libc (name);
        count++;
    }
    fclose (file);
    assert_true (count > 200);
}

TEST_CASE (zone_open__rules__are_what_libc_has)
{
    static const char *const rules[]
        = {"UTC",
           "CET-1CEST,M3.5.0,M10.5.0/3",
           "EST5EDT",
           "XYZ3ABC,M4.1.0,M10.5.0",
           "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1",
           "AEST-10AEDT,M10.1.0,M4.1.0/3",
           "NST3:30NDT,M3.2.0/0:01,M11.1.0/0:01",
           "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
           "IST-1GMT0,M10.5.0,M3.5.0/1",
           "ABC1DEF,J60/25:30,J300",
           "ABC-2DEF-3:30,59,300/0:00:01",
           "IST-2IDT,M3.4.4/50,M10.4.4/50"};

    for (size_t i = 0; i < sizeof (rules) / sizeof (rules[0]); i++)
        compare_with_libc (rules[i]);
}

TEST_CASE (zone_open__bad_rules__are_refused)
{
    static const char *const rules[]
        = {"AB3",           "ABC",          "ABC25",       "ABC3DEF,M3.5.0",
           "ABC3DEF,M13.5.0,M1.1.0",        "ABC3DEF,M3.6.0,M1.1.0",
           "ABC3DEF,M3.5.7,M1.1.0",         "ABC3DEF,J0,J1",
           "ABC3DEF,M3.5.0/168,M1.1.0",     "<AB>3",       "<ABC3",
           "ABC3DEF,M3.5.0,M1.1.0x",        "ABC3:60",     "ABC3 "};
    gl_error_t error;

    for (size_t i = 0; i < sizeof (rules) / sizeof (rules[0]); i++)
        if (zone_open (rules[i], &error))
            fail_msg ("'%s' was taken", rules[i]);
}

/* Whole, it is taken; cut at any place, it is not, and nothing is read behind
 * its end (which a sanitizer sees). */
TEST_CASE (zone_open__a_file_cut_short__is_damaged)
{
    static const char whole[] = "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                "\0\0\0\0\0\0\0\0\0\0\0\0"
                                "\0\0\0\0\0\0\0\1\0\0\0\4"
                                "\0\0\0\0\0\0ABC"
                                "\0"
                                "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                "\0\0\0\0\0\0\0\0\0\0\0\0"
                                "\0\0\0\1\0\0\0\2\0\0\0\4"
                                "\0\0\0\0\x40\0\0\0\1"
                                "\0\0\x0e\x10\0\0\0\0\x1c\x20\1\0ABC\0"
                                "\n<+02>-2\n";
    size_t length = sizeof (whole) - 1;
    zone_table_t table = {NULL, 0};

    for (size_t i = 0; i < length; i++) {
        char *cut = malloc (i ? i : 1);
        memcpy (cut, whole, i);
        assert_int_equal (zone_table_add_file (&table, cut, i), -1);
        free (cut);
        free (table.change);
        table = (zone_table_t){NULL, 0};
    }
    assert_int_equal (zone_table_add_file (&table, whole, length), 0);
    assert_int_equal (table.count, 2);
    assert_int_equal (table.change[0].offset, 3600);
    assert_int_equal (table.change[1].instant, 0x40000000);
    assert_int_equal (table.change[1].offset, 7200);
    free (table.change);
}

/* Days that a person would count: date, hours. Both switches, half hours,
 * a midnight that does not exist. */
TEST_CASE (zone_unit__days_over_switches__have_their_true_length)
{
    static const struct {
        const char *zone;
        civil_t noon;
        int64_t seconds;
    } cases[] = {
        {"UTC", {2026, 3, 29, 12, 0, 0}, 86400},
        {"America/New_York", {2026, 3, 8, 12, 0, 0}, 23 * 3600},
        {"America/New_York", {2026, 11, 1, 12, 0, 0}, 25 * 3600},
        {"Europe/Oslo", {2026, 3, 29, 12, 0, 0}, 23 * 3600},
        {"Europe/Oslo", {2026, 10, 25, 12, 0, 0}, 25 * 3600},
        {"Asia/Kolkata", {2026, 10, 25, 12, 0, 0}, 86400},
        {"Australia/Lord_Howe", {2026, 4, 5, 12, 0, 0}, 86400 + 1800},
        {"Australia/Lord_Howe", {2026, 10, 4, 12, 0, 0}, 86400 - 1800},
        {"America/Sao_Paulo", {2018, 11, 4, 12, 0, 0}, 23 * 3600},
        {"America/Sao_Paulo", {2018, 2, 17, 12, 0, 0}, 25 * 3600},
    };

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        zone_t *zone = open_zone (cases[i].zone);
        int64_t noon = zone_instant (zone, &cases[i].noon);
        period_t day = zone_unit (zone, CALENDAR_DAY, noon);
        assert_true (day.start <= noon && noon < day.end);
        assert_int_equal (period_seconds (day), cases[i].seconds);
        zone_close (zone);
    }
}

/* The units of a year follow each other without gap or overlap, and each
 * instant lies in its own unit. */
TEST_CASE (zone_unit__a_year_of_units__is_a_partition)
{
    static const char *const names[]
        = {"UTC",          "America/New_York",    "Europe/Oslo",
           "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns"};
    static const calendar_unit_t units[]
        = {CALENDAR_HOUR, CALENDAR_DAY, CALENDAR_MONTH};

    for (size_t z = 0; z < sizeof (names) / sizeof (names[0]); z++) {
        zone_t *zone = open_zone (names[z]);
        civil_t first = {2026, 1, 1, 0, 0, 0}, last = {2027, 1, 1, 0, 0, 0};
        int64_t end = zone_instant (zone, &last);
        for (size_t u = 0; u < 3; u++) {
            int64_t at = zone_instant (zone, &first);
            while (at < end) {
                period_t p = zone_unit (zone, units[u], at);
                assert_int_equal (p.start, at);
                assert_true (p.end > p.start);
                assert_int_equal (zone_unit (zone, units[u], p.end - 1).start,
                                  p.start);
                at = p.end;
            }
            assert_int_equal (at, end);
        }
        zone_close (zone);
    }
}

TEST_CASE (zone_instant__twice_and_never__earlier_and_the_jump)
{
    zone_t *zone = open_zone ("America/New_York");
    civil_t twice = {2026, 11, 1, 1, 30, 0}, never = {2026, 3, 8, 2, 30, 0};
    char stamp[ZONE_STAMP_SIZE];

    assert_string_equal (
        zone_stamp (zone, zone_instant (zone, &twice), stamp),
        "2026-11-01T01:30:00-04:00");
    assert_string_equal (
        zone_stamp (zone, zone_instant (zone, &never), stamp),
        "2026-03-08T03:00:00-04:00");
    zone_close (zone);
}

TEST_CASE (calendar__dates__exist_or_not)
{
    static const struct {
        const char *text;
        int valid;
    } cases[] = {
        {"2026-10-05", 1}, {"2024-02-29", 1}, {"2026-02-29", 0},
        {"2100-02-29", 0}, {"2000-02-29", 1}, {"2026-13-01", 0},
        {"2026-00-01", 0}, {"2026-10-32", 0}, {"2026-1-05", 0},
        {"2026/10/05", 0}, {"", 0},           {"0000-01-01", 0},
    };
    civil_t c;

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++)
        assert_int_equal (calendar_parse_date (cases[i].text,
                                               strlen (cases[i].text), &c)
                              == 0,
                          cases[i].valid);
    for (int64_t day = -200000; day < 200000; day += 7) {
        c = calendar_civil_of_day (day);
        assert_int_equal (calendar_day_number (c.year, c.month, c.day), day);
        assert_true (civil_valid (&c));
    }
}

TEST_MAIN (NULL, NULL)
