/*
 * Reads what sql/mysql says: CREATE TABLE, CREATE INDEX and ALTER TABLE with
 * ADD COLUMN, ADD KEY and DROP KEY. Other statements make no part of a schema.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "store/schema_private.h"

struct reader {
    const char *at;
    char token[128]; /* "": the end */
    schema_parts_t *parts;
    char table[128];
    bool failed;
};

static bool in_word (char c)
{
    return isalnum ((unsigned char)c) || c == '_';
}

/* Words, texts in quotes, and single characters. A comment such as
 * "/<asterisk>M! IF NOT EXISTS <asterisk>/" is none of them. */
static void next (struct reader *r)
{
    size_t length = 1;

    for (;;) {
        r->at += strspn (r->at, " \t\n");
        if (strncmp (r->at, "/*", 2) != 0)
            break;
        r->at = strstr (r->at, "*/") ? strstr (r->at, "*/") + 2 : "";
    }
    if (!*r->at)
        length = 0;
    else if (in_word (*r->at))
        while (in_word (r->at[length]))
            length++;
    else if (*r->at == '\'')
        length = strcspn (r->at + 1, "'") + 2;
    if (length >= sizeof (r->token) || length > strlen (r->at)) {
        r->failed = true;
        length = 0;
    }
    memcpy (r->token, r->at, length);
    r->token[length] = '\0';
    r->at += length;
}

static bool is (const struct reader *r, const char *word)
{
    return strcasecmp (r->token, word) == 0;
}

/* The word, if it is that one. */
static bool take (struct reader *r, const char *word)
{
    if (!is (r, word))
        return false;
    next (r);
    return true;
}

static void want (struct reader *r, const char *word)
{
    if (!take (r, word))
        r->failed = true;
}

static void add_lower (buffer_t *out, const char *text)
{
    for (; *text; text++)
        buffer_add_char (out, (char)tolower ((unsigned char)*text));
}

/* "(cluster, id_job)" */
static void take_columns (struct reader *r, buffer_t *out)
{
    want (r, "(");
    buffer_add_char (out, '(');
    while (!r->failed && *r->token && !is (r, ")")) {
        buffer_add_text (out, r->token);
        next (r);
        if (take (r, ","))
            buffer_add_text (out, ", ");
    }
    want (r, ")");
    buffer_add_char (out, ')');
}

static void take_index (struct reader *r, const char *name, bool unique)
{
    BUFFER_AUTO text = BUFFER_INIT;

    buffer_add_text (&text, unique ? "unique " : "");
    take_columns (r, &text);
    schema_add (r->parts, xasprintf ("index %s.%s", r->table, name),
                buffer_take (&text));
}

static void take_named_index (struct reader *r, bool unique)
{
    GL_AUTOFREE char *name = xstrdup (r->token);

    next (r);
    take_index (r, name, unique);
}

static void take_type (struct reader *r, buffer_t *out)
{
    add_lower (out, r->token);
    next (r);
    if (take (r, "(")) {
        buffer_printf (out, "(%s)", r->token);
        next (r);
        want (r, ")");
    }
    if (take (r, "unsigned"))
        buffer_add_text (out, " unsigned");
}

/* An index of the column alone, as PRIMARY KEY or UNIQUE behind it makes it. */
static void add_own_index (struct reader *r, const char *index,
                           const char *column)
{
    schema_add (r->parts, xasprintf ("index %s.%s", r->table, index),
                xasprintf ("unique (%s)", column));
}

static void take_column (struct reader *r)
{
    GL_AUTOFREE char *name = xstrdup (r->token);
    BUFFER_AUTO text = BUFFER_INIT;
    bool more = true;

    next (r);
    take_type (r, &text);
    while (more && !r->failed) {
        if (take (r, "not")) {
            want (r, "null");
            buffer_add_text (&text, " not null");
        } else if (take (r, "default")) {
            buffer_printf (&text, " default %s", r->token);
            next (r);
        } else if (take (r, "auto_increment"))
            buffer_add_text (&text, " auto_increment");
        else if (take (r, "primary")) {
            want (r, "key");
            add_own_index (r, "PRIMARY", name);
        } else if (take (r, "unique"))
            add_own_index (r, name, name);
        else
            more = false;
    }
    schema_add (r->parts, xasprintf ("column %s.%s", r->table, name),
                buffer_take (&text));
}

static void take_table_name (struct reader *r)
{
    strcpy (r->table, r->token);
    next (r);
}

static void take_create_table (struct reader *r)
{
    if (take (r, "if")) {
        want (r, "not");
        want (r, "exists");
    }
    take_table_name (r);
    schema_add (r->parts, xasprintf ("table %s", r->table),
                xstrdup ("innodb binary"));
    want (r, "(");
    do {
        if (take (r, "primary")) {
            want (r, "key");
            take_index (r, "PRIMARY", true);
        } else if (take (r, "key"))
            take_named_index (r, false);
        else
            take_column (r);
    } while (!r->failed && take (r, ","));
    want (r, ")");
    want (r, "engine");
    want (r, "=");
    want (r, "innodb");
    want (r, "default");
    want (r, "charset");
    want (r, "=");
    want (r, "binary");
}

static void take_create_index (struct reader *r)
{
    GL_AUTOFREE char *name = xstrdup (r->token);

    next (r);
    want (r, "on");
    take_table_name (r);
    take_index (r, name, false);
}

static void take_change (struct reader *r)
{
    if (take (r, "add")) {
        if (take (r, "column"))
            take_column (r);
        else if (take (r, "key"))
            take_named_index (r, false);
        else
            r->failed = true;
    } else if (take (r, "drop")) {
        GL_AUTOFREE char *name = NULL;
        want (r, "key");
        name = xasprintf ("index %s.%s", r->table, r->token);
        schema_drop (r->parts, name);
        next (r);
    } else
        r->failed = true;
}

static void take_alter (struct reader *r)
{
    want (r, "table");
    take_table_name (r);
    do
        take_change (r);
    while (!r->failed && take (r, ","));
}

int schema_read_mysql (schema_parts_t *parts, const char *sql,
                       gl_error_t *error)
{
    struct reader r = {.at = sql, .parts = parts};

    next (&r);
    if (take (&r, "create")) {
        if (take (&r, "table"))
            take_create_table (&r);
        else {
            want (&r, "index");
            take_create_index (&r);
        }
    } else if (take (&r, "alter"))
        take_alter (&r);
    else if (is (&r, "drop"))
        r.failed = true;
    else
        return 0;
    if (r.failed || *r.token)
        return gl_error (error,
                         "a defect: the schema's statement '%.60s...' is not "
                         "understood near '%s'",
                         sql, r.token);
    return 0;
}
