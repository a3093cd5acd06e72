#include "support/acct_site.h"

#include "base/memory.h"
#include "usage/capacity.h"

#define T0 INT64_C (1790000000)
#define HOUR 3600

struct total {
    const char *pool; /* NULL: all */
    capacity_sum_t sum;
};

static void add (const capacity_slice_t *slice, void *arg)
{
    struct total *total = arg;

    if (!total->pool
        || (slice->pool && !strcmp (slice->pool->name, total->pool)))
        capacity_sum_add (&total->sum, slice->sum);
}

static void check (const mpq_t got, int64_t num, int64_t den)
{
    mpq_t want;

    mpq_init (want);
    exact_set_i64 (want, num, den);
    if (!mpq_equal (got, want))
        fail_msg ("got %.6f want %.6f", mpq_get_d (got), mpq_get_d (want));
    mpq_clear (want);
}

static node_event_t registered (int64_t start)
{
    return (node_event_t){
        .cluster = "lab",
        .start = start,
        .gres = "gpu=23,gpu:1g.10gb=4,gpu:3g.40gb=1,gpu:h100=18",
        .nodelist = "g[1-2],m[1-2],h1"};
}

TEST_CASE (capacity__a_day_of_everything__classified_by_hand)
{
    site_t site;
    period_t day = {T0, T0 + 24 * HOUR};
    struct total total = {.pool = "h100"};
    segment_t job = test_segment (1, T0 + HOUR, T0 + 5 * HOUR,
                                  "gpu=4,gpu:h100=4", "g1");
    node_event_t events[] = {
        registered (T0 + HOUR),
        {.cluster = "lab", .node = "g1", .start = T0 + 4 * HOUR,
         .end = T0 + 6 * HOUR, .state = NODE_STATE_DOWN},
        {.cluster = "lab", .node = "g2", .start = T0 + 10 * HOUR,
         .end = T0 + 11 * HOUR, .state = NODE_STATE_DRAIN | NODE_STATE_MAINT},
    };
    reservation_t booked = {.cluster = "lab", .id = 1, .start = T0 + 12 * HOUR,
                            .end = T0 + 14 * HOUR, .nodelist = "g2"};

    test_site (&site, "UTC");
    kinds_t *kinds = kinds_new (&site);
    capacity_t *c = capacity_new (&site, kinds, day);
    capacity_set_as_of (c, "lab", T0 + 20 * HOUR);
    capacity_add_segment (c, &job);
    for (size_t i = 0; i < GL_ARRAY_SIZE (events); i++)
        capacity_add_event (c, &events[i]);
    capacity_add_reservation (c, &booked);
    capacity_sum_init (&total.sum);
    capacity_each (c, NULL, 0, add, &total);
    check (total.sum.capacity, 16 * 24 * HOUR, 1);
    check (total.sum.allocated, 4 * 4 * HOUR, 1);
    /* the job goes on through the first hour of the outage */
    check (total.sum.down, (4 + 8) * HOUR, 1);
    check (total.sum.planned_down, 8 * HOUR, 1);
    check (total.sum.reserved_unused, 2 * 8 * HOUR, 1);
    /* before the registration and after as-of */
    check (total.sum.unknown, (1 + 4) * 16 * HOUR, 1);
    check (total.sum.idle,
           (16 * 24 - 16 - 12 - 8 - 16 - 5 * 16) * HOUR, 1);
    check (total.sum.difference, 0, 1);
    capacity_sum_clear (&total.sum);
    capacity_free (c);
    kinds_free (kinds);
    zone_close (site.zone);
}

/* 16 CPUs on each of two GPU nodes: jobs without GPUs hold theirs, those of jobs with
 * GPUs are no capacity here, or they are counted, too. GPUs are as without. */
