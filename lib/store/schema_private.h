/* schema_private.h: parts of a schema as name and definition, shared by the
 * comparison and by the reader of MySQL's scripts. */
#ifndef GL_STORE_SCHEMA_PRIVATE_H
#define GL_STORE_SCHEMA_PRIVATE_H

#include <stddef.h>

#include "base/error.h"

typedef struct {
    char *name; /* "column chain.kind" */
    char *text; /* "tinyint unsigned not null" */
} schema_part_t;

typedef struct {
    schema_part_t *item;
    size_t count;
} schema_parts_t;

/* Takes both texts. */
void schema_add (schema_parts_t *parts, char *name, char *text);
void schema_drop (schema_parts_t *parts, const char *name);
void schema_parts_clear (schema_parts_t *parts);

/* What the statement of a script of MySQL makes, in the words of the queries of
 * schema_check.c. -1: a statement that it cannot read, which is a defect. */
int schema_read_mysql (schema_parts_t *parts, const char *sql,
                       gl_error_t *error);

#endif /* !GL_STORE_SCHEMA_PRIVATE_H */
