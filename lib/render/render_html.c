/* One page that needs nothing else: for a screen, light or dark, for paper, and
 * for whoever hears it read: a table has its heading as its name, and one that is
 * wider than the window can be scrolled by keys. What matters comes first, how
 * it adds up after the rows, definitions and origin last. */
#include <string.h>

#include "base/memory.h"
#include "render/escape.h"
#include "render/render_private.h"

/* No line breaks within a date. */
#define NO_BREAK_SPACE "\xc2\xa0"

/* So many columns of numbers have room on a telephone, on a tablet and on a desk or paper; a
 * column of text takes the room of two. Where they have none, rows are cards. */
#define TELEPHONE_ROOM 4
#define TABLET_ROOM 9
#define DESK_ROOM 20

/* Bytes of a word, and of a text, that a column has room for. */
#define LONG_WORD 24
#define LONG_TEXT 30

void render_page_text (buffer_t *out, const char *text)
{
    BUFFER_AUTO readable = BUFFER_INIT;

    render_readable_text (&readable, text, false, NO_BREAK_SPACE);
    escape_html (out, buffer_text (&readable));
}

/* A text of the report's own: a title, a label, a note. */
static void add_text (buffer_t *out, const char *text)
{
    render_page_text (out, text);
}

static void add_element (buffer_t *out, const char *tag, const char *text)
{
    buffer_add_char (out, '<');
    buffer_add_text (out, tag);
    buffer_add_char (out, '>');
    add_text (out, text);
    buffer_add_text (out, "</");
    buffer_add (out, tag, strcspn (tag, " "));
    buffer_add_char (out, '>');
}

static void add_value (buffer_t *out, const char *text)
{
    render_value (out, text, "span");
}

static void add_readable (buffer_t *out, const char *text, column_type_t type)
{
    BUFFER_AUTO readable = BUFFER_INIT;

    if (type == COLUMN_TEXT) /* most cells */
        escape_html (out, text);
    else if (type == COLUMN_MONEY)
        add_value (out, text);
    else {
        render_readable_value (&readable, text, type, NO_BREAK_SPACE);
        if (report_is_number (type))
            add_value (out, buffer_text (&readable));
        else
            escape_html (out, buffer_text (&readable));
    }
}

/* A text as a string of a style sheet. */
static void add_style_string (buffer_t *out, const char *text)
{
    buffer_add_char (out, '"');
    for (; *text; text++)
        if (strchr ("<>&\"'\\\n", *text))
            buffer_printf (out, "\\%02x ", (unsigned)*text);
        else
            buffer_add_char (out, *text);
    buffer_add_char (out, '"');
}

/* "": at all widths a table. */
static const char *cards_class (const report_t *report,
                                const render_rows_t *rows)
{
    size_t room = rows->order_count;

    for (size_t i = 0; i < rows->order_count; i++)
        room += !report_is_number (report->column[rows->order[i]].type);
    return room > DESK_ROOM        ? "cards many most "
           : room > TABLET_ROOM    ? "cards many "
           : room > TELEPHONE_ROOM ? "cards "
                                   : "";
}

/* On a card, each value is next to the title of its column. */
static void add_card_labels (buffer_t *out, const report_t *report)
{
    buffer_add_text (out, "<style id=\"labels\">\n");
    for (size_t i = 0; i < render_tables (report); i++) {
        render_rows_t rows = render_rows (report, i);
        size_t labels = *cards_class (report, &rows) ? rows.order_count : 0;
        for (size_t k = 1; k < labels; k++) {
            buffer_add_text (out, ".k");
            buffer_add_number (out, i);
            buffer_add_text (out, " td:nth-child(");
            buffer_add_number (out, k + 1);
            buffer_add_text (out, ")::before{content:");
            add_style_string (out, report->column[rows.order[k]].title);
            buffer_add_text (out, "}\n");
        }
        render_rows_done (&rows);
    }
    for (size_t i = 0; i < report->list_count; i++)
        for (size_t k = 1; k < report->list[i].head_count; k++) {
            buffer_printf (out, ".l%zu td:nth-child(%zu)::before{content:", i,
                           k + 1);
            add_style_string (out, report->list[i].head[k].title);
            buffer_add_text (out, "}\n");
        }
    buffer_add_text (out, "</style>\n");
}

/* --- the frame -------------------------------------------------------------- */

