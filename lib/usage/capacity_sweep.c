#include "base/memory.h"
#include "usage/capacity_private.h"

struct edge {
    int64_t at;
    edge_kind_t kind;
    int64_t units; /* GPUs in units of 1/denominator, CPUs, MB, the number of a
                      booking, or 1 for a state; negative: it ends */
};

static int by_time (const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static int64_t common_denominator (const struct place *place)
{
    int64_t lcm = 1;

    for (size_t i = 0; i < place->count; i++)
        lcm = lcm * fraction (place->interval[i].amount.den, lcm).num;
    return lcm;
}

static int64_t edge_units (const struct interval *v, int64_t denominator)
{
    if (v->kind <= EDGE_GPUS_LAST)
        return v->amount.num * (denominator / v->amount.den);
    if (v->kind == EDGE_CPUS || v->kind == EDGE_GPU_CPUS
        || v->kind == EDGE_MEMORY || v->kind == EDGE_RESERVED)
        return v->amount.num;
    return 1;
}

static struct edge *edges_new (const struct place *place, int64_t denominator,
                               size_t *ret_count)
{
    struct edge *edge = xcalloc (2 * place->count, sizeof (*edge));
    size_t n = 0;

    for (size_t i = 0; i < place->count; i++) {
        const struct interval *v = &place->interval[i];
        int64_t units = edge_units (v, denominator);
        edge[n++] = (struct edge){v->period.start, v->kind, units};
        edge[n++] = (struct edge){v->period.end, v->kind, -units};
    }
    if (n > 1)
        qsort (edge, n, sizeof (*edge), by_time);
    *ret_count = n;
    return edge;
}

/* --- what is on -------------------------------------------------------- */

/* At one moment: the sums of the edges so far, and the bookings that are on. */
struct now {
    int64_t of[EDGE_COUNT];
    int64_t *booking; /* numbers, in no order */
    size_t booking_count, booking_size;
};

static void switch_booking (struct now *now, int64_t number)
{
    size_t i = 0;

    if (number > 0) {
        if (now->booking_count == now->booking_size) {
            now->booking_size = now->booking_size ? 2 * now->booking_size : 4;
            now->booking = xreallocarray (now->booking, now->booking_size,
                                          sizeof (*now->booking));
        }
        now->booking[now->booking_count++] = number;
        return;
    }
    while (now->booking[i] != -number)
        i++;
    now->booking[i] = now->booking[--now->booking_count];
}

static void switch_edge (struct now *now, const struct edge *edge)
{
    if (edge->kind == EDGE_RESERVED)
        switch_booking (now, edge->units);
    else
        now->of[edge->kind] += edge->units;
}

/* The one whose time it is: the first by id. */
static int64_t first_booking (const struct now *now)
{
    int64_t first = now->booking[0];

    for (size_t i = 1; i < now->booking_count; i++)
        if (now->booking[i] < first)
            first = now->booking[i];
    return first;
}

/* --- adding up --------------------------------------------------------- */

/* Unit-seconds that are counted in further parts of a unit. */
struct share {
    __int128 denominator;
    __int128 units;
};

/* Of one booking. */
struct kept {
    int64_t number;
    __int128 units;
};

/* Unit-seconds, one for each member of a sum. */
struct tally {
    __int128 capacity, allocated, reserved_unused, idle, planned_down, down,
        unknown, stranded, drained, missing, surplus,
        listed;
    struct share *cpu_stranded;
    size_t cpu_stranded_count;
    struct kept *kept;
    size_t kept_count;
};

static void add_share (struct tally *t, __int128 units, __int128 denominator)
{
    size_t i = 0;

    while (i < t->cpu_stranded_count
           && t->cpu_stranded[i].denominator != denominator)
        i++;
    if (i == t->cpu_stranded_count) {
        t->cpu_stranded = xreallocarray (t->cpu_stranded, i + 1,
                                         sizeof (*t->cpu_stranded));
        t->cpu_stranded[t->cpu_stranded_count++]
            = (struct share){denominator, 0};
    }
    t->cpu_stranded[i].units += units;
}

static void add_kept (struct tally *t, int64_t number, __int128 units)
{
    size_t i = 0;

    while (i < t->kept_count && t->kept[i].number != number)
        i++;
    if (i == t->kept_count) {
        t->kept = xreallocarray (t->kept, i + 1, sizeof (*t->kept));
        t->kept[t->kept_count++] = (struct kept){number, 0};
    }
    t->kept[i].units += units;
}

/* Where the time of what nobody holds goes. A node's own event row outlasts the
 * controller: nobody else can resume the node, and when the controller returns it
 * either leaves the row open or ends it. */
static __int128 *class_of_free (struct tally *t, const struct now *now)
{
    if (now->of[EDGE_KNOWN] == 0 || now->of[EDGE_BLIND] > 0)
        return &t->unknown;
    if (now->of[EDGE_DOWN] > 0 || now->of[EDGE_DRAINED] > 0)
        return &t->down;
    if (now->of[EDGE_PLANNED] > 0)
        return &t->planned_down;
    if (now->of[EDGE_AWAY] > 0)
        return &t->unknown;
    if (now->of[EDGE_MAINTENANCE] > 0)
        return &t->planned_down;
    return now->booking_count > 0 ? &t->reserved_unused : &t->idle;
}

static int64_t smaller (int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What nobody can be given of the free GPUs as they are cut and opened. Also
 * where nobody speaks of the node but a job tells that its cards are up. */
static int64_t stranded_of (const struct tally *t, const __int128 *class,
                            const struct now *now, int64_t denominator,
                            int64_t left)
{
    int64_t parts = now->of[EDGE_PARTS] % denominator;
    int64_t rest
        = now->of[EDGE_REMAINDER] + (parts ? denominator - parts : 0);
    bool up = class == &t->idle
              || (class == &t->unknown && now->of[EDGE_BLIND] == 0
                  && now->of[EDGE_AWAY] == 0 && now->of[EDGE_ALLOCATED] > 0);

    return up ? smaller (rest, left) : 0;
}

/* (s x N - B) x G / N of the free units, for a share s = taken / whole; in parts
 * of 1 / (whole x N). */
static __int128 beyond (const struct now *now, int64_t denominator,
                        int64_t taken, int64_t whole)
{
    int64_t gpus
        = (now->of[EDGE_CAPACITY] + now->of[EDGE_OTHER_CAPACITY]) / denominator;
    int64_t allocated = now->of[EDGE_ALLOCATED] + now->of[EDGE_OTHER_ALLOCATED];
    __int128 share = (__int128)smaller (taken, whole) * gpus * denominator;

    return (share - (__int128)allocated * whole)
           * (now->of[EDGE_CAPACITY] / denominator);
}

static void add_cpu_stranded (struct tally *t, const site_pool_t *pool,
                              const struct now *now, int64_t denominator,
                              int64_t left, int64_t seconds)
{
    const int64_t taken[] = {now->of[EDGE_CPUS], now->of[EDGE_MEMORY]};
    const int64_t whole[] = {pool->cpus_per_node, pool->memory_per_node};
    int64_t gpus
        = (now->of[EDGE_CAPACITY] + now->of[EDGE_OTHER_CAPACITY]) / denominator;
    __int128 most = 0, of = 1;

    if (now->of[EDGE_OTHER_BLIND] > 0)
        return;
    for (size_t i = 0; i < GL_ARRAY_SIZE (taken); i++) {
        __int128 more;
        if (whole[i] == 0)
            continue;
        more = beyond (now, denominator, taken[i], whole[i]);
        if (more * of > most * ((__int128)whole[i] * gpus)) {
            most = more;
            of = (__int128)whole[i] * gpus;
        }
    }
    if (most > left * of) {
        most = left;
        of = 1;
    }
    if (most > 0)
        add_share (t, most * seconds, of * denominator);
}

/* What the node's own inventory lacks is down, not idle. */
static int64_t take_missing (struct tally *t, const __int128 *class,
                             const struct now *now, int64_t left,
                             int64_t seconds)
{
    int64_t missing = smaller (now->of[EDGE_MISSING], left);

    if (class != &t->idle && class != &t->reserved_unused)
        return left;
    t->missing += (__int128)missing * seconds;
    t->down += (__int128)missing * seconds;
    return left - missing;
}

/* CPUs that jobs with GPUs hold are no capacity of a pool of CPUs. */
static int64_t capacity_of (const struct now *now, int64_t denominator)
{
    int64_t all = now->of[EDGE_CAPACITY];

    return all - smaller (now->of[EDGE_GPU_CPUS] * denominator, all);
}

static void tally_add (struct tally *t, const site_pool_t *pool,
                       const struct now *now, int64_t denominator,
                       int64_t seconds)
{
    int64_t whole = capacity_of (now, denominator);
    int64_t left = whole - now->of[EDGE_ALLOCATED], stranded;
    __int128 *class = class_of_free (t, now);

    t->capacity += (__int128)whole * seconds;
    t->allocated += (__int128)now->of[EDGE_ALLOCATED] * seconds;
    if (now->of[EDGE_LISTED] > 0)
        t->listed += (__int128)now->of[EDGE_CAPACITY] * seconds;
    t->surplus += (__int128)now->of[EDGE_SURPLUS] * seconds;
    if (left <= 0)
        return;
    left = take_missing (t, class, now, left, seconds);
    stranded = stranded_of (t, class, now, denominator, left);
    t->stranded += (__int128)stranded * seconds;
    t->idle += (__int128)stranded * seconds;
    left -= stranded;
    *class += (__int128)left * seconds;
    if (class == &t->idle && pool && pool->resource == RESOURCE_GPU)
        add_cpu_stranded (t, pool, now, denominator, left, seconds);
    if (class == &t->down && now->of[EDGE_DOWN] == 0)
        t->drained += (__int128)left * seconds;
    if (class == &t->reserved_unused)
        add_kept (t, first_booking (now), (__int128)left * seconds);
}

/* --- sums -------------------------------------------------------------- */

static void set_units (mpq_t value, __int128 units, __int128 denominator)
{
    bool negative = units < 0;

    if (units == 0 && mpq_sgn (value) == 0)
        return; /* most are, again and again */
    exact_set_u128 (mpq_numref (value), negative ? -(unsigned __int128)units
                                                 : (unsigned __int128)units);
    if (negative)
        mpz_neg (mpq_numref (value), mpq_numref (value));
    exact_set_u128 (mpq_denref (value), (unsigned __int128)denominator);
    if (!exact_is_integer (value))
        mpq_canonicalize (value);
}

static void tally_sum (const struct tally *t, int64_t denominator,
                       capacity_sum_t *sum)
{
    __int128 parts = t->allocated + t->reserved_unused + t->idle
                     + t->planned_down + t->down + t->unknown;
    mpq_t share;

    set_units (sum->capacity, t->capacity, denominator);
    set_units (sum->allocated, t->allocated, denominator);
    set_units (sum->reserved_unused, t->reserved_unused, denominator);
    set_units (sum->idle, t->idle, denominator);
    set_units (sum->planned_down, t->planned_down, denominator);
    set_units (sum->down, t->down, denominator);
    set_units (sum->unknown, t->unknown, denominator);
    set_units (sum->stranded, t->stranded, denominator);
    set_units (sum->drained, t->drained, denominator);
    set_units (sum->missing, t->missing, denominator);
    set_units (sum->surplus, t->surplus, denominator);
    set_units (sum->listed, t->listed, denominator);
    set_units (sum->difference, t->capacity - parts, denominator);
    mpq_set_ui (sum->cpu_stranded, 0, 1);
    mpq_init (share);
    for (size_t i = 0; i < t->cpu_stranded_count; i++) {
        set_units (share, t->cpu_stranded[i].units,
                   t->cpu_stranded[i].denominator);
        mpq_add (sum->cpu_stranded, sum->cpu_stranded, share);
    }
    mpq_clear (share);
}

static capacity_reserved_t *reserved_new (const struct cluster *cluster,
                                          const struct tally *t,
                                          int64_t denominator)
{
    capacity_reserved_t *reserved
        = t->kept_count ? xcalloc (t->kept_count, sizeof (*reserved)) : NULL;

    for (size_t i = 0; i < t->kept_count; i++) {
        const struct booking *b = &cluster->booking[t->kept[i].number - 1];
        reserved[i].id = b->id;
        reserved[i].name = b->name;
        reserved[i].accounts = b->accounts;
        mpq_init (reserved[i].gpu_seconds);
        set_units (reserved[i].gpu_seconds, t->kept[i].units, denominator);
    }
    return reserved;
}

static void hand_over (const capacity_t *c, capacity_slice_t *slice,
                       const struct tally *t, int64_t denominator,
                       capacity_sum_t *sum, capacity_f callback, void *arg)
{
    struct cluster *cluster;
    capacity_reserved_t *reserved;

    HASH_FIND_STR (c->clusters, slice->cluster, cluster);
    reserved = reserved_new (cluster, t, denominator);
    tally_sum (t, denominator, sum);
    slice->sum = sum;
    slice->reserved = reserved;
    slice->reserved_count = t->kept_count;
    callback (slice, arg);
    for (size_t i = 0; i < t->kept_count; i++)
        mpq_clear (reserved[i].gpu_seconds);
    free (reserved);
    free (t->kept);
    free (t->cpu_stranded);
}

void capacity_sweep (const capacity_t *c, const struct place *place,
                     const int64_t *cuts, size_t cut_count, capacity_f callback,
                     void *arg)
{
    int64_t denominator = common_denominator (place);
    int64_t at = c->period.start;
    size_t edge_count, e = 0, cut = 0;
    struct edge *edge = edges_new (place, denominator, &edge_count);
    struct now now = {.booking_count = 0};
    capacity_sum_t sum;

    capacity_sum_init (&sum);
    while (at < c->period.end) {
        capacity_slice_t slice = {.pool = place->pool,
                                  .cluster = place->cluster,
                                  .node = place->node,
                                  .interval = {at, c->period.end}};
        struct tally tally = {0};
        while (cut < cut_count && cuts[cut] <= at)
            cut++;
        if (cut < cut_count && cuts[cut] < slice.interval.end)
            slice.interval.end = cuts[cut];
        while (at < slice.interval.end) {
            int64_t until = slice.interval.end;
            while (e < edge_count && edge[e].at <= at)
                switch_edge (&now, &edge[e++]);
            if (e < edge_count && edge[e].at < until)
                until = edge[e].at;
            tally_add (&tally, place->pool, &now, denominator, until - at);
            at = until;
        }
        hand_over (c, &slice, &tally, denominator, &sum, callback, arg);
    }
    capacity_sum_clear (&sum);
    free (now.booking);
    free (edge);
}
