/* agent_track.c: stretches of a node's devices: cuts, holders, energy. */
#include <config.h>

#include <stdio.h>

#include "support/test.h"

#include "base/memory.h"

#include "track.h"

#define STEP 10000
#define HOUR INT64_C (3600000)
#define T0 (INT64_C (490000) * HOUR)
#define BOOT "aaaaaaaa-0000-0000-0000-000000000000"
#define MOST 64

/* A GPU of its own, and one cut into 1g and 3g of 7. */
typedef struct {
    device_t device[4];
    inventory_t inventory;
    sample_t sample[4];
    tracks_t tracks;
    holders_t *holders;
    record_t out[MOST];
    size_t count;
    int64_t now;
} node_t;

static int find (void *arg, const char *token, char uuid[HOLDERS_UUID_SIZE])
{
    (void)arg;
    snprintf (uuid, HOLDERS_UUID_SIZE, "%s", token);
    return 0;
}

static void take (void *arg, const record_t *record)
{
    node_t *node = arg;

    assert_true (node->count < MOST);
    node->out[node->count++] = *record;
}

static void add_device (node_t *node, const char *uuid, size_t gpu,
                        int64_t slices)
{
    device_t *device = &node->device[node->inventory.count];

    snprintf (device->uuid, sizeof (device->uuid), "%s", uuid);
    snprintf (device->model, sizeof (device->model), "H100-SXM5-80GB");
    device->gpu = gpu;
    device->slice = slices > 0;
    device->compute_slices = slices;
    device->power_limit = 700000;
    device->memory_total = 1000;
    device->gres_index = DEVICE_UNKNOWN;
    node->sample[node->inventory.count++]
        = (sample_t){.present = true,
                     .utilization = 5000,
                     .memory_used = 100,
                     .power = slices ? DEVICE_UNKNOWN : 200000,
                     .energy = slices ? DEVICE_UNKNOWN : 0,
                     .clock = DEVICE_UNKNOWN,
                     .throttle = DEVICE_UNKNOWN,
                     .processes = 1};
}

static int set_up (void **state)
{
    node_t *node = xcalloc (1, sizeof (*node));

    node->inventory.device = node->device;
    add_device (node, "GPU-a", 0, 0);
    add_device (node, "GPU-b", 1, 0);
    add_device (node, "MIG-z", 1, 3);
    add_device (node, "MIG-y", 1, 1);
    node->holders = holders_new ("", find, NULL);
    node->tracks = (tracks_t){.interval_ms = STEP,
                              .cut_ms = HOUR,
                              .rule = {50000, 100000, 1800000},
                              .emit = take,
                              .arg = node};
    node->now = T0;
    tracks_update (&node->tracks, &node->inventory, node->holders, T0);
    tracks_look (&node->tracks, &node->inventory, node->sample, T0);
    *state = node;
    return 0;
}

static int tear_down (void **state)
{
    node_t *node = *state;

    tracks_done (&node->tracks);
    holders_free (node->holders);
    free (node);
    return 0;
}

static void job (node_t *node, record_kind_t kind, int64_t id, int64_t ms,
                 const char *device)
{
    record_t record;

    assert_int_equal (record_begin (&record, kind, NULL), 0);
    record.stamp = ms * 1000000;
    record_set_number (&record, RECORD_FIELD_job_id, id);
    record_set_text (&record, RECORD_FIELD_boot_id, BOOT);
    if (device)
        record_set_text (&record, RECORD_FIELD_gpus, device);
    holders_queue (node->holders, &record, HOLDERS_FOREVER);
}

static void pass (node_t *node, int64_t ms, bool rebooted)
{
    tracks_advance (&node->tracks, node->holders, node->now, node->now + ms,
                    &node->inventory, node->sample, rebooted);
    node->now += ms;
}

/* So many looks, each GPU using `mj` in between. */
static void looks (node_t *node, int count, int64_t mj)
{
    for (int i = 0; i < count; i++) {
        node->sample[0].energy += mj;
        node->sample[1].energy += mj;
        pass (node, STEP, false);
    }
}

static void stop (node_t *node)
{
    tracks_cut (&node->tracks, node->now);
}

