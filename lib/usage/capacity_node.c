#include <string.h>

#include "base/memory.h"
#include "gres/mig.h"
#include "gres/nodelist.h"
#include "usage/capacity_private.h"

static char *node_key (const char *cluster, const char *node)
{
    return xasprintf ("%s\n%s", cluster, node);
}

static struct node *node_get (capacity_t *c, const char *cluster,
                              const char *name)
{
    GL_AUTOFREE char *key = node_key (cluster, name);
    struct node *node;

    HASH_FIND_STR (c->nodes, key, node);
    if (!node) {
        node = xcalloc (1, sizeof (*node));
        node->key = GL_TAKE (key);
        HASH_ADD_KEYPTR (hh, c->nodes, node->key, strlen (node->key), node);
    }
    return node;
}

void capacity_index_nodes (capacity_t *c)
{
    struct place *place, *next;

    HASH_ITER (hh, c->places, place, next)
    {
        struct node *node;
        if (!place->node)
            continue;
        node = node_get (c, place->cluster, place->node);
        place->same_node = node->places;
        node->places = place;
    }
}

struct place *capacity_node_places (const capacity_t *c, const char *cluster,
                                    const char *name)
{
    GL_AUTOFREE char *key = node_key (cluster, name);
    struct node *node;

    HASH_FIND_STR (c->nodes, key, node);
    return node ? node->places : NULL;
}

void capacity_nodes_free (capacity_t *c)
{
    struct node *node, *next;
    struct known_node *known, *next_known;

    HASH_ITER (hh, c->nodes, node, next)
    {
        HASH_DEL (c->nodes, node);
        free (node->load);
        free (node->key);
        free (node);
    }
    HASH_ITER (hh, c->known, known, next_known)
    {
        HASH_DEL (c->known, known);
        free (known->name);
        free (known);
    }
}

/* --- CPUs and memory --------------------------------------------------- */

static bool tells (const site_pool_t *pool)
{
    return pool
           && (pool->resource == RESOURCE_CPU || pool->cpus_per_node
               || pool->memory_per_node);
}

/* What jobs took of the node concerns the pool: to GPUs, all CPUs and memory; to
 * CPUs, those of jobs that it does not count. */
static bool concerns (const site_pool_t *pool, edge_kind_t kind)
{
    if (pool->resource == RESOURCE_GPU)
        return kind != EDGE_GPU_CPUS;
    return kind == EDGE_GPU_CPUS && pool->cpu_jobs == CPUS_WITHOUT_GPUS;
}

static bool is_gpu_job (const segment_t *s)
{
    return s->gpu_asked || (s->gres && s->gres[0]);
}

static void tell_nodes_of (capacity_t *c, const site_pool_t *pool)
{
    nodelist_t *list = nodelist_open (pool->nodes, NULL);
    const char *name;
    struct known_node *known;

    while (list && (name = nodelist_next (list))) {
        HASH_FIND_STR (c->known, name, known);
        if (known)
            continue;
        known = xcalloc (1, sizeof (*known));
        known->name = xstrdup (name);
        HASH_ADD_KEYPTR (hh, c->known, known->name, strlen (known->name), known);
    }
    nodelist_close (list);
}

void capacity_tell_nodes (capacity_t *c)
{
    for (size_t i = 0; i < c->site->pool_count; i++) {
        const site_pool_t *pool = &c->site->pools[i];
        if (tells (pool)
            && period_seconds (period_clip (pool->valid, c->period)) > 0)
            tell_nodes_of (c, pool);
    }
}

bool capacity_wants_cpus (const capacity_t *c)
{
    return c->known != NULL;
}

static void load_add (struct node *node, edge_kind_t kind, period_t period,
                      uint64_t amount)
{
    if (amount == 0)
        return;
    if (node->load_count == node->load_size) {
        node->load_size = node->load_size ? node->load_size * 2 : 8;
        node->load
            = xreallocarray (node->load, node->load_size, sizeof (*node->load));
    }
    node->load[node->load_count++]
        = (struct interval){period, kind, fraction ((int64_t)amount, 1)};
}

/* Of so many on so many nodes; the rest is the first ones'. */
static uint64_t even_share (uint64_t amount, uint64_t nodes, uint64_t index)
{
    if (amount == COUNT_UNKNOWN || amount > INT32_MAX * (uint64_t)1024)
        return 0;
    return amount / nodes + (index < amount % nodes);
}

void capacity_node_load (capacity_t *c, const segment_t *s, period_t period)
{
    nodelist_t *list;
    const char *name;
    uint64_t count, index = 0;
    struct known_node *known;

    if (period.start >= period.end
        || (s->cpus == COUNT_UNKNOWN && s->memory_mb == COUNT_UNKNOWN)
        || !(list = nodelist_open (s->nodelist, NULL)))
        return;
    for (count = nodelist_count (list); (name = nodelist_next (list));
         index++) {
        struct node *node;
        HASH_FIND_STR (c->known, name, known);
        if (!known)
            continue;
        node = node_get (c, s->cluster, name);
        load_add (node, EDGE_CPUS, period, even_share (s->cpus, count, index));
        if (is_gpu_job (s))
            load_add (node, EDGE_GPU_CPUS, period,
                      even_share (s->cpus, count, index));
        load_add (node, EDGE_MEMORY, period,
                  even_share (s->memory_mb, count, index));
    }
    nodelist_close (list);
}

