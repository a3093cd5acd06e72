#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "world.h"

#define HOUR 3600
#define DAY (24 * HOUR)

/* --- chance ------------------------------------------------------------- */

chance_t chance_new (uint64_t seed)
{
    chance_t chance = {(seed + 1) * 0x9e3779b97f4a7c15U};

    for (int i = 0; i < 10; i++) /* seeds that are alike part */
        chance_below (&chance, 2);
    return chance;
}

uint64_t chance_below (chance_t *chance, uint64_t count)
{
    chance->state ^= chance->state >> 12;
    chance->state ^= chance->state << 25;
    chance->state ^= chance->state >> 27;
    return (chance->state * 2685821657736338717U >> 11) % count;
}

bool chance_percent (chance_t *chance, unsigned percent)
{
    return chance_below (chance, 100) < percent;
}

#define PICK(chance, list) \
    ((list)[chance_below (chance, sizeof (list) / sizeof ((list)[0]))])

/* --- the site ----------------------------------------------------------- */

static char *h100_types[] = {(char *)"h100"};
static char *slice_types[] = {(char *)"1g.10gb", (char *)"3g.40gb"};
static char *plain_types[] = {(char *)"a100", (char *)"gpu"};

static const site_pool_t pools[] = {
    {.name = (char *)"big",
     .nodes = (char *)"g[1-2]",
     .gres = {h100_types, 1},
     .gpu = (char *)"H100-SXM5-80GB",
     .gpus_per_node = 4,
     .shards_per_gpu = 4},
    {.name = (char *)"cut",
     .nodes = (char *)"m1",
     .gres = {slice_types, 2},
     .gpu = (char *)"H100-SXM5-80GB",
     .gpus_per_node = 1,
     .layout = (char *)"1g.10gb:4,3g.40gb:1"},
    {.name = (char *)"halves",
     .nodes = (char *)"m2",
     .gres = {slice_types, 2},
     .gpu = (char *)"H100-SXM5-80GB",
     .gpus_per_node = 1,
     .layout = (char *)"3g.40gb:2"},
    {.name = (char *)"mixed",
     .cluster = (char *)"lab",
     .nodes = (char *)"m1",
     .gres = {h100_types, 1},
     .gpu = (char *)"H100-SXM5-80GB",
     .gpus_per_node = 2},
    {.name = (char *)"old",
     .nodes = (char *)"g3",
     .gres = {plain_types, 2},
     .gpu = (char *)"A100-SXM4-80GB",
     .gpus_per_node = 2},
    /* of CPUs, on nodes with GPUs and on such without */
    {.name = (char *)"rest",
     .nodes = (char *)"g[1-3],m2,c1",
     .resource = RESOURCE_CPU,
     .gpus_per_node = 48,
     .cpus_per_node = 48},
    {.name = (char *)"both",
     .nodes = (char *)"m1",
     .resource = RESOURCE_CPU,
     .cpu_jobs = CPUS_OF_ALL,
     .gpus_per_node = 48,
     .cpus_per_node = 48},
};
#define POOLS (sizeof (pools) / sizeof (pools[0]))
#define POOLS_OF_GPUS (POOLS - 2)

/* Zones, and moments near which something happens to a calendar there. */
static const struct {
    const char *name;
    int64_t at[4];
} zones[] = {
    {"America/New_York", {1741503600, 1762063200, 1761969600, 1740805200}},
    {"Asia/Kolkata", {1759257000, 1761935400, 1764527400, 1740767400}},
    {"Australia/Lord_Howe", {1743865200, 1759591800, 1761915600, 1740749400}},
    {"Pacific/Chatham", {1743861600, 1758981600, 1761905700, 1740737700}},
    {"UTC", {1761955200, 1740787200, 1767225600, 1759276800}},
    {"Europe/Oslo", {1743296400, 1761440400, 1761951600, 1740783600}},
};
#define ZONES (sizeof (zones) / sizeof (zones[0]))

