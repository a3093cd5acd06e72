/* table.h: a CSV file (RFC 4180) in memory, read without the product's code. */
#ifndef GL_TESTS_FOCUS_TABLE_H
#define GL_TESTS_FOCUS_TABLE_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char **column;
    size_t columns;
    char ***row; /* "" is null */
    size_t rows;
} table_t;

/* Exits with a message where the file is no such table. */
table_t *table_read (const char *path);

/* -1: there is none. */
int table_column (const table_t *table, const char *name);
/* It has what 1.4 added. */
bool table_is_1_4 (const table_t *table);
/* "" where the column is not there. */
const char *table_cell (const table_t *table, size_t row, const char *column);
void table_set (table_t *table, size_t row, const char *column,
                const char *value);

/* Digits with one point in them: false for anything else. */
bool decimal_parse (const char *text, mpq_t value);
void decimal_add (mpq_t sum, const char *text);

#endif /* !GL_TESTS_FOCUS_TABLE_H */