/* What the node's other pools have and hold. */
static void place_others (capacity_t *c, struct place *place,
                          const struct place *other)
{
    static const struct {
        edge_kind_t from, to;
    } kinds[] = {{EDGE_CAPACITY, EDGE_OTHER_CAPACITY},
                 {EDGE_ALLOCATED, EDGE_OTHER_ALLOCATED},
                 {EDGE_BLIND, EDGE_OTHER_BLIND}};

    for (size_t i = 0; i < other->count; i++)
        for (size_t k = 0; k < GL_ARRAY_SIZE (kinds); k++)
            if (other->interval[i].kind == kinds[k].from)
                capacity_place_add (c, place, kinds[k].to,
                                    other->interval[i].period,
                                    other->interval[i].amount);
}

void capacity_place_loads (capacity_t *c)
{
    struct node *node, *next;

    HASH_ITER (hh, c->nodes, node, next)
    {
        for (struct place *p = node->places; p; p = p->same_node) {
            if (!tells (p->pool))
                continue;
            for (size_t i = 0; i < node->load_count; i++)
                if (concerns (p->pool, node->load[i].kind))
                    capacity_place_add (c, p, node->load[i].kind,
                                        node->load[i].period,
                                        node->load[i].amount);
            for (struct place *o = node->places; o; o = o->same_node)
                if (o != p && p->pool->resource == RESOURCE_GPU
                    && (!o->pool || o->pool->resource == RESOURCE_GPU))
                    place_others (c, p, o);
        }
    }
}

/* --- inventories ------------------------------------------------------- */

static const site_pool_t *pool_of_gpu (const capacity_t *c, const char *cluster,
                                       const char *node,
                                       const inventory_gpu_t *gpu,
                                       int64_t instant)
{
    const site_pool_t *pool = NULL;

    if (gpu->gres_type)
        pool = kinds_pool (c->kinds, cluster, node, gpu->gres_type, instant);
    for (size_t i = 0; !pool && i < gpu->profile_count; i++)
        if (gpu->profiles[i])
            pool = kinds_pool (c->kinds, cluster, node, gpu->profiles[i],
                               instant);
    return pool ? pool : kinds_pool (c->kinds, cluster, node, NULL, instant);
}

/* What the GPU's slices leave of it. False: some slice's weight is not known.
 */
static bool remainder_of_gpu (const capacity_t *c, const site_pool_t *pool,
                              const inventory_gpu_t *gpu, fraction_t *remainder)
{
    mig_table_t table = {c->site->profiles, c->site->profile_count};
    const char *model = pool->gpu ? pool->gpu : gpu->model;
    fraction_t left = {1, 1}, weight;

    if (!gpu->cut)
        return true;
    for (size_t i = 0; i < gpu->profile_count; i++) {
        const char *profile = gpu->profiles[i];
        if (!profile
            || mig_weight (&table, model, profile, strlen (profile),
                           pool->mig_weight, &weight, NULL)
                   < 0)
            return false;
        left = fraction (left.num * weight.den - weight.num * left.den,
                         left.den * weight.den);
    }
    if (left.num > 0)
        *remainder
            = fraction (remainder->num * left.den + left.num * remainder->den,
                        remainder->den * left.den);
    return true;
}

/* The layout that the configuration tells gives way to the one of that time. */
static void replace_remainder (capacity_t *c, struct place *place,
                               period_t period, fraction_t remainder)
{
    fraction_t known = capacity_known_remainder (c, place->pool);

    capacity_place_add (
        c, place, EDGE_REMAINDER, period,
        fraction (remainder.num * known.den - known.num * remainder.den,
                  remainder.den * known.den));
}

static void place_listing_of (capacity_t *c, struct place *place,
                              const struct listing *listing, period_t period,
                              const site_pool_t *const *pools)
{
    int64_t there = 0, lacking;
    fraction_t remainder = {0, 1};
    bool known = true;

    for (size_t i = 0; i < listing->gpu_count; i++) {
        if (pools[i] != place->pool)
            continue;
        there++;
        known = known
                && remainder_of_gpu (c, place->pool, &listing->gpu[i],
                                     &remainder);
    }
    capacity_place_add (c, place, EDGE_LISTED, period, fraction (1, 1));
    lacking = place->pool->gpus_per_node - there;
    if (lacking < 0) {
        capacity_place_add (c, place, EDGE_SURPLUS, period,
                            fraction (-lacking, 1));
        return;
    }
    capacity_place_add (c, place, EDGE_MISSING, period, fraction (lacking, 1));
    if (known)
        replace_remainder (c, place, period, remainder);
}

/* A stretch in which no pool begins or ends. */
static void place_listing (capacity_t *c, const struct cluster *cluster,
                           const struct listing *listing, period_t period)
{
    const site_pool_t **pools = xcalloc (listing->gpu_count, sizeof (*pools));
    bool all = true;

    for (size_t i = 0; i < listing->gpu_count; i++) {
        pools[i] = pool_of_gpu (c, cluster->name, listing->node,
                                &listing->gpu[i], period.start);
        all = all && pools[i];
    }
    for (struct place *p
         = all ? capacity_node_places (c, cluster->name, listing->node) : NULL;
         p; p = p->same_node)
        if (p->pool && p->pool->resource == RESOURCE_GPU
            && p->pool->valid.start <= period.start
            && period.start < p->pool->valid.end)
            place_listing_of (c, p, listing, period, pools);
    free (pools);
}

void capacity_place_listings (capacity_t *c, const struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->listing_count; i++) {
        const struct listing *listing = &cluster->listing[i];
        period_t in = listing->period;
        size_t change = 0;
        while (in.start < in.end) {
            period_t piece = in;
            while (change < c->change_count
                   && c->changes[change] <= piece.start)
                change++;
            if (change < c->change_count && c->changes[change] < piece.end)
                piece.end = c->changes[change];
            place_listing (c, cluster, listing, piece);
            in.start = piece.end;
        }
    }
}
