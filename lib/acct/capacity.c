#include <string.h>

#include <uthash.h>

#include "acct/capacity.h"
#include "base/memory.h"
#include "gres/mig.h"
#include "gres/nodelist.h"

/* What an edge switches: an amount of GPUs, or a state of the node. */
typedef enum {
    EDGE_CAPACITY,
    EDGE_ALLOCATED,
    EDGE_KNOWN,     /* some source speaks of the node */
    EDGE_BLIND,     /* it does not: controller away, weight not known */
    EDGE_DOWN,
    EDGE_PLANNED,
    EDGE_RESERVED,
    EDGE_COUNT,
} edge_kind_t;

struct interval {
    period_t period;
    edge_kind_t kind;
    fraction_t amount; /* GPUs; 1 for a state */
};

/* A node's part of a pool. */
struct place {
    char *key;
    const site_pool_t *pool; /* NULL: the cluster as it registered */
    char *cluster;
    char *node; /* NULL: all other nodes of a cluster without pools */
    fraction_t remainder; /* GPUs that no slice of the layout can use */
    struct interval *interval;
    size_t count, size;
    UT_hash_handle hh;
};

struct registration {
    period_t period;
    bool disconnected;
    char *gres;
    char *nodelist;
};

struct outage {
    char *node;
    period_t period;
    edge_kind_t kind;
    char *gres;
};

struct booking {
    period_t period;
    edge_kind_t kind;
    char *nodelist;
};

struct cluster {
    char *name;
    int64_t as_of;
    struct registration *registration;
    size_t registration_count;
    struct outage *outage;
    size_t outage_count;
    struct booking *booking;
    size_t booking_count;
    UT_hash_handle hh;
};

struct capacity {
    const site_t *site;
    kinds_t *kinds;
    period_t period;
    int64_t *changes;
    size_t change_count;
    struct cluster *clusters;
    struct place *places;
    bool laid_out;
};

/* --- sums -------------------------------------------------------------- */

/* All members of a sum, so that no function forgets one. */
static mpq_t *sum_member (capacity_sum_t *sum, size_t i)
{
    mpq_t *members[] = {&sum->capacity,     &sum->allocated,
                        &sum->reserved_unused, &sum->idle,
                        &sum->planned_down, &sum->down,
                        &sum->unknown,      &sum->stranded,
                        &sum->difference};

    return i < GL_ARRAY_SIZE (members) ? members[i] : NULL;
}

void capacity_sum_init (capacity_sum_t *sum)
{
    mpq_t *m;

    for (size_t i = 0; (m = sum_member (sum, i)); i++)
        mpq_init (*m);
}

void capacity_sum_clear (capacity_sum_t *sum)
{
    mpq_t *m;

    for (size_t i = 0; (m = sum_member (sum, i)); i++)
        mpq_clear (*m);
}

