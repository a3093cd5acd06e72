#include "support/acct_site.h"

#include "base/memory.h"
#include "usage/usage.h"

#define T0 INT64_C (1790000000) /* 2026-09-21, an instant inside a day */

static void check_fraction (const usage_cell_t *cell, int64_t num, int64_t den)
{
    mpq_t got, want;

    mpq_inits (got, want, NULL);
    assert_true (usage_cell_gpu_seconds (cell, got));
    exact_set_i64 (want, num, den);
    assert_true (mpq_equal (got, want));
    mpq_clears (got, want, NULL);
}

static usage_query_t query (const site_t *site, int64_t start, int64_t end)
{
    return (usage_query_t){.site = site, .period = {start, end}};
}

TEST_CASE (usage__mixed_slices_and_gpu__gres_and_gpu_seconds)
{
    site_t site;
    segment_t s = test_segment (
        1, T0, T0 + 700, "gpu=4,gpu:1g.10gb=2,gpu:3g.40gb=1,gpu:h100=1", "m1");
    project_t none = {0};
    size_t count;

    test_site (&site, "UTC");
    usage_query_t q = query (&site, T0 - 100, T0 + 100000);
    q.by = (key_list_t){.id = {KEY_USER}, .count = 1};
    usage_t *u = usage_new (&q);
    usage_add (u, &s, NULL, 0, &none);
    const usage_cell_t *cell = usage_cells (u, &count);
    assert_int_equal (count, 1);
    assert_string_equal (cell[0].key[0], "ann");
    assert_int_equal (cell[0].jobs, 1);
    assert_int_equal (usage_cell_gres_seconds (cell), 4 * 700);
    /* 2/7 + 3/7 + 1 = 12/7 of 700 s */
    check_fraction (cell, 1200, 1);
    usage_free (u);
    zone_close (site.zone);
}

TEST_CASE (usage__seven_slices__weigh_one_gpu)
{
    site_t site;
    project_t none = {0};
    size_t count;

    test_site (&site, "UTC");
    usage_query_t q = query (&site, T0, T0 + 1000);
    usage_t *u = usage_new (&q);
    for (int i = 0; i < 7; i++) {
        segment_t s = test_segment (i + 1, T0, T0 + 1000,
                                    "gpu=1,gpu:1g.10gb=1", "m1");
        usage_add (u, &s, NULL, 0, &none);
    }
    const usage_cell_t *cell = usage_cells (u, &count);
    assert_int_equal (count, 1);
    assert_int_equal (cell->jobs, 7);
    check_fraction (cell, 1000, 1);
    usage_free (u);
    zone_close (site.zone);
}

TEST_CASE (usage__untyped_device_of_a_pool_of_slices__weighs_the_slice)
{
    site_t site;
    project_t none = {0};
    segment_t s = test_segment (1, T0, T0 + 70, "gpu=1", "h1");
    size_t count;

    test_site (&site, "UTC");
    usage_query_t q = query (&site, T0, T0 + 1000);
    q.by = (key_list_t){.id = {KEY_GRES_TYPE, KEY_PROFILE, KEY_POOL},
                        .count = 3};
    usage_t *u = usage_new (&q);
    usage_add (u, &s, NULL, 0, &none);
    const usage_cell_t *cell = usage_cells (u, &count);
    assert_null (cell->key[0]);
    assert_string_equal (cell->key[1], "1g.10gb");
    assert_string_equal (cell->key[2], "hidden");
    check_fraction (cell, 10, 1);
    usage_free (u);
    zone_close (site.zone);
}

/* m2 has slices of two weights; on m1 are slices of one pool and whole GPUs of
 * another. */
