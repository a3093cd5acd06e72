/* Rollups against segments: of thousands of small made-up worlds, any report
 * that can be made of rollups is the same to the byte, however the days were
 * cut into builders, kept, and put together. */
#include "support/book.h"

#include <stdio.h>

#include "acct/rollup.h"
#include "render/render.h"
#include "report/chargeback.h"
#include "report/utilization.h"

#define JOBS_MAX 40
#define SEGMENTS_MAX (JOBS_MAX * 3)
#define PARTS_MAX 3

/* Each takes some 10 ms where every access is checked. */
#define WORLDS_DEFAULT 400

struct fact {
    segment_t segment;
    suspension_t suspension[2];
    size_t suspension_count;
    project_t project;
    device_usage_t usage[PARTS_MAX];
    usage_part_of_t part[PARTS_MAX];
    const usage_part_of_t *part_list[PARTS_MAX];
    segment_evidence_t evidence;
    bool seen;
};

struct world {
    uint64_t seed;
    site_t *site;
    period_t span; /* of all facts: whole days */
    int64_t as_of;
    struct fact fact[SEGMENTS_MAX];
    size_t count;
    node_event_t event[8];
    size_t event_count;
    reservation_t reservation[2];
    size_t reservation_count;
    report_cluster_t cluster;
};

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

static uint64_t below (struct world *w, uint64_t limit)
{
    return next (w) % limit;
}

#define ONE_OF(w, array) (array)[below ((w), GL_ARRAY_SIZE (array))]

/* --- a site ------------------------------------------------------------ */

static void add_gres (site_pool_t *pool, const char *type)
{
    pool->gres.item = xreallocarray (pool->gres.item, pool->gres.count + 1,
                                     sizeof (*pool->gres.item));
    pool->gres.item[pool->gres.count++] = xstrdup (type);
}

static int64_t day_start (const struct world *w, uint64_t day)
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

static void make_site (struct world *w)
{
    site_t *site = w->site;
    site_pool_t *pool = book_pool (site, "h100", "g[1-2]", 4);
    site_rate_t *rate;
    site_cost_t *cost;
    int64_t change = day_start (w, below (w, 60));

    add_gres (pool, "h100");
    pool = book_pool (site, "mig", "m1", 1);
    add_gres (pool, "1g.10gb");
    add_gres (pool, "3g.40gb");
    pool->layout = xstrdup ("1g.10gb:4,3g.40gb:1");
    pool = book_pool (site, "mixed", "m1", 2);
    add_gres (pool, "h100");
    if (below (w, 3) == 0) /* a pool that becomes another one */
        pool->valid.end = change;
    if (below (w, 2)) { /* a pool of whatever nodes there are */
        pool = book_pool (site, "old", "x", 1);
        free (pool->nodes);
        pool->nodes = NULL;
        add_gres (pool, "v100");
    }
    add_team (w, "stars", "astro", book_always);
    if (below (w, 3) == 0)
        add_team (w, "life", "bio",
                  (period_t){day_start (w, below (w, 60)), SITE_ALWAYS_END});
    cost = BOOK_NEW (site->costs, site->cost_count);
    cost->name = xstrdup ("fabric");
    cost->pool = xstrdup ("h100");
    book_number (cost->amount, "1000.01");
    cost->driver = COST_PER_MONTH;
    cost->valid = book_always;
    make_power (site);
    rate = BOOK_NEW (site->rates, site->rate_count);
    rate->pool = xstrdup ("mig");
    book_number (rate->per_gpu_hour, "1.37");
    rate->mig_price = MIG_MAX;
    rate->valid = book_always;
    if (below (w, 2))
        rate->valid.start = day_start (w, below (w, 60));
    if (below (w, 2))
        site->policy.credit_cap = 1 + (int64_t)below (w, 200000);
}

/* --- facts ------------------------------------------------------------- */

static int64_t instant_in (struct world *w)
{
    return w->span.start
           + (int64_t)below (w, (uint64_t)period_seconds (w->span));
}

