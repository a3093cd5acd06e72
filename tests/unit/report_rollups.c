/* Rollups against segments: of thousands of small made-up worlds, any report
 * that can be made of rollups is the same to the byte, however the days were
 * cut into builders, kept, and put together. */
#include "support/worlds.h"

#include "render/render.h"
#include "report/utilization.h"
#include "support/chargeback.h"
#include "waste/waste.h"
#include "usage/rollup.h"

/* Each takes some 10 ms where every access is checked. */
#define WORLDS_DEFAULT 400

/* --- the ways ---------------------------------------------------------- */

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
    rollup_builder_t *b = rollup_builder_new (w->site, NULL, "lab", days);
    gl_error_t error;

    world_give_site (w, rollup_builder_capacity (b));
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
        for (uint64_t days = 1 + world_below (w, 9); days > 0; days--)
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
/* So that a test of nothing is noticed. */
static size_t wasted_rows;

static char *text_of (const report_t *report, render_format_t format)
{
    const render_options_t plain = {.no_header = false};
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
        world_give_site (w, utilization_capacity (u));
    for (size_t i = 0; list && i < list->count; i++)
        utilization_add_rollup (u, list->rollup[i]);
    report = utilization_make (u);
    utilization_free (u);
    return report;
}

static void take_part (cube_t *waste, const char *pool,
                       const usage_part_t *part)
{
    waste_t keys;

    fields_init (&waste_rows, &keys);
    keys.keys.pool = pool;
    waste_take_part (waste, &keys, part, WASTE_IDLE_CAUSES);
    fields_clear (&waste_rows, &keys);
}

/* What is wasted by cause and pool: sums that only waste_take_part() reads. */
static report_t *of_waste (const struct world *w, const report_query_t *q,
                           const struct list *list)
{
    usage_query_t query = report_usage_query (q);
    cube_t *waste = cube_new (&waste_rows, "what,pool");
    report_t *report = report_new ("waste", "Waste");
    const usage_cell_t *cell;
    usage_t *u;
    size_t count;

    query.by.count = 1;
    query.by.id[0] = KEY_POOL;
    u = usage_new (&query);
    for (size_t i = 0; !list && i < w->count; i++) {
        const struct fact *f = &w->fact[i];
        usage_add (u, &f->segment, f->suspension, f->suspension_count,
                   &f->project);
        usage_measure (u, &f->segment, &f->project,
                       f->seen ? &f->evidence : NULL);
    }
    for (size_t i = 0; list && i < list->count; i++)
        usage_add_rollup (u, list->rollup[i], ROLLUP_COUNTED);
    cell = usage_cells (u, &count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < cell[i].part_count; k++)
            take_part (waste, cell[i].key[0], &cell[i].part[k]);
    report_column (report, "what", "What", COLUMN_TEXT, true);
    report_column (report, "pool", "Pool", COLUMN_TEXT, true);
    report_column (report, "hours", "Hours", COLUMN_HOURS, false);
    for (size_t i = 0; i < cube_count (waste); i++) {
        const waste_t *row = cube_row (waste, i);
        report_row (report);
        report_put_text (report, 0, row->what);
        report_put_text (report, 1, row->keys.pool ? row->keys.pool : "");
        report_put_hours (report, 2, row->seconds);
        wasted_rows++;
    }
    usage_free (u);
    cube_free (waste);
    return report;
}

