#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "gres/nodelist.h"
#include "gres/tres.h"
#include "site/kind_private.h"

/* A month of a large site has some thousands of distinct (GRES, node list)
 * pairs; above this many the cache starts afresh, so that memory is bounded. */
#define CACHE_MAX 20000

/* `unsure`: an untyped device on a node of several pools, of which one has
 * slices: it may be one. */
static const device_kind_t *kind_get (kinds_t *k, const site_pool_t *pool,
                                      const char *type, bool unsure,
                                      const char *seen, const char *model)
{
    struct kind_entry *entry;

    for (entry = k->list; entry; entry = entry->next) {
        if (entry->kind.pool == pool && text_same (entry->kind.type, type)
            && entry->kind.unsure == unsure && text_same (entry->seen, seen)
            && text_same (entry->model, model))
            return &entry->kind;
    }
    entry = xcalloc (1, sizeof (*entry));
    entry->type = xstrdup (type);
    entry->seen = xstrdup (seen);
    entry->model = xstrdup (model);
    entry->kind
        = (device_kind_t){.pool = pool,
                          .type = entry->type,
                          .seen = entry->seen,
                          .model = entry->model,
                          .unsure = unsure,
                          .cpu = pool && pool->resource == RESOURCE_CPU};
    kind_weigh (k->site, entry);
    entry->next = k->list;
    k->list = entry;
    return &entry->kind;
}

/* --- what a segment holds ---------------------------------------------- */

static const char *intern_name (kinds_t *k, const char *name)
{
    struct name_entry *entry;

    HASH_FIND_STR (k->names, name, entry);
    if (!entry) {
        entry = xcalloc (1, sizeof (*entry));
        entry->name = xstrdup (name);
        HASH_ADD_KEYPTR (hh, k->names, entry->name, strlen (entry->name),
                         entry);
    }
    return entry->name;
}

static void build_add (kinds_t *k, const device_kind_t *kind, const char *node,
                       uint64_t devices)
{
    for (size_t i = k->build_from; i < k->build_count; i++) {
        holding_t *h = &k->build[i];
        if (h->kind == kind && h->node == node) {
            h->devices += devices;
            return;
        }
    }
    if (k->build_count == k->build_size) {
        k->build_size = k->build_size ? k->build_size * 2 : 16;
        k->build = xreallocarray (k->build, k->build_size, sizeof (*k->build));
    }
    k->build[k->build_count++] = (holding_t){kind, node, devices};
}

struct split {
    kinds_t *kinds;
    const segment_t *segment;
    nodelist_t *nodes;
    int64_t instant;
};

/* True if some pool has such devices on the node, now or at another time: pools
 * begin and end, and the devices of a job stay where they are. */
static bool node_has (struct split *sp, const char *node, const char *type)
{
    const kinds_t *k = sp->kinds;
    bool has = pool_of_device (k, sp->segment, node, type, SITE_ALWAYS_START);

    for (size_t i = 0; i < k->change_count && !has; i++)
        has = pool_of_device (k, sp->segment, node, type, k->changes[i]);
    return has;
}

/* An untyped device of no pool, on a node that has slices. */
static bool may_be_slice (struct split *sp, const char *node, const char *type,
                          const site_pool_t *pool)
{
    const kinds_t *k = sp->kinds;

    for (size_t i = 0; !type && !pool && i < k->site->pool_count; i++) {
        if (pool_covers (k, i, sp->segment, node, sp->instant)
            && pool_has_slices (&k->site->pools[i]))
            return true;
    }
    return false;
}

/* The nodes of the segment that have such devices; if none has, all of
 * them. `ret_some`: they are some of its nodes. */
static uint64_t eligible_nodes (struct split *sp, const char *type,
                                bool *ret_some)
{
    const uint64_t all = nodelist_count (sp->nodes);
    uint64_t pooled = 0;
    const char *node;

    nodelist_rewind (sp->nodes);
    while ((node = nodelist_next (sp->nodes))) {
        if (node_has (sp, node, type))
            pooled++;
    }
    *ret_some = pooled > 0 && pooled < all;
    return pooled ? pooled : all;
}