static void suspend (struct world *w, struct fact *f)
{
    segment_t *s = &f->segment;
    int64_t length = segment_end (s) - s->time_start;

    s->suspended = 0;
    switch (below (w, 6)) {
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
    size_t count = below (w, PARTS_MAX + 1);

    f->evidence = (segment_evidence_t){.segment = s,
                                       .recorded = below (w, 2),
                                       .part = f->part_list,
                                       .part_count = count};
    for (size_t i = 0; i < count; i++) {
        device_usage_t *u = &f->usage[i];
        int64_t from
            = start - 3000 + (int64_t)below (w, 6000 + (uint64_t)(end - start));
        int64_t ms = 1 + (int64_t)below (w, 7200000);
        memset (u, 0xff, sizeof (*u));
        u->cluster = s->cluster;
        u->node = s->nodelist[0] == 'm' ? "m1" : "g1";
        u->id_job = s->id_job;
        u->gpu = "GPU-1";
        u->slice = u->utilization_histogram = NULL;
        u->gres_index = (int64_t)below (w, 4);
        u->begin_ms = from;
        u->end_ms = from + ms;
        u->samples = ms / 10000;
        u->samples_expected = ms / 9000;
        u->energy_mj = (int64_t)below (w, 1000000);
        u->energy_ms = ms;
        u->energy_rule = 1;
        u->utilization_ms = ms / 3;
        u->utilization_sum = (int64_t)below (w, 10000) * (ms / 3);
        u->utilization_max = (int64_t)below (w, 10000);
        u->idle_ms = ms / 7;
        u->processes_ms = ms / 5;
        u->no_process_ms = ms / 9;
        f->part[i] = (usage_part_of_t){u, from, from + ms, EVIDENCE_MATCHED};
        f->part_list[i] = &f->part[i];
    }
    f->seen = true;
}

static void add_segment (struct world *w, uint64_t id, int64_t start)
{
    struct fact *f = &w->fact[w->count++];
    size_t shape = below (w, GL_ARRAY_SIZE (shapes));
    const uint64_t lengths[] = {60, 7200, 5 * 86400};
    int64_t end = start + 1 + (int64_t)below (w, ONE_OF (w, lengths));
    bool open = below (w, 12) == 0;

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
        .time_seen = open ? end : w->as_of,
        .time_limit = SECONDS_UNKNOWN,
        .state = below (w, 3) ? SEGMENT_COMPLETED : SEGMENT_NODE_FAIL,
        .source = SOURCE_SLURMDBD,
        .uid = 1000,
        .user = ONE_OF (w, users),
        .account = ONE_OF (w, accounts),
        .partition = below (w, 4) ? "gpu" : NULL,
        .qos = "normal",
        .gres = shapes[shape][0],
        .nodelist = shapes[shape][1],
        .gpu_asked = true,
        .cpus = COUNT_UNKNOWN,
        .memory_mb = COUNT_UNKNOWN,
        .nodes = COUNT_UNKNOWN,
        .array_task = TASK_NONE,
        .het_offset = TASK_NONE,
    };
    if (open && below (w, 2))
        f->segment.believed_end
            = start + (f->segment.time_seen - start) / 3 + 1;
    snprintf (f->project.project, sizeof (f->project.project), "%s",
              ONE_OF (w, projects));
    suspend (w, f);
    if (below (w, 3) == 0)
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
    size_t jobs = 1 + below (w, JOBS_MAX);

    for (size_t i = 0; i < jobs; i++) {
        uint64_t id = 1 + below (w, 3) * 70000000 + below (w, 1000);
        size_t runs = below (w, 5) ? 1 : 1 + below (w, 3);
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
    size_t count = below (w, GL_ARRAY_SIZE (w->event));

    w->event[w->event_count++]
        = (node_event_t){"lab",
                         NULL,
                         w->span.start + (int64_t)below (w, 86400),
                         0,
                         0,
                         "gpu=11",
                         "g[1-2],m1,o1",
                         NULL};
    if (below (w, 2)) { /* another node joins */
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
            below (w, 5) ? start + (int64_t)below (w, 3 * 86400) : 0,
            below (w, 2) ? NODE_STATE_DOWN : NODE_STATE_DRAIN,
            "gpu=4",
            NULL,
            "why"};
    }
    if (below (w, 2)) {
        int64_t start = instant_in (w);
        w->reservation[w->reservation_count++] = (reservation_t){
            "lab", 7, start, start + 86400, 0, "course", "g1", "bio"};
    }
}

