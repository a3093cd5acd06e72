/* devices_node.c: GPUs of several vendors in one node, in every combination. */
#include "support/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "devices/level_zero.h"
#include "devices/mapping.h"
#include "devices/nvml.h"
#include "devices/source.h"
#include "support/amd_tree.h"
#include "support/fake_level_zero.h"
#include "support/fake_nvml.h"

#define SECOND INT64_C (1000000000)

enum { NVIDIA = 1, AMD = 2, INTEL = 4 };

typedef struct {
    char root[64];
    char *nvml_path, *lz_path;
    void *nvml_library, *lz_library;
    fake_nvml_t *nvml;
    fake_level_zero_t *lz;
    source_places_t places;
    source_t *source;
    inventory_t inventory;
    sample_t sample[32];
} fixture_t;

static char *library (const char *name)
{
    const char *top = getenv ("abs_top_builddir");

    return xasprintf ("%s/tests/support/.libs/%s.so", top ? top : ".", name);
}

static int set_up (void **state)
{
    fixture_t *f = xcalloc (1, sizeof (*f));

    f->nvml_path = library ("fake_nvml");
    f->lz_path = library ("fake_level_zero");
    f->nvml_library = dlopen (f->nvml_path, RTLD_NOW);
    f->lz_library = dlopen (f->lz_path, RTLD_NOW);
    strcpy (f->root, "/tmp/gl-node-XXXXXX");
    if (!f->nvml_library || !f->lz_library || !mkdtemp (f->root)) {
        fprintf (stderr, "%s\n", dlerror ());
        return -1;
    }
    f->nvml = dlsym (f->nvml_library, "fake_nvml");
    f->lz = dlsym (f->lz_library, "fake_level_zero");
    f->places = (source_places_t){.nvml = f->nvml_path,
                                  .level_zero = f->lz_path,
                                  .sys = f->root,
                                  .proc = f->root};
    amd_tree_text (f->root, "11111111-2222-3333-4444-555555555555\n",
                   "sys/kernel/random/boot_id");
    *state = f;
    return 0;
}

static void stop (fixture_t *f)
{
    source_close (f->source);
    f->source = NULL;
    inventory_clear (&f->inventory);
}

static int tear_down (void **state)
{
    fixture_t *f = *state;
    GL_AUTOFREE char *command = xasprintf ("rm -r '%s'", f->root);

    stop (f);
    dlclose (f->nvml_library);
    dlclose (f->lz_library);
    free (f->nvml_path);
    free (f->lz_path);
    free (f);
    return system (command);
}

static void put_nvidia (fixture_t *f, bool there)
{
    *f->nvml = (fake_nvml_t){.init_status
                             = there ? 0 : NVML_ERROR_DRIVER_NOT_LOADED};
    f->nvml->gpus = 2;
    f->nvml->gpu[0] = (fake_gpu_t){.uuid = "GPU-n0",
                                   .name = "NVIDIA H100 80GB HBM3",
                                   .energy = 100,
                                   .mig = -1};
    f->nvml->gpu[1] = f->nvml->gpu[0];
    f->nvml->gpu[1].uuid = "GPU-n1";
    f->nvml->gpu[1].minor = 1;
    f->nvml->gpu[1].energy = 200;
}

