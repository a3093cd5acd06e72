#include <stdio.h>

#include "support/test.h"

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "render/render.h"

/* A report with every kind of column, missing cells, hostile texts. */
static report_t *make_report (void)
{
    report_t *r = report_new ("usage", "Usage <b>");
    size_t user, count, hours, charge, rate;
    report_proof_t *proof;
    report_chart_t *chart;
    mpq_t value, whole;
    mpz_t units;

    mpq_inits (value, whole, NULL);
    mpz_init (units);
    report_parameter (r, "start", "2026-10-01T00:00:00Z");
    user = report_column (r, "user", "User", COLUMN_TEXT, true);
    count = report_column (r, "jobs", "Jobs", COLUMN_COUNT, false);
    hours = report_column (r, "gpu_hours", "GPU hours", COLUMN_HOURS, false);
    charge = report_column (r, "charge", "Charge", COLUMN_MONEY, false);
    rate = report_column (r, "rate", "Rate", COLUMN_RATE, false);
    report_row (r);
    report_put_text (r, user, "zoe");
    report_put_count (r, count, UINT64_MAX);
    exact_set_i64 (value, 5400, 1);
    report_put_hours (r, hours, value);
    mpz_set_si (units, -123456);
    report_put_money (r, charge, units, 2);
    exact_set_i64 (value, 35540, 10000);
    report_put_exact (r, rate, value, 4);
    report_row (r);
    report_put_text (r, user, "=a|\x1b[31m,\"<script>");
    report_put_count (r, count, 0);
    report_sort (r);
    report_totals (r);
    report_put_count (r, count, 7);
    report_note (r, NOTE_WARNING, "look at %s", "<this>\n");
    proof = report_proof (r, "Sum");
    report_proof_line (proof, "difference", "0.00");
    report_named_total (r, "cost", "Cost", COLUMN_MONEY, "1.00");
    report_coverage (r, "node_records_pct", "12.50");
    chart = report_chart (r, CHART_STACK, "Where", "It went");
    exact_set_i64 (value, 1, 3);
    exact_set_i64 (whole, 1, 1);
    report_chart_item (chart, "<svg>", "33 %", value, whole, 0);
    report_provenance (r, "program", "gpuledger");
    mpq_clears (value, whole, NULL);
    mpz_clear (units);
    return r;
}

static char *render (render_format_t format, render_options_t options)
{
    report_t *report = make_report ();
    buffer_t out = BUFFER_INIT;

    render_report (report, format, &options, &out);
    report_free (report);
    return buffer_take (&out);
}

static void check (render_format_t format, render_options_t options,
                   const char *expected)
{
    char *text = render (format, options);

    assert_string_equal (text, expected);
    free (text);
}

TEST_CASE (render_csv__a_report__is_rfc_4180)
{
    check (RENDER_CSV, (render_options_t){0},
           "user,jobs,gpu_hours,charge,rate\n"
           "\"'=a|\xef\xbf\xbd[31m,\"\"<script>\",0,,,\n"
           "zoe,18446744073709551615,1.500000,-1234.56,3.5540\n");
    check (RENDER_CSV, (render_options_t){.no_header = true},
           "\"'=a|\xef\xbf\xbd[31m,\"\"<script>\",0,,,\n"
           "zoe,18446744073709551615,1.500000,-1234.56,3.5540\n");
}

TEST_CASE (render_parsable2__a_report__splits_at_bars)
{
    check (RENDER_PARSABLE2, (render_options_t){0},
           "user|jobs|gpu_hours|charge|rate\n"
           "=a\\x7c\\x1b[31m,\"<script>|0|||\n"
           "zoe|18446744073709551615|1.500000|-1234.56|3.5540\n");
}

TEST_CASE (render_table__a_report__is_aligned_and_harmless)
{
    check (RENDER_TABLE, (render_options_t){0},
           "Usage <b>\n"
           "start: 1 Oct 2026 00:00 UTC\n"
           "\n"
           "User                                   Jobs  GPU hours    Charge"
           "    Rate\n"
           "=a|\\x1b[31m,\"<script>                     0\n"
           "zoe                    18446744073709551615        1.5  -1234.56"
           "  3.5540\n"
           "----------------------------------------------------------------"
           "--------\n"
           "                                          7\n"
           "\n"
           "Sum: PASS\n"
           "  difference  0.00\n"
           "\n"
           "Warning: look at <this>\\x0a\n");
}

