#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "usage/capacity_private.h"

/* --- sums -------------------------------------------------------------- */

#define MEMBER(name, of)                              \
    {                                                \
        #name, of, offsetof (capacity_sum_t, name)   \
    }
static const capacity_member_t members[] = {
    MEMBER (capacity, NULL),
    MEMBER (allocated, "capacity"),
    MEMBER (reserved_unused, "capacity"),
    MEMBER (idle, "capacity"),
    MEMBER (planned_down, "capacity"),
    MEMBER (down, "capacity"),
    MEMBER (unknown, "capacity"),
    MEMBER (stranded, "idle"),
    MEMBER (cpu_stranded, "idle"),
    MEMBER (drained, "down"),
    MEMBER (missing, "down"),
    MEMBER (surplus, NULL),
    MEMBER (listed, NULL),
    MEMBER (difference, NULL),
};

const capacity_member_t *capacity_sum_members (size_t *ret_count)
{
    *ret_count = GL_ARRAY_SIZE (members);
    return members;
}

mpq_t *capacity_sum_member (capacity_sum_t *sum, size_t i)
{
    return i < GL_ARRAY_SIZE (members)
               ? (mpq_t *)((char *)sum + members[i].offset)
               : NULL;
}

void capacity_sum_init (capacity_sum_t *sum)
{
    mpq_t *m;

    for (size_t i = 0; (m = capacity_sum_member (sum, i)); i++)
        mpq_init (*m);
}

void capacity_sum_clear (capacity_sum_t *sum)
{
    mpq_t *m;

    for (size_t i = 0; (m = capacity_sum_member (sum, i)); i++)
        mpq_clear (*m);
}

void capacity_sum_add (capacity_sum_t *sum, const capacity_sum_t *more)
{
    mpq_t *m, *n;

    for (size_t i = 0; (m = capacity_sum_member (sum, i)); i++) {
        n = capacity_sum_member ((capacity_sum_t *)more, i);
        if (mpq_sgn (*n) != 0) /* few are */
            exact_add (*m, *n);
    }
}

/* --- facts in ---------------------------------------------------------- */

static struct cluster *cluster_get (capacity_t *c, const char *name)
{
    struct cluster *cluster;

    HASH_FIND_STR (c->clusters, name, cluster);
    if (!cluster) {
        cluster = xcalloc (1, sizeof (*cluster));
        cluster->name = xstrdup (name);
        cluster->as_of = SITE_ALWAYS_START;
        HASH_ADD_KEYPTR (hh, c->clusters, cluster->name, strlen (cluster->name),
                         cluster);
    }
    return cluster;
}

void capacity_set_as_of (capacity_t *c, const char *cluster, int64_t as_of)
{
    cluster_get (c, cluster)->as_of = as_of;
}

static void add_held (capacity_t *c, const segment_t *s, const holding_t *h,
                      period_t period)
{
    struct place *place
        = capacity_place_get (c, h->kind->pool, s->cluster, h->node);

    fraction_t amount = fraction (h->kind->weight.num * (int64_t)h->devices,
                                  h->kind->weight.den);

    if (!h->kind->weight_known) {
        capacity_place_add (c, place, EDGE_BLIND, period, fraction (1, 1));
        return;
    }
    capacity_place_add (c, place, EDGE_ALLOCATED, period, amount);
    if (h->kind->part)
        capacity_place_add (c, place, EDGE_PARTS, period, amount);
}

void capacity_add_segment (capacity_t *c, const segment_t *s)
{
    period_t in
        = period_clip ((period_t){s->time_start, segment_end (s)}, c->period);
    size_t i = 0, count;

    if (s->time_start == 0)
        return;
    if (c->known)
        capacity_node_load (c, s, in);
    while (in.start < in.end) {
        period_t piece = in;
        const holding_t *h
            = kinds_of_segment (c->kinds, s, in.start, true, &count);
        while (i < c->change_count && c->changes[i] <= piece.start)
            i++;
        if (i < c->change_count && c->changes[i] < piece.end)
            piece.end = c->changes[i];
        for (size_t k = 0; k < count; k++)
            add_held (c, s, &h[k], piece);
        in.start = piece.end;
    }
}