/* An MI300X in CPX mode with two of its partitions, and one that is whole. */
static void put_amd (fixture_t *f, bool there)
{
    amd_node_t node = {.node = 1,
                       .id = 41,
                       .unique = 0xa0,
                       .bus = 0x10,
                       .device_id = 0x74a1,
                       .target = 90402,
                       .render = 128,
                       .dies = 1};
    amd_table_t table = {.format = 1, .content = 6, .energy = 3 << 16};

    if (!there) {
        amd_tree_text (f->root, "", "class/kfd/x");
        amd_tree_remove (f->root, "class/kfd");
        return;
    }
    amd_tree_begin (f->root, 1);
    amd_tree_card (f->root, &node, 5, 1000, 0, 1);
    amd_tree_table (f->root, node.bus, &table);
    amd_tree_node (f->root, &node);
    node.node = 2;
    node.id = 42;
    node.partition = 1;
    node.render = 129;
    amd_tree_node (f->root, &node);
    amd_tree_partition (f->root, &node);
    node = (amd_node_t){.node = 3,
                        .id = 43,
                        .unique = 0xa1,
                        .bus = 0x20,
                        .device_id = 0x74a1,
                        .target = 90402,
                        .render = 130,
                        .dies = 8};
    table.energy = 4 << 16;
    amd_tree_node (f->root, &node);
    amd_tree_card (f->root, &node, 5, 1000, 0, 1);
    amd_tree_table (f->root, node.bus, &table);
}

static void put_intel (fixture_t *f, bool there)
{
    *f->lz = (fake_level_zero_t){.init_result
                                 = there ? 0 : LZ_ERROR_UNINITIALIZED};
    f->lz->count = 1;
    f->lz->device[0]
        = (fake_lz_device_t){.name = "Intel(R) Data Center GPU Max 1100",
                             .model = "",
                             .driver = "1",
                             .uuid = {7},
                             .type = LZ_DEVICE_GPU,
                             .vendor = 0x8086,
                             .bus = 0x4d,
                             .card_power = 1,
                             .powers = 1,
                             .power = {{.value = 5000, .stamp = 1}}};
    amd_tree_text (f->root, "", "bus/pci/devices/0000:4d:00.0/drm/card9/dev");
}

static void put (fixture_t *f, unsigned vendors)
{
    put_nvidia (f, vendors & NVIDIA);
    put_amd (f, vendors & AMD);
    put_intel (f, vendors & INTEL);
}

static void scan (fixture_t *f, int64_t now)
{
    gl_error_t error = {""};

    if (f->source->ops->scan (f->source, now, &f->inventory, &error) < 0)
        fail_msg ("%s", error.text);
}

static void start (fixture_t *f)
{
    gl_error_t error = {""};

    f->source = source_open_node (&f->places, 0, &error);
    if (!f->source)
        fail_msg ("%s", error.text);
    scan (f, 0);
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

/* The devices of each vendor, in this order. */
static const struct {
    unsigned vendor;
    const char *uuid, *source;
    bool slice;
    int64_t energy;
} devices[] = {
    {NVIDIA, "GPU-n0", "nvml", false, 100},
    {NVIDIA, "GPU-n1", "nvml", false, 200},
    {AMD, "GPU-00000000000000a0", "amdgpu", false, 3000},
    {AMD, "GPU-00000000000000a0/0", "amdgpu", true, DEVICE_UNKNOWN},
    {AMD, "GPU-00000000000000a0/1", "amdgpu", true, DEVICE_UNKNOWN},
    {AMD, "GPU-00000000000000a1", "amdgpu", false, 4000},
    {INTEL, "GPU-07000000-0000-0000-0000-000000000000", "level_zero", false, 5},
};

static void expect_devices (const fixture_t *f, unsigned vendors,
                            unsigned working)
{
    size_t count = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (devices); i++) {
        const device_t *d = &f->inventory.device[count];
        if (!(devices[i].vendor & vendors))
            continue;
        assert_true (count < f->inventory.count);
        assert_string_equal (d->uuid, devices[i].uuid);
        assert_string_equal (d->source, devices[i].source);
        assert_int_equal (d->slice, devices[i].slice);
        /* the index moves with those before */
        assert_string_equal (f->inventory.device[d->gpu].pci, d->pci);
        assert_false (f->inventory.device[d->gpu].slice);
        assert_int_equal (f->sample[count].present,
                          (devices[i].vendor & working) != 0);
        assert_true (f->sample[count].energy
                     == (devices[i].vendor & working ? devices[i].energy
                                                     : DEVICE_UNKNOWN));
        count++;
    }
    assert_int_equal (f->inventory.count, count);
    assert_string_equal (f->inventory.boot_id,
                         "11111111-2222-3333-4444-555555555555");
}

