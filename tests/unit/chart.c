/* Charts, read back from their drawing. */
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"

#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "render/render_private.h"

#define POINTS 4

/* Of hundreds of thousands: the positions of a page are rounded to these. */
static const double precision = 0.002;

static char *draw (const report_t *report, size_t chart)
{
    buffer_t out = BUFFER_INIT;

    render_svg (&report->chart[chart], &out);
    return buffer_take (&out);
}

static const char *skip_to (const char *text, const char *what)
{
    const char *at = strstr (text, what);

    return at ? at + strlen (what) : NULL;
}

/* The percents of attribute `name` of all rectangles of the class. */
static double sum_of (const char *svg, const char *class, const char *name)
{
    GL_AUTOFREE char *begin = xasprintf ("<rect class=\"%s", class);
    GL_AUTOFREE char *attribute = xasprintf (" %s=\"", name);
    double sum = 0;

    while ((svg = skip_to (svg, begin)) != NULL) {
        const char *value = skip_to (svg, attribute);
        if (value && value < strchr (svg, '>'))
            sum += strtod (value, NULL);
    }
    return sum;
}

static size_t count_of (const char *svg, const char *what)
{
    size_t count = 0;

    while ((svg = skip_to (svg, what)) != NULL)
        count++;
    return count;
}

/* Without what follows. */
static char *before (const char *svg, const char *what)
{
    return xstrndup (svg, (size_t)(strstr (svg, what) - svg));
}

static bool is_near (double a, double b)
{
    return a - b < precision && b - a < precision;
}

/* A chart of series over POINTS points, in units of a cent. */
struct drawing {
    report_t *report;
    mpq_t value[2][POINTS];
    bool unknown[POINTS];
};

static const char *const points[POINTS]
    = {"2026-10-01", "2026-10-02", "2026-10-03", "<b>&"};

static void drawing_make (struct drawing *d, chart_kind_t kind,
                          const long (*cents)[POINTS], size_t series)
{
    plot_series_t shown[2] = {{.title = "first", .shade = 0},
                              {.title = "second", .shade = 1}};
    plot_t plot = {.kind = kind,
                   .title = "Costs",
                   .description = "What it costs.",
                   .type = COLUMN_MONEY,
                   .digits = 2,
                   .unit = "USD",
                   .point = points,
                   .point_count = POINTS,
                   .series = shown,
                   .series_count = series};

    d->report = report_new ("test", "Test");
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < POINTS; i++) {
            mpq_init (d->value[s][i]);
            mpq_set_si (d->value[s][i], s < series ? cents[s][i] : 0, 1);
        }
    shown[0].value = (const mpq_t *)d->value[0];
    shown[1].value = (const mpq_t *)d->value[1];
    shown[0].unknown = d->unknown;
    assert_non_null (report_plot (d->report, &plot));
}

static void drawing_clear (struct drawing *d)
{
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < POINTS; i++)
            mpq_clear (d->value[s][i]);
    report_free (d->report);
}

static void plot__an_axis__holds_values_in_round_steps (void **state)
{
    static const struct {
        long cents[1][POINTS];
        const char *ticks;
        int zero;
    } cases[] = {
        {{{69120, 100, 0, 55200}}, "0 200 400 600 800 ", 0},
        {{{7, 2, 1, 0}}, "0 0.02 0.04 0.06 0.08 ", 0},
        {{{100, 200, 300, 100}}, "0 1 2 3 ", 0},
        {{{0, 0, 0, 0}}, "0 0.0001 ", 0},
        {{{-5000, 10000, 0, 0}}, "-50 0 50 100 ", 33333},
        {{{-300, -100, -200, 0}}, "-3 -2 -1 0 ", CHART_WHOLE},
        {{{123456789012, 0, 0, 0}},
         "0 500000000 1000000000 1500000000 ",
         0},
    };
    (void)state;

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        struct drawing d = {0};
        BUFFER_AUTO ticks = BUFFER_INIT;
        drawing_make (&d, CHART_LINES, cases[i].cents, 1);
        for (size_t k = 0; k < d.report->chart->tick_count; k++)
            buffer_printf (&ticks, "%s ", d.report->chart->tick[k].text);
        assert_string_equal (buffer_text (&ticks), cases[i].ticks);
        assert_int_equal (d.report->chart->zero, cases[i].zero);
        drawing_clear (&d);
    }
}

static void plot__columns__stand_on_each_other (void **state)
{
    static const long cents[2][POINTS]
        = {{10000, 0, 2500, -5000}, {10000, 5000, 2500, 0}};
    struct drawing d = {0};
    GL_AUTOFREE char *svg = NULL, *marks = NULL;
    (void)state;

    drawing_make (&d, CHART_COLUMNS, cents, 2);
    svg = draw (d.report, 0);
    marks = before (svg, "legend");
    /* from -50 to 200: a cent is 1/250 of a percent */
    assert_true (is_near (sum_of (marks, "s0", "height"), 17500 / 250.0));
    assert_true (is_near (sum_of (marks, "s1", "height"), 17500 / 250.0));
    assert_int_equal (d.report->chart->item[POINTS].from,
                      d.report->chart->item[0].to);
    assert_non_null (strstr (svg, "1\xc2\xa0Oct\xc2\xa0"
                                  "2026, first: 100.00 USD</title>"));
    assert_non_null (strstr (svg, "&lt;b&gt;&amp;, first: -50.00 USD"));
    assert_null (strstr (svg, "<b>"));
    assert_int_equal (count_of (svg, "<td"), 1 + 2 * POINTS);
    drawing_clear (&d);
}