static void make_world (struct world *w, uint64_t seed)
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
    w->as_of = below (w, 2) ? w->span.end + 1
                            : w->span.start + 30 * 86400
                                  + (int64_t)below (w, 25 * 86400);
    w->cluster = (report_cluster_t){"lab", w->as_of};
    make_site (w);
    make_segments (w);
    make_events (w);
}

static void end_world (struct world *w)
{
    site_free (w->site);
}

/* --- the ways ---------------------------------------------------------- */

static void add_site_facts (const struct world *w, capacity_t *capacity)
{
    capacity_set_as_of (capacity, "lab", w->as_of);
    for (size_t i = 0; i < w->event_count; i++)
        capacity_add_event (capacity, &w->event[i]);
    for (size_t i = 0; i < w->reservation_count; i++)
        capacity_add_reservation (capacity, &w->reservation[i]);
}

/* Rollups in their order. */
struct list {
    rollup_t *rollup[128];
    size_t count;
};

static void list_done (struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        rollup_free (list->rollup[i]);
    list->count = 0;
}

/* Through bytes, which come out as they went in. */
static rollup_t *keep (const rollup_t *rollup)
{
    BUFFER_AUTO bytes = BUFFER_INIT;
    BUFFER_AUTO again = BUFFER_INIT;
    gl_error_t error;
    rollup_t *copy;

    rollup_encode (rollup, &bytes);
    copy = rollup_decode (bytes.data, bytes.length, &error);
    if (!copy)
        fail_msg ("%s", error.text);
    rollup_encode (copy, &again);
    assert_int_equal (bytes.length, again.length);
    assert_memory_equal (bytes.data, again.data, bytes.length);
    return copy;
}

static int take_day (const rollup_t *rollup, void *arg, gl_error_t *error)
{
    struct list *list = arg;

    (void)error;
    list->rollup[list->count++] = keep (rollup);
    return 0;
}

static void build (const struct world *w, period_t days, struct list *list)
{
    rollup_builder_t *b = rollup_builder_new (w->site, "lab", days);
    gl_error_t error;

    add_site_facts (w, rollup_builder_capacity (b));
    for (size_t i = 0; i < w->count; i++) {
        const struct fact *f = &w->fact[i];
        rollup_builder_add (b, &f->segment, f->suspension, f->suspension_count,
                            &f->project, f->seen ? &f->evidence : NULL);
    }
    assert_int_equal (rollup_builder_each (b, take_day, list, &error), 0);
    rollup_builder_free (b);
}

/* Some days at a time. */
static void build_days (struct world *w, period_t period, struct list *list)
{
    int64_t at = period.start;

    while (at < period.end) {
        period_t some = {at, at};
        for (uint64_t days = 1 + below (w, 9); days > 0; days--)
            some.end = zone_unit (w->site->zone, CALENDAR_DAY, some.end).end;
        some = period_clip (some, period);
        build (w, some, list);
        at = some.end;
    }
}

/* Whole months in place of their days. */
static void join_months (const struct world *w, struct list *list)
{
    struct list joined = {.count = 0};
    gl_error_t error;

    for (size_t i = 0, end; i < list->count; i = end) {
        period_t day = rollup_period (list->rollup[i]);
        period_t month = zone_unit (w->site->zone, CALENDAR_MONTH, day.start);
        for (end = i + 1; end < list->count
                          && rollup_period (list->rollup[end]).end <= month.end;
             end++)
            continue;
        if (day.start == month.start
            && rollup_period (list->rollup[end - 1]).end == month.end) {
            rollup_t *whole = rollup_merge (
                (const rollup_t *const *)list->rollup + i, end - i, &error);
            assert_non_null (whole);
            joined.rollup[joined.count++] = keep (whole);
            rollup_free (whole);
            while (i < end)
                rollup_free (list->rollup[i++]);
        } else
            while (i < end)
                joined.rollup[joined.count++] = list->rollup[i++];
    }
    *list = joined;
}

