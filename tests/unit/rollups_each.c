/* What a report reads of rollups, some kept and some not. */
#include <string.h>

#include "support/book.h"
#include "support/store_fixture.h"
#include "support/test.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "facts/rollups.h"
#include "record/record.h"

#define DAY 86400
#define FIRST 1792800000 /* 2026-10-24 in UTC */

static gl_error_t error;

#define OK(call)                                    \
    do {                                            \
        if ((call) < 0)                             \
            fail_msg ("%s: %s", #call, error.text); \
    } while (0)

/* One job in each of three days; as-of is noon of the last one, the only one
 * that is kept. */
static store_t *store_of_days (const site_t *site)
{
    store_t *store = fixture_open (fixture_store_url ());
    rollups_result_t result;

    OK (store_begin (store, &error));
    for (int i = 0; i < 3; i++) {
        segment_t s = fixture_segment ((uint64_t)i + 1);
        s.time_start = FIRST + i * DAY + 3600;
        s.time_end = s.time_start + 3600;
        s.observed_at = FIRST + 2 * DAY + DAY / 2;
        OK (store_put_segment (store, &s, NULL, &error));
    }
    OK (store_commit (store, &error));
    OK (rollups_refresh (store, site, NULL, NULL, &result, &error));
    OK (store_begin (store, &error));
    OK (store_forget_rollups (store, "lab", 1, FIRST + 2 * DAY, &error));
    OK (store_commit (store, &error));
    return store;
}

struct taken {
    int count;
    int fail_at;
    int64_t seconds;
};

static int take (const rollup_t *rollup, void *arg, gl_error_t *reterr)
{
    struct taken *taken = arg;

    if (taken->count++ == taken->fail_at)
        return gl_error (reterr, "refused");
    taken->seconds += period_seconds (rollup_period (rollup));
    return 0;
}

static int read_days (store_t *store, const site_t *site, struct taken *taken)
{
    report_cluster_t lab = {.name = "lab", .as_of = FIRST + 2 * DAY + DAY / 2};
    report_query_t query = {.site = site,
                            .period = {FIRST, lab.as_of},
                            .clusters = &lab,
                            .cluster_count = 1};
    rollups_query_t days = {.query = &query, .period = query.period};

    return rollups_each (store, &days, take, taken, &error);
}

TEST_CASE (each__a_day_cannot_be_taken__fails_there)
{
    site_t site = {.zone = zone_open ("UTC", &error)};
    store_t *store = store_of_days (&site);
    struct taken taken = {.fail_at = -1};

    assert_non_null (site.zone);
    OK (read_days (store, &site, &taken));
    assert_int_equal (taken.count, 3);
    assert_int_equal (taken.seconds, 2 * DAY + DAY / 2);
    for (int i = 0; i < 3; i++) {
        taken = (struct taken){.fail_at = i};
        assert_int_equal (read_days (store, &site, &taken), -1);
        assert_int_equal (taken.count, i + 1);
        assert_string_equal (error.text, "refused");
    }
    store_close (store);
    zone_close (site.zone);
    fixture_done ();
}

/* --- inventories that come late ---------------------------------------- */

static void put_inventory (store_t *store, int64_t at, int64_t index)
{
    node_record_t n = {.kind = RECORD_INVENTORY,
                       .cluster = "lab",
                       .node = "g001",
                       .stamp = at};
    uint8_t bytes[RECORD_MAX];
    record_t r;

    OK (record_begin (&r, RECORD_INVENTORY, &error));
    r.stamp = at * INT64_C (1000000000);
    record_set_number (&r, RECORD_FIELD_snapshot, r.stamp);
    record_set_number (&r, RECORD_FIELD_parts, 1);
    record_set_number (&r, RECORD_FIELD_part, 1);
    record_set_number (&r, RECORD_FIELD_gres_index, index);
    record_set_text (&r, RECORD_FIELD_gpu,
                     "GPU-6b1f5f4c-6c1d-4e4b-9a58-0d3ab1d1a0f1");
    record_set_text (&r, RECORD_FIELD_slice, "MIG-x");
    record_set_text (&r, RECORD_FIELD_profile, "1g.10gb");
    record_set_text (&r, RECORD_FIELD_model, "NVIDIA H100 80GB HBM3");
    memcpy (n.key, r.key, sizeof (n.key));
    n.payload_length = record_encode (&r, bytes);
    n.payload = bytes;
    OK (store_begin (store, &error));
    OK (store_put_record (store, &n, NULL, &error));
    OK (store_commit (store, &error));
}

/* It held device 3 of g001, of a type that accounting does not tell. */
static void put_job (store_t *store)
{
    segment_t s = fixture_segment (7);
    evidence_t seen = {.node = "g001", .gpus = "3", .uid = 1000, .source = 1};
    node_record_t n = {.kind = RECORD_JOB_START,
                       .cluster = "lab",
                       .node = "g001",
                       .id_job = 7,
                       .stamp = FIRST + 3601,
                       .evidence = &seen};
    uint8_t bytes[RECORD_MAX];
    record_t r;

    s.gres = "gpu=1";
    s.nodelist = "g001";
    s.nodes = 1;
    s.time_start = FIRST + 3600;
    s.time_end = FIRST + 2 * DAY + 3600;
    s.observed_at = FIRST + 3 * DAY;
    OK (record_begin (&r, RECORD_JOB_START, &error));
    r.stamp = n.stamp * INT64_C (1000000000);
    record_set_number (&r, RECORD_FIELD_job_id, 7);
    record_set_number (&r, RECORD_FIELD_uid, 1000);
    record_set_text (&r, RECORD_FIELD_node, "g001");
    record_set_text (&r, RECORD_FIELD_gpus, "3");
    memcpy (n.key, r.key, sizeof (n.key));
    n.payload_length = record_encode (&r, bytes);
    n.payload = bytes;
    OK (store_begin (store, &error));
    OK (store_put_segment (store, &s, NULL, &error));
    OK (store_put_record (store, &n, NULL, &error));
    OK (store_commit (store, &error));
}

static int encode (const rollup_t *rollup, void *arg, gl_error_t *reterr)
{
    (void)reterr;
    rollup_encode (rollup, arg);
    return 0;
}

/* How many days of the job are kept; each is what the facts say today. */
static int right_days (store_t *store, const site_t *site)
{
    store_iter_t *iter = store_iter_open (store, STORE_DAYS, NULL, &error);
    BUFFER_AUTO fresh = BUFFER_INIT;
    rollups_basis_t basis;
    store_rollup_t kept;
    int days = 0;

    OK (rollups_basis (store, site, "lab", &basis, &error));

    while (store_iter_next (iter, &kept, &error) == 1) {
        if (kept.start < FIRST)
            continue;
        buffer_clear (&fresh);
        OK (rollups_compute (&basis, FIRST + 3 * DAY,
                             (period_t){kept.start, kept.end}, encode, &fresh,
                             &error));
        assert_int_equal (fresh.length, kept.length);
        assert_memory_equal (fresh.data, kept.body, kept.length);
        days++;
    }
    store_iter_close (iter);
    rollups_basis_clear (&basis);
    return days;
}

TEST_CASE (inventory__comes_later__kept_days_are_right)
{
    static const struct {
        int64_t after_start;
        int left; /* of the three days */
    } cases[] = {{1800, 0}, {DAY + 43200, 1}};
    site_t site = {.zone = zone_open ("UTC", &error)};
    rollups_result_t result;

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        store_t *store = fixture_open (fixture_store_url ());
        put_job (store);
        put_inventory (store, FIRST - DAY, 0);
        OK (rollups_refresh (store, &site, NULL, NULL, &result, &error));
        assert_int_equal (right_days (store, &site), 3);
        put_inventory (store, FIRST + 3600 + cases[i].after_start, 3);
        assert_int_equal (right_days (store, &site), cases[i].left);
        store_close (store);
        fixture_done ();
    }
    zone_close (site.zone);
}

