/*
 * export_layout.h: how a month is written for a program of the receiver: which rows, and
 * which columns of them (docs/formats/layout.md). Read by config_load_layout(), checked
 * against the fields of rows by export_new() (export/export.h).
 */
#ifndef GL_SITE_EXPORT_LAYOUT_H
#define GL_SITE_EXPORT_LAYOUT_H

#include "site/site.h"

typedef enum {
    EXPORT_POSTINGS, /* charges, credits, taxes, ...: what somebody pays */
    EXPORT_JOBS,     /* the same by job and day */
    EXPORT_JOURNAL,  /* both sides of the double entry */
    EXPORT_ROWS_COUNT,
} export_rows_t;

enum {
    EXPORT_UNSET,
    EXPORT_YES,
    EXPORT_NO
}; /* what a layout says, or a column */
enum { EXPORT_SIGN_LEADING = 1, EXPORT_SIGN_TRAILING, EXPORT_SIGN_NONE };
enum {
    EXPORT_QUOTE_NEEDED,
    EXPORT_QUOTE_TEXTS,
    EXPORT_QUOTE_ALL,
    EXPORT_QUOTE_NEVER
};
enum { EXPORT_UTF8, EXPORT_UTF8_BOM, EXPORT_LATIN1 };
enum { EXPORT_ALIGN_BY_TYPE, EXPORT_ALIGN_LEFT, EXPORT_ALIGN_RIGHT };

/* How values are written. Of a column NULL and 0 are "as the layout says". */
typedef struct {
    char *date;      /* "DD.MM.YYYY"; NULL: ISO 8601 */
    char *point;     /* decimal point; NULL: "." */
    char *thousands; /* separator; NULL: none */
    char *absent;    /* of a value that there is not; NULL: nothing */
    int decimals;    /* and 1 */
    int sign;
    int cents; /* amounts in the smallest unit of the currency */
    int reversed;
} export_format_t;

typedef struct {
    char *heading;
    char *value;        /* "{team}-{pool}"; NULL: of fields */
    text_list_t fields; /* those that there are */
    char *separator;    /* between them; NULL: nothing */
    export_format_t format;
    text_list_t map; /* value, what is written instead, value, ... */
    char *otherwise; /* of values that are not in the map; NULL: an error */
    int64_t width;   /* in characters; 0: as it is */
    int align;
    char *pad; /* one character; NULL: a blank */
    int cut;   /* what is longer than the width; else an error */
    place_t place;
} export_column_t;

typedef struct {
    char *field;
    text_list_t is;   /* one of these; empty: any */
    text_list_t not ; /* none of these */
    place_t place;
} export_filter_t;

typedef struct {
    char *file; /* what places point to */
    int rows;   /* export_rows_t */
    export_filter_t *filters;
    size_t filter_count;
    text_list_t group; /* empty: each row is one of the file */
    text_list_t sort;
    int zeros; /* rows of 0 */
    export_format_t format;
    char *delimiter; /* NULL: ','; "tab"; "none": fixed width */
    int quote;
    int header;
    int crlf;
    int encoding;
    int guard;              /* against formulas */
    export_column_t *first; /* a record before all others */
    size_t first_count;
    export_column_t *columns;
    size_t column_count;
    export_column_t *trailer; /* and behind them */
    size_t trailer_count;
    place_t place;
} export_layout_t;

/* Accepts NULL. */
void export_layout_free (export_layout_t *layout);

#endif /* !GL_SITE_EXPORT_LAYOUT_H */