/* --- reports ----------------------------------------------------------- */

/* Every text of the report in one format. */
static char *text_of (const report_t *report, render_format_t format)
{
    const render_options_t plain = {false, false};
    buffer_t out = BUFFER_INIT;

    render_report (report, format, &plain, &out);
    return buffer_take (&out);
}

static report_t *of_usage (const struct world *w, const report_query_t *q,
                           const struct list *list)
{
    usage_report_t *u = usage_report_new (q);
    report_t *report;

    for (size_t i = 0; !list && i < w->count; i++) {
        const struct fact *f = &w->fact[i];
        usage_report_add (u, &f->segment, f->suspension, f->suspension_count,
                          &f->project, f->seen ? &f->evidence : NULL);
    }
    for (size_t i = 0; list && i < list->count; i++)
        usage_report_add_rollup (u, list->rollup[i]);
    report = usage_report_make (u);
    usage_report_free (u);
    return report;
}

static report_t *of_utilization (const struct world *w, const report_query_t *q,
                                 const struct list *list)
{
    utilization_t *u = utilization_new (q);
    report_t *report;

    for (size_t i = 0; !list && i < w->count; i++) {
        const struct fact *f = &w->fact[i];
        utilization_add (u, &f->segment, f->suspension, f->suspension_count,
                         &f->project, f->seen ? &f->evidence : NULL);
    }
    if (!list)
        add_site_facts (w, utilization_capacity (u));
    for (size_t i = 0; list && i < list->count; i++)
        utilization_add_rollup (u, list->rollup[i]);
    report = utilization_make (u);
    utilization_free (u);
    return report;
}

static report_t *of_charges (const struct world *w, const report_query_t *q,
                             const struct list *list)
{
    usage_report_t *u = usage_report_new (q);
    billing_t *b = billing_new (q);
    gl_error_t error;
    report_t *report;

    for (size_t i = 0; !list && i < w->count; i++) {
        const struct fact *f = &w->fact[i];
        usage_report_add (u, &f->segment, f->suspension, f->suspension_count,
                          &f->project, f->seen ? &f->evidence : NULL);
        billing_add (b, &f->segment, f->suspension, f->suspension_count,
                     &f->project);
        billing_measure (b, &f->segment, &f->project,
                         f->seen ? &f->evidence : NULL);
    }
    if (!list)
        add_site_facts (w, billing_capacity (b));
    for (size_t i = 0; list && i < list->count; i++) {
        period_t span = rollup_period (list->rollup[i]);
        if (span.start >= q->period.start && span.end <= q->period.end)
            usage_report_add_rollup (u, list->rollup[i]);
        billing_add_rollup (b, list->rollup[i]);
    }
    for (size_t i = 0; list && billing_wants_ended (b) && i < w->count; i++) {
        const struct fact *f = &w->fact[i];
        billing_add_ended (b, &f->segment, f->suspension, f->suspension_count,
                           &f->project);
    }
    if (billing_compute (b, &error) < 0
        || !(report = chargeback_make (q, b, u, &error)))
        fail_msg ("%s", error.text);
    billing_free (b);
    usage_report_free (u);
    return report;
}

typedef report_t *(*report_f) (const struct world *, const report_query_t *,
                               const struct list *);

static void compare (const struct world *w, const report_query_t *q,
                     const struct list *list, report_f make, uint64_t seed)
{
    static const render_format_t formats[]
        = {RENDER_TABLE, RENDER_CSV, RENDER_JSON, RENDER_HTML};
    report_t *slow = make (w, q, NULL), *fast = make (w, q, list);

    for (size_t i = 0; i < GL_ARRAY_SIZE (formats); i++) {
        GL_AUTOFREE char *want = text_of (slow, formats[i]);
        GL_AUTOFREE char *got = text_of (fast, formats[i]);
        if (strcmp (want, got) != 0)
            print_message ("# world %llu\n", (unsigned long long)seed);
        assert_string_equal (got, want);
    }
    report_free (slow);
    report_free (fast);
}

