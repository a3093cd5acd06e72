#include <string.h>

#include "base/memory.h"
#include "slurmdbd/slurmdbd_private.h"

#define COLUMNS_MAX 40

/* Which of the wanted columns the table has: 0 no, 1 by the name it had
 * before, 2 by today's name. */
struct found {
    unsigned char how[COLUMNS_MAX];
    size_t rows;
};

static void match_column (struct found *found, const char *name,
                          const slurmdbd_column_t *columns, size_t count)
{
    found->rows++;
    for (size_t i = 0; i < count; i++) {
        if (!strcmp (columns[i].name, name))
            found->how[i] = 2;
        else if (columns[i].before && !strcmp (columns[i].before, name)
                 && !found->how[i])
            found->how[i] = 1;
    }
}

static int find_columns (db_t *db, const char *table,
                         const slurmdbd_column_t *columns, size_t count,
                         struct found *found, gl_error_t *error)
{
    db_statement_t *rows
        = db_prepare (db,
                      "SELECT column_name FROM information_schema.columns"
                      " WHERE table_schema = DATABASE() AND table_name = ?",
                      error);
    int rc;

    if (!rows)
        return -1;
    db_bind_text (rows, 0, table);
    while ((rc = db_step (rows, error)) == 1)
        match_column (found, db_column_text (rows, 0), columns, count);
    db_finalize (rows);
    return rc;
}

static int missing_table (const db_t *db, const char *table, gl_error_t *error)
{
    return gl_error (error,
                     "%s has no table %s that this user may read: either it is "
                     "not slurmdbd's database, or SELECT has not been granted "
                     "(see sql/accounts.sql)",
                     db_url (db), table);
}

static void add_column (buffer_t *sql, const slurmdbd_column_t *column, int how)
{
    if (how == 0)
        buffer_add_text (sql, "NULL");
    else
        buffer_printf (sql, "t.`%s`", how == 2 ? column->name : column->before);
}

int slurmdbd_select (db_t *db, const char *table,
                     const slurmdbd_column_t *columns, size_t count,
                     buffer_t *sql, gl_error_t *error)
{
    GL_AUTOFREE char *quoted = db_quote_identifier (db, table);
    struct found found = {0};

    if (count > COLUMNS_MAX)
        return gl_error (error, "%zu columns of %s are too many", count, table);
    if (find_columns (db, table, columns, count, &found, error) < 0)
        return -1;
    if (found.rows == 0)
        return missing_table (db, table, error);
    buffer_add_text (sql, "SELECT ");
    for (size_t i = 0; i < count; i++) {
        if (columns[i].required && !found.how[i])
            return gl_error (error,
                             "table %s of %s has no column %s, which slurmdbd "
                             "has had since Slurm 20.11",
                             table, db_url (db), columns[i].name);
        if (i)
            buffer_add_char (sql, ',');
        add_column (sql, &columns[i], found.how[i]);
    }
    buffer_printf (sql, " FROM %s AS t ", quoted);
    return 0;
}

int slurmdbd_along (db_t *db, const char *table, const char *column,
                    buffer_t *sql, gl_error_t *error)
{
    db_statement_t *rows
        = db_prepare (db,
                      "SELECT index_name FROM information_schema.statistics"
                      " WHERE table_schema = DATABASE() AND table_name = ?"
                      " AND column_name = ? AND seq_in_index = 1"
                      " ORDER BY index_name LIMIT 1",
                      error);
    GL_AUTOFREE char *name = NULL;
    int rc;

    if (!rows)
        return -1;
    db_bind_text (rows, 0, table);
    db_bind_text (rows, 1, column);
    rc = db_step (rows, error);
    if (rc == 1)
        name = db_quote_identifier (db, db_column_text (rows, 0));
    db_finalize (rows);
    if (name)
        buffer_printf (sql, "FORCE INDEX (%s) ", name);
    return rc < 0 ? -1 : 0;
}

db_statement_t *slurmdbd_rows (db_t *db, const char *cluster, const char *table,
                               const slurmdbd_column_t *columns, size_t count,
                               const char *rest, gl_error_t *error)
{
    GL_AUTOFREE char *name = xasprintf ("%s%s%s", cluster ? cluster : "",
                                        cluster ? "_" : "", table);
    BUFFER_AUTO sql = BUFFER_INIT;

    if (slurmdbd_select (db, name, columns, count, &sql, error) < 0)
        return NULL;
    buffer_add_text (&sql, rest);
    return db_query (db, buffer_text (&sql), error);
}

int slurmdbd_next (db_statement_t *rows, gl_error_t *error)
{
    return rows ? db_step (rows, error) : -1;
}

int slurmdbd_end (db_statement_t *rows, int rc)
{
    db_finalize (rows);
    return rc == 0 ? 0 : -1;
}

int slurmdbd_number (db_t *db, const char *sql, int64_t *ret_value,
                     gl_error_t *error)
{
    db_statement_t *row = db_query (db, sql, error);
    int rc = slurmdbd_next (row, error);

    *ret_value = rc == 1 ? db_column_i64 (row, 0) : 0;
    db_finalize (row);
    return rc < 0 ? -1 : 0;
}
