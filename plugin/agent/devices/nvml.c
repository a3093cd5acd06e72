/* nvml.c: the devices as NVIDIA's library shows them. */
#include "nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "device.h"
#include "nvml_private.h"

#define SECOND INT64_C (1000000000)
/* How often the slices of a GPU are queried: about 20 calls each. */
#define LAYOUT_INTERVAL (10 * SECOND)
/* How often a GPU that was lost is looked for, which starts NVML anew. */
#define LOST_INTERVAL (600 * SECOND)
#define USUAL_LIBRARY "libnvidia-ml.so.1"

/* ---------------------------------------------------------------- functions */

static const struct {
    const char *names[3];
    size_t offset;
} functions[] = {
#define NVML_ENTRY(member, arguments, a, b, c) \
    {{a, b, c}, offsetof (nvml_functions_t, member)},
    NVML_FUNCTIONS (NVML_ENTRY)};

static void find_functions (nvml_t *nvml)
{
    for (size_t i = 0; i < GL_ARRAY_SIZE (functions); i++) {
        void *symbol = NULL;

        for (size_t n = 0; n < 3 && !symbol && functions[i].names[n]; n++)
            symbol = dlsym (nvml->library, functions[i].names[n]);
        memcpy ((char *)&nvml->call + functions[i].offset, &symbol,
                sizeof (symbol));
    }
}

const char *nvml_text (const nvml_t *nvml, nvml_return_t status)
{
    typedef const char *(*error_string_f) (nvml_return_t);
    error_string_f error_string;
    const char *text = NULL;

    memcpy (&error_string, &nvml->call.error_string, sizeof (error_string));
    if (error_string)
        text = error_string (status);
    return text ? text : "no reason given";
}

bool nvml_gone (nvml_return_t status)
{
    switch (status) {
    case NVML_ERROR_UNINITIALIZED:
    case NVML_ERROR_DRIVER_NOT_LOADED:
    case NVML_ERROR_GPU_IS_LOST:
    case NVML_ERROR_GPU_NOT_FOUND:
        return true;
    default:
        return false;
    }
}

/* NVML counts in unsigned numbers. A value that does not fit is absurd, and
 * stays absurd: the sampler decides whether a value is plausible. */
