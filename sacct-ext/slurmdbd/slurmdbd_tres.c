#include <string.h>

#include "base/memory.h"
#include "slurmdbd/slurmdbd_tres.h"

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
