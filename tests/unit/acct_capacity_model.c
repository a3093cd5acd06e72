/*
 * Capacity against a slow second opinion: random months are classified second
 * by second, GPU by GPU, straight from the definitions of capacity.h, and every
 * member of every hour of every node must be the same.
 */
#include <stdlib.h>

#include "support/test.h"

#include "base/memory.h"
#include "base/zone.h"
#include "usage/capacity.h"

#define T0 INT64_C (1790000000)
#define HOUR 3600
#define HOURS 3
#define SECONDS (HOURS * HOUR)
#define WORLDS 500

/* GPUs are counted in parts of 1/UNIT: sevenths, halves and thirds of GPUs, and
 * of those the shares of 8 to 16 CPUs and 100 MB times up to 4 GPUs. */
#define UNIT INT64_C (201600)

enum { POOL_BIG, POOL_BIG_LATER, POOL_SLICES, POOL_WHOLE, POOLS };
enum { NODES = 3 };
static const char *const nodes[NODES] = {"g1", "g2", "m1"};
static const int places_of_node[NODES][2] = {{POOL_BIG, POOL_BIG_LATER},
                                             {POOL_BIG, POOL_BIG_LATER},
                                             {POOL_SLICES, POOL_WHOLE}};

/* --- the world --------------------------------------------------------- */

/* What a job holds on each node: written down by hand. A shard is 1/3 GPU of
 * the early pool and 1/2 of the later one; of POOL_WHOLE nobody knows. */
static const struct {
    const char *gres;
    const char *nodelist;
    int gpus[NODES];      /* whole, in the node's pool of whole GPUs */
    int slices[NODES];    /* 3g.40gb: 3/7 */
    int shards[NODES];    /* of the big pools */
    bool blind;           /* on m1, in POOL_WHOLE */
    int64_t cpus, memory; /* of the job; -1: unknown */
    int cpus_on[NODES], memory_on[NODES];
} shapes[] = {
    {"gpu=2,gpu:h100=2", "g1", {2}, {0}, {0}, false, 9, 10, {9}, {10}},
    {"gpu=3,gpu:h100=3",
     "g[1-2]",
     {2, 1},
     {0},
     {0},
     false,
     5,
     61,
     {3, 2},
     {31, 30}},
    {"gpu=1,gpu:h100=1,shard=5",
     "g2",
     {0, 1},
     {0},
     {0},
     false,
     -1,
     -1,
     {0},
     {0}},
    {"shard=4", "g2", {0}, {0}, {0, 4}, false, 2, 7, {0, 2}, {0, 7}},
    {"shard=1", "g1", {0}, {0}, {1}, false, 1, 90, {1}, {90}},
    {"gpu=2,gpu:3g.40gb=2",
     "m1",
     {0},
     {0, 0, 2},
     {0},
     false,
     2,
     0,
     {0, 0, 2},
     {0}},
    {"gpu=1,gpu:3g.40gb=1",
     "m1",
     {0},
     {0, 0, 1},
     {0},
     false,
     3,
     5,
     {0, 0, 3},
     {0, 0, 5}},
    {"gpu=1,gpu:a100=1",
     "m1",
     {0, 0, 1},
     {0},
     {0},
     false,
     1,
     1,
     {0, 0, 1},
     {0, 0, 1}},
    {"shard=2,shard:a100=2",
     "m1",
     {0},
     {0},
     {0},
     true,
     1,
     1,
     {0, 0, 1},
     {0, 0, 1}},
    {"", "g1", {0}, {0}, {0}, false, 12, 20, {12}, {20}},
    {"",
     "g[1-2],m1,x9",
     {0},
     {0},
     {0},
     false,
     29,
     203,
     {8, 7, 7},
     {51, 51, 51}},
};

