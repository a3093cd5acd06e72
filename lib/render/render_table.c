/* The table for people, laid out by libsmartcols. */
#include <stdlib.h>
#include <string.h>

#include <libsmartcols.h>

#include "base/memory.h"
#include "render/escape.h"
#include "render/render_private.h"

#define BOLD "\033[1m"
#define FAINT "\033[2m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

static void add_styled (buffer_t *out, const render_options_t *options,
                        const char *style, const char *text, size_t length)
{
    if (options->colour)
        buffer_add_text (out, style);
    buffer_add (out, text, length);
    if (options->colour)
        buffer_add_text (out, PLAIN);
}

static void add_heading (const report_t *report,
                         const render_options_t *options, buffer_t *out)
{
    BUFFER_AUTO line = BUFFER_INIT;

    escape_visible (&line, report->title);
    add_styled (out, options, BOLD, line.data, line.length);
    buffer_add_char (out, '\n');
    buffer_clear (&line);
    for (size_t i = 0; i < report->parameter_count; i++) {
        buffer_printf (&line, "%s%s: ", i ? ", " : "", report->parameter[i][0]);
        escape_visible (&line, report->parameter[i][1]);
    }
    if (line.length > 0) {
        add_styled (out, options, FAINT, line.data, line.length);
        buffer_add_char (out, '\n');
    }
    buffer_add_char (out, '\n');
}

static void set_cell (struct libscols_line *line, size_t column,
                      const char *text)
{
    BUFFER_AUTO cell = BUFFER_INIT;

    if (text)
        escape_visible (&cell, text);
    if (scols_line_set_data (line, column, buffer_text (&cell)) != 0)
        abort ();
}

static struct libscols_line *new_line (struct libscols_table *table)
{
    struct libscols_line *line = scols_table_new_line (table, NULL);

    if (!line)
        abort ();
    return line;
}

static void add_columns (struct libscols_table *table, const report_t *report)
{
    for (size_t i = 0; i < report->order_count; i++) {
        const report_column_t *column = &report->column[report->order[i]];
        BUFFER_AUTO title = BUFFER_INIT;
        escape_visible (&title, column->title);
        if (!scols_table_new_column (
                table, buffer_text (&title), 0,
                render_is_number (column->type) ? SCOLS_FL_RIGHT : 0))
            abort ();
    }
}

static void add_lines (struct libscols_table *table, const report_t *report,
                       size_t rows, bool totals)
{
    struct libscols_line *line;

    for (size_t row = 0; row < rows; row++) {
        line = new_line (table);
        for (size_t i = 0; i < report->order_count; i++)
            set_cell (line, i, report_cell (report, row, report->order[i]));
    }
    if (!totals)
        return;
    line = new_line (table);
    for (size_t i = 0; i < report->order_count; i++)
        set_cell (line, i, report->total[report->order[i]]);
}

/* The laid out lines, without blanks at their ends; the header bold, a rule
 * before the totals. */
static void add_table_text (char *text, const render_options_t *options,
                            size_t lines, bool totals, buffer_t *out)
{
    size_t at = options->no_header ? 1 : 0, width = 0;

    for (char *line = text, *end; *line; line = *end ? end + 1 : end, at++) {
        size_t length;
        end = line + strcspn (line, "\n");
        length = end - line;
        while (length > 0 && line[length - 1] == ' ')
            length--;
        if (escape_length (line) && length > width)
            width = length;
        if (totals && at == lines) {
            for (size_t i = 0; i < width; i++)
                buffer_add_char (out, '-');
            buffer_add_char (out, '\n');
        }
        if (at == 0 || (totals && at == lines))
            add_styled (out, options, BOLD, line, length);
        else
            buffer_add (out, line, length);
        buffer_add_char (out, '\n');
    }
}

static void add_rows (const report_t *report, const render_options_t *options,
                      buffer_t *out)
{
    struct libscols_table *table = scols_new_table ();
    bool totals = report->total && !options->no_header && report->row_count > 0;
    size_t rows = options->no_header ? report->row_count
                                     : render_rows_shown (report);
    char *text = NULL;

    if (!table)
        abort ();
    scols_table_set_termforce (table, SCOLS_TERMFORCE_NEVER);
    scols_table_enable_noheadings (table, options->no_header);
    scols_table_enable_noencoding (table, 1);
    scols_table_set_column_separator (table, "  ");
    add_columns (table, report);
    add_lines (table, report, rows, totals);
    if (report->row_count > 0) {
        if (scols_print_table_to_string (table, &text) != 0)
            abort ();
        add_table_text (text, options, rows + 1, totals, out);
        free (text);
    }
    if (rows < report->row_count)
        buffer_printf (out,
                       "... and %zu more: --csv, --json and -P list all\n",
                       report->row_count - rows);
    scols_unref_table (table);
}

static void add_proof (const report_proof_t *proof, buffer_t *out)
{
    size_t labels = 0, values = 0;

    for (size_t i = 0; i < proof->line_count; i++) {
        size_t label = escape_length (proof->line[i][0]);
        size_t value = escape_length (proof->line[i][1]);
        labels = label > labels ? label : labels;
        values = value > values ? value : values;
    }
    buffer_add_char (out, '\n');
    escape_visible (out, proof->title);
    buffer_add_text (out, proof->holds ? ": PASS\n" : ": FAIL\n");
    for (size_t i = 0; i < proof->line_count; i++) {
        buffer_add_text (out, "  ");
        escape_visible (out, proof->line[i][0]);
        buffer_printf (out, "%*s",
                       (int)(labels - escape_length (proof->line[i][0]) + 2
                             + values - escape_length (proof->line[i][1])),
                       "");
        escape_visible (out, proof->line[i][1]);
        buffer_add_char (out, '\n');
    }
}

static void add_notes (const report_t *report, const render_options_t *options,
                       buffer_t *out)
{
    if (report->note_count > 0)
        buffer_add_char (out, '\n');
    for (size_t i = 0; i < report->note_count; i++) {
        bool warning = report->note[i].level == NOTE_WARNING;
        const char *word = warning ? "Warning:" : "Note:";
        add_styled (out, options, warning ? YELLOW : FAINT, word,
                    strlen (word));
        buffer_add_char (out, ' ');
        escape_visible (out, report->note[i].text);
        buffer_add_char (out, '\n');
    }
}

void render_table (const report_t *report, const render_options_t *options,
                   buffer_t *out)
{
    if (!options->no_header)
        add_heading (report, options, out);
    add_rows (report, options, out);
    if (options->no_header)
        return;
    if (report->row_count == 0)
        buffer_add_text (out, "(no rows)\n");
    for (size_t i = 0; i < report->proof_count; i++)
        add_proof (&report->proof[i], out);
    add_notes (report, options, out);
}
