/* A chart as a figure of the page. Drawings have no size of their own: positions are
 * percents of the room that there is, texts keep the size of the page's text, so that
 * both can be read on a telephone and on paper. Values are in the titles of the
 * marks and in a table. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "render/escape.h"
#include "render/render_private.h"

/* With more marks than this, they have no titles: the table has the values. */
#define TITLED_MARKS 200
/* So many labels have room below a chart: on a telephone, and on other pages. */
#define LABELS_NARROW 4
#define LABELS_WIDE 11
/* More columns than this have no space between them. */
#define SPACED_COLUMNS 62

#define NO_BREAK_SPACE "\xc2\xa0"

/* --- numbers and texts ---------------------------------------------------- */

/* `name="12.345%"` of a part of CHART_WHOLE. */
static void add_percent (buffer_t *out, const char *name, int part)
{
    const uint64_t one = CHART_WHOLE / 100, size = (uint64_t)abs (part);
    char decimals[NUMBER_MAX];

    buffer_add_char (out, ' ');
    buffer_add_text (out, name);
    buffer_add_text (out, part < 0 ? "=\"-" : "=\"");
    buffer_add_number (out, size / one);
    if (size % one) {
        buffer_add_char (out, '.');
        buffer_add (out, decimals, number_write (decimals, size % one, 3));
    }
    buffer_add_text (out, "%\"");
}

static void add_label (buffer_t *out, const char *label)
{
    BUFFER_AUTO text = BUFFER_INIT;

    render_readable_text (&text, label, true, NO_BREAK_SPACE);
    escape_html (out, buffer_text (&text));
}

/* A value of a bar is a text with its unit; others are numbers of the chart's. */
static void add_number (buffer_t *out, const report_chart_t *chart,
                        const char *value)
{
    BUFFER_AUTO text = BUFFER_INIT;

    render_readable_value (&text, value,
                           chart->series_count ? chart->type : COLUMN_HOURS,
                           NO_BREAK_SPACE);
    render_value (out, buffer_text (&text), "span");
}

static const chart_item_t *item_at (const report_chart_t *chart, size_t series,
                                    size_t point)
{
    return &chart->item[series * chart->point_count + point];
}

/* --- marks ---------------------------------------------------------------- */

static void add_drawing (buffer_t *out, const char *class)
{
    buffer_printf (out, "<svg class=\"%s\" aria-hidden=\"true\">", class);
}

static void add_rect (buffer_t *out, char class, int shade, int x, int y,
                      int width, int height)
{
    buffer_printf (out, "<rect class=\"%c%d\"", class, shade % CHART_SHADES);
    if (x)
        add_percent (out, "x", x);
    if (y)
        add_percent (out, "y", y);
    add_percent (out, "width", width);
    add_percent (out, "height", height);
    buffer_add_text (out, "/>");
}

/* A shade, and its hatching over it, where it has any. */
static void add_mark (buffer_t *out, int shade, int x, int y, int width,
                      int height)
{
    add_rect (out, 's', shade, x, y, width, height);
    if (render_shade_is_hatched (shade))
        add_rect (out, 'h', shade, x, y, width, height);
}

static void add_line (buffer_t *out, const char *class, int x1, int y1, int x2,
                      int y2)
{
    buffer_printf (out, "<line class=\"%s\"", class);
    add_percent (out, "x1", x1);
    add_percent (out, "y1", y1);
    add_percent (out, "x2", x2);
    add_percent (out, "y2", y2);
    buffer_add_text (out, "/>");
}

/* What a mark says when it is pointed at: "1 Oct 2026, vision: 1 234.00 USD". */
static void add_title (buffer_t *out, const report_chart_t *chart,
                       size_t series, size_t point)
{
    const chart_item_t *item = item_at (chart, series, point);

    buffer_add_text (out, "<title>");
    add_label (out, item->label);
    if (chart->series_count > 1) {
        buffer_add_text (out, ", ");
        add_label (out, chart->series[series].title);
    }
    buffer_add_text (out, ": ");
    if (item->value)
        escape_html (out, item->value);
    if (item->value && chart->unit) {
        buffer_add_char (out, ' ');
        escape_html (out, chart->unit);
    }
    buffer_add_text (out, "</title>");
}