static period_t open_period (int64_t start, int64_t end)
{
    return (period_t){start, end ? end : SITE_ALWAYS_END};
}

/* Maintenance, power saving and nodes that do not exist yet are planned; a
 * drained node is up and takes no job. */
static edge_kind_t outage_kind (uint32_t state)
{
    bool planned = (state & (NODE_STATE_MAINT | NODE_STATE_POWERED_DOWN))
                   || (state & NODE_STATE_BASE) == NODE_STATE_FUTURE;

    if (planned)
        return EDGE_PLANNED;
    return (state & NODE_STATE_DRAIN)
                   && (state & NODE_STATE_BASE) != NODE_STATE_DOWN
               ? EDGE_DRAINED
               : EDGE_DOWN;
}

bool capacity_state_is_down (uint32_t state)
{
    return outage_kind (state) == EDGE_DOWN;
}

void capacity_add_event (capacity_t *c, const node_event_t *e)
{
    struct cluster *cluster = cluster_get (c, e->cluster);
    period_t period = open_period (e->start, e->end);

    if (period_seconds (period_clip (period, c->period)) == 0)
        return;
    if (!e->node) {
        cluster->registration = xreallocarray (cluster->registration,
                                               cluster->registration_count + 1,
                                               sizeof (*cluster->registration));
        cluster->registration[cluster->registration_count++]
            = (struct registration){
                period,
                (e->state & NODE_STATE_BASE) == NODE_STATE_DOWN,
                xstrdup (e->gres),
                xstrdup (e->nodelist),
            };
        return;
    }
    cluster->outage = xreallocarray (cluster->outage, cluster->outage_count + 1,
                                     sizeof (*cluster->outage));
    cluster->outage[cluster->outage_count++] = (struct outage){
        xstrdup (e->node), period, outage_kind (e->state), xstrdup (e->gres)};
}

void capacity_add_reservation (capacity_t *c, const reservation_t *r)
{
    struct cluster *cluster = cluster_get (c, r->cluster);
    period_t period = open_period (r->start, r->end);

    if (period_seconds (period_clip (period, c->period)) == 0)
        return;
    cluster->booking
        = xreallocarray (cluster->booking, cluster->booking_count + 1,
                         sizeof (*cluster->booking));
    cluster->booking[cluster->booking_count++] = (struct booking){
        period,
        r->flags & RESERVATION_MAINT ? EDGE_MAINTENANCE : EDGE_RESERVED,
        r->id,
        xstrdup (r->name),
        xstrdup (r->accounts),
        xstrdup (r->nodelist),
    };
}

static inventory_gpu_t *copy_gpus (const node_inventory_t *inventory)
{
    inventory_gpu_t *copy = xcalloc (inventory->gpu_count, sizeof (*copy));

    for (size_t i = 0; i < inventory->gpu_count; i++) {
        const inventory_gpu_t *gpu = &inventory->gpu[i];
        const char **profiles = xcalloc (gpu->profile_count, sizeof (*profiles));
        for (size_t k = 0; k < gpu->profile_count; k++)
            profiles[k] = xstrdup (gpu->profiles[k]);
        copy[i] = (inventory_gpu_t){xstrdup (gpu->gres_type),
                                    xstrdup (gpu->model), profiles,
                                    gpu->profile_count, gpu->cut};
    }
    return copy;
}

static void listing_clear (struct listing *listing)
{
    for (size_t i = 0; i < listing->gpu_count; i++) {
        const inventory_gpu_t *gpu = &listing->gpu[i];
        for (size_t k = 0; k < gpu->profile_count; k++)
            free ((char *)gpu->profiles[k]);
        free ((char **)gpu->profiles);
        free ((char *)gpu->gres_type);
        free ((char *)gpu->model);
    }
    free (listing->gpu);
    free (listing->node);
}