/* What follows a command is typed, what has no unit is no quantity of time. */
TEST_CASE (render_readable_text__dates_and_quantities__are_for_people)
{
    static const char *const cases[][2] = {
        {"GPU usage, 2026-10", "GPU usage, October 2026"},
        {"2026-01 to 2026-12.", "January 2026 to December 2026."},
        {"x (2024-02-29, 3 days)", "x (29 Feb 2024, 3 days)"},
        {"up to 2026-11-01T01:30:00-04:00 only",
         "up to 1 Nov 2026 01:30 UTC-4 only"},
        {"2026-11-01T01:00-05:00", "1 Nov 2026 01:00 UTC-5"},
        {"2026-11-01T01:30:05+05:30", "1 Nov 2026 01:30:05 UTC+5:30"},
        {"2026-11-01T01:30:05+00:00", "1 Nov 2026 01:30:05 UTC"},
        {"run gpuledger close --month 2026-10",
         "run gpuledger close --month 2026-10"},
        {"see 'gpuledger close 2026-10', since 2026-10",
         "see 'gpuledger close 2026-10', since October 2026"},
        {"--max-age 2026-10 of 2026-10", "--max-age 2026-10 of October 2026"},
        {"2026-10/17 2026-13 2026-10-ed31bdb1 2026-10..2026-11 2026",
         "2026-10/17 2026-13 2026-10-ed31bdb1 2026-10..2026-11 2026"},
        {"12.000000 GRES hours, 0.050001 kWh", "12.0 GRES hours, 0.1 kWh"},
        {"0.049999 GPU hours, -0.010000 GPU hours, 0.000000 kWh",
         "<0.1 GPU hours, >-0.1 GPU hours, 0.0 kWh"},
        {"0.250000 kWh 0.350000 kWh 999.950000 kWh",
         "0.2 kWh 0.4 kWh 1000.0 kWh"},
        {"the ratio is 0.540525", "the ratio is 0.540525"},
        {"", ""},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        BUFFER_AUTO out = BUFFER_INIT;
        render_readable_text (&out, cases[i][0], false, " ");
        assert_string_equal (buffer_text (&out), cases[i][1]);
    }
}

static void check_rounding (int64_t second, bool says)
{
    report_t *report = report_new ("usage", "Usage");
    const render_options_t options = {0};
    BUFFER_AUTO out = BUFFER_INIT;
    mpq_t seconds;

    mpq_init (seconds);
    report_column (report, "gpu_hours", "GPU hours", COLUMN_HOURS, false);
    report_row (report);
    exact_set_i64 (seconds, 864, 1);
    report_put_hours (report, 0, seconds);
    report_row (report);
    exact_set_i64 (seconds, second, 1);
    report_put_hours (report, 0, seconds);
    report_totals (report);
    exact_set_i64 (seconds, 864 + second, 1);
    report_put_hours (report, 0, seconds);
    render_report (report, RENDER_TABLE, &options, &out);
    assert_int_equal (strstr (buffer_text (&out), "exact values") != NULL,
                      says);
    mpq_clear (seconds);
    report_free (report);
}

TEST_CASE (render_table__rounded_hours_off_their_total__say_so)
{
    check_rounding (864, true);  /* 0.24 + 0.24 = 0.48 */
    check_rounding (720, false); /* 0.24 + 0.20 = 0.44 */
}

TEST_CASE (render_html__months_and_hours__do_not_break_and_have_a_title)
{
    report_t *report = report_new ("usage", "Usage, 2026-10");
    const render_options_t options = {0};
    BUFFER_AUTO out = BUFFER_INIT;

    report_column (report, "month", "Month", COLUMN_DATE, true);
    report_column (report, "gpu_hours", "GPU hours", COLUMN_HOURS, false);
    report_row (report);
    report_put_text (report, 0, "2026-10");
    report_put_text (report, 1, "1234.567890");
    render_report (report, RENDER_HTML, &options, &out);
    assert_non_null (strstr (buffer_text (&out), "<h1>Usage, October\xc2\xa0"
                                                 "2026</h1>"));
    assert_non_null (strstr (buffer_text (&out), "<th scope=\"row\" class=\"d\">Oct\xc2\xa0"
                                                 "2026</th>"));
    assert_non_null (strstr (buffer_text (&out),
                             "title=\"1234.567890\">1\xe2\x80\xaf"
                             "234.6<"));
    report_free (report);
}

