/* The table for people; libsmartcols computes the layout. */
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

/* A text of the report's own: a title, a label, a note. */
static void add_text (buffer_t *out, const char *text)
{
    BUFFER_AUTO readable = BUFFER_INIT;

    render_readable_text (&readable, text, false, " ");
    escape_visible (out, buffer_text (&readable));
}

static void add_heading (const report_t *report,
                         const render_options_t *options, buffer_t *out)
{
    BUFFER_AUTO line = BUFFER_INIT;

    add_text (&line, report->title);
    add_styled (out, options, BOLD, line.data, line.length);
    buffer_add_char (out, '\n');
    buffer_clear (&line);
    for (size_t i = 0; i < report->parameter_count; i++) {
        buffer_add_text (&line, i ? ", " : "");
        render_parameter_name (&line, report->parameter[i][0]);
        buffer_add_text (&line, ": ");
        add_text (&line, report->parameter[i][1]);
    }
    if (line.length > 0) {
        add_styled (out, options, FAINT, line.data, line.length);
        buffer_add_char (out, '\n');
    }
    buffer_add_char (out, '\n');
}

static struct libscols_table *new_table (void)
{
    struct libscols_table *table = scols_new_table ();

    if (!table)
        abort ();
    scols_table_set_termforce (table, SCOLS_TERMFORCE_NEVER);
    scols_table_enable_noencoding (table, 1);
    scols_table_set_column_separator (table, "  ");
    return table;
}

static struct libscols_line *new_line (struct libscols_table *table)
{
    struct libscols_line *line = scols_table_new_line (table, NULL);

    if (!line)
        abort ();
    return line;
}

static void add_columns (struct libscols_table *table, const report_t *report,
                         const render_rows_t *rows)
{
    for (size_t i = 0; i < rows->order_count; i++) {
        const report_column_t *column = &report->column[rows->order[i]];
        BUFFER_AUTO title = BUFFER_INIT;
        if (!rows->limit) /* else a row: see add_titles() */
            escape_visible (&title, column->title);
        if (!scols_table_new_column (
                table, buffer_text (&title), 0,
                report_is_number (column->type) ? SCOLS_FL_RIGHT : 0))
            abort ();
    }
}

/* The text of a cell that is still to be printed; NULL: nothing. */
typedef struct {
    buffer_t text;
    const char *next;
} cell_t;

/* Puts a line of each cell. True: there is more. */
static bool put_line (struct libscols_line *line, const render_rows_t *rows,
                      cell_t *cells)
{
    bool more = false;

    for (size_t i = 0; i < rows->order_count; i++) {
        const char *text = cells[i].next ? cells[i].next : "";
        size_t length = render_text_break (
            text, rows->limit ? rows->limit[i] : 0, &cells[i].next);
        GL_AUTOFREE char *part = xstrndup (text, length);
        if (scols_line_set_data (line, i, part) != 0)
            abort ();
        more = more || cells[i].next;
    }
    return more;
}

/* The lines that a row takes: more than one where a text is broken. */
static size_t add_row (struct libscols_table *table, const report_t *report,
                       const render_rows_t *rows, char *const *text)
{
    cell_t *cells = xcalloc (rows->order_count + 1, sizeof (*cells));
    size_t lines = 1;

    for (size_t i = 0; i < rows->order_count; i++) {
        size_t at = rows->order[i];
        BUFFER_AUTO readable = BUFFER_INIT;
        if (text[at])
            render_readable_value (&readable, text[at], report->column[at].type,
                                   " ");
        escape_visible (&cells[i].text, buffer_text (&readable));
        cells[i].next = buffer_text (&cells[i].text);
    }
    while (put_line (new_line (table), rows, cells))
        lines++;
    for (size_t i = 0; i < rows->order_count; i++)
        buffer_done (&cells[i].text);
    free (cells);
    return lines;
}