TEST_CASE (capacity__pool_of_cpus__has_what_jobs_with_gpus_leave)
{
    static const struct {
        cpu_jobs_t jobs;
        int64_t capacity, allocated; /* CPU-hours */
    } cases[] = {
        {CPUS_WITHOUT_GPUS, 2 * 16 * 24 - 6 * 4, 10 * 2},
        {CPUS_OF_ALL, 2 * 16 * 24, 10 * 2 + 6 * 4},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t site;
        struct total cpus = {.pool = "cpus"}, gpus = {.pool = "h100"};
        segment_t with = test_segment (1, T0 + HOUR, T0 + 5 * HOUR,
                                       "gpu=4,gpu:h100=4", "g1");
        segment_t without
            = test_segment (2, T0 + HOUR, T0 + 3 * HOUR, "", "g[1-2]");
        segment_t elsewhere
            = test_segment (3, T0 + HOUR, T0 + 3 * HOUR, "", "c1");
        node_event_t known = registered (T0);
        site_pool_t pools[2];
        test_site (&site, "UTC");
        pools[0] = site.pools[0];
        pools[1] = (site_pool_t){.name = (char *)"cpus",
                                 .nodes = (char *)"g[1-2]",
                                 .resource = RESOURCE_CPU,
                                 .cpu_jobs = (int)cases[i].jobs,
                                 .gpus_per_node = 16,
                                 .cpus_per_node = 16,
                                 .valid = always};
        site.pools = pools;
        site.pool_count = GL_ARRAY_SIZE (pools);
        with.cpus = 6;
        without.cpus = elsewhere.cpus = 10;
        without.gpu_asked = elsewhere.gpu_asked = false;
        kinds_t *kinds = kinds_new (&site);
        capacity_t *c
            = capacity_new (&site, kinds, (period_t){T0, T0 + 24 * HOUR});
        capacity_set_as_of (c, "lab", T0 + 24 * HOUR);
        capacity_add_segment (c, &with);
        capacity_add_segment (c, &without);
        capacity_add_segment (c, &elsewhere);
        capacity_add_event (c, &known);
        capacity_sum_init (&cpus.sum);
        capacity_sum_init (&gpus.sum);
        capacity_each (c, NULL, 0, add, &cpus);
        capacity_each (c, NULL, 0, add, &gpus);
        check (cpus.sum.capacity, cases[i].capacity * HOUR, 1);
        check (cpus.sum.allocated, cases[i].allocated * HOUR, 1);
        check (cpus.sum.idle, (cases[i].capacity - cases[i].allocated) * HOUR,
               1);
        check (cpus.sum.difference, 0, 1);
        check (gpus.sum.capacity, 16 * 24 * HOUR, 1);
        check (gpus.sum.allocated, 4 * 4 * HOUR, 1);
        check (gpus.sum.cpu_stranded, 0, 1);
        capacity_sum_clear (&cpus.sum);
        capacity_sum_clear (&gpus.sum);
        capacity_free (c);
        kinds_free (kinds);
        zone_close (site.zone);
    }
}

/* The rows that Slurm 22.05 wrote when a node was drained, slurmctld was killed 23 s
 * later and was back after 9 s: the node's row stays open all the time. Nobody but
 * slurmctld could have resumed the node. The other node has no row of its own, and
 * a reservation tells what was planned for it, not what it did. */
TEST_CASE (capacity__node_drained_over_an_outage__is_down)
{
    static const struct {
        uint32_t node_state;
        int64_t end; /* of the node's row; 0: open */
        bool maintenance;
        int64_t down, drained, planned, unknown, idle; /* GPU-seconds */
    } cases[] = {
        {514, 0, false, 63 * 8, 63 * 8, 0, 9 * 8, (37 + 91) * 8},
        /* closed when slurmctld was back, and a second before */
        {514, 69, false, 32 * 8, 32 * 8, 0, 9 * 8, (37 + 31 + 91) * 8},
        {514, 68, false, 31 * 8, 31 * 8, 0, (9 + 1) * 8, (37 + 31 + 91) * 8},
        {NODE_STATE_DOWN, 0, false, 63 * 8, 0, 0, 9 * 8, (37 + 91) * 8},
        {514 | NODE_STATE_MAINT, 0, false, 0, 0, 63 * 8, 9 * 8, (37 + 91) * 8},
        {514, 0, true, 63 * 8, 63 * 8, 91 * 8, 9 * 8, 37 * 8},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_t site;
        struct total total = {.pool = "h100"};
        node_event_t events[] = {
            registered (T0 - HOUR),
            {.cluster = "lab", .start = T0 + 60, .end = T0 + 69,
             .state = NODE_STATE_DOWN},
            {.cluster = "lab", .node = "g1", .start = T0 + 37,
             .end = cases[i].end ? T0 + cases[i].end : 0,
             .state = cases[i].node_state},
        };
        reservation_t booked
            = {.cluster = "lab", .id = 1, .flags = RESERVATION_MAINT,
               .start = T0 - 100, .end = T0 + 200, .nodelist = "g2"};
        test_site (&site, "UTC");
        kinds_t *kinds = kinds_new (&site);
        capacity_t *c
            = capacity_new (&site, kinds, (period_t){T0, T0 + 100});
        capacity_set_as_of (c, "lab", T0 + 100);
        for (size_t k = 0; k < GL_ARRAY_SIZE (events); k++)
            capacity_add_event (c, &events[k]);
        if (cases[i].maintenance)
            capacity_add_reservation (c, &booked);
        capacity_sum_init (&total.sum);
        capacity_each (c, NULL, 0, add, &total);
        check (total.sum.down, cases[i].down, 1);
        check (total.sum.drained, cases[i].drained, 1);
        check (total.sum.planned_down, cases[i].planned, 1);
        check (total.sum.unknown, cases[i].unknown, 1);
        check (total.sum.idle, cases[i].idle, 1);
        check (total.sum.difference, 0, 1);
        capacity_sum_clear (&total.sum);
        capacity_free (c);
        kinds_free (kinds);
        zone_close (site.zone);
    }
}

