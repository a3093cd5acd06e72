#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>

#include "devices/device.h"
#include "devices/mapping.h"
#include "record/layout.h"
#include "devices/replay.h"

#define SECOND INT64_C (1000000000)

static void scan_text (const char *text, inventory_t *inventory)
{
    gl_error_t error = {""};
    replay_t *replay = replay_parse (text, strlen (text), "test", &error);
    source_t *source;

    if (!replay)
        fail_msg ("%s", error.text);
    source = source_open_replay_parsed (replay, 0, NULL);
    source->ops->scan (source, 0, inventory, NULL);
    source_close (source);
}

static const char cut[]
    = "replay 1\ndriver 570\nboot 11111111-2222-3333-4444-555555555555\n"
      "gpu g0 model=\"NVIDIA A100-SXM4-40GB\" minor=0 memory=40960 "
      "power_limit=400000 pci=00000000:07:00.0\n"
      "slice s0 gi=7 ci=0 profile=1g.5gb compute=1 memory_slices=1 "
      "placement=0:1 memory=4864 file=/d/mig0\n"
      "slice s1 gi=8 ci=0 profile=1g.5gb compute=1 memory_slices=1 "
      "placement=1:1 memory=4864 file=/d/mig1\n";

/* An inventory with Slurm's names, as the agent has it. */
static void cut_inventory (inventory_t *inventory)
{
    static const char slurmd[]
        = "slurmd: Gres Name=gpu Type=1g.5gb Count=2 Index=0 ID=7696487 "
          "File=/d/mig[1,0] (null)\n";
    gres_table_t table = {0};

    scan_text (cut, inventory);
    assert_int_equal (
        gres_table_parse (slurmd, sizeof (slurmd) - 1, &table, NULL), 0);
    mapping_fill (inventory, &table, NULL);
    gres_table_clear (&table);
}

/* Over the wire and back. */
static void add_part (layout_t *layout, const inventory_t *inventory,
                      size_t part, const char *node, int64_t snapshot)
{
    unsigned char bytes[RECORD_MAX];
    record_t record, decoded;
    gl_error_t error = {""};
    size_t size;

    assert_int_equal (
        inventory_record (inventory, part, snapshot, &record, &error), 0);
    record_set_text (&record, RECORD_FIELD_cluster, "lab");
    record_set_text (&record, RECORD_FIELD_node, node);
    size = record_encode (&record, bytes);
    assert_int_equal (record_decode (bytes, size, &decoded, &error), 0);
    assert_true (decoded.stamp == snapshot);
    assert_int_equal (layout_add (layout, &decoded, &error), 0);
}

static void add_all (layout_t *layout, const inventory_t *inventory,
                     const char *node, int64_t snapshot)
{
    for (size_t i = inventory_record_count (inventory); i-- > 0;)
        add_part (layout, inventory, i, node, snapshot);
}

TEST_CASE (layout__inventory_there_and_back__is_the_same)
{
    layout_t *layout = layout_open ();
    inventory_t inventory = {0};
    layout_snapshot_t at;
    const layout_device_t *device;

    cut_inventory (&inventory);
    add_all (layout, &inventory, "m1", 5 * SECOND);
    assert_false (layout_at (layout, "lab", "m1", 5 * SECOND - 1, &at));
    assert_false (layout_at (layout, "lab", "m2", 9 * SECOND, &at));
    assert_false (layout_at (layout, "other", "m1", 9 * SECOND, &at));
    assert_true (layout_at (layout, "lab", "m1", 5 * SECOND, &at));
    assert_int_equal (at.count, 3);
    assert_string_equal (at.device[1].device_source, "replay");
    assert_string_equal (at.device[1].driver, "570");
    assert_string_equal (at.boot_id, "11111111-2222-3333-4444-555555555555");
    assert_string_equal (at.device[0].model, "NVIDIA A100-SXM4-40GB");
    assert_string_equal (at.device[0].slice, "");
    assert_int_equal (at.device[0].power_limit, 400000);
    assert_true (at.device[0].gres_index == LAYOUT_UNKNOWN);
    device = layout_device (&at, 0);
    assert_string_equal (device->slice, "MIG-s1");
    assert_string_equal (device->gpu, "GPU-g0");
    assert_string_equal (device->profile, "1g.5gb");
    assert_string_equal (device->gres_type, "1g.5gb");
    assert_string_equal (device->device_file, "/d/mig1");
    assert_int_equal (device->placement_start, 1);
    assert_null (layout_device (&at, 2));
    assert_null (layout_device (&at, LAYOUT_UNKNOWN));
    layout_close (layout);
    inventory_clear (&inventory);
}

