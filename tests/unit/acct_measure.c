#include "support/acct_site.h"

#include "base/memory.h"
#include "evidence/evidence.h"
#include "usage/usage.h"

#define T0 INT64_C (1790816400) /* 2026-10-01T01:00:00Z */

static const project_t none;

static device_usage_t stretch (const char *node, int64_t index,
                               int64_t begin_ms, int64_t end_ms)
{
    device_usage_t u;

    memset (&u, 0xff, sizeof (u)); /* every number unknown */
    u.cluster = "lab";
    u.node = node;
    u.id_job = 7;
    u.gpu = "GPU-1";
    u.slice = NULL;
    u.utilization_histogram = NULL;
    u.gres_index = index;
    u.begin_ms = begin_ms;
    u.end_ms = end_ms;
    return u;
}

static evidence_join_t *join_usage (evidence_input_t *in, const segment_t *s,
                                    const device_usage_t *usage, size_t count)
{
    *in = (evidence_input_t){.segments = s,
                             .segment_count = 1,
                             .usage = usage,
                             .usage_count = count};
    return evidence_join (in);
}

static void measure (usage_t *u, const segment_t *s,
                     const device_usage_t *usage, size_t count)
{
    evidence_input_t in;
    evidence_join_t *join = join_usage (&in, s, usage, count);

    usage_add (u, s, NULL, 0, &none);
    usage_measure (u, s, &none, &join->segment[0]);
    evidence_free (join);
}

static uint64_t seed;

static int64_t chance (int64_t below)
{
    seed = seed * UINT64_C (6364136223846793005) + 1442695040888963407;
    return (int64_t)((seed >> 33) % (uint64_t)below);
}

/* However time is cut, energy adds up to the millijoule, and nothing that is
 * counted by time is more than was held. */
TEST_CASE (usage_measure__by_chance__parts_add_up)
{
    static const key_id_t keys[]
        = {KEY_HOUR, KEY_DAY, KEY_MONTH, KEY_NODE, KEY_USER};
    static device_usage_t usage[400];
    site_t site;

    test_site (&site, "Asia/Kathmandu"); /* +05:45 */
    for (int round = 0; round < 300; round++) {
        int64_t length = 100 + chance (200000), want = 0;
        segment_t s = test_segment (7, T0 + chance (86400), 0,
                                    "gpu=2,gpu:h100=2", "g[1-2]");
        int64_t begin = s.time_start * 1000 + chance (60000) - 30000;
        int64_t middle = s.time_start + chance (length) + 1;
        size_t count = 0;
        seed += (uint64_t)round;
        s.time_end = s.time_start + length;
        for (int device = 0; device < 2; device++) {
            int64_t end = s.time_end * 1000 + chance (60000) - 30000;
            for (int64_t at = begin, to; at < end && count < 400; at = to) {
                device_usage_t *u = &usage[count++];
                to = at - at % 1800000 + 1800000 < end
                         ? at - at % 1800000 + 1800000
                         : end;
                *u = stretch (device ? "g2" : "g1", device, at, to);
                u->energy_mj = chance (1000000000);
                u->energy_ms = to - at;
                u->samples = u->samples_expected = 180;
                u->utilization_sum = chance (10000) * (to - at);
                u->utilization_ms = to - at;
                u->idle_ms = chance (to - at);
                want += u->energy_mj;
            }
        }
        for (size_t k = 0; k < GL_ARRAY_SIZE (keys); k++) {
            const int64_t edges[] = {T0 - 86400, middle, T0 + 86400 * 400};
            uint64_t got = 0;
            for (size_t half = 0; half < 2; half++) {
                usage_query_t q = {.site = &site,
                                   .period = {edges[half], edges[half + 1]},
                                   .by = {.id = {keys[k]}, .count = 1}};
                usage_t *u = usage_new (&q);
                size_t cells;
                measure (u, &s, usage, count);
                const usage_cell_t *cell = usage_cells (u, &cells);
                for (size_t i = 0; i < cells; i++) {
                    uint64_t held = usage_cell_gres_seconds (&cell[i]) * 1000;
                    measured_t m;
                    usage_cell_measured (&cell[i], &m);
                    got += m.energy_mj;
                    assert_true (m.watched_ms <= held);
                    assert_true (m.sampled_ms <= m.watched_ms);
                    assert_true (m.idle_ms <= m.watched_ms);
                    assert_true (m.utilization_ms <= m.watched_ms);
                }
                usage_free (u);
            }
            if ((int64_t)got != want)
                fail_msg ("round %d, key %zu: %llu of %lld mJ", round, k,
                          (unsigned long long)got, (long long)want);
        }
    }
    zone_close (site.zone);
}