TEST_CASE (render_table__a_narrow_terminal__keeps_keys_and_money)
{
    check (RENDER_TABLE, (render_options_t){.width = 40},
           "Usage <b>\n"
           "start: 1 Oct 2026 00:00 UTC\n"
           "\n"
           "User                 GPU hours    Charge\n"
           "=a|\\x1b[31m,\"<scrip\n"
           "t>\n"
           "zoe                        1.5  -1234.56\n"
           "2 columns more (jobs, rate): -w shows all, or -o\n"
           "\n"
           "Sum: PASS\n"
           "  difference  0.00\n"
           "\n"
           "Warning: look at <this>\\x0a\n");
}

/* What is asked for at any width is within it, and no byte of a text is lost.
 */
TEST_CASE (render_table__any_width__breaks_texts_and_loses_nothing)
{
    report_t *report = report_new ("checks", "Checks");
    size_t name = report_column (report, "name", "Name", COLUMN_TEXT, true);
    size_t advice
        = report_column (report, "advice", "Advice", COLUMN_TEXT, false);

    report_row (report);
    report_put_text (report, name, "first");
    report_put_text (report, advice, "one two three four five six seven");
    report_row (report);
    report_put_text (report, name, "second");
    report_put_text (report, advice, "averylongwordwithoutblanks");
    for (size_t width = 24; width < 50; width++) {
        render_options_t options = {.width = width};
        BUFFER_AUTO out = BUFFER_INIT;
        size_t words = 0;
        render_report (report, RENDER_TABLE, &options, &out);
        assert_null (strstr (buffer_text (&out), " more ("));
        for (const char *line = buffer_text (&out); *line;
             line += strcspn (line, "\n") + 1) {
            if (strcspn (line, "\n") > width)
                fail_msg ("wider than %zu: %s", width, line);
            for (size_t i = 0; line[i] != '\n'; i++)
                words += line[i] != ' ';
        }
        assert_int_equal (words, strlen ("ChecksNameAdvicefirstonetwothreefour"
                                         "fivesixsevensecondaverylongwordwitho"
                                         "utblanks"));
    }
    report_free (report);
}

TEST_CASE (render_table__titles_wider_than_values__are_broken)
{
    report_t *report = report_new ("prices", "Prices");
    const render_options_t options = {.width = 20};
    BUFFER_AUTO out = BUFFER_INIT;

    report_column (report, "name", "Name", COLUMN_TEXT, true);
    report_column (report, "year", "Per GPU and year", COLUMN_MONEY, false);
    report_column (report, "none", "Empty", COLUMN_MONEY, false);
    report_row (report);
    report_put_text (report, 0, "hardware");
    report_put_text (report, 1, "15937.50");
    report_totals (report);
    report_put_text (report, 1, "15937.50");
    render_report (report, RENDER_TABLE, &options, &out);
    assert_string_equal (buffer_text (&out),
                         "Prices\n"
                         "\n"
                         "Name       Per GPU\n"
                         "          and year\n"
                         "hardware  15937.50\n"
                         "------------------\n"
                         "          15937.50\n"
                         "1 column more (none): -w shows all, or -o\n");
    report_free (report);
}

TEST_CASE (render_json__a_report__keeps_numbers_exact)
{
    char *text = render (RENDER_JSON, (render_options_t){0});

    assert_non_null (
        strstr (text, "{\"user\": \"zoe\", \"jobs\": 18446744073709551615, "
                      "\"gpu_hours\": 1.500000, \"charge\": \"-1234.56\", "
                      "\"rate\": \"3.5540\"}"));
    assert_non_null (strstr (text, "\"jobs\": 0, \"gpu_hours\": null, "
                                   "\"charge\": null, \"rate\": null}"));
    assert_non_null (strstr (text, "\"cost\": \"1.00\""));
    assert_non_null (strstr (text, "\\u001b[31m"));
    assert_null (strchr (text, '\x1b'));
    free (text);
}