static const struct {
    uint32_t state;
    enum { OUT_DOWN, OUT_DRAINED, OUT_PLANNED } what;
} outage_states[] = {
    {NODE_STATE_DOWN, OUT_DOWN},
    {NODE_STATE_DOWN | NODE_STATE_DRAIN, OUT_DOWN},
    {NODE_STATE_DRAIN | 2, OUT_DRAINED},
    {NODE_STATE_DRAIN | 5, OUT_DRAINED},
    {NODE_STATE_FAIL | 2, OUT_DOWN},
    {NODE_STATE_MAINT | NODE_STATE_DRAIN | 2, OUT_PLANNED},
    {NODE_STATE_POWERED_DOWN | 2, OUT_PLANNED},
    {NODE_STATE_POWERED_DOWN | NODE_STATE_CLOUD | 2, OUT_PLANNED},
    {NODE_STATE_FUTURE, OUT_PLANNED},
};

static const char *const registered_nodes[]
    = {"g[1-2],m1", "g1,m1", "g[1-2]", ""};
static const bool registers[][NODES] = {{true, true, true},
                                        {true, false, true},
                                        {true, true, false},
                                        {true, true, true}};

static const char *const booked_nodes[] = {"g1", "g[1-2]", "m1,g2"};
static const bool books[][NODES]
    = {{true, false, false}, {true, true, false}, {false, true, true}};

/* Inventories. Of the big pools only the number of GPUs; of m1 what the GPU of
 * slices leaves, in sevenths (-1: its inventory cannot tell), and what either
 * pool has. */
static const char *const two_of_3g[] = {"3g.40gb", "3g.40gb"};
static const char *const one_of_3g[] = {"3g.40gb"};
static const char *const unheard_of[] = {"9g.990gb"};
static const inventory_gpu_t mixed_gpus[] = {
    {"3g.40gb", NULL, two_of_3g, 2, true},
    {"3g.40gb", NULL, one_of_3g, 1, true},
    {"3g.40gb", NULL, unheard_of, 1, true},
    {"a100", NULL, NULL, 0, false},
    {"a100", NULL, NULL, 0, false},
    {"a100", NULL, NULL, 0, false},
    {"who", NULL, NULL, 0, false},
};
static const struct {
    size_t first, count; /* of mixed_gpus */
    int slices, whole;   /* -1: it says nothing of the node */
    int left;
} mixed_listings[] = {
    {0, 1, 1, 0, 1},  {1, 1, 1, 0, 4}, {2, 1, 1, 0, -1},  {1, 2, 2, 0, 0},
    {2, 4, 1, 3, -1}, {3, 2, 0, 2, 0}, {5, 2, -1, -1, 0}, {0, 0, 0, 0, 0},
};

struct world {
    site_t site;
    site_pool_t pools[POOLS];
    int64_t as_of, later; /* seconds after T0 */
    struct {
        size_t shape;
        int64_t start, end;
        bool open;
    } job[40];
    size_t jobs;
    struct {
        int node;
        size_t state;
        int64_t start, end; /* end 0: open */
    } outage[12];
    size_t outages;
    struct {
        size_t nodes;
        int64_t start, end;
        bool away;
    } registration[5];
    size_t registrations;
    struct {
        uint64_t id;
        size_t nodes;
        int64_t start, end;
        bool maintenance;
    } booking[8];
    size_t bookings;
    struct {
        int node;
        size_t what; /* GPUs of a g node; else a mixed listing */
        int64_t start, end;
    } listing[6];
    size_t listings;
};

static uint32_t seed;
static int64_t pick (int64_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (int64_t)((uint64_t)(seed >> 4) % (uint64_t)below);
}

static char *big_gres[] = {(char *)"h100"};
static char *slice_gres[] = {(char *)"3g.40gb"};
static char *whole_gres[] = {(char *)"a100"};