TEST_CASE (usage_measure__unknown__is_not_0)
{
    device_usage_t usage = stretch ("g1", 0, T0 * 1000, (T0 + 100) * 1000);
    segment_t s = test_segment (7, T0, T0 + 100, "gpu=1,gpu:h100=1", "g1");
    usage_query_t q = {.period = {T0 - 10, T0 + 1000}};
    size_t count;
    measured_t m;
    mpq_t value;
    site_t site;

    test_site (&site, "UTC");
    q.site = &site;
    mpq_init (value);
    for (int known = 0; known < 2; known++) {
        usage_t *u = usage_new (&q);
        if (known) {
            usage.utilization_sum = 5000 * 50000;
            usage.utilization_ms = 50000;
            usage.idle_ms = 0;
        }
        measure (u, &s, &usage, 1);
        const usage_cell_t *cell = usage_cells (u, &count);
        usage_cell_measured (cell, &m);
        assert_int_equal (m.watched_ms, 100000);
        assert_int_equal (m.sampled_ms, 0);
        assert_int_equal (m.energy_stretches, 0);
        assert_int_equal (usage_cell_active_seconds (cell, value), known);
        if (known) /* half of the 50 s that are known, not of 100 */
            assert_int_equal (mpq_cmp_ui (value, 25, 1), 0);
        assert_int_equal (usage_cell_idle_seconds (cell, value), known);
        assert_int_equal (mpq_sgn (value), 0);
        usage_free (u);
    }
    mpq_clear (value);
    zone_close (site.zone);
}

/* What accounting does not count as held is no share of held time; its energy was
 * used all the same. */
TEST_CASE (usage_measure__no_device_in_accounting__only_energy)
{
    device_usage_t usage = stretch ("g1", 0, T0 * 1000, (T0 + 100) * 1000);
    segment_t s = test_segment (7, T0, T0 + 100, "", "g1");
    usage_query_t q = {.period = {T0 - 10, T0 + 1000}};
    usage_t *u;
    const usage_cell_t *cell;
    size_t count;
    measured_t m;
    site_t site;

    test_site (&site, "UTC");
    q.site = &site;
    s.gpu_asked = true;
    usage.samples = usage.samples_expected = 100;
    usage.energy_mj = 12;
    usage.energy_ms = 100000;
    u = usage_new (&q);
    measure (u, &s, &usage, 1);
    cell = usage_cells (u, &count);
    assert_int_equal (count, 1);
    assert_int_equal (cell->unknown_jobs, 1);
    assert_int_equal (usage_cell_gres_seconds (cell), 0);
    usage_cell_measured (cell, &m);
    measured_sum (&m, usage_unplaced (u));
    assert_int_equal (m.energy_mj, 12);
    assert_int_equal (m.sampled_ms, 0);
    assert_int_equal (m.energy_ms, 0);
    usage_free (u);
    zone_close (site.zone);
}

/* m1 has slices and whole GPUs; without an inventory nobody knows which of them
 * index 4 is. */