TEST_CASE (render_html__hostile_texts__make_no_markup)
{
    char *text = render (RENDER_HTML, (render_options_t){0});

    assert_null (strstr (text, "<script"));
    assert_null (strstr (text, "<this>"));
    assert_null (strstr (text, "<b>Usage"));
    assert_null (strchr (text, '\x1b'));
    assert_non_null (strstr (text, "&lt;script&gt;"));
    assert_non_null (strstr (text, "<title>Usage &lt;b&gt;</title>"));
    /* nothing is loaded from anywhere */
    assert_null (strstr (text, "http:"));
    assert_null (strstr (text, "https:"));
    assert_null (strstr (text, "src="));
    free (text);
}

TEST_CASE (render__twice__gives_the_same_bytes)
{
    for (render_format_t f = 0; f < RENDER_FORMAT_COUNT; f++) {
        char *a = render (f, (render_options_t){0});
        char *b = render (f, (render_options_t){0});
        assert_string_equal (a, b);
        free (a);
        free (b);
    }
}

TEST_CASE (report_select__fields__are_shown_in_that_order)
{
    report_t *report = make_report ();
    buffer_t out = BUFFER_INIT;
    render_options_t options = {0};
    gl_error_t error;

    assert_int_equal (report_select (report, "charge,user", &error), 0);
    render_report (report, RENDER_CSV, &options, &out);
    assert_string_equal (buffer_text (&out),
                         "charge,user\n"
                         ",\"'=a|\xef\xbf\xbd[31m,\"\"<script>\"\n"
                         "-1234.56,zoe\n");
    assert_int_equal (report_select (report, "charge,nonsense", &error), -1);
    assert_non_null (strstr (error.text, "nonsense"));
    assert_non_null (strstr (error.text, "gpu_hours"));
    assert_int_equal (report_select (report, "charge,", &error), -1);
    buffer_done (&out);
    report_free (report);
}

/* What was taken while it was rendered, and how much at most at once. */
struct taken {
    buffer_t bytes;
    size_t calls;
    size_t most;
};

static void take (buffer_t *out, void *arg)
{
    struct taken *taken = arg;

    buffer_add (&taken->bytes, out->data, out->length);
    taken->calls++;
    if (out->length > taken->most)
        taken->most = out->length;
    buffer_clear (out);
}

TEST_CASE (drain__many_rows__same_bytes_little_at_once)
{
    static const render_format_t formats[]
        = {RENDER_PARSABLE2, RENDER_CSV, RENDER_JSON};
    report_t *report = make_report ();

    for (int i = 0; i < 20000; i++) {
        report_row (report);
        report_put_text (report, 0, "one of very many users");
        report_put_count (report, 1, (uint64_t)i);
        report_put_count (report, 1, 7); /* the last one counts */
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (formats); i++) {
        struct taken taken = {.bytes = BUFFER_INIT};
        const render_options_t plain = {0},
                               draining = {.drain = take, .arg = &taken};
        buffer_t whole = BUFFER_INIT, rest = BUFFER_INIT;
        render_report (report, formats[i], &plain, &whole);
        render_report (report, formats[i], &draining, &rest);
        take (&rest, &taken);
        assert_string_equal (buffer_text (&taken.bytes), buffer_text (&whole));
        assert_true (taken.calls > 5);
        assert_true (taken.most < 70000);
        buffer_done (&whole);
        buffer_done (&rest);
        buffer_done (&taken.bytes);
    }
    report_free (report);
}

/* A former sort left room for the rows that there were and no more. */
TEST_CASE (report_sort__rows_after_it__have_room)
{
    report_t *report = report_new ("usage", "Usage");
    size_t user = report_column (report, "user", "User", COLUMN_TEXT, true);
    char name[8];

    for (int i = 0; i < 64; i++) {
        if (i == 5 || i == 33)
            report_sort (report);
        snprintf (name, sizeof (name), "u%02d", 63 - i);
        report_row (report);
        report_put_text (report, user, name);
    }
    report_sort (report);
    for (size_t i = 0; i < 64; i++) {
        snprintf (name, sizeof (name), "u%02zu", i);
        assert_string_equal (report_cell (report, i, user), name);
    }
    report_free (report);
}

TEST_MAIN (NULL, NULL)