TEST_CASE (open__no_vendor_has_a_gpu__names_the_reasons_of_all)
{
    fixture_t *f = *state;
    gl_error_t error = {""};

    put (f, 0);
    assert_null (source_open_node (&f->places, 0, &error));
    assert_non_null (strstr (error.text, "no GPU answers. NVIDIA: "));
    assert_non_null (strstr (error.text, "Driver Not Loaded (9); AMD: "));
    assert_non_null (strstr (error.text, "does not exist; Intel: "));
    assert_non_null (strstr (error.text, "0x78000001"));
}

/* An empty inventory is a fact of its own, if a driver says so. */
TEST_CASE (open__a_driver_without_gpus__is_a_node_without_gpus)
{
    fixture_t *f = *state;
    gl_error_t error = {""};

    put (f, NVIDIA);
    f->nvml->gpus = 0;
    start (f);
    assert_int_equal (f->inventory.count, 0);
    assert_int_equal (look (f, SECOND), 0);
    assert_string_equal (f->source->problem.text, "");
    put_amd (f, true); /* one is loaded */
    assert_int_equal (look (f, 60 * SECOND), 1);
    scan (f, 60 * SECOND);
    look (f, 61 * SECOND);
    expect_devices (f, AMD, AMD);
    stop (f);
    /* not if another vendor's driver has failed: its GPUs may be there */
    put (f, INTEL);
    f->lz->count = 0;
    assert_null (source_open_node (&f->places, 0, &error));
    assert_non_null (strstr (error.text, "Driver Not Loaded (9)"));
    assert_non_null (strstr (error.text, "Intel: the driver shows no GPU"));
}

TEST_CASE (node__each_combination_of_vendors__is_one_inventory)
{
    fixture_t *f = *state;

    for (unsigned vendors = 1; vendors < 8; vendors++) {
        put (f, vendors);
        start (f);
        assert_int_equal (look (f, SECOND), 0);
        expect_devices (f, vendors, vendors);
        assert_string_equal (f->source->problem.text, "");
        stop (f);
    }
}

/* Each vendor goes away while the others stay, and comes back. */
TEST_CASE (node__one_vendor_fails__its_devices_are_absent_until_it_is_back)
{
    fixture_t *f = *state;
    static const struct {
        unsigned vendor;
        const char *problem;
    } cases[] = {{NVIDIA, "NVIDIA GPUs: "},
                 {AMD, "AMD GPUs: "},
                 {INTEL, "Intel GPUs: "}};

    for (size_t i = 0; i < GL_ARRAY_SIZE (cases); i++) {
        unsigned others = 7 & ~cases[i].vendor;

        put (f, 7);
        start (f);
        look (f, SECOND);
        put (f, others);
        if (cases[i].vendor == NVIDIA)
            f->nvml->count_status = NVML_ERROR_DRIVER_NOT_LOADED;
        if (cases[i].vendor == INTEL) {
            f->lz->drivers_result = LZ_ERROR_UNINITIALIZED;
            f->lz->device[0].result = LZ_ERROR_DEVICE_LOST;
        }
        /* Intel's loss alone asks for no scan at once: SIGHUP does */
        assert_int_equal (look (f, 2 * SECOND), cases[i].vendor != INTEL);
        scan (f, 2 * SECOND);
        assert_int_equal (look (f, 3 * SECOND), 0);
        expect_devices (f, 7, others);
        assert_memory_equal (f->source->problem.text, cases[i].problem,
                             strlen (cases[i].problem));
        put (f, 7);
        assert_int_equal (look (f, 4 * SECOND), 0);
        assert_int_equal (look (f, 60 * SECOND), 1); /* tried again */
        expect_devices (f, 7, others);
        scan (f, 60 * SECOND);
        assert_int_equal (look (f, 61 * SECOND), 0);
        expect_devices (f, 7, 7);
        assert_string_equal (f->source->problem.text, "");
        stop (f);
    }
}

