#include <stddef.h>
#include <string.h>

#include "acct/capacity_private.h"
#include "base/memory.h"

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
    mpq_t *m;

    for (size_t i = 0; (m = capacity_sum_member (sum, i)); i++)
        mpq_add (*m, *m, *capacity_sum_member ((capacity_sum_t *)more, i));
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

    if (h->kind->weight_known)
        capacity_place_add (c, place, EDGE_ALLOCATED, period,
                            fraction (h->kind->weight.num * (int64_t)h->devices,
                                      h->kind->weight.den));
    else
        capacity_place_add (c, place, EDGE_BLIND, period, fraction (1, 1));
}

void capacity_add_segment (capacity_t *c, const segment_t *s)
{
    period_t in
        = period_clip ((period_t){s->time_start, segment_end (s)}, c->period);
    size_t i = 0, count;

    if (s->time_start == 0)
        return;
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

/* Maintenance, power saving and nodes that do not exist yet are planned. */
static edge_kind_t outage_kind (uint32_t state)
{
    bool planned = (state & (NODE_STATE_MAINT | NODE_STATE_POWERED_DOWN))
                   || (state & NODE_STATE_BASE) == NODE_STATE_FUTURE;

    return planned ? EDGE_PLANNED : EDGE_DOWN;
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

    cluster->booking
        = xreallocarray (cluster->booking, cluster->booking_count + 1,
                         sizeof (*cluster->booking));
    cluster->booking[cluster->booking_count++] = (struct booking){
        open_period (r->start, r->end),
        r->flags & RESERVATION_MAINT ? EDGE_PLANNED : EDGE_RESERVED,
        xstrdup (r->nodelist),
    };
}

bool capacity_wants_cpus (const capacity_t *c)
{
    for (size_t i = 0; i < c->site->pool_count; i++) {
        const site_pool_t *pool = &c->site->pools[i];
        if ((pool->cpus_per_node || pool->memory_per_node)
            && period_seconds (period_clip (pool->valid, c->period)) > 0)
            return true;
    }
    return false;
}

void capacity_add_inventory (capacity_t *c, const inventory_t *inventory)
{
    (void)c;
    (void)inventory;
}

/* --- results ----------------------------------------------------------- */

static int by_place (const void *a, const void *b)
{
    const struct place *x = *(struct place *const *)a;
    const struct place *y = *(struct place *const *)b;
    int order = strcmp (x->cluster, y->cluster);

    if (!order && x->pool && y->pool)
        order = strcmp (x->pool->name, y->pool->name);
    return order ? order
                 : strcmp (x->node ? x->node : "", y->node ? y->node : "");
}

void capacity_each (capacity_t *c, const int64_t *cuts, size_t cut_count,
                    capacity_f callback, void *arg)
{
    struct place **sorted, *place, *next;
    size_t count = 0;

    if (!c->laid_out)
        capacity_lay_out (c);
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
    return c;
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
    for (size_t i = 0; i < cluster->booking_count; i++)
        free (cluster->booking[i].nodelist);
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
    free (c->changes);
    free (c);
}
