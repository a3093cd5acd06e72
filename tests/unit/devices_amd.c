/* devices_amd.c: the reader of AMD GPUs, on trees of files as the amdgpu driver
 * shows them. */
#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "devices/amd_metrics.h"
#include "devices/source.h"
#include "support/amd_tree.h"

#define SECOND INT64_C (1000000000)
#define GIB (UINT64_C (1) << 30)
/* 2^-16 J */
#define JOULES(j) ((uint64_t)(j) << 16)
#define FIRST "GPU-00000000000000a1"

typedef struct {
    char root[64];
    source_t *source;
    inventory_t inventory;
    sample_t sample[DEVICES_MAX];
} fixture_t;

static int set_up (void **state)
{
    fixture_t *f = xcalloc (1, sizeof (*f));

    strcpy (f->root, "/tmp/gl-amd-XXXXXX");
    if (!mkdtemp (f->root))
        return -1;
    amd_tree_begin (f->root, 7);
    amd_tree_text (f->root, "6.10.5\n", "module/amdgpu/version");
    *state = f;
    return 0;
}

static int tear_down (void **state)
{
    fixture_t *f = *state;
    GL_AUTOFREE char *command = xasprintf ("rm -r '%s'", f->root);

    source_close (f->source);
    inventory_clear (&f->inventory);
    free (f);
    return system (command);
}

static amd_table_t table (unsigned content, uint64_t energy)
{
    return (amd_table_t){.format = 1,
                         .content = content,
                         .energy = energy,
                         .percent = 55,
                         .watts = 321,
                         .mhz = 2100};
}

/* The i-th MI300X, without partitions. */
static amd_node_t mi300x (unsigned i)
{
    return (amd_node_t){.node = 1 + i,
                        .id = 4000 + i,
                        .unique = 0xa1 + i,
                        .bus = 0x10 + i,
                        .device_id = 0x74a1,
                        .target = 90402,
                        .render = 128 + i,
                        .dies = 8,
                        .memory = 192 * GIB};
}

static void put_mi300x (const fixture_t *f, unsigned i)
{
    amd_node_t node = mi300x (i);
    amd_table_t t = table (4, JOULES (1000 + i));

    amd_tree_node (f->root, &node);
    amd_tree_card (f->root, &node, 87, 345678901, 3 * GIB + 5, 192 * GIB);
    amd_tree_table (f->root, node.bus, &t);
}

static void start (fixture_t *f)
{
    gl_error_t error = {""};

    f->source = source_open_amd (f->root, f->root, &error);
    if (!f->source)
        fail_msg ("%s", error.text);
}

static void scan (fixture_t *f, int64_t now)
{
    gl_error_t error = {""};

    if (f->source->ops->scan (f->source, now, &f->inventory, &error) < 0)
        fail_msg ("%s", error.text);
}

static int look (fixture_t *f, int64_t now)
{
    gl_error_t error = {""};
    int result = f->source->ops->look (f->source, now, &f->inventory, f->sample,
                                       &error);

    if (result < 0)
        fail_msg ("%s", error.text);
    return result;
}

static void open_scan_look (fixture_t *f)
{
    start (f);
    scan (f, 0);
    assert_int_equal (look (f, SECOND), 0);
}

/* ------------------------------------------------------------------------ open */

TEST_CASE (open__no_driver__is_an_error)
{
    gl_error_t error = {""};

    assert_null (source_open_amd ("/nonexistent", "/proc", &error));
    assert_string_equal (error.text,
                         "no amdgpu driver: /nonexistent/class/kfd/kfd/"
                         "topology/nodes does not exist");
}

/* What the kernel does for a process that its device cgroup does not allow. */
TEST_CASE (open__properties_hidden_by_the_device_cgroup__says_what_to_allow)
{
    fixture_t *f = *state;
    gl_error_t error = {""};

    put_mi300x (f, 0);
    amd_tree_text (f->root, "", "class/kfd/kfd/topology/nodes/1/properties");
    assert_null (source_open_amd (f->root, f->root, &error));
    assert_non_null (strstr (error.text, "hides 1 GPUs"));
    assert_non_null (strstr (error.text, "DeviceAllow=char-drm rw"));
}

TEST_CASE (open__processors_only__no_gpu)
{
    fixture_t *f = *state;

    start (f);
    scan (f, 0);
    assert_int_equal (f->inventory.count, 0);
}

/* ------------------------------------------------------------------------ scan */

