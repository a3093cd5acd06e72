#include <string.h>

#include "base/array.h"
#include "render/escape.h"
#include "render/json.h"
#include "render/render_explain.h"
#include "render/render_private.h"

/* Values stand in one column, unless a title is longer than this. */
#define VALUE_COLUMN 46

/* A date as people read it; quantities stay exact, the page shows how they came
 * about. */
static void add_value (buffer_t *out, const explain_line_t *line)
{
    BUFFER_AUTO date = BUFFER_INIT;

    if (line->value && line->type == COLUMN_DATE)
        render_readable_text (&date, line->value, false, " ");
    escape_visible (out, date.length   ? buffer_text (&date)
                         : line->value ? line->value
                                       : "unknown");
}

static void add_title (buffer_t *out, const char *title)
{
    BUFFER_AUTO readable = BUFFER_INIT;

    render_readable_text (&readable, title, false, " ");
    escape_visible (out, buffer_text (&readable));
}

static void add_line (const explain_line_t *line, buffer_t *out)
{
    size_t length = escape_length (line->title);

    buffer_add_text (out, "  ");
    escape_visible (out, line->title);
    if (length > VALUE_COLUMN)
        buffer_printf (out, "\n%*s", VALUE_COLUMN + 4, "");
    else
        buffer_printf (out, "%*s", (int)(VALUE_COLUMN - length + 2), "");
    add_value (out, line);
    buffer_add_char (out, '\n');
}

static void add_step (const explain_step_t *step, size_t number, buffer_t *out)
{
    buffer_printf (out, "\n%zu. ", number);
    add_title (out, step->title);
    buffer_add_char (out, '\n');
    for (size_t i = 0; i < step->line_count; i++)
        add_line (&step->line[i], out);
}

static void add_answer (const explain_segment_t *segment, buffer_t *out)
{
    for (size_t i = 0; i < segment->answer.count; i++) {
        buffer_add_text (out, "  ");
        add_title (out, segment->answer.item[i]);
        buffer_add_char (out, '\n');
    }
}

void render_explain_text (const explain_t *explain, buffer_t *out)
{
    for (size_t i = 0; i < explain->segment_count; i++) {
        const explain_segment_t *segment = &explain->segment[i];
        if (i > 0)
            buffer_add_char (out, '\n');
        escape_visible (out, segment->title);
        if (explain->segment_count > 1)
            buffer_printf (out, ", segment %zu of %zu", i + 1,
                           explain->segment_count);
        buffer_add_char (out, '\n');
        add_answer (segment, out);
        for (size_t k = 0; k < segment->step_count; k++)
            add_step (&segment->step[k], k + 1, out);
    }
}

/* Counts and hours are numbers; money, rates and ids strings, as in reports. */
static void put_line (json_t *json, const explain_line_t *line)
{
    if (line->type == COLUMN_COUNT || line->type == COLUMN_HOURS)
        json_number (json, line->name, line->value);
    else
        json_string (json, line->name, line->value);
}

static void put_step (json_t *json, const explain_step_t *step)
{
    json_object (json, NULL);
    json_string (json, "step", step->name);
    json_string (json, "title", step->title);
    json_object (json, "facts");
    for (size_t i = 0; i < step->line_count; i++)
        put_line (json, &step->line[i]);
    json_end_object (json);
    json_end_object (json);
}

void render_explain_json (const explain_t *explain, buffer_t *out)
{
    json_t json = JSON_INIT (out);

    json_object (&json, NULL);
    json_string (&json, explain->what, explain->name);
    json_array (&json, "segments");
    for (size_t i = 0; i < explain->segment_count; i++) {
        const explain_segment_t *segment = &explain->segment[i];
        json_object (&json, NULL);
        json_string (&json, "title", segment->title);
        json_array (&json, "answer");
        for (size_t k = 0; k < segment->answer.count; k++)
            json_string (&json, NULL, segment->answer.item[k]);
        json_end_array (&json);
        json_array (&json, "steps");
        for (size_t k = 0; k < segment->step_count; k++)
            put_step (&json, &segment->step[k]);
        json_end_array (&json);
        json_end_object (&json);
    }
    json_end_array (&json);
    json_end_object (&json);
}

/* --- a page ------------------------------------------------------------------ */

static void add_fact (buffer_t *out, const explain_line_t *line)
{
    BUFFER_AUTO date = BUFFER_INIT;

    buffer_add_text (out, "<tr><th scope=\"row\">");
    escape_html (out, line->title);
    buffer_add_text (out, "</th><td>");
    if (line->value && line->type == COLUMN_DATE)
        render_page_text (out, line->value);
    else if (line->value && report_is_number (line->type))
        render_value (out, line->value, "span");
    else if (line->value)
        escape_html (out, line->value);
    else
        buffer_add_text (out, "not known");
    buffer_add_text (out, "</td></tr>\n");
}

static void add_facts (buffer_t *out, const explain_step_t *step, size_t number)
{
    buffer_printf (out, "<section>\n<h3>%zu. ", number);
    render_page_text (out, step->title);
    buffer_add_text (out, "</h3>\n<div class=\"scroll\"><table "
                          "class=\"facts\">\n");
    for (size_t i = 0; i < step->line_count; i++)
        add_fact (out, &step->line[i]);
    buffer_add_text (out, "</table></div>\n</section>\n");
}

static void add_sentence (buffer_t *out, const char *text)
{
    buffer_add_text (out, "<p><strong>");
    render_page_text (out, text);
    buffer_add_text (out, "</strong></p>\n");
}

/* What it costs comes first, then where the price is from. */
static void add_steps (buffer_t *out, const explain_segment_t *segment)
{
    static const char *const first[] = {"charge", "cost"};
    size_t number = 0;

    for (size_t i = 0; i <= GL_ARRAY_SIZE (first); i++)
        for (size_t k = 0; k < segment->step_count; k++) {
            size_t at = 0;
            while (at < GL_ARRAY_SIZE (first)
                   && strcmp (segment->step[k].name, first[at]) != 0)
                at++;
            if (at == i)
                add_facts (out, &segment->step[k], ++number);
        }
}

void render_explain_html (const explain_t *explain, const char *title,
                          const render_frame_t *frame, buffer_t *out)
{
    render_page_begin (out, title,
                       "<style>.facts th{width:45%;overflow-wrap:anywhere}"
                       "h3{font-size:1rem;margin:1.4rem 0 .3rem}"
                       ".facts td{overflow-wrap:anywhere}"
                       "@media(max-width:40rem){.facts th,.facts td{"
                       "display:block;width:auto;padding:.1rem 0}"
                       ".facts th{border:0;padding-top:.4rem;"
                       "color:var(--soft)}}</style>\n",
                       frame);
    render_page_near (out, frame);
    buffer_add_text (out, "</header>\n");
    for (size_t i = 0; i < explain->segment_count; i++) {
        const explain_segment_t *segment = &explain->segment[i];
        buffer_add_text (out, "<section>\n<h2>");
        escape_html (out, segment->title);
        if (explain->segment_count > 1)
            buffer_printf (out, ", segment %zu of %zu", i + 1,
                           explain->segment_count);
        buffer_add_text (out, "</h2>\n");
        for (size_t k = 0; k < segment->answer.count; k++)
            add_sentence (out, segment->answer.item[k]);
        add_steps (out, segment);
        buffer_add_text (out, "</section>\n");
    }
    render_page_end (out);
}
