/*
 * The number and the newest of the records of each node and kind. They are
 * collected in memory during a transaction and written at its end: a batch of a
 * node is one row.
 */
#include <string.h>

/* uthash mixes bytes with shifts that wrap, which is what it is for */
#include <uthash.h>

#include "base/memory.h"
#include "store/store_private.h"

/* Above it, what was seen is written before the transaction ends. */
#define NODES_KEPT 4096
#define NAME_MAX_BYTES 255

struct node_entry {
    UT_hash_handle hh;
    uint64_t records;
    struct node_record_id newest;
    struct node_key {
        uint64_t cluster;
        uint32_t kind;
        char name[NAME_MAX_BYTES + 1]; /* the key ends with the name */
    } key;
};

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_ids (const struct node_record_id *a,
                        const struct node_record_id *b)
{
    int order = COMPARE (a->stamp, b->stamp);

    if (order == 0)
        order = memcmp (a->key, b->key, sizeof (a->key));
    return order ? order : COMPARE (a->id_job, b->id_job);
}

static unsigned key_length (size_t name_length)
{
    return (unsigned)(offsetof (struct node_key, name) + name_length);
}

static struct node_entry *entry_of (store_t *store, uint64_t cluster,
                                    const char *name, size_t length,
                                    uint32_t kind)
{
    struct node_key key;
    struct node_entry *entry;

    memset (&key, 0, sizeof (key));
    key.cluster = cluster;
    key.kind = kind;
    memcpy (key.name, name, length);
    HASH_FIND (hh, store->nodes, &key, key_length (length), entry);
    if (!entry) {
        entry = xcalloc (1, sizeof (*entry));
        entry->key = key;
        entry->newest.stamp = INT64_MIN;
        HASH_ADD (hh, store->nodes, key, key_length (length), entry);
    }
    return entry;
}

int node_seen (store_t *store, uint64_t cluster, const char *node,
               uint32_t kind, unsigned records,
               const struct node_record_id *record, gl_error_t *error)
{
    size_t length = node ? strnlen (node, NAME_MAX_BYTES + 1) : 0;
    struct node_entry *entry;

    if (length == 0 || length > NAME_MAX_BYTES)
        return 0;
    entry = entry_of (store, cluster, node, length, kind);
    entry->records += records;
    if (compare_ids (record, &entry->newest) > 0)
        entry->newest = *record;
    if (HASH_COUNT (store->nodes) < NODES_KEPT)
        return 0;
    return node_flush (store, error);
}

int node_has_older (store_t *store, uint64_t cluster, const char *node,
                    uint32_t kind, int64_t stamp, gl_error_t *error)
{
    int64_t one;

    if (node_flush (store, error) < 0)
        return -1;
    return store_number (
        store,
        "SELECT 1 FROM node WHERE cluster = ? AND name = ? "
        "AND kind = ? AND last_stamp <= ?",
        ARGS (as_u64 (cluster), as_text (node), as_u64 (kind), as_i64 (stamp)),
        &one, error);
}

struct node_row {
    store_node_t node;
    uint64_t last_job;
};

static const column_t columns[] = {
    COLUMN (CLUSTER, store_node_t, cluster, KEY),
    COLUMN_AS ("name", NAME, store_node_t, node, KEY),
    COLUMN (U32, store_node_t, kind, KEY),
    COLUMN (U64, store_node_t, records),
    COLUMN (I64, store_node_t, last_stamp),
    COLUMN (BYTES, store_node_t, last_key, .size = STORE_KEY_SIZE),
    COLUMN (U64, struct node_row, last_job, HIDDEN),
    COLUMN_AS ("r.payload", BLOB, store_node_t, payload,
               .flags = COLUMN_JOINED),
};
static const row_type_t node_rows = ROW_TYPE ("node", columns, struct node_row);

/* Adds what the row of the same key knows. */
static int write_entry (store_t *store, const struct node_entry *entry,
                        gl_error_t *error)
{
    struct node_row fresh = {.node = {.node = entry->key.name,
                                      .kind = entry->key.kind,
                                      .records = entry->records}};
    struct node_record_id newest = entry->newest, old;
    struct node_row stored;
    int rc = row_get (store, &node_rows, entry->key.cluster, &fresh, &stored,
                      error);

    if (rc == 1) {
        fresh.node.records += stored.node.records;
        old = (struct node_record_id){.stamp = stored.node.last_stamp,
                                      .id_job = stored.last_job};
        memcpy (old.key, stored.node.last_key, sizeof (old.key));
        if (compare_ids (&old, &newest) > 0)
            newest = old;
    }
    row_release (store, &node_rows);
    if (rc < 0)
        return -1;
    fresh.node.last_stamp = newest.stamp;
    memcpy (fresh.node.last_key, newest.key, sizeof (newest.key));
    fresh.last_job = newest.id_job;
    return row_put (store, &node_rows, entry->key.cluster, &fresh, error);
}

int node_flush (store_t *store, gl_error_t *error)
{
    struct node_entry *entry, *next;

    HASH_ITER (hh, store->nodes, entry, next)
    {
        if (write_entry (store, entry, error) < 0)
            return -1;
    }
    node_forget (store);
    return 0;
}

void node_forget (store_t *store)
{
    struct node_entry *entry, *next;

    HASH_ITER (hh, store->nodes, entry, next)
    {
        HASH_DEL (store->nodes, entry);
        free (entry);
    }
}

static const struct walk_plan plan = {
    .rows = &node_rows,
    .joins = "LEFT JOIN node_record r ON r.cluster = t.cluster "
             "AND r.id_job = t.last_job AND r.stamp = t.last_stamp "
             "AND r.record_key = t.last_key",
    .has_kind = true,
};
const struct iter_class node_iter
    = {.fact_size = sizeof (store_node_t), .plan = &plan};