static void make_pools (world_t *w, chance_t *chance)
{
    bool dated = chance_percent (chance, 30);

    if (chance_percent (chance, 15))
        return;
    w->site.pools = xcalloc (POOLS, sizeof (*w->site.pools));
    w->site.pool_count = chance_percent (chance, 30) ? POOLS : POOLS_OF_GPUS;
    memcpy (w->site.pools, pools, sizeof (pools));
    for (size_t i = 0; i < POOLS; i++)
        w->site.pools[i].valid = (period_t){SITE_ALWAYS_START, SITE_ALWAYS_END};
    /* one pool begins, another one ends within the period */
    if (dated) {
        int64_t day = (w->period.start + w->period.end) / 2;
        day = zone_unit (w->site.zone, CALENDAR_DAY, day).start;
        w->site.pools[chance_below (chance, POOLS)].valid.start = day;
        w->site.pools[chance_below (chance, POOLS)].valid.end
            = day + (int64_t)chance_below (chance, 2) * DAY;
    }
    for (size_t i = 0; i < POOLS; i++)
        if (w->site.pools[i].valid.end <= w->site.pools[i].valid.start)
            w->site.pools[i].valid.end = SITE_ALWAYS_END;
}

static void make_site (world_t *w, chance_t *chance)
{
    size_t zone = chance_below (chance, ZONES);
    int64_t at = PICK (chance, zones[zone].at);
    gl_error_t error;

    w->site.zone = zone_open (zones[zone].name, &error);
    if (!w->site.zone) {
        fprintf (stderr, "%s\n", error.text);
        exit (1);
    }
    memcpy (w->site.currency, "USD", 4);
    w->site.currency_digits = 2;
    w->site.policy.runaway_grace = HOUR;
    w->period.start = at - HOUR - (int64_t)chance_below (chance, 2 * DAY);
    w->period.end = at + HOUR + (int64_t)chance_below (chance, 2 * DAY);
    make_pools (w, chance);
}

/* --- moments ------------------------------------------------------------ */

/* Often the beginning of an hour, a day or a month, or a second beside it. */
static int64_t moment (const world_t *w, chance_t *chance, int64_t from,
                       int64_t to)
{
    static const calendar_unit_t units[]
        = {CALENDAR_HOUR, CALENDAR_DAY, CALENDAR_MONTH};
    int64_t at = from + (int64_t)chance_below (chance, (uint64_t)(to - from));

    if (chance_percent (chance, 30))
        at = zone_unit (w->site.zone, PICK (chance, units), at).start
             + (int64_t)chance_below (chance, 3) - 1;
    return at < from ? from : at >= to ? to - 1 : at;
}

/* --- observations ------------------------------------------------------- */

static item_t *add (world_t *w, item_kind_t kind)
{
    item_t *item = &w->item[w->count < ITEMS_MAX ? w->count++ : ITEMS_MAX - 1];

    *item = (item_t){.kind = kind};
    return item;
}

static const char *some_nodes (chance_t *chance)
{
    static const char *const nodes[]
        = {"g1", "g2", "g[1-2]", "m1", "m2", "g3", "g[1-3]", "g2,m1", "x9"};

    return PICK (chance, nodes);
}

static const char *some_gres (chance_t *chance)
{
    static const char *const gres[] = {"gpu=2,gpu:h100=2",
                                       "gpu=1,gpu:h100=1",
                                       "gpu:1g.10gb=2",
                                       "gpu=3,gpu:1g.10gb=2,gpu:3g.40gb=1",
                                       "gpu=3,gpu:h100=1",
                                       "gpu=1,gpu:3g.40gb=1,gpu:h100=1",
                                       "gpu=4",
                                       "gpu:a100=1",
                                       "shard=3",
                                       "gpu=1,shard=4",
                                       ""};

    return PICK (chance, gres);
}

static segment_t base_segment (const world_t *w, chance_t *chance, uint64_t id,
                               const char *user)
{
    static const char *const accounts[] = {"vision", "cv", "nlp", NULL};
    static const char *const all[] = {"p", "long", NULL};
    int64_t span = w->period.end - w->period.start;
    segment_t s = {.cluster = chance_percent (chance, 80) ? "lab" : "sci",
                   .id_job = id,
                   .user = user,
                   .uid = 1000 + (uint32_t)id,
                   .account = PICK (chance, accounts),
                   .partition = PICK (chance, all),
                   .qos = PICK (chance, all),
                   .nodelist = some_nodes (chance),
                   .gres = some_gres (chance),
                   .gpu_asked = chance_percent (chance, 70),
                   .cpus = chance_below (chance, 64),
                   .memory_mb = COUNT_UNKNOWN,
                   .nodes = 1,
                   .array_task = TASK_NONE,
                   .het_offset = TASK_NONE,
                   .restart_count = -1};

    s.time_submit = moment (w, chance, w->period.start - DAY, w->period.end);
    s.time_start
        = chance_percent (chance, 5)
              ? 0
              : moment (w, chance, s.time_submit, s.time_submit + DAY / 2);
    s.time_end = s.time_start
                     ? moment (w, chance, s.time_start, s.time_start + span)
                     : s.time_submit + 5;
    s.time_limit = chance_percent (chance, 50)
                       ? SECONDS_UNKNOWN
                       : 60 * (int64_t)chance_below (chance, 3000);
    s.suspended = chance_percent (chance, 80)
                      ? 0
                      : (int64_t)chance_below (chance, 1000);
    return s;
}