TEST_CASE (scan__whole_gpus__are_described_in_order_of_their_place)
{
    fixture_t *f = *state;
    const device_t *d;

    for (unsigned i = 8; i-- > 0;)
        put_mi300x (f, i);
    open_scan_look (f);
    assert_int_equal (f->inventory.count, 8);
    d = f->inventory.device;
    assert_string_equal (d[0].uuid, FIRST);
    assert_string_equal (d[7].uuid, "GPU-00000000000000a8");
    assert_string_equal (d[0].source, "amdgpu");
    assert_string_equal (d[0].driver, "6.10.5");
    assert_string_equal (d[0].model, "AMD Instinct MI300X");
    assert_string_equal (d[0].pci, "0000:10:00.0");
    assert_string_equal (d[0].file, "/dev/dri/renderD128");
    assert_string_equal (d[0].card, "/dev/dri/card0");
    assert_int_equal (d[0].minor, 128);
    assert_int_equal (d[0].memory_total, 192 * 1024);
    assert_int_equal (d[0].power_limit, 750000);
    assert_int_equal (d[0].partitioned, 0);
    assert_false (d[0].slice);
    /* what only MIG has stays unknown */
    assert_true (d[0].gpu_instance == DEVICE_UNKNOWN);
    assert_string_equal (d[0].profile, "");
    assert_string_equal (d[0].old_uuid, "");
}

TEST_CASE (scan__names_and_numbers__come_from_where_they_are)
{
    fixture_t *f = *state;
    amd_node_t node = mi300x (0);

    /* not in the table of models, no number of its own, a kernel's driver */
    node.device_id = 0x7550;
    node.unique = 0;
    amd_tree_node (f->root, &node);
    amd_tree_card (f->root, &node, 1, 1, 1, 1);
    amd_tree_text (f->root, "  Radeon PRO X \n",
                   "bus/pci/devices/0000:10:00.0/product_name");
    amd_tree_remove (f->root, "module");
    amd_tree_text (f->root, "6.8.0-45\n", "sys/kernel/osrelease");
    open_scan_look (f);
    assert_string_equal (f->inventory.device[0].model, "Radeon PRO X");
    assert_string_equal (f->inventory.device[0].uuid, "GPU-0000:10:00.0");
    assert_string_equal (f->inventory.device[0].driver, "Linux 6.8.0-45");
    amd_tree_text (f->root, "bad\001name\n",
                   "bus/pci/devices/0000:10:00.0/product_name");
    scan (f, 2 * SECOND);
    assert_string_equal (f->inventory.device[0].model, "AMD GPU 7550");
}

TEST_CASE (scan__graphics_of_a_processor__is_left_out)
{
    fixture_t *f = *state;
    amd_table_t t = table (4, 1);

    put_mi300x (f, 0);
    put_mi300x (f, 1);
    t.format = 2;
    amd_tree_table (f->root, 0x11, &t);
    open_scan_look (f);
    assert_int_equal (f->inventory.count, 1);
    assert_string_equal (f->inventory.device[0].uuid, FIRST);
}

/* ------------------------------------------------------------------------ look */

TEST_CASE (look__values__are_in_our_units)
{
    fixture_t *f = *state;
    sample_t *s = f->sample;

    put_mi300x (f, 0);
    amd_tree_process (f->root, 71, 4000, GIB, true);
    amd_tree_process (f->root, 72, 4000, 0, true);
    amd_tree_process (f->root, 73, 4000, 0, false); /* has it open, no more */
    amd_tree_process (f->root, 74, 4001, GIB, true);
    open_scan_look (f);
    assert_true (s[0].present);
    assert_int_equal (s[0].utilization, 8700);
    assert_int_equal (s[0].memory_used, 3 * 1024);
    assert_int_equal (s[0].power, 345678);
    assert_int_equal (s[0].energy, 1000000);
    assert_int_equal (s[0].clock, 2100);
    assert_int_equal (s[0].processes, 2);
    /* the version with a status in place of counters */
    assert_int_equal (s[0].throttle, 0);
    amd_tree_remove (f->root, "class/kfd/kfd/proc/71");
    amd_tree_remove (f->root, "class/kfd/kfd/proc/72");
    look (f, 2 * SECOND);
    assert_int_equal (s[0].processes, 0);
}

