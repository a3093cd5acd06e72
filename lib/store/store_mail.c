/* What was mailed, and what was about to be mailed. */
#include "base/memory.h"
#include "store/store_private.h"

static const column_t mail_columns[] = {
    COLUMN (U64, store_mail_t, id, KEY),
    COLUMN (NAME, store_mail_t, kind),
    COLUMN (NAME, store_mail_t, period),
    COLUMN (NAME, store_mail_t, name),
    COLUMN (NAME, store_mail_t, content),
    COLUMN (NAME, store_mail_t, message),
    COLUMN (NAME, store_mail_t, recipients),
    COLUMN (NAME, store_mail_t, who),
    COLUMN (I64, store_mail_t, begun),
    COLUMN (I64, store_mail_t, sent, MAYBE (0)),
};
static const row_type_t mail_rows
    = ROW_TYPE ("mail", mail_columns, store_mail_t);

int store_mails (store_t *store, const char *kind, const char *period,
                 store_mail_t **ret, size_t *ret_count, gl_error_t *error)
{
    return kind ? row_list (store, &mail_rows,
                            "WHERE t.kind = ? AND t.period = ? ORDER BY t.id",
                            ARGS (as_text (kind), as_text (period)), ret,
                            ret_count, error)
                : row_list (store, &mail_rows, "ORDER BY t.id", NULL, 0, ret,
                            ret_count, error);
}

void store_mails_free (store_mail_t *mails, size_t count)
{
    row_list_free (&mail_rows, mails, count);
}

int store_mail_add (store_t *store, store_mail_t *mail, gl_error_t *error)
{
    int64_t last;

    if (store_number (store, "SELECT COALESCE (MAX(id), 0) FROM mail", NULL, 0,
                      &last, error)
        < 0)
        return -1;
    mail->id = (uint64_t)last + 1;
    return row_add (store, &mail_rows, 0, mail, error);
}

int store_mail_sent (store_t *store, uint64_t id, int64_t time,
                     gl_error_t *error)
{
    return store_run (store, "UPDATE mail SET sent = ? WHERE id = ?",
                      ARGS (as_i64 (time), as_u64 (id)), error);
}

int store_mail_forget (store_t *store, uint64_t id, gl_error_t *error)
{
    return store_run (store, "DELETE FROM mail WHERE id = ?",
                      ARGS (as_u64 (id)), error);
}
