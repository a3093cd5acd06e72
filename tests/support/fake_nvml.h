/*
 * fake_nvml.h: what a fake libnvidia-ml.so.1 answers. A test loads the library
 * with dlopen, takes the address of `fake_nvml` and sets it; the product loads
 * the same file and sees the same. A status that is not 0 is answered instead
 * of a value.
 *
 * Without a test in the same process it reads the file $FAKE_NVML at
 * nvmlInit: "COUNT" GPUs, each like a H100 with 100 W.
 */
#ifndef GL_TESTS_SUPPORT_FAKE_NVML_H
#define GL_TESTS_SUPPORT_FAKE_NVML_H

#define FAKE_GPUS_MAX 16
#define FAKE_SLICES_MAX 8

typedef struct {
    const char *uuid;
    const char *name; /* "NVIDIA H100 80GB HBM3 MIG 1g.10gb", or plain */
    unsigned gpu_instance;
    unsigned compute_instance;
    unsigned profile_id;  /* 19: "MIG 1g.10gb", 9: "MIG 3g.40gb" */
    unsigned start, size; /* placement */
    unsigned gpu_slices, compute_slices;
    unsigned long long memory_mib, used_mib;
    unsigned processes;
    int gone;        /* status of all calls: a handle that is no more */
    double activity; /* percent, by GPM */
} fake_slice_t;

typedef struct {
    const char *uuid;
    const char *name;
    unsigned minor;
    unsigned bus;
    unsigned long long memory_mib, used_mib, energy, throttle;
    unsigned power, power_limit, clock, utilization;
    unsigned compute, graphics, mps; /* processes */
    int mig;                         /* 1 on, 0 off, -1 not supported */
    int lost;                        /* status of all calls */
    int status;                      /* of the calls for values */
    int gpm;                         /* supported */
    unsigned slices;
    fake_slice_t slice[FAKE_SLICES_MAX];
} fake_gpu_t;

typedef struct {
    int init_status;
    int count_status;
    unsigned gpus;
    fake_gpu_t gpu[FAKE_GPUS_MAX];
    /* what was called */
    unsigned inits, shutdowns, samples; /* GPM samples now allocated */
} fake_nvml_t;

#endif /* !GL_TESTS_SUPPORT_FAKE_NVML_H */
