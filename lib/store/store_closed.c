/* The lists of closed months: rows of tables with a column for each field. */
#include <inttypes.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/memory.h"
#include "store/chain.h"
#include "store/store_private.h"

/* Before the columns of the fields; the hash is behind them. */
static const char own_columns[] = "closed_month, version, number";
enum { OWN_NUMBER = 2, OWN_COUNT };

static void add_columns (const closed_table_t *t, buffer_t *sql)
{
    buffer_add_text (sql, own_columns);
    for (unsigned i = 0; i < t->count; i++)
        buffer_printf (sql, ", %s", t->column[i]);
}

static int hash_of (const closed_row_t *row, uint8_t ret[STORE_DIGEST_SIZE],
                    gl_error_t *error)
{
    return EVP_Digest (buffer_text (&row->text), row->text.length, ret, NULL,
                       EVP_sha256 (), NULL)
                   == 1
               ? 0
               : gl_error (error, "SHA-256 is not available");
}

int closed_row_is_whole (const closed_row_t *row, gl_error_t *error)
{
    uint8_t is[STORE_DIGEST_SIZE];

    if (hash_of (row, is, error) < 0)
        return -1;
    return memcmp (is, row->hash, sizeof (is)) == 0;
}

static void add_value (const closed_table_t *t, unsigned i, const char *value,
                       size_t length, buffer_t *text)
{
    if (!value)
        return;
    if (text->length > 0)
        buffer_add_char (text, '\t');
    buffer_add_text (text, t->column[i]);
    buffer_add_char (text, '=');
    buffer_add_escaped (text, value, length);
}

/* --- adding --------------------------------------------------------------- */

static db_statement_t *prepare_add (store_t *ledger, const closed_table_t *t,
                                    gl_error_t *error)
{
    db_statement_t **st = store_statement (ledger, t, 0);
    BUFFER_AUTO sql = BUFFER_INIT;

    if (*st)
        return *st;
    buffer_printf (&sql, "INSERT INTO %s (", t->table);
    add_columns (t, &sql);
    buffer_add_text (&sql, ", hash) VALUES (?");
    for (unsigned i = 0; i < OWN_COUNT + t->count; i++)
        buffer_add_text (&sql, ", ?");
    buffer_add_char (&sql, ')');
    *st = db_prepare (ledger->db, buffer_text (&sql), error);
    return *st;
}

int store_closed_add (store_t *store, const closed_table_t *t,
                      closed_row_t *row, gl_error_t *error)
{
    db_statement_t *st = prepare_add (store->ledger, t, error);

    buffer_clear (&row->text);
    for (unsigned i = 0; i < t->count; i++)
        if (row->value[i])
            add_value (t, i, row->value[i], strlen (row->value[i]), &row->text);
    if (!st || hash_of (row, row->hash, error) < 0)
        return -1;
    store->wrote_chain = true;
    bind_values (st, 0,
                 ARGS (as_text (row->month), as_u64 (row->version),
                       as_u64 (row->number)));
    for (unsigned i = 0; i < t->count; i++)
        db_bind_text (st, OWN_COUNT + i, row->value[i]);
    db_bind_blob (st, OWN_COUNT + t->count, row->hash, sizeof (row->hash));
    return db_run (st, error);
}

/* --- reading -------------------------------------------------------------- */

static db_statement_t *prepare_each (store_t *ledger, const closed_table_t *t,
                                     gl_error_t *error)
{
    db_statement_t **st = store_statement (ledger, t, 1);
    BUFFER_AUTO sql = BUFFER_INIT;

    if (*st)
        return *st;
    buffer_add_text (&sql, "SELECT ");
    add_columns (t, &sql);
    buffer_printf (&sql,
                   ", hash FROM %s WHERE closed_month = ? AND version = ? "
                   "ORDER BY %s",
                   t->table, own_columns);
    *st = db_prepare (ledger->db, buffer_text (&sql), error);
    return *st;
}

/* A text with a NUL, which is never written, has it in the text of the row. */
static void take_row (const closed_table_t *t, const db_statement_t *st,
                      closed_row_t *row)
{
    const unsigned hash = OWN_COUNT + t->count;

    row->number = db_column_u64 (st, OWN_NUMBER);
    buffer_clear (&row->text);
    for (unsigned i = 0; i < t->count; i++) {
        row->value[i] = db_column_text (st, OWN_COUNT + i);
        if (row->value[i])
            add_value (t, i, row->value[i],
                       db_column_length (st, OWN_COUNT + i), &row->text);
    }
    memset (row->hash, 0, sizeof (row->hash));
    if (db_column_length (st, hash) == sizeof (row->hash))
        memcpy (row->hash, db_column_text (st, hash), sizeof (row->hash));
}

int store_closed_each (store_t *store, const closed_table_t *t,
                       const char *month, uint32_t version,
                       closed_row_f callback, void *arg, gl_error_t *error)
{
    db_statement_t *st = prepare_each (store->ledger, t, error);
    closed_row_t row = {.month = month, .version = version};
    int rc = st ? 1 : -1;

    if (st)
        bind_values (st, 0, ARGS (as_text (month), as_u64 (version)));
    while (rc == 1 && (rc = db_step (st, error)) == 1) {
        take_row (t, st, &row);
        if (callback (&row, arg, error) < 0)
            rc = -1;
    }
    db_reset (st);
    buffer_done (&row.text);
    return rc;
}

int store_closed_counts (store_t *store, const closed_table_t *t,
                         closed_count_f callback, void *arg, gl_error_t *error)
{
    GL_AUTOFREE char *sql = xasprintf (
        "SELECT closed_month, version, count(*) FROM %s "
        "GROUP BY closed_month, version ORDER BY closed_month, version",
        t->table);
    db_statement_t *st = db_prepare (store->ledger->db, sql, error);
    int rc = st ? 1 : -1;

    while (rc == 1 && (rc = db_step (st, error)) == 1)
        if (callback (db_column_text (st, 0), (uint32_t)db_column_u64 (st, 1),
                      db_column_u64 (st, 2), arg, error)
            < 0)
            rc = -1;
    db_finalize (st);
    return rc;
}
