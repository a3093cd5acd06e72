#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/exact.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/number.h"
#include "report/report.h"

/* Append a zeroed element and return where it is. */
#define APPEND(array, count)                                               \
    ({                                                                     \
        (array) = xreallocarray ((array), (count) + 1, sizeof (*(array))); \
        memset (&(array)[(count)], 0, sizeof (*(array)));                  \
        &(array)[(count)++];                                               \
    })

typedef char *pair_t[2];

static void add_pair (pair_t **pairs, size_t *count, const char *name,
                      const char *value)
{
    pair_t *pair = APPEND (*pairs, *count);

    (*pair)[0] = xstrdup (name);
    (*pair)[1] = xstrdup (value);
}

static void free_pairs (pair_t *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free (pairs[i][0]);
        free (pairs[i][1]);
    }
    free (pairs);
}

/* Texts of cells, one behind the other: there may be a million of them. */
struct report_texts {
    struct report_texts *next;
    size_t used;
    size_t size;
    char room[];
};

#define TEXTS_SIZE ((size_t)65536)

static void free_texts (struct report_texts *texts)
{
    for (struct report_texts *next; texts; texts = next) {
        next = texts->next;
        free (texts);
    }
}

static char *add_text (report_t *report, const char *text)
{
    struct report_texts *texts = report->texts;
    size_t length = strlen (text) + 1;
    char *copy;

    if (!texts || length > texts->size - texts->used) {
        size_t size = length > TEXTS_SIZE ? length : TEXTS_SIZE;
        texts = xmalloc (sizeof (*texts) + size);
        *texts = (struct report_texts){.next = report->texts, .size = size};
        report->texts = texts;
    }
    copy = memcpy (texts->room + texts->used, text, length);
    texts->used += length;
    return copy;
}

report_t *report_new (const char *name, const char *title)
{
    report_t *report = xcalloc (1, sizeof (*report));

    report->name = xstrdup (name);
    report->title = xstrdup (title);
    return report;
}

static void free_columns (report_t *report)
{
    for (size_t i = 0; i < report->column_count; i++) {
        free (report->column[i].name);
        free (report->column[i].title);
        free (report->column[i].help);
    }
    free (report->column);
    free (report->order);
}

/* Accepts NULL. */
static void free_decision (report_decision_t *decision)
{
    if (!decision)
        return;
    free (decision->action);
    free (decision->reason);
    free (decision->grounds);
    free (decision->least);
    free (decision->most);
    free (decision->needs);
    free (decision->off);
    free (decision->off_sure);
    free (decision);
}

static void free_notes_and_totals (report_t *report)
{
    GL_FREE_EACH (report->note, report->note_count, it, free (it->text));
    for (size_t i = 0; i < report->named_total_count; i++) {
        free (report->named_total[i].name);
        free (report->named_total[i].title);
        free (report->named_total[i].value);
    }
    free (report->named_total);
    for (size_t i = 0; i < report->figure_count; i++) {
        free (report->figure[i].title);
        free (report->figure[i].value);
        free (report->figure[i].hint);
        free (report->figure[i].sure);
        free_decision (report->figure[i].decision);
    }
    free (report->figure);
}

static void chart_clear (report_chart_t *chart)
{
    for (size_t i = 0; i < chart->item_count; i++) {
        free (chart->item[i].label);
        free (chart->item[i].value);
    }
    free (chart->item);
    GL_FREE_EACH (chart->series, chart->series_count, it, free (it->title));
    GL_FREE_EACH (chart->tick, chart->tick_count, it, free (it->text));
    free (chart->title);
    free (chart->description);
    free (chart->unit);
}

static void free_proofs_and_charts (report_t *report)
{
    for (size_t i = 0; i < report->proof_count; i++) {
        free (report->proof[i].title);
        free_pairs (report->proof[i].line, report->proof[i].line_count);
    }
    free (report->proof);
    GL_FREE_EACH (report->chart, report->chart_count, it, chart_clear (it));
}