/* What one source saw of it at one moment: perhaps open as yet, with things
 * that the source does not know or has wrong. */
static void observe (world_t *w, chance_t *chance, const segment_t *base,
                     bool last)
{
    static const segment_source_t sources[]
        = {SOURCE_SACCT_TEXT, SOURCE_JSON, SOURCE_SLURMDBD};
    static const segment_state_t ends[]
        = {SEGMENT_COMPLETED, SEGMENT_FAILED, SEGMENT_REQUEUED,
           SEGMENT_RESIZING, SEGMENT_NODE_FAIL};
    segment_t *s;
    bool open;

    if (base->time_submit > w->as_of) /* nobody knows of it */
        return;
    s = &add (w, ITEM_SEGMENT)->segment;
    *s = *base;
    s->source = PICK (chance, sources);
    s->observed_at = last && chance_percent (chance, 70)
                         ? w->as_of
                         : moment (w, chance, base->time_submit, w->as_of + 1);
    open = s->observed_at < base->time_end || chance_percent (chance, 10);
    s->state = open ? SEGMENT_RUNNING : PICK (chance, ends);
    if (open)
        s->time_end = 0;
    if (s->observed_at < base->time_start) {
        s->time_start = 0;
        s->state = SEGMENT_PENDING;
    }
    if (chance_percent (chance, 8))
        s->user = chance_percent (chance, 50) ? NULL : "mallory";
    if (chance_percent (chance, 8))
        s->gres = chance_percent (chance, 50) ? NULL : some_gres (chance);
    if (chance_percent (chance, 8))
        s->nodelist = chance_percent (chance, 50) ? NULL : some_nodes (chance);
    if (chance_percent (chance, 8))
        s->account = NULL;
    if (chance_percent (chance, 15))
        s->suspended = SECONDS_UNKNOWN;
    if (chance_percent (chance, 5) && s->time_end)
        s->time_end += 600;
}

static void suspend (world_t *w, chance_t *chance, const segment_t *base)
{
    size_t count = 1 + chance_below (chance, 2);
    int64_t at = base->time_start - 50;

    for (size_t i = 0; i < count && base->time_end - at > 10; i++) {
        suspension_t *s = &add (w, ITEM_SUSPENSION)->suspension;
        *s = (suspension_t){.cluster = base->cluster,
                            .id_job = base->id_job,
                            .time_submit = base->time_submit,
                            .start = moment (w, chance, at, base->time_end)};
        s->end = moment (w, chance, s->start, base->time_end + 100);
        at = s->end;
        if (chance_percent (chance, 30)) { /* seen before it was over, too */
            suspension_t *early = &add (w, ITEM_SUSPENSION)->suspension;
            *early = *s;
            early->end = 0;
        }
        if (at <= s->start)
            at = s->start + 1;
    }
}

/* The rows of a job: one, or several that follow one another. */
static void make_job (world_t *w, chance_t *chance, uint64_t id,
                      const char *user)
{
    size_t rows = chance_percent (chance, 70) ? 1 : 2;
    segment_t base = base_segment (w, chance, id, user);

    for (size_t i = 0; i < rows; i++) {
        size_t observations = 1 + chance_below (chance, 3);
        for (size_t k = 0; k < observations; k++)
            observe (w, chance, &base, k + 1 == observations);
        if (base.time_start && chance_percent (chance, 25))
            suspend (w, chance, &base);
        base.time_submit = base.time_end + (int64_t)chance_below (chance, 2);
        base.time_start = base.time_submit + (int64_t)chance_below (chance, 50);
        base.time_end = base.time_start + (int64_t)chance_below (chance, DAY);
        base.gres = some_gres (chance);
    }
}