static report_t *of_charges (const struct world *w, const report_query_t *q,
                             const struct list *list)
{
    usage_report_t *u = usage_report_new (q);
    report_query_t all = chargeback_billing_query (q);
    billing_t *b = billing_new (&all);
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
        world_give_site (w, billing_capacity (b));
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
    if (billing_compute (b, NULL, NULL, &error) < 0)
        fail_msg ("%s", error.text);
    report = chargeback_of_billing (q, b, u);
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
    size_t wanted = 1 + world_below (w, 3);

    while (q->by.count < wanted) {
        key_id_t key = from[world_below (w, count)];
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

    switch (world_below (w, 3)) {
    case 0:
        return p;
    case 1:
        return w->span;
    default:
        first = world_below (w, days);
        p.start = world_day (w, first);
        p.end = world_day (w, first + 1 + world_below (w, days - first));
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
    b = rollup_builder_new (w->site, NULL, "lab", (period_t){period.end, last.end});
    world_give_site (w, rollup_builder_capacity (b));
    rollup_builder_each (b, end_early, list->rollup[list->count - 1], &error);
    rollup_builder_free (b);
}

/* Time that has not come has no capacity. */
static period_t counted_period (const report_query_t *q)
{
    utilization_t *u = utilization_new (q);
    period_t period = utilization_query (u)->period;

    utilization_free (u);
    return period;
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
                        .filters = filters + world_below (w, 2)};
    struct list list = {.count = 0};

    if (!is_steady (w, q.period))
        return;
    q.filter_count = world_below (w, 3) == 0;
    choose_keys (w, &q, from, from_count);
    if (make == of_utilization)
        build_until (w, counted_period (&q), &list);
    else
        build_days (w, q.period, &list);
    if (!has_day (&q))
        join_months (w, &list);
    compare (w, &q, &list, make, seed);
    list_done (&list);
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
    if (world_below (w, 2))
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

TEST_CASE (rollups__made_up_worlds__reports_are_those_of_segments)
{
    static struct world w;

    for (uint64_t seed = 1; seed <= worlds (); seed++) {
        world_make (&w, seed);
        check_usage (&w, seed, of_usage, keys, GL_ARRAY_SIZE (keys));
        check_usage (&w, seed, of_utilization, keys, GL_ARRAY_SIZE (keys));
        check_usage (&w, seed, of_utilization, pool_keys,
                     GL_ARRAY_SIZE (pool_keys));
        check_usage (&w, seed, of_waste, keys, GL_ARRAY_SIZE (keys));
        check_charges (&w, seed);
        world_end (&w);
    }
    assert_true (wasted_rows > 0);
}

/* Single jobs no longer decide what is billed. */
static void make_plain (site_t *site)
{
    for (size_t i = 0; i < site->pool_count; i++)
        site->pools[i].bill = BILL_GPUS;
    for (size_t i = 0; i < site->rate_count; i++) {
        site_rate_t *rate = &site->rates[i];
        free (rate->reservation);
        rate->reservation = NULL;
        rate->gpus[0] = rate->gpus[1] = rate->round_hours = 0;
        mpq_set_ui (rate->minimum, 0, 1);
        mpq_set_ui (rate->minimum_gpu_hours, 0, 1);
    }
    site->policy.minimum = site->policy.grace = 0;
    site->policy.increment = 1;
}

TEST_CASE (rollups__of_a_site_with_prices_of_jobs__serve_one_without)
{
    static struct world w;

    for (uint64_t seed = 1; seed <= worlds () / 4; seed++) {
        struct list list = {.count = 0};
        report_query_t q = {.by = {.id = {KEY_ACCOUNT}, .count = 1},
                            .clusters = &w.cluster,
                            .cluster_count = 1};
        world_make (&w, seed);
        q.site = w.site;
        q.period = zone_unit (w.site->zone, CALENDAR_MONTH, w.span.start);
        build_days (&w, q.period, &list);
        make_plain (w.site);
        if (is_steady (&w, q.period) && w.as_of >= q.period.end)
            compare (&w, &q, &list, of_charges, seed);
        list_done (&list);
        world_end (&w);
    }
}

/* Days do not depend on the days that they were built with. */
TEST_CASE (rollups__other_chunks__same_bytes)
{
    static struct world w;

    for (uint64_t seed = 1; seed <= worlds () / 10; seed++) {
        struct list once = {.count = 0}, again = {.count = 0};
        world_make (&w, seed);
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
        world_end (&w);
    }
}

/* Any bytes: refused or taken, never followed out of their bounds. */
TEST_CASE (rollups__damaged_bytes__are_refused_or_harmless)
{
    static struct world w;
    struct list list = {.count = 0};
    BUFFER_AUTO bytes = BUFFER_INIT;
    gl_error_t error;

    world_make (&w, 4);
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
    world_end (&w);
}

TEST_CASE (rollups__a_gap__is_not_merged)
{
    static struct world w;
    struct list list = {.count = 0};
    gl_error_t error;

    world_make (&w, 1);
    build (&w, w.span, &list);
    const rollup_t *const apart[] = {list.rollup[0], list.rollup[2]};
    assert_null (rollup_merge (apart, 2, &error));
    assert_null (rollup_merge (apart, 0, &error));
    list_done (&list);
    world_end (&w);
}

TEST_MAIN (NULL, NULL)
