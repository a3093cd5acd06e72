#include "store/row.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "store/store_lookup.h"
#include "store/store_private.h"

/* --- values --------------------------------------------------------------- */

value_t as_text (const char *text)
{
    if (!text)
        return (value_t){0};
    return (value_t){VALUE_TEXT, {.data = text}, strlen (text)};
}

static void bind_value (db_statement_t *st, unsigned at, const value_t *v)
{
    switch (v->type) {
    case VALUE_NULL: /* what is not bound is NULL */
        break;
    case VALUE_I64:
        db_bind_i64 (st, at, v->i);
        break;
    case VALUE_U64:
        db_bind_u64 (st, at, v->u);
        break;
    case VALUE_TEXT:
        db_bind_text (st, at, v->data);
        break;
    case VALUE_BLOB:
        db_bind_blob (st, at, v->data, v->length);
        break;
    }
}

void bind_values (db_statement_t *st, unsigned at, const value_t *values,
                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        bind_value (st, at + (unsigned)i, &values[i]);
}

/* --- statements ----------------------------------------------------------- */

/* The place of a statement in the cache; its `st` is NULL where it is new. */
static struct cached_statement *cached (store_t *store, const void *key,
                                        unsigned verb)
{
    struct cached_statement *c, found;

    for (size_t i = 0; i < store->statement_count; i++) {
        c = &store->statements[i];
        if (c->key != key || c->verb != verb)
            continue;
        if (i == 0)
            return c;
        /* what is asked for often moves to the front */
        found = *c;
        *c = c[-1];
        c[-1] = found;
        return c - 1;
    }
    c = GL_APPEND (store->statements, store->statement_count);
    *c = (struct cached_statement){.key = key, .verb = verb};
    return c;
}

db_statement_t **store_statement (store_t *store, const void *key,
                                  unsigned verb)
{
    return &cached (store, key, verb)->st;
}

db_statement_t *store_prepare (store_t *store, const char *sql,
                               gl_error_t *error)
{
    struct cached_statement *c = cached (store, sql, 0);

    if (!c->st)
        c->st = db_prepare (store->db, sql, error);
    return c->st;
}

db_statement_t *store_ask (store_t *store, const char *sql, const value_t *args,
                           size_t count, gl_error_t *error)
{
    db_statement_t *st = store_prepare (store, sql, error);

    if (st)
        bind_values (st, 0, args, count);
    return st;
}

int store_run (store_t *store, const char *sql, const value_t *args,
               size_t count, gl_error_t *error)
{
    db_statement_t *st = store_ask (store, sql, args, count, error);

    return st ? db_run (st, error) : -1;
}

int store_number (store_t *store, const char *sql, const value_t *args,
                  size_t count, int64_t *ret_value, gl_error_t *error)
{
    db_statement_t *st = store_ask (store, sql, args, count, error);
    int rc = st ? db_step (st, error) : -1;

    if (rc >= 0)
        *ret_value = rc == 1 ? db_column_i64 (st, 0) : 0;
    db_reset (st);
    return rc;
}

/* --- one column ----------------------------------------------------------- */

static const void *at (const column_t *c, const void *row)
{
    return (const char *)row + c->offset;
}

static inline bool is_number (const column_t *c)
{
    return c->type >= COLUMN_I64 && c->type <= COLUMN_BOOL;
}

