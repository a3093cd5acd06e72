/* The lists of a closed month as rows with columns: written with the entries of
 * the chain, whose bodies are "name=value" fields separated by tabs, and
 * compared with them. The columns of a table are the fields in their order. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/chain.h"
#include "store/store_private.h"

static const char *const tables[CHAIN_KIND_COUNT] = {
    [CHAIN_ROW] = "closed_posting",
    [CHAIN_COST] = "closed_cost",
    [CHAIN_POOL] = "closed_pool",
    [CHAIN_ENTITLEMENT] = "closed_entitlement",
    [CHAIN_COMPARISON] = "closed_comparison",
    [CHAIN_DAY] = "closed_day",
};

/* Words of SQL cannot be columns. */
static const struct {
    const char *field, *column;
} renamed[] = {
    {"before", "before_units"},
    {"after", "after_units"},
    {"partition", "partition_name"},
};

/* entry, closed_month, version */
#define OWN_COLUMNS 3
#define COLUMNS_MAX 64

/* Yours. */
static char *field_of_column (const db_statement_t *st, unsigned at)
{
    char *column = db_column_name (st, at);

    for (size_t i = 0; column && i < GL_ARRAY_SIZE (renamed); i++) {
        if (strcmp (column, renamed[i].column) == 0) {
            free (column);
            return xstrdup (renamed[i].field);
        }
    }
    return column;
}

/* --- writing ------------------------------------------------------------ */

/* A value up to the tab, without its escapes. Yours. */
static char *take_value (const char **text)
{
    size_t length = strcspn (*text, "\t");
    char *value = xmalloc (length + 1), *to = value;

    for (size_t i = 0; i < length; i++) {
        char c = (*text)[i];
        if (c == '\\' && i + 1 < length)
            c = (*text)[++i] == 't' ? '\t' : (*text)[i] == 'n' ? '\n' : '\\';
        *to++ = c;
    }
    *to = '\0';
    *text += length + ((*text)[length] == '\t');
    return value;
}

/* The value of this field, if the text goes on with it; else NULL. */
static char *take_field (const char **text, const char *field)
{
    size_t length = strlen (field);

    if (strncmp (*text, field, length) != 0 || (*text)[length] != '=')
        return NULL;
    *text += length + 1;
    return take_value (text);
}

/* The row with no place, of which the columns are known. */
static db_statement_t *prepare_nothing (store_t *ledger, const char *table,
                                        gl_error_t *error)
{
    db_statement_t **st = store_statement (ledger, table, 1);
    char sql[96];

    snprintf (sql, sizeof (sql), "SELECT * FROM %s WHERE entry = 0", table);
    if (!*st)
        *st = db_prepare (ledger->db, sql, error);
    return *st;
}

static db_statement_t *prepare_insert (store_t *ledger, const char *table,
                                       unsigned count, gl_error_t *error)
{
    db_statement_t **st = store_statement (ledger, table, 2);
    BUFFER_AUTO sql = BUFFER_INIT;

    if (*st)
        return *st;
    buffer_printf (&sql, "INSERT INTO %s VALUES (?", table);
    for (unsigned i = 1; i < count; i++)
        buffer_add_text (&sql, ", ?");
    buffer_add_char (&sql, ')');
    *st = db_prepare (ledger->db, buffer_text (&sql), error);
    return *st;
}

static int insert_row (store_t *ledger, const chain_entry_t *e,
                       char *const *value, unsigned count, gl_error_t *error)
{
    db_statement_t *st = prepare_insert (ledger, tables[e->kind], count, error);

    if (!st)
        return -1;
    bind_values (
        st, 0,
        ARGS (as_u64 (e->number), as_text (e->month), as_u64 (e->version)));
    for (unsigned i = OWN_COLUMNS; i < count; i++)
        db_bind_text (st, i, value[i]);
    return db_run (st, error);
}

int store_columns_add (store_t *ledger, const chain_entry_t *e,
                       const char *body, gl_error_t *error)
{
    const char *table = tables[e->kind];
    db_statement_t *nothing;
    char *value[COLUMNS_MAX] = {NULL};
    unsigned count;
    int rc;

    if (!table)
        return 0;
    nothing = prepare_nothing (ledger, table, error);
    if (!nothing)
        return -1;
    count = db_column_count (nothing);
    for (unsigned i = OWN_COLUMNS; i < count && i < COLUMNS_MAX; i++) {
        GL_AUTOFREE char *field = field_of_column (nothing, i);
        value[i] = take_field (&body, field);
    }
    rc = *body ? gl_error (error, "%s has no column of '%.40s'", table, body)
               : insert_row (ledger, e, value, count, error);
    for (unsigned i = OWN_COLUMNS; i < count && i < COLUMNS_MAX; i++)
        free (value[i]);
    return rc;
}

