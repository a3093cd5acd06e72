/* Charts of a report: exact values in, positions on an axis out. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "report/report.h"

/* At most so many lines of the grid lie above the smallest value. */
#define GRID_LINES 5

static report_chart_t *chart_new (report_t *report, chart_kind_t kind,
                                  const char *title, const char *description)
{
    report_chart_t *chart;

    report->chart = xreallocarray (report->chart, report->chart_count + 1,
                                   sizeof (*report->chart));
    chart = &report->chart[report->chart_count++];
    *chart = (report_chart_t){.kind = kind,
                              .title = xstrdup (title),
                              .description = xstrdup (description)};
    return chart;
}

/* value * CHART_WHOLE / whole, rounded half up. */
static int chart_part (const mpq_t value, const mpq_t whole)
{
    mpz_t part, of;
    int position;

    if (mpq_sgn (whole) <= 0)
        return 0;
    mpz_inits (part, of, NULL);
    mpz_mul (of, mpq_denref (value), mpq_numref (whole));
    mpz_mul (part, mpq_numref (value), mpq_denref (whole));
    mpz_mul_ui (part, part, 2 * CHART_WHOLE);
    mpz_add (part, part, of);
    mpz_mul_2exp (of, of, 1);
    mpz_fdiv_q (part, part, of);
    position = (int)mpz_get_si (part);
    mpz_clears (part, of, NULL);
    return position;
}

/* --- bars and stacks ------------------------------------------------------ */

report_chart_t *report_chart (report_t *report, chart_kind_t kind,
                              const char *title, const char *description)
{
    return chart_new (report, kind, title, description);
}

static bool shade_is_used (const report_chart_t *chart, int shade)
{
    return GL_ANY (chart->item, chart->item_count, it, it->shade == shade);
}

/* The wanted one, or the next that no part has yet. */
static int free_shade (const report_chart_t *chart, int shade)
{
    for (int i = 0; i < CHART_SHADES; i++)
        if (!shade_is_used (chart, (shade + i) % CHART_SHADES))
            return (shade + i) % CHART_SHADES;
    return shade;
}

/* Where the next part of a stack begins. */
static int stack_end (const report_chart_t *chart)
{
    return chart->item_count ? chart->item[chart->item_count - 1].to : 0;
}

void report_chart_item (report_chart_t *chart, const char *label,
                        const char *text, const mpq_t value, const mpq_t whole,
                        int shade)
{
    bool stack = chart->kind == CHART_STACK;
    int length = mpq_sgn (value) > 0 ? chart_part (value, whole) : 0;
    chart_item_t item = {.label = xstrdup (label),
                         .value = xstrdup (text),
                         .from = stack ? stack_end (chart) : 0,
                         .shade = stack ? free_shade (chart, shade) : shade};

    item.to = item.from + length;
    *GL_APPEND (chart->item, chart->item_count) = item;
    chart->point_count = chart->item_count;
}

void report_chart_money (report_chart_t *chart, const char *label,
                         const mpz_t units, const mpz_t whole_units, int digits,
                         int shade)
{
    GL_AUTOFREE char *text = exact_units_text (units, digits);
    mpq_t value, whole;

    mpq_inits (value, whole, NULL);
    mpq_set_z (value, units);
    mpq_set_z (whole, whole_units);
    report_chart_item (chart, label, text, value, whole, shade);
    mpq_clears (value, whole, NULL);
}

/* --- axes ----------------------------------------------------------------- */

/* The ends of the axis, multiples of the step between its lines. */
typedef struct {
    mpq_t low;
    mpq_t high;
    mpq_t span; /* high - low */
    mpq_t step;
    mpq_t unit; /* values of the plot for 1 on the axis */
} axis_t;

static void axis_init (axis_t *axis, const plot_t *plot)
{
    mpq_inits (axis->low, axis->high, axis->span, axis->step, axis->unit, NULL);
    mpq_set_ui (axis->unit, plot->type == COLUMN_HOURS ? 3600 : 1, 1);
    if (plot->type == COLUMN_MONEY)
        mpz_ui_pow_ui (mpq_numref (axis->unit), 10,
                       (unsigned long)plot->digits);
}

static void axis_clear (axis_t *axis)
{
    mpq_clears (axis->low, axis->high, axis->span, axis->step, axis->unit,
                NULL);
}

static void axis_hold (axis_t *axis, const mpq_t value)
{
    if (mpq_cmp (value, axis->low) < 0)
        mpq_set (axis->low, value);
    if (mpq_cmp (value, axis->high) > 0)
        mpq_set (axis->high, value);
}

static bool is_known (const plot_series_t *series, size_t point)
{
    return series->value && (!series->unknown || !series->unknown[point]);
}