static bool is_titled (const report_chart_t *chart)
{
    return chart->item_count <= TITLED_MARKS;
}

/* --- bars: a list, with the words of each next to it ------------------------ */

static void add_words (buffer_t *out, const report_chart_t *chart,
                       const chart_item_t *item)
{
    buffer_add_text (out, "<span class=\"label\">");
    add_label (out, item->label);
    buffer_add_text (out, "</span> <span class=\"n\">");
    if (item->value)
        add_number (out, chart, item->value);
    buffer_add_text (out, "</span>");
}

/* The values of a point, in the order of the legend. */
static void add_series_words (buffer_t *out, const report_chart_t *chart,
                              size_t point)
{
    buffer_add_text (out, "<span class=\"label\">");
    add_label (out, chart->item[point].label);
    buffer_add_text (out, "</span> <span class=\"n\">");
    for (size_t s = 0; s < chart->series_count; s++) {
        const chart_item_t *item = item_at (chart, s, point);
        buffer_add_text (out, s ? "<br>" : "");
        if (item->value)
            add_number (out, chart, item->value);
    }
    buffer_add_text (out, "</span>");
}

/* What is more than nothing is seen. */
static int at_least_visible (int length)
{
    return length > 0 && length < CHART_WHOLE / 1000 ? CHART_WHOLE / 1000
                                                     : length;
}

static void add_bar (buffer_t *out, const chart_item_t *item)
{
    int from = item->from < item->to ? item->from : item->to;

    if (item->value)
        add_mark (out, item->shade, from, 0,
                  at_least_visible (abs (item->to - item->from)), CHART_WHOLE);
}

static void draw_bars (buffer_t *out, const report_chart_t *chart)
{
    buffer_add_text (out, "<ul class=\"bars\">\n");
    for (size_t i = 0; i < chart->point_count; i++) {
        buffer_add_text (out, "<li>");
        if (chart->series_count > 1)
            add_series_words (out, chart, i);
        else
            add_words (out, chart, &chart->item[i]);
        add_drawing (out, "bar");
        for (size_t s = 0; s == 0 || s < chart->series_count; s++)
            add_bar (out, item_at (chart, s, i));
        if (chart->kind == CHART_CHANGES)
            add_line (out, "zero", chart->zero, 0, chart->zero, CHART_WHOLE);
        buffer_add_text (out, "</svg></li>\n");
    }
    buffer_add_text (out, "</ul>\n");
}

/* The series of a budget. */
enum { SPENT, EXPECTED_LEAST, EXPECTED_MOST, BUDGET };

static void add_budget_words (buffer_t *out, const report_chart_t *chart,
                              size_t point)
{
    const chart_item_t *budget = item_at (chart, BUDGET, point);

    buffer_add_text (out, "<span class=\"label\">");
    add_label (out, budget->label);
    buffer_add_text (out, "</span> <span class=\"n\">");
    add_number (out, chart, item_at (chart, SPENT, point)->value);
    if (budget->value) {
        buffer_add_text (out, " of ");
        add_number (out, chart, budget->value);
    }
    buffer_add_text (out, "</span>");
}

static void draw_budgets (buffer_t *out, const report_chart_t *chart)
{
    buffer_add_text (out, "<ul class=\"bars\">\n");
    for (size_t i = 0; i < chart->point_count; i++) {
        const chart_item_t *least = item_at (chart, EXPECTED_LEAST, i);
        const chart_item_t *most = item_at (chart, EXPECTED_MOST, i);
        int budget = item_at (chart, BUDGET, i)->to;
        buffer_add_text (out, "<li>");
        add_budget_words (out, chart, i);
        add_drawing (out, "bar");
        if (least->value && most->value)
            add_mark (out, most->shade, least->to, CHART_WHOLE / 4,
                      at_least_visible (most->to - least->to), CHART_WHOLE / 2);
        add_bar (out, item_at (chart, SPENT, i));
        if (item_at (chart, BUDGET, i)->value)
            add_line (out, "limit", budget, 0, budget, CHART_WHOLE);
        buffer_add_text (out, "</svg></li>\n");
    }
    buffer_add_text (out, "</ul>\n");
}