/* Each version of the table, written from the kernel's own structs. */
TEST_CASE (metrics__each_version__gives_the_same_values)
{
    for (unsigned content = 1; content <= 9; content++) {
        unsigned char bytes[AMD_METRICS_SIZE];
        amd_table_t t = table (content, JOULES (5) + 0x8000);
        amd_metrics_t m;
        size_t size;

        t.throttle = content == 3 ? UINT64_C (1) << 32 | 1 : 0x12;
        for (unsigned i = 0; i < 8; i++)
            t.partition[i] = 10 * i;
        size = amd_table_bytes (&t, bytes);
        amd_metrics_read (bytes, size, &m);
        assert_int_equal (m.format, 1);
        assert_int_equal (m.content, content);
        assert_int_equal (m.energy, 5500);
        assert_int_equal (m.activity, 5500);
        assert_int_equal (m.power, 321000);
        assert_int_equal (m.clock, 2100);
        if (content >= 3 && content <= 5)
            assert_int_equal (m.throttle,
                              RECORD_THROTTLE_POWER | RECORD_THROTTLE_THERMAL);
        else
            assert_true (m.throttle == DEVICE_UNKNOWN);
        assert_int_equal (m.residency_known, content >= 6);
        if (content >= 6 && content <= 8)
            assert_int_equal (m.partition_activity[7], 7000);
        else
            assert_true (m.partition_activity[7] == DEVICE_UNKNOWN);
    }
}

/* Short, long, of another version, or of bytes that mean nothing: no value is
 * made of it, and nothing beyond it is read. */
TEST_CASE (metrics__broken_tables__are_unknown)
{
    unsigned char bytes[AMD_METRICS_SIZE] = {0};
    amd_metrics_t m;

    for (unsigned content = 1; content <= 9; content++) {
        amd_table_t t = table (content, JOULES (5));
        size_t size = amd_table_bytes (&t, bytes);

        for (size_t less = 0; less < size; less++) {
            GL_AUTOFREE unsigned char *cut = xmalloc (less + 1);
            memcpy (cut, bytes, less);
            amd_metrics_read (cut, less, &m);
            assert_int_equal (m.format, 0);
            assert_true (m.energy == DEVICE_UNKNOWN);
        }
        /* the header says less than there is */
        bytes[0]--;
        amd_metrics_read (bytes, size, &m);
        if (content < 6 || content == 9)
            assert_int_equal (m.format, 0);
        bytes[0]++;
        bytes[3] = 42;
        amd_metrics_read (bytes, size, &m);
        assert_int_equal (m.format, 0);
    }
}

TEST_CASE (metrics__any_bytes__are_read_safely)
{
    unsigned seed = 20261126;

    for (int round = 0; round < 20000; round++) {
        size_t size = (size_t)(rand_r (&seed) % 4096);
        GL_AUTOFREE unsigned char *bytes = xmalloc (size + 1);
        amd_metrics_t m;

        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)rand_r (&seed);
        if (size >= 4) {
            memcpy (bytes, &(uint16_t){(uint16_t)size}, 2);
            bytes[2] = 1;
            bytes[3] = (unsigned char)(round % 11);
        }
        amd_metrics_read (bytes, size, &m);
        assert_true (m.energy == DEVICE_UNKNOWN || m.energy >= 0);
        assert_true (m.clock == DEVICE_UNKNOWN || m.clock >= 0);
    }
}

TEST_CASE (metrics__all_bits_set__is_unknown)
{
    for (unsigned content = 1; content <= 9; content++) {
        unsigned char bytes[AMD_METRICS_SIZE];
        amd_table_t t = {.format = 1,
                         .content = content,
                         .energy = UINT64_MAX,
                         .percent = UINT16_MAX,
                         .watts = UINT16_MAX,
                         .mhz = UINT16_MAX,
                         .throttle = UINT64_MAX};
        amd_metrics_t m;

        memset (t.residency, 0xff, sizeof (t.residency));
        memset (t.partition, 0xff, sizeof (t.partition));
        amd_metrics_read (bytes, amd_table_bytes (&t, bytes), &m);
        assert_int_equal (m.format, 1);
        assert_true (m.energy == DEVICE_UNKNOWN);
        assert_true (m.activity == DEVICE_UNKNOWN);
        assert_true (m.power == DEVICE_UNKNOWN);
        assert_true (m.clock == DEVICE_UNKNOWN);
        assert_true (m.throttle == DEVICE_UNKNOWN);
        assert_false (m.residency_known);
        assert_true (m.partition_activity[0] == DEVICE_UNKNOWN);
    }
}