/* "2/8": a shard's node, where its pool does not tell. NULL: nobody does. */
static char *seen_shards (const struct split *sp, const char *node,
                          const char *type, const site_pool_t *pool)
{
    const segment_t *s = sp->segment;
    const char *gpu, *part = kind_part_of_type (type, &gpu);

    if (!part || strcmp (part, "shard") || (pool && pool->shards_per_gpu))
        return NULL;
    for (size_t i = 0; i < s->shards_count; i++) {
        fraction_t per = fraction ((int64_t)s->shards[i].gpus,
                                   (int64_t)s->shards[i].shards);
        if (!strcmp (s->shards[i].node, node))
            return xasprintf ("%lld/%lld", (long long)per.num,
                              (long long)per.den);
    }
    return NULL;
}

/* So many devices on that node. */
static void split_share (struct split *sp, const char *node, const char *type,
                         uint64_t share)
{
    const site_pool_t *pool
        = pool_of_device (sp->kinds, sp->segment, node, type, sp->instant);
    bool unsure = may_be_slice (sp, node, type, pool);
    GL_AUTOFREE char *seen = seen_shards (sp, node, type, pool);

    if (share)
        build_add (sp->kinds,
                   kind_get (sp->kinds, pool, type, unsure, seen, NULL),
                   intern_name (sp->kinds, node), share);
}

static void split_devices (struct split *sp, const char *type, uint64_t count)
{
    uint64_t nodes, index = 0;
    const char *node;
    bool some;

    if (!sp->nodes || nodelist_count (sp->nodes) == 0) {
        const site_pool_t *pool
            = pool_of_device (sp->kinds, sp->segment, NULL, type, sp->instant);
        build_add (sp->kinds,
                   kind_get (sp->kinds, pool, type, false, NULL, NULL), NULL,
                   count);
        return;
    }
    nodes = eligible_nodes (sp, type, &some);
    nodelist_rewind (sp->nodes);
    while ((node = nodelist_next (sp->nodes))) {
        if (some && !node_has (sp, node, type))
            continue;
        split_share (sp, node, type, count / nodes + (index < count % nodes));
        index++;
    }
}

static void split_type (const char *text, size_t length, uint64_t count,
                        void *arg)
{
    GL_AUTOFREE char *type = text ? xstrndup (text, length) : NULL;

    split_devices (arg, type, count);
}

struct part_split {
    struct split *split;
    const char *name;
};

static void split_part (const char *text, size_t length, uint64_t count,
                        void *arg)
{
    struct part_split *part = arg;
    GL_AUTOFREE char *type
        = text ? xasprintf ("%s:%.*s", part->name, (int)length, text)
               : xstrdup (part->name);

    split_devices (part->split, type, count);
}

static void split_gres (struct split *sp)
{
    const char *gres = sp->segment->gres;

    if (gres_devices (gres, split_type, sp, NULL) > 0)
        return; /* parts are of segments that hold no GPU */
    for (size_t i = 0; i < KIND_PARTS; i++)
        gres_parts (gres, kind_part_names[i], split_part,
                    &(struct part_split){sp, kind_part_names[i]});
}

/* CPUs are everywhere: all nodes of the segment have a part, counted or not. */
static void split_cpus (struct split *sp)
{
    const segment_t *s = sp->segment;
    uint64_t nodes = sp->nodes ? nodelist_count (sp->nodes) : 0, index = 0;
    const char *node;

    if (!sp->kinds->counts_cpus || nodes == 0 || s->cpus == COUNT_UNKNOWN)
        return;
    nodelist_rewind (sp->nodes);
    while ((node = nodelist_next (sp->nodes))) {
        uint64_t share = s->cpus / nodes + (index++ < s->cpus % nodes);
        const site_pool_t *pool
            = pool_of_cpus (sp->kinds, s, node, sp->instant);
        if (pool && share)
            build_add (sp->kinds,
                       kind_get (sp->kinds, pool, "cpu", false, NULL, NULL),
                       intern_name (sp->kinds, node), share);
    }
}

/* The pool of a device that a node's record shows. Accounting may hide what the
 * inventory tells: then its type, or its profile, finds the pool. */
static const site_pool_t *pool_of_held (struct split *sp,
                                        const allocated_device_t *held)
{
    const char *const types[] = {held->type, held->gres_type, held->profile};
    size_t count = held->type ? 1 : GL_ARRAY_SIZE (types);
    const site_pool_t *pool = NULL;

    for (size_t i = 0; i < count && !pool; i++)
        if (i == 0 || (types[i] && types[i][0]))
            pool = pool_of_device (sp->kinds, sp->segment, held->node, types[i],
                                   sp->instant);
    return pool;
}

