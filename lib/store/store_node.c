/*
 * Of each node and kind of record the number and the newest one. Kept in memory
 * during a transaction and written at its end: a batch of a node is one row.
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
    db_statement_t *st;
    int rc;

    if (node_flush (store, error) < 0)
        return -1;
    st = store_statement (store, SQL_NODE_OLDER, error);
    if (!st)
        return -1;
    db_bind_u64 (st, 0, cluster);
    db_bind_text (st, 1, node);
    db_bind_u64 (st, 2, kind);
    db_bind_i64 (st, 3, stamp);
    rc = db_step (st, error);
    db_reset (st);
    return rc;
}

/* Add what the row knows to the entry. */
static void merge_row (const db_statement_t *row, struct node_entry *entry)
{
    struct node_record_id stands
        = {.stamp = db_column_i64 (row, 1), .id_job = db_column_u64 (row, 3)};

    if (db_column_length (row, 2) == sizeof (stands.key))
        memcpy (stands.key, db_column_text (row, 2), sizeof (stands.key));
    entry->records += db_column_u64 (row, 0);
    if (compare_ids (&stands, &entry->newest) > 0)
        entry->newest = stands;
}

static void bind_key (db_statement_t *st, const struct node_entry *entry)
{
    db_bind_u64 (st, 0, entry->key.cluster);
    db_bind_text (st, 1, entry->key.name);
    db_bind_u64 (st, 2, entry->key.kind);
}

static int write_entry (store_t *store, struct node_entry *entry,
                        gl_error_t *error)
{
    db_statement_t *get = store_statement (store, SQL_NODE_GET, error);
    db_statement_t *put = store_statement (store, SQL_NODE_PUT, error);
    int rc;

    if (!get || !put)
        return -1;
    bind_key (get, entry);
    rc = db_step (get, error);
    if (rc == 1)
        merge_row (get, entry);
    db_reset (get);
    if (rc < 0)
        return -1;
    bind_key (put, entry);
    db_bind_u64 (put, 3, entry->records);
    db_bind_i64 (put, 4, entry->newest.stamp);
    db_bind_blob (put, 5, entry->newest.key, sizeof (entry->newest.key));
    db_bind_u64 (put, 6, entry->newest.id_job);
    return db_run (put, error);
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

struct store_node_iter {
    walk_t walk;
};

static const struct walk_plan plan = {
    .select = "SELECT n.name, n.kind, n.records, n.last_stamp, n.last_key, "
              "r.payload FROM node n LEFT JOIN node_record r "
              "ON r.cluster = n.cluster AND r.id_job = n.last_job "
              "AND r.stamp = n.last_stamp AND r.record_key = n.last_key",
    .where = "n.cluster = ?",
    .where_binds = "c",
    .kind = "n.kind = ?",
    .order = "n.name, n.kind",
};

store_node_iter_t *store_node_iter_open (store_t *store,
                                         const store_query_t *query,
                                         gl_error_t *error)
{
    store_node_iter_t *iter = xcalloc (1, sizeof (*iter));

    if (walk_open (&iter->walk, store, query, &plan, error) < 0) {
        free (iter);
        return NULL;
    }
    return iter;
}

int store_node_iter_next (store_node_iter_t *iter, store_node_t *ret,
                          gl_error_t *error)
{
    const db_statement_t *st = iter->walk.st;
    const char *cluster;
    int rc = walk_next (&iter->walk, &cluster, error);

    if (rc != 1)
        return rc;
    *ret = (store_node_t){
        .cluster = cluster,
        .node = db_column_text (st, 0),
        .kind = (uint32_t)db_column_u64 (st, 1),
        .records = db_column_u64 (st, 2),
        .last_stamp = db_column_i64 (st, 3),
        .payload = db_column_text (st, 5),
        .payload_length = db_column_length (st, 5),
    };
    if (db_column_length (st, 4) != STORE_KEY_SIZE)
        return gl_error (error, "node %s has a damaged key", ret->node);
    memcpy (ret->last_key, db_column_text (st, 4), STORE_KEY_SIZE);
    return 1;
}

void store_node_iter_close (store_node_iter_t *iter)
{
    if (iter) {
        walk_close (&iter->walk);
        free (iter);
    }
}
