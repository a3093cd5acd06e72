/*
 * Interning: a value that many facts share is a row of its own, found by the
 * digest of its bytes. A cache in front answers nearly every question of an
 * import; it is bounded, and what falls out is looked up again.
 */
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
    struct intern_entry *entries; /* oldest first */
    size_t bytes;
};

static struct intern_cache *cache_of (store_t *store, intern_kind_t kind)
{
    if (!store->caches[kind])
        store->caches[kind] = xcalloc (1, sizeof (*store->caches[kind]));
    return store->caches[kind];
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
    for (size_t i = 0; i < INTERN_COUNT; i++) {
        struct intern_cache *cache = store->caches[i];
        while (cache && cache->entries)
            drop (cache, cache->entries);
        free (cache);
        store->caches[i] = NULL;
    }
}

/* Look the digest up. 1: found, 0: not there. */
static int find_digest (store_t *store, sql_t find, const uint8_t *digest,
                        uint64_t *ret_id, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, find, error);
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

typedef void (*bind_f) (db_statement_t *st, const void *value);

static void bind_text (db_statement_t *st, const void *value)
{
    db_bind_text (st, 1, value);
}

static void bind_party (db_statement_t *st, const void *value)
{
    const segment_t *s = value;

    db_bind_text (st, 1, s->user);
    store_bind_u64 (st, 2, s->uid, UINT32_MAX);
    db_bind_text (st, 3, s->account);
    db_bind_text (st, 4, s->partition);
    db_bind_text (st, 5, s->qos);
    db_bind_text (st, 6, s->wckey);
    db_bind_text (st, 7, s->reservation);
}

static void bind_shape (db_statement_t *st, const void *value)
{
    const segment_t *s = value;

    db_bind_text (st, 1, s->gres);
    db_bind_text (st, 2, s->gres_requested);
    db_bind_u64 (st, 3, s->gpu_asked);
    store_bind_u64 (st, 4, s->cpus, COUNT_UNKNOWN);
    store_bind_u64 (st, 5, s->memory_mb, COUNT_UNKNOWN);
    store_bind_u64 (st, 6, s->nodes, COUNT_UNKNOWN);
    store_bind_i64 (st, 7, s->time_limit, SECONDS_UNKNOWN);
}

static void bind_device (db_statement_t *st, const void *value)
{
    const device_usage_t *u = value;

    db_bind_text (st, 1, u->node);
    db_bind_text (st, 2, u->gpu);
    db_bind_text (st, 3, u->slice);
    store_bind_i64 (st, 4, u->gres_index, MEASURE_UNKNOWN);
    store_bind_i64 (st, 5, u->memory_total, MEASURE_UNKNOWN);
}

static const struct {
    sql_t find;
    sql_t add;
    bind_f bind;
} kinds[INTERN_COUNT] = {
    [INTERN_TEXT] = {SQL_TEXT_FIND, SQL_TEXT_ADD, bind_text},
    [INTERN_PARTY] = {SQL_PARTY_FIND, SQL_PARTY_ADD, bind_party},
    [INTERN_SHAPE] = {SQL_SHAPE_FIND, SQL_SHAPE_ADD, bind_shape},
    [INTERN_DEVICE] = {SQL_DEVICE_FIND, SQL_DEVICE_ADD, bind_device},
};

static int add_row (store_t *store, intern_kind_t kind, const uint8_t *digest,
                    const void *value, uint64_t *ret_id, gl_error_t *error)
{
    db_statement_t *st = store_statement (store, kinds[kind].add, error);

    if (!st)
        return -1;
    db_bind_blob (st, 0, digest, DIGEST_SIZE);
    kinds[kind].bind (st, value);
    if (db_run (st, error) < 0)
        return -1;
    *ret_id = db_last_id (store->db);
    return 0;
}

static int intern (store_t *store, intern_kind_t kind, const char *key,
                   size_t length, const void *value, uint64_t *ret_id,
                   gl_error_t *error)
{
    struct intern_cache *cache = cache_of (store, kind);
    uint8_t digest[SHA256_DIGEST_LENGTH];
    uint64_t id = cache_find (cache, key, length);
    int rc;

    if (id == 0) {
        SHA256 ((const unsigned char *)key, length, digest);
        rc = find_digest (store, kinds[kind].find, digest, &id, error);
        if (rc == 0)
            rc = add_row (store, kind, digest, value, &id, error);
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

int intern_text (store_t *store, const char *text, uint64_t *ret_id,
                 gl_error_t *error)
{
    int length;

    if (!text) {
        *ret_id = 0;
        return 0;
    }
    length = length_of (text, error);
    if (length < 0)
        return -1;
    return intern (store, INTERN_TEXT, text, (size_t)length, text, ret_id,
                   error);
}

int intern_bind (store_t *store, db_statement_t *st, unsigned at,
                 const char *text, gl_error_t *error)
{
    uint64_t id;

    if (intern_text (store, text, &id, error) < 0)
        return -1;
    store_bind_u64 (st, at, id, 0);
    return 0;
}

/* The bytes whose digest is kept: never change how they are made. A text is
 * its length + 1 and itself, NULL the length 0; numbers are little-endian. */
static void key_number (buffer_t *key, uint64_t value, int bytes)
{
    char le[8];

    for (int i = 0; i < bytes; i++)
        le[i] = (char)(value >> 8 * i);
    buffer_add (key, le, (size_t)bytes);
}

static int key_text (buffer_t *key, const char *text, gl_error_t *error)
{
    int length;

    if (!text) {
        key_number (key, 0, 4);
        return 0;
    }
    length = length_of (text, error);
    if (length < 0)
        return -1;
    key_number (key, (uint64_t)length + 1, 4);
    buffer_add (key, text, (size_t)length);
    return 0;
}

int intern_party (store_t *store, const segment_t *s, uint64_t *ret_id,
                  gl_error_t *error)
{
    const char *texts[] = {s->user, s->account, s->partition,
                           s->qos,  s->wckey,   s->reservation};
    buffer_t *key = &store->key;

    buffer_clear (key);
    key_number (key, s->uid, 4);
    for (size_t i = 0; i < GL_ARRAY_SIZE (texts); i++) {
        if (key_text (key, texts[i], error) < 0)
            return -1;
    }
    return intern (store, INTERN_PARTY, key->data, key->length, s, ret_id,
                   error);
}

int intern_shape (store_t *store, const segment_t *s, uint64_t *ret_id,
                  gl_error_t *error)
{
    buffer_t *key = &store->key;

    buffer_clear (key);
    key_number (key, s->gpu_asked, 1);
    key_number (key, s->cpus, 8);
    key_number (key, s->memory_mb, 8);
    key_number (key, s->nodes, 8);
    key_number (key, (uint64_t)s->time_limit, 8);
    if (key_text (key, s->gres, error) < 0
        || key_text (key, s->gres_requested, error) < 0)
        return -1;
    return intern (store, INTERN_SHAPE, key->data, key->length, s, ret_id,
                   error);
}

int intern_device (store_t *store, const device_usage_t *u, uint64_t *ret_id,
                   gl_error_t *error)
{
    buffer_t *key = &store->key;

    buffer_clear (key);
    key_number (key, (uint64_t)u->gres_index, 8);
    key_number (key, (uint64_t)u->memory_total, 8);
    if (key_text (key, u->node, error) < 0 || key_text (key, u->gpu, error) < 0
        || key_text (key, u->slice, error) < 0)
        return -1;
    return intern (store, INTERN_DEVICE, key->data, key->length, u, ret_id,
                   error);
}
