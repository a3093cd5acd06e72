#include <stdint.h>

#include "base/memory.h"
#include "render/escape.h"
#include "render/render_private.h"

/* Units of the drawing, which the page scales to its width. */
#define WIDTH 1000
#define ROW 26 /* a bar and the gap below it */
#define BAR 16
#define LABELS 220   /* the room of the labels left of the bars */
#define VALUES 130   /* ... and of the values right of them */
#define LABEL_MAX 28 /* characters that fit there */
#define STACK_HEIGHT 34
#define LEGEND_COLUMN 500
#define LEGEND_MAX 40
#define SHADES 8

/* A text cut to what fits, with an ellipsis. */
static void add_label (buffer_t *out, const char *text, size_t room)
{
    GL_AUTOFREE char *cut = NULL;
    size_t bytes = 0;

    if (escape_length (text) <= room) {
        escape_html (out, text);
        return;
    }
    for (size_t n = 0; n < room; bytes++)
        n += ((unsigned char)text[bytes + 1] & 0xc0) != 0x80;
    cut = xasprintf ("%.*s\xe2\x80\xa6", (int)bytes, text);
    escape_html (out, cut);
}

static void add_value (buffer_t *out, const char *text)
{
    render_value (out, text, "tspan");
}

static void add_head (buffer_t *out, const report_chart_t *chart, int id,
                      int height)
{
    buffer_printf (out,
                   "<svg viewBox=\"0 0 %d %d\" role=\"img\" "
                   "aria-labelledby=\"c%dt c%dd\">\n<title id=\"c%dt\">",
                   WIDTH, height, id, id, id);
    escape_html (out, chart->title);
    buffer_printf (out, "</title><desc id=\"c%dd\">", id);
    escape_html (out, chart->description);
    for (size_t i = 0; i < chart->item_count; i++) {
        buffer_add_text (out, i ? "; " : " ");
        escape_html (out, chart->item[i].label);
        buffer_add_text (out, ": ");
        escape_html (out, chart->item[i].value);
    }
    buffer_add_text (out, "</desc>\n");
}

static void add_rect (buffer_t *out, const char *class, int shade, int x, int y,
                      int width, int height)
{
    buffer_printf (out,
                   "<rect class=\"%s%d\" x=\"%d\" y=\"%d\" width=\"%d\" "
                   "height=\"%d\"/>",
                   class, shade, x, y, width, height);
}

static void add_bar (buffer_t *out, const chart_item_t *item, int y)
{
    int room = WIDTH - LABELS - VALUES;
    int width = (int)((uint64_t)item->length * room / CHART_WHOLE);

    if (item->length > 0 && width == 0)
        width = 1;
    buffer_printf (out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">",
                   LABELS - 12, y + 13);
    add_label (out, item->label, LABEL_MAX);
    buffer_printf (out,
                   "</text><rect class=\"track\" x=\"%d\" y=\"%d\" "
                   "width=\"%d\" height=\"%d\"/>",
                   LABELS, y, room, BAR);
    add_rect (out, "s", item->shade % SHADES, LABELS, y, width, BAR);
    buffer_printf (out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", WIDTH,
                   y + 13);
    add_value (out, item->value);
    buffer_add_text (out, "</text>\n");
}

static void draw_bars (buffer_t *out, const report_chart_t *chart, int id)
{
    add_head (out, chart, id, (int)chart->item_count * ROW);
    for (size_t i = 0; i < chart->item_count; i++)
        add_bar (out, &chart->item[i], (int)i * ROW + (ROW - BAR) / 2);
    buffer_add_text (out, "</svg>\n");
}

static void add_legend (buffer_t *out, const chart_item_t *item, int at)
{
    int x = at % 2 * LEGEND_COLUMN, y = STACK_HEIGHT + 16 + at / 2 * 24;
    int shade = item->shade % SHADES;

    buffer_printf (out,
                   "<rect class=\"s%d\" x=\"%d\" y=\"%d\" width=\"16\" "
                   "height=\"14\"/>",
                   shade, x + 1, y);
    buffer_printf (out,
                   "<rect class=\"h%d swatch\" x=\"%d\" y=\"%d\" "
                   "width=\"16\" height=\"14\"/>",
                   shade, x + 1, y);
    buffer_printf (out, "<text x=\"%d\" y=\"%d\">", x + 26, y + 12);
    add_label (out, item->label, LEGEND_MAX);
    buffer_printf (out, "</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">",
                   x + LEGEND_COLUMN - 40, y + 12);
    add_value (out, item->value);
    buffer_add_text (out, "</text>\n");
}

/* Edges are cut from the running sum, so that the parts fill the bar. */
static void draw_stack (buffer_t *out, const report_chart_t *chart, int id)
{
    uint64_t sum = 0;

    add_head (out, chart, id,
              STACK_HEIGHT + 16 + (int)(chart->item_count + 1) / 2 * 24);
    for (size_t i = 0; i < chart->item_count; i++) {
        const chart_item_t *item = &chart->item[i];
        int from = (int)(sum * WIDTH / CHART_WHOLE), to;
        sum += item->length;
        if (sum > CHART_WHOLE)
            sum = CHART_WHOLE;
        to = (int)(sum * WIDTH / CHART_WHOLE);
        if (to == from)
            continue;
        add_rect (out, "s", item->shade % SHADES, from, 1, to - from,
                  STACK_HEIGHT - 2);
        add_rect (out, "h", item->shade % SHADES, from, 1, to - from,
                  STACK_HEIGHT - 2);
        buffer_printf (out, "<path class=\"edge\" d=\"M%d 1V%d\"/>\n", to,
                       STACK_HEIGHT - 1);
    }
    buffer_printf (out,
                   "<rect class=\"frame\" x=\"0.5\" y=\"1\" "
                   "width=\"%d\" height=\"%d\"/>\n",
                   WIDTH - 1, STACK_HEIGHT - 2);
    for (size_t i = 0; i < chart->item_count; i++)
        add_legend (out, &chart->item[i], (int)i);
    buffer_add_text (out, "</svg>\n");
}

void render_svg (const report_chart_t *chart, int id, buffer_t *out)
{
    if (chart->kind == CHART_BARS)
        draw_bars (out, chart, id);
    else
        draw_stack (out, chart, id);
}