void capacity_sum_add (capacity_sum_t *sum, const capacity_sum_t *more)
{
    mpq_t *m;

    for (size_t i = 0; (m = sum_member (sum, i)); i++)
        mpq_add (*m, *m, *sum_member ((capacity_sum_t *)more, i));
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

static struct place *place_get (capacity_t *c, const site_pool_t *pool,
                                const char *cluster, const char *node)
{
    GL_AUTOFREE char *key
        = xasprintf ("%td\n%s\n%s", pool ? pool - c->site->pools : -1, cluster,
                     node ? node : "");
    struct place *place;

    HASH_FIND_STR (c->places, key, place);
    if (!place) {
        place = xcalloc (1, sizeof (*place));
        place->key = GL_TAKE (key);
        place->pool = pool;
        place->cluster = xstrdup (cluster);
        place->node = xstrdup (node);
        place->remainder = fraction (0, 1);
        HASH_ADD_KEYPTR (hh, c->places, place->key, strlen (place->key), place);
    }
    return place;
}

static void place_add (const capacity_t *c, struct place *place,
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

static void add_held (capacity_t *c, const segment_t *s, const holding_t *h,
                      period_t period)
{
    struct place *place = place_get (c, h->kind->pool, s->cluster, h->node);

    if (h->kind->weight_known)
        place_add (c, place, EDGE_ALLOCATED, period,
                   fraction (h->kind->weight.num * (int64_t)h->devices,
                             h->kind->weight.den));
    else
        place_add (c, place, EDGE_BLIND, period, fraction (1, 1));
}

void capacity_add_segment (capacity_t *c, const segment_t *s)
{
    period_t in = period_clip ((period_t){s->time_start, segment_end (s)},
                               c->period);
    size_t i = 0, count;

    if (s->time_start == 0)
        return;
    while (in.start < in.end) {
        period_t piece = in;
        const holding_t *h = kinds_of_segment (c->kinds, s, in.start, true,
                                               &count);
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
        cluster->registration = xreallocarray (
            cluster->registration, cluster->registration_count + 1,
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

    cluster->booking = xreallocarray (
        cluster->booking, cluster->booking_count + 1, sizeof (*cluster->booking));
    cluster->booking[cluster->booking_count++] = (struct booking){
        open_period (r->start, r->end),
        r->flags & RESERVATION_MAINT ? EDGE_PLANNED : EDGE_RESERVED,
        xstrdup (r->nodelist),
    };
}

/* --- the places of a cluster ------------------------------------------- */

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
    const holding_t *h = kinds_of_segment (c->kinds, &s, c->period.start, false,
                                           &count);

    *ret_known = true;
    for (size_t i = 0; i < count; i++) {
        if (!h[i].kind->weight_known)
            *ret_known = false;
        sum = fraction_add (sum, fraction (h[i].kind->weight.num
                                               * (int64_t)h[i].devices,
                                           h[i].kind->weight.den));
    }
    return sum;
}

static void lay_pool_node (capacity_t *c, const struct cluster *cluster,
                           const site_pool_t *pool, const char *node)
{
    struct place *place = place_get (c, pool, cluster->name, node);
    mig_table_t table = {c->site->profiles, c->site->profile_count};
    fraction_t left;

    place_add (c, place, EDGE_CAPACITY, pool->valid,
               fraction (pool->gpus_per_node, 1));
    if (pool->layout
        && mig_layout (&table, pool->gpu, pool->layout, pool->gpus_per_node,
                       pool->mig_weight, NULL, &left, NULL)
               == 0
        && left.num > 0)
        place->remainder = left;
}

/* A pool without `nodes` has every node that the cluster ever registered. */
static void lay_pool (capacity_t *c, const struct cluster *cluster,
                      const site_pool_t *pool)
{
    size_t lists = pool->nodes ? 1 : cluster->registration_count;

    for (size_t i = 0; i < lists; i++) {
        nodelist_t *list = nodelist_open (
            pool->nodes ? pool->nodes : cluster->registration[i].nodelist, NULL);
        const char *node;
        while (list && (node = nodelist_next (list))) {
            struct place *place = place_get (c, pool, cluster->name, node);
            bool laid = false;
            for (size_t k = 0; k < place->count; k++)
                laid |= place->interval[k].kind == EDGE_CAPACITY;
            if (!laid)
                lay_pool_node (c, cluster, pool, node);
        }
        nodelist_close (list);
    }
}

/* Without pools the cluster's registration tells the capacity, in one sum; a
 * node is told apart only by its outage rows, which carry its GRES. */
static void lay_registered (capacity_t *c, const struct cluster *cluster)
{
    struct place *rest = place_get (c, NULL, cluster->name, NULL);
    bool known;

    for (size_t i = 0; i < cluster->registration_count; i++) {
        const struct registration *r = &cluster->registration[i];
        fraction_t all;
        if (r->disconnected)
            continue;
        all = gres_amount (c, cluster->name, r->gres, &known);
        place_add (c, rest, EDGE_CAPACITY, r->period, all);
        if (!known)
            place_add (c, rest, EDGE_BLIND, r->period, fraction (1, 1));
    }
    for (size_t i = 0; i < cluster->outage_count; i++) {
        const struct outage *o = &cluster->outage[i];
        struct place *place = place_get (c, NULL, cluster->name, o->node);
        fraction_t own = gres_amount (c, cluster->name, o->gres, &known);
        bool laid = false;
        for (size_t k = 0; k < place->count; k++)
            laid |= place->interval[k].kind == EDGE_CAPACITY;
        if (laid)
            continue;
        for (size_t k = 0; k < cluster->registration_count; k++) {
            const struct registration *r = &cluster->registration[k];
            if (r->disconnected)
                continue;
            place_add (c, place, EDGE_CAPACITY, r->period, own);
            place_add (c, rest, EDGE_CAPACITY, r->period,
                       fraction (-own.num, own.den));
        }
    }
}

static bool listed (const char *nodelist, const char *node)
{
    nodelist_t *list;
    bool found;

    if (!node || !nodelist)
        return node == NULL;
    list = nodelist_open (nodelist, NULL);
    found = list && nodelist_contains (list, node);
    nodelist_close (list);
    return found;
}

/* What the cluster's rows say of one place. */
static void lay_states (capacity_t *c, const struct cluster *cluster,
                        struct place *place)
{
    period_t spoken = {SITE_ALWAYS_START, cluster->as_of};

    for (size_t i = 0; i < cluster->registration_count; i++) {
        const struct registration *r = &cluster->registration[i];
        bool names_it = !r->nodelist || !r->nodelist[0] || !place->node
                        || listed (r->nodelist, place->node);
        if (r->disconnected || names_it)
            place_add (c, place, r->disconnected ? EDGE_BLIND : EDGE_KNOWN,
                       period_clip (r->period, spoken), fraction (1, 1));
    }
    for (size_t i = 0; place->node && i < cluster->outage_count; i++) {
        const struct outage *o = &cluster->outage[i];
        if (!strcmp (o->node, place->node))
            place_add (c, place, o->kind, o->period, fraction (1, 1));
    }
    for (size_t i = 0; place->node && i < cluster->booking_count; i++) {
        const struct booking *b = &cluster->booking[i];
        if (listed (b->nodelist, place->node))
            place_add (c, place, b->kind, b->period, fraction (1, 1));
    }
}

/* Without pools, what was held on a node that has no place of its own was held
 * on the rest. */
static void merge_unplaced (capacity_t *c)
{
    struct place *place, *next;

    HASH_ITER (hh, c->places, place, next)
    {
        struct place *rest;
        bool laid = false;
        if (place->pool || !place->node)
            continue;
        for (size_t k = 0; k < place->count; k++)
            laid |= place->interval[k].kind == EDGE_CAPACITY;
        if (laid)
            continue;
        rest = place_get (c, NULL, place->cluster, NULL);
        for (size_t k = 0; k < place->count; k++)
            place_add (c, rest, place->interval[k].kind,
                       place->interval[k].period, place->interval[k].amount);
        place->count = 0;
    }
}

static void lay_out (capacity_t *c)
{
    struct cluster *cluster, *next;
    struct place *place, *next_place;

    HASH_ITER (hh, c->clusters, cluster, next)
    {
        for (size_t i = 0; i < c->site->pool_count; i++) {
            const site_pool_t *pool = &c->site->pools[i];
            if (!pool->cluster || !strcmp (pool->cluster, cluster->name))
                lay_pool (c, cluster, pool);
        }
        if (c->site->pool_count == 0)
            lay_registered (c, cluster);
    }
    if (c->site->pool_count == 0)
        merge_unplaced (c);
    HASH_ITER (hh, c->places, place, next_place)
    {
        HASH_FIND_STR (c->clusters, place->cluster, cluster);
        if (cluster)
            lay_states (c, cluster, place);
    }
    c->laid_out = true;
}

/* --- the sweep over one place ------------------------------------------ */

struct edge {
    int64_t at;
    edge_kind_t kind;
    int64_t units; /* GPUs in units of 1/denominator, or +-1 of a state */
};

static int by_time (const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static int64_t common_denominator (const struct place *place)
{
    int64_t lcm = place->remainder.den;

    for (size_t i = 0; i < place->count; i++)
        lcm = lcm * fraction (place->interval[i].amount.den, lcm).num;
    return lcm;
}

static struct edge *edges_new (const struct place *place, int64_t denominator,
                               size_t *ret_count)
{
    struct edge *edge = xcalloc (2 * place->count, sizeof (*edge));
    size_t n = 0;

    for (size_t i = 0; i < place->count; i++) {
        const struct interval *v = &place->interval[i];
        bool amount = v->kind == EDGE_CAPACITY || v->kind == EDGE_ALLOCATED;
        int64_t units
            = amount ? v->amount.num * (denominator / v->amount.den) : 1;
        edge[n++] = (struct edge){v->period.start, v->kind, units};
        edge[n++] = (struct edge){v->period.end, v->kind, -units};
    }
    qsort (edge, n, sizeof (*edge), by_time);
    *ret_count = n;
    return edge;
}

/* Unit-seconds, one for each member of a sum. */
struct tally {
    __int128 capacity, allocated, reserved_unused, idle, planned_down, down,
        unknown, stranded;
};

static void tally_add (struct tally *t, const int64_t now[EDGE_COUNT],
                       int64_t remainder, int64_t seconds)
{
    int64_t free_units = now[EDGE_CAPACITY] - now[EDGE_ALLOCATED];
    __int128 *class = &t->idle;

    t->capacity += (__int128)now[EDGE_CAPACITY] * seconds;
    t->allocated += (__int128)now[EDGE_ALLOCATED] * seconds;
    if (free_units <= 0)
        return;
    if (now[EDGE_KNOWN] == 0 || now[EDGE_BLIND] > 0)
        class = &t->unknown;
    else if (now[EDGE_DOWN] > 0)
        class = &t->down;
    else if (now[EDGE_PLANNED] > 0)
        class = &t->planned_down;
    else if (now[EDGE_RESERVED] > 0)
        class = &t->reserved_unused;
    else
        t->stranded += (__int128)(remainder < free_units ? remainder : free_units)
                       * seconds;
    *class += (__int128)free_units * seconds;
}

static void set_units (mpq_t value, __int128 units, int64_t denominator)
{
    bool negative = units < 0;
    mpz_t den;

    mpz_init (den);
    exact_set_u128 (mpq_numref (value),
                    negative ? -(unsigned __int128)units
                             : (unsigned __int128)units);
    if (negative)
        mpz_neg (mpq_numref (value), mpq_numref (value));
    exact_set_u128 (den, denominator);
    mpq_set_den (value, den);
    mpq_canonicalize (value);
    mpz_clear (den);
}

static void tally_sum (const struct tally *t, int64_t denominator,
                       capacity_sum_t *sum)
{
    __int128 parts = t->allocated + t->reserved_unused + t->idle
                     + t->planned_down + t->down + t->unknown;

    set_units (sum->capacity, t->capacity, denominator);
    set_units (sum->allocated, t->allocated, denominator);
    set_units (sum->reserved_unused, t->reserved_unused, denominator);
    set_units (sum->idle, t->idle, denominator);
    set_units (sum->planned_down, t->planned_down, denominator);
    set_units (sum->down, t->down, denominator);
    set_units (sum->unknown, t->unknown, denominator);
    set_units (sum->stranded, t->stranded, denominator);
    set_units (sum->difference, t->capacity - parts, denominator);
}

static void sweep (const capacity_t *c, const struct place *place,
                   const int64_t *cuts, size_t cut_count, capacity_f callback,
                   void *arg)
{
    int64_t denominator = common_denominator (place);
    int64_t remainder
        = place->remainder.num * (denominator / place->remainder.den);
    int64_t now[EDGE_COUNT] = {0}, at = c->period.start;
    size_t edge_count, e = 0, cut = 0;
    struct edge *edge = edges_new (place, denominator, &edge_count);
    capacity_sum_t sum;

    capacity_sum_init (&sum);
    while (at < c->period.end) {
        capacity_slice_t slice = {place->pool, place->cluster, place->node,
                                  {at, c->period.end}, &sum};
        struct tally tally = {0};
        while (cut < cut_count && cuts[cut] <= at)
            cut++;
        if (cut < cut_count && cuts[cut] < slice.interval.end)
            slice.interval.end = cuts[cut];
        while (at < slice.interval.end) {
            int64_t until = slice.interval.end;
            while (e < edge_count && edge[e].at <= at) {
                now[edge[e].kind] += edge[e].units;
                e++;
            }
            if (e < edge_count && edge[e].at < until)
                until = edge[e].at;
            tally_add (&tally, now, remainder, until - at);
            at = until;
        }
        tally_sum (&tally, denominator, &sum);
        callback (&slice, arg);
    }
    capacity_sum_clear (&sum);
    free (edge);
}

static int by_place (const void *a, const void *b)
{
    const struct place *x = *(struct place *const *)a;
    const struct place *y = *(struct place *const *)b;
    int order = strcmp (x->cluster, y->cluster);

    if (!order && x->pool && y->pool)
        order = strcmp (x->pool->name, y->pool->name);
    return order ? order : strcmp (x->node ? x->node : "", y->node ? y->node : "");
}

void capacity_each (capacity_t *c, const int64_t *cuts, size_t cut_count,
                    capacity_f callback, void *arg)
{
    struct place **sorted, *place, *next;
    size_t count = 0;

    if (!c->laid_out)
        lay_out (c);
    sorted = xcalloc (HASH_COUNT (c->places), sizeof (*sorted));
    HASH_ITER (hh, c->places, place, next)
    {
        bool in_a_pool = place->pool || c->site->pool_count == 0;
        if (in_a_pool && place->count > 0)
            sorted[count++] = place;
    }
    qsort (sorted, count, sizeof (*sorted), by_place);
    for (size_t i = 0; i < count; i++)
        sweep (c, sorted[i], cuts, cut_count, callback, arg);
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