/* Titles that are broken are rows as well. Returns their lines. */
static size_t add_titles (struct libscols_table *table, const report_t *report,
                          const render_rows_t *rows,
                          const render_options_t *options)
{
    char **title;
    size_t lines;

    scols_table_enable_noheadings (table, options->no_header || rows->limit);
    if (options->no_header || !rows->limit)
        return options->no_header ? 0 : 1;
    title = xcalloc (report->column_count + 1, sizeof (*title));
    for (size_t i = 0; i < report->column_count; i++)
        title[i] = report->column[i].title;
    lines = add_row (table, report, rows, title);
    free (title);
    return lines;
}

/* Returns the lines before the totals. */
static size_t add_rows (struct libscols_table *table, const report_t *report,
                        const render_rows_t *rows)
{
    size_t lines = 0;

    for (size_t row = rows->first; row < rows->first + rows->shown; row++) {
        char *const *subtotal
            = rows->total ? report_subtotal (report, row) : NULL;
        lines += add_row (table, report, rows,
                          report->cell + row * report->column_count);
        if (subtotal)
            lines += add_row (table, report, rows, subtotal);
    }
    if (rows->rest)
        lines += add_row (table, report, rows, rows->rest);
    if (rows->total)
        add_row (table, report, rows, rows->total);
    return lines;
}

/* The rule is as wide as what is seen, not as its bytes. */
static size_t widest (size_t width, const char *line, size_t length)
{
    GL_AUTOFREE char *text = xstrndup (line, length);
    size_t seen = render_text_width (text);

    return seen > width ? seen : width;
}

/* Prints the lines without trailing blanks; titles are bold, and a rule comes
 * before the totals, which follow so many lines. */
static void add_table_text (char *text, const render_options_t *options,
                            size_t titles, size_t lines, bool totals,
                            buffer_t *out)
{
    size_t at = 0, width = 0;

    for (char *line = text, *end; *line; line = *end ? end + 1 : end, at++) {
        size_t length;
        end = line + strcspn (line, "\n");
        length = end - line;
        while (length > 0 && line[length - 1] == ' ')
            length--;
        width = widest (width, line, length);
        if (totals && at == lines) {
            for (size_t i = 0; i < width; i++)
                buffer_add_char (out, '-');
            buffer_add_char (out, '\n');
        }
        if (at < titles || (totals && at >= lines))
            add_styled (out, options, BOLD, line, length);
        else
            buffer_add (out, line, length);
        buffer_add_char (out, '\n');
    }
}

/* "2 columns more (jobs, rate): -w shows all, or -o" */
static void add_left_out (const report_t *report, const render_rows_t *rows,
                          buffer_t *out)
{
    if (rows->left_count == 0 || rows->shown == 0)
        return;
    buffer_printf (out, "%zu column%s more (", rows->left_count,
                   rows->left_count == 1 ? "" : "s");
    for (size_t i = 0; i < rows->left_count; i++) {
        buffer_add_text (out, i ? ", " : "");
        escape_visible (out, report->column[rows->left[i]].name);
    }
    buffer_add_text (out, "): -w shows all, or -o\n");
}

static void print_rows (const report_t *report, const render_rows_t *rows,
                        const render_options_t *options, buffer_t *out)
{
    struct libscols_table *table = new_table ();
    char *text = NULL;
    size_t titles, lines;

    add_columns (table, report, rows);
    titles = add_titles (table, report, rows, options);
    lines = titles + add_rows (table, report, rows);
    if (rows->shown > 0) {
        if (scols_print_table_to_string (table, &text) != 0)
            abort ();
        add_table_text (text, options, titles, lines, rows->total != NULL, out);
        free (text);
    }
    if (!options->no_header && render_rounding (report, rows))
        buffer_printf (out, "%s\n", render_rounding (report, rows));
    if (rows->more > 0)
        buffer_printf (out, "... and %zu more: --csv, --json and -P list all\n",
                       rows->more);
    add_left_out (report, rows, out);
    scols_unref_table (table);
}

/* Without a header the rows alone, all of them. */
static void add_all_rows (const report_t *report,
                          const render_options_t *options, buffer_t *out)
{
    render_rows_t rows = {.shown = report->row_count,
                          .order = report->order,
                          .order_count = report->order_count};

    print_rows (report, &rows, options, out);
}