TEST_CASE (usage__untyped_device_that_may_be_a_slice__has_no_weight)
{
    static const struct {
        const char *node;
        const char *pool;
    } cases[] = {{"m2", "halves"}, {"m1", NULL}};
    site_t site;
    project_t none = {0};
    mpq_t seconds;

    test_site (&site, "UTC");
    usage_query_t q = query (&site, T0, T0 + 1000);
    q.by = (key_list_t){.id = {KEY_POOL}, .count = 1};
    mpq_init (seconds);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        segment_t s = test_segment (1, T0, T0 + 70, "gpu=2", cases[i].node);
        usage_t *u = usage_new (&q);
        size_t count;
        usage_add (u, &s, NULL, 0, &none);
        const usage_cell_t *cell = usage_cells (u, &count);
        assert_int_equal (count, 1);
        if (cases[i].pool)
            assert_string_equal (cell->key[0], cases[i].pool);
        else
            assert_null (cell->key[0]);
        assert_int_equal (usage_cell_gres_seconds (cell), 140);
        assert_false (usage_cell_gpu_seconds (cell, seconds));
        assert_non_null (strstr (cell->part[0].kind->problem, "type"));
        usage_free (u);
    }
    mpq_clear (seconds);
    zone_close (site.zone);
}

/* Four GPUs on two nodes are two on each, also before the pool of the second
 * one begins. */
TEST_CASE (usage__pool_that_begins_during_a_job__moves_no_device)
{
    site_pool_t pools[] = {test_pools[0], test_pools[0]};
    site_t site;
    project_t none = {0};
    segment_t s = test_segment (1, T0, T0 + 1000, "gpu=4,gpu:h100=4", "g[2-3]");
    size_t count;

    test_site (&site, "UTC");
    site.pools = pools;
    site.pool_count = 2;
    pools[0].valid = always;
    pools[1].name = (char *)"later";
    pools[1].nodes = (char *)"g[3-4]";
    pools[1].valid = (period_t){T0 + 400, SITE_ALWAYS_END};
    usage_query_t q = query (&site, T0, T0 + 1000);
    q.by = (key_list_t){.id = {KEY_POOL}, .count = 1};
    usage_t *u = usage_new (&q);
    usage_add (u, &s, NULL, 0, &none);
    const usage_cell_t *cell = usage_cells (u, &count);
    assert_int_equal (count, 3);
    assert_null (cell[0].key[0]);
    assert_int_equal (usage_cell_gres_seconds (&cell[0]), 2 * 400);
    assert_string_equal (cell[1].key[0], "h100");
    assert_int_equal (usage_cell_gres_seconds (&cell[1]), 2 * 1000);
    assert_string_equal (cell[2].key[0], "later");
    assert_int_equal (usage_cell_gres_seconds (&cell[2]), 2 * 600);
    usage_free (u);
    zone_close (site.zone);
}

TEST_CASE (usage__gpu_job_without_gpu_in_accounting__is_unknown_not_zero)
{
    site_t site;
    project_t none = {0};
    segment_t s = test_segment (1, T0, T0 + 70, "", "g1"), cpu = s;
    size_t count;

    test_site (&site, "UTC");
    cpu.id_job = 2;
    cpu.gpu_asked = false;
    usage_query_t q = query (&site, T0, T0 + 1000);
    usage_t *u = usage_new (&q);
    usage_add (u, &s, NULL, 0, &none);
    usage_add (u, &cpu, NULL, 0, &none);
    const usage_cell_t *cell = usage_cells (u, &count);
    assert_int_equal (count, 1);
    assert_int_equal (cell->jobs, 1);
    assert_int_equal (cell->unknown_jobs, 1);
    assert_int_equal (cell->part_count, 0);
    usage_free (u);
    zone_close (site.zone);
}

TEST_CASE (usage__two_nodes_by_node__devices_split_evenly)
{
    site_t site;
    project_t none = {0};
    segment_t s = test_segment (1, T0, T0 + 10, "gpu=5,gpu:h100=5", "g[1-2]");
    size_t count;

    test_site (&site, "UTC");
    usage_query_t q = query (&site, T0, T0 + 1000);
    q.by = (key_list_t){.id = {KEY_NODE}, .count = 1};
    usage_t *u = usage_new (&q);
    usage_add (u, &s, NULL, 0, &none);
    const usage_cell_t *cell = usage_cells (u, &count);
    assert_int_equal (count, 2);
    assert_string_equal (cell[0].key[0], "g1");
    assert_int_equal (usage_cell_gres_seconds (&cell[0]), 30);
    assert_int_equal (usage_cell_gres_seconds (&cell[1]), 20);
    usage_free (u);
    zone_close (site.zone);
}

