#include <string.h>

#include "base/memory.h"
#include "gres/mig.h"
#include "gres/nodelist.h"
#include "site/kind_private.h"

struct pool_node *pool_nodes_new (const char *text)
{
    struct pool_node *set = NULL, *found;
    nodelist_t *list = nodelist_open (text, NULL);
    const char *name;

    while (list && (name = nodelist_next (list))) {
        HASH_FIND_STR (set, name, found);
        if (!found) {
            found = xcalloc (1, sizeof (*found));
            found->name = xstrdup (name);
            HASH_ADD_KEYPTR (hh, set, found->name, strlen (found->name), found);
        }
    }
    nodelist_close (list);
    return set;
}

void pool_nodes_free (struct pool_node *set)
{
    struct pool_node *entry, *next;

    HASH_ITER (hh, set, entry, next)
    {
        HASH_DEL (set, entry);
        free (entry->name);
        free (entry);
    }
}

static bool pool_has_node (const kinds_t *k, size_t pool, const char *node)
{
    struct pool_node *found = NULL;

    if (!k->site->pools[pool].nodes)
        return true;
    if (node)
        HASH_FIND_STR (k->nodes[pool], node, found);
    return found != NULL;
}

bool pool_has_slices (const site_pool_t *pool)
{
    const char *profile;
    size_t length;

    for (size_t i = 0; i < pool->gres.count; i++) {
        const char *type = pool->gres.item[i];
        if (mig_profile_in_type (type, strlen (type), &profile, &length))
            return true;
    }
    return pool->gres.count == 0 && pool->layout;
}

static bool covers (const kinds_t *k, size_t i, resource_t resource,
                    const segment_t *s, const char *node, int64_t instant)
{
    const site_pool_t *pool = &k->site->pools[i];

    return pool->resource == (int)resource && period_has (pool->valid, instant)
           && (!pool->cluster || !strcmp (pool->cluster, s->cluster))
           && pool_has_node (k, i, node);
}

bool pool_covers (const kinds_t *k, size_t i, const segment_t *s,
                  const char *node, int64_t instant)
{
    return covers (k, i, RESOURCE_GPU, s, node, instant);
}

const site_pool_t *pool_of_cpus (const kinds_t *k, const segment_t *s,
                                 const char *node, int64_t instant)
{
    bool gpus = s->gpu_asked || (s->gres && s->gres[0]);

    for (size_t i = 0; i < k->site->pool_count; i++)
        if (covers (k, i, RESOURCE_CPU, s, node, instant)
            && (!gpus || k->site->pools[i].cpu_jobs == CPUS_OF_ALL))
            return &k->site->pools[i];
    return NULL;
}

const char *const kind_part_names[KIND_PARTS] = {"shard", "mps"};

const char *kind_part_of_type (const char *type, const char **ret_gpu)
{
    *ret_gpu = type;
    for (size_t i = 0; type && i < KIND_PARTS; i++) {
        size_t length = strlen (kind_part_names[i]);
        if (strncmp (type, kind_part_names[i], length)
            || (type[length] && type[length] != ':'))
            continue;
        *ret_gpu = type[length] ? type + length + 1 : NULL;
        return kind_part_names[i];
    }
    return NULL;
}

/* A pool that lists the parts themselves. */
static const site_pool_t *pool_of_part (const kinds_t *k, const segment_t *s,
                                        const char *node, const char *type,
                                        const char *part, int64_t instant)
{
    for (size_t i = 0; part && i < k->site->pool_count; i++) {
        const site_pool_t *pool = &k->site->pools[i];
        if (pool_covers (k, i, s, node, instant)
            && (site_pool_lists (pool, type) || site_pool_lists (pool, part)))
            return pool;
    }
    return NULL;
}

const site_pool_t *pool_of_device (const kinds_t *k, const segment_t *s,
                                   const char *node, const char *type,
                                   int64_t instant)
{
    const char *gpu, *part = kind_part_of_type (type, &gpu);
    const site_pool_t *only = pool_of_part (k, s, node, type, part, instant);
    size_t covering = 0;

    if (only)
        return only;
    type = gpu;
    for (size_t i = 0; i < k->site->pool_count; i++) {
        const site_pool_t *pool = &k->site->pools[i];
        if (!pool_covers (k, i, s, node, instant))
            continue;
        if (site_pool_lists (pool, type ? type : "gpu")
            || (type && pool->gres.count == 0))
            return pool;
        only = pool;
        covering++;
    }
    return !type && covering == 1 ? only : NULL;
}

const site_pool_t *kinds_pool (const kinds_t *k, const char *cluster,
                               const char *node, const char *type,
                               int64_t instant)
{
    const segment_t s = {.cluster = cluster};

    return pool_of_device (k, &s, node, type, instant);
}
