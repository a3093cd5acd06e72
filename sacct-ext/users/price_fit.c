/* Which pools can run a request: by what their nodes have, not by what is free. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/number.h"
#include "evidence/energy_bound.h"
#include "gres/mig.h"
#include "gres/nodelist.h"
#include "users/price_private.h"

/* Of a slice whose profile is unknown: it is not said to be too many. */
#define UNKNOWN UINT64_MAX

bool price_type_is_listed (const site_t *site, const char *type, int64_t now)
{
    return GL_ANY (site->pools, site->pool_count, it,
                   period_has (it->valid, now) && site_pool_lists (it, type));
}

/* A type is served where a pool lists it, else where a pool takes every type. An
 * untyped GPU may be any of a pool. */
bool price_pool_serves (const site_pool_t *pool, const char *type, bool listed)
{
    if (!type || pool->resource == RESOURCE_CPU)
        return pool->resource == RESOURCE_GPU;
    return listed ? site_pool_lists (pool, type) : pool->gres.count == 0;
}

/* --- nodes ------------------------------------------------------------- */

/* A pool without a list has every node of its clusters. */
static uint64_t pool_nodes (const site_pool_t *pool)
{
    nodelist_t *list = pool->nodes ? nodelist_open (pool->nodes, NULL) : NULL;
    uint64_t count = list ? nodelist_count (list) : UNKNOWN;

    nodelist_close (list);
    return count;
}

uint64_t price_common_nodes (const site_pool_t *a, const site_pool_t *b)
{
    nodelist_t *of_a, *of_b;
    uint64_t count = 0;

    if (a->cluster && b->cluster && strcmp (a->cluster, b->cluster) != 0)
        return 0;
    if (!a->nodes || !b->nodes)
        return pool_nodes (a->nodes ? a : b);
    of_a = nodelist_open (a->nodes, NULL);
    of_b = nodelist_open (b->nodes, NULL);
    for (const char *name; of_a && of_b && (name = nodelist_next (of_a));)
        count += nodelist_contains (of_b, name);
    nodelist_close (of_a);
    nodelist_close (of_b);
    return count;
}

/* --- devices of a node ------------------------------------------------- */

/* How many slices of the profile a layout has. */
static uint64_t count_in_layout (const char *layout, const char *profile,
                                 size_t length)
{
    uint64_t sum = 0;

    for (const char *at = layout;; at++) {
        size_t item = strcspn (at, ","), name = strcspn (at, ":,");
        uint64_t count = 1;
        if (name < item)
            number_u64 (at + name + 1, item - name - 1, &count);
        if (name == length && strncmp (at, profile, length) == 0)
            sum += count;
        at += item;
        if (!*at)
            return sum;
    }
}

/* GPUs that so many slices take; -1: they do not fit, or are not known. */
static int64_t cards_of (const site_t *site, const site_pool_t *pool,
                         const char *layout, int64_t gpus)
{
    const mig_table_t table = {site->profiles, site->profile_count};
    int64_t cards;

    if (gpus < 1 || gpus > MIG_GPUS_MAX
        || mig_layout (&table, pool->gpu, layout, (int)gpus, MIG_COMPUTE, NULL,
                       NULL, &cards, NULL)
               < 0)
        return -1;
    return cards;
}

/* The most slices of one profile that fit on a node. */
static uint64_t most_slices (const site_t *site, const site_pool_t *pool,
                             const char *profile, size_t length)
{
    uint64_t most = 0;

    for (;; most++) {
        GL_AUTOFREE char *layout
            = xasprintf ("%.*s:%" PRIu64, (int)length, profile, most + 1);
        if (cards_of (site, pool, layout, pool->gpus_per_node) < 0)
            return most ? most : UNKNOWN;
    }
}

static uint64_t most_on_node (const site_t *site, const site_pool_t *pool,
                              const char *type)
{
    const char *profile;
    size_t length;
    int64_t cut;

    if (type && mig_profile_in_type (type, strlen (type), &profile, &length))
        return pool->layout ? count_in_layout (pool->layout, profile, length)
                            : most_slices (site, pool, profile, length);
    cut = pool->layout
              ? cards_of (site, pool, pool->layout, pool->gpus_per_node)
              : 0;
    return (uint64_t)(pool->gpus_per_node - (cut > 0 ? cut : 0));
}