TEST_CASE (look__limits__are_told_by_counters_that_grow)
{
    fixture_t *f = *state;
    amd_table_t t = table (6, JOULES (1));
    static const struct {
        int counter;
        int64_t reason;
    } cases[] = {{0, RECORD_THROTTLE_HARDWARE},
                 {1, RECORD_THROTTLE_POWER},
                 {2, RECORD_THROTTLE_THERMAL},
                 {3, RECORD_THROTTLE_THERMAL},
                 {4, RECORD_THROTTLE_THERMAL}};

    put_mi300x (f, 0);
    t.residency[1] = UINT32_MAX - 1;
    amd_tree_table (f->root, 0x10, &t);
    open_scan_look (f);
    assert_int_equal (f->sample[0].throttle, 0);
    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        t.residency[cases[i].counter] += 2; /* one of them wraps */
        amd_tree_table (f->root, 0x10, &t);
        look (f, (int64_t)(i + 2) * SECOND);
        assert_int_equal (f->sample[0].throttle, cases[i].reason);
    }
    look (f, 9 * SECOND);
    assert_int_equal (f->sample[0].throttle, 0);
}

TEST_CASE (look__missing_and_absurd_files__are_unknown_each_alone)
{
    fixture_t *f = *state;
    sample_t *s = f->sample;

    put_mi300x (f, 0);
    open_scan_look (f);
    amd_tree_text (f->root, "300\n",
                   "bus/pci/devices/0000:10:00.0/gpu_busy_percent");
    amd_tree_text (f->root, "-4\n",
                   "bus/pci/devices/0000:10:00.0/mem_info_vram_used");
    amd_tree_text (f->root, "12 W\n",
                   "bus/pci/devices/0000:10:00.0/hwmon/hwmon16/power1_input");
    look (f, 2 * SECOND);
    assert_true (s[0].present);
    /* the table has them, too */
    assert_int_equal (s[0].utilization, 5500);
    assert_int_equal (s[0].power, 321000);
    assert_true (s[0].memory_used == DEVICE_UNKNOWN);
    assert_int_equal (s[0].energy, 1000000);
    amd_tree_remove (f->root, "bus/pci/devices/0000:10:00.0/gpu_metrics");
    amd_tree_text (f->root, "11\n",
                   "bus/pci/devices/0000:10:00.0/gpu_busy_percent");
    look (f, 3 * SECOND);
    assert_true (s[0].present);
    assert_int_equal (s[0].utilization, 1100);
    assert_true (s[0].energy == DEVICE_UNKNOWN);
    assert_true (s[0].clock == DEVICE_UNKNOWN);
    assert_true (s[0].throttle == DEVICE_UNKNOWN);
    assert_true (s[0].processes == DEVICE_UNKNOWN); /* no such directory */
}

/* A table whose unit of energy nothing states, of a GPU that is no MI200. */
TEST_CASE (look__energy_of_unknown_unit__is_unknown)
{
    fixture_t *f = *state;
    amd_node_t node = mi300x (0);
    amd_table_t t = table (3, JOULES (9));

    node.target = 100300;
    amd_tree_node (f->root, &node);
    amd_tree_card (f->root, &node, 1, 1000, 1, 1);
    amd_tree_table (f->root, node.bus, &t);
    open_scan_look (f);
    assert_true (f->sample[0].energy == DEVICE_UNKNOWN);
    assert_int_equal (f->sample[0].clock, 2100);
}

TEST_CASE (look__counter_near_its_end__is_read_whole)
{
    fixture_t *f = *state;
    amd_table_t t = table (4, UINT64_MAX - 1);

    put_mi300x (f, 0);
    amd_tree_table (f->root, 0x10, &t);
    open_scan_look (f);
    /* 2^48 J; what is above ENERGY_COUNTER_MAX would be refused later */
    assert_true (f->sample[0].energy == INT64_C (281474976710655999));
    t.energy = 0; /* and wraps: a smaller number, which is a reset */
    amd_tree_table (f->root, 0x10, &t);
    look (f, 2 * SECOND);
    assert_int_equal (f->sample[0].energy, 0);
}