TEST_CASE (capacity__two_halves_of_a_gpu__leave_a_seventh_stranded)
{
    site_t site;
    struct total total = {.pool = "halves"};
    segment_t a = test_segment (1, T0, T0 + HOUR, "gpu=1,gpu:3g.40gb=1", "m2");
    segment_t b = test_segment (2, T0, T0 + HOUR, "gpu=1,gpu:3g.40gb=1", "m2");
    node_event_t e = registered (T0 - HOUR);

    test_site (&site, "UTC");
    kinds_t *kinds = kinds_new (&site);
    capacity_t *c = capacity_new (&site, kinds, (period_t){T0, T0 + HOUR});
    capacity_set_as_of (c, "lab", T0 + HOUR);
    capacity_add_segment (c, &a);
    capacity_add_segment (c, &b);
    capacity_add_event (c, &e);
    capacity_sum_init (&total.sum);
    capacity_each (c, NULL, 0, add, &total);
    check (total.sum.allocated, 6 * HOUR, 7);
    check (total.sum.idle, 1 * HOUR, 7);
    check (total.sum.stranded, 1 * HOUR, 7);
    check (total.sum.difference, 0, 1);
    capacity_sum_clear (&total.sum);
    capacity_free (c);
    kinds_free (kinds);
    zone_close (site.zone);
}

/* Of eight GPUs 4 x 1g + 3 x 3g are 13/7 of the compute slices of one and 2 of the
 * memory: two are cut and six whole, if jobs can have whole ones. */
TEST_CASE (capacity__whole_gpus_beside_slices__are_not_stranded)
{
    static char *listed[] = {(char *)"1g.10gb", (char *)"3g.40gb",
                             (char *)"gpu", (char *)"h100"};
    static const struct {
        const char *layout;
        size_t types;
        int64_t stranded; /* in sevenths of a GPU */
    } cases[] = {
        {"1g.10gb:4,3g.40gb:3", 0, 1},
        {"1g.10gb:4,3g.40gb:3", 4, 1},
        {"1g.10gb:4,3g.40gb:3", 2, 6 * 7 + 1}, /* all of them are cut */
        {"1g.10gb:4,3g.40gb:3", 3, 6 * 7 + 1},
        {"1g.20gb:4", 0, 3},
        {"2g.20gb:4", 0, 6},
        {"1g.10gb+me:3", 0, 18}, /* one on each card */
        {"7g.80gb:8", 2, 0},
    };
    node_event_t e = registered (T0 - HOUR);

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        site_pool_t pool = {.name = (char *)"mixed",
                            .nodes = (char *)"m1",
                            .gres = {listed, cases[i].types},
                            .gpu = (char *)"H100-SXM5-80GB",
                            .gpus_per_node = 8,
                            .layout = (char *)cases[i].layout,
                            .valid = always};
        struct total total = {.pool = "mixed"};
        site_t site;
        test_site (&site, "UTC");
        site.pools = &pool;
        site.pool_count = 1;
        kinds_t *kinds = kinds_new (&site);
        capacity_t *c = capacity_new (&site, kinds, (period_t){T0, T0 + HOUR});
        capacity_set_as_of (c, "lab", T0 + HOUR);
        capacity_add_event (c, &e);
        capacity_sum_init (&total.sum);
        capacity_each (c, NULL, 0, add, &total);
        check (total.sum.idle, 8 * HOUR, 1);
        check (total.sum.stranded, cases[i].stranded * HOUR, 7);
        check (total.sum.difference, 0, 1);
        capacity_sum_clear (&total.sum);
        capacity_free (c);
        kinds_free (kinds);
        zone_close (site.zone);
    }
}

