#include <string.h>

#include "slurmdbd/slurmdbd_private.h"

#define NO_TEXT UINT32_MAX

/* Offsets, because the texts move while they grow. */
struct ids_entry {
    uint64_t id;
    uint32_t first;
    uint32_t second;
};

/* The offset of the text in ids->texts, which holds it with its NUL. A text
 * equal to that of the entry before, as in lists of associations, is shared. */
static uint32_t keep_text (ids_t *ids, const char *text, uint32_t last)
{
    size_t at = ids->texts.length;

    if (!text || at > NO_TEXT / 2)
        return NO_TEXT;
    if (last != NO_TEXT && !strcmp (ids->texts.data + last, text))
        return last;
    buffer_add (&ids->texts, text, strlen (text) + 1);
    return at;
}

static void add_row (ids_t *ids, const db_statement_t *row)
{
    struct ids_entry entry = {db_column_u64 (row, 0), NO_TEXT, NO_TEXT};
    struct ids_entry last = {0, NO_TEXT, NO_TEXT};

    if (ids->count)
        last = ids->entries[ids->count - 1];
    entry.first = keep_text (ids, db_column_text (row, 1), last.first);
    if (db_column_count (row) > 2)
        entry.second = keep_text (ids, db_column_text (row, 2), last.second);
    if (ids->count && last.id == entry.id)
        ids->count--;
    *GL_APPEND (ids->entries, ids->count) = entry;
}

int ids_load (ids_t *ids, db_statement_t *rows, gl_error_t *error)
{
    int rc;

    while ((rc = slurmdbd_next (rows, error)) == 1)
        add_row (ids, rows);
    return slurmdbd_end (rows, rc);
}

static int compare_id (const void *key, const void *element)
{
    uint64_t id = *(const uint64_t *)key;
    const struct ids_entry *entry = element;

    return id < entry->id ? -1 : id > entry->id;
}

static const char *text_at (const ids_t *ids, uint32_t offset)
{
    return offset == NO_TEXT ? NULL : ids->texts.data + offset;
}

bool ids_find (const ids_t *ids, uint64_t id, const char **ret_first,
               const char **ret_second)
{
    const struct ids_entry *entry = NULL;

    if (ids->count)
        entry = bsearch (&id, ids->entries, ids->count, sizeof (*ids->entries),
                         compare_id);
    if (!entry)
        return false;
    if (ret_first)
        *ret_first = text_at (ids, entry->first);
    if (ret_second)
        *ret_second = text_at (ids, entry->second);
    return true;
}

void ids_done (ids_t *ids)
{
    free (ids->entries);
    buffer_done (&ids->texts);
    *ids = (ids_t)IDS_INIT;
}
