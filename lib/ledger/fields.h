/*
 * fields.h: rows of a month described by one table: a field's name, type and place.
 * The table initialises, copies, adds, compares, writes and reads rows.
 *
 * Canonical text, which hashes are made over: "name=value" fields in the order of the
 * table, separated by one tab, absent texts and zeros left out, with \ \t \n
 * escaped by a backslash; rationals in lowest terms "n/d" or "n", units as integers.
 * The same row, the same bytes.
 *
 * A row owns its texts and numbers. Pure.
 */
#ifndef GL_LEDGER_FIELDS_H
#define GL_LEDGER_FIELDS_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"

typedef enum {
    FIELD_WORD,  /* an enum (unsigned), never absent */
    FIELD_FLAG,  /* bool: written as 1, or left out */
    FIELD_TEXT,  /* char *; NULL: absent */
    FIELD_NAME,  /* const char *, borrowed; NULL: absent; not of fields_parse()
                  */
    FIELD_EXACT, /* mpq_t */
    FIELD_UNITS, /* mpz_t, smallest units of the currency */
    FIELD_COUNT, /* uint64_t: of how many, added up */
} field_type_t;

typedef struct fields_apart fields_apart_t;

typedef struct {
    const char *name;
    field_type_t type;
    size_t offset;
    const char *(*word) (
        unsigned value);         /* of FIELD_WORD; NULL past the last */
    const fields_apart_t *apart; /* the block it is in; NULL: the row */
} field_t;

/* The fields of one kind of row. */
typedef struct {
    const char *what; /* "row": for messages */
    size_t size;      /* of the struct */
    const field_t *field;
    size_t count;
} fields_t;

/* Fields that few rows have are in a block that a row points to, and owns: it is allocated with
 * the first of them that is set. */
struct fields_apart {
    size_t at;          /* of the pointer, in the row */
    fields_t block;     /* its fields by themselves, none of them apart */
    const void *absent; /* a block of zeros and NULLs */
};

/* Rows of tables: FIELD ("pool", TEXT, posting_t, pool). */
#define FIELD(name, kind, type, member)                         \
    {                                                           \
        name, FIELD_##kind, offsetof (type, member), NULL, NULL \
    }
#define FIELD_WORDS(name, type, member, words)                 \
    {                                                          \
        name, FIELD_WORD, offsetof (type, member), words, NULL \
    }
#define FIELD_APART(name, kind, type, member, apart)             \
    {                                                            \
        name, FIELD_##kind, offsetof (type, member), NULL, apart \
    }
#define FIELDS(what, type, table)                         \
    {                                                     \
        what, sizeof (type), table, GL_ARRAY_SIZE (table) \
    }

/* Zeros and NULLs. */
void fields_init (const fields_t *fields, void *row);
void fields_clear (const fields_t *fields, void *row);
/* Zeros and NULLs again. */
void fields_reset (const fields_t *fields, void *row);
void field_reset (const field_t *field, void *row);
/* Into an initialised row. */
void fields_copy (const fields_t *fields, void *to, const void *from);
/* Hands over texts and numbers, of an initialised row to another one. */
void fields_move (const fields_t *fields, void *to, void *from);
/* The measures, by sign: to += from, or to -= from. */
void fields_add (const fields_t *fields, void *to, const void *from, int sign);
/* All measures are 0. */
bool fields_are_zero (const fields_t *fields, const void *row);

/* The field of that name; NULL: the rows have none. */
const field_t *field_named (const fields_t *fields, const char *name);
/* A number that adds up; other fields are keys. */
static inline bool field_is_measure (const field_t *field)
{
    return field->type >= FIELD_EXACT;
}
/* One field of fields_copy() and fields_add(). */
void field_copy (const field_t *field, void *to, const void *from);
void field_add (const field_t *field, void *to, const void *from, int sign);
/* By value, texts bytewise, absent first: <0, 0, >0. */
int field_compare (const field_t *field, const void *a, const void *b);

/* The canonical text, onto `out`. */
void fields_text (const fields_t *fields, const void *row, buffer_t *out);
/* Into an initialised row; -1 with what is wrong in the text. */
int fields_parse (const fields_t *fields, const char *text, size_t length,
                  void *row, gl_error_t *error);

/* The row's own block, allocated if it has none yet. */
void *fields_block (const fields_apart_t *apart, void *row);
/* Where a text is; NULL: the row has no block for it. The second makes the block. */
char **field_text_at (const field_t *field, void *row);
char **field_own_text (const field_t *field, void *row);
bool field_is_absent (const field_t *field, const void *row);
/* The value alone, which is not absent; escaped, as in the canonical text. */
void field_value (const field_t *field, const void *row, buffer_t *out);
void field_text (const field_t *field, const void *row, buffer_t *out);
/* Of a value that is not escaped, into an initialised row; not of a FIELD_NAME. False:
 * it is not as written here. */
bool field_set (const field_t *field, void *row, const char *value,
                size_t length);
/* Of an escaped value, of so many bytes and a NUL; the text is changed, and
 * borrowed by a FIELD_NAME. */
bool field_read (const field_t *field, void *row, char *text, size_t length);

/* A text of buffer_add_escaped() back; NULL if a backslash stands before anything
 * else. */
char *fields_unescape (const char *text, size_t length);

#endif /* !GL_LEDGER_FIELDS_H */
