#include "support/test.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "devices/nvml.h"
#include "devices/source.h"
#include "support/fake_nvml.h"

#define SECOND INT64_C (1000000000)

/* The library as the build left it. */
static char *fake_path (const char *name)
{
    const char *top = getenv ("abs_top_builddir");

    return xasprintf ("%s/tests/support/.libs/%s.so", top ? top : ".", name);
}

typedef struct {
    void *library;
    char *path;
    char *proc;
    fake_nvml_t *fake;
    source_t *source;
    inventory_t inventory;
    sample_t sample[32];
} fixture_t;

static const fake_gpu_t whole = {.uuid = "GPU-aaaa",
                                 .name = "NVIDIA H100 80GB HBM3",
                                 .minor = 3,
                                 .bus = 0x18,
                                 .memory_mib = 81559,
                                 .used_mib = 1000,
                                 .energy = 123456789,
                                 .power = 345678,
                                 .power_limit = 700000,
                                 .clock = 1980,
                                 .utilization = 87,
                                 .throttle = 4,
                                 .compute = 2,
                                 .mig = 0};

static const fake_gpu_t cut
    = {.uuid = "GPU-bbbb",
       .name = "NVIDIA H100 80GB HBM3",
       .minor = 1,
       .memory_mib = 81559,
       .energy = 5,
       .power = 200000,
       .utilization = 50,
       .mig = 1,
       .gpm = 1,
       .slices = 4,
       .slice = {{.uuid = "MIG-1",
                  .name = "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
                  .gpu_instance = 9,
                  .profile_id = 20,
                  .start = 4,
                  .size = 1,
                  .gpu_slices = 1,
                  .compute_slices = 1,
                  .memory_mib = 9984,
                  .used_mib = 12,
                  .processes = 1,
                  .activity = 37.5},
                 {.uuid = "gone", .gone = NVML_ERROR_NOT_FOUND},
                 {.uuid = "MIG-2",
                  .name = "NVIDIA H100 80GB HBM3",
                  .gpu_instance = 1,
                  .compute_instance = 0,
                  .profile_id = 9,
                  .size = 4,
                  .gpu_slices = 3,
                  .compute_slices = 1,
                  .memory_mib = 40448},
                 {.uuid = "MIG-GPU-bbbb/1/1",
                  .name = "NVIDIA H100 80GB HBM3",
                  .gpu_instance = 1,
                  .compute_instance = 1,
                  .profile_id = 9,
                  .size = 4,
                  .gpu_slices = 3,
                  .compute_slices = 2,
                  .memory_mib = 40448}}};

/* DIR/driver/nvidia/capabilities/gpu1/mig/gi9/[ci0/]access */
static void write_capability (const char *proc, const char *rest, int minor)
{
    char path[512];
    FILE *file;

    snprintf (path, sizeof (path), "%s%s", proc, rest);
    for (char *slash = path + strlen (proc) + 1; (slash = strchr (slash, '/'));
         slash++) {
        *slash = '\0';
        mkdir (path, 0755);
        *slash = '/';
    }
    file = fopen (path, "w");
    fprintf (file, "DeviceFileMinor: %d\nDeviceFileMode: 292\n", minor);
    fclose (file);
}

static int open_variant (void **state, const char *name)
{
    fixture_t *f = xcalloc (1, sizeof (*f));
    char proc[] = "/tmp/gl-nvml-XXXXXX";

    f->path = fake_path (name);
    f->library = dlopen (f->path, RTLD_NOW);
    if (!f->library) {
        fprintf (stderr, "%s\n", dlerror ());
        return -1;
    }
    f->fake = dlsym (f->library, "fake_nvml");
    memset (f->fake, 0, sizeof (*f->fake));
    f->fake->gpus = 2;
    f->fake->gpu[0] = whole;
    f->fake->gpu[1] = cut;
    f->proc = xstrdup (mkdtemp (proc));
    write_capability (f->proc,
                      "/driver/nvidia/capabilities/gpu1/mig/gi9/access", 84);
    write_capability (
        f->proc, "/driver/nvidia/capabilities/gpu1/mig/gi9/ci0/access", 85);
    *state = f;
    return 0;
}

static int setup (void **state)
{
    return open_variant (state, "fake_nvml");
}

static int setup_old (void **state)
{
    return open_variant (state, "fake_nvml_old");
}

static int teardown (void **state)
{
    fixture_t *f = *state;
    GL_AUTOFREE char *command = xasprintf ("rm -r '%s'", f->proc);

    source_close (f->source);
    inventory_clear (&f->inventory);
    if (system (command) != 0)
        return -1;
    dlclose (f->library);
    free (f->path);
    free (f->proc);
    free (f);
    return 0;
}