static void add_link (buffer_t *out, const render_link_t *link)
{
    buffer_add_text (out, "<li>");
    if (link->href) {
        buffer_add_text (out, "<a href=\"");
        escape_html (out, link->href);
        buffer_add_text (out, "\">");
    } else
        buffer_add_text (out, "<span aria-current=\"page\">");
    add_text (out, link->text);
    buffer_add_text (out, link->href ? "</a></li>" : "</span></li>");
}

static void add_links (buffer_t *out, const char *name, const char *tag,
                       const render_link_t *link, size_t count)
{
    if (count == 0)
        return;
    buffer_printf (out, "<nav aria-label=\"%s\"><%s>", name, tag);
    for (size_t i = 0; i < count; i++)
        add_link (out, &link[i]);
    buffer_printf (out, "</%s></nav>\n", tag);
}

static void add_mark (buffer_t *out, const render_frame_t *frame)
{
    buffer_add_text (out, "<p class=\"mark\">");
    if (frame && frame->logo) {
        buffer_add_text (out, "<img class=\"logo\" alt=\"\" src=\"");
        escape_html (out, frame->logo);
        buffer_add_text (out, "\">");
    }
    escape_html (out, frame && frame->site ? frame->site : "gpuledger");
    buffer_add_text (out, "</p>");
}

/* A page that leads elsewhere has links, and may have an image of its own. */
static void add_policy (buffer_t *out, const render_frame_t *frame)
{
    buffer_printf (out,
                   "<meta http-equiv=\"Content-Security-Policy\" "
                   "content=\"default-src 'none'; style-src "
                   "'unsafe-inline'%s\">\n",
                   frame && frame->logo ? "; img-src data:" : "");
    if (frame)
        buffer_add_text (out, "<meta name=\"robots\" "
                              "content=\"noindex, nofollow\">\n");
}

static void add_frame_style (buffer_t *out, const render_frame_t *frame)
{
    if (!frame)
        return;
    buffer_add_text (out, render_frame_style);
    if (frame->colour) {
        buffer_add_text (out, "header{border-top:.3rem solid ");
        escape_html (out, frame->colour);
        buffer_add_text (out, ";padding-top:.8rem}\n");
    }
}

void render_page_begin (buffer_t *out, const char *title, const char *style,
                        const render_frame_t *frame)
{
    buffer_add_text (out,
                     "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                     "<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, "
                     "initial-scale=1\">\n");
    add_policy (out, frame);
    add_element (out, "title", title);
    buffer_add_text (out, "\n<style>\n");
    buffer_add_text (out, render_style);
    add_frame_style (out, frame);
    buffer_add_text (out, "</style>\n");
    buffer_add_text (out, style);
    buffer_add_text (out, "</head>\n<body>\n");
    buffer_add_text (out, render_svg_patterns);
    buffer_add_text (out, "<main>\n<header>\n");
    add_mark (out, frame);
    if (frame)
        add_links (out, "Path", "ol", frame->trail, frame->trail_count);
    buffer_add_text (out, "<h1>");
    add_text (out, title);
    buffer_add_text (out, "</h1>\n");
}

void render_page_near (buffer_t *out, const render_frame_t *frame)
{
    if (frame)
        add_links (out, "Next to this page", "ul", frame->near,
                   frame->near_count);
}

void render_page_end (buffer_t *out)
{
    buffer_add_text (out, "</main>\n</body>\n</html>\n");
}

static void add_head (buffer_t *out, const report_t *report,
                      const render_frame_t *frame)
{
    BUFFER_AUTO labels = BUFFER_INIT;
    BUFFER_AUTO name = BUFFER_INIT;

    add_card_labels (&labels, report);
    render_page_begin (out, report->title, buffer_text (&labels), frame);
    buffer_add_text (out, "<dl class=\"asked\">\n");
    for (size_t i = 0; i < report->parameter_count; i++) {
        buffer_add_text (out, "<div><dt>");
        buffer_clear (&name);
        render_parameter_name (&name, report->parameter[i][0]);
        escape_html (out, buffer_text (&name));
        buffer_add_text (out, "</dt><dd>");
        add_text (out, report->parameter[i][1]);
        buffer_add_text (out, "</dd></div>\n");
    }
    buffer_add_text (out, "</dl>\n");
    render_page_near (out, frame);
    buffer_add_text (out, "</header>\n");
}

