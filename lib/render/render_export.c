#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"
#include "render/escape.h"
#include "render/render_export.h"

#define HOURS_DIGITS 6
#define RATE_DIGITS 4

/* A value that is being made. */
struct value {
    const export_layout_t *layout;
    const export_column_t *column;
    buffer_t *text;
    bool of_user; /* its first character comes from a text of a row */
    bool number;  /* it is one */
};

/* What of the two says something, the column first. */
#define CHOICE(v, member)                                    \
    ((v)->column->format.member ? (v)->column->format.member \
                                : (v)->layout->format.member)

static bool is_fixed (const export_layout_t *layout)
{
    return text_same (layout->delimiter, "none");
}

static char delimiter_of (const export_layout_t *layout)
{
    return !layout->delimiter                     ? ','
           : text_same (layout->delimiter, "tab") ? '\t'
                                                  : *layout->delimiter;
}

/* --- numbers and dates ----------------------------------------------------------- */

static int digits_of (const struct value *v, const export_t *export,
                      const export_field_t *field)
{
    if (field->type == EXPORT_COUNT)
        return 0;
    if (v->column->format.decimals)
        return v->column->format.decimals - 1;
    return field->type == EXPORT_MONEY  ? export_digits (export)
           : field->type == EXPORT_RATE ? RATE_DIGITS
                                        : HOURS_DIGITS;
}

static void add_grouped (buffer_t *out, const char *digits, size_t count,
                         const char *thousands)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && thousands && (count - i) % 3 == 0)
            buffer_add_text (out, thousands);
        buffer_add_char (out, digits[i]);
    }
}

static void add_number (struct value *v, mpq_t number, int digits)
{
    const char *point = CHOICE (v, point);
    int sign = CHOICE (v, sign);
    GL_AUTOFREE char *text = exact_text (number, digits);
    const char *rest = text + (*text == '-');
    size_t whole = strcspn (rest, ".");
    bool minus = *text == '-' && sign != EXPORT_SIGN_NONE;

    if (minus && sign != EXPORT_SIGN_TRAILING)
        buffer_add_char (v->text, '-');
    add_grouped (v->text, rest, whole, CHOICE (v, thousands));
    if (rest[whole]) {
        buffer_add_text (v->text, point ? point : ".");
        buffer_add_text (v->text, rest + whole + 1);
    }
    if (minus && sign == EXPORT_SIGN_TRAILING)
        buffer_add_char (v->text, '-');
}

static void add_date (struct value *v, const char *date)
{
    static const char months[] = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
    const char *format = CHOICE (v, date);
    const char *month = date + strlen ("YYYY-"), *day = month + strlen ("MM-");
    int number;

    if (!format || calendar_two_digits (month, &number) < 0 || number < 1
        || number > 12) {
        buffer_add_text (v->text, date);
        return;
    }
    if (strlen (date) < strlen ("YYYY-MM-DD"))
        day = "01";
    for (size_t n; *format; format += n) {
        n = export_date_token (format);
        if (n == 0)
            buffer_add_char (v->text, format[n++]);
        else if (*format == 'Y')
            buffer_add (v->text, date + 4 - n, n);
        else if (n == 3)
            buffer_add (v->text, months + 3 * (number - 1), n);
        else
            buffer_add (v->text, *format == 'M' ? month : day, n);
    }
}

/* --- values ------------------------------------------------------------------------ */

/* In a line of the file: control characters are blanks. */
static void add_text (struct value *v, const char *text)
{
    int32_t code;

    v->of_user = v->of_user || v->text->length == 0;
    for (size_t n; *text; text += n) {
        n = utf8_decode (text, &code);
        if (code < 0)
            buffer_add_text (v->text, UTF8_REPLACEMENT);
        else if (code < 0x20 || (code >= 0x7f && code < 0xa0))
            buffer_add_char (v->text, ' ');
        else
            buffer_add (v->text, text, n);
    }
}

/* False: the row does not have it. */
static bool add_number_field (struct value *v, const export_t *export,
                              const export_row_t *row,
                              const export_field_t *field)
{
    int digits = digits_of (v, export, field), power = 0;
    mpq_t number, scale;
    bool is;

    mpq_inits (number, scale, NULL);
    is = export_number (row, field, number);
    if (is && field->type == EXPORT_MONEY) {
        if (CHOICE (v, reversed) == EXPORT_YES)
            mpq_neg (number, number);
        if (CHOICE (v, cents) == EXPORT_YES)
            power = export_digits (export);
    }
    if (power > 0) {
        mpz_ui_pow_ui (mpq_numref (scale), 10, (unsigned)power);
        mpq_mul (number, number, scale);
        digits = 0;
    }
    if (is)
        add_number (v, number, digits);
    mpq_clears (number, scale, NULL);
    return is;
}