/* The n-th record of a device and job. */
static const record_t *find_record (const node_t *node, const char *gpu,
                                    const char *slice, int64_t id, int n)
{
    for (size_t i = 0; i < node->count; i++) {
        const record_t *record = &node->out[i];
        if (strcmp (record->gpu, gpu) == 0 && strcmp (record->slice, slice) == 0
            && record->job_id == id && n-- == 0)
            return record;
    }
    return NULL;
}

static const record_t *record_of (const node_t *node, const char *gpu,
                                  const char *slice, int64_t id)
{
    const record_t *record = find_record (node, gpu, slice, id, 0);

    assert_non_null (record);
    assert_null (find_record (node, gpu, slice, id, 1));
    return record;
}

static int64_t energy_of (const node_t *node, const char *gpu)
{
    int64_t sum = 0;

    for (size_t i = 0; i < node->count; i++) {
        if (strcmp (node->out[i].gpu, gpu) == 0)
            sum += node->out[i].energy_mj;
    }
    return sum;
}

/* A look comes some milliseconds after the moment at which it was due. */
TEST_CASE (tracks_advance__a_late_look_at_a_cut__is_of_the_stretch_before)
{
    node_t *node = *state;
    const record_t *first, *second;

    node->now += 7;
    tracks_cut (&node->tracks, node->now);
    node->count = 0;
    looks (node, (int)(HOUR / STEP) + 2, 1000);
    stop (node);
    first = find_record (node, "GPU-a", "", 0, 0);
    second = find_record (node, "GPU-a", "", 0, 1);
    assert_non_null (first);
    assert_non_null (second);
    assert_int_equal (first->end_ms % HOUR, 0);
    assert_int_equal (first->samples, first->samples_expected);
    assert_int_equal (second->samples, second->samples_expected);
}

TEST_CASE (tracks_advance__nobody__one_record_each)
{
    node_t *node = *state;
    const record_t *record;

    looks (node, 3, 1000);
    stop (node);
    assert_int_equal (node->count, 4);
    record = record_of (node, "GPU-a", "", 0);
    assert_false (record_has (record, job_id));
    assert_false (record_has (record, slice));
    assert_false (record_has (record, idle_rule));
    assert_true (record_has (record, holders));
    assert_int_equal (record->holders, 0);
    assert_int_equal (record->begin_ms, T0);
    assert_int_equal (record->end_ms, T0 + 3 * STEP);
    assert_int_equal (record->samples, 3);
    assert_int_equal (record->samples_expected, 3);
    assert_int_equal (record->energy_mj, 3000);
    assert_int_equal (record->energy_ms, 3 * STEP);
    assert_int_equal (record->energy_rule, RECORD_ENERGY_WHOLE);
    assert_int_equal (record->utilization_sum, 5000 * 3 * STEP);
    assert_int_equal (record->power_ms, 3 * STEP);
    assert_int_equal (record->interval_ms, STEP);
}

TEST_CASE (tracks_advance__slices__by_sevenths_and_the_rest)
{
    node_t *node = *state;

    job (node, RECORD_JOB_START, 5, T0, "MIG-z");
    looks (node, 1, 10000);
    stop (node);
    /* sevenths of 10000: 1428.57, 4285.71, 4285.71; the first two get up */
    assert_int_equal (record_of (node, "GPU-b", "MIG-y", 0)->energy_mj, 1428);
    assert_int_equal (record_of (node, "GPU-b", "MIG-z", 5)->energy_mj, 4286);
    assert_int_equal (record_of (node, "GPU-b", "", 0)->energy_mj, 4286);
    assert_int_equal (record_of (node, "GPU-b", "MIG-z", 5)->energy_rule,
                      RECORD_ENERGY_SLICES);
    assert_false (
        record_has (record_of (node, "GPU-b", "MIG-z", 5), power_sum));
    assert_int_equal (energy_of (node, "GPU-b"), 10000);
}

TEST_CASE (tracks_advance__slice_of_unknown_weight__not_divided)
{
    node_t *node = *state;

    node->device[3].compute_slices = DEVICE_UNKNOWN;
    tracks_update (&node->tracks, &node->inventory, node->holders, T0);
    looks (node, 1, 10000);
    stop (node);
    assert_int_equal (record_of (node, "GPU-b", "", 0)->energy_mj, 10000);
    assert_false (
        record_has (record_of (node, "GPU-b", "MIG-z", 0), energy_mj));
}

