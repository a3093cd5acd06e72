/* A chart as a figure of the page. Its text is text of the page, which stays
 * readable on a telephone; only bars are drawn, and stretched to the room that
 * there is. */
#include <stdint.h>

#include "base/memory.h"
#include "render/escape.h"
#include "render/render_private.h"

/* Across a drawing, in tenths of a percent: hatching is never stretched. */
#define WIDTH 1000
#define SHADES 8

static void add_drawing (buffer_t *out, const char *class)
{
    buffer_printf (out, "<svg class=\"%s\" aria-hidden=\"true\">", class);
}

static void add_rect (buffer_t *out, const char *class, int shade, int x,
                      int width)
{
    buffer_printf (out,
                   "<rect class=\"%s%d\" x=\"%d.%d%%\" width=\"%d.%d%%\" "
                   "height=\"100%%\"/>",
                   class, shade, x / 10, x % 10, width / 10, width % 10);
}

static void add_words (buffer_t *out, const chart_item_t *item)
{
    BUFFER_AUTO label = BUFFER_INIT;
    BUFFER_AUTO value = BUFFER_INIT;

    render_readable_text (&label, item->label, true, " ");
    render_readable_value (&value, item->value, COLUMN_HOURS, " ");
    buffer_add_text (out, "<span class=\"label\">");
    escape_html (out, buffer_text (&label));
    buffer_add_text (out, "</span> <span class=\"n\">");
    render_value (out, buffer_text (&value), "span");
    buffer_add_text (out, "</span>");
}

static void draw_bars (buffer_t *out, const report_chart_t *chart)
{
    buffer_add_text (out, "<ul class=\"bars\">\n");
    for (size_t i = 0; i < chart->item_count; i++) {
        const chart_item_t *item = &chart->item[i];
        int width = (int)((uint64_t)item->length * WIDTH / CHART_WHOLE);
        buffer_add_text (out, "<li>");
        add_words (out, item);
        add_drawing (out, "bar");
        add_rect (out, "s", item->shade % SHADES, 0,
                  item->length > 0 && width == 0 ? 1 : width);
        buffer_add_text (out, "</svg></li>\n");
    }
    buffer_add_text (out, "</ul>\n");
}

/* The shade of an item, and its hatching over it. */
static void add_part (buffer_t *out, const chart_item_t *item, int x, int width)
{
    add_rect (out, "s", item->shade % SHADES, x, width);
    add_rect (out, "h", item->shade % SHADES, x, width);
}

/* Edges are cut from the running sum, so that the parts fill the bar. */
static void draw_stack (buffer_t *out, const report_chart_t *chart)
{
    uint64_t sum = 0;

    add_drawing (out, "stack");
    for (size_t i = 0; i < chart->item_count; i++) {
        int from = (int)(sum * WIDTH / CHART_WHOLE), to;
        sum += chart->item[i].length;
        if (sum > CHART_WHOLE)
            sum = CHART_WHOLE;
        to = (int)(sum * WIDTH / CHART_WHOLE);
        if (to > from)
            add_part (out, &chart->item[i], from, to - from);
    }
    buffer_add_text (out, "</svg>\n<ul class=\"legend\">\n");
    for (size_t i = 0; i < chart->item_count; i++) {
        buffer_add_text (out, "<li>");
        add_drawing (out, "swatch");
        add_part (out, &chart->item[i], 0, WIDTH);
        buffer_add_text (out, "</svg>");
        add_words (out, &chart->item[i]);
        buffer_add_text (out, "</li>\n");
    }
    buffer_add_text (out, "</ul>\n");
}

void render_svg (const report_chart_t *chart, buffer_t *out)
{
    buffer_add_text (out, "<figure>\n<figcaption class=\"about\">");
    escape_html (out, chart->description);
    buffer_add_text (out, "</figcaption>\n");
    if (chart->kind == CHART_BARS)
        draw_bars (out, chart);
    else
        draw_stack (out, chart);
    buffer_add_text (out, "</figure>\n");
}