/* --- legends -------------------------------------------------------------- */

static void add_swatch (buffer_t *out, int shade)
{
    add_drawing (out, "swatch");
    add_mark (out, shade, 0, 0, CHART_WHOLE, CHART_WHOLE);
    buffer_add_text (out, "</svg>");
}

static void add_line_swatch (buffer_t *out, int shade)
{
    buffer_printf (out,
                   "<svg class=\"swatch line\" aria-hidden=\"true\">"
                   "<line class=\"l%d\" x1=\"0%%\" y1=\"50%%\" x2=\"100%%\" "
                   "y2=\"50%%\"/></svg>",
                   shade % CHART_SHADES);
}

static void add_legend (buffer_t *out, const report_chart_t *chart)
{
    if (chart->series_count < 2)
        return;
    buffer_add_text (out, "<ul class=\"legend\">\n");
    for (size_t i = 0; i < chart->series_count; i++) {
        buffer_add_text (out, "<li>");
        if (chart->kind == CHART_LINES)
            add_line_swatch (out, chart->series[i].shade);
        else
            add_swatch (out, chart->series[i].shade);
        buffer_add_text (out, "<span class=\"label\">");
        add_label (out, chart->series[i].title);
        buffer_add_text (out, "</span></li>\n");
    }
    buffer_add_text (out, "</ul>\n");
}

/* --- a stack -------------------------------------------------------------- */

static int scaled (int position, int whole)
{
    int at = (int)((int64_t)position * CHART_WHOLE / whole);

    return at < CHART_WHOLE ? at : CHART_WHOLE;
}

/* The end of the parts; each is rounded by itself. */
static int stack_whole (const report_chart_t *chart)
{
    int end = chart->item[chart->item_count - 1].to;

    return end > CHART_WHOLE + (int)chart->item_count ? end : CHART_WHOLE;
}

/* Past CHART_WHOLE, the bar is drawn smaller, and a line is where the whole ends. */
static void draw_stack (buffer_t *out, const report_chart_t *chart)
{
    int whole = stack_whole (chart);

    add_drawing (out, "stack");
    for (size_t i = 0; i < chart->item_count; i++) {
        int from = scaled (chart->item[i].from, whole);
        int to = scaled (chart->item[i].to, whole);
        if (to > from)
            add_mark (out, chart->item[i].shade, from, 0, to - from,
                      CHART_WHOLE);
    }
    if (whole > CHART_WHOLE)
        add_line (out, "limit", scaled (CHART_WHOLE, whole), 0,
                  scaled (CHART_WHOLE, whole), CHART_WHOLE);
    buffer_add_text (out, "</svg>\n<ul class=\"legend\">\n");
    for (size_t i = 0; i < chart->item_count; i++) {
        buffer_add_text (out, "<li>");
        add_swatch (out, chart->item[i].shade);
        add_words (out, chart, &chart->item[i]);
        buffer_add_text (out, "</li>\n");
    }
    buffer_add_text (out, "</ul>\n");
}

/* --- axes ----------------------------------------------------------------- */

static void add_axis_text (buffer_t *out, const char *class, int x, int y)
{
    buffer_printf (out, "<text class=\"%s\"", class);
    add_percent (out, "x", x);
    add_percent (out, "y", y);
}

