/* A fake libnvidia-ml.so.1 (fake_nvml.h). Built twice: whole, and with
 * -DFAKE_NVML_OLD as a library that has the first versions of the functions
 * only, and neither MIG nor an energy counter. */
#include "fake_nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devices/nvml.h"

/* A handle points to the GPU or slice. */
struct nvmlDevice_st {
    char unused;
};

fake_nvml_t fake_nvml;

static fake_gpu_t *gpu_of (nvml_device_t device)
{
    for (unsigned i = 0; i < FAKE_GPUS_MAX; i++)
        if ((void *)device == &fake_nvml.gpu[i])
            return &fake_nvml.gpu[i];
    return NULL;
}

static fake_slice_t *slice_of (nvml_device_t device, fake_gpu_t **ret_gpu)
{
    for (unsigned i = 0; i < FAKE_GPUS_MAX; i++)
        for (unsigned s = 0; s < FAKE_SLICES_MAX; s++)
            if ((void *)device == &fake_nvml.gpu[i].slice[s]) {
                *ret_gpu = &fake_nvml.gpu[i];
                return &fake_nvml.gpu[i].slice[s];
            }
    return NULL;
}

/* The status that every call on a device begins with. */
static nvml_return_t begin (nvml_device_t device, fake_gpu_t **ret_gpu,
                            fake_slice_t **ret_slice)
{
    *ret_gpu = gpu_of (device);
    *ret_slice = *ret_gpu ? NULL : slice_of (device, ret_gpu);
    if (!*ret_gpu)
        return NVML_ERROR_INVALID_ARGUMENT;
    if ((*ret_gpu)->lost)
        return (*ret_gpu)->lost;
    return *ret_slice ? (*ret_slice)->gone : NVML_SUCCESS;
}

static nvml_return_t put (char *target, unsigned size, const char *text)
{
    if (strlen (text) >= size)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy (target, text);
    return NVML_SUCCESS;
}

#ifndef FAKE_NVML_OLD
/* In a process of its own the counters go with the clock. */
static unsigned long long counted (const fake_gpu_t *gpu)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return gpu->energy
           + (getenv ("FAKE_NVML") ? ((unsigned long long)now.tv_sec * 1000
                                      + (unsigned)now.tv_nsec / 1000000)
                                         * gpu->power / 1000
                                   : 0);
}
#endif

static void read_file (void)
{
    const char *path = getenv ("FAKE_NVML");
    FILE *file = path ? fopen (path, "r") : NULL;
    static char uuid[FAKE_GPUS_MAX][48];

    if (!file || fscanf (file, "%u", &fake_nvml.gpus) != 1
        || fake_nvml.gpus > FAKE_GPUS_MAX)
        fake_nvml.gpus = file ? 0 : fake_nvml.gpus;
    for (unsigned i = 0; file && i < fake_nvml.gpus; i++) {
        snprintf (uuid[i], sizeof (uuid[i]),
                  "GPU-00000000-0000-0000-0000-%012u", i);
        fake_nvml.gpu[i] = (fake_gpu_t){.uuid = uuid[i],
                                        .name = "NVIDIA H100 80GB HBM3",
                                        .minor = i,
                                        .bus = i + 1,
                                        .memory_mib = 81559,
                                        .power = 100000,
                                        .power_limit = 700000,
                                        .mig = -1};
    }
    if (file)
        fclose (file);
}

nvml_return_t fake_init (void);
nvml_return_t fake_init (void)
{
    read_file ();
    if (fake_nvml.init_status)
        return fake_nvml.init_status;
    fake_nvml.inits++;
    return NVML_SUCCESS;
}

static nvml_return_t fake_count (unsigned *ret)
{
    if (fake_nvml.count_status)
        return fake_nvml.count_status;
    *ret = fake_nvml.gpus;
    return NVML_SUCCESS;
}

