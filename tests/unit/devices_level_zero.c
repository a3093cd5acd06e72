/* devices_level_zero.c: the reader of Intel GPUs, with a fake library. */
#include "support/test.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "devices/level_zero.h"
#include "devices/source.h"
#include "support/amd_tree.h"
#include "support/fake_level_zero.h"

#define SECOND INT64_C (1000000000)
#define GIB (UINT64_C (1) << 30)

typedef struct {
    void *library;
    char *path;
    char sys[64];
    fake_level_zero_t *fake;
    source_t *source;
    inventory_t inventory;
    sample_t sample[32];
} fixture_t;

/* Two tiles, each with its own components; the power is that of the card. */
static const fake_lz_device_t max_1550 = {
    .name = "Intel(R) Data Center GPU Max 1550",
    .model = "unknown",
    .driver = "1.3.29735",
    .uuid = {0x86, 0x80, 0xd6, 0x0b, 0x2f, 0, 0, 0, 0x4d, 0, 0, 0, 1, 2, 3, 4},
    .type = LZ_DEVICE_GPU,
    .vendor = 0x8086,
    .bus = 0x4d,
    .pids = {11, 12},
    .pid_count = 2,
    .powers = 3,
    .power = {{.on_tile = 1, .value = 11, .stamp = 1},
              {.value = 5000123, .stamp = 1000000, .limit = 600000},
              {.on_tile = 1, .value = 12, .stamp = 1}},
    .engines = 5,
    .engine = {{.on_tile = 1, .type = 4, .value = 9, .stamp = 9},
               {.on_tile = 1, .type = LZ_ENGINE_COMPUTE, .stamp = 1000000},
               {.on_tile = 1, .type = LZ_ENGINE_COMPUTE, .stamp = 1000000},
               {.on_tile = 1, .type = LZ_ENGINE_ALL, .stamp = 1000000},
               {.on_tile = 1, .type = LZ_ENGINE_ALL, .stamp = 1000000}},
    .memories = 3,
    .memory = {{.on_tile = 1,
                .type = LZ_MEMORY_ON_DEVICE,
                .free = 60 * GIB,
                .size = 64 * GIB},
               {.type = 0, .free = GIB, .size = 512 * GIB},
               {.on_tile = 1,
                .type = LZ_MEMORY_ON_DEVICE,
                .free = 64 * GIB,
                .size = 64 * GIB}},
    .frequencies = 4,
    .frequency = {{.on_tile = 1, .type = LZ_FREQUENCY_GPU, .mhz = 1600},
                  {.on_tile = 1, .type = 1, .mhz = 3200},
                  {.on_tile = 1, .type = LZ_FREQUENCY_GPU, .mhz = 900},
                  {.on_tile = 1, .type = 1, .mhz = 3200}},
};

/* One tile: its components speak of the device. */
static const fake_lz_device_t max_1100 = {
    .name = "Intel(R) Data Center GPU Max 1100",
    .model = "x",
    .driver = "1.3.29735",
    .type = LZ_DEVICE_GPU,
    .vendor = 0x8086,
    .bus = 0x1a,
    .card_power = 1,
    .powers = 1,
    .power = {{.value = 7000, .stamp = 5, .limit = 300000}},
    .engines = 2,
    .engine = {{.type = LZ_ENGINE_ALL, .stamp = 1}, {.type = 4, .stamp = 1}},
    .memories = 1,
    .memory = {{.type = LZ_MEMORY_ON_DEVICE, .free = GIB, .size = 48 * GIB}},
    .frequencies = 1,
    .frequency = {{.mhz = 1000.4}},
};