TEST_CASE (usage_measure__mixed_node__placed_by_what_is_known)
{
    device_usage_t usage = stretch ("m1", 4, T0 * 1000, (T0 + 100) * 1000);
    segment_t s = test_segment (7, T0, T0 + 100,
                                "gpu=2,gpu:1g.10gb=1,gpu:3g.40gb=1", "m1");
    allocated_device_t held[] = {
        {"m1", 0, "1g.10gb", "1g.10gb", "1g.10gb", NULL},
        {"m1", 4, "3g.40gb", "3g.40gb", "3g.40gb", NULL},
    };
    usage_query_t q
        = {.period = {T0, T0 + 100}, .by = {.id = {KEY_PROFILE}, .count = 1}};
    site_t site;

    test_site (&site, "UTC");
    q.site = &site;
    usage.energy_mj = 12;
    for (int known = 0; known < 2; known++) {
        usage_t *u = usage_new (&q);
        size_t count;
        if (known) {
            s.allocated = held;
            s.allocated_count = 2;
        }
        measure (u, &s, &usage, 1);
        const usage_cell_t *cell = usage_cells (u, &count);
        assert_int_equal (count, 2);
        assert_string_equal (cell[1].key[0], "3g.40gb");
        assert_int_equal (usage_part_measured (&cell[1].part[0])->energy_mj, known ? 12 : 0);
        assert_int_equal (usage_unplaced (u)->energy_mj, known ? 0 : 12);
        usage_free (u);
    }
    zone_close (site.zone);
}

/* --- which devices ----------------------------------------------------- */

static void inventory (const segment_t *s, const char *node, int64_t index,
                       const char *uuid, allocated_device_t *held, void *arg)
{
    (void)s;
    (void)node;
    (void)uuid;
    (void)arg;
    if (index > 2)
        return;
    held->profile = index == 0 ? "" : index == 1 ? "1g.10gb" : "3g.40gb";
    held->gres_type = index == 0 ? "h100" : held->profile;
    held->model = "NVIDIA H100 80GB HBM3";
}

TEST_CASE (evidence_held__what_records_and_inventory_tell__never_more)
{
    static const struct {
        const char *gres, *nodes;
        const char *gpus[2]; /* on g1, g2 */
        size_t held;
        const char *type[3], *profile[3];
    } cases[] = {
        /* typed, two nodes: which node has how many */
        {"gpu=3,gpu:h100=3",
         "g[1-2]",
         {"0,1", "0"},
         3,
         {"h100", "h100", "h100"},
         {0}},
        {"gpu=3,gpu:h100=3", "g[1-2]", {"0,1", NULL}, 0, {0}, {0}},
        {"gpu=3,gpu:h100=3", "g[1-2]", {"0,1", "0,1"}, 0, {0}, {0}},
        /* one node, one type: nothing that accounting does not tell */
        {"gpu=2,gpu:h100=2", "g1", {"0,1", NULL}, 0, {0}, {0}},
        {"gpu=2", "g1", {"1,2", NULL}, 2, {NULL, NULL}, {"1g.10gb", "3g.40gb"}},
        {"gpu=1", "g1", {"7", NULL}, 1, {NULL}, {NULL}},
        {"gpu=2,gpu:1g.10gb=1,gpu:3g.40gb=1",
         "g[1-2]",
         {"1", "2"},
         2,
         {"1g.10gb", "3g.40gb"},
         {"1g.10gb", "3g.40gb"}},
        /* the inventory contradicts accounting, or does not know */
        {"gpu=2,gpu:1g.10gb=1,gpu:3g.40gb=1",
         "g[1-2]",
         {"1", "1"},
         0,
         {0},
         {0}},
        {"gpu=2,gpu:1g.10gb=1,gpu:3g.40gb=1",
         "g[1-2]",
         {"1", "7"},
         0,
         {0},
         {0}},
        {"shard=2", "g1", {"0", NULL}, 0, {0}, {0}},
    };

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        segment_t s
            = test_segment (7, T0, T0 + 100, cases[i].gres, cases[i].nodes);
        node_fact_t facts[2];
        evidence_input_t in
            = {.segments = &s, .segment_count = 1, .facts = facts};
        evidence_join_t *join;
        allocated_device_t *held;
        for (size_t k = 0; k < 2; k++)
            if (cases[i].gpus[k])
                facts[in.fact_count++]
                    = (node_fact_t){.kind = NODE_FACT_START,
                                    .key = {(uint8_t)k},
                                    .stamp_ns = (T0 + 1) * 1000000000,
                                    .seen = {.node = k ? "g2" : "g1",
                                             .uid = UINT32_MAX,
                                             .gpus = cases[i].gpus[k]}};
        join = evidence_join (&in);
        size_t count
            = evidence_allocated (&join->segment[0], inventory, NULL, &held);
        if (count != cases[i].held)
            fail_msg ("case %zu: %zu", i, count);
        for (size_t k = 0; k < count; k++) {
            const char *want[] = {cases[i].type[k], cases[i].profile[k]};
            const char *got[] = {held[k].type, held[k].profile};
            for (size_t n = 0; n < 2; n++)
                if ((want[n] == NULL) != (got[n] == NULL)
                    || (want[n] && strcmp (want[n], got[n])))
                    fail_msg ("case %zu, device %zu: %s", i, k,
                              got[n] ? got[n] : "(null)");
        }
        free (held);
        evidence_free (join);
    }
}

