#include "store/schema.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"

/* --- parts -------------------------------------------------------------- */

/* A part of a schema: "column chain.kind" is "tinyint unsigned not null". */
typedef struct {
    char *name;
    char *text;
} part_t;

typedef struct {
    part_t *item;
    size_t count;
    char *table; /* while a script is read: the one whose lines follow */
} parts_t;

/* Takes both texts. */
static void add_part (parts_t *parts, char *name, char *text)
{
    *GL_APPEND (parts->item, parts->count) = (part_t){name, text};
}

static void clear_parts (parts_t *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        free (parts->item[i].name);
        free (parts->item[i].text);
    }
    free (parts->item);
    free (parts->table);
}

static int by_name (const void *a, const void *b)
{
    const part_t *x = a, *y = b;
    int order = strcmp (x->name, y->name);

    return order ? order : strcmp (x->text, y->text);
}

static void sort (parts_t *parts)
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
    "FROM information_schema.tables WHERE table_schema = DATABASE() "
    "AND table_type <> 'VIEW'",
    /* its text is read by those who may: the digest is of what the server printed
     * when the view was made */
    "SELECT concat('view ', table_name), CASE WHEN security_type <> 'DEFINER' "
    "THEN lower(security_type) WHEN coalesce(view_definition, '') = '' "
    "OR sha2(view_definition, 256) = (SELECT CONVERT(value USING utf8mb4) "
    "FROM meta WHERE name = concat('" SCHEMA_VIEW_DIGEST "', table_name)) "
    "THEN 'as it was made' ELSE 'another text' END "
    "FROM information_schema.views WHERE table_schema = DATABASE()",
    "SELECT concat('column ', table_name, '.', column_name), concat("
    "CASE WHEN data_type LIKE '%int' THEN concat(data_type, CASE WHEN "
    "column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) "
    "ELSE column_type END, CASE is_nullable WHEN 'NO' THEN ' not null' "
    "ELSE '' END, coalesce(concat(' default ', nullif(column_default, "
    "'NULL')), ''), CASE extra WHEN '' THEN '' ELSE concat(' ', lower(extra)) "
    "END) FROM information_schema.columns AS c WHERE table_schema = DATABASE() "
    "AND NOT EXISTS (SELECT 1 FROM information_schema.views AS v WHERE "
    "v.table_schema = c.table_schema AND v.table_name = c.table_name)",
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

static int read_parts (db_t *db, const char *sql, parts_t *parts,
                       gl_error_t *error)
{
    db_statement_t *st = db_prepare (db, sql, error);
    int rc = st ? 1 : -1;

    while (rc == 1 && (rc = db_step (st, error)) == 1) {
        const char *name = db_column_text (st, 0),
                   *text = db_column_text (st, 1);
        add_part (parts, xstrdup (name ? name : "?"),
                  one_line (text ? text : ""));
    }
    db_finalize (st);
    return rc;
}

static int read_actual (db_t *db, parts_t *parts, gl_error_t *error)
{
    if (db_engine (db) == DB_SQLITE)
        return read_parts (db, in_sqlite, parts, error);
    for (size_t i = 0; i < GL_ARRAY_SIZE (in_mysql); i++)
        if (read_parts (db, in_mysql[i], parts, error) < 0)
            return -1;
    return 0;
}

/* --- what is to be there ------------------------------------------------- */

/* Cut `end` off the text, if it ends so. */
static bool cut_end (char *text, const char *end)
{
    size_t length = strlen (text), cut = strlen (end);

    if (length < cut || strcmp (text + length - cut, end) != 0)
        return false;
    text[length - cut] = '\0';
    return true;
}

static void add_index (parts_t *parts, const char *name, const char *kind,
                       const char *columns)
{
    add_part (parts, xasprintf ("index %s.%s", parts->table, name),
              xasprintf ("%s(%s)", kind, columns));
}

/* "body MEDIUMBLOB NOT NULL" */
static void add_column (parts_t *parts, const char *name, const char *type)
{
    GL_AUTOFREE char *text = xstrdup (type);

    for (char *p = text; *p; p++)
        *p = (char)tolower ((unsigned char)*p);
    if (cut_end (text, " primary key"))
        add_index (parts, "PRIMARY", "unique ", name);
    if (cut_end (text, " unique"))
        add_index (parts, name, "unique ", name);
    add_part (parts, xasprintf ("column %s.%s", parts->table, name),
              GL_TAKE (text));
}