static int set_up (void **state)
{
    const char *top = getenv ("abs_top_builddir");
    fixture_t *f = xcalloc (1, sizeof (*f));

    f->path = xasprintf ("%s/tests/support/.libs/fake_level_zero.so",
                         top ? top : ".");
    f->library = dlopen (f->path, RTLD_NOW);
    if (!f->library) {
        fprintf (stderr, "%s\n", dlerror ());
        return -1;
    }
    f->fake = dlsym (f->library, "fake_level_zero");
    memset (f->fake, 0, sizeof (*f->fake));
    f->fake->count = 2;
    f->fake->device[0] = max_1550;
    f->fake->device[1] = max_1100;
    strcpy (f->sys, "/tmp/gl-lz-XXXXXX");
    if (!mkdtemp (f->sys))
        return -1;
    amd_tree_text (f->sys, "", "bus/pci/devices/0000:4d:00.0/drm/card1/dev");
    amd_tree_text (f->sys, "",
                   "bus/pci/devices/0000:4d:00.0/drm/renderD129/dev");
    *state = f;
    return 0;
}

static int tear_down (void **state)
{
    fixture_t *f = *state;
    GL_AUTOFREE char *command = xasprintf ("rm -r '%s'", f->sys);
    unsigned wrong = f->fake->wrong;

    source_close (f->source);
    inventory_clear (&f->inventory);
    dlclose (f->library);
    free (f->path);
    free (f);
    return wrong ? -1 : system (command);
}

