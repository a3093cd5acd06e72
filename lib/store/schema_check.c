#include "store/schema_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "store/migrate.h"
#include "store/schema_private.h"

/* --- parts -------------------------------------------------------------- */

void schema_add (schema_parts_t *parts, char *name, char *text)
{
    parts->item
        = xreallocarray (parts->item, parts->count + 1, sizeof (*parts->item));
    parts->item[parts->count++] = (schema_part_t){name, text};
}

void schema_drop (schema_parts_t *parts, const char *name)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (strcmp (parts->item[i].name, name) != 0)
            continue;
        free (parts->item[i].name);
        free (parts->item[i].text);
        parts->item[i] = parts->item[--parts->count];
        return;
    }
}

void schema_parts_clear (schema_parts_t *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        free (parts->item[i].name);
        free (parts->item[i].text);
    }
    free (parts->item);
    *parts = (schema_parts_t){NULL, 0};
}

static int by_name (const void *a, const void *b)
{
    const schema_part_t *x = a, *y = b;
    int order = strcmp (x->name, y->name);

    return order ? order : strcmp (x->text, y->text);
}

static void sort (schema_parts_t *parts)
{
    if (parts->count > 1)
        qsort (parts->item, parts->count, sizeof (*parts->item), by_name);
}

/* --- what is there ------------------------------------------------------- */

/* What the engine makes for itself, statistics for one, is nobody's part. */
static const char in_sqlite[]
    = "SELECT type || ' ' || name, coalesce(sql, tbl_name) FROM sqlite_schema "
      "WHERE name NOT LIKE 'sqlite!_stat%' ESCAPE '!' "
      "AND name <> 'sqlite_sequence'";

/* Integers have a width for display in some versions, and an absent default is
 * NULL or the word. */
static const char *const in_mysql[] = {
    "SELECT concat(CASE table_type WHEN 'BASE TABLE' THEN 'table' "
    "ELSE lower(table_type) END, ' ', table_name), concat(coalesce(lower("
    "engine), ''), ' ', coalesce(lower(table_collation), '')) "
    "FROM information_schema.tables WHERE table_schema = DATABASE()",
    "SELECT concat('column ', table_name, '.', column_name), concat("
    "CASE WHEN data_type LIKE '%int' THEN concat(data_type, CASE WHEN "
    "column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) "
    "ELSE column_type END, CASE is_nullable WHEN 'NO' THEN ' not null' "
    "ELSE '' END, coalesce(concat(' default ', nullif(column_default, "
    "'NULL')), ''), CASE extra WHEN '' THEN '' ELSE concat(' ', lower(extra)) "
    "END) FROM information_schema.columns WHERE table_schema = DATABASE()",
    "SELECT concat('index ', table_name, '.', index_name), concat("
    "CASE non_unique WHEN 0 THEN 'unique (' ELSE '(' END, group_concat("
    "concat(coalesce(column_name, '?'), coalesce(concat('(', sub_part, ')'), "
    "'')) ORDER BY seq_in_index SEPARATOR ', '), ')') "
    "FROM information_schema.statistics WHERE table_schema = DATABASE() "
    "GROUP BY table_name, index_name, non_unique",
    "SELECT concat(lower(constraint_type), ' ', table_name, '.', "
    "constraint_name), '' FROM information_schema.table_constraints "
    "WHERE table_schema = DATABASE() "
    "AND constraint_type NOT IN ('PRIMARY KEY', 'UNIQUE')",
    "SELECT concat('trigger ', trigger_name), event_object_table "
    "FROM information_schema.triggers WHERE trigger_schema = DATABASE()",
    "SELECT concat(lower(routine_type), ' ', routine_name), '' "
    "FROM information_schema.routines WHERE routine_schema = DATABASE()",
    "SELECT concat('event ', event_name), '' FROM information_schema.events "
    "WHERE event_schema = DATABASE()",
};

/* SQLite keeps the text as it was typed. Yours. */
static char *one_line (const char *text)
{
    buffer_t line = BUFFER_INIT;

    for (text += strspn (text, " \t\n"); *text;) {
        size_t length = strcspn (text, " \t\n");
        buffer_add (&line, text, length);
        text += length;
        text += strspn (text, " \t\n");
        if (*text)
            buffer_add_char (&line, ' ');
    }
    return buffer_take (&line);
}

static int read_parts (db_t *db, const char *sql, schema_parts_t *parts,
                       gl_error_t *error)
{
    db_statement_t *st = db_prepare (db, sql, error);
    int rc = st ? 1 : -1;

    while (rc == 1 && (rc = db_step (st, error)) == 1) {
        const char *name = db_column_text (st, 0),
                   *text = db_column_text (st, 1);
        schema_add (parts, xstrdup (name ? name : "?"),
                    one_line (text ? text : ""));
    }
    db_finalize (st);
    return rc;
}