void capacity_add_inventory (capacity_t *c, const node_inventory_t *inventory)
{
    struct cluster *cluster = cluster_get (c, inventory->cluster);
    period_t period = period_clip (inventory->period, c->period);

    if (period_seconds (period) == 0)
        return;
    cluster->listing
        = xreallocarray (cluster->listing, cluster->listing_count + 1,
                         sizeof (*cluster->listing));
    cluster->listing[cluster->listing_count++]
        = (struct listing){xstrdup (inventory->node), period,
                           copy_gpus (inventory), inventory->gpu_count};
}

/* --- results ----------------------------------------------------------- */

static int by_place (const void *a, const void *b)
{
    const struct place *x = *(struct place *const *)a;
    const struct place *y = *(struct place *const *)b;
    int order = strcmp (x->cluster, y->cluster);

    if (!order && x->pool && y->pool)
        order = strcmp (x->pool->name, y->pool->name);
    if (!order)
        order = strcmp (x->node ? x->node : "", y->node ? y->node : "");
    return order ? order : (x->pool > y->pool) - (x->pool < y->pool);
}

void capacity_each (capacity_t *c, const int64_t *cuts, size_t cut_count,
                    capacity_f callback, void *arg)
{
    struct place **sorted, *place, *next;
    size_t count = 0;

    if (!c->laid_out)
        capacity_place_out (c);
    sorted = xcalloc (HASH_COUNT (c->places), sizeof (*sorted));
    HASH_ITER (hh, c->places, place, next)
    {
        bool in_a_pool = place->pool || c->site->pool_count == 0;
        if (in_a_pool && place->count > 0)
            sorted[count++] = place;
    }
    qsort (sorted, count, sizeof (*sorted), by_place);
    for (size_t i = 0; i < count; i++)
        capacity_sweep (c, sorted[i], cuts, cut_count, callback, arg);
    free (sorted);
}

/* --- life -------------------------------------------------------------- */

capacity_t *capacity_new (const site_t *site, kinds_t *kinds, period_t period)
{
    capacity_t *c = xcalloc (1, sizeof (*c));

    c->site = site;
    c->kinds = kinds;
    c->period = period;
    c->changes = site_changes (site, period, &c->change_count);
    capacity_tell_nodes (c);
    return c;
}

const site_t *capacity_site (const capacity_t *c)
{
    return c->site;
}

static void cluster_free (struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->registration_count; i++) {
        free (cluster->registration[i].gres);
        free (cluster->registration[i].nodelist);
    }
    for (size_t i = 0; i < cluster->outage_count; i++) {
        free (cluster->outage[i].node);
        free (cluster->outage[i].gres);
    }
    for (size_t i = 0; i < cluster->booking_count; i++) {
        free (cluster->booking[i].name);
        free (cluster->booking[i].accounts);
        free (cluster->booking[i].nodelist);
    }
    for (size_t i = 0; i < cluster->listing_count; i++)
        listing_clear (&cluster->listing[i]);
    free (cluster->listing);
    free (cluster->registration);
    free (cluster->outage);
    free (cluster->booking);
    free (cluster->name);
    free (cluster);
}

void capacity_free (capacity_t *c)
{
    struct cluster *cluster, *next;
    struct place *place, *next_place;

    if (!c)
        return;
    HASH_ITER (hh, c->clusters, cluster, next)
    {
        HASH_DEL (c->clusters, cluster);
        cluster_free (cluster);
    }
    HASH_ITER (hh, c->places, place, next_place)
    {
        HASH_DEL (c->places, place);
        free (place->interval);
        free (place->cluster);
        free (place->node);
        free (place->key);
        free (place);
    }
    capacity_nodes_free (c);
    free (c->changes);
    buffer_done (&c->key);
    free (c);
}
