#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/memory.h"

/* How a cell ends. */
enum { CELL, RECORD, END };

static int read_char (csv_t *csv)
{
    int c = getc_unlocked (csv->stream);

    csv->next += c == '\n';
    return c;
}

/* Behind the opening quote, up to the closing one. */
static int read_quoted (csv_t *csv, gl_error_t *error)
{
    for (int c; (c = read_char (csv)) != EOF;) {
        if (c == '"' && (c = read_char (csv)) != '"') {
            ungetc (c, csv->stream);
            csv->next -= c == '\n';
            return 0;
        }
        if (c == '\0' || csv->text.length >= CSV_MAX)
            break;
        buffer_add_char (&csv->text, (char)c);
    }
    return gl_error (error, "the quote that begins here does not end");
}

static int too_long (gl_error_t *error)
{
    return gl_error (error, "the record is longer than %zu bytes", CSV_MAX);
}

/* A NUL behind each cell. */
static int read_cell (csv_t *csv, int *ret_end, gl_error_t *error)
{
    int c = read_char (csv);

    if (c == '"') {
        if (read_quoted (csv, error) < 0)
            return -1;
        c = read_char (csv);
        if (c != ',' && c != '\r' && c != '\n' && c != EOF)
            return gl_error (error, "text follows a closing quote");
    }
    for (; c != ',' && c != '\n' && c != EOF; c = read_char (csv)) {
        if (c == '\0')
            return gl_error (error, "a byte is 0: this is not text");
        if (csv->text.length >= CSV_MAX)
            return too_long (error);
        if (c != '\r')
            buffer_add_char (&csv->text, (char)c);
    }
    if (csv->text.length >= CSV_MAX) /* empty cells count, too */
        return too_long (error);
    buffer_add_char (&csv->text, '\0');
    *ret_end = c == ',' ? CELL : c == '\n' ? RECORD : END;
    return 0;
}

static void split (csv_t *csv, size_t count)
{
    char *at = csv->text.data;

    csv->cell = xreallocarray (csv->cell, count, sizeof (*csv->cell));
    for (size_t i = 0; i < count; i++) {
        csv->cell[i] = at;
        at += strlen (at) + 1;
    }
    csv->count = count;
}

static void skip_mark (csv_t *csv)
{
    char *first = csv->cell[0];

    if (csv->line == 1 && !strncmp (first, "\xef\xbb\xbf", 3))
        csv->cell[0] = first + 3;
}

int csv_next (csv_t *csv, gl_error_t *error)
{
    int end = CELL;
    size_t count;

    do {
        buffer_clear (&csv->text);
        csv->line = csv->next;
        for (count = 0; count == 0 || end == CELL; count++)
            if (read_cell (csv, &end, error) < 0)
                return -1;
        if (ferror (csv->stream))
            return gl_error (error, "the file cannot be read");
    } while (end != END && csv->text.length == 1);
    if (csv->text.length == 1)
        return 0;
    split (csv, count);
    skip_mark (csv);
    return 1;
}

void csv_done (csv_t *csv)
{
    buffer_done (&csv->text);
    free (csv->cell);
}
