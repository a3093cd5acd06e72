#include <string.h>

#include "base/memory.h"
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

/* --- TRES texts --------------------------------------------------------- */

/* One text a slot; a text that falls on a slot drives out the one before. */
struct tres_cached {
    char *text; /* NULL: free */
    tres_facts_t facts;
};

void tres_cache_init (tres_cache_t *cache, const ids_t *names)
{
    *cache = (tres_cache_t){.names = names, .parser = TRES_INIT};
    cache->slots = xcalloc (TRES_CACHE_SIZE, sizeof (*cache->slots));
}

static void clear_slot (struct tres_cached *slot)
{
    free (slot->text);
    free ((char *)slot->facts.gres);
    slot->text = NULL;
    slot->facts.gres = NULL;
}

void tres_cache_done (tres_cache_t *cache)
{
    for (size_t i = 0; cache->slots && i < TRES_CACHE_SIZE; i++)
        clear_slot (&cache->slots[i]);
    free (cache->slots);
    cache->slots = NULL;
    tres_done (&cache->parser);
}

static bool names_gpu (const char *type, const char *name)
{
    return name && !strcmp (type, "gres")
           && (!strncmp (name, "gpu", 3) || !strncmp (name, "shard", 5)
               || !strncmp (name, "mps", 3));
}

static bool resolve (uint64_t id, const char **ret_type, const char **ret_name,
                     void *arg)
{
    tres_cache_t *cache = arg;

    if (!ids_find (cache->names, id, ret_type, ret_name) || !*ret_type)
        return false;
    if (names_gpu (*ret_type, *ret_name))
        cache->gpu_named = true;
    return true;
}

static void parse (tres_cache_t *cache, const char *text, tres_facts_t *facts)
{
    tres_t *parser = &cache->parser;

    *facts = (tres_facts_t){"", TRES_UNKNOWN, TRES_UNKNOWN, TRES_UNKNOWN,
                            .unreadable = true};
    cache->gpu_named = false;
    if (tres_parse (parser, text, resolve, cache, NULL) < 0)
        return;
    facts->gres = parser->gres;
    facts->cpus = parser->cpus;
    facts->memory_mb = parser->memory_mb;
    facts->nodes = parser->nodes;
    facts->unreadable = false;
    facts->unresolved = parser->unresolved > 0;
    facts->gpu_named = cache->gpu_named;
    facts->gpu_without_count = parser->gpu_without_count;
    gres_devices (facts->gres, NULL, NULL, &facts->contradicting);
}

/* FNV-1a, 64 bits. */
static uint64_t hash (const char *text, size_t length)
{
    uint64_t h = UINT64_C (0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * UINT64_C (0x100000001b3);
    return h;
}

const tres_facts_t *tres_cache_get (tres_cache_t *cache, const char *text)
{
    size_t length = text ? strlen (text) : 0;
    struct tres_cached *slot;

    if (length > TRES_CACHED_MAX) {
        parse (cache, text, &cache->last);
        return &cache->last;
    }
    text = text ? text : "";
    slot = &cache->slots[hash (text, length) % TRES_CACHE_SIZE];
    if (!slot->text || strcmp (slot->text, text) != 0) {
        clear_slot (slot);
        parse (cache, text, &slot->facts);
        slot->facts.gres = xstrdup (slot->facts.gres);
        slot->text = xstrndup (text, length);
    }
    return &slot->facts;
}