/* The sums of the positive and of the negative values at a point. */
static void axis_hold_column (axis_t *axis, const plot_t *plot, size_t point)
{
    mpq_t above, below;

    mpq_inits (above, below, NULL);
    for (size_t s = 0; s < plot->series_count; s++) {
        const plot_series_t *series = &plot->series[s];
        mpq_ptr sum;
        if (!is_known (series, point))
            continue;
        sum = mpq_sgn (series->value[point]) > 0 ? above : below;
        exact_add (sum, series->value[point]);
    }
    axis_hold (axis, above);
    axis_hold (axis, below);
    mpq_clears (above, below, NULL);
}

static void axis_hold_values (axis_t *axis, const plot_t *plot, size_t point)
{
    for (size_t s = 0; s < plot->series_count; s++)
        if (is_known (&plot->series[s], point))
            axis_hold (axis, plot->series[s].value[point]);
}

/* 1, 2, 5, 10, 20, ... of the smallest unit that is worth a line, until GRID_LINES
 * steps hold the span. */
static void axis_step (axis_t *axis, column_type_t type)
{
    static const unsigned long next[][2] = {{2, 1}, {5, 2}, {2, 1}};
    mpq_t span, lines, factor;

    mpq_inits (span, lines, factor, NULL);
    mpq_sub (span, axis->high, axis->low);
    mpq_set_ui (axis->step, 1, type == COLUMN_COUNT ? 1 : 10000);
    mpq_mul (axis->step, axis->step, axis->unit);
    for (size_t i = 0;; i++) {
        mpq_set_ui (lines, GRID_LINES, 1);
        mpq_mul (lines, lines, axis->step);
        if (mpq_cmp (span, lines) <= 0)
            break;
        mpq_set_ui (factor, next[i % 3][0], next[i % 3][1]);
        mpq_mul (axis->step, axis->step, factor);
    }
    mpq_clears (span, lines, factor, NULL);
}

/* The multiple of the step at `value` or beyond it: below, or above. */
static void axis_end (const axis_t *axis, mpq_t value, bool above)
{
    mpq_t steps;
    mpz_t whole;

    mpq_init (steps);
    mpz_init (whole);
    mpq_div (steps, value, axis->step);
    if (above)
        mpz_cdiv_q (whole, mpq_numref (steps), mpq_denref (steps));
    else
        mpz_fdiv_q (whole, mpq_numref (steps), mpq_denref (steps));
    mpq_set_z (steps, whole);
    mpq_mul (value, steps, axis->step);
    mpz_clear (whole);
    mpq_clear (steps);
}

static void axis_choose (axis_t *axis, const plot_t *plot)
{
    for (size_t i = 0; i < plot->point_count; i++)
        if (plot->kind == CHART_COLUMNS)
            axis_hold_column (axis, plot, i);
        else
            axis_hold_values (axis, plot, i);
    axis_step (axis, plot->type);
    axis_end (axis, axis->low, false);
    axis_end (axis, axis->high, true);
    if (mpq_equal (axis->low, axis->high))
        mpq_add (axis->high, axis->low, axis->step);
    mpq_sub (axis->span, axis->high, axis->low);
}

static int axis_position (const axis_t *axis, const mpq_t value)
{
    mpq_t above;
    int position;

    mpq_init (above);
    mpq_set (above, value);
    exact_subtract (above, axis->low);
    position = chart_part (above, axis->span);
    mpq_clear (above);
    return position;
}

/* A heat map has a line for each of its shades. */
static void heat_step (axis_t *axis)
{
    mpq_t steps;

    mpq_init (steps);
    mpq_set_ui (steps, CHART_HEAT_STEPS, 1);
    mpq_div (axis->step, axis->span, steps);
    mpq_clear (steps);
}

static void add_ticks (report_chart_t *chart, axis_t *axis)
{
    mpq_t at, value;

    mpq_inits (at, value, NULL);
    chart->zero = axis_position (axis, at);
    if (chart->kind == CHART_HEAT)
        heat_step (axis);
    for (mpq_set (at, axis->low); mpq_cmp (at, axis->high) <= 0;
         mpq_add (at, at, axis->step)) {
        mpq_div (value, at, axis->unit);
        *GL_APPEND (chart->tick, chart->tick_count)
            = (chart_tick_t){exact_shortest (value), axis_position (axis, at)};
    }
    mpq_clears (at, value, NULL);
}

/* --- values on an axis ---------------------------------------------------- */

static char *value_text (const plot_t *plot, const axis_t *axis,
                         const mpq_t value)
{
    char *text;
    mpq_t shown;
    static const int digits[]
        = {[COLUMN_COUNT] = 0,   [COLUMN_HOURS] = 6,  [COLUMN_RATE] = 4,
           [COLUMN_PERCENT] = 2, [COLUMN_ENERGY] = 6, [COLUMN_MASS] = 6,
           [COLUMN_TEXT] = 2};

    mpq_init (shown);
    mpq_div (shown, value, axis->unit);
    text = exact_text (shown, plot->type == COLUMN_MONEY ? plot->digits
                                                         : digits[plot->type]);
    mpq_clear (shown);
    return text;
}