static void free_sections_and_lists (report_t *report)
{
    for (size_t i = 0; i < report->section_count; i++) {
        free (report->section[i].title);
        free (report->section[i].answer);
        free (report->section[i].help);
        free (report->section[i].total);
        free (report->section[i].rest);
    }
    free (report->section);
    GL_FREE_EACH (report->subtotal, report->subtotal_count, it,
                  free (it->cell));
    for (size_t i = 0; i < report->list_count; i++) {
        free (report->list[i].title);
        free (report->list[i].help);
        free_pairs (report->list[i].item, report->list[i].item_count);
        for (size_t k = 0;
             k < report->list[i].row_count * report->list[i].head_count; k++)
            free (report->list[i].cell[k]);
        free (report->list[i].cell);
    }
    free (report->list);
}

void report_free (report_t *report)
{
    if (!report)
        return;
    free (report->cell);
    free (report->total);
    free_texts (report->texts);
    free_sections_and_lists (report);
    free_columns (report);
    free_notes_and_totals (report);
    free_proofs_and_charts (report);
    free_pairs (report->parameter, report->parameter_count);
    free_pairs (report->coverage, report->coverage_count);
    free_pairs (report->provenance, report->provenance_count);
    free (report->name);
    free (report->title);
    free (report);
}

void report_parameter (report_t *report, const char *name, const char *value)
{
    add_pair (&report->parameter, &report->parameter_count, name, value);
}

void report_provenance (report_t *report, const char *name, const char *value)
{
    add_pair (&report->provenance, &report->provenance_count, name, value);
}

void report_coverage (report_t *report, const char *measure,
                      const char *percent)
{
    add_pair (&report->coverage, &report->coverage_count, measure, percent);
}

void report_figure (report_t *report, const char *title, const char *value,
                    const char *hint, column_type_t type)
{
    report_figure_t *figure = APPEND (report->figure, report->figure_count);

    figure->title = xstrdup (title);
    figure->value = xstrdup (value);
    figure->hint = xstrdup (hint);
    figure->sure = NULL;
    figure->type = type;
    figure->changes = false;
    figure->decision = NULL;
}

/* An amount without its currency is none. */
static column_keep_t keep_of (const char *name, column_type_t type, bool is_key)
{
    static const column_keep_t of_type[] = {
        [COLUMN_TEXT] = KEEP_TEXT,    [COLUMN_DATE] = KEEP_TEXT,
        [COLUMN_WORDS] = KEEP_TEXT,   [COLUMN_COUNT] = KEEP_COUNT,
        [COLUMN_HOURS] = KEEP_HOURS,  [COLUMN_MONEY] = KEEP_MONEY,
        [COLUMN_RATE] = KEEP_RATE,    [COLUMN_PERCENT] = KEEP_PERCENT,
        [COLUMN_ENERGY] = KEEP_HOURS, [COLUMN_MASS] = KEEP_HOURS,
    };

    if (is_key)
        return KEEP_KEY;
    return strcmp (name, "currency") == 0 ? KEEP_MONEY : of_type[type];
}

size_t report_column (report_t *report, const char *name, const char *title,
                      column_type_t type, bool is_key)
{
    size_t index = report->column_count;
    report_column_t *column = APPEND (report->column, report->column_count);

    column->name = xstrdup (name);
    column->title = xstrdup (title);
    column->help = xstrdup ("");
    column->type = type;
    column->is_key = is_key;
    column->keep = keep_of (name, type, is_key);
    *APPEND (report->order, report->order_count) = index;
    return index;
}

void report_columns (report_t *report, const column_info_t *columns,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = report_column (report, columns[i].name, columns[i].title,
                                   columns[i].type, columns[i].is_key);
        report_column_help (report, at, columns[i].help);
        report->column[at].detail = columns[i].detail;
    }
}

void report_column_help (report_t *report, size_t column, const char *help)
{
    free (report->column[column].help);
    report->column[column].help = xstrdup (help);
}