TEST_CASE (usage__suspension_intervals__are_clipped_to_the_cell)
{
    site_t site;
    project_t none = {0};
    segment_t s = test_segment (1, T0, T0 + 1000, "gpu=2,gpu:h100=2", "g1");
    suspension_t hold[] = {{"lab", 1, T0 - 10, T0 + 100, T0 + 300},
                           {"lab", 1, T0 - 10, T0 + 900, 0}};
    int64_t cuts[] = {T0 + 200};
    size_t count;

    test_site (&site, "UTC");
    usage_query_t q = query (&site, T0, T0 + 1000);
    q.cuts = cuts;
    q.cut_count = 1;
    usage_t *u = usage_new (&q);
    usage_add (u, &s, hold, 2, &none);
    const usage_cell_t *cell = usage_cells (u, &count);
    assert_int_equal (count, 2);
    assert_int_equal (usage_cell_suspended (&cell[0]), 2 * 100);
    assert_int_equal (usage_cell_suspended (&cell[1]), 2 * (100 + 100));
    assert_int_equal (usage_cell_gres_seconds (&cell[0])
                          + usage_cell_gres_seconds (&cell[1]),
                      2000);
    assert_int_equal (cell[0].part[0].placed_gres_seconds, 2 * 100);
    assert_int_equal (cell[1].part[0].placed_gres_seconds, 2 * (100 + 100));
    /* overlapping rows hold nothing twice */
    usage_free (u);
    hold[1].start = T0 + 150;
    hold[1].end = T0 + 400;
    u = usage_new (&q);
    usage_add (u, &s, hold, 2, &none);
    cell = usage_cells (u, &count);
    assert_int_equal (cell[0].part[0].placed_gres_seconds, 2 * 100);
    assert_int_equal (cell[1].part[0].placed_gres_seconds, 2 * 200);
    /* only a total: known where the segment is in one cell, else unknown */
    usage_free (u);
    s.suspended = 50;
    u = usage_new (&q);
    usage_add (u, &s, NULL, 0, &none);
    cell = usage_cells (u, &count);
    assert_false (cell[0].suspended_known);
    assert_int_equal (cell[0].part[0].placed_gres_seconds, 0);
    usage_free (u);
    zone_close (site.zone);
}

TEST_CASE (usage__filters__match_the_text_that_is_printed)
{
    site_t site;
    project_t none = {0}, alpha = {.project = "alpha"};
    segment_t a = test_segment (1, T0, T0 + 10, "gpu=1,gpu:h100=1", "g1");
    segment_t b = test_segment (2, T0, T0 + 20, "gpu=1,gpu:h100=1", "g1");
    char *untagged[] = {(char *)"(untagged)"};
    usage_filter_t filter = {KEY_PROJECT, NULL, {untagged, 1}};
    size_t count;

    test_site (&site, "UTC");
    usage_query_t q = query (&site, T0, T0 + 1000);
    q.filters = &filter;
    q.filter_count = 1;
    usage_t *u = usage_new (&q);
    usage_add (u, &a, NULL, 0, &alpha);
    usage_add (u, &b, NULL, 0, &none);
    const usage_cell_t *cell = usage_cells (u, &count);
    assert_int_equal (count, 1);
    assert_int_equal (usage_cell_gres_seconds (cell), 20);
    usage_free (u);
    zone_close (site.zone);
}

/* Three days of 10, 20 and 30 s of two accounts, of which one is looked at. */
TEST_CASE (usage__what_does_not_pass__is_not_told_apart)
{
    site_t site;
    project_t none = {0};
    char *speech[] = {(char *)"speech"};
    usage_filter_t filter = {KEY_ACCOUNT, NULL, {speech, 1}};
    size_t count;

    test_site (&site, "UTC");
    usage_query_t q = query (&site, T0, T0 + 3 * 86400);
    q.by = (key_list_t){.id = {KEY_ACCOUNT, KEY_DAY}, .count = 2};
    q.apart = &filter;
    q.apart_count = 1;
    q.apart_keys = 1U << KEY_DAY;
    usage_t *u = usage_new (&q);
    for (int i = 0; i < 6; i++) {
        int64_t start = T0 + i / 2 * 86400;
        segment_t s = test_segment (i + 1, start, start + 10 * (i / 2 + 1),
                                    "gpu=1,gpu:h100=1", "g1");
        s.account = i % 2 ? "vision" : "speech";
        usage_add (u, &s, NULL, 0, &none);
    }
    const usage_cell_t *cell = usage_cells (u, &count);
    assert_int_equal (count, 4);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal (cell[i].key[0], "speech");
        assert_non_null (cell[i].key[1]);
        assert_int_equal (usage_cell_gres_seconds (&cell[i]), 10 * (i + 1));
    }
    assert_string_equal (cell[3].key[0], "vision");
    assert_null (cell[3].key[1]);
    assert_int_equal (usage_cell_gres_seconds (&cell[3]), 60);
    usage_free (u);
    zone_close (site.zone);
}