TEST_CASE (tracks_advance__job_between_looks__part_by_time)
{
    node_t *node = *state;
    const record_t *record;

    job (node, RECORD_JOB_START, 5, T0 + 2500, "GPU-a");
    job (node, RECORD_JOB_END, 5, T0 + 5833, NULL);
    looks (node, 1, 999);
    stop (node);
    record = record_of (node, "GPU-a", "", 5);
    assert_int_equal (record->begin_ms, T0 + 2500);
    assert_int_equal (record->end_ms, T0 + 5833);
    /* 999 x 0.2500 = 249.75, 999 x 0.5833 = 582.7 */
    assert_int_equal (record->energy_mj, 582 - 249);
    assert_int_equal (record->samples, 0);
    assert_int_equal (record->samples_expected, 0);
    assert_int_equal (record->utilization_ms, 3333);
    assert_int_equal (record->holders, 1);
    assert_int_equal (energy_of (node, "GPU-a"), 999);
    assert_non_null (find_record (node, "GPU-a", "", 0, 1));
}

TEST_CASE (tracks_advance__two_jobs__equal_parts)
{
    node_t *node = *state;

    job (node, RECORD_JOB_START, 9, T0, "GPU-a");
    job (node, RECORD_JOB_START, 4, T0 + STEP, "GPU-a");
    looks (node, 2, 1001);
    stop (node);
    assert_int_equal (find_record (node, "GPU-a", "", 9, 0)->energy_mj, 1001);
    assert_int_equal (find_record (node, "GPU-a", "", 9, 0)->energy_rule,
                      RECORD_ENERGY_WHOLE);
    assert_int_equal (record_of (node, "GPU-a", "", 4)->energy_mj, 501);
    assert_int_equal (find_record (node, "GPU-a", "", 9, 1)->energy_mj, 500);
    assert_int_equal (find_record (node, "GPU-a", "", 9, 1)->energy_rule,
                      RECORD_ENERGY_SHARED);
    assert_int_equal (find_record (node, "GPU-a", "", 9, 1)->holders, 2);
    assert_int_equal (energy_of (node, "GPU-a"), 2002);
}

TEST_CASE (tracks_advance__cut__ends_the_stretch)
{
    node_t *node = *state;

    job (node, RECORD_JOB_START, 5, T0, "GPU-a");
    node->tracks.cut_ms = 900000;
    looks (node, 91, 100);
    stop (node);
    assert_int_equal (find_record (node, "GPU-a", "", 5, 0)->end_ms,
                      T0 + 900000);
    assert_int_equal (find_record (node, "GPU-a", "", 5, 1)->begin_ms,
                      T0 + 900000);
    assert_int_equal (find_record (node, "GPU-a", "", 5, 0)->samples, 90);
    assert_int_equal (find_record (node, "GPU-a", "", 5, 1)->samples, 1);
    assert_int_equal (energy_of (node, "GPU-a"), 9100);
}

TEST_CASE (tracks_advance__idle_over_a_cut__run_goes_on)
{
    node_t *node = *state;

    job (node, RECORD_JOB_START, 5, T0, "GPU-a");
    node->tracks.cut_ms = 900000;
    node->sample[0].utilization = 0;
    looks (node, 270, 100);
    stop (node);
    assert_int_equal (find_record (node, "GPU-a", "", 5, 0)->idle_rule, 0);
    assert_int_equal (find_record (node, "GPU-a", "", 5, 1)->idle_rule,
                      RECORD_IDLE_UTILIZATION);
    assert_int_equal (find_record (node, "GPU-a", "", 5, 2)->idle_longest_ms,
                      2700000);
    assert_int_equal (find_record (node, "GPU-a", "", 5, 2)->idle_ms, 900000);
}

TEST_CASE (tracks_advance__gap__not_covered_but_counted)
{
    node_t *node = *state;
    const record_t *record;

    job (node, RECORD_JOB_START, 5, T0, "GPU-a");
    looks (node, 1, 100);
    node->sample[0].energy += 5000;
    pass (node, 25001, false);
    stop (node);
    record = record_of (node, "GPU-a", "", 5);
    assert_int_equal (record->utilization_ms, STEP);
    assert_int_equal (record->samples, 2);
    assert_int_equal (record->samples_expected, 3);
    assert_int_equal (record->energy_mj, 5100);
    assert_int_equal (record->energy_ms, 35001);
}

