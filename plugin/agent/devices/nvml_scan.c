/* nvml_scan.c: which GPUs and slices NVML shows. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "device.h"
#include "nvml_private.h"

/* A GPU has at most 7 slices; a bound on what a driver can make us ask. */
#define SLICES_MAX 64

/* -------------------------------------------------------------- small files */

/* The first line of a file of /proc; "" when it cannot be read. */
static void read_line (const char *path, char *ret_line, size_t size)
{
    file_read_small (path, ret_line, size);
    ret_line[strcspn (ret_line, "\n")] = '\0';
}

/* "DeviceFileMinor: 30" of a capability. */
__attribute__ ((format (printf, 2, 3))) static int64_t
capability_minor (const nvml_t *nvml, const char *fmt, ...)
{
    char path[512], line[64];
    unsigned minor;
    va_list args;
    int length = snprintf (path, sizeof (path),
                           "%s/driver/nvidia/capabilities/", nvml->proc);

    va_start (args, fmt);
    vsnprintf (path + length, sizeof (path) - (size_t)length, fmt, args);
    va_end (args);
    read_line (path, line, sizeof (line));
    if (sscanf (line, "DeviceFileMinor: %u", &minor) != 1)
        return DEVICE_UNKNOWN;
    return minor;
}

/* --------------------------------------------------------------------- GPUs */

static int64_t mebibytes (unsigned long long bytes)
{
    return nvml_u64 (bytes >> 20);
}

static int64_t memory_total (nvml_t *nvml, nvml_device_t handle)
{
    nvml_memory_v2_t v2 = {.version = NVML_VERSION (nvml_memory_v2_t, 2)};
    nvml_memory_t v1;

    if (NVML_DID (nvml, memory_v2, handle, &v2))
        return mebibytes (v2.total);
    if (NVML_DID (nvml, memory, handle, &v1))
        return mebibytes (v1.total);
    return DEVICE_UNKNOWN;
}

static int64_t mig_mode (nvml_t *nvml, nvml_device_t handle)
{
    unsigned current, pending;

    switch (NVML_STATUS (nvml, mig_mode, handle, &current, &pending)) {
    case NVML_SUCCESS:
        return current == 1;
    case NVML_ERROR_NOT_SUPPORTED:
        return 0; /* a GPU that cannot be cut is not */
    default:
        return DEVICE_UNKNOWN;
    }
}

static void describe_pci (nvml_t *nvml, nvml_device_t handle, device_t *device)
{
    nvml_pci_t pci = {0};

    if (NVML_DID (nvml, pci, handle, &pci))
        snprintf (device->pci, sizeof (device->pci), "%08X:%02X:%02X.0",
                  pci.domain, pci.bus, pci.device);
}

static void describe_gpu (nvml_t *nvml, nvml_device_t handle, device_t *device)
{
    unsigned number;

    if (!NVML_DID (nvml, name, handle, device->model, sizeof (device->model)))
        device->model[0] = '\0';
    describe_pci (nvml, handle, device);
    if (NVML_DID (nvml, minor, handle, &number)) {
        device->minor = number;
        snprintf (device->file, sizeof (device->file), "/dev/nvidia%u", number);
    }
    device->memory_total = memory_total (nvml, handle);
    device->partitioned = mig_mode (nvml, handle);
    if (NVML_DID (nvml, power_limit, handle, &number))
        device->power_limit = number;
}

/* ------------------------------------------------------------------- slices */

/* "MIG 1g.10gb+me" of the kind of GPU instance that has this id. */
static bool profile_name (nvml_t *nvml, nvml_device_t gpu, unsigned id,
                          char *ret_name, size_t size)
{
    for (unsigned i = 0; i < NVML_PROFILES_MAX; i++) {
        nvml_profile_v2_t profile
            = {.version = NVML_VERSION (nvml_profile_v2_t, 2)};
        const char *name = profile.name;

        if (!NVML_DID (nvml, profile, gpu, i, &profile) || profile.id != id)
            continue;
        profile.name[sizeof (profile.name) - 1] = '\0';
        if (!strncmp (name, "MIG ", 4))
            name += 4;
        if (!*name || strlen (name) >= size)
            return false;
        strcpy (ret_name, name);
        return true;
    }
    return false;
}

/* What follows " MIG " in a slice's own name, as "NVIDIA A100-SXM4-40GB
 * MIG 1g.5gb". */
static bool name_profile (nvml_t *nvml, nvml_device_t handle, char *ret_name,
                          size_t size)
{
    char name[NVML_NAME_SIZE] = "";
    const char *mig;

    if (!NVML_DID (nvml, name, handle, name, sizeof (name)))
        return false;
    name[sizeof (name) - 1] = '\0';
    mig = strstr (name, " MIG ");
    if (!mig || strlen (mig + 5) >= size)
        return false;
    strcpy (ret_name, mig + 5);
    return true;
}