/* An account that changes its team twice, and the name of a month and a day that
 * are asked for out of order. */
TEST_CASE (usage__team_and_day_of_each_instant__are_its_own)
{
    static char *account[] = {(char *)"vision"};
    static const int64_t at[] = {2, 0, 1, 0, 2, 1};
    static const char *const team[] = {"early", "late", "early"};
    static const char *const day[] = {"2026-09-21", "2026-10-01", "2026-10-11"};
    site_t site;
    project_t none = {0};
    size_t count;

    test_site (&site, "UTC");
    site_team_t teams[] = {
        {.name = (char *)"early", .accounts = {account, 1},
         .valid = {INT64_MIN, T0 + 5 * 86400}},
        {.name = (char *)"late", .accounts = {account, 1},
         .valid = {T0 + 5 * 86400, T0 + 15 * 86400}},
        {.name = (char *)"early", .accounts = {account, 1},
         .valid = {T0 + 15 * 86400, INT64_MAX}},
    };
    site.teams = teams;
    site.team_count = GL_ARRAY_SIZE (teams);
    usage_query_t q = query (&site, T0, T0 + 30 * 86400);
    q.by = (key_list_t){.id = {KEY_DAY, KEY_TEAM, KEY_MONTH}, .count = 3};
    usage_t *u = usage_new (&q);
    for (size_t i = 0; i < GL_ARRAY_SIZE (at); i++) {
        int64_t start = T0 + at[i] * 10 * 86400;
        segment_t s = test_segment (i + 1, start, start + 60,
                                    "gpu=1,gpu:h100=1", "g1");
        usage_add (u, &s, NULL, 0, &none);
    }
    const usage_cell_t *cell = usage_cells (u, &count);
    assert_int_equal (count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal (cell[i].key[0], day[i]);
        assert_string_equal (cell[i].key[1], team[i]);
        assert_int_equal (cell[i].jobs, 2);
        assert_memory_equal (cell[i].key[2], day[i], strlen ("2026-09"));
    }
    usage_free (u);
    zone_close (site.zone);
}

/* Any calendar and any cuts: the cells add up to the segments' own seconds in
 * the period, and a job is counted once a cell. */
TEST_CASE (usage__seeded_segments_by_time__sum_to_the_whole)
{
    static const char *const zones[] = {"UTC", "America/New_York",
                                        "Asia/Kolkata", "Australia/Lord_Howe"};
    static const key_id_t units[] = {KEY_HOUR, KEY_DAY, KEY_MONTH};
    project_t none = {0};

    srand (42);
    for (size_t z = 0; z < GL_ARRAY_SIZE (zones); z++) {
        site_t site;
        civil_t from = {2026, 9, 20, 0, 0, 0}, to = {2026, 11, 10, 0, 0, 0};
        test_site (&site, zones[z]);
        period_t period = {zone_instant (site.zone, &from),
                           zone_instant (site.zone, &to)};
        for (size_t k = 0; k < GL_ARRAY_SIZE (units); k++) {
            int64_t cuts[] = {period.start + 1234567, period.start + 2345678};
            usage_query_t q = {.site = &site,
                               .period = period,
                               .by = {.id = {units[k], KEY_GRES_TYPE},
                                      .count = 2},
                               .cuts = cuts,
                               .cut_count = 2};
            usage_t *u = usage_new (&q);
            uint64_t want = 0, got = 0;
            size_t count;
            for (int i = 0; i < 200; i++) {
                int64_t start = period.start - 86400 + rand () % 5000000;
                segment_t s = test_segment (i + 1, start,
                                            start + rand () % 400000,
                                            "gpu=3,gpu:1g.10gb=1,gpu:h100=1",
                                            "m1");
                period_t in = period_clip (
                    (period_t){s.time_start, s.time_end}, period);
                want += 3 * period_seconds (in);
                usage_add (u, &s, NULL, 0, &none);
            }
            const usage_cell_t *cell = usage_cells (u, &count);
            for (size_t i = 0; i < count; i++) {
                got += usage_cell_gres_seconds (&cell[i]);
                assert_true (cell[i].jobs > 0);
                assert_true (cell[i].segments == cell[i].jobs);
            }
            assert_int_equal (got, want);
            usage_free (u);
        }
        zone_close (site.zone);
    }
}