static nvml_return_t fake_handle (unsigned index, nvml_device_t *ret)
{
    if (index >= fake_nvml.gpus)
        return NVML_ERROR_INVALID_ARGUMENT;
    *ret = (void *)&fake_nvml.gpu[index];
    return fake_nvml.gpu[index].lost;
}

static nvml_return_t fake_pci (nvml_device_t device, nvml_pci_t *ret)
{
    fake_gpu_t *gpu;
    fake_slice_t *slice;
    nvml_return_t status = begin (device, &gpu, &slice);

    if (status == NVML_SUCCESS)
        *ret = (nvml_pci_t){.bus = gpu->bus};
    return status;
}

static nvml_return_t fake_processes (nvml_device_t device, unsigned *count,
                                     void *infos, char kind)
{
    fake_gpu_t *gpu;
    fake_slice_t *slice;
    nvml_return_t status = begin (device, &gpu, &slice);
    unsigned there;

    (void)infos;
    if (status != NVML_SUCCESS)
        return status;
    if (gpu->status)
        return gpu->status;
    there = kind == 'c'   ? slice ? slice->processes : gpu->compute
            : kind == 'g' ? slice ? 0 : gpu->graphics
            : slice       ? 0
                          : gpu->mps;
    status = there > *count ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
    *count = there;
    return status;
}

#define NVML(name) nvml_return_t name
#define VALUE(name, type, expression)                        \
    NVML (name) (nvml_device_t device, type * ret);          \
    NVML (name) (nvml_device_t device, type * ret)           \
    {                                                        \
        fake_gpu_t *gpu;                                     \
        fake_slice_t *slice;                                 \
        nvml_return_t status = begin (device, &gpu, &slice); \
                                                             \
        if (status != NVML_SUCCESS)                          \
            return status;                                   \
        if (gpu->status)                                     \
            return gpu->status;                              \
        if (slice)                                           \
            return NVML_ERROR_NOT_SUPPORTED;                 \
        *ret = expression;                                   \
        return NVML_SUCCESS;                                 \
    }

#ifdef FAKE_NVML_OLD
#define VERSIONED(old, new) old
#else
#define VERSIONED(old, new) new
#endif

NVML (VERSIONED (nvmlInit, nvmlInit_v2)) (void);
NVML (VERSIONED (nvmlInit, nvmlInit_v2)) (void)
{
    return fake_init ();
}

NVML (nvmlShutdown) (void);
NVML (nvmlShutdown) (void)
{
    fake_nvml.shutdowns++;
    return NVML_SUCCESS;
}

const char *nvmlErrorString (nvml_return_t status);
const char *nvmlErrorString (nvml_return_t status)
{
    return status == NVML_ERROR_DRIVER_NOT_LOADED ? "Driver Not Loaded"
                                                  : "Unknown Error";
}

NVML (nvmlSystemGetDriverVersion) (char *ret, unsigned size);
NVML (nvmlSystemGetDriverVersion) (char *ret, unsigned size)
{
    return put (ret, size, VERSIONED ("390.157", "570.86.15"));
}

NVML (VERSIONED (nvmlDeviceGetCount, nvmlDeviceGetCount_v2)) (unsigned *ret);
NVML (VERSIONED (nvmlDeviceGetCount, nvmlDeviceGetCount_v2)) (unsigned *ret)
{
    return fake_count (ret);
}

NVML (VERSIONED (nvmlDeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2))
(unsigned index, nvml_device_t *ret);
NVML (VERSIONED (nvmlDeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2))
(unsigned index, nvml_device_t *ret)
{
    return fake_handle (index, ret);
}

NVML (nvmlDeviceGetName) (nvml_device_t device, char *ret, unsigned size);
NVML (nvmlDeviceGetName) (nvml_device_t device, char *ret, unsigned size)
{
    fake_gpu_t *gpu;
    fake_slice_t *slice;
    nvml_return_t status = begin (device, &gpu, &slice);

    return status ? status : put (ret, size, slice ? slice->name : gpu->name);
}