/* The name that NVIDIA's tools would form: memory in eighths of the
 * GPU's, rounded up, in whole GB of its size rounded up. */
static void formed_profile (const nvml_attributes_t *attributes,
                            int64_t gpu_mib, char *ret_name, size_t size)
{
    unsigned long long gpu = (unsigned long long)gpu_mib;
    unsigned long long eighths, gigabytes;

    if (gpu_mib <= 0 || attributes->memory_mib > gpu)
        return;
    eighths = (attributes->memory_mib * 8 + gpu - 1) / gpu;
    gigabytes = ((gpu + 1023) / 1024 * eighths + 4) / 8;
    snprintf (ret_name, size, "%ug.%llugb", attributes->gpu_instance_slices,
              gigabytes);
}

/* One of several compute instances in a GPU instance: "1c.3g.40gb". */
static void prefix_profile (const nvml_attributes_t *attributes, char *profile,
                            size_t size)
{
    char whole[sizeof (((device_t *)0)->profile)];

    if (!*profile || strchr (profile, 'c')
        || attributes->compute_instance_slices
               >= attributes->gpu_instance_slices)
        return;
    snprintf (whole, sizeof (whole), "%s", profile);
    if (snprintf (profile, size, "%uc.%s", attributes->compute_instance_slices,
                  whole)
        >= (int)size)
        snprintf (profile, size, "%s", whole);
}

static void describe_instance (nvml_t *nvml, nvml_device_t gpu,
                               nvml_device_t handle, device_t *device)
{
    nvml_gpu_instance_t instance;
    nvml_gpu_instance_info_t info = {0};
    bool known = device->gpu_instance != DEVICE_UNKNOWN
                 && NVML_DID (nvml, gpu_instance, gpu,
                              (unsigned)device->gpu_instance, &instance)
                 && NVML_DID (nvml, gpu_instance_info, instance, &info);

    if (known) {
        device->placement_start = info.placement_start;
        device->placement_size = info.placement_size;
        device->memory_slices = info.placement_size;
    }
    if (!known
        || !profile_name (nvml, gpu, info.profile_id, device->profile,
                          sizeof (device->profile)))
        name_profile (nvml, handle, device->profile, sizeof (device->profile));
}

static void describe_attributes (nvml_t *nvml, nvml_device_t handle,
                                 int64_t gpu_mib, device_t *device)
{
    nvml_attributes_t attributes = {0};

    if (!NVML_DID (nvml, attributes, handle, &attributes))
        return;
    device->compute_slices = attributes.compute_instance_slices;
    if (!*device->profile)
        formed_profile (&attributes, gpu_mib, device->profile,
                        sizeof (device->profile));
    prefix_profile (&attributes, device->profile, sizeof (device->profile));
}

static void describe_capabilities (const nvml_t *nvml, device_t *device)
{
    int64_t gpu = device->minor, gi = device->gpu_instance,
            ci = device->compute_instance;

    if (gpu == DEVICE_UNKNOWN || gi == DEVICE_UNKNOWN || ci == DEVICE_UNKNOWN)
        return;
    device->gpu_instance_minor = capability_minor (
        nvml, "gpu%" PRId64 "/mig/gi%" PRId64 "/access", gpu, gi);
    device->compute_instance_minor = capability_minor (
        nvml, "gpu%" PRId64 "/mig/gi%" PRId64 "/ci%" PRId64 "/access", gpu, gi,
        ci);
    if (device->compute_instance_minor != DEVICE_UNKNOWN)
        snprintf (device->file, sizeof (device->file),
                  "/dev/nvidia-caps/nvidia-cap%" PRId64,
                  device->compute_instance_minor);
}

static void describe_slice (nvml_t *nvml, nvml_device_t gpu_handle,
                            nvml_device_t handle, const device_t *gpu,
                            device_t *device)
{
    unsigned number;

    device->slice = true;
    device_inherit (device, gpu);
    if (NVML_DID (nvml, gpu_instance_id, handle, &number))
        device->gpu_instance = number;
    if (NVML_DID (nvml, compute_instance_id, handle, &number))
        device->compute_instance = number;
    device->memory_total = memory_total (nvml, handle);
    describe_instance (nvml, gpu_handle, handle, device);
    describe_attributes (nvml, handle, gpu->memory_total, device);
    describe_capabilities (nvml, device);
    /* both forms of its UUID */
    if (!strncmp (device->uuid, "MIG-GPU-", 8))
        memcpy (device->old_uuid, device->uuid, sizeof (device->old_uuid));
    else
        device_form_old_uuid (device, gpu);
}

/* ---------------------------------------------------------------- inventory */

