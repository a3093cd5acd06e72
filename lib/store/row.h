/*
 * row.h: rows of the store and the structs that hold them.
 *
 * A row type is one table of columns: name, type and place in the struct. From
 * it come the SQL, in the words of either engine, and what binds, reads and
 * compares rows. Nothing else lists the columns of a row. Values that many rows
 * share are rows of their own, and stand in a row as their id: a text
 * (COLUMN_TEXT), or several columns together (COLUMN_PART). Who writes a row
 * writes these first, who reads it gets their values.
 */
#ifndef GL_STORE_ROW_H
#define GL_STORE_ROW_H

#include "base/buffer.h"
#include "store/db.h"
#include "store/store.h"

/* --- values: of a parameter of a statement, or of a column ---------------- */

typedef enum {
    VALUE_NULL,
    VALUE_I64,
    VALUE_U64,
    VALUE_TEXT,
    VALUE_BLOB
} value_type_t;
typedef struct {
    value_type_t type;
    union {
        int64_t i;
        uint64_t u;
        const void *data; /* borrowed */
    };
    size_t length; /* of text and blob */
} value_t;

static inline value_t as_i64 (int64_t i)
{
    return (value_t){.type = VALUE_I64, .i = i};
}

static inline value_t as_u64 (uint64_t u)
{
    return (value_t){.type = VALUE_U64, .u = u};
}

/* NULL is NULL. */
value_t as_text (const char *text);

static inline value_t as_blob (const void *data, size_t length)
{
    return (value_t){VALUE_BLOB, {.data = data ? data : ""}, length};
}

/* A list of values and its length: two arguments. */
#define ARGS(...)                   \
    (const value_t[]){__VA_ARGS__}, \
        GL_ARRAY_SIZE (((const value_t[]){__VA_ARGS__}))

/* Of a statement that was reset, which has forgotten what was bound. */
void bind_values (db_statement_t *st, unsigned at, const value_t *values,
                  size_t count);

/* --- statements: prepared when first asked for, found by their text ------- */

/* A constant of the program: it is known by its address. NULL with an error. */
db_statement_t *store_prepare (store_t *store, const char *sql,
                               gl_error_t *error);
/* The place of a statement of which its user makes the text. */
db_statement_t **store_statement (store_t *store, const void *key,
                                  unsigned verb);
/* An INSERT and the like: 0 or -1. */
int store_run (store_t *store, const char *sql, const value_t *args,
               size_t count, gl_error_t *error);
/* The statement, bound, for the caller to step and to reset; NULL. */
db_statement_t *store_ask (store_t *store, const char *sql, const value_t *args,
                           size_t count, gl_error_t *error);
/* The first column of the first row: 1; 0 and 0 where there is none; -1. */
int store_number (store_t *store, const char *sql, const value_t *args,
                  size_t count, int64_t *ret_value, gl_error_t *error);

/* --- row types ------------------------------------------------------------ */

typedef enum {
    COLUMN_CLUSTER, /* const char *: its name here, its id in the row */
    COLUMN_NAME,    /* const char *: in the row itself */
    COLUMN_TEXT,    /* const char *: the id of a row of `text` */
    COLUMN_I64,
    COLUMN_U64,
    COLUMN_U32, /* and enums */
    COLUMN_I32,
    COLUMN_BOOL,
    COLUMN_BYTES, /* uint8_t[size] */
    COLUMN_BLOB,  /* const void * and, right behind it, size_t */
    COLUMN_PART,  /* the id of a row of `part`, whose columns are in the same
                     struct */
} column_type_t;

#define COLUMN_KEY 0x01
#define COLUMN_NULLABLE \
    0x02 /* NULL where a number is `unknown`, a blob has no bytes */
#define COLUMN_EMPTY 0x04   /* a name: "" where it is NULL */
#define COLUMN_HIDDEN 0x08  /* iterators do not read it */
#define COLUMN_JOINED 0x10  /* `name` is an expression, only read */
#define COLUMN_MERGED 0x20  /* of a segment: store/merge.h */
#define COLUMN_REVISED 0x40 /* of a segment: store/revise.h */
#define COLUMN_RUNS 0x80    /* of a segment: may change while a job runs */