/* --- queries ----------------------------------------------------------- */

static const key_id_t keys[] = {
    KEY_CLUSTER, KEY_TEAM,      KEY_ACCOUNT, KEY_USER, KEY_PROJECT,
    KEY_QOS,     KEY_PARTITION, KEY_POOL,    KEY_GPU,  KEY_GRES_TYPE,
    KEY_PROFILE, KEY_MONTH,     KEY_DAY,
};
static const key_id_t pool_keys[]
    = {KEY_CLUSTER, KEY_POOL, KEY_GPU, KEY_MONTH, KEY_DAY};

static void choose_keys (struct world *w, report_query_t *q,
                         const key_id_t *from, size_t count)
{
    size_t wanted = 1 + below (w, 3);

    while (q->by.count < wanted) {
        key_id_t key = from[below (w, count)];
        bool there = false;
        for (size_t i = 0; i < q->by.count; i++)
            there |= q->by.id[i] == key;
        if (!there)
            q->by.id[q->by.count++] = key;
    }
}

/* Days of the span, or whole months. */
static period_t choose_period (struct world *w)
{
    const zone_t *zone = w->site->zone;
    uint64_t days = 55, first;
    period_t p = zone_unit (zone, CALENDAR_MONTH, w->span.start);

    switch (below (w, 3)) {
    case 0:
        return p;
    case 1:
        return w->span;
    default:
        first = below (w, days);
        p.start = day_start (w, first);
        p.end = day_start (w, first + 1 + below (w, days - first));
        return p;
    }
}

static bool has_day (const report_query_t *q)
{
    for (size_t i = 0; i < q->by.count; i++)
        if (q->by.id[i] == KEY_DAY)
            return true;
    return false;
}

static bool is_steady (const struct world *w, period_t period)
{
    size_t count;

    free (site_changes (w->site, period, &count));
    return count == 0;
}

static void check_usage (struct world *w, uint64_t seed, report_f make,
                         const key_id_t *from, size_t from_count)
{
    char *accounts_wanted[] = {(char *)"bio", (char *)"(none)"};
    char *pools_wanted[] = {(char *)"h100"};
    const usage_filter_t filters[] = {{KEY_ACCOUNT, NULL, {accounts_wanted, 2}},
                                      {KEY_POOL, NULL, {pools_wanted, 1}}};
    report_query_t q = {.site = w->site,
                        .period = choose_period (w),
                        .clusters = &w->cluster,
                        .cluster_count = 1,
                        .filters = filters + below (w, 2)};
    struct list list = {.count = 0};

    if (!is_steady (w, q.period))
        return;
    q.filter_count = below (w, 3) == 0;
    choose_keys (w, &q, from, from_count);
    build_days (w, q.period, &list);
    if (!has_day (&q))
        join_months (w, &list);
    compare (w, &q, &list, make, seed);
    list_done (&list);
}

static int end_early (const rollup_t *rest, void *arg, gl_error_t *error)
{
    (void)error;
    rollup_end_at (arg, rollup_period (rest).start, rest);
    return 0;
}

/* A last day that ends within it, from that of the whole day. */
static void build_until (struct world *w, period_t period, struct list *list)
{
    period_t last = zone_unit (w->site->zone, CALENDAR_DAY, period.end - 1);
    rollup_builder_t *b;
    gl_error_t error;

    build_days (w, (period_t){period.start, last.end}, list);
    if (last.end == period.end)
        return;
    assert_true (rollup_held_until (list->rollup[list->count - 1])
                 <= period.end);
    b = rollup_builder_new (w->site, "lab", (period_t){period.end, last.end});
    add_site_facts (w, rollup_builder_capacity (b));
    rollup_builder_each (b, end_early, list->rollup[list->count - 1], &error);
    rollup_builder_free (b);
}