/* --- an end that becomes known ------------------------------------------ */

static void put_seen (store_t *store, int64_t start, int64_t end, int64_t seen)
{
    segment_t s = fixture_segment (9);

    s.gres = "gpu=1";
    s.nodelist = "g001";
    s.time_start = start;
    s.time_end = end;
    s.observed_at = seen;
    s.state = end ? SEGMENT_COMPLETED : SEGMENT_RUNNING;
    OK (store_begin (store, &error));
    OK (store_put_segment (store, &s, NULL, &error));
    OK (store_commit (store, &error));
}

/* What is billed of a job is decided by its end: of all its days if it is free. */
TEST_CASE (end__becomes_known__kept_days_are_right)
{
    static const struct {
        int64_t start, seen, end; /* after the first midnight */
    } cases[] = {{-600, 300, 900}, {-7200, 0, 0}, {-7200, 300, 300}};
    site_t *site = book_new ("UTC");
    rollups_result_t result;

    book_pool (site, "h100", "g001", 4);
    site->policy.grace = 3600;
    site->policy.minimum = 4 * 3600;
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        store_t *store = fixture_open (fixture_store_url ());
        int64_t midnight = FIRST + DAY;
        put_seen (store, midnight + cases[i].start, 0,
                  midnight + cases[i].seen);
        OK (rollups_refresh (store, site, NULL, NULL, &result, &error));
        put_seen (store, midnight + cases[i].start, midnight + cases[i].end,
                  FIRST + 3 * DAY);
        right_days (store, site);
        store_close (store);
        fixture_done ();
    }
    site_free (site);
}

TEST_MAIN (NULL, NULL)
