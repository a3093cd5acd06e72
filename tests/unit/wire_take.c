/* What a record means to the store. */
#include "support/test.h"

#include <stdio.h>

#include "collector/ingest_record.h"
#include "store/store.h"

struct fixture {
    char dir[64];
    char url[128];
    store_t *store;
    ingest_t ingest;
};

static int setup (void **state)
{
    struct fixture *f = calloc (1, sizeof (*f));
    gl_error_t error = {""};

    strcpy (f->dir, "/tmp/gpuledger-ingest.XXXXXX");
    if (!mkdtemp (f->dir))
        return -1;
    snprintf (f->url, sizeof (f->url), "sqlite:%s/ledger.db", f->dir);
    if (store_init (f->url, NULL, &error) < 0)
        return -1;
    f->store = store_open (f->url, 0, &error);
    *state = f;
    return f->store ? 0 : -1;
}

static int teardown (void **state)
{
    struct fixture *f = *state;
    char command[128];
    int status;

    store_close (f->store);
    snprintf (command, sizeof (command), "rm -rf '%s'", f->dir);
    status = system (command);
    free (f);
    return status == 0 ? 0 : -1;
}

static record_t usage_record (int number)
{
    record_t r = {.version = RECORD_VERSION,
                  .kind = RECORD_JOB_USAGE,
                  .stamp = INT64_C (1790000000123456789)};

    r.key[0] = (unsigned char)number;
    record_set_text (&r, RECORD_FIELD_cluster, "lab");
    record_set_text (&r, RECORD_FIELD_node, "g1");
    record_set_number (&r, RECORD_FIELD_job_id, 42);
    record_set_text (&r, RECORD_FIELD_gpu, "GPU-1");
    record_set_number (&r, RECORD_FIELD_begin_ms, 1000);
    record_set_number (&r, RECORD_FIELD_end_ms, 61000);
    record_set_number (&r, RECORD_FIELD_energy_mj, 7000);
    record_set_number (&r, RECORD_FIELD_idle_ms, 0);
    return r;
}

struct bytes {
    unsigned char data[RECORD_MAX];
    size_t size;
};

struct one {
    struct fixture *fixture;
    struct bytes bytes;
};

static int entry_of (const spool_entry_t *entry, void *arg, gl_error_t *error)
{
    struct fixture *f = arg;

    return ingest_record (f->store, &f->ingest, entry, error);
}

static int take_one (store_t *store, void *arg, gl_error_t *error)
{
    struct one *one = arg;

    (void)store;
    return spool_read_buffer (one->bytes.data, one->bytes.size, entry_of,
                              one->fixture, NULL, error);
}

static void take_bytes (struct fixture *f, const struct bytes *bytes)
{
    struct one one = {f, *bytes};
    gl_error_t error = {""};

    if (store_transaction (f->store, take_one, &one, &error) < 0)
        fail_msg ("%s", error.text);
}

static void take_it (struct fixture *f, const record_t *r)
{
    struct bytes bytes;

    bytes.size = record_encode (r, bytes.data);
    take_bytes (f, &bytes);
}

static int count_records (struct fixture *f, uint32_t kind)
{
    store_iter_t *iter = store_iter_open (f->store, STORE_RECORDS, NULL, NULL);
    node_record_t record;
    int count = 0;

    while (store_iter_next (iter, &record, NULL) == 1)
        count += record.kind == kind;
    store_iter_close (iter);
    return count;
}

static int find_usage (struct fixture *f, device_usage_t *ret, char *node)
{
    store_iter_t *iter = store_iter_open (f->store, STORE_USAGE, NULL, NULL);
    store_usage_t usage;
    int count = 0;

    while (store_iter_next (iter, &usage, NULL) == 1) {
        *ret = usage.usage;
        if (node)
            snprintf (node, 32, "%s", usage.usage.node);
        count++;
    }
    store_iter_close (iter);
    return count;
}

TEST_CASE (usage__known_fields__go_into_columns_alone)
{
    struct fixture *f = *state;
    record_t r = usage_record (1);
    device_usage_t usage;
    char node[32];

    take_it (f, &r);
    take_it (f, &r);
    assert_int_equal (f->ingest.counts.inserted, 1);
    assert_int_equal (f->ingest.counts.unchanged, 1);
    assert_int_equal (count_records (f, RECORD_JOB_USAGE), 0);
    assert_int_equal (find_usage (f, &usage, node), 1);
    assert_string_equal (node, "g1");
    assert_int_equal (usage.id_job, 42);
    assert_int_equal (usage.begin_ms, 1000);
    assert_int_equal (usage.end_ms, 61000);
    assert_int_equal (usage.energy_mj, 7000);
    /* 0 is not unknown */
    assert_int_equal (usage.idle_ms, 0);
    assert_true (usage.utilization_sum == MEASURE_UNKNOWN);
    assert_true (usage.gres_index == MEASURE_UNKNOWN);
}

