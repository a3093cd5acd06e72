/* WeasyPrint clips a drawing to its box. */
#include <stdbool.h>
#include <string.h>

#include "render/render_private.h"

/* The text of the axes is at the left of a plot and below it. */
#define PLOT "<svg class=\"plot\""
#define AXES "<g transform=\"translate(58 6) scale(.86)\">"

/* Up to `end`, NULL: all; the page goes on there. */
static const char *copy_to (buffer_t *out, const char *page, const char *end)
{
    size_t length = end ? (size_t)(end - page) : strlen (page);

    buffer_add (out, page, length);
    return page + length;
}

static const char *copy_drawing (buffer_t *out, const char *svg)
{
    bool plot = !strncmp (svg, PLOT, strlen (PLOT));

    svg = copy_to (out, svg, strchr (svg, '>'));
    svg = copy_to (out, svg, *svg ? svg + 1 : svg);
    buffer_add_text (out, render_paper_drawing);
    if (plot)
        buffer_add_text (out, AXES);
    svg = copy_to (out, svg, strstr (svg, "</svg>"));
    if (plot)
        buffer_add_text (out, "</g>");
    return svg;
}

/* Texts have no < of their own: what looks like an element is one. */
void render_paper (const char *page, buffer_t *out)
{
    page = copy_to (out, page, strstr (page, "</head>"));
    buffer_add_text (out, render_paper_style);
    for (const char *svg; (svg = strstr (page, "<svg "));)
        page = copy_drawing (out, copy_to (out, page, svg));
    buffer_add_text (out, page);
}
