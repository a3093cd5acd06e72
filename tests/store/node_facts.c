/* What the pass over a store tells of nodes: how many shards a GPU had, and
 * what jobs without GPUs took. */
#include "support/store_fixture.h"
#include "support/test.h"

#include "base/memory.h"
#include "facts/facts.h"
#include "record/record.h"
#include "usage/usage.h"

#define T0 INT64_C (1790000000)
#define HOUR 3600

static gl_error_t error;

#define OK(call)                                    \
    do {                                            \
        if ((call) < 0)                             \
            fail_msg ("%s: %s", #call, error.text); \
    } while (0)

static int teardown (void **state)
{
    (void)state;
    fixture_done ();
    return 0;
}

static void put_event (store_t *store, const char *node, int64_t start,
                       int64_t end, const char *gres, const char *nodelist)
{
    const node_event_t event = {.cluster = "lab",
                                .node = node,
                                .start = T0 + start,
                                .end = end ? T0 + end : 0,
                                .state = node ? NODE_STATE_DOWN : 0,
                                .gres = gres,
                                .nodelist = nodelist};

    OK (store_put_event (store, &event, T0 + 100 * HOUR, NULL, &error));
}

/* What slurmd of the node says: so many shards on each of two GPUs. */
static void put_inventory (store_t *store, const char *node, int64_t start,
                           int64_t shards)
{
    for (int part = 1; part <= 2; part++) {
        unsigned char bytes[RECORD_MAX];
        record_t r;

        OK (record_begin (&r, RECORD_INVENTORY, &error));
        r.stamp = (T0 + start) * INT64_C (1000000000);
        record_set_text (&r, RECORD_FIELD_cluster, "lab");
        record_set_text (&r, RECORD_FIELD_node, node);
        record_set_number (&r, RECORD_FIELD_snapshot, r.stamp);
        record_set_number (&r, RECORD_FIELD_parts, 2);
        record_set_number (&r, RECORD_FIELD_part, part);
        record_set_text (&r, RECORD_FIELD_gpu, part == 1 ? "GPU-1" : "GPU-2");
        record_set_number (&r, RECORD_FIELD_gres_index, part - 1);
        record_set_number (&r, RECORD_FIELD_shards, shards);
        node_record_t row = {.kind = RECORD_INVENTORY,
                             .cluster = "lab",
                             .node = node,
                             .stamp = T0 + start,
                             .payload = bytes,
                             .payload_length = record_encode (&r, bytes)};
        memcpy (row.key, r.key, sizeof (row.key));
        OK (store_put_record (store, &row, NULL, &error));
    }
}

static void put_job (store_t *store, uint64_t id, int64_t start,
                     const char *gres, const char *node, uint64_t cpus)
{
    segment_t s = fixture_segment (id);

    s.time_submit = s.time_start = T0 + start;
    s.time_end = T0 + start + HOUR;
    s.observed_at = T0 + 100 * HOUR;
    s.gres = gres;
    s.gpu_asked = gres[0] != '\0';
    s.gres_requested = NULL;
    s.nodelist = node;
    s.cpus = cpus;
    s.memory_mb = COUNT_UNKNOWN;
    OK (store_put_segment (store, &s, NULL, &error));
}

static site_pool_t pool = {.name = (char *)"big",
                           .nodes = (char *)"g[1-9]",
                           .gpus_per_node = 8,
                           .valid = {SITE_ALWAYS_START, SITE_ALWAYS_END}};

struct told {
    kinds_t *kinds;
    int64_t den[16]; /* of the weight of the job's device; 0: not known */
};

static int take_weight (const fact_t *fact, void *arg, gl_error_t *fail)
{
    struct told *told = arg;
    size_t count;
    const holding_t *h = kinds_of_segment (
        told->kinds, fact->segment, fact->segment->time_start, true, &count);

    (void)fail;
    assert_int_equal (count, 1);
    told->den[fact->segment->id_job]
        = h->kind->weight_known ? h->kind->weight.den : 0;
    return 0;
}

TEST_CASE (trap_23__shards_in_event_rows__tell_of_their_time)
{
    static const struct {
        int64_t start;
        const char *node;
        const char *gres;
        int64_t den;
    } jobs[] = {
        {5, "g1", "shard=3", 0},  /* before any row of the node */
        {20, "g1", "shard=3", 4}, /* 32 of 8 GPUs */
        {60, "g1", "shard=3", 2}, /* and later 16 */
        {60, "g2", "shard=3", 0}, /* of another node nobody tells */
        {120, "g1", "shard=3",
         9}, /* the cluster registered anew: the inventory */
        {120, "g3", "shard=3", 0},
        {220, "g3", "shard=3", 5},  /* alone in its cluster */
        {80, "g4", "shard=3", 0},   /* before its inventory */
        {90, "g4", "shard=3", 7},   /* which tells where no row does */
        {60, "g1", "shard=3", 2},   /* and is not asked where one does */
        {220, "g3", "mps=50", 100}, /* always */
    };
    store_t *store = fixture_open (fixture_store_url ());
    site_t *site = site_default ();
    struct told told;
    store_query_t query = {.gpu_only = true};

    site->pools = &pool;
    site->pool_count = 1;
    told.kinds = kinds_new (site);
    OK (store_begin (store, &error));
    put_event (store, NULL, 0, 100 * 60, "gpu=16,shard=48", "g[1-2]");
    put_event (store, NULL, 100 * 60, 200 * 60, "gpu=24,shard=48", "g[1-3]");
    put_event (store, NULL, 200 * 60, 0, "gpu=8,shard=40", "g3");
    put_event (store, "g1", 10 * 60, 11 * 60, "gpu=8,gpu:x=8,shard=32", NULL);
    put_event (store, "g1", 40 * 60, 50 * 60, "gpu=8,shard=16,shard:x=16",
               NULL);
    put_inventory (store, "g4", 85 * 60, 7);
    put_inventory (store, "g1", 15 * 60, 9);
    for (size_t i = 0; i < GL_ARRAY_SIZE (jobs); i++)
        put_job (store, i + 1, jobs[i].start * 60, jobs[i].gres, jobs[i].node,
                 1);
    OK (store_commit (store, &error));
    OK (facts_each (store, site, &query, take_weight, &told, &error));
    for (size_t i = 0; i < GL_ARRAY_SIZE (jobs); i++)
        if (told.den[i + 1] != jobs[i].den)
            fail_msg ("job %zu: %lld", i + 1, (long long)told.den[i + 1]);
    kinds_free (told.kinds);
    site->pools = NULL;
    site->pool_count = 0;
    site_free (site);
    store_close (store);
}

static void add (const capacity_slice_t *slice, void *arg)
{
    capacity_sum_add (arg, slice->sum);
}

/* 2 of 8 GPUs and, with a job that has none, 96 of 128 CPUs for an hour. */
TEST_CASE (capacity__a_job_without_gpus__strands_what_it_leaves)
{
    store_t *store = fixture_open (fixture_store_url ());
    site_t *site = site_default ();
    store_query_t query = {
        .cluster = "lab", .start = T0, .end = T0 + 2 * HOUR, .gpu_only = true};
    capacity_sum_t sum;
    mpq_t want;

    OK (store_begin (store, &error));
    put_event (store, NULL, -HOUR, 0, "gpu=8", "g1");
    put_job (store, 1, 0, "gpu=2", "g1", 16);
    put_job (store, 2, 0, "", "g1", 80);
    OK (store_commit (store, &error));
    mpq_init (want);
    for (int told = 0; told < 2; told++) {
        site_pool_t one = pool;
        kinds_t *kinds;
        capacity_t *c;
        one.nodes = (char *)"g1";
        one.cpus_per_node = told ? 128 : 0;
        site->pools = &one;
        site->pool_count = 1;
        kinds = kinds_new (site);
        c = capacity_new (site, kinds, (period_t){T0, T0 + 2 * HOUR});
        assert_int_equal (capacity_wants_cpus (c), told);
        capacity_set_as_of (c, "lab", T0 + 2 * HOUR);
        segment_t held = fixture_segment (1);
        held.time_start = T0;
        held.time_end = T0 + HOUR;
        held.gres = "gpu=2";
        held.nodelist = "g1";
        held.cpus = 16;
        capacity_add_segment (c, &held);
        OK (facts_capacity (store, &query, c, &error));
        capacity_sum_init (&sum);
        capacity_each (c, NULL, 0, add, &sum);
        exact_set_i64 (want, told ? 4 * HOUR : 0, 1);
        assert_true (mpq_equal (sum.cpu_stranded, want));
        exact_set_i64 (want, (6 + 8) * HOUR, 1);
        assert_true (mpq_equal (sum.idle, want));
        capacity_sum_clear (&sum);
        capacity_free (c);
        kinds_free (kinds);
    }
    mpq_clear (want);
    site->pools = NULL;
    site->pool_count = 0;
    site_free (site);
    store_close (store);
}

TEST_MAIN_EACH (NULL, teardown)