static void check_charges (struct world *w, uint64_t seed)
{
    report_query_t q = {.site = w->site,
                        .period = choose_period (w),
                        .clusters = &w->cluster,
                        .cluster_count = 1};
    struct list list = {.count = 0};
    billing_t *b;
    period_t billed;
    size_t cuts;

    choose_keys (w, &q, keys, GL_ARRAY_SIZE (keys));
    b = billing_new (&q);
    billed = billing_period (b);
    billing_cuts (b, &cuts);
    billing_free (b);
    if (!is_steady (w, billed) || billed.start >= billed.end)
        return;
    if (below (w, 2))
        build_until (w, billed, &list);
    else
        build_days (w, billed, &list);
    if (!has_day (&q) && cuts == 0)
        join_months (w, &list);
    compare (w, &q, &list, of_charges, seed);
    list_done (&list);
}

static size_t worlds (void)
{
    const char *text = getenv ("GPULEDGER_WORLDS");

    return text ? strtoul (text, NULL, 10) : WORLDS_DEFAULT;
}

static void
rollups__made_up_worlds__reports_are_those_of_segments (void **state)
{
    static struct world w;

    (void)state;
    for (uint64_t seed = 1; seed <= worlds (); seed++) {
        make_world (&w, seed);
        check_usage (&w, seed, of_usage, keys, GL_ARRAY_SIZE (keys));
        check_usage (&w, seed, of_utilization, keys, GL_ARRAY_SIZE (keys));
        check_usage (&w, seed, of_utilization, pool_keys,
                     GL_ARRAY_SIZE (pool_keys));
        check_charges (&w, seed);
        end_world (&w);
    }
}

/* Days do not depend on the days that they were built with. */
static void rollups__other_chunks__same_bytes (void **state)
{
    static struct world w;

    (void)state;
    for (uint64_t seed = 1; seed <= worlds () / 10; seed++) {
        struct list once = {.count = 0}, again = {.count = 0};
        make_world (&w, seed);
        build (&w, w.span, &once);
        build_days (&w, w.span, &again);
        assert_int_equal (once.count, again.count);
        for (size_t i = 0; i < once.count; i++) {
            BUFFER_AUTO a = BUFFER_INIT;
            BUFFER_AUTO b = BUFFER_INIT;
            rollup_encode (once.rollup[i], &a);
            rollup_encode (again.rollup[i], &b);
            assert_int_equal (a.length, b.length);
            assert_memory_equal (a.data, b.data, a.length);
        }
        list_done (&once);
        list_done (&again);
        end_world (&w);
    }
}

/* Any bytes: refused or taken, never followed out of their bounds. */
static void rollups__damaged_bytes__are_refused_or_harmless (void **state)
{
    static struct world w;
    struct list list = {.count = 0};
    BUFFER_AUTO bytes = BUFFER_INIT;
    gl_error_t error;

    (void)state;
    make_world (&w, 4);
    build (&w, w.span, &list);
    rollup_encode (list.rollup[5], &bytes);
    for (size_t i = 0; i < bytes.length; i++) {
        GL_AUTOFREE char *copy = xmalloc (bytes.length);
        rollup_t *rollup = rollup_decode (bytes.data, i, &error);
        assert_null (rollup);
        for (int bit = 0; bit < 8; bit++) {
            memcpy (copy, bytes.data, bytes.length);
            copy[i] = (char)(copy[i] ^ (1 << bit));
            rollup_free (rollup_decode (copy, bytes.length, &error));
        }
    }
    list_done (&list);
    end_world (&w);
}

static void rollups__a_gap__is_not_merged (void **state)
{
    static struct world w;
    struct list list = {.count = 0};
    gl_error_t error;

    (void)state;
    make_world (&w, 1);
    build (&w, w.span, &list);
    const rollup_t *const apart[] = {list.rollup[0], list.rollup[2]};
    assert_null (rollup_merge (apart, 2, &error));
    assert_null (rollup_merge (apart, 0, &error));
    list_done (&list);
    end_world (&w);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (
            rollups__made_up_worlds__reports_are_those_of_segments),
        cmocka_unit_test (rollups__other_chunks__same_bytes),
        cmocka_unit_test (rollups__damaged_bytes__are_refused_or_harmless),
        cmocka_unit_test (rollups__a_gap__is_not_merged),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