static uint64_t gpu_seconds (const site_t *site, const segment_t *s,
                             key_id_t by, const char *key, bool *ret_known)
{
    usage_query_t q = {.site = site,
                       .period = {T0, T0 + 7000},
                       .by = {.id = {by}, .count = 1}};
    usage_t *u = usage_new (&q);
    uint64_t sum = 0;
    size_t count;
    mpq_t value;

    mpq_init (value);
    usage_add (u, s, NULL, 0, &none);
    const usage_cell_t *cell = usage_cells (u, &count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp (cell[i].key[0] ? cell[i].key[0] : "", key)) {
            *ret_known = usage_cell_gpu_seconds (&cell[i], value);
            sum = mpz_get_ui (mpq_numref (value))
                  / mpz_get_ui (mpq_denref (value));
        }
    mpq_clear (value);
    usage_free (u);
    return sum;
}

/* Plain "gpu" in accounting on m1, whose pools have slices and whole GPUs. */
TEST_CASE (usage__hidden_slices__weighed_by_the_inventory)
{
    segment_t s = test_segment (7, T0, T0 + 7000, "gpu=3", "m1");
    allocated_device_t held[] = {
        {"m1", 0, NULL, "1g.10gb", "1g.10gb", NULL},
        {"m1", 4, NULL, "3g.40gb", "3g.40gb", NULL},
        {"m1", 5, NULL, "h100", "", NULL},
    };
    bool known = true;
    site_t site;

    test_site (&site, "UTC");
    gpu_seconds (&site, &s, KEY_USER, "user", &known);
    gpu_seconds (&site, &s, KEY_NODE, "m1", &known);
    assert_false (known);
    s.allocated = held;
    s.allocated_count = 3;
    assert_int_equal (gpu_seconds (&site, &s, KEY_NODE, "m1", &known), 11000);
    assert_true (known);
    assert_int_equal (gpu_seconds (&site, &s, KEY_PROFILE, "3g.40gb", &known),
                      3000);
    assert_int_equal (gpu_seconds (&site, &s, KEY_POOL, "mixed", &known), 7000);
    held[1].profile = NULL; /* the inventory does not say */
    held[1].gres_type = NULL;
    gpu_seconds (&site, &s, KEY_NODE, "m1", &known);
    assert_false (known);
    zone_close (site.zone);
}