static void add_figures (buffer_t *out, const report_t *report)
{
    if (report->figure_count == 0)
        return;
    buffer_add_text (out, "<dl class=\"figures\">\n");
    for (size_t i = 0; i < report->figure_count; i++) {
        const report_figure_t *figure = &report->figure[i];
        buffer_add_text (out, "<div>");
        add_element (out, "dt", figure->title);
        buffer_add_text (out, "<dd class=\"value\">");
        if (figure->value)
            add_readable (out, figure->value, figure->type);
        else
            buffer_add_text (out, "not known");
        buffer_add_text (out, "</dd><dd class=\"hint\">");
        add_text (out, figure->hint);
        if (figure->sure) {
            buffer_add_text (
                out, "</dd><dd class=\"hint\"><strong>How sure</strong> ");
            add_text (out, figure->sure);
        }
        buffer_add_text (out, "</dd></div>\n");
    }
    buffer_add_text (out, "</dl>\n");
}

/* Where a page has its notes. */
typedef enum {
    NOTES_FIRST,
    NOTES_OTHERS,
    NOTES_SOURCES,
    NOTES_COMMANDS,
} notes_t;

/* A section of their own, with this title. */
static const char *const note_sections[] = {
    [NOTES_SOURCES] = "Sources and methods",
    [NOTES_COMMANDS] = "For administrators",
};

static notes_t place_of (const report_note_t *note)
{
    return note->level == NOTE_LEAD      ? NOTES_FIRST
           : note->level == NOTE_SOURCE  ? NOTES_SOURCES
           : note->level == NOTE_COMMAND ? NOTES_COMMANDS
                                         : NOTES_OTHERS;
}

static void add_notes (buffer_t *out, const report_t *report, notes_t which)
{
    size_t count = 0;

    for (size_t i = 0; i < report->note_count; i++)
        count += place_of (&report->note[i]) == which;
    if (count == 0)
        return;
    if (note_sections[which])
        buffer_printf (out, "<section>\n<h2>%s</h2>\n", note_sections[which]);
    buffer_add_text (out, "<ul class=\"notes\">\n");
    for (size_t i = 0; i < report->note_count; i++) {
        bool warning = note_is_warning (report->note[i].level);
        if (place_of (&report->note[i]) != which)
            continue;
        buffer_printf (out, "<li%s><b>%s</b> ",
                       warning ? " class=\"warning\"" : "",
                       warning ? "Please note" : "Note");
        add_text (out, report->note[i].text);
        buffer_add_text (out, "</li>\n");
    }
    buffer_add_text (out, "</ul>\n");
    if (note_sections[which])
        buffer_add_text (out, "</section>\n");
}

static void add_charts (buffer_t *out, const report_t *report)
{
    for (size_t i = 0; i < report->chart_count; i++) {
        if (report->chart[i].item_count == 0)
            continue;
        buffer_add_text (out, "<section>\n");
        add_element (out, "h2", report->chart[i].title);
        buffer_add_char (out, '\n');
        render_svg (&report->chart[i], out);
        buffer_add_text (out, "</section>\n");
    }
}

/* A column is not as wide as its longest name or hash: that is broken anywhere. */
static bool is_long (const char *text)
{
    size_t word = 0, i;

    for (i = 0; text[i] && word <= LONG_WORD; i++)
        word = text[i] == ' ' ? 0 : word + 1;
    return word > LONG_WORD || i > LONG_TEXT;
}

static const char *cell_class (column_type_t type, const char *text)
{
    return report_is_number (type)  ? " class=\"n\""
           : type == COLUMN_DATE    ? " class=\"d\""
           : text && is_long (text) ? " class=\"w\""
                                    : "";
}

static void add_cell_of (buffer_t *out, column_type_t type, const char *text,
                         bool heads_row, const char *href)
{
    /* there are a million of them on a site, and printf takes its time */
    buffer_add_text (out, heads_row ? "<th scope=\"row\"" : "<td");
    buffer_add_text (out, cell_class (type, text));
    if (text
        && (type == COLUMN_HOURS || type == COLUMN_ENERGY
            || type == COLUMN_MASS)) {
        buffer_add_text (out, " title=\"");
        buffer_add_text (out, text);
        buffer_add_char (out, '"');
    }
    buffer_add_char (out, '>');
    if (!text)
        buffer_add_text (out, report_is_number (type)
                                  ? "<span class=\"missing\" role=\"img\" "
                                    "aria-label=\"none, or not known\" "
                                    "title=\"none, or not known\">"
                                    "\xe2\x80\x93</span>"
                                  : "<span class=\"missing\" role=\"img\" "
                                    "aria-label=\"none\" title=\"none\">"
                                    "\xe2\x80\x93</span>");
    else if (!*href)
        add_readable (out, text, type);
    else {
        buffer_add_text (out, "<a href=\"");
        escape_html (out, href);
        buffer_add_text (out, "\">");
        add_readable (out, text, type);
        buffer_add_text (out, "</a>");
    }
    buffer_add_text (out, heads_row ? "</th>" : "</td>");
}

