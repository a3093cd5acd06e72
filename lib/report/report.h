/*
 * report.h: a report is data: title, parameters, typed columns, rows, totals,
 * notes, coverage. lib/report builds it, lib/render prints it; neither knows
 * the other's business.
 *
 * Every cell is a text that is already final (its digits chosen by the column's
 * type, once, when it is put) or missing; a renderer aligns, escapes and
 * quotes, it never computes. So the same report gives the same bytes in each
 * format. Texts are copied in; the report owns everything.
 */
#ifndef GL_REPORT_REPORT_H
#define GL_REPORT_REPORT_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    COLUMN_TEXT,
    COLUMN_COUNT,   /* integer */
    COLUMN_HOURS,   /* 6 decimals, half to even */
    COLUMN_MONEY,   /* the currency's digits; a string in JSON */
    COLUMN_RATE,    /* money per GPU-hour, 4 decimals; a string in JSON */
    COLUMN_PERCENT, /* 2 decimals, 0..100 */
    COLUMN_ENERGY,  /* kWh, 6 decimals */
} column_type_t;

typedef struct {
    char *name;  /* machine name, e.g. gres_hours: CSV header, JSON key, -o */
    char *title; /* for people */
    column_type_t type;
    bool is_key;
    bool shown; /* -o/--format decides */
} report_column_t;

typedef enum {
    NOTE_INFORMATION,
    NOTE_WARNING, /* a figure is affected; says which and what to do */
} note_level_t;

typedef struct {
    note_level_t level;
    char *text;
} report_note_t;

/* A block of (label, value) lines under the table: how the parts add up. */
typedef struct {
    char *title;
    char *(*line)[2];
    size_t line_count;
    bool holds; /* the identity printed here is true */
} report_proof_t;

typedef struct {
    char *name;  /* usage, chargeback, ... */
    char *title;
    char *(*parameter)[2]; /* period, zone, as-of, filters, ...: in order */
    size_t parameter_count;
    report_column_t *column;
    size_t column_count;
    char **cell; /* row_count x column_count, NULL: missing */
    size_t row_count;
    char **total; /* one per column, NULL where a total has no meaning */
    report_note_t *note;
    size_t note_count;
    report_proof_t *proof;
    size_t proof_count;
    char *(*coverage)[2]; /* measure, percent */
    size_t coverage_count;
} report_t;

report_t *report_new (const char *name, const char *title);
void report_free (report_t *report);

void report_parameter (report_t *report, const char *name, const char *value);
/* Returns the column's index. */
size_t report_column (report_t *report, const char *name, const char *title,
                      column_type_t type, bool is_key);
/* Starts a row of missing cells; the put functions fill the last one. */
void report_row (report_t *report);
void report_put_text (report_t *report, size_t column, const char *text);
void report_put_count (report_t *report, size_t column, uint64_t count);
/* seconds -> hours */
void report_put_hours (report_t *report, size_t column, const mpq_t seconds);
/* Already rounded: an integer of the currency's smallest unit. */
void report_put_money (report_t *report, size_t column, const mpz_t units,
                       int digits);
/* Any other exact value, rounded half to even to `digits`. */
void report_put_exact (report_t *report, size_t column, const mpq_t value,
                       int digits);
/* The same for the line of totals. */
void report_total_text (report_t *report, size_t column, const char *text);

void report_note (report_t *report, note_level_t level, const char *fmt, ...)
    __attribute__ ((format (printf, 3, 4)));
report_proof_t *report_proof (report_t *report, const char *title);
void report_proof_line (report_proof_t *proof, const char *label,
                        const char *value);
void report_coverage (report_t *report, const char *measure,
                      const char *percent);

/* Order the rows bytewise by their key cells, left to right; an absent key
 * sorts by the text that is printed for it. */
void report_sort (report_t *report);

#endif /* !GL_REPORT_REPORT_H */