int64_t nvml_u64 (unsigned long long value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* --------------------------------------------------------------------- look */

/* One device and its answers. */
typedef struct {
    nvml_t *nvml;
    nvml_device_t handle;
    bool gone;
} asked_t;

/* The call gave a value. */
static bool gave (asked_t *asked, nvml_return_t status)
{
    if (nvml_gone (status))
        asked->gone = true;
    return status == NVML_SUCCESS;
}

#define ASK(asked, function, ...)                                           \
    (!(asked)->gone                                                         \
     && gave (asked, NVML_STATUS ((asked)->nvml, function, (asked)->handle, \
                                  __VA_ARGS__)))

static int64_t ask_memory (asked_t *asked, bool slice)
{
    nvml_memory_v2_t v2 = {.version = NVML_VERSION (nvml_memory_v2_t, 2)};
    nvml_memory_t v1;

    nvml_return_t status;

    /* a driver that does not know the struct says so with any status */
    if (NVML_DID (asked->nvml, memory_v2, asked->handle, &v2))
        return nvml_u64 (v2.used >> 20);
    status = NVML_STATUS (asked->nvml, memory, asked->handle, &v1);
    if (gave (asked, status))
        return nvml_u64 (v1.used >> 20);
    /* every device has memory, but for the handle of a slice that was
     * removed */
    if (slice
        && (status == NVML_ERROR_INVALID_ARGUMENT
            || status == NVML_ERROR_NOT_FOUND))
        asked->gone = true;
    return DEVICE_UNKNOWN;
}

/* Gets the number without the list, whose form differs by version: a buffer of
 * 0 is too small unless there are none. */
static int64_t process_count (asked_t *asked,
                              nvml_return_t (*function) (nvml_device_t,
                                                         unsigned *, void *))
{
    unsigned count = 0;
    nvml_return_t status;

    if (asked->gone || !function)
        return DEVICE_UNKNOWN;
    status = function (asked->handle, &count, NULL);
    if (status == NVML_ERROR_INSUFFICIENT_SIZE)
        return count;
    return gave (asked, status) ? 0 : DEVICE_UNKNOWN;
}

/* Work is done by programs of any kind; nobody counts as none only when no
 * compute process is there for certain. */
static int64_t ask_processes (asked_t *asked)
{
    const nvml_functions_t *call = &asked->nvml->call;
    int64_t compute = process_count (asked, call->compute_processes);
    int64_t other;

    if (compute > 0)
        return compute;
    other = process_count (asked, call->graphics_processes);
    if (other > 0)
        return other;
    other = process_count (asked, call->mps_processes);
    return other > 0 ? other : compute;
}

/* Bits that are not listed belong to causes of later drivers. */
static int64_t throttle_reasons (unsigned long long bits)
{
    static const struct {
        unsigned long long bits;
        int64_t reason;
    } reasons[] = {
        {NVML_CLOCKS_IDLE, RECORD_THROTTLE_IDLE},
        {NVML_CLOCKS_SETTINGS, RECORD_THROTTLE_SETTINGS},
        {NVML_CLOCKS_POWER, RECORD_THROTTLE_POWER},
        {NVML_CLOCKS_THERMAL, RECORD_THROTTLE_THERMAL},
        {NVML_CLOCKS_HARDWARE, RECORD_THROTTLE_HARDWARE},
    };
    int64_t found = 0;

    for (size_t i = 0; i < GL_ARRAY_SIZE (reasons); i++) {
        if (bits & reasons[i].bits)
            found |= reasons[i].reason;
        bits &= ~reasons[i].bits;
    }
    return bits ? found | RECORD_THROTTLE_HARDWARE : found;
}

static void look_at_gpu (asked_t *asked, bool cut, sample_t *sample)
{
    nvml_utilization_t utilization;
    unsigned long long large;
    unsigned number;

    /* NVML has no utilization of a GPU in MIG mode */
    if (!cut && ASK (asked, utilization, &utilization))
        sample->utilization = (int64_t)utilization.gpu * 100;
    if (ASK (asked, power, &number))
        sample->power = number;
    if (ASK (asked, energy, &large))
        sample->energy = nvml_u64 (large);
    if (ASK (asked, clock, NVML_CLOCK_SM, &number))
        sample->clock = number;
    if (ASK (asked, throttle, &large))
        sample->throttle = throttle_reasons (large);
}

/* Percent as GPM gives it; not a number, or a negative one, is no value. */
static int64_t hundredths (double percent)
{
    if (!(percent >= 0))
        return DEVICE_UNKNOWN;
    return percent > 9e16 ? INT64_MAX : (int64_t)(percent * 100 + 0.5);
}

static int64_t gpm_utilization (nvml_t *nvml, const nvml_slot_t *slot)
{
    static const unsigned ids[]
        = {NVML_GPM_GRAPHICS_UTILIZATION, NVML_GPM_SM_UTILIZATION};
    nvml_gpm_metrics_t *metrics = &nvml->metrics;

    metrics->version = NVML_GPM_METRICS_VERSION;
    metrics->count = GL_ARRAY_SIZE (ids);
    metrics->from = slot->gpm_last;
    metrics->to = slot->gpm_next;
    for (size_t i = 0; i < GL_ARRAY_SIZE (ids); i++)
        metrics->metric[i]
            = (nvml_gpm_metric_t){.id = ids[i], .status = NVML_ERROR_UNKNOWN};
    if (nvml->call.gpm_metrics (metrics) != NVML_SUCCESS)
        return DEVICE_UNKNOWN;
    for (size_t i = 0; i < GL_ARRAY_SIZE (ids); i++)
        if (metrics->metric[i].status == NVML_SUCCESS)
            return hundredths (metrics->metric[i].value);
    return DEVICE_UNKNOWN;
}

/* Activity between the last sample and this one; then this one becomes the
 * last. Samples that are closer than this measure noise: then the earlier one
 * stays. */
#define GPM_INTERVAL (SECOND / 10)

static int64_t slice_activity (nvml_t *nvml, size_t i)
{
    const device_t *device = &nvml->inventory.device[i];
    nvml_slot_t *slot = &nvml->slot[i];
    int64_t utilization = DEVICE_UNKNOWN;
    nvml_gpm_sample_t next = slot->gpm_next;

    if (slot->gpm_sampled && nvml->now >= slot->gpm_time
        && nvml->now - slot->gpm_time < GPM_INTERVAL)
        return DEVICE_UNKNOWN;
    if (!next
        || !NVML_DID (nvml, gpm_mig_sample, nvml->slot[device->gpu].handle,
                      (unsigned)device->gpu_instance, next)) {
        slot->gpm_sampled = false;
        return DEVICE_UNKNOWN;
    }
    if (slot->gpm_sampled)
        utilization = gpm_utilization (nvml, slot);
    slot->gpm_next = slot->gpm_last;
    slot->gpm_last = next;
    slot->gpm_sampled = true;
    slot->gpm_time = nvml->now;
    return utilization;
}

/* False: it does not exist any more. */
static bool look_at (nvml_t *nvml, size_t i, sample_t *sample)
{
    const device_t *device = &nvml->inventory.device[i];
    nvml_slot_t *slot = &nvml->slot[i];
    asked_t asked = {.nvml = nvml, .handle = slot->handle};

    *sample = sample_unknown (true);
    if (!slot->lost && !nvml->slot[device->gpu].lost) {
        sample->memory_used = ask_memory (&asked, device->slice);
        sample->processes = ask_processes (&asked);
        if (!device->slice)
            look_at_gpu (&asked, device->partitioned == 1, sample);
        else if (!asked.gone)
            sample->utilization = slice_activity (nvml, i);
        if (!asked.gone)
            return true;
        slot->lost = true;
    }
    *sample = sample_unknown (false);
    return false;
}

static bool same_devices (const inventory_t *a, const inventory_t *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp (a->device[i].uuid, b->device[i].uuid) != 0)
            return false;
    return true;
}