static void add_cell (buffer_t *out, const report_t *report, size_t column,
                      const char *text, bool heads_row, const char *href)
{
    add_cell_of (out, report->column[column].type, text, heads_row, href);
}

static void add_heading (buffer_t *out, column_type_t type, const char *title)
{
    buffer_add_text (out, "<th scope=\"col\"");
    buffer_add_text (out, report_is_number (type) ? " class=\"n\">" : ">");
    escape_html (out, title);
    buffer_add_text (out, "</th>");
}

/* Of several rows; a cell that is not there is empty. */
static void add_sums (buffer_t *out, const report_t *report,
                      const render_rows_t *rows, char *const *cells,
                      const char *class)
{
    if (!cells)
        return;
    buffer_printf (out, "<tr%s>", class);
    for (size_t i = 0; i < rows->order_count; i++) {
        size_t at = rows->order[i];
        if (cells[at])
            add_cell (out, report, at, cells[at], i == 0, "");
        else
            buffer_add_text (out, "<td></td>");
    }
    buffer_add_text (out, "</tr>\n");
}

static void add_row (buffer_t *out, const report_t *report,
                     const render_rows_t *rows, size_t row,
                     const render_frame_t *frame)
{
    BUFFER_AUTO href = BUFFER_INIT;

    buffer_add_text (out, "<tr>");
    for (size_t i = 0; i < rows->order_count; i++) {
        size_t at = rows->order[i];
        href.length = 0;
        if (!frame || !frame->href
            || !frame->href (frame->arg, report, row, at, &href))
            href.length = 0;
        add_cell (out, report, at, report_cell (report, row, at), i == 0,
                  href.length ? buffer_text (&href) : "");
    }
    buffer_add_text (out, "</tr>\n");
}

static void add_rows (buffer_t *out, const report_t *report,
                      const render_rows_t *rows, const render_frame_t *frame)
{
    for (size_t row = rows->first; row < rows->first + rows->shown; row++) {
        add_row (out, report, rows, row, frame);
        add_sums (out, report, rows, report_subtotal (report, row),
                  " class=\"sub\"");
    }
}

static void add_totals (buffer_t *out, const report_t *report,
                        const render_rows_t *rows)
{
    if (!rows->total)
        return;
    buffer_add_text (out, "<tfoot><tr>");
    for (size_t i = 0; i < rows->order_count; i++) {
        size_t at = rows->order[i];
        if (rows->total[at])
            add_cell (out, report, at, rows->total[at], i == 0, "");
        else
            buffer_add_text (out, i == 0 ? "<th scope=\"row\">Total</th>"
                                         : "<td></td>");
    }
    buffer_add_text (out, "</tr></tfoot>\n");
}

/* The table under the heading of id t`id`. */
static void add_table (buffer_t *out, const report_t *report,
                       const render_rows_t *rows, size_t id,
                       const render_frame_t *frame)
{
    buffer_printf (out,
                   "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                   "aria-labelledby=\"t%zu\">"
                   "<table class=\"%sk%zu\" "
                   "aria-labelledby=\"t%zu\">\n<thead><tr>",
                   id, cards_class (report, rows), id, id);
    for (size_t i = 0; i < rows->order_count; i++) {
        const report_column_t *column = &report->column[rows->order[i]];
        add_heading (out, column->type, column->title);
    }
    buffer_add_text (out, "</tr></thead>\n<tbody>\n");
    add_rows (out, report, rows, frame);
    add_sums (out, report, rows, rows->rest, "");
    buffer_add_text (out, "</tbody>\n");
    add_totals (out, report, rows);
    buffer_add_text (out, "</table></div>\n");
    if (render_rounding (report, rows))
        buffer_printf (out, "<p class=\"about\">%s</p>\n",
                       render_rounding (report, rows));
    if (rows->more > 0)
        buffer_printf (out,
                       "<p class=\"about\">And %zu more; CSV and JSON list "
                       "all.</p>\n",
                       rows->more);
}