TEST_CASE (tracks_advance__late_look__speaks)
{
    node_t *node = *state;

    pass (node, 25000, false);
    stop (node);
    assert_int_equal (record_of (node, "GPU-a", "", 0)->utilization_ms, 25000);
}

TEST_CASE (tracks_advance__holder_changes_in_a_gap__unknown)
{
    node_t *node = *state;

    job (node, RECORD_JOB_START, 5, T0 + 60000, "GPU-a");
    node->sample[0].energy += 5000;
    node->sample[1].energy += 7000;
    pass (node, 120000, false);
    stop (node);
    assert_int_equal (energy_of (node, "GPU-a"), 0);
    assert_false (record_has (record_of (node, "GPU-a", "", 5), energy_ms));
    assert_false (
        record_has (record_of (node, "GPU-a", "", 5), counter_resets));
    assert_int_equal (energy_of (node, "GPU-b"), 7000);
}

TEST_CASE (tracks_advance__counter_goes_back__reset)
{
    node_t *node = *state;
    const record_t *record;

    looks (node, 1, 1000);
    node->sample[0].energy = 10;
    pass (node, STEP, false);
    node->sample[0].energy = 110;
    pass (node, STEP, false);
    stop (node);
    record = record_of (node, "GPU-a", "", 0);
    assert_int_equal (record->energy_mj, 1100);
    assert_int_equal (record->energy_ms, 2 * STEP);
    assert_int_equal (record->counter_resets, 1);
    assert_false (
        record_has (record_of (node, "GPU-b", "", 0), counter_resets));
}

TEST_CASE (tracks_advance__impossible_jump__reset)
{
    node_t *node = *state;

    node->sample[0].energy = INT64_C (9000000000000);
    pass (node, STEP, false);
    stop (node);
    assert_int_equal (record_of (node, "GPU-a", "", 0)->counter_resets, 1);
    assert_false (record_has (record_of (node, "GPU-a", "", 0), energy_mj));
}

/* What some drivers' tools say for "none", at one look after the other. */
TEST_CASE (tracks_advance__sentinel__unknown)
{
    node_t *node = *state;

    for (int i = 0; i < 3; i++) {
        node->sample[0].energy = INT64_C (9223372036854775794);
        pass (node, STEP, false);
    }
    stop (node);
    assert_false (record_has (record_of (node, "GPU-a", "", 0), energy_mj));
    assert_false (record_has (record_of (node, "GPU-a", "", 0), energy_ms));
}

TEST_CASE (tracks_advance__reboot__nothing_known)
{
    node_t *node = *state;
    const record_t *record;

    job (node, RECORD_JOB_START, 5, T0, "GPU-a");
    looks (node, 1, 1000);
    node->sample[0].energy += 500;
    holders_reboot (node->holders, BOOT, "b", node->now, node->now + STEP);
    pass (node, STEP, true);
    stop (node);
    record = record_of (node, "GPU-a", "", 5);
    assert_int_equal (record->end_ms, T0 + STEP);
    assert_int_equal (record->energy_mj, 1000);
    record = record_of (node, "GPU-a", "", 0);
    assert_int_equal (record->utilization_ms, 0);
    assert_int_equal (record->counter_resets, 1);
}

TEST_CASE (tracks_advance__counter_unknown_for_a_look__goes_on)
{
    node_t *node = *state;

    looks (node, 1, 1000);
    node->sample[0].energy = DEVICE_UNKNOWN;
    pass (node, STEP, false);
    node->sample[0].energy = 4000;
    pass (node, STEP, false);
    stop (node);
    assert_int_equal (energy_of (node, "GPU-a"), 4000);
    assert_int_equal (record_of (node, "GPU-a", "", 0)->energy_ms, 3 * STEP);
}

/* What ended before the clock was set back ended in a time to come. */
TEST_CASE (tracks_restart__counter_unknown_for_a_look__goes_on)
{
    node_t *node = *state;

    looks (node, 2, 1000);
    stop (node);
    node->count = 0;
    node->now -= HOUR;
    tracks_restart (&node->tracks, node->now);
    looks (node, 1, 1000);
    node->sample[0].energy = DEVICE_UNKNOWN;
    pass (node, STEP, false);
    node->sample[0].energy = 5000;
    pass (node, STEP, false);
    stop (node);
    assert_int_equal (energy_of (node, "GPU-a"), 2000);
}

