/*
 * report.h: a report is data: title, parameters, typed columns, rows, totals,
 * notes, coverage, proofs, charts. lib/report builds it, lib/render prints it;
 * neither knows the other's business.
 *
 * Every cell is a text that is already final (its digits chosen by the column's
 * type, once, when it is put) or missing; a renderer aligns, escapes and
 * quotes. Tables and pages write dates and hours shorter, for people
 * (lib/render/readable.c). The same report gives the same bytes in each
 * format. Texts are copied in; the report owns everything.
 */
#ifndef GL_REPORT_REPORT_H
#define GL_REPORT_REPORT_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum {
    COLUMN_TEXT,
    COLUMN_DATE,    /* a month, day or time, in ISO 8601 */
    COLUMN_WORDS,   /* words of the report's own, which may name dates */
    COLUMN_COUNT,   /* integer */
    COLUMN_HOURS,   /* 6 decimals, half to even */
    COLUMN_MONEY,   /* the currency's digits; a string in JSON */
    COLUMN_RATE,    /* money per GPU-hour, 4 decimals; a string in JSON */
    COLUMN_PERCENT, /* 2 decimals, 0..100 */
    COLUMN_ENERGY,  /* kWh, 6 decimals */
    COLUMN_MASS,    /* kg, 6 decimals */
} column_type_t;

/* Digits and a point, not words. */
static inline bool report_is_number (column_type_t type)
{
    return type != COLUMN_TEXT && type != COLUMN_DATE && type != COLUMN_WORDS;
}

/* What a narrow terminal keeps: the least goes first, of equals the rightmost.
 * Details and columns with nothing in them go before all of these. */
typedef enum {
    KEEP_PERCENT,
    KEEP_COUNT,
    KEEP_RATE,
    KEEP_TEXT,
    KEEP_HOURS, /* energy and mass, too */
    KEEP_MONEY, /* and its currency */
    KEEP_KEY,
} column_keep_t;

typedef struct {
    char *name;  /* machine name, e.g. gres_hours: CSV header, JSON key, -o */
    char *title; /* for people */
    char *help;  /* its definition, a sentence; "" if none was given */
    column_type_t type;
    bool is_key;
    bool detail;        /* people see it only when they ask for it */
    column_keep_t keep; /* by its type; a report may raise it */
} report_column_t;

/* A column as a report's own table of columns has it. */
typedef struct {
    const char *name;
    const char *title;
    column_type_t type;
    bool is_key;
    bool detail;
    const char *help;
} column_info_t;

typedef enum {
    NOTE_INFORMATION,
    NOTE_WARNING, /* a figure is affected; says which and what to do */
    NOTE_LEAD,    /* likewise most figures: pages begin with it */
    NOTE_SOURCE,  /* where figures come from: pages have it after them */
    NOTE_COMMAND, /* options, commands and keys: pages end with them, for
                     administrators */
} note_level_t;

/* It affects a figure. */
static inline bool note_is_warning (note_level_t level)
{
    return level == NOTE_WARNING || level == NOTE_LEAD;
}

typedef struct {
    note_level_t level;
    char *text;
} report_note_t;

/* A total that is no column's, such as the cost of all pools. */
typedef struct {
    char *name;
    char *title;
    char *value; /* NULL: missing */
    column_type_t type;
} report_total_t;

/* What the report plan decides of a pool (report/plan.h). Owns its texts. */
typedef struct {
    char *action;  /* "Give the pool up.", without any condition */
    char *reason;  /* why all stays, a sentence; NULL: the hint of the figure
                      alone says it */
    char *grounds; /* what it rests on, and what is not known, in sentences */
    uint64_t kept; /* GPUs that stay */
    size_t months; /* that say so */
    unsigned unknown_percent; /* of the capacity, rounded up: no source says
                                 whether it was up */
    bool priced;              /* renting is compared with */
    char
        *least; /* what giving up saves in a year at most, if staff stay as they
                    are: "6868.97"; NULL: nothing is given up, or unknown */
    char *
        most; /* and if their part of the cost ends, too; NULL: they have none */
    char *needs; /* what the decision depends on, in sentences; may be "" */
    bool waits;  /* among it whether jobs waited */
    char *
        off; /* what switching its GPUs off while no job has them saves in a year
                  at most; NULL: nothing, or unknown */
    char *off_sure; /* how sure that is; NULL: as there is no `off` */
} report_decision_t;

/* A figure that a reader looks for first. */
typedef struct {
    char *title;
    char *value; /* NULL: not known */
    char *hint;  /* what it is measured against; may be "" */
    char *sure;  /* of a decision: how sure it is; NULL: nothing is said */
    column_type_t type;
    bool changes; /* a decision to give something up; else all stays */
    report_decision_t *decision; /* owned; NULL: the figure is none */
} report_figure_t;