TEST_CASE (look__lost_gpu__others_go_on_and_it_is_kept)
{
    fixture_t *f = *state;

    put_mi300x (f, 0);
    put_mi300x (f, 1);
    open_scan_look (f);
    amd_tree_remove (f->root, "bus/pci/devices/0000:10:00.0");
    assert_int_equal (look (f, 2 * SECOND), 0);
    assert_false (f->sample[0].present);
    assert_true (f->sample[0].energy == DEVICE_UNKNOWN);
    assert_true (f->sample[1].present);
    /* the kernel takes it out of the topology */
    amd_tree_remove (f->root, "class/kfd/kfd/topology/nodes/1");
    amd_tree_text (f->root, "8\n", "class/kfd/kfd/topology/generation_id");
    assert_int_equal (look (f, 3 * SECOND), 1);
    scan (f, 3 * SECOND);
    assert_int_equal (f->inventory.count, 2);
    assert_string_equal (f->inventory.device[1].uuid, FIRST);
    assert_int_equal (f->inventory.device[1].gpu, 1);
    assert_int_equal (look (f, 4 * SECOND), 0);
    assert_true (f->sample[0].present);
    assert_false (f->sample[1].present);
    /* looked for now and then */
    put_mi300x (f, 0);
    assert_int_equal (look (f, 604 * SECOND), 1);
    scan (f, 604 * SECOND);
    assert_int_equal (f->inventory.count, 2);
    assert_int_equal (look (f, 605 * SECOND), 0);
    assert_true (f->sample[0].present && f->sample[1].present);
}

/* ------------------------------------------------------------------ partitions */

/* An MI300X in CPX mode: eight nodes of the topology at one place. */
static void put_partitions (fixture_t *f, unsigned count)
{
    amd_node_t node = mi300x (0);
    amd_table_t t = table (6, JOULES (77));

    amd_tree_card (f->root, &node, 40, 500000000, 20 * GIB, 192 * GIB);
    amd_tree_text (f->root, count == 8 ? "CPX\n" : "DPX\n",
                   "bus/pci/devices/0000:10:00.0/current_compute_partition");
    for (unsigned i = 0; i < count; i++) {
        node.node = 1 + i;
        node.id = 5000 + i;
        node.partition = i;
        node.render = 128 + i;
        node.dies = 8 / count;
        node.memory = 192 * GIB / count;
        t.partition[i] = 10 + i;
        amd_tree_node (f->root, &node);
        amd_tree_partition (f->root, &node);
    }
    amd_tree_table (f->root, node.bus, &t);
}

TEST_CASE (partitions__cpx__are_slices_of_their_gpu)
{
    fixture_t *f = *state;
    const device_t *d;
    const sample_t *s = f->sample;

    put_partitions (f, 8);
    amd_tree_process (f->root, 9, 5003, 4 * GIB, true);
    amd_tree_process (f->root, 10, 5003, GIB, false);
    open_scan_look (f);
    d = f->inventory.device;
    assert_int_equal (f->inventory.count, 9);
    assert_string_equal (d[0].uuid, FIRST);
    assert_int_equal (d[0].partitioned, 1);
    assert_false (d[0].slice);
    for (unsigned i = 1; i < 9; i++) {
        char text[64];

        assert_true (d[i].slice && d[i].gpu == 0);
        snprintf (text, sizeof (text), FIRST "/%u", i - 1);
        assert_string_equal (d[i].uuid, text);
        snprintf (text, sizeof (text), "/dev/dri/renderD%u", 127 + i);
        assert_string_equal (d[i].file, text);
        assert_string_equal (d[i].profile, "cpx");
        assert_string_equal (d[i].model, "AMD Instinct MI300X");
        assert_int_equal (d[i].compute_slices, 1);
        assert_int_equal (d[i].memory_total, 24 * 1024);
        assert_int_equal (s[i].utilization, (9 + i) * 100);
        assert_true (s[i].energy == DEVICE_UNKNOWN);
        assert_int_equal (s[i].processes, i == 4 ? 2 : 0);
        assert_int_equal (s[i].memory_used, i == 4 ? 5 * 1024 : 0);
    }
    /* the counters are those of the GPU */
    assert_int_equal (s[0].energy, 77000);
    assert_int_equal (s[0].power, 500000);
    assert_true (s[0].utilization == DEVICE_UNKNOWN);
    assert_true (s[0].processes == DEVICE_UNKNOWN);
}