TEST_CASE (capacity__more_held_than_there_is__shows_as_difference)
{
    site_t site;
    struct total total = {.pool = "mixed"};
    segment_t a = test_segment (1, T0, T0 + HOUR, "gpu=3,gpu:h100=3", "m1");
    node_event_t e = registered (T0 - HOUR);

    test_site (&site, "UTC");
    kinds_t *kinds = kinds_new (&site);
    capacity_t *c = capacity_new (&site, kinds, (period_t){T0, T0 + HOUR});
    capacity_set_as_of (c, "lab", T0 + HOUR);
    capacity_add_segment (c, &a);
    capacity_add_event (c, &e);
    capacity_sum_init (&total.sum);
    capacity_each (c, NULL, 0, add, &total);
    check (total.sum.capacity, 2 * HOUR, 1);
    check (total.sum.allocated, 3 * HOUR, 1);
    check (total.sum.difference, -1 * HOUR, 1);
    capacity_sum_clear (&total.sum);
    capacity_free (c);
    kinds_free (kinds);
    zone_close (site.zone);
}

TEST_CASE (capacity__no_pools__registration_and_outage_rows_tell)
{
    site_t site;
    struct total total = {0};
    segment_t job = test_segment (1, T0, T0 + HOUR, "gpu=2,gpu:h100=2", "g2");
    node_event_t events[] = {
        {.cluster = "lab", .start = T0 - HOUR, .gres = "gpu=16,gpu:h100=16",
         .nodelist = "g[1-2]"},
        {.cluster = "lab", .node = "g1", .start = T0, .end = T0 + HOUR,
         .state = NODE_STATE_DOWN, .gres = "gpu=8,gpu:h100=8"},
    };

    test_site (&site, "UTC");
    site.pool_count = 0;
    kinds_t *kinds = kinds_new (&site);
    capacity_t *c = capacity_new (&site, kinds, (period_t){T0, T0 + 2 * HOUR});
    capacity_set_as_of (c, "lab", T0 + 2 * HOUR);
    capacity_add_segment (c, &job);
    for (size_t i = 0; i < GL_ARRAY_SIZE (events); i++)
        capacity_add_event (c, &events[i]);
    capacity_sum_init (&total.sum);
    capacity_each (c, NULL, 0, add, &total);
    check (total.sum.capacity, 32 * HOUR, 1);
    check (total.sum.allocated, 2 * HOUR, 1);
    check (total.sum.down, 8 * HOUR, 1);
    check (total.sum.idle, 22 * HOUR, 1);
    check (total.sum.unknown, 0, 1);
    check (total.sum.difference, 0, 1);
    capacity_sum_clear (&total.sum);
    capacity_free (c);
    kinds_free (kinds);
    zone_close (site.zone);
}

TEST_CASE (capacity__no_source_of_node_states__is_unknown_not_idle)
{
    site_t site;
    struct total total = {.pool = "h100"};
    segment_t job = test_segment (1, T0, T0 + HOUR, "gpu=2,gpu:h100=2", "g2");

    test_site (&site, "UTC");
    kinds_t *kinds = kinds_new (&site);
    capacity_t *c = capacity_new (&site, kinds, (period_t){T0, T0 + HOUR});
    capacity_set_as_of (c, "lab", T0 + HOUR);
    capacity_add_segment (c, &job);
    capacity_sum_init (&total.sum);
    capacity_each (c, NULL, 0, add, &total);
    check (total.sum.idle, 0, 1);
    check (total.sum.unknown, 14 * HOUR, 1);
    check (total.sum.difference, 0, 1);
    capacity_sum_clear (&total.sum);
    capacity_free (c);
    kinds_free (kinds);
    zone_close (site.zone);
}

/* A slice is held, so the card is up: what its layout leaves over is stranded
 * though no source speaks of the node; the other slice stays unknown. */
