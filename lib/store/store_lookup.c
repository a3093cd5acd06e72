#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/store_lookup.h"

/* Ids are given in turn, so that an id's last bits are a good place. Few rows have few
 * ids: the slots become more with the entries. */
#define SLOTS_FIRST 64
#define SLOTS_MAX 16384
/* Above it all is forgotten: texts may be long. */
#define BYTES_KEPT ((size_t)3 << 20)

/* A column as the struct has it. */
union cell {
    const char *text;
    int64_t number;
};

struct entry {
    uint64_t id;
    size_t bytes;
    union cell cells[]; /* behind them the texts */
};

struct lookup {
    db_statement_t *st;
    const column_t *columns;
    unsigned count;
    size_t bytes;
    struct entry **slots;
    size_t slot_count;
};

lookup_t *lookup_open (db_t *db, const column_t *column, gl_error_t *error)
{
    bool part = column->type == COLUMN_PART;
    lookup_t *lookup = xcalloc (1, sizeof (*lookup));
    BUFFER_AUTO sql = BUFFER_INIT;

    lookup->columns = part ? column->part->columns : column;
    lookup->count = part ? column->part->count : 1;
    lookup->slot_count = SLOTS_FIRST;
    lookup->slots = xcalloc (SLOTS_FIRST, sizeof (struct entry *));
    buffer_add_text (&sql, "SELECT ");
    for (unsigned i = 0; i < lookup->count; i++)
        buffer_printf (&sql, "%s%s", i ? ", " : "",
                       part ? lookup->columns[i].name : "value");
    buffer_printf (&sql, " FROM %s WHERE id = ?",
                   part ? column->part->table : "text");
    lookup->st = db_prepare (db, buffer_text (&sql), error);
    if (lookup->st)
        return lookup;
    lookup_close (lookup);
    return NULL;
}

static void forget_all (lookup_t *lookup)
{
    for (size_t i = 0; i < lookup->slot_count; i++) {
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
    free (lookup->slots);
    db_finalize (lookup->st);
    free (lookup);
}

static struct entry *entry_of_row (const lookup_t *lookup, uint64_t id)
{
    size_t head = sizeof (struct entry) + lookup->count * sizeof (union cell);
    size_t bytes = head;
    struct entry *entry;
    char *at;

    for (unsigned i = 0; i < lookup->count; i++)
        if (lookup->columns[i].type <= COLUMN_TEXT)
            bytes += db_column_length (lookup->st, i) + 1;
    entry = xcalloc (1, bytes);
    *entry = (struct entry){.id = id, .bytes = bytes};
    at = (char *)entry + head;
    for (unsigned i = 0; i < lookup->count; i++) {
        value_t v = column_read (&lookup->columns[i], lookup->st, i);
        if (v.type == VALUE_TEXT) {
            entry->cells[i].text = memcpy (at, v.data, v.length);
            at += v.length + 1;
        } else if (v.type == VALUE_I64)
            entry->cells[i].number = v.i;
    }
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

/* Entries that had a place of their own keep one. */
static void add_slots (lookup_t *lookup)
{
    size_t count = lookup->slot_count * 4;
    struct entry **slots = xcalloc (count, sizeof (*slots));

    for (size_t i = 0; i < lookup->slot_count; i++)
        if (lookup->slots[i])
            slots[lookup->slots[i]->id % count] = lookup->slots[i];
    free (lookup->slots);
    lookup->slots = slots;
    lookup->slot_count = count;
}

/* The entry of the id, which takes the place of another one; NULL with an
 * error. */
static struct entry *fetch (lookup_t *lookup, uint64_t id, gl_error_t *error)
{
    struct entry **slot = &lookup->slots[id % lookup->slot_count];

    if (*slot && (*slot)->id == id)
        return *slot;
    if (lookup->bytes > BYTES_KEPT)
        forget_all (lookup);
    if (*slot && lookup->slot_count < SLOTS_MAX) {
        add_slots (lookup);
        slot = &lookup->slots[id % lookup->slot_count];
    }
    if (*slot)
        lookup->bytes -= (*slot)->bytes;
    free (*slot);
    *slot = read_entry (lookup, id, error);
    if (*slot)
        lookup->bytes += (*slot)->bytes;
    return *slot;
}

int lookup_set (lookup_t *lookup, uint64_t id, void *row, gl_error_t *error)
{
    const struct entry *entry = id ? fetch (lookup, id, error) : NULL;

    if (id && !entry)
        return -1;
    for (unsigned i = 0; i < lookup->count; i++) {
        const column_t *c = &lookup->columns[i];
        if (column_is_text (c))
            column_put_text (c, row, entry ? entry->cells[i].text : NULL);
        else
            column_put_number (c, row,
                               entry ? entry->cells[i].number : c->unknown);
    }
    return 0;
}
