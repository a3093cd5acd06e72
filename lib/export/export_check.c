/* A layout against the fields: what it can have, and which rows are put together. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/text.h"
#include "export/export_private.h"

static int fail_at (place_t place, const char *key, gl_error_t *error)
{
    return place.line ? gl_error_prefix (error, "%s:%d: `%s`", place.file,
                                         place.line, key)
                      : gl_error_prefix (error, "%s: `%s`", place.file, key);
}

static const export_field_t *find_field (const export_t *e, const char *name,
                                         gl_error_t *error)
{
    unsigned rows = 1u << e->layout->rows;
    nearest_t nearest = {.word = name};
    const export_field_t *field
        = GL_FIND (export_field, F_COUNT, it, !strcmp (it->name, name));

    if (field && (field->rows & rows))
        return field;
    for (size_t i = 0; i < F_COUNT; i++)
        if (export_field[i].rows & rows)
            nearest_offer (&nearest, export_field[i].name);
    if (field)
        gl_error (error, "rows: %s have no field '%s'",
                  export_rows_word ((export_rows_t)e->layout->rows), name);
    else if (nearest.name)
        gl_error (error, "unknown field '%.60s'; did you mean '%s'?", name,
                  nearest.name);
    else
        gl_error (error,
                  "unknown field '%.60s'; 'gpuledger export --fields' "
                  "lists them",
                  name);
    return NULL;
}

/* What a record may have: the first one fields of the month, the trailer sums too,
 * rows everything that their group decides. */
static int check_level (const export_t *e, const export_record_t *record,
                        const export_field_t *field, gl_error_t *error)
{
    bool grouped = e->layout->group.count > 0;

    if (field->level == EXPORT_OF_MONTH)
        return 0;
    if (record == &e->first)
        return gl_error (error,
                         "'%s' is a field of rows: the first record has only "
                         "fields of the month",
                         field->name);
    if (record == &e->trailer)
        return field->level >= EXPORT_SUM && field != &export_field[F_SIDE]
                   ? 0
                   : gl_error (error,
                               "'%s' is a field of single rows: the trailer "
                               "has fields of the month and sums",
                               field->name);
    if (field->level == EXPORT_TOTAL)
        return gl_error (error, "'%s' is for the trailer", field->name);
    if (!grouped || field->level == EXPORT_SUM
        || e->grouped[field - export_field]
        || (field->level == EXPORT_OF_TEAM && e->grouped[F_TEAM]))
        return 0;
    return gl_error (error,
                     "'%s' differs between the rows that `group` puts "
                     "together: add it to `group`, or leave it out",
                     field->name);
}

static int add_part (export_t *e, const export_record_t *record,
                     export_cells_t *cells, const char *name, gl_error_t *error)
{
    const export_field_t *field = find_field (e, name, error);

    if (!field || check_level (e, record, field, error) < 0)
        return -1;
    e->used[field - export_field] = true;
    *GL_APPEND (cells->part, cells->count) = (export_part_t){NULL, field};
    return 0;
}

static void add_literal (export_cells_t *cells, buffer_t *text)
{
    if (text->length > 0)
        *GL_APPEND (cells->part, cells->count)
            = (export_part_t){buffer_take (text), NULL};
}

/* "GPU {pool} {{x}}" */
static int read_template (export_t *e, const export_record_t *record,
                          export_cells_t *cells, const char *text,
                          gl_error_t *error)
{
    BUFFER_AUTO literal = BUFFER_INIT;

    while (*text) {
        const char *end = *text == '{' ? strchr (text, '}') : NULL;
        if ((*text == '{' || *text == '}') && text[1] == *text) {
            buffer_add_char (&literal, *text);
            text += 2;
        } else if (end) {
            GL_AUTOFREE char *name
                = xstrndup (text + 1, (size_t)(end - text - 1));
            add_literal (cells, &literal);
            if (add_part (e, record, cells, name, error) < 0)
                return -1;
            text = end + 1;
        } else if (*text == '{' || *text == '}')
            return gl_error (error,
                             "a single '%c'; write {FIELD}, or %c%c for "
                             "the character",
                             *text, *text, *text);
        else
            buffer_add_char (&literal, *text++);
    }
    add_literal (cells, &literal);
    return 0;
}

static int check_one (const char *text, const char *key, gl_error_t *error)
{
    if (text && (strlen (text) != 1 || (unsigned char)*text >= 0x80))
        return gl_error (error, "`%s` must be one ASCII character, not '%.20s'",
                         key, text);
    return 0;
}

/* Something of a date in it, and no other letters. */
static int check_date (const char *text, gl_error_t *error)
{
    const char *rest = text;
    bool any = false;

    while (rest && *rest) {
        size_t n = export_date_token (rest);
        any = any || n > 0;
        if (n == 0 && strchr ("YMDymd", *rest))
            break;
        rest += n ? n : 1;
    }
    if (!rest || (any && !*rest))
        return 0;
    return gl_error (error,
                     "`date` consists of YYYY, YY, MM, DD, MON and other "
                     "characters, such as DD.MM.YYYY, not '%.40s'",
                     text);
}

