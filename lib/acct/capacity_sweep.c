#include "acct/capacity_private.h"
#include "base/memory.h"

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

/* Where the time of what nobody holds goes. */
static __int128 *class_of_free (struct tally *t, const int64_t now[EDGE_COUNT])
{
    if (now[EDGE_KNOWN] == 0 || now[EDGE_BLIND] > 0)
        return &t->unknown;
    if (now[EDGE_DOWN] > 0)
        return &t->down;
    if (now[EDGE_PLANNED] > 0)
        return &t->planned_down;
    return now[EDGE_RESERVED] > 0 ? &t->reserved_unused : &t->idle;
}

/* The cards are up: they are idle, or nobody speaks of the node but a job holds
 * slices of them. What their layout leaves over is stranded then. */
static bool cards_are_up (const struct tally *t, const __int128 *class,
                          const int64_t now[EDGE_COUNT])
{
    return class == &t->idle
           || (class == &t->unknown && now[EDGE_BLIND] == 0
               && now[EDGE_ALLOCATED] > 0);
}

static void tally_add (struct tally *t, const int64_t now[EDGE_COUNT],
                       int64_t remainder, int64_t seconds)
{
    int64_t free_units = now[EDGE_CAPACITY] - now[EDGE_ALLOCATED];
    int64_t stranded = remainder < free_units ? remainder : free_units;
    __int128 *class = class_of_free (t, now);

    t->capacity += (__int128)now[EDGE_CAPACITY] * seconds;
    t->allocated += (__int128)now[EDGE_ALLOCATED] * seconds;
    if (free_units <= 0)
        return;
    if (!cards_are_up (t, class, now))
        stranded = 0;
    t->stranded += (__int128)stranded * seconds;
    t->idle += (__int128)stranded * seconds;
    *class += (__int128)(free_units - stranded) * seconds;
}

static void set_units (mpq_t value, __int128 units, int64_t denominator)
{
    bool negative = units < 0;
    mpz_t den;

    mpz_init (den);
    exact_set_u128 (mpq_numref (value), negative ? -(unsigned __int128)units
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

void capacity_sweep (const capacity_t *c, const struct place *place,
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
        capacity_slice_t slice = {.pool = place->pool,
                                  .cluster = place->cluster,
                                  .node = place->node,
                                  .interval = {at, c->period.end},
                                  .sum = &sum};
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