static bool add_field (struct value *v, const export_t *export,
                       const export_row_t *row, const export_field_t *field)
{
    const char *text;

    if (field->type >= EXPORT_MONEY)
        return add_number_field (v, export, row, field);
    text = export_text (row, field);
    if (text && field->type == EXPORT_DATE)
        add_date (v, text);
    else if (text)
        add_text (v, text);
    return text != NULL;
}

/* "absent" takes the place of a field of a template that a row does not have; of a list
 * of fields, of all of them. */
static void add_parts (struct value *v, const export_t *export,
                       const export_row_t *row, const export_cells_t *cells)
{
    bool list = cells->column->fields.count > 0;
    const char *absent = CHOICE (v, absent);
    bool any = false;

    for (size_t i = 0; i < cells->count; i++) {
        const export_part_t *part = &cells->part[i];
        size_t before = v->text->length;
        bool is = true;
        if (list && any && cells->column->separator)
            buffer_add_text (v->text, cells->column->separator);
        if (part->text)
            buffer_add_text (v->text, part->text);
        else
            is = add_field (v, export, row, part->field);
        if (!is && list && v->text->length > before) {
            v->text->length = before;
            v->text->data[before] = '\0';
        }
        if (!is && !list && absent)
            buffer_add_text (v->text, absent);
        any = any || is;
    }
    if (list && !any && absent)
        buffer_add_text (v->text, absent);
    v->number = cells->count == 1 && cells->part[0].field
                && cells->part[0].field->type > EXPORT_DATE;
}

static int map_value (struct value *v, gl_error_t *error)
{
    const text_list_t *map = &v->column->map;
    const char *to = v->column->otherwise;

    for (size_t i = 0; i + 1 < map->count; i += 2)
        if (!strcmp (map->item[i], buffer_text (v->text)))
            to = map->item[i + 1];
    if (!to)
        return gl_error (
            error, "`map` has nothing for '%.80s': add it, or `otherwise`",
            buffer_text (v->text));
    buffer_clear (v->text);
    buffer_add_text (v->text, to);
    v->of_user = v->number = false;
    return 0;
}

/* --- cells ------------------------------------------------------------------------- */

static size_t bytes_of (const char *text, int64_t characters)
{
    const char *end = text;
    int32_t code;

    while (*end && characters-- > 0)
        end += utf8_decode (end, &code);
    return (size_t)(end - text);
}

static void add_padding (buffer_t *out, const export_column_t *column,
                         size_t count)
{
    while (count-- > 0)
        buffer_add_char (out, column->pad ? *column->pad : ' ');
}

/* A sign stays before the zeros that a number is padded with. */
static int pad_value (const struct value *v, buffer_t *out, gl_error_t *error)
{
    const export_column_t *c = v->column;
    const char *text = buffer_text (v->text);
    size_t length = escape_length (text), width = (size_t)c->width;
    bool right = c->align ? c->align == EXPORT_ALIGN_RIGHT : v->number;
    size_t room = length < width ? width - length : 0;

    if (width > 0 && length > width) {
        if (!c->cut || v->number)
            return gl_error (error,
                             "'%.80s' has %zu characters, and the column %zu: "
                             "widen it%s",
                             text, length, width,
                             v->number ? "" : ", or say `cut: yes`");
        buffer_add (out, text, bytes_of (text, c->width));
        return 0;
    }
    if (right && room > 0 && *text == '-' && c->pad && *c->pad == '0')
        buffer_add_char (out, *text++);
    if (right)
        add_padding (out, c, room);
    buffer_add_text (out, text);
    if (!right)
        add_padding (out, c, room);
    return 0;
}

static void add_quoted (const export_layout_t *layout, const char *text,
                        bool number, buffer_t *out)
{
    char delimiter = delimiter_of (layout);
    bool needed = strchr (text, delimiter) || strchr (text, '"');
    bool quoted
        = layout->quote == EXPORT_QUOTE_ALL
          || (layout->quote == EXPORT_QUOTE_TEXTS && (!number || needed))
          || (layout->quote == EXPORT_QUOTE_NEEDED && needed);

    if (quoted)
        buffer_add_char (out, '"');
    for (; *text; text++) {
        if (quoted && *text == '"')
            buffer_add_char (out, '"');
        buffer_add_char (out, !quoted && *text == delimiter ? ' ' : *text);
    }
    if (quoted)
        buffer_add_char (out, '"');
}