TEST_CASE (usage__of_nobody__has_no_job)
{
    struct fixture *f = *state;
    record_t r = usage_record (1);
    store_query_t query = {.jobs = STORE_OF_NO_JOB};
    store_iter_t *iter;
    store_usage_t usage;

    r.present[0] &= ~(UINT64_C (1) << RECORD_FIELD_job_id);
    r.job_id = 0;
    take_it (f, &r);
    iter = store_iter_open (f->store, STORE_USAGE, &query, NULL);
    assert_int_equal (store_iter_next (iter, &usage, NULL), 1);
    assert_int_equal (usage.usage.id_job, 0);
    store_iter_close (iter);
}

TEST_CASE (usage__without_or_with_impossible_times__is_kept_verbatim)
{
    struct fixture *f = *state;
    record_t r = usage_record (1);
    device_usage_t usage;

    r.present[0] &= ~(UINT64_C (1) << RECORD_FIELD_end_ms);
    take_it (f, &r);
    r = usage_record (2);
    record_set_number (&r, RECORD_FIELD_end_ms, 10);
    take_it (f, &r);
    r = usage_record (3);
    record_set_number (&r, RECORD_FIELD_energy_mj, -77);
    take_it (f, &r);
    r = usage_record (4);
    record_set_number (&r, RECORD_FIELD_energy_mj, INT64_MAX);
    take_it (f, &r);
    r = usage_record (5);
    record_set_number (&r, RECORD_FIELD_utilization_ms,
                       r.end_ms - r.begin_ms + 1);
    take_it (f, &r);
    assert_int_equal (count_records (f, RECORD_JOB_USAGE), 5);
    assert_int_equal (find_usage (f, &usage, NULL), 0);
}

TEST_CASE (job_start__is_kept_with_what_names)
{
    struct fixture *f = *state;
    record_t r = usage_record (1);
    store_iter_t *iter;
    evidence_t evidence;

    r.kind = RECORD_JOB_START;
    memset (r.present, 0, sizeof (r.present));
    record_set_text (&r, RECORD_FIELD_cluster, "lab");
    record_set_text (&r, RECORD_FIELD_node, "g1");
    record_set_number (&r, RECORD_FIELD_job_id, 42);
    record_set_text (&r, RECORD_FIELD_project, "alpha");
    take_it (f, &r);
    assert_int_equal (count_records (f, RECORD_JOB_START), 1);
    iter = store_iter_open (f->store, STORE_EVIDENCE, NULL, NULL);
    assert_int_equal (store_iter_next (iter, &evidence, NULL), 1);
    assert_string_equal (evidence.project, "alpha");
    assert_int_equal (evidence.stamp, 1790000000);
    assert_int_equal (evidence.uid, UINT32_MAX);
    store_iter_close (iter);
}

TEST_CASE (record__of_no_cluster__is_of_the_bringers_or_left_out)
{
    struct fixture *f = *state;
    record_t r = usage_record (1);
    store_cluster_t *clusters;
    size_t count;

    r.kind = RECORD_JOB_END;
    memset (r.present, 0, sizeof (r.present));
    record_set_number (&r, RECORD_FIELD_job_id, 42);
    take_it (f, &r);
    assert_int_equal (f->ingest.homeless, 1);
    assert_int_equal (count_records (f, RECORD_JOB_END), 0);
    f->ingest.cluster = "";
    take_it (f, &r);
    assert_int_equal (f->ingest.homeless, 2);
    f->ingest.cluster = "fox";
    f->ingest.node = "g7";
    take_it (f, &r);
    assert_int_equal (count_records (f, RECORD_JOB_END), 1);
    assert_int_equal (store_clusters (f->store, &clusters, &count, NULL), 0);
    assert_int_equal (count, 1);
    assert_string_equal (clusters[0].name, "fox");
    store_clusters_free (clusters, count);
}

TEST_MAIN_EACH (setup, teardown)