/* Pools are dated: g1 had 4 shards in each GPU, and since T0 + 100 it has 8. */
TEST_CASE (trap_23__shards__count_by_the_shards_of_that_time)
{
    static const struct {
        const char *gres;
        const char *type;
        int64_t num, den; /* GPU-seconds; den 0: not known */
    } cases[] = {
        {"shard=2", "shard", 2 * 100 / 4 * 8 + 2 * 300, 8},
        {"shard=2,shard:h100=2", "shard:h100", 2 * 100 / 4 * 8 + 2 * 300, 8},
        {"mps=50", "mps", 200, 1},
        {"gpu=1,gpu:h100=1,shard=2", "h100", 400, 1},
    };
    site_t site;
    site_pool_t pools[2];
    project_t none = {0};

    test_site (&site, "UTC");
    pools[0] = pools[1] = test_pools[0];
    pools[0].valid.end = pools[1].valid.start = T0 + 100;
    pools[0].shards_per_gpu = 4;
    pools[1].shards_per_gpu = 8;
    site.pools = pools;
    site.pool_count = 2;
    usage_query_t q = query (&site, T0, T0 + 1000);
    q.by = (key_list_t){.id = {KEY_GRES_TYPE, KEY_POOL}, .count = 2};
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        segment_t s = test_segment (1, T0, T0 + 400, cases[i].gres, "g1");
        usage_t *u = usage_new (&q);
        size_t count;
        usage_add (u, &s, NULL, 0, &none);
        const usage_cell_t *cell = usage_cells (u, &count);
        assert_int_equal (count, 1);
        assert_string_equal (cell->key[0], cases[i].type);
        assert_string_equal (cell->key[1], "h100");
        assert_int_equal (cell->jobs, 1);
        assert_int_equal (cell->unknown_jobs, 0);
        check_fraction (cell, cases[i].num, cases[i].den);
        usage_free (u);
    }
    zone_close (site.zone);
}

/* No pool tells: what accounting told of the node at that time, else nobody
 * knows, and a shard is never a GPU. */
TEST_CASE (trap_23__shards_that_no_pool_tells__by_the_node_or_unknown)
{
    node_shards_t told = {.node = "g1", .shards = 32, .gpus = 8};
    site_t site;
    project_t none = {0};
    mpq_t seconds;

    test_site (&site, "UTC");
    usage_query_t q = query (&site, T0, T0 + 1000);
    mpq_init (seconds);
    for (size_t known = 0; known < 2; known++) {
        segment_t s = test_segment (1, T0, T0 + 400, "shard=6", "g1");
        usage_t *u = usage_new (&q);
        size_t count;
        s.shards = known ? &told : NULL;
        s.shards_count = known;
        usage_add (u, &s, NULL, 0, &none);
        const usage_cell_t *cell = usage_cells (u, &count);
        assert_int_equal (count, 1);
        assert_int_equal (usage_cell_gres_seconds (cell), 6 * 400);
        assert_int_equal (usage_cell_gpu_seconds (cell, seconds), known);
        if (known)
            check_fraction (cell, 600, 1);
        else
            assert_non_null (strstr (cell->part[0].kind->problem,
                                     "shards_per_gpu of pool h100"));
        usage_free (u);
    }
    mpq_clear (seconds);
    zone_close (site.zone);
}

/* --- what a segment holds, of each node and in all --- */