TEST_CASE (node__a_driver_that_is_loaded_later__is_found)
{
    fixture_t *f = *state;

    put (f, INTEL);
    start (f);
    look (f, SECOND);
    expect_devices (f, INTEL, INTEL);
    put (f, INTEL | AMD);
    assert_int_equal (look (f, 59 * SECOND), 0);
    assert_int_equal (look (f, 60 * SECOND), 1);
    scan (f, 60 * SECOND);
    look (f, 61 * SECOND);
    expect_devices (f, INTEL | AMD, INTEL | AMD);
    /* a clock that was set back is no reason to wait */
    put (f, 7);
    assert_int_equal (look (f, 1), 1);
}

TEST_CASE (node__all_vendors_fail__the_scan_fails)
{
    fixture_t *f = *state;
    gl_error_t error = {""};

    put (f, AMD);
    start (f);
    put (f, 0);
    assert_int_equal (look (f, SECOND), 1);
    assert_int_equal (
        f->source->ops->scan (f->source, SECOND, &f->inventory, &error), -1);
    assert_non_null (strstr (error.text, "AMD: no amdgpu driver"));
    assert_int_equal (f->inventory.count, 4); /* as it was */
}

/* Slurm's names: files of render nodes, of cards, of NVIDIA. */
TEST_CASE (node__slurm_names__reach_each_vendors_devices)
{
    fixture_t *f = *state;
    static const char slurmd[]
        = "slurmd: Gres Name=gpu Type=h100 Count=2 Index=0 ID=7696487 "
          "File=/dev/nvidia[0-1] (null)\n"
          "slurmd: Gres Name=gpu Type=mi300x_cpx Count=2 Index=128 ID=7696487 "
          "File=/dev/dri/renderD[128-129] (null)\n"
          "slurmd: Gres Name=gpu Type=mi300x Count=1 Index=2 ID=7696487 "
          "File=/dev/dri/renderD130 (null)\n"
          "slurmd: Gres Name=gpu Type=max_1100 Count=1 Index=9 ID=7696487 "
          "File=/dev/dri/card9 (null)\n";
    gres_table_t table = {0};
    size_t found[DEVICES_MAX], unknown;

    put (f, 7);
    start (f);
    assert_int_equal (
        gres_table_parse (slurmd, sizeof (slurmd) - 1, &table, NULL), 0);
    assert_int_equal (mapping_fill (&f->inventory, &table, NULL), 0);
    gres_table_clear (&table);
    assert_int_equal (
        mapping_find_list (&f->inventory, "0-5", found, &unknown, NULL), 6);
    assert_int_equal (unknown, 0);
    assert_string_equal (f->inventory.device[found[1]].uuid, "GPU-n1");
    assert_string_equal (f->inventory.device[found[3]].uuid,
                         "GPU-00000000000000a0/1");
    assert_string_equal (f->inventory.device[found[3]].gres_type, "mi300x_cpx");
    assert_string_equal (f->inventory.device[found[4]].uuid,
                         "GPU-00000000000000a1");
    assert_string_equal (f->inventory.device[found[5]].source, "level_zero");
    /* a GPU that is cut has no name of its own, and that is no problem */
    assert_true (f->inventory.device[2].gres_index == DEVICE_UNKNOWN);
    assert_string_equal (f->inventory.device[2].problem, "");
    /* as ROCR_VISIBLE_DEVICES may have it */
    assert_int_equal (
        mapping_find (&f->inventory, "GPU-00000000000000A1", 20, NULL),
        found[4]);
}

TEST_MAIN_EACH (set_up, tear_down)
