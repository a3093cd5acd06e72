#include <string.h>

#include "base/memory.h"
#include "gres/mig.h"
#include "gres/nodelist.h"
#include "usage/capacity_private.h"

/* Asked for each device that each segment holds: no formatting. */
static void place_key (buffer_t *key, const site_pool_t *pool,
                       const char *cluster, const char *node)
{
    buffer_clear (key);
    buffer_add (key, &pool, sizeof (pool));
    buffer_add (key, cluster, strlen (cluster) + 1);
    if (node)
        buffer_add_text (key, node);
}

struct place *capacity_place_get (capacity_t *c, const site_pool_t *pool,
                                  const char *cluster, const char *node)
{
    buffer_t *key = &c->key;
    struct place *place;

    place_key (key, pool, cluster, node);
    HASH_FIND (hh, c->places, key->data, key->length, place);
    if (!place) {
        place = xcalloc (1, sizeof (*place));
        place->key_length = key->length;
        place->key = buffer_take (key);
        place->pool = pool;
        place->cluster = xstrdup (cluster);
        place->node = xstrdup (node);
        place->apart_until = SITE_ALWAYS_START;
        HASH_ADD_KEYPTR (hh, c->places, place->key, place->key_length, place);
    }
    return place;
}

void capacity_place_add (const capacity_t *c, struct place *place,
                         edge_kind_t kind, period_t period, fraction_t amount)
{
    period = period_clip (period, c->period);
    if (period_seconds (period) == 0 || amount.num == 0)
        return;
    if (place->count == place->size) {
        place->size = place->size ? place->size * 2 : 8;
        place->interval = xreallocarray (place->interval, place->size,
                                         sizeof (*place->interval));
    }
    place->interval[place->count++] = (struct interval){period, kind, amount};
}

static fraction_t fraction_add (fraction_t a, fraction_t b)
{
    return fraction (a.num * b.den + b.num * a.den, a.den * b.den);
}

/* GPUs in a GRES text of the cluster, by weight. Types whose weight is not
 * known count nothing and leave the place blind. */
static fraction_t gres_amount (capacity_t *c, const char *cluster,
                               const char *gres, bool *ret_known)
{
    segment_t s = {.cluster = cluster, .gres = gres};
    fraction_t sum = fraction (0, 1);
    size_t count;
    const holding_t *h
        = kinds_of_segment (c->kinds, &s, c->period.start, false, &count);

    *ret_known = true;
    for (size_t i = 0; i < count; i++) {
        if (!h[i].kind->weight_known)
            *ret_known = false;
        sum = fraction_add (
            sum, fraction (h[i].kind->weight.num * (int64_t)h[i].devices,
                           h[i].kind->weight.den));
    }
    return sum;
}

/* Whether jobs can have whole GPUs of it; where no types are listed, those that
 * the layout leaves whole. */
static bool pool_has_whole (const site_pool_t *pool)
{
    const char *profile;
    size_t length;

    for (size_t i = 0; i < pool->gres.count; i++) {
        const char *type = pool->gres.item[i];
        if (strcmp (type, "gpu") != 0
            && !mig_profile_in_type (type, strlen (type), &profile, &length))
            return true;
    }
    return pool->gres.count == 0;
}

fraction_t capacity_known_remainder (const capacity_t *c,
                                    const site_pool_t *pool)
{
    mig_table_t table = {c->site->profiles, c->site->profile_count};
    fraction_t sum;
    int64_t cards;

    if (!pool->layout
        || mig_layout (&table, pool->gpu, pool->layout, pool->gpus_per_node,
                       pool->mig_weight, &sum, NULL, &cards, NULL)
               < 0)
        return fraction (0, 1);
    if (!pool_has_whole (pool))
        cards = pool->gpus_per_node;
    if (cards * sum.den > sum.num)
        return fraction (cards * sum.den - sum.num, sum.den);
    return fraction (0, 1);
}

static void place_pool_node (capacity_t *c, const struct cluster *cluster,
                             const site_pool_t *pool, const char *node,
                             period_t period)
{
    struct place *place = capacity_place_get (c, pool, cluster->name, node);

    for (size_t i = 0; i < place->count; i++) /* never twice */
        if (place->interval[i].kind == EDGE_CAPACITY
            && place->interval[i].period.end > period.start)
            period.start = place->interval[i].period.end;
    capacity_place_add (c, place, EDGE_CAPACITY, period,
                        fraction (pool->gpus_per_node, 1));
    capacity_place_add (c, place, EDGE_REMAINDER, period,
                        capacity_known_remainder (c, pool));
}

