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

/* --- the newest moment -------------------------------------------------- */

/* Until when slurmdbd's database knows of anything. */

static const slurmdbd_column_t job_columns[] = {
    {"time_submit", NULL, true},
    {"time_start", NULL, true},
    {"time_end", NULL, true},
};
static const slurmdbd_column_t event_columns[] = {
    {"time_start", NULL, true},
    {"time_end", NULL, true},
};
static const slurmdbd_column_t rolled_columns[] = {
    {"hourly_rollup", NULL, true},
};

/* A table, the columns of it that hold times, and which row to look at. */
struct place {
    const char *suffix;
    const slurmdbd_column_t *columns;
    size_t count;
    const char *index; /* a column; NULL: none is needed */
    const char *upto;  /* the column that is at most `until` */
    const char *which; /* the others, and the order */
};

/* The latest time of one row that is not after `until`. */
static int look (slurmdbd_cluster_t *c, const struct place *place,
                 int64_t until, int64_t *newest, gl_error_t *error)
{
    GL_AUTOFREE char *table = slurmdbd_table (c, place->suffix);
    BUFFER_AUTO sql = BUFFER_INIT;
    db_statement_t *row;
    int rc;

    if (slurmdbd_select (c->db, table, place->columns, place->count, &sql,
                         error)
            < 0
        || (place->index
            && slurmdbd_along (c->db, table, place->index, &sql, error) < 0))
        return -1;
    buffer_printf (&sql, "WHERE t.`%s` <= %lld%s LIMIT 1", place->upto,
                   (long long)until, place->which);
    row = db_query (c->db, buffer_text (&sql), error);
    rc = slurmdbd_next (row, error);
    for (unsigned i = 0; rc == 1 && i < place->count; i++) {
        int64_t time = db_column_i64 (row, i);
        if (time <= until && time > *newest)
            *newest = time;
    }
    db_finalize (row);
    return rc < 0 ? -1 : 0;
}

int slurmdbd_newest (slurmdbd_cluster_t *c, int64_t until, int64_t *ret_newest,
                     gl_error_t *error)
{
    static const struct place places[] = {
        {"job_table", job_columns, GL_ARRAY_SIZE (job_columns), "time_end",
         "time_end", " ORDER BY t.`time_end` DESC"},
        {"job_table", job_columns, GL_ARRAY_SIZE (job_columns), "time_end",
         "time_submit",
         " AND t.`time_end` = 0"
         " ORDER BY GREATEST (t.`time_submit`, t.`time_start`) DESC"},
        {"event_table", event_columns, GL_ARRAY_SIZE (event_columns), NULL,
         "time_start",
         " ORDER BY GREATEST (t.`time_start`, t.`time_end`) DESC"},
    };

    *ret_newest = 0;
    for (size_t i = 0; i < GL_ARRAY_SIZE (places); i++)
        if (look (c, &places[i], until, ret_newest, error) < 0)
            return -1;
    return 0;
}

/* slurmdbd that runs counts every hour: then nothing new is no sign of a copy. */
int64_t slurmdbd_rolled_until (slurmdbd_cluster_t *c, int64_t until)
{
    static const struct place place = {"last_ran_table",
                                       rolled_columns,
                                       GL_ARRAY_SIZE (rolled_columns),
                                       NULL,
                                       "hourly_rollup",
                                       ""};
    gl_error_t ignored; /* a copy may have been made without the table */
    int64_t newest = 0;

    return look (c, &place, until, &newest, &ignored) < 0 ? 0 : newest;
}