static int column_by_name (const report_t *report, const char *name,
                           size_t length)
{
    for (size_t i = 0; i < report->column_count; i++) {
        const char *known = report->column[i].name;
        if (strlen (known) == length && !memcmp (known, name, length))
            return (int)i;
    }
    return -1;
}

static int no_such_column (const report_t *report, const char *name,
                           size_t length, gl_error_t *error)
{
    BUFFER_AUTO names = BUFFER_INIT;
    GL_AUTOFREE char *typed = xstrndup (name, length < 60 ? length : 60);
    nearest_t nearest = {.word = typed};
    const char *titled = NULL; /* the name of what people see as `typed` */

    for (size_t i = 0; i < report->column_count; i++) {
        if (strcasecmp (report->column[i].title, typed) == 0)
            titled = report->column[i].name;
        nearest_offer (&nearest, report->column[i].name);
        buffer_printf (&names, "%s%s", i ? " " : "", report->column[i].name);
    }
    if (titled || nearest.name)
        return gl_error (error,
                         "report %s has no field '%s'; did you mean '%s'?",
                         report->name, typed, titled ? titled : nearest.name);
    return gl_error (error, "report %s has no field '%s'; its fields are: %s",
                     report->name, typed, buffer_text (&names));
}

int report_field (const report_t *report, const char *name, size_t length,
                  gl_error_t *error)
{
    int column = column_by_name (report, name, length);

    return column < 0 ? no_such_column (report, name, length, error) : column;
}

int report_select (report_t *report, const char *names, gl_error_t *error)
{
    size_t *order = NULL, count = 0;

    for (const char *name = names, *end; name; name = *end ? end + 1 : NULL) {
        int column;
        end = name + strcspn (name, ",");
        column = report_field (report, name, end - name, error);
        if (column < 0) {
            free (order);
            return -1;
        }
        *APPEND (order, count) = column;
    }
    free (report->order);
    report->order = order;
    report->order_count = count;
    return 0;
}

static void put (report_t *report, size_t column, const char *text)
{
    report->line[column] = text ? add_text (report, text) : NULL;
}

void report_put_made (report_t *report, size_t column, char *text)
{
    if (text)
        put (report, column, text);
    free (text);
}

void report_row (report_t *report)
{
    size_t rows = report->row_count++;

    /* room for as many again, whenever there are a power of two */
    if ((rows & (rows - 1)) == 0)
        report->cell = xreallocarray (report->cell,
                                      2 * (rows + 1) * report->column_count,
                                      sizeof (*report->cell));
    memset (report->cell + rows * report->column_count, 0,
            report->column_count * sizeof (*report->cell));
    report->line = report->cell + rows * report->column_count;
}

void report_at_row (report_t *report, size_t row)
{
    report->line = report->cell + row * report->column_count;
}

void report_at_totals (report_t *report)
{
    report->line = report->total;
}

void report_totals (report_t *report)
{
    report->total = xcalloc (report->column_count, sizeof (*report->total));
    report->line = report->total;
}

void report_section (report_t *report, const char *title, const char *help)
{
    report_section_t *section = APPEND (report->section, report->section_count);

    section->title = xstrdup (title);
    section->help = xstrdup (help);
    section->first = report->row_count;
}

size_t report_take_columns (report_t *report, const report_t *from)
{
    size_t first = report->column_count;

    for (size_t i = 0; i < from->column_count; i++) {
        const report_column_t *column = &from->column[i];
        size_t at = report_column (report, column->name, column->title,
                                   column->type, column->is_key);
        report_column_help (report, at, column->help);
        report->column[at].detail = column->detail;
        report->column[at].keep = column->keep;
    }
    return first;
}

static void put_line (report_t *report, size_t first, char *const *cell,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cell[i])
            report_put_text (report, first + i, cell[i]);
}