static int read_actual (db_t *db, schema_parts_t *parts, gl_error_t *error)
{
    if (db_engine (db) == DB_SQLITE)
        return read_parts (db, in_sqlite, parts, error);
    for (size_t i = 0; i < GL_ARRAY_SIZE (in_mysql); i++)
        if (read_parts (db, in_mysql[i], parts, error) < 0)
            return -1;
    return 0;
}

/* --- what is to be there ------------------------------------------------- */

static int take_statement (const char *sql, void *arg, gl_error_t *error)
{
    return schema_read_mysql (arg, sql, error);
}

static int read_expected (db_t *db, schema_parts_t *parts, gl_error_t *error)
{
    db_t *memory;
    int rc;

    if (db_engine (db) == DB_MYSQL)
        return migrate_each (DB_MYSQL, take_statement, parts, error);
    memory = db_open ("sqlite::memory:", 0, error);
    if (!memory)
        return -1;
    rc = migrate_apply (memory, error);
    if (rc == 0)
        rc = read_parts (memory, in_sqlite, parts, error);
    db_close (memory);
    return rc;
}

/* --- comparing ----------------------------------------------------------- */

struct checking {
    db_t *db;
    schema_check_f callback;
    void *arg;
};

static void say (const struct checking *c, const char *fmt, ...)
    __attribute__ ((format (printf, 2, 3)));

static void say (const struct checking *c, const char *fmt, ...)
{
    char text[2048];
    va_list ap;

    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    c->callback (text, c->arg);
}

static void compare (const struct checking *c, const schema_parts_t *is,
                     const schema_parts_t *should)
{
    size_t i = 0, k = 0;

    while (i < is->count || k < should->count) {
        const schema_part_t *a = i < is->count ? &is->item[i] : NULL;
        const schema_part_t *b = k < should->count ? &should->item[k] : NULL;
        int order = !a ? 1 : !b ? -1 : strcmp (a->name, b->name);
        if (order < 0)
            say (c, "gpuledger did not make this part of the schema: %s%s%s",
                 a->name, *a->text ? ": " : "", a->text);
        else if (order > 0)
            say (c, "this part of the schema is missing: %s", b->name);
        else if (strcmp (a->text, b->text) != 0)
            say (c,
                 "gpuledger did not make this part of the schema so: %s: it is "
                 "'%s', and is to be '%s'",
                 a->name, a->text, b->text);
        i += order <= 0;
        k += order >= 0;
    }
}

static int compare_schemas (const struct checking *c, schema_parts_t *should,
                            gl_error_t *error)
{
    schema_parts_t is = {NULL, 0};
    int rc = read_actual (c->db, &is, error);

    if (rc == 0)
        rc = read_expected (c->db, should, error);
    if (rc == 0) {
        sort (&is);
        sort (should);
        compare (c, &is, should);
    }
    schema_parts_clear (&is);
    return rc;
}

/* --- the engine's own check ---------------------------------------------- */

static int check_sqlite (const struct checking *c, gl_error_t *error)
{
    db_statement_t *st = db_prepare (c->db, "PRAGMA integrity_check", error);
    int rc = st ? 1 : -1;

    while (rc == 1 && (rc = db_step (st, error)) == 1) {
        const char *text = db_column_text (st, 0);
        if (!text || strcmp (text, "ok") != 0)
            say (c, "SQLite's integrity check: %s", text ? text : "?");
    }
    db_finalize (st);
    return rc;
}

/* A row is table, operation, kind of message, message: a note is not an error.
 */
static int check_mysql (const struct checking *c, const schema_parts_t *should,
                        gl_error_t *error)
{
    BUFFER_AUTO sql = BUFFER_INIT;
    db_statement_t *st;
    int rc = 1;

    for (size_t i = 0; i < should->count; i++)
        if (!strncmp (should->item[i].name, "table ", 6))
            buffer_printf (&sql, "%s `%s`", sql.length ? "," : "CHECK TABLE",
                           should->item[i].name + 6);
    st = db_query (c->db, buffer_text (&sql), error);
    if (!st)
        return -1;
    while (rc == 1 && (rc = db_step (st, error)) == 1) {
        const char *table = db_column_text (st, 0),
                   *kind = db_column_text (st, 2);
        const char *text = db_column_text (st, 3);
        if (kind && strcmp (kind, "note") != 0
            && (strcmp (kind, "status") != 0 || !text
                || strcmp (text, "OK") != 0))
            say (c, "CHECK TABLE %s: %s: %s", table ? table : "?", kind,
                 text ? text : "?");
    }
    db_finalize (st);
    return rc;
}

int schema_check (db_t *db, schema_check_f callback, void *arg,
                  gl_error_t *error)
{
    const struct checking c = {db, callback, arg};
    schema_parts_t should = {NULL, 0};
    int rc = compare_schemas (&c, &should, error);

    if (rc == 0)
        rc = db_engine (db) == DB_SQLITE ? check_sqlite (&c, error)
                                         : check_mysql (&c, &should, error);
    schema_parts_clear (&should);
    return rc;
}
