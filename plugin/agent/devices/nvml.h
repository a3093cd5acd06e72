/*
 * nvml.h: declarations of the part of NVML that the agent calls.
 *
 * Written from NVIDIA's public NVML API reference; names, numbers and layouts
 * are those of the ABI of libnvidia-ml.so.1, on which sizes are checked below.
 * No NVIDIA header is needed to build, and no library to run: nvml.c looks the
 * functions up one by one. docs/decisions/nvml.md says why, and which driver
 * has which.
 */
#ifndef GL_AGENT_NVML_H
#define GL_AGENT_NVML_H

/* Statuses; there are more, and all of them mean "no value". */
enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NO_PERMISSION = 4,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_FUNCTION_NOT_FOUND = 13,
    NVML_ERROR_GPU_IS_LOST = 15,
    NVML_ERROR_RESET_REQUIRED = 16,
    NVML_ERROR_VERSION_MISMATCH = 18, /* library against driver */
    NVML_ERROR_GPU_NOT_FOUND = 28,
    NVML_ERROR_UNKNOWN = 999,
};
typedef int nvml_return_t;

typedef struct nvmlDevice_st *nvml_device_t;
typedef struct nvmlGpuInstance_st *nvml_gpu_instance_t;
typedef struct nvmlGpmSample_st *nvml_gpm_sample_t;

/* A struct with a version says in it how large the caller takes it to be. */
#define NVML_VERSION(type, version) \
    ((unsigned)sizeof (type) | (unsigned)(version) << 24)

enum {
    NVML_NAME_SIZE = 96,
    NVML_UUID_SIZE = 96,
    NVML_DRIVER_SIZE = 80,
    NVML_CLOCK_SM = 1,
    NVML_GPM_GRAPHICS_UTILIZATION = 1, /* percent of time with work */
    NVML_GPM_SM_UTILIZATION = 2,
    NVML_GPM_METRICS_VERSION = 1,
    NVML_GPM_SUPPORT_VERSION = 1,
    /* The array's length grows with the versions (98, 210, 333); the library
     * looks at as many as it is asked for. */
    NVML_GPM_METRICS_MAX = 512,
    /* Numbers of kinds of GPU instances; 17 are known. */
    NVML_PROFILES_MAX = 32,
    /* Bits of the reasons why clocks are low (nvmlClocksEventReasons). */
    NVML_CLOCKS_IDLE = 0x1,
    NVML_CLOCKS_SETTINGS = 0x2 | 0x10 | 0x100, /* application clocks, sync
                                                  boost, display clock */
    NVML_CLOCKS_POWER = 0x4 | 0x80,            /* power cap, power brake */
    NVML_CLOCKS_THERMAL = 0x20 | 0x40,         /* by software, by hardware */
    NVML_CLOCKS_HARDWARE = 0x8,                /* slowdown, cause unknown */
};

/* nvmlPciInfo_t of _v3; the earlier ones are shorter and begin alike. */
typedef struct {
    char bus_id_legacy[16];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned pci_device_id;
    unsigned pci_subsystem_id;
    char bus_id[32];
} nvml_pci_t;

typedef struct {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used; /* including the memory that the driver reserves */
} nvml_memory_t;

typedef struct {
    unsigned version;
    unsigned long long total;
    unsigned long long reserved;
    unsigned long long free;
    unsigned long long used;
} nvml_memory_v2_t;

typedef struct {
    unsigned gpu; /* percent */
    unsigned memory;
} nvml_utilization_t;

typedef struct {
    unsigned multiprocessors;
    unsigned shared_copy_engines;
    unsigned shared_decoders;
    unsigned shared_encoders;
    unsigned shared_jpeg;
    unsigned shared_ofa;
    unsigned gpu_instance_slices;
    unsigned compute_instance_slices;
    unsigned long long memory_mib;
} nvml_attributes_t;

typedef struct {
    nvml_device_t device;
    unsigned id;
    unsigned profile_id;
    unsigned placement_start;
    unsigned placement_size;
} nvml_gpu_instance_info_t;

typedef struct {
    unsigned version;
    unsigned id;
    unsigned is_p2p_supported;
    unsigned slices;
    unsigned instances;
    unsigned multiprocessors;
    unsigned copy_engines;
    unsigned decoders;
    unsigned encoders;
    unsigned jpeg;
    unsigned ofa;
    unsigned long long memory_mib;
    char name[96]; /* "MIG 1g.10gb+me" */
} nvml_profile_v2_t;

typedef struct {
    unsigned version;
    unsigned is_supported;
} nvml_gpm_support_t;

typedef struct {
    unsigned id;
    nvml_return_t status;
    double value;
    const char *short_name;
    const char *long_name;
    const char *unit;
} nvml_gpm_metric_t;

typedef struct {
    unsigned version;
    unsigned count;
    nvml_gpm_sample_t from;
    nvml_gpm_sample_t to;
    nvml_gpm_metric_t metric[NVML_GPM_METRICS_MAX];
} nvml_gpm_metrics_t;

_Static_assert(sizeof (nvml_pci_t) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof (nvml_memory_v2_t) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof (nvml_attributes_t) == 40, "nvmlDeviceAttributes_t");
_Static_assert(sizeof (nvml_gpu_instance_info_t) == 24,
               "nvmlGpuInstanceInfo_t");
_Static_assert(sizeof (nvml_profile_v2_t) == 152,
               "nvmlGpuInstanceProfileInfo_v2_t");
_Static_assert(sizeof (nvml_gpm_metric_t) == 40, "nvmlGpmMetric_t");

/*
 * The only table of functions: member, arguments, names. The first name that
 * the library has is used. Functions share a line only if they take the same
 * arguments and differ in parts that the agent does not use.
 */