TEST_CASE (capacity__no_source_but_a_slice_held__remainder_is_stranded)
{
    site_t site;
    struct total total = {.pool = "halves"};
    segment_t a = test_segment (1, T0, T0 + HOUR, "gpu=1,gpu:3g.40gb=1", "m2");

    test_site (&site, "UTC");
    kinds_t *kinds = kinds_new (&site);
    capacity_t *c = capacity_new (&site, kinds, (period_t){T0, T0 + 2 * HOUR});
    capacity_set_as_of (c, "lab", T0 + 2 * HOUR);
    capacity_add_segment (c, &a);
    capacity_sum_init (&total.sum);
    capacity_each (c, NULL, 0, add, &total);
    check (total.sum.allocated, 3 * HOUR, 7);
    check (total.sum.stranded, 1 * HOUR, 7);
    check (total.sum.idle, 1 * HOUR, 7);
    check (total.sum.unknown, 3 * HOUR + 7 * HOUR, 7);
    check (total.sum.difference, 0, 1);
    capacity_sum_clear (&total.sum);
    capacity_free (c);
    kinds_free (kinds);
    zone_close (site.zone);
}

/* Whatever is thrown at it: with jobs that fit, the parts add up to the
 * capacity to the second, and cutting the period changes no sum. */
TEST_CASE (capacity__seeded_months__identity_and_partition_hold)
{
    int outages_seen = 0;

    srand (7);
    for (int round = 0; round < 300; round++) {
        site_t site;
        period_t p = {T0, T0 + 100000 + rand () % 100000};
        int64_t cuts[3];
        struct total whole = {0}, cut = {0};
        test_site (&site, "UTC");
        kinds_t *kinds = kinds_new (&site);
        capacity_t *c = capacity_new (&site, kinds, p);
        capacity_set_as_of (c, "lab", T0 + rand () % 250000);
        node_event_t reg = registered (T0 - 5000 + rand () % 10000);
        capacity_add_event (c, &reg);
        for (int i = 0; i < 40; i++) {
            static const char *const nodes[] = {"g1", "g2", "m1", "m2", "h1"};
            static const uint32_t states[] = {
                NODE_STATE_DOWN, NODE_STATE_DRAIN | 2, NODE_STATE_MAINT | 2,
                NODE_STATE_POWERED_DOWN | 2};
            int64_t start = T0 + rand () % 150000;
            node_event_t e = {.cluster = "lab", .node = nodes[rand () % 5],
                              .start = start, .end = start + rand () % 9000,
                              .state = states[rand () % 4]};
            reservation_t r = {.cluster = "lab", .id = i, .start = start,
                               .end = start + rand () % 5000,
                               .flags = rand () % 2, .nodelist = "g[1-2],m1"};
            segment_t s = test_segment (i + 1, T0 + i * 3000,
                                        T0 + i * 3000 + rand () % 3000,
                                        i % 2 ? "gpu=3,gpu:1g.10gb=2,gpu:h100=1"
                                              : "gpu=2,gpu:h100=2",
                                        i % 2 ? "m1" : "g[1-2]");
            capacity_add_event (c, &e);
            capacity_add_reservation (c, &r);
            capacity_add_segment (c, &s);
        }
        cuts[0] = T0 + 1 + rand () % 30000;
        cuts[1] = cuts[0] + 1 + rand () % 30000;
        cuts[2] = cuts[1] + 1 + rand () % 30000;
        capacity_sum_init (&whole.sum);
        capacity_sum_init (&cut.sum);
        capacity_each (c, NULL, 0, add, &whole);
        capacity_each (c, cuts, 3, add, &cut);
        check (whole.sum.difference, 0, 1);
        assert_true (mpq_equal (whole.sum.capacity, cut.sum.capacity));
        assert_true (mpq_equal (whole.sum.allocated, cut.sum.allocated));
        assert_true (mpq_equal (whole.sum.idle, cut.sum.idle));
        assert_true (mpq_equal (whole.sum.down, cut.sum.down));
        assert_true (mpq_equal (whole.sum.planned_down, cut.sum.planned_down));
        assert_true (mpq_equal (whole.sum.unknown, cut.sum.unknown));
        assert_true (mpq_equal (whole.sum.reserved_unused,
                                cut.sum.reserved_unused));
        outages_seen += mpq_sgn (whole.sum.down) > 0;
        capacity_sum_clear (&whole.sum);
        capacity_sum_clear (&cut.sum);
        capacity_free (c);
        kinds_free (kinds);
        zone_close (site.zone);
    }
    assert_true (outages_seen > 100);
}

TEST_MAIN (NULL, NULL)