void column_forget (const column_t *c, void *row)
{
    if (column_is_text (c))
        *(const char **)((char *)row + c->offset) = NULL;
    else
        column_put_number (c, row, c->unknown);
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

int column_compare (const column_t *c, const void *a, const void *b)
{
    const char *x, *y;

    switch (c->type) {
    case COLUMN_NAME:
    case COLUMN_TEXT:
        x = column_text (c, a);
        y = column_text (c, b);
        return x && y ? strcmp (x, y) : COMPARE (x != NULL, y != NULL);
    case COLUMN_U64:
        return COMPARE ((uint64_t)column_number (c, a),
                        (uint64_t)column_number (c, b));
    default:
        return COMPARE (column_number (c, a), column_number (c, b));
    }
}

void column_copy (const column_t *c, void *to, const void *from)
{
    if (column_is_text (c))
        *(const char **)((char *)to + c->offset) = column_text (c, from);
    else
        column_put_number (c, to, column_number (c, from));
}

/* -1 where the value does not fit, which is damage. */
static int column_set (const column_t *c, void *row, const value_t *v)
{
    char *p = (char *)row + c->offset;

    if (is_number (c))
        column_put_number (c, row, v->type == VALUE_NULL ? c->unknown : v->i);
    else if (column_is_text (c))
        column_put_text (c, row, v->data);
    else if (c->type == COLUMN_BLOB) {
        memcpy (p, &v->data, sizeof (v->data));
        memcpy (p + sizeof (v->data), &v->length, sizeof (v->length));
    } else if (v->length != c->size)
        return -1;
    else
        memcpy (p, v->data, c->size);
    return 0;
}

/* Of a column in the row itself. */
static inline value_t column_get (const column_t *c, const void *row)
{
    const char *p = at (c, row);
    const void *data;
    size_t length;

    if (is_number (c)) {
        const int64_t number = column_number (c, row);
        if (c->flags & COLUMN_NULLABLE && number == c->unknown)
            return (value_t){0};
        return c->type == COLUMN_I64 || c->type == COLUMN_I32
                   ? as_i64 (number)
                   : as_u64 ((uint64_t)number);
    }
    if (column_is_text (c)) {
        const char *text = column_text (c, row);
        return as_text (!text && c->flags & COLUMN_EMPTY ? "" : text);
    }
    if (c->type == COLUMN_BYTES)
        return as_blob (p, c->size);
    memcpy (&data, p, sizeof (data));
    memcpy (&length, p + sizeof (data), sizeof (length));
    return data || !(c->flags & COLUMN_NULLABLE) ? as_blob (data, length)
                                                 : (value_t){0};
}

static inline int64_t read_number (const column_t *c, const db_statement_t *st,
                                   unsigned i)
{
    int64_t number = db_column_i64 (st, i);

    /* NULL reads as 0 */
    if (number == 0 && c->unknown != 0 && c->flags & COLUMN_NULLABLE
        && db_column_is_null (st, i))
        return c->unknown;
    return number;
}

value_t column_read (const column_t *c, const db_statement_t *st, unsigned i)
{
    value_t v = {VALUE_TEXT, {.data = NULL}, 0};

    if (is_number (c))
        return as_i64 (read_number (c, st, i));
    v.data = db_column_text (st, i);
    v.length = db_column_length (st, i);
    return v.data ? v : (value_t){0};
}

/* From result column `i` into the row; -1 where it does not fit. */
static inline int read_into (const column_t *c, const db_statement_t *st,
                             unsigned i, void *row)
{
    value_t v;

    if (is_number (c))
        column_put_number (c, row, read_number (c, st, i));
    else if (column_is_text (c))
        column_put_text (c, row, db_column_text (st, i));
    else {
        v = column_read (c, st, i);
        return column_set (c, row, &v);
    }
    return 0;
}

/* --- SQL ------------------------------------------------------------------ */

static bool is_written (const column_t *c)
{
    return !(c->flags & COLUMN_JOINED);
}

static void add_into (const row_type_t *type, unsigned rows, const char *first,
                      buffer_t *sql)
{
    const char *comma = *first ? ", " : "";

    buffer_printf (sql, "INTO %s (%s", type->table, first);
    for (unsigned i = 0; i < type->count; i++)
        if (is_written (&type->columns[i])) {
            buffer_printf (sql, "%s%s", comma, type->columns[i].name);
            comma = ", ";
        }
    buffer_add_text (sql, ") VALUES ");
    for (unsigned row = 0; row < rows; row++) {
        buffer_printf (sql, "%s(%s", row ? ", " : "", *first ? "?" : "");
        comma = *first ? ", " : "";
        for (unsigned i = 0; i < type->count; i++)
            if (is_written (&type->columns[i])) {
                buffer_printf (sql, "%s?", comma);
                comma = ", ";
            }
        buffer_add_char (sql, ')');
    }
}

static void select_column (const column_t *c, const char *table, unsigned join,
                           buffer_t *columns, buffer_t *joins)
{
    const char *comma = columns->length ? ", " : "";

    if (c->flags & COLUMN_JOINED)
        buffer_printf (columns, "%s%s", comma, c->name);
    else if (c->type != COLUMN_TEXT)
        buffer_printf (columns, "%s%s.%s", comma, table, c->name);
    else {
        buffer_printf (columns, "%sx%u.value", comma, join);
        buffer_printf (joins, " LEFT JOIN text x%u ON x%u.id = %s.%s", join,
                       join, table, c->name);
    }
}

/* LEFT JOIN also where a row is always there: it fixes the order of the join on
 * both engines, and with it the order of the rows. */
static void select_part (const column_t *c, unsigned join, buffer_t *columns,
                         buffer_t *joins)
{
    char name[16];

    snprintf (name, sizeof (name), "p%u", join);
    buffer_printf (joins, " LEFT JOIN %s %s ON %s.id = t.%s", c->part->table,
                   name, name, c->name);
    for (unsigned i = 0; i < c->part->count; i++)
        select_column (&c->part->columns[i], name, 0, columns, joins);
}

/* All that is stored, or all that iterators give. */
static bool is_read (const column_t *c, bool hidden)
{
    return c->type != COLUMN_CLUSTER
           && !(c->flags & (hidden ? COLUMN_JOINED : COLUMN_HIDDEN));
}

void row_select (const row_type_t *type, bool hidden, bool ids,
                 buffer_t *columns, buffer_t *joins)
{
    for (unsigned i = 0; i < type->count; i++) {
        const column_t *c = &type->columns[i];
        if (!is_read (c, hidden))
            continue;
        if (ids)
            buffer_printf (columns, "%st.%s", columns->length ? ", " : "",
                           c->name);
        else if (c->type == COLUMN_PART)
            select_part (c, i, columns, joins);
        else
            select_column (c, "t", i, columns, joins);
    }
}

/* "t.a = ? AND t.b = ?": the key. */
static void add_where_key (const row_type_t *type, buffer_t *sql)
{
    const char *and = "";

    for (unsigned i = 0; i < type->count; i++)
        if (type->columns[i].flags & COLUMN_KEY) {
            buffer_printf (sql, "%st.%s = ?", and, type->columns[i].name);
            and = " AND ";
        }
}

static void add_get (const row_type_t *type, buffer_t *sql)
{
    BUFFER_AUTO columns = BUFFER_INIT;
    BUFFER_AUTO joins = BUFFER_INIT;

    row_select (type, true, false, &columns, &joins);
    buffer_printf (sql, "SELECT %s FROM %s t%s WHERE ", buffer_text (&columns),
                   type->table, buffer_text (&joins));
    add_where_key (type, sql);
}

static char *make_sql (db_engine_t engine, const row_type_t *type,
                       row_verb_t verb)
{
    buffer_t sql = BUFFER_INIT;

    switch (verb) {
    case ROW_ADD:
        buffer_add_text (&sql, "INSERT ");
        add_into (type, 1, "", &sql);
        break;
    case ROW_ADD_NEW: /* IGNORE would also swallow values that do not fit */
        buffer_add_text (&sql, "INSERT ");
        add_into (type, 1, "", &sql);
        if (engine == DB_SQLITE)
            buffer_add_text (&sql, " ON CONFLICT DO NOTHING");
        else
            buffer_printf (&sql, " ON DUPLICATE KEY UPDATE %s = %s",
                           type->columns[0].name, type->columns[0].name);
        break;
    case ROW_ADD_SHARED:
        buffer_add_text (&sql, "INSERT ");
        add_into (type, 1, "digest", &sql);
        break;
    case ROW_PUT:
        buffer_add_text (&sql, "REPLACE ");
        add_into (type, 1, "", &sql);
        break;
    case ROW_ADD_MANY:
    case ROW_ADD_SOME: /* FAIL: what is rolled back as a whole needs no journal
                        */
        buffer_add_text (&sql,
                         engine == DB_SQLITE ? "INSERT OR FAIL " : "INSERT ");
        add_into (type, verb == ROW_ADD_MANY ? ROWS_AT_ONCE : ROWS_OF_REST, "",
                  &sql);
        break;
    case ROW_GET:
        add_get (type, &sql);
        break;
    case ROW_FIND:
        buffer_printf (&sql, "SELECT id FROM %s WHERE digest = ?", type->table);
        break;
    }
    return buffer_take (&sql);
}

db_statement_t *row_statement (store_t *store, const row_type_t *type,
                               row_verb_t verb, gl_error_t *error)
{
    struct cached_statement *c = cached (store, type, verb);

    if (!c->st) {
        GL_AUTOFREE char *sql = make_sql (db_engine (store->db), type, verb);
        c->st = db_prepare (store->db, sql, error);
    }
    return c->st;
}

/* --- writing -------------------------------------------------------------- */

static int shared_id (store_t *store, const column_t *c, const void *row,
                      value_t *ret, gl_error_t *error)
{
    uint64_t id;
    int rc = c->type == COLUMN_TEXT
                 ? intern_text (store, column_text (c, row), &id, error)
                 : intern_part (store, c->part, row, &id, error);

    *ret = id ? as_u64 (id) : (value_t){0};
    return rc;
}

int row_values (store_t *store, const row_type_t *type, uint64_t cluster,
                const void *row, value_t *values, gl_error_t *error)
{
    int count = 0;

    for (unsigned i = 0; i < type->count; i++) {
        const column_t *c = &type->columns[i];
        if (!is_written (c))
            continue;
        if (c->type == COLUMN_CLUSTER)
            values[count] = as_u64 (cluster);
        else if (c->type != COLUMN_TEXT && c->type != COLUMN_PART)
            values[count] = column_get (c, row);
        else if (shared_id (store, c, row, &values[count], error) < 0)
            return -1;
        count++;
    }
    return count;
}

static int write_row (store_t *store, const row_type_t *type, row_verb_t verb,
                      uint64_t cluster, const void *row, gl_error_t *error)
{
    value_t values[ROW_MAX];
    int count = row_values (store, type, cluster, row, values, error);
    db_statement_t *st
        = count < 0 ? NULL : row_statement (store, type, verb, error);

    if (!st)
        return -1;
    bind_values (st, 0, values, (size_t)count);
    return db_run (st, error);
}

int row_add (store_t *store, const row_type_t *type, uint64_t cluster,
             const void *row, gl_error_t *error)
{
    return write_row (store, type, ROW_ADD, cluster, row, error);
}

int row_add_new (store_t *store, const row_type_t *type, uint64_t cluster,
                 const void *row, gl_error_t *error)
{
    if (write_row (store, type, ROW_ADD_NEW, cluster, row, error) < 0)
        return -1;
    return db_affected (store->db) > 0;
}

int row_put (store_t *store, const row_type_t *type, uint64_t cluster,
             const void *row, gl_error_t *error)
{
    return write_row (store, type, ROW_PUT, cluster, row, error);
}

int row_get (store_t *store, const row_type_t *type, uint64_t cluster,
             const void *key, void *ret_row, gl_error_t *error)
{
    db_statement_t *st = row_statement (store, type, ROW_GET, error);
    unsigned at = 0;
    int rc;

    if (!st)
        return -1;
    for (unsigned i = 0; i < type->count; i++) {
        const column_t *c = &type->columns[i];
        value_t value;
        if (!(c->flags & COLUMN_KEY))
            continue;
        value = c->type == COLUMN_CLUSTER ? as_u64 (cluster)
                                          : column_get (c, key);
        bind_value (st, at++, &value);
    }
    rc = db_step (st, error);
    if (rc == 1 && row_read (type, true, st, ret_row, error) < 0)
        return -1;
    return rc;
}

void row_release (store_t *store, const row_type_t *type)
{
    db_reset (cached (store, type, ROW_GET)->st);
}

/* The order of two rows of one key, and where they differ. */
static int compare_rows (const row_type_t *type, const void *a, const void *b,
                         uint64_t *ret_differ)
{
    int first = 0;

    *ret_differ = 0;
    for (unsigned i = 0; i < type->count; i++) {
        const column_t *c = &type->columns[i];
        int order = c->flags & (COLUMN_KEY | COLUMN_HIDDEN)
                        ? 0
                        : column_compare (c, a, b);
        if (order)
            *ret_differ |= UINT64_C (1) << i;
        if (first == 0)
            first = order;
    }
    return first;
}

static row_verdict_t judge (const struct row_put *put, const void *fresh,
                            const void *old, uint64_t *ret_differ)
{
    int facts = compare_rows (put->type, fresh, old, ret_differ);
    int64_t seen, before;
    int order = facts;

    if (put->seen != NOT_SEEN) {
        memcpy (&seen, (const char *)fresh + put->seen, sizeof (seen));
        memcpy (&before, (const char *)old + put->seen, sizeof (before));
        order = COMPARE (seen, before);
        if (order == 0)
            order = facts && seen == put->reread ? 1 : facts;
    }
    return order <= 0 ? ROW_STANDS : facts ? ROW_REPLACED : ROW_SEEN;
}

/* Two statements where one is enough; the type's rows come in runs of new ones and of
 * known ones. */
static int put_beside (store_t *store, const struct row_put *put,
                       const void *fresh, void *stored, uint64_t *ret_differ,
                       gl_error_t *error)
{
    int rc = row_get (store, put->type, put->cluster, fresh, stored, error);
    row_verdict_t verdict
        = rc == 1 ? judge (put, fresh, stored, ret_differ) : ROW_INSERTED;

    row_release (store, put->type);
    return rc < 0
                   || (verdict != ROW_STANDS
                       && row_put (store, put->type, put->cluster, fresh, error)
                              < 0)
               ? -1
               : (int)verdict;
}

int row_put_better (store_t *store, const struct row_put *put,
                    const void *fresh, void *old, uint64_t *ret_differ,
                    store_counts_t *counts, gl_error_t *error)
{
    GL_AUTOFREE void *room = old ? NULL : xcalloc (1, put->type->size);
    uint64_t differ = 0;
    int verdict = ROW_STANDS, rc = 0;

    if (cached (store, put->type, ROW_ADD_NEW)->was_new)
        rc = row_add_new (store, put->type, put->cluster, fresh, error);
    if (rc >= 0)
        verdict = rc == 1 ? ROW_INSERTED
                          : put_beside (store, put, fresh, old ? old : room,
                                        &differ, error);
    if (rc < 0 || verdict < 0)
        return -1;
    cached (store, put->type, ROW_ADD_NEW)->was_new = verdict == ROW_INSERTED;
    if (ret_differ)
        *ret_differ = differ;
    store_count (counts, verdict == ROW_INSERTED, verdict == ROW_REPLACED);
    return verdict;
}

/* --- reading -------------------------------------------------------------- */

/* From result column `at` on; the next one, or -1. */
static int read_columns (const row_type_t *type, bool hidden,
                         const db_statement_t *st, int at, void *row,
                         gl_error_t *error)
{
    for (unsigned i = 0; at >= 0 && i < type->count; i++) {
        const column_t *c = &type->columns[i];
        if (!is_read (c, hidden))
            continue;
        if (c->type == COLUMN_PART)
            at = read_columns (c->part, hidden, st, at, row, error);
        else if (read_into (c, st, (unsigned)at++, row) < 0)
            return gl_error (error, "table %s: a damaged %s has %zu bytes",
                             type->table, c->name,
                             db_column_length (st, (unsigned)at - 1));
    }
    return at;
}

int row_read (const row_type_t *type, bool hidden, const db_statement_t *st,
              void *row, gl_error_t *error)
{
    return read_columns (type, hidden, st, 0, row, error) < 0 ? -1 : 0;
}

int row_read_ids (const row_type_t *type, lookup_t *const *lookups,
                  unsigned looked_up, const db_statement_t *st, void *row,
                  gl_error_t *error)
{
    unsigned at = 0;

    for (unsigned i = 0; i < type->count; i++) {
        const column_t *c = &type->columns[i];
        if (!is_read (c, false))
            continue;
        if (!lookups[i])
            read_into (c, st, at++, row);
        else if (i == looked_up)
            at++;
        else if (lookup_set (lookups[i], db_column_u64 (st, at++), row, error)
                 < 0)
            return -1;
    }
    return 0;
}

/* What to do with each text of a row, those of its parts included. */
static void each_text (const row_type_t *type, void *row, bool own)
{
    for (const column_t *c = type->columns; c < type->columns + type->count;
         c++) {
        char **text = (char **)((char *)row + c->offset);
        if (is_number (c))
            continue;
        if (c->type == COLUMN_PART)
            each_text (c->part, row, own);
        else if (column_is_text (c) && own)
            *text = xstrdup (*text);
        else if (column_is_text (c))
            free (*text);
    }
}

void row_own (const row_type_t *type, void *row)
{
    each_text (type, row, true);
}

void row_disown (const row_type_t *type, void *row)
{
    each_text (type, row, false);
}

int row_list (store_t *store, const row_type_t *type, const char *tail,
              const value_t *args, size_t arg_count, void *ret_rows,
              size_t *ret_count, gl_error_t *error)
{
    BUFFER_AUTO sql = BUFFER_INIT;
    BUFFER_AUTO columns = BUFFER_INIT;
    BUFFER_AUTO joins = BUFFER_INIT;
    db_statement_t *st;
    char *rows = NULL;
    size_t count = 0;
    int rc;

    row_select (type, false, false, &columns, &joins);
    buffer_printf (&sql, "SELECT %s FROM %s t%s %s", buffer_text (&columns),
                   type->table, buffer_text (&joins), tail);
    st = db_prepare (store->db, buffer_text (&sql), error);
    if (st)
        bind_values (st, 0, args, arg_count);
    rc = st ? 1 : -1;
    while (rc == 1 && (rc = db_step (st, error)) == 1) {
        rows = xreallocarray (rows, count + 1, type->size);
        memset (rows + count * type->size, 0, type->size);
        rc = row_read (type, false, st, rows + count * type->size, error) < 0
                 ? -1
                 : 1;
        row_own (type, rows + count++ * type->size);
    }
    db_finalize (st);
    if (rc < 0) {
        row_list_free (type, rows, count);
        rows = NULL;
        count = 0;
    }
    *(void **)ret_rows = rows;
    *ret_count = count;
    return rc < 0 ? -1 : 0;
}

void row_list_free (const row_type_t *type, void *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        row_disown (type, (char *)rows + i * type->size);
    free (rows);
}