void report_take_rows (report_t *report, const report_t *from, size_t first)
{
    size_t count = from->column_count;

    for (size_t row = 0; row < from->row_count; row++) {
        char *const *subtotal = report_subtotal (from, row);
        report_row (report);
        put_line (report, first, from->cell + row * count, count);
        if (subtotal) {
            report_subtotals (report);
            put_line (report, first, subtotal, count);
        }
    }
    if (!from->total)
        return;
    report_section_totals (report);
    put_line (report, first, from->total, count);
}

void report_section_help (report_t *report, const char *help)
{
    report_section_t *section = &report->section[report->section_count - 1];

    free (section->help);
    section->help = xstrdup (help);
}

void report_section_drop_empty (report_t *report)
{
    report_section_t *section = &report->section[report->section_count - 1];

    if (section->first != report->row_count)
        return;
    free (section->title);
    free (section->help);
    report->section_count--;
}

void report_section_answer (report_t *report, const char *answer)
{
    report->section[report->section_count - 1].answer = xstrdup (answer);
}

void report_section_totals (report_t *report)
{
    report_section_t *section = &report->section[report->section_count - 1];

    section->total = xcalloc (report->column_count, sizeof (*section->total));
    report->line = section->total;
}

void report_section_rest (report_t *report)
{
    report_section_t *section = &report->section[report->section_count - 1];

    section->rest = xcalloc (report->column_count, sizeof (*section->rest));
    report->line = section->rest;
}

void report_section_fold (report_t *report)
{
    report->section[report->section_count - 1].folded = true;
}

/* --- subtotals ------------------------------------------------------------ */

static void add_subtotal (report_t *report, size_t row)
{
    report_subtotal_t *subtotal
        = APPEND (report->subtotal, report->subtotal_count);

    subtotal->row = row;
    subtotal->cell = xcalloc (report->column_count, sizeof (*subtotal->cell));
    report->line = subtotal->cell;
}

void report_subtotals (report_t *report)
{
    add_subtotal (report, report->row_count - 1);
}

static bool adds_up (const report_t *report, size_t column)
{
    column_type_t type = report->column[column].type;

    return report->total && report->total[column]
           && (type == COLUMN_MONEY || type == COLUMN_HOURS
               || type == COLUMN_ENERGY || type == COLUMN_MASS);
}

/* Cells are final texts, with as many digits each. */
static void put_sum (report_t *report, size_t first, size_t column)
{
    const char *total = report->total[column], *point = strchr (total, '.');
    mpq_t sum, value;
    bool any = false;

    mpq_inits (sum, value, NULL);
    for (size_t row = first; row < report->row_count; row++) {
        const char *cell = report_cell (report, row, column);
        if (strcmp (report_cell (report, row, 0),
                    report_cell (report, first, 0))
            != 0)
            break;
        if (!cell || exact_parse (cell, value, NULL) < 0)
            continue;
        mpq_add (sum, sum, value);
        any = true;
    }
    if (any)
        report_put_exact (report, column, sum,
                          point ? (int)strlen (point + 1) : 0);
    mpq_clears (sum, value, NULL);
}

/* The rows [first, last]. */
static void add_group (report_t *report, size_t first, size_t last)
{
    add_subtotal (report, last);
    report_put_text (report, 0, report_cell (report, first, 0));
    if (report->column[1].type == COLUMN_TEXT)
        report_put_text (report, 1, "Total");
    for (size_t column = 1; column < report->column_count; column++)
        if (adds_up (report, column))
            put_sum (report, first, column);
}

void report_group (report_t *report)
{
    size_t rows = report->row_count, first = 0;

    if (rows == 0
        || !strcmp (report_cell (report, 0, 0),
                    report_cell (report, rows - 1, 0)))
        return;
    for (size_t row = 0; row < rows; row++)
        if (row + 1 == rows
            || strcmp (report_cell (report, row + 1, 0),
                       report_cell (report, row, 0))
                   != 0) {
            add_group (report, first, row);
            first = row + 1;
        }
}

char *const *report_subtotal (const report_t *report, size_t row)
{
    report_subtotal_t *of = GL_FIND (report->subtotal, report->subtotal_count,
                                     it, it->row == row);

    return of ? of->cell : NULL;
}