static void add_tables (buffer_t *out, const report_t *report,
                        const render_frame_t *frame)
{
    for (size_t i = 0; i < render_tables (report); i++) {
        if (render_table_is_empty (report, i))
            continue;
        render_rows_t rows = render_rows (report, i);
        bool section = report->section_count > 0;
        bool folded = section && report->section[i].folded;
        buffer_add_text (out, folded ? "<details>\n<summary>" : "<section>\n");
        buffer_printf (out, "<h2 id=\"t%zu\"%s>", i,
                       folded ? " style=\"display:inline\"" : "");
        add_text (out, section ? report->section[i].title : "Details");
        buffer_add_text (out, folded ? "</h2></summary>\n" : "</h2>\n");
        if (section && report->section[i].answer) {
            add_element (out, "p", report->section[i].answer);
            buffer_add_char (out, '\n');
        }
        if (section && *report->section[i].help) {
            add_element (out, "p class=\"about\"", report->section[i].help);
            buffer_add_char (out, '\n');
        }
        add_table (out, report, &rows, i, frame);
        if (report->row_count == 0)
            buffer_add_text (out, "<p class=\"about\">Nothing in this "
                                  "period.</p>\n");
        buffer_add_text (out, folded ? "</details>\n" : "</section>\n");
        render_rows_done (&rows);
    }
}

static void add_proofs (buffer_t *out, const report_t *report)
{
    if (report->proof_count == 0)
        return;
    buffer_add_text (out, "<section>\n<h2>How it adds up</h2>\n"
                          "<div class=\"proofs\">\n");
    for (size_t i = 0; i < report->proof_count; i++) {
        const report_proof_t *proof = &report->proof[i];
        buffer_add_text (out, "<div class=\"scroll\"><table class=\"proof\">"
                              "<caption>");
        add_text (out, proof->title);
        buffer_printf (out, "<span class=\"badge %s\">%s</span></caption>\n",
                       proof->holds ? "pass" : "fail",
                       proof->holds ? "adds up" : "does not add up");
        for (size_t k = 0; k < proof->line_count; k++) {
            buffer_add_text (out, "<tr><th scope=\"row\">");
            add_text (out, proof->line[k][0]);
            buffer_add_text (out, "</th><td class=\"n\">");
            add_value (out, proof->line[k][1]);
            buffer_add_text (out, "</td></tr>\n");
        }
        buffer_add_text (out, "</table></div>\n");
    }
    buffer_add_text (out, "</div>\n</section>\n");
}

static void add_words (buffer_t *out, const char *name, const char *value)
{
    add_element (out, "dt", name);
    add_element (out, "dd", value);
    buffer_add_char (out, '\n');
}

static void add_item (buffer_t *out, const report_list_t *list,
                      char *const item[2], const render_frame_t *frame)
{
    BUFFER_AUTO href = BUFFER_INIT;

    if (!frame || !frame->word
        || !frame->word (frame->arg, list->words, item[0], &href)) {
        add_words (out, item[0], item[1]);
        return;
    }
    buffer_add_text (out, "<dt><a href=\"");
    escape_html (out, buffer_text (&href));
    buffer_add_text (out, "\">");
    add_text (out, item[0]);
    buffer_add_text (out, "</a></dt>");
    add_element (out, "dd", item[1]);
    buffer_add_char (out, '\n');
}

/* The table of the list with the heading of id l`id`. */
static void add_list_table (buffer_t *out, const report_list_t *list, size_t id,
                            const render_frame_t *frame)
{
    BUFFER_AUTO href = BUFFER_INIT;

    buffer_printf (out,
                   "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                   "aria-labelledby=\"l%zu\"><table class=\"cards l%zu\" "
                   "aria-labelledby=\"l%zu\">\n<thead><tr>",
                   id, id, id);
    for (size_t i = 0; i < list->head_count; i++)
        add_heading (out, list->head[i].type, list->head[i].title);
    buffer_add_text (out, "</tr></thead>\n<tbody>\n");
    for (size_t row = 0; row < list->row_count; row++) {
        char *const *cell = &list->cell[row * list->head_count];
        href.length = 0;
        if (cell[0] && frame && frame->word
            && !frame->word (frame->arg, list->words, cell[0], &href))
            href.length = 0;
        buffer_add_text (out, "<tr>");
        for (size_t i = 0; i < list->head_count; i++)
            add_cell_of (out, list->head[i].type, cell[i], i == 0,
                         i == 0 && href.length ? buffer_text (&href) : "");
        buffer_add_text (out, "</tr>\n");
    }
    buffer_add_text (out, "</tbody>\n</table></div>\n");
}