static void add_title (const char *title, const render_options_t *options,
                       buffer_t *out)
{
    BUFFER_AUTO text = BUFFER_INIT;

    add_text (&text, title);
    add_styled (out, options, BOLD, text.data, text.length);
    buffer_add_char (out, '\n');
}

/* A sentence in lines of the terminal's width. */
static void add_answer (const char *answer, const render_options_t *options,
                        buffer_t *out)
{
    BUFFER_AUTO text = BUFFER_INIT;

    add_text (&text, answer);
    for (const char *line = buffer_text (&text), *next; line; line = next) {
        buffer_add (out, line, render_text_break (line, options->width, &next));
        buffer_add_char (out, '\n');
    }
}

static void add_section (const report_section_t *section,
                         const render_options_t *options, buffer_t *out)
{
    add_title (section->title, options, out);
    if (section->answer)
        add_answer (section->answer, options, out);
}

static void add_tables (const report_t *report, const render_options_t *options,
                        buffer_t *out)
{
    bool first = true;

    for (size_t i = 0; i < render_tables (report); i++) {
        if (render_table_is_empty (report, i))
            continue;
        render_rows_t rows = render_rows (report, i);
        if (options->width > 0)
            render_fit (report, &rows, options->width);
        if (!first)
            buffer_add_char (out, '\n');
        if (report->section_count > 0)
            add_section (&report->section[i], options, out);
        print_rows (report, &rows, options, out);
        render_rows_done (&rows);
        first = false;
    }
}

static size_t text_width (const char *text)
{
    BUFFER_AUTO shown = BUFFER_INIT;

    add_text (&shown, text);
    return render_text_width (buffer_text (&shown));
}

static void add_proof (const report_proof_t *proof, buffer_t *out)
{
    size_t labels = 0, values = 0;

    for (size_t i = 0; i < proof->line_count; i++) {
        size_t label = text_width (proof->line[i][0]);
        size_t value = escape_length (proof->line[i][1]);
        labels = label > labels ? label : labels;
        values = value > values ? value : values;
    }
    buffer_add_char (out, '\n');
    add_text (out, proof->title);
    buffer_add_text (out, proof->holds ? ": PASS\n" : ": FAIL\n");
    for (size_t i = 0; i < proof->line_count; i++) {
        buffer_add_text (out, "  ");
        add_text (out, proof->line[i][0]);
        buffer_printf (out, "%*s",
                       (int)(labels - text_width (proof->line[i][0]) + 2
                             + values - escape_length (proof->line[i][1])),
                       "");
        escape_visible (out, proof->line[i][1]);
        buffer_add_char (out, '\n');
    }
}

static void add_list (const report_list_t *list, buffer_t *out)
{
    size_t width = 0;

    for (size_t i = 0; i < list->item_count; i++) {
        size_t length = escape_length (list->item[i][0]);
        width = length > width ? length : width;
    }
    buffer_add_char (out, '\n');
    escape_visible (out, list->title);
    buffer_add_text (out, ":\n");
    for (size_t i = 0; i < list->item_count; i++) {
        buffer_add_text (out, "  ");
        escape_visible (out, list->item[i][0]);
        buffer_printf (out, "%*s",
                       (int)(width + 2 - escape_length (list->item[i][0])), "");
        add_text (out, list->item[i][1]);
        buffer_add_char (out, '\n');
    }
}

/* Those that the page begins with, or the others. */
static void add_notes (const report_t *report, const render_options_t *options,
                       bool leads, buffer_t *out)
{
    if (report->note_count > 0 && !leads)
        buffer_add_char (out, '\n');
    for (size_t i = 0; i < report->note_count; i++) {
        bool warning = note_is_warning (report->note[i].level);
        const char *word = warning ? "Warning:" : "Note:";
        if ((report->note[i].level == NOTE_LEAD) != leads)
            continue;
        add_styled (out, options, warning ? YELLOW : FAINT, word,
                    strlen (word));
        buffer_add_char (out, ' ');
        add_text (out, report->note[i].text);
        buffer_add_text (out, leads ? "\n\n" : "\n");
    }
}