static uint64_t devices_of (const holding_t *h, size_t count,
                            const device_kind_t *kind)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        if (h[i].kind == kind)
            sum += h[i].devices;
    return sum;
}

TEST_CASE (kinds__by_node__add_up_to_all)
{
    static const struct {
        const char *gres, *nodes;
        size_t kinds, by_node; /* entries */
        uint64_t devices;
    } cases[] = {
        {"gpu=5,gpu:h100=5", "g[1-3]", 1, 2, 5}, /* g3 has none */
        {"gpu=4,gpu:1g.10gb=2,gpu:3g.40gb=1,gpu:h100=1", "m1", 3, 3, 4},
        {"gpu=7", "g[1-2],h1", 2, 3, 7},
        {"shard=6", "g1", 1, 1, 6},
        {"", "g1", 0, 0, 0},
    };
    site_t site;

    test_site (&site, "UTC");
    kinds_t *kinds = kinds_new (&site);
    for (size_t i = 0; i < 2 * GL_ARRAY_SIZE (cases); i++) {
        size_t at = i % GL_ARRAY_SIZE (cases), count, all_count;
        segment_t s
            = test_segment (1, T0, T0 + 400, cases[at].gres, cases[at].nodes);
        /* either way first: the other finds the same entry */
        kinds_of_segment (kinds, &s, T0, i >= GL_ARRAY_SIZE (cases), &count);
        const holding_t *h = kinds_of_segment (kinds, &s, T0, true, &count);
        const holding_t *all
            = kinds_of_segment (kinds, &s, T0, false, &all_count);
        uint64_t devices = 0;
        assert_int_equal (all_count, cases[at].kinds);
        assert_int_equal (count, cases[at].by_node);
        for (size_t k = 0; k < count; k++)
            assert_non_null (h[k].node);
        for (size_t k = 0; k < all_count; k++) {
            assert_null (all[k].node);
            assert_int_equal (all[k].devices,
                              devices_of (h, count, all[k].kind));
            devices += all[k].devices;
        }
        assert_int_equal (devices, cases[at].devices);
    }
    kinds_free (kinds);
    zone_close (site.zone);
}

/* Device seconds of one kind. */
struct handed {
    const device_kind_t *kind;
    uint64_t seconds;
};

static void take_allocated (const device_kind_t *kind, uint64_t devices,
                            period_t period, void *arg)
{
    struct handed *handed = arg;

    if (kind == handed->kind)
        handed->seconds += devices * (uint64_t)period_seconds (period);
}

/* Two of three segments are of the user that the query is of; cut by day. */
TEST_CASE (usage__allocated__is_what_the_cells_have)
{
    char ann[] = "ann", *users[] = {ann};
    const usage_filter_t filter = {.key = KEY_USER, .values = {users, 1}};
    struct handed handed = {NULL, 0};
    site_t site;
    project_t none = {0};
    uint64_t seconds = 0;
    size_t count;

    test_site (&site, "UTC");
    kinds_t *kinds = kinds_new (&site);
    usage_query_t q = query (&site, T0, T0 + 3 * 86400);
    q.by = (key_list_t){.id = {KEY_DAY}, .count = 1};
    q.filters = &filter;
    q.filter_count = 1;
    q.kinds = kinds;
    q.allocated = take_allocated;
    q.allocated_arg = &handed;
    usage_t *u = usage_new (&q);
    for (uint64_t i = 1; i <= 3; i++) {
        segment_t s = test_segment (i, T0 - 50, T0 + 86400 * (int64_t)i,
                                    "gpu=4,gpu:h100=4", "g[1-2]");
        if (i == 2)
            s.user = "bob";
        handed.kind = kinds_of_segment (kinds, &s, T0, false, &count)->kind;
        usage_add (u, &s, NULL, 0, &none);
    }
    const usage_cell_t *cells = usage_cells (u, &count);
    for (size_t i = 0; i < count; i++)
        seconds += usage_cell_gres_seconds (&cells[i]);
    assert_int_equal (seconds, 4 * (86400 + 3 * 86400));
    assert_int_equal (handed.seconds, seconds);
    usage_free (u);
    kinds_free (kinds);
    zone_close (site.zone);
}

TEST_MAIN (NULL, NULL)
