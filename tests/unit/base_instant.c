#include "support/test.h"

#include "base/timespec.h"

static zone_t *oslo;

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

/* The numbers are `TZ=Europe/Oslo date -d ... +%s`. */
static const struct {
    const char *text;
    int64_t instant;
} good[] = {
    {"2026-10-05", 1791151200},
    {"2026-10", 1790805600},
    {"2026-10-05T14:30", 1791203400},
    {"2026-10-05T14:30:15", 1791203415},
    {"2026-10-05T14:30:15Z", 1791210615},
    {"2026-10-05T14:30-04:00", 1791225000},
    {"2026-10-05T14:30+02:00", 1791203400},
    {"2026-10-05Z", 1791158400},
    {"2026-10-05-04:00", 1791172800},
    {"@1791203400", 1791203400},
    {"@0", 0},
    /* shown twice: the earlier; skipped: the jump */
    {"2026-10-25T02:30", 1792888200},
    {"2026-03-29T02:30", 1774746000},
};

TEST_CASE (instant_parse__known_forms__give_what_date_gives)
{
    for (size_t i = 0; i < sizeof (good) / sizeof (good[0]); i++) {
        gl_error_t error = {""};
        int64_t instant = -1;
        if (instant_parse (good[i].text, oslo, &instant, &error) < 0)
            fail_msg ("%s", error.text);
        if (instant != good[i].instant)
            fail_msg ("%s: %lld, not %lld", good[i].text, (long long)instant,
                      (long long)good[i].instant);
    }
}

TEST_CASE (instant_parse__anything_else__is_refused_untouched)
{
    static const char *const bad[] = {
        "",           "now",        "today",       "2026-02-30",
        "2026-13",    "2026-10-5",  "2026",        "2026-10-05T",
        "2026-10-05T24:00",         "2026-10-05T14:60",
        "2026-10-05T14:30:61",      "2026-10-05T14",
        "2026-10-05 14:30",         "2026-10-05T14:30z",
        "2026-10-05T14:30+2:00",    "2026-10-05T14:30+15:00",
        "2026-10-05T14:30Z ",       "@-1", "@4102444800", "1791203400", "@", "@1x",
        "1969-12-31Z", "2100-01-01Z", "@99999999999999999999",
    };

    for (size_t i = 0; i < sizeof (bad) / sizeof (bad[0]); i++) {
        gl_error_t error = {""};
        int64_t instant = 42;
        if (instant_parse (bad[i], oslo, &instant, &error) != -1)
            fail_msg ("'%s' was accepted", bad[i]);
        assert_int_equal (instant, 42);
        assert_non_null (strstr (error.text, bad[i]));
    }
}

TEST_MAIN (open_zone, close_zone)