static const device_kind_t *kind_of_held (struct split *sp,
                                          const allocated_device_t *held)
{
    const site_pool_t *pool = pool_of_held (sp, held);
    const char *seen = held->type ? NULL : held->profile;
    bool unsure = !seen && may_be_slice (sp, held->node, held->type, pool);

    return kind_get (sp->kinds, pool, held->type, unsure, seen,
                     seen ? held->model : NULL);
}

static void split_held (struct split *sp)
{
    const segment_t *s = sp->segment;

    for (size_t i = 0; i < s->allocated_count; i++)
        build_add (sp->kinds, kind_of_held (sp, &s->allocated[i]),
                   intern_name (sp->kinds, s->allocated[i].node), 1);
}

static void cache_clear (kinds_t *k)
{
    struct cache_entry *entry, *next;

    k->last = NULL;
    HASH_ITER (hh, k->cache, entry, next)
    {
        HASH_DEL (k->cache, entry);
        free (entry->by_node);
        free (entry->key);
        free (entry);
    }
}

static void key_text (buffer_t *key, const char *text)
{
    buffer_add (key, text ? text : "", (text ? strlen (text) : 0) + 1);
}

static size_t epoch_of (const kinds_t *k, int64_t instant)
{
    size_t epoch = 0;

    while (epoch < k->change_count && k->changes[epoch] <= instant)
        epoch++;
    return epoch;
}

/* The instant matters only by which pools are in force. Asked for each segment
 * of a month, and nearly all of them hold what some other one held: no
 * formatting. */
static void cache_key (kinds_t *k, const segment_t *s, int64_t instant)
{
    buffer_t *key = &k->key;
    const size_t head[] = {epoch_of (k, instant), s->allocated_count};

    buffer_clear (key);
    buffer_add (key, head, sizeof (head));
    key_text (key, s->cluster);
    key_text (key, s->gres);
    key_text (key, s->nodelist);
    if (k->counts_cpus) {
        buffer_add (key, &s->cpus, sizeof (s->cpus));
        buffer_add_char (key, s->gpu_asked ? 'g' : 'c');
    }
    for (size_t i = 0; i < s->allocated_count; i++) {
        const allocated_device_t *held = &s->allocated[i];
        key_text (key, held->node);
        key_text (key, held->type);
        key_text (key, held->gres_type);
        key_text (key, held->profile ? held->profile : "?");
        key_text (key, held->model);
    }
    for (size_t i = 0; i < s->shards_count; i++)
        buffer_printf (key, "\n%s\t%llu/%llu", s->shards[i].node,
                       (unsigned long long)s->shards[i].gpus,
                       (unsigned long long)s->shards[i].shards);
}

static bool names_gpus (const segment_t *s)
{
    return s->gres && s->gres[0];
}

bool kinds_count (const kinds_t *k, const segment_t *s)
{
    return names_gpus (s) || s->gpu_asked || k->counts_cpus;
}

/* What the segment holds by node, and behind it the same of all nodes. */
static void cache_holdings (kinds_t *k, struct split *sp,
                            struct cache_entry *entry)
{
    k->build_from = k->build_count = 0;
    if (sp->segment->allocated)
        split_held (sp);
    else if (names_gpus (sp->segment))
        split_gres (sp);
    split_cpus (sp);
    entry->node_count = k->build_from = k->build_count;
    for (size_t i = 0; i < entry->node_count; i++)
        build_add (k, k->build[i].kind, NULL, k->build[i].devices);
    entry->count = k->build_count - entry->node_count;
    entry->by_node = xcalloc (k->build_count + 1, sizeof (*entry->by_node));
    if (k->build_count)
        memcpy (entry->by_node, k->build,
                k->build_count * sizeof (*entry->by_node));
}

static struct cache_entry *cache_get (kinds_t *k, const segment_t *s,
                                      int64_t instant)
{
    struct cache_entry *entry;
    struct split sp = {.kinds = k, .segment = s, .instant = instant};

    cache_key (k, s, instant);
    entry = k->last; /* several ask for a segment, one after the other */
    if (entry && entry->key_length == k->key.length
        && memcmp (entry->key, k->key.data, k->key.length) == 0)
        return entry;
    HASH_FIND (hh, k->cache, k->key.data, k->key.length, entry);
    if (entry)
        return k->last = entry;
    if (HASH_COUNT (k->cache) >= CACHE_MAX)
        cache_clear (k);
    entry = xcalloc (1, sizeof (*entry));
    entry->key_length = k->key.length;
    entry->key = buffer_take (&k->key);
    sp.nodes = nodelist_open (s->nodelist, NULL);
    cache_holdings (k, &sp, entry);
    nodelist_close (sp.nodes);
    HASH_ADD_KEYPTR (hh, k->cache, entry->key, entry->key_length, entry);
    return k->last = entry;
}