/* --- nodes -------------------------------------------------------------- */

static void make_registrations (world_t *w, chance_t *chance)
{
    static const char *const gres[]
        = {"gpu=14,gpu:h100=10,gpu:a100=4", "gpu=14", "gpu=16,shard=16"};
    static const char *const nodes[] = {"g[1-3],m[1-2]", "g[1-2],m1", NULL};
    int64_t at
        = moment (w, chance, w->period.start - DAY, w->period.start + HOUR);

    for (size_t i = 1 + chance_below (chance, 2); i > 0; i--) {
        item_t *item = add (w, ITEM_EVENT);
        item->seen = w->as_of;
        item->event = (node_event_t){.cluster = "lab",
                                     .start = at,
                                     .gres = PICK (chance, gres),
                                     .nodelist = PICK (chance, nodes)};
        at = moment (w, chance, at + 1, w->period.end);
        if (i > 1)
            item->event.end = at;
        if (chance_percent (chance, 20))
            at += (int64_t)chance_below (chance, HOUR) + 1;
    }
}

static void make_outages (world_t *w, chance_t *chance)
{
    static const char *const nodes[]
        = {"g1", "g2", "g3", "m1", "m2", "x9", NULL};
    static const uint32_t states[] = {1, 0x201, 0x202, 0x8002, 0x1001, 6};

    for (size_t i = chance_below (chance, 5); i > 0; i--) {
        item_t *item = add (w, ITEM_EVENT);
        int64_t at = moment (w, chance, w->period.start - HOUR, w->period.end);
        item->seen = w->as_of;
        item->event = (node_event_t){.cluster = "lab",
                                     .node = PICK (chance, nodes),
                                     .start = at,
                                     .end = moment (w, chance, at, at + DAY),
                                     .state = PICK (chance, states),
                                     .gres = "gpu=4,gpu:h100=4"};
        if (!item->event.node)
            item->event.state = NODE_STATE_DOWN;
        if (chance_percent (chance, 20)) { /* seen while it was open, too */
            item_t *early = add (w, ITEM_EVENT);
            *early = *item;
            early->seen = at + 1;
            early->event.end = 0;
        }
    }
}

static void make_reservations (world_t *w, chance_t *chance)
{
    static const uint64_t flags[]
        = {0, RESERVATION_MAINT, RESERVATION_IGNORE_JOBS, 0};

    for (size_t i = chance_below (chance, 4); i > 0; i--) {
        item_t *item = add (w, ITEM_RESERVATION);
        int64_t at = moment (w, chance, w->period.start - HOUR, w->period.end);
        item->seen = w->as_of;
        item->reservation
            = (reservation_t){.cluster = "lab",
                              .id = 1 + chance_below (chance, 3),
                              .start = at,
                              .end = moment (w, chance, at + 1, at + DAY),
                              .flags = PICK (chance, flags),
                              .name = "r",
                              .nodelist = some_nodes (chance),
                              .accounts = "cv"};
    }
}

/* --- worlds ------------------------------------------------------------- */

void world_make (world_t *w, uint64_t seed)
{
    static const char *const users[] = {"ann", "bob", "cyd", NULL};
    chance_t chance = chance_new (seed);
    size_t jobs = chance_below (&chance, 9);

    memset (w, 0, sizeof (*w));
    w->seed = seed;
    make_site (w, &chance);
    w->as_of = chance_percent (&chance, 50)
                   ? w->period.end + DAY
                   : moment (w, &chance, w->period.start + 1, w->period.end);
    for (size_t i = 0; i < jobs; i++)
        make_job (w, &chance, 1 + chance_below (&chance, 7),
                  PICK (&chance, users));
    make_registrations (w, &chance);
    make_outages (w, &chance);
    make_reservations (w, &chance);
}

void world_add_stranger (world_t *w)
{
    chance_t chance = chance_new (w->seed ^ 0x5555);
    size_t before = w->count;

    make_job (w, &chance, 100, STRANGER);
    make_job (w, &chance, 101, STRANGER);
    for (size_t i = before; i < w->count; i++)
        if (w->item[i].kind == ITEM_SEGMENT)
            w->item[i].segment.user = STRANGER;
}