/* The grid, with its values to the left of it. */
static void add_grid (buffer_t *out, const report_chart_t *chart)
{
    for (size_t i = 0; i < chart->tick_count; i++) {
        int y = CHART_WHOLE - chart->tick[i].at;
        add_line (out, chart->tick[i].at == chart->zero ? "zero" : "grid", 0, y,
                  CHART_WHOLE, y);
        add_axis_text (out, "tick", 0, y);
        buffer_add_text (out, " dx=\"-6\" dy=\"4\">");
        render_value (out, chart->tick[i].text, "tspan");
        buffer_add_text (out, "</text>");
    }
}

/* Where point `i` is, from left to right: the middle of its part. */
static int point_middle (const report_chart_t *chart, size_t i)
{
    return (int)((2 * i + 1) * CHART_WHOLE / (2 * chart->point_count));
}

static int point_edge (const report_chart_t *chart, size_t i)
{
    return (int)(i * CHART_WHOLE / chart->point_count);
}

/* Days and hours stand under a title that has the year: "1 Oct", "1 Oct 06:00". */
static bool is_time (const char *label)
{
    return strlen (label) > 10 && label[10] == 'T';
}

static void add_point_label (buffer_t *out, const char *label)
{
    static const char digits[] = "0123456789";
    GL_AUTOFREE char *day = NULL;
    BUFFER_AUTO text = BUFFER_INIT;

    if (strlen (label) < 10 || strspn (label, digits) != 4 || label[4] != '-'
        || strspn (label + 8, digits) != 2) {
        add_label (out, label);
        return;
    }
    day = xstrndup (label, 10);
    render_readable_text (&text, day, true, NO_BREAK_SPACE);
    buffer_add (out, text.data,
                text.length - strlen (NO_BREAK_SPACE) - strlen ("2026"));
    if (is_time (label) && strncmp (label + 10, "T00:00", 6) != 0)
        buffer_printf (out, "%s%.5s", NO_BREAK_SPACE, label + 11);
}

/* Every how many-th label is shown, so that there are at most `most`; of hours, a
 * part or a multiple of a day. */
static size_t label_stride (const report_chart_t *chart, size_t most)
{
    static const size_t hours[] = {1, 2, 3, 6, 12, 24, 48, 96, 168};
    size_t stride = (chart->point_count + most - 1) / most;

    if (is_time (item_at (chart, 0, 0)->label))
        for (size_t i = 0; i < GL_ARRAY_SIZE (hours); i++)
            if (hours[i] >= stride)
                return hours[i];
    return stride;
}

/* Labels of a telephone are multiples of those of other pages. */
static void add_point_labels (buffer_t *out, const report_chart_t *chart)
{
    size_t wide = label_stride (chart, LABELS_WIDE);
    size_t narrow = label_stride (chart, LABELS_NARROW);

    narrow = (narrow + wide - 1) / wide * wide;
    for (size_t i = 0; i < chart->point_count; i += wide) {
        add_axis_text (out, i % narrow ? "point wide" : "point",
                       point_middle (chart, i), CHART_WHOLE);
        buffer_add_text (out, " dy=\"20\">");
        add_point_label (out, item_at (chart, 0, i)->label);
        buffer_add_text (out, "</text>");
    }
}

static void begin_plot (buffer_t *out, const report_chart_t *chart,
                        const char *class)
{
    buffer_add_text (out, "<p class=\"unit\">");
    if (chart->unit)
        escape_html (out, chart->unit);
    buffer_printf (out,
                   "</p>\n<div class=\"%s\"><svg class=\"plot\" role=\"img\">"
                   "<title>",
                   class);
    escape_html (out, chart->title);
    buffer_add_text (out, "</title>\n");
}

static void end_plot (buffer_t *out)
{
    buffer_add_text (out, "</svg></div>\n");
}

/* --- columns, lines, heat maps ---------------------------------------------- */

