#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "gres/mig.h"
#include "gres/nodelist.h"
#include "site/kind_private.h"
#include "site/rate_card.h"

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
    const char *nodes = k->site->pools[pool].nodes;
    struct pool_node **set = &k->nodes[pool], *found = NULL;

    if (!nodes)
        return true;
    if (!node)
        return false;
    if (!*set) /* most kinds_t are asked for devices of few pools, or of none */
        *set = pool_nodes_new (nodes);
    HASH_FIND_STR (*set, node, found);
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
        bool takes = site_pool_lists (pool, type ? type : "gpu")
                     || (type && pool->gres.count == 0);
        if ((type && !takes) || !pool_covers (k, i, s, node, instant))
            continue;
        if (takes)
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

/* --- weights ------------------------------------------------------------ */

static mig_table_t site_profiles (const site_t *site)
{
    return (mig_table_t){site->profiles, site->profile_count};
}

/* The type that weighs: the device's own, or the only one of its pool. */
static const char *weighing_type (const device_kind_t *kind)
{
    if (!kind->type && kind->pool && kind->pool->gres.count == 1
        && strcmp (kind->pool->gres.item[0], "gpu"))
        return kind->pool->gres.item[0];
    return kind->type;
}

/* The weight of an untyped device in the pool: that of the pool's types, where
 * all of them weigh the same. "gpu" in the list is a whole GPU. */
static int untyped_weight (const mig_table_t *table, const site_pool_t *pool,
                           mig_basis_t basis, fraction_t *ret_weight,
                           gl_error_t *error)
{
    fraction_t weight;

    *ret_weight = fraction (1, 1);
    if (!pool || site_pool_lists (pool, "gpu"))
        return 0;
    if (pool->gres.count == 0 && pool->layout)
        return gl_error (error,
                         "accounting does not tell their type, and pool %s is "
                         "cut into slices",
                         pool->name);
    for (size_t i = 0; i < pool->gres.count; i++) {
        const char *type = pool->gres.item[i];
        if (mig_type_weight (table, pool->gpu, type, strlen (type), basis,
                             &weight, error)
            < 0)
            return -1;
        if (i == 0)
            *ret_weight = weight;
        else if (weight.num != ret_weight->num || weight.den != ret_weight->den)
            return gl_error (error,
                             "accounting does not tell their type, and those "
                             "of pool %s, such as %s and %s, weigh differently",
                             pool->name, pool->gres.item[0], type);
    }
    return 0;
}

/* What the node itself says that an untyped device is. */
static int seen_weight (const mig_table_t *table, const device_kind_t *kind,
                        mig_basis_t basis, fraction_t *ret_weight,
                        gl_error_t *error)
{
    const char *gpu
        = kind->pool && kind->pool->gpu ? kind->pool->gpu : kind->model;

    if (!kind->seen[0]) {
        *ret_weight = fraction (1, 1);
        return 0;
    }
    return mig_weight (table, gpu, kind->seen, strlen (kind->seen), basis,
                       ret_weight, error);
}

/* From the pool, else from the GRES of the node in accounting ("2/8"). */
static int part_weight (const device_kind_t *kind, const char *part,
                        fraction_t *ret_weight, gl_error_t *error)
{
    const site_pool_t *pool = kind->pool;
    const char *slash = kind->seen ? strchr (kind->seen, '/') : NULL;
    bool mps = !strcmp (part, "mps");
    int64_t count = !pool ? 0 : mps ? pool->mps_per_gpu : pool->shards_per_gpu;
    int64_t gpus = 1;

    if (count == 0 && mps)
        count = 100;
    if (count == 0 && slash
        && (number_i64 (kind->seen, slash - kind->seen, &gpus) < 0
            || number_i64_text (slash + 1, &count) < 0))
        count = 0;
    if (count == 0)
        return gl_error (error,
                         "nothing tells how many shards a GPU had; set "
                         "shards_per_gpu of %s%s",
                         pool ? "pool " : "its pool", pool ? pool->name : "");
    *ret_weight = fraction (gpus, count);
    return 0;
}

int kind_weight (const site_t *site, const device_kind_t *kind,
                 mig_basis_t basis, fraction_t *ret_weight, gl_error_t *error)
{
    mig_table_t table = site_profiles (site);
    const char *gpu, *part = kind_part_of_type (kind->type, &gpu);
    fraction_t weight;
    int rc;

    if (part)
        rc = part_weight (kind, part, &weight, error);
    else if (!kind->type && kind->seen)
        rc = seen_weight (&table, kind, basis, &weight, error);
    else if (kind->type)
        rc = mig_type_weight (&table, kind->pool ? kind->pool->gpu : NULL,
                              kind->type, strlen (kind->type), basis, &weight,
                              error);
    else
        rc = untyped_weight (&table, kind->pool, basis, &weight, error);
    if (rc == 0)
        *ret_weight = weight;
    return rc;
}

/* Many cells ask for these. What has none is an error where it is priced. */
static void weigh_prices (const site_t *site, device_kind_t *kind)
{
    for (int basis = 0; basis < MIG_BASIS_COUNT; basis++) {
        fraction_t weight;
        if (rate_card_weight (site, kind, basis, &weight, NULL) == 0)
            kind->price_weight[basis] = weight;
    }
}

void kind_weigh (const site_t *site, struct kind_entry *entry)
{
    device_kind_t *kind = &entry->kind;
    const char *type = weighing_type (kind), *profile, *gpu;
    size_t length;
    gl_error_t error;

    kind->part = kind_part_of_type (kind->type, &gpu) != NULL;
    if (kind->part)
        kind->profile = NULL;
    else if (kind->seen)
        kind->profile = kind->seen[0] ? kind->seen : NULL;
    else if (type
             && mig_profile_in_type (type, strlen (type), &profile, &length))
        kind->profile = entry->profile = xstrndup (profile, length);
    if (kind->unsure)
        gl_error (&error, "accounting does not tell their type, and on their "
                          "node are slices and whole GPUs");
    else if (kind_weight (site, kind,
                          kind->pool ? kind->pool->mig_weight : MIG_COMPUTE,
                          &kind->weight, &error)
             == 0)
        kind->weight_known = true;
    if (!kind->weight_known) {
        kind->weight = fraction (0, 1);
        kind->problem = entry->problem = xstrdup (error.text);
    } else if (kind->pool)
        weigh_prices (site, kind);
}
