#include <string.h>

#include "base/memory.h"
#include "render/escape.h"
#include "render/render_private.h"

static const struct {
    void (*render) (const report_t *report, const render_options_t *options,
                    buffer_t *out);
    bool shows_notes;
} formats[RENDER_FORMAT_COUNT] = {
    [RENDER_TABLE] = {render_table, true},
    [RENDER_PARSABLE2] = {render_parsable2, false},
    [RENDER_CSV] = {render_csv, false},
    [RENDER_JSON] = {render_json, true},
    [RENDER_HTML] = {render_html, true},
};

void render_report (const report_t *report, render_format_t format,
                    const render_options_t *options, buffer_t *out)
{
    formats[format].render (report, options, out);
}

/* A buffer that holds less is not worth a call. */
#define MUCH ((size_t)65536)

void render_drain (const render_options_t *options, buffer_t *out)
{
    if (options->drain && out->length >= MUCH)
        options->drain (out, options->arg);
}

bool render_shows_notes (render_format_t format)
{
    return formats[format].shows_notes;
}

size_t render_tables (const report_t *report)
{
    return report->section_count ? report->section_count : 1;
}

bool render_table_is_empty (const report_t *report, size_t table)
{
    return report->row_count > 0 && report->section_count > 0
           && report_section_end (report, table)
                  == report->section[table].first;
}

render_rows_t render_rows (const report_t *report, size_t table)
{
    bool sections = report->section_count > 0;
    render_rows_t rows
        = {.order = xcalloc (report->order_count + 1, sizeof (*rows.order))};
    size_t end
        = sections ? report_section_end (report, table) : report->row_count;

    rows.first = sections ? report->section[table].first : 0;
    rows.shown = end - rows.first;
    if (report->rows_shown && report->rows_shown < rows.shown)
        rows.shown = report->rows_shown;
    rows.more = end - rows.first - rows.shown;
    if (sections && rows.more > 0)
        rows.rest = report->section[table].rest;
    if (end > rows.first)
        rows.total = sections ? report->section[table].total : report->total;
    for (size_t i = 0; i < report->order_count; i++) {
        if (!sections || report_section_has (report, table, report->order[i]))
            rows.order[rows.order_count++] = report->order[i];
    }
    return rows;
}

void render_rows_done (render_rows_t *rows)
{
    free (rows->order);
    free (rows->limit);
    free (rows->left);
}

/* False and nothing for a text that is no number. */
bool render_number (buffer_t *out, const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');
    size_t whole = strspn (digits, "0123456789");
    const char *rest = digits + whole;

    if (whole == 0 || (*rest && *rest != '.')
        || strspn (rest + (*rest == '.'), "0123456789")
               != strlen (rest + (*rest == '.')))
        return false;
    if (*text == '-')
        buffer_add_text (out, "\xe2\x88\x92"); /* minus sign */
    else if (*text == '+')
        buffer_add_char (out, '+');
    for (size_t at = 0, run = (whole - 1) % 3 + 1; at < whole;
         at += run, run = 3) {
        if (at > 0)
            buffer_add_text (out, "\xe2\x80\xaf");
        buffer_add (out, digits + at, run);
    }
    buffer_add_text (out, rest);
    return true;
}

#define FAINT_DIGITS 4

void render_value (buffer_t *out, const char *text, const char *tag)
{
    const char *point = strchr (text, '.');
    char faint[FAINT_DIGITS + 1];

    if (!render_number (out, text)) {
        escape_html (out, text);
        return;
    }
    if (!point || strlen (point) != 7)
        return;
    out->length -= FAINT_DIGITS;
    memcpy (faint, out->data + out->length, sizeof (faint));
    buffer_printf (out, "<%s class=\"f\">%s</%s>", tag, faint, tag);
}