/* In a column, each value begins where those of its sign before it ended. */
static void column_base (const plot_t *plot, size_t series, size_t point,
                         mpq_t ret)
{
    int sign = mpq_sgn (plot->series[series].value[point]);

    mpq_set_ui (ret, 0, 1);
    for (size_t s = 0; s < series; s++)
        if (is_known (&plot->series[s], point)
            && mpq_sgn (plot->series[s].value[point]) == sign)
            exact_add (ret, plot->series[s].value[point]);
}

static void place_value (chart_item_t *item, const plot_t *plot,
                         const axis_t *axis, size_t series, size_t point)
{
    mpq_srcptr value = plot->series[series].value[point];
    mpq_t base;

    mpq_init (base);
    if (plot->kind == CHART_COLUMNS)
        column_base (plot, series, point, base);
    item->from = axis_position (axis, base);
    exact_add (base, value);
    item->to = axis_position (axis, base);
    mpq_clear (base);
}

static void add_value (report_chart_t *chart, const plot_t *plot,
                       const axis_t *axis, size_t series, size_t point)
{
    chart_item_t item = {.label = xstrdup (plot->point[point]),
                         .shade = plot->series[series].shade};

    if (is_known (&plot->series[series], point)) {
        item.value = value_text (plot, axis, plot->series[series].value[point]);
        if (plot->kind == CHART_CHANGES && plot->series_count == 1
            && mpq_sgn (plot->series[series].value[point]) < 0)
            item.shade++;
        place_value (&item, plot, axis, series, point);
    }
    *GL_APPEND (chart->item, chart->item_count) = item;
}

report_chart_t *report_plot (report_t *report, const plot_t *plot)
{
    report_chart_t *chart;
    axis_t axis;

    if (plot->point_count == 0)
        return NULL;
    chart = chart_new (report, plot->kind, plot->title, plot->description);
    chart->type = plot->type;
    chart->unit = plot->unit ? xstrdup (plot->unit) : NULL;
    chart->point_count = plot->point_count;
    axis_init (&axis, plot);
    axis_choose (&axis, plot);
    add_ticks (chart, &axis);
    for (size_t s = 0; s < plot->series_count; s++) {
        const plot_series_t *series = &plot->series[s];
        *GL_APPEND (chart->series, chart->series_count)
            = (chart_series_t){xstrdup (series->title), series->shade};
        for (size_t i = 0; i < plot->point_count; i++)
            add_value (chart, plot, &axis, s, i);
    }
    axis_clear (&axis);
    return chart;
}

void report_take_chart (report_t *report, report_t *from, size_t index)
{
    report_chart_t chart = from->chart[index];

    from->chart_count--;
    memmove (&from->chart[index], &from->chart[index + 1],
             (from->chart_count - index) * sizeof (chart));
    report->chart = xreallocarray (report->chart, report->chart_count + 1,
                                   sizeof (*report->chart));
    report->chart[report->chart_count++] = chart;
}

/* --- rows of the report --------------------------------------------------- */

/* Larger values first, ties in the order of the rows. */
static int compare_values (const void *a, const void *b, void *arg)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const mpq_t *value = arg;
    int order = mpq_cmp (value[y], value[x]);

    return order ? order : (x > y) - (x < y);
}

static char *row_label (const report_t *report, size_t row)
{
    buffer_t label = BUFFER_INIT;

    for (size_t i = 0; i < report->column_count; i++) {
        const char *text = report_cell (report, row, i);
        if (!report->column[i].is_key || !text)
            continue;
        buffer_printf (&label, "%s%s", label.length ? " \xc2\xb7 " : "", text);
    }
    if (label.length == 0)
        buffer_add_text (&label, "all");
    return buffer_take (&label);
}

void report_chart_rows (report_t *report, const char *title,
                        const char *description, const mpq_t *value,
                        size_t column, size_t count)
{
    size_t rows = report->row_count;
    size_t *rank = xcalloc (rows + 1, sizeof (*rank));
    report_chart_t *chart
        = report_chart (report, CHART_BARS, title, description);

    for (size_t i = 0; i < rows; i++)
        rank[i] = i;
    qsort_r (rank, rows, sizeof (*rank), compare_values, (void *)value);
    for (size_t i = 0; i < rows && i < count; i++) {
        GL_AUTOFREE char *label = row_label (report, rank[i]);
        const char *text = report_cell (report, rank[i], column);
        if (mpq_sgn (value[rank[i]]) > 0)
            report_chart_item (chart, label, text ? text : "", value[rank[i]],
                               value[rank[0]], 0);
    }
    chart->in_table = true;
    free (rank);
}
