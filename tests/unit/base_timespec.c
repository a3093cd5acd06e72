#include "support/test.h"

#include "base/memory.h"
#include "base/timespec.h"

static zone_t *oslo;

/* 2026-10-15T13:20:30 in Oslo: `TZ=Europe/Oslo date -d ... +%s`. */
#define NOW 1792063230

static int open_zone (void **state)
{
    (void)state;
    oslo = zone_open ("Europe/Oslo", NULL);
    return oslo ? 0 : -1;
}

static int close_zone (void **state)
{
    (void)state;
    zone_close (oslo);
    return 0;
}

/* The same moment in the form that is known to be right. */
static const struct {
    const char *text;
    const char *same;
} good[] = {
    {"now", "2026-10-15T13:20:30"},
    {"now-7days", "2026-10-08T13:20:30"},
    {"now-1week", "2026-10-08T13:20:30"},
    {"now+90", "2026-10-15T13:22:00"},
    {"now-2hours", "2026-10-15T11:20:30"},
    {"now-30min", "2026-10-15T12:50:30"},
    {"NOW", "2026-10-15T13:20:30"},
    {"today", "2026-10-15"},
    {"midnight", "2026-10-15"},
    {"today-1day", "2026-10-14"},
    {"noon", "2026-10-15T12:00"},
    {"teatime", "2026-10-15T16:00"},
    {"tomorrow", "2026-10-16"},
    {"elevenses", "2026-10-15T11:00"},
    {"tomorrow 8:00", "2026-10-16T08:00"},
    {"tomorrow-08:00", "2026-10-16T08:00"},
    {"8:00pm tomorrow", "2026-10-16T20:00"},
    {"noon 10/05", "2026-10-05T12:00"},
    {"noon-1005", "2026-10-05T12:00"},
    {"noon-10s", "2026-10-15T11:59:50"},
    {"14:30-1005", "2026-10-05T14:30"},
    {"2026-10-05 teatime", "2026-10-05T16:00"},
    {"2026-10-05 14:30:09", "2026-10-05T14:30:09"},
    {"2026-10-05T14:30-04:00", "2026-10-05T18:30Z"},
    {"now - 7 days", "2026-10-08T13:20:30"},
    {"0:15 pm", "2026-10-15T12:15"},
    {"10/05 ", "2026-10-05"},
    {"10/05/24 10:00", "2024-10-05T10:00"},
    {"uts1792063230", "2026-10-15T13:20:30"},
    {"08:15", "2026-10-15T08:15"},
    {"8:15:09", "2026-10-15T08:15:09"},
    {"8:15 PM", "2026-10-15T20:15"},
    {"12:15am", "2026-10-15T00:15"},
    {"10/05", "2026-10-05"},
    {"11/05", "2025-11-05"}, /* not yet: last year's */
    {"10/05/24", "2024-10-05"},
    {"10/05/2024", "2024-10-05"},
    {"10.05.24-06:07", "2024-10-05T06:07"},
    {"1005", "2026-10-05"},
    {"100524", "2024-10-05"},
    {"2026-10-05T14:30", "2026-10-05T14:30"},
    {"2026-10-05T14:30Z", "2026-10-05T16:30"},
};

TEST_CASE (timespec_parse__each_form__is_the_same_as_the_full_one)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (good); i++) {
        gl_error_t error = {""};
        int64_t instant = -1, same = -2;
        if (timespec_parse (good[i].text, oslo, NOW, &instant, &error) < 0)
            fail_msg ("%s", error.text);
        assert_int_equal (
            timespec_parse (good[i].same, oslo, NOW, &same, &error), 0);
        if (instant != same)
            fail_msg ("%s: %lld, not %lld", good[i].text, (long long)instant,
                      (long long)same);
    }
}

TEST_CASE (timespec_parse__other_texts__are_refused_untouched)
{
    static const char *const bad[] = {
        "",
        "now-",
        "now-7 dogs",
        "now-7fortnights",
        "nower",
        "25:00",
        "12:60",
        "13:00 PM",
        "02/30",
        "13/01",
        "0230",
        "10/05/2",
        "10/05/",
        "2026-02-30",
        "7",
        "10/05-9",
        "now-99999999999",
        "-1day",
        "10/05-",
        "-10/05",
        "10/05T",
        "10/05/24 10/06",
        "10:00 noon",
        "today tomorrow",
        "8:5",
        "8:15:9",
        "8:150",
        "2026-10-05-04:00",
        "2026-10-051",
        "uts",
        "uts99999999999",
        "now+999999999weeks",
        "\x1b[m",
    };
    gl_error_t error = {""};

    for (size_t i = 0; i < GL_ARRAY_SIZE (bad); i++) {
        int64_t instant = 77;
        if (timespec_parse (bad[i], oslo, NOW, &instant, &error) == 0)
            fail_msg ("'%s' was taken", bad[i]);
        assert_int_equal (instant, 77);
        assert_non_null (strstr (error.text, bad[i]));
    }
}

TEST_MAIN (open_zone, close_zone)
