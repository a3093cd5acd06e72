/*
 * source.h: where the agent learns of devices.
 *
 * A source is a table of functions and a state. Each vendor has one, which is the
 * only part of the agent that knows the vendor:
 *
 *     nvml.c        NVIDIA, by dlopen of libnvidia-ml.so.1
 *     amd.c         AMD, files of the amdgpu driver below /sys
 *     level_zero.c  Intel, by dlopen of libze_loader.so.1
 *
 * node.c joins those that find GPUs into one source, and replay.c plays a text
 * file of device states over time in their place (docs/formats/replay.md).
 *
 * One thread. A function that fails says why and leaves its result as it was;
 * a device or value that fails is unknown in the result, and no failure.
 */
#ifndef GL_AGENT_SOURCE_H
#define GL_AGENT_SOURCE_H

#include "base/error.h"
#include "device.h"

typedef struct source source_t;

typedef struct {
    const char *name;
    void (*close) (source_t *source);
    /* The current devices. `now`: nanoseconds since 1970 by the agent's clock,
     * which a replay follows. */
    int (*scan) (source_t *source, int64_t now, inventory_t *ret_inventory,
                 gl_error_t *error);
    /* Samples every device of the inventory of the last scan: `samples` has
     * inventory->count entries. Returns 1 when the devices seem to have
     * changed, so that a scan is due, else 0. */
    int (*look) (source_t *source, int64_t now, const inventory_t *inventory,
                 sample_t *samples, gl_error_t *error);
} source_ops_t;

struct source {
    const source_ops_t *ops;
    /* Why some of the devices cannot be read while others can; "". */
    gl_error_t problem;
};

/* NULL with an error: no driver, no library ("" for its usual name), a wrong
 * version; errno is ENOENT if the vendor is simply not there, else something has
 * failed. Asks NVML for what its functions are; one that the library does not
 * have leaves its values unknown. `proc`: "/proc". */
source_t *source_open_nvml (const char *library, const char *proc,
                            gl_error_t *error);
/* `sys`, `proc`: "/sys", "/proc". */
source_t *source_open_amd (const char *sys, const char *proc,
                           gl_error_t *error);
source_t *source_open_level_zero (const char *library, const char *sys,
                                  gl_error_t *error);

/* Where the vendors' sources look. */
typedef struct {
    const char *nvml;       /* library; "": its usual name */
    const char *level_zero; /* the same */
    const char *sys;
    const char *proc;
} source_places_t;
extern const source_places_t source_usual_places;

typedef struct {
    const char *name; /* "NVIDIA" */
    source_t *(*open) (const source_places_t *places, gl_error_t *error);
} source_vendor_t;

#define SOURCE_VENDORS 3
extern const source_vendor_t source_vendors[SOURCE_VENDORS];

/* The GPUs of all vendors. A vendor that does not answer is tried again from time
 * to time; one that stops working leaves its devices, absent in every sample,
 * until it works again. NULL with an error that names every vendor's: none has a
 * GPU, and no driver says that there is none, or another one has failed. `places`
 * must outlive it. */
source_t *source_open_node (const source_places_t *places, int64_t now,
                            gl_error_t *error);

/* `start`: the moment that relative times of the file count from. */
source_t *source_open_replay (const char *path, int64_t start,
                              gl_error_t *error);

/* The first and last moment of a replay that names absolute times; -1 if it
 * does not. Lets the agent run through it without waiting. */
int source_replay_span (const source_t *source, int64_t *ret_first,
                        int64_t *ret_last);

static inline void source_close (source_t *source)
{
    if (source)
        source->ops->close (source);
}

#endif /* !GL_AGENT_SOURCE_H */