NVML (nvmlDeviceGetUUID) (nvml_device_t device, char *ret, unsigned size);
NVML (nvmlDeviceGetUUID) (nvml_device_t device, char *ret, unsigned size)
{
    fake_gpu_t *gpu;
    fake_slice_t *slice;
    nvml_return_t status = begin (device, &gpu, &slice);

    return status ? status : put (ret, size, slice ? slice->uuid : gpu->uuid);
}

NVML (VERSIONED (nvmlDeviceGetPciInfo, nvmlDeviceGetPciInfo_v3))
(nvml_device_t device, nvml_pci_t *ret);
NVML (VERSIONED (nvmlDeviceGetPciInfo, nvmlDeviceGetPciInfo_v3))
(nvml_device_t device, nvml_pci_t *ret)
{
    return fake_pci (device, ret);
}

NVML (nvmlDeviceGetMemoryInfo) (nvml_device_t device, nvml_memory_t *ret);
NVML (nvmlDeviceGetMemoryInfo) (nvml_device_t device, nvml_memory_t *ret)
{
    fake_gpu_t *gpu;
    fake_slice_t *slice;
    nvml_return_t status = begin (device, &gpu, &slice);

    if (status != NVML_SUCCESS)
        return status;
    if (gpu->status)
        return gpu->status;
    ret->total = (slice ? slice->memory_mib : gpu->memory_mib) << 20;
    /* with what the driver keeps for itself */
    ret->used = ((slice ? slice->used_mib : gpu->used_mib) + 500) << 20;
    return NVML_SUCCESS;
}

VALUE (nvmlDeviceGetMinorNumber, unsigned, gpu->minor)
VALUE (nvmlDeviceGetPowerUsage, unsigned, gpu->power)
VALUE (nvmlDeviceGetPowerManagementLimit, unsigned, gpu->power_limit)
VALUE (nvmlDeviceGetUtilizationRates, nvml_utilization_t,
       ((nvml_utilization_t){gpu->utilization, 1}))
VALUE (nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long,
       gpu->throttle)

NVML (nvmlDeviceGetClockInfo)
(nvml_device_t device, unsigned type, unsigned *ret);
NVML (nvmlDeviceGetClockInfo)
(nvml_device_t device, unsigned type, unsigned *ret)
{
    fake_gpu_t *gpu;
    fake_slice_t *slice;
    nvml_return_t status = begin (device, &gpu, &slice);

    if (status == NVML_SUCCESS && (slice || type != NVML_CLOCK_SM))
        status = NVML_ERROR_NOT_SUPPORTED;
    if (status == NVML_SUCCESS)
        *ret = gpu->clock;
    return status;
}

#define PROCESSES(name, kind)                                         \
    NVML (name) (nvml_device_t device, unsigned *count, void *infos); \
    NVML (name) (nvml_device_t device, unsigned *count, void *infos)  \
    {                                                                 \
        return fake_processes (device, count, infos, kind);           \
    }

PROCESSES (VERSIONED (nvmlDeviceGetComputeRunningProcesses,
                      nvmlDeviceGetComputeRunningProcesses_v3),
           'c')
PROCESSES (VERSIONED (nvmlDeviceGetGraphicsRunningProcesses,
                      nvmlDeviceGetGraphicsRunningProcesses_v3),
           'g')

#ifndef FAKE_NVML_OLD

PROCESSES (nvmlDeviceGetMPSComputeRunningProcesses_v3, 'm')
VALUE (nvmlDeviceGetEnforcedPowerLimit, unsigned, gpu->power_limit)
VALUE (nvmlDeviceGetTotalEnergyConsumption, unsigned long long, counted (gpu))
VALUE (nvmlDeviceGetCurrentClocksEventReasons, unsigned long long,
       gpu->throttle)
VALUE (nvmlDeviceGetMaxMigDeviceCount, unsigned, 7)

