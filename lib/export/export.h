/*
 * export.h: a month as rows of named fields, for files that a layout describes
 * (site/export_layout.h, docs/formats/layout.md).
 *
 * Rows come from postings, line items or the journal; the layout filters, groups and
 * sorts them. Amounts add up to those of the bill: they are its integers, or where
 * line items have more decimals than the file, each is the rounded running total less
 * what was written before.
 *
 *   export_new (layout, month, write, file, &error);
 *   export_add_bill (export, bill) or export_add_item (export, item) ...
 *   export_finish (export, &error);
 *
 * Pure. An object belongs to one thread and one month.
 */
#ifndef GL_EXPORT_H
#define GL_EXPORT_H

#include "ledger/line_items.h"
#include "site/export_layout.h"
#include "export/journal.h"

typedef enum {
    EXPORT_TEXT,
    EXPORT_DATE,
    EXPORT_DIGITS, /* a text of digits */
    EXPORT_MONEY,
    EXPORT_HOURS,    /* of GPUs, CPUs; 6 decimals */
    EXPORT_QUANTITY, /* the same, of anything */
    EXPORT_RATE,     /* money per hour; 4 decimals */
    EXPORT_COUNT,
} export_type_t;

typedef enum {
    EXPORT_OF_MONTH, /* the same for all rows */
    EXPORT_OF_TEAM,
    EXPORT_OF_ROW,
    EXPORT_SUM,   /* added up */
    EXPORT_TOTAL, /* of the trailer alone */
} export_level_t;

typedef struct {
    const char *name;
    export_type_t type;
    export_level_t level;
    unsigned rows;        /* bit 1 << export_rows_t */
    const char *help;     /* with its unit */
    size_t posting, item; /* 1 + offset of a text; 0: made otherwise */
} export_field_t;

const export_field_t *export_fields (size_t *ret_count);
/* "text", "date", "amount", ... */
const char *export_type_word (export_type_t type);
/* "postings", "jobs", "journal". */
const char *export_rows_word (export_rows_t rows);

/* The bytes of the part of a date that the text begins with: YYYY, YY, MON, MM, DD; or
 * 0. */
size_t export_date_token (const char *text);

/* What is the same for all rows; borrowed. */
typedef struct {
    const site_t *site; /* the configuration that priced the month */
    const site_t
        *paper;        /* with currency and issuer, as papers of it name them */
    const char *month; /* "2026-10" */
    period_t period;
    const char *team;    /* of which rows are wanted; NULL: of all */
    bool team_given;     /* else `team` says nothing; with NULL: of no team */
    const char *state;   /* "open", "closed" */
    const char *version; /* of the closing; NULL: it is open. Likewise: */
    const char *hash;
    const char *closed_on; /* day */
    const bool *disputed; /* row by row of the bill; NULL: none */
} export_month_t;

/* A part of a column: a text of the layout, or a field. */
typedef struct {
    char *text; /* NULL: a field */
    const export_field_t *field;
} export_part_t;

typedef struct {
    const export_column_t *column;
    export_part_t *part;
    size_t count;
} export_cells_t;

typedef struct {
    export_cells_t *cells;
    size_t count;
} export_record_t;

typedef struct export export_t;
typedef struct export_row export_row_t;

/* Valid during the call. Returns 0, or -1 with an error to end it. */
typedef int (*export_row_f) (const export_row_t *row, void *arg,
                             gl_error_t *error);

/* NULL: the layout is wrong; the error has its file and line. Both outlive it. */
export_t *export_new (const export_layout_t *layout,
                      const export_month_t *month, export_row_f row, void *arg,
                      gl_error_t *error);
/* Accepts NULL. */
void export_free (export_t *export);

const export_record_t *export_columns (const export_t *export);
const export_record_t *export_first (const export_t *export);
const export_record_t *export_trailer (const export_t *export);
const export_layout_t *export_layout (const export_t *export);
/* Decimals of amounts. */
int export_digits (const export_t *export);

/* By the layout's `rows`. */
int export_add_bill (export_t *export, const bill_t *bill, gl_error_t *error);
int export_add_item (export_t *export, const line_item_t *item,
                     gl_error_t *error);
int export_add_journal (export_t *export, const journal_t *journal,
                        gl_error_t *error);
/* What is not written yet. */
int export_finish (export_t *export, gl_error_t *error);
/* Fields of the month, and sums of what was written. */
const export_row_t *export_whole (export_t *export);

/* The text of a field that is one; NULL: absent. */
const char *export_text (const export_row_t *row, const export_field_t *field);
/* The number of one that is a number; false: absent. */
bool export_number (const export_row_t *row, const export_field_t *field,
                    mpq_t ret_value);

#endif /* !GL_EXPORT_H */