void world_done (world_t *w)
{
    zone_close (w->site.zone);
    free (w->site.pools);
}

/* --- into the store ----------------------------------------------------- */

static int put_item (store_t *store, const item_t *item, store_counts_t *counts,
                     gl_error_t *error)
{
    switch (item->kind) {
    case ITEM_SEGMENT:
        return store_put_segment (store, &item->segment, counts, error);
    case ITEM_SUSPENSION:
        return store_put_suspension (store, &item->suspension, counts, error);
    case ITEM_EVENT:
        return store_put_event (store, &item->event, item->seen, counts, error);
    case ITEM_RESERVATION:
        return store_put_reservation (store, &item->reservation, item->seen,
                                      counts, error);
    }
    return 0;
}

int world_put (const world_t *w, store_t *store, const size_t *order,
               size_t count, size_t batch, store_counts_t *ret_counts,
               gl_error_t *error)
{
    size_t total = order ? count : w->count;
    static const char *const clusters[] = {"lab", "sci"};

    *ret_counts = (store_counts_t){0};
    for (size_t i = 0; i < total || i == 0; i += batch) {
        if (store_begin (store, error) < 0)
            return -1;
        for (size_t k = i; k < i + batch && k < total; k++) {
            const item_t *item = &w->item[order ? order[k] : k];
            if (!item->left_out
                && put_item (store, item, ret_counts, error) < 0)
                return -1;
        }
        for (size_t k = 0; k < 2; k++)
            if (store_put_as_of (store, clusters[k], w->as_of, error) < 0)
                return -1;
        if (store_commit (store, error) < 0)
            return -1;
    }
    return 0;
}

/* --- for people --------------------------------------------------------- */

static const char *text (const char *value)
{
    return value ? value : "-";
}

static void print_item (const item_t *item)
{
    const segment_t *s = &item->segment;

    switch (item->kind) {
    case ITEM_SEGMENT:
        printf ("#   segment %s %" PRIu64 " submit %" PRId64 " [%" PRId64
                ", %" PRId64 ") seen %" PRId64 " source %d state %d user %s"
                " account %s nodes %s gres \"%s\"%s suspended %" PRId64
                " limit %" PRId64 "\n",
                s->cluster, s->id_job, s->time_submit, s->time_start,
                s->time_end, s->observed_at, (int)s->source, (int)s->state,
                text (s->user), text (s->account), text (s->nodelist),
                text (s->gres), s->gpu_asked ? " asked" : "", s->suspended,
                s->time_limit);
        break;
    case ITEM_SUSPENSION:
        printf ("#   suspension %s %" PRIu64 " submit %" PRId64 " [%" PRId64
                ", %" PRId64 ")\n",
                item->suspension.cluster, item->suspension.id_job,
                item->suspension.time_submit, item->suspension.start,
                item->suspension.end);
        break;
    case ITEM_EVENT:
        printf ("#   event %s [%" PRId64 ", %" PRId64 ") state %#x gres %s"
                " nodes %s seen %" PRId64 "\n",
                text (item->event.node), item->event.start, item->event.end,
                item->event.state, text (item->event.gres),
                text (item->event.nodelist), item->seen);
        break;
    case ITEM_RESERVATION:
        printf ("#   reservation %" PRIu64 " [%" PRId64 ", %" PRId64
                ") flags %#" PRIx64 " nodes %s seen %" PRId64 "\n",
                item->reservation.id, item->reservation.start,
                item->reservation.end, item->reservation.flags,
                text (item->reservation.nodelist), item->seen);
        break;
    }
}

void world_print (const world_t *w)
{
    printf ("#   zone %s, [%" PRId64 ", %" PRId64 "), as-of %" PRId64
            ", %zu pools\n",
            zone_name (w->site.zone), w->period.start, w->period.end, w->as_of,
            w->site.pool_count);
    for (size_t i = 0; i < w->site.pool_count; i++) {
        const site_pool_t *p = &w->site.pools[i];
        if (p->valid.start != SITE_ALWAYS_START
            || p->valid.end != SITE_ALWAYS_END)
            printf ("#   pool %s [%" PRId64 ", %" PRId64 ")\n", p->name,
                    p->valid.start, p->valid.end);
    }
    for (size_t i = 0; i < w->count; i++)
        if (!w->item[i].left_out)
            print_item (&w->item[i]);
}