size_t report_section_end (const report_t *report, size_t section)
{
    return section + 1 < report->section_count
               ? report->section[section + 1].first
               : report->row_count;
}

bool report_section_has (const report_t *report, size_t section, size_t column)
{
    const report_section_t *s = &report->section[section];

    for (size_t i = s->first; i < report_section_end (report, section); i++) {
        if (report_cell (report, i, column))
            return true;
    }
    return s->total && s->total[column];
}

const char *report_cell (const report_t *report, size_t row, size_t column)
{
    return report->cell[row * report->column_count + column];
}

void report_put_text (report_t *report, size_t column, const char *text)
{
    put (report, column, text);
}

void report_put_count (report_t *report, size_t column, uint64_t count)
{
    char text[NUMBER_MAX + 1];

    text[number_write (text, count, 1)] = '\0';
    put (report, column, text);
}

char *report_hours_text (const mpq_t seconds)
{
    char *text;
    mpq_t hours;

    /* rounding takes fractions that are not reduced */
    mpq_init (hours);
    mpq_set (hours, seconds);
    mpz_mul_ui (mpq_denref (hours), mpq_denref (hours), 3600);
    text = exact_text (hours, 6);
    mpq_clear (hours);
    return text;
}

char *report_coverage_text (const mpq_t part, const mpq_t whole)
{
    return report_percent_text (mpq_cmp (part, whole) > 0 ? whole : part,
                                whole);
}

char *report_percent_text (const mpq_t part, const mpq_t whole)
{
    char *text;
    mpq_t percent;

    if (mpq_sgn (whole) == 0)
        return NULL;
    mpq_init (percent);
    mpq_div (percent, part, whole);
    mpz_mul_ui (mpq_numref (percent), mpq_numref (percent), 100);
    mpq_canonicalize (percent);
    text = exact_text (percent, 2);
    mpq_clear (percent);
    return text;
}

char *report_units_percent_text (const mpz_t part, const mpz_t whole)
{
    char *text;
    mpq_t a, b;

    mpq_inits (a, b, NULL);
    mpq_set_z (a, part);
    mpq_set_z (b, whole);
    text = report_percent_text (a, b);
    mpq_clears (a, b, NULL);
    return text;
}

char *report_signed_text (char *text)
{
    char *full;

    if (!text || *text == '-')
        return text;
    full = xasprintf ("+%s", text);
    free (text);
    return full;
}

char *report_rate_text (const mpq_t money, const mpq_t seconds)
{
    char *text;
    mpq_t rate;

    if (mpq_sgn (seconds) <= 0)
        return NULL;
    mpq_init (rate);
    mpq_set_ui (rate, 3600, 1);
    mpq_mul (rate, rate, money);
    mpq_div (rate, rate, seconds);
    text = exact_text (rate, 4);
    mpq_clear (rate);
    return text;
}

char *report_rate_of (const mpq_t money, const mpq_t gpu_seconds,
                      const mpq_t cpu_seconds)
{
    if (mpq_sgn (cpu_seconds) == 0)
        return report_rate_text (money, gpu_seconds);
    return mpq_sgn (gpu_seconds) == 0 ? report_rate_text (money, cpu_seconds)
                                      : NULL;
}

void report_proof_money (report_proof_t *proof, const char *label,
                         const mpz_t units, int digits)
{
    GL_AUTOFREE char *text = exact_units_text (units, digits);

    report_proof_line (proof, label, text);
}

void report_named_money (report_t *report, const char *name, const char *title,
                         const mpz_t units, int digits)
{
    GL_AUTOFREE char *text = exact_units_text (units, digits);

    report_named_total (report, name, title, COLUMN_MONEY, text);
}

void report_put_hours (report_t *report, size_t column, const mpq_t seconds)
{
    report_put_made (report, column, report_hours_text (seconds));
}