struct row_type;
typedef struct lookup lookup_t; /* store/store_lookup.h */
typedef struct {
    const char *name;
    size_t offset;
    column_type_t type;
    unsigned flags;
    size_t size; /* of bytes */
    int64_t unknown;
    const struct row_type *part;
    const char *word; /* what people read; NULL: the name */
} column_t;

/* The columns of a row type: COLUMN (U64, retag_t, id_job, .flags =
 * COLUMN_KEY). */
#define COLUMN(TYPE, STRUCT, MEMBER, ...) \
    COLUMN_AS (#MEMBER, TYPE, STRUCT, MEMBER, __VA_ARGS__)
#define COLUMN_AS(NAME, TYPE, STRUCT, MEMBER, ...)       \
    {                                                    \
        .name = NAME, .type = COLUMN_##TYPE,             \
        .offset = offsetof (STRUCT, MEMBER), __VA_ARGS__ \
    }
#define KEY .flags = COLUMN_KEY
#define HIDDEN .flags = COLUMN_HIDDEN
/* A number that NULL stands for. */
#define MAYBE(UNKNOWN) .flags = COLUMN_NULLABLE, .unknown = (int64_t)(UNKNOWN)

typedef struct row_type {
    const char *table;
    const column_t *columns;
    unsigned count;
    size_t size; /* of the struct */
} row_type_t;
#define ROW_TYPE(TABLE, COLUMNS, STRUCT)                         \
    {                                                            \
        TABLE, COLUMNS, GL_ARRAY_SIZE (COLUMNS), sizeof (STRUCT) \
    }
#define ROW_MAX \
    40 /* columns that a row type may have, those of its parts too */

/* --- one column ----------------------------------------------------------- */

static inline bool column_is_text (const column_t *column)
{
    return column->type == COLUMN_NAME || column->type == COLUMN_TEXT;
}

/* Of a text. */
static inline const char *column_text (const column_t *column, const void *row)
{
    return *(const char *const *)((const char *)row + column->offset);
}

/* Of a number; an unsigned one as its two's complement. */
static inline int64_t column_number (const column_t *column, const void *row)
{
    const void *p = (const char *)row + column->offset;

    switch (column->type) {
    case COLUMN_U32:
        return *(const uint32_t *)p;
    case COLUMN_I32:
        return *(const int32_t *)p;
    case COLUMN_BOOL:
        return *(const bool *)p;
    default:
        return *(const int64_t *)p;
    }
}

static inline bool column_known (const column_t *column, const void *row)
{
    if (column_is_text (column))
        return column_text (column, row) != NULL;
    return !(column->flags & COLUMN_NULLABLE)
           || column_number (column, row) != column->unknown;
}

static inline void column_put_number (const column_t *column, void *row,
                                      int64_t number)
{
    void *p = (char *)row + column->offset;

    switch (column->type) {
    case COLUMN_U32:
        *(uint32_t *)p = (uint32_t)number;
        break;
    case COLUMN_I32:
        *(int32_t *)p = (int32_t)number;
        break;
    case COLUMN_BOOL:
        *(bool *)p = number != 0;
        break;
    default:
        *(int64_t *)p = number;
        break;
    }
}

static inline void column_put_text (const column_t *column, void *row,
                                    const char *text)
{
    if (column->flags & COLUMN_EMPTY && text && !*text)
        text = NULL;
    *(const char **)((char *)row + column->offset) = text;
}

/* Of texts and numbers: NULL before "" before everything else, then by value.
 */
int column_compare (const column_t *column, const void *a, const void *b);
void column_copy (const column_t *column, void *to, const void *from);
void column_forget (const column_t *column, void *row); /* makes it unknown */
/* The value of a result column. */
value_t column_read (const column_t *column, const db_statement_t *st,
                     unsigned at);

/* --- writing: in a transaction -------------------------------------------- */

/* The values of a row for INSERT, one a column but for joined ones; what is
 * shared is written. Returns how many, or -1. Borrowed from the row. */
int row_values (store_t *store, const row_type_t *type, uint64_t cluster,
                const void *row, value_t *values, gl_error_t *error);

/* INSERT of a row that is new; INSERT unless the key exists: 1, or 0; REPLACE.
 */
int row_add (store_t *store, const row_type_t *type, uint64_t cluster,
             const void *row, gl_error_t *error);
int row_add_new (store_t *store, const row_type_t *type, uint64_t cluster,
                 const void *row, gl_error_t *error);
int row_put (store_t *store, const row_type_t *type, uint64_t cluster,
             const void *row, gl_error_t *error);
/* The statements of these for callers that bind values themselves. */
typedef enum {
    ROW_ADD,
    ROW_ADD_NEW,
    ROW_ADD_MANY,   /* ROWS_AT_ONCE */
    ROW_ADD_SOME,   /* ROWS_OF_REST */
    ROW_ADD_SHARED, /* behind its digest */
    ROW_PUT,
    ROW_GET,
    ROW_FIND, /* the id of a shared row, by its digest */
} row_verb_t;
/* A server is asked once for so many: it takes longer to ask than to answer. */
#define ROWS_AT_ONCE 128
#define ROWS_OF_REST 8
db_statement_t *row_statement (store_t *store, const row_type_t *type,
                               row_verb_t verb, gl_error_t *error);

/* The row of the same key, with its hidden columns: 1; 0; -1. Its cluster is
 * left alone. Strings are borrowed until row_release(), which is due in any
 * case. */
int row_get (store_t *store, const row_type_t *type, uint64_t cluster,
             const void *key, void *ret_row, gl_error_t *error);
void row_release (store_t *store, const row_type_t *type);

/*
 * Of two rows of one key the better one stands. Rows that are `seen` (the
 * member of that offset, an instant; NOT_SEEN: there is none): the later one,
 * at the same moment the greater one, or if that moment is `reread` the fresh
 * one. Rows are compared by their columns, in the order of the table. Writes
 * the fresh row where it is the better one, and counts it.
 */
typedef enum {
    ROW_STANDS, /* the one in the store */
    ROW_SEEN,   /* the fresh one, which only was seen later */
    ROW_REPLACED,
    ROW_INSERTED,
} row_verdict_t;
#define NOT_SEEN SIZE_MAX
struct row_put {
    const row_type_t *type;
    uint64_t cluster;
    size_t seen;
    int64_t reread; /* 0: no moment is */
};
/* A row_verdict_t or -1. old: room for a row, whose numbers are those of the
 * stored one. ret_differ: a bit for each column that differs. Both may be NULL.
 */
int row_put_better (store_t *store, const struct row_put *put,
                    const void *fresh, void *old, uint64_t *ret_differ,
                    store_counts_t *counts, gl_error_t *error);

/* --- reading -------------------------------------------------------------- */

/* "t.a, t.b, x2.value" and " LEFT JOIN ..." for the columns of a row; the table
 * is called t. `ids`: what is shared is left as its id. */
void row_select (const row_type_t *type, bool hidden, bool ids,
                 buffer_t *columns, buffer_t *joins);
/* The columns of row_select() into the struct; its cluster is left alone. -1
 * where a value is damaged. */
int row_read (const row_type_t *type, bool hidden, const db_statement_t *st,
              void *row, gl_error_t *error);

/* Likewise where `ids` were selected: lookups has one for each column whose id
 * stands for something, else NULL. `looked_up`: the number of a
 * column that is set already and stays as it is; 0: there is none. */
int row_read_ids (const row_type_t *type, lookup_t *const *lookups,
                  unsigned looked_up, const db_statement_t *st, void *row,
                  gl_error_t *error);

/* All rows of a statement that selects as row_select() does without hidden
 * columns, as an array; texts are copies. Free with row_list_free(). */
int row_list (store_t *store, const row_type_t *type, const char *tail,
              const value_t *args, size_t arg_count, void *ret_rows,
              size_t *ret_count, gl_error_t *error);
void row_list_free (const row_type_t *type, void *rows, size_t count);
/* Replace the texts of a row by copies, or free them. */
void row_own (const row_type_t *type, void *row);
void row_disown (const row_type_t *type, void *row);

#endif /* !GL_STORE_ROW_H */