/* A line of sql/mysql.sql. */
static void add_line (parts_t *parts, const char *line)
{
    char name[65], rest[256];

    if (sscanf (line, "CREATE TABLE IF NOT EXISTS %64[a-z_]", name) == 1) {
        free (parts->table);
        parts->table = xstrdup (name);
        add_part (parts, xasprintf ("table %s", name),
                  xstrdup ("innodb binary"));
    } else if (sscanf (line, " PRIMARY KEY (%255[^)])", rest) == 1)
        add_index (parts, "PRIMARY", "unique ", rest);
    else if (sscanf (line, " KEY %64s (%255[^)])", name, rest) == 2)
        add_index (parts, name, "", rest);
    else if (sscanf (line, "    %64[a-z_] %255[^,\n]", name, rest) == 2)
        add_column (parts, name, rest);
}

static int add_statement (const char *sql, void *arg, gl_error_t *error)
{
    GL_AUTOFREE char *text = xstrdup (sql);
    char *at = text, *line;

    (void)error;
    while (!strncmp (sql, "CREATE", 6) && (line = strsep (&at, "\n")))
        add_line (arg, line);
    return 0;
}

static void expect_view (const char *name, const char *sql, void *arg)
{
    (void)sql;
    add_part (arg, xasprintf ("view %s", name), xstrdup ("as it was made"));
}

struct views {
    db_t *memory;
    int rc;
    gl_error_t *error;
};

static void make_view (const char *name, const char *sql, void *arg)
{
    struct views *v = arg;

    (void)name;
    if (v->rc == 0)
        v->rc = db_exec (v->memory, sql, v->error);
}

/* SQLite makes the tables in memory. In MySQL that wants rights that gpuledger
 * does not have: the text is read. */
static int read_expected (db_t *db, parts_t *parts, gl_error_t *error)
{
    struct views views;
    db_t *memory;
    int rc;

    if (db_engine (db) == DB_MYSQL)
        return schema_each (db, add_statement, parts, error) < 0
                       || schema_each_view (db, expect_view, parts, error) < 0
                   ? -1
                   : 0;
    memory
        = db_open ("sqlite::memory:", db_is_ledger (db) ? DB_LEDGER : 0, error);
    if (!memory)
        return -1;
    rc = schema_make (memory, NULL, error);
    views = (struct views){memory, 0, error};
    if (rc == 0)
        rc = schema_each_view (db, make_view, &views, error);
    if (rc == 0)
        rc = views.rc;
    if (rc == 0)
        rc = read_parts (memory, in_sqlite, parts, error);
    db_close (memory);
    return rc;
}

/* --- comparing ----------------------------------------------------------- */

struct checking {
    db_t *db;
    schema_problem_f callback;
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

static void compare (const struct checking *c, const parts_t *is,
                     const parts_t *should)
{
    size_t i = 0, k = 0;

    while (i < is->count || k < should->count) {
        const part_t *a = i < is->count ? &is->item[i] : NULL;
        const part_t *b = k < should->count ? &should->item[k] : NULL;
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

/* SQLite before 3.37 has no strict tables: a store that was made with it has none. One
 * table without its types next to others that have them was changed. */
#define STRICT " STRICT"

static char *find_strict (const part_t *part)
{
    char *at = strncmp (part->name, "table ", 6) == 0
                   ? strstr (part->text, ")" STRICT)
                   : NULL;

    return at ? at + 1 : NULL;
}

static bool has_strict (const parts_t *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        if (find_strict (&parts->item[i]))
            return true;
    return false;
}

static void drop_strict (parts_t *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        char *at = find_strict (&parts->item[i]), *rest;
        if (!at)
            continue;
        rest = at + strlen (STRICT);
        rest += *rest == ',';
        memmove (at, rest, strlen (rest) + 1);
    }
}

static int compare_schemas (const struct checking *c, parts_t *should,
                            gl_error_t *error)
{
    parts_t is = {0};
    int rc = read_actual (c->db, &is, error);

    if (rc == 0)
        rc = read_expected (c->db, should, error);
    if (rc == 0 && !has_strict (&is))
        drop_strict (should);
    if (rc == 0) {
        sort (&is);
        sort (should);
        compare (c, &is, should);
    }
    clear_parts (&is);
    return rc;
}

/* --- the engine's own check ---------------------------------------------- */

/* Of facts without comparing indices with their tables, which takes most of the time:
 * no hash is over facts, and who can change their indices can change them. */
static int check_sqlite (const struct checking *c, gl_error_t *error)
{
    db_statement_t *st = db_prepare (
        c->db,
        db_is_ledger (c->db) ? "PRAGMA integrity_check" : "PRAGMA quick_check",
        error);
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
static int check_mysql (const struct checking *c, const parts_t *should,
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

int schema_check (db_t *db, schema_problem_f callback, void *arg,
                  gl_error_t *error)
{
    const struct checking c = {db, callback, arg};
    parts_t should = {0};
    int rc = compare_schemas (&c, &should, error);

    if (rc == 0)
        rc = db_engine (db) == DB_SQLITE ? check_sqlite (&c, error)
                                         : check_mysql (&c, &should, error);
    clear_parts (&should);
    return rc;
}
