#include "support/test.h"

#include "base/exact.h"
#include "base/memory.h"
#include "report/heading.h"

static zone_t *open_zone (const char *name)
{
    gl_error_t error;
    zone_t *zone = zone_open (name, &error);

    if (!zone)
        fail_msg ("%s", error.text);
    return zone;
}

TEST_CASE (report_keys_parse__known_words__keep_their_order)
{
    key_list_t keys;
    char *label;
    gl_error_t error;

    assert_int_equal (
        report_keys_parse ("user,label:model-size,day", &keys, &label, &error),
        0);
    assert_int_equal (keys.count, 3);
    assert_int_equal (keys.id[0], KEY_USER);
    assert_int_equal (keys.id[1], KEY_LABEL);
    assert_int_equal (keys.id[2], KEY_DAY);
    assert_string_equal (keys.label, "model-size");
    assert_ptr_equal (keys.label, label);
    free (label);
}

TEST_CASE (report_keys_parse__other_words__are_refused)
{
    static const char *const bad[] = {
        "",       "user,",     ",user",    "User",  "user,user",
        "label:", "label:a b", "label:=x", "users", "label:a,label:b",
    };
    key_list_t keys;
    char *label = NULL;
    gl_error_t error;

    for (size_t i = 0; i < GL_ARRAY_SIZE (bad); i++)
        if (report_keys_parse (bad[i], &keys, &label, &error) == 0)
            fail_msg ("'%s' was taken", bad[i]);
}

/* The instants are `TZ=America/New_York date -d ... +%s`. */
TEST_CASE (report_period_text__whole_units__are_named)
{
    static const struct {
        period_t period;
        const char *text;
    } cases[] = {
        {{1790827200, 1793505600}, "2026-10"},
        {{1790827200, 1796101200}, "2026-10 to 2026-11"},
        {{1790827200, 1790913600}, "2026-10-01"},
        {{1790827200, 1791000000}, "2026-10-01 to 2026-10-02"},
        /* the day on which the clock is set back has 25 hours */
        {{1793505600, 1793595600}, "2026-11-01"},
        {{1790827200, 1790827260},
         "2026-10-01T00:00:00-04:00 to 2026-10-01T00:01:00-04:00"},
        {{1793505600, 1793592000},
         "2026-11-01T00:00:00-04:00 to 2026-11-01T23:00:00-05:00"},
    };
    zone_t *zone = open_zone ("America/New_York");

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        char *text = report_period_text (zone, cases[i].period);
        assert_string_equal (text, cases[i].text);
        free (text);
    }
    zone_close (zone);
}

TEST_CASE (report_default_period__any_moment__is_the_month_before)
{
    zone_t *zone = open_zone ("America/New_York");
    /* as of the first second of November, and the last of it */
    period_t first = report_default_period (zone, 1793505600);
    period_t last = report_default_period (zone, 1796101199);

    assert_int_equal (first.start, 1790827200);
    assert_int_equal (first.end, 1793505600);
    assert_int_equal (last.start, first.start);
    zone_close (zone);
}

/* As of the first second of November 2026, in New York. */
TEST_CASE (report_months_parse__words_and_ranges__are_periods)
{
    static const struct {
        const char *text;
        const char *period; /* NULL: refused */
        bool relative;
    } cases[] = {
        {"2026-10", "2026-10", false},
        {"last", "2026-10", true},
        {"-1", "2026-10", true},
        {"-3", "2026-08 to 2026-10", true},
        {"-12", "2025-11 to 2026-10", true},
        {"2026-05..2026-10", "2026-05 to 2026-10", false},
        {"2026-10..2026-10", "2026-10", false},
        {"2025-12..2027-01", "2025-12 to 2027-01", false},
        {"2026-05..last", "2026-05 to 2026-10", true},
        {"last..2026-11", "2026-10 to 2026-11", true},
        {"2026-10..2026-05", NULL, false},
        {"2026-11..last", NULL, true},
        {"", NULL, false},
        {"-", NULL, true},
        {"-0", NULL, true},
        {"-3x", NULL, true},
        {"--3", NULL, true},
        {"-700", NULL, true},
        {"-18446744073709551616", NULL, true},
        {"2026-13", NULL, false},
        {"Last", NULL, false},
        {"lasts", NULL, false},
        {"..", NULL, false},
        {"2026-05..", NULL, false},
        {"..2026-10", NULL, false},
        {"2026-05...2026-10", NULL, false},
        {"2026-05..2026-10..2026-11", NULL, false},
        {"1969-12", NULL, false},
        {"2026-05..2100-01", NULL, false},
    };
    zone_t *zone = open_zone ("America/New_York");
    period_t period;
    gl_error_t error;

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        GL_AUTOFREE char *text = NULL;
        if (report_months_parse (zone, cases[i].text, 1793505600, &period,
                                 &error)
            == 0)
            text = report_period_text (zone, period);
        if (!text != !cases[i].period
            || (text && strcmp (text, cases[i].period)))
            fail_msg ("'%s' is %s", cases[i].text, text ? text : error.text);
        if (report_months_relative (cases[i].text) != cases[i].relative)
            fail_msg ("'%s': relative?", cases[i].text);
    }
    zone_close (zone);
}

TEST_CASE (report_month_parse__other_than_one_month__is_refused)
{
    static const char *const bad[]
        = {"last", "-1", "2026-10..2026-10", "2026-1", "", "2026-10-05"};
    zone_t *zone = open_zone ("UTC");
    period_t period;
    gl_error_t error;

    assert_int_equal (report_month_parse (zone, "2026-10", &period, &error), 0);
    assert_int_equal (period.end - period.start, 31 * 86400);
    for (size_t i = 0; i < GL_ARRAY_SIZE (bad); i++)
        if (report_month_parse (zone, bad[i], &period, &error) == 0)
            fail_msg ("'%s' was taken", bad[i]);
    zone_close (zone);
}

TEST_CASE (report_percent_text__values__are_rounded_half_to_even)
{
    static const struct {
        int part;
        int whole;
        const char *text;
    } cases[] = {
        {1, 3, "33.33"}, {2, 3, "66.67"},  {1, 1, "100.00"},
        {0, 5, "0.00"},  {1, 800, "0.12"}, {3, 800, "0.38"},
    };
    mpq_t part, whole;

    mpq_inits (part, whole, NULL);
    assert_null (report_percent_text (part, whole));
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        char *text;
        exact_set_i64 (part, cases[i].part, 1);
        exact_set_i64 (whole, cases[i].whole, 1);
        text = report_percent_text (part, whole);
        assert_string_equal (text, cases[i].text);
        free (text);
    }
    mpq_clears (part, whole, NULL);
}

TEST_MAIN (NULL, NULL)