static void add_column (buffer_t *out, const report_chart_t *chart,
                        size_t series, size_t point)
{
    const chart_item_t *item = item_at (chart, series, point);
    int left = point_edge (chart, point);
    int room = point_edge (chart, point + 1) - left;
    int top = item->from > item->to ? item->from : item->to;
    int height = abs (item->to - item->from);
    int gap = chart->point_count <= SPACED_COLUMNS ? room / 8 : 0;

    if (height == 0)
        return;
    if (is_titled (chart)) {
        buffer_add_text (out, "<g>");
        add_title (out, chart, series, point);
    }
    add_mark (out, item->shade, left + gap, CHART_WHOLE - top, room - 2 * gap,
              height);
    buffer_add_text (out, is_titled (chart) ? "</g>\n" : "\n");
}

static void draw_columns (buffer_t *out, const report_chart_t *chart)
{
    begin_plot (out, chart, "axes");
    add_grid (out, chart);
    buffer_add_char (out, '\n');
    for (size_t i = 0; i < chart->point_count; i++)
        for (size_t s = 0; s < chart->series_count; s++)
            add_column (out, chart, s, i);
    add_point_labels (out, chart);
    end_plot (out);
}

static void add_polyline (buffer_t *out, const report_chart_t *chart,
                          size_t series)
{
    GL_AUTOFREE char *class = xasprintf ("l%d", chart->series[series].shade
                                                    % CHART_SHADES);

    for (size_t i = 0; i + 1 < chart->point_count; i++) {
        const chart_item_t *a = item_at (chart, series, i);
        const chart_item_t *b = item_at (chart, series, i + 1);
        if (a->value && b->value)
            add_line (out, class, point_middle (chart, i), CHART_WHOLE - a->to,
                      point_middle (chart, i + 1), CHART_WHOLE - b->to);
    }
    buffer_add_char (out, '\n');
}

static void add_dots (buffer_t *out, const report_chart_t *chart, size_t series)
{
    for (size_t i = 0; i < chart->point_count; i++) {
        const chart_item_t *item = item_at (chart, series, i);
        if (!item->value)
            continue;
        buffer_printf (out, "<circle class=\"s%d\" r=\"3\"",
                       item->shade % CHART_SHADES);
        add_percent (out, "cx", point_middle (chart, i));
        add_percent (out, "cy", CHART_WHOLE - item->to);
        buffer_add_char (out, '>');
        if (is_titled (chart))
            add_title (out, chart, series, i);
        buffer_add_text (out, "</circle>\n");
    }
}

static void draw_lines (buffer_t *out, const report_chart_t *chart)
{
    begin_plot (out, chart, "axes");
    add_grid (out, chart);
    buffer_add_char (out, '\n');
    for (size_t s = 0; s < chart->series_count; s++)
        add_polyline (out, chart, s);
    for (size_t s = 0; s < chart->series_count; s++)
        add_dots (out, chart, s);
    add_point_labels (out, chart);
    end_plot (out);
}

/* 0: nothing; else 1 to CHART_HEAT_STEPS. */
static int heat_step (const report_chart_t *chart, const chart_item_t *item)
{
    int above = item->to - chart->zero;

    if (!item->value || above <= 0)
        return 0;
    return 1
           + (int)((int64_t)(above - 1) * CHART_HEAT_STEPS
                   / (CHART_WHOLE - chart->zero));
}

static void add_cell (buffer_t *out, const report_chart_t *chart, size_t series,
                      size_t point)
{
    int top = (int)(series * CHART_WHOLE / chart->series_count);
    int left = point_edge (chart, point);

    buffer_printf (out, "<rect class=\"f%d\"",
                   heat_step (chart, item_at (chart, series, point)));
    add_percent (out, "x", left);
    add_percent (out, "y", top);
    add_percent (out, "width", point_edge (chart, point + 1) - left);
    add_percent (out, "height",
                 (int)((series + 1) * CHART_WHOLE / chart->series_count) - top);
    buffer_add_char (out, '>');
    add_title (out, chart, series, point);
    buffer_add_text (out, "</rect>\n");
}