TEST_CASE (layout__snapshots_in_any_order__stand_from_their_moment)
{
    layout_t *layout = layout_open ();
    inventory_t inventory = {0}, none = {.count = 0};
    layout_snapshot_t at;
    size_t cursor = 0;

    cut_inventory (&inventory);
    add_all (layout, &inventory, "m1", 30 * SECOND);
    add_all (layout, &none, "m1", 10 * SECOND);
    add_all (layout, &none, "m1", 10 * SECOND);
    /* of this one a part never arrived */
    add_part (layout, &inventory, 0, "m1", 20 * SECOND);
    add_all (layout, &inventory, "a1", 1 * SECOND);

    assert_true (layout_at (layout, "lab", "m1", 29 * SECOND, &at));
    assert_int_equal (at.count, 0);
    assert_true (layout_until (layout, &at) == 30 * SECOND);
    assert_true (layout_at (layout, "lab", "m1", 31 * SECOND, &at));
    assert_int_equal (at.count, 3);
    assert_true (layout_until (layout, &at) == INT64_MAX);

    assert_true (layout_next (layout, &cursor, &at));
    assert_string_equal (at.node, "a1");
    assert_true (layout_next (layout, &cursor, &at));
    assert_true (layout_next (layout, &cursor, &at));
    assert_true (at.snapshot == 30 * SECOND);
    assert_false (layout_next (layout, &cursor, &at));

    /* late, it stands after all */
    add_part (layout, &inventory, 1, "m1", 20 * SECOND);
    add_part (layout, &inventory, 2, "m1", 20 * SECOND);
    assert_true (layout_at (layout, "lab", "m1", 29 * SECOND, &at));
    assert_int_equal (at.count, 3);
    layout_close (layout);
    inventory_clear (&inventory);
}

TEST_CASE (layout__hostile_parts__are_ignored)
{
    static const struct {
        int64_t part, parts;
    } cases[] = {{0, 1},  {2, 1},  {1, 513},         {1, INT64_MAX},
                 {-1, 1}, {1, -1}, {INT64_MIN, 512}, {513, 512}};
    layout_t *layout = layout_open ();
    layout_snapshot_t at;
    record_t record;

    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        assert_int_equal (record_begin (&record, RECORD_INVENTORY, NULL), 0);
        record_set_number (&record, RECORD_FIELD_snapshot, 1);
        record_set_number (&record, RECORD_FIELD_part, cases[i].part);
        record_set_number (&record, RECORD_FIELD_parts, cases[i].parts);
        assert_int_equal (layout_add (layout, &record, NULL), 0);
    }
    assert_false (layout_at (layout, "", "", INT64_MAX, &at));
    assert_int_equal (record_begin (&record, RECORD_JOB_START, NULL), 0);
    assert_int_equal (layout_add (layout, &record, NULL), 0);
    layout_close (layout);
    layout_close (NULL);
}

TEST_CASE (inventory_equal__each_difference__is_seen)
{
    inventory_t a = {0}, b = {0};

    cut_inventory (&a);
    cut_inventory (&b);
    assert_true (inventory_equal (&a, &b));
    b.device[1].gres_index = 7;
    assert_false (inventory_equal (&a, &b));
    b.device[1].gres_index = a.device[1].gres_index;
    strcpy (b.device[2].problem, "x");
    assert_false (inventory_equal (&a, &b));
    b.device[2].problem[0] = '\0';
    b.device[0].power_limit++;
    assert_false (inventory_equal (&a, &b));
    b.device[0].power_limit--;
    assert_true (inventory_equal (&a, &b));
    b.boot_id[0] = 'x';
    assert_false (inventory_equal (&a, &b));
    inventory_clear (&a);
    inventory_clear (&b);
}

TEST_MAIN (NULL, NULL)