#define NVML_FUNCTIONS(F)                                                      \
    F (init, (void), "nvmlInit_v2", "nvmlInit", 0)                             \
    F (shutdown, (void), "nvmlShutdown", 0, 0)                                 \
    F (error_string, (nvml_return_t), "nvmlErrorString", 0, 0)                 \
    F (driver_version, (char *, unsigned), "nvmlSystemGetDriverVersion", 0, 0) \
    F (count, (unsigned *), "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount", 0)  \
    F (handle, (unsigned, nvml_device_t *), "nvmlDeviceGetHandleByIndex_v2",   \
       "nvmlDeviceGetHandleByIndex", 0)                                        \
    F (name, (nvml_device_t, char *, unsigned), "nvmlDeviceGetName", 0, 0)     \
    F (uuid, (nvml_device_t, char *, unsigned), "nvmlDeviceGetUUID", 0, 0)     \
    F (minor, (nvml_device_t, unsigned *), "nvmlDeviceGetMinorNumber", 0, 0)   \
    F (pci, (nvml_device_t, nvml_pci_t *), "nvmlDeviceGetPciInfo_v3",          \
       "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo")                      \
    F (memory_v2, (nvml_device_t, nvml_memory_v2_t *),                         \
       "nvmlDeviceGetMemoryInfo_v2", 0, 0)                                     \
    F (memory, (nvml_device_t, nvml_memory_t *), "nvmlDeviceGetMemoryInfo", 0, \
       0)                                                                      \
    F (power_limit, (nvml_device_t, unsigned *),                               \
       "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit", \
       0)                                                                      \
    F (power, (nvml_device_t, unsigned *), "nvmlDeviceGetPowerUsage", 0, 0)    \
    F (energy, (nvml_device_t, unsigned long long *),                          \
       "nvmlDeviceGetTotalEnergyConsumption", 0, 0)                            \
    F (utilization, (nvml_device_t, nvml_utilization_t *),                     \
       "nvmlDeviceGetUtilizationRates", 0, 0)                                  \
    F (clock, (nvml_device_t, unsigned, unsigned *), "nvmlDeviceGetClockInfo", \
       0, 0)                                                                   \
    F (throttle, (nvml_device_t, unsigned long long *),                        \
       "nvmlDeviceGetCurrentClocksEventReasons",                               \
       "nvmlDeviceGetCurrentClocksThrottleReasons", 0)                         \
    F (compute_processes, (nvml_device_t, unsigned *, void *),                 \
       "nvmlDeviceGetComputeRunningProcesses_v3",                              \
       "nvmlDeviceGetComputeRunningProcesses_v2",                              \
       "nvmlDeviceGetComputeRunningProcesses")                                 \
    F (graphics_processes, (nvml_device_t, unsigned *, void *),                \
       "nvmlDeviceGetGraphicsRunningProcesses_v3",                             \
       "nvmlDeviceGetGraphicsRunningProcesses_v2",                             \
       "nvmlDeviceGetGraphicsRunningProcesses")                                \
    F (mps_processes, (nvml_device_t, unsigned *, void *),                     \
       "nvmlDeviceGetMPSComputeRunningProcesses_v3",                           \
       "nvmlDeviceGetMPSComputeRunningProcesses_v2",                           \
       "nvmlDeviceGetMPSComputeRunningProcesses")                              \
    F (mig_mode, (nvml_device_t, unsigned *, unsigned *),                      \
       "nvmlDeviceGetMigMode", 0, 0)                                           \
    F (mig_count, (nvml_device_t, unsigned *),                                 \
       "nvmlDeviceGetMaxMigDeviceCount", 0, 0)                                 \
    F (mig_handle, (nvml_device_t, unsigned, nvml_device_t *),                 \
       "nvmlDeviceGetMigDeviceHandleByIndex", 0, 0)                            \
    F (gpu_instance_id, (nvml_device_t, unsigned *),                           \
       "nvmlDeviceGetGpuInstanceId", 0, 0)                                     \
    F (compute_instance_id, (nvml_device_t, unsigned *),                       \
       "nvmlDeviceGetComputeInstanceId", 0, 0)                                 \
    F (attributes, (nvml_device_t, nvml_attributes_t *),                       \
       "nvmlDeviceGetAttributes_v2", 0, 0)                                     \
    F (gpu_instance, (nvml_device_t, unsigned, nvml_gpu_instance_t *),         \
       "nvmlDeviceGetGpuInstanceById", 0, 0)                                   \
    F (gpu_instance_info, (nvml_gpu_instance_t, nvml_gpu_instance_info_t *),   \
       "nvmlGpuInstanceGetInfo", 0, 0)                                         \
    F (profile, (nvml_device_t, unsigned, nvml_profile_v2_t *),                \
       "nvmlDeviceGetGpuInstanceProfileInfoV", 0, 0)                           \
    F (gpm_support, (nvml_device_t, nvml_gpm_support_t *),                     \
       "nvmlGpmQueryDeviceSupport", 0, 0)                                      \
    F (gpm_alloc, (nvml_gpm_sample_t *), "nvmlGpmSampleAlloc", 0, 0)           \
    F (gpm_free, (nvml_gpm_sample_t), "nvmlGpmSampleFree", 0, 0)               \
    F (gpm_mig_sample, (nvml_device_t, unsigned, nvml_gpm_sample_t),           \
       "nvmlGpmMigSampleGet", 0, 0)                                            \
    F (gpm_metrics, (nvml_gpm_metrics_t *), "nvmlGpmMetricsGet", 0, 0)

#endif /* !GL_AGENT_NVML_H */