/* Some of the rows, under a title of their own: people see a table for each section,
 * with the columns that say something in it; CSV and JSON have all rows in one. */
typedef struct {
    char *title;
    char *
        answer; /* what to do, a sentence, which people read first; NULL: none */
    char *help;   /* what its rows are, a sentence or more; may be "" */
    size_t first; /* its first row; it ends where the next begins */
    char **total; /* one per column, or NULL */
    char **rest;  /* of the rows that people are not shown; or NULL */
    bool folded;  /* on a page that can: opened by who wants to see it */
} report_section_t;

/* A line for people behind a row, of some of the rows of its table. */
typedef struct {
    size_t row;
    char **cell; /* one per column */
} report_subtotal_t;

/* Where a page has a list: */
typedef enum {
    LIST_LAST,   /* at the end: commands */
    LIST_TOP,    /* in front of the figures */
    LIST_NEXT,   /* right behind the figures */
    LIST_FIRST,  /* behind those */
    LIST_ANSWER, /* behind the tables */
} list_place_t;

/* What the words of a list are names of, so that they can lead to its page. */
typedef enum {
    LIST_TEXTS, /* of nothing */
    LIST_JOBS,
    LIST_POOLS,
    LIST_MONTHS,
} list_words_t;

/* A column of a list that is a table. */
typedef struct {
    const char *title;
    column_type_t type;
    const char *help; /* its definition; may be "" */
} list_column_t;

/* Words explained, or commands to be run. On a page also a small table for people alone, whose
 * content data has elsewhere, such as in figures: then it has rows, and no items. */
typedef struct {
    char *title;
    char *help; /* on a page: what its words are; NULL: nothing */
    list_place_t place;
    list_words_t words;
    char *(*item)[2];
    size_t item_count;
    const list_column_t
        *head; /* columns of the table, static; NULL: no table */
    size_t head_count;
    char **
        cell; /* row_count x head_count, NULL: missing; the first is its word */
    size_t row_count;
} report_list_t;

/* A block of (label, value) lines under the table: how the parts add up. */
typedef struct {
    char *title;
    char *(*line)[2];
    size_t line_count;
    bool holds; /* the identity printed here is true */
} report_proof_t;

/* A chart. Positions are parts of CHART_WHOLE, so that drawing needs integers only. */
#define CHART_WHOLE 100000
typedef enum {
    CHART_BARS,    /* one bar per item, the longest being CHART_WHOLE */
    CHART_STACK,   /* one bar, the items side by side; past CHART_WHOLE is a
                      surplus */
    CHART_COLUMNS, /* over time: a column at each point, series on top of each
                      other */
    CHART_LINES,   /* over time: a line for each series */
    CHART_HEAT, /* a row for each series, a cell at each point: the darker, the
                      more */
    CHART_CHANGES, /* a bar for each point, to the left of zero or to the right; of
                      several series, back to back */
    CHART_BUDGETS, /* a bar for each point, of four series: spent, least and most
                      expected at the end, budget */
} chart_kind_t;

typedef struct {
    char *label; /* of a point: a team, a day; in a stack, of the part */
    char *value; /* NULL: not known, nothing is drawn */
    int from;    /* it is drawn from here */
    int to;      /* to here; in a heat map, how dark it is */
    int shade;   /* which of the palette, below CHART_SHADES */
} chart_item_t;

typedef struct {
    char *title;
    int shade;
} chart_series_t;

/* A line of the grid. */
typedef struct {
    char *text; /* the value there */
    int at;
} chart_tick_t;

/* A stack has each of them once, as long as there are any left. */
#define CHART_SHADES 16
#define CHART_HEAT_STEPS 5

typedef struct {
    chart_kind_t kind;
    column_type_t type; /* of the values */
    char *title;
    char *description;  /* in words, for who cannot see it */
    char *unit;         /* of the values; NULL: they have it with them */
    chart_item_t *item; /* series by series, where there are several */
    size_t item_count;
    size_t point_count; /* of each series */
    chart_series_t *series;
    size_t series_count; /* 0: bars or a stack */
    chart_tick_t *tick;
    size_t tick_count;
    int zero;      /* of the axis */
    bool in_table; /* a table of the page has all values */
} report_chart_t;

