#include "support/worlds.h"

#include <stdio.h>

static const char *const zones[]
    = {"UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"};
static const char *const accounts[] = {"astro", "bio", "chem"};
static const char *const users[] = {"ann", "bob", "cy"};
static const char *const projects[] = {"", "p1", "p2"};
static const char *const shapes[][2] = {
    {"gpu=1,gpu:h100=1", "g1"},
    {"gpu=3,gpu:h100=3", "g[1-2]"},
    {"gpu=3,gpu:1g.10gb=2,gpu:h100=1", "m1"},
    {"gpu=2,gpu:3g.40gb=1,gpu:1g.10gb=1", "m1"},
    {"gpu=1", "g2"},
    {"gpu=1", "m1"},
    {"gpu=2,gpu:9z.99gb=2", "m1"},
    {"gpu=1,gpu:v100=1", "o1"},
    {"", "g1"},
    {"gpu=4,gpu:h100=4", "g[1-2],m1"},
};

/* The same numbers on every machine. */
static uint64_t next (struct world *w)
{
    uint64_t x = w->seed += UINT64_C (0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C (0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t world_below (struct world *w, uint64_t limit)
{
    return next (w) % limit;
}

#define ONE_OF(w, array) (array)[world_below ((w), GL_ARRAY_SIZE (array))]

/* --- a site ------------------------------------------------------------ */

static void add_gres (site_pool_t *pool, const char *type)
{
    pool->gres.item = xreallocarray (pool->gres.item, pool->gres.count + 1,
                                     sizeof (*pool->gres.item));
    pool->gres.item[pool->gres.count++] = xstrdup (type);
}

int64_t world_day (const struct world *w, uint64_t day)
{
    int64_t at = w->span.start;

    while (day-- > 0)
        at = zone_unit (w->site->zone, CALENDAR_DAY, at).end;
    return at;
}

static void add_team (struct world *w, const char *name, const char *account,
                      period_t valid)
{
    site_team_t *team = BOOK_NEW (w->site->teams, w->site->team_count);

    mpq_inits (team->surcharge, team->overhead, NULL);
    team->name = xstrdup (name);
    team->accounts.item = xcalloc (1, sizeof (*team->accounts.item));
    team->accounts.item[team->accounts.count++] = xstrdup (account);
    team->valid = valid;
}

/* At prices at which a few joules show; hours that begin within a quarter. */
static void make_power (site_t *site)
{
    static const char *const pools[] = {"h100", "mig"};
    site_tariff_t *tariff = book_tariff (site, "grid", "100000");
    site_tariff_time_t *time = BOOK_NEW (tariff->times, tariff->time_count);

    time->days = 0x1f;
    time->hours[0] = 7 * 60 + 10;
    time->hours[1] = 22 * 60;
    book_number (time->per_kwh, "300000");
    mpq_set_ui (tariff->demand_per_kw, 1000000, 1);
    for (size_t i = 0; i < GL_ARRAY_SIZE (pools); i++) {
        site_power_t *power = book_power (site, pools[i], "0.7", "1.3", "grid");
        power->measured = 1;
        mpq_set_ui (power->idle_watts, 1, 10);
    }
}

static void choose_number (struct world *w, mpq_t number, const char *text)
{
    if (world_below (w, 2))
        mpq_set_str (number, text, 10);
}

/* Of some jobs in addition to the one of their line. */
static void add_rate_of_jobs (struct world *w, const char *pool)
{
    site_rate_t *rate = book_rate (w->site, pool, NULL, "2.11", MIG_MAX);

    switch (world_below (w, 4)) {
    case 0:
        rate->gpus[0] = 2 + (int64_t)world_below (w, 2);
        rate->gpus[1] = INT64_MAX;
        break;
    case 1:
        rate->reservation = xstrdup ("course");
        break;
    case 2:
        rate->class = xstrdup ("industry");
        break;
    default:
        rate->partition = xstrdup ("gpu");
    }
    if (world_below (w, 3) == 0)
        rate->valid.end = world_day (w, world_below (w, 60));
    choose_number (w, rate->minimum, "1/4");
    choose_number (w, rate->minimum_gpu_hours, "1/3");
}

/* What is billed is not what is allocated. */
static void make_prices (struct world *w)
{
    static const bill_basis_t bases[]
        = {BILL_GPUS, BILL_DOMINANT, BILL_MAX, BILL_SUM, BILL_SUM_OR_MEMORY};
    site_pool_t *pool = &w->site->pools[world_below (w, 2)];
    site_rate_t *rate = book_rate (w->site, "h100", NULL, "1.90", MIG_MAX);
    site_policy_t *policy = &w->site->policy;

    pool->bill = ONE_OF (w, bases);
    pool->cpus_per_gpu = 12;
    pool->memory_per_gpu = 100000;
    mpq_set_ui (pool->gpu_weight, 7, 1);
    choose_number (w, pool->cpu_weight, "1/3");
    choose_number (w, pool->memory_weight, "2/11");
    choose_number (w, rate->per_cpu_hour, "3/100");
    choose_number (w, rate->per_gb_hour, "1/250");
    choose_number (w, rate->included_cpus, "8");
    choose_number (w, rate->included_gb, "64");
    choose_number (w, rate->minimum, "1/7");
    if (world_below (w, 3) == 0) {
        rate->round_hours = 1800;
        rate->round_hours_by = (round_by_t)world_below (w, 3);
    }
    if (world_below (w, 3) == 0) {
        site_tier_t *step = BOOK_NEW (rate->cpu_steps, rate->cpu_step_count);
        book_number (step->above, "16");
        book_number (step->per_gpu_hour, "0.05");
    }
    for (uint64_t i = world_below (w, 3); i > 0; i--)
        add_rate_of_jobs (w, i == 1 ? "h100" : "mig");
    if (world_below (w, 4) == 0)
        policy->minimum = 3600;
    if (world_below (w, 4) == 0)
        policy->increment = 900;
    if (world_below (w, 4) == 0)
        policy->grace = 3600;
    if (world_below (w, 2))
        w->site->teams[0].class = xstrdup ("industry");
}

static void make_site (struct world *w)
{
    site_t *site = w->site;
    site_pool_t *pool = book_pool (site, "h100", "g[1-2]", 4);
    site_rate_t *rate;
    site_cost_t *cost;
    int64_t change = world_day (w, world_below (w, 60));

    add_gres (pool, "h100");
    pool = book_pool (site, "mig", "m1", 1);
    add_gres (pool, "1g.10gb");
    add_gres (pool, "3g.40gb");
    pool->layout = xstrdup ("1g.10gb:4,3g.40gb:1");
    pool = book_pool (site, "mixed", "m1", 2);
    add_gres (pool, "h100");
    if (world_below (w, 3) == 0) /* a pool that becomes another one */
        pool->valid.end = change;
    if (world_below (w, 2)) { /* a pool of whatever nodes there are */
        pool = book_pool (site, "old", "x", 1);
        free (pool->nodes);
        pool->nodes = NULL;
        add_gres (pool, "v100");
    }
    add_team (w, "stars", "astro", book_always);
    if (world_below (w, 3) == 0)
        add_team (
            w, "life", "bio",
            (period_t){world_day (w, world_below (w, 60)), SITE_ALWAYS_END});
    cost = BOOK_NEW (site->costs, site->cost_count);
    cost->name = xstrdup ("fabric");
    cost->pool = xstrdup ("h100");
    book_number (cost->amount, "1000.01");
    cost->driver = COST_PER_MONTH;
    cost->valid = book_always;
    make_power (site);
    rate = book_rate (site, "mig", NULL, "1.37", MIG_MAX);
    if (world_below (w, 2))
        rate->valid.start = world_day (w, world_below (w, 60));
    if (world_below (w, 2))
        site->policy.credit_cap = 1 + (int64_t)world_below (w, 200000);
    if (world_below (w, 2))
        make_prices (w);
}

/* --- facts ------------------------------------------------------------- */

static int64_t instant_in (struct world *w)
{
    return w->span.start
           + (int64_t)world_below (w, (uint64_t)period_seconds (w->span));
}

static void suspend (struct world *w, struct fact *f)
{
    segment_t *s = &f->segment;
    int64_t length = segment_end (s) - s->time_start;

    s->suspended = 0;
    switch (world_below (w, 6)) {
    case 0:
        s->suspended = SECONDS_UNKNOWN;
        break;
    case 1:
        s->suspended = length / 3;
        break;
    case 2:
        s->suspended = length / 4;
        f->suspension[0] = (suspension_t){s->cluster, s->id_job, s->time_submit,
                                          s->time_start + length / 4,
                                          s->time_start + length / 2};
        f->suspension_count = 1;
        break;
    }
}

static void see (struct world *w, struct fact *f)
{
    const segment_t *s = &f->segment;
    int64_t start = s->time_start * 1000, end = segment_end (s) * 1000;
    size_t count = world_below (w, PARTS_MAX + 1);

    f->evidence = (segment_evidence_t){.segment = s,
                                       .recorded = world_below (w, 2),
                                       .part = f->part_list,
                                       .part_count = count};
    for (size_t i = 0; i < count; i++) {
        device_usage_t *u = &f->usage[i];
        int64_t from
            = start - 3000
              + (int64_t)world_below (w, 6000 + (uint64_t)(end - start));
        int64_t ms = 1 + (int64_t)world_below (w, 7200000);
        memset (u, 0xff, sizeof (*u));
        u->cluster = s->cluster;
        u->node = s->nodelist[0] == 'm' ? "m1" : "g1";
        u->id_job = s->id_job;
        u->gpu = "GPU-1";
        u->slice = u->utilization_histogram = NULL;
        u->gres_index = (int64_t)world_below (w, 4);
        u->begin_ms = from;
        u->end_ms = from + ms;
        u->samples = ms / 10000;
        u->samples_expected = ms / 9000;
        u->energy_mj = (int64_t)world_below (w, 1000000);
        u->energy_ms = ms;
        u->energy_rule = 1;
        u->utilization_ms = ms / 3;
        u->utilization_sum = (int64_t)world_below (w, 10000) * (ms / 3);
        u->utilization_max = (int64_t)world_below (w, 10000);
        u->idle_ms = ms / 7;
        u->processes_ms = ms / 5;
        u->no_process_ms = ms / 9;
        f->part[i] = (usage_part_of_t){u, from, from + ms, EVIDENCE_MATCHED,
                                          IDLE_OTHER};
        f->part_list[i] = &f->part[i];
    }
    f->seen = true;
}

static void add_segment (struct world *w, uint64_t id, int64_t start)
{
    struct fact *f = &w->fact[w->count++];
    size_t shape = world_below (w, GL_ARRAY_SIZE (shapes));
    const uint64_t lengths[] = {60, 7200, 5 * 86400};
    const uint64_t counts[] = {1, 16, 33, 200};
    int64_t end = start + 1 + (int64_t)world_below (w, ONE_OF (w, lengths));
    bool open = world_below (w, 12) == 0;

    if (start >= w->as_of) { /* facts do not speak of later moments */
        w->count--;
        return;
    }
    if (end > w->as_of)
        end = w->as_of;

    memset (f, 0, sizeof (*f));
    f->segment = (segment_t){
        .cluster = "lab",
        .id_job = id,
        .time_submit = start - 5,
        .time_start = start,
        .time_end = open ? 0 : end,
        .observed_at = open ? end : w->as_of,
        .time_limit = SECONDS_UNKNOWN,
        .state = world_below (w, 3) ? SEGMENT_COMPLETED : SEGMENT_NODE_FAIL,
        .source = SOURCE_SLURMDBD,
        .uid = 1000,
        .user = ONE_OF (w, users),
        .account = ONE_OF (w, accounts),
        .partition = world_below (w, 4) ? "gpu" : NULL,
        .qos = "normal",
        .gres = shapes[shape][0],
        .nodelist = shapes[shape][1],
        .gpu_asked = true,
        .cpus = world_below (w, 6) ? ONE_OF (w, counts) : COUNT_UNKNOWN,
        .memory_mb = 1000 * ONE_OF (w, counts),
        .reservation = world_below (w, 5) ? NULL : "course",
        .nodes = COUNT_UNKNOWN,
        .array_task = TASK_NONE,
        .het_offset = TASK_NONE,
    };
    if (open && world_below (w, 2))
        f->segment.believed_end
            = start + (f->segment.observed_at - start) / 3 + 1;
    snprintf (f->project.project, sizeof (f->project.project), "%s",
              ONE_OF (w, projects));
    suspend (w, f);
    if (world_below (w, 3) == 0)
        see (w, f);
}

static int by_key (const void *a, const void *b)
{
    const struct fact *x = a, *y = b;

    if (x->segment.id_job != y->segment.id_job)
        return x->segment.id_job < y->segment.id_job ? -1 : 1;
    return (x->segment.time_submit > y->segment.time_submit)
           - (x->segment.time_submit < y->segment.time_submit);
}

/* Facts point into themselves: after they were moved. */
static void point_anew (struct fact *f)
{
    f->evidence.segment = &f->segment;
    f->evidence.part = f->part_list;
    for (size_t i = 0; i < PARTS_MAX; i++) {
        f->part[i].usage = &f->usage[i];
        f->part_list[i] = &f->part[i];
    }
}

static void make_segments (struct world *w)
{
    size_t jobs = 1 + world_below (w, JOBS_MAX);

    for (size_t i = 0; i < jobs; i++) {
        uint64_t id = 1 + world_below (w, 3) * 70000000 + world_below (w, 1000);
        size_t runs = world_below (w, 5) ? 1 : 1 + world_below (w, 3);
        while (runs-- > 0)
            add_segment (w, id, instant_in (w));
    }
    qsort (w->fact, w->count, sizeof (*w->fact), by_key);
    for (size_t i = 0, kept = 0; i < w->count; i++) { /* keys are unique */
        if (kept > 0 && by_key (&w->fact[kept - 1], &w->fact[i]) == 0)
            continue;
        w->fact[kept++] = w->fact[i];
        if (i + 1 == w->count)
            w->count = kept;
    }
    if (w->count > 1
        && by_key (&w->fact[w->count - 1], &w->fact[w->count - 2]) == 0)
        w->count--;
    for (size_t i = 0; i < w->count; i++)
        point_anew (&w->fact[i]);
}

static void make_events (struct world *w)
{
    static const char *const nodes[] = {"g1", "g2", "m1"};
    size_t count = world_below (w, GL_ARRAY_SIZE (w->event));

    w->event[w->event_count++]
        = (node_event_t){"lab",
                         NULL,
                         w->span.start + (int64_t)world_below (w, 86400),
                         0,
                         0,
                         "gpu=11",
                         "g[1-2],m1,o1",
                         NULL};
    if (world_below (w, 2)) { /* another node joins */
        w->event[0].end = instant_in (w);
        if (w->event[0].end <= w->event[0].start)
            w->event[0].end = w->event[0].start + 1;
        w->event[w->event_count++]
            = (node_event_t){"lab", NULL,     w->event[0].end,    0,
                             0,     "gpu=11", "g[1-2],m1,o[1-2]", NULL};
    }
    for (size_t i = w->event_count; i < count; i++) {
        int64_t start = instant_in (w);
        w->event[w->event_count++] = (node_event_t){
            "lab",
            ONE_OF (w, nodes),
            start,
            world_below (w, 5) ? start + (int64_t)world_below (w, 3 * 86400)
                               : 0,
            world_below (w, 2) ? NODE_STATE_DOWN : NODE_STATE_DRAIN,
            "gpu=4",
            NULL,
            "why"};
    }
    if (world_below (w, 2)) {
        int64_t start = instant_in (w);
        w->reservation[w->reservation_count++] = (reservation_t){
            "lab", 7, start, start + 86400, 0, "course", "g1", "bio"};
    }
}

void world_make (struct world *w, uint64_t seed)
{
    static const civil_t starts[] = {
        {2026, 3, 1, 0, 0, 0}, {2026, 10, 1, 0, 0, 0}, {2025, 4, 1, 0, 0, 0}};
    period_t month;

    memset (w, 0, sizeof (*w));
    w->seed = seed;
    w->site = book_new (ONE_OF (w, zones));
    w->span.start = zone_instant (w->site->zone, &ONE_OF (w, starts));
    month = zone_unit (w->site->zone, CALENDAR_MONTH, w->span.start);
    w->span.end = zone_unit (w->site->zone, CALENDAR_MONTH, month.end).end;
    w->as_of = world_below (w, 2) ? w->span.end + 1
                            : w->span.start + 30 * 86400
                                  + (int64_t)world_below (w, 25 * 86400);
    w->cluster = (report_cluster_t){.name = "lab", .as_of = w->as_of};
    make_site (w);
    make_segments (w);
    make_events (w);
}

void world_end (struct world *w)
{
    site_free (w->site);
}

void world_give_site (const struct world *w, capacity_t *capacity)
{
    capacity_set_as_of (capacity, "lab", w->as_of);
    for (size_t i = 0; i < w->event_count; i++)
        capacity_add_event (capacity, &w->event[i]);
    for (size_t i = 0; i < w->reservation_count; i++)
        capacity_add_reservation (capacity, &w->reservation[i]);
}