/* A scan in progress: it replaces the inventory when it is complete. */
typedef struct {
    nvml_t *nvml;
    char driver[64];
    inventory_t inventory;
    nvml_slot_t *slot;
} scan_t;

static device_t *add (scan_t *scan, nvml_device_t handle)
{
    device_t *device = inventory_add (&scan->inventory);

    if (!device)
        return NULL;
    scan->slot = xreallocarray (scan->slot, scan->inventory.count,
                                sizeof (*scan->slot));
    scan->slot[scan->inventory.count - 1] = (nvml_slot_t){.handle = handle};
    strcpy (device->source, "nvml");
    memcpy (device->driver, scan->driver, sizeof (device->driver));
    return device;
}

/* The same with the UUID that the driver gives for the handle; NULL: none. */
static device_t *add_named (scan_t *scan, nvml_device_t handle)
{
    char uuid[NVML_UUID_SIZE];
    device_t *device = NULL;

    if (NVML_DID (scan->nvml, uuid, handle, uuid, sizeof (uuid))
        && (device = add (scan, handle)))
        snprintf (device->uuid, sizeof (device->uuid), "%.*s",
                  (int)sizeof (uuid) - 1, uuid);
    return device;
}

static void scan_slices (scan_t *scan, nvml_device_t gpu_handle, size_t gpu)
{
    nvml_t *nvml = scan->nvml;
    unsigned count = 0;

    if (scan->inventory.device[gpu].partitioned != 1
        || !NVML_DID (nvml, mig_count, gpu_handle, &count))
        return;
    for (unsigned i = 0; i < count && i < SLICES_MAX; i++) {
        nvml_device_t handle;
        device_t *device;

        if (!NVML_DID (nvml, mig_handle, gpu_handle, i, &handle)
            || !(device = add_named (scan, handle)))
            continue;
        device->gpu = gpu;
        describe_slice (nvml, gpu_handle, handle, &scan->inventory.device[gpu],
                        device);
    }
}

/* NVML may count a lost GPU or not: its UUID decides. */
static void keep_lost (scan_t *scan)
{
    size_t lost
        = inventory_keep_lost (&scan->inventory, &scan->nvml->inventory);
    size_t first = scan->inventory.count - lost;

    scan->slot = xreallocarray (scan->slot, scan->inventory.count + 1,
                                sizeof (*scan->slot));
    for (size_t i = first; i < scan->inventory.count; i++)
        scan->slot[i] = (nvml_slot_t){.lost = true};
}

static void scan_gpu (scan_t *scan, unsigned index)
{
    nvml_t *nvml = scan->nvml;
    nvml_device_t handle;
    device_t *device;
    size_t gpu = scan->inventory.count;

    if (!NVML_DID (nvml, handle, index, &handle)
        || !(device = add_named (scan, handle)))
        return;
    device->gpu = gpu;
    describe_gpu (nvml, handle, device);
    scan_slices (scan, handle, gpu);
}

static void read_driver (scan_t *scan)
{
    char driver[NVML_DRIVER_SIZE] = "";

    if (!NVML_DID (scan->nvml, driver_version, driver, sizeof (driver)))
        return;
    driver[sizeof (driver) - 1] = '\0';
    snprintf (scan->driver, sizeof (scan->driver), "%.63s", driver);
}

/* ---------------------------------------------------------------------- GPM */

/* The only slice of its GPU instance: it has the instance's activity. */
static bool has_instance_alone (const nvml_t *nvml, size_t slice)
{
    const device_t *device = &nvml->inventory.device[slice];

    for (size_t i = 0; i < nvml->inventory.count; i++) {
        const device_t *other = &nvml->inventory.device[i];

        if (i != slice && other->slice && other->gpu == device->gpu
            && other->gpu_instance == device->gpu_instance)
            return false;
    }
    return device->gpu_instance != DEVICE_UNKNOWN;
}

static bool gpm_supported (nvml_t *nvml, nvml_device_t gpu)
{
    nvml_gpm_support_t support = {.version = NVML_GPM_SUPPORT_VERSION};

    return nvml->call.gpm_free && nvml->call.gpm_mig_sample
           && nvml->call.gpm_metrics
           && NVML_DID (nvml, gpm_support, gpu, &support)
           && support.is_supported;
}

