#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/store_lookup.h"

/* Ids are given in turn, so that an id's last bits are a good place. */
#define SLOTS 16384
/* Above it all is forgotten: texts may be long. */
#define BYTES_KEPT ((size_t)2 << 20)

struct entry {
    uint64_t id;
    lookup_row_t row;
    char texts[];
};

struct lookup {
    db_statement_t *st;
    unsigned texts;
    unsigned numbers;
    size_t bytes;
    struct entry *slots[SLOTS];
};

static const lookup_row_t nothing;

lookup_t *lookup_open (db_t *db, const char *sql, unsigned texts,
                       gl_error_t *error)
{
    db_statement_t *st = db_prepare (db, sql, error);
    lookup_t *lookup;

    if (!st)
        return NULL;
    lookup = xcalloc (1, sizeof (*lookup));
    lookup->st = st;
    lookup->texts = texts;
    lookup->numbers = db_column_count (st) - texts;
    return lookup;
}

static void forget_all (lookup_t *lookup)
{
    for (size_t i = 0; i < SLOTS; i++) {
        free (lookup->slots[i]);
        lookup->slots[i] = NULL;
    }
    lookup->bytes = 0;
}

void lookup_close (lookup_t *lookup)
{
    if (!lookup)
        return;
    forget_all (lookup);
    db_finalize (lookup->st);
    free (lookup);
}

static size_t text_bytes (const lookup_t *lookup)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < lookup->texts; i++)
        bytes += db_column_length (lookup->st, i) + 1;
    return bytes;
}

static struct entry *entry_of_row (lookup_t *lookup, uint64_t id)
{
    size_t bytes = text_bytes (lookup);
    struct entry *entry = xcalloc (1, sizeof (*entry) + bytes);
    char *at = entry->texts;

    entry->id = id;
    for (unsigned i = 0; i < lookup->texts; i++) {
        const char *text = db_column_text (lookup->st, i);
        size_t length = db_column_length (lookup->st, i);
        if (!text)
            continue;
        entry->row.text[i] = memcpy (at, text, length);
        at += length + 1;
    }
    for (unsigned i = 0; i < lookup->numbers; i++) {
        entry->row.known[i]
            = !db_column_is_null (lookup->st, lookup->texts + i);
        entry->row.number[i] = db_column_u64 (lookup->st, lookup->texts + i);
    }
    lookup->bytes += sizeof (*entry) + bytes;
    return entry;
}

static struct entry *read_entry (lookup_t *lookup, uint64_t id,
                                 gl_error_t *error)
{
    struct entry *entry = NULL;
    int rc;

    db_bind_u64 (lookup->st, 0, id);
    rc = db_step (lookup->st, error);
    if (rc == 1)
        entry = entry_of_row (lookup, id);
    else if (rc == 0)
        gl_error (error, "the store is damaged: a row that others refer to is "
                         "missing");
    db_reset (lookup->st);
    return entry;
}

static void drop (lookup_t *lookup, struct entry *entry)
{
    size_t bytes = 0;

    if (!entry)
        return;
    for (unsigned i = 0; i < lookup->texts; i++)
        bytes += (entry->row.text[i] ? strlen (entry->row.text[i]) : 0) + 1;
    lookup->bytes -= sizeof (*entry) + bytes;
    free (entry);
}

const lookup_row_t *lookup_get (lookup_t *lookup, uint64_t id,
                                gl_error_t *error)
{
    struct entry **slot = &lookup->slots[id % SLOTS];

    if (id == 0)
        return &nothing;
    if (*slot && (*slot)->id == id)
        return &(*slot)->row;
    if (lookup->bytes > BYTES_KEPT)
        forget_all (lookup);
    drop (lookup, *slot);
    *slot = read_entry (lookup, id, error);
    return *slot ? &(*slot)->row : NULL;
}