static void start (fixture_t *f)
{
    gl_error_t error = {""};

    f->source = source_open_nvml (f->path, f->proc, &error);
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

static void open__no_library_or_another__is_an_error (void **state)
{
    fixture_t *f = *state;
    gl_error_t error = {""};

    assert_null (
        source_open_nvml ("/nonexistent/libnvidia-ml.so.1", "/proc", &error));
    assert_non_null (strstr (error.text, "no NVML: /nonexistent"));
    assert_null (source_open_nvml ("libm.so.6", "/proc", &error));
    assert_non_null (strstr (error.text, "not NVIDIA's"));
    f->fake->init_status = NVML_ERROR_DRIVER_NOT_LOADED;
    assert_null (source_open_nvml (f->path, f->proc, &error));
    assert_non_null (strstr (error.text, "Driver Not Loaded (9)"));
}

static void scan__gpus_and_slices__are_described (void **state)
{
    fixture_t *f = *state;
    const device_t *d;

    start (f);
    scan (f, 0);
    d = f->inventory.device;
    assert_int_equal (f->inventory.count, 5);
    assert_string_equal (d[0].source, "nvml");
    assert_string_equal (d[2].source, "nvml");
    assert_string_equal (d[0].driver, "570.86.15");
    assert_string_equal (d[2].driver, "570.86.15");
    assert_string_equal (d[0].uuid, "GPU-aaaa");
    assert_string_equal (d[0].model, "NVIDIA H100 80GB HBM3");
    assert_string_equal (d[0].pci, "00000000:18:00.0");
    assert_string_equal (d[0].file, "/dev/nvidia3");
    assert_int_equal (d[0].minor, 3);
    assert_int_equal (d[0].memory_total, 81559);
    assert_int_equal (d[0].power_limit, 700000);
    assert_int_equal (d[0].partitioned, 0);
    assert_int_equal (d[1].partitioned, 1);

    assert_string_equal (d[2].uuid, "MIG-1");
    assert_string_equal (d[2].old_uuid, "MIG-GPU-bbbb/9/0");
    assert_true (d[2].slice && d[2].gpu == 1);
    /* the media extensions are in the profile only */
    assert_string_equal (d[2].profile, "1g.10gb+me");
    assert_int_equal (d[2].compute_slices, 1);
    assert_int_equal (d[2].memory_slices, 1);
    assert_int_equal (d[2].placement_start, 4);
    assert_int_equal (d[2].gpu_instance_minor, 84);
    assert_int_equal (d[2].compute_instance_minor, 85);
    assert_string_equal (d[2].file, "/dev/nvidia-caps/nvidia-cap85");
    assert_int_equal (d[2].minor, 1);
    assert_int_equal (d[2].memory_total, 9984);

    assert_string_equal (d[3].profile, "1c.3g.40gb");
    assert_true (d[3].gpu_instance_minor == DEVICE_UNKNOWN);
    assert_string_equal (d[3].file, "");
    assert_string_equal (d[4].old_uuid, "MIG-GPU-bbbb/1/1");
    assert_int_equal (d[4].compute_slices, 2);
}

static void
scan__profile_by_name_or_sizes__where_the_driver_is_older (void **state)
{
    fixture_t *f = *state;

    /* no info of the GPU instance: by the slice's name, else by its sizes */
    f->fake->gpu[1].slice[0].size = 0;
    f->fake->gpu[1].slice[2].size = 0;
    f->fake->gpu[1].slice[3].size = 0;
    f->fake->gpu[1].slice[3].compute_slices = 3;
    start (f);
    scan (f, 0);
    assert_string_equal (f->inventory.device[2].profile, "1g.10gb");
    assert_true (f->inventory.device[2].placement_size == DEVICE_UNKNOWN);
    assert_string_equal (f->inventory.device[3].profile, "1c.3g.40gb");
    assert_string_equal (f->inventory.device[4].profile, "3g.40gb");
}

static void look__values__are_in_our_units (void **state)
{
    fixture_t *f = *state;
    sample_t *s = f->sample;

    start (f);
    scan (f, 0);
    /* nothing can be measured between two moments that are one */
    assert_int_equal (look (f, 0), 0);
    assert_true (s[2].utilization == DEVICE_UNKNOWN);
    assert_int_equal (look (f, SECOND), 0);
    assert_true (s[0].present);
    assert_int_equal (s[0].utilization, 8700);
    assert_int_equal (s[0].memory_used, 1000);
    assert_int_equal (s[0].power, 345678);
    assert_int_equal (s[0].energy, 123456789);
    assert_int_equal (s[0].clock, 1980);
    assert_int_equal (s[0].throttle, 4);
    assert_int_equal (s[0].processes, 2);
    /* NVML gives a number for a GPU in MIG mode here; it means nothing */
    assert_true (s[1].utilization == DEVICE_UNKNOWN);
    assert_int_equal (s[1].power, 200000);
    assert_int_equal (s[2].utilization, 3750);
    assert_int_equal (s[2].processes, 1);
    assert_int_equal (s[2].memory_used, 12);
    assert_true (s[2].energy == DEVICE_UNKNOWN);
    /* two compute instances: what their GPU instance does is neither's */
    assert_true (s[3].utilization == DEVICE_UNKNOWN);
    f->fake->gpu[1].slice[0].activity = NAN;
    look (f, 2 * SECOND);
    assert_true (s[2].utilization == DEVICE_UNKNOWN);
    f->fake->gpu[1].slice[0].activity = 1e300;
    look (f, 3 * SECOND);
    assert_true (s[2].utilization == INT64_MAX);
    assert_int_equal (f->fake->samples, 2);
    source_close (f->source);
    f->source = NULL;
    assert_int_equal (f->fake->samples, 0);
    assert_int_equal (f->fake->shutdowns, 1);
}

static void look__absurd_and_unsupported_values__are_safe (void **state)
{
    fixture_t *f = *state;
    sample_t *s = f->sample;

    f->fake->gpu[0].energy = 0xfffffffffffffff0ull;
    f->fake->gpu[0].utilization = 0xffffffff;
    f->fake->gpu[0].power = 0xffffffff;
    start (f);
    scan (f, 0);
    look (f, SECOND);
    assert_true (s[0].energy == INT64_MAX);
    assert_true (s[0].utilization == INT64_C (429496729500));
    assert_true (s[0].power == INT64_C (4294967295));
    f->fake->gpu[0].status = NVML_ERROR_NOT_SUPPORTED;
    assert_int_equal (look (f, 2 * SECOND), 0);
    assert_true (s[0].present);
    assert_true (s[0].energy == DEVICE_UNKNOWN);
    assert_true (s[0].memory_used == DEVICE_UNKNOWN);
    assert_true (s[0].processes == DEVICE_UNKNOWN);
}

static void look__processes_of_any_kind__are_not_none (void **state)
{
    fixture_t *f = *state;

    f->fake->gpu[0].compute = 0;
    f->fake->gpu[0].mps = 3;
    start (f);
    scan (f, 0);
    look (f, SECOND);
    assert_int_equal (f->sample[0].processes, 3);
    f->fake->gpu[0].graphics = 1;
    look (f, SECOND);
    assert_int_equal (f->sample[0].processes, 1);
    f->fake->gpu[0].graphics = f->fake->gpu[0].mps = 0;
    look (f, SECOND);
    assert_int_equal (f->sample[0].processes, 0);
}

static void look__lost_gpu__others_go_on_and_it_is_kept (void **state)
{
    fixture_t *f = *state;

    start (f);
    scan (f, 0);
    f->fake->gpu[1].lost = NVML_ERROR_GPU_IS_LOST;
    assert_int_equal (look (f, SECOND), 0);
    assert_true (f->sample[0].present);
    for (int i = 1; i < 5; i++)
        assert_false (f->sample[i].present);
    assert_true (f->sample[1].energy == DEVICE_UNKNOWN);
    /* looked for now and then, with NVML started anew */
    assert_int_equal (look (f, 601 * SECOND), 1);
    scan (f, 601 * SECOND);
    assert_int_equal (f->fake->inits, 2);
    assert_int_equal (f->inventory.count, 5);
    assert_string_equal (f->inventory.device[1].uuid, "GPU-bbbb");
    assert_int_equal (look (f, 602 * SECOND), 0);
    assert_false (f->sample[2].present);
    /* NVML may not count it any more; then indices move */
    f->fake->gpu[0].lost = NVML_ERROR_GPU_IS_LOST;
    f->fake->gpu[1].lost = 0;
    look (f, 603 * SECOND);
    f->fake->gpu[0] = f->fake->gpu[1];
    f->fake->gpus = 1;
    assert_int_equal (look (f, 604 * SECOND), 1);
    scan (f, 604 * SECOND);
    assert_int_equal (f->inventory.count, 5);
    assert_string_equal (f->inventory.device[0].uuid, "GPU-bbbb");
    assert_int_equal (f->inventory.device[1].gpu, 0);
    assert_string_equal (f->inventory.device[4].uuid, "GPU-aaaa");
    look (f, 605 * SECOND);
    assert_true (f->sample[1].present);
    assert_false (f->sample[4].present);
}

static void look__another_layout__asks_for_a_scan (void **state)
{
    fixture_t *f = *state;

    start (f);
    scan (f, 0);
    assert_int_equal (look (f, 11 * SECOND), 0);
    /* a slice is removed: its handle says so at once */
    f->fake->gpu[1].slice[0].gone = NVML_ERROR_INVALID_ARGUMENT;
    assert_int_equal (look (f, 12 * SECOND), 1);
    assert_false (f->sample[2].present);
    assert_true (f->sample[3].present);
    scan (f, 12 * SECOND);
    assert_int_equal (f->inventory.count, 4);
    /* one is added: seen within 10 s */
    f->fake->gpu[1].slice[0].gone = 0;
    assert_int_equal (look (f, 13 * SECOND), 0);
    assert_int_equal (look (f, 22 * SECOND), 1);
    scan (f, 22 * SECOND);
    f->fake->gpu[1].mig = 0;
    assert_int_equal (look (f, 33 * SECOND), 1);
    scan (f, 33 * SECOND);
    assert_int_equal (f->inventory.count, 2);
    assert_int_equal (f->inventory.device[1].partitioned, 0);
}

static void look__driver_goes_away__scan_fails_until_it_is_back (void **state)
{
    fixture_t *f = *state;
    gl_error_t error = {""};

    start (f);
    scan (f, 0);
    f->fake->count_status = NVML_ERROR_DRIVER_NOT_LOADED;
    f->fake->gpu[0].lost = f->fake->gpu[1].lost = NVML_ERROR_UNINITIALIZED;
    f->fake->init_status = NVML_ERROR_DRIVER_NOT_LOADED;
    assert_int_equal (look (f, SECOND), 1);
    assert_false (f->sample[0].present);
    assert_int_equal (
        f->source->ops->scan (f->source, SECOND, &f->inventory, &error), -1);
    assert_non_null (strstr (error.text, "Driver Not Loaded"));
    assert_int_equal (f->inventory.count, 5);
    assert_int_equal (look (f, 2 * SECOND), 1);
    f->fake->count_status = f->fake->init_status = 0;
    f->fake->gpu[0].lost = f->fake->gpu[1].lost = 0;
    scan (f, 3 * SECOND);
    assert_int_equal (look (f, 4 * SECOND), 0);
    assert_true (f->sample[0].present);
}

static void old_library__what_it_lacks__is_unknown (void **state)
{
    fixture_t *f = *state;
    sample_t *s = f->sample;

    start (f);
    scan (f, 0);
    assert_int_equal (f->inventory.count, 2);
    assert_string_equal (f->inventory.device[0].driver, "390.157");
    assert_string_equal (f->inventory.device[0].pci, "00000000:18:00.0");
    assert_int_equal (f->inventory.device[0].power_limit, 700000);
    assert_true (f->inventory.device[0].partitioned == DEVICE_UNKNOWN);
    assert_int_equal (look (f, 20 * SECOND), 0);
    assert_true (s[0].energy == DEVICE_UNKNOWN);
    assert_int_equal (s[0].utilization, 8700);
    assert_int_equal (s[0].throttle, 4);
    assert_int_equal (s[0].processes, 2);
    /* its memory counts what the driver keeps */
    assert_int_equal (s[0].memory_used, 1500);
}

int main (void)
{
#define WITH(test) cmocka_unit_test_setup_teardown (test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH (open__no_library_or_another__is_an_error),
        WITH (scan__gpus_and_slices__are_described),
        WITH (scan__profile_by_name_or_sizes__where_the_driver_is_older),
        WITH (look__values__are_in_our_units),
        WITH (look__absurd_and_unsupported_values__are_safe),
        WITH (look__processes_of_any_kind__are_not_none),
        WITH (look__lost_gpu__others_go_on_and_it_is_kept),
        WITH (look__another_layout__asks_for_a_scan),
        WITH (look__driver_goes_away__scan_fails_until_it_is_back),
        cmocka_unit_test_setup_teardown (old_library__what_it_lacks__is_unknown,
                                         setup_old, teardown),
    };

    return cmocka_run_group_tests_name ("devices_nvml", tests, NULL, NULL);
}
