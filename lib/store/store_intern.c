/*
 * Interning: a value that many facts share is a row of its own, found by the
 * digest of its bytes. A cache in front answers nearly every question of an
 * import; it is bounded, and what falls out is looked up again.
 */
#include <endian.h>
#include <stdint.h>
#include <string.h>

#include <openssl/sha.h>

/* Keys are short and many: eight bytes at a time. */
static unsigned hash_bytes (const void *key, size_t length)
{
    const uint64_t factor = UINT64_C (0x9e3779b97f4a7c15);
    const char *p = key;
    uint64_t hash = length, word = 0;

    for (; length >= sizeof (word); length -= sizeof (word)) {
        memcpy (&word, p, sizeof (word));
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
        p += sizeof (word);
    }
    word = 0;
    memcpy (&word, p, length);
    hash = (hash ^ word) * factor;
    return (unsigned)(hash ^ hash >> 32);
}

#define HASH_FUNCTION(key, length, ret) (ret) = hash_bytes (key, length)
#include <uthash.h>

#include "base/memory.h"
#include "store/store_private.h"

#define DIGEST_SIZE 16

/* Longest text that is kept: far above anything Slurm writes (64 KiB), far
 * below max_allowed_packet (16 MiB). */
#define TEXT_LIMIT (1 << 20)

/* A month of a large site has some 10,000 parties and shapes and as many job
 * names. 8 MiB a kind leaves most of the 64 MiB of a sync alone. */
#define CACHE_ENTRIES 65536
#define CACHE_BYTES (8 << 20)

struct intern_entry {
    UT_hash_handle hh;
    uint64_t id;
    unsigned length;
    char key[];
};

struct intern_cache {
    struct intern_cache *next;
    const row_type_t *type;
    struct intern_entry *entries; /* oldest first */
    size_t bytes;
};

static struct intern_cache *cache_of (store_t *store, const row_type_t *type)
{
    struct intern_cache *c = store->caches;

    while (c && c->type != type)
        c = c->next;
    if (!c) {
        c = xcalloc (1, sizeof (*c));
        c->type = type;
        c->next = store->caches;
        store->caches = c;
    }
    return c;
}

static void drop (struct intern_cache *cache, struct intern_entry *entry)
{
    cache->bytes -= sizeof (*entry) + entry->length;
    HASH_DEL (cache->entries, entry);
    free (entry);
}

static void make_room (struct intern_cache *cache)
{
    while (cache->entries
           && (cache->bytes > CACHE_BYTES
               || HASH_COUNT (cache->entries) >= CACHE_ENTRIES))
        drop (cache, cache->entries);
}

static uint64_t cache_find (struct intern_cache *cache, const char *key,
                            size_t length)
{
    struct intern_entry *entry;

    HASH_FIND (hh, cache->entries, key, (unsigned)length, entry);
    return entry ? entry->id : 0;
}

static void cache_add (struct intern_cache *cache, const char *key,
                       size_t length, uint64_t id)
{
    struct intern_entry *entry = xmalloc (sizeof (*entry) + length + 1);

    make_room (cache);
    memcpy (entry->key, key, length);
    entry->length = (unsigned)length;
    entry->id = id;
    HASH_ADD (hh, cache->entries, key, (unsigned)length, entry);
    cache->bytes += sizeof (*entry) + length;
}

void intern_forget (store_t *store)
{
    struct intern_cache *cache;

    while ((cache = store->caches)) {
        store->caches = cache->next;
        while (cache->entries)
            drop (cache, cache->entries);
        free (cache);
    }
}

/* Look the digest up. 1: found, 0: not there. */
static int find_digest (store_t *store, const row_type_t *type,
                        const uint8_t *digest, uint64_t *ret_id,
                        gl_error_t *error)
{
    db_statement_t *st = row_statement (store, type, ROW_FIND, error);
    int rc;

    if (!st)
        return -1;
    db_bind_blob (st, 0, digest, DIGEST_SIZE);
    rc = db_step (st, error);
    if (rc == 1)
        *ret_id = db_column_u64 (st, 0);
    db_reset (st);
    return rc;
}

static int add_row (store_t *store, const row_type_t *type,
                    const uint8_t *digest, const void *row, uint64_t *ret_id,
                    gl_error_t *error)
{
    db_statement_t *st = row_statement (store, type, ROW_ADD_SHARED, error);
    value_t values[ROW_MAX];
    int count = row_values (store, type, 0, row, values, error);

    if (!st || count < 0)
        return -1;
    db_bind_blob (st, 0, digest, DIGEST_SIZE);
    bind_values (st, 1, values, (size_t)count);
    if (db_run (st, error) < 0)
        return -1;
    *ret_id = db_last_id (store->db);
    return 0;
}

static int intern (store_t *store, const row_type_t *type, const char *key,
                   size_t length, const void *row, uint64_t *ret_id,
                   gl_error_t *error)
{
    struct intern_cache *cache = cache_of (store, type);
    uint8_t digest[SHA256_DIGEST_LENGTH];
    uint64_t id = cache_find (cache, key, length);
    int rc;

    if (id == 0) {
        SHA256 ((const unsigned char *)key, length, digest);
        rc = find_digest (store, type, digest, &id, error);
        if (rc == 0)
            rc = add_row (store, type, digest, row, &id, error);
        if (rc < 0)
            return -1;
        cache_add (cache, key, length, id);
    }
    *ret_id = id;
    return 0;
}

/* The length of a text, or -1. */
static int length_of (const char *text, gl_error_t *error)
{
    size_t length = strnlen (text, TEXT_LIMIT + 1);

    if (length > TEXT_LIMIT)
        return gl_error (error, "a text of more than %d bytes: '%.40s...'",
                         TEXT_LIMIT, text);
    return (int)length;
}

struct text {
    const char *value;
};
static const column_t text_columns[] = {COLUMN (NAME, struct text, value)};
static const row_type_t text_rows
    = ROW_TYPE ("text", text_columns, struct text);

int intern_text (store_t *store, const char *text, uint64_t *ret_id,
                 gl_error_t *error)
{
    const struct text row = {text};
    int length;

    *ret_id = 0;
    if (!text)
        return 0;
    length = length_of (text, error);
    if (length < 0)
        return -1;
    return intern (store, &text_rows, text, (size_t)length, &row, ret_id,
                   error);
}

/* The bytes whose digest is kept: a text is its length + 1 and itself, NULL the
 * length 0; numbers are little-endian. */
static void key_number (buffer_t *key, uint64_t value)
{
    value = htole64 (value);
    buffer_add (key, &value, sizeof (value));
}

static int key_text (buffer_t *key, const char *text, gl_error_t *error)
{
    int length = text ? length_of (text, error) : 0;

    if (length < 0)
        return -1;
    key_number (key, text ? (uint64_t)length + 1 : 0);
    if (text)
        buffer_add (key, text, (size_t)length);
    return 0;
}

int intern_part (store_t *store, const row_type_t *part, const void *row,
                 uint64_t *ret_id, gl_error_t *error)
{
    buffer_t *key = &store->key;

    buffer_clear (key);
    for (unsigned i = 0; i < part->count; i++) {
        const column_t *c = &part->columns[i];
        if (c->type != COLUMN_NAME)
            key_number (key, (uint64_t)column_number (c, row));
        else if (key_text (key, column_text (c, row), error) < 0)
            return -1;
    }
    return intern (store, part, key->data, key->length, row, ret_id, error);
}