NVML (nvmlDeviceGetMemoryInfo_v2)
(nvml_device_t device, nvml_memory_v2_t *ret);
NVML (nvmlDeviceGetMemoryInfo_v2)
(nvml_device_t device, nvml_memory_v2_t *ret)
{
    nvml_memory_t v1;
    nvml_return_t status;

    if (ret->version != 0x02000028)
        return 25; /* argument version mismatch */
    status = nvmlDeviceGetMemoryInfo (device, &v1);
    ret->total = v1.total;
    ret->used = v1.used - (500ull << 20);
    return status;
}

NVML (nvmlDeviceGetMigMode)
(nvml_device_t device, unsigned *current, unsigned *pending);
NVML (nvmlDeviceGetMigMode)
(nvml_device_t device, unsigned *current, unsigned *pending)
{
    fake_gpu_t *gpu;
    fake_slice_t *slice;
    nvml_return_t status = begin (device, &gpu, &slice);

    if (status != NVML_SUCCESS)
        return status;
    if (gpu->mig < 0)
        return NVML_ERROR_NOT_SUPPORTED;
    *current = *pending = (unsigned)gpu->mig;
    return NVML_SUCCESS;
}

/* Handles have holes, as after an instance was removed. */
NVML (nvmlDeviceGetMigDeviceHandleByIndex)
(nvml_device_t device, unsigned index, nvml_device_t *ret);
NVML (nvmlDeviceGetMigDeviceHandleByIndex)
(nvml_device_t device, unsigned index, nvml_device_t *ret)
{
    fake_gpu_t *gpu = gpu_of (device);

    if (!gpu || gpu->lost)
        return gpu ? gpu->lost : NVML_ERROR_INVALID_ARGUMENT;
    if (index >= gpu->slices || gpu->slice[index].gone)
        return NVML_ERROR_NOT_FOUND;
    *ret = (void *)&gpu->slice[index];
    return NVML_SUCCESS;
}

#define OF_SLICE(name, type, expression)                       \
    NVML (name) (nvml_device_t device, type * ret);            \
    NVML (name) (nvml_device_t device, type * ret)             \
    {                                                          \
        fake_gpu_t *gpu;                                       \
        fake_slice_t *slice;                                   \
        nvml_return_t status = begin (device, &gpu, &slice);   \
                                                               \
        if (status != NVML_SUCCESS || !slice)                  \
            return status ? status : NVML_ERROR_NOT_SUPPORTED; \
        *ret = expression;                                     \
        return NVML_SUCCESS;                                   \
    }

OF_SLICE (nvmlDeviceGetGpuInstanceId, unsigned, slice->gpu_instance)
OF_SLICE (nvmlDeviceGetComputeInstanceId, unsigned, slice->compute_instance)
OF_SLICE (nvmlDeviceGetAttributes_v2, nvml_attributes_t,
          ((nvml_attributes_t){.gpu_instance_slices = slice->gpu_slices,
                               .compute_instance_slices = slice->compute_slices,
                               .memory_mib = slice->memory_mib}))

NVML (nvmlDeviceGetGpuInstanceById)
(nvml_device_t device, unsigned id, nvml_gpu_instance_t *ret);
NVML (nvmlDeviceGetGpuInstanceById)
(nvml_device_t device, unsigned id, nvml_gpu_instance_t *ret)
{
    fake_gpu_t *gpu = gpu_of (device);

    for (unsigned i = 0; gpu && i < gpu->slices; i++)
        if (gpu->slice[i].gpu_instance == id && gpu->slice[i].size) {
            *ret = (void *)&gpu->slice[i];
            return NVML_SUCCESS;
        }
    return NVML_ERROR_NOT_FOUND;
}