/* "more than 3 to 6": of shade 2. */
static void add_heat_legend (buffer_t *out, const report_chart_t *chart)
{
    buffer_add_text (out, "<ul class=\"legend\">\n");
    for (size_t i = 1; i < chart->tick_count; i++) {
        buffer_add_text (out, "<li>");
        add_drawing (out, "swatch");
        buffer_printf (out,
                       "<rect class=\"f%zu\" width=\"100%%\" "
                       "height=\"100%%\"/></svg><span class=\"label\">",
                       i);
        if (i > 1) {
            buffer_add_text (out, "more than ");
            add_number (out, chart, chart->tick[i - 1].text);
            buffer_add_char (out, ',');
        }
        buffer_add_text (out, i > 1 ? " up to " : "up to ");
        add_number (out, chart, chart->tick[i].text);
        buffer_add_text (out, "</span></li>\n");
    }
    buffer_add_text (out, "</ul>\n");
}

static void draw_heat (buffer_t *out, const report_chart_t *chart)
{
    begin_plot (out, chart, "axes heat");
    for (size_t s = 0; s < chart->series_count; s++) {
        for (size_t i = 0; i < chart->point_count; i++)
            add_cell (out, chart, s, i);
        add_axis_text (
            out, "tick", 0,
            (int)((2 * s + 1) * CHART_WHOLE / (2 * chart->series_count)));
        buffer_add_text (out, " dx=\"-6\" dy=\"4\">");
        add_label (out, chart->series[s].title);
        buffer_add_text (out, "</text>\n");
    }
    add_point_labels (out, chart);
    end_plot (out);
    add_heat_legend (out, chart);
}

/* --- the values as a table ------------------------------------------------ */

static void add_value_cell (buffer_t *out, const report_chart_t *chart,
                            const chart_item_t *item)
{
    buffer_add_text (out, "<td class=\"n\">");
    if (item->value)
        add_number (out, chart, item->value);
    else
        buffer_add_text (out, "not known");
    buffer_add_text (out, "</td>");
}

static void add_value_table (buffer_t *out, const report_chart_t *chart)
{
    buffer_add_text (out,
                     "<details class=\"values\"><summary>Values</summary>"
                     "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                     "aria-label=\"");
    escape_html (out, chart->title);
    buffer_add_text (out, "\"><table><thead><tr><td></td>");
    for (size_t s = 0; s < chart->series_count; s++) {
        buffer_add_text (out, "<th scope=\"col\" class=\"n\">");
        add_label (out, chart->series[s].title);
        buffer_add_text (out, "</th>");
    }
    buffer_add_text (out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < chart->point_count; i++) {
        buffer_add_text (out, "<tr><th scope=\"row\">");
        add_label (out, item_at (chart, 0, i)->label);
        buffer_add_text (out, "</th>");
        for (size_t s = 0; s < chart->series_count; s++)
            add_value_cell (out, chart, item_at (chart, s, i));
        buffer_add_text (out, "</tr>\n");
    }
    buffer_add_text (out, "</tbody></table></div></details>\n");
}

/* --- a figure ------------------------------------------------------------- */

static const struct {
    void (*draw) (buffer_t *out, const report_chart_t *chart);
    bool legend; /* of the series */
    bool table;  /* of the values, which are not written next to the marks */
} kinds[] = {
    [CHART_BARS] = {draw_bars, false, false},
    [CHART_STACK] = {draw_stack, false, false},
    [CHART_COLUMNS] = {draw_columns, true, true},
    [CHART_LINES] = {draw_lines, true, true},
    [CHART_HEAT] = {draw_heat, false, true},
    [CHART_CHANGES] = {draw_bars, true, false},
    [CHART_BUDGETS] = {draw_budgets, true, true},
};

void render_svg (const report_chart_t *chart, buffer_t *out)
{
    buffer_add_text (out, "<figure>\n<figcaption class=\"about\">");
    escape_html (out, chart->description);
    buffer_add_text (out, "</figcaption>\n");
    kinds[chart->kind].draw (out, chart);
    if (kinds[chart->kind].legend)
        add_legend (out, chart);
    if (kinds[chart->kind].table && !chart->in_table)
        add_value_table (out, chart);
    buffer_add_text (out, "</figure>\n");
}
