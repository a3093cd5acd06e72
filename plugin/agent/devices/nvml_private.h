/* nvml_private.h: the NVML source, shared by scanning and sampling. */
#ifndef GL_AGENT_NVML_PRIVATE_H
#define GL_AGENT_NVML_PRIVATE_H

#include <stdbool.h>

#include "nvml.h"
#include "source.h"

/* nvmlErrorString alone returns a text; it is cast where it is called. */
#define NVML_MEMBER(member, arguments, a, b, c) \
    nvml_return_t (*member) arguments;
typedef struct {
    NVML_FUNCTIONS (NVML_MEMBER)
} nvml_functions_t;

/* NVML's handles of a device of the inventory. */
typedef struct {
    nvml_device_t handle;
    bool lost;
    /* activity of a slice: the last two samples; NULL where there is none */
    nvml_gpm_sample_t gpm_last;
    nvml_gpm_sample_t gpm_next;
    bool gpm_sampled; /* gpm_last holds one */
    int64_t gpm_time; /* taken then */
} nvml_slot_t;

typedef struct {
    source_t source;
    void *library;
    nvml_functions_t call; /* members that the library lacks are NULL */
    char proc[256];
    bool broken; /* NVML itself must be started again */
    unsigned gpus;
    int64_t now;           /* of the present call */
    int64_t scanned;       /* when the last scan was */
    int64_t checked;       /* when layouts were last compared */
    inventory_t inventory; /* result of the last scan */
    nvml_slot_t *slot;     /* of each of its devices */
    nvml_gpm_metrics_t metrics;
} nvml_t;

/* The function is there and succeeds. */
#define NVML_DID(nvml, function, ...) \
    ((nvml)->call.function            \
     && (nvml)->call.function (__VA_ARGS__) == NVML_SUCCESS)
/* Its status; a function that is missing is one that is not found. */
#define NVML_STATUS(nvml, function, ...)                         \
    ((nvml)->call.function ? (nvml)->call.function (__VA_ARGS__) \
                           : NVML_ERROR_FUNCTION_NOT_FOUND)

const char *nvml_text (const nvml_t *nvml, nvml_return_t status);
/* The device does not answer any more, as opposed to not knowing a value. */
bool nvml_gone (nvml_return_t status);
int64_t nvml_u64 (unsigned long long value);

int nvml_scan (source_t *source, int64_t now, inventory_t *ret_inventory,
               gl_error_t *error);
/* The slices that a GPU has now are those of the last scan. */
bool nvml_same_layout (nvml_t *nvml, size_t gpu);
void nvml_forget (nvml_t *nvml);

#endif /* !GL_AGENT_NVML_PRIVATE_H */