void report_put_money (report_t *report, size_t column, const mpz_t units,
                       int digits)
{
    report_put_made (report, column, exact_units_text (units, digits));
}

void report_put_exact (report_t *report, size_t column, const mpq_t value,
                       int digits)
{
    report_put_made (report, column, exact_text (value, digits));
}

void report_named_total (report_t *report, const char *name, const char *title,
                         column_type_t type, const char *value)
{
    report_total_t *total
        = APPEND (report->named_total, report->named_total_count);

    total->name = xstrdup (name);
    total->title = xstrdup (title);
    total->type = type;
    total->value = xstrdup (value);
}

void report_note (report_t *report, note_level_t level, const char *fmt, ...)
{
    report_note_t *note = APPEND (report->note, report->note_count);
    va_list ap;

    note->level = level;
    va_start (ap, fmt);
    if (vasprintf (&note->text, fmt, ap) < 0)
        abort ();
    va_end (ap);
}

/* "Pool a: TEXT" or "Pools a, b: TEXT": where TEXT begins; NULL: another note. */
static const char *text_of_pools (const char *note)
{
    const char *colon
        = strncmp (note, "Pool", 4) == 0 ? strchr (note, ':') : NULL;

    return colon ? colon + 2 : NULL;
}

static void add_pool (report_note_t *note, const char *pool)
{
    const char *text = text_of_pools (note->text);
    const char *names = strchr (note->text, ' ') + 1;
    char *longer = xasprintf ("Pools %.*s, %s: %s", (int)(text - 2 - names),
                              names, pool, text);

    free (note->text);
    note->text = longer;
}

void report_note_pool (report_t *report, note_level_t level, const char *pool,
                       const char *fmt, ...)
{
    char *text;
    va_list ap;

    va_start (ap, fmt);
    if (vasprintf (&text, fmt, ap) < 0)
        abort ();
    va_end (ap);
    for (size_t i = 0; i < report->note_count; i++) {
        const char *other = text_of_pools (report->note[i].text);
        if (other && report->note[i].level == level && !strcmp (other, text)) {
            add_pool (&report->note[i], pool);
            free (text);
            return;
        }
    }
    report_note (report, level, "Pool %s: %s", pool, text);
    free (text);
}

report_proof_t *report_proof (report_t *report, const char *title)
{
    report_proof_t *proof = APPEND (report->proof, report->proof_count);

    proof->title = xstrdup (title);
    proof->holds = true;
    return proof;
}

void report_proof_line (report_proof_t *proof, const char *label,
                        const char *value)
{
    add_pair (&proof->line, &proof->line_count, label, value);
}

report_list_t *report_list (report_t *report, const char *title)
{
    report_list_t *list = APPEND (report->list, report->list_count);

    list->title = xstrdup (title);
    return list;
}

void report_list_help (report_list_t *list, const char *help)
{
    list->help = xstrdup (help);
}

void report_list_item (report_list_t *list, const char *word, const char *text)
{
    add_pair (&list->item, &list->item_count, word, text);
}

void report_list_table (report_list_t *list, const list_column_t *head,
                        size_t count)
{
    list->head = head;
    list->head_count = count;
}

void report_list_row (report_list_t *list, const char *const *cells)
{
    size_t first = list->row_count++ * list->head_count;

    list->cell = xreallocarray (list->cell, first + list->head_count,
                                sizeof (*list->cell));
    for (size_t i = 0; i < list->head_count; i++)
        list->cell[first + i] = cells[i] ? xstrdup (cells[i]) : NULL;
}

void report_select_brief (report_t *report)
{
    size_t kept = 0;

    for (size_t i = 0; i < report->order_count; i++)
        if (!report->column[report->order[i]].detail)
            report->order[kept++] = report->order[i];
    report->order_count = kept;
}

void report_kwh (mpq_t ret, uint64_t energy_mj)
{
    exact_set_u128 (mpq_numref (ret), energy_mj);
    mpz_set_str (mpq_denref (ret), "3600000000", 10);
    mpq_canonicalize (ret);
}