static void add_lists (buffer_t *out, const report_t *report,
                       list_place_t place, const render_frame_t *frame)
{
    for (size_t i = 0; i < report->list_count; i++) {
        const report_list_t *list = &report->list[i];
        if (list->place != place)
            continue;
        buffer_printf (out, "<section>\n<h2 id=\"l%zu\">", i);
        add_text (out, list->title);
        buffer_add_text (out, "</h2>\n");
        if (list->help) {
            add_element (out, "p class=\"about\"", list->help);
            buffer_add_char (out, '\n');
        }
        if (list->head)
            add_list_table (out, list, i, frame);
        else {
            buffer_add_text (out, "<dl class=\"words\">\n");
            for (size_t k = 0; k < list->item_count; k++)
                add_item (out, list, list->item[k], frame);
            buffer_add_text (out, "</dl>\n");
        }
        buffer_add_text (out, "</section>\n");
    }
}

/* The columns of all tables of the page. */
static bool *columns_shown (const report_t *report)
{
    bool *shown = xcalloc (report->column_count + 1, sizeof (*shown));

    for (size_t i = 0; i < render_tables (report); i++) {
        render_rows_t rows = render_rows (report, i);
        for (size_t k = 0; k < rows.order_count; k++)
            shown[rows.order[k]] = true;
        render_rows_done (&rows);
    }
    return shown;
}

static void add_definitions (buffer_t *out, const report_t *report,
                             const render_frame_t *frame)
{
    GL_AUTOFREE bool *shown = columns_shown (report);

    buffer_add_text (out, "<section>\n<h2>What the columns mean</h2>\n"
                          "<dl class=\"words\">\n");
    for (size_t i = 0; i < report->order_count; i++) {
        const report_column_t *column = &report->column[report->order[i]];
        if (shown[report->order[i]] && *column->help)
            add_words (out, column->title, column->help);
    }
    for (size_t i = 0; i < report->list_count; i++)
        for (size_t k = 0; k < report->list[i].head_count; k++)
            if (*report->list[i].head[k].help)
                add_words (out, report->list[i].head[k].title,
                           report->list[i].head[k].help);
    if (frame && frame->definitions) {
        buffer_add_text (out, "</dl>\n<p class=\"about\"><a href=\"");
        escape_html (out, frame->definitions);
        buffer_add_text (out, "\">Definitions</a> explains all terms.</p>\n"
                              "</section>\n");
    } else
        buffer_add_text (out, "</dl>\n<p class=\"about\">docs/glossary.md "
                              "defines the terms.</p>\n</section>\n");
}

static void add_foot (buffer_t *out, const report_t *report)
{
    if (report->coverage_count > 0) {
        buffer_add_text (out, "<section>\n<h2>Coverage</h2>\n"
                              "<dl class=\"words\">\n");
        for (size_t i = 0; i < report->coverage_count; i++)
            add_words (out, report->coverage[i][0], report->coverage[i][1]);
        buffer_add_text (out, "</dl>\n</section>\n");
    }
    if (report->provenance_count > 0)
        buffer_add_text (out, "<footer>");
    for (size_t i = 0; i < report->provenance_count; i++) {
        buffer_add_text (out, i ? " \xc2\xb7 " : "");
        escape_html (out, report->provenance[i][0]);
        buffer_add_text (out, " ");
        add_text (out, report->provenance[i][1]);
    }
    if (report->provenance_count > 0)
        buffer_add_text (out, "</footer>\n");
    render_page_end (out);
}

void render_html (const report_t *report, const render_options_t *options,
                  buffer_t *out)
{
    const render_frame_t *frame = options->frame;

    add_head (out, report, frame);
    add_notes (out, report, NOTES_FIRST);
    add_lists (out, report, LIST_TOP, options->frame);
    add_figures (out, report);
    add_lists (out, report, LIST_NEXT, options->frame);
    add_lists (out, report, LIST_FIRST, options->frame);
    if (!report->notes_last)
        add_notes (out, report, NOTES_OTHERS);
    if (!report->charts_last)
        add_charts (out, report);
    add_tables (out, report, frame);
    add_lists (out, report, LIST_ANSWER, options->frame);
    if (report->charts_last)
        add_charts (out, report);
    if (report->notes_last)
        add_notes (out, report, NOTES_OTHERS);
    add_proofs (out, report);
    add_notes (out, report, NOTES_SOURCES);
    add_definitions (out, report, frame);
    add_lists (out, report, LIST_LAST, options->frame);
    add_notes (out, report, NOTES_COMMANDS);
    add_foot (out, report);
}