static int check_format (const export_t *e, const export_format_t *format,
                         gl_error_t *error)
{
    int cents = format->cents ? format->cents : e->layout->format.cents;

    if (check_one (format->point, "decimal_point", error) < 0
        || check_one (format->thousands, "thousands", error) < 0
        || check_date (format->date, error) < 0)
        return -1;
    if (cents == EXPORT_YES
        && e->out.digits != e->month->paper->currency_digits)
        return gl_error (error,
                         "`cents` are whole numbers: give the layout no "
                         "`decimals`, or %d",
                         e->month->paper->currency_digits);
    return 0;
}

/* Amounts with fewer decimals than the file's would not add up. */
static int check_decimals (const export_t *e, const export_cells_t *cells,
                           gl_error_t *error)
{
    int decimals = cells->column->format.decimals - 1;

    for (size_t i = 0; i < cells->count; i++)
        if (decimals >= 0 && cells->part[i].field
            && cells->part[i].field->type == EXPORT_MONEY
            && decimals < e->out.digits)
            return gl_error (error,
                             "`decimals`: amounts of the file have %d; with "
                             "fewer they would not add up",
                             e->out.digits);
    return 0;
}

static int read_cells (export_t *e, const export_record_t *record,
                       export_cells_t *cells, gl_error_t *error)
{
    const export_column_t *c = cells->column;

    if (c->value && c->fields.count > 0)
        return gl_error (error, "give `value` or `fields`, not both");
    if (c->separator && c->fields.count == 0)
        return gl_error (error, "`separator` needs `fields`");
    if (c->value && read_template (e, record, cells, c->value, error) < 0)
        return -1;
    for (size_t i = 0; i < c->fields.count; i++)
        if (add_part (e, record, cells, c->fields.item[i], error) < 0)
            return -1;
    if (c->otherwise && c->map.count == 0)
        return gl_error (error, "`otherwise` needs `map`");
    if ((c->pad || c->cut || c->align) && c->width == 0)
        return gl_error (error, "`pad`, `align` and `cut` need `width`");
    if (c->width == 0 && text_same (e->layout->delimiter, "none"))
        return gl_error (error, "`width` is missing: `delimiter` is none");
    if (check_one (c->pad, "pad", error) < 0
        || check_format (e, &c->format, error) < 0)
        return -1;
    return check_decimals (e, cells, error);
}

static int read_record (export_t *e, export_record_t *record,
                        const export_column_t *columns, size_t count,
                        gl_error_t *error)
{
    record->cells = xcalloc (count + 1, sizeof (*record->cells));
    for (; record->count < count; record->count++) {
        export_cells_t *cells = &record->cells[record->count];
        cells->column = &columns[record->count];
        if (read_cells (e, record, cells, error) < 0) {
            record->count++;
            return gl_error_prefix (
                error, "%s:%d: column %zu%s%s", cells->column->place.file,
                cells->column->place.line, record->count,
                cells->column->heading ? " " : "",
                cells->column->heading ? cells->column->heading : "");
        }
    }
    return 0;
}

static int read_group (export_t *e, gl_error_t *error)
{
    for (size_t i = 0; i < e->layout->group.count; i++) {
        const export_field_t *field
            = find_field (e, e->layout->group.item[i], error);
        if (!field)
            return fail_at (e->layout->place, "group", error);
        if (field->level >= EXPORT_SUM) {
            gl_error (error,
                      "'%s' is a sum: rows are grouped by texts and "
                      "dates",
                      field->name);
            return fail_at (e->layout->place, "group", error);
        }
        e->grouped[field - export_field] = e->used[field - export_field] = true;
    }
    return 0;
}

static int check_kind (const export_t *e, const char *word, gl_error_t *error)
{
    nearest_t nearest = {.word = word};
    BUFFER_AUTO known = BUFFER_INIT;
    bool jobs = e->layout->rows == EXPORT_JOBS;
    size_t count = jobs ? LINE_ITEM_KIND_COUNT : BILL_KIND_COUNT;

    for (size_t i = 0; i < count; i++) {
        const char *name = jobs ? line_item_kind_word ((line_item_kind_t)i)
                                : bill_kind_word ((bill_kind_t)i);
        if (!strcmp (name, word))
            return 0;
        nearest_offer (&nearest, name);
        buffer_printf (&known, "%s%s", i ? ", " : "", name);
    }
    return nearest.name
               ? gl_error (error, "unknown kind '%.60s'; did you mean '%s'?",
                           word, nearest.name)
               : gl_error (error, "unknown kind '%.60s'; known are: %s", word,
                           buffer_text (&known));
}