static void make_site (struct world *w)
{
    const period_t always = {SITE_ALWAYS_START, SITE_ALWAYS_END};
    bool cpus = pick (4) > 0, memory = pick (3) > 0;
    site_pool_t big = {.name = (char *)"big",
                       .nodes = (char *)"g[1-2]",
                       .gres = {big_gres, 1},
                       .gpus_per_node = 4,
                       .shards_per_gpu = 3,
                       .cpus_per_node = cpus ? 16 : 0,
                       .memory_per_node = memory ? 100 : 0,
                       .valid = always};

    w->site.zone = zone_open ("UTC", NULL);
    w->pools[POOL_BIG] = w->pools[POOL_BIG_LATER] = big;
    w->later = 1 + pick (SECONDS);
    w->pools[POOL_BIG].valid.end = T0 + w->later;
    w->pools[POOL_BIG_LATER].valid.start = T0 + w->later;
    w->pools[POOL_BIG_LATER].gpus_per_node = 3;
    w->pools[POOL_BIG_LATER].shards_per_gpu = 2;
    w->pools[POOL_SLICES] = (site_pool_t){.name = (char *)"slices",
                                          .nodes = (char *)"m1",
                                          .gres = {slice_gres, 1},
                                          .gpu = (char *)"H100-SXM5-80GB",
                                          .gpus_per_node = 1,
                                          .layout = (char *)"3g.40gb:2",
                                          .cpus_per_node = cpus ? 8 : 0,
                                          .valid = always};
    w->pools[POOL_WHOLE] = (site_pool_t){.name = (char *)"whole",
                                         .nodes = (char *)"m1",
                                         .gres = {whole_gres, 1},
                                         .gpus_per_node = 2,
                                         .cpus_per_node = cpus ? 8 : 0,
                                         .valid = always};
    w->site.pools = w->pools;
    w->site.pool_count = POOLS;
}

static void make_facts (struct world *w)
{
    int64_t at = pick (1000) - 500;

    w->as_of = pick (3) ? SECONDS + 10 : pick (SECONDS);
    for (w->jobs = 0; w->jobs < (size_t)(5 + pick (36)); w->jobs++) {
        int64_t start = pick (SECONDS + 2000) - 1000;
        bool open = start < w->as_of && pick (9) == 0;
        int64_t end = open ? w->as_of : start + 1 + pick (4000);
        if (end > w->as_of)
            end = w->as_of;
        if (start > end)
            start = end - 1;
        w->job[w->jobs].shape = (size_t)pick (GL_ARRAY_SIZE (shapes));
        w->job[w->jobs].start = start;
        w->job[w->jobs].end = end;
        w->job[w->jobs].open = open;
    }
    for (w->outages = 0; w->outages < (size_t)pick (13); w->outages++) {
        int64_t start = pick (SECONDS);
        w->outage[w->outages].node = (int)pick (NODES);
        w->outage[w->outages].state
            = (size_t)pick (GL_ARRAY_SIZE (outage_states));
        /* one outage in adjacent rows, or any two */
        if (w->outages > 0 && pick (3) == 0) {
            w->outage[w->outages].node = w->outage[w->outages - 1].node;
            start = w->outage[w->outages - 1].end
                        ? w->outage[w->outages - 1].end
                        : start;
        }
        w->outage[w->outages].start = start;
        w->outage[w->outages].end = pick (8) ? start + 1 + pick (3000) : 0;
    }
    for (w->registrations = 0; w->registrations < 5; w->registrations++) {
        w->registration[w->registrations].start = at;
        w->registration[w->registrations].nodes = (size_t)pick (4);
        at += 600 + pick (6000);
        w->registration[w->registrations].end = at;
        w->registration[w->registrations].away = pick (7) == 0;
        at += pick (3) ? 0 : pick (500);
    }
    for (w->bookings = 0; w->bookings < (size_t)pick (9); w->bookings++) {
        int64_t start = pick (SECONDS);
        w->booking[w->bookings].id = 1 + (uint64_t)w->bookings / 2;
        w->booking[w->bookings].nodes = (size_t)pick (3);
        w->booking[w->bookings].start
            = start + (int64_t)w->bookings; /* a key of its own */
        w->booking[w->bookings].end = pick (8) ? start + 10 + pick (4000) : 0;
        w->booking[w->bookings].maintenance = pick (4) == 0;
    }
    at = pick (SECONDS / 2);
    for (w->listings = 0; w->listings < (size_t)pick (7); w->listings++) {
        int node = pick (2) ? 2 : 0;
        w->listing[w->listings].node = node;
        w->listing[w->listings].what
            = (size_t)pick (node == 2 ? GL_ARRAY_SIZE (mixed_listings) : 6);
        w->listing[w->listings].start = at;
        at += 1 + pick (4000);
        w->listing[w->listings].end = at;
    }
}