typedef struct {
    char *name; /* usage, chargeback, ... */
    char *title;
    char *(*parameter)[2]; /* period, zone, as-of, filters, ...: in order */
    size_t parameter_count;
    report_figure_t *figure;
    size_t figure_count;
    report_column_t *column;
    size_t column_count;
    size_t *order; /* the columns to be shown, by -o/--format */
    size_t order_count;
    char **cell; /* row_count x column_count, NULL: missing */
    size_t row_count;
    struct report_texts *texts; /* of cells and totals */
    bool notes_last;   /* on a page: after the tables; else before them */
    bool charts_last;  /* likewise */
    size_t rows_shown; /* on a table or page for people, at most; 0: all. Of
                          each section, where there are any */
    char **line; /* what the put functions fill; borrowed from cell, total or a
                    section */
    report_section_t *section; /* none: the rows are one table */
    size_t section_count;
    report_subtotal_t *subtotal; /* in the order of their rows */
    size_t subtotal_count;
    char **total; /* one per column, NULL where a total has no meaning */
    report_total_t *named_total;
    size_t named_total_count;
    report_note_t *note;
    size_t note_count;
    report_proof_t *proof;
    size_t proof_count;
    report_chart_t *chart;
    size_t chart_count;
    char *(*coverage)[2]; /* measure, percent */
    size_t coverage_count;
    report_list_t *list;
    size_t list_count;
    char *(*provenance)[2]; /* program, store, ... */
    size_t provenance_count;
} report_t;

report_t *report_new (const char *name, const char *title);
/* Accepts NULL. */
void report_free (report_t *report);

void report_parameter (report_t *report, const char *name, const char *value);
void report_provenance (report_t *report, const char *name, const char *value);
void report_figure (report_t *report, const char *title, const char *value,
                    const char *hint, column_type_t type);

/* Columns come before rows. Returns the column's index. */
size_t report_column (report_t *report, const char *name, const char *title,
                      column_type_t type, bool is_key);
/* Those of a table, behind the columns that are there. */
void report_columns (report_t *report, const column_info_t *columns,
                     size_t count);
void report_column_help (report_t *report, size_t column, const char *help);
/* Show only these columns, in this order: "account,gres_hours". -1 with an
 * error that lists the columns there are. */
int report_select (report_t *report, const char *names, gl_error_t *error);
/* The column of that name; -1 with an error that names the nearest one. */
int report_field (const report_t *report, const char *name, size_t length,
                  gl_error_t *error);
/* Show the columns that are no details. */
void report_select_brief (report_t *report);

/* Starts a row of missing cells; the put functions fill the last one. */
void report_row (report_t *report);
/* The put functions fill that row again, or the totals that there are. */
void report_at_row (report_t *report, size_t row);
void report_at_totals (report_t *report);
void report_put_text (report_t *report, size_t column, const char *text);
/* Takes the text; NULL: nothing is put. */
void report_put_made (report_t *report, size_t column, char *text);
void report_put_count (report_t *report, size_t column, uint64_t count);
/* seconds -> hours */
void report_put_hours (report_t *report, size_t column, const mpq_t seconds);
/* Already rounded: an integer of the currency's smallest unit. */
void report_put_money (report_t *report, size_t column, const mpz_t units,
                       int digits);
/* Any other exact value, rounded half to even to `digits`. */
void report_put_exact (report_t *report, size_t column, const mpq_t value,
                       int digits);
/* A cell; NULL: missing. Borrowed. */
const char *report_cell (const report_t *report, size_t row, size_t column);

/* The rows that follow are of it; it has a column that names it for CSV. The
 * rows of all sections must not be sorted any more. */
void report_section (report_t *report, const char *title, const char *help);
/* Another report's table as a section: its columns, before there are rows, and later its rows,
 * subtotals and totals into the section that was begun. `first`: what report_take_columns() returned. */
size_t report_take_columns (report_t *report, const report_t *from);
void report_take_rows (report_t *report, const report_t *from, size_t first);
/* Another help of the last section, once its rows are known. */
void report_section_help (report_t *report, const char *help);
/* Take the last section back if it has no rows. */
void report_section_drop_empty (report_t *report);
/* What the section says to do. */
void report_section_answer (report_t *report, const char *answer);
/* The put functions fill the section's own line of totals. */
void report_section_totals (report_t *report);
/* The same of a line for the rows beyond report->rows_shown, together. */
void report_section_rest (report_t *report);
void report_section_fold (report_t *report);
/* The rows of a section: [first, end). */
size_t report_section_end (const report_t *report, size_t section);
/* Whether a row of the section, or its totals, has something there. */
bool report_section_has (const report_t *report, size_t section, size_t column);

/* Valid until the next list is begun. */
report_list_t *report_list (report_t *report, const char *title);
void report_list_help (report_list_t *list, const char *help);
void report_list_item (report_list_t *list, const char *word, const char *text);
/* The list is a table of these columns, and a row of it, a text or NULL for each. */
void report_list_table (report_list_t *list, const list_column_t *head,
                        size_t count);
void report_list_row (report_list_t *list, const char *const *cells);

/* The line of totals: after report_totals() the put functions fill it. */
void report_totals (report_t *report);
void report_named_total (report_t *report, const char *name, const char *title,
                         column_type_t type, const char *value);

void report_note (report_t *report, note_level_t level, const char *fmt, ...)
    __attribute__ ((format (printf, 3, 4)));
