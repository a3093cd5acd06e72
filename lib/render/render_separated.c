/* Fields with a separator between them: -P and --csv. */
#include "render/escape.h"
#include "render/render_private.h"

typedef void (*field_f) (buffer_t *out, const char *text, column_type_t type);

static void parsable_field (buffer_t *out, const char *text, column_type_t type)
{
    (void)type;
    escape_parsable (out, text);
}

/* Numbers are ours: a minus is a sign there. */
static void csv_field (buffer_t *out, const char *text, column_type_t type)
{
    escape_csv (out, text, !report_is_number (type));
}

static void render_separated (const report_t *report,
                              const render_options_t *options, char separator,
                              field_f field, buffer_t *out)
{
    for (size_t i = 0; !options->no_header && i < report->order_count; i++) {
        if (i > 0)
            buffer_add_char (out, separator);
        field (out, report->column[report->order[i]].name, COLUMN_TEXT);
    }
    if (!options->no_header)
        buffer_add_char (out, '\n');
    for (size_t row = 0; row < report->row_count; row++) {
        for (size_t i = 0; i < report->order_count; i++) {
            size_t at = report->order[i];
            const char *text = report_cell (report, row, at);
            if (i > 0)
                buffer_add_char (out, separator);
            if (text)
                field (out, text, report->column[at].type);
        }
        buffer_add_char (out, '\n');
        render_drain (options, out);
    }
}

void render_parsable2 (const report_t *report, const render_options_t *options,
                       buffer_t *out)
{
    render_separated (report, options, '|', parsable_field, out);
}

void render_csv (const report_t *report, const render_options_t *options,
                 buffer_t *out)
{
    render_separated (report, options, ',', csv_field, out);
}