static capacity_t *capacity_of (const struct world *w, kinds_t *kinds)
{
    static const inventory_gpu_t big[]
        = {{"h100", NULL, NULL, 0, false}, {NULL, NULL, NULL, 0, false},
           {"h100", NULL, NULL, 0, false}, {"h100", NULL, NULL, 0, false},
           {"h100", NULL, NULL, 0, false}, {"h100", NULL, NULL, 0, false}};
    capacity_t *c
        = capacity_new (&w->site, kinds, (period_t){T0, T0 + SECONDS});

    capacity_set_as_of (c, "lab", T0 + w->as_of);
    for (size_t i = 0; i < w->jobs; i++) {
        size_t k = w->job[i].shape;
        segment_t s = {
            .cluster = "lab",
            .id_job = i + 1,
            .time_start = T0 + w->job[i].start,
            .time_end = w->job[i].open ? 0 : T0 + w->job[i].end,
            .observed_at = T0 + w->as_of,
            .gres = shapes[k].gres,
            .nodelist = shapes[k].nodelist,
            .cpus
            = shapes[k].cpus < 0 ? COUNT_UNKNOWN : (uint64_t)shapes[k].cpus,
            .memory_mb
            = shapes[k].memory < 0 ? COUNT_UNKNOWN : (uint64_t)shapes[k].memory,
        };
        capacity_add_segment (c, &s);
    }
    for (size_t i = 0; i < w->outages; i++)
        capacity_add_event (
            c,
            &(node_event_t){.cluster = "lab",
                            .node = nodes[w->outage[i].node],
                            .start = T0 + w->outage[i].start,
                            .end = w->outage[i].end ? T0 + w->outage[i].end : 0,
                            .state = outage_states[w->outage[i].state].state});
    for (size_t i = 0; i < w->registrations; i++)
        capacity_add_event (
            c, &(node_event_t){
                   .cluster = "lab",
                   .start = T0 + w->registration[i].start,
                   .end = T0 + w->registration[i].end,
                   .state = w->registration[i].away ? NODE_STATE_DOWN : 0,
                   .gres = "gpu=11",
                   .nodelist = registered_nodes[w->registration[i].nodes]});
    for (size_t i = 0; i < w->bookings; i++)
        capacity_add_reservation (
            c, &(reservation_t){
                   .cluster = "lab",
                   .id = w->booking[i].id,
                   .name = "r",
                   .start = T0 + w->booking[i].start,
                   .end = w->booking[i].end ? T0 + w->booking[i].end : 0,
                   .flags = w->booking[i].maintenance ? RESERVATION_MAINT : 0,
                   .nodelist = booked_nodes[w->booking[i].nodes]});
    for (size_t i = 0; i < w->listings; i++) {
        size_t what = w->listing[i].what;
        bool mixed = w->listing[i].node == 2;
        capacity_add_inventory (
            c, &(node_inventory_t){
                   .cluster = "lab",
                   .node = nodes[w->listing[i].node],
                   .period = {T0 + w->listing[i].start, T0 + w->listing[i].end},
                   .gpu = mixed ? mixed_gpus + mixed_listings[what].first : big,
                   .gpu_count = mixed ? mixed_listings[what].count : what});
    }
    return c;
}

/* --- the slow model ---------------------------------------------------- */

/* The order is that of `of_model`. */
enum {
    CAPACITY,
    ALLOCATED,
    RESERVED,
    IDLE,
    PLANNED,
    DOWN,
    UNKNOWN,
    STRANDED,
    CPU_STRANDED,
    DRAINED,
    MISSING,
    SURPLUS,
    LISTED,
    DIFFERENCE,
    MEMBERS
};
static const char *const member_names[MEMBERS] = {
    "capacity", "allocated", "reserved_unused", "idle",         "planned_down",
    "down",     "unknown",   "stranded",        "cpu_stranded", "drained",
    "missing",  "surplus", "listed", "difference"};

struct hour {
    int64_t of[MEMBERS];
    int64_t kept[8]; /* of reserved, by id */
};

static bool is_on (int64_t t, int64_t start, int64_t end)
{
    return t >= start && (end == 0 || t < end);
}