/* Another pool has such devices on nodes of this one. */
static bool is_elsewhere (const site_t *site, const site_pool_t *pool,
                          const char *type)
{
    for (size_t i = 0; i < site->pool_count; i++) {
        const site_pool_t *other = &site->pools[i];
        if (other != pool && site_pool_lists (other, type)
            && price_common_nodes (pool, other) > 0)
            return true;
    }
    return false;
}

/* Of the types that the pool alone serves: whole GPUs, and GPUs that must be cut
 * into the slices, are more than a node has. */
static bool too_full (const site_t *site, const price_request_t *r,
                      const site_pool_t *pool)
{
    GL_AUTOFREE char *layout = NULL;
    uint64_t whole = 0;
    const char *profile;
    size_t length;
    int64_t cards;

    for (size_t i = 0; i < r->count; i++) {
        const price_item_t *item = &r->item[i];
        char *longer;
        if (!item->type || !item->per_node
            || !site_pool_lists (pool, item->type)
            || is_elsewhere (site, pool, item->type))
            continue;
        if (!mig_profile_in_type (item->type, strlen (item->type), &profile,
                                  &length)) {
            whole += item->per_node;
            continue;
        }
        longer = xasprintf ("%s%s%.*s:%" PRIu64, layout ? layout : "",
                            layout ? "," : "", (int)length, profile,
                            item->per_node);
        free (layout);
        layout = longer;
    }
    if (pool->layout) /* each type was looked at alone: the cut is given */
        return false;
    cards = layout ? cards_of (site, pool, layout, pool->gpus_per_node) : 0;
    return (uint64_t)(cards < 0 ? pool->gpus_per_node + 1 : cards) + whole
           > (uint64_t)pool->gpus_per_node;
}

/* --- the answer -------------------------------------------------------- */

static char *wrong_model (const site_pool_t *pool, const char *type)
{
    const char *profile;
    size_t length;

    if (!type || !pool->gpu || pool->gres.count > 0)
        return NULL;
    if (gpu_models_differ (type, pool->gpu))
        return xasprintf ("its GPUs are %s", pool->gpu);
    if (mig_profile_in_type (type, strlen (type), &profile, &length)
        && !mig_model (pool->gpu))
        return xasprintf ("%s has no MIG slices", pool->gpu);
    return NULL;
}

static char *too_few (const price_request_t *r, const price_item_t *item,
                      uint64_t nodes, uint64_t most)
{
    uint64_t usable
        = r->nodes_most && r->nodes_most < nodes ? r->nodes_most : nodes;

    if (r->nodes > nodes)
        return xasprintf ("%" PRIu64 " nodes are asked for, and it has %" PRIu64,
                          r->nodes, nodes);
    if (item->per_node > most)
        return xasprintf ("%" PRIu64 " on a node are asked for, and its nodes "
                          "have %" PRIu64,
                          item->per_node, most);
    if (most != UNKNOWN && usable != UNKNOWN && item->devices > most * usable)
        return xasprintf ("%" PRIu64 " are asked for, and %" PRIu64
                          " node%s of it ha%s %" PRIu64,
                          item->devices, usable, usable == 1 ? "" : "s",
                          usable == 1 ? "s" : "ve", most * usable);
    return NULL;
}

char *price_cpus_misfit (const price_request_t *r, const site_pool_t *pool)
{
    uint64_t nodes = pool_nodes (pool), most = (uint64_t)pool->cpus_per_node;

    if (r->nodes > nodes)
        return xasprintf ("%" PRIu64
                          " nodes are asked for, and it has %" PRIu64,
                          r->nodes, nodes);
    if (r->nodes_most)
        nodes = r->nodes;
    if (most == 0 || nodes == UNKNOWN || r->cpus <= most * nodes)
        return NULL;
    return xasprintf ("%" PRIu64 " CPUs are asked for, and %" PRIu64
                      " node%s of it ha%s %" PRIu64,
                      r->cpus, nodes, nodes == 1 ? "" : "s",
                      nodes == 1 ? "s" : "ve", most * nodes);
}

char *price_misfit (const site_t *site, const price_request_t *r,
                    const price_item_t *item, const site_pool_t *pool,
                    const char *type)
{
    char *why = wrong_model (pool, type);

    if (!why)
        why = too_few (r, item, pool_nodes (pool),
                       most_on_node (site, pool, type));
    if (!why && item->per_node && type && too_full (site, r, pool))
        why = xasprintf ("all that is asked for of a node is more than its "
                         "%" PRId64 " GPUs",
                         pool->gpus_per_node);
    return why;
}
