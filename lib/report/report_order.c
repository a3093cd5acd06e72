/* The order of the rows, and how many of them a reader asks for. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "report/report.h"

typedef int compare_t (const void *a, const void *b, void *arg);

/* Rows [first, end), back into the room that there is: report_row() counts on
 * it. */
static void order_rows (report_t *report, size_t first, size_t end,
                        compare_t *compare, void *arg)
{
    size_t rows = end - first, columns = report->column_count;
    char **from = report->cell + first * columns;
    char ***row = xcalloc (rows + 1, sizeof (*row));
    char **cell = xcalloc (rows * columns + 1, sizeof (*cell));

    for (size_t i = 0; i < rows; i++)
        row[i] = from + i * columns;
    qsort_r (row, rows, sizeof (*row), compare, arg);
    for (size_t i = 0; i < rows; i++)
        memcpy (cell + i * columns, row[i], columns * sizeof (*cell));
    if (rows)
        memcpy (from, cell, rows * columns * sizeof (*cell));
    free (cell);
    free (row);
}

/* --- by keys -------------------------------------------------------------- */

static int compare_keys (const void *a, const void *b, void *arg)
{
    const report_t *report = arg;
    char *const *x = *(char *const *const *)a;
    char *const *y = *(char *const *const *)b;

    for (size_t i = 0; i < report->column_count; i++) {
        int order;
        if (!report->column[i].is_key)
            continue;
        order = strcmp (x[i] ? x[i] : "", y[i] ? y[i] : "");
        if (order)
            return order;
    }
    return 0;
}

void report_sort (report_t *report)
{
    order_rows (report, 0, report->row_count, compare_keys, report);
}

/* --- numbers as texts ----------------------------------------------------- */

/* Cells are final texts: "-1234.50". Compared as they are, no digit is lost. */
struct decimal {
    bool negative;
    const char *digits; /* without zeros in front */
    size_t whole;       /* how many before the point */
    const char *part;   /* behind the point */
    size_t part_length; /* without zeros at the end */
};

/* False: the text is no number. */
static bool read_decimal (const char *text, struct decimal *d)
{
    static const char digits[] = "0123456789";
    size_t length;

    d->negative = *text == '-';
    text += d->negative;
    length = strspn (text, digits);
    d->part = text + length + (text[length] == '.');
    d->part_length = strspn (d->part, digits);
    if (length + d->part_length == 0 || d->part[d->part_length])
        return false;
    d->digits = text + strspn (text, "0");
    d->whole
        = d->digits < text + length ? (size_t)(text + length - d->digits) : 0;
    while (d->part_length > 0 && d->part[d->part_length - 1] == '0')
        d->part_length--;
    if (d->whole == 0 && d->part_length == 0)
        d->negative = false;
    return true;
}

static int compare_sizes (const struct decimal *a, const struct decimal *b)
{
    size_t shorter
        = a->part_length < b->part_length ? a->part_length : b->part_length;
    int order;

    if (a->whole != b->whole)
        return a->whole < b->whole ? -1 : 1;
    order = memcmp (a->digits, b->digits, a->whole);
    if (order == 0)
        order = memcmp (a->part, b->part, shorter);
    if (order == 0)
        order = (a->part_length > shorter) - (b->part_length > shorter);
    return order;
}

/* Words in a column of numbers, such as "unknown", follow the numbers. */
static int compare_numbers (const char *x, const char *y)
{
    struct decimal a, b;
    bool a_number = read_decimal (x, &a), b_number = read_decimal (y, &b);

    if (!a_number || !b_number)
        return a_number == b_number ? strcmp (x, y) : b_number - a_number;
    if (a.negative != b.negative)
        return a.negative ? -1 : 1;
    return a.negative ? compare_sizes (&b, &a) : compare_sizes (&a, &b);
}

/* --- by fields ------------------------------------------------------------ */

struct order_field {
    size_t column;
    bool descending;
    bool number;
};

struct order {
    struct order_field *field;
    size_t count;
};

static int compare_cells (const struct order_field *field, const char *x,
                          const char *y)
{
    int order;

    if (!x || !y)
        return !x - !y;
    order = field->number ? compare_numbers (x, y) : strcmp (x, y);
    return field->descending ? -order : order;
}

static int compare_rows (const void *a, const void *b, void *arg)
{
    char *const *x = *(char *const *const *)a;
    char *const *y = *(char *const *const *)b;
    const struct order *order = arg;

    for (size_t i = 0; i < order->count; i++) {
        size_t column = order->field[i].column;
        int rc = compare_cells (&order->field[i], x[column], y[column]);
        if (rc)
            return rc;
    }
    return x < y ? -1 : x > y; /* where they lay */
}

static int add_field (const report_t *report, struct order *order,
                      const char *text, size_t length, gl_error_t *error)
{
    bool sign = length > 0 && (*text == '-' || *text == '+');
    int column = report_field (report, text + sign, length - sign, error);

    if (column < 0)
        return -1;
    *GL_APPEND (order->field, order->count) = (struct order_field){
        .column = (size_t)column,
        .descending = length > 0 && *text == '-',
        .number = report_is_number (report->column[column].type),
    };
    return 0;
}

/* Sums of the rows beyond some number are of other rows from now on. */
static void drop_rests (report_t *report)
{
    for (size_t i = 0; i < report->subtotal_count; i++)
        free (report->subtotal[i].cell);
    report->subtotal_count = 0;
    for (size_t i = 0; i < report->section_count; i++) {
        free (report->section[i].rest);
        report->section[i].rest = NULL;
    }
}

int report_order_rows (report_t *report, const char *fields, gl_error_t *error)
{
    struct order order = {.count = 0};
    int rc = 0;

    for (const char *field = fields, *end; field && rc == 0;
         field = *end ? end + 1 : NULL) {
        end = field + strcspn (field, ",");
        rc = add_field (report, &order, field, (size_t)(end - field), error);
    }
    if (rc == 0)
        drop_rests (report);
    for (size_t i = 0; i < report->section_count && rc == 0; i++)
        order_rows (report, report->section[i].first,
                    report_section_end (report, i), compare_rows, &order);
    if (report->section_count == 0 && rc == 0)
        order_rows (report, 0, report->row_count, compare_rows, &order);
    free (order.field);
    return rc;
}

/* --- number --------------------------------------------------------------- */

/* Keeps rows [first, end) up to `limit`, behind the `kept` that there are. */
static size_t keep_rows (report_t *report, size_t first, size_t end,
                         size_t limit, size_t kept)
{
    size_t rows = end - first < limit ? end - first : limit;
    size_t width = report->column_count;

    if (rows && kept != first)
        memmove (report->cell + kept * width, report->cell + first * width,
                 rows * width * sizeof (*report->cell));
    return kept + rows;
}

void report_limit_rows (report_t *report, size_t limit)
{
    size_t all = report->row_count, kept = 0;

    drop_rests (report);
    if (report->section_count == 0)
        kept = keep_rows (report, 0, all, limit, 0);
    for (size_t i = 0; i < report->section_count; i++) {
        size_t first = report->section[i].first;
        size_t end = report_section_end (report, i);
        report->section[i].first = kept;
        kept = keep_rows (report, first, end, limit, kept);
    }
    report->rows_shown = 0;
    if (kept == all)
        return;
    report->row_count = kept;
    report_note (report, NOTE_INFORMATION,
                 "%zu of %zu rows (--limit %zu%s); totals are those of all "
                 "rows.",
                 kept, all, limit,
                 report->section_count > 1 ? " in each table" : "");
}