TEST_CASE (usage__two_nodes__split_as_the_records_say)
{
    segment_t s = test_segment (7, T0, T0 + 7000, "gpu=4,gpu:h100=4", "g[1-2]");
    allocated_device_t held[] = {
        {"g1", 0, "h100", NULL, NULL, NULL},
        {"g1", 1, "h100", NULL, NULL, NULL},
        {"g1", 2, "h100", NULL, NULL, NULL},
        {"g2", 0, "h100", NULL, NULL, NULL},
    };
    bool known;
    site_t site;

    test_site (&site, "UTC");
    assert_int_equal (gpu_seconds (&site, &s, KEY_NODE, "g1", &known), 14000);
    s.allocated = held;
    s.allocated_count = 4;
    assert_int_equal (gpu_seconds (&site, &s, KEY_NODE, "g1", &known), 21000);
    assert_int_equal (gpu_seconds (&site, &s, KEY_NODE, "g2", &known), 7000);
    zone_close (site.zone);
}

/* Agents measure GPUs, accounting counts their shards and units of MPS: each
 * for 10,000 s, of which the samples cover 91.17 % and utilization is 50 %. */
TEST_CASE (usage_measure__shards_and_mps__by_the_gpus_they_are)
{
    static const struct {
        const char *gres, *nodes;
        struct {
            const char *node, *gpu;
        } measured[2];
        int64_t covered, held, active; /* GPU seconds x 100 */
    } cases[] = {
        {"gpu=1,gpu:h100=1", "g1", {{"g1", "a"}}, 911700, 1000000, 500000},
        {"shard=4", "g1", {{"g1", "a"}}, 911700, 1000000, 500000},
        {"shard=1", "g1", {{"g1", "a"}}, 227925, 250000, 125000},
        {"shard=8",
         "g1",
         {{"g1", "a"}, {"g1", "b"}},
         1823400,
         2000000,
         1000000},
        {"shard=8",
         "g[1-2]",
         {{"g1", "a"}, {"g2", "a"}},
         1823400,
         2000000,
         1000000},
        {"shard=8", "g[1-2]", {{"g2", "a"}}, 911700, 2000000, 500000},
        {"mps=47", "g1", {{"g1", "a"}}, 428499, 470000, 235000},
        {"mps=100", "g1", {{"g1", "a"}}, 911700, 1000000, 500000},
    };
    site_t site;

    test_site (&site, "UTC");
    site.pools[0].shards_per_gpu = 4;
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        const int64_t begin = T0 * 1000, end = (T0 + 10000) * 1000;
        segment_t s
            = test_segment (7, T0, T0 + 10000, cases[i].gres, cases[i].nodes);
        usage_query_t q = {.site = &site, .period = {T0, T0 + 10000}};
        usage_t *u = usage_new (&q);
        device_usage_t usage[2];
        size_t count = 0, cells;
        mpq_t covered, held, active, want;

        for (; count < 2 && cases[i].measured[count].node; count++) {
            device_usage_t *d = &usage[count];
            *d = stretch (cases[i].measured[count].node, -1, begin, end);
            d->gpu = cases[i].measured[count].gpu;
            d->samples_expected = 10000;
            d->samples = 9117;
            d->utilization_ms = end - begin;
            d->utilization_sum = 5000 * (end - begin);
        }
        measure (u, &s, usage, count);
        const usage_cell_t *cell = usage_cells (u, &cells);
        mpq_inits (covered, held, active, want, NULL);
        assert_int_equal (cells, 1);
        usage_cell_covered (cell, offsetof (measured_t, sampled_ms), covered,
                            held);
        assert_true (usage_cell_active_seconds (cell, active));
        exact_set_i64 (want, cases[i].covered, 100);
        if (!mpq_equal (covered, want))
            fail_msg ("case %zu: %.2f s covered", i, mpq_get_d (covered));
        exact_set_i64 (want, cases[i].held, 100);
        if (!mpq_equal (held, want))
            fail_msg ("case %zu: %.2f s held", i, mpq_get_d (held));
        exact_set_i64 (want, cases[i].active, 100);
        if (!mpq_equal (active, want))
            fail_msg ("case %zu: %.2f s active", i, mpq_get_d (active));
        mpq_clears (covered, held, active, want, NULL);
        usage_free (u);
    }
    site.pools[0].shards_per_gpu = 0;
    zone_close (site.zone);
}

TEST_MAIN (NULL, NULL)