static void plot__an_unknown_value__is_no_mark (void **state)
{
    static const long cents[1][POINTS] = {{100, 200, 300, 400}};
    struct drawing d = {.unknown = {false, true, false, false}};
    GL_AUTOFREE char *svg = NULL;
    (void)state;

    drawing_make (&d, CHART_LINES, cents, 1);
    svg = draw (d.report, 0);
    assert_int_equal (count_of (svg, "<circle"), POINTS - 1);
    assert_int_equal (count_of (svg, "<line class=\"l0\""), 1);
    assert_int_equal (count_of (svg, "not known"), 1);
    drawing_clear (&d);
}

static void plot__changes__lie_on_both_sides_of_zero (void **state)
{
    static const long cents[1][POINTS] = {{10000, -10000, 5000, 0}};
    struct drawing d = {0};
    GL_AUTOFREE char *svg = NULL;
    (void)state;

    drawing_make (&d, CHART_CHANGES, cents, 1);
    svg = draw (d.report, 0);
    assert_int_equal (d.report->chart->zero, CHART_WHOLE / 2);
    assert_true (is_near (sum_of (svg, "s0", "width"), 75));
    assert_true (is_near (sum_of (svg, "s1", "width"), 50));
    assert_int_equal (count_of (svg, "class=\"zero\" x1=\"50%\""), POINTS);
    drawing_clear (&d);
}

static void plot__a_heat_map__is_darker_where_there_is_more (void **state)
{
    static const long cents[2][POINTS] = {{0, 100, 200, 500}, {1, 0, 401, 0}};
    struct drawing d = {0};
    GL_AUTOFREE char *svg = NULL;
    (void)state;

    drawing_make (&d, CHART_HEAT, cents, 2);
    svg = draw (d.report, 0);
    /* each shade once in the legend */
    assert_int_equal (count_of (svg, "class=\"f0\""), 3);
    assert_int_equal (count_of (svg, "class=\"f1\""), 1 + 2);
    assert_int_equal (count_of (svg, "class=\"f2\""), 1 + 1);
    assert_int_equal (count_of (svg, "class=\"f4\""), 1);
    assert_int_equal (count_of (svg, "class=\"f5\""), 1 + 2);
    assert_non_null (strstr (svg, "more than 3, up to 4"));
    drawing_clear (&d);
}

/* --- stacks --------------------------------------------------------------- */

static report_chart_t *stack_of (report_t *report, const long *units,
                                 size_t count, long whole)
{
    report_chart_t *chart = report_chart (report, CHART_STACK, "Cost", "Parts");
    mpz_t unit, all;

    mpz_inits (unit, all, NULL);
    mpz_set_si (all, whole);
    for (size_t i = 0; i < count; i++) {
        mpz_set_si (unit, units[i]);
        report_chart_money (chart, "part", unit, all, 2, 7);
    }
    mpz_clears (unit, all, NULL);
    return chart;
}

/* Of the bar alone, not of the swatches. */
static double bar_width (const char *svg)
{
    GL_AUTOFREE char *bar = before (svg, "</svg>");

    return sum_of (bar, "s", "width");
}

static void stack__thirds__fill_the_bar (void **state)
{
    static const long units[] = {1, 1, 1, 4};
    report_t *report = report_new ("test", "Test");
    GL_AUTOFREE char *svg = NULL;
    (void)state;

    stack_of (report, units, 4, 7);
    svg = draw (report, 0);
    assert_true (is_near (bar_width (svg), 100));
    assert_null (strstr (svg, "limit"));
    report_free (report);
}

static void stack__more_than_the_whole__lies_past_a_mark (void **state)
{
    static const long units[] = {600, 400, 250};
    report_t *report = report_new ("test", "Test");
    GL_AUTOFREE char *svg = NULL;
    (void)state;

    stack_of (report, units, 3, 1000);
    svg = draw (report, 0);
    assert_true (is_near (bar_width (svg), 100));
    assert_non_null (strstr (svg, "class=\"limit\" x1=\"80%\""));
    report_free (report);
}

static void stack__many_parts__have_a_shade_each (void **state)
{
    long units[CHART_SHADES];
    report_t *report = report_new ("test", "Test");
    const report_chart_t *chart;
    unsigned used = 0;
    (void)state;

    for (size_t i = 0; i < CHART_SHADES; i++)
        units[i] = 1;
    chart = stack_of (report, units, CHART_SHADES, CHART_SHADES);
    for (size_t i = 0; i < chart->item_count; i++)
        used |= 1u << chart->item[i].shade;
    assert_int_equal (used, (1u << CHART_SHADES) - 1);
    report_free (report);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (plot__an_axis__holds_values_in_round_steps),
        cmocka_unit_test (plot__columns__stand_on_each_other),
        cmocka_unit_test (plot__an_unknown_value__is_no_mark),
        cmocka_unit_test (plot__changes__lie_on_both_sides_of_zero),
        cmocka_unit_test (plot__a_heat_map__is_darker_where_there_is_more),
        cmocka_unit_test (stack__thirds__fill_the_bar),
        cmocka_unit_test (stack__more_than_the_whole__lies_past_a_mark),
        cmocka_unit_test (stack__many_parts__have_a_shade_each),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
