/* What was imported, and can be taken back. */
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

static store_import_t import_of_row (const db_statement_t *st)
{
    const char *undone_by = db_column_text (st, 10);
    store_import_t import = {
        .id = db_column_u64 (st, 0),
        .time = db_column_i64 (st, 1),
        .who = xstrdup (db_column_text (st, 2)),
        .files = xstrdup (db_column_text (st, 3)),
        .clusters = xstrdup (db_column_text (st, 4)),
        .zone = xstrdup (db_column_text (st, 5)),
        .segments = db_column_u64 (st, 6),
        .as_of = db_column_i64 (st, 7),
        .undone = db_column_i64 (st, 9),
        .undone_by = undone_by ? xstrdup (undone_by) : NULL,
    };

    if (db_column_length (st, 8) == STORE_DIGEST_SIZE)
        memcpy (import.digest, db_column_text (st, 8), STORE_DIGEST_SIZE);
    return import;
}

int store_imports (store_t *store, store_import_t **ret, size_t *ret_count,
                   gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_IMPORT_EACH, error);
    int rc;

    *ret = NULL;
    *ret_count = 0;
    if (!st)
        return -1;
    while ((rc = db_step (st, error)) == 1) {
        *ret = xreallocarray (*ret, *ret_count + 1, sizeof (**ret));
        (*ret)[(*ret_count)++] = import_of_row (st);
    }
    db_reset (st);
    if (rc < 0)
        store_imports_free (*ret, *ret_count);
    return rc;
}

void store_imports_free (store_import_t *imports, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free (imports[i].who);
        free (imports[i].files);
        free (imports[i].clusters);
        free (imports[i].zone);
        free (imports[i].undone_by);
    }
    free (imports);
}

int store_import_add (store_t *store, const store_import_t *import,
                      gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_IMPORT_ADD, error);

    if (!st)
        return -1;
    db_bind_u64 (st, 0, import->id);
    db_bind_i64 (st, 1, import->time);
    db_bind_text (st, 2, import->who);
    db_bind_text (st, 3, import->files);
    db_bind_text (st, 4, import->clusters);
    db_bind_text (st, 5, import->zone);
    db_bind_u64 (st, 6, import->segments);
    db_bind_i64 (st, 7, import->as_of);
    db_bind_blob (st, 8, import->digest, STORE_DIGEST_SIZE);
    return db_run (st, error);
}

int store_import_undone (store_t *store, uint64_t id, int64_t time,
                         const char *who, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_IMPORT_UNDO, error);

    if (!st)
        return -1;
    db_bind_i64 (st, 0, time);
    db_bind_text (st, 1, who);
    db_bind_u64 (st, 2, id);
    return db_run (st, error);
}

int store_import_part_add (store_t *store, uint64_t id, uint64_t part,
                           const void *body, size_t length, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_IMPORT_PART_ADD, error);

    if (!st)
        return -1;
    db_bind_u64 (st, 0, id);
    db_bind_u64 (st, 1, part);
    db_bind_blob (st, 2, body, length);
    return db_run (st, error);
}

int store_import_part (store_t *store, uint64_t id, uint64_t part,
                       buffer_t *ret_body, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_IMPORT_PART_GET, error);
    int rc;

    if (!st)
        return -1;
    db_bind_u64 (st, 0, id);
    db_bind_u64 (st, 1, part);
    rc = db_step (st, error);
    buffer_clear (ret_body);
    if (rc == 1)
        buffer_add (ret_body, db_column_text (st, 0), db_column_length (st, 0));
    db_reset (st);
    return rc;
}

int store_import_forget_parts (store_t *store, uint64_t id, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, SQL_IMPORT_PART_FORGET, error);

    if (!st)
        return -1;
    db_bind_u64 (st, 0, id);
    return db_run (st, error);
}