static void start (fixture_t *f)
{
    gl_error_t error = {""};

    f->source = source_open_level_zero (f->path, f->sys, &error);
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

TEST_CASE (open__no_library_or_another_or_no_driver__is_an_error)
{
    fixture_t *f = *state;
    gl_error_t error = {""};

    assert_null (
        source_open_level_zero ("/nonexistent/libze.so", "/sys", &error));
    assert_non_null (strstr (error.text, "no Level Zero: /nonexistent"));
    assert_null (source_open_level_zero ("libm.so.6", "/sys", &error));
    assert_non_null (strstr (error.text, "no system management"));
    f->fake->init_result = LZ_ERROR_UNINITIALIZED;
    assert_null (source_open_level_zero (f->path, "/sys", &error));
    assert_non_null (
        strstr (error.text, "no driver of an Intel GPU (0x78000001)"));
}

TEST_CASE (scan__gpus__are_described)
{
    fixture_t *f = *state;
    const device_t *d;

    start (f);
    scan (f, 0);
    assert_int_equal (f->inventory.count, 2);
    d = f->inventory.device;
    assert_string_equal (d[0].uuid, "GPU-8680d60b-2f00-0000-4d00-000001020304");
    assert_string_equal (d[0].source, "level_zero");
    assert_string_equal (d[0].driver, "1.3.29735");
    assert_string_equal (d[0].model, "Intel(R) Data Center GPU Max 1550");
    assert_string_equal (d[0].pci, "0000:4d:00.0");
    assert_string_equal (d[0].file, "/dev/dri/renderD129");
    assert_string_equal (d[0].card, "/dev/dri/card1");
    assert_int_equal (d[0].minor, 129);
    assert_int_equal (d[0].memory_total, 128 * 1024);
    assert_int_equal (d[0].power_limit, 600000);
    assert_int_equal (d[0].partitioned, 0);
    assert_true (d[0].gpu == 0 && d[1].gpu == 1);
    /* without a UUID, and with files that cannot be found */
    assert_string_equal (d[1].uuid, "GPU-0000:1a:00.0");
    assert_string_equal (d[1].file, "");
    assert_true (d[1].minor == DEVICE_UNKNOWN);
}

TEST_CASE (scan__other_devices__are_left_out)
{
    fixture_t *f = *state;

    f->fake->count = 5;
    f->fake->device[2] = max_1100;
    f->fake->device[2].flags = LZ_DEVICE_INTEGRATED;
    f->fake->device[3] = max_1100;
    f->fake->device[3].type = 5; /* an accelerator of inference */
    f->fake->device[4] = max_1100;
    f->fake->device[4].vendor = 0x1002;
    start (f);
    scan (f, 0);
    assert_int_equal (f->inventory.count, 2);
}

TEST_CASE (look__values__are_in_our_units)
{
    fixture_t *f = *state;
    fake_lz_device_t *d = &f->fake->device[0];
    const sample_t *s = f->sample;

    start (f);
    scan (f, 0);
    assert_int_equal (look (f, SECOND), 0);
    assert_true (s[0].present);
    /* a counter of the card, 5,000,123 uJ */
    assert_int_equal (s[0].energy, 5000);
    assert_int_equal (s[0].memory_used, 4 * 1024);
    assert_int_equal (s[0].clock, 1250);
    assert_int_equal (s[0].throttle, 0);
    assert_int_equal (s[0].processes, 2);
    /* means over time need two looks */
    assert_true (s[0].utilization == DEVICE_UNKNOWN);
    assert_true (s[0].power == DEVICE_UNKNOWN);
    d->power[1].value += 9000000000;
    d->power[1].stamp += 20000000;
    d->engine[1].value += 10000000;
    d->engine[1].stamp += 20000000;
    d->engine[2].value += 5000000;
    d->engine[2].stamp += 20000000;
    d->frequency[2].throttle = 0x1 | 0x8 | 0x20;
    assert_int_equal (look (f, 21 * SECOND), 0);
    assert_int_equal (s[0].energy, 9005000);
    assert_int_equal (s[0].power, 450000);
    /* half and a quarter */
    assert_int_equal (s[0].utilization, 3750);
    assert_int_equal (s[0].throttle, RECORD_THROTTLE_POWER
                                         | RECORD_THROTTLE_THERMAL
                                         | RECORD_THROTTLE_SETTINGS);
    /* nothing was counted anew: no mean, and not that of the time before */
    look (f, 31 * SECOND);
    assert_true (s[0].utilization == DEVICE_UNKNOWN);
    assert_true (s[0].power == DEVICE_UNKNOWN);
    assert_int_equal (s[0].energy, 9005000);
    assert_int_equal (s[1].energy, 7);
    assert_int_equal (s[1].memory_used, 47 * 1024);
    assert_int_equal (s[1].clock, 1000);
    assert_int_equal (s[1].processes, 0);
}

/* A driver that has no power of the card: the tiles' add up. */
TEST_CASE (look__power_of_tiles__adds_up)
{
    fixture_t *f = *state;
    fake_lz_device_t *d = &f->fake->device[0];

    d->powers = 2;
    d->power[0] = (fake_part_t){
        .on_tile = 1, .value = 1500, .stamp = 1, .limit = 300000};
    d->power[1] = (fake_part_t){
        .on_tile = 1, .value = 700, .stamp = 1, .limit = 300000};
    start (f);
    scan (f, 0);
    look (f, SECOND);
    assert_int_equal (f->sample[0].energy, 2); /* 2,200 uJ */
    assert_int_equal (f->inventory.device[0].power_limit, 600000);
    d->power[1].result = LZ_ERROR_NOT_AVAILABLE;
    look (f, 2 * SECOND);
    assert_true (f->sample[0].energy == DEVICE_UNKNOWN);
    assert_true (f->sample[0].present);
}

TEST_CASE (look__the_agent_itself__is_no_process_of_a_job)
{
    fixture_t *f = *state;

    f->fake->device[0].pids[1] = (uint32_t)getpid ();
    f->fake->device[1].pids[0] = (uint32_t)getpid ();
    f->fake->device[1].pid_count = 1;
    start (f);
    scan (f, 0);
    look (f, SECOND);
    assert_int_equal (f->sample[0].processes, 1);
    assert_int_equal (f->sample[1].processes, 0);
    f->fake->device[0].processes_result = LZ_ERROR_UNSUPPORTED_FEATURE;
    look (f, 2 * SECOND);
    assert_true (f->sample[0].processes == DEVICE_UNKNOWN);
}

TEST_CASE (look__refused_and_absurd_values__are_unknown_each_alone)
{
    fixture_t *f = *state;
    fake_lz_device_t *d = &f->fake->device[0];
    const sample_t *s = f->sample;

    d->engine[2].result = LZ_ERROR_INSUFFICIENT_PERMISSIONS;
    d->frequency[0].mhz = -1;
    d->memory[0].free = 65 * GIB; /* more than there is */
    start (f);
    scan (f, 0);
    look (f, SECOND);
    look (f, 2 * SECOND);
    assert_true (s[0].present);
    assert_true (s[0].utilization == DEVICE_UNKNOWN);
    assert_true (s[0].clock == DEVICE_UNKNOWN);
    assert_true (s[0].memory_used == DEVICE_UNKNOWN);
    assert_int_equal (s[0].energy, 5000);
    d->frequency[0].mhz = NAN;
    d->power[1].value = UINT64_MAX;
    look (f, 3 * SECOND);
    assert_true (s[0].clock == DEVICE_UNKNOWN);
    /* the agent's rules refuse it, as a reset */
    assert_true (s[0].energy == INT64_C (18446744073709551));
}

TEST_CASE (look__counters__that_go_back_or_run_ahead)
{
    fixture_t *f = *state;
    fake_lz_device_t *d = &f->fake->device[1];
    const sample_t *s = f->sample;
    static const struct {
        int64_t active, time, utilization;
    } steps[] = {{1000, 1000, 10000},       {1049, 1000, 10000},
                 {2000, 1000, 20000},       {-500, 1000, DEVICE_UNKNOWN},
                 {100, -1, DEVICE_UNKNOWN}, {300, 1000, 3000}};

    start (f);
    scan (f, 0);
    look (f, SECOND);
    for (size_t i = 0; i < GL_ARRAY_SIZE (steps); i++) {
        d->engine[0].value += (uint64_t)steps[i].active;
        d->engine[0].stamp += (uint64_t)steps[i].time;
        look (f, (int64_t)(i + 2) * SECOND);
        assert_true (s[1].utilization == steps[i].utilization);
    }
    d->power[0].value = 0; /* the driver was loaded anew */
    d->power[0].stamp += 100;
    look (f, 20 * SECOND);
    assert_int_equal (s[1].energy, 0);
    assert_true (s[1].power == DEVICE_UNKNOWN);
}

TEST_CASE (look__lost_gpu__others_go_on_and_it_is_kept)
{
    fixture_t *f = *state;

    start (f);
    scan (f, 0);
    f->fake->device[0].result = LZ_ERROR_DEVICE_LOST;
    assert_int_equal (look (f, SECOND), 0);
    assert_false (f->sample[0].present);
    assert_true (f->sample[1].present);
    assert_int_equal (look (f, 601 * SECOND), 1);
    scan (f, 601 * SECOND);
    assert_int_equal (f->inventory.count, 2);
    assert_string_equal (f->inventory.device[1].model, max_1550.name);
    assert_int_equal (look (f, 602 * SECOND), 0);
    assert_true (f->sample[0].present);
    assert_false (f->sample[1].present);
    f->fake->device[0].result = 0;
    assert_int_equal (look (f, 1202 * SECOND), 1);
    scan (f, 1202 * SECOND);
    assert_int_equal (f->inventory.count, 2);
    look (f, 1203 * SECOND);
    assert_true (f->sample[0].present && f->sample[1].present);
}

TEST_CASE (scan__drivers_cannot_be_listed__fails_and_keeps_what_was)
{
    fixture_t *f = *state;
    gl_error_t error = {""};

    start (f);
    scan (f, 0);
    f->fake->drivers_result = LZ_ERROR_UNINITIALIZED;
    assert_int_equal (
        f->source->ops->scan (f->source, SECOND, &f->inventory, &error), -1);
    assert_non_null (strstr (error.text, "0x78000001"));
    assert_int_equal (f->inventory.count, 2);
}

TEST_MAIN_EACH (set_up, tear_down)