static void place_nodes (capacity_t *c, const struct cluster *cluster,
                         const site_pool_t *pool, const char *nodes,
                         period_t period)
{
    nodelist_t *list = nodelist_open (nodes, NULL);
    const char *node;

    while (list && (node = nodelist_next (list)))
        place_pool_node (c, cluster, pool, node, period);
    nodelist_close (list);
}

/* A pool without `nodes` has those that the cluster registered, as long as it
 * did: no day's capacity depends on another day's nodes. */
static void place_pool (capacity_t *c, const struct cluster *cluster,
                        const site_pool_t *pool)
{
    if (pool->nodes)
        place_nodes (c, cluster, pool, pool->nodes, pool->valid);
    for (size_t i = 0; !pool->nodes && i < cluster->registration_count; i++)
        place_nodes (
            c, cluster, pool, cluster->registration[i].nodelist,
            period_clip (pool->valid, cluster->registration[i].period));
}

static int by_registration (const void *a, const void *b)
{
    const struct registration *x = a, *y = b;

    return (x->period.start > y->period.start)
           - (x->period.start < y->period.start);
}

static int by_start (const void *a, const void *b)
{
    const struct outage *x = a, *y = b;

    return (x->period.start > y->period.start)
           - (x->period.start < y->period.start);
}

/* The node apart from the rest in that time. */
static void tell_apart (capacity_t *c, const struct cluster *cluster,
                        struct place *place, period_t period, fraction_t own)
{
    period_t spoken = {SITE_ALWAYS_START, cluster->as_of};
    struct place *rest = capacity_place_get (c, NULL, cluster->name, NULL);

    for (size_t i = 0; i < cluster->registration_count; i++) {
        const struct registration *r = &cluster->registration[i];
        period_t both
            = period_clip (period_clip (r->period, spoken), period);
        if (r->disconnected || period_seconds (both) == 0)
            continue;
        capacity_place_add (c, place, EDGE_CAPACITY, both, own);
        capacity_place_add (c, rest, EDGE_CAPACITY, both,
                            fraction (-own.num, own.den));
    }
}

/* Without pools the cluster's registration tells the capacity, in one sum; a
 * node is distinguished only by its outage rows, which carry its GRES, and only as
 * long as they last: what a part of a period was must not depend on the rest of
 * it. Of rows that overlap the first one tells. */
static void place_registered (capacity_t *c, const struct cluster *cluster)
{
    period_t spoken = {SITE_ALWAYS_START, cluster->as_of};
    struct place *rest = capacity_place_get (c, NULL, cluster->name, NULL);
    bool known;

    for (size_t i = 0; i < cluster->registration_count; i++) {
        const struct registration *r = &cluster->registration[i];
        period_t period = period_clip (r->period, spoken);
        fraction_t all;
        if (r->disconnected)
            continue;
        all = gres_amount (c, cluster->name, r->gres, &known);
        capacity_place_add (c, rest, EDGE_CAPACITY, period, all);
        if (!known)
            capacity_place_add (c, rest, EDGE_BLIND, period, fraction (1, 1));
    }
    if (cluster->outage_count > 1)
        qsort (cluster->outage, cluster->outage_count,
               sizeof (*cluster->outage), by_start);
    for (size_t i = 0; i < cluster->outage_count; i++) {
        const struct outage *o = &cluster->outage[i];
        struct place *place
            = capacity_place_get (c, NULL, cluster->name, o->node);
        period_t period = o->period;
        if (place->apart_until > period.start)
            period.start = place->apart_until;
        if (period.start >= period.end)
            continue;
        place->apart_until = period.end;
        tell_apart (c, cluster, place, period,
                    gres_amount (c, cluster->name, o->gres, &known));
    }
}

/* Every place of the cluster, or those of the listed nodes and of nodes that
 * are not distinguished. */
static void place_over (capacity_t *c, const struct cluster *cluster,
                        const char *nodelist, struct interval what)
{
    struct place *place, *next;
    nodelist_t *list = nodelist ? nodelist_open (nodelist, NULL) : NULL;
    const char *node;

    for (; list && (node = nodelist_next (list));)
        for (struct place *p = capacity_node_places (c, cluster->name, node); p;
             p = p->same_node)
            capacity_place_add (c, p, what.kind, what.period, what.amount);
    nodelist_close (list);
    HASH_ITER (hh, c->places, place, next)
    {
        if ((!nodelist || !place->node)
            && !strcmp (place->cluster, cluster->name))
            capacity_place_add (c, place, what.kind, what.period, what.amount);
    }
}