TEST_CASE (tracks_advance__unknown_over_an_end__lost)
{
    node_t *node = *state;

    job (node, RECORD_JOB_START, 5, T0, "GPU-a");
    job (node, RECORD_JOB_END, 5, T0 + 15000, NULL);
    looks (node, 1, 1000);
    node->sample[0].energy = DEVICE_UNKNOWN;
    pass (node, STEP, false);
    node->sample[0].energy = 4000;
    pass (node, STEP, false);
    node->sample[0].energy = 4500;
    pass (node, STEP, false);
    stop (node);
    assert_int_equal (record_of (node, "GPU-a", "", 5)->energy_mj, 1000);
    assert_int_equal (record_of (node, "GPU-a", "", 0)->energy_mj, 500);
    assert_false (
        record_has (record_of (node, "GPU-a", "", 0), counter_resets));
}

TEST_CASE (tracks_advance__gone_from_the_bus__not_covered)
{
    node_t *node = *state;
    const record_t *record;

    job (node, RECORD_JOB_START, 5, T0, "GPU-a");
    looks (node, 2, 1000);
    node->sample[0].present = false;
    looks (node, 2, 0);
    stop (node);
    record = record_of (node, "GPU-a", "", 5);
    assert_int_equal (record->samples, 2);
    assert_int_equal (record->samples_expected, 4);
    assert_int_equal (record->utilization_ms, 2 * STEP);
    assert_int_equal (record->energy_ms, 2 * STEP);
}

TEST_CASE (tracks_update__layout_changes__old_slices_end)
{
    node_t *node = *state;

    looks (node, 1, 7000);
    node->inventory.count = 3; /* MIG-y is gone */
    tracks_update (&node->tracks, &node->inventory, node->holders, node->now);
    looks (node, 1, 7000);
    stop (node);
    assert_int_equal (record_of (node, "GPU-b", "MIG-y", 0)->end_ms, T0 + STEP);
    assert_int_equal (record_of (node, "GPU-b", "MIG-y", 0)->energy_mj, 1000);
    assert_int_equal (record_of (node, "GPU-b", "MIG-z", 0)->energy_mj, 6000);
    assert_int_equal (record_of (node, "GPU-b", "", 0)->energy_mj, 7000);
}

TEST_CASE (tracks_advance__unnamed_devices__nobody_is_not_said)
{
    node_t *node = *state;
    record_t record;

    assert_int_equal (record_begin (&record, RECORD_JOB_START, NULL), 0);
    record.stamp = T0 * 1000000;
    record_set_number (&record, RECORD_FIELD_job_id, 5);
    record_set_text (&record, RECORD_FIELD_gpus, "GPU-a,GPU-a");
    holders_queue (node->holders, &record, HOLDERS_FOREVER);
    looks (node, 1, 100);
    stop (node);
    assert_false (record_has (record_of (node, "GPU-b", "", 0), holders));
    assert_int_equal (record_of (node, "GPU-a", "", 5)->holders, 1);
}

TEST_CASE (tracks_parse__what_was_printed__goes_on)
{
    node_t *node = *state;
    BUFFER_AUTO first = BUFFER_INIT, second = BUFFER_INIT;
    tracks_t read = node->tracks;
    char *text, *line;

    job (node, RECORD_JOB_START, 5, T0, "GPU-a");
    looks (node, 3, 12345);
    tracks_print (&node->tracks, &first);
    read.track = NULL;
    read.count = 0;
    text = strdup (buffer_text (&first));
    for (line = strtok (text, "\n"); line; line = strtok (NULL, "\n"))
        assert_int_equal (tracks_parse (&read, line), 1);
    free (text);
    assert_true (tracks_parsed (&read));
    tracks_print (&read, &second);
    assert_string_equal (buffer_text (&second), buffer_text (&first));
    tracks_done (&node->tracks);
    node->tracks = read;
    node->count = 0;
    looks (node, 1, 7000);
    stop (node);
    assert_int_equal (record_of (node, "GPU-a", "", 5)->energy_mj,
                      3 * 12345 + 7000);
    assert_int_equal (record_of (node, "GPU-b", "MIG-z", 0)->energy_mj,
                      3 * 5291 + 3000);
}

TEST_MAIN_EACH (set_up, tear_down)