/* GPUs of the pool on its node at t, in units. */
static int64_t gpus_at (const struct world *w, int pool, int64_t t)
{
    if (pool == POOL_BIG)
        return t < w->later ? 4 * UNIT : 0;
    if (pool == POOL_BIG_LATER)
        return t < w->later ? 0 : 3 * UNIT;
    return pool == POOL_SLICES ? UNIT : 2 * UNIT;
}

static int64_t held_at (const struct world *w, int pool, int node, int64_t t,
                        int64_t *ret_parts, bool *ret_blind)
{
    int64_t held = 0, parts = 0;
    bool here = gpus_at (w, pool, t) > 0;

    *ret_blind = false;
    for (size_t i = 0; here && i < w->jobs; i++) {
        size_t k = w->job[i].shape;
        if (t < w->job[i].start || t >= w->job[i].end)
            continue;
        if (pool == POOL_SLICES)
            held += shapes[k].slices[node] * 3 * (UNIT / 7);
        else
            held += shapes[k].gpus[node] * UNIT;
        if (pool == POOL_BIG)
            parts += shapes[k].shards[node] * (UNIT / 3);
        if (pool == POOL_BIG_LATER)
            parts += shapes[k].shards[node] * (UNIT / 2);
        if (pool == POOL_WHOLE && shapes[k].blind)
            *ret_blind = true;
    }
    *ret_parts = parts;
    return held + parts;
}

/* The numbers of one (pool, node): what its node's inventory says at t. */
static void listing_at (const struct world *w, int pool, int node, int64_t t,
                        int64_t *ret_there, int64_t *ret_left)
{
    *ret_there = -1;
    *ret_left = pool == POOL_SLICES ? UNIT / 7 : 0;
    for (size_t i = 0; i < w->listings; i++) {
        size_t what = w->listing[i].what;
        if (w->listing[i].node != node || t < w->listing[i].start
            || t >= w->listing[i].end)
            continue;
        if (node != 2)
            *ret_there = (int64_t)what;
        else
            *ret_there = pool == POOL_SLICES ? mixed_listings[what].slices
                                             : mixed_listings[what].whole;
        if (*ret_there * UNIT > gpus_at (w, pool, t) || *ret_there < 0)
            return;
        if (pool == POOL_SLICES && mixed_listings[what].left >= 0)
            *ret_left = mixed_listings[what].left * (UNIT / 7);
    }
}