/* Into the line, behind what is there. */
static int add_cell (const struct value *v, bool first, buffer_t *line,
                     gl_error_t *error)
{
    const export_layout_t *layout = v->layout;
    BUFFER_AUTO text = BUFFER_INIT;

    if (!is_fixed (layout) && !first)
        buffer_add_char (line, delimiter_of (layout));
    if (!is_fixed (layout) && layout->guard && v->of_user && !v->number
        && strchr ("=+-@", *buffer_text (v->text)) && v->text->length > 0)
        buffer_add_char (&text, '\'');
    if (pad_value (v, &text, error) < 0)
        return -1;
    if (is_fixed (layout))
        buffer_add_text (line, buffer_text (&text));
    else
        add_quoted (layout, buffer_text (&text), v->number, line);
    return 0;
}

static void end_line (const export_layout_t *layout, const buffer_t *line,
                      buffer_t *out)
{
    const char *text = buffer_text (line);
    int32_t code;

    if (layout->encoding != EXPORT_LATIN1)
        buffer_add (out, text, line->length);
    else
        for (size_t n; *text; text += n) {
            n = utf8_decode (text, &code);
            buffer_add_char (out, code >= 0 && code < 0x100 ? (char)code : '?');
        }
    buffer_add_text (out, layout->crlf ? "\r\n" : "\n");
}

static int fail_at (const export_column_t *column, size_t number,
                    gl_error_t *error)
{
    return gl_error_prefix (error, "%s:%d: column %zu%s%s", column->place.file,
                            column->place.line, number,
                            column->heading ? " " : "",
                            column->heading ? column->heading : "");
}

static int add_record (const export_t *export, const export_record_t *record,
                       const export_row_t *row, buffer_t *out,
                       gl_error_t *error)
{
    BUFFER_AUTO line = BUFFER_INIT;
    BUFFER_AUTO text = BUFFER_INIT;

    for (size_t i = 0; i < record->count; i++) {
        const export_cells_t *cells = &record->cells[i];
        struct value v
            = {export_layout (export), cells->column, &text, false, false};
        buffer_clear (&text);
        add_parts (&v, export, row, cells);
        if ((cells->column->map.count > 0 && map_value (&v, error) < 0)
            || add_cell (&v, i == 0, &line, error) < 0)
            return fail_at (cells->column, i + 1, error);
    }
    end_line (export_layout (export), &line, out);
    return 0;
}

/* --- the file ------------------------------------------------------------------------ */

static const char *heading_of (const export_cells_t *cells)
{
    if (cells->column->heading)
        return cells->column->heading;
    return cells->count == 1 && cells->part[0].field
               ? cells->part[0].field->name
               : "";
}

static int add_header (const export_t *export, buffer_t *out, gl_error_t *error)
{
    const export_record_t *columns = export_columns (export);
    BUFFER_AUTO line = BUFFER_INIT;
    BUFFER_AUTO text = BUFFER_INIT;

    for (size_t i = 0; i < columns->count; i++) {
        const export_column_t column
            = {.width = is_fixed (export_layout (export))
                            ? columns->cells[i].column->width
                            : 0,
               .cut = 1};
        const struct value v
            = {export_layout (export), &column, &text, false, false};
        buffer_clear (&text);
        buffer_add_text (&text, heading_of (&columns->cells[i]));
        if (add_cell (&v, i == 0, &line, error) < 0)
            return -1;
    }
    end_line (export_layout (export), &line, out);
    return 0;
}

int render_export_begin (const export_t *export, buffer_t *out,
                         gl_error_t *error)
{
    const export_layout_t *layout = export_layout (export);

    if (layout->encoding == EXPORT_UTF8_BOM)
        buffer_add_text (out, "\xef\xbb\xbf");
    if (layout->header && add_header (export, out, error) < 0)
        return -1;
    return layout->first_count > 0
               ? add_record (export, export_first (export),
                             export_whole ((export_t *)export), out, error)
               : 0;
}

int render_export_row (const export_t *export, const export_row_t *row,
                       buffer_t *out, gl_error_t *error)
{
    return add_record (export, export_columns (export), row, out, error);
}

int render_export_end (export_t *export, buffer_t *out, gl_error_t *error)
{
    return export_layout (export)->trailer_count > 0
               ? add_record (export, export_trailer (export),
                             export_whole (export), out, error)
               : 0;
}
