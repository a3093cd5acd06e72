/* A table that is too wide for a terminal: long texts are broken, columns left
 * out. */
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "render/escape.h"
#include "render/render_private.h"

/* Blanks between columns. */
#define GAP ((size_t)2)
/* A text is broken no narrower than the one; a single word that is longer than the
 * other, such as a hash, is of no use in pieces. A sentence with a long path is. */
#define TEXT_MIN ((size_t)16)
#define WORD_MAX ((size_t)40)

/* --- texts ---------------------------------------------------------------- */

static size_t character_width (int32_t code)
{
    int width = code < 0x80 ? 1 : wcwidth ((wchar_t)code);

    return width < 0 ? 1 : (size_t)width;
}

size_t render_text_width (const char *text)
{
    size_t width = 0;

    while (*text) {
        int32_t code;
        text += utf8_decode (text, &code);
        width += character_width (code);
    }
    return width;
}

size_t render_text_break (const char *text, size_t limit, const char **ret_next)
{
    size_t width = 0, blank = 0, at = 0;

    *ret_next = NULL;
    if (limit == 0)
        return strlen (text);
    while (text[at]) {
        int32_t code;
        size_t length = utf8_decode (text + at, &code);
        width += character_width (code);
        if (width > limit && at > 0)
            break;
        if (text[at] == ' ')
            blank = at;
        at += length;
    }
    if (!text[at])
        return at;
    if (text[at] == ' ')
        blank = at;
    *ret_next = text + (blank ? blank + 1 : at);
    return blank ? blank : at;
}

/* --- widths --------------------------------------------------------------- */

struct column {
    size_t width; /* with its title in one line */
    size_t cells; /* and in as many as it has words */
    int keep;    /* column_keep_t, or less */
    bool breaks; /* a text that may take several lines */
    bool left;   /* out */
};

enum { KEEP_DETAIL = -1, KEEP_NOTHING = -2 };

static size_t cell_width (const char *text, column_type_t type)
{
    BUFFER_AUTO readable = BUFFER_INIT;
    BUFFER_AUTO visible = BUFFER_INIT;

    if (!text)
        return 0;
    render_readable_value (&readable, text, type, " ");
    escape_visible (&visible, buffer_text (&readable));
    return render_text_width (buffer_text (&visible));
}

static size_t widest (size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t longest_word (const char *text)
{
    size_t longest = 0;

    for (const char *end; text && *text; text = *end ? end + 1 : end) {
        GL_AUTOFREE char *word = NULL;
        end = strchrnul (text, ' ');
        word = xstrndup (text, (size_t)(end - text));
        longest = widest (longest, cell_width (word, COLUMN_TEXT));
    }
    return longest;
}

static struct column measure (const report_t *report, const render_rows_t *rows,
                              size_t at)
{
    const report_column_t *c = &report->column[at];
    struct column column = {.keep = c->detail ? KEEP_DETAIL : (int)c->keep,
                            .breaks = c->type == COLUMN_TEXT};
    size_t width = 0;

    for (size_t row = rows->first; row < rows->first + rows->shown; row++) {
        const char *text = report_cell (report, row, at);
        width = widest (width, cell_width (text, c->type));
        column.breaks = column.breaks
                        && ((text && strchr (text, ' '))
                            || longest_word (text) <= WORD_MAX);
    }
    if (rows->rest)
        width = widest (width, cell_width (rows->rest[at], c->type));
    if (rows->total)
        width = widest (width, cell_width (rows->total[at], c->type));
    if (width == 0)
        column.keep = KEEP_NOTHING;
    column.width = widest (width, cell_width (c->title, COLUMN_TEXT));
    column.cells = widest (width, longest_word (c->title));
    return column;
}

/* The least that a column needs. */
static size_t least_width (const struct column *column)
{
    return column->breaks && column->cells > TEXT_MIN ? TEXT_MIN
                                                      : column->cells;
}

static size_t sum_widths (const struct column *columns, size_t count)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++)
        if (!columns[i].left)
            sum += (sum ? GAP : 0) + least_width (&columns[i]);
    return sum;
}

/* --- what is left out ----------------------------------------------------- */

/* The next one to go; `count`: there is but one. */
static size_t weakest (const struct column *columns, size_t count)
{
    size_t found = count, there = 0;

    for (size_t i = 0; i < count; i++) {
        if (columns[i].left)
            continue;
        there++;
        if (found == count || columns[i].keep <= columns[found].keep)
            found = i;
    }
    return there > 1 ? found : count;
}

static void leave_out (struct column *columns, size_t count, size_t width)
{
    size_t next;

    while (sum_widths (columns, count) > width
           && (next = weakest (columns, count)) < count)
        columns[next].left = true;
}

/* What is left of the width goes to the narrowest of the texts that are broken.
 */
static void share_width (const struct column *columns, size_t count,
                         size_t width, size_t *limit)
{
    size_t sum = sum_widths (columns, count);

    for (size_t i = 0; i < count; i++)
        limit[i] = least_width (&columns[i]);
    for (size_t next = 0; sum < width && next < count; sum++) {
        next = count;
        for (size_t i = 0; i < count; i++)
            if (!columns[i].left && limit[i] < columns[i].width
                && (next == count || limit[i] < limit[next]))
                next = i;
        if (next < count)
            limit[next]++;
    }
}

/* A line of totals says something in a column that stays. */
static bool has_any (const render_rows_t *rows, char *const *text)
{
    for (size_t i = 0; text && i < rows->order_count; i++)
        if (text[rows->order[i]])
            return true;
    return false;
}

/* Columns that stay move to the front, with their limits. */
static void take_columns (render_rows_t *rows, const struct column *columns)
{
    size_t kept = 0;

    rows->left = xcalloc (rows->order_count + 1, sizeof (*rows->left));
    for (size_t i = 0; i < rows->order_count; i++) {
        if (columns[i].left) {
            rows->left[rows->left_count++] = rows->order[i];
            continue;
        }
        rows->limit[kept]
            = rows->limit[i] < columns[i].width ? rows->limit[i] : 0;
        rows->order[kept++] = rows->order[i];
    }
    rows->order_count = kept;
    if (!has_any (rows, rows->total))
        rows->total = NULL;
}

void render_fit (const report_t *report, render_rows_t *rows, size_t width)
{
    size_t count = rows->order_count, natural = 0;
    struct column *columns = xcalloc (count + 1, sizeof (*columns));

    for (size_t i = 0; i < count; i++) {
        columns[i] = measure (report, rows, rows->order[i]);
        natural += (i ? GAP : 0) + columns[i].width;
    }
    if (natural > width) {
        rows->limit = xcalloc (count + 1, sizeof (*rows->limit));
        leave_out (columns, count, width);
        share_width (columns, count, width, rows->limit);
        take_columns (rows, columns);
    }
    free (columns);
}