static int64_t least (int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t cpu_stranded_at (const struct world *w, int pool, int node,
                                int64_t t)
{
    int64_t whole_gpus = 0, whole_held = 0, mine = gpus_at (w, pool, t);
    int64_t cpus = 0, memory = 0, share = 0, parts;
    const site_pool_t *p = &w->pools[pool];
    bool blind;

    for (int i = 0; i < 2; i++) {
        int other = places_of_node[node][i];
        whole_gpus += gpus_at (w, other, t);
        whole_held += held_at (w, other, node, t, &parts, &blind);
        if (blind)
            return 0;
    }
    for (size_t i = 0; i < w->jobs; i++) {
        if (t < w->job[i].start || t >= w->job[i].end)
            continue;
        cpus += shapes[w->job[i].shape].cpus_on[node];
        memory += shapes[w->job[i].shape].memory_on[node];
    }
    /* in units of GPUs that the share stands for */
    if (p->cpus_per_node)
        share = least (cpus, p->cpus_per_node) * whole_gpus / p->cpus_per_node;
    if (p->memory_per_node) {
        int64_t other = least (memory, p->memory_per_node) * whole_gpus
                        / p->memory_per_node;
        share = other > share ? other : share;
    }
    if (share <= whole_held)
        return 0;
    return (share - whole_held) * (mine / UNIT) / (whole_gpus / UNIT);
}

static void classify (const struct world *w, int pool, int node, int64_t t,
                      struct hour *h)
{
    int64_t gpus = gpus_at (w, pool, t), parts, there, left, opened;
    int64_t held, open, missing = 0, stranded;
    bool blind, known = false, away = false, down = false, drained = false;
    bool planned = false, maintenance = false, idle;
    size_t kept = SIZE_MAX;

    held = held_at (w, pool, node, t, &parts, &blind);
    h->of[CAPACITY] += gpus;
    h->of[ALLOCATED] += held;
    listing_at (w, pool, node, t, &there, &left);
    if (gpus && there * UNIT > gpus)
        h->of[SURPLUS] += there * UNIT - gpus;
    if (there >= 0)
        h->of[LISTED] += gpus;
    open = gpus - held;
    if (open < 0)
        h->of[DIFFERENCE] += open;
    if (open <= 0)
        return;
    for (size_t i = 0; i < w->registrations; i++) {
        if (t >= w->as_of
            || !is_on (t, w->registration[i].start, w->registration[i].end))
            continue;
        away = away || w->registration[i].away;
        known = known
                || (!w->registration[i].away
                    && registers[w->registration[i].nodes][node]);
    }
    for (size_t i = 0; i < w->outages; i++) {
        if (w->outage[i].node != node
            || !is_on (t, w->outage[i].start, w->outage[i].end))
            continue;
        switch (outage_states[w->outage[i].state].what) {
        case OUT_DOWN:
            down = true;
            break;
        case OUT_DRAINED:
            drained = true;
            break;
        case OUT_PLANNED:
            planned = true;
            break;
        }
    }
    for (size_t i = 0; i < w->bookings; i++) {
        if (!books[w->booking[i].nodes][node]
            || !is_on (t, w->booking[i].start, w->booking[i].end))
            continue;
        if (w->booking[i].maintenance)
            maintenance = true;
        else if (kept == SIZE_MAX || w->booking[i].id < w->booking[kept].id
                 || (w->booking[i].id == w->booking[kept].id
                     && w->booking[i].start < w->booking[kept].start))
            kept = i;
    }
    opened = (parts + UNIT - 1) / UNIT * UNIT;
    /* a row of the node's own tells what it was, whoever was away */
    if (blind || !known || (away && !down && !drained && !planned)) {
        stranded = !blind && !away && held > 0
                       ? least (left + opened - parts, open)
                       : 0;
        h->of[STRANDED] += stranded;
        h->of[IDLE] += stranded;
        h->of[UNKNOWN] += open - stranded;
        return;
    }
    if (down || drained) {
        h->of[DOWN] += open;
        if (!down)
            h->of[DRAINED] += open;
        return;
    }
    if (planned || maintenance) {
        h->of[PLANNED] += open;
        return;
    }
    if (there >= 0 && there * UNIT < gpus)
        missing = least (gpus - there * UNIT, open);
    h->of[DOWN] += missing;
    h->of[MISSING] += missing;
    open -= missing;
    idle = kept == SIZE_MAX;
    if (!idle) {
        h->of[RESERVED] += open;
        h->kept[w->booking[kept].id] += open;
        return;
    }
    stranded = least (left + opened - parts, open);
    h->of[IDLE] += open;
    h->of[STRANDED] += stranded;
    h->of[CPU_STRANDED]
        += least (cpu_stranded_at (w, pool, node, t), open - stranded);
}

/* --- the comparison ---------------------------------------------------- */

struct comparison {
    const struct world *w;
    int world;
    struct hour hour[POOLS][NODES][HOURS];
    size_t slices;
    int64_t seen[MEMBERS]; /* over all worlds, that the test is one */
};

static void same (const struct comparison *x, const capacity_slice_t *slice,
                  const char *what, mpq_srcptr got, int64_t units)
{
    mpq_t want;

    mpq_init (want);
    exact_set_i64 (want, units, UNIT);
    if (!mpq_equal (got, want))
        fail_msg ("world %d, pool %s, node %s, from %lld: %s is %.6f, not %.6f",
                  x->world, slice->pool->name, slice->node,
                  (long long)(slice->interval.start - T0), what,
                  mpq_get_d (got), mpq_get_d (want));
    mpq_clear (want);
}

static void compare_hour (const capacity_slice_t *slice, void *arg)
{
    struct comparison *x = arg;
    size_t pool = (size_t)(slice->pool - x->w->pools), node = 0, count;
    size_t hour = (size_t)((slice->interval.start - T0) / HOUR);
    const capacity_member_t *members = capacity_sum_members (&count);
    struct hour *h;
    mpq_t sum;

    while (strcmp (nodes[node], slice->node))
        node++;
    assert_int_equal (slice->interval.end, slice->interval.start + HOUR);
    h = &x->hour[pool][node][hour];
    assert_int_equal (count, MEMBERS);
    mpq_init (sum);
    for (size_t i = 0; i < count; i++) {
        mpq_ptr value = *capacity_sum_member ((capacity_sum_t *)slice->sum, i);
        size_t k = 0;
        while (strcmp (member_names[k], members[i].name))
            k++;
        same (x, slice, members[i].name, value, h->of[k]);
        x->seen[k] += h->of[k] != 0;
        if (members[i].of && !strcmp (members[i].of, "capacity"))
            mpq_add (sum, sum, value);
    }
    mpq_add (sum, sum, slice->sum->difference);
    assert_true (mpq_equal (sum, slice->sum->capacity));
    mpq_set_ui (sum, 0, 1);
    for (size_t i = 0; i < slice->reserved_count; i++)
        mpq_add (sum, sum, slice->reserved[i].gpu_seconds);
    assert_true (mpq_equal (sum, slice->sum->reserved_unused));
    for (uint64_t id = 0; id < GL_ARRAY_SIZE (h->kept); id++) {
        mpq_set_ui (sum, 0, 1);
        for (size_t i = 0; i < slice->reserved_count; i++)
            if (slice->reserved[i].id == id)
                mpq_add (sum, sum, slice->reserved[i].gpu_seconds);
        same (x, slice, "what a reservation kept", sum, h->kept[id]);
    }
    mpq_clear (sum);
    x->slices++;
}

static void add_all (const capacity_slice_t *slice, void *arg)
{
    capacity_sum_add (arg, slice->sum);
}

/* However the period is cut, the parts add up to it. */
static void compare_partitions (capacity_t *c, const int64_t *hours)
{
    capacity_sum_t by_hour, by_any;
    int64_t cuts[4], at = T0;
    mpq_t *value;

    capacity_sum_init (&by_hour);
    capacity_sum_init (&by_any);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cuts); i++)
        cuts[i] = at += 1 + pick (SECONDS / 3);
    capacity_each (c, hours, HOURS - 1, add_all, &by_hour);
    capacity_each (c, cuts, GL_ARRAY_SIZE (cuts), add_all, &by_any);
    for (size_t i = 0; (value = capacity_sum_member (&by_hour, i)); i++)
        assert_true (mpq_equal (*value, *capacity_sum_member (&by_any, i)));
    capacity_sum_clear (&by_hour);
    capacity_sum_clear (&by_any);
}