const holding_t *kinds_of_segment (kinds_t *k, const segment_t *s,
                                   int64_t instant, bool by_node,
                                   size_t *ret_count)
{
    const struct cache_entry *entry;

    *ret_count = 0;
    if (!names_gpus (s) && !k->counts_cpus)
        return NULL;
    entry = cache_get (k, s, instant);
    *ret_count = by_node ? entry->node_count : entry->count;
    return entry->by_node + (by_node ? 0 : entry->node_count);
}

int64_t kinds_until (const kinds_t *k, int64_t instant)
{
    size_t epoch = epoch_of (k, instant);

    return epoch < k->change_count ? k->changes[epoch] : INT64_MAX;
}

/* The only kind among the holdings on that node (NULL: on all nodes). */
static const device_kind_t *only_kind (const holding_t *h, size_t count,
                                       const char *node, bool *ret_several)
{
    const device_kind_t *only = NULL;

    *ret_several = false;
    for (size_t i = 0; i < count; i++) {
        if (h[i].kind->cpu || (node && h[i].node && strcmp (h[i].node, node)))
            continue;
        *ret_several = *ret_several || (only && only != h[i].kind);
        only = h[i].kind;
    }
    return *ret_several ? NULL : only;
}

const device_kind_t *kinds_of_device (kinds_t *k, const segment_t *s,
                                      int64_t instant, const char *node,
                                      int64_t gres_index)
{
    struct split sp = {.kinds = k, .segment = s, .instant = instant};
    const device_kind_t *kind;
    const holding_t *h;
    size_t count;
    bool several;

    for (size_t i = 0; i < s->allocated_count && gres_index >= 0; i++)
        if (s->allocated[i].gres_index == gres_index
            && !strcmp (s->allocated[i].node, node))
            return kind_of_held (&sp, &s->allocated[i]);
    h = kinds_of_segment (k, s, instant, true, &count);
    kind = only_kind (h, count, node, &several);
    return kind || several ? kind : only_kind (h, count, NULL, &several);
}

const device_kind_t *kinds_by_value (kinds_t *k, const char *pool,
                                     int64_t instant, const char *type,
                                     bool unsure, const char *seen,
                                     const char *model)
{
    return kind_get (k, site_pool_at (k->site, pool, instant), type, unsure,
                     seen, model);
}

kinds_t *kinds_new (const site_t *site)
{
    kinds_t *k = xcalloc (1, sizeof (*k));

    k->site = site;
    k->changes = site_changes (
        site, (period_t){SITE_ALWAYS_START, SITE_ALWAYS_END}, &k->change_count);
    k->counts_cpus = site_counts_cpus (site);
    k->nodes = xcalloc (site->pool_count, sizeof (*k->nodes));
    return k;
}

void kinds_free (kinds_t *k)
{
    struct name_entry *name, *next;

    if (!k)
        return;
    cache_clear (k);
    HASH_ITER (hh, k->names, name, next)
    {
        HASH_DEL (k->names, name);
        free (name->name);
        free (name);
    }
    while (k->list) {
        struct kind_entry *entry = k->list;
        k->list = entry->next;
        free (entry->type);
        free (entry->seen);
        free (entry->model);
        free (entry->profile);
        free (entry->problem);
        free (entry);
    }
    GL_FREE_EACH (k->nodes, k->site->pool_count, it, pool_nodes_free (*it));
    free (k->changes);
    free (k->build);
    buffer_done (&k->key);
    free (k);
}

/* --- dates ------------------------------------------------------------- */

int64_t *site_changes (const site_t *site, period_t period, size_t *ret_count)
{
    int64_t *at
        = xcalloc (2 * (site->pool_count + site->team_count + 1), sizeof (*at));
    size_t count = 0, inside = 0;

    for (size_t i = 0; i < site->pool_count; i++) {
        at[count++] = site->pools[i].valid.start;
        at[count++] = site->pools[i].valid.end;
    }
    for (size_t i = 0; i < site->team_count; i++) {
        at[count++] = site->teams[i].valid.start;
        at[count++] = site->teams[i].valid.end;
    }
    for (size_t i = 0; i < count; i++)
        if (at[i] > period.start && at[i] < period.end)
            at[inside++] = at[i];
    *ret_count = instants_sort (at, inside);
    return at;
}