/* --- figures ------------------------------------------------------------------ */

static void put_figure (struct libscols_line *line, size_t at, const char *text)
{
    BUFFER_AUTO visible = BUFFER_INIT;

    escape_visible (&visible, text);
    if (scols_line_set_data (line, at, buffer_text (&visible)) != 0)
        abort ();
}

static void figure_value (const report_figure_t *figure, buffer_t *out)
{
    if (figure->value)
        render_readable_value (out, figure->value, figure->type, " ");
    else
        buffer_add_text (out, "not known");
}

/* A hint that is narrower than this is left out. */
#define HINT_LEAST 16

/* The columns that titles and values take; into *ret_value that of values. */
static size_t figures_width (const report_t *report, size_t *ret_value)
{
    size_t title = 0;

    *ret_value = 0;
    for (size_t i = 0; i < report->figure_count; i++) {
        BUFFER_AUTO value = BUFFER_INIT;
        figure_value (&report->figure[i], &value);
        title = widest (title, report->figure[i].title,
                        strlen (report->figure[i].title));
        *ret_value = widest (*ret_value, value.data, value.length);
    }
    return title + 2 + *ret_value;
}

/* The hint, with how sure the figure is, in as many lines as it takes. `room`: its width; 0: no
 * limit. */
static void put_figure_lines (struct libscols_table *table,
                              const report_figure_t *figure, size_t room)
{
    BUFFER_AUTO value = BUFFER_INIT;
    GL_AUTOFREE char *sure
        = figure->hint && figure->sure
              ? xasprintf ("%s %s", figure->hint, figure->sure)
              : NULL;
    struct libscols_line *line = new_line (table);
    const char *next = sure ? sure : figure->hint;

    figure_value (figure, &value);
    put_figure (line, 0, figure->title);
    put_figure (line, 1, buffer_text (&value));
    while (next && next[0]) {
        const char *text = next;
        size_t length = render_text_break (text, room, &next);
        GL_AUTOFREE char *part = xstrndup (text, length);
        put_figure (line, 2, part);
        if (next && next[0])
            line = new_line (table);
    }
}

/* What a reader looks for first, a line each: title, value, what it is measured
 * against. Nothing where a terminal is too narrow for it. */
static void add_figures (const report_t *report,
                         const render_options_t *options, buffer_t *out)
{
    size_t value, width = figures_width (report, &value);
    size_t room = options->width > width + 2 ? options->width - width - 2 : 0;
    bool hints = options->width == 0 || room >= HINT_LEAST;
    struct libscols_table *table;
    char *text = NULL;

    if (report->figure_count == 0
        || (options->width > 0 && width > options->width))
        return;
    table = new_table ();
    scols_table_enable_noheadings (table, true);
    for (size_t i = 0; i < (hints ? 3 : 2); i++)
        if (!scols_table_new_column (table, "", 0, i == 1 ? SCOLS_FL_RIGHT : 0))
            abort ();
    for (size_t i = 0; i < report->figure_count; i++) {
        report_figure_t figure = report->figure[i];
        if (!hints)
            figure.hint = NULL;
        put_figure_lines (table, &figure, room);
    }
    if (scols_print_table_to_string (table, &text) != 0)
        abort ();
    buffer_printf (out, "%s\n\n", text);
    free (text);
    scols_unref_table (table);
}

void render_table (const report_t *report, const render_options_t *options,
                   buffer_t *out)
{
    if (options->no_header) {
        add_all_rows (report, options, out);
        return;
    }
    add_heading (report, options, out);
    add_notes (report, options, true, out);
    add_figures (report, options, out);
    add_tables (report, options, out);
    if (report->row_count == 0)
        buffer_add_text (out, "(no rows)\n");
    for (size_t i = 0; i < report->proof_count; i++)
        add_proof (&report->proof[i], out);
    for (size_t i = 0; i < report->list_count; i++)
        add_list (&report->list[i], out);
    add_notes (report, options, false, out);
}