/* "Pool a: TEXT"; where another pool has a note of the same text, "Pools a, b: TEXT". */
void report_note_pool (report_t *report, note_level_t level, const char *pool,
                       const char *fmt, ...)
    __attribute__ ((format (printf, 4, 5)));
/* Valid until the next proof is begun. */
report_proof_t *report_proof (report_t *report, const char *title);
void report_proof_line (report_proof_t *proof, const char *label,
                        const char *value);
void report_coverage (report_t *report, const char *measure,
                      const char *percent);

/* Bars or a stack. Valid until the next chart is begun. */
report_chart_t *report_chart (report_t *report, chart_kind_t kind,
                              const char *title, const char *description);
/* `value` of `whole`; both not negative. `shade`: 0 is used time or cost, then
 * lighter kinds of what is not used; a stack takes another that is free. */
void report_chart_item (report_chart_t *chart, const char *label,
                        const char *text, const mpq_t value, const mpq_t whole,
                        int shade);

/* The values of a chart with an axis, which is chosen to hold them and 0. */
typedef struct {
    const char *title;
    const mpq_t
        *value; /* of each point; hours in seconds, money in the smallest
                            units */
    const bool *unknown; /* NULL: all are known */
    int shade;
} plot_series_t;

typedef struct {
    chart_kind_t kind;
    const char *title;
    const char *description;
    column_type_t type;
    int digits;       /* of money */
    const char *unit; /* "USD", "GPU hours" */
    const char *const *point;
    size_t point_count;
    const plot_series_t *series;
    size_t series_count;
} plot_t;

/* Valid until the next chart is begun; NULL and no chart: there are no points. */
report_chart_t *report_plot (report_t *report, const plot_t *plot);

/* Moves a chart of another report here. */
void report_take_chart (report_t *report, report_t *from, size_t index);

/* A bar for each of the `count` largest rows that are above 0: value[row] and
 * the cell of `column` in addition; the label is the keys. */
void report_chart_rows (report_t *report, const char *title,
                        const char *description, const mpq_t *value,
                        size_t column, size_t count);
/* Order the rows bytewise by their key cells, left to right; an absent key
 * sorts by the text that is printed for it. */
void report_sort (report_t *report);

/* The put functions fill a subtotal behind the last row. Subtotals are for people alone, and
 * until the rows are put into another order or limited. */
void report_subtotals (report_t *report);
/* Rows with one text in the first column, which follow one another, become a group with
 * a subtotal of what adds up: money, hours, energy. One group is none. */
void report_group (report_t *report);
/* The subtotal behind a row; NULL: there is none. */
char *const *report_subtotal (const report_t *report, size_t row);

/* What a reader wants of the rows, once all of them are there (report_order.c).
 * The rows of a section stay in it, and totals are those of all rows. */
/* By fields, "-charge,account": '-' is from the largest down, '+' or nothing
 * from the smallest up; numbers by their value, texts bytewise. Rows with
 * nothing there come last either way, ties stay in their order. -1 with an
 * error: no such field. */
int report_order_rows (report_t *report, const char *fields, gl_error_t *error);
/* The first `limit` rows, of each section where there are any; a note says so.
 */
void report_limit_rows (report_t *report, size_t limit);

/* Money in smallest units of a currency with so many digits. */
void report_proof_money (report_proof_t *proof, const char *label,
                         const mpz_t units, int digits);
void report_named_money (report_t *report, const char *name, const char *title,
                         const mpz_t units, int digits);
void report_chart_money (report_chart_t *chart, const char *label,
                         const mpz_t units, const mpz_t whole, int digits,
                         int shade);

/* The texts of exact values, as the put functions make them; yours to free. */
char *report_hours_text (const mpq_t seconds);
/* ret = millijoules in kWh, exactly. */
void report_kwh (mpq_t ret_kwh, uint64_t energy_mj);
/* part / whole in percent with 2 decimals; NULL where the whole is 0. */
char *report_percent_text (const mpq_t part, const mpq_t whole);
char *report_units_percent_text (const mpz_t part, const mpz_t whole);
/* A number with its sign, "+12.00"; takes the text (NULL stays NULL). */
char *report_signed_text (char *text);
/* Money for an hour of these seconds, with 4 decimals; NULL where they are not
 * above 0. */
char *report_rate_text (const mpq_t money, const mpq_t seconds);
/* Of GPUs or of CPUs, whichever the money is for; NULL where it is for both. */
char *report_rate_of (const mpq_t money, const mpq_t gpu_seconds,
                      const mpq_t cpu_seconds);
/* The same of the part of allocated time that is known. Where accounting counts fewer
 * devices than the nodes measured, all of the allocated time is known: never above
 * 100. */
char *report_coverage_text (const mpq_t part, const mpq_t whole);

#endif /* !GL_REPORT_REPORT_H */
