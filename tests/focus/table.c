#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/focus/table.h"

static void give_up (const char *path, const char *why)
{
    fprintf (stderr, "%s: %s\n", path, why);
    exit (2);
}

static char *read_file (const char *path)
{
    FILE *file = fopen (path, "r");
    char *text = NULL;
    size_t length = 0, size = 0, n;

    if (!file)
        give_up (path, "cannot be read");
    do {
        size = size * 2 + 65536;
        text = realloc (text, size + 1);
        n = fread (text + length, 1, size - length, file);
        length += n;
    } while (n > 0);
    fclose (file);
    text[length] = '\0';
    if (strlen (text) != length)
        give_up (path, "has a zero byte");
    return text;
}

/* A field in place; *at moves behind its end, which is in *ret_end. */
static char *next_field (const char *path, char **at, char *ret_end)
{
    char *from = *at, *to = from, *start = from;

    if (*from != '"') {
        from += strcspn (from, ",\n");
        if (memchr (start, '"', (size_t)(from - start))
            || memchr (start, '\r', (size_t)(from - start)))
            give_up (path, "a quote or CR in a field without quotes");
        *ret_end = *from;
        *from = '\0';
        *at = from + 1;
        return start;
    }
    for (from++; *from; from++) {
        if (*from == '"' && from[1] != '"')
            break;
        from += *from == '"';
        *to++ = *from;
    }
    if (*from != '"' || (from[1] != ',' && from[1] != '\n'))
        give_up (path, "a quoted field does not end");
    *ret_end = from[1];
    *to = '\0';
    *at = from + 2;
    return start;
}

static char **next_row (const char *path, char **at, size_t *ret_count)
{
    char **row = NULL, end = ',';
    size_t count = 0;

    while (end == ',') {
        row = realloc (row, (count + 1) * sizeof (*row));
        row[count++] = next_field (path, at, &end);
    }
    if (end != '\n')
        give_up (path, "the last line does not end");
    *ret_count = count;
    return row;
}

table_t *table_read (const char *path)
{
    table_t *t = calloc (1, sizeof (*t));
    char *at = read_file (path);
    size_t count;

    t->column = next_row (path, &at, &t->columns);
    while (*at) {
        t->row = realloc (t->row, (t->rows + 1) * sizeof (*t->row));
        t->row[t->rows++] = next_row (path, &at, &count);
        if (count != t->columns)
            give_up (path, "rows of different lengths");
    }
    return t;
}

int table_column (const table_t *t, const char *name)
{
    for (size_t i = 0; i < t->columns; i++)
        if (!strcmp (t->column[i], name))
            return (int)i;
    return -1;
}

bool table_is_1_4 (const table_t *t)
{
    return table_column (t, "InvoiceDetailId") >= 0;
}

const char *table_cell (const table_t *t, size_t row, const char *column)
{
    int at = table_column (t, column);

    return at < 0 ? "" : t->row[row][at];
}

void table_set (table_t *t, size_t row, const char *column, const char *value)
{
    int at = table_column (t, column);

    if (at < 0)
        give_up (column, "no such column");
    t->row[row][at] = strdup (value);
}

bool decimal_parse (const char *text, mpq_t value)
{
    const char *digits = text + (*text == '-');
    size_t whole = strspn (digits, "0123456789"), fraction;
    char plain[200];

    if (whole == 0 || digits[whole] != '.')
        return false;
    fraction = strspn (digits + whole + 1, "0123456789");
    if (fraction == 0 || digits[whole + 1 + fraction]
        || strlen (text) >= sizeof (plain))
        return false;
    snprintf (plain, sizeof (plain), "%.*s%s", (int)(digits + whole - text),
              text, digits + whole + 1);
    mpq_set_ui (value, 1, 1);
    mpz_ui_pow_ui (mpq_denref (value), 10, fraction);
    mpz_set_str (mpq_numref (value), plain, 10);
    mpq_canonicalize (value);
    return true;
}

void decimal_add (mpq_t sum, const char *text)
{
    mpq_t value;

    mpq_init (value);
    if (*text && decimal_parse (text, value))
        mpq_add (sum, sum, value);
    mpq_clear (value);
}