/* --- comparing ---------------------------------------------------------- */

static void add_escaped (buffer_t *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char *escaped = text[i] == '\\'   ? "\\\\"
                              : text[i] == '\t' ? "\\t"
                              : text[i] == '\n' ? "\\n"
                                                : NULL;
        if (escaped)
            buffer_add_text (out, escaped);
        else
            buffer_add_char (out, text[i]);
    }
}

static bool same_column (const db_statement_t *st, unsigned a, unsigned b)
{
    size_t length = db_column_length (st, a);

    return length == db_column_length (st, b)
           && memcmp (db_column_text (st, a), db_column_text (st, b), length)
                  == 0;
}

/* The row: number, month, version and body of the entry, then the columns. */
#define ENTRY_COLUMNS 4
static bool is_same (const db_statement_t *st, char *const *field)
{
    BUFFER_AUTO text = BUFFER_INIT;

    for (unsigned i = ENTRY_COLUMNS + OWN_COLUMNS; i < db_column_count (st);
         i++) {
        if (db_column_is_null (st, i))
            continue;
        buffer_add_text (&text, text.length ? "\t" : "");
        buffer_add_text (&text, field[i]);
        buffer_add_char (&text, '=');
        add_escaped (&text, db_column_text (st, i), db_column_length (st, i));
    }
    return same_column (st, 1, ENTRY_COLUMNS + 1)
           && same_column (st, 2, ENTRY_COLUMNS + 2)
           && text.length == db_column_length (st, 3)
           && memcmp (buffer_text (&text), db_column_text (st, 3), text.length)
                  == 0;
}

static void look_at_row (const db_statement_t *st, char *const *field,
                         const char *table, chain_problem_f callback,
                         void *arg)
{
    char text[192];
    bool missing = db_column_is_null (st, ENTRY_COLUMNS);

    if (!missing && is_same (st, field))
        return;
    snprintf (text, sizeof (text), "%.7s: the row of entry %.20s in %s %s",
              db_column_text (st, 1), db_column_text (st, 0), table,
              missing ? "is missing" : "is not what was closed");
    callback (text, arg);
}

static int compare_rows (store_t *ledger, chain_kind_t kind,
                         chain_problem_f callback, void *arg, gl_error_t *error)
{
    GL_AUTOFREE char *sql = xasprintf (
        "SELECT c.number, c.month, c.version, c.body, t.* FROM chain c "
        "LEFT JOIN %s t ON t.entry = c.number WHERE c.kind = %u "
        "ORDER BY c.number",
        tables[kind], kind);
    db_statement_t *st = db_query (ledger->db, sql, error);
    char *field[ENTRY_COLUMNS + COLUMNS_MAX] = {NULL};
    int rc = st ? 1 : -1;

    while (rc == 1 && (rc = db_step (st, error)) == 1) {
        for (unsigned i = db_column_count (st); !field[0] && i-- > 0;)
            field[i] = field_of_column (st, i);
        look_at_row (st, field, tables[kind], callback, arg);
    }
    for (size_t i = 0; i < GL_ARRAY_SIZE (field); i++)
        free (field[i]);
    db_finalize (st);
    return rc;
}

static int find_others (store_t *ledger, chain_kind_t kind,
                        chain_problem_f callback, void *arg, gl_error_t *error)
{
    GL_AUTOFREE char *sql = xasprintf (
        "SELECT entry FROM %s WHERE entry NOT IN "
        "(SELECT number FROM chain WHERE kind = %u) ORDER BY entry",
        tables[kind], kind);
    db_statement_t *st = db_query (ledger->db, sql, error);
    int rc = st ? 1 : -1;
    char text[128];

    while (rc == 1 && (rc = db_step (st, error)) == 1) {
        snprintf (text, sizeof (text),
                  "%s has a row of entry %.20s, which is "
                  "none of its kind",
                  tables[kind], db_column_text (st, 0));
        callback (text, arg);
    }
    db_finalize (st);
    return rc;
}

int store_columns_check (store_t *ledger, chain_problem_f callback, void *arg,
                         gl_error_t *error)
{
    for (unsigned kind = 0; kind < CHAIN_KIND_COUNT; kind++)
        if (tables[kind]
            && (compare_rows (ledger, kind, callback, arg, error) < 0
                || find_others (ledger, kind, callback, arg, error) < 0))
            return -1;
    return 0;
}