static int read_filters (export_t *e, gl_error_t *error)
{
    for (size_t i = 0; i < e->layout->filter_count; i++) {
        const export_filter_t *f = &e->layout->filters[i];
        const export_field_t *field = find_field (e, f->field, error);
        const text_list_t *const lists[] = {&f->is, &f->not };
        if (!field)
            return fail_at (f->place, "only", error);
        if (field->level >= EXPORT_SUM) {
            gl_error (error, "'%s' is not a text or date", field->name);
            return fail_at (f->place, "only", error);
        }
        e->used[field - export_field] = true;
        for (size_t k = 0; k < 2 && field == &export_field[F_KIND]; k++)
            for (size_t n = 0; n < lists[k]->count; n++)
                if (check_kind (e, lists[k]->item[n], error) < 0)
                    return fail_at (f->place, "only", error);
    }
    return 0;
}

/* Keys of the cube: the group, and what follows from it; or each row. */
static char *cube_keys (const export_t *e)
{
    buffer_t by = BUFFER_INIT;

    for (size_t i = 0; i < e->layout->group.count; i++)
        buffer_printf (&by, "%s%s", i ? "," : "", e->layout->group.item[i]);
    for (size_t i = 0; i < F_COUNT; i++)
        if (e->used[i] && !e->grouped[i]
            && (e->layout->group.count == 0
                    ? export_is_of_rows (&export_field[i])
                    : e->grouped[F_TEAM]
                          && export_field[i].level == EXPORT_OF_TEAM))
            buffer_printf (&by, "%s%s", by.length ? "," : "",
                           export_field[i].name);
    if (e->layout->group.count == 0)
        buffer_printf (&by, "%s" EXPORT_ORDER, by.length ? "," : "");
    return buffer_take (&by);
}

static int read_sort (export_t *e, buffer_t *order, gl_error_t *error)
{
    for (size_t i = 0; i < e->layout->sort.count; i++) {
        const char *name = e->layout->sort.item[i];
        const export_field_t *field
            = find_field (e, name + (*name == '-'), error);
        bool can = field && field != &export_field[F_SIDE]
                   && field != &export_field[F_DEBIT]
                   && field != &export_field[F_CREDIT]
                   && field != &export_field[F_RATE]
                   && field != &export_field[F_ROW]
                   && field != &export_field[F_ROWS];
        if (field && !can)
            gl_error (error,
                      "rows cannot be sorted by '%s': sort by amount or "
                      "by a text",
                      field->name);
        if (!can || check_level (e, &e->columns, field, error) < 0)
            return fail_at (e->layout->place, "sort", error);
        e->used[field - export_field] = true;
        buffer_printf (order, "%s%s", i ? "," : "", name);
    }
    if (e->layout->group.count == 0)
        buffer_printf (order, "%s" EXPORT_ORDER, order->length ? "," : "");
    return 0;
}

static int check_delimiter (const export_layout_t *layout, gl_error_t *error)
{
    const char *d = layout->delimiter;

    if (d && (!strcmp (d, "tab") || !strcmp (d, "none")))
        return 0;
    if (check_one (d, "delimiter", error) < 0)
        return -1;
    return d && strchr ("\"'", *d)
               ? gl_error (error, "`delimiter` cannot be a quote")
               : 0;
}

int export_read_layout (export_t *e, gl_error_t *error)
{
    const export_layout_t *l = e->layout;
    int least = e->month->paper->currency_digits;
    BUFFER_AUTO order = BUFFER_INIT;

    e->out.digits = l->format.decimals ? l->format.decimals - 1 : least;
    if (e->out.digits < least) {
        gl_error (error,
                  "amounts have at least the %d decimals of %s, or they "
                  "would not add up",
                  least, e->month->paper->currency);
        return fail_at (l->place, "decimals", error);
    }
    if (check_delimiter (l, error) < 0
        || check_format (e, &l->format, error) < 0)
        return gl_error_prefix (error, "%s", l->file);
    if (l->column_count == 0) {
        gl_error (error, "there are none");
        return fail_at (l->place, "columns", error);
    }
    if (read_group (e, error) < 0 || read_filters (e, error) < 0
        || read_record (e, &e->first, l->first, l->first_count, error) < 0
        || read_record (e, &e->columns, l->columns, l->column_count, error) < 0
        || read_record (e, &e->trailer, l->trailer, l->trailer_count, error) < 0
        || read_sort (e, &order, error) < 0)
        return -1;
    export_describe_rows (e);
    if (l->group.count > 0 || l->sort.count > 0) {
        GL_AUTOFREE char *by = cube_keys (e);
        e->cube = cube_new (&e->cube_fields, by);
        cube_sort (e->cube, buffer_text (&order));
    }
    return 0;
}