TEST_CASE (partitions__mode_changes__the_gpu_stays_itself)
{
    fixture_t *f = *state;

    put_mi300x (f, 0);
    open_scan_look (f);
    assert_int_equal (f->inventory.count, 1);
    put_partitions (f, 2);
    amd_tree_text (f->root, "9\n", "class/kfd/kfd/topology/generation_id");
    assert_int_equal (look (f, 2 * SECOND), 1);
    scan (f, 2 * SECOND);
    assert_int_equal (f->inventory.count, 3);
    assert_string_equal (f->inventory.device[0].uuid, FIRST);
    assert_string_equal (f->inventory.device[2].uuid, FIRST "/1");
    assert_string_equal (f->inventory.device[2].profile, "dpx");
    assert_int_equal (f->inventory.device[2].compute_slices, 4);
    amd_tree_remove (f->root, "class/kfd/kfd/topology/nodes/2");
    amd_tree_text (f->root, "10\n", "class/kfd/kfd/topology/generation_id");
    scan (f, 3 * SECOND);
    assert_int_equal (f->inventory.count, 1);
}

/* -------------------------------------------------------- two dies in a package */

/* Two MI250X: dies 0 and 1, 2 and 3. One of each counts for both. */
static amd_node_t mi250x (unsigned i)
{
    amd_node_t node = mi300x (i);

    node.device_id = 0x7408;
    node.target = 90010;
    node.dies = 1;
    return node;
}

static void put_dies (const fixture_t *f, const uint64_t energy[4])
{
    static const unsigned links[4][4] = {
        {0, 200000, 50000, 50000},
        {200000, 0, 50000, 100000},
        {50000, 50000, 0, 200000},
        {50000, 100000, 200000, 0},
    };

    for (unsigned i = 0; i < 4; i++) {
        amd_node_t node = mi250x (i);
        amd_table_t t = table (3, energy[i]);

        amd_tree_node (f->root, &node);
        amd_tree_card (f->root, &node, 10 * i, energy[i] ? 400000001 : 0, GIB,
                       64 * GIB);
        amd_tree_table (f->root, node.bus, &t);
        for (unsigned j = 0; j < 4; j++)
            if (i != j)
                amd_tree_link (f->root, 1 + i, 1 + j, links[i][j]);
    }
}

TEST_CASE (dies__of_one_package__share_its_counter)
{
    fixture_t *f = *state;
    const sample_t *s = f->sample;

    put_dies (f, (const uint64_t[]){JOULES (3) + 131, 0, 0, JOULES (8)});
    open_scan_look (f);
    assert_int_equal (f->inventory.count, 4);
    assert_string_equal (f->inventory.device[0].model, "AMD Instinct MI250X");
    /* 3,001 mJ and 8,000 mJ: the parts add up */
    assert_int_equal (s[0].energy, 1501);
    assert_int_equal (s[1].energy, 1500);
    assert_int_equal (s[2].energy, 4000);
    assert_int_equal (s[3].energy, 4000);
    assert_int_equal (s[0].power + s[1].power, 400000);
    assert_int_equal (f->inventory.device[0].power_limit, 375000);
    assert_int_equal (f->inventory.device[1].power_limit, 375000);
    assert_int_equal (s[1].utilization, 1000);
    /* with the die that counts, the energy of both is lost */
    amd_tree_remove (f->root, "bus/pci/devices/0000:10:00.0");
    look (f, 2 * SECOND);
    assert_true (s[1].present);
    assert_true (s[1].energy == DEVICE_UNKNOWN);
    assert_int_equal (s[2].energy, 4000);
}

TEST_CASE (dies__whose_package_nothing_tells__have_no_energy)
{
    fixture_t *f = *state;

    put_dies (f, (const uint64_t[]){JOULES (3), 0, 0, JOULES (8)});
    amd_tree_link (f->root, 1, 3, 200000); /* as wide as that in the package */
    open_scan_look (f);
    for (int i = 0; i < 4; i++) {
        assert_true (f->sample[i].present);
        assert_true (f->sample[i].energy == DEVICE_UNKNOWN);
        assert_true (f->sample[i].power == DEVICE_UNKNOWN);
    }
}

/* MI210: each has a counter of its own, however they are linked. */
TEST_CASE (dies__that_all_count__are_alone)
{
    fixture_t *f = *state;

    put_dies (
        f, (const uint64_t[]){JOULES (1), JOULES (2), JOULES (3), JOULES (4)});
    open_scan_look (f);
    for (int i = 0; i < 4; i++)
        assert_int_equal (f->sample[i].energy, 1000 * (i + 1));
}

TEST_MAIN_EACH (set_up, tear_down)