/* The first sample: activity is known from the second sample at the latest. */
static void begin_activity (nvml_t *nvml, size_t i)
{
    const device_t *device = &nvml->inventory.device[i];
    nvml_slot_t *slot = &nvml->slot[i];
    nvml_device_t gpu = nvml->slot[device->gpu].handle;

    if (!device->slice || slot->lost || !has_instance_alone (nvml, i)
        || !gpm_supported (nvml, gpu))
        return;
    if (!NVML_DID (nvml, gpm_alloc, &slot->gpm_last)) {
        slot->gpm_last = NULL;
        return;
    }
    if (!NVML_DID (nvml, gpm_alloc, &slot->gpm_next)) {
        nvml->call.gpm_free (slot->gpm_last);
        slot->gpm_last = slot->gpm_next = NULL;
        return;
    }
    slot->gpm_sampled
        = NVML_DID (nvml, gpm_mig_sample, gpu, (unsigned)device->gpu_instance,
                    slot->gpm_last);
    slot->gpm_time = nvml->now;
}

static void end_activity (nvml_t *nvml)
{
    for (size_t i = 0; i < nvml->inventory.count; i++) {
        nvml_slot_t *slot = &nvml->slot[i];

        if (slot->gpm_last)
            nvml->call.gpm_free (slot->gpm_last);
        if (slot->gpm_next)
            nvml->call.gpm_free (slot->gpm_next);
        slot->gpm_last = slot->gpm_next = NULL;
        slot->gpm_sampled = false;
    }
}

void nvml_forget (nvml_t *nvml)
{
    end_activity (nvml);
    inventory_clear (&nvml->inventory);
    free (nvml->slot);
    nvml->slot = NULL;
}

/* --------------------------------------------------------------------- scan */

/* A library that has lost a GPU, or the driver, knows only after a new
 * start.
 */
static int restart (nvml_t *nvml, gl_error_t *error)
{
    nvml_return_t status;

    if (!nvml->broken)
        return 0;
    end_activity (nvml);
    if (nvml->call.shutdown)
        nvml->call.shutdown ();
    status = nvml->call.init ();
    if (status != NVML_SUCCESS)
        return gl_error (error, "cannot restart NVML: %s",
                         nvml_text (nvml, status));
    nvml->broken = false;
    return 0;
}

int nvml_scan (source_t *source, int64_t now, inventory_t *ret_inventory,
               gl_error_t *error)
{
    nvml_t *nvml = (nvml_t *)source;
    scan_t scan = {.nvml = nvml};
    nvml_return_t status;
    unsigned count = 0;

    nvml->now = now;
    if (restart (nvml, error) < 0)
        return -1;
    status = nvml->call.count (&count);
    if (status != NVML_SUCCESS) {
        nvml->broken = true;
        return gl_error (error, "NVML cannot count the GPUs: %s",
                         nvml_text (nvml, status));
    }
    read_driver (&scan);
    for (unsigned i = 0; i < count && i < DEVICES_MAX; i++)
        scan_gpu (&scan, i);
    keep_lost (&scan);
    nvml_forget (nvml);
    nvml->inventory = scan.inventory;
    nvml->slot = scan.slot;
    nvml->gpus = count;
    nvml->scanned = nvml->checked = now;
    for (size_t i = 0; i < nvml->inventory.count; i++)
        begin_activity (nvml, i);
    inventory_clear (ret_inventory);
    *ret_inventory = inventory_copy (&nvml->inventory);
    return 0;
}

static bool has_slice (const nvml_t *nvml, size_t gpu, unsigned gpu_instance,
                       unsigned compute_instance)
{
    for (size_t i = 0; i < nvml->inventory.count; i++) {
        const device_t *device = &nvml->inventory.device[i];

        if (device->slice && device->gpu == gpu
            && device->gpu_instance == (int64_t)gpu_instance
            && device->compute_instance == (int64_t)compute_instance)
            return true;
    }
    return false;
}

static size_t count_slices (const nvml_t *nvml, size_t gpu)
{
    size_t count = 0;

    for (size_t i = 0; i < nvml->inventory.count; i++)
        count += nvml->inventory.device[i].slice
                 && nvml->inventory.device[i].gpu == gpu;
    return count;
}

bool nvml_same_layout (nvml_t *nvml, size_t gpu)
{
    nvml_device_t gpu_handle = nvml->slot[gpu].handle, handle;
    unsigned count = 0, gpu_instance, compute_instance;
    size_t seen = 0;

    if (mig_mode (nvml, gpu_handle) != nvml->inventory.device[gpu].partitioned)
        return false;
    if (nvml->inventory.device[gpu].partitioned != 1
        || !NVML_DID (nvml, mig_count, gpu_handle, &count))
        return true;
    for (unsigned i = 0; i < count && i < SLICES_MAX; i++) {
        if (!NVML_DID (nvml, mig_handle, gpu_handle, i, &handle)
            || !NVML_DID (nvml, gpu_instance_id, handle, &gpu_instance)
            || !NVML_DID (nvml, compute_instance_id, handle, &compute_instance))
            continue;
        if (!has_slice (nvml, gpu, gpu_instance, compute_instance))
            return false;
        seen++;
    }
    return seen == count_slices (nvml, gpu);
}