static void place_registrations (capacity_t *c, const struct cluster *cluster)
{
    period_t spoken = {SITE_ALWAYS_START, cluster->as_of};

    for (size_t i = 0; i < cluster->registration_count; i++) {
        const struct registration *r = &cluster->registration[i];
        bool of_all = r->disconnected || !r->nodelist || !r->nodelist[0];
        place_over (c, cluster, of_all ? NULL : r->nodelist,
                    (struct interval){period_clip (r->period, spoken),
                                      r->disconnected ? EDGE_AWAY : EDGE_KNOWN,
                                      {1, 1}});
    }
}

static void place_outages (capacity_t *c, const struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->outage_count; i++) {
        const struct outage *o = &cluster->outage[i];
        for (struct place *p
             = capacity_node_places (c, cluster->name, o->node);
             p; p = p->same_node)
            capacity_place_add (c, p, o->kind, o->period, fraction (1, 1));
    }
}

static int by_id (const void *a, const void *b)
{
    const struct booking *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->period.start > y->period.start)
           - (x->period.start < y->period.start);
}

static void place_bookings (capacity_t *c, struct cluster *cluster)
{
    if (cluster->booking_count > 1)
        qsort (cluster->booking, cluster->booking_count,
               sizeof (*cluster->booking), by_id);
    for (size_t i = 0; i < cluster->booking_count; i++) {
        const struct booking *b = &cluster->booking[i];
        fraction_t number = {(int64_t)i + 1, 1};
        nodelist_t *list = nodelist_open (b->nodelist, NULL);
        const char *node;
        while (list && (node = nodelist_next (list)))
            for (struct place *p
                 = capacity_node_places (c, cluster->name, node);
                 p; p = p->same_node)
                capacity_place_add (c, p, b->kind, b->period, number);
        nodelist_close (list);
    }
}

static int by_kind_and_time (const void *a, const void *b)
{
    const struct interval *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->period.start > y->period.start)
           - (x->period.start < y->period.start);
}

/* What was allocated there: on the node as long as it is distinguished (`apart`, in the
 * order of time), else on the rest. */
static void hold_where_told (capacity_t *c, struct place *place,
                             const struct interval *apart, size_t count,
                             struct interval allocated)
{
    struct place *rest = capacity_place_get (c, NULL, place->cluster, NULL);
    int64_t at = allocated.period.start;

    for (size_t i = 0; i < count && at < allocated.period.end; i++) {
        period_t within = period_clip (
            apart[i].period, (period_t){at, allocated.period.end});
        if (period_seconds (within) == 0)
            continue;
        capacity_place_add (c, rest, allocated.kind, (period_t){at, within.start},
                            allocated.amount);
        capacity_place_add (c, place, allocated.kind, within, allocated.amount);
        at = within.end;
    }
    capacity_place_add (c, rest, allocated.kind, (period_t){at, allocated.period.end},
                        allocated.amount);
}

static void merge_place (capacity_t *c, struct place *place)
{
    struct interval *all = place->interval;
    size_t count = place->count, apart = 0;

    if (count == 0)
        return;
    qsort (all, count, sizeof (*all), by_kind_and_time);
    place->interval = NULL;
    place->count = place->size = 0;
    while (apart < count && all[apart].kind == EDGE_CAPACITY) {
        capacity_place_add (c, place, EDGE_CAPACITY, all[apart].period,
                            all[apart].amount);
        apart++;
    }
    for (size_t i = apart; i < count; i++)
        hold_where_told (c, place, all, apart, all[i]);
    free (all);
}

/* Without pools, what was allocated on a node while it is not distinguished was allocated on
 * the rest. */
static void merge_unplaced (capacity_t *c)
{
    struct place *place, *next;

    HASH_ITER (hh, c->places, place, next)
    {
        if (!place->pool && place->node)
            merge_place (c, place);
    }
}

void capacity_place_out (capacity_t *c)
{
    struct cluster *cluster, *next;

    HASH_ITER (hh, c->clusters, cluster, next)
    {
        if (cluster->registration_count > 1)
            qsort (cluster->registration, cluster->registration_count,
                   sizeof (*cluster->registration), by_registration);
        for (size_t i = 0; i < c->site->pool_count; i++) {
            const site_pool_t *pool = &c->site->pools[i];
            if (!pool->cluster || !strcmp (pool->cluster, cluster->name))
                place_pool (c, cluster, pool);
        }
        if (c->site->pool_count == 0)
            place_registered (c, cluster);
    }
    if (c->site->pool_count == 0)
        merge_unplaced (c);
    capacity_index_nodes (c);
    HASH_ITER (hh, c->clusters, cluster, next)
    {
        place_registrations (c, cluster);
        place_outages (c, cluster);
        place_bookings (c, cluster);
        capacity_place_listings (c, cluster);
    }
    capacity_place_loads (c);
    c->laid_out = true;
}