TEST_CASE (capacity__seeded_worlds__as_second_by_second)
{
    int64_t cuts[HOURS - 1];
    struct comparison *x = xcalloc (1, sizeof (*x));

    seed = 1;
    for (int i = 0; i < HOURS - 1; i++)
        cuts[i] = T0 + (i + 1) * HOUR;
    for (x->world = 0; x->world < WORLDS; x->world++) {
        struct world *w = xcalloc (1, sizeof (*w));
        make_site (w);
        make_facts (w);
        x->w = w;
        x->slices = 0;
        memset (x->hour, 0, sizeof (x->hour));
        for (int node = 0; node < NODES; node++)
            for (int i = 0; i < 2; i++)
                for (int64_t t = 0; t < SECONDS; t++) {
                    int pool = places_of_node[node][i];
                    classify (w, pool, node, t, &x->hour[pool][node][t / HOUR]);
                }
        kinds_t *kinds = kinds_new (&w->site);
        capacity_t *c = capacity_of (w, kinds);
        capacity_each (c, cuts, HOURS - 1, compare_hour, x);
        assert_int_equal (x->slices, 2 * NODES * HOURS);
        compare_partitions (c, cuts);
        capacity_free (c);
        kinds_free (kinds);
        zone_close (w->site.zone);
        free (w);
    }
    for (size_t i = 0; i < MEMBERS; i++)
        if (x->seen[i] < 20)
            fail_msg ("%s in %lld hours only", member_names[i],
                      (long long)x->seen[i]);
    free (x);
}

TEST_MAIN (NULL, NULL)