static bool count_changed (nvml_t *nvml)
{
    unsigned count = 0;
    nvml_return_t status = nvml->call.count (&count);

    if (status != NVML_SUCCESS)
        nvml->broken = true;
    return status != NVML_SUCCESS || count != nvml->gpus;
}

static bool layout_changed (nvml_t *nvml, int64_t now)
{
    if (now - nvml->checked < LAYOUT_INTERVAL && now >= nvml->checked)
        return false;
    nvml->checked = now;
    for (size_t i = 0; i < nvml->inventory.count; i++)
        if (!nvml->inventory.device[i].slice && !nvml->slot[i].lost
            && !nvml_same_layout (nvml, i))
            return true;
    return false;
}

/* A missing slice means that the layout has changed. A lost GPU is searched for
 * from time to time. */
static bool loss_needs_scan (nvml_t *nvml, size_t i, int64_t now)
{
    const device_t *device = &nvml->inventory.device[i];

    if (device->slice)
        return !nvml->slot[device->gpu].lost;
    nvml->broken = true;
    return now - nvml->scanned >= LOST_INTERVAL || now < nvml->scanned;
}

static int look (source_t *source, int64_t now, const inventory_t *inventory,
                 sample_t *samples, gl_error_t *error)
{
    nvml_t *nvml = (nvml_t *)source;
    bool changed;

    nvml->now = now;
    if (!same_devices (inventory, &nvml->inventory))
        return gl_error (error, "NVML: another scan was made since");
    changed = count_changed (nvml);
    for (size_t i = 0; i < nvml->inventory.count; i++)
        if (!look_at (nvml, i, &samples[i]))
            changed |= loss_needs_scan (nvml, i, now);
    return changed || layout_changed (nvml, now);
}

/* ------------------------------------------------------------ open and close
 */

static void close_nvml (source_t *source)
{
    nvml_t *nvml = (nvml_t *)source;

    nvml_forget (nvml);
    if (nvml->call.shutdown)
        nvml->call.shutdown ();
    dlclose (nvml->library);
    free (nvml);
}

static const source_ops_t nvml_ops = {
    .name = "nvml",
    .close = close_nvml,
    .scan = nvml_scan,
    .look = look,
};

static int start (nvml_t *nvml, const char *library, gl_error_t *error)
{
    nvml_return_t status;

    if (!nvml->call.init || !nvml->call.count || !nvml->call.handle)
        return gl_error (error, "%s: not NVIDIA's management library", library);
    status = nvml->call.init ();
    if (status != NVML_SUCCESS)
        return gl_error (error, "%s: %s (%d)", library,
                         nvml_text (nvml, status), status);
    return 0;
}

source_t *source_open_nvml (const char *library, const char *proc,
                            gl_error_t *error)
{
    nvml_t *nvml = xcalloc (1, sizeof (*nvml));

    if (!library || !*library)
        library = USUAL_LIBRARY;
    nvml->source.ops = &nvml_ops;
    snprintf (nvml->proc, sizeof (nvml->proc), "%s", proc);
    nvml->library = dlopen (library, RTLD_NOW | RTLD_LOCAL);
    if (!nvml->library) {
        gl_error (error, "no NVML: %s", dlerror ());
        free (nvml);
        errno = ENOENT;
        return NULL;
    }
    find_functions (nvml);
    if (start (nvml, library, error) < 0) {
        dlclose (nvml->library);
        free (nvml);
        errno = EIO;
        return NULL;
    }
    return &nvml->source;
}