NVML (nvmlGpuInstanceGetInfo)
(nvml_gpu_instance_t instance, nvml_gpu_instance_info_t *ret);
NVML (nvmlGpuInstanceGetInfo)
(nvml_gpu_instance_t instance, nvml_gpu_instance_info_t *ret)
{
    const fake_slice_t *slice = (const void *)instance;

    ret->id = slice->gpu_instance;
    ret->profile_id = slice->profile_id;
    ret->placement_start = slice->start;
    ret->placement_size = slice->size;
    return NVML_SUCCESS;
}

NVML (nvmlDeviceGetGpuInstanceProfileInfoV)
(nvml_device_t device, unsigned profile, nvml_profile_v2_t *ret);
NVML (nvmlDeviceGetGpuInstanceProfileInfoV)
(nvml_device_t device, unsigned profile, nvml_profile_v2_t *ret)
{
    static const struct {
        unsigned id;
        const char *name;
    } profiles[] = {{19, "MIG 1g.10gb"},
                    {20, "MIG 1g.10gb+me"},
                    {0, NULL},
                    {9, "MIG 3g.40gb"}};

    if (ret->version != 0x02000098)
        return 25;
    if (!gpu_of (device) || profile >= 4 || !profiles[profile].name)
        return NVML_ERROR_NOT_SUPPORTED;
    ret->id = profiles[profile].id;
    strcpy (ret->name, profiles[profile].name);
    return NVML_SUCCESS;
}

/* ---------------------------------------------------------------------- GPM */

struct nvmlGpmSample_st {
    unsigned filled;
    double activity;
};

NVML (nvmlGpmQueryDeviceSupport)
(nvml_device_t device, nvml_gpm_support_t *ret);
NVML (nvmlGpmQueryDeviceSupport)
(nvml_device_t device, nvml_gpm_support_t *ret)
{
    fake_gpu_t *gpu = gpu_of (device);

    if (!gpu || ret->version != 1)
        return NVML_ERROR_INVALID_ARGUMENT;
    ret->is_supported = (unsigned)gpu->gpm;
    return NVML_SUCCESS;
}

NVML (nvmlGpmSampleAlloc) (nvml_gpm_sample_t *ret);
NVML (nvmlGpmSampleAlloc) (nvml_gpm_sample_t *ret)
{
    *ret = calloc (1, sizeof (**ret));
    fake_nvml.samples++;
    return NVML_SUCCESS;
}

NVML (nvmlGpmSampleFree) (nvml_gpm_sample_t sample);
NVML (nvmlGpmSampleFree) (nvml_gpm_sample_t sample)
{
    free (sample);
    fake_nvml.samples--;
    return NVML_SUCCESS;
}

NVML (nvmlGpmMigSampleGet)
(nvml_device_t device, unsigned gpu_instance, nvml_gpm_sample_t sample);
NVML (nvmlGpmMigSampleGet)
(nvml_device_t device, unsigned gpu_instance, nvml_gpm_sample_t sample)
{
    static unsigned clock;
    fake_gpu_t *gpu = gpu_of (device);

    if (!gpu || gpu->lost)
        return gpu ? gpu->lost : NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < gpu->slices; i++)
        if (gpu->slice[i].gpu_instance == gpu_instance) {
            sample->filled = ++clock;
            sample->activity = gpu->slice[i].activity;
            return NVML_SUCCESS;
        }
    return NVML_ERROR_NOT_FOUND;
}

NVML (nvmlGpmMetricsGet) (nvml_gpm_metrics_t *metrics);
NVML (nvmlGpmMetricsGet) (nvml_gpm_metrics_t *metrics)
{
    if (metrics->version != 1 || !metrics->from->filled
        || metrics->from->filled >= metrics->to->filled)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < metrics->count; i++)
        if (metrics->metric[i].id == NVML_GPM_GRAPHICS_UTILIZATION) {
            metrics->metric[i].status = NVML_SUCCESS;
            metrics->metric[i].value = metrics->to->activity;
        }
    return NVML_SUCCESS;
}

#endif /* !FAKE_NVML_OLD */
